#include "generate.h"

#include "support.h"

enum { REGS = 8, PREDS = 4, BLOCKS = 7, INSNS = 5 };

typedef struct writer {
    char *text;
    size_t size, at;
    uint64_t seed;
    bool predicated; /* most instructions are guarded, mostly by predicates that follow from the
                        launch, and from each other */
    uint32_t labels;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->at += (size_t)vsnprintf(w->text + w->at, w->size - w->at, format, args);
    va_end(args);
    assert_true(w->at < w->size);
}

static uint32_t pick(writer *w, uint32_t below)
{
    return rnd(&w->seed, below);
}

/* %d9: a word of the thread's own part of the memory, chosen by a register. */
static void put_address(writer *w, const char *space)
{
    uint32_t by = pick(w, REGS);
    if (strcmp(space, "global") == 0) {
        put(w, "and.b32 %%r20, %%r%u, 63;\nmad.wide.u32 %%d9, %%r20, 4, %%d%u;\n", by,
            3 + pick(w, 2));
        return;
    }
    put(w, "and.b32 %%r20, %%r%u, 7;\nmad.wide.u32 %%d9, %%r20, 4, %%d%u;\n", by,
        (strcmp(space, "shared") == 0 ? 5 : 7) + pick(w, 2));
}

static void put_memory(writer *w, const char *guard)
{
    static const char *const spaces[] = {"global", "shared", "local"};
    const char *space = spaces[pick(w, 3)];
    if (pick(w, 3) == 0 && strcmp(space, "local") == 0) { /* at a fixed place */
        put(w,
            pick(w, 2) ? "ld.local.u32 %%r%u, [%%d7+%u];\n"
                       : "st.local.u32 [%%d7+%2$u], %%r%1$u;\n",
            pick(w, REGS), 4 * pick(w, 8));
        return;
    }
    put_address(w, space);
    switch (pick(w, 5)) {
    case 0:
    case 1: put(w, "%sld.%s.u32 %%r%u, [%%d9];\n", guard, space, pick(w, REGS)); break;
    case 2:
    case 3: put(w, "%sst.%s.u32 [%%d9], %%r%u;\n", guard, space, pick(w, REGS)); break;
    default:
        if (strcmp(space, "local") == 0)
            put(w, "%sst.local.u32 [%%d9], %u;\n", guard, pick(w, 99));
        else
            put(w, "%satom.%s.add.u32 %%r%u, [%%d9], %u;\n", guard, space, pick(w, REGS),
                pick(w, 5));
    }
}

/* Predicates 0 and 1 stay what they were at the start, 5 and 6 too, which are the same for all
 * threads; 2 is made of them anew; 3 is of anything. */
static uint32_t of_launch(writer *w)
{
    static const uint8_t predicates[] = {0, 1, 2, 0, 1, 2, 5, 6};
    return predicates[pick(w, 8)];
}

static void put_predicate(writer *w, const char *guard)
{
    static const char *const combined[] = {"and", "or", "xor"}, *const alike[] = {"ge", "lt"};
    uint32_t a = of_launch(w), b = of_launch(w);
    switch (pick(w, 6)) {
    case 0: put(w, "%snot.pred %%p2, %%p%u;\n", guard, a); break;
    case 1: put(w, "%s%s.pred %%p2, %%p%u, %%p%u;\n", guard, combined[pick(w, 3)], a, b); break;
    case 2: put(w, "setp.%s.u32 %%p2, %%r10, %%r11;\n", alike[pick(w, 2)]); break;
    case 3:
        put(w, "setp.lt.%s.u32 %%p2|%%p4, %%r10, %u, %s%%p%u;\n", combined[pick(w, 3)], pick(w, 32),
            pick(w, 2) ? "!" : "", a);
        break;
    case 4:
        put(w, "setp.gt.%s.u32 %%p4|%%p2, %%r11, %%r10, %%p%u;\n", combined[pick(w, 3)], a);
        break;
    default:
        put(w, "%ssetp.%s.u32 %%p3, %%r%u, %%r%u;\n", guard, pick(w, 2) ? "lt" : "ne",
            pick(w, REGS), pick(w, REGS));
    }
}

