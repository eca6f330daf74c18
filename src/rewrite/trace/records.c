/* Reading the trace: the records of a warp's lanes, put together again. */
#include "rewrite/layout.h"

#include <stddef.h>
#include <string.h>

typedef void visitor(void *ctx, const rewrite_access *access);

/* One warp's region. */
typedef struct reader {
    const rewrite_copy *copy;
    uint32_t slot; /* of the block */
    rewrite_access access;
    const char *region;
    uint32_t rows, at[REWRITE_LANES]; /* of the region; the next record of each lane */
    uint32_t ended;                   /* lanes without further records */
    uint32_t lacking;                 /* of them, those that had no room for them */
    uint64_t left;                    /* accesses that may still be told */
    uint64_t lost_rows, cut;
    uint64_t kept[REWRITE_KEPT][REWRITE_LANES];
    visitor *visit; /* NULL: nobody is told */
    void (*begin)(void *ctx, const rewrite_told *record);
    void *ctx;
} reader;

static uint64_t read_lane_row(const reader *r, uint32_t lane, uint32_t row)
{
    uint64_t value;
    memcpy(&value, r->region + (uint64_t)row * REWRITE_ROW + 8 * (uint64_t)lane, sizeof value);
    return value;
}

static rewrite_record record_of(const reader *r, uint32_t lane)
{
    uint64_t row = read_lane_row(r, lane, r->at[lane]);
    return (rewrite_record){(uint32_t)row, (uint32_t)(row >> 32)};
}

static uint32_t piece_of(const rewrite_record *record)
{
    return record->piece == REWRITE_END ? REWRITE_END
                                        : record->piece & ((1u << REWRITE_RAN_SHIFT) - 1);
}

/* Did the lane come to what has that bit + 1? */
static bool came_to(const reader *r, uint32_t lane, uint8_t ran)
{
    return !ran || record_of(r, lane).piece >> (REWRITE_RAN_SHIFT + ran - 1) & 1;
}

/* ---- accesses ---- */

static acc_space space_of_address(const rewrite_probe_site *site, uint64_t address)
{
    if (!(site->flags & ACC_GENERIC))
        return ir_request_space(site->space);
    return address & REWRITE_TAG_LOCAL    ? ACC_LOCAL
           : address & REWRITE_TAG_SHARED ? ACC_SHARED
                                          : ACC_GLOBAL;
}

/* One access for each space that lanes are in. */
static void tell_access(reader *r, const rewrite_probe_site *site, const uint64_t *addr,
                        uint32_t mask)
{
    const uint64_t tags = site->flags & ACC_GENERIC ? REWRITE_TAG_SHARED | REWRITE_TAG_LOCAL : 0;
    rewrite_access *a = &r->access;
    a->site = site;
    while (mask) {
        a->space = space_of_address(site, addr[__builtin_ctz(mask)]);
        a->mask = 0;
        for (uint32_t m = mask; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            a->addr[lane] = 0;
            if (space_of_address(site, addr[lane]) != a->space)
                continue;
            a->mask |= 1u << lane;
            a->addr[lane] = addr[lane] & ~tags;
        }
        mask &= ~a->mask;
        r->visit(r->ctx, a);
    }
}

/* How far what has two rows, or the halves of one, moved in the loop. */
static int64_t moved_in_loop(const reader *r, uint32_t lane, uint32_t row, bool narrow)
{
    uint64_t before = read_lane_row(r, lane, r->at[lane] + row);
    return narrow ? (int32_t)((uint32_t)(before >> 32) - (uint32_t)before)
                  : (int64_t)(read_lane_row(r, lane, r->at[lane] + row + 1) - before);
}

/* Of what counts, in an iteration. */
static int64_t count_step(const reader *r, const rewrite_piece *piece, uint32_t lane)
{
    if (!piece->by_row)
        return piece->count_step;
    uint64_t by = read_lane_row(r, lane, r->at[lane] + piece->by_row);
    return piece->count_narrow ? (int32_t)(uint32_t)by : (int64_t)by;
}

