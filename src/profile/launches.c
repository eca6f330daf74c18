/* Launches with everything that was observed in them. */
#include "profile/builder.h"
#include "profile/demangle.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- what a capture may hold, whoever wrote it ---- */

static bool insns_valid(const obs_summary *s)
{
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const obs_insn *c = &s->insns[i];
        bool shared = c->space == ACC_SHARED;
        if (c->space >= ACC_SPACE_COUNT || c->op >= ACC_OP_COUNT ||
            (shared && c->object >= s->nshared)) {
            return false;
        }
    }
    return true;
}

static bool row_valid(const obs_heat *heat, const obs_heat_row *row)
{
    uint32_t words = 0;
    for (uint32_t w = 0; w < OBS_WORDS_PER_SECTOR; w++)
        words |= row->word[w];
    return words == row->history && row->pcset < heat->npcsets;
}

static bool heats_valid(const obs_summary *s)
{
    for (uint32_t h = 0; h < s->nheats; h++) {
        const obs_heat *heat = &s->heats[h];
        if (heat->space >= ACC_SPACE_COUNT ||
            (heat->space == ACC_SHARED && heat->object >= s->nshared)) {
            return false;
        }
        for (uint32_t i = 0; i < heat->nrows; i++) {
            bool ascends = i == 0 || heat->rows[i - 1].sector < heat->rows[i].sector;
            if (!ascends || !row_valid(heat, &heat->rows[i]))
                return false;
        }
    }
    return true;
}

static bool samples_valid(const obs_summary *s)
{
    for (uint32_t i = 0; i < s->nsamples; i++) {
        bool ascends = i == 0 || s->samples[i - 1].block < s->samples[i].block;
        if (!ascends || s->samples[i].why >= OBS_WHY_COUNT || s->samples[i].mapped > 1)
            return false;
    }
    return true;
}

/* ---- the launch ---- */

wl_status builder_fault(prof_builder *b, const cap_fault *fault, wl_error *err)
{
    launch_entry *e = builder_find_launch(b, fault->launch);
    prof_fault *row = e ? wl_new(b->process.arena, prof_fault) : NULL;
    launch_facts facts;
    if (!e) {
        return wl_fail(err, WL_CORRUPT, "The capture tells what ended launch %u, which it lacks.",
                       fault->launch);
    }
    if (!row)
        return NOMEM(err);
    *row = (prof_fault){.launch = e->id,
                        .kind = wl_arena_strdup(b->process.arena, fault->kind),
                        .what = wl_arena_strdup(b->process.arena, fault->what),
                        .pc = fault->pc,
                        .address = fault->address,
                        .bytes = fault->bytes,
                        .object = fault->in_memory ? builder_nearest_object(b, fault->address) : 0};
    memcpy(row->block, fault->block, sizeof row->block);
    memcpy(row->thread, fault->thread, sizeof row->thread);
    if (!row->kind || !row->what)
        return NOMEM(err);
    facts = builder_launch_facts(e);
    facts.fault = row;
    return builder_change_launch(b, e, &facts, err);
}

/* ---- rows ---- */

typedef struct writer {
    prof_builder *b;
    kernel *kernel;
    uint32_t id;
    const cap_launch *launch;
    const obs_shared *shared;      /* arrays of the launch */
    const obs_block_count *blocks; /* sorted by first_pc */
    wl_error *err;
} writer;

/* Replay leaves out the basic blocks whose executions depend on data. */
static bool counts_all(const obs_summary *s, const kernel *k)
{
    uint64_t counted = 0;
    for (uint32_t i = 0; i < s->nblocks; i++)
        counted += s->blocks[i].ninsns;
    return counted && counted == k->ncode;
}

static wl_status set_launch_results(writer *w, const launch_entry *e, launch_facts *facts)
{
    const cap_launch *l = w->launch;
    const obs_summary *s = &l->summary;
    const char *fault = prof_demangle_text(w->b->process.arena, l->fault);
    prof_launch *row = &facts->row;
    row->fault = fault ? builder_text(w->b, fault) : NULL;
    facts->done = true;
    row->rows_of = e->id;
    row->error = l->error;
    row->warp_instructions = s->warp_instructions;
    row->thread_instructions = s->thread_instructions;
    row->longest_warp = s->longest_warp;
    row->busiest_block = s->busiest_block;
    row->longest_warps = s->longest_warps;
    row->blocks_run = s->blocks_run;
    row->blocks_observed = s->blocks_observed;
    row->blocks_sampled = s->blocks_sampled;
    row->dropped = s->dropped;
    row->accesses_known = !facts->gaps && !s->dropped && !l->error;
    row->mix_whole = counts_all(s, facts->kernel);
    return row->fault ? builder_reaches(w->b, facts, l->params, l->nparams, w->err) : NOMEM(w->err);
}

