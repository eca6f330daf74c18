/* Inside src/rewrite: the plan of one kernel, and the writer of one copy of a function.
 *
 * plan.c decides what is probed; module.c prints the module and the heads of functions; body.c prints the copies of a body
 * with the code of the probes between the instructions; each probe is a rw_pass (passes.h lists them). */
#ifndef WL_REWRITE_INTERNAL_H
#define WL_REWRITE_INTERNAL_H

#include "flow/kernel.h"
#include "ptx/print.h"
#include "rewrite/layout.h"

/* All our names begin so; registers too, which have no % then. */
#define RW_PREFIX "__wl_"

/* How often a block of flow runs (runs.c). */
typedef struct rw_run {
    uint32_t root; /* the first of the blocks that all threads run as often */
    /* Of the root: the only block before it, in the same loop, whose branch decides about it; FLOW_NONE: there is none. */
    uint32_t from;
    bool taken;    /* the branch goes there when it is taken */
    bool placed;   /* the branch's guard follows from the thread's place in its block (place.c) */
    bool launched; /* or from the launch */
    uint32_t edge; /* of the branch, where it is in no loop; else FLOW_NONE */
} rw_run;

/* A branch with a guard, of which the lanes that go one of the two ways are counted: on their way, or where they leave the
 * kernel, by a bit in a register. */
typedef struct rw_edge {
    uint32_t func, block;
    bool taken;                   /* which way */
    uint32_t probes;              /* bit set: that need it */
    uint32_t bit;                 /* 0: counted on the way */
    uint32_t before, gone_before; /* bit: who comes to the branch has of the bits `before` these */
    uint32_t tally;               /* blocks */
    uint32_t place;               /* shared */
} rw_edge;

/* Numbers that a register may hold, as it holds them: without a sign, cut to its width (span.c). */
typedef struct rw_span {
    uint64_t low, high;
} rw_span;

enum { REWRITE_AXES = 3 };

/* A thread of which values are computed by the host, or all of a part of the grid (place.c). */
typedef struct rw_place {
    const struct rw_plan *plan;
    rw_span axes[2 * REWRITE_AXES]; /* %tid, %ctaid */
    uint32_t ntid[REWRITE_AXES], nctaid[REWRITE_AXES];
    uint32_t asked; /* axes (bits) on which there are several, and that something followed from */
    uint64_t *vars; /* addresses of plan->vars */
    const void *params; /* of the launch */
    uint64_t nparams;
    rw_span *values; /* of the kernel's values, where stamp[value] is `now` */
    uint32_t *stamp, now;
} rw_place;

typedef enum rw_answer { RW_NO, RW_PERHAPS, RW_YES } rw_answer;

enum { RW_PLACE_OPERANDS = 4 };

/* shared: counters in shared memory for accesses of one class to one array. */
typedef struct rw_table {
    const ir_var *var;
    unsigned class_;
    uint32_t bytes, from; /* its size, and its place among the tables */
} rw_table;

enum { RW_MAX_TABLES = 8 };

/* Where a counter of basic blocks is while a copy runs (blocks.c). */
typedef enum rw_counter_kind {
    RW_IN_MEMORY,
    RW_PER_LANE, /* in registers, until the thread leaves */
    RW_TOGETHER, /* in one register, until the loop is left */
    RW_FEWER, /* likewise; of the lanes that enter the loop together, ever fewer run an iteration */
    RW_DERIVED /* nowhere: it follows from others */
} rw_counter_kind;

typedef struct rw_counter {
    uint8_t kind;
    uint32_t func;  /* in plan->order */
    uint32_t loop;  /* RW_TOGETHER: the outermost that all lanes leave together */
    uint32_t depth; /* of its block */
} rw_counter;

/* A site whose accesses are noted behind a loop (late.c). Members from `low` on are those of heads. */
typedef struct rw_late {
    uint32_t loop;       /* FLOW_NONE: none */
    uint32_t head;       /* the first site of its walk, which keeps the addresses */
    uint32_t leader;     /* the head that keeps what walks have in common */
    uint32_t count;      /* the leader whose register counts iterations */
    int64_t low, high;   /* bytes that the sites cover, from their common base */
    int64_t highest;     /* begin of the last of them */
    int64_t covered;     /* bytes, each as often as sites cover it */
    bool known;          /* flow knows the step: */
    int64_t step;        /* of the base in an iteration */
    bool gapless, dense; /* all between first and last is touched; and once only */
    uint32_t table;      /* in plan->walks, or IR_NONE */
} rw_late;

