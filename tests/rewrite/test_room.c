/* Where room ends: arrays in shared memory and what is counted of them, bits beyond
 * those in registers, regions of the trace with any number of rows. */
#include "probed.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { LANES = 32, WORDS = 512 };

typedef struct room {
    probed p;
    shape s;
    rewrite_setup setup;
} room;

/* One warp; in[i] is i. */
static void begin(room *r, const char *ptx, const char *probes, uint64_t argument)
{
    uint32_t set;
    *r = (room){0};
    assert_true(rewrite_probes_parse(probes, &set));
    probed_begin(&r->p, ptx, set, true);
    uint32_t *data = fixture_alloc(&r->p.f, 4 * WORDS);
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = i;
    r->s = (shape){.grid = {1, 1, 1},
                   .block = {LANES, 1, 1},
                   .nargs = 2,
                   .args = {P(data), argument},
                   .data = data,
                   .bytes = 4 * WORDS};
}

static void run(room *r, left *l)
{
    static const uint64_t block = 0;
    shot after;
    shoot_probed(&r->p, "k", &r->s, false, &r->setup, &block, 1, &after, l);
    shot_end(&after);
}

/* ---- shared memory ---- */

/* Lane l accesses `width` words of the array from its word width * l + off on; others lie before
 * and after it. */
#define ARRAY(declared, access)                                                                \
    HEADER ".visible .entry k(.param .u64 in, .param .s32 off)\n{\n" declared                  \
           ".reg .pred %p<2>;\n.reg .b32 %r<10>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [in];\n" \
           "ld.param.s32 %r1, [off];\nmov.u32 %r2, %tid.x;\nmad.wide.u32 %d2, %r2, 4, %d1;\n"  \
           "ld.global.u32 %r3, [%d2];\n" access "ret;\n}\n"

#define THREE                                                                 \
    ".shared .align 16 .b8 before[2048];\n.shared .align 16 .b8 tile[128];\n" \
    ".shared .align 16 .b8 after[2048];\n"
/* So that the kernel has them, in this order. */
#define BEFORE "mov.u32 %r8, before;\nst.shared.u32 [%r8], 0;\n"
#define AFTER "mov.u32 %r9, after;\nst.shared.u32 [%r9], 0;\n"

static const struct {
    uint32_t width;
    const char *ptx;
} arrays[] = {
    {1, ARRAY(THREE, BEFORE "mul.lo.u32 %r4, %r3, 4;\nadd.u32 %r4, %r4, %r1;\nmov.u32 %r5, tile;\n"
                            "add.u32 %r4, %r4, %r5;\nst.shared.u32 [%r4], %r2;\n" AFTER)},
    {2, ARRAY(THREE, BEFORE "mul.lo.u32 %r4, %r3, 8;\nadd.u32 %r4, %r4, %r1;\nmov.u32 %r5, tile;\n"
                            "add.u32 %r4, %r4, %r5;\nst.shared.v2.u32 [%r4], {%r2, %r2};\n" AFTER)},
    {4, ARRAY(THREE, BEFORE
              "mul.lo.u32 %r4, %r3, 16;\nadd.u32 %r4, %r4, %r1;\nmov.u32 %r5, tile;\n"
              "add.u32 %r4, %r4, %r5;\nst.shared.v4.u32 [%r4], {%r2, %r2, %r2, %r2};\n" AFTER)},
};

static uint32_t index_of_variable(const rewrite_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->nvars; i++)
        if (strcmp(k->vars[i].var->name, name) == 0)
            return i;
    fail_msg("no variable %s", name);
    return 0;
}

