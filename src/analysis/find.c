/* All findings of a profile: detected, judged, ranked, with keys and put into groups. */
#include "analysis/find.h"
#include "analysis/choose.h"
#include "analysis/gain.h"
#include "analysis/group.h"
#include "analysis/key.h"
#include "analysis/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double rank_of(const ana_finding *f)
{
    return f->worth.known ? f->worth.of_program : f->cost.share_of_program;
}

static int by_finding_cost(const void *a, const void *b)
{
    const ana_finding *x = a, *y = b;
    bool little = x->gain != ANA_GAIN_FULL, room = find_saves_room(x);
    if (little != (y->gain != ANA_GAIN_FULL))
        return little ? 1 : -1;
    if (room != find_saves_room(y))
        return room ? 1 : -1;
    double saved = rank_of(x), other = rank_of(y);
    if (saved != other)
        return saved > other ? -1 : 1;
    if (x->cost.excess != y->cost.excess)
        return x->cost.excess > y->cost.excess ? -1 : 1;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (int)x->pattern - (int)y->pattern;
}

/* What the program pays of each resource: at least 1, since it divides. */
static void set_resources(const ana_program *program, double resources[ANA_RESOURCE_COUNT])
{
    for (int i = 0; i < ANA_RESOURCE_COUNT; i++)
        resources[i] = 0;
    for (int unit = 0; unit < ANA_UNIT_COUNT; unit++)
        resources[ana_unit_resource((ana_unit)unit)] += program->totals[unit];
    for (int i = 0; i < ANA_RESOURCE_COUNT; i++)
        resources[i] = resources[i] > 0 ? resources[i] : 1;
}

static double traffic_share_of(const detect_run *run, uint32_t kernel)
{
    double resources[ANA_RESOURCE_COUNT];
    set_resources(&run->program, resources);
    return run->traffic[kernel] / resources[ANA_TRAFFIC];
}

static bool mend_alike(const ana_finding *a, const ana_finding *b)
{
    return a->pattern == b->pattern && strcmp(a->remedy, b->remedy) == 0;
}

/* The changes of a kernel's findings, which stand together: of those with the pattern and remedy of
 * this one, itself included, and of the others. More blocks are no part of them: that is a change
 * of size. */
static bool split_changes(const detect_run *run, wl_arena *arena, size_t at, gain_changes *out)
{
    const ana_finding *rows = run->found.data, *f = &rows[at];
    size_t i = at;
    *out = (gain_changes){.alike = f->change};
    while (i > 0 && rows[i - 1].kernel == f->kernel)
        i--;
    for (; i < run->found.count && rows[i].kernel == f->kernel; i++) {
        model_change *to = mend_alike(&rows[i], f) ? &out->alike : &out->others;
        if (i != at && !model_changes_grid(&rows[i].change) && !rows[i].covered_by &&
            !rows[i].costs && !remedy_join(arena, to, &rows[i].change, to))
            return false;
    }
    return true;
}

/* The kernel whose findings begin there. */
static bool begin_kernel(detect_run *run, const gain_input *in, size_t first, gain_kernel *k)
{
    ana_finding *rows = run->found.data;
    uint32_t kernel = rows[first].kernel;
    size_t end = first;
    while (end < run->found.count && rows[end].kernel == kernel)
        end++;
    *k = gain_of_kernel(in, kernel, traffic_share_of(run, kernel));
    return choose_remedies(in, k, &rows[first], end - first);
}

static bool judge_findings(detect_run *run, const gain_input *in)
{
    gain_kernel k = {0};
    double resources[ANA_RESOURCE_COUNT];
    set_resources(&run->program, resources);
    for (size_t i = 0; i < run->found.count; i++) {
        ana_finding *f = &run->found.data[i];
        f->cost.share_of_program = (double)f->cost.excess /
                                   resources[ana_unit_resource(f->cost.unit)];
        if (!f->kernel)
            continue; /* a kernel's share decides what fixing gains; here there is none */
        if ((i == 0 || f->kernel != f[-1].kernel) && !begin_kernel(run, in, i, &k))
            return false;
        gain_changes changes;
        if (!split_changes(run, in->arena, i, &changes) ||
            !gain_set(in, &k, prof_find_object(&run->program.objects, f->object), &changes, f))
            return false;
    }
    return true;
}

static void drop_costs(detect_run *run)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->found.count; i++)
        if (!run->found.data[i].costs)
            run->found.data[kept++] = run->found.data[i];
    run->found.count = kept;
}

