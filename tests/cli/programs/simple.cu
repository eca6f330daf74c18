// Two kernels, one of them from a template, on a few streams and threads.
#include "common.h"
#include <thread>
#include <vector>

template <typename T> __global__ void scale(T *data, T factor, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = data[i] * factor;
}

int main(int argc, char **argv)
{
    int n = 10000;
    std::vector<int *> data(4);
    std::vector<std::thread> threads;
    for (int *&d : data)
        d = filled(n, 0);
    for (int *d : data)
        threads.emplace_back([=] {
            cudaStream_t stream;
            CHECK(cudaStreamCreate(&stream));
            scale<int><<<20, 96, 0, stream>>>(d, 1, n);
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaStreamDestroy(stream));
        });
    for (std::thread &t : threads)
        t.join();
    bool right = true;
    for (int *d : data)
        right &= is_filled(d, n, 0);
    std::printf("%s\n", right ? "ok" : "wrong");
    return right ? 0 : 1;
}
