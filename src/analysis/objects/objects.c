/* Objects that waste memory, and copies that nobody reads: makes drafts of what the trace of each
 * process shows. docs/objects.md */
#include "analysis/detect.h"
#include "analysis/objects/teller.h"

#define TEXT(...) wl_arena_printf(t->input->arena, __VA_ARGS__)

/* ---- drafts ---- */

static double excess_of_bundle(const tell_bundle *b)
{
    const obj_hit *h = b->first;
    double most = (double)(h->saves > b->adds ? h->saves : b->adds);
    bool whole = h->pattern == ANA_DEAD_WRITE || h->pattern == ANA_LEAK;
    return whole && (double)b->bytes > most ? (double)b->bytes : most;
}

static void add_extent(const obj_extent *e, const obj_hit *h, ana_draft *d)
{
    double unused = (double)e->elements - (double)e->touched;
    ana_add_evidence(d, "needed_bytes", "enough", (double)h->keeps, "bytes");
    ana_add_evidence(d, "accessed", "accessed by kernels",
                     100 * (double)e->touched / (double)e->elements, "%");
    if (unused > 0)
        ana_add_evidence(d, "fragmentation", "fragmentation of the rest",
                         100 * (1 - (double)e->hole.count / unused), "%");
    if (e->slices)
        ana_add_evidence(d, "slices", "slices", e->slices, "");
    if (e->by_host.op != OBJ_NONE)
        ana_add_evidence(d, "copied_bytes", "largest copy or set", (double)e->by_host.bytes,
                         "bytes");
}

/* The first object of the pool that it is in; 0: it is in none. */
static uint32_t pool_of_hit(const tell_state *t, const obj_hit *h)
{
    const obj_trace *trace = &t->found.trace;
    uint32_t pool = obj_pool_of(trace, trace->objects.data[h->object].device);
    return pool == OBJ_NONE ? 0 : trace->objects.data[pool].id;
}

static void add_numbers(const tell_state *t, const tell_bundle *b, ana_draft *d)
{
    const obj_hit *h = b->first;
    if (h->pattern == ANA_DEAD_WRITE) {
        ana_add_evidence(d, "writes", "writes in vain", b->writes, "");
        return;
    }
    ana_add_evidence(d, "object_bytes", "size", (double)h->bytes, "bytes");
    if (b->objects > 1)
        ana_add_evidence(d, "objects", "objects allocated there", b->objects, "");
    if (h->from != OBJ_NONE && h->to != OBJ_NONE)
        ana_add_evidence(d, "calls", "calls in between", h->calls, "");
    if (h->keeps)
        add_extent(&t->found.extents[h->object], h, d);
    if (h->pattern == ANA_TEMPORARY_IDLENESS && h->seconds > 0) {
        ana_add_evidence(d, "idle_ms", "time in between", 1e3 * (double)h->seconds, "ms");
        ana_add_evidence(d, "copies_ms", "copies out and in again", 1e3 * (double)h->copies, "ms");
    }
    if (b->hits > b->objects)
        ana_add_evidence(d, "times", "such times", b->hits, "");
    ana_add_evidence(d, "saved_bytes",
                     pool_of_hit(t, h) ? "saved at the pool's own peak by itself"
                                       : "saved at the peak by itself",
                     (double)h->saves, "bytes");
    if (b->step)
        ana_add_evidence(d, "plan_bytes", "of what the whole plan saves", (double)b->adds, "bytes");
}

static bool draft_bundle(tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    ana_draft *d = ana_draft_add(t->drafts, t->input, (ana_pattern)h->pattern);
    if (!d)
        return false;
    tell_words says = tell_pattern(t, b);
    bool more = b->objects > 1 && h->pattern != ANA_LEAK;
    const char *others = more ? TEXT(" The same holds of %u more that the line allocates.",
                                     b->objects - 1)
                              : "";
    d->scope = ANA_SCOPE_OBJECT;
    d->object = t->found.trace.objects.data[h->object].id;
    d->excess = d->alone = excess_of_bundle(b);
    d->certainty = h->possible ? ANA_CERTAINTY_POSSIBLE : ANA_CERTAINTY_COUNTED;
    d->kind = says.kind;
    d->remedy = says.remedy;
    d->summary = says.summary && others
                     ? TEXT("%s%s%s", says.summary, others, tell_reservations(t, b))
                     : NULL;
    d->gain = tell_rests_until_exit(t, b) ? ANA_GAIN_AT_EXIT : ANA_GAIN_FULL;
    d->saving = (ana_saving){h->pattern != ANA_DEAD_WRITE, h->saves, b->step, b->peak,
                             pool_of_hit(t, h)};
    add_numbers(t, b, d);
    return d->summary && d->remedy;
}