static bool set_keys(detect_run *run)
{
    const ana_program *p = &run->program;
    ana_keys keys;
    if (!ana_keys_of(&p->kernels, &p->objects, run->arena, &keys))
        return false;
    for (size_t i = 0; i < run->found.count; i++) {
        ana_finding *f = &run->found.data[i];
        uint32_t object = f->access ? f->access->first_object : f->object;
        f->key = ana_key_of_finding(&keys, &p->kernels, &p->objects, f->pattern, f->kernel, object);
    }
    return true;
}

/* ---- what groups are worth ---- */

static void add_worth(ana_worth *sum, const ana_worth *w)
{
    sum->known |= w->known;
    sum->seconds += w->seconds;
    sum->low += w->low;
    sum->high += w->high;
    sum->of_program += w->of_program;
}

/* The remedies of the group's findings of a kernel are followed together. */
static bool worth_in_kernel(const detect_run *run, const gain_input *in, const ana_finding *rows,
                            uint32_t count, uint32_t kernel, ana_worth *out)
{
    model_change all = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kernel != kernel)
            continue;
        *out = rows[i].worth;
        if (n++ > 0 && !remedy_join(in->arena, &all, &rows[i].change, &all))
            return false;
        all = n == 1 ? rows[i].change : all;
    }
    gain_kernel k = {0};
    if (n > 1)
        k = gain_of_kernel(in, kernel, traffic_share_of(run, kernel));
    if (n > 1) {
        ana_worth together = gain_worth(in, &k, &all);
        together.small = out->small;
        together.of_full = out->of_full;
        together.bound = out->bound;
        *out = together;
    }
    return true;
}

static bool set_group_worths(const detect_run *run, const gain_input *in, ana_findings *out)
{
    for (uint32_t g = 0; g < out->ngroups; g++) {
        ana_finding_group *group = &out->groups[g];
        const ana_finding *rows = &out->rows[group->first];
        for (uint32_t k = 0; k < group->nkernels; k++) {
            ana_worth w = {0};
            if (!worth_in_kernel(run, in, rows, group->count, group->kernels[k], &w))
                return false;
            if (k == 0)
                group->worth = w;
            else
                add_worth(&group->worth, &w);
        }
    }
    return true;
}

static wl_status rank_findings(detect_run *run, const gain_input *in, ana_findings *out,
                               wl_error *err)
{
    if (!in->seconds || !judge_findings(run, in))
        return ana_nomem(err);
    drop_costs(run);
    if (!set_keys(run))
        return ana_nomem(err);
    if (run->found.count)
        qsort(run->found.data, run->found.count, sizeof *run->found.data, by_finding_cost);
    wl_status status = group_findings(run->found.data, (uint32_t)run->found.count,
                                      &run->program.kernels, &run->program.objects, run->arena,
                                      out);
    return status == WL_OK && set_group_worths(run, in, out) ? WL_OK : ana_nomem(err);
}

/* Judges and ranks them by what the model predicts of each kernel with its remedy followed. */
static wl_status try_remedies(detect_run *run, ana_findings *out, wl_error *err)
{
    model_lab *lab = NULL;
    ana_models models;
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? model_lab_open(run->program.db, scratch, &lab, err)
                               : ana_nomem(err);
    if (status == WL_OK)
        status = model_of_all(lab, scratch, &models, err);
    if (status == WL_OK) {
        gain_input in = {.thresholds = run->program.thresholds,
                         .launches = &run->program.launches,
                         .seconds = ana_launch_seconds(&run->program.launches, run->arena),
                         .devices = &run->program.devices,
                         .lab = lab,
                         .models = &models,
                         .arena = run->arena};
        status = rank_findings(run, &in, out, err);
    }
    wl_arena_free(scratch);
    return status;
}

