#include "observe/internal.h"

#include <string.h>

enum { NO_ARRAY = 0 };

/* ---- launch, workers, blocks ---- */

static void row_free(obs_row *row)
{
    for (obs_row *next; row; row = next) {
        next = row->next;
        wl_vec_free(&row->strides);
        free(row->slices);
        free(row);
    }
}

static void free_spare_walks(obs_worker *worker)
{
    for (obs_walks *w = worker->spare_walks, *next; w; w = next) {
        next = w->next;
        obs_walks_free(w);
    }
}

static void worker_free(obs_worker *worker)
{
    for (uint32_t pc = 0; pc < worker->launch->config.ncode; pc++)
        row_free(worker->rows[pc]);
    for (obs_block *b = worker->live, *next; b; b = next) {
        next = b->next;
        obs_heat_free(b->heat);
        obs_log_free(&b->log);
        obs_walks_free(b->walks);
        if (b->frame)
            obs_frame_free(b->frame);
        free(b);
    }
    for (obs_block *b = worker->spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    for (size_t i = 0; i < worker->heats.count; i++)
        obs_heat_clear(&worker->heats.data[i]);
    wl_vec_free(&worker->heats);
    wl_vec_free(&worker->reuses);
    obs_choice_free(&worker->choice);
    obs_log_free(&worker->spare_log);
    wl_vec_free(&worker->asked);
    free_spare_walks(worker);
    obs_uses_free(&worker->uses);
    obs_filled_free(&worker->filled, worker->launch->config.nfilled);
    free(worker->rows);
    free(worker);
}

void obs_launch_free(obs_launch *launch)
{
    if (!launch)
        return;
    for (obs_worker *w = launch->workers, *next; w; w = next) {
        next = w->next;
        worker_free(w);
    }
    obs_commons_free(launch->commons);
    for (uint32_t i = 0; launch->shared && i < launch->config.nshared; i++)
        free((char *)launch->shared[i].name);
    free(launch->shared);
    free(launch->sampled);
    obs_read_plan_free(&launch->reads);
    obs_sequences_free(launch->sequences);
    pthread_mutex_destroy(&launch->lock);
    free(launch);
}

static bool copy_config_shared(obs_launch *launch)
{
    uint32_t n = launch->config.nshared;
    launch->shared = calloc(n ? n : 1, sizeof *launch->shared);
    if (!launch->shared)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const obs_shared *from = &launch->config.shared[i];
        launch->shared[i] = (obs_shared){strdup(from->name ? from->name : ""), from->offset,
                                         from->bytes};
        if (!launch->shared[i].name)
            return false;
    }
    launch->config.shared = launch->shared;
    return true;
}

static bool copy_sampled(obs_launch *launch)
{
    size_t bytes = launch->config.nsampled * sizeof *launch->sampled;
    launch->sampled = malloc(bytes ? bytes : 1);
    if (!launch->sampled)
        return false;
    if (bytes)
        memcpy(launch->sampled, launch->config.sampled, bytes);
    launch->config.sampled = launch->sampled;
    return true;
}

static bool plan_sequences(obs_launch *launch)
{
    obs_config *config = &launch->config;
    config->step_limit = config->step_limit ? config->step_limit : OBS_STEP_BYTES;
    if (config->sequence_limit)
        launch->sequences = obs_sequences_new(config->sequence_limit);
    return launch->sequences || !config->sequence_limit;
}

static bool plan_reads(obs_launch *launch)
{
    const obs_config *config = &launch->config;
    return obs_read_plan_make(config->arrays ? config->fills : NULL, config->ncode, &launch->reads);
}

wl_status obs_launch_new(const obs_config *config, obs_launch **out)
{
    obs_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return WL_NOMEM;
    launch->config = *config;
    for (int i = 0; i < 3; i++)
        launch->config.grid[i] += config->grid[i] == 0;
    pthread_mutex_init(&launch->lock, NULL);
    if (!copy_config_shared(launch) || !copy_sampled(launch) || !plan_reads(launch) ||
        !plan_sequences(launch)) {
        obs_launch_free(launch);
        return WL_NOMEM;
    }
    *out = launch;
    return WL_OK;
}

