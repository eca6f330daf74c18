/* Barriers of a block and of a cluster. */
#include "emu/ops.h"

static uint32_t operand(const emu_warp *w, emu_ref ref, uint32_t lane)
{
    return ((const uint32_t *)emu_at(w, ref))[lane];
}

/* A warp has arrived when all its living lanes have. */
static void count_warp(const emu_warp *w, emu_barrier *b)
{
    uint32_t bit = 1u << w->index, lanes = b->lanes[w->index];
    if (!(b->counted & bit) && lanes && (lanes & w->live) == w->live) {
        b->counted |= bit;
        b->full++;
    }
}

static bool is_complete(const emu_cta *cta, const emu_barrier *b)
{
    if (!b->busy)
        return false;
    return b->expected ? b->full * EMU_LANES >= b->expected : b->full >= cta->warps_alive;
}

static void give_result(emu_warp *w, const emu_split *s, const emu_insn *in, const emu_barrier *b)
{
    if (in->dst == EMU_NOREF)
        return;
    uint8_t *saved = w->base[EMU_FRAME];
    w->base[EMU_FRAME] = s->frame->registers;
    if (in->imm == EMU_BARRIER_POPC) {
        uint32_t *d = emu_at(w, in->dst);
        for (uint32_t m = s->mask; m; m &= m - 1)
            d[__builtin_ctz(m)] = b->popc;
    } else {
        emu_set_pred(w, in->dst, s->mask,
                     (in->imm == EMU_BARRIER_AND ? b->all : b->any) ? EMU_ALL : 0);
    }
    w->base[EMU_FRAME] = saved;
}

static const emu_insn *barrier_insn(const emu_warp *w, const emu_split *s)
{
    const emu_bb *bb = &w->worker->run->kernel->bbs[s->bb];
    return &bb->first[bb->sync_at];
}

static void show_barrier(const emu_cta *cta, const emu_barrier *b)
{
    const acc_observer *o = cta->worker->run->launch->observer;
    if (cta->observed && o->barrier)
        o->barrier(cta->observed, b->pc);
}

static void release_barrier(emu_cta *cta, uint32_t id)
{
    emu_barrier *b = &cta->barriers[id];
    show_barrier(cta, b);
    for (uint32_t n = 0; n < cta->nwarps; n++) {
        emu_warp *w = &cta->warps[n];
        for (uint32_t k = 0; k < w->nsplits; k++) {
            emu_split *s = &w->splits[k];
            if (s->state != EMU_WAIT_BARRIER || s->barrier != id)
                continue;
            give_result(w, s, barrier_insn(w, s), b);
            s->state = EMU_RUN;
        }
    }
    *b = (emu_barrier){0};
    cta->moved = true;
}

static void arrive_at_barrier(emu_warp *w, const emu_split *s, const emu_insn *in, emu_barrier *b)
{
    if (!b->busy) {
        b->busy = true;
        b->all = true;
    }
    b->lanes[w->index] |= s->mask;
    b->pc = in->pc;
    if (in->imm >= EMU_BARRIER_POPC) {
        uint32_t p = emu_pred(w, in->src[2]) & s->mask;
        b->popc += (uint32_t)__builtin_popcount(p);
        b->all &= p == s->mask;
        b->any |= p != 0;
    }
    count_warp(w, b);
}

bool emu_barrier_arrive(emu_warp *w, emu_split *s, const emu_insn *in)
{
    uint32_t lane = (uint32_t)__builtin_ctz(s->mask), id = operand(w, in->src[0], lane);
    uint32_t expected = in->src[1] == EMU_NOREF ? 0 : operand(w, in->src[1], lane);
    emu_cta *cta = w->cta;
    if (id >= EMU_BARRIERS)
        emu_raise(w, in->pc, EMU_FAULT_ILLEGAL_INSTRUCTION, lane, 0, 0,
                  "uses barrier %u; there are %u", id, EMU_BARRIERS);
    if (expected % EMU_LANES)
        emu_raise(w, in->pc, EMU_FAULT_ILLEGAL_INSTRUCTION, lane, 0, 0,
                  "waits for %u threads at a barrier; the count must be a multiple of %u", expected,
                  EMU_LANES);
    emu_barrier *b = &cta->barriers[id];
    b->expected = expected;
    arrive_at_barrier(w, s, in, b);
    bool waits = in->imm != EMU_BARRIER_ARRIVE;
    if (waits) {
        s->state = EMU_WAIT_BARRIER;
        s->barrier = (uint8_t)id;
    }
    if (is_complete(cta, b))
        release_barrier(cta, id);
    return s->state == EMU_RUN;
}

void emu_barrier_exit(emu_warp *w)
{
    emu_cta *cta = w->cta;
    if (w->live == 0)
        cta->warps_alive--;
    for (uint32_t id = 0; id < EMU_BARRIERS; id++) {
        emu_barrier *b = &cta->barriers[id];
        if (!b->busy)
            continue;
        count_warp(w, b);
        /* Without a count a barrier waits for the living; what a dead warp did no longer matters.
         */
        if (w->live == 0 && !b->expected && b->counted >> w->index & 1) {
            b->counted &= ~(1u << w->index);
            b->full--;
        }
        if (cta->warps_alive && is_complete(cta, b))
            release_barrier(cta, id);
    }
}

/* ---- clusters ---- */

static void complete_phase(emu_cluster *c)
{
    if (c->arrived + c->exited < c->threads || c->arrived == 0)
        return;
    c->arrived = 0;
    c->phase++;
    for (uint32_t k = 0; k < c->nblocks; k++)
        c->blocks[k]->moved = true;
}

void emu_cluster_arrive(emu_warp *w, uint32_t mask)
{
    emu_cluster *c = w->cta->cluster;
    w->cluster_phase = c->phase;
    c->arrived += (uint32_t)__builtin_popcount(mask);
    complete_phase(c);
}

void emu_cluster_exit(emu_warp *w, uint32_t lanes)
{
    emu_cluster *c = w->cta->cluster;
    c->exited += (uint32_t)__builtin_popcount(lanes);
    complete_phase(c);
}

emu_cta *emu_cluster_peer(const emu_cta *cta, uint64_t address, uint64_t *offset)
{
    uint64_t slot = address >> EMU_SHARED_SLOT_BITS;
    *offset = address & ((UINT64_C(1) << EMU_SHARED_SLOT_BITS) - 1);
    return slot >= 1 && slot <= cta->cluster->nblocks ? cta->cluster->blocks[slot - 1] : NULL;
}
