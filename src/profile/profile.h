/* The profile: what the captures of one run say, named and joined, in one SQLite file. The only
 * reader and writer of SQL.
 *
 * docs/profile-schema.md documents the tables, the views that a person would query and the layout
 * of blobs.
 *
 * Ids count from 1 and are the same in every run of the same program; 0 stands for none or unknown.
 * Processes come in order of their start; launches, calls and objects keep the order of their
 * process. Rows ascend by id unless a loader says otherwise. Strings are never NULL unless a
 * comment says so. Everything that a loader returns lies in the caller's arena and outlives the
 * prof_db.
 *
 * A profile may come from anywhere: opening one runs nothing that it contains, and a loader that
 * meets a size, id or text that cannot be returns WL_CORRUPT. A prof_db is used by one thread at a
 * time. */
#ifndef WL_PROFILE_PROFILE_H
#define WL_PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/fold.h"
#include "base/spans.h"
#include "capture/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROF_APPLICATION_ID = 0x574c5031 /* "WLP1" */, PROF_VERSION = 23 };

typedef struct prof_db prof_db;

/* Read-only. WL_NOENT; WL_CORRUPT: no profile, or a damaged one; WL_VERSION: another schema, err
 * says what to do. */
wl_status prof_open(const char *path, prof_db **out, wl_error *err);
void prof_close(prof_db *db); /* NULL is allowed */
/* How many kinds of launches there are. */
wl_status prof_count_kinds(prof_db *db, uint64_t *out, wl_error *err);
/* Reads what there is of launches and calls, as those who load it do, and keeps none of it: memory
 * does not grow with it. */
wl_status prof_read_launches(prof_db *db, wl_error *err);
/* Whether a profile can have this name: SQLite takes names of some 500 bytes, with all folders.
 * WL_ARG where not. */
wl_status prof_check_path(const char *path, wl_error *err);
/* A copy of the file, whole or not at all. WL_EXISTS without `force`. `stop` is asked now and then
 * and may be NULL; WL_STATE where it returned true. */
wl_status prof_copy(prof_db *db, const char *path, bool force, bool (*stop)(void), wl_error *err);

/* ---- making a profile from captures ---- */

