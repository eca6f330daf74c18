/* What comparing the warps of a launch costs: 100,000 warps of 100 operations each, 10 million in all.
 *
 *     bench_explore [--limits]
 *
 * With few kinds, as where all blocks do alike; with a kind for each warp, as where data decides how
 * long a loop goes on and what is accessed; two long warps that have little in common; and long loops,
 * which fold. With
 * --limits the exit status is 1 where that takes longer than it may. */
#include "../clock.h"
#include "analysis/explore/outliers.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 6250, WARPS = 16, ALL = BLOCKS * WARPS, LOOP = 8, INSNS = 10, WAY_OUT = 20 };

typedef struct bench {
    explore_facts facts;
    wl_arena *arena;
    wl_folder *folder;
    prof_code code[24];
    prof_static_block blocks[4];
    prof_loop loop;
    prof_instruction insns[2];
    prof_object object;
    prof_warp *warps;
    uint64_t random;
} bench;

/* Eight instructions, a loop of ten of which two load, two to the end. */
static bool begin(bench *b)
{
    *b = (bench){.arena = wl_arena_new(), .random = 7, .folder = wl_folder_new()};
    b->warps = b->arena ? wl_new_array(b->arena, prof_warp, ALL) : NULL;
    if (!b->warps || !b->folder)
        return false;
    for (uint32_t pc = 0; pc < 22; pc++)
        b->code[pc] = (prof_code){.pc = pc, .op = "add"};
    b->blocks[0] = (prof_static_block){.first_pc = 0, .ninsns = LOOP, .loop = UINT32_MAX};
    b->blocks[1] = (prof_static_block){.first_pc = LOOP, .ninsns = INSNS, .loop = LOOP};
    b->blocks[2] = (prof_static_block){.first_pc = LOOP + INSNS, .ninsns = 2, .loop = UINT32_MAX};
    b->blocks[3] = (prof_static_block){.first_pc = WAY_OUT, .ninsns = 2, .loop = UINT32_MAX};
    b->loop = (prof_loop){.header = LOOP, .depth = 1, .outer = UINT32_MAX};
    for (uint32_t i = 0; i < 2; i++)
        b->insns[i].c = (obs_insn){
            .pc = LOOP + 2 + 4 * i, .object = 1, .op = ACC_LOAD, .space = ACC_GLOBAL, .bytes = 4};
    b->object = (prof_object){.id = 1, .name = "data", .variable = "data", .base = 1 << 20};
    b->facts = (explore_facts){.arch = ana_arch_at(0),
                               .code = {22, b->code},
                               .blocks = {4, b->blocks},
                               .loops = {1, &b->loop},
                               .insns = {2, b->insns},
                               .objects = {1, &b->object},
                               .grid = {BLOCKS, 1, 1},
                               .block = {WARPS * 32, 1, 1},
                               .mix_whole = true};
    return explore_prepare(&b->facts, b->arena);
}

static bool put_access(bench *b, uint32_t pc, bool random)
{
    wl_step step = {.pc = pc, .mask = UINT32_MAX, .slot = 0};
    for (uint32_t lane = 0; lane < 32; lane++)
        step.offset[lane] = random ? 4 * (int64_t)random_below(&b->random, 4096) : 4 * lane;
    return wl_folder_put(b->folder, &step);
}

static bool put_entry(wl_folder *folder, uint32_t pc)
{
    return wl_folder_put(folder, &(wl_step){.pc = pc, .mask = UINT32_MAX, .slot = WL_STEP_ENTRY});
}

