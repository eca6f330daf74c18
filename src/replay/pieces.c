#include "replay/pieces.h"

#include "base/vec.h"

#include <stdlib.h>

enum { ELEMENT = 4 };

/* The piece that begins at `from`. */
static replay_piece piece_from(emu_machine *machine, const cap_probed *counted, uint64_t from)
{
    uint64_t last = counted->base + counted->bytes, end;
    emu_alloc object;
    if (!emu_mem_find_piece(machine, from, &object, &end))
        return (replay_piece){counted->object, counted->base, from, last};
    end = end < last ? end : last;
    return object.part ? (replay_piece){object.id, object.base, from, end}
                       : (replay_piece){counted->object, counted->base, from, end};
}

static int by_object_and_address(const void *a, const void *b)
{
    const replay_piece *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

replay_piece *replay_pieces_of(emu_machine *machine, const cap_probed *counted, wl_arena *arena,
                               uint32_t *count)
{
    wl_vec(replay_piece) found = {0};
    uint64_t end = counted->base + counted->bytes;
    replay_piece piece, *pieces = NULL;
    bool good = true;
    for (uint64_t at = counted->base; at < end && good; at = piece.end) {
        piece = piece_from(machine, counted, at);
        good = wl_push(&found, piece);
    }
    if (good && found.count) {
        qsort(found.data, found.count, sizeof piece, by_object_and_address);
        pieces = wl_arena_copy(arena, found.data, found.count * sizeof piece);
    } else if (good) {
        pieces = wl_new_array(arena, replay_piece, 1);
    }
    *count = (uint32_t)found.count;
    wl_vec_free(&found);
    return pieces;
}

uint32_t replay_pieces_alike(const replay_piece *pieces, uint32_t count)
{
    uint32_t n = 1;
    while (n < count && pieces[n].object == pieces[0].object)
        n++;
    return n;
}

/* An element belongs to what its first byte does. */
static uint64_t element_from(uint64_t address)
{
    return (address + ELEMENT - 1) / ELEMENT;
}

bool replay_pieces_take(const wl_spans *counted, uint64_t base, const replay_piece *pieces,
                        uint32_t count, wl_spans *out)
{
    wl_span_reader all = wl_spans_read(counted->data, counted->size, counted->counted);
    const uint64_t shift = base / ELEMENT;
    uint32_t k = 0;
    for (wl_span span; wl_span_next(&all, &span);) {
        uint64_t from = span.first + shift, end = from + span.count;
        while (k < count && element_from(pieces[k].end) <= from)
            k++;
        for (uint32_t i = k; i < count && element_from(pieces[i].from) < end; i++) {
            /* The allocation's first element may begin before it. */
            uint64_t low = pieces[i].from == base ? shift : element_from(pieces[i].from);
            uint64_t high = element_from(pieces[i].end);
            low = low > from ? low : from;
            high = high < end ? high : end;
            wl_span part = span;
            part.first = low - pieces[i].begin / ELEMENT;
            part.count = high > low ? high - low : 0;
            wl_spans_add(out, &part);
        }
    }
    return wl_spans_finish(out);
}
