#include "common.h"
// y = A x, A stored by columns; a warp a row, as one writes it for a matrix that is stored by rows
__global__ void matvec(const float *a, const float *x, float *y, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int j = lane; j < cols; j += 32)
        sum += a[(size_t)j * rows + row] * x[j];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}
int main()
{
    const int rows = 4096, cols = 1024; unsigned s = 1;
    std::vector<float> a((size_t)rows * cols), x(cols);
    for (int r = 0; r < rows; r++) for (int c = 0; c < cols; c++) a[(size_t)c * rows + r] = frand(s);
    for (float &v : x) v = frand(s);
    float *da = upload(a), *dx = upload(x), *dy; CHECK(cudaMalloc(&dy, rows * 4));
    matvec<<<rows / 8, 256>>>(da, dx, dy, rows, cols);
    print_sum(download(dy, rows)); cudaFree(da); cudaFree(dx); cudaFree(dy);
}
