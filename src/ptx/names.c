/* Words and what they mean where: one entry a word, with a stack of bindings, the innermost scope's
 * on top. */
#include "ptx/internal.h"

#include <stdlib.h>

/* --- The table of words --- */

static bool grow_table(ptx_parser *p)
{
    size_t slots = p->name_slots ? p->name_slots * 2 : 1024;
    ptx_name **table = calloc(slots, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < p->name_slots; i++) {
        ptx_name *name = p->names[i];
        if (!name)
            continue;
        size_t slot = name->hash & (slots - 1);
        while (table[slot])
            slot = (slot + 1) & (slots - 1);
        table[slot] = name;
    }
    free(p->names);
    p->names = table;
    p->name_slots = slots;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* %rd12 is the word %rd with the number 12: how names of .reg %rd<n> are found. */
static void split_number(ptx_parser *p, ptx_name *name)
{
    size_t stem = name->length;
    while (stem > 0 && is_digit(name->text[stem - 1]))
        stem--;
    if (stem == 0 || stem == name->length || name->length - stem > 9)
        return;
    for (size_t i = stem; i < name->length; i++)
        name->number = name->number * 10 + (uint32_t)(name->text[i] - '0');
    name->stem = ptx_name_of(p, name->text, stem, ir_hash(name->text, stem));
}

static void classify(ptx_name *name)
{
    name->op = ir_find_op(name->text, name->length, name->hash);
    if (name->text[0] == '%')
        name->sreg = ir_find_sreg(name->text + 1, name->length - 1,
                                  ir_hash(name->text + 1, name->length - 1), &name->sreg_index);
}

static ptx_name *add_name(ptx_parser *p, size_t slot, const char *text, size_t length,
                          uint32_t hash)
{
    ptx_name *name = wl_new(p->scratch, ptx_name);
    char *copy = wl_arena_strndup(p->arena, text, length);
    if (!name || !copy) {
        ptx_fail_memory(&p->lex);
        return NULL;
    }
    *name = (ptx_name){.text = copy, .length = (uint32_t)length, .hash = hash};
    classify(name);
    p->names[slot] = name;
    p->name_count++;
    split_number(p, name); /* last: it may move the table */
    return name;
}

ptx_name *ptx_name_of(ptx_parser *p, const char *text, size_t length, uint32_t hash)
{
    if (p->name_count * 2 >= p->name_slots && !grow_table(p)) {
        ptx_fail_memory(&p->lex);
        return NULL;
    }
    size_t slot = hash & (p->name_slots - 1);
    for (ptx_name *name; (name = p->names[slot]); slot = (slot + 1) & (p->name_slots - 1))
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return name;
    return add_name(p, slot, text, length, hash);
}

ptx_name *ptx_name_tok(ptx_parser *p)
{
    return ptx_name_of(p, p->lex.tok.text, p->lex.tok.length, p->lex.tok.hash);
}

/* --- Scopes --- */

uint32_t ptx_depth(const ptx_parser *p)
{
    return (uint32_t)p->levels.count;
}

static ptx_level *top(ptx_parser *p)
{
    return p->levels.count ? &p->levels.data[p->levels.count - 1] : NULL;
}

void ptx_open_level(ptx_parser *p, uint32_t scope)
{
    ptx_level level = {.first_pending = p->pending.count, .scope = scope};
    (void)ptx_push(p, &p->levels, level);
}

static bool is_bound_here(const ptx_parser *p, const ptx_name *name)
{
    ptx_binding found;
    return ptx_lookup(name, &found) && found.depth == ptx_depth(p);
}

static void fail_duplicate(ptx_parser *p, const ptx_name *name, ir_pos pos)
{
    ptx_fail_at(&p->lex, pos, WL_PARSE, NULL, "'%.60s' is already declared in this scope",
                name->text);
}

bool ptx_bind(ptx_parser *p, ptx_name *name, ir_pos pos, ptx_binding what)
{
    if (p->lex.failed || !name)
        return false;
    if (is_bound_here(p, name)) {
        fail_duplicate(p, name, pos);
        return false;
    }
    ptx_binding *b = wl_new(p->scratch, ptx_binding);
    if (!b) {
        ptx_fail_memory(&p->lex);
        return false;
    }
    *b = what;
    b->name = name;
    b->depth = ptx_depth(p);
    b->outer = name->binding;
    name->binding = b;
    ptx_level *level = top(p);
    if (level)
        b->next = level->bindings, level->bindings = b;
    return true;
}

bool ptx_bind_family(ptx_parser *p, ptx_name *name, ir_pos pos, uint32_t first, uint32_t n)
{
    if (p->lex.failed || !name)
        return false;
    if (name->family && name->family->depth == ptx_depth(p)) {
        fail_duplicate(p, name, pos);
        return false;
    }
    ptx_family *f = wl_new(p->scratch, ptx_family);
    if (!f) {
        ptx_fail_memory(&p->lex);
        return false;
    }
    *f = (ptx_family){
        .outer = name->family, .name = name, .depth = ptx_depth(p), .first = first, .n = n};
    name->family = f;
    ptx_level *level = top(p);
    if (level)
        f->next = level->families, level->families = f;
    return true;
}

bool ptx_lookup(const ptx_name *name, ptx_binding *out)
{
    const ptx_binding *b = name->binding;
    if (b)
        *out = *b;
    if (!name->stem)
        return b != NULL;
    for (const ptx_family *f = name->stem->family; f && (!b || f->depth > b->depth); f = f->outer) {
        if (name->number >= f->n)
            continue;
        *out = (ptx_binding){
            .kind = PTX_BIND_REG, .depth = f->depth, .index = f->first + name->number};
        return true;
    }
    return b != NULL;
}

/* --- Names used before they are declared --- */

void ptx_defer(ptx_parser *p, ptx_pending pending)
{
    pending.depth = ptx_depth(p);
    (void)ptx_push(p, &p->pending, pending);
}

static void fail_unknown(ptx_parser *p, const ptx_pending *u)
{
    const char *hint = u->label
                           ? "the label must stand in the same function, in this scope or around it"
                           : NULL;
    ptx_fail_at(&p->lex, u->pos, WL_PARSE, hint, "unknown name '%.60s'", u->name->text);
}

static bool set_named_symbol(const ptx_name *name, ir_symbol *symbol)
{
    if (name->func)
        *symbol = (ir_symbol){.kind = IR_SYM_FUNC, .func = name->func};
    else if (name->binding && name->binding->kind == PTX_BIND_VAR)
        *symbol = (ir_symbol){.kind = IR_SYM_VAR, .var = name->binding->var};
    else
        return false;
    return true;
}

static void set_label(const ptx_pending *u, uint32_t label)
{
    if (u->label) {
        *u->label = label;
        return;
    }
    ir_operand *o = u->operand;
    o->kind = IR_OPD_LABEL;
    o->label = label;
    o->items = NULL;
}

/* Takes a label of the scope that ends; what it does not have is left to the scopes around. */
static bool resolve_label(const ptx_pending *u, uint32_t depth)
{
    const ptx_binding *b = u->name->binding;
    if ((!u->operand && !u->label) || !b || b->kind != PTX_BIND_LABEL || b->depth != depth)
        return false;
    set_label(u, b->index);
    return true;
}

static void unbind(ptx_level *level)
{
    for (ptx_binding *b = level->bindings; b; b = b->next)
        b->name->binding = b->outer;
    for (ptx_family *f = level->families; f; f = f->next)
        f->name->family = f->outer;
}

void ptx_close_level(ptx_parser *p)
{
    ptx_level *level = top(p);
    if (!level)
        return;
    uint32_t depth = ptx_depth(p);
    size_t kept = level->first_pending;
    for (size_t i = kept; i < p->pending.count; i++)
        if (!resolve_label(&p->pending.data[i], depth))
            p->pending.data[kept++] = p->pending.data[i];
    p->pending.count = kept;
    unbind(level);
    p->levels.count--;
}

static void resolve_symbol(ptx_parser *p, const ptx_pending *u)
{
    ir_symbol symbol;
    if (u->label || !set_named_symbol(u->name, &symbol)) {
        fail_unknown(p, u);
        return;
    }
    if (u->symbol) {
        *u->symbol = symbol;
        return;
    }
    ir_operand *o = u->operand;
    o->kind = IR_OPD_SYM;
    o->items = NULL;
    o->has_sym = true;
    o->sym = symbol;
}

void ptx_resolve_module(ptx_parser *p)
{
    for (size_t i = 0; i < p->pending.count && !p->lex.failed; i++)
        resolve_symbol(p, &p->pending.data[i]);
    p->pending.count = 0;
}

const char *ptx_tok_text(ptx_parser *p)
{
    const char *copy = wl_arena_strndup(p->arena, p->lex.tok.text, p->lex.tok.length);
    if (!copy)
        ptx_fail_memory(&p->lex);
    return copy ? copy : "";
}
