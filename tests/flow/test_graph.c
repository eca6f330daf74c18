/* Graphs against definitions, on many small random ones and some by hand. */
#include "reference.h"

enum { GRAPHS = 1500, MAX_NODES = 12 };

typedef struct sample {
    flow_mem mem;
    flow_graph g;
    uint64_t seed;
    uint32_t root, exit;
    void (*check)(struct sample *);
} sample;

/* Every node is reached from 0 and reaches the last one, as the graphs of functions are. */
static void make(sample *s, uint32_t n)
{
    flow_edge edges[8 * MAX_NODES];
    uint32_t count = 0;
    for (uint32_t v = 1; v < n; v++)
        edges[count++] = (flow_edge){rnd(&s->seed, v), v};
    for (uint32_t v = 0; v + 1 < n; v++)
        edges[count++] = (flow_edge){v, v + 1 + rnd(&s->seed, n - 1 - v)};
    for (uint32_t extra = rnd(&s->seed, n); extra; extra--)
        edges[count++] = (flow_edge){rnd(&s->seed, n - 1), rnd(&s->seed, n)};
    uint32_t kept = 0; /* nothing leaves the exit */
    for (uint32_t i = 0; i < count; i++)
        if (edges[i].from != n - 1)
            edges[kept++] = edges[i];
    flow_graph_make(&s->mem, n, edges, kept, &s->g);
    s->root = 0;
    s->exit = n - 1;
}

static void in_guard(void *ctx)
{
    sample *s = ctx;
    make(s, 2 + rnd(&s->seed, MAX_NODES - 2));
    s->check(s);
}

static void for_many(void (*check)(sample *))
{
    for (uint64_t i = 1; i <= GRAPHS; i++) {
        sample s = {.mem.arena = wl_arena_new(), .seed = i * 977, .check = check};
        assert_int_equal(flow_guard(&s.mem, in_guard, &s), WL_OK);
        wl_arena_free(s.mem.arena);
    }
}

static void check_dominators(sample *s)
{
    flow_tree tree;
    flow_dominators(&s->mem, &s->g, s->root, &tree);
    for (uint32_t a = 0; a < s->g.n; a++)
        for (uint32_t b = 0; b < s->g.n; b++)
            if (flow_dominates(&tree, a, b) != ref_dominates(&s->g, s->root, a, b))
                fail_msg("seed %llu: %u and %u", (unsigned long long)s->seed, a, b);
}

static void dominators_are_those_of_the_definition(void **state)
{
    (void)state;
    for_many(check_dominators);
}

static void check_frontiers(sample *s)
{
    flow_tree tree;
    flow_rows rows;
    flow_dominators(&s->mem, &s->g, s->root, &tree);
    flow_frontiers(&s->mem, &s->g, &tree, &rows);
    for (uint32_t v = 0; v < s->g.n; v++)
        for (uint32_t w = 0; w < s->g.n; w++) {
            bool expected = false, found = false;
            for (uint32_t i = s->g.pred_first[w]; i < s->g.pred_first[w + 1]; i++)
                expected |= ref_dominates(&s->g, s->root, v, s->g.pred[i]);
            expected &= v == w || !ref_dominates(&s->g, s->root, v, w);
            for (uint32_t i = rows.first[v]; i < rows.first[v + 1]; i++)
                found |= rows.item[i] == w;
            assert_int_equal(found, expected);
        }
}

static void frontiers_are_those_of_the_definition(void **state)
{
    (void)state;
    for_many(check_frontiers);
}

static void check_control(sample *s)
{
    flow_tree post;
    flow_rows rows;
    flow_graph back = flow_graph_reverse(&s->g);
    flow_dominators(&s->mem, &back, s->exit, &post);
    flow_control_dependence(&s->mem, &s->g, &post, &rows);
    for (uint32_t v = 0; v < s->g.n; v++)
        for (uint32_t c = 0; c < s->g.n; c++) {
            bool found = false;
            for (uint32_t i = rows.first[v]; i < rows.first[v + 1]; i++)
                found |= rows.item[i] == c;
            if (found != ref_depends(&s->g, s->exit, v, c))
                fail_msg("seed %llu: %u on %u", (unsigned long long)s->seed, v, c);
        }
}

static void control_dependence_is_that_of_the_definition(void **state)
{
    (void)state;
    for_many(check_control);
}

/* Every node that two disjoint paths reach is found, up to the post-dominator, where all meet.
 * Joins of joins may be found too: they cost precision only. */
