/* Line tables of cubins: DWARF's, version 2, of which an address is an offset in the section that a
 * relocation names. */
#ifndef WL_SASS_LINES_H
#define WL_SASS_LINES_H

#include "sass/decode.h"

#include <stddef.h>

/* Says whether the address that stands at `offset` of the table is one of the kernel's section, and
 * what is to be added to it. */
typedef bool sass_own_address(void *ctx, size_t offset, uint64_t *added);

/* Fills in the lines of the kernel's instructions; returns of how many. What follows a mistake in the
 * table is left out. */
uint32_t sass_read_lines(const unsigned char *table, size_t bytes, sass_own_address *own, void *ctx,
                         sass_insn *insns, uint32_t count);

#endif
