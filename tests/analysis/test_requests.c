/* What requests cost, each side of every threshold: one warp executes an instruction a hundred times,
 * so many of them in one way, the others in another. */
#include "sim.h"
#include "support/test.h"

#include <string.h>

enum { TIMES = 100, PC = 1, REGION = 1024 /* bytes of an execution's own */ };

#define IDLE INT64_MIN
/* Byte offset of a lane from the region of an execution; IDLE: it takes no part. */
typedef int64_t within(uint32_t lane, uint32_t number);

typedef struct execution {
    within *offset;
    uint32_t number;
} execution;

static int64_t in_region(const sim_thread *t, const void *p)
{
    const execution *e = p;
    int64_t offset = e->offset(t->index, e->number);
    return offset == IDLE ? -1 : (int64_t)e->number * REGION + offset;
}

/* Finds in a kernel that executes an instruction in these two ways. */
static void find_in_two_ways(within *some, uint32_t nsome, within *others, sim *s,
                             ana_findings *all)
{
    sim_begin(s, 1, 1, 32, 1);
    uint32_t object = sim_alloc(s, "x", TIMES * REGION, 0);
    for (uint32_t i = 0; i < TIMES; i++) {
        execution e = {i < nsome ? some : others, i};
        sim_access(s, PC, ACC_LOAD, object, 4, in_region, &e);
    }
    sim_find(s, 1, all);
}

/* The findings about the object, as a set of 1 << pattern. */
static uint32_t patterns_of(within *some, uint32_t nsome, within *others)
{
    sim s;
    ana_findings all;
    find_in_two_ways(some, nsome, others, &s, &all);
    uint32_t patterns = sim_patterns(&s, &all, "x");
    sim_end(&s);
    return patterns;
}

#define P(id) (1u << ANA_##id)

static int64_t aligned(uint32_t lane, uint32_t number)
{
    (void)number;
    return lane * 4;
}

static int64_t one_word_off(uint32_t lane, uint32_t number)
{
    (void)number;
    return lane * 4 + 4;
}

static void misaligned_from_a_quarter_of_the_requests_on(void **state)
{
    (void)state;
    assert_int_equal(patterns_of(one_word_off, 24, aligned), P(MISALIGNED));
    assert_int_equal(patterns_of(one_word_off, 23, aligned), 0);
}

/* Every second word; the next execution takes the others. */
static int64_t every_second(uint32_t lane, uint32_t number)
{
    int64_t odd = number % 2;
    return lane * 8 + odd * 4 - odd * REGION;
}

static void uncoalesced_from_twice_the_fewest_sectors_on(void **state)
{
    (void)state;
    assert_int_equal(patterns_of(every_second, 90, aligned), P(UNCOALESCED));
    assert_int_equal(patterns_of(every_second, 88, aligned), 0);
}

/* Nine lanes, each in a sector of its own; eight executions take all words of these. */
static int64_t nine_apart(uint32_t lane, uint32_t number)
{
    uint32_t turn = number % 8;
    return lane < 9 ? (int64_t)(lane * 32 + turn * 4) - (int64_t)turn * REGION : IDLE;
}

static int64_t nine_together(uint32_t lane, uint32_t number)
{
    (void)number;
    return lane < 9 ? (int64_t)lane * 4 : IDLE;
}

static void uncoalesced_from_two_sectors_too_many_a_request_on(void **state)
{
    (void)state;
    assert_int_equal(patterns_of(nine_apart, 28, nine_together), P(UNCOALESCED));
    assert_int_equal(patterns_of(nine_apart, 27, nine_together), 0);
}

static int64_t pair_apart(uint32_t lane, uint32_t number)
{
    uint32_t turn = number % 8;
    return lane < 2 ? (int64_t)(lane * 32 + turn * 4) - (int64_t)turn * REGION : IDLE;
}

static int64_t pair_together(uint32_t lane, uint32_t number)
{
    (void)number;
    return lane < 2 ? (int64_t)lane * 4 : IDLE;
}

