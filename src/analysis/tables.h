/* Tables that the analyses compute from a profile, besides the findings: kernels by what they
 * cost, how often elements are used, and the memory that objects take over time. Pure functions;
 * everything lies in the caller's arena. */
#ifndef WL_ANALYSIS_TABLES_H
#define WL_ANALYSIS_TABLES_H

#include "analysis/finding.h"
#include "analysis/times.h"

/* What instructions did together. */
typedef struct ana_counts {
    uint64_t executions;          /* by warps */
    uint64_t thread_instructions; /* of all instructions there, memory or not */
    uint64_t requests, active_lanes;
    uint64_t sectors, sectors_min;
    uint64_t wavefronts, wavefronts_min;
} ana_counts;

typedef struct ana_kernel {
    uint32_t kernel;     /* prof_kernel */
    uint32_t launches;   /* observed */
    ana_counts counts;   /* over all launches; executions of memory instructions only */
    double host_seconds; /* negative: not measured */
    ana_device_time device;
    uint64_t excess_sectors, excess_wavefronts; /* of its findings */
    uint32_t nfindings;                         /* numbers that people read: groups */
    bool left_over; /* much of what it moves is more than is needed, and fits no pattern */
} ana_kernel;

typedef struct ana_kernels {
    uint32_t count;
    /* most excess first (by share of the program's sectors or wavefronts), then most sectors */
    ana_kernel *rows;
} ana_kernels;

/* `findings` may be NULL: then without excess. */
wl_status ana_kernel_table(prof_db *profile, const ana_findings *findings, wl_arena *arena,
                           ana_kernels *out, wl_error *err);

typedef struct ana_peak {
    uint32_t process, device; /* device: ordinal */
    uint64_t bytes;
    uint32_t call; /* prof_call of the allocation that reached the peak; 0: a module's symbols */
    uint32_t nobjects;
    uint32_t *objects; /* alive then, largest first */
} ana_peak;

typedef struct ana_memory_point { /* after each allocation or free */
    uint32_t object, call;
    bool freed;
    uint64_t bytes; /* in use */
} ana_memory_point;

/* What one process takes on one device over time. */
typedef struct ana_device_memory {
    uint32_t process, device;
    uint64_t peak_bytes;
    uint32_t npoints;
    ana_memory_point *points; /* in the order of allocations and frees */
} ana_device_memory;

/* Device memory: device and managed allocations, symbols and arrays. Pinned and registered host
 * memory is not counted, nor are parts of objects and what kernels allocate. Each process has its
 * own memory on each device. */
typedef struct ana_memory {
    uint64_t peak_bytes; /* the highest of all; 0 where nothing was allocated */
    uint32_t npeaks;
    ana_peak *peaks; /* highest first; of each process and device at most the highest two local
                        maxima with different objects */
    uint32_t ndevices;
    ana_device_memory *devices; /* by process and device; none without an allocation */
} ana_memory;

/* Memory that was taken at once, to be handed out in parts. */
typedef struct ana_pool {
    uint32_t process, device;
    uint32_t pool, kind;               /* prof_pool's; pool 0: the program's own */
    const char *name;                  /* what the program calls it; "" of CUDA's */
    uint64_t most_reserved, most_used; /* taken from the device, handed out; each at its own time */
    uint64_t reserved_then;            /* when most was handed out */
    bool divided; /* it is known where the parts lie; what follows is of when most was handed out */
    uint64_t free_then, largest_free_then; /* not handed out; the largest piece of it */
    uint32_t nobjects;
    uint32_t *objects; /* handed out, largest first */
} ana_pool;

typedef struct ana_pools {
    uint32_t count;
    ana_pool *rows; /* the program's, then CUDA's; by process and device */
} ana_pools;

/* What becomes of an object's elements within a block, summed over the blocks that were counted for
 * it: of all launches, or of some, where ana_use says that it is partial. */
