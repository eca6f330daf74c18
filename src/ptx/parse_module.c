/* The module: what stands outside of functions, and the entry point of the parser. */
#include "ptx/internal.h"

#include <stdio.h>
#include <stdlib.h>

void *ptx_keep(ptx_parser *p, const void *data, size_t count, size_t size)
{
    if (count == 0)
        return NULL;
    void *copy = wl_arena_array(p->arena, count, size);
    if (copy)
        memcpy(copy, data, count * size);
    else
        ptx_fail_memory(&p->lex);
    return copy;
}

const char *ptx_keep_text(ptx_parser *p, const char *text, size_t length)
{
    if (memchr(text, 0, length))
        ptx_fail(p, "a NUL byte cannot stand in a text");
    const char *copy = wl_arena_strndup(p->arena, text, length);
    if (!copy)
        ptx_fail_memory(&p->lex);
    return copy;
}

static void push_item(ptx_parser *p, ptx_item_kind kind, size_t index, const char *text)
{
    (void)ptx_push(p, &p->items, (ptx_item){.kind = kind, .index = (uint32_t)index, .text = text});
}

bool ptx_at_dwarf(const ptx_parser *p)
{
    return (size_t)(p->lex.end - p->lex.tok.text) > 7 && memcmp(p->lex.tok.text, "@@DWARF", 7) == 0;
}

/* --- .version, .target, .address_size --- */

static uint32_t parse_digits(const char **at)
{
    uint32_t value = 0;
    while (**at >= '0' && **at <= '9' && value < 100000)
        value = value * 10 + (uint32_t)(*(*at)++ - '0');
    return value;
}

static void parse_version(ptx_parser *p)
{
    ptx_next(&p->lex);
    const char *at = p->lex.tok.text;
    if (p->lex.tok.kind != TOK_F64) {
        ptx_fail(p, "a version is written like 8.0");
        return;
    }
    p->module->written->version_major = parse_digits(&at);
    at += *at == '.';
    p->module->written->version_minor = parse_digits(&at);
    ptx_next(&p->lex);
}

static void note_target(ir_module *m, const char *word)
{
    if (m->sm == 0 && strncmp(word, "sm_", 3) == 0) {
        const char *digits = word + 3;
        m->sm = parse_digits(&digits);
    }
}

static void parse_target_directive(ptx_parser *p)
{
    const char *text = NULL;
    ptx_next(&p->lex);
    do {
        if (p->lex.tok.kind != TOK_NAME) {
            ptx_fail(p, "a target is written like sm_80");
            return;
        }
        const char *word = ptx_tok_text(p);
        note_target(p->module, word);
        text = wl_arena_printf(p->arena, "%s%s%s", text ? text : "", text ? ", " : "", word);
        ptx_next(&p->lex);
    } while (ptx_accept(&p->lex, ','));
    if (!p->module->written->target)
        p->module->written->target = text;
    else
        push_item(p, PTX_ITEM_DIRECTIVE, 0, wl_arena_printf(p->arena, ".target %s", text));
}

/* --- Sections --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Where the text of a section's line ends: at a comment, the closing brace or the end of the line.
 */
static const char *section_line_end(const ptx_parser *p, const char *at)
{
    bool quoted = false;
    for (; at < p->lex.end && *at != '\n'; at++)
        if (*at == '"')
            quoted = !quoted;
        else if (quoted && *at == '\\' && at + 1 < p->lex.end && at[1] != '\n')
            at++;
        else if (!quoted && (*at == '}' || (at[0] == '/' && at[1] == '/')))
            break;
    return at;
}

typedef wl_vec(const char *) line_list;

static void push_section_line(ptx_parser *p, line_list *lines, const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    if (from == to)
        return;
    const char *copy = ptx_keep_text(p, from, (size_t)(to - from));
    (void)ptx_push(p, lines, copy);
}

/* From after the opening brace to after the closing one. */
static void parse_section_lines(ptx_parser *p, line_list *lines)
{
    const char *at = p->lex.at;
    while (!p->lex.failed) {
        const char *end = section_line_end(p, at);
        push_section_line(p, lines, at, end);
        if (end < p->lex.end && *end == '/') {
            const char *next = memchr(end, '\n', (size_t)(p->lex.end - end));
            end = next ? next : p->lex.end;
        }
        if (end >= p->lex.end) {
            ptx_fail_at(&p->lex, ptx_tok_pos(&p->lex), WL_TRUNCATED, NULL,
                        "this section is not closed");
            return;
        }
        at = end + 1;
        if (*end == '}')
            break;
        p->lex.line++;
        p->lex.line_start = at;
    }
    p->lex.at = at;
}

