/* Finds a declaration's parameters in source text, without knowing C++: brackets, commas, words. */
#include "profile/declared.h"

#include <ctype.h>
#include <string.h>

enum { MOST_TEXT = 16 << 10, MOST_BEFORE = 512 }; /* of a declaration; before its name */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- the list ---- */

/* The bytes at the beginning that are a comment; 0: none. */
static size_t comment_length(const char *text, size_t length)
{
    if (length < 2 || text[0] != '/' || (text[1] != '/' && text[1] != '*'))
        return 0;
    const char *ends = text[1] == '/' ? "\n" : "*/";
    size_t n = strlen(ends), at = 2;
    while (at + n <= length && memcmp(text + at, ends, n) != 0)
        at++;
    if (at + n > length)
        return length;
    return text[1] == '/' ? at : at + n;
}

/* A copy in which a comment is a space; NULL when memory is exhausted. */
static char *without_comments(wl_arena *arena, const char *text, size_t length)
{
    char *copy = wl_arena_alloc(arena, length + 1), *to = copy;
    for (size_t at = 0, n; copy && at < length; at += n ? n : 1) {
        n = comment_length(text + at, length - at);
        *to++ = n ? ' ' : text[at];
    }
    return copy;
}

/* What follows the bracket after the function's name; NULL where it is not near the beginning. */
static const char *list_after(const char *text, const char *function)
{
    size_t n = strlen(function);
    for (const char *p = text; n && *p && p - text < MOST_BEFORE; p++) {
        bool begins = p == text || !in_word(p[-1]);
        if (!begins || strncmp(p, function, n) != 0 || in_word(p[n]))
            continue;
        const char *after = p + n + strspn(p + n, " \t\r\n");
        if (*after == '(')
            return after + 1;
    }
    return NULL;
}

/* Where the parameter ends that begins there: at a comma or bracket that is not its own. NULL where
 * the text is no plain list: its end, a line for the preprocessor, a string. */
static const char *end_of_parameter(const char *p)
{
    int depth = 0;
    for (; *p && !strchr("#\";", *p); p++) {
        if (depth == 0 && (*p == ',' || *p == ')'))
            return p;
        depth += strchr("(<[{", *p) != NULL;
        depth -= strchr(")>]}", *p) != NULL;
    }
    return NULL;
}

/* ---- a parameter ---- */

static bool is_of_type(const char *word, size_t length)
{
    static const char *const words[] = {"const",    "volatile",    "unsigned", "signed", "int",
                                        "long",     "short",       "char",     "float",  "double",
                                        "bool",     "struct",      "class",    "void",   "enum",
                                        "typename", "__restrict__"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* Whether anything before the name is a type: "size_t" and "const size_t" are types without one. */
static bool has_type_before(const char *from, const char *name)
{
    for (const char *p = from; p < name;) {
        const char *word = p;
        while (p < name && in_word(*p))
            p++;
        size_t length = (size_t)(p - word);
        bool qualifies = (length == 5 && memcmp(word, "const", 5) == 0) ||
                         (length == 8 && memcmp(word, "volatile", 8) == 0);
        if (length && !qualifies)
            return true;
        p += !length;
    }
    return false;
}

/* The end of the declarator: before a default and the bounds of an array. */
static const char *end_of_declarator(const char *from, const char *end)
{
    const char *stop = memchr(from, '=', (size_t)(end - from));
    end = stop ? stop : end;
    stop = memchr(from, '[', (size_t)(end - from));
    end = stop ? stop : end;
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    return end;
}

/* "" where it has none, or it is not told apart from its type. */
static const char *name_of_parameter(wl_arena *arena, const char *from, const char *end)
{
    end = end_of_declarator(from, end);
    const char *name = end;
    while (name > from && in_word(name[-1]))
        name--;
    size_t length = (size_t)(end - name);
    bool plain = length && !isdigit((unsigned char)*name) && !is_of_type(name, length) &&
                 (name == from || name[-1] != ':') && has_type_before(from, name);
    return plain ? wl_arena_strndup(arena, name, length) : "";
}

bool declared_names(const char *text, size_t length, const char *function, uint32_t count,
                    wl_arena *arena, const char **names)
{
    char *plain = without_comments(arena, text, length < MOST_TEXT ? length : MOST_TEXT);
    const char *p = plain ? list_after(plain, function) : NULL;
    uint32_t n = 0;
    while (p && n < count) {
        const char *end = end_of_parameter(p);
        p += strspn(p, " \t\r\n");
        if (!end || p >= end || !(names[n++] = name_of_parameter(arena, p, end)))
            return false;
        if (*end == ')')
            return n == count;
        p = end + 1;
    }
    return false;
}
