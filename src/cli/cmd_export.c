/* `warplens export`: a profile in other programs' formats. */
#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

static bool interrupted(void)
{
    return cli_interrupt() != 0;
}

static int export_sqlite(const char *path, const char *output, bool force)
{
    prof_db *db = NULL;
    wl_error err = {0};
    if (!output || same_text(output, "-"))
        return cli_usage_error("export", "--type sqlite needs -o FILE");
    cli_note_interrupts();
    wl_status status = prof_open(path, &db, &err);
    if (status == WL_OK)
        status = prof_copy(db, output, force, interrupted, &err);
    prof_close(db);
    if (status == WL_STATE && interrupted())
        return 128 + cli_interrupt();
    return status == WL_OK ? CLI_OK : cli_fail(&err);
}

typedef enum text_type { TEXT_JSON, TEXT_CSV, TEXT_SARIF } text_type;

static wl_status draw_export(const rep_data *data, text_type type, rep_table table, FILE *out,
                             wl_error *err)
{
    switch (type) {
    case TEXT_JSON: return rep_json(data, out, err);
    case TEXT_CSV: return rep_csv(data, table, out, err);
    default: return rep_sarif(data, out, err);
    }
}

static int export_text(const char *path, const char *output, bool force, text_type type,
                       rep_table table)
{
    cli_profile profile;
    wl_error err = {0};
    if (!cli_profile_open(path, REP_PART_LAUNCH_ROWS, &profile))
        return CLI_FAILED;
    if (!output)
        output = "-";
    FILE *file = cli_create(output, force, &err);
    int status = CLI_FAILED;
    if (!file)
        cli_fail(&err);
    else
        status = cli_finish(file, output, draw_export(&profile.data, type, table, file, &err),
                            &err);
    cli_profile_close(&profile);
    return status;
}

/* Refuses what would have no effect. */
static int check_export_options(const char *type, const char *table, const char *output, bool force)
{
    if (table && !same_text(type, "csv"))
        return cli_usage_error("export", "--table has no effect with --type %s", type);
    if (force && (!output || same_text(output, "-")))
        return cli_usage_error("export", "-f has no effect without -o FILE");
    return CLI_OK;
}

static int export_as(const char *path, const char *type, const char *table_name, const char *output,
                     bool force)
{
    if (same_text(type, "sqlite"))
        return export_sqlite(path, output, force);
    if (!same_text(type, "json") && !same_text(type, "csv") && !same_text(type, "sarif"))
        return cli_usage_error("export", "--type is json, csv, sarif or sqlite, not '%s'", type);
    text_type text = same_text(type, "json")  ? TEXT_JSON
                     : same_text(type, "csv") ? TEXT_CSV
                                              : TEXT_SARIF;
    for (int t = 0; t < REP_TABLE_COUNT; t++)
        if (same_text(rep_table_name((rep_table)t), table_name))
            return export_text(path, output, force, text, (rep_table)t);
    return cli_usage_error(
        "export", "--table is instructions, findings, launches, objects or samples, not '%s'",
        table_name);
}

int cmd_export(int argc, const char **argv)
{
    char *type = NULL, *table = NULL, *output = NULL;
    int force = 0, status;
    const struct poptOption options[] = {
        {"type", 't', POPT_ARG_STRING, &type, 0, "json (default), csv, sarif or sqlite", "TYPE"},
        {"table", '\0', POPT_ARG_STRING, &table, 0,
         "For csv: instructions (default), findings, launches, objects, samples", "NAME"},
        {"output", 'o', POPT_ARG_STRING, &output, 0, "Write here instead of stdout", "FILE"},
        {"force", 'f', POPT_ARG_NONE, &force, 0, "Replace the file", NULL},
        CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char *path = context ? cli_profile_argument(context, &status) : NULL;
    if (path)
        status = check_export_options(type ? type : "json", table, output, force);
    if (path && status == CLI_OK)
        status = export_as(path, type ? type : "json", table ? table : "instructions", output,
                           force);
    poptFreeContext(context);
    free(type), free(table), free(output);
    return status;
}
