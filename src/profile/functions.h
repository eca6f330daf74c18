/* The functions of a C++ source text, lambdas among them: where each begins and ends, its
 * parameters, and whether it is a class's. Read without knowing types; what looks like none is left
 * out. */
#ifndef WL_PROFILE_FUNCTIONS_H
#define WL_PROFILE_FUNCTIONS_H

#include "profile/tokens.h"

typedef struct function_text {
    uint32_t first;       /* token that its head begins with */
    uint32_t name;        /* token; of a lambda the variable that it is kept in; TOKEN_NONE: none */
    uint32_t list;        /* the bracket of its parameters; TOKEN_NONE: a lambda without */
    uint32_t open, close; /* of its body */
    uint32_t owner;       /* token that names its class; TOKEN_NONE: it is of none */
    bool lambda;
} function_text;

typedef struct function_texts {
    uint32_t count;
    const function_text *rows; /* by `open` */
} function_texts;

/* They lie in `arena`. False when memory is exhausted. */
bool functions_of(const tokens *t, wl_arena *arena, function_texts *out);

/* The innermost function, head and body, that holds the token; NULL: none. */
const function_text *functions_around(const function_texts *functions, uint32_t at);

/* How a function calls one of its parameters or takes it. */
typedef struct parameter_text {
    uint32_t name; /* token */
    bool by_reference, pointer;
} parameter_text;

enum { FUNCTION_PARAMETERS = 64 };

/* Its parameters, at most FUNCTION_PARAMETERS; `name` is TOKEN_NONE where one has none. */
uint32_t function_parameters(const tokens *t, const function_text *f, parameter_text *out);

#endif
