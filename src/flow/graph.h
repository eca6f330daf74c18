/* Directed graphs and what control flow needs of them. Nothing here knows of PTX. */
#ifndef WL_FLOW_GRAPH_H
#define WL_FLOW_GRAPH_H

#include "flow/mem.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_NONE UINT32_MAX

typedef struct flow_edge {
    uint32_t from, to;
} flow_edge;

/* The successors of node v are succ[succ_first[v] .. succ_first[v + 1] - 1], in the order in which
 * the edges were given, predecessors likewise. No edge stands twice. */
typedef struct flow_graph {
    uint32_t n;
    uint32_t *succ_first, *succ;
    uint32_t *pred_first, *pred;
} flow_graph;

/* Edges given twice are kept once. */
void flow_graph_make(flow_mem *mem, uint32_t n, const flow_edge *edges, uint32_t count,
                     flow_graph *out);
/* The same graph with every edge turned round. Shares the arrays. */
flow_graph flow_graph_reverse(const flow_graph *g);

static inline uint32_t flow_nsucc(const flow_graph *g, uint32_t v)
{
    return g->succ_first[v + 1] - g->succ_first[v];
}

/* Reverse postorder of a depth-first walk from `root`; nodes that it does not reach are left out.
 * number[v] is the place of v in order[], FLOW_NONE for those. Returns how many there are. */
uint32_t flow_graph_order(flow_mem *mem, const flow_graph *g, uint32_t root, uint32_t *order,
                          uint32_t *number);

/* A tree of dominators: parent[root] and parent of unreached nodes are FLOW_NONE. `in` and `out`
 * number the tree's walk, so that ancestors are told apart in constant time. */
typedef struct flow_tree {
    uint32_t root;
    uint32_t *parent;   /* [n] immediate dominator */
    uint32_t *in, *out; /* [n] 0 for unreached nodes */
} flow_tree;

/* Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm". On the reversed graph it gives
 * post-dominators. */
void flow_dominators(flow_mem *mem, const flow_graph *g, uint32_t root, flow_tree *out);
/* Is a an ancestor of b or b itself? False where either is unreached. */
bool flow_dominates(const flow_tree *tree, uint32_t a, uint32_t b);

/* Lists of nodes for each node, in compressed rows as in flow_graph. */
typedef struct flow_rows {
    uint32_t *first, *item;
} flow_rows;

/* Dominance frontiers (Cytron et al.). */
void flow_frontiers(flow_mem *mem, const flow_graph *g, const flow_tree *tree, flow_rows *out);
/* Control dependence (Ferrante, Ottenstein, Warren): the nodes c with several successors such that
 * v post-dominates a successor of c, and does not strictly post-dominate c itself. post is the tree
 * of the reversed graph. */
void flow_control_dependence(flow_mem *mem, const flow_graph *g, const flow_tree *post,
                             flow_rows *out);

/* A natural loop, of all back edges to one header. */
typedef struct flow_loop {
    uint32_t header;
    uint32_t parent;       /* the innermost loop around it, or FLOW_NONE */
    uint32_t depth;        /* 1 for outermost */
    uint32_t first, count; /* its nodes, inner loops' too: nodes[first ..] */
} flow_loop;

typedef struct flow_loops {
    flow_loop *loops; /* an outer loop stands before those within it */
    uint32_t count;
    uint32_t *nodes;
    uint32_t *of;     /* [n] the innermost loop of a node, or FLOW_NONE */
    bool irreducible; /* there are cycles without a header that dominates them; they are in no loop
                       */
} flow_loops;

void flow_find_loops(flow_mem *mem, const flow_graph *g, const flow_tree *dom, uint32_t root,
                     flow_loops *out);
bool flow_in_loop(const flow_loops *loops, uint32_t loop, uint32_t node);

/* Nodes where two paths from different successors of `branch` first meet: what is merged there
 * depends on the branch. Appends them to out[] (room for n) and returns their number. `scratch` has
 * n words, FLOW_NONE before and after. */
uint32_t flow_joins(const flow_graph *g, const uint32_t *number, const uint32_t *order,
                    uint32_t branch, uint32_t stop, uint32_t *scratch, uint32_t *out);

#endif
