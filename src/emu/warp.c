/* Running a warp: its splits, their order, how they part and meet.
 *
 * A split is a set of lanes at one place. The split furthest behind in program order (order.c)
 * runs, basic block by basic block, until it stands where another one does, or another one is
 * behind, or it has to wait. */
#include "emu/builtin.h"
#include "emu/handlers.h"
#include "emu/ops.h"

enum {
    QUANTUM = 1 << 16,   /* back edges between two looks around */
    SPIN_COST = 1 << 10, /* of a back edge in a loop that may be waiting */
    PART_COST = 1 << 6, /* the same where lanes of the warp stand elsewhere: they should meet rather
                           than pass */
    MAX_DEPTH = 1 << 13, /* of calls */
    TOKEN_STEP = 16
};

static inline const emu_kernel *warp_kernel(const emu_warp *w)
{
    return w->worker->run->kernel;
}

static inline void show_entry(const emu_warp *w, const emu_bb *bb, uint32_t mask)
{
    if (w->cta->entered && bb->shown)
        w->worker->run->launch->observer->enter(w->cta->entered, w->index, bb->first_pc, mask);
}

static inline void count_block_run(emu_warp *w, const emu_bb *bb, uint32_t index, uint32_t mask)
{
    emu_block_count *c = &w->worker->counts[index];
    c->executions++;
    c->lanes += (uint32_t)__builtin_popcount(mask);
    w->instructions += bb->ninsns;
}

/* ---- frames ---- */

static emu_frame *new_frame(emu_worker *worker, const emu_function *function)
{
    emu_frame *frame = worker->free_frames[function->index];
    if (frame) {
        worker->free_frames[function->index] = frame->parent;
    } else {
        size_t bytes = (sizeof *frame + function->frame_bytes + 63) & ~(size_t)63;
        frame = aligned_alloc(64, bytes);
        if (!frame)
            return NULL;
    }
    memset(frame, 0, sizeof *frame);
    frame->function = function;
    frame->users = 1;
    for (uint32_t k = 0; k < function->nzero; k++)
        memset(frame->registers + function->zero[k].offset, 0, function->zero[k].bytes);
    return frame;
}

static void leave_frame(emu_warp *w, emu_frame *frame)
{
    while (frame && --frame->users == 0) {
        emu_frame *parent = frame->parent;
        uint32_t index = frame->function->index;
        frame->parent = w->worker->free_frames[index];
        w->worker->free_frames[index] = frame;
        frame = parent;
    }
}

static void set_local_addresses(emu_frame *frame)
{
    const emu_function *f = frame->function;
    for (uint32_t k = 0; k < f->nlocals; k++) {
        uint64_t *v = (uint64_t *)(void *)(frame->registers + EMU_REF_OFFSET(f->locals[k].ref));
        for (int i = 0; i < EMU_LANES; i++)
            v[i] = frame->local_base + f->locals[k].offset;
    }
}

void emu_warp_start(emu_warp *w)
{
    const emu_kernel *k = warp_kernel(w);
    emu_frame *frame = new_frame(w->worker, &k->functions[0]);
    w->live = w->lanes;
    w->dead = ~w->live;
    w->carry = 0;
    w->budget = QUANTUM;
    w->spinning = w->spun = false;
    w->nsplits = 1;
    w->current = 0;
    w->splits[0] = (emu_split){.mask = w->lanes, .bb = k->functions[0].entry, .frame = frame};
    if (!frame) {
        w->nsplits = 0;
        emu_raise(w, 0, EMU_FAULT_HOST_MEMORY, 0, 0, 0, "needs memory for its registers");
    }
    frame->local_top = k->functions[0].local_bytes;
}

void emu_warp_abandon(emu_warp *w)
{
    for (uint32_t s = 0; s < w->nsplits; s++)
        leave_frame(w, w->splits[s].frame);
    w->nsplits = 0;
}

/* ---- order ---- */

static inline uint32_t order_of(const emu_warp *w, uint32_t bb)
{
    return warp_kernel(w)->bbs[bb].order;
}

/* Whether split a is behind split b: their call chains are compared from the kernel down. Where one
 * stands at a call and the other is inside of it, the one at the call is behind. */