/* Of a lane, that a piece runs. */
static uint32_t iterations_of(const reader *r, const rewrite_piece *piece, uint32_t lane)
{
    if (!piece->loop)
        return 1;
    if (!piece->count_row)
        return (uint32_t)read_lane_row(r, lane, r->at[lane] + piece->rows - 1);
    int64_t by = moved_in_loop(r, lane, piece->count_row, piece->count_narrow),
            step = count_step(r, piece, lane);
    if (step == 0 || step == -1)
        return step ? (uint32_t)-(uint64_t)by : 0;
    return (uint32_t)(by / step);
}

/* Of a base of a loop, in each iteration. */
static uint64_t step_of_base(const reader *r, const rewrite_piece *piece, const rewrite_spot *spot,
                             uint32_t lane)
{
    uint32_t row = spot->step_row, at = r->at[lane];
    int64_t n = iterations_of(r, piece, lane);
    if (spot->by_count)
        return (uint64_t)spot->step * (uint64_t)count_step(r, piece, lane);
    if (!row)
        return (uint64_t)spot->step;
    if (piece->count_row)
        return n ? (uint64_t)(moved_in_loop(r, lane, row, spot->narrow) / n) : 0;
    return read_lane_row(r, lane, at + row + piece->early) - read_lane_row(r, lane, at + row);
}

/* Where the lane's base is in iteration `i`. Rows count from the lane's record on. */
static uint64_t base_of(const reader *r, const rewrite_piece *piece, const rewrite_spot *spot,
                        uint32_t lane, uint32_t i)
{
    uint32_t at = r->at[lane];
    uint64_t from = spot->last ? iterations_of(r, piece, lane) - 1 : 0;
    if (spot->var)
        return rewrite_var_address(r->copy, spot->var - 1);
    if (spot->kept)
        return r->kept[spot->kept - 1][lane];
    if (i == from)
        return read_lane_row(r, lane, at + spot->row) >> (spot->high ? 32 : 0);
    return read_lane_row(r, lane, at + spot->row) + (i - from) * step_of_base(r, piece, spot, lane);
}

/* Iteration `i` of a piece, for the lanes in the mask. */
static void tell_pass(reader *r, const rewrite_piece *piece, uint32_t mask, uint32_t i)
{
    for (uint32_t n = 0; n < piece->nsites; n++) {
        const rewrite_spot *spot = &r->copy->kernel->spots[piece->first_site + n];
        uint64_t addr[REWRITE_LANES] = {0};
        uint32_t here = 0;
        for (uint32_t m = mask; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            uint64_t base = base_of(r, piece, spot, lane, i);
            if (!came_to(r, lane, spot->ran))
                continue;
            if (spot->alone && base == UINT64_MAX)
                continue;
            base += (uint64_t)spot->offset;
            addr[lane] = spot->narrow ? (uint32_t)base : base;
            here |= 1u << lane;
        }
        tell_access(r, &r->copy->kernel->sites[piece->first_site + n], addr, here);
    }
}

static uint32_t most_iterations(const reader *r, const rewrite_piece *piece, uint32_t mask)
{
    uint32_t most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t n = iterations_of(r, piece, (uint32_t)__builtin_ctz(m));
        most = n > most ? n : most;
    }
    return most;
}

/* Bases that later records refer to. */
static void keep_bases(reader *r, const rewrite_piece *piece, uint32_t mask)
{
    for (uint32_t n = 0; n < piece->nkeeps; n++) {
        const rewrite_keep *keep = &r->copy->kernel->keeps[piece->first_keep + n];
        for (uint32_t m = mask; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            if (came_to(r, lane, keep->ran))
                r->kept[keep->slot][lane] = read_lane_row(r, lane, r->at[lane] + keep->row) >>
                                            (keep->high ? 32 : 0);
        }
    }
}

