/* What the explorer makes of the requests of each launch of a profile, on compute capability 9.0, as a table:
 * explored PROFILE. Sectors of global memory and wavefronts of shared memory, by loads and stores, and how many of the
 * wavefronts bank conflicts add; the columns are those of count.py. */
#include "analysis/explore/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct asked { /* loads, stores */
    uint64_t sectors[2], requests[2], wavefronts[2], conflicts[2];
} asked;

static wl_error err;

static void expect(wl_status status)
{
    if (status == WL_OK)
        return;
    fprintf(stderr, "%s\n", err.text);
    exit(1);
}

static explore_facts facts_of(prof_db *db, const prof_launch *l, wl_arena *arena)
{
    explore_facts f = {.arch = ana_arch_of_device(9, 0)};
    expect(prof_load_code(db, l->kernel, arena, &f.code, &err));
    expect(prof_load_static_blocks(db, l->kernel, arena, &f.blocks, &err));
    expect(prof_load_instructions(db, l->kernel, l->rows_of, arena, &f.insns, &err));
    expect(prof_load_objects(db, arena, &f.objects, &err));
    if (!explore_prepare(&f, arena))
        exit(1);
    return f;
}

/* 0: a load, 1: a store, 2: neither. */
static uint32_t op_at(const explore_facts *f, uint32_t pc)
{
    for (uint32_t i = 0; i < f->insns.count; i++)
        if (f->insns.rows[i].c.pc == pc)
            return f->insns.rows[i].c.op == ACC_LOAD    ? 0
                   : f->insns.rows[i].c.op == ACC_STORE ? 1
                                                        : 2;
    return 2;
}

static void add_request(const explore_facts *f, const explore_path *p, const explore_request *r,
                        uint64_t times, asked *sum)
{
    enum { SECTOR = 32 };
    uint32_t op = op_at(f, r->pc);
    if (op > 1)
        return;
    sum->requests[op] += times * (r->nsizes > 0);
    for (uint32_t i = 0; i < r->nsizes; i++)
        sum->sectors[op] += times * (p->sizes.data[r->first_size + i] / SECTOR);
    sum->wavefronts[op] += times * r->passes;
    sum->conflicts[op] += times * r->extra;
}

/* A part's visits come several times. */
static void add_part(const explore_facts *f, const explore_path *p, const explore_part *part,
                     asked *sum)
{
    for (uint32_t i = 0; i < part->length; i++) {
        const explore_visit *v = &p->visits.data[p->list.data[part->first + i]];
        for (uint32_t k = 0; k < v->nrequests; k++)
            add_request(f, p, &p->requests.data[v->first + k], part->times, sum);
    }
}

static asked sum_launch(prof_db *db, const prof_launch *l, wl_arena *arena)
{
    prof_warp_rows warps;
    explore_path path = {0};
    asked sum = {0};
    explore_facts facts = facts_of(db, l, arena);
    expect(prof_load_warps(db, l->rows_of, arena, &warps, &err));
    for (uint32_t i = 0; i < warps.count; i++) {
        if (!explore_path_of(&facts, &warps.rows[i], &path))
            exit(1);
        for (size_t k = 0; k < path.parts.count; k++)
            add_part(&facts, &path, &path.parts.data[k], &sum);
    }
    explore_path_free(&path);
    return sum;
}

int main(int argc, char **argv)
{
    prof_db *db;
    prof_launch_rows launches;
    wl_arena *arena = wl_arena_new();
    if (argc != 2 || !arena)
        return 2;
    expect(prof_open(argv[1], &db, &err));
    expect(prof_load_launches(db, PROF_ALL, arena, &launches, &err));
    puts("launch,global_loads,global_stores,load_requests,store_requests,shared_loads,shared_"
         "stores,load_conflicts,store_conflicts");
    for (uint32_t i = 0; i < launches.count; i++) {
        wl_arena *scratch = wl_arena_new();
        asked s = sum_launch(db, &launches.rows[i], scratch);
        printf("%" PRIu32, i);
        for (int k = 0; k < 4; k++) {
            const uint64_t *pair = k == 0   ? s.sectors
                                   : k == 1 ? s.requests
                                   : k == 2 ? s.wavefronts
                                            : s.conflicts;
            printf(",%" PRIu64 ",%" PRIu64, pair[0], pair[1]);
        }
        putchar('\n');
        wl_arena_free(scratch);
    }
    prof_close(db);
    wl_arena_free(arena);
    return 0;
}