/* What is marked at a site: also what others access that run whenever it does, from the same base, with no gap. */
typedef struct rw_joint {
    uint32_t head;     /* the site that marks it */
    int64_t low, high; /* of the head: bytes from the base */
} rw_joint;

/* Code that writes one record of the trace: sites [first, end) of a region (regions.c), or of a loop (pieces.c). */
typedef struct rw_piece {
    uint32_t func;  /* in plan->order */
    uint32_t loop;  /* FLOW_NONE: a region */
    uint32_t block; /* of a loop: where its first site is; of a region: where it begins */
    uint32_t first, end;
    uint32_t rows;
    /* Of a loop: bases that are written where `block` begins, and behind the loop. */
    uint32_t early, late;
    uint32_t nbits; /* blocks of a region that not all of its lanes run */
    uint32_t half;  /* row whose upper half has room for a base; 0: none */
    /* Of a loop that is told from outside (outside.c): the last instructions before it and in it, and the value whose moving tells
     * the number of iterations, as in rewrite_piece. */
    bool outside;
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

/* A register that holds the address of a global variable, or one behind it, wherever the function is. */
typedef struct rw_named {
    uint32_t global; /* in rw_alone.globals */
    uint64_t offset;
} rw_named;

/* A function that names global variables by such registers: __wl_g<n> is named[n]. */
typedef struct rw_by_address {
    ir_func *func;
    rw_named *named;
    uint32_t nnamed;
} rw_by_address;

/* What a kernel needs in a module of its own (alone.c). */
typedef struct rw_alone {
    const ir_var **globals, **constants, **shared;
    uint32_t nglobals, nconstants, nshared;
    bool *funcs;           /* [module->nfuncs] that it reaches */
    rw_by_address *bodies; /* [order.count] */
} rw_alone;

typedef struct rw_plan {
    const ir_module *module;
    const rewrite_options *options;
    wl_arena *arena;
    rewrite_kernel *out;
    uint32_t number; /* of the kernel in the module */
    size_t bytes;    /* of its text, as last printed */
    ir_callorder order;
    flow_kernel *flow;
    flow_proof proof;
    /* Sites of pc are [site_first[pc], site_first[pc + 1]). */
    uint32_t *site_first, nsites;
    rewrite_site *sites;
    const flow_address **addresses; /* of each site */
    rewrite_skip *skips;
    uint32_t nskips;
    bool *cloned; /* [order.count] the function has a copy with probes */
    uint8_t
        *leader; /* [npcs + order.count] of function k from first_pc[k] + k on: ir_block_leaders */
    uint32_t *block_at; /* as leader: index of the block that starts there */
    rw_late *late;      /* [nsites] */
    rw_run **runs;      /* [order.count][nblocks] */
    rw_edge *edges;
    uint32_t nedges;
    uint32_t *edge_at; /* [npcs] of the branch of the block that starts there */
    uint8_t *placed;   /* [nvalues] of the kernel, see place.c */
    rewrite_block *blocks;
    rewrite_counter *known; /* [ncounters] as the reader knows it */
    rw_counter *counters;   /* [ncounters] */
    uint32_t *counted_at;   /* [npcs] counter of the block of flow that starts there */
    uint32_t *bits;     /* [nsites] objects: of each site, IR_NONE: it follows from the launch */
    uint32_t *first_of; /* [nsites] the block that sets it, IR_NONE: the site itself does */
    uint32_t *bit_at;   /* [npcs] that the block of flow that starts there sets, or IR_NONE */
    uint32_t *table_of; /* [nsites] shared: in `tables`, or IR_NONE */
    rw_table tables[RW_MAX_TABLES];
    uint32_t ntables, table_bytes;
    bool counts_directly; /* shared: some site by its address, and not in a table */
    bool *by_place;       /* [nsites] shared: counted by thread */
    uint32_t *
        place_of; /* [nblocks] of the kernel: the register that counts the root, by its place; IR_NONE */
    uint32_t ntimes; /* such registers */
    bool *owns;      /* [nblocks] the block alone has its counter */
    rewrite_var *vars;
    uint32_t nvars;
    uint32_t *slot_of; /* [nsites] IR_NONE: none */
    rw_joint *joints;  /* [nsites] touch */
    rewrite_pointer slots[REWRITE_SLOTS];
    uint32_t nslots;
    bool crowded[REWRITE_SLOTS]; /* counters are spread where the object is small */
    rewrite_walk_key walks[REWRITE_WALKS];
    uint32_t walk_leader[REWRITE_WALKS], nwalks;
    rw_piece *pieces; /* trace */
    uint32_t npieces;
    rewrite_spot *spots; /* [nsites], as the next ones */
    uint32_t *piece_of;
    bool *opens;         /* the site's base is written for it, and others use it */
    uint32_t *record_at; /* [npcs] piece whose record is written with the instruction, or IR_NONE */
    uint32_t *begins_at, *ends_at; /* [npcs] loop told from outside that begins, ends behind it */
    uint8_t *ran_at;     /* [npcs] of the block of flow that starts there: its bit + 1, or 0 */
    uint32_t *keep_at;   /* [nvalues of the kernel] in keeps: written where defined; or IR_NONE */
    uint32_t *opened_at; /* [nvalues of the kernel] the first site whose base is the value */
    rw_keep keeps[REWRITE_KEPT];
    uint32_t nkeeps;
    rw_alone *alone; /* NULL: the kernel stays in its module */
} rw_plan;

/* Fills plan->joints (touch.c). */
wl_status rw_plan_joints(rw_plan *plan);
/* Fills the plan and plan->out, but for the text. */
wl_status rw_plan_kernel(rw_plan *plan);
/* What control flow tells about how often blocks run. */
wl_status rw_plan_runs(rw_plan *plan);
/* Basic blocks, and how few counters suffice. */
wl_status rw_plan_blocks(rw_plan *plan);
/* Which edges are remembered in bits. Needs to know all that are counted. */
void rw_plan_gathering(rw_plan *plan);
/* Which accesses to shared memory are counted by thread. */
wl_status rw_plan_shared(rw_plan *plan);
/* Which accesses share a bit that says that they ran. */
wl_status rw_plan_objects(rw_plan *plan);
/* Needs the slots. */
wl_status rw_plan_late(rw_plan *plan);
/* Which accesses share a record of the trace. */
wl_status rw_plan_pieces(rw_plan *plan);
/* Those of a function that are in no loop that is a piece. */
void rw_form_regions(rw_plan *plan, uint32_t func);
/* Gives the loop its rows, if it can be told from outside. */
bool rw_tell_from_outside(rw_plan *plan, const flow_function *f, rw_piece *piece);
/* Is nothing else ever written to the value's register? */
bool rw_keeps_register(const flow_function *f, uint32_t value);
rw_piece *rw_new_piece(rw_plan *plan, uint32_t func, uint32_t first, uint32_t loop);
/* How the site's address is told, but for where its base is. */
rewrite_spot rw_spot_of(const rw_plan *plan, const flow_function *f, uint32_t site);
/* An earlier site of the piece that begins with `first` whose base the site can use, or the site itself. */
uint32_t rw_find_base(const rw_plan *plan, const flow_function *f, uint32_t first, uint32_t site);
/* Which sites share which slots (ranges.c). */
wl_status rw_plan_slots(rw_plan *plan);

/* ---- how often, by control flow (runs.c) ---- */

/* Does every thread run the blocks with that root once a call? */
bool rw_runs_once(const flow_function *f, uint32_t root);
/* Does one test lead to both roots, from blocks that run equally often? */
bool rw_same_test(const rw_plan *plan, const flow_function *f, uint32_t a, uint32_t b);
/* The block that a branch at the end of this one goes around, on to where both ways meet: an `if` without `else`, within one loop, and with
 * no other way to either. FLOW_NONE: there is none. */
uint32_t rw_body_of_if(const flow_function *f, uint32_t block);
/* Do all threads of a block run the blocks with that root equally often? */
bool rw_by_blocks(const flow_function *f, uint32_t root);
/* Do all threads leave the kernel together, at one place? */
bool rw_leaves_together(const rw_plan *plan);
/* The outermost loop around the block that the lanes that enter it together leave together, with all loops within, and in
 * which they agree on whether they run the block; FLOW_NONE without. */
uint32_t rw_common_loop(const rw_plan *plan, const flow_function *f, uint32_t block);
/* The loop around the block, if every iteration that goes on to another runs the block, and lanes that leave it, at whatever
 * iteration, wait for the others behind it; it is in no other loop. Else FLOW_NONE. */
uint32_t rw_waiting_loop(const flow_function *f, uint32_t block);
/* Does the instruction's guard follow from the thread's place in its block? */
bool rw_guard_placed(rw_plan *plan, const flow_function *f, const ir_insn *insn);
bool rw_guard_launched(rw_plan *plan, const flow_function *f,
                       const ir_insn *insn); /* from the launch */
/* For one thread, where it does: whether the guard is true or missing, whether the branch of run->from goes to the root. */
bool rw_guard_holds(rw_place *place, const flow_function *f, const ir_insn *insn);
bool rw_goes(rw_place *place, const flow_function *f, const rw_run *run);
/* The same for several threads. */
rw_answer rw_may_go(rw_place *place, const flow_function *f, const rw_run *run);
/* Does the thread run the root whenever it runs the root `from`, with only such branches between them? */
bool rw_gets_to(rw_place *place, uint32_t root, uint32_t from);

/* ---- values by the thread's place in its block (place.c), of the kernel's own function ---- */

bool rw_placed(rw_plan *plan, const flow_function *f, uint32_t value);
/* From the thread's place in the grid and the launch's parameters, too. */
bool rw_launched(rw_plan *plan, const flow_function *f, uint32_t value);
/* The threads of the copy's launch: first choose one, by its number in its block. NULL: out of memory. */
rw_place *rw_place_new(const rewrite_copy *copy);
void rw_place_thread(rw_place *place, uint32_t thread);
void rw_place_free(rw_place *place); /* NULL is allowed */
uint64_t rw_place_value(rw_place *place, const flow_function *f, uint32_t value);
rw_span rw_place_span(rw_place *place, const flow_function *f, uint32_t value);
/* The answer to `ask` for any thread of the copy's launch. It is asked for parts of the grid, and says RW_PERHAPS where it is
 * not the same for all threads there. RW_PERHAPS is returned where the launch is not known well enough, or is too large. */
typedef rw_answer rw_question(rw_place *place, const void *about);
rw_answer rw_any_thread(const rewrite_copy *copy, rw_question *ask, const void *about);
/* Where a parameter of the kernel begins. */
uint32_t rw_param_at(const ir_func *kernel, uint32_t param);

/* ---- arithmetic (span.c) ---- */

bool rw_is_integer(ir_type type);
unsigned rw_bits_of(ir_type type);
/* x as a number of that type, extended to so many bits. */
uint64_t rw_extended(ir_type type, uint64_t x, unsigned bits);
/* Is the result computed here? */
bool rw_op_is_known(const ir_insn *insn);
unsigned rw_result_bits(const ir_insn *insn);
ir_type rw_operand_type(const ir_insn *insn, uint32_t operand);
rw_span rw_span_compute(const ir_insn *insn, const rw_span *operands);
/* What the copy has at a place of a thread; what it counts by address, added to counts[class][word]. */
uint64_t rw_read_place(const rewrite_copy *copy, uint32_t place, uint32_t thread);
void rw_add_by_address(const rewrite_copy *copy, uint64_t *counts);
/* The shared variable in plan->vars whose address the kernel writes down, or IR_NONE. */
uint32_t rw_var_listed(const rw_plan *plan, const ir_symbol *symbol);
uint32_t rw_var_listed_as(const rw_plan *plan, const ir_var *var);

enum { RW_REGISTER_BYTES = 128 }; /* of the longest name that a register may have */
enum { RW_NAME_BYTES = 48 };      /* of one of ours */

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

/* How the addresses of a warp's lanes lie at a site (shape.c). In a row %tid.x goes up by 1 from lane to lane. */
typedef enum rw_shape {
    RW_ONE,         /* one address for all */
    RW_ONE_IN_ROW,  /* one for all in a row */
    RW_LINES,       /* side by side in a row: the lanes' elements leave no gap */
    RW_MAYBE_LINES, /* perhaps */
    RW_APART,       /* at a distance, or wherever loaded data says */
    RW_UNKNOWN
} rw_shape;

rw_shape rw_shape_of(const rw_plan *plan, const flow_function *f, uint32_t site);
/* RW_APART: are lanes of a row a line apart or more, by a form and not by data? */
bool rw_is_strided(const rw_plan *plan, const flow_function *f, uint32_t site);

enum {
    RW_SHAPES = 2,
    RW_PENDING = 16,
    RW_KEPT = 16 /* accesses whose addresses wait for the end of their basic block (ranges.c) */
};

/* A base of the trace that is still to be written (trace.c). */
typedef struct rw_pending {
    uint32_t reg, row;
    bool narrow, high; /* as in rewrite_spot */
    bool held;         /* in a register of ours, not in its own */
} rw_pending;

/* An access that waits for the end of its basic block: elements at `offset` from the address in register __wl_k<base>. */
typedef struct rw_kept {
    uint32_t site, base, elements;
    int64_t offset;
    bool guarded; /* some lanes may not access memory */
    bool joined;  /* of several sites */
} rw_kept;

/* One copy of a function's body on its way into the text. */
typedef struct rw_body {
    ptx_text *out;
    ptx_text *rest; /* what is seldom run: printed at the end of the copy */
    uint32_t depth; /* of the scope that is printed: the body's own is 0 */
    rw_plan *plan;
    uint32_t index; /* in plan->order */
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
    rw_kept kept[RW_KEPT];
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
bool rw_may_be_shared(const rewrite_site *site);
bool rw_may_be_global(const rewrite_site *site);
/* Does the probe `shared` count the site by its address? */
bool rw_counts_shared(const rw_body *b, uint32_t site);
/* And does that need to know the lanes? */
bool rw_shared_needs_lanes(const rw_body *b, uint32_t site);
/* Lanes that give addresses to ldmatrix or stmatrix. */
uint32_t rw_matrix_rows(const ir_insn *insn);
/* Elements of 4 bytes that a lane accesses at a site. */
unsigned rw_elements(const rewrite_site *site);
/* Is there redux.sync? */
bool rw_can_reduce(const ir_module *module);
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
/* The dimensions of the launch (a set) that the address at the site does not depend on: blocks or rows that differ in them only
 * access the same. 0 also where that is not known. (shape.c) */
uint32_t rw_reuse_of(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Is the address known to depend on the block, and accessed once by a warp? */
bool rw_is_own(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Do all threads of a block access the same address there, each time that one does? */
bool rw_is_for_block(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Is what the site accesses the same for all threads that differ only in dimensions that the address does not depend on, since all
 * threads of the launch get there once? */
bool rw_is_for_all(const rw_plan *plan, const flow_function *f, uint32_t site);
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
void rw_find_kept(rw_body *b, const rw_kept *kept, const rw_kept *before);
/* Which lanes are there, as far as `needed` says and the code does not know yet. For b->guard. */
void rw_find_lanes(rw_body *b, rw_lanes needed);
/* Does the block run in each iteration of the loop? */
bool rw_runs_in_each_iteration(const flow_function *f, uint32_t block, uint32_t loop);
/* Does the form change with the loop's counter only, and linearly? */
bool rw_is_walk(const flow_function *f, const flow_affine *form, uint32_t loop);
/* Does an edge out of the loop lead to the block? */
bool rw_follows_loop(const flow_function *f, uint32_t block, uint32_t loop);

/* The lane's place in the trace, which outlives a function, to and from the kernel's frame (trace.c). */
void rw_keep_trace(rw_body *b);
void rw_restore_trace(rw_body *b);

/* Before the sum i: products that it was fused with (fuse.c). */
void rw_print_products(rw_body *b, uint32_t i);

/* ---- passes ---- */

/* What a probe adds to a copy of a function. Members may be NULL. The code may use the registers of rw_declare(). At an access
 * __wl_a, __wl_active, __wl_mask, __wl_lead and __wl_leads are those of the site, where one of its
 * probes needs them. */
typedef struct rw_pass {
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
} rw_pass;

extern const rw_pass rw_blocks_pass, rw_ranges_pass, rw_objects_pass, rw_late_pass, rw_touch_pass,
    rw_counted_pass, rw_shared_pass, rw_trace_pass;

/* ---- a kernel in a module of its own (alone.c) ---- */

/* Fills plan->alone. Where it cannot be, plan->out->refused says why. */
wl_status rw_plan_alone(rw_plan *plan);
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
