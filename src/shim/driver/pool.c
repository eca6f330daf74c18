/* Pools of stream-ordered allocation by number: a handle that is destroyed and given out again is
 * another pool. */
#include "shim/driver/driver.h"

#include "record/record.h"

#include <stdlib.h>

typedef struct numbered_pool {
    CUmemoryPool handle; /* key */
    uint32_t number;     /* in the capture; 0: nothing was taken from it */
    uint32_t device;
    cap_pool_state told;
    UT_hash_handle hh;
} numbered_pool;

static numbered_pool *pools;

static numbered_pool *find_numbered_pool(CUmemoryPool handle)
{
    numbered_pool *p = NULL;
    HASH_FIND_PTR(pools, &handle, p);
    return p;
}

/* NULL without memory. */
static numbered_pool *add_numbered_pool(CUmemoryPool handle, uint32_t device)
{
    numbered_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->handle = handle;
    p->device = device;
    HASH_ADD_PTR(pools, handle, p);
    return p;
}

void drv_pool_created(CUmemoryPool handle, uint32_t device)
{
    drv_pool_gone(handle); /* one that went without our notice */
    add_numbered_pool(handle, device);
}

void drv_pool_gone(CUmemoryPool handle)
{
    numbered_pool *p = find_numbered_pool(handle);
    if (!p)
        return;
    HASH_DEL(pools, p);
    free(p);
}

static bool is_default(const numbered_pool *p)
{
    CUmemoryPool found = NULL;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetDefaultMemPool, (CUmemoryPool *, CUdevice), &found,
           (CUdevice)p->device);
    return found == p->handle;
}

uint32_t drv_pool_number(CUmemoryPool handle)
{
    uint32_t device = drv_current().device;
    if (!handle)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetMemPool, (CUmemoryPool *, CUdevice), &handle,
               (CUdevice)device);
    numbered_pool *p = handle ? find_numbered_pool(handle) : NULL;
    if (handle && !p)
        p = add_numbered_pool(handle, device);
    if (p && !p->number)
        p->number = rec_pool(is_default(p) ? CAP_POOL_DEFAULT : CAP_POOL_CREATED, p->device);
    return p ? p->number : 0;
}

enum { RESERVED_NOW = 5, USED_NOW = 7 }; /* CU_MEMPOOL_ATTR_... */

static bool read_amount(CUmemoryPool handle, int attribute, uint64_t *out)
{
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolGetAttribute,
                  (CUmemoryPool, CUmemPool_attribute, void *), handle,
                  (CUmemPool_attribute)attribute, out) == CUDA_SUCCESS;
}

void drv_pools_record(uint32_t call)
{
    for (numbered_pool *p = pools; p; p = p->hh.next) {
        cap_pool_state now = {.pool = p->number, .call = call};
        if (p->number && read_amount(p->handle, RESERVED_NOW, &now.reserved) &&
            read_amount(p->handle, USED_NOW, &now.used))
            rec_pool_state(&p->told, &now);
    }
}
