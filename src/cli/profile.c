/* Profiles as the commands open them. */
#include "base/log.h"
#include "cli/cli.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROFILE_END ".wlprof"

static wl_status open_profile(const char *path, const ana_thresholds *thresholds, unsigned parts,
                              cli_profile *out, wl_error *err)
{
    *out = (cli_profile){.arena = wl_arena_new(),
                         .thresholds = thresholds ? *thresholds : ana_thresholds_default()};
    if (!out->arena)
        return wl_fail(err, WL_NOMEM, "out of memory");
    wl_status status = prof_open(path, &out->db, err);
    if (status == WL_OK)
        status = ana_find(out->db, &out->thresholds, out->arena, &out->findings, err);
    if (status == WL_OK)
        status = rep_load(out->db, &out->findings, parts, out->arena, &out->data, err);
    return status;
}

bool cli_profile_open(const char *path, const ana_thresholds *thresholds, unsigned parts,
                      cli_profile *out)
{
    wl_error err = {0};
    if (open_profile(path, thresholds, parts, out, &err) == WL_OK)
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

cli_digest cli_profile_digest(const cli_profile *p)
{
    return (cli_digest){.known = true,
                        .launches_seen = p->data.coverage.launches_seen,
                        .launches_observed = p->data.coverage.launches_observed,
                        .kernels_seen = p->data.coverage.kernels_seen,
                        .kernels_observed = p->data.coverage.kernels_observed,
                        .emulated = strcmp(p->data.info.collector, "emulate") == 0,
                        .failed = p->data.nfailures > 0,
                        .launches = p->data.launches.count,
                        .findings = p->findings.ngroups,
                        .little = p->findings.count && p->findings.rows[0].gain != ANA_GAIN_FULL};
}

/* Of very many launches that differ the rows are read, but not kept and analysed, which takes memory
 * for each. */
static wl_status try_profile(const char *path, cli_digest *digest, wl_error *err)
{
    enum { MOST_KINDS = 100000 };
    cli_profile profile = {0};
    uint64_t kinds = 0;
    wl_status status = prof_open(path, &profile.db, err);
    if (status == WL_OK)
        status = prof_count_kinds(profile.db, &kinds, err);
    if (status == WL_OK && kinds > MOST_KINDS)
        status = prof_read_launches(profile.db, err);
    cli_profile_close(&profile);
    if (status != WL_OK || kinds > MOST_KINDS)
        return status;
    status = open_profile(path, NULL,
                          REP_PART_HEATS | REP_PART_SOURCES | REP_PART_LISTINGS |
                              REP_PART_NO_ELEMENTS,
                          &profile, err);
    if (status == WL_OK && digest)
        *digest = cli_profile_digest(&profile);
    cli_profile_close(&profile);
    return status;
}

wl_status cli_profile_check(void *ctx, const char *path, wl_error *err)
{
    wl_error why = {0};
    cli_progress_step("looking for patterns in the profile");
    wl_status status = try_profile(path, ctx, &why);
    return status == WL_OK ? WL_OK
                           : wl_fail(err, status,
                                     "a profile was written that cannot be opened again, and was "
                                     "removed: %s",
                                     why.text);
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