static wl_status settle_launched_kernel(writer *w, launch_facts *facts)
{
    if (strcmp(facts->name, w->launch->kernel) != 0)
        return wl_fail(w->err, WL_CORRUPT, "The capture tells of launch %u as of two kernels.",
                       w->launch->id);
    return builder_settle_kernel(w->b, w->launch, facts, w->err);
}

/* What it did; the launch is a new one, or a note that waits for it. */
static wl_status complete_launch(writer *w)
{
    launch_entry *e = builder_find_launch(w->b, w->launch->id);
    wl_status status = WL_OK;
    if (!e || !e->kind->facts.noted || e->kind->facts.done)
        status = builder_open_launch(w->b, w->launch, false, &e, w->err);
    if (status != WL_OK)
        return status;
    launch_facts facts = builder_launch_facts(e);
    if (facts.waits)
        status = settle_launched_kernel(w, &facts);
    if (status != WL_OK)
        return status;
    status = set_launch_results(w, e, &facts);
    if (status != WL_OK)
        return status;
    e->host_seconds = w->launch->host_seconds;
    w->kernel = facts.kernel;
    w->id = e->id;
    return builder_change_launch(w->b, e, &facts, w->err);
}

static wl_status write_launch_mix(writer *w)
{
    const obs_mix *mix = &w->launch->summary.mix;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < sizeof mix->warp_instructions / sizeof *mix->warp_instructions; i++) {
        if (status == WL_OK && mix->warp_instructions[i]) {
            const row_mix row = {w->id, i, mix->warp_instructions[i], mix->thread_instructions[i]};
            status = table_insert_mix(w->b->insert[TABLE_mix], &row, w->err);
        }
    }
    return status;
}

/* A summary may leave blocks out: the kernel's code has their numbers, where there is code. The
 * empty block at the end of a function has no row. */
static wl_status write_launch_blocks(writer *w)
{
    const obs_summary *s = &w->launch->summary;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < s->nblocks && status == WL_OK; i++) {
        const obs_block_count *c = &s->blocks[i];
        bool known = c->first_pc < w->kernel->ncode;
        if (!c->ninsns)
            continue;
        const prof_block row = {.launch = w->id,
                                .block = known ? w->kernel->blocks[c->first_pc] : i,
                                .first_pc = c->first_pc,
                                .ninsns = c->ninsns,
                                .executions = c->executions,
                                .lanes = c->lanes};
        status = table_insert_blocks(w->b->insert[TABLE_blocks], &row, w->err);
    }
    return status;
}

static int by_first_pc(const void *a, const void *b)
{
    const obs_block_count *x = a, *y = b;
    return x->first_pc < y->first_pc ? -1 : x->first_pc > y->first_pc;
}

static wl_status sort_blocks(writer *w)
{
    const obs_summary *s = &w->launch->summary;
    bool sorted = true;
    for (uint32_t i = 1; i < s->nblocks; i++)
        sorted &= s->blocks[i - 1].first_pc < s->blocks[i].first_pc;
    w->blocks = s->blocks;
    if (!sorted) {
        obs_block_count *copy = wl_arena_copy(w->b->process.arena, s->blocks,
                                              s->nblocks * sizeof *copy);
        if (!copy)
            return NOMEM(w->err);
        qsort(copy, s->nblocks, sizeof *copy, by_first_pc);
        w->blocks = copy;
    }
    return WL_OK;
}

/* The basic block of an instruction; NULL where none was counted. */
static const obs_block_count *block_of(const writer *w, uint32_t pc)
{
    uint32_t low = 0, high = w->launch->summary.nblocks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->blocks[middle].first_pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    const obs_block_count *c = low ? &w->blocks[low - 1] : NULL;
    return c && pc - c->first_pc < c->ninsns ? c : NULL;
}

/* The id that the profile gives an object of the capture. */
static wl_status profile_object_of(writer *w, uint8_t space, uint32_t number, uint32_t *id)
{
    if (space == ACC_SHARED)
        return builder_kernel_object(w->b, w->kernel, PROF_OBJECT_SHARED, &w->shared[number], id,
                                     w->err);
    if (space == ACC_LOCAL)
        return builder_kernel_object(w->b, w->kernel, PROF_OBJECT_LOCAL, NULL, id, w->err);
    const object_info *found = builder_object(w->b, number);
    *id = found ? found->id : 0;
    return WL_OK;
}

