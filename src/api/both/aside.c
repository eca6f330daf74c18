/* The driver that the program would have without us. */
#include "api/both/aside.h"

#include "cuda/types.h"
#include "program/driver_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

static bool aside;
static void *driver;

static void open_system_driver(void)
{
    char path[PATH_MAX];
    if (prog_find_driver(path, sizeof path))
        driver = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

void api_stand_aside(void)
{
    __atomic_store_n(&aside, true, __ATOMIC_RELAXED);
}

bool api_stands_aside(void)
{
    return __atomic_load_n(&aside, __ATOMIC_RELAXED);
}

static int without_driver(void)
{
    return CUDA_ERROR_NO_DEVICE;
}

inj_code api_aside_find(const char *symbol)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_system_driver);
    return driver ? (inj_code)dlsym(driver, symbol) : (inj_code)(void *)without_driver;
}
