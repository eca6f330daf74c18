/* What both interfaces ask of devices and of a context's preferences. */
#include "api/both/device.h"

#include <stdio.h>

static bool attribute_of_gpu(int device, int number, int *value)
{
    dev_gpu *gpu = dev_gpu_get(device);
    if (!gpu || !cuda_device_attribute(dev_gpu_description(gpu), number, value))
        return false;
    if (number == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) /* the devices' descriptions may be the same */
        *value += device;
    return true;
}

static unsigned bus_number(int device, int number)
{
    int value = 0;
    attribute_of_gpu(device, number, &value);
    return (unsigned)value;
}

dev_result api_device_attribute(int *value, int number, int device)
{
    if (!value || !dev_gpu_get(device))
        return value ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    return attribute_of_gpu(device, number, value) ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result api_bus_id(char *text, int length, int device)
{
    if (!text || length <= 0 || !dev_gpu_get(device))
        return text && length > 0 ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    snprintf(text, (size_t)length, "%04x:%02x:%02x.0",
             bus_number(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) & 0xffff,
             bus_number(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) & 0xff,
             bus_number(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) & 0xff);
    return DEV_OK;
}

dev_result api_by_bus_id(int *device, const char *text)
{
    unsigned domain = 0, bus, slot;
    if (!device || !text)
        return DEV_INVALID_VALUE;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (sscanf(text, "%x:%x", &bus, &slot) != 2)
            return DEV_INVALID_VALUE;
    }
    for (int i = 0; i < dev_gpu_count(); i++) {
        if (domain != bus_number(i, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) ||
            bus != bus_number(i, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) ||
            slot != bus_number(i, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID))
            continue;
        *device = i;
        return DEV_OK;
    }
    return DEV_INVALID_DEVICE;
}

/* ---- peers ---- */

dev_result api_can_access_peer(int *can, int device, int peer)
{
    if (!can || !dev_gpu_get(device) || !dev_gpu_get(peer))
        return can ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    *can = device != peer;
    return DEV_OK;
}

dev_result api_peer_attribute(int *value, int number, int device, int peer)
{
    if (!value || number < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        number > CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED)
        return DEV_INVALID_VALUE;
    if (!dev_gpu_get(device) || !dev_gpu_get(peer) || device == peer)
        return DEV_INVALID_DEVICE;
    *value = number != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    return DEV_OK;
}

dev_result api_enable_peer(dev_call *call, dev_context *peer, unsigned flags, dev_result none)
{
    if (flags || !peer)
        return flags ? DEV_INVALID_VALUE : none;
    return dev_peer_enable(call->context, peer);
}

dev_result api_disable_peer(dev_call *call, dev_context *peer, dev_result none)
{
    return peer ? dev_peer_disable(call->context, peer) : none;
}

/* ---- preferences ---- */

dev_result api_cache_config(dev_call *call, int *config)
{
    return config ? dev_cache_config(call->context, config, 0) : DEV_INVALID_VALUE;
}

dev_result api_set_cache_config(dev_call *call, int config)
{
    bool known = config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
    return known ? dev_cache_config(call->context, NULL, config) : DEV_INVALID_VALUE;
}

dev_result api_bank_width(int *config)
{
    if (config)
        *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return config ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result api_set_bank_width(int config)
{
    bool known = config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                 config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    return known ? DEV_OK : DEV_INVALID_VALUE;
}
