#include "observe/log.h"

#include <string.h>

enum { FIRST_BYTES = 16 << 10 };

typedef enum lanes {       /* what follows an entry */
                     RUN,  /* nothing: the lanes are a run */
                     SAME, /* nothing: the distances are those of the entry at `stride` */
                     NEAR, /* 32 distances from `first`, 4 bytes each */
                     FAR,  /* 32 addresses */
                     NONE  /* nothing: a barrier */
} lanes;

typedef struct entry {
    uint64_t first; /* address of the first active lane */
    int32_t stride;
    uint32_t pc, mask, object, bytes;
    uint8_t warp, op, space, lanes;
} entry;

static const size_t bytes_of[] = {
    [RUN] = sizeof(entry),
    [SAME] = sizeof(entry),
    [NEAR] = sizeof(entry) + OBS_LANES * sizeof(int32_t),
    [FAR] = sizeof(entry) + OBS_LANES * sizeof(uint64_t),
    [NONE] = sizeof(entry),
};

static bool grow_log(obs_log *log, size_t limit)
{
    size_t capacity = log->capacity ? 2 * log->capacity : FIRST_BYTES;
    capacity = capacity < limit ? capacity : limit;
    uint8_t *data = capacity > log->capacity ? realloc(log->data, capacity) : NULL;
    if (!data)
        return false;
    log->data = data;
    log->capacity = capacity;
    return true;
}

/* Distances of all lanes; false where those of active ones take more than 32 bits. */
static bool put_near(const acc_request *access, uint64_t first, int32_t *to)
{
    uint64_t far = 0;
    for (uint32_t i = 0; i < OBS_LANES; i++) {
        uint64_t distance = access->addr[i] - first;
        uint64_t active = 0 - (uint64_t)(access->mask >> i & 1);
        far |= (distance + INT32_MAX) & active;
        to[i] = (int32_t)distance;
    }
    return far <= UINT32_MAX;
}

static bool stride_fits(const obs_run *run)
{
    return run->stride >= INT32_MIN && run->stride <= INT32_MAX;
}

static void put_lanes(entry *e, const acc_request *access)
{
    e->lanes = NEAR;
    if (!put_near(access, e->first, (int32_t *)(e + 1))) {
        e->lanes = FAR;
        memcpy(e + 1, access->addr, OBS_LANES * sizeof *access->addr);
    }
}

/* Room for `most` more bytes, which `limit` allows. */
static bool make_log_room(obs_log *log, size_t most, size_t limit)
{
    if (log->used + most > limit)
        return false;
    while (log->used + most > log->capacity)
        if (!grow_log(log, limit))
            return false;
    return true;
}

bool obs_log_add_barrier(obs_log *log, size_t limit, uint32_t pc)
{
    if (!make_log_room(log, bytes_of[NONE], limit + log->local))
        return false;
    *(entry *)(log->data + log->used) = (entry){.pc = pc, .lanes = NONE};
    log->used += bytes_of[NONE];
    return true;
}

bool obs_log_add(obs_log *log, size_t limit, const acc_request *access, const obs_run *run,
                 uint64_t number, obs_log_place *place)
{
    bool is_run = run && stride_fits(run), same = !is_run && place && place->log == number;
    bool local = access->space == ACC_LOCAL;
    size_t most = bytes_of[is_run || same ? RUN : FAR];
    size_t others = local ? log->used - log->local : log->local; /* these do not count */
    if (!make_log_room(log, most, limit + others))
        return false;
    entry *e = (entry *)(log->data + log->used);
    *e = (entry){.first = access->addr[__builtin_ctz(access->mask)],
                 .stride = is_run ? (int32_t)run->stride
                           : same ? (int32_t)place->at
                                  : 0,
                 .pc = access->pc,
                 .mask = access->mask,
                 .object = access->object,
                 .bytes = access->bytes,
                 .warp = (uint8_t)access->warp,
                 .op = (uint8_t)access->op,
                 .space = (uint8_t)access->space,
                 .lanes = same ? SAME : RUN};
    if (!is_run && !same)
        put_lanes(e, access);
    if (e->lanes == NEAR && place)
        *place = (obs_log_place){number, (uint32_t)log->used};
    log->used += bytes_of[e->lanes];
    log->local += local ? bytes_of[e->lanes] : 0;
    return true;
}

static void addresses_of(const obs_log *log, const entry *e, uint64_t *addr)
{
    uint32_t lane = (uint32_t)__builtin_ctz(e->mask);
    const uint8_t *from = e->lanes == SAME ? log->data + e->stride : (const uint8_t *)e;
    const int32_t *near = (const int32_t *)(from + sizeof *e);
    for (uint32_t i = 0; i < OBS_LANES && e->lanes != FAR; i++) {
        int64_t distance = e->lanes != RUN ? near[i] : (int64_t)e->stride * ((int64_t)i - lane);
        addr[i] = e->first + (uint64_t)distance;
    }
    if (e->lanes == FAR)
        memcpy(addr, e + 1, OBS_LANES * sizeof *addr);
}

static acc_request request_of(const entry *e, const uint64_t *addr)
{
    return (acc_request){.pc = e->pc,
                         .op = (acc_op)e->op,
                         .space = (acc_space)e->space,
                         .bytes = e->bytes,
                         .mask = e->mask,
                         .warp = e->warp,
                         .addr = addr,
                         .stride = ACC_IRREGULAR,
                         .object = e->object};
}

bool obs_log_next(const obs_log *log, size_t *at, acc_request *request, uint64_t *addr)
{
    if (*at >= log->used)
        return false;
    const entry *e = (const entry *)(log->data + *at);
    if (e->lanes != NONE)
        addresses_of(log, e, addr);
    *request = request_of(e, addr);
    *at += bytes_of[e->lanes];
    return true;
}

bool obs_log_play(const obs_log *log, obs_heat_block *heat)
{
    uint64_t addr[OBS_LANES];
    acc_request access;
    bool all = true;
    for (size_t at = 0, next = 0; obs_log_next(log, &next, &access, addr); at = next) {
        const entry *e = (const entry *)(log->data + at);
        if (e->lanes == NONE) /* a barrier: no lane accesses */
            continue;
        obs_run run = {.first = e->first,
                       .stride = e->stride,
                       .lane = (uint32_t)__builtin_ctz(e->mask),
                       .count = (uint32_t)__builtin_popcount(e->mask)};
        all = obs_heat_record(heat, &access, e->lanes == RUN ? &run : NULL) && all;
    }
    return all;
}

void obs_log_clear(obs_log *log)
{
    *log = (obs_log){.data = log->data, .capacity = log->capacity};
}

void obs_log_free(obs_log *log)
{
    free(log->data);
    *log = (obs_log){0};
}
