/* From a call on a line to who keeps what it gives. */
#include "profile/keeper.h"

#include "profile/expression.h"
#include "profile/statement.h"

#include <ctype.h>
#include <string.h>

enum { MOST_CALLS = 64, MOST_NAMES = 32, MOST_DEPTH = 3, LONGEST_NAME = 64, LONGEST_API = 128 };

static const keeper unknown = {.name = "", .path = "", .function = "", .owner = ""};

typedef struct search {
    const code_text *code;
    const tokens *t;
    const kept_call *call;
    wl_arena *arena;
    keeper *out;
    bool nomem;
} search;

const code_text *code_text_of(const char *text, wl_arena *arena)
{
    code_text *made = wl_new(arena, code_text);
    bool good = made && tokens_of(text, arena, &made->tokens) &&
                functions_of(&made->tokens, arena, &made->functions);
    return good ? made : NULL;
}

static uint32_t match_of_token(const search *s, uint32_t at)
{
    return at < s->t->count ? s->t->rows[at].match : TOKEN_NONE;
}

static bool same_token(const tokens *t, uint32_t a, uint32_t b)
{
    return a < t->count && b < t->count && t->rows[a].length == t->rows[b].length &&
           memcmp(t->text + t->rows[a].start, t->text + t->rows[b].start, t->rows[a].length) == 0;
}

static const char *text_between(search *s, uint32_t first, uint32_t end)
{
    const char *text = tokens_text(s->t, first, end, s->arena);
    s->nomem |= !text;
    return text ? text : "";
}

static const char *joined_text(search *s, const char *a, const char *b)
{
    const char *text = wl_arena_printf(s->arena, "%s%s", a, b);
    s->nomem |= !text;
    return text ? text : "";
}

/* ---- what a function knows of a name ---- */

/* Tokens that a declaration may follow. */
static bool may_declare(const tokens *t, uint32_t at)
{
    static const char *const before[] = {";", "{", "}", ")", "else", "do", ":", NULL};
    static const char *const with_brackets[] = {"for", "if", "while", "switch", NULL};
    bool head = at >= 2 && token_is(t, at - 1, "(") && token_is_any(t, at - 2, with_brackets);
    return at && (head || token_is_any(t, at - 1, before));
}

/* Where the function declares the name, the last time before it stands there; TOKEN_NONE: nowhere. */
static uint32_t declaration_of(const tokens *t, const function_text *f, uint32_t name)
{
    uint32_t names[MOST_NAMES], found = TOKEN_NONE;
    for (uint32_t i = f->open + 1; i < f->close; i++) {
        uint32_t n = may_declare(t, i) ? statement_declares(t, i, names, MOST_NAMES) : 0;
        for (uint32_t k = 0; k < n; k++)
            if (same_token(t, names[k], name) && (found == TOKEN_NONE || names[k] <= name))
                found = names[k];
    }
    return found;
}

static bool declares(const tokens *t, const function_text *f, uint32_t name)
{
    return declaration_of(t, f, name) != TOKEN_NONE;
}

/* In a block within the function's body: a loop's, mostly. */
static bool is_of_inner_block(const tokens *t, const function_text *f, uint32_t name)
{
    uint32_t at = declaration_of(t, f, name);
    while (at != TOKEN_NONE && at > f->open && !token_is(t, at, "{")) {
        at--;
        bool jumps = t->rows[at].match != TOKEN_NONE && t->rows[at].match < at;
        at = jumps ? t->rows[at].match - 1 : at;
    }
    return at != TOKEN_NONE && at > f->open;
}

/* The parameter of that name; its count of parameters where there is none. */
static uint32_t parameter_of(const tokens *t, const function_text *f, uint32_t name,
                             parameter_text *found)
{
    parameter_text all[FUNCTION_PARAMETERS];
    uint32_t n = function_parameters(t, f, all), i = 0;
    while (i < n && (all[i].name == TOKEN_NONE || !same_token(t, all[i].name, name)))
        i++;
    if (i < n)
        *found = all[i];
    return i < n ? i : TOKEN_NONE;
}

