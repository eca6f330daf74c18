/* Warps compared: kernels written by hand, with what is told of each warp. */
#include "support/arena.h"
#include "support/random.h"
#include "support/test.h"
#include "walks.h"

#include "analysis/explore/words.h"

#include <string.h>

static const uint32_t all = UINT32_MAX, none = UINT32_MAX;

static walk_kernel kernel;
static prof_warp warps[4096];
static uint32_t nwarps;

static void add_warp(const walk_steps *s, uint64_t block, uint32_t number, int64_t begin)
{
    warps[nwarps++] = walk_warp(s, block, number, begin);
}

static ana_explore compare_warps(void)
{
    ana_explore e = {.warps = {nwarps, warps}};
    assert_true(explore_of_warps(&kernel.facts, arena, &e));
    return e;
}

static void expect_cluster(const ana_explore *e, uint32_t i, const char *which, const char *why)
{
    assert_true(i < e->nclusters);
    assert_string_equal(e->clusters[i].which, which);
    assert_string_equal(e->clusters[i].why, why);
}

/* ---- paths ---- */

/* Block 0 of 3 instructions, of which the second loads; block 3 of 2. */
static void begin_two_blocks(uint32_t blocks, uint32_t threads)
{
    nwarps = 0;
    walk_begin(&kernel, blocks, threads);
    walk_block(&kernel, 3, none);
    walk_block(&kernel, 2, none);
    walk_insn(&kernel, 1, 1, 4);
    walk_insn(&kernel, 4, 2, 4);
    walk_end(&kernel, arena);
}

static void paths_have_operations(void **state)
{
    (void)state;
    explore_path path = {0};
    walk_steps s;
    begin_two_blocks(1, 32);
    walk_steps_begin(&s, arena);
    walk_enter(&s, 0, all);
    walk_access(&s, 1, all, 1, 0, 4);
    walk_enter(&s, 3, 0xff);
    walk_access(&s, 4, 0xf, 2, 0, 128); /* a predicate keeps four lanes from it; one bank */
    walk_barrier(&s, 4);
    walk_steps_end(&s);
    prof_warp w = walk_warp(&s, 0, 0, 16);
    assert_true(explore_path_of(&kernel.facts, &w, &path));
    const ana_warp_counts *c = &path.counts;
    assert_true(c->entries == 2 && c->operations == 5 && c->lanes == 3 * 32 + 2 * 8);
    assert_true(c->requests == 2 && c->sectors == 5 &&
                c->barriers == 1); /* 128 bytes from byte 16 */
    assert_true(c->wavefronts == 4 && c->wavefronts_extra == 3);
    assert_true(path.length == 2 && path.visits.data[1].nrequests == 1);
    assert_int_equal(path.requests.data[1].mask, 0xf);
    explore_path_free(&path);
}

/* Without entries each request is by itself; what falls into two objects is one. */
static void steps_without_entries(void **state)
{
    (void)state;
    explore_path path = {0};
    walk_steps s;
    begin_two_blocks(1, 32);
    walk_steps_begin(&s, arena);
    walk_access(&s, 1, 0xffff, 1, 0, 4);
    walk_access(&s, 1, 0xffff0000, 2, 0, 4);
    walk_access(&s, 1, all, 1, 0, 4);
    walk_barrier(&s, 2);
    walk_steps_end(&s);
    prof_warp w = walk_warp(&s, 0, 0, 0);
    assert_true(explore_path_of(&kernel.facts, &w, &path));
    assert_true(path.counts.entries == 0 && path.counts.requests == 2);
    assert_true(path.length == 3 && path.counts.operations == 3);
    const explore_cursor first = explore_cursor_at(&path, 0);
    assert_int_equal(explore_visit_after(&first, 0)->mask, all);
    explore_path_free(&path);
}

