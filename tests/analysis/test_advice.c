/* Advice that fits the case: kernels as lists of accesses, and addresses as the code has them. */
#include "sim.h"
#include "support/test.h"

#include "analysis/heatmap/layout.h"
#include "analysis/heatmap/words.h"

#include <string.h>

static const char *advice_of(const sim *s, const ana_findings *all, const char *object,
                             ana_pattern p)
{
    const ana_finding *f = sim_finding(s, all, object, p);
    assert_non_null(f);
    return f->advice;
}

/* ---- different warps use different words of a sector ---- */

static int64_t result_of_warp(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index % 32 ? -1 : (int64_t)(t->block[0] * 8 + t->index / 32) * 4;
}

static int64_t element_of_warp(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->block[0] * 8 + t->index / 32) * 4;
}

/* Lane l of warp w takes word w of a sector of its own, in no order. */
static int64_t gathered_word(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->index % 32 * 7 * (t->index % 32) % 64 * 8 + t->index / 32) * 4;
}

static int64_t row_of_lane(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->index % 32 * 8 + t->index / 32) * 4;
}

static void indices_are_swapped_where_that_helps(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 256, 1);
    uint32_t results = sim_alloc(&s, "results", 4096, 0), one = sim_alloc(&s, "one", 4096, 0),
             table = sim_alloc(&s, "table", 4096, 0), rows = sim_alloc(&s, "rows", 4096, 0),
             sums = sim_alloc(&s, "sums", 4096, 0);
    sim_access(&s, 1, ACC_STORE, results, 4, result_of_warp, NULL);
    sim_access(&s, 2, ACC_LOAD, one, 4, element_of_warp, NULL);
    sim_access(&s, 3, ACC_LOAD, table, 4, gathered_word, NULL);
    sim_access(&s, 4, ACC_LOAD, rows, 4, row_of_lane, NULL);
    sim_access(&s, 5, ACC_REDUCTION, sums, 4, row_of_lane, NULL);
    sim_find(&s, 1, &all);
    const char *swap = "Swap the roles";
    assert_non_null(strstr(advice_of(&s, &all, "rows", ANA_FALSE_SHARING), swap));
    assert_null(strstr(advice_of(&s, &all, "results", ANA_FALSE_SHARING), swap));
    assert_non_null(strstr(advice_of(&s, &all, "results", ANA_FALSE_SHARING), "one result"));
    assert_null(strstr(advice_of(&s, &all, "one", ANA_FALSE_SHARING), swap));
    assert_null(strstr(advice_of(&s, &all, "table", ANA_FALSE_SHARING), swap));
    assert_null(strstr(advice_of(&s, &all, "sums", ANA_FALSE_SHARING), swap));
    sim_end(&s);
}

/* ---- atomic updates ---- */

static int64_t one_word(const sim_thread *t, const void *p)
{
    (void)t;
    (void)p;
    return 64;
}

static int64_t one_lane(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index % 32 ? -1 : 64;
}

static int64_t first_lane(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index % 32 ? -1 : 0;
}

static int64_t first_word(const sim_thread *t, const void *p)
{
    (void)t;
    (void)p;
    return 0;
}

static int64_t word_of_block(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index % 32 ? -1 : (int64_t)t->block[0] * 4;
}

/* Runs of seven lanes with one target. */
static int64_t of_segment(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->block[0] * 256 + t->index) / 7 * 4;
}

static int64_t bin_of(const sim_thread *t, const void *p)
{
    return (int64_t)((t->block[0] * 256 + t->index) * 2654435769u >> *(const int *)p) * 4;
}

static void of_updates(void **state)
{
    (void)state;
    const int small = 24, large = 14; /* 256 words, and 256 thousand */
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 256, 1);
    uint32_t sum = sim_alloc(&s, "sum", 256, 0), counter = sim_alloc(&s, "counter", 256, 0),
             segments = sim_alloc(&s, "segments", 16384, 0), bins = sim_alloc(&s, "bins", 1024, 0),
             far = sim_alloc(&s, "far", 1 << 20, 0);
    sim_access(&s, 1, ACC_ATOMIC, sum, 4, one_word, NULL);
    sim_access(&s, 2, ACC_ATOMIC, counter, 4, one_lane, NULL);
    sim_access(&s, 3, ACC_ATOMIC, segments, 4, of_segment, NULL);
    sim_access(&s, 4, ACC_REDUCTION, bins, 4, bin_of, &small);
    sim_access(&s, 5, ACC_ATOMIC, far, 4, bin_of, &large);
    sim_find(&s, 1, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        const ana_finding *f = &all.rows[i];
        assert_true(f->pattern == ANA_SAME_ADDRESS || f->pattern == ANA_SCATTERED_ATOMICS);
        assert_true(f->access->updates && f->gain != ANA_GAIN_CACHED);
    }
    assert_int_equal(all.count, 5);
    /* 8 warps of each of 16 blocks come to the word: 7 too many in each. */
    assert_int_equal(sim_finding(&s, &all, "sum", ANA_SAME_ADDRESS)->cost.excess, 16 * 7);
    assert_non_null(strstr(advice_of(&s, &all, "sum", ANA_SAME_ADDRESS), "a warp's lanes first"));
    assert_int_equal(sim_finding(&s, &all, "counter", ANA_SAME_ADDRESS)->cost.excess, 16 * 7);
    assert_non_null(strstr(advice_of(&s, &all, "counter", ANA_SAME_ADDRESS), "Each warp updates"));
    assert_non_null(strstr(advice_of(&s, &all, "segments", ANA_SAME_ADDRESS), "segmented sum"));
    assert_non_null(strstr(advice_of(&s, &all, "bins", ANA_SCATTERED_ATOMICS), "a copy of bins"));
    assert_non_null(strstr(advice_of(&s, &all, "far", ANA_SCATTERED_ATOMICS), "Sort the updates"));
    sim_end(&s);
}

