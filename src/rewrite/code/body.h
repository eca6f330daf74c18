/* Copies of a function's body with the code of the probes between the instructions. */
#ifndef WL_REWRITE_BODY_H
#define WL_REWRITE_BODY_H

#include "rewrite/counting/counting.h"
#include "rewrite/elements/elements.h"
#include "rewrite/trace/trace.h"

/* A guard as text: "" or "%p1" or "!%p1". */
typedef struct rw_guard {
    char text[RW_REGISTER_BYTES + 2];
} rw_guard;

/* What the code has found out about the lanes here and is still true: until the next basic block. */
typedef enum rw_lanes {
    RW_LANES_UNKNOWN,
    RW_LANES_ACTIVE, /* rw_active() */
    RW_LANES_GROUP   /* rw_group() without a guard */
} rw_lanes;

enum {
    RW_SHAPES = 2,
    RW_PENDING = 16,
    RW_DEFERRED = 16 /* accesses whose addresses wait for the end of their basic block (ranges.c) */
};

/* A base of the trace that is still to be written (trace.c). */
typedef struct rw_pending {
    uint32_t reg, row;
    bool narrow, high; /* as in rewrite_spot */
    bool held;         /* in a register of ours, not in its own */
} rw_pending;

/* An access that waits for the end of its basic block: elements at `offset` from the address in register __wl_k<base>. */
typedef struct rw_deferred {
    uint32_t site, base, elements;
    int64_t offset;
    bool guarded; /* some lanes may not access memory */
    bool joined;  /* of several sites */
} rw_deferred;

/* One copy of a function's body on its way into the text. */
typedef struct rw_body {
    ptx_text *out;
    ptx_text *rest; /* what is seldom run: printed at the end of the copy */
    uint32_t depth; /* of the scope that is printed: the body's own is 0 */
    rw_plan *plan;
    uint32_t index; /* in plan->code */
    const flow_function *f;
    const ir_func *func;  /* as printed: labels have names of their own */
    uint32_t probes;      /* bit set, of this copy */
    const char *suffix;   /* of labels and clones: "t" with the trace, "c" without */
    uint32_t *labels;     /* used so far in this function */
    uint32_t edge_labels; /* number of the label of edge 0 */
    rw_guard guard;       /* of the access at hand */
    rw_lanes lanes;
    uint32_t
        shapes[RW_SHAPES]; /* base whose lanes were compared, in __wl_one<n>; FLOW_NONE: none */
    uint32_t next_shape;
    rw_pending pending[RW_PENDING];
    uint32_t npending;
    rw_deferred kept[RW_DEFERRED];
    uint32_t nkept;
} rw_body;

