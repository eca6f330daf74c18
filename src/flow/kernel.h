/* A kernel under analysis: its functions, and what the passes found.
 *
 * All passes have one signature, wl_status-free: `void flow_pass_<name>(flow_kernel *)`, run by
 * flow_run() in the order of passes.def. Each says above itself what it needs and what it fills;
 * none changes what another filled. Everything lies in the arena that flow_kernel_new() was given,
 * and lives as long as that. */
#ifndef WL_FLOW_KERNEL_H
#define WL_FLOW_KERNEL_H

#include "flow/flow.h"
#include "flow/graph.h"

typedef enum flow_pass {
#define X(name, summary) FLOW_PASS_##name,
#include "flow/passes.def"
#undef X
    FLOW_PASS_COUNT
} flow_pass;

/* ---- operands ---- */

typedef enum flow_role {
    FLOW_USE_DATA,
    FLOW_USE_ADDRESS, /* of a memory instruction: address, coordinates, size, stride, what decides
                         about copying */
    FLOW_USE_GUARD,
    FLOW_USE_STORED /* of a memory instruction: what is written */
} flow_role;

typedef struct flow_use {
    uint32_t value;
    flow_role role;
} flow_use;

/* How an instruction touches memory. Several addresses for copies. */
typedef enum flow_touch { FLOW_READ = 1, FLOW_WRITE = 2 } flow_touch;

typedef struct flow_address {
    uint32_t insn;
    const ir_operand *operand; /* ADDR, or TEX */
    ir_space space;            /* as written; GENERIC where it is not */
    uint8_t touch;             /* bits of flow_touch; 0: only looked at (prefetch) */
    uint32_t bytes;            /* per lane; 0 unknown */
    uint32_t value;            /* of the register in it, FLOW_NONE without */
} flow_address;

/* ---- values ---- */

typedef enum flow_value_kind {
    FLOW_VALUE_ENTRY, /* a register before anything is written to it, or a .reg parameter */
    FLOW_VALUE_INSN,
    FLOW_VALUE_PHI
} flow_value_kind;

typedef struct flow_value {
    uint8_t kind;
    uint32_t reg;   /* in func->regs; func->nregs is the carry flag */
    uint32_t block; /* where it is defined */
    uint32_t insn;  /* FLOW_VALUE_INSN */
    uint32_t old;   /* what the register keeps where the guard is false or a part is written; else
                       FLOW_NONE */
    bool partial;   /* a part is written */
    uint32_t first_arg; /* FLOW_VALUE_PHI: args[first_arg ..], in the order of the block's
                           predecessors */
} flow_value;

/* ---- predicates ---- */

/* Twice the number of an atom, and one more where the atom does not hold: predicates.h. */
typedef uint32_t flow_literal;

typedef struct flow_atom {
    uint32_t decided_by[2]; /* values; FLOW_NONE */
} flow_atom;

enum { FLOW_MAX_LITERALS = 4 };

typedef struct flow_literals {
    uint8_t count;
    flow_literal item[FLOW_MAX_LITERALS];
} flow_literals;

/* ---- pointers ---- */

/* Something that a value may point to. */
typedef enum flow_element_kind {
    FLOW_TO_UNKNOWN, /* global memory that is not known better: loaded pointers, heap */
    FLOW_TO_SHARED,  /* some shared memory */
    FLOW_TO_LOCAL,   /* some local memory */
    FLOW_TO_OBJECT,  /* a variable */
    FLOW_TO_PARAM    /* what the kernel's parameter points to */
} flow_element_kind;

typedef struct flow_element {
    flow_element_kind kind;
    uint32_t object; /* TO_OBJECT: in kernel->objects */
    uint32_t param;  /* TO_PARAM: in func->params, and the byte in it */
    uint32_t offset;
} flow_element;

#define FLOW_OFFSET_UNKNOWN INT64_MIN

/* Elements as a bit set over kernel->elements, words wide. offset: bytes from the start of the
 * single object. */
typedef struct flow_points {
    uint64_t *set;
    int64_t offset;
} flow_points;

