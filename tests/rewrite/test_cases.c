/* Traces, and counters of sites and basic blocks, on a kernel small enough to know the buffers by hand. */
#include "elements.h"
#include "small.h"

#include "ir/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the traced block's only warp. */
static uint64_t row_of(const small *c, uint32_t row, uint32_t lane)
{
    uint64_t value;
    memcpy(&value,
           (const char *)c->left.state + c->left.layout.pool_at + row * REWRITE_ROW +
               8 * (size_t)lane,
           sizeof value);
    return value;
}

static void assert_record(const small *c, uint32_t row, uint32_t lane, uint32_t piece,
                          uint32_t mask)
{
    assert_int_equal(row_of(c, row, lane), piece | (uint64_t)mask << 32);
}

static void trace_writes_these_records(void **state)
{
    (void)state;
    small c;
    small_begin(&c, SMALL, "trace", true);
    const rewrite_state *head = c.left.state;
    assert_int_equal(head->block[0], 1);
    assert_int_equal(head->ran[0], 1);
    assert_int_equal(head->ran[1], 0);
    assert_int_equal(head->version, REWRITE_VERSION);
    assert_int_equal(c.k->npieces, 1); /* a region: its second block has bit 0 */
    for (uint32_t lane = 0; lane < 32; lane++) {
        bool second = lane == 4 || lane == 9;
        assert_record(&c, 0, lane, second ? 1u << REWRITE_RAN_SHIFT : 0, UINT32_MAX);
        assert_int_equal(row_of(&c, 1, lane), P(c.s.data) + 4 * lane);
        if (second)
            assert_int_equal(row_of(&c, 2, lane), P(c.s.data) + 4 * (8 * lane + 2));
        assert_int_equal(row_of(&c, 3, lane), P(c.s.data)); /* its register: 400 less */
        assert_record(&c, 4, lane, REWRITE_END, 0);
    }
    assert_int_equal(c.k->spots[2].offset, 400);
    assert_int_equal(rewrite_rows_used(head), 5);
    small_end(&c);
}

/* s: one warp; lane l reads in[l + 32 * i] for i up to 3 + l % 2. */
#define LOOP                                                                     \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                              \
           ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"             \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"                     \
           "mad.wide.u32 %d2, %r1, 4, %d1;\nand.b32 %r2, %r1, 1;\n"              \
           "add.u32 %r2, %r2, 3;\nmov.u32 %r3, 0;\n"                             \
           "AGAIN:\nld.global.u32 %r4, [%d2];\nadd.s64 %d2, %d2, 128;\n"         \
           "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n" \
           "ret;\n}\n"

static void trace_tells_of_a_loop_from_outside(void **state)
{
    (void)state;
    small c;
    small_begin(&c, LOOP, "trace", true);
    assert_int_equal(c.k->npieces, 1);
    assert_true(c.k->pieces[0].loop);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_record(&c, 0, lane, 0, UINT32_MAX);
        assert_int_equal(row_of(&c, 1, lane), P(c.s.data) + 4 * lane);
        assert_int_equal(row_of(&c, 2, lane), P(c.s.data) + 4 * lane + 128 * (3 + lane % 2));
        assert_record(&c, 3, lane, REWRITE_END, 0);
    }
    assert_int_equal(c.k->pieces[0].count_row, 1);
    assert_int_equal(c.k->pieces[0].count_step, 128);
    shot decoded = {0};
    read_trace(&c.p, &c.left, &decoded);
    assert_int_equal(decoded.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(decoded.list[i].mask, i < 3 ? UINT32_MAX : 0xaaaaaaaa);
        assert_int_equal(decoded.list[i].addr[31], P(c.s.data) + 4 * (31 + 32 * i));
    }
    shot_end(&decoded);
    small_end(&c);
}

/* Lane l goes l % 2 + 2 times through two arrays, by a step that it computes; the second base is
 * computed in the loop. */
