#include "paths.h"

#include "rewrite/path/lanes.h"

#include <stdlib.h>

typedef struct lived { /* what a warp did */
    rewrite_path_lanes lanes;
    uint64_t ran[2][REWRITE_LANES]; /* all basic blocks, one after the other: two numbers */
    uint64_t count[REWRITE_LANES];
    rewrite_warp_path left;
} lived;

/* Of the basic block: up to the next one. */
static uint32_t ninsns_at(const shot *s, uint32_t pc)
{
    uint32_t n = 0;
    while (pc + n < s->ncode && s->block_of[pc + n] == s->block_of[pc])
        n++;
    return n;
}

static void follow(const rewrite_path *path, const shot *s, const entered *e, lived *w)
{
    uint32_t ninsns = ninsns_at(s, e->pc);
    rewrite_path_enter(path, &w->lanes, e->pc, e->mask);
    for (uint32_t m = e->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (unsigned i = 0; i < 2; i++) {
            uint64_t *ran = &w->ran[i][lane];
            *ran = (*ran ^ (e->pc + 1)) * (i ? 0xd1342543de82ef95 : 0x9e3779b97f4a7c15);
            *ran ^= *ran >> 31;
        }
        w->count[lane] += ninsns;
    }
}

static void check_lived(const char *name, const lived *w, size_t number)
{
    rewrite_warp_path told = rewrite_path_end(&w->lanes);
    uint64_t most = 0, sum = 0;
    for (uint32_t lane = 0; lane < REWRITE_LANES; lane++) {
        most = w->count[lane] > most ? w->count[lane] : most;
        sum += w->count[lane];
    }
    if (w->left.instructions != most || w->left.lane_instructions != sum)
        fail_msg("%s: warp %zu ran at most %llu instructions, %llu in all; counted %llu, %llu",
                 name, number, (unsigned long long)most, (unsigned long long)sum,
                 (unsigned long long)w->left.instructions,
                 (unsigned long long)w->left.lane_instructions);
    if (w->left.hash != told.hash || told.instructions != most || told.lane_instructions != sum)
        fail_msg("%s: warp %zu: hash %llx, told %llx", name, number,
                 (unsigned long long)w->left.hash, (unsigned long long)told.hash);
}

/* Returns how many differ from all before. */
static uint64_t check_equal_ones(const char *name, const lived *all, size_t n)
{
    uint64_t different = 0;
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < i; k++) {
            bool same = memcmp(all[i].ran, all[k].ran, sizeof all[i].ran) == 0;
            if (same != (all[i].left.hash == all[k].left.hash))
                fail_msg("%s: warps %zu and %zu ran %s, and their hashes %s", name, k, i,
                         same ? "the same" : "something else", same ? "differ" : "are equal");
            found |= same;
        }
        different += !found;
    }
    return different;
}

uint64_t compare_paths(const char *name, const shot *original, const rewrite_copy *copy)
{
    const rewrite_path *path = &copy->kernel->path;
    uint64_t n = rewrite_npaths(copy), warps = n / copy->layout->blocks, different;
    if (!rewrite_has_probe(copy->kernel, REWRITE_PATH)) {
        assert_int_equal(n, 0);
        return 0;
    }
    assert_true(n > 0);
    lived *all = calloc(n, sizeof *all);
    uint32_t *turns = calloc(n * (path->nloops + 1), REWRITE_LANES * sizeof *turns);
    for (uint64_t i = 0; i < n; i++) {
        all[i].lanes.turns = turns + i * (path->nloops + 1) * REWRITE_LANES;
        assert_true(rewrite_read_path(copy, i, &all[i].left));
    }
    for (size_t i = 0; i < original->nentries; i++) {
        const entered *e = &original->entries[i];
        follow(path, original, e, &all[e->block * warps + e->warp]);
    }
    for (uint64_t i = 0; i < n; i++)
        check_lived(name, &all[i], i);
    different = check_equal_ones(name, all, n);
    free(turns);
    free(all);
    return different;
}
