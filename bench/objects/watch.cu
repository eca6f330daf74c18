/* Put into a program by the linker (--wrap), before calls of the runtime that it makes: the time that its kernels take
 * on the device, and the most memory that the device had in use, are printed when it ends. The program's sources stay
 * as they are.
 *
 * Before each kernel another one keeps the stream busy, until the events around the kernel are on it, too: so what
 * passes between them is the device's time, and not the host's. */
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include <cuda_runtime.h>

namespace
{
constexpr unsigned long long HOLD_NS = 60000;

struct launch {
    cudaEvent_t begin, end;
    bool first; /* of its kernel: the driver loads it, and what prepares it on the host may wait for the device */
};

std::vector<launch> launches;
std::set<const void *> known; /* kernels that were launched before */
size_t before, least; /* bytes that are free: before the first allocation; the least since */
bool watching, holding;

void print()
{
    double ms = 0, later = 0;
    cudaDeviceSynchronize();
    for (const launch &l : launches) {
        float one = 0;
        if (cudaEventElapsedTime(&one, l.begin, l.end) == cudaSuccess)
            ms += one, later += l.first ? 0 : one;
    }
    std::printf("kernels %.6f\nlater %.6f\nlaunches %zu\nin_use %zu\n", ms, later, launches.size(), before - least);
}

void look_at_memory()
{
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess)
        return;
    if (!watching) {
        watching = true;
        before = least = free;
        std::atexit(print);
    }
    least = free < least ? free : least;
}
} // namespace

__global__ void bench_hold(unsigned long long ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

extern "C" cudaError_t __real_cudaMalloc(void **memory, size_t bytes);

extern "C" cudaError_t __wrap_cudaMalloc(void **memory, size_t bytes)
{
    look_at_memory();
    cudaError_t error = __real_cudaMalloc(memory, bytes);
    look_at_memory();
    return error;
}

/* What a launch in the program's source calls: this one since CUDA 13, cudaLaunchKernel before. */
#if CUDART_VERSION >= 13000
#define LAUNCH __cudaLaunchKernel
using kernel_type = cudaKernel_t;
#else
#define LAUNCH cudaLaunchKernel
using kernel_type = const void *;
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

extern "C" cudaError_t JOIN(__real_, LAUNCH)(kernel_type kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                             cudaStream_t stream);

extern "C" cudaError_t JOIN(__wrap_, LAUNCH)(kernel_type kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                             cudaStream_t stream)
{
    launch l;
    if (holding || cudaEventCreate(&l.begin) != cudaSuccess || cudaEventCreate(&l.end) != cudaSuccess)
        return JOIN(__real_, LAUNCH)(kernel, grid, block, arguments, shared, stream);
    holding = true;
    l.first = known.insert((const void *)kernel).second;
    bench_hold<<<1, 1, 0, stream>>>(HOLD_NS);
    holding = false;
    cudaEventRecord(l.begin, stream);
    cudaError_t error = JOIN(__real_, LAUNCH)(kernel, grid, block, arguments, shared, stream);
    cudaEventRecord(l.end, stream);
    launches.push_back(l);
    return error;
}