static bool set_variable(search *s, const expression *e, const char *path)
{
    const char *name = joined_text(s, text_between(s, e->root, e->root + 1),
                                   joined_text(s, text_between(s, e->rest, e->end), path));
    bool good = strlen(name) <= LONGEST_NAME;
    s->out->kind = good ? KEEPER_VARIABLE : KEEPER_UNKNOWN;
    s->out->name = good ? name : "";
    return good;
}

static void set_caller(search *s, const function_text *f, call_gives gives, uint32_t argument,
                       const char *path)
{
    s->out->kind = KEEPER_CALLER;
    s->out->gives = gives;
    s->out->argument = argument;
    s->out->path = path;
    s->out->function = f->name != TOKEN_NONE ? text_between(s, f->name, f->name + 1) : "";
    s->out->owner = f->owner != TOKEN_NONE ? text_between(s, f->owner, f->owner + 1) : "";
}

/* ---- locals that leave their function ---- */

static bool keep_in(search *s, const expression *e, const char *path, uint32_t at, int depth);

/* The variable as a value: neither a member of another nor one of its own members. */
static bool is_plain_value(const tokens *t, uint32_t at)
{
    static const char *const parts[] = {".", "->", "::", "[", "(", NULL};
    return !token_is_any(t, at + 1, parts) && at > 0 && !token_is(t, at - 1, ".") &&
           !token_is(t, at - 1, "->") && !token_is(t, at - 1, "&") &&
           !token_is(t, at - 1, "delete");
}

/* "x.push_back(p)" */
static bool is_put_into(const tokens *t, const expression *to)
{
    static const char *const names[] = {"push_back", "emplace_back", "push", NULL};
    return token_is_any(t, to->end + 1, names);
}

/* A local that its function returns, or stores where the caller finds it; or, of a loop, in a
 * container. */
static bool leaves_function(search *s, const function_text *f, const expression *e,
                            const char *path, int depth)
{
    const tokens *t = s->t;
    const char *rest = joined_text(s, text_between(s, e->rest, e->end), path);
    for (uint32_t i = f->open + 1; i < f->close && depth < MOST_DEPTH; i++) {
        expression to;
        if (!same_token(t, i, e->root) || !is_plain_value(t, i))
            continue;
        value_use use = expression_use(t, f, i, i + 1, &to);
        if (use == VALUE_RETURNED) {
            set_variable(s, e, path);
            set_caller(s, f, GIVES_RESULT, 0, rest);
            return true;
        }
        const keeper before = *s->out;
        if (use == VALUE_ASSIGNED && to.root != i && !same_token(t, to.root, e->root) &&
            keep_in(s, &to, rest, i, depth + 1) &&
            (s->out->kind == KEEPER_CALLER ||
             (is_put_into(t, &to) && is_of_inner_block(t, f, e->root))))
            return true;
        *s->out = before;
    }
    return false;
}

/* ---- who keeps an expression ---- */

/* Whether what is stored in the parameter reaches the caller, and how. */
static bool gives_parameter(const expression *e, const parameter_text *p, call_gives *gives)
{
    bool parts = e->rest < e->end;
    *gives = p->by_reference ? GIVES_BY_REFERENCE : GIVES_BY_POINTER;
    return p->by_reference || (parts && p->pointer) || e->dereferenced;
}

static bool keep_in_parameter(search *s, const function_text *f, const expression *e,
                              const char *path, uint32_t at, int depth)
{
    parameter_text found;
    call_gives gives;
    uint32_t index = parameter_of(s->t, f, e->root, &found);
    if (index == TOKEN_NONE)
        return false;
    const char *rest = joined_text(s, text_between(s, e->rest, e->end), path);
    bool given = gives_parameter(e, &found, &gives);
    if (!given && s->call->gives == GIVES_BY_VALUE) {
        given = true;
        gives = GIVES_BY_VALUE;
    }
    (void)at;
    set_variable(s, e, path);
    if (given)
        set_caller(s, f, gives, index, rest);
    else if (!leaves_function(s, f, e, path, depth))
        set_variable(s, e, path);
    return true;
}

