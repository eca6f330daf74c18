/* How often elements are accessed over a program: worked by hand, and random programs against
 * arrays of counts. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static wl_error err;
static int tear_down(void **state)
{
    arena_tear_down(state);
    unlink(story_path("uses.wlprof"));
    return 0;
}

static prof_builder *begin(uint32_t objects, const uint64_t *bytes)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("uses.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    cap_record head[] = {story_process("/src/app"), story_device(), story_module(1)};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        story_expect(prof_add(builder, &head[i], &err), &err);
    for (uint32_t i = 1; i <= objects; i++) {
        cap_record call = story_call(i, "cudaMalloc", CAP_CALL_ALLOC);
        cap_record object = story_object(i, i, 0x7f0000000000 + 0x100000 * (uint64_t)i, bytes[i]);
        story_expect(prof_add(builder, &call, &err), &err);
        story_expect(prof_add(builder, &object, &err), &err);
    }
    return builder;
}

static prof_db *end(prof_builder *builder)
{
    prof_db *db;
    cap_record last = story_end();
    story_expect(prof_add(builder, &last, &err), &err);
    story_expect(prof_end_process(builder, NULL, &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path("uses.wlprof"), &db, &err), &err);
    return db;
}

static wl_status add_launch(prof_builder *builder, uint32_t id, obs_known known, uint32_t nuses,
                            obs_use *uses)
{
    cap_record launch = story_launch(id, 0, 0x7f0000100000);
    cap_record told = {.type = CAP_USES,
                       .uses = {.launch = id,
                                .objects_known = (uint8_t)known,
                                .arrays_known = (uint8_t)known,
                                .count = nuses,
                                .uses = uses}};
    story_expect(prof_add(builder, &launch, &err), &err);
    return known || nuses ? prof_add(builder, &told, &err) : WL_OK;
}

/* A launch that did what `same_as` did, to object `to` in place of `from`. */
static void add_repeat(prof_builder *builder, uint32_t id, uint32_t same_as, uint32_t from,
                       uint32_t to)
{
    cap_move move = {from, to};
    cap_record note = {.type = CAP_NOTE,
                       .note = {.id = id,
                                .module = 1,
                                .kernel = "_Z5scalePf",
                                .grid = {4, 1, 1},
                                .block = {256, 1, 1},
                                .params = ""}};
    cap_record repeat = {.type = CAP_REPEAT,
                         .repeat = {.note = id,
                                    .same_as = same_as,
                                    .host_seconds = -1,
                                    .count = from != to,
                                    .moves = &move}};
    story_expect(prof_add(builder, &note, &err), &err);
    story_expect(prof_add(builder, &repeat, &err), &err);
}

/* The spans of counts[element][class]; on the heap, for as long as the test. */
static obs_use use_of(uint32_t object, acc_space space, obs_known known, uint64_t elements,
                      const uint64_t (*counts)[WL_CLASSES])
{
    wl_spans spans = {.counted = known == OBS_KNOWN_COUNTED};
    for (uint64_t e = 0; known && e < elements; e++) {
        wl_span span = {.first = e, .count = counts[e][0] + counts[e][1] + counts[e][2] > 0};
        memcpy(span.times, counts[e], sizeof span.times);
        wl_spans_add(&spans, &span);
    }
    assert_true(wl_spans_finish(&spans));
    obs_use use = {
        .object = object,
        .space = (uint8_t)space,
        .known = (uint8_t)known,
        .spans = wl_arena_copy(arena, spans.data ? spans.data : (uint8_t *)"", spans.size),
        .length = spans.size};
    wl_spans_free(&spans);
    return use;
}

static void tell_blocks(obs_use *use, uint64_t blocks, uint64_t words, uint64_t accesses)
{
    use->reuse |= OBS_REUSE_BLOCKS;
    use->blocks = blocks;
    use->block_words = words;
    use->block_words_most = words / blocks;
    use->block_accesses = accesses;
}

static const ana_use *row_of(const ana_uses *uses, uint32_t object)
{
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->rows[i].object == object)
            return &uses->rows[i];
    return NULL;
}

/* ---- by hand ---- */

/* Object 1: 8 elements, of which 0 to 3 are loaded twice and 4 is stored to; a second launch loads
 * 0 to 3 twice again, the repeat does that to object 2. The shared array has 32 elements: the first
 * 16 are stored to once. */
