#include "observe/uses.h"

#include "base/parallel.h"
#include "observe/internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 1024,            /* elements */
    STEP = 16,              /* of them, that are looked at together */
    MOST_BYTES = 128 << 20, /* of the spans of one object */
    LARGE = 1 << 21,        /* elements of an object that workers have one table of */
    CLAIM = 1 << 22,        /* accesses at once */
    WORTH_THREADS = 4 << 20 /* bytes of tables */
};

/* ---- tables ---- */

static uint64_t npages(uint64_t elements)
{
    return elements / PAGE + 1; /* there is an end behind the last element */
}

static void clear_pages(obs_use_pages *pages, uint64_t elements)
{
    for (int c = 0; c < WL_CLASSES; c++) {
        void **list = pages->of[c];
        for (uint64_t p = 0; list && p < npages(elements); p++)
            free(list[p]);
        free(list);
    }
    *pages = (obs_use_pages){0};
}

static void use_table_free(obs_use_table *t)
{
    clear_pages(&t->pages, t->elements);
    wl_spans_free(&t->packed);
    free(t);
}

void obs_commons_free(obs_use_common *commons)
{
    for (obs_use_common *next; commons; commons = next) {
        next = commons->next;
        clear_pages(&commons->pages, commons->elements);
        free(commons);
    }
}

/* The table that all workers have of a large object; NULL: it is not large, or there is no memory
 * for one. */
static obs_use_common *common_of(obs_launch *launch, uint64_t key, uint64_t elements)
{
    if (elements < LARGE)
        return NULL;
    pthread_mutex_lock(&launch->lock);
    obs_use_common *found = launch->commons;
    while (found && (found->key != key || found->elements != elements))
        found = found->next;
    if (!found && (found = calloc(1, sizeof *found))) {
        found->key = key;
        found->elements = elements;
        found->next = launch->commons;
        launch->commons = found;
    }
    pthread_mutex_unlock(&launch->lock);
    return found;
}

void obs_uses_free(obs_uses *u)
{
    for (uint32_t i = 0; i < u->count; i++)
        use_table_free(u->tables[i]);
    free(u->tables);
    obs_table_free(&u->by_object);
    for (obs_frame *f = u->spare, *next; f; f = next) {
        next = f->next;
        obs_frame_free(f);
    }
}

static obs_use_table *new_table(obs_launch *launch, obs_uses *u, const obs_range *range,
                                uint8_t space)
{
    uint64_t key = (uint64_t)space << 32 | range->object;
    obs_use_table *t;
    if (u->count == u->capacity) {
        uint32_t capacity = u->capacity ? 2 * u->capacity : 16;
        obs_use_table **tables = realloc(u->tables, capacity * sizeof(obs_use_table *));
        if (!tables)
            return NULL;
        u->tables = tables;
        u->capacity = capacity;
    }
    if (!(t = calloc(1, sizeof *t)))
        return NULL;
    if (!obs_table_put(&u->by_object, key, u->count + 1)) {
        free(t);
        return NULL;
    }
    t->object = range->object;
    t->space = space;
    t->low = range->base;
    t->high = range->base + range->bytes;
    t->first = t->low / OBS_WORD_BYTES;
    t->elements = (t->high + OBS_WORD_BYTES - 1) / OBS_WORD_BYTES - t->first;
    t->divided = range->divided;
    t->packed.counted = true;
    t->common = common_of(launch, key, t->elements);
    t->number = u->count;
    return u->tables[u->count++] = t;
}

/* ---- differences ---- */

