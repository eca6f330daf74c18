/* Instructions: guard, opcode, suffixes, operands. The operands' syntax does not depend on the
 * opcode, with one exception: after `call` a parenthesis opens a list. */
#include "ptx/internal.h"

#include <stdio.h>

static ir_operand parse_operand(ptx_parser *p, ir_op op);

static ir_operand new_operand(const ptx_parser *p, ir_operand_kind kind)
{
    return (ir_operand){
        .kind = kind, .reg = IR_NONE, .label = IR_NONE, .pos = ptx_tok_pos(&p->lex)};
}

static ir_operand fail_operand(ptx_parser *p)
{
    char found[64];
    ptx_describe(&p->lex, found, sizeof found);
    ptx_fail(p, "expected an operand, found %s", found);
    return new_operand(p, IR_OPD_SINK);
}

/* --- Lists of operands --- */

static void defer_unresolved(ptx_parser *p, ir_operand *o)
{
    if (o->kind == KIND_UNRESOLVED)
        ptx_defer(p,
                  (ptx_pending){.name = (ptx_name *)(void *)o->items, .operand = o, .pos = o->pos});
    else if (o->has_sym && o->sym.kind == SYM_UNRESOLVED)
        ptx_defer(p, (ptx_pending){
                         .name = (ptx_name *)(void *)o->sym.var, .symbol = &o->sym, .pos = o->pos});
}

/* Moves what stands on the stack above `base` to the module. */
static ir_operand *pop_operands(ptx_parser *p, size_t base, uint32_t *count)
{
    size_t n = p->operands.count - base;
    ir_operand *items = n ? ptx_keep(p, p->operands.data + base, n, sizeof *items) : NULL;
    p->operands.count = base;
    *count = items ? (uint32_t)n : 0;
    for (uint32_t i = 0; i < *count; i++)
        defer_unresolved(p, &items[i]);
    return items;
}

static void push_operand(ptx_parser *p, ir_operand o)
{
    (void)ptx_push(p, &p->operands, o);
}

static void enter_brackets(ptx_parser *p)
{
    if (p->nesting++ >= PTX_MAX_NESTING)
        ptx_fail_at(&p->lex, ptx_tok_pos(&p->lex), WL_LIMIT, NULL,
                    "brackets are nested more than %d deep", PTX_MAX_NESTING);
    ptx_next(&p->lex);
}

/* {a, b} or (a, b), from the opening bracket on; (...) may be empty. */
static ir_operand parse_list(ptx_parser *p, ir_op op, ir_operand_kind kind, char close)
{
    ir_operand o = new_operand(p, kind);
    size_t base = p->operands.count;
    enter_brackets(p);
    if (!(kind == IR_OPD_LIST && ptx_is(&p->lex, ')')))
        do
            push_operand(p, parse_operand(p, op));
        while (ptx_accept(&p->lex, ','));
    p->nesting--;
    ptx_expect(&p->lex, (unsigned char)close,
               kind == IR_OPD_LIST ? "at the end of the arguments" : "at the end of the vector");
    o.items = pop_operands(p, base, &o.count);
    return o;
}

/* --- Constants --- */

static ir_operand constant(ptx_parser *p)
{
    ir_operand o = new_operand(p, IR_OPD_INT);
    ptx_value v = ptx_parse_const(p);
    if (v.kind != PTX_VALUE_INT)
        o.kind = v.kind == PTX_VALUE_F32 ? IR_OPD_F32 : IR_OPD_F64;
    o.imm = v.bits;
    o.imm_unsigned = v.kind == PTX_VALUE_INT && v.is_unsigned;
    o.imm_hex = v.kind == PTX_VALUE_INT && v.hex;
    return o;
}

/* --- Names --- */

static bool is_digits(const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return length > 0;
}

