#include "analysis/remedy/trial.h"

#include "analysis/forms.h"
#include "analysis/group.h"
#include "analysis/remedy/follow.h"
#include "analysis/remedy/tried.h"

/* ---- edits ---- */

static double part_left(uint64_t after, uint64_t before)
{
    return before ? (double)after / (double)before : 1;
}

/* The same instruction's row, of the same object where it has several; NULL: it does nothing. */
static const obs_insn *row_of(const obs_insn *rows, uint32_t count, const obs_insn *like)
{
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].pc == like->pc && rows[i].space == like->space &&
            rows[i].object == like->object && rows[i].op == like->op)
            return &rows[i];
    return NULL;
}

static bool has_one_object(const prof_trial *t, const obs_insn *row)
{
    for (uint32_t i = 0; i < t->nbefore; i++)
        if (t->before[i].pc == row->pc && t->before[i].space == row->space &&
            t->before[i].object != row->object)
            return false;
    return true;
}

/* Other launches have other objects in their place. */
static model_edit tried_edit(const prof_trial *t, const obs_insn *before)
{
    const obs_insn *after = row_of(t->after, t->nafter, before);
    uint32_t object = has_one_object(t, before) ? MODEL_ANY_OBJECT : before->object;
    model_edit e = MODEL_EDIT_NOTHING(before->pc, object, before->space);
    if (!after)
        return e;
    e.requests = part_left(after->requests, before->requests);
    e.sectors = part_left(after->sectors, before->sectors);
    e.wavefronts = part_left(after->wavefronts, before->wavefronts);
    e.lanes = part_left(after->active_lanes, before->active_lanes);
    e.like = after;
    return e;
}

/* Is a part of the object kept in shared memory? */
static bool is_kept(const prof_trial *t)
{
    return t->kind == OBS_TRIAL_STAGED || t->kind == OBS_TRIAL_COMBINED ||
           t->kind == OBS_TRIAL_PRIVATE || t->kind == OBS_TRIAL_KEPT;
}

static bool is_updated_row(const obs_insn *c)
{
    return c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

/* What the instruction does to the object now it does there; one of them moves the part for all. */
static model_edit kept_edit(const prof_trial *t, const obs_insn *before)
{
    enum { STEPS = 5 /* of shuffles, to combine the lanes of a warp */ };
    model_edit e = tried_edit(t, before);
    uint64_t passes = 0, updates = 0, turns = 0, lanes = 0;
    for (uint32_t i = 0; i < t->nafter; i++) {
        const obs_insn *c = &t->after[i];
        bool there = c->pc == before->pc && c->space == ACC_SHARED;
        if (there && is_updated_row(c)) {
            updates += c->requests;
            turns += c->wavefronts;
            lanes += c->active_lanes;
        } else if (there) {
            passes += c->wavefronts;
        }
    }
    if (!e.like)
        e.requests = e.sectors = e.lanes = 0;
    e.staged = part_left(passes, before->requests);
    e.updates = part_left(updates, before->requests);
    e.update_turns = part_left(turns, updates);
    e.update_lanes = part_left(lanes, updates);
    e.update_words = part_left(t->pad, tried_most_bytes(t));
    if (t->kind == OBS_TRIAL_COMBINED && before->active_lanes > before->requests)
        e.shuffles = STEPS;
    return e;
}

/* Loads take the place of those that fill the array now, which goes with all that is done to it. */
static model_edit direct_edit(const prof_trial *t, const obs_insn *before)
{
    model_edit e = tried_edit(t, before);
    if (!e.like)
        e.requests = e.sectors = e.wavefronts = e.lanes = 0;
    e.direct = before->space == ACC_GLOBAL;
    return e;
}

/* Is the row one of the array that is left out, or of a load that fills it? The others are of the
 * object that takes its place. */
static bool is_left_out(const prof_trial *t, const obs_insn *before)
{
    return before->space == ACC_SHARED || before->object != t->object;
}

/* Does the array have rows as long as all banks, by the threads or the loops that go through it? */
static bool has_rows_of_banks(const ana_input *input, const prof_trial *t)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, t->launch);
    for (uint32_t i = 0; l && i < t->nbefore; i++) {
        const prof_form *form = ana_form_at(&input->forms, t->before[i].pc);
        ana_place p;
        if (!form || !ana_place_of(form, l, &p))
            continue;
        if (p.step == t->pitch)
            return true;
        for (int d = 0; d < 3; d++)
            if (p.thread[d] == t->pitch || p.block[d] == t->pitch)
                return true;
    }
    return false;
}

