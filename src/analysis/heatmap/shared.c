/* Patterns of shared memory. Wavefronts are charged once:
 *   bank-conflict                       those beyond the fewest possible
 *   same-address                        the same, of atomic updates of one word by all lanes
 *   divergent                           where pairs are added up by ever fewer lanes: of the fewest
 *                                       possible those that full warps would not need
 *   shared-thread-local                 the fewest possible ones, which registers would save as
 *                                       well
 *   shared-warp-local                   of the fewest possible those of stores and atomics: a
 *                                       shuffle takes the pass of a load
 * An array is thread-local (warp-local) when in every sampled block every word that was touched was
 * touched by one thread (threads of one warp) only, and the sampled blocks executed what touches it
 * elsewhere, too. */
#include "analysis/heatmap/layout.h"
#include "analysis/heatmap/words.h"

#include <string.h>

enum { EXAMPLES = 4 };

typedef struct owners {
    uint64_t words[4]; /* touched words by obs_owner */
    uint32_t warps;
    uint32_t nsectors;
    ana_sector sectors[EXAMPLES];
    bool *seen; /* which of the group's instructions the maps hold */
} owners;

static void mark_seen(owners *o, const ana_group *g, const prof_heat *heat)
{
    for (uint32_t s = 0; s < heat->npcsets; s++) {
        for (uint32_t k = 0; k < heat->pcsets[s].count; k++)
            for (uint32_t i = 0; i < g->ninsns; i++)
                o->seen[i] |= g->insns[i].c.pc == heat->pcsets[s].pcs[k];
    }
}

/* Do the sampled blocks stand for the others? */
static bool is_typical(const ana_input *input, const ana_group *g, const owners *o)
{
    uint64_t requests = 0, unseen = 0;
    for (uint32_t i = 0; i < g->ninsns; i++) {
        requests += g->insns[i].c.requests;
        unseen += o->seen[i] ? 0 : g->insns[i].c.requests;
    }
    return (double)unseen <= input->program->thresholds->unseen_share * (double)requests;
}

static void count_owners(owners *o, const ana_group *g, const prof_heat *heat)
{
    for (uint32_t i = 0; i < heat->info.nrows && o->nsectors < EXAMPLES; i++)
        o->sectors[o->nsectors++] = ana_sector_of(&heat->rows[i], g->info);
    for (uint32_t i = 0; i < heat->info.nrows; i++)
        for (uint32_t k = 0; k < OBS_WORDS_PER_SECTOR; k++)
            o->words[heat->rows[i].owner >> (2 * k) & 3]++;
    o->warps = heat->info.warps > o->warps ? heat->info.warps : o->warps;
}

static wl_status add_owners(const ana_input *input, const ana_group *g, uint32_t heat_id, owners *o,
                            wl_error *err)
{
    prof_heat heat = {0};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch
                           ? prof_load_heat(input->program->db, heat_id, scratch, &heat, err)
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status == WL_OK) {
        count_owners(o, g, &heat);
        mark_seen(o, g, &heat);
    }
    wl_arena_free(scratch);
    return status;
}

/* Until a word that several warps touched is met: then neither pattern can hold. */
static wl_status load_owners(const ana_input *input, const ana_group *g, owners *o, wl_error *err)
{
    wl_status status = WL_OK;
    uint32_t last = 0; /* content of the map before: equal maps are counted once */
    for (uint32_t i = 0; i < g->nheats && status == WL_OK && !o->words[OBS_OWNER_BLOCK]; i++) {
        if (g->heats[i].content != last)
            status = add_owners(input, g, g->heats[i].id, o, err);
        last = g->heats[i].content;
    }
    return status;
}

/* A barrier's word is no data, and to wait is what it is there for. */
static bool is_of_barrier(const ana_input *input, const obs_insn *c)
{
    static const char name[] = "mbarrier.";
    const prof_code *code = prof_find_code(&input->code, input->kernel->id, c->pc);
    return code && strncmp(code->op, name, strlen(name)) == 0;
}