/* .x .y .z .w, .r .g .b .a, .b0 .h1, and the selectors of the SIMD video instructions. */
static void parse_component(ptx_parser *p, ir_operand *o)
{
    static const char letters[] = "xyzwrgba";
    const char *t = p->lex.tok.text;
    uint32_t n = p->lex.tok.length;
    const char *letter = n == 1 ? memchr(letters, *t, 8) : NULL;
    if (letter)
        o->component = (uint8_t)((letter - letters) % 4 + 1);
    else if (n == 2 && (*t == 'b' || *t == 'h') && t[1] >= '0' && t[1] <= '7')
        o->component = (uint8_t)((*t == 'b' ? 8 : 16) + (t[1] - '0'));
    else if (n > 2 && n <= 5 && (*t == 'b' || *t == 'h') && is_digits(t + 1, n - 1))
        o->selector = ptx_tok_text(p);
    else
        ptx_fail(p, "a register has no component '.%.*s'", n < 20 ? (int)n : 20, t);
    ptx_next(&p->lex);
}

static ir_operand reg_operand(ptx_parser *p, uint32_t reg)
{
    ir_operand o = new_operand(p, IR_OPD_REG);
    o.reg = reg;
    ptx_next(&p->lex);
    if (p->lex.tok.kind == TOK_DOT)
        parse_component(p, &o);
    if (ptx_is(&p->lex, '+'))
        ptx_fail_at(&p->lex, ptx_tok_pos(&p->lex), WL_UNSUPPORTED,
                    "add by an instruction of its own",
                    "a register plus a number is only supported in addresses");
    return o;
}

static ir_operand sreg_operand(ptx_parser *p, const ptx_name *name)
{
    ir_operand o = new_operand(p, IR_OPD_SREG);
    o.sreg = name->sreg;
    o.sreg_index = name->sreg_index;
    ptx_next(&p->lex);
    if (p->lex.tok.kind != TOK_DOT)
        return o;
    if (!ir_sreg_get(o.sreg)->vector)
        ptx_fail(p, "%%%s has no components", ir_sreg_get(o.sreg)->text);
    parse_component(p, &o);
    return o;
}

/* x[3]: the address of an element. */
static void parse_index(ptx_parser *p, ir_operand *o, const ir_var *var)
{
    ptx_next(&p->lex);
    if (p->lex.tok.kind == TOK_NAME && !ptx_is_word(&p->lex, "WARP_SZ")) {
        ptx_fail_at(&p->lex, ptx_tok_pos(&p->lex), WL_UNSUPPORTED,
                    "compute the address in a register and use [register]",
                    "an index in a register is not supported");
        return;
    }
    o->imm = ptx_parse_count(p, "an index", UINT32_MAX) * ir_type_get(var->type)->bytes *
             var->vector;
    ptx_expect(&p->lex, ']', "after the index");
}

bool ptx_parse_addend(ptx_parser *p, const char *wrong, ptx_value *v, bool *minus)
{
    *minus = ptx_is(&p->lex, '-');
    if (!*minus && !ptx_is(&p->lex, '+'))
        return false;
    ptx_next(&p->lex);
    *v = ptx_parse_const(p);
    if (v->kind != PTX_VALUE_INT)
        ptx_fail(p, "%s", wrong);
    return true;
}

static void parse_offset(ptx_parser *p, ir_operand *o)
{
    bool minus;
    ptx_value v;
    if (!ptx_parse_addend(p, "the offset of an address is an integer", &v, &minus))
        return;
    o->imm = minus ? 0 - v.bits : v.bits;
    o->imm_hex = v.hex && !minus && v.bits != 0 && v.bits <= INT64_MAX;
    o->zero_offset = v.bits == 0;
}

static bool is_external(const ptx_binding *b)
{
    return b->depth == 0 && b->var->linkage == IR_LINK_EXTERN;
}

/* Sets the symbol that a name stands for, as far as it is known already. */
static void set_operand_symbol(ir_operand *o, ptx_name *name, const ptx_binding *b)
{
    o->has_sym = true;
    if (b && b->kind == PTX_BIND_VAR && !is_external(b))
        o->sym = (ir_symbol){.kind = IR_SYM_VAR, .var = b->var};
    else
        o->sym = (ir_symbol){.kind = SYM_UNRESOLVED, .var = (ir_var *)(void *)name};
}

