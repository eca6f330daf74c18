/* The tree with a word free after every 32: lanes that are a power of two apart fall into different banks. */
#include "scan.h"

__device__ int place(int i)
{
    return i + i / 32;
}

__global__ void scan(const float *values, float *sums)
{
    __shared__ float tree[EACH + EACH / 32];
    int t = threadIdx.x, first = blockIdx.x * EACH, apart = 1;
    tree[place(t)] = values[first + t];
    tree[place(t + EACH / 2)] = values[first + t + EACH / 2];
    for (int d = EACH / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            tree[place(apart * (2 * t + 2) - 1)] += tree[place(apart * (2 * t + 1) - 1)];
        apart *= 2;
    }
    if (t == 0)
        tree[place(EACH - 1)] = 0;
    for (int d = 1; d < EACH; d *= 2) {
        apart /= 2;
        __syncthreads();
        if (t < d) {
            int a = place(apart * (2 * t + 1) - 1), b = place(apart * (2 * t + 2) - 1);
            float left = tree[a];
            tree[a] = tree[b];
            tree[b] += left;
        }
    }
    __syncthreads();
    sums[first + t] = tree[place(t)] + values[first + t];
    sums[first + t + EACH / 2] = tree[place(t + EACH / 2)] + values[first + t + EACH / 2];
}

int main(int argc, char **argv)
{
    return run_scan(argc, argv, [](const float *values, float *sums, int blocks) {
        scan<<<blocks, EACH / 2>>>(values, sums);
    });
}