static void worked_by_hand(void **state)
{
    (void)state;
    const uint64_t bytes[] = {0, 32, 32, 64};
    const uint64_t first[8][WL_CLASSES] = {{2}, {2}, {2}, {2}, {0, 1}},
                   second[8][WL_CLASSES] = {{2}, {2}, {2}, {2}};
    uint64_t tile[32][WL_CLASSES] = {{0}};
    for (int i = 0; i < 16; i++)
        tile[i][WL_STORES] = 1;
    prof_builder *b = begin(3, bytes);
    obs_use one[] = {use_of(1, ACC_GLOBAL, OBS_KNOWN_COUNTED, 8, first),
                     use_of(1, ACC_SHARED, OBS_KNOWN_COUNTED, 32, tile)};
    obs_use two[] = {use_of(1, ACC_GLOBAL, OBS_KNOWN_COUNTED, 8, second)};
    obs_live_ranges live[] = {{OBS_COMPUTED, 0, 12}, {OBS_COMPUTED, 3, 4}};
    tell_blocks(&one[0], 1, 5, 9);
    tell_blocks(&one[1], 1, 16, 28);
    tell_blocks(&two[0], 1, 4, 8);
    one[1].reuse |= OBS_REUSE_RANGES | OBS_REUSE_LENGTHS | OBS_REUSE_ORIGINS;
    one[1].ranges[OBS_COMPUTED] = 16;
    one[1].range_accesses[OBS_COMPUTED] = 12;
    one[1].nlive = 2;
    one[1].live = live;
    story_expect(add_launch(b, 1, OBS_KNOWN_COUNTED, 2, one), &err);
    story_expect(add_launch(b, 2, OBS_KNOWN_COUNTED, 1, two), &err);
    add_repeat(b, 3, 2, 1, 2);
    prof_db *db = end(b);
    ana_uses uses;
    story_expect(ana_use_table(db, NULL, arena, &uses, &err), &err);
    assert_int_equal(uses.count, 4); /* with object 3, which nobody accessed */
    const ana_use *u = row_of(&uses, 1);
    assert_ptr_equal(u, &uses.rows[0]);
    assert_int_equal(u->elements, 8);
    assert_int_equal(u->touched, 5);
    assert_int_equal(u->times[WL_LOADS], 16);
    assert_int_equal(u->times[WL_STORES], 1);
    assert_int_equal(u->most, 4);
    assert_int_equal(u->launches, 2);
    assert_true(u->counted && !u->partial && !u->estimated);
    assert_true(u->mean == 17.0 / 8);
    assert_true(fabs(u->variation - sqrt(65.0 / 8 - u->mean * u->mean) / u->mean) < 1e-12);
    assert_int_equal(u->rare, 0); /* 1 is more than a tenth of 17 / 5 */
    u = row_of(&uses, 2);
    assert_int_equal(u->touched, 4);
    assert_int_equal(u->times[WL_LOADS], 8);
    assert_int_equal(row_of(&uses, 3)->touched, 0);
    u = row_of(&uses, 4); /* the array */
    assert_true(u->kernel == 1 && u->elements == 32 && u->touched == 16 && u->mean == 0.5);
    assert_true(u->array && u->reuse.ranges_known && u->reuse.accesses_per_range == 0.75);
    assert_true(u->reuse.nlive == 2 && u->reuse.live[1].ranges == 4);
    /* A block accesses an element that it touches 17 / 9 times of object 1, twice of object 2, and
     * 28 / 16 times of the array. */
    assert_int_equal(uses.nswaps, 2);
    assert_int_equal(uses.swaps[0].device, 2);
    assert_true(!uses.swaps[0].written && uses.swaps[0].device_mean == 2);
    assert_true(uses.swaps[0].shared_mean == 1.75);
    assert_int_equal(uses.swaps[1].device, 1);
    assert_true(uses.swaps[1].written && uses.swaps[1].device_mean == 17.0 / 9);
    assert_true(uses.swaps[0].fits && uses.swaps[1].fits); /* a few words */
    prof_close(db);
}

