/* Copies of a function's body with the code of the probes between the instructions.
 *
 * The emitters are listed in emitters.def. Each keeps the registers of its own in a struct here;
 * what it reads of another's it names by that struct. */
#ifndef WL_REWRITE_BODY_H
#define WL_REWRITE_BODY_H

#include "rewrite/code/code.h"
#include "rewrite/counting/counting.h"
#include "rewrite/elements/elements.h"
#include "rewrite/path/path.h"
#include "rewrite/trace/trace.h"

/* ---- what the code knows, in registers ---- */

/* The lanes of the warp here; rw_active() fills `active`, rw_group() all of them. */
typedef struct rw_warp {
    rw_reg active, mask; /* lanes here; those of them whose guard holds */
    rw_reg lead, leads;  /* the first of these, 0xffffffff without; this lane is it */
} rw_warp;

/* What the code has found out about the lanes here and is still true: until the next basic
 * block. */
typedef enum rw_lanes {
    RW_LANES_UNKNOWN,
    RW_LANES_ACTIVE, /* rw_active() */
    RW_LANES_GROUP   /* rw_group() without a guard */
} rw_lanes;

/* Branches that are counted: lanes that came to one; all lanes of the warp where the copy is left;
 * the path's bits. */
typedef struct rw_branches {
    rw_reg here, whole, path;
} rw_branches;

/* Registers of a slot (elements/slots.c), as in rewrite_slot. */
typedef struct rw_slot_registers {
    rw_reg base, size, bits, counts, lines;
} rw_slot_registers;

enum {
    RW_COMPARED = 2,
    RW_PENDING = 16,
    RW_DEFERRED = 16 /* accesses whose addresses wait for the end of their basic block */
};

/* An access that waits for the end of its basic block: elements at `offset` from the address in
 * register kept[base]. */
typedef struct rw_deferred {
    uint32_t site, base, elements;
    int64_t offset;
    bool guarded; /* some lanes may not access memory */
    bool joined;  /* of several sites */
} rw_deferred;

typedef struct rw_element_code {
    rw_slot_registers slot[REWRITE_SLOTS];
    rw_reg rows;   /* the lanes of the warp differ in %tid.x only, which goes up by 1 */
    rw_reg lane4;  /* 4 times the lane, where they do, else what no offset in a line is */
    rw_reg begins; /* the first thread of its block */
    rw_reg kept[RW_DEFERRED];
    rw_deferred deferred[RW_DEFERRED];
    uint32_t ndeferred;
    rw_reg reused; /* touch: rw_is_reused() of what most accesses do not depend on */
} rw_element_code;

/* Where the lane's access lies in its slot's range. */
typedef struct rw_found {
    rw_reg at;      /* how far after the range's begin */
    rw_reg in, out; /* it accesses memory in the range; global memory elsewhere */
} rw_found;

/* The lane's column of the log. */
typedef struct rw_log_code {
    rw_reg log;     /* its address */
    rw_reg at, end; /* bytes after it: where the next entry goes, and where all end */
    rw_reg row;     /* bytes of a row */
} rw_log_code;

typedef struct rw_shared_code {
    rw_reg counters, limit;  /* of the multiprocessor's copy; bytes that are counted */
    rw_reg one[RW_COMPARED]; /* all lanes that access memory have the address of their first: */
    uint32_t compared[RW_COMPARED], next; /* from this base; FLOW_NONE: unknown. The next to fill */
} rw_shared_code;

/* A base of the trace that is still to be written. */
typedef struct rw_pending {
    rw_reg reg; /* the kernel's, or `held` ours */
    uint32_t number, row;
    bool narrow, high; /* as in rewrite_spot */
    bool held;
} rw_pending;

typedef struct rw_trace_code {
    rw_reg row, room; /* where the lane's next record begins; rows that are left, or below 0 lack */
    rw_reg slot;      /* of the launch's blocks, this one */
    rw_reg ran, count; /* bits of the region; iterations of the loop */
    rw_reg held[RW_PENDING], held_narrow[RW_PENDING];
    rw_pending pending[RW_PENDING];
    uint32_t npending;
} rw_trace_code;

typedef struct rw_path_code {
    rw_reg hash, count; /* of the thread, so far */
} rw_path_code;

