/* The inside of the library that stands before NVIDIA's driver (SONAME libcuda.so.1). Every symbol that the driver exports
 * is one of front.S's jumps: to the driver's function, or to a hook of ours, which calls the driver's and notes what
 * happened. A hook never changes arguments or results.
 *
 * Locking: rec_g.lock guards what is noted. It is never held while a function of the application's choice runs; the
 * driver is asked only for what it knows (names, attributes, whether an event is over) with the lock held.
 *
 * A hook:
 *     HOOK(cuMemFree_v2, (CUdeviceptr address), (address))
 *     {
 *         shim_call call;
 *         shim_begin(&call, "cuMemFree_v2", CAP_CALL_FREE);
 *         ...
 *         return shim_end(&call, real_cuMemFree_v2(address));
 *     }
 */
#ifndef WL_SHIM_HOOKS_SHIM_H
#define WL_SHIM_HOOKS_SHIM_H

#include "base/log.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "cuda/types.h"
#include "program/options.h"
#include "record/record.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

/* ---- real.c: the driver ---- */

typedef struct shim_hook {
    const char *symbol;
    void *code;
    void *real;       /* the driver's function of this name; NULL where it has none */
    void *proc;       /* what its cuGetProcAddress gives for the symbol */
    const char *base; /* the name that cuGetProcAddress knows it by; NULL: none */
    int64_t reserved;
} shim_hook;

