/* Nanoseconds that obs_record takes for one warp request, by pattern; the block with and without a
 * heat map.
 *
 *   ninja bench_observe && bin/bench_observe [requests]
 *
 * Each pattern goes round 64 prepared requests, whose first addresses differ as in a loop over an
 * array. The best of many short rounds counts, in the thread's own time: others may use the
 * machine. */
#include "support/drive.h"

#include "../clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { VARIANTS = 64, PCS = 16, ROUNDS = 60, LOGGED = 1500 };

typedef struct workload {
    const char *name;
    acc_space space;
    acc_op op;
    uint32_t bytes, mask;
    uint64_t (*address)(uint32_t variant, uint32_t lane);
    int64_t stride;
} workload;

static uint64_t mix(uint64_t n)
{
    n = (n ^ n >> 31) * 0x9e3779b97f4a7c15u;
    return (n ^ n >> 29) * 0xbf58476d1ce4e5b9u;
}

static uint64_t contiguous(uint32_t v, uint32_t l)
{
    return v * 128 + l * 4;
}

static uint64_t shifting(uint32_t v, uint32_t l) /* the phase changes with every request */
{
    return v * 132 + l * 4;
}

static uint64_t contiguous16(uint32_t v, uint32_t l)
{
    return v * 512 + l * 16;
}

static uint64_t same(uint32_t v, uint32_t l)
{
    (void)l;
    return v * 4;
}

static uint64_t column(uint32_t v, uint32_t l)
{
    return v * 4 + l * 2048;
}

static uint64_t tile_rows(uint32_t v, uint32_t l) /* a block of 16 x 16 threads */
{
    return v * 64 + l / 16 * 4096 + l % 16 * 4;
}

static uint64_t tile_column(uint32_t v, uint32_t l)
{
    return (v % 16) * 4 + l / 16 * 64;
}

static uint64_t halves(uint32_t v, uint32_t l)
{
    return (v % 16) * 64 + l % 16 * 4;
}

static uint64_t random4(uint32_t v, uint32_t l)
{
    return mix(v * 32 + l + 1) % (1 << 20) * 4;
}

static uint64_t random_near(uint32_t v, uint32_t l)
{
    return v * 128 + mix(v * 32 + l + 1) % 64 * 4;
}

static uint64_t random_shared(uint32_t v, uint32_t l)
{
    return mix(v * 32 + l + 1) % 1024 * 4;
}

static uint64_t permuted(uint32_t v, uint32_t l)
{
    return v % 8 * 128 + (l ^ (v & 31)) * 4;
}

static const workload workloads[] = {
    {"global contiguous f32", ACC_GLOBAL, ACC_LOAD, 4, UINT32_MAX, contiguous, 4},
    {"global contiguous f32x4", ACC_GLOBAL, ACC_STORE, 16, UINT32_MAX, contiguous16, 16},
    {"global contiguous, phase changes", ACC_GLOBAL, ACC_LOAD, 4, UINT32_MAX, shifting, 4},
    {"global uniform", ACC_GLOBAL, ACC_LOAD, 4, UINT32_MAX, same, 0},
    {"global column", ACC_GLOBAL, ACC_STORE, 4, UINT32_MAX, column, 2048},
    {"global contiguous, 20 lanes", ACC_GLOBAL, ACC_LOAD, 4, 0xfffff, contiguous, ACC_IRREGULAR},
    {"global contiguous, even lanes", ACC_GLOBAL, ACC_LOAD, 4, 0x55555555, contiguous,
     ACC_IRREGULAR},
    {"global one lane", ACC_GLOBAL, ACC_STORE, 4, 1, contiguous, ACC_IRREGULAR},
    {"global 2 x 16 tile rows", ACC_GLOBAL, ACC_LOAD, 4, UINT32_MAX, tile_rows, ACC_IRREGULAR},
    {"global random in 4 MB", ACC_GLOBAL, ACC_LOAD, 4, UINT32_MAX, random4, ACC_IRREGULAR},
    {"global random in 256 bytes", ACC_GLOBAL, ACC_LOAD, 4, UINT32_MAX, random_near, ACC_IRREGULAR},
    {"global random, even lanes", ACC_GLOBAL, ACC_ATOMIC, 4, 0x55555555, random4, ACC_IRREGULAR},
    {"shared contiguous f32", ACC_SHARED, ACC_LOAD, 4, UINT32_MAX, contiguous, 4},
    {"shared 16 x 16 tile, a[ty][k]", ACC_SHARED, ACC_LOAD, 4, UINT32_MAX, tile_column,
     ACC_IRREGULAR},
    {"shared 16 x 16 tile, b[k][tx]", ACC_SHARED, ACC_LOAD, 4, UINT32_MAX, halves, ACC_IRREGULAR},
    {"shared permuted", ACC_SHARED, ACC_LOAD, 4, UINT32_MAX, permuted, ACC_IRREGULAR},
    {"shared random in 4 KB", ACC_SHARED, ACC_LOAD, 4, UINT32_MAX, random_shared, ACC_IRREGULAR},
    {"shared random atomics", ACC_SHARED, ACC_ATOMIC, 4, UINT32_MAX, random_shared, ACC_IRREGULAR},
    {"shared contiguous f64", ACC_SHARED, ACC_LOAD, 8, UINT32_MAX, contiguous16, 16},
    {"local same offset", ACC_LOCAL, ACC_LOAD, 4, UINT32_MAX, same, 0},
};

