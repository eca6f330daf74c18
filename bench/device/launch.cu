// What starting kernels and blocks costs, and the clock that the SMs run at meanwhile.
#include "measure.h"

#include <chrono>

__global__ void empty()
{
}

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void many()
{
    for (int i = 0; i < 1000; i++)
        empty<<<1, 32>>>();
}

static double in_a_row()
{
    return seconds(many) / 1000;
}

static double host_in_a_row()
{
    many();
    CHECK(cudaDeviceSynchronize());
    double begin = now();
    many();
    CHECK(cudaDeviceSynchronize());
    return (now() - begin) / 1000;
}

static double alone()
{
    CHECK(cudaDeviceSynchronize());
    double begin = now();
    for (int i = 0; i < 200; i++) {
        empty<<<1, 32>>>();
        CHECK(cudaDeviceSynchronize());
    }
    return (now() - begin) / 200;
}

__global__ void spin(uint64_t *out, long nanoseconds)
{
    uint64_t begin, end, ticks = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    while (end < begin + nanoseconds);
    out[0] = 0;
    out[1] = (clock64() - ticks) * 1000000000 / (end - begin);
}

// One empty kernel between two events, in a stream that is busy meanwhile or has nothing else to do.
template <bool busy> static double timed()
{
    cudaEvent_t begin, end;
    float milliseconds;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaDeviceSynchronize());
    if (busy)
        spin<<<1, 1>>>(block_cycles(), 1000000);
    CHECK(cudaEventRecord(begin));
    empty<<<1, 32>>>();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return milliseconds / 1000;
}

template <int threads> static void blocks()
{
    empty<<<1 << 20, threads>>>();
}

template <int threads> static double blocks_per_second()
{
    return (1 << 20) / seconds(blocks<threads>);
}

static double clock_rate()
{
    spin<<<1, 1>>>(block_cycles(), 20000000);
    return cycles();
}

const figure launch_figures[] = {
    {"launch_in_a_row", in_a_row},
    {"launch_host", host_in_a_row},
    {"launch_alone", alone},
    {"launch_timed", timed<true>},
    {"launch_timed_idle", timed<false>},
    {"blocks_32", blocks_per_second<32>},
    {"blocks_256", blocks_per_second<256>},
    {"blocks_1024", blocks_per_second<1024>},
    {"clock", clock_rate},
    {}};
