/* Memory: allocations, what is known of an address, pools, and memory without an address
 * (cuMemCreate). */
#ifndef WL_DEVICE_MEMORY_H
#define WL_DEVICE_MEMORY_H

#include "device/call.h"

/* Fill the call's record and write OBJECT / FREE. Size 0 gives INVALID_VALUE: the runtime handles
 * it before. */
dev_result dev_malloc(dev_call *call, uint64_t size, uint64_t *address);
dev_result dev_malloc_pinned(dev_call *call, uint64_t size, unsigned flags, void **data);
dev_result dev_malloc_managed(dev_call *call, uint64_t size, unsigned flags, uint64_t *address);
dev_result dev_malloc_pitch(dev_call *call, uint64_t width, uint64_t rows, uint64_t *address,
                            size_t *pitch);
dev_result dev_free(dev_call *call, uint64_t address); /* device and managed */
dev_result dev_free_pinned(dev_call *call, void *data);
dev_result dev_register(dev_call *call, void *data, uint64_t size, unsigned flags);
dev_result dev_unregister(dev_call *call, void *data);

typedef enum dev_memory_type { /* as cudaMemoryType */
                               DEV_MEMORY_UNREGISTERED,
                               DEV_MEMORY_HOST,
                               DEV_MEMORY_DEVICE,
                               DEV_MEMORY_MANAGED
} dev_memory_type;

typedef struct dev_memory {
    dev_memory_type type;
    uint64_t base, size;
    uint32_t object; /* number in the capture; also the buffer id */
    unsigned flags;  /* given at allocation */
    int device;
    dev_context *context;
    dev_pool *pool;  /* NULL for other memory */
    bool registered; /* host memory that the application owns */
    bool mapped;     /* through cuMemMap */
} dev_memory;

/* The live allocation, symbol or mapping that holds the address; false for plain host memory. */
bool dev_memory_find(uint64_t address, dev_memory *out);

/* True where `bytes` from `address` lie in live memory of the emulator. */
bool dev_range_valid(uint64_t address, uint64_t bytes);

/* Pools. The default pool of a device exists from the start. Attributes are numbered as
 * cudaMemPoolAttr. */
dev_pool *dev_pool_default(dev_gpu *device);
dev_pool *dev_pool_current(dev_gpu *device);
dev_result dev_pool_set_current(dev_gpu *device, dev_pool *pool);
dev_result dev_pool_new(dev_gpu *device, uint64_t max_size, dev_pool **pool);
dev_result dev_pool_destroy(dev_pool *pool);
dev_result dev_pool_get(dev_pool *pool, int attribute, void *value);
dev_result dev_pool_set(dev_pool *pool, int attribute, const void *value);
dev_result dev_pool_access_set(dev_pool *pool, int device, int flags);
dev_result dev_pool_access_get(dev_pool *pool, int device, int *flags);
dev_result dev_pool_trim(dev_pool *pool, size_t keep);
/* pool NULL: the current one of the stream's device. Recorded into a graph while the stream is
 * captured. */
dev_result dev_malloc_async(dev_call *call, uint64_t size, dev_pool *pool, dev_stream *stream,
                            uint64_t *address);
dev_result dev_free_async(dev_call *call, uint64_t address, dev_stream *stream);

/* Virtual memory management. The granularity is 2 MiB. */
enum { DEV_GRANULARITY = 2 << 20 };
dev_result dev_reserve(uint64_t size, uint64_t align, uint64_t *address);
dev_result dev_unreserve(uint64_t address, uint64_t size);
dev_result dev_physical_new(dev_gpu *device, uint64_t size, dev_physical **physical);
dev_result dev_physical_release(dev_physical *physical);
dev_result dev_physical_retain(uint64_t address, dev_physical **physical);
dev_gpu *dev_physical_device(const dev_physical *physical);
dev_result dev_map(dev_call *call, uint64_t address, uint64_t size, uint64_t offset,
                   dev_physical *physical);
dev_result dev_unmap(dev_call *call, uint64_t address, uint64_t size);
dev_result dev_access_set(uint64_t address, uint64_t size, int device, int flags);
dev_result dev_access_get(uint64_t address, int device, int *flags);

#endif
