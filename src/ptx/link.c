/* Joining texts statement by statement: each is copied as it was written, save names and numbers of
 * files that must differ in the whole. */
#include "ptx/link.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "ptx/outline.h"

typedef struct span { /* of text: a token, a statement, a part */
    const char *start, *end;
    ptx_token_kind kind; /* of a token */
} span;

typedef struct statement {
    ptx_statement_kind kind;
    ir_linkage linkage;
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

/* The first token of the text from `at` on; empty, and at `end`, where none is left or it is none
 * of PTX. */
static span token(const char *at, const char *end)
{
    ptx_lexer x = ptx_lexer_of(at, (size_t)(end - at), NULL, NULL);
    ptx_next(&x);
    if (x.tok.kind == TOK_EOF)
        return (span){end, end, TOK_EOF};
    return (span){ptx_tok_start(&x), x.at, x.tok.kind};
}

static span next(span t, const char *end)
{
    return token(t.end, end);
}

static bool span_is(span t, const char *text)
{
    size_t length = (size_t)(t.end - t.start);
    return strlen(text) == length && memcmp(t.start, text, length) == 0;
}

/* ---- statements ---- */

static bool keep_statement(part *p, const ptx_statement *s)
{
    p->files += s->kind == PTX_STATEMENT_SOURCE;
    return wl_push(&p->statements, ((statement){
                                       .kind = s->kind,
                                       .linkage = s->linkage,
                                       .text = {s->text, s->end, TOK_EOF},
                                       .name = {s->name, s->name + s->name_length, TOK_NAME},
                                       .initialised = s->initialised,
                                   }));
}

static wl_status split(linker *l, part *p)
{
    ptx_lexer x = ptx_lexer_of(p->text.start, (size_t)(p->text.end - p->text.start),
                               "PTX to be linked", l->err);
    ptx_statement s;
    ptx_next(&x);
    while (ptx_next_statement(&x, &s))
        if (!keep_statement(p, &s))
            return wl_fail(l->err, WL_NOMEM, "no memory to link PTX");
    return x.failed ? WL_PARSE : WL_OK;
}

/* ---- symbols ---- */

static link_symbol *find_symbol(linker *l, span name)
{
    link_symbol *found;
    HASH_FIND(hh, l->symbols, name.start, (size_t)(name.end - name.start), found);
    return found;
}

static link_symbol *enter_symbol(linker *l, span name)
{
    link_symbol *s = find_symbol(l, name);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s || !(s->name = strndup(name.start, (size_t)(name.end - name.start)))) {
        free(s);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, l->symbols, s->name, strlen(s->name), s);
    if (s->hh.tbl)
        return s;
    free(s->name);
    free(s);
    return NULL;
}

static bool is_definition(const statement *s)
{
    return s->kind == PTX_STATEMENT_FUNCTION ||
           (s->kind == PTX_STATEMENT_VARIABLE && s->linkage != IR_LINK_EXTERN);
}

static wl_status define_symbol(linker *l, part *p, statement *s, link_symbol *symbol)
{
    if (!symbol->definition) {
        symbol->definition = s;
        symbol->owner = p;
        return WL_OK;
    }
    ir_linkage before = symbol->definition->linkage;
    if (s->linkage == IR_LINK_VISIBLE && before == IR_LINK_VISIBLE)
        return wl_fail(l->err, WL_EXISTS, "%s is defined in two of the objects to be linked",
                       symbol->name);
    bool replaces = s->linkage == IR_LINK_VISIBLE &&
                    (before == IR_LINK_WEAK || before == IR_LINK_COMMON);
    (replaces ? symbol->definition : s)->dropped = true;
    if (replaces) {
        symbol->definition = s;
        symbol->owner = p;
    }
    return WL_OK;
}

/* Locals are entered last, so that they are what is renamed. */
static wl_status collect_symbols(linker *l, part *p, bool locals)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        if (!s->name.start || s->kind == PTX_STATEMENT_SECTION || s->kind == PTX_STATEMENT_OTHER ||
            (s->linkage == IR_LINK_NONE) != locals)
            continue;
        if (locals && find_symbol(l, s->name))
            continue; /* renamed when it is written; or the prototype of a local function */
        link_symbol *symbol = enter_symbol(l, s->name);
        wl_status status = symbol ? WL_OK : wl_fail(l->err, WL_NOMEM, "no memory to link PTX");
        if (status == WL_OK && is_definition(s))
            status = define_symbol(l, p, s, symbol);
        if (locals && symbol)
            symbol->owner = p;
        if (status != WL_OK)
            return status;
    }
    return WL_OK;
}

