/* `warplens advise`: what to change in a program, what saves most first. */
#include "cli/cli.h"

static int show_advice(const char *path, bool all)
{
    cli_profile profile;
    wl_error err = {0};
    if (!cli_profile_open(path, REP_PART_SOURCES, &profile))
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
    const struct poptOption options[] = {{"all", 'a', POPT_ARG_NONE, &all, 0,
                                          "List changes that would gain little, too, and why",
                                          NULL},
                                         CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char *path = context ? cli_profile_argument(context, &status) : NULL;
    if (path)
        status = show_advice(path, all);
    poptFreeContext(context);
    return status;
}
