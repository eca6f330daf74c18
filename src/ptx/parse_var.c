/* Declarations of variables and parameters, and initialisers. */
#include "ptx/internal.h"

#include <stdio.h>

/* The state space that the current token names for a declaration; GENERIC where it names none. */
static ir_space declared_space(const ptx_parser *p)
{
    if (p->lex.tok.kind != TOK_DOT)
        return IR_SPACE_GENERIC;
    if (ptx_is_dot(&p->lex, "reg"))
        return IR_SPACE_REG;
    if (ptx_is_dot(&p->lex, "tex"))
        return IR_SPACE_TEX;
    ir_suffix suffix = ir_find_suffix(p->lex.tok.text, p->lex.tok.length, p->lex.tok.hash);
    ir_space space = ir_space_of_suffix(suffix);
    return memchr(p->lex.tok.text, ':', p->lex.tok.length) ? IR_SPACE_GENERIC : space;
}

bool ptx_at_var(const ptx_parser *p)
{
    return declared_space(p) != IR_SPACE_GENERIC;
}

/* .b32 */
static ir_type parse_var_type(ptx_parser *p)
{
    ir_suffix s = p->lex.tok.kind == TOK_DOT
                      ? ir_find_suffix(p->lex.tok.text, p->lex.tok.length, p->lex.tok.hash)
                      : IR_S_none;
    if (!s || ir_suffix_class_of(s) != IR_SC_TYPE) {
        char found[64];
        ptx_describe(&p->lex, found, sizeof found);
        ptx_fail(p, "expected a type, found %s", found);
        return IR_T_none;
    }
    ptx_next(&p->lex);
    return (ir_type)s;
}

/* The types of variables and registers; the others only stand in instructions. */
static bool is_declarable(ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    if (type == IR_T_pred || type == IR_T_f16x2)
        return true;
    return t->lanes == 1 && t->bits >= 8 && (t->kind <= IR_KIND_F || t->kind == IR_KIND_B);
}

static ir_type parse_declared_type(ptx_parser *p)
{
    ir_pos pos = ptx_tok_pos(&p->lex);
    ir_type type = parse_var_type(p);
    if (type != IR_T_none && !is_declarable(type) && !p->lex.failed)
        ptx_fail_pos(p, pos, "nothing can be declared as .%s", ir_type_get(type)->text);
    return type;
}