/* "for (auto &x : all)": what is stored in x is stored in `all`. */
static bool keep_in_all(search *s, const function_text *f, const expression *e, const char *path,
                        int depth)
{
    const tokens *t = s->t;
    uint32_t name = declaration_of(t, f, e->root);
    bool reference = name != TOKEN_NONE && name && token_is(t, name + 1, ":") &&
                     (token_is(t, name - 1, "&") || token_is(t, name - 1, "&&"));
    uint32_t end = name == TOKEN_NONE ? name : name + 2;
    while (reference && end < f->close && !token_is(t, end, ")"))
        end = match_of_token(s, end) != TOKEN_NONE && match_of_token(s, end) > end
                  ? match_of_token(s, end) + 1
                  : end + 1;
    expression all;
    if (!reference || depth >= MOST_DEPTH || !expression_of(t, name + 2, end, &all))
        return false;
    const char *rest = joined_text(s, text_between(s, e->rest, e->end), path);
    return keep_in(s, &all, *rest ? joined_text(s, "[]", rest) : "", name + 2, depth + 1);
}

/* A name that lambdas around take from the function around them. */
static bool keep_in_captured(search *s, const function_text *f, const expression *e,
                             const char *path)
{
    while (f && f->lambda && f->first) {
        parameter_text found;
        f = functions_around(&s->code->functions, f->first - 1);
        if (f &&
            (declares(s->t, f, e->root) || parameter_of(s->t, f, e->root, &found) != TOKEN_NONE))
            return set_variable(s, e, path);
    }
    return false;
}

/* Sets who keeps what is stored in the expression, at the token `at`; false where that is not
 * known. */
static bool keep_in(search *s, const expression *e, const char *path, uint32_t at, int depth)
{
    const function_text *f = functions_around(&s->code->functions, at);
    if (!f || s->call->at_once || token_is(s->t, e->root, "auto"))
        return !token_is(s->t, e->root, "auto") && set_variable(s, e, path);
    if (!e->of_this) {
        if (keep_in_parameter(s, f, e, path, at, depth))
            return true;
        if (declares(s->t, f, e->root))
            return keep_in_all(s, f, e, path, depth) || leaves_function(s, f, e, path, depth) ||
                   set_variable(s, e, path);
        if (keep_in_captured(s, f, e, path))
            return true;
    }
    while (f->lambda && f->first && functions_around(&s->code->functions, f->first - 1))
        f = functions_around(&s->code->functions, f->first - 1);
    if (!set_variable(s, e, path))
        return false;
    if (f->owner != TOKEN_NONE || e->of_this)
        set_caller(s, f, GIVES_OBJECT, 0, "");
    return true;
}

/* ---- what a call's value becomes ---- */

static bool keep_value(search *s, uint32_t first, uint32_t end)
{
    const function_text *f = functions_around(&s->code->functions, first);
    expression e;
    switch (expression_use(s->t, f, first, end, &e)) {
    case VALUE_RETURNED:
        if (f)
            set_caller(s, f, GIVES_RESULT, 0, s->call->path);
        return f != NULL;
    case VALUE_INITIAL: e.of_this = true; return keep_in(s, &e, s->call->path, first, 0);
    case VALUE_ASSIGNED: return keep_in(s, &e, s->call->path, first, 0);
    default: return false;
    }
}

static bool is_annotation(const char *api)
{
    return strncmp(api, "warplens_", strlen("warplens_")) == 0;
}

/* The tokens of argument `index` of the call whose bracket is `open`. */
static bool argument_at(const search *s, uint32_t open, uint32_t index, uint32_t *first,
                        uint32_t *end)
{
    uint32_t close = match_of_token(s, open), n = 0;
    *first = open + 1;
    for (uint32_t i = open + 1; close != TOKEN_NONE && i <= close; i++) {
        uint32_t match = match_of_token(s, i), list = tokens_after_list(s->t, i);
        if (i == close || token_is(s->t, i, ",")) {
            *end = i;
            if (n++ == index)
                return i > *first;
            *first = i + 1;
        } else if (match != TOKEN_NONE && match > i) {
            i = match;
        } else if (list != i && token_is(s->t, list, "(")) {
            i = list - 1;
        }
    }
    return false;
}

