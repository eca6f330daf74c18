/* `warplens stats`: what a profile says, as text or JSON. */
#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct stats_options {
    char *format, *table, *kernel;
    int width, findings, all;
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

/* The first kernel whose name contains `text`; 0 without one. */
static uint32_t find_kernel(const rep_data *data, const char *text)
{
    for (uint32_t i = 0; i < data->kernels.count; i++)
        if (strstr(data->kernels.rows[i].name, text))
            return data->kernels.rows[i].id;
    return 0;
}

static int show_text(const cli_profile *profile, const stats_options *o, wl_error *err)
{
    rep_text_options text = {.width = o->width > 0 ? (unsigned)o->width : cli_width(stdout),
                             .color = cli_color(stdout),
                             .findings = (unsigned)o->findings,
                             .full_names = wl_log_get_level() >= WL_LOG_DEBUG,
                             .all_lines = o->all};
    if (o->kernel && !(text.kernel = find_kernel(&profile->data, o->kernel))) {
        wl_log(WL_LOG_ERROR, "no kernel of the profile has '%s' in its name", o->kernel);
        return CLI_NOT_MEASURED;
    }
    return cli_finish(stdout, "the output", rep_text(&profile->data, &text, stdout, err), err);
}

static int show_stats(const char *path, const stats_options *o)
{
    const char *format = o->format ? o->format : "text";
    bool json = strcmp(format, "json") == 0, csv = strcmp(format, "csv") == 0;
    rep_table table = (rep_table)0;
    if (!json && !csv && strcmp(format, "text") != 0)
        return cli_usage_error("stats", "--format is text, json or csv, not '%s'", format);
    if (o->table && !find_stats_table(o->table, &table))
        return cli_usage_error("stats", "there is no table '%s'", o->table);
    cli_profile profile;
    wl_error err = {0};
    if (!cli_profile_open(path, json || csv ? REP_PART_LAUNCH_ROWS : REP_PART_SOURCES, &profile))
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

int cmd_stats(int argc, const char **argv)
{
    stats_options o = {0};
    const struct poptOption options[] = {
        {"format", '\0', POPT_ARG_STRING, &o.format, 0, "text (default), json or csv", "FORMAT"},
        {"table", '\0', POPT_ARG_STRING, &o.table, 0,
         "Table for csv: instructions, findings, launches, objects, samples", "NAME"},
        {"kernel", 'k', POPT_ARG_STRING, &o.kernel, 0, "Only the kernel with this text in its name",
         "TEXT"},
        {"findings", 'n', POPT_ARG_INT, &o.findings, 0, "Show at most so many findings", "N"},
        {"all", 'a', POPT_ARG_NONE, &o.all, 0, "Also lines and kernels without findings", NULL},
        {"width", '\0', POPT_ARG_INT, &o.width, 0, "Columns to use instead of the terminal's", "N"},
        CLI_COMMON};
    int status;
    poptContext context = cli_parse(argc, argv, options, "[options] PROFILE", NULL, NULL, &status);
    const char *path = context ? cli_only_argument(context, "profile", &status) : NULL;
    if (path)
        status = show_stats(path, &o);
    poptFreeContext(context);
    free(o.format), free(o.table), free(o.kernel);
    return status;
}
