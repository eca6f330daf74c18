/* How often the elements of an array were accessed, packed: elements side by side that were
 * accessed equally often are one span, and what was never accessed is in none.
 *
 * A span takes four to five bytes as a rule: numbers of seven bits a byte, the lowest first, bit 7
 * set in all but the last (LEB128): the elements between the span before and this one, how many
 * elements it has, and, in counted spans, how often each of them was accessed by class. Spans that
 * touch differ in their counts, so equal arrays have equal bytes. */
#ifndef WL_BASE_SPANS_H
#define WL_BASE_SPANS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WL_LOADS, WL_STORES, WL_ATOMICS, WL_CLASSES };

typedef struct wl_span {
    uint64_t first, count; /* elements */
    uint64_t times[WL_CLASSES];
} wl_span;

typedef struct wl_spans { /* all zero: empty, and without counts */
    bool counted;         /* else only what was accessed is known; times are 0 */
    uint8_t *data;        /* packed, on the heap */
    size_t size, capacity;
    wl_span last; /* not packed yet; count 0: none */
    uint64_t end; /* of what is packed */
    bool failed;  /* no memory: something is missing */
} wl_spans;

/* Spans come in ascending order and do not overlap; those of no element, or (counted) of no access,
 * are left out. */
void wl_spans_add(wl_spans *spans, const wl_span *span);
/* Adds what was added to `more`, which is counted alike and not finished, and comes after what is
 * there. */
void wl_spans_append(wl_spans *spans, const wl_spans *more);
/* After the last wl_spans_add, before `data` is used; false where memory was exhausted. */
bool wl_spans_finish(wl_spans *spans);
void wl_spans_free(wl_spans *spans);

typedef struct wl_span_reader {
    const uint8_t *at, *end;
    uint64_t position;
    bool counted;
    bool damaged; /* and at its end */
} wl_span_reader;

wl_span_reader wl_spans_read(const void *data, size_t size, bool counted);
/* The next span; false behind the last and where the bytes are no spans of at most 2^63 elements.
 */
bool wl_span_next(wl_span_reader *reader, wl_span *span);

/* What both say together: sums where `out` is counted (both must be), else the union. Appends to
 * `out`, which may be none of them; false where memory is exhausted or one is damaged. */
bool wl_spans_sum(const wl_span_reader *a, const wl_span_reader *b, wl_spans *out);

#endif