static void prepare(const workload *w, uint64_t addr[VARIANTS][32], acc_request *access)
{
    uint64_t base = w->space == ACC_GLOBAL ? 0x7f0000000000u : 0;
    for (uint32_t v = 0; v < VARIANTS; v++) {
        for (uint32_t l = 0; l < 32; l++)
            addr[v][l] = base + w->address(v, l) % (w->space == ACC_SHARED ? 32768 : UINT64_MAX);
        access[v] = (acc_request){.pc = v % PCS,
                                  .op = w->op,
                                  .space = w->space,
                                  .bytes = w->bytes,
                                  .mask = w->mask,
                                  .warp = v / 8,
                                  .addr = addr[v],
                                  .stride = w->stride,
                                  .object = w->space == ACC_GLOBAL};
    }
}

typedef enum keeping {
    COUNTS,
    LOG,
    HEAT
} keeping; /* LOG: kept until the block is chosen for a map, or not */

static double nanoseconds(const workload *w, keeping mode, long requests)
{
    static uint64_t addr[VARIANTS][32];
    acc_request access[VARIANTS];
    obs_shared shared[2] = {{"", 0, 0}, {"tile", 0, 32768}};
    uint64_t sampled = 0;
    obs_config config = {.ncode = PCS,
                         .grid = {1, 1, 1},
                         .block = {256, 1, 1},
                         .nshared = 2,
                         .shared = shared,
                         .nsampled = mode == HEAT,
                         .sampled = &sampled,
                         .automatic = mode == LOG};
    obs_launch *launch;
    prepare(w, addr, access);
    if (obs_launch_new(&config, &launch))
        exit(1);
    drive worker = drive_begin(launch, 0);
    double best = 1e30;
    obs_block *block = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        if (mode == LOG || !round) { /* blocks of a size that a log holds */
            drive_end(&worker, block, 0);
            block = drive_block(&worker, mode == LOG ? (uint64_t)round : 0);
        }
        double start = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        for (long i = 0; i < requests; i++)
            obs_record(block, &access[i % VARIANTS]);
        double took = 1e9 * (clock_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / (double)requests;
        best = took < best ? took : best;
    }
    drive_end(&worker, block, 0);
    obs_launch_free(launch);
    return best;
}

int main(int argc, char **argv)
{
    long requests = argc > 1 ? atol(argv[1]) : 50000;
    printf("%-36s %10s %10s %10s\n", "pattern, ns a request", "counts", "and log", "and heat");
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        printf("%-36s %10.1f %10.1f %10.1f\n", workloads[i].name,
               nanoseconds(&workloads[i], COUNTS, requests),
               nanoseconds(&workloads[i], LOG, requests < LOGGED ? requests : LOGGED),
               nanoseconds(&workloads[i], HEAT, requests));
    return 0;
}
