/* Loads what all reporters draw. */
#include "report/impl.h"

#include <string.h>

enum {
    MOST_OPERATIONS = 500000, /* of a process, that a report holds one by one */
    MOST_BLOCKS = 4,          /* of a kernel, whose phases it shows */
    MOST_COMPARED = 100,      /* launches whose warps are compared */
    MOST_HASHED = 100         /* launches whose warps' paths are compared by their hashes */
};

/* Of so many launches that those that are alike are in one row. */
static bool are_grouped(const prof_launch_rows *kinds)
{
    uint64_t launches = 0;
    for (uint32_t i = 0; i < kinds->count; i++)
        launches += kinds->rows[i].count;
    return launches > REP_MOST_LAUNCHES;
}

static wl_status load_launches(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    wl_status status = prof_load_launch_kinds(db, PROF_ALL, arena, &d->launches, err);
    if (status != WL_OK)
        return status;
    if (are_grouped(&d->launches))
        return prof_load_kind_samples(db, PROF_ALL, arena, &d->samples, err);
    status = prof_load_launches(db, PROF_ALL, arena, &d->launches, err);
    return status == WL_OK ? prof_load_samples(db, PROF_ALL, arena, &d->samples, err) : status;
}

static wl_status load_launch_rows(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    return are_grouped(&d->launches)
               ? prof_load_kind_instructions(db, arena, &d->instructions, err)
               : prof_load_instructions(db, PROF_ALL, PROF_ALL, arena, &d->instructions, err);
}

/* The ranges of each launch, where launches are listed one by one. */
static wl_status load_lists(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    if (!d->ranges.count || are_grouped(&d->launches))
        return WL_OK;
    wl_status status = prof_load_ranges(db, arena, &d->opened, err);
    status = status == WL_OK ? prof_load_range_lists(db, arena, &d->range_lists, err) : status;
    return status == WL_OK ? prof_load_launch_lists(db, arena, &d->launch_lists, err) : status;
}

static wl_status load_rows(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
#define LOAD(call)                  \
    do {                            \
        wl_status status_ = (call); \
        if (status_ != WL_OK)       \
            return status_;         \
    } while (0)
    LOAD(prof_load_info(db, arena, &d->info, err));
    LOAD(prof_load_coverage(db, arena, &d->coverage, err));
    LOAD(prof_load_processes(db, arena, &d->processes, err));
    LOAD(prof_load_devices(db, arena, &d->devices, err));
    LOAD(prof_load_files(db, arena, &d->files, err));
    LOAD(prof_load_locs(db, arena, &d->locs, err));
    LOAD(prof_load_kernels(db, arena, &d->kernels, err));
    LOAD(prof_load_objects(db, arena, &d->objects, err));
    LOAD(prof_load_calls(db, arena, &d->calls, err));
    LOAD(prof_load_transfers(db, arena, &d->transfers, err));
    LOAD(prof_load_code(db, PROF_ALL, arena, &d->code, err));
    LOAD(load_launches(db, arena, d, err));
    LOAD(prof_load_instruction_totals(db, PROF_ALL, arena, &d->totals, err));
    LOAD(rep_load_failures(db, arena, d, err));
    LOAD(prof_load_gaps(db, arena, &d->gaps, err));
    LOAD(prof_load_passed(db, arena, &d->passed, err));
    LOAD(prof_load_skips(db, arena, &d->skips, err));
    LOAD(prof_load_messages(db, arena, &d->messages, err));
    LOAD(prof_load_unsupported(db, arena, &d->unsupported, err));
    LOAD(ana_kernel_table(db, d->findings, arena, &d->kernel_table, err));
    LOAD(ana_range_table(db, d->findings, arena, &d->ranges, err));
    LOAD(load_lists(db, arena, d, err));
    LOAD(ana_memory_table(db, arena, &d->memory, err));
    LOAD(ana_pool_table(db, arena, &d->pools, err));
    LOAD(ana_hashed_table(db, MOST_HASHED, arena, &d->hashed, err));
    LOAD(ana_model_table(db, arena, &d->models, err));
    if (!ana_keys_of(&d->kernels, &d->objects, arena, &d->keys))
        return wl_fail(err, WL_NOMEM, "not enough memory for the keys of the report");
    if (!ana_family_table(&d->kernel_table, &d->kernels, arena, &d->families))
        return wl_fail(err, WL_NOMEM, "not enough memory for the kernels of the report");
#undef LOAD
    return WL_OK;
}

/* ---- sources ---- */

static void mark_file_wanted(const rep_data *d, bool *wanted, uint32_t file)
{
    for (uint32_t i = 0; file && i < d->files.count; i++)
        if (d->files.rows[i].id == file)
            wanted[i] = true;
}

