/* The steps of a traced block, from two sources, in one order. */
#include "replay/ordered.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 256 << 20 /* of a block */, NOWHERE = UINT32_MAX };

typedef enum ordered_kind {
    ORDERED_ACCESS,
    ORDERED_TRACED,
    ORDERED_BARRIER,
    ORDERED_ENTRY
} ordered_kind;

typedef struct ordered_step {
    uint8_t kind, op, space;
    uint32_t flags, bytes, pc, mask, warp, object;
    int64_t stride;
    size_t addresses; /* place of the first active lane's */
    uint32_t before;  /* traced: the place of the step of the slice before which it is told */
} ordered_step;

typedef struct ordered_lane { /* while the traced requests of a warp are placed */
    uint32_t at;              /* in the warp's list: what is before has been done */
    uint32_t clear;           /* from there up to here the lane does nothing */
    uint32_t entry;           /* in `shown`: of the basic block that it is in; NOWHERE: none yet */
    uint32_t pc;              /* of the last traced request there; NOWHERE: none yet */
    uint8_t space;            /* likewise */
    bool inside;              /* it has gone through the block's door */
    bool told;                /* a record has begun with the block */
    uint32_t record;          /* that told of the last traced request behind it */
    bool loop;                /* of all iterations of a loop */
} ordered_lane;

struct replay_ordered {
    const replay_doors *doors;
    const emu_kernel *slice;
    uint32_t warps;
    wl_vec(ordered_step) shown, traced;
    wl_vec(uint64_t) addresses;
    wl_vec(uint32_t) * of_warp; /* [warps] steps of the slice, barriers too */
    size_t bytes;
    uint32_t warp; /* whose traced requests are placed */
    uint32_t lost; /* bits: warps of which one had no place */
    ordered_lane lanes[ACC_LANES];
};

replay_ordered *replay_ordered_new(const replay_doors *doors, const emu_kernel *slice,
                                   uint32_t warps)
{
    replay_ordered *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    *o = (replay_ordered){.doors = doors, .slice = slice, .warps = warps, .warp = NOWHERE};
    o->of_warp = calloc(warps + 1u, sizeof *o->of_warp);
    if (o->of_warp)
        return o;
    free(o);
    return NULL;
}

void replay_ordered_free(replay_ordered *o)
{
    if (!o)
        return;
    for (uint32_t w = 0; o->of_warp && w < o->warps; w++)
        wl_vec_free(&o->of_warp[w]);
    free(o->of_warp);
    wl_vec_free(&o->shown);
    wl_vec_free(&o->traced);
    wl_vec_free(&o->addresses);
    free(o);
}

/* ---- what the slice shows ---- */

static bool take_order_room(replay_ordered *o, size_t bytes)
{
    o->bytes += bytes;
    return o->bytes <= MOST_BYTES && o->shown.count < NOWHERE - 1;
}

static ordered_step step_of_request(const acc_request *r, ordered_kind kind, size_t addresses)
{
    return (ordered_step){.kind = kind,
                          .op = (uint8_t)r->op,
                          .space = (uint8_t)r->space,
                          .flags = r->flags,
                          .bytes = r->bytes,
                          .pc = r->pc,
                          .mask = r->mask,
                          .warp = r->warp,
                          .object = r->object,
                          .stride = r->stride,
                          .addresses = addresses};
}

static bool keep_addresses(replay_ordered *o, const acc_request *r)
{
    bool kept = wl_reserve(&o->addresses, ACC_LANES);
    for (uint32_t m = kept ? r->mask : 0; m; m &= m - 1)
        o->addresses.data[o->addresses.count++] = r->addr[__builtin_ctz(m)];
    return kept;
}

static bool put_shown(replay_ordered *o, const ordered_step *step)
{
    uint32_t place = (uint32_t)o->shown.count;
    bool all = take_order_room(o, sizeof *step + sizeof place) && wl_push(&o->shown, *step);
    for (uint32_t w = 0; all && w < o->warps; w++)
        if (step->kind == ORDERED_BARRIER || w == step->warp)
            all = wl_push(&o->of_warp[w], place);
    return all;
}

bool replay_ordered_access(replay_ordered *o, const acc_request *r)
{
    ordered_step step = step_of_request(r, ORDERED_ACCESS, o->addresses.count);
    return take_order_room(o, ACC_LANES * sizeof(uint64_t)) && keep_addresses(o, r) &&
           put_shown(o, &step);
}

bool replay_ordered_barrier(replay_ordered *o, uint32_t pc)
{
    ordered_step step = {.kind = ORDERED_BARRIER, .pc = pc, .mask = UINT32_MAX};
    return put_shown(o, &step);
}

