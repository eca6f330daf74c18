/* Function bodies: what stands between the instructions. */
#include "ptx/internal.h"

#include <stdio.h>

static void push_stmt(ptx_parser *p, ptx_stmt_kind kind, size_t index, const char *text)
{
    (void)ptx_push(p, &p->stmts, (ptx_stmt){.kind = kind, .index = (uint32_t)index, .text = text});
}

/* --- .file, .loc, .pragma --- */

void ptx_parse_file(ptx_parser *p)
{
    ptx_next(&p->lex);
    ir_file file = {.number = (uint32_t)ptx_parse_count(p, "the number of a file", UINT32_MAX)};
    if (p->lex.tok.kind != TOK_STRING) {
        ptx_fail(p, "expected the path of the file in quotes");
        return;
    }
    file.path = ptx_tok_text(p);
    ptx_next(&p->lex);
    if (ptx_accept(&p->lex, ',')) {
        file.has_stat = true;
        file.timestamp = ptx_parse_count(p, "a time", UINT64_MAX);
        ptx_expect(&p->lex, ',', "between time and size");
        file.size = ptx_parse_count(p, "a size", UINT64_MAX);
    }
    size_t index = p->files.count;
    if (!ptx_push(p, &p->files, file))
        return;
    if (p->func)
        push_stmt(p, PTX_STMT_FILE, index, NULL);
    else
        (void)ptx_push(p, &p->items, (ptx_item){.kind = PTX_ITEM_FILE, .index = (uint32_t)index});
}

const char *ptx_parse_pragma(ptx_parser *p)
{
    const char *text = NULL;
    do {
        if (p->lex.tok.kind != TOK_STRING) {
            ptx_fail(p, "expected a pragma in quotes");
            return "";
        }
        int length = (int)(p->lex.tok.length < 4096 ? p->lex.tok.length : 4096);
        text = wl_arena_printf(p->arena, "%s%s\"%.*s\"", text ? text : "", text ? ", " : "", length,
                               p->lex.tok.text);
        if (!text)
            ptx_fail_memory(&p->lex);
        ptx_next(&p->lex);
    } while (ptx_accept(&p->lex, ','));
    ptx_expect(&p->lex, ';', "after the pragma");
    return text;
}

static uint32_t loc_hash(const ptx_loc_key *key)
{
    uint32_t h = key->line * 2654435761u ^ key->column * 40503u ^ key->file * 2246822519u ^
                 key->func * 97u;
    return h ^ h >> 15;
}

static ptx_loc_slot *find_loc(ptx_parser *p, const ptx_loc_key *key)
{
    size_t mask = p->loc_table.capacity - 1;
    for (size_t i = loc_hash(key) & mask;; i = (i + 1) & mask) {
        ptx_loc_slot *slot = &p->loc_table.data[i];
        if (!slot->loc || memcmp(&slot->key, key, sizeof *key) == 0)
            return slot;
    }
}

static bool grow_locs(ptx_parser *p)
{
    size_t old = p->loc_table.capacity, grown = old ? old * 2 : 256;
    ptx_loc_slot *before = p->loc_table.data;
    ptx_loc_slot *after = calloc(grown, sizeof *after);
    if (!after) {
        ptx_fail_memory(&p->lex);
        return false;
    }
    p->loc_table.data = after;
    p->loc_table.capacity = grown;
    for (size_t i = 0; i < old; i++)
        if (before[i].loc)
            *find_loc(p, &before[i].key) = before[i];
    free(before);
    return true;
}

static void remember_loc(ptx_parser *p, const ptx_loc_key *key, uint32_t index)
{
    if (p->loc_used * 2 >= p->loc_table.capacity && !grow_locs(p))
        return;
    ptx_loc_slot *slot = find_loc(p, key);
    p->loc_used += slot->loc == 0;
    *slot = (ptx_loc_slot){*key, index + 1};
}

static uint32_t add_loc(ptx_parser *p, const ir_loc *loc)
{
    uint32_t index = (uint32_t)p->locs.count;
    ptx_loc_key key = {loc->file, loc->line, loc->column, (uint32_t)p->funcs.count};
    if (ptx_push(p, &p->locs, *loc))
        remember_loc(p, &key, index);
    return index;
}

static void parse_place(ptx_parser *p, ir_loc *loc)
{
    loc->file = (uint32_t)ptx_parse_count(p, "the number of a file", UINT32_MAX);
    loc->line = (uint32_t)ptx_parse_count(p, "a line", UINT32_MAX);
    loc->column = (uint32_t)ptx_parse_count(p, "a column", UINT32_MAX);
}

/* The latest .loc of this function with that place, or a new one. */
static uint32_t parse_inlined_at(ptx_parser *p)
{
    ir_loc place = {.inlined_at = IR_NONE};
    parse_place(p, &place);
    ptx_loc_key key = {place.file, place.line, place.column, (uint32_t)p->funcs.count};
    ptx_loc_slot *slot = p->loc_table.capacity ? find_loc(p, &key) : NULL;
    return slot && slot->loc ? slot->loc - 1 : add_loc(p, &place);
}

