/* What the files of the front end share: names and scopes, the parser's state. Nobody
 * outside includes this.
 *
 * Errors are sticky, see ptx/lexer.h. Parse functions therefore return no status; every loop of
 * theirs ends at TOK_EOF, and who needs to know asks p->lex.failed. */
#ifndef WL_PTX_INTERNAL_H
#define WL_PTX_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "ir/lookup.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"
#include "ptx/written.h"

#include <string.h>

/* --- Names and scopes (names.c) --- */

typedef enum ptx_binding_kind { PTX_BIND_REG, PTX_BIND_VAR, PTX_BIND_LABEL } ptx_binding_kind;

/* What a name means in one scope; the innermost comes first. */
typedef struct ptx_binding {
    struct ptx_binding *outer;
    struct ptx_binding *next; /* of the same scope */
    struct ptx_name *name;
    ptx_binding_kind kind;
    uint32_t depth; /* 0 module, 1 function, 2 and more nested */
    uint32_t index; /* of the register or label */
    ir_var *var;
} ptx_binding;

/* .reg .b32 %r<n>: the names %r0 .. %r(n-1). */
typedef struct ptx_family {
    struct ptx_family *outer;
    struct ptx_family *next;
    struct ptx_name *name;
    uint32_t depth, first, n;
} ptx_family;

/* One for every distinct word of the text. */
typedef struct ptx_name {
    const char *text; /* in the module's arena */
    uint32_t length, hash;
    ir_op op;
    ir_sreg sreg;
    uint32_t sreg_index;
    struct ptx_name *stem; /* the word without its final number, or NULL */
    uint32_t number;
    ptx_binding *binding;
    ptx_family *family;
    ir_func *func; /* the definition, else the last declaration */
} ptx_name;

/* A name whose meaning comes later. Operands and initialisers are built on a stack and move once;
 * the mark becomes a ptx_pending only when they have arrived. */
#define KIND_UNRESOLVED ((ir_operand_kind)100) /* the ptx_name in `items` */
#define SYM_UNRESOLVED ((ir_symbol_kind)100)   /* the ptx_name in `sym.var` */

/* A name used before its meaning is known. */
typedef struct ptx_pending {
    ptx_name *name;
    ir_operand *operand; /* becomes a label or a symbol; or NULL */
    ir_symbol *symbol;   /* becomes a symbol; or NULL */
    uint32_t *label;     /* becomes a label; or NULL */
    uint32_t depth;
    ir_pos pos;
} ptx_pending;

/* An open scope. */
typedef struct ptx_level {
    ptx_binding *bindings;
    ptx_family *families;
    size_t first_pending;
    uint32_t scope;
} ptx_level;

typedef struct ptx_loc_key {
    uint32_t file, line, column, func;
} ptx_loc_key;

/* The latest .loc with that place in that function. */
typedef struct ptx_loc_slot {
    ptx_loc_key key;
    uint32_t loc; /* + 1 */
} ptx_loc_slot;

/* --- Parser state --- */

typedef struct ptx_parser {
    ptx_lexer lex;
    ir_module *module;
    wl_arena *arena;   /* the module's */
    wl_arena *scratch; /* until the end of parsing */

    ptx_name **names; /* open addressing, a power of two */
    size_t name_slots, name_count;
    wl_vec(ptx_level) levels;
    wl_vec(ptx_pending) pending;
    uint64_t regs_left; /* registers that may still be declared */
    uint64_t vars_left; /* names of the form x<n> that may still be declared */

    /* the module so far */
    wl_vec(ir_var *) vars;
    wl_vec(ir_func *) funcs;
    wl_vec(ir_file) files;
    wl_vec(ir_loc) locs;
    wl_vec(ptx_section) sections;
    wl_vec(ptx_item) items;
    wl_vec(ptx_loc_slot) loc_table; /* open addressing, a power of two */
    size_t loc_used;

    /* the function so far */
    ir_func *func;
    wl_vec(ir_reg) regs;
    wl_vec(ptx_regdecl) regdecls;
    wl_vec(ir_var *) func_vars;
    wl_vec(ir_label) labels;
    wl_vec(ptx_scope) scopes;
    wl_vec(ir_insn) insns;
    wl_vec(ptx_stmt) stmts;
    uint32_t loc; /* in effect */

    /* stacks of lists that are not complete yet */
    wl_vec(ir_operand) operands;
    wl_vec(ir_init) inits;
    uint32_t nesting; /* of expressions and lists */
} ptx_parser;

#define PTX_MAX_VAR_BYTES (1ull << 48)