/* The array of 128 bytes leaves 48 KiB but that: a block's part of `words` words fits, or does not. */
static bool fits_beside(uint64_t words)
{
    const uint64_t bytes[] = {0, 1 << 20};
    const uint64_t counts[8][WL_CLASSES] = {{2}, {2}};
    prof_builder *b = begin(1, bytes);
    obs_use both[] = {use_of(1, ACC_GLOBAL, OBS_KNOWN_COUNTED, 8, counts),
                      use_of(1, ACC_SHARED, OBS_KNOWN_COUNTED, 8, counts)};
    tell_blocks(&both[0], 1, words, 4 * words);
    tell_blocks(&both[1], 1, 8, 16);
    story_expect(add_launch(b, 1, OBS_KNOWN_COUNTED, 2, both), &err);
    prof_db *db = end(b);
    ana_uses uses;
    story_expect(ana_use_table(db, NULL, arena, &uses, &err), &err);
    assert_int_equal(uses.nswaps, 1);
    bool fits = uses.swaps[0].fits;
    prof_close(db);
    return fits;
}

static void what_has_room_beside_the_arrays(void **state)
{
    (void)state;
    const uint64_t left = ((48 << 10) - 128) / OBS_WORD_BYTES;
    assert_true(fits_beside(left));
    assert_false(fits_beside(left + 1));
}

/* Two launches and a repeat are one kernel's part of each object. */
static void parts_of_kernels(void **state)
{
    (void)state;
    const uint64_t bytes[] = {0, 32, 32};
    const uint64_t counts[8][WL_CLASSES] = {{2}, {2}};
    obs_live_ranges live[] = {{OBS_FROM_MEMORY, 2, 5}, {OBS_COMPUTED, 16, 1}};
    prof_builder *b = begin(2, bytes);
    obs_use uses[] = {use_of(1, ACC_GLOBAL, OBS_KNOWN_COUNTED, 8, counts),
                      use_of(1, ACC_SHARED, OBS_KNOWN_COUNTED, 8, counts)};
    tell_blocks(&uses[0], 2, 2, 4);
    uses[1].reuse = OBS_REUSE_RANGES | OBS_REUSE_LENGTHS | OBS_REUSE_ORIGINS;
    uses[1].ranges[OBS_FROM_MEMORY] = 5;
    uses[1].ranges[OBS_COMPUTED] = 1;
    uses[1].range_accesses[OBS_FROM_MEMORY] = 10;
    uses[1].range_accesses[OBS_COMPUTED] = 20;
    uses[1].unfilled = 3;
    uses[1].nlive = 2;
    uses[1].live = live;
    story_expect(add_launch(b, 1, OBS_KNOWN_COUNTED, 2, uses), &err);
    story_expect(add_launch(b, 2, OBS_KNOWN_COUNTED, 2, uses), &err);
    add_repeat(b, 3, 2, 1, 2);
    prof_db *db = end(b);
    ana_uses all;
    story_expect(ana_use_table(db, NULL, arena, &all, &err), &err);
    assert_int_equal(all.nparts, 3);
    const ana_use *array = &all.parts[2];
    assert_true(all.parts[0].object == 1 && all.parts[1].object == 2 && array->array);
    assert_true(all.parts[0].reuse.block_words == 4 && all.parts[0].reuse.blocks == 4);
    assert_true(all.parts[1].reuse.block_accesses == 4 && !all.parts[1].reuse.ranges_known);
    assert_true(all.parts[0].reuse.block_words_most == 1);
    assert_true(array->reuse.ranges[OBS_FROM_MEMORY] == 15 && array->reuse.unfilled == 9);
    assert_true(array->reuse.accesses_per_range == 5 && !array->reuse.blocks_known);
    assert_true(array->reuse.nlive == 2 && array->reuse.live[0].ranges == 15);
    prof_close(db);
}

/* In ranges of which origin the accesses were is not known: those that neither begin a range nor come
 * before one are in ranges. */
