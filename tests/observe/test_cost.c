/* Costs against the reference on random requests, and against counts worked out by hand. */
#include "cost_of.h"
#include "patterns.h"
#include "reference.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const acc_request *a)
{
    print_message("space %d op %d bytes %u mask %08x stride %lld:", a->space, a->op, a->bytes,
                  a->mask, (long long)a->stride);
    for (int i = 0; i < 32; i++)
        print_message(" %llx", (unsigned long long)a->addr[i]);
    print_message("\n");
}

static void expect_same(const acc_request *access, obs_cost got, obs_cost want)
{
    if (got.lanes == want.lanes && got.sectors == want.sectors &&
        got.sectors_min == want.sectors_min && got.wavefronts == want.wavefronts &&
        got.wavefronts_min == want.wavefronts_min && got.turns == want.turns &&
        got.shape == want.shape && got.stride == want.stride && got.unclear == want.unclear)
        return;
    show(access);
    fail_msg("sectors %u/%u want %u/%u, wavefronts %u/%u want %u/%u, turns %u want %u, shape %d "
             "want %d, stride %lld want %lld",
             got.sectors, got.sectors_min, want.sectors, want.sectors_min, got.wavefronts,
             got.wavefronts_min, want.wavefronts, want.wavefronts_min, got.turns, want.turns,
             got.shape, want.shape, (long long)got.stride, (long long)want.stride);
}

/* Vector instructions count what lies within 2 GiB of the first lane, wherever there are some. */
static void vectors_count_where_they_can(void **state)
{
    (void)state;
    uint8_t lane[32];
    uint64_t addr[32];
    const char *wish = getenv("WARPLENS_ISA");
    bool has = !wish || strcmp(wish, "generic") != 0;
#if defined(__x86_64__)
    has = has && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#else
    has = false;
#endif
    for (uint8_t l = 0; l < 32; l++)
        lane[l] = l, addr[l] = 0x7f5c00000000u + 64 * (uint64_t)l;
    for (uint32_t l = 0; l < 32; l++) {
        static const struct {
            int64_t distance;
            bool counts;
        } cases[] = {{0x7fffffe0, true},
                     {-0x80000000ll, true},
                     {0x80000000ll, false},
                     {-0x80000004ll, false},
                     {2, false}};
        for (size_t i = 0; l && i < sizeof cases / sizeof *cases; i++) {
            obs_cost cost = {0};
            uint64_t kept = addr[l];
            addr[l] = addr[0] + (uint64_t)cases[i].distance;
            const obs_active active = {32, 4, UINT32_MAX, lane, addr};
            assert_int_equal(obs_sectors_simd(&active, &cost), has && cases[i].counts);
            assert_int_equal(cost.sectors, has && cases[i].counts ? 32 : 0);
            addr[l] = kept;
        }
    }
}

static void random_requests_agree(void **state)
{
    pattern_rng rng = {88172645463325252u};
    uint64_t addr[32], shapes[OBS_SHAPE_COUNT] = {0}, runs = 0;
    (void)state;
    for (int i = 0; i < 60000; i++) {
        obs_run run;
        acc_request access = pattern_draw(&rng, i % 3 ? 0x7f5c00000000u : 0, 64 * 1024, false,
                                          addr);
        access.flags = pattern_below(&rng, 16) ? 0 : ACC_MATRIX;
        access.flags |= pattern_below(&rng, 4) ? 0 : ACC_ASYNC;
        access.flags |= pattern_below(&rng, 8) ? 0 : ACC_CACHED;
        if (access.space == ACC_SHARED && access.op == ACC_REDUCTION && access.bytes == 4)
            access.flags = pattern_below(&rng, 2) ? ACC_POPC : 0;
        if (access.space == ACC_SHARED && access.op == ACC_ATOMIC &&
            (access.bytes == 4 || access.bytes == 8))
            access.flags = pattern_below(&rng, 2) ? ACC_SPIN : 0;
        obs_cost want = ref_cost(&access);
        expect_same(&access, cost_of_request(&access), want);
        if (obs_find_run(&access, &run)) {
            runs++;
            expect_same(&access, obs_cost_run(&access, &run), want);
        }
        shapes[want.shape]++;
    }
    for (int s = 0; s < OBS_SHAPE_COUNT; s++)
        assert_true(shapes[s] > 500); /* the draw covers all shapes */
    assert_true(runs > 10000);
}

