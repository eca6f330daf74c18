/* How often the elements of objects were accessed, over the program. */
#include "analysis/pile.h"
#include "analysis/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
    prof_db *db;
    const ana_thresholds *thresholds;
    wl_arena *arena;
    prof_object_rows objects;
    prof_launch_rows launches;
    prof_kernel_rows kernels;
    prof_skip_rows skips;
    prof_use_rows uses; /* by object, space, kernel, launch */
} work;

/* ---- adding up ---- */

/* The spans of `times` launches that did the same. */
static wl_status add_spans(const work *w, uint32_t spans, uint64_t times, ana_pile *p,
                           wl_error *err)
{
    wl_arena *scratch = wl_arena_new();
    wl_spans scaled = {.counted = p->counted};
    wl_span_reader reader;
    wl_status status = scratch
                           ? prof_load_spans(w->db, spans, scratch, &reader, err)
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (wl_span span; status == WL_OK && wl_span_next(&reader, &span);) {
        for (int c = 0; c < WL_CLASSES; c++)
            span.times[c] *= times;
        wl_spans_add(&scaled, &span);
    }
    p->failed |= !wl_spans_finish(&scaled);
    ana_pile_up(p, scaled);
    wl_arena_free(scratch);
    return status;
}

static int by_spans(const void *a, const void *b)
{
    uint32_t x = (*(const prof_use *const *)a)->spans, y = (*(const prof_use *const *)b)->spans;
    return x < y ? -1 : x > y;
}

/* Equal spans at once. */
static wl_status add_all(const work *w, const prof_use *uses, uint32_t count, ana_pile *p,
                         wl_error *err)
{
    const prof_use **sorted = wl_new_array(w->arena, const prof_use *, count + 1);
    wl_status status = WL_OK;
    if (!sorted)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &uses[i];
    qsort(sorted, count, sizeof *sorted, by_spans);
    for (uint32_t i = 0, end; i < count && status == WL_OK; i = end) {
        uint64_t times = 0;
        for (end = i; end < count && sorted[end]->spans == sorted[i]->spans; end++)
            times += sorted[end]->count;
        if (sorted[i]->spans)
            status = add_spans(w, sorted[i]->spans, times, p, err);
    }
    return status;
}

/* ---- what it comes to ---- */

static uint64_t accesses(const wl_span *span)
{
    return span->times[WL_LOADS] + span->times[WL_STORES] + span->times[WL_ATOMICS];
}

static void count_spans(const wl_spans *spans, ana_use *u, double *squares)
{
    wl_span_reader reader = ana_read_spans(spans);
    for (wl_span span; wl_span_next(&reader, &span);) {
        uint64_t all = accesses(&span);
        u->touched += span.count;
        for (int c = 0; c < WL_CLASSES; c++)
            u->times[c] += span.times[c] * span.count;
        u->most = all > u->most ? all : u->most;
        *squares += (double)all * (double)all * (double)span.count;
    }
    u->touched = u->touched < u->elements ? u->touched : u->elements;
}

static void count_rare(const work *w, const wl_spans *spans, ana_use *u, double sum)
{
    double rare = u->touched ? w->thresholds->rare_share * sum / (double)u->touched : 0;
    wl_span_reader reader = ana_read_spans(spans);
    for (wl_span span; wl_span_next(&reader, &span);)
        u->rare += (double)accesses(&span) < rare ? span.count : 0;
}

static void finish_use(const work *w, const wl_spans *spans, ana_use *u)
{
    double squares = 0;
    count_spans(spans, u, &squares);
    if (!u->counted || !u->elements)
        return;
    double n = (double)u->elements,
           sum = (double)u->times[0] + (double)u->times[1] + (double)u->times[2];
    u->mean = sum / n;
    double variance = squares / n - u->mean * u->mean;
    u->variation = u->mean > 0 && variance > 0 ? sqrt(variance) / u->mean : 0;
    count_rare(w, spans, u, sum);
}

/* ---- objects ---- */

typedef struct told {      /* launches that could have accessed an object */
    uint64_t all, unknown; /* unknown: whether they did */
    uint64_t touched;      /* how often is not known */
} told;

