/* Follows allocations along their stacks to the variables that keep them. */
#include "profile/naming.h"

#include "profile/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLIMB = 12, MOST_LINKS = 6 };

typedef struct code_entry { /* by file; NULL: its text is not there */
    uint32_t file;
    const code_text *code;
    UT_hash_handle hh;
} code_entry;

typedef struct call_site {
    uint32_t column;
    uint64_t offset;
} call_site;

typedef struct line_entry { /* the calls of one function on a line that were made */
    const char *key;
    wl_vec(call_site) sites; /* ascending */
    UT_hash_handle hh;
} line_entry;

typedef struct link { /* a member that keeps the memory, in an object that the caller knows */
    const char *member, *owner; /* owner: the class */
    uint32_t frame;
} link;

typedef struct chain {
    uint32_t nlinks;
    link links[MOST_LINKS]; /* innermost first */
    const char *variable;   /* at its end; NULL: not known */
    uint32_t frame;
} chain;

typedef struct chain_entry {
    const stack *stack;
    chain *found;
    UT_hash_handle hh;
} chain_entry;

typedef struct only_entry { /* the one value that a key has; NULL: there are several */
    const char *key, *value;
    UT_hash_handle hh;
} only_entry;

struct naming {
    prof_builder *b;
    wl_arena *arena;
    code_entry *codes;
    line_entry *lines;
    chain_entry *chains;
    only_entry *members; /* of a class */
    only_entry *owners;  /* of a member */
    wl_vec(const stack *) noted;
    wl_vec(const char *) apis; /* theirs */
    bool followed;
};

naming *naming_new(prof_builder *b, wl_arena *arena)
{
    naming *n = wl_new(arena, naming);
    if (n)
        *n = (naming){.b = b, .arena = arena};
    return n;
}

void naming_end(naming *n)
{
    for (line_entry *e = n->lines; e; e = e->hh.next)
        wl_vec_free(&e->sites);
    HASH_CLEAR(hh, n->codes);
    HASH_CLEAR(hh, n->lines);
    HASH_CLEAR(hh, n->chains);
    HASH_CLEAR(hh, n->members);
    HASH_CLEAR(hh, n->owners);
    wl_vec_free(&n->noted);
    wl_vec_free(&n->apis);
}

/* ---- texts ---- */

/* False when memory is exhausted. */
static bool find_code_text(naming *n, uint32_t file, const code_text **out)
{
    code_entry *entry = NULL;
    size_t length;
    const char *why;
    HASH_FIND(hh, n->codes, &file, sizeof file, entry);
    if (!entry) {
        const char *text = sources_text(n->b->sources, file, &length, &why);
        entry = wl_new(n->arena, code_entry);
        if (!entry)
            return false;
        *entry = (code_entry){.file = file, .code = text ? code_text_of(text, n->arena) : NULL};
        if (text && !entry->code)
            return false;
        HASH_ADD(hh, n->codes, file, sizeof file, entry);
    }
    *out = entry->code;
    return true;
}

/* ---- calls of one line ---- */

/* Whether the allocating function itself stands in the site's text: what lies between are wrappers
 * of the toolkit's headers and its runtime. Else a library allocates, which that text calls. */
static bool calls_api(naming *n, const stack *s)
{
    static const char *const parts[] = {"cuda", "cu", "libcudart_static_", "__cudart", "warplens_"};
    const char *name = s->site ? prof_plain_name(n->arena, s->frames[s->site - 1].function) : "";
    for (size_t i = 0; name && i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i]);
        bool inner = i > 1 || (name[0] && isupper((unsigned char)name[length]));
        if (strncmp(name, parts[i], length) == 0 && inner)
            return true;
    }
    return !name || !name[0];
}

/* The name that the text has for what a frame called: the function of the frame within it. */
static const char *called_in(naming *n, const stack *s, uint32_t frame, const char *api)
{
    bool own = frame == s->site && calls_api(n, s);
    return own ? api : prof_plain_name(n->arena, s->frames[frame - 1].function);
}

static line_entry *find_line(naming *n, const stack *s, uint32_t frame, const char *called)
{
    const stack_frame *f = &s->frames[frame];
    line_entry *entry = NULL;
    const char *key = wl_arena_printf(n->arena, "%u %u %s\n%s", f->file, f->line, f->function,
                                      called);
    if (!key)
        return NULL;
    HASH_FIND_STR(n->lines, key, entry);
    if (entry || !(entry = wl_new(n->arena, line_entry)))
        return entry;
    entry->key = key;
    HASH_ADD_KEYPTR(hh, n->lines, entry->key, strlen(entry->key), entry);
    return entry;
}

/* Columns tell calls apart, also where one was copied by inlining; without them addresses do. */
static int compare_sites(const call_site *a, const call_site *b)
{
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->column || a->offset == b->offset ? 0 : a->offset < b->offset ? -1 : 1;
}

static uint32_t place_of_site(const line_entry *e, const call_site *site)
{
    uint32_t i = 0;
    while (i < e->sites.count && compare_sites(&e->sites.data[i], site) < 0)
        i++;
    return i;
}