/* An entry within a block that the table has whole. */
static void blocks_that_begin_within_others(void **state)
{
    (void)state;
    explore_path path = {0};
    walk_steps s;
    begin_two_blocks(1, 32);
    walk_steps_begin(&s, arena);
    walk_enter(&s, 0, all);
    walk_enter(&s, 2, all);
    walk_steps_end(&s);
    prof_warp w = walk_warp(&s, 0, 0, 0);
    assert_true(explore_path_of(&kernel.facts, &w, &path));
    assert_true(path.counts.operations == 3 && path.counts.lanes == 3 * 32);
    explore_path_free(&path);
}

/* By a shorter way than that of transactions.h, which all architectures share. */
static void requests_are_those_of_transactions(void **state)
{
    (void)state;
    uint64_t seed = 3, addr[ACC_LANES];
    ana_served served = {0};
    explore_path path = {0};
    for (int round = 0; round < 2000; round++) {
        uint32_t bytes = 1u << random_below(&seed, 5), mask = (uint32_t)random_next(&seed) | 1;
        int64_t stride = (int64_t)random_below(&seed, 9) * 4 - 16;
        acc_request r = {
            .op = ACC_LOAD, .space = ACC_GLOBAL, .bytes = bytes, .mask = mask, .addr = addr};
        walk_steps s;
        begin_two_blocks(1, 32);
        kernel.insns[0].c.bytes = bytes;
        walk_steps_begin(&s, arena);
        walk_access(&s, 1, mask, 1, 4096, stride);
        walk_steps_end(&s);
        prof_warp w = walk_warp(&s, 0, 0, 0);
        assert_true(explore_path_of(&kernel.facts, &w, &path));
        for (int lane = 0; lane < ACC_LANES; lane++)
            addr[lane] = (uint64_t)(0x100000 + 4096 + lane * stride);
        assert_true(ana_serve(kernel.facts.arch, &r, &served));
        assert_int_equal(path.requests.data[0].nsizes, served.transactions.count);
    }
    explore_path_free(&path);
    ana_served_free(&served);
}

/* ---- kinds ---- */

static void kinds_begin_alike(void **state)
{
    (void)state;
    walk_steps s;
    begin_two_blocks(4, 64);
    walk_steps_begin(&s, arena);
    walk_enter(&s, 0, all);
    walk_access(&s, 1, all, 1, 0, 4);
    walk_steps_end(&s);
    for (uint32_t block = 0; block < 4; block++)
        for (uint32_t number = 0; number < 2; number++)
            add_warp(&s, block, number, number ? 128 * block + 4 : 128 * block);
    ana_explore e = compare_warps();
    assert_true(e.nkinds == 2 && e.nsequences == 1 && e.blocks_known == 4 && e.paths);
    assert_true(e.kinds[0].warps == 4 && e.kinds[0].counts.sectors == 4);
    assert_true(e.kinds[1].warps == 4 && e.kinds[1].counts.sectors == 5);
    assert_true(e.representative.block == 0);
    assert_within(e.kinds[1].difference, 32 / 1024.0 / 3, 1e-12); /* one operation of three */
    assert_int_equal(e.nclusters, 1);                             /* hardly different */
}

/* ---- reasons ---- */

/* Block 0 of two, the loop's header at 2 of three and body at 5 of four, the branch at 9 of five, the
 * way out at 14 of one. */
static void begin_loop(uint32_t blocks, uint32_t threads)
{
    nwarps = 0;
    walk_begin(&kernel, blocks, threads);
    walk_block(&kernel, 2, none);
    walk_block(&kernel, 3, 2);
    walk_block(&kernel, 4, 2);
    walk_block(&kernel, 5, none);
    walk_block(&kernel, 1, none);
    walk_loop(&kernel, 2, none);
    walk_insn(&kernel, 6, 1, 4);
    walk_insn(&kernel, 10, 2, 4);
    walk_end(&kernel, arena);
}

