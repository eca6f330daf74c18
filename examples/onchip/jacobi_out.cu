/* The new values of a tile go through shared memory, each once; the old ones are loaded four times. */
#include "jacobi.h"

__global__ void jacobi(const float *in, float *out, int n)
{
    __shared__ float tile[HIGH][WIDE];
    const int tx = threadIdx.x, ty = threadIdx.y, pitch = n + 2;
    const int col = blockIdx.x * WIDE + tx + 1;
    for (int top = blockIdx.y * STRIP; top < blockIdx.y * STRIP + STRIP; top += HIGH) {
        const int row = top + ty + 1;
        tile[ty][tx] = 0.25f * (in[place(row - 1, col, pitch)] + in[place(row + 1, col, pitch)] + // finds: misaligned d_in (hidden), misaligned d_out (hidden), shared-thread-local tile (hidden)
                                in[place(row, col - 1, pitch)] + in[place(row, col + 1, pitch)]); // finds: misaligned d_in (hidden), misaligned d_out (hidden)
        __syncthreads();
        out[place(row, col, pitch)] = tile[ty][tx]; // finds: misaligned d_in (hidden), misaligned d_out (hidden), shared-thread-local tile (hidden)
        __syncthreads();
    }
}

int main(int argc, char **argv)
{
    return run_jacobi(argc, argv, [](dim3 grid, dim3 block, const float *in, float *out, int n) {
        jacobi<<<grid, block>>>(in, out, n);
    });
}