/* How a thread leaves a copy. */
typedef enum rw_leaving {
    RW_RETURNS,
    RW_EXITS, /* and ends */
    RW_CALLS  /* and perhaps does not come back */
} rw_leaving;

/* ---- a copy on its way into the text ---- */

typedef struct rw_body {
    ptx_text *out;
    ptx_text *rest; /* what is seldom run: printed at the end of the copy */
    uint32_t depth; /* of the scope that is printed: the body's own is 0 */
    rw_plan *plan;
    uint32_t index; /* in plan->code */
    const flow_function *f;
    const ir_func *func;  /* as printed: labels have names of their own */
    uint32_t probes;      /* bit set, of this copy */
    uint32_t *labels;     /* used so far in this function */
    uint32_t edge_labels; /* number of the label of edge 0 */
    rw_temps temps;
    rw_reg state, lane; /* the launch's state; %laneid */
    rw_reg frame;       /* the kernel's, with what outlives a function */
    rw_warp warp;
    rw_lanes lanes;
    rw_branches branches;
    rw_opd guard;       /* of the access at hand: the lanes that access memory */
    rw_reg address;     /* of it, where one of its probes needs that */
    rw_reg lanes_below; /* blocks: %lanemask_lt */
    rw_element_code elements;
    rw_log_code log;
    rw_shared_code shared;
    rw_trace_code trace;
    rw_path_code path;
    rw_leaving leaving; /* where rw_emitter.leave prints */
} rw_body;

static inline bool rw_has(const rw_body *b, rewrite_probe probe)
{
    return b->probes >> probe & 1;
}

/* The slot of the pointer that leads to the site's elements. */
static inline rw_slot_registers rw_slot_of_site(const rw_body *b, uint32_t site)
{
    return b->elements.slot[b->plan->elements->slot_of[site]];
}

/* Prints the copies of the kernel's body, the one of a clone, or that of a function as it was,
 * between its braces. */
void rw_print_kernel_body(ptx_text *out, rw_plan *plan);
void rw_print_clone_body(ptx_text *out, rw_plan *plan, uint32_t index, uint32_t probes);
void rw_print_plain_body(ptx_text *out, rw_plan *plan, uint32_t index);
/* The name of a clone, in the buffer. */
const char *rw_clone_name(const rw_plan *plan, uint32_t index, uint32_t probes,
                          char buffer[RW_NAME_BYTES]);

/* ---- emitters ---- */

/* What a probe adds to a copy of a function. Members may be NULL. Temporaries that a member asks
 * for are free again when it returns. At an access b->guard holds, and b->address where one of its
 * probes needs it. */
typedef struct rw_emitter {
    uint32_t probes;                           /* bit set: runs where the copy has one of them */
    void (*declare)(rw_body *b);               /* registers and variables of its own */
    void (*enter)(rw_body *b);                 /* where the copy begins, b->state is set */
    void (*start)(rw_body *b, uint32_t block); /* before flow's block */
    void (*block)(rw_body *b, uint32_t block); /* where the basic block begins */
    void (*begin)(rw_body *b, uint32_t insn);  /* likewise: by its first instruction */
    void (*access)(rw_body *b, uint32_t site); /* before the instruction */
    void (*before)(rw_body *b, uint32_t insn); /* the instruction, after what `access` did */
    void (*after)(rw_body *b, uint32_t insn);
    void (*end)(rw_body *b, uint32_t insn); /* after it, or before it where it leads elsewhere */
    void (*scope)(rw_body *b);              /* before a scope is opened or closed */
    void (*finish)(rw_body *b,
                   uint32_t insn); /* after the last of a block, or before what goes elsewhere */
    /* b->warp.active: the lanes that went the way that is counted; branches.here: those that came
     * to the branch. */
    void (*edge)(rw_body *b, uint32_t edge);
    /* Before a thread leaves the copy: at its end, or into a call that may not come back. */
    void (*leave)(rw_body *b);
} rw_emitter;

#define X(name, summary) extern const rw_emitter rw_emitter_##name;
#include "rewrite/code/emitters.def"
#undef X

/* ---- an access (access.c) ---- */

