/* The import's own state, shared by the files that each know one kind of record. */
#ifndef WL_PROFILE_BUILDER_H
#define WL_PROFILE_BUILDER_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "cuda/cubin.h"
#include "ir/kernel.h"
#include "ir/module.h"
#include "profile/blob.h"
#include "profile/db.h"
#include "profile/profile.h"
#include "profile/sources.h"
#include "profile/symbols.h"
#include "profile/tables.h"
#include "sass/body.h"
#include "sass/code.h"

typedef enum statement_id {
#define X(id, text) ST_##id,
#include "profile/statements.def"
#undef X
    ST_COUNT
} statement_id;

/* Numbers of the capture to ids of the profile, given out in order of first mention. */
typedef struct id_entry {
    uint32_t key, id;
    UT_hash_handle hh;
} id_entry;

/* Those of one kind of record. Numbers count up from 1, so that an array has nearly all of them. */
typedef struct id_map {
    wl_vec(uint32_t) ids; /* by number - 1; 0: not given out, or elsewhere */
    id_entry *others;     /* far beyond the end of the array */
} id_map;

typedef struct stack_frame {
    const char *function, *binary;
    uint32_t file, line, column;
    uint64_t offset;
    bool inlined;
    bool system; /* in a header or library that is not the application's */
    bool main;   /* in the executable itself */
    bool script; /* in what an interpreter runs */
} stack_frame;

typedef struct stack {
    uint32_t id;
    uint32_t count;
    stack_frame *frames; /* innermost first */
    const char
        *runtime;  /* the function of CUDA's runtime that the innermost frames are in; NULL: none */
    uint32_t site; /* the frame that counts: the application's innermost with a line; count: none */
    UT_hash_handle hh; /* by content */
    const void *key;
} stack;

typedef struct stack_entry { /* return addresses of the current maps to stacks */
    stack *found;
    const uint64_t *pcs;
    UT_hash_handle hh;
} stack_entry;

typedef struct module { /* by its code's hash, over all processes */
    uint64_t hash;
    uint32_t id; /* 0 until a kernel of it is launched */
    cap_module_kind kind;
    const char *name, *code;
    size_t length;
    bool tried;
    ir_module *ptx;       /* NULL where it is none or cannot be parsed */
    const char *why_not;  /* then */
    cuda_layouts layouts; /* of a cubin's kernels */
    uint32_t *locs;       /* profile's id for each loc of `ptx`; 0: not written yet */
    uint32_t *files;      /* profile's id for each of its files; 0: not asked for yet */
    UT_hash_handle hh;
} module;

typedef struct module_entry {
    uint32_t number; /* in the capture */
    bool beside;     /* machine code stands beside it */
    module *found;
    UT_hash_handle hh;
} module_entry;

typedef struct shared_entry { /* an array of a kernel's shared memory, or its local memory */
    const char *name;         /* as PTX has it */
    uint32_t object;
    uint64_t offset, bytes;
    uint8_t kind;
    UT_hash_handle hh;
} shared_entry;

typedef struct code_place { /* of an instruction */
    uint32_t ptx_line;      /* 0: not known */
    uint32_t file, line;    /* where it counts; 0: not known */
} code_place;

typedef struct kernel {
    const char *key; /* module's hash and name */
    uint32_t id;
    const char *short_name;
    uint32_t file, line;      /* where its code begins */
    uint32_t ncode;           /* static instructions; 0 where there is no code */
    uint32_t *blocks;         /* [ncode]: basic blocks, by pc */
    const code_place *places; /* [ncode]; while the kernel is being written, else NULL */
    uint32_t registers;       /* of machine code for the device; 0: not known */
    shared_entry *shared;
    UT_hash_handle hh;
} kernel;

typedef struct object_info {
    uint32_t id;
    cap_object record; /* name in the process's arena */
    uint32_t parent;   /* its id */
    const char *tag;
    uint32_t element_bytes;
    uint32_t alloc_call, free_call, freed_how;
    bool freed;
    uint64_t alloc_order, free_order;
} object_info;

typedef struct live_place { /* of an object */
    uint64_t base, bytes;
    uint32_t object; /* its id */
    bool part;       /* it lies in another object */
} live_place;

typedef struct skip {
    const char *key;
    const char *kernel, *reason;
    uint64_t count;
    UT_hash_handle hh;
} skip;

typedef struct loc_entry {
    const char *key;
    uint32_t id;
    UT_hash_handle hh;
} loc_entry;

typedef struct content_entry {
    unsigned char hash[16];
    uint32_t id;
    UT_hash_handle hh;
} content_entry;

