/* Where control goes in a kernel's machine code, found before anything is lifted.
 *
 * A subroutine that ptxas put into the kernel, as a division with its rare path, is lifted once for each
 * call (a copy), where that can be: then what it computes at one call is not taken for what it computes
 * at another, and it returns to one place. Copy 0 is the kernel and the subroutines that are not copied.
 * What nothing leads to is not lifted. */
#ifndef WL_SASS_LIFT_WAYS_H
#define WL_SASS_LIFT_WAYS_H

#include "base/arena.h"
#include "base/vec.h"
#include "sass/code.h"

typedef enum lift_goes {
    LIFT_ON,
    LIFT_TO,      /* a branch */
    LIFT_CALLS,   /* a subroutine of the kernel */
    LIFT_ASKS,    /* a function of CUDA: `symbol` */
    LIFT_RETURNS, /* where a register says */
    LIFT_TABLE,   /* to one of several places */
    LIFT_ENDS,
    LIFT_ANYWHERE /* not known */
} lift_goes;

typedef struct lift_way {
    uint8_t goes; /* lift_goes */
    bool on;      /* or to the next instruction */
    bool copied;  /* of CALLS: the subroutine is lifted for this call */
    bool known;   /* of RETURNS: `reg` is known */
    uint8_t reg;
    int64_t base;       /* of RETURNS: bytes that are added to the register */
    uint32_t target;    /* of TO and CALLS */
    uint32_t table;     /* of TABLE, in code->places.jumps */
    const char *symbol; /* of ASKS */
} lift_way;

typedef struct lift_copy {
    uint32_t root; /* its first instruction */
    uint32_t call; /* the instruction of copy 0 that calls */
} lift_copy;

typedef wl_vec(lift_copy) lift_copies;

typedef struct lift_ways {
    const sass_code *code;
    lift_way *ways;  /* [count] */
    uint8_t *labels; /* [count]: something goes there */
    uint8_t *own;    /* [count]: whether a subroutine that begins there can be copied */
    uint32_t *stack; /* [count] */
    uint32_t *seen;  /* [count]: the last search that came there */
    uint32_t searches;
    lift_copies copies; /* [0]: the kernel */
} lift_ways;

/* False: no memory. What is found lies in the arena, but for the copies. */
bool lift_ways_find(lift_ways *w, const sass_code *code, wl_arena *arena);
/* Marks in w->seen[] the instructions of a copy by the number that it returns. */
uint32_t lift_ways_reach(lift_ways *w, uint32_t copy);
/* The copy that a call of copy 0 leads to; 0: one that is not copied. */
uint32_t lift_ways_callee(const lift_ways *w, uint32_t call);

#endif
