#include "ordered.h"

#include "../profile/story.h"
#include "support/test.h"

#include <string.h>
#include <unistd.h>

static prof_db *profile_of(const char *ptx)
{
    const cap_record records[] = {
        story_process("/src/app"),
        {.type = CAP_MODULE,
         .module = {.id = 1, .name = "/src/app", .code = ptx, .length = strlen(ptx)}},
        {.type = CAP_NOTE, .note = {.id = 1, .module = 1, .kernel = "kernel"}},
        story_end(),
    };
    prof_builder *builder = story_begin("ordered.wlprof");
    story_tell(builder, records, sizeof records / sizeof *records);
    return story_finish(builder, "ordered.wlprof");
}

static void load(ordered *o, prof_db *db)
{
    wl_error err;
    ana_input *in = &o->input;
    story_expect(prof_load_code(db, 1, o->arena, &in->code, &err), &err);
    story_expect(prof_load_forms(db, 1, o->arena, &in->forms, &err), &err);
    story_expect(prof_load_barriers(db, 1, o->arena, &in->barriers, &err), &err);
    story_expect(prof_load_successors(db, 1, o->arena, &in->successors, &err), &err);
    story_expect(prof_load_premises(db, 1, o->arena, &in->premises, &err), &err);
    prof_close(db);
    for (uint32_t i = 0; i < in->barriers.count; i++)
        in->barriers.rows[i].executions = 1;
}

void ordered_begin(ordered *o, const char *ptx, const uint32_t block[3], prof_access *accesses,
                   uint32_t count)
{
    wl_error err;
    *o = (ordered){.arena = wl_arena_new(), .kernel = {.id = 1}};
    assert_non_null(o->arena);
    o->launch = (prof_launch){.count = 1, .kernel = 1, .grid = {1, 1, 1}};
    memcpy(o->launch.block, block, sizeof o->launch.block);
    load(o, profile_of(ptx));
    assert_int_equal(unlink(story_path("ordered.wlprof")), 0);
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
