#include "cuda/link.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/vec.h"

typedef enum linkage { LOCAL, VISIBLE, EXTERN, WEAK, COMMON } linkage;

typedef enum statement_kind {
    HEAD,
    SOURCE,
    SECTION,
    PROTOTYPE,
    VARIABLE,
    FUNCTION,
    OTHER
} statement_kind;

typedef struct span {
    const char *start, *end;
} span;

typedef struct statement {
    statement_kind kind;
    linkage linkage;
    span text, name;
    bool initialised, dropped;
} statement;

typedef struct part {
    span text;
    wl_vec(statement) statements;
    unsigned index, file_offset, files;
} part;

typedef struct link_symbol { /* of the whole */
    char *name;
    part *owner;
    statement *definition; /* NULL: only declared so far */
    statement *declared;   /* the declaration that is kept */
    UT_hash_handle hh;
} link_symbol;

typedef struct linker {
    part *parts;
    size_t count;
    link_symbol *symbols;
    char *out;
    size_t used, room;
    bool failed;
    wl_error *err;
} linker;

/* ---- tokens ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && end - p > 1)
            p++;
    return p < end ? p + 1 : end;
}

static const char *skip_comment(const char *p, const char *end)
{
    bool line = p[1] == '/';
    for (p += 2; p < end; p++) {
        if (line && *p == '\n')
            return p;
        if (!line && *p == '*' && end - p > 1 && p[1] == '/')
            return p + 2;
    }
    return end;
}

static bool at_comment(const char *p, const char *end)
{
    return *p == '/' && end - p > 1 && (p[1] == '/' || p[1] == '*');
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (isspace((unsigned char)*p) || at_comment(p, end)))
        p = at_comment(p, end) ? skip_comment(p, end) : p + 1;
    return p;
}

/* The token at p, which is no white space: a word (a directive's dot belongs to it), a string, or one character. */
static span token(const char *p, const char *end)
{
    const char *start = p;
    if (p >= end)
        return (span){end, end};
    if (*p == '"')
        return (span){start, skip_string(p, end)};
    if (*p == '.' || is_word(*p))
        for (p++; p < end && is_word(*p); p++)
            continue;
    else
        p++;
    return (span){start, p};
}

static bool is(span t, const char *text)
{
    size_t length = (size_t)(t.end - t.start);
    return strlen(text) == length && memcmp(t.start, text, length) == 0;
}

static bool is_name(span t)
{
    return t.start < t.end && is_word(*t.start) && !isdigit((unsigned char)*t.start);
}

static span next(span t, const char *end)
{
    return token(skip_space(t.end, end), end);
}

/* ---- statements ---- */

static linkage linkage_of(span t)
{
    static const char *const words[] = {"", ".visible", ".extern", ".weak", ".common"};
    for (int i = VISIBLE; i <= COMMON; i++)
        if (is(t, words[i]))
            return (linkage)i;
    return LOCAL;
}

static statement_kind kind_of(span t)
{
    if (is(t, ".version") || is(t, ".target") || is(t, ".address_size"))
        return HEAD;
    if (is(t, ".file"))
        return SOURCE;
    if (is(t, ".section"))
        return SECTION;
    if (is(t, ".func") || is(t, ".entry"))
        return FUNCTION;
    if (is(t, ".pragma") || is(t, ".alias"))
        return OTHER;
    return VARIABLE;
}

static const char *end_of_line(const char *p, const char *end)
{
    while (p < end && *p != '\n')
        p++;
    return p;
}

/* ".version 8.0", ".target sm_90a, debug", ".address_size 64" and ".file 1 "a.cu", 1, 2" have no semicolon. */
static const char *end_of_head(span first, const char *end)
{
    if (!is(first, ".target") && !is(first, ".file"))
        return end_of_line(first.end, end);
    span last = next(first, end);
    if (is(first, ".file"))
        last = next(last, end);
    for (span comma = next(last, end); is(comma, ","); comma = next(last, end))
        last = next(comma, end);
    return last.end;
}

