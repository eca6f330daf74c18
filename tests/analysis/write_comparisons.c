/* Random pairs of warps, and by how much they differ, as lines of JSON for the test that compares the
 * viewer's: write_comparisons COUNT. The warps are pages of folded steps; `runs` are those of
 * explore_align_paths, and of each operation of the first warp there is by how much it differs, as
 * docs/comparing-warps.md says, worked out from the unfolded visits one by one. */
#include "walks.h"

#include "analysis/explore/reasons.h"
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANES = 4, TOTAL = 0, THREADS, SHARED, GLOBAL, MOST_ALIKE = 256 };

static const char *const planes[PLANES] = {"total", "threads", "shared", "global"};
static const uint32_t blocks[] = {0, 2, 5, 9, 14}, lengths[] = {2, 3, 4, 5, 2};
static uint64_t seed = 23;

static uint32_t below(uint32_t n)
{
    return (uint32_t)random_below(&seed, n);
}

/* ---- warps ---- */

typedef struct visited {
    uint32_t block, lanes, asking;
    int64_t stride;
} visited;

static visited draw(void)
{
    visited v = {.block = below(5),
                 .lanes = below(3) ? UINT32_MAX : (uint32_t)random_next(&seed) | 1};
    v.asking = v.lanes & (below(3) ? UINT32_MAX : (uint32_t)random_next(&seed) | 1u << below(32));
    v.stride = 4 * (int64_t)below(33);
    return v;
}

static void add_visited(walk_steps *s, const visited *v, int64_t from)
{
    walk_enter(s, blocks[v->block], v->lanes);
    if (v->block == 2 && v->asking)
        walk_access(s, 6, v->asking, 1, from, v->stride % 36);
    if (v->block == 3) {
        walk_access(s, 10, v->lanes, 2, 0, v->stride);
        walk_access(s, 12, v->lanes, 1, from, 4);
    }
}

/* A loop of which each round has another in it. */
static void random_nest(walk_steps *s)
{
    visited body[3] = {draw(), draw(), draw()};
    uint32_t outer = 1 + below(20), inner = 1 + below(20), odd = below(3) ? UINT32_MAX : below(20);
    int64_t by = 64 * (int64_t)below(5), far = 32 * (int64_t)below(9);
    for (uint32_t i = 0; i < outer; i++) {
        add_visited(s, &body[0], far * i);
        for (uint32_t k = 0; k < inner + (i == odd); k++)
            add_visited(s, &body[1 + k % 2], far * i + by * k);
    }
}

/* Loops whose accesses move on from round to round, with another visit in some rounds. From the
 * loop `parts` on the numbers are others than those that follow from the seed. */
static void random_warp(walk_steps *s, wl_arena *arena, uint32_t parts)
{
    walk_steps_begin(s, arena);
    for (uint32_t i = 0, n = 1 + below(14); i < n; i++) {
        if (i == parts)
            seed += 12345;
        visited body[4];
        uint32_t length = 1 + below(4), times = below(3) ? 1 : 1 + below(below(8) ? 60 : 600);
        uint32_t odd = below(2) ? 90 : UINT32_MAX; /* one visit of so many is another */
        int64_t by = below(2) ? 128 * (int64_t)below(3) : 4 * (int64_t)below(9);
        for (uint32_t k = 0; k < length; k++)
            body[k] = draw();
        for (uint32_t k = 0; k < length * times; k++) {
            visited other = draw();
            add_visited(s, below(odd) ? &body[k % length] : &other, by * (k / length));
        }
        if (below(5) == 0)
            random_nest(s);
    }
    walk_steps_end(s);
}

/* ---- differences, naively ---- */

typedef struct curve { /* by operation of the first warp */
    double *of[PLANES];
    uint32_t count;
    bool behind; /* the other one did something alone */
} curve;

static double at_most_1(double value)
{
    return value < 1 ? value : 1;
}

static void add_operation(curve *c, const explore_path *a, const explore_visit *x,
                          const explore_path *b, const explore_visit *y, uint32_t pc)
{
    bool either = walk_request(a, x, pc) || walk_request(b, y, pc);
    explore_operation m = walk_operation(a, x, pc, either), n = walk_operation(b, y, pc, either);
    explore_difference d = explore_difference_of(&m, &n, EXPLORE_EXCLUSIVE);
    d.ins = !y || c->behind;
    c->of[TOTAL][c->count] = explore_clamped(&d);
    c->of[THREADS][c->count] = at_most_1(d.thrd / 32);
    c->of[SHARED][c->count] = at_most_1(d.conf / 8);
    c->of[GLOBAL][c->count++] = at_most_1(d.glob / 1024);
    c->behind = false;
}

