/* The driver: found and opened. */
#include "shim/driver/driver.h"

#include "base/log.h"
#include "program/driver_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

static struct {
    pthread_once_t once;
    void *library;
    char path[PATH_MAX];
} driver = {PTHREAD_ONCE_INIT, NULL, ""};

static void open_driver(void)
{
    if (!prog_find_driver(driver.path, sizeof driver.path)) {
        wl_log(WL_LOG_ERROR, "NVIDIA's driver (libcuda.so.1) was not found.");
        return;
    }
    driver.library = dlopen(driver.path, RTLD_LAZY | RTLD_LOCAL);
    if (!driver.library)
        wl_log(WL_LOG_ERROR, "NVIDIA's driver cannot be loaded: %s", dlerror());
}

void *drv_real(const char *symbol)
{
    pthread_once(&driver.once, open_driver);
    return driver.library ? dlsym(driver.library, symbol) : NULL;
}

bool drv_is_open(void)
{
    return driver.library != NULL;
}