/* Made by whoever comes first; NULL: there is no memory for it. */
static __attribute__((noinline)) void *make_page(obs_launch *launch, void **slot, uint64_t bytes,
                                                 uint64_t *sum)
{
    uint64_t limit = launch->config.use_limit ? launch->config.use_limit : OBS_USE_BYTES;
    void *none = NULL;
    uint64_t used = __atomic_add_fetch(&launch->use_bytes, bytes, __ATOMIC_RELAXED);
    void *fresh = used <= limit ? calloc(1, bytes) : NULL;
    __atomic_add_fetch(sum, bytes, __ATOMIC_RELAXED);
    if (!fresh ||
        __atomic_compare_exchange_n(slot, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh ? fresh : __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    __atomic_sub_fetch(sum, bytes, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&launch->use_bytes, bytes, __ATOMIC_RELAXED);
    free(fresh);
    return none;
}

/* What the slot leads to. */
static inline void *make_page_once(obs_launch *launch, void **slot, uint64_t bytes, uint64_t *sum)
{
    void *there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    return there ? there : make_page(launch, slot, bytes, sum);
}

static uint32_t *difference_cell(obs_launch *launch, obs_use_pages *pages, uint64_t elements,
                                 int class_, uint64_t element)
{
    void **root = make_page_once(launch, &pages->of[class_], npages(elements) * sizeof(void *),
                                 &pages->bytes);
    uint32_t *page = root ? make_page_once(launch, &root[element / PAGE], PAGE * sizeof(uint32_t),
                                           &pages->bytes)
                          : NULL;
    return page ? &page[element % PAGE] : NULL;
}

/* Whether the accesses may be added to the common table: they are claimed. */
static bool is_claimed(obs_use_table *t, uint32_t times)
{
    if (!t->common || t->alone)
        return false;
    if (t->claim < times) {
        uint64_t before = __atomic_fetch_add(&t->common->claimed, CLAIM, __ATOMIC_RELAXED);
        t->alone = before + CLAIM > UINT32_MAX;
        t->claim += t->alone ? 0 : CLAIM;
    }
    t->claim -= t->alone ? 0 : times;
    return !t->alone;
}

static void settle_pending_run(obs_launch *launch, obs_use_table *t, int class_)
{
    obs_use_run *run = &t->pending[class_];
    if (!run->times || t->lost)
        return;
    bool common = is_claimed(t, run->times);
    obs_use_pages *pages = common ? &t->common->pages : &t->pages;
    uint32_t *from = difference_cell(launch, pages, t->elements, class_, run->first);
    uint32_t *to = from ? difference_cell(launch, pages, t->elements, class_, run->end) : NULL;
    if (to && common) {
        __atomic_fetch_add(from, run->times, __ATOMIC_RELAXED);
        __atomic_fetch_sub(to, run->times, __ATOMIC_RELAXED);
    } else if (to) {
        *from += run->times;
        *to -= run->times;
    }
    t->lost |= !to;
    run->times = 0;
}

/* Of all classes, from element 0 on: what they add up to so far. */
typedef struct sums {
    uint64_t from;
    uint32_t times[WL_CLASSES];
} sums;

static void end_span(sums *s, uint64_t element, wl_spans *out)
{
    wl_span span = {.first = s->from, .count = element - s->from};
    for (int c = 0; c < WL_CLASSES; c++)
        span.times[c] = s->times[c];
    wl_spans_add(out, &span);
    s->from = element;
}

/* Whether the page changes anything in STEP elements from `i` on. */
static bool changes_step(const uint32_t *const d[WL_CLASSES], uint32_t i)
{
    uint32_t any = 0;
    for (int c = 0; c < WL_CLASSES; c++)
        for (uint32_t k = 0; d[c] && k < STEP; k++)
            any |= d[c][i + k];
    return any != 0;
}

static void pack_element(const uint32_t *const d[WL_CLASSES], uint32_t i, uint64_t element, sums *s,
                         wl_spans *out)
{
    uint32_t change[WL_CLASSES] = {d[0] ? d[0][i] : 0, d[1] ? d[1][i] : 0, d[2] ? d[2][i] : 0};
    if (!(change[0] | change[1] | change[2]))
        return;
    end_span(s, element, out);
    for (int c = 0; c < WL_CLASSES; c++)
        s->times[c] += change[c];
}

static void pack_page(const obs_use_pages *pages, uint64_t page, sums *s, wl_spans *out)
{
    const uint32_t *d[WL_CLASSES];
    for (int c = 0; c < WL_CLASSES; c++)
        d[c] = pages->of[c] ? ((void **)pages->of[c])[page] : NULL;
    if (!d[0] && !d[1] && !d[2])
        return;
    for (uint32_t i = 0; i < PAGE; i++)
        if (i % STEP == 0 && !changes_step(d, i))
            i += STEP - 1;
        else
            pack_element(d, i, page * PAGE + i, s, out);
}

/* Moves what is in `more` to the spans; false where memory is exhausted. */
static bool add_to_packed(wl_spans *packed, wl_spans *more)
{
    wl_spans sum = {.counted = true};
    if (!packed->size || !more->size) {
        sum = more->size ? *more : *packed;
        wl_spans_free(more->size ? packed : more);
        *more = (wl_spans){.counted = true};
        *packed = sum;
        return true;
    }
    wl_span_reader a = wl_spans_read(packed->data, packed->size, true);
    wl_span_reader b = wl_spans_read(more->data, more->size, true);
    bool all = wl_spans_sum(&a, &b, &sum);
    wl_spans_free(more);
    wl_spans_free(packed);
    *packed = sum;
    return all;
}

/* Moves what the pages hold to the spans; false where memory is exhausted. */
static bool pack_pages(obs_launch *launch, obs_use_pages *pages, uint64_t elements,
                       wl_spans *packed)
{
    wl_spans now = {.counted = true};
    sums s = {0};
    if (pages->of[0] || pages->of[1] || pages->of[2])
        for (uint64_t p = 0; p < npages(elements); p++)
            pack_page(pages, p, &s, &now);
    __atomic_sub_fetch(&launch->use_bytes, pages->bytes, __ATOMIC_RELAXED);
    clear_pages(pages, elements);
    bool all = wl_spans_finish(&now);
    return add_to_packed(packed, &now) && all;
}

/* What the worker has by itself. */
static void pack_table(obs_launch *launch, obs_use_table *t)
{
    for (int c = 0; c < WL_CLASSES; c++)
        settle_pending_run(launch, t, c);
    t->adds = 0;
    t->lost |= !pack_pages(launch, &t->pages, t->elements, &t->packed);
}

/* ---- requests ---- */

typedef struct request {
    obs_worker *worker;
    obs_frame *frame; /* of the block; NULL: there is no memory for it */
    const acc_request *access;
    int class_;
    const flow_fill *fill; /* what it writes to shared memory, as far as live ranges are told */
    bool begins;           /* it may begin ranges there */
    /* A request of a whole warp, side by side: the elements that it accessed. */
    obs_use_table *table;
    uint64_t first, end;
} request;

/* NULL: there is no memory for it. */
static obs_part *part_of_table(const request *r, obs_use_table *t)
{
    obs_part *part = t->part;
    if (part && part->frame == r->frame && part->epoch == r->frame->epoch)
        return part;
    if (r->frame)
        part = t->part = obs_frame_part(r->frame, t->number, t->elements, t->space == ACC_SHARED,
                                        &t->within);
    if (!r->frame || !part) {
        t->within.lost_ranges = t->within.lost_words = true;
        return NULL;
    }
    return part;
}

static void add_within(const request *r, obs_use_table *t, uint64_t first, uint64_t end,
                       uint32_t times)
{
    obs_launch *launch = r->worker->launch;
    obs_part *part = part_of_table(r, t);
    uint64_t most = launch->config.use_limit ? launch->config.use_limit : OBS_USE_BYTES;
    if (!part || first >= end)
        return;
    if (!part->array)
        obs_part_touch(part, first, end, times, (obs_stamp_room){&launch->stamp_bytes, most / 2});
    else if (!r->begins)
        obs_part_access(part, first, end, times);
}

static void add_elements(const request *r, obs_use_table *t, uint64_t first, uint64_t end,
                         uint32_t times)
{
    obs_use_run *run = &t->pending[r->class_];
    end = end < t->elements ? end : t->elements;
    add_within(r, t, first, end, times);
    if (run->times == times && run->end == first) {
        run->end = end;
        return;
    }
    if (t->adds >= UINT32_MAX - OBS_LANES)
        pack_table(r->worker->launch, t);
    settle_pending_run(r->worker->launch, t, r->class_);
    t->adds += times;
    *run = (obs_use_run){first, end, times};
}

/* Where others lie in the table's object, only the request can tell whose the address is. */
static bool table_holds(const obs_use_table *t, const acc_request *access, uint64_t address)
{
    return t && t->space == access->space && address >= t->low && address < t->high &&
           (!t->divided || t->object == access->object);
}

static bool range_of_address(const request *r, uint64_t address, obs_range *range)
{
    const obs_config *config = &r->worker->launch->config;
    if (r->access->space != ACC_SHARED)
        return config->range_at && config->range_at(config->object_ctx, address, range) &&
               range->object && !range->constant;
    uint32_t array = obs_array_at(config, address);
    const obs_shared *s = &config->shared[array];
    *range = (obs_range){.object = array, .base = s->offset, .bytes = s->bytes};
    return array != 0;
}

/* Shared memory beyond all arrays is another block's: no array is known any more. */
static void miss(const request *r, uint64_t address)
{
    const obs_config *config = &r->worker->launch->config;
    uint64_t end = 0;
    for (uint32_t i = 1; i < config->nshared; i++) {
        uint64_t its = (uint64_t)config->shared[i].offset + config->shared[i].bytes;
        end = its > end ? its : end;
    }
    if (r->access->space == ACC_SHARED && address >= end)
        r->worker->uses.lost_arrays = true;
}

static void lose(const request *r)
{
    r->worker->uses.lost_objects |= r->access->space != ACC_SHARED;
    r->worker->uses.lost_arrays |= r->access->space == ACC_SHARED;
}

/* The table of what holds the address; NULL: nothing that is counted. */
static obs_use_table *table_at(const request *r, uint64_t address)
{
    obs_uses *u = &r->worker->uses;
    uint8_t space = (uint8_t)r->access->space;
    obs_use_table **last = &u->last[r->access->pc % OBS_USE_LAST];
    obs_range range;
    if (table_holds(*last, r->access, address))
        return *last;
    uint64_t key = (uint64_t)space << 32 | r->access->object;
    uint32_t known = space != ACC_SHARED && r->access->object ? obs_table_get(&u->by_object, key)
                                                              : 0;
    if (known && table_holds(u->tables[known - 1], r->access, address))
        return *last = u->tables[known - 1];
    if (!range_of_address(r, address, &range)) {
        miss(r, address);
        return NULL;
    }
    known = obs_table_get(&u->by_object, (uint64_t)space << 32 | range.object);
    obs_use_table *t = known ? u->tables[known - 1]
                             : new_table(r->worker->launch, u, &range, space);
    if (!t)
        lose(r);
    else if (!known &&
             space == ACC_SHARED) /* arrays may overlap: the first has what several could */
        obs_array_range(&r->worker->launch->config, address, &t->low, &t->high);
    return *last = t;
}

/* A whole warp at one address, or side by side. */
static bool add_regular(request *r)
{
    const acc_request *a = r->access;
    int64_t stride = a->stride;
    bool beside = stride == (int64_t)a->bytes || stride == -(int64_t)a->bytes;
    if (a->mask != UINT32_MAX || (stride && (!beside || a->bytes % OBS_WORD_BYTES)))
        return false;
    uint64_t low = stride < 0 ? a->addr[OBS_LANES - 1] : a->addr[0];
    uint64_t bytes = stride ? (uint64_t)OBS_LANES * a->bytes : a->bytes;
    obs_use_table *t = table_at(r, low);
    if (!t || low % OBS_WORD_BYTES || low + bytes > t->high || !table_holds(t, a, low))
        return false;
    r->first = low / OBS_WORD_BYTES - t->first;
    r->end = r->first + (bytes + OBS_WORD_BYTES - 1) / OBS_WORD_BYTES;
    r->table = stride ? t : NULL;
    add_elements(r, t, r->first, r->end, stride ? 1 : OBS_LANES);
    return true;
}

/* Lane by lane; those that follow each other on the same elements together. */
static void add_lanes(const request *r)
{
    const acc_request *a = r->access;
    obs_use_table *last = NULL;
    obs_use_run run = {0};
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t address = a->addr[__builtin_ctz(m)];
        obs_use_table *t = table_holds(last, a, address) ? last : table_at(r, address);
        if (!t)
            continue;
        uint64_t first = address / OBS_WORD_BYTES - t->first;
        uint64_t end = (address + a->bytes - 1) / OBS_WORD_BYTES + 1 - t->first;
        end = end < t->elements ? end : t->elements; /* it may reach into what lies next to it */
        if (t == last && first == run.first && end == run.end) {
            run.times++;
            continue;
        }
        if (last)
            add_elements(r, last, run.first, run.end, run.times);
        last = t;
        run = (obs_use_run){first, end, 1};
    }
    if (last)
        add_elements(r, last, run.first, run.end, run.times);
}

/* ---- lanes that walk ---- */

static bool is_walk_continued(const obs_use_walk *w, const request *r)
{
    const acc_request *a = r->access;
    uint64_t apart = 0;
    uint32_t first = (uint32_t)__builtin_ctz(a->mask);
    if (w->next[first] != a->addr[first] || !w->table || w->warp != a->warp || w->mask != a->mask ||
        w->frame != r->frame || w->class_ != r->class_ || w->most - w->bytes < a->bytes ||
        a->space != ACC_GLOBAL)
        return false;
    if (a->mask == UINT32_MAX)
        for (uint32_t lane = 0; lane < OBS_LANES; lane++)
            apart |= w->next[lane] ^ a->addr[lane];
    else
        for (uint32_t m = a->mask; m; m &= m - 1)
            apart |= w->next[__builtin_ctz(m)] ^ a->addr[__builtin_ctz(m)];
    return apart == 0 && a->bytes % OBS_WORD_BYTES == 0;
}

/* How far all lanes could go on from there within the table, in bytes; less than the request takes:
 * not even now, or not by whole elements. */
static uint64_t way_in_table(const obs_use_table *t, const acc_request *a)
{
    uint64_t low = UINT64_MAX, high = 0, bits = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t address = a->addr[__builtin_ctz(m)];
        low = address < low ? address : low;
        high = address > high ? address : high;
        bits |= address;
    }
    bool whole = (bits | a->bytes) % OBS_WORD_BYTES == 0;
    return whole && low >= t->low && high < t->high ? t->high - high : 0;
}

