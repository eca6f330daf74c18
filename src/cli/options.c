/* Reading of command lines by popt, alike for every command. */
#include "base/log.h"
#include "base/nearest.h"
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

int cli_thresholds(const char *command, char **given, ana_thresholds *out)
{
    int status = CLI_OK;
    wl_error why = {0};
    *out = ana_thresholds_default();
    for (char **setting = given; setting && *setting; setting++) {
        if (status == CLI_OK && ana_threshold_set(out, *setting, &why) != WL_OK)
            status = cli_usage_error(command, "--set-threshold %s: %s", *setting, why.text);
        free(*setting);
    }
    free(given);
    return status;
}

/* Looks through a table, and those that it includes, for the long name nearest to the typed. */
static void look_for_option(wl_nearest *meant, const struct poptOption *row)
{
    for (; row->longName || row->shortName || row->arg; row++)
        if ((row->argInfo & POPT_ARG_MASK) == POPT_ARG_INCLUDE_TABLE)
            look_for_option(meant, row->arg);
        else if (row->longName)
            wl_nearest_try(meant, row->longName);
}

/* Tells of the option that could not be read. */
static void refuse_option(const char *command, const cli_syntax *syntax, const char *given,
                          int popt_error)
{
    char typed[64];
    wl_nearest meant = {.typed = typed};
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(given, "="), given);
    if (popt_error == POPT_ERROR_BADOPT && strncmp(given, "--", 2) == 0) {
        meant.typed += 2;
        look_for_option(&meant, syntax->options);
    }
    if (meant.word)
        cli_usage_error(command, "there is no option '%s'; did you mean '--%s'?", typed,
                        meant.word);
    else if (popt_error == POPT_ERROR_BADOPT)
        cli_usage_error(command, "there is no option '%s'", typed);
    else
        cli_usage_error(command, "%s: %s", given, poptStrerror(popt_error));
}

poptContext cli_parse(int argc, const char **argv, const cli_syntax *syntax, int *status)
{
    char name[64];
    snprintf(name, sizeof name, "warplens %s", argv[0]);
    const char *command = argv[0];
    argv[0] = name;
    poptContext context = poptGetContext(NULL, argc, argv, syntax->options,
                                         syntax->program_follows ? POPT_CONTEXT_POSIXMEHARDER : 0);
    poptSetOtherOptionHelp(context, syntax->usage);
    int val;
    bool valid = true;
    while (valid && (val = poptGetNextOpt(context)) > 0) {
        char *arg = poptGetOptArg(context);
        valid = !syntax->each || syntax->each(syntax->state, val, arg);
        free(arg);
    }
    if (valid && val < -1) {
        refuse_option(command, syntax, poptBadOption(context, 0), val);
        valid = false;
    }
    argv[0] = command;
    *status = valid ? CLI_OK : CLI_USAGE;
    return valid ? context : (poptFreeContext(context), NULL);
}

const char *cli_only_argument(poptContext context, const char *what, int *status)
{
    const char **args = poptGetArgs(context);
    if (args && args[0] && !args[1])
        return args[0];
    wl_log(WL_LOG_ERROR, args && args[0] ? "one %s is expected, not several" : "no %s was given",
           what);
    *status = CLI_USAGE;
    return NULL;
}
