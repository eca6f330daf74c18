/* Every turn allocates, and none frees. */
#include "turns.h"

int main(int argc, char **argv)
{
    return run_turns(argc, argv, [](float *data, int n) {
        float *half;
        CHECK(cudaMalloc(&half, n * sizeof(float))); // finds: leak half, redundant-allocation half
        half_of<<<(n + 255) / 256, 256>>>(data, half, n);
        add<<<(n + 255) / 256, 256>>>(data, half, n);
    });
}
