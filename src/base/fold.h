/* Steps of a warp (base/steps.h) with what repeats in them told once: what a profile and a report
 * hold. A page of them can be read alone, has WL_FOLD_STEPS steps at most, and gives them back as they
 * were, in their order.
 *
 * A step is a *mark* (pc, active lanes, what it is: a barrier, an entry, or the slot of an access) and,
 * of an access, a *move*: where its lanes lie, from where they lay at the mark's access before. A
 * page is the list of its marks, then for each mark that is an access, in the order in which they come
 * first, the list of its moves: so the way of a warp folds where its addresses do not.
 *
 * In a list, a number that is even stands for one item: 0 for one that has not come before in the
 * list, and is told here; else 2 * (i + 1) for the i-th that came. One that is odd, 2 * n + 1, stands
 * for n items that come several times: how often, 2 or more, follows, and then these items, by
 * numbers again. The list ends when all its items are told. Numbers have seven bits a byte, the lowest
 * first, bit 7 set in all but the last (LEB128); signed ones are 2 * n, or -2 * n - 1 where negative.
 *
 * A mark is told as: pc (signed, minus that of the mark that was told before); active lanes xor those
 * before; 0 for a barrier, 1 for an entry, else the slot + 2. A move: offset of the first active
 * lane (signed, minus that of the mark's access before, 0 at first); then 0, and the offset of each
 * further active lane (signed, minus that of the active lane before), or 1 + the bytes between lanes
 * (as a signed number). */
#ifndef WL_BASE_FOLD_H
#define WL_BASE_FOLD_H

#include "base/steps.h"
#include "base/vec.h"

enum { WL_FOLD_STEPS = 65536 };

/* ---- writing ---- */

typedef wl_vec(uint8_t) wl_fold_bytes;
typedef struct wl_folder wl_folder;

wl_folder *wl_folder_new(void); /* NULL when memory is exhausted */
void wl_folder_free(wl_folder *folder);
/* The caller ends the page after WL_FOLD_STEPS of them. False when memory is exhausted. */
bool wl_folder_put(wl_folder *folder, const wl_step *step);
uint32_t wl_folder_count(const wl_folder *folder);
/* Appends the page of these steps to `out`, equal steps as equal bytes, and begins a new one. False
 * when memory is exhausted. */
bool wl_folder_end(wl_folder *folder, wl_fold_bytes *out);

/* ---- reading ---- */

typedef struct wl_folded { /* a page */
    const uint8_t *data;
    size_t size;
    uint32_t nsteps, nslots; /* nslots: of the sequence */
} wl_folded;

typedef struct wl_fold_mark {
    uint32_t pc, mask, slot;
    uint32_t first, count, next; /* of its moves, in the unfolded page's */
    int64_t offset;              /* of the last access's first active lane */
} wl_fold_mark;

/* Items of the path that come several times in a row, the first time from step `from` on. */
typedef struct wl_fold_round {
    uint32_t from, length, times;
} wl_fold_round;

typedef struct wl_unfolded { /* all zero: an empty page. Its parts are its own. */
    const uint8_t *data, *end;
    uint32_t at, nsteps;
    wl_vec(uint32_t) path;      /* marks, by step */
    wl_vec(uint32_t) moves;     /* mark after mark, where in `data` each is told */
    wl_vec(wl_fold_mark) marks; /* in the order in which they come first */
    /* By `from`, then from without to within; of those within others the ones in the first round. */
    wl_vec(wl_fold_round) rounds;
} wl_unfolded;

/* Checks the page, and begins at its first step; memory is used again. False where it holds what no
 * folder wrote, or memory is exhausted. */
bool wl_unfold(const wl_folded *page, wl_unfolded *out);
/* The next step of the mark. Whoever reads a page takes them in the order of its path, as wl_unfolding
 * does. */
void wl_unfold_mark(wl_unfolded *u, uint32_t mark, wl_step *step);
/* Leaves out so many accesses of the mark, after which its lanes are `by` bytes further on. */
void wl_unfold_skip(wl_unfolded *u, uint32_t mark, uint32_t accesses, int64_t by);
/* By how many bytes the mark's lanes move with the access that comes `after` others. */
int64_t wl_unfold_moves_by(const wl_unfolded *u, uint32_t mark, uint32_t after);
/* Whether the mark's accesses after the next `from`, up to `to`, move as those `length` before them do. */
bool wl_unfold_repeats(const wl_unfolded *u, uint32_t mark, uint32_t from, uint32_t to,
                       uint32_t length);
void wl_unfolded_free(wl_unfolded *u);

typedef struct wl_unfolding { /* of a warp's pages, one after the other; all zero but for these */
    const wl_folded *pages;
    uint32_t npages, next;
    wl_unfolded page;
    bool failed; /* a page cannot be read, or memory is exhausted; there are no further steps */
} wl_unfolding;

bool wl_unfolding_step(wl_unfolding *u, wl_step *step); /* the next one; false after the last */
void wl_unfolding_free(wl_unfolding *u);

#endif