/* What each lane accessed, as add_lanes() adds it. */
static void settle_walk(obs_worker *worker, obs_use_walk *w)
{
    request r = {.worker = worker, .frame = w->frame, .class_ = w->class_};
    obs_use_table *t = w->table;
    obs_use_run run = {0};
    w->table = NULL;
    for (uint32_t m = t ? w->mask : 0; m; m &= m - 1) {
        uint64_t end = w->next[__builtin_ctz(m)] / OBS_WORD_BYTES - t->first;
        uint64_t first = end - w->bytes / OBS_WORD_BYTES;
        if (run.times && first == run.first && end == run.end) {
            run.times++;
            continue;
        }
        if (run.times)
            add_elements(&r, t, run.first, run.end, run.times);
        run = (obs_use_run){first, end, 1};
    }
    if (run.times)
        add_elements(&r, t, run.first, run.end, run.times);
}

static void step_walk(obs_use_walk *w, uint64_t bytes)
{
    w->bytes += bytes;
    for (uint32_t lane = 0; lane < OBS_LANES; lane++)
        w->next[lane] += bytes;
}

/* Lanes in an object that may go on where they are. False where they are to be added one by one. */
static bool begin_walk(const request *r)
{
    const acc_request *a = r->access;
    obs_uses *u = &r->worker->uses;
    if (a->space != ACC_GLOBAL || !r->frame)
        return false;
    obs_use_table *t = table_at(r, a->addr[__builtin_ctz(a->mask)]);
    uint64_t most = t && !t->divided ? way_in_table(t, a) : 0;
    if (most < a->bytes)
        return false;
    u->last_walk = (u->last_walk + 1) % OBS_USE_WALKS;
    obs_use_walk *w = &u->walks[u->last_walk];
    settle_walk(r->worker, w);
    *w = (obs_use_walk){.table = t,
                        .frame = r->frame,
                        .warp = a->warp,
                        .mask = a->mask,
                        .class_ = r->class_,
                        .most = most};
    for (uint32_t m = a->mask; m; m &= m - 1)
        w->next[__builtin_ctz(m)] = a->addr[__builtin_ctz(m)];
    step_walk(w, a->bytes);
    return true;
}

