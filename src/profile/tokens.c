/* Splits C++ source into tokens and pairs its brackets. */
#include "profile/tokens.h"

#include "base/vec.h"

#include <ctype.h>
#include <string.h>

enum { MOST_LIST = 256 }; /* tokens of a template's list */

typedef wl_vec(uint32_t) index_vec;

typedef struct branch { /* of an #if that is open */
    index_vec first;    /* the brackets that were open at the end of its first branch */
    size_t depth;       /* how many were where it began */
    bool second;        /* a later branch is being read */
} branch;

typedef struct lexer {
    const char *text, *p, *line_start;
    uint32_t line;
    wl_vec(token) rows;
    index_vec open; /* brackets without a match so far */
    wl_vec(branch) branches;
    bool nomem;
} lexer;

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- what is left out ---- */

static void pass_to(lexer *l, const char *end)
{
    for (; l->p < end; l->p++)
        if (*l->p == '\n') {
            l->line++;
            l->line_start = l->p + 1;
        }
}

static const char *end_of_comment(const char *p)
{
    if (p[1] == '/')
        return p + strcspn(p, "\n");
    const char *end = strstr(p + 2, "*/");
    return end ? end + 2 : p + strlen(p);
}

static const char *end_of_directive(const char *p)
{
    for (;;) {
        p += strcspn(p, "\n");
        bool goes_on = p[-1] == '\\' || (p[-1] == '\r' && p[-2] == '\\');
        if (!*p || !goes_on)
            return p;
        p++;
    }
}

static void begin_branches(lexer *l)
{
    branch made = {.depth = l->open.count};
    l->nomem |= !wl_push(&l->branches, made);
}

/* What the first branch opened is put aside: the next one begins as it did. */
static void next_branch(lexer *l, branch *b)
{
    if (!b->second) {
        for (size_t i = 0; i < l->open.count; i++)
            l->nomem |= !wl_push(&b->first, l->open.data[i]);
        b->second = true;
    }
    l->open.count = l->open.count < b->depth ? l->open.count : b->depth;
}

static void end_branches(lexer *l, branch *b)
{
    if (b->second) {
        l->open.count = 0;
        for (size_t i = 0; i < b->first.count; i++)
            l->nomem |= !wl_push(&l->open, b->first.data[i]);
    }
    wl_vec_free(&b->first);
    l->branches.count--;
}

static void read_directive(lexer *l)
{
    const char *name = l->p + 1 + strspn(l->p + 1, " \t");
    branch *last = l->branches.count ? &l->branches.data[l->branches.count - 1] : NULL;
    if (strncmp(name, "if", 2) == 0)
        begin_branches(l);
    else if (last && strncmp(name, "el", 2) == 0)
        next_branch(l, last);
    else if (last && strncmp(name, "endif", 5) == 0)
        end_branches(l, last);
    pass_to(l, end_of_directive(l->p + 1));
}

/* ---- tokens ---- */

static const char *end_of_string(const char *p)
{
    const char *q = p + 1;
    while (*q && *q != *p && *q != '\n')
        q += *q == '\\' && q[1] ? 2 : 1;
    return *q == *p ? q + 1 : q;
}

/* R"x(...)x" from its quotation mark on. */
static const char *end_of_raw_string(const char *p)
{
    enum { LONGEST = 16 };
    char close[LONGEST + 3] = ")";
    size_t n = strcspn(p + 1, "(");
    if (n > LONGEST || !p[1 + n])
        return end_of_string(p);
    memcpy(close + 1, p + 1, n);
    close[n + 1] = '"';
    const char *end = strstr(p, close);
    return end ? end + n + 2 : p + strlen(p);
}

