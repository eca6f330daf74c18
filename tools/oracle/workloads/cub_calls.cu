/* CUB's device-wide algorithms, each on a size that fills no tile evenly. */
#include "check.h"

#include <cub/cub.cuh>

#include <vector>

static const int N = 50001;

struct less {
    __host__ __device__ bool operator()(unsigned a, unsigned b) const
    {
        return a < b;
    }
};

struct sum {
    __host__ __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return a + b;
    }
};

template <typename T> T *copied(const std::vector<T> &v)
{
    T *device;
    CHECK(cudaMalloc(&device, v.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

/* Asks how much temporary memory the algorithm needs, then runs it. */
template <typename Algorithm> void run(Algorithm algorithm)
{
    void *temporary = nullptr;
    size_t bytes = 0;
    CHECK(algorithm(temporary, bytes));
    CHECK(cudaMalloc(&temporary, bytes));
    CHECK(algorithm(temporary, bytes));
    CHECK(cudaFree(temporary));
}

int main()
{
    std::vector<unsigned> numbers(N);
    std::vector<int> offsets;
    unsigned seed = 1;
    for (unsigned &x : numbers)
        x = (seed = seed * 1664525u + 1013904223u) >> 8;
    for (int i = 0; i <= N; i += 501)
        offsets.push_back(i);
    int segments = (int)offsets.size() - 1;
    unsigned *in = copied(numbers), *out = copied(numbers), *values = copied(numbers), *sorted = copied(numbers);
    int *ends = copied(offsets), *counts = copied(std::vector<int>(N));
    unsigned char *flags = copied(std::vector<unsigned char>(N, 1));

    run([&](void *t, size_t &b) { return cub::DeviceReduce::Sum(t, b, in, out, N); });
    run([&](void *t, size_t &b) { return cub::DeviceReduce::ArgMin(t, b, in, (cub::KeyValuePair<int, unsigned> *)out, N); });
    run([&](void *t, size_t &b) { return cub::DeviceScan::ExclusiveSum(t, b, in, out, N); });
    run([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortPairs(t, b, in, sorted, values, out, N); });
    run([&](void *t, size_t &b) { return cub::DeviceRadixSort::SortKeys(t, b, in, out, 900, 0, 16); });
    run([&](void *t, size_t &b) { return cub::DeviceMergeSort::SortKeys(t, b, out, N, less()); });
    run([&](void *t, size_t &b) { return cub::DeviceSelect::Flagged(t, b, in, flags, out, counts, N); });
    run([&](void *t, size_t &b) { return cub::DeviceSelect::Unique(t, b, sorted, out, counts, N); });
    run([&](void *t, size_t &b) { return cub::DeviceRunLengthEncode::Encode(t, b, sorted, out, counts, counts + N - 1, N); });
    run([&](void *t, size_t &b) { return cub::DeviceHistogram::HistogramEven(t, b, in, counts, 65, 0u, 1u << 24, N); });
    run([&](void *t, size_t &b) { return cub::DeviceSegmentedReduce::Sum(t, b, in, out, segments, ends, ends + 1); });
    run([&](void *t, size_t &b) {
        return cub::DeviceSegmentedSort::SortKeys(t, b, in, out, N, segments, ends, ends + 1);
    });
    run([&](void *t, size_t &b) { return cub::DeviceAdjacentDifference::SubtractLeftCopy(t, b, in, out, N); });
    run([&](void *t, size_t &b) {
        return cub::DeviceReduce::ReduceByKey(t, b, sorted, out, in, values, counts, sum(), N);
    });
    CHECK(cudaDeviceSynchronize());
    return 0;
}
