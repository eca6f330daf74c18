/* What is counted in full is what is proven and replayed plus what probes count: each word of global
 * and shared memory, loads, stores and atomics, in random kernels and in those of programs. With
 * a number as argument, so many random kernels of each kind are tried. */
#include "../flow/generate.h"
#include "../flow/nests.h"
#include "../flow/support.h"
#include "../rewrite/elements.h"
#include "../rewrite/probed.h"
#include "../rewrite/programs.h"

#include "emu/slice.h"
#include "replay/facts.h"

enum { SHARED_WORDS = 48 << 8, PROBES = 1 << REWRITE_FREQUENCY | 1 << REWRITE_SHARED };

static uint64_t kernels_of_a_kind = 200;

/* Accesses of each word, by class: of the data, and of shared memory over all blocks. */
typedef struct totals {
    uint64_t *data[REWRITE_CLASSES], words;
    uint64_t shared[REWRITE_CLASSES][SHARED_WORDS];
    uint64_t all;
} totals;

static void totals_begin(totals *t, const shape *s)
{
    memset(t, 0, sizeof *t);
    t->words = s->bytes / 4;
    for (unsigned c = 0; c < REWRITE_CLASSES; c++)
        t->data[c] = calloc(t->words + 1, sizeof *t->data[c]);
}

static void totals_end(totals *t)
{
    for (unsigned c = 0; c < REWRITE_CLASSES; c++)
        free(t->data[c]);
}

static unsigned class_of(acc_op op)
{
    return op == ACC_LOAD ? REWRITE_LOADS : op == ACC_STORE ? REWRITE_STORES : REWRITE_ATOMICS;
}

static void add_access(totals *t, const shape *s, acc_op op, uint32_t space, uint32_t bytes,
                       uint64_t address)
{
    uint64_t first = space == ACC_SHARED ? address / 4 : (address - P(s->data)) / 4;
    for (uint64_t w = first; w < first + (bytes > 4 ? bytes / 4 : 1); w++) {
        if (space == ACC_SHARED && w < SHARED_WORDS)
            t->shared[class_of(op)][w]++;
        else if (space == ACC_GLOBAL && w < t->words)
            t->data[class_of(op)][w]++;
        else
            continue;
        t->all++;
    }
}

/* ---- in full ---- */

static void count_in_full(totals *t, probed *p, const char *name, const shape *s)
{
    shot original;
    shoot_original(p, name, s, &original);
    for (size_t i = 0; i < original.count; i++) {
        const seen *a = &original.list[i];
        for (uint32_t m = a->mask; m; m &= m - 1)
            add_access(t, s, (acc_op)a->op, a->space, a->bytes, a->addr[__builtin_ctz(m)]);
    }
    shot_end(&original);
}

/* ---- proven: the slice, on a machine without memory ---- */

static const emu_device device = {.sm = 90,
                                  .num_sms = 132,
                                  .max_threads_per_block = 1024,
                                  .max_blocks_per_sm = 32,
                                  .max_threads_per_sm = 2048,
                                  .global_bytes = UINT64_C(1) << 34};

typedef struct watch {
    totals *t;
    const shape *s;
} watch;

static void *pass_on(void *ctx, uint32_t worker)
{
    (void)worker;
    return ctx;
}

static void *block_of(void *worker, uint64_t block)
{
    (void)block;
    return worker;
}

static void on_access(void *block, const acc_request *a)
{
    watch *w = block;
    for (uint32_t m = a->mask; m; m &= m - 1)
        add_access(w->t, w->s, a->op, a->space, a->bytes, a->addr[__builtin_ctz(m)]);
}

static uint64_t same_address(void *ctx, const ir_var *var, uint64_t size)
{
    uint64_t address = 0;
    (void)size;
    assert_true(emu_module_symbol(ctx, var->name, &address, NULL));
    return address;
}

