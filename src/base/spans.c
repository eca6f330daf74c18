#include "base/spans.h"

#include "base/varint.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 2 + WL_CLASSES };

/* Most spans of irregular accesses are numbers of a byte each: several at once. Bits that are set
 * in a number of more bytes: of a span without counts, and of one with them. */
static const uint64_t longer_plain = 0x8080, longer_counted = UINT64_C(0x8080808080);

/* ---- writing ---- */

static bool reserve_span_bytes(wl_spans *s, size_t more)
{
    if (s->capacity - s->size >= more)
        return true;
    size_t capacity = s->capacity < 256 ? 256 : s->capacity + s->capacity / 2;
    capacity = capacity - s->size < more ? s->size + more : capacity;
    uint8_t *data = realloc(s->data, capacity);
    if (!data)
        return false;
    s->data = data;
    s->capacity = capacity;
    return true;
}

static void put_in_span(wl_spans *s, uint64_t number)
{
    s->size = (size_t)(wl_varint_put(s->data + s->size, number) - s->data);
}

/* All numbers of the span, a byte each. */
static void put_short_span(wl_spans *s, uint64_t gap, const wl_span *span)
{
    uint64_t bytes = gap | span->count << 8;
    if (s->counted)
        bytes |= span->times[0] << 16 | span->times[1] << 24 | span->times[2] << 32;
    bytes = htole64(bytes);
    memcpy(s->data + s->size, &bytes, sizeof bytes);
    s->size += s->counted ? NUMBERS : 2;
}

static void pack_last(wl_spans *s)
{
    const wl_span *last = &s->last;
    uint64_t gap = last->first - s->end;
    if (!last->count)
        return;
    if (!reserve_span_bytes(s, NUMBERS * WL_VARINT_BYTES)) {
        s->failed = true;
        return;
    }
    s->end = last->first + last->count;
    if ((gap | last->count | last->times[0] | last->times[1] | last->times[2]) < 128) {
        put_short_span(s, gap, last);
        return;
    }
    put_in_span(s, gap);
    put_in_span(s, last->count);
    for (int c = 0; s->counted && c < WL_CLASSES; c++)
        put_in_span(s, last->times[c]);
}

static bool is_nothing(const wl_spans *s, const wl_span *span)
{
    return !span->count || (s->counted && !(span->times[0] | span->times[1] | span->times[2]));
}

void wl_spans_add(wl_spans *s, const wl_span *span)
{
    wl_span *last = &s->last;
    if (is_nothing(s, span))
        return;
    bool touch = last->count && last->first + last->count == span->first;
    if (touch && (!s->counted || memcmp(last->times, span->times, sizeof last->times) == 0)) {
        last->count += span->count;
        return;
    }
    pack_last(s);
    *last = *span;
}

bool wl_spans_finish(wl_spans *s)
{
    pack_last(s);
    s->last.count = 0;
    return !s->failed;
}

/* Behind its first span all is told by distances, and is copied. */
static void append_packed(wl_spans *s, const wl_spans *more)
{
    wl_span_reader reader = wl_spans_read(more->data, more->size, more->counted);
    wl_span first;
    if (!wl_span_next(&reader, &first))
        return;
    size_t rest = (size_t)(reader.end - reader.at);
    wl_spans_add(s, &first);
    if (!rest)
        return;
    pack_last(s);
    s->last.count = 0;
    if (!reserve_span_bytes(s, rest)) {
        s->failed = true;
        return;
    }
    memcpy(s->data + s->size, reader.at, rest);
    s->size += rest;
    s->end = more->end;
}

void wl_spans_append(wl_spans *s, const wl_spans *more)
{
    s->failed |= more->failed;
    append_packed(s, more);
    wl_spans_add(s, &more->last);
}

void wl_spans_free(wl_spans *s)
{
    free(s->data);
    *s = (wl_spans){.counted = s->counted};
}

/* ---- reading ---- */

wl_span_reader wl_spans_read(const void *data, size_t size, bool counted)
{
    const uint8_t *at = data;
    return (wl_span_reader){.at = at, .end = size ? at + size : at, .counted = counted};
}

static uint64_t read_span_number(wl_span_reader *r)
{
    uint64_t number;
    r->damaged |= !wl_varint_get(&r->at, r->end, &number);
    return r->damaged ? 0 : number;
}

/* Takes a span whose numbers are a byte each; false, and nothing taken, where it is another one. */
static bool take_short_span(wl_span_reader *r, wl_span *span)
{
    uint64_t bytes, longer = r->counted ? longer_counted : longer_plain;
    if (r->end - r->at < (ptrdiff_t)sizeof bytes)
        return false;
    memcpy(&bytes, r->at, sizeof bytes);
    bytes = le64toh(bytes);
    bool any = !r->counted || bytes >> 16 & 0xffffff;
    if (bytes & longer || !(bytes & 0xff00) || !any || r->position > INT64_MAX - 256)
        return false;
    span->first = r->position + (bytes & 0xff);
    span->count = bytes >> 8 & 0xff;
    for (int c = 0; r->counted && c < WL_CLASSES; c++)
        span->times[c] = bytes >> (16 + 8 * c) & 0xff;
    r->position = span->first + span->count;
    r->at += r->counted ? NUMBERS : 2;
    return true;
}

bool wl_span_next(wl_span_reader *r, wl_span *span)
{
    *span = (wl_span){0};
    if (r->at == r->end || r->damaged)
        return false;
    if (take_short_span(r, span))
        return true;
    uint64_t gap = read_span_number(r), most = INT64_MAX - r->position, any = 0;
    span->count = read_span_number(r);
    for (int c = 0; r->counted && c < WL_CLASSES; c++)
        any |= span->times[c] = read_span_number(r);
    span->first = r->position + gap;
    r->damaged |= gap > most || !span->count || span->count > most - gap || (r->counted && !any);
    r->position = span->first + span->count;
    if (r->damaged)
        *span = (wl_span){0};
    return !r->damaged;
}

/* ---- together ---- */

typedef struct side {
    wl_span_reader reader;
    wl_span span; /* what is left of it; count 0: nothing follows */
} side;

static void advance_side(side *s, uint64_t count)
{
    s->span.first += count;
    s->span.count -= count;
    if (!s->span.count)
        wl_span_next(&s->reader, &s->span);
}

static uint64_t smaller_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Elements from the first that either has on, as long as it stays the same who has them. */
static wl_span next_piece(side *a, side *b)
{
    if (!a->span.count || (b->span.count && b->span.first < a->span.first)) {
        side *swap = a;
        a = b;
        b = swap;
    }
    wl_span piece = a->span;
    if (b->span.count && b->span.first > a->span.first)
        piece.count = smaller_of(piece.count, b->span.first - a->span.first);
    if (b->span.count && b->span.first == a->span.first) {
        piece.count = smaller_of(piece.count, b->span.count);
        for (int c = 0; c < WL_CLASSES; c++)
            piece.times[c] += b->span.times[c];
        advance_side(b, piece.count);
    }
    advance_side(a, piece.count);
    return piece;
}

bool wl_spans_sum(const wl_span_reader *a, const wl_span_reader *b, wl_spans *out)
{
    side x = {.reader = *a}, y = {.reader = *b};
    wl_span_next(&x.reader, &x.span);
    wl_span_next(&y.reader, &y.span);
    while (x.span.count || y.span.count) {
        wl_span piece = next_piece(&x, &y);
        wl_spans_add(out, &piece);
    }
    return wl_spans_finish(out) && !x.reader.damaged && !y.reader.damaged;
}