typedef struct stream_entry {
    uint64_t handle;
    uint32_t number;
    UT_hash_handle hh;
} stream_entry;

typedef struct text_entry {
    const char *text;
    UT_hash_handle hh;
} text_entry;

/* Words of parameters that lead to objects; equal ones are kept once. */
typedef struct launch_reaches {
    uint32_t count;
    const prof_reach *rows; /* launch is 0 */
    UT_hash_handle hh;
} launch_reaches;

typedef struct launch_gap {
    uint64_t pc;
    const char *reason; /* of builder_text */
} launch_gap;

/* Instructions whose accesses were not observed; equal ones are kept once. */
typedef struct launch_gaps {
    uint32_t count;
    const launch_gap *rows;
    UT_hash_handle hh;
} launch_gaps;

/* What is known of a launch but for its number and times. Equal facts are equal byte for byte: texts
 * are of builder_text, and what lies between the members is 0. */
typedef struct launch_facts {
    prof_launch row; /* rows_of 0: the launch itself; without what is of each launch, and a mix */
    kernel *kernel;
    /* Of a note whose module has machine code beside its PTX: the module's number until it is known by
     * which of both it was counted, and then 0. Meanwhile there is no kernel. */
    uint64_t waits;
    const char *name;   /* of the kernel, mangled; of a note */
    const char *reason; /* why it was not worked out, as far as is known */
    const launch_reaches *reaches;
    const launch_gaps *gaps; /* NULL: all of its accesses were observed */
    const prof_fault *fault; /* NULL: the launch went to its end, as far as is known */
    uint64_t noted, done;    /* noted and not done: it waits */
} launch_facts;

typedef struct launch_kind {
    launch_facts facts;
    size_t users; /* launches of which this is all that is known */
    struct launch_kind *next_spare;
    UT_hash_handle hh;
} launch_kind;

/* A launch, by its number in the capture. */
typedef struct launch_entry {
    uint32_t number, id, call;
    uint64_t ordinal;
    double host_seconds, device_seconds, device_start;
    launch_kind *kind;
} launch_entry;

typedef struct moves_entry { /* a set of moves, by content */
    const cap_move *moves;
    uint32_t id;
    UT_hash_handle hh;
} moves_entry;

typedef struct call_info { /* of a call, by its id */
    stack *stack;
    const char *api;
} call_info;

typedef struct sequence_ref { /* of a launch's, by its number there */
    uint32_t id, nslots;
} sequence_ref;

/* What belongs to the process whose capture is being read. */
typedef struct process {
    bool open, named, ended;
    uint32_t id;
    wl_arena *arena;
    const char *directory;
    int64_t end_ns;
    id_map objects_by_number, calls_by_number, graphs, ranges, range_lists;
    wl_vec(object_info) objects;
    wl_vec(live_place) places; /* that live at this point of the capture, by address */
    uint32_t first_call;
    wl_vec(call_info) calls; /* by id - first_call */
    module_entry *modules;
    stack_entry *stacks;
    stream_entry *streams, *threads;
    uint32_t nstreams, nthreads;
    wl_vec(uint32_t) sms;          /* compute capability of the devices, times ten; 0: not known */
    bool emulated;                 /* launches without a note were run by the emulator */
    wl_vec(launch_entry) launches; /* by number */
    bool launches_unordered;       /* their ids do not ascend */
    launch_kind *kinds, *spare_kinds;
    launch_reaches *reaches;
    launch_gaps *gaps;
    text_entry *texts;
    moves_entry *moves;
    uint32_t last_launch; /* number of the LAUNCH before; 0: it has its USES */
    uint32_t arrays_of;   /* number of the LAUNCH before */
    uint32_t paths_of;    /* of the one whose paths are written */
    uint32_t nlast_arrays;
    wl_vec(obs_shared) last_arrays;      /* its arrays, by index; there may be more */
    wl_vec(sequence_ref) last_sequences; /* its sequences, so far */
    skip *skips;
    uint64_t order;   /* of allocations and frees */
    prof_process row; /* is written when it ends */
} process;

struct prof_builder {
    sqlite3 *sql;
    sqlite3_stmt *stmt[ST_COUNT];
    sqlite3_stmt *insert[TABLE_COUNT];
    char *path, *temp;
    prof_options options;
    wl_arena *arena;
    sources *sources;
    symbols *symbols;
    process process;
    module *modules;
    kernel *kernels;
    stack *stacks;
    loc_entry *locs;
    content_entry *contents, *spans, *sequences;
    uint32_t nmoves;
    uint32_t nranges, nrange_lists;
    uint32_t nprocesses, nlaunches, nlaunch_kinds, nobjects, ncalls, nkernels, nmodules, nstacks,
        nlocs, ncontents, nspans, nsequences, nwarp_groups, ngraphs, ntrials;
    bool nomem;          /* a hash had no room */
    size_t listed_bytes; /* of listings, compressed */
    blob packed, compressed;
};