/* `all`: the lanes that came to the piece. Where one of them had no room for the record, the others
 * do not tell what it was that they accessed together. */
static void tell_piece(reader *r, const rewrite_piece *piece, uint32_t mask, uint32_t all)
{
    keep_bases(r, piece, mask);
    r->access.record++;
    r->access.loop = piece->loop;
    if (r->begin)
        r->begin(r->ctx, &(rewrite_told){r->access.warp, mask, r->access.record, piece});
    if (all & r->lacking) {
        r->cut += (uint64_t)piece->nsites * most_iterations(r, piece, mask);
        return;
    }
    for (uint32_t i = 0; mask; i++) {
        for (uint32_t m = piece->loop ? mask : 0; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            if (iterations_of(r, piece, lane) <= i)
                mask &= ~(1u << lane);
        }
        if (!mask)
            return;
        if (r->left < piece->nsites) {
            r->cut += (uint64_t)piece->nsites * (most_iterations(r, piece, mask) - i);
            return;
        }
        r->left -= piece->nsites;
        if (r->visit)
            tell_pass(r, piece, mask, i);
        if (!piece->loop)
            return;
    }
}

/* ---- lanes ---- */

static void end_lane(reader *r, uint32_t lane, uint32_t lost)
{
    r->ended |= 1u << lane;
    r->lacking |= (uint32_t)(lost != 0) << lane;
    r->lost_rows += lost;
}

/* The lane's next record, if it has one: it names a piece, and lies in the region. */
static const rewrite_piece *next_of(reader *r, uint32_t lane, rewrite_record *record)
{
    const rewrite_kernel *k = r->copy->kernel;
    if (r->ended >> lane & 1)
        return NULL;
    *record = record_of(r, lane);
    uint32_t piece = piece_of(record);
    if (piece < k->npieces && record->mask >> lane & 1 &&
        r->at[lane] + k->pieces[piece].rows < r->rows)
        return &k->pieces[piece];
    end_lane(r, lane, record->piece == REWRITE_END ? record->mask : 0);
    return NULL;
}

/* The lanes of the record that are there; 0 where one has others to tell before it. */
static uint32_t gather_lanes(reader *r, const rewrite_record *record)
{
    uint32_t here = 0;
    for (uint32_t m = record->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        rewrite_record other;
        if (!next_of(r, lane, &other))
            continue;
        if (piece_of(&other) != piece_of(record) || other.mask != record->mask)
            return 0;
        here |= 1u << lane;
    }
    return here;
}

/* Tells what the lane can tell without waiting for others; false where that is nothing. */
static bool advance_lane(reader *r, uint32_t lane)
{
    rewrite_record record;
    const rewrite_piece *piece;
    bool any = false;
    while ((piece = next_of(r, lane, &record))) {
        uint32_t here = gather_lanes(r, &record);
        if (!here)
            break;
        tell_piece(r, piece, here, record.mask);
        for (uint32_t m = here; m; m &= m - 1)
            r->at[__builtin_ctz(m)] += piece->rows;
        any = true;
    }
    return any;
}

static void read_region(reader *r)
{
    r->access.record = 0;
    memset(r->at, 0, sizeof r->at);
    r->lacking = 0;
    memset(r->kept, 0, sizeof r->kept);
    for (bool any = true; any && r->ended != UINT32_MAX;) {
        any = false;
        for (uint32_t lane = 0; lane < REWRITE_LANES; lane++)
            any |= advance_lane(r, lane);
    }
    r->cut += r->ended != UINT32_MAX; /* lanes that wait for each other: damaged */
}

/* ---- blocks ---- */

static bool read_state_head(const rewrite_copy *c, rewrite_state *head)
{
    if (c->size < sizeof *head || !rewrite_has_probe(c->kernel, REWRITE_TRACE))
        return false;
    memcpy(head, c->state, sizeof *head);
    return head->version == REWRITE_VERSION && head->rows &&
           head->warps == (head->threads + 31) / 32 && head->warps;
}

