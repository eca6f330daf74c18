/* Code addresses of a process to functions and source lines, after the run: its map of executable
 * files, their symbol tables and DWARF (libdw). Reads only files of this machine; asks no
 * server. */
#ifndef WL_PROFILE_SYMBOLS_H
#define WL_PROFILE_SYMBOLS_H

#include "base/arena.h"
#include "base/error.h"
#include "capture/capture.h"

typedef struct symbols symbols;

typedef struct sym_frame {
    const char *function; /* demangled; "" unknown */
    const char *path;     /* of the source file; NULL: no line information */
    uint32_t line, column;
    const char *binary; /* "" where no file was mapped */
    uint64_t offset;    /* in the binary's own addresses */
    bool inlined;       /* into the next frame */
    bool main;          /* in the executable itself */
    bool script;        /* in what an interpreter runs: of a PLACE record */
} sym_frame;

typedef struct sym_frames {
    uint32_t count;
    sym_frame *rows; /* innermost first */
} sym_frames;

symbols *symbols_new(void);    /* NULL when memory is exhausted */
void symbols_free(symbols *s); /* NULL is allowed */

/* A new process begins: nothing is mapped yet. */
void symbols_reset(symbols *s, const char *executable);
wl_status symbols_maps(symbols *s, const cap_maps *maps);
wl_status symbols_place(symbols *s, const cap_place *place);
/* The frames that one return address, or place, stands for. They stay valid as long as `s`. */
wl_status symbols_resolve(symbols *s, uint64_t address, sym_frames *out);

typedef struct sym_declaration { /* of a function, as debug information tells it */
    uint32_t count;              /* parameters; 0: nothing is known, or there is none */
    const char **names;          /* theirs; "" where the compiler has put its own in place */
    const char *path;            /* of the source that declares it; NULL: not known */
    uint32_t line;
} sym_declaration;

/* The host's function of this name (mangled, as the device has it), in the mapped files that hold
 * kernels. It stays valid as long as `s`. */
wl_status symbols_declaration(symbols *s, const char *mangled, sym_declaration *out);

/* All calls, in the function around the call at `offset` of the binary (both as in sym_frame), that
 * go to the same place: ascending and with the one itself; at most `most`. 0 where the machine code
 * cannot be had or is not x86-64's. */
uint32_t symbols_equal_calls(symbols *s, const char *name, uint64_t offset, uint64_t *calls,
                             uint32_t most);

#endif
