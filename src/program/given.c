/* Options as the command line reads them: whatever is wrong is refused, before a program is
 * started. */
#include "program/options.h"

#include "cuda/device.h"
#include "program/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct given { /* a value and where it came from */
    prog_option_id id;
    const char *dashes, *source; /* "--" and "threads", or "" and "WARPLENS_THREADS" */
    const char *text;
} given;

static wl_status refuse_value(const given *g, const char *why, wl_error *err)
{
    char allowed[256];
    prog_option_allowed(&prog_option_table[g->id], allowed, sizeof allowed);
    return wl_fail(err, WL_ARG, "%s%s takes %s, not '%s'%s%s", g->dashes, g->source, allowed,
                   g->text, *why ? ": " : "", why);
}

/* Each name must lead to a description that can be read. */
static wl_status check_device_names(const given *g, wl_error *err)
{
    wl_error why = {0};
    wl_status status = WL_OK;
    char *names = strdup(g->text), *rest = names;
    if (!names)
        return wl_fail(err, WL_NOMEM, "out of memory");
    for (char *name; status == WL_OK && (name = strsep(&rest, ","));) {
        cuda_device device;
        status = cuda_device_load(name, &device, &why);
    }
    free(names);
    return status == WL_OK ? WL_OK : refuse_value(g, why.text, err);
}

static wl_status check_and_read(const given *g, prog_options *out, wl_error *err)
{
    const prog_option *row = &prog_option_table[g->id];
    wl_error why = {0};
    if (!*g->text && row->type != PROG_TYPE_text)
        return refuse_value(g, "", err);
    wl_status status = prog_value_read(g->id, g->text, out, &why);
    if (status == WL_ARG)
        return refuse_value(g, why.text, err);
    if (status != WL_OK)
        return wl_fail(err, status, "%s", why.text);
    return row->type == PROG_TYPE_devices ? check_device_names(g, err) : WL_OK;
}

/* An empty variable is as good as one that is not set. */
static given source_of_option(prog_option_id id, const char *const *all)
{
    const prog_option *row = &prog_option_table[id];
    const char *text = all ? all[id] : NULL;
    if (text)
        return (given){id, row->name ? "--" : "", row->name ? row->name : row->variable, text};
    text = row->variable ? getenv(row->variable) : NULL;
    return (given){id, "", row->variable, text && *text ? text : NULL};
}

static wl_status read_given(prog_option_id id, const char *const *all, prog_options *out,
                            wl_error *err)
{
    const prog_option *row = &prog_option_table[id];
    given g = source_of_option(id, all);
    if (!g.text)
        return prog_value_read(id, row->initial ? row->initial : "", out, err);
    g.text = wl_arena_strdup(out->arena, g.text);
    return g.text ? check_and_read(&g, out, err) : wl_fail(err, WL_NOMEM, "out of memory");
}

wl_status prog_options_read(const char *const *all, prog_options *out, wl_error *err)
{
    *out = (prog_options){.arena = wl_arena_new()};
    if (!out->arena)
        return wl_fail(err, WL_NOMEM, "out of memory");
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++) {
        wl_status status = read_given(id, all, out, err);
        if (status != WL_OK)
            return status;
    }
    prog_options_settle(out);
    return WL_OK;
}

void prog_options_clear(prog_options *o)
{
    wl_arena_free(o->arena);
    *o = (prog_options){0};
}
