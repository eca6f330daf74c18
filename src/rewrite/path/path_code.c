/* path: the thread's hash and count, and what they say of its warp where it ends.
 *
 * Needs: the pass points. Keeps: everything. Buffers: a slot for each warp of the grid.
 *
 * An iteration of a loop costs one instruction where its blocks always run together, two where they
 * do not. Lanes that end together are combined in registers, and where they are the whole warp, one
 * of them writes the slot; else they add what they have to it. */
#include "rewrite/code/body.h"

#include "ir/blocks.h"

#include <stddef.h>

/* ---- registers ---- */

static rw_reg path_turns_register(uint32_t loop)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "loop_turns", .number = loop};
}

/* Calls `each` for the loops of the copy's function whose turns are counted. */
static void each_counted_loop(rw_body *b, void (*each)(rw_body *b, uint32_t loop))
{
    const rw_path_plan *plan = b->plan->path;
    uint32_t end = b->f->first_pc + b->f->func->ninsns;
    for (uint32_t i = plan->first_at[b->f->first_pc]; i < plan->first_at[end]; i++)
        if (plan->steps[i].kind == REWRITE_PATH_TURN)
            each(b, plan->steps[i].loop);
}

static void declare_path_turns(rw_body *b, uint32_t loop)
{
    rw_declare(b, RW_B32, "loop_turns", loop);
}

static void clear_path_turns(rw_body *b, uint32_t loop)
{
    rw_do(b, mov_u32, path_turns_register(loop), rw_number(0));
}

static void declare_path(rw_body *b)
{
    b->path = (rw_path_code){.hash = rw_declare(b, RW_B32, "hash", IR_NONE),
                             .count = rw_declare(b, RW_B32, "insns", IR_NONE)};
    each_counted_loop(b, declare_path_turns);
}

static void enter_path(rw_body *b)
{
    if (b->index == 0) {
        rw_do(b, mov_u32, b->path.hash, rw_number(0));
        rw_do(b, mov_u32, b->path.count, rw_number(0));
    }
    each_counted_loop(b, clear_path_turns);
}

enum { HASH_AT = 24, COUNT_AT = 28 /* in the kernel's frame */ };

void rw_keep_path(rw_body *b)
{
    rw_do(b, st_local_u32, rw_at(b->frame, HASH_AT), b->path.hash);
    rw_do(b, st_local_u32, rw_at(b->frame, COUNT_AT), b->path.count);
}

void rw_restore_path(rw_body *b)
{
    rw_do(b, ld_local_u32, b->path.hash, rw_at(b->frame, HASH_AT));
    rw_do(b, ld_local_u32, b->path.count, rw_at(b->frame, COUNT_AT));
}

/* ---- steps ---- */

static void print_path_step(rw_body *b, const rewrite_path_step *s)
{
    const rw_path_code *p = &b->path;
    rw_reg turns = path_turns_register(s->loop);
    switch (s->kind) {
    case REWRITE_PATH_TURN: rw_do(b, add_u32, turns, turns, rw_number(1)); return;
    case REWRITE_PATH_FOLD:
        rw_do(b, mad_lo_u32, p->count, turns, rw_number(s->add), p->count);
        if (s->less)
            rw_do(b, sub_u32, p->count, p->count, rw_number(s->less));
        clear_path_turns(b, s->loop);
        break;
    default: rw_do(b, add_u32, p->count, p->count, rw_number(s->add)); break;
    }
    if (s->kind != REWRITE_PATH_COUNT)
        rw_do(b, mad_lo_u32, p->hash, p->hash, rw_number(s->factor), p->count);
}

static void follow_path(rw_body *b, uint32_t insn)
{
    const rw_path_plan *plan = b->plan->path;
    uint32_t pc = b->f->first_pc + insn;
    if (ir_stands_alone(&b->f->func->insns[insn]))
        return;
    for (uint32_t i = plan->first_at[pc]; i < plan->first_at[pc + 1]; i++)
        print_path_step(b, &plan->steps[i]);
}

/* An instruction that only lanes with a true guard run is counted by them. */
static void count_alone(rw_body *b, uint32_t insn)
{
    const ir_insn *i = &b->f->func->insns[insn];
    if (!ir_stands_alone(i))
        return;
    rw_opd guard = rw_kernels(b, i->guard);
    guard.negated = i->guard_neg;
    rw_when(b, guard, add_u32, b->path.count, b->path.count, rw_number(1));
}

/* ---- where the thread ends ---- */

typedef struct mixed {
    rw_reg low, high;
} mixed;

static void xor_shifted(rw_body *b, rw_reg x, int64_t shift)
{
    rw_do(b, xor_b32, x, x, rw_get(b, shr_u32, x, rw_number(shift)));
}

