/* What is recorded by element, on a kernel small enough to know the buffers by hand. */
#include "elements.h"
#include "small.h"

#include "ir/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_touched(uint32_t word)
{
    return word < 32 || word == 4 * 8 + 2 || word == 9 * 8 + 2 || word == 100;
}

static void touched_elements_are_marked(void **state)
{
    (void)state;
    small c;
    small_begin(&c, SMALL, "touch", true);
    for (uint32_t w = 0; w < WORDS; w++)
        assert_int_equal(elements_touched(&c.left.copy, 0, w), is_touched(w));
    assert_int_equal(rewrite_missed(&c.left.copy), 0);
    small_end(&c);
}

static void elements_are_counted(void **state)
{
    (void)state;
    small c;
    small_begin(&c, SMALL, "frequency", true);
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t loads = is_touched(w) && w != 100 ? 2 : 0; /* two blocks */
        assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_LOADS, w), loads);
        assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_STORES, w), 0);
        assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_ATOMICS, w), w == 100 ? 64 : 0);
    }
    small_end(&c);
}

static const rewrite_range *range_in(const small *c)
{
    return (const void *)((const char *)c->left.state + c->left.layout.ranges_at);
}

/* A table in the copy of the state, by its device address. */
static const uint32_t *table_of(const small *c, uint64_t address)
{
    const rewrite_state *head = c->left.state;
    return (const void *)((const char *)c->left.state +
                          (address - (head->ranges - c->left.layout.ranges_at)));
}

/* An entry of a table of counters, over its copies. */
static uint32_t sum_of(const small *c, const uint32_t *table, uint32_t index)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < REWRITE_SPREAD; i++)
        sum += table[i * range_in(c)->spread / 4 + index];
    return sum;
}

/* in[tid] is one line for each of the two warps, which both count it there; in[tid + 1] lies across
 * two lines. */
static void whole_lines_are_counted_as_such(void **state)
{
    (void)state;
    small c;
    small_begin(&c,
                HEADER ".visible .entry k(.param .u64 in)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
                       "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"
                       "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.u32 %r2, [%d2];\n"
                       "st.global.u32 [%d2+4], %r2;\nret;\n}\n",
                "frequency", true);
    const uint32_t *lines = table_of(&c, range_in(&c)->lines[REWRITE_LOADS]),
                   *loads = table_of(&c, range_in(&c)->counts[REWRITE_LOADS]),
                   *stores = table_of(&c, range_in(&c)->counts[REWRITE_STORES]);
    assert_int_equal(sum_of(&c, lines, 0), 2);
    assert_int_equal(sum_of(&c, loads, 0), 0);
    assert_int_equal(sum_of(&c, stores, 0), 0);
    assert_int_equal(sum_of(&c, stores, 1), 2);
    assert_int_equal(sum_of(&c, stores, 32), 2);
    assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_LOADS, 31), 2);
    assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_LOADS, 32), 0);
    small_end(&c);
}

/* Lane l reads in[4 * l + i] for i from 0 to 3, then in[l + 40 * j] for j from 0 to 2, 40 being a
 * parameter. */
#define LOOPS                                                                                  \
    HEADER ".visible .entry k(.param .u64 in, .param .u32 step)\n{\n.reg .pred %p<3>;\n"       \
           ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [in];\n"                     \
           "ld.param.u32 %r8, [step];\nmul.wide.u32 %d8, %r8, 4;\nmov.u32 %r1, %tid.x;\n"      \
           "mad.wide.u32 %d2, %r1, 16, %d1;\nmov.u32 %r2, 0;\nA:\nld.global.u32 %r3, [%d2];\n" \
           "add.s64 %d2, %d2, 4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 4;\n"            \
           "@%p1 bra A;\nmad.wide.u32 %d3, %r1, 4, %d1;\nmov.u32 %r4, 0;\nB:\n"                \
           "ld.global.u32 %r5, [%d3];\nadd.s64 %d3, %d3, %d8;\nadd.u32 %r4, %r4, 1;\n"         \
           "setp.lt.u32 %p2, %r4, 3;\n@%p2 bra B;\nret;\n}\n"