typedef struct prof_options {
    bool force;                /* replace an existing file; without it WL_EXISTS */
    char **older;              /* where not NULL an existing file is kept as "NAME.1.wlprof", or the
                                  first of the following numbers that is free, instead; *older is
                                  that name, malloc'ed, or NULL where there was none */
    bool no_sources;           /* leave out the text of source files */
    uint64_t max_source_bytes; /* of all files together; 0: 64 MiB. A single file may take 4 MiB. */
    const char *source_path;   /* folders to look for sources in, separated by ':'; may be NULL */
    const char *command;       /* what the user asked for, as one line; may be NULL */
    const bool *running;       /* for each capture, whether its process still runs, which its row
                                  then says; NULL: none does */
    /* Called now and then; false cancels, and prof_import returns WL_STATE. May be NULL. */
    bool (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    /* Called with the whole file, at `path`, before it gets its name; on a failure it never does.
     * May be NULL. */
    wl_status (*check)(void *ctx, const char *path, wl_error *err);
    void *check_ctx;
} prof_options;

/* Imports the captures into a new file, in one transaction; it appears under its name when it is
 * whole, and on failure nothing is left. A capture that was cut off or is damaged after its first
 * record goes in as far as it is whole, which the coverage tells; one that is no capture fails the
 * import. `options` may be NULL. */
wl_status prof_import(const char *const *captures, size_t ncaptures, const char *path,
                      const prof_options *options, wl_error *err);

/* The same a record at a time. Usage: create, then for each process begin, add..., end; then finish
 * or discard. After a failure only prof_discard is allowed. */
typedef struct prof_builder prof_builder;
wl_status prof_create(const char *path, const prof_options *options, prof_builder **out,
                      wl_error *err);
wl_status prof_begin_process(prof_builder *builder, wl_error *err);
wl_status prof_add(prof_builder *builder, const cap_record *record, wl_error *err);
/* `cut_off` says why a capture ended before its END record; NULL: find out by its END. */
wl_status prof_end_process(prof_builder *builder, const char *cut_off, wl_error *err);
wl_status prof_finish(prof_builder *builder, wl_error *err); /* frees the builder in any case */
void prof_discard(prof_builder *builder);                    /* NULL is allowed */

/* ---- rows ---- */

typedef struct prof_info {
    const char *version; /* of warplens that wrote the profile */
    const char *command; /* "" where it was not given */
    const char
        *collector; /* of the first process: "emulate", "inline", "sass"; "" without any process */
} prof_info;

typedef struct prof_process {
    uint32_t id;
    uint32_t pid, parent_pid;
    const char *executable, *directory, *host, *collector, *version, *options;
    uint32_t argc;
    const char **argv;
    int64_t start_ns;         /* since the epoch */
    int64_t end_ns;           /* since the process's start; -1: did not end in order */
    const char *cut_off;      /* why the capture ends early; NULL where it is whole */
    uint64_t objects_dropped; /* allocations by kernels that have no object: too many */
} prof_process;

typedef struct prof_device {
    uint32_t id, process, ordinal;
    const char *name, *file;
    uint32_t cc_major, cc_minor, num_sms;
    uint64_t global_bytes;
} prof_device;

/* A file of source code that a location names. */
typedef struct prof_file {
    uint32_t id;
    const char *path;    /* as the compiler wrote it */
    const char *name;    /* its last part */
    bool system;         /* a header of the toolkit, the compiler or the system */
    bool has_text;       /* prof_load_source gives it */
    const char *missing; /* why there is no text; "" where there is */
    uint64_t bytes;
} prof_file;

/* A place in a source file, inlined into another. */
typedef struct prof_loc {
    uint32_t id;
    uint32_t file; /* prof_file */
    uint32_t line, column;
    const char *function; /* demangled; "" where the compiler did not say */
    uint32_t inlined_at;  /* the prof_loc of the call; 0: not inlined. Always less than id. */
} prof_loc;

typedef struct prof_kernel {
    uint32_t id;
    const char *name;       /* demangled: "gemm<float>(float const*, float*, int)" */
    const char *short_name; /* without arguments and return type: "gemm<float>" */
    const char *mangled;
    uint32_t module_id;   /* in the table `modules`; 0: none */
    const char *module;   /* file or library that it came from */
    uint32_t file, line;  /* where its code begins; 0: no line information */
    uint32_t ncode;       /* static instructions, called functions included */
    uint32_t nblocks;     /* basic blocks */
    uint32_t module_kind; /* cap_module_kind; of one without a module 0 */
    uint64_t module_hash; /* XXH64 of the module's code */
    const char *missing;  /* why there is no code, "" where there is */
    /* Compute capability, times ten, of the machine code that prof_static_mix.machine was counted
     * from; 0: it is expected from the PTX. machine_missing says why, or what was not counted; ""
     * where there is nothing to say. */
    uint32_t machine_sm;
    const char *machine_missing;
} prof_kernel;

typedef struct prof_code {
    uint32_t kernel, pc;
    const char *text;     /* PTX without a newline, guard included */
    const char *op;       /* "ld.global.nc.f32": opcode and suffixes */
    const char *function; /* demangled name of the kernel or function that it stands in */
    uint32_t ptx_line; /* in the module's text; of machine code in the PTX that it keeps, 0: none */
    uint32_t block;    /* basic block, 0 .. */
    uint32_t loc;      /* innermost prof_loc; 0: none */
    /* Where it counts: the innermost place of the chain that is no system header. */
    uint32_t file, line, column;
} prof_code;

/* What is known of code without running it. */
typedef struct prof_listed { /* an instruction of a listing */
    const char *text;
    uint32_t ptx_line;   /* that it was made from, or stands in; 0: not known */
    uint32_t file, line; /* as prof_code's; 0: not known */
} prof_listed;

/* The other form of a kernel's code, beside its prof_code: docs/profile-schema.md. Its place in the list
 * is the instruction's number; of machine code that is its byte offset in the kernel's section / 16. */
typedef struct prof_listing {
    uint32_t kernel, kind; /* cap_module_kind: what is listed */
    uint32_t sm;           /* that the machine code was made for; 0: there is none */
    uint32_t device_sm;    /* of the device that it was listed for; 0: not known */
    uint32_t ninsns;       /* also of one that is missing, where it is known */
    const char *missing;   /* why there are no `insns`; "" where there are */
    const char *apart;     /* why no ptx_line is known; "" where some are */
    const prof_listed *insns;
} prof_listing;

typedef struct prof_static_block {
    uint32_t kernel, first_pc, ninsns;
    uint32_t loop; /* header of the innermost loop around it; UINT32_MAX: none */
    /* Instructions, and memory requests, that can overlap; mlp is negative where it loads nothing.
     */
    double ilp, mlp;
    /* The most loads that wait for each other, along any chain of dependences in the block: of
     * global, local and generic memory and textures, and of shared memory. */
    uint32_t chain_loads, chain_shared;
} prof_static_block;

typedef struct prof_static_mix { /* instructions of one class in one of these blocks */
    uint32_t kernel, first_pc, cost /* ir_cost */, instructions;
    uint32_t chain; /* of `instructions`, on the block's longest chain of dependences */
    double machine; /* machine instructions of the class, counted or expected (ir/expansion.h) */
    double chain_machine; /* those that the chain is expected to become */
} prof_static_mix;

typedef struct prof_loop {
    uint32_t kernel, header; /* header: first pc of its first block */
    uint32_t number;         /* in its function: forms call its iterations i<number> */
    uint32_t depth,
        outer;      /* depth: 1 outermost; outer: header of the loop around it, UINT32_MAX: none */
    bool constant;  /* times is known */
    uint64_t times; /* that the header runs */
    const char *trips; /* as flow_trip_text() says it */
} prof_loop;

typedef struct prof_form { /* of an address of an instruction */
    uint32_t kernel, pc, position, bytes;
    const char *form; /* as flow_address_text() says it */
    bool no_wrap;     /* holds where no 32-bit step overflows */
} prof_form;

/* What an instruction writes to shared memory, and the loads there that the value may depend on:
 * flow/fills.h. */
typedef struct prof_fill {
    uint32_t kernel, pc, origin; /* obs_origin */
    bool copied, updates, unknown;
} prof_fill;

typedef struct prof_fill_read {
    uint32_t kernel, pc, load; /* load: pc of it */
    uint32_t scope;            /* flow_scope */
    bool decides, earlier;
} prof_fill_read;

typedef struct prof_successor { /* a basic block after which another can run */
    uint32_t kernel, first_pc, next_pc;
} prof_successor;

typedef struct prof_barrier { /* of a kernel of which it can be followed what they order */
    uint32_t kernel, pc;
    uint32_t meets;      /* flow_meets */
    uint64_t executions; /* by warps, over all launches */
} prof_barrier;

typedef struct prof_premise { /* what must hold of a thread that makes an access: flow/premises.h */
    uint32_t kernel, pc;
    const char *premise;
} prof_premise;

/* A memory instruction that accessed global memory in a launch, the first of those that are alike. */
typedef struct prof_access {
    uint32_t kernel, pc, launch, object; /* object 0: not known */
} prof_access;

typedef struct prof_slot {  /* what warps of a sequence access */
    uint32_t space, object; /* object 0: not known */
} prof_slot;

/* What a warp did, step by step. */
typedef struct prof_warp {
    uint64_t block;  /* linear index */
    uint32_t number; /* in its block */
    uint32_t nslots;
    const prof_slot *slots; /* what it accessed */
    const int64_t *begin;   /* [nslots]: bytes from the object's begin */
    uint32_t npages;
    const wl_folded *pages; /* of its steps; checked */
} prof_warp;

typedef struct prof_path { /* that warps of a launch took */
    uint32_t launch, path; /* by its number in the launch, from 0 */
    obs_path p;
} prof_path;

/* Warps side by side in the grid that took one path. */
typedef struct prof_path_run {
    uint32_t path; /* OBS_NO_PATH: it is not known */
    uint64_t first,
        warps; /* by the warp's number in the grid: block * warps of a block + its own */
} prof_path_run;

typedef enum prof_registers {
    PROF_REGISTERS_ESTIMATE, /* what the PTX keeps live at most */
    PROF_REGISTERS_PTXAS,    /* the machine code that ran, or that would on the device */
    PROF_REGISTERS_COUNT
} prof_registers;

/* A launch, or all launches that differ in nothing but when they ran and how long. */
typedef struct prof_launch {
    uint32_t id, process;  /* id: of several, the first's */
    uint64_t count;        /* launches that this stands for; 1 in prof_load_launches */
    uint32_t number;       /* in its process, from 1; 0 of a kind */
    uint32_t kind;         /* equal for launches that are alike; ascends with the first's id */
    uint32_t kernel, call; /* call: prof_call, 0 unknown, or of a kind */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared, static_shared, local_bytes, registers;
    uint32_t stream;     /* 0: the default stream; others numbered as they appear in the process */
    uint32_t device;     /* ordinal */
    uint64_t context;    /* in its process, from 1 */
    uint64_t ordinal;    /* as prof_call.ordinal; 0 of a kind */
    double host_seconds; /* of all that it stands for together; negative: not measured */
    double device_seconds;            /* likewise, of `timed` of them */
    uint64_t timed;                   /* launches whose device_seconds are known */
    double device_least, device_most; /* of one of these; negative: none */
    double
        device_start; /* since the first that was timed in its context began; negative: not known, or
                            of a kind */
    int32_t error;    /* CUDA error, 0 on success; this and what follows is of each launch */
    const char *fault; /* "" on success */
    uint64_t warp_instructions, thread_instructions;
    uint64_t longest_warp, busiest_block, longest_warps; /* obs_summary's */
    uint64_t blocks_run, blocks_observed, blocks_sampled;
    uint64_t dropped; /* accesses that were not counted */
    uint32_t way;     /* cap_way_kind: how that is known */
    bool estimated;   /* counts are scaled from some of the blocks */
    bool recorded;    /* its probes were on: device_seconds holds their cost */
    /* Every access is in the rows; of an object without a row none was made, but through code that
     * is not the kernel's (copies). */
    bool accesses_known;
    bool mix_whole; /* mix and totals are of all basic blocks, not of those alone that replay counts
                     */
    uint32_t registers_by; /* prof_registers: who says registers and static_shared */
    uint32_t rows_of; /* the launch whose rows are this one's too; its own id where it has some */
    uint32_t moves;   /* of objects in those rows, in the table `moves`; 0: none */
    /* obs_known of elements: of objects in global memory and of shared arrays without a prof_use,
     * which were not accessed then */
    uint32_t objects_known, arrays_known;
    uint64_t warps_dropped; /* left out of the tables of sequences; UINT64_MAX: it has none */
    const obs_mix *mix;     /* by ir_cost; never NULL in what was loaded */
} prof_launch;

typedef struct prof_fault { /* what ended a launch */
    uint32_t launch;
    const char *kind; /* "access outside of any allocation" */
    const char *what; /* more of it, in words; "" where there is no more */
    uint32_t pc, block[3], thread[3];
    uint64_t address;
    uint32_t bytes;
    uint32_t object; /* that the access hit or missed by least; 0: none, or no access to memory */
} prof_fault;

/* One static memory instruction on one object in one launch. `c.object` is a prof_object here. */
typedef struct prof_instruction {
    uint32_t launch, kernel, position; /* position: in its launch */
    obs_insn c;
    uint64_t
        executions; /* of the instruction by warps, whatever the object; from the block counts */
    uint64_t execution_lanes; /* active threads, summed */
} prof_instruction;

typedef struct prof_block {
    uint32_t launch, kernel, block; /* basic block, as prof_code.block */
    uint32_t first_pc, ninsns;
    uint64_t executions, lanes;
} prof_block;

typedef enum prof_object_kind {                          /* the first ones are cap_object_kind */
                                PROF_OBJECT_SHARED = 64, /* an array in a kernel's shared memory */
                                PROF_OBJECT_LOCAL        /* a kernel's local memory */
} prof_object_kind;

const char *prof_pool_kind_text(uint32_t kind);   /* "default", "created" */
const char *prof_object_kind_text(uint32_t kind); /* "device", "pinned", "shared", ... */
const char *prof_freed_text(
    uint32_t how); /* of cap_freed_how, save UNTOLD: "program", "exit", ... */
const char *prof_space_text(uint32_t space); /* "global", "shared", "local", "const" */
const char *prof_way_text(uint32_t way);     /* "emulate", "replay", "probe", "patch", "none" */
const char *prof_access_text(uint32_t op);   /* "load", "store", "atomic", "reduction" */
const char *prof_class_text(uint32_t class); /* of obs_mix: "fp32", "memory", ... */

typedef struct prof_object {
    uint32_t id;
    uint32_t process; /* 0 for shared and local memory */
    uint32_t kernel;  /* of shared and local memory, else 0 */
    uint32_t kind;    /* cap_object_kind or prof_object_kind */
    uint32_t space;   /* acc_space that it lies in */
    uint32_t device;  /* ordinal */
    const char
        *name; /* unambiguous for a person: "d_A (matmul.cu:41)", "table", "tile (matmul.cu:12)" */
    const char *variable; /* "d_A", or the tag; "" where it is not known */
    uint64_t base,
        bytes; /* base: address; for shared memory the offset in the block's shared memory */
    uint32_t alloc_call, free_call; /* prof_call; 0: none, or freed with its module or context */
    uint32_t parent;                /* the object that it is a part of; 0: none */
    uint32_t pool;                  /* prof_pool.pool, that it was taken from; 0: none */
    const char *tag;                /* what the program called it; "" where it did not */
    uint32_t element_bytes;         /* as the program said; 0: it did not */
    uint32_t made_by_kernel, made_by_pc; /* whose malloc() made it, and where; kernel 0: none */
    bool freed;
    uint32_t freed_how; /* cap_freed_how; UNTOLD, too, where the process did not end in order */
    uint64_t alloc_order,
        free_order; /* position in the process's course of allocations and frees; 0: never freed */
    uint32_t file, line; /* of the allocation or definition; 0: unknown */
    /* Of what a helper hands to its caller: where it is called, as far as that tells such objects
     * apart; else 0. */
    uint32_t caller_file, caller_line;
    const char *function; /* that allocates; "" unknown */
} prof_object;

/* A pool that objects were taken from. */
typedef struct prof_pool {
    uint32_t process, pool; /* pool: from 1 in its process */
    uint32_t kind;          /* cap_pool_kind */
    uint32_t device;        /* ordinal */
} prof_pool;

/* What a pool held after a call. */
typedef struct prof_pool_state {
    uint32_t process, pool;
    uint32_t call;           /* prof_call.id; 0: seen later */
    uint64_t reserved, used; /* bytes of the device's; of these, bytes handed out */
} prof_pool_state;

typedef struct prof_call {
    uint32_t id, process, number;
    const char *api;
    uint32_t kind;            /* cap_call_kind */
    uint32_t stream;          /* as prof_launch.stream */
    uint32_t thread;          /* numbered as they appear in the process */
    int64_t start_ns, end_ns; /* since the process's start */
    int32_t result;
    uint32_t source_object, target_object;
    uint64_t source_offset, target_offset, bytes;
    uint32_t stack; /* in the table `frames`; 0: none */
    /* Where it counts: the innermost frame that is no system header or library; 0: unknown. */
    uint32_t file, line;
    const char *function;
    double device_seconds; /* of a copy or set; negative: not measured */
    double device_start;   /* as a launch's */
    uint64_t ordinal;      /* among the process's calls, nodes of graphs and launches; 0: unknown */
    uint32_t device;       /* ordinal */
    uint64_t context;      /* in its process, from 1; 0: none */
    uint32_t flags;        /* cap_call's */
    uint32_t parent;       /* of a graph's node: the prof_call that launched the graph; else 0 */
    uint64_t event, version; /* cap_call's */
    cap_shape shape;         /* of a copy or set of several rows or slices; else 0 */
    uint32_t ranges;         /* prof_range_member.list, of those that it was made in; 0: none */
} prof_call;

/* A range that the program opened, in which calls were made. */
typedef struct prof_range {
    uint32_t id, process;
    uint32_t kind;   /* cap_range_kind */
    uint32_t thread; /* as prof_call's; 0: of all */
    const char *domain, *name;
} prof_range;

/* One of several that were open at once. */
typedef struct prof_range_member {
    uint32_t list, position; /* position: in the order in which they were opened, from 0 */
    uint32_t range;          /* prof_range.id */
} prof_range_member;

/* Launches that are alike, made in the same ranges. */
typedef struct prof_range_launches {
    uint32_t ranges; /* as prof_call's */
    uint32_t kind;   /* prof_launch.kind */
    uint64_t count;
    double host_seconds; /* of all of them; negative: not measured */
} prof_range_launches;

typedef struct prof_launch_list { /* of a launch that was made in ranges */
    uint32_t launch, ranges;
} prof_launch_list;

/* What one launch of a kind moved. */
typedef struct prof_kind_sums {
    uint32_t kind;
    uint64_t requests, sectors, sectors_min, wavefronts, wavefronts_min;
} prof_kind_sums;

/* Where a helper is called from by calls of one stack, and others are not. */
typedef struct prof_caller {
    uint32_t stack, file, line;
} prof_caller;

/* An allocation that failed for want of memory. */
typedef struct prof_refusal {
    uint32_t call;
    uint64_t ordinal;     /* as prof_call's */
    uint32_t device;      /* ordinal */
    uint64_t bytes;       /* that it asked for; 0: not known */
    uint64_t free, total; /* bytes of the device: left, for all processes; that it has */
} prof_refusal;

/* When a call ran, and where it is made. */
typedef struct prof_call_time {
    uint32_t call;            /* prof_call */
    uint32_t site;            /* of the process's prof_call_sites, from 0 */
    int64_t start_ns, end_ns; /* since the process's start */
} prof_call_time;

typedef struct prof_call_site { /* calls of one function with one stack */
    const char *api;
    uint32_t stack, file, line; /* as prof_call's */
    const char *function;
} prof_call_site;

typedef struct prof_frame {
    uint32_t stack;       /* as prof_call's */
    const char *function; /* "" unknown */
    uint32_t file, line;  /* 0: unknown */
    bool inlined;         /* into the next frame */
} prof_frame;

/* Calls that succeeded in copying or setting memory between the same objects. */
typedef struct prof_transfer {
    uint32_t kind; /* CAP_CALL_COPY or CAP_CALL_SET */
    uint32_t source_object, target_object;
    uint64_t count, bytes;       /* of all */
    uint64_t timed, timed_bytes; /* of those whose time on the device is known */
    double device_seconds;       /* together; 0 where none is timed */
} prof_transfer;

typedef struct prof_stream {
    uint32_t process, stream; /* stream: as prof_launch.stream */
    uint32_t kind;            /* cap_stream_kind */
    uint32_t device;
    uint64_t context;
    uint32_t flags;
    int32_t priority;
} prof_stream;

typedef enum prof_operation_kind {
    PROF_ALLOCATES, /* may have made objects, as those that follow may: the objects tell */
    PROF_FREES,
    PROF_COPIES,
    PROF_SETS,
    PROF_LAUNCHES,
    PROF_LAUNCHES_UNSEEN, /* a call that launched what has no row */
    PROF_SYNCS_CONTEXT,
    PROF_SYNCS_STREAM,
    PROF_SYNCS_EVENT,
    PROF_RECORDS_EVENT,
    PROF_WAITS_FOR_EVENT, /* a stream does */
    PROF_ELSE
} prof_operation_kind;

/* What a process asked for, in its order: a call that succeeded, what a node of a graph did, or a
 * launch. */
typedef struct prof_operation {
    uint64_t ordinal;      /* as prof_call's; ascends */
    uint32_t call, launch; /* launch: 0 of calls */
    uint32_t kind_of;      /* of a launch: the first of its kind */
    uint32_t kind;         /* prof_operation_kind */
    uint32_t stream, thread, device;
    uint64_t context;
    uint32_t flags; /* cap_call's */
    uint32_t graph; /* of what a node did: the call that launched the graph; else 0 */
    uint64_t event;
    uint32_t source_object, target_object;
    uint64_t source_offset, target_offset, bytes;
    uint64_t rows, width, target_pitch; /* of several rows; else 0 */
    double seconds;                     /* on the device; negative: not measured */
    bool accesses_known;                /* as prof_launch's; of calls true */
} prof_operation;

/* A node of a graph, in one launch of it, waits for another: by ordinals. */
typedef struct prof_wait_of_node {
    uint64_t source, target;
} prof_wait_of_node;

typedef struct prof_graph_run { /* a call that launched a graph whose edges are known */
    uint32_t call;
} prof_graph_run;

/* A heat map without its rows: one sampled block of one launch over one object. Launches that did
 * the same have maps with the same id. */
typedef struct prof_heat_info {
    uint32_t id, launch, kernel, object, space;
    uint64_t count; /* of launches alike: `launch` is the first of them */
    uint64_t block;
    uint32_t block_index[3];
    uint32_t warps, nrows;
    uint64_t dropped; /* sectors left out because the map was full */
    uint32_t content; /* equal for maps with equal rows: the work on one counts for all */
} prof_heat_info;

/* A block that was chosen for heat maps. */
typedef struct prof_sample {
    uint32_t launch, kernel;
    uint64_t count; /* of launches that it is a sample of; `launch` is the first */
    obs_sample s;
    uint64_t of; /* blocks of the launch that were observed */
} prof_sample;

const char *prof_why_text(uint32_t why); /* obs_why: "asked", "typical" */

typedef struct prof_heat {
    prof_heat_info info;
    /* rows[].sector counts from the sector that holds the object's first byte (base / 32); for
     * object 0 it is address / 32. As a signed number it ascends; it may be negative where a
     * capture was wrong about the object. */
    obs_heat_row *rows;
    uint32_t npcsets;
    obs_pcset *pcsets;
} prof_heat;

/* How often the elements of an object were accessed in one launch (obs_use). */
typedef struct prof_use {
    uint32_t launch, kernel, object, space;
    uint64_t count;             /* of launches alike; `launch` is the first */
    uint32_t known;             /* obs_known: what of the following is there */
    uint64_t elements, touched; /* of the object; accessed */
    uint64_t times[WL_CLASSES]; /* over all elements, by class */
    uint64_t least, most;       /* accesses of a touched element */
    double squares;             /* sum of the squares of accesses, over all elements */
    uint32_t spans;             /* of prof_load_spans, 0: none; equal numbers, equal spans */
    /* As in obs_use; UINT64_MAX: not known. */
    uint64_t ranges[OBS_ORIGIN_COUNT], range_accesses[OBS_ORIGIN_COUNT], unfilled;
    uint64_t block_words, block_words_most, block_accesses, blocks;
} prof_use;

const char *prof_origin_text(uint32_t origin); /* obs_origin: "loaded", "copied", "computed" */

/* Live ranges of a shared array's words in one launch (obs_live_ranges). */
typedef struct prof_live_ranges {
    uint32_t launch, kernel, object;
    uint64_t count; /* of launches alike; `launch` is the first */
    obs_live_ranges live;
} prof_live_ranges;

/* Machine instructions of one class that all warps of a launch executed, as far as its basic blocks
 * were counted. */
typedef struct prof_work {
    uint32_t launch, kernel, cost; /* launch: the first of its kind; cost: ir_cost */
    double machine;
    double chain; /* of these, those that wait for each other within their blocks */
} prof_work;

/* Loads of all warps that wait for each other, and what does not wait. */
typedef struct prof_wait {
    uint32_t launch, kernel;
    double loads, shared; /* from global and local memory; from shared memory */
    /* Instructions, and memory requests, of a warp that can overlap: the mean of its basic blocks,
     * by how often they ran. Negative: not known; mlp also where nothing is loaded. */
    double ilp, mlp;
} prof_wait;

/* Different sectors of an object in global memory that a block touches, on average. */
typedef struct prof_touched {
    uint32_t launch, kernel, object; /* object 0: unknown */
    double sectors;
} prof_touched;

/* Uses of an object's sectors in global memory by some blocks, summed, each block as many times as
 * it stands for others: by the lines that its block touched since the use before (obs_reuse). */
typedef struct prof_reuse {
    uint32_t launch, kernel, object; /* object 0: unknown */
    uint32_t distance;               /* OBS_FIRST_USE */
    double loads, stores, waits;
} prof_reuse;

/* What instructions of a kernel would have done with a change (obs_trial), in one launch: before and
 * after in the same `blocks`. */
typedef struct prof_trial {
    uint32_t id, launch, kernel;
    uint8_t kind;        /* obs_trial_kind */
    uint64_t blocks;     /* that were run */
    uint32_t pc;         /* TRANSPOSED: an instruction that reads the thread's index */
    uint32_t block[2];   /* TRANSPOSED, WIDENED: of the launch then, in x and y */
    uint32_t object;     /* that the change is about, where it is one */
    uint32_t pitch, pad; /* as in obs_trial */
    uint32_t nbefore, nafter;
    const obs_insn *before, *after; /* ascend by pc; objects are the profile's */
} prof_trial;

/* A parameter of a kernel. */
typedef struct prof_parameter {
    uint32_t kernel, position;
    uint64_t offset, bytes; /* in the launch's parameters */
    const char *type;       /* "float const*"; "" where the kernel's name does not tell */
    const char *name;       /* "" where no debug information tells */
} prof_parameter;

/* An object that launches of a kernel were given by a parameter that has a name. */
typedef struct prof_passed {
    uint32_t kernel, object;
    const char *parameter;
} prof_passed;

/* A word of a launch's parameters that was the address of live memory. */
typedef struct prof_reach {
    uint32_t launch, object;
    uint64_t offset,
        object_offset; /* of the word in the parameters; of the address in the object */
} prof_reach;

/* What one launch moved of one object. */
typedef struct prof_traffic {
    uint32_t launch, kernel, object, space;
    uint64_t count; /* of launches alike, each of which moved this; `launch` is the first */
    uint64_t requests, sectors, sectors_min, wavefronts, wavefronts_min;
} prof_traffic;

/* Accesses of an instruction that were not observed in some launch. */
typedef struct prof_gap {
    uint32_t kernel, launch, pc; /* launch: the first that has it */
    const char
        *reason; /* the end of a sentence: "its address depends on data loaded from memory" */
} prof_gap;

typedef struct prof_skip {
    uint32_t id, process; /* of the first, where several are added up */
    const char *kernel;   /* demangled */
    const char *reason;
    uint64_t count;
} prof_skip;

typedef struct prof_message {
    uint32_t id, process, level; /* wl_log_level */
    const char *text;
} prof_message;

typedef struct prof_unsupported {
    const char *api;
} prof_unsupported;

typedef struct prof_coverage {
    uint64_t launches_seen, launches_observed; /* seen: observed, skipped and failed */
    uint64_t launches_failed;                  /* that did not go to their end */
    uint64_t kernels_seen, kernels_observed;
    uint64_t blocks_run, blocks_observed, blocks_sampled;
    uint64_t launches_mapped; /* blocks_sampled are of so many: those with heat maps */
    uint64_t records_dropped; /* accesses that were not counted, over all launches */
    uint64_t sectors_dropped; /* of heat maps that were full */
    uint64_t processes, processes_cut_off;
    uint64_t objects_without_site, sources_missing;
    uint64_t objects_dropped;    /* allocations by kernels that have no object: too many */
    uint64_t launches_estimated; /* counts are scaled from some of their blocks */
    uint64_t launches_repeated;  /* have the rows of an earlier one */
} prof_coverage;

/* ---- loaders ---- */

#define PROF_ROWS(name)                 \
    typedef struct prof_##name##_rows { \
        uint32_t count;                 \
        prof_##name *rows;              \
    } prof_##name##_rows;