static void add_to_bundle(const tell_state *t, uint32_t hit, tell_bundle *b)
{
    const obj_hit *h = &t->found.hits.data[hit];
    uint32_t step = t->steps[hit];
    b->objects += !b->hits++ || b->newest != h->object;
    b->newest = h->object;
    b->writes += h->count;
    b->bytes += h->bytes;
    if (step) {
        const obj_step *planned = &t->found.plan.steps.data[step - 1];
        b->adds = planned->adds > b->adds ? planned->adds : b->adds;
        b->peak = step > b->step ? planned->peak : b->peak;
        b->step = step > b->step ? step : b->step;
    }
}

static bool draft_hits(tell_state *t)
{
    size_t n = t->found.hits.count;
    tell_bundle *bundles = wl_new_array(t->input->scratch, tell_bundle, n + 1);
    t->steps = wl_new_array(t->input->scratch, uint32_t, n + 1);
    bool good = bundles && t->steps;
    for (size_t i = 0; good && i < t->found.plan.steps.count; i++)
        t->steps[t->found.plan.steps.data[i].hit] = (uint32_t)i + 1;
    for (uint32_t i = 0; good && i < n; i++) {
        tell_bundle *b = &bundles[t->found.hits.data[i].bundle];
        b->first = &t->found.hits.data[t->found.hits.data[i].bundle];
        add_to_bundle(t, i, b);
    }
    for (size_t i = 0; good && i < n; i++)
        if (bundles[i].first && excess_of_bundle(&bundles[i]) > 0)
            good = draft_bundle(t, &bundles[i]);
    return good;
}

static void count_copies(const tell_state *t)
{
    for (size_t i = 0; i < t->found.trace.ops.count; i++) {
        const obj_op *op = &t->found.trace.ops.data[i];
        uint32_t count;
        const obj_access *a = obj_accesses(&t->found.trace, op, &count);
        if ((op->kind == OBJ_COPY || op->kind == OBJ_SET) && count)
            t->drafts->copied += (double)t->found.trace.ranges.data[a->part].bytes;
    }
}

static void note_peaks(const tell_state *t)
{
    uint32_t devices = t->found.trace.ndevices - (uint32_t)t->found.trace.pools.count;
    for (uint32_t d = 0; d < devices; d++) {
        uint64_t after = t->found.plan.devices[d].after;
        t->drafts->peak_after = after > t->drafts->peak_after ? after : t->drafts->peak_after;
    }
}

static wl_status analyse_process(const ana_input *input, const obj_kinds *kinds,
                                 const prof_caller_rows *callers, uint32_t process,
                                 ana_drafts *drafts, wl_error *err)
{
    tell_state t = {
        .input = input, .drafts = drafts, .callers = callers, .err = err, .status = WL_OK};
    wl_status status = obj_analyse(input->program, kinds, process, input->scratch, &t.found, err);
    if (status == WL_OK && !(draft_hits(&t) && tell_refusals(&t)))
        status = t.status == WL_OK ? ana_nomem(err) : t.status;
    if (status == WL_OK) {
        note_peaks(&t);
        count_copies(&t);
    }
    obj_analysis_free(&t.found);
    return status == WL_OK ? t.status : status;
}

wl_status ana_detect_objects(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const prof_object_rows *objects = &input->program->objects;
    obj_kinds kinds;
    prof_caller_rows callers = {0};
    uint32_t last = 0;
    drafts->replayed = true;
    wl_status status = obj_load_kinds(input->program, input->scratch, &kinds, err);
    if (status == WL_OK)
        status = prof_load_callers(input->program->db, input->scratch, &callers, err);
    for (uint32_t i = 0; i < objects->count && status == WL_OK; i++) {
        uint32_t process = objects->rows[i].process;
        if (process <= last) /* of a kernel, or of a process that is done */
            continue;
        last = process;
        status = analyse_process(input, &kinds, &callers, process, drafts, err);
    }
    return status;
}
