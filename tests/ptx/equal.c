/* Structural equality of modules. Indices count as equal where they are equal: both modules number
 * alike. */
#include "equal.h"

#include "ptx/written.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Applies `same` to each pair of elements of two arrays. */
#define SAME_ARRAY(a, na, b, nb, same) same_array((a), (na), (b), (nb), sizeof *(a), (same))

static bool same_array(const void *a, size_t na, const void *b, size_t nb, size_t size,
                       bool (*same)(const void *, const void *))
{
    if (na != nb)
        return false;
    for (size_t i = 0; i < na; i++)
        if (!same((const char *)a + i * size, (const char *)b + i * size))
            return false;
    return true;
}

/* Variables and functions are named alike where their names are and what holds them is. */
static bool same_place(const ir_var *a, const ir_var *b)
{
    return same_text(a->name, b->name) && a->scope == b->scope &&
           (a->func == NULL) == (b->func == NULL) &&
           (!a->func || same_text(a->func->name, b->func->name));
}

static bool same_symbol(const ir_symbol *a, const ir_symbol *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == IR_SYM_FUNC)
        return same_text(a->func->name, b->func->name) && a->func->index == b->func->index;
    return same_place(a->var, b->var);
}

static bool same_init(const void *x, const void *y)
{
    const ir_init *a = x, *b = y;
    return a->kind == b->kind && a->bits == b->bits && a->generic == b->generic &&
           a->mask == b->mask && same_text(a->name, b->name) &&
           (a->kind != IR_INIT_ADDRESS || same_symbol(&a->sym, &b->sym)) &&
           SAME_ARRAY(a->items, a->count, b->items, b->count, same_init);
}

static bool same_dim(const void *a, const void *b)
{
    return *(const uint64_t *)a == *(const uint64_t *)b;
}

static bool same_var_type(const ir_var *a, const ir_var *b)
{
    return a->linkage == b->linkage && a->space == b->space && a->type == b->type &&
           same_text(a->opaque, b->opaque) && a->vector == b->vector && a->align == b->align &&
           a->is_ptr == b->is_ptr && a->ptr_space == b->ptr_space && a->ptr_align == b->ptr_align &&
           a->attributes == b->attributes && a->unified[0] == b->unified[0] &&
           a->unified[1] == b->unified[1];
}

static bool same_var(const void *x, const void *y)
{
    const ir_var *a = *(ir_var *const *)x, *b = *(ir_var *const *)y;
    return same_place(a, b) && same_var_type(a, b) &&
           SAME_ARRAY(a->dims, a->ndims, b->dims, b->ndims, same_dim) &&
           a->has_init == b->has_init && (!a->has_init || same_init(&a->init, &b->init));
}

static bool same_operand(const void *x, const void *y)
{
    const ir_operand *a = x, *b = y;
    return a->kind == b->kind && a->neg == b->neg && a->component == b->component &&
           same_text(a->selector, b->selector) && a->reg == b->reg && a->sreg == b->sreg &&
           a->sreg_index == b->sreg_index && a->label == b->label && a->has_sym == b->has_sym &&
           (!a->has_sym || same_symbol(&a->sym, &b->sym)) && a->imm == b->imm &&
           a->imm_unsigned == b->imm_unsigned && a->imm_hex == b->imm_hex &&
           a->zero_offset == b->zero_offset &&
           SAME_ARRAY(a->items, a->count, b->items, b->count, same_operand);
}

static bool same_insn(const void *x, const void *y)
{
    const ir_insn *a = x, *b = y;
    return a->op == b->op && a->nsuffixes == b->nsuffixes &&
           memcmp(a->suffixes, b->suffixes, a->nsuffixes * sizeof *a->suffixes) == 0 &&
           a->guard == b->guard && a->guard_neg == b->guard_neg && a->loc == b->loc &&
           a->pc == b->pc &&
           SAME_ARRAY(a->operands, a->noperands, b->operands, b->noperands, same_operand);
}

static bool same_reg(const void *x, const void *y)
{
    const ir_reg *a = x, *b = y;
    return same_text(a->name, b->name) && a->type == b->type && a->vector == b->vector &&
           a->scope == b->scope;
}

static bool same_regdecl(const void *x, const void *y)
{
    const ptx_regdecl *a = x, *b = y;
    return a->type == b->type && a->vector == b->vector && a->first == b->first &&
           a->count == b->count && same_text(a->prefix, b->prefix) && a->n == b->n;
}

static bool same_index(const void *a, const void *b)
{
    return *(const uint32_t *)a == *(const uint32_t *)b;
}

static bool same_callee(const void *a, const void *b)
{
    return same_symbol(a, b);
}

static bool same_func(const ir_func *a, const ir_func *b);

