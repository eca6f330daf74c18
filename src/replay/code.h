/* Where the code of a process's kernels comes from: PTX, read a module at a time, or machine code,
 * lifted a kernel at a time. What is made of it is the same. */
#ifndef WL_REPLAY_CODE_H
#define WL_REPLAY_CODE_H

#include "capture/capture.h"
#include "cuda/cubin.h"
#include "emu/slice.h"
#include "sass/body.h"

#include <uthash.h>

typedef struct replay_code { /* of all kernels of a module's PTX, or of one of its machine code */
    char *kernel;            /* of machine code; of PTX: "" */
    wl_status status;        /* WL_OK: it is loaded; else `error` says why not */
    wl_error error;
    ir_module *ir;
    emu_module *loaded;
    const sass_body *machine; /* NULL: it is PTX */
    struct replay_lifted *lifted;
    UT_hash_handle hh;
} replay_code;

typedef struct replay_source { /* of a module; all of it belongs to it */
    cap_module_kind kind;
    char *name;
    char *bytes; /* ends with a NUL that does not count */
    size_t length;
    cuda_variables variables; /* of machine code */
    replay_code *codes;       /* that were asked for */
} replay_source;

/* Copies what the record has. WL_NOMEM is the only failure. */
wl_status replay_source_take(const cap_module *record, replay_source *out);
/* Unloads all of it: slices end with that. */
void replay_source_unload(replay_source *source);
void replay_source_clear(replay_source *source); /* of one that is unloaded */

/* The code of a kernel, loaded; variables lie where `address_of` says, but constants of machine code,
 * which have banks. NULL without memory, else its status says whether there is any. */
replay_code *replay_code_of(replay_source *source, const char *kernel, emu_machine *machine,
                            emu_address_of address_of, void *ctx);
/* Whether the module's PTX was asked for. */
bool replay_source_tried(const replay_source *source);

/* The number that users know an instruction by. */
static inline uint32_t replay_code_pc(const replay_code *code, uint32_t pc)
{
    return code->machine ? code->machine->insn_of[pc] : pc;
}

/* Whether what the constant held was settled when the code was made: a bank of machine code that is
 * not the program's. */
bool replay_code_settled(const replay_code *code, const ir_var *constant);
/* Whether the constant is machine code's bank of the program's constants. */
bool replay_code_is_program_bank(const replay_code *code, const ir_var *constant);
/* That bank's bytes; NULL where the code has none. */
unsigned char *replay_code_program_bank(const replay_code *code, uint64_t *bytes);
/* The constant variable of machine code with that name; NULL: there is none. */
const cuda_variable *replay_source_constant(const replay_source *source, const char *name);

#endif
