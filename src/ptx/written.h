/* How the text of a module was written: what is not needed to know what the code does, but to
 * print it again. Nothing is normalised away: parse -> print -> parse gives an equal module
 * (positions aside). All of it lies in the module's arena. */
#ifndef WL_PTX_WRITTEN_H
#define WL_PTX_WRITTEN_H

#include "ir/module.h"

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
    ir_type type;
    uint8_t vector;
    uint32_t first, count; /* in func->regs */
    const char *prefix;    /* for the <n> form, else NULL */
    uint32_t n;
} ptx_regdecl;

typedef struct ptx_scope {
    uint32_t parent; /* IR_NONE for the outermost, which is scope 0 */
} ptx_scope;

/* .maxntid and the like, in the order written. */
typedef struct ptx_perf {
    const char *name; /* with its dot */
    uint32_t values[3];
    uint32_t count;
    const char *text; /* of a .pragma, else NULL */
} ptx_perf;

/* Of a function; of a prototype or a declaration only `perf`. */
typedef struct ptx_written_func {
    ptx_perf *perf;
    uint32_t nperf;
    ptx_regdecl *regdecls;
    uint32_t nregdecls;
    ptx_scope *scopes;
    uint32_t nscopes;
    ptx_stmt *stmts;
    uint32_t nstmts;
} ptx_written_func;

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

typedef struct ptx_written_module {
    uint32_t version_major, version_minor;
    const char *target; /* as written: "sm_90a, debug" */
    ptx_section *sections;
    uint32_t nsections;
    ptx_item *items;
    uint32_t nitems;
} ptx_written_module;

#endif