/* Stores of words that lie in the array are counted there; others are missed. */
static void expect_stores(const left *l, uint32_t array, uint32_t width, int off)
{
    static uint64_t counts[REWRITE_CLASSES * 8192 / 4];
    uint32_t base = (uint32_t)rewrite_var_address(&l->copy, array) / 4, missed = 0;
    uint32_t words = l->layout.shared_bytes / 4;
    memset(counts, 0, sizeof counts);
    assert_int_equal(rewrite_read_shared(&l->copy, counts), WL_OK);
    for (int lane = 0; lane < LANES; lane++) {
        int first = lane * (int)width + off;
        missed += first < 0 || first + (int)width > 32;
    }
    for (int w = 0; w < 32; w++) {
        int lane = (w - off) / (int)width;
        bool stored = w >= off && lane < LANES && lane * (int)width + off + (int)width <= 32;
        assert_int_equal(counts[REWRITE_STORES * words + base + (uint32_t)w], stored);
    }
    assert_int_equal(rewrite_missed(&l->copy), missed);
}

static void arrays_end_where_they_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        for (int off = -33 * 4; off <= 33 * 4; off += (int)arrays[i].width) {
            room r;
            left l;
            begin(&r, arrays[i].ptx, "shared", (uint32_t)(4 * off));
            r.setup.shared_bytes = 8192;
            run(&r, &l);
            expect_stores(&l, index_of_variable(l.copy.kernel, "tile"), arrays[i].width, off);
            left_end(&l);
            probed_end(&r.p);
        }
}

static const char dynamic[] =
    ARRAY(".extern .shared .align 4 .b8 tile[];\n",
          "mul.lo.u32 %r4, %r3, 4;\nmov.u32 %r5, tile;\nadd.u32 %r4, %r4, %r5;\n"
          "atom.shared.add.u32 %r6, [%r4], 1;\n");

/* Of memory whose size the launch says as much is counted as the host has room for. */
static void shared_memory_is_counted_up_to_its_limit(void **state)
{
    (void)state;
    static uint64_t counts[REWRITE_CLASSES * 8192 / 4];
    uint32_t base = 0;
    for (uint32_t room_for = 0; room_for <= LANES + 1; room_for++) {
        room r;
        left l;
        begin(&r, dynamic, "shared", 0);
        r.s.dynamic_shared = 4 * (LANES + 2);
        r.setup.shared_bytes = room_for ? base + 4 * (room_for - 1) : 8192;
        run(&r, &l);
        base = (uint32_t)rewrite_var_address(&l.copy, 0);
        memset(counts, 0, sizeof counts);
        assert_int_equal(rewrite_read_shared(&l.copy, counts), WL_OK);
        uint32_t counted = room_for ? room_for - 1 : LANES, words = l.layout.shared_bytes / 4;
        for (uint32_t w = base / 4; w < words; w++)
            assert_int_equal(counts[REWRITE_ATOMICS * words + w], w < base / 4 + LANES);
        assert_int_equal(rewrite_missed(&l.copy), LANES - counted);
        left_end(&l);
        probed_end(&r.p);
    }
}

/* ---- bits of the sites that ran ---- */

/* More than registers hold bits of: store number i where in[i] is not 0. */
enum { STORES = 300 };

static char *many_stores(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fputs(HEADER ".visible .entry k(.param .u64 in, .param .u32 unused)\n{\n.reg .pred %p;\n"
                 ".reg .b32 %r;\n.reg .b64 %d;\nld.param.u64 %d, [in];\n",
          out);
    for (int i = 0; i < STORES; i++)
        fprintf(out,
                "ld.global.u32 %%r, [%%d+%d];\nsetp.ne.u32 %%p, %%r, 0;\n"
                "@%%p st.global.u32 [%%d+%d], 1;\n",
                4 * i, 4 * i);
    fputs("ret;\n}\n", out);
    fclose(out);
    return text;
}

static void expect_ran(const left *l)
{
    const rewrite_kernel *k = l->copy.kernel;
    uint32_t stores = 0;
    for (uint32_t s = 0; s < k->nsites; s++) {
        bool store = k->sites[s].op == ACC_STORE;
        if (rewrite_site_ran(&l->copy, s) != (!store || stores % 3 != 0))
            fail_msg("site %u, store %u", s, stores);
        stores += store;
    }
    assert_int_equal(stores, STORES);
}

