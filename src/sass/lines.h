/* Line tables of cubins: DWARF's, version 2, of which an address is an offset in the section that a
 * relocation names. */
#ifndef WL_SASS_LINES_H
#define WL_SASS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sass_row { /* instructions of one line */
    uint32_t first, end;
    uint32_t line;
    const char *folder, *file; /* "": not told; valid as long as the table */
} sass_row;

typedef struct sass_line_reader {
    /* Says whether the address that stands at `offset` of the table is one of the kernel's section, and
     * what is to be added to it. */
    bool (*own)(void *ctx, size_t offset, uint64_t *added);
    /* `end` may lie beyond the kernel's instructions. */
    void (*take)(void *ctx, const sass_row *row);
    void *ctx;
} sass_line_reader;

/* Hands out the kernel's rows. What follows a mistake in the table is left out. */
void sass_read_lines(const unsigned char *table, size_t bytes, const sass_line_reader *reader);

#endif
