#include "observe/internal.h"

#include <string.h>

typedef wl_vec(obs_row *) row_list;

static int compare_ascending(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
    const obs_insn *x = &(*(obs_row *const *)a)->insn, *y = &(*(obs_row *const *)b)->insn;
    int order = compare_ascending(x->pc, y->pc);
    if (!order)
        order = compare_ascending(x->object, y->object);
    if (!order)
        order = compare_ascending(x->space, y->space);
    return order ? order : compare_ascending(x->op, y->op);
}

static int heats_by_block(const void *a, const void *b)
{
    const obs_heat *x = a, *y = b;
    int order = compare_ascending(x->block, y->block);
    if (!order)
        order = compare_ascending(x->object, y->object);
    return order ? order : compare_ascending(x->space, y->space);
}

static bool collect_rows(obs_launch *launch, row_list *list)
{
    for (obs_worker *w = launch->workers; w; w = w->next)
        for (uint32_t pc = 0; pc < launch->config.ncode; pc++)
            for (obs_row *row = w->rows[pc]; row; row = row->next) {
                obs_row_flush(row);
                w->dropped += row->strides_lost;
                if (!wl_push(list, row))
                    return false;
            }
    if (list->count)
        qsort(list->data, list->count, sizeof *list->data, by_key);
    return true;
}

static uint64_t turns_of_busiest_slice(obs_row *const *rows, size_t count)
{
    uint64_t most = 0;
    for (uint32_t slice = 0; rows[0]->slices && slice < OBS_SLICES; slice++) {
        uint64_t turns = 0;
        for (size_t i = 0; i < count; i++)
            turns += rows[i]->slices[slice];
        most = turns > most ? turns : most;
    }
    return most;
}

/* Rows of one key become one; its stride is the commonest of all of them, and it is made of pieces
 * where most requests are. */
static bool merge_rows_of_key(obs_row *const *rows, size_t count, obs_insn *out)
{
    obs_strides strides = {0};
    uint64_t pieces = 0;
    bool all = true;
    *out = rows[0]->insn;
    for (size_t i = 0; i < count; i++) {
        if (i)
            obs_insn_add(out, &rows[i]->insn);
        pieces += rows[i]->pieces;
        for (size_t k = 0; k < rows[i]->strides.count; k++) {
            const obs_stride_count *s = &rows[i]->strides.data[k];
            all = obs_strides_add(&strides, s->stride, s->count) && all;
        }
    }
    out->stride = obs_strides_commonest(&strides);
    out->slice_turns = turns_of_busiest_slice(rows, count);
    out->flags |= 2 * pieces > out->requests ? OBS_PIECES : 0;
    wl_vec_free(&strides);
    return all;
}

static wl_status merge_rows(obs_launch *launch, wl_arena *arena, obs_summary *out)
{
    row_list list = {0};
    wl_status status = WL_NOMEM;
    if (collect_rows(launch, &list) &&
        (out->insns = wl_new_array(arena, obs_insn, list.count + 1))) {
        status = WL_OK;
        for (size_t from = 0, to; from < list.count && !status; from = to) {
            for (to = from + 1; to < list.count && by_key(&list.data[from], &list.data[to]) == 0;)
                to++;
            if (!merge_rows_of_key(list.data + from, to - from, &out->insns[out->ninsns++]))
                status = WL_NOMEM;
        }
    }
    wl_vec_free(&list);
    return status;
}

static bool copy_heat(wl_arena *arena, const obs_heat *from, obs_heat *to)
{
    *to = *from;
    to->rows = wl_arena_copy(arena, from->rows, from->nrows * sizeof *from->rows);
    to->pcsets = wl_arena_copy(arena, from->pcsets, from->npcsets * sizeof *from->pcsets);
    if (!to->rows || !to->pcsets)
        return false;
    for (uint32_t i = 0; i < to->npcsets; i++) {
        obs_pcset *set = &to->pcsets[i];
        if (!(set->pcs = wl_arena_copy(arena, from->pcsets[i].pcs, set->count * sizeof *set->pcs)))
            return false;
    }
    return true;
}

static int by_sampled_block(const void *a, const void *b)
{
    return compare_ascending(((const obs_sample *)a)->block, ((const obs_sample *)b)->block);
}

/* The map of a chosen block goes to the worker's. */
static bool draw_chosen_block(obs_worker *worker, obs_kept *kept)
{
    const obs_sample *s = &kept->about;
    obs_heat head = obs_heat_head(worker->launch, s->block);
    obs_heat_block *heat = kept->heat ? kept->heat
                                      : obs_heat_begin(worker->launch->config.heat_limit);
    bool all = heat && (kept->heat || obs_log_play(&kept->log, heat));
    all = heat && obs_heat_end(heat, &head, &worker->heats) && all;
    kept->heat = heat; /* freed with the choice */
    return all;
}

