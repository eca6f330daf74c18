/* The collector's options, read from the environment once: see options.def. */
#ifndef WL_PROGRAM_OPTIONS_H
#define WL_PROGRAM_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef const char *prog_type_text;
typedef uint64_t prog_type_number;
typedef bool prog_type_flag;

typedef struct prog_block { /* of a grid */
    uint32_t x, y, z;
} prog_block;

typedef struct prog_options {
#define X(field, type, variable, initial, meaning) prog_type_##type field;
#include "program/options.def"
#undef X
    bool automatic, all_blocks; /* of `blocks`, parsed */
    uint32_t nblocks;
    prog_block *block;
} prog_options;

/* The options of this process; texts point into a copy of the environment. A value that cannot be
 * read gives the default and a warning on stderr. */
const prog_options *prog_options_get(void);
/* Reads them anew, for a process that has changed its environment; texts that were given out before stay valid. Not while
 * other threads use them. */
void prog_options_again(void);

/* True where a kernel (mangled name) passes kernel_name and kernel_exclude. */
bool prog_kernel_asked(const char *kernel);

/* True where `pattern` ("name" or "regex:expression") fits the kernel's mangled or base name. WL_ARG
 * (by *err) for an expression that does not compile: the command line checks with this too. */
bool prog_name_matches(const char *pattern, const char *kernel, wl_error *err);

/* The function's own name in a mangled one: "_ZN2ns3addIfEEvPT_" gives "add". Writes at most `size`
 * bytes; a name that is not mangled is copied. */
void prog_base_name(const char *mangled, char *base, size_t size);

#endif
