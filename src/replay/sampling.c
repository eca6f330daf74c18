/* Launches and blocks that get heat maps, and what is counted of elements. */
#include "replay/sampling.h"

#include "base/order.h"
#include "replay/elements.h"

#include <stdlib.h>
#include <uthash.h>

enum { ALL_BLOCKS = 256 };                              /* maps of one launch */
enum { LOGS_TOGETHER = 64 << 20, SMALLEST_LOG = 4096 }; /* bytes */
/* Of a log that steps are made from: a block of a tiled product of matrices needs more than a map's
 * would have. */
enum { STEP_LOG_BYTES = 2 << 20 };
/* Of the steps of all blocks that run at one time, where these must run together. */
enum { STEPS_TOGETHER = 1 << 30, FEWEST_STEPS = 64 << 10 };

/* ---- launches ---- */

struct replay_shapes {
    replay_shape shape; /* all of it is 32-bit numbers: bytes to compare */
    uint64_t launches;
    UT_hash_handle hh;
};

/* Launches of the shape before this one. */
static uint64_t count_of_shape(replay_shapes **shapes, const replay_shape *shape)
{
    replay_shapes *found = NULL;
    HASH_FIND(hh, *shapes, shape, sizeof *shape, found);
    if (!found) {
        found = calloc(1, sizeof *found);
        if (!found)
            return 0;
        found->shape = *shape;
        HASH_ADD(hh, *shapes, shape, sizeof found->shape, found);
    }
    return found->launches++;
}

bool replay_shape_mapped(replay_shapes **shapes, const replay_shape *shape,
                         const replay_settings *settings)
{
    return prog_in_sample(count_of_shape(shapes, shape), settings->heat_launches);
}

bool replay_shape_is_new(replay_shapes **shapes, const replay_shape *shape)
{
    return count_of_shape(shapes, shape) == 0;
}

void replay_shapes_free(replay_shapes *shapes)
{
    replay_shapes *each, *next;
    HASH_ITER (hh, shapes, each, next) {
        HASH_DEL(shapes, each);
        free(each);
    }
}

/* ---- blocks ---- */

static uint64_t blocks_in_grid(emu_dim grid)
{
    return (uint64_t)grid.x * grid.y * grid.z;
}

/* Those that the user named and the grid has, each once. */
static bool list_named_blocks(const prog_blocks *named, wl_arena *arena, emu_dim grid,
                              uint64_t **list, uint32_t *count)
{
    uint32_t n = 0, kept = 0;
    *list = wl_new_array(arena, uint64_t, (size_t)named->count + 1);
    if (!*list)
        return false;
    for (uint32_t i = 0; i < named->count; i++) {
        prog_block b = named->list[i];
        if (b.x < grid.x && b.y < grid.y && b.z < grid.z)
            (*list)[n++] = ((uint64_t)b.z * grid.y + b.y) * grid.x + b.x;
    }
    qsort(*list, n, sizeof **list, wl_by_number);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || (*list)[kept - 1] != (*list)[i])
            (*list)[kept++] = (*list)[i];
    *count = kept;
    return true;
}

/* All, or as many as maps are kept of, evenly spread. */
static bool list_spread_blocks(wl_arena *arena, emu_dim grid, uint64_t **list, uint32_t *count)
{
    uint64_t blocks = blocks_in_grid(grid), n = blocks < ALL_BLOCKS ? blocks : ALL_BLOCKS;
    *list = wl_new_array(arena, uint64_t, n + 1);
    for (uint64_t i = 0; *list && i < n; i++)
        (*list)[i] = n > 1 ? (uint64_t)((__uint128_t)i * (blocks - 1) / (n - 1)) : 0;
    *count = (uint32_t)n;
    return *list != NULL;
}

bool replay_sampling(const replay_settings *settings, wl_arena *arena, emu_dim grid,
                     uint64_t together, obs_config *config)
{
    uint64_t *list = NULL;
    uint32_t count = 0;
    bool from_logs = settings->sequence_limit && !settings->all_warps;
    uint64_t most = from_logs ? STEP_LOG_BYTES : OBS_LOG_BYTES;
    uint64_t log = together ? LOGS_TOGETHER / together : most;
    bool good = settings->blocks.all
                    ? list_spread_blocks(arena, grid, &list, &count)
                    : list_named_blocks(&settings->blocks, arena, grid, &list, &count);
    config->sampled = list;
    config->nsampled = count;
    config->automatic = settings->blocks.automatic;
    config->log_limit = log > most ? most : log < SMALLEST_LOG ? SMALLEST_LOG : log;
    config->heat_limit = settings->heat_limit;
    config->sequence_limit = settings->sequence_limit;
    config->all_warps = settings->all_warps;
    return good;
}

uint64_t replay_step_limit(uint64_t together)
{
    uint64_t limit = together ? STEPS_TOGETHER / together : OBS_STEP_BYTES;
    return limit > OBS_STEP_BYTES ? OBS_STEP_BYTES : limit < FEWEST_STEPS ? FEWEST_STEPS : limit;
}

void replay_counting(uint32_t probes, obs_config *config)
{
    config->objects = replay_elements_of_objects(probes);
    config->arrays = replay_elements_of_arrays(probes);
}
