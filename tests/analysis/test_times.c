/* Times of launches that were not timed: a kernel's launches, worked through by hand. */
#include "analysis/times.h"
#include "support/test.h"

static prof_launch launch(uint32_t kernel, uint32_t blocks, bool recorded, double seconds)
{
    return (prof_launch){.count = 1,
                         .kernel = kernel,
                         .grid = {blocks, 1, 1},
                         .block = {32, 1, 1},
                         .recorded = recorded,
                         .timed = seconds >= 0,
                         .device_seconds = seconds,
                         .device_least = seconds,
                         .device_most = seconds};
}

static void estimates(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_launch rows[] = {
        launch(1, 8, false, 2),  launch(1, 8, false, 4), launch(1, 8, false, -1), /* the mean: 3 */
        launch(1, 9, true, 50),  /* only recorded: as measured */
        launch(1, 9, false, -1), /* nothing better is known: 50 */
        launch(1, 8, true, 70),  /* without probes 3 */
        launch(1, 5, false, -1), /* no launch of its shape: 3 */
        launch(2, 8, false, -1), /* no launch of its kernel */
        launch(3, 8, false, 0),  /* too short for the clock, but timed */
    };
    const double want[] = {2, 4, 3, 50, 50, 3, 3, -1, 0};
    prof_launch_rows launches = {sizeof rows / sizeof *rows, rows};
    double *seconds = ana_launch_seconds(&launches, arena);
    assert_non_null(seconds);
    for (uint32_t i = 0; i < launches.count; i++)
        assert_true(seconds[i] == want[i]);
    ana_device_time t = ana_device_time_of(&launches, seconds, 1);
    assert_int_equal(t.launches, 7);
    assert_int_equal(t.timed, 4);
    assert_true(t.seconds == 115 && t.least == 2 && t.most == 70);
    t = ana_device_time_of(&launches, seconds, 2);
    assert_true(t.launches == 1 && t.timed == 0 && t.seconds < 0);
    t = ana_device_time_of(&launches, seconds, 3);
    assert_true(t.timed == 1 && t.seconds == 0);
    wl_arena_free(arena);
}

/* Launches that are alike, in one row: five of which two were timed, and two that recorded. */
static void launches_alike(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_launch rows[] = {launch(1, 8, false, 6), launch(1, 8, true, 100)};
    rows[0].count = 5;
    rows[0].timed = rows[1].timed = rows[1].count = 2;
    rows[0].device_least = 2;
    rows[0].device_most = 4;
    rows[1].device_least = 40;
    rows[1].device_most = 60;
    prof_launch_rows launches = {2, rows};
    double *seconds = ana_launch_seconds(&launches, arena);
    assert_non_null(seconds);
    assert_true(seconds[0] == 6 + 3 * 3 && seconds[1] == 2 * 3);
    ana_device_time t = ana_device_time_of(&launches, seconds, 1);
    assert_true(t.launches == 7 && t.timed == 4 && t.seconds == 21 && t.least == 2 && t.most == 60);
    wl_arena_free(arena);
}

/* What differs in the block or in dynamic shared memory only is another kind. */
static void shapes(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_launch rows[] = {launch(1, 8, false, 1), launch(1, 8, false, 3), launch(1, 8, false, -1),
                          launch(1, 8, false, 5), launch(1, 8, false, -1)};
    rows[1].block[0] = rows[2].block[0] = 64;
    rows[3].dynamic_shared = rows[4].dynamic_shared = 100;
    prof_launch_rows launches = {5, rows};
    double *seconds = ana_launch_seconds(&launches, arena);
    assert_non_null(seconds);
    assert_true(seconds[2] == 3 && seconds[4] == 5);
    wl_arena_free(arena);
}

static prof_transfer moved(uint32_t kind, uint32_t from, uint32_t to, uint64_t bytes,
                           double seconds)
{
    return (prof_transfer){.kind = kind,
                           .source_object = from,
                           .target_object = to,
                           .count = 1,
                           .bytes = bytes,
                           .timed = seconds > 0,
                           .timed_bytes = seconds > 0 ? bytes : 0,
                           .device_seconds = seconds > 0 ? seconds : 0};
}

/* Objects 1 and 2 lie on the device, 3 is pinned; 0 is memory of the host that nobody
 * registered. */
static void directions(void **state)
{
    (void)state;
    prof_object memory[] = {{.id = 1, .kind = CAP_OBJECT_DEVICE},
                            {.id = 2, .kind = CAP_OBJECT_MANAGED},
                            {.id = 3, .kind = CAP_OBJECT_PINNED}};
    prof_transfer rows[] = {moved(CAP_CALL_COPY, 0, 1, 10, 2),  moved(CAP_CALL_COPY, 3, 1, 20, -1),
                            moved(CAP_CALL_COPY, 2, 3, 40, 4),  moved(CAP_CALL_COPY, 1, 2, 80, -1),
                            moved(CAP_CALL_COPY, 0, 3, 160, 1), moved(CAP_CALL_SET, 0, 1, 320, 8)};
    ana_copy_sum s[ANA_DIRECTIONS];
    ana_copies(&(prof_transfer_rows){6, rows}, &(prof_object_rows){3, memory}, s);
    const ana_copy_sum *in = &s[ANA_COPY_TO_DEVICE];
    assert_true(in->calls == 2 && in->bytes == 30 && in->timed == 1 && in->timed_bytes == 10);
    assert_true(in->seconds == 2);
    assert_true(s[ANA_COPY_TO_HOST].bytes == 40 && s[ANA_COPY_TO_HOST].seconds == 4);
    assert_true(s[ANA_COPY_ON_DEVICE].bytes == 80 && s[ANA_COPY_ON_DEVICE].timed == 0);
    assert_true(s[ANA_COPY_ON_HOST].bytes == 160 && s[ANA_COPY_SET].bytes == 320);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates),
        cmocka_unit_test(launches_alike),
        cmocka_unit_test(shapes),
        cmocka_unit_test(directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