static bool precedes(const emu_warp *w, const emu_split *a, const emu_split *b)
{
    const emu_frame *fa = a->frame, *fb = b->frame;
    uint32_t at_a = a->bb, at_b = b->bb;
    bool tie = fa->depth < fb->depth;
    while (fa->depth > fb->depth) {
        at_a = fa->call_bb;
        fa = fa->parent;
    }
    while (fb->depth > fa->depth) {
        at_b = fb->call_bb;
        fb = fb->parent;
    }
    while (fa != fb) {
        const emu_frame *pa = fa->parent, *pb = fb->parent;
        if (pa == pb && fa->call_bb == fb->call_bb && fa->function == fb->function)
            break;
        at_a = fa->call_bb;
        at_b = fb->call_bb;
        fa = pa;
        fb = pb;
    }
    uint32_t oa = order_of(w, at_a), ob = order_of(w, at_b);
    return oa != ob ? oa < ob : tie;
}

static bool waits_for_lanes(const emu_split *s)
{
    return s->state == EMU_WAIT_WARP || s->state == EMU_WAIT_MEET;
}

static bool runnable(const emu_split *s)
{
    return s->state == EMU_RUN && !s->demoted;
}

/* The split that is furthest behind of those that can run; nsplits without one. */
static uint32_t choose_split(const emu_warp *w)
{
    uint32_t best = w->nsplits;
    for (uint32_t s = 0; s < w->nsplits; s++)
        if (runnable(&w->splits[s]) &&
            (best == w->nsplits || precedes(w, &w->splits[s], &w->splits[best])))
            best = s;
    return best;
}

/* Up to where the current split can run without looking at the others. */
static void find_stop(emu_warp *w)
{
    const emu_split *s = &w->splits[w->current];
    w->stop = UINT32_MAX;
    for (uint32_t o = 0; o < w->nsplits; o++) {
        const emu_split *other = &w->splits[o];
        if (o == w->current || (other->state != EMU_RUN && !waits_for_lanes(other)))
            continue;
        uint32_t at = other->frame == s->frame ? order_of(w, other->bb) : 0;
        w->stop = at < w->stop ? at : w->stop;
    }
}

/* ---- parting and meeting ---- */

static void add_split(emu_warp *w, const emu_split *like, uint32_t mask, uint32_t bb)
{
    emu_split *s = &w->splits[w->nsplits++];
    *s = (emu_split){.mask = mask, .bb = bb, .frame = like->frame};
    s->frame->users++;
}

static void remove_split(emu_warp *w, uint32_t index)
{
    uint32_t last = --w->nsplits;
    if (index != last)
        w->splits[index] = w->splits[last];
    if (w->current == last)
        w->current = index;
}

void emu_wake_lanes(emu_warp *w)
{
    for (uint32_t s = 0; s < w->nsplits; s++)
        if (waits_for_lanes(&w->splits[s]))
            w->splits[s].state = EMU_RUN;
}

/* The lanes that a split waits for at its bsync. */
static uint32_t meeting_of(const emu_warp *w, const emu_split *s)
{
    const emu_bb *bb = &warp_kernel(w)->bbs[s->bb];
    return w->meeting[bb->first[bb->sync_at].imm][__builtin_ctz(s->mask)];
}

/* Whether lanes that stand at one place there run together from then on. An H200 takes up together what branches left
 * there one after the other, and nothing that came by itself. */
static bool is_meeting(const emu_warp *w, const emu_split *a, const emu_split *b)
{
    ir_wait entry = warp_kernel(w)->bbs[a->bb].entry;
    if (!warp_kernel(w)->diverges || entry == IR_WAIT_WARP || (a->left && a->left == b->left))
        return true;
    return entry == IR_WAIT_MEET && !a->passed && meeting_of(w, a) == meeting_of(w, b);
}

static bool can_join(const emu_warp *w, const emu_split *a, const emu_split *b)
{
    bool waits = b->state == EMU_RUN || waits_for_lanes(b);
    return a->frame == b->frame && a->bb == b->bb && a->passed == b->passed && a->skip == b->skip &&
           waits && is_meeting(w, a, b);
}

/* Joins the current split with all that stand where it does. True where another split has to run
 * first. */
