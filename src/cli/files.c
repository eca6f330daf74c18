#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *cli_prefix(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return path;
}

FILE *cli_create(const char *path, bool force, wl_error *err)
{
    if (strcmp(path, "-") == 0)
        return stdout;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
    if (fd < 0 && errno == EEXIST)
        wl_fail(err, WL_EXISTS, "%s is there already; -f replaces it, -o NAME writes elsewhere",
                path);
    else if (fd < 0)
        wl_fail_errno(err, "cannot write %s", path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && !file) {
        wl_fail_errno(err, "cannot write %s", path);
        close(fd);
    }
    return file;
}

int cli_finish(FILE *file, const char *path, wl_status status, wl_error *err)
{
    bool failed = status != WL_OK;
    if (!failed && (fflush(file) != 0 || ferror(file))) {
        wl_fail_errno(err, "cannot write %s", path);
        failed = true;
    }
    if (file != stdout && fclose(file) != 0 && !failed) {
        wl_fail_errno(err, "cannot write %s", path);
        failed = true;
    }
    if (failed && file != stdout)
        unlink(path);
    return failed ? cli_fail(err) : CLI_OK;
}
