/* Transposes a matrix with three kernels and checks the results: transpose_demo [--skip-kernel]
 *
 * The kernels come from transpose.ptx, which is compiled from transpose.cu. */
#include "driver.h"

#include <stdbool.h>
#include <string.h>

enum { N = 512, TILE = 32, ROWS = 8 };

static float in[N][N], out[N][N];

static bool is_transposed(void)
{
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            if (out[x][y] != in[y][x])
                return false;
    return true;
}

static bool run(CUmodule module, const char *name, CUdeviceptr d_out, CUdeviceptr d_in, bool launch)
{
    CUfunction kernel;
    int n = N;
    void *arguments[] = {&d_out, &d_in, &n};
    CHECK(cuModuleGetFunction(&kernel, module, name));
    CHECK(cuMemsetD8_v2(d_out, 0, sizeof out));
    if (launch)
        CHECK(cuLaunchKernel(kernel, N / TILE, N / TILE, 1, TILE, ROWS, 1, 0, NULL, arguments,
                             NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(out, d_out, sizeof out));
    bool right = is_transposed();
    printf("%s: %s\n", name, right ? "ok" : "wrong");
    return right;
}

int main(int argc, char **argv)
{
    bool launch = !(argc > 1 && strcmp(argv[1], "--skip-kernel") == 0);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr d_in, d_out;
    char name[100];
    for (int i = 0; i < N * N; i++)
        in[i / N][i % N] = (float)i;
    driver_open();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, DEMO_PTX));
    CHECK(cuMemAlloc_v2(&d_in, sizeof in));
    CHECK(cuMemAlloc_v2(&d_out, sizeof out));
    CHECK(cuMemcpyHtoD_v2(d_in, in, sizeof in));
    printf("running on %s\n", name);
    bool right = run(module, "transpose_naive", d_out, d_in, launch);
    right &= run(module, "transpose_shared", d_out, d_in, launch);
    right &= run(module, "transpose_padded", d_out, d_in, launch);
    CHECK(cuMemFree_v2(d_in));
    CHECK(cuMemFree_v2(d_out));
    return right ? 0 : 1;
}
