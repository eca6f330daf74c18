/* Expressions that name memory, and what a C++ text does with a value: the variable that it is
 * assigned to, the function that returns it. */
#ifndef WL_PROFILE_EXPRESSION_H
#define WL_PROFILE_EXPRESSION_H

#include "profile/functions.h"

/* "&s->data[i]", "(void **)&d_A", "*out", "this->buffer_.ptr": a variable and what of it. */
typedef struct expression {
    uint32_t root;      /* token of the variable, or of the member after "this->" */
    uint32_t rest, end; /* ".data[i]": the tokens [rest, end) */
    bool address;       /* "&" stands before it */
    bool dereferenced;  /* "*" does */
    bool of_this;
} expression;

/* The tokens [first, end); false where they are anything else. */
bool expression_of(const tokens *t, uint32_t first, uint32_t end, expression *out);
/* The longest one that ends with the token `last`. */
bool expression_before(const tokens *t, uint32_t last, expression *out);

/* What becomes of a value. */
typedef enum value_use {
    VALUE_UNKNOWN,
    VALUE_RETURNED, /* by the function around it */
    VALUE_ASSIGNED, /* to an expression, a variable that is declared so among them */
    VALUE_INITIAL   /* of a member, in a constructor's head */
} value_use;

/* What becomes of the tokens [first, end), and the expression that it becomes. */
value_use expression_use(const tokens *t, const function_text *around, uint32_t first, uint32_t end,
                         expression *out);

/* Where the statement that holds the token begins, and the token after its end. */
uint32_t statement_first(const tokens *t, uint32_t at);
uint32_t statement_after(const tokens *t, uint32_t at);

/* The variables that a statement declares; at most `most`. 0: it is no declaration. */
uint32_t statement_declares(const tokens *t, uint32_t first, uint32_t *names, uint32_t most);

#endif