/* What only the second executes counts at the first's next operation, at the end at its last. */
static curve curve_of(const explore_path *a, const explore_path *b, const explore_runs *runs,
                      wl_arena *arena)
{
    curve c = {0};
    for (int i = 0; i < PLANES; i++)
        c.of[i] = wl_new_array(arena, double, a->counts.operations + 1);
    for (size_t r = 0; r < runs->count; r++) {
        const explore_run *run = &runs->data[r];
        c.behind |= !run->na;
        for (uint32_t i = 0; i < run->na; i++) {
            const explore_visit *x = walk_visit(a, run->a + i);
            const explore_visit *y = run->nb ? walk_visit(b, run->b + i) : NULL;
            for (uint32_t pc = x->pc; pc < x->pc + x->ninsns; pc++)
                add_operation(&c, a, x, b, y, pc);
        }
    }
    if (c.behind && c.count)
        c.of[TOTAL][c.count - 1] = 1;
    return c;
}

/* ---- lines ---- */

static void put_warp(const walk_steps *s)
{
    const wl_folded *page = &s->pages[0];
    printf("{\"steps\":%" PRIu32 ",\"page\":\"", page->nsteps);
    for (size_t i = 0; i < page->size; i++)
        printf("%02x", page->data[i]);
    printf("\"}");
}

static void put_kernel(void)
{
    printf(",\"blocks\":[");
    for (int i = 0; i < 5; i++)
        printf("%s[%" PRIu32 ",%" PRIu32 "]", i ? "," : "", blocks[i], lengths[i]);
    printf("],\"accesses\":[[\"6 global\",{\"op\":\"load\",\"bytes\":4}],"
           "[\"10 shared\",{\"op\":\"load\",\"bytes\":4}],[\"12 "
           "global\",{\"op\":\"load\",\"bytes\":4}]],"
           "\"bases\":[],\"runs\":[");
}

static void put_curve(const curve *c)
{
    for (int plane = 0; plane < PLANES; plane++) {
        printf(",\"%s\":[", planes[plane]);
        for (uint32_t i = 0; i < c->count; i++)
            printf("%s%.17g", i ? "," : "", c->of[plane][i]);
        printf("]");
    }
    printf("}\n");
}

static bool put_pair(walk_kernel *kernel, explore_path paths[2], explore_runs *runs)
{
    wl_arena *arena = wl_arena_new();
    uint64_t work = 0;
    walk_steps s[2];
    printf("{\"warps\":[");
    uint64_t from = seed;
    for (int k = 0; k < 2; k++) {
        uint32_t parts = (uint32_t)(from >> 32) % 4;
        if (k == 1 && parts)
            seed = from; /* the second begins as the first does */
        random_warp(&s[k], arena, k == 1 ? parts : UINT32_MAX);
        prof_warp w = walk_warp(&s[k], 0, 0, 0);
        if (!explore_path_of(&kernel->facts, &w, &paths[k]))
            return false;
        printf(k ? "," : "");
        put_warp(&s[k]);
    }
    printf("]");
    put_kernel();
    if (!explore_align_paths(&paths[0], &paths[1], MOST_ALIKE, runs, &work))
        return false;
    for (size_t i = 0; i < runs->count; i++)
        printf("%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", i ? "," : "", runs->data[i].a,
               runs->data[i].b, runs->data[i].na, runs->data[i].nb);
    printf("]");
    curve c = curve_of(&paths[0], &paths[1], runs, arena);
    put_curve(&c);
    wl_arena_free(arena);
    return true;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    if (argc != 2 || sscanf(argv[1], "%u", &count) != 1) {
        fprintf(stderr, "usage: write_comparisons COUNT\n");
        return 2;
    }
    wl_arena *arena = wl_arena_new();
    static walk_kernel kernel;
    explore_path paths[2];
    explore_runs runs = {0};
    memset(paths, 0, sizeof paths);
    walk_begin(&kernel, 1, 64);
    for (int i = 0; i < 5; i++)
        walk_block(&kernel, lengths[i], UINT32_MAX);
    walk_insn(&kernel, 6, 1, 4);
    walk_insn(&kernel, 10, 2, 4);
    walk_insn(&kernel, 12, 1, 4);
    walk_end(&kernel, arena);
    bool all = true;
    for (unsigned n = 0; n < count && all; n++)
        all = put_pair(&kernel, paths, &runs);
    explore_path_free(&paths[0]);
    explore_path_free(&paths[1]);
    wl_vec_free(&runs);
    wl_arena_free(arena);
    return !all;
}
