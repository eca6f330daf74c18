/* The capture: an append-only file, one a process, that survives a crash of the application.
 *
 * Layout: a header of 16 bytes ("WLCAPTUR", u32 version, u32 reserved), then records: u32 type,
 * u32 flags (1: the payload is zstd-compressed), u64 payload bytes, u64 XXH64 of the payload as
 * stored (seed: flags << 32 | type), payload. Numbers are little-endian; strings and arrays are a
 * count and the elements; fields.def lists them. A record is appended with one write, so that a
 * file that ends early loses its last record only. Call stacks are raw return addresses: names
 * come after the run, from the MAPS records.
 *
 * All pointers in the records below belong to the caller when writing, and to the reader's record
 * arena when reading (valid until the next cap_read). */
#ifndef WL_CAPTURE_CAPTURE_H
#define WL_CAPTURE_CAPTURE_H

#include "base/error.h"
#include "observe/summary.h"

#include <stdint.h>

enum { CAP_VERSION = 14, CAP_MAX_STACK = 32 };
/* Bytes of a record's payload before compression, and of what a reader makes of it. */
enum { CAP_MAX_PAYLOAD = 512 << 20, CAP_MAX_DECODED = 1 << 30 };

typedef enum cap_type {
#define X(id, number, type) CAP_##id = number,
#include "capture/events.def"
#undef X
} cap_type;

typedef struct cap_process {
    uint32_t pid, parent;
    const char *executable, *directory, *host;
    const char *collector; /* "emulate", "inline" or "sass" */
    const char *version;   /* of warplens */
    const char *options;   /* the profile command's options as one line */
    uint32_t argc;
    const char **argv;
    int64_t start_ns; /* since the epoch */
} cap_process;

typedef struct cap_device {
    uint32_t ordinal;
    const char *name;
    uint32_t cc_major, cc_minor, num_sms;
    uint64_t global_bytes;
    const char *file; /* name of the description in devices/, "h200" */
} cap_device;

typedef struct cap_map { /* a file mapped executable */
    uint64_t start, end, offset;
    const char *path;
    const char *build_id; /* hex, "" without */
} cap_map;

typedef struct cap_maps { /* the whole list again whenever it changed; the latest before a stack
                             counts */
    uint32_t count;
    cap_map *maps;
} cap_maps;

/* An address at and above this is no code's: CAP_FIRST_PLACE + the number of a cap_place. */
#define CAP_FIRST_PLACE (UINT64_C(1) << 63)

typedef struct
    cap_place {      /* in a program that an interpreter runs; before the first stack with it */
    uint32_t number; /* from 1 */
    uint32_t line;   /* 0: not known */
    const char *file, *function;
} cap_place;

typedef struct cap_stack { /* innermost first; return addresses, frames of warplens and libcudart
                              left out, and places */
    uint32_t count;
    uint64_t *pcs;
} cap_stack;

typedef enum cap_module_kind {
    CAP_MODULE_PTX,  /* `code` is text */
    CAP_MODULE_CUBIN /* an ELF file with machine code: it came without PTX, or beside it */
} cap_module_kind;
enum { CAP_MODULE_KINDS = CAP_MODULE_CUBIN + 1 };

typedef struct cap_module { /* code that kernels come from */
    uint32_t id, kind;
    uint64_t hash;    /* XXH64 of `code` */
    const char *name; /* file or library that it was loaded from */
    const char *code; /* bytes; without a NUL after them */
    uint64_t length;
    /* Of a cubin that came beside PTX: the number of that, which notes and variables name. It is what the
     * driver ran. 0: it came without. */
    uint32_t beside;
} cap_module;

typedef enum cap_object_kind {
    CAP_OBJECT_DEVICE,
    CAP_OBJECT_PINNED,
    CAP_OBJECT_MANAGED,
    CAP_OBJECT_REGISTERED,
    CAP_OBJECT_SYMBOL,
    CAP_OBJECT_CONST,
    CAP_OBJECT_HEAP,
    CAP_OBJECT_ARRAY
} cap_object_kind;

typedef struct cap_object {
    uint32_t id; /* from 1, ascending in order of allocation */
    uint32_t kind;
    uint32_t device;
    uint64_t base, bytes;
    uint32_t call;      /* the CALL that made it; 0 for module symbols */
    uint32_t module;    /* of a symbol, or of the kernel; else 0 */
    const char *name;   /* symbol name, else "" */
    uint32_t parent;    /* the object that it is a part of; 0: none */
    uint32_t pool;      /* cap_pool that it was taken from; 0: none */
    const char *kernel; /* mangled, of CAP_OBJECT_HEAP: whose malloc() made it; else "" */
    uint32_t pc;        /* then: of the call of malloc() in the kernel */
} cap_object;

