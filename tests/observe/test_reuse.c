/* Distances between uses of sectors: by hand, and on random logs against the definition in
 * observe/summary.h taken literally. */
#include "patterns.h"
#include "support/test.h"

#include "observe/cost.h"
#include "observe/reuse.h"

#include <string.h>

enum { LINE = 128, BASE = 1 << 20, BLOCK = 7 };

static obs_log recorded;

static int tear_down(void **state)
{
    (void)state;
    obs_log_free(&recorded);
    return 0;
}

static void record(const acc_request *request)
{
    obs_run run;
    bool is_run = obs_find_run(request, &run);
    assert_true(obs_log_add(&recorded, OBS_LOG_BYTES, request, is_run ? &run : NULL, 1, NULL));
}

static void touch_at(uint32_t pc, uint32_t warp, acc_op op, uint32_t line, uint32_t sector)
{
    uint64_t addr[OBS_LANES] = {BASE + line * LINE + sector * OBS_SECTOR_BYTES};
    record(&(acc_request){.pc = pc,
                          .op = op,
                          .space = ACC_GLOBAL,
                          .bytes = 4,
                          .mask = 1,
                          .warp = warp,
                          .addr = addr,
                          .stride = ACC_IRREGULAR,
                          .object = 1});
}

/* One lane, four bytes of the sector; always the same instruction. */
static void touch(uint32_t warp, acc_op op, uint32_t line, uint32_t sector)
{
    touch_at(1, warp, op, line, sector);
}

static void expect_rows(const obs_reuse *want, size_t count)
{
    obs_reuses got = {0};
    assert_true(obs_reuse_of(BLOCK, &recorded, &got));
    assert_int_equal(got.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got.data[i].block, BLOCK);
        assert_int_equal(got.data[i].object, want[i].object);
        assert_int_equal(got.data[i].distance, want[i].distance);
        assert_int_equal(got.data[i].loads, want[i].loads);
        assert_int_equal(got.data[i].stores, want[i].stores);
        assert_int_equal(got.data[i].waits, want[i].waits);
    }
    wl_vec_free(&got);
    obs_log_clear(&recorded);
}

#define EXPECT(...)                                    \
    do {                                               \
        static const obs_reuse rows[] = {__VA_ARGS__}; \
        expect_rows(rows, sizeof rows / sizeof *rows); \
    } while (0)

static void loads_by_hand(void **state)
{
    (void)state;
    expect_rows(NULL, 0);
    touch(0, ACC_LOAD, 0, 0);
    touch(0, ACC_LOAD, 1, 0);
    touch(0, ACC_LOAD, 0, 0);
    EXPECT({.object = 1, .distance = 1, .loads = 1, .waits = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 2, .waits = 2});
    touch(0, ACC_LOAD, 0, 0);
    touch(0, ACC_LOAD, 0, 1); /* another sector of the line */
    touch(0, ACC_LOAD, 0, 0);
    EXPECT({.object = 1, .distance = 0, .loads = 1, .waits = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 2, .waits = 2});
    touch(0, ACC_LOAD, 0, 0);
    touch(0, ACC_LOAD, 1, 0);
    touch(0, ACC_LOAD, 1, 0);
    touch(0, ACC_LOAD, 2, 0);
    touch(0, ACC_LOAD, 0, 1); /* here the line comes back, after two others */
    touch(0, ACC_LOAD, 0, 0);
    EXPECT({.object = 1, .distance = 0, .loads = 1, .waits = 1},
           {.object = 1, .distance = 2, .loads = 1, .waits = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 4, .waits = 4});
}

/* A load follows the last load; a store the last of either. */
static void stores_by_hand(void **state)
{
    (void)state;
    touch(0, ACC_STORE, 0, 0);
    touch(0, ACC_LOAD, 1, 0);
    touch(0, ACC_LOAD, 0, 0);
    EXPECT({.object = 1, .distance = OBS_FIRST_USE, .loads = 2, .waits = 2, .stores = 1});
    touch(0, ACC_LOAD, 0, 0);
    touch(0, ACC_LOAD, 1, 0);
    touch(0, ACC_STORE, 0, 0);
    touch(0, ACC_LOAD, 0, 0); /* the line came back with the store, after one other */
    EXPECT({.object = 1, .distance = 1, .loads = 1, .waits = 1, .stores = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 2, .waits = 2});
    touch(0, ACC_LOAD, 0, 0);
    touch(0, ACC_ATOMIC, 1, 0); /* not through L1 */
    touch(0, ACC_LOAD, 0, 0);
    EXPECT({.object = 1, .distance = 0, .loads = 1, .waits = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 1, .waits = 1});
}

