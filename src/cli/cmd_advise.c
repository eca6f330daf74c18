/* `warplens advise`: what to change in a program, what saves most first. */
#include "cli/cli.h"

static int show_advice(const char *path, const ana_thresholds *thresholds, bool all)
{
    cli_profile profile;
    wl_error err = {0};
    if (!cli_profile_open(path, thresholds, REP_PART_SOURCES, &profile))
        return CLI_FAILED;
    rep_text_options text = {.width = cli_width(stdout), .color = cli_color(stdout), .all = all};
    int status = cli_finish(stdout, "the output", rep_advise(&profile.data, &text, stdout, &err),
                            &err);
    if (status == CLI_OK && profile.data.coverage.launches_observed == 0)
        status = CLI_NOT_MEASURED;
    cli_profile_close(&profile);
    return status;
}

int cmd_advise(int argc, const char **argv)
{
    int all = 0, status;
    char **settings = NULL;
    ana_thresholds thresholds;
    const struct poptOption options[] = {{"all", 'a', POPT_ARG_NONE, &all, 0,
                                          "List changes that would gain little, too, and why",
                                          NULL},
                                         CLI_SET_THRESHOLD(settings),
                                         CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char *path = context ? cli_profile_argument(context, &status) : NULL;
    int fit = cli_thresholds("advise", settings, &thresholds);
    status = status == CLI_OK ? fit : status;
    if (path && status == CLI_OK)
        status = show_advice(path, &thresholds, all);
    poptFreeContext(context);
    return status;
}
