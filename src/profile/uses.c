/* How often the elements of objects were accessed: USES records, and their spans. */
#include "profile/builder.h"

#include "base/log.h"
#include "base/spans.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* Launches of one kernel have the same arrays: their names are kept once. */
static bool keep_array(prof_builder *b, uint32_t index, const obs_shared *array)
{
    process *p = &b->process;
    obs_shared kept = *array, none = {0};
    if (index == p->last_arrays.count && !wl_push(&p->last_arrays, none))
        return false;
    const char *name = p->last_arrays.data[index].name;
    bool same = name && strcmp(name, array->name) == 0;
    kept.name = same ? name : wl_arena_strdup(p->arena, array->name);
    p->last_arrays.data[index] = kept;
    return kept.name != NULL;
}

wl_status builder_keep_arrays(prof_builder *b, const cap_launch *launch, wl_error *err)
{
    const obs_summary *s = &launch->summary;
    b->process.last_launch = b->process.arrays_of = launch->id;
    b->process.nlast_arrays = s->nshared;
    b->process.last_sequences.count = 0;
    for (uint32_t i = 0; i < s->nshared; i++)
        if (!keep_array(b, i, &s->shared[i]))
            return NOMEM(err);
    return WL_OK;
}

typedef struct writer {
    prof_builder *b;
    launch_entry *launch;
    wl_error *err;
} writer;

/* What the spans say together. */
typedef struct sums {
    uint64_t touched, times[WL_CLASSES], least, most;
    double squares;
} sums;

static bool add_up_spans(const obs_use *use, uint64_t elements, sums *s)
{
    wl_span_reader reader = wl_spans_read(use->spans, use->length, use->known == OBS_KNOWN_COUNTED);
    *s = (sums){.least = UINT64_MAX};
    for (wl_span span; wl_span_next(&reader, &span);) {
        uint64_t all = 0;
        for (int c = 0; c < WL_CLASSES; c++) {
            s->times[c] += span.times[c] * span.count;
            all += span.times[c];
        }
        s->touched += span.count;
        s->least = all < s->least ? all : s->least;
        s->most = all > s->most ? all : s->most;
        s->squares += (double)all * (double)all * (double)span.count;
    }
    return !reader.damaged && reader.position <= elements;
}

/* The id of the spans: equal ones are kept once. */
static wl_status write_spans(writer *w, const obs_use *use, uint32_t *id)
{
    prof_builder *b = w->b;
    XXH128_canonical_t hash;
    XXH128_hash_t value = XXH3_128bits_withSeed(use->spans, use->length, use->known);
    XXH128_canonicalFromHash(&hash, value);
    content_entry *entry = NULL;
    HASH_FIND(hh, b->spans, hash.digest, sizeof entry->hash, entry);
    if (entry) {
        *id = entry->id;
        return WL_OK;
    }
    entry = wl_new(b->arena, content_entry);
    if (!entry || blob_compress(use->spans, use->length, &b->compressed) != WL_OK)
        return NOMEM(w->err);
    entry->id = *id = ++b->nspans;
    memcpy(entry->hash, hash.digest, sizeof entry->hash);
    HASH_ADD(hh, b->spans, hash, sizeof entry->hash, entry);
    const row_spans row = {.id = *id,
                           .bytes = use->length,
                           .counted = use->known == OBS_KNOWN_COUNTED,
                           .data = {b->compressed.data, b->compressed.size}};
    return table_insert_spans(b->insert[TABLE_spans], &row, w->err);
}

static wl_status fail_damaged_uses(const writer *w)
{
    return wl_fail(w->err, WL_CORRUPT, "The capture's elements of launch %u do not hold together.",
                   w->launch->number);
}

/* The profile's object, and how many elements it has. */
static wl_status find_used_object(writer *w, const obs_use *use, uint32_t *id, uint64_t *elements)
{
    const process *p = &w->b->process;
    const object_info *found = builder_object(w->b, use->object);
    uint64_t base = found ? found->record.base : 0, bytes = found ? found->record.bytes : 0;
    *id = found ? found->id : 0;
    if (use->space == ACC_SHARED) {
        if (use->object >= p->nlast_arrays)
            return fail_damaged_uses(w);
        const obs_shared *array = &p->last_arrays.data[use->object];
        base = array->offset;
        bytes = array->bytes;
        wl_status status = builder_kernel_object(w->b, w->launch->kind->facts.kernel,
                                                 PROF_OBJECT_SHARED, array, id, w->err);
        if (status != WL_OK)
            return status;
    }
    *elements = (base % OBS_WORD_BYTES + bytes + OBS_WORD_BYTES - 1) / OBS_WORD_BYTES;
    return *id && bytes <= UINT64_MAX / 2 ? WL_OK : fail_damaged_uses(w);
}

