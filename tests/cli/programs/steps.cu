// `steps N`: N launches, and after every twentieth how many are complete, for whoever kills it.
#include "common.h"

int main(int argc, char **argv)
{
    int *data = filled(1000, 0);
    for (int i = 2; i <= std::atoi(argv[1]); i++) {
        fill<<<1 + i % 7, 32>>>(data, 1000, i);
        if (i % 20)
            continue;
        CHECK(cudaDeviceSynchronize());
        std::printf("launches %d\n", i);
        std::fflush(stdout);
    }
}
