/* What the host and a rewritten kernel share, to the byte. All numbers are little-endian.
 *
 * The hidden parameter is a rewrite_param, aligned to 8.
 *
 * A state is one block of device memory, aligned to 256:
 *
 *     0            rewrite_state, filled by the host
 *     vars_at      u64 for each of kernel->vars: its address in its own space; written by traced
 *                  blocks, and by block 0
 *     bits_at      REWRITE_COPIES copies of bits_bytes, u32 words: bit b % 32 of word b / 32 says
 *                  that the sites with that bit ran
 *     counters_at  REWRITE_COPIES copies of copy_bytes: for each tally of basic blocks three u64
 *                  and one that is not used:
 *                  executions by warps, their lanes, and executions by whole warps, which are not
 *                  among the former
 *                  (MEASURED); or how often lanes went the way that is counted, how many, and how
 *                  often all did
 *     ranges_at    rewrite_range for each range of the setup, filled by the host
 *     paths_at     rewrite_warp_slot for each warp of the launch, by its number in the grid
 *     after it     counters of shared memory, and what ranges point to
 *     rewrite_state.pool_at  the trace: a region of `rows` rows of REWRITE_ROW bytes for each block
 *                            to trace and warp of it
 *     ends_at, log_at        the log
 *
 * Everything that the host does not fill is zero before the launch, but for the pool, which may
 * hold anything. Which parts there are depends on the probes; offsets are those of rewrite_kernel
 * and rewrite_layout.
 *
 * Lane l of a warp writes to its column of the warp's region, the 8 bytes from 8 * l on of each
 * row, downwards. It holds records one after the other. The first row of a record is a
 * rewrite_record. What follows is told by the piece that it names (kernel->pieces): of a region its
 * bases; of a loop the `early` ones in the first iteration, then in the second (undefined where
 * there was none), then the others in the last, then the number of iterations (u32). A loop with a
 * count_row has before the loop, and after it, in the next row or, where it is narrow, in the upper
 * half: what counts, and bases whose step is not known; what is added to what counts, where that is
 * no number; and of the others one row each. A base is 8 bytes, or where its spots are narrow the
 * lower or the higher 4 of them. Spots may also name a base that a record before has
 * (kernel->keeps). The lane has accessed memory at every spot of the piece that it came to, in
 * their order, in each iteration; lane by lane in the order of the records. Lanes of `mask` came to
 * the piece together, and those that are in an iteration run it together. Addresses are those of
 * the site's space. Where the site is generic, the two highest bits name the space: REWRITE_TAG_*.
 *
 * Elements are aligned pieces of 4 bytes, lines aligned pieces of 128; those of an object count
 * from `base` rounded down to 128. Marks are bytes, one for each element: what is not 0 was
 * touched. So is, in a bitmap of touched elements, bit e % 32 of word e / 32 for element e. All
 * marks lie together in a state, and all bitmaps, in the same order: word w of these is for marks
 * 32 * w to 32 * w + 31. Who adds each mark to its word need not copy the marks. With frequency
 * there is neither: what was counted was touched. An element was accessed as often as its counter
 * (u32) and that of its line (u32) say together. Counters come by class: loads, stores, atomics; an
 * object has those of the classes that the launch can access it by. Where all warps of a grid
 * access the same few elements, they would wait for each other at their counters: those of small
 * objects are spread over copies, and say together how often. Counters of shared memory count from
 * its address 0, `shared_bytes` / 4 a class.
 *
 * The log has entries in place of updates that would go anywhere at once: a lane writes which
 * counters it would have added 1 to, and whoever reads the state adds it up first. Each warp of the
 * launch has a place of REWRITE_LOG_ROW bytes, by its number in the grid, in each of `log_rows`
 * rows, which have room for `log_regions` warps; lane l writes to its column, the 4 bytes from 4 * l
 * on of the place, one row after the other. So what is written lies together, however much of the
 * log that is. `ends_at` has `end_bytes` for each lane of each warp: the rows that it wrote. An entry (rewrite_log_entry) names
 * the first of 1, 2, 4 or 8 counters side by side, or marks. A lane whose column is full updates
 * counters, and marks, itself. */
