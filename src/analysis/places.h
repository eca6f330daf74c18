/* Where an instruction stands that was inlined: in a helper, and in the code that calls it. */
#ifndef WL_ANALYSIS_PLACES_H
#define WL_ANALYSIS_PLACES_H

#include "profile/profile.h"

/* What places are looked up in; the rows are the caller's. */
typedef struct ana_places {
    const prof_file_rows *files;
    const prof_loc_rows *locs;
    prof_code_rows code; /* of the kernel that the instruction is of, no other's */
} ana_places;

typedef struct ana_source {
    uint32_t file, line; /* 0, 0: none */
} ana_source;

/* The place that a person would look at first: the caller's of an operator, of a function of few
 * lines, of a library's header; else its own. *helper: the place within those, (0, 0) where the
 * instruction stands in none. */
ana_source ana_source_of(const ana_places *in, const prof_code *code, ana_source *helper);

#endif