static bool add_walk(const request *r)
{
    obs_use_walk *walks = r->worker->uses.walks;
    for (uint32_t i = 0; i < OBS_USE_WALKS; i++) {
        if (is_walk_continued(&walks[i], r)) {
            step_walk(&walks[i], r->access->bytes);
            return true;
        }
    }
    return begin_walk(r);
}

static void settle_walks(obs_block *block)
{
    obs_use_walk *walks = block->worker->uses.walks;
    for (uint32_t i = 0; i < OBS_USE_WALKS; i++)
        if (walks[i].table && walks[i].frame == block->frame)
            settle_walk(block->worker, &walks[i]);
}

static void lose_lanes(const request *r)
{
    for (uint32_t m = r->access->mask; m; m &= m - 1) {
        obs_use_table *t = table_at(r, r->access->addr[__builtin_ctz(m)]);
        if (t)
            t->lost = true;
    }
}

static bool is_asked(const obs_config *config, const acc_request *a)
{
    return (a->space == ACC_GLOBAL && config->objects) ||
           (a->space == ACC_SHARED && config->arrays);
}

/* ---- live ranges ---- */

typedef struct stores { /* to words side by side, which all begin ranges, or all update */
    obs_use_table *table;
    uint64_t first, end; /* offsets / 4 */
    bool update;
} stores;

