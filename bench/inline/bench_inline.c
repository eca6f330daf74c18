/* What the library before the driver adds to the start of a program, to a launch (also to one
 * between other work, with cold caches and a deep stack), and to the time between an event of the
 * program's and the launch behind it, in which the device may be idle.
 *
 *     bench_inline [--driver libcuda.so.1] [--runs N] [--launches N]
 *
 * Without --driver the driver is tests/gpu/null_driver.c, whose functions do nothing: what is
 * measured is ours alone. The program runs itself, with and without the library in turn; medians
 * are printed, and a line for results.csv. */
#include "cuda/types.h"

#include "../clock.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RUNS = 201 };

/* ---- the program that is measured ---- */

static void *driver;

#define CALL(name, types, ...)                                                        \
    do {                                                                              \
        CUresult(*function_) types = (CUresult(*) types)dlsym(driver, #name);         \
        CUresult result_ = function_ ? function_(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND; \
        if (result_ != CUDA_SUCCESS) {                                                \
            fprintf(stderr, #name ": %d\n", (int)result_);                            \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

/* What it accesses depends on data: with probes it records. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry gather(.param .u64 p, .param .u32 n)\n{\n"
    ".reg .b64 %d<5>;\nld.param.u64 %d1, [p];\nld.global.u64 %d2, [%d1];\n"
    "add.u64 %d3, %d1, %d2;\nld.global.u64 %d4, [%d3];\nst.global.u64 [%d1], %d4;\nret;\n}\n";

static void begin(void)
{
    CUcontext context;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
}

typedef CUresult (*launcher)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, CUstream, void **, void **);

static __attribute__((noinline)) double launch(launcher run, CUfunction f, long count, int frames)
{
    CUdeviceptr data = 0x1000;
    unsigned n = 0;
    void *params[] = {&data, &n};
    if (frames) { /* a stack to be walked */
        double seconds = launch(run, f, count, frames - 1);
        __asm__ volatile("" ::: "memory");
        return seconds;
    }
    run(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    double start = clock_seconds(CLOCK_MONOTONIC);
    for (long i = 0; i < count; i++)
        run(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    return (clock_seconds(CLOCK_MONOTONIC) - start) / (double)count;
}

/* Launches with other work in between, after which little of ours is left in the caches nearest to
 * the core; seconds for one. */
static __attribute__((noinline)) double launch_cold(launcher run, CUfunction f, long count,
                                                    int frames)
{
    enum { BYTES = 4 << 20, LINE = 64 };
    static volatile char other[BYTES];
    CUdeviceptr data = 0x1000;
    unsigned n = 0;
    void *params[] = {&data, &n};
    double seconds = 0;
    if (frames) {
        seconds = launch_cold(run, f, count, frames - 1);
        __asm__ volatile("" ::: "memory");
        return seconds;
    }
    run(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < BYTES; at += LINE)
            other[at]++;
        double start = clock_seconds(CLOCK_MONOTONIC);
        run(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
        seconds += clock_seconds(CLOCK_MONOTONIC) - start;
    }
    return seconds / (double)count;
}

/* Launches between two events each; seconds from the first to the launch, as the null driver sees
 * it. */
static __attribute__((noinline)) double launch_timed(launcher run, CUfunction f, long count,
                                                     int frames)
{
    CUdeviceptr data = 0x1000;
    CUevent start, end;
    unsigned n = 0;
    void *params[] = {&data, &n}, *null = dlopen(getenv("WARPLENS_DRIVER"), RTLD_NOW);
    double (*wait)(void) = null ? (double (*)(void))dlsym(null, "null_driver_wait") : NULL;
    if (frames) {
        double seconds = launch_timed(run, f, count, frames - 1);
        __asm__ volatile("" ::: "memory");
        return seconds;
    }
    if (!wait)
        return 0;
    CALL(cuEventCreate, (CUevent *, unsigned), &start, 0);
    CALL(cuEventCreate, (CUevent *, unsigned), &end, 0);
    for (long i = 0; i < count; i++) {
        CALL(cuEventRecord, (CUevent, CUstream), start, NULL);
        run(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
        CALL(cuEventRecord, (CUevent, CUstream), end, NULL);
        CALL(cuEventSynchronize, (CUevent), end);
    }
    return wait();
}

/* `launches`: how many; "0": the process only starts; "e1000": that many, between events;
 * "c1000": that many, with work in between, thirty frames deep. */
static int child(const char *library, const char *launches)
{
    CUmodule module;
    CUfunction f;
    driver = dlopen(library, RTLD_NOW);
    if (!driver)
        return 1;
    begin();
    bool timed = *launches == 'e', cold = *launches == 'c';
    long count = atol(launches + (timed || cold));
    if (!count)
        return 0;
    CALL(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &f, module, "gather");
    launcher run = (launcher)dlsym(driver, "cuLaunchKernel");
    printf("%.9g\n", timed  ? launch_timed(run, f, count, 5)
                     : cold ? launch_cold(run, f, count, 30)
                            : launch(run, f, count, 5));
    CALL(cuCtxSynchronize, (void));
    return 0;
}

/* ---- running it ---- */

typedef struct variant {
    const char *name;
    bool shim, capture, times, probes;
} variant;

static const variant variants[] = {
    {"native", false, false, false, false},
    {"library, nothing recorded", true, false, false, false},
    {"recorded, no device times", true, true, false, false},
    {"recorded, all timed", true, true, true, false},
    {"recording on the device", true, true, false, true},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void prepare(const variant *v, const char *path, const char *folder)
{
    setenv("BENCH_LIBRARY", v->shim ? "libcuda.so.1" : path, 1);
    setenv("WARPLENS_DRIVER", path, 1);
    setenv("WARPLENS_CAPTURE_DIR", v->capture ? folder : "", 1);
    setenv("WARPLENS_DEVICE_TIMES", v->times ? "all" : "none", 1);
    setenv("WARPLENS_COLLECT", v->probes ? "auto" : "replay", 1);
    setenv("WARPLENS_PROBES", "objects", 1);
    setenv("WARPLENS_PROBE_LAUNCHES", "0", 1);
    if (v->shim)
        setenv("LD_PRELOAD", WL_BINARY_DIR "/lib/warplens/inline/libcuda.so.1", 1);
    else
        unsetenv("LD_PRELOAD");
}

/* Seconds of the whole process, or what it printed where it launches. */
static double run(const variant *v, const char *path, const char *folder, const char *launches)
{
    int ends[2], status;
    char text[64] = "";
    fflush(NULL);
    double start = clock_seconds(CLOCK_MONOTONIC);
    if (pipe(ends) != 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        prepare(v, path, folder);
        execl("/proc/self/exe", "bench_inline", "child", launches, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (status != 0) {
        fprintf(stderr, "%s: status %d\n", v->name, status);
        exit(1);
    }
    return n > 0 ? strtod(text, NULL) : clock_seconds(CLOCK_MONOTONIC) - start;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *path, const char *folder, const char *launches, int runs,
                    double medians[VARIANTS])
{
    static double seconds[VARIANTS][MAX_RUNS];
    for (int i = 0; i < runs; i++)
        for (int v = 0; v < VARIANTS; v++)
            seconds[v][i] = run(&variants[v], path, folder, launches);
    for (int v = 0; v < VARIANTS; v++) {
        qsort(seconds[v], (size_t)runs, sizeof(double), compare);
        medians[v] = seconds[v][runs / 2];
    }
}

static void report(const char *path, int runs, const double *start, const double *each,
                   const double *cold, const double *wait)
{
    char date[32];
    time_t t = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", localtime(&t));
    printf("%-28s %12s %12s %12s %20s\n", "", "process, ms", "launch, us", "cold, us",
           "event to launch, us");
    for (int v = 0; v < VARIANTS; v++)
        printf("%-28s %12.2f %12.3f %12.3f %20.3f\n", variants[v].name, 1e3 * start[v],
               1e6 * each[v], 1e6 * cold[v], 1e6 * wait[v]);
    printf("added: %.2f ms to the start, %.3f us to a launch, %.3f us before it\n",
           1e3 * (start[3] - start[0]), 1e6 * (each[3] - each[0]), 1e6 * (wait[3] - wait[0]));
    printf("%s,%s,%d", date, strstr(path, "null_driver") ? "null" : "real", runs);
    for (int v = 0; v < VARIANTS; v++)
        printf(",%.3f", 1e3 * start[v]);
    for (int v = 0; v < VARIANTS; v++)
        printf(",%.3f", 1e6 * each[v]);
    for (int v = 0; v < VARIANTS; v++)
        printf(",%.3f", 1e6 * wait[v]);
    for (int v = 0; v < VARIANTS; v++)
        printf(",%.3f", 1e6 * cold[v]);
    printf("\n");
}

int main(int argc, char **argv)
{
    const char *path = WL_NULL_DRIVER, *launches = "100000";
    int runs = 21;
    double start[VARIANTS], each[VARIANTS], cold[VARIANTS], wait[VARIANTS];
    if (argc == 3 && strcmp(argv[1], "child") == 0)
        return child(getenv("BENCH_LIBRARY"), argv[2]);
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--driver") == 0)
            path = argv[i + 1];
        else if (strcmp(argv[i], "--runs") == 0)
            runs = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--launches") == 0)
            launches = argv[i + 1];
    if (runs < 1 || runs > MAX_RUNS)
        runs = 21;
    char folder[] = "/tmp/bench_inline.XXXXXX", command[64];
    if (!mkdtemp(folder))
        return 1;
    measure(path, folder, "0", runs, start);
    measure(path, folder, launches, runs < 7 ? runs : 7, each);
    measure(path, folder, "c2000", runs < 7 ? runs : 7, cold);
    measure(path, folder, "e1000", runs < 7 ? runs : 7, wait);
    report(path, runs, start, each, cold, wait);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0;
}
