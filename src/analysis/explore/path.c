/* From the steps of a warp to its path. */
#include "analysis/explore/path.h"

#include "analysis/explore/rounds.h"

#include <stdlib.h>
#include <string.h>

/* ---- facts ---- */

const prof_static_block *explore_block_at(const explore_facts *f, uint32_t pc)
{
    uint32_t low = 0, high = f->blocks.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->blocks.rows[middle].first_pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    const prof_static_block *b = low ? &f->blocks.rows[low - 1] : NULL;
    return b && pc - b->first_pc < b->ninsns ? b : NULL;
}

/* What the warp executes at `pc` on the object in the space; NULL: not known. */
static const obs_insn *insn_on_object(const explore_facts *f, uint32_t pc, uint32_t object,
                                      uint32_t space)
{
    uint32_t low = 0, high = f->insns.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->insns.rows[middle].c.pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    const obs_insn *found = NULL;
    for (; low < f->insns.count && f->insns.rows[low].c.pc == pc; low++) {
        const obs_insn *c = &f->insns.rows[low].c;
        if (c->space == space && (!found || c->object == object))
            found = c;
    }
    return found;
}

static uint32_t loop_of_header(const explore_facts *f, uint32_t header)
{
    for (uint32_t i = 0; i < f->loops.count; i++)
        if (f->loops.rows[i].header == header)
            return i + 1;
    return 0;
}

bool explore_prepare(explore_facts *f, wl_arena *arena)
{
    uint32_t *at = wl_new_array(arena, uint32_t, f->code.count + 1);
    uint32_t *around = wl_new_array(arena, uint32_t, f->loops.count + 1);
    if (!at || !around)
        return false;
    for (uint32_t i = 0; i < f->loops.count; i++)
        around[i] = loop_of_header(f, f->loops.rows[i].outer);
    for (uint32_t i = 0; i < f->blocks.count; i++) {
        const prof_static_block *b = &f->blocks.rows[i];
        uint32_t loop = loop_of_header(f, b->loop);
        for (uint32_t pc = b->first_pc; pc - b->first_pc < b->ninsns && pc < f->code.count; pc++)
            at[pc] = loop;
    }
    f->loop_at = at;
    f->loop_around = around;
    return true;
}

/* ---- walking ---- */

enum { SHARED, ELSEWHERE, SECTOR = 32 };

typedef struct walk {
    const explore_facts *facts;
    const prof_warp *warp;
    explore_path *path;
    acc_request asked[2]; /* what the request at hand asks of shared memory, and of other */
    uint64_t addr[2][ACC_LANES];
    uint32_t slot, object; /* of it */
    uint32_t pc;
    bool open;     /* a request is at hand */
    bool visiting; /* a visit is at hand, the path's last one */
    bool entered;  /* the visit at hand is one that an entry began */
    bool failed;
} walk;

static bool is_in(const explore_visit *v, uint32_t pc)
{
    return pc - v->pc < v->ninsns;
}

static explore_visit *last_visit(explore_path *p)
{
    return p->visits.count ? &p->visits.data[p->visits.count - 1] : NULL;
}

static void count_path_request(explore_path *p, const explore_request *r)
{
    p->counts.requests++;
    for (uint32_t i = 0; i < r->nsizes; i++)
        p->counts.sectors += p->sizes.data[r->first_size + i] / SECTOR;
    p->counts.wavefronts += r->passes;
    p->counts.wavefronts_extra += r->extra;
}

static int by_transaction_address(const void *a, const void *b)
{
    uint64_t x = ((const ana_transaction *)a)->address, y = ((const ana_transaction *)b)->address;
    return (x > y) - (x < y);
}

/* Puts the number where it belongs among those that ascend, once. */
static void put_sorted(uint64_t *numbers, uint32_t *count, uint64_t number)
{
    uint32_t at = *count;
    while (at > 0 && numbers[at - 1] > number)
        at--;
    if (at > 0 && numbers[at - 1] == number)
        return;
    memmove(numbers + at + 1, numbers + at, (*count - at) * sizeof *numbers);
    numbers[at] = number;
    ++*count;
}