/* Notes the statement's name on the way: behind the results of a function, before the brackets of a variable. */
static const char *end_of_statement(statement *s, span t, const char *end)
{
    int braces = 0, parens = 0;
    for (; t.start < end; t = next(t, end)) {
        if (is_name(t) && !parens && !braces && !s->name.start)
            s->name = t;
        parens += is(t, "(") - is(t, ")");
        s->initialised |= is(t, "=");
        braces += is(t, "{") - is(t, "}");
        if (is(t, ";") && !braces) {
            if (s->kind == FUNCTION)
                s->kind = PROTOTYPE;
            return t.end;
        }
        if (is(t, "}") && !braces && !s->initialised)
            return t.end;
    }
    return NULL;
}

static wl_status split(linker *l, part *p)
{
    const char *end = p->text.end;
    for (const char *at = skip_space(p->text.start, end); at < end; at = skip_space(at, end)) {
        statement s = {.text.start = at};
        span t = token(at, end);
        s.linkage = linkage_of(t);
        if (s.linkage != LOCAL)
            t = next(t, end);
        s.kind = kind_of(t);
        if (*t.start != '.')
            return wl_fail(l->err, WL_PARSE, "PTX to be linked: no statement begins with \"%.20s\"",
                           t.start);
        at = s.kind == HEAD || s.kind == SOURCE ? end_of_head(t, end)
             : s.kind == SECTION                ? end_of_statement(&s, next(next(t, end), end), end)
                                                : end_of_statement(&s, next(t, end), end);
        if (!at)
            return wl_fail(l->err, WL_PARSE, "PTX to be linked: a statement has no end: \"%.40s\"",
                           s.text.start);
        s.text.end = at;
        p->files += s.kind == SOURCE;
        if (!wl_push(&p->statements, s))
            return wl_fail(l->err, WL_NOMEM, "no memory to link PTX");
    }
    return WL_OK;
}

/* ---- symbols ---- */

static link_symbol *find(linker *l, span name)
{
    link_symbol *found;
    HASH_FIND(hh, l->symbols, name.start, (size_t)(name.end - name.start), found);
    return found;
}

static link_symbol *enter(linker *l, span name)
{
    link_symbol *s = find(l, name);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s || !(s->name = strndup(name.start, (size_t)(name.end - name.start)))) {
        free(s);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, l->symbols, s->name, strlen(s->name), s);
    return s;
}

static bool is_definition(const statement *s)
{
    return s->kind == FUNCTION || (s->kind == VARIABLE && s->linkage != EXTERN);
}

static wl_status define(linker *l, part *p, statement *s, link_symbol *symbol)
{
    if (!symbol->definition) {
        symbol->definition = s;
        symbol->owner = p;
        return WL_OK;
    }
    linkage before = symbol->definition->linkage;
    if (s->linkage == VISIBLE && before == VISIBLE)
        return wl_fail(l->err, WL_EXISTS, "%s is defined in two of the objects to be linked",
                       symbol->name);
    bool replaces = s->linkage == VISIBLE && (before == WEAK || before == COMMON);
    (replaces ? symbol->definition : s)->dropped = true;
    if (replaces) {
        symbol->definition = s;
        symbol->owner = p;
    }
    return WL_OK;
}

/* Locals are entered last, so that they are what is renamed. */
static wl_status collect(linker *l, part *p, bool locals)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        if (!s->name.start || s->kind == SECTION || s->kind == OTHER ||
            (s->linkage == LOCAL) != locals)
            continue;
        if (locals && find(l, s->name))
            continue; /* renamed when it is written; or the prototype of a local function */
        link_symbol *symbol = enter(l, s->name);
        wl_status status = symbol ? WL_OK : wl_fail(l->err, WL_NOMEM, "no memory to link PTX");
        if (status == WL_OK && is_definition(s))
            status = define(l, p, s, symbol);
        if (locals && symbol)
            symbol->owner = p;
        if (status != WL_OK)
            return status;
    }
    return WL_OK;
}

/* ---- writing ---- */

static void put(linker *l, const char *data, size_t size)
{
    if (l->used + size + 1 > l->room) {
        size_t room = (l->used + size) * 2 + 4096;
        char *grown = realloc(l->out, room);
        l->failed |= !grown;
        if (!grown)
            return;
        l->out = grown;
        l->room = room;
    }
    memcpy(l->out + l->used, data, size);
    l->used += size;
}

