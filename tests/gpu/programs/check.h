#ifndef TESTS_GPU_PROGRAMS_CHECK_H
#define TESTS_GPU_PROGRAMS_CHECK_H

#include <cstdio>

/* In functions that return 0 where all went well. */
#define CHECK(call)                                              \
    do {                                                         \
        cudaError_t e = (call);                                  \
        if (e != cudaSuccess) {                                  \
            std::printf("%s: %s\n", #call, cudaGetErrorName(e)); \
            return 1;                                            \
        }                                                        \
    } while (0)

#if CUDART_VERSION < 12000
#define INSTANTIATE(exec, graph) cudaGraphInstantiateWithFlags(exec, graph, 0)
#else
#define INSTANTIATE(exec, graph) cudaGraphInstantiate(exec, graph, 0)
#endif

#endif