static void draw_chosen_cell(obs_worker *worker, obs_kept *kept)
{
    bool complete = kept->about.mapped &&
                    !kept->heat; /* a map in its place: the log was too long */
    obs_worker_add_order(worker, kept->about.block, complete ? &kept->log : NULL);
    worker->dropped += kept->about.mapped && !draw_chosen_block(worker, kept);
}

/* Chooses among the blocks of all workers; one of them takes the maps. */
static wl_status choose_among_workers(obs_launch *launch, wl_arena *arena, obs_summary *out)
{
    obs_worker *first = launch->workers;
    obs_cell *chosen[OBS_CELLS];
    size_t asked = 0;
    for (obs_worker *w = first; w; w = w->next) {
        obs_worker_end_blocks(w);
        asked += w->asked.count;
        if (w != first)
            obs_choice_merge(&first->choice, &w->choice);
    }
    uint32_t n = first ? obs_choice_make(&first->choice, chosen) : 0;
    out->samples = wl_new_array(arena, obs_sample, asked + n + 1);
    if (!out->samples)
        return WL_NOMEM;
    for (obs_worker *w = first; w; w = w->next)
        for (size_t i = 0; i < w->asked.count; i++)
            out->samples[out->nsamples++] = w->asked.data[i];
    for (uint32_t i = 0; i < n; i++) {
        obs_kept *kept = &chosen[i]->kept;
        draw_chosen_cell(first, kept);
        out->samples[out->nsamples++] = kept->about;
    }
    qsort(out->samples, out->nsamples, sizeof *out->samples, by_sampled_block);
    for (uint32_t i = 0; i < out->nsamples; i++)
        out->blocks_sampled += out->samples[i].mapped;
    return WL_OK;
}

static wl_status merge_heats(obs_launch *launch, wl_arena *arena, obs_summary *out)
{
    size_t count = 0;
    for (obs_worker *w = launch->workers; w; w = w->next)
        count += w->heats.count;
    if (!(out->heats = wl_new_array(arena, obs_heat, count + 1)))
        return WL_NOMEM;
    for (obs_worker *w = launch->workers; w; w = w->next) {
        for (size_t i = 0; i < w->heats.count; i++) {
            if (!copy_heat(arena, &w->heats.data[i], &out->heats[out->nheats++]))
                return WL_NOMEM;
            obs_heat_clear(&w->heats.data[i]);
        }
        w->heats.count = 0;
    }
    qsort(out->heats, out->nheats, sizeof *out->heats, heats_by_block);
    return WL_OK;
}

static int reuses_by_block(const void *a, const void *b)
{
    const obs_reuse *x = a, *y = b;
    int order = compare_ascending(x->block, y->block);
    if (!order)
        order = compare_ascending(x->object, y->object);
    return order ? order : compare_ascending(x->distance, y->distance);
}

static wl_status merge_reuses(obs_launch *launch, wl_arena *arena, obs_summary *out)
{
    size_t count = 0;
    for (obs_worker *w = launch->workers; w; w = w->next)
        count += w->reuses.count;
    if (!(out->reuses = wl_new_array(arena, obs_reuse, count + 1)))
        return WL_NOMEM;
    for (obs_worker *w = launch->workers; w; w = w->next)
        for (size_t i = 0; i < w->reuses.count; i++)
            out->reuses[out->nreuses++] = w->reuses.data[i];
    qsort(out->reuses, out->nreuses, sizeof *out->reuses, reuses_by_block);
    return WL_OK;
}

static wl_status copy_shared_arrays(const obs_config *config, wl_arena *arena, obs_summary *out)
{
    out->nshared = config->nshared;
    out->shared = wl_arena_copy(arena, config->shared, config->nshared * sizeof *config->shared);
    for (uint32_t i = 0; out->shared && i < config->nshared; i++)
        if (!(out->shared[i].name = wl_arena_strdup(arena, config->shared[i].name)))
            return WL_NOMEM;
    return out->shared ? WL_OK : WL_NOMEM;
}

wl_status obs_finish(obs_launch *launch, wl_arena *arena, obs_summary *out)
{
    *out = (obs_summary){0};
    wl_status status = choose_among_workers(launch, arena, out);
    if (!status)
        status = merge_heats(launch, arena, out);
    if (!status)
        status = merge_reuses(launch, arena, out);
    if (!status && launch->sequences)
        status = obs_sequences_finish(launch->sequences, arena, out);
    if (!status)
        status = merge_rows(launch, arena, out);
    if (!status)
        status = copy_shared_arrays(&launch->config, arena, out);
    if (!status)
        status = obs_uses_finish(launch, arena, out);
    for (obs_worker *w = launch->workers; w; w = w->next) {
        out->blocks_observed += w->blocks_observed;
        out->dropped += w->dropped;
    }
    if (status)
        *out = (obs_summary){.dropped = out->dropped, .blocks_observed = out->blocks_observed};
    return status;
}
