/* Reads expressions and statements of C++ tokens. */
#include "profile/expression.h"

#include <ctype.h>
#include <string.h>

enum { MOST_STEPS = 24, MOST_STATEMENT = 4096 };

/* ---- statements ---- */

static bool opens_class(const tokens *t, uint32_t open)
{
    static const char *const kinds[] = {"struct", "class", "union", "enum", "namespace", NULL};
    static const char *const ends[] = {";", "{", "}", "=", "(", ")", NULL};
    for (uint32_t i = open; i > 0 && !token_is_any(t, i - 1, ends); i--)
        if (token_is_any(t, i - 1, kinds))
            return true;
    return false;
}

/* A brace within a statement: "T x{n}", "= {", "f({". */
static bool is_inner_brace(const tokens *t, uint32_t open)
{
    static const char *const before[] = {"=", "(", ",", "return", "{", NULL};
    static const char *const blocks[] = {"do",       "else",     "try", "const",
                                         "noexcept", "override", NULL};
    if (open == 0 || t->rows[open].match == TOKEN_NONE)
        return false;
    bool initial = token_is_any(t, open - 1, before);
    bool named = token_is_word(t, open - 1) && !token_is_any(t, open - 1, blocks) &&
                 (token_is(t, t->rows[open].match + 1, ";") ||
                  token_is(t, t->rows[open].match + 1, ",") ||
                  token_is(t, t->rows[open].match + 1, ")"));
    bool list = tokens_before_list(t, open - 1) != open - 1;
    return (initial && !token_is(t, open - 1, "{")) || ((named || list) && !opens_class(t, open));
}

static bool ends_statement(const tokens *t, uint32_t at)
{
    if (token_is(t, at, "}"))
        return t->rows[at].match == TOKEN_NONE || !is_inner_brace(t, t->rows[at].match);
    return token_is(t, at, ";") || (token_is(t, at, "{") && !is_inner_brace(t, at));
}

uint32_t statement_first(const tokens *t, uint32_t at)
{
    for (uint32_t n = 0; at > 0 && n < MOST_STATEMENT; n++) {
        uint32_t before = at - 1, match = t->rows[before].match;
        if (ends_statement(t, before))
            break;
        at = match != TOKEN_NONE && match < before ? match : before;
    }
    return at;
}

uint32_t statement_after(const tokens *t, uint32_t at)
{
    for (uint32_t n = 0; at < t->count && n < MOST_STATEMENT; n++) {
        uint32_t match = t->rows[at].match;
        bool block = token_is(t, at, "{") && !is_inner_brace(t, at);
        if (token_is(t, at, ";") || token_is(t, at, "}") || block)
            return at;
        at = match != TOKEN_NONE && match > at ? match + 1 : at + 1;
    }
    return at;
}

/* ---- declarations ---- */

/* After the words of a type; `at` where there are none. "unsigned long const", "std::vector<T>" */
static uint32_t after_type(const tokens *t, uint32_t at)
{
    uint32_t words = 0;
    while (token_is_word(t, at) || token_is(t, at, "::")) {
        bool last = !token_is_word(t, at + 1) && !token_is(t, at + 1, "::") &&
                    tokens_after_list(t, at + 1) == at + 1 && !token_is(t, at + 1, "*") &&
                    !token_is(t, at + 1, "&") && !token_is(t, at + 1, "&&");
        if (last && words) /* the variable */
            return token_is(t, at - 1, "::") ? at + 1 : at;
        words += token_is_word(t, at);
        at = tokens_after_list(t, at + 1);
    }
    return at;
}

static uint32_t after_stars(const tokens *t, uint32_t at)
{
    static const char *const stars[] = {"*", "&", "&&", "const", "__restrict__", NULL};
    while (token_is_any(t, at, stars))
        at++;
    return at;
}

static bool follows_declarator(const tokens *t, uint32_t at)
{
    static const char *const texts[] = {";", "=", ",", "[", "(", "{", ")", ":", NULL};
    return token_is_any(t, at, texts);
}

uint32_t statement_declares(const tokens *t, uint32_t first, uint32_t *names, uint32_t most)
{
    uint32_t type = after_type(t, first), at = after_stars(t, type), count = 0;
    if (type == first)
        return 0;
    while (count < most && token_is_word(t, at) && follows_declarator(t, at + 1)) {
        names[count++] = at;
        at++;
        while (at < t->count && !token_is(t, at, ",") && !token_is(t, at, ";") &&
               !token_is(t, at, ")") && !token_is(t, at, "}"))
            at = t->rows[at].match != TOKEN_NONE && t->rows[at].match > at ? t->rows[at].match + 1
                                                                           : at + 1;
        if (!token_is(t, at, ","))
            break;
        at = after_stars(t, at + 1);
    }
    return count;
}

