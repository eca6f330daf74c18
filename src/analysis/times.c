/* How long launches took on a GPU, and what copies moved in which direction. */
#include "analysis/times.h"

#include <string.h>
#include <uthash.h>

typedef struct kind_key { /* shape 0: all of the kernel */
    uint32_t kernel, grid[3], block[3], shared, recorded;
} kind_key;

typedef struct kind {
    kind_key key;
    double seconds;
    uint64_t timed;
    UT_hash_handle hh;
} kind;

static kind_key kind_key_of(const prof_launch *l, bool shape, bool recorded)
{
    kind_key key = {.kernel = l->kernel, .recorded = recorded};
    if (shape) {
        memcpy(key.grid, l->grid, sizeof key.grid);
        memcpy(key.block, l->block, sizeof key.block);
        key.shared = l->dynamic_shared;
    }
    return key;
}

static kind *find_launch_kind(kind *kinds, const kind_key *key)
{
    kind *k = NULL;
    HASH_FIND(hh, kinds, key, sizeof *key, k);
    return k;
}

static bool add_timed_launch(kind **kinds, const prof_launch *l, bool shape, wl_arena *arena)
{
    kind_key key = kind_key_of(l, shape, l->recorded);
    kind *k = find_launch_kind(*kinds, &key);
    if (!k) {
        k = wl_new(arena, kind);
        if (!k)
            return false;
        k->key = key;
        HASH_ADD(hh, *kinds, key, sizeof k->key, k);
    }
    k->seconds += l->device_seconds;
    k->timed += l->timed;
    return true;
}

static double estimate(kind *kinds, const prof_launch *l)
{
    for (int shape = 1; shape >= 0; shape--) {
        for (int recorded = 0; recorded <= 1; recorded++) {
            kind_key key = kind_key_of(l, shape, recorded);
            const kind *k = find_launch_kind(kinds, &key);
            if (k)
                return k->seconds / (double)k->timed;
        }
    }
    return -1;
}

static bool list_kinds(const prof_launch_rows *launches, kind **kinds, wl_arena *arena)
{
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        if (l->timed && (!add_timed_launch(kinds, l, true, arena) ||
                         !add_timed_launch(kinds, l, false, arena))) {
            return false;
        }
    }
    return true;
}

double *ana_launch_seconds(const prof_launch_rows *launches, wl_arena *arena)
{
    kind *kinds = NULL;
    double *seconds = wl_new_array(arena, double, (size_t)launches->count + 1);
    bool listed = seconds && list_kinds(launches, &kinds, arena);
    for (uint32_t i = 0; listed && i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        uint64_t own = l->recorded ? 0 : l->timed;
        double each = own < l->count ? estimate(kinds, l) : 0;
        seconds[i] = each < 0 ? -1
                              : (own ? l->device_seconds : 0) + each * (double)(l->count - own);
    }
    HASH_CLEAR(hh, kinds);
    return listed ? seconds : NULL;
}

ana_device_time ana_device_time_of(const prof_launch_rows *launches, const double *seconds,
                                   uint32_t kernel)
{
    ana_device_time t = {.seconds = -1};
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        if (l->kernel != kernel)
            continue;
        t.launches += l->count;
        if (seconds[i] >= 0)
            t.seconds = (t.seconds < 0 ? 0 : t.seconds) + seconds[i];
        if (!l->timed)
            continue;
        t.least = t.timed && t.least < l->device_least ? t.least : l->device_least;
        t.most = l->device_most > t.most ? l->device_most : t.most;
        t.timed += l->timed;
    }
    return t;
}

/* ---- copies ---- */

static const struct {
    const char *name, *words;
} directions[] = {
#define X(id, name, words) {name, words},
#include "analysis/copies.def"
#undef X
};

const char *ana_direction_name(ana_direction direction)
{
    return directions[direction].name;
}

const char *ana_direction_words(ana_direction direction)
{
    return directions[direction].words;
}

static bool on_device(const prof_object_rows *objects, uint32_t id)
{
    const prof_object *o = id ? prof_find_object(objects, id) : NULL;
    return o && o->kind != CAP_OBJECT_PINNED && o->kind != CAP_OBJECT_REGISTERED;
}

static ana_direction direction_of(const prof_transfer *c, const prof_object_rows *objects)
{
    bool from = on_device(objects, c->source_object), to = on_device(objects, c->target_object);
    if (c->kind == CAP_CALL_SET)
        return ANA_COPY_SET;
    return from ? (to ? ANA_COPY_ON_DEVICE : ANA_COPY_TO_HOST)
                : (to ? ANA_COPY_TO_DEVICE : ANA_COPY_ON_HOST);
}

void ana_copies(const prof_transfer_rows *transfers, const prof_object_rows *objects,
                ana_copy_sum sums[ANA_DIRECTIONS])
{
    memset(sums, 0, ANA_DIRECTIONS * sizeof *sums);
    for (uint32_t i = 0; i < transfers->count; i++) {
        const prof_transfer *c = &transfers->rows[i];
        ana_copy_sum *sum = &sums[direction_of(c, objects)];
        sum->calls += c->count;
        sum->bytes += c->bytes;
        sum->timed += c->timed;
        sum->timed_bytes += c->timed_bytes;
        sum->seconds += c->device_seconds;
    }
}
