/* Which threads an access is left to: premises worked out by hand, and random code against the threads
 * that made its accesses in the emulator. */
#include "analysis/shared/crowd.h"

#include "emu/fixture.h"
#include "flow/premises.h"
#include "flow/support.h"
#include "support/random.h"

#include <stdarg.h>

enum { KERNELS = 1200, TEXT = 65536, MOST_PCS = 1200, REGS = 24, PREDICATES = 12 };

/* ---- by hand ---- */

static void expect_lanes(const char *premise, uint32_t x, uint32_t y, uint32_t z, uint32_t warp,
                         uint32_t lanes)
{
    wl_arena *arena = wl_arena_new();
    const uint32_t block[3] = {x, y, z};
    crowd c;
    assert_true(crowd_of(premise, block, arena, &c));
    if (c.lanes[warp] != lanes)
        fail_msg("%s: %x, not %x", premise, c.lanes[warp], lanes);
    wl_arena_free(arena);
}

static void of_places(void **state)
{
    (void)state;
    expect_lanes(NULL, 40, 1, 1, 1, 0xff);
    expect_lanes("lt.u32(tid.x, 4)", 64, 1, 1, 0, 0xf);
    expect_lanes("lt.u32(tid.x, 4)", 64, 1, 1, 1, 0);
    expect_lanes("lt.u32(tid.x, 4)", 8, 8, 1, 1, 0x0f0f0f0f);
    expect_lanes("eq.u32(tid.y, 1)", 8, 8, 1, 0, 0xff00);
    expect_lanes("eq.u32(tid.z, 1)", 8, 2, 4, 0, 0xffff0000);
    expect_lanes("eq.u32(laneid, 3)", 8, 8, 1, 1, 8);
    expect_lanes("lt.u32(tid.x, shr.u32(ntid.x, 1))", 16, 1, 1, 0, 0xff);
}

static void of_numbers_with_a_sign(void **state)
{
    (void)state;
    expect_lanes("lt.s32(sub.s32(tid.x, 4), 0)", 32, 1, 1, 0, 0xf);
    expect_lanes("lt.u32(sub.u32(tid.x, 4), 2)", 32, 1, 1, 0, 0x30);
    expect_lanes("lt.s32(shr.s32(sub.s32(tid.x, 4), 1), -1)", 32, 1, 1, 0, 3);
    expect_lanes("eq.s32(shr.s32(sub.s32(tid.x, 4), 40), -1)", 32, 1, 1, 0, 0xf);
    expect_lanes("eq.s32(rem.s32(sub.s32(tid.x, 4), 3), -1)", 32, 1, 1, 0, 9);
    expect_lanes("eq.u16(shl.u16(tid.x, 15), 0)", 32, 1, 1, 0, 0x55555555);
    expect_lanes("lt.s64(widen.s16(shl.u16(tid.x, 12)), 0)", 32, 1, 1, 0, 0xff00ff00);
}

static void of_what_is_not_known(void **state)
{
    (void)state;
    expect_lanes("and.pred(?, lt.u32(tid.x, 4))", 32, 1, 1, 0, 0xf);
    expect_lanes("or.pred(?, lt.u32(tid.x, 4))", 32, 1, 1, 0, UINT32_MAX);
    expect_lanes("not.pred(or.pred(?, lt.u32(tid.x, 4)))", 32, 1, 1, 0, 0xfffffff0);
    expect_lanes("xor.pred(?, lt.u32(tid.x, 4))", 32, 1, 1, 0, UINT32_MAX);
    expect_lanes("lt.u32(tid.x, and.b32(?, 3))", 32, 1, 1, 0, 7);
    expect_lanes("lt.s32(tid.x, and.b32(?, 3))", 32, 1, 1, 0, 7);
    expect_lanes("lt.u32(tid.x, add.u32(and.b32(?, 3), 1))", 32, 1, 1, 0, 0xf);
    expect_lanes("lt.u32(tid.x, sub.u32(and.b32(?, 3), 1))", 32, 1, 1, 0, UINT32_MAX);
    expect_lanes("lt.u32(tid.x, either.b32(2, 5))", 32, 1, 1, 0, 0x1f);
    expect_lanes("lt.u32(tid.x, select.b32(2, 5, ?))", 32, 1, 1, 0, 0x1f);
    expect_lanes("eq.u32(div.u32(tid.x, 0), 1)", 2, 1, 1, 0, 3);
    /* What goes over the most begins anew. */
    expect_lanes("lt.u64(tid.x, add.u64(max.u64(?, 5), 3))", 32, 1, 1, 0, UINT32_MAX);
    expect_lanes("gt.u16(tid.x, either.b32(65536, 65540))", 32, 1, 1, 0, 0xfffffffe);
    expect_lanes("eq.u32(tid.x, mul.u32(max.u32(?, 5), 2))", 32, 1, 1, 0, UINT32_MAX);
}

