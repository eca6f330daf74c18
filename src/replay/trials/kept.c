/* A block's own part of an object that it changes, kept in shared memory: what it loads before it
 * stores it is loaded once, what it stores is stored once at the end, by all threads together. That
 * holds where no block takes what another stores.
 *
 * Few blocks suffice, since it is their own part that matters. */
#include "replay/trials/objects.h"
#include "replay/trials/part.h"

#include <stdlib.h>

typedef struct span { /* bytes of the object that a block takes */
    uint64_t first, end;
} span;

typedef struct keeping {
    const trial_work *t;
    const trial_object *object;
    /* Of all blocks: what came of it. */
    atomic_bool *failed;
    atomic_uint *elements; /* of the largest part */
    atomic_uint *nspans;
    uint32_t room;
    span *spans;
} keeping;

static bool is_plain_change(const obs_insn *row)
{
    const uint32_t otherwise = ACC_ASYNC | ACC_BULK | ACC_VOLATILE | ACC_MATRIX | ACC_TEXTURE;
    return (row->op == ACC_LOAD || row->op == ACC_STORE) && !(row->flags & otherwise) &&
           row->bytes <= 16 && __builtin_popcount(row->bytes) == 1;
}

static bool may_change(const obs_insn *row)
{
    return row->op == ACC_STORE && row->requests > 1 && is_plain_change(row);
}

bool trial_has_changes(const obs_summary *s)
{
    return trial_any_pays(s, may_change);
}

/* ---- a block ---- */

typedef struct kept_block {
    const trial_log *log;
    trial_part part;         /* all that it takes */
    uint64_t *first_loaded;  /* bits, as part.set: loaded before they were stored */
    uint64_t *stored;        /* likewise */
    const acc_request *load; /* the first; NULL: none */
    const acc_request *store;
} kept_block;

static void note_lanes(kept_block *b, const acc_request *r)
{
    enum { WORD = 64 };
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint64_t at = r->addr[__builtin_ctz(m)] / b->part.bytes - b->part.first, bit = UINT64_C(1)
                                                                                       << at % WORD;
        if (r->op == ACC_STORE)
            b->stored[at / WORD] |= bit;
        else if (!(b->stored[at / WORD] & bit))
            b->first_loaded[at / WORD] |= bit;
    }
}

static void note_requests(kept_block *b)
{
    for (uint32_t i = 0; i < b->log->count; i++) {
        const acc_request *r = trial_log_at(b->log, i);
        const acc_request **first = r->op == ACC_STORE ? &b->store : &b->load;
        *first = *first ? *first : r;
        note_lanes(b, r);
    }
}

typedef struct moving {
    const trial_shown *to;
    const acc_request *like; /* its instruction moves the part */
} moving;

static void show_loading(const void *ctx, const trial_portion *p)
{
    const moving *m = ctx;
    trial_portion_show(p, m->like, ACC_LOAD, ACC_GLOBAL, m->to);
    trial_portion_show(p, m->like, ACC_STORE, ACC_SHARED, m->to);
}

static void show_storing(const void *ctx, const trial_portion *p)
{
    const moving *m = ctx;
    trial_portion_show(p, m->like, ACC_LOAD, ACC_SHARED, m->to);
    trial_portion_show(p, m->like, ACC_STORE, ACC_GLOBAL, m->to);
}

static bool move_some(const keeping *k, const kept_block *b, const uint64_t *bits,
                      const acc_request *like, trial_mover *move, const trial_shown *to)
{
    trial_part some;
    const moving m = {to, like};
    if (!like)
        return true;
    if (!trial_part_of(&b->part, bits, &some))
        return false;
    trial_part_move(&some, trial_threads(k->t), move, &m);
    trial_part_clear(&some);
    return true;
}

static bool show_block(const keeping *k, kept_block *b, const trial_shown *to)
{
    note_requests(b);
    bool good = move_some(k, b, b->first_loaded, b->load, show_loading, to);
    for (uint32_t i = 0; i < b->log->count && good; i++)
        trial_part_show(&b->part, trial_log_at(b->log, i), UINT32_MAX, to);
    return good && move_some(k, b, b->stored, b->store, show_storing, to);
}

