/* Devices and their primary contexts in the driver interface. */
#include "api/both/device.h"
#include "api/driver/driver.h"
#include "cuda/args.h"

#include <stdio.h>

static const cuda_device *description_of(CUdevice device)
{
    dev_gpu *gpu = dev_gpu_get(device);
    return gpu ? dev_gpu_description(gpu) : NULL;
}

static int device_attribute_value(CUdevice device, int number)
{
    int value = 0;
    api_device_attribute(&value, number, device);
    return value;
}

dev_result dr_device_count(int *count)
{
    if (count)
        *count = dev_gpu_count();
    return count ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result dr_device(CUdevice *device, int ordinal)
{
    if (!device || !dev_gpu_get(ordinal))
        return device ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    *device = ordinal;
    return DEV_OK;
}

dev_result dr_device_name(char *name, int length, CUdevice device)
{
    const cuda_device *d = description_of(device);
    if (!name || length <= 0 || !d)
        return d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", d->name);
    return DEV_OK;
}

dev_result dr_device_uuid(CUuuid *uuid, CUdevice device)
{
    const cuda_device *d = description_of(device);
    if (!uuid || !d)
        return d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE;
    cuda_device_uuid(d, device, uuid);
    return DEV_OK;
}

dev_result dr_device_memory(size_t *bytes, CUdevice device)
{
    const cuda_device *d = description_of(device);
    if (!bytes || !d)
        return d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE;
    *bytes = d->global_bytes;
    return DEV_OK;
}

dev_result dr_compute_capability(int *major, int *minor, CUdevice device)
{
    const cuda_device *d = description_of(device);
    if (!major || !minor || !d)
        return d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE;
    *major = (int)d->sm / 10;
    *minor = (int)d->sm % 10;
    return DEV_OK;
}

dev_result dr_device_properties(CUdevprop *prop, CUdevice device)
{
    if (!prop || !description_of(device))
        return prop ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    prop->maxThreadsPerBlock = device_attribute_value(device,
                                                      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        prop->maxThreadsDim[i] = device_attribute_value(device,
                                                        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        prop->maxGridSize[i] = device_attribute_value(device,
                                                      CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    prop->sharedMemPerBlock =
        device_attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    prop->totalConstantMemory = device_attribute_value(device,
                                                       CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    prop->SIMDWidth = device_attribute_value(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop->memPitch = device_attribute_value(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    prop->regsPerBlock = device_attribute_value(device,
                                                CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop->clockRate = device_attribute_value(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->textureAlign = device_attribute_value(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return DEV_OK;
}

dev_result dr_linear_texture_width(size_t *width, int format, unsigned channels, CUdevice device)
{
    bool known = channels == 1 || channels == 2 || channels == 4;
    if (!description_of(device))
        return DEV_INVALID_DEVICE;
    if (!width || !cuda_format_bytes(format) || !known)
        return DEV_INVALID_VALUE;
    *width = (size_t)device_attribute_value(device,
                                            CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    return DEV_OK;
}

dev_result dr_affinity_support(int *supported, CUdevice device)
{
    if (!supported || !description_of(device))
        return supported ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    *supported = 0;
    return DEV_OK;
}

/* ---- primary contexts ---- */

dev_result dr_primary_retain(CUcontext *context, CUdevice device)
{
    dev_gpu *gpu = dev_gpu_get(device);
    dev_context *primary;
    if (!context || !gpu)
        return context ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    dev_result r = dev_primary_retain(gpu, &primary);
    if (r == DEV_OK)
        *context = (CUcontext)primary;
    return r;
}

dev_result dr_with_device(CUdevice device, dev_result (*act)(dev_gpu *device))
{
    dev_gpu *gpu = dev_gpu_get(device);
    return gpu ? act(gpu) : DEV_INVALID_DEVICE;
}

dev_result dr_set_primary_flags(CUdevice device, unsigned flags)
{
    dev_gpu *gpu = dev_gpu_get(device);
    if (!gpu)
        return DEV_INVALID_DEVICE;
    return flags & ~(unsigned)CU_CTX_FLAGS_MASK ? DEV_INVALID_VALUE : dev_primary_flags(gpu, flags);
}

dev_result dr_primary_state(CUdevice device, unsigned *flags, int *active)
{
    dev_gpu *gpu = dev_gpu_get(device);
    bool is_active;
    if (!gpu || !flags || !active)
        return gpu ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE;
    dev_primary_state(gpu, flags, &is_active);
    *active = is_active;
    return DEV_OK;
}

/* ---- the interface ---- */

WL_DRIVER(CUresult, cuInit, (unsigned flags))
{
    dev_call call;
    dev_result r = dev_begin(&call, "cuInit", CAP_CALL_OTHER, DEV_QUIET);
    if (r == DEV_OK)
        r = flags ? DEV_INVALID_VALUE : dev_initialize();
    return dr_end(&call, r);
}

WL_DRIVER(CUresult, cuDriverGetVersion, (int *version))
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DR_VERSION;
    return CUDA_SUCCESS;
}
