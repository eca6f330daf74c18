/* From what the emulator shows of a launch to its summary. */
#include "replay/watch.h"

#include "replay/sampling.h"

/* ---- what the observer asks ---- */

static uint32_t object_at(void *ctx, uint64_t address)
{
    emu_alloc alloc;
    return emu_mem_find_object(ctx, address, &alloc) ? alloc.id : 0;
}

static bool range_at(void *ctx, uint64_t address, obs_range *out)
{
    emu_alloc alloc;
    if (!emu_mem_find_object(ctx, address, &alloc))
        return false;
    *out = (obs_range){alloc.id, alloc.base, alloc.size, alloc.kind == EMU_ALLOC_CONST,
                       alloc.divided};
    return true;
}

/* ---- arrays ---- */

/* Index 0 covers what no array does; the arrays follow as the emulator lays them out, the
 * dynamic part last. */
static obs_shared *list_shared(wl_arena *arena, const replay_watched *what, uint32_t *n)
{
    uint32_t count = emu_kernel_nshared(what->kernel);
    obs_shared *list = wl_new_array(arena, obs_shared, count + 2);
    if (!list)
        return NULL;
    list[0].name = "";
    *n = 1;
    for (uint32_t i = 0; i < count; i++) {
        emu_shared_var v = emu_kernel_shared(what->kernel, i, what->dynamic_shared);
        if (v.size)
            list[(*n)++] = (obs_shared){.name = v.var->name, .offset = v.offset, .bytes = v.size};
    }
    return list;
}

/* The barriers of arrays whose ranges follow from counts. */
static bool list_filled(const replay_watched *what, wl_arena *arena, obs_config *config)
{
    obs_filled_by *list = wl_new_array(arena, obs_filled_by, OBS_MOST_FILLED);
    for (uint32_t i = 1; list && what->ranges && i < config->nshared; i++) {
        const replay_array *array = replay_ranges_of(what->ranges, config->shared[i].name);
        if (array && replay_array_follows(array) && config->nfilled < OBS_MOST_FILLED)
            list[config->nfilled++] = (obs_filled_by){i, array->apart.barrier};
    }
    config->filled = list;
    return list != NULL;
}

/* That may wait for each other. */
static uint64_t blocks_together(const replay_watched *what)
{
    uint64_t cluster = (uint64_t)what->cluster.x * what->cluster.y * what->cluster.z;
    if (what->cooperative)
        return (uint64_t)what->grid.x * what->grid.y * what->grid.z;
    return cluster ? cluster : 1;
}

/* A worker runs one block after the other, but for those that may wait for each other. */
static uint64_t blocks_in_flight(const replay_watched *what)
{
    uint32_t threads = what->cooperative ? 1 : what->settings->threads;
    return blocks_together(what) * (threads ? threads : 1);
}

/* ---- paths ---- */

static uint64_t product_of_dim(emu_dim grid)
{
    return (uint64_t)grid.x * grid.y * grid.z;
}

/* Does the kernel, or slice, show all basic blocks that lanes begin? */
static bool shows_entries(const emu_kernel *kernel, const flow_proof *proof)
{
    bool all = true;
    for (uint32_t pc = 0; proof && pc < emu_kernel_get(kernel)->ncode; pc++)
        all &= emu_slice_counts(kernel, pc);
    return all;
}

/* Where there is no memory for it, paths are not told. */
static void follow_paths(const replay_watched *what, const flow_proof *proof, replay_watch *out)
{
    uint32_t warps = (uint32_t)((product_of_dim(what->block) + REWRITE_LANES - 1) / REWRITE_LANES);
    if (!what->path || !shows_entries(what->kernel, proof))
        return;
    out->followed = replay_followed_new(what->path, product_of_dim(what->grid), warps);
    if (out->followed)
        out->observer = replay_followed_observer(out->followed, &out->observer);
}

/* ---- machine code ---- */

