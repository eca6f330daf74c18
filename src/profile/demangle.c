/* Names of C++ as people write them, from mangled ones. */
#include "profile/demangle.h"

#include "base/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C++ ABI's own demangler (Itanium C++ ABI, 3.4), from the C++ runtime library. It has no
 * header for C. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* Bytes of a mangled name that is worth the work, of one that is shown, and brackets within
 * brackets that are. */
enum { LONGEST_MANGLED = 16 * 1024, LONGEST_SHOWN = 4096, DEEPEST_SHOWN = 16 };

/* nvcc puts names that are private to a file into a namespace "_INTERNAL_1a2b3c4d_4_x_cu_main";
 * nobody wrote it. */
static void drop_internal(char *text)
{
    static const char prefix[] = "_INTERNAL_";
    for (char *p = text; (p = strstr(p, prefix));) {
        char *end = p + strlen(prefix);
        while (*end == '_' || (*end >= '0' && *end <= '9') || (*end >= 'a' && *end <= 'z') ||
               (*end >= 'A' && *end <= 'Z')) {
            end++;
        }
        if (strncmp(end, "::", 2) != 0) {
            p = end;
            continue;
        }
        memmove(p, end + 2, strlen(end + 2) + 1);
    }
}

/* Copies the name without what stands in brackets deeper than `deepest`; `to` has room for three
 * times as much. Brackets stay in pairs. Returns its length. */
static size_t copy_down_to(const char *name, unsigned deepest, char *to)
{
    unsigned depth = 0;
    size_t n = 0;
    for (; *name; name++) {
        bool opens = strchr("<([{", *name), closes = strchr(">)]}", *name);
        depth -= closes && depth;
        if (depth <= deepest)
            to[n++] = *name;
        depth += opens;
        if (opens && depth == deepest + 1 && !strchr(">)]}", name[1])) {
            memcpy(to + n, "...", 3);
            n += 3;
        }
    }
    to[n] = '\0';
    return n;
}

/* Names that nobody would read to their end lose what stands in the innermost brackets first. */
static const char *shorten_name(wl_arena *arena, const char *name)
{
    size_t length = strlen(name);
    if (length <= LONGEST_SHOWN)
        return wl_arena_strdup(arena, name);
    char *text = malloc(3 * length + 1);
    if (!text)
        return NULL;
    for (unsigned deepest = DEEPEST_SHOWN; length > LONGEST_SHOWN && deepest-- > 0;)
        length = copy_down_to(name, deepest, text);
    if (length > LONGEST_SHOWN)
        strcpy(text + LONGEST_SHOWN - 3, "...");
    const char *copy = wl_arena_strdup(arena, text);
    free(text);
    return copy;
}

const char *prof_demangle(wl_arena *arena, const char *name)
{
    if (strncmp(name, "_Z", 2) != 0 || strlen(name) > LONGEST_MANGLED)
        return shorten_name(arena, name);
    int status = 0;
    char *text = __cxa_demangle(name, NULL, NULL, &status);
    if (text)
        drop_internal(text);
    const char *copy = shorten_name(arena, text ? text : name);
    free(text);
    return copy;
}

const char *prof_demangle_text(wl_arena *arena, const char *text)
{
    char *plain = strstr(text, "_Z") ? wl_demangle_words(text, __cxa_demangle) : NULL;
    if (plain)
        drop_internal(plain);
    const char *copy = shorten_name(arena, plain ? plain : text);
    free(plain);
    return copy;
}

/* Backwards from `end` (after a closing bracket) to its opening one; NULL where they do not
 * match. */
static const char *opening(const char *start, const char *end)
{
    int depth = 0;
    for (const char *p = end; p > start; p--) {
        char c = p[-1];
        if (c == ')' || c == '>' || c == '}' || c == ']')
            depth++;
        else if (c == '(' || c == '<' || c == '{' || c == '[')
            depth--;
        if (depth == 0)
            return p - 1;
    }
    return NULL;
}

/* Where the function's own name begins: after the last space outside of brackets, which ends the
 * return type. */
static const char *own_name(const char *start, const char *end)
{
    const char *p = end;
    while (p > start && p[-1] != ' ') {
        const char *open = strchr(")>}]", p[-1]) ? opening(start, p) : p - 1;
        if (!open)
            return start;
        p = open;
    }
    return p;
}

/* Is the function itself an operator, whose sign may look like a bracket? */
static bool names_operator(const char *demangled)
{
    int depth = 0;
    for (const char *p = demangled; *p; p++) {
        if (depth == 0 && strncmp(p, "operator", 8) == 0)
            return true;
        depth += strchr("(<{[", *p) != NULL;
        depth -= strchr(")>}]", *p) != NULL;
    }
    return false;
}

const char *prof_short_name(wl_arena *arena, const char *demangled)
{
    const char *end = demangled + strlen(demangled);
    if (end > demangled && end[-1] == ')') {
        const char *open = opening(demangled, end);
        if (open && open > demangled)
            end = open;
    }
    const char *start = names_operator(demangled) ? demangled : own_name(demangled, end);
    return wl_arena_strndup(arena, start, (size_t)(end - start));
}

const char *prof_last_name(const char *demangled)
{
    const char *end = demangled + strlen(demangled);
    for (const char *p = end; p > demangled; p--) {
        if (strchr(")>}]", p[-1])) {
            const char *open = opening(demangled, p);
            if (!open)
                return demangled;
            p = open + 1;
        } else if (p - demangled >= 2 && p[-1] == ':' && p[-2] == ':') {
            return p;
        }
    }
    return demangled;
}

