/* Runs detectors and makes findings of their drafts. */
#include "analysis/detect.h"
#include "analysis/group.h"
#include "analysis/places.h"
#include "analysis/remedy/follow.h"
#include "analysis/remedy/trial.h"
#include "analysis/tables.h"

#include <math.h>
#include <stdlib.h>

wl_status ana_nomem(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

/* ---- judging ---- */

static double total_of(const ana_input *input, const ana_draft *d)
{
    double total = input->totals[d->unit];
    return total > 0 ? total : 1;
}

/* Steps of the plan are told however small they are: the peak that is promised counts them. */
static bool is_worth_telling(const ana_input *input, const ana_draft *d)
{
    if (d->saving.step)
        return true;
    const ana_thresholds *t = input->program->thresholds;
    double share = d->alone / total_of(input, d);
    bool wasteful = d->requests && d->alone >= t->wasteful * (double)d->requests * (1 - 1e-9);
    return d->excess >= t->min_excess && share >= (wasteful ? t->min_share_wasteful : t->min_share);
}

/* ---- lines ---- */

typedef struct charged_line {
    ana_line line;
    uint32_t file, caller; /* caller: the row whose line calls this helper; its own row: none */
    double excess, most;   /* of the line, and of its costliest instruction */
} charged_line;

typedef struct charged_lines {
    const ana_input *input;
    charged_line *rows;
    uint32_t count, *order;
} charged_lines;

static int by_excess(const void *a, const void *b)
{
    const charged_line *x = a, *y = b;
    if (x->excess != y->excess)
        return x->excess > y->excess ? -1 : 1;
    return x->line.pc < y->line.pc ? -1 : x->line.pc > y->line.pc;
}

/* The row of a place, or of an instruction without one; a new one has `caller`, or none. */
static uint32_t charged_row(charged_lines *all, ana_source at, uint32_t pc, uint32_t caller)
{
    uint32_t i = 0;
    for (; i < all->count; i++) {
        const charged_line *l = &all->rows[i];
        if (at.file ? l->file == at.file && l->line.line == at.line : !l->file && l->line.pc == pc)
            return i;
    }
    const prof_file *found = prof_find_file(&all->input->program->files, at.file);
    all->rows[i] = (charged_line){.file = at.file, .line = {.line = at.line, .pc = pc}};
    all->rows[i].line.file = found ? found->path : NULL;
    all->rows[i].line.inside = caller != UINT32_MAX;
    all->rows[i].caller = caller == UINT32_MAX ? i : caller;
    return all->count++;
}

static void charge_line(charged_line *l, const obs_insn *c, double excess)
{
    l->excess += excess;
    l->line.requests += c->requests;
    l->line.sectors += c->sectors;
    l->line.sectors_min += c->sectors_min;
    l->line.wavefronts += c->wavefronts;
    l->line.wavefronts_min += c->wavefronts_min;
    if (excess > l->most) {
        l->most = excess;
        l->line.pc = c->pc;
    }
}

/* The caller's line, and the helper's where the instruction stands in one. */
static void charge_places(charged_lines *all, const obs_insn *c, double excess)
{
    const ana_input *input = all->input;
    const prof_code *code = input->kernel ? prof_find_code(&input->code, input->kernel->id, c->pc)
                                          : NULL;
    ana_places in = {&input->program->files, &input->program->locs, input->code};
    ana_source helper = {0}, at = code ? ana_source_of(&in, code, &helper) : (ana_source){0};
    uint32_t caller = charged_row(all, at, c->pc, UINT32_MAX);
    all->rows[caller].line.inside = false; /* helpers have code that is not inlined, too */
    charge_line(&all->rows[caller], c, excess);
    if (helper.file) {
        uint32_t row = charged_row(all, helper, c->pc, caller);
        if (all->rows[row].line.inside)
            charge_line(&all->rows[row], c, excess);
    }
}

/* Callers by what they pay, each followed by its helpers. */
static void put_lines(const charged_lines *all, ana_finding *f)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const charged_line *caller = &all->rows[all->order[i]];
        if (caller->line.inside)
            continue;
        f->lines[f->nlines++] = caller->line;
        for (uint32_t k = 0; k < all->count; k++) {
            const charged_line *l = &all->rows[all->order[k]];
            if (l->line.inside && l->caller == all->order[i])
                f->lines[f->nlines++] = l->line;
        }
    }
}

