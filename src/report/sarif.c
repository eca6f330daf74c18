/* SARIF 2.1.0 (OASIS): findings as results that code hosts show at the line, each rule with its
 * page of docs/patterns.
 *
 * Files below the directory that the program ran in are named relative to it (base "SRCROOT"), so
 * that a host finds them in its checkout; others keep their absolute path. */
#include "report/impl.h"

#include "base/version.h"

#include <string.h>

/* ---- the pages of docs/patterns, put into the library by the assembler ---- */

#define X(id, name, title, unit, told, remedy)          \
    __asm__(".pushsection .rodata\n"                    \
            "rep_pattern_" #id ":\n"                    \
            ".incbin \"" WL_PATTERNS "/" name ".md\"\n" \
            ".byte 0\n"                                 \
            ".popsection\n");                           \
    extern const char rep_pattern_##id[] __attribute__((visibility("hidden")));
#include "analysis/patterns.def"
#undef X

static const char *const pages[] = {
#define X(id, name, title, unit, told, remedy) rep_pattern_##id,
#include "analysis/patterns.def"
#undef X
};

/* ---- rules ---- */

static json_t *message(const char *text)
{
    json_t *row = json_object();
    rep_put_text(row, "text", text);
    return row;
}

static json_t *rule(ana_pattern pattern)
{
    const ana_pattern_info *info = ana_pattern_get(pattern);
    json_t *row = json_object(), *help = message(info->remedy);
    rep_put_text(row, "id", info->name);
    rep_put(row, "shortDescription", message(info->title));
    rep_put_text(help, "markdown", pages[pattern]);
    rep_put(row, "help", help);
    return row;
}

static json_t *tool(void)
{
    json_t *driver = json_object(), *rules = json_array(), *row = json_object();
    rep_put_text(driver, "name", "warplens");
    rep_put_text(driver, "version", WARPLENS_VERSION);
    for (int p = 0; p < ANA_PATTERN_COUNT; p++)
        json_array_append_new(rules, rule((ana_pattern)p));
    rep_put(driver, "rules", rules);
    rep_put(row, "driver", driver);
    return row;
}

/* ---- places ---- */

/* A path as part of a URI: RFC 3986, everything but unreserved characters and '/' escaped. */
static char *escaped_uri_of(wl_arena *arena, const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *uri = wl_arena_alloc(arena, strlen(path) * 3 + 1), *out = uri;
    for (const char *c = path; uri && *c; c++)
        if (strchr(plain, *c))
            *out++ = *c;
        else
            out += snprintf(out, 4, "%%%02X", (unsigned char)*c);
    return uri;
}

/* The directory that the first process ran in, without a slash at its end; "" where it is not
 * known. */
static const char *root_of(const rep_data *d)
{
    return d->processes.count ? d->processes.rows[0].directory : "";
}

static json_t *artifact(const rep_data *d, wl_arena *arena, const char *path)
{
    const char *root = root_of(d);
    size_t length = strlen(root);
    bool below = length > 1 && strncmp(path, root, length) == 0 && path[length] == '/';
    const char *relative = below ? path + length + 1 : path;
    json_t *row = json_object();
    const char *scheme = relative[0] == '/' ? "file://" : "";
    char *uri = escaped_uri_of(arena, relative);
    rep_put_text(row, "uri", uri ? wl_arena_printf(arena, "%s%s", scheme, uri) : NULL);
    if (relative[0] != '/')
        rep_put_text(row, "uriBaseId", "SRCROOT");
    return row;
}

static json_t *location(const rep_data *d, wl_arena *arena, const ana_line *line)
{
    json_t *row = json_object(), *physical = json_object(), *region = json_object();
    rep_put_count(region, "startLine", line->line);
    rep_put(physical, "artifactLocation", artifact(d, arena, line->file));
    rep_put(physical, "region", region);
    rep_put(row, "physicalLocation", physical);
    return row;
}

/* ---- results ---- */

