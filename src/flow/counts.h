/* How often each memory instruction runs and where it accesses, in the terms of the launch: of
 * functions in the terms of each call that leads to them.
 *
 * Nothing here is needed for a proof: a `flow_proof` says what follows from the launch; this says
 * how, where it can be written down. What is said of a thread holds for each thread that comes to
 * the kernel's first instruction and meets the conditions. */
#ifndef WL_FLOW_COUNTS_H
#define WL_FLOW_COUNTS_H

#include "flow/kernel.h"

/* A way that calls lead from the kernel to a function. contexts[0] is the kernel itself. In forms
 * that stand here, FLOW_SYM_LOOP and FLOW_SYM_VALUE have the context as their `b`. */
typedef struct flow_context {
    uint32_t func;
    uint32_t parent; /* FLOW_NONE: the kernel, or a function that is only called through pointers */
    uint32_t call;   /* instruction of the parent's function */
    bool
        unknown; /* how often it is called is not known: a pointer, or a function that calls itself */
} flow_context;

/* Of a loop's end. */
typedef enum flow_end {
    FLOW_END_COUNTED, /* one test that a count follows from */
    FLOW_END_EARLY,   /* such a test, which gives the most, and others */
    FLOW_END_DATA,    /* what does not follow from the launch decides: `source` */
    FLOW_END_FORM, /* it follows from the launch, but not by a counter that moves by one step or is
                         doubled or halved */
    FLOW_END_NEVER /* there is no way out */
} flow_end;

const char *flow_end_name(flow_end end); /* "counted", "early", "data", "form", "never" */

/* A number that a count is a multiple of. */
typedef struct flow_factor {
    enum {
        FLOW_CEIL, /* over / by, or over / under where there is one, rounded up */
        FLOW_BITS, /* the bits that `over` has, less `by` */
        FLOW_LOG   /* the logarithm of over / under to the base 2, rounded up */
    } kind;
    const flow_affine *over, *under;
    int64_t by;
    uint64_t
        least; /* it is not less, whatever the forms are: 1 where a test stands at a loop's end */
} flow_factor;

enum { FLOW_COUNT_FACTORS = 6, FLOW_COUNT_CONDITIONS = 8 };

/* times * the product of the factors. */
typedef struct flow_count {
    enum { FLOW_EXACTLY, FLOW_AT_MOST, FLOW_SOMETIMES } kind; /* SOMETIMES: not known */
    uint64_t times;
    flow_factor factors[FLOW_COUNT_FACTORS];
    uint32_t nfactors;
} flow_count;

typedef struct flow_loop_count {
    uint32_t context, loop; /* of the context's function */
    flow_end end;
    flow_source source; /* FLOW_END_DATA */
    flow_count count;   /* how often its header runs, once it is entered */
} flow_loop_count;

/* The predicate of a branch, an exit or an instruction. */
typedef struct flow_condition {
    uint32_t context, pc;
    uint32_t value; /* of the context's function; FLOW_NONE: a branch with more than two ways */
    bool negated;
} flow_condition;

/* How its accesses could be counted with less than one update each, by GMProf's rules and one more;
 * a bit set, 0: each is counted. */
enum {
    FLOW_RULE_STATIC = 1, /* which addresses, and how often each, follows from the launch */
    FLOW_RULE_THREAD = 2, /* all threads of a block access the same address together */
    FLOW_RULE_LOOP = 4,   /* each iteration of the innermost loop accesses the same address */
    FLOW_RULE_AFFINE =
        8 /* each iteration accesses an address that is a constant number of bytes, or
                             of a value that the loop does not change, further on */
};

/* A memory instruction in a context. */
typedef struct flow_use_count {
    uint32_t context, pc;
    const flow_affine *form; /* the whole address; NULL: none */
    flow_count count;        /* of a thread that meets the conditions */
    flow_condition conditions[FLOW_COUNT_CONDITIONS];
    uint32_t nconditions;
    bool more;     /* conditions than stand there */
    uint8_t rules; /* FLOW_RULE_* */
    /* Loops around it, from the innermost: in loops[]; the n-th bit of `invariant`: each iteration of
     * the n-th accesses the same addresses. */
    uint32_t first_loop, nloops;
    uint32_t invariant;
} flow_use_count;

typedef struct flow_counts {
    flow_kernel *kernel;
    const flow_proof *proof;
    flow_context *contexts;
    uint32_t ncontexts;
    bool cut;               /* there are more contexts */
    flow_loop_count *loops; /* by context, outer ones first */
    uint32_t nloops;
    uint32_t *around;     /* indices in loops, see flow_use_count.first_loop */
    flow_use_count *uses; /* by context and pc */
    uint32_t count;
} flow_counts;

/* Of a kernel on which all passes but ilp have run. Everything lies in the kernel's arena. Fails with
 * WL_NOMEM only. */
wl_status flow_count_uses(flow_kernel *kernel, const flow_proof *proof, flow_counts *out);

/* ---- contexts.c ---- */

/* Fills contexts and cut. */
void flow_find_contexts(flow_counts *counts);
/* A form of the context's function in terms of the kernel: what a parameter got, and what a call
 * returned, is written out where one store says it. NULL for NULL. */
const flow_affine *flow_in_context(const flow_counts *counts, uint32_t context,
                                   const flow_affine *form);

/* ---- text.c: all truncate and return the buffer ---- */

/* "4*tid.x + param0": values are written out as far as integer arithmetic goes. */
char *flow_form_text(const flow_counts *counts, const flow_affine *form, char *buffer, size_t size);
/* "2*ceil((param2 - tid.x)/256)"; "at most 8"; "unknown". */
char *flow_count_text(const flow_counts *counts, const flow_count *count, char *buffer,
                      size_t size);
/* "tid.x < 16", "data loaded from memory says so". */
char *flow_condition_text(const flow_counts *counts, const flow_condition *condition, char *buffer,
                          size_t size);
/* "i0", "twice.i0" */
char *flow_counter_text(const flow_counts *counts, const flow_loop_count *loop, char *buffer,
                        size_t size);
/* "static", "thread-invariant, loop-invariant", "counted" */
char *flow_rules_text(unsigned rules, char *buffer, size_t size);

#endif
