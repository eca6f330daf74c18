/* Tells helpers from the code that calls them, by the chains of what was inlined. */
#include "analysis/places.h"

#include <string.h>

enum {
    HELPER_LINES = 3, /* that a helper's code stands in; what has more is read for itself */
    MOST_CHAIN = 64
};

static const prof_loc *find_loc(const ana_places *in, uint32_t id)
{
    const prof_loc_rows *all = in->locs;
    return id && id <= all->count && all->rows[id - 1].id == id ? &all->rows[id - 1] : NULL;
}

static bool is_in_library(const ana_places *in, const prof_loc *loc)
{
    const prof_file *file = prof_find_file(in->files, loc->file);
    return file && file->system;
}

/* Called by its sign; what is called like a function may be a kernel's whole work. */
static bool is_operator(const char *function)
{
    const char *name = strstr(function, "operator");
    return name && strncmp(name, "operator()", strlen("operator()")) != 0;
}

/* The place of the chain from `loc` on that stands in this function. */
static const prof_loc *part_in(const ana_places *in, const prof_loc *loc, const char *function)
{
    for (int i = 0; loc && i < MOST_CHAIN; i++, loc = find_loc(in, loc->inlined_at))
        if (strcmp(loc->function, function) == 0)
            return loc;
    return NULL;
}

/* Whether the kernel's code of the function stands in few lines. */
static bool is_short(const ana_places *in, const char *function)
{
    uint32_t lines[HELPER_LINES], count = 0;
    for (uint32_t i = 0; i < in->code.count; i++) {
        const prof_loc *part = part_in(in, find_loc(in, in->code.rows[i].loc), function);
        uint32_t k = 0;
        while (part && k < count && lines[k] != part->line)
            k++;
        if (part && k == HELPER_LINES)
            return false;
        if (part && k == count)
            lines[count++] = part->line;
    }
    return true;
}

static bool is_helper(const ana_places *in, const prof_loc *loc)
{
    if (is_in_library(in, loc))
        return true;
    return loc->function[0] && !strstr(loc->function, "{lambda") &&
           (is_operator(loc->function) || is_short(in, loc->function));
}

/* The next place outwards that is no library's. */
static const prof_loc *caller_in_program(const ana_places *in, const prof_loc *loc)
{
    for (int i = 0; loc && i < MOST_CHAIN; i++) {
        loc = find_loc(in, loc->inlined_at);
        if (loc && !is_in_library(in, loc))
            return loc;
    }
    return NULL;
}

ana_source ana_source_of(const ana_places *in, const prof_code *code, ana_source *helper)
{
    const prof_loc *inner = find_loc(in, code->loc), *at = inner, *up;
    *helper = (ana_source){0};
    for (int i = 0; i < MOST_CHAIN && (up = caller_in_program(in, at)) != NULL && is_helper(in, at);
         i++)
        at = up;
    if (!at || at == inner)
        return (ana_source){code->file, code->file ? code->line : 0};
    *helper = (ana_source){inner->file, inner->line};
    if (is_in_library(in, inner) && (code->file != at->file || code->line != at->line))
        *helper = (ana_source){code->file, code->line}; /* the program's own comes first */
    return (ana_source){at->file, at->line};
}
