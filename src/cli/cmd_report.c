/* `warplens report`: a profile as one HTML file. */
#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* The parts of the profile that the report holds; 0 where `maps` is no word for them. */
static unsigned parts_for(const char *maps)
{
    const unsigned others = REP_PART_SOURCES | REP_PART_COURSES | REP_PART_WARPS |
                            REP_PART_LISTINGS;
    if (!maps || strcmp(maps, "some") == 0)
        return REP_PART_HEATS | others;
    return strcmp(maps, "all") == 0 ? REP_PART_ALL_HEATS | others : 0;
}

/* Refuses what is not allowed, and what would have no effect. */
static int check_report_options(const char *maps, const char *output, bool force, bool view)
{
    bool to_stdout = output && strcmp(output, "-") == 0;
    if (!parts_for(maps))
        return cli_usage_error("report", "--maps is some or all, not '%s'", maps);
    if (to_stdout && (force || view))
        return cli_usage_error("report", "%s has no effect with -o -", force ? "-f" : "--open");
    return CLI_OK;
}

static int write_report(const char *path, const ana_thresholds *thresholds, unsigned parts,
                        const char *output, bool force)
{
    cli_profile profile;
    wl_error err = {0};
    if (!cli_has_page() || !cli_profile_open(path, thresholds, parts, &profile))
        return CLI_FAILED;
    FILE *file = cli_create(output, force, &err);
    int status = file ? cli_finish(file, output, rep_html(&profile.data, file, &err), &err)
                      : cli_fail(&err);
    cli_profile_close(&profile);
    return status;
}

int cmd_report(int argc, const char **argv)
{
    char *output = NULL, *maps = NULL, **settings = NULL;
    ana_thresholds thresholds;
    int force = 0, view = 0, status;
    const struct poptOption options[] = {
        {"output", 'o', POPT_ARG_STRING, &output, 0,
         "Write here instead of PROFILE with .html; - is stdout", "FILE"},
        {"force", 'f', POPT_ARG_NONE, &force, 0, "Replace the file", NULL},
        {"maps", '\0', POPT_ARG_STRING, &maps, 0,
         "Heat maps: some of each kernel and object (default), or all of the profile", "some|all"},
        CLI_SET_THRESHOLD(settings),
        {"open", '\0', POPT_ARG_NONE, &view, 0, "Show it in the browser", NULL},
        CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char *path = context ? cli_profile_argument(context, &status) : NULL;
    int fit = cli_thresholds("report", settings, &thresholds);
    status = status == CLI_OK ? fit : status;
    if (path && status == CLI_OK)
        status = check_report_options(maps, output, force, view);
    if (path && status == CLI_OK) {
        if (!output)
            output = cli_html_path(path, ".html");
        status = output ? write_report(path, &thresholds, parts_for(maps), output, force)
                        : CLI_FAILED;
        if (status == CLI_OK && strcmp(output, "-") != 0)
            wl_log(WL_LOG_INFO, "report: %s", output);
        if (status == CLI_OK && view)
            cli_open_in_browser(output, output);
    }
    poptFreeContext(context);
    free(output), free(maps);
    return status;
}
