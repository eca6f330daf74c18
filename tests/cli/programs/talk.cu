// Copies its input to its output, writes as many megabytes as it is told, and a line from each of as many threads.
#include "common.h"

__global__ void speak()
{
    printf("thread %d\n", blockIdx.x * blockDim.x + threadIdx.x);
}

int main(int argc, char **argv)
{
    int megabytes = std::atoi(argv[1]), threads = std::atoi(argv[2]), c;
    while ((c = std::getchar()) != EOF)
        std::putchar(c);
    static char block[1 << 20];
    std::memset(block, 'x', sizeof block);
    for (int i = 0; i < megabytes; i++)
        std::fwrite(block, 1, sizeof block, stdout);
    std::fflush(stdout);
    speak<<<threads / 32, 32>>>();
    CHECK(cudaDeviceSynchronize());
    return std::atoi(argv[3]);
}
