/* PTX as a tree: what the parser makes, the printer writes back, and everything else reads.
 *
 * A module owns all it points to through one arena. Nothing is normalised away: parse -> print ->
 * parse gives an equal module (positions aside). Registers are numbered function-wide, labels too;
 * nested scopes only rename.
 *
 * Vocabulary tables: ops.def (opcodes), suffixes.def (everything after a dot in an opcode),
 * types.def, sregs.def. Identifiers: PTX_<op>, PTX_S_<suffix with "::" written "__">, PTX_T_<type>,
 * PTX_SR_<register>. */
#ifndef WL_PTX_IR_H
#define WL_PTX_IR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_NONE UINT32_MAX /* no register, no label, no location */

typedef enum ptx_type {
    PTX_T_none,
#define X(id, kind, bits, lanes) PTX_T_##id,
#include "ptx/types.def"
#undef X
    PTX_TYPE_COUNT
} ptx_type;

/* Of a type. */
typedef enum ptx_kind {
    PTX_KIND_NONE,
    PTX_KIND_U,
    PTX_KIND_S,
    PTX_KIND_F,
    PTX_KIND_BF,
    PTX_KIND_T,
    PTX_KIND_E,
    PTX_KIND_B,
    PTX_KIND_P
} ptx_kind;

typedef struct ptx_type_info {
    const char *text; /* without the dot */
    ptx_kind kind;
    uint8_t bits;  /* of an element */
    uint8_t lanes; /* elements packed in one value */
    uint8_t bytes; /* of a value in memory; 1 for pred and sub-byte types */
} ptx_type_info;

const ptx_type_info *ptx_type_get(ptx_type type);

typedef enum ptx_space {
    PTX_SPACE_GENERIC, /* no space given */
    PTX_SPACE_REG,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED, /* also .shared::cta */
    PTX_SPACE_SHARED_CLUSTER,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
    PTX_SPACE_PARAM,
    PTX_SPACE_TEX,
    PTX_SPACE_COUNT
} ptx_space;

const char *ptx_space_text(ptx_space space);

typedef enum ptx_op {
    PTX_OP_NONE,
#define X(id, ...) PTX_##id,
#include "ptx/ops.def"
#undef X
    PTX_OP_COUNT
} ptx_op;

/* On memory, of an opcode. */
typedef enum ptx_effect {
    PTX_EFFECT_NONE,
    PTX_EFFECT_LOAD,
    PTX_EFFECT_STORE,
    PTX_EFFECT_ATOMIC, /* atom and red */
    PTX_EFFECT_COPY,   /* cp.async and bulk copies: reads one space, writes another */
    PTX_EFFECT_TEXTURE,
    PTX_EFFECT_SURFACE,
    PTX_EFFECT_BARRIER,
    PTX_EFFECT_FENCE,
    PTX_EFFECT_PREFETCH
} ptx_effect;

/* Class of an opcode for the instruction mix and the model. */
typedef enum ptx_cost {
    PTX_COST_INT,
    PTX_COST_FP32,
    PTX_COST_FP64,
    PTX_COST_HALF,
    PTX_COST_SFU,
    PTX_COST_CONVERT,
    PTX_COST_MOVE,
    PTX_COST_COMPARE,
    PTX_COST_CONTROL,
    PTX_COST_MEMORY,
    PTX_COST_ATOMIC,
    PTX_COST_SYNC,
    PTX_COST_TENSOR,
    PTX_COST_WARP, /* shuffles, votes, matches, reductions */
    PTX_COST_COUNT
} ptx_cost;

typedef struct ptx_op_info {
    const char *text;     /* what stands before the first dot */
    const char *suffixes; /* of the first form: grammar of the suffixes, see ops.def */
    const char *operands; /* of the first form: roles of the operands, see ops.def */
    ptx_effect effect;    /* of the first form */
    ptx_cost cost;
} ptx_op_info;

const ptx_op_info *ptx_op_get(ptx_op op);

/* One way to use an opcode: a row X or FORM of ops.def. */
typedef struct ptx_form {
    ptx_op op;
    const char *suffixes;
    const char *operands;
    ptx_effect effect;
    ptx_cost cost;
} ptx_form;

/* Everything that can follow an opcode; types come first, so a type is also a suffix. */
typedef enum ptx_suffix {
    PTX_S_none,
#define X(id, kind, bits, lanes) PTX_S_##id,
#include "ptx/types.def"
#undef X
#define X(id, text, class) PTX_S_##id,
#include "ptx/suffixes.def"
#undef X
    PTX_SUFFIX_COUNT
} ptx_suffix;

