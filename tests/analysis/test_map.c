/* What a heat map shows, each side of every threshold: maps made by hand, of one instruction. */
#include "analysis/finding.h"
#include "analysis/heatmap/map.h"
#include "support/arena.h"
#include "support/test.h"

#include <string.h>

enum { MOST_ROWS = 200, PC = 5 };

typedef struct map {
    obs_heat_row rows[MOST_ROWS];
    uint32_t nrows, warps;
    uint64_t bytes; /* of the object; 0: not known */
    bool irregular; /* requests gather */
    int8_t step;    /* bytes from block to block; 0: nothing is known */
    uint32_t block, blocks;
    map_cover cover; /* what other blocks use */
} map;

/* Warps from `first` on, `count` of them. */
static uint32_t warps_from(uint32_t first, uint32_t count)
{
    return (count < 32 ? (1u << count) - 1 : UINT32_MAX) << first;
}

/* A row after the last one, one sector on; what it holds is to be filled in. */
static obs_heat_row *next_row(map *m)
{
    obs_heat_row *row = &m->rows[m->nrows];
    *row = (obs_heat_row){.sector = m->nrows++, .reads = 1};
    return row;
}

static void touch(obs_heat_row *row, uint32_t word, uint32_t warps)
{
    row->word[word] |= warps;
    row->history |= warps;
}

/* The words first .. first + count - 1 of a row after the last one, by these warps. */
static void add_row(map *m, uint32_t first, uint32_t count, uint32_t warps)
{
    obs_heat_row *row = next_row(m);
    for (uint32_t word = first; word < first + count; word++)
        touch(row, word, warps);
}

static map_result analyze(map *m)
{
    const ana_thresholds thresholds = ana_thresholds_default();
    uint32_t pc = PC;
    obs_pcset set = {1, &pc};
    map_insn insn = {
        .pc = PC, .op = ACC_LOAD, .weight = 1, .requests = 2, .irregular = m->irregular ? 1 : 0};
    prof_object object = {.bytes = m->bytes};
    prof_heat heat = {.info = {.nrows = m->nrows, .warps = m->warps},
                      .rows = m->rows,
                      .npcsets = 1,
                      .pcsets = &set};
    map_result result;
    const map_input input = {.heat = &heat,
                             .object = &object,
                             .grid = {m->blocks, 1, 1},
                             .cover = &m->cover,
                             .ninsns = 1,
                             .insns = &insn,
                             .thresholds = &thresholds};
    insn.steps[0] = m->step;
    heat.info.block_index[0] = m->block;
    assert_int_equal(map_analyze(&input, arena, arena, &result), WL_OK);
    return result;
}

/* Words that are used of each sector, one of them by this block. */
static double used_by(int8_t step, uint32_t block, uint32_t blocks)
{
    static map m;
    m = (map){.warps = 1, .step = step, .block = block, .blocks = blocks};
    for (uint32_t i = 0; i < 8; i++)
        add_row(&m, step < 0 ? 7 : 0, 1, 1);
    return analyze(&m).words_used;
}

static void other_blocks_step_on(void **state)
{
    (void)state;
    assert_true(used_by(0, 0, 8) == 1);
    assert_true(used_by(4, 0, 8) == 8);
    assert_true(used_by(4, 0, 4) == 4); /* there are no more blocks */
    assert_true(used_by(4, 3, 4) > 1 && used_by(4, 3, 4) < 4.5);
    assert_true(used_by(8, 0, 16) == 4); /* and a gap that nobody fills */
    assert_true(used_by(-4, 0, 8) == 8);
    assert_true(used_by(2, 0, 2) == 1); /* half a word on is the same word */
}

static bool shows(map *m, ana_pattern pattern)
{
    return analyze(m).patterns[pattern].holds;
}

/* ---- words that warps share ---- */

static bool is_hot(uint32_t warps, uint32_t of)
{
    static map m;
    m = (map){.warps = of};
    add_row(&m, 0, 8, warps_from(0, warps));
    return shows(&m, ANA_HOT);
}

static void hot_from_half_of_the_warps_on(void **state)
{
    (void)state;
    assert_true(is_hot(5, 10));
    assert_false(is_hot(4, 10));
    assert_true(is_hot(6, 11)); /* a half of a warp counts as one */
    assert_false(is_hot(5, 11));
    assert_true(is_hot(2, 2)); /* one warp shares with none */
    assert_false(is_hot(1, 2));
}

