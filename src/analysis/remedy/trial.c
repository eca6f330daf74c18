#include "analysis/remedy/trial.h"

#include "analysis/group.h"

#include <string.h>

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

static bool set_change(const prof_trial *t, wl_arena *arena, model_change *out)
{
    model_edit *edits = wl_new_array(arena, model_edit, (size_t)t->nbefore + 1);
    for (uint32_t i = 0; edits && i < t->nbefore; i++)
        edits[i] = tried_edit(t, &t->before[i]);
    *out = (model_change){.nedits = t->nbefore, .edits = edits};
    return edits != NULL;
}

static void count_kernel(const ana_input *input, ana_remedy *r)
{
    for (uint32_t i = 0; i < input->ninsns; i++) {
        const obs_insn *c = &input->insns[i].c;
        const model_edit *e = model_edit_of(&r->change, c);
        if (!e)
            continue;
        r->before.requests += (double)c->requests;
        r->before.sectors += (double)c->sectors;
        r->before.wavefronts += (double)c->wavefronts;
        r->after.requests += e->requests * (double)c->requests;
        r->after.sectors += e->sectors * (double)c->sectors;
        r->after.wavefronts += e->wavefronts * (double)c->wavefronts;
    }
}

/* ---- advice ---- */

/* "matrix.cu:21", where the instruction stands; "" where that is not known. */
static const char *place_of(const ana_input *input, uint32_t pc)
{
    const prof_code *code = prof_find_code(&input->code, input->kernel->id, pc);
    const prof_file *file = code ? prof_find_file(&input->program->files, code->file) : NULL;
    const char *name = file ? strrchr(file->path, '/') : NULL;
    return !file || !code->line ? ""
                                : wl_arena_printf(input->arena, ", at %s:%u",
                                                  name ? name + 1 : file->path, code->line);
}

/* Of square blocks nothing changes but the indices; others have their shape exchanged, too, or all
 * indices are exchanged and the grid's shape with them. */
static const char *swap_text(const ana_input *input, const prof_trial *t)
{
    static const char why[] = "so that the lanes of a warp run along the other index";
    const prof_launch *l = prof_find_launch(&input->program->launches, t->launch);
    const char *place = place_of(input, t->pc);
    if (!l || !place)
        return NULL;
    const uint32_t *block = l->block, *grid = l->grid;
    if (block[0] == block[1])
        return wl_arena_printf(
            input->arena, "Swap threadIdx.x and threadIdx.y where the kernel reads them%s, %s.",
            place, why);
    if (t->block[0] == block[0])
        return wl_arena_printf(
            input->arena,
            "Swap .x and .y of threadIdx, blockIdx and blockDim where the kernel "
            "reads them%s, %s. Blocks stay as they are; the grid covers the "
            "exchanged ranges: %u x %u blocks.",
            place, why, grid[1] * block[1] / block[0], grid[0] * block[0] / block[1]);
    return wl_arena_printf(
        input->arena,
        "Swap .x and .y of threadIdx and blockDim where the kernel reads them%s, "
        "%s, and start blocks of %u x %u threads in place of %u x %u.",
        place, why, t->block[0], t->block[1], block[0], block[1]);
}

static const char *widen_text(const ana_input *input, const prof_trial *t)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, t->launch);
    if (!l)
        return NULL;
    uint32_t by = t->block[0] / l->block[0];
    return wl_arena_printf(
        input->arena,
        "Start blocks of %u x %u threads in place of %u x %u, and %u x %u blocks "
        "in place of %u x %u, so that the lanes of a warp run along one row.",
        t->block[0], t->block[1], l->block[0], l->block[1], l->grid[0] / by, l->grid[1] * by,
        l->grid[0], l->grid[1]);
}

static uint32_t bytes_of_element(const prof_trial *t)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < t->nbefore; i++)
        bytes = t->before[i].bytes > bytes ? t->before[i].bytes : bytes;
    return bytes ? bytes : 1;
}

/* Rows of 128 bytes may be no rows, but all banks once. */
static const char *pad_text(const ana_input *input, const prof_trial *t)
{
    enum { BANKS = 128 };
    uint32_t bytes = bytes_of_element(t), more = t->pad / bytes;
    const char *some = more == 1 ? "an element"
                                 : wl_arena_printf(input->arena, "%u elements", more);
    const char *longer = more == 1 ? "one element" : some;
    if (!some)
        return NULL;
    if (t->pitch == BANKS)
        return wl_arena_printf(
            input->arena,
            "Leave %s free after every 128 bytes of " ANA_OBJECT ": make its rows %s longer where "
            "they have %u elements, else take index + index / %u%s for the index.",
            some, longer, BANKS / bytes, BANKS / bytes,
            more == 1 ? "" : wl_arena_printf(input->arena, " * %u", more));
    return wl_arena_printf(input->arena,
                           "Make each row of " ANA_OBJECT " %s longer: %u bytes in place of %u.",
                           longer, t->pitch + t->pad, t->pitch);
}

static bool set_tried(const ana_input *input, const prof_trial *t, ana_remedy *out)
{
    static const struct {
        remedy_kind kind;
        const char *(*text)(const ana_input *input, const prof_trial *t);
    } of[OBS_TRIAL_COUNT] = {[OBS_TRIAL_TRANSPOSED] = {REMEDY_SWAP, swap_text},
                             [OBS_TRIAL_PADDED] = {REMEDY_PAD, pad_text},
                             [OBS_TRIAL_WIDENED] = {REMEDY_WIDEN, widen_text}};
    const prof_object *object = prof_find_object(&input->program->objects, t->object);
    *out = (ana_remedy){.kind = of[t->kind].kind, .counted = true};
    out->remedy = of[t->kind].text(input, t);
    out->advice = out->remedy ? group_fill(input->arena, out->remedy, ana_object_text(object))
                              : NULL;
    if (!out->advice || !set_change(t, input->arena, &out->change))
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

static bool is_about(const prof_trial *t, const ana_finding *f)
{
    return t->kind == OBS_TRIAL_PADDED ? f->object == t->object && f->pattern == ANA_BANK_CONFLICT
                                       : f->cost.unit != ANA_INSTRUCTIONS;
}

static bool append_remedy(wl_arena *arena, ana_finding *f, const ana_remedy *r)
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
    return (!moves || retell(input, f)) && append_remedy(input->arena, f, r);
}

static bool offer(const ana_input *input, const prof_trial *t, ana_finding *findings, size_t count)
{
    ana_remedy remedy;
    if (!set_tried(input, t, &remedy))
        return false;
    for (size_t i = 0; i < count; i++) {
        ana_finding *f = &findings[i];
        if (is_about(t, f) && 2 * mended(input, f, &remedy.change) >= (double)f->cost.excess &&
            !offer_remedy(input, &remedy, f))
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

/* Of launches of several shapes the one that does most speaks for all. */
static bool is_largest(const prof_trial_rows *all, uint32_t at)
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
        if (is_largest(&trials, i) && !offer(input, &trials.rows[i], findings, count))
            status = wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    return status;
}
