/* Whole kernels both ways on the emulator: their PTX, and what the lifter makes of the machine code that
 * ptxas makes of it for three devices. Memory is the same after both, and sectors and wavefronts are,
 * wherever ptxas kept the accesses.
 *
 * Random kernels of tests/flow, and PTX that compilers wrote, whose parameters are made up: what faults
 * or varies by itself is left out. WARPLENS_LIFT_SEEDS=n or n-m: so many random kernels of each kind, or these; WARPLENS_LIFT_PTX=
 * "FILE FILE...": these files beside tests/ptx/corpus; WARPLENS_LIFT=path: where the PTX, the cubin and
 * the lifted text of the first difference go. */
#include "../flow/generate.h"
#include "../flow/nests.h"
#include "lifting.h"
#include "ptx/ptx.h"
#include "support/random.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS = 40,
    NEST_PARTS = 3,
    WORDS = 1 << 18, /* of memory */
    PARAM_WORDS = 512
};

static const unsigned targets[] = {80, 90, 100};
enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct bench {
    emu_machine *machine;
    uint32_t *memory, *start, *should;
    uint64_t params[PARAM_WORDS];
    lifting_launch launch;
    lifting_traffic of_ptx;
    uint32_t compared, same_requests, unknown, refused, faults, failures;
} bench;

static void bench_begin(bench *b)
{
    *b = (bench){.machine = lifting_machine()};
    b->memory = lifting_alloc(b->machine, WORDS * sizeof(uint32_t));
    b->start = calloc(WORDS, sizeof(uint32_t));
    b->should = calloc(WORDS, sizeof(uint32_t));
    assert_true(b->start && b->should);
    b->launch.params = b->params;
    b->launch.param_bytes = sizeof b->params;
}

static void bench_end(bench *b)
{
    print_message("%u of kernels compared, %u of these with the same requests; %u with unknown "
                  "instructions, %u "
                  "not lifted, %u that fault or vary\n",
                  b->compared, b->same_requests, b->unknown, b->refused, b->faults);
    emu_machine_free(b->machine);
    free(b->start);
    free(b->should);
    assert_int_equal(b->failures, 0);
}

/* ---- comparisons ---- */

static void keep(const char *ptx, const char *cubin, size_t size, const char *lifted)
{
    const char *folder = getenv("WARPLENS_LIFT");
    char path[1000];
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/kernel.ptx", folder);
    test_write_text(path, ptx);
    snprintf(path, sizeof path, "%s/kernel.cubin", folder);
    test_write(path, cubin, size);
    snprintf(path, sizeof path, "%s/lifted.ptx", folder);
    test_write_text(path, lifted);
}

static bool near(uint32_t is, uint32_t should)
{
    float a, b;
    memcpy(&a, &is, sizeof a);
    memcpy(&b, &should, sizeof b);
    return is == should || (isnan(a) && isnan(b)) || fabsf(a - b) <= 1e-4F * fabsf(b) + 1e-6F;
}

static bool same_memory(const bench *b, wl_error *why)
{
    for (size_t i = 0; i < WORDS; i++)
        if (!near(b->memory[i], b->should[i])) {
            wl_fail(why, WL_FAULT, "word %zu is 0x%08x instead of 0x%08x", i, b->memory[i],
                    b->should[i]);
            return false;
        }
    return true;
}

/* False where requests are the same and what they cost is not. */
static bool same_traffic(bench *b, const lifting_traffic *is, wl_error *why)
{
    bool same = true, costs = true;
    for (unsigned space = 0; space < ACC_SPACE_COUNT; space++)
        for (unsigned op = 0; op < ACC_OP_COUNT; op++) {
            bool requests = is->requests[space][op] == b->of_ptx.requests[space][op] &&
                            is->lanes[space][op] == b->of_ptx.lanes[space][op];
            bool cost = is->cost[space][op] == b->of_ptx.cost[space][op];
            same &= requests || space == ACC_LOCAL;
            costs &= !requests || cost || space == ACC_LOCAL;
            if (requests && !cost && space != ACC_LOCAL)
                wl_fail(why, WL_FAULT,
                        "of %llu requests to memory %u by operation %u sectors or wavefronts "
                        "differ: %llu instead of %llu",
                        (unsigned long long)is->requests[space][op], space, op,
                        (unsigned long long)is->cost[space][op],
                        (unsigned long long)b->of_ptx.cost[space][op]);
        }
    b->same_requests += same;
    return costs;
}

