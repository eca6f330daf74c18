/* Folding the steps of a page. */
#include "base/fold.h"

#include "base/arena.h"
#include "base/repeats.h"
#include "base/varint.h"

#include <string.h>
#include <uthash.h>

enum { BARRIER, ENTRY, FIRST_SLOT }; /* how a page has what a mark is */

/* ---- what is told once ---- */

typedef struct told_move {
    uint32_t number; /* among the mark's */
    uint32_t size;
    uint8_t *bytes;
    UT_hash_handle hh;
} told_move;

typedef struct mark_key {
    uint32_t pc, mask, slot;
} mark_key;

typedef struct told_mark {
    mark_key key;
    uint32_t number;
    int64_t offset;
    told_move *moves, *last; /* `moves`: by their bytes */
    wl_vec(told_move *) in_order;
    wl_vec(uint32_t) list;
    UT_hash_handle hh;
} told_mark;

struct wl_folder {
    wl_arena *arena; /* of what is told */
    told_mark *marks, *last;
    wl_vec(told_mark *) in_order;
    wl_vec(uint32_t) path;
    wl_repeats repeats;
    bool failed;
};

wl_folder *wl_folder_new(void)
{
    wl_folder *f = calloc(1, sizeof *f);
    if (f && !(f->arena = wl_arena_new())) {
        free(f);
        f = NULL;
    }
    return f;
}

static void clear_folder(wl_folder *f)
{
    HASH_CLEAR(hh, f->marks);
    for (size_t i = 0; i < f->in_order.count; i++) {
        told_mark *m = f->in_order.data[i];
        HASH_CLEAR(hh, m->moves);
        wl_vec_free(&m->in_order);
        wl_vec_free(&m->list);
    }
    f->last = NULL;
    f->in_order.count = f->path.count = 0;
    f->failed = false;
    wl_arena_free(f->arena);
    f->arena = NULL;
}

void wl_folder_free(wl_folder *f)
{
    if (!f)
        return;
    clear_folder(f);
    wl_vec_free(&f->in_order);
    wl_vec_free(&f->path);
    wl_repeats_free(&f->repeats);
    free(f);
}

uint32_t wl_folder_count(const wl_folder *f)
{
    return (uint32_t)f->path.count;
}

static told_mark *new_mark(wl_folder *f, const mark_key *key)
{
    told_mark *m = wl_new(f->arena, told_mark);
    if (!m)
        return NULL;
    m->key = *key;
    m->number = (uint32_t)f->in_order.count;
    if (!wl_push(&f->in_order, m))
        return NULL;
    HASH_ADD(hh, f->marks, key, sizeof m->key, m);
    return m->hh.tbl ? m : NULL;
}

static told_mark *mark_of_step(wl_folder *f, const wl_step *s)
{
    const mark_key key = {s->pc, s->mask, s->slot};
    told_mark *m = f->last;
    if (!m || memcmp(&m->key, &key, sizeof key) != 0)
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): three numbers, no gaps */
        HASH_FIND(hh, f->marks, &key, sizeof key, m);
    return f->last = m ? m : new_mark(f, &key);
}

static told_move *new_move(wl_folder *f, told_mark *m, const uint8_t *bytes, uint32_t size)
{
    told_move *move = wl_new(f->arena, told_move);
    if (!move || !(move->bytes = wl_arena_copy(f->arena, bytes, size)))
        return NULL;
    move->number = (uint32_t)m->in_order.count;
    move->size = size;
    if (!wl_push(&m->in_order, move))
        return NULL;
    HASH_ADD_KEYPTR(hh, m->moves, move->bytes, size, move);
    return move->hh.tbl ? move : NULL;
}

enum { MOST_MOVE = (2 + WL_STEP_LANES) * WL_VARINT_BYTES };

static uint32_t bytes_of_move(const wl_step *s, int64_t before, uint8_t bytes[MOST_MOVE])
{
    int64_t stride, last = s->offset[__builtin_ctz(s->mask)];
    uint8_t *at = wl_varint_put(bytes, wl_zigzag_apart(last, before));
    bool regular = wl_step_stride(s, &stride);
    at = wl_varint_put(at, regular ? 1 + wl_zigzag(stride) : 0);
    for (uint32_t m = regular ? 0 : s->mask & (s->mask - 1); m; m &= m - 1) {
        int64_t offset = s->offset[__builtin_ctz(m)];
        at = wl_varint_put(at, wl_zigzag_apart(offset, last));
        last = offset;
    }
    return (uint32_t)(at - bytes);
}

