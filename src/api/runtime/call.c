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

dev_result rt_versioned_entry_point(const char *name, void **out, unsigned version,
                                    unsigned long long flags, bool per_thread, int *status)
{
    uint64_t asked = flags        ? flags
                     : per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                  : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    if (version > API_DRIVER_VERSION)
        return DEV_INVALID_VALUE;
    return (dev_result)api_driver_function(name, out, (int)version, asked, status);
}

/* Of the runtime's release we know the major number. What came with a minor one is looked for where
 * the major one did not have it: so none is found that takes other arguments than the caller's. */
dev_result rt_entry_point(const char *name, void **out, unsigned long long flags, bool per_thread,
                          int *status)
{
    const unsigned major = (unsigned)api_runtime_release() * 1000;
    const unsigned versions[] = {major, major + 999 < API_DRIVER_VERSION ? major + 999
                                                                         : API_DRIVER_VERSION};
    int found = CU_GET_PROC_ADDRESS_SUCCESS;
    dev_result r = DEV_OK;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        r = rt_versioned_entry_point(name, out, versions[i], flags, per_thread, &found);
        if (r || found != CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
            break;
    }
    if (status && r == DEV_OK)
        *status = found;
    return r;
}

dev_result rt_entry_point_v11(const char *name, void **out, unsigned long long flags,
                              bool per_thread)
{
    dev_result r = rt_entry_point(name, out, flags, per_thread, NULL);
    return r == DEV_OK && !*out ? DEV_NOT_FOUND : r;
}
