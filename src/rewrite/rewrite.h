/* Probes: puts measuring code into the kernels of a PTX module.
 *
 * What comes out is PTX text: the driver wants text, and whoever wants a tree parses it, which also
 * shows that it is valid. A rewritten kernel has one parameter more, the last (struct
 * rewrite_param): the address of a block of memory of this launch, its *state*, and the blocks to
 * trace. With a state of 0 the kernel runs its original instructions. layout.h says what is in a
 * state, sizes it, prepares it and reads it. A kernel's instructions are numbered as ir_kernel
 * numbers the original's. */
#ifndef WL_REWRITE_REWRITE_H
#define WL_REWRITE_REWRITE_H

#include "access/access.h"
#include "base/arena.h"
#include "base/error.h"
#include "ir/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rewrite_probe {
#define X(id, name) REWRITE_##id,
#include "rewrite/probes.def"
#undef X
    REWRITE_PROBE_COUNT
} rewrite_probe;

const char *rewrite_probe_name(rewrite_probe probe);
/* "trace,blocks" to a bit set (1 << probe), "all" to all; false where a name is unknown. */
bool rewrite_probes_parse(const char *names, uint32_t *probes);

typedef struct rewrite_options {
    uint32_t probes; /* bit set: 1 << rewrite_probe */
    bool everything; /* what is proven to follow from the launch too */
    /* Is the kernel to be probed? NULL: all are. */
    bool (*wants)(void *ctx, const char *kernel);
    void *ctx;
    size_t most_bytes; /* of a kernel's text; one with more stays as it is; 0: any */
    uint32_t threads;  /* of a block, as it is launched most likely; 0: not known. It makes code
                          faster; what is recorded reads the same. */
} rewrite_options;

/* What compiles in some fifteen seconds (bench/rewrite/results.md): a launch may not take
 * longer. */
#define REWRITE_QUICK_BYTES (4u << 20)

/* ---- what came out, per kernel ---- */

/* A static memory access that carries probes. An asynchronous copy is two. */
typedef struct rewrite_probe_site {
    uint32_t pc;
    uint8_t op;     /* acc_op */
    uint8_t space;  /* ir_space as written; GENERIC: known at run time only */
    uint16_t flags; /* of acc_flag */
    uint16_t bytes; /* per lane, all elements of a vector */
    /* The only pointer that the address can come from is in this parameter of the kernel, at this
     * byte of it; IR_NONE: not known, or no parameter. */
    uint32_t param, param_offset;
} rewrite_probe_site;

/* A memory instruction that carries none although it should, and why. */
typedef struct rewrite_skip {
    uint32_t pc;
    const char *reason;
} rewrite_skip;

/* A basic block (ir/blocks.h), in the emulator's numbering. */
typedef struct rewrite_block {
    uint32_t first_pc, ninsns;
    uint32_t counter; /* tells how often it ran, several may share one; IR_NONE: not counted */
} rewrite_block;

/* How a counter of basic blocks is known. */
typedef enum rewrite_count_kind {
    REWRITE_COUNT_MEASURED, /* by the tally */
    REWRITE_COUNT_LAUNCH,   /* all threads of the launch, once */
    REWRITE_COUNT_PLACED,   /* as `from`, which all threads of a block run as often, by those whose
                               place leads them there */
    REWRITE_COUNT_STAYED,   /* as `from`, without what the tally counts */
    REWRITE_COUNT_LEFT      /* what the tally counts */
} rewrite_count_kind;

typedef struct rewrite_counter {
    uint8_t kind;
    uint32_t from; /* another counter */
    uint32_t tally;
    uint32_t root; /* PLACED: the block, as src/flow numbers it */
} rewrite_counter;

/* A variable whose address in its space the traced code writes down: shared and constant ones. */
typedef struct rewrite_var {
    const ir_var *var;
} rewrite_var;

/* Whose range the host gives with a launch, to accesses of one class through one pointer (layout.h:
 * slots). */
typedef struct rewrite_pointer {
    uint32_t param, offset; /* the pointer's, as in rewrite_probe_site; param IR_NONE: some other */
    uint32_t at;            /* of it in a buffer of all parameters; IR_NONE: it has not 8 bytes */
    unsigned class_;
} rewrite_pointer;
/* Where a record of the trace has the address of a site: `offset` from the base in a row of the
 * record (layout.h). */
typedef struct rewrite_spot {
    uint32_t row;
    bool narrow, high; /* 32 bits; the upper ones of the row */
    uint32_t var;      /* not 0: the base is the address of kernel->vars[var - 1], in no record */
    uint8_t kept; /* not 0: the base is not in the record, but is base kept - 1 of those kept */
    uint8_t ran;  /* not 0: only lanes with bit ran - 1 of the record's came here */
    bool alone; /* the base is the site's own address, and UINT64_MAX where the lane does not access
                   memory */
    /* Of a loop: whether the row is of the last iteration, else of the first; how far the base
     * moves in each: by what row `step_row` differs from that of the next iteration, or, where that
     * is 0, by `step`. Of a loop with a count_row: by what that of `step_row` moved in all. */
    bool last;
    uint32_t step_row;
    bool by_count; /* by `step` times as much as what counts */
    int64_t offset, step;
} rewrite_spot;

/* A base in a record that is kept for later ones of the lane. */
typedef struct rewrite_keep {
    uint32_t row, slot;
    bool high;
    uint8_t ran; /* as in rewrite_spot */
} rewrite_keep;

enum { REWRITE_KEPT = 64 /* bases that a lane keeps */ };

