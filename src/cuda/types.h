/* The types of both CUDA APIs. */
#ifndef WL_CUDA_TYPES_H
#define WL_CUDA_TYPES_H

#include "cuda/driver_types.h"
#include "cuda/runtime_types.h"

#endif
