/* What the emulator's files share: decoded code, warps, blocks, workers, memory.
 *
 * Values live in vectors of 32 lanes. An emu_ref names one: a base and a byte offset. The four
 * bases are FRAME   the registers of the function that runs, of one warp LAUNCH  constants and what
 * is the same for the whole launch (parameters, %ntid, %laneid, symbol addresses) BLOCK   what is
 * the same in a block (%ctaid) WARP    what depends on the warp's place in the block alone (%tid,
 * %warpid) so handlers see vectors only, and no instruction is spent on constants or special
 * registers. A vector of an n-bit type holds 32 elements of n bits; a predicate is one uint32_t,
 * bit i for lane i. 8-bit values live in 16-bit slots. */
#ifndef WL_EMU_INTERNAL_H
#define WL_EMU_INTERNAL_H

#include "emu/emu.h"
#include "emu/slice.h"

#include "base/arena.h"
#include "base/nest.h"
#include "base/vec.h"
#include "ir/blocks.h"
#include "ir/kernel.h"
#include "ir/module.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

enum { EMU_LANES = 32 };
#define EMU_ALL UINT32_MAX

typedef uint32_t emu_ref;
enum { EMU_FRAME, EMU_LAUNCH, EMU_BLOCK, EMU_WARP };
#define EMU_REF(base, offset) ((emu_ref)(base) << 30 | (emu_ref)(offset))
#define EMU_REF_BASE(ref) ((ref) >> 30)
#define EMU_REF_OFFSET(ref) ((ref) & 0x3fffffffu)
#define EMU_NOREF UINT32_MAX

typedef struct emu_warp emu_warp;
typedef struct emu_insn emu_insn;
typedef struct emu_cta emu_cta;
typedef struct emu_worker emu_worker;
typedef struct emu_run_state emu_run_state;

/* Executes one instruction for the lanes in mask (not 0). */
typedef void (*emu_fn)(emu_warp *w, const emu_insn *in, uint32_t mask);

struct emu_insn {
    emu_fn fn[2]; /* [1]: lanes outside of mask are dead, so their results may be overwritten */
    emu_ref dst;
    emu_ref src[4];
    uint32_t pc;
    int64_t imm;
    const void *extra; /* belongs to the family: emu_mem, emu_guarded, ... */
};

/* A handler is compiled for each instruction set; both functions may be the same. */
typedef struct emu_handler {
    emu_fn part, all;
} emu_handler;

typedef struct emu_guarded { /* instructions under one guard predicate (in->src[0], in->imm: 1
                                negated) */
    const emu_insn *list;
    uint32_t count;
} emu_guarded;

/* ---- code ---- */

typedef enum emu_term { /* how a basic block ends */
                        EMU_TERM_FALL,
                        EMU_TERM_BRA,    /* to target */
                        EMU_TERM_BRA_IF, /* pred: to target, else next */
                        EMU_TERM_BRX,    /* extra: emu_brx */
                        EMU_TERM_CALL,   /* extra: emu_call */
                        EMU_TERM_RET,
                        EMU_TERM_EXIT
} emu_term;

typedef struct emu_bb {
    const emu_insn *first;
    uint32_t count;  /* decoded instructions */
    uint32_t ninsns; /* PTX instructions */
    uint32_t order;  /* place in program order; a back edge goes to an order that is not greater */
    uint8_t term, entry;
    bool neg, guard_neg;
    bool shown;            /* to who observes entries */
    emu_ref pred;          /* of BRA_IF */
    emu_ref guard;         /* lanes without it go on at `next`; EMU_NOREF: none */
    uint32_t target, next; /* indices in code->bbs */
    uint32_t first_pc;
    uint32_t function; /* index in kernel->functions */
    uint32_t start;    /* index of `first` in kernel->insns */
    uint32_t
        sync_at; /* with an entry: the instruction that it is about, of those from `first` on */
    const void *extra;
} emu_bb;

typedef struct emu_brx {
    emu_ref index;
    uint32_t count;
    uint32_t *targets;
} emu_brx;