static bool join_splits_here(emu_warp *w)
{
    for (uint32_t o = 0; o < w->nsplits;) {
        emu_split *s = &w->splits[w->current], *other = &w->splits[o];
        if (o == w->current || !can_join(w, s, other)) {
            o++;
            continue;
        }
        s->mask |= other->mask;
        leave_frame(w, other->frame);
        remove_split(w, o);
    }
    const emu_split *s = &w->splits[w->current];
    for (uint32_t o = 0; o < w->nsplits; o++)
        if (o != w->current && runnable(&w->splits[o]) && precedes(w, &w->splits[o], s))
            return true;
    find_stop(w);
    return false;
}

/* ---- instructions that need other lanes of the warp ---- */

static bool is_uniform(const uint32_t *v, uint32_t mask)
{
    u8 differs[EMU_LANES];
    const u32 first = v[__builtin_ctz(mask)];
    EACH_LANE
    differs[i] = v[i] != first;
    return (emu_pack(differs) & mask) == 0;
}

static uint32_t same_members(const uint32_t *v, uint32_t mask)
{
    u8 same[EMU_LANES];
    const u32 first = v[__builtin_ctz(mask)];
    EACH_LANE
    same[i] = v[i] == first;
    return emu_pack(same) & mask;
}

typedef enum step { GO, SKIP, SWITCH } step;

/* Each lane that waits has to name itself: what else it would wait for never comes. */
static void check_members(emu_warp *w, const emu_insn *in, const uint32_t *members, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!(members[lane] >> lane & 1))
            emu_raise(w, in->pc, EMU_FAULT_ILLEGAL_INSTRUCTION, lane, 0, 0,
                      "lane %u of warp %u names the lanes 0x%08x, and not itself; a lane has to be "
                      "in its own mask, else CUDA does not define what happens",
                      lane, w->index, members[lane]);
    }
}

/* Lanes with different member masks part; each group waits for its own lanes. */
static step part_by_members(emu_warp *w, emu_split *s, const emu_insn *in, const uint32_t *members)
{
    check_members(w, in, members, s->mask);
    s->state = EMU_WAIT_WARP;
    for (;;) {
        uint32_t group = same_members(members, s->mask);
        if (group == s->mask)
            break;
        add_split(w, s, group, s->bb);
        w->splits[w->nsplits - 1].state = EMU_WAIT_WARP;
        s->mask &= ~group;
    }
    return SWITCH;
}

/* Every group of lanes that name the same members is complete: the instruction runs for each of
 * them in turn. */
static bool run_groups(emu_warp *w, emu_split *s, const emu_insn *in, const uint32_t *members)
{
    uint32_t copy[EMU_LANES];
    memcpy(copy, members, sizeof copy);
    for (uint32_t rest = s->mask, group; rest; rest &= ~group) {
        group = same_members(copy, rest);
        if (copy[__builtin_ctz(group)] & w->live & ~group)
            return false;
    }
    for (uint32_t rest = s->mask, group; rest; rest &= ~group) {
        group = same_members(copy, rest);
        in->fn[0](w, in, group);
    }
    return true;
}

static step enter_warp(emu_warp *w, emu_split *s, const emu_insn *in)
{
    if (in->src[3] == EMU_NOREF)
        return GO;
    const uint32_t *members = emu_at(w, in->src[3]);
    if (EMU_REF_BASE(in->src[3]) != EMU_LAUNCH && !is_uniform(members, s->mask)) {
        if (!run_groups(w, s, in, members))
            return part_by_members(w, s, in, members);
        s->skip = (uint32_t)(in - warp_kernel(w)->bbs[s->bb].first) + 2;
        return GO;
    }
    if (members[__builtin_ctz(s->mask)] & w->live & ~s->mask) {
        s->state = EMU_WAIT_WARP;
        return SWITCH;
    }
    return GO;
}

/* ---- the same instruction at different places: lanes meet for it alone ---- */

static const emu_insn *waits_for(const emu_warp *w, const emu_split *s)
{
    const emu_bb *bb = &warp_kernel(w)->bbs[s->bb];
    return &bb->first[bb->sync_at];
}

static uint32_t members_of(emu_warp *w, const emu_split *s)
{
    w->base[EMU_FRAME] = s->frame->registers;
    return ((const uint32_t *)emu_at(w, waits_for(w, s)->src[3]))[__builtin_ctz(s->mask)];
}

/* Moves lanes of one vector between a frame and the scratch. Bytes 0: a predicate. */
static void move_lanes(void *to, const void *from, uint32_t mask, uint32_t bytes)
{
    if (bytes == 0) {
        uint32_t a, b;
        memcpy(&a, to, 4);
        memcpy(&b, from, 4);
        a = (a & ~mask) | (b & mask);
        memcpy(to, &a, 4);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        size_t at = (size_t)__builtin_ctz(m) * bytes;
        memcpy((char *)to + at, (const char *)from + at, bytes);
    }
}

