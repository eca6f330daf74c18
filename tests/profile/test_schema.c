/* The schema: columns.def says what schema.sql says, the views can be pasted and agree with what is
 * loaded, and profiles with another schema are refused. */
#include "story.h"
#include "support/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

static sqlite3 *open_sql(const char *path)
{
    sqlite3 *sql;
    assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    return sql;
}

static void run(sqlite3 *sql, const char *text)
{
    if (sqlite3_exec(sql, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(sql));
}

/* The only number that a statement gives. */
static int64_t number(sqlite3 *sql, const char *text)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(sql, text, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(sql));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static const char *schema_text(void)
{
    static char *text;
    if (!text)
        text = test_read_source("src/profile/schema.sql");
    return text;
}

/* ---- columns ---- */

typedef struct column {
    const char *table; /* begins a table; else NULL */
    const char *name, *type;
    bool required, key;
} column;

static const column columns[] = {
#define TABLE(table, type) {#table, NULL, NULL, false, false},
#define KEY(column, member) {NULL, #column, "INTEGER", false, true},
#define NUMBER(column, member) {NULL, #column, "INTEGER", true, false},
#define ENUM(column, member, n) {NULL, #column, "INTEGER", true, false},
#define ID(column, member) {NULL, #column, "INTEGER", false, false},
#define MAYBE(column, member) {NULL, #column, "INTEGER", false, false},
#define AMOUNT(column, member) {NULL, #column, "REAL", false, false},
#define TEXT(column, member) {NULL, #column, "TEXT", true, false},
#define REMARK(column, member) {NULL, #column, "TEXT", false, false},
#define BYTES(column, member) {NULL, #column, "BLOB", true, false},
#define MAYBE_BYTES(column, member) {NULL, #column, "BLOB", false, false},
#define WHEN(condition, column, member) {NULL, #column, "INTEGER", false, false},
#include "profile/columns.def"
};

static void same_column(const char *table, const column *c, sqlite3_stmt *info)
{
    if (sqlite3_step(info) != SQLITE_ROW)
        fail_msg("schema.sql: %s has no column %s, which columns.def has", table, c->name);
    const char *name = (const char *)sqlite3_column_text(info, 1);
    const char *type = (const char *)sqlite3_column_text(info, 2);
    bool required = sqlite3_column_int(info, 3) != 0;
    bool no_key = c->key && sqlite3_column_int(info, 5) != 1;
    if (strcmp(name, c->name) != 0 || strcmp(type, c->type) != 0 || required != c->required ||
        no_key)
        fail_msg("schema.sql: %s has %s %s%s where columns.def has %s %s%s", table, name, type,
                 required ? " NOT NULL" : "", c->name, c->type, c->required ? " NOT NULL" : "");
}

static void columns_are_those_of_the_schema(void **state)
{
    (void)state;
    sqlite3 *sql = open_sql(":memory:");
    run(sql, schema_text());
    size_t n = sizeof columns / sizeof *columns, seen = 0;
    for (size_t i = 0; i < n;) {
        const char *table = columns[i++].table;
        char text[128];
        sqlite3_stmt *info;
        snprintf(text, sizeof text, "PRAGMA table_info(%s)", table);
        assert_int_equal(sqlite3_prepare_v2(sql, text, -1, &info, NULL), SQLITE_OK);
        for (; i < n && !columns[i].table; i++, seen++)
            same_column(table, &columns[i], info);
        if (sqlite3_step(info) == SQLITE_ROW)
            fail_msg("columns.def: %s lacks %s", table, sqlite3_column_text(info, 1));
        sqlite3_finalize(info);
    }
    assert_true(seen > 150);
    sqlite3_close(sql);
}

/* ---- views ---- */

/* The story, and a launch on the GPU that did what the second one did, to another object. */
static void tell_repeat(prof_builder *builder)
{
    static cap_move move = {1, 2};
    const cap_record head[] = {
        story_process("/src/app"),
        story_device(),
        story_module(1),
        story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
        story_object(1, 1, 0x7f0000000000, 4096),
        story_call(2, "cudaMalloc", CAP_CALL_ALLOC),
        story_object(2, 2, 0x7f0000100000, 4096),
        story_launch(1, 0, 0x7f0000000000),
        story_uses(1),
        {.type = CAP_NOTE, .note = {.id = 2, .module = 1, .kernel = "_Z5scalePf"}},
        {.type = CAP_REPEAT,
         .repeat = {.note = 2, .same_as = 1, .host_seconds = 0.5, .count = 1, .moves = &move}},
        story_end(),
    };
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        story_expect(prof_add(builder, &head[i], &err), &err);
}

static void make(const char *name, void (*tell)(prof_builder *))
{
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path(name), &options, &builder, &err), &err);
    tell(builder);
    story_expect(prof_finish(builder, &err), &err);
}

