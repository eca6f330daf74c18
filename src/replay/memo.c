/* Keys of launches, and the results that were worked out for them. */
#include "replay/memo.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#define XXH_STATIC_LINKING_ONLY /* states on the stack */
#include <xxhash.h>

enum { ALIGNMENT = 256, WORD = 8 };

typedef struct place { /* an object as it was */
    uint32_t object;
    uint64_t base;
} place;

typedef struct entry {
    uint64_t hash[2];
    uint32_t launch;
    uint64_t warp_instructions, thread_instructions;
    bool fixed; /* it accessed memory of no object, which cannot be followed */
    uint32_t nobjects, nothers;
    uint32_t *objects; /* that parameters led to, as in the key */
    place *others;     /* that it accessed besides */
    UT_hash_handle hh;
} entry;

struct replay_memo {
    entry *entries;
    uint64_t bytes;
};

replay_memo *replay_memo_new(void)
{
    return calloc(1, sizeof(replay_memo));
}

static void entry_free(entry *e)
{
    if (!e)
        return;
    free(e->objects);
    free(e->others);
    free(e);
}

void replay_memo_free(replay_memo *memo)
{
    entry *e, *next;
    if (!memo)
        return;
    HASH_ITER (hh, memo->entries, e, next) {
        HASH_DEL(memo->entries, e);
        entry_free(e);
    }
    free(memo);
}

uint64_t replay_memo_bytes(const replay_memo *memo)
{
    return memo->bytes;
}

/* ---- keys ---- */

enum { WORDS = 64 }; /* flow_proof.compared tells so many apart */

typedef struct maker {
    XXH3_state_t *state;
    replay_find find;
    void *ctx;
    replay_key *key;
    uint64_t
        pointed[WORDS]; /* objects of the key that words of the parameters point to, a bit each */
} maker;

static void add_to_key(maker *m, uint64_t value)
{
    XXH3_128bits_update(m->state, &value, sizeof value);
}

static void add_dim(maker *m, emu_dim d)
{
    add_to_key(m, d.x | (uint64_t)d.y << 32);
    add_to_key(m, d.z);
}

/* The number of the object among those of the key; REPLAY_OBJECTS where there is no room. */
static uint32_t ordinal_of(replay_key *key, const emu_alloc *alloc)
{
    uint32_t n = 0;
    while (n < key->nobjects &&
           (key->objects[n].base != alloc->base || key->objects[n].id != alloc->id))
        n++;
    if (n == key->nobjects && n < REPLAY_OBJECTS)
        key->objects[key->nobjects++] = *alloc;
    return n;
}

/* A pointer to an object, or to the byte after its last. */
static bool add_pointer_to_key(maker *m, uint32_t word, uint64_t value)
{
    emu_alloc alloc;
    bool found = m->find(m->ctx, value, &alloc) || (value && m->find(m->ctx, value - 1, &alloc));
    uint32_t ordinal = found ? ordinal_of(m->key, &alloc) : REPLAY_OBJECTS;
    if (ordinal == REPLAY_OBJECTS)
        return false;
    m->key->divided |= alloc.divided;
    m->pointed[word % WORDS] |= UINT64_C(1) << ordinal;
    add_to_key(m, 1);
    add_to_key(m, ordinal | (uint64_t)alloc.kind << 32);
    add_to_key(m, value - alloc.base);
    add_to_key(m, alloc.size);
    add_to_key(m, alloc.base % ALIGNMENT);
    return true;
}

static void add_word(maker *m, const replay_launch *l, uint32_t at)
{
    uint32_t bytes = l->facts->param_bytes - at < WORD ? l->facts->param_bytes - at : WORD;
    uint64_t whole = 0, value = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        bool counts = l->facts->param_used[at + i];
        uint64_t byte = (uint64_t)((const uint8_t *)l->params)[at + i] << 8 * i;
        whole |= byte;
        value |= counts ? byte : 0;
        used += counts;
    }
    if ((used == WORD || (l->pointers && bytes == WORD)) && add_pointer_to_key(m, at / WORD, whole))
        return;
    add_to_key(m, 0);
    add_to_key(m, value);
}

/* Of the objects that the words of one comparison point to. */
static uint64_t compared_objects(const maker *m, uint64_t words)
{
    uint64_t objects = 0;
    for (uint32_t w = 0; w < WORDS; w++)
        objects |= words >> w & 1 ? m->pointed[w] : 0;
    return objects;
}

static bool order_matters(const maker *m, const flow_proof *proof)
{
    for (uint32_t i = 0; i < proof->ncompared; i++) {
        uint64_t objects = compared_objects(m, proof->compared[i]);
        if (objects & (objects - 1))
            return true;
    }
    return false;
}

/* Which of the objects lies before which, where the kernel may ask. */
static void add_order(maker *m, const flow_proof *proof)
{
    if (!order_matters(m, proof))
        return;
    for (uint32_t i = 0; i < m->key->nobjects; i++) {
        uint64_t below = 0;
        for (uint32_t k = 0; k < m->key->nobjects; k++)
            below += m->key->objects[k].base < m->key->objects[i].base;
        add_to_key(m, below);
    }
}

void replay_key_of(const replay_launch *l, replay_find find, void *ctx, replay_key *key)
{
    XXH3_state_t state;
    maker m = {.state = &state, .find = find, .ctx = ctx, .key = key};
    key->nobjects = 0;
    key->divided = false;
    XXH3_128bits_reset(&state);
    add_to_key(&m, l->kernel);
    add_dim(&m, l->grid);
    add_dim(&m, l->block);
    add_dim(&m, l->cluster);
    add_to_key(&m, l->dynamic_shared | (uint64_t)l->device << 32);
    add_to_key(&m, l->cooperative);
    add_to_key(&m, l->constants);
    for (uint32_t at = 0; at < l->facts->param_bytes; at += WORD)
        add_word(&m, l, at);
    add_order(&m, &l->facts->proof);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    key->hash[0] = hash.low64;
    key->hash[1] = hash.high64;
}

