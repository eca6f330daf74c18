/* What warps did, as the HTML report holds it: every warp, every page, and nothing where there is no room. */
#include "render.h"
#include "report/impl.h"
#include "sample.h"
#include "support/test.h"
#include "unpack.h"
#include "warps.h"

#include <stdlib.h>
#include <string.h>

typedef struct packing {
    wl_arena *arena;
    rep_data data;
    ana_explore explored;
    rep_parts parts;
} packing;

static packing packed(uint64_t room, json_t **row)
{
    packing f = {.arena = wl_arena_new(), .parts = {.explore_room = room}};
    sample_make(&f.data, f.arena);
    sample_warps(&f.explored, f.arena);
    rep_add_part(&f.parts, (rep_part){0}); /* as that of the text */
    *row = rep_pack_explored(&f.data, &f.explored, &f.parts);
    assert_non_null(*row);
    return f;
}

static void clear(packing *f, json_t *row)
{
    json_decref(row);
    rep_free_parts(&f->parts);
    wl_arena_free(f->arena);
}

static json_int_t integer(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static uint32_t element(const uint8_t *bytes, json_t *row, const char *name, uint32_t width,
                        uint32_t i)
{
    json_t *place = json_object_get(json_object_get(row, "columns"), name);
    size_t offset = (size_t)json_integer_value(json_array_get(place, 0));
    size_t count = (size_t)json_integer_value(json_array_get(place, 1));
    uint32_t value = 0;
    assert_true(i < count);
    for (uint32_t b = 0; b < width; b++)
        value |= (uint32_t)bytes[offset + b * count + i] << (8 * b);
    return value;
}

static uint32_t length_of(json_t *row, const char *name)
{
    json_t *place = json_object_get(json_object_get(row, "columns"), name);
    return (uint32_t)json_integer_value(json_array_get(place, 1));
}

static const prof_warp *find_warp(const ana_explore *e, const wl_warp *warp)
{
    for (uint32_t i = 0; i < e->warps.count; i++)
        if (e->warps.rows[i].block == warp->block && e->warps.rows[i].number == warp->number)
            return &e->warps.rows[i];
    fail_msg("there is no warp %u of block %u", warp->number, (unsigned)warp->block);
    return NULL;
}

/* The warps of a group, from `at` on, are those of the sample with these objects. */
static uint32_t check_page(const packing *f, const uint8_t *at, uint32_t size, uint32_t object)
{
    uint32_t count = 0;
    wl_page_reader reader = wl_page_read(at, size, SAMPLE_SLOTS);
    for (wl_warp warp; wl_page_warp(&reader, &warp); count++) {
        const prof_warp *from = find_warp(&f->explored, &warp);
        assert_memory_equal(warp.begin, from->begin, SAMPLE_SLOTS * sizeof *warp.begin);
        assert_int_equal(from->slots[1].object, object);
    }
    assert_false(reader.damaged);
    return count;
}

static void test_all_warps_are_there(void **ignored)
{
    (void)ignored;
    json_t *row;
    size_t size, bytes;
    packing f = packed(UINT64_MAX, &row);
    uint8_t *columns = unpacked(&f.parts.rows[integer(row, "part")], &size);
    uint8_t *members = unpacked(&f.parts.rows[integer(row, "members")], &bytes);
    uint32_t groups = length_of(row, "group_sequence"), count = 0, at = 0;
    assert_int_equal(groups,
                     3); /* i * i % 3 is 0 or 1; the first sequence on two sets of objects */
    for (uint32_t g = 0, page = 0; g < groups; g++) {
        assert_int_equal(element(columns, row, "group_slots", 1, g), SAMPLE_SLOTS);
        uint32_t object = element(columns, row, "slot_object", 4, g * SAMPLE_SLOTS + 1);
        assert_int_equal(element(columns, row, "slot_space", 1, g * SAMPLE_SLOTS + 1), ACC_SHARED);
        for (uint32_t i = 0; i < element(columns, row, "group_pages", 4, g); i++, page++) {
            uint32_t length = element(columns, row, "warp_page_bytes", 4, page);
            count += check_page(&f, members + at, length, object);
            at += length;
        }
    }
    assert_int_equal(count, SAMPLE_WARPS);
    assert_int_equal(at, bytes);
    assert_int_equal(integer(row, "warps"), SAMPLE_WARPS);
    free(columns), free(members);
    clear(&f, row);
}

static void test_pages_are_the_profile_s(void **ignored)
{
    (void)ignored;
    json_t *row;
    size_t size;
    packing f = packed(UINT64_MAX, &row);
    uint8_t *columns = unpacked(&f.parts.rows[integer(row, "part")], &size);
    json_t *parts = json_object_get(row, "pages");
    uint32_t page = 0, steps = 0;
    assert_true(json_array_size(parts) > 1); /* they do not fit into one */
    for (uint32_t s = 0; s < length_of(row, "pages"); s++)
        for (uint32_t i = 0; i < element(columns, row, "pages", 4, s); i++)
            steps += element(columns, row, "page_steps", 4, page++);
    assert_int_equal(steps, 2 * SAMPLE_STEPS); /* the third sequence is nobody's */
    size_t total = 0;
    for (size_t i = 0; i < json_array_size(parts); i++) {
        free(unpacked(&f.parts.rows[json_integer_value(json_array_get(parts, i))], &size));
        total += size;
    }
    size_t expected = 0;
    for (uint32_t i = 0; i < page; i++)
        expected += element(columns, row, "page_bytes", 4, i);
    assert_int_equal(total, expected);
    const wl_folded *first = f.explored.warps.rows[0].pages;
    uint8_t *data = unpacked(&f.parts.rows[json_integer_value(json_array_get(parts, 0))], &size);
    assert_memory_equal(data, first->data, first->size);
    free(data), free(columns);
    clear(&f, row);
}

static void test_what_finds_no_room_is_left_out(void **ignored)
{
    (void)ignored;
    json_t *row;
    packing f = packed(1000, &row);
    assert_true(integer(row, "left_out") > 1000);
    assert_null(json_object_get(row, "pages"));
    assert_int_equal(f.parts.count, 1);
    assert_int_equal(f.parts.explore_room, 1000);
    assert_int_equal(integer(json_object_get(row, "compared"), "alike"), SAMPLE_WARPS);
    clear(&f, row);
}

/* ---- the page ---- */

/* How often `c` stands in the data of the page. */
static uint32_t count_in_data(const char *html, char c)
{
    const char *at = strstr(html, "id=\"payload\">");
    uint32_t count = 0;
    assert_non_null(at);
    for (at += strlen("id=\"payload\">"); *at && *at != '<'; at++)
        count += *at == c;
    return count;
}

static void test_several_profiles_share_a_page(void **ignored)
{
    (void)ignored;
    if (!rep_html_available())
        skip();
    json_t *row;
    uint32_t left_out;
    packing f = packed(UINT64_MAX, &row);
    f.data.warps = (ana_explore_rows){1, &f.explored};
    const rep_data *both[] = {&f.data, &f.data};
    char *one = explorer_of(both, 1, &left_out), *two = explorer_of(both, 2, &left_out);
    assert_int_equal(left_out, 0);
    assert_int_equal(count_in_data(one, ':'), 0);
    assert_int_equal(count_in_data(two, ':'), 1);
    assert_true(count_in_data(one, '.') > 3);
    assert_int_equal(count_in_data(two, '.'), 2 * count_in_data(one, '.'));
    assert_non_null(strstr(two, "connect-src 'none'"));
    assert_null(strstr(two, "connect-src 'self'"));
    free(one), free(two);
    clear(&f, row);
}

static void test_a_page_may_ask_for_what_is_served(void **ignored)
{
    (void)ignored;
    const rep_served served[] = {{7, 1, false}, {9, 2, true}};
    json_t *row;
    rep_parts parts;
    packing f = packed(UINT64_MAX, &row);
    f.data.served = served;
    f.data.nserved = 2;
    f.data.profile = "run.wlprof";
    json_t *payload = payload_json(&f.data, &parts), *rows = json_object_get(payload, "served");
    assert_int_equal(json_array_size(rows), 2);
    assert_int_equal(integer(json_array_get(rows, 1), "launch"), 9);
    assert_int_equal(integer(json_array_get(rows, 1), "kernel"), 2);
    assert_null(json_object_get(json_array_get(rows, 0), "hashed"));
    assert_true(json_is_true(json_object_get(json_array_get(rows, 1), "hashed")));
    assert_string_equal(json_string_value(json_object_get(payload, "profile")), "run.wlprof");
    json_decref(payload);
    rep_free_parts(&parts);
    uint32_t left_out;
    const rep_data *only = &f.data;
    char *html = rep_html_available() ? explorer_of(&only, 1, &left_out) : NULL;
    if (html) {
        assert_non_null(strstr(html, "connect-src 'self'"));
        assert_null(strstr(html, "connect-src 'none'"));
    }
    free(html);
    clear(&f, row);
}

static void test_launches_without_room_are_counted(void **ignored)
{
    (void)ignored;
    json_t *row;
    packing f = packed(1000, &row);
    json_decref(row);
    for (uint32_t i = 1; i <= 2; i++) {
        row = rep_explored_row(&f.data, &f.explored, NULL, &f.parts);
        assert_int_equal(f.parts.explore_left_out, i);
        json_decref(row);
    }
    f.parts.explore_room = UINT64_MAX;
    row = rep_explored_row(&f.data, &f.explored, NULL, &f.parts);
    assert_int_equal(f.parts.explore_left_out, 2);
    clear(&f, row);
}

/* ---- paths ---- */

/* Three paths; of two warps in the middle nothing is known. */
static rep_paths sample_paths(void)
{
    static prof_path paths[] = {
        {1, 0, {.hash = 7, .instructions = 100, .lane_instructions = 3200, .warps = 9}},
        {1,
         1,
         {.hash = 8, .instructions = 250, .lane_instructions = UINT64_MAX, .warps = 2, .first = 9}},
        {1,
         2,
         {.hash = 9,
          .instructions = 70000,
          .lane_instructions = UINT64_C(5) << 32,
          .warps = 1,
          .first = 13}}};
    static prof_path_run runs[] = {{0, 0, 9}, {1, 9, 2}, {OBS_NO_PATH, 11, 2}, {2, 13, 1}};
    return (rep_paths){.hashed = {.launch = 1,
                                  .warps = 14,
                                  .known = 12,
                                  .blocks = 7,
                                  .blocks_known = 6,
                                  .warps_of_block = 2,
                                  .grid = {7, 1, 1},
                                  .npaths = 3,
                                  .representative = paths[0].p},
                       .paths = {3, paths},
                       .runs = {4, runs}};
}

static void test_paths_are_there(void **ignored)
{
    (void)ignored;
    size_t size;
    rep_paths paths = sample_paths();
    rep_parts parts = {.explore_room = 1000};
    json_t *row = rep_pack_paths(&paths, NULL, &parts);
    assert_non_null(row);
    uint8_t *columns = unpacked(&parts.rows[integer(row, "part")], &size);
    static const uint32_t instructions[] = {100, 250, 70000}, path[] = {1, 2, 0, 3},
                          warps[] = {9, 2, 2, 1};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(element(columns, row, "instructions", 4, i), instructions[i]);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(element(columns, row, "run_path", 4, i), path[i]);
        assert_int_equal(element(columns, row, "run_warps", 4, i), warps[i]);
    }
    assert_int_equal(element(columns, row, "lane_instructions", 4, 0), 3200);
    assert_int_equal(element(columns, row, "lane_instructions", 4, 1), 0); /* not known */
    assert_int_equal(element(columns, row, "lane_instructions", 4, 2),
                     0); /* the upper half has it */
    json_t *compared = json_object_get(row, "compared");
    assert_string_equal(json_string_value(json_object_get(compared, "known_by")), "hashes");
    assert_true(integer(compared, "count") == 12 && integer(compared, "dropped") == 2);
    assert_true(integer(compared, "sequences") == 3 && integer(compared, "alike") == 9);
    assert_null(json_object_get(compared, "requests"));
    free(columns);
    json_decref(row);
    rep_free_parts(&parts);
}