typedef struct scratch {
    _Alignas(64) uint8_t bytes[6][EMU_LANES * 8];
} scratch;

static uint32_t operand_bytes(const ir_insn *i, uint32_t k)
{
    if (i->op == IR_vote && k == 0)
        return 0;
    return i->op == IR_match && k == 0 && ir_type_get(i->types[0])->bits == 64 ? 8 : 4;
}

static uint32_t result_bytes(const ir_insn *i)
{
    return i->op == IR_vote && !ir_has(i, IR_S_ballot) ? 0 : 4;
}

/* Runs one instruction for lanes of several splits: operands are gathered, results spread. */
static void run_for_splits(emu_warp *w, const uint32_t *which, uint32_t count, uint32_t mask)
{
    scratch x;
    if (!count)
        return;
    memset(&x, 0, sizeof x);
    const emu_insn *first = waits_for(w, &w->splits[which[0]]);
    const ir_insn *i = emu_kernel_code(warp_kernel(w), first->pc).insn;
    emu_insn in = *first;
    bool pred = i->op == IR_shfl || i->op == IR_match || i->op == IR_elect;
    for (uint32_t n = 0; n < count; n++) {
        const emu_split *s = &w->splits[which[n]];
        const emu_insn *own = waits_for(w, s);
        w->base[EMU_FRAME] = s->frame->registers;
        for (uint32_t k = 0; k < 3; k++)
            if (own->src[k] != EMU_NOREF)
                move_lanes(x.bytes[k], emu_at(w, own->src[k]), s->mask, operand_bytes(i, k));
    }
    for (uint32_t k = 0; k < 3; k++)
        in.src[k] = in.src[k] == EMU_NOREF ? EMU_NOREF : EMU_REF(EMU_FRAME, k * EMU_LANES * 8);
    in.dst = EMU_REF(EMU_FRAME, 3 * EMU_LANES * 8);
    if (pred)
        in.imm = EMU_REF(EMU_FRAME, 4 * EMU_LANES * 8);
    w->base[EMU_FRAME] = x.bytes[0];
    in.fn[0](w, &in, mask);
    for (uint32_t n = 0; n < count; n++) {
        emu_split *s = &w->splits[which[n]];
        const emu_insn *own = waits_for(w, s);
        w->base[EMU_FRAME] = s->frame->registers;
        if (own->dst != EMU_NOREF)
            move_lanes(emu_at(w, own->dst), x.bytes[3], s->mask, result_bytes(i));
        if (pred && own->imm != EMU_NOREF)
            move_lanes(emu_at(w, (emu_ref)own->imm), x.bytes[4], s->mask, 0);
        s->skip = warp_kernel(w)->bbs[s->bb].sync_at + 2;
        s->passed = true;
        s->state = EMU_RUN;
        count_block_run(w, &warp_kernel(w)->bbs[s->bb], s->bb, s->mask);
    }
}

/* PTX: the same instruction with the same qualifiers and member mask, wherever it stands. */
static bool join_scattered(emu_warp *w)
{
    for (uint32_t a = 0; a < w->nsplits; a++) {
        if (w->splits[a].state != EMU_WAIT_WARP)
            continue;
        uint32_t which[EMU_LANES], count = 0, mask = 0, members = members_of(w, &w->splits[a]);
        emu_fn fn = waits_for(w, &w->splits[a])->fn[0];
        for (uint32_t b = a; b < w->nsplits; b++) {
            const emu_split *s = &w->splits[b];
            if (s->state != EMU_WAIT_WARP || waits_for(w, s)->fn[0] != fn ||
                members_of(w, s) != members)
                continue;
            which[count++] = b;
            mask |= s->mask;
        }
        if ((members & w->live & ~mask) == 0) {
            run_for_splits(w, which, count, mask);
            return true;
        }
    }
    return false;
}

/* ---- entries of basic blocks ---- */

static step enter_meeting(emu_warp *w, emu_split *s)
{
    if (!(meeting_of(w, s) & w->live & ~s->mask))
        return GO;
    s->state = EMU_WAIT_MEET;
    return SWITCH;
}