bool replay_ordered_entry(replay_ordered *o, uint32_t warp, uint32_t pc, uint32_t mask)
{
    ordered_step step = {.kind = ORDERED_ENTRY, .pc = pc, .mask = mask, .warp = warp};
    return put_shown(o, &step);
}

/* ---- where a lane is ---- */

static const ordered_step *step_at(const replay_ordered *o, uint32_t at)
{
    return &o->shown.data[o->of_warp[o->warp].data[at]];
}

static uint32_t steps_of_warp(const replay_ordered *o)
{
    return (uint32_t)o->of_warp[o->warp].count;
}

static uint32_t code_block(const replay_ordered *o, uint32_t pc)
{
    return emu_kernel_code(o->slice, pc).block;
}

static bool is_in_own_block(const replay_ordered *o, const ordered_lane *l, uint32_t pc)
{
    return l->entry != NOWHERE && code_block(o, o->shown.data[l->entry].pc) == code_block(o, pc);
}

/* It begins the block whose entry is at hand. */
static void enter_block(const replay_ordered *o, ordered_lane *l)
{
    l->entry = o->of_warp[o->warp].data[l->at++];
    l->pc = NOWHERE;
    l->inside = l->told = false;
}

/* Goes on to the next entry of the lane; false where there is none. */
static bool go_to_entry(const replay_ordered *o, ordered_lane *l, uint32_t lane)
{
    for (; l->at < steps_of_warp(o); l->at++) {
        const ordered_step *s = step_at(o, l->at);
        if (s->kind == ORDERED_ENTRY && s->mask >> lane & 1) {
            enter_block(o, l);
            return true;
        }
    }
    return false;
}

/* Goes past what the lane does in its block before instruction `pc`; NOWHERE: past all of it. */
static void pass_own_steps(const replay_ordered *o, ordered_lane *l, uint32_t lane, uint32_t pc)
{
    for (l->clear = l->at > l->clear ? l->at : l->clear; l->clear < steps_of_warp(o); l->clear++) {
        const ordered_step *s = step_at(o, l->clear);
        bool own = s->mask >> lane & 1;
        if (s->kind == ORDERED_BARRIER || (own && (s->kind == ORDERED_ENTRY || s->pc > pc)))
            return;
        if (own)
            l->at = l->clear + 1;
    }
}

/* ---- where a traced request belongs ---- */

/* In a block that the slice counts: the one at hand, unless it has been past the request there. */
static bool find_in_block(const replay_ordered *o, ordered_lane *l, uint32_t lane,
                          const acc_request *r)
{
    bool here = is_in_own_block(o, l, r->pc) && !l->inside &&
                (l->pc == NOWHERE || l->pc < r->pc || (l->pc == r->pc && l->space != r->space));
    while (!here && go_to_entry(o, l, lane))
        here = is_in_own_block(o, l, r->pc);
    l->pc = r->pc;
    l->space = (uint8_t)r->space;
    pass_own_steps(o, l, lane, r->pc);
    return here;
}

/* May it still be behind the door where it made the last traced request? */
static bool may_stay_behind(const replay_ordered *o, const ordered_lane *l, uint32_t pc,
                            uint32_t record)
{
    return !l->inside || record == l->record ||
           replay_door_follows(o->doors, o->shown.data[l->entry].pc, l->pc, l->loop, pc);
}

static bool leads_there(const replay_ordered *o, const ordered_lane *l, uint32_t pc)
{
    return l->entry != NOWHERE && replay_door_leads_to(o->doors, o->shown.data[l->entry].pc, pc);
}

static bool find_behind(const replay_ordered *o, ordered_lane *l, uint32_t lane, uint32_t pc,
                        uint32_t record, bool loop)
{
    bool here = leads_there(o, l, pc) && may_stay_behind(o, l, pc, record);
    while (!here && go_to_entry(o, l, lane))
        here = leads_there(o, l, pc);
    if (!here)
        return false;
    pass_own_steps(o, l, lane, NOWHERE);
    l->inside = true;
    l->record = record;
    l->loop = loop;
    l->pc = pc;
    return true;
}

static bool find_place(const replay_ordered *o, ordered_lane *l, uint32_t lane,
                       const acc_request *r, uint32_t record, bool loop)
{
    return o->doors->shown[r->pc] ? find_in_block(o, l, lane, r)
                                  : find_behind(o, l, lane, r->pc, record, loop);
}

/* The lane comes to the basic block at `pc`, in which a record begins. */
static bool find_record(const replay_ordered *o, ordered_lane *l, uint32_t lane, uint32_t record,
                        uint32_t pc)
{
    if (!o->doors->shown[pc])
        return find_behind(o, l, lane, pc, record, false);
    bool here = is_in_own_block(o, l, pc) && !l->inside && !l->told && l->pc == NOWHERE;
    while (!here && go_to_entry(o, l, lane))
        here = is_in_own_block(o, l, pc);
    l->told = true;
    return here;
}