/* Behind "&" a pointer's member is an object's. */
static const char *path_of(search *s, const expression *e)
{
    bool arrow = e->address && strncmp(s->call->path, "->", 2) == 0;
    return arrow ? joined_text(s, ".", s->call->path + 2) : s->call->path;
}

static bool keep_argument(search *s, uint32_t open)
{
    uint32_t first, end;
    expression e;
    if (!argument_at(s, open, s->call->argument, &first, &end) ||
        !expression_of(s->t, first, end, &e))
        return false;
    if (is_annotation(s->call->name) && token_is(s->t, e.end, "+"))
        return false; /* a part of the variable's memory is not the variable */
    const char *path = path_of(s, &e);
    if (s->call->gives == GIVES_BY_POINTER) /* "&x" stores in x, "x" where x points to */
        e.dereferenced |= !e.address;
    return keep_in(s, &e, path, first, 0);
}

/* ---- objects ---- */

/* "x.resize(n)", "s->x.reset()": the object; a call without one is of the same object. */
static bool keep_method(search *s, uint32_t name)
{
    expression e;
    const function_text *f = functions_around(&s->code->functions, name);
    bool of = name >= 2 && (token_is(s->t, name - 1, ".") || token_is(s->t, name - 1, "->"));
    if (of && token_is(s->t, name - 2, "this"))
        of = false;
    if (of)
        return expression_before(s->t, name - 2, &e) && keep_in(s, &e, s->call->path, name, 0);
    if (!f)
        return false;
    set_caller(s, f, GIVES_OBJECT, 0, "");
    s->out->name = "";
    return f->owner != TOKEN_NONE;
}

typedef struct objects { /* that constructors on a line may make: names, or tokens of a call */
    uint32_t count;
    struct {
        uint32_t first, end;
        bool named, member, base;
    } rows[MOST_CALLS];
} objects;

static void append_object(objects *o, uint32_t first, uint32_t end, bool named, bool member)
{
    if (o->count < MOST_CALLS) {
        o->rows[o->count].first = first;
        o->rows[o->count].end = end;
        o->rows[o->count].named = named;
        o->rows[o->count].base = false;
        o->rows[o->count++].member = member;
    }
}

static bool in_head(const search *s, const function_text *f, uint32_t at)
{
    return f && f->list != TOKEN_NONE && match_of_token(s, f->list) < at && at < f->open;
}

static bool defines_function(const search *s, uint32_t name)
{
    for (uint32_t i = 0; i < s->code->functions.count; i++)
        if (s->code->functions.rows[i].name == name)
            return true;
    return false;
}

/* What the class's name at `at` begins: "T x(n), y", "T(n)", "new T(n)", ": T(n)". */
static void append_of_class(const search *s, objects *o, uint32_t at)
{
    const tokens *t = s->t;
    uint32_t after = tokens_after_list(t, at + 1), names[MOST_NAMES];
    const function_text *f = functions_around(&s->code->functions, at);
    if (token_is(t, after, "(") || token_is(t, after, "{")) {
        append_object(o, at, match_of_token(s, after) + 1, false, false);
        o->rows[o->count - 1].base = in_head(s, f, at) &&
                                     (token_is(t, at - 1, ":") || token_is(t, at - 1, ","));
        return;
    }
    uint32_t n = statement_declares(t, statement_first(t, at), names, MOST_NAMES);
    for (uint32_t i = 0; i < n && token_is_word(t, after); i++)
        if (names[i] >= after && !defines_function(s, names[i]))
            append_object(o, names[i], names[i] + 1, true, false);
}

