/* Finds the functions of a C++ source by what stands before their opening braces. */
#include "profile/functions.h"

#include "base/vec.h"

#include <string.h>

enum { MOST_HEAD = 512, MOST_DEPTH = 128 }; /* tokens before a brace; blocks in one another */

typedef enum scope_kind { SCOPE_BLOCK, SCOPE_NAMESPACE, SCOPE_CLASS, SCOPE_FUNCTION } scope_kind;

typedef struct scope {
    uint32_t close, name; /* name: of a class */
    scope_kind kind;
} scope;

typedef struct finder {
    const tokens *t;
    scope scopes[MOST_DEPTH];
    uint32_t depth;
    wl_vec(function_text) found;
} finder;

/* ---- heads ---- */

static bool opens_initializer(const tokens *t, uint32_t open)
{
    uint32_t before = open ? tokens_before_list(t, open - 1) : 0;
    bool named = open && (token_is_word(t, open - 1) || before != open - 1);
    uint32_t close = t->rows[open].match;
    return named && close != TOKEN_NONE &&
           (token_is(t, close + 1, ",") || token_is(t, close + 1, "{"));
}

static bool is_access_label(const tokens *t, uint32_t colon)
{
    static const char *const labels[] = {"public", "private", "protected", "default", NULL};
    return token_is(t, colon, ":") && colon && token_is_any(t, colon - 1, labels);
}

/* The first token of what the brace at `open` belongs to. */
static uint32_t head_of(const tokens *t, uint32_t open)
{
    uint32_t at = open;
    for (uint32_t n = 0; at > 0 && n < MOST_HEAD; n++) {
        uint32_t before = at - 1, match = t->rows[before].match;
        if (token_is(t, before, ";") || token_is(t, before, "{") || token_is(t, before, "(") ||
            token_is(t, before, "[") || is_access_label(t, before))
            break;
        if (match != TOKEN_NONE && match < before) {
            if (token_is(t, before, "}") && !opens_initializer(t, match))
                break;
            before = match;
        }
        at = before;
    }
    return at;
}

static uint32_t after_template(const tokens *t, uint32_t at)
{
    while (token_is(t, at, "template") && tokens_after_list(t, at + 1) != at + 1)
        at = tokens_after_list(t, at + 1);
    return at;
}

/* The brackets of the parameters: the first after a name, none of an attribute. TOKEN_NONE: the
 * head is no function's. */
static uint32_t list_in_head(const tokens *t, uint32_t first, uint32_t open)
{
    static const char *const others[] = {"__launch_bounds__", "__attribute__", "__align__",
                                         "alignas",           "decltype",      "noexcept",
                                         "requires",          "__declspec",    NULL};
    for (uint32_t i = first; i < open; i++) {
        uint32_t after = i > first ? tokens_after_list(t, i) : i;
        if (after != i && !token_is(t, after, "("))
            i = after - 1;
        if (token_is(t, i, "=") && !token_is(t, i - 1, "operator"))
            return TOKEN_NONE;
        if (!token_is(t, i, "(") || i == first || t->rows[i].match == TOKEN_NONE)
            continue;
        bool call = token_is(t, i - 1, "operator"); /* operator()(...) */
        bool named = token_is_word(t, i - 1) || tokens_before_list(t, i - 1) != i - 1 ||
                     (i >= 2 && token_is(t, i - 2, "operator")) ||
                     (token_is(t, i - 1, ")") && token_is(t, t->rows[i - 1].match - 1, "operator"));
        if (!call && named && !token_is_any(t, i - 1, others))
            return i;
        i = t->rows[i].match;
    }
    return TOKEN_NONE;
}

/* The name before a bracket, a template's list left out. */
static uint32_t name_before(const tokens *t, uint32_t bracket)
{
    uint32_t at = bracket - 1, list = tokens_before_list(t, at);
    at = list != at && list ? list - 1 : at;
    return token_is_word(t, at) ? at : TOKEN_NONE;
}