static void begin_warp(replay_ordered *o, uint32_t warp)
{
    o->warp = warp;
    for (uint32_t lane = 0; lane < ACC_LANES; lane++)
        o->lanes[lane] = (ordered_lane){.entry = NOWHERE, .pc = NOWHERE};
}

/* Lanes that make a request together are at one place: the last of those that their own orders
 * allow. */
static void meet_lanes(replay_ordered *o, uint32_t mask, uint32_t at)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        ordered_lane *l = &o->lanes[lane];
        while (l->at < at) {
            const ordered_step *s = step_at(o, l->at);
            if (s->kind == ORDERED_ENTRY && s->mask >> lane & 1)
                enter_block(o, l);
            else
                l->at++;
        }
    }
}

/* The place in the warp's list, after all that its lanes have done before. */
static uint32_t find_meeting(replay_ordered *o, const acc_request *r, uint32_t record, bool loop)
{
    uint32_t at = 0;
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        ordered_lane *l = &o->lanes[lane];
        if (!find_place(o, l, lane, r, record, loop))
            return NOWHERE;
        at = l->at > at ? l->at : at;
    }
    meet_lanes(o, r->mask, at);
    return at;
}

void replay_ordered_record(replay_ordered *o, uint32_t warp, uint32_t mask, uint32_t record,
                           uint32_t pc, bool loop)
{
    if (warp >= o->warps || loop)
        return;
    if (warp != o->warp)
        begin_warp(o, warp);
    for (uint32_t m = o->lost >> warp & 1 ? 0 : mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        o->lost |= (uint32_t)!find_record(o, &o->lanes[lane], lane, record, pc) << warp;
    }
}

bool replay_ordered_traced(replay_ordered *o, const acc_request *r, uint32_t record, bool loop)
{
    ordered_step step = step_of_request(r, ORDERED_TRACED, o->addresses.count);
    if (r->warp >= o->warps || !take_order_room(o, sizeof step + ACC_LANES * sizeof(uint64_t)) ||
        !keep_addresses(o, r))
        return false;
    if (r->warp != o->warp)
        begin_warp(o, r->warp);
    bool lost = o->lost >> r->warp & 1;
    uint32_t at = lost ? NOWHERE : find_meeting(o, r, record, loop);
    o->lost |= (uint32_t)(at == NOWHERE) << r->warp;
    step.before = at < steps_of_warp(o) ? o->of_warp[o->warp].data[at] : (uint32_t)o->shown.count;
    return wl_push(&o->traced, step);
}

uint32_t replay_ordered_lost(const replay_ordered *o)
{
    return o->lost;
}

/* ---- all of it ---- */

static int by_step_place(const void *a, const void *b)
{
    const ordered_step *x = a, *y = b;
    if (x->before != y->before)
        return x->before < y->before ? -1 : 1;
    return (x->addresses > y->addresses) - (x->addresses < y->addresses); /* as they came */
}

static void play_request(const replay_ordered *o, const ordered_step *s,
                         const replay_ordered_out *out)
{
    uint64_t addr[ACC_LANES] = {0};
    const uint64_t *from = &o->addresses.data[s->addresses];
    for (uint32_t m = s->mask; m; m &= m - 1)
        addr[__builtin_ctz(m)] = *from++;
    acc_request r = {.pc = s->pc,
                     .op = (acc_op)s->op,
                     .space = (acc_space)s->space,
                     .bytes = s->bytes,
                     .flags = s->flags,
                     .mask = s->mask,
                     .warp = s->warp,
                     .addr = addr,
                     .stride = s->stride,
                     .object = s->object};
    (s->kind == ORDERED_TRACED ? out->traced : out->access)(out->ctx, &r);
}

static void play_shown(const replay_ordered *o, const ordered_step *s,
                       const replay_ordered_out *out)
{
    if (s->kind == ORDERED_ENTRY)
        out->enter(out->ctx, s->warp, s->pc, s->mask);
    else if (s->kind == ORDERED_BARRIER)
        out->barrier(out->ctx, s->pc);
    else
        play_request(o, s, out);
}

void replay_ordered_play(replay_ordered *o, const replay_ordered_out *out)
{
    size_t at = 0;
    if (o->traced.count)
        qsort(o->traced.data, o->traced.count, sizeof *o->traced.data, by_step_place);
    for (size_t i = 0; i <= o->shown.count; i++) {
        for (; at < o->traced.count && o->traced.data[at].before == i; at++)
            play_request(o, &o->traced.data[at], out);
        if (i < o->shown.count)
            play_shown(o, &o->shown.data[i], out);
    }
}
