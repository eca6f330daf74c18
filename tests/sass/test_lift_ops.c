/* Each row of lift_ops.def and lift_floats.def: ptxas makes machine code of it, for three devices, optimised and hardly so,
 * and what the lifter makes of that gives the same results on the emulator, and the same sectors where
 * ptxas kept the accesses. Of the machine code nothing may be unknown.
 *
 * WARPLENS_LIFT=name in the environment: that row only, and what was lifted is printed. */
#include "lifting.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum row_kind { ROW_EXACT, ROW_APPROX, ROW_APPROX64, ROW_90, ROW_100 } row_kind;

static const struct row {
    row_kind kind;
    const char *name, *body;
} rows[] = {
#define X(name, body) {ROW_EXACT, #name, body},
#define APPROX(name, body) {ROW_APPROX, #name, body},
#define APPROX64(name, body) {ROW_APPROX64, #name, body},
#define X90(name, body) {ROW_90, #name, body},
#define X100(name, body) {ROW_100, #name, body},
#include "lift_floats.def"
#include "lift_ops.def"
#undef X
#undef APPROX
#undef APPROX64
#undef X90
#undef X100
};

enum {
    ROWS = sizeof rows / sizeof *rows,
    THREADS = 1024,
    BLOCK = 128,
    IN_WORDS = 3 * THREADS,
    OUT_WORDS = 2 * THREADS,
    OWN_WORDS = 16 * THREADS,
    ALL_WORDS = 1024,
    WORDS = OUT_WORDS + OWN_WORDS + ALL_WORDS
};

static const uint32_t specials[] = {
    0,          1,          2,          3,          7,          8,          15,         16,
    31,         32,         33,         63,         64,         65,         127,        128,
    255,        256,        0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
    0xfffffffe, 0xffffff80, 0xffff8000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb, 0x7f800000,
    0xff800000, 0x7fc00000, 0x7f800001, 0x00800000, 0x007fffff, 0x807fffff, 0x7f7fffff, 0xff7fffff,
    0x4b000000, 0x4f000000, 0x5f000000, 0x3c003c00, 0x7bff0400, 0x7c00fc00, 0x7e000001, 0x80000000};

static uint32_t draw(uint64_t *seed)
{
    uint32_t word = (uint32_t)random_next(seed), as = (uint32_t)random_below(seed, 8);
    if (as < 3)
        return specials[word % (sizeof specials / sizeof *specials)];
    if (as == 3)
        return word % 64;
    if (as == 4)
        return (word & 0x81ffffff) | 0x3e000000; /* a float near 1 */
    return word;
}

/* ---- the module ---- */

static bool is_for(const struct row *row, unsigned sm)
{
    const char *only = getenv("WARPLENS_LIFT");
    unsigned since = row->kind == ROW_100 ? 100 : row->kind == ROW_90 ? 90 : 80;
    return sm >= since && (!only || strcmp(only, row->name) == 0);
}

static void put_kernel(FILE *out, const struct row *row)
{
    fprintf(out,
            ".visible .entry %s(.param .u64 pin, .param .u64 pout, .param .u64 pown, .param .u64 "
            "pall)\n{\n.reg .b32 %%a, %%b, %%c, %%x, %%y, %%i, %%j, %%t;\n"
            ".reg .f32 %%fa, %%fb, %%fc;\n.reg .b64 %%in, %%out, %%m, %%all;\n"
            "ld.param.u64 %%in, [pin];\nld.param.u64 %%out, [pout];\nld.param.u64 %%m, [pown];\n"
            "ld.param.u64 %%all, [pall];\nmov.u32 %%j, %%tid.x;\nmov.u32 %%t, %%ctaid.x;\n"
            "mad.lo.u32 %%i, %%t, %d, %%j;\nmad.wide.u32 %%in, %%i, 12, %%in;\n"
            "mad.wide.u32 %%out, %%i, 8, %%out;\nmad.wide.u32 %%m, %%i, 64, %%m;\n"
            "ld.global.b32 %%a, [%%in];\nld.global.b32 %%b, [%%in+4];\nld.global.b32 %%c, [%%in+8];"
            "\nmov.b32 %%fa, %%a;\nmov.b32 %%fb, %%b;\nmov.b32 %%fc, %%c;\nmov.u32 %%x, 0;\n"
            "mov.u32 %%y, 0;\n%s\nst.global.v2.b32 [%%out], {%%x, %%y};\nret;\n}\n",
            row->name, BLOCK, row->body);
}

/* Of all rows, or of one. */
static char *module_for(unsigned sm, const struct row *only)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out,
            ".version 8.8\n.target sm_%u\n.address_size 64\n"
            ".global .align 8 .b8 variable_words[4096];\n",
            sm);
    for (size_t r = 0; r < ROWS; r++)
        if (only ? &rows[r] == only : is_for(&rows[r], sm))
            put_kernel(out, &rows[r]);
    fclose(out);
    return text;
}

/* ---- a row ---- */

typedef struct bench {
    emu_machine *machine;
    uint32_t *in, *written; /* results, own words, words of all */
    uint32_t start[WORDS];  /* of `written` */
    uint32_t failures;
} bench;

static void bench_begin(bench *b)
{
    uint64_t seed = 7;
    *b = (bench){.machine = lifting_machine()};
    b->in = lifting_alloc(b->machine, IN_WORDS * sizeof *b->in);
    b->written = lifting_alloc(b->machine, sizeof b->start);
    for (size_t i = 0; i < IN_WORDS; i++)
        b->in[i] = draw(&seed);
    for (size_t i = OUT_WORDS; i < WORDS; i++)
        b->start[i] = draw(&seed);
}