/* A warp after the other in the log; a request of a loop each in turn when distances are counted. */
static void warps_by_hand(void **state)
{
    (void)state;
    touch(3, ACC_LOAD, 5, 0);
    touch(3, ACC_LOAD, 6, 0);
    touch(0, ACC_LOAD, 0, 0);
    touch(0, ACC_LOAD, 1, 0);
    touch(0, ACC_LOAD, 0, 0);
    EXPECT({.object = 1, .distance = 3, .loads = 1, .waits = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 4, .waits = 4});
}

/* Loads one after the other go out together; those of the next turn of a loop, and those after a
 * store, when the other warps had theirs. */
static void bursts_by_hand(void **state)
{
    (void)state;
    for (uint32_t warp = 0; warp < 2; warp++) {
        touch_at(1, warp, ACC_LOAD, 10 * warp, 0);
        touch_at(2, warp, ACC_LOAD, 10 * warp, 0); /* at once */
        touch_at(3, warp, ACC_STORE, 10 * warp + 1, 0);
        touch_at(4, warp, ACC_STORE, 10 * warp + 2, 0);
        touch_at(5, warp, ACC_LOAD, 10 * warp, 0); /* the first warp after five, then the other's
                                                      after 11, 12 and 0 */
        touch_at(1, warp, ACC_LOAD, 10 * warp, 0); /* after the other warp's line */
    }
    EXPECT({.object = 1, .distance = 0, .loads = 2},
           {.object = 1, .distance = 1, .loads = 2, .waits = 2},
           {.object = 1, .distance = 3, .loads = 1, .waits = 1},
           {.object = 1, .distance = 5, .loads = 1, .waits = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 2, .stores = 4, .waits = 2});
}

/* Loads that go out together are waited for together: as long as the farthest of them takes, whichever
 * object that is of. */
static void waits_by_hand(void **state)
{
    (void)state;
    touch_at(1, 0, ACC_LOAD, 0, 0);
    touch_at(2, 0, ACC_LOAD, 1, 0); /* both for the first time: one wait */
    touch_at(1, 0, ACC_LOAD, 0, 0);
    touch_at(2, 0, ACC_LOAD, 1, 0); /* both after the other */
    touch_at(1, 0, ACC_LOAD, 1, 0);
    touch_at(2, 0, ACC_LOAD, 2, 0);  /* this is the farthest */
    touch_at(3, 0, ACC_STORE, 9, 0); /* no load */
    EXPECT({.object = 1, .distance = 0, .loads = 1},
           {.object = 1, .distance = 1, .loads = 2, .waits = 1},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 3, .stores = 1, .waits = 2});
}

/* The mean of an octave's distances, 4 and 7. */
static void octaves_by_hand(void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= 7; i++)
        touch(0, ACC_LOAD, i, 0);
    touch(0, ACC_LOAD, 0, 0);
    touch(0, ACC_LOAD, 4, 0);
    EXPECT({.object = 1, .distance = 6, .loads = 2, .waits = 2},
           {.object = 1, .distance = OBS_FIRST_USE, .loads = 8, .waits = 8});
}

static void whole_warps_by_hand(void **state)
{
    (void)state;
    uint64_t addr[OBS_LANES];
    for (uint32_t i = 0; i < OBS_LANES; i++)
        addr[i] = BASE + 8 * i; /* two lines, eight sectors */
    acc_request request = {.space = ACC_GLOBAL,
                           .bytes = 8,
                           .mask = UINT32_MAX,
                           .addr = addr,
                           .stride = 8,
                           .object = 4};
    record(&request);
    record(&request);
    request.space = ACC_SHARED;
    record(&request);
    EXPECT({.object = 4, .distance = 1, .loads = 8, .waits = 1},
           {.object = 4, .distance = OBS_FIRST_USE, .loads = 8, .waits = 1});
}

/* A log of more touches than are followed: 4096 lines, one after the other, again and again, on
 * two objects. Wherever these lie, the estimate is the same. */
