/* The functions that a kernel can reach, in the one order that numbers its static instructions.
 *
 * funcs[0] is the kernel. Behind it, breadth-first, stands each function with a body that an instruction of an earlier
 * one names (calls, address taken, the targets of a .calltargets), once, in order of instruction and operand. Where one of
 * them calls through a register and gives no .calltargets, the functions of the module whose address is taken anywhere
 * (in instructions or initialisers) follow in module order, and what they name in turn.
 * The instruction insns[i] of funcs[k] has the number first_pc[k] + i: the `pc` everywhere outside of src/ir and src/ptx. */
#ifndef WL_IR_CALLORDER_H
#define WL_IR_CALLORDER_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/module.h"

typedef struct ir_callorder {
    uint32_t count;
    ir_func **funcs;
    uint32_t *first_pc; /* count + 1 of them: the last is the number of static instructions */
} ir_callorder;

/* The arrays lie in `arena`. WL_NOMEM is the only failure. */
wl_status ir_callorder_of(const ir_module *module, ir_func *kernel, wl_arena *arena,
                          ir_callorder *out);

/* The index in order->funcs of the function that holds the instruction; pc is below first_pc[count]. */
uint32_t ir_callorder_find(const ir_callorder *order, uint32_t pc);

#endif