/* "Class::name(", "Class<T>::name(" tell the class. */
static uint32_t qualifier_of(const tokens *t, uint32_t name)
{
    if (name == TOKEN_NONE || name < 2)
        return TOKEN_NONE;
    uint32_t at = name - (token_is(t, name - 1, "~") ? 2 : 1);
    if (!token_is(t, at, "::") || at == 0)
        return TOKEN_NONE;
    return name_before(t, at);
}

/* ---- lambdas ---- */

/* "[...] (...) mutable -> T {", from its end; the token "[" or TOKEN_NONE. *list: its parameters. */
static uint32_t lambda_of(const tokens *t, uint32_t open, uint32_t *list)
{
    enum { MOST = 16 };
    *list = TOKEN_NONE;
    for (uint32_t at = open, n = 0; at > 0 && n < MOST; n++) {
        uint32_t before = at - 1, match = t->rows[before].match;
        if (token_is(t, before, "]") && match != TOKEN_NONE && match < before) {
            bool value = match && (token_is_word(t, match - 1) || token_is(t, match - 1, "]") ||
                                   token_is(t, match - 1, ")"));
            return value ? TOKEN_NONE : match;
        }
        if (token_is(t, before, ")") && match != TOKEN_NONE && *list == TOKEN_NONE) {
            *list = match;
            before = match;
        } else if (t->rows[before].kind != TOKEN_WORD && !token_is(t, before, "->") &&
                   !token_is(t, before, "*") && !token_is(t, before, "&") &&
                   !token_is(t, before, "::") && !token_is(t, before, ">") &&
                   !token_is(t, before, "<") && !token_is(t, before, ",")) {
            return TOKEN_NONE;
        }
        at = before;
    }
    return TOKEN_NONE;
}

static uint32_t kept_in(const tokens *t, uint32_t capture)
{
    bool assigned = capture >= 2 && token_is(t, capture - 1, "=");
    return assigned && token_is_word(t, capture - 2) ? capture - 2 : TOKEN_NONE;
}

/* ---- scopes ---- */

static scope_kind around(const finder *f)
{
    return f->depth ? f->scopes[f->depth - 1].kind : SCOPE_NAMESPACE;
}

/* "class X final : public Y"; TOKEN_NONE where the head is none's. */
static uint32_t class_in_head(const tokens *t, uint32_t first, uint32_t open)
{
    static const char *const kinds[] = {"class", "struct", "union", "enum", NULL};
    static const char *const attributes[] = {"__align__", "alignas", "__attribute__",
                                             "class",     "struct",  NULL};
    uint32_t at = first;
    while (at < open && !token_is_any(t, at, kinds) && !token_is(t, at, "("))
        at++;
    if (!token_is_any(t, at++, kinds))
        return TOKEN_NONE;
    while (token_is_any(t, at, attributes))
        at += token_is(t, at + 1, "(") && t->rows[at + 1].match != TOKEN_NONE
                  ? t->rows[at + 1].match - at + 1
                  : 1;
    for (uint32_t i = at; i < open; i++)
        if (token_is(t, i, "(") || token_is(t, i, "="))
            return TOKEN_NONE;
    return at;
}

static bool append_function(finder *f, function_text made)
{
    return wl_push(&f->found, made);
}

static bool append_lambda(finder *f, uint32_t open, uint32_t capture, uint32_t list)
{
    return append_function(f, (function_text){.first = capture,
                                              .name = kept_in(f->t, capture),
                                              .list = list,
                                              .open = open,
                                              .close = f->t->rows[open].match,
                                              .owner = TOKEN_NONE,
                                              .lambda = true});
}

/* What the brace begins, in a namespace or a class. */
static bool read_head(finder *f, uint32_t open, scope *made)
{
    static const char *const wide[] = {"namespace", "extern", NULL};
    const tokens *t = f->t;
    uint32_t head = head_of(t, open), first = after_template(t, head);
    uint32_t class_name = class_in_head(t, first, open);
    bool space = token_is_any(t, first, wide) ||
                 (token_is(t, first, "inline") && token_is(t, first + 1, "namespace"));
    if (class_name != TOKEN_NONE) {
        made->kind = SCOPE_CLASS;
        made->name = class_name;
        return true;
    }
    uint32_t list = list_in_head(t, first, open);
    if (list == TOKEN_NONE) {
        made->kind = space ? SCOPE_NAMESPACE : SCOPE_BLOCK;
        return true;
    }
    uint32_t name = name_before(t, list), owner = qualifier_of(t, name);
    bool inner = owner == TOKEN_NONE && around(f) == SCOPE_CLASS;
    made->kind = SCOPE_FUNCTION;
    return append_function(f,
                           (function_text){.first = head,
                                           .name = name,
                                           .list = list,
                                           .open = open,
                                           .close = t->rows[open].match,
                                           .owner = inner ? f->scopes[f->depth - 1].name : owner});
}

