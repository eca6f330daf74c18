/* The names of templates, and by what their instances differ. */
#include "analysis/tables/families.h"

#include "profile/demangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names as trees ---- */

/* A name with its template arguments: "ReduceOp<float, 4>" is "ReduceOp" with two of them. */
typedef struct tree {
    const char *head;
    struct tree *first, *next; /* its arguments; the next one of those that it is in */
} tree;

typedef struct parser {
    wl_arena *arena;
    const char *at;
    uint32_t depth;
    bool nomem;
} parser;

enum { MOST_DEPTH = 200 };

static const char *behind_brackets(const char *open)
{
    int depth = 0;
    const char *p = open;
    do {
        depth += *p == '(' || *p == '{';
        depth -= *p == ')' || *p == '}';
        p += *p != '\0';
    } while (*p && depth > 0);
    return p;
}

/* "{lambda(float)#2}" -> 2 */
static unsigned long number_of_lambda(const char *open, const char *end)
{
    const char *mark = end;
    while (mark > open && *mark != '#')
        mark--;
    return *mark == '#' ? strtoul(mark + 1, NULL, 10) : 1;
}

/* Bytes at `p` that stand for no more than what surrounds them says: "::operator()", " const". */
static size_t empty_word(const char *p)
{
    static const char *const words[] = {"(anonymous namespace)::", "::operator()", " const"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* Where an operator is named whose sign looks like a bracket: its length. */
static size_t operator_sign(const char *start, const char *p)
{
    bool named = p - start >= 8 && strncmp(p - 8, "operator", 8) == 0;
    return named && strchr("<>-", *p) ? strspn(p, "<>=-") : 0;
}

/* Without the namespace that has just been read: "at::native::" goes when "::" comes. */
static char *without_namespace(const char *from, char *to)
{
    while (to > from && (isalnum((unsigned char)to[-1]) || to[-1] == '_'))
        to--;
    return to;
}

/* "4ul" -> "4" */
static void cut_suffix(char *text)
{
    text += strspn(text, " ");
    size_t digits = strspn(text, "0123456789");
    if (digits && text[digits + strspn(text + digits, "ul")] == '\0')
        text[digits] = '\0';
}

/* What stands up to the next bracket of arguments, comma or end. `whole`: namespaces and all. */
static const char *read_head(parser *p, bool whole)
{
    char *text = wl_arena_alloc(p->arena, 2 * strlen(p->at) + 32), *to = text;
    const char *start = p->at, *kept = text; /* kept: what stands before is no namespace */
    while (text && *p->at && !strchr("<>,", *p->at)) {
        size_t skipped = whole ? 0 : empty_word(p->at), sign = operator_sign(start, p->at);
        if (skipped) {
            p->at += skipped;
        } else if (!whole && *p->at == '{') {
            const char *end = behind_brackets(p->at);
            to += sprintf(to, "{%lu}", number_of_lambda(p->at, end));
            p->at = end;
            kept = to;
        } else if (!whole && *p->at == '(') {
            p->at = behind_brackets(p->at);
            kept = to;
        } else if (!whole && strncmp(p->at, "::", 2) == 0) {
            to = without_namespace(kept, to);
            p->at += 2;
        } else {
            size_t n = sign ? sign : 1;
            memcpy(to, p->at, n);
            to += n;
            p->at += n;
        }
    }
    if (!text)
        return NULL;
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
    if (!whole)
        cut_suffix(text);
    return text + strspn(text, " ");
}

static tree *read_tree(parser *p, bool whole);

/* After the bracket that opens them; what follows the one that closes is part of the head. */
static bool read_arguments_of(parser *p, tree *t)
{
    tree **last = &t->first;
    while (*last)
        last = &(*last)->next;
    do {
        p->at++;
        tree *argument = read_tree(p, false);
        if (!argument)
            return false;
        if (*argument->head || argument->first) {
            *last = argument;
            last = &argument->next;
        }
    } while (*p->at == ',');
    p->at += *p->at == '>';
    return true;
}

/* NULL when memory is exhausted, or the name is nested too deeply to be one. */
static tree *read_tree(parser *p, bool whole)
{
    tree *t = p->depth < MOST_DEPTH ? wl_new(p->arena, tree) : NULL;
    p->depth++;
    if (!t || !(t->head = read_head(p, whole)))
        return NULL;
    while (*p->at == '<') {
        if (!read_arguments_of(p, t))
            return NULL;
        const char *more = read_head(p, whole);
        t->head = more ? wl_arena_printf(p->arena, "%s%s", t->head, more) : NULL;
        if (!t->head)
            return NULL;
    }
    p->depth--;
    return t;
}

static tree *tree_of(wl_arena *arena, const char *short_name)
{
    parser p = {.arena = arena, .at = short_name};
    tree *t = read_tree(&p, true);
    while (t && *p.at) { /* what closes nothing */
        p.at++;
        const char *more = read_head(&p, true);
        t->head = more ? wl_arena_printf(arena, "%s%s", t->head, more) : NULL;
        if (!t->head)
            return NULL;
    }
    return t;
}

const char *ana_family_name(wl_arena *arena, const char *short_name)
{
    const tree *t = tree_of(arena, short_name);
    const char *name = t ? prof_heading_name(arena, t->head) : NULL;
    return name && *name ? name : short_name;
}

/* ---- what differs ---- */

typedef struct labels {
    wl_arena *arena;
    uint32_t count;
    const char **texts; /* of each name, what has been found */
    bool nomem;
} labels;

static const char *text_of_tree(wl_arena *arena, const tree *t)
{
    const char *text = t->head;
    for (const tree *a = t->first; text && a; a = a->next) {
        const char *of = text_of_tree(arena, a);
        text = of ? wl_arena_printf(arena, "%s%s%s", text, a == t->first ? "<" : ", ", of) : NULL;
    }
    return text && t->first ? wl_arena_printf(arena, "%s>", text) : text;
}

/* Does the list, "a, b<c, d>", have the text as a whole element? */
static bool has_element(const char *list, const char *text)
{
    size_t length = strlen(text);
    for (const char *p = list; (p = strstr(p, text)); p++)
        if ((p == list || (p - list >= 2 && strncmp(p - 2, ", ", 2) == 0)) &&
            (!p[length] || strncmp(p + length, ", ", 2) == 0))
            return true;
    return false;
}

/* What is the same as before in a label is not said again. */
static void add_instance_part(labels *l, uint32_t i, const tree *t)
{
    const char *text = t ? text_of_tree(l->arena, t) : "";
    if (text && *text && !has_element(l->texts[i], text))
        text = wl_arena_printf(l->arena, "%s%s%s", l->texts[i], *l->texts[i] ? ", " : "", text);
    else if (text)
        text = l->texts[i];
    l->nomem |= !text;
    l->texts[i] = text ? text : "";
}

static bool have_same_head(const tree *const *trees, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (!trees[i] != !trees[0] || (trees[0] && (strcmp(trees[i]->head, trees[0]->head) != 0 ||
                                                    !trees[i]->first != !trees[0]->first)))
            return false;
    return true;
}

static void compare_arguments(labels *l, const tree *const *trees);

/* The places of one argument of each; NULL where one has fewer. */
static void compare_place(labels *l, const tree *const *trees)
{
    if (!have_same_head(trees, l->count))
        for (uint32_t i = 0; i < l->count; i++)
            add_instance_part(l, i, trees[i]);
    else if (trees[0])
        compare_arguments(l, trees);
}

static void compare_arguments(labels *l, const tree *const *trees)
{
    const tree **at = wl_new_array(l->arena, const tree *, l->count);
    bool more = at != NULL;
    l->nomem |= !at;
    for (uint32_t i = 0; at && i < l->count; i++)
        at[i] = trees[i]->first;
    while (more && !l->nomem) {
        more = false;
        for (uint32_t i = 0; i < l->count; i++)
            more |= at[i] != NULL;
        if (more)
            compare_place(l, at);
        for (uint32_t i = 0; i < l->count; i++)
            at[i] = at[i] ? at[i]->next : NULL;
    }
}

/* Of those that differ in what no label says all but the first get numbers. */
static void number_equal(labels *l)
{
    for (uint32_t i = l->count; i-- > 0 && !l->nomem;) {
        uint32_t before = 0;
        for (uint32_t k = 0; k < i; k++)
            before += strcmp(l->texts[k], l->texts[i]) == 0;
        if (!before && *l->texts[i])
            continue;
        const char *text = wl_arena_printf(l->arena, "%s%s#%u", l->texts[i],
                                           *l->texts[i] ? " " : "", before + 1);
        l->nomem |= !text;
        l->texts[i] = text ? text : "";
    }
}

bool ana_family_labels(wl_arena *arena, const char *const *short_names, uint32_t count,
                       const char **out)
{
    labels l = {.arena = arena, .count = count, .texts = out};
    const tree **trees = wl_new_array(arena, const tree *, (size_t)count + 1);
    if (!trees)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = "";
        trees[i] = tree_of(arena, short_names[i]);
        if (!trees[i])
            return false;
    }
    if (count > 1) {
        compare_arguments(&l, trees);
        number_equal(&l);
    }
    return !l.nomem;
}
