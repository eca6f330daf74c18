/* Parts of an object: maps with the rows of several arrays, written by hand. */
#include "support/arena.h"
#include "support/test.h"

#include "analysis/heatmap/parts.h"

#include <string.h>

enum { ROWS = 64 };

static uint32_t first_pc[] = {1}, second_pc[] = {2}, both_pcs[] = {1, 2};
static obs_pcset sets[] = {{1, first_pc}, {1, second_pc}, {2, both_pcs}};

/* `first` rows of instruction 1, then `shared` of both, then rows of 2. */
static prof_heat map_of(uint32_t first, uint32_t shared)
{
    static obs_heat_row rows[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        rows[i] = (obs_heat_row){.sector = i, .pcset = i < first ? 0 : i < first + shared ? 2 : 1};
    return (prof_heat){
        .info = {.warps = 8, .nrows = ROWS}, .rows = rows, .npcsets = 3, .pcsets = sets};
}

static uint32_t split(const prof_heat *heat, uint64_t one, uint64_t two, prof_heat **out)
{
    const map_insn insns[] = {{.pc = 1, .family = one}, {.pc = 2, .family = two}};
    uint32_t count = 0;
    assert_int_equal(parts_split(heat, insns, 2, arena, &count, out), WL_OK);
    return count;
}

static void of_two_arrays(void **state)
{
    (void)state;
    prof_heat *parts, heat = map_of(20, 0);
    assert_int_equal(split(&heat, 7, 8, &parts), 2);
    assert_int_equal(parts[0].info.nrows, 44); /* the largest comes first */
    assert_int_equal(parts[1].info.nrows, 20);
    assert_int_equal(parts[0].rows[0].sector, 20);
    assert_int_equal(parts[1].rows[19].sector, 19);
    assert_int_equal(parts[1].info.warps, 8);
}

static void of_one_array(void **state)
{
    (void)state;
    prof_heat *parts, heat = map_of(20, 0);
    assert_int_equal(split(&heat, 7, 7, &parts), 1); /* copies of one instruction */
    assert_int_equal(parts[0].info.nrows, ROWS);
    assert_int_equal(split(&heat, 0, 0, &parts), 1); /* of which nothing is known */
    heat = map_of(20, 20);
    assert_int_equal(split(&heat, 7, 8, &parts), 1); /* they come to the same sectors */
}

/* A sector where two arrays meet joins them as little as it makes one of them. */
static void of_borders(void **state)
{
    (void)state;
    prof_heat *parts, heat = map_of(31, 1); /* one of 32 */
    assert_int_equal(split(&heat, 7, 8, &parts), 2);
    assert_int_equal(parts[0].info.nrows + parts[1].info.nrows, ROWS);
    heat = map_of(30, 2); /* one of 16 */
    assert_int_equal(split(&heat, 7, 8, &parts), 1);
}

/* Rows of instruction 1 amid those of 2. */
static uint32_t split_amid(uint32_t few)
{
    prof_heat *parts, heat = map_of(0, 0);
    for (uint32_t i = 0; i < few; i++)
        heat.rows[i + 8].pcset = 0;
    return split(&heat, 7, 8, &parts);
}

static void of_few_rows(void **state)
{
    (void)state;
    assert_int_equal(split_amid(15), 1);
    assert_int_equal(split_amid(16), 2);
}

static void of_small_arrays(void **state)
{
    (void)state;
    prof_heat *parts, heat = map_of(1, 0);
    assert_int_equal(split(&heat, 7, 8, &parts), 2);
    assert_int_equal(parts[1].info.nrows, 1);
    heat = map_of(ROWS - 1, 0);
    assert_int_equal(split(&heat, 7, 8, &parts), 2);
    assert_int_equal(parts[1].rows[0].sector, ROWS - 1);
}

/* One array more than there are parts: the smallest stays with the largest. */
static void of_many_arrays(void **state)
{
    (void)state;
    enum { ARRAYS = 9 };
    static obs_heat_row rows[100];
    uint32_t pcs[ARRAYS], n = 0, count = 0;
    obs_pcset each[ARRAYS];
    map_insn insns[ARRAYS];
    for (uint32_t a = 0; a < ARRAYS; a++) {
        pcs[a] = a;
        each[a] = (obs_pcset){1, &pcs[a]};
        insns[a] = (map_insn){.pc = a, .family = a + 1};
        for (uint32_t k = 0; k <= a; k++, n++)
            rows[n] = (obs_heat_row){.sector = n, .pcset = a};
    }
    prof_heat *parts,
        heat = {.info = {.warps = 8, .nrows = n}, .rows = rows, .npcsets = ARRAYS, .pcsets = each};
    assert_int_equal(parts_split(&heat, insns, ARRAYS, arena, &count, &parts), WL_OK);
    assert_int_equal(count, ARRAYS - 1);
    assert_int_equal(parts[0].info.nrows, ARRAYS + 1);
    assert_int_equal(parts[0].rows[0].sector, 0);
    assert_int_equal(parts[count - 1].info.nrows, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_arrays),   cmocka_unit_test(of_one_array),
        cmocka_unit_test(of_borders),      cmocka_unit_test(of_few_rows),
        cmocka_unit_test(of_small_arrays), cmocka_unit_test(of_many_arrays),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