static void of_iterations(void **state)
{
    (void)state;
    expect_lanes("lt.u32(tid.x, loop.b32(shr.u32(ntid.x, 2), shr.u32(self, 1), ?))", 32, 1, 1, 0,
                 0xff);
    expect_lanes("ge.u32(tid.x, loop.b32(16, shr.u32(self, 1), ne.u32(shr.u32(self, 2), 0)))", 32,
                 1, 1, 0, 0xfffffffc);
    expect_lanes("lt.u32(tid.x, loop.b32(1, shl.b32(self, 1), lt.u32(self, 8)))", 32, 1, 1, 0,
                 0xff);
    expect_lanes("lt.u32(tid.x, loop.b32(1, shl.b32(self, 1), ?))", 32, 1, 1, 0, UINT32_MAX);
    expect_lanes("eq.u32(tid.x, loop.b32(9, sub.u32(self, 4), gt.u32(self, 4)))", 32, 1, 1, 0,
                 0x3fe);
    expect_lanes("lt.u32(tid.x, loop.b32(either.b32(4, 6), shr.u32(self, 1), ?))", 32, 1, 1, 0,
                 0x3f);
    expect_lanes("lt.u32(tid.x, loop.b32(either.b32(4, 6), sub.u32(self, 1), ?))", 32, 1, 1, 0,
                 UINT32_MAX);
}

static void of_damaged_text(void **state)
{
    static const char *const texts[] = {"",
                                        "lt",
                                        "lt.u32",
                                        "lt.u32(",
                                        "lt.u32(tid.x",
                                        "lt.u32(tid.x, 4",
                                        "lt.u32(tid.x, 4) ",
                                        "lt.u32(tid.x 4)",
                                        "lt.u32(tid.w, 4)",
                                        "lt.f32(tid.x, 4)",
                                        "lt.u16x2(tid.x, 4)",
                                        "lt.b128(tid.x, 4)",
                                        "less.u32(tid.x, 4)",
                                        "lt.u32(-, 4)",
                                        "lt.u32(tid.x, 4, 5)"};
    char deep[4096] = "";
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_lanes(texts[i], 32, 1, 1, 0, UINT32_MAX);
    for (int i = 0; i < 200; i++)
        strcat(deep, "not.pred(");
    expect_lanes(deep, 32, 1, 1, 0, UINT32_MAX);
    /* Loops in loops take no longer than they may. */
    *deep = '\0';
    for (int i = 0; i < 20; i++)
        strcat(deep, "loop.u32(1, ");
    strcat(deep, "self");
    for (int i = 0; i < 20; i++)
        strcat(deep, ", ?)");
    expect_lanes(deep, 32, 1, 1, 0, UINT32_MAX);
}

/* ---- random code ---- */

typedef struct writer {
    char *text;
    size_t at;
    uint64_t seed;
    uint32_t labels, depth, loops;
} writer;

static uint32_t pick(writer *w, uint32_t n)
{
    return (uint32_t)random_below(&w->seed, n);
}

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->at += (size_t)vsnprintf(w->text + w->at, TEXT - w->at, format, args);
    va_end(args);
    assert_true(w->at < TEXT);
}