static bool same_label(const void *x, const void *y)
{
    const ir_label *a = x, *b = y;
    if (!same_text(a->name, b->name) || a->pc != b->pc || a->scope != b->scope ||
        a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == IR_LABEL_PROTOTYPE)
        return same_func(a->prototype, b->prototype);
    if (a->kind == IR_LABEL_CALLTARGETS)
        return SAME_ARRAY(a->callees, a->count, b->callees, b->count, same_callee);
    return a->kind == IR_LABEL_CODE ||
           SAME_ARRAY(a->targets, a->count, b->targets, b->count, same_index);
}

static bool same_scope(const void *x, const void *y)
{
    const ptx_scope *a = x, *b = y;
    return a->parent == b->parent;
}

static bool same_stmt(const void *x, const void *y)
{
    const ptx_stmt *a = x, *b = y;
    return a->kind == b->kind && a->index == b->index && same_text(a->text, b->text);
}

static bool same_perf(const void *x, const void *y)
{
    const ptx_perf *a = x, *b = y;
    return same_text(a->name, b->name) && a->count == b->count &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0 &&
           same_text(a->text, b->text);
}

/* Both functions were read from text. */
static bool same_written_func(const ptx_written_func *a, const ptx_written_func *b)
{
    return SAME_ARRAY(a->perf, a->nperf, b->perf, b->nperf, same_perf) &&
           SAME_ARRAY(a->regdecls, a->nregdecls, b->regdecls, b->nregdecls, same_regdecl) &&
           SAME_ARRAY(a->scopes, a->nscopes, b->scopes, b->nscopes, same_scope) &&
           SAME_ARRAY(a->stmts, a->nstmts, b->stmts, b->nstmts, same_stmt);
}

static bool same_head(const ir_func *a, const ir_func *b)
{
    return same_text(a->name, b->name) && a->entry == b->entry && a->has_body == b->has_body &&
           a->linkage == b->linkage && a->noreturn == b->noreturn &&
           a->attributes == b->attributes && a->unified[0] == b->unified[0] &&
           a->unified[1] == b->unified[1] && (a->alias == NULL) == (b->alias == NULL) &&
           (!a->alias || same_text(a->alias->name, b->alias->name));
}

static bool same_func(const ir_func *a, const ir_func *b)
{
    return same_head(a, b) && SAME_ARRAY(a->rets, a->nrets, b->rets, b->nrets, same_var) &&
           SAME_ARRAY(a->params, a->nparams, b->params, b->nparams, same_var) &&
           SAME_ARRAY(a->regs, a->nregs, b->regs, b->nregs, same_reg) &&
           SAME_ARRAY(a->vars, a->nvars, b->vars, b->nvars, same_var) &&
           SAME_ARRAY(a->labels, a->nlabels, b->labels, b->nlabels, same_label) &&
           SAME_ARRAY(a->insns, a->ninsns, b->insns, b->ninsns, same_insn) &&
           same_written_func(a->written, b->written);
}

static bool same_func_ptr(const void *a, const void *b)
{
    return same_func(*(ir_func *const *)a, *(ir_func *const *)b);
}

static bool same_file(const void *x, const void *y)
{
    const ir_file *a = x, *b = y;
    return a->number == b->number && same_text(a->path, b->path) && a->has_stat == b->has_stat &&
           a->timestamp == b->timestamp && a->size == b->size;
}

static bool same_loc(const void *x, const void *y)
{
    const ir_loc *a = x, *b = y;
    return a->file == b->file && a->line == b->line && a->column == b->column &&
           a->inlined_at == b->inlined_at && same_text(a->function, b->function) &&
           a->function_offset == b->function_offset;
}

static bool same_line(const void *a, const void *b)
{
    return same_text(*(const char *const *)a, *(const char *const *)b);
}

static bool same_section(const void *x, const void *y)
{
    const ptx_section *a = x, *b = y;
    return same_text(a->name, b->name) &&
           SAME_ARRAY(a->lines, a->nlines, b->lines, b->nlines, same_line);
}

static bool same_item(const void *x, const void *y)
{
    const ptx_item *a = x, *b = y;
    return a->kind == b->kind && a->index == b->index && same_text(a->text, b->text);
}

static bool same_written_module(const ptx_written_module *a, const ptx_written_module *b)
{
    return a->version_major == b->version_major && a->version_minor == b->version_minor &&
           same_text(a->target, b->target) &&
           SAME_ARRAY(a->sections, a->nsections, b->sections, b->nsections, same_section) &&
           SAME_ARRAY(a->items, a->nitems, b->items, b->nitems, same_item);
}

bool modules_equal(const ir_module *a, const ir_module *b)
{
    return a->sm == b->sm && a->address_size == b->address_size &&
           SAME_ARRAY(a->vars, a->nvars, b->vars, b->nvars, same_var) &&
           SAME_ARRAY(a->funcs, a->nfuncs, b->funcs, b->nfuncs, same_func_ptr) &&
           SAME_ARRAY(a->files, a->nfiles, b->files, b->nfiles, same_file) &&
           SAME_ARRAY(a->locs, a->nlocs, b->locs, b->nlocs, same_loc) &&
           same_written_module(a->written, b->written);
}
