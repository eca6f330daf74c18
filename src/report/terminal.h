/* What the parts of `warplens stats` in a terminal share: text.c draws the whole, findings.c and
 * coverage.c their parts. */
#ifndef WL_REPORT_TERMINAL_H
#define WL_REPORT_TERMINAL_H

#include "report/impl.h"

typedef struct rep_style { /* escape sequences, "" without colour */
    const char *bold, *dim, *warn, *good, *bad, *off;
} rep_style;

typedef struct rep_terminal {
    const rep_data *d;
    const rep_text_options *o;
    wl_arena *arena;
    FILE *out;
    rep_style s;
    rep_lines lines;
} rep_terminal;

/* False when memory is exhausted; else the arena must be freed. `options` may be NULL. */
bool rep_terminal_open(const rep_data *data, const rep_text_options *options, FILE *out,
                       rep_terminal *t);

/* Text from a profile as a terminal may have it; "" for NULL. */
const char *rep_printable(const rep_terminal *t, const char *text);
/* A heading, and a note beside it where the line has room. */
void rep_title(const rep_terminal *t, const char *heading, const char *note);
/* Prints words, which begin at column `at` of a line that already stands; further lines begin at
 * `indent`. */
void rep_wrap_open(const rep_terminal *t, unsigned indent, unsigned at, const char *words);
void rep_wrap_at(const rep_terminal *t, unsigned indent, unsigned at, const char *words);
void rep_wrap(const rep_terminal *t, unsigned indent, const char *words);
/* A name cut to what is left of the line after `used` columns. */
const char *rep_fit_name(const rep_terminal *t, const char *name, size_t used);

/* A kernel's name as tables have it. */
const char *rep_kernel_cell(const rep_terminal *t, uint32_t kernel);
/* Was the kernel asked for, or were all? */
bool rep_shows_kernel(const rep_terminal *t, uint32_t kernel);

/* ---- parts ---- */

enum { REP_TOP_KERNELS = 20 }; /* of a table, unless all are asked for */

void rep_ranges(const rep_terminal *t);  /* nothing where the program has none; all with --by */
void rep_kernels(const rep_terminal *t); /* those of one template together */

/* Above findings of little gain. */
#define REP_LITTLE_GAIN                                                                           \
    "These patterns are there, but they cost hardly any time, or go with another change: do not " \
    "work on them."

void rep_verdict(const rep_terminal *t); /* a sentence above all, where no finding is worth much */
void rep_findings(const rep_terminal *t);
/* Those of the findings that are shown whole, or those asked for. */
bool rep_shows_lines_of(const rep_terminal *t, uint32_t kernel);
/* Whether a finding names the line, or without line information the instruction: one that is shown
 * whole, or only one of those that have a line each. */
typedef enum rep_told { REP_TOLD_NOWHERE, REP_TOLD_BRIEFLY, REP_TOLD_WHOLE } rep_told;
rep_told rep_how_told(const rep_terminal *t, const rep_line *line);
void rep_predicted(const rep_terminal *t); /* nothing where no launch has a model */
void rep_memory(const rep_terminal *t);    /* nothing where no change lowers the peak */
void rep_hashed(const rep_terminal *t);    /* nothing where no paths are known */
void rep_uses(const rep_terminal *t);      /* nothing where no elements were counted */
void rep_coverage(const rep_terminal *t);

#endif
