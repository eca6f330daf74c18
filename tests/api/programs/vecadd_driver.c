/* vecadd.cu over the driver interface: vecadd_driver FILE.ptx */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0)
        exit(2);
    fclose(file);
    return text;
}

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: %d\n", what, result);
    exit(1);
}
#define CHECK(call) check(call, #call)

int main(int argc, char **argv)
{
    static float a[N], b[2 * N], c[N];
    const float factors[2] = {2, 3};
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction vecadd;
    CUdeviceptr da, db, dc, scale, launched;
    size_t size;
    int count = 0, n = N, wrong = 0;
    if (argc != 2)
        return 2;
    for (int i = 0; i < N; i++)
        a[i] = i, b[2 * i] = i + 1;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, read_file(argv[1])));
    CHECK(cuModuleGetFunction(&vecadd, module, "vecadd"));
    CHECK(cuModuleGetGlobal(&scale, &size, module, "scale"));
    CHECK(cuModuleGetGlobal(&launched, &size, module, "launched"));
    CHECK(cuMemAlloc(&da, sizeof a));
    CHECK(cuMemAlloc(&db, sizeof b));
    CHECK(cuMemAlloc(&dc, sizeof c));
    CHECK(cuMemcpyHtoD(da, a, sizeof a));
    CHECK(cuMemcpyHtoD(db, b, sizeof b));
    CHECK(cuMemcpyHtoD(scale, factors, sizeof factors));
    void *args[] = {&da, &db, &dc, &n};
    CHECK(cuLaunchKernel(vecadd, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    CUresult error = cuCtxSynchronize();
    CHECK(cuMemcpyDtoH(c, dc, sizeof c));
    CHECK(cuMemcpyDtoH(&count, launched, sizeof count));
    for (int i = 0; i < N; i++)
        wrong += c[i] != 2 * a[i] + 3 * b[2 * i];
    printf("error %d, %d wrong, launched %d, c[999] = %.0f\n", error, wrong, count, c[999]);
    CHECK(cuMemFree(da));
    CHECK(cuMemFree(db));
    CHECK(cuMemFree(dc));
    CHECK(cuModuleUnload(module));
    return wrong != 0;
}
