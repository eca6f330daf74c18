/* Kernels with probes against the same kernels without (compare.h): compiled, random and hand-made
 * ones. */
#include "../flow/generate.h"
#include "../flow/support.h"
#include "compare.h"
#include "support/test.h"

enum { N = 700, BLOCK = 256, GRID = 3 };

static void discard(void *ctx, const char *text, size_t length)
{
    (void)ctx, (void)text, (void)length;
}

/* in: numbers in [0, n), out: zeroed; both in one allocation. */
static shape in_out(probed *p, uint32_t words)
{
    int *data = fixture_alloc(&p->f, 8 * (uint64_t)words);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < words; i++)
        data[i] = (int)rnd(&seed, words);
    p->f.print = discard;
    return (shape){.grid = {GRID, 1, 1},
                   .block = {BLOCK, 1, 1},
                   .nargs = 3,
                   .args = {P(data), P(data + words), words},
                   .data = data,
                   .bytes = 8 * words};
}

static void check_module(const char *path, uint32_t probes, bool everything, tally *t)
{
    char *text = test_read_source(path);
    probed p;
    probed_begin(&p, text, probes, everything);
    shape s = in_out(&p, N);
    for (uint32_t i = 0; i < p.result.nkernels; i++)
        check_kernel(&p, p.result.kernels[i].func->name, &s, t);
    probed_end(&p);
    free(text);
}

static void compiled_kernels_with_all_accesses_probed(void **state)
{
    (void)state;
    for (unsigned probe = 0; probe < REWRITE_PROBE_COUNT; probe++) {
        tally t = {0};
        check_module("tests/flow/kernels.ptx", 1u << probe, true, &t);
        report(rewrite_probe_name(probe), &t);
        /* Not all use shared memory, in some all that runs follows from the launch, and some have one
         * path. */
        bool some = probe == REWRITE_SHARED || probe == REWRITE_OBJECTS || probe == REWRITE_PATH;
        assert_true(t.probed == t.kernels || (some && t.probed > 0));
    }
    tally t = {0};
    check_module("tests/flow/kernels.ptx", (1u << REWRITE_PROBE_COUNT) - 1, true, &t);
    report("all", &t);
    assert_true(t.accesses > 3000 && t.counts > 200);
}

static void compiled_kernels_with_unproven_accesses_probed(void **state)
{
    (void)state;
    tally t = {0};
    check_module("tests/flow/kernels.ptx", (1u << REWRITE_PROBE_COUNT) - 1, false, &t);
    report("all probes, unproven", &t);
    assert_true(t.probed > 10 && t.probed < t.kernels);
}

/* ---- kernels of this folder, in grids of several shapes ---- */

typedef struct grid_shape {
    emu_dim grid, block;
} grid_shape;

static const grid_shape shapes[] = {
    {{3, 1, 1}, {256, 1, 1}},
    {{2, 2, 3}, {16, 3, 2}},
    {{3, 1, 1}, {70, 1, 1}}, /* the last warp has 6 lanes */
};

static shape in_one(probed *p, uint32_t n, const grid_shape *g)
{
    int *data = fixture_alloc(&p->f, 12 * (uint64_t)n);
    uint64_t seed = 3;
    for (uint32_t i = 0; i < n; i++)
        data[i] = (int)rnd(&seed, n);
    return (shape){.grid = g->grid,
                   .block = g->block,
                   .dynamic_shared = 4 * g->block.x,
                   .nargs = 2,
                   .args = {P(data), n},
                   .data = data,
                   .bytes = 12 * n,
                   .nobjects = 2, /* the numbers, and half of what is after them */
                   .objects = {{P(data), 4 * (uint64_t)n}, {P(data + n), 4 * (uint64_t)n}}};
}

/* One kernel wants whole warps; one reads shared memory that nobody has written in blocks with
 * fewer than 64 threads in x. */
static bool runs_in(const char *name, const shape *s)
{
    bool warps = s->block.x * s->block.y * s->block.z % 32 == 0;
    return (warps || strcmp(name, "matrices") != 0) &&
           (s->block.x >= 64 || strcmp(name, "copied") != 0);
}

static void own_kernels(uint32_t probes, bool everything, tally *t)
{
    char *text = test_read_source("tests/rewrite/kernels.ptx");
    for (size_t g = 0; g < sizeof shapes / sizeof *shapes; g++) {
        probed p;
        probed_begin(&p, text, probes, everything);
        shape s = in_one(&p, 2048, &shapes[g]);
        for (uint32_t i = 0; i < p.result.nkernels; i++) {
            const char *name = p.result.kernels[i].func->name;
            if (runs_in(name, &s))
                check_kernel(&p, name, &s, t);
        }
        probed_end(&p);
    }
    free(text);
}

static void kernels_with_all_that_probes_must_get_right(void **state)
{
    (void)state;
    for (unsigned probe = 0; probe < REWRITE_PROBE_COUNT; probe++) {
        tally t = {0};
        own_kernels(1u << probe, true, &t);
        report(rewrite_probe_name(probe), &t);
    }
    tally t = {0};
    own_kernels((1u << REWRITE_PROBE_COUNT) - 1, true, &t);
    report("all", &t);
    assert_true(t.accesses > 1000);
    t = (tally){0};
    own_kernels((1u << REWRITE_PROBE_COUNT) - 1, false, &t);
    report("all, unproven", &t);
}

static void random_kernels(void **state)
{
    (void)state;
    char text[1 << 16];
    tally t = {0};
    for (uint64_t seed = 1; seed <= 150; seed++) {
        probed p;
        generate_kernel(seed, text, sizeof text);
        probed_begin(&p, text, (1u << REWRITE_PROBE_COUNT) - 1, true);
        shape s = in_out(&p, GENERATED_WORDS * 32);
        s.grid.x = 1, s.block.x = 32;
        check_kernel(&p, p.result.kernels[0].func->name, &s, &t);
        probed_end(&p);
    }
    report("random kernels", &t);
    assert_true(t.probed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_kernels_with_all_accesses_probed),
        cmocka_unit_test(compiled_kernels_with_unproven_accesses_probed),
        cmocka_unit_test(kernels_with_all_that_probes_must_get_right),
        cmocka_unit_test(random_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
