/* The capture of this process, and its PROCESS record. */
#include "record/open.h"

#include "base/log.h"
#include "base/vec.h"
#include "base/version.h"
#include "program/options.h"
#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t since_epoch(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* /proc/self/cmdline: arguments end in NUL each. Returns their number; *text and *argv are
 * malloc'ed. */
static uint32_t read_arguments(char **text, const char ***argv)
{
    size_t length = 0, capacity = 0;
    *text = NULL;
    *argv = NULL;
    FILE *file = fopen("/proc/self/cmdline", "re");
    while (file && !feof(file) && !ferror(file)) {
        if (!wl_vec_grow((void **)text, &capacity, length, 4096, 1))
            break;
        length += fread(*text + length, 1, 4096, file);
    }
    if (file)
        fclose(file);
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += (*text)[i] == '\0';
    *argv = calloc(count + 1, sizeof **argv);
    if (!*argv)
        return 0;
    const char *p = *text;
    for (uint32_t i = 0; i < count; i++, p += strlen(p) + 1)
        (*argv)[i] = p;
    return count;
}

/* A failure is kept by the writer and found with the next record. */
static void write_process(cap_writer *writer, const char *collector, int64_t start_ns)
{
    char executable[4096] = "", directory[4096] = "", host[256] = "";
    ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[length > 0 ? length : 0] = '\0';
    if (!getcwd(directory, sizeof directory))
        directory[0] = '\0';
    gethostname(host, sizeof host - 1);
    char *text;
    const char **argv;
    cap_process p = {.pid = (uint32_t)getpid(),
                     .parent = (uint32_t)getppid(),
                     .executable = executable,
                     .directory = directory,
                     .host = host,
                     .collector = collector,
                     .version = WARPLENS_VERSION,
                     .options = prog_options_get()->command,
                     .start_ns = since_epoch() - (rec_now() - start_ns)};
    p.argc = read_arguments(&text, &argv);
    p.argv = argv;
    cap_write_process(writer, &p);
    free(text);
    free(argv);
}

cap_writer *rec_open_capture(const char *collector, int64_t start_ns)
{
    const char *folder = prog_options_get()->capture_dir;
    uint64_t only = prog_options_get()->only_process;
    cap_writer *writer = NULL;
    wl_error err = {0};
    if (!*folder || (only && only != (uint64_t)getpid()))
        return NULL;
    for (int n = 0; n < 1000; n++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%ld-%d.wlcap", folder, (long)getpid(), n);
        wl_status status = cap_create(path, &writer, &err);
        if (status != WL_EXISTS)
            break;
    }
    if (writer)
        write_process(writer, collector, start_ns);
    else
        wl_log(WL_LOG_ERROR, "Nothing is recorded: %s", err.text);
    return writer;
}
