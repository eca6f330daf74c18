/* From a frame to its caller's, on x86-64: what the call frame information of its code (.eh_frame;
 * DWARF 5, section 6.4) says about the one place that matters. A rule follows from the place alone,
 * so that it need be worked out only once; walking a stack by rules takes a few nanoseconds a
 * frame. */
#ifndef WL_INJECT_UNWIND_H
#define WL_INJECT_UNWIND_H

#include <stdint.h>

typedef enum unwind_cfa { /* the canonical frame address: the stack pointer before the call */
                          UNWIND_UNKNOWN, /* there is no rule as simple as these: libgcc has to be
                                             asked */
                          UNWIND_END,     /* the frame has no caller that anybody could find */
                          UNWIND_SP,      /* stack pointer + cfa_at */
                          UNWIND_BP,      /* %rbp + cfa_at */
                          UNWIND_AT_BP    /* what lies at %rbp + cfa_at */
} unwind_cfa;

typedef enum unwind_bp {                   /* the caller's %rbp */
                         UNWIND_BP_KEPT,   /* is the frame's */
                         UNWIND_BP_AT_CFA, /* lies at the CFA + bp_at */
                         UNWIND_BP_AT_BP   /* lies at %rbp + bp_at */
} unwind_bp;

/* The return address always lies at the CFA - 8. */
typedef struct unwind_rule {
    uint8_t cfa, bp;
    int16_t bp_at;
    int32_t cfa_at;
} unwind_rule;

/* From the tables of the file that holds the code, remembered: any thread may call it, it waits for
 * none and allocates nothing. `pc` lies in the instruction that the frame is at: for a return
 * address, one byte before it. */
unwind_rule unwind_find(uint64_t pc);
/* After files were mapped or unmapped: other code may lie there now. */
void unwind_forget(void);

#endif
