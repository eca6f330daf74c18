/* C++ source as words and signs, with matching brackets: what reading names out of it rests on. No
 * preprocessor runs: directives are left out, and of `#if ... #else ... #endif` the brackets of the
 * first branch count outside of it. */
#ifndef WL_PROFILE_TOKENS_H
#define WL_PROFILE_TOKENS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_NONE UINT32_MAX

typedef enum token_kind {
    TOKEN_WORD, /* identifier or keyword */
    TOKEN_NUMBER,
    TOKEN_STRING, /* or character */
    TOKEN_SIGN    /* "::", "->", "==", "<<<", ...; ">" alone, as it may close a template's list */
} token_kind;

typedef struct token {
    uint32_t start, length; /* bytes in the text */
    uint32_t line, column;  /* from 1 */
    uint32_t match;         /* of a bracket ()[]{}: the other one; else TOKEN_NONE */
    token_kind kind;
} token;

typedef struct tokens {
    const char *text;
    uint32_t count;
    const token *rows; /* by their place in the text */
} tokens;

/* `text` is NUL-terminated and outlives the tokens, which lie in `arena`. False when memory is
 * exhausted. */
bool tokens_of(const char *text, wl_arena *arena, tokens *out);

/* All of these may be asked about indices beyond the end, where nothing is. */
bool token_is(const tokens *t, uint32_t at, const char *text);
bool token_is_word(const tokens *t, uint32_t at); /* that is no keyword of a statement */
bool token_is_any(const tokens *t, uint32_t at, const char *const *texts); /* ends with NULL */

/* After the template's list that opens at `at` ("<"); `at` where none does. */
uint32_t tokens_after_list(const tokens *t, uint32_t at);
/* Where the template's list that closes at `at` (">") opens; `at` where none does. */
uint32_t tokens_before_list(const tokens *t, uint32_t at);

/* The tokens [first, end) as a name is written, without space. NULL when memory is exhausted. */
char *tokens_text(const tokens *t, uint32_t first, uint32_t end, wl_arena *arena);

#endif