/* Rounds of the loop, whose header tests first; then the branch, as often as `branch` says. */
static void loop_steps(walk_steps *s, uint32_t rounds, uint32_t branch, uint32_t lanes,
                       int64_t stride, int64_t shared_stride)
{
    walk_steps_begin(s, arena);
    walk_enter(s, 0, all);
    for (uint32_t i = 0; i < rounds; i++) {
        walk_enter(s, 2, all);
        walk_enter(s, 5, lanes);
        walk_access(s, 6, lanes, 1, 4096 * i, stride);
    }
    walk_enter(s, 2, all);
    for (uint32_t i = 0; i < branch; i++) {
        walk_enter(s, 9, all);
        walk_access(s, 10, all, 2, 0, shared_stride);
    }
    walk_enter(s, 14, all);
    walk_steps_end(s);
}

static void leaves_the_loop_early(void **state)
{
    (void)state;
    walk_steps eight, three;
    begin_loop(4, 512);
    loop_steps(&eight, 8, 1, all, 4, 4);
    loop_steps(&three, 3, 1, all, 4, 4);
    for (uint32_t block = 0; block < 4; block++)
        for (uint32_t number = 0; number < 16; number++)
            add_warp(number < 12 ? &eight : &three, block, number, 0);
    ana_explore e = compare_warps();
    assert_int_equal(e.nclusters, 2);
    expect_cluster(&e, 0, "warps 0 to 11 of every block", "");
    expect_cluster(&e, 1, "warps 12 to 15 of every block",
                   "leave the loop at walk.cu:108 after 3 of 8 rounds");
    /* 2 + 8 * 7 + 3 + 5 + 1 operations, of which 5 * 7 are alone. */
    assert_within(e.clusters[1].difference, 35 / 67.0, 1e-12);
    assert_true(e.clusters[1].place.block == 0 && e.clusters[1].place.warp == 12);
    assert_true(e.clusters[1].than.block == 0 && e.clusters[1].than.warp == 0);
    assert_true(e.clusters[1].warps == 16 && e.clusters[1].line == 108);
    assert_true(e.clusters[1].least_operations == 32 && e.clusters[0].most_operations == 67);
}

/* One warp of one block, of a grid of two dimensions. */
static void told_of_one(const walk_steps *usual, const walk_steps *other, const char *why)
{
    for (uint32_t block = 0; block < 6; block++)
        for (uint32_t number = 0; number < 2; number++)
            add_warp(block == 5 && number == 1 ? other : usual, block, number, 0);
    kernel.facts.grid[0] = 3;
    kernel.facts.grid[1] = 2;
    ana_explore e = compare_warps();
    assert_int_equal(e.nclusters, 2);
    expect_cluster(&e, 1, "warp 1 of block (2, 1)", why);
    assert_true(e.clusters[1].than.block == 0 && e.clusters[1].than.warp == 1);
}

