// Asks for more device memory than there is, and goes on.
#include "common.h"

int main()
{
    void *huge = nullptr;
    cudaError_t error = cudaMalloc(&huge, static_cast<size_t>(1) << 44);
    std::printf("%s\n", cudaGetErrorName(error));
    cudaGetLastError();
    int *data = filled(1000, 3);
    std::printf("%s\n", is_filled(data, 1000, 3) ? "ok" : "wrong");
    return error == cudaErrorMemoryAllocation ? 0 : 1;
}
