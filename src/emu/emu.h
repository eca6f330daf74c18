/* The PTX emulator: device memory, loaded modules, launches.
 *
 * A machine is one emulated device of one process: its address space and the modules loaded into
 * it. A warp is the unit of execution; blocks run in parallel on `threads` host threads. Every
 * access is checked. Device pointers are host pointers: the machine reserves a range of host
 * addresses and commits what is allocated, so the host side copies with memcpy and managed and
 * pinned memory need nothing special. A machine may be used from several host threads; launches on
 * one machine run one after another. */
#ifndef WL_EMU_EMU_H
#define WL_EMU_EMU_H

#include "access/access.h"
#include "access/tensor.h"
#include "base/error.h"
#include "ir/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct emu_dim {
    uint32_t x, y, z;
} emu_dim;

/* What a kernel can see of the device. cuda/device.h fills it from a data file. */
typedef struct emu_device {
    uint32_t sm; /* 90 */
    uint32_t num_sms;
    uint32_t max_threads_per_block;
    uint32_t registers_per_thread; /* the most that it may have; 0: no limit */
    uint32_t max_shared_per_block; /* with opt-in */
    uint32_t max_blocks_per_sm, max_threads_per_sm, shared_per_sm;
    uint64_t global_bytes;
    uint32_t clock_khz;
} emu_device;

typedef struct emu_machine emu_machine;
typedef struct emu_module emu_module;
typedef struct emu_kernel emu_kernel;

wl_status emu_machine_new(const emu_device *device, emu_machine **out, wl_error *err);
void emu_machine_free(emu_machine *machine);

/* ---- memory ---- */

typedef enum emu_alloc_kind {
    EMU_ALLOC_DEVICE,
    EMU_ALLOC_PINNED,
    EMU_ALLOC_MANAGED,
    EMU_ALLOC_REGISTERED, /* the application's own memory; bytes are not ours */
    EMU_ALLOC_SYMBOL,     /* module variable, .global */
    EMU_ALLOC_CONST,      /* module variable, .const */
    EMU_ALLOC_HEAP,       /* device-side malloc */
    EMU_ALLOC_INTERNAL    /* printf strings, parameter buffers: not an object of the application */
} emu_alloc_kind;

typedef struct emu_alloc {
    uint64_t base, size; /* size as asked for */
    emu_alloc_kind kind;
    uint32_t id; /* the caller's: object number in the capture; 0 where it gave none */
    bool freed;
    bool ghost;   /* has no memory behind it: emu/slice.h */
    bool part;    /* of an allocation: emu_mem_part() */
    bool divided; /* other objects lie in it; set by emu_mem_find_object() */
} emu_alloc;

/* `align` is a power of two, at least 256 is used. Memory is zeroed by the host. WL_NOMEM when the
 * device is full. */
wl_status emu_mem_alloc(emu_machine *m, uint64_t size, uint64_t align, emu_alloc_kind kind,
                        uint32_t id, uint64_t *address);
wl_status emu_mem_register(emu_machine *m, void *data, uint64_t size, uint32_t id);
wl_status emu_mem_free(emu_machine *m,
                       uint64_t address); /* WL_NOENT where no allocation starts there */
/* The live allocation that holds the address, copied to *out; false without one. */
bool emu_mem_find(emu_machine *m, uint64_t address, emu_alloc *out);
/* From now on `id` is the object that lies in this part of an allocation, or of another part: what
 * is accessed there counts as its, and only whether it may be accessed goes by the allocation.
 * WL_EXISTS where a part crosses a border of it or would lie in it. It goes with the allocation
 * that it begins in, or when the caller takes it back. */
wl_status emu_mem_part(emu_machine *m, uint64_t base, uint64_t size, uint32_t id);
void emu_mem_part_end(emu_machine *m, uint64_t base, uint32_t id);
/* The innermost object that holds the address, a part or an allocation, as emu_mem_find. */
bool emu_mem_find_object(emu_machine *m, uint64_t address, emu_alloc *out);
/* The same, and the address up to which it is so. */
bool emu_mem_find_piece(emu_machine *m, uint64_t address, emu_alloc *out, uint64_t *end);
/* The live object of this id that begins there, whatever lies in it. */
bool emu_mem_find_id(emu_machine *m, uint64_t base, uint32_t id, emu_alloc *out);
/* Whether the address is the device's, allocated or not; no host memory of the application lies
 * there. */
bool emu_mem_is_device(const emu_machine *m, uint64_t address);
void emu_mem_usage(emu_machine *m, uint64_t *used, uint64_t *total);
/* Address space without memory behind it (cuMemAddressReserve) and parts of it given memory
 * (cuMemMap). */
