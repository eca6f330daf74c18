/* What lies behind a kernel's branches that data decides. */
#include "replay/ordered.h"

#include "flow/kernel.h"

enum {
    MOST_BITS = 1 << 30,
    MOST_BLOCKS = 1024 /* of a function, of which is found what may follow what */
};

static void set_door_bit(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has_door_bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}

/* ---- the way of a branch ---- */

typedef struct way {
    const flow_kernel *flow;
    const flow_proof *proof;
    uint64_t *behind;
} way;

static void mark_whole_function(const way *w, uint32_t index);

/* The functions that a call may lead to. */
static void mark_called(const way *w, const ir_insn *call)
{
    uint32_t callee = flow_callee(w->flow, call);
    if (callee != FLOW_NONE)
        mark_whole_function(w, callee);
    for (uint32_t f = 0; callee == FLOW_NONE && f < w->flow->code->count; f++)
        if (w->flow->funcs[f].pointed)
            mark_whole_function(w, f);
}

static void mark_insn(const way *w, const flow_function *f, uint32_t insn)
{
    set_door_bit(w->behind, f->first_pc + insn);
    if (f->func->insns[insn].op == IR_call)
        mark_called(w, &f->func->insns[insn]);
}

static void mark_whole_function(const way *w, uint32_t index)
{
    const flow_function *f = &w->flow->funcs[index];
    if (!f->func->ninsns || has_door_bit(w->behind, f->first_pc))
        return;
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        set_door_bit(w->behind, f->first_pc + i); /* before what it calls, which may call it */
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        mark_insn(w, f, i);
}

/* All blocks from `block` on, up to where the branch's ways join again. */
static void mark_blocks_behind(const way *w, const flow_function *f, uint32_t block,
                               uint32_t rejoin)
{
    if (block == rejoin || block >= f->nblocks || !f->blocks[block].count ||
        has_door_bit(w->behind, f->first_pc + f->blocks[block].first))
        return;
    for (uint32_t i = 0; i < f->blocks[block].count; i++)
        mark_insn(w, f, f->blocks[block].first + i);
    for (uint32_t i = f->graph.succ_first[block]; i < f->graph.succ_first[block + 1]; i++)
        mark_blocks_behind(w, f, f->graph.succ[i], rejoin);
}

static void mark_way(const way *w, uint32_t pc)
{
    ir_place at = ir_kernel_at(w->flow->code, pc);
    const flow_function *f = &w->flow->funcs[at.index];
    uint32_t rejoin = w->proof->rejoin[pc], block = f->block_of[pc - f->first_pc];
    if (at.insn->op == IR_call) {
        mark_called(w, at.insn);
        return;
    }
    rejoin = rejoin - f->first_pc < f->func->ninsns ? f->block_of[rejoin - f->first_pc] : FLOW_NONE;
    for (uint32_t i = f->graph.succ_first[block]; i < f->graph.succ_first[block + 1]; i++)
        mark_blocks_behind(w, f, f->graph.succ[i], rejoin);
}

/* ---- what may follow what behind it ---- */

typedef struct follower { /* of one branch */
    const flow_function *f;
    const uint64_t *behind;
    uint64_t *reached; /* [nblocks] bits */
} follower;

/* Blocks that are reached from `block` on without leaving what is behind the branch. */
static void follow_blocks(const follower *w, uint32_t block)
{
    const flow_function *f = w->f;
    if (block >= f->nblocks || has_door_bit(w->reached, block) ||
        !has_door_bit(w->behind, f->first_pc + f->blocks[block].first))
        return;
    set_door_bit(w->reached, block);
    for (uint32_t i = f->graph.succ_first[block]; i < f->graph.succ_first[block + 1]; i++)
        follow_blocks(w, f->graph.succ[i]);
}

static void follow_block(const follower *w, uint32_t block)
{
    for (uint32_t i = w->f->graph.succ_first[block]; i < w->f->graph.succ_first[block + 1]; i++)
        follow_blocks(w, w->f->graph.succ[i]);
}

/* From where the innermost loop around the block is left; from the block itself where there is none. */
static void follow_loop(const follower *w, uint32_t block)
{
    const flow_function *f = w->f;
    uint32_t loop = f->loops.of[block];
    if (loop == FLOW_NONE) {
        follow_block(w, block);
        return;
    }
    for (uint32_t n = 0; n < f->loops.loops[loop].count; n++) {
        uint32_t node = f->loops.nodes[f->loops.loops[loop].first + n];
        for (uint32_t i = f->graph.succ_first[node]; i < f->graph.succ_first[node + 1]; i++)
            if (!flow_in_loop(&f->loops, loop, f->graph.succ[i]))
                follow_blocks(w, f->graph.succ[i]);
    }
}