#define NOMEM(err) wl_fail((err), WL_NOMEM, "Cannot write the profile: out of memory.")

/* id of a record's number, made on first mention; 0 for number 0. */
uint32_t builder_id(prof_builder *b, id_map *map, uint32_t number, uint32_t *counter);

/* processes.c: PROCESS, DEVICE, MAPS, MODULE, OBJECT, FREE, CALL, SKIPPED, UNSUPPORTED, MESSAGE,
 * END */
wl_status builder_add_small(prof_builder *b, const cap_record *record, wl_error *err);
uint32_t builder_call(prof_builder *b, uint32_t number);
/* Compute capability of a device of the process, times ten; 0: not known. */
uint32_t builder_device_sm(const prof_builder *b, uint32_t device);
wl_status builder_message(prof_builder *b, uint32_t process_id, uint32_t level, const char *text,
                          wl_error *err);
wl_status builder_skipped(prof_builder *b, const cap_skipped *record, wl_error *err);
uint32_t builder_stream(prof_builder *b, uint64_t handle);
/* The object that the capture numbers so; NULL where no OBJECT record has announced it. */
const object_info *builder_object(const prof_builder *b, uint32_t number);

/* parameters.c: those of a kernel, from its PTX or its cubin; which of its objects a launch was
 * given, and which it found in memory (INDIRECT). The places follow what is allocated and freed. */
wl_status builder_parameters(prof_builder *b, uint32_t kernel_id, const ir_func *func,
                             wl_error *err);
wl_status builder_layout(prof_builder *b, uint32_t kernel_id, const cuda_layout *layout,
                         wl_error *err);
wl_status builder_reaches(prof_builder *b, launch_facts *facts, const char *params, uint64_t length,
                          wl_error *err);
wl_status builder_indirect(prof_builder *b, const cap_indirect *record, wl_error *err);
/* The object that an address belongs to, or that it misses by least; 0: there is none. */
uint32_t builder_nearest_object(const prof_builder *b, uint64_t address);
wl_status builder_write_reaches(prof_builder *b, const launch_facts *facts, wl_error *err);
bool builder_place(process *p, const object_info *object);
void builder_displace(process *p, uint32_t object, uint64_t base);

/* stacks.c */
wl_status builder_stack(prof_builder *b, const cap_stack *record, stack **out, wl_error *err);

/* callers.c: what was called from several places, and the innermost caller that tells it from the
 * others of its line and variable. */
typedef struct called_place {
    const stack *stack;
    uint32_t frame; /* of its place in the stack */
    const char *variable;
    const stack_frame *caller; /* NULL: none does */
} called_place;
/* Sets the callers; `arena` may have text of each row then. False when memory is exhausted. */
bool builder_find_callers(wl_arena *arena, called_place *rows, size_t count);
/* Writes those of all calls' stacks. */
wl_status builder_callers(prof_builder *b, wl_error *err);

/* sites.c: names and places of the process's objects; writes them. */
wl_status builder_objects(prof_builder *b, wl_error *err);

/* kernels.c: the kernel of a launch, written with its code when it is first launched. */
wl_status builder_kernel(prof_builder *b, const cap_launch *launch, kernel **out, wl_error *err);
/* Whether machine code stands beside the module's PTX (as the capture numbers it). */
bool builder_has_code_beside(const prof_builder *b, uint32_t module_number);
/* The kernel of a module that was launched; NULL: no such was observed. */
const kernel *builder_launched_kernel(prof_builder *b, uint32_t module_number, const char *mangled);
/* The profile's object for an array of the kernel's shared memory or for its local memory. */
wl_status builder_kernel_object(prof_builder *b, kernel *k, uint32_t kind, const obs_shared *array,
                                uint32_t *id, wl_error *err);
/* Writes the objects of all kernels. */
wl_status builder_kernel_objects(prof_builder *b, wl_error *err);
void builder_modules_free(prof_builder *b);

/* listing.c: the form of a kernel's code that was not measured. The arena is for what it takes on the way. */
typedef struct listed_code {
    const sass_code *code; /* NULL: there is none */
    const char *missing;   /* then: why */
    const char *ptx;       /* that the kernel is measured by; NULL: it has none */
    uint32_t device_sm;    /* compute capability of the launch's device, times ten; 0: not known */
} listed_code;