/* A variable: parameters of functions and calls too. All unsized .extern .shared arrays are one. */
typedef struct flow_object {
    ir_space space;
    const ir_var *var;
    uint32_t func;    /* in order->funcs; FLOW_NONE for module scope */
    uint64_t bytes;   /* 0 unknown */
    uint32_t element; /* that stands for it; FLOW_NONE where no register holds its address */
    uint32_t cells;   /* parts that taint tells apart, of cell_bytes each */
    uint32_t cell_bytes;
} flow_object;

/* ---- uniformity ---- */

typedef enum flow_level { /* the same for all threads of ... */
                          FLOW_GRID,
                          FLOW_BLOCK,
                          FLOW_WARP,
                          FLOW_VARYING /* nothing */
} flow_level;

/* ---- what a value is computed from ---- */

typedef enum flow_from {
    FLOW_FROM_ATOMIC = 1, /* results of atomic updates */
    FLOW_FROM_MEMORY = 2, /* what is loaded, or not known */
    FLOW_FROM_BLOCK = 4   /* anything that may differ from block to block */
} flow_from;

/* ---- linear forms ---- */

enum { FLOW_MAX_FACTORS = 4, FLOW_MAX_TERMS = 12 };

typedef enum flow_symbol_kind {
    FLOW_SYM_SREG,  /* a: ir_sreg, b: component 1 .. 3 */
    FLOW_SYM_PARAM, /* a: parameter, b: byte in it; its value as the kernel got it */
    FLOW_SYM_BASE,  /* a: object; its address */
    FLOW_SYM_LOOP,  /* a: loop of the function; iterations done, from 0 */
    FLOW_SYM_VALUE  /* a: value of the function; opaque */
} flow_symbol_kind;

typedef struct flow_symbol {
    flow_symbol_kind kind;
    uint32_t a, b;
} flow_symbol;

/* coefficient times the product of the symbols; no symbol: the constant. */
typedef struct flow_term {
    int64_t coefficient;
    uint8_t nfactors;
    flow_symbol factors[FLOW_MAX_FACTORS]; /* sorted */
} flow_term;

/* A sum of terms with different factors, sorted. */
typedef struct flow_affine {
    uint32_t nterms;
    flow_term *terms;
    /* The form holds only where no 32-bit step on the way overflows. */
    bool assumes_no_wrap;
} flow_affine;

typedef enum flow_trip_kind {
    FLOW_TRIP_UNKNOWN,
    FLOW_TRIP_CONSTANT,
    FLOW_TRIP_SYMBOLIC
} flow_trip_kind;

/* The test that ends a loop: in iteration i, counted from 0, block `exiting` goes on in the loop
 * while start + step * i `compare` bound. */
typedef struct flow_trip {
    flow_trip_kind kind;
    uint64_t count; /* CONSTANT: how often the header runs once the loop is entered */
    bool only_exit; /* else the loop may end earlier elsewhere, and count is the most */
    uint32_t exiting;
    ir_suffix compare;
    const flow_affine *start, *bound;
    int64_t step;
} flow_trip;

/* ---- ILP ---- */

/* Of a basic block, on PTX. ILP and MLP (Sim et al., "A performance analysis framework for
 * identifying potential benefits in GPGPU applications", section 4) say how much overlaps: ILP =
 * insns / groups, MLP = overlap / loads. The chain says what cannot: each of its instructions waits
 * for the one before it, through a register or predicate, guards included, that was written in this
 * block; loads wait for no store. */
typedef struct flow_ilp {
    uint32_t insns;
    uint32_t groups;  /* runs of instructions none of which reads what another of its run writes */
    uint32_t loads;   /* reads of off-chip memory: global, local, generic, textures; atomics with a
                         result */
    uint32_t overlap; /* over all loads: loads from this one on, itself counted, to the first use of
                         its result */
    uint32_t chain[IR_COST_COUNT]; /* instructions of each ir_cost on the chain that takes longest,
                                      by the nominal latencies in ilp.c */
    double machine[IR_COST_COUNT]; /* machine instructions that the chain is expected to become: of
                                      a division a dozen, taken to wait for each other, too */
    uint32_t chain_loads;  /* the most of `loads` that wait for each other, along any chain */
    uint32_t chain_shared; /* likewise reads of shared memory: loads, ldmatrix, atomics with a
                              result */
} flow_ilp;

static inline double flow_ilp_of(const flow_ilp *b)
{
    return b->groups ? (double)b->insns / b->groups : 0;
}

