/* Reads the tiny language into ir, and writes its instructions. */
#include "tiny.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 8, MAX_INSNS = 64, LETTERS = 26 };

/* ---- vocabulary ---- */

/* How a line becomes an instruction: its suffixes, and what its words are: r register, s the
 * special register itself, p a parameter, a an address in a register, 4 the number 4 that is not
 * written. */
static const struct row {
    const char *word;
    ir_op op;
    ir_suffix suffixes[3];
    ir_type type;
    ir_sreg sreg;
    const char *operands;
} rows[] = {
    {"tid", IR_mov, {IR_S_u32}, IR_T_u32, IR_SR_tid, "rs"},
    {"block", IR_mov, {IR_S_u32}, IR_T_u32, IR_SR_ctaid, "rs"},
    {"size", IR_mov, {IR_S_u32}, IR_T_u32, IR_SR_ntid, "rs"},
    {"arg", IR_ld, {IR_S_param, IR_S_u64}, IR_T_u64, IR_SR_none, "rp"},
    {"times", IR_mul, {IR_S_lo, IR_S_u32}, IR_T_u32, IR_SR_none, "rrr"},
    {"plus", IR_add, {IR_S_u32}, IR_T_u32, IR_SR_none, "rrr"},
    {"words", IR_mul, {IR_S_wide, IR_S_u32}, IR_T_u32, IR_SR_none, "rr4"},
    {"at", IR_add, {IR_S_u64}, IR_T_u64, IR_SR_none, "rrr"},
    {"get", IR_ld, {IR_S_global, IR_S_u32}, IR_T_u32, IR_SR_none, "ra"},
    {"put", IR_st, {IR_S_global, IR_S_u32}, IR_T_u32, IR_SR_none, "ar"},
    {"end", IR_ret, {IR_S_none}, IR_T_none, IR_SR_none, ""},
};

static const struct row *row_of(const char *word)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0)
            return &rows[i];
    return NULL;
}

/* ---- bytes to code ---- */

static uint32_t words_of(char *line, char *words[MAX_WORDS])
{
    uint32_t n = 0;
    char *rest;
    for (char *w = strtok_r(line, " ", &rest); w && n < MAX_WORDS; w = strtok_r(NULL, " ", &rest))
        words[n++] = w;
    return n;
}

static ir_operand operand_of(const ir_func *f, const struct row *row, char what, const char *word)
{
    ir_operand o = {.reg = IR_NONE, .label = IR_NONE};
    switch (what) {
    case 's': o.kind = IR_OPD_SREG, o.sreg = row->sreg, o.component = 1; break;
    case '4': o.kind = IR_OPD_INT, o.imm = 4; break;
    case 'p':
        o.kind = IR_OPD_ADDR, o.has_sym = true;
        for (uint32_t i = 0; i < f->nparams; i++)
            if (strcmp(f->params[i]->name, word) == 0)
                o.sym = (ir_symbol){.kind = IR_SYM_VAR, .var = f->params[i]};
        break;
    default: o.kind = what == 'a' ? IR_OPD_ADDR : IR_OPD_REG; o.reg = (uint32_t)(*word - 'a');
    }
    return o;
}

static void read_insn(ir_module *m, ir_func *f, const struct row *row, char **words)
{
    ir_insn *insn = &f->insns[f->ninsns];
    *insn = (ir_insn){.op = row->op,
                      .types = {row->type},
                      .vector = 1,
                      .guard = IR_NONE,
                      .loc = IR_NONE,
                      .pc = f->ninsns++};
    while (row->suffixes[insn->nsuffixes] != IR_S_none) {
        ir_suffix suffix = row->suffixes[insn->nsuffixes];
        insn->suffixes[insn->nsuffixes++] = (uint16_t)suffix;
        if (ir_space_of_suffix(suffix) != IR_SPACE_GENERIC)
            insn->space = ir_space_of_suffix(suffix);
    }
    insn->noperands = (uint32_t)strlen(row->operands);
    insn->operands = wl_new_array(m->arena, ir_operand, insn->noperands + 1);
    for (uint32_t i = 0, w = 1; i < insn->noperands; i++) {
        char what = row->operands[i];
        bool written = what != 's' && what != '4';
        insn->operands[i] = operand_of(f, row, what, written ? words[w] : NULL);
        w += written;
    }
}

static void add_registers(ir_module *m, ir_func *f)
{
    f->nregs = LETTERS;
    f->regs = wl_new_array(m->arena, ir_reg, LETTERS);
    for (uint32_t i = 0; i < LETTERS; i++)
        f->regs[i] = (ir_reg){.name = wl_arena_printf(m->arena, "%c", 'a' + (int)i),
                              .type = strchr("tbnmiv", 'a' + (int)i) ? IR_T_u32 : IR_T_u64,
                              .vector = 1};
}

static void read_head(ir_module *m, ir_func *f, char **words, uint32_t nwords)
{
    f->name = wl_arena_strdup(m->arena, words[1]);
    f->entry = f->has_body = true;
    f->params = wl_new_array(m->arena, ir_var *, MAX_WORDS);
    for (uint32_t i = 2; i < nwords; i++) {
        ir_var *var = wl_new(m->arena, ir_var);
        *var = (ir_var){.name = wl_arena_strdup(m->arena, words[i]),
                        .space = IR_SPACE_PARAM,
                        .type = IR_T_u64,
                        .vector = 1,
                        .func = f};
        f->params[f->nparams++] = var;
    }
    f->insns = wl_new_array(m->arena, ir_insn, MAX_INSNS);
    add_registers(m, f);
}

static bool recognises(const void *bytes, size_t length)
{
    return length > 5 && memcmp(bytes, "tiny ", 5) == 0;
}

static char *insn_text(const ir_module *module, const ir_func *func, const ir_insn *insn,
                       char *buffer, size_t size)
{
    (void)module;
    const struct row *row = rows;
    while (row->op != insn->op || row->suffixes[0] != insn->suffixes[0] ||
           (row->sreg && row->sreg != insn->operands[1].sreg))
        row++;
    size_t at = (size_t)snprintf(buffer, size, "%s", row->word);
    for (uint32_t i = 0; i < insn->noperands && at < size; i++) {
        const ir_operand *o = &insn->operands[i];
        const char *word = o->has_sym          ? o->sym.var->name
                           : o->reg != IR_NONE ? func->regs[o->reg].name
                                               : NULL;
        if (word)
            at += (size_t)snprintf(buffer + at, size - at, " %s", word);
    }
    return buffer;
}

static wl_status read_text(const char *bytes, size_t length, const char *name, ir_module **out,
                           wl_error *err)
{
    ir_module *m = ir_module_new();
    ir_func *f = wl_new(m->arena, ir_func);
    char *text = wl_arena_strndup(m->arena, bytes, length), *rest, *words[MAX_WORDS];
    m->front = &tiny_front;
    m->sm = 90;
    m->address_size = 64;
    m->funcs = wl_new_array(m->arena, ir_func *, 1);
    m->funcs[m->nfuncs++] = f;
    *out = m;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        uint32_t n = words_of(line, words);
        const struct row *row = row_of(words[0]);
        if (strcmp(words[0], "tiny") == 0) {
            read_head(m, f, words, n);
        } else if (row) {
            read_insn(m, f, row, words);
        } else {
            *out = NULL;
            ir_module_free(m);
            return wl_fail(err, WL_PARSE, "%s: no instruction of tiny: %s", name, words[0]);
        }
    }
    return WL_OK;
}

const ir_front tiny_front = {
    .name = "tiny", .recognises = recognises, .read = read_text, .insn_text = insn_text};