/* Lanes that the warp does not have write nothing. */
static uint32_t missing_lanes(const rewrite_state *head, uint32_t warp)
{
    uint32_t threads = head->threads - warp * REWRITE_LANES;
    return threads < REWRITE_LANES ? UINT32_MAX << threads : 0;
}

/* False: the copy does not hold the region. */
static bool read_warp_records(reader *r, const rewrite_state *head, uint32_t slot, uint32_t warp)
{
    uint64_t bytes = (uint64_t)head->rows * REWRITE_ROW;
    uint64_t at = head->pool_at + bytes * ((uint64_t)slot * head->warps + warp);
    if (at > r->copy->size || r->copy->size - at < bytes)
        return false;
    r->rows = head->rows;
    r->access.block = head->block[slot];
    r->access.warp = warp;
    r->region = (const char *)r->copy->state + at;
    r->left = REWRITE_MAX_ACCESSES / ((uint64_t)head->warps * REWRITE_MAX_BLOCKS) + 1;
    r->ended = missing_lanes(head, warp);
    read_region(r);
    return true;
}

static void read_block_records(reader *r, const rewrite_state *head, uint32_t slot)
{
    for (uint32_t warp = 0; head->ran[slot] && warp < head->warps; warp++)
        if (!read_warp_records(r, head, slot, warp))
            return;
}

/* The slot of the block with the lowest index above `last`, or of any where there is no last. */
static uint32_t next_slot(const rewrite_state *head, const uint64_t *last)
{
    uint32_t best = REWRITE_MAX_BLOCKS;
    for (uint32_t i = 0; i < REWRITE_MAX_BLOCKS; i++)
        if (head->ran[i] && (!last || head->block[i] > *last) &&
            (best == REWRITE_MAX_BLOCKS || head->block[i] < head->block[best]))
            best = i;
    return best;
}

bool rewrite_trace_is_readable(const rewrite_copy *c)
{
    rewrite_state head;
    return read_state_head(c, &head);
}

void rewrite_read_trace(const rewrite_copy *c, visitor *visit, void *ctx)
{
    rewrite_state head;
    reader r = {.copy = c, .visit = visit, .ctx = ctx};
    if (!read_state_head(c, &head))
        return;
    for (uint32_t slot = next_slot(&head, NULL); slot < REWRITE_MAX_BLOCKS;
         slot = next_slot(&head, &head.block[slot]))
        read_block_records(&r, &head, slot);
}

void rewrite_read_traced(const rewrite_copy *c, uint64_t block, visitor *visit,
                         void (*begin)(void *ctx, const rewrite_told *record), void *ctx)
{
    rewrite_state head;
    reader r = {.copy = c, .visit = visit, .begin = begin, .ctx = ctx};
    if (!read_state_head(c, &head))
        return;
    for (uint32_t slot = 0; slot < REWRITE_MAX_BLOCKS; slot++)
        if (head.block[slot] == block)
            read_block_records(&r, &head, slot);
}

bool rewrite_traced_whole(const rewrite_copy *c, uint64_t block, uint32_t warp)
{
    rewrite_state head;
    reader r = {.copy = c};
    if (!read_state_head(c, &head) || warp >= head.warps)
        return false;
    for (uint32_t slot = 0; slot < REWRITE_MAX_BLOCKS; slot++)
        if (head.ran[slot] && head.block[slot] == block)
            return read_warp_records(&r, &head, slot, warp) && !r.cut && !r.lost_rows;
    return false;
}

uint64_t rewrite_dropped(const rewrite_copy *c)
{
    rewrite_state head;
    reader r = {.copy = c};
    if (!read_state_head(c, &head))
        return 0;
    for (uint32_t slot = 0; slot < REWRITE_MAX_BLOCKS; slot++)
        read_block_records(&r, &head, slot);
    return r.cut + (r.lost_rows + REWRITE_LANES - 1) / REWRITE_LANES;
}