static bool is_conflict(const ana_input *input, const prof_instruction *insn)
{
    const obs_insn *c = &insn->c;
    return !is_of_barrier(input, c) && !layout_is_combined(input, insn) &&
           (double)c->wavefronts >=
               input->program->thresholds->bank_ratio * (double)c->wavefronts_min &&
           c->wavefronts > c->wavefronts_min;
}

/* Do all lanes update one word? */
static bool updates_one_word(const obs_insn *c)
{
    return (c->op == ACC_ATOMIC || c->op == ACC_REDUCTION) && c->uniform * 2 > c->requests;
}

/* The fewest passes beyond those that the lanes would need in full warps. */
static double idle_passes(const obs_insn *c)
{
    enum { PASS_BYTES = 128 };
    double full = (double)c->active_lanes * c->bytes / PASS_BYTES, now = (double)c->wavefronts_min;
    return now > full ? now - full : 0;
}

static double excess_of(const ana_input *input, ana_pattern pattern, const prof_instruction *insn)
{
    const obs_insn *c = &insn->c;
    switch (pattern) {
    case ANA_BANK_CONFLICT:
    case ANA_SAME_ADDRESS:
        return is_conflict(input, insn) && updates_one_word(c) == (pattern == ANA_SAME_ADDRESS)
                   ? (double)(c->wavefronts - c->wavefronts_min)
                   : 0;
    case ANA_DIVERGENT: return idle_passes(c);
    case ANA_SHARED_WARP_LOCAL: return c->op == ACC_LOAD ? 0 : (double)c->wavefronts_min;
    default: return (double)c->wavefronts_min;
    }
}