static step enter_cluster_wait(emu_warp *w, emu_split *s)
{
    if (w->cta->cluster->phase > w->cluster_phase)
        return GO;
    s->state = EMU_WAIT_CLUSTER;
    return SWITCH;
}

static void run_range(emu_warp *w, const emu_insn *from, const emu_insn *to, uint32_t mask)
{
    const int all = (mask | w->dead) == EMU_ALL;
    for (const emu_insn *in = from; in < to; in++)
        in->fn[all](w, in, mask);
}

static step enter_sync_point(emu_warp *w, emu_split *s, const emu_bb *bb)
{
    const emu_insn *in = &bb->first[bb->sync_at];
    switch (bb->entry) {
    case IR_WAIT_WARP: run_range(w, bb->first, in, s->mask); return enter_warp(w, s, in);
    case IR_WAIT_MEET: return enter_meeting(w, s);
    case IR_WAIT_BARRIER:
        run_range(w, bb->first, in, s->mask);
        s->passed = true; /* once released it goes on */
        return emu_barrier_arrive(w, s, in) ? GO : SWITCH;
    case IR_WAIT_CLUSTER_ARRIVE: emu_cluster_arrive(w, s->mask); return GO;
    case IR_WAIT_CLUSTER_WAIT: return enter_cluster_wait(w, s);
    case IR_WAIT_YIELD:
        s->passed = true;
        s->demoted = true;
        return SWITCH;
    default: return GO;
    }
}

/* Lanes whose guard does not hold go on behind the block. */
static step check_block_guard(emu_warp *w, emu_split *s, const emu_bb *bb)
{
    uint32_t on = s->mask & (emu_pred(w, bb->guard) ^ (0 - (u32)bb->guard_neg));
    if (on == 0) {
        s->bb = bb->next;
        return SKIP;
    }
    if (on != s->mask) {
        add_split(w, s, s->mask & ~on, bb->next);
        s->mask = on;
        find_stop(w);
    }
    return GO;
}

/* ---- ends of basic blocks ---- */

static void branch(emu_warp *w, emu_split *s, const emu_bb *bb)
{
    uint32_t taken = s->mask & (emu_pred(w, bb->pred) ^ (0 - (u32)bb->neg)),
             other = s->mask & ~taken;
    s->bb = taken ? bb->target : bb->next;
    if (!taken || !other)
        return;
    bool target_first = order_of(w, bb->target) < order_of(w, bb->next);
    bool leaves_taken = __builtin_popcount(taken) >= __builtin_popcount(other);
    s->mask = target_first ? taken : other;
    s->bb = target_first ? bb->target : bb->next;
    s->left = target_first == leaves_taken ? w->taken_up + 1 : 0;
    add_split(w, s, target_first ? other : taken, target_first ? bb->next : bb->target);
    w->splits[w->nsplits - 1].left = target_first != leaves_taken ? w->taken_up + 1 : 0;
    find_stop(w);
}

static void branch_indexed(emu_warp *w, emu_split *s, const emu_bb *bb)
{
    const emu_brx *brx = bb->extra;
    const uint32_t *index = emu_at(w, brx->index);
    uint32_t rest = s->mask;
    for (uint32_t m = rest; m; m &= m - 1)
        if (index[__builtin_ctz(m)] >= brx->count)
            emu_raise(w, bb->first_pc + bb->ninsns - 1, EMU_FAULT_INVALID_PC,
                      (uint32_t)__builtin_ctz(m), 0, 0, "branches to entry %u of a table of %u",
                      index[__builtin_ctz(m)], brx->count);
    for (uint32_t group; rest; rest &= ~group) {
        group = same_members(index, rest);
        uint32_t target = brx->targets[index[__builtin_ctz(group)]];
        if (group == rest) {
            s->mask = group;
            s->bb = target;
        } else {
            add_split(w, s, group, target);
        }
    }
    w->stop = 0;
}

static void exit_lanes(emu_warp *w, uint32_t mask)
{
    w->live &= ~mask;
    w->dead = ~w->live;
    leave_frame(w, w->splits[w->current].frame);
    remove_split(w, w->current);
    emu_wake_lanes(w);
    emu_barrier_exit(w);
    emu_cluster_exit(w, mask);
}

/* ---- calls ---- */

