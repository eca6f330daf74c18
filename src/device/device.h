/* The device layer: what CUDA's runtime and driver interfaces share when the emulator stands in for
 * the GPU.
 *
 * A front end (api/runtime, api/driver) converts arguments, calls here, and converts the result.
 * The core owns devices, contexts, memory, modules, streams, events, graphs, launches and the
 * recording of calls.
 *
 * Results are numbers as in cudaError_t; those of CUresult are the same wherever both interfaces
 * have the error. Results that only the runtime has are listed at dev_result: the driver front end
 * passes what it returns through dev_driver_result().
 *
 * Work executes when it is enqueued, in program order, unless an earlier host function of the
 * stream is still running: all that a program can observe is then legal CUDA.
 *
 * Locking: dev_begin() takes the one lock of this layer, dev_end() releases it. Every other
 * function is called in between, unless it says otherwise. Host functions of streams run without
 * the lock, on a thread of their own.
 *
 * Ownership: all handles belong to the core. A handle that the application gives is checked with
 * dev_is() before it is used; destroyed or foreign handles give DEV_INVALID_HANDLE.
 *
 * The headers that this one names are all that other rooms may include; impl.h is the inside. */
#ifndef WL_DEVICE_DEVICE_H
#define WL_DEVICE_DEVICE_H

#include "device/array.h"
#include "device/call.h"
#include "device/context.h"
#include "device/graph.h"
#include "device/memory.h"
#include "device/module.h"
#include "device/stream.h"

#endif
