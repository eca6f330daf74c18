#include "base/log.h"
#include "base/vec.h"
#include "cli/cli.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_profile_open(const char *path, unsigned parts, cli_profile *out)
{
    wl_error err = {0};
    *out = (cli_profile){.arena = wl_arena_new()};
    ana_thresholds thresholds = ana_thresholds_default();
    if (!out->arena)
        wl_fail(&err, WL_NOMEM, "out of memory");
    else if (prof_open(path, &out->db, &err) == WL_OK &&
             ana_find(out->db, &thresholds, out->arena, &out->findings, &err) == WL_OK &&
             rep_load(out->db, &out->findings, parts, out->arena, &out->data, &err) == WL_OK)
        return true;
    cli_fail(&err);
    cli_profile_close(out);
    return false;
}

void cli_profile_close(cli_profile *profile)
{
    prof_close(profile->db);
    wl_arena_free(profile->arena);
    *profile = (cli_profile){0};
}

/* ---- from captures ---- */

typedef wl_vec(char *) path_list;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static wl_status list_captures(const char *folder, path_list *paths, wl_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return wl_fail_errno(err, "cannot read %s", folder);
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        char *path;
        if (!dot || strcmp(dot, ".wlcap") != 0)
            continue;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0 || !wl_push(paths, path))
            break;
    }
    closedir(dir);
    if (paths->count)
        qsort(paths->data, paths->count, sizeof *paths->data, by_name);
    return WL_OK;
}

static bool import_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    cli_progress("writing the profile", done, total);
    return true;
}

static void remove_captures(const char *folder, const path_list *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        unlink(paths->data[i]);
    rmdir(folder); /* stays where something else lies in it */
}

wl_status cli_import(const char *folder, const char *profile, const char *command, bool force,
                     wl_error *err)
{
    path_list paths = {0};
    prof_options options = {.force = force, .command = command, .progress = import_progress};
    wl_status status = list_captures(folder, &paths, err);
    if (status == WL_OK && paths.count == 0)
        status = wl_fail(err, WL_NOENT, "no captures in %s", folder);
    if (status == WL_OK)
        status = prof_import((const char *const *)paths.data, paths.count, profile, &options, err);
    cli_progress_end();
    if (status == WL_OK)
        remove_captures(folder, &paths);
    for (size_t i = 0; i < paths.count; i++)
        free(paths.data[i]);
    wl_vec_free(&paths);
    return status;
}
