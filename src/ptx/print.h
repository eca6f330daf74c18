/* The printer in parts, for who writes PTX that is not in a module yet: rewritten kernels.
 *
 * Everything appends to a ptx_text. When memory runs out, `failed` is set and what follows is
 * dropped, so that only the end has to look. */
#ifndef WL_PTX_PRINT_H
#define WL_PTX_PRINT_H

#include "ptx/written.h"

#include <stdarg.h>

typedef struct ptx_text {
    char *data; /* malloc'ed; not NUL-terminated */
    size_t count, capacity;
    bool failed; /* out of memory */
} ptx_text;

void ptx_put(ptx_text *text, const char *s);
void ptx_putf(ptx_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the NUL and hands over the memory; NULL, with everything freed, where `failed` is set. */
char *ptx_text_take(ptx_text *text, size_t *length);

/* .version, .target, .address_size */
void ptx_print_begin(ptx_text *text, const ir_module *module);
void ptx_print_item(ptx_text *text, const ir_module *module, const ptx_item *item);
/* Linkage, name, results, parameters and directives of a function: all before its brace or
 * semicolon. */
void ptx_print_head(ptx_text *text, const ir_func *func);
/* One statement of a body, with its line end. */
void ptx_print_stmt(ptx_text *text, const ir_module *module, const ir_func *func,
                    const ptx_stmt *stmt);
void ptx_print_operand(ptx_text *text, const ir_func *func, const ir_operand *operand);

#endif