#define STRIDES                                                                 \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                             \
           ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %d<6>;\n"            \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"                    \
           "mad.wide.u32 %d2, %r1, 4, %d1;\nmov.u32 %r5, %ntid.x;\n"            \
           "mul.wide.u32 %d3, %r5, 4;\nand.b32 %r2, %r1, 1;\n"                  \
           "add.u32 %r2, %r2, 2;\n"                                             \
           "AGAIN:\nld.global.u32 %r4, [%d2];\nadd.s64 %d4, %d2, 512;\n"        \
           "ld.global.u32 %r4, [%d4+4];\nadd.s64 %d2, %d2, %d3;\n"              \
           "add.s32 %r2, %r2, -1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;\n" \
           "ret;\n}\n"

/* Lane l reads in[l + 32 * i] below in[96 + l / 16 * 32]; 32 is the number of threads, and an
 * address is computed anew each time. */
#define GRID                                                                        \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                                 \
           ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %d<6>;\n"                \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\n" \
           "shr.u32 %r3, %r1, 4;\nshl.b32 %r3, %r3, 5;\nadd.s32 %r3, %r3, 96;\n"    \
           "AGAIN:\nmul.wide.s32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n"            \
           "ld.global.u32 %r4, [%d3];\nadd.s32 %r1, %r1, %r2;\n"                    \
           "setp.lt.s32 %p1, %r1, %r3;\n@%p1 bra AGAIN;\nret;\n}\n"

static void steps_may_be_in_registers(void **state)
{
    (void)state;
    small c;
    small_begin(&c, GRID, "trace", true);
    assert_int_equal(c.k->npieces, 1);
    assert_int_equal(c.k->pieces[0].by_row, 2);
    assert_int_equal(c.k->spots[0].step, 4); /* times what counts */
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t n = 3 + lane / 16, own = P(c.s.data) + 4 * lane;
        assert_record(&c, 0, lane, 0, UINT32_MAX);
        assert_int_equal(row_of(&c, 1, lane), lane | (lane + 32 * n) << 32);
        assert_int_equal((uint32_t)row_of(&c, 2, lane), 32);
        assert_int_equal(row_of(&c, 3, lane), own + 128 * (n - 1));
        assert_record(&c, 4, lane, REWRITE_END, 0);
    }
    shot decoded = {0};
    read_trace(&c.p, &c.left, &decoded);
    assert_int_equal(decoded.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(decoded.list[i].mask, i < 3 ? UINT32_MAX : 0xffff0000);
        assert_int_equal(decoded.list[i].addr[31], P(c.s.data) + 4 * 31 + 128 * i);
    }
    shot_end(&decoded);
    small_end(&c);
}

static void steps_follow_from_what_is_behind_the_loop(void **state)
{
    (void)state;
    small c;
    small_begin(&c, STRIDES, "trace", true);
    assert_int_equal(c.k->npieces, 1);
    assert_null(strstr(c.p.result.text, "$__wl_steady"));
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t own = P(c.s.data) + 4 * lane, n = 2 + lane % 2;
        assert_record(&c, 0, lane, 0, UINT32_MAX);
        assert_int_equal(row_of(&c, 1, lane), own);
        assert_int_equal(row_of(&c, 2, lane), own + 128 * n);
        assert_int_equal(row_of(&c, 3, lane), n); /* from n to 0 */
        assert_int_equal(row_of(&c, 4, lane), own + 512 + 128 * (n - 1));
        assert_record(&c, 5, lane, REWRITE_END, 0);
    }
    assert_int_equal(c.k->pieces[0].count_step, -1);
    shot decoded = {0};
    read_trace(&c.p, &c.left, &decoded);
    assert_int_equal(decoded.count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(decoded.list[i].mask, i < 4 ? UINT32_MAX : 0xaaaaaaaa);
        assert_int_equal(decoded.list[i].addr[31],
                         P(c.s.data) + 4 * 31 + 128 * (i / 2) + 516 * (i % 2));
    }
    shot_end(&decoded);
    small_end(&c);
}

/* Lanes below 8 read one word, of them those below 4 another one; the others write; in the end all
 * read an array in shared memory, by its name. */
