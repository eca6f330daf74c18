/* Device descriptions: one JSON file a GPU, in devices/ (format: docs/devices.md).
 *
 * What CUDA's device queries answer, the occupancy calculation and, later, the performance model
 * read a description and nothing else. */
#ifndef WL_CUDA_DEVICE_H
#define WL_CUDA_DEVICE_H

#include "base/error.h"
#include "cuda/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUDA_ATTRIBUTES = 160 }; /* numbers of device attributes are below this */

/* How an SM hands out its resources; see "Occupancy" in docs/devices.md. */
typedef struct cuda_sm_limits {
    uint32_t threads, warps, blocks; /* resident at once */
    uint32_t registers;              /* 32-bit, of the SM */
    uint32_t registers_per_block, registers_per_thread;
    uint32_t register_unit;   /* registers are allocated to a warp in multiples of this */
    uint32_t partitions;      /* of the SM; a warp's registers lie in one */
    uint32_t shared;          /* bytes of the SM, at the largest carveout */
    uint32_t shared_unit;     /* shared memory is allocated to a block in multiples of this */
    uint32_t shared_reserved; /* bytes that each block takes on top of its own */
    uint32_t shared_per_block, shared_per_block_optin;
    uint32_t carveouts; /* sizes that shared memory can be configured to, ascending */
    uint32_t carveout_bytes[16];
    uint32_t l1_bytes; /* L1 and shared memory together; 0 where they are apart */
} cuda_sm_limits;

/* For the performance model: 0 where the vendor says nothing. Rates are results per clock and SM.
 */
typedef struct cuda_model {
    double dram_bytes_per_second;
    uint32_t schedulers, fp32, fp64, int32, sfu, load_store;
    uint32_t tensor_fp16; /* dense fused multiply-adds of FP16 with FP32 accumulation */
    uint32_t shared_banks, shared_bank_bytes, sector_bytes, line_bytes;
} cuda_model;

/* CUDA_FIGURES: how many are measured; they come first. CUDA_ALL_FIGURES: with those that only
 * documents tell. */
typedef enum cuda_figure_key {
#define FIGURE(key, unit, how) CUDA_FIGURE_##key,
#include "cuda/figures.def"
    CUDA_FIGURES,
    CUDA_LAST_MEASURED = CUDA_FIGURES - 1,
#define CITED(key, unit, what) CUDA_FIGURE_##key,
#include "cuda/figures.def"
    CUDA_ALL_FIGURES
} cuda_figure_key;

/* A figure that bench/device measured: the median of processes, and the extremes of all their runs.
 * All are 0 where it was not measured. */
typedef struct cuda_figure {
    double value, low, high;
} cuda_figure;

typedef struct cuda_measured {
    char date[16], driver[32]; /* "" where nothing was measured */
    uint32_t processes;
    cuda_figure figures[CUDA_FIGURES]; /* by cuda_figure_key */
} cuda_measured;

/* Figures that documents tell of a device that was not at hand. */
enum { CUDA_CITED_DOCUMENTS = 4 };
typedef struct cuda_cited {
    uint32_t count;
    char documents[CUDA_CITED_DOCUMENTS][128];
    double figures[CUDA_ALL_FIGURES];    /* by cuda_figure_key; 0: no document tells it */
    uint32_t document[CUDA_ALL_FIGURES]; /* which one tells it */
} cuda_cited;

typedef struct cuda_device {
    char id[64];      /* name of the file without ".json" */
    char name[256];   /* as cudaGetDeviceProperties gives it */
    char source[512]; /* the documents that the figures come from */
    uint32_t sm;      /* compute capability: 10 * major + minor */
    uint64_t global_bytes;
    uint64_t l2_bytes;
    int attributes[CUDA_ATTRIBUTES]; /* by number; ask through cuda_device_attribute() */
    cuda_sm_limits limits;
    cuda_model model;
    cuda_measured measured;
    cuda_cited cited;
} cuda_device;

#define CUDA_DEFAULT_DEVICE "h200"

/* `name`: a device's id ("h200", any case), or the path of a description (with a '/' or ending in
 * ".json"). WL_NOENT with a text that lists the known ids; WL_PARSE with file and line where it is
 * no JSON, else with all that is wrong, unknown or missing in it, as the file spells it. */
wl_status cuda_device_load(const char *name, cuda_device *out, wl_error *err);

