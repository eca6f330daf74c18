/* Each thread that keeps something takes its place from one counter. */
#include "select.h"

__global__ void select(const float *x, int *kept, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) {
        int place = atomicAdd(count, 1); // finds: same-address d_count
        kept[place] = i; // finds: misaligned d_kept (hidden)
    }
    // never advises: Start the rows
    // advises: let one thread update d_count for all of them
}

int main(int argc, char **argv)
{
    return run_select(argc, argv, [](const float *x, int *kept, int *count, int n) {
        select<<<(n + 255) / 256, 256>>>(x, kept, count, n);
    });
}
