/* Listings: machine code and PTX by hand, what is written of them, and what damage does. */
#include "story.h"
#include "support/test.h"

#include "profile/builder.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 5, SM = 80, ALL_BYTES = 32 << 20, ALL_INSNS = 100000 };

static const char file_name[] = "listing.wlprof";
static const char measured_ptx[] = "one\n  two // a word\n\nfour\n";
static const char kept[] = "one\0two\0\0four"; /* the same, as ptxas keeps it */

/* MOV R1, c[0x0][0x28]; MOV R2, c[0x0][0x178]; ISETP.GE.AND P0, PT, R2, 0x1, PT; nothing that is known;
 * what fills up */
static const uint64_t words[COUNT][2] = {{0x00000a0000017a02, 0x000fe40000000f00},
                                         {0x00005e0000027a02, 0x000fe20000000f00},
                                         {0x000000010200780c, 0x000fe20003f06270},
                                         {0xffffffffffffffff, 0xffffffffffffffff},
                                         {0, 0}};
static const char *const files[] = {"/src/own.cu", "/src/helper.cuh"};

typedef struct told { /* what the tests share */
    prof_builder *builder;
    wl_arena *arena;
    sass_insn insns[COUNT];
    sass_code code;
    code_place places[3]; /* of the PTX */
    kernel kernel;
} told;

static wl_error err;

static int set_up(void **state)
{
    static told t;
    t = (told){.builder = story_begin(file_name),
               .arena = wl_arena_new(),
               .insns = {{.line = 2, .source_file = 2, .source_line = 70},
                         {.source_file = 1, .source_line = 9},
                         {.line = 4},
                         {.line = 2},
                         {.cost = SASS_PADDING, .line = 2}},
               .code = {.sm = SM,
                        .count = COUNT,
                        .bytes = (const unsigned char *)words,
                        .lines = 3,
                        .files = (const char **)files,
                        .nfiles = 2,
                        .ptx = kept,
                        .ptx_bytes = sizeof kept},
               .kernel = {.id = 7, .ncode = 3}};
    t.code.insns = t.insns;
    const uint32_t file = sources_id(t.builder->sources, "/src/caller.cu", "/");
    t.places[0] = (code_place){.ptx_line = 2, .file = file, .line = 31};
    t.places[1] = (code_place){.ptx_line = 2, .file = file, .line = 32}; /* the first one counts */
    t.places[2] = (code_place){.ptx_line = 4};
    t.kernel.places = t.places;
    *state = &t;
    return 0;
}

static int tear_down(void **state)
{
    told *t = *state;
    wl_arena_free(t->arena);
    return unlink(story_path(file_name));
}

static void write_machine_of(told *t, const listed_code *from)
{
    story_expect(builder_machine_listing(t->builder, &t->kernel, from, t->arena, &err), &err);
}

static listed_code measured_by(const told *t, const char *ptx)
{
    return (listed_code){.code = &t->code, .ptx = ptx, .device_sm = 90};
}

/* Ends the profile and reads the only listing. */
static prof_listing read_listing(told *t, prof_file_rows *paths)
{
    prof_listing_rows rows;
    prof_db *db = story_finish(t->builder, file_name);
    story_expect(prof_load_listings(db, t->arena, &rows, &err), &err);
    story_expect(prof_load_files(db, t->arena, paths, &err), &err);
    prof_close(db);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.rows[0].kernel, 7);
    return rows.rows[0];
}

static void is_listed(const prof_file_rows *paths, const prof_listed *insn, const char *text,
                      uint32_t ptx_line, const char *path, uint32_t line)
{
    const prof_file *file = prof_find_file(paths, insn->file);
    assert_string_equal(insn->text, text);
    assert_int_equal(insn->ptx_line, ptx_line);
    assert_string_equal(file ? file->path : "", path);
    assert_int_equal(insn->line, line);
}

/* ---- machine code ---- */

static void machine_code_has_lines_of_its_ptx(void **state)
{
    told *t = *state;
    prof_file_rows paths;
    const listed_code from = measured_by(t, measured_ptx);
    write_machine_of(t, &from);
    prof_listing l = read_listing(t, &paths);
    assert_int_equal(l.kind, CAP_MODULE_CUBIN);
    assert_true(l.sm == 80 && l.device_sm == 90 && l.ninsns == 4); /* what fills up is left out */
    assert_string_equal(l.missing, "");
    assert_string_equal(l.apart, "");
    is_listed(&paths, &l.insns[0], "MOV R1, c[0x0][0x28]", 2, "/src/caller.cu", 31);
    is_listed(&paths, &l.insns[1], "MOV R2, c[0x0][0x178]", 0, "/src/own.cu", 9);
    is_listed(&paths, &l.insns[2], "ISETP.GE.AND P0, PT, R2, 0x1, PT", 4, "", 0);
    is_listed(&paths, &l.insns[3], "UNKNOWN (opcode 0x0)", 2, "/src/caller.cu", 31);
}

static void of_other_ptx_only_source_lines_count(void **state)
{
    told *t = *state;
    prof_file_rows paths;
    const listed_code from = measured_by(t, "one\nanother\n");
    write_machine_of(t, &from);
    prof_listing l = read_listing(t, &paths);
    assert_string_equal(l.apart, "its machine code was made from other PTX");
    is_listed(&paths, &l.insns[0], "MOV R1, c[0x0][0x28]", 0, "/src/helper.cuh", 70);
    is_listed(&paths, &l.insns[2], "ISETP.GE.AND P0, PT, R2, 0x1, PT", 0, "", 0);
}