obs_origin obs_origin_of(flow_origin origin)
{
    return origin == FLOW_ASYNC    ? OBS_FROM_COPY
           : origin == FLOW_DEVICE ? OBS_FROM_MEMORY
                                   : OBS_COMPUTED;
}

static void settle_stores(const request *r, const stores *s)
{
    obs_part *part = s->first < s->end ? part_of_table(r, s->table) : NULL;
    if (!part)
        return;
    uint64_t first = s->first - s->table->first, end = s->end - s->table->first;
    end = end < s->table->elements ? end : s->table->elements;
    if (first >= end)
        return;
    if (s->update)
        obs_part_access(part, first, end, 1);
    else
        obs_part_begin(part, first, end, obs_origin_of((flow_origin)r->fill->origin));
}

/* One store to each of the words [first, end). */
static void add_stores(const request *r, stores *s, obs_use_table *t, uint64_t first, uint64_t end,
                       bool update)
{
    if (s->table != t || s->end != first || s->update != update) {
        settle_stores(r, s);
        *s = (stores){t, first, first, update};
    }
    s->end = end;
}

static uint64_t end_of_lane(const acc_request *a, uint32_t lane)
{
    return (a->addr[lane] + a->bytes - 1) / OBS_WORD_BYTES + 1;
}

/* Of values that depend on no read, all words of a lane at once. */
static void begin_ranges(const request *r)
{
    const acc_request *a = r->access;
    stores s = {0};
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        obs_use_table *t = table_at(r, a->addr[lane]);
        if (t)
            add_stores(r, &s, t, a->addr[lane] / OBS_WORD_BYTES, end_of_lane(a, lane), false);
    }
    settle_stores(r, &s);
}

