/* The captures of a run, made into a profile and then removed. One whose process still runs is not
 * touched: a copy of it goes into the profile. */
#include "base/log.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "cli/attached.h"
#include "cli/cli.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the files ---- */

typedef struct capture_file {
    char *path;
    bool running; /* its process still runs, and `path` is a copy */
} capture_file;

typedef wl_vec(capture_file) capture_list;

static void clear_captures(capture_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->data[i].path);
    wl_vec_free(list);
}

static int by_file_name(const void *a, const void *b)
{
    return strcmp(((const capture_file *)a)->path, ((const capture_file *)b)->path);
}

static bool is_capture_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".wlcap") == 0;
}

static wl_status list_captures(const char *folder, capture_list *list, wl_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return wl_fail_errno(err, "cannot read %s", folder);
    for (struct dirent *entry; (entry = readdir(dir));) {
        capture_file file = {0};
        if (!is_capture_name(entry->d_name))
            continue;
        if (asprintf(&file.path, "%s/%s", folder, entry->d_name) < 0 || !wl_push(list, file))
            break;
    }
    closedir(dir);
    if (list->count)
        qsort(list->data, list->count, sizeof *list->data, by_file_name);
    return WL_OK;
}

bool cli_has_captures(const char *folder)
{
    capture_list list = {0};
    bool any = list_captures(folder, &list, NULL) != WL_OK || list.count > 0;
    clear_captures(&list);
    return any;
}

static bool import_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    cli_progress("writing the profile", done, total);
    return cli_interrupt() == 0;
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
static void leave_out_others(capture_list *list, wl_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (readable(list->data[i].path, err)) {
            list->data[kept++] = list->data[i];
            continue;
        }
        wl_log(WL_LOG_WARN, "left out of the profile: %s", err->text);
        free(list->data[i].path);
    }
    list->count = kept;
}

/* ---- processes that still run ---- */

static wl_status copy_file(const char *from, const char *to, wl_error *err)
{
    char block[1 << 16];
    FILE *in = fopen(from, "re"), *out = in ? fopen(to, "wxe") : NULL;
    wl_status status = out ? WL_OK : wl_fail_errno(err, "cannot copy %s", from);
    while (status == WL_OK && !feof(in)) {
        size_t n = fread(block, 1, sizeof block, in);
        if (ferror(in))
            status = wl_fail_errno(err, "cannot read %s", from);
        else if (fwrite(block, 1, n, out) != n)
            status = wl_fail_errno(err, "cannot write %s", to);
    }
    if (out && fclose(out) != 0 && status == WL_OK)
        status = wl_fail_errno(err, "cannot write %s", to);
    if (in)
        fclose(in);
    return status;
}

/* From here on it is the copy that is read, replayed and removed. */
static wl_status copy_running(capture_list *list, wl_error *err)
{
    wl_status status = WL_OK;
    for (size_t i = 0; i < list->count && status == WL_OK; i++) {
        capture_file *file = &list->data[i];
        char *copy;
        if (!cap_in_use(file->path))
            continue;
        if (asprintf(&copy, "%s.%ld", file->path, (long)getpid()) < 0)
            return wl_fail(err, WL_NOMEM, "out of memory");
        status = copy_file(file->path, copy, err);
        free(file->path);
        *file = (capture_file){.path = copy, .running = true};
    }
    return status;
}

static size_t count_running(const capture_list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->data[i].running;
    return count;
}

static void tell_running(const capture_list *list, const char *folder)
{
    size_t count = count_running(list);
    if (count)
        wl_log(WL_LOG_WARN,
               "%zu process%s still run%s: the profile has what %s recorded until now; when %s "
               "ended, 'warplens import -o NAME %s' makes a profile of all of it",
               count, count == 1 ? "" : "es", count == 1 ? "s" : "", count == 1 ? "it" : "they",
               count == 1 ? "it has" : "they have", folder);
}

/* ---- the import ---- */

static wl_status import_list(const capture_list *list, const char *profile, prof_options *options,
                             const replay_settings *replay, wl_error *err)
{
    const char **paths = calloc(list->count, sizeof *paths);
    bool *running = calloc(list->count, sizeof *running);
    wl_status status = paths && running ? WL_OK : wl_fail(err, WL_NOMEM, "out of memory");
    for (size_t i = 0; i < list->count && status == WL_OK; i++) {
        paths[i] = list->data[i].path;
        running[i] = list->data[i].running;
    }
    options->running = running;
    if (status == WL_OK)
        status = cli_replay(paths, (uint32_t)list->count, replay, err);
    if (status == WL_OK)
        status = prof_import(paths, list->count, profile, options, err);
    free(running);
    free(paths);
    return status;
}

static wl_status import(const char *folder, capture_list *list, const char *profile,
                        prof_options *options, const replay_settings *replay, wl_error *err)
{
    if (list->count == 0)
        return wl_fail(err, WL_NOENT, "no captures in %s", folder);
    leave_out_others(list, err);
    if (list->count == 0)
        return wl_fail(err, WL_CORRUPT, "no capture in %s can be read", folder);
    wl_status status = copy_running(list, err);
    return status == WL_OK ? import_list(list, profile, options, replay, err) : status;
}

void cli_remove_captures_folder(const char *folder)
{
    cli_attached_forget(folder);
    rmdir(folder); /* stays where something else lies in it */
}

/* After a success all that was imported, else the copies. */
static void remove_files(const capture_list *list, bool imported)
{
    for (size_t i = 0; i < list->count; i++)
        if (imported || list->data[i].running)
            unlink(list->data[i].path);
}

wl_status cli_import(const char *folder, const char *profile, const cli_import_options *how,
                     wl_error *err)
{
    capture_list list = {0};
    prof_options options = {.force = how->force,
                            .older = how->older,
                            .command = how->command,
                            .progress = import_progress,
                            .check = cli_profile_check,
                            .check_ctx = how->digest};
    cli_note_interrupts();
    wl_status status = list_captures(folder, &list, err);
    if (status == WL_OK)
        status = import(folder, &list, profile, &options, how->replay, err);
    cli_progress_end();
    remove_files(&list, status == WL_OK);
    if (status == WL_OK && !how->keep_folder)
        cli_remove_captures_folder(folder);
    if (status == WL_OK)
        tell_running(&list, folder);
    clear_captures(&list);
    return status;
}
