/* Initialisation, devices and primary contexts in the driver interface. */
#include "api/driver/driver.h"

#include <stdio.h>
#include <string.h>

WL_DRIVER(CUresult, cuInit, (unsigned flags))
{
    dev_call begun, *call = &begun;
    dev_result result = dev_begin(call, "cuInit", CAP_CALL_OTHER, DEV_QUIET);
    if (result == DEV_OK)
        result = flags ? DEV_INVALID_VALUE : dev_initialize();
    DR_END(result);
}

WL_DRIVER(CUresult, cuDriverGetVersion, (int *version))
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = DR_VERSION;
    return CUDA_SUCCESS;
}

/* ---- devices ---- */

static const cuda_device *description(CUdevice device)
{
    dev_gpu *d = dev_gpu_get(device);
    return d ? dev_gpu_description(d) : NULL;
}

WL_DRIVER(CUresult, cuDeviceGetCount, (int *count))
{
    DR_FREE("cuDeviceGetCount");
    if (count)
        *count = dev_gpu_count();
    DR_END(count ? DEV_OK : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuDeviceGet, (CUdevice * device, int ordinal))
{
    DR_FREE("cuDeviceGet");
    if (!device)
        DR_END(DEV_INVALID_VALUE);
    if (!dev_gpu_get(ordinal))
        DR_END(DEV_INVALID_DEVICE);
    *device = ordinal;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuDeviceGetName, (char *name, int length, CUdevice device))
{
    DR_FREE("cuDeviceGetName");
    const cuda_device *d = description(device);
    if (!name || length <= 0 || !d)
        DR_END(d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE);
    snprintf(name, (size_t)length, "%s", d->name);
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))
{
    DR_FREE("cuDeviceGetUuid_v2");
    const cuda_device *d = description(device);
    if (!uuid || !d)
        DR_END(d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE);
    cuda_device_uuid(d, device, uuid);
    DR_END(DEV_OK);
}
WL_DRIVER_ALSO(cuDeviceGetUuid, cuDeviceGetUuid_v2);

WL_DRIVER(CUresult, cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))
{
    DR_FREE("cuDeviceTotalMem_v2");
    const cuda_device *d = description(device);
    if (!bytes || !d)
        DR_END(d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE);
    *bytes = d->global_bytes;
    DR_END(DEV_OK);
}

