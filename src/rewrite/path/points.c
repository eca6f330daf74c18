/* Where a thread's hash and its count of instructions change.
 *
 * Needs: runs. Fills: path; takes the probe back where all threads take one path, or where paths
 * could not be told apart. Blocks with one root (plan/runs.c) run equally often: the count changes
 * at the first of them only, by the instructions of all. Roots that a thread does not run just once
 * a call are points, where the hash changes, too, but for those that others tell: of the two ways of
 * an `if` with `else` one suffices. What has to hold is that at each branch the next point, or the
 * end, says which way was taken; it is looked at in the end, and where it does not hold, all roots
 * are points.
 *
 * Of a loop whose blocks follow each other in one way, with one exit, turns suffice: they are
 * counted, and change hash and count after it. */
#include "rewrite/path/path.h"

#include "ir/blocks.h"

typedef struct points { /* of a function */
    rw_plan *p;
    const flow_function *f;
    uint32_t *
        root; /* [nblocks] as rw_run.root; of a block that nobody branches to, the one before it has */
    bool *is_point;   /* [nblocks] of roots */
    uint32_t *weight; /* [nblocks] of roots: instructions of their blocks */
    bool *calls;      /* [nblocks] of roots: one of their blocks calls a function */
    uint32_t *place;  /* [nblocks] the first instruction that all who run the block run, and that
                         begins a basic block; FLOW_NONE */
    uint32_t *
        member; /* [nblocks] of roots: the block that stands for all; FLOW_NONE: none has a place */
    uint32_t *turns; /* [loops.count] number of the loop whose turns are counted; FLOW_NONE */
    uint32_t *after; /* [loops.count] of those: where the loop leads */
    uint32_t *less;  /* [loops.count] of those: instructions that the last turn leaves out */
    bool *silent;    /* [nblocks] of roots: their loop's turns tell how often they run */
    bool *marked;    /* [nblocks + 1] the way that was looked at before may come to it first */
    uint32_t *seen, *queue, stamp; /* [nblocks + 1] */
} points;

/* ---- blocks ---- */

static bool begins_basic_block(const points *s, uint32_t i)
{
    return s->p->code.leader[s->f->first_pc + s->f->index + i];
}

static bool is_live_block(const flow_function *f, uint32_t block)
{
    return f->blocks[block].reached && !f->blocks[block].doomed;
}

static void look_at_insn(points *s, uint32_t block, uint32_t i)
{
    const ir_insn *insn = &s->f->func->insns[i];
    uint32_t root = s->root[block];
    s->calls[root] |= insn->op == IR_call;
    if (ir_stands_alone(insn))
        return;
    s->weight[root]++;
    if (begins_basic_block(s, i) && s->place[block] == FLOW_NONE)
        s->place[block] = i;
}

static void look_at_blocks(points *s)
{
    const flow_function *f = s->f;
    for (uint32_t b = 0; b < f->nblocks; b++)
        s->place[b] = s->member[b] = FLOW_NONE;
    for (uint32_t b = 0; b < f->nblocks; b++) {
        if (!is_live_block(f, b))
            continue;
        bool follows = b > 0 && !begins_basic_block(s, f->blocks[b].first);
        uint32_t root = follows ? s->root[b - 1] : s->p->control->runs[f->index][b].root;
        s->root[b] = root;
        for (uint32_t i = f->blocks[b].first; i < f->blocks[b].first + f->blocks[b].count; i++)
            look_at_insn(s, b, i);
        /* A root comes before the others, if not in the text. */
        if (s->place[b] != FLOW_NONE && (s->member[root] == FLOW_NONE || b == root))
            s->member[root] = b;
    }
}

static bool is_loop_header(const flow_function *f, uint32_t block)
{
    uint32_t loop = f->loops.of[block];
    return loop != FLOW_NONE && f->loops.loops[loop].header == block;
}