/* Without rows that could be made longer, each index is worked out anew: index + index / 32 takes a shift and
 * an addition. */
static double integers_of_trial(const ana_input *input, const prof_trial *t)
{
    enum { BANKS = 128, OF_INDEX = 2 };
    bool anew = t->kind == OBS_TRIAL_PADDED && t->pitch == BANKS && !has_rows_of_banks(input, t);
    return anew ? OF_INDEX : 0;
}

static model_edit edit_of_trial(const prof_trial *t, const obs_insn *before)
{
    if (t->kind == OBS_TRIAL_EXCHANGED)
        return is_left_out(t, before) ? direct_edit(t, before) : kept_edit(t, before);
    return is_kept(t)                    ? kept_edit(t, before)
           : t->kind == OBS_TRIAL_DIRECT ? direct_edit(t, before)
                                         : tried_edit(t, before);
}

const prof_object *tried_array(const ana_input *input, const prof_trial *t)
{
    for (uint32_t i = 0; i < t->nbefore; i++)
        if (t->before[i].space == ACC_SHARED)
            return prof_find_object(&input->program->objects, t->before[i].object);
    return NULL;
}

/* Shared memory that a block takes more, or less. */
static int64_t shared_of_trial(const ana_input *input, const prof_trial *t)
{
    const prof_object *array = prof_find_object(&input->program->objects, t->object);
    if (t->kind == OBS_TRIAL_DIRECT)
        return array ? -(int64_t)array->bytes : 0;
    if (t->kind == OBS_TRIAL_EXCHANGED) {
        array = tried_array(input, t);
        return array ? (int64_t)t->pad - (int64_t)array->bytes : t->pad;
    }
    return is_kept(t) ? t->pad : 0;
}

static bool set_change(const ana_input *input, const prof_trial *t, model_change *out)
{
    if (t->kind == OBS_TRIAL_REGRIDDED) {
        *out = (model_change){.fill = true};
        return true;
    }
    model_edit *edits = wl_new_array(input->arena, model_edit, (size_t)t->nbefore + 1);
    double integers = integers_of_trial(input, t);
    for (uint32_t i = 0; edits && i < t->nbefore; i++) {
        edits[i] = edit_of_trial(t, &t->before[i]);
        edits[i].integers = integers;
    }
    *out = (model_change){.nedits = t->nbefore, .edits = edits};
    out->shared = shared_of_trial(input, t);
    return edits != NULL;
}

static void count_kernel(const ana_input *input, ana_remedy *r)
{
    for (uint32_t i = 0; i < input->ninsns; i++) {
        const obs_insn *c = &input->insns[i].c;
        const model_edit *e = model_edit_of(&r->change, c);
        if (e)
            remedy_count_edit(r, c, e);
    }
}

/* ---- kinds ---- */

uint32_t tried_least_bytes(const prof_trial *t)
{
    uint32_t bytes = tried_most_bytes(t);
    for (uint32_t i = 0; i < t->nbefore; i++)
        bytes = t->before[i].bytes && t->before[i].bytes < bytes ? t->before[i].bytes : bytes;
    return bytes;
}

uint32_t tried_most_bytes(const prof_trial *t)
{
    uint32_t bytes = 1;
    for (uint32_t i = 0; i < t->nbefore; i++)
        bytes = t->before[i].bytes > bytes ? t->before[i].bytes : bytes;
    return bytes;
}

