/* What must hold of any kernel, on random ones. */
#include "../emu/fixture.h"
#include "generate.h"
#include "reference.h"

enum { KERNELS = 600, RUNS = 250, THREADS = 32 };

static char text[1 << 16];

/* What the crude analysis cannot prove may be provable; what it proves is proven, but for a few:
 * behind a branch, a register that got a value before on one of its ways has two names, and so
 * counts as chosen by the branch; writes alone, which is all that the crude analysis looks at, do
 * not. */
static void sharper_than_the_crude_analysis(void **state)
{
    (void)state;
    uint32_t proven = 0, crude = 0, all = 0, missed = 0;
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        subject s;
        generate_kernel(seed, text, sizeof text);
        subject_begin(&s, text, "k");
        bool *tainted = ref_taint(&s);
        for (uint32_t pc = 0; pc < s.proof.npcs; pc++) {
            if (!(s.proof.flags[pc] & FLOW_PC_MEMORY))
                continue;
            missed += !tainted[pc] && !(s.proof.flags[pc] & FLOW_PC_PROVEN);
            all++;
            proven += s.proof.flags[pc] >> 1 & 1;
            crude += !tainted[pc];
        }
        free(tainted);
        subject_end(&s);
    }
    print_message("%u of %u accesses proven, %u by the crude analysis, %u of them not\n", proven,
                  all, crude, missed);
    assert_true(missed * 1000 < crude);
    assert_true(proven > crude);
    assert_true(proven < all);
}

/* ---- against the emulator ---- */

enum { LANES = 32 };

typedef struct record {
    uint64_t hash;
    uint32_t count;
} record;

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
    record *r = (record *)block + a->pc;
    r->count++;
    r->hash = (r->hash ^ a->mask) * UINT64_C(0x100000001b3);
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (a->mask >> lane & 1)
            r->hash = (r->hash ^ a->addr[lane]) * UINT64_C(0x100000001b3);
}

static void run(fixture *f, uint32_t *in, uint32_t *out, uint64_t seed, record *records)
{
    acc_observer observer = {
        .ctx = records, .worker_begin = pass_on, .block_begin = block_of, .access = on_access};
    for (uint32_t i = 0; i < THREADS * GENERATED_WORDS; i++) {
        in[i] = rnd(&seed, 64);
        out[i] = rnd(&seed, 64);
    }
    f->observer = &observer;
    RUN(f, "k", 1, THREADS, P(in), P(out), 17);
    f->observer = NULL;
}

static void proofs_hold_when_run(void **state)
{
    (void)state;
    uint32_t proven = 0, differ = 0, unproven = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        subject s;
        fixture f;
        generate_kernel(seed, text, sizeof text);
        subject_begin(&s, text, "k");
        fixture_begin(&f, text);
        uint32_t *in = fixture_alloc(&f, 4 * THREADS * GENERATED_WORDS);
        uint32_t *out = fixture_alloc(&f, 4 * THREADS * GENERATED_WORDS);
        record *a = calloc(s.proof.npcs, sizeof *a), *b = calloc(s.proof.npcs, sizeof *b);
        run(&f, in, out, seed, a);
        run(&f, in, out, seed + 5000, b);
        for (uint32_t pc = 0; pc < s.proof.npcs; pc++) {
            bool same = a[pc].count == b[pc].count && a[pc].hash == b[pc].hash;
            bool good = s.proof.flags[pc] & FLOW_PC_PROVEN;
            if (good && !same)
                fail_msg("seed %llu: instruction %u is proven and depends on data",
                         (unsigned long long)seed, pc);
            proven += good && a[pc].count;
            unproven += (s.proof.flags[pc] & FLOW_PC_MEMORY) && !good && a[pc].count;
            differ += !same;
        }
        free(a);
        free(b);
        fixture_end(&f);
        subject_end(&s);
    }
    print_message("%u proven accesses agreed; %u of %u others did not\n", proven, differ, unproven);
    assert_true(proven > RUNS && differ * 4 > unproven);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharper_than_the_crude_analysis),
        cmocka_unit_test(proofs_hold_when_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
