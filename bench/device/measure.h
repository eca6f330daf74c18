// What the figures have in common: a device's memory, a launch that is timed, the cycles of a block.
#ifndef BENCH_DEVICE_MEASURE_H
#define BENCH_DEVICE_MEASURE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                       \
    do {                                                                  \
        cudaError_t error = (call);                                       \
        if (error != cudaSuccess) {                                       \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                    cudaGetErrorName(error));                             \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

// A row of what is measured, by its key in src/cuda/figures.def. `measure` runs once; main calls it several times.
struct figure {
    const char *key;
    double (*measure)();
};

extern const figure latency_figures[], pipe_figures[], memory_figures[], atomic_figures[],
    launch_figures[];

int multiprocessors();
uint8_t *memory(
    size_t
        bytes); // device memory, zeroed when it was new; the same at each call, larger where that is asked for
void launch_empty_kernels(int count); // each when the one before it has ended
uint64_t *block_cycles();             // two words on the device: begin and end
double cycles();                      // what a kernel left there
double seconds(void (*launch)());     // on the device, of one launch; a launch before it warms up

// From the first thread's begin to the last one's end, on one SM's clock.
struct block_timer {
    uint64_t *out;
    __device__ void start(uint64_t *cycles)
    {
        out = cycles;
        if (threadIdx.x == 0) {
            out[0] = UINT64_MAX;
            out[1] = 0;
        }
        __syncthreads();
        begin = clock64();
    }
    __device__ void stop()
    {
        uint64_t end = clock64();
        atomicMin((unsigned long long *)&out[0], (unsigned long long)begin);
        atomicMax((unsigned long long *)&out[1], (unsigned long long)end);
    }
    uint64_t begin;
};

#endif
