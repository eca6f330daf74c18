/* The vocabulary tables as data. */
#include "ptx/ir.h"
const ptx_op_info *ptx_op_get(ptx_op op)
{
    static const ptx_op_info info[PTX_OP_COUNT] = {
#define X(id, text, suffixes, operands, effect, cost)                                              \
    [PTX_##id] = {text, suffixes, operands, PTX_EFFECT_##effect, PTX_COST_##cost},
#include "ptx/ops.def"
#undef X
    };
    return &info[op];
}
