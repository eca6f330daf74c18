/* What a profile says of objects beyond address and size: what they are parts of, where they were
 * taken from, what the program called them, and what became of them. */
#include "rows.h"
#include "story.h"
#include "support/test.h"

#include <sqlite3.h>
#include <unistd.h>

enum { BASE = 0x7000 };

static wl_error err;

static cap_record object_of(cap_object object)
{
    object.name = "";
    return (cap_record){.type = CAP_OBJECT, .object = object};
}

static cap_record annotation_of(uint32_t object, const char *tag, uint32_t element_bytes)
{
    return (cap_record){.type = CAP_ANNOTATION, .annotation = {object, tag, element_bytes}};
}

static cap_record free_of(uint32_t object, uint32_t call, cap_freed_how how)
{
    return (cap_record){.type = CAP_FREE, .free = {object, call, how}};
}

/* The profile of these records, of a process that ended in order where `ended`. */
static const char *profile_of(const cap_record *records, size_t count, bool ended)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    const cap_record head = story_process("/src/app"), tail = story_end();
    const char *path = story_path("objects.wlprof");
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    story_expect(prof_add(builder, &head, &err), &err);
    for (size_t i = 0; i < count; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
    if (ended)
        story_expect(prof_add(builder, &tail, &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    return path;
}

static prof_object_rows load(const char *path, wl_arena *arena)
{
    prof_db *db;
    prof_object_rows rows;
    story_expect(prof_open(path, &db, &err), &err);
    story_expect(prof_load_objects(db, arena, &rows, &err), &err);
    prof_close(db);
    return rows;
}

static const char *make_parts(void)
{
    const cap_record records[] = {
        {.type = CAP_POOL, .pool = {1, CAP_POOL_DEFAULT, 0}},
        {.type = CAP_POOL, .pool = {2, CAP_POOL_CREATED, 1}},
        {.type = CAP_POOL_STATE, .pool_state = {2, 0, 8192, 4096}},
        {.type = CAP_POOL_STATE, .pool_state = {2, 0, 6000, 5000}},
        object_of((cap_object){.id = 1, .base = BASE, .bytes = 4096, .pool = 2}),
        object_of((cap_object){.id = 2, .base = BASE + 256, .bytes = 512, .parent = 1}),
        annotation_of(2, "weights", 2),
        annotation_of(2, "gradients", 4),
        object_of((cap_object){.id = 3, .base = 3 * BASE, .bytes = 64}),
    };
    return profile_of(records, sizeof records / sizeof *records, true);
}

static void parts_pools_and_tags_come_back(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_object_rows rows = load(make_parts(), arena);
    assert_int_equal(rows.count, 3);
    const prof_object *whole = &rows.rows[0], *part = &rows.rows[1], *plain = &rows.rows[2];
    assert_int_equal(whole->pool, 2);
    assert_int_equal(whole->parent, 0);
    assert_int_equal(part->parent, whole->id);
    assert_int_equal(part->pool, 0);
    assert_string_equal(part->tag, "gradients"); /* what was said last */
    assert_int_equal(part->element_bytes, 4);
    assert_string_equal(plain->tag, "");
    assert_int_equal(plain->element_bytes, 0);
    wl_arena_free(arena);
}

static void views_name_them(void **state)
{
    (void)state;
    sqlite3 *sql;
    assert_int_equal(sqlite3_open_v2(make_parts(), &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    rows_expect(
        sql,
        "SELECT pool || ' ' || kind || ' ' || device || ' ' || coalesce(bytes, '-') || ' ' || "
        "coalesce(most_reserved || ' ' || most_used, '-') FROM v_pools ORDER BY pool",
        "1 default 0 - -\n2 created 1 4096 8192 5000\n");
    rows_expect(sql,
                "SELECT p.id || ' ' || o.tag || ' ' || o.element_bytes FROM v_objects o "
                "JOIN objects p ON p.name = o.parent",
                "1 gradients 4\n");
    sqlite3_close(sql);
}

static void each_way_to_be_freed(void **state)
{
    static const cap_freed_how ways[] = {CAP_FREED_PROGRAM, CAP_FREED_KERNEL, CAP_FREED_MODULE,
                                         CAP_FREED_CONTEXT, CAP_FREED_UNSEEN, CAP_FREED_EXIT};
    enum { WAYS = sizeof ways / sizeof *ways };
    cap_record records[2 * WAYS];
    (void)state;
    for (uint32_t i = 0; i < WAYS; i++) {
        records[i] = object_of((cap_object){.id = i + 1, .base = BASE * (i + 1), .bytes = 8});
        records[WAYS + i] = free_of(i + 1, 0, ways[i]);
    }
    for (int ended = 0; ended < 2; ended++) { /* the last one is not freed */
        wl_arena *arena = wl_arena_new();
        prof_object_rows rows = load(profile_of(records, 2 * WAYS - 1, ended), arena);
        for (uint32_t i = 0; i < WAYS - 1; i++)
            assert_int_equal(rows.rows[i].freed_how, ways[i]);
        assert_int_equal(rows.rows[WAYS - 1].freed_how, ended ? CAP_FREED_EXIT : CAP_FREED_UNTOLD);
        wl_arena_free(arena);
    }
}

/* Captures of before it was noted. */
static void calls_tell_how_where_records_do_not(void **state)
{
    (void)state;
    const cap_record records[] = {
        object_of((cap_object){.id = 1, .base = BASE, .bytes = 8}),
        object_of((cap_object){.id = 2, .base = 2 * BASE, .bytes = 8}),
        free_of(1, 1, CAP_FREED_UNTOLD),
        free_of(2, 0, CAP_FREED_UNTOLD),
    };
    wl_arena *arena = wl_arena_new();
    prof_object_rows rows = load(profile_of(records, 4, true), arena);
    assert_int_equal(rows.rows[0].freed_how, CAP_FREED_PROGRAM);
    assert_int_equal(rows.rows[1].freed_how, CAP_FREED_UNTOLD);
    assert_true(rows.rows[1].freed);
    wl_arena_free(arena);
}

static void what_is_not_there_cannot_be_annotated(void **state)
{
    (void)state;
    prof_builder *builder;
    prof_options options = {.force = true};
    const cap_record head = story_process("/src/app"), said = annotation_of(9, "nothing", 4);
    story_expect(prof_create(story_path("objects.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    story_expect(prof_add(builder, &head, &err), &err);
    assert_int_equal(prof_add(builder, &said, &err), WL_CORRUPT);
    prof_discard(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_pools_and_tags_come_back),
        cmocka_unit_test(views_name_them),
        cmocka_unit_test(each_way_to_be_freed),
        cmocka_unit_test(calls_tell_how_where_records_do_not),
        cmocka_unit_test(what_is_not_there_cannot_be_annotated),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(story_path("objects.wlprof"));
    return failed;
}