/* Blocks of one warp: there is nobody in the block to combine with. */
static void of_updates_by_lone_warps(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 64, 1, 32, 1);
    uint32_t ticket = sim_alloc(&s, "ticket", 4, 0), sum = sim_alloc(&s, "sum", 4, 0),
             own = sim_alloc(&s, "own", 4096, 0), steps = sim_alloc(&s, "steps", 256, 0);
    sim_access(&s, 1, ACC_ATOMIC, ticket, 4, first_lane, NULL);
    sim_access(&s, 2, ACC_REDUCTION, sum, 4, first_word, NULL);
    sim_access(&s, 3, ACC_ATOMIC, own, 4, word_of_block, NULL);
    for (uint32_t k = 0; k < 3; k++)
        sim_access(&s, 4, ACC_ATOMIC, steps, 4, one_lane, NULL);
    sim_find(&s, 1, &all);
    const ana_finding *f = sim_finding(&s, &all, "ticket", ANA_SAME_ADDRESS);
    assert_int_equal(f->cost.excess, 64 * 7 / 8);
    assert_non_null(strstr(f->advice, "Use blocks of several warps"));
    f = sim_finding(&s, &all, "sum", ANA_SAME_ADDRESS);
    assert_int_equal(f->cost.excess, 64 * 7 / 8);
    assert_non_null(strstr(f->advice, "Combine the values of a warp's lanes first"));
    assert_null(sim_finding(&s, &all, "own", ANA_SAME_ADDRESS)); /* each block its own word, once */
    /* Three times, two of them needless; where the code says nothing, blocks are not compared. */
    assert_int_equal(sim_finding(&s, &all, "steps", ANA_SAME_ADDRESS)->cost.excess, 64 * 2);
    sim_end(&s);
}

/* The bound of what fits into shared memory, from both sides. */
static void of_updates_that_fit(void **state)
{
    (void)state;
    const int shift = 19; /* 8,192 words: 32 KiB */
    for (uint32_t more = 0; more < 2; more++) {
        sim s;
        ana_findings all;
        sim_begin(&s, 16, 1, 256, 1);
        uint32_t bins = sim_alloc(&s, "bins", 32768 + 4 * more, 0);
        sim_access(&s, 4, ACC_ATOMIC, bins, 4, bin_of, &shift);
        sim_find(&s, 1, &all);
        const char *advice = advice_of(&s, &all, "bins", ANA_SCATTERED_ATOMICS);
        assert_int_equal(strstr(advice, "a copy of bins") != NULL, !more);
        sim_end(&s);
    }
}

/* ---- copies that are staged already ---- */

static int64_t same_for_warps(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index % 32 * 4;
}

static int64_t own_row(const sim_thread *t, const void *p)
{
    return ((int64_t)t->block[0] * 256 + t->index) * 512 + *(const int *)p * 4;
}

static int64_t word_of_thread(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index * 4;
}

static int64_t first_of_warp(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index / 32 * 128;
}

static void nothing_is_staged_twice(void **state)
{
    (void)state;
    const int zero = 0;
    for (uint32_t async = 0; async < 2; async++) {
        sim s;
        ana_findings all;
        sim_begin(&s, 4, 1, 256, 1);
        s.flags = async ? ACC_ASYNC : 0;
        uint32_t hot = sim_alloc(&s, "hot", 4096, 0), far = sim_alloc(&s, "far", 4 << 17, 0);
        sim_access(&s, 1, ACC_LOAD, hot, 4, same_for_warps, NULL);
        sim_access(&s, 2, ACC_LOAD, far, 4, own_row, &zero);
        sim_find(&s, 1, &all);
        const char *first = advice_of(&s, &all, "hot", ANA_HOT),
                   *second = advice_of(&s, &all, "far", ANA_STRIDED);
        assert_int_equal(strstr(first, "into shared memory once") != NULL, !async);
        assert_int_equal(strstr(first, "a part each") != NULL, async);
        assert_int_equal(strstr(second, "The copies to shared memory") != NULL, async);
        sim_end(&s);
    }
}

/* Neither shuffles nor registers can take the place of an array that copies fill on the side. */
static void staging_is_no_exchange(void **state)
{
    (void)state;
    for (uint32_t async = 0; async < 2; async++) {
        sim s;
        ana_findings all;
        sim_begin(&s, 4, 1, 256, 1);
        uint32_t own = sim_shared(&s, "own", 1024), row = sim_shared(&s, "row", 1024);
        s.flags = async ? ACC_ASYNC : 0;
        sim_access(&s, 1, ACC_STORE, own, 4, word_of_thread, NULL);
        sim_access(&s, 2, ACC_STORE, row, 4, word_of_thread, NULL);
        s.flags = 0;
        sim_access(&s, 3, ACC_LOAD, own, 4, word_of_thread, NULL);
        sim_access(&s, 4, ACC_LOAD, row, 4, first_of_warp, NULL);
        sim_find(&s, 1, &all);
        assert_int_equal(sim_patterns(&s, &all, "own"), async ? 0 : 1u << ANA_SHARED_THREAD_LOCAL);
        assert_int_equal(sim_patterns(&s, &all, "row"), async ? 0 : 1u << ANA_SHARED_WARP_LOCAL);
        sim_end(&s);
    }
}

/* A strided map says what the sampled blocks use: without the code's word, no more than that. */
static void of_what_was_sampled(void **state)
{
    (void)state;
    const int zero = 0;
    for (uint32_t blocks = 1; blocks <= 4; blocks *= 4) {
        sim s;
        ana_findings all;
        sim_begin(&s, blocks, 1, 256, 1);
        uint32_t far = sim_alloc(&s, "far", 4 << 17, 0);
        sim_access(&s, 2, ACC_LOAD, far, 4, own_row, &zero);
        sim_find(&s, 1, &all);
        const ana_finding *f = sim_finding(&s, &all, "far", ANA_STRIDED);
        assert_int_equal(strstr(f->summary, "ever used") != NULL, blocks == 1);
        assert_int_equal(f->certainty == ANA_CERTAINTY_POSSIBLE, blocks > 1);
        sim_end(&s);
    }
}

