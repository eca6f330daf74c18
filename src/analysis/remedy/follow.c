/* The counts that are left after the remedy of a finding. */
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

/* Each part of the data is updated once a block, from a copy that the same requests have updated. Their lanes are
 * taken to fall on banks at random, where they are not in one word. */
static void update_copy(const obs_insn *c, double excess, model_edit *e)
{
    const double at_random = 3.5; /* the most of 32 lanes in one of 32 banks, on average */
    double lanes = c->requests ? (double)c->active_lanes / (double)c->requests : 1;
    bool one = c->uniform * 2 > c->requests;
    stage(c, excess, e);
    e->staged = 0;
    e->updates = 1;
    e->update_turns = one ? lanes : smaller(lanes, at_random);
    e->update_lanes = lanes;
    e->update_words = one;
}

/* The lanes of a warp become one update. */
static void combine_lanes(const obs_insn *c, double excess, model_edit *e)
{
    double requests = (double)c->requests, lanes = (double)c->active_lanes;
    e->sectors = e->requests = left(c->sectors, excess);
    e->lanes = lanes > 0 ? smaller(1, e->requests * requests / lanes) : 1;
}

static void unspill(const obs_insn *c, double excess, model_edit *e)
{
    e->sectors = e->requests = left(c->sectors, excess);
}

static void keep_in_registers(const obs_insn *c, double excess, model_edit *e)
{
    e->wavefronts = e->requests = left(c->wavefronts, excess);
}

static void shuffle(const obs_insn *c, double excess, model_edit *e)
{
    keep_in_registers(c, excess, e);
    e->shuffles = c->op == ACC_LOAD;
}

/* Of shared memory only wavefronts are paid. */
static void spare_wavefronts(const obs_insn *c, double excess, model_edit *e)
{
    e->wavefronts = left(c->wavefronts, excess);
}

static void combine_in_shared(const obs_insn *c, double excess, model_edit *e)
{
    double requests = (double)c->requests, lanes = (double)c->active_lanes;
    spare_wavefronts(c, excess, e);
    e->lanes = lanes > 0 ? smaller(1, requests / lanes) : 1;
}

/* A tile is filled by requests of full warps, and what takes it goes through shared memory: a load reads
 * it there; what is stored is put there and taken out. */
static void pass_tiles(const obs_insn *c, double excess, model_edit *e)
{
    if (c->op == ACC_LOAD)
        stage(c, excess, e);
    else
        lay_out(c, excess, e);
    e->staged = c->op == ACC_LOAD ? 1 : 2;
}

static void use_all_words(const obs_insn *c, double excess, model_edit *e)
{
    lay_out(c, excess, e);
    e->touched = left(c->sectors, excess);
}

/* What is left of an instruction after each; lay_out() where there is none. */
typedef void follower(const obs_insn *c, double excess, model_edit *e);
static follower *const followers[REMEDY_COUNT] = {
    [REMEDY_STAGE] = stage,
    [REMEDY_PRIVATE] = update_copy,
    [REMEDY_KEEP] = stage,
    [REMEDY_TILES] = pass_tiles,
    [REMEDY_COMBINE] = combine_lanes,
    [REMEDY_UNSPILL] = unspill,
    [REMEDY_SPLIT] = use_all_words,
    [REMEDY_TRANSPOSE] = use_all_words,
    [REMEDY_WHOLE_SECTORS] = use_all_words,
};

/* The same of shared memory; spare_wavefronts() where there is none. */
static follower *const in_shared[REMEDY_COUNT] = {
    [REMEDY_COMBINE] = combine_in_shared,
    [REMEDY_REGISTERS] = keep_in_registers,
    [REMEDY_SHUFFLES] = shuffle,
    [REMEDY_DIRECT] = keep_in_registers,
};

static follower *follower_of(remedy_kind kind, const obs_insn *c)
{
    bool shared = c->space == ACC_SHARED;
    follower *follow = shared ? in_shared[kind] : followers[kind];
    return follow ? follow : shared ? spare_wavefronts : lay_out;
}

static model_edit edit_of(const ana_draft *d, remedy_kind kind, const obs_insn *c, double excess)
{
    model_edit e = MODEL_EDIT_NOTHING(c->pc, c->object, c->space);
    follower *follow = follower_of(kind, c);
    follow(c, excess, &e);
    if (d->pattern != ANA_STRIDED) /* all words of the sectors are used, now and then */
        e.touched = 1;
    return e;
}

void remedy_count_edit(ana_remedy *r, const obs_insn *c, const model_edit *e)
{
    r->before.requests += (double)c->requests;
    r->before.sectors += (double)c->sectors;
    r->before.wavefronts += (double)c->wavefronts;
    r->after.requests += e->requests * (double)c->requests;
    r->after.sectors += e->sectors * (double)c->sectors;
    r->after.wavefronts += e->wavefronts * (double)c->wavefronts +
                           model_edit_passes(e) * (double)c->requests;
}

bool remedy_follow(const ana_draft *d, wl_arena *arena, ana_remedy *out)
{
    model_edit *edits = wl_new_array(arena, model_edit, (size_t)d->ninsns + 1);
    *out = (ana_remedy){.kind = d->kind, .change = {.edits = edits}};
    if (!edits)
        return false;
    out->change.fill = out->kind == REMEDY_BLOCKS;
    out->change.barriers = d->barriers;
    out->change.warp_barriers = d->warp_barriers;
    out->change.shared = d->shared;
    out->change.even = out->kind == REMEDY_BALANCE;
    out->change.packed = out->kind == REMEDY_TOGETHER && d->unit == ANA_INSTRUCTIONS;
    for (uint32_t i = 0; i < d->ninsns; i++) {
        if (!(d->insn_excess[i] > 0))
            continue;
        model_edit *e = &edits[out->change.nedits++];
        *e = edit_of(d, out->kind, &d->insns[i].c,
                     d->insn_saved ? d->insn_saved[i] : d->insn_excess[i]);
        remedy_count_edit(out, &d->insns[i].c, e);
    }
    return true;
}

bool remedy_append(wl_arena *arena, ana_finding *f, const ana_remedy *r)
{
    ana_remedy *all = wl_new_array(arena, ana_remedy, (size_t)f->nremedies + 1);
    for (uint32_t i = 0; all && i < f->nremedies; i++)
        all[i] = f->remedies[i];
    if (!all)
        return false;
    all[f->nremedies++] = *r;
    f->remedies = all;
    return true;
}