/* %r0 .. are numbers that any code may read: places, sizes, a parameter, what was loaded, results. */
static const char *operand(writer *w, char buffer[16])
{
    static const int64_t numbers[] = {0, 1, 2, 3, 5, 16, 31, 32, 33, 64, -1, -32};
    if (pick(w, 3) == 0)
        snprintf(buffer, 16, "%d", (int)numbers[pick(w, 12)]);
    else
        snprintf(buffer, 16, "%%r%u", pick(w, REGS));
    return buffer;
}

static void put_number(writer *w)
{
    static const char *const ops[] = {"add.u32", "sub.s32", "mul.lo.u32", "and.b32", "or.b32",
                                      "xor.b32", "min.s32", "max.u32",    "min.u32", "max.s32",
                                      "div.u32", "rem.s32", "div.s32",    "rem.u32"};
    char a[16], b[16];
    uint32_t to = 8 + pick(w, REGS - 8), from = pick(w, REGS);
    switch (pick(w, 9)) {
    case 8:
        put(w, "cvt.%s8.%s32 %%r%u, %%r%u;\n", from % 2 ? "s" : "u", from % 2 ? "s" : "u", to,
            from);
        break;
    case 0:
        put(w, "%s.%s32 %%r%u, %%r%u, %u;\n", pick(w, 2) ? "shl" : "shr", "b", to, from,
            pick(w, 40));
        break;
    case 1: put(w, "shr.s32 %%r%u, %%r%u, %u;\n", to, from, pick(w, 40)); break;
    case 2:
        put(w, "mad.lo.s32 %%r%u, %%r%u, %s, %s;\n", to, from, operand(w, a), operand(w, b));
        break;
    case 3:
        put(w, "cvt.u16.u32 %%h1, %%r%u;\ncvt.%s32.%s16 %%r%u, %%h1;\n", from, from % 2 ? "s" : "u",
            from % 2 ? "s" : "u", to);
        break;
    case 4:
        put(w, "mul.wide.%s32 %%d4, %%r%u, %s;\nadd.s64 %%d4, %%d4, 9;\ncvt.u32.u64 %%r%u, %%d4;\n",
            from % 2 ? "s" : "u", from, operand(w, a), to);
        break;
    case 5:
        put(w, "selp.b32 %%r%u, %s, %s, %%p%u;\n", to, operand(w, a), operand(w, b),
            pick(w, PREDICATES));
        break;
    default: put(w, "%s %%r%u, %%r%u, %s;\n", ops[pick(w, 14)], to, from, operand(w, a)); break;
    }
}

