/* The collector's options, read from the environment once: see options.def. */
#ifndef WL_COLLECT_OPTIONS_H
#define WL_COLLECT_OPTIONS_H

#include "base/error.h"
#include "emu/emu.h"

#include <stdbool.h>
#include <stdint.h>

typedef const char *collect_type_text;
typedef uint64_t collect_type_number;
typedef bool collect_type_flag;

typedef struct collect_options {
#define X(field, type, variable, initial, meaning) collect_type_##type field;
#include "collect/options.def"
#undef X
    bool automatic, all_blocks; /* of `blocks`, parsed */
    uint32_t nblocks;
    emu_dim *block;
} collect_options;

/* The options of this process; texts point into a copy of the environment. A value that cannot be
 * read gives the default and a warning on stderr. */
const collect_options *collect_options_get(void);
/* Reads them anew, for a process that has changed its environment; texts that were given out before stay valid. Not while
 * other threads use them. */
void collect_options_again(void);

/* True where a kernel (mangled name) passes kernel_name and kernel_exclude. */
bool collect_options_match(const char *kernel);

/* True where `pattern` ("name" or "regex:expression") fits the kernel's mangled or base name. WL_ARG
 * (by *err) for an expression that does not compile: the command line checks with this too. */
bool collect_name_match(const char *pattern, const char *kernel, wl_error *err);

/* The function's own name in a mangled one: "_ZN2ns3addIfEEvPT_" gives "add". Writes at most `size`
 * bytes; a name that is not mangled is copied. */
void collect_base_name(const char *mangled, char *base, size_t size);

#endif
