/* Calls of CUDA functions in source text: where they are, and which variable they fill. */
#include "profile/statement.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST_NAME = 64, LONGEST_API = 128 };

static bool is_identifier_character(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* "cuMemAlloc_v2" -> length of "cuMemAlloc": as programs write it. */
static size_t length_of_api(const char *api)
{
    size_t n = strlen(api);
    static const char *const endings[] = {"_ptsz", "_ptds", "_v2", "_v3", "_v4"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && memcmp(api + n - e, endings[i], e) == 0)
            n -= e;
    }
    return n;
}

/* Behind the bracket that closes the one at `open`; the end of the text where none does. */
static const char *closing(const char *open)
{
    int depth = 0;
    const char *p = open;
    for (; *p; p++)
        if (strchr("([{", *p))
            depth++;
        else if (strchr(")]}", *p) && --depth == 0)
            return p + 1;
    return p;
}

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* The bracket of a call of `name` (n bytes) at or after `p`; NULL without one. *start: where its
 * name begins. */
static const char *find_call(const char *text, const char *p, const char *name, size_t n,
                             const char **start)
{
    for (; (p = strstr(p, name)); p++) {
        if ((p > text && is_identifier_character(p[-1])) || is_identifier_character(p[n]))
            continue;
        const char *q = skip_space(p + n);
        if (*q == '<') {
            q += strcspn(q, ">");
            q = skip_space(q + (*q == '>'));
        }
        if (*q == '(') {
            *start = p;
            return q;
        }
    }
    return NULL;
}

/* Where the runtime is NVIDIA's, the call that is recorded is the driver's, while the text has the
 * runtime's. */
static const char *const of_runtime[][2] = {
    {"cuMemAlloc", "cudaMalloc"},
    {"cuMemAlloc", "cudaMalloc3D"},
    {"cuMemAllocPitch", "cudaMallocPitch"},
    {"cuMemAllocManaged", "cudaMallocManaged"},
    {"cuMemAllocAsync", "cudaMallocAsync"},
    {"cuMemAllocFromPoolAsync", "cudaMallocFromPoolAsync"},
    {"cuMemAllocHost", "cudaMallocHost"},
    {"cuMemHostAlloc", "cudaMallocHost"},
    {"cuMemHostAlloc", "cudaHostAlloc"},
    {"cuMemHostRegister", "cudaHostRegister"},
    {"cuArrayCreate", "cudaMallocArray"},
    {"cuArray3DCreate", "cudaMalloc3DArray"},
    {"cuMipmappedArrayCreate", "cudaMallocMipmappedArray"},
};

/* The name that the text calls the API by: its own, or the runtime's. */
static bool name_in(const char *text, const char *api, char *name, size_t size)
{
    const char *start;
    size_t n = length_of_api(api);
    if (n == 0 || n >= size)
        return false;
    memcpy(name, api, n);
    name[n] = '\0';
    for (size_t i = 0; !find_call(text, text, name, strlen(name), &start) &&
                       i < sizeof of_runtime / sizeof *of_runtime;
         i++) {
        if (strncmp(of_runtime[i][0], api, n) == 0 && !of_runtime[i][0][n])
            strcpy(name, of_runtime[i][1]);
    }
    return true;
}

typedef struct span {
    const char *start, *end;
} span;

static span trim_span(span s)
{
    s.end = s.end < s.start ? s.start : s.end; /* a bracket that nothing closes */
    while (s.start < s.end && isspace((unsigned char)*s.start))
        s.start++;
    while (s.end > s.start && isspace((unsigned char)s.end[-1]))
        s.end--;
    return s;
}

static span first_argument(const char *bracket)
{
    const char *end = closing(bracket), *p = bracket + 1;
    int depth = 0;
    for (; p < end - 1; p++) {
        depth += strchr("([{", *p) != NULL;
        depth -= strchr(")]}", *p) != NULL;
        if (*p == ',' && depth == 0)
            break;
    }
    return trim_span((span){bracket + 1, p});
}

static bool span_begins(span s, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(s.end - s.start) >= n && memcmp(s.start, text, n) == 0;
}

/* "(T)x" -> "x", "reinterpret_cast<T>(x)" -> "x", "(x)" -> "x", "&x" -> "x", "this->x" -> "x";
 * false: nothing to take off. */
static bool peel(span *s)
{
    if (s->start == s->end)
        return false;
    if (*s->start == '&' || *s->start == '*') {
        *s = trim_span((span){s->start + 1, s->end});
        return true;
    }
    if (span_begins(*s, "this->")) {
        s->start += strlen("this->");
        return true;
    }
    if (span_begins(*s, "reinterpret_cast<") || span_begins(*s, "static_cast<")) {
        const char *open = memchr(s->start, '(', (size_t)(s->end - s->start));
        if (!open || s->end[-1] != ')')
            return false;
        *s = trim_span((span){open + 1, s->end - 1});
        return true;
    }
    if (*s->start == '(') {
        const char *end = closing(s->start);
        *s = end >= s->end ? trim_span((span){s->start + 1, s->end - 1})
                           : trim_span((span){end, s->end});
        return true;
    }
    return false;
}

