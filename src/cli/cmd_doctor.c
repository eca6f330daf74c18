#include "base/log.h"
#include "base/version.h"
#include "cli/cli.h"
#include "collect/driver_path.h"
#include "collect/target.h"
#include "cuda/device.h"
#include "emu/emu.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
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

/* What the driver says of its devices, in a process of its own: a driver may take long, fail or end it. */
static void ask_driver(const char *path, FILE *out)
{
    typedef int (*init)(unsigned);
    typedef int (*get_count)(int *);
    typedef int (*get_name)(char *, int, int);
    char name[256] = "?";
    int count = 0, result = -1;
    void *driver = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    init cu_init = driver ? (init)dlsym(driver, "cuInit") : NULL;
    get_count cu_count = driver ? (get_count)dlsym(driver, "cuDeviceGetCount") : NULL;
    get_name cu_name = driver ? (get_name)dlsym(driver, "cuDeviceGetName") : NULL;
    if (!cu_init || !cu_count || !cu_name)
        fprintf(out, "!%s cannot be loaded: %s", path, driver ? "no driver" : dlerror());
    else if ((result = cu_init(0)) != 0 || (result = cu_count(&count)) != 0 || count == 0)
        fprintf(out, "!%s finds no GPU (error %d)", path, result);
    else if (cu_name(name, sizeof name, 0) == 0)
        fprintf(out, "%s: %d GPU%s, the first is %s", path, count, count > 1 ? "s" : "", name);
    fflush(out);
}

static int check_gpu(void)
{
    char path[PATH_MAX], text[1024] = "!the driver gave no answer";
    int ends[2];
    if (!collect_find_driver(path, sizeof path))
        return tell(GOOD, "NVIDIA driver", "none; kernels are emulated, which needs none");
    if (!collect_gpu_present())
        return tell(NOTE, "NVIDIA driver", "%s, but no GPU; kernels are emulated", path);
    if (pipe(ends) != 0)
        return tell(NOTE, "NVIDIA driver", "%s", path);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        FILE *out = fdopen(ends[1], "w");
        if (out)
            ask_driver(path, out);
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = child > 0 ? read(ends[0], text, sizeof text - 1) : -1;
    if (length > 0)
        text[length] = '\0';
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return text[0] == '!' ? tell(NOTE, "NVIDIA driver", "%s; kernels are emulated", text + 1)
                          : tell(GOOD, "NVIDIA driver", "%s; programs are profiled there", text);
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