static void copy_place(uint8_t *to_frame, const emu_place *to, emu_warp *w, const emu_place *from,
                       uint32_t mask)
{
    const uint8_t *source = emu_at(w, from->ref);
    uint8_t *target = to_frame + EMU_REF_OFFSET(to->ref);
    if (to->pred) {
        move_lanes(target, source, mask, 0);
        return;
    }
    uint32_t bytes = to->bytes < from->bytes ? to->bytes : from->bytes;
    for (uint32_t m = mask; m; m &= m - 1) {
        size_t lane = (size_t)__builtin_ctz(m);
        memcpy(target + lane * to->stride, source + lane * from->stride, bytes);
    }
}

static const emu_function *function_at(emu_warp *w, uint64_t token)
{
    const emu_kernel *k = warp_kernel(w);
    for (uint32_t f = 1; f < k->nfunctions; f++)
        if (emu_function_token(k->module->ptx, k->functions[f].func) == token)
            return &k->functions[f];
    return NULL;
}

/* The function that a pointer holds for the first lane; lanes with another one make the call by
 * themselves later. */
static const emu_function *callee_of(emu_warp *w, emu_split *s, const emu_call *call)
{
    uint64_t tokens[EMU_LANES];
    const void *v = emu_at(w, call->pointer);
    for (int i = 0; i < EMU_LANES; i++)
        tokens[i] = call->pointer_bits == 64 ? ((const uint64_t *)v)[i] : ((const uint32_t *)v)[i];
    uint32_t first = (uint32_t)__builtin_ctz(s->mask), same = 0;
    for (uint32_t m = s->mask; m; m &= m - 1)
        same |= tokens[__builtin_ctz(m)] == tokens[first] ? m & -m : 0;
    const emu_function *f = function_at(w, tokens[first]);
    if (!f)
        emu_raise(w, call->pc, EMU_FAULT_INVALID_PC, first, tokens[first], 0,
                  "calls what is no function of the kernel");
    if (same != s->mask) {
        add_split(w, s, s->mask & ~same, s->bb);
        w->splits[w->nsplits - 1].skip = warp_kernel(w)->bbs[s->bb].count + 1;
        s->mask = same;
    }
    return f;
}

static void call(emu_warp *w, emu_split *s, const emu_bb *bb)
{
    const emu_call *c = bb->extra;
    if (c->builtin) {
        c->builtin->run(w, c, s->mask);
        s->bb = bb->next;
        return;
    }
    const emu_function *f = c->callee ? c->callee : callee_of(w, s, c);
    emu_frame *parent = s->frame, *frame = new_frame(w->worker, f);
    uint32_t lane = (uint32_t)__builtin_ctz(s->mask);
    if (!frame)
        emu_raise(w, c->pc, EMU_FAULT_HOST_MEMORY, lane, 0, 0, "needs memory for a call");
    frame->parent = parent;
    frame->call = c;
    frame->call_bb = s->bb;
    frame->depth = parent->depth + 1;
    frame->local_base = (parent->local_top + 15) & ~15u;
    frame->local_top = frame->local_base + f->local_bytes;
    if (frame->depth > MAX_DEPTH || frame->local_top > w->local_stride)
        emu_raise(w, c->pc, EMU_FAULT_STACK_OVERFLOW, lane, 0, 0,
                  "calls %s at depth %u; the thread has %u bytes of stack", f->func->name,
                  frame->depth, w->local_stride);
    for (uint32_t k = 0; k < f->nparams && k < c->nargs; k++)
        copy_place(frame->registers, &f->params[k], w, &c->args[k], s->mask);
    set_local_addresses(frame);
    s->frame = frame;
    s->bb = f->entry;
    w->base[EMU_FRAME] = frame->registers;
    find_stop(w);
}

static void return_lanes(emu_warp *w, emu_split *s)
{
    emu_frame *frame = s->frame, *parent = frame->parent;
    const emu_call *c = frame->call;
    const emu_function *f = frame->function;
    for (uint32_t k = 0; k < f->nrets && k < c->nrets; k++)
        if (c->rets[k].ref != EMU_NOREF)
            copy_place(parent->registers, &c->rets[k], w, &f->rets[k], s->mask);
    s->bb = warp_kernel(w)->bbs[frame->call_bb].next;
    s->frame = parent;
    parent->users++;
    leave_frame(w, frame);
    w->base[EMU_FRAME] = parent->registers;
    find_stop(w);
}