#ifndef WL_REWRITE_LAYOUT_H
#define WL_REWRITE_LAYOUT_H

#include "base/spans.h"
#include "flow/fills.h"
#include "rewrite/rewrite.h"

enum {
    REWRITE_MAX_BLOCKS = 7, /* that one launch can trace */
    REWRITE_ROW = 256,      /* 8 bytes for each lane */
    REWRITE_COPIES = 64,    /* of counters, chosen by multiprocessor so that they collide less */
    REWRITE_TALLY_BYTES = 32,
    REWRITE_LANES = 32,
    REWRITE_MAX_ACCESSES = 1 << 24,
    REWRITE_SLOTS = 8,
    REWRITE_WALKS = 8,
    REWRITE_SPREAD = 32,             /* copies of spread counters, chosen by multiprocessor */
    REWRITE_SPREAD_BYTES = 16 << 10, /* objects up to that size have them */
    REWRITE_MOST_MISSED = 1000000,   /* about: the kernel counts no further */
    REWRITE_RAN_SHIFT = 20,          /* in rewrite_record.piece */
    REWRITE_RAN_BITS = 32 - REWRITE_RAN_SHIFT,
    REWRITE_LOG_ROW = 128,   /* 4 bytes for each lane */
    REWRITE_LOG_ROWS = 4096, /* at most */
    REWRITE_VERSION = 2      /* of what the trace holds; 0 and 1 had a record a basic block */
};

/* Of an entry of the log. Counters are told by their distance from the state's begin in words,
 * marks in bytes. */
#define REWRITE_LOG_MARKS UINT32_C(0x80000000)
enum { REWRITE_LOG_WIDTH = 29 /* from here on two bits: 1 << bits counters */ };
#define REWRITE_LOG_PLACE ((UINT32_C(1) << REWRITE_LOG_WIDTH) - 1)

/* The range that a pointer leads to, as rewrite_range has it. */
typedef struct rewrite_slot {
    uint64_t base; /* UINT64_MAX: in an object that was left out; size is 0 then */
    uint64_t
        size; /* 0: to be searched for, also where the range does not begin at a multiple of 128 */
    uint64_t bits, counts, lines; /* lines: for touch alone its marks */
    uint32_t spread; /* bytes from one copy of counts and lines to the next, 0: there is one */
    uint32_t reserved;
} rewrite_slot;

/* Tables of walks through an object. counts: u32 for each element; an element e was accessed as
 * often as elements e, e - step / 4, e - 2 * step / 4 ... of it say together. marks: of elements
 * only; where e is marked, e, e + step / 4 and so on were touched, as many as the shape says. */
typedef struct rewrite_walk {
    uint64_t counts, marks; /* device addresses, 0: none */
    uint64_t step;          /* of counts, in bytes; 0: none yet, the kernel writes it */
    uint64_t
        shape; /* of marks, by the kernel: the step in the high half, the number in the low one */
    uint32_t object, reserved;
} rewrite_walk;

/* What all blocks look at comes first: most likely it is in the line of the constant cache that has
 * the kernel's own parameters, which every launch fetches anew. */