static void walks_of_loops_are_noted_behind_them(void **state)
{
    (void)state;
    small c;
    small_begin(&c, LOOPS, "touch,frequency", true);
    const rewrite_state *head = c.left.state;
    assert_int_equal(c.k->nwalks, 2);
    assert_int_equal(c.k->walks[0].step, 4);
    assert_int_equal(c.k->walks[1].step, 0);
    assert_int_equal(head->walk[1].step, 160);
    const uint32_t *dense = table_of(&c, head->walk[0].counts),
                   *apart = table_of(&c, head->walk[1].counts);
    assert_int_equal(dense[0], 2);
    assert_int_equal(dense[4], 0); /* where lane 0 ends, lane 1 begins */
    assert_int_equal(dense[128], UINT32_MAX - 1);
    for (uint32_t l = 0; l < 32; l++) {
        assert_int_equal(apart[l], 2);
        assert_int_equal(apart[120 + l], UINT32_MAX - 1);
    }
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t want = (w < 128) + (w < 120 && w % 40 < 32);
        assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_LOADS, w), 2 * want);
        assert_int_equal(elements_touched(&c.left.copy, 0, w), want > 0);
    }
    small_end(&c);
}

/* A table of marks in the copy of the state. */
static const uint8_t *marks_at(const small *c, uint64_t address)
{
    return (const uint8_t *)table_of(c, address);
}

/* Of the same kernel: each lane's elements of the first walk. Those of the second, which lanes make
 * side by side, are few enough to be marked one by one; where lane l begins at in[2 * l], first
 * elements are marked. */
static void walks_of_loops_are_marked_behind_them(void **state)
{
    (void)state;
    for (int apart = 0; apart <= 1; apart++) {
        small c;
        char *ptx = strdup(LOOPS);
        if (apart)
            memcpy(strstr(ptx, "%d3, %r1, 4"), "%d3, %r1, 8", strlen("%d3, %r1, 8"));
        small_begin(&c, ptx, "touch", true);
        const rewrite_state *head = c.left.state;
        assert_int_equal(head->walk[1].shape, apart ? UINT64_C(160) << 32 | 3 : 0);
        const uint8_t *starts = marks_at(&c, head->walk[1].marks),
                      *marks = marks_at(&c, range_in(&c)->lines[0]);
        for (uint32_t w = 0; w < WORDS; w++) {
            bool far = false;
            for (uint32_t j = 0; apart && j < 3; j++)
                far |= w >= 40 * j && w < 40 * j + 64 && w % 2 == 0;
            assert_int_equal(starts[w], apart && w < 64 && w % 2 == 0);
            assert_int_equal(marks[w], w < 128);
            assert_int_equal(elements_touched(&c.left.copy, 0, w), w < 128 || far);
        }
        small_end(&c);
        free(ptx);
    }
}

/* in[0], 7, says where lane l begins: it reads in[7 + l + 64 * j] for j from 0 to 2, and each time
 * what that says, in[7] or in[2]. Since this is marked in each iteration, the others are, too. */
#define ROWS                                                                                       \
    HEADER ".visible .entry k(.param .u64 in)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n"           \
           ".reg .b64 %d<9>;\nld.param.u64 %d1, [in];\nld.global.u32 %r8, [%d1];\n"                \
           "mov.u32 %r1, %tid.x;\nadd.u32 %r1, %r1, %r8;\nmul.wide.u32 %d2, %r1, 4;\n"             \
           "add.s64 %d2, %d1, %d2;\nmov.u32 %r2, 0;\nA:\nld.global.u32 %r3, [%d2];\n"              \
           "mul.wide.u32 %d3, %r3, 4;\nadd.s64 %d3, %d1, %d3;\nld.global.u32 %r4, [%d3];\n"        \
           "add.s64 %d2, %d2, 256;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 3;\n@%p1 bra A;\n" \
           "ret;\n}\n"

static void rows_are_marked_beside_what_data_says(void **state)
{
    (void)state;
    small c;
    small_begin(&c, ROWS, "touch", true);
    assert_int_equal(c.k->nwalks, 0);
    const uint8_t *marks = marks_at(&c, range_in(&c)->lines[0]);
    for (uint32_t w = 0; w < WORDS; w++) {
        bool row = w >= 7 && (w - 7) % 64 < 32 && w < 7 + 3 * 64;
        assert_int_equal(marks[w], w == 0 || row);
        assert_int_equal(elements_touched(&c.left.copy, 0, w), w == 0 || w == 2 || row);
    }
    small_end(&c);
    small_begin(&c, ROWS, "touch,frequency", true); /* counters are another matter */
    assert_int_equal(c.k->nwalks, 1);
    small_end(&c);
}

