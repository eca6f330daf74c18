/* Copies and sets as both interfaces ask for them: on a stream as the application gave it. */
#ifndef WL_API_BOTH_COPY_H
#define WL_API_BOTH_COPY_H

#include "cuda/driver_types.h"
#include "device/device.h"

/* A side of a copy of bytes. What the caller says of it is checked; ANYWHERE is found out. */
typedef enum api_where { ANYWHERE, ON_HOST, ON_DEVICE } api_where;
dev_place api_place(api_where where, uint64_t address);

/* `blocking`: the call returns after the work (cudaMemcpy as against cudaMemcpyAsync). */
dev_result api_copy(dev_call *call, CUstream stream, bool per_thread, const dev_copy *copy,
                    bool blocking);
dev_result api_copy_bytes(dev_call *call, CUstream stream, bool per_thread, dev_place to,
                          dev_place from, size_t bytes, bool blocking);
/* `height` rows of `width` elements of 1, 2 or 4 bytes, `pitch` bytes between rows. */
dev_set api_rows(uint64_t address, size_t pitch, unsigned value, unsigned element, size_t width,
                 size_t height);
dev_result api_set(dev_call *call, CUstream stream, bool per_thread, dev_set set, bool blocking);

#endif