#define HOOK(symbol, params, args)                                                                 \
    static CUresult dr_##symbol params;                                                            \
    static shim_hook entry_dr_##symbol __attribute__((section("wl_hooks"), used, aligned(16))) = { \
        #symbol, dr_##symbol, NULL, NULL, NULL, 0};                                                \
    static inline CUresult real_##symbol params                                                    \
    {                                                                                              \
        return ((CUresult(*) params)entry_dr_##symbol.real)args;                                   \
    }                                                                                              \
    static CUresult dr_##symbol params

/* The driver's own function, for questions of ours; NULL where it has none. */
void *shim_real(const char *symbol);

/* Calls the driver's function of this name with these arguments; `otherwise` where the driver lacks it. The driver's
 * functions are looked up once a place. */
#define DRIVER(otherwise, symbol, types, ...)                                                  \
    ({                                                                                         \
        static void *function_##symbol;                                                        \
        static bool known_##symbol;                                                            \
        if (!__atomic_load_n(&known_##symbol, __ATOMIC_ACQUIRE)) {                             \
            __atomic_store_n(&function_##symbol, shim_real(#symbol), __ATOMIC_RELAXED);        \
            __atomic_store_n(&known_##symbol, true, __ATOMIC_RELEASE);                         \
        }                                                                                      \
        function_##symbol ? ((CUresult(*) types)function_##symbol)(__VA_ARGS__) : (otherwise); \
    })

/* ---- process.c: calls and the process ---- */

/* With the lock held but for `sm`, which stays. */
typedef struct shim_state {
    unsigned sm; /* of the first device */
} shim_state;

extern shim_state shim_g;

typedef struct shim_call {
    bool placed;       /* the record has its context and stream */
    uint64_t launched; /* shim_probes_launched() */
    uint64_t stream;   /* as shim_stream gives it */
    rec_call rec;
} shim_call;

/* Notes time and call stack. A call from within another one of ours is not recorded. Every begin has its end, on the same
 * thread. */
void shim_begin(shim_call *call, const char *api, cap_call_kind kind);
/* The same for calls that put work on a stream and do not wait: their records may be held. */
void shim_begin_work(shim_call *call, const char *api, cap_call_kind kind);
/* A launch: the device may be waiting for it, so that only the time is noted. Behind the driver's function, in the same hook
 * and without the lock, shim_stack() notes the call stack. */
void shim_begin_launch(shim_call *call, const char *api);
void shim_stack(shim_call *call);
/* Writes the CALL record unless shim_write_call did; returns `result`. Takes the lock. */
CUresult shim_end(shim_call *call, CUresult result);
/* The same for a call that was begun with shim_begin_work() and behind which the device may wait for the next one, as behind the
 * event before a launch: its record is kept, and written before the next one that anybody writes. */
CUresult shim_end_late(shim_call *call, CUresult result);
/* The call puts work on its stream and may return before that is done. */
void shim_async(shim_call *call);
/* With the lock held: writes CALL, so that records can refer to it. */
void shim_write_call(shim_call *call, CUresult result);

void shim_start(void); /* after cuInit: opens the capture, lists the devices */
/* A stream as our tables name it, by handle: 0 and 1 are the legacy stream; a thread's own default stream has the thread in
 * its upper bits. `per_thread`: what 0 means. Records have its number in place of that, see streams.c. */
uint64_t shim_stream(CUstream stream, bool per_thread);

/* ---- context.c ---- */

typedef struct shim_context {
    CUcontext handle;
    uint64_t id;
    uint32_t device;
} shim_context;

/* The calling thread's; with the lock held. handle NULL: none is current. */
shim_context shim_current(void);
/* Puts context and stream into the call's record, unless that happened; with the lock held. */
void shim_place(shim_call *call, shim_context current);

/* ---- streams.c; with the lock held ---- */

/* The number of a stream in the capture, `stream` as shim_stream gives it, used in this context. The first time it is given one
 * STREAM is written. */
uint64_t shim_stream_number(uint64_t stream, shim_context context);
void shim_stream_gone(uint64_t stream);   /* its handle may be given out again */
void shim_streams_gone(uint64_t context); /* the context went, shim_context's id */

/* ---- objects.c: live memory by address; all with the lock held ---- */

typedef struct shim_object {
    uint64_t base, bytes;
    uint32_t number;
    uint8_t kind; /* cap_object_kind */
    CUcontext context;
    struct shim_module *module; /* of a variable */
} shim_object;

shim_object *shim_object_find(uint64_t address); /* NULL: none; valid until the next change */
/* Live memory, sorted by address, valid until the next change. */
const shim_object *shim_objects(size_t *count);
/* Another number after each change of those. */
uint64_t shim_objects_version(void);
/* Adds and writes OBJECT; `call` may be NULL. Returns its number, 0 without memory. */
uint32_t shim_object_add(shim_call *call, const shim_object *object, const char *name);
/* Numbers it and writes OBJECT only, for what has no address. */
void shim_object_write(shim_call *call, shim_object *object, const char *name);
/* Takes it out without a record; false where none starts there. */
bool shim_object_take(uint64_t base, shim_object *out);
void shim_object_put_back(const shim_object *object);
void shim_object_freed(const shim_object *object, uint32_t call); /* writes FREE */
/* Objects of a context (or of a module) that went: FREE with call 0. */
void shim_objects_gone(CUcontext context, const struct shim_module *module);

/* ---- array.c; with the lock held ---- */

uint64_t shim_array_element(CUarray_format format); /* bytes of a channel */
uint32_t shim_array_object(const void *handle);     /* its number; 0: none */
void shim_arrays_gone(CUcontext context);

/* ---- module.c ---- */

typedef struct shim_module shim_module;

typedef struct shim_param {
    uint32_t offset, bytes;
} shim_param;

typedef struct shim_function { /* a CUfunction or CUkernel */
    void *handle;
    char *name;
    shim_module *module; /* NULL: not known */
    bool kernel;         /* handle is a CUkernel */
    bool described;
    bool params_known;
    wl_vec(shim_param) params;
    uint32_t param_bytes;
    uint32_t static_shared, local_bytes, registers;
    uint32_t cluster[3];
    struct shim_probed_kernel *probe; /* shim_function_probe() */
    bool looked_for_probe;
    uint64_t serial;         /* tells it from another one with its handle */
    struct shim_kind *kinds; /* of its launches, as times.c has them */
    UT_hash_handle hh;
} shim_function;

/* With the lock held. What the handle stands for; asked of the driver where no hook has seen it. NULL without memory. */
shim_function *shim_function_of(void *handle);
/* Of a CUkernel the function in the current context. */
CUfunction shim_function_handle(const shim_function *f);
/* What its launches can record with; NULL: they cannot. */
struct shim_probed_kernel *shim_function_probe(shim_function *f);
struct shim_probed *shim_module_probed(shim_module *module);
/* Where the program's variable is; without the lock. */
bool shim_module_variable(const shim_module *module, const char *name, CUdeviceptr *address,
                          size_t *bytes);
/* Can its kernels be launched there? */
bool shim_module_in(const shim_module *module, CUcontext context);
/* What the program asked of the compiler, at most so many; returns how many. */
uint32_t shim_module_options(const shim_module *module, CUjit_option *options, void **values,
                             uint32_t most);
/* The module's number in the capture: writes MODULE and OBJECTs of its variables the first time. 0: its code is not known. */
uint32_t shim_module_use(shim_module *module);
void shim_modules_gone(CUcontext context);

/* ---- compiled.c; with the lock held ---- */

/* The PTX that a cubin without any was made from, malloc'ed; false where it is not known. */
bool shim_compiled_find(const void *cubin, size_t size, char **text, size_t *length);

/* ---- launch.c; with the lock held ---- */

typedef struct shim_shape {
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: as the kernel says */
    uint32_t shared, flags;                 /* cap_note's */
} shim_shape;

typedef struct shim_bytes {
    const char *data;
    uint64_t length;
    bool known;
} shim_bytes;

/* The parameters as the kernel has them, from what the application gave; valid until the next call. */
shim_bytes shim_pack(const shim_function *f, void **params, void **extra);
/* Writes NOTE for a launch that the driver accepted. Returns its number; 0 where the options leave it out. */
uint32_t shim_note(shim_call *call, const shim_function *f, const shim_shape *shape,
                   shim_bytes params);
/* A stream that is being captured runs nothing, and nothing of ours may go there; nor to the legacy stream while a stream that
 * waits for it is. */
bool shim_in_capture(uint64_t stream);

/* ---- order.c ---- */

/* Brings the graph's nodes, in the order in which they were added, into one in which they run. */
void shim_sort_nodes(CUgraph source, CUgraphNode *nodes, size_t count);

/* ---- capturing.c ---- */

bool shim_capturing(void);                /* is any stream captured? With the lock held */
void shim_capture_ended(uint64_t stream); /* without it */
/* Without it: shim_in_capture(), which costs little where no stream is captured. */
bool shim_is_captured(uint64_t stream);

/* ---- times.c ---- */

typedef struct shim_time {  /* one launch's pair of events */
    struct shim_kind *kind; /* launches like it; NULL: none is timed */
    CUevent begin, end;
    CUcontext context;
    uint64_t stream;
    bool taken;
} shim_time;

/* Before and after the launch, without the lock. `stream` as shim_stream gives it, `records`: the launch's probes are on. */
void shim_time_begin(shim_time *time, void *function, const shim_shape *shape, uint64_t stream,
                     bool records);
/* The same for a call that copies or sets; its name is a constant. */
void shim_time_call_begin(shim_time *time, const char *api, uint64_t stream);
void shim_time_end(shim_time *time, CUresult result);
/* With the lock held: the launch got this note, the call this number, or 0, and the pair belongs to it. */
void shim_time_keep(const shim_time *time, uint32_t id);
/* Writes the times that are known by now: of one stream, or of the current context where `all`. Takes the lock. */
void shim_times_resolve(uint64_t stream, bool all);
void shim_times_gone(CUcontext context); /* with the lock held */
void shim_times_finish(void);            /* at the end of the process */

#endif
