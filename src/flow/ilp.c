/* How much of a basic block can overlap, and what cannot: instruction- and memory-level
 * parallelism and the longest chain of dependences, read off the code. */
#include "flow/kernel.h"
#include "ir/expansion.h"

/* What the results of an instruction are loaded from; of several places the farthest counts. */
typedef enum load_kind {
    LOADS_NOTHING,
    LOADS_CONSTANTS, /* constant memory and parameters */
    LOADS_SHARED,
    LOADS_OFF_CHIP /* global, local and generic memory, textures; atomics with a result */
} load_kind;

typedef struct block_reader {
    const flow_function *f;
    const uint8_t *loads;    /* [ninsns] load_kind */
    const uint8_t *branches; /* [ninsns] has_branches */
    const uint32_t *cycles;  /* [ninsns] cycles_of */
    struct chain *chains;    /* [ninsns] */
    uint32_t *stores;        /* [ninsns] of one that writes global memory: the one before it */
} block_reader;

/* ---- data flow in a block ---- */

/* The instruction in [first, insn) that wrote the value, or FLOW_NONE. */
static uint32_t writer_of(const flow_function *f, uint32_t value, uint32_t first, uint32_t insn)
{
    if (value == FLOW_NONE || f->values[value].kind != FLOW_VALUE_INSN)
        return FLOW_NONE;
    uint32_t writer = f->values[value].insn;
    return writer >= first && writer < insn ? writer : FLOW_NONE;
}

/* Does the instruction read what one of [first, itself) writes? */
static bool depends(const flow_function *f, uint32_t insn, uint32_t first)
{
    for (uint32_t u = f->use_first[insn]; u < f->use_first[insn + 1]; u++)
        if (writer_of(f, f->uses[u].value, first, insn) != FLOW_NONE)
            return true;
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1]; d++)
        if (writer_of(f, f->values[f->defs[d]].old, first, insn) != FLOW_NONE)
            return true;
    return false;
}

/* The instruction of the block that first reads a result of `insn`, or the block's end. */
static uint32_t first_use_in_block(const flow_function *f, uint32_t insn, uint32_t end)
{
    uint32_t first = end;
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1]; d++)
        for (uint32_t u = f->user_first[f->defs[d]]; u < f->user_first[f->defs[d] + 1]; u++)
            if (f->users[u] > insn && f->users[u] < first)
                first = f->users[u];
    return first;
}

/* ---- loads ---- */

static load_kind loads_of_space(ir_space space)
{
    switch (space) {
    case IR_SPACE_GLOBAL:
    case IR_SPACE_GENERIC:
    case IR_SPACE_LOCAL:
    case IR_SPACE_TEX: return LOADS_OFF_CHIP;
    case IR_SPACE_SHARED:
    case IR_SPACE_SHARED_CLUSTER: return LOADS_SHARED;
    case IR_SPACE_CONST:
    case IR_SPACE_PARAM: return LOADS_CONSTANTS;
    default: return LOADS_NOTHING;
    }
}

static load_kind loads_of(const flow_function *f, uint32_t insn)
{
    ir_effect effect = f->effects[insn];
    load_kind farthest = LOADS_NOTHING;
    if (f->def_first[insn] == f->def_first[insn + 1] ||
        (effect != IR_EFFECT_LOAD && effect != IR_EFFECT_ATOMIC && effect != IR_EFFECT_TEXTURE &&
         effect != IR_EFFECT_SURFACE))
        return LOADS_NOTHING;
    if (f->func->insns[insn].op == IR_ldmatrix)
        return LOADS_SHARED; /* also by a generic address */
    for (uint32_t a = f->address_first[insn]; a < f->address_first[insn + 1]; a++) {
        load_kind what = loads_of_space(f->addresses[a].space);
        if ((f->addresses[a].touch & FLOW_READ) && what > farthest)
            farthest = what;
    }
    return farthest;
}

/* ---- order in global memory ---- */

static bool is_global(const flow_address *a)
{
    return a->space == IR_SPACE_GLOBAL || a->space == IR_SPACE_GENERIC;
}

/* The first address in global memory that the instruction touches so; NULL without one. What is
 * loaded as read-only has no part in any order. */
static const flow_address *touches_global(const flow_function *f, uint32_t insn, uint8_t touch)
{
    if (ir_has(&f->func->insns[insn], IR_S_nc))
        return NULL;
    for (uint32_t a = f->address_first[insn]; a < f->address_first[insn + 1]; a++)
        if (is_global(&f->addresses[a]) && (f->addresses[a].touch & touch))
            return &f->addresses[a];
    return NULL;
}

