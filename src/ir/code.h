/* Instructions and their operands: what a basic block consists of. */
#ifndef WL_IR_CODE_H
#define WL_IR_CODE_H

#include "ir/ops.h"

#define IR_NONE UINT32_MAX /* no register, no label, no location */

/* A place in the text that the code was read from; both count from 1. */
typedef struct ir_pos {
    uint32_t line, column;
} ir_pos;

struct ir_func;
struct ir_var;

typedef enum ir_symbol_kind { IR_SYM_VAR, IR_SYM_FUNC } ir_symbol_kind;

/* What a name that is no register and no label stands for. */
typedef struct ir_symbol {
    ir_symbol_kind kind;
    union {
        struct ir_var *var;
        struct ir_func *func;
    };
} ir_symbol;

typedef struct ir_reg {
    const char *name; /* as written, with its % */
    ir_type type;     /* .reg .b32 and the like; only the width and pred-ness matter */
    uint8_t vector;   /* 1, 2, 4 */
    uint32_t scope;
} ir_reg;

typedef enum ir_operand_kind {
    IR_OPD_REG,   /* reg; neg: "!p" or "-r" as written */
    IR_OPD_SREG,  /* sreg with component */
    IR_OPD_INT,   /* imm */
    IR_OPD_F32,   /* imm: IEEE bits, low 32 */
    IR_OPD_F64,   /* imm: IEEE bits */
    IR_OPD_SYM,   /* sym + imm: the address of a variable or function */
    IR_OPD_ADDR,  /* [base + imm]: base is reg, sym or neither */
    IR_OPD_LABEL, /* label */
    IR_OPD_VEC,   /* {items}; items may be OPD_SINK */
    IR_OPD_PAIR,  /* items[0] | items[1]: setp, shfl */
    IR_OPD_LIST,  /* (items): arguments of a call */
    /* [items[0], items[1..]]: texture, sampler, coordinates; also tensor copies */
    IR_OPD_TEX,
    IR_OPD_SINK /* _ */
} ir_operand_kind;

typedef struct ir_operand {
    ir_operand_kind kind;
    bool neg;
    /* 0 none, 1..4 = .x .y .z .w (or .r .g .b .a); 8 + n for .b<n>, 16 + n for .h<n> */
    uint8_t component;
    /* the component as written where it names several bytes or halves ("h10", "b3210"), or NULL */
    const char *selector;
    /* index in func->regs; IR_NONE where an address has no register */
    uint32_t reg;
    ir_sreg sreg;
    uint32_t sreg_index; /* %envreg<n>, %pm<n>, ... */
    uint32_t label;      /* index in func->labels */
    bool has_sym;
    ir_symbol sym;
    uint64_t imm;      /* sign-extended */
    bool imm_unsigned; /* written with U, or above INT64_MAX */
    bool imm_hex;
    /* an address written with "+0", which ptxas does not take like one without */
    bool zero_offset;
    struct ir_operand *items;
    uint32_t count;
    ir_pos pos;
} ir_operand;

enum { IR_MAX_SUFFIXES = 20 };

typedef struct ir_insn {
    ir_op op;
    uint8_t nsuffixes;
    uint16_t suffixes[IR_MAX_SUFFIXES]; /* ir_suffix, in the order written */
    ir_type types[4];                   /* the type suffixes in order, IR_T_none behind the last */
    ir_space space;                     /* first state-space suffix, GENERIC without */
    uint8_t vector;                     /* 1, or 2, 4, 8 with .v2 .v4 .v8 */
    uint32_t guard;                     /* predicate register, or IR_NONE */
    bool guard_neg;
    uint32_t noperands;
    ir_operand *operands; /* in the order written */
    uint32_t loc;         /* index in module->locs, or IR_NONE */
    uint32_t pc;          /* index in func->insns */
    ir_pos pos;
} ir_insn;

bool ir_has(const ir_insn *insn, ir_suffix suffix);
/* The first suffix of that class, or IR_S_none. */
ir_suffix ir_first_of(const ir_insn *insn, ir_suffix_class cls);
/* The row of ops.def that the instruction's suffixes fit, or NULL. Reads the row's grammar: once an
 * instruction, please. */
const ir_form *ir_insn_form(const ir_insn *insn);
/* Of the form, or of the opcode where no form fits; arithmetic by its first type. */
ir_effect ir_insn_effect(const ir_insn *insn);
ir_cost ir_insn_cost(const ir_insn *insn);

#endif