static ir_operand var_operand(ptx_parser *p, ir_op op, ptx_name *name, const ptx_binding *b)
{
    ir_operand o = new_operand(p, IR_OPD_SYM);
    set_operand_symbol(&o, name, b);
    ptx_next(&p->lex);
    if (ptx_is(&p->lex, '[')) {
        parse_index(p, &o, b->var);
        if (ir_op_get(op)->effect != IR_EFFECT_NONE)
            o.kind = IR_OPD_ADDR;
    } else {
        parse_offset(p, &o);
    }
    return o;
}

static ir_operand forward_operand(ptx_parser *p, ptx_name *name)
{
    ir_operand o = new_operand(p, KIND_UNRESOLVED);
    o.items = (ir_operand *)(void *)name;
    ptx_next(&p->lex);
    if (ptx_is(&p->lex, '+') || ptx_is(&p->lex, '-')) {
        o.kind = IR_OPD_SYM;
        o.items = NULL;
        set_operand_symbol(&o, name, NULL);
        parse_offset(p, &o);
    }
    return o;
}

/* Registers are declared before they are used, so what looks like one and is not known will never
 * be. */
static ir_operand unknown_register(ptx_parser *p, const ptx_name *name)
{
    char hint[80] = "a register is declared with .reg before its first use";
    const char *near = ir_nearest(IR_VOC_SREGS, name->text + 1, name->length - 1);
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%%%s'?", near);
    ptx_fail_hint(p, hint, "unknown register '%.60s'", name->text);
    return new_operand(p, IR_OPD_SINK);
}

static ir_operand parse_name_operand(ptx_parser *p, ir_op op)
{
    ptx_binding b;
    ptx_name *name = ptx_name_tok(p);
    if (!name)
        return new_operand(p, IR_OPD_SINK);
    if (ptx_lookup(name, &b)) {
        if (b.kind == PTX_BIND_REG)
            return reg_operand(p, b.index);
        if (b.kind == PTX_BIND_VAR)
            return var_operand(p, op, name, &b);
        if (b.depth < ptx_depth(p)) /* a label of this scope that follows would come first */
            return forward_operand(p, name);
        ir_operand o = new_operand(p, IR_OPD_LABEL);
        o.label = b.index;
        ptx_next(&p->lex);
        return o;
    }
    if (name->sreg)
        return sreg_operand(p, name);
    if (name->length == 1 && name->text[0] == '_') {
        ir_operand o = new_operand(p, IR_OPD_SINK);
        ptx_next(&p->lex);
        return o;
    }
    return name->text[0] == '%' ? unknown_register(p, name) : forward_operand(p, name);
}

/* --- Addresses --- */

static void fail_base(ptx_parser *p, const ptx_name *name)
{
    if (name->sreg)
        ptx_fail(p, "the special register '%.40s' cannot be an address", name->text);
    else
        ptx_fail(p, "the label '%.40s' cannot be an address", name->text);
}

static void parse_base(ptx_parser *p, ir_operand *o)
{
    ptx_binding b;
    ptx_name *name = ptx_name_tok(p);
    if (!name)
        return;
    bool bound = ptx_lookup(name, &b);
    if (bound && b.kind == PTX_BIND_REG)
        o->reg = b.index;
    else if (!bound && !name->sreg && name->text[0] == '%')
        (void)unknown_register(p, name);
    else if ((bound && b.kind == PTX_BIND_LABEL) || (!bound && name->sreg))
        fail_base(p, name);
    else
        set_operand_symbol(o, name, bound ? &b : NULL);
    ptx_next(&p->lex);
    parse_offset(p, o);
}

/* What stands in the brackets as the first item of a list. */
static ir_operand operand_of_handle(const ir_operand *address)
{
    ir_operand o = *address;
    if (o.reg != IR_NONE && o.imm == 0 && !o.zero_offset)
        o.kind = IR_OPD_REG;
    else if (o.has_sym)
        o.kind = IR_OPD_SYM;
    return o;
}

