/* What is asked of a run: the options of `warplens profile`, which the collector inside the
 * application reads from its environment. Each is a row of options.def. */
#ifndef WL_PROGRAM_OPTIONS_H
#define WL_PROGRAM_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- values ---- */

typedef struct prog_block { /* index of a thread block in its grid */
    uint32_t x, y, z;
} prog_block;

typedef struct prog_blocks { /* that get heat maps; none where no member says otherwise */
    bool automatic, all;
    uint32_t count;
    const prog_block *list;
} prog_blocks;

typedef struct prog_budget {
    double seconds; /* 0: no limit */
    uint64_t bytes; /* 0: no limit */
    bool by_run;    /* seconds are 0, and how long the run took says how many there are */
} prog_budget;

typedef const char *prog_type_text; /* "" where nothing was given */
typedef const char *prog_type_choice;
typedef const char *prog_type_pattern; /* "" where nothing was given */
typedef const char *prog_type_ranges;  /* "" where nothing was given */
typedef const char *prog_type_devices;
typedef uint64_t prog_type_number;
typedef bool prog_type_flag;
typedef prog_blocks prog_type_blocks;
typedef uint32_t prog_type_probes; /* bits: 1 << rewrite_probe */
typedef prog_budget prog_type_budget;

typedef struct prog_options {
#define X(field, type, ...) prog_type_##type field;
#include "program/options.def"
#undef X
    wl_arena *arena; /* owns texts and lists */
} prog_options;

/* ---- the table ---- */

typedef enum prog_option_id {
#define X(field, ...) PROG_OPTION_##field,
#include "program/options.def"
#undef X
    PROG_OPTIONS
} prog_option_id;

typedef enum prog_type {
    PROG_TYPE_text,
    PROG_TYPE_number,
    PROG_TYPE_flag,
    PROG_TYPE_choice,
    PROG_TYPE_pattern,
    PROG_TYPE_ranges,
    PROG_TYPE_devices,
    PROG_TYPE_blocks,
    PROG_TYPE_probes,
    PROG_TYPE_budget
} prog_type;

typedef struct prog_option { /* a row; its columns are described in options.def */
    const char *field;
    prog_type type;
    const char *name, *argument; /* NULL: the command line does not have it; a flag takes none */
    char letter;                 /* '\0': none */
    bool repeated;               /* it may be given several times: values are joined by ';' */
    const char *variable;        /* NULL: the environment does not have it */
    const char *initial, *without;
    uint64_t least, most, absent; /* absent: what a number is where none was given */
    const char *choices;
    const char *backend; /* the only one that minds it; NULL: each does */
    const char *help, *more;
} prog_option;

extern const prog_option prog_option_table[PROG_OPTIONS];

/* What the option takes, as the end of a sentence: "a number from 1 to 1024". Writes at most
 * `size` bytes. */
void prog_option_allowed(const prog_option *row, char *text, size_t size);

/* ---- reading ---- */

/* The options of this process, from its environment, read once. A value that cannot be read
 * gives the default and a warning on stderr. */
const prog_options *prog_options_get(void);

/* For the command line: `given` holds what it was given by prog_option_id, NULL for what was
 * not; what is NULL there is read from the environment, else it is the default. `given` itself
 * may be NULL. WL_ARG for a value that is not allowed, with a text that names the option or
 * variable, the value and what is allowed; WL_NOMEM. *out is to be cleared in any case. */
wl_status prog_options_read(const char *const *given, prog_options *out, wl_error *err);
void prog_options_clear(prog_options *options);

/* Of things that are numbered from 0, whether this one is looked at: the first ones, then every
 * power of two, since what changes late changes seldom. 0: all are. */
bool prog_in_sample(uint64_t number, uint64_t first);

#endif