static void parse_section(ptx_parser *p)
{
    line_list lines = {0};
    ptx_section section = {0};
    ptx_next(&p->lex);
    if (p->lex.tok.kind != TOK_DOT && p->lex.tok.kind != TOK_NAME)
        ptx_fail(p, "expected the name of the section");
    const char *from = p->lex.tok.kind == TOK_DOT ? p->lex.tok.text - 1 : p->lex.tok.text;
    while (p->lex.tok.kind == TOK_DOT || p->lex.tok.kind == TOK_NAME)
        ptx_next(&p->lex);
    const char *to = p->lex.tok.text;
    while (to > from && (is_blank(to[-1]) || to[-1] == '\n'))
        to--;
    if (ptx_is(&p->lex, '{')) {
        section.name = ptx_keep_text(p, from, (size_t)(to - from));
        parse_section_lines(p, &lines);
        ptx_next(&p->lex);
    } else {
        ptx_fail(p, "expected '{' after the name of the section");
    }
    ptx_take(p, &lines, section.lines, section.nlines);
    wl_vec_free(&lines);
    size_t index = p->sections.count;
    if (ptx_push(p, &p->sections, section))
        push_item(p, PTX_ITEM_SECTION, index, NULL);
}

/* --- .alias, declarations --- */

static ptx_name *parse_alias_name(ptx_parser *p)
{
    ptx_name *name = p->lex.tok.kind == TOK_NAME ? ptx_name_tok(p) : NULL;
    if (!name || !name->func)
        ptx_fail(p, "expected the name of a function that is declared above");
    ptx_next(&p->lex);
    return name;
}

static void parse_alias(ptx_parser *p)
{
    ptx_next(&p->lex);
    ptx_name *alias = parse_alias_name(p);
    ptx_expect(&p->lex, ',', "between the names");
    ptx_name *target = p->lex.failed ? NULL : parse_alias_name(p);
    ptx_expect(&p->lex, ';', "at the end of the directive");
    if (p->lex.failed || !alias || !target)
        return;
    alias->func->alias = target->func;
    push_item(p, PTX_ITEM_ALIAS, 0, wl_arena_printf(p->arena, "%s, %s", alias->text, target->text));
}

static ir_linkage parse_linkage(ptx_parser *p)
{
    static const struct {
        const char *text;
        ir_linkage linkage;
    } linkages[] = {{"visible", IR_LINK_VISIBLE},
                    {"extern", IR_LINK_EXTERN},
                    {"weak", IR_LINK_WEAK},
                    {"common", IR_LINK_COMMON}};
    for (unsigned i = 0; i < sizeof linkages / sizeof *linkages; i++)
        if (ptx_accept_dot(&p->lex, linkages[i].text))
            return linkages[i].linkage;
    return IR_LINK_NONE;
}

static void parse_declaration(ptx_parser *p)
{
    ir_linkage linkage = parse_linkage(p);
    if (ptx_is_dot(&p->lex, "func") || ptx_is_dot(&p->lex, "entry")) {
        ptx_parse_func(p, linkage);
    } else if (ptx_at_var(p)) {
        ptx_parse_vars(p, linkage);
    } else {
        char found[64];
        ptx_describe(&p->lex, found, sizeof found);
        ptx_fail(p,
                 linkage ? "expected a function or a variable, found %s" : "unknown directive %s",
                 found);
    }
}

static void parse_address_size(ptx_parser *p)
{
    ptx_next(&p->lex);
    p->module->address_size = (uint32_t)ptx_parse_count(p, "the size of an address", 64);
}

static void parse_dwarf_line(ptx_parser *p)
{
    size_t length;
    const char *text = ptx_rest_of_line(&p->lex, &length);
    push_item(p, PTX_ITEM_DIRECTIVE, 0, ptx_keep_text(p, text, length));
    ptx_next(&p->lex);
}

