/* Instructions of machine code: what each costs, and where control goes after it.
 *
 * Since compute capability 7.0 an instruction has 128 bits, and its lowest twelve are the opcode.
 * NVIDIA does not document them; opcodes.def has what was found. No more is read than costs and
 * control flow need. */
#ifndef WL_SASS_DECODE_H
#define WL_SASS_DECODE_H

#include "ir/ops.h"

enum {
    SASS_BYTES = 16,              /* of an instruction */
    SASS_LEAST_SM = 70,           /* before it, instructions had 64 bits */
    SASS_PADDING = IR_COST_COUNT, /* as a cost: fills up the code */
    SASS_UNKNOWN,                 /* as a cost: the table does not have it */
    SASS_COSTS
};
#define SASS_NOWHERE UINT32_MAX

typedef enum sass_flow {
    SASS_NEXT,
    SASS_BRANCH,
    SASS_CALL,
    SASS_RETURN,
    SASS_EXIT,
    SASS_TABLE /* a branch through a table or a register */
} sass_flow;

typedef struct sass_insn {
    uint16_t opcode;  /* twelve bits */
    uint8_t cost;     /* ir_cost, SASS_PADDING or SASS_UNKNOWN */
    uint8_t flow;     /* sass_flow */
    bool conditional; /* has a guard, or a branch its own condition */
    uint32_t
        target;    /* of branches and calls: an instruction of the code; SASS_NOWHERE: not known */
    uint32_t line; /* of the PTX that it was made from, from 1; 0: not known */
    uint32_t source_file,
        source_line; /* likewise of the source: sass_code.files; both 0: not known */
} sass_insn;

/* The instruction number `index` of code for compute capability sm / 10, without its line. */
sass_insn sass_decode(const unsigned char bytes[SASS_BYTES], uint32_t index, uint32_t sm);

#endif
