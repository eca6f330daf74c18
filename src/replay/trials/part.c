#include "replay/trials/part.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64, MOST_WORDS = 1 << 20 /* 12 MiB */ };

/* ---- which elements ---- */

static void find_ends(const trial_log *log, const uint32_t *which, uint32_t count, uint64_t *first,
                      uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = 0; i < count; i++) {
        const acc_request *r = trial_log_at(log, which[i]);
        const uint32_t outer = UINT32_C(1) << (ACC_LANES - 1) | 1;
        uint32_t left = r->stride == ACC_IRREGULAR ? r->mask : outer;
        for (; left; left &= left - 1) {
            uint64_t at = r->addr[__builtin_ctz(left)];
            *first = at < *first ? at : *first;
            *last = at > *last ? at : *last;
        }
    }
}

/* Do all lanes take one element, or neighbouring ones in their order? These are packed likewise. */
static bool is_packed(const acc_request *r)
{
    return r->stride == 0 || r->stride == (int64_t)r->bytes;
}

static void add_of_request(trial_part *p, const acc_request *r)
{
    for (uint32_t left = r->stride ? r->mask : 1; left; left &= left - 1) {
        uint64_t at = r->addr[__builtin_ctz(left)] / p->bytes - p->first;
        p->set[at / WORD] |= UINT64_C(1) << at % WORD;
    }
}

static void number_elements(trial_part *p)
{
    for (uint32_t w = 0; w < p->words; w++) {
        p->before[w] = p->count;
        p->count += (uint32_t)__builtin_popcountll(p->set[w]);
    }
}

bool trial_part_make(trial_part *p, const trial_log *log, const uint32_t *which, uint32_t count)
{
    uint64_t first, last;
    find_ends(log, which, count, &first, &last);
    *p = (trial_part){.bytes = trial_log_at(log, which[0])->bytes};
    p->first = first / p->bytes;
    uint64_t words = (last / p->bytes - p->first) / WORD + 1;
    if (words > MOST_WORDS)
        return false;
    p->words = (uint32_t)words;
    p->set = calloc(words, sizeof *p->set);
    p->before = calloc(words, sizeof *p->before);
    if (!p->set || !p->before) {
        trial_part_clear(p);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        add_of_request(p, trial_log_at(log, which[i]));
    number_elements(p);
    return true;
}

bool trial_part_of(const trial_part *part, const uint64_t *bits, trial_part *some)
{
    *some = *part;
    some->count = 0;
    some->set = calloc(part->words, sizeof *some->set);
    some->before = calloc(part->words, sizeof *some->before);
    if (!some->set || !some->before) {
        trial_part_clear(some);
        return false;
    }
    for (uint32_t w = 0; w < part->words; w++)
        some->set[w] = part->set[w] & bits[w];
    number_elements(some);
    return true;
}

void trial_part_clear(trial_part *p)
{
    free(p->set);
    free(p->before);
    *p = (trial_part){0};
}

/* The place in shared memory of an element of the part. */
static uint64_t packed_place_of(const trial_part *p, uint64_t address)
{
    uint64_t at = address / p->bytes - p->first;
    uint64_t earlier = p->set[at / WORD] & ((UINT64_C(1) << at % WORD) - 1);
    uint32_t number = p->before[at / WORD] + (uint32_t)__builtin_popcountll(earlier);
    return TRIAL_ARRAY + (uint64_t)number * p->bytes;
}

/* ---- moved together ---- */

static void set_portion_lane(const trial_part *p, trial_portion *portion, uint32_t lane,
                             uint64_t element, uint32_t number)
{
    portion->mask |= UINT32_C(1) << lane;
    portion->from[lane] = element * p->bytes;
    portion->to[lane] = TRIAL_ARRAY + (uint64_t)number * p->bytes;
}

void trial_part_move(const trial_part *p, uint32_t threads, trial_mover *move, const void *ctx)
{
    trial_portion portion = {0};
    uint32_t number = 0;
    for (uint32_t w = 0; w < p->words; w++)
        for (uint64_t left = p->set[w]; left; left &= left - 1, number++) {
            uint64_t element = p->first + (uint64_t)w * WORD + (uint64_t)__builtin_ctzll(left);
            uint32_t thread = number % threads, warp = thread / ACC_LANES;
            if (portion.mask && (warp != portion.warp || thread % ACC_LANES == 0)) {
                move(ctx, &portion);
                portion = (trial_portion){.warp = warp};
            }
            portion.warp = warp;
            set_portion_lane(p, &portion, thread % ACC_LANES, element, number);
        }
    if (portion.mask)
        move(ctx, &portion);
}

void trial_portion_show(const trial_portion *p, const acc_request *like, acc_op op, acc_space space,
                        const trial_shown *to)
{
    acc_request shown = *like;
    bool shared = space == ACC_SHARED;
    shown.op = op;
    shown.space = space;
    shown.object = shared ? 0 : like->object;
    shown.warp = p->warp;
    shown.mask = p->mask;
    shown.addr = shared ? p->to : p->from;
    trial_show(to, &shown);
}

void trial_part_show(const trial_part *p, const acc_request *request, uint32_t mask,
                     const trial_shown *to)
{
    acc_request shown = *request;
    uint64_t addr[ACC_LANES] = {0};
    uint64_t first = is_packed(request) ? packed_place_of(p, request->addr[0]) : 0;
    shown.mask &= mask;
    for (uint32_t left = shown.mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        addr[lane] = first ? first + lane * (uint64_t)request->stride
                           : packed_place_of(p, request->addr[lane]);
    }
    shown.space = ACC_SHARED;
    shown.object = 0;
    shown.addr = addr;
    trial_show(to, &shown);
}

/* ---- of the launch ---- */

uint32_t trial_threads(const trial_work *t)
{
    emu_dim b = t->launch->run.launch.block;
    return b.x * b.y * b.z;
}

uint64_t trial_shared_bytes(const obs_summary *s)
{
    uint64_t used = 0;
    for (uint32_t i = 1; i < s->nshared; i++)
        used += s->shared[i].bytes;
    return used;
}

uint64_t trial_room_of(const trial_work *t)
{
    uint64_t used = trial_shared_bytes(t->launch->summary);
    uint64_t left = used > t->freed ? used - t->freed : 0;
    return left < TRIAL_MOST_SHARED ? TRIAL_MOST_SHARED - left : 0;
}

uint64_t trial_shared_room(const obs_summary *s)
{
    uint64_t used = trial_shared_bytes(s);
    return used < TRIAL_MOST_SHARED ? TRIAL_MOST_SHARED - used : 0;
}

void trial_raise(atomic_uint *most, uint32_t value)
{
    uint32_t now = atomic_load(most);
    while (now < value && !atomic_compare_exchange_weak(most, &now, value))
        ;
}