/* Device-side allocations, in what a call ran, that have no OBJECT: there were too many. */
typedef struct cap_left_out {
    uint32_t call;
    uint64_t objects;
} cap_left_out;

typedef struct cap_annotation { /* what the program says of one of its objects */
    uint32_t object;
    const char *tag;
    uint32_t element_bytes; /* 0: not told */
} cap_annotation;

typedef enum cap_pool_kind {
    CAP_POOL_DEFAULT, /* that its device has from the start */
    CAP_POOL_CREATED  /* or imported */
} cap_pool_kind;

/* A pool of stream-ordered allocation, before the first object from it. Numbers are not given out
 * again. */
typedef struct cap_pool {
    uint32_t id;     /* from 1 */
    uint32_t kind;   /* cap_pool_kind */
    uint32_t device; /* ordinal */
} cap_pool;

/* What a pool held after a call, where that was no longer what the record before says. */
typedef struct cap_pool_state {
    uint32_t pool, call;
    uint64_t reserved, used; /* bytes taken from the device; of these, bytes handed out */
} cap_pool_state;

/* Of an allocation that failed for want of memory: what its device had, after its CALL. */
typedef struct cap_refusal {
    uint32_t call;
    uint64_t free, total; /* bytes of the device; free: by all processes */
} cap_refusal;

typedef enum cap_freed_how {
    CAP_FREED_UNTOLD,  /* nobody noted it */
    CAP_FREED_PROGRAM, /* by the call of cap_free */
    CAP_FREED_KERNEL,  /* device-side free() in the launch that cap_free's call made */
    CAP_FREED_MODULE,  /* with its module */
    CAP_FREED_CONTEXT, /* with its context: cudaDeviceReset, cuCtxDestroy */
    CAP_FREED_UNSEEN,  /* unnoticed, before its address was given out again */
    CAP_FREED_EXIT     /* not at all: it was alive when the process ended. No record has this */
} cap_freed_how;

typedef struct cap_free {
    uint32_t object;
    uint32_t call; /* 0: no call of the program's asked for it */
    uint32_t how;  /* cap_freed_how */
} cap_free;

typedef enum cap_stream_kind {
    CAP_STREAM_LEGACY,     /* the default stream of its context */
    CAP_STREAM_PER_THREAD, /* the default stream of a thread in its context */
    CAP_STREAM_CREATED
} cap_stream_kind;

/* A stream, before anything refers to it; stream 0 is the legacy stream of the first context.
 * Numbers are not given out again: a handle that is destroyed and given out once more is another
 * stream. */
typedef struct cap_stream {
    uint64_t id;
    uint32_t kind;    /* cap_stream_kind */
    uint32_t device;  /* ordinal */
    uint64_t context; /* as cap_call's */
    uint32_t flags;   /* as cuStreamCreate's: 1: it does not wait for the legacy stream */
    int32_t priority; /* lower runs first */
} cap_stream;

/* The extent of a copy or set of rows and slices, and how they lie on both sides. */
typedef struct cap_shape {
    uint64_t width; /* bytes of a row */
    uint64_t rows, slices;
    uint64_t source_pitch, source_rows; /* bytes from row to row, rows from slice to slice; 0: a
                                           CUDA array, or no source */
    uint64_t target_pitch, target_rows;
} cap_shape;

enum {                          /* cap_call's `flags` */
       CAP_CALL_CAPTURED = 1,   /* its stream was being captured: nothing ran, a graph will do it */
       CAP_CALL_GRAPH_NODE = 2, /* what a node of a graph did when that was launched, by `parent` */
       CAP_CALL_FAILED = 4,     /* result is not 0 */
       CAP_CALL_ASYNC = 8       /* it put work on its stream and may return before that is done */
};

/* A CUDA call that concerns memory or order: allocation, free, copy, set, launch, symbol access,
 * synchronisation. */
