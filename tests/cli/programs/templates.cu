// A kernel whose name is some thousands of characters long.
#include "common.h"

template <typename A, typename B> struct a_pair_with_a_name_of_some_length {
};

template <int N> struct nested {
    using type = a_pair_with_a_name_of_some_length<typename nested<N - 1>::type, int[N]>;
};

template <> struct nested<0> {
    using type = float;
};

template <typename T> __global__ void column(int *data, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    if (i < n)
        data[i] += static_cast<int>(sizeof(T));
}

int main()
{
    int *data = filled(1 << 16, 0);
    column<nested<60>::type><<<8, 256>>>(data, 1 << 16);
    CHECK(cudaDeviceSynchronize());
    std::printf("ok\n");
}
