/* What warps did, step by step: SEQUENCES records. Equal sequences are kept once for all launches, and
 * folded: the capture has them as they came. */
#include "profile/builder.h"

#include "base/fold.h"

#include <string.h>
#include <xxhash.h>

typedef struct writer {
    prof_builder *b;
    launch_entry *launch;
    const cap_sequences *record;
    wl_error *err;
} writer;

static wl_status fail_damaged_sequences(const writer *w)
{
    return wl_fail(w->err, WL_CORRUPT, "The capture's sequences of launch %u do not hold together.",
                   w->record->launch);
}

/* ---- sequences ---- */

/* The entry of a sequence, by its content; its id is 0 where it is new. */
static content_entry *intern_sequence(prof_builder *b, const obs_sequence *s)
{
    XXH128_canonical_t hash;
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return NULL;
    XXH3_128bits_reset_withSeed(state, s->nslots);
    for (uint32_t i = 0; i < s->npages; i++) {
        XXH3_128bits_update(state, &s->pages[i].length, sizeof s->pages[i].length);
        XXH3_128bits_update(state, s->pages[i].data, s->pages[i].length);
    }
    XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    content_entry *entry = NULL;
    HASH_FIND(hh, b->sequences, hash.digest, sizeof entry->hash, entry);
    if (!entry && (entry = wl_new(b->arena, content_entry))) {
        memcpy(entry->hash, hash.digest, sizeof entry->hash);
        HASH_ADD(hh, b->sequences, hash, sizeof entry->hash, entry);
    }
    return entry;
}

/* Makes the row of a page; its bytes stay until the next one is made. */
static wl_status make_page(writer *w, uint32_t of, uint32_t number, const obs_page *page,
                           row_page *row)
{
    blob *packed = &w->b->compressed;
    if (blob_compress(page->data, page->length, packed) != WL_OK)
        return NOMEM(w->err);
    *row = (row_page){of, number, page->count, page->length, {packed->data, packed->size}};
    return WL_OK;
}

static wl_status write_warp_page(writer *w, uint32_t of, uint32_t number, const obs_page *page)
{
    row_page row;
    wl_status status = make_page(w, of, number, page, &row);
    return status == WL_OK ? table_insert_warp_pages(w->b->insert[TABLE_warp_pages], &row, w->err)
                           : status;
}

/* ---- folding ---- */

typedef struct folding { /* of a sequence */
    writer *w;
    wl_folder *folder;
    wl_fold_bytes bytes;
    uint32_t of, npages;
    uint64_t nsteps;
} folding;

static wl_status end_folded_page(folding *f)
{
    uint32_t count = wl_folder_count(f->folder);
    row_page row;
    f->bytes.count = 0;
    if (!count)
        return WL_OK;
    if (!wl_folder_end(f->folder, &f->bytes))
        return NOMEM(f->w->err);
    f->nsteps += count;
    const obs_page page = {count, (const char *)f->bytes.data, f->bytes.count};
    wl_status status = make_page(f->w, f->of, f->npages++, &page, &row);
    return status == WL_OK
               ? table_insert_sequence_pages(f->w->b->insert[TABLE_sequence_pages], &row, f->w->err)
               : status;
}

static wl_status fold_page(folding *f, const obs_page *page, uint32_t nslots)
{
    wl_page_reader reader = wl_page_read(page->data, page->length, nslots);
    uint32_t count = 0;
    wl_status status = WL_OK;
    for (wl_step step; status == WL_OK && wl_page_step(&reader, &step); count++) {
        if (wl_folder_count(f->folder) == WL_FOLD_STEPS)
            status = end_folded_page(f);
        if (status == WL_OK && !wl_folder_put(f->folder, &step))
            status = NOMEM(f->w->err);
    }
    if (status == WL_OK && (reader.damaged || count != page->count))
        return fail_damaged_sequences(f->w);
    return status;
}

static wl_status fold_sequence(writer *w, uint32_t id, const obs_sequence *s)
{
    folding f = {.w = w, .folder = wl_folder_new(), .of = id};
    wl_status status = f.folder ? WL_OK : NOMEM(w->err);
    for (uint32_t i = 0; i < s->npages && status == WL_OK; i++)
        status = fold_page(&f, &s->pages[i], s->nslots);
    if (status == WL_OK)
        status = end_folded_page(&f);
    wl_folder_free(f.folder);
    wl_vec_free(&f.bytes);
    const row_sequence row = {id, f.nsteps, s->nslots};
    return status == WL_OK ? table_insert_sequences(w->b->insert[TABLE_sequences], &row, w->err)
                           : status;
}

