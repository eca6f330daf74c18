/* How often the elements of objects were accessed, over the program. */
#include "analysis/pile.h"
#include "analysis/tables.h"
#include "base/vec.h"

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
    uint32_t nkernels, nprocesses;
    struct launched *of_kernels, *of_processes;
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

/* The launches of a kernel, or of a process. */
typedef struct launched {
    uint32_t of;
    told objects, arrays;
} launched;

static uint32_t known_of(const prof_object *o, const prof_launch *l)
{
    return o->space == ACC_SHARED ? l->arrays_known : l->objects_known;
}

static void add_told(told *t, uint32_t known, uint64_t count)
{
    t->all += count;
    t->unknown += known == OBS_KNOWN_NOTHING ? count : 0;
    t->touched += known == OBS_KNOWN_TOUCHED ? count : 0;
}

static void join_told(told *to, const told *from)
{
    to->all += from->all;
    to->unknown += from->unknown;
    to->touched += from->touched;
}

static int by_what_launched(const void *a, const void *b)
{
    uint32_t x = ((const launched *)a)->of, y = ((const launched *)b)->of;
    return x < y ? -1 : x > y;
}

static uint32_t kernel_of_launch(const prof_launch *l)
{
    return l->kernel;
}

static uint32_t process_of_launch(const prof_launch *l)
{
    return l->process;
}

/* Adds launches up by kernel or process; false when memory is exhausted. */
static bool sum_launches(const work *w, uint32_t (*of)(const prof_launch *), launched **out,
                         uint32_t *count)
{
    launched *rows = wl_new_array(w->arena, launched, (size_t)w->launches.count + 1);
    *out = rows;
    *count = 0;
    for (uint32_t i = 0; rows && i < w->launches.count; i++) {
        const prof_launch *l = &w->launches.rows[i];
        rows[i].of = of(l);
        add_told(&rows[i].objects, l->objects_known, l->count);
        add_told(&rows[i].arrays, l->arrays_known, l->count);
    }
    if (rows && w->launches.count)
        qsort(rows, w->launches.count, sizeof *rows, by_what_launched);
    for (uint32_t i = 0; rows && i < w->launches.count; i++) {
        if (*count && rows[*count - 1].of == rows[i].of) {
            join_told(&rows[*count - 1].objects, &rows[i].objects);
            join_told(&rows[*count - 1].arrays, &rows[i].arrays);
        } else {
            rows[(*count)++] = rows[i];
        }
    }
    return rows != NULL;
}

static told told_of(const work *w, const prof_object *o)
{
    const launched key = {.of = o->kernel ? o->kernel : o->process};
    const launched *rows = o->kernel ? w->of_kernels : w->of_processes,
                   *found = bsearch(&key, rows, o->kernel ? w->nkernels : w->nprocesses,
                                    sizeof *rows, by_what_launched);
    return !found ? (told){0} : o->space == ACC_SHARED ? found->arrays : found->objects;
}

