/* Names of inlined functions: .loc gives a label of the section .debug_str, where the name stands
 * as bytes. */
#include "ptx/lexer.h"
#include "ptx/ptx.h"
#include "ptx/written.h"

#include <string.h>

enum { MAX_NAME = 4096 };

/* ".b8 95, 90, 0": the bytes of one line of a section, up to the zero that ends a string; true when
 * it was met. */
static bool read_byte_string(ptx_lexer *x, char *text, size_t *length)
{
    while (x->tok.kind != TOK_EOF && !ptx_accept_dot(x, "b8"))
        ptx_next(x);
    for (; x->tok.kind != TOK_EOF; ptx_next(x)) {
        if (x->tok.kind != TOK_INT)
            continue;
        if (x->tok.value == 0 || *length + 1 >= MAX_NAME)
            return true;
        text[(*length)++] = (char)x->tok.value;
    }
    return false;
}

/* The string after a label of the section; false where the section has no such label. */
static bool read_string(const ptx_section *section, const char *label, char *text, size_t *length)
{
    bool inside = false;
    for (uint32_t i = 0; i < section->nlines; i++) {
        const char *line = section->lines[i];
        ptx_lexer x = ptx_lexer_of(line, strlen(line), NULL, NULL);
        ptx_next(&x);
        inside |= ptx_is_word(&x, label);
        if (inside && read_byte_string(&x, text, length))
            return true;
    }
    return false;
}

const char *ptx_inlined_from(const ir_module *module, const ir_loc *loc, wl_arena *arena)
{
    char text[MAX_NAME];
    size_t length = 0;
    if (!loc->function)
        return "";
    for (uint32_t s = 0; s < module->written->nsections; s++)
        if (read_string(&module->written->sections[s], loc->function, text, &length))
            return wl_arena_strndup(arena, text, length);
    return loc->function[0] == '$' ? "" : loc->function;
}
