/* Objects that waste memory, and copies that nobody reads: makes drafts of what the trace of each
 * process shows. docs/objects.md */
#include "analysis/detect.h"
#include "analysis/objects/load.h"
#include "analysis/objects/order.h"
#include "analysis/objects/savings.h"

#include <stdlib.h>
#include <string.h>

typedef struct teller {
    const ana_input *input;
    ana_drafts *drafts;
    obj_trace trace;
    obj_lives lives;
    obj_extent *extents; /* by object; NULL: nothing is known of elements */
    obj_hits hits;
    obj_plan plan;
    uint32_t *steps; /* by hit: its place in the plan, from 1; 0: none */
    wl_error *err;
    wl_status status;
} teller;

/* What a process has in the hits that stand together (obj_hit.bundle). */
typedef struct bundle {
    const obj_hit *first;
    uint32_t objects, writes;
    uint64_t bytes, adds;
    uint32_t step; /* of the plan, the first of theirs; 0: none */
    uint64_t peak; /* with that step */
} bundle;

/* ---- words ---- */

static const char *bytes_text(const teller *t, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    return wl_arena_printf(t->input->arena, value < 10 && unit ? "%.1f %s" : "%.0f %s", value,
                           units[unit]);
}

static const char *object_words(const teller *t, uint32_t object)
{
    const obj_object *o = &t->trace.objects.data[object];
    const prof_object *row = prof_find_object(&t->input->program->objects, o->id);
    return row ? row->name : "another object";
}

static const char *kernel_words(const teller *t, const obj_op *op)
{
    const ana_program *p = t->input->program;
    const prof_launch *l = prof_find_launch(&p->launches, op->launch);
    const prof_kernel *k = l ? prof_find_kernel(&p->kernels, l->kernel) : NULL;
    return k ? k->short_name : NULL;
}

/* "the launch of step at app.cu:12", "the copy at app.cu:9" */
static const char *op_words(teller *t, uint32_t at)
{
    static const char *const kinds[] = {"the allocation", "the free", "the copy", "the memset",
                                        "the launch"};
    const obj_op *op = &t->trace.ops.data[at];
    prof_call call = {0};
    wl_status status = op->call ? prof_load_call(t->input->program->db, op->call, t->input->scratch,
                                                 &call, t->err)
                                : WL_OK;
    t->status = status == WL_OK || status == WL_NOENT ? t->status : status;
    const prof_file *file = prof_find_file(&t->input->program->files, call.file);
    const char *kernel = op->kind == OBJ_LAUNCH ? kernel_words(t, op) : NULL;
    const char *what = kernel ? wl_arena_printf(t->input->arena, "the launch of %s", kernel)
                              : kinds[op->kind];
    return file && call.line && what
               ? wl_arena_printf(t->input->arena, "%s at %s:%u", what, file->name, call.line)
               : what;
}

/* The same as the begin of a sentence. */
static const char *upper_words(teller *t, uint32_t at)
{
    const char *words = op_words(t, at);
    return words ? wl_arena_printf(t->input->arena, "T%s", words + 1) : NULL;
}

static const char *calls_words(const teller *t, uint32_t calls)
{
    return wl_arena_printf(t->input->arena, "%u call%s", calls, calls == 1 ? "" : "s");
}

/* ---- what hits say ---- */

typedef struct told { /* of a pattern */
    const char *summary, *remedy;
    remedy_kind kind;
} told;

#define TEXT(...) wl_arena_printf(t->input->arena, __VA_ARGS__)

static told tell_early(teller *t, const bundle *b)
{
    const char *use = op_words(t, b->first->to), *calls = calls_words(t, b->first->calls);
    return (told){TEXT("Its %s are allocated %s before their first use, %s.",
                       bytes_text(t, b->first->bytes), calls, use),
                  TEXT("Allocate " ANA_OBJECT " just before %s, which is its first use.", use),
                  REMEDY_ALLOCATE_LATER};
}

static told tell_late(teller *t, const bundle *b)
{
    const char *use = op_words(t, b->first->from), *calls = calls_words(t, b->first->calls);
    return (told){TEXT("Its %s are kept for %s after their last use, %s.",
                       bytes_text(t, b->first->bytes), calls, use),
                  TEXT("Free " ANA_OBJECT " just after %s, which is its last use.", use),
                  REMEDY_FREE_SOONER};
}