static void mark_all_roots(points *s)
{
    for (uint32_t b = 0; b < s->f->nblocks; b++)
        s->is_point[b] = is_live_block(s->f, b) && s->root[b] == b && !rw_runs_once(s->f, b) &&
                         s->member[b] != FLOW_NONE;
}

/* ---- which way is taken ---- */

static void visit_next(points *s, uint32_t block, uint32_t *count)
{
    if (s->seen[block] == s->stamp)
        return;
    s->seen[block] = s->stamp;
    s->queue[(*count)++] = block;
}

/* Calls `each` for the points, and the end, that a thread may come to first from the block on.
 * False where one call says so. */
static bool each_next_point(points *s, uint32_t block, bool (*each)(points *s, uint32_t point))
{
    uint32_t count = 0;
    bool good = true;
    s->stamp++;
    visit_next(s, block, &count);
    for (uint32_t i = 0; i < count && good; i++) {
        uint32_t b = s->queue[i];
        if (b >= s->f->nblocks || s->is_point[b]) {
            good = each(s, b);
            continue;
        }
        for (uint32_t e = s->f->graph.succ_first[b]; e < s->f->graph.succ_first[b + 1]; e++)
            visit_next(s, s->f->graph.succ[e], &count);
    }
    return good;
}

static bool is_unmarked(points *s, uint32_t point)
{
    return !s->marked[point];
}

static bool mark_point(points *s, uint32_t point)
{
    s->marked[point] = true;
    return true;
}

static bool unmark_point(points *s, uint32_t point)
{
    s->marked[point] = false;
    return true;
}

/* Does what comes next tell which way was taken at the block's end? A call that does not come back
 * is told by what ran in it. */
static bool tells_ways(points *s, uint32_t block)
{
    const flow_graph *g = &s->f->graph;
    uint32_t first = g->succ_first[block], end = g->succ_first[block + 1], e = first;
    bool good = true;
    if (end - first < 2 || rw_last_of(s->f, block)->op == IR_call)
        return true;
    for (; e < end && good; e++) {
        good = each_next_point(s, g->succ[e], is_unmarked);
        each_next_point(s, g->succ[e], mark_point);
    }
    for (uint32_t k = first; k < e; k++)
        each_next_point(s, g->succ[k], unmark_point);
    return good;
}

static bool tells_all(points *s)
{
    bool good = true;
    for (uint32_t b = 0; b < s->f->nblocks && good; b++)
        good = !is_live_block(s->f, b) || tells_ways(s, b);
    return good;
}

/* ---- points that others tell ---- */

static bool may_be_left_out(const points *s, uint32_t block)
{
    const flow_graph *g = &s->f->graph;
    return block < s->f->nblocks && s->is_point[block] && !s->calls[block] &&
           !is_loop_header(s->f, block) && g->pred_first[block + 1] - g->pred_first[block] == 1;
}

static void leave_out_told(points *s)
{
    const flow_graph *g = &s->f->graph;
    for (uint32_t b = 0; b < s->f->nblocks && !s->f->loops.irreducible; b++) {
        if (!is_live_block(s->f, b) || flow_nsucc(g, b) != 2)
            continue;
        for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++) {
            uint32_t way = g->succ[e];
            if (!may_be_left_out(s, way))
                continue;
            s->is_point[way] = false;
            s->is_point[way] = !tells_ways(s, b);
        }
    }
}

/* ---- loops of which turns suffice ---- */

static bool holds_loop(const flow_function *f, uint32_t loop)
{
    for (uint32_t l = loop + 1; l < f->loops.count; l++)
        if (f->loops.loops[l].parent == loop)
            return true;
    return false;
}

/* Successors in the loop and the one out of it. */
static uint32_t ways_within(const flow_function *f, uint32_t loop, uint32_t block, uint32_t *out)
{
    uint32_t within = 0;
    for (uint32_t e = f->graph.succ_first[block]; e < f->graph.succ_first[block + 1]; e++) {
        uint32_t to = f->graph.succ[e];
        if (to < f->nblocks && flow_in_loop(&f->loops, loop, to))
            within++;
        else
            *out = to;
    }
    return within;
}

