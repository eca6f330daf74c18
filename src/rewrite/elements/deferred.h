/* Accesses that wait for the end of their basic block. */
#ifndef WL_REWRITE_DEFERRED_H
#define WL_REWRITE_DEFERRED_H

#include "rewrite/code/body.h"

/* Has the access wait, unless it is noted after its loop or by another site. */
void rw_defer(rw_body *b, uint32_t site);
/* Notes what waits, where a block ends that others do not wait for, and before a scope is opened or
 * closed. */
void rw_finish_block(rw_body *b, uint32_t insn);
void rw_finish_scope(rw_body *b);

/* Notes what lanes in `out` have accessed elsewhere. */
void rw_note_elsewhere(rw_body *b, const rw_deferred *deferred, rw_reg out);

/* What is seldom to be done stands at the end of the copy, where it is not in the way; in inner
 * scopes of the body, whose labels are not known there, right here. Between the two calls b->out is
 * there; the first gives where it was. Then control goes on at `noted`. */
ptx_text *rw_begin_rest(rw_body *b, rw_label rest);
void rw_end_rest(rw_body *b, rw_label noted, ptx_text *out);

/* frequency: counts what was deferred (lines.c). */
void rw_count_deferred(rw_body *b, const rw_deferred *deferred);
/* touch: marks the first n that were deferred (marks.c). */
void rw_mark_all_deferred(rw_body *b, uint32_t n);

#endif
