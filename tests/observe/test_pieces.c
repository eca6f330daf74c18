/* Pieces of rows, of which warps of narrow blocks have several in a request: cases by hand, and the
 * definition of observe/cost.h taken literally. */
#include "patterns.h"
#include "support/drive.h"
#include "support/test.h"

#include "observe/cost.h"

#include <stdlib.h>

enum { LANES = 32, BASE = 1 << 20 };

/* Lane l takes element l % width of row l / width; rows begin `pitch` bytes apart. */
static acc_request rows_of(uint64_t *addr, uint32_t width, int64_t pitch, uint32_t bytes)
{
    for (uint32_t i = 0; i < LANES; i++)
        addr[i] = (uint64_t)(BASE + (int64_t)(i / width) * pitch + (i % width) * bytes);
    return (acc_request){
        .bytes = bytes, .mask = UINT32_MAX, .addr = addr, .stride = ACC_IRREGULAR, .object = 1};
}

static bool is_pieces(uint32_t width, int64_t pitch, uint32_t bytes)
{
    uint64_t addr[LANES];
    acc_request a = rows_of(addr, width, pitch, bytes);
    return obs_is_pieces(&a, width);
}

static void rows_that_lie_apart(void **state)
{
    (void)state;
    assert_true(is_pieces(8, 256, 4));
    assert_true(is_pieces(8, -256, 4));
    assert_true(is_pieces(16, 4096, 8));
    assert_true(is_pieces(2, 12, 4));
    assert_true(is_pieces(8, 36, 4));
    assert_true(is_pieces(8, -32, 4)); /* each row before the last one */
    assert_false(is_pieces(8, 32, 4)); /* one row after the other, without a gap */
    assert_false(is_pieces(8, 28, 4)); /* windows that overlap */
    assert_false(is_pieces(8, -28, 4));
    assert_false(is_pieces(8, 0, 4)); /* the same row for all */
}

static void lanes_that_run_along_rows(void **state)
{
    (void)state;
    uint64_t addr[LANES];
    acc_request a = rows_of(addr, 8, 256, 4);
    addr[13] += 4;
    assert_false(obs_is_pieces(&a, 8));
    a.mask &= ~(1u << 13); /* who does not take part does not count */
    assert_true(obs_is_pieces(&a, 8));
    addr[31] -= 4;
    assert_false(obs_is_pieces(&a, 8));
    a = rows_of(addr, 8, 256, 4);
    assert_false(obs_is_pieces(&a, 16)); /* two rows where the block has one */
    assert_true(obs_is_pieces(&a, 4));   /* half rows, of which every second one goes on */
    a.mask = 0xff00;
    assert_false(obs_is_pieces(&a, 8)); /* a single row */
    a.mask = 0x0100ff00;
    assert_true(obs_is_pieces(&a, 8));
}

/* ---- the definition ---- */

static uint64_t begin_of_row(const acc_request *a, uint32_t width, uint32_t row)
{
    for (uint32_t i = row * width; i < (row + 1) * width; i++)
        if (a->mask >> i & 1)
            return a->addr[i] - (uint64_t)(i - row * width) * a->bytes;
    return UINT64_MAX;
}

static bool rows_are_whole(const acc_request *a, uint32_t width)
{
    for (uint32_t i = 0; i < LANES; i++)
        for (uint32_t k = i; k < LANES && k / width == i / width; k++)
            if ((a->mask >> i & a->mask >> k & 1) &&
                a->addr[k] - a->addr[i] != (uint64_t)(k - i) * a->bytes)
                return false;
    return true;
}

static bool defined_as_pieces(const acc_request *a, uint32_t width)
{
    uint64_t before = UINT64_MAX, length = (uint64_t)width * a->bytes;
    bool apart = false;
    for (uint32_t row = 0; row < LANES / width; row++) {
        uint64_t begin = begin_of_row(a, width, row);
        if (begin == UINT64_MAX)
            continue;
        uint64_t between = begin > before ? begin - before : before - begin;
        if (before != UINT64_MAX && between < length)
            return false;
        apart |= before != UINT64_MAX && begin != before + length;
        before = begin;
    }
    return apart && rows_are_whole(a, width);
}

static void as_defined(void **state)
{
    (void)state;
    pattern_rng rng = {5};
    uint32_t found = 0;
    for (uint32_t n = 0; n < 20000; n++) {
        uint64_t addr[LANES];
        uint32_t width = 2u << pattern_below(&rng, 4), bytes = 4u << pattern_below(&rng, 3);
        int64_t pitch = (int64_t)pattern_below(&rng, 8 * width) * bytes - 4 * width * bytes;
        acc_request a = rows_of(addr, width, pitch, bytes);
        if (pattern_below(&rng, 2))
            a.mask = pattern_below(&rng, UINT32_MAX) | 1;
        if (pattern_below(&rng, 3) == 0)
            addr[pattern_below(&rng, LANES)] += 4;
        assert_int_equal(obs_is_pieces(&a, width), defined_as_pieces(&a, width));
        found += obs_is_pieces(&a, width);
    }
    assert_in_range(found, 4000, 16000);
}

/* ---- of a launch ---- */

/* The flags of an instruction with so many requests that are pieces, and others. */
static uint32_t flags_of(uint32_t width, uint32_t pieces, uint32_t others)
{
    const obs_config config = {.ncode = 1, .grid = {1, 1, 1}, .block = {width, 64, 1}};
    wl_arena *arena = wl_arena_new();
    obs_launch *launch;
    obs_summary s;
    uint64_t addr[LANES];
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    for (uint32_t i = 0; i < pieces + others; i++) {
        drive worker = drive_begin(launch, i % 3);
        obs_block *block = drive_block(&worker, i);
        acc_request a = rows_of(addr, width == 8 ? 8 : 16, i < pieces ? 256 : 4, 4);
        obs_record(block, &a);
        drive_end(&worker, block, 0);
    }
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.ninsns, 1);
    assert_int_equal(s.insns[0].irregular, pieces + others);
    uint32_t flags = s.insns[0].flags;
    obs_launch_free(launch);
    wl_arena_free(arena);
    return flags;
}

static void most_requests_decide(void **state)
{
    (void)state;
    assert_int_equal(flags_of(8, 8, 0), OBS_PIECES);
    assert_int_equal(flags_of(8, 8, 7), OBS_PIECES);
    assert_int_equal(flags_of(8, 8, 8), 0);
    assert_int_equal(flags_of(8, 0, 8), 0);
    assert_int_equal(flags_of(16, 8, 0), OBS_PIECES);
    assert_int_equal(flags_of(32, 8, 0), 0); /* the block is no narrower than a warp */
    assert_int_equal(flags_of(12, 8, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_lie_apart),
        cmocka_unit_test(lanes_that_run_along_rows),
        cmocka_unit_test(as_defined),
        cmocka_unit_test(most_requests_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
