/* A table of kinds of launches. */
#include "replay/expected.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct kind_key {
    uint64_t kernel; /* a hash of its name */
    uint32_t capture, module, grid[3], block[3], cluster[3], dynamic_shared;
} kind_key;

/* What reading and proving a kernel's code costs besides, in threads. */
enum { THREADS_OF_KIND = 1 << 14 };

struct expected_kind {
    kind_key key;
    double weight;
    bool met;
    UT_hash_handle hh;
};

static kind_key key_of_note(uint32_t capture, const cap_note *n)
{
    kind_key key;
    memset(&key, 0, sizeof key); /* what lies between members, too */
    key.kernel = XXH3_64bits(n->kernel, strlen(n->kernel));
    key.capture = capture;
    key.module = n->module;
    memcpy(key.grid, n->grid, sizeof key.grid);
    memcpy(key.block, n->block, sizeof key.block);
    memcpy(key.cluster, n->cluster, sizeof key.cluster);
    key.dynamic_shared = n->dynamic_shared;
    return key;
}

static expected_kind *find_expected_kind(const replay_expected *e, const kind_key *key)
{
    expected_kind *found = NULL;
    HASH_FIND(hh, e->kinds, key, sizeof *key, found);
    return found;
}

static double weight_of(const kind_key *key)
{
    double threads = THREADS_OF_KIND, block = 1, grid = 1;
    for (int i = 0; i < 3; i++) {
        block *= key->block[i];
        grid *= key->grid[i];
    }
    return threads + grid * block;
}

wl_status replay_expected_count(replay_expected *e, uint32_t capture, const cap_note *note)
{
    kind_key key = key_of_note(capture, note);
    if (find_expected_kind(e, &key))
        return WL_OK;
    expected_kind *made = calloc(1, sizeof *made);
    if (!made)
        return WL_NOMEM;
    made->key = key;
    HASH_ADD(hh, e->kinds, key, sizeof made->key, made);
    if (!made->hh.tbl) {
        free(made);
        return WL_NOMEM;
    }
    made->weight = weight_of(&key);
    e->left++;
    e->weight += made->weight;
    return WL_OK;
}

double replay_expected_meet(replay_expected *e, uint32_t capture, const cap_note *note)
{
    kind_key key = key_of_note(capture, note);
    expected_kind *kind = find_expected_kind(e, &key);
    if (!kind || kind->met)
        return 0;
    double part = e->left > 1 ? kind->weight / e->weight : 1;
    kind->met = true;
    e->left--;
    e->weight -= kind->weight;
    return part < 1 ? part : 1;
}

void replay_expected_free(replay_expected *e)
{
    expected_kind *kind, *next;
    HASH_ITER (hh, e->kinds, kind, next) {
        HASH_DEL(e->kinds, kind);
        free(kind);
    }
    *e = (replay_expected){0};
}