static inline double flow_mlp_of(const flow_ilp *b)
{
    return b->loads ? (double)b->overlap / b->loads : 0;
}

/* Instructions on the chain. */
static inline uint32_t flow_chain_of(const flow_ilp *b)
{
    uint32_t sum = 0;
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        sum += b->chain[cost];
    return sum;
}

/* ---- functions ---- */

typedef struct flow_block {
    uint32_t first, count; /* instructions */
    bool reached;          /* from the entry */
    bool doomed;           /* every path from here ends in a fault; no edge leads here */
} flow_block;

/* Where a value that does not follow from the launch comes from. */
typedef struct flow_source {
    uint8_t reason; /* flow_reason */
    uint32_t pc;
} flow_source;

typedef struct flow_control {
    flow_source source;
    uint32_t branch; /* pc */
} flow_control;

typedef struct flow_function {
    const ir_func *func;
    uint32_t index; /* in order->funcs */
    uint32_t first_pc;
    bool may_exit;          /* a thread may end in it or in what it calls */
    bool pointed;           /* a call through a pointer may reach it */
    const uint8_t *decided; /* [ninsns] what the launch at hand says of guards (launch.h); NULL */

    /* cfg. Node nblocks is the exit. */
    flow_block *blocks;
    uint32_t nblocks;
    uint32_t *block_of; /* [ninsns] */
    flow_graph graph;
    uint32_t *order, *number, norder; /* reverse postorder of reached nodes */
    flow_tree dom, post;
    flow_rows control; /* control dependence */
    flow_loops loops;

    /* values */
    flow_value *values;
    uint32_t nvalues;
    uint32_t *args;
    uint32_t *def_first,
        *defs;           /* [ninsns + 1] values that an instruction writes, in order of operands */
    uint32_t *use_first; /* [ninsns + 1] */
    flow_use *uses;
    uint32_t *phi_first, *phis;   /* [nblocks + 2] */
    uint32_t *user_first, *users; /* [nvalues + 1] instructions that use a value; ninsns + v for phi
                                     or kept value v */
    uint32_t *address_first;      /* [ninsns + 1] */
    flow_address *addresses;
    ir_effect *effects;  /* [ninsns] */
    bool *unknown;       /* [ninsns] operands that ops.def does not explain */
    uint32_t live_words; /* liveness over registers that live across blocks */
    uint32_t *live_reg;  /* [nregs + 1] number in the sets, or FLOW_NONE */
    uint64_t *live_in;   /* [nblocks][live_words] */

    /* predicates */
    flow_literal *literal; /* [nvalues] that the predicate's value holds; FLOW_NONE of others */
    flow_atom *atoms;
    flow_rows implied;    /* literals that follow from each */
    flow_literal *holds;  /* [nblocks + 1] that the only edge to the block was taken; FLOW_NONE */
    uint32_t *holds_next; /* [nblocks + 1] the nearest block above, in the tree of dominators, of
                              which something holds */

    /* origins */
    flow_points *points; /* [nvalues] */

    /* uniform */
    uint8_t *level;         /* [nvalues] flow_level */
    uint8_t *control_level; /* [nblocks + 1] of what decides whether the block runs */
    uint8_t *loop_level;    /* [loops.count] of what decides how often it runs */
    uint8_t entered_level;  /* of what decides about the calls of the function */

    /* sources */
    uint8_t *from; /* [nvalues] set of flow_from */

    /* affine */
    const flow_affine **affine; /* [nvalues] NULL: none */
    flow_trip *trips;           /* [loops.count] */

    /* taint */
    flow_source *taint;    /* [nvalues] */
    flow_literals *clean;  /* [nvalues] of a tainted value: it follows from the launch wherever one
                              of these holds */
    flow_control *guarded; /* [nblocks + 1] of what decides whether the block runs */
    flow_control entered;  /* of the calls */
    flow_control exits;    /* of exits in it and below */

    /* ilp */
    uint8_t *costs; /* [ninsns] ir_cost */
    flow_ilp *ilp;  /* [nblocks] */
} flow_function;

