/* PTX text as tokens: the one place that knows how PTX is spelt, for the parser, the linker and
 * whoever only looks for a declaration.
 *
 * Errors are sticky: the first one fills the caller's wl_error, and from then on the lexer only
 * gives TOK_EOF. */
#ifndef WL_PTX_LEXER_H
#define WL_PTX_LEXER_H

#include "base/error.h"
#include "ir/code.h"

typedef enum ptx_token_kind {
    TOK_EOF,
    TOK_NAME,   /* text, length, hash */
    TOK_DOT,    /* directive or suffix: text and length without the dot, hash */
    TOK_INT,    /* value, hex, is_unsigned */
    TOK_F32,    /* value: IEEE bits */
    TOK_F64,    /* value: IEEE bits */
    TOK_STRING, /* text and length without the quotes, escapes as written */
    TOK_PUNCT   /* punct: the character, or two of them as PUNCT2 */
} ptx_token_kind;

#define PUNCT2(a, b) ((a) << 8 | (b))

typedef struct ptx_token {
    ptx_token_kind kind;
    const char *text;
    uint32_t length;
    uint32_t hash;
    uint32_t line, column;
    uint32_t punct;
    uint64_t value;
    bool hex, is_unsigned;
} ptx_token;

typedef struct ptx_lexer {
    const char *name; /* of the text, for messages; or NULL */
    const char *text, *end;
    const char *at; /* after the current token */
    const char *line_start;
    uint32_t line;
    ptx_token tok;
    bool failed;
    wl_status status; /* of the failure */
    wl_error *err;    /* may be NULL */
} ptx_lexer;

/* The text is borrowed and NUL-terminated, `length` without the NUL. No token is read yet. */
ptx_lexer ptx_lexer_of(const char *text, size_t length, const char *name, wl_error *err);
/* Reads the next token into `tok`. */
void ptx_next(ptx_lexer *x);
/* `tok` becomes the number that starts at `from`; false where there is none. */
bool ptx_lex_number(ptx_lexer *x, const char *from);

/* Questions about the current token; ptx_accept...() also reads the next where the answer is yes.
 */
bool ptx_is(const ptx_lexer *x, uint32_t punct);
bool ptx_accept(ptx_lexer *x, uint32_t punct);
bool ptx_is_dot(const ptx_lexer *x, const char *text); /* the directive .text? */
bool ptx_accept_dot(ptx_lexer *x, const char *text);
bool ptx_is_word(const ptx_lexer *x, const char *text);
/* Accepts or fails: "expected ';' after ...". */
bool ptx_expect(ptx_lexer *x, uint32_t punct, const char *after);
/* Where the current token begins, its dot or quote with it; it ends at `at`. */
const char *ptx_tok_start(const ptx_lexer *x);
/* From the current token on, without blanks at the end; skips it. */
const char *ptx_rest_of_line(ptx_lexer *x, size_t *length);
/* The current token for messages. */
void ptx_describe(const ptx_lexer *x, char *buffer, size_t size);

static inline ir_pos ptx_tok_pos(const ptx_lexer *x)
{
    return (ir_pos){x->tok.line, x->tok.column};
}

/* Reports at a place of the text and fails the lexer. `hint` may be NULL. */
void ptx_fail_at(ptx_lexer *x, ir_pos pos, wl_status status, const char *hint, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
void ptx_fail_memory(ptx_lexer *x);

#endif
