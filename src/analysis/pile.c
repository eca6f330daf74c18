/* Sums of spans, in logarithmic levels or element by element. */
#include "analysis/pile.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERY_MANY = 1 << 18,     /* bytes of spans */
    SPARSE = 4,              /* elements a byte of spans: no more are added up one by one */
    MOST_ELEMENTS = 1 << 25, /* the same */
};

static wl_spans join_spans(ana_pile *p, wl_spans *a, wl_spans *b)
{
    wl_spans sum = {.counted = p->counted};
    wl_span_reader x = ana_read_spans(a), y = ana_read_spans(b);
    p->failed |= !wl_spans_sum(&x, &y, &sum);
    wl_spans_free(a);
    wl_spans_free(b);
    return sum;
}

void ana_pile_up(ana_pile *p, wl_spans spans)
{
    int i = 0;
    for (; i < ANA_PILE_LEVELS - 1 && p->level[i].size; i++) {
        spans = join_spans(p, &p->level[i], &spans);
        p->level[i] = (wl_spans){0};
    }
    wl_spans_free(&p->level[i]);
    p->level[i] = spans;
}

/* ---- element by element ---- */

typedef struct extent {
    uint64_t end, most; /* of the elements, of how often one was accessed */
} extent;

static extent extent_of_spans(wl_span_reader reader)
{
    extent e = {.most = 1};
    for (wl_span span; wl_span_next(&reader, &span);)
        for (int c = 0; c < WL_CLASSES; c++)
            e.most = span.times[c] > e.most ? span.times[c] : e.most;
    e.end = reader.position;
    return e;
}

static bool grow_each(ana_pile *p, uint64_t elements)
{
    ana_times *each = elements > p->elements ? calloc(elements, sizeof *each) : NULL;
    if (elements <= p->elements || !each)
        return elements <= p->elements;
    if (p->each)
        memcpy(each, p->each, p->elements * sizeof *each);
    free(p->each);
    p->each = each;
    p->elements = elements;
    return true;
}

/* Whether what the reader has can be added up one by one, for which there is room then. */
static bool make_pile_room(ana_pile *p, const wl_span_reader *reader, uint64_t times)
{
    uint64_t bytes = (uint64_t)(reader->end - reader->at);
    if (!p->each && bytes < VERY_MANY)
        return false;
    extent e = extent_of_spans(*reader);
    if (e.end > MOST_ELEMENTS || (!p->each && e.end / SPARSE > bytes) || times > UINT32_MAX ||
        e.most > UINT32_MAX || e.most * times > UINT32_MAX - p->most)
        return false;
    if (!grow_each(p, e.end))
        return false;
    p->most += e.most * times;
    return true;
}

static void add_each(ana_pile *p, wl_span_reader *reader, uint64_t times)
{
    for (wl_span span; wl_span_next(reader, &span);)
        for (uint64_t e = span.first; e < span.first + span.count; e++) {
            p->each[e].of[0] += p->counted ? (uint32_t)(span.times[0] * times) : 1;
            p->each[e].of[1] += (uint32_t)(span.times[1] * times);
            p->each[e].of[2] += (uint32_t)(span.times[2] * times);
        }
    p->failed |= reader->damaged;
}

static wl_spans sum_of_each(ana_pile *p)
{
    wl_spans sum = {.counted = p->counted};
    for (uint64_t e = 0, n; e < p->elements; e += n) {
        wl_span span = {.first = e};
        for (n = 1;
             e + n < p->elements && memcmp(&p->each[e], &p->each[e + n], sizeof *p->each) == 0;)
            n++;
        for (int c = 0; c < WL_CLASSES; c++)
            span.times[c] = p->each[e].of[c];
        span.count = span.times[0] | span.times[1] | span.times[2] ? n : 0;
        wl_spans_add(&sum, &span);
    }
    p->failed |= !wl_spans_finish(&sum);
    free(p->each);
    p->each = NULL;
    p->elements = p->most = 0;
    return sum;
}

void ana_pile_add(ana_pile *p, wl_span_reader reader, uint64_t times)
{
    wl_spans scaled = {.counted = p->counted};
    if (make_pile_room(p, &reader, times)) {
        add_each(p, &reader, times);
        return;
    }
    for (wl_span span; wl_span_next(&reader, &span);) {
        for (int c = 0; c < WL_CLASSES; c++)
            span.times[c] *= times;
        wl_spans_add(&scaled, &span);
    }
    p->failed |= !wl_spans_finish(&scaled) || reader.damaged;
    ana_pile_up(p, scaled);
}

/* ---- the sum ---- */

wl_spans ana_pile_sum(ana_pile *p)
{
    wl_spans sum = sum_of_each(p);
    for (int i = 0; i < ANA_PILE_LEVELS; i++) {
        if (p->level[i].size)
            sum = sum.size ? join_spans(p, &p->level[i], &sum) : p->level[i];
        p->level[i] = (wl_spans){0};
    }
    return sum;
}
