/* Sizes the state of a launch, and prepares it. */
#include "rewrite/state/state.h"

#include <stddef.h>
#include <string.h>

/* ---- before a launch ---- */

unsigned rewrite_class(const rewrite_probe_site *site)
{
    return site->op == ACC_LOAD    ? REWRITE_LOADS
           : site->op == ACC_STORE ? REWRITE_STORES
                                   : REWRITE_ATOMICS;
}

static uint64_t round_to_256(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Of an object: lines that it has a part in; bytes of its counters of one class, with room for an
 * access that leaves it. */
static uint64_t lines_of_object(const rewrite_object *o)
{
    return (o->base + o->bytes - 1) / 128 - o->base / 128 + 1;
}

static uint64_t counter_bytes(const rewrite_object *o)
{
    return lines_of_object(o) * (128 + 4) + 128;
}

static bool holds_address(const rewrite_object *o, uint64_t address)
{
    return address >= o->base && address - o->base < o->bytes;
}

/* ---- what pointers lead to ---- */

/* The object that the slot's pointer lies in, or UINT32_MAX. */
static uint32_t object_of_slot(const rewrite_setup *setup, uint32_t slot)
{
    uint64_t pointer = setup->pointers ? setup->pointers[slot] : 0;
    uint32_t low = 0, high = setup->nobjects;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (setup->objects[middle].base <= pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low && holds_address(&setup->objects[low - 1], pointer) ? low - 1 : UINT32_MAX;
}

/* Where tables of objects are needed: by class (bits), for all objects, and for those that slots
 * lead to. */
typedef struct needs {
    unsigned all;
    uint32_t object[REWRITE_SLOTS];
} needs;

static needs find_needs(const rewrite_kernel *k, const rewrite_setup *setup)
{
    needs n = {0};
    for (uint32_t i = 0; i < k->nslots; i++) {
        n.object[i] = object_of_slot(setup, i);
        if (n.object[i] == UINT32_MAX || setup->everywhere)
            n.all |= 1u << k->slots[i].class_;
    }
    return n;
}

static unsigned needed_classes(const rewrite_kernel *k, const needs *n, uint32_t object)
{
    unsigned set = n->all;
    for (uint32_t i = 0; i < k->nslots; i++)
        if (n->object[i] == object)
            set |= 1u << k->slots[i].class_;
    return set;
}

/* Copies of the counters. */
static uint64_t copies_of_counters(const rewrite_object *o)
{
    return o->bytes <= REWRITE_SPREAD_BYTES ? REWRITE_SPREAD : 1;
}

/* Has the kernel marks, and not counters that say as much? */
static bool has_marks(const rewrite_kernel *k)
{
    return rewrite_has_probe(k, REWRITE_TOUCH) && !rewrite_has_probe(k, REWRITE_FREQUENCY);
}

/* Words of a bitmap of elements, with room for an access that leaves the object. */
static uint64_t bitmap_words(const rewrite_object *o)
{
    return lines_of_object(o) + 1;
}

/* Bytes of the object's counters. */
static uint64_t table_bytes(const rewrite_kernel *k, const rewrite_object *o, unsigned classes)
{
    uint64_t bytes = 0;
    if (rewrite_has_probe(k, REWRITE_FREQUENCY))
        bytes += (uint64_t)__builtin_popcount(classes) * copies_of_counters(o) * counter_bytes(o);
    return round_to_256(bytes);
}

static uint32_t trace_rows(const rewrite_kernel *k, const rewrite_setup *setup)
{
    return setup->rows > k->tail_rows ? setup->rows : k->tail_rows;
}

/* Of the counters of walks through the object. */
static uint64_t walk_bytes(const rewrite_kernel *k, const rewrite_object *o)
{
    return rewrite_has_probe(k, REWRITE_FREQUENCY) ? round_to_256(128 * lines_of_object(o) + 128)
                                                   : 0;
}

/* The object that the walk goes through, where it gets tables; else UINT32_MAX. */
static uint32_t walked_object(const rewrite_kernel *k, const rewrite_setup *setup, const needs *n,
                              uint32_t walk)
{
    uint32_t object = n->object[k->walks[walk].slot];
    bool fits = !setup->no_walks && object != UINT32_MAX && setup->objects[object].base % 128 == 0;
    return fits ? object : UINT32_MAX;
}

uint32_t rw_threads_of(const rewrite_layout *l)
{
    return l->threads[0] * l->threads[1] * l->threads[2];
}

uint32_t rw_warps_of(const rewrite_layout *l)
{
    return (rw_threads_of(l) + REWRITE_LANES - 1) / REWRITE_LANES;
}

enum { COPIED_BYTES = 1 << 20 /* that copies of a table may take together */ };

static uint32_t copies_of(uint64_t bytes)
{
    uint32_t n = REWRITE_COPIES;
    while (n > 1 && n * bytes > COPIED_BYTES)
        n /= 2;
    return n;
}

/* By address, and by thread. */
static uint64_t lay_out_shared_counters(const rewrite_kernel *k, const rewrite_setup *setup,
                                        uint64_t at, rewrite_layout *out)
{
    if (!rewrite_has_probe(k, REWRITE_SHARED) || !setup->shared_bytes)
        return at;
    out->shared_bytes = (setup->shared_bytes + 3) / 4 * 4;
    out->place_bytes = 4 * k->nplaces * rw_threads_of(out);
    out->shared_copies = copies_of(REWRITE_CLASSES * (uint64_t)out->shared_bytes);
    out->place_copies = copies_of(out->place_bytes);
    if (k->by_address) {
        out->shared_at = at;
        at = round_to_256(at + (uint64_t)out->shared_copies * REWRITE_CLASSES * out->shared_bytes);
    }
    if (k->nplaces) {
        out->places_at = at;
        at = round_to_256(at + (uint64_t)out->place_copies * out->place_bytes);
    }
    return at;
}

static uint64_t lay_out_tables(const rewrite_kernel *k, const rewrite_setup *setup, uint64_t at,
                               rewrite_layout *out)
{
    needs n = find_needs(k, setup);
    out->tables_at = at;
    for (uint32_t i = 0; i < out->nranges; i++) {
        unsigned classes = needed_classes(k, &n, i);
        at += table_bytes(k, &setup->objects[i], classes);
        out->nwords += has_marks(k) && classes ? bitmap_words(&setup->objects[i]) : 0;
    }
    for (uint32_t i = 0; i < k->nwalks; i++) {
        uint32_t object = walked_object(k, setup, &n, i);
        if (object == UINT32_MAX)
            continue;
        at += walk_bytes(k, &setup->objects[object]);
        out->nwords += has_marks(k) ? bitmap_words(&setup->objects[object]) : 0;
    }
    if (!out->nwords)
        return at;
    out->bits_at = at;
    out->marks_at = round_to_256(at + 4 * out->nwords);
    return round_to_256(out->marks_at + 32 * out->nwords);
}

/* ---- paths ---- */

uint64_t rewrite_path_bytes(uint64_t blocks, const uint32_t threads[3])
{
    uint64_t lanes = (uint64_t)threads[0] * threads[1] * threads[2],
             warps = (lanes + REWRITE_LANES - 1) / REWRITE_LANES;
    bool fits = warps && blocks <= UINT32_MAX / warps;
    return fits ? blocks * warps * sizeof(rewrite_warp_slot) : 0;
}

static uint64_t lay_out_paths(const rewrite_kernel *k, const rewrite_setup *setup, uint64_t at,
                              rewrite_layout *out)
{
    uint64_t bytes = rewrite_path_bytes(out->blocks, out->threads);
    if (!rewrite_has_probe(k, REWRITE_PATH) || !bytes || bytes > setup->path_bytes)
        return at;
    out->paths_at = at;
    return round_to_256(at + bytes);
}

/* ---- the log ---- */

uint32_t rewrite_log_regions(uint64_t blocks, const uint32_t threads[3])
{
    uint64_t lanes = (uint64_t)threads[0] * threads[1] * threads[2],
             warps = (lanes + REWRITE_LANES - 1) / REWRITE_LANES;
    bool fits = warps && blocks <= UINT32_MAX / REWRITE_LANES / warps;
    return fits ? (uint32_t)(blocks * warps) : 0;
}

/* Can entries tell all counters and marks of the state? */
static bool can_log(const rewrite_kernel *k, const rewrite_layout *l)
{
    uint64_t most = (uint64_t)REWRITE_LOG_PLACE + 1;
    return k->logs && l->pool_at <= (has_marks(k) ? most : 4 * most);
}

/* Rows for which there is room. 32 bits tell all places, and one row more, where a lane goes that
 * has filled its column. */
static uint64_t most_rows(const rewrite_kernel *k, uint64_t room, uint64_t row)
{
    uint64_t rows = room / row, told = UINT32_MAX / row;
    uint64_t most = k->log_rows && k->log_rows < REWRITE_LOG_ROWS ? k->log_rows : REWRITE_LOG_ROWS;
    rows = rows < most ? rows : most;
    return rows < told ? rows : told ? told - 1 : 0;
}

/* What of the bytes its lanes' ends leave. */
static void lay_out_log(const rewrite_kernel *k, const rewrite_setup *setup, rewrite_layout *l)
{
    uint64_t regions = rewrite_log_regions(l->blocks, l->threads), ends = round_to_256(l->bytes),
             log = round_to_256(ends + rewrite_end_bytes(k) * REWRITE_LANES * regions),
             room = setup->log_bytes;
    if (!regions || room <= log - l->bytes || !can_log(k, l))
        return;
    uint64_t rows = most_rows(k, room - (log - l->bytes), regions * REWRITE_LOG_ROW);
    if (!rows)
        return;
    l->ends_at = ends;
    l->log_at = log;
    l->log_rows = (uint32_t)rows;
    l->log_regions = (uint32_t)regions;
    l->end_bytes = rewrite_end_bytes(k);
    l->bytes = log + regions * rows * REWRITE_LOG_ROW;
}

/* 1 / odd, modulo 2^32: each step doubles the bits that are right, of which there are three. */
static uint32_t inverse_of(uint32_t odd)
{
    uint32_t inverse = odd;
    for (int bits = 3; bits < 32; bits *= 2)
        inverse *= 2 - odd * inverse;
    return inverse;
}

void rewrite_param_log(uint64_t state, const rewrite_layout *l, rewrite_param *out)
{
    uint32_t row = l->log_rows ? l->log_regions * REWRITE_LOG_ROW : 0;
    out->log = l->log_rows ? state + l->log_at : 0;
    out->ends = l->log_rows ? state + l->ends_at : 0;
    out->log_row = row;
    out->log_bytes = l->log_rows * row;
    out->log_shift = row ? (uint32_t)__builtin_ctz(row) : 0;
    out->log_inverse = row ? inverse_of(row >> out->log_shift) : 0;
}

void rewrite_lay_out(const rewrite_kernel *k, const rewrite_setup *setup, rewrite_layout *out)
{
    *out = (rewrite_layout){.blocks = setup->blocks,
                            .threads = {setup->threads[0], setup->threads[1], setup->threads[2]}};
    uint64_t at = k->fixed_bytes;
    bool elements = rewrite_has_probe(k, REWRITE_TOUCH) || rewrite_has_probe(k, REWRITE_FREQUENCY);
    if ((elements || rewrite_has_probe(k, REWRITE_OBJECTS)) && setup->nobjects) {
        out->nranges = setup->nobjects;
        out->ranges_at = at;
        at = round_to_256(at + sizeof(rewrite_range) * (uint64_t)setup->nobjects);
    }
    at = lay_out_paths(k, setup, at, out);
    at = lay_out_shared_counters(k, setup, at, out);
    if (elements && out->nranges)
        at = lay_out_tables(k, setup, at, out);
    out->pool_at = at;
    if (rewrite_has_probe(k, REWRITE_TRACE))
        out->nregions = setup->ntraced * rw_warps_of(out);
    out->bytes = at + (uint64_t)out->nregions * trace_rows(k, setup) * REWRITE_ROW;
    lay_out_log(k, setup, out);
}

static void fill_range(const rewrite_kernel *k, const rewrite_object *o, unsigned classes,
                       uint64_t at, rewrite_range *out)
{
    *out = (rewrite_range){.base = o->base, .bytes = o->bytes};
    for (unsigned c = 0; rewrite_has_probe(k, REWRITE_FREQUENCY) && c < REWRITE_CLASSES; c++) {
        if (!(classes >> c & 1))
            continue;
        out->counts[c] = at;
        out->lines[c] = at + counter_bytes(o) - 4 * lines_of_object(o);
        at += counter_bytes(o) * copies_of_counters(o);
    }
    if (rewrite_has_probe(k, REWRITE_FREQUENCY) && copies_of_counters(o) > 1)
        out->spread = (uint32_t)counter_bytes(o);
}

static void fill_slot(const rewrite_kernel *k, const rewrite_setup *setup, uint32_t slot,
                      uint32_t object, const rewrite_range *ranges, rewrite_slot *out)
{
    uint64_t pointer = setup->pointers ? setup->pointers[slot] : 0;
    const rewrite_range *r = &ranges[object];
    unsigned c = k->slots[slot].class_;
    *out = (rewrite_slot){0};
    for (uint32_t i = 0; i < setup->nleft_out; i++)
        if (object == UINT32_MAX && holds_address(&setup->left_out[i], pointer))
            out->base = UINT64_MAX;
    if (object == UINT32_MAX || r->base % 128 != 0)
        return;
    uint64_t lines = r->lines[rewrite_has_probe(k, REWRITE_FREQUENCY) ? c : 0];
    *out = (rewrite_slot){r->base, r->bytes, r->bits, r->counts[c], lines, r->spread, 0};
}

static void fill_walk(const rewrite_kernel *k, const rewrite_walk_key *key, uint64_t at,
                      rewrite_walk *out)
{
    bool counts = rewrite_has_probe(k, REWRITE_FREQUENCY);
    if (counts && key->step % 4 == 0)
        out->counts = at;
    out->step = key->step;
}

/* Where the next tables of a state are. */
typedef struct filling {
    const rewrite_layout *layout;
    uint64_t address;  /* of the state */
    uint64_t at, word; /* of counters; of bitmaps, and as many marks */
} filling;

/* The marks of an object's elements, and their bitmap. */
static void fill_marks(const rewrite_kernel *k, const rewrite_object *o, filling *f,
                       uint64_t *marked, uint64_t *bits)
{
    if (!has_marks(k))
        return;
    *marked = f->address + f->layout->marks_at + 32 * f->word;
    *bits = f->address + f->layout->bits_at + 4 * f->word;
    f->word += bitmap_words(o);
}

static void fill_tables(const rewrite_kernel *k, const rewrite_setup *setup,
                        const rewrite_layout *l, uint64_t address, rewrite_state *state,
                        rewrite_range *ranges)
{
    needs n = find_needs(k, setup);
    filling f = {l, address, address + l->tables_at, 0};
    uint64_t bits;
    for (uint32_t i = 0; i < l->nranges; i++) {
        const rewrite_object *o = &setup->objects[i];
        unsigned classes = l->tables_at ? needed_classes(k, &n, i) : 0;
        fill_range(k, o, classes, f.at, &ranges[i]);
        f.at += table_bytes(k, o, classes);
        if (classes)
            fill_marks(k, o, &f, &ranges[i].lines[0], &ranges[i].bits);
    }
    for (uint32_t i = 0; i < k->nslots; i++)
        fill_slot(k, setup, i, n.object[i], ranges, &state->slot[i]);
    for (uint32_t i = 0; i < k->nwalks; i++) {
        uint32_t object = l->tables_at ? walked_object(k, setup, &n, i) : UINT32_MAX;
        state->walk[i].object = object;
        if (object == UINT32_MAX)
            continue;
        fill_walk(k, &k->walks[i], f.at, &state->walk[i]);
        f.at += walk_bytes(k, &setup->objects[object]);
        fill_marks(k, &setup->objects[object], &f, &state->walk[i].marks, &bits);
    }
}

void rewrite_fill(const rewrite_kernel *k, const rewrite_setup *setup, const rewrite_layout *l,
                  uint64_t address, rewrite_state *state, rewrite_range *ranges)
{
    /* The kernel compares 32 bits of a block's index. */
    uint32_t ntraced = setup->blocks <= UINT32_MAX ? setup->ntraced : 0;
    *state = (rewrite_state){.version = REWRITE_VERSION,
                             .pool_at = l->pool_at,
                             .rows = trace_rows(k, setup),
                             .warps = rw_warps_of(l),
                             .threads = rw_threads_of(l),
                             .limit = (int32_t)(trace_rows(k, setup) - k->tail_rows),
                             .room = (int32_t)(trace_rows(k, setup) - k->tail_rows),
                             .nranges = l->nranges,
                             .shared_bytes = l->shared_bytes,
                             .ranges = l->ranges_at ? address + l->ranges_at : 0,
                             .shared_mask = l->shared_copies - 1,
                             .place_bytes = l->place_bytes,
                             .place_mask = l->place_copies - 1,
                             .paths = l->paths_at ? address + l->paths_at : 0,
                             .shared = l->shared_at ? address + l->shared_at : 0,
                             .places = l->places_at ? address + l->places_at : 0};
    for (uint32_t i = 0; i < REWRITE_MAX_BLOCKS; i++)
        state->block[i] = i < ntraced ? setup->traced[i] : UINT64_MAX;
    fill_tables(k, setup, l, address, state, ranges);
}

void rewrite_param_init(uint64_t state, const rewrite_state *filled, uint32_t width,
                        rewrite_param *out)
{
    *out = (rewrite_param){.state = state};
    for (uint32_t i = 0; i < REWRITE_MAX_BLOCKS; i++)
        out->block[i] = filled ? (uint32_t)filled->block[i] : UINT32_MAX;
    for (uint32_t i = 0; filled && i < REWRITE_MAX_BLOCKS; i++)
        if (filled->block[i] != UINT64_MAX)
            out->columns |= 1u << filled->block[i] % width % 32;
    if (!filled)
        return;
    out->pool = state + filled->pool_at;
    out->rows = filled->rows, out->warps = filled->warps;
    out->paths = filled->paths;
    out->shared = filled->shared, out->places = filled->places;
    out->shared_bytes = filled->shared_bytes, out->shared_mask = filled->shared_mask;
    out->place_bytes = filled->place_bytes, out->place_mask = filled->place_mask;
    memcpy(out->slot, filled->slot, sizeof out->slot);
}

uint32_t rewrite_rows_used(const rewrite_state *state)
{
    int64_t used = (int64_t)state->limit - (state->room < 0 ? 0 : state->room) +
                   1; /* the end, too */
    return used < 0 ? 0 : used < state->rows ? (uint32_t)used : state->rows;
}
