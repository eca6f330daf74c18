/* Kernels as both interfaces ask for them. They name a kernel in different ways: the driver by a
 * function or a kernel of a library, the runtime by the address of its stub too. Each gives its own
 * resolver. */
#ifndef WL_API_BOTH_FUNCTION_H
#define WL_API_BOTH_FUNCTION_H

#include "cuda/driver_types.h"
#include "device/device.h"

/* The function that `handle` names in the context: dr_resolve or rt_resolve. */
typedef dev_result (*api_resolver)(dev_context *context, const void *handle, dev_function **out);

/* ---- launches ---- */

/* The lists of parameters of a launch: `extra` is one of tags and values that ends in
 * CU_LAUNCH_PARAM_END. INVALID_VALUE where it is malformed, or given together with `params`. */
dev_result api_arguments(void **params, void **extra, dev_launch *launch);
/* The attributes that concern what a kernel does; the others concern timing and priority. */
dev_result api_launch_attributes(const CUlaunchAttribute *attributes, unsigned count,
                                 dev_launch *launch);
/* Fills in the function. */
dev_result api_launch_kernel(dev_call *call, api_resolver resolve, CUstream stream, bool per_thread,
                             const void *handle, dev_launch *launch);

/* ---- questions ---- */

dev_result api_function_handle(dev_call *call, api_resolver resolve, CUfunction *out,
                               const void *handle);
dev_result api_function_name(dev_call *call, api_resolver resolve, const char **name,
                             const void *handle);
dev_result api_function_param(dev_call *call, api_resolver resolve, const void *handle,
                              size_t index, size_t *offset, size_t *size);
int api_attribute_of(dev_function *function, int attribute); /* 0 where there is none */
dev_result api_function_attribute(dev_call *call, api_resolver resolve, const void *handle,
                                  int attribute, int *value);
dev_result api_set_function_attribute(dev_call *call, api_resolver resolve, const void *handle,
                                      int attribute, int value);
/* A preference that nothing depends on that can be observed here, from 0 to `last`. */
dev_result api_prefer(dev_call *call, api_resolver resolve, const void *handle, int value,
                      int last);

/* ---- occupancy ---- */

dev_result api_occupancy(dev_call *call, api_resolver resolve, int *blocks, const void *handle,
                         int block, size_t shared, unsigned flags);
dev_result api_occupancy_shared(dev_call *call, api_resolver resolve, size_t *shared,
                                const void *handle, int blocks, int block);
/* `count`: dev_max_clusters (how many fit on the device at once), or api_cluster_size (how many
 * blocks a cluster may have). */
dev_result api_clusters(dev_call *call, api_resolver resolve, const void *handle,
                        const dev_launch *launch,
                        dev_result (*count)(dev_function *, const dev_launch *, int *), int *out);
dev_result api_cluster_size(dev_function *function, const dev_launch *launch, int *size);

#endif
