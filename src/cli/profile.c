/* Profiles as the commands open them, and as they are made from captures. */
#include "base/log.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "cli/cli.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROFILE_END ".wlprof"

static wl_status open_profile(const char *path, unsigned parts, cli_profile *out, wl_error *err)
{
    *out = (cli_profile){.arena = wl_arena_new()};
    ana_thresholds thresholds = ana_thresholds_default();
    if (!out->arena)
        return wl_fail(err, WL_NOMEM, "out of memory");
    wl_status status = prof_open(path, &out->db, err);
    if (status == WL_OK)
        status = ana_find(out->db, &thresholds, out->arena, &out->findings, err);
    if (status == WL_OK)
        status = rep_load(out->db, &out->findings, parts, out->arena, &out->data, err);
    return status;
}

bool cli_profile_open(const char *path, unsigned parts, cli_profile *out)
{
    wl_error err = {0};
    if (open_profile(path, parts, out, &err) == WL_OK)
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

/* ---- the newest ---- */

static int is_profile_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > sizeof PROFILE_END - 1 &&
           strcmp(entry->d_name + length - (sizeof PROFILE_END - 1), PROFILE_END) == 0;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* The profile of the current folder that was written last; NULL without one. */
static const char *newest_profile(void)
{
    static char name[NAME_MAX + 1];
    struct dirent **entries = NULL;
    struct stat newest = {0}, st;
    int count = scandir(".", &entries, is_profile_name, alphasort);
    name[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (stat(entries[i]->d_name, &st) == 0 && S_ISREG(st.st_mode) &&
            (!name[0] || is_newer(&st, &newest))) {
            snprintf(name, sizeof name, "%s", entries[i]->d_name);
            newest = st;
        }
        free(entries[i]);
    }
    free(entries);
    return name[0] ? name : NULL;
}

const char *cli_profile_argument(poptContext context, int *status)
{
    const char **args = poptGetArgs(context);
    if (args && args[0])
        return cli_only_argument(context, "profile", status);
    const char *path = newest_profile();
    if (path)
        wl_log(WL_LOG_INFO, "profile: %s, the newest in this folder", path);
    else
        wl_log(WL_LOG_ERROR, "no profile was given, and there is no *" PROFILE_END " here; "
                             "'warplens profile PROGRAM' makes one");
    *status = path ? CLI_OK : CLI_USAGE;
    return path;
}

/* ---- from captures ---- */

typedef wl_vec(char *) path_list;

static int by_file_name(const void *a, const void *b)
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
        qsort(paths->data, paths->count, sizeof *paths->data, by_file_name);
    return WL_OK;
}

static bool import_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    cli_progress("writing the profile", done, total);
    return cli_interrupt() == 0;
}

/* What was written is opened as `stats` and `report` will, before it counts as a profile. */
static wl_status check_profile(const char *path, wl_error *err)
{
    cli_profile profile;
    wl_error why = {0};
    wl_status status = open_profile(path, REP_PART_HEATS | REP_PART_SOURCES, &profile, &why);
    cli_profile_close(&profile);
    return status == WL_OK ? WL_OK
                           : wl_fail(err, status,
                                     "a profile was written that cannot be opened again, and was "
                                     "removed: %s",
                                     why.text);
}

static void remove_captures(const char *folder, const path_list *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        unlink(paths->data[i]);
    rmdir(folder); /* stays where something else lies in it */
}

static bool readable(const char *path, wl_error *err)
{
    cap_reader *reader = NULL;
    bool good = cap_open(path, &reader, err) == WL_OK;
    cap_reader_free(reader);
    return good;
}

/* Takes away what is no capture, as a process leaves that is killed while it begins one. The
 * last error stays in *err. */
static void leave_out_others(path_list *paths, wl_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < paths->count; i++) {
        if (readable(paths->data[i], err)) {
            paths->data[kept++] = paths->data[i];
            continue;
        }
        wl_log(WL_LOG_WARN, "left out: %s", err->text);
        free(paths->data[i]);
    }
    paths->count = kept;
}

static wl_status import(const char *folder, path_list *paths, const char *profile,
                        const prof_options *options, const replay_settings *replay, wl_error *err)
{
    if (paths->count == 0)
        return wl_fail(err, WL_NOENT, "no captures in %s", folder);
    leave_out_others(paths, err);
    if (paths->count == 0)
        return wl_fail(err, WL_CORRUPT, "no capture in %s can be read", folder);
    const char *const *list = (const char *const *)paths->data;
    wl_status status = cli_replay(list, (uint32_t)paths->count, replay, err);
    return status == WL_OK ? prof_import(list, paths->count, profile, options, err) : status;
}

wl_status cli_import(const char *folder, const char *profile, const cli_import_options *how,
                     wl_error *err)
{
    path_list paths = {0};
    prof_options options = {.force = how->force,
                            .older = how->older,
                            .command = how->command,
                            .progress = import_progress,
                            .check = check_profile};
    cli_note_interrupts();
    wl_status status = list_captures(folder, &paths, err);
    if (status == WL_OK)
        status = import(folder, &paths, profile, &options, how->replay, err);
    cli_progress_end();
    if (status == WL_OK)
        remove_captures(folder, &paths);
    for (size_t i = 0; i < paths.count; i++)
        free(paths.data[i]);
    wl_vec_free(&paths);
    return status;
}
