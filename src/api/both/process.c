/* The library's life inside the application: it begins before everything else, and ends last. */
#include "api/both/entry.h"
#include "device/device.h"
#include "inject/patch.h"

#include <unistd.h>

static void not_patched(const char *path, const char *why)
{
    dev_initialize();
    rec_message(WL_LOG_ERROR, "%s: %s; its CUDA calls are not emulated.", path, why);
}

/* Runs before the constructors of all other libraries, even libc's (-z initfirst): some of them may
 * use CUDA. */
__attribute__((constructor)) static void process_begins(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv;
    if (!environ)
        environ = envp;
    dev_process_begins();
    inj_patch_start(&(inj_patching){
        .find = api_entry_find, .failed = not_patched, .active = dev_works});
}

__attribute__((destructor)) static void process_ends(void)
{
    rec_process_ends();
}