static bool order_lines(charged_lines *all)
{
    charged_line *sorted = wl_arena_copy(all->input->scratch, all->rows,
                                         all->count * sizeof *sorted);
    all->order = wl_new_array(all->input->scratch, uint32_t, all->count);
    if (!sorted || !all->order)
        return false;
    for (uint32_t i = 0; i < all->count; i++)
        sorted[i].file = i; /* the row that it was */
    qsort(sorted, all->count, sizeof *sorted, by_excess);
    for (uint32_t i = 0; i < all->count; i++)
        all->order[i] = sorted[i].file;
    return true;
}

static void charge_barriers(charged_lines *all, const ana_draft *d)
{
    for (uint32_t i = 0; i < d->nplaces; i++) {
        const obs_insn barrier = {.pc = d->places[i]};
        charge_places(all, &barrier, d->place_excess[i]);
    }
}

/* The lines whose instructions pay, the costliest first. */
static bool set_paying_lines(const ana_input *input, const ana_draft *d, ana_finding *f)
{
    size_t room = 2 * ((size_t)d->ninsns + d->nplaces);
    charged_lines all = {.input = input, .rows = wl_new_array(input->scratch, charged_line, room)};
    if (all.rows)
        charge_barriers(&all, d);
    for (uint32_t i = 0; all.rows && i < d->ninsns; i++)
        if (d->insn_excess[i] > 0)
            charge_places(&all, &d->insns[i].c, d->insn_excess[i]);
    f->lines = wl_new_array(input->arena, ana_line, all.count);
    bool good = all.rows && f->lines && (all.count == 0 || order_lines(&all));
    if (good)
        put_lines(&all, f);
    return good;
}

/* Whether instructions pay, so that their lines are the finding's. */
static bool has_paying_lines(const ana_draft *d)
{
    for (uint32_t i = 0; i < d->ninsns; i++)
        if (d->insn_excess[i] > 0)
            return true;
    return false;
}

static void add_site_line(const ana_input *input, ana_finding *f, ana_source at, bool inside)
{
    const prof_file *file = prof_find_file(&input->program->files, at.file);
    if (file && at.line)
        f->lines[f->nlines++] = (ana_line){.file = file->path, .line = at.line, .inside = inside};
}

/* Where the object is allocated or defined, the caller's line before that of a helper; or where the
 * kernel begins. */
static bool set_site(const ana_input *input, const ana_draft *d, ana_finding *f)
{
    const prof_object *o = prof_find_object(&input->program->objects, d->object);
    const prof_kernel *k = input->kernel;
    ana_source at = o   ? (ana_source){o->file, o->line}
                    : k ? (ana_source){k->file, k->line}
                        : d->site;
    ana_source caller = o ? (ana_source){o->caller_file, o->caller_line} : d->caller;
    f->lines = wl_new_array(input->arena, ana_line, 2);
    if (!f->lines)
        return false;
    add_site_line(input, f, caller, false);
    add_site_line(input, f, at, f->nlines > 0);
    return true;
}

/* ---- findings ---- */

static bool set_access(const ana_input *input, const ana_draft *d, ana_finding *f)
{
    f->access = wl_new(input->arena, ana_access);
    if (!f->access)
        return false;
    *f->access = (ana_access){.space = d->group ? d->group->space : ACC_GLOBAL,
                              .launches = d->launches,
                              .example_launch = d->example_launch,
                              .objects = 1,
                              .first_object = d->object,
                              .nsectors = d->nsectors};
    for (uint32_t i = 0; i < d->ninsns; i++) {
        const obs_insn *c = &d->insns[i].c;
        bool pays = d->insn_excess[i] > 0;
        f->access->space = pays && !d->group ? c->space : f->access->space;
        f->access->updates |= pays && (c->op == ACC_ATOMIC || c->op == ACC_REDUCTION);
    }
    f->access->sectors = wl_arena_copy(input->arena, d->sectors, d->nsectors * sizeof *d->sectors);
    return f->access->sectors != NULL;
}

static ana_certainty certainty_of(const ana_input *input, const ana_draft *d)
{
    bool less = input->kernel && !input->counted && d->certainty < ANA_CERTAINTY_ESTIMATED;
    return less ? ANA_CERTAINTY_ESTIMATED : d->certainty;
}

