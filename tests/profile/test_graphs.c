/* Graphs of a profile: nodes, edges, and what each node did in a launch. */
#include "rows.h"
#include "story.h"
#include "support/test.h"

#include <string.h>
#include <unistd.h>

static wl_error err;

/* A kernel and a copy that both wait for a set; the graph's second launch leaves the kernel out. */
static uint32_t types[] = {2, 0, 1};
static cap_edge edges[] = {{0, 1}, {0, 2}};
static uint64_t first[] = {2, 3, 4}, second[] = {6, 0, 7};

static cap_record graph_of(cap_edge *list, uint32_t count)
{
    return (cap_record){.type = CAP_GRAPH,
                        .graph = {.id = 1,
                                  .edges_known = 1,
                                  .nnodes = 3,
                                  .types = types,
                                  .nedges = count,
                                  .edges = list}};
}

static cap_record run_of(uint32_t call, uint64_t *ordinals)
{
    return (cap_record){.type = CAP_GRAPH_RUN,
                        .graph_run = {.call = call, .graph = 1, .nnodes = 3, .ordinals = ordinals}};
}

static cap_record call_of(uint32_t id, const char *api, cap_call_kind kind, uint64_t ordinal)
{
    cap_record r = story_call(id, api, kind);
    r.call.ordinal = ordinal;
    return r;
}

static prof_builder *begin(const char *path)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    const cap_record head = story_process("/src/app");
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    story_expect(prof_add(builder, &head, &err), &err);
    return builder;
}

static int set_up(void **state)
{
    const char *path = story_path("graphs.wlprof");
    prof_builder *builder = begin(path);
    const cap_record records[] = {
        story_module(1),
        call_of(1, "cuGraphLaunch", CAP_CALL_LAUNCH, 1),
        graph_of(edges, 2),
        call_of(2, "cuGraphLaunch", CAP_CALL_SET, 2),
        {.type = CAP_NOTE,
         .note = {.id = 1, .call = 1, .module = 1, .kernel = "_Z5scalePf", .ordinal = 3}},
        call_of(3, "cuGraphLaunch", CAP_CALL_COPY, 4),
        run_of(1, first),
        call_of(4, "cuGraphLaunch", CAP_CALL_LAUNCH, 5),
        call_of(5, "cuGraphLaunch", CAP_CALL_SET, 6),
        call_of(6, "cuGraphLaunch", CAP_CALL_COPY, 7),
        run_of(4, second),
        story_end(),
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    return sqlite3_open_v2(path, (sqlite3 **)state, SQLITE_OPEN_READONLY, NULL);
}

static int tear_down(void **state)
{
    sqlite3_close(*state);
    return unlink(story_path("graphs.wlprof"));
}

static void nodes_have_what_they_did(void **state)
{
    rows_expect(*state,
                "SELECT call || ' ' || node || ' ' || type || ' ' || coalesce(ordinal, '-') || ' ' "
                "|| coalesce(kernel, '-') || ' ' || coalesce(launch, '-') || ' ' || "
                "coalesce(node_call, '-') FROM v_graph_nodes ORDER BY call, node",
                "1 0 set 2 - - 2\n"
                "1 1 kernel 3 scale 1 -\n"
                "1 2 copy 4 - - 3\n"
                "4 0 set 6 - - 5\n"
                "4 1 kernel - - - -\n"
                "4 2 copy 7 - - 6\n");
}

static void edges_are_those_of_each_launch(void **state)
{
    rows_expect(*state,
                "SELECT call || ' ' || source_type || ' ' || source_ordinal || ' ' || target_type "
                "|| ' ' || coalesce(target_ordinal, '-') FROM v_graph_edges ORDER BY call, target",
                "1 set 2 kernel 3\n"
                "1 set 2 copy 4\n"
                "4 set 6 kernel -\n"
                "4 set 6 copy 7\n");
}

static void damaged_graphs_are_refused(void **state)
{
    static cap_edge bad[][2] = {
        {{0, 1}, {1, 1}}, {{0, 1}, {2, 1}}, {{0, 1}, {1, 3}}, {{0, 1}, {UINT32_MAX, 0}}};
    const char *path = story_path("damaged_graphs.wlprof");
    prof_builder *builder = begin(path);
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const cap_record record = graph_of(bad[i], 2);
        assert_int_equal(prof_add(builder, &record, &err), WL_CORRUPT);
    }
    cap_record nameless = graph_of(edges, 2), run = run_of(0, first);
    nameless.graph.id = 0;
    assert_int_equal(prof_add(builder, &nameless, &err), WL_CORRUPT);
    assert_int_equal(prof_add(builder, &run, &err), WL_CORRUPT);
    prof_discard(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_what_they_did),
        cmocka_unit_test(edges_are_those_of_each_launch),
        cmocka_unit_test(damaged_graphs_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
