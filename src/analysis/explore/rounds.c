/* Going through folded steps without unfolding what repeats. */
#include "analysis/explore/rounds.h"

#include "base/vec.h"

typedef struct rounds_walk {
    wl_unfolded page;
    const explore_listener *to;
    wl_vec(uint32_t) marks; /* of the rounds at hand, those within others behind them */
    wl_vec(uint32_t) count; /* of each in a round; by mark */
    bool failed;
} rounds_walk;

/* ---- rounds that are alike ---- */

/* Whether a visit begins in the round, so that none goes on from one round to the next. */
static bool enters_in_round(const wl_unfolded *u, const wl_fold_round *r)
{
    for (uint32_t i = 0; i < r->length; i++)
        if (u->marks.data[u->path.data[r->from + i]].slot == WL_STEP_ENTRY)
            return true;
    return false;
}

/* The marks of the round that access, and how often in it each comes; from *first on. */
static bool find_round_marks(rounds_walk *w, const wl_fold_round *r, size_t *first)
{
    const wl_unfolded *u = &w->page;
    *first = w->marks.count;
    if (!wl_reserve(&w->count, u->marks.count))
        return false;
    for (uint32_t i = 0; i < r->length; i++)
        w->count.data[u->path.data[r->from + i]] = 0;
    for (uint32_t i = 0; i < r->length; i++) {
        uint32_t mark = u->path.data[r->from + i];
        bool accesses = u->marks.data[mark].slot < WL_STEP_ENTRY;
        if (accesses && w->count.data[mark]++ == 0 && !wl_push(&w->marks, mark))
            return false;
    }
    return true;
}

/* By how many bytes the mark's lanes move with the `count` accesses after the next `from`. */
static uint64_t moved_in_round(const rounds_walk *w, uint32_t mark, uint32_t from, uint32_t count)
{
    uint64_t by = 0;
    for (uint32_t i = 0; i < count; i++)
        by += (uint64_t)wl_unfold_moves_by(&w->page, mark, from + i);
    return by;
}

/* After how many rounds all accesses lie as before, but for a multiple of EXPLORE_ALIKE; 0: rounds
 * differ otherwise. */
static uint32_t rounds_until_alike(const rounds_walk *w, const wl_fold_round *r, size_t first)
{
    uint32_t rounds = 1;
    for (size_t i = first; i < w->marks.count; i++) {
        uint32_t mark = w->marks.data[i], count = w->count.data[mark], n = 1;
        if (!wl_unfold_repeats(&w->page, mark, 2 * count, r->times * count, count))
            return 0;
        uint64_t by = moved_in_round(w, mark, count, count);
        while (n * by % EXPLORE_ALIKE)
            n *= 2; /* EXPLORE_ALIKE is a power of two */
        rounds = n > rounds ? n : rounds;
    }
    return rounds;
}

/* ---- walking ---- */

static void walk_steps(rounds_walk *w, uint32_t from, uint32_t to, size_t round);

static void walk_rounds(rounds_walk *w, const wl_fold_round *r, uint32_t times,
                        size_t within) // NOLINT(misc-no-recursion)
{
    for (uint32_t i = 0; i < times && !w->failed; i++)
        walk_steps(w, r->from, r->from + r->length, within);
}

static void skip_rounds(rounds_walk *w, size_t first, uint32_t rounds)
{
    for (size_t i = first; i < w->marks.count; i++) {
        uint32_t mark = w->marks.data[i], count = w->count.data[mark];
        wl_unfold_skip(&w->page, mark, count * rounds,
                       (int64_t)(moved_in_round(w, mark, 0, count) * rounds));
    }
}

/* In the first rounds accesses may come from elsewhere, and what is before them may be another than
 * what comes before the next ones. */
static void walk_alike(rounds_walk *w, const wl_fold_round *r, uint32_t rounds, size_t within,
                       size_t first) // NOLINT(misc-no-recursion)
{
    enum { WALKED = 3 };
    uint32_t skipped = (r->times / rounds - WALKED) * rounds;
    uint32_t left = r->times - WALKED * rounds - skipped;
    walk_rounds(w, r, (WALKED - 1) * rounds, within);
    explore_since since = w->to->round(w->to->ctx);
    walk_rounds(w, r, rounds, within);
    w->failed = w->failed || !w->to->again(w->to->ctx, &since, skipped / rounds);
    w->marks.count = first; /* rounds within these have counted other things */
    w->failed = w->failed || !find_round_marks(w, r, &first);
    if (!w->failed)
        skip_rounds(w, first, skipped);
    walk_rounds(w, r, left, within);
}

/* `within`: of the rounds within this one the first. */
static void walk_round(rounds_walk *w, const wl_fold_round *r,
                       size_t within) // NOLINT(misc-no-recursion)
{
    enum { WORTHWHILE = 4 };
    size_t first = 0;
    w->failed = w->failed || !find_round_marks(w, r, &first);
    bool may = !w->failed && enters_in_round(&w->page, r);
    uint32_t rounds = may ? rounds_until_alike(w, r, first) : 0;
    if (rounds && r->times / rounds >= WORTHWHILE)
        walk_alike(w, r, rounds, within, first);
    else
        walk_rounds(w, r, r->times, within);
    w->marks.count = first;
}

static void walk_steps(rounds_walk *w, uint32_t from, uint32_t to,
                       size_t round) // NOLINT(misc-no-recursion)
{
    wl_unfolded *u = &w->page;
    wl_step step;
    while (from < to && !w->failed) {
        const wl_fold_round *r = round < u->rounds.count ? &u->rounds.data[round] : NULL;
        if (!r || r->from != from) {
            wl_unfold_mark(u, u->path.data[from++], &step);
            w->failed = !w->to->step(w->to->ctx, &step);
            continue;
        }
        walk_round(w, r, round + 1);
        while (round < u->rounds.count && u->rounds.data[round].from < from + r->length)
            round++;
        from += r->length * r->times;
    }
}

bool explore_each_step(const prof_warp *warp, const explore_listener *to)
{
    rounds_walk w = {.to = to};
    for (uint32_t i = 0; i < warp->npages && !w.failed; i++) {
        w.failed = !wl_unfold(&warp->pages[i], &w.page);
        if (!w.failed)
            walk_steps(&w, 0, w.page.nsteps, 0);
    }
    wl_unfolded_free(&w.page);
    wl_vec_free(&w.marks);
    wl_vec_free(&w.count);
    return !w.failed;
}