static void put_text(linker *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put_text(linker *l, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(l, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* A name of the part's own that another part has too. */
static bool is_renamed(linker *l, const part *p, span name)
{
    link_symbol *s = find(l, name);
    if (!s || s->owner == p)
        return false;
    for (size_t i = 0; i < p->statements.count; i++) {
        const statement *own = &p->statements.data[i];
        if (own->linkage == LOCAL && own->name.start && own->kind != SECTION &&
            is(own->name, s->name))
            return true;
    }
    return false;
}

/* Labels of the strings that .loc names. */
static bool is_section_label(span t)
{
    return t.end - t.start > 8 && memcmp(t.start, "$L__info", 8) == 0;
}

static void put_file_number(linker *l, const part *p, span t)
{
    put_text(l, "%lu", strtoul(t.start, NULL, 10) + p->file_offset);
}

/* Copies the statement with white space and comments; names and numbers of files become those of the whole. */
static void put_statement(linker *l, const part *p, const statement *s)
{
    const char *at = s->text.start, *end = s->text.end;
    span before = {at, at};
    while (at < end) {
        const char *start = skip_space(at, end);
        span t = token(start, end);
        put(l, at, (size_t)(start - at));
        if (is(before, ".file") || is(before, ".loc") || is(before, "inlined_at"))
            put_file_number(l, p, t);
        else
            put(l, t.start, (size_t)(t.end - t.start));
        if (is_name(t) && ((is_section_label(t) && p->index) || is_renamed(l, p, t)))
            put_text(l, "_part%u", p->index);
        before = t;
        at = t.end;
    }
    put(l, "\n", 1);
}

/* ".extern .func f;" where a part has f becomes its prototype. */
static void put_declaration(linker *l, const part *p, const statement *s)
{
    link_symbol *symbol = find(l, s->name);
    statement copy = *s;
    if (s->linkage != EXTERN || !symbol || !symbol->definition) {
        put_statement(l, p, s);
        return;
    }
    copy.text.start = skip_space(s->text.start + strlen(".extern"), s->text.end);
    put_text(l, "%s ", symbol->definition->linkage == WEAK ? ".weak" : ".visible");
    put_statement(l, p, &copy);
}

static bool is_declaration(const statement *s)
{
    return s->kind == PROTOTYPE || (s->kind == VARIABLE && s->linkage == EXTERN);
}

static void put_declarations(linker *l, part *p)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        link_symbol *symbol = is_declaration(s) && s->name.start ? find(l, s->name) : NULL;
        if (!is_declaration(s) || (symbol && symbol->declared && s->linkage != LOCAL))
            continue;
        if (s->kind == VARIABLE && symbol && symbol->definition)
            continue; /* its definition follows */
        if (symbol && s->linkage != LOCAL)
            symbol->declared = s;
        put_declaration(l, p, s);
    }
}

/* Functions may be used before they are defined: a prototype of each that has none. The head of a definition, up to its
 * body or its directives (.noreturn, .maxntid ...), is one. */
static void put_prototype(linker *l, const part *p, const statement *s)
{
    span first = token(s->text.start, s->text.end), t;
    statement head = *s;
    int parens = 0;
    if (linkage_of(first) != LOCAL)
        first = next(first, s->text.end);
    if (!is(first, ".func"))
        return;
    for (t = first; t.start < s->text.end; t = next(t, s->text.end)) {
        parens += is(t, "(") - is(t, ")");
        if (!parens && t.start > s->name.start && (is(t, "{") || *t.start == '.'))
            break;
        head.text.end = t.end;
    }
    put_statement(l, p, &head);
    l->used -= l->used > 0;
    put(l, ";\n", 2);
}

static void put_prototypes(linker *l, part *p)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        link_symbol *symbol = s->kind == FUNCTION && s->name.start ? find(l, s->name) : NULL;
        if (!symbol || s->dropped || symbol->declared || s->linkage == LOCAL)
            continue;
        put_prototype(l, p, s);
    }
}

/* DWARF of one translation unit makes no sense in the whole; the strings that .loc names do. */
static bool is_dwarf(const statement *s)
{
    span section = token(s->text.start, s->text.end);
    return s->kind == SECTION && !is(next(section, s->text.end), ".debug_str");
}

static void put_kind(linker *l, part *p, statement_kind kind, bool initialised)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        bool wanted = s->kind == kind && (kind != VARIABLE || s->initialised == initialised);
        if (wanted && !s->dropped && !is_declaration(s) && !is_dwarf(s))
            put_statement(l, p, s);
    }
}