static void replay_slice(totals *t, probed *p, const char *name, const shape *s, emu_machine *m,
                         emu_kernel *slice)
{
    watch w = {t, s};
    acc_observer observer = {
        .ctx = &w, .worker_begin = pass_on, .block_begin = block_of, .access = on_access};
    const emu_kernel_info *info = emu_kernel_get(fixture_kernel(&p->f, name));
    uint8_t params[512] = {0};
    for (uint32_t k = 0; k < s->nargs; k++)
        memcpy(params + info->param_offsets[k], &s->args[k],
               info->param_sizes[k] < 8 ? info->param_sizes[k] : 8);
    emu_launch launch = {.grid = s->grid,
                         .block = s->block,
                         .dynamic_shared = s->dynamic_shared,
                         .params = params,
                         .threads = 1,
                         .observer = &observer};
    emu_result result = {0};
    wl_error err = {0};
    if (emu_run(m, slice, &launch, &result, &err) != WL_OK)
        fail_msg("%s: %s%s", name, err.text, result.fault.text);
    emu_result_clear(&result);
}

static void count_proven(totals *t, probed *p, const char *name, const shape *s)
{
    wl_arena *arena = wl_arena_new();
    emu_machine *machine;
    emu_module *module;
    emu_kernel *slice;
    emu_alloc alloc;
    replay_facts facts;
    wl_error err;
    assert_int_equal(emu_machine_new_replay(&device, &machine, &err), WL_OK);
    if (emu_module_load_at(machine, p->f.ptx, same_address, p->f.module, &module, &err) != WL_OK)
        fail_msg("%s", err.text);
    assert_true(emu_mem_find(p->f.machine, P(s->data), &alloc));
    assert_int_equal(emu_mem_ghost(machine, alloc.base, alloc.size, alloc.kind, alloc.id), WL_OK);
    const ir_func *func = emu_kernel_get(fixture_kernel(&p->f, name))->func;
    assert_int_equal(replay_facts_of(p->f.ptx, func, NULL, arena, &facts), WL_OK);
    if (emu_module_slice(module, name, &facts.proof, &slice, &err) != WL_OK)
        fail_msg("%s", err.text);
    replay_slice(t, p, name, s, machine, slice);
    emu_machine_free(machine);
    wl_arena_free(arena);
}

/* ---- counted: what carries probes ---- */

static void count_with_probes(totals *t, probed *p, const char *name, const shape *s)
{
    static uint64_t shared[REWRITE_CLASSES][SHARED_WORDS];
    const rewrite_kernel *k = probed_kernel(p, name);
    const rewrite_object object = {P(s->data), s->bytes};
    rewrite_setup setup = {
        .nobjects = 1, .objects = &object, .shared_bytes = 4 * SHARED_WORDS, .everywhere = true};
    shot with;
    left l;
    if (k->refused)
        fail_msg("%s: %s", name, k->refused);
    if (!k->probes)
        return;
    shoot_probed(p, name, s, false, &setup, NULL, 0, &with, &l);
    memset(shared, 0, sizeof shared);
    assert_int_equal(rewrite_read_shared(&l.copy, shared[0]), WL_OK);
    for (unsigned c = 0; c < REWRITE_CLASSES; c++) {
        uint32_t *counts = elements_counts(&l.copy, 0, c, t->words);
        for (uint64_t w = 0; w < t->words; w++)
            t->data[c][w] += counts[w], t->all += counts[w];
        for (uint64_t w = 0; w < SHARED_WORDS; w++)
            t->shared[c][w] += shared[c][w], t->all += shared[c][w];
        free(counts);
    }
    left_end(&l), shot_end(&with);
}

/* ---- together ---- */

typedef struct tally {
    uint64_t kernels, accesses, proven;
    uint64_t left; /* kernels in which probes leave instructions alone, as they say */
} tally;

/* Where instructions were left alone, nothing may be counted that did not happen. */
static bool is_right(uint64_t full, uint64_t sum, bool whole)
{
    return whole ? full == sum : full >= sum;
}

