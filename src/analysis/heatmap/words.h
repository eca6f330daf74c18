/* Findings of the heat map in words: what was seen, with this case's numbers, and what to change. */
#ifndef WL_ANALYSIS_HEATMAP_WORDS_H
#define WL_ANALYSIS_HEATMAP_WORDS_H

#include "analysis/input.h"

/* Numbers that the sentences need, besides the draft's own. */
typedef struct words_facts {
    uint32_t warps;
    double word_temperature, sector_temperature, words_used;
    double sectors_per_request, fewest_per_request, lanes; /* of a request */
    int64_t stride;                                        /* bytes; 0: none */
    uint64_t bytes;                                        /* per lane */
    bool loads, stores, atomics;
    bool irregular; /* the requests gather */
    bool broadcast; /* every request is one address */
    bool walks;     /* one instruction takes the words of a sector one after the other */
    bool
        halo; /* misaligned loads beside aligned ones of the same object: neighbours of a stencil */
} words_facts;

/* Sets summary and remedy; false when memory is exhausted. */
bool words_set(ana_draft *draft, const ana_input *input, const words_facts *facts);

#endif
