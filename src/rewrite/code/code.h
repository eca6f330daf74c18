/* The builder of probe code: registers with a type, and instructions that check it.
 *
 * A register is declared by the emitter whose it is, and is a field of that emitter's struct
 * (body.h); or it is a *temporary*, which rw_get() hands out as the result of an instruction, and
 * which is free again when the hook that asked for it returns. So no code can overwrite what other
 * code keeps. Each instruction is a row of instructions.def with the types of its operands: one of
 * another type fails an assertion, and without assertions fails the text. */
#ifndef WL_REWRITE_CODE_H
#define WL_REWRITE_CODE_H

#include "rewrite/plan/plan.h"

typedef enum rw_type { RW_PRED, RW_B32, RW_B64, RW_TYPES } rw_type;

typedef enum rw_opd_kind {
    RW_OPD_NONE, /* of a guard: there is none */
    RW_OPD_TEMP,
    RW_OPD_DECLARED, /* ours, by its name */
    RW_OPD_KERNELS,  /* a register of the kernel, or other text of its own */
    RW_OPD_NUMBER,
    RW_OPD_SREG,
    RW_OPD_NAME, /* of a variable: its address */
    RW_OPD_PARAM /* a byte of the hidden parameter */
} rw_opd_kind;

/* An operand, by value. */
typedef struct rw_opd {
    uint8_t kind, type;
    bool negated;     /* a predicate: its opposite */
    bool is_address;  /* what lies `value` bytes after where it points */
    const char *name; /* not owned: lives as long as the body is printed */
    uint32_t number;  /* of a temporary; of a declared one, or IR_NONE */
    int64_t value;
} rw_opd;

/* A register of ours or the kernel's. */
typedef rw_opd rw_reg;

/* Where control goes on: a name, and a number that is unique in the function, or IR_NONE where
 * there is one of the name. */
typedef struct rw_label {
    const char *name;
    uint32_t number;
} rw_label;

/* Temporaries of a function: how many are in use, and were at most. */
typedef struct rw_temps {
    uint32_t used[RW_TYPES], most[RW_TYPES];
} rw_temps;

typedef enum rw_instruction {
#define X(name, operands) RW_I_##name,
#include "rewrite/code/instructions.def"
#undef X
    RW_INSTRUCTIONS
} rw_instruction;

struct rw_body;

/* ---- operands ---- */

static inline rw_opd rw_number(int64_t value)
{
    return (rw_opd){.kind = RW_OPD_NUMBER, .value = value};
}

/* "%tid.x" */
static inline rw_opd rw_sreg(const char *name)
{
    return (rw_opd){.kind = RW_OPD_SREG, .type = RW_B32, .name = name};
}

/* The address of a variable in its space, or of what lies `offset` after it. */
static inline rw_opd rw_address_of_name(const char *name, int64_t offset)
{
    return (rw_opd){.kind = RW_OPD_NAME, .name = name, .value = offset};
}

/* What lies `offset` bytes after where the register points. */
static inline rw_opd rw_at(rw_reg reg, int64_t offset)
{
    reg.is_address = true;
    reg.value = offset;
    return reg;
}

static inline rw_opd rw_in_param(size_t offset)
{
    return (rw_opd){.kind = RW_OPD_PARAM, .value = (int64_t)offset};
}

static inline rw_opd rw_not(rw_opd predicate)
{
    predicate.negated = !predicate.negated;
    return predicate;
}

static inline bool rw_is_some(rw_opd guard)
{
    return guard.kind != RW_OPD_NONE;
}

/* A register of the function that the body is of. */
rw_reg rw_kernels(const struct rw_body *b, uint32_t reg);

/* ---- registers ---- */

/* Declares a register __wl_<name>, or __wl_<name><number> where that is not IR_NONE. */
rw_reg rw_declare(struct rw_body *b, rw_type type, const char *name, uint32_t number);
/* A temporary that nothing has been written to yet. */
rw_reg rw_temp(struct rw_body *b, rw_type type);
/* The temporaries in use; gives back all that came since. */
rw_temps rw_temps_now(const struct rw_body *b);
void rw_temps_back(struct rw_body *b, const rw_temps *to);
/* Declares as many temporaries as were ever in use at once. */
void rw_print_temps(ptx_text *out, const rw_temps *temps);

/* ---- instructions ---- */

/* Do the operands fit the instruction, in number and type? */
bool rw_operands_fit(rw_instruction instruction, const rw_opd *operands, size_t count);
void rw_emit(struct rw_body *b, rw_opd guard, rw_instruction instruction, const rw_opd *operands,
             size_t count);
rw_reg rw_emit_new(struct rw_body *b, rw_instruction instruction, const rw_opd *sources,
                   size_t count);

#define RW_OPERANDS(...) \
    (const rw_opd[]){__VA_ARGS__}, sizeof((const rw_opd[]){__VA_ARGS__}) / sizeof(rw_opd)

/* rw_do(b, add_u32, to, x, y): operands as in instructions.def, the destination first. */
#define rw_do(b, name, ...) rw_emit(b, (rw_opd){0}, RW_I_##name, RW_OPERANDS(__VA_ARGS__))
/* In lanes whose predicate holds; in all where it is none. */
#define rw_when(b, guard, name, ...) rw_emit(b, guard, RW_I_##name, RW_OPERANDS(__VA_ARGS__))
/* rw_get(b, add_u32, x, y): the result is a new temporary. */
#define rw_get(b, name, ...) rw_emit_new(b, RW_I_##name, RW_OPERANDS(__VA_ARGS__))

/* ---- labels ---- */

rw_label rw_new_label(struct rw_body *b, const char *name);
void rw_put_label(struct rw_body *b, rw_label label);
void rw_goto(struct rw_body *b, rw_label label);
void rw_goto_if(struct rw_body *b, rw_opd guard, rw_label label);

#endif
