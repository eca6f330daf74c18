/* A dictionary of what warps did, the blocks whose warps did it, and what becomes of both in the
 * summary. */
#include "observe/sequences.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <xxhash.h>

typedef struct body { /* steps that are equal */
    XXH128_hash_t key;
    uint32_t users;  /* groups */
    uint32_t number; /* in the summary; from 1 */
    uint32_t nslots, npages;
    uint64_t size;
    uint8_t *data;
    obs_page_end *ends;
    UT_hash_handle hh;
} body;

typedef struct group { /* of one body over the same objects */
    XXH128_hash_t key;
    body *body;
    uint64_t users;  /* warps */
    uint32_t number; /* in the summary; from 1 */
    uint64_t place;  /* of its next warp among all, when they are sorted */
    obs_step_object *slots;
    UT_hash_handle hh;
} group;

typedef struct kept_block {
    uint64_t index;
    uint32_t nwarps;
    group **groups;  /* of each warp; NULL: nothing is known of it */
    int64_t *begins; /* of one warp after the other */
} kept_block;

struct obs_sequences {
    uint64_t limit;
    _Atomic uint64_t end;  /* index of the first block that has no room */
    _Atomic uint64_t seen; /* warps */
    pthread_mutex_t lock;  /* guards what follows */
    uint64_t bytes;
    body *bodies;
    group *groups;
    wl_vec(kept_block *) blocks; /* a heap: none has a higher index than blocks[(i - 1) / 2] */
};