typedef struct rewrite_param {
    uint32_t columns; /* bit x % 32: blocks with %ctaid.x = x are among those to trace, perhaps */
    uint32_t warps;   /* of a block */
    uint64_t state;   /* device address; 0: run the original instructions */
    uint64_t pool;    /* device address of the trace's regions */
    uint32_t rows;    /* of a region */
    uint32_t
        block[REWRITE_MAX_BLOCKS]; /* linear indices of the blocks to trace; UINT32_MAX: none */
    uint64_t shared, places;       /* as in the state */
    uint32_t shared_bytes, shared_mask, place_bytes, place_mask;
    uint64_t log, ends;               /* device addresses */
    uint32_t log_bytes, log_row;      /* of all rows, and of one with all warps; 0: no log */
    uint32_t log_shift, log_inverse;  /* bytes of so many rows, shifted and multiplied, are rows */
    uint64_t paths;                   /* as in the state */
    rewrite_slot slot[REWRITE_SLOTS]; /* for kernel->slots */
} rewrite_param;

enum { REWRITE_LOADS, REWRITE_STORES, REWRITE_ATOMICS, REWRITE_CLASSES };
/* Of a site: its row in counters of elements. */
unsigned rewrite_class(const rewrite_probe_site *site);

typedef struct rewrite_state {
    uint64_t pool_at;     /* byte offset in the state */
    uint32_t rows, warps; /* of a region of the pool, of a block */
    int32_t limit;        /* rows of a column that may be filled */
    int32_t room;         /* by the kernel: of these the fullest has left; below 0: lacks */
    uint32_t threads;     /* of a block */
    uint32_t nranges;
    uint32_t shared_bytes,
        shared_mask; /* of shared memory that is counted; of the number of a copy */
    uint32_t place_bytes, place_mask; /* of a copy of the counters by thread; of its number */
    uint64_t ranges;                  /* device addresses, 0: none */
    uint64_t shared, places;
    uint64_t missed; /* by the kernel: see rewrite_missed */
    uint64_t
        block[REWRITE_MAX_BLOCKS];    /* linear indices of the blocks to trace; UINT64_MAX: none */
    uint8_t ran[REWRITE_MAX_BLOCKS];  /* by the kernel: not 0 where block[i] ran */
    uint8_t version;                  /* REWRITE_VERSION */
    rewrite_slot slot[REWRITE_SLOTS]; /* as in the parameter */
    rewrite_walk walk[REWRITE_WALKS]; /* for kernel->walks */
    uint64_t paths; /* device address of the first warp's slot, 0: none; with the probe path only,
                       else what has a fixed size begins here */
} rewrite_state;

/* An object that touch, frequency and objects know. */
typedef struct rewrite_range {
    uint64_t base, bytes;
    uint64_t bits; /* device address of the bitmap of touched elements, 0: none */
    uint64_t counts[REWRITE_CLASSES]; /* of counters of elements, 0: none */
    uint64_t lines[REWRITE_CLASSES];  /* of counters of lines, 0: none; for touch alone the first is
                                         that of marks */
    uint32_t used; /* by the kernel: bit c says that an access of class c whose pointer's origin is
                      not known fell in it */
    uint32_t spread; /* as in rewrite_slot */
} rewrite_range;

/* What a warp of the launch left of its path, by the kernel: of each of its lanes where that ends.
 * All 0: none has ended. */
typedef struct rewrite_warp_slot {
    uint64_t hash;
    uint32_t most, sum; /* of instructions that lanes ran: the most of any; of all, modulo 2^32 */
} rewrite_warp_slot;

typedef struct rewrite_record {
    /* In kernel->pieces, and from bit REWRITE_RAN_SHIFT on which of its blocks with a bit the lane
     * ran; or REWRITE_END. */
    uint32_t piece;
    uint32_t mask; /* END: rows that did not fit */
} rewrite_record;

#define REWRITE_END UINT32_MAX /* the lane has no further records */
#define REWRITE_TAG_SHARED (UINT64_C(1) << 62)
#define REWRITE_TAG_LOCAL (UINT64_C(1) << 63)

/* ---- before a launch ---- */

typedef struct rewrite_object {
    uint64_t base, bytes; /* of device memory, bytes > 0 */
} rewrite_object;

