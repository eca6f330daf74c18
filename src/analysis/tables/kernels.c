/* Kernels by what they cost: the counts of their instructions, their times and findings. */
#include "analysis/tables.h"

#include <stdlib.h>

static void add_access_counts(ana_counts *to, const prof_instruction *row)
{
    to->requests += row->c.requests;
    to->active_lanes += row->c.active_lanes;
    to->sectors += row->c.sectors;
    to->sectors_min += row->c.sectors_min;
    to->wavefronts += row->c.wavefronts;
    to->wavefronts_min += row->c.wavefronts_min;
}

static void add_seconds(double *sum, double seconds)
{
    if (seconds >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + seconds;
}

static void add_launches(ana_kernel *k, const prof_launch_rows *launches)
{
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        k->launches += l->blocks_observed > 0 ? (uint32_t)l->count : 0;
        k->counts.thread_instructions += l->count * l->thread_instructions;
        add_seconds(&k->host_seconds, l->host_seconds);
    }
}

/* An instruction has a row for each object that it touched, all with its executions. */
static void add_instructions(ana_kernel *k, const prof_instruction_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        bool first = i == 0 || rows->rows[i - 1].c.pc != rows->rows[i].c.pc;
        add_access_counts(&k->counts, &rows->rows[i]);
        k->counts.executions += first ? rows->rows[i].executions : 0;
    }
}

/* Excess is of findings; their number is that of their groups. */
static void add_findings(ana_kernel *k, const ana_findings *findings)
{
    uint32_t last = 0;
    for (uint32_t i = 0; findings && i < findings->count; i++) {
        const ana_finding *f = &findings->rows[i];
        if (f->kernel != k->kernel)
            continue;
        k->nfindings += f->number != last;
        last = f->number;
        k->excess_sectors += f->cost.unit == ANA_SECTORS ? f->cost.excess : 0;
        k->excess_wavefronts += f->cost.unit == ANA_WAVEFRONTS ? f->cost.excess : 0;
    }
}

static bool has_left_over(const ana_findings *findings, uint32_t kernel)
{
    for (uint32_t i = 0; findings && i < findings->left_out.nkernels; i++)
        if (findings->left_out.kernels[i].kernel == kernel)
            return true;
    return false;
}

static wl_status fill_kernel_row(prof_db *db, const ana_findings *findings, ana_kernel *k,
                                 wl_error *err)
{
    prof_launch_rows launches;
    prof_instruction_rows totals;
    wl_arena *scratch = wl_arena_new();
    if (!scratch)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    wl_status status = prof_load_launch_kinds(db, k->kernel, scratch, &launches, err);
    status = status == WL_OK ? prof_load_instruction_totals(db, k->kernel, scratch, &totals, err)
                             : status;
    double *seconds = status == WL_OK ? ana_launch_seconds(&launches, scratch) : NULL;
    if (status == WL_OK && !seconds)
        status = wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status == WL_OK) {
        k->device = ana_device_time_of(&launches, seconds, k->kernel);
        add_launches(k, &launches);
        add_instructions(k, &totals);
        add_findings(k, findings);
        k->left_over = has_left_over(findings, k->kernel);
    }
    wl_arena_free(scratch);
    return status;
}

static int by_kernel_cost(const void *a, const void *b)
{
    const ana_kernel *x = a, *y = b;
    uint64_t p = x->excess_sectors + x->excess_wavefronts,
             q = y->excess_sectors + y->excess_wavefronts;
    if (p != q)
        return p > q ? -1 : 1;
    p = x->counts.sectors + x->counts.wavefronts;
    q = y->counts.sectors + y->counts.wavefronts;
    if (p != q)
        return p > q ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

wl_status ana_kernel_table(prof_db *profile, const ana_findings *findings, wl_arena *arena,
                           ana_kernels *out, wl_error *err)
{
    prof_kernel_rows kernels;
    *out = (ana_kernels){0};
    wl_status status = prof_load_kernels(profile, arena, &kernels, err);
    if (status != WL_OK)
        return status;
    out->rows = wl_new_array(arena, ana_kernel, kernels.count);
    if (!out->rows)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (uint32_t i = 0; i < kernels.count && status == WL_OK; i++) {
        ana_kernel *k = &out->rows[out->count++];
        *k = (ana_kernel){.kernel = kernels.rows[i].id, .host_seconds = -1};
        status = fill_kernel_row(profile, findings, k, err);
    }
    if (out->count)
        qsort(out->rows, out->count, sizeof *out->rows, by_kernel_cost);
    return status;
}
