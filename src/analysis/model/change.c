/* What a change makes of a launch's instructions. */
#include "analysis/model/parts.h"

#include <math.h>

const model_edit *model_edit_of(const model_change *change, const obs_insn *c)
{
    for (uint32_t i = 0; change && i < change->nedits; i++) {
        const model_edit *e = &change->edits[i];
        if (e->pc == c->pc && e->space == c->space &&
            (e->object == c->object || e->object == MODEL_ANY_OBJECT))
            return e;
    }
    return NULL;
}

static uint64_t scaled(uint64_t count, double part)
{
    return (uint64_t)llround((double)count * part);
}

/* Its requests lie in the same proportions. */
static void lay_out_like(obs_insn *c, const obs_insn *like)
{
    double part = like->requests ? (double)c->requests / (double)like->requests : 0;
    c->uniform = scaled(like->uniform, part);
    c->misaligned = scaled(like->misaligned, part);
    c->strided = scaled(like->strided, part);
    c->irregular = scaled(like->irregular, part);
    c->stride = like->stride;
    uint64_t others = c->uniform + c->misaligned + c->strided + c->irregular;
    c->contiguous = c->requests > others ? c->requests - others : 0;
}

static void edit_layout(obs_insn *c, const model_edit *e)
{
    if (e->like) {
        lay_out_like(c, e->like);
        return;
    }
    bool closer = e->sectors < e->requests; /* the lanes of a request have moved together */
    c->uniform = closer ? 0 : scaled(c->uniform, e->requests);
    c->misaligned = closer ? 0 : scaled(c->misaligned, e->requests);
    c->strided = closer ? 0 : scaled(c->strided, e->requests);
    c->irregular = closer ? 0 : scaled(c->irregular, e->requests);
    c->contiguous = c->requests - c->uniform - c->misaligned - c->strided - c->irregular;
}

static void edit_counts(obs_insn *c, const model_edit *e)
{
    c->requests = scaled(c->requests, e->requests);
    c->sectors = scaled(c->sectors, e->sectors);
    c->wavefronts = scaled(c->wavefronts, e->wavefronts);
    c->active_lanes = scaled(c->active_lanes, e->lanes);
    double turns = (double)c->turns * at_most(e->lanes, e->sectors);
    model_set_turns(c, (uint64_t)llround(at_least(turns, (double)c->sectors)));
    edit_layout(c, e);
}

static bool is_load_of(const obs_insn *c, acc_space space)
{
    return c->op == ACC_LOAD && c->space == space;
}

/* Loads of a launch, and what a change makes of them. */
typedef struct moved_loads {
    double all, staged, kept;       /* requests of global loads; kept: of those that are staged */
    double shared, gone, exchanged; /* of loads from shared memory; exchanged: by shuffles */
    double filling;                 /* of global loads: those that are direct afterwards */
    double local, unspilled;        /* of loads from local memory */
    double left_out;                /* of all: instructions in whose place nothing stands */
    double integers;                /* of loads from shared memory: instructions beside them */
} moved_loads;

static void note_moved(moved_loads *m, const obs_insn *before, const obs_insn *after,
                       const model_edit *e)
{
    double requests = (double)before->requests, gone = requests - (double)after->requests;
    bool replaced = e->staged > 0 || e->updates > 0 || e->shuffles > 0 || e->direct;
    m->left_out += replaced ? 0 : gone;
    m->integers += is_load_of(before, ACC_SHARED) ? e->integers * requests : 0;
    m->unspilled += is_load_of(before, ACC_LOCAL) ? gone : 0;
    if (is_load_of(before, ACC_GLOBAL) && e->staged > 0) {
        m->staged += gone;
        m->kept += (double)after->requests;
    } else if (is_load_of(before, ACC_GLOBAL) && e->direct) {
        m->filling += requests;
    } else if (is_load_of(before, ACC_SHARED)) {
        m->gone += gone;
        m->exchanged += e->shuffles > 0 ? gone : 0;
    }
}

/* A warp waits for shared memory where it waited for nothing but loads that are staged: as long as there are
 * others, one for each wait, these are what it waits for. Before, it waits for what it brings there, at least
 * once, and for two barriers each time. */
static void stage_chain(model_work *w, const moved_loads *m)
{
    double warps = w->blocks * w->warps, of_warp = m->kept / warps;
    double turns = of_warp > 1 ? of_warp : 1, waits = w->chain_loads;
    w->chain_loads = at_most(waits, at_least(m->all - m->staged - m->kept, 0) / warps);
    w->chain_shared += waits - w->chain_loads;
    if (w->chain_loads < turns)
        w->chain_loads = turns;
    w->machine[IR_COST_SYNC] += 2 * turns * w->blocks * w->warps;
    double addresses = m->staged < w->machine[IR_COST_INT] ? m->staged : w->machine[IR_COST_INT];
    w->machine[IR_COST_INT] -= addresses; /* the upper half of each: those there have 32 bits */
}

/* A warp waits for loads where it waited for shared memory, and no more for those that filled that.
 * Barriers go with the last array. */