/* The ids of all descriptions that are installed, sorted; *ids and each id are malloc'ed:
 * cuda_device_list_free(). */
wl_status cuda_device_list(char ***ids, size_t *count, wl_error *err);
void cuda_device_list_free(char **ids, size_t count);

/* Folder of the descriptions: $WARPLENS_DEVICES, or "share/warplens/devices" in the nearest folder
 * above the executable or shared library that this code is in. Empty string where there is none. */
const char *cuda_device_folder(void);

/* False where CUDA has no attribute of this number (cuDeviceGetAttribute gives
 * CUDA_ERROR_INVALID_VALUE). */
bool cuda_device_attribute(const cuda_device *device, int number, int *value);
/* The same where the number is known to be one. */
static inline int cuda_attribute_of(const cuda_device *device, int number)
{
    int value = 0;
    cuda_device_attribute(device, number, &value);
    return value;
}

/* "max_threads_per_block", as descriptions spell it. False, and "", where there is none. */
enum { CUDA_ATTRIBUTE_KEY = 80 }; /* bytes that are enough for every key and its end */
bool cuda_attribute_key(int number, char key[static CUDA_ATTRIBUTE_KEY]);

/* How descriptions spell a figure, its unit, and what was run for it. */
typedef struct cuda_figure_text {
    const char *key, *unit, *how;
} cuda_figure_text;
extern const cuda_figure_text cuda_figure_texts[CUDA_ALL_FIGURES];

/* As it was measured, else as a document tells it, else 0. */
double cuda_figure_of(const cuda_device *device, cuda_figure_key key);

/* Who answers for an attribute; see attributes.def. */
typedef enum cuda_attribute_source {
    CUDA_ATTRIBUTE_CHIP,
    CUDA_ATTRIBUTE_NEEDED,
    CUDA_ATTRIBUTE_HERE
} cuda_attribute_source;

/* CUDA_ATTRIBUTE_HERE for a number that CUDA does not have: no description can set it. */
cuda_attribute_source cuda_attribute_source_of(int number);

/* 16 bytes that stand for the emulated device: the same in every run, different for each id and
 * ordinal. */
void cuda_device_uuid(const cuda_device *device, int ordinal, CUuuid *uuid);

void cuda_device_prop_v11(const cuda_device *device, int ordinal, cudaDeviceProp_v11 *prop);
void cuda_device_prop_v12(const cuda_device *device, int ordinal, cudaDeviceProp_v12 *prop);
void cuda_device_prop_v13(const cuda_device *device, int ordinal, cudaDeviceProp_v13 *prop);

/* ---- occupancy ---- */

typedef struct cuda_footprint { /* what a block of a kernel needs */
    uint32_t threads;           /* of a block */
    uint32_t registers;         /* of a thread */
    uint32_t static_shared, dynamic_shared;
    int carveout; /* preferred share of shared memory in percent, as cudaFuncAttributePreferred...;
                     -1: none */
} cuda_footprint;

typedef enum cuda_limiter {
    CUDA_LIMIT_NONE,
    CUDA_LIMIT_BLOCKS = 1,
    CUDA_LIMIT_WARPS = 2,
    CUDA_LIMIT_REGISTERS = 4,
    CUDA_LIMIT_SHARED = 8
} cuda_limiter;

typedef struct cuda_occupancy {
    uint32_t blocks; /* of this kernel on an SM at once; 0: it cannot run */
    uint32_t warps;
    uint32_t limiters; /* cuda_limiter, or'ed */
    uint32_t by_blocks, by_warps, by_registers,
        by_shared; /* blocks that each limit alone would allow */
} cuda_occupancy;

cuda_occupancy cuda_occupancy_of(const cuda_device *device, const cuda_footprint *block);

/* The most dynamic shared memory that still lets `blocks` blocks be resident; 0 where they never
 * are. */
uint32_t cuda_occupancy_shared(const cuda_device *device, const cuda_footprint *block,
                               uint32_t blocks);

/* The block size with the most resident threads, the largest first, up to `limit` threads (0: no
 * limit of one's own). shared[i], where it is not NULL, is the dynamic shared memory of a block of
 * i + 1 warps, in place of block->dynamic_shared. *min_grid is the number of blocks that fills the
 * device. Returns 0 where no size can run. */
uint32_t cuda_occupancy_best(const cuda_device *device, const cuda_footprint *block, uint32_t limit,
                             const size_t *shared, uint32_t *min_grid);

#endif