static bool note_site(naming *n, const stack *s, uint32_t frame, const char *called)
{
    const stack_frame *f = &s->frames[frame];
    const call_site site = {f->column, f->offset};
    line_entry *e = called ? find_line(n, s, frame, called) : NULL;
    if (!e)
        return false;
    uint32_t at = place_of_site(e, &site);
    if (at < e->sites.count && compare_sites(&e->sites.data[at], &site) == 0)
        return true;
    if (!wl_push(&e->sites, site))
        return false;
    memmove(&e->sites.data[at + 1], &e->sites.data[at], (e->sites.count - 1 - at) * sizeof site);
    e->sites.data[at] = site;
    return true;
}

static bool of_application(const stack_frame *f)
{
    return f->file && !f->system;
}

bool naming_note(naming *n, const stack *s, const char *api)
{
    chain_entry *entry = NULL;
    if (s->frames[s->site].script) /* the text is not C's */
        return true;
    HASH_FIND_PTR(n->chains, &s, entry);
    if (entry)
        return true;
    entry = wl_new(n->arena, chain_entry);
    if (!entry || !wl_push(&n->noted, s) || !wl_push(&n->apis, api))
        return false;
    entry->stack = s;
    HASH_ADD_PTR(n->chains, stack, entry);
    bool good = true;
    for (uint32_t i = s->site; good && i < s->count && i < s->site + MOST_CLIMB; i++)
        if (of_application(&s->frames[i]))
            good = note_site(n, s, i, called_in(n, s, i, api));
    return good;
}

/* ---- from frame to frame ---- */

static void set_rank(naming *n, const stack *s, uint32_t frame, const char *api, kept_call *call)
{
    const stack_frame *f = &s->frames[frame];
    const call_site site = {f->column, f->offset};
    const char *called = called_in(n, s, frame, api);
    const line_entry *e = called ? find_line(n, s, frame, called) : NULL;
    call->line = f->line;
    call->column = f->column;
    call->rank = e ? place_of_site(e, &site) : 0;
    call->of = e ? (uint32_t)e->sites.count : 0;
}

/* The next frame outwards that is the application's and has a line; the count where there is
 * none. */
static uint32_t caller_of(const stack *s, uint32_t frame)
{
    uint32_t i = frame + 1;
    while (i < s->count && !of_application(&s->frames[i]))
        i++;
    return i;
}

/* "T<U>::T(...)" */
static bool is_constructor(wl_arena *arena, const char *function, const char *plain)
{
    const char *name = prof_short_name(arena, function);
    size_t n = strlen(plain);
    if (!name || !n)
        return false;
    const char *last = prof_last_name(name);
    if (last - name < 2)
        return false;
    const char *head = wl_arena_strndup(arena, name, (size_t)(last - name) - 2);
    const char *owner = head ? prof_plain_name(arena, head) : NULL;
    return owner && strcmp(owner, plain) == 0;
}

/* What the frame `up` called, where frames of libraries lie between. */
static bool set_library_call(naming *n, const stack *s, uint32_t up, kept_call *call)
{
    const char *function = s->frames[up - 1].function;
    call->name = prof_plain_name(n->arena, function);
    call->gives = GIVES_UNKNOWN;
    call->constructor = call->name && is_constructor(n->arena, function, call->name);
    return call->name && call->name[0];
}

static bool append_link(chain *c, const keeper *k, uint32_t frame)
{
    bool named = k->gives == GIVES_OBJECT && k->name[0];
    if (named && c->nlinks < MOST_LINKS)
        c->links[c->nlinks++] = (link){k->name, k->owner, frame};
    return !named || c->nlinks < MOST_LINKS;
}

/* The call by which the caller at `up` is given what `k` tells; false where it cannot be read. */
static bool set_call_of(naming *n, const stack *s, uint32_t frame, uint32_t up, const keeper *k,
                        kept_call *call)
{
    *call = (kept_call){.name = k->function,
                        .gives = k->gives,
                        .argument = k->argument,
                        .path = k->path,
                        .constructor = k->gives == GIVES_OBJECT && *k->owner &&
                                       strcmp(k->function, k->owner) == 0};
    if (up == s->count)
        return false;
    return up == frame + 1 ? k->function[0] != '\0' : set_library_call(n, s, up, call);
}

/* Follows the memory outwards. What it is called on the way serves where its end is not known. */
static bool follow_memory(naming *n, const stack *s, const char *api, chain *c)
{
    kept_call call = {.path = ""};
    bool own = calls_api(n, s);
    if (!own && !set_library_call(n, s, s->site, &call))
        return true;
    for (uint32_t frame = s->site, i = 0; frame < s->count && i < MOST_CLIMB; i++) {
        const code_text *code;
        keeper k = {0};
        if (!find_code_text(n, s->frames[frame].file, &code))
            return false;
        set_rank(n, s, frame, api, &call);
        if (!code)
            return true;
        if (!(i == 0 && own ? keeper_of_api(code, api, &call, n->arena, &k)
                            : keeper_of(code, &call, n->arena, &k)))
            return false;
        if (k.kind == KEEPER_UNKNOWN)
            return true;
        if (k.kind == KEEPER_VARIABLE || (k.gives != GIVES_OBJECT && k.name[0] && !c->nlinks)) {
            c->variable = k.name;
            c->frame = frame;
        }
        if (k.kind == KEEPER_VARIABLE || !append_link(c, &k, frame))
            return true;
        uint32_t up = caller_of(s, frame);
        if (!set_call_of(n, s, frame, up, &k, &call))
            return true;
        if (k.gives == GIVES_OBJECT && k.name[0])
            c->variable = NULL;
        frame = up;
    }
    return true;
}