/* A sector of which one word is cold is not hot. */
static void hot_by_the_coldest_word(void **state)
{
    (void)state;
    static map m;
    m = (map){.warps = 10};
    add_row(&m, 0, 7, warps_from(0, 5));
    touch(&m.rows[0], 7, warps_from(0, 4));
    assert_false(shows(&m, ANA_HOT));
    touch(&m.rows[0], 7, warps_from(4, 1));
    assert_true(shows(&m, ANA_HOT));
}

/* Two words of ten warps each that have `common` warps in common. */
static bool is_falsely_shared(uint32_t common)
{
    static map m;
    m = (map){.warps = 32};
    add_row(&m, 0, 1, warps_from(0, 10));
    touch(&m.rows[0], 7, warps_from(10 - common, 10));
    return shows(&m, ANA_FALSE_SHARING);
}

static void falsely_shared_from_twice_the_hottest_word_on(void **state)
{
    (void)state;
    assert_true(is_falsely_shared(0));
    assert_false(is_falsely_shared(1));
}

/* `rows` sectors of one shape in 100, where a pattern holds for those. */
static bool holds_for(uint32_t rows)
{
    static map m;
    m = (map){.warps = 10};
    for (uint32_t i = 0; i < 100; i++)
        add_row(&m, 0, 8, warps_from(0, i < rows ? 5 : 1));
    return shows(&m, ANA_HOT);
}

static void a_pattern_holds_from_a_quarter_of_the_traffic_on(void **state)
{
    (void)state;
    assert_true(holds_for(25));
    assert_true(holds_for(24)); /* a twentieth short of it */
    assert_false(holds_for(23));
}

/* ---- gathers ---- */

/* 100 rows of which `alike` have 8 shapes and the others shapes of their own. */
static bool is_random_by_shapes(uint32_t alike, bool irregular)
{
    static map m;
    m = (map){.warps = 32, .irregular = irregular};
    for (uint32_t i = 0; i < 100; i++) {
        obs_heat_row *row = next_row(&m);
        touch(row, 0, warps_from(0, 1 + (i < alike ? i % 8 : 8 + i % 20)));
        touch(row, 1, warps_from(0, i < alike ? 1 : 2 + i / 20));
    }
    return analyze(&m).random;
}

static void random_where_eight_shapes_are_less_than_three_quarters(void **state)
{
    (void)state;
    assert_false(is_random_by_shapes(75, true));
    assert_true(is_random_by_shapes(74, true));
    assert_false(is_random_by_shapes(74, false));
}

/* `rows` rows; half of the words are touched by two warps more than the others. */
static bool is_random_by_spread(uint32_t rows, uint32_t warps)
{
    static map m;
    m = (map){.warps = 32, .irregular = true};
    for (uint32_t i = 0; i < rows; i++) {
        add_row(&m, 0, 4, warps_from(0, warps));
        for (uint32_t word = 4; word < 8; word++)
            touch(&m.rows[i], word, warps_from(0, warps + 2));
    }
    return analyze(&m).random;
}

static void few_rows_are_random_by_their_spread(void **state)
{
    (void)state;
    assert_true(is_random_by_spread(15, 18));  /* 1 / 19 */
    assert_false(is_random_by_spread(15, 20)); /* 1 / 21 */
    assert_false(is_random_by_spread(16, 18)); /* enough to count their shapes, which is one */
}

/* Ten rows gathered by so many warps, a number of them by one warp less. */
static bool is_hot_at_random(uint32_t warps, uint32_t of, uint32_t colder)
{
    static map m;
    m = (map){.warps = of, .irregular = true};
    for (uint32_t i = 0; i < 10; i++) {
        add_row(&m, 0, 1, warps_from(0, i < colder ? warps - 1 : warps));
        touch(&m.rows[i], 1, 1);
    }
    return shows(&m, ANA_HOT_RANDOM);
}