/* ---- running ---- */

/* Behind a back edge, now and then: false where the warp has to let others run. */
static bool look_around(emu_warp *w)
{
    bool spun = w->spun;
    w->budget = QUANTUM;
    w->spun = false;
    emu_poll(w->worker);
    if (emu_is_to_end(w->cta))
        longjmp(w->worker->fault, 1);
    return !spun;
}

static inline bool back_edge(emu_warp *w)
{
    w->budget -= !w->spinning ? 1 : w->nsplits > 1 ? PART_COST : SPIN_COST;
    w->spun |= w->spinning;
    w->spinning = false;
    return w->budget >= 0 || look_around(w);
}

/* Runs the current split until another one has to run. */
static void run_split(emu_warp *w)
{
    const emu_bb *bbs = warp_kernel(w)->bbs;
    emu_split *s = &w->splits[w->current];
    w->base[EMU_FRAME] = s->frame->registers;
    w->cta->moved = true;
    if (join_splits_here(w))
        return;
    for (;;) {
        s = &w->splits[w->current];
        const uint32_t b = s->bb;
        const emu_bb *bb = &bbs[b];
        uint32_t skip = s->skip;
        if (skip) {
            skip -= 1;
            s->skip = 0;
            skip = skip > bb->count ? bb->count : skip;
            if (s->passed) /* it was counted with the instruction that it waited for */
                show_entry(w, bb, s->mask);
        } else {
            if (bb->guard != EMU_NOREF && check_block_guard(w, s, bb) == SKIP)
                goto next;
            if (bb->entry != IR_WAIT_NONE && !s->passed && enter_sync_point(w, s, bb) == SWITCH)
                return;
            skip = s->skip ? s->skip - 1 : bb->sync_at * (bb->entry != IR_WAIT_NONE);
            s->skip = 0;
            count_block_run(w, bb, b, s->mask);
            show_entry(w, bb, s->mask);
        }
        s->passed = false;
        w->taken_up += s->left != 0;
        s->left = 0;
        run_range(w, bb->first + skip, bb->first + bb->count, s->mask);
        switch (bb->term) {
        case EMU_TERM_FALL: s->bb = bb->next; break;
        case EMU_TERM_BRA: s->bb = bb->target; break;
        case EMU_TERM_BRA_IF: branch(w, s, bb); break;
        case EMU_TERM_BRX: branch_indexed(w, s, bb); break;
        case EMU_TERM_CALL: call(w, s, bb); break;
        case EMU_TERM_RET:
            if (s->frame->parent) {
                return_lanes(w, s);
                break;
            }
            /* fallthrough */
        default: exit_lanes(w, s->mask); return;
        }
    next:
        if (bbs[s->bb].order <= bb->order && !back_edge(w)) {
            s->demoted = true;
            return;
        }
        if (bbs[s->bb].order >= w->stop && join_splits_here(w))
            return;
    }
}

static bool revive(emu_warp *w)
{
    bool any = false;
    for (uint32_t s = 0; s < w->nsplits; s++) {
        any |= w->splits[s].demoted && w->splits[s].state == EMU_RUN;
        w->splits[s].demoted = false;
        if (w->splits[s].state == EMU_WAIT_CLUSTER && w->cta->cluster->phase > w->cluster_phase)
            w->splits[s].state = EMU_RUN;
    }
    return any;
}

/* Where nobody can come any more whom lanes wait for at a bsync, as where a slice leaves out how they go there, these
 * go on. */
static bool part_meetings(emu_warp *w)
{
    bool any = false;
    for (uint32_t s = 0; s < w->nsplits; s++)
        if (!waits_for_lanes(&w->splits[s]))
            return false;
    for (uint32_t s = 0; s < w->nsplits; s++)
        if (w->splits[s].state == EMU_WAIT_MEET) {
            w->splits[s].state = EMU_RUN;
            any = w->splits[s].passed = true;
        }
    return any;
}

emu_progress emu_warp_run(emu_warp *w)
{
    revive(w);
    while (w->nsplits) {
        uint32_t s = choose_split(w);
        if (s < w->nsplits) {
            w->current = s;
            run_split(w);
        } else if (join_scattered(w) || part_meetings(w)) {
            w->cta->moved = true;
        } else {
            return revive(w) ? EMU_YIELDED : EMU_BLOCKED;
        }
    }
    return EMU_DONE;
}