/* ---- expressions ---- */

static uint32_t match_of(const tokens *t, uint32_t at)
{
    return at < t->count ? t->rows[at].match : TOKEN_NONE;
}

/* Takes off a cast, brackets or an operator that stands before; false: nothing to take off. */
static bool peel(const tokens *t, uint32_t *first, uint32_t *end, expression *e)
{
    static const char *const casts[] = {"reinterpret_cast", "static_cast", "const_cast", NULL};
    uint32_t match = match_of(t, *first);
    if (token_is(t, *first, "&") || token_is(t, *first, "*")) {
        e->address |= token_is(t, *first, "&");
        e->dereferenced |= token_is(t, *first, "*");
        ++*first;
        return true;
    }
    if (token_is(t, *first, "this") && token_is(t, *first + 1, "->")) {
        e->of_this = true;
        *first += 2;
        return true;
    }
    if (token_is_any(t, *first, casts)) {
        *first = tokens_after_list(t, *first + 1);
        return token_is(t, *first, "(");
    }
    if (!token_is(t, *first, "(") || match == TOKEN_NONE || match >= *end)
        return false;
    bool whole = match + 1 == *end;
    *first = whole ? *first + 1 : match + 1;
    *end = whole ? match : *end;
    return true;
}

/* A call that gives the memory of what it is called of: ".data()". */
static bool gives_memory(const tokens *t, uint32_t at)
{
    static const char *const names[] = {"data", "get", "begin", "ptr", NULL};
    return token_is_any(t, at, names) && token_is(t, at + 1, "(") && token_is(t, at + 2, ")");
}

/* The members and elements from `at` on. */
static uint32_t after_members(const tokens *t, uint32_t at, uint32_t end)
{
    for (;;) {
        bool member = token_is(t, at, ".") || token_is(t, at, "->") || token_is(t, at, "::");
        if (member && token_is_word(t, at + 1) && at + 1 < end && !gives_memory(t, at + 1))
            at += 2;
        else if (token_is(t, at, "[") && match_of(t, at) != TOKEN_NONE && match_of(t, at) < end)
            at = match_of(t, at) + 1;
        else
            return at;
    }
}

/* "(*out)[i]": the brackets are of the variable. */
static bool is_starred(const tokens *t, uint32_t first, uint32_t end)
{
    return token_is(t, first, "(") && token_is(t, first + 1, "*") && token_is_word(t, first + 2) &&
           token_is(t, first + 3, ")") && first + 4 < end;
}

bool expression_of(const tokens *t, uint32_t first, uint32_t end, expression *out)
{
    *out = (expression){0};
    for (int i = 0; i < 8 && !is_starred(t, first, end) && peel(t, &first, &end, out); i++) {}
    bool starred = is_starred(t, first, end);
    out->dereferenced |= starred;
    out->root = starred ? first + 2 : first;
    out->rest = starred ? first + 4 : first + 1;
    if (first >= end || !token_is_word(t, out->root))
        return false;
    out->end = after_members(t, out->rest, end);
    bool whole = out->end >= end || token_is(t, out->end, "+") ||
                 (gives_memory(t, out->end + 1) && out->end + 4 >= end);
    return whole;
}

bool expression_before(const tokens *t, uint32_t last, expression *out)
{
    uint32_t at = last;
    for (uint32_t n = 0; n < MOST_STEPS; n++) {
        bool bracket = token_is(t, at, "]") && match_of(t, at) != TOKEN_NONE && match_of(t, at) > 0;
        if (bracket) {
            at = match_of(t, at) - 1;
            continue;
        }
        if (token_is(t, at, ")") && match_of(t, at) != TOKEN_NONE) {
            at = match_of(t, at);
            break;
        }
        bool member = at >= 2 && (token_is(t, at - 1, ".") || token_is(t, at - 1, "->") ||
                                  token_is(t, at - 1, "::"));
        if (!member)
            break;
        at -= 2;
    }
    bool starred = at >= 2 && token_is(t, at - 1, "*") && !token_is_word(t, at - 2) &&
                   !token_is(t, at - 2, ">") && !token_is(t, at - 2, "*");
    return expression_of(t, starred ? at - 1 : at, last + 1, out);
}

/* ---- uses ---- */

typedef struct value { /* what is followed outwards, and where it ended */
    const tokens *t;
    const function_text *around;
    uint32_t first, end;
    expression *out;
    value_use use;
} value;