static json_t *properties(const rep_data *d, const ana_finding_group *g)
{
    const ana_finding *f = &d->findings->rows[g->first];
    json_t *row = json_object();
    rep_put_count(row, "number", f->number);
    rep_put_text(row, "kernel", rep_kernel_name(d, f->kernel)); /* the costliest */
    rep_put_text(row, "object", rep_object_name(d, f->object));
    rep_put(row, "kernels", rep_kernel_names(d, g));
    rep_put(row, "objects", rep_object_names(d, g));
    rep_put_count(row, "excess", g->cost.excess);
    rep_put_text(row, "unit", ana_unit_text(g->cost.unit));
    rep_put_number(row, "shareOfProgram", g->cost.share_of_program);
    rep_put_text(row, "gain", ana_gain_name(f->gain));
    return row;
}

/* The least key of the group's findings: which is the costliest may change from run to run. */
static json_t *fingerprint(const rep_data *d, const ana_finding_group *g)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = g->first; i < g->first + g->count; i++) {
        uint64_t key = d->findings->rows[i].key;
        least = key < least ? key : least;
    }
    char text[ANA_KEY_TEXT];
    ana_key_text(least, text);
    json_t *row = json_object();
    rep_put_text(row, "patternKernelObject/v2", text);
    return row;
}

static bool worth_a_warning(const ana_finding_group *g, ana_gain gain)
{
    enum { LEAST = 10 }; /* percent of the program's traffic */
    return gain == ANA_GAIN_FULL && g->cost.share_of_program * 100 >= LEAST;
}

/* A group is one result, with the lines of all its findings. */
static json_t *result(const rep_data *d, wl_arena *arena, const ana_finding_group *g)
{
    const ana_finding *f = &d->findings->rows[g->first];
    const ana_pattern_info *info = ana_pattern_get(f->pattern);
    json_t *row = json_object(), *locations = json_array();
    rep_put_text(row, "ruleId", info->name);
    rep_put_count(row, "ruleIndex", f->pattern);
    rep_put_text(row, "level", worth_a_warning(g, f->gain) ? "warning" : "note");
    rep_put(row, "message",
            message(wl_arena_printf(arena, "%s. %s %s%s%s", info->title,
                                    f->summary ? f->summary : "",
                                    g->advice && *g->advice ? g->advice : info->remedy,
                                    *f->gain_note ? " " : "", f->gain_note)));
    for (uint32_t i = 0; i < g->nlines; i++)
        if (g->lines[i].file && g->lines[i].line)
            json_array_append_new(locations, location(d, arena, &g->lines[i]));
    rep_put(row, "locations", locations);
    rep_put(row, "partialFingerprints", fingerprint(d, g));
    rep_put(row, "properties", properties(d, g));
    return row;
}

static json_t *bases(const rep_data *d, wl_arena *arena)
{
    const char *root = root_of(d);
    if (root[0] != '/')
        return NULL;
    json_t *row = json_object(), *source = json_object();
    char *uri = escaped_uri_of(arena, root);
    rep_put_text(source, "uri", uri ? wl_arena_printf(arena, "file://%s/", uri) : NULL);
    rep_put(row, "SRCROOT", source);
    return row;
}

wl_status rep_sarif(const rep_data *data, FILE *out, wl_error *err)
{
    wl_arena *arena = wl_arena_new();
    json_t *log = json_object(), *runs = json_array(), *run = json_object(),
           *results = json_array();
    for (uint32_t i = 0; arena && i < data->findings->ngroups; i++)
        json_array_append_new(results, result(data, arena, &data->findings->groups[i]));
    rep_put(run, "tool", tool());
    if (arena)
        rep_put(run, "originalUriBaseIds", bases(data, arena));
    rep_put(run, "results", results);
    json_array_append_new(runs, run);
    rep_put_text(log, "version", "2.1.0");
    rep_put(log, "runs", runs);
    bool failed = !arena || json_dumpf(log, out, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) != 0;
    fputc('\n', out);
    json_decref(log);
    wl_arena_free(arena);
    return rep_done(out, failed, err);
}
