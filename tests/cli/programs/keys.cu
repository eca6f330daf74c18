// What has a key: kernels of several kinds, objects of one place and of several, a finding. test_cli.py
// builds it twice, the second time elsewhere and with lines put in at every mark.
// here
#include "common.h"

// here
template <typename T> __global__ void spread(T *out)
{
    __shared__ T tile[128]; // here
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[(blockIdx.x * 128 + threadIdx.x) * 33] = tile[threadIdx.x ^ 1]; // here
}

namespace {
__global__ void hidden(float *out)
{
    out[threadIdx.x] = 1; // here
}
} // namespace

// here
static __global__ void local(float *out)
{
    out[threadIdx.x] = 2;
}

template <typename T> static T *room(int n)
{
    T *data;
    CHECK(cudaMalloc(&data, n * sizeof(T))); // here
    return data;
}

int main()
{
    float *first = room<float>(8 * 128 * 33), *second = room<float>(128); // here
    double *third;
    CHECK(cudaMalloc(&third, 8 * 128 * 33 * sizeof *third));
    // here
    spread<<<8, 128>>>(first);
    spread<<<8, 128>>>(third);
    hidden<<<1, 128>>>(second);
    local<<<1, 128>>>(second);
    CHECK(cudaDeviceSynchronize());
}
