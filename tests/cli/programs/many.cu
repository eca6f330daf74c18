// As many launches as it is told.
#include "common.h"

int main(int argc, char **argv)
{
    int *data;
    CHECK(cudaMalloc(&data, 4000));
    for (int i = 0; i < std::atoi(argv[1]); i++)
        fill<<<1 + i % 7, 32>>>(data, 1000, i);
    CHECK(cudaDeviceSynchronize());
    std::printf("launched\n");
    std::fflush(stdout);
}
