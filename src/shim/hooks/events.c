/* The program's events: which launches that record a wait for one says to be over. Only while there are such launches. */
#include "shim/probe/probe.h"

#include <stdlib.h>

typedef struct mark { /* of a CUevent */
    void *event;
    shim_event known;
    uint32_t ended; /* records that did */
    UT_hash_handle hh;
} mark;

static mark *marks;

static bool is_needed(void)
{
    return shim_probes_launched() && !rec_g.forked;
}

static mark *find(CUevent event)
{
    mark *m = NULL;
    void *key = event;
    HASH_FIND_PTR(marks, &key, m);
    return m;
}

static void forget(mark *m)
{
    HASH_DEL(marks, m);
    free(m);
}

/* As long as a record is under way nobody can say which one a wait is for. */
void shim_event_begin(CUevent event)
{
    if (!is_needed())
        return;
    pthread_mutex_lock(&rec_g.lock);
    mark *m = find(event);
    if (!m && (m = calloc(1, sizeof *m))) {
        m->event = event;
        HASH_ADD_PTR(marks, event, m);
    }
    if (m)
        m->known.begun++;
    pthread_mutex_unlock(&rec_g.lock);
}

void shim_event_end(CUevent event, uint64_t stream, uint64_t launched, CUresult result)
{
    if (!is_needed())
        return;
    pthread_mutex_lock(&rec_g.lock);
    mark *m = find(event);
    if (m)
        m->ended++;
    if (m && result == CUDA_SUCCESS) {
        m->known.context = shim_current().handle;
        m->known.stream = stream;
        m->known.launched = launched;
    }
    pthread_mutex_unlock(&rec_g.lock);
}

bool shim_event_find(CUevent event, shim_event *out)
{
    if (!is_needed())
        return false;
    pthread_mutex_lock(&rec_g.lock);
    mark *m = find(event);
    bool known = m && m->known.begun == m->ended;
    if (known)
        *out = m->known;
    pthread_mutex_unlock(&rec_g.lock);
    return known;
}

void shim_events_unknown(CUcontext context)
{
    mark *m, *next;
    HASH_ITER (hh, marks, m, next) {
        m->known.launched = 0;
        m->known.begun++;
        m->ended++;
        if (context && m->known.context == context)
            forget(m);
    }
}

static void destroyed(CUevent event)
{
    if (!is_needed())
        return;
    pthread_mutex_lock(&rec_g.lock);
    mark *m = find(event);
    if (m)
        forget(m);
    pthread_mutex_unlock(&rec_g.lock);
}

HOOK(cuEventDestroy, (CUevent event), (event))
{
    destroyed(event);
    return real_cuEventDestroy(event);
}

HOOK(cuEventDestroy_v2, (CUevent event), (event))
{
    destroyed(event);
    return real_cuEventDestroy_v2(event);
}
