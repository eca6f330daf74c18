/* What of parameters and constants a kernel's accesses depend on, and reasons of gaps. */
#include "replay/facts.h"

#include "emu/slice.h"
#include "flow/launch.h"
#include "ir/blocks.h"

#include <string.h>

typedef struct state {
    replay_facts *facts;
    const ir_func *kernel;
    uint32_t room; /* in facts->constants */
} state;

static const ir_insn *insn_at(const replay_facts *facts, uint32_t pc)
{
    return ir_kernel_at(&facts->code, pc).insn;
}

/* ---- parameters and constants ---- */

static void use_param(state *s, const ir_insn *insn, const ir_operand *o)
{
    uint32_t from, to;
    if (!ir_param_place(s->kernel, o->sym.var, &from, &to))
        return; /* of a device function */
    const ir_type_info *type = ir_type_get(insn->types[0]);
    bool reads_part = insn->op == IR_ld && o->kind == IR_OPD_ADDR && (int64_t)o->imm >= 0;
    uint64_t first = from + o->imm;
    uint64_t bytes = (uint64_t)type->bits * type->lanes / 8 * (insn->vector ? insn->vector : 1);
    if (reads_part && first + bytes <= to) {
        from = (uint32_t)first;
        to = (uint32_t)(first + bytes);
    }
    memset(s->facts->param_used + from, 1, to - from);
}

static void use_constant(state *s, const ir_var *var)
{
    for (uint32_t i = 0; i < s->facts->nconstants; i++)
        if (s->facts->constants[i] == var)
            return;
    if (s->facts->nconstants < s->room)
        s->facts->constants[s->facts->nconstants++] = var;
}

static void use_operand(state *s, const ir_insn *insn, const ir_operand *o)
{
    bool symbol = o->kind == IR_OPD_SYM || (o->kind == IR_OPD_ADDR && o->has_sym);
    if (symbol && o->sym.kind == IR_SYM_VAR && o->sym.var->space == IR_SPACE_PARAM)
        use_param(s, insn, o);
    if (symbol && o->sym.kind == IR_SYM_VAR && o->sym.var->space == IR_SPACE_CONST)
        use_constant(s, o->sym.var);
    for (uint32_t i = 0; i < o->count; i++)
        use_operand(s, insn, &o->items[i]);
}

/* ---- the whole ---- */

/* Barriers in shared memory are accessed as often as their waits take. */
static bool is_barrier_wait(const ir_insn *insn)
{
    return insn->op == IR_mbarrier || (insn->op == IR_cp && ir_has(insn, IR_S_mbarrier));
}

/* Guards of instructions that stand in a block of their own decide how many lanes run it. */
static bool counted(const ir_insn *insn, uint8_t flags)
{
    bool alone = insn->guard != IR_NONE && insn->op != IR_bra &&
                 (ir_ends_block(insn) || ir_wait_of(insn) != IR_WAIT_NONE);
    return flags & FLOW_PC_COUNTED && (!alone || flags & (FLOW_PC_SLICE | FLOW_PC_PROVEN));
}

static void look_at(state *s, uint32_t pc)
{
    replay_facts *facts = s->facts;
    const ir_insn *insn = insn_at(facts, pc);
    uint8_t flags = facts->proof.flags[pc];
    bool memory = flags & FLOW_PC_MEMORY;
    facts->whole &= !(memory && !(flags & FLOW_PC_PROVEN)) && !(flags & FLOW_PC_UNKNOWN) &&
                    !is_barrier_wait(insn) && counted(insn, flags);
    if (!(flags & (FLOW_PC_SLICE | FLOW_PC_PROVEN)))
        return;
    for (uint32_t i = 0; i < insn->noperands; i++)
        use_operand(s, insn, &insn->operands[i]);
}

static wl_status prove(const ir_kernel *code, const uint8_t *decided, wl_arena *arena,
                       flow_proof *out)
{
    return decided ? flow_prove_decided(code, decided, arena, out) : flow_prove(code, arena, out);
}

wl_status replay_facts_of(const ir_module *ptx, const ir_func *kernel, const uint8_t *decided,
                          wl_arena *arena, replay_facts *out)
{
    uint32_t from;
    *out = (replay_facts){.whole = true};
    state s = {.facts = out, .kernel = kernel, .room = ptx->nvars};
    ir_param_place(kernel, NULL, &from, &out->param_bytes);
    out->param_used = wl_new_array(arena, uint8_t, out->param_bytes + 1);
    out->constants = wl_new_array(arena, const ir_var *, ptx->nvars + 1);
    if (!out->param_used || !out->constants ||
        ir_kernel_of(ptx, kernel, arena, &out->code) != WL_OK ||
        prove(&out->code, decided, arena, &out->proof) != WL_OK)
        return WL_NOMEM;
    for (uint32_t pc = 0; pc < out->proof.npcs; pc++)
        look_at(&s, pc);
    return WL_OK;
}

/* ---- gaps ---- */

static const char *through_text(flow_through through)
{
    switch (through) {
    case FLOW_THROUGH_GUARD: return "its predicate depends on";
    case FLOW_THROUGH_BRANCH: return "whether it runs depends on";
    default: return "its address depends on";
    }
}

/* Of what lifted code lacks. NULL: that is not what decides here. */
static const char *unknown_instruction(const replay_facts *facts, const sass_body *machine,
                                       uint32_t pc, wl_arena *arena)
{
    const flow_verdict *verdict = &facts->proof.verdicts[pc];
    char name[128];
    if (!machine || verdict->reason != FLOW_UNKNOWN_OP || verdict->source >= machine->npcs)
        return NULL;
    uint32_t insn = machine->insn_of[verdict->source];
    sass_body_name(machine, insn, name, sizeof name);
    if (insn == machine->insn_of[pc])
        return wl_arena_printf(arena, "it is not known what %s accesses", name);
    return wl_arena_printf(arena, "%s what %s gives, which is not known",
                           through_text(verdict->through), name);
}

const char *replay_gap(const replay_facts *facts, const emu_kernel *slice, const sass_body *machine,
                       uint32_t pc, wl_arena *arena)
{
    const flow_verdict *verdict = &facts->proof.verdicts[pc];
    const ir_insn *insn = insn_at(facts, pc);
    if (is_barrier_wait(insn))
        return "how often it is executed depends on when copies end";
    if (!(facts->proof.flags[pc] & FLOW_PC_MEMORY) || emu_slice_shows(slice, pc))
        return NULL;
    const char *unknown = unknown_instruction(facts, machine, pc, arena);
    if (unknown)
        return unknown;
    if (verdict->reason != FLOW_CLEAN)
        return wl_arena_printf(arena, "%s %s", through_text(verdict->through),
                               flow_reason_text(verdict->reason));
    switch (insn->op) {
    case IR_tex:
    case IR_tld4:
    case IR_suld:
    case IR_sust:
    case IR_sured: return "where the texels of textures and surfaces lie is not recorded";
    default: return "warplens cannot compute the accesses of this instruction";
    }
}