static void accesses_of_ranges_without_origins(void **state)
{
    (void)state;
    const uint64_t bytes[] = {0, 32};
    const uint64_t counts[8][WL_CLASSES] = {{4, 3, 0}, {0, 0, 5}};
    prof_builder *b = begin(1, bytes);
    obs_use use = use_of(1, ACC_SHARED, OBS_KNOWN_COUNTED, 8, counts);
    use.reuse = OBS_REUSE_RANGES;
    use.ranges[OBS_FROM_MEMORY] = 1;
    use.ranges[OBS_COMPUTED] = 1;
    use.unfilled = 2;
    story_expect(add_launch(b, 1, OBS_KNOWN_COUNTED, 1, &use), &err);
    prof_db *db = end(b);
    ana_uses all;
    story_expect(ana_use_table(db, NULL, arena, &all, &err), &err);
    const ana_reuse *reuse = &all.rows[0].reuse;
    assert_true(reuse->ranges_known && reuse->range_accesses == 8);
    assert_true(reuse->accesses_per_range == 4 && reuse->unfilled == 2);
    assert_true(reuse->ranges[OBS_FROM_MEMORY] == 1 && reuse->ranges[OBS_COMPUTED] == 1);
    prof_close(db);
}

/* Only some blocks were replayed: which elements were accessed is not known, what blocks did is. */
static void of_some_blocks(void **state)
{
    (void)state;
    const uint64_t bytes[] = {0, 32};
    prof_builder *b = begin(1, bytes);
    obs_use use = {.object = 1, .space = ACC_GLOBAL, .spans = ""};
    tell_blocks(&use, 4, 8, 24);
    story_expect(add_launch(b, 1, OBS_KNOWN_NOTHING, 1, &use), &err);
    prof_db *db = end(b);
    ana_uses uses;
    story_expect(ana_use_table(db, NULL, arena, &uses, &err), &err);
    assert_int_equal(uses.count, 1);
    assert_true(uses.rows[0].unknown && !uses.rows[0].counted);
    assert_true(uses.rows[0].reuse.accesses_per_block_word == 3);
    assert_true(uses.nparts == 1 && uses.parts[0].unknown && uses.parts[0].kernel == 1);
    prof_close(db);
}

/* ---- what is not known ---- */

static void partial(void **state)
{
    (void)state;
    const uint64_t bytes[] = {0, 32, 32};
    const uint64_t counts[8][WL_CLASSES] = {{1}, {1}};
    prof_builder *b = begin(2, bytes);
    obs_use one[] = {use_of(1, ACC_GLOBAL, OBS_KNOWN_COUNTED, 8, counts),
                     use_of(2, ACC_GLOBAL, OBS_KNOWN_NOTHING, 8, counts)};
    obs_use two[] = {use_of(1, ACC_GLOBAL, OBS_KNOWN_TOUCHED, 8, counts)};
    story_expect(add_launch(b, 1, OBS_KNOWN_COUNTED, 2, one), &err);
    story_expect(add_launch(b, 2, OBS_KNOWN_NOTHING, 1, two), &err); /* of object 1 only */
    prof_db *db = end(b);
    ana_uses uses;
    story_expect(ana_use_table(db, NULL, arena, &uses, &err), &err);
    const ana_use *u = row_of(&uses, 1);
    assert_false(u->counted); /* how often the second launch did is not known */
    assert_false(u->partial);
    assert_int_equal(u->touched, 2);
    assert_null(row_of(&uses, 2)); /* both launches may have accessed it */
    prof_close(db);
}

static void nothing(void **state)
{
    (void)state;
    const uint64_t bytes[] = {0, 32};
    prof_builder *b = begin(1, bytes);
    story_expect(add_launch(b, 1, OBS_KNOWN_NOTHING, 0, NULL), &err);
    prof_db *db = end(b);
    ana_uses uses;
    story_expect(ana_use_table(db, NULL, arena, &uses, &err), &err);
    assert_int_equal(uses.count, 0);
    prof_close(db);
}

static void damage(void **state)
{
    (void)state;
    const uint64_t bytes[] = {0, 32};
    const uint64_t counts[9][WL_CLASSES] = {[8] = {1}};
    prof_builder *b = begin(1, bytes);
    obs_use beyond = use_of(1, ACC_GLOBAL, OBS_KNOWN_COUNTED, 9, counts), cut = beyond,
            nobody = beyond, array = beyond;
    cut.length--;
    nobody.object = 7;
    array.space = ACC_SHARED;
    array.object = 2;
    assert_int_equal(add_launch(b, 1, OBS_KNOWN_COUNTED, 1, &beyond), WL_CORRUPT);
    assert_int_equal(add_launch(b, 2, OBS_KNOWN_COUNTED, 1, &cut), WL_CORRUPT);
    assert_int_equal(add_launch(b, 3, OBS_KNOWN_COUNTED, 1, &nobody), WL_CORRUPT);
    assert_int_equal(add_launch(b, 4, OBS_KNOWN_COUNTED, 1, &array), WL_CORRUPT);
    cap_record early = {.type = CAP_USES, .uses = {.launch = 9}};
    assert_int_equal(prof_add(b, &early, &err), WL_CORRUPT);
    prof_close(end(b));
}

