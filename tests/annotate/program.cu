/* A pool that is annotated from three translation units; its parts are used by a kernel, a set and a copy. */
#include <cstdio>
#include <cuda_runtime.h>
#include <warplens/annotate.h>

extern "C" void annotate_in_c(char *block, size_t bytes);
extern "C" void annotate_in_cpp(char *block, size_t bytes);

__global__ void twice(const int *from, int *to)
{
    to[threadIdx.x] = 2 * from[threadIdx.x];
}

int main()
{
    const size_t kib = 1024;
    char *block;
    int got[64] = {};
    cudaMalloc(&block, 16 * kib);
    warplens_pool(block, 16 * kib, "block");
    warplens_alloc(block, 4 * kib, "input", sizeof(int));
    annotate_in_c(block + 4 * kib, kib);
    annotate_in_cpp(block + 8 * kib, kib);
    warplens_alloc(reinterpret_cast<void *>(64), 16, "nowhere", 0); /* is left out, and told */
    cudaMemset(block, 1, 4 * kib);
    warplens_range_push("step");
    warplens_range_push("twice");
    warplens_range_pop();
    twice<<<1, 64>>>(reinterpret_cast<int *>(block), reinterpret_cast<int *>(block + 4 * kib));
    warplens_range_pop();
    cudaMemcpy(got, block + 4 * kib, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(block); /* and all that lies in it */
    std::printf("%d %d\n", got[63], cudaGetLastError());
    return 0;
}
