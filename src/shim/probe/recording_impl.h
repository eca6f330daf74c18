/* Memory on the device that launches with probes record into: what rewrite/layout.h calls a state.
 * All with rec_g.lock held.
 *
 * A recording is in one of three lists:
 *     idle      memory that nobody uses
 *     ready     zeroed and filled for the next launch of its kernel
 *     pending   of a launch that was made and was not read yet
 * What prepares and reads it runs on a stream of our own, one a context, that waits for no other
 * stream and no other for it: on the launch's stream nothing lies beside the launch. */
#ifndef WL_SHIM_PROBE_RECORDING_IMPL_H
#define WL_SHIM_PROBE_RECORDING_IMPL_H

#include "shim/probe/impl.h"

typedef struct probe_recording {
    CUcontext context;
    CUdeviceptr address;
    uint64_t bytes;
    uint64_t
        zeroed; /* the first so many are, but for the head and the ranges that `layout` tells */
    CUevent prepared;     /* after the preparation */
    bool is_prepared;     /* that has come */
    CUevent done;         /* after the launch, where `marked` */
    bool marked;          /* `done` was recorded */
    bool covered;         /* it, or that of a later launch on the stream */
    bool over, failed;    /* the launch is, in whatever way; the device failed */
    probe_kernel *kernel; /* NULL: it went */
    rewrite_setup setup;
    rewrite_layout layout;
    rewrite_state head; /* as it was filled */
    uint64_t objects_version;
    wl_vec(rewrite_object) objects;  /* of the setup */
    wl_vec(uint32_t) numbers;        /* of the objects in the capture */
    wl_vec(rewrite_object) left_out; /* of the setup */
    uint64_t pointers[REWRITE_SLOTS];
    uint64_t blocks[REWRITE_MAX_BLOCKS];
    uint32_t note;
    uint64_t stream, number; /* of the launch; numbers ascend over all of them */
    struct probe_recording *prev, *next, *sibling; /* sibling: in the kernel's list of ready ones */
} probe_recording;

/* What a launch needs of one. */
typedef struct probe_need {
    probe_kernel *kernel;
    uint64_t blocks;
    uint32_t threads[3]; /* of a block */
    uint32_t rows, ntraced, shared_bytes;
    const uint64_t *traced; /* [ntraced], at most REWRITE_MAX_BLOCKS */
    const uint64_t
        *pointers; /* [REWRITE_SLOTS]: what the pointers that the kernel's slots name lead to */
} probe_need;

/* ---- lists; the latest last ---- */

void probe_list_append(probe_recording **list, probe_recording *r);
void probe_list_take(probe_recording **list, probe_recording *r);

/* ---- recording.c: before the launch ---- */

/* Bytes of the device's memory that recording may take (--device-memory). */
uint64_t probe_most_memory(void);

/* One that is filled, or will be before the stream goes on. NULL: there is none; *full: since that
 * would take more memory than --device-memory, else since the driver refused what it takes. */
probe_recording *probe_recording_take(const probe_need *need, uint64_t stream, bool *full);
/* What the kernel is told of it, with a grid of that width in x. */
void probe_recording_tell(const probe_recording *r, uint32_t width, rewrite_param *out);
/* The launch was not made. */
void probe_recording_give_back(probe_recording *r);
/* One that was read becomes ready for the kernel's next launch like this one if the next is to
 * record, else idle. */
void probe_recording_renew(probe_recording *r);
/* Waits a little for what was prepared, so that it does not fall into the time of the program's
 * next kernels; not longer, since a kernel that keeps the device busy may be waiting for the
 * program. */
void probe_recordings_settle(CUcontext context);

/* Takes out of the lists what is ready or idle: in_driver, memory is given back, too. */
void probe_recordings_gone(CUcontext context);
void probe_recordings_forget(const probe_module *probed); /* its kernels' ready ones become idle */
void probe_recording_free(probe_recording *r, bool in_driver);

/* ---- reading.c: after it ---- */

void probe_recording_launched(probe_recording *r, uint32_t note, uint64_t stream);
/* Makes room: reads what is over of the current context; of what lies on the stream, an event will
 * tell when it is. */
void probe_recordings_read(CUcontext context, uint64_t stream);
/* Before the module is unloaded: the last chance to read what its kernels recorded. What is not
 * over is dropped. */
void probe_recordings_last(const probe_module *m);

#endif