/* Members of the class are declared so: "T<U> x". */
static bool is_declared_as(const search *s, uint32_t member)
{
    const tokens *t = s->t;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t after = token_is(t, i, s->call->name) ? tokens_after_list(t, i + 1) : i;
        if (after != i && after < t->count && same_token(t, after, member))
            return true;
    }
    return false;
}

/* ": x(n), y(n)" in a constructor's head; of the class's type where `typed`. */
static void append_initials(const search *s, objects *o, const function_text *f, bool typed)
{
    const tokens *t = s->t;
    for (uint32_t i = match_of_token(s, f->list) + 1; f->list != TOKEN_NONE && i < f->open; i++) {
        bool item = token_is_word(t, i) && (token_is(t, i + 1, "(") || token_is(t, i + 1, "{")) &&
                    (token_is(t, i - 1, ":") || token_is(t, i - 1, ","));
        if (item && (!typed || is_declared_as(s, i)))
            append_object(o, i, i + 1, true, true);
        bool jumps = match_of_token(s, i) != TOKEN_NONE && match_of_token(s, i) > i;
        i = jumps ? match_of_token(s, i) : i;
    }
}

/* Members of the class that stand in another's body with nothing that makes them. */
static void append_members(const search *s, objects *o, const function_text *f)
{
    const tokens *t = s->t;
    for (uint32_t i = 0; f->owner != TOKEN_NONE && i < t->count; i++) {
        uint32_t after = token_is(t, i, s->call->name) ? tokens_after_list(t, i + 1) : i;
        bool member = after != i && token_is_word(t, after) &&
                      !functions_around(&s->code->functions, i);
        if (member && (token_is(t, after + 1, ";") || token_is(t, after + 1, "{")))
            append_object(o, after, after + 1, true, true);
    }
}

/* Which of `count` the call is; TOKEN_NONE where that is not known. */
static uint32_t choose(const search *s, uint32_t count, const uint32_t *names)
{
    if (count == 1)
        return 0;
    if (count && count == s->call->of)
        return s->call->rank;
    for (uint32_t i = 0; i < count && s->call->column; i++) {
        const token *name = &s->t->rows[names[i]];
        uint32_t end = name->column + name->length;
        if (name->line == s->call->line && name->column <= s->call->column &&
            s->call->column <= end)
            return i;
    }
    return TOKEN_NONE;
}

static bool keep_object(search *s, objects *o)
{
    uint32_t names[MOST_CALLS];
    for (uint32_t i = 0; i < o->count; i++)
        names[i] = o->rows[i].first;
    uint32_t at = choose(s, o->count, names);
    if (at == TOKEN_NONE)
        return false;
    uint32_t first = o->rows[at].first, end = o->rows[at].end;
    if (o->rows[at].base) {
        set_caller(s, functions_around(&s->code->functions, first), GIVES_OBJECT, 0, "");
        return true;
    }
    expression e = {.root = first, .rest = end, .end = end, .of_this = o->rows[at].member};
    return o->rows[at].named ? keep_in(s, &e, s->call->path, first, 0) : keep_value(s, first, end);
}

/* ---- the line ---- */

typedef struct range {
    uint32_t first, end; /* tokens of the statements that the line has a part in */
    uint32_t at;         /* the first on the line */
} range;

/* A lambda's body belongs to its statement, other bodies do not. */
static uint32_t end_of_statements(const search *s, uint32_t last)
{
    uint32_t end = statement_after(s->t, last);
    for (uint32_t i = 0; token_is(s->t, end, "{") && i < s->code->functions.count; i++) {
        const function_text *f = &s->code->functions.rows[i];
        if (f->lambda && f->open == end)
            end = statement_after(s->t, f->close + 1);
    }
    return end;
}

static bool range_of_line(const search *s, range *out)
{
    const tokens *t = s->t;
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->rows[middle].line < s->call->line)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->count || t->rows[low].line != s->call->line)
        return false;
    uint32_t last = low;
    while (last + 1 < t->count && t->rows[last + 1].line == s->call->line)
        last++;
    *out = (range){statement_first(t, low), end_of_statements(s, last), low};
    return true;
}