static void parse_function_name(ptx_parser *p, ir_loc *loc)
{
    if (p->lex.tok.kind != TOK_NAME && p->lex.tok.kind != TOK_DOT) {
        ptx_fail(p, "expected a label or section after function_name");
        return;
    }
    const char *text = ptx_tok_text(p);
    loc->function = p->lex.tok.kind == TOK_DOT ? wl_arena_printf(p->arena, ".%s", text) : text;
    ptx_next(&p->lex);
    if (ptx_accept(&p->lex, '+'))
        loc->function_offset = (int64_t)ptx_parse_const(p).bits;
}

static void parse_loc(ptx_parser *p)
{
    ir_loc loc = {.inlined_at = IR_NONE};
    ptx_next(&p->lex);
    parse_place(p, &loc);
    while (ptx_accept(&p->lex, ',')) {
        if (ptx_is_word(&p->lex, "function_name")) {
            ptx_next(&p->lex);
            parse_function_name(p, &loc);
        } else if (ptx_is_word(&p->lex, "inlined_at")) {
            ptx_next(&p->lex);
            loc.inlined_at = parse_inlined_at(p);
        } else {
            ptx_fail(p, "expected function_name or inlined_at");
        }
    }
    p->loc = add_loc(p, &loc);
    push_stmt(p, PTX_STMT_LOC, p->loc, NULL);
}

/* --- Labels --- */

static void defer_label(ptx_parser *p, ptx_name *name, ir_pos pos, uint32_t *target)
{
    ptx_binding b;
    if (name && ptx_lookup(name, &b) && b.kind == PTX_BIND_LABEL && b.depth == ptx_depth(p))
        *target = b.index;
    else if (name)
        ptx_defer(p, (ptx_pending){.name = name, .label = target, .pos = pos});
}

typedef wl_vec(ptx_name *) name_list;

/* A name in a list, and with L<3> the names L0, L1, L2. */
static void parse_label_names(ptx_parser *p, name_list *names)
{
    ptx_name *name = p->lex.tok.kind == TOK_NAME ? ptx_name_tok(p) : NULL;
    if (!name) {
        ptx_fail(p, "expected a name");
        return;
    }
    ptx_next(&p->lex);
    if (!ptx_accept(&p->lex, '<')) {
        (void)ptx_push(p, names, name);
        return;
    }
    uint64_t n = ptx_parse_angle_count(p, "the number of labels", PTX_FREE_VARS);
    for (uint64_t i = 0; i < n && !p->lex.failed; i++) {
        char text[PTX_MAX_STEM + 24];
        int length = snprintf(text, sizeof text, "%.*s%llu", PTX_MAX_STEM, name->text,
                              (unsigned long long)i);
        ptx_name *numbered = ptx_name_of(p, text, (size_t)length, ir_hash(text, (size_t)length));
        (void)ptx_push(p, names, numbered);
    }
}

static void set_targets(ptx_parser *p, ir_label *label, ptx_name **names, size_t count, ir_pos pos)
{
    bool code = label->kind == IR_LABEL_BRANCHTARGETS;
    if (code)
        label->targets = wl_new_array(p->arena, uint32_t, count);
    else
        label->callees = wl_new_array(p->arena, ir_symbol, count);
    if (!label->targets && !label->callees) {
        ptx_fail_memory(&p->lex);
        return;
    }
    label->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        if (code)
            defer_label(p, names[i], pos, &label->targets[i]);
        else
            ptx_defer(p, (ptx_pending){.name = names[i], .symbol = &label->callees[i], .pos = pos});
}

static void parse_targets(ptx_parser *p, ir_label *label)
{
    name_list names = {0};
    ir_pos pos = ptx_tok_pos(&p->lex);
    do
        parse_label_names(p, &names);
    while (ptx_accept(&p->lex, ','));
    ptx_expect(&p->lex, ';', "after the targets");
    if (!names.count)
        ptx_fail_pos(p, pos, "a list of targets cannot be empty");
    if (!p->lex.failed)
        set_targets(p, label, names.data, names.count, pos);
    wl_vec_free(&names);
}

static void parse_table(ptx_parser *p, ir_label *label)
{
    if (ptx_accept_dot(&p->lex, "branchtargets"))
        label->kind = IR_LABEL_BRANCHTARGETS;
    else if (ptx_accept_dot(&p->lex, "calltargets"))
        label->kind = IR_LABEL_CALLTARGETS;
    else if (ptx_accept_dot(&p->lex, "callprototype"))
        label->kind = IR_LABEL_PROTOTYPE;
    else
        return;
    label->pc = IR_NONE;
    if (label->kind == IR_LABEL_PROTOTYPE)
        label->prototype = ptx_parse_prototype(p);
    else
        parse_targets(p, label);
}