const char *prof_plain_name(wl_arena *arena, const char *demangled)
{
    const char *name = prof_short_name(arena, demangled);
    if (!name)
        return NULL;
    name = prof_last_name(name);
    size_t n = strcspn(name, "<({[ ");
    return wl_arena_strndup(arena, name, n);
}

/* ---- headings ---- */

typedef struct heading {
    wl_arena *arena;
    char *text; /* with room for nothing more than the name that it is made of */
    size_t n;
} heading;

/* After the bracket that closes the one at `open`; the end of the text where none does. */
static const char *after_closing(const char *open)
{
    int depth = 0;
    const char *p = open;
    while (*p) {
        depth += strchr("(<[{", *p) != NULL;
        depth -= strchr(")>]}", *p) != NULL;
        p++;
        if (depth == 0)
            break;
    }
    return p;
}

/* Takes back "main::" or "ns::run<T>(int)::" from the end of what is written; its function's name. */
static const char *take_function(heading *h)
{
    char *end = h->text + h->n;
    if (h->n < 2 || end[-1] != ':' || end[-2] != ':')
        return "";
    *end = '\0';
    end -= 2;
    const char *p = end;
    while (p > h->text && !strchr("<, (", p[-1])) {
        const char *open = strchr(")>}]", p[-1]) ? opening(h->text, p) : p - 1;
        p = open ? open : h->text;
    }
    h->n = (size_t)(p - h->text);
    const char *path = wl_arena_strndup(h->arena, p, (size_t)(end - p));
    return path ? prof_plain_name(h->arena, path) : NULL;
}

/* "{lambda(int)#2}" -> "lambda 2 in main": never longer than with its function's path. */
static const char *write_lambda(heading *h, const char *p)
{
    const char *end = after_closing(p), *mark = end;
    while (mark > p && *mark != '#')
        mark--;
    unsigned long number = *mark == '#' ? strtoul(mark + 1, NULL, 10) : 1;
    const char *in = take_function(h);
    if (!in)
        return NULL;
    const char *text = number > 1 ? wl_arena_printf(h->arena, "lambda %lu%s%s", number,
                                                    *in ? " in " : "", in)
                                  : wl_arena_printf(h->arena, "lambda%s%s", *in ? " in " : "", in);
    if (!text)
        return NULL;
    memcpy(h->text + h->n, text, strlen(text));
    h->n += strlen(text);
    return end;
}

/* nvcc wraps lambdas: "__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &main, 1u> >" names a function. */
static const char *write_wrapped(heading *h, const char *p)
{
    const char *open = strchr(p, '<'), *end = open ? after_closing(open) : p + strlen(p);
    const char *name = open ? strchr(open, '&') : NULL;
    name = name && name < end ? name + 1 + (name[1] == '(') : "";
    size_t length = strcspn(name, "(<,)> ");
    const char *path = wl_arena_strndup(h->arena, name, length);
    const char *text = path ? wl_arena_printf(h->arena, "lambda%s%s", *path ? " in " : "",
                                              prof_last_name(path))
                            : NULL;
    if (!text)
        return NULL;
    memcpy(h->text + h->n, text, strlen(text));
    h->n += strlen(text);
    return end;
}

/* Bytes at `p` that nobody wrote: a namespace of a version, a constant's type. */
static size_t added_length(const char *start, const char *p)
{
    static const char *const casts[] = {"(int)",           "(unsigned int)",  "(unsigned long)",
                                        "(long)",          "(unsigned char)", "(short)",
                                        "(unsigned short)"};
    bool begins = p == start || strchr("<, :(", p[-1]);
    size_t n = strcspn(p, ":<>(), ");
    bool ends = begins && n && strncmp(p + n, "::", 2) == 0;
    bool of_library = strncmp(p, "THRUST_", 7) == 0 || strncmp(p, "CUB_", 4) == 0;
    bool standard = strncmp(p, "__cxx11", n) == 0 || strncmp(p, "__1", n) == 0 ||
                    strncmp(p, "__4", n) == 0;
    if (ends && (of_library || standard))
        return n + 2;
    for (size_t i = 0; begins && i < sizeof casts / sizeof *casts; i++) {
        size_t length = strlen(casts[i]);
        if (strncmp(p, casts[i], length) == 0 &&
            (isdigit((unsigned char)p[length]) || p[length] == '-'))
            return length;
    }
    return 0;
}

const char *prof_heading_name(wl_arena *arena, const char *short_name)
{
    heading h = {.arena = arena, .text = wl_arena_alloc(arena, 2 * strlen(short_name) + 32)};
    for (const char *p = short_name; h.text && p && *p;) {
        size_t added = added_length(short_name, p);
        bool truth = strncmp(p, "(bool)", 6) == 0 && (p[6] == '0' || p[6] == '1');
        if (added) {
            p += added;
        } else if (strncmp(p, "{lambda(", 8) == 0) {
            p = write_lambda(&h, p);
        } else if (strncmp(p, "__nv_dl_wrapper_t<", 18) == 0 ||
                   strncmp(p, "__nv_hdl_wrapper_t<", 19) == 0) {
            p = write_wrapped(&h, p);
        } else if (truth) {
            h.n += (size_t)sprintf(h.text + h.n, "%s", p[6] == '1' ? "true" : "false");
            p += 7;
        } else {
            h.text[h.n++] = *p++;
        }
        if (!p)
            return NULL;
    }
    if (h.text)
        h.text[h.n] = '\0';
    return h.text;
}
