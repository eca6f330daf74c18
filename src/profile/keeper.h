/* Who keeps what a call gives: the variable, or the caller by way of a parameter, the result or the
 * object. Read out of the C++ text around the call's line; where that leaves doubt the answer is
 * that nobody knows. */
#ifndef WL_PROFILE_KEEPER_H
#define WL_PROFILE_KEEPER_H

#include "profile/functions.h"

typedef struct code_text { /* of one source file */
    tokens tokens;
    function_texts functions;
} code_text;

/* It lies in `arena`; `text` (NUL-terminated) outlives it. NULL when memory is exhausted. */
const code_text *code_text_of(const char *text, wl_arena *arena);

/* Where the memory is, as far as the call tells. */
typedef enum call_gives {
    GIVES_RESULT,
    GIVES_BY_POINTER,   /* stores it where argument `argument` points to */
    GIVES_BY_REFERENCE, /* stores it in the argument */
    GIVES_BY_VALUE,     /* it is the argument */
    GIVES_OBJECT,       /* a method or constructor keeps it in its object */
    GIVES_UNKNOWN       /* of a library: as its name suggests */
} call_gives;

typedef struct kept_call {
    const char *name; /* of what is called, unqualified; the class's of a constructor */
    call_gives gives;
    uint32_t argument;
    bool constructor;
    uint32_t line, column; /* of the call; column 0: not known */
    uint32_t rank, of;     /* it is number `rank` of `of` calls of this name on its line */
    const char *path;      /* of what is given: ".values" */
    bool at_once;          /* the variable that it is stored in first, wherever that goes */
} kept_call;

typedef enum keeper_kind {
    KEEPER_UNKNOWN,
    KEEPER_VARIABLE, /* `name` is what people call it */
    KEEPER_CALLER    /* the function around keeps it in nothing of its own: see `gives` */
} keeper_kind;

typedef struct keeper {
    keeper_kind kind;
    const char *name; /* in the function around; of GIVES_OBJECT the member. "" where it has none */
    call_gives gives; /* how the function around gives it to its caller */
    uint32_t argument;    /* which of its parameters */
    const char *path;     /* below that parameter or result */
    const char *function; /* the name that callers call it by; "" unknown */
    const char *owner;    /* its class; "" none */
} keeper;

/* False when memory is exhausted. */
bool keeper_of(const code_text *code, const kept_call *call, wl_arena *arena, keeper *out);

/* The same for a call of a CUDA function, by all names that a text may have for it, or of something
 * on the line that makes it unseen: a macro, a library's function. Of `call` only the place counts. */
bool keeper_of_api(const code_text *code, const char *api, kept_call *call, wl_arena *arena,
                   keeper *out);

#endif
