/* A file that appears under its name when it is whole. */
#include "profile/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* That of the file to be replaced, else what the process gives new files. */
static mode_t mode_for(const char *target)
{
    struct stat st;
    mode_t mask = umask(0);
    umask(mask);
    return stat(target, &st) == 0 ? st.st_mode & 0777 : 0666 & ~mask;
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
    fchmod(fd, mode_for(target));
    close(fd);
    return WL_OK;
}

wl_status publish_begin(const char *path, bool force, char **temp, wl_error *err)
{
    struct stat st;
    *temp = NULL;
    if (lstat(path, &st) == 0 && !force)
        return exists(path, err);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return wl_fail(err, WL_ARG,
                       "%s is not a regular file and cannot be replaced; -o NAME writes elsewhere",
                       path);
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

/* False with errno set. */
static bool flush_to_disk(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    int code = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    errno = code;
    return code == 0;
}

/* rename, but never over a file that came in the meantime. */
static int rename_new(const char *from, const char *to)
{
    int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (rc != 0 && (errno == EINVAL || errno == ENOSYS)) { /* not on this file system */
        rc = link(from, to);
        if (rc == 0)
            unlink(from);
    }
    return rc;
}

static wl_status end_failed(char *temp, const char *path, wl_error *err)
{
    wl_status status = errno == EEXIST ? exists(path, err)
                                       : wl_fail_errno(err, "Cannot write %s", path);
    publish_discard(temp);
    return status;
}

wl_status publish_end(char *temp, const char *path, bool force, wl_error *err)
{
    if (!flush_to_disk(temp))
        return end_failed(temp, path, err);
    char *target = link_target_of(path);
    if (!target) {
        publish_discard(temp);
        return wl_fail(err, WL_NOMEM, "Cannot write %s: out of memory.", path);
    }
    int rc = force ? rename(temp, target) : rename_new(temp, target);
    free(target);
    if (rc != 0)
        return end_failed(temp, path, err);
    free(temp);
    return WL_OK;
}

/* Gives the file `from` the first free name of "program.1.wlprof", "program.2.wlprof" ... for
 * "program.wlprof"; malloc'ed, NULL with errno set on failure. */
static char *move_to_number(const char *from, const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    for (int n = 1; n < INT_MAX; n++) {
        char *name;
        if (asprintf(&name, "%.*s.%d%s", stem, path, n, path + stem) < 0)
            return NULL;
        if (rename_new(from, name) == 0)
            return name;
        free(name);
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

/* Both names change hands at once, so that no run that ends at the same moment is lost; on a file
 * system that cannot do that, one after the other. */
static bool change_places(const char *temp, const char *path, char **older)
{
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
        *older = move_to_number(temp, path);
        if (!*older) /* each back to its own place */
            renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE);
        return *older != NULL;
    }
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    *older = move_to_number(path, path);
    return *older && rename_new(temp, path) == 0;
}

wl_status publish_end_beside(char *temp, const char *path, char **older, wl_error *err)
{
    *older = NULL;
    if (!flush_to_disk(temp))
        return end_failed(temp, path, err);
    bool done = rename_new(temp, path) == 0 ||
                (errno == EEXIST && change_places(temp, path, older));
    if (!done)
        return end_failed(temp, path, err);
    free(temp);
    return WL_OK;
}
