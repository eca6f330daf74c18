/* Preloaded into warplens and what it starts: every look at the monotonic clock finds a second gone
 * by, so that what is told now and then is told in a test. */
#include <stdatomic.h>
#include <time.h>

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    static atomic_long seconds;
    (void)clock;
    *now = (struct timespec){.tv_sec = 1000 + atomic_fetch_add(&seconds, 1)};
    return 0;
}