static void long_logs(void **state)
{
    (void)state;
    obs_reuses first = {0}, other = {0};
    for (uint64_t base = BASE; base <= 5 * BASE; base += 4 * BASE) {
        uint64_t addr[OBS_LANES], loads = 0, distances = 0;
        obs_reuses *got = base == BASE ? &first : &other;
        for (uint32_t n = 0; n < 2048; n++) {
            for (uint32_t i = 0; i < OBS_LANES; i++)
                addr[i] = base + (uint64_t)(n % 128 * OBS_LANES + i) * LINE;
            record(&(acc_request){.pc = 1,
                                  .space = ACC_GLOBAL,
                                  .bytes = 4,
                                  .mask = UINT32_MAX,
                                  .addr = addr,
                                  .stride = LINE,
                                  .object = 1 + n % 2});
        }
        assert_true(obs_reuse_of(BLOCK, &recorded, got));
        for (size_t i = 0; i < got->count; i++) {
            loads += got->data[i].loads;
            if (got->data[i].distance != OBS_FIRST_USE)
                distances += got->data[i].distance * got->data[i].loads;
        }
        assert_in_range(loads, 65536 - 8, 65536 + 8);
        assert_in_range(distances / (loads * 15 / 16), 4096 * 9 / 10, 4096 * 11 / 10);
        obs_log_clear(&recorded);
    }
    assert_int_equal(first.count, other.count);
    assert_memory_equal(first.data, other.data, first.count * sizeof *first.data);
    wl_vec_free(&first);
    wl_vec_free(&other);
}

/* ---- the definition ---- */

enum { REQUESTS = 300, WARPS = 4, LINES = 64, TOUCHES = REQUESTS * 96, OBJECTS = 3, OCTAVES = 33 };

static struct {
    acc_request requests[REQUESTS];
    uint64_t addr[REQUESTS][OBS_LANES];
    uint32_t order[REQUESTS], burst[REQUESTS], norder, nbursts; /* burst: of each in order */
    struct {
        uint32_t line, request;
    } touches[TOUCHES];
    uint32_t ntouches;
    bool used[REQUESTS][LINES * 4]; /* sectors */
    uint64_t loads[OBJECTS][OCTAVES + 1], stores[OBJECTS][OCTAVES + 1],
        distances[OBJECTS][OCTAVES + 1], waits[OBJECTS][OCTAVES + 1]; /* the last: first uses */
    struct {
        bool any;
        uint32_t object, octave;
    } farthest[WARPS * REQUESTS]; /* of a burst's loads */
} ref;

static void draw_requests(pattern_rng *rng)
{
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint32_t object = pattern_below(rng, OBJECTS);
        acc_request *r = &ref.requests[i];
        *r = pattern_draw(rng, BASE, 32 * 1024, true, ref.addr[i]);
        for (uint32_t lane = 0; lane < OBS_LANES; lane++) /* into the object's third */
            ref.addr[i][lane] = BASE + object * (LINES / OBJECTS) * LINE +
                                (ref.addr[i][lane] - BASE) % ((LINES / OBJECTS - 1) * LINE);
        r->space = pattern_below(rng, 8) ? ACC_GLOBAL : ACC_SHARED;
        r->warp = pattern_below(rng, WARPS);
        r->pc = 1 + pattern_below(rng, 8);
        r->object = object;
        r->stride = ACC_IRREGULAR;
        record(r);
    }
}

static bool counts(uint32_t i)
{
    const acc_request *r = &ref.requests[i];
    return r->space == ACC_GLOBAL && (r->op == ACC_LOAD || r->op == ACC_STORE);
}

/* The burst of the warp that begins with its first request that is not taken; false: none is left. */
static bool take_burst(uint32_t warp, bool *taken)
{
    const acc_request *last = NULL;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const acc_request *r = &ref.requests[i];
        if (taken[i] || r->warp != warp || !counts(i))
            continue;
        if (last && (r->pc <= last->pc || (last->op == ACC_STORE && r->op == ACC_LOAD)))
            return true;
        taken[i] = true;
        ref.burst[ref.norder] = ref.nbursts;
        ref.order[ref.norder++] = i;
        last = r;
    }
    return last != NULL;
}

static void order_requests(void)
{
    bool taken[REQUESTS] = {0};
    ref.norder = 0;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t warp = 0; warp < WARPS; warp++, ref.nbursts++)
            any |= take_burst(warp, taken);
    }
}

static void touch_line(uint32_t line, uint32_t request)
{
    for (uint32_t i = 0; i < ref.ntouches; i++)
        if (ref.touches[i].line == line && ref.touches[i].request == request)
            return;
    assert_true(ref.ntouches < TOUCHES);
    ref.touches[ref.ntouches].line = line;
    ref.touches[ref.ntouches++].request = request;
}

/* Other lines that were touched between the touches `from` and `to`. */
static uint32_t lines_between(uint32_t from, uint32_t to)
{
    bool seen[LINES] = {0};
    uint32_t count = 0;
    for (uint32_t i = from + 1; i < to; i++) {
        count += !seen[ref.touches[i].line];
        seen[ref.touches[i].line] = true;
    }
    return count;
}

