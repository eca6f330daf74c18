/* The probe path: steps, hashes and counts by hand, and that paths are told apart. */
#include "paths.h"

#include "rewrite/path/lanes.h"
#include "support/test.h"

#include <stdlib.h>

/* k(in): lane l runs a loop of two instructions in[l] times, with another in each turn where the
 * condition holds. */
#define LOOP(condition)                                              \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                  \
           ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n" \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"         \
           "mad.wide.u32 %d2, %r1, 4, %d1;\n"                        \
           "ld.global.u32 %r2, [%d2];\nmov.u32 %r3, 0;\n"            \
           "TOP:\n" condition "add.u32 %r3, %r3, 1;\n"               \
           "setp.lt.u32 %p1, %r3, %r2;\n@%p1 bra TOP;\n"             \
           "st.global.u32 [%d2], %r3;\nret;\n}\n"
#define IF \
    "and.b32 %r4, %r3, 1;\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra ON;\nadd.u32 %r5, %r3, 7;\nON:\n"

enum { WORDS = 512 };

typedef struct small {
    probed p;
    const rewrite_kernel *k;
    shape s;
    shot shot;
    left left;
} small;

/* Blocks of 48 threads: the last warp has 16. */
static void begin_with(small *c, const char *ptx, uint64_t path_bytes, uint32_t (*word)(uint32_t i))
{
    memset(c, 0, sizeof *c);
    probed_begin(&c->p, ptx, 1u << REWRITE_PATH, false);
    c->k = &c->p.result.kernels[0];
    uint32_t *data = fixture_alloc(&c->p.f, 4 * WORDS);
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = word(i);
    c->s = (shape){.grid = {2, 1, 1},
                   .block = {48, 1, 1},
                   .nargs = 1,
                   .args = {P(data)},
                   .data = data,
                   .bytes = 4 * WORDS};
    rewrite_setup setup = {.path_bytes = path_bytes};
    shoot_probed(&c->p, "k", &c->s, false, &setup, NULL, 0, &c->shot, &c->left);
}

static void small_end(small *c)
{
    shot_end(&c->shot);
    left_end(&c->left);
    probed_end(&c->p);
}

static uint32_t two_at_4_and_9(uint32_t i)
{
    return i == 4 || i == 9 ? 2 : 7;
}

static uint32_t up_to_four(uint32_t i)
{
    return 1 + i % 4;
}

/* As docs/probes.md says it. */
static uint64_t mixed(uint32_t lane, uint32_t hash, uint32_t count)
{
    uint32_t a = (hash + lane * 0x9e3779b1u), b;
    a = (a ^ a >> 15) * 0x85ebca6bu;
    b = count + a;
    b = (b ^ b >> 13) * 0xc2b2ae35u;
    a += b;
    a = (a ^ a >> 16) * 0x27d4eb2fu;
    b += a;
    b ^= b >> 14;
    return a | (uint64_t)b << 32;
}

static void assert_step(const rewrite_path_step *s, rewrite_path_kind kind, uint32_t pc,
                        uint32_t add)
{
    assert_int_equal(s->kind, kind);
    assert_int_equal(s->pc, pc);
    assert_int_equal(s->add, add);
}

static void assert_path(const small *c, uint64_t warp, uint64_t hash, uint64_t most, uint64_t sum)
{
    rewrite_warp_path path;
    assert_true(rewrite_read_path(&c->left.copy, warp, &path));
    assert_int_equal(path.hash, hash);
    assert_int_equal(path.instructions, most);
    assert_int_equal(path.lane_instructions, sum);
}

static void lanes_that_go_another_way_have_another_hash(void **state)
{
    (void)state;
    small c;
    uint64_t first = 0, last = 0;
    begin_with(&c, SMALL, UINT64_MAX, two_at_4_and_9);
    assert_int_equal(c.k->path.nsteps, 2);
    assert_int_equal(c.k->path.nloops, 0);
    assert_step(&c.k->path.steps[0], REWRITE_PATH_COUNT, 0, 8);
    assert_step(&c.k->path.steps[1], REWRITE_PATH_POINT, 6, 3);
    for (uint32_t lane = 0; lane < 32; lane++) {
        bool went = lane == 4 || lane == 9; /* hash 0 * factor + 11 */
        first ^= mixed(lane, went ? 11 : 0, went ? 11 : 8);
        last ^= lane < 16 ? mixed(lane, 0, 8) : 0;
    }
    assert_int_equal(rewrite_npaths(&c.left.copy), 4);
    for (uint64_t block = 0; block < 2; block++) {
        assert_path(&c, 2 * block, first, 11, 30 * 8 + 2 * 11);
        assert_path(&c, 2 * block + 1, last, 8, 16 * 8);
    }
    small_end(&c);
}

static void turns_of_a_loop_are_counted_and_folded_after_it(void **state)
{
    (void)state;
    small c;
    uint64_t hash = 0;
    begin_with(&c, LOOP(""), UINT64_MAX, up_to_four);
    assert_int_equal(c.k->path.nsteps, 3);
    assert_int_equal(c.k->path.nloops, 1);
    assert_step(&c.k->path.steps[0], REWRITE_PATH_COUNT, 0, 7);
    assert_step(&c.k->path.steps[1], REWRITE_PATH_TURN, 5, 0);
    assert_step(&c.k->path.steps[2], REWRITE_PATH_FOLD, 8, 3);
    assert_int_equal(c.k->path.steps[2].less, 0);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t count = 7 + 3 * (1 + lane % 4); /* before the fold all have counted the 7 */
        hash ^= mixed(lane, count, count);
    }
    assert_path(&c, 0, hash, 7 + 3 * 4, 32 * 7 + 8 * 3 * (1 + 2 + 3 + 4));
    const char *add = strstr(c.p.result.text, "add.u32 __wl_loop_turns0, __wl_loop_turns0, 1;");
    assert_non_null(add); /* all that an iteration costs */
    assert_null(strstr(add + 1, "add.u32 __wl_loop_turns0"));
    small_end(&c);
}

