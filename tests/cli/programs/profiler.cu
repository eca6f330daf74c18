// Launches of three sizes; the second one stands between the profiler's start and stop.
#include "common.h"

extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

int main()
{
    int *data = filled(1000, 0);
    CHECK(cudaProfilerStart());
    fill<<<2, 128>>>(data, 200, 5);
    fill<<<2, 128>>>(data, 200, 0);
    CHECK(cudaProfilerStop());
    fill<<<3, 128>>>(data, 300, 0);
    std::printf("%s\n", is_filled(data, 1000, 0) ? "ok" : "wrong");
}