static void put_comparison(writer *w)
{
    static const char *const compares[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    static const char *const types[] = {"u32", "s32"};
    static const char *const logic[] = {"and", "or", "xor"};
    char b[16];
    uint32_t to = pick(w, PREDICATES), a = pick(w, 2) ? pick(w, 6) : pick(w, REGS);
    switch (pick(w, 6)) {
    case 0:
        put(w, "%s.pred %%p%u, %%p%u, %%p%u;\n", logic[pick(w, 3)], to, pick(w, PREDICATES),
            pick(w, PREDICATES));
        break;
    case 1: put(w, "not.pred %%p%u, %%p%u;\n", to, pick(w, PREDICATES)); break;
    case 2:
        put(w, "setp.%s.%s.%s %%p%u, %%r%u, %s, %s%%p%u;\n", compares[pick(w, 6)],
            logic[pick(w, 3)], types[pick(w, 2)], to, a, operand(w, b), pick(w, 2) ? "!" : "",
            pick(w, PREDICATES));
        break;
    case 3: put(w, "@%%p%u setp.lt.u32 %%p%u, %%r%u, 20;\n", pick(w, PREDICATES), to, a); break;
    default:
        put(w, "setp.%s.%s %%p%u, %%r%u, %s;\n", compares[pick(w, 6)], types[pick(w, 2)], to, a,
            operand(w, b));
    }
}

static const char *sign(writer *w)
{
    return pick(w, 2) ? "!" : "";
}

static void put_store(writer *w)
{
    if (pick(w, 2))
        put(w, "@%s%%p%u ", sign(w), pick(w, PREDICATES));
    put(w, "st.global.u32 [%%d1], 7;\n");
}

static void put_statements(writer *w, uint32_t count);

static void put_branch(writer *w)
{
    uint32_t label = w->labels++;
    bool another = pick(w, 3) == 0, other = pick(w, 3) == 0;
    if (another) /* another way into what it leads to */
        put(w, "@%s%%p%u bra M%u;\n", sign(w), pick(w, PREDICATES), label);
    put(w, "@%s%%p%u bra L%u;\n", sign(w), pick(w, PREDICATES), label);
    if (another)
        put(w, "M%u:\n", label);
    put_statements(w, 1 + pick(w, 3));
    if (other)
        put(w, "bra E%u;\n", label);
    put(w, "L%u:\n", label);
    if (other) {
        put_statements(w, 1 + pick(w, 3));
        put(w, "E%u:\n", label);
    }
}

/* A register that the loop makes less, or more, so many times at most. */
static void put_loop(writer *w)
{
    static const char *const steps[][2] = {{"shr.b32", "1"}, {"shl.b32", "1"}, {"sub.u32", "3"},
                                           {"add.u32", "5"}, {"shr.s32", "1"}, {"min.u32", "6"}};
    static const char *const ends[] = {"ne.u32", "gt.s32", "lt.u32", "lt.s32"};
    uint32_t label = w->labels++, counter = 6 + w->loops++, step = pick(w, 6);
    put(w, "mov.u32 %%r%u, %u;\n", counter, 1u << pick(w, 6));
    if (pick(w, 2))
        put(w, "shr.u32 %%r%u, %%r3, %u;\n", counter, pick(w, 3));
    put(w, "mov.u32 %%c%u, 0;\nL%u:\n", label, label);
    put(w, "setp.%s.u32 %%p%u, %%r%u, %%r%u;\n", pick(w, 2) ? "lt" : "ge", pick(w, PREDICATES),
        pick(w, 4), counter);
    put_statements(w, 1 + pick(w, 3));
    put(w, "%s %%r%u, %%r%u, %s;\n", steps[step][0], counter, counter, steps[step][1]);
    put(w, "add.u32 %%c%u, %%c%u, 1;\nsetp.gt.u32 %%q1, %%c%u, 9;\n@%%q1 bra X%u;\n", label, label,
        label, label);
    put(w, "setp.%s %%q2, %%r%u, %u;\n@%%q2 bra L%u;\nX%u:\n", ends[pick(w, 4)], counter,
        pick(w, 3) * 16, label, label);
}

static void put_statements(writer *w, uint32_t count)
{
    w->depth++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t what = pick(w, 16);
        if (what == 0 && w->loops < 2 && w->depth < 3)
            put_loop(w);
        else if (what < 4 && w->depth < 4)
            put_branch(w);
        else if (what < 8)
            put_store(w);
        else if (what < 12)
            put_comparison(w);
        else
            put_number(w);
    }
    w->depth--;
}

static void put_kernel(writer *w)
{
    put(w, HEADER ".visible .entry kernel(.param .u64 in, .param .u32 n)\n{\n"
                  ".reg .pred %%p<12>, %%q<3>;\n.reg .b16 %%h<2>;\n.reg .b32 %%r<24>, %%c<99>;\n"
                  ".reg .b64 %%d<8>;\nld.param.u64 %%d1, [in];\nld.param.u32 %%r4, [n];\n"
                  "mov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, %%tid.y;\nmov.u32 %%r2, %%laneid;\n"
                  "mov.u32 %%r3, %%ntid.x;\nld.global.u32 %%r5, [%%d1];\n");
    for (uint32_t r = 6; r < REGS; r++)
        put(w, "mov.u32 %%r%u, %u;\n", r, pick(w, 40));
    for (uint32_t p = 0; p < PREDICATES; p++)
        put(w, "setp.%s.u32 %%p%u, %%r%u, %u;\n", pick(w, 2) ? "lt" : "eq", p, pick(w, 6),
            pick(w, 40));
    put_statements(w, 20 + pick(w, 20));
    put(w, "ret;\n}\n");
}