static void compare(const char *what, const totals *full, const totals *sum, bool whole)
{
    for (unsigned c = 0; c < REWRITE_CLASSES; c++) {
        for (uint64_t w = 0; w < full->words; w++)
            if (!is_right(full->data[c][w], sum->data[c][w], whole))
                fail_msg("%s: word %llu, class %u: %llu accesses, proven and counted %llu", what,
                         (unsigned long long)w, c, (unsigned long long)full->data[c][w],
                         (unsigned long long)sum->data[c][w]);
        for (uint64_t w = 0; w < SHARED_WORDS; w++)
            if (!is_right(full->shared[c][w], sum->shared[c][w], whole))
                fail_msg("%s: shared word %llu, class %u: %llu accesses, proven and counted %llu",
                         what, (unsigned long long)w, c, (unsigned long long)full->shared[c][w],
                         (unsigned long long)sum->shared[c][w]);
    }
}

static void check(const char *what, probed *p, const char *name, const shape *s, tally *t)
{
    static totals full, sum;
    totals_begin(&full, s), totals_begin(&sum, s);
    count_in_full(&full, p, name, s);
    count_proven(&sum, p, name, s);
    t->proven += sum.all;
    count_with_probes(&sum, p, name, s);
    bool whole = probed_kernel(p, name)->nskips == 0;
    compare(what, &full, &sum, whole);
    t->left += !whole;
    t->kernels++;
    t->accesses += full.all;
    totals_end(&full), totals_end(&sum);
}

static void report_totals(const tally *t)
{
    print_message(
        "%llu kernels (%llu with instructions left alone), %llu accesses of words, %llu of "
        "them proven\n",
        (unsigned long long)t->kernels, (unsigned long long)t->left,
        (unsigned long long)t->accesses, (unsigned long long)t->proven);
}

/* ---- random kernels ---- */

static void check_random(const char *kind, uint64_t seed, const char *text, uint32_t words,
                         const uint64_t *numbers, tally *t)
{
    char what[64];
    probed p;
    probed_begin(&p, text, PROBES, false);
    uint32_t *data = fixture_alloc(&p.f, 4 * (uint64_t)words);
    uint64_t state = seed;
    for (uint32_t i = 0; i < words; i++)
        data[i] = rnd(&state, 16);
    shape s = {.grid = {2, 1, 1},
               .block = {32 + 16 * (uint32_t)(seed % 3), 1, 1},
               .nargs = 3,
               .args = {P(data), numbers[0], numbers[1]},
               .data = data,
               .bytes = 4 * (uint64_t)words};
    snprintf(what, sizeof what, "%s %llu", kind, (unsigned long long)seed);
    check(what, &p, "k", &s, t);
    probed_end(&p);
}

static char text[1 << 16];

static void random_graphs(void **state)
{
    enum { THREADS = 32, WORDS = 2 * THREADS * GENERATED_WORDS };
    (void)state;
    tally t = {0};
    for (uint64_t seed = 1; seed <= kernels_of_a_kind; seed++) {
        probed p;
        char what[64];
        generate_kernel(seed, text, sizeof text);
        probed_begin(&p, text, PROBES, false);
        uint32_t *data = fixture_alloc(&p.f, 8 * WORDS);
        uint64_t random = seed;
        for (uint32_t i = 0; i < 2 * WORDS; i++)
            data[i] = rnd(&random, 64);
        shape s = {.grid = {2, 1, 1},
                   .block = {THREADS, 1, 1},
                   .nargs = 3,
                   .args = {P(data), P(data + WORDS), 17},
                   .data = data,
                   .bytes = 8 * WORDS};
        snprintf(what, sizeof what, "graph %llu", (unsigned long long)seed);
        check(what, &p, "k", &s, &t);
        probed_end(&p);
    }
    report_totals(&t);
    assert_int_equal(t.left, 0);
    assert_true(t.proven * 20 > t.accesses && t.proven * 20 < 19 * t.accesses);
}