/* Lane l of block b takes word b of a row of its own, or every second word. */
static int64_t word_of_row(const sim_thread *t, const void *p)
{
    return (int64_t)t->index * 64 + t->block[0] * *(const uint32_t *)p;
}

/* With maps of all blocks, what others use is known: then an order of indices is no gap. */
static void other_blocks_fill_gaps(void **state)
{
    (void)state;
    for (uint32_t step = 4; step <= 8; step += 4) {
        sim s;
        ana_findings all;
        sim_begin(&s, 8, 1, 256, 1);
        for (s.nsampled = 0; s.nsampled < 8; s.nsampled++)
            s.sampled[s.nsampled] = s.nsampled;
        uint32_t rows = sim_alloc(&s, "rows", 64 << 8, 0);
        sim_access(&s, 1, ACC_LOAD, rows, 4, word_of_row, &step);
        sim_find(&s, 1, &all);
        uint32_t want = 1u << (step == 4 ? ANA_UNCOALESCED : ANA_STRIDED);
        assert_int_equal(sim_patterns(&s, &all, "rows"), want);
        assert_int_equal(all.rows[0].certainty, ANA_CERTAINTY_COUNTED);
        sim_end(&s);
    }
}

/* ---- ends of data ---- */

/* A field of pairs; two lanes of the last warp have one left. */
static int64_t field_of_pair(const sim_thread *t, const void *p)
{
    int64_t i = t->block[0] * 256 + t->index;
    return i < 32 * 32 + 2 ? i * 8 + *(const int *)p : -1;
}

static void partial_warps_change_nothing(void **state)
{
    (void)state;
    const int x = 0, y = 4;
    sim s;
    ana_findings all;
    sim_begin(&s, 5, 1, 256, 1);
    uint32_t pairs = sim_alloc(&s, "pairs", 65536, 0);
    sim_access(&s, 1, ACC_LOAD, pairs, 4, field_of_pair, &x);
    sim_access(&s, 2, ACC_LOAD, pairs, 4, field_of_pair, &y);
    sim_find(&s, 1, &all);
    assert_non_null(sim_finding(&s, &all, "pairs", ANA_UNCOALESCED));
    sim_end(&s);
}

static int64_t in_order(const sim_thread *t, const void *p)
{
    return ((int64_t)t->block[0] * 256 + t->index) * 4 + *(const int *)p;
}

/* Eight bytes of each twelve: two sectors of three that move would do. */
static int64_t two_of_three(const sim_thread *t, const void *p)
{
    (void)p;
    return ((int64_t)t->block[0] * 256 + t->index) * 12;
}

/* Objects that are allocated at one place again and again share a finding, however the allocations of
 * two places alternate. */
static void findings_are_about_places(void **state)
{
    static const char *const names[] = {"b", "a"};
    enum { EACH = 2 };
    sim s;
    ana_findings all;
    (void)state;
    sim_begin(&s, 16, 1, 256, 1);
    for (int i = 0; i < EACH; i++)
        for (int k = 0; k < 2; k++)
            sim_access(&s, 1 + (uint32_t)k, ACC_LOAD, sim_alloc(&s, names[k], 65536, 0), 4,
                       row_of_lane, NULL);
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 2);
    for (int k = 0; k < 2; k++) {
        const ana_finding *f = sim_finding(&s, &all, names[k], ANA_FALSE_SHARING);
        assert_non_null(f);
        assert_int_equal(f->access->objects, EACH);
        assert_int_equal(f->access->first_object, 1 + k);
    }
    sim_end(&s);
}

static void what_is_left_out_is_counted(void **state)
{
    (void)state;
    const int aligned = 0;
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 256, 1);
    uint32_t data = sim_alloc(&s, "data", 32768, 0), few = sim_alloc(&s, "few", 32768, 0);
    for (uint32_t k = 0; k < 100; k++)
        sim_access(&s, 1, ACC_LOAD, data, 4, in_order, &aligned);
    sim_access(&s, 2, ACC_LOAD, few, 4, one_word, NULL);
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.left_out.count, 1);
    assert_int_equal(all.left_out.pattern, ANA_HOT);
    assert_true(all.left_out.share > 0 && all.left_out.share < 0.01);
    assert_int_equal(all.left_out.unnamed_sectors, 0);
    sim_end(&s);
    sim_begin(&s, 16, 1, 256, 1);
    data = sim_alloc(&s, "data", 65536, 0);
    sim_access(&s, 1, ACC_LOAD, data, 8, two_of_three, NULL);
    sim_find(&s, 1, &all);
    assert_int_equal(all.left_out.count, 0);
    /* 12 sectors a request where 8 would do, or told: nothing is lost */
    assert_true(all.count == 1 || all.left_out.unnamed_sectors == 16 * 8 * 4);
    sim_end(&s);
}

/* Rows of 16 elements off the sector boundary: six sectors a request, where its data would fill
 * four; below every threshold. */
static int64_t row_of_16(const sim_thread *t, const void *p)
{
    (void)p;
    return ((int64_t)(t->block[0] * 16 + t->thread[1]) * 24 + t->thread[0] + 1) * 4;
}

/* Two of 6 + 4 * `others` sectors are left over. */
static ana_left_out left_over_beside(uint32_t others)
{
    const int aligned = 0;
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 16, 16);
    uint32_t rows = sim_alloc(&s, "rows", 32768, 0), data = sim_alloc(&s, "data", 32768, 0);
    sim_access(&s, 1, ACC_LOAD, rows, 4, row_of_16, NULL);
    for (uint32_t i = 0; i < others; i++)
        sim_access(&s, 2, ACC_LOAD, data, 4, in_order, &aligned);
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.left_out.unnamed_sectors, 16 * 8 * 2);
    ana_left_out left = all.left_out;
    left.kernels = NULL; /* goes with the arena */
    sim_end(&s);
    return left;
}

