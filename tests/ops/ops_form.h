/* Instruction forms (forms.tsv), the kernels made from them and the inputs that they run on.
 *
 * The recorder runs the kernels on a GPU, the replay on the emulator; both use this file, so both
 * see the same PTX and the same inputs. Slot k of thread t lies at (k * OPS_THREADS + t) * 8 in the
 * input and in the output. */
#ifndef OPS_FORM_H
#define OPS_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPS_THREADS = 512, OPS_BLOCK = 256, OPS_MAX_SLOTS = 12, OPS_CELL = 32 };

typedef struct ops_form {
    const char *family, *text;
    uint32_t ndst, nsrc;
    const char *dst[OPS_MAX_SLOTS];  /* register types: "b32" */
    const char *src[OPS_MAX_SLOTS];  /* register types */
    const char *pool[OPS_MAX_SLOTS]; /* how inputs are drawn */
    const char *tolerance;           /* "exact", "ulp 2", "abs 1e-6", "rel 1e-3" */
} ops_form;

typedef struct ops_forms {
    uint32_t count;
    ops_form *rows;
    char *storage;
} ops_forms;

bool ops_forms_read(const char *path, ops_forms *out); /* says why on stderr when it fails */
void ops_forms_free(ops_forms *forms);

uint32_t ops_width(const char *reg); /* bytes of a register type */

/* A module with one entry "k", malloc'ed. */
char *ops_form_ptx(const ops_form *form);

/* OPS_THREADS * nsrc numbers, seeded by the form's text. */
void ops_form_inputs(const ops_form *form, uint64_t *in);

#endif
