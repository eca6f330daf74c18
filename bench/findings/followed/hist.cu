#include "common.h"
__global__ void histogram(const unsigned char *data, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i]], 1u);
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