typedef struct emu_place { /* a parameter or return value: where it lies in a frame */
    emu_ref ref;
    uint32_t bytes;  /* per lane */
    uint32_t stride; /* from lane to lane */
    bool pred;
} emu_place;

typedef struct emu_zero { /* part of a frame */
    uint32_t offset, bytes;
} emu_zero;

typedef struct emu_function {
    const ir_func *func;
    uint32_t entry; /* basic block */
    uint32_t frame_bytes;
    uint32_t local_bytes; /* of its own variables */
    uint32_t nparams, nrets;
    emu_place *params, *rets;
    uint32_t nzero; /* slots that may be read before they are written; zeroed when a frame starts */
    emu_zero *zero;
    uint32_t nlocals; /* vectors that hold the address of a local variable in this frame */
    struct {
        emu_ref ref;
        uint32_t offset;
    } *locals;
    uint32_t registers; /* 32-bit registers live at most */
    uint32_t index;     /* in kernel->functions */
} emu_function;

typedef struct emu_builtin emu_builtin; /* vprintf, malloc, ... */

typedef struct emu_call {
    const emu_function *callee; /* or NULL: */
    const struct emu_builtin *builtin;
    emu_ref pointer; /* of an indirect call */
    uint8_t pointer_bits;
    uint32_t pc;
    uint32_t nargs, nrets;
    emu_place *args, *rets;
} emu_call;

typedef enum emu_pool_kind {
    EMU_POOL_CONST,         /* value */
    EMU_POOL_PARAM,         /* bytes of the launch's parameters at offset `value` */
    EMU_POOL_PARAM_ADDRESS, /* value + address of the parameter buffer */
    EMU_POOL_SREG           /* value: emu_uniform */
} emu_pool_kind;

typedef enum emu_barrier_kind {
    EMU_BARRIER_SYNC,
    EMU_BARRIER_ARRIVE,
    EMU_BARRIER_POPC,
    EMU_BARRIER_AND,
    EMU_BARRIER_OR
} emu_barrier_kind;

typedef struct emu_pool_entry { /* a vector of the LAUNCH pool */
    emu_pool_kind kind;
    uint32_t offset;       /* in the pool */
    uint32_t bytes;        /* of an element: 2, 4, 8, 16; 0 for a predicate */
    uint32_t memory_bytes; /* PARAM: bytes read, extended to `bytes` */
    bool sign;
    uint64_t value, high;
} emu_pool_entry;

/* Special registers that are vectors of a pool. */
typedef enum emu_uniform {
    EMU_U_LANEID,
    EMU_U_LANEMASK_EQ,
    EMU_U_LANEMASK_LE,
    EMU_U_LANEMASK_LT,
    EMU_U_LANEMASK_GE,
    EMU_U_LANEMASK_GT,
    EMU_U_NTID_X,
    EMU_U_NTID_Y,
    EMU_U_NTID_Z,
    EMU_U_NCTAID_X,
    EMU_U_NCTAID_Y,
    EMU_U_NCTAID_Z,
    EMU_U_NWARPID,
    EMU_U_NSMID,
    EMU_U_GRIDID,
    EMU_U_TOTAL_SMEM,
    EMU_U_DYNAMIC_SMEM,
    EMU_U_ENVREG1,
    EMU_U_ENVREG2,
    EMU_U_ZERO32,
    EMU_U_ZERO64,
    EMU_U_CLUSTER_NCTAID_X,
    EMU_U_CLUSTER_NCTAID_Y,
    EMU_U_CLUSTER_NCTAID_Z,
    EMU_U_CLUSTER_NCTARANK,
    EMU_U_NCLUSTERID_X,
    EMU_U_NCLUSTERID_Y,
    EMU_U_NCLUSTERID_Z,
    EMU_U_IS_CLUSTER,
    EMU_U_ONE32,
    EMU_U_RESERVED_SMEM,
} emu_uniform;