/* All views go and come back from schema.sql's text, as a person would paste it; each gives
 * rows. */
static void views_can_be_pasted(void **state)
{
    (void)state;
    make("paste.wlprof", story_all);
    sqlite3 *sql = open_sql(story_path("paste.wlprof"));
    int64_t before = number(sql, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'");
    assert_true(before > 15);
    run(sql, "DELETE FROM sqlite_schema WHERE type = 'view'");
    sqlite3_close(sql);
    sql = open_sql(story_path("paste.wlprof"));
    run(sql, strstr(schema_text(), "\nCREATE VIEW"));
    assert_int_equal(number(sql, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'"), before);
    sqlite3_stmt *names;
    const char *views = "SELECT name FROM sqlite_schema WHERE type = 'view' "
                        "AND name NOT IN ('kernel_gaps', 'v_gaps', 'v_loops', 'v_forms', "
                        "'v_parameters', 'v_faults', "
                        "'launch_warps', 'launch_paths', 'v_pools', 'v_launch_ranges', "
                        "'v_graph_nodes', 'v_graph_edges', "
                        "'v_indirect_reaches', 'kernel_barriers')";
    assert_int_equal(sqlite3_prepare_v2(sql, views, -1, &names, NULL), SQLITE_OK);
    while (sqlite3_step(names) == SQLITE_ROW) {
        char text[128];
        const char *name = (const char *)sqlite3_column_text(names, 0);
        snprintf(text, sizeof text, "SELECT count(*) FROM %s", name);
        if (number(sql, text) == 0)
            fail_msg("%s has no rows", name);
    }
    sqlite3_finalize(names);
    sqlite3_close(sql);
    unlink(story_path("paste.wlprof"));
}

static void views_resolve_repeats(void **state)
{
    (void)state;
    const struct {
        const char *sql;
        int64_t value;
    } cases[] = {
        {"SELECT count(*) FROM instructions WHERE launch = 2", 0},
        {"SELECT count(*) FROM launch_instructions WHERE launch = 2", 3},
        {"SELECT sum(sectors) FROM launch_instructions WHERE launch = 2 AND object = 2", 32 + 64},
        {"SELECT count(*) FROM launch_instructions WHERE launch = 2 AND object = 1", 0},
        {"SELECT sum(sectors) FROM kernel_instructions WHERE object = 1", 32 + 64},
        {"SELECT sum(wavefronts) FROM kernel_instructions WHERE space = 1", 2 * 4},
        {"SELECT executions FROM kernel_blocks WHERE first_pc = 7", 2 * 8},
        {"SELECT count(*) FROM blocks b JOIN code c ON c.pc = b.first_pc AND c.block = b.block", 2},
        {"SELECT sum(executions) FROM launch_blocks WHERE launch = 2", 16},
        {"SELECT warp_instructions FROM launch_mix WHERE launch = 2", 80},
        {"SELECT object FROM launch_heats WHERE launch = 2", 2},
        {"SELECT rows_of FROM launch_heats WHERE launch = 2", 1},
        {"SELECT count(*) FROM launch_samples WHERE launch = 2", 2},
        {"SELECT touched FROM launch_uses WHERE launch = 2 AND object = 2 AND known = 2", 7},
        {"SELECT accesses_per_range FROM v_uses WHERE launch = 2 AND space = 'shared'", 3},
        {"SELECT 100 * accesses_per_block_word FROM v_uses WHERE launch = 2 AND space = 'shared'",
         325},
        {"SELECT sectors FROM launch_traffic WHERE launch = 2 AND object = 2", 32 + 64},
        {"SELECT n FROM v_same WHERE moves IS NULL", 1},
        {"SELECT launches FROM v_findings_input WHERE object_id = 2", 1},
        {"SELECT requests FROM v_lines WHERE line = 14", 2 * 8},
        {"SELECT objects_known FROM launches WHERE id = 2", OBS_KNOWN_COUNTED},
        {"SELECT 1000 * host_seconds FROM launches WHERE id = 2", 500},
        {"SELECT sum(count) FROM launch_kinds", 2},
        {"SELECT count FROM kind_instructions WHERE launch = 2 LIMIT 1", 1},
    };
    make("repeat.wlprof", tell_repeat);
    sqlite3 *sql = open_sql(story_path("repeat.wlprof"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (number(sql, cases[i].sql) != cases[i].value)
            fail_msg("%s: %lld", cases[i].sql, (long long)number(sql, cases[i].sql));
    sqlite3_close(sql);
    unlink(story_path("repeat.wlprof"));
}

static void loaders_resolve_repeats(void **state)
{
    (void)state;
    prof_db *db;
    wl_arena *arena = wl_arena_new();
    prof_launch_rows launches;
    prof_instruction_rows insns;
    prof_traffic_rows traffic;
    make("repeat.wlprof", tell_repeat);
    story_expect(prof_open(story_path("repeat.wlprof"), &db, &err), &err);
    story_expect(prof_load_launches(db, PROF_ALL, arena, &launches, &err), &err);
    assert_int_equal(launches.count, 2);
    assert_int_equal(launches.rows[1].rows_of, 1);
    assert_int_equal(launches.rows[1].moves, 1);
    assert_int_equal(launches.rows[1].way, CAP_WAY_EMULATE);
    assert_int_equal(launches.rows[1].blocks_run, 4);
    assert_int_equal(launches.rows[1].mix->warp_instructions[0], 80);
    story_expect(prof_load_instructions(db, PROF_ALL, 2, arena, &insns, &err), &err);
    assert_int_equal(insns.count, 3);
    assert_int_equal(insns.rows[0].c.object, 2);
    assert_int_equal(insns.rows[0].launch, 2);
    story_expect(prof_load_instruction_totals(db, 1, arena, &insns, &err), &err);
    assert_int_equal(insns.count, 5); /* two of each object, and the shared array's */
    story_expect(prof_load_traffic(db, 1, arena, &traffic, &err), &err);
    assert_int_equal(traffic.count, 4);
    assert_true(traffic.rows[1].object == 2 && traffic.rows[1].launch == 2);
    prof_close(db);
    wl_arena_free(arena);
    unlink(story_path("repeat.wlprof"));
}

/* Two launches by note, of which the second repeats the first on another object, and one by the
 * emulator. */
static void tell_parameters(prof_builder *builder)
{
    static const uint64_t words[3][2] = {
        {0x7f0000000010, 5}, {0x7f0000100010, 5}, {7, 0x7f00001003ff}};
    static cap_move move = {1, 2};
    cap_record launch = story_launch(1, 0, 0x7f0000000000),
               own = story_launch(3, 0, 0x7f0000000000);
    own.launch.params = (const char *)words[2];
    own.launch.nparams = sizeof words[2];
    const cap_record told[] = {
        story_process("/src/app"),
        story_device(),
        story_module(1),
        story_object(1, 0, 0x7f0000000000, 4096),
        story_object(2, 0, 0x7f0000100000, 1024),
        {.type = CAP_NOTE,
         .note = {.id = 1,
                  .module = 1,
                  .kernel = "_Z5scalePf",
                  .params = (const char *)words[0],
                  .nparams = sizeof words[0]}},
        {.type = CAP_NOTE,
         .note = {.id = 2,
                  .module = 1,
                  .kernel = "_Z5scalePf",
                  .params = (const char *)words[1],
                  .nparams = sizeof words[1]}},
        launch,
        {.type = CAP_REPEAT, .repeat = {.note = 2, .same_as = 1, .count = 1, .moves = &move}},
        own,
        story_free(2, 0),
        {.type = CAP_NOTE,
         .note = {.id = 4,
                  .module = 1,
                  .kernel = "_Z5scalePf",
                  .params = (const char *)words[1],
                  .nparams = sizeof words[1]}},
        story_end(),
    };
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        story_expect(prof_add(builder, &told[i], &err), &err);
    story_expect(prof_end_process(builder, NULL, &err), &err);
}

static void parameters_lead_to_objects(void **state)
{
    (void)state;
    const struct {
        const char *sql;
        int64_t value;
    } cases[] = {
        {"SELECT count(*) FROM parameters", 1},
        {"SELECT type = 'float*' AND offset = 0 AND bytes = 8 FROM parameters", 1},
        {"SELECT count(*) FROM reaches", 2}, /* a repeat has none of its own; object 2 was freed */
        {"SELECT object_offset FROM reaches WHERE launch = 1 AND offset = 0 AND object = 1", 16},
        {"SELECT object_offset FROM reaches WHERE launch = 3 AND offset = 8 AND object = 2", 0x3ff},
        {"SELECT count(*) FROM v_parameters WHERE position = 0", 2},
    };
    make("parameters.wlprof", tell_parameters);
    sqlite3 *sql = open_sql(story_path("parameters.wlprof"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (number(sql, cases[i].sql) != cases[i].value)
            fail_msg("%s: %lld", cases[i].sql, (long long)number(sql, cases[i].sql));
    sqlite3_close(sql);
    unlink(story_path("parameters.wlprof"));
}

/* Launch 1 was replayed but for one instruction and one basic block, 2 whole, 3 did what 1 did. */
static void tell_replayed(prof_builder *builder)
{
    static cap_gap gap = {5, "its address depends on data"};
    cap_record process = story_process("/src/app");
    process.process.collector = "inline";
    cap_record part = story_launch(1, 0, 0x7f0000000000),
               whole = story_launch(2, 0, 0x7f0000000000);
    static obs_block_count blocks[3];
    memcpy(blocks, part.launch.summary.blocks + 1, sizeof *blocks);
    part.launch.summary.blocks = blocks; /* without the first; the others are empty */
    part.launch.summary.nblocks = 3;
    const cap_record told[] = {
        process,
        story_device(),
        story_module(1),
        story_object(1, 0, 0x7f0000000000, 4096),
        {.type = CAP_NOTE, .note = {.id = 1, .module = 1, .kernel = "_Z5scalePf"}},
        {.type = CAP_NOTE, .note = {.id = 2, .module = 1, .kernel = "_Z5scalePf"}},
        {.type = CAP_NOTE, .note = {.id = 3, .module = 1, .kernel = "_Z5scalePf"}},
        {.type = CAP_WAY,
         .way = {.note = 1, .way = CAP_WAY_REPLAY, .reason = "", .count = 1, .gaps = &gap}},
        part,
        {.type = CAP_WAY, .way = {.note = 2, .way = CAP_WAY_REPLAY, .reason = ""}},
        whole,
        {.type = CAP_REPEAT, .repeat = {.note = 3, .same_as = 1}},
        story_end(),
    };
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        story_expect(prof_add(builder, &told[i], &err), &err);
    story_expect(prof_end_process(builder, NULL, &err), &err);
}

static void launches_say_what_is_known(void **state)
{
    (void)state;
    const struct {
        const char *sql;
        int64_t value;
    } cases[] = {
        {"SELECT count(*) FROM gaps WHERE launch = 1 AND pc = 5", 1},
        {"SELECT count(*) FROM gaps WHERE launch <> 1", 0},
        {"SELECT count(*) FROM kernel_gaps", 1},
        {"SELECT group_concat(accesses_known, '') FROM launches", 10},
        {"SELECT group_concat(mix_whole, '') FROM launches", 10},
        {"SELECT count(*) FROM blocks WHERE launch = 1", 1},
        {"SELECT count(DISTINCT block) FROM blocks WHERE first_pc = 7", 1},
        {"SELECT count(*) FROM launches l JOIN names n ON n.kind = 'registers' "
         "AND n.value = l.registers_by WHERE n.name = 'ptxas'",
         3},
    };
    make("replayed.wlprof", tell_replayed);
    sqlite3 *sql = open_sql(story_path("replayed.wlprof"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (number(sql, cases[i].sql) != cases[i].value)
            fail_msg("%s: %lld", cases[i].sql, (long long)number(sql, cases[i].sql));
    sqlite3_close(sql);
    unlink(story_path("replayed.wlprof"));
}

/* ---- other schemas ---- */

static void refused(const char *change, wl_status expected, const char *text)
{
    prof_db *db;
    make("other.wlprof", story_all);
    sqlite3 *sql = open_sql(story_path("other.wlprof"));
    run(sql, change);
    sqlite3_close(sql);
    assert_int_equal(prof_open(story_path("other.wlprof"), &db, &err), expected);
    assert_null(db);
    if (!strstr(err.text, text))
        fail_msg("%s: %s", change, err.text);
    unlink(story_path("other.wlprof"));
}

static void other_schemas_are_refused(void **state)
{
    (void)state;
    refused("PRAGMA user_version = 9", WL_VERSION, "profile the program again");
    refused("PRAGMA user_version = 4000", WL_VERSION, "schema 4000");
    refused("DROP VIEW launch_instructions", WL_CORRUPT, "no view launch_instructions");
    refused("DROP VIEW v_same; CREATE VIEW v_same AS SELECT 1 AS kernel, 1 AS rows_of, "
            "1 AS moves, 1 AS n",
            WL_VERSION, "view v_same");
    refused("DROP TABLE gaps", WL_CORRUPT, "no table gaps");
    refused("ALTER TABLE launch_kinds ADD COLUMN more INTEGER", WL_VERSION, "table launch_kinds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_those_of_the_schema),
        cmocka_unit_test(views_can_be_pasted),
        cmocka_unit_test(views_resolve_repeats),
        cmocka_unit_test(loaders_resolve_repeats),
        cmocka_unit_test(launches_say_what_is_known),
        cmocka_unit_test(parameters_lead_to_objects),
        cmocka_unit_test(other_schemas_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