static void check_joins(sample *s)
{
    uint32_t order[MAX_NODES], number[MAX_NODES], scratch[MAX_NODES], out[MAX_NODES];
    flow_graph back = flow_graph_reverse(&s->g);
    flow_tree post;
    flow_graph_order(&s->mem, &s->g, s->root, order, number);
    flow_dominators(&s->mem, &back, s->exit, &post);
    for (uint32_t v = 0; v < s->g.n; v++)
        scratch[v] = FLOW_NONE;
    for (uint32_t branch = 0; branch < s->g.n; branch++) {
        if (flow_nsucc(&s->g, branch) < 2)
            continue;
        uint32_t count = flow_joins(&s->g, number, order, branch, post.parent[branch], scratch,
                                    out);
        for (uint32_t v = 0; v < s->g.n; v++) {
            bool found = false;
            assert_int_equal(scratch[v], FLOW_NONE);
            for (uint32_t i = 0; i < count; i++)
                found |= out[i] == v;
            if (!found && v != branch && ref_joins(&s->g, branch, post.parent[branch], v))
                fail_msg("seed %llu: branch %u joins at %u", (unsigned long long)s->seed, branch,
                         v);
        }
    }
}

static void joins_are_found(void **state)
{
    (void)state;
    for_many(check_joins);
}

static void check_loops(sample *s)
{
    flow_tree dom;
    flow_loops loops;
    flow_dominators(&s->mem, &s->g, s->root, &dom);
    flow_find_loops(&s->mem, &s->g, &dom, s->root, &loops);
    for (uint32_t h = 0; h < s->g.n; h++) {
        uint32_t loop = FLOW_NONE;
        for (uint32_t l = 0; l < loops.count; l++)
            if (loops.loops[l].header == h)
                loop = l;
        bool headed = false;
        for (uint32_t i = s->g.pred_first[h]; i < s->g.pred_first[h + 1]; i++)
            headed |= ref_dominates(&s->g, s->root, h, s->g.pred[i]);
        assert_int_equal(loop != FLOW_NONE, headed);
        /* a node is in the loop when the header dominates it and it reaches a back edge without the
         * header */
        for (uint32_t v = 0; headed && v < s->g.n; v++) {
            bool inside = v == h;
            for (uint32_t i = s->g.pred_first[h]; i < s->g.pred_first[h + 1]; i++)
                inside |= ref_dominates(&s->g, s->root, h, s->g.pred[i]) &&
                          ref_reaches(&s->g, v, s->g.pred[i], h) && v != h;
            bool listed = false;
            for (uint32_t n = 0; n < loops.loops[loop].count; n++)
                listed |= loops.nodes[loops.loops[loop].first + n] == v;
            assert_int_equal(listed, inside);
            if (flow_in_loop(&loops, loop, v))
                assert_true(inside);
        }
        if (headed && loops.loops[loop].parent != FLOW_NONE) {
            uint32_t parent = loops.loops[loop].parent;
            assert_true(parent < loop);
            assert_int_equal(loops.loops[loop].depth, loops.loops[parent].depth + 1);
        }
    }
}

static void loops_are_natural(void **state)
{
    (void)state;
    for_many(check_loops);
}

static void by_hand(void *ctx)
{
    /* 0 -> 1 -> {2, 3}, 2 -> 4, 3 -> 4, 4 -> {1, 5}: a diamond in a loop */
    static const flow_edge edges[] = {{0, 1}, {1, 2}, {1, 3}, {2, 4},
                                      {3, 4}, {4, 1}, {4, 5}, {1, 2}};
    sample *s = ctx;
    flow_tree dom, post;
    flow_rows control;
    flow_loops loops;
    flow_graph_make(&s->mem, 6, edges, 8, &s->g);
    assert_int_equal(flow_nsucc(&s->g, 1), 2); /* the edge given twice is one */
    flow_graph back = flow_graph_reverse(&s->g);
    flow_dominators(&s->mem, &s->g, 0, &dom);
    flow_dominators(&s->mem, &back, 5, &post);
    assert_int_equal(dom.parent[4], 1);
    assert_int_equal(post.parent[1], 4);
    flow_control_dependence(&s->mem, &s->g, &post, &control);
    assert_int_equal(control.first[2 + 1] - control.first[2], 1);
    assert_int_equal(control.item[control.first[2]], 1);
    assert_int_equal(control.item[control.first[1]], 4); /* the loop's body depends on its end */
    assert_int_equal(control.item[control.first[4]], 4);
    flow_find_loops(&s->mem, &s->g, &dom, 0, &loops);
    assert_int_equal(loops.count, 1);
    assert_int_equal(loops.loops[0].header, 1);
    assert_int_equal(loops.loops[0].count, 4);
    assert_false(loops.irreducible);
}

static void a_diamond_in_a_loop(void **state)
{
    (void)state;
    sample s = {.mem.arena = wl_arena_new()};
    assert_int_equal(flow_guard(&s.mem, by_hand, &s), WL_OK);
    wl_arena_free(s.mem.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dominators_are_those_of_the_definition),
        cmocka_unit_test(frontiers_are_those_of_the_definition),
        cmocka_unit_test(control_dependence_is_that_of_the_definition),
        cmocka_unit_test(joins_are_found),
        cmocka_unit_test(loops_are_natural),
        cmocka_unit_test(a_diamond_in_a_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