/* Where each aligned piece of memory that lanes touch is a transaction, which is nearly always, only
 * their number matters. */
static bool add_pieces(walk *w, const acc_request *asked, uint32_t size, explore_request *r)
{
    explore_path *p = w->path;
    uint64_t pieces[2 * ACC_LANES];
    r->first_size = (uint32_t)p->sizes.count;
    for (uint32_t m = asked->mask; m; m &= m - 1) {
        uint64_t at = asked->addr[__builtin_ctz(m)];
        put_sorted(pieces, &r->nsizes, at / size);
        if (at / size != (at + asked->bytes - 1) / size)
            put_sorted(pieces, &r->nsizes, at / size + 1);
    }
    if (!wl_reserve(&p->sizes, r->nsizes))
        return false;
    memset(p->sizes.data + p->sizes.count, (int)size, r->nsizes);
    p->sizes.count += r->nsizes;
    return true;
}

static bool add_transactions(walk *w, explore_request *r)
{
    explore_path *p = w->path;
    const ana_arch *arch = w->facts->arch;
    const acc_request *asked = &w->asked[ELSEWHERE];
    uint32_t size = asked->op == ACC_LOAD ? arch->load_bytes : arch->store_bytes;
    if (!asked->mask)
        return true;
    if (arch->merging == ANA_MERGING_WHOLE_WARP && asked->space == ACC_GLOBAL &&
        asked->bytes <= size)
        return add_pieces(w, asked, size, r);
    if (!ana_serve(arch, asked, &p->served))
        return false;
    r->first_size = (uint32_t)p->sizes.count;
    r->nsizes = (uint32_t)p->served.transactions.count;
    if (r->nsizes > 1)
        qsort(p->served.transactions.data, r->nsizes, sizeof *p->served.transactions.data,
              by_transaction_address);
    for (uint32_t i = 0; i < r->nsizes; i++)
        if (!wl_push(&p->sizes, (uint8_t)p->served.transactions.data[i].size))
            return false;
    return true;
}

static bool add_passes(walk *w, explore_request *r)
{
    const acc_request *asked = &w->asked[SHARED];
    if (!asked->mask)
        return true;
    if (!ana_serve(w->facts->arch, asked, &w->path->served))
        return false;
    r->passes = (uint32_t)w->path->served.passes.count;
    r->extra = r->passes - w->path->served.passes_min;
    return true;
}

/* What was gathered of one instruction becomes a request. */
static void close_request(walk *w)
{
    explore_path *p = w->path;
    if (!w->open)
        return;
    const acc_request *asked = w->asked;
    explore_request r = {
        .pc = w->pc, .mask = asked[SHARED].mask | asked[ELSEWHERE].mask, .object = w->object};
    w->open = false;
    w->failed = w->failed || !add_transactions(w, &r) || !add_passes(w, &r) ||
                !wl_push(&p->requests, r);
    if (w->failed)
        return;
    last_visit(p)->nrequests++;
    count_path_request(p, &r);
}

/* ---- visits that are alike ---- */

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* FNV-1a of 64 bits. */
static uint64_t mixed_hash(uint64_t hash, uint64_t with)
{
    return (hash ^ with) * 0x100000001b3u;
}

static uint64_t hash_of_request(const explore_path *p, const explore_request *r, uint64_t hash)
{
    hash = mixed_hash(mixed_hash(hash, r->pc), (uint64_t)r->extra << 32 | r->mask);
    for (uint32_t i = 0; i < r->nsizes; i++)
        hash = mixed_hash(hash, p->sizes.data[r->first_size + i]);
    return mixed_hash(hash, 1);
}

/* Of what is compared. */
static uint64_t hash_of_visit(const explore_path *p, const explore_visit *v)
{
    uint64_t hash = mixed_hash(HASH_BEGIN, v->pc);
    hash = mixed_hash(mixed_hash(hash, v->mask), v->ninsns);
    for (uint32_t r = 0; r < v->nrequests; r++)
        hash = hash_of_request(p, &p->requests.data[v->first + r], hash);
    return hash;
}