/* A hundredth of what moves is much. */
static void much_that_is_left_over_is_no_nothing(void **state)
{
    (void)state;
    ana_left_out alone = left_over_beside(0), much = left_over_beside(48),
                 little = left_over_beside(49);
    assert_true(alone.much && alone.nkernels == 1);
    assert_true(alone.unnamed_share > 0.333 && alone.unnamed_share < 0.334);
    assert_true(much.much && much.nkernels == 1);
    assert_false(little.much);
    assert_int_equal(little.nkernels, 0);
}

/* Rows of 8 of 64: eight sectors a request, where its data would fill four, but for the first
 * `aligned` rows, which start on the sector boundary. */
typedef struct rows_of_8 {
    uint32_t aligned;
} rows_of_8;

static int64_t row_of_8(const sim_thread *t, const void *p)
{
    const rows_of_8 *rows = p;
    uint32_t y = t->block[1] * 32 + t->thread[1], x = t->block[0] * 8 + t->thread[0];
    return ((int64_t)y * 72 + x + (y % 128 >= rows->aligned)) * 4;
}

static const ana_finding *finding_of_rows(sim *s, ana_findings *all, uint32_t aligned,
                                          const char *form)
{
    const rows_of_8 rows = {aligned};
    sim_begin(s, 8, 4, 8, 32);
    uint32_t data = sim_alloc(s, "data", 65536, 0);
    s->forms[1] = form;
    sim_access(s, 1, ACC_LOAD, data, 4, row_of_8, &rows);
    sim_find(s, 1, all);
    return sim_finding(s, all, "data", ANA_UNCOALESCED);
}

/* Pieces of rows pay below twice the fewest sectors, too: from 1.5 more a request on, of which a wide
 * block may need one. Of 128 rows 80 may be aligned (1.5 more), or a twentieth more of them (1.44),
 * but not 84 (1.38). */
static void pieces_of_rows_pay_for_the_block(void **state)
{
    (void)state;
    static const char narrow[] = "4*tid.x + 32*ctaid.x + 4*v3 + param0",
                      matrices[] = "4*tid.x + 2304*ctaid.x + 288*tid.y + param0";
    sim s;
    ana_findings all;
    const ana_finding *f = finding_of_rows(&s, &all, 80, narrow);
    assert_non_null(f);
    assert_int_equal(f->cost.excess, 8 * 48 / 4 * 4);
    assert_non_null(strstr(f->advice, "Make the block 32 wide"));
    assert_non_null(strstr(f->summary, "pieces of several rows"));
    const ana_evidence *last = &f->evidence[f->nevidence - 1];
    assert_string_equal(last->name, "block_width");
    assert_true(last->value == 8);
    sim_end(&s);
    assert_non_null(finding_of_rows(&s, &all, 82, narrow));
    sim_end(&s);
    assert_null(finding_of_rows(&s, &all, 84, narrow));
    assert_true(all.left_out.much);
    sim_end(&s);
    assert_null(finding_of_rows(&s, &all, 36, matrices));
    sim_end(&s);
    assert_null(finding_of_rows(&s, &all, 36, NULL)); /* nothing is known of the rows */
    sim_end(&s);
}

/* The tolerance itself, from both sides. */
static void of_edges(void **state)
{
    (void)state;
    const ana_thresholds t = ana_thresholds_default();
    assert_true(ana_reaches(&t, 1.9000001, 2));
    assert_false(ana_reaches(&t, 1.8999, 2));
}

/* ---- what the code tells ---- */

static prof_launch launch = {
    .id = 1, .count = 1, .kernel = 1, .grid = {64, 4, 1}, .block = {256, 1, 1}};
static const prof_instruction first = {.launch = 1, .c = {.pc = 1}},
                              second = {.launch = 1, .c = {.pc = 2}};

/* An input with these forms at pc 1 and 2. */
static ana_input input_of(const char *one, const char *two)
{
    static prof_form forms[2];
    static ana_program program;
    program.launches = (prof_launch_rows){1, &launch};
    forms[0] = (prof_form){.kernel = 1, .pc = 1, .bytes = 4, .form = one};
    forms[1] = (prof_form){.kernel = 1, .pc = 2, .bytes = 4, .form = two};
    return (ana_input){.program = &program, .forms = {two ? 2 : 1, forms}};
}

static layout_blocks blocks_of(const char *form)
{
    ana_input input = input_of(form, NULL);
    return layout_of_blocks(&input, &first);
}

static void of_blocks(void **state)
{
    (void)state;
    assert_int_equal(blocks_of("4*tid.x*nctaid.x + 4*ctaid.x + param0"), LAYOUT_OTHER_WORDS);
    assert_int_equal(blocks_of("4*tid.x*param2 + 4*ctaid.x + param0"), LAYOUT_OTHER_WORDS);
    assert_int_equal(blocks_of("4*tid.x*param2 - 28*ctaid.y + param0"), LAYOUT_OTHER_WORDS);
    assert_int_equal(blocks_of("16*tid.x + 4096*ctaid.x + param0"), LAYOUT_SAME_WORDS);
    assert_int_equal(blocks_of("16*tid.x + 32*ctaid.x + param0"), LAYOUT_SAME_WORDS);
    assert_int_equal(blocks_of("16*tid.x + 36*ctaid.x + param0"), LAYOUT_UNKNOWN);
    assert_int_equal(blocks_of("16*tid.x + 4*ctaid.z + param0"), LAYOUT_SAME_WORDS); /* one in z */
    assert_int_equal(blocks_of("16*tid.x + 4*ctaid.x*param1 + param0"), LAYOUT_UNKNOWN);
    assert_int_equal(blocks_of("16*tid.x + 4*v3 + param0"), LAYOUT_UNKNOWN);
    ana_input none = input_of("4*tid.x + param0", NULL);
    assert_int_equal(layout_of_blocks(&none, &second), LAYOUT_UNKNOWN);
    launch.grid[0] = launch.grid[1] = 1;
    assert_int_equal(blocks_of("16*tid.x + 4*v3 + param0"), LAYOUT_SAME_WORDS);
    launch.grid[0] = 64;
    launch.grid[1] = 4;
}

