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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_cubins_leave_hash_and_size),
        cmocka_unit_test(kernels_of_cubins_have_no_ptx),
        cmocka_unit_test(cubins_tell_what_parameters_reach),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
