#include "observe/cost.h"

#include <string.h>

bool obs_find_run(const acc_request *access, obs_run *run)
{
    uint32_t mask = access->mask, lane = (uint32_t)__builtin_ctz(mask);
    uint32_t ones = mask >> lane, count = (uint32_t)__builtin_popcount(mask);
    const uint64_t *a = access->addr + lane;
    *run = (obs_run){.first = a[0], .stride = 0, .lane = lane, .count = count};
    if (mask == UINT32_MAX && access->stride != ACC_IRREGULAR) {
        run->stride = access->stride;
        return true;
    }
    if (ones & (ones + 1))
        return false;
    if (count == 1)
        return true;
    uint64_t stride = a[1] - a[0], bad = 0;
    if (a[count - 1] - a[count - 2] != stride || a[count / 2] - a[count / 2 - 1] != stride)
        return false; /* mostly decided here: rows of tiles end in the middle of a warp */
    for (uint32_t i = 1; i < count; i++)
        bad |= (a[i] - a[i - 1]) ^ stride;
    run->stride = (int64_t)stride;
    return bad == 0;
}

static uint64_t magnitude(int64_t n)
{
    return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

static uint64_t lowest(const obs_run *run)
{
    return run->stride >= 0 ? run->first : run->first + (uint64_t)run->stride * (run->count - 1);
}

static obs_shape shape_of_span(uint64_t first, uint64_t length)
{
    bool more = obs_sectors_of_span(first, length) > obs_div_up(length, OBS_SECTOR_BYTES);
    return more ? OBS_SHAPE_MISALIGNED : OBS_SHAPE_CONTIGUOUS;
}

static void shape_of_run(const obs_run *run, uint32_t bytes, bool local, obs_cost *cost)
{
    uint64_t step = magnitude(run->stride);
    if (step == 0)
        cost->shape = local ? OBS_SHAPE_CONTIGUOUS : OBS_SHAPE_UNIFORM;
    else if (step == bytes && !local)
        cost->shape = shape_of_span(lowest(run), (uint64_t)bytes * run->count);
    else
        cost->shape = run->count < 3 ? OBS_SHAPE_IRREGULAR : OBS_SHAPE_STRIDED;
    if (cost->shape == OBS_SHAPE_STRIDED)
        cost->stride = run->stride;
}

/* Lanes far apart, any alignment: they come in ascending order, so that a sector that two share is
 * the last of one and the first of the next. */
static uint32_t count_sectors_apart(uint64_t first, uint64_t step, uint32_t count, uint32_t bytes)
{
    uint64_t next = 0; /* the first sector not counted yet */
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < count; i++, first += step) {
        uint64_t from = first / OBS_SECTOR_BYTES, end = (first + bytes - 1) / OBS_SECTOR_BYTES + 1;
        if (from < next)
            from = next;
        sectors += (uint32_t)(end - from);
        next = end;
    }
    return sectors;
}

static void sectors_of_run(const obs_run *run, uint32_t bytes, obs_cost *cost)
{
    uint64_t first = lowest(run), step = magnitude(run->stride);
    uint64_t span = step * (run->count - 1) + bytes;
    if (step <= OBS_SECTOR_BYTES ||
        bytes >= step) /* no sector between the first and the last is left out */
        cost->sectors = obs_sectors_of_span(first, span);
    else if (obs_is_pow2(bytes) && bytes <= OBS_SECTOR_BYTES && ((first | step) & (bytes - 1)) == 0)
        cost->sectors = run->count;
    else
        cost->sectors = count_sectors_apart(first, step, run->count, bytes);
    uint64_t fresh = step < bytes ? step : bytes; /* bytes that a lane adds to those before it */
    cost->sectors_min = obs_div_up(bytes + fresh * (run->count - 1), OBS_SECTOR_BYTES);
}

static bool local_run(const obs_run *run, uint32_t bytes, obs_cost *cost)
{
    if (run->stride)
        return false;
    uint64_t words = (run->first + bytes - 1) / OBS_WORD_BYTES - run->first / OBS_WORD_BYTES + 1;
    uint32_t octets = (run->lane + run->count - 1) / 8 - run->lane / 8 + 1;
    cost->sectors = (uint32_t)words * octets;
    cost->sectors_min = obs_div_up((uint64_t)bytes * run->count, OBS_SECTOR_BYTES);
    return true;
}

/* Aligned accesses of 4, 8 or 16 bytes, by what banks.c says in full: lanes i and j of a group
 * fall in one bank where their distance is a multiple of width / gcd(width, step). */