static size_t length_of_sign(const char *p)
{
    static const char *const signs[] = {
        "<<<", "...", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "+=",
        "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "++", "--", "<<"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(p, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 1;
}

static const char *end_of_word(const char *p, token_kind kind)
{
    while (is_word_character(*p) || (kind == TOKEN_NUMBER && *p == '.') ||
           (kind == TOKEN_NUMBER && *p == '\'' && isalnum((unsigned char)p[1])))
        p++;
    return p;
}

static const char *end_of_token(const char *p, token_kind *kind)
{
    bool raw = p[0] == 'R' && p[1] == '"';
    *kind = *p == '"' || *p == '\'' || raw ? TOKEN_STRING
            : isdigit((unsigned char)*p)   ? TOKEN_NUMBER
            : is_word_character(*p)        ? TOKEN_WORD
                                           : TOKEN_SIGN;
    if (*kind == TOKEN_STRING)
        return raw ? end_of_raw_string(p + 1) : end_of_string(p);
    return *kind == TOKEN_SIGN ? p + length_of_sign(p) : end_of_word(p, *kind);
}

static char opens_with(char close)
{
    return close == ')' ? '(' : close == ']' ? '[' : '{';
}

/* A closing bracket matches the innermost open one of its kind; what is open within a block that
 * closes was never closed. */
static void match_bracket(lexer *l, char c)
{
    uint32_t at = (uint32_t)l->rows.count - 1;
    if (strchr("([{", c)) {
        l->nomem |= !wl_push(&l->open, at);
        return;
    }
    size_t n = l->open.count;
    while (n && l->text[l->rows.data[l->open.data[n - 1]].start] != opens_with(c)) {
        if (c != '}')
            return;
        n--;
    }
    if (!n)
        return;
    uint32_t other = l->open.data[n - 1];
    l->rows.data[at].match = other;
    l->rows.data[other].match = at;
    l->open.count = n - 1;
}

static void read_token(lexer *l)
{
    token made = {.start = (uint32_t)(l->p - l->text),
                  .line = l->line,
                  .column = (uint32_t)(l->p - l->line_start) + 1,
                  .match = TOKEN_NONE};
    const char *start = l->p, *end = end_of_token(l->p, &made.kind);
    made.length = (uint32_t)(end - start);
    l->nomem |= !wl_push(&l->rows, made);
    if (!l->nomem && made.length == 1 && strchr("()[]{}", *start))
        match_bracket(l, *start);
    pass_to(l, end);
}

static void read_all(lexer *l)
{
    bool line_begins = true;
    while (*l->p && !l->nomem) {
        if (isspace((unsigned char)*l->p)) {
            line_begins |= *l->p == '\n';
            pass_to(l, l->p + 1);
        } else if (l->p[0] == '/' && (l->p[1] == '/' || l->p[1] == '*')) {
            pass_to(l, end_of_comment(l->p));
        } else if (*l->p == '#' && line_begins) {
            read_directive(l);
        } else if (*l->p == '\\') {
            pass_to(l, l->p + 1);
        } else {
            read_token(l);
            line_begins = false;
        }
    }
}

bool tokens_of(const char *text, wl_arena *arena, tokens *out)
{
    lexer l = {.text = text, .p = text, .line_start = text, .line = 1};
    read_all(&l);
    *out = (tokens){.text = text, .count = (uint32_t)l.rows.count};
    out->rows = l.nomem ? NULL
                : l.rows.count
                    ? wl_arena_copy(arena, l.rows.data, l.rows.count * sizeof *l.rows.data)
                    : wl_arena_alloc(arena, 1);
    for (size_t i = 0; i < l.branches.count; i++)
        wl_vec_free(&l.branches.data[i].first);
    wl_vec_free(&l.branches);
    wl_vec_free(&l.open);
    wl_vec_free(&l.rows);
    return out->rows != NULL;
}

/* ---- asking ---- */

bool token_is(const tokens *t, uint32_t at, const char *text)
{
    size_t n = strlen(text);
    return at < t->count && t->rows[at].length == n &&
           memcmp(t->text + t->rows[at].start, text, n) == 0;
}

bool token_is_any(const tokens *t, uint32_t at, const char *const *texts)
{
    for (; *texts; texts++)
        if (token_is(t, at, *texts))
            return true;
    return false;
}

bool token_is_word(const tokens *t, uint32_t at)
{
    static const char *const keywords[] = {"if",   "else",     "for",    "while", "do",   "switch",
                                           "case", "catch",    "return", "throw", "new",  "delete",
                                           "try",  "operator", "sizeof", "goto",  "this", NULL};
    return at < t->count && t->rows[at].kind == TOKEN_WORD && !token_is_any(t, at, keywords);
}

uint32_t tokens_after_list(const tokens *t, uint32_t at)
{
    uint32_t depth = 0;
    for (uint32_t i = at; token_is(t, at, "<") && i < t->count && i - at < MOST_LIST; i++) {
        if (token_is(t, i, ";") || token_is(t, i, "{"))
            return at;
        depth += token_is(t, i, "<");
        depth -= token_is(t, i, ">");
        if (depth == 0)
            return i + 1;
        bool jumps = token_is(t, i, "(") && t->rows[i].match != TOKEN_NONE;
        i = jumps ? t->rows[i].match : i;
    }
    return at;
}

uint32_t tokens_before_list(const tokens *t, uint32_t at)
{
    uint32_t depth = 0;
    if (!token_is(t, at, ">"))
        return at;
    for (uint32_t i = at, n = 0; n < MOST_LIST; i--, n++) {
        if (token_is(t, i, ";") || token_is(t, i, "{") || token_is(t, i, "}"))
            return at;
        depth += token_is(t, i, ">");
        depth -= token_is(t, i, "<");
        if (depth == 0)
            return i;
        bool jumps = token_is(t, i, ")") && t->rows[i].match != TOKEN_NONE;
        i = jumps ? t->rows[i].match : i;
        if (i == 0)
            return at;
    }
    return at;
}

char *tokens_text(const tokens *t, uint32_t first, uint32_t end, wl_arena *arena)
{
    size_t size = 1;
    for (uint32_t i = first; i < end && i < t->count; i++)
        size += t->rows[i].length;
    char *text = wl_arena_alloc(arena, size), *to = text;
    for (uint32_t i = first; text && i < end && i < t->count; i++) {
        memcpy(to, t->text + t->rows[i].start, t->rows[i].length);
        to += t->rows[i].length;
    }
    return text;
}
