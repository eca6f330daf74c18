/* Devices and contexts: the primary context of each device, and those that the driver interface
 * makes. */
#ifndef WL_DEVICE_CONTEXT_H
#define WL_DEVICE_CONTEXT_H

#include "cuda/device.h"
#include "device/call.h"

/* Opens the capture, before there is a device; idempotent. */
void dev_start_recording(void);
/* Reads the device description and the options; idempotent. NO_DEVICE where that fails. */
dev_result dev_initialize(void);
int dev_gpu_count(void);
dev_gpu *dev_gpu_get(int ordinal); /* NULL where there is none */
int dev_gpu_ordinal(const dev_gpu *device);
const cuda_device *dev_gpu_description(const dev_gpu *device);
void dev_gpu_memory(const dev_gpu *device, uint64_t *free, uint64_t *total);
dev_result dev_peer_enable(dev_context *context, dev_context *peer);
dev_result dev_peer_disable(dev_context *context, dev_context *peer);

dev_result dev_primary_retain(dev_gpu *device, dev_context **context);
/* The device's primary context, which is made and retained where there is none. */
dev_result dev_primary_get(dev_gpu *device, dev_context **context);
dev_result dev_primary_release(dev_gpu *device);
dev_result dev_primary_reset(dev_gpu *device);
void dev_primary_state(dev_gpu *device, unsigned *flags, bool *active);
dev_result dev_primary_flags(dev_gpu *device, unsigned flags);
dev_result dev_context_new(dev_gpu *device, unsigned flags, dev_context **context);
dev_result dev_context_destroy(dev_context *context);
dev_gpu *dev_context_device(const dev_context *context);
unsigned dev_context_flags(const dev_context *context);
uint64_t dev_context_id(const dev_context *context);
dev_result dev_context_synchronize(dev_context *context);
/* The error that the context was lost to; OK while it is well. */
dev_result dev_context_error(const dev_context *context);
/* Limits and cache configuration are kept and given back; `limit` as cudaLimit. */
dev_result dev_limit_get(dev_context *context, int limit, size_t *value);
dev_result dev_limit_set(dev_context *context, int limit, size_t value);
dev_result dev_cache_config(dev_context *context, int *get, int set); /* get != NULL reads */

#endif