PROF_ROWS(process)
PROF_ROWS(path)
PROF_ROWS(path_run)
PROF_ROWS(device)
PROF_ROWS(file)
PROF_ROWS(kernel)
PROF_ROWS(code)
PROF_ROWS(listing)
PROF_ROWS(static_block)
PROF_ROWS(loop)
PROF_ROWS(form)
PROF_ROWS(fill)
PROF_ROWS(fill_read)
PROF_ROWS(successor)
PROF_ROWS(barrier)
PROF_ROWS(premise)
PROF_ROWS(access)
PROF_ROWS(warp)
PROF_ROWS(passed)
PROF_ROWS(caller)
PROF_ROWS(loc)
PROF_ROWS(launch)
PROF_ROWS(instruction)
PROF_ROWS(block)
PROF_ROWS(object)
PROF_ROWS(call)
PROF_ROWS(refusal)
PROF_ROWS(call_time)
PROF_ROWS(call_site)
PROF_ROWS(frame)
PROF_ROWS(transfer)
PROF_ROWS(pool)
PROF_ROWS(pool_state)
PROF_ROWS(range)
PROF_ROWS(range_member)
PROF_ROWS(range_launches)
PROF_ROWS(launch_list)
PROF_ROWS(kind_sums)
PROF_ROWS(stream)
PROF_ROWS(wait_of_node)
PROF_ROWS(graph_run)
PROF_ROWS(heat_info)
PROF_ROWS(sample)
PROF_ROWS(use)
PROF_ROWS(live_ranges)
PROF_ROWS(traffic)
PROF_ROWS(work)
PROF_ROWS(wait)
PROF_ROWS(touched)
PROF_ROWS(reuse)
PROF_ROWS(trial)
PROF_ROWS(gap)
PROF_ROWS(fault)
PROF_ROWS(skip)
PROF_ROWS(message)
PROF_ROWS(unsupported)
#undef PROF_ROWS