static void of_one_address(void **state)
{
    (void)state;
    ana_input one = input_of("param0 + 64", "4*ctaid.x + param0");
    assert_true(layout_is_one_address(&one, &first));
    assert_false(layout_is_one_address(&one, &second));
    ana_input other = input_of("4*tid.y + param0", "4*atomic7 + param0");
    assert_false(layout_is_one_address(&other, &first));
    assert_false(layout_is_one_address(&other, &second));
    assert_true(layout_is_counted(&other, &second));
    assert_false(layout_is_counted(&other, &first));
}

#define ROWS " + 4*tid.y*param1 + param0"

static bool is_narrow(const char *form, uint32_t flags)
{
    ana_input input = input_of(form, NULL);
    prof_instruction one = first;
    one.c.bytes = 4;
    one.c.flags = flags;
    return layout_is_narrow(&input, &one);
}

static bool goes_on(const char *form)
{
    ana_input input = input_of(form, NULL);
    prof_instruction one = first;
    one.c.bytes = 4;
    return layout_goes_on(&input, &one);
}

/* The rows of blocks of 16 x 16, as the code tells them and as requests showed them. */
static void of_narrow_blocks(void **state)
{
    (void)state;
    launch.block[0] = launch.block[1] = 16;
    assert_true(is_narrow("4*tid.x + 64*ctaid.x" ROWS, 0));
    assert_false(is_narrow("64*ctaid.x - 4*tid.x" ROWS, 0)); /* blocks go the other way */
    assert_true(is_narrow("4*tid.x + 64*ctaid.y" ROWS, 0));
    assert_false(is_narrow("4*tid.x + 64*tid.y + 4*v7", 0)); /* 16 elements, without gaps */
    assert_false(is_narrow("8*tid.x + 128*ctaid.x" ROWS, 0));
    assert_true(is_narrow("4*v7 + 4*param1*v8 + param0", OBS_PIECES));
    assert_false(is_narrow("4*v7 + 4*param1*v8 + param0", 0));
    assert_false(is_narrow("4*loaded7 + param0", OBS_PIECES)); /* how long are these rows? */
    assert_false(is_narrow("4*atomic7 + param0", OBS_PIECES));
    launch.block[0] = launch.block[1] = 32;
    assert_false(is_narrow("4*tid.x + 128*ctaid.x" ROWS, OBS_PIECES));
    launch.block[0] = launch.block[1] = 4; /* less than a warp */
    assert_false(is_narrow("4*tid.x + 16*ctaid.x" ROWS, OBS_PIECES));
    launch.block[0] = 256;
    launch.block[1] = 1;
}

/* Rows that end where the block does are narrow themselves. */
static void of_rows_that_end(void **state)
{
    (void)state;
    launch.block[0] = launch.block[1] = 16;
    assert_true(goes_on("4*tid.x + 64*ctaid.x" ROWS));
    assert_false(is_narrow("4*tid.x" ROWS, OBS_PIECES)); /* all blocks take the same */
    assert_false(is_narrow("4*tid.x + 1280*ctaid.x" ROWS, OBS_PIECES)); /* a matrix a block */
    assert_false(is_narrow("4*tid.x + 4*ctaid.x*param2" ROWS " + 128*ctaid.x", OBS_PIECES));
    assert_true(is_narrow("4*tid.x + 4*ctaid.x*param2" ROWS, OBS_PIECES)); /* who knows? */
    assert_false(goes_on("4*tid.x + 4*ctaid.x*param2" ROWS));
    launch.grid[0] = 1; /* the block has whole rows */
    assert_false(is_narrow("4*tid.x + 64*ctaid.x" ROWS, OBS_PIECES));
    assert_false(is_narrow("4*v7 + 4*param1*v8 + param0", OBS_PIECES));
    launch.grid[0] = 64;
    launch.block[0] = 256;
    launch.block[1] = 1;
}

static void of_what_is_loaded(void **state)
{
    (void)state;
    ana_input input = input_of("4*tid.x" ROWS, NULL);
    assert_false(layout_is_loaded(&input, &first));
    input = input_of("4*loaded3 + param0", NULL);
    assert_true(layout_is_loaded(&input, &first));
    assert_true(layout_is_loaded(&input, &second)); /* nothing is known */
}

/* Rows in pieces: no padding by one element helps where two pieces of 16 meet in the banks. */
static void narrow_blocks_are_told_to_be_wider(void **state)
{
    (void)state;
    const words_kind *const kinds[] = {&words_bank_conflict, &words_divergent, &words_uncoalesced};
    wl_arena *arena = wl_arena_new();
    ana_input input = input_of("4*tid.x + 72*tid.y + param0", NULL);
    ana_group group = {0};
    input.arena = arena;
    for (size_t i = 0; i < 3; i++) {
        ana_draft draft = {.group = &group};
        words_facts f = {.narrow = true, .irregular = true};
        assert_true(words_set(&draft, &input, &f, kinds[i]));
        assert_non_null(strstr(draft.remedy, "Where these rows go on in the next block, make the "
                                             "block 32 wide"));
        assert_null(strstr(draft.remedy, "tile"));
        f.goes_on = f.tiles = true;
        assert_true(words_set(&draft, &input, &f, kinds[i]));
        assert_non_null(strstr(draft.remedy, "Make the block 32 wide"));
        assert_non_null(strstr(draft.remedy, "32 x 32 threads"));
        assert_null(strstr(draft.remedy, "__syncthreads")); /* it stages nothing */
        f.narrow = false;
        assert_true(words_set(&draft, &input, &f, kinds[i]));
        assert_null(strstr(draft.remedy, "32 wide"));
    }
    wl_arena_free(arena);
}