/* [base + offset], or [texture, sampler, coordinates] */
static ir_operand parse_address(ptx_parser *p, ir_op op)
{
    ir_operand o = new_operand(p, IR_OPD_ADDR);
    enter_brackets(p);
    if (p->lex.tok.kind == TOK_NAME && !ptx_is_word(&p->lex, "WARP_SZ")) {
        parse_base(p, &o);
    } else {
        ir_operand c = constant(p);
        if (c.kind != IR_OPD_INT)
            ptx_fail_pos(p, c.pos, "an address is no floating-point number");
        o.imm = c.imm, o.imm_unsigned = c.imm_unsigned, o.imm_hex = c.imm_hex;
    }
    if (ptx_is(&p->lex, ',')) {
        size_t base = p->operands.count;
        push_operand(p, operand_of_handle(&o));
        while (ptx_accept(&p->lex, ','))
            push_operand(p, parse_operand(p, op));
        o = (ir_operand){.kind = IR_OPD_TEX, .reg = IR_NONE, .label = IR_NONE, .pos = o.pos};
        o.items = pop_operands(p, base, &o.count);
    }
    p->nesting--;
    ptx_expect(&p->lex, ']', "at the end of the address");
    return o;
}

/* --- One operand --- */

/* Does a register's name follow the sign that is the current token? */
static bool name_follows(const ptx_parser *p)
{
    const char *at = p->lex.at;
    while (*at == ' ' || *at == '\t')
        at++;
    bool first = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' ||
                 *at == '$' || *at == '%';
    return first && strncmp(at, "WARP_SZ", 7) != 0;
}

static ir_operand parse_negated(ptx_parser *p, ir_op op)
{
    ir_pos pos = ptx_tok_pos(&p->lex);
    ptx_next(&p->lex);
    ir_operand o = parse_name_operand(p, op);
    if (o.kind != IR_OPD_REG && !p->lex.failed)
        ptx_fail_pos(p, pos, "only a register can follow this sign");
    o.neg = true;
    o.pos = pos;
    return o;
}

static ir_operand parse_simple(ptx_parser *p, ir_op op)
{
    switch (p->lex.tok.kind) {
    case TOK_NAME: return ptx_is_word(&p->lex, "WARP_SZ") ? constant(p) : parse_name_operand(p, op);
    case TOK_INT:
    case TOK_F32:
    case TOK_F64:
    case TOK_DOT: return constant(p);
    case TOK_PUNCT: break;
    default: return fail_operand(p);
    }
    switch (p->lex.tok.punct) {
    case '{': return parse_list(p, op, IR_OPD_VEC, '}');
    case '[': return parse_address(p, op);
    case '(': return op == IR_call ? parse_list(p, op, IR_OPD_LIST, ')') : constant(p);
    case '!':
    case '-': return name_follows(p) ? parse_negated(p, op) : constant(p);
    case '+':
    case '~': return constant(p);
    default: return fail_operand(p);
    }
}

static ir_operand parse_operand(ptx_parser *p, ir_op op)
{
    ir_operand o = parse_simple(p, op);
    if (!ptx_is(&p->lex, '|'))
        return o;
    size_t base = p->operands.count;
    ir_operand pair = {.kind = IR_OPD_PAIR, .reg = IR_NONE, .label = IR_NONE, .pos = o.pos};
    push_operand(p, o);
    ptx_next(&p->lex);
    push_operand(p, parse_simple(p, op));
    pair.items = pop_operands(p, base, &pair.count);
    return pair;
}

/* --- Opcode and suffixes --- */

static void note_suffix(ir_insn *insn, unsigned *ntypes, ir_suffix suffix)
{
    ir_suffix_class cls = ir_suffix_class_of(suffix);
    if (cls == IR_SC_TYPE && *ntypes < 4)
        insn->types[(*ntypes)++] = (ir_type)suffix;
    else if (cls == IR_SC_SPACE && insn->space == IR_SPACE_GENERIC)
        insn->space = ir_space_of_suffix(suffix);
    else if (cls == IR_SC_VECTOR && insn->vector == 1)
        insn->vector = suffix == IR_S_v2 ? 2 : suffix == IR_S_v4 ? 4 : 8;
}