static bool same_requests(const explore_path *p, const explore_request *a, const explore_request *b)
{
    return a->pc == b->pc && a->mask == b->mask && a->object == b->object &&
           a->nsizes == b->nsizes && a->passes == b->passes && a->extra == b->extra &&
           (!a->nsizes ||
            memcmp(p->sizes.data + a->first_size, p->sizes.data + b->first_size, a->nsizes) == 0);
}

static bool same_visits(const explore_path *p, const explore_visit *a, const explore_visit *b)
{
    bool same = a->pc == b->pc && a->ninsns == b->ninsns && a->mask == b->mask &&
                a->nrequests == b->nrequests;
    for (uint32_t i = 0; same && i < a->nrequests; i++)
        same = same_requests(p, &p->requests.data[a->first + i], &p->requests.data[b->first + i]);
    return same;
}

/* Where the visit stands in the table, or would. */
static size_t place_of_visit(const explore_path *p, const explore_visit *v, uint64_t hash)
{
    size_t mask = p->making.table.count - 1, at = (size_t)(hash ^ hash >> 32) & mask;
    for (uint32_t known; (known = p->making.table.data[at]); at = (at + 1) & mask)
        if (p->making.hashes.data[known - 1] == hash &&
            same_visits(p, &p->visits.data[known - 1], v))
            break;
    return at;
}

static bool grow_visit_table(explore_path *p)
{
    size_t count = p->making.table.count ? 2 * p->making.table.count : 64;
    p->making.table.count = 0;
    if (!wl_reserve(&p->making.table, count))
        return false;
    p->making.table.count = count;
    memset(p->making.table.data, 0, count * sizeof *p->making.table.data);
    for (uint32_t i = 0; i < p->making.hashes.count; i++) {
        size_t at = place_of_visit(p, &p->visits.data[i], p->making.hashes.data[i]);
        p->making.table.data[at] = i + 1;
    }
    return true;
}

/* The path's last visit is one that it has already, and goes. */
static void drop_visit(explore_path *p)
{
    const explore_visit *v = last_visit(p);
    if (v->nrequests) {
        p->sizes.count = p->requests.data[v->first].first_size;
        p->requests.count = v->first;
    }
    p->visits.count--;
}

static void close_visit(walk *w)
{
    explore_path *p = w->path;
    if (!w->visiting || w->failed)
        return;
    w->visiting = false;
    if (2 * p->visits.count > p->making.table.count && !grow_visit_table(p)) {
        w->failed = true;
        return;
    }
    uint64_t hash = hash_of_visit(p, last_visit(p));
    p->like = mixed_hash(p->like, hash);
    size_t at = place_of_visit(p, last_visit(p), hash);
    uint32_t *known = &p->making.table.data[at];
    if (*known) {
        drop_visit(p);
    } else {
        *known = (uint32_t)p->visits.count;
        w->failed = !wl_push(&p->making.hashes, hash);
    }
    w->failed = w->failed || !wl_push(&p->making.list, *known - 1);
}

/* ---- steps ---- */

/* Where two blocks are one in the table, the first ends where the second begins. */
static void begin_visit(walk *w, uint32_t pc, uint32_t ninsns, uint32_t mask, bool entered)
{
    explore_path *p = w->path;
    close_request(w);
    explore_visit *last = w->visiting ? last_visit(p) : NULL;
    if (last && w->entered && entered && pc > last->pc && is_in(last, pc))
        last->ninsns = pc - last->pc;
    close_visit(w);
    w->visiting = true;
    explore_visit v = {pc, ninsns, mask, (uint32_t)p->requests.count, 0};
    w->failed = w->failed || !wl_push(&p->visits, v);
    w->entered = entered;
}

