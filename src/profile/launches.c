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
        bool shared = c->space == OBS_SHARED;
        if (c->space >= OBS_SPACE_COUNT || c->op >= OBS_OP_COUNT ||
            (shared && c->object >= s->nshared)) {
            return false;
        }
    }
    return true;
}

static bool row_valid(const obs_heat *heat, const obs_heat_row *row)
{
    uint32_t words = 0;
    for (uint32_t w = 0; w < OBS_WORDS_PER_SECTOR; w++) {
        words |= row->word[w];
    }
    return words == row->history && row->pcset < heat->npcsets;
}

static bool heats_valid(const obs_summary *s)
{
    for (uint32_t h = 0; h < s->nheats; h++) {
        const obs_heat *heat = &s->heats[h];
        if (heat->space >= OBS_SPACE_COUNT ||
            (heat->space == OBS_SHARED && heat->object >= s->nshared)) {
            return false;
        }
        for (uint32_t i = 0; i < heat->nrows; i++) {
            bool ascends = i == 0 || heat->rows[i - 1].sector < heat->rows[i].sector;
            if (!ascends || !row_valid(heat, &heat->rows[i])) {
                return false;
            }
        }
    }
    return true;
}

static bool samples_valid(const obs_summary *s)
{
    for (uint32_t i = 0; i < s->nsamples; i++) {
        bool ascends = i == 0 || s->samples[i - 1].block < s->samples[i].block;
        if (!ascends || s->samples[i].why >= OBS_WHY_COUNT || s->samples[i].mapped > 1) {
            return false;
        }
    }
    return true;
}

/* ---- rows ---- */

typedef struct writer {
    prof_builder *b;
    kernel *kernel;
    launch_entry *entry;
    uint32_t id;
    const cap_launch *launch;
    const obs_block_count *blocks; /* sorted by first_pc */
    wl_error *err;
} writer;

static wl_status write_launch(writer *w)
{
    const cap_launch *l = w->launch;
    const obs_summary *s = &l->summary;
    const char *fault = prof_demangle_text(w->b->process.arena, l->fault);
    if (!fault) {
        return NOMEM(w->err);
    }
    return db_run(w->b->stmt[ST_LAUNCH], w->err, db_int(w->id), db_int(w->b->process.id),
                  db_int(l->id), db_int(w->kernel->id), db_id(builder_call(w->b, l->call)),
                  db_int(l->grid[0]), db_int(l->grid[1]), db_int(l->grid[2]), db_int(l->block[0]),
                  db_int(l->block[1]), db_int(l->block[2]), db_int(l->cluster[0]),
                  db_int(l->cluster[1]), db_int(l->cluster[2]), db_int(l->dynamic_shared),
                  db_int(l->static_shared), db_int(l->local_bytes), db_int(l->registers),
                  db_int(builder_stream(w->b, l->stream)), db_real(l->host_seconds),
                  db_real(l->device_seconds), db_int((uint64_t)(int64_t)l->error), db_text(fault),
                  db_int(s->warp_instructions), db_int(s->thread_instructions),
                  db_int(s->blocks_run), db_int(s->blocks_observed), db_int(s->blocks_sampled),
                  db_int(s->dropped), db_int(w->entry->way), db_int(w->entry->estimated));
}

wl_status builder_launch_done(prof_builder *b, const launch_entry *e, double host_seconds,
                              int32_t error, const char *fault, wl_error *err)
{
    fault = prof_demangle_text(b->process.arena, fault);
    if (!fault) {
        return NOMEM(err);
    }
    return db_run(b->stmt[ST_LAUNCH_DONE], err, db_int(e->id), db_real(host_seconds),
                  db_int((uint64_t)(int64_t)error), db_text(fault), db_int(e->warp_instructions),
                  db_int(e->thread_instructions), db_int(e->blocks_run), db_int(e->blocks_observed),
                  db_int(e->blocks_sampled), db_int(e->dropped), db_int(e->way),
                  db_int(e->estimated));
}