static void other_reasons(void **state)
{
    (void)state;
    static const struct {
        uint32_t rounds[2], branch[2], lanes[2];
        int64_t stride[2], shared[2];
        const char *why;
    } cases[] = {
        {{4, 4}, {1, 0}, {~0u, ~0u}, {4, 4}, {4, 4}, "does not enter the branch at walk.cu:109"},
        {{4, 4}, {0, 1}, {~0u, ~0u}, {4, 4}, {4, 4}, "enters the branch at walk.cu:109"},
        {{4, 4},
         {4, 2},
         {~0u, ~0u},
         {4, 4},
         {4, 4},
         "enters the branch at walk.cu:109 2 times, not 4"},
        {{4, 9},
         {1, 1},
         {~0u, ~0u},
         {4, 4},
         {4, 4},
         "makes 9 rounds of the loop at walk.cu:108, not 4"},
        {{4, 0}, {1, 1}, {~0u, ~0u}, {4, 4}, {4, 4}, "does not enter the loop at walk.cu:108"},
        {{0, 4},
         {1, 1},
         {~0u, ~0u},
         {4, 4},
         {4, 4},
         "enters the loop at walk.cu:108, for 4 rounds"},
        {{4, 4},
         {1, 1},
         {~0u, 0xff},
         {0, 0},
         {4, 4},
         "has 8 of 32 lanes active at walk.cu:105, not 32"},
        {{4, 4},
         {1, 1},
         {0xff00, 0xff},
         {0, 0},
         {4, 4},
         "has other lanes active at walk.cu:105, though as many"},
        {{4, 4},
         {1, 1},
         {~0u, ~0u},
         {4, 32},
         {4, 4},
         "moves 32 sectors a request at walk.cu:106 (data), not 4"},
        {{4, 4},
         {1, 1},
         {~0u, ~0u},
         {4, 4},
         {4, 128},
         "takes 32 wavefronts a request at walk.cu:110 (tile), not 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        walk_steps s[2];
        begin_loop(6, 64);
        for (int k = 0; k < 2; k++)
            loop_steps(&s[k], cases[i].rounds[k], cases[i].branch[k], cases[i].lanes[k],
                       cases[i].stride[k], cases[i].shared[k]);
        told_of_one(&s[0], &s[1], cases[i].why);
    }
}

/* A loop of 16 rounds with 8 lanes from `lane` on, in the last `more` rounds with 9. */
static void loop_of_lanes(walk_steps *s, uint32_t lane, uint32_t more)
{
    enum { ROUNDS = 16 };
    walk_steps_begin(s, arena);
    walk_enter(s, 0, all);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        walk_enter(s, 2, all);
        walk_enter(s, 5, (i + more < ROUNDS ? 0xffu : 0x1ffu) << lane);
    }
    walk_enter(s, 2, all);
    walk_enter(s, 14, all);
    walk_steps_end(s);
}

/* 8.0625 and 8.125 are both told as 8.1, 8.25 is told as another number. */
static void tells_no_number_twice(void **state)
{
    (void)state;
    walk_steps usual, other;
    begin_loop(6, 64);
    loop_of_lanes(&usual, 0, 1);
    loop_of_lanes(&other, 16, 2);
    told_of_one(&usual, &other, "has other lanes active at walk.cu:105, though as many");
    begin_loop(6, 64);
    loop_of_lanes(&usual, 0, 1);
    loop_of_lanes(&other, 16, 4);
    told_of_one(&usual, &other, "has 8.2 of 32 lanes active at walk.cu:105, not 8.1");
}

/* It goes to the way out at once. */
static void ends_early(void **state)
{
    (void)state;
    walk_steps usual, other;
    begin_loop(6, 64);
    loop_steps(&usual, 1, 1, all, 4, 4);
    kernel.facts.loops.count = 0; /* straight code */
    walk_end(&kernel, arena);
    walk_steps_begin(&other, arena);
    walk_enter(&other, 0, all);
    walk_enter(&other, 14, all);
    walk_steps_end(&other);
    told_of_one(&usual, &other, "ends early, at walk.cu:102");
}

/* ---- against a reference ---- */

/* Operation by operation, from the runs. */
static double mean_difference(const explore_path *a, const explore_path *b,
                              const explore_runs *runs)
{
    double sum = 0, count = 0;
    for (size_t r = 0; r < runs->count; r++) {
        const explore_run *run = &runs->data[r];
        for (uint32_t i = 0; i < run->na + run->nb - (run->na && run->nb ? run->nb : 0); i++) {
            const explore_visit *x = run->na ? walk_visit(a, run->a + i) : NULL;
            const explore_visit *y = run->nb ? walk_visit(b, run->b + i) : NULL;
            const explore_visit *v = x ? x : y;
            for (uint32_t pc = v->pc; pc < v->pc + v->ninsns; pc++, count++) {
                if (!x || !y) {
                    sum++;
                    continue;
                }
                bool either = walk_request(a, x, pc) || walk_request(b, y, pc);
                explore_operation m = walk_operation(a, x, pc, either),
                                  n = walk_operation(b, y, pc, either);
                explore_difference d = explore_difference_of(&m, &n, EXPLORE_EXCLUSIVE);
                sum += fmin(1, d.ins + d.thrd / 32 + d.glob / 1024 + d.conf / 8);
            }
        }
    }
    return count > 0 ? sum / count : 0;
}

