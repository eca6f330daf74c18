/* Linking by cuLink*: what goes in, and what comes out. */
#include "shim/hooks/hook.h"

#define LINK(symbol, params, args, what)              \
    HOOK(symbol, params, args)                        \
    {                                                 \
        CUresult result = real_##symbol args;         \
        if (result == CUDA_SUCCESS && rec_g.writer) { \
            pthread_mutex_lock(&rec_g.lock);          \
            what;                                     \
            pthread_mutex_unlock(&rec_g.lock);        \
        }                                             \
        return result;                                \
    }

LINK(cuLinkCreate, (unsigned count, CUjit_option *options, void **values, CUlinkState *out),
     (count, options, values, out), drv_link_created(*out))
LINK(cuLinkCreate_v2, (unsigned count, CUjit_option *options, void **values, CUlinkState *out),
     (count, options, values, out), drv_link_created(*out))

#define DATA_PARAMS                                                                          \
    (CUlinkState state, int type, void *data, size_t size, const char *name, unsigned count, \
     CUjit_option *options, void **values)
LINK(cuLinkAddData, DATA_PARAMS, (state, type, data, size, name, count, options, values),
     drv_link_data_added(state, data, size))
LINK(cuLinkAddData_v2, DATA_PARAMS, (state, type, data, size, name, count, options, values),
     drv_link_data_added(state, data, size))

#define FILE_PARAMS                                                                        \
    (CUlinkState state, int type, const char *path, unsigned count, CUjit_option *options, \
     void **values)
LINK(cuLinkAddFile, FILE_PARAMS, (state, type, path, count, options, values),
     drv_link_file_added(state, path))
LINK(cuLinkAddFile_v2, FILE_PARAMS, (state, type, path, count, options, values),
     drv_link_file_added(state, path))

LINK(cuLinkComplete, (CUlinkState state, void **cubin, size_t *size), (state, cubin, size),
     if (cubin && size) drv_link_completed(state, *cubin, *size))

HOOK(cuLinkDestroy, (CUlinkState state), (state))
{
    pthread_mutex_lock(&rec_g.lock);
    drv_link_gone(state);
    pthread_mutex_unlock(&rec_g.lock);
    return real_cuLinkDestroy(state);
}
