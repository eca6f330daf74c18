/* What each lane of each warp of a profile did, as text: steps PROFILE. A line is launch, block, warp, lane, a colon, and what
 * the lane did, one after another: E and the pc of a basic block that it began; B and that of a barrier; A, the pc, the
 * memory, the object's name, and the byte in it that it accessed. */
#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static wl_error err;

static void expect(wl_status status)
{
    if (status == WL_OK)
        return;
    fprintf(stderr, "%s\n", err.text);
    exit(1);
}

static prof_object_rows objects;

static void print_object(uint32_t id)
{
    const prof_object *o = prof_find_object(&objects, id);
    for (const char *c = o && o->name ? o->name : "?"; *c; c++)
        putchar(*c == ' ' || *c == ':' ? '_' : *c);
}

static void print_access(const prof_warp *w, const wl_step *s, uint32_t lane)
{
    printf(" A%" PRIu32 ":%u:", s->pc, w->slots[s->slot].space);
    print_object(w->slots[s->slot].object);
    printf(":%" PRId64, w->begin[s->slot] + s->offset[lane]);
}

static void print_step(const prof_warp *w, const wl_step *s, uint32_t lane)
{
    if (!(s->mask >> lane & 1))
        return;
    if (s->slot == WL_STEP_ENTRY)
        printf(" E%" PRIu32, s->pc);
    else if (s->slot == WL_STEP_BARRIER)
        printf(" B%" PRIu32, s->pc);
    else
        print_access(w, s, lane);
}

static void print_lane(uint32_t launch, const prof_warp *w, uint32_t lane)
{
    printf("%" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 ":", launch, w->block, w->number, lane);
    wl_unfolding steps = {.pages = w->pages, .npages = w->npages};
    for (wl_step step; wl_unfolding_step(&steps, &step);)
        print_step(w, &step, lane);
    if (steps.failed) {
        fprintf(stderr, "The steps of a warp cannot be read.\n");
        exit(1);
    }
    wl_unfolding_free(&steps);
    putchar('\n');
}

static void print_launch(prof_db *db, const prof_launch *l)
{
    prof_warp_rows warps;
    wl_arena *arena = wl_arena_new();
    expect(prof_load_warps(db, l->rows_of, arena, &warps, &err));
    for (uint32_t i = 0; i < warps.count; i++)
        for (uint32_t lane = 0; lane < WL_STEP_LANES; lane++)
            print_lane(l->number, &warps.rows[i], lane);
    wl_arena_free(arena);
}

int main(int argc, char **argv)
{
    prof_db *db;
    prof_launch_rows launches;
    wl_arena *arena = wl_arena_new();
    if (argc != 2 || !arena)
        return 2;
    expect(prof_open(argv[1], &db, &err));
    expect(prof_load_objects(db, arena, &objects, &err));
    expect(prof_load_launches(db, PROF_ALL, arena, &launches, &err));
    for (uint32_t i = 0; i < launches.count; i++)
        print_launch(db, &launches.rows[i]);
    prof_close(db);
    wl_arena_free(arena);
    return 0;
}