/* Are they for certain bytes that lie apart: at a register, and at other offsets from it? */
static bool lie_apart(const flow_address *a, const flow_address *b)
{
    int64_t distance = (int64_t)(b->operand->imm - a->operand->imm);
    if (a->value == FLOW_NONE || a->value != b->value || !a->bytes || !b->bytes)
        return false;
    return distance >= (int64_t)a->bytes || -distance >= (int64_t)b->bytes;
}

/* Neither the compiler nor the device lets an access go ahead of a store that may be to the same
 * bytes, and the store itself waits for what it stores. The last such store, of those from `last`
 * back, or FLOW_NONE. */
static uint32_t store_before(const block_reader *r, uint32_t insn, uint32_t last)
{
    const flow_address *address = touches_global(r->f, insn, FLOW_READ | FLOW_WRITE);
    uint32_t store = address ? last : FLOW_NONE;
    while (store != FLOW_NONE && lie_apart(touches_global(r->f, store, FLOW_WRITE), address))
        store = r->stores[store];
    return store;
}

/* Does ptxas make it code with branches, though it is none itself? The rare path of a division, or a
 * loop of compare and swap. Loads are not moved ahead of it. */
static bool has_branches(const flow_function *f, uint32_t insn)
{
    double machine[IR_COST_COUNT] = {0};
    if (f->costs[insn] == IR_COST_CONTROL)
        return false;
    ir_add_expansion(&f->func->insns[insn], machine);
    return machine[IR_COST_CONTROL] > 0;
}

/* ---- ILP and MLP ---- */

static void measure_parallelism(const block_reader *r, const flow_block *b, flow_ilp *ilp)
{
    uint32_t end = b->first + b->count, group = b->first;
    for (uint32_t i = b->first; i < end; i++) {
        if (i == b->first || depends(r->f, i, group)) {
            group = i;
            ilp->groups++;
        }
        if (r->loads[i] != LOADS_OFF_CHIP)
            continue;
        ilp->loads++;
        uint32_t use = first_use_in_block(r->f, i, end);
        for (uint32_t k = i; k < use; k++)
            ilp->overlap += r->loads[k] == LOADS_OFF_CHIP;
    }
}

/* ---- the longest chain ---- */

/* Cycles from an instruction's start to that of one that waits for its result. They are those of
 * recent devices in round numbers, and only choose which chain counts as the longest: what it costs
 * on a device is for the model to say. Moves cost nothing, since ptxas removes them; memory and
 * synchronisation without a load have nobody who waits for a result. */
static const uint8_t cycles_of_cost[IR_COST_COUNT] = {
    [IR_COST_INT] = 4,     [IR_COST_FP32] = 4,    [IR_COST_FP64] = 8,    [IR_COST_HALF] = 8,
    [IR_COST_SFU] = 17,    [IR_COST_CONVERT] = 4, [IR_COST_COMPARE] = 4, [IR_COST_CONTROL] = 4,
    [IR_COST_TENSOR] = 25, [IR_COST_WARP] = 24,
};
static const uint8_t cycles_of_load[] = {
    [LOADS_SHARED] = 24,
    [LOADS_OFF_CHIP] = 40, /* found in L1 */
};

/* What ends in an instruction: the longest chain, by cycles and then by instructions, and the most
 * loads on any path. */
typedef struct chain {
    uint32_t cycles, insns;
    uint32_t before; /* the instruction before this one on the chain, or FLOW_NONE */
    uint32_t off_chip, shared;
} chain;

static bool is_longer(const chain *a, const chain *b)
{
    return a->cycles != b->cycles ? a->cycles > b->cycles : a->insns > b->insns;
}

static uint32_t cycles_of(const flow_function *f, uint32_t insn)
{
    double machine[IR_COST_COUNT] = {0}, cycles = 0;
    ir_add_expansion(&f->func->insns[insn], machine);
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        cycles += machine[cost] * cycles_of_cost[cost];
    return (uint32_t)(cycles + 0.5);
}

static void wait_for(const block_reader *r, uint32_t insn, uint32_t before)
{
    chain *c = &r->chains[insn];
    if (before == FLOW_NONE)
        return;
    const chain *b = &r->chains[before];
    if (c->before == FLOW_NONE || is_longer(b, &r->chains[c->before]))
        c->before = before;
    c->off_chip = b->off_chip > c->off_chip ? b->off_chip : c->off_chip;
    c->shared = b->shared > c->shared ? b->shared : c->shared;
}

/* The last instructions of their kinds so far, or FLOW_NONE. */
typedef struct last_seen {
    uint32_t store, branches;
} last_seen;

/* What stands before branches and reads what was loaded is not moved past them, so that they wait
 * for all that has begun since the last ones but for loads. */