/* ---- the whole ---- */

static const statement *find_head(const part *p, const char *word)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        const statement *s = &p->statements.data[i];
        if (s->kind == HEAD && is(token(s->text.start, s->text.end), word))
            return s;
    }
    return NULL;
}

static double number_of(const part *p, const char *word)
{
    const statement *s = find_head(p, word);
    const char *at = s ? s->text.start + strlen(word) : "";
    while (*at && !isdigit((unsigned char)*at))
        at++;
    return strtod(at, NULL);
}

/* The newest version and the highest target: what all parts can live with on the device that they were chosen for. */
static void put_head(linker *l)
{
    static const char *const words[] = {".version", ".target", ".address_size"};
    for (int w = 0; w < 3; w++) {
        part *best = &l->parts[0];
        for (size_t i = 1; i < l->count; i++)
            if (number_of(&l->parts[i], words[w]) > number_of(best, words[w]))
                best = &l->parts[i];
        const statement *s = find_head(best, words[w]);
        if (!s)
            continue;
        statement head = *s; /* without ", debug": the DWARF is left out */
        const char *comma = memchr(s->text.start, ',', (size_t)(s->text.end - s->text.start));
        head.text.end = comma ? comma : s->text.end;
        put_statement(l, best, &head);
    }
}

static void put_all(linker *l)
{
    put_head(l);
    for (size_t i = 0; i < l->count; i++)
        put_kind(l, &l->parts[i], SOURCE, false);
    for (size_t i = 0; i < l->count; i++)
        put_declarations(l, &l->parts[i]);
    for (size_t i = 0; i < l->count; i++)
        put_prototypes(l, &l->parts[i]);
    for (int initialised = 0; initialised < 2; initialised++)
        for (size_t i = 0; i < l->count; i++)
            put_kind(l, &l->parts[i], VARIABLE, initialised);
    for (size_t i = 0; i < l->count; i++) {
        put_kind(l, &l->parts[i], FUNCTION, false);
        put_kind(l, &l->parts[i], OTHER, false);
    }
    for (size_t i = 0; i < l->count; i++)
        put_kind(l, &l->parts[i], SECTION, false);
}

static wl_status link_parts(linker *l, const cuda_ptx *parts)
{
    unsigned files = 0;
    wl_status status = WL_OK;
    for (size_t i = 0; i < l->count && status == WL_OK; i++) {
        part *p = &l->parts[i];
        p->text = (span){parts[i].text, parts[i].text + parts[i].length};
        p->index = (unsigned)i;
        p->file_offset = files;
        status = split(l, p);
        files += p->files;
    }
    for (size_t i = 0; i < l->count && status == WL_OK; i++)
        status = collect(l, &l->parts[i], false);
    for (size_t i = 0; i < l->count && status == WL_OK; i++)
        status = collect(l, &l->parts[i], true);
    if (status != WL_OK)
        return status;
    put_all(l);
    put(l, "", 1);
    return l->failed ? wl_fail(l->err, WL_NOMEM, "no memory to link PTX") : WL_OK;
}

static void clear(linker *l)
{
    link_symbol *s = l->symbols;
    HASH_CLEAR(hh, l->symbols); /* the table: its entries stay linked */
    while (s) {
        link_symbol *following = s->hh.next;
        free(s->name);
        free(s);
        s = following;
    }
    for (size_t i = 0; i < l->count; i++)
        wl_vec_free(&l->parts[i].statements);
    free(l->parts);
}

wl_status cuda_link_ptx(const cuda_ptx *parts, size_t count, char **text, size_t *length,
                        wl_error *err)
{
    linker l = {.count = count, .err = err};
    *text = NULL;
    if (count == 0)
        return wl_fail(err, WL_ARG, "there is no PTX to link");
    l.parts = calloc(count, sizeof *l.parts);
    wl_status status = l.parts ? link_parts(&l, parts)
                               : wl_fail(err, WL_NOMEM, "no memory to link PTX");
    if (status == WL_OK) {
        *text = l.out;
        *length = l.used - 1;
    } else {
        free(l.out);
    }
    if (l.parts)
        clear(&l);
    return status;
}
