/* Shared memory that no block accesses: worked by hand, and random launches against bitmaps. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/random.h"
#include "support/test.h"

#include "analysis/finding.h"

#include <string.h>
#include <unistd.h>

enum { MOST = 4096, LAUNCHES = 3 };

/* A launch's array, and which of its elements any block accesses. */
typedef struct told {
    uint32_t elements;
    bool dynamic, unknown;
    bool touched[MOST];
} told;

static wl_error err;
static const char *device; /* t4: one of which nothing was measured */

static obs_use use_of(const told *t)
{
    wl_spans spans = {.counted = true};
    for (uint32_t e = 0; e < t->elements; e++)
        wl_spans_add(&spans, &(wl_span){.first = e, .count = t->touched[e], .times = {1}});
    assert_true(wl_spans_finish(&spans));
    obs_use use = {
        .object = 1,
        .space = ACC_SHARED,
        .known = t->unknown ? OBS_KNOWN_NOTHING : OBS_KNOWN_COUNTED,
        .spans = wl_arena_copy(arena, spans.data ? spans.data : (uint8_t *)"", spans.size),
        .length = t->unknown ? 0 : spans.size};
    wl_spans_free(&spans);
    return use;
}

static void add_launch(prof_builder *builder, uint32_t id, const told *t)
{
    obs_shared *arrays = wl_new_array(arena, obs_shared, 2);
    cap_record launch = story_launch(id, 0, 0x7f0000100000);
    obs_use use = use_of(t);
    arrays[0] = (obs_shared){.name = ""};
    arrays[1] = (obs_shared){.name = "rows", .bytes = t->elements * OBS_WORD_BYTES};
    launch.launch.summary.shared = arrays;
    launch.launch.summary.nshared = 2;
    launch.launch.dynamic_shared = t->dynamic ? arrays[1].bytes : 0;
    launch.launch.static_shared = t->dynamic ? 0 : arrays[1].bytes;
    cap_record uses = {.type = CAP_USES,
                       .uses = {.launch = id,
                                .objects_known = OBS_KNOWN_COUNTED,
                                .arrays_known = OBS_KNOWN_COUNTED,
                                .count = 1,
                                .uses = &use}};
    story_expect(prof_add(builder, &launch, &err), &err);
    story_expect(prof_add(builder, &uses, &err), &err);
}

/* What is told of the array after these launches; NULL: nothing. */
static const ana_finding *find(const told *launches, uint32_t count)
{
    prof_builder *builder = story_begin("spare.wlprof");
    static ana_findings all;
    ana_thresholds thresholds = ana_thresholds_default();
    cap_record head[] = {story_process("/src/app"), story_device(), story_module(1)},
               last = story_end();
    head[1].device.file = device;
    story_tell(builder, head, sizeof head / sizeof *head);
    for (uint32_t i = 0; i < count; i++)
        add_launch(builder, i + 1, &launches[i]);
    story_tell(builder, &last, 1);
    prof_db *db = story_finish(builder, "spare.wlprof");
    story_expect(ana_find(db, &thresholds, arena, &all, &err), &err);
    prof_close(db);
    assert_int_equal(unlink(story_path("spare.wlprof")), 0);
    for (uint32_t i = 0; i < all.count; i++)
        if (all.rows[i].pattern == ANA_UNUSED_SHARED)
            return &all.rows[i];
    return NULL;
}

static double evidence_of(const ana_finding *f, const char *name)
{
    for (uint32_t i = 0; i < f->nevidence; i++)
        if (strcmp(f->evidence[i].name, name) == 0)
            return f->evidence[i].value;
    fail_msg("no evidence %s", name);
    return 0;
}

static void touch(told *t, uint32_t first, uint32_t count)
{
    for (uint32_t e = first; e < first + count; e++)
        t->touched[e] = true;
}

/* ---- by hand ---- */

static told one;

static told *array_of(uint32_t elements, bool dynamic)
{
    one = (told){.elements = elements, .dynamic = dynamic};
    return &one;
}

static void at_the_end(void **state)
{
    (void)state;
    touch(array_of(1024, false), 0, 700);
    const ana_finding *f = find(&one, 1);
    assert_non_null(f);
    assert_true(evidence_of(f, "unused_bytes") == 324 * 4);
    assert_true(evidence_of(f, "reserved_bytes") == 4096);
    assert_int_equal(f->certainty, ANA_CERTAINTY_POSSIBLE);
    assert_int_equal(f->remedies[0].change.shared, -324 * 4);
    assert_non_null(strstr(f->advice, "Declare"));
    one.dynamic = true;
    f = find(&one, 1);
    assert_non_null(strstr(f->advice, "Launch the kernel with 1296 bytes"));
    touch(array_of(1024, false), 10, 758); /* 1,024 bytes are left, and one less */
    assert_non_null(find(&one, 1));
    touch(array_of(1024, false), 0, 769);
    assert_null(find(&one, 1));
    assert_non_null(strstr(find(array_of(1024, true), 1)->summary, "none"));
}