static bool colon_follows(const ptx_parser *p)
{
    const char *at = p->lex.at;
    while (*at == ' ' || *at == '\t')
        at++;
    return at[0] == ':' && at[1] != ':';
}

static void parse_label(ptx_parser *p)
{
    ptx_name *name = ptx_name_tok(p);
    ir_pos pos = ptx_tok_pos(&p->lex);
    ptx_next(&p->lex);
    ptx_next(&p->lex);
    if (!name || p->lex.failed)
        return;
    uint32_t index = (uint32_t)p->labels.count;
    ir_label label = {.name = name->text,
                      .pc = (uint32_t)p->insns.count,
                      .pos = pos,
                      .scope = p->levels.data[p->levels.count - 1].scope};
    ptx_bind(p, name, pos, (ptx_binding){.kind = PTX_BIND_LABEL, .index = index});
    parse_table(p, &label);
    if (ptx_push(p, &p->labels, label))
        push_stmt(p, PTX_STMT_LABEL, index, NULL);
}

/* --- Scopes --- */

static void open_scope(ptx_parser *p)
{
    if (p->levels.count >= PTX_MAX_SCOPES) {
        ptx_fail_at(&p->lex, ptx_tok_pos(&p->lex), WL_LIMIT, NULL,
                    "scopes are nested more than %d deep", PTX_MAX_SCOPES);
        return;
    }
    uint32_t scope = (uint32_t)p->scopes.count;
    if (!ptx_push(p, &p->scopes, (ptx_scope){.parent = p->levels.data[p->levels.count - 1].scope}))
        return;
    ptx_open_level(p, scope);
    push_stmt(p, PTX_STMT_OPEN, scope, NULL);
    ptx_next(&p->lex);
}

/* False at the brace that ends the body. */
static bool close_scope(ptx_parser *p)
{
    if (p->levels.count == 1)
        return false;
    push_stmt(p, PTX_STMT_CLOSE, p->levels.data[p->levels.count - 1].scope, NULL);
    ptx_close_level(p);
    ptx_next(&p->lex);
    return true;
}

/* --- The body --- */

static bool parse_linked_var(ptx_parser *p)
{
    static const struct {
        const char *text;
        ir_linkage linkage;
    } linkages[] = {
        {"extern", IR_LINK_EXTERN}, {"visible", IR_LINK_VISIBLE}, {"weak", IR_LINK_WEAK}};
    for (unsigned i = 0; i < sizeof linkages / sizeof *linkages; i++) {
        if (!ptx_accept_dot(&p->lex, linkages[i].text))
            continue;
        if (!ptx_at_var(p))
            ptx_fail(p, "expected a variable");
        ptx_parse_vars(p, linkages[i].linkage);
        return true;
    }
    return false;
}

static void parse_directive(ptx_parser *p)
{
    if (ptx_at_var(p)) {
        ptx_parse_vars(p, IR_LINK_NONE);
    } else if (ptx_is_dot(&p->lex, "loc")) {
        parse_loc(p);
    } else if (ptx_accept_dot(&p->lex, "pragma")) {
        push_stmt(p, PTX_STMT_PRAGMA, 0, ptx_parse_pragma(p));
    } else if (ptx_is_dot(&p->lex, "file")) {
        ptx_parse_file(p);
    } else if (!parse_linked_var(p)) {
        char found[64];
        ptx_describe(&p->lex, found, sizeof found);
        ptx_fail(p, "unknown directive %s in a function", found);
    }
}

static void parse_body_dwarf_line(ptx_parser *p)
{
    size_t length;
    const char *text = ptx_rest_of_line(&p->lex, &length);
    push_stmt(p, PTX_STMT_DIRECTIVE, 0, ptx_keep_text(p, text, length));
    ptx_next(&p->lex);
}

static void parse_punct(ptx_parser *p)
{
    if (ptx_is(&p->lex, '{'))
        open_scope(p);
    else if (ptx_is(&p->lex, '@') && ptx_at_dwarf(p))
        parse_body_dwarf_line(p);
    else
        ptx_parse_insn(p);
}

void ptx_parse_body(ptx_parser *p)
{
    while (!p->lex.failed) {
        if (ptx_is(&p->lex, '}')) {
            if (!close_scope(p))
                break;
        } else if (p->lex.tok.kind == TOK_NAME && colon_follows(p)) {
            parse_label(p);
        } else if (p->lex.tok.kind == TOK_NAME) {
            ptx_parse_insn(p);
        } else if (p->lex.tok.kind == TOK_DOT) {
            parse_directive(p);
        } else if (p->lex.tok.kind == TOK_EOF) {
            ptx_fail_at(&p->lex, ptx_tok_pos(&p->lex), WL_TRUNCATED, NULL,
                        "the text ends inside '%.60s'", p->func->name);
        } else {
            parse_punct(p);
        }
    }
    ptx_expect(&p->lex, '}', "at the end of the function");
}