typedef struct flow_kernel {
    flow_mem mem;
    const ir_module *module;
    const ir_kernel *code;
    flow_function *funcs; /* [order->count] */

    /* objects */
    flow_object *objects;
    uint32_t nobjects;
    const ir_var **object_keys; /* hash table from variable to object */
    uint32_t *object_slots, object_room;
    uint32_t dynamic_shared; /* the object, or FLOW_NONE */
    flow_element *elements;
    uint32_t nelements, words;
    bool calls_unknown; /* there is a call through a pointer */

    /* origins: what may stand in an object, and in memory of all kinds that a pointer was stored to
     */
    flow_points *contents; /* [nobjects] */
    uint64_t *escaped;     /* of every pointer that was stored anywhere but to a parameter */
    uint64_t *wild;        /* of those stored through unknown pointers to shared or local memory */
    uint64_t *strong; /* elements that alias analysis follows through any arithmetic: variables,
                         shared, local */

    /* uniform */
    uint8_t *object_level; /* [nobjects] of what is read from a parameter */

    /* sources */
    uint8_t *objects_from; /* [nobjects] of all that is stored there */

    /* taint */
    uint32_t *cell_first; /* [nobjects + 1] */
    flow_source *cells;
    flow_source any_shared, any_local; /* stores through unknown pointers */
    flow_source unordered;             /* shared memory whose order is not proven */

    uint32_t done; /* bit set of passes */
} flow_kernel;

/* The functions of `order`, nothing analysed yet. Lies in `arena`, as all that passes make. NULL:
 * out of memory. */
flow_kernel *flow_kernel_new(const ir_kernel *code, wl_arena *arena);
/* Runs the pass and those before it in passes.def that have not run. WL_NOMEM is the only failure.
 */
wl_status flow_run(flow_kernel *kernel, flow_pass pass);

/* As flow_prove(), on a kernel that keeps what the passes found; the proof lies in `arena`. */
wl_status flow_prove_kernel(flow_kernel *kernel, wl_arena *arena, flow_proof *out);

#define X(name, summary) void flow_pass_##name(flow_kernel *kernel);
#include "flow/passes.def"
#undef X

/* What an access may touch. Needs: origins. */
typedef struct flow_reach {
    uint32_t object; /* the only one, or FLOW_NONE */
    int64_t offset;  /* in it, or FLOW_OFFSET_UNKNOWN */
    const uint64_t
        *set;           /* else: elements, to be taken where reaches_object() says so; NULL: none */
    ir_space space;     /* of the access */
    bool global;        /* global memory */
    bool shared, local; /* some shared, some local memory */
} flow_reach;

flow_reach flow_reach_of(const flow_kernel *kernel, const flow_function *f,
                         const flow_address *address);
/* The next object from `object` on that it may touch, or FLOW_NONE. */
uint32_t flow_next_reached(const flow_kernel *kernel, const flow_reach *reach, uint32_t object);

/* The level of a value where it is used in `block`: threads that left a loop at different times see
 * different values of what is defined in it. Needs: uniform. */
flow_level flow_level_at(const flow_function *f, uint32_t value, uint32_t block);
/* Of what decides where the block goes on; FLOW_GRID where it goes on to one place. */
flow_level flow_branch_level(const flow_function *f, uint32_t block);

/* The object of a variable, or FLOW_NONE. */
uint32_t flow_object_of(const flow_kernel *kernel, const ir_var *var);
/* The object of the variable that the operand names; FLOW_NONE where it names none. */
uint32_t flow_named_object(const flow_kernel *kernel, const ir_operand *operand);
/* The function of `order` that a direct call names, or FLOW_NONE: without a body, or through a
 * register. */
uint32_t flow_callee(const flow_kernel *kernel, const ir_insn *call);

typedef enum flow_extern {
    FLOW_EXTERN_NORETURN,
    FLOW_EXTERN_PURE,
    FLOW_EXTERN_FRESH,
    FLOW_EXTERN_ANY
} flow_extern;
/* Parts of a call: lists are NULL where they are missing. `target` is a SYM or REG operand. */
typedef struct flow_call {
    const ir_operand *rets, *target, *args;
    const ir_label *table; /* .calltargets or .callprototype, or NULL */
} flow_call;
flow_call flow_call_of(const ir_func *func, const ir_insn *insn);
/* Of a direct call of a function without a body. */
flow_extern flow_extern_of(const ir_func *func);

static inline bool flow_bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static inline void flow_set(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

#endif