static void fail_suffix(ptx_parser *p, const ir_insn *insn)
{
    char hint[80] = "";
    const char *near = ir_nearest(IR_VOC_SUFFIXES, p->lex.tok.text, p->lex.tok.length);
    if (near)
        snprintf(hint, sizeof hint, "did you mean '.%s'?", near);
    ptx_fail_hint(p, near ? hint : NULL, "unknown suffix '.%.*s' of '%s'",
                  p->lex.tok.length < 60 ? (int)p->lex.tok.length : 60, p->lex.tok.text,
                  ir_op_get(insn->op)->text);
}

static void parse_suffixes(ptx_parser *p, ir_insn *insn)
{
    unsigned ntypes = 0;
    for (; p->lex.tok.kind == TOK_DOT; ptx_next(&p->lex)) {
        ir_suffix suffix = ir_find_suffix(p->lex.tok.text, p->lex.tok.length, p->lex.tok.hash);
        if (!suffix) {
            fail_suffix(p, insn);
        } else if (insn->nsuffixes == IR_MAX_SUFFIXES) {
            ptx_fail(p, "an instruction has at most %d suffixes", IR_MAX_SUFFIXES);
        } else {
            insn->suffixes[insn->nsuffixes++] = (uint16_t)suffix;
            note_suffix(insn, &ntypes, suffix);
        }
    }
}

static void parse_opcode(ptx_parser *p, ir_insn *insn)
{
    ptx_name *name = p->lex.tok.kind == TOK_NAME ? ptx_name_tok(p) : NULL;
    if (name && name->op) {
        insn->op = name->op;
        ptx_next(&p->lex);
        return;
    }
    char found[64], hint[80] = "";
    ptx_describe(&p->lex, found, sizeof found);
    const char *near = name ? ir_nearest(IR_VOC_OPS, name->text, name->length) : NULL;
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    if (name)
        ptx_fail_hint(p, near ? hint : NULL, "unknown opcode %s", found);
    else
        ptx_fail(p, "expected an instruction, a label or a directive, found %s", found);
}

/* @p or @!p */
static void parse_guard(ptx_parser *p, ir_insn *insn)
{
    insn->guard = IR_NONE;
    if (!ptx_accept(&p->lex, '@'))
        return;
    insn->guard_neg = ptx_accept(&p->lex, '!');
    ptx_binding b;
    ptx_name *name = p->lex.tok.kind == TOK_NAME ? ptx_name_tok(p) : NULL;
    if (!name || !ptx_lookup(name, &b) || b.kind != PTX_BIND_REG) {
        char found[64];
        ptx_describe(&p->lex, found, sizeof found);
        ptx_fail(p, "a guard is a predicate register, found %s", found);
        return;
    }
    insn->guard = b.index;
    ptx_next(&p->lex);
}

void ptx_parse_insn(ptx_parser *p)
{
    ir_insn insn = {
        .vector = 1, .loc = p->loc, .pc = (uint32_t)p->insns.count, .pos = ptx_tok_pos(&p->lex)};
    parse_guard(p, &insn);
    parse_opcode(p, &insn);
    parse_suffixes(p, &insn);
    size_t base = p->operands.count;
    if (!ptx_is(&p->lex, ';') && !p->lex.failed)
        do
            push_operand(p, parse_operand(p, insn.op));
        while (ptx_accept(&p->lex, ','));
    insn.operands = pop_operands(p, base, &insn.noperands);
    ptx_expect(&p->lex, ';', "at the end of the instruction");
    if (ptx_push(p, &p->insns, insn))
        (void)ptx_push(p, &p->stmts, (ptx_stmt){.kind = PTX_STMT_INSN, .index = insn.pc});
}