/* What the host gives the probes of one launch; what the kernel has no probe for is ignored. */
typedef struct rewrite_setup {
    uint64_t blocks;               /* of the launch */
    uint32_t threads[3];           /* of a block */
    uint32_t rows, ntraced;        /* trace: rows of a warp's region; at most REWRITE_MAX_BLOCKS */
    const uint64_t *traced;        /* linear indices of blocks */
    uint32_t nobjects;             /* objects, touch, frequency */
    const rewrite_object *objects; /* sorted by base, without overlap */
    /* For each of kernel->slots the pointer in its parameter, 0 where it has none or that is not
     * known. NULL: none is known. */
    const uint64_t *pointers;
    uint32_t nleft_out; /* objects that would take too much memory */
    const rewrite_object *left_out;
    uint64_t log_bytes;    /* that the log may take */
    uint64_t path_bytes;   /* path: that slots of warps may take; where they do not suffice for all
                              warps, there are none */
    bool no_walks;         /* there is no memory for their tables */
    bool everywhere;       /* touch, frequency: all objects, not only those that pointers lead to */
    uint32_t shared_bytes; /* shared: the highest address + 1, so also what lies below the kernel's
                              own (1 KiB from sm_80 on) */
} rewrite_setup;

/* Offsets in the state of one launch; 0: absent. Up to `shared_at` they do not depend on `pointers`
 * and `everywhere`. */
typedef struct rewrite_layout {
    uint64_t bytes;  /* of the state */
    uint64_t blocks; /* as in the setup */
    uint32_t threads[3];
    uint32_t nregions, nranges, shared_bytes;
    uint32_t shared_copies, place_copies;                          /* powers of two */
    uint32_t place_bytes;                                          /* of a copy */
    uint64_t ranges_at, paths_at, shared_at, places_at, tables_at; /* of all that ranges point to */
    uint64_t bits_at, marks_at,
        nwords;       /* of touched elements: bitmaps, marks after all tables, words of bitmaps */
    uint64_t pool_at; /* also where there is none: the end of what must be zero */
    uint64_t ends_at, log_at;       /* of the log; what is between the two must be zero, too */
    uint32_t log_rows, log_regions; /* 0: there is no log */
    uint32_t end_bytes;             /* 1 or 2, of a lane's end: by the kernel */
} rewrite_layout;

void rewrite_lay_out(const rewrite_kernel *kernel, const rewrite_setup *setup, rewrite_layout *out);
/* The two parts of the state at device address `address` that are not zero: its begin, and what
 * lies at layout->ranges_at, nranges of them. */
void rewrite_fill(const rewrite_kernel *kernel, const rewrite_setup *setup,
                  const rewrite_layout *layout, uint64_t address, rewrite_state *state,
                  rewrite_range *ranges);
/* `filled` is the state's begin as it was filled, `width` the grid's in x. With a state of 0 they
 * may be NULL and 0. */
void rewrite_param_init(uint64_t state, const rewrite_state *filled, uint32_t width,
                        rewrite_param *out);

/* The launch writes to the log of the state at that address. */
void rewrite_param_log(uint64_t state, const rewrite_layout *layout, rewrite_param *out);
/* Of a lane's end: what suffices for its kernel. */
static inline uint32_t rewrite_end_bytes(const rewrite_kernel *kernel)
{
    return kernel->log_rows && kernel->log_rows <= UINT8_MAX ? 1 : 2;
}
/* Regions that a launch's log has; 0: more than a log can have. */
uint32_t rewrite_log_regions(uint64_t blocks, const uint32_t threads[3]);

/* ---- after it ---- */

/* A state may be kept packed, since counters of large objects are zero for the most part, and others
 * small: u64 size, u64 number of runs, the runs, then their bytes. What lies in no run is zero. Of a
 * run whose `bytes` have REWRITE_NARROW as well, each u32 is kept as a byte. */
typedef struct rewrite_run {
    uint64_t at, bytes;
} rewrite_run;

