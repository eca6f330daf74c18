/* A profile made record by record, read by rep_load and drawn. */
#include "payload.h"
#include "support/test.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROFILE WL_BINARY_DIR "/tests/report_load.wlprof"
#define MAPS_PROFILE WL_BINARY_DIR "/tests/report_load_maps.wlprof"
#define SOURCE WL_BINARY_DIR "/tests/report_load.cu"

enum { PC_STORE = 2, REQUESTS = 512, SECTORS = 64, MOST_BLOCKS = 8 };

static const char source_text[] = "__global__ void scatter(float *p)\n"
                                  "{\n"
                                  "    p[threadIdx.x * 8] = 1;\n"
                                  "}\n";

static const char ptx_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry _Z7scatterPf(.param .u64 p)\n"
                               "{\n"
                               "    .reg .b64 %rd<3>;\n"
                               "    .loc 1 3 5\n"
                               "    ld.param.u64 %rd1, [p];\n"
                               "    cvta.to.global.u64 %rd2, %rd1;\n"
                               "    st.global.u32 [%rd2], 1;\n"
                               "    ret;\n"
                               "}\n"
                               ".file 1 \"" SOURCE "\"\n";

static void ok(wl_status status, const wl_error *err)
{
    if (status != WL_OK)
        fail_msg("%s", err->text);
}

static void add(prof_builder *builder, cap_record record)
{
    wl_error err = {0};
    ok(prof_add(builder, &record, &err), &err);
}

/* The maps of so many blocks; `rows` has SECTORS of each. */
static obs_summary make_summary(obs_heat_row *rows, uint32_t sampled)
{
    static uint32_t pcs[] = {PC_STORE};
    static obs_pcset pcsets[] = {{1, pcs}};
    static obs_insn insns[] = {{.pc = PC_STORE,
                                .object = 1,
                                .space = ACC_GLOBAL,
                                .op = ACC_STORE,
                                .bytes = 4,
                                .requests = REQUESTS,
                                .active_lanes = REQUESTS * 32,
                                .sectors = REQUESTS * 32,
                                .sectors_min = REQUESTS * 4,
                                .strided = REQUESTS,
                                .stride = 32}};
    static obs_block_count blocks[] = {{0, 4, REQUESTS, REQUESTS * 32}};
    static obs_heat heats[MOST_BLOCKS];
    for (uint32_t i = 0; i < sampled; i++)
        heats[i] = (obs_heat){.object = 1,
                              .block = i,
                              .block_index = {i, 0, 0},
                              .warps = 2,
                              .nrows = SECTORS,
                              .rows = rows + (size_t)i * SECTORS,
                              .npcsets = 1,
                              .pcsets = pcsets};
    return (obs_summary){.ninsns = 1,
                         .insns = insns,
                         .nblocks = 1,
                         .blocks = blocks,
                         .nheats = sampled,
                         .heats = heats,
                         .warp_instructions = 4 * REQUESTS,
                         .thread_instructions = 128 * REQUESTS,
                         .blocks_run = 256,
                         .blocks_observed = 256,
                         .blocks_sampled = sampled};
}

#define BASE UINT64_C(0x7f0000000000)

/* Each sampled block touches another word of the sectors. */
static void add_launch(prof_builder *builder, uint32_t id, uint32_t sampled)
{
    static obs_heat_row rows[MOST_BLOCKS * SECTORS];
    for (uint32_t i = 0; i < sampled * SECTORS; i++) {
        uint32_t sector = i % SECTORS, warps = 1u << sector / 32;
        rows[i] = (obs_heat_row){.sector = BASE / 32 + sector, .history = warps, .writes = 1};
        rows[i].word[i / SECTORS] = warps;
    }
    cap_launch launch = {.id = id,
                         .module = 1,
                         .kernel = "_Z7scatterPf",
                         .grid = {256, 1, 1},
                         .block = {64, 1, 1},
                         .cluster = {1, 1, 1},
                         .host_seconds = 0.5,
                         .device_seconds = -1,
                         .fault = "",
                         .summary = make_summary(rows, sampled)};
    add(builder, (cap_record){.type = CAP_LAUNCH, .launch = launch});
}

static uint32_t repeats; /* of the first launch, in profiles that are made from now on */

static void add_repeats(prof_builder *builder)
{
    for (uint32_t i = 0, id = 1000; i < repeats; i++, id++) {
        add(builder, (cap_record){.type = CAP_NOTE,
                                  .note = {.id = id,
                                           .module = 1,
                                           .kernel = "_Z7scatterPf",
                                           .grid = {256, 1, 1},
                                           .block = {64, 1, 1},
                                           .cluster = {1, 1, 1},
                                           .params = ""}});
        add(builder, (cap_record){.type = CAP_REPEAT,
                                  .repeat = {.note = id, .same_as = 1, .host_seconds = 0.5}});
    }
}