static void add_facts(words_facts *f, const obs_insn *c)
{
    f->loads |= c->op == ACC_LOAD;
    f->stores |= c->op == ACC_STORE;
    f->atomics |= c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

/* Is the line one of "s[i] += s[j]": two loads of the array and a store of it? */
static bool adds_up(const ana_input *input, const ana_group *g, const prof_code *line)
{
    uint32_t loads = 0, stores = 0;
    for (uint32_t i = 0; i < g->ninsns; i++) {
        const prof_code *code = prof_find_code(&input->code, input->kernel->id, g->insns[i].c.pc);
        if (code && code->line == line->line && code->file == line->file) {
            loads += g->insns[i].c.op == ACC_LOAD;
            stores += g->insns[i].c.op == ACC_STORE;
        }
    }
    return stores > 0 && loads >= 2 * stores;
}

/* Is one element at most what anybody reads of the array, but for the lines that add up? Where more
 * are read, the places of partial sums matter (those of a scan's tree do). */
static bool leaves_one(const ana_input *input, const ana_group *g)
{
    for (uint32_t i = 0; i < g->ninsns; i++) {
        const obs_insn *c = &g->insns[i].c;
        const prof_code *code = prof_find_code(&input->code, input->kernel->id, c->pc);
        if (c->op == ACC_LOAD && c->active_lanes > c->requests && c->uniform < c->requests &&
            !(code && code->line && adds_up(input, g, code)))
            return false;
    }
    return true;
}

/* Ever fewer lanes add up pairs of elements: `worst` pays most, `lanes` take part in a request. */
static bool is_reduction(const ana_input *input, const ana_group *g, uint32_t worst, double lanes)
{
    enum { ALL_BUT_EDGES = 31 };
    const prof_code *code = prof_find_code(&input->code, input->kernel->id, g->insns[worst].c.pc);
    return code && code->line && lanes < ALL_BUT_EDGES && adds_up(input, g, code) &&
           leaves_one(input, g);
}

/* Charges the instructions and collects what the words need. */
static words_facts charge(const ana_input *input, ana_draft *d)
{
    words_facts f = {0};
    uint64_t wavefronts = 0, fewest = 0, uniform = 0, irregular = 0, lanes = 0;
    uint32_t worst = 0;
    double most = 0;
    for (uint32_t i = 0; i < d->group->ninsns; i++) {
        const obs_insn *c = &d->group->insns[i].c;
        double excess = excess_of(input, d->pattern, &d->group->insns[i]);
        d->insn_excess[i] = excess;
        d->excess += excess;
        if (excess > 0) {
            d->requests += c->requests;
            wavefronts += c->wavefronts;
            fewest += c->wavefronts_min;
            uniform += c->uniform;
            irregular += c->irregular;
            lanes += c->active_lanes;
            add_facts(&f, c);
        }
        if (excess > most) {
            most = excess;
            worst = i;
            d->example_launch = d->group->insns[i].launch;
            f.bytes = c->bytes;
            f.stride = c->strided * 2 > c->requests ? c->stride : 0;
        }
    }
    d->alone = d->excess;
    d->launches = (uint32_t)d->group->launches;
    f.irregular = irregular * 2 > d->requests;
    f.broadcast = uniform * 2 > d->requests;
    f.lanes = d->requests ? (double)lanes / (double)d->requests : 0;
    f.narrow = d->requests && layout_is_narrow(input, &d->group->insns[worst]);
    f.goes_on = f.tiles = true;
    f.reduction = d->requests && is_reduction(input, d->group, worst, f.lanes);
    f.sectors_per_request = d->requests ? (double)wavefronts / (double)d->requests : 0;
    f.fewest_per_request = d->requests ? (double)fewest / (double)d->requests : 0;
    return f;
}

static bool draft_conflict(const ana_input *input, ana_pattern pattern, const words_kind *kind,
                           ana_drafts *drafts)
{
    ana_draft *d = ana_draft_add(drafts, input, pattern);
    if (!d)
        return false;
    d->unit = ANA_WAVEFRONTS;
    words_facts f = charge(input, d);
    if (d->excess <= 0) {
        drafts->count--;
        return true;
    }
    ana_add_evidence(d, "requests", "requests", (double)d->requests, "");
    ana_add_evidence(d, "wavefronts_per_request", "wavefronts per request", f.sectors_per_request,
                     "wavefronts");
    ana_add_evidence(d, "fewest_per_request", "needed per request", f.fewest_per_request,
                     "wavefronts");
    if (f.stride)
        ana_add_evidence(d, "stride", "bytes from lane to lane", (double)f.stride, "bytes");
    for (uint32_t i = 0; i < input->group->ninsns; i++)
        f.boxes |= (input->group->insns[i].c.flags & ACC_BOX) != 0;
    return words_set(d, input, &f, kind);
}

/* Only the lines that add up pairs by ever fewer lanes pay. */
static void charge_sums(const ana_input *input, ana_draft *d)
{
    d->excess = 0;
    d->requests = 0;
    for (uint32_t i = 0; i < d->group->ninsns; i++) {
        const obs_insn *c = &d->group->insns[i].c;
        const prof_code *code = prof_find_code(&input->code, input->kernel->id, c->pc);
        if (!code || !code->line || !adds_up(input, d->group, code))
            d->insn_excess[i] = 0;
        d->excess += d->insn_excess[i];
        d->requests += d->insn_excess[i] > 0 ? c->requests : 0;
    }
    d->alone = d->excess;
}

/* Lanes that are idle late in a sum, or between those that add. */
static bool draft_idle_lanes(const ana_input *input, ana_drafts *drafts)
{
    ana_draft *d = ana_draft_add(drafts, input, ANA_DIVERGENT);
    if (!d)
        return false;
    d->unit = ANA_WAVEFRONTS;
    words_facts f = charge(input, d);
    charge_sums(input, d);
    if (!f.reduction || d->excess <= 0) {
        drafts->count--;
        return true;
    }
    ana_add_evidence(d, "requests", "requests", (double)d->requests, "");
    ana_add_evidence(d, "lanes", "active lanes", f.lanes, "");
    return words_set(d, input, &f, &words_idle_lanes);
}

/* The fewest wavefronts that all accesses to the array take; at least 1. */
static uint64_t passes_of(const ana_group *g)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->ninsns; i++)
        sum += g->insns[i].c.wavefronts_min;
    return sum ? sum : 1;
}