static void without_lines_that_is_said(void **state)
{
    told *t = *state;
    prof_file_rows paths;
    const listed_code from = measured_by(t, measured_ptx);
    t->code.ptx = NULL;
    write_machine_of(t, &from);
    assert_string_equal(read_listing(t, &paths).apart,
                        "its machine code has no line information (nvcc -lineinfo)");
}

/* ---- what is not there ---- */

static void is_missing(told *t, const listed_code *from, uint32_t ninsns, const char *why)
{
    prof_file_rows paths;
    write_machine_of(t, from);
    prof_listing l = read_listing(t, &paths);
    assert_null(l.insns);
    assert_int_equal(l.ninsns, ninsns);
    assert_string_equal(l.missing, why);
}

static void no_machine_code_says_why(void **state)
{
    is_missing(*state, &(listed_code){.missing = "there is none"}, 0, "there is none");
}

static void a_long_kernel_is_left_out(void **state)
{
    told *t = *state;
    const listed_code from = measured_by(t, measured_ptx);
    t->code.count = ALL_INSNS + 1;
    t->code.insns = wl_new_array(t->arena, sass_insn, ALL_INSNS + 1);
    is_missing(t, &from, ALL_INSNS + 1,
               "it has 100001 instructions, and a profile lists no more than 100000 of a kernel");
}

static void what_finds_no_room_is_left_out(void **state)
{
    told *t = *state;
    const listed_code from = measured_by(t, measured_ptx);
    t->builder->listed_bytes = ALL_BYTES - 20;
    is_missing(t, &from, 4,
               "the listings of the kernels before it take the 32 MiB that a profile has for them");
}

/* ---- PTX that machine code keeps ---- */

static const char kept_kernel[] = ".version 8.0\0.target sm_80\0.address_size 64\0"
                                  ".visible .entry k()\0{\0.reg .b32 %r<3>;\0"
                                  "mov.u32 %r1, 5;\0add.s32 %r2, %r1, 1;\0ret;\0}";

static void keep(told *t, const char *ptx, size_t bytes)
{
    t->code.ptx = ptx;
    t->code.ptx_bytes = bytes;
    story_expect(builder_kept_ptx(t->builder, &t->kernel, "k", &t->code, t->arena, &err), &err);
}

static void kept_ptx_has_the_lines_of_machine_code(void **state)
{
    told *t = *state;
    prof_file_rows paths;
    t->insns[0] = (sass_insn){.line = 9, .source_file = 1, .source_line = 12};
    t->insns[1] = (sass_insn){.line = 7}; /* of no source line */
    t->insns[2] = (sass_insn){.line = 7, .source_file = 2, .source_line = 30};
    t->insns[3] = (sass_insn){.line = 7, .source_file = 2, .source_line = 31};
    keep(t, kept_kernel, sizeof kept_kernel);
    prof_listing l = read_listing(t, &paths);
    assert_true(l.kind == CAP_MODULE_PTX && l.sm == SM && l.ninsns == 3);
    is_listed(&paths, &l.insns[0], "mov.u32 %r1, 5;", 7, "/src/helper.cuh", 30);
    is_listed(&paths, &l.insns[1], "add.s32 %r2, %r1, 1;", 8, "", 0);
    is_listed(&paths, &l.insns[2], "ret;", 9, "/src/own.cu", 12);
}

static void kept_ptx_that_cannot_be_read_is_left_out(void **state)
{
    told *t = *state;
    static const char damaged[] = ".version\0{", other[] = ".version 8.0\0.target sm_80\0"
                                                           ".address_size 64";
    prof_listing_rows rows;
    keep(t, damaged, sizeof damaged);
    keep(t, other, sizeof other); /* without the kernel */
    keep(t, NULL, 0);
    prof_db *db = story_finish(t->builder, file_name);
    story_expect(prof_load_listings(db, t->arena, &rows, &err), &err);
    assert_int_equal(rows.count, 0);
    prof_close(db);
}

/* ---- reading ---- */

static void change_profile(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(story_path(file_name), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static wl_status load_changed(const told *t, const char *sql, prof_listing_rows *rows)
{
    prof_db *db;
    change_profile(sql);
    story_expect(prof_open(story_path(file_name), &db, &err), &err);
    wl_status status = prof_load_listings(db, t->arena, rows, &err);
    prof_close(db);
    return status;
}

static void damaged_listings_are_refused(void **state)
{
    told *t = *state;
    static const char *const damage[] = {
        "UPDATE listings SET instructions = instructions + 1",
        "UPDATE listings SET instructions = instructions - 2", /* texts follow the last */
        "UPDATE listings SET instructions = 4, bytes = bytes - 1",
        "UPDATE listings SET instructions = 4294967295",
        "UPDATE listings SET instructions = 4, data = zeroblob(20)",
        "UPDATE listings SET kind = 2",
    };
    const listed_code from = measured_by(t, measured_ptx);
    prof_listing_rows rows;
    write_machine_of(t, &from);
    prof_close(story_finish(t->builder, file_name));
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++)
        if (load_changed(t, damage[i], &rows) != WL_CORRUPT)
            fail_msg("%s was not noticed", damage[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(machine_code_has_lines_of_its_ptx),
        TEST(of_other_ptx_only_source_lines_count),
        TEST(without_lines_that_is_said),
        TEST(no_machine_code_says_why),
        TEST(a_long_kernel_is_left_out),
        TEST(what_finds_no_room_is_left_out),
        TEST(kept_ptx_has_the_lines_of_machine_code),
        TEST(kept_ptx_that_cannot_be_read_is_left_out),
        TEST(damaged_listings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