static wl_status write_access_row(writer *w, uint32_t position)
{
    const obs_insn *c = &w->launch->summary.insns[position];
    const obs_block_count *block = block_of(w, c->pc);
    prof_instruction row = {.launch = w->id,
                            .position = position,
                            .c = *c,
                            .executions = block ? block->executions : 0,
                            .execution_lanes = block ? block->lanes : 0};
    wl_status status = profile_object_of(w, c->space, c->object, &row.c.object);
    return status == WL_OK
               ? table_insert_instructions(w->b->insert[TABLE_instructions], &row, w->err)
               : status;
}

/* ---- heat maps ---- */

/* The id of the map's rows: equal rows are kept once, whatever launch or object they are of. */
static wl_status write_content(writer *w, const obs_heat *heat, uint64_t first_sector, uint32_t *id)
{
    prof_builder *b = w->b;
    uint64_t npcs = 0;
    for (uint32_t i = 0; i < heat->npcsets; i++)
        npcs += heat->pcsets[i].count;
    if (blob_pack_heat(heat, first_sector, &b->packed) != WL_OK)
        return NOMEM(w->err);
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(b->packed.data, b->packed.size));
    content_entry *entry = NULL;
    HASH_FIND(hh, b->contents, hash.digest, sizeof entry->hash, entry);
    if (entry) {
        *id = entry->id;
        return WL_OK;
    }
    entry = wl_new(b->arena, content_entry);
    if (!entry || blob_compress(b->packed.data, b->packed.size, &b->compressed) != WL_OK)
        return NOMEM(w->err);
    entry->id = *id = ++b->ncontents;
    memcpy(entry->hash, hash.digest, sizeof entry->hash);
    HASH_ADD(hh, b->contents, hash, sizeof entry->hash, entry);
    const row_content row = {.id = *id,
                             .nrows = heat->nrows,
                             .npcsets = heat->npcsets,
                             .npcs = (uint32_t)npcs,
                             .data = {b->compressed.data, b->compressed.size}};
    return table_insert_contents(b->insert[TABLE_contents], &row, w->err);
}

static uint64_t first_sector_of(const writer *w, const obs_heat *heat)
{
    if (heat->space == ACC_SHARED)
        return w->launch->summary.shared[heat->object].offset / OBS_SECTOR_BYTES;
    const object_info *found = builder_object(w->b, heat->object);
    return found ? found->record.base / OBS_SECTOR_BYTES : 0;
}

/* What is too large for a column loses rows, which `dropped` counts. */
static wl_status write_heat(writer *w, const obs_heat *whole)
{
    obs_heat cut = *whole;
    const obs_heat *heat = &cut;
    cut.nrows = blob_heat_rows(whole, DB_MAX_VALUE);
    cut.dropped += whole->nrows - cut.nrows;
    prof_heat_info row = {.launch = w->id,
                          .space = heat->space,
                          .block = heat->block,
                          .warps = heat->warps,
                          .dropped = heat->dropped};
    memcpy(row.block_index, heat->block_index, sizeof row.block_index);
    wl_status status = profile_object_of(w, heat->space, heat->object, &row.object);
    if (status == WL_OK)
        status = write_content(w, heat, first_sector_of(w, heat), &row.content);
    return status == WL_OK ? table_insert_heats(w->b->insert[TABLE_heats], &row, w->err) : status;
}

static wl_status write_sample(writer *w, const obs_sample *s)
{
    const prof_sample row = {.launch = w->id, .s = *s};
    return table_insert_samples(w->b->insert[TABLE_samples], &row, w->err);
}

static wl_status write_reuse(writer *w, uint32_t position)
{
    row_reuse row = {w->id, position, w->launch->summary.reuses[position]};
    wl_status status = profile_object_of(w, ACC_GLOBAL, row.r.object, &row.r.object);
    return status == WL_OK ? table_insert_reuses(w->b->insert[TABLE_reuses], &row, w->err) : status;
}

/* An observed launch has its arrays as objects, used or not. */
static wl_status write_arrays(writer *w)
{
    const obs_summary *s = &w->launch->summary;
    wl_status status = WL_OK;
    uint32_t id;
    for (uint32_t i = 1; i < s->nshared && status == WL_OK; i++) {
        status = builder_kernel_object(w->b, w->kernel, PROF_OBJECT_SHARED, &s->shared[i], &id,
                                       w->err);
    }
    return status;
}