static void divergent_from_half_a_sector_too_many_a_request_on(void **state)
{
    (void)state;
    assert_int_equal(patterns_of(pair_apart, 48, pair_together), P(DIVERGENT));
    assert_int_equal(patterns_of(pair_apart, 47, pair_together), 0);
}

/* Lanes that take one sector more than they must, of two that two executions share. */
static int64_t eight_in_halves(uint32_t lane, uint32_t number)
{
    int64_t odd = number % 2;
    return lane < 8 ? (int64_t)lane / 4 * 32 + lane % 4 * 4 + odd * 16 - odd * REGION : IDLE;
}

static int64_t nine_in_halves(uint32_t lane, uint32_t number)
{
    int64_t offset = eight_in_halves(lane % 8, number);
    return lane < 8 ? offset : lane == 8 ? eight_in_halves(0, number) + 64 : IDLE;
}

static void divergent_up_to_eight_lanes(void **state)
{
    (void)state;
    assert_int_equal(patterns_of(eight_in_halves, TIMES, aligned), P(DIVERGENT));
    assert_int_equal(patterns_of(nine_in_halves, TIMES, aligned) & P(DIVERGENT), 0);
}

static double evidence_of(const ana_finding *f, const char *name)
{
    for (uint32_t i = 0; f && i < f->nevidence; i++)
        if (strcmp(f->evidence[i].name, name) == 0)
            return f->evidence[i].value;
    return -1;
}

static void evidence_is_exact(void **state)
{
    sim s;
    ana_findings all;
    (void)state;
    find_in_two_ways(eight_in_halves, TIMES, aligned, &s, &all);
    const ana_finding *f = sim_finding(&s, &all, "x", ANA_DIVERGENT);
    assert_true(evidence_of(f, "requests") == TIMES);
    assert_true(evidence_of(f, "lanes") == 8);
    assert_true(evidence_of(f, "sectors_per_request") == 2);
    assert_true(evidence_of(f, "fewest_per_request") == 1);
    assert_true(evidence_of(f, "bytes") == 4);
    sim_end(&s);
    find_in_two_ways(every_second, TIMES, aligned, &s, &all);
    f = sim_finding(&s, &all, "x", ANA_UNCOALESCED);
    assert_true(evidence_of(f, "requests") == TIMES);
    assert_true(evidence_of(f, "sectors_per_request") == 8);
    assert_true(evidence_of(f, "fewest_per_request") == 4);
    assert_true(evidence_of(f, "stride") == 8);
    sim_end(&s);
}

/* Eight sectors too many are the fewest of a finding, whether they are one instruction's or many's. */
static void one_sector_of_each_instruction(void **state)
{
    (void)state;
    for (uint32_t count = 7; count <= 8; count++) {
        sim s;
        ana_findings all;
        sim_begin(&s, 1, 1, 32, 1);
        uint32_t object = sim_alloc(&s, "x", TIMES * REGION, 0);
        for (uint32_t i = 0; i < count; i++) {
            execution e = {eight_in_halves, i};
            sim_access(&s, PC + i, ACC_LOAD, object, 4, in_region, &e);
        }
        sim_find(&s, 1, &all);
        assert_int_equal(sim_patterns(&s, &all, "x"), count < 8 ? 0 : P(DIVERGENT));
        const ana_finding *f = sim_finding(&s, &all, "x", ANA_DIVERGENT);
        assert_true(evidence_of(f, "bytes") == (count < 8 ? -1 : 4));
        sim_end(&s);
    }
}

/* Lanes in sectors of their own; eight executions take all words of these. */
static int64_t word_of_sector(const sim_thread *t, const void *p)
{
    uint32_t number = *(const uint32_t *)p;
    return (int64_t)(number / 8) * REGION + (int64_t)t->index * 32 + (int64_t)(number % 8) * 4;
}

/* A thread that comes back to its sector has a chunk of its own; one instruction for each field does
 * not. */
