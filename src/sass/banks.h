/* What a cubin says of a kernel beside its code: constant banks, jump tables, symbols, memory. */
#ifndef WL_SASS_BANKS_H
#define WL_SASS_BANKS_H

#include "base/arena.h"
#include "base/error.h"
#include "sass/elf.h"

enum { SASS_BANKS = 32 }; /* that an instruction can name */

typedef struct sass_bank {      /* .nv.constant<number>, of the kernel or of all of them */
    const unsigned char *bytes; /* NULL: the cubin has none */
    size_t size;
} sass_bank;

typedef struct sass_link { /* the linker puts an address of `symbol` there */
    uint32_t bank;         /* SASS_BANKS: the kernel's code */
    uint32_t type;         /* NVIDIA's number of the relocation */
    uint64_t offset;       /* in bytes */
    int64_t addend;
    uint64_t
        bytes; /* of a variable in global memory that the cubin defines; 0: it is something else */
    const char *symbol; /* a function, __assertfail, vprintf, an array of shared memory, ... */
} sass_link;

typedef struct sass_jump { /* an indirect branch */
    uint32_t from;         /* an instruction of the code, as all of these */
    uint32_t count;
    uint32_t *targets;
} sass_jump;

typedef struct sass_places {
    sass_bank banks[SASS_BANKS];
    sass_link *links;
    uint32_t nlinks;
    sass_jump *jumps;
    uint32_t njumps;
    uint32_t param_base, param_bytes; /* of the parameters in bank 0; of 0 bytes: there are none */
    uint64_t shared;                  /* bytes of shared memory that the kernel declares */
} sass_places;

/* What does not hold together is left out. `out` lies in the arena, but the bytes of banks in the
 * file. */
wl_status sass_find_places(const elf_sections *s, const char *kernel, uint32_t instructions,
                           wl_arena *arena, sass_places *out, wl_error *err);

#endif
