/* Module to text, laid out as nvcc does. */
#include "ptx/internal.h"
#include "ptx/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef ptx_text text;

static bool make_text_room(text *t, size_t more)
{
    if (t->capacity - t->count > more)
        return true;
    if (t->failed)
        return false;
    size_t capacity = t->capacity * 2 + more + 4096;
    char *data = realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

static void put_n(text *t, const char *s, size_t length)
{
    if (!make_text_room(t, length))
        return;
    memcpy(t->data + t->count, s, length);
    t->count += length;
}

static void put_string(text *t, const char *s)
{
    put_n(t, s, strlen(s));
}

static void put_char(text *t, char c)
{
    put_n(t, &c, 1);
}

static void put_decimal(text *t, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put_n(t, digits + at, sizeof digits - at);
}

static void put_hex(text *t, uint64_t value, unsigned width)
{
    char digits[16];
    size_t at = sizeof digits;
    while (value || sizeof digits - at < width) {
        digits[--at] = "0123456789ABCDEF"[value & 15];
        value >>= 4;
    }
    put_n(t, digits + at, sizeof digits - at);
}

static void put_signed(text *t, uint64_t value)
{
    if ((int64_t)value < 0)
        put_char(t, '-');
    put_decimal(t, (int64_t)value < 0 ? 0 - value : value);
}

static void put_f32(text *t, uint64_t bits)
{
    put_string(t, "0f");
    put_hex(t, (uint32_t)bits, 8);
}

static void put_f64(text *t, uint64_t bits)
{
    put_string(t, "0d");
    put_hex(t, bits, 16);
}

/* --- Operands --- */

typedef struct printer {
    text *out;
    const ir_module *module;
    const ir_func *func;
} printer;

static void print_operand(printer *p, const ir_operand *o);

static void print_int(text *t, const ir_operand *o)
{
    if (o->imm_hex) {
        put_string(t, "0x");
        put_hex(t, o->imm, 1);
    } else if (o->imm_unsigned) {
        put_decimal(t, o->imm);
    } else {
        put_signed(t, o->imm);
    }
    if (o->imm_unsigned && o->imm <= INT64_MAX)
        put_char(t, 'U');
}

static void print_component(text *t, const ir_operand *o)
{
    if (!o->component && !o->selector)
        return;
    put_char(t, '.');
    if (o->selector) {
        put_string(t, o->selector);
    } else if (o->component <= 4) {
        put_char(t, "xyzw"[o->component - 1]);
    } else {
        put_char(t, o->component < 16 ? 'b' : 'h');
        put_decimal(t, o->component & 7);
    }
}

static void print_reg(printer *p, const ir_operand *o)
{
    const ir_reg *reg = &p->func->regs[o->reg];
    if (o->neg)
        put_char(p->out, reg->type == IR_T_pred ? '!' : '-');
    put_string(p->out, reg->name);
    print_component(p->out, o);
}

static void print_sreg(text *t, const ir_operand *o)
{
    const ir_sreg_info *info = ir_sreg_get(o->sreg);
    put_char(t, '%');
    put_string(t, info->text);
    if (info->indexed)
        put_decimal(t, o->sreg_index);
    print_component(t, o);
}

static const char *symbol_name(const ir_symbol *sym)
{
    return sym->kind == IR_SYM_FUNC ? sym->func->name : sym->var->name;
}

static void print_offset(text *t, const ir_operand *o)
{
    if (!o->imm && !o->zero_offset)
        return;
    put_char(t, '+');
    if (o->imm_hex) {
        put_string(t, "0x");
        put_hex(t, o->imm, 1);
    } else {
        put_signed(t, o->imm);
    }
}

/* What stands between the brackets of an address. */
static void print_base(printer *p, const ir_operand *o)
{
    if (o->reg != IR_NONE)
        print_reg(p, o);
    else if (o->has_sym)
        put_string(p->out, symbol_name(&o->sym));
    else
        print_int(p->out, o);
    if (o->reg != IR_NONE || o->has_sym)
        print_offset(p->out, o);
}

static void print_items(printer *p, const ir_operand *o, const char *open, const char *between,
                        const char *close)
{
    put_string(p->out, open);
    for (uint32_t i = 0; i < o->count; i++) {
        if (i)
            put_string(p->out, between);
        if (o->kind == IR_OPD_TEX && i == 0 && o->items[0].kind == IR_OPD_ADDR)
            print_base(p, &o->items[0]);
        else
            print_operand(p, &o->items[i]);
    }
    put_string(p->out, close);
}

static void print_address(printer *p, const ir_operand *o)
{
    put_char(p->out, '[');
    print_base(p, o);
    put_char(p->out, ']');
}

static void print_operand(printer *p, const ir_operand *o)
{
    switch (o->kind) {
    case IR_OPD_REG: print_reg(p, o); break;
    case IR_OPD_SREG: print_sreg(p->out, o); break;
    case IR_OPD_INT: print_int(p->out, o); break;
    case IR_OPD_F32: put_f32(p->out, o->imm); break;
    case IR_OPD_F64: put_f64(p->out, o->imm); break;
    case IR_OPD_SYM: print_base(p, o); break;
    case IR_OPD_ADDR: print_address(p, o); break;
    case IR_OPD_LABEL: put_string(p->out, p->func->labels[o->label].name); break;
    case IR_OPD_VEC: print_items(p, o, "{", ", ", "}"); break;
    case IR_OPD_PAIR: print_items(p, o, "", "|", ""); break;
    case IR_OPD_LIST: print_items(p, o, "(", ", ", ")"); break;
    case IR_OPD_TEX: print_items(p, o, "[", ", ", "]"); break;
    case IR_OPD_SINK: put_char(p->out, '_'); break;
    }
}

static void print_insn(printer *p, const ir_insn *insn, const char *gap)
{
    text *t = p->out;
    if (insn->guard != IR_NONE) {
        put_string(t, insn->guard_neg ? "@!" : "@");
        put_string(t, p->func->regs[insn->guard].name);
        put_char(t, ' ');
    }
    put_string(t, ir_op_get(insn->op)->text);
    for (unsigned i = 0; i < insn->nsuffixes; i++) {
        put_char(t, '.');
        put_string(t, ir_suffix_text(insn->suffixes[i]));
    }
    for (uint32_t i = 0; i < insn->noperands; i++) {
        put_string(t, i ? ", " : gap);
        print_operand(p, &insn->operands[i]);
    }
    put_char(t, ';');
}

/* --- Variables --- */

static void print_attributes(text *t, uint64_t attributes, const uint64_t unified[2])
{
    if (!attributes)
        return;
    put_string(t, " .attribute(");
    if (attributes & 1)
        put_string(t, attributes & 2 ? ".managed, " : ".managed");
    if (attributes & 2) {
        put_string(t, ".unified(");
        put_decimal(t, unified[0]);
        put_string(t, ", ");
        put_decimal(t, unified[1]);
        put_char(t, ')');
    }
    put_char(t, ')');
}

static void print_init_address(text *t, const ir_init *init)
{
    if (init->mask) {
        put_string(t, "0x");
        put_hex(t, 0xffull << (8 * (init->mask - 1)), 2);
        put_char(t, '(');
    }
    put_string(t, init->generic ? "generic(" : "");
    put_string(t, symbol_name(&init->sym));
    put_string(t, init->generic ? ")" : "");
    if (init->bits) {
        put_char(t, '+');
        put_signed(t, init->bits);
    }
    if (init->mask)
        put_char(t, ')');
}

static void print_init(text *t, const ir_init *init);

static void print_init_list(text *t, const ir_init *init)
{
    put_char(t, '{');
    for (uint32_t i = 0; i < init->count; i++) {
        if (i)
            put_string(t, ", ");
        print_init(t, &init->items[i]);
    }
    put_char(t, '}');
}

static void print_init(text *t, const ir_init *init)
{
    switch (init->kind) {
    case IR_INIT_INT: put_signed(t, init->bits); break;
    case IR_INIT_F32: put_f32(t, init->bits); break;
    case IR_INIT_F64: put_f64(t, init->bits); break;
    case IR_INIT_ADDRESS: print_init_address(t, init); break;
    case IR_INIT_LIST: print_init_list(t, init); break;
    case IR_INIT_WORD: put_string(t, init->name); break;
    case IR_INIT_FIELD:
        put_string(t, init->name);
        put_string(t, " = ");
        if (init->count)
            print_init(t, &init->items[0]);
        break;
    }
}

static void print_align(text *t, uint32_t align)
{
    if (!align)
        return;
    put_string(t, " .align ");
    put_decimal(t, align);
}

static void print_vector(text *t, unsigned lanes)
{
    if (lanes <= 1)
        return;
    put_string(t, " .v");
    put_decimal(t, lanes);
}

static void print_ptr(text *t, const ir_var *var)
{
    if (!var->is_ptr)
        return;
    put_string(t, " .ptr");
    if (var->ptr_space != IR_SPACE_GENERIC) {
        put_string(t, " .");
        put_string(t, ir_space_text(var->ptr_space));
    }
    print_align(t, var->ptr_align);
}

static void print_linkage(text *t, ir_linkage linkage)
{
    static const char *const texts[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
    put_string(t, texts[linkage]);
}

/* Without the semicolon. */
static void print_var(text *t, const ir_var *var)
{
    print_linkage(t, var->linkage);
    put_char(t, '.');
    put_string(t, ir_space_text(var->space));
    print_attributes(t, var->attributes, var->unified);
    print_align(t, var->align);
    print_vector(t, var->vector);
    put_string(t, " .");
    put_string(t, var->opaque ? var->opaque : ir_type_get(var->type)->text);
    print_ptr(t, var);
    put_char(t, ' ');
    put_string(t, var->name);
    for (uint32_t i = 0; i < var->ndims; i++) {
        put_char(t, '[');
        if (var->dims[i])
            put_decimal(t, var->dims[i]);
        put_char(t, ']');
    }
    if (var->has_init) {
        put_string(t, " = ");
        print_init(t, &var->init);
    }
}

static void print_params(text *t, ir_var *const *params, uint32_t count, const char *between)
{
    put_char(t, '(');
    for (uint32_t i = 0; i < count; i++) {
        put_string(t, i ? "," : "");
        put_string(t, i && *between == 0 ? " " : between);
        print_var(t, params[i]);
    }
    put_string(t, count && *between ? "\n)" : ")");
}

/* --- Functions --- */

static void print_perf(text *t, const ir_func *func, const char *before)
{
    for (uint32_t i = 0; i < func->written->nperf; i++) {
        const ptx_perf *perf = &func->written->perf[i];
        put_string(t, before);
        put_string(t, perf->name);
        for (uint32_t k = 0; k < perf->count; k++) {
            put_string(t, k ? ", " : " ");
            put_decimal(t, perf->values[k]);
        }
        if (perf->text) {
            put_char(t, ' ');
            put_string(t, perf->text);
            put_char(t, ';');
        }
    }
    if (func->noreturn) {
        put_string(t, before);
        put_string(t, ".noreturn");
    }
}

static void print_prototype(text *t, const ir_func *proto)
{
    put_string(t, ".callprototype ");
    print_params(t, proto->rets, proto->nrets, "");
    put_char(t, ' ');
    put_string(t, proto->name);
    put_char(t, ' ');
    print_params(t, proto->params, proto->nparams, "");
    print_perf(t, proto, " ");
    put_char(t, ';');
}

static void print_targets(printer *p, const ir_label *label)
{
    bool code = label->kind == IR_LABEL_BRANCHTARGETS;
    put_string(p->out, code ? ".branchtargets" : ".calltargets");
    for (uint32_t i = 0; i < label->count; i++) {
        put_string(p->out, i ? ", " : " ");
        put_string(p->out, code ? p->func->labels[label->targets[i]].name
                                : symbol_name(&label->callees[i]));
    }
    put_char(p->out, ';');
}

static void print_label(printer *p, const ir_label *label)
{
    put_string(p->out, label->name);
    put_char(p->out, ':');
    if (label->kind != IR_LABEL_CODE)
        put_char(p->out, ' ');
    if (label->kind == IR_LABEL_PROTOTYPE)
        print_prototype(p->out, label->prototype);
    else if (label->kind != IR_LABEL_CODE)
        print_targets(p, label);
    put_char(p->out, '\n');
}

static void print_place(text *t, const ir_loc *loc)
{
    put_decimal(t, loc->file);
    put_char(t, ' ');
    put_decimal(t, loc->line);
    put_char(t, ' ');
    put_decimal(t, loc->column);
}

static void print_loc(printer *p, const ir_loc *loc)
{
    text *t = p->out;
    put_string(t, "\t.loc\t");
    print_place(t, loc);
    if (loc->function) {
        put_string(t, ", function_name ");
        put_string(t, loc->function);
        if (loc->function_offset) {
            put_char(t, '+');
            put_signed(t, (uint64_t)loc->function_offset);
        }
    }
    if (loc->inlined_at != IR_NONE) {
        put_string(t, ", inlined_at ");
        print_place(t, &p->module->locs[loc->inlined_at]);
    }
    put_char(t, '\n');
}

static void print_regs(printer *p, const ptx_regdecl *decl)
{
    text *t = p->out;
    put_string(t, "\t.reg");
    print_vector(t, decl->vector);
    put_string(t, " .");
    put_string(t, ir_type_get(decl->type)->text);
    put_string(t, " \t");
    if (decl->prefix) {
        put_string(t, decl->prefix);
        put_char(t, '<');
        put_decimal(t, decl->n);
        put_char(t, '>');
    }
    for (uint32_t i = 0; i < decl->count && !decl->prefix; i++) {
        put_string(t, i ? ", " : "");
        put_string(t, p->func->regs[decl->first + i].name);
    }
    put_string(t, ";\n");
}

static void print_file(text *t, const ir_file *file)
{
    put_string(t, "\t.file\t");
    put_decimal(t, file->number);
    put_string(t, " \"");
    put_string(t, file->path);
    put_char(t, '"');
    if (file->has_stat) {
        put_string(t, ", ");
        put_decimal(t, file->timestamp);
        put_string(t, ", ");
        put_decimal(t, file->size);
    }
    put_char(t, '\n');
}

static void print_line(text *t, const char *before, const char *middle, const char *after)
{
    put_string(t, before);
    put_string(t, middle);
    put_string(t, after);
}

static void print_stmt(printer *p, const ptx_stmt *stmt)
{
    text *t = p->out;
    switch (stmt->kind) {
    case PTX_STMT_INSN:
        put_char(t, '\t');
        print_insn(p, &p->func->insns[stmt->index], " \t");
        put_char(t, '\n');
        break;
    case PTX_STMT_LABEL: print_label(p, &p->func->labels[stmt->index]); break;
    case PTX_STMT_LOC: print_loc(p, &p->module->locs[stmt->index]); break;
    case PTX_STMT_REGS: print_regs(p, &p->func->written->regdecls[stmt->index]); break;
    case PTX_STMT_VAR:
        put_char(t, '\t');
        print_var(t, p->func->vars[stmt->index]);
        put_string(t, ";\n");
        break;
    case PTX_STMT_PRAGMA: print_line(t, "\t.pragma ", stmt->text, ";\n"); break;
    case PTX_STMT_OPEN: put_string(t, "\t{\n"); break;
    case PTX_STMT_CLOSE: put_string(t, "\t}\n"); break;
    case PTX_STMT_DIRECTIVE: print_line(t, "", stmt->text, "\n"); break;
    case PTX_STMT_FILE: print_file(t, &p->module->files[stmt->index]); break;
    }
}

static void print_head(text *t, const ir_func *func)
{
    print_linkage(t, func->linkage);
    put_string(t, func->entry ? ".entry" : ".func");
    print_attributes(t, func->attributes, func->unified);
    put_char(t, ' ');
    if (func->nrets) {
        print_params(t, func->rets, func->nrets, "");
        put_char(t, ' ');
    }
    put_string(t, func->name);
    print_params(t, func->params, func->nparams, "\n\t");
    print_perf(t, func, "\n");
}

static void print_func(printer *p, const ir_func *func)
{
    text *t = p->out;
    p->func = func;
    print_head(t, func);
    if (!func->has_body) {
        put_string(t, "\n;\n");
        return;
    }
    put_string(t, "\n{\n");
    for (uint32_t i = 0; i < func->written->nstmts; i++)
        print_stmt(p, &func->written->stmts[i]);
    put_string(t, "}\n");
}

/* --- Modules --- */

static void print_section(text *t, const ptx_section *section)
{
    print_line(t, "\t.section\t", section->name, "\n\t{\n");
    for (uint32_t i = 0; i < section->nlines; i++)
        print_line(t, "\t", section->lines[i], "\n");
    put_string(t, "\t}\n");
}

static void print_item(printer *p, const ptx_item *item)
{
    text *t = p->out;
    switch (item->kind) {
    case PTX_ITEM_VAR:
        print_var(t, p->module->vars[item->index]);
        put_string(t, ";\n");
        break;
    case PTX_ITEM_FUNC: print_func(p, p->module->funcs[item->index]); break;
    case PTX_ITEM_FILE: print_file(t, &p->module->files[item->index]); break;
    case PTX_ITEM_SECTION: print_section(t, &p->module->written->sections[item->index]); break;
    case PTX_ITEM_PRAGMA: print_line(t, ".pragma ", item->text, ";\n"); break;
    case PTX_ITEM_ALIAS: print_line(t, ".alias ", item->text, ";\n"); break;
    case PTX_ITEM_DIRECTIVE: print_line(t, "", item->text, "\n"); break;
    }
}

void ptx_print_begin(ptx_text *t, const ir_module *module)
{
    put_string(t, ".version ");
    put_decimal(t, module->written->version_major);
    put_char(t, '.');
    put_decimal(t, module->written->version_minor);
    print_line(t, "\n.target ", module->written->target ? module->written->target : "sm_50", "\n");
    if (module->address_size) {
        put_string(t, ".address_size ");
        put_decimal(t, module->address_size);
        put_char(t, '\n');
    }
}

wl_status ptx_print(const ir_module *module, char **out, size_t *length)
{
    text t = {0};
    ptx_print_begin(&t, module);
    for (uint32_t i = 0; i < module->written->nitems; i++) {
        put_char(&t, '\n');
        ptx_print_item(&t, module, &module->written->items[i]);
    }
    *out = ptx_text_take(&t, length);
    return *out ? WL_OK : WL_NOMEM;
}

char *ptx_print_insn(const ir_module *module, const ir_func *func, const ir_insn *insn,
                     char *buffer, size_t size)
{
    if (size == 0)
        return buffer;
    text t = {0};
    printer p = {.out = &t, .module = module, .func = func};
    print_insn(&p, insn, " ");
    size_t length = t.failed ? 0 : t.count;
    if (length > size - 1)
        length = size - 1;
    if (length)
        memcpy(buffer, t.data, length);
    buffer[length] = 0;
    free(t.data);
    return buffer;
}

/* --- In parts --- */

void ptx_put(ptx_text *t, const char *s)
{
    put_string(t, s);
}

__attribute__((format(printf, 2, 0))) static void put_formatted(ptx_text *t, const char *format,
                                                                va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && make_text_room(t, (size_t)length + 1)) {
        vsnprintf(t->data + t->count, (size_t)length + 1, format, again);
        t->count += (size_t)length;
    }
    va_end(again);
}

void ptx_putf(ptx_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_formatted(t, format, args);
    va_end(args);
}

char *ptx_text_take(ptx_text *t, size_t *length)
{
    char *data = t->data;
    *length = 0;
    if (t->failed || !make_text_room(t, 1)) {
        free(data);
        data = NULL;
    } else {
        data = t->data;
        data[t->count] = 0;
        *length = t->count;
    }
    *t = (ptx_text){0};
    return data;
}

void ptx_print_item(ptx_text *t, const ir_module *module, const ptx_item *item)
{
    printer p = {.out = t, .module = module};
    print_item(&p, item);
}

void ptx_print_head(ptx_text *t, const ir_func *func)
{
    print_head(t, func);
}

void ptx_print_stmt(ptx_text *t, const ir_module *module, const ir_func *func, const ptx_stmt *stmt)
{
    printer p = {.out = t, .module = module, .func = func};
    print_stmt(&p, stmt);
}

void ptx_print_operand(ptx_text *t, const ir_func *func, const ir_operand *operand)
{
    printer p = {.out = t, .func = func};
    print_operand(&p, operand);
}
