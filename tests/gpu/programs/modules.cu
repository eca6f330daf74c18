// Modules and libraries that come and go, in two contexts: each has variables of its own.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

#define CALL(name, ...)                                                       \
    do {                                                                      \
        auto called_ = (decltype(&name))dlsym(driver, NAME(name));           \
        CUresult result = called_ ? called_(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND; \
        if (result != CUDA_SUCCESS) {                                         \
            printf("%s: %d\n", NAME(name), (int)result);                      \
            exit(1);                                                          \
        }                                                                     \
    } while (0)
#define NAME(name) TEXT(name)
#define TEXT(name) #name

static void *driver;

// Adds to a counter of the module's as often as the data says, times a constant of its own.
static const char ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 100;
.global .align 4 .b8 cells[64];
.visible .const .align 4 .u32 factor = 3;
.visible .entry add(.param .u64 data)
{
    .reg .b64 %d<6>;
    .reg .b32 %r<6>;
    ld.param.u64 %d1, [data];
    ld.global.u32 %r1, [%d1];
    cvt.u64.u32 %d2, %r1;
    add.u64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    ld.const.u32 %r3, [factor];
    mul.lo.u32 %r2, %r2, %r3;
    atom.global.add.u32 %r4, [counter], %r2;
    mov.u64 %d4, cells+8;
    add.u64 %d4, %d4, %d2;
    st.global.u32 [%d4+-4], %r4;
    ret;
}
)";

static CUdeviceptr new_data(int step)
{
    int host[16];
    CUdeviceptr data;
    for (int i = 0; i < 16; i++)
        host[i] = i ? i * step : 8;
    CALL(cuMemAlloc, &data, sizeof host);
    CALL(cuMemcpyHtoD, data, host, sizeof host);
    return data;
}

static void launch(CUfunction function, CUdeviceptr data, bool packed)
{
    size_t bytes = sizeof data;
    void *params[] = {&data};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &data, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, NULL, packed ? NULL : params, packed ? extra : NULL);
}

static unsigned read(CUdeviceptr from)
{
    unsigned value;
    CALL(cuMemcpyDtoH, &value, from, sizeof value);
    return value;
}

static void use_module(const char *what, int factor)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr counter, constant, data = new_data(factor);
    size_t bytes;
    CALL(cuModuleLoadData, &module, ptx);
    CALL(cuModuleGetFunction, &function, module, "add");
    CALL(cuModuleGetGlobal, &counter, &bytes, module, "counter");
    CALL(cuModuleGetGlobal, &constant, &bytes, module, "factor");
    launch(function, data, false);
    CALL(cuMemcpyHtoD, constant, &factor, sizeof factor);
    launch(function, data, true);
    printf("%s: %u\n", what, read(counter));
    CALL(cuModuleUnload, module);
    CALL(cuMemFree, data);
}

int main()
{
    CUdevice device;
    CUcontext contexts[2];
    CUfunction functions[2];
    CUmodule modules[2];
    CUdeviceptr counters[2], data[2];
    size_t bytes;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return 2;
    CALL(cuInit, 0);
    CALL(cuDeviceGet, &device, 0);
    for (int i = 0; i < 2; i++) {
        CALL(cuDevicePrimaryCtxRetain, &contexts[0], device);
        if (i)
            ((CUresult(*)(CUcontext *, unsigned, CUdevice))dlsym(driver, "cuCtxCreate_v2"))(&contexts[1], 0, device);
        CALL(cuCtxSetCurrent, contexts[i]);
        use_module(i ? "second context" : "first context", 5 + i);
        use_module("again", 7 + i);
    }
    for (int i = 0; i < 2; i++) {
        CALL(cuCtxSetCurrent, contexts[i]);
        data[i] = new_data(2 + i);
        CALL(cuModuleLoadData, &modules[i], ptx);
        CALL(cuModuleGetFunction, &functions[i], modules[i], "add");
        CALL(cuModuleGetGlobal, &counters[i], &bytes, modules[i], "counter");
    }
    for (int i = 0; i < 8; i++) {
        CALL(cuCtxSetCurrent, contexts[i & 1]);
        launch(functions[i & 1], data[i & 1], i & 2);
    }
    for (int i = 0; i < 2; i++) {
        CALL(cuCtxSetCurrent, contexts[i]);
        printf("context %d: %u\n", i, read(counters[i]));
    }
    CALL(cuCtxSetCurrent, contexts[1]);
    CALL(cuCtxDestroy, contexts[1]);
    CALL(cuCtxSetCurrent, contexts[0]);
    use_module("after the second", 9);
    return 0;
}
