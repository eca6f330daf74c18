/* Joins the PTX of several translation units, as nvlink joins their SASS: what nvcc -rdc=true
 * leaves, and cuLink*. */
#ifndef WL_PTX_LINK_H
#define WL_PTX_LINK_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* PTX as text, and the architecture of its .target. */
typedef struct ptx_source {
    char *text; /* NUL-terminated */
    size_t length;
    uint32_t arch;
    char variant;
} ptx_source;

/* *text is malloc'ed and NUL-terminated. Declarations come first, then variables, then functions,
 * each in the order of the parts, so that nothing is used before it is declared. Of weak and common
 * symbols the first is kept; symbols that are local to a part are renamed where their name is
 * taken; functions that no part defines stay declared, for the emulator or the driver to provide.
 * WL_EXISTS: two parts define a visible symbol. WL_PARSE: not PTX. */
wl_status ptx_link(const ptx_source *parts, size_t count, char **text, size_t *length,
                   wl_error *err);

#endif