/* in[0] is 7: lane l reads in[293 + 7 + l] and in[453 + 7 + l], and in[480] and what follows are of
 * no object: where the two, which are looked at together, are not both in one, each is looked up by
 * itself. */
static void accesses_in_step_are_looked_at_together(void **state)
{
    (void)state;
    small c;
    small_begin_knowing(&c,
                        HEADER ".visible .entry k(.param .u64 in)\n{\n.reg .b32 %r<4>;\n"
                               ".reg .b64 %d<4>;\nld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"
                               "ld.global.u32 %r2, [%d1];\nadd.u32 %r1, %r1, %r2;\n"
                               "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.u32 %r2, [%d2+1172];\n"
                               "ld.global.u32 %r3, [%d2+1812];\nret;\n}\n",
                        "touch", true, WORDS, 480);
    assert_non_null(strstr(c.p.result.text, "+160], 1;")); /* from the first mark on */
    for (uint32_t w = 0; w < 480; w++)
        assert_int_equal(elements_touched(&c.left.copy, 0, w),
                         w == 0 || (w >= 300 && w < 332) || w >= 460);
    assert_int_equal(rewrite_missed(&c.left.copy), 24); /* lanes 20 to 31 of two blocks */
    small_end(&c);
}

/* One warp; lane l reads in[l] by sixteen registers, then, where it is below 3, in[l + 300]. So
 * many accesses wait for the end of their block that the last has to have them noted first: it
 * keeps its own guard and address. */
static void full_blocks_keep_the_guard_of_their_last_access(void **state)
{
    (void)state;
    static const char *const probes[] = {"touch", "frequency"};
    char ptx[4096], *at = ptx + sprintf(ptx, HEADER ".visible .entry k(.param .u64 in)\n{\n"
                                                    ".reg .pred %%p<2>;\n.reg .b32 %%r<20>;\n"
                                                    ".reg .b64 %%d<20>;\n"
                                                    "ld.param.u64 %%d0, [in];\n"
                                                    "mov.u32 %%r0, %%tid.x;\n"
                                                    "setp.lt.u32 %%p1, %%r0, 3;\n");
    for (int i = 1; i <= 17; i++)
        at += sprintf(at, "mad.wide.u32 %%d%d, %%r0, 4, %%d0;\n", i);
    for (int i = 1; i <= 16; i++)
        at += sprintf(at, "ld.global.u32 %%r%d, [%%d%d];\n", i, i);
    sprintf(at, "@%%p1 ld.global.u32 %%r17, [%%d17+1200];\nret;\n}\n");
    for (unsigned i = 0; i < 2; i++) {
        small c;
        small_begin(&c, ptx, probes[i], true);
        for (uint32_t w = 0; w < WORDS; w++)
            assert_int_equal(elements_touched(&c.left.copy, 0, w), w < 32 || (w >= 300 && w < 303));
        assert_int_equal(rewrite_missed(&c.left.copy), 0);
        small_end(&c);
    }
}

/* in[4 * i] to in[4 * i + 3], i being the thread, read and written in blocks that all run: marked
 * together, where the first is. */
static void sites_that_run_alike_are_marked_together(void **state)
{
    (void)state;
    small c;
    small_begin(&c,
                HEADER ".visible .entry k(.param .u64 in)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<5>;\n"
                       ".reg .b64 %d<4>;\nld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"
                       "mov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r1, %r2, 32, %r1;\n"
                       "mad.wide.u32 %d2, %r1, 16, %d1;\nld.global.u32 %r2, [%d2+8];\n"
                       "setp.eq.u32 %p1, %r2, 2;\n@%p1 bra A;\nmov.u32 %r1, 7;\nA:\n"
                       "ld.global.v2.u32 {%r2, %r3}, [%d2];\nst.global.u32 [%d2+12], %r2;\n"
                       "ld.global.u32 %r4, [%d1+1600];\nret;\n}\n",
                "touch", true);
    assert_non_null(strstr(c.p.result.text, "], 16843009;"));
    const uint8_t *marks = marks_at(&c, range_in(&c)->lines[0]);
    for (uint32_t w = 0; w < WORDS; w++) {
        assert_int_equal(marks[w], w < 256 || w == 400);
        assert_int_equal(elements_touched(&c.left.copy, 0, w), w < 256 || w == 400);
    }
    small_end(&c);
}

/* All lanes read in[i + 5] for i from 0 to 99: parts of the first and the last line, two whole ones
 * between them. */