/* ---- writing ---- */

static void put_bytes(linker *l, const char *data, size_t size)
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
    put_bytes(l, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* A name of the part's own that another part has too. */
static bool is_renamed(linker *l, const part *p, span name)
{
    link_symbol *s = find_symbol(l, name);
    if (!s || s->owner == p)
        return false;
    for (size_t i = 0; i < p->statements.count; i++) {
        const statement *own = &p->statements.data[i];
        if (own->linkage == IR_LINK_NONE && own->name.start && own->kind != PTX_STATEMENT_SECTION &&
            span_is(own->name, s->name))
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

/* Copies the statement with white space and comments; names and numbers of files become those of
 * the whole. */
static void put_statement(linker *l, const part *p, const statement *s)
{
    const char *at = s->text.start, *end = s->text.end;
    span before = {at, at, TOK_EOF};
    while (at < end) {
        span t = token(at, end);
        put_bytes(l, at, (size_t)(t.start - at));
        if (span_is(before, ".file") || span_is(before, ".loc") || span_is(before, "inlined_at"))
            put_file_number(l, p, t);
        else
            put_bytes(l, t.start, (size_t)(t.end - t.start));
        if (t.kind == TOK_NAME && ((is_section_label(t) && p->index) || is_renamed(l, p, t)))
            put_text(l, "_part%u", p->index);
        before = t;
        at = t.end;
    }
    put_bytes(l, "\n", 1);
}

/* ".extern .func f;" where a part has f becomes its prototype. */
static void put_declaration(linker *l, const part *p, const statement *s)
{
    link_symbol *symbol = find_symbol(l, s->name);
    statement copy = *s;
    if (s->linkage != IR_LINK_EXTERN || !symbol || !symbol->definition) {
        put_statement(l, p, s);
        return;
    }
    copy.text.start = next(token(s->text.start, s->text.end), s->text.end).start;
    put_text(l, "%s ", symbol->definition->linkage == IR_LINK_WEAK ? ".weak" : ".visible");
    put_statement(l, p, &copy);
}

static bool only_declares(const statement *s)
{
    return s->kind == PTX_STATEMENT_PROTOTYPE ||
           (s->kind == PTX_STATEMENT_VARIABLE && s->linkage == IR_LINK_EXTERN);
}

static void put_declarations(linker *l, part *p)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        link_symbol *symbol = only_declares(s) && s->name.start ? find_symbol(l, s->name) : NULL;
        if (!only_declares(s) || (symbol && symbol->declared && s->linkage != IR_LINK_NONE))
            continue;
        if (s->kind == PTX_STATEMENT_VARIABLE && symbol && symbol->definition)
            continue; /* its definition follows */
        if (symbol && s->linkage != IR_LINK_NONE)
            symbol->declared = s;
        put_declaration(l, p, s);
    }
}

/* Functions may be used before they are defined: a prototype of each that has none. The head of a
 * definition, up to its body or its directives (.noreturn, .maxntid ...), is one. */
static void put_prototype(linker *l, const part *p, const statement *s)
{
    span first = token(s->text.start, s->text.end), t;
    statement head = *s;
    int parens = 0;
    if (s->linkage != IR_LINK_NONE)
        first = next(first, s->text.end);
    if (!span_is(first, ".func"))
        return;
    for (t = first; t.start < s->text.end; t = next(t, s->text.end)) {
        parens += span_is(t, "(") - span_is(t, ")");
        if (!parens && t.start > s->name.start && (span_is(t, "{") || t.kind == TOK_DOT))
            break;
        head.text.end = t.end;
    }
    put_statement(l, p, &head);
    l->used -= l->used > 0;
    put_bytes(l, ";\n", 2);
}

static void put_prototypes(linker *l, part *p)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        link_symbol *symbol = s->kind == PTX_STATEMENT_FUNCTION && s->name.start
                                  ? find_symbol(l, s->name)
                                  : NULL;
        if (!symbol || s->dropped || symbol->declared || s->linkage == IR_LINK_NONE)
            continue;
        put_prototype(l, p, s);
    }
}

