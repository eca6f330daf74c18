/* The plan of one kernel: what is probed in it, and what the passes of passes.def found out about
 * that.
 *
 * This header has what all probes share: the accesses with probes (sites), the variables, how often
 * blocks run, and what the host can compute instead of having it counted. What a probe adds is a
 * struct in the header of its folder: counting/counting.h, elements/elements.h, trace/trace.h. The
 * plan and all that it points to lie in the arena that rewrite_module() was given; after the launch
 * the readers use it too. */
#ifndef WL_REWRITE_PLAN_H
#define WL_REWRITE_PLAN_H

#include "flow/kernel.h"
#include "ptx/print.h"
#include "rewrite/layout.h"

#include <stdio.h>

/* All our names begin so; registers too, which have no % then. */
#define RW_PREFIX "__wl_"

enum {
    RW_REGISTER_BYTES = 128, /* of the longest name that a register of the kernel may have */
    RW_NAME_BYTES = 48       /* of one of ours */
};

typedef enum rw_pass {
#define X(name, summary) RW_PASS_##name,
#include "rewrite/passes.def"
#undef X
    RW_PASS_COUNT
} rw_pass;

/* ---- how often blocks run ---- */

/* How often a block of flow runs (runs.c). */
typedef struct rw_run {
    uint32_t root; /* the first of the blocks that all threads run as often */
    /* Of the root: the only block before it, in the same loop, whose branch decides about it;
     * FLOW_NONE: there is none. */
    uint32_t from;
    bool taken;     /* the branch goes there when it is taken */
    bool by_thread; /* the branch's guard follows from the thread's index in its block (evaluate.c)
                     */
    bool by_launch; /* or from the launch */
    uint32_t edge;  /* of the branch, where it is in no loop; else FLOW_NONE */
} rw_run;

/* A branch with a guard, of which the lanes that go one of the two ways are counted: on their way,
 * or where they leave the kernel, by a bit in a register. */
typedef struct rw_edge {
    uint32_t func, block;
    bool taken;                   /* which way */
    uint32_t probes;              /* bit set: that need it */
    uint32_t bit;                 /* 0: counted on the way */
    uint32_t before, gone_before; /* bit: who comes to the branch has of the bits `before` these */
    uint32_t tally;               /* blocks */
    uint32_t place;               /* shared */
} rw_edge;

typedef struct rw_control {
    rw_run **runs; /* [order.count][nblocks] */
    rw_edge *edges;
    uint32_t nedges;
    uint32_t *edge_at; /* [npcs] of the branch of the block that starts there */
    uint8_t *follows;  /* [nvalues] of the kernel, see evaluate.c */
} rw_control;

/* ---- a kernel in a module of its own (alone.c) ---- */

/* A register that holds the address of a global variable, or one after it, wherever the function
 * is. */
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

typedef struct rw_alone {
    const ir_var **globals, **constants, **shared;
    uint32_t nglobals, nconstants, nshared;
    bool *funcs;           /* [module->nfuncs] that it reaches */
    rw_by_address *bodies; /* [order.count] */
} rw_alone;

/* ---- the plan ---- */

typedef struct rw_plan {
    const ir_module *module;
    const rewrite_options *options;
    wl_arena *arena;
    rewrite_kernel *out;
    uint32_t number; /* of the kernel in the module */
    size_t bytes;    /* of its text, as last printed */
    ir_kernel code;
    flow_kernel *flow;
    flow_proof proof;
    /* sites: those of pc are [site_first[pc], site_first[pc + 1]). */
    uint32_t *site_first, nsites;
    rewrite_probe_site *sites;
    const flow_address **addresses; /* of each site */
    uint32_t nothers; /* after the sites: accesses that are proven, but that a probe looks at */
    rewrite_skip *skips;
    uint32_t nskips;
    bool *cloned; /* [order.count] the function has a copy with probes */
    rewrite_var *vars;
    uint32_t nvars;
    rw_control *control;
    struct rw_block_plan *blocks;   /* counting/counting.h */
    struct rw_object_plan *objects; /* likewise */
    struct rw_shared_plan *shared;  /* likewise */
    struct rw_live_plan *live;      /* likewise */
    struct rw_element_plan *elements;
    struct rw_trace_plan *trace;
    struct rw_path_plan *path; /* path/path.h */
    uint8_t *logged;           /* [nsites] of rw_log_kind: what the site writes to the log */
    rw_alone *alone;           /* NULL: the kernel stays in its module */
} rw_plan;

/* A bit set. */
typedef enum rw_log_kind { RW_LOGS_ELEMENTS = 1, RW_LOGS_SHARED = 2 } rw_log_kind;

/* Fills the plan and plan->out, but for the text. */
wl_status rw_plan_kernel(rw_plan *plan);
bool rw_pass_find(const char *name, rw_pass *out);

#define X(name, summary) wl_status rw_pass_##name(rw_plan *plan);
#include "rewrite/passes.def"
#undef X