typedef struct cap_call {
    uint32_t id;     /* from 1, ascending */
    const char *api; /* "cudaMalloc", "cuMemcpyHtoD_v2" */
    uint32_t kind;   /* cap_call_kind */
    uint64_t stream; /* cap_stream's id */
    uint32_t thread;
    int64_t start_ns, end_ns;              /* since the process's start */
    int32_t result;                        /* the CUDA error returned */
    uint32_t source_object, target_object; /* copies and sets; 0 for host memory or none */
    uint64_t source_offset, target_offset;
    uint64_t bytes; /* of a failed allocation: that it asked for, where that is known */
    cap_stack stack;
    uint64_t ordinal; /* from 1: one order over the process's calls, nodes of graphs and launches */
    uint32_t device;  /* ordinal of the thread's current context's; 0 without one */
    uint64_t context; /* the thread's current one, from 1; 0: none */
    uint32_t flags;
    uint32_t parent;  /* of a node: the CALL that launched its graph; else 0 */
    uint64_t event;   /* that the call records or waits for, from 1, not given out again; 0: none */
    uint64_t version; /* how often it had been recorded by then, this time included; 0: never, or in
                         a capture */
    uint32_t nshapes; /* 0, or 1 of a copy or set of rows or slices */
    cap_shape *shape;
    uint32_t ranges; /* cap_ranges that the program was in; 0: in none */
} cap_call;

typedef enum cap_call_kind {
    CAP_CALL_ALLOC,
    CAP_CALL_FREE,
    CAP_CALL_COPY,
    CAP_CALL_SET,
    CAP_CALL_LAUNCH,
    CAP_CALL_SYNC,
    CAP_CALL_OTHER
} cap_call_kind;

typedef enum cap_range_kind {
    CAP_RANGE_PUSHED, /* on its thread's stack of ranges */
    CAP_RANGE_STARTED /* for all threads, until it is ended */
} cap_range_kind;

/* A range that the program opened (NVTX, warplens/annotate.h), when a call is first made in it. */
typedef struct cap_range {
    uint32_t id;     /* from 1, ascending */
    uint32_t kind;   /* cap_range_kind */
    uint32_t thread; /* as cap_call's; 0: of all */
    const char *domain, *name;
} cap_range;

/* Ranges that are open at once, as calls name them. */
typedef struct cap_ranges {
    uint32_t id; /* from 1, ascending */
    uint32_t count;
    uint32_t *ranges; /* ids of RANGEs before, in the order in which they were opened */
} cap_ranges;

/* A tensor map as the driver made it, and what it was told. The numbers are CUDA's own (stride[0] is
 * an element's); a reader checks them. */
typedef struct cap_tensor {
    uint64_t map[16];
    uint64_t address, dim[5], stride[5];
    uint32_t box[5], step[5];
    uint32_t rank, element, swizzle, interleave, promotion;
    uint32_t nan; /* fills with NaN */
} cap_tensor;

typedef struct cap_launch {
    uint32_t id; /* from 1, ascending; of a launch that was noted before, the note's */
    uint32_t call;
    uint32_t module;
    const char *kernel; /* mangled */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared, static_shared, local_bytes, registers;
    uint32_t device; /* ordinal */
    uint64_t context, stream;
    uint64_t ordinal;      /* as cap_call's: where it stands among the calls */
    double host_seconds;   /* of emulation; negative: not measured */
    double device_seconds; /* negative: not measured */
    int32_t error;         /* CUDA error of the launch, 0 on success */
    const char *fault;     /* text, "" on success */
    const char
        *params; /* bytes, laid out as the kernel has them; "" where a note has them, or nobody */
    uint64_t nparams;
    obs_summary summary;
} cap_launch;

typedef struct cap_skipped { /* a launch that ran or failed to run without being observed */
    const char *kernel;
    const char *reason;
    uint32_t call;
} cap_skipped;

enum { /* cap_note's `flags` */
       CAP_NOTE_COOPERATIVE = 1,
       CAP_NOTE_GRAPH = 2,     /* a node of a graph that was launched */
       CAP_NOTE_NO_PARAMS = 4, /* the driver could not tell how the parameters lie */
       CAP_NOTE_PROBED = 8 /* probes or patches recorded what it did: its device time holds their
                              cost */
};

/* A launch as a GPU ran it. What it did to memory is worked out after the run, or never. */
typedef struct cap_note {
    uint32_t id; /* from 1, ascending; one sequence with cap_launch's */
    uint32_t call;
    uint32_t module;    /* 0: its code is not known */
    const char *kernel; /* mangled */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared, static_shared, local_bytes, registers;
    uint32_t flags;
    uint32_t device; /* ordinal */
    uint64_t context, stream;
    uint64_t ordinal;   /* as cap_call's */
    const char *params; /* bytes, laid out as the kernel has them */
    uint64_t nparams;
} cap_note;