/* Each lane's `index`-th word; of lanes in `updates` the store depends on what the word held. */
static void store_words(const request *r, uint32_t index, uint32_t updates)
{
    const acc_request *a = r->access;
    stores s = {0};
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t word = a->addr[lane] / OBS_WORD_BYTES + index;
        obs_use_table *t = word < end_of_lane(a, lane) ? table_at(r, a->addr[lane]) : NULL;
        if (t)
            add_stores(r, &s, t, word, word + 1, updates >> lane & 1);
    }
    settle_stores(r, &s);
}

/* A whole warp, side by side. */
static void store_beside(const request *r, bool update)
{
    uint64_t first = r->table->first;
    stores s = {r->table, first + r->first, first + r->end, update};
    settle_stores(r, &s);
}

static void store_ranges(const request *r)
{
    const acc_request *a = r->access;
    if (!r->fill->count && r->table) {
        store_beside(r, false);
        return;
    }
    if (!r->fill->count) {
        begin_ranges(r);
        return;
    }
    for (uint32_t i = 0; i * OBS_WORD_BYTES < a->bytes; i++) {
        uint32_t updates = obs_reads_update(r->frame->reads, r->fill, a, i);
        if (r->table && a->bytes == OBS_WORD_BYTES && (!updates || updates == a->mask))
            store_beside(r, updates != 0);
        else
            store_words(r, i, updates);
    }
}

/* What a store begins is not known: of the arrays that it is to nothing is told. */
static void lose_ranges(const request *r)
{
    for (uint32_t m = r->access->mask; m; m &= m - 1) {
        obs_use_table *t = table_at(r, r->access->addr[__builtin_ctz(m)]);
        if (t)
            t->within.lost_ranges = true;
    }
}

static bool follows_ranges(const request *r)
{
    return r->access->space == ACC_SHARED && r->frame && r->frame->reads;
}

/* Before the elements of a request are counted: may it begin ranges? A barrier is only updated. */
static void find_fill(request *r)
{
    const acc_request *a = r->access;
    if (!follows_ranges(r) || a->op == ACC_LOAD || a->flags & ACC_BARRIER)
        return;
    r->fill = obs_fill_of(&r->worker->launch->reads, a->pc);
    r->begins = r->fill && !r->fill->updates;
    if (!r->fill || (r->begins && r->fill->unknown))
        lose_ranges(r);
}

/* After that. */
static void follow_ranges(const request *r)
{
    if (r->begins)
        store_ranges(r);
    if (r->access->op != ACC_STORE && !obs_reads_keep(r->frame->reads, r->access))
        r->worker->uses.lost_arrays = true;
}

static obs_frame *frame_of_block(obs_block *block)
{
    obs_uses *u = &block->worker->uses;
    const uint32_t *size = block->worker->launch->config.block;
    if (block->frame)
        return block->frame;
    block->frame = u->spare;
    if (u->spare)
        u->spare = u->spare->next;
    else
        block->frame = obs_frame_new(&block->worker->launch->reads,
                                     (size[0] * size[1] * size[2] + OBS_LANES - 1) / OBS_LANES);
    return block->frame;
}