/* Thread-safe; NULL when out of memory. */
static obs_worker *begin_observing(obs_launch *launch, uint32_t number)
{
    (void)number; /* counts are summed in an order of their own */
    obs_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->launch = launch;
    worker->rows = calloc(launch->config.ncode + 1u, sizeof(obs_row *));
    if (!worker->rows) {
        free(worker);
        return NULL;
    }
    pthread_mutex_lock(&launch->lock);
    worker->next = launch->workers;
    launch->workers = worker;
    pthread_mutex_unlock(&launch->lock);
    return worker;
}

static bool is_sampled(const obs_config *config, uint64_t block)
{
    size_t low = 0, high = config->nsampled;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (config->sampled[middle] == block)
            return true;
        if (config->sampled[middle] < block)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static void link_live(obs_worker *worker, obs_block *block)
{
    block->next = worker->live;
    if (worker->live)
        worker->live->previous = block;
    worker->live = block;
}

static void unlink_live(obs_worker *worker, obs_block *block)
{
    if (block->next)
        block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else
        worker->live = block->next;
}

/* Keeping a log costs some time: of all but small launches only one block in eight may get a map,
 * one in four of those at the grid's edges, and its corners. */
static bool may_be_chosen(const obs_config *config, uint64_t block)
{
    enum { FEW = 32, INSIDE = 8, EDGE = 4 };
    const uint32_t *grid = config->grid;
    uint64_t x = block % grid[0], y = block / grid[0] % grid[1], z = block / grid[0] / grid[1];
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    bool end_x = x == 0 || x == grid[0] - 1, end_y = y == 0 || y == grid[1] - 1;
    bool end_z = z == 0 || z == grid[2] - 1;
    bool edge = (grid[0] > 1 && end_x) || (grid[1] > 1 && end_y) || (grid[2] > 1 && end_z);
    uint64_t hash = block * 0x9e3779b97f4a7c15u; /* without the regularity of any grid */
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 32;
    return blocks <= FEW || (end_x && end_y && end_z) || block == blocks / 2 ||
           hash % (edge ? EDGE : INSIDE) == 0;
}

static void begin_log(obs_worker *worker, obs_block *block)
{
    block->logging = true;
    block->number = ++worker->nlogs;
    block->log = worker->spare_log;
    worker->spare_log = (obs_log){0};
}

/* NULL when memory is exhausted. */
static obs_walks *take_spare_walks(obs_worker *worker)
{
    obs_walks *walks = worker->spare_walks;
    if (walks)
        worker->spare_walks = walks->next;
    else
        walks = obs_walks_new(&worker->launch->config);
    worker->dropped += walks == NULL;
    return walks;
}

static void put_walks_aside(obs_worker *worker, obs_walks *walks)
{
    obs_walks_clear(walks);
    walks->next = worker->spare_walks;
    worker->spare_walks = walks;
}

/* Whether steps are made from the block's log: of all blocks they are made as they come. */
static bool steps_come_from_logs(const obs_config *config)
{
    return config->sequence_limit && !config->all_warps;
}

static obs_block *begin_block(obs_worker *worker, uint64_t index)
{
    const obs_config *config = &worker->launch->config;
    obs_block *block = worker->spare;
    if (block)
        worker->spare = block->next;
    else if (!(block = malloc(sizeof *block))) {
        worker->dropped++;
        return NULL;
    }
    *block = (obs_block){.worker = worker, .index = index};
    link_live(worker, block);
    worker->blocks_observed++;
    block->asked = is_sampled(config, index);
    if (block->asked) {
        block->heat = obs_heat_begin(config->heat_limit);
        worker->dropped += block->heat == NULL;
    }
    if (config->all_warps && config->sequence_limit && (block->asked || !config->asked_warps) &&
        obs_sequences_may_keep(worker->launch->sequences, index))
        block->walks = take_spare_walks(worker);
    if (block->asked ? config->sequence_limit > 0
                     : config->automatic && may_be_chosen(config, index))
        begin_log(worker, block);
    return block;
}

obs_heat obs_heat_head(const obs_launch *launch, uint64_t block)
{
    const uint32_t *grid = launch->config.grid, *dim = launch->config.block;
    obs_heat heat = {.block = block};
    uint64_t x = grid[0], y = grid[1];
    heat.block_index[0] = (uint32_t)(block % x);
    heat.block_index[1] = (uint32_t)(block / x % y);
    heat.block_index[2] = (uint32_t)(block / x / y);
    heat.warps = (uint32_t)(((uint64_t)dim[0] * dim[1] * dim[2] + OBS_LANES - 1) / OBS_LANES);
    return heat;
}

static obs_sample sample_of(const obs_block *block)
{
    obs_heat head = obs_heat_head(block->worker->launch, block->index);
    obs_sample sample = {.block = block->index,
                         .why = (uint8_t)block->worker->launch->config.why,
                         .mapped = block->heat || (block->logging && !block->asked),
                         .instructions = block->instructions,
                         .requests = block->requests,
                         .sectors = block->sectors};
    memcpy(sample.block_index, head.block_index, sizeof sample.block_index);
    return sample;
}

static void add_logged_steps(obs_worker *worker, uint64_t block, const obs_log *log)
{
    if (!steps_come_from_logs(&worker->launch->config))
        return;
    obs_walks *walks = take_spare_walks(worker);
    if (!walks)
        return;
    obs_walks_play(walks, log);
    obs_sequences_add(worker->launch->sequences, block, walks);
    put_walks_aside(worker, walks);
}

/* Of a block whose steps were made as they came, if there was room. */
static void end_walks(obs_worker *worker, obs_block *block)
{
    const obs_launch *launch = worker->launch;
    if (block->walks) {
        obs_sequences_add(launch->sequences, block->index, block->walks);
        put_walks_aside(worker, block->walks);
    } else if (launch->sequences && launch->config.all_warps &&
               (block->asked || !launch->config.asked_warps)) {
        obs_sequences_drop(launch->sequences, obs_heat_head(launch, block->index).warps);
    }
}

void obs_worker_add_order(obs_worker *worker, uint64_t block, const obs_log *log)
{
    bool ordered = log && !worker->launch->config.incomplete;
    worker->dropped += ordered && !obs_reuse_of(block, log, &worker->reuses);
    add_logged_steps(worker, block, log);
}

static void put_log_aside(obs_worker *worker, obs_log *log)
{
    if (!worker->spare_log.data) {
        worker->spare_log = *log;
        obs_log_clear(&worker->spare_log);
        *log = (obs_log){0};
    }
    obs_log_free(log);
}

static void end_asked(obs_worker *worker, obs_block *block)
{
    obs_heat head = obs_heat_head(worker->launch, block->index);
    worker->dropped += !wl_push(&worker->asked, sample_of(block));
    worker->dropped += block->heat && !obs_heat_end(block->heat, &head, &worker->heats);
    obs_heat_free(block->heat);
    obs_worker_add_order(worker, block->index, block->logging ? &block->log : NULL);
    put_log_aside(worker, &block->log);
}

/* The choice keeps the block's log and map, or they are done with; the log's memory serves the next
 * block. */
static void end_candidate(obs_worker *worker, obs_block *block)
{
    obs_sample brief = {.block = block->index,
                        .instructions = block->instructions,
                        .requests = block->requests,
                        .sectors = block->sectors};
    if (!block->log.data && !block->heat && obs_choice_count(&worker->choice, &brief))
        return;
    obs_kept kept = {.about = sample_of(block), .log = block->log, .heat = block->heat};
    obs_choice_add(&worker->choice, &kept);
    put_log_aside(worker, &kept.log);
    obs_kept_free(&kept);
}

static void end_observed_block(obs_worker *worker, obs_block *block)
{
    if (!block)
        return;
    unlink_live(worker, block);
    obs_uses_end_block(block);
    end_walks(worker, block);
    if (block->asked)
        end_asked(worker, block);
    else if (worker->launch->config.automatic)
        end_candidate(worker, block);
    block->next = worker->spare;
    worker->spare = block;
}

void obs_worker_end_blocks(obs_worker *worker)
{
    while (worker->live)
        end_observed_block(worker, worker->live);
}

void obs_lose_steps(obs_block *block, uint32_t warp)
{
    obs_walks *walks = block->walks;
    for (uint32_t w = 0; walks && w < walks->nwarps; w++)
        if (w == warp || warp == UINT32_MAX)
            obs_walks_lose(walks, w);
}

/* ---- requests ---- */

uint32_t obs_array_at(const obs_config *config, uint64_t offset)
{
    for (uint32_t i = 1; i < config->nshared; i++) {
        const obs_shared *s = &config->shared[i];
        if (offset >= s->offset && offset - s->offset < s->bytes)
            return i;
    }
    return NO_ARRAY;
}

void obs_array_range(const obs_config *config, uint64_t offset, uint64_t *low, uint64_t *high)
{
    uint32_t array = obs_array_at(config, offset);
    *low = 0;
    *high = UINT64_MAX >> 1;
    if (array != NO_ARRAY) {
        *low = config->shared[array].offset;
        *high = *low + config->shared[array].bytes;
    }
    for (uint32_t i = 1; i < config->nshared; i++) {
        uint64_t from = config->shared[i].offset, end = from + config->shared[i].bytes;
        if (i == array || (array != NO_ARRAY && i > array) || from == end)
            continue; /* an array later in the list takes nothing from this one */
        if (end <= offset && end > *low)
            *low = end;
        if (from > offset && from < *high)
            *high = from;
    }
}

static uint32_t object_of_lane(const obs_config *config, const acc_request *access, uint32_t lane)
{
    uint64_t address = access->addr[lane];
    if (access->space == ACC_LOCAL)
        return 0;
    if (access->space == ACC_SHARED)
        return obs_array_at(config, address);
    return config->object_at ? config->object_at(config->object_ctx, address) : 0;
}

static bool is_row_of(const obs_row *row, const acc_request *access)
{
    return row->insn.space == access->space && row->insn.op == access->op &&
           row->insn.object == access->object;
}

/* The width of a block of which a warp may take pieces of several rows; 0 of another. Only of a
 * power of two these have one size in all warps. */
static uint32_t width_of_pieces(const obs_config *config)
{
    uint32_t width = config->block[0];
    return width > 1 && width < OBS_LANES && obs_is_pow2(width) ? width : 0;
}

static obs_row *row_new(obs_worker *worker, const acc_request *access)
{
    bool sliced = obs_is_global_atomic(access);
    obs_row *row = calloc(1, sizeof *row);
    uint64_t *slices = row && sliced ? calloc(OBS_SLICES, sizeof *slices) : NULL;
    if (!row || (sliced && !slices)) {
        free(row);
        return NULL;
    }
    row->slices = slices;
    row->insn = (obs_insn){.pc = access->pc,
                           .object = access->object,
                           .space = (uint8_t)access->space,
                           .op = (uint8_t)access->op};
    row->high = UINT64_MAX;
    row->width = width_of_pieces(&worker->launch->config);
    row->memo.mask = 0; /* no request has this */
    row->next = worker->rows[access->pc];
    worker->rows[access->pc] = row;
    return row;
}

/* The row of pc, object, space and op, made where it is missing; it becomes first of its list. */
static obs_row *row_of_access(obs_worker *worker, const acc_request *access)
{
    obs_row **first = &worker->rows[access->pc];
    for (obs_row **at = first; *at; at = &(*at)->next) {
        obs_row *row = *at;
        if (is_row_of(row, access)) {
            *at = row->next;
            row->next = *first;
            *first = row;
            return row;
        }
    }
    return row_new(worker, access);
}

/* May the block have a map although nobody knows yet whether it is chosen? A map costs several
 * times what the counting does, so that only few may. */
static bool may_draw(const obs_config *config, uint64_t block)
{
    enum { MANY = 64 };
    uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    return block == 0 || (blocks >= MANY && (block == blocks / 2 || block == blocks - 1));
}

/* The log is full. */
static void end_log(obs_block *block)
{
    obs_worker *worker = block->worker;
    const obs_config *config = &worker->launch->config;
    if (!block->asked && may_draw(config, block->index)) {
        block->heat = obs_heat_begin(config->heat_limit);
        worker->dropped += !block->heat || !obs_log_play(&block->log, block->heat);
    }
    block->logging = false;
    obs_log_clear(&block->log);
}

static size_t log_limit_of(const obs_block *block)
{
    uint64_t limit = block->worker->launch->config.log_limit;
    return limit ? limit : OBS_LOG_BYTES;
}

/* Accesses to local memory have no map; of those that find no room the log is without. */
static void log_access(obs_block *block, const acc_request *access, const obs_run *run,
                       obs_log_place *place)
{
    const obs_config *config = &block->worker->launch->config;
    bool local = access->space == ACC_LOCAL;
    if (local && (!steps_come_from_logs(config) || block->log.partial))
        return;
    if (obs_log_add(&block->log, log_limit_of(block), access, run, block->number, place))
        return;
    block->log.partial = local;
    if (!local)
        end_log(block);
}

static void log_barrier(obs_block *block, uint32_t pc)
{
    if (!obs_log_add_barrier(&block->log, log_limit_of(block), pc))
        end_log(block);
}

/* `known`: the pattern that the request repeats, or NULL. */
static void note_run(obs_block *block, const acc_request *access, const obs_run *run,
                     obs_pattern *known)
{
    if (block->logging)
        log_access(block, access, run, known ? &known->place : NULL);
    if (block->walks)
        obs_walks_access(block->walks, access, run, known ? &known->lanes : NULL);
    if (block->heat && !obs_heat_record(block->heat, access, run))
        block->worker->dropped++;
}

static void record_on(obs_block *block, obs_row *row, const acc_request *access, const obs_run *run,
                      bool known)
{
    uint32_t sectors = obs_row_count(row, access, run, known);
    block->sectors += sectors;
    block->requests += sectors > 0 && !(access->flags & ACC_GOES_ON);
    if (block->logging || block->heat || block->walks)
        note_run(block, access, run, known ? &row->pattern : NULL);
}

/* One request on one object, `access->object`. */
static void record_one(obs_block *block, const acc_request *access)
{
    obs_run run;
    obs_row *row = row_of_access(block->worker, access);
    if (!row) {
        block->worker->dropped++;
        return;
    }
    if (access->space == ACC_SHARED)
        obs_array_range(&block->worker->launch->config, access->addr[__builtin_ctz(access->mask)],
                        &row->low, &row->high);
    const obs_run *found = obs_find_run(access, &run) ? &run : NULL;
    record_on(block, row, access, found, !found && obs_row_knows(row, access));
}

/* Lanes by object: a request counts once on each, with its own lanes. */
static void record_split(obs_block *block, const acc_request *access)
{
    const obs_config *config = &block->worker->launch->config;
    uint32_t objects[OBS_LANES];
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        objects[lane] = object_of_lane(config, access, lane);
    }
    for (uint32_t left = access->mask; left;) {
        acc_request part = *access;
        part.object = objects[__builtin_ctz(left)];
        part.mask = 0;
        for (uint32_t m = left; m; m &= m - 1)
            if (objects[__builtin_ctz(m)] == part.object)
                part.mask |= m & (0 - m);
        if (part.mask != access->mask)
            part.stride = ACC_IRREGULAR;
        record_one(block, &part);
        left &= ~part.mask;
    }
}