wl_status emu_mem_reserve(emu_machine *m, uint64_t size, uint64_t align, uint64_t *address);
wl_status emu_mem_map(emu_machine *m, uint64_t address, uint64_t size, uint32_t id);
wl_status emu_mem_unmap(emu_machine *m, uint64_t address, uint64_t size);

/* ---- textures and surfaces ---- */

typedef enum emu_texel_kind {
    EMU_TEXEL_UNSIGNED,
    EMU_TEXEL_SIGNED,
    EMU_TEXEL_FLOAT
} emu_texel_kind;

enum { EMU_MAX_LEVELS = 17 };

typedef struct emu_image_level {
    uint64_t address, pitch, slice; /* bytes from row to row, and from slice to slice */
    uint32_t size[3];               /* texels; 1 where the dimension is absent */
} emu_image_level;

/* Texels in device memory, row by row, slice by slice; a slice is a plane of a volume, a layer, or
 * a face of a cube (six to a layer, +x -x +y -y +z -z). All of it lies in live allocations when a
 * kernel reads it, or the kernel faults. */
typedef struct emu_image {
    uint8_t dims; /* 1, 2, 3; a cube has 2 */
    bool cube, layered;
    bool linear; /* memory without shape: read by index alone, 0 outside of it */
    emu_texel_kind kind;
    uint8_t bits, channels; /* of a channel: 8, 16, 32; 1, 2, 4 of them */
    uint32_t slices;        /* layers, faces included; 1 where there are none (and for volumes) */
    uint32_t nlevels;       /* at least 1 */
    emu_image_level level[EMU_MAX_LEVELS];
} emu_image;

/* CUDA C++ Programming Guide, "Texture Fetching". */
typedef enum emu_address_mode { EMU_WRAP, EMU_CLAMP, EMU_MIRROR, EMU_BORDER } emu_address_mode;

typedef struct emu_texture {
    emu_image image;
    emu_address_mode
        mode[3]; /* WRAP and MIRROR count as CLAMP where coordinates are not normalised */
    bool filter, mip_filter; /* linear, else nearest */
    bool normalized;         /* coordinates */
    bool element;  /* integers are read as such, else as numbers up to 1; 32-bit ones always are */
    bool srgb;     /* 8-bit colour channels are decoded */
    bool seamless; /* filtering goes on over a cube's edges */
    float bias, min_level, max_level;
    float border[4];
} emu_texture;

/* The value that a kernel is given for it; never 0, never that of another object of the machine,
 * freed ones included. */
wl_status emu_texture_new(emu_machine *m, const emu_texture *texture, uint64_t *handle);
wl_status emu_surface_new(emu_machine *m, const emu_image *image, uint64_t *handle);
/* WL_NOENT where there is no such object. */
wl_status emu_texture_free(emu_machine *m, uint64_t handle);
wl_status emu_surface_free(emu_machine *m, uint64_t handle);

/* ---- modules ---- */

/* Allocates the module's variables and initialises them. `id_of` (may be NULL) gives the object
 * number for each variable as it is placed. The PTX module must live as long as the emu_module.
 * Fails with WL_UNSUPPORTED only for what concerns the whole module; an instruction that is not
 * supported is reported when its kernel is asked for. */
typedef uint32_t (*emu_id_of)(void *ctx, const ir_var *var, uint64_t address, uint64_t size);
wl_status emu_module_load(emu_machine *m, const ir_module *ptx, emu_id_of id_of, void *ctx,
                          emu_module **out, wl_error *err);
void emu_module_unload(emu_module *module);
bool emu_module_symbol(emu_module *module, const char *name, uint64_t *address, uint64_t *size);

/* Decodes the kernel and all it calls. WL_NOENT: no such entry; WL_UNSUPPORTED: err names op, line
 * and kernel. */
wl_status emu_module_kernel(emu_module *module, const char *name, emu_kernel **out, wl_error *err);

typedef struct emu_kernel_info {
    const char *name;
    const ir_func *func;
    uint32_t param_bytes;
    uint32_t nparams;
    const uint32_t *param_offsets, *param_sizes;
    uint32_t static_shared;
    uint32_t local_bytes; /* per thread, without calls */
    uint32_t registers;   /* 32-bit registers that the PTX keeps live at most, as far as the device
                             has them: an estimate of the hardware's */
    uint32_t max_threads; /* .maxntid or the device's */
    uint32_t ncode;       /* static instructions, called functions included */
} emu_kernel_info;

const emu_kernel_info *emu_kernel_get(const emu_kernel *kernel);

/* Static instructions of a kernel are numbered 0 .. ncode-1: first the kernel's own in order, then
 * each function that it calls, once. This number is the `pc` everywhere outside of src/ptx. */
typedef struct emu_code {
    const ir_func *func;
    const ir_insn *insn;
    uint32_t block; /* basic block, 0 .. nblocks-1 */
    ir_cost cost;   /* class of work, by the instruction's types and not its opcode alone */
} emu_code;