static uint32_t draw_lanes(uint64_t *seed)
{
    return random_below(seed, 3) ? all : (uint32_t)random_next(seed) | 1;
}

typedef struct random_visit {
    uint32_t block, lanes, others; /* others: of the access */
    int64_t stride;
    bool asks;
} random_visit;

static random_visit draw_visit(uint64_t *seed)
{
    static const uint32_t blocks[] = {0, 2, 5, 9, 14};
    random_visit v = {.block = blocks[random_below(seed, 5)], .lanes = draw_lanes(seed)};
    v.others = v.lanes & draw_lanes(seed);
    v.asks = v.block == 9 || (v.block == 5 && random_below(seed, 4));
    v.stride = 4 * (int64_t)random_below(seed, v.block == 9 ? 33 : 9);
    return v;
}

static void add_visit(walk_steps *s, const random_visit *v)
{
    walk_enter(s, v->block, v->lanes);
    if (v->asks && v->block == 9)
        walk_access(s, 10, v->lanes, 2, 0, v->stride);
    else if (v->asks)
        walk_access(s, 6, v->others, 1, 0, v->stride);
}

/* Some of it comes again and again: rounds of up to four visits, of which one may be another now and then. */
static void random_steps(walk_steps *s, uint64_t *seed)
{
    walk_steps_begin(s, arena);
    for (uint32_t i = 0, n = (uint32_t)random_below(seed, 60); i < n; i++) {
        random_visit round[4];
        uint32_t length = 1 + (uint32_t)random_below(seed, 4),
                 times = random_below(seed, 8) ? 1 : 1 + (uint32_t)random_below(seed, 40);
        for (uint32_t k = 0; k < length; k++)
            round[k] = draw_visit(seed);
        for (uint32_t k = 0; k < length * times; k++) {
            random_visit other = draw_visit(seed);
            add_visit(s, random_below(seed, 60) ? &round[k % length] : &other);
        }
    }
    walk_steps_end(s);
}

/* The visits are those of the steps, one after the other, and the counts their sums. */
static void expect_visits(const prof_warp *warp, const explore_path *p)
{
    wl_unfolding steps = {.pages = warp->pages, .npages = warp->npages};
    ana_warp_counts sum = {0};
    const explore_visit *v = NULL;
    uint32_t requests = 0;
    for (wl_step step; wl_unfolding_step(&steps, &step);) {
        if (step.slot != WL_STEP_ENTRY) {
            assert_int_equal(p->requests.data[v->first + requests].pc, step.pc);
            assert_int_equal(p->requests.data[v->first + requests++].mask, step.mask);
            continue;
        }
        assert_true(!v || v->nrequests == requests);
        v = walk_visit(p, (uint32_t)sum.entries++);
        assert_true(v->pc == step.pc && v->mask == step.mask);
        sum.operations += v->ninsns;
        for (requests = 0; requests < v->nrequests; requests++, sum.requests++) {
            const explore_request *r = &p->requests.data[v->first + requests];
            sum.wavefronts += r->passes;
            sum.sectors += r->nsizes;
        }
        requests = 0;
    }
    assert_false(steps.failed);
    wl_unfolding_free(&steps);
    assert_int_equal(p->length, sum.entries);
    assert_true(p->counts.entries == sum.entries && p->counts.operations == sum.operations);
    assert_true(p->counts.requests == sum.requests && p->counts.sectors == sum.sectors);
    assert_int_equal(p->counts.wavefronts, sum.wavefronts);
}

