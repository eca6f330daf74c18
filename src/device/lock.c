/* The layer's one lock for those who are in no call: what the compiler's code registers, questions
 * before a call begins. */
#include "device/impl.h"

bool dev_works(void)
{
    return !rec_g.forked;
}

bool dev_lock(void)
{
    if (!dev_works())
        return false;
    pthread_mutex_lock(&rec_g.lock);
    return true;
}

void dev_unlock(void)
{
    pthread_mutex_unlock(&rec_g.lock);
}
