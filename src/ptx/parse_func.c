/* Functions: head, parameters, performance directives; and call prototypes. */
#include "ptx/internal.h"

#include <stdio.h>

/* A function without anything in it; NULL, and the parse failed, without memory. */
static ir_func *new_func(ptx_parser *p)
{
    ir_func *func = wl_new(p->arena, ir_func);
    if (!func || !(func->written = wl_new(p->arena, ptx_written_func))) {
        ptx_fail_memory(&p->lex);
        return NULL;
    }
    return func;
}

/* The directives between the head and the body: name and the most numbers after it. */
static const struct perf_directive {
    const char *name;
    uint32_t most;
} perf_directives[] = {
    {".maxntid", 3},
    {".reqntid", 3},
    {".minnctapersm", 1},
    {".maxnctapersm", 1},
    {".maxnreg", 1},
    {".reqnctapercluster", 3},
    {".maxclusterrank", 1},
    {".explicitcluster", 0},
    {".blocksareclusters", 0},
    {".abi_preserve", 1},
    {".abi_preserve_control", 1},
};

static const struct perf_directive *perf_directive(const ptx_parser *p)
{
    for (size_t i = 0; i < sizeof perf_directives / sizeof *perf_directives; i++)
        if (ptx_is_dot(&p->lex, perf_directives[i].name + 1))
            return &perf_directives[i];
    return NULL;
}

/* What .maxntid and .reqntid allow; a product of 0, or beyond 32 bits, says nothing. */
static void limit_threads(ir_func *func, const ptx_perf *perf)
{
    if (strcmp(perf->name, ".maxntid") != 0 && strcmp(perf->name, ".reqntid") != 0)
        return;
    uint64_t product = 1;
    for (uint32_t n = 0; n < perf->count && product <= UINT32_MAX; n++)
        product *= perf->values[n];
    if (product && product <= UINT32_MAX && (!func->max_threads || product < func->max_threads))
        func->max_threads = (uint32_t)product;
}

static void parse_perf(ptx_parser *p, const struct perf_directive *d, ptx_perf *perf)
{
    *perf = (ptx_perf){.name = d->name};
    ptx_next(&p->lex);
    while (perf->count < d->most) {
        perf->values[perf->count++] = (uint32_t)ptx_parse_count(p, "this number", UINT32_MAX);
        if (perf->count == d->most || !ptx_accept(&p->lex, ','))
            break;
    }
}

enum { MAX_PERF = 32 };

static void parse_perf_list(ptx_parser *p, ir_func *func)
{
    ptx_perf list[MAX_PERF];
    ptx_written_func *written = func->written;
    while (p->lex.tok.kind == TOK_DOT) {
        const struct perf_directive *d = perf_directive(p);
        if (written->nperf == MAX_PERF) {
            ptx_fail(p, "too many directives before the body");
        } else if (ptx_accept_dot(&p->lex, "noreturn")) {
            func->noreturn = true;
        } else if (ptx_accept_dot(&p->lex, "pragma")) {
            list[written->nperf++] = (ptx_perf){.name = ".pragma", .text = ptx_parse_pragma(p)};
        } else if (d) {
            parse_perf(p, d, &list[written->nperf]);
            limit_threads(func, &list[written->nperf++]);
        } else {
            char found[64];
            ptx_describe(&p->lex, found, sizeof found);
            ptx_fail(p, "unknown directive %s of a function", found);
        }
    }
    written->perf = ptx_keep(p, list, written->nperf, sizeof *list);
}

/* (a, b), from the opening parenthesis on */
static ir_var **parse_params(ptx_parser *p, uint32_t *count, bool bind)
{
    wl_vec(ir_var *) params = {0};
    ptx_next(&p->lex);
    if (!ptx_is(&p->lex, ')'))
        do {
            ir_var *var = ptx_parse_param(p, bind);
            (void)ptx_push(p, &params, var);
        } while (ptx_accept(&p->lex, ','));
    ptx_expect(&p->lex, ')', "at the end of the parameters");
    ir_var **kept;
    ptx_take(p, &params, kept, *count);
    wl_vec_free(&params);
    return kept;
}