static void unstage_chain(model_work *w, const moved_loads *m)
{
    double part = m->gone / m->shared;
    w->chain_loads *= 1 - m->filling / m->all;
    w->chain_loads += part * w->chain_shared;
    if (part >= 1) {
        w->machine[IR_COST_SYNC] = 0;
        w->chain[IR_COST_SYNC] = 0;
    }
}

/* Both at once: what is staged, and what is loaded where shared memory was read, have their own parts of
 * what the warp waited for. The part is brought there at the begin, between two barriers, by loads of which as
 * many overlap as of the kernel's. */
static void exchange_chain(model_work *w, const moved_loads *m)
{
    double loads = w->chain_loads, shared = w->chain_shared, part = m->gone / m->shared;
    double others = at_least(1 - (m->staged + m->filling) / m->all, 0);
    double bringing = m->kept / m->all * loads;
    w->chain_shared = (1 - part) * shared + m->staged / m->all * loads;
    w->chain_loads = others * loads + part * shared + at_least(bringing, 1);
    w->machine[IR_COST_SYNC] += 2 * w->blocks * w->warps;
    w->machine[IR_COST_INT] -= at_most(m->staged, w->machine[IR_COST_INT]); /* as stage_chain() */
}

/* What is kept in registers is neither loaded nor stored. Where the requests are of fewer lanes each, the
 * instructions stay. */
static void leave_out_instructions(model_work *w, const moved_loads *m)
{
    double loads = m->all + m->local;
    w->chain_loads *= 1 - part_of(m->unspilled, loads);
    w->machine[IR_COST_MEMORY] -= at_most(at_least(m->left_out, 0), w->machine[IR_COST_MEMORY]);
}

static void move_chain(model_work *w, const moved_loads *m)
{
    leave_out_instructions(w, m);
    w->chain[IR_COST_INT] += part_of(m->integers, m->shared) * w->chain_shared;
    if (m->staged > 0 && m->filling > 0 && m->gone > 0) {
        exchange_chain(w, m);
        return;
    }
    if (m->staged > 0)
        stage_chain(w, m);
    if (m->filling > 0 && m->gone > 0)
        unstage_chain(w, m);
    if (m->gone > 0) {
        w->chain[IR_COST_WARP] += m->exchanged / m->shared * w->chain_shared;
        w->chain_shared *= 1 - m->gone / m->shared;
    }
}

/* Updates of shared memory in the place of others; of integers they take their turns, and no more. */
static void add_updates(const model_rows *rows, const prof_instruction *i, const model_edit *e,
                        model_work *w)
{
    model_updates u = {e->updates * (double)i->c.requests, e->update_turns, e->update_lanes,
                       e->update_words};
    if (!model_add_spins(rows, i, &u, w))
        w->shared_turns += u.requests * u.turns;
}

const prof_instruction *model_change_rows(const model_rows *rows, const model_launch_rows *launch,
                                          const model_change *change, model_work *w)
{
    moved_loads moved = {0};
    for (uint32_t i = 0; i < launch->ninsns; i++) {
        const obs_insn *c = &launch->insns[i].c;
        const model_edit *e = model_edit_of(change, c);
        rows->changed[i] = launch->insns[i];
        moved.all += is_load_of(c, ACC_GLOBAL) ? (double)c->requests : 0;
        moved.shared += is_load_of(c, ACC_SHARED) ? (double)c->requests : 0;
        moved.local += is_load_of(c, ACC_LOCAL) ? (double)c->requests : 0;
        if (!e)
            continue;
        w->shared_turns += e->staged * (double)c->requests;
        add_updates(rows, &launch->insns[i], e, w);
        w->machine[IR_COST_WARP] += e->shuffles * (double)c->requests;
        w->machine[IR_COST_INT] += e->integers * (double)c->requests;
        edit_counts(&rows->changed[i].c, e);
        note_moved(&moved, c, &rows->changed[i].c, e);
    }
    move_chain(w, &moved);
    return rows->changed;
}

double model_touched_after(const model_change *change, uint32_t object)
{
    double part = 1;
    for (uint32_t i = 0; change && i < change->nedits; i++)
        if (change->edits[i].object == object && change->edits[i].space == ACC_GLOBAL &&
            change->edits[i].touched < part)
            part = change->edits[i].touched;
    return part;
}

/* What a warp does by itself in the place of a barrier is one instruction more. */
void model_change_barriers(const model_change *change, model_work *w)
{
    double to_warps = at_most(change->warp_barriers, 1 - at_most(change->barriers, 1));
    double gone = at_most(change->barriers + change->warp_barriers, 1);
    w->machine[IR_COST_CONTROL] += to_warps * w->machine[IR_COST_SYNC];
    w->chain[IR_COST_CONTROL] += to_warps * w->chain[IR_COST_SYNC];
    w->machine[IR_COST_SYNC] *= 1 - gone;
    w->chain[IR_COST_SYNC] *= 1 - gone;
}

bool model_stages(const model_change *change)
{
    for (uint32_t i = 0; i < change->nedits; i++)
        if (change->edits[i].staged > 0)
            return true;
    return false;
}
