#include "analysis/frequency/measure.h"

#include <math.h>

static uint64_t accesses_of(const wl_span *span)
{
    return span->times[WL_LOADS] + span->times[WL_STORES] + span->times[WL_ATOMICS];
}

/* Powers of two: 1, 2 to 3, 4 to 7, ... */
static void add_to_histogram(ana_frequency *f, const wl_span *span, uint64_t accesses)
{
    ana_frequency_bin *bin = &f->bins[63 - __builtin_clzll(accesses)];
    bin->elements += span->count;
    bin->accesses += accesses * span->count;
}

static void count_accesses(wl_span_reader reader, ana_frequency *f)
{
    double squares = 0;
    for (wl_span span; wl_span_next(&reader, &span);) {
        uint64_t accesses = accesses_of(&span);
        add_to_histogram(f, &span, accesses);
        f->elements += span.count;
        f->accesses += accesses * span.count;
        f->most = accesses > f->most ? accesses : f->most;
        squares += (double)accesses * (double)accesses * (double)span.count;
    }
    double n = (double)f->elements, mean = n > 0 ? (double)f->accesses / n : 0;
    double variance = n > 0 ? squares / n - mean * mean : 0;
    f->mean = mean;
    f->variation = mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

/* The range with the largest sum, in one pass (Kadane). */
static void find_hot_range(wl_span_reader reader, ana_frequency *f)
{
    double sum = 0, best = 0;
    uint64_t first = 0, end = 0;
    for (wl_span span; wl_span_next(&reader, &span);) {
        sum -= f->mean * (double)(span.first - end);
        end = span.first + span.count;
        if (sum <= 0) {
            sum = 0;
            first = span.first;
        }
        sum += ((double)accesses_of(&span) - f->mean) * (double)span.count;
        if (sum > best) {
            best = sum;
            f->first = first;
            f->count = end - first;
        }
    }
}

static void count_hot_accesses(wl_span_reader reader, ana_frequency *f)
{
    for (wl_span span; wl_span_next(&reader, &span);) {
        bool hot = span.first >= f->first && span.first < f->first + f->count;
        for (int c = 0; c < WL_CLASSES; c++) {
            f->all[c] += span.times[c] * span.count;
            f->hot[c] += hot ? span.times[c] * span.count : 0;
        }
    }
}

bool frequency_measure(const wl_span_reader *spans, ana_frequency *out)
{
    wl_span_reader check = *spans;
    wl_span last;
    *out = (ana_frequency){0};
    while (wl_span_next(&check, &last)) {}
    if (check.damaged || !check.counted)
        return false;
    count_accesses(*spans, out);
    find_hot_range(*spans, out);
    count_hot_accesses(*spans, out);
    return out->elements > 0;
}
