#include "ptx/forms.h"

#include "ptx/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Tables, compiled once --- */

static const ptx_form rows[] = {
#define X(id, text, suffixes, operands, effect, cost) \
    {PTX_##id, suffixes, operands, PTX_EFFECT_##effect, PTX_COST_##cost},
#define FORM(id, suffixes, operands, effect, cost) \
    {PTX_##id, suffixes, operands, PTX_EFFECT_##effect, PTX_COST_##cost},
#include "ptx/ops.def"
#undef X
};

enum { ROWS = sizeof rows / sizeof *rows, MAX_SLOTS = 8 * ROWS, MAX_ROLES = 6 * ROWS };

static ptx_form_info forms[ROWS];
static uint16_t first_form[PTX_OP_COUNT + 1];
static ptx_slot slots[MAX_SLOTS];
static ptx_role roles[MAX_ROLES];
static unsigned nslots, nroles;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const class_names[PTX_SC_COUNT] = {
    [PTX_SC_TYPE] = "TYPE",           [PTX_SC_SPACE] = "SPACE",
    [PTX_SC_ROUND] = "ROUND",         [PTX_SC_CMP] = "CMP",
    [PTX_SC_BOOL] = "BOOL",           [PTX_SC_OP] = "OP",
    [PTX_SC_CACHE] = "CACHE",         [PTX_SC_SEM] = "SEM",
    [PTX_SC_SCOPE] = "SCOPE",         [PTX_SC_VECTOR] = "VECTOR",
    [PTX_SC_GEOM] = "GEOM",           [PTX_SC_FLOAT] = "FLOAT",
    [PTX_SC_MODE] = "MODE",           [PTX_SC_TEXTURE] = "TEXTURE",
    [PTX_SC_ASYNC] = "ASYNC",         [PTX_SC_PROXY] = "PROXY",
    [PTX_SC_TENSORMAP] = "TENSORMAP", [PTX_SC_TENSOR] = "TENSOR",
    [PTX_SC_SHAPE] = "SHAPE",         [PTX_SC_REPEAT] = "REPEAT",
};

/* What a row names and does not exist: a mistake in the tables, which a test looks for. */
static char problem[128];

static void bad_row(const ptx_form *form, const char *what, size_t length)
{
    snprintf(problem, sizeof problem, "ops.def: %s: '%.*s' is not known",
             ptx_op_get(form->op)->text, (int)length, what);
}

static bool admits(const ptx_slot *slot, unsigned suffix)
{
    return slot->admits[suffix / 64] >> (suffix % 64) & 1;
}

static void admit(ptx_slot *slot, unsigned suffix)
{
    slot->admits[suffix / 64] |= 1ull << (suffix % 64);
}

static bool admit_class(ptx_slot *slot, const char *text, size_t length)
{
    for (unsigned c = 0; c < PTX_SC_COUNT; c++) {
        if (strlen(class_names[c]) != length || memcmp(class_names[c], text, length) != 0)
            continue;
        for (unsigned s = 1; s < PTX_SUFFIX_COUNT; s++)
            if (ptx_suffix_class_of(s) == c)
                admit(slot, s);
        return true;
    }
    return false;
}

static void compile_slot(const ptx_form *form, ptx_slot *slot, const char *text, size_t length)
{
    slot->optional = text[length - 1] == '?';
    length -= slot->optional;
    for (size_t at = 0; at < length;) {
        size_t n = strcspn(text + at, "| ?");
        ptx_suffix suffix = ptx_find_suffix(text + at, n, ptx_hash(text + at, n));
        if (suffix)
            admit(slot, suffix);
        else if (!admit_class(slot, text + at, n))
            bad_row(form, text + at, n);
        slot->is_type = suffix && ptx_suffix_class_of(suffix) == PTX_SC_TYPE;
        at += n + 1;
    }
}

static void compile_role(const ptx_form *form, ptx_role *role, const char *text, size_t length)
{
    *role = (ptx_role){.letter = text[0]};
    for (size_t at = 1; at < length; at++) {
        if (text[at] >= '0' && text[at] <= '3') {
            role->index = (uint8_t)(text[at] - '0');
        } else if (text[at] == 'W') {
            role->by = PTX_ROLE_WIDE;
        } else if (text[at] == '*') {
            role->by = PTX_ROLE_UNCHECKED;
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
            role->by = PTX_ROLE_NAMED;
            role->type = (ptx_type)ptx_find_suffix(text + at + 1, n, ptx_hash(text + at + 1, n));
            if (role->type == PTX_T_none || role->type >= PTX_TYPE_COUNT)
                bad_row(form, text + at + 1, n);
            at += n;
        } else {
            bad_row(form, text, length);
        }
    }
}

static void compile_row(ptx_form_info *info, const ptx_form *form)
{
    *info = (ptx_form_info){
        .form = *form, .first_slot = (uint16_t)nslots, .first_role = (uint16_t)nroles};
    for (const char *at = form->suffixes; *at; at += *at == ' ') {
        size_t n = strcspn(at, " ");
        if (n == 0)
            continue;
        if (nslots == MAX_SLOTS || nslots - info->first_slot == PTX_MAX_SLOTS)
            bad_row(form, at, n);
        else
            compile_slot(form, &slots[nslots++], at, n);
        at += n;
    }
    for (const char *at = form->operands; *at; at += *at == ' ') {
        size_t n = strcspn(at, " ");
        if (n == 0)
            continue;
        if (nroles == MAX_ROLES || nroles - info->first_role == PTX_MAX_ROLES)
            bad_row(form, at, n);
        else
            compile_role(form, &roles[nroles++], at, n);
        at += n;
    }
    info->nslots = (uint16_t)(nslots - info->first_slot);
    info->nroles = (uint16_t)(nroles - info->first_role);
}

static void compile(void)
{
    unsigned op = 0;
    for (unsigned i = 0; i < ROWS; i++) {
        while (op < rows[i].op)
            first_form[++op] = (uint16_t)i;
        compile_row(&forms[i], &rows[i]);
    }
    while (op < PTX_OP_COUNT)
        first_form[++op] = ROWS;
}

const ptx_form_info *ptx_forms_of(ptx_op op, unsigned *count)
{
    pthread_once(&once, compile);
    if ((unsigned)op >= PTX_OP_COUNT)
        op = PTX_OP_NONE;
    *count = (unsigned)first_form[op + 1] - first_form[op];
    return &forms[first_form[op]];
}

const char *ptx_forms_problem(void)
{
    pthread_once(&once, compile);
    return problem[0] ? problem : NULL;
}

const ptx_slot *ptx_slots_of(const ptx_form_info *form)
{
    return &slots[form->first_slot];
}

const ptx_role *ptx_roles_of(const ptx_form_info *form)
{
    return &roles[form->first_role];
}

void ptx_slot_text(const ptx_form_info *form, int slot, char *buffer, size_t size)
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
    bool filled[PTX_MAX_SLOTS];
    unsigned next_type; /* slot from which on the next type may stand */
} match;

/* The slot that takes the suffix, or -1. */
static int take_suffix(const ptx_form_info *form, match *m, unsigned suffix)
{
    const ptx_slot *list = ptx_slots_of(form);
    bool is_type = ptx_suffix_class_of(suffix) == PTX_SC_TYPE;
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

static int first_missing(const ptx_form_info *form, const match *m)
{
    const ptx_slot *list = ptx_slots_of(form);
    for (unsigned i = 0; i < form->nslots; i++)
        if (!m->filled[i] && !list[i].optional)
            return (int)i;
    return -1;
}

static bool fits(const ptx_form_info *form, const ptx_insn *insn, unsigned *bad, int *missing)
{
    match m = {.next_type = 0};
    for (*bad = 0; *bad < insn->nsuffixes; ++*bad)
        if (take_suffix(form, &m, insn->suffixes[*bad]) < 0)
            return false;
    *missing = first_missing(form, &m);
    return *missing < 0;
}

const ptx_form_info *ptx_match_form(const ptx_insn *insn, const ptx_form_info **closest,
                                    unsigned *bad, int *missing)
{
    unsigned count, best = 0;
    const ptx_form_info *list = ptx_forms_of(insn->op, &count);
    *closest = NULL;
    for (unsigned i = 0; i < count; i++) {
        unsigned reached;
        int empty = -1;
        if (fits(&list[i], insn, &reached, &empty))
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

bool ptx_has(const ptx_insn *insn, ptx_suffix suffix)
{
    for (unsigned i = 0; i < insn->nsuffixes; i++)
        if (insn->suffixes[i] == suffix)
            return true;
    return false;
}

ptx_suffix ptx_first_of(const ptx_insn *insn, ptx_suffix_class cls)
{
    for (unsigned i = 0; i < insn->nsuffixes; i++)
        if (ptx_suffix_class_of(insn->suffixes[i]) == cls)
            return insn->suffixes[i];
    return PTX_S_none;
}

const ptx_form *ptx_insn_form(const ptx_insn *insn)
{
    const ptx_form_info *closest;
    unsigned bad;
    int missing;
    const ptx_form_info *form = ptx_match_form(insn, &closest, &bad, &missing);
    return form ? &form->form : NULL;
}

ptx_effect ptx_insn_effect(const ptx_insn *insn)
{
    const ptx_form *form = ptx_insn_form(insn);
    return form ? form->effect : ptx_op_get(insn->op)->effect;
}

static bool is_arithmetic(ptx_cost cost)
{
    return cost == PTX_COST_INT || cost == PTX_COST_FP32 || cost == PTX_COST_SFU;
}

ptx_cost ptx_insn_cost(const ptx_insn *insn)
{
    const ptx_form *form = ptx_insn_form(insn);
    ptx_cost cost = form ? form->cost : ptx_op_get(insn->op)->cost;
    const ptx_type_info *t = ptx_type_get(insn->types[0]);
    if (!is_arithmetic(cost) || (t->kind != PTX_KIND_F && t->kind != PTX_KIND_BF))
        return cost;
    if (t->bits == 64)
        return PTX_COST_FP64;
    if (cost == PTX_COST_SFU)
        return cost;
    return t->bits == 16 ? PTX_COST_HALF : PTX_COST_FP32;
}