/* False: there is no memory. */
static bool find_followers(const flow_kernel *flow, const uint64_t *behind, uint32_t pc,
                           wl_arena *arena, replay_door *out)
{
    const flow_function *f = &flow->funcs[ir_kernel_at(flow->code, pc).index];
    size_t words = f->nblocks / 64 + 1;
    *out = (replay_door){.first_pc = f->first_pc,
                         .npcs = f->func->ninsns,
                         .words = (uint32_t)words,
                         .block_of = f->block_of};
    if (f->nblocks > MOST_BLOCKS)
        return true;
    out->after = wl_new_array(arena, uint64_t, 2 * words * f->nblocks + 1);
    for (uint32_t b = 0; out->after && b < f->nblocks; b++) {
        uint64_t *row = &out->after[2 * words * b];
        if (!f->blocks[b].count || !has_door_bit(behind, f->first_pc + f->blocks[b].first))
            continue;
        follow_block(&(follower){f, behind, row}, b);
        follow_loop(&(follower){f, behind, row + words}, b);
    }
    return out->after != NULL;
}

/* ---- all of a kernel ---- */

static bool is_door(const replay_facts *facts, uint32_t pc)
{
    uint8_t flags = facts->proof.flags[pc];
    return flags & FLOW_PC_UNKNOWN && flags & FLOW_PC_COUNTED;
}

/* Of a basic block that the slice shows, else of one before it: of a guarded exit, which stands
 * alone, that from which one comes to it. */
static void put_door(replay_doors *d, const emu_kernel *slice, uint32_t pc, uint32_t door)
{
    while (pc && !d->shown[pc])
        pc--;
    uint32_t block = emu_kernel_code(slice, pc).block;
    for (uint32_t i = pc;; i--) {
        if (emu_kernel_code(slice, i).block != block)
            return;
        d->door_of[i] = door + 1;
        if (i == 0)
            return;
    }
}

static void find_shown(replay_doors *d, const emu_kernel *slice, uint32_t npcs)
{
    for (uint32_t first = 0, end; first < npcs; first = end) {
        uint32_t block = emu_kernel_code(slice, first).block;
        bool all = true;
        for (end = first; end < npcs && emu_kernel_code(slice, end).block == block; end++)
            all &= emu_slice_counts(slice, end);
        for (uint32_t pc = first; pc < end; pc++)
            d->shown[pc] = all;
    }
}

static bool find_doors(replay_doors *d, const replay_facts *facts, const emu_kernel *slice)
{
    uint32_t npcs = facts->proof.npcs, door = 0;
    flow_kernel *flow = flow_kernel_new(&facts->code, d->arena);
    if (!flow || flow_run(flow, FLOW_PASS_cfg) != WL_OK)
        return false;
    for (uint32_t pc = 0; pc < npcs; pc++)
        d->count += is_door(facts, pc);
    if ((uint64_t)d->count * npcs > MOST_BITS)
        return false;
    d->words = npcs / 64 + 1;
    d->npcs = npcs;
    d->shown = wl_new_array(d->arena, uint8_t, npcs + 1);
    d->door_of = wl_new_array(d->arena, uint32_t, npcs + 1);
    d->behind = wl_new_array(d->arena, uint64_t, (size_t)d->count * d->words + 1);
    d->doors = wl_new_array(d->arena, replay_door, d->count + 1);
    if (!d->shown || !d->door_of || !d->behind || !d->doors)
        return false;
    find_shown(d, slice, npcs);
    for (uint32_t pc = 0; pc < npcs; pc++) {
        if (!is_door(facts, pc))
            continue;
        way w = {flow, &facts->proof, &d->behind[(size_t)door * d->words]};
        mark_way(&w, pc);
        if (!find_followers(flow, w.behind, pc, d->arena, &d->doors[door]))
            return false;
        put_door(d, slice, pc, door++);
    }
    return true;
}

void replay_doors_clear(replay_doors *d)
{
    wl_arena_free(d->arena);
    *d = (replay_doors){0};
}

bool replay_doors_find(replay_doors *d, const replay_facts *facts, const emu_kernel *slice)
{
    if (!d->tried) {
        d->arena = wl_arena_new();
        if (!d->arena || !find_doors(d, facts, slice))
            replay_doors_clear(d);
    }
    d->tried = true;
    return d->arena != NULL;
}

bool replay_door_leads_to(const replay_doors *d, uint32_t from, uint32_t pc)
{
    uint32_t door = d->door_of[from];
    return door && has_door_bit(&d->behind[(size_t)(door - 1) * d->words], pc);
}

bool replay_door_follows(const replay_doors *d, uint32_t from, uint32_t pc, bool loop,
                         uint32_t next)
{
    const replay_door *door = &d->doors[d->door_of[from] - 1];
    if (!door->after || pc - door->first_pc >= door->npcs || next - door->first_pc >= door->npcs)
        return true;
    uint32_t a = door->block_of[pc - door->first_pc], b = door->block_of[next - door->first_pc];
    const uint64_t *row = &door->after[2 * (size_t)door->words * a];
    return (a == b && next > pc && !loop) || has_door_bit(loop ? row + door->words : row, b);
}
