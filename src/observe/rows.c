#include "observe/rows.h"

#include <string.h>

static void add_cost(obs_row *row, const obs_cost *cost, uint64_t times)
{
    obs_insn *insn = &row->insn;
    uint64_t *const shapes[OBS_SHAPE_COUNT] = {
        [OBS_SHAPE_UNIFORM] = &insn->uniform,       [OBS_SHAPE_CONTIGUOUS] = &insn->contiguous,
        [OBS_SHAPE_MISALIGNED] = &insn->misaligned, [OBS_SHAPE_STRIDED] = &insn->strided,
        [OBS_SHAPE_IRREGULAR] = &insn->irregular,
    };
    insn->requests += times * cost->requests;
    insn->active_lanes += times * cost->lanes;
    insn->sectors += times * cost->sectors;
    insn->sectors_min += times * cost->sectors_min;
    insn->wavefronts += times * cost->wavefronts;
    insn->wavefronts_min += times * cost->wavefronts_min;
    insn->turns += times * cost->turns;
    row->pieces += cost->pieces ? times : 0;
    insn->flags |= cost->unclear ? OBS_UNCLEAR : 0;
    *shapes[cost->shape] += times * cost->requests;
    if (cost->shape == OBS_SHAPE_STRIDED && cost->requests &&
        !obs_strides_add(&row->strides, cost->stride, times))
        row->strides_lost += times;
}

void obs_row_flush(obs_row *row)
{
    if (row->memo.times)
        add_cost(row, &row->memo.cost, row->memo.times);
    if (row->pattern.times)
        add_cost(row, &row->pattern.cost, row->pattern.times);
    row->memo.times = 0;
    row->pattern.times = 0;
}

static void add_access_kind(obs_row *row, const acc_request *access)
{
    row->insn.flags |= access->flags;
    if (access->bytes > row->insn.bytes)
        row->insn.bytes = access->bytes < UINT16_MAX ? (uint16_t)access->bytes : UINT16_MAX;
}

static uint32_t count_run(obs_row *row, const acc_request *access, const obs_run *run)
{
    obs_memo *memo = &row->memo;
    uint32_t phase = (uint32_t)run->first & 127;
    if (memo->stride == run->stride && memo->phase == phase && memo->mask == access->mask &&
        memo->bytes == access->bytes && memo->flags == access->flags) {
        memo->times++;
        return memo->cost.sectors;
    }
    if (memo->times)
        add_cost(row, &memo->cost, memo->times);
    *memo = (obs_memo){.stride = run->stride,
                       .phase = phase,
                       .mask = access->mask,
                       .bytes = access->bytes,
                       .flags = access->flags,
                       .times = 1,
                       .cost = obs_cost_run(access, run)};
    add_access_kind(row, access);
    return memo->cost.sectors;
}

/* What the costs of lanes at given distances still depend on: the place within a sector; in shared
 * memory, whose banks are all alike, only the place within a unit. Where lanes are missing in
 * between, the shape looks at sectors, too. */
static uint32_t phase_of(const acc_request *access, uint64_t base)
{
    uint32_t ones = access->mask >> __builtin_ctz(access->mask);
    bool gaps = (ones & (ones + 1)) != 0;
    if (access->space != ACC_SHARED)
        return (uint32_t)base & (OBS_SECTOR_BYTES - 1);
    if (gaps || access->bytes > 16 || !obs_is_pow2(access->bytes))
        return (uint32_t)base & 127;
    return (uint32_t)base & ((access->bytes < 4 ? 4 : access->bytes) - 1);
}

bool obs_row_knows(const obs_row *row, const acc_request *access)
{
    const obs_pattern *p = &row->pattern;
    if (p->mask != access->mask || p->bytes != access->bytes || p->flags != access->flags)
        return false;
    uint32_t last = OBS_LANES - 1 - (uint32_t)__builtin_clz(access->mask);
    uint64_t base = access->addr[__builtin_ctz(access->mask)], differ = 0;
    if (access->addr[last] - base != p->distance[last] || phase_of(access, base) != p->phase)
        return false;
    for (uint32_t i = 0; i < OBS_LANES; i++)
        differ |= ((access->addr[i] - base) ^ p->distance[i]) & p->care[i];
    return differ == 0;
}