/* ---- what tells names apart ---- */

static bool note_only(naming *n, only_entry **table, const char *key, const char *value)
{
    only_entry *e = NULL;
    HASH_FIND_STR(*table, key, e);
    if (e) {
        e->value = e->value && strcmp(e->value, value) == 0 ? e->value : NULL;
        return true;
    }
    e = wl_new(n->arena, only_entry);
    if (!e)
        return false;
    *e = (only_entry){.key = key, .value = value};
    HASH_ADD_KEYPTR(hh, *table, e->key, strlen(e->key), e);
    return true;
}

static bool has_several(only_entry *table, const char *key)
{
    only_entry *e = NULL;
    HASH_FIND_STR(table, key, e);
    return e && !e->value;
}

static const char *member_key(naming *n, const link *l)
{
    return wl_arena_printf(n->arena, "%s::%s", l->owner, l->member);
}

static bool note_chain(naming *n, const stack *s, const chain *c)
{
    for (uint32_t i = 0; i < c->nlinks; i++) {
        const link *l = &c->links[i];
        bool last = i + 1 == c->nlinks;
        const char *outer = last ? c->variable : c->links[i + 1].member;
        uint32_t frame = last ? c->frame : c->links[i + 1].frame;
        const char *key = member_key(n, l);
        const char *owner = outer ? wl_arena_printf(n->arena, "%s %u %u", outer,
                                                    s->frames[frame].file, s->frames[frame].line)
                                  : "";
        if (!key || !owner || !note_only(n, &n->members, l->owner, l->member) ||
            (outer && !note_only(n, &n->owners, key, owner)))
            return false;
    }
    return true;
}

static bool follow_all(naming *n)
{
    for (size_t i = 0; i < n->noted.count; i++) {
        const stack *s = n->noted.data[i];
        chain_entry *entry = NULL;
        HASH_FIND_PTR(n->chains, &s, entry);
        chain *found = wl_new(n->arena, chain);
        if (!entry || !found)
            return false;
        entry->found = found;
        if (!follow_memory(n, s, n->apis.data[i], found) || !note_chain(n, s, found))
            return false;
    }
    n->followed = true;
    return true;
}

/* "m_dev_ptr_" is any class's pointer. */
static bool is_any_member(const char *member)
{
    static const char *const prefixes[] = {"m_", "d_", "dev_", "device_", "_"};
    static const char *const names[] = {
#define X(name) name,
#include "profile/member_names.def"
#undef X
    };
    size_t n = strlen(member);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t k = strlen(prefixes[i]);
        if (n > k && strncmp(member, prefixes[i], k) == 0) {
            member += k;
            n -= k;
        }
    }
    n -= n && member[n - 1] == '_';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncmp(names[i], member, n) == 0)
            return true;
    return false;
}

/* The name from link `i` outwards. */
static bool name_from(naming *n, const chain *c, uint32_t i, kept_name *out)
{
    if (i == c->nlinks) {
        *out = (kept_name){c->variable ? c->variable : "", c->frame};
        return true;
    }
    const link *l = &c->links[i];
    bool outer = i + 1 < c->nlinks || c->variable;
    const char *key = member_key(n, l);
    if (!key)
        return false;
    if (outer && is_any_member(l->member) && !has_several(n->members, l->owner))
        return name_from(n, c, i + 1, out);
    *out = (kept_name){l->member, l->frame};
    if (!outer || !has_several(n->owners, key))
        return true;
    if (!name_from(n, c, i + 1, out))
        return false;
    out->variable = wl_arena_printf(n->arena, "%s.%s", out->variable, l->member);
    return out->variable != NULL;
}

bool naming_find(naming *n, const stack *s, kept_name *out)
{
    chain_entry *entry = NULL;
    *out = (kept_name){"", s->site};
    if (!n->followed && !follow_all(n))
        return false;
    HASH_FIND_PTR(n->chains, &s, entry);
    if (!entry || (!entry->found->nlinks && !entry->found->variable))
        return true;
    return name_from(n, entry->found, 0, out);
}

const char *naming_at(naming *n, uint32_t file, uint32_t line, uint32_t column, const char *api)
{
    const code_text *code;
    kept_call call = {.line = line, .column = column, .at_once = true};
    keeper k = {.name = ""};
    if (!find_code_text(n, file, &code) || (code && !keeper_of_api(code, api, &call, n->arena, &k)))
        return NULL;
    return k.name;
}
