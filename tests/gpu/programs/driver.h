/* What programs on the driver API share: the driver, taken at run time, and a call of it that must
 * succeed. */
#ifndef TESTS_GPU_PROGRAMS_DRIVER_H
#define TESTS_GPU_PROGRAMS_DRIVER_H

#include "cuda/types.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *driver; /* main opens it */

#define CALL(name, types, ...)                                                        \
    do {                                                                              \
        CUresult(*function_) types = (CUresult(*) types)dlsym(driver, #name);         \
        CUresult result_ = function_ ? function_(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND; \
        if (result_ != CUDA_SUCCESS) {                                                \
            printf(#name ": %d\n", (int)result_);                                     \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

/* Arguments of cuLaunchKernel, for CALL. */
#define LAUNCH                                                                                   \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
     void **, void **)

/* A kernel whose accesses depend on data. */
#define GATHER_PTX                                                                \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                             \
    ".visible .entry gather(.param .u64 p, .param .u32 n)\n{\n"                   \
    ".reg .b64 %d<5>;\n"                                                          \
    "ld.param.u64 %d1, [p];\nld.global.u64 %d2, [%d1];\nadd.u64 %d3, %d1, %d2;\n" \
    "ld.global.u64 %d4, [%d3];\nst.global.u64 [%d1], %d4;\nret;\n}\n"

#endif