/* Whether all of the request lies in [low, high), by addresses that differ by less than 2^63. */
static bool run_within(const obs_run *run, uint32_t bytes, uint64_t low, uint64_t high)
{
    uint64_t last = run->first + (uint64_t)run->stride * (run->count - 1);
    uint64_t from = run->stride < 0 ? last : run->first, to = run->stride < 0 ? run->first : last;
    return from >= low && to + bytes <= high;
}

static bool pattern_within(const obs_row *row, const acc_request *access)
{
    uint64_t base = access->addr[__builtin_ctz(access->mask)];
    uint64_t from = base + (uint64_t)row->pattern.low, to = base + (uint64_t)row->pattern.high;
    return from >= row->low && to + access->bytes <= row->high;
}

static bool lanes_within(const acc_request *access, uint64_t low, uint64_t high)
{
    uint64_t outside = 0, top = high - access->bytes;
    for (uint32_t i = 0; access->mask == UINT32_MAX && i < OBS_LANES; i++)
        outside |= (access->addr[i] - low) | (top - access->addr[i]);
    for (uint32_t m = access->mask == UINT32_MAX ? 0 : access->mask; m; m &= m - 1) {
        uint64_t a = access->addr[__builtin_ctz(m)];
        outside |= (a - low) | (top - a);
    }
    return (int64_t)outside >= 0;
}