#define OF(pattern) (1U << ANA_##pattern)

static const struct {
    remedy_kind kind;
    uint32_t patterns; /* that findings on the trial's object have; 0: all of the kernel's */
    tried_text *text;
} kinds[OBS_TRIAL_COUNT] = {
    [OBS_TRIAL_TRANSPOSED] = {REMEDY_SWAP, 0, tried_swap},
    [OBS_TRIAL_PADDED] = {REMEDY_PAD, OF(BANK_CONFLICT), tried_pad},
    [OBS_TRIAL_WIDENED] = {REMEDY_WIDEN, 0, tried_widen},
    [OBS_TRIAL_SPREAD] = {REMEDY_SPREAD, OF(MISALIGNED), tried_spread},
    [OBS_TRIAL_MOVED] = {REMEDY_ALIGN, OF(MISALIGNED), tried_align},
    [OBS_TRIAL_REGRIDDED] = {REMEDY_BLOCKS, OF(TOO_FEW_BLOCKS), tried_blocks},
    [OBS_TRIAL_STAGED] = {REMEDY_STAGE, OF(HOT) | OF(HOT_RANDOM) | OF(MISALIGNED) | OF(PROMOTE),
                          tried_stage},
    [OBS_TRIAL_COMBINED] = {REMEDY_COMBINE, OF(SAME_ADDRESS), tried_combine},
    [OBS_TRIAL_PRIVATE] = {REMEDY_PRIVATE, OF(SAME_ADDRESS) | OF(SCATTERED_ATOMICS), tried_private},
    [OBS_TRIAL_KEPT] = {REMEDY_KEEP, OF(HOT) | OF(HOT_RANDOM) | OF(PROMOTE), tried_keep},
    [OBS_TRIAL_EXCHANGED] = {REMEDY_EXCHANGE, OF(SWAP_ARRAYS), tried_exchange},
    [OBS_TRIAL_SWIZZLED] = {REMEDY_SWIZZLE, OF(BANK_CONFLICT), tried_swizzle},
    [OBS_TRIAL_DIRECT] = {REMEDY_DIRECT, OF(SHARED_USED_ONCE), tried_direct},
    [OBS_TRIAL_SPLIT] = {REMEDY_SPLIT, OF(STRIDED) | OF(UNCOALESCED), tried_split},
};

static bool set_tried(const ana_input *input, const prof_trial *t, ana_remedy *out)
{
    const prof_object *object = prof_find_object(&input->program->objects, t->object);
    *out = (ana_remedy){.kind = kinds[t->kind].kind, .counted = true};
    out->remedy = kinds[t->kind].text(input, t);
    out->advice = out->remedy ? group_fill(input->arena, out->remedy, ana_object_text(object))
                              : NULL;
    if (!out->advice || !set_change(input, t, &out->change))
        return false;
    count_kernel(input, out);
    return true;
}

/* ---- findings ---- */

/* What the trial takes away of what the finding's instructions pay. */
static double mended(const ana_input *input, const ana_finding *f, const model_change *trial)
{
    double sum = 0;
    for (uint32_t i = 0; i < input->ninsns; i++) {
        const obs_insn *c = &input->insns[i].c;
        const model_edit *e = model_edit_of(trial, c);
        if (!e || !model_edit_of(&f->change, c))
            continue;
        sum += f->cost.unit == ANA_WAVEFRONTS ? (1 - e->wavefronts) * (double)c->wavefronts
                                              : (1 - e->sectors) * (double)c->sectors;
    }
    return sum;
}

/* At least half of what the finding pays; and where an object is laid out otherwise, its other
 * accesses do not pay for that. */
static bool is_mended(const ana_input *input, const prof_trial *t, const ana_remedy *r,
                      const ana_finding *f)
{
    if (model_changes_grid(&r->change))
        return true;
    double excess = (double)f->cost.excess, saved = r->before.sectors - r->after.sectors;
    return 2 * mended(input, f, &r->change) >= excess &&
           (obs_trial_space(t->kind) != ACC_GLOBAL || 2 * saved >= excess);
}

