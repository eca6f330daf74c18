#include "profile/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static wl_status exists(const char *path, wl_error *err)
{
    return wl_fail(err, WL_EXISTS, "%s exists; give another name or -f to replace it.", path);
}

wl_status publish_begin(const char *path, bool force, char **temp, wl_error *err)
{
    struct stat st;
    *temp = NULL;
    bool there = lstat(path, &st) == 0;
    if (there && !force) {
        return exists(path, err);
    }
    if (there && S_ISDIR(st.st_mode)) {
        return wl_fail(err, WL_ARG, "%s is a directory.", path);
    }
    if (asprintf(temp, "%s.XXXXXX", path) < 0) {
        *temp = NULL;
        return wl_fail(err, WL_NOMEM, "Cannot write %s: out of memory.", path);
    }
    int fd = mkostemp(*temp, O_CLOEXEC);
    if (fd < 0) {
        free(*temp);
        *temp = NULL;
        return wl_fail_errno(err, "Cannot write %s", path);
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    close(fd);
    return WL_OK;
}

void publish_discard(char *temp)
{
    if (temp) {
        unlink(temp);
        free(temp);
    }
}

static bool flush(const char *path)
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
    if (!flush(temp)) {
        wl_status status = wl_fail_errno(err, "Cannot write %s", path);
        publish_discard(temp);
        return status;
    }
    int rc = force ? rename(temp, path) : rename_new(temp, path);
    if (rc != 0) {
        wl_status status = errno == EEXIST ? exists(path, err)
                                           : wl_fail_errno(err, "Cannot write %s", path);
        publish_discard(temp);
        return status;
    }
    free(temp);
    return WL_OK;
}