/* A shared-memory row of the request's pc whose array holds all of it, among the two used last:
 * cp.async has a row for each of its two sides. */
static obs_row *shared_row(obs_row *row, const acc_request *access, const obs_run *run, bool *known)
{
    for (int i = 0; row && i < 2; i++, row = row->next) {
        if (row->insn.space != ACC_SHARED || row->insn.op != access->op)
            continue;
        *known = !run && obs_row_knows(row, access);
        if (run      ? run_within(run, access->bytes, row->low, row->high)
            : *known ? pattern_within(row, access)
                     : lanes_within(access, row->low, row->high))
            return row;
    }
    return NULL;
}

static obs_row *recent_row(obs_row *row, const acc_request *access)
{
    if (row && !is_row_of(row, access))
        row = row->next;
    return row && is_row_of(row, access) ? row : NULL;
}

static void record_shared(obs_block *block, const acc_request *access)
{
    obs_run run;
    bool known = false;
    const obs_run *found = obs_find_run(access, &run) ? &run : NULL;
    obs_row *row = shared_row(block->worker->rows[access->pc], access, found, &known);
    if (!row) {
        record_split(block, access);
        return;
    }
    acc_request on = *access;
    on.object = row->insn.object;
    record_on(block, row, &on, found, known);
}

static void record_object(obs_block *block, const acc_request *access)
{
    obs_run run;
    obs_row *row = recent_row(block->worker->rows[access->pc], access);
    if (!row) {
        record_one(block, access);
        return;
    }
    const obs_run *found = obs_find_run(access, &run) ? &run : NULL;
    record_on(block, row, access, found, !found && obs_row_knows(row, access));
}

