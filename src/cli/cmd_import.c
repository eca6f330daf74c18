#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>

int cmd_import(int argc, const char **argv)
{
    char *output = NULL;
    int force = 0, status;
    const struct poptOption options[] = {
        {"output", 'o', POPT_ARG_STRING, &output, 0, "The profile to make", "FILE"},
        {"force", 'f', POPT_ARG_NONE, &force, 0, "Replace the file", NULL},
        CLI_COMMON};
    poptContext context = cli_parse(argc, argv, options, "-o PROFILE FOLDER", NULL, NULL, &status);
    const char *folder = context ? cli_only_argument(context, "folder of captures", &status) : NULL;
    wl_error err = {0};
    if (folder && !output)
        status = cli_usage_error("import", "-o FILE is needed");
    else if (folder)
        status = cli_import(folder, output, NULL, force, &err) == WL_OK ? CLI_OK : cli_fail(&err);
    if (folder && err.status == WL_STATE && cli_interrupt())
        status = 128 + cli_interrupt();
    if (folder && status == CLI_OK)
        wl_log(WL_LOG_INFO, "profile: %s", output);
    poptFreeContext(context);
    free(output);
    return status;
}
