/* What the functions share that lift instructions (lift.def).
 *
 * An instruction becomes lines of PTX. Registers and predicates of the machine are registers of the
 * same number: %r5, %u5, %p5, %up5; what is needed on the way has a register of the lifter's own
 * (lift_new()), which holds until the next machine instruction. Lines that change what outlives the
 * instruction stand under its guard: lift_do(). The others do not, and so must not be able to fail. */
#ifndef WL_SASS_LIFTER_H
#define WL_SASS_LIFTER_H

#include "base/vec.h"
#include "sass/lift.h"
#include "sass/lift_ways.h"
#include "sass/operands.h"

#include <stdio.h>

typedef enum lift_kind { LIFT_B32, LIFT_B64, LIFT_B16, LIFT_PRED, LIFT_KINDS } lift_kind;

/* A piece of PTX: a register, a number. */
typedef struct lift_text {
    char at[48];
} lift_text;

typedef struct lifter {
    const sass_code *code;
    wl_arena *arena;
    FILE *out;
    uint32_t at;                       /* the machine instruction */
    uint32_t source_file, source_line; /* said last */
    sass_details in;
    bool guarded, known;
    bool elsewhere; /* not known, but no register follows from it, and no memory of the block */
    lift_text guard_pred;                        /* without its negation */
    unsigned used[LIFT_KINDS], most[LIFT_KINDS]; /* registers of the lifter's own */
    uint32_t banks;                              /* by bit: those that are read */
    wl_vec(uint32_t) lines;                      /* the machine instruction of each */
    lift_ways ways;
    uint32_t copy;       /* of ways.copies, which is lifted */
    bool asks_heap;      /* malloc or free is called */
    bool *linked;        /* [places.nlinks]: the variable is named */
    const char *undone;  /* as sass_lifted's */
    const char *problem; /* why the kernel cannot be lifted; NULL */
    bool nomem;
} lifter;

/* ---- lines ---- */

/* A line, without its semicolon; whether the guard holds or not. */
void lift_put(lifter *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line under the instruction's guard. */
void lift_do(lifter *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "L5", in a copy of the code. */
lift_text lift_place(uint32_t copy, uint32_t insn);
/* Its line, in that which is lifted. */
void lift_label(lifter *l, uint32_t insn);
/* ".loc", where the instruction's line of the source is another one than before. */
void lift_source(lifter *l);
/* Whether PTX can have the path of a file in it. */
bool lift_can_name(const char *path);
/* A line that does nothing before lanes meet, so that a basic block counts how often they came: those that meet go on
 * together. */
void lift_arrival(lifter *l);
lift_text lift_new(lifter *l, lift_kind kind);
lift_text lift_text_of(const char *text);
lift_text lift_number(int64_t value);
/* A value that follows from nothing that is known of the launch. */
lift_text lift_unknown(lifter *l);

/* ---- modifiers ---- */

bool lift_has(const lifter *l, const char *modifier);
/* The number in `names` (ends with NULL) of the modifier that the instruction has, or -1. */
int lift_which(const lifter *l, const char *const *names);

/* ---- operands, by their number in the layout (forms.def) ---- */

static inline const sass_operand *lift_operand(const lifter *l, unsigned i)
{
    return &l->in.operand[i];
}

bool lift_is_none(const sass_operand *op); /* RZ, URZ, PT */
/* The 32 bits, without sign, inversion and absolute value: a register or a number. `word`: of the following
 * registers that so many further. */
lift_text lift_word(lifter *l, unsigned i, unsigned word);
/* An integer: negated or inverted as the operand says. */
lift_text lift_int(lifter *l, unsigned i);
/* 64 bits of it and the next register, likewise. A number stands for the lower half, signed. */
lift_text lift_pair(lifter *l, unsigned i);
/* A predicate, negated as the operand says. */
lift_text lift_pred(lifter *l, unsigned i);
/* A word of constant bank `bank` at that offset. */
lift_text lift_constant(lifter *l, unsigned bank, int64_t offset);

/* Half of the generic address at which shared or local memory begins. */
lift_text lift_window(lifter *l, bool local, bool upper);

/* ---- results ---- */

/* The register that is written; one of the lifter's own where the operand is none. For the last line, which
 * stands under the guard. */
lift_text lift_to(lifter *l, unsigned i, unsigned word);
lift_text lift_to_pred(lifter *l, unsigned i);
/* Registers of a result, at most. */
unsigned lift_result_width(const sass_details *in);
/* Writes a value under the guard. */
void lift_set(lifter *l, unsigned i, unsigned word, const char *value);
void lift_set_pair(lifter *l, unsigned i, const char *value);
void lift_set_pred(lifter *l, unsigned i, const char *value);

/* ---- the block's rank in its cluster ---- */

bool lift_asks_rank(const sass_details *in);
void lift_rank(lifter *l);
/* Whether operand `i` is what the last such instruction gave. */
bool lift_is_rank(const lifter *l, unsigned i);

/* ---- parts ---- */

typedef void lift_function(lifter *l);

#define X(name, function) lift_function lift_##function;
#include "sass/lift.def"
#undef X

#endif