wl_status builder_machine_listing(prof_builder *b, const kernel *k, const listed_code *from,
                                  wl_arena *arena, wl_error *err);
/* The PTX that ptxas kept in the machine code that the kernel came as; nothing where it kept none. */
wl_status builder_kept_ptx(prof_builder *b, const kernel *k, const char *mangled,
                           const sass_code *code, wl_arena *arena, wl_error *err);

/* facts.c: what is known of a kernel's code without running it; its listing, too. `m` is its module,
 * `device` that of the launch. *machine says what became of it in machine code. */
typedef struct machine_facts {
    uint32_t sm;         /* of the machine code that was counted; 0: none */
    uint32_t registers;  /* of a thread, in machine code for the device; 0: not known */
    const char *why_not; /* none, or not all, was counted; "" where it was */
} machine_facts;

wl_status builder_facts(prof_builder *b, const kernel *k, const ir_kernel *code, const module *m,
                        uint32_t device, machine_facts *machine, wl_error *err);

/* Likewise of code that was lifted, by the machine's numbers. */
wl_status builder_lifted_facts(prof_builder *b, uint32_t kernel_id, const ir_kernel *code,
                               const sass_body *lifted, wl_error *err);

/* launches.c */
wl_status builder_launch(prof_builder *b, const cap_launch *launch, wl_error *err);
wl_status builder_trials(prof_builder *b, const cap_trials *record, wl_error *err);

/* kinds.c: the process's launches. An entry is valid until the next launch is opened. */
/* The launch that a record announces, with what is known before it runs; WL_CORRUPT where it is
 * there already. `waits`: its kernel is settled later. */
wl_status builder_open_launch(prof_builder *b, const cap_launch *launch, bool waits,
                              launch_entry **out, wl_error *err);
/* Sets the kernel of a launch that waits for it, to that of `launch`, and its module. */
wl_status builder_settle_kernel(prof_builder *b, const cap_launch *launch, launch_facts *facts,
                                wl_error *err);
launch_entry *builder_find_launch(const prof_builder *b, uint32_t number);
/* To be changed, and handed to builder_change_launch: what is known of the launch now is that. */
launch_facts builder_launch_facts(const launch_entry *e);
wl_status builder_change_launch(prof_builder *b, launch_entry *e, const launch_facts *facts,
                                wl_error *err);
/* The text, kept once a process; NULL without memory. */
const char *builder_text(prof_builder *b, const char *text);
/* Writes the rows of the process's launches; nothing may be asked of them after it. */
wl_status builder_launches(prof_builder *b, wl_error *err);

/* uses.c: USES, which follows its LAUNCH */
wl_status builder_keep_arrays(prof_builder *b, const cap_launch *launch, wl_error *err);
wl_status builder_uses(prof_builder *b, const cap_uses *uses, wl_error *err);

/* launches.c: FAULT, which follows its LAUNCH */
wl_status builder_fault(prof_builder *b, const cap_fault *fault, wl_error *err);

/* graphs.c: GRAPH, GRAPH_RUN */
wl_status builder_graph(prof_builder *b, const cap_graph *graph, wl_error *err);
wl_status builder_graph_run(prof_builder *b, const cap_graph_run *run, wl_error *err);

/* paths.c: PATHS, likewise */
wl_status builder_paths(prof_builder *b, const cap_paths *record, wl_error *err);

/* sequences.c: SEQUENCES, which follow their LAUNCH */
wl_status builder_sequences(prof_builder *b, const cap_sequences *record, wl_error *err);

/* notes.c: launches that are noted first and worked out later: NOTE, TIMES, STARTS, WAY,
 * REPEAT */
wl_status builder_note(prof_builder *b, const cap_note *note, wl_error *err);
wl_status builder_times(prof_builder *b, const cap_times *times, wl_error *err);
wl_status builder_call_times(prof_builder *b, const cap_call_times *times, wl_error *err);
wl_status builder_starts(prof_builder *b, const cap_starts *starts, wl_error *err);
wl_status builder_way(prof_builder *b, const cap_way *way, wl_error *err);
wl_status builder_repeat(prof_builder *b, const cap_repeat *repeat, wl_error *err);
/* Notes that were never completed are of their own modules. Before builder_launches(). */
wl_status builder_settle_left(prof_builder *b, wl_error *err);
/* Counts the notes that were never completed as skipped. */
wl_status builder_notes_left(prof_builder *b, wl_error *err);

#endif