enum {
    PTX_MAX_NESTING = 64,  /* of parentheses, braces of initialisers and operands */
    PTX_MAX_SCOPES = 1024, /* open at once */
    PTX_MAX_DIMS = 16,
    /* plus one for each byte of text: the most registers of a module */
    PTX_FREE_REGISTERS = 1 << 18,
    PTX_FREE_VARS = 1 << 16, /* the most variables of the form x<n> of a module */
    PTX_MAX_STEM = 100       /* letters of x in x<n> */
};

/* At the current token. */
#define ptx_fail(p, ...) ptx_fail_at(&(p)->lex, ptx_tok_pos(&(p)->lex), WL_PARSE, NULL, __VA_ARGS__)
#define ptx_fail_hint(p, hint, ...) \
    ptx_fail_at(&(p)->lex, ptx_tok_pos(&(p)->lex), WL_PARSE, (hint), __VA_ARGS__)
/* At a place that is no longer the current token. */
#define ptx_fail_pos(p, pos, ...) ptx_fail_at(&(p)->lex, (pos), WL_PARSE, NULL, __VA_ARGS__)

/* Append to a vector of the parser; failure is sticky. */
#define ptx_push(p, v, ...) (wl_push((v), __VA_ARGS__) ? true : (ptx_fail_memory(&(p)->lex), false))
/* The vector's elements as an array of the module, and the vector empty again. */
#define ptx_take(p, v, array, n) \
    ((n) = (uint32_t)(v)->count, \
     (array) = ptx_keep((p), (v)->data, (v)->count, sizeof *(v)->data), (v)->count = 0)
void *ptx_keep(ptx_parser *p, const void *data, size_t count,
               size_t size); /* NULL where count is 0 */
const char *ptx_keep_text(ptx_parser *p, const char *text, size_t length);
bool ptx_at_dwarf(const ptx_parser *p); /* a line of an old debug section: @@DWARF ... */

/* A copy of the current token in the module's arena. */
const char *ptx_tok_text(ptx_parser *p);

/* names.c */
ptx_name *ptx_name_of(ptx_parser *p, const char *text, size_t length, uint32_t hash);
ptx_name *ptx_name_tok(ptx_parser *p); /* of the current token, which is a TOK_NAME */
void ptx_open_level(ptx_parser *p, uint32_t scope);
void ptx_close_level(ptx_parser *p);
uint32_t ptx_depth(const ptx_parser *p);
bool ptx_bind(ptx_parser *p, ptx_name *name, ir_pos pos, ptx_binding what);
bool ptx_bind_family(ptx_parser *p, ptx_name *name, ir_pos pos, uint32_t first, uint32_t n);
/* What the name means here. A register of a family is found too; false where the name is not bound
 * (yet). */
bool ptx_lookup(const ptx_name *name, ptx_binding *out);
void ptx_defer(ptx_parser *p, ptx_pending pending);
void ptx_resolve_module(ptx_parser *p); /* what is left when the text has ended */

/* parse_expr.c */
typedef struct ptx_value {
    enum { PTX_VALUE_INT, PTX_VALUE_F32, PTX_VALUE_F64 } kind;
    uint64_t bits;
    bool is_unsigned, hex;
} ptx_value;
ptx_value ptx_parse_const(ptx_parser *p);
/* A non-negative integer below the limit, for counts, alignments and the like. */
uint64_t ptx_parse_count(ptx_parser *p, const char *what, uint64_t limit);
/* The same for n>, where ">" is no operator. */
uint64_t ptx_parse_angle_count(ptx_parser *p, const char *what, uint64_t limit);

/* parse_operand.c */
/* "+ n" or "- n" where that stands, n an integer; else `wrong` is the message. False: there is
 * none. */
bool ptx_parse_addend(ptx_parser *p, const char *wrong, ptx_value *v, bool *minus);
void ptx_parse_insn(ptx_parser *p);

/* parse_var.c */
bool ptx_at_var(const ptx_parser *p); /* at a state space that starts a declaration? */
void ptx_parse_vars(ptx_parser *p, ir_linkage linkage); /* up to and with the ';' */
ir_var *ptx_parse_param(ptx_parser *p, bool bind);
void ptx_parse_attribute(ptx_parser *p, uint64_t *attributes, uint64_t unified[2]);

/* parse_func.c */
void ptx_parse_func(ptx_parser *p, ir_linkage linkage);
ir_func *ptx_parse_prototype(ptx_parser *p); /* after .callprototype, with the ';' */

/* parse_body.c */
void ptx_parse_body(ptx_parser *p); /* after the '{', with the '}' */
void ptx_parse_file(ptx_parser *p);
const char *ptx_parse_pragma(ptx_parser *p); /* after .pragma, with the ';' */

#endif