/* DWARF of one translation unit makes no sense in the whole; the strings that .loc names do. */
static bool is_dwarf(const statement *s)
{
    span section = token(s->text.start, s->text.end);
    return s->kind == PTX_STATEMENT_SECTION && !span_is(next(section, s->text.end), ".debug_str");
}

static void put_kind(linker *l, part *p, ptx_statement_kind kind, bool initialised)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        statement *s = &p->statements.data[i];
        bool wanted = s->kind == kind &&
                      (kind != PTX_STATEMENT_VARIABLE || s->initialised == initialised);
        if (wanted && !s->dropped && !only_declares(s) && !is_dwarf(s))
            put_statement(l, p, s);
    }
}

/* ---- the whole ---- */

static const statement *find_head(const part *p, const char *word)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        const statement *s = &p->statements.data[i];
        if (s->kind == PTX_STATEMENT_HEAD && span_is(token(s->text.start, s->text.end), word))
            return s;
    }
    return NULL;
}

static double head_number(const part *p, const char *word)
{
    const statement *s = find_head(p, word);
    const char *at = s ? s->text.start + strlen(word) : "";
    while (*at && !isdigit((unsigned char)*at))
        at++;
    return strtod(at, NULL);
}

/* The newest version and the highest target: what all parts can live with on the device that they
 * were chosen for. */
static void put_head(linker *l)
{
    static const char *const words[] = {".version", ".target", ".address_size"};
    for (int w = 0; w < 3; w++) {
        part *best = &l->parts[0];
        for (size_t i = 1; i < l->count; i++)
            if (head_number(&l->parts[i], words[w]) > head_number(best, words[w]))
                best = &l->parts[i];
        const statement *s = find_head(best, words[w]);
        if (!s)
            continue;
        statement head = *s; /* without ", debug": the DWARF is left out */
        head.text.end = next(token(s->text.start, s->text.end), s->text.end).end;
        put_statement(l, best, &head);
    }
}

static void put_all(linker *l)
{
    put_head(l);
    for (size_t i = 0; i < l->count; i++)
        put_kind(l, &l->parts[i], PTX_STATEMENT_SOURCE, false);
    for (size_t i = 0; i < l->count; i++)
        put_declarations(l, &l->parts[i]);
    for (size_t i = 0; i < l->count; i++)
        put_prototypes(l, &l->parts[i]);
    for (int initialised = 0; initialised < 2; initialised++)
        for (size_t i = 0; i < l->count; i++)
            put_kind(l, &l->parts[i], PTX_STATEMENT_VARIABLE, initialised);
    for (size_t i = 0; i < l->count; i++) {
        put_kind(l, &l->parts[i], PTX_STATEMENT_FUNCTION, false);
        put_kind(l, &l->parts[i], PTX_STATEMENT_OTHER, false);
    }
    for (size_t i = 0; i < l->count; i++)
        put_kind(l, &l->parts[i], PTX_STATEMENT_SECTION, false);
}

static wl_status link_parts(linker *l, const ptx_source *parts)
{
    unsigned files = 0;
    wl_status status = WL_OK;
    for (size_t i = 0; i < l->count && status == WL_OK; i++) {
        part *p = &l->parts[i];
        p->text.start = parts[i].text;
        p->text.end = parts[i].text + parts[i].length;
        p->index = (unsigned)i;
        p->file_offset = files;
        status = split(l, p);
        files += p->files;
    }
    for (size_t i = 0; i < l->count && status == WL_OK; i++)
        status = collect_symbols(l, &l->parts[i], false);
    for (size_t i = 0; i < l->count && status == WL_OK; i++)
        status = collect_symbols(l, &l->parts[i], true);
    if (status != WL_OK)
        return status;
    put_all(l);
    put_bytes(l, "", 1);
    return l->failed ? wl_fail(l->err, WL_NOMEM, "no memory to link PTX") : WL_OK;
}

static void clear_symbols(linker *l)
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

wl_status ptx_link(const ptx_source *parts, size_t count, char **text, size_t *length,
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
        clear_symbols(&l);
    return status;
}
