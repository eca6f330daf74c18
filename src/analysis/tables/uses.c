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
    prof_use_rows uses;         /* by object, space, kernel, launch */
    prof_live_ranges_rows live; /* by object, kernel, launch, origin, accesses */
    uint32_t nkernels, nprocesses;
    struct launched *of_kernels, *of_processes;
} work;

/* ---- adding up ---- */

/* The spans of `times` launches that did the same. */
static wl_status add_spans(const work *w, uint32_t spans, uint64_t times, ana_pile *p,
                           wl_error *err)
{
    wl_arena *scratch = wl_arena_new();
    wl_span_reader reader;
    wl_status status = scratch
                           ? prof_load_spans(w->db, spans, scratch, &reader, err)
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status == WL_OK)
        ana_pile_add(p, reader, times);
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

/* ---- within blocks ---- */

/* Where it is not known in ranges of which origin accesses were, all blocks were counted. */
static uint64_t accesses_in_ranges(const prof_use *use)
{
    uint64_t sum = use->times[0] + use->times[1] + use->times[2] - use->unfilled, by_origin = 0;
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++) {
        sum -= use->ranges[origin];
        by_origin += use->range_accesses[origin];
    }
    return use->range_accesses[0] == UINT64_MAX ? sum : by_origin;
}

static void add_use_ranges(const prof_use *use, ana_reuse *r)
{
    if (use->ranges[0] == UINT64_MAX)
        return;
    r->ranges_known = true;
    r->unfilled += use->count * use->unfilled;
    r->range_accesses += use->count * accesses_in_ranges(use);
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        r->ranges[origin] += use->count * use->ranges[origin];
}

static void add_use_blocks(const prof_use *use, ana_reuse *r)
{
    if (use->block_words == UINT64_MAX)
        return;
    r->blocks_known = true;
    r->blocks += use->count * use->blocks;
    r->block_words += use->count * use->block_words;
    r->block_accesses += use->count * use->block_accesses;
    if (use->block_words_most > r->block_words_most)
        r->block_words_most = use->block_words_most;
}

static int by_origin_and_accesses(const void *a, const void *b)
{
    const obs_live_ranges *x = a, *y = b;
    if (x->origin != y->origin)
        return x->origin < y->origin ? -1 : 1;
    return x->accesses < y->accesses ? -1 : x->accesses > y->accesses;
}

/* Rows of `count` launches each become one row a class. */
static wl_status sum_live_ranges(const work *w, const prof_live_ranges *rows, uint32_t count,
                                 ana_reuse *r, wl_error *err)
{
    obs_live_ranges *all = wl_new_array(w->arena, obs_live_ranges, count + 1);
    if (!all)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (uint32_t i = 0; i < count; i++) {
        all[i] = rows[i].live;
        all[i].ranges *= rows[i].count;
    }
    if (count)
        qsort(all, count, sizeof *all, by_origin_and_accesses);
    for (uint32_t i = 0; i < count; i++)
        if (r->nlive && by_origin_and_accesses(&all[r->nlive - 1], &all[i]) == 0)
            all[r->nlive - 1].ranges += all[i].ranges;
        else
            all[r->nlive++] = all[i];
    r->live = all;
    return WL_OK;
}