/* ---- looking up ---- */

static int by_from(const void *a, const void *b)
{
    const cap_move *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static bool others_live(const entry *e, replay_find find, void *ctx)
{
    for (uint32_t i = 0; i < e->nothers; i++) {
        emu_alloc alloc;
        if (!find(ctx, e->others[i].base, &alloc) || alloc.id != e->others[i].object ||
            alloc.divided)
            return false;
    }
    return true;
}

bool replay_memo_get(const replay_memo *memo, const replay_key *key, replay_find find, void *ctx,
                     replay_known *out)
{
    entry *e = NULL;
    HASH_FIND(hh, memo->entries, key->hash, sizeof e->hash, e);
    if (!e || key->divided || !others_live(e, find, ctx))
        return false;
    out->launch = e->launch;
    out->warp_instructions = e->warp_instructions;
    out->thread_instructions = e->thread_instructions;
    out->nmoves = 0;
    for (uint32_t i = 0; i < e->nobjects; i++)
        if (e->objects[i] != key->objects[i].id)
            out->moves[out->nmoves++] = (cap_move){e->objects[i], key->objects[i].id};
    qsort(out->moves, out->nmoves, sizeof *out->moves, by_from);
    return !(e->fixed && out->nmoves);
}

/* ---- keeping ---- */

static bool has_object(const entry *e, uint32_t object)
{
    for (uint32_t i = 0; i < e->nobjects; i++)
        if (e->objects[i] == object)
            return true;
    for (uint32_t i = 0; i < e->nothers; i++)
        if (e->others[i].object == object)
            return true;
    return false;
}

static bool add_accessed_object(entry *e, uint32_t object, uint8_t space, replay_find_object find,
                                void *ctx)
{
    emu_alloc alloc;
    if (space == ACC_SHARED || space == ACC_LOCAL || has_object(e, object))
        return true;
    if (object == 0 || !find(ctx, object, &alloc)) {
        e->fixed = true;
        return object == 0;
    }
    if (alloc.part || alloc.divided) /* other parts may lie there the next time */
        return false;
    place *grown = realloc(e->others, (e->nothers + 1) * sizeof *grown);
    if (!grown)
        return false;
    e->others = grown;
    e->others[e->nothers++] = (place){object, alloc.base};
    return true;
}

/* False where a launch that accessed this cannot be repeated by its key alone. */
static bool note_accessed_objects(entry *e, const replay_key *key, const obs_summary *s,
                                  replay_find_object find, void *ctx)
{
    bool ok = true;
    e->objects = malloc((key->nobjects + 1) * sizeof *e->objects);
    if (!e->objects)
        return false;
    for (uint32_t i = 0; i < key->nobjects; i++)
        e->objects[e->nobjects++] = key->objects[i].id;
    for (uint32_t i = 0; i < s->ninsns && ok; i++)
        ok = add_accessed_object(e, s->insns[i].object, s->insns[i].space, find, ctx);
    for (uint32_t i = 0; i < s->nheats && ok; i++)
        ok = add_accessed_object(e, s->heats[i].object, s->heats[i].space, find, ctx);
    return ok;
}

/* In the place of what the memo has for its hash. */
static void put_entry(replay_memo *memo, entry *e)
{
    entry *old = NULL;
    HASH_FIND(hh, memo->entries, e->hash, sizeof e->hash, old);
    if (old) {
        HASH_DEL(memo->entries, old);
        entry_free(old);
    } else {
        memo->bytes += sizeof *e + e->nobjects * sizeof *e->objects +
                       e->nothers * sizeof *e->others;
    }
    HASH_ADD(hh, memo->entries, hash, sizeof e->hash, e);
}

static void forget_entry(replay_memo *memo, const replay_key *key)
{
    entry *old = NULL;
    HASH_FIND(hh, memo->entries, key->hash, sizeof old->hash, old);
    if (!old)
        return;
    HASH_DEL(memo->entries, old);
    entry_free(old);
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    return copy && bytes ? memcpy(copy, data, bytes) : copy;
}

void replay_memo_copy(const replay_memo *from, const replay_key *found, replay_memo *to,
                      const replay_key *key)
{
    entry *e = NULL, *copy;
    HASH_FIND(hh, from->entries, found->hash, sizeof e->hash, e);
    copy = e ? calloc(1, sizeof *copy) : NULL;
    if (copy) {
        *copy = *e;
        memset(&copy->hh, 0, sizeof copy->hh);
        copy->objects = copy_of(e->objects, e->nobjects * sizeof *e->objects);
        copy->others = copy_of(e->others, e->nothers * sizeof *e->others);
        memcpy(copy->hash, key->hash, sizeof copy->hash);
    }
    if (copy && copy->objects && copy->others) {
        put_entry(to, copy);
        return;
    }
    entry_free(copy);
    forget_entry(to, key);
}

void replay_memo_put(replay_memo *memo, const replay_key *key, uint32_t launch,
                     const obs_summary *summary, replay_find_object find, void *ctx)
{
    entry *e = calloc(1, sizeof *e);
    if (!e || key->divided || !note_accessed_objects(e, key, summary, find, ctx)) {
        entry_free(e);
        return;
    }
    memcpy(e->hash, key->hash, sizeof e->hash);
    e->launch = launch;
    e->warp_instructions = summary->warp_instructions;
    e->thread_instructions = summary->thread_instructions;
    put_entry(memo, e);
}
