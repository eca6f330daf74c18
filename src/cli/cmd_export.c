/* `warplens export`: a profile in other programs' formats. */
#include "base/log.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct export_options {
    char *type, *table, *output, **settings;
    int force;
    ana_thresholds thresholds;
} export_options;

static bool same_text(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

static bool interrupted(void)
{
    return cli_interrupt() != 0;
}

static int export_sqlite(const char *path, const export_options *o)
{
    prof_db *db = NULL;
    wl_error err = {0};
    if (!o->output || same_text(o->output, "-"))
        return cli_usage_error("export", "--type sqlite needs -o FILE");
    cli_note_interrupts();
    wl_status status = prof_open(path, &db, &err);
    if (status == WL_OK)
        status = prof_copy(db, o->output, o->force, interrupted, &err);
    prof_close(db);
    if (status == WL_STATE && interrupted())
        return 128 + cli_interrupt();
    return status == WL_OK ? CLI_OK : cli_fail(&err);
}

/* ---- what the findings are in, too ---- */

typedef wl_status export_writer(const rep_data *data, rep_table table, FILE *out, wl_error *err);

static wl_status write_json(const rep_data *data, rep_table table, FILE *out, wl_error *err)
{
    (void)table;
    return rep_json(data, out, err);
}

static wl_status write_sarif(const rep_data *data, rep_table table, FILE *out, wl_error *err)
{
    (void)table;
    return rep_sarif(data, out, err);
}

static wl_status write_perfetto(const rep_data *data, rep_table table, FILE *out, wl_error *err)
{
    (void)table;
    return rep_perfetto(data, out, err);
}

typedef struct export_kind {
    const char *name;
    export_writer *write;
    unsigned parts; /* of the profile */
} export_kind;

static const export_kind kinds[] = {
    {"json", write_json, REP_PART_LAUNCH_ROWS | REP_PART_COURSES | REP_PART_COMPARED},
    {"csv", rep_csv, REP_PART_LAUNCH_ROWS | REP_PART_COURSES},
    {"sarif", write_sarif, 0},
    {"perfetto", write_perfetto, REP_PART_TIMELINE}};

static const export_kind *find_export(const char *type)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (same_text(kinds[i].name, type))
            return &kinds[i];
    return NULL;
}

static int export_findings(const char *path, const export_options *o, const export_kind *kind,
                           rep_table table)
{
    cli_profile profile;
    wl_error err = {0};
    const char *output = o->output ? o->output : "-";
    if (!cli_profile_open(path, &o->thresholds, kind->parts, &profile))
        return CLI_FAILED;
    FILE *file = cli_create(output, o->force, &err);
    int status = file
                     ? cli_finish(file, output, kind->write(&profile.data, table, file, &err), &err)
                     : cli_fail(&err);
    cli_profile_close(&profile);
    return status;
}

/* ---- the command ---- */

/* Refuses what is not allowed, and what would have no effect. */
static int check_export_options(const export_options *o, const char *type)
{
    bool sqlite = same_text(type, "sqlite");
    if (!sqlite && !find_export(type))
        return cli_usage_error("export", "--type is json, csv, sarif, perfetto or sqlite, not '%s'",
                               type);
    if (o->table && !same_text(type, "csv"))
        return cli_usage_error("export", "--table has no effect with --type %s", type);
    if (o->settings && sqlite)
        return cli_usage_error("export", "--set-threshold has no effect with --type sqlite");
    if (o->force && (!o->output || same_text(o->output, "-")))
        return cli_usage_error("export", "-f has no effect without -o FILE");
    return CLI_OK;
}

static int export_as(const char *path, const export_options *o, const char *type)
{
    const char *table = o->table ? o->table : "instructions";
    if (same_text(type, "sqlite"))
        return export_sqlite(path, o);
    for (int t = 0; t < REP_TABLE_COUNT; t++)
        if (same_text(rep_table_name((rep_table)t), table))
            return export_findings(path, o, find_export(type), (rep_table)t);
    return cli_usage_error(
        "export", "--table is instructions, findings, launches, objects or samples, not '%s'",
        table);
}

int cmd_export(int argc, const char **argv)
{
    export_options o = {0};
    int status;
    const struct poptOption options[] = {
        {"type", 't', POPT_ARG_STRING, &o.type, 0, "json (default), csv, sarif, perfetto or sqlite",
         "TYPE"},
        {"table", '\0', POPT_ARG_STRING, &o.table, 0,
         "For csv: instructions (default), findings, launches, objects, samples, uses", "NAME"},
        {"output", 'o', POPT_ARG_STRING, &o.output, 0, "Write here instead of stdout", "FILE"},
        {"force", 'f', POPT_ARG_NONE, &o.force, 0, "Replace the file", NULL},
        CLI_SET_THRESHOLD(o.settings),
        CLI_COMMON};
    const cli_syntax syntax = {.options = options, .usage = "[options] [PROFILE]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char *path = context ? cli_profile_argument(context, &status) : NULL;
    const char *type = o.type ? o.type : "json";
    if (path)
        status = check_export_options(&o, type);
    int fit = cli_thresholds("export", o.settings, &o.thresholds);
    status = status == CLI_OK ? fit : status;
    if (path && status == CLI_OK)
        status = export_as(path, &o, type);
    poptFreeContext(context);
    free(o.type), free(o.table), free(o.output);
    return status;
}