/* Does the block fit into a loop of one way? *exits: blocks with a way out; *to: where that goes. */
static bool fits_one_way(const points *s, uint32_t loop, uint32_t block, uint32_t *exits,
                         uint32_t *to)
{
    const flow_function *f = s->f;
    uint32_t header = f->loops.loops[loop].header, root = s->root[block], out = FLOW_NONE;
    if (ways_within(f, loop, block, &out) != 1 || flow_nsucc(&f->graph, block) > 2 ||
        s->calls[root] || (s->is_point[root] && root != header))
        return false;
    if (out != FLOW_NONE) {
        *to = out;
        ++*exits;
    }
    return true;
}

/* Instructions of the turn that the exit leaves unfinished. */
static uint32_t less_in_last_turn(const points *s, uint32_t loop)
{
    const flow_loop *l = &s->f->loops.loops[loop];
    uint32_t less = 0;
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t b = s->f->loops.nodes[l->first + n];
        less += b != l->header && s->root[b] == b ? s->weight[b] : 0;
    }
    return less;
}

static bool leads_to_place(const points *s, uint32_t loop, uint32_t to)
{
    const flow_function *f = s->f;
    bool alone = to < f->nblocks && f->graph.pred_first[to + 1] - f->graph.pred_first[to] == 1;
    return to < f->nblocks && s->place[to] != FLOW_NONE &&
           f->loops.of[to] == f->loops.loops[loop].parent && !is_loop_header(f, to) &&
           (alone || less_in_last_turn(s, loop) == 0);
}

static void look_at_loop(points *s, uint32_t loop)
{
    const flow_loop *l = &s->f->loops.loops[loop];
    uint32_t exits = 0, to = FLOW_NONE;
    bool fits = !holds_loop(s->f, loop) && s->is_point[l->header];
    for (uint32_t n = 0; n < l->count && fits; n++)
        fits = fits_one_way(s, loop, s->f->loops.nodes[l->first + n], &exits, &to);
    if (!fits || exits != 1 || !leads_to_place(s, loop, to))
        return;
    s->turns[loop] = s->p->path->nloops++;
    s->after[loop] = to;
    s->less[loop] = less_in_last_turn(s, loop);
    for (uint32_t n = 0; n < l->count; n++)
        s->silent[s->root[s->f->loops.nodes[l->first + n]]] = true;
}

static void look_at_loops(points *s)
{
    for (uint32_t l = 0; l < s->f->loops.count; l++) {
        s->turns[l] = FLOW_NONE;
        if (!s->f->loops.irreducible)
            look_at_loop(s, l);
    }
}

/* ---- steps ---- */

/* An odd number that differs from block to block. */
static uint32_t factor_at(uint32_t pc)
{
    uint64_t x = (pc + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32) | 1;
}

static void add_path_step(points *s, rewrite_path_step step)
{
    step.factor = factor_at(step.pc);
    s->p->path->steps[s->p->path->nsteps++] = step;
}

static void add_block_steps(points *s, uint32_t block, uint32_t pc)
{
    const flow_function *f = s->f;
    uint32_t root = s->root[block], loop = f->loops.of[block];
    for (uint32_t l = 0; l < f->loops.count; l++)
        if (s->turns[l] != FLOW_NONE && s->after[l] == block)
            add_path_step(s, (rewrite_path_step){.pc = pc,
                                                 .kind = REWRITE_PATH_FOLD,
                                                 .loop = s->turns[l],
                                                 .add = s->weight[f->loops.loops[l].header] +
                                                        s->less[l],
                                                 .less = s->less[l]});
    if (s->member[root] != block)
        return;
    if (!s->silent[root])
        add_path_step(s, (rewrite_path_step){.pc = pc,
                                             .kind = s->is_point[root] ? REWRITE_PATH_POINT
                                                                       : REWRITE_PATH_COUNT,
                                             .add = s->weight[root]});
    else if (s->is_point[root])
        add_path_step(s, (rewrite_path_step){
                             .pc = pc, .kind = REWRITE_PATH_TURN, .loop = s->turns[loop]});
}