static const char *parse_func_name(ptx_parser *p)
{
    ptx_name *name = p->lex.tok.kind == TOK_NAME ? ptx_name_tok(p) : NULL;
    if (!name) {
        char found[64];
        ptx_describe(&p->lex, found, sizeof found);
        ptx_fail(p, "expected the name of a function, found %s", found);
        return "";
    }
    ptx_next(&p->lex);
    return name->text;
}

ir_func *ptx_parse_prototype(ptx_parser *p)
{
    ir_func *proto = new_func(p), *outer = p->func;
    if (!proto)
        return NULL;
    proto->pos = ptx_tok_pos(&p->lex);
    p->func = proto;
    if (ptx_is(&p->lex, '('))
        proto->rets = parse_params(p, &proto->nrets, false);
    proto->name = parse_func_name(p);
    if (ptx_is(&p->lex, '('))
        proto->params = parse_params(p, &proto->nparams, false);
    parse_perf_list(p, proto);
    p->func = outer;
    ptx_expect(&p->lex, ';', "at the end of the prototype");
    return proto;
}

/* --- Functions of the module --- */

static void add_func(ptx_parser *p, ir_func *func, ptx_name *name)
{
    func->index = (uint32_t)p->funcs.count;
    if (ptx_push(p, &p->funcs, func))
        (void)ptx_push(p, &p->items, (ptx_item){.kind = PTX_ITEM_FUNC, .index = func->index});
    if (!name || p->lex.failed)
        return;
    if (name->binding)
        ptx_fail_pos(p, func->pos, "'%.60s' is already declared as a variable", func->name);
    else if (name->func && name->func->has_body && func->has_body)
        ptx_fail_pos(p, func->pos, "'%.60s' is already defined", func->name);
    else if (!name->func || func->has_body || !name->func->has_body)
        name->func = func;
}

static void take_body(ptx_parser *p, ir_func *func)
{
    ptx_take(p, &p->regs, func->regs, func->nregs);
    ptx_take(p, &p->regdecls, func->written->regdecls, func->written->nregdecls);
    ptx_take(p, &p->func_vars, func->vars, func->nvars);
    ptx_take(p, &p->labels, func->labels, func->nlabels);
    ptx_take(p, &p->scopes, func->written->scopes, func->written->nscopes);
    ptx_take(p, &p->insns, func->insns, func->ninsns);
    ptx_take(p, &p->stmts, func->written->stmts, func->written->nstmts);
}

static void parse_head(ptx_parser *p, ir_func *func)
{
    func->entry = ptx_is_dot(&p->lex, "entry");
    ptx_next(&p->lex);
    if (ptx_accept_dot(&p->lex, "attribute"))
        ptx_parse_attribute(p, &func->attributes, func->unified);
    if (!func->entry && ptx_is(&p->lex, '('))
        func->rets = parse_params(p, &func->nrets, true);
    func->pos = ptx_tok_pos(&p->lex);
    func->name = parse_func_name(p);
    if (ptx_is(&p->lex, '('))
        func->params = parse_params(p, &func->nparams, true);
    parse_perf_list(p, func);
}

static ptx_name *name_of(ptx_parser *p, const char *text)
{
    size_t length = strlen(text);
    return ptx_name_of(p, text, length, ir_hash(text, length));
}

void ptx_parse_func(ptx_parser *p, ir_linkage linkage)
{
    ir_func *func = new_func(p);
    if (!func)
        return;
    func->linkage = linkage;
    p->func = func;
    p->loc = IR_NONE;
    (void)ptx_push(p, &p->scopes, (ptx_scope){.parent = IR_NONE});
    ptx_open_level(p, 0);
    parse_head(p, func);
    ptx_name *name = p->lex.failed ? NULL : name_of(p, func->name);
    func->has_body = ptx_is(&p->lex, '{');
    if (func->has_body) {
        ptx_next(&p->lex);
        ptx_parse_body(p);
    } else {
        ptx_expect(&p->lex, ';', "at the end of the declaration");
    }
    take_body(p, func);
    ptx_close_level(p);
    p->func = NULL;
    add_func(p, func, name);
}