static bool shared_run(const obs_run *run, uint32_t bytes, acc_op op, uint32_t flags,
                       obs_cost *cost)
{
    uint64_t step = magnitude(run->stride);
    if (bytes < 4 || bytes > 16 || !obs_is_pow2(bytes) || ((run->first | step) & (bytes - 1)))
        return false;
    if ((bytes > 4 && run->count < OBS_LANES) || (step == 0 && (flags & ACC_MATRIX)))
        return false;
    uint32_t width = 128 / bytes, groups = bytes / 4;
    uint32_t in_group = run->count < width ? run->count : width;
    uint32_t units = (uint32_t)(step / bytes) & (width - 1);
    uint32_t common = units ? units & (0 - units)
                            : width; /* gcd(width, units), both powers of two where it matters */
    bool atomic = obs_takes_turns(op, flags);
    uint32_t ways = (in_group * common + width - 1) / width;
    if (step == 0)
        ways = atomic ? in_group : 1;
    if (step == 0 && op == ACC_LOAD && groups > 1)
        groups /= 2;
    cost->wavefronts = flags & ACC_BARRIER ? groups : groups * ways;
    cost->wavefronts_min = groups;
    if (flags & ACC_SPIN)
        obs_count_spin(cost);
    return true;
}

/* Closes up the active lanes in `lane` and `addr`; all of them need no copy. */
static obs_active gather_active_lanes(const acc_request *access, uint8_t *lane, uint64_t *addr)
{
    static const uint8_t all[OBS_LANES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                           11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                           22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    uint32_t n = 0;
    if (access->mask == UINT32_MAX)
        return (obs_active){OBS_LANES, access->bytes, access->mask, all, access->addr};
    for (uint32_t m = access->mask; m; m &= m - 1) {
        lane[n] = (uint8_t)__builtin_ctz(m);
        addr[n] = access->addr[lane[n]];
        n++;
    }
    for (uint32_t i = n; i < OBS_LANES; i++)
        addr[i] = access->addr[__builtin_ctz(access->mask)];
    return (obs_active){n, access->bytes, access->mask, lane, addr};
}

/* Sectors or wavefronts lane by lane. */
static void count_lane_by_lane(const acc_request *access, const obs_active *active, obs_cost *cost)
{
    if (access->space == ACC_SHARED)
        obs_wavefronts(active, access->op, access->flags, cost);
    else if (access->space == ACC_LOCAL)
        obs_sectors_local(active, cost);
    else
        obs_sectors(active, cost);
}

/* A cp.async.cg, whose lanes are served pair by pair. */
static bool is_copied_in_pairs(const acc_request *access)
{
    return access->flags & ACC_ASYNC && !(access->flags & (ACC_BULK | ACC_CACHED)) &&
           access->op == ACC_LOAD && access->space == ACC_GLOBAL && access->bytes == 16;
}

static uint32_t sectors_of_lane(const acc_request *access, uint32_t lane)
{
    return access->mask >> lane & 1 ? obs_sectors_of_span(access->addr[lane], access->bytes) : 0;
}

/* Each lane counts for itself, but for two neighbours that take the halves of one sector. */
static uint32_t sectors_in_pairs(const acc_request *access)
{
    uint32_t sectors = 0;
    for (uint32_t lane = 0; lane < OBS_LANES; lane += 2) {
        uint32_t even = sectors_of_lane(access, lane), odd = sectors_of_lane(access, lane + 1);
        bool halves = even == 1 && odd == 1 &&
                      (access->addr[lane] ^ access->addr[lane + 1]) == access->bytes &&
                      access->addr[lane] / OBS_SECTOR_BYTES ==
                          access->addr[lane + 1] / OBS_SECTOR_BYTES;
        sectors += even + odd - halves;
    }
    return sectors;
}

bool obs_is_global_atomic(const acc_request *access)
{
    return access->space == ACC_GLOBAL && (access->op == ACC_ATOMIC || access->op == ACC_REDUCTION);
}

/* A box was asked for by one lane. */
static void count_asked(const acc_request *access, obs_cost *cost)
{
    cost->requests = access->flags & ACC_GOES_ON ? 0 : 1;
    if (access->flags & ACC_BOX)
        cost->lanes = cost->requests;
}

obs_cost obs_cost_run(const acc_request *access, const obs_run *run)
{
    obs_cost cost = {.lanes = run->count};
    bool known = true;
    shape_of_run(run, access->bytes, access->space == ACC_LOCAL, &cost);
    if (access->space == ACC_SHARED)
        known = shared_run(run, access->bytes, access->op, access->flags, &cost);
    else if (access->space == ACC_LOCAL)
        known = local_run(run, access->bytes, &cost);
    else
        sectors_of_run(run, access->bytes, &cost);
    if (!known) {
        uint8_t lane[OBS_LANES];
        uint64_t addr[OBS_LANES];
        obs_active active = gather_active_lanes(access, lane, addr);
        count_lane_by_lane(access, &active, &cost);
    }
    if (is_copied_in_pairs(access))
        cost.sectors = sectors_in_pairs(access);
    if (obs_is_global_atomic(access))
        cost.turns = cost.sectors + (run->stride ? 0 : run->count - 1);
    count_asked(access, &cost);
    return cost;
}

/* The constant difference by lane number, where there is one. */
static bool lane_stride(const obs_active *active, int64_t *stride)
{
    const uint64_t *a = active->addr;
    const uint8_t *lane = active->lane;
    int64_t over = (int64_t)(a[1] - a[0]), lanes = lane[1] - lane[0];
    *stride = lanes == 1 ? over : over / lanes;
    if (*stride * lanes != over)
        return false;
    for (uint32_t i = 2; i < active->count; i++)
        if (a[i] - a[i - 1] != (uint64_t)*stride * (uint64_t)(lane[i] - lane[i - 1]))
            return false;
    return true;
}

/* Whether each active lane is `step` above the active lane before. */
static bool follows(const obs_active *active, uint64_t step)
{
    for (uint32_t i = 1; i < active->count; i++)
        if (active->addr[i] - active->addr[i - 1] != step)
            return false;
    return true;
}

static obs_shape shape_of_neighbours(const obs_active *active)
{
    uint64_t a = active->addr[0], b = active->addr[active->count - 1];
    return shape_of_span(a < b ? a : b, (a < b ? b - a : a - b) + active->bytes);
}

static void shape_of_active(const obs_active *active, bool local, obs_cost *cost)
{
    int64_t stride = 0;
    uint64_t bytes = active->bytes;
    cost->shape = OBS_SHAPE_IRREGULAR;
    if (follows(active, 0)) {
        cost->shape = local ? OBS_SHAPE_CONTIGUOUS : OBS_SHAPE_UNIFORM;
        return;
    }
    bool constant = lane_stride(active, &stride);
    bool neighbours = (constant && magnitude(stride) == bytes) || follows(active, bytes) ||
                      follows(active, 0 - bytes);
    if (neighbours && !local) {
        cost->shape = shape_of_neighbours(active);
    } else if (constant && active->count >= 3) {
        cost->shape = OBS_SHAPE_STRIDED;
        cost->stride = stride;
    }
}

obs_cost obs_cost_irregular(const acc_request *access)
{
    uint8_t lane[OBS_LANES];
    uint64_t addr[OBS_LANES];
    obs_active active = gather_active_lanes(access, lane, addr);
    uint32_t ones = access->mask >> __builtin_ctz(access->mask);
    obs_cost cost = {.lanes = active.count, .shape = OBS_SHAPE_IRREGULAR};
    if (ones & (ones + 1)) /* with gaps; without, another shape would be a run */
        shape_of_active(&active, access->space == ACC_LOCAL, &cost);
    count_lane_by_lane(access, &active, &cost);
    if (is_copied_in_pairs(access))
        cost.sectors = sectors_in_pairs(access);
    if (obs_is_global_atomic(access))
        cost.turns = cost.sectors + obs_further_turns(&active);
    count_asked(access, &cost);
    return cost;
}

void obs_cost_by_slice(const acc_request *access, uint64_t slices[OBS_SLICES])
{
    uint8_t lane[OBS_LANES];
    uint64_t addr[OBS_LANES];
    obs_active active = gather_active_lanes(access, lane, addr);
    obs_turns_by_slice(&active, slices);
}

bool obs_is_pieces(const acc_request *access, uint32_t width)
{
    uint64_t length = (uint64_t)width * access->bytes, begin = 0;
    uint32_t row = OBS_LANES; /* none yet */
    bool apart = false;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t from = access->addr[lane] - (uint64_t)(lane % width) * access->bytes;
        bool same = lane / width == row;
        if (same ? from != begin : row != OBS_LANES && magnitude((int64_t)(from - begin)) < length)
            return false;
        apart |= !same && row != OBS_LANES && from - begin != length;
        row = lane / width;
        begin = from;
    }
    return apart;
}