static uint32_t known_of(const prof_object *o, const prof_launch *l)
{
    return o->space == ACC_SHARED ? l->arrays_known : l->objects_known;
}

static told count_launches(const work *w, const prof_object *o, const prof_use *uses,
                           uint32_t count)
{
    told t = {0};
    for (uint32_t i = 0; i < w->launches.count; i++) {
        const prof_launch *l = &w->launches.rows[i];
        bool could = o->kernel ? l->kernel == o->kernel : l->process == o->process;
        t.all += could ? l->count : 0;
        t.unknown += could && known_of(o, l) == OBS_KNOWN_NOTHING ? l->count : 0;
        t.touched += could && known_of(o, l) == OBS_KNOWN_TOUCHED ? l->count : 0;
    }
    for (uint32_t i = 0; i < count; i++) { /* which may say other than of all others */
        const prof_launch *l = prof_find_launch(&w->launches, uses[i].launch);
        bool others = l && known_of(o, l) != OBS_KNOWN_NOTHING;
        uint64_t launches = uses[i].count;
        if (others && uses[i].known == OBS_KNOWN_NOTHING)
            t.unknown += launches;
        else if (l && !others && uses[i].known != OBS_KNOWN_NOTHING)
            t.unknown -= t.unknown < launches ? t.unknown : launches;
        t.touched += uses[i].known == OBS_KNOWN_TOUCHED ? launches : 0;
    }
    return t;
}

static bool was_skipped(const work *w, const prof_object *o)
{
    const prof_kernel *k = prof_find_kernel(&w->kernels, o->kernel);
    for (uint32_t i = 0; i < w->skips.count; i++)
        if (!o->kernel || (k && strcmp(k->name, w->skips.rows[i].kernel) == 0))
            return true;
    return false;
}

static bool may_have_uses(const prof_object *o)
{
    return o->space == ACC_SHARED || (o->space == ACC_GLOBAL && o->kind != CAP_OBJECT_ARRAY);
}

static wl_status add_up_uses(const work *w, const prof_use *uses, uint32_t count, ana_use *u,
                             wl_error *err)
{
    ana_pile p = {.counted = u->counted};
    wl_status status = add_all(w, uses, count, &p, err);
    wl_spans sum = ana_pile_sum(&p);
    if (status == WL_OK && p.failed)
        status = wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status == WL_OK)
        finish_use(w, &sum, u);
    wl_spans_free(&sum);
    return status;
}

static uint64_t object_elements_of(const prof_object *o)
{
    uint64_t rest = o->base % OBS_WORD_BYTES + o->bytes % OBS_WORD_BYTES;
    return o->bytes / OBS_WORD_BYTES + (rest + OBS_WORD_BYTES - 1) / OBS_WORD_BYTES;
}

/* `uses`: of the object. Adds a row where something is known of it. */
static wl_status add_object_uses(const work *w, const prof_object *o, const prof_use *uses,
                                 uint32_t count, ana_uses *out, wl_error *err)
{
    told t = count_launches(w, o, uses, count);
    ana_use u = {.object = o->id,
                 .kernel = o->kernel,
                 .counted = !t.touched,
                 .partial = t.unknown > 0 || was_skipped(w, o),
                 .elements = object_elements_of(o)};
    if (!may_have_uses(o) || t.unknown >= t.all)
        return WL_OK;
    for (uint32_t i = 0; i < count; i++) {
        const prof_launch *l = prof_find_launch(&w->launches, uses[i].launch);
        u.launches += uses[i].known != OBS_KNOWN_NOTHING ? (uint32_t)uses[i].count : 0;
        u.estimated |= l && l->estimated;
    }
    wl_status status = add_up_uses(w, uses, count, &u, err);
    out->rows[out->count++] = u;
    return status;
}