static void gathered_data_is_shared_from_a_quarter_of_the_warps_on(void **state)
{
    (void)state;
    assert_true(is_hot_at_random(5, 20, 0));
    assert_true(is_hot_at_random(5, 20, 2)); /* 4.8, edges aside */
    assert_false(is_hot_at_random(5, 20, 3));
    assert_true(is_hot_at_random(2, 8, 0)); /* by two warps at least */
    assert_true(is_hot_at_random(2, 8, 1));
    assert_false(is_hot_at_random(2, 8, 2));
    assert_false(is_hot_at_random(2, 4, 2));
}

/* ---- gaps ---- */

/* Whether a sector of which the object has so many words is sparse when so many are touched. */
static bool is_sparse(uint32_t touched, uint32_t words)
{
    static map m;
    m = (map){.warps = 8, .bytes = words * 4};
    add_row(&m, 0, touched, 1);
    return analyze(&m).patterns[ANA_STRIDED].traffic > 0;
}

static void sparse_up_to_half_of_the_words(void **state)
{
    (void)state;
    assert_true(is_sparse(4, 8));
    assert_false(is_sparse(5, 8));
    assert_true(is_sparse(2, 5));
    assert_false(is_sparse(3, 5));
}

/* 100 rows: so many of one word, the others of five, from the first word on. */
static bool is_strided_by_traffic(uint32_t sparse)
{
    static map m;
    m = (map){.warps = 8};
    for (uint32_t i = 0; i < 100; i++)
        add_row(&m, 0, i < sparse ? 1 : 5, 1);
    return shows(&m, ANA_STRIDED);
}

static void strided_from_half_of_the_traffic_on(void **state)
{
    (void)state;
    assert_true(is_strided_by_traffic(50));
    assert_true(is_strided_by_traffic(48));
    assert_false(is_strided_by_traffic(47));
}

/* 101 words of which so many are 16 words after the one before, the others each at a distance of
 * its own. */
static bool is_strided_by_distance(uint32_t equal)
{
    static map m;
    m = (map){.warps = 8};
    uint64_t word = 3;
    for (uint32_t i = 0; i <= 100; i++) {
        next_row(&m)->sector = word / 8;
        touch(&m.rows[i], word % 8, 1);
        word += i < equal ? 16 : 17 + i;
    }
    return shows(&m, ANA_STRIDED);
}

static void strided_where_half_of_the_distances_are_equal(void **state)
{
    (void)state;
    assert_true(is_strided_by_distance(50));
    assert_true(is_strided_by_distance(48));
    assert_false(is_strided_by_distance(47));
}

/* Ten runs of so many words, each from the last two of a sector into the next one. */
static bool is_strided_by_run(uint32_t words)
{
    static map m;
    m = (map){.warps = 8};
    for (uint32_t i = 0; i < 10; i++) {
        add_row(&m, 6, 2, 1);
        add_row(&m, 0, words - 2, 1);
        m.rows[2 * i].sector = 4ull * i;
        m.rows[2 * i + 1].sector = 4ull * i + 1;
    }
    return shows(&m, ANA_STRIDED);
}

static void runs_of_more_than_half_a_sector_are_rows(void **state)
{
    (void)state;
    assert_true(is_strided_by_run(4));
    assert_false(is_strided_by_run(5));
}

/* The first word of every fourth sector, and so many before it that other maps show. */
static bool is_strided_beside_maps(uint32_t words)
{
    static map m;
    static cover_row rows[10];
    m = (map){.warps = 8, .cover = {.count = 10, .rows = rows}};
    for (uint32_t i = 0; i < 10; i++) {
        add_row(&m, 0, 1, 1);
        m.rows[i].sector = 4ull * i + 4;
        rows[i] = (cover_row){4ull * i + 3, (uint8_t)(0xff00u >> words)};
    }
    return shows(&m, ANA_STRIDED);
}

/* The first word of every fourth sector by the last block, the ones before by so many others. */
static bool is_strided_beside_steps(uint32_t others)
{
    static map m;
    m = (map){.warps = 8, .step = 4, .block = others, .blocks = others + 1};
    for (uint32_t i = 0; i < 10; i++) {
        add_row(&m, 0, 1, 1);
        m.rows[i].sector = 4ull * i + 4;
    }
    return shows(&m, ANA_STRIDED);
}

static void rows_of_which_other_blocks_take_the_rest_end_there(void **state)
{
    (void)state;
    assert_true(is_strided_beside_maps(3));
    assert_false(is_strided_beside_maps(4));
    assert_true(is_strided_beside_steps(3));
    assert_false(is_strided_beside_steps(4));
}

