/* counter.ptx as ptxas made it machine code, for one device of each generation: what patch_counters in
 * impl.h describes. COUNTER_LIST has COUNTER(sm, path) for each. */
    .section .data.rel.ro, "aw"
    .p2align 3
    .globl patch_counters
    .hidden patch_counters
    .type patch_counters, @object
patch_counters:
.macro described sm
    .quad \sm
    .quad counter_\sm
.endm
#define COUNTER(sm, path) described sm
#include COUNTER_LIST
#undef COUNTER
    .quad 0
    .quad 0
    .size patch_counters, . - patch_counters

    .section .rodata
.macro held sm, path
    .p2align 4
counter_\sm:
    .incbin "\path"
.endm
#define COUNTER(sm, path) held sm, path
#include COUNTER_LIST
#undef COUNTER

    .section .note.GNU-stack, "", @progbits
