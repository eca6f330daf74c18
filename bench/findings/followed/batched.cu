#include "common.h"
const int N = 16;
__global__ void multiply(const float *a, const float *x, float *y, int count)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= count) return;
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int j = 0; j < N; j++)
            sum += a[(b * N + i) * N + j] * x[b * N + j];
        y[b * N + i] = sum;
    }
}
int main()
{
    const int count = 16384; unsigned s = 1;
    std::vector<float> a(count * N * N), x(count * N); for (float &v : a) v = frand(s); for (float &v : x) v = frand(s);
    float *da = upload(a), *dx = upload(x), *dy; CHECK(cudaMalloc(&dy, count * N * 4));
    multiply<<<count / 128, 128>>>(da, dx, dy, count);
    print_sum(download(dy, count * N)); cudaFree(da); cudaFree(dx); cudaFree(dy);
}
