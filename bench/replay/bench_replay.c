/* How fast slices run against the whole kernels that they are of: bench_replay [-t threads] [-r
 * repeats].
 *
 * Each kernel of bench/emulator runs three times, and the best of the repeats counts: alone,
 * observed (counters and the heat maps that --block auto chooses), and as a slice on memory that is
 * not there, observed in the same way. What the last two show must agree. Lines of a Markdown
 * table. */
#include "ptx/ptx.h"
#include "replay/compare.h"
#include "replay/watch.h"
#include "support/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bench {
    emu_machine *machine, *ghosts;
    emu_module *module, *haunted;
    const ir_module *ptx;
    uint32_t threads, repeats;
} bench;

typedef struct subject {
    const char *name;
    emu_dim grid, block;
    uint32_t shared;
    uint64_t floats[3]; /* of its buffers; 0: none */
    int n;
} subject;

static const emu_device device = {.sm = 90,
                                  .num_sms = 132,
                                  .max_threads_per_block = 1024,
                                  .max_shared_per_block = 227 << 10,
                                  .max_blocks_per_sm = 32,
                                  .max_threads_per_sm = 2048,
                                  .shared_per_sm = 228 << 10,
                                  .global_bytes = UINT64_C(8) << 30};

static void stop(const char *what)
{
    fprintf(stderr, "bench_replay: %s\n", what);
    exit(1);
}

/* Buffers and the number of elements, in both machines. */
static void make_params(bench *b, const subject *s, uint8_t *params)
{
    size_t at = 0;
    uint64_t address;
    for (int i = 0; i < 3 && s->floats[i]; i++, at += sizeof address) {
        if (emu_mem_alloc(b->machine, s->floats[i] * 4, 256, EMU_ALLOC_DEVICE, (uint32_t)i + 1,
                          &address) != WL_OK ||
            emu_mem_ghost(b->ghosts, address, s->floats[i] * 4, EMU_ALLOC_DEVICE,
                          (uint32_t)i + 1) != WL_OK)
            stop("no memory");
        memcpy(params + at, &address, sizeof address);
    }
    memcpy(params + at, &s->n, sizeof s->n);
}

static double run(const bench *b, emu_machine *machine, emu_kernel *kernel, const subject *s,
                  const void *params, const acc_observer *observer, emu_result *result)
{
    wl_error err = {0};
    emu_launch launch = {.grid = s->grid,
                         .block = s->block,
                         .dynamic_shared = s->shared,
                         .params = params,
                         .threads = b->threads,
                         .observer = observer};
    if (emu_run(machine, kernel, &launch, result, &err) != WL_OK)
        stop(*err.text ? err.text : result->fault.text);
    return result->seconds;
}

static double run_watched(const bench *b, emu_machine *machine, emu_kernel *kernel,
                          const subject *s, const void *params, const flow_proof *proof,
                          replay_watch *watch, obs_summary *summary)
{
    emu_result result = {0};
    replay_settings settings = {.threads = b->threads, .blocks = {.automatic = true}};
    replay_watched what = {.settings = &settings,
                           .machine = machine,
                           .kernel = kernel,
                           .grid = s->grid,
                           .block = s->block,
                           .dynamic_shared = s->shared};
    if (replay_watch_begin(&what, proof, watch) != WL_OK)
        stop("out of memory");
    double seconds = run(b, machine, kernel, s, params, &watch->observer, &result);
    if (replay_watch_finish(watch, &result, summary) != WL_OK)
        stop("out of memory");
    emu_result_clear(&result);
    return seconds;
}

static void least(double *best, double seconds)
{
    *best = *best == 0 || seconds < *best ? seconds : *best;
}