/* The bracket around the token, commas passed; TOKEN_NONE where the statement begins first. */
static uint32_t bracket_around(const tokens *t, uint32_t at)
{
    for (uint32_t n = 0; at > 0 && n < MOST_STATEMENT; n++) {
        at--;
        if (token_is(t, at, "(") || (token_is(t, at, "{") && is_inner_brace(t, at)))
            return at;
        if (ends_statement(t, at))
            return TOKEN_NONE;
        bool jumps = match_of(t, at) != TOKEN_NONE && match_of(t, at) < at;
        at = jumps ? match_of(t, at) : at;
    }
    return TOKEN_NONE;
}

/* A name in capitals is a macro's, which mostly passes on what it is given. */
static bool is_capital(const tokens *t, uint32_t at)
{
    const char *p = t->text + t->rows[at].start;
    for (uint32_t i = 0; i < t->rows[at].length; i++)
        if (islower((unsigned char)p[i]))
            return false;
    return true;
}

/* Functions and types that give back what they are given. */
static bool passes_on(const tokens *t, uint32_t name)
{
    static const char *const names[] = {"reinterpret_cast", "static_cast", "const_cast", "move",
                                        "forward",          "unique_ptr",  "shared_ptr", NULL};
    bool type = isupper((unsigned char)t->text[t->rows[name].start]);
    return token_is_any(t, name, names) || is_capital(t, name) || type;
}

static uint32_t before_qualifiers(const tokens *t, uint32_t at)
{
    while (at >= 2 && token_is(t, at - 1, "::")) {
        uint32_t name = tokens_before_list(t, at - 2);
        at = name != at - 2 && name ? name - 1 : at - 2;
    }
    return at;
}

static bool end_with(value *v, value_use use, uint32_t name)
{
    *v->out = (expression){.root = name, .rest = name + 1, .end = name + 1};
    v->use = use;
    return false;
}

static bool end_unknown(value *v)
{
    v->use = VALUE_UNKNOWN;
    return false;
}

static bool is_declared_name(const tokens *t, uint32_t name)
{
    uint32_t names[16], n = statement_declares(t, statement_first(t, name), names, 16);
    for (uint32_t i = 0; i < n; i++)
        if (names[i] == name)
            return true;
    return false;
}

/* Memory that is put into a container has the container's name. */
static bool end_in_container(value *v, uint32_t name)
{
    static const char *const names[] = {"push_back", "emplace_back", "push",
                                        "reset",     "assign",       NULL};
    bool kept = name >= 2 && token_is_any(v->t, name, names) &&
                expression_before(v->t, name - 2, v->out);
    v->use = kept ? VALUE_ASSIGNED : VALUE_UNKNOWN;
    return false;
}

/* "x[2] = {f(), g()}": the array. */
static bool end_in_list(value *v, uint32_t assigns)
{
    expression *out = v->out;
    bool kept = assigns && expression_before(v->t, assigns - 1, out);
    if (kept && is_declared_name(v->t, out->root))
        out->rest = out->end = out->root + 1;
    v->use = kept ? VALUE_ASSIGNED : VALUE_UNKNOWN;
    return false;
}

/* "return T(x)" in a function whose result is a T, which keeps x. */
static bool makes_result(const value *v, uint32_t name)
{
    const tokens *t = v->t;
    const function_text *f = v->around;
    if (!f || f->name == TOKEN_NONE || !f->name || !name || !token_is(t, name - 1, "return"))
        return false;
    uint32_t type = f->name - 1, list = tokens_before_list(t, type);
    type = list != type && list ? list - 1 : type;
    const token *a = &t->rows[type], *b = &t->rows[name];
    return a->length == b->length && memcmp(t->text + a->start, t->text + b->start, a->length) == 0;
}

/* Outwards over "name(...)" or "name{...}"; false where the value ended. */
static bool leave_call(value *v, uint32_t open)
{
    const tokens *t = v->t;
    uint32_t list = open ? tokens_before_list(t, open - 1) : 0;
    uint32_t name = open && list != open - 1 && list ? list - 1 : open - 1;
    const function_text *f = v->around;
    if (token_is_word(t, name) ||
        token_is_any(t, name, (const char *const[]){"static_cast", NULL})) {
        bool in_head = f && f->list != TOKEN_NONE && match_of(t, f->list) < name && name < f->open;
        if (in_head)
            return end_with(v, VALUE_INITIAL, name);
        if (name && (token_is(t, name - 1, ".") || token_is(t, name - 1, "->")))
            return end_in_container(v, name);
        if (list == open - 1 && is_declared_name(t, name))
            return end_with(v, VALUE_ASSIGNED, name);
        if (!passes_on(t, name) && !makes_result(v, name) && list == open - 1)
            return end_unknown(v);
        v->first = before_qualifiers(t, name);
        v->end = match_of(t, open) + 1;
        return true;
    }
    if (token_is(t, open, "{") && token_is(t, name, "="))
        return end_in_list(v, name);
    static const char *const others[] = {"if", "while", "for", "switch", "]", ")", NULL};
    if (token_is_any(t, name, others) || (token_is(t, open, "{") && !token_is(t, name, "return")))
        return end_unknown(v);
    v->first = open;
    v->end = match_of(t, open) + 1;
    return match_of(t, open) != TOKEN_NONE ? true : end_unknown(v);
}

