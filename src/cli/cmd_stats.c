/* `warplens stats`: what a profile says, as text or JSON. */
#include "base/log.h"
#include "cli/cli.h"
#include "program/kernel_name.h"

#include <stdlib.h>
#include <string.h>

typedef struct stats_options {
    char *format, *table, *kernel, *by, **settings;
    int width, findings, finding, all, list_thresholds, objects, warps, code;
    ana_thresholds thresholds;
} stats_options;

static bool find_stats_table(const char *name, rep_table *out)
{
    for (int t = 0; t < REP_TABLE_COUNT; t++) {
        *out = (rep_table)t;
        if (strcmp(rep_table_name(*out), name) == 0)
            return true;
    }
    return false;
}

/* False where it is none of them. NULL: nothing was asked for. */
static bool find_grouping(const char *text, rep_by *out)
{
    static const char *const words[] = {"", "range", "family", "kernel"};
    *out = REP_BY_ALL;
    for (size_t i = 1; text && i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            *out = (rep_by)i;
    return !text || *out != REP_BY_ALL;
}

static rep_text_options text_options(const stats_options *o)
{
    rep_by by;
    find_grouping(o->by, &by);
    return (rep_text_options){.by = by,
                              .width = o->width > 0 ? (unsigned)o->width : cli_width(stdout),
                              .color = cli_color(stdout),
                              .findings = (unsigned)o->findings,
                              .finding = (unsigned)o->finding,
                              .full_names = wl_log_get_level() >= WL_LOG_DEBUG,
                              .all = o->all};
}

static int list_thresholds(poptContext context, const stats_options *o)
{
    const char **args = poptGetArgs(context);
    wl_error err = {0};
    if (args && args[0])
        return cli_usage_error("stats", "--thresholds takes no profile");
    rep_text_options text = text_options(o);
    return cli_finish(stdout, "the output", rep_thresholds(&o->thresholds, &text, stdout, &err),
                      &err);
}

static int show_text(const cli_profile *profile, const stats_options *o, wl_error *err)
{
    rep_text_options text = text_options(o);
    if (o->kernel && !(text.kernels = cli_find_kernels(profile, o->kernel, &text.nkernels)))
        return CLI_NOT_MEASURED;
    if (o->finding > 0 && (unsigned)o->finding > profile->findings.ngroups) {
        wl_log(WL_LOG_ERROR, "there is no finding %d; the profile has %u", o->finding,
               profile->findings.ngroups);
        return CLI_USAGE;
    }
    return cli_finish(stdout, "the output",
                      o->objects ? rep_objects(&profile->data, &text, stdout, err)
                      : o->warps ? rep_warps(&profile->data, &text, stdout, err)
                      : o->code  ? rep_code(&profile->data, &text, stdout, err)
                                 : rep_text(&profile->data, &text, stdout, err),
                      err);
}

/* Refuses what is not allowed, and what would have no effect. */
static int check_stats_options(const stats_options *o, rep_table *table)
{
    const char *format = o->format ? o->format : "text";
    bool text = strcmp(format, "text") == 0, csv = strcmp(format, "csv") == 0;
    bool json = strcmp(format, "json") == 0;
    wl_error why = {0};
    if (!text && !csv && !json)
        return cli_usage_error("stats", "--format is text, json or csv, not '%s'", format);
    if (o->table && !find_stats_table(o->table, table))
        return cli_usage_error(
            "stats", "--table is instructions, findings, launches, objects or samples, not '%s'",
            o->table);
    if (o->table && !csv)
        return cli_usage_error("stats", "--table needs --format csv");
    if (!text && (o->kernel || o->findings || o->finding || o->all || o->width))
        return cli_usage_error("stats",
                               "-k, -n, --finding, --all and --width have no effect with "
                               "--format %s",
                               format);
    if (o->findings < 0 || o->finding < 0 || o->width < 0)
        return cli_usage_error("stats", "-n, --finding and --width take numbers from 1");
    if (o->objects && !text && (json || o->table))
        return cli_usage_error("stats", "--objects has no effect with %s; csv shows that table",
                               json ? "--format json" : "--table");
    if (o->objects && (o->kernel || o->findings || o->finding))
        return cli_usage_error("stats", "-k, -n and --finding have no effect with --objects");
    if (o->warps && (!text || o->objects || o->findings || o->finding))
        return cli_usage_error("stats",
                               "--warps shows text, and nothing else: of the other options "
                               "only -k, --all and --width have an effect");
    if (o->code &&
        (!text || o->objects || o->warps || o->by || o->findings || o->finding || o->all))
        return cli_usage_error("stats", "--code shows text, and nothing else: of the other options "
                                        "only -k and --width have an effect");
    if (!find_grouping(o->by, &(rep_by){0}))
        return cli_usage_error("stats", "--by is range, family or kernel, not '%s'", o->by);
    if (o->by && (!text || o->objects || o->warps || o->findings || o->finding))
        return cli_usage_error("stats", "--by shows one table as text: of the other options only "
                                        "-k, --all and --width have an effect");
    if (o->objects && csv)
        *table = REP_TABLE_OBJECTS;
    if (o->list_thresholds && (!text || o->objects || o->warps || o->by || o->code || o->kernel ||
                               o->findings || o->finding || o->all))
        return cli_usage_error("stats", "--thresholds shows nothing of a profile: of the other "
                                        "options only --set-threshold and --width have an effect");
    if (o->finding && (o->all || o->findings))
        return cli_usage_error("stats", "--finding shows one finding; -n and --all show several");
    if (o->kernel && prog_pattern_check(o->kernel, &why) != WL_OK)
        return cli_usage_error("stats", "-k %s: %s", o->kernel, why.text);
    return CLI_OK;
}

static unsigned stats_parts(const stats_options *o)
{
    bool text = !o->format || strcmp(o->format, "text") == 0;
    return !text        ? REP_PART_LAUNCH_ROWS | REP_PART_COURSES | REP_PART_COMPARED
           : o->objects ? REP_PART_COURSES
           : o->warps   ? REP_PART_COMPARED
           : o->code    ? REP_PART_SOURCES | REP_PART_LISTINGS
                        : REP_PART_SOURCES;
}

static int show_stats(const char *path, const stats_options *o, rep_table table)
{
    bool json = o->format && strcmp(o->format, "json") == 0;
    bool csv = o->format && strcmp(o->format, "csv") == 0;
    cli_profile profile;
    wl_error err = {0};
    if (!cli_profile_open(path, &o->thresholds, stats_parts(o), &profile))
        return CLI_FAILED;
    int status = json
                     ? cli_finish(stdout, "the output", rep_json(&profile.data, stdout, &err), &err)
                 : csv ? cli_finish(stdout, "the output",
                                    rep_csv(&profile.data, table, stdout, &err), &err)
                       : show_text(&profile, o, &err);
    if (status == CLI_OK && profile.data.coverage.launches_observed == 0)
        status = CLI_NOT_MEASURED;
    cli_profile_close(&profile);
    return status;
}

static int show_profile(poptContext context, const stats_options *o, rep_table table)
{
    int status;
    const char *path = cli_profile_argument(context, &status);
    return path ? show_stats(path, o, table) : status;
}

int cmd_stats(int argc, const char **argv)
{
    stats_options o = {0};
    const struct poptOption options[] = {
        {"format", '\0', POPT_ARG_STRING, &o.format, 0, "text (default), json or csv", "FORMAT"},
        {"table", '\0', POPT_ARG_STRING, &o.table, 0,
         "Table for csv: instructions, findings, launches, objects, samples, uses", "NAME"},
        CLI_KERNEL_NAME(o.kernel),
        {"findings", 'n', POPT_ARG_INT, &o.findings, 0,
         "Show N findings in full, the others in a line each (default: 3)", "N"},
        {"finding", '\0', POPT_ARG_INT, &o.finding, 0, "Show only finding N", "N"},
        {"all", 'a', POPT_ARG_NONE, &o.all, 0,
         "Show every finding in full, and lines and kernels without findings", NULL},
        {"objects", '\0', POPT_ARG_NONE, &o.objects, 0,
         "Show only data objects: what made, accessed and freed each, and what was found", NULL},
        {"warps", '\0', POPT_ARG_NONE, &o.warps, 0,
         "Show only warps of launches: which are alike, which stand out and why (of profiles with "
         "--set sequences)",
         NULL},
        {"code", '\0', POPT_ARG_NONE, &o.code, 0,
         "Show only the code of kernels: under each source line its PTX, and beside that the "
         "machine "
         "code made from it",
         NULL},
        {"by", '\0', POPT_ARG_STRING, &o.by, 0,
         "Show only what launches cost by range (NVTX), by family (kernels of one template "
         "together) or by "
         "kernel",
         "WHAT"},
        {"thresholds", '\0', POPT_ARG_NONE, &o.list_thresholds, 0,
         "List the thresholds of findings: value, default and meaning", NULL},
        CLI_SET_THRESHOLD(o.settings),
        {"width", '\0', POPT_ARG_INT, &o.width, 0, "Columns to use instead of the terminal's", "N"},
        CLI_COMMON};
    int status;
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    rep_table table = (rep_table)0;
    if (context)
        status = check_stats_options(&o, &table);
    int fit = cli_thresholds("stats", o.settings, &o.thresholds);
    status = status == CLI_OK ? fit : status;
    if (context && status == CLI_OK)
        status = o.list_thresholds ? list_thresholds(context, &o)
                                   : show_profile(context, &o, table);
    poptFreeContext(context);
    free(o.format), free(o.table), free(o.kernel), free(o.by);
    return status;
}