static void list_steps(points *s)
{
    const flow_function *f = s->f;
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        uint32_t block = f->block_of[i], pc = f->first_pc + i;
        s->p->path->first_at[pc] = s->p->path->nsteps;
        if (ir_stands_alone(&f->func->insns[i]))
            add_path_step(s, (rewrite_path_step){.pc = pc, .kind = REWRITE_PATH_COUNT, .add = 1});
        else if (is_live_block(f, block) && s->place[block] == i)
            add_block_steps(s, block, pc);
    }
}

/* ---- the pass ---- */

static points look_at_function(rw_plan *p, uint32_t k)
{
    const flow_function *f = &p->flow->funcs[k];
    flow_mem *mem = &p->flow->mem;
    size_t n = (size_t)f->nblocks + 1, loops = (size_t)f->loops.count + 1;
    points s = {.p = p,
                .f = f,
                .root = flow_new(mem, uint32_t, n),
                .is_point = flow_new(mem, bool, n),
                .weight = flow_new(mem, uint32_t, n),
                .calls = flow_new(mem, bool, n),
                .place = flow_new(mem, uint32_t, n),
                .member = flow_new(mem, uint32_t, n),
                .turns = flow_new(mem, uint32_t, loops),
                .after = flow_new(mem, uint32_t, loops),
                .less = flow_new(mem, uint32_t, loops),
                .silent = flow_new(mem, bool, n),
                .marked = flow_new(mem, bool, n),
                .seen = flow_new(mem, uint32_t, n),
                .queue = flow_new(mem, uint32_t, n)};
    look_at_blocks(&s);
    return s;
}

/* Chooses its points; false where paths cannot be told apart. */
static bool choose_points(points *s)
{
    mark_all_roots(s);
    leave_out_told(s);
    if (!tells_all(s))
        mark_all_roots(s);
    return tells_all(s);
}

static bool does_hash(const rw_path_plan *path)
{
    for (uint32_t i = 0; i < path->nsteps; i++)
        if (path->steps[i].kind != REWRITE_PATH_COUNT)
            return true;
    return false;
}

/* An instruction has a count of its own, or is the first of a block with a step; and a loop has one
 * step more. */
static wl_status allocate_path(rw_plan *p)
{
    size_t most = p->proof.npcs + 1;
    for (uint32_t k = 0; k < p->code.count; k++)
        most += p->flow->funcs[k].loops.count;
    p->path->steps = wl_new_array(p->arena, rewrite_path_step, most);
    p->path->first_at = wl_new_array(p->arena, uint32_t, (size_t)p->proof.npcs + 1);
    return p->path->steps && p->path->first_at ? WL_OK : WL_NOMEM;
}

wl_status rw_pass_points(rw_plan *p)
{
    bool good = true;
    if (!rw_plan_has(p, REWRITE_PATH))
        return WL_OK;
    if (allocate_path(p) != WL_OK)
        return WL_NOMEM;
    for (uint32_t k = 0; k < p->code.count; k++) {
        points s = look_at_function(p, k);
        good = good && choose_points(&s);
        look_at_loops(&s);
        list_steps(&s);
    }
    p->path->first_at[p->proof.npcs] = p->path->nsteps;
    if (!good)
        p->out->no_paths = "its ways cannot be told apart at the beginnings of basic blocks";
    if (!good || !does_hash(p->path))
        p->out->probes &= ~(1u << REWRITE_PATH);
    p->out->path = (rewrite_path){p->path->nsteps, p->path->steps, p->path->nloops};
    return WL_OK;
}
