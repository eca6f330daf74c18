/* Paths of warps: followed while an emulator runs, and folded to what is kept of a launch. */
#include "replay/followed.h"

#include "base/varint.h"

#include <stdlib.h>
#include <uthash.h>

enum { MOST_BYTES = 1 << 30 /* for the paths of all warps */ };

/* ---- once a kernel ---- */

static bool find_kernel_path(replay_path *path, const ir_module *module, const ir_func *kernel)
{
    path->arena = wl_arena_new();
    return path->arena && rewrite_path_of(module, kernel, path->arena, &path->found) == WL_OK &&
           path->found.nsteps;
}

void replay_path_clear(replay_path *path)
{
    wl_arena_free(path->arena);
    *path = (replay_path){0};
}

const rewrite_path *replay_path_of(replay_path *path, const ir_module *module,
                                   const ir_func *kernel)
{
    if (!path->tried && !find_kernel_path(path, module, kernel))
        replay_path_clear(path);
    path->tried = true;
    return path->arena ? &path->found : NULL;
}

/* ---- following ---- */

struct replay_followed {
    const rewrite_path *path;
    acc_observer inner;
    uint64_t blocks;
    uint32_t warps;
    rewrite_warp_path *ended; /* [blocks][warps] */
};

typedef struct followed_worker {
    replay_followed *followed;
    void *inner;
} followed_worker;

typedef struct followed_block {
    replay_followed *followed;
    void *inner;
    uint64_t index;
    rewrite_path_lanes *warps;
    uint32_t *turns;
} followed_block;

replay_followed *replay_followed_new(const rewrite_path *path, uint64_t blocks, uint32_t warps)
{
    replay_followed *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (replay_followed){.path = path, .blocks = blocks, .warps = warps};
    if (warps && blocks <= MOST_BYTES / sizeof *f->ended / warps)
        f->ended = calloc(blocks * warps + 1, sizeof *f->ended);
    if (!f->ended) {
        free(f);
        return NULL;
    }
    return f;
}

void replay_followed_free(replay_followed *f)
{
    if (f)
        free(f->ended);
    free(f);
}

static void *begin_followed_worker(void *ctx, uint32_t number)
{
    replay_followed *f = ctx;
    followed_worker *w = malloc(sizeof *w);
    if (w)
        *w = (followed_worker){
            f, f->inner.worker_begin ? f->inner.worker_begin(f->inner.ctx, number) : NULL};
    return w;
}

static void end_followed_worker(void *worker)
{
    followed_worker *w = worker;
    if (w && w->followed->inner.worker_end)
        w->followed->inner.worker_end(w->inner);
    free(w);
}

static void free_followed_block(followed_block *b)
{
    free(b->turns);
    free(b->warps);
    free(b);
}

static followed_block *new_followed_block(replay_followed *f, uint64_t index)
{
    size_t turns = (size_t)f->path->nloops * REWRITE_LANES;
    followed_block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (followed_block){f, NULL, index, calloc(f->warps, sizeof *b->warps),
                          calloc(f->warps * turns + 1, sizeof *b->turns)};
    if (!b->warps || !b->turns) {
        free_followed_block(b);
        return NULL;
    }
    for (uint32_t w = 0; w < f->warps; w++)
        b->warps[w].turns = b->turns + w * turns;
    return b;
}

static void *begin_followed_block(void *worker, uint64_t index)
{
    followed_worker *w = worker;
    followed_block *b = w && index < w->followed->blocks ? new_followed_block(w->followed, index)
                                                         : NULL;
    if (b)
        b->inner = w->followed->inner.block_begin(w->inner, index);
    return b;
}

static void end_followed_block(void *worker, void *block, uint64_t warp_instructions)
{
    followed_worker *w = worker;
    followed_block *b = block;
    if (!b)
        return;
    replay_followed *f = b->followed;
    for (uint32_t i = 0; i < f->warps; i++)
        f->ended[b->index * f->warps + i] = rewrite_path_end(&b->warps[i]);
    f->inner.block_end(w->inner, b->inner, warp_instructions);
    free_followed_block(b);
}

static void pass_access(void *block, const acc_request *request)
{
    const followed_block *b = block;
    if (b->inner)
        b->followed->inner.access(b->inner, request);
}

static void pass_barrier(void *block, uint32_t pc)
{
    const followed_block *b = block;
    if (b->inner && b->followed->inner.barrier)
        b->followed->inner.barrier(b->inner, pc);
}