/* Vectors of the BLOCK pool and of the WARP pool, 128 bytes each. */
enum {
    EMU_B_CTAID_X,
    EMU_B_CTAID_Y,
    EMU_B_CTAID_Z,
    EMU_B_SMID,
    EMU_B_CLUSTERID_X,
    EMU_B_CLUSTERID_Y,
    EMU_B_CLUSTERID_Z,
    EMU_B_CLUSTER_CTAID_X,
    EMU_B_CLUSTER_CTAID_Y,
    EMU_B_CLUSTER_CTAID_Z,
    EMU_B_CLUSTER_CTARANK,
    EMU_B_COUNT
};
enum { EMU_W_TID_X, EMU_W_TID_Y, EMU_W_TID_Z, EMU_W_WARPID, EMU_W_COUNT };
enum { EMU_VECTOR32 = EMU_LANES * 4 };

struct emu_kernel {
    emu_module *module;
    wl_arena *arena; /* owns all of the decoded code */
    const ir_func *func;
    ir_kernel code;
    emu_kernel_info info;
    emu_insn *insns;
    emu_bb *bbs;
    uint32_t nbbs;
    uint32_t *bb_of_pc;
    uint8_t *cost_of_pc;     /* ir_cost */
    emu_function *functions; /* as order.funcs; [0] is the kernel */
    uint32_t nfunctions;
    emu_pool_entry *pool;
    uint32_t npool, pool_bytes;
    uint32_t ncaches; /* instructions with an inline cache */
    uint32_t nshared;
    emu_shared_var *shared; /* size 0: the dynamic part, from the offset on */
    uint32_t dynamic_at;    /* offset of dynamic shared memory, before the launch's own alignment */
    uint32_t local_stack;   /* bytes of local memory a thread gets, calls included */
    bool reserves_shared;   /* cooperative groups keep 288 bytes of their own */
    bool uses_alloca, uses_cluster, uses_matrices, prints;
    bool diverges;           /* lanes meet only where the code says so: machine code */
    const flow_proof *proof; /* of a slice, else NULL */
    uint8_t *shows;          /* of a slice, by pc */
    struct emu_kernel *next; /* of the module */
};

typedef struct emu_symbol { /* a variable of a module that has an address */
    const ir_var *var;
    uint64_t address, size;
} emu_symbol;

struct emu_module {
    emu_machine *machine;
    const ir_module *ptx;
    wl_arena *arena;
    emu_symbol *symbols;
    uint32_t nsymbols;
    emu_kernel *kernels;
    pthread_mutex_t lock;      /* of the kernels */
    emu_address_of address_of; /* where its variables lie; NULL: in memory of their own */
    void *address_ctx;
    struct emu_module *next;
};

/* Numbers the basic blocks of each function in program order. */
wl_status emu_order_blocks(emu_kernel *kernel);

/* ---- memory ---- */

/* A fixed place makes addresses equal from run to run. Thread sanitizer allows applications the low
 * range alone; address sanitizer has its heap where replay's memory lies otherwise. */
#if defined(__SANITIZE_THREAD__)
#define EMU_RANGE_HINT UINT64_C(0x1000000000)
#define EMU_RANGE_BYTES (UINT64_C(1) << 38)
#define EMU_REPLAY_HINT UINT64_C(0x5000000000)
#else
#define EMU_RANGE_HINT UINT64_C(0x200000000000)
#define EMU_RANGE_BYTES (UINT64_C(1) << 42)
#if defined(__SANITIZE_ADDRESS__)
#define EMU_REPLAY_HINT UINT64_C(0x500000000000)
#else
#define EMU_REPLAY_HINT UINT64_C(0x600000000000)
#endif
#endif

typedef struct emu_part {
    wl_nested place;
    emu_alloc as; /* what accesses there show */
} emu_part;