/* So many rounds; NULL without memory. */
static wl_folded *sequence(bench *b, uint32_t rounds, bool random, uint32_t *npages)
{
    wl_fold_bytes bytes = {0};
    wl_folded *pages = wl_new_array(b->arena, wl_folded, rounds / 20000 + 2);
    bool all = pages && put_entry(b->folder, 0);
    *npages = 0;
    for (uint32_t i = 0; all && i <= rounds; i++) {
        bool last = i == rounds;
        all = last ? put_entry(b->folder, WAY_OUT)
                   : put_entry(b->folder, LOOP) && put_access(b, LOOP + 2, random) &&
                         put_access(b, LOOP + 6, random);
        uint32_t count = wl_folder_count(b->folder);
        if (all && (last || count + 3 > WL_FOLD_STEPS)) {
            bytes.count = 0;
            all = wl_folder_end(b->folder, &bytes);
            const void *data = wl_arena_copy(b->arena, bytes.data, bytes.count);
            pages[(*npages)++] = (wl_folded){data, data ? bytes.count : 0, count, 1};
        }
    }
    wl_vec_free(&bytes);
    return all ? pages : NULL;
}

static double run(bench *b, uint32_t count, const char *what)
{
    ana_explore e = {.warps = {count, b->warps}};
    wl_arena *arena = wl_arena_new();
    double from = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    bool all = arena && explore_of_warps(&b->facts, arena, &e);
    double seconds = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - from;
    uint64_t operations = 0;
    for (uint32_t i = 0; all && i < e.nkinds; i++)
        operations += e.kinds[i].warps * e.kinds[i].counts.operations;
    printf("%-28s %7u warps %10llu operations %7u kinds %5u clusters  %8.1f ms%s\n", what, count,
           (unsigned long long)operations, e.nkinds, e.nclusters, 1e3 * seconds,
           e.cut ? "  not all compared step by step" : "");
    wl_arena_free(arena);
    return all ? seconds : 1e9;
}

static const prof_slot slots[] = {{ACC_GLOBAL, 1}};
static const int64_t begins[] = {0, 64};

static prof_warp warp_of(uint32_t i, wl_folded *pages, uint32_t npages)
{
    return (prof_warp){i / WARPS, i % WARPS, 1, slots, &begins[i % 2], npages, pages};
}

/* Each warp number takes another number of rounds: 9 on average. */
static double few_kinds(bench *b)
{
    wl_folded *pages[WARPS];
    uint32_t npages[WARPS];
    for (uint32_t i = 0; i < WARPS; i++)
        if (!(pages[i] = sequence(b, 1 + i, false, &npages[i])))
            return 1e9;
    for (uint32_t i = 0; i < ALL; i++)
        b->warps[i] = warp_of(i, pages[i % WARPS], npages[i % WARPS]);
    return run(b, ALL, "few kinds");
}

static double many_kinds(bench *b)
{
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t npages, rounds = 1 + (uint32_t)random_below(&b->random, 17);
        wl_folded *pages = sequence(b, rounds, true, &npages);
        if (!pages)
            return 1e9;
        b->warps[i] = warp_of(i, pages, npages);
    }
    return run(b, ALL, "a kind for each warp");
}

static double long_warps(bench *b)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t npages;
        wl_folded *pages = sequence(b, 200000 + 100000 * i, true, &npages);
        if (!pages)
            return 1e9;
        b->warps[i] = warp_of(i, pages, npages);
    }
    return run(b, 2, "two long warps");
}

/* As many as a launch of examples/series has: each makes more rounds than the one before, and all
 * rounds cost the same. */
static double long_loops(bench *b)
{
    enum { WARPS_OF_LOOPS = 512 };
    for (uint32_t i = 0; i < WARPS_OF_LOOPS; i++) {
        uint32_t npages;
        wl_folded *pages = sequence(b, 8 * (i + 1), false, &npages);
        if (!pages)
            return 1e9;
        b->warps[i] = warp_of(i, pages, npages);
    }
    return run(b, WARPS_OF_LOOPS, "long loops");
}

int main(int argc, char **argv)
{
    bool limits = argc > 1 && strcmp(argv[1], "--limits") == 0;
    bench b;
    if (!begin(&b)) {
        fprintf(stderr, "not enough memory\n");
        return 1;
    }
    double few = few_kinds(&b), many = many_kinds(&b), two = long_warps(&b), loops = long_loops(&b);
    wl_folder_free(b.folder);
    wl_arena_free(b.arena);
    return limits && (few > 0.25 || many > 20 || two > 20 || loops > 5);
}
