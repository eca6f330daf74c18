#include "common.h"
const int N = 16;
__global__ void multiply(const float *a, const float *x, float *y, int count)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= count) return;
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int j = 0; j < N; j++)
            sum += a[(i * N + j) * count + b] * x[j * count + b];
        y[i * count + b] = sum;
    }
}
int main()
{
    const int count = 16384; unsigned s = 1;
    std::vector<float> a(count * N * N), x(count * N); for (float &v : a) v = frand(s); for (float &v : x) v = frand(s);
    std::vector<float> t(a.size()); for (int b = 0; b < count; b++) for (int k = 0; k < N * N; k++) t[k * count + b] = a[b * N * N + k]; std::vector<float> xt(x.size()); for (int b = 0; b < count; b++) for (int k = 0; k < N; k++) xt[k * count + b] = x[b * N + k]; float *da = upload(t), *dx = upload(xt), *dy; CHECK(cudaMalloc(&dy, count * N * 4));
    multiply<<<count / 128, 128>>>(da, dx, dy, count);
    std::vector<float> o = download(dy, count * N), u(o.size()); for (int b = 0; b < count; b++) for (int k = 0; k < N; k++) u[b * N + k] = o[k * count + b]; print_sum(u); cudaFree(da); cudaFree(dx); cudaFree(dy);
}