/* The site's address. Generic ones become addresses of their space, with a tag (layout.h). */
rw_reg rw_find_address(rw_body *b, uint32_t site);
/* The condition under which a lane accesses memory at the site. */
rw_opd rw_guard_of(rw_body *b, uint32_t site);
/* `plain` of x and y into `to`, or `and` of them and the guard where there is one. */
void rw_compare(rw_body *b, rw_instruction plain, rw_instruction and, rw_reg to, rw_opd x, rw_opd y,
                rw_opd guard);
/* Adds `amount` to the counters of n elements side by side, for the lanes of the guard. */
void rw_add_to_each(rw_body *b, unsigned n, rw_reg counter, rw_reg guard, rw_opd amount);
void rw_forget_lanes(rw_body *b);
void rw_active(rw_body *b);
void rw_group(rw_body *b, rw_opd guard);
/* Which lanes are there, as far as `needed` says and the code does not know yet. For b->guard. */
void rw_find_lanes(rw_body *b, rw_lanes needed);
/* A predicate that holds nowhere, or everywhere. */
rw_reg rw_nowhere(rw_body *b);
rw_reg rw_everywhere(rw_body *b);
/* `value` of the lane's leader. */
rw_reg rw_of_leader(rw_body *b, rw_reg value);

/* ---- the log (log.c) ---- */

/* Does the site write that kind of entries? */
bool rw_logs(const rw_body *b, uint32_t site, rw_log_kind kind);
/* Lanes of `in` write that the n counters from `address` on are theirs, or of the table of marks the
 * n whose elements begin `at` bytes after their object does. Returns those that have no room, and
 * have to update them. */
rw_reg rw_log_counters(rw_body *b, unsigned n, rw_reg address, rw_reg in);
rw_reg rw_log_marks(rw_body *b, unsigned n, rw_reg table, rw_reg at, rw_reg in);
/* Is it worth to ask whether lanes are side by side? Not in loops, where searches go. */
bool rw_may_be_beside(const rw_body *b, uint32_t site);
/* Lanes of `in`, all or none of a warp: they have addresses side by side, so many bytes apart, as
 * lanes do that append to an array. Their updates are one request, better than entries. */
rw_reg rw_find_beside(rw_body *b, unsigned apart, rw_reg address, rw_reg in);
/* The lane has no room for another entry. */
rw_reg rw_log_is_full(rw_body *b);

/* ---- where in the grid (grid.c) ---- */

/* The lower half of the block's linear index. */
rw_reg rw_low_block(rw_body *b);
/* The warp's number in its block. */
rw_reg rw_linear_warp(rw_body *b);
/* The thread's number in its block, and how many there are. */
void rw_linear_thread(rw_body *b, rw_reg *thread, rw_reg *threads);
/* The copy of tables that this multiprocessor writes to: of `copies`, a power of two. */
rw_reg rw_copy_number(rw_body *b, uint32_t copies);
void rw_write_vars(rw_body *b);
/* Are the thread's indices in the dimensions of the set 0? */
rw_reg rw_is_first(rw_body *b, uint32_t set);
/* Into `to`: there are so many of them in the set that each had better look first whether what it
 * accesses is noted. */
void rw_is_reused(rw_body *b, uint32_t set, rw_reg to);

/* ---- shared memory (counting) ---- */

/* Does the probe `shared` count the site by its address? */
bool rw_counts_shared(const rw_body *b, uint32_t site);
/* And does that need to know the lanes? */
bool rw_shared_needs_lanes(const rw_body *b, uint32_t site);
/* Do counters of elements need to know the lanes of the site? */
bool rw_counts_lanes(const rw_body *b, uint32_t site);
/* Adds to the counters of the site's elements, of which `counter` is the lane's first, in lanes of
 * `counted` (counts.c). */
void rw_count(rw_body *b, uint32_t site, rw_reg counter, rw_reg counted);

/* Where the tables begin (rw_shared_plan), and how far after it lanes count that miss their array,
 * followed by where those do that access nothing. */
rw_reg rw_find_shared_tables(rw_body *b);
uint32_t rw_missed_at(const rw_plan *plan);
/* The counters of this thread in the multiprocessor's copy, and how many threads a block has; the
 * thread's counter of the place. */
