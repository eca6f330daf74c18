#include "base/log.h"
#include "base/version.h"
#include "cli/cli.h"
#include "collect/target.h"
#include "cuda/device.h"
#include "emu/emu.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

typedef enum verdict { GOOD, NOTE, BAD } verdict;

static int tell(verdict v, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints one line; returns 1 for BAD. */
static int tell(verdict v, const char *what, const char *format, ...)
{
    static const char *const words[] = {[GOOD] = "ok", [NOTE] = "note", [BAD] = "BAD"};
    static const char *const colors[] = {[GOOD] = "32", [NOTE] = "33", [BAD] = "31"};
    if (cli_color(stdout))
        printf("\033[%sm%-4s\033[0m  %-22s ", colors[v], words[v], what);
    else
        printf("%-4s  %-22s ", words[v], what);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    return v == BAD;
}

static int check_collector(void)
{
    char path[PATH_MAX];
    const char *prefix = cli_prefix();
    snprintf(path, sizeof path, "%s/lib/warplens/emulate/libwarplens_emulate.so",
             prefix ? prefix : "");
    if (access(path, R_OK) != 0)
        return tell(BAD, "collector", "%s is missing: install warplens again", path);
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return tell(BAD, "collector", "%s", dlerror());
    return tell(GOOD, "collector", "%s loads", path);
}

static int check_devices(void)
{
    char **ids;
    size_t count;
    wl_error err = {0};
    if (cuda_device_list(&ids, &count, &err) != WL_OK || count == 0)
        return tell(BAD, "device descriptions", "%s",
                    count ? err.text : "none found: install warplens again");
    cuda_device_list_free(ids, count);
    return tell(GOOD, "device descriptions", "%zu in %s", count, cuda_device_folder());
}

static int check_gpu(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return driver ? tell(NOTE, "NVIDIA driver", "found; this version emulates the GPU all the same")
                  : tell(GOOD, "NVIDIA driver", "none; kernels are emulated, which needs none");
}

static int check_disk(void)
{
    struct statvfs fs;
    if (statvfs(".", &fs) != 0)
        return tell(NOTE, "disk", "cannot tell how much room the current folder has");
    double free_gib = (double)fs.f_bavail * (double)fs.f_frsize / (1 << 30);
    return tell(free_gib < 1 ? NOTE : GOOD, "disk",
                "%.1f GiB free in the current folder, where profiles go", free_gib);
}

static int check_target(const char *program)
{
    wl_error err = {0};
    if (collect_check_target(program, &err) != WL_OK)
        return tell(BAD, "program", "%s", err.text);
    return tell(GOOD, "program", "%s can be profiled", program);
}

int cmd_doctor(int argc, const char **argv)
{
    const struct poptOption options[] = {CLI_COMMON};
    int status;
    poptContext context = cli_parse(argc, argv, options, "[PROGRAM]", NULL, NULL, &status);
    if (!context)
        return status;
    const char **args = poptGetArgs(context);
    int bad = tell(GOOD, "warplens", "%s", WARPLENS_VERSION);
    bad += tell(GOOD, "emulator", "%ld cores, handlers for %s", sysconf(_SC_NPROCESSORS_ONLN),
                emu_isa());
    bad += check_collector() + check_devices() + check_gpu() + check_disk();
    bad += rep_html_available() ? tell(GOOD, "HTML report", "built in")
                                : tell(BAD, "HTML report",
                                       "built without it: install nodejs and npm and build again");
    if (args && args[0])
        bad += check_target(args[0]);
    poptFreeContext(context);
    return bad ? CLI_FAILED : CLI_OK;
}
