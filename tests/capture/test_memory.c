/* Memory runs out anywhere while a capture is read, or made to fit: then that is said. */
#include "capture/encode.h"
#include "capture/records.h"
#include "sample.h"
#include "support/scarce.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The records of the file in order, as long as nothing fails. */
static wl_status read_all(const char *path, const cap_record *want, uint32_t *count)
{
    cap_reader *reader = NULL;
    wl_error err = {0};
    wl_status status = cap_open(path, &reader, &err);
    bool end = false;
    for (*count = 0; status == WL_OK && !end;) {
        cap_record record;
        status = cap_read(reader, &record, &end, &err);
        if (status == WL_OK && !end)
            assert_true(sample_equal(&record, &want[(*count)++]));
    }
    cap_reader_free(reader);
    return status;
}

static void reading(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    cap_record records[SAMPLE_TYPES];
    uint64_t ends[SAMPLE_TYPES];
    uint32_t count;
    size_t refused = 0;
    const char *path = sample_path(arena, "memory");
    sample_file(path, 7, 40, records, ends, arena);
    for (bool failed = true; failed;) {
        scarce_fail(refused + 1);
        wl_status status = read_all(path, records, &count);
        failed = scarce_failed();
        scarce_fail(0);
        assert_int_equal(status, failed ? WL_NOMEM : WL_OK);
        assert_true(failed || count == SAMPLE_TYPES);
        refused += failed;
    }
    assert_true(refused > 1);
    unlink(path);
    wl_arena_free(arena);
}

static void fitting(void **state)
{
    (void)state;
    obs_heat *heats, heat = {.nrows = 4, .rows = (obs_heat_row[4]){{.sector = 1}}};
    obs_use *uses, use = {.object = 1, .spans = "spans", .length = 5};
    cap_launch launch = {.kernel = "k", .fault = "", .summary = {.nheats = 1, .heats = &heat}};
    cap_uses all = {.launch = 1, .count = 1, .uses = &use};
    cap_launch small_launch;
    cap_uses small_uses;
    uint32_t left_out;
    scarce_fail(1);
    assert_int_equal(cap_fit_launch(&launch, 10, &small_launch, &heats), WL_NOMEM);
    assert_null(heats);
    scarce_fail(1);
    assert_int_equal(cap_fit_uses(&all, 10, &small_uses, &uses, &left_out), WL_NOMEM);
    assert_null(uses);
    scarce_fail(0);
}

/* What was lent is left for memory of its own when it does not suffice. */
static void growing(void **state)
{
    (void)state;
    uint8_t lent[8];
    cap_buffer b = {.data = lent, .capacity = sizeof lent, .lent = true};
    memcpy(cap_reserve(&b, 8), "12345678", 8);
    assert_true(b.lent && b.data == lent);
    scarce_fail(1);
    assert_null(cap_reserve(&b, 1));
    assert_int_equal(b.status, WL_NOMEM);
    assert_true(b.lent && b.size == 8);
    assert_null(cap_reserve(&b, 1)); /* it does not go on */
    b.status = WL_OK;
    for (size_t size = 8; size < 5000; size += 31)
        memset(cap_reserve(&b, 31), 'x', 31);
    assert_false(b.lent);
    assert_memory_equal(b.data, "12345678xxx", 11);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),
        cmocka_unit_test(fitting),
        cmocka_unit_test(growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
