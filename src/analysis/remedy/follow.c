/* The counts that are left after a remedy, pattern by pattern. */
#include "analysis/remedy/follow.h"

static bool is_updated(const obs_insn *c)
{
    return c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

/* Of a count, the part that is left when `excess` of it goes. */
static double left(uint64_t count, double excess)
{
    double part = count ? 1 - excess / (double)count : 1;
    return part < 0 ? 0 : part;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Sectors lie side by side; a request without any sector of its own is one with another. */
static void lay_out(const obs_insn *c, double excess, model_edit *e)
{
    e->sectors = left(c->sectors, excess);
    e->requests = c->requests ? smaller(1, e->sectors * (double)c->sectors / (double)c->requests)
                              : 1;
    e->lanes = is_updated(c) ? e->requests : 1;
}

/* Each part of the data is requested once, by full warps, and read from shared memory. A request of
 * a full warp has as many sectors as a lane has bytes. */
static void stage(const obs_insn *c, double excess, model_edit *e)
{
    double bytes = c->bytes ? c->bytes : 4, requests = c->requests ? (double)c->requests : 1;
    e->sectors = e->lanes = left(c->sectors, excess);
    e->requests = smaller(1, e->sectors * (double)c->sectors / bytes / requests);
    e->staged = 1;
}

/* The lanes of a warp become one update. */
static void combine_lanes(const obs_insn *c, double excess, model_edit *e)
{
    double requests = (double)c->requests, lanes = (double)c->active_lanes;
    e->sectors = e->requests = left(c->sectors, excess);
    e->lanes = lanes > 0 ? smaller(1, e->requests * requests / lanes) : 1;
}

static model_edit edit_of(const ana_draft *d, const obs_insn *c, double excess)
{
    model_edit e = {c->pc, c->object, c->space, 1, 1, 1, 1, 1, 0, 0};
    switch (d->pattern) {
    case ANA_HOT:
    case ANA_SCATTERED_ATOMICS: stage(c, excess, &e); break;
    case ANA_SAME_ADDRESS: combine_lanes(c, excess, &e); break;
    case ANA_LOCAL_MEMORY: e.sectors = e.requests = left(c->sectors, excess); break;
    case ANA_SHARED_WARP_LOCAL: e.shuffles = c->op == ACC_LOAD; /* fallthrough */
    case ANA_SHARED_THREAD_LOCAL: e.wavefronts = e.requests = left(c->wavefronts, excess); break;
    case ANA_BANK_CONFLICT: e.wavefronts = left(c->wavefronts, excess); break;
    case ANA_STRIDED: e.touched = left(c->sectors, excess); /* fallthrough */
    default: lay_out(c, excess, &e);
    }
    return e;
}

bool remedy_follow(const ana_draft *d, wl_arena *arena, model_change *out)
{
    model_edit *edits = wl_new_array(arena, model_edit, (size_t)d->ninsns + 1);
    *out = (model_change){.edits = edits};
    if (!edits)
        return false;
    out->fill = d->pattern == ANA_TOO_FEW_BLOCKS;
    for (uint32_t i = 0; i < d->ninsns; i++)
        if (d->insn_excess[i] > 0)
            edits[out->nedits++] = edit_of(d, &d->insns[i].c, d->insn_excess[i]);
    return true;
}

/* What both leave of an instruction: what each takes away is not the same. */
static void join_edit(model_edit *to, const model_edit *e)
{
    double *const parts[] = {&to->requests, &to->sectors, &to->wavefronts, &to->lanes};
    const double others[] = {e->requests, e->sectors, e->wavefronts, e->lanes};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        double both = *parts[i] + others[i] - 1;
        *parts[i] = both > 0 ? both : 0;
    }
    to->touched = smaller(to->touched, e->touched);
    to->staged = e->staged > to->staged ? e->staged : to->staged;
    to->shuffles = e->shuffles > to->shuffles ? e->shuffles : to->shuffles;
}

static void add_edit(model_edit *edits, uint32_t *count, const model_edit *e)
{
    for (uint32_t i = 0; i < *count; i++)
        if (edits[i].pc == e->pc && edits[i].object == e->object && edits[i].space == e->space) {
            join_edit(&edits[i], e);
            return;
        }
    edits[(*count)++] = *e;
}

bool remedy_join(wl_arena *arena, const model_change *a, const model_change *b, model_change *out)
{
    model_edit *edits = wl_new_array(arena, model_edit, (size_t)a->nedits + b->nedits + 1);
    model_change both = {.edits = edits, .fill = a->fill || b->fill};
    if (!edits)
        return false;
    for (uint32_t i = 0; i < a->nedits; i++)
        add_edit(edits, &both.nedits, &a->edits[i]);
    for (uint32_t i = 0; i < b->nedits; i++)
        add_edit(edits, &both.nedits, &b->edits[i]);
    *out = both;
    return true;
}