/* ---- one by one ---- */

enum { OBJECTS = 4, ELEMENTS = 500, LAUNCHES = 60 };

static uint32_t below(uint64_t *rng, uint32_t bound)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*rng >> 33) % bound;
}

static void draw(uint64_t *rng, uint64_t counts[ELEMENTS][WL_CLASSES])
{
    uint32_t from = below(rng, ELEMENTS), to = from + below(rng, ELEMENTS - from) + 1;
    bool even = below(rng, 2);
    memset(counts, 0, ELEMENTS * sizeof *counts);
    for (uint32_t e = from; e < to; e++)
        for (int c = 0; c < WL_CLASSES; c++)
            counts[e][c] = even ? (uint64_t)c : below(rng, 4) * below(rng, 300);
}

static void compare(const ana_use *u, uint64_t counts[ELEMENTS][WL_CLASSES])
{
    uint64_t touched = 0, most = 0, sum = 0, rare = 0;
    double squares = 0;
    for (int e = 0; e < ELEMENTS; e++) {
        uint64_t all = counts[e][0] + counts[e][1] + counts[e][2];
        touched += all > 0;
        most = all > most ? all : most;
        sum += all;
        squares += (double)all * (double)all;
    }
    for (int e = 0; e < ELEMENTS; e++) {
        uint64_t all = counts[e][0] + counts[e][1] + counts[e][2];
        rare += all && (double)all < 0.1 * (double)sum / (double)touched;
    }
    double mean = (double)sum / ELEMENTS;
    assert_int_equal(u->touched, touched);
    assert_int_equal(u->most, most);
    assert_int_equal(u->rare, rare);
    assert_true(fabs(u->mean - mean) < 1e-9 * mean);
    assert_true(fabs(u->variation - sqrt(squares / ELEMENTS - mean * mean) / mean) < 1e-6);
}

static void one_by_one(void **state)
{
    (void)state;
    static uint64_t sums[OBJECTS + 1][ELEMENTS][WL_CLASSES],
        kept[LAUNCHES + 1][ELEMENTS][WL_CLASSES];
    const uint64_t bytes[] = {0, 4 * ELEMENTS, 4 * ELEMENTS, 4 * ELEMENTS, 4 * ELEMENTS};
    uint32_t object_of[LAUNCHES + 1] = {0}, own = 0;
    uint64_t rng = 5;
    prof_builder *b = begin(OBJECTS, bytes);
    for (uint32_t id = 1; id <= LAUNCHES; id++) {
        uint32_t to = 1 + below(&rng, OBJECTS), same = own;
        if (own && below(&rng, 3) == 0) {
            add_repeat(b, id, own, object_of[own], to);
        } else {
            draw(&rng, kept[id]);
            obs_use use = use_of(to, ACC_GLOBAL, OBS_KNOWN_COUNTED, ELEMENTS,
                                 (const uint64_t (*)[WL_CLASSES])kept[id]);
            story_expect(add_launch(b, id, OBS_KNOWN_COUNTED, 1, &use), &err);
            object_of[id] = to;
            same = own = id;
        }
        for (int e = 0; e < ELEMENTS; e++)
            for (int c = 0; c < WL_CLASSES; c++)
                sums[to][e][c] += kept[same][e][c];
    }
    prof_db *db = end(b);
    ana_uses uses;
    story_expect(ana_use_table(db, NULL, arena, &uses, &err), &err);
    for (uint32_t o = 1; o <= OBJECTS; o++)
        compare(row_of(&uses, o), sums[o]);
    prof_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(worked_by_hand, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_room_beside_the_arrays, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_of_kernels, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(accesses_of_ranges_without_origins, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_some_blocks, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(partial, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_by_one, arena_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