static bool append_other(detect_run *run, const ana_draft *d, const ana_other *other,
                         ana_finding *f)
{
    const prof_object *object = prof_find_object(&run->program.objects, d->object);
    ana_draft instead = *d;
    ana_remedy remedy;
    instead.kind = other->kind;
    if (!remedy_follow(&instead, run->arena, &remedy))
        return false;
    remedy.remedy = other->remedy;
    remedy.advice = group_fill(run->arena, other->remedy, ana_object_text(object));
    return remedy.advice && remedy_append(run->arena, f, &remedy);
}

/* The finding's own remedies; others may follow. */
static bool set_remedy(detect_run *run, const ana_draft *d, ana_finding *f)
{
    f->remedies = wl_new(run->arena, ana_remedy);
    if (!f->remedies || !remedy_follow(d, run->arena, f->remedies))
        return false;
    f->nremedies = 1;
    f->remedies->remedy = f->remedy;
    f->remedies->advice = f->advice;
    f->change = f->remedies->change;
    const ana_remedy smaller = {.kind = REMEDY_SMALLER,
                                .remedy = d->smaller_blocks,
                                .advice = d->smaller_blocks,
                                .change = {.cut = true}};
    for (uint32_t i = 0; i < d->nothers; i++)
        if (!append_other(run, d, &d->others[i], f))
            return false;
    return !d->smaller_blocks || remedy_append(run->arena, f, &smaller);
}

static bool append_finding(detect_run *run, const ana_input *input, const ana_draft *d)
{
    const prof_object *object = prof_find_object(&run->program.objects, d->object);
    ana_finding f = {
        .pattern = d->pattern,
        .scope = d->scope,
        .kernel = d->kernel,
        .object = d->object,
        .cost = {.unit = d->unit,
                 .excess = (uint64_t)llround(d->excess),
                 .share_of_kernel = input->kernel ? d->excess / total_of(input, d) : 0},
        .kernel_share_of_time = -1,
        .gain_figures = "",
        .gain_note = ana_gain_reason(d->gain),
        .certainty = certainty_of(input, d),
        .told = d->told,
        .gain = d->gain,
        .saving = d->saving,
        .frequency = d->frequency,
        .refusal = d->refusal,
        .nevidence = d->nevidence,
        .summary = d->summary,
        .remedy = d->remedy,
        .advice = group_fill(run->arena, d->remedy, ana_object_text(object)),
    };
    f.evidence = wl_arena_copy(run->arena, d->evidence, d->nevidence * sizeof *f.evidence);
    bool good = f.advice && f.evidence && set_remedy(run, d, &f);
    good = good && (has_paying_lines(d) ? set_paying_lines(input, d, &f) && set_access(input, d, &f)
                    : d->nplaces        ? set_paying_lines(input, d, &f)
                                        : set_site(input, d, &f));
    return good && wl_push(&run->found, f);
}

/* ---- scopes ---- */

static wl_status run_detectors(const detect_run *run, ana_input *input, ana_scope scope,
                               ana_drafts *drafts, wl_error *err)
{
    wl_status status = WL_OK;
    input->scope = scope;
    for (size_t i = 0; i < run->ndetectors && status == WL_OK; i++)
        if (run->detectors[i].scope == scope)
            status = run->detectors[i].detect(input, drafts, err);
    return status;
}

static wl_status run_in_kernel(const detect_run *run, ana_input *input, ana_drafts *drafts,
                               wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t g = 0; g < input->ngroups && status == WL_OK; g++) {
        input->group = &input->groups[g];
        input->object = input->group->info;
        status = run_detectors(run, input, ANA_SCOPE_KERNEL_AND_OBJECT, drafts, err);
    }
    input->group = NULL;
    input->object = NULL;
    return status == WL_OK ? run_detectors(run, input, ANA_SCOPE_KERNEL, drafts, err) : status;
}

static void note_left_out(detect_run *run, const ana_input *input, const ana_draft *d)
{
    ana_left_out *out = &run->left_out;
    double share = d->excess / total_of(input, d);
    if (d->excess < 1)
        return;
    out->count++;
    if (share > out->share) {
        out->share = share;
        out->pattern = d->pattern;
        out->kernel = d->kernel;
        out->object = d->object;
    }
}

