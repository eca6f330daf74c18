/* The table of options, and what the collector reads of it from its environment. */
#include "program/options.h"

#include "base/log.h"
#include "program/values.h"

#include <pthread.h>
#include <stdlib.h>

const prog_option prog_option_table[PROG_OPTIONS] = {
#define X(field_, type_, ...) \
    [PROG_OPTION_##field_] = {.field = #field_, .type = PROG_TYPE_##type_, __VA_ARGS__},
#include "program/options.def"
#undef X
};

static prog_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *default_of(const prog_option *row)
{
    return row->initial ? row->initial : "";
}

/* The variable's value, to be kept; NULL where it is not set, or empty. */
static const char *from_environment(const prog_option *row)
{
    const char *value = row->variable && options.arena ? getenv(row->variable) : NULL;
    return value && *value ? wl_arena_strdup(options.arena, value) : NULL;
}

static void read_from_environment(prog_option_id id)
{
    const prog_option *row = &prog_option_table[id];
    const char *value = from_environment(row);
    wl_error why = {0};
    if (value && prog_value_read(id, value, &options, &why) == WL_OK)
        return;
    prog_value_read(id, default_of(row), &options, &why);
    if (!value)
        return;
    char allowed[256];
    prog_option_allowed(row, allowed, sizeof allowed);
    wl_log(WL_LOG_WARN, "%s takes %s, not '%s'; the default is used.", row->variable, allowed,
           value);
}

static void read_environment(void)
{
    options.arena = wl_arena_new();
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++)
        read_from_environment(id);
    prog_options_settle(&options);
}

const prog_options *prog_options_get(void)
{
    pthread_once(&once, read_environment);
    return &options;
}

/* ---- samples ---- */

bool prog_in_sample(uint64_t number, uint64_t first)
{
    return !first || number < first || (number & (number - 1)) == 0;
}
