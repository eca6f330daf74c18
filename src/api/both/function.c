/* Launches of kernels, questions about them, and occupancy. */
#include "api/both/function.h"

#include "cuda/args.h"
#include "cuda/types.h"

_Static_assert(offsetof(CUlaunchAttribute, value) == offsetof(cudaLaunchAttribute, val) &&
                   sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute),
               "attributes of launches differ between the interfaces");

dev_result api_arguments(void **params, void **extra, dev_launch *launch)
{
    if (params && extra)
        return DEV_INVALID_VALUE;
    launch->params = params;
    bool good = cuda_read_extra(extra, &launch->packed, &launch->packed_bytes);
    return good ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result api_launch_attributes(const CUlaunchAttribute *attributes, unsigned count,
                                 dev_launch *launch)
{
    if (count && !attributes)
        return DEV_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        const CUlaunchAttributeValue *v = &attributes[i].value;
        if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            launch->cooperative = v->cooperative != 0;
        else if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            launch->cluster = (emu_dim){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
    }
    return DEV_OK;
}

dev_result api_launch_kernel(dev_call *call, api_resolver resolve, CUstream handle, bool per_thread,
                             const void *function, dev_launch *launch)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK)
        r = resolve(dev_stream_context(stream), function, &launch->function);
    return r ? r : dev_do_launch(call, stream, launch);
}

/* ---- questions ---- */

/* `wanted`: whether the application gave a place for the answer. */
static dev_result resolve_for(dev_call *call, api_resolver resolve, const void *handle, bool wanted,
                              dev_function **out)
{
    return wanted ? resolve(call->context, handle, out) : DEV_INVALID_VALUE;
}

dev_result api_function_handle(dev_call *call, api_resolver resolve, CUfunction *out,
                               const void *handle)
{
    dev_function *function;
    dev_result r = resolve_for(call, resolve, handle, out, &function);
    if (r == DEV_OK)
        *out = (CUfunction)function;
    return r;
}

dev_result api_function_name(dev_call *call, api_resolver resolve, const char **name,
                             const void *handle)
{
    dev_function *function;
    dev_result r = resolve_for(call, resolve, handle, name, &function);
    if (r == DEV_OK)
        *name = dev_function_name(function);
    return r;
}

dev_result api_function_param(dev_call *call, api_resolver resolve, const void *handle,
                              size_t index, size_t *offset, size_t *size)
{
    dev_function *function;
    dev_result r = resolve_for(call, resolve, handle, offset, &function);
    return r ? r : dev_function_param(function, index, offset, size);
}

int api_attribute_of(dev_function *function, int attribute)
{
    int value = 0;
    dev_function_get(function, attribute, &value);
    return value;
}

dev_result api_function_attribute(dev_call *call, api_resolver resolve, const void *handle,
                                  int attribute, int *value)
{
    dev_function *function;
    dev_result r = resolve_for(call, resolve, handle, value, &function);
    return r ? r : dev_function_get(function, attribute, value);
}

dev_result api_set_function_attribute(dev_call *call, api_resolver resolve, const void *handle,
                                      int attribute, int value)
{
    dev_function *function;
    dev_result r = resolve(call->context, handle, &function);
    return r ? r : dev_function_set(function, attribute, value);
}

dev_result api_prefer(dev_call *call, api_resolver resolve, const void *handle, int value, int last)
{
    dev_function *function;
    return resolve_for(call, resolve, handle, value >= 0 && value <= last, &function);
}

/* ---- occupancy ---- */

dev_result api_occupancy(dev_call *call, api_resolver resolve, int *blocks, const void *handle,
                         int block, size_t shared, unsigned flags)
{
    enum { DISABLE_CACHING_OVERRIDE = 1 }; /* the only flag; of no effect here */
    dev_function *function;
    bool good = blocks && !(flags & ~(unsigned)DISABLE_CACHING_OVERRIDE);
    dev_result r = resolve_for(call, resolve, handle, good, &function);
    return r ? r : dev_occupancy(function, block, shared, blocks);
}

dev_result api_occupancy_shared(dev_call *call, api_resolver resolve, size_t *shared,
                                const void *handle, int blocks, int block)
{
    dev_function *function;
    dev_result r = resolve_for(call, resolve, handle, shared, &function);
    return r ? r : dev_occupancy_shared(function, blocks, block, shared);
}

dev_result api_clusters(dev_call *call, api_resolver resolve, const void *handle,
                        const dev_launch *launch,
                        dev_result (*count)(dev_function *, const dev_launch *, int *), int *out)
{
    dev_function *function;
    dev_result r = resolve_for(call, resolve, handle, out, &function);
    return r ? r : count(function, launch, out);
}

dev_result api_cluster_size(dev_function *function, const dev_launch *launch, int *size)
{
    enum { PORTABLE = 8, LARGEST = 16 };
    dev_result r = dev_max_clusters(function, launch, size);
    if (r == DEV_OK)
        *size = api_attribute_of(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
                    ? LARGEST
                    : PORTABLE;
    return r;
}
