/* Special registers as operands: where the emulator keeps their values. Types, and which have
 * components, say the columns of sregs.def. */
#include "emu/decode.h"

typedef enum home_kind {
    NOT_KEPT,
    OF_LAUNCH, /* one vector for all warps of the launch: emu_uniform */
    OF_BLOCK,  /* EMU_B_... */
    OF_WARP,   /* EMU_W_... */
    READ,      /* by an instruction of its own: the handler */
    ZERO       /* counters that count nothing here, and addresses where nothing lies */
} home_kind;

typedef struct home {
    home_kind kind;
    uint32_t at;            /* of the first component */
    bool cluster, reserves; /* what the kernel that reads it needs: clusters, shared memory reserved
                               by the system */
} home;

static const home homes[IR_SREG_COUNT] = {
    [IR_SR_tid] = {.kind = OF_WARP, .at = EMU_W_TID_X},
    [IR_SR_ntid] = {.kind = OF_LAUNCH, .at = EMU_U_NTID_X},
    [IR_SR_ctaid] = {.kind = OF_BLOCK, .at = EMU_B_CTAID_X},
    [IR_SR_nctaid] = {.kind = OF_LAUNCH, .at = EMU_U_NCTAID_X},
    [IR_SR_laneid] = {.kind = OF_LAUNCH, .at = EMU_U_LANEID},
    [IR_SR_warpid] = {.kind = OF_WARP, .at = EMU_W_WARPID},
    [IR_SR_nwarpid] = {.kind = OF_LAUNCH, .at = EMU_U_NWARPID},
    [IR_SR_smid] = {.kind = OF_BLOCK, .at = EMU_B_SMID},
    [IR_SR_nsmid] = {.kind = OF_LAUNCH, .at = EMU_U_NSMID},
    [IR_SR_gridid] = {.kind = OF_LAUNCH, .at = EMU_U_GRIDID},
    [IR_SR_is_explicit_cluster] = {.kind = OF_LAUNCH, .at = EMU_U_IS_CLUSTER},
    [IR_SR_clusterid] = {.kind = OF_BLOCK, .at = EMU_B_CLUSTERID_X, .cluster = true},
    [IR_SR_nclusterid] = {.kind = OF_LAUNCH, .at = EMU_U_NCLUSTERID_X},
    [IR_SR_cluster_ctaid] = {.kind = OF_BLOCK, .at = EMU_B_CLUSTER_CTAID_X, .cluster = true},
    [IR_SR_cluster_nctaid] = {.kind = OF_LAUNCH, .at = EMU_U_CLUSTER_NCTAID_X},
    [IR_SR_cluster_ctarank] = {.kind = OF_BLOCK, .at = EMU_B_CLUSTER_CTARANK, .cluster = true},
    [IR_SR_cluster_nctarank] = {.kind = OF_LAUNCH, .at = EMU_U_CLUSTER_NCTARANK},
    [IR_SR_lanemask_eq] = {.kind = OF_LAUNCH, .at = EMU_U_LANEMASK_EQ},
    [IR_SR_lanemask_le] = {.kind = OF_LAUNCH, .at = EMU_U_LANEMASK_LE},
    [IR_SR_lanemask_lt] = {.kind = OF_LAUNCH, .at = EMU_U_LANEMASK_LT},
    [IR_SR_lanemask_ge] = {.kind = OF_LAUNCH, .at = EMU_U_LANEMASK_GE},
    [IR_SR_lanemask_gt] = {.kind = OF_LAUNCH, .at = EMU_U_LANEMASK_GT},
    [IR_SR_clock] = {.kind = READ, .at = EMU_H_clock_32},
    [IR_SR_clock_hi] = {.kind = READ, .at = EMU_H_clock_hi},
    [IR_SR_clock64] = {.kind = READ, .at = EMU_H_clock_64},
    [IR_SR_pm] = {.kind = ZERO},
    [IR_SR_pm0_64... IR_SR_pm7_64] = {.kind = ZERO},
    [IR_SR_envreg] = {.kind = ZERO}, /* but see home_of() */
    [IR_SR_globaltimer] = {.kind = READ, .at = EMU_H_timer_64},
    [IR_SR_globaltimer_lo] = {.kind = READ, .at = EMU_H_timer_lo},
    [IR_SR_globaltimer_hi] = {.kind = READ, .at = EMU_H_timer_hi},
    [IR_SR_reserved_smem_offset_begin] = {.kind = OF_LAUNCH,
                                          .at = EMU_U_RESERVED_SMEM,
                                          .reserves = true},
    [IR_SR_reserved_smem_offset_end] = {.kind = ZERO},
    [IR_SR_reserved_smem_offset_cap] = {.kind = ZERO},
    [IR_SR_reserved_smem_offset] = {.kind = OF_LAUNCH, .at = EMU_U_RESERVED_SMEM, .reserves = true},
    [IR_SR_total_smem_size] = {.kind = OF_LAUNCH, .at = EMU_U_TOTAL_SMEM},
    [IR_SR_aggr_smem_size] = {.kind = OF_LAUNCH, .at = EMU_U_TOTAL_SMEM},
    [IR_SR_dynamic_smem_size] = {.kind = OF_LAUNCH, .at = EMU_U_DYNAMIC_SMEM},
    [IR_SR_current_graph_exec] = {.kind = ZERO},
    [IR_SR_unknown] = {.kind = ZERO},
};

/* %envreg1 and %envreg2 hold the address of a cooperative launch's workspace. */
static home home_of(const ir_operand *o)
{
    if (o->sreg == IR_SR_envreg && (o->sreg_index == 1 || o->sreg_index == 2))
        return (home){OF_LAUNCH, o->sreg_index == 1 ? EMU_U_ENVREG1 : EMU_U_ENVREG2, false, false};
    return homes[o->sreg];
}

unsigned emu_sreg_bits(ir_sreg sreg)
{
    const ir_type_info *t = ir_type_get(ir_sreg_get(sreg)->type);
    return t->kind == IR_KIND_P ? 1 : t->bits;
}

static emu_ref read_by(emu_decode *d, emu_h handler, unsigned bits)
{
    emu_ref ref = emu_temp(d, bits);
    emu_emit(d, handler, ref, EMU_NOREF, EMU_NOREF, EMU_NOREF);
    return ref;
}

emu_ref emu_sreg(emu_decode *d, const ir_operand *o)
{
    home h = home_of(o);
    unsigned bits = emu_sreg_bits(o->sreg);
    uint32_t component = ir_sreg_get(o->sreg)->vector && o->component ? o->component - 1u : 0;
    emu_ref zero = h.kind == ZERO || component > 2
                       ? emu_uniform_ref(d, bits == 64 ? EMU_U_ZERO64 : EMU_U_ZERO32, bits)
                       : EMU_NOREF;
    d->kernel->uses_cluster |= h.cluster;
    d->kernel->reserves_shared |= h.reserves;
    if (zero != EMU_NOREF)
        return zero;
    switch (h.kind) {
    case OF_LAUNCH: return emu_uniform_ref(d, (emu_uniform)(h.at + component), bits);
    case OF_BLOCK: return EMU_REF(EMU_BLOCK, (h.at + component) * EMU_VECTOR32);
    case OF_WARP: return EMU_REF(EMU_WARP, (h.at + component) * EMU_VECTOR32);
    case READ: return read_by(d, (emu_h)h.at, bits);
    default: break;
    }
    emu_unsupported(d, "the special register %%%s is not supported", ir_sreg_get(o->sreg)->text);
    return 0;
}
