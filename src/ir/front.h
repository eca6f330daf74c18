/* Front ends: who makes modules of bytes, and alone knows how their instructions are spelt.
 *
 * All else (flow, emulator, replay, profile) goes through these functions and holds for every front
 * end. ptx/ptx.h is the usual one; another is made known to the process by ir_add_front(). */
#ifndef WL_IR_FRONT_H
#define WL_IR_FRONT_H

#include "base/error.h"
#include "ir/module.h"

typedef struct ir_front {
    const char *name; /* of the language: "PTX" */
    /* Are these bytes for it? Not asked of the usual one, which takes what nobody else does. */
    bool (*recognises)(const void *bytes, size_t length);
    /* Makes a module whose `front` it is; the bytes are followed by a NUL and not kept. *out
     * belongs to the caller: ir_module_free(). On failure *out is NULL. */
    wl_status (*read)(const char *bytes, size_t length, const char *name, ir_module **out,
                      wl_error *err);
    /* One instruction as text into buffer; truncates. Returns buffer. */
    char *(*insn_text)(const ir_module *module, const ir_func *func, const ir_insn *insn,
                       char *buffer, size_t size);
    /* The mangled name of the function that the code at a location was inlined from, in `arena`; ""
     * where it is not known, NULL without memory. May be NULL: no location has one. */
    const char *(*inlined_from)(const ir_module *module, const ir_loc *loc, wl_arena *arena);
} ir_front;

/* Makes a front end known; before threads start. False where there are too many. */
bool ir_add_front(const ir_front *front);

/* Reads bytes by the front end that recognises them, else by `usual`. */
wl_status ir_read(const ir_front *usual, const char *bytes, size_t length, const char *name,
                  ir_module **out, wl_error *err);

/* An instruction as its front end writes it; in a module of none, its name. */
char *ir_insn_text(const ir_module *module, const ir_func *func, const ir_insn *insn, char *buffer,
                   size_t size);
/* The opcode with its suffixes, "ld.global.u32"; truncates. Returns buffer. */
char *ir_insn_name(const ir_insn *insn, char *buffer, size_t size);
/* As ir_front.inlined_from. */
const char *ir_inlined_from(const ir_module *module, const ir_loc *loc, wl_arena *arena);

#endif
