#include "nests.h"

#include "support.h"

enum { FIRST = 20, REGS = 40, DEPTH = 4 }; /* registers of counters and conditions */

typedef struct writer {
    char *text;
    size_t size, at;
    uint64_t seed;
    unsigned names, depth, regs;
    unsigned open[DEPTH + 1], nopen; /* counters of the loops around */
    bool data;
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

/* A small number: of the code, a parameter, or loaded. */
static const char *bound_of(writer *w)
{
    static char text[4][8];
    static unsigned next;
    char *out = text[next++ % 4];
    switch (pick(w, w->data ? 6 : 4)) {
    case 0: return "%r1";
    case 1: return "%r2";
    case 4:
    case 5: return "%r8";
    default: snprintf(out, sizeof text[0], "%u", pick(w, 9)); return out;
    }
}

/* ---- accesses ---- */

/* %r14: a word below NEST_WORDS / 2. Three counters below 130, times 4 at most, and what is
 * loaded, below 16. */
static void put_index(writer *w)
{
    put(w, pick(w, 4) ? "mov.u32 %%r14, %%r3;\n" : "mov.u32 %%r14, %u;\n", pick(w, 64));
    for (unsigned i = 0; i < w->nopen; i++)
        if (pick(w, 2))
            put(w, "mad.lo.u32 %%r14, %%r%u, %u, %%r14;\n", w->open[i], 1 + pick(w, 4));
    if (w->data && pick(w, 4) == 0)
        put(w, "add.u32 %%r14, %%r14, %%r8;\n");
}

static void put_global(writer *w)
{
    switch (pick(w, 5)) {
    case 0: put(w, "mad.wide.u32 %%d5, %%r14, 4, %%d2;\nst.global.u32 [%%d5], %%r3;\n"); break;
    case 1: put(w, "mad.wide.u32 %%d5, %%r14, 4, %%d3;\nred.global.add.u32 [%%d5], 1;\n"); break;
    case 2:
        put(w, "mad.wide.u32 %%d5, %%r14, 8, %%d1;\nld.global.v2.u32 {%%r9, %%r10}, [%%d5];\n");
        break;
    default:
        put(w, "mad.wide.u32 %%d5, %%r14, 4, %%d1;\nld.global.u32 %%r%u, [%%d5];\n",
            pick(w, 3) ? 9 : 8);
    }
}

static void put_shared(writer *w)
{
    put(w, "mad.lo.u32 %%r15, %%r14, 4, %%r5;\n");
    switch (pick(w, 4)) {
    case 0: put(w, "st.shared.u32 [%%r15], %%r3;\n"); break;
    case 1: put(w, "atom.shared.add.u32 %%r9, [%%r15], 1;\n"); break;
    default: put(w, "ld.shared.u32 %%r9, [%%r15];\n");
    }
}

static void put_access(writer *w)
{
    if (!w->data || pick(w, 5) == 0) {
        put(w, "ld.shared.u32 %%r9, [%%r7+%u];\n", 4 * pick(w, 9));
        return;
    }
    put_index(w);
    if (pick(w, 2))
        put_global(w);
    else
        put_shared(w);
}

/* ---- loops ---- */

static void put_statements(writer *w);

static void put_body(writer *w, unsigned counter)
{
    w->open[w->nopen++] = counter;
    put_statements(w);
    w->nopen--;
}

/* The test at the end: entered always. */
static void put_up(writer *w, unsigned n, unsigned r, const char *bound)
{
    put(w, "mov.u32 %%r%u, %u;\nL%u:\n", r, pick(w, 4), n);
    put_body(w, r);
    put(w, "add.s32 %%r%u, %%r%u, %u;\nsetp.lt.s32 %%p%u, %%r%u, %s;\n@%%p%u bra L%u;\n", r, r,
        1 + pick(w, 3), r, r, bound, r, n);
}

static void put_tested_first(writer *w, unsigned n, unsigned r, const char *bound)
{
    put(w, "mov.u32 %%r%u, %s;\nL%u:\nsetp.%s.s32 %%p%u, %%r%u, %s;\n@%%p%u bra E%u;\n", r,
        pick(w, 2) ? "%r3" : "0", n, pick(w, 2) ? "gt" : "ge", r, r, bound, r, n);
    put_body(w, r);
    put(w, "add.s32 %%r%u, %%r%u, %u;\nbra L%u;\nE%u:\n", r, r, 1 + pick(w, 3), n, n);
}

static void put_down(writer *w, unsigned n, unsigned r, const char *bound)
{
    put(w, "mov.u32 %%r%u, %s;\nL%u:\nsetp.le.s32 %%p%u, %%r%u, 1;\n@%%p%u bra E%u;\n", r, bound, n,
        r, r, r, n);
    put_body(w, r);
    put(w, "sub.s32 %%r%u, %%r%u, %u;\nbra L%u;\nE%u:\n", r, r, 1 + pick(w, 3), n, n);
}

static void put_halved(writer *w, unsigned n, unsigned r, const char *bound)
{
    if (pick(w, 2))
        put(w, "add.u32 %%r%u, %%r%u, %u;\nL%u:\n", r, FIRST + REGS + pick(w, 3), pick(w, 20), n);
    else
        put(w, "mov.u32 %%r%u, %s;\nL%u:\n", r, bound, n);
    put_body(w, r);
    if (pick(w, 2))
        put(w, "shr.u32 %%r%u, %%r%u, 1;\nsetp.ge.u32 %%p%u, %%r%u, %u;\n", r, r, r, r,
            1u << pick(w, 3));
    else
        put(w, "setp.gt.u32 %%p%u, %%r%u, 1;\nshr.u32 %%r%u, %%r%u, 1;\n", r, r, r, r);
    put(w, "@%%p%u bra L%u;\n", r, n);
}

static void put_doubled(writer *w, unsigned n, unsigned r, const char *bound)
{
    put(w, "mov.u32 %%r%u, %u;\nL%u:\n", r, 1 + pick(w, 3), n);
    put_body(w, r);
    put(w, "shl.b32 %%r%u, %%r%u, 1;\nsetp.lt.u32 %%p%u, %%r%u, %s;\n@%%p%u bra L%u;\n", r, r, r, r,
        bound, r, n);
}

/* By the number of threads, as far as there are threads left. */
static void put_strided(writer *w, unsigned n, unsigned r, const char *bound)
{
    put(w, "mov.u32 %%r%u, %%r3;\nsetp.ge.s32 %%p%u, %%r%u, %s;\n@%%p%u bra E%u;\nL%u:\n", r, r, r,
        bound, r, n, n);
    put_body(w, r);
    put(w, "add.s32 %%r%u, %%r%u, %%r4;\nsetp.lt.s32 %%p%u, %%r%u, %s;\n@%%p%u bra L%u;\nE%u:\n", r,
        r, r, r, bound, r, n, n);
}

static void put_loop(writer *w)
{
    static void (*const kinds[])(writer *, unsigned, unsigned, const char *) = {
        put_up, put_tested_first, put_down, put_halved, put_doubled, put_strided};
    unsigned n = w->names++, r = FIRST + w->regs++;
    kinds[pick(w, sizeof kinds / sizeof *kinds)](w, n, r, bound_of(w));
}

static void put_if(writer *w)
{
    static const char *const tests[] = {"lt", "ge", "eq", "ne"};
    unsigned n = w->names++, p = FIRST + w->regs++;
    unsigned what = w->nopen && pick(w, 2) ? w->open[pick(w, w->nopen)] : w->data ? 8 : 3;
    put(w, "setp.%s.u32 %%p%u, %%r%u, %s;\n@%s%%p%u bra I%u;\n", tests[pick(w, 4)], p, what,
        bound_of(w), pick(w, 2) ? "!" : "", p, n);
    put_statements(w);
    put(w, "I%u:\n", n);
}

static void put_statements(writer *w)
{
    put_access(w);
    w->depth++;
    for (uint32_t i = pick(w, 3); i && w->depth < DEPTH && w->regs < REGS; i--)
        if (pick(w, 3))
            put_loop(w);
        else
            put_if(w);
    w->depth--;
    put_access(w);
}

void generate_nest(uint64_t seed, bool data, char *text, size_t size)
{
    writer w = {.text = text, .size = size, .seed = seed * 7919 + 3, .data = data};
    put(&w,
        FLOW_HEADER ".shared .align 16 .b8 tile[16384];\n"
                    ".visible .entry k(.param .u64 a, .param .u64 n, .param .u64 m)\n{\n"
                    ".reg .pred %%p<99>;\n.reg .b32 %%r<99>;\n.reg .b64 %%d<9>;\n"
                    "ld.param.u64 %%d1, [a];\nld.param.u32 %%r1, [n];\nld.param.u32 %%r2, [m];\n"
                    "mov.u32 %%r3, %%tid.x;\nmov.u32 %%r4, %%ntid.x;\nmov.u32 %%r5, tile;\n"
                    "shl.b32 %%r6, %%r3, 2;\nadd.u32 %%r7, %%r5, %%r6;\n");
    for (unsigned r = 0; r < 3; r++)
        put(&w, "mov.u32 %%r%u, %u;\n", FIRST + REGS + r, pick(&w, 4));
    if (data)
        put(&w,
            "add.u64 %%d2, %%d1, %u;\nadd.u64 %%d3, %%d1, %u;\nmad.wide.u32 %%d5, %%r3, 4, "
            "%%d1;\nld.global.u32 %%r8, [%%d5];\n",
            4 * NEST_WORDS, 8 * NEST_WORDS);
    for (unsigned i = 0; i < 3; i++)
        put_statements(&w);
    put(&w, "ret;\n}\n");
}
