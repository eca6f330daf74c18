/* Our hooks before the driver's functions: what each symbol's jump leads to, and what
 * cuGetProcAddress gives. */
#include "shim/hooks/hook.h"

#include "cuda/api.h"
#include "inject/front.h"

#include <string.h>

extern inj_code front_slots[] __attribute__((visibility("hidden")));
inj_code front_find(uint32_t index);

static const char *const names[] = {
#define FRONT(index, symbol) #symbol,
#include FRONT_LIST
#undef FRONT
};

extern hook_entry __start_wl_hooks[] __attribute__((visibility("hidden")));
extern hook_entry __stop_wl_hooks[] __attribute__((visibility("hidden")));

typedef CUresult (*get_address_v1)(const char *, void **, int, cuuint64_t);
typedef CUresult (*get_address_v2)(const char *, void **, int, cuuint64_t,
                                   CUdriverProcAddressQueryResult *);

static pthread_once_t bases_are_set = PTHREAD_ONCE_INIT, addresses_are_read = PTHREAD_ONCE_INIT;

/* ---- symbols ---- */

/* Before the code of any hook is given out. */
static void set_bases(void)
{
    size_t count;
    const cuda_driver_function *table = cuda_driver_functions(&count);
    for (hook_entry *hook = __start_wl_hooks; hook < __stop_wl_hooks; hook++) {
        hook->real = drv_real(hook->symbol);
        for (size_t i = 0; i < count && !hook->base; i++)
            if (strcmp(table[i].symbol, hook->symbol) == 0)
                hook->base = table[i].base;
    }
}

static CUresult no_driver(void)
{
    return CUDA_ERROR_NO_DEVICE;
}

static CUresult not_in_driver(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static hook_entry *hook_of(const char *symbol)
{
    for (hook_entry *hook = __start_wl_hooks; hook < __stop_wl_hooks; hook++)
        if (strcmp(hook->symbol, symbol) == 0)
            return hook;
    return NULL;
}

/* Called by front.S on the first call of each symbol. */
inj_code front_find(uint32_t index)
{
    void *code = drv_real(names[index]);
    pthread_once(&bases_are_set, set_bases);
    const hook_entry *hook = hook_of(names[index]);
    if (code && hook)
        code = hook->code;
    if (!code)
        code = drv_is_open() ? (void *)not_in_driver : (void *)no_driver;
    __atomic_store_n(&front_slots[index], (inj_code)code, __ATOMIC_RELEASE);
    return (inj_code)code;
}

/* ---- entry points by name and version ---- */

static CUresult ask_for_address(const char *name, void **out, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *found)
{
    get_address_v2 v2 = (get_address_v2)drv_real("cuGetProcAddress_v2");
    get_address_v1 v1 = (get_address_v1)drv_real("cuGetProcAddress");
    if (v2)
        return v2(name, out, version, flags, found);
    return v1 ? v1(name, out, version, flags) : CUDA_ERROR_NOT_SUPPORTED;
}

/* What the driver gives for each hook's name, version and stream mode: whatever an application asks
 * for, a function of the driver's that is none of these is none that we have a hook for. */
static void read_addresses(void)
{
    size_t count;
    const cuda_driver_function *table = cuda_driver_functions(&count);
    for (hook_entry *hook = __start_wl_hooks; hook < __stop_wl_hooks; hook++) {
        const cuda_driver_function *row = NULL;
        for (size_t i = 0; i < count && !row; i++)
            row = strcmp(table[i].symbol, hook->symbol) == 0 ? &table[i] : NULL;
        if (!row || !row->version)
            continue;
        cuuint64_t flags = row->stream == CUDA_STREAM_LEGACY
                               ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
                               : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        CUdriverProcAddressQueryResult found;
        if (ask_for_address(row->base, &hook->proc, row->version, flags, &found) != CUDA_SUCCESS)
            hook->proc = NULL;
    }
}

static void replace(const char *name, void **out)
{
    pthread_once(&addresses_are_read, read_addresses);
    for (hook_entry *hook = __start_wl_hooks; hook < __stop_wl_hooks; hook++)
        if (hook->real && (hook->proc == *out || hook->real == *out) && hook->base &&
            strcmp(hook->base, name) == 0) {
            *out = hook->code;
            return;
        }
}

HOOK(cuGetProcAddress, (const char *name, void **out, int version, cuuint64_t flags),
     (name, out, version, flags))
{
    CUresult result = real_cuGetProcAddress(name, out, version, flags);
    if (result == CUDA_SUCCESS && name && out && *out)
        replace(name, out);
    return result;
}

HOOK(cuGetProcAddress_v2,
     (const char *name, void **out, int version, cuuint64_t flags,
      CUdriverProcAddressQueryResult *found),
     (name, out, version, flags, found))
{
    CUresult result = real_cuGetProcAddress_v2(name, out, version, flags, found);
    if (result == CUDA_SUCCESS && name && out && *out)
        replace(name, out);
    return result;
}
