/* C++ names that fit: what tells least goes first. */
#include "report/impl.h"

#include "profile/demangle.h"

#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

/* The depth of template arguments that follows the character at `p`; names with operators that look
 * like brackets count as if they had none. */
static int depth_after(const char *name, const char *p, int depth)
{
    bool arrow = p > name && (p[-1] == '-' || p[-1] == '<' || p[-1] == '>') && depth == 0;
    if (*p == '<' && !arrow)
        return depth + 1;
    return *p == '>' && depth > 0 ? depth - 1 : depth;
}

static int deepest_template(const char *name)
{
    int depth = 0, most = 0;
    for (const char *p = name; *p; p++) {
        depth = depth_after(name, p, depth);
        most = depth > most ? depth : most;
    }
    return depth == 0 ? most : 0;
}

/* The name with an ellipsis in place of all template arguments at `level` and below it. */
static char *without_arguments(wl_arena *arena, const char *name, int level)
{
    char *copy = wl_arena_alloc(arena, strlen(name) * 3 + 1), *to = copy;
    int depth = 0;
    for (const char *p = name; copy && *p; p++) {
        int next = depth_after(name, p, depth);
        if (next < level || (next == level && depth < level))
            *to++ = *p; /* outside, or the bracket that opens */
        if (next == level && depth < level)
            to = stpcpy(to, ELLIPSIS);
        depth = next;
    }
    return copy;
}

/* Behind the last namespace that is not inside of arguments; NULL without any. */
static const char *after_namespaces(const char *name)
{
    const char *found = NULL;
    int depth = 0;
    for (const char *p = name; *p && *p != '('; p++) {
        depth = depth_after(name, p, depth);
        if (depth == 0 && p[0] == ':' && p[1] == ':')
            found = p + 2;
    }
    return found;
}

char *rep_shorten_name(wl_arena *arena, const char *name, size_t columns)
{
    char *shorter = wl_arena_strdup(arena, name);
    for (int level = deepest_template(name); shorter && level > 0 && rep_width(shorter) > columns;
         level--)
        shorter = without_arguments(arena, name, level);
    if (!shorter || rep_width(shorter) <= columns)
        return shorter;
    const char *own = after_namespaces(shorter);
    if (own)
        shorter = wl_arena_printf(arena, ELLIPSIS "%s", own);
    return shorter && rep_width(shorter) > columns ? rep_shorten_middle(arena, shorter, columns)
                                                   : shorter;
}

char *rep_brief_name(wl_arena *arena, const char *kernel, size_t columns)
{
    const char *own = prof_short_name(arena, kernel);
    char *text = own ? rep_clean(arena, own, true) : NULL;
    return text ? rep_shorten_name(arena, text, columns) : NULL;
}

/* Bytes of the mangled name at `text`; 0 where there is none. */
static size_t mangled_bytes(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.";
    size_t bytes = strncmp(text, "_Z", 2) == 0 ? strspn(text, letters) : 0;
    return bytes && text[bytes - 1] == '.' ? bytes - 1 : bytes; /* the sentence's */
}

char *rep_readable(wl_arena *arena, const char *text, size_t columns)
{
    char *result = wl_arena_strdup(arena, "");
    while (result && *text) {
        size_t bytes = mangled_bytes(text), plain = bytes ? 0 : 1;
        if (bytes) {
            char *mangled = wl_arena_strndup(arena, text, bytes);
            const char *name = mangled ? prof_demangle(arena, mangled) : NULL;
            name = name && columns ? rep_brief_name(arena, name, columns) : name;
            result = name ? wl_arena_printf(arena, "%s%s", result, name) : NULL;
        } else {
            const char *next = strstr(text + 1, "_Z");
            plain = next ? (size_t)(next - text) : strlen(text);
            result = wl_arena_printf(arena, "%s%.*s", result, (int)plain, text);
        }
        text += bytes + plain;
    }
    return result;
}
