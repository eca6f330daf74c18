/* The vocabulary of instructions: opcodes, what can follow them, types, spaces, special registers.
 *
 * Each is a table: ops.def (opcodes), suffixes.def (everything after a dot in an opcode),
 * types.def, sregs.def. Identifiers: IR_<op>, IR_S_<suffix with "::" written "__">, IR_T_<type>,
 * IR_SR_<register>. The words are those of PTX, which every front end speaks in. */
#ifndef WL_IR_OPS_H
#define WL_IR_OPS_H

#include "access/access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ir_type {
    IR_T_none,
#define X(id, kind, bits, lanes) IR_T_##id,
#include "ir/types.def"
#undef X
    IR_TYPE_COUNT
} ir_type;

/* Of a type. */
typedef enum ir_kind {
    IR_KIND_NONE,
    IR_KIND_U,
    IR_KIND_S,
    IR_KIND_F,
    IR_KIND_BF,
    IR_KIND_T,
    IR_KIND_E,
    IR_KIND_B,
    IR_KIND_P
} ir_kind;

typedef struct ir_type_info {
    const char *text; /* without the dot */
    ir_kind kind;
    uint8_t bits;  /* of an element */
    uint8_t lanes; /* elements packed in one value */
    uint8_t bytes; /* of a value in memory; 1 for pred and sub-byte types */
} ir_type_info;

const ir_type_info *ir_type_get(ir_type type);

typedef enum ir_space {
#define X(id, text, request) IR_SPACE_##id,
#include "ir/spaces.def"
#undef X
    IR_SPACE_COUNT
} ir_space;

const char *ir_space_text(ir_space space);
/* The memory that a request of this space goes to; ACC_SPACE_COUNT where the space does not say. */
acc_space ir_request_space(ir_space space);

typedef enum ir_op {
    IR_OP_NONE,
#define X(id, ...) IR_##id,
#include "ir/ops.def"
#undef X
    IR_OP_COUNT
} ir_op;

/* On memory, of an opcode. */
typedef enum ir_effect {
    IR_EFFECT_NONE,
    IR_EFFECT_LOAD,
    IR_EFFECT_STORE,
    IR_EFFECT_ATOMIC, /* atom and red */
    IR_EFFECT_COPY,   /* cp.async and bulk copies: reads one space, writes another */
    IR_EFFECT_TEXTURE,
    IR_EFFECT_SURFACE,
    IR_EFFECT_BARRIER,
    IR_EFFECT_FENCE,
    IR_EFFECT_PREFETCH
} ir_effect;

/* Class of an opcode for the instruction mix and the model. */
typedef enum ir_cost {
    IR_COST_INT,
    IR_COST_FP32,
    IR_COST_FP64,
    IR_COST_HALF,
    IR_COST_SFU,
    IR_COST_CONVERT,
    IR_COST_MOVE,
    IR_COST_COMPARE,
    IR_COST_CONTROL,
    IR_COST_MEMORY,
    IR_COST_ATOMIC,
    IR_COST_SYNC,
    IR_COST_TENSOR,
    IR_COST_WARP, /* shuffles, votes, matches, reductions */
    IR_COST_COUNT
} ir_cost;

typedef struct ir_op_info {
    const char *text;     /* what stands before the first dot */
    const char *suffixes; /* of the first form: grammar of the suffixes, see ops.def */
    const char *operands; /* of the first form: roles of the operands, see ops.def */
    ir_effect effect;     /* of the first form */
    ir_cost cost;
} ir_op_info;

const ir_op_info *ir_op_get(ir_op op);

/* One way to use an opcode: a row X or FORM of ops.def. */
typedef struct ir_form {
    ir_op op;
    const char *suffixes;
    const char *operands;
    ir_effect effect;
    ir_cost cost;
} ir_form;

/* Everything that can follow an opcode; types come first, so a type is also a suffix. */
typedef enum ir_suffix {
    IR_S_none,
#define X(id, kind, bits, lanes) IR_S_##id,
#include "ir/types.def"
#undef X
#define X(id, text, class) IR_S_##id,
#include "ir/suffixes.def"
#undef X
    IR_SUFFIX_COUNT
} ir_suffix;

/* Types have IR_SC_TYPE, the others the class of suffixes.def. */
typedef enum ir_suffix_class {
    IR_SC_TYPE,
    IR_SC_SPACE,
    IR_SC_ROUND,
    IR_SC_CMP,
    IR_SC_BOOL,
    IR_SC_OP,
    IR_SC_CACHE,
    IR_SC_SEM,
    IR_SC_SCOPE,
    IR_SC_VECTOR,
    IR_SC_GEOM,
    IR_SC_FLOAT,
    IR_SC_MODE,
    IR_SC_TEXTURE,
    IR_SC_ASYNC,
    IR_SC_PROXY,
    IR_SC_TENSORMAP,
    IR_SC_TENSOR,
    IR_SC_SHAPE,
    IR_SC_REPEAT,
    IR_SC_COUNT
} ir_suffix_class;

const char *ir_suffix_text(ir_suffix suffix); /* without the dot */
ir_suffix_class ir_suffix_class_of(ir_suffix suffix);

typedef enum ir_sreg {
    IR_SR_none,
#define X(id, ...) IR_SR_##id,
#include "ir/sregs.def"
#undef X
    IR_SREG_COUNT
} ir_sreg;

/* Groups of threads, each within the next. */
typedef enum ir_level {
    IR_LEVEL_THREAD,
    IR_LEVEL_WARP,
    IR_LEVEL_BLOCK,
    IR_LEVEL_CLUSTER,
    IR_LEVEL_GRID,
    IR_LEVEL_DEVICE
} ir_level;

/* Who decides about the value of a special register. */
typedef enum ir_source {
    IR_SOURCE_LAUNCH, /* the shape of the launch and the thread's place in it: known beforehand */
    IR_SOURCE_PLACEMENT,   /* the hardware, when it places blocks and warps */
    IR_SOURCE_CLOCK,       /* clocks and counters of events */
    IR_SOURCE_ENVIRONMENT, /* the device, the driver and what else it runs */
    IR_SOURCE_NOBODY       /* an instruction that is not known */
} ir_source;

typedef struct ir_sreg_info {
    const char *text; /* without the % */
    ir_type type;     /* of a component */
    bool vector;      /* has components .x .y .z .w */
    uint8_t indexed;  /* members of an indexed family (%envreg<32>), else 0 */
    ir_level level;   /* see sregs.def */
    ir_source source;
} ir_sreg_info;

const ir_sreg_info *ir_sreg_get(ir_sreg sreg);

/* The state space that a suffix names; GENERIC where it names none. */
ir_space ir_space_of_suffix(ir_suffix suffix);

#endif
