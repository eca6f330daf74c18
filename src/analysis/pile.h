/* Sums of the elements that many launches accessed. */
#ifndef WL_ANALYSIS_PILE_H
#define WL_ANALYSIS_PILE_H

#include "base/spans.h"

enum { ANA_PILE_LEVELS = 40 };

/* Sums of spans, each about twice as large as the one before: what is added is merged about log n
 * times. All zero but for `counted`: empty. */
typedef struct ana_pile {
    wl_spans level[ANA_PILE_LEVELS];
    bool counted, failed; /* counted: as all that is added; failed: no memory, or damaged spans */
} ana_pile;

/* Adds spans (finished), which belong to the pile from then on. */
void ana_pile_up(ana_pile *pile, wl_spans spans);

/* The sum of all, for wl_spans_free(); the pile is empty then, and need not be freed. */
wl_spans ana_pile_sum(ana_pile *pile);

static inline wl_span_reader ana_read_spans(const wl_spans *spans)
{
    return wl_spans_read(spans->data, spans->size, spans->counted);
}

#endif
