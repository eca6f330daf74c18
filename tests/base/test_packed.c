/* What is packed in numbers of seven bits a byte: the numbers themselves, spans of elements, pages of
 * steps. Written bytes are compared with those that the headers describe, and read back; whatever is
 * cut off or out of range is damage. */
#include "base/order.h"
#include "base/spans.h"
#include "base/steps.h"
#include "base/varint.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static void test_numbers_at_the_edges_of_bytes(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint64_t edge = bits < 64 ? UINT64_C(1) << bits : 0;
        const uint64_t numbers[] = {edge - 1, edge, edge + 1};
        for (int i = 0; i < 3; i++) {
            uint8_t bytes[WL_VARINT_BYTES];
            const uint8_t *end = wl_varint_put(bytes, numbers[i]), *at = bytes;
            size_t needed = 1;
            for (uint64_t rest = numbers[i] >> 7; rest; rest >>= 7)
                needed++;
            assert_int_equal(end - bytes, needed);
            uint64_t number;
            assert_true(wl_varint_get(&at, end, &number));
            assert_true(number == numbers[i] && at == end);
            at = bytes;
            assert_false(wl_varint_get(&at, end - 1, &number));
        }
    }
}

static bool is_number(const char *bytes, size_t size, uint64_t expected)
{
    const uint8_t *at = (const uint8_t *)bytes;
    uint64_t number;
    return wl_varint_get(&at, at + size, &number) && number == expected;
}