/* Types have PTX_SC_TYPE, the others the class of suffixes.def. */
typedef enum ptx_suffix_class {
    PTX_SC_TYPE,
    PTX_SC_SPACE,
    PTX_SC_ROUND,
    PTX_SC_CMP,
    PTX_SC_BOOL,
    PTX_SC_OP,
    PTX_SC_CACHE,
    PTX_SC_SEM,
    PTX_SC_SCOPE,
    PTX_SC_VECTOR,
    PTX_SC_GEOM,
    PTX_SC_FLOAT,
    PTX_SC_MODE,
    PTX_SC_TEXTURE,
    PTX_SC_ASYNC,
    PTX_SC_PROXY,
    PTX_SC_TENSORMAP,
    PTX_SC_TENSOR,
    PTX_SC_SHAPE,
    PTX_SC_REPEAT,
    PTX_SC_COUNT
} ptx_suffix_class;

const char *ptx_suffix_text(ptx_suffix suffix); /* without the dot */
ptx_suffix_class ptx_suffix_class_of(ptx_suffix suffix);

typedef enum ptx_sreg {
    PTX_SR_none,
#define X(id, ...) PTX_SR_##id,
#include "ptx/sregs.def"
#undef X
    PTX_SREG_COUNT
} ptx_sreg;

typedef struct ptx_sreg_info {
    const char *text; /* without the % */
    ptx_type type;    /* of a component */
    bool vector;      /* has components .x .y .z .w */
    uint8_t indexed;  /* members of an indexed family (%envreg<32>), else 0 */
} ptx_sreg_info;

const ptx_sreg_info *ptx_sreg_get(ptx_sreg sreg);

/* A place in the PTX text; both count from 1. */
typedef struct ptx_pos {
    uint32_t line, column;
} ptx_pos;

/* .loc: a place in a source file. `inlined_at` is the index of another ptx_loc in the module, or
 * PTX_NONE. */
typedef struct ptx_loc {
    uint32_t file; /* the number given in .file */
    uint32_t line, column;
    uint32_t inlined_at;
    const char *function; /* label in .debug_str or name as written, or NULL */
    int64_t function_offset;
} ptx_loc;

typedef struct ptx_file {
    uint32_t number;
    const char *path;
    bool has_stat; /* timestamp and size were given */
    uint64_t timestamp, size;
} ptx_file;

struct ptx_func;
struct ptx_var;

typedef enum ptx_symbol_kind { PTX_SYM_VAR, PTX_SYM_FUNC } ptx_symbol_kind;

/* What a name that is no register and no label stands for. */
typedef struct ptx_symbol {
    ptx_symbol_kind kind;
    union {
        struct ptx_var *var;
        struct ptx_func *func;
    };
} ptx_symbol;

typedef enum ptx_linkage {
    PTX_LINK_NONE,
    PTX_LINK_VISIBLE,
    PTX_LINK_EXTERN,
    PTX_LINK_WEAK,
    PTX_LINK_COMMON
} ptx_linkage;

/* One item of an initialiser; arrays are flattened in `items` of the enclosing brace. */
typedef struct ptx_init {
    enum {
        PTX_INIT_INT,
        PTX_INIT_F32,
        PTX_INIT_F64,
        PTX_INIT_ADDRESS,
        PTX_INIT_LIST,
        PTX_INIT_FIELD, /* of an opaque type: name = items[0] */
        PTX_INIT_WORD   /* its value, in `name` */
    } kind;
    const char *name;
    uint64_t bits;  /* value, or IEEE bits; the addend of an address */
    ptx_symbol sym; /* PTX_INIT_ADDRESS */
    bool generic;   /* generic(sym) */
    uint8_t mask;   /* 0xFF(sym) style byte masks: index of the byte + 1, else 0 */
    struct ptx_init *items;
    uint32_t count;
} ptx_init;

typedef struct ptx_var {
    const char *name;
    ptx_linkage linkage;
    ptx_space space;
    ptx_type type;      /* or PTX_T_none with `opaque` */
    const char *opaque; /* "texref", "samplerref", "surfref" or NULL */
    uint8_t vector;     /* 1, 2, 4 */
    uint32_t align;     /* as written, 0 where not given */
    uint32_t ndims;
    uint64_t *dims; /* 0 for [] */
    bool has_init;
    ptx_init init;
    ptx_space ptr_space; /* .param .u64 .ptr .global .align 16: */
    bool is_ptr;
    uint32_t ptr_align;
    uint64_t attributes;   /* bit set: 1 .managed, 2 .unified */
    uint64_t unified[2];   /* the two halves of .unified's identifier */
    struct ptx_func *func; /* the function it belongs to, or NULL for module scope */
    uint32_t scope;        /* index in func->scopes */
    ptx_pos pos;
} ptx_var;

