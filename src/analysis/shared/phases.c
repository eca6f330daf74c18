#include "analysis/shared/phases.h"

#include "analysis/shared/words.h"
#include "base/vec.h"

#include <string.h>

enum { MOST_BYTES = 256 << 10 /* of a block's shared memory: more than any device has */ };

typedef struct work {
    prof_db *db;
    wl_arena *arena, *scratch, *warps; /* scratch: of a kernel; warps: of the launch at hand */
    wl_error *err;
    prof_object_rows objects;
    prof_launch_rows launches;
    prof_instruction_rows insns; /* of the kernel, by pc */
    prof_sample_rows samples;    /* likewise, by launch and block */
    shared_stores stores;
    uint32_t kernel;
    const prof_launch *launch;
    wl_vec(ana_phases) done;
} work;

static wl_status fail_phases(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

/* ---- a block's warps, step by step ---- */

typedef struct cursor { /* in the steps of a warp */
    const prof_warp *warp;
    wl_unfolding steps;
} cursor;

/* The instruction's row on shared memory, which says what it does. */
static const obs_insn *shared_insn(const work *w, uint32_t pc, uint32_t object)
{
    const obs_insn *found = NULL;
    for (uint32_t i = 0; i < w->insns.count; i++) {
        const obs_insn *c = &w->insns.rows[i].c;
        if (c->pc == pc && c->space == ACC_SHARED && (!found || c->object == object))
            found = c;
    }
    return found;
}

static bool access_of_step(const work *w, const prof_warp *warp, const wl_step *step,
                           shared_access *out)
{
    const prof_slot *slot = &warp->slots[step->slot];
    const prof_object *o = prof_find_object(&w->objects, slot->object);
    const obs_insn *insn = slot->space == ACC_SHARED ? shared_insn(w, step->pc, slot->object)
                                                     : NULL;
    if (!insn)
        return false;
    *out = (shared_access){.pc = step->pc,
                           .warp = warp->number,
                           .mask = step->mask,
                           .op = insn->op,
                           .flags = insn->flags,
                           .bytes = insn->bytes};
    for (uint32_t lane = 0; lane < SHARED_LANES; lane++)
        out->at[lane] = (o ? o->base : 0) + (uint64_t)warp->begin[step->slot] +
                        (uint64_t)step->offset[lane];
    return true;
}

/* The warp's steps up to a barrier, whose pc is left in *end. False: there are none any more. */
static bool walk_warp(const work *w, cursor *c, shared_words *words, uint32_t *end, bool *failed)
{
    wl_step step;
    shared_access access;
    while (wl_unfolding_step(&c->steps, &step)) {
        if (step.slot == WL_STEP_BARRIER) {
            *end = step.pc;
            return true;
        }
        if (wl_step_accesses(&step) && access_of_step(w, c->warp, &step, &access))
            *failed |= !shared_words_take(words, &access);
    }
    *failed |= c->steps.failed;
    return false;
}

/* ---- arrays ---- */

typedef struct array {
    const prof_object *object;
    uint32_t first, nwords; /* in the block's shared memory */
    wl_vec(ana_phase) phases;
    wl_vec(ana_word_run) runs; /* of the phase at hand */
} array;

typedef struct block {
    const work *w;
    uint32_t narrays;
    array *arrays;
    shared_words *words;
    bool failed;
} block;

static bool is_array_of(const prof_object *o, uint32_t kernel)
{
    return o->space == ACC_SHARED && o->kernel == kernel && o->bytes &&
           o->base + o->bytes <= MOST_BYTES;
}

/* Those of the kernel, and how many words reach to the end of the last. */
static uint32_t find_phased_arrays(const work *w, array *arrays, uint32_t *count)
{
    uint32_t end = 0;
    *count = 0;
    for (uint32_t i = 0; i < w->objects.count; i++) {
        const prof_object *o = &w->objects.rows[i];
        if (!is_array_of(o, w->kernel))
            continue;
        uint32_t first = (uint32_t)(o->base / OBS_WORD_BYTES);
        uint32_t last = (uint32_t)((o->base + o->bytes - 1) / OBS_WORD_BYTES);
        arrays[(*count)++] = (array){.object = o, .first = first, .nwords = last - first + 1};
        end = last + 1 > end ? last + 1 : end;
    }
    return end;
}

static bool continues(const ana_word_run *run, uint32_t word, const ana_word_use *use)
{
    return run && run->first + run->count == word && memcmp(&run->use, use, sizeof *use) == 0;
}

static bool add_phase(const block *b, array *a, uint32_t end)
{
    a->runs.count = 0;
    for (uint32_t i = 0; i < a->nwords; i++) {
        const shared_word *word = shared_words_at(b->words, a->first + i);
        ana_word_run *last = a->runs.count ? &a->runs.data[a->runs.count - 1] : NULL;
        if (!word->touched)
            continue;
        if (continues(last, i, &word->use))
            last->count++;
        else if (!wl_push(&a->runs, (ana_word_run){i, 1, word->use}))
            return false;
    }
    const void *runs = wl_arena_copy(b->w->arena, a->runs.data,
                                     a->runs.count * sizeof *a->runs.data);
    return runs && wl_push(&a->phases, (ana_phase){end, (uint32_t)a->runs.count, runs});
}

static void walk_block(block *b, cursor *cursors, uint32_t nwarps)
{
    for (bool any = true; any && !b->failed;) {
        uint32_t end = UINT32_MAX;
        any = false;
        for (uint32_t i = 0; i < nwarps; i++)
            any |= walk_warp(b->w, &cursors[i], b->words, &end, &b->failed);
        for (uint32_t i = 0; i < b->narrays; i++)
            b->failed |= !add_phase(b, &b->arrays[i], end);
        shared_words_next(b->words);
    }
}

/* ---- what comes of a block ---- */

static const ana_pcs *copy_sets(const work *w, const shared_words *words, uint32_t count)
{
    ana_pcs *sets = wl_new_array(w->arena, ana_pcs, count + 1);
    for (uint32_t i = 0; sets && i < count; i++) {
        uint32_t n = shared_words_set(words, i, NULL);
        uint32_t *pcs = wl_new_array(w->arena, uint32_t, n + 1);
        if (!pcs)
            return NULL;
        shared_words_set(words, i, pcs);
        sets[i] = (ana_pcs){n, pcs};
    }
    return sets;
}

static bool is_accessed(const array *a)
{
    for (size_t i = 0; i < a->phases.count; i++)
        if (a->phases.data[i].nruns)
            return true;
    return false;
}

static void index_of_block(const prof_launch *l, uint64_t number, uint32_t out[3])
{
    uint64_t x = l->grid[0] ? l->grid[0] : 1, y = l->grid[1] ? l->grid[1] : 1;
    out[0] = (uint32_t)(number % x);
    out[1] = (uint32_t)(number / x % y);
    out[2] = (uint32_t)(number / x / y);
}

static bool keep_phased_array(work *w, const array *a, const ana_phases *like)
{
    ana_phases p = *like;
    if (!is_accessed(a))
        return true;
    p.object = a->object->id;
    p.nwords = a->nwords;
    p.first_bank = a->first % 32;
    p.count = (uint32_t)a->phases.count;
    p.rows = wl_arena_copy(w->arena, a->phases.data, a->phases.count * sizeof *a->phases.data);
    return p.rows && wl_push(&w->done, p);
}

static bool keep_phased_block(work *w, const block *b, uint64_t number, uint32_t nwarps)
{
    ana_phases like = {.kernel = w->kernel, .launch = w->launch->id, .warps = nwarps};
    index_of_block(w->launch, number, like.block);
    like.nsets = shared_words_sets(b->words);
    like.sets = copy_sets(w, b->words, like.nsets);
    bool all = like.sets != NULL;
    for (uint32_t i = 0; i < b->narrays; i++)
        all = all && keep_phased_array(w, &b->arrays[i], &like);
    return all;
}

static wl_status add_phased_block(work *w, const prof_warp *warps, uint32_t nwarps)
{
    block b = {.w = w, .arrays = wl_new_array(w->scratch, array, w->objects.count + 1)};
    cursor *cursors = wl_new_array(w->scratch, cursor, nwarps + 1);
    if (!b.arrays || !cursors)
        return fail_phases(w->err);
    b.words = shared_words_new(&w->stores, find_phased_arrays(w, b.arrays, &b.narrays));
    for (uint32_t i = 0; i < nwarps; i++)
        cursors[i] = (cursor){&warps[i], {.pages = warps[i].pages, .npages = warps[i].npages}};
    if (b.words)
        walk_block(&b, cursors, nwarps);
    for (uint32_t i = 0; i < nwarps; i++)
        wl_unfolding_free(&cursors[i].steps);
    bool all = b.words && !b.failed && keep_phased_block(w, &b, warps[0].block, nwarps);
    for (uint32_t i = 0; i < b.narrays; i++) {
        wl_vec_free(&b.arrays[i].phases);
        wl_vec_free(&b.arrays[i].runs);
    }
    shared_words_free(b.words);
    return all ? WL_OK : fail_phases(w->err);
}

/* ---- launches ---- */

static uint32_t warps_of_phased_block(const prof_launch *l)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    return (uint32_t)((threads + SHARED_LANES - 1) / SHARED_LANES);
}