/* A row of its own, or that of the note that waits for it. */
static wl_status open_launch(writer *w)
{
    const obs_summary *s = &w->launch->summary;
    launch_entry *e = builder_launch_entry(w->b, w->launch->id);
    if (!e) {
        return NOMEM(w->err);
    }
    bool waits = e->noted && !e->done;
    if (!waits) {
        *e = (launch_entry){.number = e->number, .hh = e->hh, .id = ++w->b->nlaunches};
        e->way = w->b->process.emulated ? CAP_WAY_EMULATE : CAP_WAY_NONE;
    }
    e->kernel = w->kernel;
    e->done = true;
    e->warp_instructions = s->warp_instructions;
    e->thread_instructions = s->thread_instructions;
    e->blocks_run = s->blocks_run;
    e->blocks_observed = s->blocks_observed;
    e->blocks_sampled = s->blocks_sampled;
    e->dropped = s->dropped;
    w->entry = e;
    w->id = e->id;
    return waits ? builder_launch_done(w->b, e, w->launch->host_seconds, w->launch->error,
                                       w->launch->fault, w->err)
                 : write_launch(w);
}

static wl_status write_mix(writer *w)
{
    const obs_mix *mix = &w->launch->summary.mix;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < sizeof mix->warp_instructions / sizeof *mix->warp_instructions; i++) {
        if (status == WL_OK && mix->warp_instructions[i]) {
            status = db_run(w->b->stmt[ST_MIX], w->err, db_int(w->id), db_int(i),
                            db_int(mix->warp_instructions[i]), db_int(mix->thread_instructions[i]));
        }
    }
    return status;
}