static bool note_span(const keeping *k, const trial_part *p)
{
    uint32_t at = atomic_fetch_add(k->nspans, 1);
    if (at >= k->room)
        return false;
    k->spans[at] = (span){p->first, p->first + (uint64_t)p->words * 64};
    for (uint64_t last = p->set[p->words - 1]; !(last >> 63); last <<= 1)
        k->spans[at].end--;
    return true;
}

static bool keep_part(const keeping *k, const trial_log *log, const uint32_t *all,
                      const trial_shown *to)
{
    kept_block b = {.log = log};
    if (!trial_part_make(&b.part, log, all, log->count))
        return false;
    b.first_loaded = calloc(b.part.words, sizeof(uint64_t));
    b.stored = calloc(b.part.words, sizeof(uint64_t));
    trial_raise(k->elements, b.part.count);
    bool good = b.first_loaded && b.stored && note_span(k, &b.part) && show_block(k, &b, to);
    free(b.first_loaded);
    free(b.stored);
    trial_part_clear(&b.part);
    return good;
}

static void keep_block(const void *how, const trial_log *log, const trial_shown *to)
{
    const keeping *k = how;
    uint32_t *all = calloc((size_t)log->count + 1, sizeof *all);
    for (uint32_t i = 0; all && i < log->count; i++)
        all[i] = i;
    if (log->full || !all || (log->count && !keep_part(k, log, all, to)))
        atomic_store(k->failed, true);
    free(all);
}

static bool is_of_kept(const void *how, const acc_request *request)
{
    const keeping *k = how;
    return request->space == ACC_GLOBAL && request->object == k->object->alloc.id;
}

/* ---- the trial ---- */

static int by_first(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static bool spans_lie_apart(span *spans, uint32_t count)
{
    qsort(spans, count, sizeof *spans, by_first);
    for (uint32_t i = 1; i < count; i++)
        if (spans[i].first < spans[i - 1].end)
            return false;
    return true;
}

/* Loads and stores of elements of one size, both. */
static bool are_plain(const trial_rows *rows)
{
    bool loads = false;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!is_plain_change(&rows->rows[i]) || rows->rows[i].bytes != rows->rows[0].bytes)
            return false;
        else
            loads |= rows->rows[i].op == ACC_LOAD;
    return loads;
}

static bool fits(const keeping *k, uint64_t bytes)
{
    return bytes && bytes <= trial_room_of(k->t);
}

static wl_status run_kept(trial_work *t, const trial_object *o, keeping *k)
{
    const trial_view view = {.choose = is_of_kept, .redo = keep_block, .how = k};
    obs_trial trial = {.kind = OBS_TRIAL_KEPT, .object = o->alloc.id};
    trial_rows after;
    wl_status status = trial_run_changed(t, &(trial_run){.view = &view}, &after);
    uint64_t bytes = (uint64_t)*k->elements * o->rows.rows[0].bytes;
    trial.pad = (uint32_t)bytes;
    if (status == WL_OK && !*k->failed && fits(k, bytes) && spans_lie_apart(k->spans, *k->nspans) &&
        trial_sectors(&after) < trial_sectors(&o->rows))
        trial_add(t, trial, &o->rows, &after);
    return status;
}

static wl_status try_to_keep(trial_work *t, const trial_object *o)
{
    atomic_bool failed = false;
    atomic_uint elements = 0, nspans = 0;
    keeping k = {t, o, &failed, &elements, &nspans, (uint32_t)t->base.blocks, NULL};
    if (!are_plain(&o->rows) || t->base.blocks > UINT32_MAX)
        return WL_OK;
    k.spans = calloc(t->base.blocks + 1, sizeof *k.spans);
    wl_status status = k.spans ? run_kept(t, o, &k) : WL_NOMEM;
    free(k.spans);
    return status;
}

wl_status trial_kept(trial_work *t)
{
    return trial_each_of_few(t, may_change, try_to_keep);
}