static bool compare(bench *b, const char *kernel, const sass_lifted *lifted, wl_error *why)
{
    lifting_traffic traffic;
    memcpy(b->memory, b->start, WORDS * sizeof(uint32_t));
    return lifting_run(b->machine, lifted->text, kernel, &b->launch, &traffic, why) &&
           same_memory(b, why) && same_traffic(b, &traffic, why);
}

static void check_lifted(bench *b, const char *what, const char *ptx, const char *kernel,
                         unsigned sm, const char *cubin, size_t size)
{
    sass_lifted lifted;
    wl_error why = {0};
    wl_arena *arena = wl_arena_new();
    assert_non_null(arena);
    if (sass_lift(cubin, size, sm, kernel, arena, &lifted, &why) != WL_OK) {
        b->refused++;
        print_message("%s, %s, sm_%u: %s\n", what, kernel, sm, why.text);
    } else if (lifted.unknown) {
        b->unknown++;
        print_message("%s, %s, sm_%u: unknown: %s\n", what, kernel, sm, lifting_unknown(&lifted));
    } else if (compare(b, kernel, &lifted, &why)) {
        b->compared++;
    } else {
        if (!b->failures++)
            keep(ptx, cubin, size, lifted.text);
        print_error("%s, %s, sm_%u: %s\n", what, kernel, sm, why.text);
    }
    wl_arena_free(arena);
}

/* The kernel by its PTX; false where that does not go by itself, or gives something else each time, as clocks do. */
static bool run_ptx(bench *b, const char *ptx, const char *kernel)
{
    wl_error why = {0};
    bool good = true;
    for (unsigned times = 0; times < 2 && good; times++) {
        memcpy(b->should, b->memory, WORDS * sizeof(uint32_t));
        memcpy(b->memory, b->start, WORDS * sizeof(uint32_t));
        good = lifting_run(b->machine, ptx, kernel, &b->launch, &b->of_ptx, &why);
    }
    good = good && memcmp(b->should, b->memory, WORDS * sizeof(uint32_t)) == 0;
    b->faults += !good;
    return good;
}

/* ---- random kernels ---- */

/* The text is for sm_90, and asks for nothing that sm_80 lacks. */
static void for_all_targets(char *text)
{
    char *at = strstr(text, ".target sm_90");
    assert_non_null(at);
    at[strlen(".target sm_")] = '8';
}

static void check_random(bench *b, const char *what, uint64_t seed, char *text)
{
    char name[60];
    snprintf(name, sizeof name, "%s %llu", what, (unsigned long long)seed);
    for_all_targets(text);
    if (!run_ptx(b, text, "k"))
        fail_msg("%s faults", name);
    for (unsigned t = 0; t < TARGETS; t++) {
        char options[40];
        size_t size;
        snprintf(options, sizeof options, "-arch=sm_%u", targets[t]);
        char *cubin = lifting_assemble(text, options, false, &size);
        check_lifted(b, name, text, "k", targets[t], cubin, size);
        free(cubin);
    }
}

typedef struct seed_range {
    uint64_t first, last;
} seed_range;

static seed_range seeds(void)
{
    const char *asked = getenv("WARPLENS_LIFT_SEEDS");
    seed_range range = {1, SEEDS};
    char *end;
    if (!asked)
        return range;
    range.last = strtoull(asked, &end, 10);
    if (*end == '-')
        range = (seed_range){range.last, strtoull(end + 1, NULL, 10)};
    return range;
}

static char text[1 << 17];

static void random_kernels(void **state)
{
    (void)state;
    lifting_need_ptxas();
    bench b;
    bench_begin(&b);
    b.launch.grid = (emu_dim){1, 1, 1};
    b.launch.block = (emu_dim){32, 1, 1};
    b.params[0] = (uintptr_t)b.memory;
    b.params[1] = (uintptr_t)(b.memory + 32 * GENERATED_WORDS);
    b.params[2] = 17;
    for (uint64_t seed = seeds().first; seed <= seeds().last; seed++) {
        uint64_t random = seed;
        for (size_t i = 0; i < WORDS; i++)
            b.start[i] = (uint32_t)random_below(&random, 64);
        generate_kernel(seed, text, sizeof text);
        check_random(&b, "kernel", seed, text);
    }
    bench_end(&b);
}