void obs_record(obs_block *block, const acc_request *access)
{
    obs_worker *worker = block->worker;
    if (!access->mask || !access->bytes || access->pc >= worker->launch->config.ncode)
        worker->dropped += access->mask != 0;
    else if (access->space == ACC_SHARED)
        record_shared(block, access);
    else if (access->object == 0 && access->space != ACC_LOCAL)
        record_split(block, access);
    else
        record_object(block, access);
}

/* ---- the observer of a run ---- */

static void *on_worker(void *ctx, uint32_t number)
{
    return begin_observing(ctx, number);
}

static void *on_block(void *worker, uint64_t index)
{
    return worker ? begin_block(worker, index) : NULL;
}

static void on_block_end(void *worker, void *block, uint64_t warp_instructions)
{
    if (!block)
        return;
    ((obs_block *)block)->instructions = warp_instructions;
    end_observed_block(worker, block);
}

static void on_request(void *block, const acc_request *request)
{
    obs_record(block, request);
}

static void on_counted_request(void *block, const acc_request *request)
{
    obs_record(block, request);
    obs_record_use(block, request);
}

static void on_barrier(void *block, uint32_t pc)
{
    obs_block *b = block;
    obs_filled_pass(b, pc);
    if (b->walks)
        obs_walks_barrier(b->walks, pc);
    if (b->logging && steps_come_from_logs(&b->worker->launch->config))
        log_barrier(b, pc);
}

static void on_enter(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    obs_block *b = block;
    if (b->walks)
        obs_walks_entry(b->walks, warp, pc, mask);
}

acc_observer obs_observer(obs_launch *launch)
{
    bool counts = launch->config.objects || launch->config.arrays;
    return (acc_observer){.ctx = launch,
                          .worker_begin = on_worker,
                          .block_begin = on_block,
                          .block_end = on_block_end,
                          .access = counts ? on_counted_request : on_request,
                          .barrier = on_barrier,
                          .enter = launch->config.all_warps && launch->sequences ? on_enter : NULL};
}