enum { REWRITE_PAGE = 4096 }; /* worth to be left out */
#define REWRITE_NARROW (UINT64_C(1) << 63)

/* Writes all but the bytes of the runs, where `out` is not NULL. Returns its length. */
uint64_t rewrite_pack_head(const rewrite_run *runs, uint64_t nruns, uint64_t size, void *out);
uint64_t rewrite_packed_size(const void *packed, uint64_t length);
/* Whether the bytes of all runs are there, and nothing after them. */
bool rewrite_is_packed(const void *packed, uint64_t length);
/* How many runs the state is said to have, which are written to `out` where it is not NULL, without
 * REWRITE_NARROW. */
uint64_t rewrite_packed_runs(const void *packed, uint64_t length, rewrite_run *out);
/* `size` bytes of the state from `from` on into `out`, which is zero. What is damaged stays
 * zero. */
void rewrite_unpack(const void *packed, uint64_t length, uint64_t from, void *out, uint64_t size);
/* Makes runs narrow where all their numbers are below 256, in place. Returns the new length. */
uint64_t rewrite_narrow(void *packed, uint64_t length);
/* The other way: what of `bytes` lies in runs of the state that are not narrow. */
void rewrite_repack(void *packed, uint64_t length, uint64_t from, const void *bytes, uint64_t size);
/* As if the state had been at address `to`, which is not 0: what is told by device addresses in it,
 * wherever that was, reads the same. The layout is what it was filled by, for address `from`. */
void rewrite_move(const rewrite_layout *layout, uint64_t from, uint64_t to, void *packed,
                  uint64_t length);

/* Rows of each region that were written to, from the begin of a state after the launch. A copy of
 * the state may leave out the others, if it says so in rewrite_state.rows. */
uint32_t rewrite_rows_used(const rewrite_state *state);

/* A copy of the state, made with that layout but for the rows. */
typedef struct rewrite_copy {
    const rewrite_kernel *kernel;
    const rewrite_layout *layout;
    const void *state;
    uint64_t size;
    uint32_t grid[3];        /* of the launch; 0: not known */
    const void *params;      /* the launch's parameters, laid out as the kernel has them */
    uint64_t nparams;        /* bytes; what is missing is not known */
    const rewrite_run *runs; /* outside of which all is zero, ascending; NULL: none are known */
    uint64_t nruns;
} rewrite_copy;

typedef struct rewrite_access {
    const rewrite_probe_site *site;
    uint64_t block;
    uint32_t warp;
    acc_space space;
    uint32_t mask;
    uint32_t record; /* the number of the record that tells it, among those of the warp */
    bool loop;       /* which tells of all iterations of a loop */
    uint64_t addr[REWRITE_LANES]; /* of lanes in the mask: address in the space */
} rewrite_access;

/* Calls `visit` for each access, sorted by block, then warp; for each lane they are in the order in
 * which it made them. Lanes of a generic access that are in different spaces give one access a
 * space. Damaged states give fewer accesses, nothing worse. */
void rewrite_read_trace(const rewrite_copy *copy,
                        void (*visit)(void *ctx, const rewrite_access *access), void *ctx);
/* A record, told before its accesses, also where it has none. */
typedef struct rewrite_told {
    uint32_t warp, mask; /* lanes that wrote it */
    uint32_t record;     /* its number, as in rewrite_access */
    const rewrite_piece *piece;
} rewrite_told;

/* Those of one block. `begin` may be NULL. */
void rewrite_read_traced(const rewrite_copy *copy, uint64_t block,
                         void (*visit)(void *ctx, const rewrite_access *access),
                         void (*begin)(void *ctx, const rewrite_told *record), void *ctx);
/* Whether all accesses of the block's warp that carry the trace are told. */
bool rewrite_traced_whole(const rewrite_copy *copy, uint64_t block, uint32_t warp);
/* Was the trace written as this version reads it? */
bool rewrite_trace_is_readable(const rewrite_copy *copy);
/* About how many accesses the kernel had no room for, or are more than what is read:
 * REWRITE_MAX_ACCESSES of a launch in equal parts for its warps. Not 0 where there are any. */
