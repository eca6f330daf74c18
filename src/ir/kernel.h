/* The code of a kernel: the functions it can reach, in the one order that numbers its static
 * instructions, and its basic blocks. Whoever asks for "the code of this kernel" asks here.
 *
 * funcs[0] is the kernel. After it, breadth-first, stands each function with a body that an
 * instruction of an earlier one names (calls, address taken, the targets of a .calltargets), once,
 * in order of instruction and operand. Where one of them calls through a register and gives no
 * .calltargets, the functions of the module whose address is taken anywhere (in instructions or
 * initialisers) follow in module order, and what they name in turn. The instruction insns[i] of
 * funcs[k] has the number first_pc[k] + i: the `pc` everywhere outside of src/ir. */
#ifndef WL_IR_KERNEL_H
#define WL_IR_KERNEL_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/module.h"

typedef struct ir_kernel {
    const ir_module *module;
    uint32_t count;
    ir_func **funcs;
    uint32_t *first_pc; /* [count + 1] */
    uint32_t npcs;      /* static instructions: first_pc[count] */
    /* [npcs + count]: 1 where a basic block starts (ir/blocks.h). The places of function k start at
     * first_pc[k] + k: functions have one place more than instructions, for what falls through
     * their end. */
    uint8_t *leader;
} ir_kernel;

/* The code that a function with a body reaches; the arrays lie in `arena`. WL_NOMEM is the only
 * failure. */
wl_status ir_kernel_of(const ir_module *module, const ir_func *func, wl_arena *arena,
                       ir_kernel *out);
/* The kernel of that name; NULL where the module has none with a body. */
const ir_func *ir_module_kernel(const ir_module *module, const char *name);

/* Where an instruction stands; pc is below npcs. */
typedef struct ir_place {
    uint32_t index; /* of the function in funcs */
    const ir_func *func;
    const ir_insn *insn;
} ir_place;

ir_place ir_kernel_at(const ir_kernel *kernel, uint32_t pc);

#endif
