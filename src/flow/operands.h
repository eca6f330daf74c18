/* Registers that instructions read and write, before they are values. */
#ifndef WL_FLOW_OPERANDS_H
#define WL_FLOW_OPERANDS_H

#include "flow/kernel.h"

typedef struct flow_raw {
    uint32_t reg; /* func->nregs: the carry flag */
    bool def;
    bool partial;   /* def: the register keeps part of what it held */
    flow_role role; /* of a use */
} flow_raw;

typedef struct flow_raws {
    uint32_t *first; /* [ninsns + 1] */
    flow_raw *item;
} flow_raws;

/* Fills effects, unknown, address_first and addresses of the function, where address.value is a
 * register for now. */
void flow_read_operands(flow_kernel *kernel, flow_function *f, flow_raws *out);

/* For each block the registers that live at its start, among those that live across blocks:
 * live_reg, live_in. */
void flow_find_liveness(flow_kernel *kernel, flow_function *f, const flow_raws *raws);

/* The space that the n-th state-space suffix names; GENERIC without. */
ir_space flow_nth_space(const ir_insn *insn, unsigned n);

#endif
