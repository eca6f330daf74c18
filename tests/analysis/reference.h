/* The patterns, decided from raw accesses alone: no summaries, no heat maps, no sharing out by
 * weight. Slow and simple; written from the definitions in docs/patterns. */
#ifndef TESTS_ANALYSIS_REFERENCE_H
#define TESTS_ANALYSIS_REFERENCE_H

#include "sim.h"

typedef struct reference {
    bool told[ANA_PATTERN_COUNT];
    /* Sector transfers, or passes through shared memory, over all blocks. */
    double excess[ANA_PATTERN_COUNT];
} reference;

/* One object in device memory, from the blocks s->sampled; `total` is the kernel's sectors. */
void reference_object(const sim *s, uint32_t object, double total, reference *out);
/* Sectors that the whole log moves in device memory. */
double reference_sectors(const sim *s);
/* The same of a shared array and passes through shared memory. */
void reference_shared(const sim *s, uint32_t object, double total, reference *out);
double reference_passes(const sim *s);
/* Sectors that accesses to local memory move. */
double reference_local(const sim *s);

#endif