/* The runs of a diff of all visits, unfolded. */
static void expect_runs_of_all(const explore_path *a, const explore_path *b,
                               const explore_runs *runs)
{
    explore_runs wanted = {0};
    uint32_t *keys[2];
    const explore_path *paths[] = {a, b};
    for (int k = 0; k < 2; k++) {
        keys[k] = wl_new_array(arena, uint32_t, paths[k]->length + 1);
        for (uint32_t i = 0; i < paths[k]->length; i++)
            keys[k][i] = walk_visit(paths[k], i)->pc;
    }
    assert_true(explore_align(keys[0], a->length, keys[1], b->length, 256, &wanted));
    assert_int_equal(runs->count, wanted.count);
    if (wanted.count)
        assert_memory_equal(runs->data, wanted.data, wanted.count * sizeof *wanted.data);
    wl_vec_free(&wanted);
}

static void random_warps_differ_as_their_operations(void **state)
{
    (void)state;
    uint64_t seed = 17;
    explore_path paths[2];
    memset(paths, 0, sizeof paths);
    explore_comparer comparer = {.facts = &kernel.facts};
    for (int round = 0; round < 400; round++) {
        begin_loop(1, 64);
        for (int k = 0; k < 2; k++) {
            walk_steps s;
            random_steps(&s, &seed);
            prof_warp w = walk_warp(&s, 0, 0, 0);
            assert_true(explore_path_of(&kernel.facts, &w, &paths[k]));
            expect_visits(&w, &paths[k]);
        }
        explore_comparison c;
        assert_true(explore_compare(&comparer, &paths[0], &paths[1], 256, &c));
        expect_runs_of_all(&paths[0], &paths[1], &comparer.runs);
        assert_within(c.difference, mean_difference(&paths[0], &paths[1], &comparer.runs), 1e-12);
        assert_true((c.difference > 0) == (c.nreasons > 0));
        assert_true((c.difference > 0) == (paths[0].like != paths[1].like));
        assert_true(explore_compare(&comparer, &paths[0], &paths[0], 256, &c));
        assert_true(c.difference == 0 && c.nreasons == 0);
    }
    explore_path_free(&paths[0]);
    explore_path_free(&paths[1]);
    explore_comparer_free(&comparer);
}

/* Rows of a triangle: each warp makes other rounds. They are told together. */
static void triangles_are_told_in_one(void **state)
{
    (void)state;
    begin_loop(8, 64);
    for (uint32_t block = 0; block < 8; block++)
        for (uint32_t number = 0; number < 2; number++) {
            walk_steps s;
            loop_steps(&s, 1 + 2 * block + number, 1, all, 4, 4);
            add_warp(&s, block, number, 0);
        }
    ana_explore e = compare_warps();
    assert_true(e.nclusters == 3 && !e.cut);
    expect_cluster(&e, 0, "warp 1 of block 4", ""); /* in the middle */
    expect_cluster(&e, 1, "9 warps of blocks 0 to 4",
                   "leave the loop at walk.cu:108 after 1 to 9 of 9 to 10 rounds");
    expect_cluster(&e, 2, "all warps of blocks 5 to 7",
                   "make 11 to 16 rounds of the loop at walk.cu:108, not 9 to 10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_have_operations),
        cmocka_unit_test(steps_without_entries),
        cmocka_unit_test(blocks_that_begin_within_others),
        cmocka_unit_test(requests_are_those_of_transactions),
        cmocka_unit_test(kinds_begin_alike),
        cmocka_unit_test(leaves_the_loop_early),
        cmocka_unit_test(other_reasons),
        cmocka_unit_test(tells_no_number_twice),
        cmocka_unit_test(ends_early),
        cmocka_unit_test(triangles_are_told_in_one),
        cmocka_unit_test(random_warps_differ_as_their_operations),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