static void take_entry(walk *w, const wl_step *s)
{
    const prof_static_block *b = explore_block_at(w->facts, s->pc);
    begin_visit(w, s->pc, b ? b->ninsns - (s->pc - b->first_pc) : 1, s->mask, true);
    w->path->counts.entries++;
}

/* Without entries a barrier is what all warps of the block have in common. */
static void take_barrier_step(walk *w, const wl_step *s)
{
    w->path->counts.barriers++;
    if (!w->path->counts.entries)
        begin_visit(w, s->pc, 1, s->mask, false);
}

/* A request on several objects is several steps, with other lanes each; an asynchronous copy is two,
 * with the same lanes in two spaces. */
static bool goes_on(const walk *w, const wl_step *s, uint32_t where)
{
    return w->open && w->pc == s->pc && w->slot != s->slot && !(w->asked[where].mask & s->mask);
}

static void begin_request(walk *w, const wl_step *s, uint32_t object)
{
    const explore_visit *v = w->visiting ? last_visit(w->path) : NULL;
    close_request(w);
    if (!v || !is_in(v, s->pc) || !w->entered)
        begin_visit(w, s->pc, 1, s->mask, false);
    w->asked[SHARED].mask = w->asked[ELSEWHERE].mask = 0;
    w->pc = s->pc;
    w->object = object;
    w->open = true;
}

/* Of what the instruction's rows do not tell, as of a launch that was cut off, little is taken. */
static void ask(walk *w, uint32_t where, const wl_step *s, const prof_slot *slot)
{
    const obs_insn *insn = insn_on_object(w->facts, s->pc, slot->object, slot->space);
    const prof_object *o = prof_find_object(&w->facts->objects, slot->object);
    uint64_t base = (o ? o->base : 0) + (uint64_t)w->warp->begin[s->slot];
    acc_request *asked = &w->asked[where];
    *asked = (acc_request){.pc = s->pc,
                           .op = insn ? insn->op : ACC_LOAD,
                           .space = (acc_space)slot->space,
                           .bytes = insn && insn->bytes ? insn->bytes : 4,
                           .flags = insn ? insn->flags : 0,
                           .mask = asked->mask | s->mask,
                           .addr = w->addr[where],
                           .stride = ACC_IRREGULAR};
    for (uint32_t m = s->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        w->addr[where][lane] = base + (uint64_t)s->offset[lane];
    }
}

static void take_access(walk *w, const wl_step *s)
{
    const prof_slot *slot = &w->warp->slots[s->slot];
    uint32_t where = slot->space == ACC_SHARED ? SHARED : ELSEWHERE;
    if (!goes_on(w, s, where))
        begin_request(w, s, slot->object);
    w->slot = s->slot;
    ask(w, where, s, slot);
    if (!w->entered && !w->failed)
        last_visit(w->path)->mask |= s->mask;
}

static bool take_step_of_path(void *ctx, const wl_step *s)
{
    walk *w = ctx;
    if (s->slot == WL_STEP_ENTRY)
        take_entry(w, s);
    else if (s->slot == WL_STEP_BARRIER)
        take_barrier_step(w, s);
    else if (s->slot < w->warp->nslots)
        take_access(w, s);
    return !w->failed;
}

static explore_since note_round(void *ctx)
{
    const walk *w = ctx;
    return (explore_since){w->path->making.list.count, w->path->counts};
}

static void add_path_counts(ana_warp_counts *c, const ana_warp_counts *since, uint64_t times)
{
    c->entries += times * (c->entries - since->entries);
    c->requests += times * (c->requests - since->requests);
    c->sectors += times * (c->sectors - since->sectors);
    c->wavefronts += times * (c->wavefronts - since->wavefronts);
    c->wavefronts_extra += times * (c->wavefronts_extra - since->wavefronts_extra);
    c->barriers += times * (c->barriers - since->barriers);
}

/* The visit at hand is as it was when the round began, so that those which the round ended are those
 * which the next one ends. */