static void measure(bench *b, const subject *s)
{
    uint8_t params[64] = {0};
    wl_arena *arena = wl_arena_new();
    wl_error err;
    emu_kernel *kernel, *slice;
    replay_facts facts;
    double alone = 0, observed = 0, sliced = 0;
    if (!arena || emu_module_kernel(b->module, s->name, &kernel, &err) != WL_OK ||
        replay_facts_of(b->ptx, emu_kernel_get(kernel)->func, NULL, arena, &facts) != WL_OK ||
        emu_module_slice(b->haunted, s->name, &facts.proof, &slice, &err) != WL_OK)
        stop(err.text);
    make_params(b, s, params);
    for (uint32_t i = 0; i < b->repeats; i++) {
        emu_result result = {0};
        replay_watch whole, part;
        obs_summary a, c;
        char text[256];
        least(&alone, run(b, b->machine, kernel, s, params, NULL, &result));
        emu_result_clear(&result);
        least(&observed, run_watched(b, b->machine, kernel, s, params, NULL, &whole, &a));
        least(&sliced, run_watched(b, b->ghosts, slice, s, params, &facts.proof, &part, &c));
        if (!replay_agree(&facts, slice, &a, &c, text, sizeof text))
            stop(text);
        replay_watch_end(&whole);
        replay_watch_end(&part);
    }
    printf("| %s | %u of %u | %.2f | %.2f | %.2f | %.2f | %.2f |\n", s->name, facts.proof.slice,
           facts.proof.npcs, alone * 1e3, observed * 1e3, sliced * 1e3, observed / sliced,
           alone / sliced);
    wl_arena_free(arena);
}

static char *read_file(const char *path, size_t *length)
{
    char *text = file_read(path, length);
    if (!text)
        stop("cannot read the PTX file");
    return text;
}

static uint64_t nowhere(void *ctx, const ir_var *var, uint64_t size)
{
    (void)ctx;
    (void)var;
    (void)size;
    return 0;
}

int main(int argc, char **argv)
{
    enum { GEMM = 256, ELEMENTS = 1 << 20, SIDE = 1024 };
    static const subject subjects[] = {{"gemm",
                                        {GEMM / 16, GEMM / 16, 1},
                                        {16, 16, 1},
                                        0,
                                        {GEMM * GEMM, GEMM * GEMM, GEMM * GEMM},
                                        GEMM},
                                       {"vector_add",
                                        {ELEMENTS / 256, 1, 1},
                                        {256, 1, 1},
                                        0,
                                        {ELEMENTS, ELEMENTS, ELEMENTS},
                                        ELEMENTS},
                                       {"transpose",
                                        {SIDE / 32, SIDE / 32, 1},
                                        {32, 8, 1},
                                        0,
                                        {SIDE * SIDE, SIDE * SIDE, 0},
                                        SIDE},
                                       {"reduce",
                                        {ELEMENTS / 256, 1, 1},
                                        {256, 1, 1},
                                        1024,
                                        {ELEMENTS, ELEMENTS / 256, 0},
                                        ELEMENTS}};
    bench b = {.threads = 1, .repeats = 5};
    wl_error err;
    size_t length;
    ir_module *ptx;
    for (int c; (c = getopt(argc, argv, "t:r:")) != -1;)
        if (c == 't')
            b.threads = (uint32_t)atoi(optarg);
        else if (c == 'r')
            b.repeats = (uint32_t)atoi(optarg);
        else
            stop("usage: bench_replay [-t threads] [-r repeats]");
    char *text = read_file(WL_BENCH_PTX, &length);
    if (ptx_parse(text, length, "kernels.ptx", &ptx, &err) != WL_OK ||
        emu_machine_new(&device, &b.machine, &err) != WL_OK ||
        emu_machine_new_replay(&device, &b.ghosts, &err) != WL_OK ||
        emu_module_load(b.machine, ptx, NULL, NULL, &b.module, &err) != WL_OK ||
        emu_module_load_at(b.ghosts, ptx, nowhere, NULL, &b.haunted, &err) != WL_OK)
        stop(err.text);
    b.ptx = ptx;
    puts("| kernel | slice, instructions | whole, ms | whole observed, ms | slice observed, ms | "
         "observed / slice | whole / slice |\n|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        measure(&b, &subjects[i]);
    emu_module_unload(b.haunted);
    emu_module_unload(b.module);
    emu_machine_free(b.ghosts);
    emu_machine_free(b.machine);
    ir_module_free(ptx);
    free(text);
    return 0;
}
