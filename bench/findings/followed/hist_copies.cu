#include "common.h"
__global__ void histogram(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned own[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) if (own[b]) atomicAdd(&bins[b], own[b]);
}
int main()
{
    const int n = 1 << 22; unsigned s = 1;
    std::vector<unsigned char> d(n); for (auto &v : d) v = (unsigned char)((next(s) >> 24) * (next(s) >> 24) >> 8);
    std::vector<unsigned> b(256); unsigned char *dd = upload(d); unsigned *db = upload(b);
    histogram<<<n / 256, 256>>>(dd, db, n);
    b = download(db, 256); std::vector<float> f(b.begin(), b.end());
    print_sum(f); cudaFree(dd); cudaFree(db);
}