/* .v2 .v4 .v8, or 1 */
static uint8_t parse_vector_width(ptx_parser *p)
{
    static const struct {
        const char *text;
        uint8_t lanes;
    } vectors[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (ptx_accept_dot(&p->lex, vectors[i].text))
            return vectors[i].lanes;
    return 1;
}

static uint32_t parse_align(ptx_parser *p)
{
    ir_pos pos = ptx_tok_pos(&p->lex);
    uint64_t align = ptx_parse_count(p, "an alignment", 1u << 20);
    if (!p->lex.failed && (align == 0 || (align & (align - 1))))
        ptx_fail_pos(p, pos, "an alignment is a power of two");
    return (uint32_t)align;
}

/* (.managed, .unified(1, 2)) */
void ptx_parse_attribute(ptx_parser *p, uint64_t *attributes, uint64_t unified[2])
{
    ptx_expect(&p->lex, '(', "after .attribute");
    do {
        if (ptx_accept_dot(&p->lex, "managed")) {
            *attributes |= 1;
        } else if (ptx_accept_dot(&p->lex, "unified")) {
            *attributes |= 2;
            ptx_expect(&p->lex, '(', "after .unified");
            unified[0] = ptx_parse_const(p).bits;
            ptx_expect(&p->lex, ',', "between the halves of the identifier");
            unified[1] = ptx_parse_const(p).bits;
            ptx_expect(&p->lex, ')', "after the identifier");
        } else {
            ptx_fail(p, "unknown attribute");
        }
    } while (ptx_accept(&p->lex, ','));
    ptx_expect(&p->lex, ')', "at the end of the attributes");
}

/* .ptr [space] [.align n], after the type of a kernel's parameter */
static void parse_ptr(ptx_parser *p, ir_var *var)
{
    var->is_ptr = true;
    ir_space space = declared_space(p);
    if (space != IR_SPACE_GENERIC) {
        var->ptr_space = space;
        ptx_next(&p->lex);
    }
    if (ptx_accept_dot(&p->lex, "align"))
        var->ptr_align = parse_align(p);
}

static const char *opaque_type(const ptx_parser *p)
{
    static const char *const names[] = {"texref", "samplerref", "surfref"};
    for (unsigned i = 0; i < 3; i++)
        if (ptx_is_dot(&p->lex, names[i]))
            return names[i];
    return NULL;
}

/* Everything between the state space and the name. */
static void parse_qualifiers(ptx_parser *p, ir_var *var)
{
    while (p->lex.tok.kind == TOK_DOT && var->type == IR_T_none && !var->opaque) {
        if (ptx_accept_dot(&p->lex, "align")) {
            var->align = parse_align(p);
        } else if (ptx_accept_dot(&p->lex, "attribute")) {
            ptx_parse_attribute(p, &var->attributes, var->unified);
        } else if ((var->opaque = opaque_type(p)) != NULL) {
            ptx_next(&p->lex);
        } else {
            uint8_t lanes = parse_vector_width(p);
            if (lanes > 1)
                var->vector = lanes;
            else
                var->type = parse_declared_type(p);
        }
    }
    if (ptx_accept_dot(&p->lex, "ptr"))
        parse_ptr(p, var);
    if (!p->lex.failed && var->type == IR_T_none && !var->opaque)
        ptx_fail(p, "this declaration lacks a type");
}

static void parse_dims(ptx_parser *p, ir_var *var)
{
    uint64_t dims[PTX_MAX_DIMS] = {0};
    while (ptx_accept(&p->lex, '[')) {
        if (var->ndims == PTX_MAX_DIMS) {
            ptx_fail(p, "an array has at most %d dimensions", PTX_MAX_DIMS);
            return;
        }
        dims[var->ndims++] = ptx_is(&p->lex, ']')
                                 ? 0
                                 : ptx_parse_count(p, "an array's size", PTX_MAX_VAR_BYTES);
        ptx_expect(&p->lex, ']', "after the array's size");
    }
    var->dims = ptx_keep(p, dims, var->ndims, sizeof *dims);
    uint64_t size = (uint64_t)ir_type_get(var->type)->bytes * var->vector;
    for (uint32_t i = 0; i < var->ndims && !p->lex.failed; i++)
        if (dims[i] && (__builtin_mul_overflow(size, dims[i], &size) || size > PTX_MAX_VAR_BYTES))
            ptx_fail_at(&p->lex, var->pos, WL_LIMIT, NULL, "'%.60s' is too large", var->name);
}

/* --- Initialisers --- */

static void parse_init(ptx_parser *p, ir_init *init);

static void settle_init(ptx_parser *p, ir_init *init, ir_pos pos)
{
    if (init->kind == IR_INIT_ADDRESS && init->sym.kind == SYM_UNRESOLVED)
        ptx_defer(p, (ptx_pending){.name = (ptx_name *)(void *)init->sym.var,
                                   .symbol = &init->sym,
                                   .pos = pos});
}

static void pop_inits(ptx_parser *p, ir_init *list, size_t base, ir_pos pos)
{
    size_t n = p->inits.count - base;
    list->items = n ? ptx_keep(p, p->inits.data + base, n, sizeof *list->items) : NULL;
    list->count = list->items ? (uint32_t)n : 0;
    p->inits.count = base;
    for (uint32_t i = 0; i < list->count; i++)
        settle_init(p, &list->items[i], pos);
}

static void push_init(ptx_parser *p)
{
    ir_init item = {0};
    parse_init(p, &item);
    (void)ptx_push(p, &p->inits, item);
}

static void parse_init_list(ptx_parser *p, ir_init *init)
{
    ir_pos pos = ptx_tok_pos(&p->lex);
    size_t base = p->inits.count;
    init->kind = IR_INIT_LIST;
    ptx_next(&p->lex);
    if (p->nesting++ >= PTX_MAX_NESTING)
        ptx_fail_at(&p->lex, pos, WL_LIMIT, NULL, "an initialiser is nested more than %d deep",
                    PTX_MAX_NESTING);
    if (!ptx_is(&p->lex, '}'))
        do
            push_init(p);
        while (ptx_accept(&p->lex, ','));
    p->nesting--;
    ptx_expect(&p->lex, '}', "at the end of the initialiser");
    pop_inits(p, init, base, pos);
}

static void parse_addend(ptx_parser *p, ir_init *init)
{
    bool minus;
    ptx_value v;
    if (ptx_parse_addend(p, "what is added to an address is an integer", &v, &minus))
        init->bits += minus ? 0 - v.bits : v.bits;
}

/* sym, sym + n, generic(sym) + n */
static void parse_init_address(ptx_parser *p, ir_init *init)
{
    init->kind = IR_INIT_ADDRESS;
    if (ptx_is_word(&p->lex, "generic")) {
        ptx_next(&p->lex);
        init->generic = true;
        ptx_expect(&p->lex, '(', "after 'generic'");
    }
    if (p->lex.tok.kind != TOK_NAME) {
        ptx_fail(p, "expected the name of a variable or function");
        return;
    }
    init->sym.kind = SYM_UNRESOLVED;
    init->sym.var = (ir_var *)(void *)ptx_name_tok(p);
    ptx_next(&p->lex);
    if (init->generic) {
        parse_addend(p, init);
        ptx_expect(&p->lex, ')', "after the symbol");
    }
    parse_addend(p, init);
}

static bool is_mask(uint64_t value, uint8_t *index)
{
    for (unsigned i = 0; i < 8; i++)
        if (value == 0xffull << (8 * i)) {
            *index = (uint8_t)(i + 1);
            return true;
        }
    return false;
}

/* 0xFF00(sym): a byte of an address. */
static void parse_masked(ptx_parser *p, ir_init *init, uint64_t mask)
{
    if (!is_mask(mask, &init->mask))
        ptx_fail(p, "a mask of an address selects one byte: 0xFF, 0xFF00, ...");
    ptx_expect(&p->lex, '(', "after the mask");
    parse_init_address(p, init);
    ptx_expect(&p->lex, ')', "after the masked address");
}

/* name = value */
static void parse_field(ptx_parser *p, ir_init *init)
{
    init->kind = IR_INIT_FIELD;
    init->name = ptx_tok_text(p);
    ptx_next(&p->lex);
    ptx_next(&p->lex);
    size_t base = p->inits.count;
    ir_pos pos = ptx_tok_pos(&p->lex);
    if (p->lex.tok.kind == TOK_NAME) {
        ir_init word = {.kind = IR_INIT_WORD, .name = ptx_tok_text(p)};
        (void)ptx_push(p, &p->inits, word);
        ptx_next(&p->lex);
    } else {
        push_init(p);
    }
    pop_inits(p, init, base, pos);
}

/* The character after the current token, blanks left out. */
static char next_char(const ptx_parser *p)
{
    const char *at = p->lex.at;
    while (*at == ' ' || *at == '\t')
        at++;
    return *at;
}

static void parse_init(ptx_parser *p, ir_init *init)
{
    if (ptx_is(&p->lex, '{')) {
        parse_init_list(p, init);
    } else if (p->lex.tok.kind == TOK_NAME && !ptx_is_word(&p->lex, "WARP_SZ")) {
        if (next_char(p) == '=')
            parse_field(p, init);
        else
            parse_init_address(p, init);
    } else if (p->lex.tok.kind == TOK_INT && next_char(p) == '(') {
        uint64_t mask = p->lex.tok.value;
        ptx_next(&p->lex);
        parse_masked(p, init, mask);
    } else {
        ptx_value v = ptx_parse_const(p);
        init->kind = v.kind == PTX_VALUE_INT   ? IR_INIT_INT
                     : v.kind == PTX_VALUE_F32 ? IR_INIT_F32
                                               : IR_INIT_F64;
        init->bits = v.bits;
    }
}

/* --- Declarations --- */

static ir_var *new_var(ptx_parser *p, const ir_var *template, const char *name, ir_pos pos)
{
    ir_var *var = ptx_keep(p, template, 1, sizeof *var);
    if (!var)
        return NULL;
    var->name = name;
    var->pos = pos;
    var->func = p->func;
    var->scope = p->func && p->levels.count ? p->levels.data[p->levels.count - 1].scope : 0;
    return var;
}

static bool redeclares(const ptx_binding *b)
{
    return b->kind == PTX_BIND_VAR && b->depth == 0 &&
           (b->var->linkage == IR_LINK_EXTERN || b->var->linkage == IR_LINK_COMMON ||
            b->var->linkage == IR_LINK_WEAK);
}

static void bind_var(ptx_parser *p, ptx_name *name, ir_var *var)
{
    ptx_binding b;
    if (!p->func && name && ptx_lookup(name, &b) && redeclares(&b)) {
        if (name->binding->var->linkage == IR_LINK_EXTERN)
            name->binding->var = var;
        return;
    }
    if (!p->func && name && name->func && !p->lex.failed)
        ptx_fail_pos(p, var->pos, "'%.60s' is already declared as a function", name->text);
    ptx_bind(p, name, var->pos, (ptx_binding){.kind = PTX_BIND_VAR, .var = var});
}

static void declare_var(ptx_parser *p, ptx_name *name, ir_var *var)
{
    if (!name || !var)
        return;
    bind_var(p, name, var);
    if (p->func) {
        uint32_t index = (uint32_t)p->func_vars.count;
        if (ptx_push(p, &p->func_vars, var))
            (void)ptx_push(p, &p->stmts, (ptx_stmt){.kind = PTX_STMT_VAR, .index = index});
    } else {
        uint32_t index = (uint32_t)p->vars.count;
        if (ptx_push(p, &p->vars, var))
            (void)ptx_push(p, &p->items, (ptx_item){.kind = PTX_ITEM_VAR, .index = index});
    }
}

/* x<4> stands for x0, x1, x2, x3. */
static void add_numbered_vars(ptx_parser *p, const ir_var *template, const char *stem, ir_pos pos)
{
    uint64_t n = ptx_parse_angle_count(p, "the number of variables", p->vars_left);
    p->vars_left -= p->lex.failed ? 0 : n;
    for (uint64_t i = 0; i < n && !p->lex.failed; i++) {
        char text[PTX_MAX_STEM + 24];
        int length = snprintf(text, sizeof text, "%.*s%llu", PTX_MAX_STEM, stem,
                              (unsigned long long)i);
        ptx_name *name = ptx_name_of(p, text, (size_t)length, ir_hash(text, (size_t)length));
        declare_var(p, name, name ? new_var(p, template, name->text, pos) : NULL);
    }
}

static void parse_declarator(ptx_parser *p, const ir_var *template)
{
    ir_pos pos = ptx_tok_pos(&p->lex);
    if (p->lex.tok.kind != TOK_NAME) {
        char found[64];
        ptx_describe(&p->lex, found, sizeof found);
        ptx_fail(p, "expected the name of a variable, found %s", found);
        return;
    }
    ptx_name *name = ptx_name_tok(p);
    ptx_next(&p->lex);
    if (!name || p->lex.failed)
        return;
    if (ptx_accept(&p->lex, '<')) {
        add_numbered_vars(p, template, name->text, pos);
        return;
    }
    ir_var *var = new_var(p, template, name->text, pos);
    if (!var)
        return;
    parse_dims(p, var);
    declare_var(p, name, var);
    if (ptx_accept(&p->lex, '=')) {
        var->has_init = true;
        parse_init(p, &var->init);
        settle_init(p, &var->init, pos);
    }
}

/* --- Registers --- */

static bool take_registers(ptx_parser *p, uint64_t n, ir_pos pos)
{
    if (n > p->regs_left) {
        ptx_fail_at(&p->lex, pos, WL_LIMIT, NULL,
                    "too many registers are declared for the size of this module");
        return false;
    }
    p->regs_left -= n;
    return true;
}

static uint32_t scope_here(const ptx_parser *p)
{
    return p->levels.data[p->levels.count - 1].scope;
}

/* The names stem0, stem1, ... in one block. */
static char *numbered_names(ptx_parser *p, const ptx_name *stem, uint64_t n, size_t *stride)
{
    int digits = snprintf(NULL, 0, "%llu", (unsigned long long)(n ? n - 1 : 0));
    *stride = stem->length + (size_t)digits + 1;
    char *block = wl_arena_array(p->arena, n ? n : 1, *stride);
    if (!block) {
        ptx_fail_memory(&p->lex);
        return NULL;
    }
    for (uint64_t i = 0; i < n; i++) {
        char *at = block + i * *stride + stem->length;
        char reversed[20];
        int k = 0;
        for (uint64_t v = i; k == 0 || v; v /= 10)
            reversed[k++] = (char)('0' + v % 10);
        memcpy(block + i * *stride, stem->text, stem->length);
        while (k)
            *at++ = reversed[--k];
    }
    return block;
}

static void bind_numbered(ptx_parser *p, ptx_name *stem, ir_pos pos, uint32_t first, uint32_t n)
{
    char last = stem->text[stem->length - 1];
    if (last < '0' || last > '9') {
        ptx_bind_family(p, stem, pos, first, n);
        return;
    }
    for (uint32_t i = 0; i < n && !p->lex.failed;
         i++) { /* %a1<2>: the final number of %a10 is not the index */
        const char *text = p->regs.data[first + i].name;
        ptx_name *name = ptx_name_of(p, text, strlen(text), ir_hash(text, strlen(text)));
        ptx_bind(p, name, pos, (ptx_binding){.kind = PTX_BIND_REG, .index = first + i});
    }
}

static void add_numbered_regs(ptx_parser *p, const ir_var *template, ptx_name *stem, ir_pos pos)
{
    uint64_t n = ptx_parse_angle_count(p, "the number of registers", UINT32_MAX);
    size_t stride;
    if (stem->length > PTX_MAX_STEM)
        ptx_fail_at(&p->lex, pos, WL_LIMIT, NULL,
                    "this register's name is too long to be numbered");
    if (p->lex.failed || !take_registers(p, n, pos))
        return;
    char *names = numbered_names(p, stem, n, &stride);
    if (!names || !wl_reserve(&p->regs, n)) {
        ptx_fail_memory(&p->lex);
        return;
    }
    ptx_regdecl decl = {.type = template->type,
                        .vector = template->vector,
                        .first = (uint32_t)p->regs.count,
                        .count = (uint32_t)n,
                        .prefix = stem->text,
                        .n = (uint32_t)n};
    ir_reg reg = {.type = template->type, .vector = template->vector, .scope = scope_here(p)};
    for (uint64_t i = 0; i < n; i++) {
        reg.name = names + i * stride;
        p->regs.data[p->regs.count++] = reg;
    }
    bind_numbered(p, stem, pos, decl.first, decl.n);
    (void)ptx_push(p, &p->regdecls, decl);
}

static void add_reg(ptx_parser *p, const ir_var *template, ptx_name *name, ir_pos pos)
{
    if (!take_registers(p, 1, pos))
        return;
    uint32_t index = (uint32_t)p->regs.count;
    ir_reg reg = {.name = name->text,
                  .type = template->type,
                  .vector = template->vector,
                  .scope = scope_here(p)};
    if (ptx_push(p, &p->regs, reg))
        ptx_bind(p, name, pos, (ptx_binding){.kind = PTX_BIND_REG, .index = index});
}

/* A run of single names is one declaration, a numbered family another one. */
static void push_regdecl(ptx_parser *p, const ir_var *template, uint32_t first)
{
    uint32_t count = (uint32_t)p->regs.count - first;
    if (count)
        (void)ptx_push(p, &p->regdecls,
                       (ptx_regdecl){.type = template->type,
                                     .vector = template->vector,
                                     .first = first,
                                     .count = count});
}

static void push_regs_stmts(ptx_parser *p, size_t from)
{
    for (size_t i = from; i < p->regdecls.count && !p->lex.failed; i++)
        (void)ptx_push(p, &p->stmts, (ptx_stmt){.kind = PTX_STMT_REGS, .index = (uint32_t)i});
}

static void parse_regs(ptx_parser *p, const ir_var *template)
{
    size_t first_decl = p->regdecls.count;
    uint32_t first = (uint32_t)p->regs.count;
    do {
        ir_pos pos = ptx_tok_pos(&p->lex);
        ptx_name *name = p->lex.tok.kind == TOK_NAME ? ptx_name_tok(p) : NULL;
        if (!name) {
            ptx_fail(p, "expected the name of a register");
            return;
        }
        ptx_next(&p->lex);
        if (ptx_accept(&p->lex, '<')) {
            push_regdecl(p, template, first);
            add_numbered_regs(p, template, name, pos);
            first = (uint32_t)p->regs.count;
        } else {
            add_reg(p, template, name, pos);
        }
    } while (ptx_accept(&p->lex, ','));
    push_regdecl(p, template, first);
    push_regs_stmts(p, first_decl);
}

void ptx_parse_vars(ptx_parser *p, ir_linkage linkage)
{
    ir_var template = {.linkage = linkage, .space = declared_space(p), .vector = 1};
    if (template.space == IR_SPACE_REG && !p->func)
        ptx_fail(p, "registers are declared inside functions");
    ptx_next(&p->lex);
    parse_qualifiers(p, &template);
    if (template.space == IR_SPACE_REG)
        parse_regs(p, &template);
    else
        do
            parse_declarator(p, &template);
        while (ptx_accept(&p->lex, ','));
    ptx_expect(&p->lex, ';', "at the end of the declaration");
}

/* --- Parameters --- */

static void bind_param(ptx_parser *p, ptx_name *name, ir_var *var)
{
    if (var->space != IR_SPACE_REG) {
        bind_var(p, name, var);
        return;
    }
    uint32_t index = (uint32_t)p->regs.count;
    ir_reg reg = {.name = name->text, .type = var->type, .vector = var->vector};
    if (take_registers(p, 1, var->pos) && ptx_push(p, &p->regs, reg))
        ptx_bind(p, name, var->pos, (ptx_binding){.kind = PTX_BIND_REG, .index = index});
}

ir_var *ptx_parse_param(ptx_parser *p, bool bind)
{
    ir_var template = {.space = declared_space(p), .vector = 1};
    if (template.space != IR_SPACE_PARAM && template.space != IR_SPACE_REG) {
        ptx_fail(p, "a parameter starts with .param or .reg");
        return NULL;
    }
    ptx_next(&p->lex);
    parse_qualifiers(p, &template);
    ir_pos pos = ptx_tok_pos(&p->lex);
    ptx_name *name = p->lex.tok.kind == TOK_NAME ? ptx_name_tok(p) : NULL;
    if (!name) {
        ptx_fail(p, "expected the name of the parameter");
        return NULL;
    }
    ptx_next(&p->lex);
    ir_var *var = p->lex.failed ? NULL : new_var(p, &template, name->text, pos);
    if (!var)
        return NULL;
    parse_dims(p, var);
    if (bind)
        bind_param(p, name, var);
    return var;
}