/* The number of the register with the address of the global variable in the function, new where
 * there was none. */
uint32_t rw_register_of(const rw_plan *plan, rw_by_address *body, const ir_var *var);
/* Fills plan->alone. Where it cannot be, plan->out->refused says why. */
wl_status rw_plan_alone(rw_plan *plan);

static inline bool rw_plan_has(const rw_plan *plan, rewrite_probe probe)
{
    return plan->out->probes >> probe & 1;
}

/* The sites of a function are [rw_first_site(), rw_end_of_sites()). */
static inline uint32_t rw_first_site(const rw_plan *plan, const flow_function *f)
{
    return plan->site_first[f->first_pc];
}

static inline uint32_t rw_end_of_sites(const rw_plan *plan, const flow_function *f)
{
    return plan->site_first[f->first_pc + f->func->ninsns];
}

/* The block of flow in which the site is; f: its function. */
static inline uint32_t rw_block_of(const rw_plan *plan, const flow_function *f, uint32_t site)
{
    return f->block_of[plan->sites[site].pc - f->first_pc];
}

/* The number of the site of the instruction's access to shared memory, which may be one of those
 * after the sites, new where it has none; IR_NONE: no probe can follow it, or it goes elsewhere as
 * well. */
uint32_t rw_site_of_shared(rw_plan *plan, uint32_t pc);

/* ---- about one site ---- */

bool rw_may_be_shared(const rewrite_probe_site *site);
bool rw_may_be_global(const rewrite_probe_site *site);
/* Elements of 4 bytes that a lane accesses there. */
unsigned rw_elements(const rewrite_probe_site *site);
/* Lanes that give addresses to ldmatrix or stmatrix. */
uint32_t rw_matrix_rows(const ir_insn *insn);
bool rw_is_matrix(const ir_insn *insn);
/* Is there redux.sync? */
bool rw_can_reduce(const ir_module *module);
/* The shared variable in plan->vars whose address the kernel writes down for the probe `shared`, or
 * IR_NONE. */
uint32_t rw_var_listed(const rw_plan *plan, const ir_symbol *symbol);
uint32_t rw_var_listed_as(const rw_plan *plan, const ir_var *var);
/* Where a parameter of the kernel begins. */
uint32_t rw_param_at(const ir_func *kernel, uint32_t param);

/* ---- loops ---- */

/* Does the block run in each iteration of the loop? */
bool rw_runs_in_each_iteration(const flow_function *f, uint32_t block, uint32_t loop);
/* Does the form change with the loop's counter only, and linearly? */
bool rw_is_walk(const flow_function *f, const flow_affine *form, uint32_t loop);
/* Does an edge out of the loop lead to the block? */
bool rw_follows_loop(const flow_function *f, uint32_t block, uint32_t loop);

/* ---- how often, by control flow (runs.c) ---- */

/* The last instruction of the block. */
const ir_insn *rw_last_of(const flow_function *f, uint32_t block);
/* Does every thread run the blocks with that root once a call? */
bool rw_runs_once(const flow_function *f, uint32_t root);
/* Does one test lead to both roots, from blocks that run equally often? */
bool rw_same_test(const rw_plan *plan, const flow_function *f, uint32_t a, uint32_t b);
/* The block that a branch at the end of this one goes around, on to where both ways meet: an `if`
 * without `else`, within one loop, and with no other way to either. FLOW_NONE: there is none. */
uint32_t rw_body_of_if(const flow_function *f, uint32_t block);
/* Do all threads of a block run the blocks with that root equally often? */
bool rw_by_blocks(const flow_function *f, uint32_t root);
/* Do all threads leave the kernel together, at one place? */
bool rw_leaves_together(const rw_plan *plan);
/* The outermost loop around the block that the lanes that enter it together leave together, with
 * all loops within, and in which they agree on whether they run the block; FLOW_NONE without. */
uint32_t rw_common_loop(const rw_plan *plan, const flow_function *f, uint32_t block);
/* The loop around the block, if every iteration that goes on to another runs the block, and lanes
 * that leave it, at whatever iteration, wait for the others after it; it is in no other loop. Else
 * FLOW_NONE. */
uint32_t rw_waiting_loop(const flow_function *f, uint32_t block);
/* Does the instruction's guard follow from the thread's index in its block? */
bool rw_guard_follows_thread(rw_plan *plan, const flow_function *f, const ir_insn *insn);

/* ---- how the addresses of a warp's lanes lie at a site (patterns.c) ---- */

/* In a row %tid.x goes up by 1 from lane to lane. */
typedef enum rw_pattern {
    RW_UNIFORM,         /* one address for all */
    RW_UNIFORM_IN_ROW,  /* one for all in a row */
    RW_COALESCED,       /* side by side in a row: the lanes' elements leave no gap */
    RW_MAYBE_COALESCED, /* perhaps */
    RW_SCATTERED,       /* at a distance, or wherever loaded data says */
    RW_UNKNOWN
} rw_pattern;

