/* cubins load FILE KERNEL [TIMES] | link PTX KERNEL [TIMES] | compile PTX KERNEL OPTION=VALUE... |
 * set FILE KERNEL VARIABLE NUMBER: loads a cubin, or what linking the PTX gives, or the PTX with
 * options of the compiler by their numbers, and launches a kernel of it; once more after it has
 * written the number to the variable. */
#include "driver.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static char *read_file(const char *path, size_t *size)
{
    char *data = calloc(1, 1 << 20);
    FILE *file = fopen(path, "rb");
    if (!file || !data)
        exit(2);
    *size = fread(data, 1, (1 << 20) - 1, file);
    fclose(file);
    return data;
}

static CUmodule compile(const void *image, int count, char **words)
{
    enum { MOST = 16 };
    CUjit_option options[MOST];
    void *values[MOST];
    CUmodule module;
    for (int i = 0; i < count && i < MOST; i++) {
        char *value;
        options[i] = (CUjit_option)strtol(words[i], &value, 10);
        values[i] = (void *)strtoul(value + 1, NULL, 10);
    }
    CALL(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **), &module,
         image, (unsigned)count, options, values);
    return module;
}

static void set_variable(CUmodule module, const char *name, const char *number)
{
    CUdeviceptr at;
    size_t bytes;
    unsigned value = (unsigned)strtoul(number, NULL, 10);
    CALL(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &at, &bytes,
         module, name);
    CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), at, &value, sizeof value);
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUlinkState state;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr data;
    size_t size;
    unsigned n = 7;
    void *params[] = {&data, &n};
    bool compiles = argc > 4 && strcmp(argv[1], "compile") == 0;
    int times = argc == 5 && !compiles ? atoi(argv[4]) : 1;
    if (argc < 4 || !(driver = dlopen("libcuda.so.1", RTLD_NOW)))
        return 2;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &data, 4096);
    void *image = read_file(argv[2], &size);
    if (strcmp(argv[1], "link") == 0) {
        CALL(cuLinkCreate_v2, (unsigned, void *, void **, CUlinkState *), 0, NULL, NULL, &state);
        CALL(cuLinkAddData_v2,
             (CUlinkState, int, void *, size_t, const char *, unsigned, void *, void **), state,
             CU_JIT_INPUT_PTX, image, size + 1, "some.ptx", 0, NULL, NULL);
        CALL(cuLinkComplete, (CUlinkState, void **, size_t *), state, &image, &size);
    }
    if (compiles)
        module = compile(image, argc - 4, argv + 4);
    else
        CALL(cuModuleLoadData, (CUmodule *, const void *), &module, image);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &kernel, module, argv[3]);
    for (int i = 0; i < times; i++)
        CALL(cuLaunchKernel, LAUNCH, kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    if (argc == 6 && strcmp(argv[1], "set") == 0) {
        set_variable(module, argv[4], argv[5]);
        CALL(cuLaunchKernel, LAUNCH, kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    }
    CALL(cuCtxSynchronize, (void));
    printf("launched %s\n", argv[3]);
    return 0;
}