#define WAYS                                                                        \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                                 \
           ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"                \
           ".shared .align 4 .b8 own[64];\n"                                        \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"                        \
           "mad.wide.u32 %d2, %r1, 4, %d1;\nst.shared.u32 [own+8], %r1;\n"          \
           "setp.lt.u32 %p1, %r1, 8;\n@!%p1 bra ELSE;\nld.global.u32 %r2, [%d2];\n" \
           "setp.lt.u32 %p2, %r1, 4;\n@!%p2 bra END;\nadd.s64 %d3, %d2, 4;\n"       \
           "ld.global.u32 %r2, [%d3];\nbra.uni END;\n"                              \
           "ELSE:\nst.global.u32 [%d2+1024], %r1;\n"                                \
           "END:\nbar.sync 0;\nld.shared.u32 %r3, [own+8];\nret;\n}\n"

static void lanes_tell_which_ways_they_went(void **state)
{
    (void)state;
    small c;
    small_begin(&c, WAYS, "trace", true);
    assert_int_equal(c.k->npieces, 1);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t ran = lane < 4 ? 1 | 2 : lane < 8 ? 1 : 4;
        uint64_t own = P(c.s.data) + 4 * lane;
        assert_record(&c, 0, lane, ran << REWRITE_RAN_SHIFT, UINT32_MAX);
        if (lane < 8)
            assert_int_equal(row_of(&c, 1, lane), own);
        if (lane < 4)
            assert_int_equal(row_of(&c, 2, lane), own + 4);
        if (lane >= 8)
            assert_int_equal(row_of(&c, 3, lane), own);
        assert_record(&c, 4, lane, REWRITE_END, 0);
    }
    static const uint32_t masks[] = {UINT32_MAX, 0xff, 0xf, 0xffffff00, UINT32_MAX};
    uint64_t variable = rewrite_var_address(&c.left.copy, 0);
    shot decoded = {0};
    read_trace(&c.p, &c.left, &decoded);
    assert_int_equal(decoded.count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(decoded.list[i].mask, masks[i]);
    assert_int_equal(decoded.list[3].addr[8], P(c.s.data) + 1024 + 32);
    assert_int_equal(decoded.list[4].addr[8], variable + 8);
    shot_end(&decoded);
    small_end(&c);
}

/* A lane reads its word and writes another in every second of as many iterations as the word says;
 * then it reads the next. */
#define OWN                                                                             \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                                     \
           ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"                    \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"                            \
           "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.u32 %r2, [%d2];\n"                \
           "mov.u32 %r3, 0;\n"                                                          \
           "AGAIN:\nxor.b32 %r4, %r2, %r3;\nand.b32 %r4, %r4, 1;\n"                     \
           "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra NEXT;\nst.global.u32 [%d2+1024], %r3;\n" \
           "NEXT:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n" \
           "ld.global.u32 %r4, [%d2+4];\nret;\n}\n"

static void what_is_known_before_a_loop_is_written_before_it(void **state)
{
    (void)state;
    small c;
    small_begin(&c, OWN, "trace", true);
    /* What is before the loop, an iteration of it, what is after. */
    assert_int_equal(c.k->npieces, 3);
    assert_int_equal(c.k->pieces[0].nkeeps, 1);
    for (uint32_t lane = 0; lane < 32; lane++) {
        bool two = lane == 4 || lane == 9;
        uint32_t n = two ? 2 : 7, of = two ? 1u << 4 | 1u << 9 : ~(1u << 4 | 1u << 9), row = 2;
        assert_record(&c, 0, lane, 0, UINT32_MAX);
        assert_int_equal(row_of(&c, 1, lane), P(c.s.data) + 4 * lane);
        for (uint32_t i = 0; i < n; i++, row++) {
            uint32_t ran = (i + n) % 2 == 0 ? 1u << REWRITE_RAN_SHIFT : 0;
            assert_record(&c, row, lane, 1 | ran, i < 2 ? UINT32_MAX : of);
        }
        assert_record(&c, row, lane, 2, UINT32_MAX);
        assert_record(&c, row + 1, lane, REWRITE_END, 0);
    }
    shot decoded = {0};
    read_trace(&c.p, &c.left, &decoded);
    uint32_t stores = 0;
    for (size_t i = 0; i < decoded.count; i++) {
        const seen *a = &decoded.list[i];
        uint32_t lane = (uint32_t)__builtin_ctz(a->mask);
        stores += a->op == ACC_STORE ? (uint32_t)__builtin_popcount(a->mask) : 0;
        uint64_t from = P(c.s.data) + 4 * lane;
        assert_int_equal(a->addr[lane] - from, a->op == ACC_STORE ? 1024 : i ? 4 : 0);
    }
    assert_int_equal(stores, 2 * 1 + 30 * 3);
    shot_end(&decoded);
    small_end(&c);
}

