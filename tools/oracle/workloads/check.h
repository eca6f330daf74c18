/* Ends a program of CUDA with a message where a call fails. */
#ifndef WL_TOOLS_ORACLE_CHECK_H
#define WL_TOOLS_ORACLE_CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                              \
    do {                                                                         \
        cudaError_t error_ = (call);                                             \
        if (error_ != cudaSuccess) {                                             \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)); \
            std::exit(2);                                                        \
        }                                                                        \
    } while (0)

#endif
