/* Reuse distances of a block (Mattson et al. 1970): a tree over time has a one at the last touch of
 * each line, so that the ones after a line's last touch are the other lines touched since. */
#include "observe/reuse.h"

#include "observe/table.h"

#include <string.h>

enum {
    LINE_SECTORS = OBS_LINE_BYTES / OBS_SECTOR_BYTES,
    OCTAVES = 33,          /* of distances: 0, 1, 2 to 3, 4 to 7 ... */
    WARPS = 256,           /* that a log tells apart */
    MOST_TOUCHES = 1 << 15 /* of lines by a block that are followed */
};

/* ---- the order of requests ----
 *
 * A warp issues its instructions in order and goes on as long as it waits for none: loads of a
 * basic block go out in a burst, which compilers see to. A store waits for what was loaded, so that
 * a load after it begins another burst, and so does a jump back. */

typedef struct place { /* of a request: in which of its warp's bursts, at which byte of the log */
    uint32_t burst, warp;
    size_t at;
} place;

typedef wl_vec(place) places;

typedef struct warp { /* so far */
    uint32_t burst, pc;
    bool stored; /* by its last request */
} warp;

static int by_turn(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->burst != y->burst)
        return x->burst < y->burst ? -1 : 1;
    if (x->warp != y->warp)
        return x->warp < y->warp ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool same_burst(const place *a, const place *b)
{
    return a->burst == b->burst && a->warp == b->warp;
}

static bool ends_burst(const warp *w, const acc_request *next)
{
    return next->pc <= w->pc || (w->stored && next->op == ACC_LOAD);
}

