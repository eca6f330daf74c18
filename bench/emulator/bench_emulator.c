/* How fast the emulator runs kernels, in thread-instructions per second.
 *
 *   bench_emulator [-t threads] [-r repeats] [-o none|count|full|sequences] [-k kernel] [-c]
 *                  [kernels.ptx]
 *
 * A thread-instruction is a static PTX instruction times the threads that are active when it runs.
 * Each kernel runs `repeats` times, the best run counts (of one thread its processor time), and its result is checked. -o count: an
 * observer that sums up what it is shown; full, sequences: what `warplens profile --set` of that
 * name collects, up to the launch's summary. -c: comma-separated values. */
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "replay/watch.h"
#include "support/file.h"

#include "../clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bench {
    emu_machine *machine;
    emu_module *module;
    uint32_t threads, repeats;
    const acc_observer *observer;
    const char *mode; /* what observes */
    bool watched, sequences;
    uint32_t nobjects;
    const char *only;
    bool csv;
} bench;

static void stop(const char *what)
{
    fprintf(stderr, "bench_emulator: %s\n", what);
    exit(1);
}

static float *device_floats(bench *b, size_t count)
{
    uint64_t address;
    if (emu_mem_alloc(b->machine, count * sizeof(float), 256, EMU_ALLOC_DEVICE, ++b->nobjects,
                      &address) != WL_OK)
        stop("no memory");
    float *data = (float *)(uintptr_t)address;
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(i * 2654435761u % 1000) / 1000.0f;
    return data;
}

/* ---- an observer that looks at each record ---- */

typedef struct counts {
    uint64_t records, lanes, regular;
} counts;

static void *begin_worker(void *ctx, uint32_t worker)
{
    (void)ctx;
    (void)worker;
    return calloc(1, sizeof(counts));
}

static void end_worker(void *worker)
{
    free(worker);
}

static void *begin_block(void *worker, uint64_t block)
{
    (void)block;
    return worker;
}

static void see(void *block, const acc_request *access)
{
    counts *c = block;
    c->records++;
    c->lanes += (uint64_t)__builtin_popcount(access->mask);
    c->regular += access->stride != ACC_IRREGULAR;
}

static const acc_observer counting = {.worker_begin = begin_worker,
                                      .worker_end = end_worker,
                                      .block_begin = begin_block,
                                      .access = see};

/* ---- kernels ---- */

typedef struct result {
    double seconds;
    uint64_t instructions;
} result;

/* One thread's time is the processor's: others may use the machine. */
static double seconds_of(const bench *b)
{
    return clock_seconds(b->threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);
}

static result run_once(bench *b, emu_kernel *kernel, const emu_launch *l)
{
    emu_result out;
    wl_error err;
    double began = seconds_of(b);
    wl_status status = emu_run(b->machine, kernel, l, &out, &err);
    if (status != WL_OK)
        stop(status == WL_FAULT ? out.fault.text : err.text);
    result r = {seconds_of(b) - began, out.thread_instructions};
    emu_result_clear(&out);
    return r;
}

/* With all that a launch's summary takes. */
static result run_watched(bench *b, emu_kernel *kernel, const emu_launch *l)
{
    const replay_settings settings = {.threads = b->threads,
                                      .blocks = {.automatic = true},
                                      .sequence_limit = b->sequences ? 256 << 20 : 0,
                                      .all_warps = b->sequences};
    const replay_watched what = {.settings = &settings,
                                 .machine = b->machine,
                                 .kernel = kernel,
                                 .grid = l->grid,
                                 .block = l->block,
                                 .dynamic_shared = l->dynamic_shared};
    replay_watch watch;
    obs_summary summary;
    emu_result out;
    wl_error err;
    emu_launch watched = *l;
    double began = seconds_of(b);
    if (replay_watch_begin(&what, NULL, &watch) != WL_OK)
        stop("no memory");
    watched.observer = &watch.observer;
    if (emu_run(b->machine, kernel, &watched, &out, &err) != WL_OK ||
        replay_watch_finish(&watch, &out, &summary) != WL_OK)
        stop("the launch failed");
    result r = {seconds_of(b) - began, out.thread_instructions};
    if (summary.warps_dropped)
        stop("warps found no room");
    replay_watch_end(&watch);
    emu_result_clear(&out);
    return r;
}

static void launch(bench *b, const char *name, emu_dim grid, emu_dim block, uint32_t shared,
                   const void *params, result *best)
{
    emu_kernel *kernel;
    wl_error err;
    if (emu_module_kernel(b->module, name, &kernel, &err) != WL_OK)
        stop(err.text);
    emu_launch l = {.grid = grid,
                    .block = block,
                    .dynamic_shared = shared,
                    .params = params,
                    .threads = b->threads,
                    .observer = b->observer};
    best->seconds = INFINITY;
    for (uint32_t i = 0; i < b->repeats; i++) {
        result r = b->watched ? run_watched(b, kernel, &l) : run_once(b, kernel, &l);
        best->seconds = fmin(best->seconds, r.seconds);
        best->instructions = r.instructions;
    }
}

static void report(const bench *b, const char *name, const result *r)
{
    double rate = (double)r->instructions / r->seconds;
    if (b->csv)
        printf("%s,%s,%s,%u,%llu,%.6f,%.0f\n", name, emu_isa(), b->mode, b->threads,
               (unsigned long long)r->instructions, r->seconds, rate);
    else
        printf("%-12s %-8s %2u threads %6.1f M thread-instructions %8.3f ms %8.1f M/s\n", name,
               emu_isa(), b->threads, 1e-6 * (double)r->instructions, 1e3 * r->seconds,
               1e-6 * rate);
}