/* An old state, or one that is yet to come. */
static void traces_of_other_versions_are_not_read(void **state)
{
    (void)state;
    small c;
    small_begin(&c, SMALL, "trace", true);
    assert_true(rewrite_trace_is_readable(&c.left.copy));
    ((rewrite_state *)c.left.state)->version = 0;
    assert_false(rewrite_trace_is_readable(&c.left.copy));
    shot decoded = {0};
    read_trace(&c.p, &c.left, &decoded);
    assert_int_equal(decoded.count, 0);
    shot_end(&decoded);
    small_end(&c);
}

/* A lane goes from word to word by one register, which a load changes at last. */
#define CHAIN                                                            \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                      \
           ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"                        \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"             \
           "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.u32 %r2, [%d2];\n" \
           "add.s64 %d2, %d2, 128;\nld.global.u32 %r2, [%d2+4];\n"       \
           "add.s64 %d3, %d2, %d1;\nsub.s64 %d3, %d3, %d1;\n"            \
           "{\n.reg .b64 %d3;\nadd.s64 %d3, %d2, 256;\n"                 \
           "ld.global.u32 %r2, [%d3];\n}\n"                              \
           "st.global.u32 [%d3+1024], %r2;\nret;\n}\n"

static void bases_are_written_where_the_block_ends(void **state)
{
    (void)state;
    small c;
    small_begin(&c, CHAIN, "trace", true);
    const char *text = c.p.result.text;
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t own = P(c.s.data) + 4 * lane;
        assert_record(&c, 0, lane, 0, UINT32_MAX);
        assert_int_equal(row_of(&c, 1, lane), own);
        assert_int_equal(row_of(&c, 2, lane), own + 128);
        assert_int_equal(row_of(&c, 3, lane), own + 384);
        assert_int_equal(row_of(&c, 4, lane), own + 128);
        assert_record(&c, 5, lane, REWRITE_END, 0);
    }
    /* Two are kept beyond their registers' changes; what another scope declares is written in
     * it. */
    assert_non_null(strstr(text, "mov.b64 __wl_held0, %d2;"));
    const char *traced = strstr(text, "%r2, [%d2+4];"), *first = strstr(text, "[__wl_row+256]");
    assert_true(traced && first > traced);
    assert_true(strstr(text, "[__wl_row+768], %d3;") < strstr(text, "[__wl_row+1024], %d3;"));
    small_end(&c);
}

/* A product, an access and the sum; another product has two uses, and one is rounded by itself. */
#define PRODUCTS                                                               \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                            \
           ".reg .b32 %r<3>;\n.reg .f32 %f<9>;\n.reg .b64 %d<4>;\n"            \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"                   \
           "mad.wide.u32 %d2, %r1, 4, %d1;\nld.global.f32 %f1, [%d2];\n"       \
           "mul.f32 %f2, %f1, 0f40000000;\nmul.f32 %f3, %f1, 0f40400000;\n"    \
           "mul.rn.f32 %f4, %f1, 0f40800000;\nld.global.f32 %f5, [%d2+128];\n" \
           "sub.f32 %f6, %f5, %f2;\nadd.f32 %f7, %f6, %f3;\n"                  \
           "add.f32 %f7, %f7, %f3;\nadd.f32 %f8, %f7, %f4;\n"                  \
           "st.global.f32 [%d2], %f8;\nret;\n}\n"