static void only_what_comes_back_walks(void **state)
{
    (void)state;
    for (int fields = 0; fields < 2; fields++) {
        sim s;
        ana_findings all;
        sim_begin(&s, 1, 1, 32, 1);
        uint32_t object = sim_alloc(&s, "x", TIMES * REGION, 0);
        for (uint32_t i = 0; i < TIMES / 8 * 8; i++)
            sim_access(&s, PC + (fields ? i % 8 : 0), ACC_LOAD, object, 4, word_of_sector, &i);
        sim_find(&s, 1, &all);
        const ana_finding *f = sim_finding(&s, &all, "x", ANA_UNCOALESCED);
        assert_non_null(f);
        assert_int_equal(strstr(f->remedy, "works through a chunk") != NULL, !fields);
        sim_end(&s);
    }
}

/* ---- shared memory ---- */

static int64_t own_word(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index * 4;
}

/* Two lanes take different words of one bank. */
static int64_t two_in_a_bank(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index == 31 ? 128 : t->index * 4;
}

static bool has_bank_conflict(uint32_t conflicts)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 1, 1, 32, 1);
    uint32_t array = sim_shared(&s, "s", 256);
    for (uint32_t i = 0; i < TIMES; i++)
        sim_access(&s, PC, ACC_LOAD, array, 4, i < conflicts ? two_in_a_bank : own_word, NULL);
    sim_find(&s, 1, &all);
    bool found = sim_finding(&s, &all, "s", ANA_BANK_CONFLICT) != NULL;
    sim_end(&s);
    return found;
}

static void a_bank_conflict_from_a_tenth_more_wavefronts_on(void **state)
{
    (void)state;
    assert_true(has_bank_conflict(11));
    assert_false(has_bank_conflict(9));
}

static int64_t in_last_block(const sim_thread *t, const void *p)
{
    (void)p;
    return t->block[0] == 9 ? (int64_t)t->index * 4 : -1;
}

/* 10 blocks of which the first is sampled and executes nothing else; requests of 990 by an instruction
 * that all execute, and some by one that the last block alone executes. */
static bool stands_for_all(uint32_t unseen)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 10, 1, 32, 1);
    uint32_t array = sim_shared(&s, "s", 128);
    for (uint32_t i = 0; i < 99; i++)
        sim_access(&s, 1, i % 2 ? ACC_LOAD : ACC_STORE, array, 4, own_word, NULL);
    for (uint32_t i = 0; i < unseen; i++)
        sim_access(&s, 2, ACC_LOAD, array, 4, in_last_block, NULL);
    sim_find(&s, 1, &all);
    bool found = sim_finding(&s, &all, "s", ANA_SHARED_THREAD_LOCAL) != NULL;
    sim_end(&s);
    return found;
}

static void a_sample_stands_for_all_up_to_a_hundredth_unseen(void **state)
{
    (void)state;
    assert_true(stands_for_all(0));
    assert_true(stands_for_all(10));
    assert_false(stands_for_all(11));
}

/* ---- remedies by size ---- */

static int64_t apart(const sim_thread *t, const void *p)
{
    return (int64_t)t->index * *(const uint32_t *)p;
}

/* What is advised where lanes take words so many bytes apart. */
static bool is_advised_to_transpose(uint32_t bytes)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 1, 1, 256, 1);
    uint32_t object = sim_alloc(&s, "x", 256 * (uint64_t)bytes, 0);
    sim_access(&s, PC, ACC_LOAD, object, 4, apart, &bytes);
    sim_find(&s, 1, &all);
    const ana_finding *f = sim_finding(&s, &all, "x", ANA_STRIDED);
    assert_non_null(f);
    bool transpose = strstr(f->advice, "Transpose") != NULL;
    assert_int_equal(!transpose, strstr(f->advice, "one array per field") != NULL);
    sim_end(&s);
    return transpose;
}

static void rows_are_256_bytes_apart_at_least(void **state)
{
    (void)state;
    assert_true(is_advised_to_transpose(256));
    assert_false(is_advised_to_transpose(252));
}

static int64_t scattered(const sim_thread *t, const void *p)
{
    (void)p;
    return (int64_t)((t->index + t->block[0] * 256) * 2654435761u >> 19) * 4; /* of 8,192 words */
}

