/* What warps did, step by step: packed by hand, through a capture and the import, and read back. */
#include "base/steps.h"
#include "profile/blob.h"
#include "story.h"
#include "support/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

/* Four steps, then a page with one more. */
static const uint8_t first_steps[] = {
    0, 0xff, 0xff, 0xff, 0xff, 0x0f, 1,          /* all lanes begin the block at pc 0 */
    2, 0,    2,    0,    9,                      /* pc 1, slot 0 from byte 0, 4 bytes apart */
    8, 0xf4, 0xff, 0xff, 0xff, 0x0f, 3, 0x80, 2, /* pc 5, lanes 0, 1, 3, slot 1, byte 128 */
    0, 15,   32,                                 /* then bytes 120 and 136 */
    3, 0,    0,                                  /* pc 3, the same lanes, a barrier */
};
static const uint8_t last_step[] = {14, 1, 0}; /* pc 7, lane 0 */
/* Warp 0 and 1 of block 0, the latter 128 bytes on in slot 0, and warp 0 of block 3, 64 back. */
static const uint8_t warps[] = {0, 0, 0, 0, 0, 1, 0x80, 2, 0, 3, 0, 127, 0};

static obs_page step_pages[2], warp_pages[1];
static obs_sequence sequences[1];
static obs_step_object slots[2];
static obs_warps groups[1];

static cap_record story_sequences(uint32_t launch)
{
    step_pages[0] = (obs_page){4, (const char *)first_steps, sizeof first_steps};
    step_pages[1] = (obs_page){1, (const char *)last_step, sizeof last_step};
    sequences[0] = (obs_sequence){2, 2, step_pages};
    slots[0] = (obs_step_object){ACC_GLOBAL, 1};
    slots[1] = (obs_step_object){ACC_SHARED, 1};
    warp_pages[0] = (obs_page){3, (const char *)warps, sizeof warps};
    groups[0] = (obs_warps){0, 2, slots, 1, warp_pages};
    return (cap_record){.type = CAP_SEQUENCES,
                        .sequences = {launch, 0, 5, 1, sequences, 1, groups}};
}

/* Launch 1, which launch 2 repeats on another object, and launch 3, which took the same steps. */
static void write_capture(const char *path)
{
    static cap_move move = {1, 2};
    cap_writer *w;
    const cap_record process = story_process("/src/app"), module = story_module(1),
                     first = story_object(1, 0, 0x7f0000000000, 4096),
                     second = story_object(2, 0, 0x7f0000100000, 4096);
    const cap_note note = {.id = 2, .module = 1, .kernel = "_Z5scalePf", .params = ""};
    const cap_repeat repeat = {2, 1, 0.5, 1, &move};
    unlink(path);
    story_expect(cap_create(path, &w, &err), &err);
    assert_int_equal(cap_write_process(w, &process.process), WL_OK);
    assert_int_equal(cap_write_module(w, &module.module), WL_OK);
    assert_int_equal(cap_write_object(w, &first.object), WL_OK);
    assert_int_equal(cap_write_object(w, &second.object), WL_OK);
    for (uint32_t id = 1; id <= 3; id += 2) {
        const cap_record launch = story_launch(id, 0, 0x7f0000000000), did = story_sequences(id);
        assert_int_equal(cap_write_launch(w, &launch.launch), WL_OK);
        assert_int_equal(cap_write_sequences(w, &did.sequences), WL_OK);
    }
    assert_int_equal(cap_write_note(w, &note), WL_OK);
    assert_int_equal(cap_write_repeat(w, &repeat), WL_OK);
    cap_close(w);
}

static sqlite3_stmt *rows(sqlite3 *sql, const char *text)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(sql, text, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(sql));
    return stmt;
}

