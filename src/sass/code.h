/* The machine code of a kernel, out of a cubin.
 *
 * With line information (nvcc -lineinfo or -G) ptxas writes down of each instruction which line of
 * the PTX it made it from, in the section .nv_debug_line_sass, and the PTX itself, in
 * .nv_debug_ptx_txt: the same text line by line, without comments and .loc. */
#ifndef WL_SASS_CODE_H
#define WL_SASS_CODE_H

#include "base/arena.h"
#include "base/error.h"
#include "sass/banks.h"
#include "sass/decode.h"

#include <stddef.h>

typedef struct sass_code {
    uint32_t sm;        /* compute capability times ten */
    uint32_t registers; /* of a thread, as ptxas gave them; 0: not told */
    uint32_t stack;     /* bytes of local memory that a thread has for calls and arrays */
    uint32_t count;
    const unsigned char *bytes; /* of all instructions, one after the other */
    sass_insn *insns;           /* subroutines of ptxas follow what calls them */
    uint32_t lines;             /* of `insns`, those whose line is known */
    const char **files;         /* of the source, each a path; that of number 1 is files[0] */
    uint32_t nfiles;
    const char *ptx; /* lines that end with '\0'; NULL: without line information */
    size_t ptx_bytes;
    sass_places places;
} sass_code;

/* `cubin` may come from anywhere: what does not hold together is WL_CORRUPT, a kernel that is not in it
 * WL_NOENT, a device before SASS_LEAST_SM WL_UNSUPPORTED. `sm` is what it was made for. What is found
 * lies in `arena`. */
wl_status sass_code_read(const void *cubin, size_t size, uint32_t sm, const char *kernel,
                         wl_arena *arena, sass_code *out, wl_error *err);

/* Of how many of its instructions operands and modifiers are known. */
uint32_t sass_code_known(const sass_code *code);

#endif
