/* The beginning and the end of every call of the runtime, and the error that it keeps for each
 * thread. */
#include "api/runtime/runtime.h"

dev_result rt_begin(dev_call *call, const char *api, cap_call_kind kind, uint32_t flags)
{
    dev_result r = dev_begin(call, api, kind, flags & ~(uint32_t)RT_DEVICES);
    return r == DEV_OK && flags & RT_DEVICES ? dev_initialize() : r;
}

int rt_end(dev_call *call, dev_result result)
{
    result = dev_end(call, result);
    return result ? rt_fail((int)result) : cudaSuccess;
}

int rt_fail(int result)
{
    dev_thread *self = dev_self();
    if (self)
        self->last_error = result;
    return result;
}
