/* Calls of CUDA functions in source text: what they are called there, and where they are. */
#include "profile/statement.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_API = 128 };

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

bool statement_api_name(const char *api, uint32_t index, char *name, size_t size)
{
    size_t n = length_of_api(api);
    if (n == 0 || n >= size)
        return false;
    memcpy(name, api, n);
    name[n] = '\0';
    for (size_t i = 0; index && i < sizeof of_runtime / sizeof *of_runtime; i++) {
        bool same = strncmp(of_runtime[i][0], api, n) == 0 && !of_runtime[i][0][n];
        if (same && --index == 0) {
            snprintf(name, size, "%s", of_runtime[i][1]);
            return true;
        }
    }
    return index == 0;
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