typedef struct emu_memory {
    uint64_t base, end;    /* of the reserved range */
    uint64_t next;         /* first address never handed out */
    uint64_t committed;    /* end of the part that is readable and writable */
    uint64_t used, total;  /* bytes of device memory */
    pthread_rwlock_t lock; /* of all below */
    emu_alloc **allocs;    /* by base; freed ones stay until they are many */
    uint32_t count, capacity, nfreed;
    _Atomic uint32_t epoch; /* counts up when an allocation is freed, and as parts come and go */
    wl_vec(emu_alloc) reserved;
    wl_nest parts; /* of emu_part */
} emu_memory;

/* Generic addresses of shared and local memory lie in two windows of the reserved range. A block of
 * a cluster sees its own shared memory at slot 0 and that of rank r at slot r + 1. */
enum { EMU_SHARED_SLOT_BITS = 24 };
#define EMU_WINDOW_BYTES (UINT64_C(1) << 32)

struct emu_machine {
    emu_device device;
    emu_memory memory;
    uint64_t shared_window, local_window;
    uint64_t params;       /* address of the parameter buffer */
    uint64_t grid_barrier; /* workspace of cooperative launches */
    pthread_mutex_t launching;
    struct emu_pool *pool; /* worker threads; NULL before the first parallel launch */
    uint64_t launches;
    emu_module *modules;
    struct emu_texture_table *textures; /* NULL before the first */
};

wl_status emu_memory_init(emu_machine *m, uint64_t hint, uint64_t bytes, wl_error *err);
void emu_memory_free(emu_machine *m);
/* The allocation, freed or live, that holds the address; else the nearest one, or NULL without any.
 * Call with the lock. */
emu_alloc *emu_memory_nearest(emu_memory *memory, uint64_t address);
/* The live allocation that holds [address, address + bytes); NULL without one. Takes the lock.
 * Allocations outlive the launch that finds them. */
const emu_alloc *emu_memory_holding(emu_memory *memory, uint64_t address, uint64_t bytes);
/* What an address in a live allocation belongs to, and the addresses around it of which the same is
 * true. Takes the lock. */
typedef struct emu_piece {
    const emu_alloc *object;
    uint64_t base, end;
} emu_piece;
emu_piece emu_memory_piece(emu_memory *memory, const emu_alloc *alloc, uint64_t address);
/* Ends the parts that begin in the range. Call with the lock, for writing. */
void emu_memory_end_parts(emu_memory *memory, uint64_t base, uint64_t size);
void emu_memory_set_id(emu_memory *memory, uint64_t base, uint32_t id);

/* ---- warps and blocks ---- */

typedef struct emu_frame {
    struct emu_frame *parent;
    const emu_function *function;
    const emu_call *call; /* in the parent; NULL in the kernel */
    uint32_t call_bb;     /* basic block of the call */
    uint32_t users;       /* splits and frames that hang on it */
    uint32_t depth;
    uint32_t local_base, local_top; /* in a thread's local memory */
    _Alignas(64) uint8_t registers[];
} emu_frame;

typedef enum emu_split_state {
    EMU_RUN,
    EMU_WAIT_WARP,    /* for lanes of the warp, at bb's first instruction */
    EMU_WAIT_MEET,    /* likewise, at a bsync */
    EMU_WAIT_BARRIER, /* `barrier` */
    EMU_WAIT_CLUSTER
} emu_split_state;

typedef struct emu_split { /* lanes of a warp that run together */
    uint32_t mask;
    uint32_t bb;
    emu_frame *frame;
    uint8_t state, barrier;
    bool passed;   /* what bb's entry asks for has been done */
    bool demoted;  /* used up its quantum: others run first */
    uint32_t skip; /* instructions of bb that have been executed already */
    uint32_t
        left; /* where a branch left it while other lanes went on: how often that had ended in the
                    * warp by then, and one; 0: it has gone on */
} emu_split;

enum { EMU_MEETINGS = 16 };