/* The largest between two touches of the line one after the other, from request to request. */
static uint32_t distance_of(uint32_t line, uint32_t from, uint32_t to)
{
    uint32_t last = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < ref.ntouches; i++) {
        if (ref.touches[i].line != line || ref.touches[i].request < from ||
            ref.touches[i].request > to)
            continue;
        uint32_t between = last == UINT32_MAX ? 0 : lines_between(last, i);
        most = between > most ? between : most;
        last = i;
    }
    return most;
}

static void count_use(uint32_t sector, uint32_t n)
{
    const acc_request *r = &ref.requests[ref.order[n]];
    uint32_t octave = OCTAVES, distance = 0;
    for (uint32_t p = n; p-- > 0 && octave == OCTAVES;)
        if (ref.used[p][sector] &&
            (r->op == ACC_STORE || ref.requests[ref.order[p]].op == ACC_LOAD)) {
            distance = distance_of(sector / 4, p, n);
            for (octave = 0; distance >> octave;)
                octave++;
        }
    ref.loads[r->object][octave] += r->op == ACC_LOAD;
    ref.stores[r->object][octave] += r->op == ACC_STORE;
    ref.distances[r->object][octave] += distance;
    uint32_t burst = ref.burst[n];
    if (r->op == ACC_LOAD && (!ref.farthest[burst].any || octave > ref.farthest[burst].octave)) {
        ref.farthest[burst].any = true;
        ref.farthest[burst].object = r->object;
        ref.farthest[burst].octave = octave;
    }
}

static void count_waits(void)
{
    for (uint32_t b = 0; b < ref.nbursts; b++)
        if (ref.farthest[b].any)
            ref.waits[ref.farthest[b].object][ref.farthest[b].octave]++;
}

static void take_request(uint32_t n)
{
    const acc_request *r = &ref.requests[ref.order[n]];
    for (uint32_t lane = 0; lane < OBS_LANES; lane++)
        for (uint32_t i = 0; (r->mask >> lane & 1) && i < r->bytes; i++) {
            uint32_t at = (uint32_t)(r->addr[lane] + i - BASE);
            touch_line(at / LINE, n);
            ref.used[n][at / OBS_SECTOR_BYTES] = true;
        }
    for (uint32_t s = 0; s < LINES * 4; s++)
        if (ref.used[n][s])
            count_use(s, n);
}

static size_t put_rows(obs_reuse *rows)
{
    size_t count = 0;
    for (uint32_t object = 0; object < OBJECTS; object++)
        for (uint32_t k = 0; k <= OCTAVES; k++) {
            uint64_t loads = ref.loads[object][k], stores = ref.stores[object][k];
            uint64_t uses = loads + stores, sum = ref.distances[object][k];
            if (!uses)
                continue;
            rows[count++] = (obs_reuse){
                .object = object,
                .distance = k == OCTAVES ? OBS_FIRST_USE : (uint32_t)((sum + uses / 2) / uses),
                .loads = loads,
                .stores = stores,
                .waits = ref.waits[object][k]};
        }
    return count;
}

static void random_logs_agree(void **state)
{
    (void)state;
    pattern_rng rng = {20261123};
    uint64_t far = 0;
    for (int round = 0; round < 6; round++) {
        obs_reuse rows[OBJECTS * (OCTAVES + 1)];
        memset(&ref, 0, sizeof ref);
        draw_requests(&rng);
        order_requests();
        for (uint32_t n = 0; n < ref.norder; n++)
            take_request(n);
        count_waits();
        size_t count = put_rows(rows);
        for (size_t i = 0; i < count; i++)
            far += rows[i].distance != OBS_FIRST_USE && rows[i].distance > 8;
        expect_rows(rows, count);
    }
    assert_true(far > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(loads_by_hand, tear_down),
        cmocka_unit_test_teardown(stores_by_hand, tear_down),
        cmocka_unit_test_teardown(warps_by_hand, tear_down),
        cmocka_unit_test_teardown(bursts_by_hand, tear_down),
        cmocka_unit_test_teardown(waits_by_hand, tear_down),
        cmocka_unit_test_teardown(octaves_by_hand, tear_down),
        cmocka_unit_test_teardown(whole_warps_by_hand, tear_down),
        cmocka_unit_test_teardown(long_logs, tear_down),
        cmocka_unit_test_teardown(random_logs_agree, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
