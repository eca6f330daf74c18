/* Call stacks that were walked before. A walk by rules goes by the words of the stack that it
 * reads, and by nothing else: where it begins with the same stack pointer and the same words lie at
 * the same places, it comes to the same end. So a stack that comes again - the step of a training
 * loop, a launch in a loop - is compared, word by word, in place of being walked: that touches a
 * tenth of the memory. */
#ifndef WL_INJECT_STACK_PATH_H
#define WL_INJECT_STACK_PATH_H

#include <stdbool.h>
#include <stdint.h>

enum { STACK_PATH_RETURNS = 40, STACK_PATH_OTHERS = 24 };

typedef struct stack_path {
    uint64_t sp, bp;                 /* where the walk began */
    uint32_t limit;                  /* of the frames that were asked for */
    uint16_t nreturns, nothers, own; /* own: how many frames came before the first that was kept */
    bool bp_counts;                  /* %rbp decided about it */
    bool failed;                     /* too long, too far apart */
    uint16_t return_at[STACK_PATH_RETURNS], other_at[STACK_PATH_OTHERS]; /* words above sp */
    uint64_t returns[STACK_PATH_RETURNS]; /* return addresses, in their order */
    uint64_t others[STACK_PATH_OTHERS];   /* saved registers that decided about a frame's place */
} stack_path;

void stack_path_begin(stack_path *path, uint64_t sp, uint64_t bp, uint32_t limit);
/* What the walk has read. */
void stack_path_return(stack_path *path, uint64_t address, uint64_t value);
void stack_path_other(stack_path *path, uint64_t address, uint64_t value);

/* The calling thread's. NULL: none is as the stack is now. Only words that a walk of this thread
 * read from the same sp are read. */
const stack_path *stack_path_find(uint64_t sp, uint64_t bp, uint32_t limit);
void stack_path_keep(const stack_path *path);
/* Of all threads: forgets what was kept before, since other code may lie there now. */
void stack_path_forget(void);

#endif