static bool put_move(wl_folder *f, told_mark *m, const wl_step *s)
{
    uint8_t bytes[MOST_MOVE];
    uint32_t size = bytes_of_move(s, m->offset, bytes);
    told_move *move = m->last;
    if (!move || move->size != size || memcmp(move->bytes, bytes, size) != 0)
        HASH_FIND(hh, m->moves, bytes, size, move);
    m->last = move ? move : new_move(f, m, bytes, size);
    m->offset = s->offset[__builtin_ctz(s->mask)];
    return m->last && wl_push(&m->list, m->last->number);
}

bool wl_folder_put(wl_folder *f, const wl_step *s)
{
    f->failed |= !f->arena && !(f->arena = wl_arena_new());
    told_mark *m = f->failed ? NULL : mark_of_step(f, s);
    f->failed |= !m || !wl_push(&f->path, m->number) || (wl_step_accesses(s) && !put_move(f, m, s));
    return !f->failed;
}

/* ---- lists ---- */

typedef struct writing {
    wl_folder *f;
    const told_mark *of; /* whose moves are written; NULL: the marks are */
    wl_fold_bytes *out;
    uint32_t told; /* items that have been told */
    uint32_t pc, mask;
} writing;

static void put_list_number(writing *w, uint64_t number)
{
    w->f->failed |= !wl_reserve(w->out, WL_VARINT_BYTES);
    if (!w->f->failed)
        w->out->count = (size_t)(wl_varint_put(w->out->data + w->out->count, number) -
                                 w->out->data);
}

static void tell_mark(writing *w, const mark_key *key)
{
    put_list_number(w, wl_zigzag_apart(key->pc, w->pc));
    put_list_number(w, key->mask ^ w->mask);
    put_list_number(w, key->slot == WL_STEP_BARRIER ? BARRIER
                       : key->slot == WL_STEP_ENTRY ? ENTRY
                                                    : (uint64_t)key->slot + FIRST_SLOT);
    w->pc = key->pc;
    w->mask = key->mask;
}

static void tell_move(writing *w, const told_move *move)
{
    w->f->failed |= !wl_reserve(w->out, move->size);
    if (w->f->failed)
        return;
    memcpy(w->out->data + w->out->count, move->bytes, move->size);
    w->out->count += move->size;
}

static void put_item(writing *w, uint32_t item)
{
    bool told = item < w->told;
    put_list_number(w, told ? 2 * ((uint64_t)item + 1) : 0);
    w->told += !told; /* they are numbered as they come */
    if (!told && w->of)
        tell_move(w, w->of->in_order.data[item]);
    else if (!told)
        tell_mark(w, &w->f->in_order.data[item]->key);
}

/* Each repeat is at most half of what is around it, so that this is soon at its end. */
static void put_items(writing *w, uint32_t from, uint32_t to) // NOLINT(misc-no-recursion)
{
    while (from < to && !w->f->failed) {
        uint32_t times = 1, length = wl_repeat_at(&w->f->repeats, from, to, UINT32_MAX, &times);
        if (!length) {
            put_item(w, w->f->repeats.list[from++]);
            continue;
        }
        put_list_number(w, 2 * (uint64_t)length + 1);
        put_list_number(w, times);
        put_items(w, from, from + length);
        from += times * length;
    }
}

static void put_list(writing *w, const uint32_t *list, size_t count, size_t items)
{
    w->f->failed |= !wl_repeats_of(&w->f->repeats, list, (uint32_t)count, (uint32_t)items);
    if (!w->f->failed)
        put_items(w, 0, (uint32_t)count);
}

bool wl_folder_end(wl_folder *f, wl_fold_bytes *out)
{
    writing w = {.f = f, .out = out};
    put_list(&w, f->path.data, f->path.count, f->in_order.count);
    for (size_t i = 0; i < f->in_order.count && !f->failed; i++) {
        const told_mark *m = f->in_order.data[i];
        writing moves = {.f = f, .of = m, .out = out};
        put_list(&moves, m->list.data, m->list.count, m->in_order.count);
    }
    bool all = !f->failed;
    clear_folder(f);
    return all;
}