/* The most lines that the request may touch. */
static uint64_t lines_of_request(const acc_request *request)
{
    uint64_t low = UINT64_MAX, high = 0;
    uint32_t lanes = (uint32_t)__builtin_popcount(request->mask);
    for (uint32_t m = request->mask; m; m &= m - 1) {
        uint64_t at = request->addr[__builtin_ctz(m)];
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    uint64_t span = (high - low + request->bytes) / OBS_LINE_BYTES + 2;
    uint64_t apart = (uint64_t)lanes * (request->bytes / OBS_LINE_BYTES + 2);
    return span < apart ? span : apart;
}

static bool counts(const acc_request *request)
{
    return request->mask && request->space == ACC_GLOBAL &&
           (request->op == ACC_LOAD || request->op == ACC_STORE);
}

/* *touches: at least as many as there will be. False when memory is exhausted. */
static bool order_of_requests(const obs_log *log, places *order, uint64_t *touches)
{
    warp warps[WARPS] = {0};
    uint64_t addr[OBS_LANES];
    acc_request request;
    *touches = 0;
    for (size_t at = 0, next = 0; obs_log_next(log, &next, &request, addr); at = next) {
        if (!counts(&request))
            continue;
        warp *w = &warps[request.warp];
        *w = (warp){w->burst + ends_burst(w, &request), request.pc, request.op == ACC_STORE};
        if (!wl_push(order, (place){w->burst, request.warp, at}))
            return false;
        *touches += lines_of_request(&request);
    }
    if (order->count)
        qsort(order->data, order->count, sizeof *order->data, by_turn);
    return true;
}

/* ---- lines ---- */

typedef struct use {   /* the last of a sector */
    uint32_t request;  /* 0: none yet */
    uint32_t distance; /* the longest between two touches of its line since */
} use;

typedef struct line {
    uint32_t time, request; /* of its last touch; 0: none */
    use load[LINE_SECTORS], any[LINE_SECTORS];
} line;

typedef struct octave {
    uint64_t loads, stores, distances, waits;
} octave;

typedef struct tally {
    uint32_t object;
    uint64_t origin; /* the first line of it that the block touches */
    octave first, again[OCTAVES];
} tally;

typedef struct farthest { /* of the loads of a burst so far */
    bool any;
    size_t tally; /* index; they move when there are more */
    int octave;   /* OCTAVES: of a first use */
} farthest;

typedef struct walk {
    farthest wait; /* of the burst that goes on */
    wl_vec(line) lines;
    obs_table by_number; /* index in lines + 1 */
    wl_vec(tally) tallies;
    uint32_t *tree, ntimes; /* Fenwick's, over times from 1 */
    uint32_t now, request;
    uint32_t shift;           /* one line in 1 << shift is followed */
    uint64_t asked, followed; /* sectors by lane: of all lines, and of these */
} walk;

static void tree_add(walk *w, uint32_t time, uint32_t what)
{
    for (; time <= w->ntimes; time += time & (0 - time))
        w->tree[time] += what;
}

/* Lines that were last touched after `time`. */
static uint32_t touched_since(const walk *w, uint32_t time)
{
    uint32_t until = 0;
    for (; time; time &= time - 1)
        until += w->tree[time];
    return (uint32_t)w->lines.count - until;
}

static void come_back(walk *w, line *l)
{
    uint32_t distance = touched_since(w, l->time);
    for (int s = 0; s < LINE_SECTORS; s++) {
        l->load[s].distance = distance > l->load[s].distance ? distance : l->load[s].distance;
        l->any[s].distance = distance > l->any[s].distance ? distance : l->any[s].distance;
    }
    tree_add(w, l->time, UINT32_MAX); /* one less */
}

/* NULL when memory is exhausted. */
static line *touch_line(walk *w, uint64_t number)
{
    uint32_t at = obs_table_get(&w->by_number, number);
    if (!at) {
        at = (uint32_t)w->lines.count + 1;
        if (!wl_reserve(&w->lines, 1) || !obs_table_put(&w->by_number, number, at))
            return NULL;
        w->lines.data[w->lines.count++] = (line){0};
    }
    line *l = &w->lines.data[at - 1];
    if (l->request == w->request)
        return l;
    if (l->time)
        come_back(w, l);
    l->time = ++w->now;
    l->request = w->request;
    tree_add(w, l->time, 1);
    return l;
}

static octave *octave_at(tally *t, int at)
{
    return at == OCTAVES ? &t->first : &t->again[at];
}

static void note_wait(walk *w, const tally *t, int at)
{
    if (!w->wait.any || at > w->wait.octave)
        w->wait = (farthest){true, (size_t)(t - w->tallies.data), at};
}

static void end_burst(walk *w)
{
    if (w->wait.any)
        octave_at(&w->tallies.data[w->wait.tally], w->wait.octave)->waits++;
    w->wait.any = false;
}

static void count_use(walk *w, tally *t, const use *last, bool store)
{
    uint32_t distance = last->distance;
    int at = !last->request ? OCTAVES : distance ? 32 - __builtin_clz(distance) : 0;
    octave *o = octave_at(t, at);
    *(store ? &o->stores : &o->loads) += 1;
    o->distances += distance;
    if (!store)
        note_wait(w, t, at);
}

/* By a hash of its place, which does not depend on where the object lies (Waldspurger et al. 2015:
 * distances among a sample of places are those among all, times the rate). How much the sample is
 * really asked for makes up for its being larger or smaller than meant. */
static bool is_followed(const walk *w, const tally *t, uint64_t number)
{
    uint64_t hash = (number - t->origin + t->object) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 32;
    return (hash & (((uint64_t)1 << w->shift) - 1)) == 0;
}

/* A sector is used once by a request, however many lanes take it. */
static bool use_sector(walk *w, tally *t, uint64_t sector, bool store)
{
    w->asked++;
    if (w->shift && !is_followed(w, t, sector / LINE_SECTORS))
        return true;
    w->followed++;
    line *l = touch_line(w, sector / LINE_SECTORS);
    if (!l)
        return false;
    use *load = &l->load[sector % LINE_SECTORS], *any = &l->any[sector % LINE_SECTORS];
    if (any->request == w->request)
        return true;
    count_use(w, t, store ? any : load, store);
    *any = (use){w->request, 0};
    if (!store)
        *load = *any;
    return true;
}

static tally *tally_of(walk *w, const acc_request *request)
{
    uint64_t first = request->addr[__builtin_ctz(request->mask)] / OBS_LINE_BYTES;
    tally begun = {.object = request->object, .origin = first};
    for (size_t i = 0; i < w->tallies.count; i++)
        if (w->tallies.data[i].object == request->object)
            return &w->tallies.data[i];
    return wl_push(&w->tallies, begun) ? w->tallies.data + w->tallies.count - 1 : NULL;
}

static bool take_request(walk *w, const acc_request *request)
{
    tally *t = tally_of(w, request);
    bool all = t != NULL;
    w->request++;
    for (uint32_t m = request->mask; m && all; m &= m - 1) {
        uint64_t first = request->addr[__builtin_ctz(m)], last = first + request->bytes - 1;
        for (uint64_t s = first / OBS_SECTOR_BYTES; all && s <= last / OBS_SECTOR_BYTES; s++)
            all = use_sector(w, t, s, request->op == ACC_STORE);
    }
    return all;
}

/* ---- the whole ---- */

/* Of all lines, where it was counted of those that are followed. */
static uint64_t of_all(const walk *w, uint64_t count)
{
    return (count * w->asked + w->followed / 2) / w->followed;
}

static bool put_octave(const walk *w, obs_reuses *out, obs_reuse row, const octave *o)
{
    uint64_t uses = o->loads + o->stores;
    if (!uses)
        return true;
    if (row.distance != OBS_FIRST_USE)
        row.distance = (uint32_t)((of_all(w, o->distances) + uses / 2) / uses);
    row.loads = of_all(w, o->loads);
    row.stores = of_all(w, o->stores);
    row.waits = o->waits;
    return wl_push(out, row);
}

static int by_object(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    return x->object < y->object ? -1 : x->object > y->object;
}

static bool put_tallies(walk *w, uint64_t block, obs_reuses *out)
{
    size_t before = out->count;
    bool all = true;
    if (w->tallies.count)
        qsort(w->tallies.data, w->tallies.count, sizeof *w->tallies.data, by_object);
    for (size_t i = 0; i < w->tallies.count; i++) {
        const tally *t = &w->tallies.data[i];
        obs_reuse row = {.block = block, .object = t->object};
        for (int k = 0; k < OCTAVES; k++)
            all = all && put_octave(w, out, row, &t->again[k]);
        row.distance = OBS_FIRST_USE;
        all = all && put_octave(w, out, row, &t->first);
    }
    if (!all)
        out->count = before;
    return all;
}

static bool walk_log(const obs_log *log, const places *order, uint64_t block, obs_reuses *out,
                     walk *w)
{
    uint64_t addr[OBS_LANES];
    acc_request request;
    bool all = (w->tree = calloc((size_t)w->ntimes + 1, sizeof *w->tree)) != NULL;
    for (size_t i = 0; i < order->count && all; i++) {
        size_t at = order->data[i].at;
        all = obs_log_next(log, &at, &request, addr);
        if (all && lines_of_request(&request) > w->ntimes - w->now)
            break; /* those that are followed are touched more often than others */
        if (i > 0 && !same_burst(&order->data[i - 1], &order->data[i]))
            end_burst(w);
        all = all && take_request(w, &request);
    }
    end_burst(w);
    all = all && put_tallies(w, block, out);
    wl_vec_free(&w->lines);
    obs_table_free(&w->by_number);
    wl_vec_free(&w->tallies);
    free(w->tree);
    return all;
}

bool obs_reuse_of(uint64_t block, const obs_log *log, obs_reuses *out)
{
    places order = {0};
    uint64_t touches;
    bool all = order_of_requests(log, &order, &touches);
    walk w = {0};
    while (touches >> w.shift > MOST_TOUCHES)
        w.shift++;
    w.ntimes = w.shift ? 4 * MOST_TOUCHES : (uint32_t)touches;
    if (all && order.count)
        all = walk_log(log, &order, block, out, &w);
    wl_vec_free(&order);
    return all;
}