static told tell_redundant(teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    const obj_object *other = &t->trace.objects.data[h->other];
    const char *name = object_words(t, h->other);
    return (told){
        TEXT("Its first use, %s, comes after the last use of %s, %s; it has %s, and %s %s.",
             op_words(t, h->to), name, op_words(t, h->from), bytes_text(t, h->bytes), name,
             bytes_text(t, other->bytes)),
        TEXT("Let " ANA_OBJECT " use the memory of %s, made large enough for both, in place "
             "of an allocation of its own.",
             name),
        REMEDY_REUSE_MEMORY};
}

static told tell_unused(teller *t, const bundle *b)
{
    return (told){TEXT("No copy, no set and no kernel accesses its %s%s.",
                       bytes_text(t, b->first->bytes),
                       t->lives.rows[b->first->object].possibly
                           ? ", as far as is known: of some launches meanwhile not all accesses are"
                           : ""),
                  "Leave out the allocation of " ANA_OBJECT ".", REMEDY_LEAVE_OUT};
}

static bool leaks_again(const teller *t, const obj_hit *h)
{
    return h->count >= t->input->program->thresholds->leak_objects;
}

/* Is the memory missed nowhere before the process ends? */
static bool rests_until_exit(const teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    return h->pattern == ANA_LEAK && !leaks_again(t, h) && !h->saves && !b->step;
}

static told tell_leak(teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    if (leaks_again(t, h))
        return (told){
            TEXT("The line allocates %u objects, %s together, that nothing frees before the "
                 "process ends.",
                 h->count, bytes_text(t, b->bytes)),
            "Free " ANA_OBJECT " after its last use, before the line allocates again.",
            REMEDY_FREE_SOONER};
    const char *use = h->from == OBJ_NONE ? "" : op_words(t, h->from);
    const char *summary = TEXT("Nothing frees its %s before the process ends.",
                               bytes_text(t, h->bytes));
    if (!*use || rests_until_exit(t, b))
        return (told){summary, "Free " ANA_OBJECT " after its last use.", REMEDY_FREE_SOONER};
    return (told){summary, TEXT("Free " ANA_OBJECT " after %s, which is its last use.", use),
                  REMEDY_FREE_SOONER};
}

static told tell_idle(teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    const char *before = op_words(t, h->from), *after = op_words(t, h->to);
    return (told){TEXT("Between %s and %s, %s run without using its %s.", before, after,
                       calls_words(t, h->calls), bytes_text(t, h->bytes)),
                  TEXT("Copy " ANA_OBJECT
                       " to the host and free it after %s; allocate it again and copy "
                       "it back before %s.",
                       before, after),
                  REMEDY_MOVE_OUT};
}

static told tell_dead(teller *t, const bundle *b)
{
    const char *write = op_words(t, b->first->from), *next = op_words(t, b->first->to);
    const char *often = b->writes > 1 ? TEXT(" That happens %u times.", b->writes) : "";
    return (told){TEXT("What %s writes is replaced by %s, and nothing reads it in between: %s in "
                       "vain.%s",
                       write, next, bytes_text(t, b->bytes), often),
                  TEXT("Leave out %s: what it writes to " ANA_OBJECT " is replaced unread.", write),
                  REMEDY_LEAVE_OUT};
}

/* What has to be changed with the object, whose copies and sets move more than is kept of it. */
static const char *copies_words(teller *t, const obj_hit *h)
{
    const obj_moved *host = &t->extents[h->object].by_host;
    return host->op != OBJ_NONE && host->bytes > h->keeps
               ? TEXT(" %s moves %s of it, and has to be shortened with it.",
                      upper_words(t, host->op), bytes_text(t, host->bytes))
               : "";
}

static told tell_overallocation(teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    const obj_extent *e = &t->extents[h->object];
    const char *enough = bytes_text(t, h->keeps), *all = bytes_text(t, h->bytes);
    uint64_t hole = e->hole.first * OBJ_ELEMENT_BYTES;
    const char *summary =
        TEXT("Kernels access %.3g %% of its %s, from byte %llu to byte %llu.%s",
             100 * (double)e->touched / (double)e->elements, all,
             (unsigned long long)e->used.first * OBJ_ELEMENT_BYTES,
             (unsigned long long)(e->used.first + e->used.count) * OBJ_ELEMENT_BYTES - 1,
             copies_words(t, h));
    if (!obj_is_unused_at_ends(e))
        return (told){summary,
                      TEXT("Allocate what lies before byte %llu of " ANA_OBJECT
                           " and what lies after the next %s apart, and leave out what is between "
                           "them, which no kernel accesses.",
                           (unsigned long long)hole, bytes_text(t, h->bytes - h->keeps)),
                      REMEDY_ALLOCATE_LESS};
    return (told){summary,
                  e->used.first
                      ? TEXT("Allocate %llu bytes (%s) for " ANA_OBJECT
                             " in place of %s, beginning with what is byte %llu now.",
                             (unsigned long long)h->keeps, enough, all,
                             (unsigned long long)e->used.first * OBJ_ELEMENT_BYTES)
                      : TEXT("Allocate %llu bytes (%s) for " ANA_OBJECT " in place of %s.",
                             (unsigned long long)h->keeps, enough, all),
                  REMEDY_ALLOCATE_LESS};
}