static int64_t number(sqlite3 *sql, const char *text)
{
    sqlite3_stmt *stmt = rows(sql, text);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

/* The bytes of the page that the statement's row (bytes, data, ...) holds. */
static const uint8_t *page_of(sqlite3_stmt *stmt, size_t *size, wl_arena *arena)
{
    unsigned char *data;
    blob_unpacker *unpacker = NULL;
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    *size = (size_t)sqlite3_column_int64(stmt, 0);
    assert_int_equal(blob_decompress(&unpacker, sqlite3_column_blob(stmt, 1),
                                     (size_t)sqlite3_column_bytes(stmt, 1), *size, arena, &data),
                     WL_OK);
    blob_unpacker_free(unpacker);
    return data;
}

static wl_unfolding steps_of_row(sqlite3_stmt *stmt, uint32_t nslots, wl_folded *page,
                                 wl_arena *arena)
{
    page->data = page_of(stmt, &page->size, arena);
    page->nsteps = (uint32_t)sqlite3_column_int(stmt, 2);
    page->nslots = nslots;
    return (wl_unfolding){.pages = page, .npages = 1};
}

static wl_page_reader warps_of_row(sqlite3_stmt *stmt, uint32_t nslots, wl_arena *arena)
{
    size_t size;
    const uint8_t *data = page_of(stmt, &size, arena);
    return wl_page_read(data, size, nslots);
}

/* The sequence of two pages in the capture has one here. */
static void steps_come_back(sqlite3 *sql, wl_arena *arena)
{
    wl_step s;
    wl_folded page;
    sqlite3_stmt *stmt = rows(sql, "SELECT bytes, data, nsteps FROM sequence_pages ORDER BY page");
    wl_unfolding steps = steps_of_row(stmt, 2, &page, arena);
    assert_true(wl_unfolding_step(&steps, &s));
    assert_true(s.pc == 0 && s.mask == UINT32_MAX && s.slot == WL_STEP_ENTRY);
    assert_true(wl_unfolding_step(&steps, &s));
    assert_true(s.pc == 1 && s.mask == UINT32_MAX && s.slot == 0);
    assert_true(s.offset[0] == 0 && s.offset[31] == 124);
    assert_true(wl_unfolding_step(&steps, &s));
    assert_true(s.pc == 5 && s.mask == 11 && s.slot == 1);
    assert_true(s.offset[0] == 128 && s.offset[1] == 120 && s.offset[2] == 0 && s.offset[3] == 136);
    assert_true(wl_unfolding_step(&steps, &s));
    assert_true(s.pc == 3 && s.mask == 11 && s.slot == WL_STEP_BARRIER);
    assert_true(wl_unfolding_step(&steps, &s));
    assert_true(s.pc == 7 && s.mask == 1 && s.slot == WL_STEP_BARRIER);
    assert_false(wl_unfolding_step(&steps, &s) || steps.failed);
    wl_unfolding_free(&steps);
    assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
}

static void warps_come_back(sqlite3 *sql, wl_arena *arena)
{
    wl_warp w;
    sqlite3_stmt *stmt = rows(sql, "SELECT bytes, data FROM warp_pages WHERE warps = 2");
    wl_page_reader page = warps_of_row(stmt, 2, arena);
    assert_true(wl_page_warp(&page, &w));
    assert_true(w.block == 0 && w.number == 0 && w.begin[0] == 0 && w.begin[1] == 0);
    assert_true(wl_page_warp(&page, &w));
    assert_true(w.block == 0 && w.number == 1 && w.begin[0] == 128);
    assert_true(wl_page_warp(&page, &w));
    assert_true(w.block == 3 && w.number == 0 && w.begin[0] == 64 && w.begin[1] == 0);
    assert_false(wl_page_warp(&page, &w));
    assert_false(page.damaged);
    sqlite3_finalize(stmt);
}

static uint32_t steps_of(const prof_warp *warp)
{
    uint32_t count = 0;
    wl_unfolding steps = {.pages = warp->pages, .npages = warp->npages};
    for (wl_step s; wl_unfolding_step(&steps, &s);)
        count++;
    assert_false(steps.failed);
    wl_unfolding_free(&steps);
    return count;
}

/* As the analyses read them. */
static void warps_are_read(const char *profile, uint64_t stored, wl_arena *arena)
{
    static const uint64_t block[] = {0, 0, 3};
    static const int64_t begin[] = {0, 128, 64};
    prof_db *db;
    prof_warp_rows warps_of;
    prof_slot shared;
    uint32_t count, *launches;
    story_expect(prof_open(profile, &db, &err), &err);
    story_expect(prof_load_warp_launches(db, 1, arena, &count, &launches, &err), &err);
    assert_true(count == 2 && launches[0] == 1 && launches[1] == 2);
    uint64_t bytes;
    for (uint32_t launch = 1; launch <= 9; launch += 8) {
        story_expect(prof_count_step_bytes(db, launch, &bytes, &err), &err);
        assert_int_equal(bytes, launch == 1 ? stored : 0);
    }
    story_expect(prof_load_warps(db, 1, arena, &warps_of, &err), &err);
    assert_int_equal(warps_of.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const prof_warp *w = &warps_of.rows[i];
        assert_true(w->block == block[i] && w->number == i % 2 && w->begin[0] == begin[i]);
        assert_int_equal(steps_of(w), 5);
        assert_true(w->nslots == 2 && w->slots[0].space == ACC_GLOBAL && w->slots[0].object == 1);
        shared = w->slots[1];
        assert_true(shared.space == ACC_SHARED && shared.object > 2);
    }
    story_expect(prof_load_warps(db, 9, arena, &warps_of, &err), &err);
    assert_int_equal(warps_of.count, 0);
    prof_close(db);
}

static void sequences_come_back(void **state)
{
    (void)state;
    char capture[4096], profile[4096];
    snprintf(capture, sizeof capture, "%s", story_path("sequences.wlcap"));
    snprintf(profile, sizeof profile, "%s", story_path("sequences.wlprof"));
    write_capture(capture);
    const char *captures[] = {capture};
    prof_options options = {.force = true};
    story_expect(prof_import(captures, 1, profile, &options, &err), &err);
    const struct {
        const char *sql;
        int64_t value;
    } cases[] = {
        {"SELECT count(*) FROM sequences", 1}, /* of both launches */
        {"SELECT nsteps FROM sequences", 5},
        {"SELECT count(*) FROM sequence_pages", 1},
        {"SELECT sum(nwarps) FROM warp_groups", 6},
        {"SELECT object FROM launch_warps WHERE launch = 1 AND slot = 0", 1},
        {"SELECT object FROM launch_warps WHERE launch = 3 AND slot = 0", 2}, /* the repeat */
        {"SELECT count(DISTINCT object) FROM launch_warps WHERE slot = 1 AND space = 1", 1},
        {"SELECT count(*) FROM launches WHERE warps_dropped = 5", 3},
    };
    sqlite3 *sql;
    wl_arena *arena = wl_arena_new();
    assert_int_equal(sqlite3_open_v2(profile, &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (number(sql, cases[i].sql) != cases[i].value)
            fail_msg("%s: %lld", cases[i].sql, (long long)number(sql, cases[i].sql));
    steps_come_back(sql, arena);
    warps_come_back(sql, arena);
    uint64_t stored = (uint64_t)number(sql, "SELECT sum(length(data)) FROM sequence_pages");
    sqlite3_close(sql);
    warps_are_read(profile, stored, arena);
    wl_arena_free(arena);
    unlink(capture);
    unlink(profile);
}

/* ---- launches with more than a record holds ---- */

enum { MANY = 4000, SPLIT_PAGES = 700 };

/* Each sequence has a page of entries, the first one at the pc of its number. */
static void fill_sequence(wl_arena *arena, uint32_t number, obs_sequence *out)
{
    wl_page_writer page = {0};
    for (uint32_t i = 0; i < WL_PAGE_ITEMS; i++)
        assert_true(wl_page_put_step(
            &page, &(wl_step){i ? i * i % 5000 : number, 1 + i % 2, WL_STEP_ENTRY, {0}}));
    *out = (obs_sequence){0, 1, wl_new_array(arena, obs_page, 1)};
    out->pages[0] = (obs_page){page.count, wl_arena_copy(arena, page.data, page.size), page.size};
    free(page.data);
}

/* Warps 0 of blocks `first`, first + 2, ...; the last group has so many that it is split. */
static void fill_group(wl_arena *arena, uint32_t sequence, uint64_t first, uint32_t npages,
                       uint32_t each, obs_warps *out)
{
    *out = (obs_warps){.sequence = sequence, .npages = npages};
    out->pages = wl_new_array(arena, obs_page, npages);
    for (uint32_t i = 0; i < npages; i++) {
        wl_page_writer page = {0};
        for (uint32_t k = 0; k < each; k++, first += 1u << 20)
            assert_true(wl_page_put_warp(&page, &(wl_warp){.block = first}, 0));
        out->pages[i] = (obs_page){each, wl_arena_copy(arena, page.data, page.size), page.size};
        free(page.data);
    }
}

static void write_many(const char *path, wl_arena *arena)
{
    cap_writer *w;
    const cap_record process = story_process("/src/app"), module = story_module(1);
    cap_record launch = story_launch(1, 0, 0);
    obs_summary *s = &launch.launch.summary;
    s->nsequences = MANY;
    s->nwarps = MANY + 1;
    s->warps_dropped = 3;
    s->sequences = wl_new_array(arena, obs_sequence, MANY);
    s->warps = wl_new_array(arena, obs_warps, MANY + 1);
    for (uint32_t i = 0; i < MANY; i++) {
        fill_sequence(arena, i, &s->sequences[i]);
        fill_group(arena, i, i, 1, 1, &s->warps[i]);
    }
    fill_group(arena, MANY / 2, 1u << 20, SPLIT_PAGES, WL_PAGE_ITEMS, &s->warps[MANY]);
    unlink(path);
    story_expect(cap_create(path, &w, &err), &err);
    assert_int_equal(cap_write_process(w, &process.process), WL_OK);
    assert_int_equal(cap_write_module(w, &module.module), WL_OK);
    assert_int_equal(cap_write_observed(w, &launch.launch), WL_OK);
    cap_close(w);
}

/* How many records of sequences there are; none is long. */
static uint32_t count_parts(const char *path)
{
    cap_reader *reader;
    cap_record record;
    uint32_t count = 0;
    story_expect(cap_open(path, &reader, &err), &err);
    for (bool end = false; !end;) {
        assert_int_equal(cap_read(reader, &record, &end, &err), WL_OK);
        if (end || record.type != CAP_SEQUENCES)
            continue;
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < record.sequences.nsequences; i++)
            bytes += record.sequences.sequences[i].pages[0].length;
        for (uint32_t i = 0; i < record.sequences.nwarps; i++)
            for (uint32_t k = 0; k < record.sequences.warps[i].npages; k++)
                bytes += record.sequences.warps[i].pages[k].length;
        assert_true(bytes < 9 << 20);
        count++;
    }
    cap_reader_free(reader);
    return count;
}

static void many_come_in_parts(void **state)
{
    (void)state;
    char capture[4096], profile[4096];
    wl_arena *arena = wl_arena_new();
    prof_warp_rows rows_of;
    prof_db *db;
    sqlite3 *sql;
    snprintf(capture, sizeof capture, "%s", story_path("many.wlcap"));
    snprintf(profile, sizeof profile, "%s", story_path("many.wlprof"));
    write_many(capture, arena);
    assert_true(count_parts(capture) >= 6);
    const char *captures[] = {capture};
    prof_options options = {.force = true};
    story_expect(prof_import(captures, 1, profile, &options, &err), &err);
    assert_int_equal(sqlite3_open_v2(profile, &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(number(sql, "SELECT count(*) FROM sequences"), MANY);
    assert_int_equal(number(sql, "SELECT warps_dropped FROM launches"), 3);
    assert_true(number(sql, "SELECT count(*) FROM warp_groups WHERE nwarps > 1") > 1);
    sqlite3_close(sql);
    story_expect(prof_open(profile, &db, &err), &err);
    story_expect(prof_load_warps(db, 1, arena, &rows_of, &err), &err);
    assert_int_equal(rows_of.count, MANY + SPLIT_PAGES * WL_PAGE_ITEMS);
    const wl_folded *last = NULL;
    wl_step step;
    for (uint32_t i = 0; i < rows_of.count; i++) {
        const prof_warp *w = &rows_of.rows[i];
        wl_unfolding steps = {.pages = w->pages, .npages = w->npages};
        assert_true(w->npages == 1 && (w->pages == last || wl_unfolding_step(&steps, &step)));
        wl_unfolding_free(&steps);
        last = w->pages;
        assert_int_equal(w->block, i < MANY ? i : (uint64_t)(i - MANY + 1) << 20);
        assert_int_equal(step.pc, i < MANY ? i : MANY / 2);
    }
    prof_close(db);
    wl_arena_free(arena);
    unlink(capture);
    unlink(profile);
}

/* ---- what does not hold together ---- */

typedef void change(cap_sequences *s);

static void wrong_count(cap_sequences *s)
{
    s->sequences[0].pages[0].count++;
}

static void cut_page(cap_sequences *s)
{
    s->sequences[0].pages[0].length--;
}

static void slot_beyond(cap_sequences *s)
{
    s->sequences[0].nslots = s->warps[0].nslots = 1;
}

static void other_slots(cap_sequences *s)
{
    s->warps[0].nslots = 1;
}

static void no_such_sequence(cap_sequences *s)
{
    s->warps[0].sequence = 1;
}

static void no_such_array(cap_sequences *s)
{
    s->warps[0].slots[1].object = 2;
}

static void falling_warps(cap_sequences *s)
{
    static const uint8_t twice[] = {1, 0, 0, 0, 0, 0, 0, 0};
    s->warps[0].pages[0] = (obs_page){2, (const char *)twice, sizeof twice};
}

static void a_part_is_missing(cap_sequences *s)
{
    s->first = 1;
}

static void another_launch(cap_sequences *s)
{
    s->launch = 2;
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static change *const changes[] = {wrong_count,   cut_page,         slot_beyond,
                                      other_slots,   no_such_sequence, no_such_array,
                                      falling_warps, another_launch,   a_part_is_missing};
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("steps.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    cap_record r = story_process("/src/app");
    story_expect(prof_add(builder, &r, &err), &err);
    for (uint32_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        r = story_launch(10 + i, 0, 0);
        story_expect(prof_add(builder, &r, &err), &err);
        r = story_sequences(10 + i);
        changes[i](&r.sequences);
        if (prof_add(builder, &r, &err) != WL_CORRUPT)
            fail_msg("change %u is not refused", i);
    }
    r = story_launch(30, 0, 0);
    story_expect(prof_add(builder, &r, &err), &err);
    r = story_sequences(30);
    story_expect(prof_add(builder, &r, &err), &err);
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT); /* only once */
    prof_discard(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_come_back),
        cmocka_unit_test(many_come_in_parts),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
