#include "ir/forms.h"

#include "ir/lookup.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Tables, compiled once --- */

static const ir_form rows[] = {
#define X(id, text, suffixes, operands, effect, cost) \
    {IR_##id, suffixes, operands, IR_EFFECT_##effect, IR_COST_##cost},
#define FORM(id, suffixes, operands, effect, cost) \
    {IR_##id, suffixes, operands, IR_EFFECT_##effect, IR_COST_##cost},
#include "ir/ops.def"
#undef X
};

enum { ROWS = sizeof rows / sizeof *rows, MAX_SLOTS = 8 * ROWS, MAX_ROLES = 6 * ROWS };

static ir_form_info forms[ROWS];
static uint16_t first_form[IR_OP_COUNT + 1];
static ir_slot slots[MAX_SLOTS];
static ir_role roles[MAX_ROLES];
static unsigned nslots, nroles;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const class_names[IR_SC_COUNT] = {
    [IR_SC_TYPE] = "TYPE",           [IR_SC_SPACE] = "SPACE",
    [IR_SC_ROUND] = "ROUND",         [IR_SC_CMP] = "CMP",
    [IR_SC_BOOL] = "BOOL",           [IR_SC_OP] = "OP",
    [IR_SC_CACHE] = "CACHE",         [IR_SC_SEM] = "SEM",
    [IR_SC_SCOPE] = "SCOPE",         [IR_SC_VECTOR] = "VECTOR",
    [IR_SC_GEOM] = "GEOM",           [IR_SC_FLOAT] = "FLOAT",
    [IR_SC_MODE] = "MODE",           [IR_SC_TEXTURE] = "TEXTURE",
    [IR_SC_ASYNC] = "ASYNC",         [IR_SC_PROXY] = "PROXY",
    [IR_SC_TENSORMAP] = "TENSORMAP", [IR_SC_TENSOR] = "TENSOR",
    [IR_SC_SHAPE] = "SHAPE",         [IR_SC_REPEAT] = "REPEAT",
};

/* What a row names and does not exist: a mistake in the tables, which a test looks for. */
static char problem[128];

static void bad_row(const ir_form *form, const char *what, size_t length)
{
    snprintf(problem, sizeof problem, "ops.def: %s: '%.*s' is not known", ir_op_get(form->op)->text,
             (int)length, what);
}

static bool admits(const ir_slot *slot, unsigned suffix)
{
    return slot->admits[suffix / 64] >> (suffix % 64) & 1;
}

static void admit(ir_slot *slot, unsigned suffix)
{
    slot->admits[suffix / 64] |= 1ull << (suffix % 64);
}

static bool admit_class(ir_slot *slot, const char *text, size_t length)
{
    for (unsigned c = 0; c < IR_SC_COUNT; c++) {
        if (strlen(class_names[c]) != length || memcmp(class_names[c], text, length) != 0)
            continue;
        for (unsigned s = 1; s < IR_SUFFIX_COUNT; s++)
            if (ir_suffix_class_of(s) == c)
                admit(slot, s);
        return true;
    }
    return false;
}

static void compile_slot(const ir_form *form, ir_slot *slot, const char *text, size_t length)
{
    slot->optional = text[length - 1] == '?';
    length -= slot->optional;
    for (size_t at = 0; at < length;) {
        size_t n = strcspn(text + at, "| ?");
        ir_suffix suffix = ir_find_suffix(text + at, n, ir_hash(text + at, n));
        if (suffix)
            admit(slot, suffix);
        else if (!admit_class(slot, text + at, n))
            bad_row(form, text + at, n);
        slot->is_type = suffix && ir_suffix_class_of(suffix) == IR_SC_TYPE;
        at += n + 1;
    }
}

static void compile_role(const ir_form *form, ir_role *role, const char *text, size_t length)
{
    *role = (ir_role){.letter = text[0]};
    for (size_t at = 1; at < length; at++) {
        if (text[at] >= '0' && text[at] <= '3') {
            role->index = (uint8_t)(text[at] - '0');
        } else if (text[at] == 'W') {
            role->by = IR_ROLE_WIDE;
        } else if (text[at] == '*') {
            role->by = IR_ROLE_UNCHECKED;
        } else if (text[at] == '>') {
            role->wider = true;
        } else if (text[at] == '|') {
            role->pair = true;
            role->pair_optional = text[length - 1] == '?';
            return;
        } else if (text[at] == '?') {
            role->optional = true;
        } else if (text[at] == ':') {
            size_t n = strcspn(text + at + 1, " |?>");
            role->by = IR_ROLE_NAMED;
            role->type = (ir_type)ir_find_suffix(text + at + 1, n, ir_hash(text + at + 1, n));
            if (role->type == IR_T_none || role->type >= IR_TYPE_COUNT)
                bad_row(form, text + at + 1, n);
            at += n;
        } else {
            bad_row(form, text, length);
        }
    }
}

static void compile_row(ir_form_info *info, const ir_form *form)
{
    *info = (ir_form_info){
        .form = *form, .first_slot = (uint16_t)nslots, .first_role = (uint16_t)nroles};
    for (const char *at = form->suffixes; *at; at += *at == ' ') {
        size_t n = strcspn(at, " ");
        if (n == 0)
            continue;
        if (nslots == MAX_SLOTS || nslots - info->first_slot == IR_MAX_SLOTS)
            bad_row(form, at, n);
        else
            compile_slot(form, &slots[nslots++], at, n);
        at += n;
    }
    for (const char *at = form->operands; *at; at += *at == ' ') {
        size_t n = strcspn(at, " ");
        if (n == 0)
            continue;
        if (nroles == MAX_ROLES || nroles - info->first_role == IR_MAX_ROLES)
            bad_row(form, at, n);
        else
            compile_role(form, &roles[nroles++], at, n);
        at += n;
    }
    info->nslots = (uint16_t)(nslots - info->first_slot);
    info->nroles = (uint16_t)(nroles - info->first_role);
}

static void compile_forms(void)
{
    unsigned op = 0;
    for (unsigned i = 0; i < ROWS; i++) {
        while (op < rows[i].op)
            first_form[++op] = (uint16_t)i;
        compile_row(&forms[i], &rows[i]);
    }
    while (op < IR_OP_COUNT)
        first_form[++op] = ROWS;
}

static const ir_form_info *forms_of_op(ir_op op, unsigned *count)
{
    pthread_once(&once, compile_forms);
    if ((unsigned)op >= IR_OP_COUNT)
        op = IR_OP_NONE;
    *count = (unsigned)first_form[op + 1] - first_form[op];
    return &forms[first_form[op]];
}

const char *ir_forms_problem(void)
{
    pthread_once(&once, compile_forms);
    return problem[0] ? problem : NULL;
}

static const ir_slot *slots_of_form(const ir_form_info *form)
{
    return &slots[form->first_slot];
}

const ir_role *ir_roles_of(const ir_form_info *form)
{
    return &roles[form->first_role];
}

void ir_slot_text(const ir_form_info *form, int slot, char *buffer, size_t size)
{
    const char *at = form->form.suffixes;
    for (int i = 0; *at; i++) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        if (i == slot) {
            snprintf(buffer, size, "%.*s", (int)(n - (n && at[n - 1] == '?')), at);
            return;
        }
        at += n;
    }
    snprintf(buffer, size, "?");
}

/* --- Matching --- */

typedef struct match {
    bool filled[IR_MAX_SLOTS];
    unsigned next_type; /* slot from which on the next type may stand */
} match;

/* The slot that takes the suffix, or -1. */
static int take_suffix(const ir_form_info *form, match *m, unsigned suffix)
{
    const ir_slot *list = slots_of_form(form);
    bool is_type = ir_suffix_class_of(suffix) == IR_SC_TYPE;
    for (unsigned i = is_type ? m->next_type : 0; i < form->nslots; i++) {
        if (list[i].is_type != is_type || m->filled[i])
            continue;
        if (admits(&list[i], suffix)) {
            m->filled[i] = true;
            if (is_type)
                m->next_type = i + 1;
            return (int)i;
        }
        if (is_type && !list[i].optional)
            return -1;
    }
    return -1;
}

static int first_missing(const ir_form_info *form, const match *m)
{
    const ir_slot *list = slots_of_form(form);
    for (unsigned i = 0; i < form->nslots; i++)
        if (!m->filled[i] && !list[i].optional)
            return (int)i;
    return -1;
}

static bool form_fits(const ir_form_info *form, const ir_insn *insn, unsigned *bad, int *missing)
{
    match m = {.next_type = 0};
    for (*bad = 0; *bad < insn->nsuffixes; ++*bad)
        if (take_suffix(form, &m, insn->suffixes[*bad]) < 0)
            return false;
    *missing = first_missing(form, &m);
    return *missing < 0;
}

const ir_form_info *ir_match_form(const ir_insn *insn, const ir_form_info **closest, unsigned *bad,
                                  int *missing)
{
    unsigned count, best = 0;
    const ir_form_info *list = forms_of_op(insn->op, &count);
    *closest = NULL;
    for (unsigned i = 0; i < count; i++) {
        unsigned reached;
        int empty = -1;
        if (form_fits(&list[i], insn, &reached, &empty))
            return &list[i];
        if (!*closest || reached > best) {
            *closest = &list[i];
            best = *bad = reached;
            *missing = empty;
        }
    }
    return NULL;
}

/* --- Questions about instructions --- */

bool ir_has(const ir_insn *insn, ir_suffix suffix)
{
    for (unsigned i = 0; i < insn->nsuffixes; i++)
        if (insn->suffixes[i] == suffix)
            return true;
    return false;
}

ir_suffix ir_first_of(const ir_insn *insn, ir_suffix_class cls)
{
    for (unsigned i = 0; i < insn->nsuffixes; i++)
        if (ir_suffix_class_of(insn->suffixes[i]) == cls)
            return insn->suffixes[i];
    return IR_S_none;
}

const ir_form *ir_insn_form(const ir_insn *insn)
{
    const ir_form_info *closest;
    unsigned bad;
    int missing;
    const ir_form_info *form = ir_match_form(insn, &closest, &bad, &missing);
    return form ? &form->form : NULL;
}

ir_effect ir_insn_effect(const ir_insn *insn)
{
    const ir_form *form = ir_insn_form(insn);
    return form ? form->effect : ir_op_get(insn->op)->effect;
}

static bool is_arithmetic(ir_cost cost)
{
    return cost == IR_COST_INT || cost == IR_COST_FP32 || cost == IR_COST_SFU;
}

ir_cost ir_insn_cost(const ir_insn *insn)
{
    const ir_form *form = ir_insn_form(insn);
    ir_cost cost = form ? form->cost : ir_op_get(insn->op)->cost;
    const ir_type_info *t = ir_type_get(insn->types[0]);
    if (!is_arithmetic(cost) || (t->kind != IR_KIND_F && t->kind != IR_KIND_BF))
        return cost;
    if (t->bits == 64)
        return IR_COST_FP64;
    if (cost == IR_COST_SFU)
        return cost;
    return t->bits == 16 ? IR_COST_HALF : IR_COST_FP32;
}