void obs_uses_end_block(obs_block *block)
{
    if (!block->frame)
        return;
    settle_walks(block);
    obs_frame_end(block->frame);
    block->frame->next = block->worker->uses.spare;
    block->worker->uses.spare = block->frame;
    block->frame = NULL;
}

void obs_record_use(obs_block *block, const acc_request *access)
{
    request r = {.worker = block->worker,
                 .access = access,
                 .class_ = access->op == ACC_LOAD    ? WL_LOADS
                           : access->op == ACC_STORE ? WL_STORES
                                                     : WL_ATOMICS};
    if (!access->mask || !access->bytes || !is_asked(&block->worker->launch->config, access))
        return;
    if (access->flags & ACC_TEXTURE) {
        lose_lanes(&r);
        return;
    }
    r.frame = frame_of_block(block);
    find_fill(&r);
    if (!add_regular(&r) && !add_walk(&r))
        add_lanes(&r);
    if (follows_ranges(&r))
        follow_ranges(&r);
}

/* ---- the summary ---- */

static bool without_counts(const wl_spans *from, wl_spans *to)
{
    wl_span_reader all = wl_spans_read(from->data, from->size, from->counted);
    for (wl_span span; wl_span_next(&all, &span);)
        wl_spans_add(to, &span);
    return wl_spans_finish(to);
}

wl_status obs_use_make(const wl_spans *spans, obs_known known, uint64_t *room, wl_arena *arena,
                       obs_use *use)
{
    wl_spans touched = {0};
    uint64_t most = *room < MOST_BYTES ? *room : MOST_BYTES;
    if (known == OBS_KNOWN_COUNTED && (!spans->counted || spans->size > most))
        known = OBS_KNOWN_TOUCHED;
    if (known == OBS_KNOWN_TOUCHED && !without_counts(spans, &touched))
        known = OBS_KNOWN_NOTHING;
    const wl_spans *s = known == OBS_KNOWN_COUNTED ? spans : &touched;
    if (s->size > most)
        known = OBS_KNOWN_NOTHING;
    use->known = (uint8_t)known;
    use->length = known ? s->size : 0;
    use->spans = use->length ? wl_arena_copy(arena, s->data, s->size) : "";
    *room -= use->length;
    wl_spans_free(&touched);
    return use->spans ? WL_OK : WL_NOMEM;
}

static int tables_by_object(const void *a, const void *b)
{
    const obs_use_table *x = *(obs_use_table *const *)a, *y = *(obs_use_table *const *)b;
    uint64_t k = (uint64_t)x->space << 32 | x->object, l = (uint64_t)y->space << 32 | y->object;
    return (k > l) - (k < l);
}

static void join_within(obs_within *to, const obs_within *from)
{
    to->lost_ranges |= from->lost_ranges;
    to->lost_words |= from->lost_words;
    to->unfilled += from->unfilled;
    to->words += from->words;
    to->words_most = from->words_most > to->words_most ? from->words_most : to->words_most;
    to->accesses += from->accesses;
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++) {
        to->ranges[origin] += from->ranges[origin];
        to->range_accesses[origin] += from->range_accesses[origin];
        for (int i = 0; i < OBS_LIVE_CLASSES; i++)
            to->live[origin][i] += from->live[origin][i];
    }
}

/* The tables of one object become one, the first, with the one that they have in common. */
static bool join_tables(obs_launch *launch, obs_use_table *const *tables, size_t count)
{
    obs_use_table *to = tables[0];
    for (size_t i = 1; i < count && !to->lost; i++) {
        to->common = to->common ? to->common : tables[i]->common;
        join_within(&to->within, &tables[i]->within);
        to->lost |= tables[i]->lost || !add_to_packed(&to->packed, &tables[i]->packed);
    }
    if (to->common && !to->lost)
        to->lost |= !pack_pages(launch, &to->common->pages, to->elements, &to->packed);
    return !to->lost;
}

static bool list_live_ranges(const obs_within *from, wl_arena *arena, obs_use *use)
{
    use->live = wl_new_array(arena, obs_live_ranges, OBS_ORIGIN_COUNT * OBS_LIVE_CLASSES);
    for (uint8_t origin = 0; use->live && origin < OBS_ORIGIN_COUNT; origin++) {
        for (uint32_t i = 0; i < OBS_LIVE_CLASSES; i++) {
            uint64_t accesses = i < OBS_LIVE_EXACT
                                    ? i
                                    : (uint64_t)OBS_LIVE_EXACT << (i - OBS_LIVE_EXACT);
            if (from->live[origin][i])
                use->live[use->nlive++] = (obs_live_ranges){origin, accesses,
                                                            from->live[origin][i]};
        }
    }
    return use->live != NULL;
}

