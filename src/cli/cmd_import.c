/* `warplens import`: a profile from captures that a run left behind. */
#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>

/* Replays as the environment says. Returns an exit status. */
static int import_folder(const char *folder, const char *output, bool force)
{
    wl_error err = {0};
    prog_options options;
    wl_status status = prog_options_read(NULL, &options, &err);
    if (status == WL_ARG) {
        prog_options_clear(&options);
        return cli_usage_error("import", "%s", err.text);
    }
    replay_settings settings = replay_settings_of(&options);
    cli_import_options how = {.force = force, .replay = &settings};
    if (status == WL_OK)
        status = cli_import(folder, output, &how, &err);
    prog_options_clear(&options);
    if (status == WL_OK)
        wl_log(WL_LOG_INFO, "profile: %s", output);
    else
        cli_fail(&err);
    if (status == WL_STATE && cli_interrupt())
        return 128 + cli_interrupt();
    return status == WL_OK ? CLI_OK : CLI_FAILED;
}

int cmd_import(int argc, const char **argv)
{
    char *output = NULL;
    int force = 0, status;
    const struct poptOption options[] = {
        {"output", 'o', POPT_ARG_STRING, &output, 0, "The profile to make", "FILE"},
        {"force", 'f', POPT_ARG_NONE, &force, 0, "Replace the file", NULL},
        CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "-o PROFILE FOLDER"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char *folder = context ? cli_only_argument(context, "folder of captures", &status) : NULL;
    if (folder && !output)
        status = cli_usage_error("import", "-o FILE is needed");
    else if (folder)
        status = import_folder(folder, output, force);
    poptFreeContext(context);
    free(output);
    return status;
}
