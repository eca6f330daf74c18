/* Operands and modifiers of instructions of machine code, as the table forms.def lays them out.
 *
 * An instruction is known bit for bit or not at all: where a bit is set that its row does not speak
 * of, or a field has a value that the row does not name, sass_read() says that it does not know
 * it. Nothing is guessed. */
#ifndef WL_SASS_OPERANDS_H
#define WL_SASS_OPERANDS_H

#include "sass/decode.h"

typedef enum sass_kind {
    SASS_REGISTER,
    SASS_UNIFORM, /* a uniform register */
    SASS_PREDICATE,
    SASS_UNIFORM_PREDICATE,
    SASS_BARRIER, /* a register of convergence, B0 ... */
    SASS_SCOREBOARD,
    SASS_NUMBER, /* printed without a sign */
    SASS_SIGNED,
    SASS_FLOAT,      /* the 32 bits of a float */
    SASS_HALF,       /* the 16 bits of one of half precision */
    SASS_BFLOAT,     /* the 16 bits of a bfloat16 */
    SASS_DOUBLE,     /* the upper 32 bits of a double */
    SASS_CONSTANT,   /* c[bank][offset], or cx[uniform][offset] */
    SASS_MEMORY,     /* [reg + uniform + offset] */
    SASS_SET,        /* of scoreboards, by bit */
    SASS_DESCRIPTOR, /* desc[uniform] */
    SASS_TARGET, /* an address of the code, in bytes from the begin of the section; with a register
                    * added where the flags say so */
    SASS_NAME    /* a special register, and what else has a name */
} sass_kind;

enum {
    SASS_NO_REGISTER = 255,  /* RZ, of sm_100 URZ also */
    SASS_ALWAYS = 7,         /* PT */
    SASS_NEGATED = 1,        /* -, of predicates ! */
    SASS_ABSOLUTE = 2,       /* | | */
    SASS_INVERTED = 4,       /* ~ */
    SASS_REUSED = 8,         /* its value is kept for the next instruction */
    SASS_WRITTEN = 16,       /* a result */
    SASS_WITH_REGISTER = 32, /* of memory and constants: `reg` is part of the address */
    SASS_WITH_UNIFORM = 64,  /* likewise `uniform` */
    SASS_DESCRIBED = 128,    /* desc[uniform][...]: `uniform` is a descriptor, no part of it */
    SASS_HIDDEN = 256,       /* not printed, since it says nothing: PT, a mask of all */
    SASS_MAX_OPERANDS = 12,
    SASS_MAX_MODIFIERS = 16
};

typedef struct sass_text { /* a piece of the table */
    const char *at;
    uint8_t length;
} sass_text;

typedef struct sass_operand {
    uint8_t kind;
    uint16_t flags;
    uint8_t reg;     /* number of a register, predicate or barrier; 255 and 7: that which is none */
    uint8_t uniform; /* of an address */
    uint8_t bank;    /* of constants */
    sass_text
        suffix;     /* printed after the register: .64, .X4, .H0_H0; of constants in loads, R or U:
                       * `reg` is a register, or a uniform one */
    sass_text name; /* of SASS_NAME */
    int64_t value;  /* a number, or the offset of an address */
} sass_operand;

typedef struct sass_form { /* a row of forms.def */
    uint16_t bits, since, before;
    const char *kinds, *name, *layout;
} sass_form;

typedef struct sass_details {
    const sass_form *form; /* NULL: not known */
    uint8_t guard;         /* predicate; SASS_ALWAYS: none */
    bool guard_negated;
    bool guard_uniform;
    uint8_t operands, modifiers;
    uint8_t stall, yield, write_barrier, read_barrier, wait; /* 7 as a barrier: none */
    sass_operand operand[SASS_MAX_OPERANDS];
    sass_text modifier[SASS_MAX_MODIFIERS];
} sass_details;

/* The instruction number `index` of code for compute capability sm / 10. False where it is not
 * known; then `out->form` is NULL, and only the guard and the fields of control count. */
bool sass_read(const unsigned char bytes[SASS_BYTES], uint32_t index, uint32_t sm,
               sass_details *out);

bool sass_text_is(sass_text text, const char *word);
bool sass_has_modifier(const sass_details *insn, const char *modifier);

/* As nvdisasm prints it, without the closing semicolon. Returns the length, or what it would be
 * where `size` is too small, as snprintf(). */
size_t sass_print(const sass_details *insn, uint32_t sm, char *text, size_t size);

#endif