/* Of several calls those count that stand on the line itself, where any do: macros without a
 * semicolon make one statement of many lines. */
static uint32_t keep_on_line(const search *s, uint32_t count, uint32_t *names, uint32_t *brackets)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (s->t->rows[names[i]].line != s->call->line)
            continue;
        names[kept] = names[i];
        brackets[kept++] = brackets[i];
    }
    return kept ? kept : count;
}

/* Calls of the name in the range: their names and brackets. */
static uint32_t calls_in(const search *s, const range *r, const char *name, uint32_t *names,
                         uint32_t *brackets)
{
    uint32_t count = 0;
    for (uint32_t i = r->first; i < r->end && count < MOST_CALLS; i++) {
        uint32_t after = token_is(s->t, i, name) ? tokens_after_list(s->t, i + 1) : i;
        if (after == i || !token_is(s->t, after, "(") || defines_function(s, i))
            continue;
        names[count] = i;
        brackets[count++] = after;
    }
    return keep_on_line(s, count, names, brackets);
}

static bool keep_constructed(search *s, const range *r)
{
    objects o = {0};
    const function_text *f = functions_around(&s->code->functions, r->at);
    for (uint32_t i = r->first; i < r->end; i++)
        if (token_is(s->t, i, s->call->name) && !defines_function(s, i))
            append_of_class(s, &o, i);
    if (!o.count && f && f->list != TOKEN_NONE && r->at <= f->open)
        append_initials(s, &o, f, true);
    if (!o.count && f && f->list != TOKEN_NONE && r->at <= f->open)
        append_members(s, &o, f);
    if (!o.count && f && f->list != TOKEN_NONE && r->at <= f->open)
        append_initials(s, &o, f, false);
    uint32_t names[MOST_NAMES],
        n = o.count ? 0 : statement_declares(s->t, r->first, names, MOST_NAMES);
    for (uint32_t i = 0; i < n; i++) /* of a type that has another name */
        append_object(&o, names[i], names[i] + 1, true, false);
    return keep_object(s, &o);
}

/* "x = ..." is all that is seen of an operator. */
static bool keep_assigned(search *s, const range *r)
{
    for (uint32_t i = r->first; i < r->end; i++) {
        expression e;
        if (token_is(s->t, i, "=") && i)
            return expression_before(s->t, i - 1, &e) && keep_in(s, &e, s->call->path, i, 0);
    }
    return false;
}

/* ---- calls that the line does not show ---- */

/* "#define NAME(a, b)" in the text: the token list of its body and its parameters. False: none. */
static bool read_macro(search *s, uint32_t name, tokens *out)
{
    const token *word = &s->t->rows[name];
    for (const char *p = s->t->text; (p = strstr(p, "#define")); p++) {
        const char *q = p + strlen("#define");
        q += strspn(q, " \t");
        if (strncmp(q, s->t->text + word->start, word->length) != 0 || q[word->length] != '(')
            continue;
        size_t n = 0;
        do
            n += strcspn(q + n, "\n") + 1;
        while (q[n - 1] && (q[n - 2] == '\\' || (n > 2 && q[n - 2] == '\r' && q[n - 3] == '\\')));
        char *body = wl_arena_strndup(s->arena, q, n - 1);
        s->nomem |= !body || !tokens_of(body, s->arena, out);
        return !s->nomem;
    }
    return false;
}

/* Which argument of the macro its call of an allocating function fills; TOKEN_NONE: none. */
static uint32_t argument_of_macro(const tokens *m)
{
    uint32_t list = m->count > 1 ? m->rows[1].match : TOKEN_NONE, open = TOKEN_NONE;
    for (uint32_t i = list; i < m->count && open == TOKEN_NONE; i++) {
        char *at = strstr(m->text + m->rows[i].start, "lloc");
        bool within = at && at < m->text + m->rows[i].start + m->rows[i].length;
        uint32_t after = within ? tokens_after_list(m, i + 1) : m->count;
        open = token_is(m, after, "(") ? after : TOKEN_NONE;
    }
    for (uint32_t i = open; i < m->count && !token_is(m, i, ","); i++)
        for (uint32_t k = 2, n = 0; open != TOKEN_NONE && k < list; k++) {
            if (same_token(m, i, k) && token_is_word(m, k))
                return n;
            n += token_is(m, k, ",");
        }
    return TOKEN_NONE;
}