/* The object, or the first of several that were allocated at its place; any where the change is of
 * the kernel. */
static bool is_on_object(const prof_trial *t, const ana_finding *f)
{
    return obs_trial_space(t->kind) == ACC_SPACE_COUNT || f->object == t->object ||
           (f->access && f->access->first_object == t->object);
}

static bool is_about(const prof_trial *t, const ana_finding *f)
{
    uint32_t patterns = kinds[t->kind].patterns;
    return patterns ? is_on_object(t, f) && patterns >> f->pattern & 1
                    : f->cost.unit != ANA_INSTRUCTIONS;
}

/* Do other accesses pay for what swapping saves? */
static bool only_moves_cost(const model_change *swap)
{
    const double more = 1.2;
    for (uint32_t i = 0; i < swap->nedits; i++)
        if (swap->edits[i].space == ACC_GLOBAL && swap->edits[i].sectors > more)
            return true;
    return false;
}

/* Where the lanes run along the rows of one array and across those of another, no order of threads
 * suits both. */
static bool retell(const ana_input *input, ana_finding *f)
{
    static const char tiles[] =
        "The lanes of a warp take elements of different rows of " ANA_OBJECT ", and run along rows "
        "elsewhere, so that no order of the indices suits both. Pass tiles through shared memory: "
        "then lanes run along rows when a tile is filled and when it is taken out.";
    bool rows = f->pattern == ANA_FALSE_SHARING || f->pattern == ANA_UNCOALESCED;
    if (!rows || f->remedies->kind != REMEDY_NEIGHBOURS || !f->access || f->access->updates)
        return true;
    f->remedies->kind = REMEDY_TILES;
    f->remedy = f->remedies->remedy = tiles;
    f->advice = f->remedies->advice =
        group_fill(input->arena, tiles,
                   ana_object_text(prof_find_object(&input->program->objects, f->object)));
    return f->advice != NULL;
}

static bool offer_remedy(const ana_input *input, const ana_remedy *r, ana_finding *f)
{
    bool moves = r->kind == REMEDY_SWAP && only_moves_cost(&r->change);
    return (!moves || retell(input, f)) && remedy_append(input->arena, f, r);
}

static bool offer(const ana_input *input, const prof_trial *t, ana_finding *findings, size_t count)
{
    ana_remedy remedy;
    if (!set_tried(input, t, &remedy))
        return false;
    for (size_t i = 0; i < count; i++) {
        ana_finding *f = &findings[i];
        if (is_about(t, f) && is_mended(input, t, &remedy, f) && !offer_remedy(input, &remedy, f))
            return false;
    }
    return true;
}

static double work_of(const prof_trial *t)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->nbefore; i++)
        sum += (double)t->before[i].sectors + (double)t->before[i].wavefronts;
    return sum;
}

bool remedy_is_largest(const prof_trial_rows *all, uint32_t at)
{
    const prof_trial *t = &all->rows[at];
    for (uint32_t i = 0; i < all->count; i++) {
        const prof_trial *other = &all->rows[i];
        if (i != at && other->kind == t->kind && other->object == t->object &&
            (work_of(other) > work_of(t) || (work_of(other) == work_of(t) && i < at)))
            return false;
    }
    return true;
}

wl_status remedy_add_tried(const ana_input *input, ana_finding *findings, size_t count,
                           wl_error *err)
{
    prof_trial_rows trials;
    if (!count)
        return WL_OK;
    wl_status status = prof_load_trials(input->program->db, input->kernel->id, input->arena,
                                        &trials, err);
    for (uint32_t i = 0; status == WL_OK && i < trials.count; i++)
        if (remedy_is_largest(&trials, i) && !offer(input, &trials.rows[i], findings, count))
            status = wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    return status;
}