/* ---- reading ---- */

typedef struct list_reader {
    wl_unfolded *u;
    const uint8_t *at;
    uint32_t nslots;
    wl_fold_mark *of;        /* whose moves are read; NULL: the marks are */
    uint32_t *to;            /* the list's items */
    uint32_t items;          /* that were told */
    wl_vec(uint32_t) places; /* of moves that were told */
    bool failed;
} list_reader;

static uint64_t read_list_number(list_reader *r)
{
    uint64_t number = 0;
    r->failed |= !wl_varint_get(&r->at, r->u->end, &number);
    return r->failed ? 0 : number;
}

static void read_mark(list_reader *r)
{
    const wl_fold_mark *last = r->items ? &r->u->marks.data[r->items - 1] : NULL;
    int64_t pc = wl_zigzag_add(last ? last->pc : 0, read_list_number(r));
    uint64_t mask = read_list_number(r) ^ (last ? last->mask : 0), kind = read_list_number(r);
    r->failed |= pc < 0 || pc > UINT32_MAX || !mask || mask > UINT32_MAX ||
                 kind >= (uint64_t)r->nslots + FIRST_SLOT;
    wl_fold_mark mark = {.pc = (uint32_t)pc,
                         .mask = (uint32_t)mask,
                         .slot = kind == BARRIER ? WL_STEP_BARRIER
                                 : kind == ENTRY ? WL_STEP_ENTRY
                                                 : (uint32_t)kind - FIRST_SLOT};
    r->failed = r->failed || !wl_push(&r->u->marks, mark);
}

static void read_move(list_reader *r)
{
    uint32_t place = (uint32_t)(r->at - r->u->data);
    read_list_number(r);
    if (read_list_number(r) == 0)
        for (uint32_t m = r->of->mask & (r->of->mask - 1); m && !r->failed; m &= m - 1)
            read_list_number(r);
    r->failed = r->failed || !wl_push(&r->places, place);
}

static void read_item(list_reader *r, uint64_t number, uint32_t at)
{
    uint64_t item = number ? number / 2 - 1 : r->items;
    if (!number && r->of)
        read_move(r);
    else if (!number)
        read_mark(r);
    r->items += !number;
    r->failed |= item >= r->items;
    if (!r->failed)
        r->to[at] = r->of ? r->places.data[item] : (uint32_t)item;
}

/* A repeat within another is at most half as long, so that this is soon at its end. */
static void read_items(list_reader *r, uint32_t from, uint32_t to) // NOLINT(misc-no-recursion)
{
    while (from < to && !r->failed) {
        uint64_t number = read_list_number(r), length = number / 2;
        if (number % 2 == 0) {
            read_item(r, number, from++);
            continue;
        }
        uint64_t times = read_list_number(r);
        if (!length || times < 2 || times > (to - from) / length) {
            r->failed = true;
            return;
        }
        uint32_t n = (uint32_t)length;
        if (!r->of)
            r->failed = !wl_push(&r->u->rounds, (wl_fold_round){from, n, (uint32_t)times});
        read_items(r, from, from + n);
        for (uint32_t i = 1; i < times && !r->failed; i++)
            memcpy(r->to + from + (size_t)i * n, r->to + from, n * sizeof *r->to);
        from += n * (uint32_t)times;
    }
}

static void count_moves(wl_unfolded *u)
{
    uint32_t first = 0;
    for (size_t i = 0; i < u->path.count; i++)
        u->marks.data[u->path.data[i]].count++;
    for (size_t i = 0; i < u->marks.count; i++) {
        wl_fold_mark *m = &u->marks.data[i];
        m->count = m->slot < WL_STEP_ENTRY ? m->count : 0;
        m->first = m->next = first;
        first += m->count;
    }
    u->moves.count = first;
}

static bool read_moves(list_reader *r)
{
    wl_unfolded *u = r->u;
    count_moves(u);
    for (size_t i = 0; i < u->marks.count && !r->failed; i++) {
        r->of = &u->marks.data[i];
        r->to = u->moves.data + r->of->first;
        r->items = 0;
        r->places.count = 0;
        read_items(r, 0, r->of->count);
    }
    return !r->failed && r->at == u->end;
}