static bool tell_within(const obs_launch *launch, const obs_use_table *t, wl_arena *arena,
                        obs_use *use)
{
    const obs_within *w = &t->within;
    for (const obs_worker *worker = launch->workers; worker; worker = worker->next)
        use->blocks += worker->blocks_observed;
    if (!w->lost_words) {
        use->reuse |= OBS_REUSE_BLOCKS;
        use->block_words = w->words;
        use->block_words_most = w->words_most;
        use->block_accesses = w->accesses;
    }
    if (t->space != ACC_SHARED || !launch->reads.fills || w->lost_ranges)
        return true;
    use->reuse |= OBS_REUSE_RANGES | OBS_REUSE_LENGTHS | OBS_REUSE_ORIGINS;
    memcpy(use->ranges, w->ranges, sizeof use->ranges);
    memcpy(use->range_accesses, w->range_accesses, sizeof use->range_accesses);
    use->unfilled = w->unfilled;
    return list_live_ranges(w, arena, use);
}

static wl_status add_object_use(obs_launch *launch, obs_use_table *const *tables, size_t count,
                                uint64_t *room, wl_arena *arena, obs_summary *out)
{
    obs_known asked = tables[0]->space == ACC_SHARED ? launch->config.arrays
                                                     : launch->config.objects;
    obs_use *use = &out->uses[out->nuses];
    *use = (obs_use){.object = tables[0]->object, .space = tables[0]->space};
    bool known = join_tables(launch, tables, count);
    if (known && !tables[0]->packed.size)
        return WL_OK;
    out->nuses++;
    if (known && !tell_within(launch, tables[0], arena, use))
        return WL_NOMEM;
    return obs_use_make(&tables[0]->packed, known ? asked : OBS_KNOWN_NOTHING, room, arena, use);
}

typedef wl_vec(obs_use_table *) table_list;

typedef struct packing {
    obs_launch *launch;
    table_list list;
} packing;

static void pack_table_of(void *ctx, uint64_t i)
{
    packing *p = ctx;
    pack_table(p->launch, p->list.data[i]);
}

/* Those of all workers, on as many threads as they had. Where that is little work, threads for it
 * would take longer. */
static void pack_tables(obs_launch *launch, const table_list *list)
{
    packing all = {launch, *list};
    uint64_t bytes = 0;
    uint32_t threads = 0;
    for (const obs_worker *w = launch->workers; w; w = w->next)
        threads++;
    for (size_t i = 0; i < list->count; i++)
        bytes += list->data[i]->pages.bytes;
    wl_parallel(bytes < WORTH_THREADS ? 1 : threads, list->count, pack_table_of, &all);
}

static bool list_tables(obs_launch *launch, table_list *list, obs_summary *out)
{
    for (obs_worker *w = launch->workers; w; w = w->next) {
        for (uint32_t i = 0; i < w->uses.count; i++)
            if (!wl_push(list, w->uses.tables[i]))
                return false;
        if (w->uses.lost_objects)
            out->objects_known = OBS_KNOWN_NOTHING;
        if (w->uses.lost_arrays)
            out->arrays_known = OBS_KNOWN_NOTHING;
    }
    pack_tables(launch, list);
    if (list->count)
        qsort(list->data, list->count, sizeof *list->data, tables_by_object);
    return true;
}

static bool is_table_wanted(const obs_summary *out, const obs_use_table *t)
{
    return t->space == ACC_SHARED ? out->arrays_known : out->objects_known;
}

wl_status obs_uses_finish(obs_launch *launch, wl_arena *arena, obs_summary *out)
{
    table_list list = {0};
    uint64_t room = OBS_USE_ROOM;
    out->objects_known = (uint8_t)launch->config.objects;
    out->arrays_known = (uint8_t)launch->config.arrays;
    wl_status status = WL_NOMEM;
    if (list_tables(launch, &list, out) &&
        (out->uses = wl_new_array(arena, obs_use, list.count + 1)))
        status = WL_OK;
    for (size_t from = 0, to; status == WL_OK && from < list.count; from = to) {
        for (to = from + 1;
             to < list.count && tables_by_object(&list.data[from], &list.data[to]) == 0;)
            to++;
        if (is_table_wanted(out, list.data[from]))
            status = add_object_use(launch, list.data + from, to - from, &room, arena, out);
    }
    wl_vec_free(&list);
    return status;
}
