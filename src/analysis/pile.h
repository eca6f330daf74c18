/* Sums of the elements that many launches accessed. */
#ifndef WL_ANALYSIS_PILE_H
#define WL_ANALYSIS_PILE_H

#include "base/spans.h"

enum { ANA_PILE_LEVELS = 40 };

typedef struct ana_times { /* of an element, by class */
    uint32_t of[WL_CLASSES];
} ana_times;

/* Sums of spans, each about twice as large as the one before: what is added is merged about log n
 * times. What has very many spans is added up element by element in place of that. All zero but for
 * `counted`: empty. */
typedef struct ana_pile {
    wl_spans level[ANA_PILE_LEVELS];
    ana_times *each;         /* [elements]; NULL before there are very many spans */
    uint64_t elements, most; /* most: no number of them is larger */
    bool counted, failed; /* counted: as all that is added; failed: no memory, or damaged spans */
} ana_pile;

/* Adds spans (finished), which belong to the pile from then on. */
void ana_pile_up(ana_pile *pile, wl_spans spans);
/* Adds what the reader has, so many times. */
void ana_pile_add(ana_pile *pile, wl_span_reader spans, uint64_t times);

/* The sum of all, for wl_spans_free(); the pile is empty then, and need not be freed. */
wl_spans ana_pile_sum(ana_pile *pile);

static inline wl_span_reader ana_read_spans(const wl_spans *spans)
{
    return wl_spans_read(spans->data, spans->size, spans->counted);
}

#endif