static bool attribute(CUdevice device, int number, int *value)
{
    if (!cuda_device_attribute(description(device), number, value))
        return false;
    if (number == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        *value += device;
    return true;
}

static int value_of(CUdevice device, int number)
{
    int value = 0;
    attribute(device, number, &value);
    return value;
}

WL_DRIVER(CUresult, cuDeviceGetAttribute, (int *value, int number, CUdevice device))
{
    DR_FREE("cuDeviceGetAttribute");
    if (!value)
        DR_END(DEV_INVALID_VALUE);
    if (!description(device))
        DR_END(DEV_INVALID_DEVICE);
    DR_END(attribute(device, number, value) ? DEV_OK : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuDeviceComputeCapability, (int *major, int *minor, CUdevice device))
{
    DR_FREE("cuDeviceComputeCapability");
    const cuda_device *d = description(device);
    if (!major || !minor || !d)
        DR_END(d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE);
    *major = (int)d->sm / 10;
    *minor = (int)d->sm % 10;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuDeviceGetProperties, (CUdevprop * prop, CUdevice device))
{
    DR_FREE("cuDeviceGetProperties");
    if (!prop || !description(device))
        DR_END(prop ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE);
    prop->maxThreadsPerBlock = value_of(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        prop->maxThreadsDim[i] = value_of(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        prop->maxGridSize[i] = value_of(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    prop->sharedMemPerBlock = value_of(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    prop->totalConstantMemory = value_of(device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    prop->SIMDWidth = value_of(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop->memPitch = value_of(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    prop->regsPerBlock = value_of(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop->clockRate = value_of(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->textureAlign = value_of(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    DR_END(DEV_OK);
}

static void bus_id(CUdevice device, char *text, size_t size)
{
    snprintf(text, size, "%04x:%02x:%02x.0",
             (unsigned)value_of(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) & 0xffff,
             (unsigned)value_of(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) & 0xff,
             (unsigned)value_of(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) & 0xff);
}

WL_DRIVER(CUresult, cuDeviceGetPCIBusId, (char *text, int length, CUdevice device))
{
    DR_FREE("cuDeviceGetPCIBusId");
    if (!text || length <= 0 || !description(device))
        DR_END(text && length > 0 ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE);
    bus_id(device, text, (size_t)length);
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuDeviceGetByPCIBusId, (CUdevice * device, const char *text))
{
    DR_FREE("cuDeviceGetByPCIBusId");
    unsigned domain = 0, bus, slot;
    if (!device || !text ||
        (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 &&
         sscanf(text, "%x:%x", &bus, &slot) != 2))
        DR_END(DEV_INVALID_VALUE);
    for (int i = 0; i < dev_gpu_count(); i++) {
        if ((int)domain == value_of(i, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) &&
            (int)bus == value_of(i, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) &&
            (int)slot == value_of(i, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)) {
            *device = i;
            DR_END(DEV_OK);
        }
    }
    DR_END(DEV_INVALID_DEVICE);
}

WL_DRIVER(CUresult, cuDeviceGetTexture1DLinearMaxWidth,
          (size_t *width, int format, unsigned channels, CUdevice device))
{
    DR_FREE("cuDeviceGetTexture1DLinearMaxWidth");
    if (!description(device))
        DR_END(DEV_INVALID_DEVICE);
    if (!width || !dev_format_bytes(format) || (channels != 1 && channels != 2 && channels != 4))
        DR_END(DEV_INVALID_VALUE);
    *width = (size_t)value_of(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    DR_END(DEV_OK);
}

/* ---- peers ---- */

WL_DRIVER(CUresult, cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))
{
    DR_FREE("cuDeviceCanAccessPeer");
    if (!can)
        DR_END(DEV_INVALID_VALUE);
    if (!description(device) || !description(peer))
        DR_END(DEV_INVALID_DEVICE);
    *can = device != peer;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuDeviceGetP2PAttribute,
          (int *value, int number, CUdevice device, CUdevice peer))
{
    DR_FREE("cuDeviceGetP2PAttribute");
    if (!description(device) || !description(peer) || device == peer)
        DR_END(DEV_INVALID_DEVICE);
    if (!value || number < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        number > CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED)
        DR_END(DEV_INVALID_VALUE);
    *value = number != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuDeviceGetExecAffinitySupport, (int *supported, int type, CUdevice device))
{
    DR_FREE("cuDeviceGetExecAffinitySupport");
    (void)type;
    if (!supported || !description(device))
        DR_END(supported ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE);
    *supported = 0;
    DR_END(DEV_OK);
}

/* ---- primary contexts ---- */

WL_DRIVER(CUresult, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))
{
    DR_FREE("cuDevicePrimaryCtxRetain");
    dev_gpu *d = dev_gpu_get(device);
    dev_context *primary;
    if (!context || !d)
        DR_END(context ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE);
    result = dev_primary_retain(d, &primary);
    if (result == DEV_OK)
        *context = (CUcontext)primary;
    DR_END(result);
}

static CUresult with_device(const char *api, CUdevice device, dev_result (*act)(dev_gpu *device))
{
    DR_FREE(api);
    dev_gpu *d = dev_gpu_get(device);
    DR_END(d ? act(d) : DEV_INVALID_DEVICE);
}

WL_DRIVER(CUresult, cuDevicePrimaryCtxRelease_v2, (CUdevice device))
{
    return with_device("cuDevicePrimaryCtxRelease_v2", device, dev_primary_release);
}
WL_DRIVER_ALSO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

WL_DRIVER(CUresult, cuDevicePrimaryCtxReset_v2, (CUdevice device))
{
    return with_device("cuDevicePrimaryCtxReset_v2", device, dev_primary_reset);
}
WL_DRIVER_ALSO(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

WL_DRIVER(CUresult, cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned flags))
{
    DR_FREE("cuDevicePrimaryCtxSetFlags_v2");
    dev_gpu *d = dev_gpu_get(device);
    if (!d)
        DR_END(DEV_INVALID_DEVICE);
    DR_END(flags & ~(unsigned)CU_CTX_FLAGS_MASK ? DEV_INVALID_VALUE : dev_primary_flags(d, flags));
}
WL_DRIVER_ALSO(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

WL_DRIVER(CUresult, cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active))
{
    DR_FREE("cuDevicePrimaryCtxGetState");
    dev_gpu *d = dev_gpu_get(device);
    bool is_active;
    if (!d || !flags || !active)
        DR_END(d ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE);
    dev_primary_state(d, flags, &is_active);
    *active = is_active;
    DR_END(DEV_OK);
}