/* ---- what it did ---- */

typedef struct history {
    crowd by[MOST_PCS];
} history;

static void *begin_block(void *worker, uint64_t block)
{
    (void)block;
    return worker;
}

static void *begin_worker(void *ctx, uint32_t number)
{
    (void)number;
    return ctx;
}

static void note_access(void *block, const acc_request *r)
{
    history *h = block;
    assert_true(r->pc < MOST_PCS && r->warp < CROWD_WARPS);
    h->by[r->pc].lanes[r->warp] |= r->mask;
}

typedef struct tally {
    uint32_t told, exact, wide; /* wide: some thread was not left out that made no access */
} tally;

static void compare(const flow_premise *p, const uint32_t block[3], const crowd *seen,
                    wl_arena *arena, uint64_t seed, const char *text, tally *t)
{
    crowd may, all;
    bool wide = false, some = false;
    assert_true(crowd_of(p->text, block, arena, &may) && crowd_of(NULL, block, arena, &all));
    for (uint32_t i = 0; i < CROWD_WARPS; i++) {
        if (seen->lanes[i] & ~may.lanes[i])
            fail_msg("seed %llu, pc %u: %s leaves out %x of warp %u\n%s", (unsigned long long)seed,
                     p->pc, p->text, seen->lanes[i] & ~may.lanes[i], i, text);
        wide |= may.lanes[i] != seen->lanes[i];
        some |= may.lanes[i] != all.lanes[i];
    }
    t->told += some;
    t->exact += some && !wide;
    t->wide += some && wide;
}

static void check_kernel(uint64_t seed, tally *t)
{
    static const uint32_t blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1},
                                         {16, 8, 1}, {32, 4, 1}, {8, 5, 1}};
    static char text[TEXT];
    writer w = {.text = text, .seed = seed};
    put_kernel(&w);
    const uint32_t *block = blocks[pick(&w, 6)];
    history h = {0};
    const acc_observer observer = {
        .ctx = &h, .worker_begin = begin_worker, .block_begin = begin_block, .access = note_access};
    subject s;
    flow_premises all;
    fixture f;
    fixture_begin(&f, text);
    f.observer = &observer;
    fixture_ok(&f, fixture_try(&f, "kernel", (emu_dim){1, 1, 1},
                               (emu_dim){block[0], block[1], block[2]}, 2,
                               (uint64_t[]){P(fixture_alloc(&f, 64)), seed % 40}));
    subject_begin(&s, text, "kernel");
    assert_int_equal(flow_find_premises(s.kernel, s.arena, &all), WL_OK);
    for (uint32_t i = 0; i < all.count; i++)
        compare(&all.rows[i], block, &h.by[all.rows[i].pc], s.arena, seed, text, t);
    subject_end(&s);
    fixture_end(&f);
}

static void nobody_is_left_out_who_accesses(void **state)
{
    (void)state;
    tally t = {0};
    for (uint64_t seed = 1; seed <= KERNELS; seed++)
        check_kernel(seed, &t);
    print_message("%u accesses are left to some threads: %u to those that made them, %u to more\n",
                  t.told, t.exact, t.wide);
    assert_true(t.told > 3 * KERNELS && t.exact > t.told / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_places),
        cmocka_unit_test(of_numbers_with_a_sign),
        cmocka_unit_test(of_what_is_not_known),
        cmocka_unit_test(of_iterations),
        cmocka_unit_test(of_damaged_text),
        cmocka_unit_test(nobody_is_left_out_who_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