/* `nlaunches` launches, with the maps of so many blocks each. */
static void make_profile(const char *path, const uint32_t *sampled, uint32_t nlaunches)
{
    static const char *arguments[] = {"/opt/scatter", "--fast"};
    wl_error err = {0};
    test_write_text(SOURCE, source_text);
    prof_builder *builder;
    prof_options options = {.force = true};
    ok(prof_create(path, &options, &builder, &err), &err);
    ok(prof_begin_process(builder, &err), &err);
    add(builder, (cap_record){.type = CAP_PROCESS,
                              .process = {.pid = 9,
                                          .executable = "/opt/scatter",
                                          .directory = "/",
                                          .host = "here",
                                          .collector = "emulate",
                                          .version = "1",
                                          .options = "",
                                          .argc = 2,
                                          .argv = arguments}});
    add(builder, (cap_record){.type = CAP_DEVICE,
                              .device = {.name = "NVIDIA H200",
                                         .cc_major = 9,
                                         .num_sms = 132,
                                         .global_bytes = 1 << 30,
                                         .file = "h200"}});
    add(builder, (cap_record){.type = CAP_MODULE,
                              .module = {.id = 1,
                                         .name = "scatter",
                                         .code = ptx_text,
                                         .length = sizeof ptx_text - 1}});
    add(builder, (cap_record){.type = CAP_OBJECT,
                              .object = {.id = 1,
                                         .kind = CAP_OBJECT_SYMBOL,
                                         .base = BASE,
                                         .bytes = 65536,
                                         .module = 1,
                                         .name = "cells"}});
    for (uint32_t i = 0; i < nlaunches; i++)
        add_launch(builder, i + 1, sampled[i]);
    add_repeats(builder);
    add(builder, (cap_record){.type = CAP_UNSUPPORTED, .unsupported = {"cuFuncLoad"}});
    add(builder, (cap_record){.type = CAP_END});
    ok(prof_finish(builder, &err), &err);
}

typedef struct fixture {
    wl_arena *arena;
    prof_db *db;
    ana_findings findings;
    rep_data data;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    wl_error err = {0};
    make_profile(PROFILE, &(uint32_t){1}, 1);
    f.arena = wl_arena_new();
    ok(prof_open(PROFILE, &f.db, &err), &err);
    ana_thresholds thresholds = ana_thresholds_default();
    ok(ana_find(f.db, &thresholds, f.arena, &f.findings, &err), &err);
    unsigned all = REP_PART_LAUNCH_ROWS | REP_PART_HEATS | REP_PART_SOURCES;
    ok(rep_load(f.db, &f.findings, all, f.arena, &f.data, &err), &err);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    prof_close(f->db);
    wl_arena_free(f->arena);
    unlink(PROFILE);
    unlink(SOURCE);
    return 0;
}

static void test_everything_is_loaded(void **state)
{
    fixture *f = *state;
    assert_int_equal(f->data.kernels.count, 1);
    assert_int_equal(f->data.launches.count, 1);
    assert_int_equal(f->data.instructions.count, 1);
    assert_int_equal(f->data.totals.count, 1);
    assert_int_equal(f->data.nheats, 1);
    assert_int_equal(f->data.heats_left_out, 0);
    assert_int_equal(f->data.heats[0].info.nrows, SECTORS);
    assert_string_equal(f->data.sources[0].text, source_text);
}

