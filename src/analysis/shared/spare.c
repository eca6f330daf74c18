/* Shared memory that blocks reserve and never access: the end of an array, or the end of each of its
 * rows. It keeps other blocks from a multiprocessor, and is told where giving it back lets more of them
 * run at once and that saves time.
 *
 * What any block of any launch accessed is known by word (docs/elements.md); a launch of which it is
 * not known says nothing of the array, so that nothing is told of it. Other data may access more: the
 * finding is possible, not sure. The cost is the bytes of all blocks. */
#include "analysis/detect.h"
#include "analysis/pile.h"

typedef struct spare {
    const ana_input *input;
    const prof_object *array;
    bool dynamic;       /* it is what a launch asks for beside the arrays of known size */
    bool known;         /* of all launches */
    uint64_t bytes;     /* that each launch can give back: of the end */
    uint64_t reserved;  /* of the array, in the launch that can give back least */
    uint64_t row, used; /* words of a row, and of these the first ones that are accessed; 0: none */
    uint64_t nrows;
    uint64_t elements; /* UINT64_MAX: not the same in all launches */
    double blocks;     /* of all launches */
    wl_spans touched;  /* in any of them */
} spare;

/* ---- launches ---- */

static double blocks_in_launch(const prof_launch *l)
{
    return (double)l->count * l->grid[0] * l->grid[1] * l->grid[2];
}

static const prof_use *use_in(const spare *s, uint32_t launch)
{
    const prof_use_rows *uses = &s->input->uses;
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->rows[i].launch == launch && uses->rows[i].object == s->array->id &&
            uses->rows[i].space == ACC_SHARED)
            return &uses->rows[i];
    return NULL;
}

/* The last one of a launch whose arrays end with what it asked for. */
static bool is_dynamic_in(const spare *s, const prof_launch *l)
{
    const prof_object_rows *objects = &s->input->program->objects;
    const prof_use *use = use_in(s, l->id);
    uint64_t bytes = use ? use->elements * OBS_WORD_BYTES : s->array->bytes;
    for (uint32_t i = 0; i < objects->count; i++) {
        const prof_object *o = &objects->rows[i];
        if (o->kernel == s->array->kernel && o->space == ACC_SHARED && o->base > s->array->base)
            return false;
    }
    return l->dynamic_shared && bytes == l->dynamic_shared;
}

/* ---- words ---- */

/* Adds what a launch touched; *end: the word after the last. */
static wl_status add_touched_words(spare *s, uint32_t spans, uint64_t *end, wl_error *err)
{
    wl_span_reader reader, before;
    wl_spans own = {0}, both = {0};
    wl_status status = prof_load_spans(s->input->program->db, spans, s->input->scratch, &reader,
                                       err);
    if (status != WL_OK)
        return status;
    for (wl_span span; wl_span_next(&reader, &span);) {
        wl_spans_add(&own, &(wl_span){.first = span.first, .count = span.count});
        *end = span.first + span.count;
    }
    bool good = wl_spans_finish(&own);
    reader = ana_read_spans(&own);
    before = ana_read_spans(&s->touched);
    good = good && wl_spans_sum(&before, &reader, &both) && wl_spans_finish(&both);
    wl_spans_free(&own);
    wl_spans_free(&s->touched);
    s->touched = both;
    return good ? WL_OK : ana_nomem(err);
}

static wl_status add_launch_of_array(spare *s, const prof_launch *l, wl_error *err)
{
    const prof_use *use = use_in(s, l->id);
    uint64_t elements = use ? use->elements : s->array->bytes / OBS_WORD_BYTES, end = 0;
    if (use ? use->known == OBS_KNOWN_NOTHING : l->arrays_known == OBS_KNOWN_NOTHING) {
        s->known = false;
        return WL_OK;
    }
    if (!use && s->dynamic)
        elements = l->dynamic_shared / OBS_WORD_BYTES;
    wl_status status = use && use->spans ? add_touched_words(s, use->spans, &end, err) : WL_OK;
    s->known &= !use || use->spans || !use->touched;
    uint64_t bytes = elements > end ? (elements - end) * OBS_WORD_BYTES : 0;
    if (!(s->blocks > 0) || bytes < s->bytes) {
        s->bytes = bytes;
        s->reserved = elements * OBS_WORD_BYTES;
    }
    s->elements = !(s->blocks > 0) || s->elements == elements ? elements : UINT64_MAX;
    s->blocks += blocks_in_launch(l);
    return status;
}