enum { PROF_ALL = 0 }; /* in place of an id: no restriction */

wl_status prof_load_info(prof_db *db, wl_arena *arena, prof_info *out, wl_error *err);
wl_status prof_load_coverage(prof_db *db, wl_arena *arena, prof_coverage *out, wl_error *err);
wl_status prof_load_processes(prof_db *db, wl_arena *arena, prof_process_rows *out, wl_error *err);
wl_status prof_load_devices(prof_db *db, wl_arena *arena, prof_device_rows *out, wl_error *err);
wl_status prof_load_files(prof_db *db, wl_arena *arena, prof_file_rows *out, wl_error *err);
wl_status prof_load_kernels(prof_db *db, wl_arena *arena, prof_kernel_rows *out, wl_error *err);
wl_status prof_load_objects(prof_db *db, wl_arena *arena, prof_object_rows *out, wl_error *err);
/* Those that allocated or freed an object, and of those that failed the first of each process and
 * result. */
wl_status prof_load_calls(prof_db *db, wl_arena *arena, prof_call_rows *out, wl_error *err);
wl_status prof_load_ranges(prof_db *db, wl_arena *arena, prof_range_rows *out, wl_error *err);
/* By list and position. */
wl_status prof_load_range_lists(prof_db *db, wl_arena *arena, prof_range_member_rows *out,
                                wl_error *err);