static wl_status renumber_accesses(const replay_watched *what, replay_watch *out)
{
    out->lifted = what->lifted;
    out->renumbered = replay_renumbered_new(what->lifted, &out->observer);
    if (!out->renumbered)
        return WL_NOMEM;
    out->observer = replay_renumbered_observer(out->renumbered);
    return WL_OK;
}

/* ---- begin ---- */

wl_status replay_watch_begin(const replay_watched *what, const flow_proof *proof, replay_watch *out)
{
    *out = (replay_watch){.arena = wl_arena_new(), .kernel = what->kernel, .proof = proof};
    uint32_t nshared = 0;
    obs_shared *shared = out->arena ? list_shared(out->arena, what, &nshared) : NULL;
    if (!shared)
        return WL_NOMEM;
    uint32_t ncode = what->lifted ? what->lifted->count : emu_kernel_get(what->kernel)->ncode;
    obs_config config = {.ncode = ncode,
                         .grid = {what->grid.x, what->grid.y, what->grid.z},
                         .block = {what->block.x, what->block.y, what->block.z},
                         .nshared = nshared,
                         .shared = shared,
                         .object_at = object_at,
                         .range_at = range_at,
                         .fills = what->fills,
                         .object_ctx = what->machine};
    if (!replay_sampling(what->settings, out->arena, what->grid, blocks_in_flight(what), &config) ||
        !list_filled(what, out->arena, &config))
        return WL_NOMEM;
    if (what->blocks) {
        config.sampled = what->blocks;
        config.nsampled = what->nblocks;
        config.why = config.automatic ? OBS_WHY_TRACED : OBS_WHY_ASKED;
        config.automatic = false;
    }
    if (what->unmapped) {
        config.nsampled = 0;
        config.automatic = false;
    }
    if ((what->incomplete && !what->traced_steps) || what->unmapped)
        config.sequence_limit = 0;
    config.asked_warps = what->traced_steps;
    config.step_limit = replay_step_limit(blocks_together(what));
    config.incomplete = what->incomplete;
    replay_counting(what->settings->probes | what->probes, &config);
    wl_status status = obs_launch_new(&config, &out->launch);
    out->sampled = config.sampled;
    out->nsampled = config.nsampled;
    if (status == WL_OK) {
        out->observer = obs_observer(out->launch);
        follow_paths(what, proof, out);
    }
    if (status == WL_OK && what->lifted)
        status = renumber_accesses(what, out);
    return status;
}

void replay_watch_end(replay_watch *watch)
{
    obs_launch_free(watch->launch);
    replay_followed_free(watch->followed);
    replay_renumbered_free(watch->renumbered);
    wl_arena_free(watch->arena);
    *watch = (replay_watch){0};
}

/* ---- the summary's counts that come from the emulator ---- */

#define UNCOUNTED UINT64_MAX

static bool is_insn_counted(const replay_watch *w, uint32_t pc)
{
    return !w->proof || emu_slice_counts(w->kernel, pc);
}

static void count_insn(const replay_watch *w, const emu_result *result, uint32_t pc,
                       obs_summary *summary)
{
    emu_code code = emu_kernel_code(w->kernel, pc);
    if (code.block >= result->nblocks)
        return;
    const emu_block_count *counted = &result->blocks[code.block];
    obs_block_count *block = &summary->blocks[code.block];
    if (!is_insn_counted(w, pc)) {
        block->executions = UNCOUNTED;
        return;
    }
    block->first_pc = pc;
    block->ninsns++;
    block->executions = counted->executions;
    block->lanes = counted->lanes;
    summary->mix.warp_instructions[code.cost] += counted->executions;
    summary->mix.thread_instructions[code.cost] += counted->lanes;
    summary->warp_instructions += counted->executions;
    summary->thread_instructions += counted->lanes;
}

static void drop_uncounted(obs_summary *summary)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < summary->nblocks; i++)
        if (summary->blocks[i].executions != UNCOUNTED)
            summary->blocks[kept++] = summary->blocks[i];
    summary->nblocks = kept;
}