/* How many warps of the first one's block stand here. */
static uint32_t same_block(const prof_warp_rows *warps, uint32_t first)
{
    uint32_t count = 0;
    while (first + count < warps->count &&
           warps->rows[first + count].block == warps->rows[first].block)
        count++;
    return count;
}

/* Samples stand for the other blocks; of a launch that has none each block may be shown. */
static bool is_sample(const work *w, uint32_t launch, uint64_t number)
{
    bool any = false;
    for (uint32_t i = 0; i < w->samples.count; i++) {
        const prof_sample *s = &w->samples.rows[i];
        if (s->launch == launch && s->s.block == number)
            return true;
        any |= s->launch == launch;
    }
    return !any;
}

static bool may_show_block(const work *w, const prof_launch *l, const prof_warp *first,
                           uint32_t nwarps)
{
    return nwarps == warps_of_phased_block(l) && is_sample(w, l->id, first->block);
}

static uint32_t blocks_to_show(const work *w, const prof_launch *l, const prof_warp_rows *warps)
{
    uint32_t blocks = 0;
    for (uint32_t i = 0, n; i < warps->count; i += n) {
        n = same_block(warps, i);
        blocks += may_show_block(w, l, &warps->rows[i], n);
    }
    return blocks;
}

static wl_status add_phased_launch(work *w, const prof_warp_rows *warps, uint32_t most)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0, n; i < warps->count && most && status == WL_OK; i += n) {
        n = same_block(warps, i);
        if (!may_show_block(w, w->launch, &warps->rows[i], n))
            continue;
        status = add_phased_block(w, &warps->rows[i], n);
        most--;
    }
    return status;
}

