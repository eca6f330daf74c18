/* Addresses as the code alone tells them, worked out for the sizes of one launch.
 *
 * The profile has the form of an address as a sum of products of indices, sizes, parameters and
 * iterations (docs/flow.md), such as "4*tid.x + 1024*ctaid.x + param0". What is read here from a
 * form holds for every launch with the same grid and block, whatever the data is. */
#ifndef WL_ANALYSIS_FORMS_H
#define WL_ANALYSIS_FORMS_H

#include "profile/profile.h"

typedef struct ana_place {
    /* Bytes from one thread, or one block, to the next in x, y and z. */
    int64_t thread[3], block[3];
    int64_t constant;
    const char *base;     /* in the form's text: "&tile", "param0"; NULL without exactly one */
    uint32_t base_length; /* characters */
    /* Of all that is not constant: equal for addresses that differ by constants alone. */
    uint64_t shape;
    /* What else moves the address: iterations of loops; values without a form; a thread's or a
     * block's index times something that is not known, so that `thread` or `block` is not whole
     * (nor is `thread` where a value has no form, but is the same in all blocks). */
    bool iterations, unknown, thread_unknown, block_unknown;
    uint64_t step; /* of the loop that moves it least: bytes an iteration; 0: of none it is known */
    bool uneven;   /* of some loop it is not known, or no multiple of a sector */
    bool formless; /* unknown, since a value has no form: it may differ from thread to thread */
    bool counted;  /* unknown, since it follows from the result of an atomic update */
    bool loaded;   /* unknown, since it follows from what memory holds */
} ana_place;

/* False where the form cannot be read, for example because it was cut off. */
bool ana_place_of(const prof_form *form, const prof_launch *launch, ana_place *out);

/* Whether nothing but the indices of threads and blocks moves the address within a launch. */
bool ana_place_is_exact(const ana_place *place);

/* Whether all threads of a warp take one address, for certain. */
bool ana_place_is_same_in_warps(const ana_place *place);

/* Whether a value takes part that memory held, or that an atomic update gave: with other data the
 * address is another. */
bool ana_form_is_of_data(const prof_form *form);

/* ---- the text ---- */

typedef struct ana_form_reader { /* goes through the products of a form's sum */
    const char *at;
    bool begun, damaged;
} ana_form_reader;

typedef struct ana_product { /* goes through its factors */
    const char *at, *end;
    bool negative, damaged;
} ana_product;

ana_form_reader ana_form_read(const char *form);
/* False after the last product, and where the text is none of a form: damaged. */
bool ana_form_next(ana_form_reader *reader, ana_product *product);
/* A name or a number of so many characters; false after the last, and where there is none: damaged. */
bool ana_product_next(ana_product *product, const char **factor, uint32_t *length);
/* Of a factor that is a number; false where it has too many digits. */
bool ana_factor_number(const char *factor, uint32_t length, int64_t *out);
/* The dimension of a factor such as "tid.y" of the vector "tid"; 3 where it is another. */
uint32_t ana_factor_dimension(const char *factor, uint32_t length, const char *vector);

/* The first form of an instruction; NULL without one. The rows are of one kernel. */
const prof_form *ana_form_at(const prof_form_rows *forms, uint32_t pc);
/* The same of rows of all kernels. */
const prof_form *ana_form_of(const prof_form_rows *forms, uint32_t kernel, uint32_t pc);

#endif