static void mark_listed(const rep_data *d, bool *wanted)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < d->listings.count; i++) {
        const prof_listing *l = &d->listings.rows[i];
        for (uint32_t k = 0; l->insns && k < l->ninsns; k++) {
            if (l->insns[k].file != last)
                mark_file_wanted(d, wanted, l->insns[k].file);
            last = l->insns[k].file;
        }
    }
}

/* Which files the report has anything to say about. */
static void mark_wanted(const rep_data *d, bool *wanted)
{
    uint32_t last = 0; /* neighbours mostly stand in one file */
    for (uint32_t i = 0; i < d->code.count; i++) {
        if (d->code.rows[i].file != last)
            mark_file_wanted(d, wanted, d->code.rows[i].file);
        last = d->code.rows[i].file;
    }
    mark_listed(d, wanted);
    for (uint32_t i = 0; i < d->kernels.count; i++)
        mark_file_wanted(d, wanted, d->kernels.rows[i].file);
    for (uint32_t i = 0; i < d->objects.count; i++)
        mark_file_wanted(d, wanted, d->objects.rows[i].file);
    for (uint32_t i = 0; i < d->courses.count; i++)
        for (uint32_t k = 0; k < d->courses.rows[i].sites.count; k++)
            mark_file_wanted(d, wanted, d->courses.rows[i].sites.rows[k].file);
    for (uint32_t i = 0; i < d->findings->count; i++)
        for (uint32_t k = 0; k < d->findings->rows[i].nlines; k++) {
            const prof_file *file = rep_file_by_path(d, d->findings->rows[i].lines[k].file);
            mark_file_wanted(d, wanted, file ? file->id : 0);
        }
}

static wl_status load_sources(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    bool *wanted = wl_new_array(arena, bool, d->files.count + 1);
    d->sources = wl_new_array(arena, rep_source, d->files.count + 1);
    if (!wanted || !d->sources)
        return wl_fail(err, WL_NOMEM, "not enough memory for the sources of the report");
    mark_wanted(d, wanted);
    for (uint32_t i = 0; i < d->files.count; i++) {
        rep_source *source = &d->sources[i];
        source->file = d->files.rows[i].id;
        if (!wanted[i] || !d->files.rows[i].has_text)
            continue;
        wl_status status = prof_load_source(db, source->file, arena, &source->text, &source->length,
                                            err);
        if (status == WL_NOENT)
            source->text = NULL;
        else if (status != WL_OK)
            return status;
    }
    return WL_OK;
}

static wl_status load_listings(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    wl_status status = prof_load_listings(db, arena, &d->listings, err);
    return status == WL_OK ? prof_load_block_totals(db, arena, &d->blocks, err) : status;
}

static wl_status load_timeline(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    wl_status status = prof_load_every_call(db, arena, &d->every_call, err);
    return status == WL_OK ? prof_load_launches(db, PROF_ALL, arena, &d->every_launch, err)
                           : status;
}

wl_status rep_load(prof_db *profile, const ana_findings *findings, unsigned parts, wl_arena *arena,
                   rep_data *out, wl_error *err)
{
    *out = (rep_data){.findings = findings};
    bool elements = !(parts & REP_PART_NO_ELEMENTS);
    wl_status status = load_rows(profile, arena, out, err);
    if (status == WL_OK && elements)
        status = ana_use_table(profile, findings->thresholds, arena, &out->uses, err);
    if (status == WL_OK && (parts & REP_PART_LAUNCH_ROWS))
        status = load_launch_rows(profile, arena, out, err);
    if (status == WL_OK && (parts & REP_PART_LISTINGS))
        status = load_listings(profile, arena, out, err);
    if (status == WL_OK && (parts & REP_PART_COURSES))
        status = ana_course_table(profile, findings, MOST_OPERATIONS, arena, &out->courses, err);
    if (status == WL_OK && (parts & REP_PART_SOURCES))
        status = load_sources(profile, arena, out, err);
    if (status == WL_OK && (parts & REP_PART_TIMELINE))
        status = load_timeline(profile, arena, out, err);
    if (status == WL_OK && (parts & REP_PART_HEATS))
        status = rep_load_heats(profile, (parts & REP_PART_ALL_HEATS) == REP_PART_ALL_HEATS, arena,
                                out, err);
    if (status == WL_OK && (parts & REP_PART_COMPARED))
        status = ana_explore_table(profile, MOST_COMPARED, arena, &out->warps, err);
    if (status == WL_OK && (parts & REP_PART_HEATS))
        status = ana_phase_table(profile, MOST_BLOCKS, arena, &out->phases, err);
    if (status == WL_OK && elements && (parts & REP_PART_HEATS))
        status = ana_strip_table(profile, arena, &out->strips, err);
    if (status == WL_OK && (parts & REP_PART_WARPS))
        status = rep_load_explored(profile, NULL, 0, arena, out, err);
    return status;
}
