/* recount PROFILE: what the warps of a profile did, step by step, summed up as the tables of
 * counters have it, a line each; test_warps.py compares. A last line has a hash of every step of
 * every warp. Exits with 1 where the profile cannot be read. */
#include "base/steps.h"
#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SECTORS = 32 * 8 };

typedef struct entries { /* of a basic block */
    uint64_t executions, lanes;
} entries;

typedef struct counts { /* of an instruction on an object */
    uint32_t pc, space, object;
    uint64_t requests, lanes, sectors;
} counts;

typedef struct recount {
    prof_db *db;
    wl_arena *arena;
    prof_object_rows objects;
    prof_instruction_rows insns; /* of the launch */
    uint32_t npcs;
    entries *blocks; /* by the pc of their first instruction */
    uint32_t ncounts, room;
    counts *counts;
    uint64_t hash;
} recount;

static void stop(const char *why)
{
    fprintf(stderr, "recount: %s\n", why);
    exit(1);
}

static void mix(recount *r, uint64_t number)
{
    r->hash = (r->hash ^ number) * 0x9e3779b97f4a7c15u;
    r->hash ^= r->hash >> 31;
}

static void count_entry(recount *r, const wl_step *step)
{
    while (step->pc >= r->npcs) {
        r->blocks = realloc(r->blocks, (r->npcs + 1024) * sizeof *r->blocks);
        if (!r->blocks)
            stop("out of memory");
        for (uint32_t i = 0; i < 1024; i++)
            r->blocks[r->npcs + i] = (entries){0};
        r->npcs += 1024;
    }
    r->blocks[step->pc].executions++;
    r->blocks[step->pc].lanes += (uint64_t)__builtin_popcount(step->mask);
}

static counts *counts_of(recount *r, uint32_t pc, const prof_slot *slot)
{
    for (uint32_t i = 0; i < r->ncounts; i++) {
        counts *c = &r->counts[i];
        if (c->pc == pc && c->space == slot->space && c->object == slot->object)
            return c;
    }
    if (r->ncounts == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        r->counts = realloc(r->counts, r->room * sizeof *r->counts);
        if (!r->counts)
            stop("out of memory");
    }
    r->counts[r->ncounts] = (counts){pc, slot->space, slot->object, 0, 0, 0};
    return &r->counts[r->ncounts++];
}

static uint32_t bytes_of(const recount *r, uint32_t pc, const prof_slot *slot)
{
    for (uint32_t i = 0; i < r->insns.count; i++) {
        const obs_insn *c = &r->insns.rows[i].c;
        if (c->pc == pc && c->space == slot->space && c->object == slot->object)
            return c->bytes;
    }
    stop("a step is of an instruction without a row");
    return 0;
}

/* Where a byte of a lane lies: words of local memory lie side by side, lane by lane. */
static uint64_t place_of(const prof_slot *slot, uint32_t lane, uint64_t address)
{
    return slot->space == ACC_LOCAL ? address / 4 * 128 + lane * 4 + address % 4 : address;
}

static uint32_t sectors_of(const wl_step *step, const prof_slot *slot, uint64_t begin,
                           uint32_t bytes)
{
    uint64_t seen[MOST_SECTORS];
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < WL_STEP_LANES; lane++)
        for (uint32_t b = 0; step->mask >> lane & 1 && b < bytes; b++) {
            uint64_t at = begin + (uint64_t)step->offset[lane] + b;
            uint64_t sector = place_of(slot, lane, at) / 32;
            uint32_t i = 0;
            while (i < count && seen[i] != sector)
                i++;
            if (i == count && count < MOST_SECTORS)
                seen[count++] = sector;
        }
    return count;
}

static void count_access(recount *r, const prof_warp *w, const wl_step *step)
{
    const prof_slot *slot = &w->slots[step->slot];
    const prof_object *o = prof_find_object(&r->objects, slot->object);
    uint64_t begin = (slot->space == ACC_LOCAL || !o ? 0 : o->base) +
                     (uint64_t)w->begin[step->slot];
    uint32_t bytes = bytes_of(r, step->pc, slot);
    counts *c = counts_of(r, step->pc, slot);
    c->requests++;
    c->lanes += (uint64_t)__builtin_popcount(step->mask);
    if (slot->space != ACC_SHARED)
        c->sectors += sectors_of(step, slot, begin, bytes);
    for (uint32_t lane = 0; lane < WL_STEP_LANES; lane++)
        mix(r, step->mask >> lane & 1
                   ? (uint64_t)w->begin[step->slot] + (uint64_t)step->offset[lane]
                   : 1);
    mix(r, (uint64_t)slot->space << 32 | slot->object);
}

static void count_warp(recount *r, const prof_warp *w)
{
    mix(r, w->block << 5 | w->number);
    wl_unfolding steps = {.pages = w->pages, .npages = w->npages};
    for (wl_step step; wl_unfolding_step(&steps, &step);) {
        mix(r, (uint64_t)step.pc << 32 | step.mask);
        if (step.slot == WL_STEP_ENTRY)
            count_entry(r, &step);
        else if (wl_step_accesses(&step))
            count_access(r, w, &step);
    }
    wl_unfolding_free(&steps);
}

static void print_launch(const recount *r, const prof_launch *l, uint32_t nwarps)
{
    printf("launch %u %u %" PRIu64 "\n", l->id, nwarps, l->warps_dropped);
    for (uint32_t pc = 0; pc < r->npcs; pc++)
        if (r->blocks[pc].executions)
            printf("block %u %u %" PRIu64 " %" PRIu64 "\n", l->id, pc, r->blocks[pc].executions,
                   r->blocks[pc].lanes);
    for (uint32_t i = 0; i < r->ncounts; i++)
        printf("insn %u %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", l->id, r->counts[i].pc,
               r->counts[i].space, r->counts[i].object, r->counts[i].requests, r->counts[i].lanes,
               r->counts[i].sectors);
}

static void count_launch(recount *r, const prof_launch *l)
{
    wl_error err;
    prof_warp_rows warps;
    if (prof_load_instructions(r->db, l->kernel, l->id, r->arena, &r->insns, &err) != WL_OK ||
        prof_load_warps(r->db, l->id, r->arena, &warps, &err) != WL_OK)
        stop(err.text);
    r->ncounts = r->npcs = 0;
    for (uint32_t i = 0; i < warps.count; i++)
        count_warp(r, &warps.rows[i]);
    print_launch(r, l, warps.count);
}

int main(int argc, char **argv)
{
    recount r = {.arena = wl_arena_new()};
    prof_launch_rows launches;
    wl_error err;
    if (argc != 2 || !r.arena)
        stop("takes a profile");
    if (prof_open(argv[1], &r.db, &err) != WL_OK ||
        prof_load_objects(r.db, r.arena, &r.objects, &err) != WL_OK ||
        prof_load_launches(r.db, PROF_ALL, r.arena, &launches, &err) != WL_OK)
        stop(err.text);
    for (uint32_t i = 0; i < launches.count; i++) {
        const prof_launch *l = &launches.rows[i];
        if (l->id == l->rows_of && l->warps_dropped != UINT64_MAX)
            count_launch(&r, l);
    }
    printf("hash %016" PRIx64 "\n", r.hash);
    free(r.blocks);
    free(r.counts);
    prof_close(r.db);
    wl_arena_free(r.arena);
    return 0;
}
