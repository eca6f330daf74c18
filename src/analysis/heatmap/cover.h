/* Which words of an object's sectors the blocks of a kernel use, all launches together: as far as
 * the heat maps tell, and counts of elements (touch) where they were asked for. */
#ifndef WL_ANALYSIS_HEATMAP_COVER_H
#define WL_ANALYSIS_HEATMAP_COVER_H

#include "analysis/input.h"

typedef struct cover_row {
    uint64_t sector; /* as obs_heat_row.sector */
    uint8_t words;   /* set of those that are used */
} cover_row;

typedef struct map_cover {
    bool all; /* of every block of every observed launch; else there may be more */
    size_t count;
    cover_row *rows; /* ascend by sector */
} map_cover;

/* The rows lie in `arena`. */
wl_status cover_load(const ana_input *input, const ana_group *group, wl_arena *arena,
                     map_cover *out, wl_error *err);

/* A set of words; 0 where nothing is known of the sector. */
uint8_t cover_words(const map_cover *cover, uint64_t sector);

#endif