/* By list and kind. */
wl_status prof_load_range_launches(prof_db *db, wl_arena *arena, prof_range_launches_rows *out,
                                   wl_error *err);
/* By launch; those in no range have no row. */
wl_status prof_load_launch_lists(prof_db *db, wl_arena *arena, prof_launch_list_rows *out,
                                 wl_error *err);
/* By kind; one that moved nothing has no row. */
wl_status prof_load_kind_sums(prof_db *db, wl_arena *arena, prof_kind_sums_rows *out,
                              wl_error *err);
wl_status prof_load_transfers(prof_db *db, wl_arena *arena, prof_transfer_rows *out, wl_error *err);
/* The call itself; WL_NOENT without a row. */
wl_status prof_load_every_call(prof_db *db, wl_arena *arena, prof_call_rows *out, wl_error *err);
wl_status prof_load_call(prof_db *db, uint32_t id, wl_arena *arena, prof_call *out, wl_error *err);
/* The operations of a process, one after another; `each` ends that by returning false, which is
 * WL_NOMEM. */
wl_status prof_each_operation(prof_db *db, uint32_t process,
                              bool (*each)(void *ctx, const prof_operation *operation), void *ctx,
                              wl_error *err);
/* Of a process, in its order. */
/* By stack. */
wl_status prof_load_callers(prof_db *db, wl_arena *arena, prof_caller_rows *out, wl_error *err);
wl_status prof_load_refusals(prof_db *db, uint32_t process, wl_arena *arena, prof_refusal_rows *out,
                             wl_error *err);
