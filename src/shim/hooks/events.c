/* The program's events: their numbers and versions; and, while there are launches that record,
 * which of them a wait for one says to be over. */
#include "shim/hooks/hook.h"

#include <stdlib.h>

typedef struct mark { /* of a CUevent */
    void *event;
    hook_event known;
    uint32_t ended;            /* records that did, while launches record */
    CUcontext owner;           /* that was current when it was first seen */
    uint64_t number, recorded; /* in the capture, and how often it was */
    UT_hash_handle hh;
} mark;

static mark *marks;

static bool is_needed(void)
{
    return probe_launched() && !rec_g.forked;
}

static mark *find_event_mark(CUevent event)
{
    mark *m = NULL;
    void *key = event;
    HASH_FIND_PTR(marks, &key, m);
    return m;
}

static void forget_mark(mark *m)
{
    HASH_DEL(marks, m);
    free(m);
}

/* NULL without memory. */
static mark *find_or_add(CUevent event, CUcontext current)
{
    mark *m = find_event_mark(event);
    if (!m && (m = calloc(1, sizeof *m))) {
        m->event = event;
        m->owner = current;
        m->number = ++rec_g.next_event;
        HASH_ADD_PTR(marks, event, m);
    }
    return m;
}

/* With the lock held. */
static mark *note_event_mark(hook_call *call, CUevent event, bool records)
{
    drv_context current = drv_current();
    mark *m = find_or_add(event, current.handle);
    hook_place(call, current);
    if (m) {
        m->recorded += records;
        call->rec.record.event = m->number;
        call->rec.record.version = m->recorded;
    }
    return m;
}

void hook_event_wait(hook_call *call, CUevent event)
{
    if (!call->rec.active)
        return;
    pthread_mutex_lock(&rec_g.lock);
    note_event_mark(call, event, false);
    pthread_mutex_unlock(&rec_g.lock);
}

/* As long as a record is under way nobody can say which one a wait is for. */
void hook_event_begin(hook_call *call, CUevent event)
{
    if (!call->rec.active && !is_needed())
        return;
    pthread_mutex_lock(&rec_g.lock);
    bool captured = drv_capturing() && drv_in_capture(call->stream);
    mark *m = call->rec.active ? note_event_mark(call, event, !captured)
                               : find_or_add(event, drv_current().handle);
    if (m && is_needed())
        m->known.begun++;
    if (captured && call->rec.active) {
        call->rec.record.flags |= CAP_CALL_CAPTURED;
        call->rec.record.version = 0;
    }
    pthread_mutex_unlock(&rec_g.lock);
}

void hook_event_end(CUevent event, uint64_t stream, uint64_t launched, CUresult result)
{
    if (!is_needed())
        return;
    pthread_mutex_lock(&rec_g.lock);
    mark *m = find_event_mark(event);
    if (m)
        m->ended++;
    if (m && result == CUDA_SUCCESS) {
        m->known.context = drv_current().handle;
        m->known.stream = stream;
        m->known.launched = launched;
    }
    pthread_mutex_unlock(&rec_g.lock);
}

bool hook_event_find(CUevent event, hook_event *out)
{
    if (!is_needed())
        return false;
    pthread_mutex_lock(&rec_g.lock);
    mark *m = find_event_mark(event);
    bool known = m && m->known.begun == m->ended;
    if (known)
        *out = m->known;
    pthread_mutex_unlock(&rec_g.lock);
    return known;
}

void hook_events_unknown(CUcontext context)
{
    mark *m, *next;
    HASH_ITER (hh, marks, m, next) {
        m->known.launched = 0;
        m->known.begun++;
        m->ended++;
        if (context && (m->known.context == context || m->owner == context))
            forget_mark(m);
    }
}

static void destroyed(CUevent event)
{
    if (rec_g.forked)
        return;
    pthread_mutex_lock(&rec_g.lock);
    mark *m = find_event_mark(event);
    if (m)
        forget_mark(m);
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
