#include "common.h"
__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
int main()
{
    const int n = 2048; unsigned s = 1;
    std::vector<float> a((size_t)n * n); for (float &v : a) v = frand(s);
    float *da = upload(a), *db; CHECK(cudaMalloc(&db, a.size() * 4));
    transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(da, db, n);
    print_sum(download(db, a.size())); cudaFree(da); cudaFree(db);
}
