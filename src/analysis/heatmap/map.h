/* What one heat map of device memory shows: which sectors follow which pattern, and what each
 * instruction pays for it.
 *
 * Costs are counted in sector transfers of the sampled block: n of a sector is the number of
 * requests that touched it, loads, stores and atomics each by themselves, because a layout that
 * serves the loads does not spare the stores.
 *   hot, hot-random   n - 1: staged once a block, the sector would move once
 *   false-sharing     n - n / T: were the sector's words one warp's, it would move once where it
 *                     now moves for each of T warps
 *   strided           of what remains, the part of the sector that no block uses, as far as is
 *                     known: (1 - words used / words) of each transfer; not of sectors that hold
 *                     the end of a row of more than four used words
 *   same-address, scattered-atomics: n - 1 of atomic updates, in place of hot and hot-random, and
 *                     where a warp comes back to the sector
 * A sector has at most one of the first three; strided is paid from what they leave, so that the
 * sum never exceeds n. */
#ifndef WL_ANALYSIS_HEATMAP_MAP_H
#define WL_ANALYSIS_HEATMAP_MAP_H

#include "analysis/heatmap/cover.h"
#include "analysis/input.h"

enum { MAP_EXAMPLES = 4, MAP_STREAM_BYTES = 32 };

/* An instruction of the kernel on the map's object, over all launches. */
typedef struct map_insn {
    uint32_t pc;
    uint8_t op; /* acc_op */
    /* sectors issued: how the transfers of a row are shared out among its instructions */
    uint64_t weight;
    uint64_t requests, irregular;
    /* Contiguous requests of at least a sector: where two warps meet in a sector, that is their
     * alignment and no sharing. */
    bool stream;
    /* Bytes from block to block in x, y and z, where neighbouring blocks come to the same sectors
     * with the same instruction; else 0. */
    int8_t steps[3];
    /* Of atomic updates: the pattern that they pay for in place of hot and hot-random; else 0. */
    uint8_t updates; /* ana_pattern */
    /* Equal for instructions that step through the same data alike: copies of an unrolled loop. 0:
     * not known, and all of these are taken to be of one. */
    uint64_t family;
} map_insn;

typedef struct map_share {           /* of one instruction */
    double traffic;                  /* transfers */
    double sectors;                  /* that it touched */
    double settled;                  /* of them in sectors that show a pattern of the map */
    double claim[ANA_PATTERN_COUNT]; /* excess */
} map_share;

typedef struct map_pattern {
    bool holds;
    uint64_t rows;
    double traffic, excess; /* transfers of the rows that show it, and what they pay for it */
    double alone;           /* what they would pay were no other pattern charged first */
    uint32_t nexamples;
    ana_sector examples[MAP_EXAMPLES]; /* most excess first */
} map_pattern;

typedef struct map_result {
    uint32_t nrows, warps;
    double traffic;            /* transfers in all */
    double word_temperature;   /* mean over touched words */
    double sector_temperature; /* mean over sectors */
    double hottest_word;       /* mean over sectors of the hottest word's temperature */
    double words_used;         /* mean over sectors, by all blocks as far as is known */
    double shapes;             /* part of the rows that the eight commonest make up */
    /* bytes between touched words, the commonest distance; 0: fewer than four runs of words */
    int64_t stride;
    double stride_share; /* part of the distances that equal it */
    bool random;
    map_pattern patterns[ANA_PATTERN_COUNT];
    map_share *shares; /* by index of the instruction */
} map_result;

typedef struct map_input {
    const prof_heat *heat;
    const prof_object *object; /* base and size; NULL or bytes 0: unknown, then every word counts */
    uint32_t grid[3];          /* of the map's launch */
    const map_cover *cover;    /* what other blocks use besides */
    uint32_t ninsns;
    const map_insn *insns; /* ascend by pc */
    const ana_thresholds *thresholds;
} map_input;

/* Only out->shares lie in `arena`; `scratch` is not needed afterwards. */
wl_status map_analyze(const map_input *input, wl_arena *scratch, wl_arena *arena, map_result *out);

#endif