static void parse_item(ptx_parser *p)
{
    if (ptx_is(&p->lex, '@') && ptx_at_dwarf(p)) {
        parse_dwarf_line(p);
    } else if (p->lex.tok.kind != TOK_DOT) {
        char found[64];
        ptx_describe(&p->lex, found, sizeof found);
        ptx_fail(p, "expected a directive, found %s", found);
    } else if (ptx_is_dot(&p->lex, "version")) {
        parse_version(p);
    } else if (ptx_is_dot(&p->lex, "target")) {
        parse_target_directive(p);
    } else if (ptx_is_dot(&p->lex, "address_size")) {
        parse_address_size(p);
    } else if (ptx_is_dot(&p->lex, "file")) {
        ptx_parse_file(p);
    } else if (ptx_is_dot(&p->lex, "section")) {
        parse_section(p);
    } else if (ptx_accept_dot(&p->lex, "pragma")) {
        push_item(p, PTX_ITEM_PRAGMA, 0, ptx_parse_pragma(p));
    } else if (ptx_is_dot(&p->lex, "alias")) {
        parse_alias(p);
    } else {
        parse_declaration(p);
    }
}

/* --- The whole --- */

static void parse_items(ptx_parser *p)
{
    ptx_next(&p->lex);
    if (!p->lex.failed && !ptx_is_dot(&p->lex, "version"))
        ptx_fail(p, "PTX starts with .version");
    while (p->lex.tok.kind != TOK_EOF && !p->lex.failed)
        parse_item(p);
    if (!p->lex.failed && !p->module->written->target)
        ptx_fail(p, "this module lacks a .target");
    ptx_resolve_module(p);
}

static void finish_module(ptx_parser *p)
{
    ir_module *m = p->module;
    ptx_take(p, &p->vars, m->vars, m->nvars);
    ptx_take(p, &p->funcs, m->funcs, m->nfuncs);
    ptx_take(p, &p->files, m->files, m->nfiles);
    ptx_take(p, &p->locs, m->locs, m->nlocs);
    ptx_take(p, &p->sections, m->written->sections, m->written->nsections);
    ptx_take(p, &p->items, m->written->items, m->written->nitems);
}

static void free_parser(ptx_parser *p)
{
    wl_vec_free(&p->levels);
    wl_vec_free(&p->pending);
    wl_vec_free(&p->vars);
    wl_vec_free(&p->funcs);
    wl_vec_free(&p->files);
    wl_vec_free(&p->locs);
    wl_vec_free(&p->sections);
    wl_vec_free(&p->items);
    wl_vec_free(&p->loc_table);
    wl_vec_free(&p->regs);
    wl_vec_free(&p->regdecls);
    wl_vec_free(&p->func_vars);
    wl_vec_free(&p->labels);
    wl_vec_free(&p->scopes);
    wl_vec_free(&p->insns);
    wl_vec_free(&p->stmts);
    wl_vec_free(&p->operands);
    wl_vec_free(&p->inits);
    free(p->names);
    wl_arena_free(p->scratch);
}

static bool starts_like_ptx(const void *bytes, size_t length)
{
    ptx_lexer x = ptx_lexer_of(bytes, length, NULL, NULL);
    ptx_next(&x);
    return ptx_is_dot(&x, "version");
}

const ir_front ptx_front = {.name = "PTX",
                            .recognises = starts_like_ptx,
                            .read = ptx_parse,
                            .insn_text = ptx_print_insn,
                            .inlined_from = ptx_inlined_from};

static ir_module *new_written_module(void)
{
    ir_module *m = ir_module_new();
    if (m && !(m->written = wl_new(m->arena, ptx_written_module))) {
        ir_module_free(m);
        return NULL;
    }
    if (m)
        m->front = &ptx_front;
    return m;
}

wl_status ptx_parse(const char *text, size_t length, const char *name, ir_module **out,
                    wl_error *err)
{
    *out = NULL;
    if (length > UINT32_MAX)
        return wl_fail(err, WL_LIMIT, "%s: PTX of more than 4 GiB", name ? name : "ptx");
    ir_module *m = new_written_module();
    wl_arena *scratch = wl_arena_new();
    if (!m || !scratch) {
        ir_module_free(m);
        wl_arena_free(scratch);
        return wl_fail(err, WL_NOMEM, "%s: out of memory", name ? name : "ptx");
    }
    ptx_parser p = {.lex = ptx_lexer_of(text, length, name, err),
                    .module = m,
                    .arena = m->arena,
                    .scratch = scratch,
                    .loc = IR_NONE,
                    .regs_left = PTX_FREE_REGISTERS + length,
                    .vars_left = PTX_FREE_VARS};
    parse_items(&p);
    finish_module(&p);
    free_parser(&p);
    if (p.lex.failed) {
        ir_module_free(m);
        return p.lex.status;
    }
    *out = m;
    return WL_OK;
}