static void random_nests(void **state)
{
    (void)state;
    lifting_need_ptxas();
    bench b;
    bench_begin(&b);
    b.launch.grid = (emu_dim){1, 1, 1};
    b.launch.block = (emu_dim){64, 1, 1};
    b.params[0] = (uintptr_t)b.memory;
    b.params[1] = 11;
    b.params[2] = 30;
    for (uint64_t seed = seeds().first; seed <= seeds().last; seed++) {
        uint64_t random = seed;
        for (size_t i = 0; i < NEST_PARTS * NEST_WORDS; i++)
            b.start[i] = (uint32_t)random_below(&random, 16);
        generate_nest(seed, true, text, sizeof text);
        check_random(&b, "nest", seed, text);
    }
    bench_end(&b);
}

/* ---- PTX of compilers ---- */

/* Pointers into memory, and small numbers. */
static bool make_up_params(bench *b, const ir_func *func)
{
    uint64_t at = 0, part = WORDS / 16;
    memset(b->params, 0, sizeof b->params);
    for (uint32_t i = 0; i < func->nparams; i++) {
        const ir_var *var = func->params[i];
        uint64_t bytes = ir_var_size(var), align = ir_var_align(var);
        at = (at + align - 1) / align * align;
        if (at + bytes > sizeof b->params)
            return false;
        for (uint64_t k = 0; k < bytes && bytes >= 8; k += 8)
            b->params[(at + k) / 8] = (uintptr_t)(b->memory + part * ((i + k / 8) % 16));
        if (bytes == 4)
            memcpy((char *)b->params + at, &(uint32_t){40}, 4);
        at += bytes;
    }
    return true;
}

static void check_kernel(bench *b, const char *what, const char *ptx, const ir_func *func,
                         char *const cubins[TARGETS], const size_t sizes[TARGETS])
{
    b->launch.grid = (emu_dim){2, 2, 1};
    b->launch.block = (emu_dim){16, 4, 1};
    b->launch.dynamic_shared = 8 << 10;
    if (!make_up_params(b, func) || !run_ptx(b, ptx, func->name))
        return;
    for (unsigned t = 0; t < TARGETS; t++)
        if (cubins[t])
            check_lifted(b, what, ptx, func->name, targets[t], cubins[t], sizes[t]);
}

static void check_file(bench *b, const char *path)
{
    char *ptx = test_read(path, NULL), *cubins[TARGETS];
    size_t sizes[TARGETS];
    ir_module *module;
    wl_error err;
    if (ptx_parse(ptx, strlen(ptx), path, &module, &err) != WL_OK)
        fail_msg("%s", err.text);
    for (unsigned t = 0; t < TARGETS; t++) {
        char options[40], own[40];
        snprintf(own, sizeof own, ".target sm_%ua", targets[t]);
        snprintf(options, sizeof options, "-arch=sm_%u%s", targets[t], strstr(ptx, own) ? "a" : "");
        cubins[t] = lifting_assemble(ptx, options, true, &sizes[t]);
    }
    for (uint32_t i = 0; i < module->nfuncs; i++)
        if (module->funcs[i]->entry)
            check_kernel(b, strrchr(path, '/') + 1, ptx, module->funcs[i], cubins, sizes);
    for (unsigned t = 0; t < TARGETS; t++)
        free(cubins[t]);
    ir_module_free(module);
    free(ptx);
}

static void compiled_kernels(void **state)
{
    (void)state;
    lifting_need_ptxas();
    bench b;
    glob_t files;
    uint64_t random = 1;
    bench_begin(&b);
    b.launch.time_limit = 2;
    for (size_t i = 0; i < WORDS; i++)
        b.start[i] = (uint32_t)random_below(&random, 40);
    assert_int_equal(glob(WL_SOURCE_DIR "/tests/ptx/corpus/*.ptx", 0, NULL, &files), 0);
    assert_int_equal(glob(WL_SOURCE_DIR "/tests/flow/*.ptx", GLOB_APPEND, NULL, &files), 0);
    const char *more = getenv("WARPLENS_LIFT_PTX");
    if (more)
        (void)glob(more, GLOB_APPEND, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc; i++)
        check_file(&b, files.gl_pathv[i]);
    globfree(&files);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_kernels),
                                       cmocka_unit_test(random_nests),
                                       cmocka_unit_test(compiled_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