static void put_arithmetic(writer *w, const char *guard)
{
    if (w->predicated && pick(w, 5) == 0) {
        put_predicate(w, guard);
        return;
    }
    static const char *const ops[] = {"add.u32",    "sub.u32", "xor.b32",
                                      "mul.lo.u32", "min.u32", "and.b32"};
    switch (pick(w, 6)) {
    case 0: put(w, "%smov.u32 %%r%u, %u;\n", guard, pick(w, REGS), pick(w, 64)); break;
    case 1: put(w, "%smov.u32 %%r%u, %%r10;\n", guard, pick(w, REGS)); break;
    case 2:
        put(w, "%sselp.b32 %%r%u, %%r%u, %%r%u, %%p%u;\n", guard, pick(w, REGS), pick(w, REGS),
            pick(w, REGS), pick(w, PREDS));
        break;
    case 3:
        put(w, "%ssetp.%s.u32 %%p%u, %%r%u, %%r%u;\n", guard, pick(w, 2) ? "lt" : "ne",
            w->predicated ? 3 : pick(w, PREDS), pick(w, REGS), pick(w, REGS));
        break;
    default:
        put(w, "%s%s %%r%u, %%r%u, %%r%u;\n", guard, ops[pick(w, 6)], pick(w, REGS), pick(w, REGS),
            pick(w, REGS));
    }
}

/* A register that is loaded where a predicate holds, and not where it does not: by guards, or by a
 * branch; and an access that uses it where one of them holds. */
static void put_selected(writer *w)
{
    uint32_t p = of_launch(w), to = pick(w, REGS), label = w->labels++;
    const char *not= pick(w, 2) ? "!" : "", *other = *not? "" : "!";
    if (pick(w, 2))
        put(w, "@%s%%p%u ld.global.u32 %%r%u, [%%d%u+%u];\n@%s%%p%u %s %%r%u, %%r10, %u;\n", not, p,
            to, 3 + pick(w, 2), 4 * pick(w, 64), other, p, pick(w, 2) ? "add.u32" : "xor.b32", to,
            pick(w, 64));
    else
        put(w,
            "@%s%%p%u bra I%u;\nld.global.u32 %%r%u, [%%d%u+%u];\nbra J%u;\nI%u:\n"
            "mov.u32 %%r%u, %u;\nJ%u:\n",
            not, p, label, to, 3 + pick(w, 2), 4 * pick(w, 64), label, label, to, pick(w, 64),
            label);
    if (pick(w, 3) == 0)
        put_predicate(w, "");
    if (pick(w, 2))
        put(w, "add.u32 %%r%u, %%r%u, %%r%u;\n", to, to, pick(w, REGS));
    put(w, "and.b32 %%r20, %%r%u, 63;\nmad.wide.u32 %%d9, %%r20, 4, %%d4;\n", to);
    put(w, "@%s%%p%u %s\n", pick(w, 3) ? other : not, pick(w, 3) ? p : of_launch(w),
        pick(w, 2) ? "st.global.u32 [%d9], 5;" : "ld.global.u32 %r6, [%d9];");
}

/* A loaded register that two predicates overwrite, each its own way, and accesses where one of them
 * holds, in local memory, too. */
static void put_overlaid(writer *w)
{
    uint32_t a = of_launch(w), b = of_launch(w), to = pick(w, REGS);
    bool local = pick(w, 2);
    put(w, "ld.global.u32 %%r%u, [%%d4+%u];\n@%%p%u add.u32 %%r%u, %%r10, %u;\n", to,
        4 * pick(w, 64), a, to, pick(w, 64));
    put(w, "@%%p%u %s.u32 %%r%u, %%r%u, %%r10;\n", b, pick(w, 2) ? "add" : "mul.lo", to,
        pick(w, REGS));
    put(w, "and.b32 %%r20, %%r%u, %u;\nmad.wide.u32 %%d9, %%r20, 4, %%d%u;\n", to, local ? 7 : 63,
        local ? 7 : 4);
    put(w, "@%%p%u %s;\n", b, local ? "ld.local.u32 %r5, [%d9]" : "st.global.u32 [%d9], 6");
    put(w, "@%%p%u %s;\n", a, local ? "ld.local.u32 %r4, [%d9]" : "st.global.u32 [%d9], 7");
    if (pick(w, 2))
        put(w,
            "and.b32 %%r20, %%r%u, 63;\nmad.wide.u32 %%d9, %%r20, 4, %%d4;\n@%%p%u "
            "st.global.u32 [%%d9], 8;\n",
            local ? 4 + pick(w, 2) : to, pick(w, 2) ? a : b);
}

static void put_insn(writer *w)
{
    if (w->predicated && pick(w, 9) == 0) {
        put_overlaid(w);
        return;
    }
    if (w->predicated && pick(w, 5) == 0) {
        put_selected(w);
        return;
    }
    char guard[16] = "";
    if (w->predicated ? pick(w, 4) != 0 : pick(w, 4) == 0)
        snprintf(guard, sizeof guard, "@%s%%p%u ", pick(w, 2) ? "!" : "",
                 w->predicated && pick(w, 4) ? of_launch(w) : pick(w, PREDS));
    if (pick(w, 5) < 2)
        put_memory(w, guard);
    else
        put_arithmetic(w, guard);
}