static wl_status write_sequence(writer *w, const obs_sequence *s)
{
    content_entry *entry = intern_sequence(w->b, s);
    bool known = entry && entry->id;
    if (entry && !known)
        entry->id = ++w->b->nsequences;
    if (!entry || !wl_push(&w->b->process.last_sequences, (sequence_ref){entry->id, s->nslots}))
        return NOMEM(w->err);
    return known ? WL_OK : fold_sequence(w, entry->id, s);
}

/* ---- warps ---- */

static bool warps_valid(const obs_page *page, uint32_t nslots, wl_warp *last, bool *any)
{
    wl_page_reader reader = wl_page_read(page->data, page->length, nslots);
    uint32_t count = 0;
    bool ascend = true;
    for (wl_warp warp; wl_page_warp(&reader, &warp); count++) {
        ascend &= !*any || warp.block > last->block ||
                  (warp.block == last->block && warp.number > last->number);
        *last = warp;
        *any = true;
    }
    return !reader.damaged && ascend && count == page->count;
}

static wl_status write_sequence_object(writer *w, uint32_t group, uint32_t slot,
                                       const obs_step_object *s)
{
    const process *p = &w->b->process;
    const object_info *found = builder_object(w->b, s->object);
    uint32_t id = found ? found->id : 0;
    wl_status status = WL_OK;
    if (s->space == ACC_SHARED && s->object >= p->nlast_arrays)
        return fail_damaged_sequences(w);
    if (s->space == ACC_SHARED)
        status = builder_kernel_object(w->b, w->launch->kind->facts.kernel, PROF_OBJECT_SHARED,
                                       &p->last_arrays.data[s->object], &id, w->err);
    else if (s->space == ACC_LOCAL)
        status = builder_kernel_object(w->b, w->launch->kind->facts.kernel, PROF_OBJECT_LOCAL, NULL,
                                       &id, w->err);
    const row_warp_object row = {group, slot, s->space, id};
    return status == WL_OK
               ? table_insert_warp_objects(w->b->insert[TABLE_warp_objects], &row, w->err)
               : status;
}

static wl_status write_group(writer *w, const obs_warps *g)
{
    const process *p = &w->b->process;
    if (g->sequence >= p->last_sequences.count ||
        g->nslots != p->last_sequences.data[g->sequence].nslots)
        return fail_damaged_sequences(w);
    uint64_t nwarps = 0;
    wl_warp last;
    bool any = false;
    for (uint32_t i = 0; i < g->npages; i++) {
        if (!warps_valid(&g->pages[i], g->nslots, &last, &any))
            return fail_damaged_sequences(w);
        nwarps += g->pages[i].count;
    }
    uint32_t id = ++w->b->nwarp_groups;
    const row_warp_group row = {id, w->launch->id, p->last_sequences.data[g->sequence].id, nwarps};
    wl_status status = table_insert_warp_groups(w->b->insert[TABLE_warp_groups], &row, w->err);
    for (uint32_t i = 0; i < g->nslots && status == WL_OK; i++)
        status = write_sequence_object(w, id, i, &g->slots[i]);
    for (uint32_t i = 0; i < g->npages && status == WL_OK; i++)
        status = write_warp_page(w, id, i, &g->pages[i]);
    return status;
}

/* A launch's first part makes what was dropped known, further ones add to it. */
static wl_status tell_warps_dropped(writer *w)
{
    launch_facts facts = builder_launch_facts(w->launch);
    uint64_t before = facts.row.warps_dropped == UINT64_MAX ? 0 : facts.row.warps_dropped;
    bool overflow = w->record->dropped >= UINT64_MAX - before;
    facts.row.warps_dropped = before + w->record->dropped;
    return overflow ? fail_damaged_sequences(w)
                    : builder_change_launch(w->b, w->launch, &facts, w->err);
}

wl_status builder_sequences(prof_builder *b, const cap_sequences *record, wl_error *err)
{
    writer w = {
        .b = b, .launch = builder_find_launch(b, record->launch), .record = record, .err = err};
    if (!w.launch || b->process.arrays_of != record->launch ||
        record->first != b->process.last_sequences.count)
        return fail_damaged_sequences(&w);
    wl_status status = tell_warps_dropped(&w);
    for (uint32_t i = 0; i < record->nsequences && status == WL_OK; i++)
        status = write_sequence(&w, &record->sequences[i]);
    for (uint32_t i = 0; i < record->nwarps && status == WL_OK; i++)
        status = write_group(&w, &record->warps[i]);
    return status;
}
