/* The probe trace: every access of a few blocks, as records that the lanes write; its part of the
 * plan.
 *
 * A record is written by a *piece* of code: a region (regions.c), or a loop (pieces.c,
 * summaries.c). docs/recording.md draws the bytes of a record. */
#ifndef WL_REWRITE_TRACE_H
#define WL_REWRITE_TRACE_H

#include "rewrite/plan/plan.h"

/* Code that writes one record of the trace: sites [first, end) of a region (regions.c), or of a
 * loop (pieces.c). */
typedef struct rw_piece {
    uint32_t func;  /* in plan->code */
    uint32_t loop;  /* FLOW_NONE: a region */
    uint32_t block; /* of a loop: where its first site is; of a region: where it begins */
    uint32_t first, end;
    uint32_t rows;
    /* Of a loop: bases that are written where `block` begins, and after the loop. */
    uint32_t early, late;
    uint32_t nbits; /* blocks of a region that not all of its lanes run */
    uint32_t half;  /* row whose upper half has room for a base; 0: none */
    /* Of a loop that is summarized (summaries.c): the last instructions before it and in it, and
     * the value whose moving tells the number of iterations, as in rewrite_piece. */
    bool summarized;
    uint32_t entry, exit, counter, count_row;
    uint32_t by, by_row; /* what is added to it, where that is no number: a value; or FLOW_NONE */
    int64_t count_step;
    bool count_narrow;
} rw_piece;

enum { RW_MAX_LOOP_ROWS = 64 };

/* A base that other pieces refer to. */
typedef struct rw_keep {
    uint32_t piece; /* that writes it */
    rewrite_keep keep;
} rw_keep;

typedef struct rw_trace_plan {
    rw_piece *pieces;
    uint32_t npieces;
    rewrite_spot *spots; /* [nsites], as the next ones */
    uint32_t *piece_of;
    bool *opens;         /* the site's base is written for it, and others use it */
    uint32_t *record_at; /* [npcs] piece whose record is written with the instruction, or IR_NONE */
    uint32_t *begins_at, *ends_at; /* [npcs] summarized loop that begins, ends after it */
    uint8_t *ran_at;     /* [npcs] of the block of flow that starts there: its bit + 1, or 0 */
    uint32_t *keep_at;   /* [nvalues of the kernel] in keeps: written where defined; or IR_NONE */
    uint32_t *opened_at; /* [nvalues of the kernel] the first site whose base is the value */
    rw_keep keeps[REWRITE_KEPT];
    uint32_t nkeeps;
} rw_trace_plan;

/* Makes regions of the blocks of a function that are in no loop that is a piece. */
void rw_form_regions(rw_plan *plan, uint32_t func);
/* Gives the loop its rows, if it can be told from before and after it. */
bool rw_summarize_loop(rw_plan *plan, const flow_function *f, rw_piece *piece);
/* Is nothing else ever written to the value's register? */
bool rw_keeps_register(const flow_function *f, uint32_t value);
rw_piece *rw_new_piece(rw_plan *plan, uint32_t func, uint32_t first, uint32_t loop);
/* How the site's address is told, but for where its base is. */
rewrite_spot rw_spot_of(const rw_plan *plan, const flow_function *f, uint32_t site);
/* An earlier site of the piece that begins with `first` whose base the site can use, or the site
 * itself. */
uint32_t rw_find_base(const rw_plan *plan, const flow_function *f, uint32_t first, uint32_t site);

#endif