/* Lanes that are idle, or that meet in the banks, while a block adds up: the remedy is the same. */
static void sums_go_on_in_a_warp(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    ana_input input = input_of("4*tid.x + param0", NULL);
    ana_group group = {0};
    input.arena = arena;
    ana_draft idle = {.group = &group}, conflict = {.group = &group};
    words_facts f = {.reduction = true, .lanes = 12.5};
    assert_true(words_set(&idle, &input, &f, &words_idle_lanes));
    assert_non_null(strstr(idle.summary, "on average 12.5 of a warp's 32"));
    assert_non_null(strstr(idle.remedy, "shuffles of one warp"));
    assert_true(words_set(&conflict, &input, &f, &words_bank_conflict));
    assert_string_equal(conflict.remedy, idle.remedy);
    f.reduction = false;
    assert_true(words_set(&conflict, &input, &f, &words_bank_conflict));
    assert_string_not_equal(conflict.remedy, idle.remedy);
    wl_arena_free(arena);
}

static bool neighbours(const char *one, const char *two)
{
    ana_input input = input_of(one, two);
    return layout_are_neighbours(&input, &first, &second);
}

static void of_neighbours(void **state)
{
    (void)state;
    assert_true(neighbours("4*tid.x + 1024*ctaid.x + param0 - 4",
                           "4*tid.x + 1024*ctaid.x + param0"));
    assert_true(neighbours("4*tid.x + 4*tid.y*param3 + param0 + 124",
                           "4*tid.x + 4*tid.y*param3 + param0"));
    assert_false(neighbours("4*tid.x + param0 + 128", "4*tid.x + param0"));
    assert_false(neighbours("4*tid.x + param0 + 32", "4*tid.x + param0")); /* whole sectors */
    assert_false(neighbours("4*tid.x + param0", "4*tid.x + param0"));
    assert_false(neighbours("4*tid.x + param0 + 4", "8*tid.x + param0"));
    assert_false(neighbours("4*tid.x + param0 + 4", "4*tid.x + param1"));
    assert_false(neighbours("4*tid.x + param0 + 4", "-4*tid.x + param0"));
}

/* ---- neighbouring elements, and data that begins off the boundary ---- */

static prof_instruction of_words(uint32_t pc)
{
    return (prof_instruction){.launch = 1, .c = {.pc = pc, .bytes = 4}};
}

static bool slides(const char *form)
{
    ana_input input = input_of(form, NULL);
    const prof_instruction words = of_words(1);
    return layout_slides(&input, &words);
}

/* A loop over the elements of a mask: its iterations lie an element apart, a warp's lanes, too. */
static void of_loops_that_slide(void **state)
{
    (void)state;
    assert_true(slides("4*tid.x + 4*ntid.x*ctaid.x + 4*i1 - 4*t3 + param0"));
    assert_true(slides("4*tid.x + 8*i1 + 4*i0*param2 + param0"));
    assert_false(slides("4*tid.x + 4*i0*param2 + param0")); /* a row further on, however long */
    assert_false(slides("4*tid.x + 128*i0 + param0"));
    assert_false(slides("4*tid.x + 32*i0 + param0")); /* whole sectors */
    assert_false(slides("64*tid.x + 4*i0 + param0")); /* a chunk of its own for each lane */
    assert_false(slides("4*tid.x + param0"));
}

static bool is_shifted(const char *form)
{
    ana_input input = input_of(form, NULL);
    const prof_instruction words = of_words(1);
    return layout_is_shifted(&input, &words);
}

/* Only whole sectors apart, in blocks of 256 x 1 of 64 x 4. */
static void of_data_that_is_shifted(void **state)
{
    (void)state;
    assert_true(is_shifted("4*tid.x + 4*ntid.x*ctaid.x + param0 + 20"));
    assert_true(is_shifted("4*tid.x + 4100*tid.y + 1024*ctaid.x + 4096*i0 + param0")); /* no y */
    assert_false(is_shifted("4*tid.x + 1024*ctaid.x + 4100*ctaid.y + param0")); /* rows of 1,025 */
    assert_false(is_shifted("4*tid.x + 1024*ctaid.x + 4100*i0 + param0"));
    assert_false(is_shifted("4*tid.x + 1024*ctaid.x + 4*i0*param1 + param0"));
    assert_false(is_shifted("4*tid.x + 1024*ctaid.x + 4*ctaid.y*param1 + param0"));
    assert_false(is_shifted("4*tid.x + 4*loaded3 + param0"));
}

/* Loads of a[i + 1], a[i + 2] and a[i + 3]: once staged, one of them brings what the others take. */
static void a_stencil_is_staged(void **state)
{
    (void)state;
    static const char *const form[] = {"4*tid.x + 1024*ctaid.x + param0 + 4",
                                       "4*tid.x + 1024*ctaid.x + param0 + 8",
                                       "4*tid.x + 1024*ctaid.x + param0 + 12"};
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 256, 1);
    uint32_t a = sim_alloc(&s, "a", 65536, 0);
    for (int k = 0; k < 3; k++) {
        const int offset = 4 * (k + 1);
        s.forms[1 + k] = form[k];
        sim_access(&s, 1 + (uint32_t)k, ACC_LOAD, a, 4, in_order, &offset);
    }
    sim_find(&s, 1, &all);
    const ana_finding *f = sim_finding(&s, &all, "a", ANA_MISALIGNED);
    assert_non_null(f);
    assert_int_equal(f->remedies[0].kind, REMEDY_STAGE);
    assert_non_null(strstr(f->advice, "neighbouring elements one after the other"));
    assert_null(strstr(f->advice, "pitch"));
    assert_true(f->remedies[0].before.sectors == 16 * 8 * 3 * 5);
    assert_true(f->remedies[0].after.sectors == 16 * 8 * 4);
    sim_end(&s);
}

static const ana_finding *misaligned_with(sim *s, ana_findings *all, const char *form)
{
    const int offset = 4;
    sim_begin(s, 16, 1, 256, 1);
    s->forms[1] = form;
    sim_access(s, 1, ACC_LOAD, sim_alloc(s, "a", 65536, 0), 4, in_order, &offset);
    sim_find(s, 1, all);
    return sim_finding(s, all, "a", ANA_MISALIGNED);
}

static void expect_advice(const char *form, remedy_kind kind, const char *words)
{
    sim s;
    ana_findings all;
    const ana_finding *f = misaligned_with(&s, &all, form);
    assert_non_null(f);
    assert_int_equal(f->remedies[0].kind, kind);
    if (!strstr(f->advice, words))
        fail_msg("'%s' is not in: %s", words, f->advice);
    assert_int_equal(strstr(f->advice, "rows") != NULL, kind == REMEDY_SPREAD);
    sim_end(&s);
}