static void lines_that_a_walk_covers_are_words_of_the_bitmap(void **state)
{
    (void)state;
    small c;
    small_begin(&c,
                HEADER ".visible .entry k(.param .u64 in)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
                       ".reg .b64 %d<4>;\nld.param.u64 %d1, [in];\nmov.u32 %r2, 0;\nA:\n"
                       "ld.global.u32 %r3, [%d1+20];\nadd.s64 %d1, %d1, 4;\n"
                       "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 100;\n@%p1 bra A;\nret;\n}\n",
                "touch", true);
    const uint8_t *marks = marks_at(&c, range_in(&c)->lines[0]);
    const uint32_t *bits = table_of(&c, range_in(&c)->bits);
    for (uint32_t w = 0; w < WORDS; w++) {
        bool walked = w >= 5 && w < 105;
        assert_int_equal(marks[w], walked && (w < 32 || w >= 96));
        assert_int_equal(elements_touched(&c.left.copy, 0, w), walked);
    }
    for (int l = 0; l < WORDS / 32; l++)
        assert_int_equal(bits[l], l == 1 || l == 2 ? UINT32_MAX : 0);
    small_end(&c);
}

/* in[tid] is marked; in[2 * in[tid] + 32], whose lanes data scatters, is so if the object is large,
 * else it goes to the bitmap; in[64 * tid] always does. */
static void marks_and_bits_are_for_lanes_side_by_side_and_scattered(void **state)
{
    (void)state;
    for (int large = 0; large <= 1; large++) {
        uint32_t words = large ? 1 << 19 : 1 << 12;
        small c;
        small_begin_with(
            &c,
            HEADER ".visible .entry k(.param .u64 in)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<5>;\n"
                   "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"
                   "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.u32 %r2, [%d2];\n"
                   "mad.wide.u32 %d3, %r2, 8, %d1;\nld.global.v2.u32 {%r2, %r3}, [%d3+128];\n"
                   "mad.wide.u32 %d4, %r1, 256, %d1;\nld.global.u32 %r2, [%d4];\nret;\n}\n",
            "touch", true, words);
        const uint8_t *marks = marks_at(&c, range_in(&c)->lines[0]);
        const uint32_t *bits = table_of(&c, range_in(&c)->bits);
        for (uint32_t w = 0; w < words; w++) {
            bool scattered = w / 2 == 16 + 2 || w / 2 == 16 + 7;
            bool strided = w % 64 == 0 && w < 64 * 32;
            assert_int_equal(marks[w], w < 32 || (large && scattered));
            assert_int_equal(bits[w / 32] >> w % 32 & 1, (!large && scattered) || strided);
            assert_int_equal(elements_touched(&c.left.copy, 0, w), w < 32 || scattered || strided);
        }
        small_end(&c);
    }
}

/* Each lane adds to in[in[tid]]. */
static void counters_of_scattered_atomics_are_spread(void **state)
{
    (void)state;
    small c;
    small_begin(&c,
                HEADER
                ".visible .entry k(.param .u64 in)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
                "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"
                "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.u32 %r2, [%d2];\n"
                "mad.wide.u32 %d3, %r2, 4, %d1;\nred.global.add.u32 [%d3+800], 1;\nret;\n}\n",
                "frequency", false);
    assert_int_equal(c.k->nsites, 1);
    assert_true(range_in(&c)->spread >= 4 * WORDS);
    assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_ATOMICS, 207), 60);
    assert_int_equal(elements_count(&c.left.copy, 0, REWRITE_ATOMICS, 202), 4);
    small_end(&c);
}

/* Each lane stores to its word, then all read word 5. */
static void shared_words_are_counted(void **state)
{
    (void)state;
    small c;
    small_begin(&c,
                HEADER ".visible .entry k(.param .u64 in)\n{\n.shared .align 4 .b8 tile[128];\n"
                       ".reg .b32 %r<6>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\n"
                       "mad.lo.u32 %r3, %r1, 4, %r2;\nst.shared.u32 [%r3], %r1;\n"
                       "ld.shared.u32 %r4, [tile+20];\nret;\n}\n",
                "shared", true);
    uint32_t base = (uint32_t)rewrite_var_address(&c.left.copy, 0);
    assert_string_equal(c.k->vars[0].var->name, "tile");
    uint64_t counts[REWRITE_CLASSES][1024 / 4] = {0};
    assert_int_equal(rewrite_read_shared(&c.left.copy, counts[0]), WL_OK);
    for (uint32_t w = 0; w < 32; w++) {
        assert_int_equal(counts[REWRITE_STORES][base / 4 + w], 2);
        assert_int_equal(counts[REWRITE_LOADS][base / 4 + w], w == 5 ? 64 : 0);
    }
    small_end(&c);
}

