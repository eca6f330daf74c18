/* Ends a program of CUDA with a message where a call fails. */
#ifndef WL_TESTS_SUPPORT_ENDS_H
#define WL_TESTS_SUPPORT_ENDS_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                     \
    do {                                                                \
        cudaError_t e_ = (call);                                        \
        if (e_ != cudaSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_)); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

#endif