static told tell_structured(teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    const obj_extent *e = &t->extents[h->object];
    return (told){TEXT("Launches access its %s in %u slices of at most %s, one after another, and "
                       "come back to none.%s",
                       bytes_text(t, h->bytes), e->slices, bytes_text(t, h->keeps),
                       copies_words(t, h)),
                  TEXT("Allocate one slice of " ANA_OBJECT
                       ", %llu bytes (%s), and use it for each in turn; copy to the host "
                       "what is needed of a slice before the next begins.",
                       (unsigned long long)h->keeps, bytes_text(t, h->keeps)),
                  REMEDY_REUSE_SLICE};
}

static told tell_pattern(teller *t, const bundle *b)
{
    switch (b->first->pattern) {
    case ANA_EARLY_ALLOCATION: return tell_early(t, b);
    case ANA_LATE_DEALLOCATION: return tell_late(t, b);
    case ANA_REDUNDANT_ALLOCATION: return tell_redundant(t, b);
    case ANA_UNUSED_ALLOCATION: return tell_unused(t, b);
    case ANA_LEAK: return tell_leak(t, b);
    case ANA_TEMPORARY_IDLENESS: return tell_idle(t, b);
    case ANA_OVERALLOCATION: return tell_overallocation(t, b);
    case ANA_STRUCTURED_ACCESS: return tell_structured(t, b);
    default: return tell_dead(t, b);
    }
}

static const char *reservations(teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    if (!h->possible)
        return "";
    if (t->trace.objects.data[h->object].seen_by_host)
        return " Uses that were not observed may rule it out: those of managed memory by the host, "
               "and "
               "those of arrays by textures and surfaces.";
    if (h->keeps)
        return TEXT(" But %s reads %s of it for another object.",
                    op_words(t, t->extents[h->object].on_device.op),
                    bytes_text(t, t->extents[h->object].on_device.bytes));
    return h->pattern == ANA_REDUNDANT_ALLOCATION
               ? " Their streams do not wait for each other: without that the two uses may overlap."
               : "";
}

/* ---- drafts ---- */

static double excess_of_bundle(const bundle *b)
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

static void add_numbers(const teller *t, const bundle *b, ana_draft *d)
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
        add_extent(&t->extents[h->object], h, d);
    ana_add_evidence(d, "saved_bytes", "saved at the peak by itself", (double)h->saves, "bytes");
    if (b->step)
        ana_add_evidence(d, "plan_bytes", "of what the whole plan saves", (double)b->adds, "bytes");
}

static bool draft_bundle(teller *t, const bundle *b)
{
    const obj_hit *h = b->first;
    ana_draft *d = ana_draft_add(t->drafts, t->input, h->pattern);
    if (!d)
        return false;
    told says = tell_pattern(t, b);
    bool more = b->objects > 1 && h->pattern != ANA_LEAK;
    const char *others = more ? TEXT(" The same holds of %u more that the line allocates.",
                                     b->objects - 1)
                              : "";
    d->scope = ANA_SCOPE_OBJECT;
    d->object = t->trace.objects.data[h->object].id;
    d->excess = d->alone = excess_of_bundle(b);
    d->certainty = h->possible ? ANA_CERTAINTY_POSSIBLE : ANA_CERTAINTY_COUNTED;
    d->kind = says.kind;
    d->remedy = says.remedy;
    d->summary = says.summary && others ? TEXT("%s%s%s", says.summary, others, reservations(t, b))
                                        : NULL;
    d->gain = rests_until_exit(t, b) ? ANA_GAIN_AT_EXIT : ANA_GAIN_FULL;
    d->saving = (ana_saving){h->pattern != ANA_DEAD_WRITE, h->saves, b->step, b->peak};
    add_numbers(t, b, d);
    return d->summary && d->remedy;
}

