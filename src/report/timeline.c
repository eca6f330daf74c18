/* Where launches, copies and sets lie in time. */
#include "report/timeline.h"

#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

static const prof_process *process_by_id(const rep_data *d, uint32_t id)
{
    for (uint32_t i = 0; i < d->processes.count; i++)
        if (d->processes.rows[i].id == id)
            return &d->processes.rows[i];
    return NULL;
}

double rep_moment(const rep_data *d, const rep_timeline *t, uint32_t process, int64_t ns)
{
    const prof_process *p = process_by_id(d, process);
    return (double)((p ? p->start_ns : t->origin) - t->origin) + (double)ns;
}

const prof_call *rep_host_call(const rep_data *d, uint32_t id)
{
    const prof_call *call = id ? prof_find_call(&d->every_call, id) : NULL;
    const prof_call *parent = call && call->parent ? prof_find_call(&d->every_call, call->parent)
                                                   : NULL;
    return parent ? parent : call;
}

bool rep_same_stream(const rep_work *a, const rep_work *b)
{
    return a->process == b->process && a->device == b->device && a->context == b->context &&
           a->stream == b->stream;
}

/* ---- what there is ---- */

static void add_launch_work(const rep_data *d, const prof_launch *l, rep_timeline *t)
{
    t->work[t->count++] = (rep_work){.process = l->process,
                                     .device = l->device,
                                     .stream = l->stream,
                                     .context = l->context,
                                     .ordinal = l->ordinal,
                                     .launch = l,
                                     .call = rep_host_call(d, l->call),
                                     .measured = l->device_start >= 0 && l->device_seconds >= 0,
                                     .seconds = l->device_seconds,
                                     .device_start = l->device_start};
}

/* Only what ran on the device: nothing of a call that failed, or that a graph will carry out. */
static void add_transfer(const rep_data *d, const prof_call *c, rep_timeline *t)
{
    bool moves = c->kind == CAP_CALL_COPY || c->kind == CAP_CALL_SET;
    if (!moves || c->result != 0 || (c->flags & CAP_CALL_CAPTURED))
        return;
    t->work[t->count++] = (rep_work){.process = c->process,
                                     .device = c->device,
                                     .stream = c->stream,
                                     .context = c->context,
                                     .ordinal = c->ordinal,
                                     .call = rep_host_call(d, c->id),
                                     .own = c,
                                     .measured = c->device_start >= 0 && c->device_seconds >= 0,
                                     .seconds = c->device_seconds,
                                     .device_start = c->device_start};
}

static int compare_counts(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_stream(const void *a, const void *b)
{
    const rep_work *x = a, *y = b;
    int order = compare_counts(x->process, y->process);
    order = order ? order : compare_counts(x->device, y->device);
    order = order ? order : compare_counts(x->context, y->context);
    order = order ? order : compare_counts(x->stream, y->stream);
    return order ? order : compare_counts(x->ordinal, y->ordinal);
}

/* ---- when it ran ---- */

static double asked_at(const rep_data *d, const rep_timeline *t, const rep_work *w)
{
    return w->call ? rep_moment(d, t, w->process, w->call->start_ns) : 0;
}

/* How far the clock of a context's device times is behind, so that none begins too early: of the
 * work from `from` on, which is of one context up to `*end`. */
static double clock_behind(const rep_data *d, const rep_timeline *t, uint32_t from, uint32_t *end)
{
    const rep_work *first = &t->work[from];
    double behind = 0;
    bool any = false;
    for (*end = from; *end < t->count; (*end)++) {
        const rep_work *w = &t->work[*end];
        if (w->process != first->process || w->device != first->device ||
            w->context != first->context)
            break;
        double by = asked_at(d, t, w) - w->device_start * 1e9;
        if (w->measured && w->call && (!any || by > behind)) {
            behind = by;
            any = true;
        }
    }
    return behind;
}

/* Work from `i` on, below `end`, that was not measured and that one call asked for. */
static uint32_t asked_together(const rep_timeline *t, uint32_t i, uint32_t end)
{
    uint32_t n = 1;
    while (i + n < end && !t->work[i + n].measured && t->work[i + n].call == t->work[i].call)
        n++;
    return n;
}

/* Gives each of the n its part of the call's time, after what was there before. */
static void share_call(const rep_data *d, const rep_timeline *t, rep_work *first, uint32_t n,
                       double before)
{
    const prof_call *call = first->call;
    double start = call ? rep_moment(d, t, first->process, call->start_ns) : before;
    double end = call ? rep_moment(d, t, first->process, call->end_ns) : before;
    for (uint32_t i = 0; i < n; i++) {
        double from = start + (end - start) * i / n, to = start + (end - start) * (i + 1) / n;
        first[i].start = from > before ? from : before;
        first[i].end = to > first[i].start ? to : first[i].start;
        before = first[i].end;
    }
}

/* A measured time stands: what was not measured makes room for it. */
static void place_measured(rep_work *w, rep_work *last, double behind)
{
    w->start = behind + w->device_start * 1e9;
    if (last && !last->measured && last->end > w->start) {
        last->end = w->start;
        last->start = last->start < w->start ? last->start : w->start;
    }
    if (last && last->end > w->start)
        w->start = last->end;
    double end = behind + (w->device_start + w->seconds) * 1e9;
    w->end = end > w->start ? end : w->start;
}

static void place_stream(const rep_data *d, const rep_timeline *t, uint32_t from, uint32_t end,
                         double behind)
{
    for (uint32_t i = from; i < end;) {
        rep_work *w = &t->work[i], *last = i > from ? w - 1 : NULL;
        uint32_t n = 1;
        if (w->measured) {
            place_measured(w, last, behind);
        } else {
            n = asked_together(t, i, end);
            share_call(d, t, w, n, last ? last->end : 0);
        }
        i += n;
    }
}

static void place_work(const rep_data *d, const rep_timeline *t)
{
    for (uint32_t i = 0, end; i < t->count; i = end) {
        double behind = clock_behind(d, t, i, &end);
        for (uint32_t from = i, to; from < end; from = to) {
            for (to = from + 1; to < end && rep_same_stream(&t->work[from], &t->work[to]);)
                to++;
            place_stream(d, t, from, to, behind);
        }
    }
}

wl_status rep_timeline_of(const rep_data *d, wl_arena *arena, rep_timeline *out, wl_error *err)
{
    size_t most = (size_t)d->every_launch.count + d->every_call.count;
    *out = (rep_timeline){.origin = d->processes.count ? d->processes.rows[0].start_ns : 0,
                          .work = wl_new_array(arena, rep_work, most + 1)};
    if (!out->work)
        return wl_fail(err, WL_NOMEM, "not enough memory for the timeline");
    for (uint32_t i = 1; i < d->processes.count; i++)
        if (d->processes.rows[i].start_ns < out->origin)
            out->origin = d->processes.rows[i].start_ns;
    for (uint32_t i = 0; i < d->every_launch.count; i++)
        add_launch_work(d, &d->every_launch.rows[i], out);
    for (uint32_t i = 0; i < d->every_call.count; i++)
        add_transfer(d, &d->every_call.rows[i], out);
    qsort(out->work, out->count, sizeof *out->work, by_stream);
    place_work(d, out);
    return WL_OK;
}