static int by_sectors_left(const void *a, const void *b)
{
    const ana_left_over *x = a, *y = b;
    if (x->sectors != y->sectors)
        return x->sectors > y->sectors ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

static wl_status set_left_out(const detect_run *run, ana_left_out *out, wl_error *err)
{
    double all = run->program.totals[ANA_SECTORS];
    size_t n = run->left_over.count;
    *out = run->left_out;
    out->unnamed_sectors = (uint64_t)llround(run->unnamed);
    out->unnamed_share = all > 0 ? run->unnamed / all : 0;
    out->much = find_is_much(run->program.thresholds, run->unnamed, all);
    out->nkernels = (uint32_t)n;
    out->kernels = wl_arena_copy(run->arena, run->left_over.data, n * sizeof *out->kernels);
    if (!out->kernels)
        return ana_nomem(err);
    if (n)
        qsort(out->kernels, n, sizeof *out->kernels, by_sectors_left);
    return WL_OK;
}

/* In pieces, too, where each lane has an element of its own and these fill most of their sectors. */
static bool runs_along_rows(const obs_insn *c)
{
    uint64_t taken = c->active_lanes * c->bytes, moved = c->sectors * OBS_SECTOR_BYTES;
    bool pieces = c->flags & OBS_PIECES && taken <= moved && 2 * taken >= moved;
    return c->space == ACC_GLOBAL && (pieces || (c->contiguous + c->misaligned) * 2 > c->requests);
}

/* Once for all findings, since it goes through what all kernels did. */
static wl_status load_along_rows(prof_db *db, wl_arena *arena, ana_program *p, wl_error *err)
{
    prof_instruction_rows all;
    wl_status status = prof_load_instruction_totals(db, PROF_ALL, arena, &all, err);
    p->last_object = p->objects.count ? p->objects.rows[p->objects.count - 1].id : 0;
    double *along = wl_new_array(arena, double, (size_t)p->last_object + 1);
    if (status != WL_OK || !along)
        return status != WL_OK ? status : ana_nomem(err);
    for (uint32_t i = 0; i < all.count; i++)
        if (all.rows[i].c.object <= p->last_object && runs_along_rows(&all.rows[i].c))
            along[all.rows[i].c.object] += (double)all.rows[i].c.sectors;
    p->along_rows = along;
    return WL_OK;
}

static wl_status load_program(prof_db *db, wl_arena *arena, ana_program *p, wl_error *err)
{
    wl_status status = prof_load_kernels(db, arena, &p->kernels, err);
    status = status == WL_OK ? prof_load_objects(db, arena, &p->objects, err) : status;
    status = status == WL_OK ? prof_load_files(db, arena, &p->files, err) : status;
    status = status == WL_OK ? prof_load_locs(db, arena, &p->locs, err) : status;
    status = status == WL_OK ? prof_load_launch_kinds(db, PROF_ALL, arena, &p->launches, err)
                             : status;
    status = status == WL_OK ? prof_load_devices(db, arena, &p->devices, err) : status;
    status = status == WL_OK ? prof_load_gaps(db, arena, &p->gaps, err) : status;
    return status == WL_OK ? load_along_rows(db, arena, p, err) : status;
}

wl_status find_with(const detect_row *detectors, size_t ndetectors, prof_db *profile,
                    const ana_thresholds *thresholds, wl_arena *arena, ana_findings *out,
                    wl_error *err)
{
    detect_run run = {.detectors = detectors,
                      .ndetectors = ndetectors,
                      .program = {.db = profile, .thresholds = thresholds},
                      .arena = arena};
    *out = (ana_findings){0};
    wl_status status = load_program(profile, arena, &run.program, err);
    if (status == WL_OK) { /* ids count from 1 */
        const prof_kernel_rows *kernels = &run.program.kernels;
        uint32_t last = kernels->count ? kernels->rows[kernels->count - 1].id : 0;
        run.traffic = wl_new_array(arena, double, (size_t)last + 1);
        status = run.traffic ? detect_all(&run, err) : ana_nomem(err);
    }
    status = status == WL_OK ? try_remedies(&run, out, err) : status;
    status = status == WL_OK ? set_left_out(&run, &out->left_out, err) : status;
    out->thresholds = wl_arena_copy(arena, thresholds, sizeof *thresholds);
    if (status == WL_OK && !out->thresholds)
        status = ana_nomem(err);
    out->replayed = run.replayed;
    out->peak_after = run.peak_after;
    wl_vec_free(&run.found);
    wl_vec_free(&run.left_over);
    return status;
}

static const detect_row rows_of_detectors[] = {
#define X(name, scope) {ANA_SCOPE_##scope, ana_detect_##name},
#include "analysis/detectors.def"
#undef X
};

wl_status ana_find(prof_db *profile, const ana_thresholds *thresholds, wl_arena *arena,
                   ana_findings *out, wl_error *err)
{
    return find_with(rows_of_detectors, sizeof rows_of_detectors / sizeof *rows_of_detectors,
                     profile, thresholds, arena, out, err);
}
