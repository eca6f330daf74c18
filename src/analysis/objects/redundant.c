/* Which objects can take over whose memory: the one pass of the paper. The nearest object to the
 * left of a fitting size is found in a tree over the sizes. */
#include "analysis/objects/patterns.h"

#include <math.h>
#include <stdlib.h>

typedef struct visit { /* of an object's first or last access */
    uint32_t level, object;
    bool last;
} visit;

typedef struct sized {
    uint64_t bytes;
    uint32_t device, object;
} sized;

typedef struct walk {
    const obj_trace *trace;
    uint32_t count, leaves;
    visit *visits;     /* two an object, from the left */
    sized *sizes;      /* by device and size */
    uint32_t *rank_of; /* of an object in sizes */
    /* By rank: 1 + the visit of the last access, as long as the object is initial; inner nodes: the
     * most of both below. */
    uint32_t *nearest;
    double apart;
    uint32_t *reuses;
} walk;

static int by_level(const void *a, const void *b)
{
    const visit *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->last != y->last)
        return y->last ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static int by_fit(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static void set_nearest(walk *w, uint32_t rank, uint32_t value)
{
    uint32_t node = rank + w->leaves;
    w->nearest[node] = value;
    for (node /= 2; node; node /= 2) {
        uint32_t left = w->nearest[2 * node], right = w->nearest[2 * node + 1];
        w->nearest[node] = left > right ? left : right;
    }
}

static uint32_t most_in(const walk *w, uint32_t first, uint32_t end)
{
    uint32_t most = 0;
    for (first += w->leaves, end += w->leaves; first < end; first /= 2, end /= 2) {
        if (first & 1) {
            most = w->nearest[first] > most ? w->nearest[first] : most;
            first++;
        }
        if (end & 1) {
            end--;
            most = w->nearest[end] > most ? w->nearest[end] : most;
        }
    }
    return most;
}

/* The first rank that is not before so many bytes on the device. */
static uint32_t rank_of_size(const walk *w, uint32_t device, uint64_t bytes)
{
    const sized wanted = {bytes, device, 0};
    uint32_t low = 0, high = w->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_fit(&w->sizes[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Its first access was met: it is done, and takes memory over. */
static void take_memory(walk *w, uint32_t object)
{
    const obj_object *o = &w->trace->objects.data[object];
    double part = 1 - w->apart, bytes = (double)o->bytes;
    uint64_t least = (uint64_t)ceil(bytes * part), most = (uint64_t)floor(bytes / part);
    uint32_t found = most_in(w, rank_of_size(w, o->device, least),
                             rank_of_size(w, o->device, most + 1));
    if (!found)
        return;
    w->reuses[object] = w->visits[found - 1].object;
    set_nearest(w, w->rank_of[w->reuses[object]], 0);
}

static void walk_back(walk *w)
{
    for (uint32_t i = 0; i < 2 * w->count; i++)
        if (w->visits[i].last)
            set_nearest(w, w->rank_of[w->visits[i].object], i + 1);
    for (uint32_t i = 2 * w->count; i-- > 0;) {
        const visit *v = &w->visits[i];
        if (v->last) /* in use from here on to the left, unless it is reused already */
            set_nearest(w, w->rank_of[v->object], 0);
        else
            take_memory(w, v->object);
    }
}

static void list_visits(walk *w, const obj_lives *lives, const bool *wanted)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->trace->objects.count; i++) {
        const obj_object *o = &w->trace->objects.data[i];
        const obj_life *life = &lives->rows[i];
        w->reuses[i] = OBJ_NONE;
        if (!wanted[i] || !life->accesses)
            continue;
        w->sizes[n] = (sized){o->bytes, o->device, i};
        w->visits[2 * n] = (visit){life->soonest, i, false};
        w->visits[2 * n + 1] = (visit){life->latest, i, true};
        n++;
    }
    w->count = n;
    if (n) {
        qsort(w->sizes, n, sizeof *w->sizes, by_fit);
        qsort(w->visits, 2 * (size_t)n, sizeof *w->visits, by_level);
    }
    for (uint32_t i = 0; i < n; i++)
        w->rank_of[w->sizes[i].object] = i;
}

uint32_t *obj_find_reuses(const obj_trace *trace, const obj_lives *lives, const bool *wanted,
                          double apart)
{
    size_t n = trace->objects.count;
    walk w = {.trace = trace, .leaves = 1, .apart = apart};
    while (w.leaves < n)
        w.leaves *= 2;
    w.visits = malloc((2 * n + 1) * sizeof *w.visits);
    w.sizes = malloc((n + 1) * sizeof *w.sizes);
    w.rank_of = malloc((n + 1) * sizeof *w.rank_of);
    w.nearest = calloc(2 * (size_t)w.leaves, sizeof *w.nearest);
    w.reuses = malloc((n + 1) * sizeof *w.reuses);
    bool good = w.visits && w.sizes && w.rank_of && w.nearest && w.reuses;
    if (good) {
        list_visits(&w, lives, wanted);
        walk_back(&w);
    }
    free(w.visits);
    free(w.sizes);
    free(w.rank_of);
    free(w.nearest);
    if (!good)
        free(w.reuses);
    return good ? w.reuses : NULL;
}