/* mix_lane() of lanes.c. */
static mixed mix(rw_body *b)
{
    rw_reg x = rw_get(b, mad_lo_u32, b->lane, rw_number(RW_MIX_LANE), b->path.hash);
    xor_shifted(b, x, RW_MIX_SHIFT_1);
    rw_do(b, mul_lo_u32, x, x, rw_number(RW_MIX_1));
    rw_reg y = rw_get(b, add_u32, b->path.count, x);
    xor_shifted(b, y, RW_MIX_SHIFT_2);
    rw_do(b, mul_lo_u32, y, y, rw_number(RW_MIX_2));
    rw_do(b, add_u32, x, x, y);
    xor_shifted(b, x, RW_MIX_SHIFT_3);
    rw_do(b, mul_lo_u32, x, x, rw_number(RW_MIX_3));
    rw_do(b, add_u32, y, y, x);
    xor_shifted(b, y, RW_MIX_SHIFT_4);
    return (mixed){x, y};
}

/* The warp's slot; *there: there are slots. Functions do not see the kernel's parameters. */
static rw_reg find_warp_slot(rw_body *b, rw_reg *there)
{
    rw_reg paths, warps;
    if (b->index == 0) {
        paths = rw_get(b, ld_param_u64, rw_in_param(offsetof(rewrite_param, paths)));
        warps = rw_get(b, ld_param_u32, rw_in_param(offsetof(rewrite_param, warps)));
    } else {
        paths = rw_get(b, ld_global_u64, rw_at(b->state, offsetof(rewrite_state, paths)));
        warps = rw_get(b, ld_global_u32, rw_at(b->state, offsetof(rewrite_state, warps)));
    }
    *there = rw_get(b, setp_ne_u64, paths, rw_number(0));
    rw_reg block = rw_low_block(b), warp = rw_linear_warp(b);
    rw_do(b, mad_lo_u32, warp, block, warps, warp);
    return rw_get(b, mad_wide_u32, warp, rw_number(sizeof(rewrite_warp_slot)), paths);
}

/* Lane by lane, where there is no redux.sync. */
static void publish_each_lane(rw_body *b, mixed m, rw_reg slot, rw_reg there)
{
    enum { MOST = offsetof(rewrite_warp_slot, most), SUM = offsetof(rewrite_warp_slot, sum) };
    rw_when(b, there, red_global_xor_b32, rw_at(slot, 0), m.low);
    rw_when(b, there, red_global_xor_b32, rw_at(slot, 4), m.high);
    rw_when(b, there, red_global_max_u32, rw_at(slot, MOST), b->path.count);
    rw_when(b, there, red_global_add_u32, rw_at(slot, SUM), b->path.count);
}

/* Lanes that end together; one of them for all. */
static void publish_lanes(rw_body *b, mixed m, rw_reg slot, rw_reg there)
{
    rw_active(b);
    rw_reg active = b->warp.active;
    rw_do(b, redux_sync_xor_b32, m.low, m.low, active);
    rw_do(b, redux_sync_xor_b32, m.high, m.high, active);
    rw_reg most = rw_get(b, redux_sync_max_u32, b->path.count, active);
    rw_reg sum = rw_get(b, redux_sync_add_u32, b->path.count, active);
    rw_reg below = rw_get(b, mov_u32, rw_sreg("%lanemask_lt"));
    rw_do(b, and_b32, below, below, active);
    rw_reg leads = rw_get(b, setp_eq_and_u32, below, rw_number(0), there);
    rw_reg all = rw_get(b, setp_eq_and_u32, active, rw_number(-1), leads);
    rw_reg some = rw_get(b, setp_ne_and_u32, active, rw_number(-1), leads);
    rw_reg hash = rw_get(b, mov_b64__join, m.low, m.high),
           counts = rw_get(b, mov_b64__join, most, sum);
    rw_when(b, all, st_global_v2_b64, rw_at(slot, 0), hash, counts);
    rw_when(b, some, red_global_xor_b64, rw_at(slot, 0), hash);
    rw_when(b, some, red_global_max_u32, rw_at(slot, 8), most);
    rw_when(b, some, red_global_add_u32, rw_at(slot, 12), sum);
}

static void leave_path(rw_body *b)
{
    rw_reg there;
    if (b->leaving == RW_CALLS || (b->leaving == RW_RETURNS && b->index != 0))
        return;
    mixed m = mix(b);
    rw_reg slot = find_warp_slot(b, &there);
    if (rw_can_reduce(b->plan->module))
        publish_lanes(b, m, slot, there);
    else
        publish_each_lane(b, m, slot, there);
}

const rw_emitter rw_emitter_path = {.probes = 1u << REWRITE_PATH,
                                    .declare = declare_path,
                                    .enter = enter_path,
                                    .begin = follow_path,
                                    .before = count_alone,
                                    .leave = leave_path};
