/* Where the jumps of front.S lead: to the collector's library, which lies in the same folder. */
#include "inject/front.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

extern inj_code front_slots[] __attribute__((visibility("hidden")));
inj_code front_find(uint32_t index);

static const char *const names[] = {
#define FRONT(index, symbol) #symbol,
#include FRONT_LIST
#undef FRONT
};

static int not_supported(void)
{
    return 801; /* CUDA_ERROR_NOT_SUPPORTED, cudaErrorNotSupported */
}

static const inj_front_table *fail(const char *what)
{
    static char said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "==WARPLENS== CUDA cannot be emulated: %s\n", what);
    return NULL;
}

/* The library's own cuGetExportTable, not the one of this name in front of it. */
static const inj_front_table *open_core(void)
{
    typedef int (*get_table)(const void **, const void *);
    const void *table = NULL;
    char path[PATH_MAX];
    Dl_info self;
    if (!dladdr((void *)names, &self) || !self.dli_fname)
        return fail("the folder of warplens' libraries cannot be found");
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    int length = snprintf(path, sizeof path, "%.*slibwarplens_emulate.so", folder, self.dli_fname);
    void *library = length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return fail(dlerror());
    get_table get = (get_table)dlsym(library, "cuGetExportTable");
    if (!get || get(&table, INJ_FRONT_ID) != 0)
        return fail("libwarplens_emulate.so is of another version");
    return table;
}

static const inj_front_table *core(void)
{
    static const inj_front_table *table;
    static char done;
    if (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) { /* twice at worst, with the same outcome */
        __atomic_store_n(&table, open_core(), __ATOMIC_RELAXED);
        __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&table, __ATOMIC_RELAXED);
}

/* Called by front_first, with the argument registers of the call put aside. */
inj_code front_find(uint32_t index)
{
    const inj_front_table *table = core();
    inj_code code = table ? table->find(names[index], FRONT_MAJOR, NULL) : NULL;
    if (!code)
        code = (inj_code)(void *)not_supported;
    __atomic_store_n(&front_slots[index], code, __ATOMIC_RELEASE);
    return code;
}
