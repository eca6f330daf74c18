// Memory on two devices in turns. Device 0 holds at most 700 KiB, device 1 at most 900 KiB; were
// they one, the most would be 1,500 KiB.
#include "common.h"

static char *take(int device, int kib)
{
    char *data;
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&data, kib * 1024));
    return data;
}

int main()
{
    char *first = take(0, 600), *second = take(1, 900);
    CHECK(cudaFree(second));
    char *third = take(0, 100), *last = take(1, 300);
    CHECK(cudaFree(first));
    CHECK(cudaFree(third));
    CHECK(cudaFree(last));
    std::printf("done\n");
}
