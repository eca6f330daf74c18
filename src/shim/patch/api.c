#include "shim/patch/api.h"

#include "program/sanitizer_path.h"
#include "shim/patch/impl.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t once;
    patch_api functions;
    bool usable;
    char why[PATH_MAX + 256];
} api = {.once = PTHREAD_ONCE_INIT};

static void hear_nothing(void *ctx, uint32_t domain, uint32_t id, const void *data)
{
    (void)ctx;
    (void)domain;
    (void)id;
    (void)data;
}

/* The first function that the library lacks; NULL: it has all. */
static const char *look_up(void *library)
{
    const char *missing = NULL;
#define X(field, symbol, types)                                  \
    api.functions.field = (int(*) types)dlsym(library, #symbol); \
    missing = missing || api.functions.field ? missing : #symbol;
    PATCH_API(X)
#undef X
    return missing;
}

static void open_sanitizer(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *subscriber = NULL;
    if (!library) {
        snprintf(api.why, sizeof api.why, "the Compute Sanitizer cannot be loaded: %s", dlerror());
        return;
    }
    const char *missing = look_up(library);
    int result = missing ? 0 : api.functions.subscribe(&subscriber, hear_nothing, NULL);
    if (missing)
        snprintf(api.why, sizeof api.why, "%s has no %s: it is another version", path, missing);
    else if (result != PATCH_API_SUCCESS)
        snprintf(api.why, sizeof api.why,
                 "the Compute Sanitizer (%s) refuses this process or driver (error %d)", path,
                 result);
    api.usable = !missing && result == PATCH_API_SUCCESS;
}

static void open_sanitizer_once(void)
{
    char path[PATH_MAX];
    if (!patch_wanted())
        return;
    if (prog_find_sanitizer(path, sizeof path))
        open_sanitizer(path);
    else if (*path)
        snprintf(api.why, sizeof api.why, "%s, which --sanitizer names, cannot be read", path);
    else
        snprintf(api.why, sizeof api.why,
                 "there is no Compute Sanitizer to count it (see --sanitizer)");
}

const patch_api *patch_api_get(const char **why)
{
    pthread_once(&api.once, open_sanitizer_once);
    *why = api.why;
    return api.usable ? &api.functions : NULL;
}