static char *drawn(const fixture *f, bool json)
{
    char *text = NULL;
    size_t size = 0;
    wl_error err = {0};
    FILE *out = open_memstream(&text, &size);
    ok(json ? rep_json(&f->data, out, &err)
            : rep_text(&f->data, &(rep_text_options){.width = 120}, out, &err),
       &err);
    fclose(out);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void test_text_of_a_profile(void **state)
{
    fixture *f = *state;
    char *text = drawn(f, false);
    assert_has(text, "scatter --fast");
    assert_has(text, "Only a few words of each sector are ever used");
    assert_has(text, "report_load.cu:3  p[threadIdx.x * 8] = 1;");
    assert_has(text, "32.0 sectors per request, could be 4.00; 512 requests");
    assert_has(text, "1 of 1 launches observed");
    assert_has(text, "cuFuncLoad");
    free(text);
}

static void test_json_of_a_profile(void **state)
{
    fixture *f = *state;
    char *text = drawn(f, true);
    assert_has(text, "\"pattern\":\"strided\",\"subject\":\"kernel-and-object\",\"kernel\":"
                     "\"scatter(float*)\",\"object\":\"cells");
    assert_has(text, "\"excess_sectors\":14336");
    assert_has(text, "\"line\":3,\"executions\":512,\"requests\":512,\"sectors\":16384");
    free(text);
}

/* The parts of a report's data; the maps' rows are checked by their numbers. */
static uint32_t parts_of(const rep_data *data)
{
    char *text = NULL;
    size_t size = 0;
    wl_error err = {0};
    FILE *out = open_memstream(&text, &size);
    ok(write_payload(data, out, &err), &err);
    fclose(out);
    uint32_t parts = 1;
    for (const char *at = text; (at = strchr(at, '.')); at++)
        parts++;
    free(text);
    return parts;
}

/* Two launches of six and seven blocks: of the first launch four maps tell enough; all thirteen
 * are seven different ones. */
static void test_some_maps_or_all(void **state)
{
    (void)state;
    enum { FIRST = 6, SECOND = 7, SOME = 4, WITHOUT_MAPS = 2 };
    wl_error err = {0};
    ana_findings findings = {0};
    rep_data some, all;
    prof_db *db;
    wl_arena *arena = wl_arena_new();
    make_profile(MAPS_PROFILE, (uint32_t[]){FIRST, SECOND}, 2);
    ok(prof_open(MAPS_PROFILE, &db, &err), &err);
    ok(rep_load(db, &findings, REP_PART_HEATS, arena, &some, &err), &err);
    ok(rep_load(db, &findings, REP_PART_ALL_HEATS, arena, &all, &err), &err);
    assert_int_equal(some.nheats, SOME);
    assert_int_equal(some.heats_left_out, FIRST + SECOND - SOME);
    assert_int_equal(parts_of(&some), WITHOUT_MAPS + SOME);
    assert_int_equal(all.nheats, FIRST + SECOND);
    assert_int_equal(all.heats_left_out, 0);
    assert_int_equal(parts_of(&all), WITHOUT_MAPS + SECOND);
    for (uint32_t i = 0; i < all.nheats; i++) {
        const prof_heat *heat = &all.heats[i];
        uint32_t block = i < FIRST ? i : i - FIRST;
        assert_int_equal(heat->info.block_index[0], block);
        assert_int_equal(heat->info.launch, all.launches.rows[i < FIRST ? 0 : 1].id);
        assert_int_equal(heat->rows[0].word[block], 1);
        assert_int_equal(all.heat_same[i], block < FIRST ? block : i);
    }
    prof_close(db);
    wl_arena_free(arena);
    unlink(MAPS_PROFILE);
}

static void change_profile(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Whether a list of maps cannot be read or the rows of one: no report is drawn without. */
static void test_damaged_maps(void **state)
{
    static const char *const damages[] = {"UPDATE heats SET space = 99",
                                          "UPDATE contents SET data = x'00'"};
    static const unsigned parts[] = {REP_PART_HEATS, REP_PART_ALL_HEATS};
    (void)state;
    for (int i = 0; i < 4; i++) {
        wl_error err = {0};
        ana_findings findings = {0};
        rep_data data;
        prof_db *db;
        wl_arena *arena = wl_arena_new();
        make_profile(MAPS_PROFILE, &(uint32_t){2}, 1);
        change_profile(MAPS_PROFILE, damages[i / 2]);
        ok(prof_open(MAPS_PROFILE, &db, &err), &err);
        assert_int_equal(rep_load(db, &findings, parts[i % 2], arena, &data, &err), WL_CORRUPT);
        prof_close(db);
        wl_arena_free(arena);
        unlink(MAPS_PROFILE);
    }
}

/* Everything of a profile whose first launch was repeated so often. */
static void load_repeats(uint32_t count, fixture *f)
{
    wl_error err = {0};
    repeats = count;
    make_profile(MAPS_PROFILE, &(uint32_t){1}, 1);
    repeats = 0;
    *f = (fixture){.arena = wl_arena_new()};
    ana_thresholds thresholds = ana_thresholds_default();
    ok(prof_open(MAPS_PROFILE, &f->db, &err), &err);
    ok(ana_find(f->db, &thresholds, f->arena, &f->findings, &err), &err);
    ok(rep_load(f->db, &f->findings, REP_PART_LAUNCH_ROWS, f->arena, &f->data, &err), &err);
}

/* Whatever is listed: sums are of all launches. */
static void check_sums(const fixture *f, uint32_t launches)
{
    const ana_kernel *k = &f->data.kernel_table.rows[0];
    assert_int_equal(f->data.coverage.launches_observed, launches);
    assert_int_equal(k->launches, launches);
    assert_int_equal(k->counts.thread_instructions, (uint64_t)launches * 128 * REQUESTS);
    assert_int_equal(k->counts.sectors, (uint64_t)launches * 32 * REQUESTS);
    assert_true(k->host_seconds == 0.5 * launches);
    assert_true(f->findings.count > 0);
    assert_int_equal(f->findings.rows[0].access->launches, launches);
    assert_int_equal(f->findings.rows[0].access->example_launch, 1);
}

/* Of more launches than are listed those that are alike are one row, with their number. */
static void test_many_launches(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        fixture f;
        uint32_t launches = REP_MOST_LAUNCHES + more, rows = more ? 2 : launches;
        load_repeats(launches - 1, &f);
        assert_int_equal(f.data.launches.count, rows);
        assert_int_equal(f.data.instructions.count, rows);
        assert_int_equal(f.data.launches.rows[1].count, more ? launches - 1 : 1);
        check_sums(&f, launches);
        prof_close(f.db);
        wl_arena_free(f.arena);
        unlink(MAPS_PROFILE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_launches),     cmocka_unit_test(test_everything_is_loaded),
        cmocka_unit_test(test_text_of_a_profile), cmocka_unit_test(test_json_of_a_profile),
        cmocka_unit_test(test_some_maps_or_all),  cmocka_unit_test(test_damaged_maps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