static void test_numbers_of_more_than_64_bits(void **state)
{
    (void)state;
    assert_true(is_number("\xac\x02", 2, 300));
    assert_true(is_number("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, UINT64_C(1) << 63));
    assert_false(is_number("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10, 0));
    assert_false(is_number("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, 0));
    assert_false(is_number("", 0, 0));
}

static void test_order_of_numbers(void **state)
{
    (void)state;
    uint64_t a = 1, b = UINT64_MAX;
    assert_true(wl_by_number(&a, &b) < 0);
    assert_true(wl_by_number(&b, &a) > 0);
    assert_int_equal(wl_by_number(&b, &b), 0);
}

/* ---- spans ---- */

static void assert_spans(const wl_spans *spans, const char *bytes, size_t size)
{
    assert_int_equal(spans->size, size);
    assert_memory_equal(spans->data, bytes, size);
}

/* Spans that touch are one where their counts are equal; what is empty is left out. */
static void test_spans_that_touch(void **state)
{
    (void)state;
    wl_spans spans = {.counted = true};
    const wl_span added[] = {
        {3, 2, {1, 0, 0}}, {5, 4, {1, 0, 0}},  {9, 1, {1, 0, 2}},  {10, 0, {1, 1, 1}},
        {10, 5, {0}},      {20, 1, {1, 0, 2}}, {21, 1, {0, 7, 0}},
    };
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        wl_spans_add(&spans, &added[i]);
    assert_true(wl_spans_finish(&spans));
    assert_spans(&spans,
                 "\3\6\1\0\0"
                 "\0\1\1\0\2"
                 "\12\1\1\0\2"
                 "\0\1\0\7\0",
                 20);
    assert_true(wl_spans_finish(&spans));
    assert_int_equal(spans.size, 20);
    wl_spans_free(&spans);
    assert_true(spans.counted && !spans.data && !spans.size && !spans.end);
}

static void test_spans_without_counts(void **state)
{
    (void)state;
    wl_spans spans = {0};
    const wl_span added[] = {{0, 1, {0}}, {1, 1, {1, 2, 3}}, {3, 128, {0}}};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        wl_spans_add(&spans, &added[i]);
    assert_true(wl_spans_finish(&spans));
    assert_spans(&spans,
                 "\0\2"
                 "\1\x80\1",
                 5);
    wl_span_reader reader = wl_spans_read(spans.data, spans.size, false);
    wl_span span;
    assert_true(wl_span_next(&reader, &span) && span.first == 0 && span.count == 2);
    assert_true(wl_span_next(&reader, &span) && span.first == 3 && span.count == 128);
    assert_false(wl_span_next(&reader, &span));
    assert_true(!span.count && !reader.damaged);
    wl_spans_free(&spans);
}

/* More than fits into the first room, which grows. */
static void test_many_spans(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    wl_spans spans = {.counted = true};
    for (uint64_t i = 0; i < MANY; i++)
        wl_spans_add(&spans, &(wl_span){i << 50, 1 + i, {i << 55 | 1, i, ~i}});
    assert_true(wl_spans_finish(&spans));
    assert_true(spans.size <= spans.capacity);
    wl_span_reader reader = wl_spans_read(spans.data, spans.size, true);
    wl_span span;
    for (uint64_t i = 0; i < MANY; i++) {
        assert_true(wl_span_next(&reader, &span));
        assert_true(span.first == i << 50 && span.count == 1 + i);
        assert_true(span.times[0] == (i << 55 | 1) && span.times[1] == i && span.times[2] == ~i);
    }
    assert_false(wl_span_next(&reader, &span) || reader.damaged);
    wl_spans_free(&spans);
}

static bool span_is_damaged(const char *bytes, size_t size, bool counted)
{
    wl_span_reader reader = wl_spans_read(bytes, size, counted);
    wl_span span;
    while (wl_span_next(&reader, &span))
        continue;
    assert_int_equal(span.first + span.count, 0);
    return reader.damaged;
}

#define FULL "\xff\xff\xff\xff\xff\xff\xff\xff\x7f" /* 2^63 - 1 */

static void test_damaged_spans(void **state)
{
    (void)state;
    assert_false(span_is_damaged("", 0, true));
    assert_false(span_is_damaged("\1\1\1\0\0", 5, true));
    assert_true(span_is_damaged("\1\1\1\0", 4, true));
    assert_true(span_is_damaged("\1\1\0\0\0", 5, true));
    assert_false(span_is_damaged("\1\1\0\0\1", 5, true));
    assert_true(span_is_damaged("\1\0\1\0\0", 5, true));
    assert_true(span_is_damaged("\1\0", 2, false));
    assert_true(span_is_damaged("\1", 1, false));
    assert_false(span_is_damaged("\0" FULL, 10, false));
    assert_true(span_is_damaged("\1" FULL, 10, false));
    assert_true(span_is_damaged("\1\1" FULL "\1", 12, false));
    assert_true(span_is_damaged("\x80\x80\x80\x80\x80\x80\x80\x80\x80\1\1", 11, false));
}

/* ---- sums of spans ---- */

/* Sums of two arrays of 8 elements, every element by itself. */
static void test_sums_of_every_overlap(void **state)
{
    (void)state;
    enum { N = 8 };
    for (unsigned mask = 0; mask < 1u << N; mask += 3)
        for (unsigned other = 0; other < 1u << N; other += 5) {
            wl_spans a = {.counted = true}, b = {.counted = true}, sum = {.counted = true},
                     expected = {.counted = true};
            for (unsigned i = 0; i < N; i++) {
                uint64_t x = mask >> i & 1, y = 2 * (other >> i & 1);
                wl_spans_add(&a, &(wl_span){i, 1, {x, 0, 0}});
                wl_spans_add(&b, &(wl_span){i, 1, {y, y, 0}});
                wl_spans_add(&expected, &(wl_span){i, 1, {x + y, y, 0}});
            }
            assert_true(wl_spans_finish(&a) && wl_spans_finish(&b) && wl_spans_finish(&expected));
            wl_span_reader ra = wl_spans_read(a.data, a.size, true),
                           rb = wl_spans_read(b.data, b.size, true);
            assert_true(wl_spans_sum(&ra, &rb, &sum));
            assert_int_equal(sum.size, expected.size);
            if (sum.size)
                assert_memory_equal(sum.data, expected.data, sum.size);
            wl_spans_free(&a);
            wl_spans_free(&b);
            wl_spans_free(&sum);
            wl_spans_free(&expected);
        }
}

static void test_sums_with_damage(void **state)
{
    (void)state;
    wl_span_reader good = wl_spans_read("\1\1", 2, false), bad = wl_spans_read("\1", 1, false);
    wl_spans sum = {0};
    assert_true(wl_spans_sum(&good, &good, &sum));
    assert_false(wl_spans_sum(&good, &bad, &sum));
    assert_false(wl_spans_sum(&bad, &good, &sum));
    wl_spans_free(&sum);
}

/* ---- pages ---- */

/* A step whose active lanes are those of `mask`, `stride` bytes apart. */
static wl_step step_of(uint32_t pc, uint32_t mask, uint32_t slot, int64_t offset, int64_t stride)
{
    wl_step step = {.pc = pc, .mask = mask, .slot = slot};
    uint32_t first = (uint32_t)__builtin_ctz(mask);
    for (uint32_t lane = first; slot < WL_STEP_ENTRY && lane < WL_STEP_LANES; lane++)
        if (mask >> lane & 1)
            step.offset[lane] = (int64_t)((uint64_t)offset + (uint64_t)stride * (lane - first));
    return step;
}

static void assert_same_step(const wl_step *a, const wl_step *b)
{
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->mask, b->mask);
    assert_int_equal(a->slot, b->slot);
    assert_memory_equal(a->offset, b->offset, sizeof a->offset);
}

static void test_bytes_of_steps(void **state)
{
    (void)state;
    wl_page_writer page = {0};
    wl_step all = step_of(3, UINT32_MAX, 0, -2, 4);
    wl_step barrier = step_of(2, UINT32_MAX, WL_STEP_BARRIER, 0, 0);
    wl_step entry = step_of(4, 5, WL_STEP_ENTRY, 0, 0);
    wl_step two = step_of(2, 5, 1, 1, 0);
    wl_step odd = step_of(2, 7, 1, 1, 0);
    two.offset[2] = 4; /* three bytes over two lanes: no stride */
    odd.offset[1] = 0;
    assert_true(wl_page_put_step(&page, &all) && wl_page_put_step(&page, &barrier));
    assert_true(wl_page_put_step(&page, &entry));
    assert_true(wl_page_put_step(&page, &two) && wl_page_put_step(&page, &odd));
    static const char bytes[] =
        "\6\xff\xff\xff\xff\x0f\2\3\x09" /* pc +3; all lanes; slot 0; -2; 4 apart */
        "\1\0\0"                         /* pc -1; the same lanes; a barrier */
        "\4\xfa\xff\xff\xff\x0f\1"       /* pc +2; lanes 0 and 2; an entry */
        "\3\0\3\6\0\6"                   /* pc -2; slot 1; +3; a lane by itself: +3 */
        "\0\2\3\0\0\1\2";                /* a lane more; -1, +1 */
    assert_int_equal(page.size, sizeof bytes - 1);
    assert_memory_equal(page.data, bytes, page.size);
    assert_int_equal(page.count, 5);
    wl_page_reader reader = wl_page_read(page.data, page.size, 2);
    const wl_step *steps[] = {&all, &barrier, &entry, &two, &odd};
    wl_step step;
    for (int i = 0; i < 5; i++) {
        assert_true(wl_page_step(&reader, &step));
        assert_true(step.pc == steps[i]->pc && step.mask == steps[i]->mask);
        assert_int_equal(step.slot, steps[i]->slot);
        assert_int_equal(wl_step_accesses(&step), i != 1 && i != 2);
        if (wl_step_accesses(&step))
            assert_same_step(&step, steps[i]);
    }
    assert_false(wl_page_step(&reader, &step) || reader.damaged);
    wl_page_clear(&page);
    assert_true(!page.size && !page.count && !page.pc && !page.mask && page.capacity);
    free(page.data);
}

/* A stride is told from the first active lane on, whichever that is. */
static void test_bytes_of_a_stride(void **state)
{
    (void)state;
    wl_page_writer page = {0};
    wl_step step = step_of(0, 6, 0, 8, 4);
    assert_true(wl_page_put_step(&page, &step));
    assert_int_equal(page.size, 5);
    assert_memory_equal(page.data, "\0\6\2\20\11", 5);
    free(page.data);
}

/* Lanes apart by what 64 bits hold, and one that no number of a stride holds. */
static void test_offsets_at_the_edges_of_64_bits(void **state)
{
    (void)state;
    static const int64_t strides[] = {0, 1, -1, INT64_MAX, -INT64_MAX, INT64_MIN};
    static const int64_t offsets[] = {0, INT64_MAX, INT64_MIN};
    static const uint32_t masks[] = {1, 0x80000000, 3, 0xc0000000, 0xffffffff, 0x80000001};
    for (int i = 0; i < 6 * 3 * 6; i++) {
        wl_page_writer page = {0};
        wl_step written = step_of(UINT32_MAX, masks[i % 6], 63, offsets[i / 6 % 3],
                                  strides[i / 18]),
                read;
        assert_true(wl_page_put_step(&page, &written));
        wl_page_reader reader = wl_page_read(page.data, page.size, 64);
        assert_true(wl_page_step(&reader, &read));
        assert_same_step(&read, &written);
        reader = wl_page_read(page.data, page.size, 63);
        assert_false(wl_page_step(&reader, &read));
        for (size_t size = 1; size < page.size; size++) {
            reader = wl_page_read(page.data, size, 64);
            assert_false(wl_page_step(&reader, &read));
            assert_true(reader.damaged);
        }
        free(page.data);
    }
}

static bool is_step(const char *bytes, size_t size)
{
    wl_page_reader reader = wl_page_read(bytes, size, 1);
    wl_step step;
    return wl_page_step(&reader, &step) && !reader.damaged;
}

static void test_damaged_steps(void **state)
{
    (void)state;
    assert_true(is_step("\0\1\0", 3));
    assert_false(is_step("\1\1\0", 3));                   /* pc -1 */
    assert_true(is_step("\xfe\xff\xff\xff\x1f\1\0", 7));  /* pc 2^32 - 1 */
    assert_false(is_step("\x80\x80\x80\x80\x20\1\0", 7)); /* pc 2^32 */
    assert_false(is_step("\0\0\0", 3));                   /* no lane */
    assert_true(is_step("\0\xff\xff\xff\xff\x0f\0", 7));  /* 32 lanes */
    assert_false(is_step("\0\x80\x80\x80\x80\x10\0", 7)); /* a 33rd */
    assert_true(is_step("\0\1\1", 3));                    /* an entry */
    assert_true(is_step("\0\1\2\0\1", 5));                /* slot 0 */
    assert_false(is_step("\0\1\3\0\1", 5));               /* slot 1 of 1 */
    /* Numbers that would be taken for a barrier or an entry if they were cut to 32 bits. */
    assert_false(is_step("\0\1\x80\x80\x80\x80\x10", 7));
    assert_false(is_step("\0\1\x81\x80\x80\x80\x10", 7));
}

static void test_warps(void **state)
{
    (void)state;
    wl_page_writer page = {0};
    wl_warp warps[] = {{.block = 3, .number = 31, .begin = {256, -1}},
                       {.block = 3, .number = 0, .begin = {256, -1}},
                       {.block = UINT64_MAX, .number = 1, .begin = {INT64_MAX, INT64_MIN}}};
    for (int i = 0; i < 3; i++)
        assert_true(wl_page_put_warp(&page, &warps[i], 2));
    assert_memory_equal(page.data,
                        "\3\37\x80\4\1"
                        "\0\0\0\0",
                        9);
    wl_page_reader reader = wl_page_read(page.data, page.size, 2);
    wl_warp warp;
    for (int i = 0; i < 3; i++) {
        assert_true(wl_page_warp(&reader, &warp));
        assert_memory_equal(&warp, &warps[i], sizeof warp);
    }
    assert_false(wl_page_warp(&reader, &warp) || reader.damaged);
    free(page.data);
}

static bool is_warp(const char *bytes, size_t size, uint32_t nslots)
{
    wl_page_reader reader = wl_page_read(bytes, size, nslots);
    wl_warp warp;
    bool any = false;
    while (wl_page_warp(&reader, &warp))
        any = true;
    return any && !reader.damaged;
}

static void test_damaged_warps(void **state)
{
    (void)state;
    assert_true(is_warp("\1\37", 2, 0));
    assert_false(is_warp("\1\40", 2, 0)); /* warp 32 of a block of 32 */
    assert_false(is_warp("\1", 1, 0));
    assert_false(is_warp("\1\1\1", 3, 2));
    assert_false(is_warp("", 0, 0));
    assert_false(is_warp("\1\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1", 13,
                         0)); /* blocks descend */
    char bytes[2 + WL_MOST_SLOTS + 1] = {0};
    assert_true(is_warp(bytes, 2 + WL_MOST_SLOTS, WL_MOST_SLOTS));
    assert_false(is_warp(bytes, 2 + WL_MOST_SLOTS + 1, WL_MOST_SLOTS + 1));
}

/* A page of more than its first room, of steps that are as long as steps can be. */
static void test_a_page_grows(void **state)
{
    (void)state;
    wl_page_writer page = {0};
    wl_step odd = step_of(0, UINT32_MAX, 0, 0, 0), read;
    for (uint32_t lane = 0; lane < WL_STEP_LANES; lane++)
        odd.offset[lane] = lane % 2 ? INT64_MIN / 2 : INT64_MAX / 2;
    for (uint32_t i = 0; i < 100; i++) {
        odd.pc = i % 2 ? UINT32_MAX : 0;
        assert_true(wl_page_put_step(&page, &odd));
        assert_true(page.size <= page.capacity);
    }
    wl_page_reader reader = wl_page_read(page.data, page.size, 1);
    for (uint32_t i = 0; i < 100; i++) {
        odd.pc = i % 2 ? UINT32_MAX : 0;
        assert_true(wl_page_step(&reader, &read));
        assert_same_step(&read, &odd);
    }
    free(page.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_at_the_edges_of_bytes),
        cmocka_unit_test(test_numbers_of_more_than_64_bits),
        cmocka_unit_test(test_order_of_numbers),
        cmocka_unit_test(test_spans_that_touch),
        cmocka_unit_test(test_spans_without_counts),
        cmocka_unit_test(test_many_spans),
        cmocka_unit_test(test_damaged_spans),
        cmocka_unit_test(test_sums_of_every_overlap),
        cmocka_unit_test(test_sums_with_damage),
        cmocka_unit_test(test_bytes_of_steps),
        cmocka_unit_test(test_bytes_of_a_stride),
        cmocka_unit_test(test_offsets_at_the_edges_of_64_bits),
        cmocka_unit_test(test_damaged_steps),
        cmocka_unit_test(test_warps),
        cmocka_unit_test(test_damaged_warps),
        cmocka_unit_test(test_a_page_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