static wl_status add_launches_of_array(spare *s, wl_error *err)
{
    const prof_launch_rows *launches = &s->input->program->launches;
    wl_status status = WL_OK;
    s->known = s->input->counted;
    for (uint32_t i = 0; i < launches->count; i++)
        s->dynamic |= launches->rows[i].kernel == s->array->kernel &&
                      is_dynamic_in(s, &launches->rows[i]);
    for (uint32_t i = 0; i < launches->count && status == WL_OK && s->known; i++)
        if (launches->rows[i].kernel == s->array->kernel)
            status = add_launch_of_array(s, &launches->rows[i], err);
    return status;
}

/* ---- rows ---- */

/* Are all spans the first words of rows of one length, each but for its end? A few words at the end of
 * each keep rows in different banks: these are not spare. */
static void find_rows(spare *s)
{
    enum { LEAST_ROWS = 4, PADDING = 8 };
    wl_span_reader reader = ana_read_spans(&s->touched);
    wl_span first, second, span;
    uint64_t count = 2;
    if (!wl_span_next(&reader, &first) || !wl_span_next(&reader, &second) || first.first)
        return;
    uint64_t row = second.first, used = first.count;
    bool alike = second.count == used;
    while (alike && wl_span_next(&reader, &span))
        alike = span.count == used && span.first == row * count++;
    if (!alike || count < LEAST_ROWS || row - used <= row / PADDING || s->elements == UINT64_MAX)
        return;
    s->row = row;
    s->used = used;
    s->nrows = count;
    s->bytes = (s->elements - used * count) * OBS_WORD_BYTES;
    s->reserved = s->elements * OBS_WORD_BYTES;
}

/* ---- what is said ---- */

static bool set_words_of_spare(const spare *s, ana_draft *d)
{
    wl_arena *arena = s->input->arena;
    unsigned long long kept = s->reserved - s->bytes, all = s->reserved;
    d->kind = REMEDY_LESS_SHARED;
    if (s->row) {
        d->summary = wl_arena_printf(
            arena,
            "Blocks reserve %llu bytes for it and access %llu of them: the first %llu of each %llu "
            "elements of 4 bytes.",
            all, kept, (unsigned long long)s->used, (unsigned long long)s->row);
        d->remedy = wl_arena_printf(arena,
                                    "Give the rows of " ANA_OBJECT " %llu bytes in place of %llu.",
                                    (unsigned long long)s->used * OBS_WORD_BYTES,
                                    (unsigned long long)s->row * OBS_WORD_BYTES);
        return d->summary && d->remedy;
    }
    d->summary = kept ? wl_arena_printf(arena,
                                        "Blocks reserve %llu bytes for it and access none of them "
                                        "from byte %llu on.",
                                        all, kept)
                      : wl_arena_printf(arena, "Blocks reserve %llu bytes for it and access none.",
                                        all);
    d->remedy = wl_arena_printf(arena,
                                s->dynamic ? "Launch the kernel with %llu bytes of dynamic shared "
                                             "memory less: " ANA_OBJECT " needs %llu."
                                           : "Declare " ANA_OBJECT
                                             " smaller by %llu bytes: blocks use %llu.",
                                (unsigned long long)s->bytes, kept);
    return d->summary && d->remedy;
}

static bool draft_spare(const spare *s, ana_drafts *drafts)
{
    ana_input of_array = *s->input;
    of_array.scope = ANA_SCOPE_KERNEL_AND_OBJECT;
    of_array.object = s->array;
    ana_draft *d = ana_draft_add(drafts, &of_array, ANA_UNUSED_SHARED);
    if (!d)
        return false;
    d->excess = d->alone = (double)s->bytes * s->blocks;
    d->shared = -(int64_t)s->bytes;
    d->certainty = ANA_CERTAINTY_POSSIBLE;
    ana_add_evidence(d, "reserved_bytes", "bytes that a block reserves", (double)s->reserved,
                     "bytes");
    ana_add_evidence(d, "unused_bytes", "of these never accessed", (double)s->bytes, "bytes");
    return set_words_of_spare(s, d);
}

static wl_status look_at_array(const ana_input *input, const prof_object *array, ana_drafts *drafts,
                               wl_error *err)
{
    spare s = {.input = input, .array = array};
    wl_status status = add_launches_of_array(&s, err);
    if (status == WL_OK && s.known && s.blocks > 0) {
        find_rows(&s);
        if ((double)s.bytes >= input->program->thresholds->unused_shared &&
            !draft_spare(&s, drafts))
            status = ana_nomem(err);
    }
    wl_spans_free(&s.touched);
    return status;
}

wl_status ana_detect_spare(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const prof_object_rows *objects = &input->program->objects;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < objects->count && status == WL_OK; i++) {
        const prof_object *o = &objects->rows[i];
        if (o->kernel == input->kernel->id && o->kind == PROF_OBJECT_SHARED && o->bytes)
            status = look_at_array(input, o, drafts, err);
    }
    return status;
}