static bool is_in_capitals(const search *s, uint32_t at)
{
    const char *p = s->t->text + s->t->rows[at].start;
    for (uint32_t i = 0; i < s->t->rows[at].length; i++)
        if (islower((unsigned char)p[i]))
            return false;
    return token_is_word(s->t, at);
}

static bool keep_of_argument(search *s, uint32_t open, uint32_t argument)
{
    uint32_t first, end;
    expression e;
    if (!argument_at(s, open, argument, &first, &end) || !expression_of(s->t, first, end, &e))
        return false;
    e.dereferenced = false;
    return keep_in(s, &e, "", first, 0);
}

/* "ALLOC(x, n)": the macro tells which argument; the first where it is defined elsewhere. */
static bool keep_of_macro(search *s, const range *r)
{
    uint32_t found = TOKEN_NONE, argument = 0;
    for (uint32_t i = r->first; i < r->end; i++)
        if (is_in_capitals(s, i) && token_is(s->t, i + 1, "(")) {
            tokens body;
            argument = read_macro(s, i, &body) ? argument_of_macro(&body) : 0;
            if (found != TOKEN_NONE || argument == TOKEN_NONE)
                return false;
            found = i;
        }
    return found != TOKEN_NONE && keep_of_argument(s, found + 1, argument);
}

/* "f(&x, n)": the only argument that is an address. */
static bool keep_of_address(search *s, const range *r)
{
    uint32_t found = TOKEN_NONE, end = 0;
    for (uint32_t i = r->first; i < r->end; i++) {
        bool argument = token_is(s->t, i, "&") && i && !token_is_word(s->t, i - 1);
        if (argument && found != TOKEN_NONE)
            return false;
        if (argument)
            for (found = i, end = i;
                 end < r->end && !token_is(s->t, end, ",") && !token_is(s->t, end, ")");)
                end++;
    }
    expression e;
    if (found == TOKEN_NONE || !expression_of(s->t, found, end, &e))
        return false;
    return keep_in(s, &e, "", found, 0);
}

/* A number or a status that a function returns is no memory. */
static bool is_number_declared(const search *s, const range *r, uint32_t name)
{
    static const char *const types[] = {"int",   "bool",    "float",       "double",   "size_t",
                                        "long",  "char",    "unsigned",    "uint32_t", "uint64_t",
                                        "short", "int64_t", "cudaError_t", "CUresult", NULL};
    bool pointer = false, number = false;
    for (uint32_t i = r->first; i < name; i++) {
        pointer |= token_is(s->t, i, "*");
        number |= token_is_any(s->t, i, types);
    }
    return number && !pointer && !token_is(s->t, name - 1, ">");
}

static bool sounds_like_memory(const search *s, uint32_t name)
{
    static const char *const parts[] = {"lloc", "make", "reate", "new", "uffer", "upload", "evice"};
    const char *p = token_is_word(s->t, name) ? s->t->text + s->t->rows[name].start : "";
    for (size_t i = 0; *p && i < sizeof parts / sizeof *parts; i++) {
        const char *at = strstr(p, parts[i]);
        if (at && at < p + s->t->rows[name].length)
            return true;
    }
    return false;
}