static bool run(bench *b, const char *ptx, const char *kernel, lifting_traffic *traffic,
                wl_error *why)
{
    const uint64_t params[] = {(uintptr_t)b->in, (uintptr_t)b->written,
                               (uintptr_t)(b->written + OUT_WORDS),
                               (uintptr_t)(b->written + OUT_WORDS + OWN_WORDS)};
    lifting_launch launch = {.grid = {THREADS / BLOCK, 1, 1},
                             .block = {BLOCK, 1, 1},
                             .params = params,
                             .param_bytes = sizeof params};
    memcpy(b->written, b->start, sizeof b->start);
    return lifting_run(b->machine, ptx, kernel, &launch, traffic, why);
}

static bool near(double is, double should)
{
    if (isnan(should) || isinf(should))
        return isnan(should) ? isnan(is) : is == should;
    return fabs(is - should) <= 1e-6 * fabs(should) + 1e-37;
}

static bool agree(const struct row *row, const uint32_t *is, const uint32_t *should, size_t word)
{
    if (is[word] == should[word] || (row->kind != ROW_APPROX && row->kind != ROW_APPROX64))
        return is[word] == should[word];
    if (row->kind == ROW_APPROX64) {
        double a, b;
        memcpy(&a, is + word / 2 * 2, sizeof a);
        memcpy(&b, should + word / 2 * 2, sizeof b);
        return near(a, b);
    }
    float a, b;
    memcpy(&a, is + word, sizeof a);
    memcpy(&b, should + word, sizeof b);
    return near((double)a, (double)b);
}

static void say(bench *b, const struct row *row, const char *how, const char *what)
{
    b->failures++;
    print_error("%s (%s): %s\n", row->name, how, what);
}

static void compare_words(bench *b, const struct row *row, const char *how, const uint32_t *should)
{
    for (size_t i = 0; i < WORDS; i++)
        if (!agree(row, b->written, should, i)) {
            char text[300];
            size_t thread = i < OUT_WORDS ? i / 2 : 0;
            const uint32_t *in = b->in + 3 * thread;
            snprintf(text, sizeof text,
                     "word %zu is 0x%08x instead of 0x%08x; of thread %zu a, b, c are 0x%08x, "
                     "0x%08x, 0x%08x",
                     i, b->written[i], should[i], thread, in[0], in[1], in[2]);
            say(b, row, how, text);
            return;
        }
}

static void compare_traffic(bench *b, const struct row *row, const char *how,
                            const lifting_traffic *is, const lifting_traffic *should)
{
    for (unsigned space = 0; space < ACC_SPACE_COUNT; space++)
        for (unsigned op = 0; op < ACC_OP_COUNT; op++)
            if (space != ACC_LOCAL && is->requests[space][op] == should->requests[space][op] &&
                is->lanes[space][op] == should->lanes[space][op] &&
                is->cost[space][op] != should->cost[space][op])
                say(b, row, how, "the sectors or wavefronts differ");
}

static void check_row(bench *b, const struct row *row, const char *how, const sass_lifted *lifted)
{
    static uint32_t should[WORDS];
    char *ptx = module_for(lifted->code.sm, row);
    lifting_traffic of_ptx, of_lifted;
    wl_error why = {0};
    if (getenv("WARPLENS_LIFT"))
        printf("// %s %s\n%s\n", row->name, how, lifted->text);
    if (lifted->unknown)
        say(b, row, how, lifting_unknown(lifted));
    bool good = run(b, ptx, row->name, &of_ptx, &why);
    memcpy(should, b->written, sizeof should);
    free(ptx);
    if (!good || !run(b, lifted->text, row->name, &of_lifted, &why)) {
        say(b, row, good ? how : "PTX", why.text);
        return;
    }
    compare_words(b, row, how, should);
    compare_traffic(b, row, how, &of_lifted, &of_ptx);
}

static void check_cubin(bench *b, unsigned sm, const char *how, const char *cubin, size_t size)
{
    for (size_t r = 0; r < ROWS; r++) {
        sass_lifted lifted;
        wl_error err = {0};
        if (!is_for(&rows[r], sm))
            continue;
        wl_arena *arena = wl_arena_new();
        assert_non_null(arena);
        if (sass_lift(cubin, size, sm, rows[r].name, arena, &lifted, &err) == WL_OK)
            check_row(b, &rows[r], how, &lifted);
        else
            say(b, &rows[r], how, err.text);
        wl_arena_free(arena);
    }
}

static void check_target(unsigned sm)
{
    bench b;
    lifting_need_ptxas();
    bench_begin(&b);
    char *ptx = module_for(sm, NULL);
    for (unsigned level = 1; level <= 3; level += 2) {
        char options[60];
        size_t size;
        snprintf(options, sizeof options, "-arch=sm_%u -O%u", sm, level);
        char *cubin = lifting_assemble(ptx, options, false, &size);
        check_cubin(&b, sm, options, cubin, size);
        free(cubin);
    }
    free(ptx);
    emu_machine_free(b.machine);
    assert_int_equal(b.failures, 0);
}

static void sm_80(void **state)
{
    (void)state;
    check_target(80);
}

static void sm_90(void **state)
{
    (void)state;
    check_target(90);
}

static void sm_100(void **state)
{
    (void)state;
    check_target(100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sm_80), cmocka_unit_test(sm_90),
                                       cmocka_unit_test(sm_100)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