/* One line of PTX, indented. */
void rw_line(rw_body *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Several, as they are. */
void rw_text(rw_body *b, const char *text);

static inline bool rw_has(const rw_body *b, rewrite_probe probe)
{
    return b->probes >> probe & 1;
}

/* ---- common code (code.c); what each leaves behind is said there ---- */

void rw_declare(rw_body *b);
void rw_address(rw_body *b, uint32_t site);
rw_guard rw_guard_of(rw_body *b, uint32_t site);
void rw_forget_lanes(rw_body *b);
void rw_active(rw_body *b);
void rw_group(rw_body *b, const rw_guard *guard);
void rw_write_vars(rw_body *b);
/* Do counters of elements need to know the lanes of the site? */
bool rw_counts_lanes(const rw_body *b, uint32_t site);
/* Does the probe `shared` count the site by its address? */
bool rw_counts_shared(const rw_body *b, uint32_t site);
/* And does that need to know the lanes? */
bool rw_shared_needs_lanes(const rw_body *b, uint32_t site);
void rw_linear_block(rw_body *b, const char *to);
void rw_low_block(rw_body *b, const char *to);
void rw_linear_warp(rw_body *b, const char *to);
void rw_linear_thread(rw_body *b, const char *to, const char *all);

/* Adds to the counters of the site's elements. __wl_x: the counter of the lane's first element; __wl_counted: whether the lane
 * counts (counts.c). */
void rw_count(rw_body *b, uint32_t site);
/* touch: marks n elements from __wl_x on, to which that is aligned, where __wl_in is set, in the table that the register holds; in lanes
 * of the predicate `looks`, unless it is NULL, if they are not marked. */
void rw_mark(rw_body *b, unsigned n, const char *table, const char *looks);
/* Marks the n accesses that were kept, in slots that the host gives. Leaves __wl_missed: the lane accessed something else, too. */
void rw_mark_kept(rw_body *b, uint32_t n);
/* Does the probe mark elements? Where they are counted, their counters say as much. */
bool rw_marks(const rw_body *b);
/* The predicate `to`: the thread's indices in the dimensions of the set are 0. Changes __wl_t, __wl_u. */
void rw_is_first(rw_body *b, uint32_t set, const char *to);
/* The predicate `to`: there are so many of them in the set that each had better look first whether what it accesses is noted.
 * Changes __wl_t, __wl_u. */
void rw_is_reused(rw_body *b, uint32_t set, const char *to);
/* frequency at an access, where __wl_x and __wl_in are known: of a warp that accesses whole lines, and lane by lane. */
void rw_count_lines(rw_body *b, uint32_t site);
void rw_count_lanes(rw_body *b, uint32_t site);
/* Of all threads of a block, which access the same address: the first does so for all. */
void rw_count_block(rw_body *b, uint32_t site);
/* Notes the access at __wl_a in whichever range it is (ranges.c). */
void rw_look_elsewhere(rw_body *b, uint32_t site);
/* __wl_x and __wl_in of what was kept; __wl_out: the lane accesses global memory elsewhere. With the number of what this was done for
 * just before, or NULL. (ranges.c) */
void rw_find_kept(rw_body *b, const rw_deferred *kept, const rw_deferred *before);
/* Which lanes are there, as far as `needed` says and the code does not know yet. For b->guard. */
void rw_find_lanes(rw_body *b, rw_lanes needed);
/* The lane's place in the trace, which outlives a function, to and from the kernel's frame (trace.c). */
void rw_keep_trace(rw_body *b);
void rw_restore_trace(rw_body *b);

/* Before the sum i: products that it was fused with (fuse.c). */
void rw_print_products(rw_body *b, uint32_t i);

/* ---- passes ---- */

/* What a probe adds to a copy of a function. Members may be NULL. The code may use the registers of rw_declare(). At an access
 * __wl_a, __wl_active, __wl_mask, __wl_lead and __wl_leads are those of the site, where one of its
 * probes needs them. */
typedef struct rw_emitter {
    uint32_t probes;                           /* bit set: runs where the copy has one of them */
    void (*declare)(rw_body *b);               /* registers and variables of its own */
    void (*enter)(rw_body *b);                 /* where the copy begins, __wl_state is set */
    void (*start)(rw_body *b, uint32_t block); /* before flow's block */
    void (*block)(rw_body *b, uint32_t block); /* where the basic block begins */
    void (*access)(rw_body *b, uint32_t site); /* before the instruction */
    void (*before)(rw_body *b, uint32_t insn); /* the instruction, behind what `access` did */
    void (*behind)(rw_body *b, uint32_t insn);
    void (*end)(rw_body *b, uint32_t insn); /* behind it, or before it where it leads elsewhere */
    void (*scope)(rw_body *b);              /* before a scope is opened or closed */
    void (*finish)(rw_body *b,
                   uint32_t insn); /* behind the last of a block, or before what goes elsewhere */
    /* By __wl_active, the lanes that went the way that is counted; __wl_here: those that came to the branch. */
    void (*edge)(rw_body *b, uint32_t edge);
    /* Before a thread leaves the copy: at its end, or into a call that may not come back. */
    void (*leave)(rw_body *b);
} rw_emitter;

extern const rw_emitter rw_blocks_emitter, rw_ranges_emitter, rw_objects_emitter, rw_walks_emitter,
    rw_touch_emitter, rw_counted_emitter, rw_shared_emitter, rw_trace_emitter;

/* ---- a kernel in a module of its own (alone.c) ---- */

/* The table of addresses, and the variables that the kernel has there. */
void rw_print_alone_variables(ptx_text *out, const rw_plan *plan);
/* The function as it is printed. */
const ir_func *rw_printed(const rw_plan *plan, uint32_t index);
/* Loads the registers of its variables, at its begin. */
void rw_load_addresses(rw_body *b);
/* The register with the address of a variable that an access of the function names. */
const char *rw_address_of(const rw_body *b, const ir_var *var, char buffer[RW_NAME_BYTES]);

/* Prints the copies of the kernel's body, the one of a clone, or that of a function as it was, between its braces. */
void rw_print_kernel_body(ptx_text *out, rw_plan *plan);
void rw_print_clone_body(ptx_text *out, rw_plan *plan, uint32_t index, uint32_t probes);
void rw_print_plain_body(ptx_text *out, rw_plan *plan, uint32_t index);
/* The name of a clone, in the buffer. */
const char *rw_clone_name(const rw_plan *plan, uint32_t index, uint32_t probes,
                          char buffer[RW_NAME_BYTES]);

#endif
