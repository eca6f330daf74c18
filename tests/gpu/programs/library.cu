// Libraries of the runtime (CUDA 12.8 and later): code that is loaded while the program runs, its kernels and variables.
#include "check.h"

#include <cstdio>

static const char ptx[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
                          ".visible .const .align 4 .u32 step;\n"
                          ".visible .entry add_step(.param .u64 p)\n{\n"
                          "  .reg .b32 r<6>; .reg .b64 d<4>;\n"
                          "  ld.param.u64 d1, [p]; mov.u32 r1, %tid.x; mul.wide.u32 d2, r1, 4; add.s64 d3, d1, d2;\n"
                          "  ld.const.u32 r2, [step]; ld.global.u32 r3, [d3]; add.u32 r4, r3, r2;\n"
                          "  st.global.u32 [d3], r4; ret;\n}\n";

__global__ void own(int *data)
{
    data[threadIdx.x] *= 2;
}

int main()
{
    int *data, host[64], step = 5;
    void *variable;
    size_t bytes;
    unsigned count;
    cudaLibrary_t library;
    cudaKernel_t kernel, listed[4];
    CHECK(cudaMalloc(&data, sizeof host));
    CHECK(cudaMemset(data, 0, sizeof host));
    CHECK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernelCount(&count, library));
    CHECK(cudaLibraryEnumerateKernels(listed, count, library));
    CHECK(cudaLibraryGetGlobal(&variable, &bytes, library, "step"));
    CHECK(cudaMemcpy(variable, &step, sizeof step, cudaMemcpyHostToDevice));
    CHECK(cudaLibraryGetKernel(&kernel, library, "add_step"));
    void *args[] = {&data};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(64), args, 0, 0));
    own<<<1, 64>>>(data);
    CHECK(cudaLaunchKernel((const void *)listed[0], dim3(1), dim3(64), args, 0, 0));
    CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    printf("%u kernel, variable of %zu bytes, %d %d\n", count, bytes, host[0], host[63]);
    CHECK(cudaLibraryUnload(library));
    CHECK(cudaFree(data));
    return 0;
}