static void an_if_in_a_loop_is_a_point_in_each_turn(void **state)
{
    (void)state;
    small c;
    begin_with(&c, LOOP(IF), UINT64_MAX, up_to_four);
    assert_int_equal(c.k->path.nloops, 0);
    assert_int_equal(c.k->path.nsteps, 3);
    assert_step(&c.k->path.steps[0], REWRITE_PATH_COUNT, 0, 7);
    assert_step(&c.k->path.steps[1], REWRITE_PATH_POINT, 5, 6);
    assert_step(&c.k->path.steps[2], REWRITE_PATH_POINT, 8, 1);
    small_end(&c);
}

static void without_room_there_are_no_paths(void **state)
{
    (void)state;
    small c;
    rewrite_warp_path path;
    begin_with(&c, SMALL, 4 * sizeof(rewrite_warp_slot) - 1, two_at_4_and_9);
    assert_int_equal(c.left.layout.paths_at, 0);
    assert_int_equal(rewrite_npaths(&c.left.copy), 0);
    assert_false(rewrite_read_path(&c.left.copy, 0, &path));
    assert_int_equal(((uint32_t *)c.shot.data)[100], 7 + 96); /* the kernel did its work */
    small_end(&c);
    const uint32_t threads[] = {48, 1, 1};
    assert_int_equal(rewrite_path_bytes(2, threads), 64);
    assert_int_equal(rewrite_path_bytes(UINT64_C(1) << 31, threads), 0); /* 2^32 warps */
}

static void kernels_whose_paths_are_not_known_whole_are_refused(void **state)
{
    (void)state;
    static const char call[] = HEADER
        ".func f() { ret; }\n.visible .entry k(.param .u64 in)\n{\n"
        ".reg .pred %p;\n.reg .b32 %r;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [in];\n"
        "ld.global.u32 %r, [%d1];\nsetp.eq.u32 %p, %r, 0;\n@%p bra END;\nmov.u64 %d2, f;\n"
        "{ proto: .callprototype _ ();\ncall %d2, (), proto; }\nEND: ret;\n}\n";
    probed p;
    probed_begin(&p, call, 1u << REWRITE_PATH, true);
    assert_int_equal(p.result.kernels[0].probes, 0);
    assert_string_equal(p.result.kernels[0].no_paths,
                        "a function that it may call can carry no probe");
    probed_end(&p);
}

/* ---- paths are told apart ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { TURNS = 16, PATHS = 1 << TURNS };

/* All ways through 16 turns of a loop with an if in it. */
static void all_ways_through_a_loop_have_hashes_of_their_own(void **state)
{
    (void)state;
    small c;
    uint64_t *hashes = calloc(PATHS, sizeof *hashes);
    begin_with(&c, LOOP(IF), UINT64_MAX, up_to_four);
    for (uint32_t way = 0; way < PATHS; way++) {
        rewrite_path_lanes lanes = {0};
        rewrite_path_enter(&c.k->path, &lanes, 0, 1);
        for (uint32_t turn = 0; turn < TURNS; turn++) {
            rewrite_path_enter(&c.k->path, &lanes, 5, 1);
            if (way >> turn & 1)
                rewrite_path_enter(&c.k->path, &lanes, 8, 1);
        }
        hashes[way] = rewrite_path_end(&lanes).hash;
    }
    qsort(hashes, PATHS, sizeof *hashes, by_value);
    for (uint32_t i = 1; i < PATHS; i++)
        assert_true(hashes[i - 1] != hashes[i]);
    free(hashes);
    small_end(&c);
}

/* A warp of which one lane went another way, whichever lane and way that is. */
static void which_lane_went_which_way_tells(void **state)
{
    (void)state;
    static uint64_t hashes[32 * 64];
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t way = 0; way < 64; way++) {
            rewrite_path_lanes lanes = {0};
            for (uint32_t i = 0; i < 32; i++) {
                lanes.hash[i] = 1000;
                lanes.count[i] = 100;
            }
            lanes.hash[lane] += way / 8 + 1;
            lanes.count[lane] += way % 8;
            hashes[lane * 64 + way] = rewrite_path_end(&lanes).hash;
        }
    qsort(hashes, 32 * 64, sizeof *hashes, by_value);
    for (uint32_t i = 1; i < 32 * 64; i++)
        assert_true(hashes[i - 1] != hashes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_go_another_way_have_another_hash),
        cmocka_unit_test(turns_of_a_loop_are_counted_and_folded_after_it),
        cmocka_unit_test(an_if_in_a_loop_is_a_point_in_each_turn),
        cmocka_unit_test(without_room_there_are_no_paths),
        cmocka_unit_test(kernels_whose_paths_are_not_known_whole_are_refused),
        cmocka_unit_test(all_ways_through_a_loop_have_hashes_of_their_own),
        cmocka_unit_test(which_lane_went_which_way_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
