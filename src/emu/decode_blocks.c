/* Basic blocks of a kernel and their program order. */
#include "emu/decode.h"

/* ---- which operands an instruction writes ---- */

static bool is_destination(char letter)
{
    return letter == 'd' || letter == 'o' || letter == 'w' || letter == 'q';
}

/* An optional word stands for an operand only where the operand can be what its letter says. */
static bool operand_fits_letter(char letter, const ir_operand *o)
{
    bool address = o->kind == IR_OPD_ADDR || o->kind == IR_OPD_TEX;
    return (letter == 'a' || letter == 't') == address || letter == 'x';
}

static uint32_t written_by_call(const ir_insn *i)
{
    return i->noperands && i->operands[0].kind == IR_OPD_LIST ? 1 : 0;
}

uint32_t emu_written(const ir_insn *i)
{
    if (i->op == IR_call)
        return written_by_call(i);
    const ir_form *form = ir_insn_form(i);
    if (!form)
        return 1; /* mad.f32 of the first PTX versions */
    uint32_t written = 0, operand = 0;
    for (const char *word = form->operands; *word && operand < i->noperands && operand < 32;) {
        size_t length = strcspn(word, " ");
        bool optional = word[length - 1] == '?' && !memchr(word, '|', length);
        if (!optional || operand_fits_letter(*word, &i->operands[operand])) {
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

static void add_function_blocks(emu_decode *d, uint32_t index, const uint8_t *leader)
{
    emu_kernel *k = d->kernel;
    const ir_func *func = k->code.funcs[index];
    k->functions[index].entry = k->nbbs;
    for (uint32_t n = 0; n <= func->ninsns; n++) {
        if (leader[n]) {
            emu_bb *bb = &k->bbs[k->nbbs++];
            bb->first_pc = k->code.first_pc[index] + n;
            bb->function = index;
            bb->term = n == func->ninsns ? EMU_TERM_RET : EMU_TERM_FALL;
            bb->pred = bb->guard = EMU_NOREF;
            bb->next = k->nbbs;
        }
        if (n < func->ninsns) {
            k->bbs[k->nbbs - 1].ninsns++;
            k->bb_of_pc[k->code.first_pc[index] + n] = k->nbbs - 1;
            k->cost_of_pc[k->code.first_pc[index] + n] = (uint8_t)ir_insn_cost(&func->insns[n]);
        }
    }
}

/* A slice goes on there; functions have one place more than instructions. */
static void mark_rejoin(const emu_kernel *k, uint32_t pc, uint8_t *leaders)
{
    uint32_t to = k->proof->rejoin[pc];
    if (k->proof->flags[pc] & FLOW_PC_UNKNOWN && to < k->info.ncode)
        leaders[to + ir_kernel_at(&k->code, to).index] = 1;
}

static uint8_t *leaders_of(emu_decode *d, uint32_t *total)
{
    const ir_kernel *code = &d->kernel->code;
    uint32_t ncode = code->npcs, places = ncode + code->count;
    uint8_t *leaders = malloc(places + 1);
    if (!leaders)
        return NULL;
    memcpy(leaders, code->leader, places);
    *total = 0;
    for (uint32_t pc = 0; d->kernel->proof && pc < ncode; pc++)
        mark_rejoin(d->kernel, pc, leaders);
    for (uint32_t n = 0; n < places; n++)
        *total += leaders[n];
    return leaders;
}

uint32_t emu_label_bb(const emu_decode *d, uint32_t label)
{
    const emu_kernel *k = d->kernel;
    const ir_label *l = &d->func->labels[label];
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
    uint32_t total = 0, ncode = k->code.npcs;
    uint8_t *leaders = leaders_of(d, &total);
    k->bbs = wl_new_array(d->arena, emu_bb, total + 1);
    k->bb_of_pc = wl_new_array(d->arena, uint32_t, ncode + 1);
    k->cost_of_pc = wl_new_array(d->arena, uint8_t, ncode + 1);
    if (!leaders || !k->bbs || !k->bb_of_pc || !k->cost_of_pc) {
        free(leaders);
        return WL_NOMEM;
    }
    for (uint32_t f = 0; f < k->code.count; f++)
        add_function_blocks(d, f, leaders + k->code.first_pc[f] + f);
    free(leaders);
    return WL_OK;
}