struct emu_warp {
    uint8_t *base[4];
    uint32_t mask;  /* of the split that runs */
    uint32_t live;  /* lanes that have not exited */
    uint32_t dead;  /* ~live */
    uint32_t carry; /* CC.CF of each lane */
    uint32_t (
        *meeting)[EMU_LANES]; /* [EMU_MEETINGS], registers of bssy and bsync; NULL: not used */
    uint32_t taken_up;        /* how often lanes that a branch had left went on */
    uint32_t index;
    uint32_t lanes; /* that exist */
    emu_cta *cta;
    emu_worker *worker;
    uint8_t *local; /* 32 threads' local memory, local_stride apart */
    uint32_t local_stride;
    int32_t budget; /* back edges before the warp must look around */
    bool spinning;  /* executed what a waiting loop would since the last back edge */
    bool spun;      /* the same, since the last time it yielded */
    uint32_t stop;  /* from this place in program order on another split must be looked at */
    uint64_t cluster_phase; /* of the cluster's barrier, when lanes last arrived there */
    bool started;
    uint64_t instructions; /* that its splits executed */
    uint32_t nsplits, current;
    emu_split splits[EMU_LANES];
};

enum { EMU_BARRIERS = 16 };

enum { EMU_MAX_WARPS = 32 }; /* of a block */

typedef struct emu_barrier { /* PTX ISA, "bar": warps arrive as a whole, when all their living lanes
                                have */
    uint32_t expected;       /* threads; 0: all of the block */
    uint32_t full;           /* warps that have arrived */
    uint32_t counted;        /* the same as a mask */
    uint32_t popc;
    uint32_t pc; /* of the last arrival */
    bool all, any, busy;
    uint32_t lanes[EMU_MAX_WARPS]; /* that have arrived */
} emu_barrier;

typedef struct emu_cluster { /* blocks that run together and share a barrier; a single block is a
                                cluster too */
    uint32_t nblocks;
    struct emu_cta **blocks; /* by rank */
    uint32_t threads, arrived, exited;
    uint32_t left; /* blocks that have not ended */
    uint64_t phase;
} emu_cluster;

typedef enum emu_progress {
    EMU_DONE,
    EMU_BLOCKED, /* waits for another warp or block */
    EMU_YIELDED  /* may be waiting for another: ran for its quantum */
} emu_progress;

struct emu_cta { /* a block in flight */
    emu_worker *worker;
    uint64_t index;
    uint64_t turn; /* its place in the order in which blocks are started */
    emu_dim id;
    uint8_t *shared;
    uint32_t shared_bytes;
    uint32_t nwarps, warps_alive;
    emu_warp *warps;
    uint8_t *pool; /* BLOCK vectors */
    uint8_t *local;
    uint32_t (*meetings)[EMU_LANES]; /* [warps * EMU_MEETINGS], or NULL */
    void *observer_block;            /* the observer's state of the block */
    void *observed;                  /* the same, NULL where accesses are not of interest */
    void *entered;                   /* likewise of entries of basic blocks */
    emu_barrier barriers[EMU_BARRIERS];
    uint32_t cluster_rank;
    emu_cluster *cluster;
    struct emu_text *text; /* what the block printed */
    bool moved;            /* something ran since this was last cleared */
};

typedef struct emu_cache { /* inline cache of a memory instruction */
    uint64_t base, end;
    const emu_alloc *alloc;
    uint32_t epoch;
    bool writable;
} emu_cache;

struct emu_worker {
    emu_run_state *run;
    uint32_t index;
    emu_cache *caches;
    emu_block_count *counts;
    void *observer; /* its state of the worker */
    jmp_buf fault;
    emu_frame **free_frames; /* [function] */
    wl_vec(emu_cta *) resident;
    wl_vec(emu_cta *) spare;
    uint64_t blocks_run;
    uint64_t longest_warp, longest_warps, busiest_block; /* of blocks that have ended, as in
                                                             emu_result */
    void *matrices; /* room for the operands of a matrix instruction */
};