/* "(T *)x": the cast before the value. */
static bool is_cast(const tokens *t, uint32_t close)
{
    uint32_t open = match_of(t, close);
    return token_is(t, close, ")") && open != TOKEN_NONE && open > 0 &&
           !token_is_word(t, open - 1) && tokens_before_list(t, open - 1) == open - 1 &&
           !token_is(t, open - 1, ")") && !token_is(t, open - 1, "]") &&
           !token_is(t, open - 1, "if") && !token_is(t, open - 1, "for") &&
           !token_is(t, open - 1, "while");
}

/* Before the condition of "c ? a : b". */
static bool leave_condition(value *v)
{
    static const char *const ends[] = {"=", "return", "(", "{", ";", "}", ",", NULL};
    uint32_t at = v->first - 1;
    while (at > 0 && !token_is_any(v->t, at, ends))
        at = match_of(v->t, at) != TOKEN_NONE && match_of(v->t, at) < at ? match_of(v->t, at) - 1
                                                                         : at - 1;
    v->first = at + 1;
    return token_is_any(v->t, at, ends) ? true : end_unknown(v);
}

/* "pool->parts[i].take(n)": where the object begins whose method is called; `dot` stands after it. */
static uint32_t object_first(const tokens *t, uint32_t dot)
{
    uint32_t at = dot;
    for (uint32_t n = 0; n < MOST_STEPS && at > 0; n++) {
        at--;
        while (at > 0 && (token_is(t, at, "]") || token_is(t, at, ")")) &&
               match_of(t, at) != TOKEN_NONE && match_of(t, at) > 0)
            at = match_of(t, at) - 1;
        bool member = at > 0 && (token_is(t, at - 1, ".") || token_is(t, at - 1, "->") ||
                                 token_is(t, at - 1, "::"));
        if (!member)
            break;
        at--;
    }
    return token_is_word(t, at) || token_is(t, at, "this") ? at : at + 1;
}

/* One step outwards; false where the value ended. */
static bool leave_one(value *v)
{
    const tokens *t = v->t;
    uint32_t before = v->first - 1;
    if (v->first == 0)
        return end_unknown(v);
    if (token_is(t, before, "::"))
        v->first = before_qualifiers(t, v->first);
    else if (token_is(t, before, ".") || token_is(t, before, "->"))
        v->first = object_first(t, before);
    else if (token_is(t, before, "new") || token_is(t, before, "*"))
        v->first = before;
    else if (is_cast(t, before))
        v->first = match_of(t, before);
    else if (token_is(t, before, "return"))
        return end_with(v, VALUE_RETURNED, before);
    else if (token_is(t, before, "=")) {
        bool kept = before && expression_before(t, before - 1, v->out);
        v->use = kept ? VALUE_ASSIGNED : VALUE_UNKNOWN;
        return false;
    } else if (token_is(t, before, "?") || token_is(t, before, ":"))
        return leave_condition(v);
    else if (token_is(t, before, "(") || token_is(t, before, "{") || token_is(t, before, ",")) {
        uint32_t open = bracket_around(t, v->first);
        return open == TOKEN_NONE || open == 0 ? end_unknown(v) : leave_call(v, open);
    } else
        return end_unknown(v);
    return true;
}

value_use expression_use(const tokens *t, const function_text *around, uint32_t first, uint32_t end,
                         expression *out)
{
    value v = {.t = t, .around = around, .first = first, .end = end, .out = out};
    static const char *const after[] = {";", ")", "}", ",", ":", "?", NULL};
    *out = (expression){0};
    for (int i = 0; i < MOST_STEPS; i++) {
        if (v.end < t->count && !token_is_any(t, v.end, after) && !token_is(t, v.end, "+"))
            return VALUE_UNKNOWN;
        if (!leave_one(&v))
            return v.use;
    }
    return VALUE_UNKNOWN;
}
