/* The library's life inside the application: it begins before everything else, and ends last. */
#include "api/both/aside.h"
#include "api/both/entry.h"
#include "device/device.h"
#include "inject/patch.h"
#include "program/options.h"

#include <unistd.h>

/* NVIDIA's runtime runs there, which works on its own driver only. */
static void not_patched(const char *path, const char *why)
{
    api_stand_aside();
    dev_start_recording();
    rec_message(WL_LOG_ERROR, "%s: %s; its CUDA calls are not emulated.", path, why);
}

/* Runs before the constructors of all other libraries, even libc's (-z initfirst): some of them may
 * use CUDA. Where LD_PRELOAD did not bring us, a library in front does so later, while the program
 * runs: what is linked with the shared runtime finds us in time. */
__attribute__((constructor)) static void process_begins(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv;
    if (!environ)
        environ = envp;
    dev_process_begins();
    /* As the driver that tests name in NVIDIA's place we always come late. */
    bool late = !inj_loaded_at_start() && !*prog_options_get()->driver;
    inj_patch_start(&(inj_patching){
        .find = api_entry_find, .failed = not_patched, .active = dev_works, .late = late});
}

__attribute__((destructor)) static void process_ends(void)
{
    rec_process_ends();
}
