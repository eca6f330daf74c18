/* NVIDIA's driver as we see it: its own functions, contexts, streams, live memory, modules and
 * kernels by handle. What the hooks saw is kept here for them and for the kernels that record;
 * nothing here stands before a function of the driver's.
 *
 * Everything is guarded by rec_g.lock, which the caller holds unless said otherwise. The driver is
 * asked only for what it knows (names, attributes, whether an event is over) with the lock held.
 * Strings and lists that are returned stay ours. */
#ifndef WL_SHIM_DRIVER_DRIVER_H
#define WL_SHIM_DRIVER_DRIVER_H

#include "base/vec.h"
#include "capture/capture.h"
#include "cuda/cubin.h"
#include "cuda/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

/* ---- real.c: its functions; without the lock ---- */

/* The driver's own function; NULL where it has none, or there is no driver. The driver is opened by
 * the first call. */
void *drv_real(const char *symbol);
bool drv_is_open(void); /* after drv_real: was the driver found? */

/* Calls the driver's function of this name with these arguments; `otherwise` where the driver lacks
 * it. The driver's functions are looked up once a place. */
#define DRIVER(otherwise, symbol, types, ...)                                                  \
    ({                                                                                         \
        static void *function_##symbol;                                                        \
        static bool known_##symbol;                                                            \
        if (!__atomic_load_n(&known_##symbol, __ATOMIC_ACQUIRE)) {                             \
            __atomic_store_n(&function_##symbol, drv_real(#symbol), __ATOMIC_RELAXED);         \
            __atomic_store_n(&known_##symbol, true, __ATOMIC_RELEASE);                         \
        }                                                                                      \
        function_##symbol ? ((CUresult(*) types)function_##symbol)(__VA_ARGS__) : (otherwise); \
    })

/* ---- device.c ---- */

void drv_devices_record(void); /* writes DEVICE for each */
/* Of the first device, 90 for 9.0; 0 before drv_devices_record. Stays, so that no lock is
 * needed. */
unsigned drv_sm(void);
/* Bytes of the device with the least memory; 0 before drv_devices_record. */
uint64_t drv_least_memory(void);

/* ---- context.c ---- */

typedef struct drv_context {
    CUcontext handle;
    uint64_t id; /* counts contexts: handles are given out again */
    uint32_t device;
} drv_context;

/* The calling thread's. handle NULL: none is current. */
drv_context drv_current(void);
/* It went, and its streams with it. */
void drv_context_gone(CUcontext handle);
void drv_primary_retained(CUdevice device, CUcontext context);
/* The device's primary context, which has ended; NULL: it lives, or nobody knows which it was. */
CUcontext drv_primary_ended(CUdevice device);

/* ---- stream.c ---- */

enum { DRV_PER_THREAD = 2 /* CU_STREAM_PER_THREAD */, DRV_THREAD_SHIFT = 48 };

/* A stream as our tables name it, by handle: 0 and 1 are the legacy stream; a thread's own default
 * stream has the thread in its upper bits. `per_thread`: what 0 means. Records have its number in
 * place of that. Without the lock. */
uint64_t drv_stream(CUstream stream, bool per_thread);
/* The handle again, for the driver; of a thread's own stream, for that thread alone. Without the
 * lock. */
static inline CUstream drv_stream_handle(uint64_t stream)
{
    return (CUstream)(uintptr_t)(stream >> DRV_THREAD_SHIFT ? DRV_PER_THREAD : stream);
}
/* The number of a stream in the capture, `stream` as drv_stream gives it, used in this context. The
 * first time it is given one STREAM is written. */
uint64_t drv_stream_number(uint64_t stream, drv_context context);
void drv_stream_gone(uint64_t stream); /* its handle may be given out again */

/* A stream that is being captured runs nothing, and nothing of ours may go there; nor to the legacy
 * stream while a stream that waits for it is. Asks the driver; with or without the lock. */
bool drv_in_capture(uint64_t stream);
/* Without the lock: the same, which costs little where no stream is captured. */
bool drv_is_captured(uint64_t stream);
bool drv_capturing(void); /* is any stream captured? */
/* Without the lock. Each begin that the driver refused is taken back. */
void drv_capture_begins(
    uint64_t stream); /* before the driver knows of it, so that nobody asks in between */
void drv_capture_refused(uint64_t stream);
void drv_capture_ended(uint64_t stream);

/* ---- pool.c ---- */

void drv_pool_created(CUmemoryPool pool, uint32_t device);
void drv_pool_gone(CUmemoryPool pool); /* its handle may be given out again */
/* The number in the capture of a pool that memory was taken from; NULL: the current one of the
 * current device. The first time it is given one POOL is written. 0 where there is no such pool. */
uint32_t drv_pool_number(CUmemoryPool pool);
/* The capture is told what pools with a number hold after the call; 0: none in particular. */
void drv_pools_record(uint32_t call);

/* ---- object.c: live memory by address ---- */

typedef struct drv_module drv_module;

typedef struct drv_object {
    uint64_t base, bytes;
    uint32_t number; /* in the capture */
    uint32_t pool;   /* drv_pool_number()'s; 0: none */
    uint8_t kind;    /* cap_object_kind */
    CUcontext context;
    drv_module *module; /* of a variable */
} drv_object;

drv_object *drv_object_find(uint64_t address); /* NULL: none; valid until the next change */
/* Live memory, sorted by address, valid until the next change. */
const drv_object *drv_objects(size_t *count);
/* Another number after each change of those. */
uint64_t drv_objects_version(void);
/* False without memory. */
bool drv_object_add(const drv_object *object);
/* Takes it out without a record; false where none starts there. */
bool drv_object_take(uint64_t base, drv_object *out);
/* Writes OBJECT; `call`: the number of the CALL that made it, 0 where none did. */
void drv_object_record(const drv_object *object, uint32_t call, const char *name);
/* Writes FREE. */
void drv_object_freed(const drv_object *object, uint32_t call, cap_freed_how how);
/* Objects of a context that went, all with FREE of call 0. */
void drv_objects_gone(CUcontext context);

/* ---- module.c: a module is a CUmodule or a CUlibrary ---- */

typedef struct drv_jit_options { /* what the program asks of the compiler */
    const CUjit_option *options;
    void *const *values;
    uint32_t count;
} drv_jit_options;

/* What is about to be loaded; `image` NULL: the file. NULL without memory. What is loaded then
 * becomes known by its handle, in the current context; what is not is freed. */
drv_module *drv_module_new(bool library, const void *image, const char *file, drv_jit_options jit);
void drv_module_loaded(drv_module *m, void *handle);
void drv_module_free(drv_module *m);

/* A CUmodule that belongs to a library leads to the library's. NULL: no hook has seen the
 * handle. */
drv_module *drv_module_of(const void *handle);
/* The same; where no hook has seen the handle, its code is looked for by the name of a kernel or a
 * variable in it (NULL: not). NULL: not found. */
drv_module *drv_module_find(void *handle, bool library, const char *name);
/* Is it this handle's own, not that of a library that the handle leads to? */
bool drv_module_has_handle(const drv_module *m, const void *handle);
void drv_library_has_module(drv_module *library, void *handle); /* cuLibraryGetModule told so */

/* The module's number in the capture: writes MODULE and OBJECTs of its variables the first time. 0:
 * its code is not known. */
uint32_t drv_module_use(drv_module *m);
/* From now on the PTX of a module that is used stays until it is taken. */
void drv_keep_texts(void);
/* From now on the machine code of a module that came without PTX stays, too. */
void drv_keep_cubins(void);
/* Uses the module. Whether it came without PTX, and its machine code is known. */
bool drv_module_has_cubin(drv_module *m);
/* That code; NULL where it has none, or it is not kept. */
const void *drv_module_cubin(const drv_module *m, size_t *bytes);
/* Uses the module. Its PTX, malloc'ed, becomes the caller's; NULL where it has none, or it was
 * taken before. */
char *drv_module_take_text(drv_module *m, size_t *length);
/* Where the program's variable is; without the lock. */
bool drv_module_variable(const drv_module *m, const char *name, CUdeviceptr *address,
                         size_t *bytes);
/* Can its kernels be launched there? */
bool drv_module_in(const drv_module *m, CUcontext context);
/* What the program asked of the compiler that matters to a kernel that is compiled anew, at most so
 * many; returns how many. */
uint32_t drv_module_jit_options(const drv_module *m, CUjit_option *options, void **values,
                                uint32_t most);

/* It goes, with its functions and objects. */
void drv_module_forget(drv_module *m);
/* A CUmodule that goes with the context; NULL: there is none. */
drv_module *drv_module_of_context(CUcontext context);
/* Libraries outlive the context, but not what they had there. */
void drv_libraries_leave(CUcontext context);

/* ---- function.c: a function is a CUfunction or a CUkernel ---- */

typedef struct drv_function {
    void *handle;
    char *name;
    drv_module *module; /* NULL: not known */
    bool kernel;        /* handle is a CUkernel */
    bool described;
    bool params_known;
    wl_vec(cuda_param) params;
    uint32_t param_bytes;
    uint32_t static_shared, local_bytes, registers;
    uint32_t cluster[3];
    uint64_t serial; /* tells it from another one with its handle */
    /* What others keep with it, NULL at first: they look after it themselves. */
    struct probe_kernel *probe;
    struct patch_kernel *patch;
    bool looked_for_probe, looked_for_patch;
    struct hook_kind *kinds;
    UT_hash_handle hh;
} drv_function;

/* What the handle stands for, with its parameters and resources; asked of the driver where no hook
 * has seen it. NULL without memory. Valid until its module goes. */
drv_function *drv_function_of(void *handle);
/* Of a CUkernel the function in the current context. */
CUfunction drv_function_handle(const drv_function *f);
/* A handle that the driver gave out for this name. NULL without memory. */
drv_function *drv_function_add(void *handle, const char *name, drv_module *module);
/* The driver gave out a CUfunction for a CUkernel. */
void drv_kernel_has_function(void *kernel, void *function);

typedef struct drv_shape {                  /* of a launch */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: as the kernel says */
    uint32_t shared, flags;                 /* shared: dynamic, in bytes; flags: cap_note's */
} drv_shape;

typedef struct drv_param_bytes { /* a launch's parameters as the kernel has them */
    const char *data;
    uint64_t length;
    bool known;
} drv_param_bytes;

/* ---- compiled.c: the PTX of cubins that the program had linked ---- */

void drv_link_created(CUlinkState handle);
void drv_link_data_added(CUlinkState handle, const void *data, size_t size);
void drv_link_file_added(CUlinkState handle, const char *path);
void drv_link_completed(CUlinkState handle, const void *cubin, size_t size);
void drv_link_gone(CUlinkState handle);

#endif
