/* The order in which the nodes of a graph run: as its edges have it and, beyond that, as they were
 * added. And these edges, by places in that order. */
#include "shim/hooks/hook.h"

#include <stdlib.h>
#include <string.h>

enum { LAST = UINT32_MAX }; /* of a list of edges */

typedef struct place { /* of a node */
    CUgraphNode node;
    uint32_t waits; /* for so many nodes that have not run */
    uint32_t first; /* of its edges to others */
    uint32_t at;    /* its place in the order, once it is done */
    bool done;
    UT_hash_handle hh;
} place;

typedef struct edge {
    place *from, *to;
    uint32_t next; /* of the same node */
} edge;

typedef struct order {
    place *places, *by_node;
    edge *edges;
    CUgraphNode *from, *to; /* of each edge, as the driver tells */
    size_t count, nedges;
} order;

static bool ask_for_edges(CUgraph source, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphGetEdges,
                             (CUgraph, CUgraphNode *, CUgraphNode *, size_t *), source, from, to,
                             count);
    if (result != CUDA_SUCCESS) /* from CUDA 13 on, or since edges have data */
        result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphGetEdges_v2,
                        (CUgraph, CUgraphNode *, CUgraphNode *, void *, size_t *), source, from, to,
                        NULL, count);
    return result == CUDA_SUCCESS;
}

/* False where the driver does not tell. */
static bool read_edges(order *o, CUgraph source)
{
    size_t n = 0;
    if (!ask_for_edges(source, NULL, NULL, &n) || n >= LAST)
        return false;
    if (!n)
        return true;
    o->nedges = n;
    o->from = calloc(n, sizeof(CUgraphNode));
    o->to = calloc(n, sizeof(CUgraphNode));
    o->edges = calloc(n, sizeof *o->edges);
    o->places = calloc(o->count, sizeof *o->places);
    return o->from && o->to && o->edges && o->places && ask_for_edges(source, o->from, o->to, &n) &&
           n == o->nedges;
}

static place *place_of_graph_node(const order *o, CUgraphNode node)
{
    place *p = NULL;
    HASH_FIND_PTR(o->by_node, &node, p);
    return p;
}

static void link_places(order *o, const CUgraphNode *nodes)
{
    for (size_t i = 0; i < o->count; i++) {
        place *p = &o->places[i];
        p->node = nodes[i];
        p->first = LAST;
        HASH_ADD_PTR(o->by_node, node, p);
    }
    for (uint32_t i = 0; i < o->nedges; i++) {
        place *from = place_of_graph_node(o, o->from[i]), *to = place_of_graph_node(o, o->to[i]);
        if (!from || !to)
            continue;
        to->waits++;
        o->edges[i] = (edge){from, to, from->first};
        from->first = i;
    }
}

static void finish_graph_node(const order *o, place *p)
{
    p->done = true;
    for (uint32_t i = p->first; i != LAST; i = o->edges[i].next)
        o->edges[i].to->waits--;
}

/* A circle, which no driver instantiates, keeps what is left of the order. */
static void sort(const order *o, CUgraphNode *nodes)
{
    size_t done = 0, before;
    do {
        before = done;
        for (size_t i = 0; i < o->count; i++) {
            if (o->places[i].done || o->places[i].waits)
                continue;
            finish_graph_node(o, &o->places[i]);
            o->places[i].at = (uint32_t)done;
            nodes[done++] = o->places[i].node;
        }
    } while (done > before && done < o->count);
    for (size_t i = 0; i < o->count; i++)
        if (!o->places[i].done)
            nodes[done++] = o->places[i].node;
}

/* Of nodes in a circle none. */
static bool list_edges(const order *o, hook_edges *out)
{
    for (size_t i = 0; i < o->nedges; i++) {
        const edge *e = &o->edges[i];
        if (e->from && e->from->done && e->to->done &&
            !wl_push(out, (cap_edge){e->from->at, e->to->at}))
            return false;
    }
    return true;
}

static int by_target(const void *a, const void *b)
{
    const cap_edge *x = a, *y = b;
    return x->to != y->to ? (x->to > y->to) - (x->to < y->to)
                          : (x->from > y->from) - (x->from < y->from);
}

bool hook_sort_nodes(CUgraph source, CUgraphNode *nodes, size_t count, hook_edges *edges)
{
    order o = {.count = count};
    bool known = count < LAST && read_edges(&o, source);
    if (known && o.nedges) {
        link_places(&o, nodes);
        sort(&o, nodes);
        known = list_edges(&o, edges);
        qsort(edges->data, edges->count, sizeof *edges->data, by_target);
    }
    HASH_CLEAR(hh, o.by_node);
    free(o.places);
    free(o.edges);
    free(o.from);
    free(o.to);
    return known;
}
