/* A block adds up a tree of partial sums and spreads them again: the lanes are ever further apart in shared memory, and collide. */
#include "scan.h"

__global__ void scan(const float *values, float *sums)
{
    __shared__ float tree[EACH];
    int t = threadIdx.x, first = blockIdx.x * EACH, apart = 1;
    tree[t] = values[first + t];
    tree[t + EACH / 2] = values[first + t + EACH / 2];
    for (int d = EACH / 2; d > 0; d /= 2) { // never advises: half as large in each step
        __syncthreads();
        if (t < d)
            tree[apart * (2 * t + 2) - 1] += tree[apart * (2 * t + 1) - 1]; // finds: bank-conflict tree
        apart *= 2;
    }
    if (t == 0)
        tree[EACH - 1] = 0;
    for (int d = 1; d < EACH; d *= 2) {
        apart /= 2;
        __syncthreads();
        if (t < d) {
            int a = apart * (2 * t + 1) - 1, b = apart * (2 * t + 2) - 1;
            float left = tree[a]; // finds: bank-conflict tree
            tree[a] = tree[b];    // finds: bank-conflict tree
            tree[b] += left;      // finds: bank-conflict tree
        }
    }
    __syncthreads(); // advises: an element free after every 128 bytes
    sums[first + t] = tree[t] + values[first + t];
    sums[first + t + EACH / 2] = tree[t + EACH / 2] + values[first + t + EACH / 2];
}

int main(int argc, char **argv)
{
    return run_scan(argc, argv, [](const float *values, float *sums, int blocks) {
        scan<<<blocks, EACH / 2>>>(values, sums);
    });
}