typedef struct ana_reuse {
    /* Of shared arrays. A store to a word begins a live range, unless its value depends on a read
     * of that word; the next range, or the block's end, ends it. By where the value came from:
     * ranges; and the accesses in them after that store. */
    bool ranges_known;
    uint64_t ranges[OBS_ORIGIN_COUNT];
    uint64_t range_accesses;   /* of all origins */
    uint64_t unfilled;         /* accesses of words to which the block had stored nothing by then */
    double accesses_per_range; /* over all origins; negative: there are no ranges */
    uint32_t nlive;            /* 0 where only sums are known */
    const obs_live_ranges *live; /* how many ranges have how many accesses; by origin, accesses */
    /* Of device memory and of shared arrays. */
    bool blocks_known;
    uint64_t blocks;           /* that were counted */
    uint64_t block_words;      /* different elements that a block accessed, summed over these */
    uint64_t block_words_most; /* of one block: 4 bytes times this would hold what it accesses */
    uint64_t block_accesses;
    double accesses_per_block_word; /* negative: none was accessed */
} ana_reuse;

/* How often kernels accessed the elements (aligned 4 bytes) of an object, over the program; an
 * array in shared memory has the accesses of all blocks. Copies and sets do not count. */
typedef struct ana_use {
    uint32_t object;   /* prof_object: in global memory, or a shared array */
    uint32_t kernel;   /* whose array it is, or whose launches are told of; 0: device memory */
    bool array;        /* in shared memory */
    bool written;      /* by any kernel, as far as is known */
    uint32_t launches; /* that accessed it, as far as is known */
    bool unknown;      /* not even which elements were accessed: only `reuse` is there */
    bool counted;      /* else only what was touched is known: what follows `touched` is 0 */
    bool partial;      /* of some launches nothing is known: at least so much */
    bool estimated;    /* some launches are taken to have done what others did */
    uint64_t elements, touched;
    uint64_t times[WL_CLASSES]; /* of all elements */
    uint64_t most;              /* of a single one */
    /* elements that were touched, but less than rare_share of a touched one's mean */
    uint64_t rare;
    double mean, variation; /* accesses of an element; their coefficient of variation */
    ana_reuse reuse;
} ana_use;

/* An array in device memory of which a block of a kernel accesses each element that it touches more
 * often than a block does one that it keeps in shared memory: a candidate to change places with it
 * (spec: Zheng et al., "GMProf"). */
typedef struct ana_swap {
    uint32_t kernel, device, shared; /* the last two are prof_objects */
    double device_mean, shared_mean; /* accesses of an element that a block touches, by it */
    bool written;                    /* the device array is, by some kernel */
    bool
        fits; /* what a block accesses of it has room beside the kernel's shared arrays, in 48 KiB */
} ana_swap;

typedef struct ana_uses {
    uint32_t count;
    ana_use *rows; /* highest mean first; empty where nothing was counted by element */
    /* The same of each kernel by itself (`kernel` is set in all of them), by kernel, then object:
     * objects that it accessed, as far as is known. */
    uint32_t nparts;
    ana_use *parts;
    uint32_t nswaps;
    ana_swap *swaps; /* largest difference first */
} ana_uses;

/* `thresholds` may be NULL: the defaults. */
wl_status ana_use_table(prof_db *profile, const ana_thresholds *thresholds, wl_arena *arena,
                        ana_uses *out, wl_error *err);

/* Pinned and registered memory is the host's. The heap of kernels is set aside before they run, and
 * a part counts with the object that it is in. */
bool ana_takes_device_memory(const prof_object *object);

/* How much of what was free lay in other pieces than the largest, 0 to 1. */
double ana_fragmentation(const ana_pool *pool);

wl_status ana_pool_table(prof_db *profile, wl_arena *arena, ana_pools *out, wl_error *err);
wl_status ana_memory_table(prof_db *profile, wl_arena *arena, ana_memory *out, wl_error *err);

#endif
