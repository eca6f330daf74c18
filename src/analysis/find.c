/* All findings of a profile: detected, judged, ranked, with keys and put into groups. */
#include "analysis/find.h"
#include "analysis/gain.h"
#include "analysis/group.h"
#include "analysis/key.h"
#include "analysis/times.h"

#include <math.h>
#include <stdlib.h>

static int by_finding_cost(const void *a, const void *b)
{
    const ana_finding *x = a, *y = b;
    bool little = x->gain != ANA_GAIN_FULL;
    if (little != (y->gain != ANA_GAIN_FULL))
        return little ? 1 : -1;
    if (x->cost.share_of_program != y->cost.share_of_program)
        return x->cost.share_of_program > y->cost.share_of_program ? -1 : 1;
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

static bool judge_findings(detect_run *run)
{
    double *seconds = ana_launch_seconds(&run->program.launches, run->arena);
    gain_input in = {run->program.thresholds, &run->program.launches, seconds,
                     &run->program.devices, run->arena};
    gain_kernel k = {0};
    double resources[ANA_RESOURCE_COUNT];
    set_resources(&run->program, resources);
    for (size_t i = 0; seconds && i < run->found.count; i++) {
        ana_finding *f = &run->found.data[i];
        f->cost.share_of_program = (double)f->cost.excess /
                                   resources[ana_unit_resource(f->cost.unit)];
        if (!f->kernel)
            continue; /* a kernel's share decides what fixing gains; here there is none */
        if (i == 0 || f->kernel != f[-1].kernel) {
            double traffic = run->traffic[f->kernel] / resources[ANA_TRAFFIC];
            k = gain_of_kernel(&in, f->kernel, traffic);
        }
        if (!gain_set(&in, &k, prof_find_object(&run->program.objects, f->object), f))
            return false;
    }
    return seconds != NULL;
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

static wl_status rank_findings(detect_run *run, ana_findings *out, wl_error *err)
{
    if (!judge_findings(run) || !set_keys(run))
        return ana_nomem(err);
    if (run->found.count)
        qsort(run->found.data, run->found.count, sizeof *run->found.data, by_finding_cost);
    wl_status status = group_findings(run->found.data, (uint32_t)run->found.count,
                                      &run->program.kernels, &run->program.objects, run->arena,
                                      out);
    return status == WL_OK ? WL_OK : ana_nomem(err);
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

static wl_status load_program(prof_db *db, wl_arena *arena, ana_program *p, wl_error *err)
{
    wl_status status = prof_load_kernels(db, arena, &p->kernels, err);
    status = status == WL_OK ? prof_load_objects(db, arena, &p->objects, err) : status;
    status = status == WL_OK ? prof_load_files(db, arena, &p->files, err) : status;
    status = status == WL_OK ? prof_load_locs(db, arena, &p->locs, err) : status;
    status = status == WL_OK ? prof_load_launch_kinds(db, PROF_ALL, arena, &p->launches, err)
                             : status;
    status = status == WL_OK ? prof_load_devices(db, arena, &p->devices, err) : status;
    return status == WL_OK ? prof_load_gaps(db, arena, &p->gaps, err) : status;
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
    status = status == WL_OK ? rank_findings(&run, out, err) : status;
    status = status == WL_OK ? set_left_out(&run, &out->left_out, err) : status;
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
