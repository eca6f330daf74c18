/* Slices against whole kernels: the same accesses, row for row and heat map for heat map, with no
 * memory behind the objects. */
#include "../emu/fixture.h"
#include "../flow/generate.h"
#include "support/test.h"

#include "ir/module.h"
#include "replay/compare.h"
#include "replay/watch.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 700, BLOCK = 256, GRID = 3 };

/* ---- a machine of ghosts beside one with memory ---- */

typedef struct ghosts {
    emu_machine *machine;
    emu_module *module;
} ghosts;

static const emu_device device = {.sm = 90,
                                  .num_sms = 132,
                                  .max_threads_per_block = 1024,
                                  .max_blocks_per_sm = 32,
                                  .max_threads_per_sm = 2048,
                                  .global_bytes = UINT64_C(1) << 34};

static uint64_t same_address(void *ctx, const ir_var *var, uint64_t size)
{
    uint64_t address = 0;
    (void)size;
    assert_true(emu_module_symbol(ctx, var->name, &address, NULL));
    return address;
}

static void haunt(ghosts *g, const fixture *f, uint64_t address)
{
    emu_alloc alloc;
    assert_true(emu_mem_find(f->machine, address, &alloc));
    assert_int_equal(emu_mem_ghost(g->machine, alloc.base, alloc.size, alloc.kind, alloc.id),
                     WL_OK);
}

static void ghosts_begin(ghosts *g, fixture *f)
{
    wl_error err;
    assert_int_equal(emu_machine_new_replay(&device, &g->machine, &err), WL_OK);
    if (emu_module_load_at(g->machine, f->ptx, same_address, f->module, &g->module, &err) != WL_OK)
        fail_msg("%s", err.text);
}

static void ghosts_end(ghosts *g)
{
    emu_machine_free(g->machine);
}

/* ---- both ways ---- */

typedef struct work {
    const char *text; /* of a generated kernel; NULL: of a file */
    fixture *f;
    ghosts *g;
    emu_launch launch;

} work;

static void run_on(work *w, emu_machine *machine, emu_kernel *kernel, const flow_proof *proof,
                   replay_watch *watch, obs_summary *out)
{
    emu_result result = {0};
    wl_error err = {0};
    replay_settings settings = {
        .threads = 1, .blocks = {.automatic = true}, .sequence_limit = 1 << 20};
    replay_watched what = {.settings = &settings,
                           .machine = machine,
                           .kernel = kernel,
                           .grid = w->launch.grid,
                           .block = w->launch.block,
                           .dynamic_shared = w->launch.dynamic_shared};
    assert_int_equal(replay_watch_begin(&what, proof, watch), WL_OK);
    w->launch.observer = &watch->observer;
    if (emu_run(machine, kernel, &w->launch, &result, &err) != WL_OK)
        fail_msg("%s%s", err.text, result.fault.text);
    assert_int_equal(replay_watch_finish(watch, &result, out), WL_OK);
    emu_result_clear(&result);
}

typedef struct tally {
    uint32_t kernels, whole, rows;
} tally;

static void check_kernel(work *w, const char *name, tally *t)
{
    replay_watch whole, slice;
    obs_summary expected, got;
    replay_facts facts;
    emu_kernel *kernel = fixture_kernel(w->f, name), *sliced = NULL;
    wl_arena *arena = wl_arena_new();
    wl_error err;
    assert_int_equal(replay_facts_of(w->f->ptx, emu_kernel_get(kernel)->func, arena, &facts),
                     WL_OK);
    if (emu_module_slice(w->g->module, name, &facts.proof, &sliced, &err) != WL_OK)
        fail_msg("%s", err.text);
    run_on(w, w->f->machine, kernel, NULL, &whole, &expected);
    run_on(w, w->g->machine, sliced, &facts.proof, &slice, &got);
    char difference[256];
    if (!replay_agree(&facts, sliced, &expected, &got, difference, sizeof difference))
        fail_msg("%s: %s\n%.400s", name, difference, w->text ? w->text : "");
    t->kernels++;
    t->whole += facts.whole;
    t->rows += got.ninsns;
    replay_watch_end(&whole);
    replay_watch_end(&slice);
    wl_arena_free(arena);
}

static void slices_show_what_kernels_do(void **state)
{
    (void)state;
    char *text = test_read_source("tests/flow/kernels.ptx");
    fixture f;
    ghosts g;
    tally t = {0};
    fixture_begin(&f, text);
    int *in = fixture_alloc(&f, 4 * N), *out = fixture_alloc(&f, 4 * N);
    for (int i = 0; i < N; i++)
        in[i] = (i * 37 + 11) % N;
    ghosts_begin(&g, &f);
    haunt(&g, &f, P(in));
    haunt(&g, &f, P(out));
    uint64_t params[] = {P(in), P(out), N};
    work w = {
        .f = &f,
        .g = &g,
        .launch = {.grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, .params = params, .threads = 1},
    };
    for (uint32_t i = 0; i < f.ptx->nfuncs; i++)
        if (f.ptx->funcs[i]->entry && f.ptx->funcs[i]->has_body)
            check_kernel(&w, f.ptx->funcs[i]->name, &t);
    print_message("%u kernels, %u wholly proven, %u rows\n", t.kernels, t.whole, t.rows);
    assert_true(t.kernels >= 26 && t.whole >= 8 && t.rows > 100);
    ghosts_end(&g);
    fixture_end(&f);
    free(text);
}

static void check_random(uint64_t seed, char *text, tally *t)
{
    enum { THREADS = 32, WORDS = 2 * THREADS * GENERATED_WORDS };
    fixture f;
    ghosts g;
    generate_kernel(seed, text, 1 << 16);
    fixture_begin(&f, text);
    uint32_t *in = fixture_alloc(&f, 4 * WORDS), *out = fixture_alloc(&f, 4 * WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        in[i] = (uint32_t)((seed + i) * 2654435761u >> 20) % 64;
        out[i] = (uint32_t)((seed + i) * 40503u >> 7) % 64;
    }
    ghosts_begin(&g, &f);
    haunt(&g, &f, P(in));
    haunt(&g, &f, P(out));
    uint64_t params[] = {P(in), P(out), 17};
    work w = {
        .text = text,
        .f = &f,
        .g = &g,
        .launch = {.grid = {2, 1, 1}, .block = {THREADS, 1, 1}, .params = params, .threads = 1}};
    check_kernel(&w, "k", t);
    ghosts_end(&g);
    fixture_end(&f);
}

static void slices_show_what_random_kernels_do(void **state)
{
    (void)state;
    enum { KERNELS = 300 };
    char *text = calloc(1, 1 << 16);
    tally t = {0};
    assert_non_null(text);
    for (uint64_t seed = 1; seed <= KERNELS; seed++)
        check_random(seed, text, &t);
    print_message("%u kernels, %u wholly proven, %u rows\n", t.kernels, t.whole, t.rows);
    assert_true(t.rows > KERNELS);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slices_show_what_kernels_do),
                                       cmocka_unit_test(slices_show_what_random_kernels_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