static void add_to_bundle(const teller *t, uint32_t hit, bundle *b)
{
    const obj_hit *h = &t->hits.data[hit];
    uint32_t step = t->steps[hit];
    b->objects++;
    b->writes += h->count;
    b->bytes += h->bytes;
    b->adds = h->adds > b->adds ? h->adds : b->adds;
    if (step && (!b->step || step < b->step)) {
        b->step = step;
        b->peak = t->plan.steps.data[step - 1].peak;
    }
}

static bool draft_hits(teller *t)
{
    size_t n = t->hits.count;
    bundle *bundles = wl_new_array(t->input->scratch, bundle, n + 1);
    t->steps = wl_new_array(t->input->scratch, uint32_t, n + 1);
    bool good = bundles && t->steps;
    for (size_t i = 0; good && i < t->plan.steps.count; i++)
        t->steps[t->plan.steps.data[i].hit] = (uint32_t)i + 1;
    for (uint32_t i = 0; good && i < n; i++) {
        bundle *b = &bundles[t->hits.data[i].bundle];
        b->first = &t->hits.data[t->hits.data[i].bundle];
        add_to_bundle(t, i, b);
    }
    for (size_t i = 0; good && i < n; i++)
        if (bundles[i].first && excess_of_bundle(&bundles[i]) > 0)
            good = draft_bundle(t, &bundles[i]);
    return good;
}

static void count_copies(const teller *t)
{
    for (size_t i = 0; i < t->trace.ops.count; i++) {
        const obj_op *op = &t->trace.ops.data[i];
        uint32_t count;
        const obj_access *a = obj_accesses(&t->trace, op, &count);
        if ((op->kind == OBJ_COPY || op->kind == OBJ_SET) && count)
            t->drafts->copied += (double)a->bytes;
    }
}

/* The spans of the profile; their arena is the reader's. */
typedef struct spans_reader {
    teller *teller;
    wl_arena *arena;
} spans_reader;

static bool read_spans(void *ctx, uint32_t elements, wl_span_reader *out)
{
    spans_reader *r = ctx;
    wl_arena_free(r->arena);
    r->arena = wl_arena_new();
    if (!r->arena)
        return false;
    r->teller->status = prof_load_spans(r->teller->input->program->db, elements, r->arena, out,
                                        r->teller->err);
    return r->teller->status == WL_OK;
}

static bool measure_extents(teller *t)
{
    spans_reader reader = {.teller = t};
    t->extents = obj_extents_of(&t->trace, &t->lives, read_spans, &reader);
    wl_arena_free(reader.arena);
    return t->extents != NULL;
}

static bool analyse_trace(teller *t)
{
    const ana_thresholds *limits = t->input->program->thresholds;
    uint32_t *levels = obj_order(&t->trace);
    bool good = levels && obj_lives_of(&t->trace, levels, &t->lives) && measure_extents(t) &&
                obj_find_patterns(&t->trace, levels, &t->lives, t->extents, limits, &t->hits) &&
                obj_plan_savings(&t->trace, limits->min_share, &t->hits, &t->plan) && draft_hits(t);
    for (uint32_t d = 0; good && d < t->trace.ndevices; d++) {
        uint64_t after = t->plan.devices[d].after;
        t->drafts->peak_after = after > t->drafts->peak_after ? after : t->drafts->peak_after;
    }
    count_copies(t);
    free(levels);
    return good;
}

static wl_status analyse_process(const ana_input *input, const obj_kinds *kinds, uint32_t process,
                                 ana_drafts *drafts, wl_error *err)
{
    teller t = {.input = input, .drafts = drafts, .err = err, .status = WL_OK};
    wl_status status = obj_load_trace(input->program, kinds, process, input->scratch, &t.trace,
                                      err);
    if (status == WL_OK && !analyse_trace(&t) && t.status == WL_OK)
        status = ana_nomem(err);
    obj_trace_free(&t.trace);
    free(t.extents);
    obj_lives_free(&t.lives);
    wl_vec_free(&t.hits);
    obj_plan_free(&t.plan);
    return status == WL_OK ? t.status : status;
}

wl_status ana_detect_objects(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const prof_object_rows *objects = &input->program->objects;
    obj_kinds kinds;
    uint32_t last = 0;
    drafts->replayed = true;
    wl_status status = obj_load_kinds(input->program, input->scratch, &kinds, err);
    for (uint32_t i = 0; i < objects->count && status == WL_OK; i++) {
        uint32_t process = objects->rows[i].process;
        if (process <= last) /* of a kernel, or of a process that is done */
            continue;
        last = process;
        status = analyse_process(input, &kinds, process, drafts, err);
    }
    return status;
}
