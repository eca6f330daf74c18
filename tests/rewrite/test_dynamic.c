/* Kernels with probes against the same kernels without: results identical, and what the probes tell is what the emulator's
 * observer saw, access for access and count for count. */
#include "../flow/generate.h"
#include "../flow/support.h"
#include "probed.h"

enum { N = 700, BLOCK = 256, GRID = 3, POOL = 4096 };

static const uint64_t traced[] = {2, 0};

typedef struct tally {
    uint64_t kernels, probed, accesses, counts, shared_counts, plain, with;
} tally;

static const rewrite_site *site_of(const rewrite_kernel *k, uint32_t pc)
{
    for (uint32_t s = 0; s < k->nsites; s++)
        if (k->sites[s].pc == pc)
            return &k->sites[s];
    return NULL;
}

static bool is_traced(uint64_t block)
{
    return block == traced[0] || block == traced[1];
}

static int by_warp(const void *a, const void *b)
{
    const seen *const *x = a, *const *y = b;
    if ((*x)->block != (*y)->block)
        return (*x)->block < (*y)->block ? -1 : 1;
    if ((*x)->warp != (*y)->warp)
        return (*x)->warp < (*y)->warp ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static size_t select_seen(const shot *s, const rewrite_kernel *k, const seen **out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_traced(s->list[i].block) && site_of(k, s->list[i].pc))
            out[n++] = &s->list[i];
    qsort(out, n, sizeof *out, by_warp);
    return n;
}

static void compare_access(const char *name, size_t i, const seen *want, const seen *have)
{
    if (memcmp(want, have, sizeof *want) == 0)
        return;
    const seen *both[] = {want, have};
    for (int k = 0; k < 2; k++)
        print_message("%s: block %llu warp %u pc %u op %u space %u bytes %u flags %u mask %x addr "
                      "%llx %llx\n",
                      k ? "decoded" : "seen", (unsigned long long)both[k]->block, both[k]->warp,
                      both[k]->pc, both[k]->op, both[k]->space, both[k]->bytes, both[k]->flags,
                      both[k]->mask, (unsigned long long)both[k]->addr[0],
                      (unsigned long long)both[k]->addr[1]);
    fail_msg("%s: access %zu differs", name, i);
}

static void compare_traces(const char *name, const rewrite_kernel *k, const shot *original,
                           const shot *decoded, tally *t)
{
    const seen **want = calloc(original->count + 1, sizeof *want);
    const seen **have = calloc(decoded->count + 1, sizeof *have);
    size_t n = select_seen(original, k, want);
    assert_int_equal(select_seen(decoded, k, have), decoded->count);
    for (size_t i = 0; i < n && i < decoded->count; i++)
        compare_access(name, i, want[i], have[i]);
    if (n != decoded->count)
        fail_msg("%s: %zu accesses, %zu decoded", name, n, decoded->count);
    t->accesses += n;
    free(want), free(have);
}

static void compare_counts(const char *name, const rewrite_kernel *k, const shot *original,
                           const void *state, uint64_t size, tally *t)
{
    if (!(k->probes >> REWRITE_BLOCKS & 1))
        return;
    assert_int_equal(k->nblocks, original->nblocks);
    for (uint32_t b = 0; b < k->nblocks; b++) {
        uint64_t executions, lanes;
        if (!rewrite_read_block(k, state, size, b, &executions, &lanes))
            continue;
        if (executions != original->blocks[b].executions || lanes != original->blocks[b].lanes)
            fail_msg(
                "%s: block %u at pc %u ran %llu times with %llu lanes, counted as %llu with %llu",
                name, b, k->blocks[b].first_pc, (unsigned long long)original->blocks[b].executions,
                (unsigned long long)original->blocks[b].lanes, (unsigned long long)executions,
                (unsigned long long)lanes);
        t->counts++;
    }
    t->shared_counts += k->nblocks - k->ncounters;
}

static void compare_results(const char *name, const shape *s, const shot *a, const shot *b)
{
    if (memcmp(a->data, b->data, s->bytes) != 0)
        fail_msg("%s: results differ", name);
}

static void check_kernel(probed *p, const char *name, const shape *s, tally *t)
{
    const rewrite_kernel *k = probed_kernel(p, name);
    shot original, with, off, tiny, decoded = {0};
    uint64_t size, rest;
    if (k->refused)
        fail_msg("%s: %s", name, k->refused);
    shoot_original(p, name, s, &original);
    void *state = shoot_probed(p, name, s, false, POOL, traced, 2, &with, &size);
    compare_results(name, s, &original, &with);
    assert_int_equal(rewrite_dropped(k, state, size), 0);
    read_trace(p, k, state, size, &decoded);
    if (k->probes >> REWRITE_TRACE & 1)
        compare_traces(name, k, &original, &decoded, t);
    compare_counts(name, k, &original, state, size, t);
    free(state);
    free(shoot_probed(p, name, s, true, 0, traced, 2, &off, &rest));
    compare_results(name, s, &original, &off);

    /* A pool of three chunks: what is there is right, what is not is counted. */
    size_t whole = decoded.count;
    shot_end(&decoded);
    state = shoot_probed(p, name, s, false, 3, traced, 2, &tiny, &rest);
    compare_results(name, s, &original, &tiny);
    read_trace(p, k, state, rest, &decoded);
    assert_true(decoded.count + rewrite_dropped(k, state, rest) >= whole);
    assert_true(decoded.count <= whole);
    free(state);
    t->kernels++;
    t->probed += k->probes != 0;
    t->plain += original.warp_instructions, t->with += with.warp_instructions;
    shot_end(&original), shot_end(&with), shot_end(&off), shot_end(&tiny), shot_end(&decoded);
}

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
    char *text = read_source(path);
    probed p;
    probed_begin(&p, text, probes, everything);
    shape s = in_out(&p, N);
    for (uint32_t i = 0; i < p.result.nkernels; i++)
        check_kernel(&p, p.result.kernels[i].func->name, &s, t);
    probed_end(&p);
    free(text);
}

static void report(const char *what, const tally *t)
{
    print_message("%s: %llu kernels, %llu with probes; %llu accesses, %llu block counts (%llu "
                  "shared); %.2f times the "
                  "instructions\n",
                  what, (unsigned long long)t->kernels, (unsigned long long)t->probed,
                  (unsigned long long)t->accesses, (unsigned long long)t->counts,
                  (unsigned long long)t->shared_counts, (double)t->with / (double)t->plain);
}

static void compiled_kernels_with_all_accesses_probed(void **state)
{
    (void)state;
    tally t = {0};
    check_module("tests/flow/kernels.ptx", 1u << REWRITE_TRACE, true, &t);
    report("trace, everything", &t);
    assert_true(t.accesses > 3000);
    t = (tally){0};
    check_module("tests/flow/kernels.ptx", 1u << REWRITE_BLOCKS, true, &t);
    report("blocks, everything", &t);
    assert_true(t.counts > 200);
    t = (tally){0};
    check_module("tests/flow/kernels.ptx", 1u << REWRITE_TRACE | 1u << REWRITE_BLOCKS, true, &t);
    report("both, everything", &t);
}

static void compiled_kernels_with_unproven_accesses_probed(void **state)
{
    (void)state;
    tally t = {0};
    check_module("tests/flow/kernels.ptx", (1u << REWRITE_PROBE_COUNT) - 1, false, &t);
    report("all probes, unproven", &t);
    assert_true(t.probed > 10 && t.probed < t.kernels);
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
        cmocka_unit_test(random_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