/* What is advised where atomic updates scatter over an object of so many bytes. */
static bool is_advised_to_keep_copies(uint64_t bytes)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t object = sim_alloc(&s, "x", bytes, 0);
    sim_access(&s, PC, ACC_ATOMIC, object, 4, scattered, NULL);
    sim_find(&s, 1, &all);
    const ana_finding *f = sim_finding(&s, &all, "x", ANA_SCATTERED_ATOMICS);
    assert_non_null(f);
    bool copies = strstr(f->advice, "Give each block a copy") != NULL;
    sim_end(&s);
    return copies;
}

static void copies_of_what_fits_into_shared_memory(void **state)
{
    (void)state;
    assert_true(is_advised_to_keep_copies(32768));
    assert_false(is_advised_to_keep_copies(32769));
}

/* ---- boxes of tensors ---- */

/* What is told of boxes whose rows have so many bytes, and lie apart by `pitch`. */
static uint32_t patterns_of_boxes(uint32_t bytes, uint32_t pitch)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 1, 1, 32, 1);
    s.flags = ACC_ASYNC | ACC_BULK | ACC_BOX;
    uint32_t object = sim_alloc(&s, "x", 32u * pitch, 0);
    sim_access(&s, PC, ACC_LOAD, object, bytes, apart, &pitch);
    sim_find(&s, 1, &all);
    uint32_t patterns = sim_patterns(&s, &all, "x");
    if (patterns)
        assert_non_null(strstr(all.rows[0].advice, "boxes"));
    sim_end(&s);
    return patterns;
}

/* One thread asks for them, but nobody waits for the others; and rows are no lanes far apart. */
static void boxes_are_misaligned_or_short(void **state)
{
    (void)state;
    assert_int_equal(patterns_of_boxes(128, 512), 0);
    assert_int_equal(patterns_of_boxes(128, 400), P(MISALIGNED));
    assert_int_equal(patterns_of_boxes(16, 512), P(STRIDED));
}

/* Where the remedy for a conflict is to pad, boxes leave no room for that. */
static bool is_advised_to_swizzle(uint32_t flags)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 1, 1, 32, 1);
    uint32_t array = sim_shared(&s, "s", 256);
    s.flags = flags;
    sim_access(&s, 2, ACC_STORE, array, 4, own_word, NULL);
    s.flags = 0;
    for (uint32_t i = 0; i < TIMES; i++)
        sim_access(&s, PC, ACC_LOAD, array, 4, two_in_a_bank, NULL);
    sim_find(&s, 1, &all);
    const ana_finding *f = sim_finding(&s, &all, "s", ANA_BANK_CONFLICT);
    assert_non_null(f);
    bool swizzle = strstr(f->advice, "Let the tensor map swizzle") != NULL;
    assert_true(swizzle || strstr(f->advice, "pad each row"));
    sim_end(&s);
    return swizzle;
}

static void arrays_of_boxes_are_swizzled(void **state)
{
    (void)state;
    assert_false(is_advised_to_swizzle(0));
    assert_true(is_advised_to_swizzle(ACC_ASYNC | ACC_BULK | ACC_BOX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misaligned_from_a_quarter_of_the_requests_on),
        cmocka_unit_test(uncoalesced_from_twice_the_fewest_sectors_on),
        cmocka_unit_test(uncoalesced_from_two_sectors_too_many_a_request_on),
        cmocka_unit_test(divergent_from_half_a_sector_too_many_a_request_on),
        cmocka_unit_test(divergent_up_to_eight_lanes),
        cmocka_unit_test(evidence_is_exact),
        cmocka_unit_test(only_what_comes_back_walks),
        cmocka_unit_test(one_sector_of_each_instruction),
        cmocka_unit_test(a_bank_conflict_from_a_tenth_more_wavefronts_on),
        cmocka_unit_test(a_sample_stands_for_all_up_to_a_hundredth_unseen),
        cmocka_unit_test(rows_are_256_bytes_apart_at_least),
        cmocka_unit_test(copies_of_what_fits_into_shared_memory),
        cmocka_unit_test(boxes_are_misaligned_or_short),
        cmocka_unit_test(arrays_of_boxes_are_swizzled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