static void random_nests(void **state)
{
    (void)state;
    tally t = {0};
    for (uint64_t seed = 1; seed <= kernels_of_a_kind; seed++) {
        uint64_t numbers[] = {seed % 11, 3 + seed % 7};
        generate_nest(seed, true, text, sizeof text);
        check_random("nest", seed, text, 3 * NEST_WORDS, numbers, &t);
    }
    report_totals(&t);
    assert_int_equal(t.left, 0);
    assert_true(t.proven * 20 > t.accesses && t.proven * 20 < 19 * t.accesses);
}

/* ---- kernels of programs ---- */

static void check_programs(const char *path, const program *list, size_t count, tally *t)
{
    char *source = test_read_source(path);
    for (size_t i = 0; i < count; i++) {
        probed p;
        probed_begin(&p, source, PROBES, false);
        shape s = program_shape(&p, &list[i]);
        check(list[i].kernel, &p, list[i].kernel, &s, t);
        probed_end(&p);
    }
    free(source);
}

static void kernels_of_programs(void **state)
{
    static const program paper[] = {
        {"jacobi", {4, 1, 1}, {64, 1, 1}, 0, "F1024 Z1024 V9"},
        {"binomial", {3, 1, 1}, {256, 1, 1}, 0, "F4 Z4 V11 V1065353216 V1056964608"},
        {"em", {2, 1, 1}, {128, 1, 1}, 0, "F1000 F16 Z4 V1000"},
        {"coclustering", {2, 1, 1}, {64, 1, 1}, 64, "F4096 D16 C16 F2048 Z128 V200 V5 V16"},
        {"dxtc", {3, 1, 1}, {64, 1, 1}, 0, "F192 Z192 V7"},
        {"histogram", {3, 1, 1}, {256, 1, 1}, 0, "C5000 Z256 V5000"},
    };
    (void)state;
    tally t = {0};
    check_programs("tests/rewrite/programs.ptx", programs, program_count, &t);
    check_programs("tests/cli/paper.ptx", paper, sizeof paper / sizeof *paper, &t);
    report_totals(&t);
    assert_int_equal(t.left, 0);
    assert_int_equal(t.kernels, program_count + sizeof paper / sizeof *paper);
    assert_true(t.proven < t.accesses);
}

/* Kernels of one shape, over n numbers below n. */
static void check_file(const char *path, uint32_t nargs, uint32_t n, tally *t)
{
    char *source = test_read_source(path);
    wl_error err;
    ir_module *module;
    assert_int_equal(ptx_parse(source, strlen(source), path, &module, &err), WL_OK);
    for (uint32_t i = 0; i < module->nfuncs; i++) {
        probed p;
        if (!module->funcs[i]->entry || !module->funcs[i]->has_body)
            continue;
        probed_begin(&p, source, PROBES, false);
        int *data = fixture_alloc(&p.f, 12 * (uint64_t)n);
        uint64_t random = 1;
        for (uint32_t w = 0; w < n; w++)
            data[w] = (int)rnd(&random, n);
        shape s = {.grid = {3, 1, 1},
                   .block = {256, 1, 1},
                   .dynamic_shared = 1024,
                   .nargs = nargs,
                   .args = {P(data), nargs == 3 ? P(data + n) : n, n},
                   .data = data,
                   .bytes = 12 * (uint64_t)n};
        check(module->funcs[i]->name, &p, module->funcs[i]->name, &s, t);
        probed_end(&p);
    }
    ir_module_free(module);
    free(source);
}

static void kernels_of_tests(void **state)
{
    (void)state;
    tally t = {0};
    check_file("tests/flow/kernels.ptx", 3, 700, &t);
    check_file("tests/rewrite/kernels.ptx", 2, 2048, &t);
    report_totals(&t);
    assert_true(t.kernels >= 40 && t.left == 1 && t.proven < t.accesses);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_programs),
        cmocka_unit_test(kernels_of_tests),
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(random_nests),
    };
    if (argc > 1)
        kernels_of_a_kind = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