/* Its warps lie in w->warps. */
static wl_status best_launch(work *w, prof_warp_rows *best)
{
    enum { LOOK_AT = 8 };
    uint32_t count = 0, *launches = NULL, most = 0;
    wl_status status = prof_load_warp_launches(w->db, w->kernel, w->scratch, &count, &launches,
                                               w->err);
    w->launch = NULL;
    for (uint32_t i = 0; i < count && i < LOOK_AT && status == WL_OK; i++) {
        const prof_launch *l = prof_find_launch(&w->launches, launches[i]);
        wl_arena *arena = l ? wl_arena_new() : NULL;
        prof_warp_rows warps;
        if (!l)
            continue;
        status = arena ? prof_load_warps(w->db, launches[i], arena, &warps, w->err)
                       : fail_phases(w->err);
        uint32_t blocks = status == WL_OK ? blocks_to_show(w, l, &warps) : 0;
        if (blocks > most) {
            most = blocks;
            w->launch = l;
            *best = warps;
            wl_arena_free(w->warps);
            w->warps = arena;
        } else {
            wl_arena_free(arena);
        }
    }
    return status;
}

static wl_status add_phased_kernel(work *w, uint32_t most)
{
    prof_warp_rows warps = {0};
    wl_status status = prof_load_samples(w->db, w->kernel, w->scratch, &w->samples, w->err);
    if (status == WL_OK)
        status = best_launch(w, &warps);
    if (status != WL_OK || !w->launch)
        return status;
    status = prof_load_instruction_totals(w->db, w->kernel, w->scratch, &w->insns, w->err);
    if (status == WL_OK)
        status = prof_load_fills(w->db, w->kernel, w->scratch, &w->stores.fills, w->err);
    if (status == WL_OK)
        status = prof_load_fill_reads(w->db, w->kernel, w->scratch, &w->stores.reads, w->err);
    return status == WL_OK ? add_phased_launch(w, &warps, most) : status;
}

static bool has_arrays(const work *w, uint32_t kernel)
{
    for (uint32_t i = 0; i < w->objects.count; i++)
        if (is_array_of(&w->objects.rows[i], kernel))
            return true;
    return false;
}

static wl_status add_phased_kernels(work *w, uint32_t most)
{
    prof_kernel_rows kernels;
    wl_status status = prof_load_kernels(w->db, w->arena, &kernels, w->err);
    for (uint32_t i = 0; status == WL_OK && i < kernels.count; i++) {
        w->kernel = kernels.rows[i].id;
        if (!has_arrays(w, w->kernel))
            continue;
        w->scratch = wl_arena_new();
        status = w->scratch ? add_phased_kernel(w, most) : fail_phases(w->err);
        wl_arena_free(w->scratch);
        wl_arena_free(w->warps);
        w->warps = NULL;
    }
    return status;
}

wl_status ana_phase_table(prof_db *profile, uint32_t most, wl_arena *arena, ana_phases_rows *out,
                          wl_error *err)
{
    work w = {.db = profile, .arena = arena, .err = err};
    *out = (ana_phases_rows){0};
    wl_status status = prof_load_objects(profile, arena, &w.objects, err);
    if (status == WL_OK)
        status = prof_load_launch_kinds(profile, PROF_ALL, arena, &w.launches, err);
    if (status == WL_OK)
        status = add_phased_kernels(&w, most);
    if (status == WL_OK) {
        out->count = (uint32_t)w.done.count;
        out->rows = wl_arena_copy(arena, w.done.data, w.done.count * sizeof *w.done.data);
        status = out->rows ? WL_OK : fail_phases(err);
    }
    wl_vec_free(&w.done);
    return status;
}
