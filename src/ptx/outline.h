/* What a module's text declares, statement by statement, without parsing bodies: for linking, and
 * for who only needs to know which names a text has. */
#ifndef WL_PTX_OUTLINE_H
#define WL_PTX_OUTLINE_H

#include "ir/module.h"
#include "ptx/lexer.h"

typedef enum ptx_statement_kind {
    PTX_STATEMENT_HEAD,   /* .version, .target, .address_size */
    PTX_STATEMENT_SOURCE, /* .file */
    PTX_STATEMENT_SECTION,
    PTX_STATEMENT_PROTOTYPE, /* a function without a body */
    PTX_STATEMENT_VARIABLE,
    PTX_STATEMENT_FUNCTION,
    PTX_STATEMENT_OTHER /* .pragma, .alias */
} ptx_statement_kind;

typedef struct ptx_statement {
    ptx_statement_kind kind;
    ir_linkage linkage;
    ir_space space;         /* of a variable */
    bool entry;             /* a function that is a kernel */
    bool initialised;       /* a variable with "=" */
    const char *text, *end; /* from the first token to the last, in the lexer's text */
    const char *name;       /* of the variable or function, in the text; else NULL */
    uint32_t name_length;
} ptx_statement;

/* Reads the statement that begins with the lexer's current token. False at the end of the text, and
 * where there is none: x->failed then says that the text is no PTX. Read the first token before the
 * first call. */
bool ptx_next_statement(ptx_lexer *x, ptx_statement *out);
bool ptx_is_named(const ptx_statement *s, const char *name);

#endif