static prof_use use_row_of(const writer *w, const obs_use *use, const sums *s)
{
    bool counted = use->known == OBS_KNOWN_COUNTED, ranges = use->reuse & OBS_REUSE_RANGES;
    bool origins = use->reuse & OBS_REUSE_ORIGINS, blocks = use->reuse & OBS_REUSE_BLOCKS;
    prof_use row = {.launch = w->launch->id,
                    .space = use->space,
                    .known = use->known,
                    .touched = s->touched,
                    .times = {s->times[0], s->times[1], s->times[2]},
                    .least = s->touched ? s->least : 0,
                    .most = s->most,
                    .squares = counted ? s->squares : -1,
                    .unfilled = ranges ? use->unfilled : UINT64_MAX,
                    .block_words = blocks ? use->block_words : UINT64_MAX,
                    .block_words_most = blocks ? use->block_words_most : UINT64_MAX,
                    .block_accesses = blocks ? use->block_accesses : UINT64_MAX,
                    .blocks = blocks || ranges ? use->blocks : UINT64_MAX};
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++) {
        row.ranges[origin] = ranges ? use->ranges[origin] : UINT64_MAX;
        row.range_accesses[origin] = origins ? use->range_accesses[origin] : UINT64_MAX;
    }
    return row;
}

static wl_status write_live_ranges(writer *w, const obs_use *use, uint32_t object)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < use->nlive && status == WL_OK; i++) {
        prof_live_ranges row = {.launch = w->launch->id, .object = object, .live = use->live[i]};
        status = table_insert_live_ranges(w->b->insert[TABLE_live_ranges], &row, w->err);
    }
    return status;
}

/* Spans that no column has room for count as not known, which a message says. */
static wl_status leave_out_spans(writer *w, obs_use *use)
{
    char text[160];
    snprintf(text, sizeof text,
             "Launch %u touched too many elements of one object to keep how often each was "
             "accessed.",
             w->launch->id);
    use->known = OBS_KNOWN_NOTHING;
    use->length = 0;
    return builder_message(w->b, w->b->process.id, WL_LOG_WARN, text, w->err);
}

static bool live_ascend(const obs_use *use)
{
    for (uint32_t i = 1; i < use->nlive; i++) {
        const obs_live_ranges *a = &use->live[i - 1], *b = &use->live[i];
        if (a->origin > b->origin || (a->origin == b->origin && a->accesses >= b->accesses))
            return false;
    }
    return true;
}

static wl_status write_use(writer *w, const obs_use *whole)
{
    uint32_t id;
    uint64_t elements = 0;
    sums s;
    obs_use fitting = *whole;
    const obs_use *use = &fitting;
    if (whole->length > DB_MAX_VALUE && leave_out_spans(w, &fitting) != WL_OK)
        return w->err->status;
    wl_status status = find_used_object(w, use, &id, &elements);
    if (status != WL_OK)
        return status;
    if (!add_up_spans(use, elements, &s) || (!use->known && use->length) || !live_ascend(use))
        return fail_damaged_uses(w);
    prof_use row = use_row_of(w, use, &s);
    row.object = id;
    row.elements = elements;
    if (use->known)
        status = write_spans(w, use, &row.spans);
    if (status == WL_OK)
        status = table_insert_uses(w->b->insert[TABLE_uses], &row, w->err);
    return status == WL_OK ? write_live_ranges(w, use, id) : status;
}

static bool ascend(const cap_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        const obs_use *a = &uses->uses[i ? i - 1 : 0], *b = &uses->uses[i];
        bool after = a->space < b->space || (a->space == b->space && a->object < b->object);
        if ((i && !after) || (b->space != ACC_GLOBAL && b->space != ACC_SHARED))
            return false;
    }
    return true;
}

wl_status builder_uses(prof_builder *b, const cap_uses *uses, wl_error *err)
{
    writer w = {.b = b, .launch = builder_find_launch(b, uses->launch), .err = err};
    if (!w.launch || b->process.last_launch != uses->launch || !ascend(uses)) {
        return wl_fail(err, WL_CORRUPT,
                       "The capture tells of elements of launch %u, which does not come before.",
                       uses->launch);
    }
    b->process.last_launch = 0; /* only once */
    launch_facts facts = builder_launch_facts(w.launch);
    facts.row.objects_known = uses->objects_known;
    facts.row.arrays_known = uses->arrays_known;
    wl_status status = builder_change_launch(b, w.launch, &facts, err);
    for (uint32_t i = 0; i < uses->count && status == WL_OK; i++)
        status = write_use(&w, &uses->uses[i]);
    return status;
}