/* Bytes that a variable takes: type, vector and dimensions, x[] as its initialiser says; 0 for an
 * unsized array. */
uint64_t ptx_var_size(const ptx_var *var);
/* Natural or stated alignment in bytes. */
uint32_t ptx_var_align(const ptx_var *var);

typedef struct ptx_reg {
    const char *name; /* as written, with its % */
    ptx_type type;    /* .reg .b32 and the like; only the width and pred-ness matter */
    uint8_t vector;   /* 1, 2, 4 */
    uint32_t scope;
} ptx_reg;

typedef enum ptx_operand_kind {
    PTX_OPD_REG,   /* reg; neg: "!p" or "-r" as written */
    PTX_OPD_SREG,  /* sreg with component */
    PTX_OPD_INT,   /* imm */
    PTX_OPD_F32,   /* imm: IEEE bits, low 32 */
    PTX_OPD_F64,   /* imm: IEEE bits */
    PTX_OPD_SYM,   /* sym + imm: the address of a variable or function */
    PTX_OPD_ADDR,  /* [base + imm]: base is reg, sym or neither */
    PTX_OPD_LABEL, /* label */
    PTX_OPD_VEC,   /* {items}; items may be OPD_SINK */
    PTX_OPD_PAIR,  /* items[0] | items[1]: setp, shfl */
    PTX_OPD_LIST,  /* (items): arguments of a call */
    /* [items[0], items[1..]]: texture, sampler, coordinates; also tensor copies */
    PTX_OPD_TEX,
    PTX_OPD_SINK /* _ */
} ptx_operand_kind;

typedef struct ptx_operand {
    ptx_operand_kind kind;
    bool neg;
    /* 0 none, 1..4 = .x .y .z .w (or .r .g .b .a); 8 + n for .b<n>, 16 + n for .h<n> */
    uint8_t component;
    /* the component as written where it names several bytes or halves ("h10", "b3210"), or NULL */
    const char *selector;
    /* index in func->regs; PTX_NONE where an address has no register */
    uint32_t reg;
    ptx_sreg sreg;
    uint32_t sreg_index; /* %envreg<n>, %pm<n>, ... */
    uint32_t label;      /* index in func->labels */
    bool has_sym;
    ptx_symbol sym;
    uint64_t imm;      /* sign-extended */
    bool imm_unsigned; /* written with U, or above INT64_MAX */
    bool imm_hex;
    /* an address written with "+0", which ptxas does not take like one without */
    bool zero_offset;
    struct ptx_operand *items;
    uint32_t count;
    ptx_pos pos;
} ptx_operand;

enum { PTX_MAX_SUFFIXES = 20 };

typedef struct ptx_insn {
    ptx_op op;
    uint8_t nsuffixes;
    uint16_t suffixes[PTX_MAX_SUFFIXES]; /* ptx_suffix, in the order written */
    ptx_type types[4]; /* the type suffixes in order, PTX_T_none behind the last */
    ptx_space space;   /* first state-space suffix, GENERIC without */
    uint8_t vector;    /* 1, or 2, 4, 8 with .v2 .v4 .v8 */
    uint32_t guard;    /* predicate register, or PTX_NONE */
    bool guard_neg;
    uint32_t noperands;
    ptx_operand *operands; /* in the order written */
    uint32_t loc;          /* index in module->locs, or PTX_NONE */
    uint32_t pc;           /* index in func->insns */
    ptx_pos pos;
} ptx_insn;

bool ptx_has(const ptx_insn *insn, ptx_suffix suffix);
/* The first suffix of that class, or PTX_S_none. */
ptx_suffix ptx_first_of(const ptx_insn *insn, ptx_suffix_class cls);
/* The row of ops.def that the instruction's suffixes fit, or NULL. Reads the row's grammar: once an
 * instruction, please. */
const ptx_form *ptx_insn_form(const ptx_insn *insn);
/* Of the form, or of the opcode where no form fits; arithmetic by its first type. */
ptx_effect ptx_insn_effect(const ptx_insn *insn);
ptx_cost ptx_insn_cost(const ptx_insn *insn);

typedef struct ptx_label {
    const char *name;
    /* of the instruction that follows; func->ninsns at the end; PTX_NONE for a declared table */
    uint32_t pc;
    uint32_t scope;
    /* `name: .branchtargets a, b;` `.calltargets f, g;` `.callprototype (ret) _ (params);` */
    enum {
        PTX_LABEL_CODE,
        PTX_LABEL_BRANCHTARGETS,
        PTX_LABEL_CALLTARGETS,
        PTX_LABEL_PROTOTYPE
    } kind;
    uint32_t *targets; /* labels */
    ptx_symbol *callees;
    uint32_t count;
    struct ptx_func *prototype;
    ptx_pos pos;
} ptx_label;