/* The note as a launch of which nothing else is known; its parameters stay with the note. */
cap_launch cap_launch_of_note(const cap_note *note);

/* What the host wrote to a module's constant variable; counts for the notes that follow. */
typedef struct cap_symbol {
    uint32_t object, call;
    uint64_t offset;
    const char *data;
    uint64_t length; /* 0: what the variable holds is not known from here on */
} cap_symbol;

typedef struct cap_time {
    uint32_t note;
    double seconds; /* on the device */
} cap_time;

typedef struct cap_times { /* device times of earlier notes, as they become known */
    uint32_t count;
    cap_time *times;
} cap_times;

typedef struct cap_call_time {
    uint32_t call;
    double seconds; /* on the device */
} cap_call_time;

typedef struct cap_call_times { /* device times of earlier copies and sets, as they become known */
    uint32_t count;
    cap_call_time *times;
} cap_call_times;

typedef struct cap_start { /* of a launch, copy or set that TIMES or CALL_TIMES has */
    uint32_t note, call;   /* one of them, the other 0 */
    double seconds;        /* on the device, since the first that was timed in its context began */
} cap_start;

typedef struct cap_starts { /* when earlier notes, copies and sets began, as that becomes known */
    uint32_t count;
    cap_start *starts;
} cap_starts;

typedef struct cap_move { /* what was `from` in the launch that is repeated is `to` here */
    uint32_t from, to;    /* objects */
} cap_move;

/* What an earlier launch did, a note's launch did again: the summary is the same, but for the
 * objects in `moves`, which lie elsewhere. Addresses differ by the distance of their objects. */
typedef struct cap_repeat {
    uint32_t note;
    uint32_t same_as;    /* id of a LAUNCH before */
    double host_seconds; /* as cap_launch's */
    uint32_t count;
    cap_move *moves; /* ascending by `from`; objects that are not named are the same */
} cap_repeat;

typedef struct cap_gap { /* accesses of one static instruction that were not observed, and why */
    uint32_t pc;
    const char *reason;
} cap_gap;

typedef enum cap_way_kind {
    CAP_WAY_NONE,    /* it was not worked out: `reason` */
    CAP_WAY_EMULATE, /* all of it was run by the emulator */
    CAP_WAY_REPLAY,  /* the slice of it */
    CAP_WAY_PROBE,   /* the device recorded it, at least in part */
    CAP_WAY_PATCH    /* patches of its machine code counted it, at least in part */
} cap_way_kind;

/* How it is known what a note's launch did to memory. Before the LAUNCH or REPEAT that completes
 * the note. */
typedef struct cap_way {
    uint32_t note;
    uint32_t way;       /* cap_way_kind */
    uint32_t estimated; /* 1: some of the blocks were run, and counts are scaled to all; heat maps
                           are exact */
    const char *reason;
    uint32_t count;
    cap_gap *gaps; /* ascending */
} cap_way;

typedef struct cap_probed { /* an object whose elements were counted */
    uint32_t object;
    uint64_t base, bytes;
} cap_probed;

/* What the probes of a launch wrote on the device: a state as rewrite/layout.h describes it,
 * without rows that were not used and without tables of elements, packed (rewrite_unpack()). It is
 * read with what rewrite_module() says of the module's PTX when it is asked for the same, and
 * rewrite_lay_out() for the same setup. */
typedef struct cap_probe {
    uint32_t note;
    uint32_t probes; /* bit set of rewrite_probe */
    uint32_t everything;
    uint32_t nblocks;
    uint64_t *blocks;            /* that were traced: linear indices */
    uint32_t rows, shared_bytes; /* of the setup, as the objects */
    uint32_t count;
    cap_probed *objects;
    const char *data;
    uint64_t length;
} cap_probe;

/* The tables of elements (what the ranges of an earlier PROBE's state point to), which are large
 * and which not every reader wants: the same state, packed, with nothing but them. */
typedef struct cap_tables {
    uint32_t note;
    const char *data;
    uint64_t length;
} cap_tables;

/* In the place of TABLES that would be, to the byte, those of an earlier note, which has them
 * itself. */
typedef struct cap_same_tables {
    uint32_t note, same_as;
} cap_same_tables;