static void follow_shown_entry(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    const followed_block *b = block;
    if (warp < b->followed->warps)
        rewrite_path_enter(b->followed->path, &b->warps[warp], pc, mask);
    if (b->inner && b->followed->inner.enter)
        b->followed->inner.enter(b->inner, warp, pc, mask);
}

acc_observer replay_followed_observer(replay_followed *f, const acc_observer *inner)
{
    f->inner = *inner;
    return (acc_observer){.ctx = f,
                          .worker_begin = begin_followed_worker,
                          .worker_end = end_followed_worker,
                          .block_begin = begin_followed_block,
                          .block_end = end_followed_block,
                          .access = pass_access,
                          .barrier = pass_barrier,
                          .enter = follow_shown_entry};
}

wl_status replay_followed_finish(const replay_followed *f, wl_arena *arena, obs_summary *s)
{
    return replay_fold_paths(f->ended, f->blocks * f->warps, arena, s);
}

/* ---- folding ---- */

typedef struct known_path {
    uint64_t hash;
    uint32_t number;
    UT_hash_handle hh;
} known_path;

typedef struct folding {
    wl_arena *arena, *scratch;
    known_path *known;
    obs_summary *out;
    uint32_t path, length; /* of the run at hand; OBS_NO_PATH: not known. Warps of it */
    uint8_t *runs;
    size_t size, capacity;
    bool failed;
} folding;

static void end_path_run(folding *f)
{
    if (!f->length)
        return;
    if (f->capacity - f->size < 2 * WL_VARINT_BYTES) {
        size_t capacity = f->capacity * 2 + 256;
        uint8_t *grown = realloc(f->runs, capacity);
        if (!grown) {
            f->failed = true;
            return;
        }
        f->runs = grown;
        f->capacity = capacity;
    }
    uint8_t *at = wl_varint_put(f->runs + f->size, f->path == OBS_NO_PATH ? 0 : f->path + 1u);
    f->size = (size_t)(wl_varint_put(at, f->length) - f->runs);
    f->length = 0;
}

/* The number of the path, a new one where it is; OBS_NO_PATH where there are too many. */
static uint32_t number_of_path(folding *f, const rewrite_warp_path *w, uint64_t warp)
{
    known_path *found = NULL;
    HASH_FIND(hh, f->known, &w->hash, sizeof w->hash, found);
    if (found)
        return found->number;
    found = f->out->npaths < OBS_MOST_PATHS ? wl_new(f->scratch, known_path) : NULL;
    if (!found) {
        f->failed |= f->out->npaths < OBS_MOST_PATHS;
        return OBS_NO_PATH;
    }
    *found = (known_path){.hash = w->hash, .number = f->out->npaths++};
    HASH_ADD(hh, f->known, hash, sizeof found->hash, found);
    f->out->paths[found->number] = (obs_path){.hash = w->hash,
                                              .instructions = w->instructions,
                                              .lane_instructions = w->lane_instructions,
                                              .first = warp};
    return found->number;
}

static void fold_warp(folding *f, const rewrite_warp_path *w, uint64_t warp)
{
    uint32_t path = w->instructions ? number_of_path(f, w, warp) : OBS_NO_PATH;
    if (path != f->path || f->length == UINT32_MAX)
        end_path_run(f);
    f->path = path;
    f->length++;
    if (path != OBS_NO_PATH)
        f->out->paths[path].warps++;
}

static wl_status keep_folded(folding *f)
{
    char *runs = f->failed ? NULL : wl_arena_copy(f->arena, f->runs, f->size);
    if (!runs)
        return WL_NOMEM;
    f->out->path_runs = runs;
    f->out->path_bytes = f->size;
    return WL_OK;
}

wl_status replay_fold_paths(const rewrite_warp_path *warps, uint64_t count, wl_arena *arena,
                            obs_summary *s)
{
    uint64_t most = count < OBS_MOST_PATHS ? count : OBS_MOST_PATHS;
    folding f = {.arena = arena, .scratch = wl_arena_new(), .out = s};
    s->npaths = 0;
    s->paths = wl_new_array(arena, obs_path, most + 1);
    f.failed = !f.scratch || !s->paths;
    for (uint64_t w = 0; w < count && !f.failed; w++)
        fold_warp(&f, &warps[w], w);
    end_path_run(&f);
    HASH_CLEAR(hh, f.known);
    wl_arena_free(f.scratch);
    wl_status status = s->npaths ? keep_folded(&f) : f.failed ? WL_NOMEM : WL_OK;
    free(f.runs);
    return status;
}
