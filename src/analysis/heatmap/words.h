/* Findings of the heat map in words: what was seen, with this case's numbers, and what to
 * change. */
#ifndef WL_ANALYSIS_HEATMAP_WORDS_H
#define WL_ANALYSIS_HEATMAP_WORDS_H

#include "analysis/heatmap/barriers.h"
#include "analysis/input.h"

/* Numbers that the sentences need, besides the draft's own. */
typedef struct words_facts {
    uint32_t warps;
    double word_temperature, sector_temperature, words_used;
    double sectors_per_request, fewest_per_request, lanes; /* of a request */
    int64_t stride;                                        /* bytes; 0: none */
    uint64_t bytes;                                        /* per lane */
    bool loads, stores, atomics;
    bool irregular;          /* the requests gather */
    bool broadcast;          /* every request is one address */
    bool walks;              /* one instruction takes the words of a sector one after the other */
    bool own_rows;           /* those instructions that pay do, together */
    bool async;              /* copies to shared memory that go on beside the program (cp.async) */
    bool boxes;              /* copies of boxes of tensors are among the accesses */
    bool crosses;            /* neighbouring blocks take the words between those of the lanes */
    bool shuffles;           /* the kernel exchanges values among the lanes of its warps */
    bool loaded;             /* what memory holds says where they lie, as far as is known */
    bool narrow;             /* lanes run along rows, but the block is less than a warp wide */
    bool goes_on;            /* the next block goes on with these rows, for certain */
    bool tiles;              /* the kernel has arrays in shared memory */
    bool counted;            /* an atomic update's result says where the requests lie */
    bool combined;           /* the compiler makes one update of a warp's */
    bool lone;               /* blocks have one warp each */
    bool rows_elsewhere;     /* other accesses that move as much run along the object's rows */
    bool sampled;            /* what other blocks use of the sectors is not known */
    bool reduction;          /* of a shared array: pairs are added up, ever fewer of them */
    barriers_order barriers; /* of shared arrays */
    bool halo;               /* misaligned loads of neighbouring elements, as of a stencil */
    bool
        shifted; /* misaligned accesses that all begin as far after a boundary: no row has a part in it */
} words_facts;

/* What there is to say about a pattern: one for each that the heat map's detectors tell. */
typedef struct words_kind words_kind;
extern const words_kind words_hot, words_hot_random, words_false_sharing, words_misaligned,
    words_strided, words_uncoalesced, words_divergent, words_idle_lanes, words_same_address,
    words_scattered_atomics, words_thread_local, words_warp_local, words_bank_conflict;

/* Sets summary, remedy and its kind; false when memory is exhausted. */
bool words_set(ana_draft *draft, const ana_input *input, const words_facts *facts,
               const words_kind *kind);

#endif
