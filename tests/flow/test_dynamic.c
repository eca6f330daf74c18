/* Proofs against what kernels do: two runs with the same parameters and different data must agree
 * in every access of every proven instruction, warp by warp and in order; and they must differ in
 * some of those that are not proven. */
#include "../emu/fixture.h"
#include "support.h"
#include "support/test.h"

enum { N = 700, BLOCK = 256, GRID = 3, WARPS = BLOCK / 32 };

/* For each instruction, block and warp: how many accesses, and a hash of their masks and addresses
 * in order. */
typedef struct trace {
    uint32_t count;
    uint64_t hash;
} trace;

typedef struct recorder {
    trace *traces;
    uint32_t npcs;
} recorder;

typedef struct block_state {
    recorder *r;
    uint64_t block;
} block_state;

static block_state states[GRID];

static void *begin_worker(void *ctx, uint32_t worker)
{
    (void)worker;
    return ctx;
}

static void *begin_block(void *worker, uint64_t block)
{
    states[block] = (block_state){worker, block};
    return &states[block];
}

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * UINT64_C(0x100000001b3);
}

static void on_access(void *block, const acc_request *a)
{
    block_state *s = block;
    trace *t = &s->r->traces[(a->pc * GRID + s->block) * WARPS + a->warp];
    t->count++;
    mix(&t->hash, a->mask);
    mix(&t->hash, a->bytes);
    for (uint32_t lane = 0; lane < 32; lane++)
        if (a->mask >> lane & 1)
            mix(&t->hash, a->addr[lane]);
}

typedef struct memory {
    int *in, *out;
} memory;

static bool run(fixture *f, const char *name, const memory *m, uint64_t seed, recorder *r)
{
    acc_observer observer = {
        .ctx = r, .worker_begin = begin_worker, .block_begin = begin_block, .access = on_access};
    for (int i = 0; i < N; i++) {
        m->in[i] = (int)rnd(&seed, N);
        m->out[i] = 0;
    }
    f->observer = &observer;
    wl_status status = TRY(f, name, GRID, BLOCK, P(m->in), P(m->out), N);
    f->observer = NULL;
    if (status != WL_OK)
        print_message("%s: %s\n", name, f->result.fault.text);
    return status == WL_OK;
}

static bool equal(const recorder *a, const recorder *b, uint32_t pc)
{
    return memcmp(a->traces + (size_t)pc * GRID * WARPS, b->traces + (size_t)pc * GRID * WARPS,
                  GRID * WARPS * sizeof(trace)) == 0;
}

static uint32_t executions(const recorder *a, uint32_t pc)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < GRID * WARPS; i++)
        count += a->traces[(size_t)pc * GRID * WARPS + i].count;
    return count;
}

typedef struct tally {
    uint32_t kernels, proven, unproven, differ, ran;
} tally;

static void compare(const char *name, const flow_proof *proof, const recorder *a, const recorder *b,
                    tally *t)
{
    for (uint32_t pc = 0; pc < proof->npcs; pc++) {
        bool accesses = proof->flags[pc] & FLOW_PC_MEMORY,
             proven = proof->flags[pc] & FLOW_PC_PROVEN;
        if (executions(a, pc) && !accesses)
            fail_msg("%s: instruction %u accesses memory, and the proof does not say so", name, pc);
        if (proven && !equal(a, b, pc))
            fail_msg("%s: instruction %u is proven, and its accesses depend on data", name, pc);
        t->proven += proven;
        t->ran += proven && executions(a, pc);
        t->unproven += accesses && !proven;
        t->differ += accesses && !proven && !equal(a, b, pc);
    }
    t->kernels++;
}

static recorder new_recorder(uint32_t npcs)
{
    return (recorder){calloc((size_t)npcs * GRID * WARPS, sizeof(trace)), npcs};
}

static void check_kernel(fixture *f, const char *text, const char *name, const memory *m, tally *t)
{
    subject s;
    subject_begin(&s, text, name);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        recorder a = new_recorder(s.proof.npcs), b = new_recorder(s.proof.npcs);
        assert_true(run(f, name, m, seed, &a));
        assert_true(run(f, name, m, 1000 + seed, &b));
        compare(name, &s.proof, &a, &b, t);
        free(a.traces);
        free(b.traces);
    }
    subject_end(&s);
}

static void proven_accesses_do_not_depend_on_data(void **state)
{
    (void)state;
    char *text = test_read_source("tests/flow/kernels.ptx");
    fixture f;
    tally t = {0};
    fixture_begin(&f, text);
    memory m = {fixture_alloc(&f, 4 * N), fixture_alloc(&f, 4 * N)};
    for (uint32_t i = 0; i < f.ptx->nfuncs; i++)
        if (f.ptx->funcs[i]->entry && f.ptx->funcs[i]->has_body)
            check_kernel(&f, text, f.ptx->funcs[i]->name, &m, &t);
    print_message(
        "%u runs: %u accesses proven, %u of them executed; %u not proven, of which %u differ\n",
        t.kernels, t.proven, t.ran, t.unproven, t.differ);
    assert_true(t.kernels >= 26 * 3);
    assert_true(t.ran * 10 > t.proven * 9);      /* the proofs are about what runs */
    assert_true(t.differ * 10 > t.unproven * 4); /* and the data does matter */
    fixture_end(&f);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(proven_accesses_do_not_depend_on_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
