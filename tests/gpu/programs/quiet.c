/* quiet: launches a kernel whose accesses depend on data in different situations, on the null
 * driver, and says in the driver's log which situation begins: test_quiet.py reads there what was
 * put on the streams beside the launches. */
#include "driver.h"

#include <stdbool.h>
#include <stdint.h>

static void *null;
static CUfunction kernel, another;
static CUmodule module_of_another;
static CUevent start, end;

static const char ptx[] = GATHER_PTX, same_ptx[] = GATHER_PTX "\n";

static void tell(const char *what)
{
    ((void (*)(const char *, CUstream))dlsym(null, "null_driver_tell"))(what, NULL);
}

static void behave(bool busy, bool capturing)
{
    ((void (*)(bool, bool))dlsym(null, "null_driver_behave"))(busy, capturing);
}

static void launch_kernel(CUfunction function, CUstream stream, unsigned threads)
{
    CUdeviceptr data = 0x1000;
    unsigned n = 0;
    void *params[] = {&data, &n};
    CALL(cuLaunchKernel, LAUNCH, function, 1, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

static void launch(CUstream stream, unsigned threads)
{
    launch_kernel(kernel, stream, threads);
}

static void timed(CUstream stream, unsigned threads)
{
    CALL(cuEventRecord, (CUevent, CUstream), start, stream);
    launch(stream, threads);
    CALL(cuEventRecord, (CUevent, CUstream), end, stream);
    CALL(cuEventSynchronize, (CUevent), end);
}

static void allocate(void)
{
    CUdeviceptr memory;
    CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &memory, 1 << 20);
}

static void wait_for(CUstream stream)
{
    CALL(cuStreamSynchronize, (CUstream), stream);
}

static void launches(CUstream stream, CUstream other)
{
    tell("first");
    timed(stream, 32);
    for (int i = 0; i < 3; i++) {
        tell("again");
        timed(stream, 32);
    }
    tell("another-shape");
    timed(stream, 1024);
    tell("another-stream");
    timed(other, 32);
    tell("three");
    for (int i = 0; i < 3; i++)
        launch(stream, 32);
    wait_for(stream);
    tell("three-again");
    for (int i = 0; i < 3; i++)
        launch(stream, 32);
    wait_for(stream);
    tell("more-memory");
    allocate();
    timed(stream, 32);
}

/* A kernel that was not launched yet is loaded where nothing runs and nothing is captured. */
static void loading(CUstream stream, CUstream other)
{
    CUgraph graph;
    tell("captured-elsewhere");
    CALL(cuStreamBeginCapture_v2, (CUstream, int), other, 0);
    launch_kernel(another, stream, 32);
    CALL(cuStreamEndCapture, (CUstream, CUgraph *), other, &graph);
    tell("busy-device");
    behave(true, false);
    launch_kernel(another, stream, 32);
    behave(false, false);
    tell("idle-device");
    launch_kernel(another, stream, 32);
    wait_for(stream);
}

/* Of launches that are not over, a module takes along what its own kernels recorded, and only that.
 */
static void unloading(CUstream stream)
{
    tell("unloaded");
    launch(stream, 32);
    launch(stream, 32);
    launch_kernel(another, stream, 32);
    behave(true, false);
    CALL(cuModuleUnload, (CUmodule), module_of_another);
    behave(false, false);
    wait_for(stream);
}

static void corners(CUstream stream, CUstream other)
{
    tell("captured");
    behave(false, true);
    timed(stream, 32);
    behave(false, false);
    tell("early"); /* what was launched behind the event may not be over */
    CALL(cuEventRecord, (CUevent, CUstream), start, stream);
    launch(stream, 32);
    CALL(cuEventRecord, (CUevent, CUstream), end, stream);
    launch(stream, 32);
    CALL(cuEventSynchronize, (CUevent), end);
    tell("graph"); /* which may have recorded the event, somewhere else */
    CALL(cuEventRecord, (CUevent, CUstream), start, stream);
    launch(stream, 32);
    CALL(cuEventRecord, (CUevent, CUstream), end, stream);
    CALL(cuGraphLaunch, (CUgraphExec, CUstream), (CUgraphExec)(uintptr_t)1, NULL);
    CALL(cuEventSynchronize, (CUevent), end);
    tell("sync");
    wait_for(stream);
    tell("busy"); /* from here on no event is over by itself */
    behave(true, false);
    timed(stream, 32);
    tell("not-prepared");
    allocate();
    launch(stream, 32);
    wait_for(stream);
    behave(false, false);
    unloading(stream);
    tell("destroyed");
    launch(other, 32);
    CALL(cuStreamDestroy_v2, (CUstream), other);
    tell("exit");
}

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUstream stream, other;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    null = dlopen(getenv("WARPLENS_DRIVER"), RTLD_NOW);
    if (!driver || !null)
        return 2;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuStreamCreate, (CUstream *, unsigned), &stream, 0);
    CALL(cuStreamCreate, (CUstream *, unsigned), &other, 0);
    CALL(cuEventCreate, (CUevent *, unsigned), &start, 0);
    CALL(cuEventCreate, (CUevent *, unsigned), &end, 0);
    allocate();
    CALL(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &kernel, module, "gather");
    CALL(cuModuleLoadData, (CUmodule *, const void *), &module_of_another, same_ptx);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &another, module_of_another,
         "gather");
    launches(stream, other);
    loading(stream, other);
    corners(stream, other);
    return 0;
}