/* A request whose lane l has first + l * stride. */
static obs_cost cost_of(acc_space space, acc_op op, uint32_t bytes, uint32_t mask, uint64_t first,
                        int64_t stride)
{
    static uint64_t addr[32];
    for (int i = 0; i < 32; i++)
        addr[i] = first + (uint64_t)(stride * i);
    acc_request access = {.space = space,
                          .op = op,
                          .bytes = bytes,
                          .mask = mask,
                          .addr = addr,
                          .stride = mask == UINT32_MAX ? stride : ACC_IRREGULAR};
    return cost_of_request(&access);
}

static obs_cost load(uint32_t bytes, uint32_t mask, uint64_t first, int64_t stride)
{
    return cost_of(ACC_GLOBAL, ACC_LOAD, bytes, mask, first, stride);
}

static void expect_sectors(obs_cost c, uint32_t sectors, uint32_t fewest, obs_shape shape)
{
    assert_int_equal(c.sectors, sectors);
    assert_int_equal(c.sectors_min, fewest);
    assert_int_equal(c.shape, shape);
}

static void global_by_hand(void **state)
{
    const uint32_t full = UINT32_MAX;
    (void)state;
    expect_sectors(load(4, full, 4096, 4), 4, 4, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(load(4, full, 4100, 4), 5, 4, OBS_SHAPE_MISALIGNED);
    expect_sectors(load(4, full, 4096 + 31 * 4, -4), 4, 4, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(load(4, full, 4096, 0), 1, 1, OBS_SHAPE_UNIFORM);
    expect_sectors(load(4, full, 4096, 2048), 32, 4, OBS_SHAPE_STRIDED); /* a column of a matrix */
    expect_sectors(load(4, full, 4096, 8), 8, 4, OBS_SHAPE_STRIDED);
    expect_sectors(load(4, full, 4096, 12), 12, 4,
                   OBS_SHAPE_STRIDED); /* one field of three floats */
    expect_sectors(load(16, full, 4096, 16), 16, 16, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(load(16, full, 4096, 48), 32, 16, OBS_SHAPE_STRIDED);
    expect_sectors(load(8, full, 4096, 40), 32, 8, OBS_SHAPE_STRIDED);
    expect_sectors(load(1, full, 4096, 1), 1, 1, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(load(1, full, 4100, 1), 2, 1, OBS_SHAPE_MISALIGNED);
    expect_sectors(load(8, full, 4096, 4), 5, 5, OBS_SHAPE_STRIDED); /* lanes overlap: 132 bytes */
    expect_sectors(load(4, 0x7ff, 4096, 4), 2, 2, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(load(4, 0xfffffffe, 4096, 4), 4, 4,
                   OBS_SHAPE_CONTIGUOUS); /* all but the first: no sector wasted */
    expect_sectors(load(4, 0x55555555, 4096, 4), 4, 2, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(load(4, 0x55555555, 4100, 4), 4, 2,
                   OBS_SHAPE_CONTIGUOUS); /* the last lane is not there */
    expect_sectors(load(4, 0xd5555555, 4100, 4), 5, 3, OBS_SHAPE_MISALIGNED);
    expect_sectors(load(4, 0x80, 4096, 4), 1, 1, OBS_SHAPE_UNIFORM);
    expect_sectors(load(4, 0x3, 4096, 4096), 2, 1,
                   OBS_SHAPE_IRREGULAR); /* two lanes make no stride */
    expect_sectors(load(4, 0x7, 4096, 4096), 3, 1, OBS_SHAPE_STRIDED);
    assert_int_equal(load(4, full, 4096, -2048).stride, -2048);
    assert_int_equal(load(4, full, 4096, 4).lanes, 32);
}

/* What Nsight Compute counted on an H200 (tools/oracle, requests). */
static void copies_as_counted(void **state)
{
    static const struct {
        uint32_t mask, sectors, cached; /* of cp.async.cg, and of cp.async.ca */
        int places[4];                  /* of lane l: first, by l / 8, by l % 8, by l */
    } cases[] = {
        {UINT32_MAX, 32, 1, {0, 0, 0, 0}},   /* all lanes the same 16 bytes */
        {UINT32_MAX, 16, 16, {0, 0, 0, 1}},  /* one behind the other */
        {UINT32_MAX, 32, 17, {1, 0, 0, 1}},  /* that from half a sector on */
        {UINT32_MAX, 24, 18, {0, 9, 1, 0}},  /* every other eight lanes so */
        {UINT32_MAX, 16, 4, {0, 0, 1, 0}},   /* each eight lanes the same */
        {UINT32_MAX, 32, 32, {0, 0, 0, 9}},  /* apart */
        {0xaaaaaaaa, 16, 16, {0, 0, 0, 1}},  /* odd lanes alone */
        {0x001ffff8, 10, 10, {0, 0, 0, 1}},  /* lanes 3 to 20 */
        {0x1f1f1f1f, 12, 12, {31, 0, 0, -1}} /* five of eight, backwards */
    };
    uint64_t addr[32];
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        acc_request access = {.space = ACC_GLOBAL,
                              .op = ACC_LOAD,
                              .bytes = 16,
                              .mask = cases[c].mask,
                              .flags = ACC_ASYNC,
                              .addr = addr,
                              .stride = ACC_IRREGULAR};
        const int *p = cases[c].places;
        for (int l = 0; l < 32; l++)
            addr[l] = 4096 + 16 * (uint64_t)(p[0] + l / 8 * p[1] + l % 8 * p[2] + l * p[3]);
        assert_int_equal(cost_of_request(&access).sectors, cases[c].sectors);
        access.flags |= ACC_CACHED;
        assert_int_equal(cost_of_request(&access).sectors, cases[c].cached);
        access.flags = ACC_ASYNC | ACC_BULK;
        assert_int_equal(cost_of_request(&access).sectors, cases[c].cached);
    }
}

/* Rows of a box: 128 bytes each, 400 apart, so that every other one takes a sector more. */
static void boxes_are_one_request(void **state)
{
    uint64_t addr[32];
    acc_request access = {.space = ACC_GLOBAL,
                          .op = ACC_LOAD,
                          .bytes = 128,
                          .mask = UINT32_MAX,
                          .flags = ACC_ASYNC | ACC_BULK | ACC_BOX,
                          .addr = addr,
                          .stride = 400};
    (void)state;
    for (int i = 0; i < 32; i++)
        addr[i] = 4096 + 400 * (uint64_t)i;
    obs_cost all = cost_of_request(&access);
    assert_int_equal(all.requests, 1);
    assert_int_equal(all.lanes, 1);
    assert_int_equal(all.sectors, 16 * 4 + 16 * 5);
    assert_int_equal(all.sectors_min, 32 * 4);
    access.flags |= ACC_GOES_ON;
    access.mask = 0x7;
    access.stride = ACC_IRREGULAR;
    obs_cost rest = cost_of_request(&access);
    assert_int_equal(rest.requests, 0);
    assert_int_equal(rest.lanes, 0);
    assert_int_equal(rest.sectors, 4 + 5 + 4);
    access.flags = 0;
    assert_int_equal(cost_of_request(&access).requests, 1);
    assert_int_equal(cost_of_request(&access).lanes, 3);
}

static void expect_passes(obs_cost c, uint32_t passes, uint32_t fewest)
{
    assert_int_equal(c.wavefronts, passes);
    assert_int_equal(c.wavefronts_min, fewest);
    assert_int_equal(c.sectors, 0);
    assert_int_equal(c.sectors_min, 0);
}

static obs_cost shared(acc_op op, uint32_t bytes, uint32_t mask, int64_t stride)
{
    return cost_of(ACC_SHARED, op, bytes, mask, 0, stride);
}

static obs_cost atomic_of_machine_code(uint32_t flag, uint32_t bytes, uint32_t mask, int64_t stride)
{
    static uint64_t addr[32];
    for (int i = 0; i < 32; i++)
        addr[i] = (uint64_t)(stride * i);
    acc_request access = {.space = ACC_SHARED,
                          .op = flag == ACC_POPC ? ACC_REDUCTION : ACC_ATOMIC,
                          .bytes = bytes,
                          .flags = flag,
                          .mask = mask,
                          .addr = addr,
                          .stride = mask == UINT32_MAX ? stride : ACC_IRREGULAR};
    return cost_of_request(&access);
}

/* Lanes that are counted share a word, as in a load; a compare-and-swap reads and writes, and what it takes where banks
 * conflict is not known. */
static void atomics_of_machine_code_by_hand(void **state)
{
    const uint32_t full = UINT32_MAX;
    (void)state;
    expect_passes(atomic_of_machine_code(ACC_POPC, 4, full, 0), 1, 1);
    expect_passes(atomic_of_machine_code(ACC_POPC, 4, full, 128), 32, 1);
    expect_passes(atomic_of_machine_code(ACC_POPC, 4, 0xffff, 8), 1, 1);
    expect_passes(atomic_of_machine_code(ACC_SPIN, 4, full, 4), 2, 2);
    expect_passes(atomic_of_machine_code(ACC_SPIN, 4, 1, 0), 2, 2);
    expect_passes(atomic_of_machine_code(ACC_SPIN, 8, full, 8), 4, 4);
    assert_false(atomic_of_machine_code(ACC_SPIN, 4, full, 0).unclear);
    assert_true(atomic_of_machine_code(ACC_SPIN, 4, full, 8).unclear);
    assert_true(atomic_of_machine_code(ACC_SPIN, 4, 0xf0f, 128).unclear);
    expect_passes(atomic_of_machine_code(ACC_SPIN, 4, full, 8), 2, 2);
}

static void shared_by_hand(void **state)
{
    const uint32_t full = UINT32_MAX;
    (void)state;
    expect_passes(shared(ACC_LOAD, 4, full, 4), 1, 1);
    expect_passes(shared(ACC_LOAD, 4, full, 128), 32, 1); /* a column of a 32 x 32 tile */
    expect_passes(shared(ACC_LOAD, 4, full, 132), 1, 1);  /* padded */
    expect_passes(shared(ACC_LOAD, 4, full, 8), 2, 1);
    expect_passes(shared(ACC_LOAD, 4, full, 24), 2, 1);
    expect_passes(shared(ACC_LOAD, 4, 0xffff, 8), 1, 1);
    expect_passes(shared(ACC_LOAD, 4, full, 0), 1, 1);
    expect_passes(shared(ACC_STORE, 4, full, 0), 1, 1);
    expect_passes(shared(ACC_ATOMIC, 4, full, 0), 32, 1); /* atomics do not share */
    expect_passes(shared(ACC_REDUCTION, 4, full, 4), 1, 1);
    expect_passes(shared(ACC_LOAD, 1, full, 1), 1, 1);
    expect_passes(shared(ACC_LOAD, 2, full, 128), 32, 1);
    expect_passes(shared(ACC_LOAD, 8, full, 8), 2, 2);
    expect_passes(shared(ACC_LOAD, 8, full, 0), 1, 1);
    expect_passes(shared(ACC_STORE, 8, full, 0), 2, 2);
    expect_passes(shared(ACC_LOAD, 8, full, 16), 4, 2);
    expect_passes(shared(ACC_LOAD, 8, full, 128), 32, 2);
    expect_passes(shared(ACC_LOAD, 8, 0x55555555, 8), 2,
                  1); /* no lane has a partner: one group, 16 doubles apart */
    expect_passes(shared(ACC_LOAD, 16, full, 16), 4, 4);
    expect_passes(shared(ACC_LOAD, 16, full, 0), 2, 2);
    expect_passes(shared(ACC_STORE, 16, full, 0), 4, 4);
    expect_passes(shared(ACC_LOAD, 16, full, 144), 4, 4);
    expect_passes(shared(ACC_LOAD, 16, full, 128), 32, 4);
    expect_passes(shared(ACC_STORE, 4096, 1, 0), 32, 32); /* a bulk copy */
}

static void local_by_hand(void **state)
{
    const uint32_t full = UINT32_MAX;
    (void)state;
    expect_sectors(cost_of(ACC_LOCAL, ACC_LOAD, 4, full, 24, 0), 4, 4, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(cost_of(ACC_LOCAL, ACC_STORE, 16, full, 16, 0), 16, 16, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(cost_of(ACC_LOCAL, ACC_LOAD, 1, full, 3, 0), 4, 1, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(cost_of(ACC_LOCAL, ACC_LOAD, 4, full, 0, 4), 32, 4,
                   OBS_SHAPE_STRIDED); /* another index a lane */
    expect_sectors(cost_of(ACC_LOCAL, ACC_LOAD, 4, 0x80000001, 8, 0), 2, 1, OBS_SHAPE_CONTIGUOUS);
    expect_sectors(cost_of(ACC_LOCAL, ACC_LOAD, 4, 1, 8, 0), 1, 1, OBS_SHAPE_CONTIGUOUS);
}

/* Lane i adds to word index[i % 4]. */
static uint32_t turns_of(acc_op op, uint32_t mask, const uint32_t index[4])
{
    uint64_t addr[32];
    for (int i = 0; i < 32; i++)
        addr[i] = 4096 + 4 * (uint64_t)index[i % 4];
    acc_request a = {.space = ACC_GLOBAL,
                     .op = op,
                     .bytes = 4,
                     .mask = mask,
                     .addr = addr,
                     .stride = ACC_IRREGULAR};
    return cost_of_request(&a).turns;
}

static void turns_by_hand(void **state)
{
    const uint32_t full = UINT32_MAX, one_word[4] = {3, 3, 3, 3}, one_sector[4] = {0, 3, 3, 7};
    const uint32_t two_sectors[4] = {0, 1, 8, 8}, apart[4] = {0, 100, 200, 300};
    (void)state;
    assert_int_equal(turns_of(ACC_ATOMIC, full, one_word), 32);
    assert_int_equal(turns_of(ACC_REDUCTION, 0x10, one_word), 1);
    assert_int_equal(turns_of(ACC_REDUCTION, full, one_sector), 16); /* word 3; others beside it */
    assert_int_equal(turns_of(ACC_ATOMIC, full, two_sectors), 8 + 16);
    assert_int_equal(turns_of(ACC_ATOMIC, 0xff, two_sectors), 2 + 4);
    assert_int_equal(turns_of(ACC_ATOMIC, full, apart), 4 * 8);
    assert_int_equal(turns_of(ACC_STORE, full, one_word), 0);
    assert_int_equal(turns_of(ACC_ATOMIC, 0x90, apart), 2);
    assert_int_equal(cost_of(ACC_GLOBAL, ACC_ATOMIC, 4, full, 4096, 4).turns, 4);
    assert_int_equal(cost_of(ACC_GLOBAL, ACC_ATOMIC, 8, full, 4096, 0).turns, 32);
    assert_int_equal(cost_of(ACC_GLOBAL, ACC_ATOMIC, 8, full, 4096, 128).turns, 32);
    assert_int_equal(cost_of(ACC_SHARED, ACC_ATOMIC, 4, full, 0, 0).turns, 0);
}

/* Lanes that meet at an mbarrier wait for each other, not for a bank. */
static void barriers_by_hand(void **state)
{
    (void)state;
    static uint64_t same[32], apart[32];
    for (int i = 0; i < 32; i++) {
        same[i] = 64;
        apart[i] = 64 + 8 * (uint64_t)(i % 3);
    }
    for (int plain = 0; plain < 2; plain++) {
        acc_request a = {.space = ACC_SHARED,
                         .op = ACC_ATOMIC,
                         .bytes = 8,
                         .mask = UINT32_MAX,
                         .flags = plain ? 0 : ACC_BARRIER,
                         .addr = same,
                         .stride = 0};
        expect_passes(cost_of_request(&a), plain ? 32 : 2, 2);
        a.addr = apart;
        a.stride = ACC_IRREGULAR;
        expect_passes(cost_of_request(&a), plain ? 12 : 2, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_as_counted),
        cmocka_unit_test(global_by_hand),
        cmocka_unit_test(boxes_are_one_request),
        cmocka_unit_test(shared_by_hand),
        cmocka_unit_test(atomics_of_machine_code_by_hand),
        cmocka_unit_test(local_by_hand),
        cmocka_unit_test(barriers_by_hand),
        cmocka_unit_test(turns_by_hand),
        cmocka_unit_test(vectors_count_where_they_can),
        cmocka_unit_test(random_requests_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