/* Code that writes one record (layout.h): some sites in a row, or all of a loop. */
typedef struct rewrite_piece {
    uint32_t first_site, nsites;
    uint32_t first_keep, nkeeps; /* in kernel->keeps */
    uint32_t rows;               /* of a record */
    uint32_t first_pc; /* of a region: where it begins; of a loop: of the block of its first site */
    uint32_t early;    /* of a loop: rows of the first iteration, and as many of the second */
    bool loop;
    /* Not 0: of a loop whose rows have what was before it and after it. That of this row moved by
     * `count_step` in each iteration. */
    uint32_t count_row;
    uint32_t by_row; /* not 0: by what that row has, instead of `count_step` */
    int64_t count_step;
    bool count_narrow;
} rewrite_piece;

/* Loops that walk through a slot's range by one step, whose tables the host gives with a launch
 * (layout.h: walks). */
typedef struct rewrite_walk_key {
    uint32_t slot;
    uint64_t step; /* in bytes; 0: the kernel knows it when it runs */
} rewrite_walk_key;

/* What a thread does to its hash h and its count n of instructions where it begins the basic block at
 * pc (path/points.c). */
typedef enum rewrite_path_kind {
    REWRITE_PATH_COUNT, /* n += add */
    REWRITE_PATH_POINT, /* n += add, h = h * factor + n */
    REWRITE_PATH_TURN,  /* the loop's turns t += 1 */
    REWRITE_PATH_FOLD   /* n += t * add - less, h = h * factor + n, t = 0 */
} rewrite_path_kind;

typedef struct rewrite_path_step {
    uint32_t pc;
    uint8_t kind;  /* rewrite_path_kind */
    uint32_t loop; /* TURN, FOLD: in [0, nloops) of the path */
    uint32_t add, less, factor;
} rewrite_path_step;

typedef struct rewrite_path {
    uint32_t nsteps;
    const rewrite_path_step *steps; /* ascend by pc; of one pc in their order */
    uint32_t nloops;
} rewrite_path;

typedef struct rewrite_kernel {
    const ir_func *func;
    const char *refused;  /* why it is as it was; NULL: it is rewritten, or had nothing to probe */
    uint32_t probes;      /* that are in it; 0: it is as it was */
    const char *no_paths; /* path: why it does not tell them, although data decides them; or NULL */
    uint32_t param_index, param_offset; /* of the hidden parameter */
    uint32_t nsites;
    const rewrite_probe_site *sites;
    uint32_t nskips;
    const rewrite_skip *skips;
    uint32_t nblocks;
    const rewrite_block *blocks;
    uint32_t ncounters; /* of basic blocks */
    const rewrite_counter *counters;
    uint32_t ntallies, copy_bytes; /* in memory, and of one copy of them */
    uint32_t nbits, bits_bytes;    /* objects; of one copy of them */
    uint32_t nplaces;              /* shared: what is counted by thread */
    bool by_address;               /* shared: something is counted by address */
    bool logs;                     /* touch, frequency, shared: some sites write to the log */
    uint32_t log_rows;             /* that a lane writes at most; 0: not known */
    uint32_t nvars;
    const rewrite_var *vars;
    uint32_t nslots;
    const rewrite_pointer *slots;
    const struct rw_plan *plan; /* for the reader */
    uint32_t nwalks;
    const rewrite_walk_key *walks;
    uint32_t npieces; /* of the trace */
    const rewrite_piece *pieces;
    const rewrite_spot *spots; /* [nsites] */
    const rewrite_keep *keeps;
    rewrite_path path;  /* path: steps of the kernel and of the functions that it calls */
    uint32_t tail_rows; /* that a region of the trace must have beyond what may be filled */
    /* Byte offsets in a state; 0: absent. */
    uint32_t vars_at, counters_at, bits_at;
    uint32_t fixed_bytes; /* the end of what has a fixed size */
} rewrite_kernel;

static inline bool rewrite_has_probe(const rewrite_kernel *kernel, rewrite_probe probe)
{
    return kernel->probes >> probe & 1;
}

typedef struct rewrite_result {
    char *text; /* malloc'ed, NUL-terminated; NULL where no kernel was rewritten */
    size_t length;
    uint32_t nkernels; /* entries with a body, in the module's order */
    rewrite_kernel *kernels;
} rewrite_result;

/* Rewrites what it can of a verified module; what it cannot rewrite is left as it was and says why.
 * Everything but the text lies in `arena`, and points into `module`. Fails with WL_NOMEM, and with
 * WL_UNSUPPORTED where the module as a whole cannot be rewritten (32-bit addresses, an architecture
 * before sm_30, rewritten before). */
wl_status rewrite_module(const ir_module *module, const rewrite_options *options, wl_arena *arena,
                         rewrite_result *out, wl_error *err);

/* ---- one kernel ---- */

/* In the text: the addresses of variables, `.u64` each. */
#define REWRITE_GLOBALS "__wl_globals"

/* A kernel in a module of its own, beside the one that it comes from, with the functions that it
 * reaches. It works on the variables of the other module: whoever loads it writes the addresses of
 * `globals` there to the constant REWRITE_GLOBALS, in this order, and copies the contents of
 * `constants` there to those of the same names here. So the text is the same wherever variables
 * are, and constants are read as fast as they were. It is never launched without a state. */
typedef struct rewrite_alone {
    rewrite_kernel kernel;
    char *text; /* malloc'ed, NUL-terminated; NULL where kernel.probes is 0 */
    size_t length;
    uint32_t nglobals, nconstants;
    const ir_var **globals, **constants;
} rewrite_alone;

/* As rewrite_module(), of the kernel `func` only. It refuses, in addition, what a module beside the
 * other cannot have: calls through pointers, functions whose address is taken or that have no PTX,
 * references to textures and surfaces. */
wl_status rewrite_kernel_alone(const ir_module *module, const ir_func *func,
                               const rewrite_options *options, wl_arena *arena, rewrite_alone *out,
                               wl_error *err);

#endif