/* Four blocks run at once as it is. */
static void nothing_gained(void **state)
{
    (void)state;
    touch(array_of(1024, false), 0, 100);
    assert_non_null(find(&one, 1));
    device = "h200";
    assert_null(find(&one, 1));
}

static void what_is_not_known(void **state)
{
    static told two[2];
    (void)state;
    touch(array_of(1024, false), 0, 100);
    two[0] = two[1] = one;
    assert_non_null(find(two, 2));
    two[1].unknown = true;
    assert_null(find(two, 2));
    two[1].unknown = false;
    touch(&two[1], 900, 1);
    assert_null(find(two, 2));
}

/* Launches that ask for as much as each needs, and for 1,100 bytes more. */
static void sizes_that_differ(void **state)
{
    static told two[2];
    (void)state;
    touch(array_of(1000, true), 0, 1000 - 275);
    two[0] = one;
    touch(array_of(2000, true), 0, 2000 - 300);
    two[1] = one;
    assert_true(evidence_of(find(two, 2), "unused_bytes") == 1100);
}

static void of_rows(void **state)
{
    (void)state;
    array_of(32 * 64, false);
    for (uint32_t row = 0; row < 32; row++)
        touch(&one, 64 * row, 48);
    const ana_finding *f = find(&one, 1);
    assert_non_null(f);
    assert_true(evidence_of(f, "unused_bytes") == 32 * 16 * 4);
    assert_non_null(strstr(f->advice, "192 bytes in place of 256"));
    array_of(64 * 33, false); /* a word of padding */
    for (uint32_t row = 0; row < 64; row++)
        touch(&one, 33 * row, 32);
    assert_null(find(&one, 1));
    array_of(32 * 64, false); /* one row is longer */
    for (uint32_t row = 0; row < 32; row++)
        touch(&one, 64 * row, row == 20 ? 64 : 48);
    assert_null(find(&one, 1));
}

/* ---- any launches ---- */

/* By the definition, from bitmaps alone: bytes that each launch can give back. */
static uint64_t end_of(const told *t)
{
    uint64_t end = 0;
    for (uint32_t e = 0; e < t->elements; e++)
        end = t->touched[e] ? e + 1 : end;
    return 4 * (t->elements - end);
}

static bool has_rows_of(const bool *touched, uint32_t elements, uint32_t row, uint32_t used,
                        uint32_t rows)
{
    for (uint32_t e = 0; e < elements; e++)
        if (touched[e] != (e % row < used && e / row < rows))
            return false;
    return true;
}

static uint64_t rows_of(const told *launches, uint32_t count)
{
    static bool all[MOST];
    memset(all, 0, sizeof all);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = 0; e < launches[i].elements; e++)
            all[e] |= launches[i].touched[e];
    for (uint32_t i = 1; i < count; i++)
        if (launches[i].elements != launches[0].elements)
            return 0;
    for (uint32_t row = 2; row < MOST / 4; row++)
        for (uint32_t used = 1; used < row - row / 8; used++)
            for (uint32_t rows = 4; all[0] && rows * row <= launches[0].elements; rows++)
                if (has_rows_of(all, launches[0].elements, row, used, rows))
                    return 4 * (uint64_t)(launches[0].elements - used * rows);
    return 0;
}

static void random_launch(uint64_t *seed, told *t, uint32_t elements, uint32_t shape)
{
    uint32_t row = 8u << shape % 4, used = 1 + (uint32_t)random_below(seed, row);
    *t = (told){.elements = elements, .dynamic = shape & 1};
    for (uint32_t e = 0; e < elements; e++)
        t->touched[e] = shape < 8    ? e % row < used && e < 64 * row
                        : shape < 12 ? e < elements - elements / 3
                                     : random_below(seed, 3) == 0 && e < elements / 2;
}

static void agrees_with_bitmaps(void **state)
{
    static told launches[LAUNCHES];
    uint64_t seed = 5;
    uint32_t found = 0;
    (void)state;
    for (uint32_t round = 0; round < 150; round++) {
        uint32_t count = 1 + (uint32_t)random_below(&seed, LAUNCHES),
                 shape = (uint32_t)random_below(&seed, 16),
                 elements = 256 * (1 + (uint32_t)random_below(&seed, 8));
        uint64_t least = UINT64_MAX;
        for (uint32_t i = 0; i < count; i++) {
            random_launch(&seed, &launches[i], elements, shape);
            if (i && random_below(&seed, 2))
                launches[i] = launches[0];
            least = end_of(&launches[i]) < least ? end_of(&launches[i]) : least;
        }
        uint64_t rows = rows_of(launches, count), want = rows ? rows : least;
        const ana_finding *f = find(launches, count);
        assert_int_equal(f != NULL, want >= 1024);
        if (f)
            assert_true(evidence_of(f, "unused_bytes") == (double)want);
        found += f != NULL;
    }
    assert_true(found > 20 && found < 140);
}

static int set_up(void **state)
{
    device = "t4";
    return arena_set_up(state);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, arena_tear_down)
    const struct CMUnitTest tests[] = {
        T(at_the_end),        T(nothing_gained), T(what_is_not_known),
        T(sizes_that_differ), T(of_rows),        T(agrees_with_bitmaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
