/* Basic blocks of a kernel and their program order. */
#include "emu/decode.h"

/* ---- which operands an instruction writes ---- */

static bool is_destination(char letter)
{
    return letter == 'd' || letter == 'o' || letter == 'w' || letter == 'q';
}

/* An optional word stands for an operand only where the operand can be what its letter says. */
static bool fits(char letter, const ptx_operand *o)
{
    bool address = o->kind == PTX_OPD_ADDR || o->kind == PTX_OPD_TEX;
    return (letter == 'a' || letter == 't') == address || letter == 'x';
}

static uint32_t written_by_call(const ptx_insn *i)
{
    return i->noperands && i->operands[0].kind == PTX_OPD_LIST ? 1 : 0;
}

uint32_t emu_written(const ptx_insn *i)
{
    if (i->op == PTX_call)
        return written_by_call(i);
    const ptx_form *form = ptx_insn_form(i);
    if (!form)
        return 1; /* mad.f32 of the first PTX versions */
    uint32_t written = 0, operand = 0;
    for (const char *word = form->operands; *word && operand < i->noperands && operand < 32;) {
        size_t length = strcspn(word, " ");
        bool optional = word[length - 1] == '?' && !memchr(word, '|', length);
        if (!optional || fits(*word, &i->operands[operand])) {
            if (is_destination(*word))
                written |= 1u << operand;
            operand++;
        }
        word += length;
        word += strspn(word, " ");
    }
    return written;
}

/* ---- basic blocks ---- */

bool emu_ends_block(const ptx_insn *i)
{
    return i->op == PTX_bra || i->op == PTX_brx || i->op == PTX_call || i->op == PTX_ret ||
           i->op == PTX_exit;
}

static bool synchronises(const ptx_insn *i)
{
    switch (i->op) {
    case PTX_shfl:
    case PTX_vote:
    case PTX_match:
    case PTX_redux:
    case PTX_elect:
    case PTX_wmma:
    case PTX_mma:
    case PTX_ldmatrix:
    case PTX_stmatrix:
    case PTX_movmatrix: return ptx_has(i, PTX_S_sync);
    default: return false;
    }
}

emu_entry emu_entry_of(const ptx_insn *i)
{
    if (i->op == PTX_bar && ptx_has(i, PTX_S_warp))
        return EMU_ENTRY_WARP;
    if (i->op == PTX_barrier && ptx_has(i, PTX_S_cluster))
        return ptx_has(i, PTX_S_wait) ? EMU_ENTRY_CLUSTER_WAIT : EMU_ENTRY_CLUSTER_ARRIVE;
    if (i->op == PTX_bar || i->op == PTX_barrier)
        return EMU_ENTRY_BARRIER;
    if (i->op == PTX_nanosleep)
        return EMU_ENTRY_YIELD;
    return synchronises(i) ? EMU_ENTRY_WARP : EMU_ENTRY_NONE;
}

static bool stands_alone(const ptx_insn *i)
{
    return i->guard != PTX_NONE && i->op != PTX_bra &&
           (emu_ends_block(i) || emu_entry_of(i) != EMU_ENTRY_NONE);
}

static void mark_label(const ptx_func *func, uint32_t label, uint8_t *leader)
{
    const ptx_label *l = &func->labels[label];
    if (l->kind == PTX_LABEL_BRANCHTARGETS)
        for (uint32_t k = 0; k < l->count; k++)
            mark_label(func, l->targets[k], leader);
    else if (l->kind == PTX_LABEL_CODE && l->pc <= func->ninsns)
        leader[l->pc] = 1;
}

/* leader[pc] for pc 0 .. ninsns: whether a basic block starts there. */
static void mark_leaders(const ptx_func *func, uint8_t *leader)
{
    leader[0] = 1;
    for (uint32_t n = 0; n < func->ninsns; n++) {
        const ptx_insn *i = &func->insns[n];
        if (i->op == PTX_bra || i->op == PTX_brx)
            for (uint32_t k = 0; k < i->noperands; k++)
                if (i->operands[k].kind == PTX_OPD_LABEL)
                    mark_label(func, i->operands[k].label, leader);
        if (emu_entry_of(i) != EMU_ENTRY_NONE || stands_alone(i))
            leader[n] = 1;
        if (emu_ends_block(i) || stands_alone(i))
            leader[n + 1] = 1;
    }
    const ptx_insn *last = func->ninsns ? &func->insns[func->ninsns - 1] : NULL;
    if (!last || (!emu_ends_block(last) && !stands_alone(last)))
        leader[func->ninsns] = 1;
}

static void add_blocks(emu_decode *d, uint32_t index, const uint8_t *leader)
{
    emu_kernel *k = d->kernel;
    const ptx_func *func = k->order.funcs[index];
    k->functions[index].entry = k->nbbs;
    for (uint32_t n = 0; n <= func->ninsns; n++) {
        if (leader[n]) {
            emu_bb *bb = &k->bbs[k->nbbs++];
            bb->first_pc = k->order.first_pc[index] + n;
            bb->function = index;
            bb->term = n == func->ninsns ? EMU_TERM_RET : EMU_TERM_FALL;
            bb->pred = bb->guard = EMU_NOREF;
            bb->next = k->nbbs;
        }
        if (n < func->ninsns) {
            k->bbs[k->nbbs - 1].ninsns++;
            k->bb_of_pc[k->order.first_pc[index] + n] = k->nbbs - 1;
        }
    }
}

static uint8_t *leaders_of(emu_decode *d, uint32_t *total)
{
    const ptx_callorder *order = &d->kernel->order;
    uint32_t ncode = order->first_pc[order->count];
    uint8_t *leaders = calloc(ncode + order->count + 1, 1);
    if (!leaders)
        return NULL;
    *total = 0;
    for (uint32_t k = 0; k < order->count; k++)
        mark_leaders(order->funcs[k], leaders + order->first_pc[k] + k);
    for (uint32_t n = 0; n < ncode + order->count; n++)
        *total += leaders[n];
    return leaders;
}

uint32_t emu_label_bb(const emu_decode *d, uint32_t label)
{
    const emu_kernel *k = d->kernel;
    const ptx_label *l = &d->func->labels[label];
    if (l->pc < d->func->ninsns)
        return k->bb_of_pc[d->first_pc + l->pc];
    uint32_t b = d->function->entry;
    while (b + 1 < k->nbbs && k->bbs[b + 1].function == k->bbs[b].function)
        b++;
    return b;
}

wl_status emu_form_blocks(emu_decode *d)
{
    emu_kernel *k = d->kernel;
    uint32_t total = 0, ncode = k->order.first_pc[k->order.count];
    uint8_t *leaders = leaders_of(d, &total);
    k->bbs = wl_new_array(d->arena, emu_bb, total + 1);
    k->bb_of_pc = wl_new_array(d->arena, uint32_t, ncode + 1);
    if (!leaders || !k->bbs || !k->bb_of_pc) {
        free(leaders);
        return WL_NOMEM;
    }
    for (uint32_t f = 0; f < k->order.count; f++)
        add_blocks(d, f, leaders + k->order.first_pc[f] + f);
    free(leaders);
    return WL_OK;
}