/* Each multiprocessor has bits of its own. */
static void every_bit_of_every_copy_is_read(void **state)
{
    (void)state;
    room r;
    left l;
    char *text = many_stores();
    begin(&r, text, "objects", 0);
    for (uint32_t i = 0; i < STORES; i++)
        ((uint32_t *)r.s.data)[i] = i % 3;
    run(&r, &l);
    expect_ran(&l);
    uint32_t bytes = l.copy.kernel->bits_bytes;
    char *bits = (char *)l.state + l.copy.kernel->bits_at;
    for (uint32_t copy = 1; copy < REWRITE_COPIES; copy++) {
        memcpy(bits + (size_t)copy * bytes, bits + (size_t)(copy - 1) * bytes, bytes);
        memset(bits + (size_t)(copy - 1) * bytes, 0, bytes);
        expect_ran(&l);
    }
    left_end(&l);
    probed_end(&r.p);
    free(text);
}

/* ---- the trace ---- */

/* Each lane as often as its number says, in two kinds of records: a load whose address is read, and
 * a store in every second iteration. */
static const char looped[] = ARRAY(
    "", "mov.u32 %r4, 0;\nA:\nld.global.u32 %r5, [%d2];\nmad.wide.u32 %d3, %r5, 4, %d1;\n"
        "and.b32 %r6, %r4, 1;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra B;\nst.global.u32 [%d3], %r5;\n"
        "B:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r2;\n@%p1 bra A;\n"
        "ld.global.u32 %r5, [%d3+8];\n");

typedef struct lane_trace { /* what a lane accessed, in its order */
    uint32_t count;
    uint64_t addr[4096];
} lane_trace;

static void split_by_lane(const shot *s, lane_trace *lanes)
{
    memset(lanes, 0, LANES * sizeof *lanes);
    for (size_t i = 0; i < s->count; i++)
        for (uint32_t l = 0; l < LANES; l++)
            if (s->list[i].mask >> l & 1)
                lanes[l].addr[lanes[l].count++] = s->list[i].addr[l] << 8 | s->list[i].pc;
}

/* What each lane has of `some` is the beginning of what it has of `all`. */
static uint32_t expect_beginnings(const shot *all, const shot *some)
{
    static lane_trace whole[LANES], part[LANES];
    uint32_t lacking = 0;
    split_by_lane(all, whole);
    split_by_lane(some, part);
    for (uint32_t l = 0; l < LANES; l++) {
        assert_true(part[l].count <= whole[l].count);
        assert_memory_equal(part[l].addr, whole[l].addr, part[l].count * sizeof *part[l].addr);
        lacking += whole[l].count - part[l].count;
    }
    return lacking;
}

static void shoot_rows(room *r, uint32_t rows, shot *out, left *l)
{
    *out = (shot){0};
    r->setup.rows = rows;
    run(r, l);
    read_trace(&r->p, l, out);
}

static void traces_with_any_number_of_rows_begin_alike(void **state)
{
    (void)state;
    room r;
    shot all, some;
    left whole, l;
    begin(&r, looped, "trace", 0);
    shoot_rows(&r, 1000, &all, &whole);
    assert_int_equal(rewrite_dropped(&whole.copy), 0);
    uint32_t used = rewrite_rows_used(whole.state), tail = whole.copy.kernel->tail_rows;
    assert_true(used > 60);
    for (uint32_t rows = 1; rows <= used + tail + 2; rows++) {
        shoot_rows(&r, rows, &some, &l);
        uint32_t lacking = expect_beginnings(&all, &some);
        assert_int_equal(lacking > 0, rewrite_dropped(&l.copy) > 0);
        if (rows >= used + tail - 1) /* the end's row is one of those used */
            assert_int_equal(lacking, 0);
        else
            assert_true(lacking > 0);
        left_end(&l), shot_end(&some);
    }
    left_end(&whole), shot_end(&all);
    probed_end(&r.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_end_where_they_end),
        cmocka_unit_test(shared_memory_is_counted_up_to_its_limit),
        cmocka_unit_test(every_bit_of_every_copy_is_read),
        cmocka_unit_test(traces_with_any_number_of_rows_begin_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
