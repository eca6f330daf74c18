/* The PTX front end: text to module, module to text, and the checks between. */
#ifndef WL_PTX_PTX_H
#define WL_PTX_PTX_H

#include "base/error.h"
#include "ir/front.h"

#include <stdio.h>

/* The front end for PTX: the functions below. */
extern const ir_front ptx_front;

/* Parses `text` (NUL-terminated, `length` without the NUL). The module belongs to the caller:
 * ir_module_free(). On failure *out is NULL and err->text holds "name:line:column: message", the
 * line itself and a caret. */
wl_status ptx_parse(const char *text, size_t length, const char *name, ir_module **out,
                    wl_error *err);

/* Writes the module as PTX that ptxas accepts. *out is malloc'ed and NUL-terminated. */
wl_status ptx_print(const ir_module *module, char **out, size_t *length);
/* One instruction as text (without guard's newline or indentation) into buffer; truncates. Returns
 * buffer. */
char *ptx_print_insn(const ir_module *module, const ir_func *func, const ir_insn *insn,
                     char *buffer, size_t size);

/* As ir_front.inlined_from. */
const char *ptx_inlined_from(const ir_module *module, const ir_loc *loc, wl_arena *arena);

/* Checks each instruction against ops.def: suffixes, number and roles of operands, register widths.
 */
wl_status ptx_verify(const ir_module *module, const char *name, wl_error *err);

#endif