static bool draft_local(const ana_input *input, const ana_group *g, const owners *o,
                        ana_drafts *drafts)
{
    bool warp = o->words[OBS_OWNER_WARP] > 0;
    uint64_t words = o->words[OBS_OWNER_THREAD] + o->words[OBS_OWNER_WARP];
    if (words == 0 || o->words[OBS_OWNER_BLOCK] || !is_typical(input, g, o))
        return true;
    ana_draft *d = ana_draft_add(drafts, input,
                                 warp ? ANA_SHARED_WARP_LOCAL : ANA_SHARED_THREAD_LOCAL);
    if (!d)
        return false;
    words_facts f = charge(input, d);
    if (d->excess <= 0) {
        drafts->count--;
        return true;
    }
    f.warps = o->warps;
    f.barriers = barriers_of(input);
    d->barriers = !warp && f.barriers == BARRIERS_ORDER_NOTHING && !f.irregular;
    d->warp_barriers = warp &&
                       (f.barriers == BARRIERS_ORDER_NOTHING || f.barriers == BARRIERS_ORDER_WARPS);
    ana_add_evidence(d, "words", "words touched in the sampled blocks", (double)words, "words");
    ana_add_evidence(d, "thread_words", "touched by one thread only",
                     (double)o->words[OBS_OWNER_THREAD], "words");
    ana_add_evidence(d, "warp_words", "touched by one warp only", (double)o->words[OBS_OWNER_WARP],
                     "words");
    ana_add_evidence(d, "warps", "warps in the block", o->warps, "warps");
    ana_add_evidence(d, "requests", "requests", (double)d->requests, "");
    if (warp) {
        ana_add_evidence(d, "passes_spared", "wavefronts that shuffles would save",
                         100 * d->excess / (double)passes_of(g), "%");
    }
    d->nsectors = o->nsectors;
    memcpy(d->sectors, o->sectors, d->nsectors * sizeof *d->sectors);
    d->certainty = ana_maps_all_blocks(input, g) ? ANA_CERTAINTY_COUNTED : ANA_CERTAINTY_SAMPLED;
    return words_set(d, input, &f, warp ? &words_warp_local : &words_thread_local);
}

/* Is the array, or part of it, an mbarrier? */
static bool holds_barrier(const ana_input *input, const ana_group *g)
{
    for (uint32_t i = 0; i < g->ninsns; i++)
        if (is_of_barrier(input, &g->insns[i].c))
            return true;
    return false;
}

/* Do plain stores fill the array? Neither registers nor shuffles can take the place of one that
 * copies fill beside the program; nor is that known where nothing was seen to fill it. */
static bool is_filled_by_stores(const ana_group *g)
{
    bool plain = false, copies = false;
    for (uint32_t i = 0; i < g->ninsns; i++) {
        bool copy = (g->insns[i].c.flags & (ACC_ASYNC | ACC_BULK)) != 0;
        plain |= g->insns[i].c.op != ACC_LOAD && !copy;
        copies |= g->insns[i].c.op != ACC_LOAD && copy;
    }
    return plain && !copies;
}

wl_status ana_detect_shared(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const ana_group *group = input->group;
    owners o = {0};
    if (group->space != ACC_SHARED)
        return WL_OK;
    o.seen = wl_new_array(input->scratch, bool, group->ninsns + 1);
    wl_status status = o.seen
                           ? load_owners(input, group, &o, err)
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status != WL_OK)
        return status;
    bool good = draft_conflict(input, ANA_BANK_CONFLICT, &words_bank_conflict, drafts) &&
                draft_conflict(input, ANA_SAME_ADDRESS, &words_same_address, drafts) &&
                draft_idle_lanes(input, drafts) &&
                (holds_barrier(input, group) || !is_filled_by_stores(group) ||
                 draft_local(input, group, &o, drafts));
    return good ? WL_OK : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}