static void test_paths_without_room_are_left_out(void **ignored)
{
    (void)ignored;
    rep_paths paths = sample_paths();
    rep_parts parts = {.explore_room = 10};
    json_t *row = rep_pack_paths(&paths, NULL, &parts);
    assert_true(integer(row, "left_out") > 10);
    assert_null(json_object_get(row, "columns"));
    assert_int_equal(parts.count, 0);
    json_decref(row);
    parts.explore_room = 1 << 20;
    paths.hashed.warps = UINT64_C(1) << 30; /* more than a browser is given */
    row = rep_pack_paths(&paths, NULL, &parts);
    assert_true(integer(row, "left_out") > 10);
    json_decref(row);
    rep_free_parts(&parts);
}

static void test_a_launch_is_left_out_once(void **ignored)
{
    (void)ignored;
    json_t *row;
    rep_paths paths = sample_paths();
    packing f = packed(10, &row);
    json_decref(row);
    row = rep_explored_row(&f.data, &f.explored, &paths,
                           &f.parts); /* both its steps and its paths */
    assert_non_null(json_object_get(row, "left_out"));
    assert_non_null(json_object_get(json_object_get(row, "hashed"), "left_out"));
    assert_int_equal(f.parts.explore_left_out, 1);
    json_decref(row);
    row = rep_explored_row(&f.data, NULL, &paths, &f.parts);
    assert_int_equal(f.parts.explore_left_out, 2);
    json_decref(row);
    paths.hashed.warps = UINT64_C(1) << 30; /* no server helps there */
    row = rep_explored_row(&f.data, NULL, &paths, &f.parts);
    assert_int_equal(f.parts.explore_left_out, 2);
    json_decref(row);
    f.parts.explore_room = UINT64_MAX;
    row = rep_explored_row(&f.data, &f.explored, NULL, &f.parts);
    assert_int_equal(f.parts.explore_left_out, 2);
    assert_null(json_object_get(row, "hashed"));
    clear(&f, row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_warps_are_there),
                                       cmocka_unit_test(test_pages_are_the_profile_s),
                                       cmocka_unit_test(test_what_finds_no_room_is_left_out),
                                       cmocka_unit_test(test_several_profiles_share_a_page),
                                       cmocka_unit_test(test_a_page_may_ask_for_what_is_served),
                                       cmocka_unit_test(test_launches_without_room_are_counted),
                                       cmocka_unit_test(test_paths_are_there),
                                       cmocka_unit_test(test_paths_without_room_are_left_out),
                                       cmocka_unit_test(test_a_launch_is_left_out_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
