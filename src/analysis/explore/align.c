/* Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1986), in pieces: where
 * the paths differ by more than a bound, the furthest way within it is taken and the rest aligned
 * anew, so that long paths that have little in common cost no more than their length times the
 * bound. */
#include "analysis/explore/align.h"

#include <string.h>

typedef struct aligner {
    const uint32_t *a, *b;
    uint32_t na, nb, most;
    explore_runs *out;
    int32_t *furthest; /* on diagonal k = x - y, at k + most + 1 */
    int32_t *kept;     /* of each number of differences d: those of diagonals -d .. d */
    bool failed;
} aligner;

/* ---- runs ---- */

static void add_run(aligner *w, explore_run r)
{
    explore_run *last = w->out->count ? &w->out->data[w->out->count - 1] : NULL;
    bool same = last && !!last->na == !!r.na && !!last->nb == !!r.nb && last->a + last->na == r.a &&
                last->b + last->nb == r.b;
    if (!r.na && !r.nb)
        return;
    if (same) {
        last->na += r.na;
        last->nb += r.nb;
    } else if (!wl_push(w->out, r)) {
        w->failed = true;
    }
}

/* ---- the furthest ways ---- */

enum { NOWHERE = -1 }; /* no way leads to the diagonal without leaving one of the two */

typedef struct rest { /* what is left of both where a piece begins */
    uint32_t a, b;
    int32_t na, nb;
} rest;

static int32_t along_snake(const aligner *w, const rest *r, int32_t x, int32_t k)
{
    const uint32_t *a = w->a + r->a, *b = w->b + r->b;
    while (x < r->na && x - k < r->nb && a[x] == b[x - k])
        x++;
    return x;
}

/* Where the step begins that leads to diagonal k as the last of d differences, by the ways with one
 * fewer; *down: it is one of b. NOWHERE: there is none. */
static int32_t step_to(const int32_t *v, const rest *r, int32_t k, int32_t d, bool *down)
{
    int32_t above = k < d ? v[k + 1] : NOWHERE, left = k > -d ? v[k - 1] : NOWHERE;
    above = above != NOWHERE && above - k <= r->nb ? above : NOWHERE;
    left = left != NOWHERE && left < r->na ? left : NOWHERE;
    *down = above > left; /* x is above, else left + 1 */
    return *down ? above : left;
}

typedef struct way { /* where it ends: after d differences, on diagonal k, x further in a */
    int32_t d, k, x;
} way;

/* All ways with one more difference than before; true with the way that ends both, else with the
 * furthest. */
static bool extend_ways(aligner *w, const rest *r, int32_t d, way *best)
{
    int32_t *v = w->furthest + w->most + 1;
    for (int32_t k = -d; k <= d; k += 2) {
        bool down = true;
        int32_t from = d ? step_to(v, r, k, d, &down) : 0;
        v[k] = from == NOWHERE ? NOWHERE : along_snake(w, r, down ? from : from + 1, k);
        if (v[k] == NOWHERE)
            continue;
        if (2 * (int64_t)v[k] - k > 2 * (int64_t)best->x - best->k)
            *best = (way){d, k, v[k]};
        if (v[k] == r->na && v[k] - k == r->nb)
            return true; /* none is further */
    }
    return false;
}

static int32_t *kept_of(const aligner *w, int32_t d)
{
    return w->kept + (size_t)d * (size_t)d + d; /* rows of 2 d + 1, one after the other */
}

/* The last difference of the way, and the partners after it; the way is what was before, then. */
static void take_back(const aligner *w, const rest *r, way *end, explore_run *partners,
                      explore_run *alone)
{
    bool down;
    int32_t from = step_to(kept_of(w, end->d - 1), r, end->k, end->d, &down);
    int32_t k = down ? end->k + 1 : end->k - 1, after = down ? from : from + 1;
    uint32_t n = (uint32_t)(end->x - after);
    *partners = (explore_run){r->a + (uint32_t)after, r->b + (uint32_t)(after - end->k), n, n};
    *alone = (explore_run){r->a + (uint32_t)from, r->b + (uint32_t)(from - k), !down, down};
    *end = (way){end->d - 1, k, from};
}

/* Goes back along the way, from its end to where it began, and adds its runs in order. */
static void take_way(aligner *w, const rest *r, way end)
{
    explore_run *steps = malloc((2 * (size_t)end.d + 1) * sizeof *steps);
    size_t n = 0;
    w->failed = w->failed || !steps;
    if (!steps)
        return;
    while (end.d > 0) {
        take_back(w, r, &end, &steps[n], &steps[n + 1]);
        n += 2;
    }
    steps[n++] = (explore_run){r->a, r->b, (uint32_t)end.x, (uint32_t)end.x};
    while (n--)
        add_run(w, steps[n]);
    free(steps);
}

/* Takes the best way from there, with at most `most` differences. */
static void align_piece(aligner *w, uint32_t *a, uint32_t *b)
{
    way best = {0, 0, -1};
    bool end = false;
    const rest r = {*a, *b, (int32_t)(w->na - *a), (int32_t)(w->nb - *b)};
    for (int32_t d = 0; d <= (int32_t)w->most && !end; d++) {
        end = extend_ways(w, &r, d, &best);
        memcpy(kept_of(w, d) - d, w->furthest + w->most + 1 - d,
               (2 * (size_t)d + 1) * sizeof *w->kept);
    }
    take_way(w, &r, best);
    *a += (uint32_t)best.x;
    *b += (uint32_t)(best.x - best.k);
}

/* ---- all together ---- */

static void align_middle(aligner *w, uint32_t a, uint32_t b)
{
    while (!w->failed && a < w->na && b < w->nb)
        align_piece(w, &a, &b);
    add_run(w, (explore_run){a, b, w->na - a, 0});
    add_run(w, (explore_run){w->na, b, 0, w->nb - b});
}

bool explore_align(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb, uint32_t most,
                   explore_runs *out)
{
    uint32_t shorter = na < nb ? na : nb, begin = 0, end = 0;
    uint64_t all = (uint64_t)na + nb;
    most = most < 1 ? 1 : most > all ? (uint32_t)all : most;
    while (begin < shorter && a[begin] == b[begin])
        begin++;
    while (end < shorter - begin && a[na - 1 - end] == b[nb - 1 - end])
        end++;
    aligner w = {.a = a, .b = b, .na = na - end, .nb = nb - end, .most = most, .out = out};
    add_run(&w, (explore_run){0, 0, begin, begin});
    if (begin < w.na && begin < w.nb) {
        w.furthest = malloc((2 * (size_t)most + 3) * sizeof *w.furthest);
        w.kept = malloc(((size_t)most + 1) * ((size_t)most + 1) * sizeof *w.kept);
        w.failed = !w.furthest || !w.kept;
    }
    align_middle(&w, begin, begin);
    add_run(&w, (explore_run){na - end, nb - end, end, end});
    free(w.furthest);
    free(w.kept);
    return !w.failed;
}
