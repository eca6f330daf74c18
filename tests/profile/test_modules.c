/* Modules of a profile: PTX and cubins, and what is said of kernels that came without PTX. */
#include "rows.h"
#include "story.h"
#include "support/cubin.h"
#include "support/random.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 3 << 19 }; /* bytes; random ones, so that compression saves nothing */

static wl_error err;

static cap_record module_of(uint32_t id, cap_module_kind kind, const char *code, uint64_t length)
{
    return (cap_record){.type = CAP_MODULE,
                        .module = {.id = id,
                                   .kind = kind,
                                   .hash = 100 + id,
                                   .name = "/src/app",
                                   .code = code,
                                   .length = length}};
}

static cap_record note_of(uint32_t id, uint32_t module, const char *kernel)
{
    return (cap_record){.type = CAP_NOTE, .note = {.id = id, .module = module, .kernel = kernel}};
}

static const cubin_kernel with_parameters = {"_Z4copyPfPKfi",           20, 3,
                                             {{0, 8}, {8, 8}, {16, 4}}, 0,  0};

static sqlite3 *make(void)
{
    static char large[LARGE];
    static const uint64_t given[] = {0x7000, 0x8010, 7};
    uint64_t rng = 1;
    size_t size;
    char *cubin = (char *)cubin_make(&with_parameters, 1, &size);
    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (char)random_next(&rng);
    const cap_record records[] = {
        story_process("/src/app"),
        module_of(1, CAP_MODULE_PTX, story_ptx, strlen(story_ptx)),
        module_of(2, CAP_MODULE_CUBIN, "\177ELF\0small", 10),
        module_of(3, CAP_MODULE_CUBIN, large, sizeof large),
        note_of(1, 1, "_Z5scalePf"),
        note_of(2, 2, "small"),
        note_of(3, 3, "large"),
        note_of(4, 0, "unknown"),
        module_of(4, CAP_MODULE_CUBIN, cubin, size),
        story_object(1, 0, 0x7000, 64),
        story_object(2, 0, 0x8000, 64),
        {.type = CAP_NOTE,
         .note = {.id = 5,
                  .module = 4,
                  .kernel = with_parameters.name,
                  .params = (const char *)given,
                  .nparams = 20}},
        story_end(),
    };
    prof_builder *builder;
    prof_options options = {.force = true};
    const char *path = story_path("modules.wlprof");
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    free(cubin);
    sqlite3 *sql;
    assert_int_equal(sqlite3_open_v2(path, &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return sql;
}

static void large_cubins_leave_hash_and_size(void **state)
{
    rows_expect(
        *state,
        "SELECT n.name || ' ' || hash || ' ' || CASE m.kind WHEN 0 THEN '' ELSE bytes END || "
        "CASE WHEN code IS NULL THEN ' left out' ELSE ' kept' END FROM modules m "
        "JOIN names n ON n.kind = 'module' AND n.value = m.kind "
        "WHERE id < 4 ORDER BY id",
        "ptx 101  kept\ncubin 102 10 kept\ncubin 103 1572864 left out\n");
}

static void kernels_of_cubins_have_no_ptx(void **state)
{
    rows_expect(
        *state,
        "SELECT mangled || ' ' || coalesce(module, '-') || ' ' || ncode || ' ' || nblocks || "
        "' ' || missing FROM kernels ORDER BY id",
        "_Z5scalePf 1 11 5 \n"
        "small 2 0 0 the capture has no PTX of it\n"
        "large 3 0 0 the capture has no PTX of it\n"
        "unknown - 0 0 the capture has no PTX of it\n"
        "_Z4copyPfPKfi 4 0 0 the capture has no PTX of it\n");
    rows_expect(*state, "SELECT reason FROM skips ORDER BY id",
                "it ran on the GPU and was not observed there\n"
                "it ran on the GPU and was not observed there\n"
                "it ran on the GPU and was not observed there\n"
                "it ran on the GPU, and its code is not known\n"
                "it ran on the GPU and was not observed there\n");
}

static void cubins_tell_what_parameters_reach(void **state)
{
    rows_expect(*state,
                "SELECT p.position || ' ' || p.offset || ' ' || p.bytes || ' ' || p.type "
                "FROM parameters p JOIN kernels k ON k.id = p.kernel "
                "WHERE k.mangled = '_Z4copyPfPKfi' ORDER BY p.position",
                "0 0 8 float*\n"
                "1 8 8 float const*\n"
                "2 16 4 int\n");
    rows_expect(*state,
                "SELECT position || ' ' || type || ' ' || r.object || ' ' || r.object_offset "
                "FROM v_parameters v JOIN reaches r ON r.offset = 8 * v.position "
                "WHERE kernel = 'copy' ORDER BY position",
                "0 float* 1 0\n"
                "1 float const* 2 16\n");
}

static int set_up(void **state)
{
    *state = make();
    return 0;
}

static int tear_down(void **state)
{
    sqlite3_close(*state);
    return unlink(story_path("modules.wlprof"));
}

/* ---- machine code beside PTX ---- */

static cap_record launch_of(uint32_t id, uint32_t module)
{
    cap_record record = story_launch(id, 0, 0x7000);
    record.launch.module = module;
    return record;
}

static prof_builder *begin_beside(const char *name)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    cap_record beside = module_of(2, CAP_MODULE_CUBIN, "\177ELF\0small", 10);
    beside.module.beside = 1;
    const cap_record records[] = {story_process("/src/app"),
                                  module_of(1, CAP_MODULE_PTX, story_ptx, strlen(story_ptx)),
                                  beside, story_object(1, 0, 0x7000, 4096)};
    story_expect(prof_create(story_path(name), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
    return builder;
}

static void add_all(prof_builder *builder, const cap_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
}

/* Notes name the PTX; what completes them says by which code they were counted. One that nothing completes is of the
 * PTX. */
static void launches_are_of_the_code_that_they_were_counted_by(void **state)
{
    (void)state;
    prof_builder *builder = begin_beside("beside.wlprof");
    const cap_record records[] = {
        note_of(1, 1, "_Z5scalePf"),
        note_of(2, 1, "_Z5scalePf"),
        note_of(3, 1, "_Z5scalePf"),
        note_of(4, 1, "_Z5scalePf"),
        launch_of(1, 2),
        {.type = CAP_REPEAT, .repeat = {.note = 2, .same_as = 1}},
        {.type = CAP_WAY, .way = {.note = 3, .reason = "there was no time"}},
        launch_of(4, 1),
        story_end(),
    };
    add_all(builder, records, sizeof records / sizeof *records);
    story_expect(prof_finish(builder, &err), &err);
    sqlite3 *sql;
    assert_int_equal(sqlite3_open_v2(story_path("beside.wlprof"), &sql, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    rows_expect(sql,
                "SELECT group_concat(kind, ' ') FROM (SELECT m.kind FROM launches l JOIN kernels k "
                "ON k.id = l.kernel "
                "JOIN modules m ON m.id = k.module ORDER BY l.id)",
                "1 1 0 0\n");
    rows_expect(sql, "SELECT count(*) FROM kernels", "2\n");
    sqlite3_close(sql);
}

static void only_what_was_counted_is_a_kernel(void **state)
{
    (void)state;
    prof_builder *builder = begin_beside("beside_all.wlprof");
    const cap_record records[] = {note_of(1, 1, "_Z5scalePf"), launch_of(1, 2), story_end()};
    add_all(builder, records, sizeof records / sizeof *records);
    story_expect(prof_finish(builder, &err), &err);
    sqlite3 *sql;
    assert_int_equal(sqlite3_open_v2(story_path("beside_all.wlprof"), &sql, SQLITE_OPEN_READONLY,
                                     NULL),
                     SQLITE_OK);
    rows_expect(sql, "SELECT group_concat(m.kind) FROM kernels k JOIN modules m ON m.id = k.module",
                "1\n");
    sqlite3_close(sql);
}

static void captures_that_contradict_themselves(void **state)
{
    (void)state;
    prof_builder *builder = begin_beside("beside_wrong.wlprof");
    cap_record other = launch_of(1, 2), note = note_of(1, 1, "_Z5scalePf"),
               second = note_of(2, 1, "another");
    add_all(builder, &note, 1);
    other.launch.kernel = "another";
    assert_int_equal(prof_add(builder, &other, &err), WL_CORRUPT);
    assert_non_null(strstr(err.text, "of two kernels"));
    other = launch_of(1, 2);
    add_all(builder, &other, 1);
    add_all(builder, &second, 1);
    assert_int_equal(
        prof_add(builder, &(cap_record){.type = CAP_REPEAT, .repeat = {.note = 2, .same_as = 1}},
                 &err),
        WL_CORRUPT);
    prof_discard(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_cubins_leave_hash_and_size),
        cmocka_unit_test(kernels_of_cubins_have_no_ptx),
        cmocka_unit_test(cubins_tell_what_parameters_reach),
        cmocka_unit_test(launches_are_of_the_code_that_they_were_counted_by),
        cmocka_unit_test(only_what_was_counted_is_a_kernel),
        cmocka_unit_test(captures_that_contradict_themselves),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
