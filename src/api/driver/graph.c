/* Graphs in the driver interface: what only it does with the parameters of nodes (api/both/node.h).
 * What a node does is read back from its operation. */
#include "api/both/graph.h"
#include "api/driver/driver.h"

static dev_result function_of_handle(dev_call *call, const CUDA_KERNEL_NODE_PARAMS_v2 *k,
                                     dev_launch *launch)
{
    const void *handle = k->func ? (const void *)k->func : k->kern;
    return dr_resolve(call->context, handle, &launch->function);
}

static dev_result read_memcpy3d(const void *params, dev_copy *copy)
{
    return dr_read_copy(params, copy);
}

static CUmemorytype memory_type_of_place(const dev_place *place)
{
    if (place->array)
        return CU_MEMORYTYPE_ARRAY;
    if (!place->given)
        return CU_MEMORYTYPE_UNIFIED;
    return place->expect == DEV_MEMORY_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static void write_memcpy3d(const dev_copy *copy, void *params)
{
    const dev_place *from = &copy->from, *to = &copy->to;
    *(CUDA_MEMCPY3D *)params = (CUDA_MEMCPY3D){.srcXInBytes = from->x,
                                               .srcY = from->y,
                                               .srcZ = from->z,
                                               .srcMemoryType = memory_type_of_place(from),
                                               .srcHost = (void *)from->address,
                                               .srcDevice = from->address,
                                               .srcArray = (CUarray)from->array,
                                               .srcPitch = from->pitch,
                                               .srcHeight = from->height,
                                               .dstXInBytes = to->x,
                                               .dstY = to->y,
                                               .dstZ = to->z,
                                               .dstMemoryType = memory_type_of_place(to),
                                               .dstHost = (void *)to->address,
                                               .dstDevice = to->address,
                                               .dstArray = (CUarray)to->array,
                                               .dstPitch = to->pitch,
                                               .dstHeight = to->height,
                                               .WidthInBytes = copy->width,
                                               .Height = copy->height,
                                               .Depth = copy->depth};
}

static dev_result current_context_on(dev_call *call, int device, dev_context **context)
{
    *context = call->context;
    if (device != dev_gpu_ordinal(dev_context_device(call->context)))
        return dev_unsupported_part("graph allocations on another device than the current");
    return DEV_OK;
}

const api_side dr_nodes = {.function = function_of_handle,
                           .read_copy = read_memcpy3d,
                           .write_copy = write_memcpy3d,
                           .context = current_context_on};