/* Of all calls of a process: by call; by number; the frames by stack, innermost first. */
wl_status prof_load_call_times(prof_db *db, uint32_t process, wl_arena *arena,
                               prof_call_time_rows *out, wl_error *err);
wl_status prof_load_call_sites(prof_db *db, uint32_t process, wl_arena *arena,
                               prof_call_site_rows *out, wl_error *err);
wl_status prof_load_frames(prof_db *db, uint32_t process, wl_arena *arena, prof_frame_rows *out,
                           wl_error *err);
/* Of a process, by stream. */
wl_status prof_load_streams(prof_db *db, uint32_t process, wl_arena *arena, prof_stream_rows *out,
                            wl_error *err);
/* By process, pool. */
wl_status prof_load_pools(prof_db *db, wl_arena *arena, prof_pool_rows *out, wl_error *err);
/* By process, pool, then as they came. */
wl_status prof_load_pool_states(prof_db *db, wl_arena *arena, prof_pool_state_rows *out,
                                wl_error *err);
/* Of a process, by target, source. */
wl_status prof_load_waits_of_nodes(prof_db *db, uint32_t process, wl_arena *arena,
                                   prof_wait_of_node_rows *out, wl_error *err);
/* Of a process, by call. */
wl_status prof_load_graph_runs(prof_db *db, uint32_t process, wl_arena *arena,
                               prof_graph_run_rows *out, wl_error *err);