static bool repeat_round(void *ctx, const explore_since *since, uint32_t times)
{
    walk *w = ctx;
    explore_path *p = w->path;
    size_t end = p->making.list.count, count = (end - since->visits) * times;
    if (end + count > UINT32_MAX || !wl_reserve(&p->making.list, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t visit = p->making.list.data[since->visits + i];
        p->making.list.data[end + i] = visit;
        p->like = mixed_hash(p->like, p->making.hashes.data[visit]);
    }
    p->making.list.count += count;
    add_path_counts(&p->counts, &since->counts, times);
    return true;
}

/* ---- folding ---- */

static bool add_path_part(explore_path *p, uint32_t from, uint32_t length, uint32_t times)
{
    explore_part *last = p->parts.count ? &p->parts.data[p->parts.count - 1] : NULL;
    const uint32_t *list = p->making.list.data;
    if (!wl_reserve(&p->list, length))
        return false;
    memcpy(p->list.data + p->list.count, list + from, length * sizeof *list);
    p->list.count += length;
    if (times == 1 && last && last->times == 1) {
        last->length += length;
        return true;
    }
    return wl_push(&p->parts,
                   (explore_part){(uint32_t)p->list.count - length, length, times, from});
}

/* Rounds of many visits are folded by their own loops only: what is compared at once stays short. */
static bool fold_path(explore_path *p)
{
    enum { MOST_FOLDED = 1024 };
    uint32_t count = (uint32_t)p->making.list.count, times;
    bool all = wl_repeats_of(&p->making.repeats, p->making.list.data, count,
                             (uint32_t)p->visits.count);
    for (uint32_t at = 0; all && at < count;) {
        times = 1;
        uint32_t length = wl_repeat_at(&p->making.repeats, at, count, MOST_FOLDED, &times);
        length = length ? length : 1;
        all = add_path_part(p, at, length, times);
        at += length * times;
    }
    p->length = count;
    return all;
}

explore_cursor explore_cursor_at(const explore_path *path, uint32_t index)
{
    uint32_t low = 0, high = (uint32_t)path->parts.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (path->parts.data[middle].start <= index)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || index >= path->length)
        return (explore_cursor){path, (uint32_t)path->parts.count, 0};
    return (explore_cursor){path, low - 1, index - path->parts.data[low - 1].start};
}

/* ---- all together ---- */

static void empty_path(explore_path *p)
{
    p->visits.count = p->requests.count = p->sizes.count = p->list.count = p->parts.count = 0;
    p->making.list.count = p->making.hashes.count = 0;
    p->making.table.count = 0;
    p->counts = (ana_warp_counts){0};
    p->like = HASH_BEGIN;
    p->length = 0;
}

static void count_operations(explore_path *p)
{
    for (size_t i = 0; i < p->parts.count; i++) {
        const explore_part *part = &p->parts.data[i];
        for (uint32_t k = 0; k < part->length; k++) {
            const explore_visit *v = explore_visit_of(p, part, k);
            uint64_t operations = (uint64_t)v->ninsns * part->times;
            p->counts.operations += operations;
            p->counts.lanes += operations * (uint64_t)__builtin_popcount(v->mask);
        }
    }
}

bool explore_path_of(const explore_facts *facts, const prof_warp *warp, explore_path *out)
{
    walk w = {.facts = facts, .warp = warp, .path = out};
    const explore_listener listener = {&w, take_step_of_path, note_round, repeat_round};
    empty_path(out);
    w.failed |= !explore_each_step(warp, &listener);
    close_request(&w);
    close_visit(&w);
    w.failed = w.failed || !fold_path(out);
    if (!w.failed)
        count_operations(out);
    return !w.failed;
}

void explore_path_free(explore_path *p)
{
    wl_vec_free(&p->visits);
    wl_vec_free(&p->requests);
    wl_vec_free(&p->sizes);
    wl_vec_free(&p->list);
    wl_vec_free(&p->parts);
    wl_vec_free(&p->making.list);
    wl_vec_free(&p->making.hashes);
    wl_vec_free(&p->making.table);
    wl_repeats_free(&p->making.repeats);
    ana_served_free(&p->served);
}
