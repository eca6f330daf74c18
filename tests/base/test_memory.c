/* Arenas and growing arrays: sizes at the edges of a chunk, alignment, products that overflow. */
#include "base/arena.h"
#include "base/vec.h"
#include "support/arena.h"
#include "support/test.h"

#include <stdint.h>
#include <string.h>

static bool is_zero(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i])
            return false;
    return true;
}

/* Blocks of every size up to two chunks, one after the other: zeroed, aligned, and none in
 * another's way. */
static void test_blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,     15,    16,    17,    63,    64,    65,
                                   32767, 32768, 32769, 65535, 65536, 65537, 131072};
    enum { SIZES = sizeof sizes / sizeof *sizes, ROUNDS = 3 };
    char *blocks[ROUNDS][SIZES];
    size_t used = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SIZES; i++) {
            char *block = blocks[round][i] = wl_arena_alloc(arena, sizes[i]);
            assert_non_null(block);
            assert_true(is_zero(block, sizes[i]));
            assert_int_equal((uintptr_t)block % (sizes[i] >= 64 ? 64 : 16), 0);
            memset(block, 1 + round * SIZES + i, sizes[i]);
            used += sizes[i];
            assert_int_equal(wl_arena_used(arena), used);
        }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SIZES; i++)
            for (size_t at = 0; at < sizes[i]; at++)
                assert_int_equal(blocks[round][i][at], 1 + round * SIZES + i);
}

/* What is left of a chunk stays in use when a large block comes between two small ones. */
static void test_a_large_block_leaves_the_chunk_in_use(void **state)
{
    (void)state;
    char *first = wl_arena_alloc(arena, 16);
    wl_arena_alloc(arena, 65536);
    char *second = wl_arena_alloc(arena, 16);
    assert_ptr_equal(second, first + 16);
}

/* A chunk of 64 KiB is used to its last byte, and not a byte further. */
static void test_a_chunk_is_filled(void **state)
{
    (void)state;
    char *first = wl_arena_alloc(arena, 65536 - 16);
    assert_ptr_equal(wl_arena_alloc(arena, 16), first + 65536 - 16);
    char *next = wl_arena_alloc(arena, 16);
    assert_true(next < first || next > first + 65536);
}

static void test_sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_null(wl_arena_alloc(arena, SIZE_MAX));
    assert_null(wl_arena_alloc(arena, SIZE_MAX - 128));
    assert_null(wl_arena_array(arena, SIZE_MAX / 2 + 1, 2));
    assert_non_null(wl_arena_array(arena, 3, 2));
    assert_int_equal(wl_arena_used(arena), 6);
    wl_arena_free(NULL);
}

static void test_copies(void **state)
{
    (void)state;
    assert_memory_equal(wl_arena_copy(arena, "abc", 3), "abc", 3);
    assert_non_null(wl_arena_copy(arena, NULL, 0));
    assert_string_equal(wl_arena_strdup(arena, ""), "");
    assert_string_equal(wl_arena_strdup(arena, "text"), "text");
    assert_string_equal(wl_arena_strndup(arena, "text", 3), "tex");
    assert_string_equal(wl_arena_strndup(arena, "text", 0), "");
    assert_string_equal(wl_arena_printf(arena, "%d of %s", 3, "four"), "3 of four");
    assert_string_equal(wl_arena_printf(arena, "%s", ""), "");
    assert_int_equal(wl_arena_used(arena), 3 + 1 + 5 + 4 + 1 + 10 + 1);
}

static void test_arrays_double(void **state)
{
    (void)state;
    wl_vec(int) v = {0};
    for (int i = 0; i < 1000; i++) {
        assert_true(wl_push(&v, i));
        assert_true(v.capacity >= v.count && v.capacity < 2 * v.count + 8);
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.data[i], i);
    wl_vec_free(&v);
    assert_null(v.data);
    assert_int_equal(v.count + v.capacity, 0);
}

static void test_arrays_make_the_room_asked_for(void **state)
{
    (void)state;
    wl_vec(uint64_t) v = {0};
    assert_true(wl_reserve(&v, 8));
    assert_int_equal(v.capacity, 8);
    assert_true(wl_reserve(&v, 9));
    assert_int_equal(v.capacity, 16);
    assert_true(wl_reserve(&v, 33));
    assert_int_equal(v.capacity, 33);
    v.count = 33;
    assert_true(wl_reserve(&v, 0));
    assert_int_equal(v.capacity, 33);
    assert_false(wl_reserve(&v, SIZE_MAX));
    assert_false(wl_reserve(&v, SIZE_MAX / 8));
    assert_int_equal(v.capacity, 33);
    wl_vec_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, arena_set_up, arena_tear_down)
        WITH_ARENA(test_blocks_are_zeroed_aligned_and_apart),
        WITH_ARENA(test_a_large_block_leaves_the_chunk_in_use),
        WITH_ARENA(test_a_chunk_is_filled),
        WITH_ARENA(test_sizes_that_overflow_are_refused),
        WITH_ARENA(test_copies),
        cmocka_unit_test(test_arrays_double),
        cmocka_unit_test(test_arrays_make_the_room_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
