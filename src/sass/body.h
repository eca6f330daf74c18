/* A kernel of machine code as a module of the IR, and which instruction of the one is which of the
 * other.
 *
 * The IR has the lifted code (lift.h), in which several instructions stand for one of the machine, and
 * more where subroutines are copied; at most one of them in each copy accesses memory that is no
 * constant or parameter. What users see has the machine's numbers: byte offset in the kernel's
 * section / 16. */
#ifndef WL_SASS_BODY_H
#define WL_SASS_BODY_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/module.h"
#include "sass/decode.h"

/* A basic block of the machine in one of the copies: lanes that begin the IR's basic block at `begin` run
 * it. It runs as often as all its runs together. */
typedef struct sass_run {
    uint32_t insn;  /* its first instruction */
    uint32_t begin; /* SASS_NOWHERE: how often it runs is not known, nor that of the whole block */
} sass_run;

typedef struct sass_body {
    uint32_t sm, registers; /* as sass_code's */
    uint32_t count;         /* machine instructions */
    const sass_insn *insns;
    const unsigned char *bytes; /* of all of them */
    const char *undone;         /* as sass_lifted's */
    uint32_t lost;              /* an instruction that is not known; SASS_NOWHERE: there is none */
    ir_module *module;          /* with the one kernel; of the front end for PTX */
    uint32_t npcs;              /* instructions of the IR */
    uint32_t *insn_of;          /* [npcs]: the machine instruction */
    uint8_t *leader;            /* [count]: 1 where a basic block of the machine code begins */
    uint8_t *reached;           /* [count]: something leads there; others never run */
    uint32_t nruns;
    sass_run *runs; /* ascend by `begin`, then `insn` */
    /* [npcs]: of the first instruction of a basic block of the IR its first run; nruns: it has none. */
    uint32_t *run_of;
} sass_body;

/* Errors as sass_lift()'s. All but the module, which sass_body_clear() frees, lies in `arena`. */
wl_status sass_body_read(const void *cubin, size_t size, uint32_t sm, const char *kernel,
                         wl_arena *arena, sass_body *out, wl_error *err);
void sass_body_clear(sass_body *body); /* also one that could not be read, or all zero */

/* The text of a machine instruction, as nvdisasm has it, into buffer; truncates. Returns buffer. */
char *sass_body_text(const sass_body *body, uint32_t insn, char *buffer, size_t size);
/* Its name with its modifiers, "LDG.E.64". */
char *sass_body_name(const sass_body *body, uint32_t insn, char *buffer, size_t size);

#endif