/* Only what has rows is told to pad them. */
static void of_what_begins_off_the_boundary(void **state)
{
    (void)state;
    expect_advice("4*tid.x + 1024*ctaid.x + 4*i0 + param0", REMEDY_STAGE, "as a stencil does");
    expect_advice("4*tid.x + 1024*ctaid.x + param0 + 4", REMEDY_ALIGN, "equally far after");
    expect_advice("4*tid.x + 4*ctaid.x*param1 + param0", REMEDY_SPREAD, "pad the row pitch");
    expect_advice(NULL, REMEDY_SPREAD, "pad the row pitch");
}

/* ---- what is told with an advice ---- */

typedef struct told {
    const words_kind *words;
    words_facts facts;
    remedy_kind kind;
} told;

static const told all_told[] = {
    {&words_hot, {.broadcast = true}, REMEDY_STAGE},
    {&words_hot, {.stores = true}, REMEDY_STAGE},
    {&words_hot_random, {.sectors_per_request = 1}, REMEDY_STAGE},
    {&words_hot_random, {.sectors_per_request = 9}, REMEDY_RENUMBER},
    {&words_hot_random, {.async = true}, REMEDY_NEIGHBOURS},
    {&words_false_sharing, {.atomics = true}, REMEDY_SORT_UPDATES},
    {&words_false_sharing, {.stores = true, .lanes = 1}, REMEDY_STAGE},
    {&words_false_sharing, {.broadcast = true}, REMEDY_STAGE},
    {&words_false_sharing, {.irregular = true}, REMEDY_RENUMBER},
    {&words_false_sharing, {0}, REMEDY_NEIGHBOURS},
    {&words_strided, {.async = true}, REMEDY_NEIGHBOURS},
    {&words_strided, {.sampled = true, .stride = 4096}, REMEDY_WHOLE_SECTORS},
    {&words_strided, {.stride = 4096}, REMEDY_TRANSPOSE},
    {&words_strided, {.stride = 4096, .rows_elsewhere = true}, REMEDY_TILES},
    {&words_strided, {.stride = 32}, REMEDY_SPLIT},
    {&words_misaligned, {.async = true}, REMEDY_ALIGN},
    {&words_misaligned, {.halo = true}, REMEDY_STAGE},
    {&words_misaligned, {.counted = true}, REMEDY_STAGE},
    {&words_misaligned, {.shifted = true}, REMEDY_ALIGN},
    {&words_misaligned, {.bytes = 4}, REMEDY_SPREAD},
    {&words_uncoalesced, {.counted = true}, REMEDY_STAGE},
    {&words_uncoalesced, {.narrow = true}, REMEDY_WIDEN},
    {&words_uncoalesced, {.irregular = true, .loaded = true}, REMEDY_RENUMBER},
    {&words_uncoalesced, {.irregular = true}, REMEDY_NEIGHBOURS},
    {&words_uncoalesced, {.crosses = true}, REMEDY_ALONG},
    {&words_uncoalesced, {.stride = 4096}, REMEDY_ALONG},
    {&words_uncoalesced, {.stride = 4096, .walks = true}, REMEDY_TRANSPOSE},
    {&words_uncoalesced, {.stride = 4096, .own_rows = true}, REMEDY_TRANSPOSE},
    {&words_uncoalesced, {.stride = 8, .own_rows = true}, REMEDY_NEIGHBOURS},
    {&words_uncoalesced, {.stride = 4096, .shuffles = true}, REMEDY_TRANSPOSE},
    {&words_false_sharing, {.shuffles = true}, REMEDY_TRANSPOSE},
    {&words_uncoalesced, {.stride = 4096, .walks = true, .rows_elsewhere = true}, REMEDY_TILES},
    {&words_uncoalesced, {.walks = true}, REMEDY_NEIGHBOURS},
    {&words_divergent, {.narrow = true}, REMEDY_WIDEN},
    {&words_divergent, {0}, REMEDY_TOGETHER},
    {&words_idle_lanes, {0}, REMEDY_REDUCE},
    {&words_same_address, {.lone = true}, REMEDY_COMBINE},
    {&words_same_address, {.broadcast = true}, REMEDY_COMBINE},
    {&words_scattered_atomics, {0}, REMEDY_SORT_UPDATES},
    {&words_thread_local, {.irregular = true}, REMEDY_REGISTERS},
    {&words_warp_local, {.warps = 1}, REMEDY_SHUFFLES},
    {&words_bank_conflict, {.atomics = true}, REMEDY_PRIVATE},
    {&words_bank_conflict, {.reduction = true}, REMEDY_REDUCE},
    {&words_bank_conflict, {.narrow = true}, REMEDY_WIDEN},
    {&words_bank_conflict, {.stride = 128, .bytes = 4}, REMEDY_PAD},
    {&words_bank_conflict, {.stride = 8, .bytes = 4}, REMEDY_NEIGHBOURS},
};

/* Title and condition are those of what is advised, whatever the pattern has most often; and of
 * barriers, which shared memory needs, either the advice tells or its condition. */
static void conditions_are_of_what_is_advised(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    ana_thresholds thresholds = ana_thresholds_default();
    ana_input input = input_of("4*tid.x + param0", NULL);
    ana_program program = *input.program;
    program.thresholds = &thresholds;
    input.program = &program;
    input.arena = arena;
    ana_group group = {0};
    for (size_t i = 0; i < sizeof all_told / sizeof *all_told; i++) {
        ana_draft draft = {.group = &group};
        assert_true(words_set(&draft, &input, &all_told[i].facts, all_told[i].words));
        if (draft.kind != all_told[i].kind)
            fail_msg("%zu: '%s' is told as %s", i, draft.remedy, remedy_name(draft.kind));
        bool condition = strstr(remedy_condition(draft.kind), "barrier") != NULL;
        if (strstr(draft.remedy, "shared memory") && !strstr(draft.remedy, "after a barrier"))
            assert_int_equal(strstr(draft.remedy, "__syncthreads()") != NULL, !condition);
    }
    wl_arena_free(arena);
}