/* Forward to any later block; back only while there is fuel. */
static void put_branch(writer *w, uint32_t block)
{
    uint32_t forward = block + 1 + pick(w, BLOCKS - block);
    switch (pick(w, 6)) {
    case 0: return;
    case 1:
        put(w, "sub.u32 %%r21, %%r21, 1;\nsetp.eq.u32 %%p7, %%r21, 0;\n@%%p7 bra B%u;\n", BLOCKS);
        put(w, "@%%p%u bra B%u;\n", pick(w, PREDS), pick(w, block + 1));
        return;
    case 2:
        if (pick(w, 3) == 0)
            put(w, "@%%p%u exit;\n", pick(w, PREDS));
        return;
    case 3:
        if (pick(w, 4) == 0) {
            put(w, "bra B%u;\n", forward);
            return;
        } /* fallthrough */
    default:
        put(w, "@%s%%p%u bra B%u;\n", pick(w, 2) ? "!" : "",
            w->predicated && pick(w, 2) ? of_launch(w) : pick(w, PREDS), forward);
    }
}

static void put_start(writer *w)
{
    put(w, FLOW_HEADER
        ".shared .align 4 .b8 one[1024];\n.shared .align 4 .b8 two[1024];\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        ".reg .pred %%p<9>;\n.reg .b32 %%r<30>;\n.reg .b64 %%d<20>;\n"
        ".local .align 4 .b8 depot[64];\n"
        "ld.param.u64 %%d1, [in];\nld.param.u64 %%d2, [out];\nld.param.u32 %%r11, [n];\n"
        "mov.u32 %%r10, %%tid.x;\n"
        "mad.wide.u32 %%d3, %%r10, 256, %%d1;\nmad.wide.u32 %%d4, %%r10, 256, %%d2;\n"
        "mov.u64 %%d10, one;\nmov.u64 %%d11, two;\n"
        "mad.wide.u32 %%d5, %%r10, 32, %%d10;\nmad.wide.u32 %%d6, %%r10, 32, %%d11;\n"
        "mov.u64 %%d7, depot;\nadd.u64 %%d8, %%d7, 32;\nmov.u32 %%r21, 6;\n");
    for (uint32_t r = 0; r < REGS; r++)
        put(w, r % 3 == 0 ? "add.u32 %%r%u, %%r10, %u;\n" : "mov.u32 %%r%u, %u;\n", r, pick(w, 64));
    put(w, "ld.global.u32 %%r1, [%%d3+%u];\nld.global.u32 %%r5, [%%d4+%u];\n", 4 * pick(w, 64),
        4 * pick(w, 64));
    if (w->predicated)
        put(w,
            "setp.lt.u32 %%p0, %%r10, %%r11;\nsetp.%s.u32 %%p1|%%p4, %%r10, %u, %%p0;\n"
            "not.pred %%p2, %%p%u;\nsetp.lt.u32 %%p5, %%r11, %u;\nsetp.%s.u32 %%p6, %%r11, %u;\n",
            pick(w, 2) ? "gt.and" : "lt.or", pick(w, 32), pick(w, 2), pick(w, 34),
            pick(w, 2) ? "eq" : "ge", 15 + pick(w, 4));
    else
        put(w, "setp.lt.u32 %%p0, %%r1, %u;\n", pick(w, 64));
    for (uint32_t p = w->predicated ? 3 : 1; p < PREDS; p++)
        put(w, "setp.lt.u32 %%p%u, %%r%u, %u;\n", p, pick(w, REGS), pick(w, 64));
    for (uint32_t i = 0; i < 8; i++)
        put(w,
            "st.local.u32 [%%d7+%u], %u;\nst.local.u32 [%%d8+%u], %%r10;\nst.shared.u32 [%%d5+%u], "
            "%u;\n"
            "st.shared.u32 [%%d6+%u], %u;\n",
            4 * i, i, 4 * i, 4 * i, i, 4 * i, 7 * i);
}

void generate_kernel(uint64_t seed, char *text, size_t size)
{
    writer w = {.text = text, .size = size, .seed = seed * 7919 + 1, .predicated = seed % 2};
    put_start(&w);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        put(&w, "B%u:\n", b);
        for (uint32_t i = pick(&w, w.predicated ? 2 * INSNS : INSNS); i; i--)
            put_insn(&w);
        put_branch(&w, b);
    }
    put(&w, "B%u:\n", BLOCKS);
    put_memory(&w, "");
    put_memory(&w, "");
    put(&w, "ret;\n}\n");
}
