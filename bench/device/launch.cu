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

// Between two events around so many empty kernels, in a stream that is busy until all have been launched, or has nothing else to do.
static double between_events(int kernels, long busy_nanoseconds)
{
    cudaEvent_t begin, end;
    float milliseconds;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaDeviceSynchronize());
    if (busy_nanoseconds)
        spin<<<1, 1>>>(block_cycles(), busy_nanoseconds);
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < kernels; i++)
        empty<<<1, 32>>>();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return milliseconds / 1000;
}

static double in_a_row()
{
    return between_events(500, 10000000) / 500;
}

static double timed()
{
    return between_events(1, 1000000);
}

static double timed_idle()
{
    return between_events(1, 0);
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

void launch_empty_kernels(int count)
{
    while (count-- > 0) {
        empty<<<1, 32>>>();
        CHECK(cudaDeviceSynchronize());
    }
}

const figure launch_figures[] = {
    {"launch_in_a_row", in_a_row},
    {"launch_host", host_in_a_row},
    {"launch_alone", alone},
    {"launch_timed", timed},
    {"launch_timed_idle", timed_idle},
    {"blocks_32", blocks_per_second<32>},
    {"blocks_256", blocks_per_second<256>},
    {"blocks_1024", blocks_per_second<1024>},
    {"clock", clock_rate},
    {}};
