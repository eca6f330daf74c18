/* What the profile says of a kernel without running it, worked out by hand. tests/cli compares it
 * with `warplens ptx`. */
#include "story.h"
#include "support/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

/* out[tid] = 2 * the sum over i < 8 of in[tid + 32 i] + in[tid + 32 i + 1024]; pcs at the left. */
static const char ptx[] = ".version 8.0\n"
                          ".target sm_90\n"
                          ".address_size 64\n"
                          ".visible .entry facts(.param .u64 in, .param .u64 out)\n"
                          "{\n"
                          ".reg .b64 %rd<6>;\n"
                          ".reg .b32 %r<3>;\n"
                          ".reg .f32 %f<6>;\n"
                          ".reg .f64 %d<3>;\n"
                          ".reg .pred %p<2>;\n"
                          /*  0 */ "ld.param.u64 %rd1, [in];\n"
                          /*  1 */ "ld.param.u64 %rd2, [out];\n"
                          /*  2 */ "mov.u32 %r1, %tid.x;\n"
                          /*  3 */ "mul.wide.u32 %rd3, %r1, 4;\n"
                          /*  4 */ "add.s64 %rd4, %rd1, %rd3;\n"
                          /*  5 */ "mov.u32 %r2, 0;\n"
                          /*  6 */ "mov.f32 %f1, 0f00000000;\n"
                          "LOOP:\n"
                          /*  7 */ "ld.global.f32 %f2, [%rd4];\n"
                          /*  8 */ "ld.global.f32 %f3, [%rd4+4096];\n"
                          /*  9 */ "add.f32 %f4, %f2, %f3;\n"
                          /* 10 */ "add.f32 %f1, %f1, %f4;\n"
                          /* 11 */ "add.s64 %rd4, %rd4, 128;\n"
                          /* 12 */ "add.u32 %r2, %r2, 1;\n"
                          /* 13 */ "setp.lt.u32 %p1, %r2, 8;\n"
                          /* 14 */ "@%p1 bra LOOP;\n"
                          /* 15 */ "cvt.f64.f32 %d1, %f1;\n"
                          /* 16 */ "add.f64 %d2, %d1, %d1;\n"
                          /* 17 */ "cvt.rn.f32.f64 %f5, %d2;\n"
                          /* 18 */ "add.s64 %rd5, %rd2, %rd3;\n"
                          /* 19 */ "st.global.f32 [%rd5], %f5;\n"
                          /* 20 */ "ret;\n"
                          "}\n";

/* Values from device memory, of a read of the word, and an update of it. */
static const char fills_ptx[] = ".version 8.0\n"
                                ".target sm_90\n"
                                ".address_size 64\n"
                                ".visible .entry facts(.param .u64 in)\n"
                                "{\n"
                                ".shared .align 4 .b8 tile[128];\n"
                                ".reg .b64 %rd<2>;\n"
                                ".reg .b32 %r<2>;\n"
                                ".reg .f32 %f<4>;\n"
                                /* 0 */ "ld.param.u64 %rd1, [in];\n"
                                /* 1 */ "ld.global.f32 %f1, [%rd1];\n"
                                /* 2 */ "st.shared.f32 [tile], %f1;\n"
                                /* 3 */ "ld.shared.f32 %f2, [tile];\n"
                                /* 4 */ "add.f32 %f3, %f2, 0f3f800000;\n"
                                /* 5 */ "st.shared.f32 [tile], %f3;\n"
                                /* 6 */ "atom.shared.add.u32 %r1, [tile+4], 1;\n"
                                /* 7 */ "ret;\n"
                                "}\n";

