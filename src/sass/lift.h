/* Machine code as PTX: a kernel's instructions, each in the words of PTX that do the same.
 *
 * What comes out is text, which ptx/ptx.h reads: so flow, emulator, observer and replay take a
 * kernel without PTX like any other. It is no source that anybody wrote: registers keep the numbers
 * that ptxas gave them, shared and local memory are addressed as bytes, parameters are one array as
 * the kernel has them in constant bank 0. What is not known is never guessed: an instruction that the
 * table does not have writes values that follow from nothing (%unknown), and where not even its
 * registers are known, all registers do. */
#ifndef WL_SASS_LIFT_H
#define WL_SASS_LIFT_H

#include "sass/code.h"

/* Names of lifted code: shared memory that a kernel declares, with what the system reserves before it, and what
 * launches add. */
#define SASS_SHARED "__shared"
#define SASS_DYNAMIC "__dynamic"

typedef struct sass_lifted {
    char *text; /* one kernel of that name; ends with a NUL */
    size_t length;
    uint32_t lines; /* of the text */
    /* [lines + 1]: the machine instruction that a line, from 1 on, was made of, or SASS_NOWHERE. At most
     * one of an instruction's lines accesses memory that is no constant or parameter, in each copy of the
     * subroutine that it is in (sass/lift_ways.h). */
    uint32_t *insn_of_line;
    uint32_t unknown; /* instructions whose results are not known */
    bool *known;      /* [code.count] */
    /* A function that the kernel calls and that the text does not do the work of, "vprintf"; NULL: it does
     * all of it. */
    const char *undone;
    sass_code code;
} sass_lifted;

/* As sass_code_read(); WL_UNSUPPORTED also where it is not known where control goes. All of it lies in
 * `arena`. */
wl_status sass_lift(const void *cubin, size_t size, uint32_t sm, const char *kernel,
                    wl_arena *arena, sass_lifted *out, wl_error *err);
/* Of code that was read; what it points to lives on. */
wl_status sass_lift_code(const sass_code *code, const char *kernel, wl_arena *arena,
                         sass_lifted *out, wl_error *err);

#endif