wl_status builder_launch(prof_builder *b, const cap_launch *launch, wl_error *err)
{
    const obs_summary *s = &launch->summary;
    if (!insns_valid(s) || !heats_valid(s) || !samples_valid(s)) {
        return wl_fail(err, WL_CORRUPT, "The capture's launch %u does not hold together.",
                       launch->id);
    }
    writer w = {.b = b, .launch = launch, .shared = launch->summary.shared, .err = err};
    wl_status status = WL_OK;
    wl_status (*const parts[])(writer *) = {sort_blocks, complete_launch, write_launch_mix,
                                            write_launch_blocks, write_arrays};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == WL_OK; i++)
        status = parts[i](&w);
    for (uint32_t i = 0; i < s->ninsns && status == WL_OK; i++)
        status = write_access_row(&w, i);
    for (uint32_t i = 0; i < s->nheats && status == WL_OK; i++)
        status = write_heat(&w, &s->heats[i]);
    for (uint32_t i = 0; i < s->nsamples && status == WL_OK; i++)
        status = write_sample(&w, &s->samples[i]);
    for (uint32_t i = 0; i < s->nreuses && status == WL_OK; i++)
        status = write_reuse(&w, i);
    return status != WL_OK ? status : b->nomem ? NOMEM(err) : WL_OK;
}

/* ---- trials ---- */

static bool are_rows_valid(const cap_trials *record, const obs_insn *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].space == ACC_SHARED && rows[i].object >= record->nshared)
            return false;
    return true;
}

static bool is_trial_valid(const cap_trials *record, const obs_trial *t)
{
    return (obs_trial_space(t->kind) != ACC_SHARED || t->object < record->nshared) &&
           are_rows_valid(record, t->before, t->nbefore) &&
           are_rows_valid(record, t->after, t->nafter);
}

/* An array that only the change would need has no object. */
static wl_status trial_object_of(writer *w, const obs_insn *c, uint32_t *id)
{
    *id = 0;
    return c->space == ACC_SHARED && c->object == 0 ? WL_OK
                                                    : profile_object_of(w, c->space, c->object, id);
}

static wl_status write_trial_rows(writer *w, uint32_t trial, uint32_t after, const obs_insn *rows,
                                  uint32_t count)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        row_trial_insn row = {trial, after, i, rows[i]};
        status = trial_object_of(w, &rows[i], &row.c.object);
        if (status == WL_OK)
            status = table_insert_trial_instructions(w->b->insert[TABLE_trial_instructions], &row,
                                                     w->err);
    }
    return status;
}

static wl_status write_trial(writer *w, const obs_trial *t)
{
    prof_trial row = {.id = ++w->b->ntrials,
                      .launch = w->id,
                      .kind = t->kind,
                      .blocks = t->blocks,
                      .pc = t->pc,
                      .block = {t->block[0], t->block[1]},
                      .pitch = t->pitch,
                      .pad = t->pad};
    acc_space space = obs_trial_space(t->kind);
    wl_status status = space == ACC_SPACE_COUNT
                           ? WL_OK
                           : profile_object_of(w, space, t->object, &row.object);
    if (status == WL_OK)
        status = table_insert_trials(w->b->insert[TABLE_trials], &row, w->err);
    if (status == WL_OK)
        status = write_trial_rows(w, row.id, 0, t->before, t->nbefore);
    return status == WL_OK ? write_trial_rows(w, row.id, 1, t->after, t->nafter) : status;
}

wl_status builder_trials(prof_builder *b, const cap_trials *record, wl_error *err)
{
    const launch_entry *e = builder_find_launch(b, record->launch);
    wl_status status = WL_OK;
    if (!e || !e->kind->facts.done) {
        return wl_fail(err, WL_CORRUPT,
                       "The capture tells of changes to launch %u, which is not there.",
                       record->launch);
    }
    writer w = {
        .b = b, .kernel = e->kind->facts.kernel, .id = e->id, .shared = record->shared, .err = err};
    for (uint32_t i = 0; i < record->count && status == WL_OK; i++) {
        if (!is_trial_valid(record, &record->trials[i])) {
            return wl_fail(err, WL_CORRUPT,
                           "The capture's trials of launch %u do not hold together.",
                           record->launch);
        }
        status = write_trial(&w, &record->trials[i]);
    }
    return status;
}