/* Barriers of the block, one of them with a result, which the launch may leave out; and of warps. */
static const char barriers_ptx[] = ".version 8.0\n"
                                   ".target sm_90\n"
                                   ".address_size 64\n"
                                   ".visible .entry facts(.param .u32 n)\n"
                                   "{\n"
                                   ".shared .align 4 .b8 tile[128];\n"
                                   ".reg .b32 %r<3>;\n"
                                   ".reg .pred %p<3>;\n"
                                   /* 0 */ "mov.u32 %r2, %laneid;\n"
                                   /* 1 */ "setp.eq.u32 %p2, %r2, 0;\n"
                                   /* 2 */ "ld.param.u32 %r1, [n];\n"
                                   /* 3 */ "setp.lt.u32 %p1, %r1, 8;\n"
                                   /* 4 */ "@%p1 bra L;\n"
                                   /* 5 */ "bar.sync 0;\n"
                                   /* 6 */ "bar.red.popc.u32 %r2, 0, %p1;\n"
                                   "L:\n"
                                   /* 7 */ "@%p2 st.shared.u32 [tile+4], %r1;\n"
                                   /* 8 */ "bar.warp.sync -1;\n"
                                   /* 9 */ "ret;\n"
                                   "}\n";

static sqlite3 *make_of(const char *code, size_t length)
{
    const char *path = story_path("facts.wlprof");
    prof_builder *builder;
    prof_options options = {.force = true};
    const cap_record records[] = {
        story_process("/src/app"),
        {.type = CAP_MODULE,
         .module = {.id = 1, .name = "/src/app", .code = code, .length = length}},
        {.type = CAP_NOTE, .note = {.id = 1, .module = 1, .kernel = "facts"}},
        story_end(),
    };
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    sqlite3 *sql;
    assert_int_equal(sqlite3_open_v2(path, &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return sql;
}

static sqlite3 *make(void)
{
    return make_of(ptx, sizeof ptx - 1);
}

/* All rows as text, columns with ' ' between them, rows with '\n' after them. */
static void expect_rows(sqlite3 *sql, const char *query, const char *expected)
{
    char text[2048] = "";
    size_t at = 0;
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(sql, query, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", query, sqlite3_errmsg(sql));
    while (sqlite3_step(stmt) == SQLITE_ROW)
        for (int i = 0, n = sqlite3_column_count(stmt); i < n; i++) {
            const char *value = (const char *)sqlite3_column_text(stmt, i);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%c", value ? value : "-",
                                   i + 1 < n ? ' ' : '\n');
            assert_true(at < sizeof text);
        }
    sqlite3_finalize(stmt);
    assert_string_equal(text, expected);
}

static void blocks(void **state)
{
    /* Groups that can issue together: {0 1 2} {3} {4 5 6}; {7 8} {9} {10 11 12} {13} {14}; {15}
     * {16} {17 18} {19 20}. Two loads before the use of the first, one before that of the
     * second. */
    expect_rows(*state,
                "SELECT first_pc, ninsns, loop, round(ilp, 3), mlp FROM static_blocks "
                "WHERE kernel = 1 ORDER BY first_pc",
                "0 7 - 2.333 -\n"
                "7 8 7 1.6 1.5\n"
                "15 6 - 1.5 -\n");
}

/* Those of a kernel that nobody saw run: the profile has only its note. */
static void instructions_know_their_blocks(void **state)
{
    expect_rows(*state, "SELECT block, min(pc), count(*) FROM code WHERE kernel = 1 GROUP BY block",
                "0 0 7\n1 7 8\n2 15 6\n");
    /* With the empty one at the function's end. */
    expect_rows(*state, "SELECT nblocks FROM kernels WHERE id = 1", "4\n");
}

static void classes_are_those_of_the_types(void **state)
{
    expect_rows(*state,
                "SELECT first_pc, class, instructions FROM v_static_mix WHERE kernel = 'facts' "
                "ORDER BY first_pc, class",
                "0 int 2\n0 memory 2\n0 move 3\n"
                "7 compare 1\n7 control 1\n7 fp32 2\n7 int 2\n7 memory 2\n"
                "15 control 1\n15 convert 2\n15 fp64 1\n15 int 1\n15 memory 1\n");
}

static void chains(void **state)
{
    /* {2 3 4}, 8 cycles after the thread's index; {7 9 10}, the first load and both sums; {15 16 17
     * 19}, the store as its end. */
    expect_rows(*state,
                "SELECT first_pc, class, instructions, chain FROM v_static_mix WHERE chain > 0 "
                "ORDER BY first_pc, class",
                "0 int 2 2\n0 move 3 1\n"
                "7 fp32 2 2\n7 memory 2 1\n"
                "15 convert 2 2\n15 fp64 1 1\n15 memory 1 1\n");
    expect_rows(*state, "SELECT first_pc, chain_loads, chain_shared FROM static_blocks",
                "0 0 0\n7 1 0\n15 0 0\n");
}

/* Moves vanish, but for the one from a special register; additions of 64 bits are two. Parameters
 * are moved, too, and their loads are in another class for PTX. */
static void machine_instructions_are_expected(void **state)
{
    expect_rows(*state,
                "SELECT first_pc, class, instructions, machine FROM v_static_mix "
                "WHERE kernel = 'facts' AND first_pc < 15 ORDER BY first_pc, class",
                "0 int 2 3.0\n0 memory 2 0.0\n0 move 3 3.0\n"
                "7 compare 1 1.0\n7 control 1 1.0\n7 fp32 2 2.0\n7 int 2 3.0\n7 memory 2 2.0\n");
}

static void loops(void **state)
{
    expect_rows(*state, "SELECT header, number, depth, outer, times, trips FROM loops",
                "7 0 1 - 8 8 times, while 1 + 1*i lt 8\n");
    expect_rows(*state, "SELECT kernel, function, depth, times FROM v_loops", "facts facts 1 8\n");
}

static void forms(void **state)
{
    expect_rows(*state, "SELECT pc, bytes, form FROM v_forms ORDER BY pc",
                "7 4 4*tid.x + param0 + 128*i0\n"
                "8 4 4*tid.x + param0 + 128*i0 + 4096\n"
                "19 4 4*tid.x + param1\n");
}

static int set_up(void **state)
{
    *state = make();
    return 0;
}

static int tear_down(void **state)
{
    sqlite3_close(*state);
    return unlink(story_path("facts.wlprof"));
}

static void fills(void **state)
{
    (void)state;
    sqlite3 *sql = make_of(fills_ptx, sizeof fills_ptx - 1);
    expect_rows(sql, "SELECT pc, origin, copied, updates, unknown FROM fills ORDER BY pc",
                "2 0 1 0 0\n5 2 0 0 0\n6 2 0 1 0\n");
    expect_rows(sql, "SELECT pc, load, scope, decides, earlier FROM fill_reads", "5 3 0 0 0\n");
    sqlite3_close(sql);
}

static void barriers(void **state)
{
    (void)state;
    sqlite3 *sql = make_of(barriers_ptx, sizeof barriers_ptx - 1);
    expect_rows(sql, "SELECT first_pc, next_pc FROM successors ORDER BY first_pc, next_pc",
                "0 5\n0 7\n5 7\n");
    expect_rows(sql, "SELECT pc, meets, executions FROM kernel_barriers ORDER BY pc",
                "5 0 0\n6 1 0\n8 2 0\n");
    expect_rows(sql, "SELECT pc, bytes, form FROM v_forms", "7 4 &tile + 4\n");
    expect_rows(sql, "SELECT pc, premise FROM premises", "7 eq.u32(laneid, 0)\n");
    sqlite3_close(sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(instructions_know_their_blocks),
        cmocka_unit_test(classes_are_those_of_the_types),
        cmocka_unit_test(chains),
        cmocka_unit_test(machine_instructions_are_expected),
        cmocka_unit_test(loops),
        cmocka_unit_test(forms),
        cmocka_unit_test(fills),
        cmocka_unit_test(barriers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