static void wait_for_region(const block_reader *r, uint32_t insn, uint32_t first)
{
    for (uint32_t i = first; i < insn; i++)
        if (r->loads[i] <= LOADS_CONSTANTS)
            wait_for(r, insn, i);
}

static void wait_in_order(const block_reader *r, uint32_t insn, uint32_t first,
                          const last_seen *last)
{
    wait_for(r, insn, store_before(r, insn, last->store));
    if (r->loads[insn] > LOADS_CONSTANTS || r->branches[insn] ||
        touches_global(r->f, insn, FLOW_WRITE))
        wait_for(r, insn, last->branches);
    if (r->branches[insn])
        wait_for_region(r, insn, last->branches == FLOW_NONE ? first : last->branches);
}

static void note_last(const block_reader *r, uint32_t insn, last_seen *last)
{
    if (touches_global(r->f, insn, FLOW_WRITE)) {
        r->stores[insn] = last->store;
        last->store = insn;
    }
    if (r->branches[insn])
        last->branches = insn;
}

static void end_chain(const block_reader *r, uint32_t insn, uint32_t first, const last_seen *last)
{
    const flow_function *f = r->f;
    chain *c = &r->chains[insn];
    *c = (chain){.before = FLOW_NONE};
    for (uint32_t u = f->use_first[insn]; u < f->use_first[insn + 1]; u++)
        wait_for(r, insn, writer_of(f, f->uses[u].value, first, insn));
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1]; d++)
        wait_for(r, insn, writer_of(f, f->values[f->defs[d]].old, first, insn));
    wait_in_order(r, insn, first, last);
    load_kind load = (load_kind)r->loads[insn];
    c->cycles = load ? cycles_of_load[load] : r->cycles[insn];
    c->insns = 1;
    c->off_chip += load == LOADS_OFF_CHIP;
    c->shared += load == LOADS_SHARED;
    if (c->before != FLOW_NONE) {
        c->cycles += r->chains[c->before].cycles;
        c->insns += r->chains[c->before].insns;
    }
}

/* Who waits for a load waits for nothing else that it becomes. */
static void add_link(const block_reader *r, uint32_t insn, flow_ilp *ilp)
{
    ilp->chain[r->f->costs[insn]]++;
    if (!r->loads[insn])
        ir_add_expansion(&r->f->func->insns[insn], ilp->machine);
}

static void measure_chain(const block_reader *r, const flow_block *b, flow_ilp *ilp)
{
    uint32_t last = b->first;
    last_seen seen = {FLOW_NONE, FLOW_NONE};
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        end_chain(r, i, b->first, &seen);
        note_last(r, i, &seen);
        const chain *c = &r->chains[i];
        last = is_longer(c, &r->chains[last]) ? i : last;
        ilp->chain_loads = c->off_chip > ilp->chain_loads ? c->off_chip : ilp->chain_loads;
        ilp->chain_shared = c->shared > ilp->chain_shared ? c->shared : ilp->chain_shared;
    }
    for (uint32_t i = b->count ? last : FLOW_NONE; i != FLOW_NONE; i = r->chains[i].before)
        add_link(r, i, ilp);
}

/* ---- the pass ---- */

static void measure_function(flow_kernel *k, flow_function *f)
{
    uint32_t n = f->func->ninsns;
    uint8_t *what = flow_new(&k->mem, uint8_t, n), *branches = flow_new(&k->mem, uint8_t, n);
    uint32_t *cycles = flow_new(&k->mem, uint32_t, n);
    const block_reader r = {
        f, what, branches, cycles, flow_new(&k->mem, chain, n), flow_new(&k->mem, uint32_t, n)};
    f->costs = flow_new(&k->mem, uint8_t, n);
    for (uint32_t i = 0; i < n; i++) {
        f->costs[i] = (uint8_t)ir_insn_cost(&f->func->insns[i]);
        what[i] = (uint8_t)loads_of(f, i);
        branches[i] = has_branches(f, i);
        cycles[i] = cycles_of(f, i);
    }
    f->ilp = flow_new(&k->mem, flow_ilp, f->nblocks);
    for (uint32_t b = 0; b < f->nblocks; b++) {
        f->ilp[b].insns = f->blocks[b].count;
        measure_parallelism(&r, &f->blocks[b], &f->ilp[b]);
        measure_chain(&r, &f->blocks[b], &f->ilp[b]);
    }
}

/* Needs: cfg, values. Fills: costs, ilp. */
void flow_pass_ilp(flow_kernel *k)
{
    for (uint32_t i = 0; i < k->code->count; i++)
        measure_function(k, &k->funcs[i]);
}