static wl_status write_blocks(writer *w)
{
    const obs_summary *s = &w->launch->summary;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < s->nblocks && status == WL_OK; i++) {
        const obs_block_count *c = &s->blocks[i];
        status = db_run(w->b->stmt[ST_BLOCK], w->err, db_int(w->id), db_int(i), db_int(c->first_pc),
                        db_int(c->ninsns), db_int(c->executions), db_int(c->lanes));
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
    for (uint32_t i = 1; i < s->nblocks; i++) {
        sorted &= s->blocks[i - 1].first_pc < s->blocks[i].first_pc;
    }
    w->blocks = s->blocks;
    if (!sorted) {
        obs_block_count *copy = wl_arena_copy(w->b->process.arena, s->blocks,
                                              s->nblocks * sizeof *copy);
        if (!copy) {
            return NOMEM(w->err);
        }
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
        if (w->blocks[middle].first_pc <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const obs_block_count *c = low ? &w->blocks[low - 1] : NULL;
    return c && pc - c->first_pc < c->ninsns ? c : NULL;
}

/* The profile's object behind a capture's. */
static wl_status object_of(writer *w, uint8_t space, uint32_t number, uint32_t *id)
{
    if (space == OBS_SHARED) {
        const obs_shared *array = &w->launch->summary.shared[number];
        return builder_kernel_object(w->b, w->kernel, PROF_OBJECT_SHARED, array, id, w->err);
    }
    if (space == OBS_LOCAL) {
        return builder_kernel_object(w->b, w->kernel, PROF_OBJECT_LOCAL, NULL, id, w->err);
    }
    const object_info *found = builder_object(w->b, number);
    *id = found ? found->id : 0;
    return WL_OK;
}

static wl_status write_insn(writer *w, uint32_t position)
{
    const obs_insn *c = &w->launch->summary.insns[position];
    static const obs_block_count none;
    const obs_block_count *block = block_of(w, c->pc);
    uint32_t object_id;
    wl_status status = object_of(w, c->space, c->object, &object_id);
    block = block ? block : &none;
    if (status != WL_OK) {
        return status;
    }
    return db_run(w->b->stmt[ST_INSTRUCTION], w->err, db_int(w->id), db_int(position),
                  db_int(c->pc), db_id(object_id), db_int(c->space), db_int(c->op),
                  db_int(c->bytes), db_int(c->flags), db_int(block->executions),
                  db_int(block->lanes), db_int(c->requests), db_int(c->active_lanes),
                  db_int(c->sectors), db_int(c->sectors_min), db_int(c->wavefronts),
                  db_int(c->wavefronts_min), db_int(c->uniform), db_int(c->contiguous),
                  db_int(c->misaligned), db_int(c->strided), db_int(c->irregular),
                  db_int((uint64_t)c->stride));
}

/* ---- heat maps ---- */

/* The id of the map's rows: equal rows are kept once, whatever launch or object they are of. */
static wl_status write_content(writer *w, const obs_heat *heat, uint64_t first_sector, uint32_t *id)
{
    prof_builder *b = w->b;
    uint64_t npcs = 0;
    for (uint32_t i = 0; i < heat->npcsets; i++) {
        npcs += heat->pcsets[i].count;
    }
    if (blob_pack_heat(heat, first_sector, &b->packed) != WL_OK) {
        return NOMEM(w->err);
    }
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(b->packed.data, b->packed.size));
    content_entry *entry = NULL;
    HASH_FIND(hh, b->contents, hash.digest, sizeof entry->hash, entry);
    if (entry) {
        *id = entry->id;
        return WL_OK;
    }
    entry = wl_new(b->arena, content_entry);
    if (!entry || blob_compress(b->packed.data, b->packed.size, &b->compressed) != WL_OK) {
        return NOMEM(w->err);
    }
    entry->id = *id = ++b->ncontents;
    memcpy(entry->hash, hash.digest, sizeof entry->hash);
    HASH_ADD(hh, b->contents, hash, sizeof entry->hash, entry);
    return db_run(b->stmt[ST_CONTENT], w->err, db_int(*id), db_int(heat->nrows),
                  db_int(heat->npcsets), db_int(npcs),
                  db_blob(b->compressed.data, b->compressed.size));
}

static uint64_t first_sector_of(const writer *w, const obs_heat *heat)
{
    if (heat->space == OBS_SHARED) {
        return w->launch->summary.shared[heat->object].offset / OBS_SECTOR_BYTES;
    }
    const object_info *found = builder_object(w->b, heat->object);
    return found ? found->record.base / OBS_SECTOR_BYTES : 0;
}

static wl_status write_heat(writer *w, const obs_heat *heat)
{
    uint32_t object_id, content = 0;
    wl_status status = object_of(w, heat->space, heat->object, &object_id);
    if (status == WL_OK) {
        status = write_content(w, heat, first_sector_of(w, heat), &content);
    }
    if (status != WL_OK) {
        return status;
    }
    return db_run(w->b->stmt[ST_HEAT], w->err, db_int(w->id), db_id(object_id), db_int(heat->space),
                  db_int(heat->block), db_int(heat->block_index[0]), db_int(heat->block_index[1]),
                  db_int(heat->block_index[2]), db_int(heat->warps), db_int(heat->dropped),
                  db_int(content));
}

static wl_status write_sample(writer *w, const obs_sample *s)
{
    return db_run(w->b->stmt[ST_SAMPLE], w->err, db_int(w->id), db_int(s->block),
                  db_int(s->block_index[0]), db_int(s->block_index[1]), db_int(s->block_index[2]),
                  db_int(s->why), db_int(s->mapped), db_id(s->alike), db_id(s->instructions),
                  db_int(s->requests), db_int(s->sectors));
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
    writer w = {.b = b, .launch = launch, .err = err};
    wl_status status = builder_kernel(b, launch, &w.kernel, err);
    if (status == WL_OK) {
        status = sort_blocks(&w);
    }
    wl_status (*const parts[])(writer *) = {open_launch, write_mix, write_blocks, write_arrays};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == WL_OK; i++) {
        status = parts[i](&w);
    }
    for (uint32_t i = 0; i < s->ninsns && status == WL_OK; i++) {
        status = write_insn(&w, i);
    }
    for (uint32_t i = 0; i < s->nheats && status == WL_OK; i++) {
        status = write_heat(&w, &s->heats[i]);
    }
    for (uint32_t i = 0; i < s->nsamples && status == WL_OK; i++) {
        status = write_sample(&w, &s->samples[i]);
    }
    return status != WL_OK ? status : b->nomem ? NOMEM(err) : WL_OK;
}