/* What one instruction of a patched launch did, over all of its blocks. The row is as in a launch's
 * summary, but for what nobody counted: its object and turns are 0, and its stride is that of one of the
 * strided requests. Lanes took bytes from `low` on, and none from `high` on. */
typedef struct cap_patched_insn {
    obs_insn row;
    uint64_t low, high;
} cap_patched_insn;

/* What patches counted in an earlier NOTE's launch, whose machine code they had been put into. */
typedef struct cap_patched {
    uint32_t note;
    uint64_t elsewhere; /* requests of instructions that are not in the kernel's own code */
    uint32_t count;
    cap_patched_insn *insns; /* ascend by pc: byte offset in the kernel's section / 16 */
} cap_patched;

/* How often the elements of objects were accessed in a launch. Behind its LAUNCH, where anything is
 * known of that; what a REPEAT repeats has the same. Members as in obs_summary. */
typedef struct cap_uses {
    uint32_t launch; /* id of a LAUNCH before */
    uint8_t objects_known, arrays_known;
    uint32_t count;
    obs_use *uses;
} cap_uses;

enum { /* cap_reached's `accesses` */
       CAP_REACHED_LOADED = 1,
       CAP_REACHED_STORED = 2,
       CAP_REACHED_ATOMIC = 4
};

typedef struct cap_reached { /* an object, and how it was accessed */
    uint32_t object;
    uint8_t accesses;
} cap_reached;

/* Objects that a launch accessed through pointers that come from no parameter, but from memory, as
 * the probe `objects` saw it in all blocks. After its LAUNCH, where that probe was in its kernel.
 */
typedef struct cap_indirect {
    uint32_t launch; /* id of a LAUNCH before */
    uint32_t count;
    cap_reached *objects;
} cap_indirect;

/* What the LAUNCH before would have done with changes of its kernel. Rows as in its summary. */
typedef struct cap_trials {
    uint32_t launch; /* id of a LAUNCH before */
    uint32_t nshared;
    obs_shared *shared; /* its arrays */
    uint32_t count;
    obs_trial *trials;
} cap_trials;

/* Which path each warp of the LAUNCH before took (obs_path). */
typedef struct cap_paths {
    uint32_t launch; /* id of the LAUNCH before */
    uint32_t count;
    obs_path *paths;
    const char *runs; /* obs_summary.path_runs */
    uint64_t length;
} cap_paths;

/* What warps of the LAUNCH before did, step by step, as far as there was room for them. Of one
 * launch there may be several, one after the other, each a part: warps name sequences by their
 * number over all parts, and stand in the part of their sequence or a later one. */
typedef struct cap_sequences {
    uint32_t launch;  /* id of the LAUNCH before */
    uint32_t first;   /* sequences in the parts before */
    uint64_t dropped; /* warps for which there was no room, beside those that earlier parts tell */
    uint32_t nsequences;
    obs_sequence *sequences;
    uint32_t nwarps;
    obs_warps *warps;
} cap_sequences;

typedef struct cap_edge { /* of a graph: the node `to` waits for `from`, which is less */
    uint32_t from, to;
} cap_edge;

/* A graph, when it is first launched. Nodes are in an order in which they can run. The nodes of a
 * child graph follow the node that holds them; they wait for it, and what waits for it waits for
 * the last of them. */
typedef struct cap_graph {
    uint32_t id;          /* from 1 */
    uint32_t edges_known; /* 0: the driver did not tell them */
    uint32_t nnodes;
    uint32_t *types; /* of each node, as CUgraphNodeType */
    uint32_t nedges;
    cap_edge *edges;
} cap_graph;

/* What a graph's nodes did when it was launched. After the records of that. */
typedef struct cap_graph_run {
    uint32_t call;  /* that launched it */
    uint32_t graph; /* id of a GRAPH before */
    uint32_t nnodes;
    uint64_t *ordinals; /* by node: that of its CALL, LAUNCH or NOTE; 0: it has none */
} cap_graph_run;

/* What ended the LAUNCH before, which says so in a sentence, in parts. */
typedef struct cap_fault {
    uint32_t launch;
    const char *kind; /* "access outside of any allocation" */
    const char *what; /* of that kind: "reads 4 bytes, ..."; "" where there is nothing to add */
    uint32_t pc;
    uint32_t block[3], thread[3];
    uint32_t in_memory; /* 1: the address is one of global memory */
    uint64_t address;
    uint32_t bytes;
} cap_fault;

typedef struct cap_unsupported { /* a CUDA function that the collector lacks; once a function */
    const char *api;
} cap_unsupported;