static void set_bounds(obs_pattern *p)
{
    int64_t low = 0, high = 0;
    for (uint32_t i = 0; i < OBS_LANES; i++) {
        int64_t distance = (int64_t)p->distance[i];
        low = distance < low ? distance : low;
        high = distance > high ? distance : high;
    }
    p->low = low;
    p->high = high;
}

static void learn_pattern(obs_row *row, const acc_request *access, const obs_cost *cost)
{
    obs_pattern *p = &row->pattern;
    uint32_t mask = access->mask;
    uint64_t base = access->addr[__builtin_ctz(mask)];
    if (p->times)
        add_cost(row, &p->cost, p->times);
    for (uint32_t i = 0; i < OBS_LANES; i++) {
        p->care[i] = 0 - (uint64_t)(mask >> i & 1);
        p->distance[i] = (access->addr[i] - base) & p->care[i];
    }
    set_bounds(p);
    p->phase = phase_of(access, base);
    p->mask = mask;
    p->bytes = access->bytes;
    p->flags = access->flags;
    p->times = 1;
    p->cost = *cost;
    p->place = (obs_log_place){0};
    p->lanes.size = 0;
}

static uint32_t count_pattern(obs_row *row, const acc_request *access, bool known)
{
    enum { MOST_PATIENCE = 64 };
    obs_pattern *p = &row->pattern;
    if (known) {
        p->times++;
        return p->cost.sectors;
    }
    obs_cost cost = obs_cost_irregular(access);
    cost.pieces = row->width && obs_is_pieces(access, row->width);
    add_access_kind(row, access);
    if (++p->misses < p->patience) {
        add_cost(row, &cost, 1);
        return cost.sectors;
    }
    bool useful = p->times > 2 * p->misses;
    p->patience = useful ? 1 : p->patience < MOST_PATIENCE ? 2 * p->patience + 1 : MOST_PATIENCE;
    p->misses = 0;
    learn_pattern(row, access, &cost);
    return cost.sectors;
}

uint32_t obs_row_count(obs_row *row, const acc_request *access, const obs_run *run, bool known)
{
    if (row->slices)
        obs_cost_by_slice(access, row->slices);
    return run ? count_run(row, access, run) : count_pattern(row, access, known);
}

bool obs_strides_add(obs_strides *strides, int64_t stride, uint64_t count)
{
    size_t low = 0, high = strides->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strides->data[middle].stride < stride)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == strides->count || strides->data[low].stride != stride) {
        if (!wl_reserve(strides, 1))
            return false;
        memmove(strides->data + low + 1, strides->data + low,
                (strides->count - low) * sizeof *strides->data);
        strides->data[low] = (obs_stride_count){.stride = stride};
        strides->count++;
    }
    strides->data[low].count += count;
    return true;
}

static bool is_better(const obs_stride_count *a, const obs_stride_count *b)
{
    uint64_t x = a->stride < 0 ? 0 - (uint64_t)a->stride : (uint64_t)a->stride;
    uint64_t y = b->stride < 0 ? 0 - (uint64_t)b->stride : (uint64_t)b->stride;
    if (a->count != b->count)
        return a->count > b->count;
    return x != y ? x < y : a->stride > b->stride;
}

int64_t obs_strides_commonest(const obs_strides *strides)
{
    obs_stride_count best = {0};
    for (size_t i = 0; i < strides->count; i++)
        if (i == 0 || is_better(&strides->data[i], &best))
            best = strides->data[i];
    return best.stride;
}

void obs_insn_add(obs_insn *to, const obs_insn *from)
{
    to->bytes = from->bytes > to->bytes ? from->bytes : to->bytes;
    to->flags |= from->flags;
    to->requests += from->requests;
    to->active_lanes += from->active_lanes;
    to->sectors += from->sectors;
    to->sectors_min += from->sectors_min;
    to->wavefronts += from->wavefronts;
    to->wavefronts_min += from->wavefronts_min;
    to->turns += from->turns;
    to->slice_turns += from->slice_turns;
    to->uniform += from->uniform;
    to->contiguous += from->contiguous;
    to->misaligned += from->misaligned;
    to->strided += from->strided;
    to->irregular += from->irregular;
}