rw_pattern rw_pattern_of(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Does loaded data decide on the address? */
bool rw_is_loaded(const rw_plan *plan, const flow_function *f, uint32_t site);
/* RW_SCATTERED: are lanes of a row a line apart or more, by a form and not by data? */
bool rw_is_strided(const rw_plan *plan, const flow_function *f, uint32_t site);

/* Dimensions of the launch that an address may depend on: bit i of a set is rw_dimensions[i]. */
typedef struct rw_dimension {
    uint32_t sreg, component;
    const char *index, *count;
} rw_dimension;

enum { RW_DIMENSIONS = 5 };
extern const rw_dimension rw_dimensions[RW_DIMENSIONS];

/* The dimensions of the launch (a set) that the address at the site does not depend on: blocks or
 * rows that differ in them only access the same. 0 also where that is not known. */
uint32_t rw_reuse_of(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Is the address known to depend on the block, and accessed once by a warp? */
bool rw_is_own(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Do all threads of a block access the same address there, each time that one does? */
bool rw_is_for_block(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Is what the site accesses the same for all threads that differ only in dimensions that the
 * address does not depend on, since all threads of the launch get there once? */
bool rw_is_for_all(const rw_plan *plan, const flow_function *f, uint32_t site);

/* ---- values that the host computes (evaluate.c), of the kernel's own function ---- */

/* Does the value follow from the thread's index in its block? */
bool rw_follows_thread(rw_plan *plan, const flow_function *f, uint32_t value);
/* From the thread's place in the grid and the launch's parameters, too. */
bool rw_follows_launch(rw_plan *plan, const flow_function *f, uint32_t value);

/* Numbers that a register may hold, as it holds them: without a sign, cut to its width
 * (intervals.c). */
typedef struct rw_interval {
    uint64_t low, high;
} rw_interval;

enum { REWRITE_AXES = 3, RW_MAX_OPERANDS = 4 };

/* A thread of which values are computed by the host, or all of a part of the grid. */
typedef struct rw_eval {
    const struct rw_plan *plan;
    rw_interval axes[2 * REWRITE_AXES]; /* %tid, %ctaid */
    uint32_t ntid[REWRITE_AXES], nctaid[REWRITE_AXES];
    uint32_t asked; /* axes (bits) on which there are several, and that something followed from */
    uint64_t *vars; /* addresses of plan->vars */
    const void *params; /* of the launch */
    uint64_t nparams;
    rw_interval *values; /* of the kernel's values, where stamp[value] is `now` */
    uint32_t *stamp, now;
} rw_eval;

typedef enum rw_answer { RW_NO, RW_PERHAPS, RW_YES } rw_answer;

/* The threads of the copy's launch: first choose one, by its number in its block. NULL: out of
 * memory. */
rw_eval *rw_eval_new(const rewrite_copy *copy);
void rw_eval_thread(rw_eval *eval, uint32_t thread);
void rw_eval_free(rw_eval *eval); /* NULL is allowed */
uint64_t rw_eval_value(rw_eval *eval, const flow_function *f, uint32_t value);
rw_interval rw_eval_interval(rw_eval *eval, const flow_function *f, uint32_t value);
/* The answer to `ask` for any thread of the copy's launch. It is asked for parts of the grid, and
 * says RW_PERHAPS where it is not the same for all threads there. RW_PERHAPS is returned where the
 * launch is not known well enough, or is too large. */
typedef rw_answer rw_question(rw_eval *eval, const void *about);
rw_answer rw_any_thread(const rewrite_copy *copy, rw_question *ask, const void *about);

/* For one thread, where it follows from that: whether the guard is true or missing, whether the
 * branch of run->from goes to the root. */
bool rw_guard_holds(rw_eval *eval, const flow_function *f, const ir_insn *insn);
bool rw_goes(rw_eval *eval, const flow_function *f, const rw_run *run);
/* The same for several threads. */
rw_answer rw_may_go(rw_eval *eval, const flow_function *f, const rw_run *run);
/* Does the thread run the root whenever it runs the root `from`, with only such branches between
 * them? */
bool rw_gets_to(rw_eval *eval, uint32_t root, uint32_t from);

/* ---- arithmetic on intervals (intervals.c) ---- */

bool rw_is_integer(ir_type type);
unsigned rw_bits_of(ir_type type);
/* x as a number of that type, extended to so many bits. */
uint64_t rw_extended(ir_type type, uint64_t x, unsigned bits);
/* Is the result computed here? */
bool rw_op_is_known(const ir_insn *insn);
unsigned rw_result_bits(const ir_insn *insn);
ir_type rw_operand_type(const ir_insn *insn, uint32_t operand);
rw_interval rw_interval_of(const ir_insn *insn, const rw_interval *operands);

#endif