/* The expression as a name; "" where it is none that a person would call the object by. */
static const char *name_of(wl_arena *arena, span s)
{
    s = trim_span(s);
    for (int i = 0; i < 8 && peel(&s); i++) {}
    size_t n = (size_t)(s.end - s.start);
    if (n == 0 || n > LONGEST_NAME || isdigit((unsigned char)*s.start) ||
        !is_identifier_character(*s.start)) {
        return "";
    }
    for (const char *p = s.start; p < s.end; p++)
        if (!is_identifier_character(*p) && !strchr(".->[]:+", *p))
            return "";
    static const char *const nothing[] = {"nullptr", "NULL",  "sizeof", "return", "auto",
                                          "new",     "while", "if",     "for",    "switch"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (n == strlen(nothing[i]) && span_begins(s, nothing[i]))
            return "";
    return wl_arena_strndup(arena, s.start, n);
}

/* The call of the API that the column points at: the last that begins before it. */
static const char *called_with(wl_arena *arena, const char *text, const char *api, uint32_t column)
{
    char name[LONGEST_API];
    if (!name_in(text, api, name, sizeof name))
        return "";
    const char *start, *best = NULL;
    size_t line = strcspn(text, "\n");
    for (const char *p = text; (p = find_call(text, p, name, strlen(name), &start)); p++) {
        bool before = !column || (size_t)(start - text) < column || (size_t)(start - text) > line;
        if (best && (!column || !before || (size_t)(start - text) > line))
            break;
        best = p;
    }
    return best ? name_of(arena, first_argument(best)) : "";
}

/* The end of the statement: its semicolon, outside of brackets and strings. */
static const char *statement_end(const char *text)
{
    char quote = 0;
    for (const char *p = text; *p; p++) {
        if (quote) {
            p += *p == '\\' && p[1];
            quote = *p == quote ? 0 : quote;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        } else if (*p == ';') {
            return p;
        }
    }
    return text + strlen(text);
}

/* "f(&x, ...)": the first call whose first argument is an address. */
static const char *address_given(wl_arena *arena, span s)
{
    for (const char *p = s.start; p < s.end; p++) {
        if (*p == '(') {
            span first = first_argument(p);
            span inner = first;
            while (peel(&inner)) {}
            bool address = memchr(first.start, '&', (size_t)(inner.start - first.start)) != NULL;
            if (address && inner.start <= s.end)
                return name_of(arena, first);
        }
    }
    return "";
}

/* The last name of "const float *x" or "a->b". */
static const char *last_word(wl_arena *arena, span s)
{
    s = trim_span(s);
    const char *p = s.end;
    while (p > s.start && (is_identifier_character(p[-1]) || strchr(".->[]", p[-1]))) {
        p -= p[-1] == '>' && (p - s.start < 2 || p[-2] != '-') ? 0 : 1;
        if (p > s.start && p[-1] == '>' && (p - s.start < 2 || p[-2] != '-'))
            break;
    }
    return name_of(arena, (span){p, s.end});
}

/* "x = ...": what stands left of the assignment. */
static const char *assigned(wl_arena *arena, span s)
{
    int depth = 0;
    for (const char *p = s.start; p < s.end; p++) {
        depth += strchr("([{", *p) != NULL;
        depth -= strchr(")]}", *p) != NULL;
        bool comparison = p[1] == '=' || (p > s.start && strchr("=<>!+-*/|&^", p[-1]));
        if (*p == '=' && depth == 0 && !comparison)
            return last_word(arena, (span){s.start, p});
    }
    return "";
}

static bool is_macro(span s)
{
    for (const char *p = s.start; p < s.end; p++)
        if (!isupper((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_')
            return false;
    return s.start < s.end;
}

/* "T x(n)", "T x{n}", "x.resize(n)", "ALLOC(x, n)". */
static const char *declared(wl_arena *arena, span s)
{
    const char *open = s.start;
    while (open < s.end && *open != '(' && *open != '{')
        open++;
    span head = trim_span((span){s.start, open});
    const char *p = head.end;
    while (p > head.start && is_identifier_character(p[-1]))
        p--;
    span word = {p, head.end};
    if (p > head.start && (p[-1] == '.' || (p[-1] == '>' && p - head.start > 1 && p[-2] == '-')))
        return last_word(arena, (span){head.start, p - (p[-1] == '.' ? 1 : 2)});
    if (is_macro(word) && *open == '(')
        return name_of(arena, first_argument(open));
    bool typed = p > head.start && (isspace((unsigned char)p[-1]) || strchr("*&>", p[-1]));
    return typed && !span_begins(head, "return") ? name_of(arena, word) : "";
}

const char *statement_variable(wl_arena *arena, const char *text, const char *api, uint32_t column)
{
    const char *name = called_with(arena, text, api, column);
    if (!name || *name)
        return name;
    span s = trim_span((span){text, statement_end(text)});
    static const char *(*const ways[])(wl_arena *, span) = {address_given, assigned, declared};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && name && !*name; i++)
        name = ways[i](arena, s);
    return name;
}

/* ---- calls of a function's body ---- */

/* Behind the comment, string or preprocessor line that begins at `p`; `p` where none does. */
static const char *skip_dead(const char *text, const char *p)
{
    if (p[0] == '/' && p[1] == '/')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p == '"' || *p == '\'') {
        const char *q = p + 1;
        while (*q && *q != *p && *q != '\n')
            q += *q == '\\' && q[1] ? 2 : 1;
        return *q ? q + 1 : q;
    }
    bool line_start = p == text || p[-1] == '\n';
    if (line_start && *skip_space(p) == '#' &&
        memchr(p, '\n', (size_t)(skip_space(p) - p)) == NULL) {
        const char *q = p;
        do {
            q += strcspn(q, "\n");
            q += *q == '\n';
        } while (*q && q - p > 1 && q[-2] == '\\');
        return q;
    }
    return p;
}

/* Behind the bracket that closes the one at `open`, comments and strings left out. */
static const char *code_closing(const char *text, const char *open)
{
    int depth = 0;
    for (const char *p = open; *p;) {
        const char *next = skip_dead(text, p);
        if (next > p) {
            p = next;
            continue;
        }
        depth += *p == '{' || *p == '(';
        depth -= *p == '}' || *p == ')';
        p++;
        if (depth == 0)
            return p;
    }
    return open + strlen(open);
}

static const char *word_at(const char *text, const char *p, const char *word)
{
    size_t n = strlen(word);
    bool here = strncmp(p, word, n) == 0 && !is_identifier_character(p[n]) &&
                (p == text || !is_identifier_character(p[-1]));
    return here ? p + n : NULL;
}

/* Behind the name of a function that begins at `p`: `function`, or any where that is NULL. */
static const char *name_at(const char *text, const char *p, const char *function)
{
    static const char *const others[] = {"if", "for", "while", "switch", "catch", "return"};
    if (function)
        return word_at(text, p, function);
    if (!is_identifier_character(*p) || (p > text && is_identifier_character(p[-1])))
        return NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (word_at(text, p, others[i]))
            return NULL;
    while (is_identifier_character(*p))
        p++;
    return p;
}

/* The brace that opens the body of the next definition of `function` at or after `p`; NULL without
 * one. */
static const char *find_body(const char *text, const char *p, const char *function)
{
    while (*p) {
        const char *next = skip_dead(text, p);
        if (next > p) {
            p = next;
            continue;
        }
        const char *behind = name_at(text, p, function);
        const char *open = behind ? skip_space(behind) : NULL;
        if (open && *open == '(') {
            const char *q = skip_space(code_closing(text, open));
            if (*q == '{')
                return q;
        }
        p++;
    }
    return NULL;
}

static statement_place place_in_text(const char *text, const char *at)
{
    const char *line_start = text;
    statement_place place = {.line = 1};
    for (const char *p = text; p < at; p++) {
        place.line += *p == '\n';
        line_start = *p == '\n' ? p + 1 : line_start;
    }
    place.column = (uint32_t)(at - line_start) + 1;
    return place;
}

static uint32_t calls_in_body(const char *text, const char *body, const char *name,
                              statement_place *places, uint32_t most)
{
    const char *end = code_closing(text, body), *start;
    uint32_t count = 0;
    for (const char *p = body; p < end;) {
        const char *next = skip_dead(text, p);
        if (next > p) {
            p = next;
            continue;
        }
        const char *call = word_at(text, p, name) ? find_call(text, p, name, strlen(name), &start)
                                                  : NULL;
        if (call && start == p && count++ < most)
            places[count - 1] = place_in_text(text, p);
        p++;
    }
    return count;
}

uint32_t statement_calls(const char *text, const char *function, const char *api,
                         statement_place *places, uint32_t most)
{
    char name[LONGEST_API];
    const char *body = find_body(text, text, function);
    return body && name_in(text, api, name, sizeof name)
               ? calls_in_body(text, body, name, places, most)
               : 0;
}

uint32_t statement_only_calls(const char *text, const char *api, statement_place *places,
                              uint32_t most)
{
    char name[LONGEST_API];
    uint32_t found = 0;
    if (!name_in(text, api, name, sizeof name) || !strstr(text, name))
        return 0;
    for (const char *p = text, *body; (body = find_body(text, p, NULL));
         p = code_closing(text, body)) {
        uint32_t n = calls_in_body(text, body, name, places, found ? 0 : most);
        if (n && found)
            return 0;
        found = n ? n : found;
    }
    return found;
}
