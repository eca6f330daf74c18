/* Memory as both interfaces ask for it: stream-ordered allocation, pools, what is known of managed
 * memory. Handles are of the same types in both; they come as the application gave them, and are
 * checked here. */
#ifndef WL_API_BOTH_MEMORY_H
#define WL_API_BOTH_MEMORY_H

#include "cuda/driver_types.h"
#include "device/device.h"

/* ---- stream-ordered allocation; `out`: a CUdeviceptr or a void *, NULL for no bytes ---- */

dev_result api_malloc_async(dev_call *call, CUstream stream, bool per_thread, void *out,
                            size_t size);
dev_result api_malloc_from(dev_call *call, CUstream stream, bool per_thread, CUmemoryPool pool,
                           void *out, size_t size);
dev_result api_free_async(dev_call *call, CUstream stream, bool per_thread, CUdeviceptr address);

/* ---- pools ---- */

dev_result api_new_pool(CUmemoryPool *out, const CUmemPoolProps *props);
dev_result api_destroy_pool(CUmemoryPool pool);
dev_result api_trim_pool(CUmemoryPool pool, size_t keep);
dev_result api_pool_attribute(CUmemoryPool pool, int attribute, void *value);
dev_result api_set_pool_attribute(CUmemoryPool pool, int attribute, const void *value);
dev_result api_pool_access(CUmemoryPool pool, const CUmemLocation *location, int *flags);
dev_result api_set_pool_access(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count);
/* `which`: dev_pool_default or dev_pool_current. */
dev_result api_device_pool(CUmemoryPool *out, int device, dev_pool *(*which)(dev_gpu *device));
dev_result api_set_device_pool(int device, CUmemoryPool pool);

/* ---- managed memory: hints change nothing that can be observed here ---- */

/* Where older functions give a device, or -1 for the host. */
CUmemLocation api_location(int device);
dev_result api_advise(CUdeviceptr address, size_t bytes, int advice, CUmemLocation location);
dev_result api_prefetch(dev_call *call, CUstream stream, bool per_thread, CUdeviceptr address,
                        size_t bytes, CUmemLocation location, unsigned flags);
dev_result api_attach(dev_call *call, CUstream stream, bool per_thread, CUdeviceptr address,
                      unsigned flags);

/* Of the context's device; either pointer may be NULL. */
dev_result api_memory_info(dev_call *call, size_t *free_bytes, size_t *total);

#endif