static void check(const char *name, float got, double want)
{
    if (!(fabs((double)got - want) <= 1e-4 * fabs(want) + 1e-6)) {
        fprintf(stderr, "bench_emulator: %s gives %g instead of %g\n", name, (double)got, want);
        exit(1);
    }
}

typedef struct three_args {
    const float *a, *b;
    float *c;
    int n;
} three_args;

typedef struct two_args {
    const float *in;
    float *out;
    int n;
} two_args;

static void run_vector_add(bench *b)
{
    enum { N = 1 << 20 };
    three_args p = {device_floats(b, N), device_floats(b, N), device_floats(b, N), N};
    result r;
    launch(b, "vector_add", (emu_dim){N / 256, 1, 1}, (emu_dim){256, 1, 1}, 0, &p, &r);
    for (int i = 0; i < N; i += 997)
        check("vector_add", p.c[i], (double)p.a[i] + p.b[i]);
    report(b, "vector_add", &r);
}

static void run_gemm(bench *b)
{
    enum { N = 256 };
    three_args p = {device_floats(b, N * N), device_floats(b, N * N), device_floats(b, N * N), N};
    result r;
    launch(b, "gemm", (emu_dim){N / 16, N / 16, 1}, (emu_dim){16, 16, 1}, 0, &p, &r);
    for (int at = 0; at < N * N; at += 997) {
        double sum = 0;
        for (int k = 0; k < N; k++)
            sum += (double)p.a[at / N * N + k] * p.b[k * N + at % N];
        check("gemm", p.c[at], sum);
    }
    report(b, "gemm", &r);
}

static void run_transpose(bench *b)
{
    enum { N = 1024 };
    two_args p = {device_floats(b, N * N), device_floats(b, N * N), N};
    result r;
    launch(b, "transpose", (emu_dim){N / 32, N / 32, 1}, (emu_dim){32, 8, 1}, 0, &p, &r);
    for (int at = 0; at < N * N; at += 997)
        check("transpose", p.out[at], (double)p.in[at % N * N + at / N]);
    report(b, "transpose", &r);
}

static void run_reduce(bench *b)
{
    enum { N = 1 << 20, BLOCK = 256 };
    two_args p = {device_floats(b, N), device_floats(b, N / BLOCK), N};
    result r;
    launch(b, "reduce", (emu_dim){N / BLOCK, 1, 1}, (emu_dim){BLOCK, 1, 1}, 4 * BLOCK, &p, &r);
    for (int block = 0; block < N / BLOCK; block += 97) {
        double sum = 0;
        for (int i = 0; i < BLOCK; i++)
            sum += (double)p.in[block * BLOCK + i];
        check("reduce", p.out[block], sum);
    }
    report(b, "reduce", &r);
}

static char *read_file(const char *path, size_t *length)
{
    char *text = file_read(path, length);
    if (!text)
        stop("cannot read the PTX file");
    return text;
}

static void choose_observer(bench *b, const char *mode)
{
    b->mode = mode;
    b->observer = strcmp(mode, "count") == 0 ? &counting : NULL;
    b->sequences = strcmp(mode, "sequences") == 0;
    b->watched = b->sequences || strcmp(mode, "full") == 0;
    if (!b->observer && !b->watched && strcmp(mode, "none") != 0)
        stop("-o takes none, count, full or sequences");
}

static void options(bench *b, int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:r:o:k:c")) != -1;)
        switch (c) {
        case 't': b->threads = (uint32_t)atoi(optarg); break;
        case 'r': b->repeats = (uint32_t)atoi(optarg); break;
        case 'o': choose_observer(b, optarg); break;
        case 'k': b->only = optarg; break;
        case 'c': b->csv = true; break;
        default:
            stop("usage: bench_emulator [-t threads] [-r repeats] [-o none|count|full|sequences] "
                 "[-k kernel] [-c] [kernels.ptx]");
        }
}

int main(int argc, char **argv)
{
    static const emu_device device = {.sm = 90,
                                      .num_sms = 132,
                                      .max_threads_per_block = 1024,
                                      .max_shared_per_block = 227 << 10,
                                      .max_blocks_per_sm = 32,
                                      .max_threads_per_sm = 2048,
                                      .shared_per_sm = 228 << 10,
                                      .global_bytes = UINT64_C(8) << 30,
                                      .clock_khz = 1980000};
    static const struct {
        const char *name;
        void (*run)(bench *);
    } kernels[] = {{"gemm", run_gemm},
                   {"vector_add", run_vector_add},
                   {"transpose", run_transpose},
                   {"reduce", run_reduce}};
    bench b = {.threads = 1, .repeats = 5, .mode = "none"};
    wl_error err;
    ir_module *ptx;
    options(&b, argc, argv);
    size_t length;
    char *text = read_file(optind < argc ? argv[optind] : WL_BENCH_PTX, &length);
    if (ptx_parse(text, length, "kernels.ptx", &ptx, &err) != WL_OK ||
        emu_machine_new(&device, &b.machine, &err) != WL_OK ||
        emu_module_load(b.machine, ptx, NULL, NULL, &b.module, &err) != WL_OK)
        stop(err.text);
    if (b.csv)
        puts("kernel,isa,observer,threads,thread_instructions,seconds,per_second");
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (!b.only || strcmp(b.only, kernels[k].name) == 0)
            kernels[k].run(&b);
    emu_module_unload(b.module);
    emu_machine_free(b.machine);
    ir_module_free(ptx);
    free(text);
    return 0;
}