typedef struct cap_message { /* what the user must be told in the report */
    uint32_t level;          /* wl_log_level */
    const char *text;
} cap_message;

typedef struct cap_end { /* the application ended in order; a capture without it was cut off */
    int64_t end_ns;
    uint64_t records;
} cap_end;

/* ---- writing; one writer a process, safe to use from several threads ---- */

typedef struct cap_writer cap_writer;

/* Creates the file (WL_EXISTS where it is there); nothing is left of it where that fails. Its
 * descriptor is one of the high ones and closed on exec. An application that closes it, or
 * replaces it by a file of its own, loses nothing and disturbs nothing: the file is opened again
 * by its name. */
wl_status cap_create(const char *path, cap_writer **out, wl_error *err);
/* Whether the process that created the capture still has it open. It is known by a lock that ends
 * with the process. */
bool cap_in_use(const char *path);
/* Goes on with a capture whose writer is gone: behind its first `size` bytes, whole records as a
 * reader counts them (cap_position); what follows them is cut off. */
wl_status cap_append(const char *path, uint64_t size, cap_writer **out, wl_error *err);
/* After a failed write (no space left, a limit on file sizes) the writer takes the torn record
 * back, drops all further records, and returns the first error. A record that memory does not
 * suffice for (WL_NOMEM) or that is longer than CAP_MAX_PAYLOAD (WL_LIMIT) is dropped alone. No
 * signal reaches the application. */
#define X(id, number, type) \
    wl_status cap_write_##type(cap_writer *writer, const cap_##type *record);
#include "capture/events.def"
#undef X
/* LAUNCH, and USES and SEQUENCES where the summary has something for them. What would be too large
 * for a record is thinned: heat maps lose rows, which their `dropped` counts, and elements of
 * objects become unknown, which a MESSAGE tells. WL_LIMIT where the rest is too large, too: then
 * nothing of the launch was written. */
wl_status cap_write_observed(cap_writer *writer, const cap_launch *launch);
/* While `hold` is set, records gather in memory and are written together: when 1 MiB are full, and
 * when it is cleared. What is held is lost with the process. Clearing returns the first error of
 * that write. */
wl_status cap_hold(cap_writer *writer, bool hold);
uint64_t cap_written(cap_writer *writer); /* records */
/* The first error that switched the writer off, with its text; WL_OK while it works. */
wl_status cap_state(cap_writer *writer, wl_error *err);
void cap_close(cap_writer *writer); /* writes no END; NULL is allowed */
/* In a forked child: forget the parent's file without touching it. Takes no lock and frees
 * nothing, since another thread of the parent may have been inside a write. NULL is allowed. */
void cap_abandon(cap_writer *writer);

/* ---- reading ---- */

typedef struct cap_record {
    cap_type type;
    union {
#define X(id, number, type) cap_##type type;
#include "capture/events.def"
#undef X
    };
} cap_record;

typedef struct cap_reader cap_reader;

/* WL_VERSION, WL_CORRUPT or WL_TRUNCATED with a text where the file is no capture. */
wl_status cap_open(const char *path, cap_reader **out, wl_error *err);
/* The same over bytes in memory, which must stay there. */
wl_status cap_open_memory(const void *data, size_t size, cap_reader **out, wl_error *err);
/* *end is set behind the last record. A file that ends inside a record gives WL_TRUNCATED after
 * its last whole record; a damaged one WL_CORRUPT. All counts are checked against the payload's
 * size before anything is allocated, and one record takes CAP_MAX_DECODED at most. After
 * WL_CORRUPT the next call goes on with the next record where the length of the damaged one can be
 * believed; where nothing more can be read, *end is set with the error, too. */
wl_status cap_read(cap_reader *reader, cap_record *record, bool *end, wl_error *err);
/* Of these types (a set of CAP_BIT(type)) cap_read gives the type alone: records are checked, but
 * not decoded. */
#define CAP_BIT(type) (UINT64_C(1) << (type))
void cap_skip(cap_reader *reader, uint64_t types);
/* Bytes of the file read so far. */
uint64_t cap_position(const cap_reader *reader);
/* The next record is that at a position where cap_position() was before. */
void cap_seek(cap_reader *reader, uint64_t position);
/* The number that the record begins with which was read last, decoded or not: of most what they are
 * about. 0 where it has none. */
uint32_t cap_subject(cap_reader *reader);
void cap_reader_free(cap_reader *reader);

#endif
