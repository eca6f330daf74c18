/* Reading of command lines by popt, alike for every command. */
#include "base/log.h"
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>

static void set_log_level(poptContext context, enum poptCallbackReason reason,
                          const struct poptOption *option, const char *arg, void *data)
{
    (void)context, (void)reason, (void)arg, (void)data;
    wl_log_set_level(option->shortName == 'q' ? WL_LOG_ERROR : WL_LOG_DEBUG);
}

struct poptOption cli_common[] = {
    {NULL, '\0', POPT_ARG_CALLBACK, (void *)set_log_level, 0, NULL, NULL},
    {"quiet", 'q', POPT_ARG_NONE, NULL, 0, "Say nothing but errors", NULL},
    {"verbose", 'v', POPT_ARG_NONE, NULL, 0, "Say more", NULL},
    POPT_TABLEEND,
};

int cli_usage_error(const char *command, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    wl_log(WL_LOG_ERROR, "%s: %s\n'warplens %s --help' lists the options", command, text, command);
    return CLI_USAGE;
}

poptContext cli_parse(int argc, const char **argv, const struct poptOption *options,
                      const char *usage, bool (*each)(void *state, int val, const char *arg),
                      void *state, int *status)
{
    /* POSIXMEHARDER: what follows the first argument belongs to the program that is profiled. */
    char name[64];
    snprintf(name, sizeof name, "warplens %s", argv[0]);
    const char *command = argv[0];
    argv[0] = name;
    poptContext context = poptGetContext(NULL, argc, argv, options, POPT_CONTEXT_POSIXMEHARDER);
    poptSetOtherOptionHelp(context, usage);
    int val;
    bool valid = true;
    while (valid && (val = poptGetNextOpt(context)) > 0) {
        char *arg = poptGetOptArg(context);
        valid = !each || each(state, val, arg);
        free(arg);
    }
    if (valid && val < -1)
        valid = (cli_usage_error(command, "%s: %s", poptBadOption(context, 0), poptStrerror(val)),
                 false);
    argv[0] = command;
    *status = valid ? CLI_OK : CLI_USAGE;
    return valid ? context : (poptFreeContext(context), NULL);
}

const char *cli_only_argument(poptContext context, const char *what, int *status)
{
    const char **args = poptGetArgs(context);
    if (args && args[0] && !args[1])
        return args[0];
    wl_log(WL_LOG_ERROR,
           args && args[0] ? "one %s is expected; options stand before it" : "no %s was given",
           what);
    *status = CLI_USAGE;
    return NULL;
}