/* By pc. */
wl_status prof_load_code(prof_db *db, uint32_t kernel, wl_arena *arena, prof_code_rows *out,
                         wl_error *err);
/* What basic blocks ran, over all launches of a kernel, by kernel and first instruction. */
wl_status prof_load_block_totals(prof_db *db, wl_arena *arena, prof_block_rows *out, wl_error *err);
/* Of all kernels, by kernel and kind. */
wl_status prof_load_listings(prof_db *db, wl_arena *arena, prof_listing_rows *out, wl_error *err);
/* By kernel, pc, position. */
wl_status prof_load_static_blocks(prof_db *db, uint32_t kernel, wl_arena *arena,
                                  prof_static_block_rows *out, wl_error *err);
/* By kernel, header. */
wl_status prof_load_loops(prof_db *db, uint32_t kernel, wl_arena *arena, prof_loop_rows *out,
                          wl_error *err);
wl_status prof_load_forms(prof_db *db, uint32_t kernel, wl_arena *arena, prof_form_rows *out,
                          wl_error *err);
/* By kernel, pc, and load. */
wl_status prof_load_fills(prof_db *db, uint32_t kernel, wl_arena *arena, prof_fill_rows *out,
                          wl_error *err);
wl_status prof_load_fill_reads(prof_db *db, uint32_t kernel, wl_arena *arena,
                               prof_fill_read_rows *out, wl_error *err);
wl_status prof_load_successors(prof_db *db, uint32_t kernel, wl_arena *arena,
                               prof_successor_rows *out, wl_error *err);
wl_status prof_load_barriers(prof_db *db, uint32_t kernel, wl_arena *arena, prof_barrier_rows *out,
                             wl_error *err);
wl_status prof_load_premises(prof_db *db, uint32_t kernel, wl_arena *arena, prof_premise_rows *out,
                             wl_error *err);
/* By pc, launch and object. */
wl_status prof_load_accesses(prof_db *db, uint32_t kernel, wl_arena *arena, prof_access_rows *out,
                             wl_error *err);
/* By id, which counts from 1. */
wl_status prof_load_locs(prof_db *db, wl_arena *arena, prof_loc_rows *out, wl_error *err);
/* By kernel, object, place among the parameters; each once. */
wl_status prof_load_passed(prof_db *db, wl_arena *arena, prof_passed_rows *out, wl_error *err);
/* Every launch: where there are many, prof_load_launch_kinds says the same in few rows. */
wl_status prof_load_launches(prof_db *db, uint32_t kernel, wl_arena *arena, prof_launch_rows *out,
                             wl_error *err);
/* A row for all launches that are alike; of PROF_ALL, and of prof_load_launches then, some lies in
 * the profile: it is good until that is closed. */
