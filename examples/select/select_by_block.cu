/* Lanes are counted by a ballot, warps in shared memory, and one thread takes the block's places. */
#include "select.h"

__global__ void select(const float *x, int *kept, int *count, int n)
{
    __shared__ int used, first;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, place = 0;
    if (threadIdx.x == 0)
        used = 0;
    __syncthreads();
    bool keep = i < n && x[i] > 0;
    unsigned all = __ballot_sync(0xffffffff, keep);
    if (lane == 0)
        place = atomicAdd(&used, __popc(all));
    place = __shfl_sync(0xffffffff, place, 0) + __popc(all & ((1u << lane) - 1));
    __syncthreads();
    if (threadIdx.x == 0)
        first = atomicAdd(count, used);
    __syncthreads();
    if (keep)
        kept[first + place] = i; // finds: misaligned d_kept (hidden)
    // advises: An atomic update tells where these accesses to d_kept begin
    // never advises: Start the rows
}

int main(int argc, char **argv)
{
    return run_select(argc, argv, [](const float *x, int *kept, int *count, int n) {
        select<<<(n + 255) / 256, 256>>>(x, kept, count, n);
    });
}