static int by_object_and_kernel(const void *key, const void *item)
{
    const prof_live_ranges *x = key, *y = item;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

/* Of an array, which one kernel has; it may have been told of by several ids. */
static const prof_live_ranges *live_ranges_of(const work *w, uint32_t object, uint32_t kernel,
                                              uint32_t *count)
{
    const prof_live_ranges wanted = {.object = object, .kernel = kernel};
    const prof_live_ranges *rows = w->live.rows, *last = rows + w->live.count;
    const prof_live_ranges *at = w->live.count ? bsearch(&wanted, rows, w->live.count, sizeof *rows,
                                                         by_object_and_kernel)
                                               : NULL;
    *count = 0;
    while (at && at > rows && by_object_and_kernel(&wanted, at - 1) == 0)
        at--;
    while (at && at + *count < last && by_object_and_kernel(&wanted, at + *count) == 0)
        ++*count;
    return at;
}

static double reuse_mean(double part, uint64_t of)
{
    return of ? part / (double)of : -1;
}

/* Of `count` rows of uses of an object, which launches of `kernel` made; 0: of device memory by
 * several. */
static wl_status add_up_reuse(const work *w, const prof_use *uses, uint32_t count, uint32_t object,
                              uint32_t kernel, ana_reuse *r, wl_error *err)
{
    uint64_t ranges = 0, nlive = 0;
    uint32_t nrows = 0;
    for (uint32_t i = 0; i < count; i++) {
        add_use_ranges(&uses[i], r);
        add_use_blocks(&uses[i], r);
    }
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        ranges += r->ranges[origin];
    r->accesses_per_range = reuse_mean((double)r->range_accesses, ranges);
    r->accesses_per_block_word = reuse_mean((double)r->block_accesses, r->block_words);
    const prof_live_ranges *rows = live_ranges_of(w, object, kernel, &nrows);
    wl_status status = sum_live_ranges(w, rows, nrows, r, err);
    for (uint32_t i = 0; i < r->nlive; i++)
        nlive += r->live[i].ranges;
    r->nlive = nlive == ranges ? r->nlive : 0; /* of some launches only sums are known */
    return status;
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

typedef wl_vec(wl_spans) sum_list;

static void clear_sums(sum_list *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        wl_spans_free(&sums->data[i]);
    wl_vec_free(sums);
}

/* What was piled up, for *u, and for the list. */
static wl_status finish_sum(const work *w, ana_pile *p, ana_use *u, sum_list *sums, wl_error *err)
{
    wl_spans sum = ana_pile_sum(p);
    if (!p->failed)
        finish_use(w, &sum, u);
    if (!p->failed && wl_push(sums, sum))
        return WL_OK;
    wl_spans_free(&sum);
    return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

/* What launches of one kernel did; the sum is added to the list. */
static wl_status add_up_uses(const work *w, const prof_use *uses, uint32_t count, ana_use *u,
                             sum_list *sums, wl_error *err)
{
    ana_pile p = {.counted = u->counted};
    wl_status status = add_all(w, uses, count, &p, err);
    if (status == WL_OK)
        return finish_sum(w, &p, u, sums, err);
    wl_spans sum = ana_pile_sum(&p);
    wl_spans_free(&sum);
    return status;
}

/* What all kernels did: the sums become one. */
static wl_status add_up_sums(const work *w, ana_use *u, sum_list *sums, wl_error *err)
{
    ana_pile p = {.counted = u->counted};
    for (size_t i = 0; i < sums->count; i++)
        ana_pile_add(&p, ana_read_spans(&sums->data[i]), 1);
    clear_sums(sums);
    return finish_sum(w, &p, u, sums, err);
}

static uint64_t object_elements_of(const prof_object *o)
{
    uint64_t rest = o->base % OBS_WORD_BYTES + o->bytes % OBS_WORD_BYTES;
    return o->bytes / OBS_WORD_BYTES + (rest + OBS_WORD_BYTES - 1) / OBS_WORD_BYTES;
}

static bool is_reuse_known(const ana_reuse *r)
{
    return r->ranges_known || r->blocks_known;
}

/* `uses`: of the object, by launches of `kernel`, or of all. *u is what they come to, but for their
 * elements. */
static wl_status sum_up_uses(const work *w, const prof_object *o, uint32_t kernel,
                             const prof_use *uses, uint32_t count, ana_use *u, wl_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const prof_launch *l = prof_find_launch(&w->launches, uses[i].launch);
        bool known = uses[i].known != OBS_KNOWN_NOTHING;
        u->launches += known ? (uint32_t)uses[i].count : 0;
        u->estimated |= l && l->estimated;
    }
    return add_up_reuse(w, uses, count, o->id, kernel, &u->reuse, err);
}

/* `uses`: of the object; `sums`: of each kernel. Adds a row where something is known of it. */
static wl_status add_object_uses(const work *w, const prof_object *o, const prof_use *uses,
                                 uint32_t count, sum_list *sums, ana_uses *out, wl_error *err)
{
    told t = count_launches(w, o, uses, count);
    bool is_told = t.unknown < t.all;
    ana_use u = {.object = o->id,
                 .kernel = o->kernel,
                 .array = o->space == ACC_SHARED,
                 .counted = is_told && !t.touched,
                 .partial = t.unknown > 0 || was_skipped(w, o),
                 .elements = object_elements_of(o)};
    if (!may_have_uses(o))
        return WL_OK;
    wl_status status = sum_up_uses(w, o, o->kernel, uses, count, &u, err);
    if (status == WL_OK)
        status = add_up_sums(w, &u, sums, err);
    u.written = u.times[WL_STORES] || u.times[WL_ATOMICS];
    u.unknown = !is_told;
    if (is_told || is_reuse_known(&u.reuse))
        out->rows[out->count++] = u;
    return status;
}

/* By any kernel; the object's row is the last one, if it has any, and so are its parts, from the
 * `first` on. */
static void note_written(ana_uses *uses, uint32_t object, uint32_t first)
{
    const ana_use *last = uses->count ? &uses->rows[uses->count - 1] : NULL;
    bool written = last && last->object == object && last->written;
    for (uint32_t i = first; i < uses->nparts; i++)
        uses->parts[i].written = written;
}

/* What one kernel's launches did to the object. */
static wl_status add_kernel_uses(const work *w, const prof_object *o, const prof_use *uses,
                                 uint32_t count, sum_list *sums, ana_uses *out, wl_error *err)
{
    ana_use u = {.object = o->id,
                 .kernel = uses->kernel,
                 .array = o->space == ACC_SHARED,
                 .elements = object_elements_of(o)};
    bool touched = false, known = false;
    for (uint32_t i = 0; i < count; i++) {
        touched |= uses[i].known == OBS_KNOWN_TOUCHED;
        known |= uses[i].known == OBS_KNOWN_COUNTED;
        u.partial |= uses[i].known == OBS_KNOWN_NOTHING;
    }
    u.counted = known && !touched;
    wl_status status = sum_up_uses(w, o, uses->kernel, uses, count, &u, err);
    if (status == WL_OK)
        status = add_up_uses(w, uses, count, &u, sums, err);
    u.unknown = !u.launches;
    if (u.launches || is_reuse_known(&u.reuse))
        out->parts[out->nparts++] = u;
    return status;
}

static wl_status add_parts(const work *w, const prof_object *o, const prof_use *uses,
                           uint32_t count, sum_list *sums, ana_uses *out, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t from = 0, to; from < count && status == WL_OK; from = to) {
        for (to = from + 1; to < count && uses[to].kernel == uses[from].kernel;)
            to++;
        if (may_have_uses(o))
            status = add_kernel_uses(w, o, uses + from, to - from, sums, out, err);
    }
    return status;
}

/* `uses`: of the object. */
static wl_status add_uses_of(const work *w, const prof_object *o, const prof_use *uses,
                             uint32_t count, ana_uses *out, wl_error *err)
{
    sum_list sums = {0};
    uint32_t parts = out->nparts;
    wl_status status = add_parts(w, o, uses, count, &sums, out, err);
    if (status == WL_OK)
        status = add_object_uses(w, o, uses, count, &sums, out, err);
    note_written(out, o->id, parts);
    clear_sums(&sums);
    return status;
}

static int by_kernel_and_object(const void *a, const void *b)
{
    const ana_use *x = a, *y = b;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
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

static int by_gain(const void *a, const void *b)
{
    const ana_swap *x = a, *y = b;
    double gain = x->device_mean / (x->shared_mean + 1) - y->device_mean / (y->shared_mean + 1);
    return gain > 0 ? -1 : gain < 0;
}

typedef wl_vec(ana_swap) swaps;

/* Whether accesses of an element that a block touches can be compared. */
static bool is_comparable(const ana_use *u)
{
    return u->reuse.blocks_known && u->reuse.block_words;
}

/* Bytes of shared memory that every block may have, less those of the kernel's arrays. */
static uint64_t room_beside(const ana_use *parts, uint32_t count)
{
    const uint64_t all = 48 << 10;
    uint64_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        used += parts[i].array ? parts[i].elements * OBS_WORD_BYTES : 0;
    return used < all ? all - used : 0;
}

/* Of one kernel's parts: device arrays of which a block accesses an element more often than of this
 * shared one. */
static bool add_swaps(const ana_use *shared, const ana_use *parts, uint32_t count, swaps *found)
{
    double least = shared->reuse.accesses_per_block_word;
    uint64_t room = room_beside(parts, count);
    for (uint32_t i = 0; i < count; i++) {
        double mean = parts[i].reuse.accesses_per_block_word;
        ana_swap swap = {.kernel = shared->kernel,
                         .device = parts[i].object,
                         .shared = shared->object,
                         .device_mean = mean,
                         .shared_mean = least,
                         .written = parts[i].written,
                         .fits = parts[i].reuse.block_words_most * OBS_WORD_BYTES <= room};
        bool better = !parts[i].array && is_comparable(&parts[i]) && mean > least;
        if (better && !wl_push(found, swap))
            return false;
    }
    return true;
}

static uint32_t parts_of_kernel(const ana_uses *uses, uint32_t from)
{
    uint32_t to = from;
    while (to < uses->nparts && uses->parts[to].kernel == uses->parts[from].kernel)
        to++;
    return to - from;
}

static bool list_swaps(const ana_uses *uses, swaps *found)
{
    for (uint32_t i = 0, n; i < uses->nparts; i += n) {
        n = parts_of_kernel(uses, i);
        for (uint32_t k = i; k < i + n; k++)
            if (uses->parts[k].array && is_comparable(&uses->parts[k]) &&
                !add_swaps(&uses->parts[k], uses->parts + i, n, found))
                return false;
    }
    return true;
}

static bool find_swaps(const work *w, ana_uses *out)
{
    swaps found = {0};
    bool good = list_swaps(out, &found);
    if (good && found.count)
        qsort(found.data, found.count, sizeof *found.data, by_gain);
    out->nswaps = good ? (uint32_t)found.count : 0;
    out->swaps = good ? wl_arena_copy(w->arena, found.data, found.count * sizeof *found.data)
                      : NULL;
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
    if (status == WL_OK)
        status = prof_load_live_ranges(w->db, PROF_ALL, w->arena, &w->live, err);
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
    out->parts = wl_new_array(arena, ana_use, w.uses.count + 1);
    if (!out->rows || !out->parts)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    const prof_use *at = w.uses.rows, *last = at + w.uses.count;
    for (uint32_t i = 0; i < w.objects.count && status == WL_OK; i++) {
        const prof_object *o = &w.objects.rows[i];
        while (at < last && at->object < o->id)
            at++;
        const prof_use *end = at;
        while (end < last && end->object == o->id)
            end++;
        status = add_uses_of(&w, o, at, (uint32_t)(end - at), out, err);
        at = end;
    }
    if (status != WL_OK)
        return status;
    qsort(out->rows, out->count, sizeof *out->rows, by_mean);
    if (out->nparts)
        qsort(out->parts, out->nparts, sizeof *out->parts, by_kernel_and_object);
    return find_swaps(&w, out)
               ? WL_OK
               : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}