emu_code emu_kernel_code(const emu_kernel *kernel, uint32_t pc);

/* Shared-memory variables of the kernel and of all it calls, as the emulator lays them out in a
 * block's shared memory. Unsized (extern) arrays get the launch's dynamic part: their size is
 * `dynamic_shared`, and they come last. */
typedef struct emu_shared_var {
    const ir_var *var;
    uint32_t offset, size;
} emu_shared_var;

uint32_t emu_kernel_nshared(const emu_kernel *kernel);
emu_shared_var emu_kernel_shared(const emu_kernel *kernel, uint32_t index, uint32_t dynamic_shared);
/* The PTX module that the kernel was decoded from. */
const ir_module *emu_kernel_module(const emu_kernel *kernel);

/* ---- launches ---- */

typedef struct emu_heap_alloc { /* what a lane's malloc() gave it */
    uint64_t address, bytes;
    uint64_t block; /* linear index */
    uint32_t pc;    /* of the call */
} emu_heap_alloc;

/* Is told of device-side malloc() and free(), from several threads at once. */
typedef struct emu_heap_observer {
    void *ctx;
    uint32_t (*made)(void *ctx,
                     const emu_heap_alloc *made); /* returns its id, as emu_alloc has it */
    void (*freed)(void *ctx, uint32_t id);        /* not of id 0 */
} emu_heap_observer;

typedef struct emu_launch {
    emu_dim grid, block, cluster; /* cluster {0,0,0} or {1,1,1}: none */
    uint32_t dynamic_shared;
    const void *params; /* param_bytes of them, laid out as emu_kernel_info says */
    bool cooperative;
    uint32_t reserved_shared; /* bytes of the kernel's static shared memory that no limit counts */
    /* Threads are numbered along y first, as if x and y of the block, %tid and %ntid were exchanged
     * throughout: warps hold other threads, each of which does what it did. */
    bool transposed;
    /* Linear indices of the blocks to run (of a launch with clusters: of the clusters); NULL: all.
     */
    const uint64_t *only;
    uint64_t nonly;
    uint32_t threads;              /* host threads; 0: all cores */
    double time_limit;             /* seconds; 0: none */
    const acc_observer *observer;  /* NULL: nobody watches */
    const emu_heap_observer *heap; /* likewise */
    /* What the 128 bytes of a tensor map say; false where nobody knows. From several threads at
     * once. NULL: as acc_tensor_decode. */
    bool (*tensor)(void *ctx, uint32_t pc, const void *map, acc_tensor *out);
    void *tensor_ctx;
    /* Receives what vprintf writes; NULL: the process's stdout. */
    void (*print)(void *ctx, const char *text, size_t length);
    void *print_ctx;
    /* Called about ten times a second from one worker with blocks done and total; returning false
     * stops the launch. */
    bool (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
} emu_launch;

typedef enum emu_fault_kind {
#define X(id, cuda, text) EMU_FAULT_##id,
#include "emu/faults.def"
#undef X
    EMU_FAULT_COUNT
} emu_fault_kind;

typedef struct emu_fault {
    emu_fault_kind kind;
    int cuda_error;
    uint32_t pc;
    emu_dim block, thread;
    bool in_memory; /* the address is one of global memory */
    uint64_t address;
    uint32_t bytes;
    char text[1024]; /* kernel, source line, block, thread, address, nearest allocation, in
                        sentences */
    size_t what;     /* where the last of them begins */
} emu_fault;

/* "access outside of any allocation" */
const char *emu_fault_text(emu_fault_kind kind);

typedef struct emu_block_count { /* a basic block, summed over the launch */
    uint64_t executions;         /* by warps (splits) */
    uint64_t lanes;              /* active threads, summed over executions */
} emu_block_count;

typedef struct emu_result {
    emu_fault fault; /* kind NONE where the launch succeeded */
    uint64_t warp_instructions, thread_instructions;
    /* The most warp instructions of any warp, and of any block; of each block those of its longest
     * warp, summed. */
    uint64_t longest_warp, busiest_block, longest_warps;
    uint64_t blocks_run;
    double seconds;
    emu_block_count *blocks; /* nblocks of them; freed by emu_result_clear */
    uint32_t nblocks;
} emu_result;

/* WL_OK, or WL_FAULT with result->fault filled, or WL_ARG / WL_NOMEM with err. A faulting launch
 * keeps its counts. */
wl_status emu_run(emu_machine *m, emu_kernel *kernel, const emu_launch *launch, emu_result *result,
                  wl_error *err);
void emu_result_clear(emu_result *result);

/* The instruction sets that the handlers were built for, best first, and the one in use ("avx512",
 * "avx2", "generic"); WARPLENS_ISA in the environment forces one. */
const char *emu_isa(void);

#endif
