/* Ranges within ranges: by hand, and random ones against a search through all of them. */
#include "base/nest.h"
#include "support/test.h"

#include <stdlib.h>

enum { ITEMS = 60, SPACE = 256, ROUNDS = 4000 };

static wl_nested *add(wl_nest *nest, wl_nested *item, uint64_t base, uint64_t bytes)
{
    *item = (wl_nested){.base = base, .bytes = bytes};
    assert_null(wl_nest_in_the_way(nest, base, bytes));
    assert_true(wl_nest_add(nest, item));
    return item;
}

static void expect_at(const wl_nest *nest, uint64_t address, const wl_nested *item, uint64_t low,
                      uint64_t high)
{
    uint64_t from = 0, to = 1000;
    assert_ptr_equal(wl_nest_at(nest, address, &from, &to), item);
    assert_int_equal(from, low);
    assert_int_equal(to, high);
}

/* A pool [100, 200) with [100, 120), [150, 180) and in that [160, 170). */
static void innermost_by_hand(void **state)
{
    wl_nest nest = {0};
    wl_nested pool, first, second, inner;
    (void)state;
    add(&nest, &pool, 100, 100);
    add(&nest, &first, 100, 20);
    add(&nest, &second, 150, 30);
    add(&nest, &inner, 160, 10);
    assert_ptr_equal(inner.around, &second);
    assert_ptr_equal(first.around, &pool);
    expect_at(&nest, 50, NULL, 0, 100);
    expect_at(&nest, 100, &first, 100, 120);
    expect_at(&nest, 130, &pool, 120, 150);
    expect_at(&nest, 155, &second, 150, 160);
    expect_at(&nest, 165, &inner, 160, 170);
    expect_at(&nest, 170, &second, 170, 180);
    expect_at(&nest, 199, &pool, 180, 200);
    expect_at(&nest, 200, NULL, 200, 1000);
    wl_nest_remove(&nest, &second);
    assert_ptr_equal(inner.around, &pool);
    expect_at(&nest, 155, &pool, 120, 160);
    wl_nest_free(&nest);
}

static void what_is_in_the_way(void **state)
{
    wl_nest nest = {0};
    wl_nested pool, part, same;
    (void)state;
    add(&nest, &pool, 100, 100);
    add(&nest, &part, 120, 20);
    assert_ptr_equal(wl_nest_in_the_way(&nest, 130, 20), &part);
    assert_ptr_equal(wl_nest_in_the_way(&nest, 110, 20), &part);
    assert_ptr_equal(wl_nest_in_the_way(&nest, 110, 40), &part); /* it would lie in the new one */
    assert_ptr_equal(wl_nest_in_the_way(&nest, 190, 20), &pool);
    assert_ptr_equal(wl_nest_in_the_way(&nest, 90, 20), &pool);
    assert_null(wl_nest_in_the_way(&nest, 140, 10));
    assert_null(wl_nest_in_the_way(&nest, 200, 10));
    add(&nest, &same, 120, 20); /* an equal one lies in the first */
    assert_ptr_equal(same.around, &part);
    assert_ptr_equal(wl_nest_within(&nest, 100, 100), &same);
    assert_null(wl_nest_within(&nest, 140, 60));
    wl_nest_free(&nest);
}

/* ---- at random ---- */

static const wl_nested *innermost(const wl_nested *items, const bool *live, uint64_t address)
{
    const wl_nested *found = NULL;
    for (int i = 0; i < ITEMS; i++)
        if (live[i] && address - items[i].base < items[i].bytes &&
            (!found || items[i].bytes < found->bytes))
            found = &items[i];
    return found;
}

static bool crosses(const wl_nested *old, uint64_t base, uint64_t bytes)
{
    uint64_t end = base + bytes, its = old->base + old->bytes;
    bool apart = its <= base || end <= old->base, around = old->base <= base && its >= end;
    return !apart && !around;
}

static bool is_free(const wl_nested *items, const bool *live, uint64_t base, uint64_t bytes)
{
    for (int i = 0; i < ITEMS; i++)
        if (live[i] && (crosses(&items[i], base, bytes) || items[i].bytes == bytes))
            return false;
    return true;
}

static void expect_as_searched(const wl_nest *nest, const wl_nested *items, const bool *live)
{
    for (uint64_t address = 0; address < SPACE; address++) {
        uint64_t low = 0, high = SPACE;
        const wl_nested *want = innermost(items, live, address);
        assert_ptr_equal(wl_nest_at(nest, address, &low, &high), want);
        assert_true(low <= address && address < high);
        for (uint64_t k = low; k < high; k++)
            assert_ptr_equal(innermost(items, live, k), want);
    }
}

static void as_a_search_finds_them(void **state)
{
    static wl_nested items[ITEMS];
    static bool live[ITEMS];
    wl_nest nest = {0};
    (void)state;
    srand(5);
    for (int round = 0; round < ROUNDS; round++) {
        int i = rand() % ITEMS;
        uint64_t base = (uint64_t)rand() % SPACE;
        uint64_t bytes = 1 + (uint64_t)rand() % (round % 3 ? 24 : SPACE);
        bool crossed = false;
        if (live[i]) {
            wl_nest_remove(&nest, &items[i]);
            live[i] = false;
        }
        for (int k = 0; k < ITEMS; k++)
            crossed |= live[k] && crosses(&items[k], base, bytes);
        assert_int_equal(wl_nest_in_the_way(&nest, base, bytes) != NULL, crossed);
        if (!is_free(items, live, base, bytes))
            continue;
        add(&nest, &items[i], base, bytes);
        live[i] = true;
        if (round % 8 == 0)
            expect_as_searched(&nest, items, live);
    }
    wl_nest_free(&nest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(innermost_by_hand),
        cmocka_unit_test(what_is_in_the_way),
        cmocka_unit_test(as_a_search_finds_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