/* "T *x = f(n)", "x = make(n)", "Buffer x(n)", "x.resize(n)". */
static bool keep_of_statement(search *s, const range *r)
{
    uint32_t names[2], n = statement_declares(s->t, r->first, names, 2), at = r->first;
    expression e;
    if (n == 1 && !token_is(s->t, names[0] + 1, ";") && !is_number_declared(s, r, names[0])) {
        e = (expression){.root = names[0], .rest = names[0] + 1, .end = names[0] + 1};
        return keep_in(s, &e, "", names[0], 0);
    }
    while (at < r->end && !token_is(s->t, at, "=") && !token_is(s->t, at, "("))
        at++;
    bool assigned = n == 0 && token_is(s->t, at, "=") && sounds_like_memory(s, at + 1);
    if (assigned)
        return at && expression_before(s->t, at - 1, &e) && keep_in(s, &e, "", at, 0);
    bool grows = token_is(s->t, at, "(") && at && token_is(s->t, at - 1, "resize");
    return n == 0 && grows && keep_method(s, at - 1);
}

static bool keep_hidden(search *s, const range *r)
{
    return keep_of_macro(s, r) || keep_of_address(s, r) || keep_of_statement(s, r);
}

/* A library's function: containers grow, makers make; what others need is nobody's. */
static bool keep_of_library(search *s, const range *r)
{
    static const char *const growing[] = {"resize", "assign",        "push_back", "emplace_back",
                                          "insert", "reserve",       "emplace",   "reset",
                                          "append", "shrink_to_fit", NULL};
    uint32_t names[MOST_CALLS], brackets[MOST_CALLS];
    const char *name = s->call->name;
    if (!name[0])
        return keep_hidden(s, r);
    if (s->call->constructor)
        return keep_constructed(s, r);
    if (strcmp(name, "operator") == 0)
        return keep_assigned(s, r);
    uint32_t at = choose(s, calls_in(s, r, name, names, brackets), names);
    if (at == TOKEN_NONE)
        return false;
    for (const char *const *g = growing; *g; g++)
        if (strcmp(*g, name) == 0)
            return keep_method(s, names[at]);
    bool makes = strncmp(name, "make_", 5) == 0 || strstr(name, "alloc");
    return makes && keep_value(s, names[at], match_of_token(s, brackets[at]) + 1);
}

static bool keep_called(search *s, const range *r)
{
    uint32_t names[MOST_CALLS], brackets[MOST_CALLS];
    uint32_t at = choose(s, calls_in(s, r, s->call->name, names, brackets), names);
    if (at == TOKEN_NONE)
        return false;
    if (s->call->gives == GIVES_OBJECT)
        return keep_method(s, names[at]);
    if (s->call->gives != GIVES_RESULT)
        return keep_argument(s, brackets[at]);
    return keep_value(s, names[at], match_of_token(s, brackets[at]) + 1);
}

bool keeper_of(const code_text *code, const kept_call *call, wl_arena *arena, keeper *out)
{
    search s = {.code = code, .t = &code->tokens, .call = call, .arena = arena, .out = out};
    range r;
    *out = unknown;
    if (!range_of_line(&s, &r))
        return true;
    bool known = call->gives == GIVES_UNKNOWN                       ? keep_of_library(&s, &r)
                 : call->gives == GIVES_OBJECT && call->constructor ? keep_constructed(&s, &r)
                                                                    : keep_called(&s, &r);
    if (!known)
        *out = unknown;
    return !s.nomem;
}

/* What is there already, and is only told of. */
static bool gives_by_value(const char *api)
{
    return strstr(api, "Register") || is_annotation(api);
}

bool keeper_of_api(const code_text *code, const char *api, kept_call *call, wl_arena *arena,
                   keeper *out)
{
    char name[LONGEST_API];
    bool good = true;
    call->argument = 0;
    call->path = "";
    *out = unknown;
    for (uint32_t i = 0;
         good && out->kind == KEEPER_UNKNOWN && statement_api_name(api, i, name, sizeof name);
         i++) {
        call->name = name;
        call->gives = strcmp(name, "malloc") == 0 ? GIVES_RESULT
                      : gives_by_value(name)      ? GIVES_BY_VALUE
                                                  : GIVES_BY_POINTER;
        good = keeper_of(code, call, arena, out);
    }
    call->name = "";
    call->gives = GIVES_UNKNOWN;
    return good && (out->kind != KEEPER_UNKNOWN || keeper_of(code, call, arena, out));
}
