/* When launches and copies ran: measured times on the host's clock, and what was not measured. */
#include "support/test.h"

#include "capture/capture.h"
#include "report/timeline.h"

#include <string.h>

enum { US = 1000 };

static wl_arena *arena;

static int open_arena(void **state)
{
    (void)state;
    arena = wl_arena_new();
    return arena ? 0 : -1;
}

static int close_arena(void **state)
{
    (void)state;
    wl_arena_free(arena);
    return 0;
}

static prof_call call(uint32_t id, int64_t start, int64_t end)
{
    return (prof_call){.id = id,
                       .process = 1,
                       .kind = CAP_CALL_LAUNCH,
                       .api = "cudaLaunchKernel",
                       .function = "",
                       .start_ns = start * US,
                       .end_ns = end * US,
                       .device_seconds = -1,
                       .device_start = -1,
                       .ordinal = id};
}

static prof_launch launch(uint32_t id, uint32_t by, uint64_t ordinal, uint32_t stream)
{
    return (prof_launch){.id = id,
                         .process = 1,
                         .call = by,
                         .ordinal = ordinal,
                         .stream = stream,
                         .context = 1,
                         .device_seconds = -1,
                         .device_start = -1};
}

static prof_launch timed(prof_launch l, double start_us, double us)
{
    l.device_start = start_us * 1e-6;
    l.device_seconds = us * 1e-6;
    return l;
}

static rep_timeline timeline_of(prof_call *calls, uint32_t ncalls, prof_launch *launches,
                                uint32_t nlaunches)
{
    static prof_process processes[] = {{.id = 1, .start_ns = 5000000},
                                       {.id = 2, .start_ns = 4000000}};
    const rep_data data = {.processes = {2, processes},
                           .every_call = {ncalls, calls},
                           .every_launch = {nlaunches, launches}};
    rep_timeline timeline;
    wl_error err = {0};
    assert_int_equal(rep_timeline_of(&data, arena, &timeline, &err), WL_OK);
    return timeline;
}

/* From microseconds of process 1, which began 1 ms after the first, to the timeline's clock. */
static void runs(const rep_work *w, double from, double to)
{
    double first = 1e6 + from * US, last = 1e6 + to * US;
    if (w->start < first - 0.01 || w->start > first + 0.01 || w->end < last - 0.01 ||
        w->end > last + 0.01)
        fail_msg("%g to %g, not %g to %g", w->start, w->end, first, last);
}

/* The clock of the device is moved until the launch that began soonest after its call begins with
 * it. */
static void test_measured_times(void **state)
{
    (void)state;
    prof_call calls[] = {call(1, 10, 12), call(2, 20, 22)};
    prof_launch launches[] = {timed(launch(1, 1, 1, 0), 0, 8), timed(launch(2, 2, 2, 0), 9, 5)};
    rep_timeline t = timeline_of(calls, 2, launches, 2);
    assert_int_equal(t.count, 2);
    runs(&t.work[0], 11, 19); /* the second would begin at 19, before it was asked for at 20 */
    runs(&t.work[1], 20, 25);
    assert_true(t.work[0].measured && t.work[1].measured);
}

/* Launches that one call made share its time; the next waits for them. */
static void test_not_measured(void **state)
{
    (void)state;
    prof_call calls[] = {call(1, 10, 16), call(2, 16, 18), call(3, 30, 32)};
    prof_launch launches[] = {launch(1, 1, 1, 0), launch(2, 1, 2, 0), launch(3, 1, 3, 0),
                              launch(4, 2, 4, 0), launch(5, 3, 5, 7)};
    rep_timeline t = timeline_of(calls, 3, launches, 5);
    runs(&t.work[0], 10, 12);
    runs(&t.work[1], 12, 14);
    runs(&t.work[2], 14, 16);
    runs(&t.work[3], 16, 18);
    runs(&t.work[4], 30, 32);
    assert_false(rep_same_stream(&t.work[3], &t.work[4]));
}

/* What was not measured makes room for what was, and comes after it where it was asked for later. */
static void test_some_measured(void **state)
{
    (void)state;
    prof_call calls[] = {call(1, 10, 20), call(2, 12, 14), call(3, 15, 16)};
    prof_launch launches[] = {launch(1, 1, 1, 0), timed(launch(2, 2, 2, 0), 0, 10),
                              launch(3, 3, 3, 0)};
    rep_timeline t = timeline_of(calls, 3, launches, 3);
    runs(&t.work[0], 10, 12);
    runs(&t.work[1], 12, 22);
    runs(&t.work[2], 22, 22);
}

/* A node of a graph lies in the call that launched the graph; of copies only those that ran. */
static void test_nodes_and_copies(void **state)
{
    (void)state;
    prof_call calls[] = {call(1, 10, 20), call(2, 0, 0), call(3, 30, 34), call(4, 40, 41),
                         call(5, 50, 51)};
    calls[1].parent = 1;
    for (int i = 1; i < 5; i++) {
        calls[i].kind = CAP_CALL_COPY;
        calls[i].context = 1;
    }
    calls[3].result = 1;
    calls[4].flags = CAP_CALL_CAPTURED;
    prof_launch launches[] = {launch(1, 1, 1, 0)};
    rep_timeline t = timeline_of(calls, 5, launches, 1);
    assert_int_equal(t.count, 3);
    runs(&t.work[0], 10, 15);
    runs(&t.work[1], 15, 20);
    runs(&t.work[2], 30, 34);
    assert_ptr_equal(t.work[1].own, &calls[1]);
    assert_ptr_equal(t.work[1].call, &calls[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_measured_times, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_not_measured, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_some_measured, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_nodes_and_copies, open_arena, close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
