/* Basic blocks as the emulator forms them, and so as launch summaries count them. */
#ifndef WL_PTX_BLOCKS_H
#define WL_PTX_BLOCKS_H

#include "ptx/ir.h"

/* What an instruction waits for before it runs; it then starts a basic block. */
typedef enum ptx_wait {
    PTX_WAIT_NONE,
    PTX_WAIT_WARP,    /* the lanes that its mask names */
    PTX_WAIT_BARRIER, /* bar, barrier */
    PTX_WAIT_CLUSTER_ARRIVE,
    PTX_WAIT_CLUSTER_WAIT,
    PTX_WAIT_YIELD /* nanosleep: lets others run before */
} ptx_wait;

ptx_wait ptx_wait_of(const ptx_insn *insn);
/* Branches, calls, returns and exits. */
bool ptx_ends_block(const ptx_insn *insn);
/* With a guard, and alone in its block: the lanes whose guard is false go another way. */
bool ptx_stands_alone(const ptx_insn *insn);

/* leader[n] = 1 where a basic block starts at insns[n], for n 0 .. ninsns (a last, empty block is what falls through the end
 * of the function). The array is zeroed by the caller. */
void ptx_block_leaders(const ptx_func *func, uint8_t *leader);

#endif
