/* The patterns, decided from raw accesses alone: no summaries, no heat maps, no sharing out by
 * weight. Slow and simple; written from the definitions in docs/patterns. */
#ifndef TESTS_ANALYSIS_REFERENCE_H
#define TESTS_ANALYSIS_REFERENCE_H

#include "sim.h"

typedef struct reference {
    bool told[ANA_PATTERN_COUNT];
    /* Sector transfers, or passes through shared memory, over all blocks; `alone`: were no other
     * pattern charged first. */
    double excess[ANA_PATTERN_COUNT], alone[ANA_PATTERN_COUNT];
    double requests[ANA_PATTERN_COUNT]; /* of the instructions that may pay */
} reference;

/* One object in device memory, from the blocks s->sampled; `total` is the kernel's sectors. */
void reference_object(const sim *s, uint32_t object, double total, reference *out);
/* Adds another array of one allocation, and says what is told of both together. */
void reference_join(reference *pool, const reference *array, double total);
/* Sectors that the whole log moves in device memory. */
double reference_sectors(const sim *s);
/* The same of a shared array and passes through shared memory. */
void reference_shared(const sim *s, uint32_t object, double total, reference *out);
double reference_passes(const sim *s);
/* Sectors that accesses to local memory move. */
double reference_local(const sim *s);

#endif
