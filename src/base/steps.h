/* What warps did, step by step, packed in pages, as they come and as a capture has them; base/fold.h
 * has what a profile makes of them. A sequence of steps is kept once: where its accesses lie is told
 * from where a warp begins in each of the objects that it touches (their slots), so that warps that
 * did the same elsewhere share it, and a warp is its block, its number and these begins.
 *
 * A page can be read alone and holds WL_PAGE_ITEMS steps or warps at most. Its numbers have seven
 * bits a byte, the lowest first, bit 7 set in all but the last (LEB128); signed ones are 2 * n, or
 * -2 * n - 1 where negative. "Before" is the item before in the page, all 0 at its begin.
 *
 * A step: pc (signed, minus the one before); active lanes xor those before; 0 for a barrier or 1 for
 * an entry, which end the step, or slot + 2; offset of the first active lane (signed, minus that of
 * the access before); shape: 0, and then the offset of each further active lane (signed, minus that
 * of the active lane before), or 1 + the bytes between lanes (as a signed number). A warp: block
 * (minus the one before); number in the block; its begin in each slot (signed, minus that of the
 * warp before). */
#ifndef WL_BASE_STEPS_H
#define WL_BASE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WL_PAGE_ITEMS = 4096, WL_STEP_LANES = 32, WL_MOST_SLOTS = 64 };

/* In place of a slot, where a step accesses nothing. */
#define WL_STEP_BARRIER UINT32_MAX /* the threads that a barrier of the block waited for had come */
#define WL_STEP_ENTRY (UINT32_MAX - 1) /* the lanes began the basic block whose first is at pc */

typedef struct wl_step {
    uint32_t pc, mask; /* mask: active lanes, at least one */
    uint32_t slot;     /* of the object that is accessed; or what else the step is */
    int64_t
        offset[WL_STEP_LANES]; /* of active lanes, from the warp's begin in that object; bytes */
} wl_step;

static inline bool wl_step_accesses(const wl_step *step)
{
    return step->slot < WL_STEP_ENTRY;
}

/* Whether the active lanes lie *stride bytes from lane to lane; of a lane by itself 0. */
bool wl_step_stride(const wl_step *step, int64_t *stride);

typedef struct wl_warp {
    uint64_t block; /* linear index */
    uint32_t number;
    int64_t begin[WL_MOST_SLOTS]; /* bytes from the object's begin */
} wl_warp;

typedef struct wl_page_writer { /* all zero: an empty page */
    uint8_t *data;              /* on the heap, the caller's to free */
    size_t size, capacity;
    uint32_t count;    /* items */
    uint32_t pc, mask; /* of the last step */
    int64_t offset;    /* of the first active lane of the last access */
    uint32_t nslots;   /* of the last warp: the begins that are not 0 are among these */
    wl_warp warp;      /* the last one */
} wl_page_writer;

/* Appends an item; equal items give equal bytes. The caller begins another page after
 * WL_PAGE_ITEMS of them. False (and the page is as it was) when memory is exhausted. */
bool wl_page_put_step(wl_page_writer *page, const wl_step *step);
/* A step whose active lanes lie from `offset` on, `stride` bytes from lane to lane (of a lane by
 * itself 0; never INT64_MIN), or that accesses nothing: the same bytes as wl_page_put_step's. */
bool wl_page_put_run(wl_page_writer *page, uint32_t pc, uint32_t mask, uint32_t slot,
                     int64_t offset, int64_t stride);
/* Where the lanes of an access lie from the first active one on, as a page has it. */
typedef struct wl_lanes {
    uint8_t size; /* 0: not known, or too long */
    uint8_t bytes[127];
} wl_lanes;

/* As wl_page_put_step, which fills in where the lanes lie. */
bool wl_page_put_lanes(wl_page_writer *page, const wl_step *step, wl_lanes *lanes);
/* The same bytes for another step whose lanes lie as those of the one that filled them in;
 * lanes->size is not 0. */
bool wl_page_put_same(wl_page_writer *page, uint32_t pc, uint32_t mask, uint32_t slot,
                      int64_t offset, const wl_lanes *lanes);
/* Warps ascend by block; `nslots`: of the sequence, WL_MOST_SLOTS at most. */
bool wl_page_put_warp(wl_page_writer *page, const wl_warp *warp, uint32_t nslots);
/* Empties the page and keeps its memory. */
void wl_page_clear(wl_page_writer *page);

typedef struct wl_page_reader {
    const uint8_t *at, *end;
    uint32_t nslots;
    bool damaged; /* and at its end */
    wl_step step; /* the last one */
    wl_warp warp;
    int64_t offset; /* of the first active lane of the last access */
} wl_page_reader;

/* nslots: of the sequence; pages with more than WL_MOST_SLOTS are damaged. */
wl_page_reader wl_page_read(const void *data, size_t size, uint32_t nslots);
/* The next item; false after the last, and where the bytes are none. */
bool wl_page_step(wl_page_reader *reader, wl_step *step);
bool wl_page_warp(wl_page_reader *reader, wl_warp *warp);

#endif