static wl_status tell_drafts(detect_run *run, const ana_input *input, const ana_drafts *drafts,
                             wl_error *err)
{
    for (uint32_t i = 0; i < drafts->count; i++) {
        const ana_draft *d = &drafts->rows[i];
        if (!is_worth_telling(input, d))
            note_left_out(run, input, d);
        else if (!append_finding(run, input, d))
            return ana_nomem(err);
    }
    return WL_OK;
}

/* Notes the sectors of a kernel that no draft accounts for. */
static bool note_left_over(detect_run *run, const ana_input *input, double sectors)
{
    ana_left_over row = {input->kernel->id, sectors};
    run->unnamed += sectors;
    return !find_is_much(input->program->thresholds, sectors, input->totals[ANA_SECTORS]) ||
           wl_push(&run->left_over, row);
}

static wl_status detect_in_kernel(detect_run *run, const prof_kernel *kernel, wl_error *err)
{
    ana_drafts drafts = {0};
    ana_input input = {
        .program = &run->program, .kernel = kernel, .scratch = wl_arena_new(), .arena = run->arena};
    size_t first = run->found.count;
    wl_status status = input.scratch ? ana_input_load(&input, err) : ana_nomem(err);
    status = status == WL_OK ? run_in_kernel(run, &input, &drafts, err) : status;
    status = status == WL_OK ? tell_drafts(run, &input, &drafts, err) : status;
    status = status == WL_OK ? detect_merge(run, first, input.scratch, err) : status;
    if (status == WL_OK && run->found.count > first)
        status = remedy_add_tried(&input, &run->found.data[first], run->found.count - first, err);
    if (status == WL_OK && !note_left_over(run, &input, drafts.unnamed))
        status = ana_nomem(err);
    double traffic = input.totals[ANA_SECTORS] + input.totals[ANA_WAVEFRONTS];
    run->traffic[kernel->id] = traffic;
    run->program.totals[ANA_SECTORS] += input.totals[ANA_SECTORS];
    run->program.totals[ANA_WAVEFRONTS] += input.totals[ANA_WAVEFRONTS];
    run->program.totals[ANA_INSTRUCTIONS] += input.totals[ANA_INSTRUCTIONS];
    run->program.totals[ANA_BARRIERS] += input.totals[ANA_BARRIERS];
    run->program.totals[ANA_SHARED_BYTES] += input.totals[ANA_SHARED_BYTES];
    free(drafts.rows);
    wl_arena_free(input.scratch);
    return status;
}

static wl_status run_in_program(const detect_run *run, ana_input *input, ana_drafts *drafts,
                                wl_error *err)
{
    const prof_object_rows *objects = &run->program.objects;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < objects->count && status == WL_OK; i++) {
        input->object = &objects->rows[i];
        status = run_detectors(run, input, ANA_SCOPE_OBJECT, drafts, err);
    }
    input->object = NULL;
    return status == WL_OK ? run_detectors(run, input, ANA_SCOPE_PROGRAM, drafts, err) : status;
}

/* Detectors of objects and of the program. */
static wl_status detect_in_program(detect_run *run, wl_error *err)
{
    ana_drafts drafts = {0};
    ana_memory memory = {0};
    ana_input input = {.program = &run->program, .scratch = wl_arena_new(), .arena = run->arena};
    wl_status status = input.scratch
                           ? ana_memory_table(run->program.db, input.scratch, &memory, err)
                           : ana_nomem(err);
    run->program.totals[ANA_BYTES] = (double)memory.peak_bytes;
    for (int unit = 0; unit < ANA_UNIT_COUNT; unit++)
        input.totals[unit] = run->program.totals[unit];
    status = status == WL_OK ? run_in_program(run, &input, &drafts, err) : status;
    run->program.totals[ANA_COPIED] = input.totals[ANA_COPIED] = drafts.copied;
    run->replayed = drafts.replayed;
    run->peak_after = drafts.peak_after;
    status = status == WL_OK ? tell_drafts(run, &input, &drafts, err) : status;
    free(drafts.rows);
    wl_arena_free(input.scratch);
    return status;
}

wl_status detect_all(detect_run *run, wl_error *err)
{
    const prof_kernel_rows *kernels = &run->program.kernels;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < kernels->count && status == WL_OK; i++)
        status = detect_in_kernel(run, &kernels->rows[i], err);
    return status == WL_OK ? detect_in_program(run, err) : status;
}
