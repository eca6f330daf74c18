/* Contexts by handle, and the devices' primary ones. */
#include "shim/driver/impl.h"

enum { MAX_CONTEXTS = 64, MAX_DEVICES = 64 };

static struct {
    drv_context known[MAX_CONTEXTS];
    CUcontext primary[MAX_DEVICES];
    uint32_t count;
    uint64_t next;
} contexts;

drv_context drv_current(void)
{
    CUcontext handle = NULL;
    CUdevice device = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxGetCurrent, (CUcontext *), &handle);
    for (uint32_t i = 0; i < contexts.count; i++)
        if (contexts.known[i].handle == handle)
            return contexts.known[i];
    if (!handle)
        return (drv_context){0};
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxGetDevice, (CUdevice *), &device);
    drv_context found = {handle, ++contexts.next, (uint32_t)device};
    if (contexts.count < MAX_CONTEXTS)
        contexts.known[contexts.count++] = found;
    return found;
}

/* The driver may give the handle out again. */
void drv_context_gone(CUcontext handle)
{
    for (uint32_t i = 0; i < contexts.count; i++)
        if (contexts.known[i].handle == handle)
            drv_streams_gone(contexts.known[i].id);
    for (uint32_t i = 0; i < contexts.count; i++)
        if (contexts.known[i].handle == handle)
            contexts.known[i--] = contexts.known[--contexts.count];
}

void drv_primary_retained(CUdevice device, CUcontext context)
{
    if (device >= 0 && device < MAX_DEVICES)
        contexts.primary[device] = context;
}

/* Where nobody asked for the device's primary context by name, the runtime did by a table of its
 * own: then the device's only context is taken for it. */
static CUcontext primary_of(CUdevice device)
{
    CUcontext only = NULL;
    uint32_t count = 0;
    if (device >= 0 && device < MAX_DEVICES && contexts.primary[device])
        return contexts.primary[device];
    for (uint32_t i = 0; i < contexts.count; i++) {
        if (contexts.known[i].device == (uint32_t)device) {
            only = contexts.known[i].handle;
            count++;
        }
    }
    return count == 1 ? only : NULL;
}

CUcontext drv_primary_ended(CUdevice device)
{
    unsigned flags;
    int active = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *),
           device, &flags, &active);
    return active ? NULL : primary_of(device);
}