/* Highest mean first; what is only known to be touched comes last. */
static int by_mean(const void *a, const void *b)
{
    const ana_use *x = a, *y = b;
    if (x->counted != y->counted)
        return x->counted ? -1 : 1;
    if (x->mean != y->mean)
        return x->mean > y->mean ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* ---- shared against device memory ---- */

/* Accesses of an element by one kernel; negative: not known. */
static double mean_in(const work *w, const ana_use *u, uint32_t kernel)
{
    double sum = 0;
    bool any = false;
    for (uint32_t i = 0; i < w->uses.count; i++) {
        const prof_use *use = &w->uses.rows[i];
        if (use->object != u->object || use->kernel != kernel)
            continue;
        if (use->known != OBS_KNOWN_COUNTED)
            return -1;
        any = true;
        for (int c = 0; c < WL_CLASSES; c++)
            sum += (double)use->count * (double)use->times[c];
    }
    return any && u->elements ? sum / (double)u->elements : -1;
}

static bool is_writer(const ana_use *u)
{
    return u->times[WL_STORES] || u->times[WL_ATOMICS];
}

static int by_gain(const void *a, const void *b)
{
    const ana_swap *x = a, *y = b;
    double gain = x->device_mean / (x->shared_mean + 1) - y->device_mean / (y->shared_mean + 1);
    return gain > 0 ? -1 : gain < 0;
}

/* Device arrays of a kernel with a higher mean than one of its shared arrays. */
static void add_swaps(const work *w, const ana_use *shared, ana_uses *out)
{
    for (uint32_t i = 0; i < out->count; i++) {
        const ana_use *u = &out->rows[i];
        double mean = u->kernel || !u->counted ? -1 : mean_in(w, u, shared->kernel);
        if (mean > shared->mean) {
            out->swaps[out->nswaps++] = (ana_swap){shared->kernel, u->object,    shared->object,
                                                   mean,           shared->mean, is_writer(u)};
        }
    }
}

static bool find_swaps(const work *w, ana_uses *out)
{
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < out->count; i++)
        arrays += out->rows[i].kernel != 0;
    out->swaps = wl_new_array(w->arena, ana_swap, (size_t)arrays * out->count + 1);
    for (uint32_t i = 0; out->swaps && i < out->count; i++)
        if (out->rows[i].kernel && out->rows[i].counted)
            add_swaps(w, &out->rows[i], out);
    if (out->nswaps)
        qsort(out->swaps, out->nswaps, sizeof *out->swaps, by_gain);
    return out->swaps != NULL;
}

/* ---- together ---- */

static wl_status load_uses(work *w, wl_error *err)
{
    wl_status status = prof_load_objects(w->db, w->arena, &w->objects, err);
    if (status == WL_OK)
        status = prof_load_launch_kinds(w->db, PROF_ALL, w->arena, &w->launches, err);
    if (status == WL_OK)
        status = prof_load_kernels(w->db, w->arena, &w->kernels, err);
    if (status == WL_OK)
        status = prof_load_skips(w->db, w->arena, &w->skips, err);
    return status == WL_OK ? prof_load_uses(w->db, PROF_ALL, w->arena, &w->uses, err) : status;
}

static bool any_known(const work *w)
{
    for (uint32_t i = 0; i < w->launches.count; i++)
        if (w->launches.rows[i].objects_known || w->launches.rows[i].arrays_known)
            return true;
    return w->uses.count > 0;
}

wl_status ana_use_table(prof_db *profile, const ana_thresholds *thresholds, wl_arena *arena,
                        ana_uses *out, wl_error *err)
{
    ana_thresholds defaults = ana_thresholds_default();
    work w = {.db = profile, .thresholds = thresholds ? thresholds : &defaults, .arena = arena};
    *out = (ana_uses){0};
    wl_status status = load_uses(&w, err);
    if (status != WL_OK || !any_known(&w))
        return status;
    out->rows = wl_new_array(arena, ana_use, w.objects.count + 1);
    if (!out->rows)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    const prof_use *at = w.uses.rows, *last = at + w.uses.count;
    for (uint32_t i = 0; i < w.objects.count && status == WL_OK; i++) {
        const prof_object *o = &w.objects.rows[i];
        while (at < last && at->object < o->id)
            at++;
        const prof_use *end = at;
        while (end < last && end->object == o->id)
            end++;
        status = add_object_uses(&w, o, at, (uint32_t)(end - at), out, err);
        at = end;
    }
    if (status != WL_OK)
        return status;
    qsort(out->rows, out->count, sizeof *out->rows, by_mean);
    return find_swaps(&w, out)
               ? WL_OK
               : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}
