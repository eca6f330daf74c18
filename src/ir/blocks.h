/* Basic blocks as the emulator forms them, and so as launch summaries count them. */
#ifndef WL_IR_BLOCKS_H
#define WL_IR_BLOCKS_H

#include "ir/module.h"

/* What an instruction waits for before it runs; it then starts a basic block. */
typedef enum ir_wait {
    IR_WAIT_NONE,
    IR_WAIT_WARP,    /* the lanes that its mask names */
    IR_WAIT_MEET,    /* bsync: those that its register names */
    IR_WAIT_BARRIER, /* bar, barrier */
    IR_WAIT_CLUSTER_ARRIVE,
    IR_WAIT_CLUSTER_WAIT,
    IR_WAIT_YIELD /* nanosleep: lets others run before */
} ir_wait;

ir_wait ir_wait_of(const ir_insn *insn);
/* Branches, calls, returns and exits. */
bool ir_ends_block(const ir_insn *insn);
/* With a guard, and alone in its block: the lanes whose guard is false go another way. */
bool ir_stands_alone(const ir_insn *insn);

/* leader[n] = 1 where a basic block starts at insns[n], for n 0 .. ninsns (a last, empty block is
 * what falls through the end of the function). The array is zeroed by the caller. */
void ir_block_leaders(const ir_func *func, uint8_t *leader);

#endif