obs_sequences *obs_sequences_new(uint64_t limit)
{
    obs_sequences *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->limit = limit;
    atomic_init(&s->end, UINT64_MAX);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

bool obs_sequences_may_keep(obs_sequences *s, uint64_t block)
{
    return block < atomic_load_explicit(&s->end, memory_order_relaxed);
}

void obs_sequences_drop(obs_sequences *s, uint32_t nwarps)
{
    atomic_fetch_add_explicit(&s->seen, nwarps, memory_order_relaxed);
}

/* ---- what is kept once ---- */

static uint64_t cost_of_body(const body *b)
{
    return sizeof *b + b->size + b->npages * sizeof *b->ends;
}

static uint64_t cost_of_group(const group *g)
{
    return sizeof *g + g->body->nslots * sizeof *g->slots;
}

static uint64_t cost_of_block(const kept_block *b)
{
    uint64_t nbegins = 0;
    for (uint32_t i = 0; i < b->nwarps; i++)
        nbegins += b->groups[i] ? b->groups[i]->body->nslots : 0;
    return sizeof *b + b->nwarps * sizeof *b->groups + nbegins * sizeof *b->begins;
}

static void free_body(body *b)
{
    free(b->data);
    free(b->ends);
    free(b);
}

static void free_group(group *g)
{
    free(g->slots);
    free(g);
}

static void free_kept_block(kept_block *b)
{
    if (b) {
        free(b->groups);
        free(b->begins);
    }
    free(b);
}

static void release_body(obs_sequences *s, body *b)
{
    if (--b->users)
        return;
    s->bytes -= cost_of_body(b);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what has users is in the hash */
    HASH_DEL(s->bodies, b);
    free_body(b);
}

static void release_group(obs_sequences *s, group *g)
{
    if (--g->users)
        return;
    s->bytes -= cost_of_group(g);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what has users is in the hash */
    HASH_DEL(s->groups, g);
    release_body(s, g->body);
    free_group(g);
}

/* ---- keys ---- */

/* Pages are full but for the last: where they end follows from their bytes. */
static XXH128_hash_t key_of_body(const obs_walk *w)
{
    return XXH3_128bits_withSeed(w->page.data ? w->page.data : (const uint8_t *)"", w->page.size,
                                 w->nslots);
}

static XXH128_hash_t key_of_group(const obs_walk *w, XXH128_hash_t of_body)
{
    uint64_t words[2 + WL_MOST_SLOTS];
    words[0] = of_body.low64;
    words[1] = of_body.high64;
    for (uint32_t i = 0; i < w->nslots; i++)
        words[2 + i] = (uint64_t)w->slots[i].space << 32 | w->slots[i].object;
    return XXH3_128bits(words, (2 + w->nslots) * sizeof *words);
}

/* ---- adding ---- */

static body *new_body(const obs_walk *w, XXH128_hash_t key)
{
    body *b = calloc(1, sizeof *b);
    uint32_t npages = (uint32_t)w->ends.count + (w->page.count > 0);
    if (!b)
        return NULL;
    *b = (body){.key = key,
                .nslots = w->nslots,
                .npages = npages,
                .size = w->page.size,
                .data = malloc(w->page.size + 1),
                .ends = calloc(npages + 1u, sizeof *b->ends)};
    if (!b->data || !b->ends) {
        free_body(b);
        return NULL;
    }
    if (w->page.size)
        memcpy(b->data, w->page.data, w->page.size);
    if (w->ends.count)
        memcpy(b->ends, w->ends.data, w->ends.count * sizeof *b->ends);
    if (w->page.count)
        b->ends[w->ends.count] = (obs_page_end){w->page.count, w->page.size};
    return b;
}

static body *body_of_walk(obs_sequences *s, const obs_walk *w, XXH128_hash_t key)
{
    body *b = NULL;
    HASH_FIND(hh, s->bodies, &key, sizeof key, b);
    if (b || !(b = new_body(w, key)))
        return b;
    HASH_ADD(hh, s->bodies, key, sizeof b->key, b);
    if (!b->hh.tbl) { /* no room in the hash */
        free_body(b);
        return NULL;
    }
    s->bytes += cost_of_body(b);
    return b;
}

static group *new_group(const obs_walk *w, XXH128_hash_t key, body *of)
{
    group *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    *g = (group){.key = key, .body = of, .slots = calloc(w->nslots + 1u, sizeof *g->slots)};
    if (!g->slots) {
        free_group(g);
        return NULL;
    }
    for (uint32_t i = 0; i < w->nslots; i++)
        g->slots[i] = w->slots[i];
    return g;
}

static group *add_group(obs_sequences *s, const obs_walk *w, XXH128_hash_t key,
                        XXH128_hash_t of_body)
{
    body *b = body_of_walk(s, w, of_body);
    group *g = b ? new_group(w, key, b) : NULL;
    if (g)
        HASH_ADD(hh, s->groups, key, sizeof g->key, g);
    if (g && !g->hh.tbl) {
        free_group(g);
        g = NULL;
    }
    if (b)
        b->users++;
    if (g)
        s->bytes += cost_of_group(g);
    else if (b)
        release_body(s, b);
    return g;
}

static bool same_key(XXH128_hash_t a, XXH128_hash_t b)
{
    return a.low64 == b.low64 && a.high64 == b.high64;
}

/* The group that does what the warp did; NULL when memory is exhausted. */
static group *group_of_walk(obs_sequences *s, const obs_walk *w, XXH128_hash_t key,
                            XXH128_hash_t of_body)
{
    group *g = NULL;
    HASH_FIND(hh, s->groups, &key, sizeof key, g);
    return g ? g : add_group(s, w, key, of_body);
}

static kept_block *new_kept_block(uint64_t index, const obs_walks *walks)
{
    kept_block *b = calloc(1, sizeof *b);
    size_t nbegins = 0, at = 0;
    for (uint32_t i = 0; i < walks->nwarps; i++)
        nbegins += walks->warps[i].nslots;
    if (!b)
        return NULL;
    *b = (kept_block){.index = index,
                      .nwarps = walks->nwarps,
                      .groups = calloc(walks->nwarps + 1u, sizeof *b->groups),
                      .begins = calloc(nbegins + 1, sizeof *b->begins)};
    if (!b->groups || !b->begins) {
        free_kept_block(b);
        return NULL;
    }
    for (uint32_t i = 0; i < walks->nwarps; i++)
        for (uint32_t slot = 0; slot < walks->warps[i].nslots; slot++)
            b->begins[at++] = walks->warps[i].begins[slot];
    return b;
}

/* ---- the order of blocks ---- */

static bool push_block(obs_sequences *s, kept_block *b)
{
    if (!wl_push(&s->blocks, b))
        return false;
    kept_block **heap = s->blocks.data;
    size_t at = s->blocks.count - 1;
    for (; at && heap[(at - 1) / 2]->index < b->index; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = b;
    return true;
}

static kept_block *pop_highest_block(obs_sequences *s)
{
    kept_block **heap = s->blocks.data, *highest = heap[0], *last = heap[--s->blocks.count];
    size_t at = 0, n = s->blocks.count;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && heap[child + 1]->index > heap[child]->index;
        if (heap[child]->index <= last->index)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return highest;
}

static void release_block(obs_sequences *s, kept_block *b)
{
    s->bytes -= cost_of_block(b);
    for (uint32_t i = 0; i < b->nwarps; i++)
        if (b->groups[i])
            release_group(s, b->groups[i]);
    free_kept_block(b);
}

static void keep_to_limit(obs_sequences *s)
{
    while (s->bytes > s->limit && s->blocks.count) {
        kept_block *b = pop_highest_block(s);
        atomic_store_explicit(&s->end, b->index, memory_order_relaxed);
        release_block(s, b);
    }
}

/* Under the lock. Where memory is exhausted the block's warps are among those without room. */
static void add_kept_block(obs_sequences *s, kept_block *b, const obs_walks *walks,
                           const XXH128_hash_t *bodies, const XXH128_hash_t *groups)
{
    bool all = true;
    for (uint32_t i = 0; i < b->nwarps; i++) {
        const obs_walk *w = &walks->warps[i];
        bool same = i && b->groups[i - 1] && same_key(groups[i], groups[i - 1]);
        group *g = w->lost ? NULL
                   : same  ? b->groups[i - 1]
                           : group_of_walk(s, w, groups[i], bodies[i]);
        all = all && (g || w->lost);
        b->groups[i] = g;
        if (g)
            g->users++;
    }
    s->bytes += cost_of_block(b);
    if (all && push_block(s, b))
        keep_to_limit(s);
    else
        release_block(s, b);
}

void obs_sequences_add(obs_sequences *s, uint64_t index, const obs_walks *walks)
{
    XXH128_hash_t bodies[OBS_LANES], groups[OBS_LANES];
    bool keep = obs_sequences_may_keep(s, index) && walks->nwarps <= OBS_LANES;
    obs_sequences_drop(s, walks->nwarps);
    kept_block *b = keep ? new_kept_block(index, walks) : NULL;
    for (uint32_t i = 0; b && i < walks->nwarps; i++) {
        bodies[i] = key_of_body(&walks->warps[i]);
        groups[i] = key_of_group(&walks->warps[i], bodies[i]);
    }
    pthread_mutex_lock(&s->lock);
    if (b && obs_sequences_may_keep(s, index))
        add_kept_block(s, b, walks, bodies, groups);
    else
        free_kept_block(b);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the summary's ---- */

typedef struct place { /* of a warp */
    uint32_t block, number;
} place;

typedef struct finishing {
    obs_sequences *s;
    wl_arena *arena;
    obs_summary *out;
    wl_vec(group *) groups; /* in the order of their first warps, as the bodies are */
    uint32_t nbodies;
    place *places;
    wl_page_writer page;
} finishing;

static int blocks_ascend(const void *a, const void *b)
{
    uint64_t x = (*(kept_block *const *)a)->index, y = (*(kept_block *const *)b)->index;
    return (x > y) - (x < y);
}

static bool number_group(finishing *f, group *g, uint64_t *nplaces)
{
    if (g->number)
        return true;
    if (!g->body->number)
        g->body->number = ++f->nbodies;
    bool all = wl_push(&f->groups, g);
    g->number = (uint32_t)f->groups.count;
    g->place = *nplaces;
    *nplaces += g->users;
    return all;
}

/* By the first warp of each. */
static bool number_groups(finishing *f, uint64_t *nplaces)
{
    const obs_sequences *s = f->s;
    bool all = true;
    *nplaces = 0;
    for (size_t i = 0; i < s->blocks.count; i++)
        for (uint32_t k = 0; k < s->blocks.data[i]->nwarps && all; k++)
            if (s->blocks.data[i]->groups[k])
                all = number_group(f, s->blocks.data[i]->groups[k], nplaces);
    return all;
}

/* Sorts the warps by their groups; each group's place is then behind its last. */
static bool place_warps(finishing *f)
{
    const obs_sequences *s = f->s;
    uint64_t nplaces;
    bool all = number_groups(f, &nplaces);
    f->places = all ? malloc((nplaces + 1) * sizeof *f->places) : NULL;
    for (uint32_t i = 0; i < s->blocks.count && f->places; i++)
        for (uint32_t k = 0; k < s->blocks.data[i]->nwarps; k++) {
            group *g = s->blocks.data[i]->groups[k];
            if (g)
                f->places[g->place++] = (place){i, k};
        }
    f->out->warps_dropped = atomic_load(&s->seen) - nplaces;
    return f->places != NULL;
}

static const int64_t *begins_of_place(const finishing *f, const place *p)
{
    const kept_block *b = f->s->blocks.data[p->block];
    size_t at = 0;
    for (uint32_t i = 0; i < p->number; i++)
        at += b->groups[i] ? b->groups[i]->body->nslots : 0;
    return b->begins + at;
}

/* Its bytes go over to the arena. */
static bool copy_body(wl_arena *arena, body *b, obs_sequence *to)
{
    const char *data = wl_arena_copy(arena, b->data, b->size);
    *to = (obs_sequence){b->nslots, b->npages, wl_new_array(arena, obs_page, b->npages + 1u)};
    if (!data || !to->pages)
        return false;
    for (uint32_t i = 0; i < b->npages; i++) {
        size_t from = i ? b->ends[i - 1].at : 0;
        to->pages[i] = (obs_page){b->ends[i].count, data + from, b->ends[i].at - from};
    }
    free(b->data);
    b->data = NULL;
    return true;
}

static bool pack_places(finishing *f, const place *from, uint64_t count, uint32_t nslots,
                        obs_page *out)
{
    wl_warp warp;
    wl_page_clear(&f->page);
    for (uint64_t i = 0; i < count; i++) {
        warp.block = f->s->blocks.data[from[i].block]->index;
        warp.number = from[i].number;
        memcpy(warp.begin, begins_of_place(f, &from[i]), nslots * sizeof *warp.begin);
        if (!wl_page_put_warp(&f->page, &warp, nslots))
            return false;
    }
    *out = (obs_page){f->page.count, wl_arena_copy(f->arena, f->page.data, f->page.size),
                      f->page.size};
    return out->data != NULL;
}

/* `from`: its warps. */
static bool copy_group(finishing *f, const group *g, const place *from, obs_warps *to)
{
    uint32_t nslots = g->body->nslots;
    uint64_t npages = (g->users + WL_PAGE_ITEMS - 1) / WL_PAGE_ITEMS;
    *to = (obs_warps){.sequence = g->body->number - 1,
                      .nslots = nslots,
                      .slots = wl_arena_copy(f->arena, g->slots, nslots * sizeof *g->slots),
                      .npages = (uint32_t)npages,
                      .pages = wl_new_array(f->arena, obs_page, npages)};
    bool all = to->slots && to->pages;
    for (uint64_t i = 0; i < npages && all; i++) {
        uint64_t left = g->users - i * WL_PAGE_ITEMS;
        all = pack_places(f, from + i * WL_PAGE_ITEMS, left < WL_PAGE_ITEMS ? left : WL_PAGE_ITEMS,
                          nslots, &to->pages[i]);
    }
    return all;
}

static bool copy_kept(finishing *f)
{
    obs_summary *out = f->out;
    out->sequences = wl_new_array(f->arena, obs_sequence, (size_t)f->nbodies + 1);
    out->warps = wl_new_array(f->arena, obs_warps, f->groups.count + 1);
    bool all = out->sequences && out->warps;
    out->nsequences = all ? f->nbodies : 0;
    out->nwarps = all ? (uint32_t)f->groups.count : 0;
    for (uint32_t i = 0; all && i < out->nwarps; i++) {
        group *g = f->groups.data[i];
        all = copy_group(f, g, f->places + g->place - g->users, &out->warps[i]);
        obs_sequence *to = &out->sequences[g->body->number - 1];
        if (all && !to->pages)
            all = copy_body(f->arena, g->body, to);
    }
    return all;
}

static void forget_kept(obs_sequences *s)
{
    for (size_t i = 0; i < s->blocks.count; i++)
        release_block(s, s->blocks.data[i]);
    wl_vec_free(&s->blocks);
}

wl_status obs_sequences_finish(obs_sequences *s, wl_arena *arena, obs_summary *out)
{
    finishing f = {.s = s, .arena = arena, .out = out};
    if (s->blocks.count)
        qsort(s->blocks.data, s->blocks.count, sizeof *s->blocks.data, blocks_ascend);
    bool all = place_warps(&f) && copy_kept(&f);
    free(f.places);
    free(f.page.data);
    wl_vec_free(&f.groups);
    forget_kept(s);
    return all ? WL_OK : WL_NOMEM;
}

void obs_sequences_free(obs_sequences *s)
{
    if (!s)
        return;
    forget_kept(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
