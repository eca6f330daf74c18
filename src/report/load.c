/* Loads what all reporters draw. */
#include "report/impl.h"

#include <string.h>

enum { MAX_HEAT_ROWS = 1 << 22, MAX_BLOCKS = 4 }; /* of all maps together; maps of one launch */

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
    LOAD(prof_load_kernels(db, arena, &d->kernels, err));
    LOAD(prof_load_objects(db, arena, &d->objects, err));
    LOAD(prof_load_calls(db, arena, &d->calls, err));
    LOAD(prof_load_code(db, PROF_ALL, arena, &d->code, err));
    LOAD(prof_load_launches(db, PROF_ALL, arena, &d->launches, err));
    LOAD(prof_load_samples(db, PROF_ALL, arena, &d->samples, err));
    LOAD(prof_load_instruction_totals(db, PROF_ALL, arena, &d->totals, err));
    LOAD(prof_load_gaps(db, arena, &d->gaps, err));
    LOAD(prof_load_skips(db, arena, &d->skips, err));
    LOAD(prof_load_messages(db, arena, &d->messages, err));
    LOAD(prof_load_unsupported(db, arena, &d->unsupported, err));
    LOAD(ana_kernel_table(db, d->findings, arena, &d->kernel_table, err));
    LOAD(ana_memory_table(db, arena, &d->memory, err));
    LOAD(ana_use_table(db, NULL, arena, &d->uses, err));
    if (!ana_keys_of(&d->kernels, &d->objects, arena, &d->keys))
        return wl_fail(err, WL_NOMEM, "not enough memory for the keys of the report");
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

/* Which files the report has anything to say about. */
static void mark_wanted(const rep_data *d, bool *wanted)
{
    uint32_t last = 0; /* neighbours mostly stand in one file */
    for (uint32_t i = 0; i < d->code.count; i++) {
        if (d->code.rows[i].file != last)
            mark_file_wanted(d, wanted, d->code.rows[i].file);
        last = d->code.rows[i].file;
    }
    for (uint32_t i = 0; i < d->kernels.count; i++)
        mark_file_wanted(d, wanted, d->kernels.rows[i].file);
    for (uint32_t i = 0; i < d->objects.count; i++)
        mark_file_wanted(d, wanted, d->objects.rows[i].file);
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

/* ---- heat maps ---- */

/* The launch whose map of an object tells most: a finding's example, else the one that moved
 * most. */
static uint32_t telling_launch(const rep_data *d, uint32_t kernel, uint32_t object)
{
    for (uint32_t i = 0; i < d->findings->count; i++) {
        const ana_finding *f = &d->findings->rows[i];
        if (rep_is_about(f, kernel, object))
            return f->access->example_launch;
    }
    for (uint32_t i = 0; i < d->totals.count; i++) {
        const prof_instruction *row = &d->totals.rows[i];
        if (row->kernel == kernel && row->c.object == object)
            return row->launch;
    }
    return 0;
}

static bool has_finding(const rep_data *d, const prof_heat_info *info)
{
    for (uint32_t i = 0; i < d->findings->count; i++)
        if (rep_is_about(&d->findings->rows[i], info->kernel, info->object))
            return true;
    return false;
}

/* Marks up to MAX_BLOCKS maps with different content of each kernel and object: those of one
 * launch. */
static void choose_maps(const rep_data *d, const prof_heat_info_rows *infos, bool *chosen)
{
    for (uint32_t i = 0, end; i < infos->count; i = end) {
        const prof_heat_info *first = &infos->rows[i];
        for (end = i; end < infos->count && infos->rows[end].kernel == first->kernel &&
                      infos->rows[end].object == first->object;)
            end++;
        uint32_t launch = telling_launch(d, first->kernel, first->object), taken = 0, last = 0;
        bool there = false;
        for (uint32_t k = i; k < end; k++)
            there |= infos->rows[k].launch == launch;
        for (uint32_t k = i; k < end && taken < MAX_BLOCKS; k++) {
            if (infos->rows[k].launch != (there ? launch : first->launch))
                continue;
            if (taken > 0 && infos->rows[k].content && infos->rows[k].content == last)
                continue;
            last = infos->rows[k].content;
            chosen[k] = true;
            taken++;
        }
    }
}

/* Loads the chosen maps, those with findings first, as long as the rows fit. */
static wl_status load_chosen(prof_db *db, const prof_heat_info_rows *infos, const bool *chosen,
                             wl_arena *arena, rep_data *d, wl_error *err)
{
    uint64_t room = MAX_HEAT_ROWS;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < infos->count; i++) {
            const prof_heat_info *info = &infos->rows[i];
            if (!chosen[i] || has_finding(d, info) != (pass == 0) || info->nrows > room)
                continue;
            room -= info->nrows;
            wl_status status = prof_load_heat(db, info->id, arena, &d->heats[d->nheats], err);
            if (status != WL_OK)
                return status;
            d->nheats++;
        }
    d->heats_left_out = infos->count - d->nheats;
    return WL_OK;
}

static wl_status load_heats(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    prof_heat_info_rows infos = {0};
    wl_status status = prof_load_heats(db, PROF_ALL, arena, &infos, err);
    if (status != WL_OK)
        return status;
    bool *chosen = wl_new_array(arena, bool, infos.count + 1);
    d->heats = wl_new_array(arena, prof_heat, infos.count + 1);
    if (!chosen || !d->heats)
        return wl_fail(err, WL_NOMEM, "not enough memory for the report's heat maps");
    choose_maps(d, &infos, chosen);
    return load_chosen(db, &infos, chosen, arena, d, err);
}

wl_status rep_load(prof_db *profile, const ana_findings *findings, unsigned parts, wl_arena *arena,
                   rep_data *out, wl_error *err)
{
    *out = (rep_data){.findings = findings};
    wl_status status = load_rows(profile, arena, out, err);
    if (status == WL_OK && (parts & REP_PART_LAUNCH_ROWS))
        status = prof_load_instructions(profile, PROF_ALL, PROF_ALL, arena, &out->instructions,
                                        err);
    if (status == WL_OK && (parts & REP_PART_SOURCES))
        status = load_sources(profile, arena, out, err);
    if (status == WL_OK && (parts & REP_PART_HEATS))
        status = load_heats(profile, arena, out, err);
    return status;
}