uint64_t rewrite_dropped(const rewrite_copy *copy);
/* Lanes' accesses outside of all ranges, or of counted shared memory. Only whether there are any is
 * exact: those of a loop may count as one, with touch alone an access of several elements counts
 * once an element, and counting ends at a million. */
uint64_t rewrite_missed(const rewrite_copy *copy);
/* Address of kernel->vars[index] in its space, 0 where nobody wrote it. */
uint64_t rewrite_var_address(const rewrite_copy *copy, uint32_t index);
/* Of kernel->blocks[index]; false where it is not counted. */
bool rewrite_read_block(const rewrite_copy *copy, uint32_t index, uint64_t *executions,
                        uint64_t *lanes);
/* What a warp did. Equal ones, lane by lane, have one hash whatever their block; others hardly
 * ever do. */
typedef struct rewrite_warp_path {
    uint64_t hash;
    /* Of its lanes: the most that one ran, modulo 2^32; all of them together, UINT64_MAX where that
     * is not known, since they are too many. */
    uint64_t instructions, lane_instructions;
} rewrite_warp_path;

/* Of the warp with that number in the grid; false where it is not known. */
bool rewrite_read_path(const rewrite_copy *copy, uint64_t warp, rewrite_warp_path *out);
/* Warps that rewrite_read_path() may know: 0, or all of the launch. */
uint64_t rewrite_npaths(const rewrite_copy *copy);
/* Bytes of slots for all warps of such a launch; 0: they cannot have any. */
uint64_t rewrite_path_bytes(uint64_t blocks, const uint32_t threads[3]);
/* objects: whether kernel->sites[site] ran. Where that follows from the launch, it is taken to have
 * run if grid and parameters are not known, or if the grid is taken apart into more than 100,000
 * pieces without an answer. */
bool rewrite_site_ran(const rewrite_copy *copy, uint32_t site);
/* objects: classes (bits) that accessed the object, by sites whose `param` is IR_NONE. */
uint32_t rewrite_object_used(const rewrite_copy *copy, uint32_t object);
/* The elements of an object that were accessed, from its base rounded down to 4 on: appends its
 * spans to `out`, which may be counted where the kernel has the probe frequency. */
wl_status rewrite_read_elements(const rewrite_copy *copy, uint32_t object, wl_spans *out);
/* The same of lines [from, to) of the object, 32 elements each, without wl_spans_finish: parts that
 * are appended to each other are the whole. */
wl_status rewrite_read_lines(const rewrite_copy *copy, uint32_t object, uint64_t from, uint64_t to,
                             wl_spans *out);
/* Lines that the object has; 0: it has no tables, or only all of them can be read at once. */
uint64_t rewrite_lines(const rewrite_copy *copy, uint32_t object);
/* Whether that is all that the sites accessed of the object: not where some was missed, and the
 * object lacks tables. */
bool rewrite_knows_elements(const rewrite_copy *copy, uint32_t object);
/* Adds to counts[class * layout->shared_bytes / 4 + word] how often the words of shared memory were
 * accessed, by their addresses. WL_NOMEM is the only failure. */
wl_status rewrite_read_shared(const rewrite_copy *copy, uint64_t *counts);

/* Live ranges of an array in shared memory over all blocks: how many began with a value of each
 * flow_origin, and how often words were accessed to which the block had stored nothing by then. */
typedef struct rewrite_live {
    uint64_t begins[FLOW_ORIGINS], unfilled;
} rewrite_live;
/* `all`: all accesses to the array's words, by class. False where the kernel does not tell. */
bool rewrite_read_live(const rewrite_copy *copy, const char *name, wl_span_reader all,
                       rewrite_live *out);

#endif
