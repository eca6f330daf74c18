#include "ordered.h"

#include "../profile/story.h"
#include "support/test.h"

#include <string.h>
#include <unistd.h>

static void write_profile(const char *path, const char *ptx)
{
    wl_error err;
    prof_builder *builder;
    prof_options options = {.force = true};
    const cap_record records[] = {
        story_process("/src/app"),
        {.type = CAP_MODULE,
         .module = {.id = 1, .name = "/src/app", .code = ptx, .length = strlen(ptx)}},
        {.type = CAP_NOTE, .note = {.id = 1, .module = 1, .kernel = "kernel"}},
        story_end(),
    };
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
    story_expect(prof_finish(builder, &err), &err);
}

static void load(ordered *o, const char *path)
{
    wl_error err;
    prof_db *db;
    ana_input *in = &o->input;
    story_expect(prof_open(path, &db, &err), &err);
    story_expect(prof_load_code(db, 1, o->arena, &in->code, &err), &err);
    story_expect(prof_load_forms(db, 1, o->arena, &in->forms, &err), &err);
    story_expect(prof_load_barriers(db, 1, o->arena, &in->barriers, &err), &err);
    story_expect(prof_load_successors(db, 1, o->arena, &in->successors, &err), &err);
    prof_close(db);
}

void ordered_begin(ordered *o, const char *ptx, const uint32_t block[3], prof_access *accesses,
                   uint32_t count)
{
    const char *path = story_path("ordered.wlprof");
    wl_error err;
    *o = (ordered){.arena = wl_arena_new(), .kernel = {.id = 1}};
    assert_non_null(o->arena);
    o->launch = (prof_launch){.count = 1, .kernel = 1, .grid = {1, 1, 1}};
    memcpy(o->launch.block, block, sizeof o->launch.block);
    write_profile(path, ptx);
    load(o, path);
    assert_int_equal(unlink(path), 0);
    o->program.launches = (prof_launch_rows){1, &o->launch};
    o->input.program = &o->program;
    o->input.kernel = &o->kernel;
    o->input.counted = true;
    o->input.accesses = (prof_access_rows){count, accesses};
    o->input.scratch = o->arena;
    story_expect(order_of(&o->input, &o->all, &err), &err);
}

void ordered_end(ordered *o)
{
    wl_arena_free(o->arena);
}

footprint_order ordered_needs(const ordered *o, uint32_t n)
{
    assert_true(n < o->all.count);
    return o->all.rows[n].needs;
}