/* Threads 0 to 2 store; all load one word four times; each updates the word that its number says.
 * Only the iterations and the updates are counted as the kernel runs: the one by a register, the
 * others in shared memory. */
static void shared_words_are_counted_by_thread(void **state)
{
    (void)state;
    small c;
    small_begin(&c,
                HEADER ".visible .entry k(.param .u64 in)\n{\n.shared .align 4 .b8 tile[128];\n"
                       ".reg .pred %p<3>;\n.reg .b32 %r<12>;\n.reg .b64 %d<4>;\n"
                       "mov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\nshl.b32 %r3, %r1, 2;\n"
                       "add.s32 %r4, %r2, %r3;\nsetp.gt.s32 %p1, %r1, 2;\n@%p1 bra PAST;\n"
                       "st.shared.u32 [%r4], %r1;\nPAST:\nmov.u32 %r5, 0;\n"
                       "AGAIN:\nld.shared.u32 %r6, [tile+20];\nadd.s32 %r5, %r5, 1;\n"
                       "setp.lt.s32 %p2, %r5, 4;\n@%p2 bra AGAIN;\n"
                       "ld.param.u64 %d1, [in];\nmul.wide.u32 %d2, %r1, 4;\n"
                       "add.s64 %d3, %d1, %d2;\nld.global.u32 %r7, [%d3];\n"
                       "shl.b32 %r8, %r7, 2;\nadd.s32 %r9, %r2, %r8;\n"
                       "red.shared.add.u32 [%r9], 1;\nret;\n}\n",
                "shared", true);
    uint32_t base = (uint32_t)rewrite_var_address(&c.left.copy, 0);
    uint64_t counts[REWRITE_CLASSES][1024 / 4] = {0};
    assert_int_equal(c.k->nplaces, 2); /* the iterations, and what is accessed unfilled */
    assert_true(c.k->by_address);
    assert_int_equal(rewrite_read_shared(&c.left.copy, counts[0]), WL_OK);
    for (uint32_t w = 0; w < 32; w++) {
        assert_int_equal(counts[REWRITE_STORES][base / 4 + w], w < 3 ? 2 : 0);
        assert_int_equal(counts[REWRITE_LOADS][base / 4 + w], w == 5 ? 4 * 64 : 0);
        assert_int_equal(counts[REWRITE_ATOMICS][base / 4 + w], w == 2 ? 4 : w == 7 ? 60 : 0);
    }
    rewrite_live live;
    wl_spans all = {.counted = true};
    wl_spans_add(&all, &(wl_span){0, 3, {0, 2, 0}}); /* all that matters here */
    assert_true(wl_spans_finish(&all));
    assert_true(rewrite_read_live(&c.left.copy, "tile", wl_spans_read(all.data, all.size, true),
                                  &live));
    assert_int_equal(live.begins[FLOW_COMPUTED], 6);
    assert_int_equal(live.unfilled, 4 * 64 + 60); /* word 2 has been stored to by thread 2 */
    wl_spans_free(&all);
    assert_int_equal(rewrite_missed(&c.left.copy), 0);
    small_end(&c);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(touched_elements_are_marked),
        cmocka_unit_test(elements_are_counted),
        cmocka_unit_test(whole_lines_are_counted_as_such),
        cmocka_unit_test(walks_of_loops_are_noted_behind_them),
        cmocka_unit_test(walks_of_loops_are_marked_behind_them),
        cmocka_unit_test(rows_are_marked_beside_what_data_says),
        cmocka_unit_test(accesses_in_step_are_looked_at_together),
        cmocka_unit_test(full_blocks_keep_the_guard_of_their_last_access),
        cmocka_unit_test(sites_that_run_alike_are_marked_together),
        cmocka_unit_test(lines_that_a_walk_covers_are_words_of_the_bitmap),
        cmocka_unit_test(marks_and_bits_are_for_lanes_side_by_side_and_scattered),
        cmocka_unit_test(counters_of_scattered_atomics_are_spread),
        cmocka_unit_test(shared_words_are_counted),
        cmocka_unit_test(shared_words_are_counted_by_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