static told count_launches(const work *w, const prof_object *o, const prof_use *uses,
                           uint32_t count)
{
    told t = told_of(w, o);
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

static int by_skipped_kernel(const void *a, const void *b)
{
    return strcmp(((const prof_skip *)a)->kernel, ((const prof_skip *)b)->kernel);
}

/* `skips` are by kernel. */
static bool was_skipped(const work *w, const prof_object *o)
{
    const prof_kernel *k = prof_find_kernel(&w->kernels, o->kernel);
    const prof_skip key = {.kernel = k ? k->name : ""};
    if (!o->kernel || !w->skips.count)
        return w->skips.count > 0;
    return k && bsearch(&key, w->skips.rows, w->skips.count, sizeof key, by_skipped_kernel);
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

/* Accesses of an element of a device array by one kernel. */
typedef struct kernel_mean {
    uint32_t kernel, row; /* row: of ana_uses */
    double mean;          /* negative: not known */
} kernel_mean;

typedef wl_vec(kernel_mean) kernel_means;

/* `uses`: of one object and kernel. */
static double mean_of_uses(const ana_use *u, const prof_use *uses, const prof_use *end)
{
    double sum = 0;
    for (; uses < end; uses++) {
        if (uses->known != OBS_KNOWN_COUNTED)
            return -1;
        for (int c = 0; c < WL_CLASSES; c++)
            sum += (double)uses->count * (double)uses->times[c];
    }
    return u->elements ? sum / (double)u->elements : -1;
}

static int by_used_object(const void *key, const void *item)
{
    uint32_t a = *(const uint32_t *)key, b = ((const prof_use *)item)->object;
    return a < b ? -1 : a > b;
}

/* The object's, one kernel after another. */
static bool add_means(const work *w, const ana_uses *out, uint32_t row, kernel_means *means)
{
    const ana_use *u = &out->rows[row];
    const prof_use *last = w->uses.rows + w->uses.count, *end,
                   *at = w->uses.count ? bsearch(&u->object, w->uses.rows, w->uses.count,
                                                 sizeof *at, by_used_object)
                                       : NULL;
    while (at && at > w->uses.rows && at[-1].object == u->object)
        at--;
    for (; at && at < last && at->object == u->object; at = end) {
        for (end = at + 1; end < last && end->object == u->object && end->kernel == at->kernel;)
            end++;
        if (!wl_push(means, (kernel_mean){at->kernel, row, mean_of_uses(u, at, end)}))
            return false;
    }
    return true;
}

static int by_kernel_and_row(const void *a, const void *b)
{
    const kernel_mean *x = a, *y = b;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool list_means(const work *w, const ana_uses *out, kernel_means *means)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (!out->rows[i].kernel && out->rows[i].counted && !add_means(w, out, i, means))
            return false;
    if (means->count)
        qsort(means->data, means->count, sizeof *means->data, by_kernel_and_row);
    return true;
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

typedef wl_vec(ana_swap) swaps;

/* Device arrays of a kernel with a higher mean than one of its shared arrays. */
static bool add_swaps(const kernel_means *means, const ana_uses *out, const ana_use *shared,
                      swaps *found)
{
    size_t low = 0, high = means->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (means->data[middle].kernel < shared->kernel)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < means->count && means->data[low].kernel == shared->kernel; low++) {
        const ana_use *u = &out->rows[means->data[low].row];
        double mean = means->data[low].mean;
        ana_swap swap = {shared->kernel, u->object,    shared->object,
                         mean,           shared->mean, is_writer(u)};
        if (mean > shared->mean && !wl_push(found, swap))
            return false;
    }
    return true;
}

static bool find_swaps(const work *w, ana_uses *out)
{
    kernel_means means = {0};
    swaps found = {0};
    bool good = list_means(w, out, &means);
    for (uint32_t i = 0; good && i < out->count; i++)
        if (out->rows[i].kernel && out->rows[i].counted)
            good = add_swaps(&means, out, &out->rows[i], &found);
    if (good && found.count)
        qsort(found.data, found.count, sizeof *found.data, by_gain);
    out->nswaps = good ? (uint32_t)found.count : 0;
    out->swaps = good ? wl_arena_copy(w->arena, found.data, found.count * sizeof *found.data)
                      : NULL;
    wl_vec_free(&means);
    wl_vec_free(&found);
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
    if (status == WL_OK)
        status = prof_load_uses(w->db, PROF_ALL, w->arena, &w->uses, err);
    if (status == WL_OK && w->skips.count)
        qsort(w->skips.rows, w->skips.count, sizeof *w->skips.rows, by_skipped_kernel);
    bool summed = status != WL_OK ||
                  (sum_launches(w, kernel_of_launch, &w->of_kernels, &w->nkernels) &&
                   sum_launches(w, process_of_launch, &w->of_processes, &w->nprocesses));
    return summed ? status : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
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
