/* Code as a tree: the functions and variables of a module. A front end makes it (ptx/ptx.h), and
 * everything else reads it.
 *
 * A module owns all it points to through one arena. Registers are numbered function-wide, labels
 * too; nested scopes only rename. How the text was written that a module was read from is no part
 * of its meaning: only who prints or rewrites that text looks at `written`. */
#ifndef WL_IR_MODULE_H
#define WL_IR_MODULE_H

#include "base/arena.h"
#include "ir/code.h"

struct ptx_written_func;
struct ptx_written_module;

/* .loc: a place in a source file. `inlined_at` is the index of another ir_loc in the module, or
 * IR_NONE. */
typedef struct ir_loc {
    uint32_t file; /* the number given in .file */
    uint32_t line, column;
    uint32_t inlined_at;
    const char *function; /* label in .debug_str or name as written, or NULL */
    int64_t function_offset;
} ir_loc;

typedef struct ir_file {
    uint32_t number;
    const char *path;
    bool has_stat; /* timestamp and size were given */
    uint64_t timestamp, size;
} ir_file;

typedef enum ir_linkage {
    IR_LINK_NONE,
    IR_LINK_VISIBLE,
    IR_LINK_EXTERN,
    IR_LINK_WEAK,
    IR_LINK_COMMON
} ir_linkage;

/* One item of an initialiser; arrays are flattened in `items` of the enclosing brace. */
typedef struct ir_init {
    enum {
        IR_INIT_INT,
        IR_INIT_F32,
        IR_INIT_F64,
        IR_INIT_ADDRESS,
        IR_INIT_LIST,
        IR_INIT_FIELD, /* of an opaque type: name = items[0] */
        IR_INIT_WORD   /* its value, in `name` */
    } kind;
    const char *name;
    uint64_t bits; /* value, or IEEE bits; the addend of an address */
    ir_symbol sym; /* IR_INIT_ADDRESS */
    bool generic;  /* generic(sym) */
    uint8_t mask;  /* 0xFF(sym) style byte masks: index of the byte + 1, else 0 */
    struct ir_init *items;
    uint32_t count;
} ir_init;

typedef struct ir_var {
    const char *name;
    ir_linkage linkage;
    ir_space space;
    ir_type type;       /* or IR_T_none with `opaque` */
    const char *opaque; /* "texref", "samplerref", "surfref" or NULL */
    uint8_t vector;     /* 1, 2, 4 */
    uint32_t align;     /* as written, 0 where not given */
    uint32_t ndims;
    uint64_t *dims; /* 0 for [] */
    bool has_init;
    ir_init init;
    ir_space ptr_space; /* .param .u64 .ptr .global .align 16: */
    bool is_ptr;
    uint32_t ptr_align;
    uint64_t attributes;  /* bit set: 1 .managed, 2 .unified */
    uint64_t unified[2];  /* the two halves of .unified's identifier */
    struct ir_func *func; /* the function it belongs to, or NULL for module scope */
    uint32_t scope;       /* in which it was declared; 0 is the outermost */
    ir_pos pos;
} ir_var;

/* Bytes that a variable takes: type, vector and dimensions, x[] as its initialiser says; 0 for an
 * unsized array. */
uint64_t ir_var_size(const ir_var *var);
/* Natural or stated alignment in bytes. */
uint32_t ir_var_align(const ir_var *var);
/* Where the parameter lies among the launch's bytes (PTX ISA, "Parameter state space"): each at its
 * own alignment, in order. All of them where `var` is NULL. False: the kernel has no such one. */
bool ir_param_place(const struct ir_func *kernel, const ir_var *var, uint32_t *from, uint32_t *to);

typedef struct ir_label {
    const char *name;
    /* of the instruction that follows; func->ninsns at the end; IR_NONE for a declared table */
    uint32_t pc;
    uint32_t scope;
    /* `name: .branchtargets a, b;` `.calltargets f, g;` `.callprototype (ret) _ (params);` */
    enum { IR_LABEL_CODE, IR_LABEL_BRANCHTARGETS, IR_LABEL_CALLTARGETS, IR_LABEL_PROTOTYPE } kind;
    uint32_t *targets; /* labels */
    ir_symbol *callees;
    uint32_t count;
    struct ir_func *prototype;
    ir_pos pos;
} ir_label;

typedef struct ir_func {
    const char *name;
    bool entry;
    bool has_body;
    ir_linkage linkage;
    bool noreturn;
    uint64_t attributes; /* as in ir_var */
    uint64_t unified[2];
    /* `.alias this, other;`: what calls of this reach; else NULL */
    struct ir_func *alias;
    /* .param or .reg variables; a .reg one is in regs too, under its name */
    ir_var **rets;
    uint32_t nrets;
    ir_var **params;
    uint32_t nparams;
    /* The most threads of a block that the code allows (.maxntid, .reqntid); 0 where it says
     * nothing. */
    uint32_t max_threads;
    ir_reg *regs;
    uint32_t nregs;
    ir_var **vars; /* declared in the body */
    uint32_t nvars;
    ir_label *labels;
    uint32_t nlabels;
    ir_insn *insns;
    uint32_t ninsns;
    uint32_t index;                   /* in module->funcs */
    struct ptx_written_func *written; /* ptx/written.h; NULL where the code was not read from PTX */
    ir_pos pos;
} ir_func;

typedef struct ir_module {
    wl_arena *arena;
    const struct ir_front
        *front;  /* that made it, ir/front.h; NULL where it was put together without one */
    uint32_t sm; /* of the target: 90 */
    uint32_t address_size;
    ir_var **vars; /* module scope */
    uint32_t nvars;
    /* declarations too; a definition after its prototype is a second entry, names resolve to it */
    ir_func **funcs;
    uint32_t nfuncs;
    ir_file *files;
    uint32_t nfiles;
    ir_loc *locs;
    uint32_t nlocs;
    struct ptx_written_module *written; /* ptx/written.h; NULL where it was not read from PTX */
} ir_module;

/* A module without anything in it, in an arena of its own; NULL without memory. */
ir_module *ir_module_new(void);
void ir_module_free(ir_module *module);

/* The function with this name that has a body, else a declaration, else NULL. */
ir_func *ir_module_func(const ir_module *module, const char *name);
/* NULL where not declared. */
const char *ir_module_file(const ir_module *module, uint32_t number);

#endif