/* Three distances make no stride. */
static void a_stride_needs_four_runs(void **state)
{
    (void)state;
    static map m;
    m = (map){.warps = 8};
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(shows(&m, ANA_STRIDED));
        add_row(&m, 2, 1, 1);
    }
    map_result four = analyze(&m);
    assert_true(four.patterns[ANA_STRIDED].holds);
    assert_int_equal(four.stride, 32);
    assert_true(four.stride_share == 1);
}

/* ---- what is paid ---- */

/* Of n transfers of a hot sector one remains; of a falsely shared one, one of each T. */
static void transfers_that_are_paid(void **state)
{
    (void)state;
    static map m;
    m = (map){.warps = 4};
    add_row(&m, 0, 8, warps_from(0, 2));
    m.rows[0].reads = 7;
    add_row(&m, 0, 1, 1);
    touch(&m.rows[1], 1, 2);
    m.rows[1].reads = 7;
    map_result r = analyze(&m);
    assert_true(r.patterns[ANA_HOT].excess == 6 && r.patterns[ANA_HOT].rows == 1);
    assert_true(r.patterns[ANA_FALSE_SHARING].excess == 7 - 4);
    assert_true(r.shares[0].claim[ANA_HOT] == 6 && r.shares[0].settled == 14);
    assert_true(r.shares[0].traffic == 14 && r.shares[0].sectors == 2 && r.traffic == 14);
}

/* The four dearest rows, the dearest first, and of equals the first. */
static void examples_are_the_dearest(void **state)
{
    (void)state;
    static const uint32_t reads[] = {3, 9, 5, 9, 2, 4}, dearest[] = {1, 3, 2, 5};
    static map m;
    m = (map){.warps = 4};
    for (uint32_t i = 0; i < 6; i++) {
        add_row(&m, 0, 8, warps_from(0, 2));
        m.rows[i].reads = reads[i];
    }
    map_result r = analyze(&m);
    const map_pattern *hot = &r.patterns[ANA_HOT];
    assert_int_equal(hot->nexamples, MAP_EXAMPLES);
    for (uint32_t i = 0; i < MAP_EXAMPLES; i++)
        assert_int_equal(hot->examples[i].offset, dearest[i] * 32);
    assert_int_equal(hot->examples[0].temperature, 2);
    for (int word = 0; word < 8; word++)
        assert_int_equal(hot->examples[0].word[word], 2);
}

static void means(void **state)
{
    (void)state;
    static map m;
    m = (map){.warps = 4};
    add_row(&m, 0, 3, warps_from(0, 2));
    touch(&m.rows[0], 2, warps_from(2, 1));
    add_row(&m, 0, 1, 1);
    map_result r = analyze(&m);
    assert_true(r.word_temperature == 8.0 / 4);
    assert_true(r.sector_temperature == 4.0 / 2);
    assert_true(r.hottest_word == 4.0 / 2);
    assert_true(r.words_used == 4.0 / 2);
    assert_true(r.shapes == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_blocks_step_on),
        cmocka_unit_test(hot_from_half_of_the_warps_on),
        cmocka_unit_test(hot_by_the_coldest_word),
        cmocka_unit_test(falsely_shared_from_twice_the_hottest_word_on),
        cmocka_unit_test(a_pattern_holds_from_a_quarter_of_the_traffic_on),
        cmocka_unit_test(random_where_eight_shapes_are_less_than_three_quarters),
        cmocka_unit_test(few_rows_are_random_by_their_spread),
        cmocka_unit_test(gathered_data_is_shared_from_a_quarter_of_the_warps_on),
        cmocka_unit_test(sparse_up_to_half_of_the_words),
        cmocka_unit_test(strided_from_half_of_the_traffic_on),
        cmocka_unit_test(strided_where_half_of_the_distances_are_equal),
        cmocka_unit_test(runs_of_more_than_half_a_sector_are_rows),
        cmocka_unit_test(rows_of_which_other_blocks_take_the_rest_end_there),
        cmocka_unit_test(a_stride_needs_four_runs),
        cmocka_unit_test(transfers_that_are_paid),
        cmocka_unit_test(examples_are_the_dearest),
        cmocka_unit_test(means),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
