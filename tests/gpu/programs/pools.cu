/* Tensors in a pool that announces them, accessed through indices that only memory knows; between launches tensors are given
 * back, and others lie where they lay. */
#include "../../../include/warplens/annotate.h"

#include <cstdio>
#include <cuda_runtime.h>

constexpr int N = 2048, THREADS = 256;

__global__ void fill(int *index, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    index[i] = i * step % N;
}

/* Of two tensors that lie side by side, the first is read in order, the second where the index says. */
__global__ void gather(const int *index, const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + from[N + index[i]];
}

int main()
{
    const size_t bytes = N * sizeof(int);
    int *pool, got[N];
    cudaMalloc(&pool, 8 * bytes);
    cudaMemset(pool, 0, 8 * bytes);
    warplens_pool(pool, 8 * bytes, "pool");
    for (int round = 0; round < 3; round++) {
        int *index = pool, *from = pool + N, *far = pool + 2 * N, *to = pool + (4 + round) * N;
        warplens_alloc(index, bytes, "index", sizeof(int));
        warplens_alloc(from, bytes, "from", sizeof(int));
        warplens_alloc(far, bytes, "far", sizeof(int));
        if (round != 1) /* in the second round it is the pool itself that is written to */
            warplens_alloc(to, bytes, "to", sizeof(int));
        fill<<<N / THREADS, THREADS>>>(index, 2 * round + 3);
        gather<<<N / THREADS, THREADS>>>(index, from, to);
        cudaDeviceSynchronize();
        if (round != 1)
            warplens_free(to);
        warplens_free(far);
        warplens_free(from);
        warplens_free(index);
    }
    cudaMemcpy(got, pool + 6 * N, bytes, cudaMemcpyDeviceToHost);
    std::printf("%d\n", got[5]);
    return cudaFree(pool);
}