/* A finding advises one change; what else would do stands beside it, each with a kind, so that each is counted by
 * itself. */
static void others_stand_by_themselves(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    ana_thresholds thresholds = ana_thresholds_default();
    ana_input input = input_of("4*tid.x + param0", NULL);
    ana_program program = *input.program;
    program.thresholds = &thresholds;
    input.program = &program;
    input.arena = arena;
    ana_group group = {0};
    ana_draft draft = {.group = &group};
    const words_facts own_rows = {.stride = 4096, .walks = true}, indices = {.irregular = true};
    assert_true(words_set(&draft, &input, &own_rows, &words_uncoalesced));
    assert_null(strstr(draft.remedy, "shared memory"));
    assert_int_equal(draft.nothers, 2);
    assert_int_equal(draft.others[0].kind, REMEDY_TILES);
    assert_int_equal(draft.others[1].kind, REMEDY_SHARE);
    assert_true(words_set(&draft, &input, &indices, &words_hot_random));
    assert_int_equal(draft.nothers, 0); /* a sector or two a request: staged, and nothing else */
    assert_int_equal(draft.kind, REMEDY_STAGE);
    wl_arena_free(arena);
}

/* A column that is read beside rows that move as much, or one sector less: 32 sectors a request, and
 * 4, in 16 blocks of 8 warps. */
static const char *advice_beside_rows(sim *s, uint32_t rows)
{
    const int zero = 0;
    ana_findings all;
    sim_begin(s, 1, 1, 256, 1);
    uint32_t far = sim_alloc(s, "far", 4 << 17, 0);
    sim_access(s, 1, ACC_LOAD, far, 4, own_row, &zero);
    for (uint32_t i = 0; i < rows; i++)
        sim_access(s, 2, ACC_LOAD, far, 4, in_order, &zero);
    sim_find(s, 1, &all);
    return advice_of(s, &all, "far", ANA_STRIDED);
}

static void of_columns_beside_rows(void **state)
{
    (void)state;
    sim s;
    assert_non_null(strstr(advice_beside_rows(&s, 7), "Transpose far, so that"));
    sim_end(&s);
    assert_non_null(strstr(advice_beside_rows(&s, 8), "would only move the cost"));
    sim_end(&s);
}

/* Of other rows than own_row. */
static int64_t row_of_half(const sim_thread *t, const void *p)
{
    (void)p;
    return (1 << 18) + t->index / 16 * 512;
}

static int64_t half_row(const sim_thread *t, const void *p)
{
    return row_of_half(t, p) + t->index % 16 * 4;
}

/* Half warps run along rows, or take one element each, and move as much as the column does. */
static void of_columns_beside_halves_of_rows(void **state)
{
    (void)state;
    const int zero = 0;
    sim_offset *const beside[] = {half_row, row_of_half};
    for (int k = 0; k < 2; k++) {
        sim s;
        ana_findings all;
        sim_begin(&s, 1, 1, 16, 16);
        uint32_t far = sim_alloc(&s, "far", 4 << 17, 0);
        sim_access(&s, 1, ACC_LOAD, far, 4, own_row, &zero);
        for (uint32_t i = 0; i < 8u * (1u + (uint32_t)k); i++) /* four sectors each, or two */
            sim_access(&s, 2, ACC_LOAD, far, 4, beside[k], NULL);
        sim_find(&s, 1, &all);
        const char *advice = advice_of(&s, &all, "far", ANA_STRIDED);
        assert_int_equal(strstr(advice, "would only move the cost") != NULL, k == 0);
        sim_end(&s);
    }
}

/* A table that nvcc adds is no array of the program, whatever its pattern is. */
static void of_tables_of_the_library(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 256, 1);
    sim_access(&s, 1, ACC_LOAD, sim_alloc(&s, "__cudart_sin_cos_coeffs", 4096, 0), 4, row_of_lane,
               NULL);
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.rows[0].remedies[0].kind, REMEDY_CHEAPER_CALL);
    assert_non_null(strstr(all.rows[0].advice, "Call it less often"));
    sim_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_are_swapped_where_that_helps),
        cmocka_unit_test(of_updates),
        cmocka_unit_test(of_updates_by_lone_warps),
        cmocka_unit_test(of_updates_that_fit),
        cmocka_unit_test(nothing_is_staged_twice),
        cmocka_unit_test(staging_is_no_exchange),
        cmocka_unit_test(of_what_was_sampled),
        cmocka_unit_test(other_blocks_fill_gaps),
        cmocka_unit_test(partial_warps_change_nothing),
        cmocka_unit_test(findings_are_about_places),
        cmocka_unit_test(what_is_left_out_is_counted),
        cmocka_unit_test(much_that_is_left_over_is_no_nothing),
        cmocka_unit_test(of_edges),
        cmocka_unit_test(of_blocks),
        cmocka_unit_test(of_one_address),
        cmocka_unit_test(of_narrow_blocks),
        cmocka_unit_test(of_rows_that_end),
        cmocka_unit_test(of_what_is_loaded),
        cmocka_unit_test(pieces_of_rows_pay_for_the_block),
        cmocka_unit_test(narrow_blocks_are_told_to_be_wider),
        cmocka_unit_test(sums_go_on_in_a_warp),
        cmocka_unit_test(of_neighbours),
        cmocka_unit_test(of_loops_that_slide),
        cmocka_unit_test(of_data_that_is_shifted),
        cmocka_unit_test(a_stencil_is_staged),
        cmocka_unit_test(of_what_begins_off_the_boundary),
        cmocka_unit_test(conditions_are_of_what_is_advised),
        cmocka_unit_test(others_stand_by_themselves),
        cmocka_unit_test(of_columns_beside_rows),
        cmocka_unit_test(of_columns_beside_halves_of_rows),
        cmocka_unit_test(of_tables_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
