/* `warplens doctor`: checks this machine and a program for what profiling needs. */
#include "base/log.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "cuda/device.h"
#include "emu/emu.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

int doctor_tell(doctor_verdict v, const char *what, const char *format, ...)
{
    static const char *const words[] = {
        [DOCTOR_GOOD] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_BAD] = "BAD"};
    static const char *const colors[] = {
        [DOCTOR_GOOD] = "32", [DOCTOR_NOTE] = "33", [DOCTOR_BAD] = "31"};
    if (cli_color(stdout))
        printf("\033[%sm%-4s\033[0m  %-22s ", colors[v], words[v], what);
    else
        printf("%-4s  %-22s ", words[v], what);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    return v == DOCTOR_BAD;
}

static int check_collector(void)
{
    char path[PATH_MAX];
    const char *prefix = cli_prefix();
    snprintf(path, sizeof path, "%s/lib/warplens/emulate/libwarplens_emulate.so",
             prefix ? prefix : "");
    if (access(path, R_OK) != 0)
        return doctor_tell(DOCTOR_BAD, "emulator library", "%s is missing: install warplens again",
                           path);
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return doctor_tell(DOCTOR_BAD, "emulator library", "%s", dlerror());
    return doctor_tell(DOCTOR_GOOD, "emulator library", "%s can be loaded", path);
}

static int check_device_descriptions(void)
{
    static const char what[] = "device descriptions";
    char **ids;
    size_t count;
    wl_error err = {0};
    if (cuda_device_list(&ids, &count, &err) != WL_OK)
        return doctor_tell(DOCTOR_BAD, what, "%s: install warplens again", err.text);
    cuda_device_list_free(ids, count);
    if (count == 0)
        return doctor_tell(DOCTOR_BAD, what, "none in %s: install warplens again",
                           cuda_device_folder());
    return doctor_tell(DOCTOR_GOOD, what, "%zu in %s", count, cuda_device_folder());
}

static int check_disk(void)
{
    struct statvfs fs;
    if (statvfs(".", &fs) != 0)
        return doctor_tell(DOCTOR_NOTE, "disk", "cannot tell how much room the current folder has");
    double free_gib = (double)fs.f_bavail * (double)fs.f_frsize / (1 << 30);
    return doctor_tell(free_gib < 1 ? DOCTOR_NOTE : DOCTOR_GOOD, "disk",
                       "%.1f GiB free in the current folder, where profiles go", free_gib);
}

int cmd_doctor(int argc, const char **argv)
{
    const struct poptOption options[] = {CLI_COMMON};
    int status;
    doctor_gpu gpu;
    const cli_syntax syntax = {.options = options, .usage = "[PROGRAM]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    if (!context)
        return status;
    const char **args = poptGetArgs(context);
    if (args && args[0] && args[1]) {
        poptFreeContext(context);
        return cli_usage_error("doctor", "one program is expected, not several");
    }
    int bad = doctor_tell(DOCTOR_GOOD, "warplens", "%s", WARPLENS_VERSION);
    bad += doctor_tell(DOCTOR_GOOD, "emulator", "%ld cores, instruction set %s",
                       sysconf(_SC_NPROCESSORS_ONLN), emu_isa());
    bad += check_collector() + check_device_descriptions() + doctor_check_gpu(&gpu) + check_disk();
    bad += rep_html_available()
               ? doctor_tell(DOCTOR_GOOD, "HTML report", "built in")
               : doctor_tell(DOCTOR_BAD, "HTML report",
                             "built without it: install nodejs and npm and build again");
    if (args && args[0])
        bad += doctor_check_program(args[0], &gpu);
    poptFreeContext(context);
    return bad ? CLI_FAILED : CLI_OK;
}