static uint32_t occurrences(const char *text, const char *what)
{
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

static void products_are_computed_where_they_are_summed(void **state)
{
    (void)state;
    small c;
    small_begin(&c, PRODUCTS, "frequency", true);
    const char *text = c.p.result.text;
    /* The probed copy and the plain one. */
    assert_int_equal(occurrences(text, "%f2, %f1,"), 2 + 1);
    assert_int_equal(occurrences(text, "%f3, %f1,"), 2);
    assert_int_equal(occurrences(text, "%f4, %f1,"), 2);
    const char *again = strstr(strstr(text, "%f2, %f1,") + 1, "%f2, %f1,");
    const char *sum = strstr(text, "%f6, %f5, %f2");
    assert_true(again < sum &&
                !memchr(strchr(again, '\n') + 1, '\n', (size_t)(sum - strchr(again, '\n')) - 1));
    small_end(&c);
}

/* The first and the last access follow from the launch: they carry no probe unless everything
 * does. */
static void only_what_is_not_proven_is_probed(void **state)
{
    (void)state;
    small c;
    small_begin(&c, SMALL, "trace", false);
    assert_int_equal(c.k->nsites, 1);
    assert_int_equal(c.k->sites[0].op, ACC_LOAD);
    assert_int_equal(c.k->sites[0].bytes, 4);
    assert_int_equal(c.k->sites[0].param, 0);
    assert_int_equal(rewrite_rows_used(c.left.state), 3);
    small_end(&c);
}

static void blocks_are_counted(void **state)
{
    (void)state;
    /* Two warps; after the last instruction there is an empty block, where nobody comes. */
    static const uint64_t want[][2] = {{2, 64}, {2, 4}, {2, 64}, {0, 0}};
    small c;
    small_begin(&c, SMALL, "blocks", false);
    assert_int_equal(c.k->nblocks, 4);
    for (uint32_t b = 0; b < 4; b++) {
        uint64_t executions, lanes;
        assert_true(rewrite_read_block(&c.left.copy, b, &executions, &lanes));
        assert_int_equal(executions, want[b][0]);
        assert_int_equal(lanes, want[b][1]);
    }
    assert_int_equal(c.k->blocks[0].counter, c.k->blocks[2].counter); /* the two run alike */
    small_end(&c);
}

static void sites_that_ran_are_marked(void **state)
{
    (void)state;
    small c;
    small_begin(&c, SMALL, "objects", true);
    for (uint32_t s = 0; s < 3; s++)
        assert_true(rewrite_site_ran(&c.left.copy, s));
    small_end(&c);
    /* No lane reads a number below 0. */
    char *other = strdup(SMALL), *limit = strstr(other, "%r2, 3;");
    memcpy(limit, "%r2, 0;", 7);
    small_begin(&c, other, "objects", true);
    assert_true(rewrite_site_ran(&c.left.copy, 0));
    assert_false(rewrite_site_ran(&c.left.copy, 1));
    assert_true(rewrite_site_ran(&c.left.copy, 2));
    small_end(&c);
    free(other);
}

/* k(in, n), n = 40: thread i of the grid reads in[i] where i < n, in[2 i] where i + 8 * block > n +
 * 21, and in[3 i] where it does not get to by the launch alone: the number that it reads there
 * first is below 3. */
#define EDGES                                                                             \
    HEADER ".visible .entry k(.param .u64 in, .param .u32 n)\n{\n"                        \
           ".reg .pred %p<5>;\n.reg .b32 %r<12>;\n.reg .b64 %d<6>;\n"                     \
           "ld.param.u64 %d1, [in];\nld.param.u32 %r1, [n];\n"                            \
           "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"        \
           "mad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 bra PAST;\n" \
           "mad.wide.s32 %d2, %r5, 4, %d1;\nld.global.u32 %r6, [%d2];\n"                  \
           "setp.ge.u32 %p2, %r6, 3;\n@%p2 bra PAST;\n"                                   \
           "mad.wide.s32 %d3, %r5, 12, %d1;\nld.global.u32 %r7, [%d3];\n"                 \
           "PAST:\nshl.b32 %r8, %r2, 3;\nadd.s32 %r9, %r5, %r8;\n"                        \
           "add.s32 %r10, %r1, 21;\nsetp.le.s32 %p3, %r9, %r10;\n@%p3 bra END;\n"         \
           "mad.wide.s32 %d4, %r5, 8, %d1;\nld.global.u32 %r11, [%d4];\n"                 \
           "END:\nret;\n}\n"

static void what_branches_on_the_launch_lead_to_needs_no_bit(void **state)
{
    (void)state;
    small c;
    small_begin(&c, EDGES, "objects", true);
    assert_int_equal(c.k->nbits, 1);
    assert_true(rewrite_site_ran(&c.left.copy, 0));
    assert_true(rewrite_site_ran(&c.left.copy, 1));
    assert_true(rewrite_site_ran(&c.left.copy, 2)); /* thread 30 of block 1: 62 + 8 */
    rewrite_copy copy = c.left.copy;
    uint32_t n = 0;
    memcpy(c.left.params + 8, &n, sizeof n);
    assert_false(rewrite_site_ran(&copy, 0));
    n = 50; /* 71 is the greatest that there is, in the last thread */
    memcpy(c.left.params + 8, &n, sizeof n);
    assert_false(rewrite_site_ran(&copy, 2));
    copy.nparams = 8; /* nobody knows */
    assert_true(rewrite_site_ran(&copy, 2));
    small_end(&c);
    /* One block never gets as far. */
    small_begin(&c, EDGES, "objects", true);
    copy = c.left.copy;
    copy.grid[0] = 1;
    assert_true(rewrite_site_ran(&copy, 0));
    assert_false(rewrite_site_ran(&copy, 2));
    copy.grid[0] = 0;
    assert_true(rewrite_site_ran(&copy, 2));
    small_end(&c);
}

static void what_follows_from_the_launch_is_left_alone(void **state)
{
    (void)state;
    small c;
    char *other = strdup(EDGES), *guard = strstr(other, "@%p2 bra PAST;");
    memcpy(guard, "@%p1", 4);
    small_begin(&c, other, "objects", true);
    assert_int_equal(c.k->probes, 0);
    assert_null(c.p.result.text);
    small_end(&c);
    small_begin(&c, other, "objects,blocks", true);
    assert_int_equal(c.k->nbits, 0);
    for (uint32_t s = 0; s < 3; s++)
        assert_true(rewrite_site_ran(&c.left.copy, s));
    small_end(&c);
    free(other);
}

static void states_are_packed_without_their_holes(void **state)
{
    (void)state;
    const rewrite_run runs[] = {{0, 4}, {12, 2}};
    char packed[128], whole[16] = {0}, part[4] = {0};
    uint64_t head = rewrite_pack_head(runs, 2, 16, NULL);
    assert_int_equal(head, 48);
    assert_int_equal(rewrite_pack_head(runs, 2, 16, packed), head);
    memcpy(packed + head, "abcdxy", 6);
    assert_int_equal(rewrite_packed_size(packed, head + 6), 16);
    rewrite_unpack(packed, head + 6, 0, whole, sizeof whole);
    assert_memory_equal(whole, "abcd\0\0\0\0\0\0\0\0xy\0\0", 16);
    rewrite_unpack(packed, head + 6, 2, part, sizeof part);
    assert_memory_equal(part, "cd\0\0", 4);
    memset(whole, 0, sizeof whole);
    rewrite_unpack(packed, head + 5, 0, whole, sizeof whole); /* cut off */
    assert_memory_equal(whole, "abcd\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_int_equal(rewrite_packed_size(packed, 8), 0);
    assert_true(rewrite_is_packed(packed, head + 6));
    assert_false(rewrite_is_packed(packed, head + 5));
    assert_false(rewrite_is_packed(packed, head + 7));
    assert_false(rewrite_is_packed(packed, head - 1));
    assert_false(rewrite_is_packed(packed, 15));
}

/* Threads 0 to 2 in a loop that all run four times, and what follows from that for the blocks;
 * lanes 4 and 9 take the other way of a branch on data, and in the second block all do, since the
 * first has stored zeros. Three tallies: the loop's, that of the branch, and that of what is after
 * the end. */
static void blocks_follow_from_others(void **state)
{
    (void)state;
    small c;
    small_begin(&c,
                HEADER ".visible .entry k(.param .u64 in)\n{\n"
                       ".reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .b64 %d<4>;\n"
                       "mov.u32 %r1, %tid.x;\nsetp.gt.s32 %p1, %r1, 2;\nmov.u32 %r5, 0;\n"
                       "AGAIN:\n@%p1 bra PAST;\nadd.s32 %r6, %r6, 1;\n"
                       "PAST:\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p2, %r5, 4;\n@%p2 bra AGAIN;\n"
                       "ld.param.u64 %d1, [in];\nmul.wide.u32 %d2, %r1, 4;\n"
                       "add.s64 %d3, %d1, %d2;\nld.global.u32 %r7, [%d3];\n"
                       "setp.lt.u32 %p3, %r7, 3;\n@%p3 bra END;\nst.global.u32 [%d3], 0;\n"
                       "END:\nret;\n}\n",
                "blocks", true);
    static const struct {
        uint64_t executions, lanes;
    } want[] = {{2, 64}, {8, 256}, {8, 24}, {8, 256}, {2, 64}, {1, 30}, {2, 64}, {0, 0}};
    assert_int_equal(c.k->nblocks, sizeof want / sizeof *want);
    for (uint32_t b = 0; b < c.k->nblocks; b++) {
        uint64_t executions, lanes;
        assert_true(rewrite_read_block(&c.left.copy, b, &executions, &lanes));
        assert_int_equal(executions, want[b].executions);
        assert_int_equal(lanes, want[b].lanes);
    }
    assert_int_equal(c.k->ntallies, 3);
    small_end(&c);
}

/* A pointer that was loaded: the object is known only when it runs. */
static void loaded_pointers_mark_their_object(void **state)
{
    (void)state;
    small c;
    uint32_t set;
    const uint64_t block = 0;
    assert_true(rewrite_probes_parse("objects", &set));
    memset(&c, 0, sizeof c);
    probed_begin(&c.p,
                 HEADER ".visible .entry k(.param .u64 in)\n{\n.reg .b64 %d<6>;\n.reg .b32 %r<3>;\n"
                        "ld.param.u64 %d1, [in];\nld.global.u64 %d2, [%d1];\n"
                        "ld.global.u32 %r1, [%d2+8];\nst.global.u32 [%d2], %r1;\nret;\n}\n",
                 set, false);
    uint64_t *pointer = fixture_alloc(&c.p.f, 256), *other = fixture_alloc(&c.p.f, 256);
    *pointer = P(other);
    rewrite_object objects[] = {{P(pointer), 256}, {P(other), 256}};
    rewrite_setup setup = {.nobjects = 2, .objects = objects};
    c.s = (shape){.grid = {1, 1, 1},
                  .block = {64, 1, 1},
                  .nargs = 1,
                  .args = {P(pointer)},
                  .data = pointer,
                  .bytes = 256};
    shoot_probed(&c.p, "k", &c.s, false, &setup, &block, 1, &c.shot, &c.left);
    assert_int_equal(rewrite_object_used(&c.left.copy, 0), 0);
    assert_int_equal(rewrite_object_used(&c.left.copy, 1),
                     1u << REWRITE_LOADS | 1u << REWRITE_STORES);
    small_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_writes_these_records),
        cmocka_unit_test(trace_tells_of_a_loop_from_outside),
        cmocka_unit_test(bases_are_written_where_the_block_ends),
        cmocka_unit_test(steps_may_be_in_registers),
        cmocka_unit_test(steps_follow_from_what_is_behind_the_loop),
        cmocka_unit_test(lanes_tell_which_ways_they_went),
        cmocka_unit_test(what_is_known_before_a_loop_is_written_before_it),
        cmocka_unit_test(traces_of_other_versions_are_not_read),
        cmocka_unit_test(products_are_computed_where_they_are_summed),
        cmocka_unit_test(only_what_is_not_proven_is_probed),
        cmocka_unit_test(blocks_are_counted),
        cmocka_unit_test(sites_that_ran_are_marked),
        cmocka_unit_test(what_branches_on_the_launch_lead_to_needs_no_bit),
        cmocka_unit_test(what_follows_from_the_launch_is_left_alone),
        cmocka_unit_test(states_are_packed_without_their_holes),
        cmocka_unit_test(blocks_follow_from_others),
        cmocka_unit_test(loaded_pointers_mark_their_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