wl_status prof_load_launch_kinds(prof_db *db, uint32_t kernel, wl_arena *arena,
                                 prof_launch_rows *out, wl_error *err);
/* By kernel, launch, pc, object, space; kernel and launch may be PROF_ALL. */
wl_status prof_load_instructions(prof_db *db, uint32_t kernel, uint32_t launch, wl_arena *arena,
                                 prof_instruction_rows *out, wl_error *err);
/* Of all kernels, of the first launch of each kind. */
wl_status prof_load_kind_instructions(prof_db *db, wl_arena *arena, prof_instruction_rows *out,
                                      wl_error *err);
/* Summed over the kernel's launches, by kernel, pc, object, space; `launch` is the one with most
 * sectors and wavefronts, `c.stride` the one of that launch. */
wl_status prof_load_instruction_totals(prof_db *db, uint32_t kernel, wl_arena *arena,
                                       prof_instruction_rows *out, wl_error *err);
/* Of the first launch of each kind, by kernel, object, space, launch; kernel may be PROF_ALL. */
wl_status prof_load_traffic(prof_db *db, uint32_t kernel, wl_arena *arena, prof_traffic_rows *out,
                            wl_error *err);
/* Of the first launch of each kind, by kernel, launch, and class or object. */
wl_status prof_load_work(prof_db *db, wl_arena *arena, prof_work_rows *out, wl_error *err);
wl_status prof_load_waits(prof_db *db, wl_arena *arena, prof_wait_rows *out, wl_error *err);
wl_status prof_load_touched(prof_db *db, wl_arena *arena, prof_touched_rows *out, wl_error *err);
wl_status prof_load_reuses(prof_db *db, wl_arena *arena, prof_reuse_rows *out, wl_error *err);
/* Of one kernel, or of all (PROF_ALL), by kernel. */
wl_status prof_load_trials(prof_db *db, uint32_t kernel, wl_arena *arena, prof_trial_rows *out,
                           wl_error *err);
/* Of the first launch of each kind, by kernel, object, space, launch, block. */
wl_status prof_load_heats(prof_db *db, uint32_t kernel, wl_arena *arena, prof_heat_info_rows *out,
                          wl_error *err);
/* By launch, block; of every launch. */
wl_status prof_load_samples(prof_db *db, uint32_t kernel, wl_arena *arena, prof_sample_rows *out,
                            wl_error *err);
/* The same of the first launch of each kind. */
wl_status prof_load_kind_samples(prof_db *db, uint32_t kernel, wl_arena *arena,
                                 prof_sample_rows *out, wl_error *err);
wl_status prof_load_heat(prof_db *db, uint32_t id, wl_arena *arena, prof_heat *out, wl_error *err);
/* Of the first launch of each kind, by object, space, kernel, launch. */
wl_status prof_load_uses(prof_db *db, uint32_t kernel, wl_arena *arena, prof_use_rows *out,
                         wl_error *err);
/* Of the first launch of each kind, by object, kernel, launch, origin, accesses. */
wl_status prof_load_live_ranges(prof_db *db, uint32_t kernel, wl_arena *arena,
                                prof_live_ranges_rows *out, wl_error *err);
/* Bytes that the steps of the launch's warps, each sequence once, take in the file. */
wl_status prof_count_step_bytes(prof_db *db, uint32_t launch, uint64_t *out, wl_error *err);
/* Of a launch with rows of its own (prof_launch.id == rows_of), by block, number. */
wl_status prof_load_warps(prof_db *db, uint32_t launch, wl_arena *arena, prof_warp_rows *out,
                          wl_error *err);
/* The launches of a kernel that have any, ascending; those with rows of their own. */
wl_status prof_load_warp_launches(prof_db *db, uint32_t kernel, wl_arena *arena, uint32_t *count,
                                  uint32_t **launches, wl_error *err);
/* Likewise: paths by their number, and all warps of the launch in order; without any both are
 * empty. */
wl_status prof_load_paths(prof_db *db, uint32_t launch, wl_arena *arena, prof_path_rows *out,
                          wl_error *err);
wl_status prof_load_path_runs(prof_db *db, uint32_t launch, wl_arena *arena,
                              prof_path_run_rows *out, wl_error *err);
/* A reader of checked spans, which lie in the arena. */
wl_status prof_load_spans(prof_db *db, uint32_t spans, wl_arena *arena, wl_span_reader *out,
                          wl_error *err);
/* By kernel, pc. */
wl_status prof_load_faults(prof_db *db, wl_arena *arena, prof_fault_rows *out, wl_error *err);
wl_status prof_load_gaps(prof_db *db, wl_arena *arena, prof_gap_rows *out, wl_error *err);
/* By count, largest first. */
wl_status prof_load_skips(prof_db *db, wl_arena *arena, prof_skip_rows *out, wl_error *err);
wl_status prof_load_messages(prof_db *db, wl_arena *arena, prof_message_rows *out, wl_error *err);
wl_status prof_load_unsupported(prof_db *db, wl_arena *arena, prof_unsupported_rows *out,
                                wl_error *err);
/* The text of a file, NUL-terminated; WL_NOENT where the profile has none. */
wl_status prof_load_source(prof_db *db, uint32_t file, wl_arena *arena, const char **text,
                           size_t *length, wl_error *err);
/* ---- looking things up in what was loaded; NULL where the id is not there ---- */

const prof_file *prof_find_file(const prof_file_rows *rows, uint32_t id);
const prof_kernel *prof_find_kernel(const prof_kernel_rows *rows, uint32_t id);
const prof_launch *prof_find_launch(const prof_launch_rows *rows, uint32_t id);
const prof_object *prof_find_object(const prof_object_rows *rows, uint32_t id);
const prof_call *prof_find_call(const prof_call_rows *rows, uint32_t id);
const prof_code *prof_find_code(const prof_code_rows *code, uint32_t kernel, uint32_t pc);

#endif