rw_reg rw_find_thread_places(rw_body *b, rw_reg *threads);
rw_reg rw_find_place(rw_body *b, uint32_t place, rw_reg places, rw_reg threads);

/* ---- elements ---- */

/* Is the slot's range given by the host, and not found at run time? */
bool rw_is_given(const rw_body *b, uint32_t slot);
/* Notes the access at the address in whichever range it is. */
void rw_look_elsewhere(rw_body *b, uint32_t site, rw_reg address);
/* Searches the range that the address lies in, and goes to `none` where there is none. */
typedef struct rw_range_registers {
    rw_reg range, base, size;
} rw_range_registers;
rw_range_registers rw_search_range(rw_body *b, rw_reg address, rw_label none);
/* A table of the range, which may have none: then to `none`. */
rw_reg rw_load_table(rw_body *b, rw_reg range, size_t at, rw_label none);
/* One more access that is in no range. */
void rw_miss(rw_body *b);
/* found->in and ->out of what lies at found->at in the site's slot; a register for `out` is taken
 * where there is none yet. */
void rw_find_lanes_in(rw_body *b, uint32_t site, rw_reg address, rw_found *found);
/* Where what was deferred lies, for b->guard, which it sets. *from: how far after the slot's begin
 * its base lies, as it was found for `before`, which may be NULL. `out` is to be the register of
 * that name, or is none: then a new one is. */
rw_found rw_find_deferred(rw_body *b, const rw_deferred *deferred, const rw_deferred *before,
                          rw_reg *from, rw_reg out);

/* Does the probe touch mark elements? Where they are counted, their counters say as much. */
bool rw_marks(const rw_body *b);
/* Marks n elements from `at` on, to which that is aligned, in lanes of `in`, in the table; in lanes
 * of the predicate `looks`, unless that is none, if they are not marked. */
void rw_mark(rw_body *b, unsigned n, rw_reg table, rw_reg at, rw_reg in, rw_opd looks);
/* Of the n accesses that were deferred number i, and those marked with it: what is looked at, all of
 * it, to see whether they lie in their slot's range. */
rw_deferred rw_find_in_step(const rw_body *b, uint32_t i, uint32_t n);
/* Marks the n accesses that were deferred, in slots that the host gives. Sets `out` in lanes that
 * accessed something else, too. For those from the result on there was no room in the log in lanes
 * of `unlogged`, perhaps, which are to mark them. */
uint32_t rw_mark_deferred(rw_body *b, uint32_t n, rw_reg out, rw_reg unlogged);
void rw_mark_unlogged(rw_body *b, uint32_t first, uint32_t end, rw_reg unlogged);
/* frequency at an access: of a warp that accesses whole lines, a lane of `head` for each; and lane
 * by lane. */
void rw_count_lines(rw_body *b, uint32_t site, rw_reg at, rw_reg head);
/* `alone`: the lane notes for all in `inside`, where the site's pattern is uniform. */
void rw_count_lanes(rw_body *b, uint32_t site, const rw_found *found, rw_reg alone, rw_reg inside);
/* Of all threads of a block, which access the same address: the first does so for all. */
void rw_count_block(rw_body *b, uint32_t site, const rw_found *found);

/* ---- trace ---- */

/* The lane's place in the trace, which outlives a function, to and from the kernel's frame. */
void rw_keep_trace(rw_body *b);
void rw_restore_trace(rw_body *b);

/* ---- path ---- */

/* The same of the thread's hash and count. */
void rw_keep_path(rw_body *b);
void rw_restore_path(rw_body *b);

/* ---- other ---- */

/* Before the sum i: products that it was fused with (fuse.c). */
void rw_print_products(rw_body *b, uint32_t i);
/* The table of addresses, and the variables that a kernel in a module of its own has (alone.c). */
void rw_print_alone_variables(ptx_text *out, const rw_plan *plan);
/* The function as it is printed. */
const ir_func *rw_printed(const rw_plan *plan, uint32_t index);
/* Loads the registers of its variables, at its begin. */
void rw_load_addresses(rw_body *b);
/* The register with the address of a variable that an access of the function names. */
rw_reg rw_address_of(const rw_body *b, const ir_var *var);

#endif