static bool read_brace(finder *f, uint32_t open)
{
    scope made = {.close = f->t->rows[open].match, .kind = SCOPE_BLOCK};
    uint32_t list, capture = lambda_of(f->t, open, &list);
    bool good = true;
    if (capture != TOKEN_NONE) {
        made.kind = SCOPE_FUNCTION;
        good = append_lambda(f, open, capture, list);
    } else if (around(f) == SCOPE_NAMESPACE || around(f) == SCOPE_CLASS) {
        good = opens_initializer(f->t, open) || read_head(f, open, &made);
    } else {
        uint32_t name = class_in_head(f->t, head_of(f->t, open), open); /* a class in a function */
        made.kind = name != TOKEN_NONE ? SCOPE_CLASS : SCOPE_BLOCK;
        made.name = name;
    }
    if (good && f->depth < MOST_DEPTH)
        f->scopes[f->depth++] = made;
    return good;
}

bool functions_of(const tokens *t, wl_arena *arena, function_texts *out)
{
    finder f = {.t = t};
    bool good = true;
    for (uint32_t i = 0; good && i < t->count; i++) {
        while (f.depth && f.scopes[f.depth - 1].close <= i)
            f.depth--;
        if (token_is(t, i, "{") && t->rows[i].match != TOKEN_NONE)
            good = read_brace(&f, i);
    }
    *out = (function_texts){.count = (uint32_t)f.found.count};
    if (good)
        out->rows = f.found.count
                        ? wl_arena_copy(arena, f.found.data, f.found.count * sizeof *f.found.data)
                        : wl_arena_alloc(arena, 1);
    wl_vec_free(&f.found);
    return out->rows != NULL;
}

const function_text *functions_around(const function_texts *functions, uint32_t at)
{
    const function_text *found = NULL;
    for (uint32_t i = 0; i < functions->count; i++) {
        const function_text *f = &functions->rows[i];
        bool inside = f->first <= at && at <= f->close;
        if (inside && (!found || f->open > found->open))
            found = f;
    }
    return found;
}

/* ---- parameters ---- */

static parameter_text parameter_between(const tokens *t, uint32_t first, uint32_t end)
{
    parameter_text made = {.name = TOKEN_NONE};
    for (uint32_t i = first; i < end; i++) {
        uint32_t after = tokens_after_list(t, i);
        if (after != i && after <= end) {
            i = after - 1;
            continue;
        }
        if (token_is(t, i, "=") || token_is(t, i, "["))
            break;
        made.pointer |= token_is(t, i, "*");
        made.by_reference |= token_is(t, i, "&") || token_is(t, i, "&&");
        made.name = token_is_word(t, i) ? i : made.name;
    }
    return made;
}

uint32_t function_parameters(const tokens *t, const function_text *f, parameter_text *out)
{
    uint32_t count = 0, end = f->list == TOKEN_NONE ? 0 : t->rows[f->list].match;
    if (f->list == TOKEN_NONE || end == TOKEN_NONE)
        return 0;
    for (uint32_t i = f->list + 1, first = i; i <= end && count < FUNCTION_PARAMETERS; i++) {
        uint32_t after = tokens_after_list(t, i);
        bool bracket = i < end && t->rows[i].match != TOKEN_NONE && t->rows[i].match > i;
        if (after != i)
            i = after - 1;
        else if (bracket)
            i = t->rows[i].match;
        else if ((i == end || token_is(t, i, ",")) && i > first) {
            out[count++] = parameter_between(t, first, i);
            first = i + 1;
        }
    }
    return count;
}
