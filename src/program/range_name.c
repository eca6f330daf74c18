/* Ranges of the program's own chosen by their names. */
#include "program/range_name.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "regex:"

typedef enum part_kind { PART_NAME, PART_ONE, PART_ANY, PART_END } part_kind;

typedef struct part { /* between two slashes */
    part_kind kind;
    const char *name;
} part;

typedef struct prog_range_pattern pattern;

struct prog_range_pattern {
    pattern *next;
    const char *domain; /* NULL: any */
    regex_t regex;
    bool compiled;                     /* it is an expression, and there are no parts */
    bool pushed, outermost, innermost; /* pushed: only such ranges are meant */
    size_t count;
    part *parts;
};

/* ---- reading ---- */

/* The text up to the first of these characters that no backslash stands before, and without the
 * backslashes; *at is set to what follows, and *stop is the character, '\0' at the end. NULL without
 * memory. */
static const char *read_up_to(wl_arena *arena, const char **at, const char *stops, char *stop)
{
    char *text = wl_arena_strdup(arena, *at), *to = text;
    const char *p = *at;
    for (; text && *p && !strchr(stops, *p); p++) {
        p += *p == '\\' && p[1];
        *to++ = *p;
    }
    if (!text)
        return NULL;
    *to = '\0';
    *stop = *p;
    *at = p + (*p != '\0');
    return text;
}

static wl_status no_memory(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "out of memory");
}

static wl_status read_expression(pattern *p, const char *text, wl_error *err)
{
    char why[256];
    int code = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
    p->compiled = code == 0;
    if (p->compiled)
        return WL_OK;
    regerror(code, &p->regex, why, sizeof why);
    return wl_fail(err, WL_ARG, "%s", why);
}

static part_kind kind_of(const char *written)
{
    return strcmp(written, "*") == 0   ? PART_ANY
           : strcmp(written, "+") == 0 ? PART_ONE
           : strcmp(written, "]") == 0 ? PART_END
                                       : PART_NAME;
}

/* What stands between two slashes: a star, a plus and a bracket are such where they stand alone. */
static wl_status read_range_part(wl_arena *arena, const char **at, part *out, char *stop)
{
    const char *written = *at;
    const char *alone = wl_arena_strndup(arena, written, strcspn(written, "/"));
    out->name = read_up_to(arena, at, "/", stop);
    if (!alone || !out->name)
        return WL_NOMEM;
    out->kind = kind_of(alone);
    return WL_OK;
}

static wl_status check_parts(const pattern *p, wl_error *err)
{
    size_t named = 0;
    for (size_t i = 0; i < p->count; i++) {
        const part *at = &p->parts[i];
        named += at->kind == PART_NAME;
        if (at->kind == PART_NAME && !*at->name)
            return wl_fail(err, WL_ARG, "a range has a name");
        if (at->kind == PART_END && i + 1 < p->count)
            return wl_fail(err, WL_ARG, "nothing follows a ]");
    }
    return named ? WL_OK : wl_fail(err, WL_ARG, "a range has a name");
}

static bool has_slash(const char *text)
{
    for (; *text && *text != '/'; text++)
        text += *text == '\\' && text[1];
    return *text == '/';
}

static wl_status read_range_parts(wl_arena *arena, pattern *p, const char *text, wl_error *err)
{
    char stop = '/';
    p->outermost = *text == '[' && has_slash(text);
    text += p->outermost;
    p->parts = wl_new_array(arena, part, strlen(text) + 1);
    if (!p->parts)
        return no_memory(err);
    for (bool first = true; stop == '/' && (first || *text); first = false) {
        if (read_range_part(arena, &text, &p->parts[p->count++], &stop) != WL_OK)
            return no_memory(err);
        p->pushed |= stop == '/';
    }
    wl_status status = check_parts(p, err);
    p->innermost = p->parts[p->count - 1].kind == PART_END;
    p->count -= p->innermost;
    return status;
}

static bool is_expression(const char *text)
{
    return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

/* `text` is one pattern, with its backslashes. */
static wl_status read_range_pattern(wl_arena *arena, const char *text, pattern *p, wl_error *err)
{
    const char *rest = text;
    char stop;
    const char *domain = read_up_to(arena, &rest, "@", &stop);
    if (!domain)
        return no_memory(err);
    if (stop == '@' && !is_expression(text))
        p->domain = domain;
    else
        rest = text;
    return is_expression(rest) ? read_expression(p, rest + strlen(PREFIX), err)
                               : read_range_parts(arena, p, rest, err);
}

void prog_ranges_clear(prog_range_patterns *all)
{
    for (pattern *p = all->first; p; p = p->next)
        if (p->compiled)
            regfree(&p->regex);
    wl_arena_free(all->arena);
    *all = (prog_range_patterns){0};
}

/* The bytes up to a semicolon that no backslash stands before. */
static size_t length_of_pattern(const char *text)
{
    size_t length = 0;
    while (text[length] && text[length] != ';')
        length += text[length] == '\\' && text[length + 1] ? 2 : 1;
    return length;
}

wl_status prog_ranges_read(const char *text, prog_range_patterns *all, wl_error *err)
{
    *all = (prog_range_patterns){.arena = wl_arena_new()};
    while (*text) {
        size_t length = length_of_pattern(text);
        pattern *p = all->arena ? wl_new(all->arena, pattern) : NULL;
        const char *one = p ? wl_arena_strndup(all->arena, text, length) : NULL;
        if (!one)
            return no_memory(err);
        p->next = all->first;
        all->first = p;
        wl_status status = read_range_pattern(all->arena, one, p, err);
        if (status != WL_OK)
            return status;
        text += length + (text[length] != '\0');
    }
    return WL_OK;
}

/* ---- matching ---- */

typedef struct stack { /* the ranges that a pattern may mean, outermost first */
    const prog_range *ranges;
    const size_t *places;
    size_t count;
} stack;

/* Do the parts from `i` on fit the ranges from `at` on? */
static bool fits_from(const pattern *p, const stack *s, size_t i, size_t at)
{
    if (i == p->count)
        return !p->innermost || at == s->count;
    const part *wanted = &p->parts[i];
    if (wanted->kind == PART_ANY)
        return fits_from(p, s, i + 1, at) || (at < s->count && fits_from(p, s, i, at + 1));
    return at < s->count &&
           (wanted->kind == PART_ONE || strcmp(s->ranges[s->places[at]].name, wanted->name) == 0) &&
           fits_from(p, s, i + 1, at + 1);
}

static bool has_name(const pattern *p, const stack *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (regexec(&p->regex, s->ranges[s->places[i]].name, 0, NULL, 0) == 0)
            return true;
    return false;
}

enum { MOST_OPEN = 256 }; /* further ones are not looked at */

static bool pattern_fits(const pattern *p, const prog_range *ranges, size_t count)
{
    size_t places[MOST_OPEN];
    stack s = {.ranges = ranges, .places = places};
    for (size_t i = 0; i < count && s.count < MOST_OPEN; i++)
        if ((!p->domain || strcmp(p->domain, ranges[i].domain) == 0) &&
            (ranges[i].pushed || !p->pushed))
            places[s.count++] = i;
    if (p->compiled)
        return has_name(p, &s);
    for (size_t at = 0; at <= s.count; at++)
        if (fits_from(p, &s, 0, at))
            return true;
        else if (p->outermost)
            break;
    return false;
}

bool prog_ranges_fit(const prog_range_patterns *all, const prog_range *ranges, size_t count)
{
    for (const pattern *p = all->first; p; p = p->next)
        if (pattern_fits(p, ranges, count))
            return true;
    return false;
}