struct emu_run_state { /* one launch */
    emu_machine *machine;
    emu_kernel *kernel;
    const emu_launch *launch;
    uint8_t *pool;      /* LAUNCH vectors */
    uint8_t *warp_pool; /* WARP vectors, EMU_W_COUNT * nwarps */
    uint32_t block_threads, nwarps;
    uint32_t shared_bytes, local_stride;
    uint32_t
        reserved_at; /* of the shared memory that belongs to the system; behind the program's own */
    emu_dim cluster; /* blocks of a cluster, at least 1 each */
    uint64_t nblocks;
    uint64_t units; /* clusters to run; a single block is one */
    _Atomic uint64_t next_unit, blocks_done;
    _Atomic uint64_t
        end;       /* blocks of this turn and later ones end at once; UINT64_MAX: none does */
    bool parallel; /* more than one worker: atomics must be atomic */
    bool stopped_by_caller, out_of_memory;
    uint32_t nworkers;
    emu_worker *workers;
    pthread_mutex_t lock; /* of the fault and of printing */
    pthread_mutex_t wide_atomics;
    emu_fault fault;
    uint64_t fault_turn;
    _Atomic uint32_t polls_after_fault; /* of blocks that were started before the one that failed */
    double deadline, last_progress;
    uint64_t resident_most; /* blocks that a worker may have in flight */
    struct emu_text **
        texts; /* [block]: printed, but an earlier block has not ended yet; NULL before the first */
    uint8_t *ended;
    uint64_t next_text;
};

static inline void *emu_at(const emu_warp *w, emu_ref ref)
{
    return w->base[EMU_REF_BASE(ref)] + EMU_REF_OFFSET(ref);
}

/* warp.c: runs a warp until it ends, all its lanes wait, or its quantum is over. */
emu_progress emu_warp_run(emu_warp *w);
void emu_warp_start(emu_warp *w);
/* Frees what a warp holds that will not run on. */
void emu_warp_abandon(emu_warp *w);
/* Splits that wait for lanes look again whether they are there. */
void emu_wake_lanes(emu_warp *w);

/* run.c: now and then, from loops that may be long: time limit and progress. Sets run->end. */
void emu_poll(emu_worker *worker);
/* Blocks of this turn and later ones are to end. */
void emu_end_from(emu_run_state *run, uint64_t turn);
bool emu_is_to_end(const emu_cta *cta);
/* layout.c: what a pointer to a function holds, neither an address of data nor null. */
uint64_t emu_function_token(const ir_module *module, const ir_func *func);

/* barrier.c. Arrival of the current split; true where it may go on at once. */
bool emu_barrier_arrive(emu_warp *w, emu_split *s, const emu_insn *in);
/* Lanes of the warp have exited. */
void emu_barrier_exit(emu_warp *w);
void emu_cluster_arrive(emu_warp *w, uint32_t mask);
void emu_cluster_exit(emu_warp *w, uint32_t lanes);

/* block.c */
emu_cta *emu_cta_start(emu_worker *worker, uint64_t index, emu_cluster *cluster, uint32_t rank);
emu_progress emu_cta_run(emu_cta *cta);
void emu_cta_end(emu_cta *cta);
void emu_cta_free(emu_cta *cta);
/* Reports who waits where. */
_Noreturn void emu_deadlock(emu_cta *cta);

/* The block that a shared address with a cluster slot belongs to, and the offset in it; NULL where
 * there is none. */
emu_cta *emu_cluster_peer(const emu_cta *cta, uint64_t address, uint64_t *offset);

/* The frame of the split that runs. */
static inline emu_frame *emu_frame_of(const emu_warp *w)
{
    return w->splits[w->current].frame;
}

/* ---- faults ---- */

/* fault.c: "file:line" of a static instruction, or its line in the PTX where there is no .loc. */
void emu_source_line(const emu_kernel *kernel, uint32_t pc, char *buffer, size_t size);

/* Stops the launch; does not return. `lane` is the thread's place in the warp. */
_Noreturn void emu_raise(emu_warp *w, uint32_t pc, emu_fault_kind kind, uint32_t lane,
                         uint64_t address, uint32_t bytes, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

#endif
