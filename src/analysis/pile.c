/* Sums of spans in logarithmic levels. */
#include "analysis/pile.h"

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

wl_spans ana_pile_sum(ana_pile *p)
{
    wl_spans sum = {.counted = p->counted};
    for (int i = 0; i < ANA_PILE_LEVELS; i++) {
        if (p->level[i].size)
            sum = sum.size ? join_spans(p, &p->level[i], &sum) : p->level[i];
        p->level[i] = (wl_spans){0};
    }
    return sum;
}