/* What runs of a basic block are known of; `all` is UNCOUNTED where one is not. */
static void add_machine_run_counts(const replay_watch *w, const emu_result *result,
                                   const sass_run *run, obs_block_count *all)
{
    bool known = run->begin != SASS_NOWHERE && is_insn_counted(w, run->begin);
    if (!known || all->executions == UNCOUNTED) {
        all->executions = UNCOUNTED;
        return;
    }
    const emu_block_count *c = &result->blocks[emu_kernel_code(w->kernel, run->begin).block];
    all->executions += c->executions;
    all->lanes += c->lanes;
}

static void add_machine_insn(const obs_block_count *block, unsigned cost, obs_summary *summary)
{
    summary->warp_instructions += block->executions;
    summary->thread_instructions += block->lanes;
    if (cost >= IR_COST_COUNT)
        return; /* nobody knows its class */
    summary->mix.warp_instructions[cost] += block->executions;
    summary->mix.thread_instructions[cost] += block->lanes;
}

/* By instruction, where a basic block begins: how often it ran. */
static obs_block_count *sum_runs(const replay_watch *w, const emu_result *result)
{
    const sass_body *body = w->lifted;
    obs_block_count *sums = wl_new_array(w->arena, obs_block_count, (size_t)body->count + 1);
    for (uint32_t i = 0; sums && i < body->nruns; i++)
        add_machine_run_counts(w, result, &body->runs[i], &sums[body->runs[i].insn]);
    return sums;
}

static wl_status count_machine_blocks(const replay_watch *w, const emu_result *result,
                                      obs_summary *summary)
{
    const sass_body *body = w->lifted;
    const obs_block_count *sums = sum_runs(w, result);
    obs_block_count *block = wl_new_array(w->arena, obs_block_count, (size_t)body->count + 1);
    if (!sums || !block)
        return WL_NOMEM;
    summary->blocks = block--;
    summary->nblocks = 0;
    for (uint32_t i = 0, leader = 0; i < body->count; i++) {
        leader = body->leader[i] ? i : leader;
        if (sums[leader].executions == UNCOUNTED)
            continue;
        if (i == leader) {
            *++block = (obs_block_count){i, 0, sums[i].executions, sums[i].lanes};
            summary->nblocks++;
        }
        block->ninsns++;
        add_machine_insn(block, body->insns[i].cost, summary);
    }
    summary->blocks_run = result->blocks_run > summary->blocks_observed ? result->blocks_run
                                                                        : summary->blocks_observed;
    return WL_OK;
}

static wl_status count_watched_blocks(const replay_watch *w, const emu_result *result,
                                      obs_summary *summary)
{
    summary->nblocks = result->nblocks;
    summary->blocks = wl_new_array(w->arena, obs_block_count, result->nblocks + 1);
    if (!summary->blocks)
        return WL_NOMEM;
    for (uint32_t pc = emu_kernel_get(w->kernel)->ncode; pc-- > 0;)
        count_insn(w, result, pc, summary);
    if (w->proof)
        drop_uncounted(summary);
    bool whole = summary->nblocks == result->nblocks;
    summary->longest_warp = whole ? result->longest_warp : 0;
    summary->busiest_block = whole ? result->busiest_block : 0;
    summary->longest_warps = whole ? result->longest_warps : 0;
    /* Of a launch that failed, blocks that ended early ran as well. */
    summary->blocks_run = result->blocks_run > summary->blocks_observed ? result->blocks_run
                                                                        : summary->blocks_observed;
    return WL_OK;
}

wl_status replay_watch_finish(replay_watch *watch, const emu_result *result, obs_summary *out)
{
    wl_status status = obs_finish(watch->launch, watch->arena, out);
    if (status == WL_OK && watch->followed)
        status = replay_followed_finish(watch->followed, watch->arena, out);
    if (status == WL_OK && watch->lifted)
        return count_machine_blocks(watch, result, out);
    return status == WL_OK ? count_watched_blocks(watch, result, out) : status;
}
