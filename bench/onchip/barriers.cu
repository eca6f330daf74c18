/* How long barriers take where several blocks of a multiprocessor wait at theirs: for docs/model.md.
 *
 *     nvcc -O3 -arch=native -o barriers bench/onchip/barriers.cu && ./barriers > bench/onchip/barriers.csv
 *
 * Each block waits ROUNDS times; a round's clocks, and those for each warp, at the highest clock rate. */
#include <cstdio>

constexpr int ROUNDS = 20000, MOST_THREADS = 2048;

__global__ void wait_at_barriers(int rounds, int *out)
{
    for (int i = 0; i < rounds; i++)
        asm volatile("bar.sync 0;");
    if (out)
        *out = rounds;
}

static double clocks_of_round(int blocks, int threads)
{
    int khz, device;
    float ms;
    cudaEvent_t begin, end;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    wait_at_barriers<<<blocks, threads>>>(100, nullptr);
    cudaEventRecord(begin);
    wait_at_barriers<<<blocks, threads>>>(ROUNDS, nullptr);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    return ms * khz / ROUNDS;
}

int main()
{
    int sms;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    std::printf("threads,blocks_of_sm,clocks_of_round,clocks_of_warp\n");
    for (int threads = 32; threads <= 1024; threads *= 2)
        for (int blocks = 1; blocks <= 32 && blocks * threads <= MOST_THREADS; blocks *= 2) {
            double clocks = clocks_of_round(sms * blocks, threads);
            std::printf("%d,%d,%.2f,%.3f\n", threads, blocks, clocks, clocks / (blocks * threads / 32.0));
        }
}
