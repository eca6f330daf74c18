/* A file that appears under its name when it is whole. */
#include "profile/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static wl_status exists(const char *path, wl_error *err)
{
    return wl_fail(err, WL_EXISTS, "%s is there already; -f replaces it, -o NAME writes elsewhere",
                   path);
}

/* The file that a name stands for; malloc'ed. */
static char *link_target_of(const char *path)
{
    struct stat st;
    char *file = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    return file ? file : strdup(path); /* a link that leads nowhere is replaced */
}

static wl_status make_temp(const char *target, char **temp)
{
    if (asprintf(temp, "%s.XXXXXX", target) < 0) {
        *temp = NULL;
        return WL_NOMEM;
    }
    int fd = mkostemp(*temp, O_CLOEXEC);
    if (fd < 0) {
        free(*temp);
        *temp = NULL;
        return WL_IO;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    close(fd);
    return WL_OK;
}

wl_status publish_begin(const char *path, bool force, char **temp, wl_error *err)
{
    struct stat st;
    *temp = NULL;
    if (lstat(path, &st) == 0 && !force) {
        return exists(path, err);
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return wl_fail(err, WL_ARG,
                       "%s is no file that could be replaced; -o NAME writes elsewhere", path);
    }
    char *target = link_target_of(path);
    wl_status status = target ? make_temp(target, temp) : WL_NOMEM;
    free(target);
    return status == WL_IO      ? wl_fail_errno(err, "Cannot write %s", path)
           : status == WL_NOMEM ? wl_fail(err, status, "Cannot write %s: out of memory.", path)
                                : WL_OK;
}

void publish_discard(char *temp)
{
    if (temp) {
        unlink(temp);
        free(temp);
    }
}

static bool flush_to_disk(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return good;
}

/* rename, but never over a file that came in the meantime. */
static int rename_new(const char *from, const char *to)
{
    int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (rc != 0 && (errno == EINVAL || errno == ENOSYS)) { /* not on this file system */
        rc = link(from, to);
        if (rc == 0) {
            unlink(from);
        }
    }
    return rc;
}

wl_status publish_end(char *temp, const char *path, bool force, wl_error *err)
{
    if (!flush_to_disk(temp)) {
        wl_status status = wl_fail_errno(err, "Cannot write %s", path);
        publish_discard(temp);
        return status;
    }
    char *target = link_target_of(path);
    if (!target) {
        publish_discard(temp);
        return wl_fail(err, WL_NOMEM, "Cannot write %s: out of memory.", path);
    }
    int rc = force ? rename(temp, target) : rename_new(temp, target);
    free(target);
    if (rc != 0) {
        wl_status status = errno == EEXIST ? exists(path, err)
                                           : wl_fail_errno(err, "Cannot write %s", path);
        publish_discard(temp);
        return status;
    }
    free(temp);
    return WL_OK;
}
