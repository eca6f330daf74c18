/* threads N: N threads launch a kernel that records what it accesses, on streams of their own and
 * on the default stream, and wait in every way; some also allocate, create streams and load
 * modules. On the null driver. Prints how often it launched. */
#include "driver.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 64, ROUNDS = 200 };

static CUcontext context;
static CUfunction kernel;

static const char ptx[] = GATHER_PTX;

static void launch(CUfunction f, CUstream stream, CUdeviceptr data)
{
    unsigned n = 0;
    void *params[] = {&data, &n};
    CALL(cuLaunchKernel, LAUNCH, f, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}

static void wait_somehow(unsigned way, CUstream stream, CUevent event)
{
    switch (way % 4) {
    case 0: CALL(cuStreamSynchronize, (CUstream), stream); break;
    case 1: CALL(cuCtxSynchronize, (void)); break;
    case 2:
        CALL(cuEventRecord, (CUevent, CUstream), event, stream);
        CALL(cuEventSynchronize, (CUevent), event);
        break;
    default: break;
    }
}

static void *work(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    CUstream stream = NULL;
    CUdeviceptr memory;
    CUevent event;
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuEventCreate, (CUevent *, unsigned), &event, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % 50 == 0 && number % 2) {
            if (stream)
                CALL(cuStreamDestroy_v2, (CUstream), stream);
            CALL(cuStreamCreate, (CUstream *, unsigned), &stream, 0);
        }
        if (i % 20 == 0 && number % 3 == 0) {
            CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &memory, 1000);
            if (i % 40 == 0)
                CALL(cuMemFree_v2, (CUdeviceptr), memory);
        }
        launch(kernel, stream, 0x1000 + i % 3 * 0x1000);
        wait_somehow(i + number, stream, event);
    }
    return NULL;
}

/* Modules come and go meanwhile. */
static void load(void)
{
    for (int i = 0; i < 10; i++) {
        CUmodule module;
        CUfunction f;
        char *copy = strdup(ptx); /* its address is the module's handle */
        CALL(cuModuleLoadData, (CUmodule *, const void *), &module, copy);
        CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &f, module, "gather");
        launch(f, NULL, 0x1000);
        CALL(cuModuleUnload, (CUmodule), module);
        free(copy);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    CUmodule module;
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver || n > MOST)
        return 2;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &kernel, module, "gather");
    for (unsigned i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
    load();
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", n * ROUNDS + 10);
    return 0;
}
