/* The command line of `warplens profile`: popt's table and what is read with it, both from
 * program/options.def. */
#include "cli/asked.h"

#include <stdlib.h>
#include <string.h>

/* ---- popt's table ---- */

/* Without the backquotes around what the user types. */
static void write_plain(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text != '`')
            fputc(*text, out);
}

/* "Host threads that the emulation uses (default: all cores)", malloc'ed; NULL when out of
 * memory. */
static char *describe_option(const prog_option *row)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *initial = row->initial ? row->initial : row->without;
    if (!out)
        return NULL;
    write_plain(out, row->help);
    if (initial) {
        fputs(" (default: ", out);
        write_plain(out, initial);
        fputc(')', out);
    }
    return fclose(out) == 0 ? text : NULL;
}

static struct poptOption entry_of(prog_option_id id)
{
    const prog_option *row = &prog_option_table[id];
    return (struct poptOption){.longName = row->name,
                               .shortName = row->letter,
                               .argInfo = row->argument ? POPT_ARG_STRING : POPT_ARG_NONE,
                               .val = (int)id + 1, /* 0 would mean that popt keeps it */
                               .descrip = describe_option(row),
                               .argDescrip = row->argument};
}

typedef struct table {
    struct poptOption own[PROG_OPTIONS + 1]; /* ends with zeroes */
    unsigned count;
} table;

static void table_make(table *t)
{
    *t = (table){0};
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++)
        if (prog_option_table[id].name)
            t->own[t->count++] = entry_of(id);
}

static void option_table_free(table *t)
{
    for (unsigned i = 0; i < t->count; i++)
        free((char *)t->own[i].descrip);
}

/* ---- what is given ---- */

bool cli_asked_set(cli_asked *asked, prog_option_id id, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return false;
    free(asked->given[id]);
    asked->given[id] = copy;
    return true;
}

/* One more value of an option that may be repeated. */
static bool join_value(cli_asked *asked, prog_option_id id, const char *value)
{
    char *joined;
    if (strchr(value, ';')) {
        cli_usage_error("profile", "--%s takes one value at a time, not '%s'",
                        prog_option_table[id].name, value);
        return false;
    }
    if (!asked->given[id])
        return cli_asked_set(asked, id, value);
    if (asprintf(&joined, "%s;%s", asked->given[id], value) < 0)
        return false;
    free(asked->given[id]);
    asked->given[id] = joined;
    return true;
}

static bool each_option(void *state, int val, const char *arg)
{
    prog_option_id id = (prog_option_id)(val - 1);
    const char *value = arg ? arg : "1"; /* a flag */
    return prog_option_table[id].repeated ? join_value(state, id, value)
                                          : cli_asked_set(state, id, value);
}

/* ---- what would have no effect ---- */

/* An option that nobody asks for where another one has this value. */
typedef struct idle_option {
    prog_option_id id, beside;
    const char *value;
} idle_option;

static const idle_option idle_options[] = {
    {PROG_OPTION_blocks, PROG_OPTION_set, "basic"},
    {PROG_OPTION_heat_launches, PROG_OPTION_set, "basic"},
    {PROG_OPTION_probe_launches, PROG_OPTION_collect, "replay"},
    {PROG_OPTION_device_memory, PROG_OPTION_collect, "replay"},
    {PROG_OPTION_wait, PROG_OPTION_targets, "application-only"},
};

static const char *value_given(const cli_asked *asked, prog_option_id id)
{
    const prog_option *row = &prog_option_table[id];
    const char *value = asked->given[id] || !row->variable ? asked->given[id]
                                                           : getenv(row->variable);
    return value ? value : "";
}

/* False, having said so, where one of the options given has no effect. */
static bool check_idle_options(const cli_asked *asked)
{
    for (size_t i = 0; i < sizeof idle_options / sizeof *idle_options; i++) {
        const idle_option *o = &idle_options[i];
        if (asked->given[o->id] && strcmp(value_given(asked, o->beside), o->value) == 0)
            return cli_usage_error("profile", "--%s has no effect with --%s %s",
                                   prog_option_table[o->id].name, prog_option_table[o->beside].name,
                                   o->value),
                   false;
    }
    if (asked->options.keep_exitcode && asked->options.error_exitcode)
        return cli_usage_error("profile", "--keep-exitcode has no effect with --error-exitcode"),
               false;
    return true;
}

static bool check_request(cli_asked *asked, int *status)
{
    wl_error err = {0};
    *status = CLI_USAGE;
    asked->program = poptGetArgs(asked->context);
    if (!asked->program || !asked->program[0])
        return cli_usage_error("profile", "no program was given"), false;
    wl_status read = prog_options_read((const char *const *)asked->given, &asked->options, &err);
    if (read == WL_ARG)
        return cli_usage_error("profile", "%s", err.text), false;
    if (read == WL_OK && !check_idle_options(asked))
        return false;
    *status = read == WL_OK ? CLI_OK : cli_fail(&err);
    return read == WL_OK;
}

bool cli_asked_read(int argc, const char **argv, cli_asked *out, int *status)
{
    table t;
    table_make(&t);
    const struct poptOption options[] = {
        {NULL, '\0', POPT_ARG_INCLUDE_TABLE, t.own, 0, "Options:", NULL}, CLI_COMMON};
    *out = (cli_asked){0};
    const cli_syntax syntax = {.options = options,
                               .usage = "[options] [--] PROGRAM [arguments]",
                               .program_follows = true,
                               .each = each_option,
                               .state = out};
    out->context = cli_parse(argc, argv, &syntax, status);
    bool good = out->context && check_request(out, status);
    option_table_free(&t);
    return good;
}

void cli_asked_clear(cli_asked *asked)
{
    poptFreeContext(asked->context);
    prog_options_clear(&asked->options);
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++)
        free(asked->given[id]);
}