/* The body as written: instructions and what stands between them. */
typedef enum ptx_stmt_kind {
    PTX_STMT_INSN,   /* index in func->insns */
    PTX_STMT_LABEL,  /* index in func->labels */
    PTX_STMT_LOC,    /* index in module->locs */
    PTX_STMT_REGS,   /* index in func->regdecls */
    PTX_STMT_VAR,    /* index in func->vars */
    PTX_STMT_PRAGMA, /* text */
    PTX_STMT_OPEN,   /* index in func->scopes */
    PTX_STMT_CLOSE,
    PTX_STMT_DIRECTIVE, /* anything else that is kept as text */
    PTX_STMT_FILE       /* index in module->files */
} ptx_stmt_kind;

typedef struct ptx_stmt {
    ptx_stmt_kind kind;
    uint32_t index;
    const char *text;
} ptx_stmt;

/* .reg .b32 %r<10>;  or  .reg .f32 a, b; */
typedef struct ptx_regdecl {
    ptx_type type;
    uint8_t vector;
    uint32_t first, count; /* in func->regs */
    const char *prefix;    /* for the <n> form, else NULL */
    uint32_t n;
} ptx_regdecl;

typedef struct ptx_scope {
    uint32_t parent; /* PTX_NONE for the outermost, which is scope 0 */
} ptx_scope;

/* .maxntid and the like, in the order written. */
typedef struct ptx_perf {
    const char *name; /* with its dot */
    uint32_t values[3];
    uint32_t count;
    const char *text; /* of a .pragma, else NULL */
} ptx_perf;

typedef struct ptx_func {
    const char *name;
    bool entry;
    bool has_body;
    ptx_linkage linkage;
    bool noreturn;
    uint64_t attributes; /* as in ptx_var */
    uint64_t unified[2];
    /* `.alias this, other;`: what calls of this reach; else NULL */
    struct ptx_func *alias;
    /* .param or .reg variables; a .reg one is in regs too, under its name */
    ptx_var **rets;
    uint32_t nrets;
    ptx_var **params;
    uint32_t nparams;
    ptx_perf *perf;
    uint32_t nperf;
    ptx_reg *regs;
    uint32_t nregs;
    ptx_regdecl *regdecls;
    uint32_t nregdecls;
    ptx_var **vars; /* declared in the body */
    uint32_t nvars;
    ptx_label *labels;
    uint32_t nlabels;
    ptx_scope *scopes;
    uint32_t nscopes;
    ptx_insn *insns;
    uint32_t ninsns;
    ptx_stmt *stmts;
    uint32_t nstmts;
    uint32_t index; /* in module->funcs */
    ptx_pos pos;
} ptx_func;

/* .section .debug_info { ... }, kept line by line. */
typedef struct ptx_section {
    const char *name;
    const char **lines;
    uint32_t nlines;
} ptx_section;

typedef enum ptx_item_kind {
    PTX_ITEM_VAR,
    PTX_ITEM_FUNC,
    PTX_ITEM_FILE,
    PTX_ITEM_SECTION,
    PTX_ITEM_PRAGMA,
    PTX_ITEM_ALIAS,
    PTX_ITEM_DIRECTIVE
} ptx_item_kind;

/* The module as written. */
typedef struct ptx_item {
    ptx_item_kind kind;
    uint32_t index; /* in vars, funcs, files, sections */
    const char *text;
} ptx_item;

typedef struct ptx_module {
    wl_arena *arena;
    uint32_t version_major, version_minor;
    const char *target; /* as written: "sm_90a, debug" */
    uint32_t sm;        /* 90 */
    uint32_t address_size;
    ptx_var **vars; /* module scope */
    uint32_t nvars;
    /* declarations too; a definition after its prototype is a second entry, names resolve to it */
    ptx_func **funcs;
    uint32_t nfuncs;
    ptx_file *files;
    uint32_t nfiles;
    ptx_loc *locs;
    uint32_t nlocs;
    ptx_section *sections;
    uint32_t nsections;
    ptx_item *items;
    uint32_t nitems;
} ptx_module;

/* The function with this name that has a body, else a declaration, else NULL. */
ptx_func *ptx_module_func(const ptx_module *module, const char *name);
ptx_var *ptx_module_var(const ptx_module *module, const char *name);
/* NULL where not declared. */
const char *ptx_module_file(const ptx_module *module, uint32_t number);

#endif