bool wl_unfold(const wl_folded *page, wl_unfolded *u)
{
    u->at = u->nsteps = 0;
    u->path.count = u->moves.count = u->marks.count = u->rounds.count = 0;
    if (page->nsteps > WL_FOLD_STEPS || page->size > UINT32_MAX || page->nslots > WL_MOST_SLOTS ||
        !wl_reserve(&u->path, page->nsteps + 1) || !wl_reserve(&u->moves, page->nsteps + 1))
        return false;
    u->data = page->size ? page->data : (const uint8_t *)"";
    u->end = u->data + page->size;
    u->path.count = page->nsteps;
    list_reader r = {.u = u, .at = u->data, .nslots = page->nslots, .to = u->path.data};
    read_items(&r, 0, page->nsteps);
    bool all = !r.failed && read_moves(&r);
    wl_vec_free(&r.places);
    u->nsteps = all ? page->nsteps : 0;
    return all;
}

static void take_move(wl_unfolded *u, wl_fold_mark *m, wl_step *step)
{
    const uint8_t *at = u->data + u->moves.data[m->next++];
    uint32_t first = (uint32_t)__builtin_ctz(m->mask);
    uint64_t number = 0, shape = 0;
    wl_varint_get(&at, u->end, &number);
    wl_varint_get(&at, u->end, &shape);
    int64_t offset = m->offset = wl_zigzag_add(m->offset, number),
            stride = wl_zigzag_add(0, shape - 1);
    memset(step->offset, 0, sizeof step->offset);
    step->offset[first] = offset;
    for (uint32_t rest = m->mask & (m->mask - 1); rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (shape)
            offset = (int64_t)((uint64_t)m->offset + (uint64_t)stride * (lane - first));
        else if (wl_varint_get(&at, u->end, &number))
            offset = wl_zigzag_add(offset, number);
        step->offset[lane] = offset;
    }
}

void wl_unfold_mark(wl_unfolded *u, uint32_t mark, wl_step *step)
{
    wl_fold_mark *m = &u->marks.data[mark];
    step->pc = m->pc;
    step->mask = m->mask;
    step->slot = m->slot;
    if (m->slot < WL_STEP_ENTRY)
        take_move(u, m, step);
}

/* The next one; false after the last. */
static bool next_unfolded_step(wl_unfolded *u, wl_step *step)
{
    if (u->at >= u->nsteps)
        return false;
    wl_unfold_mark(u, u->path.data[u->at++], step);
    return true;
}

void wl_unfold_skip(wl_unfolded *u, uint32_t mark, uint32_t accesses, int64_t by)
{
    wl_fold_mark *m = &u->marks.data[mark];
    m->next += accesses;
    m->offset = (int64_t)((uint64_t)m->offset + (uint64_t)by);
}

int64_t wl_unfold_moves_by(const wl_unfolded *u, uint32_t mark, uint32_t after)
{
    const uint8_t *at = u->data + u->moves.data[u->marks.data[mark].next + after];
    uint64_t number = 0;
    wl_varint_get(&at, u->end, &number);
    return wl_zigzag_add(0, number);
}

bool wl_unfold_repeats(const wl_unfolded *u, uint32_t mark, uint32_t from, uint32_t to,
                       uint32_t length)
{
    const uint32_t *moves = u->moves.data + u->marks.data[mark].next;
    return from >= to ||
           memcmp(moves + from, moves + from - length, (to - from) * sizeof *moves) == 0;
}

void wl_unfolded_free(wl_unfolded *u)
{
    wl_vec_free(&u->path);
    wl_vec_free(&u->moves);
    wl_vec_free(&u->marks);
    wl_vec_free(&u->rounds);
    *u = (wl_unfolded){0};
}

bool wl_unfolding_step(wl_unfolding *u, wl_step *step)
{
    while (!next_unfolded_step(&u->page, step)) {
        if (u->failed || u->next == u->npages)
            return false;
        u->failed = !wl_unfold(&u->pages[u->next++], &u->page);
    }
    return true;
}

void wl_unfolding_free(wl_unfolding *u)
{
    wl_unfolded_free(&u->page);
}
