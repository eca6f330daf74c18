/* The collector's libraries, and a link to them where the linker could not read their path. */
#include "cli/libraries.h"

#include "base/log.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The linker takes an entry apart at the first ones, and puts something else for $ORIGIN. What is
 * not absolute it would look up in the program's current folder. */
static bool linker_can_read(const char *path)
{
    return path[0] == '/' && !strpbrk(path, " \t\n:;$");
}

/* Readable by nobody else, so that nobody else can lead the link elsewhere. */
static bool make_private_folder(char *path, size_t size)
{
    const char *const parents[] = {getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        if (!parents[i] || !linker_can_read(parents[i]))
            continue;
        int length = snprintf(path, size, "%s/warplens-XXXXXX", parents[i]);
        if (length > 0 && (size_t)length < size && mkdtemp(path))
            return true;
    }
    path[0] = '\0';
    return false;
}

static wl_status go_by_link(cli_libraries *l, wl_error *err)
{
    char target[PATH_MAX];
    memcpy(target, l->folder, sizeof target);
    if (make_private_folder(l->private_folder, sizeof l->private_folder)) {
        snprintf(l->folder, sizeof l->folder, "%s/lib", l->private_folder);
        if (symlink(target, l->folder) == 0)
            return WL_OK;
        cli_libraries_clear(l);
    }
    return wl_fail(err, WL_NOENT,
                   "warplens lies in %s, a path that LD_PRELOAD cannot hold, and no link to it can "
                   "be made in /tmp: install it where the path has no space, colon, semicolon or $",
                   target);
}

wl_status cli_libraries_find(bool on_gpu, cli_libraries *out, wl_error *err)
{
    const char *prefix = cli_prefix();
    *out = (cli_libraries){.folder = ""};
    if (!prefix)
        return wl_fail(err, WL_NOENT, "cannot find warplens's own files: /proc is not mounted");
    int length = snprintf(out->folder, sizeof out->folder, "%s/lib/warplens/%s", prefix,
                          on_gpu ? "inline" : "emulate");
    wl_status status = length < PATH_MAX ? WL_OK
                                         : wl_fail(err, WL_NOENT, "%s is too long a path", prefix);
    if (status == WL_OK && !linker_can_read(out->folder))
        status = go_by_link(out, err);
    if (status != WL_OK)
        return status;
    snprintf(out->preload, sizeof out->preload, "%s/%s", out->folder,
             on_gpu ? "libcuda.so.1" : "libwarplens_emulate.so");
    if (access(out->preload, R_OK) == 0)
        return WL_OK;
    status = wl_fail_errno(err, "%s is missing: install warplens again", out->preload);
    cli_libraries_clear(out);
    return status;
}

void cli_libraries_clear(cli_libraries *l)
{
    if (!*l->private_folder)
        return;
    unlink(l->folder);
    rmdir(l->private_folder);
    l->private_folder[0] = '\0';
}
