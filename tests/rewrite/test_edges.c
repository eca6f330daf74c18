/* Ranges at their ends: accesses of every kind before the begin of an object, at its first element,
 * at its last, and after it, with nothing beside the object and with others. What the probes tell
 * of each object is what the emulator's observer saw (compare.h), and no table is left (guards.h).
 * So an end of a range that is off by one, in code that runs on the device, is seen here. */
#include "compare.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

/* A kernel that accesses bytes [from, to) after `in` and `off`; `off` is a multiple of `unit`. */
typedef struct edge_case {
    const char *name;
    int unit, from, to;
    const char
        *code; /* %d3: in + off; %d4: + 4 * lane; %d5: + 16 * lane; %r2: the lane; %d9: a step
                         that the code does not tell, 160; %d10: -160 */
} edge_case;

#define LOOP(turns, body, by)                                                        \
    "mov.u32 %r4, 0;\nA:\n" body "add.s64 %d6, %d6, " by ";\nadd.u32 %r4, %r4, 1;\n" \
    "setp.lt.u32 %p1, %r4, " turns ";\n@%p1 bra A;\n"

static const edge_case cases[] = {
    {"one each", 4, 0, 128, "ld.global.u32 %r3, [%d4];\n"},
    {"two side by side", 8, 0, 256,
     "mad.wide.u32 %d6, %r2, 8, %d3;\nld.global.v2.u32 {%r3, %r4}, [%d6];\n"},
    {"four side by side", 16, 0, 512, "st.global.v4.u32 [%d5], {%r2, %r2, %r2, %r2};\n"},
    {"bytes", 1, 0, 32,
     "cvt.u64.u32 %d6, %r2;\nadd.s64 %d6, %d6, %d3;\nld.global.u8 %r3, [%d6];\n"},
    {"halves", 2, 0, 64, "mad.wide.u32 %d6, %r2, 2, %d3;\nst.global.u16 [%d6], %h1;\n"},
    {"one address", 4, 0, 4, "ld.global.u32 %r3, [%d3];\n"},
    {"one address that all add to", 4, 0, 4, "red.global.add.u32 [%d3], 1;\n"},
    {"apart", 4, 0, 31 * 256 + 4, "mad.wide.u32 %d6, %r2, 256, %d3;\nld.global.u32 %r3, [%d6];\n"},
    {"twos apart", 8, 0, 31 * 64 + 8,
     "mad.wide.u32 %d6, %r2, 64, %d3;\nld.global.v2.u32 {%r3, %r4}, [%d6];\n"},
    {"scattered", 4, 0, 128,
     "mul.lo.u32 %r5, %r3, 7;\nand.b32 %r5, %r5, 31;\nmad.wide.u32 %d6, %r5, 4, %d3;\n"
     "ld.global.u32 %r3, [%d6];\n"},
    {"scattered updates", 4, 0, 128,
     "mul.lo.u32 %r5, %r3, 7;\nand.b32 %r5, %r5, 31;\nmad.wide.u32 %d6, %r5, 4, %d3;\n"
     "atom.global.add.u32 %r3, [%d6], 1;\n"},
    {"joined", 16, 0, 2048,
     "mad.wide.u32 %d6, %r2, 64, %d3;\nld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d6];\n"
     "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d6+16];\n"
     "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d6+32];\n"
     "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d6+48];\n"},
    {"three joined", 4, 0, 384,
     "mad.wide.u32 %d6, %r2, 12, %d3;\nld.global.u32 %r3, [%d6+4];\nld.global.u32 %r3, [%d6];\n"
     "ld.global.u32 %r3, [%d6+8];\n"},
    {"six joined", 8, -8, 760,
     "mad.wide.u32 %d6, %r2, 24, %d3;\nld.global.v2.u32 {%r3, %r4}, [%d6-8];\n"
     "ld.global.v2.u32 {%r3, %r4}, [%d6];\nld.global.v2.u32 {%r3, %r4}, [%d6+8];\n"},
    {"guarded", 4, 0, 128,
     "setp.lt.u32 %p2, %r2, 7;\n@%p2 ld.global.u32 %r3, [%d4];\n@!%p2 st.global.u32 [%d4], %r2;\n"},
    {"in a branch", 4, 0, 260,
     "setp.ge.u32 %p2, %r3, 40;\nld.global.u32 %r4, [%d4];\n@%p2 bra PAST;\n"
     "ld.global.u32 %r5, [%d4+132];\nPAST:\nst.global.u32 [%d4+64], %r4;\n"},
    {"generic", 4, 0, 128, "ld.u32 %r3, [%d4];\n"},
    {"through a pointer that was loaded", 8, 0, 128,
     "ld.global.u64 %d7, [%d1];\nadd.s64 %d7, %d7, %d2;\nmad.wide.u32 %d6, %r2, 4, %d7;\n"
     "ld.global.u32 %r3, [%d6];\nst.global.u32 [%d6], %r3;\n"},
    {"up, whole", 4, 0, 512, "mov.u64 %d6, %d5;\n" LOOP("4", "ld.global.u32 %r3, [%d6];\n", "4")},
    {"down, whole", 4, 0, 512,
     "add.s64 %d6, %d5, 12;\n" LOOP("4", "ld.global.u32 %r3, [%d6];\n", "-4")},
    {"one walk of all, up", 4, 0, 280,
     "mov.u64 %d6, %d3;\n" LOOP("70", "ld.global.u32 %r3, [%d6];\n", "4")},
    {"one walk of all, down", 4, 0, 280,
     "add.s64 %d6, %d3, 276;\n" LOOP("70", "st.global.u32 [%d6], %r2;\n", "-4")},
    {"two at a time, up", 4, -4, 36,
     "mov.u64 %d6, %d3;\n" LOOP("5", "ld.global.u32 %r3, [%d6];\nld.global.u32 %r3, [%d6-4];\n",
                                "8")},
    {"two of three, up", 4, 0, 56,
     "mov.u64 %d6, %d3;\n" LOOP("5", "ld.global.u32 %r3, [%d6];\nld.global.u32 %r3, [%d6+4];\n",
                                "12")},
    {"with gaps, up", 4, 0, 640,
     "mov.u64 %d6, %d4;\n" LOOP("3", "ld.global.u32 %r3, [%d6];\n", "256")},
    {"with gaps, down", 4, 0, 640,
     "add.s64 %d6, %d4, 512;\n" LOOP("3", "ld.global.u32 %r3, [%d6];\n", "-256")},
    {"with gaps, apart", 4, -128, 31 * 16 + 512 + 132,
     "mov.u64 %d6, %d5;\n" LOOP("3",
                                "ld.global.u32 %r3, [%d6];\nld.global.u32 %r3, [%d6+128];\n"
                                "ld.global.u32 %r3, [%d6-128];\n",
                                "256")},
    {"fours with gaps", 16, 0, 31 * 16 + 2048 + 16,
     "mov.u64 %d6, %d5;\n" LOOP("3", "ld.global.v4.u32 {%r3, %r5, %r6, %r7}, [%d6];\n", "1024")},
    {"step not known, up", 4, 0, 448,
     "mov.u64 %d6, %d4;\n" LOOP("3", "ld.global.u32 %r3, [%d6];\n", "%d9")},
    {"step not known, down", 4, 0, 448,
     "add.s64 %d6, %d4, 320;\n" LOOP("3", "ld.global.u32 %r3, [%d6];\n", "%d10")},
    {"step not known, apart", 4, 0, 31 * 16 + 320 + 4,
     "mov.u64 %d6, %d5;\n" LOOP("3", "red.global.add.u32 [%d6], 1;\n", "%d9")},
    {"one place all the time", 4, 0, 128,
     "mov.u64 %d6, %d4;\n" LOOP("3", "ld.global.u32 %r3, [%d6];\n", "0")},
    {"once", 4, 0, 128, "mov.u64 %d6, %d4;\n" LOOP("1", "ld.global.u32 %r3, [%d6];\n", "%d9")},
    {"as often as the lane says", 4, 0, 2 * 160 + 128,
     "rem.u32 %r5, %r2, 4;\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra NONE;\nmov.u64 %d6, %d4;\n" LOOP(
         "%r5", "ld.global.u32 %r3, [%d6];\n", "%d9") "NONE:\n"},
};

/* %d1: in, which is read by each lane first, so that %r3 is what data says. */
static char *text_of(const edge_case *e)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%s",
            HEADER
            ".visible .entry k(.param .u64 in, .param .s32 off, .param .s32 step)\n{\n"
            ".reg .pred %p<4>;\n.reg .b16 %h<2>;\n.reg .b32 %r<10>;\n.reg .b64 %d<12>;\n"
            "ld.param.u64 %d1, [in];\nld.param.s32 %r1, [off];\nld.param.s32 %r8, [step];\n"
            "cvt.s64.s32 %d2, %r1;\ncvt.s64.s32 %d9, %r8;\nneg.s64 %d10, %d9;\n"
            "add.s64 %d3, %d1, %d2;\nmov.u32 %r2, %tid.x;\nmad.wide.u32 %d4, %r2, 4, %d3;\n"
            "mad.wide.u32 %d5, %r2, 16, %d3;\nmov.u16 %h1, 5;\nld.global.u32 %r3, [%d1+4];\n");
    fprintf(out, "%sret;\n}\n", e->code);
    fclose(out);
    return text;
}

enum {
    BEFORE = 16384, /* bytes before the object; what cases access fits thrice */
    DATA = 3 * BEFORE,
    STEP = 160
};

/* Who lies beside the object. */
typedef enum beside { NOBODY, OTHERS, UNALIGNED, BESIDES } beside;

static void place_objects(shape *s, char *data, int bytes, beside who)
{
    uint64_t base = P(data) + BEFORE + (who == UNALIGNED ? 64 : 0);
    s->args[0] = base;
    if (who != OTHERS) {
        s->nobjects = 1;
        s->objects[0] = (rewrite_object){base, (uint64_t)bytes};
        return;
    }
    s->nobjects = 3;
    s->objects[0] = (rewrite_object){base - 256, 256};
    s->objects[1] = (rewrite_object){base, (uint64_t)bytes};
    s->objects[2] = (rewrite_object){base + (uint64_t)bytes, 192};
}

/* Two units around where the begin of what is accessed meets an end of the object, and where its
 * end does. */
static void check_offsets(probed *p, const edge_case *e, shape *s, int bytes)
{
    const int meets[] = {-e->from, -e->to, bytes - e->from, bytes - e->to};
    for (unsigned m = 0; m < sizeof meets / sizeof *meets; m++)
        for (int units = -2; units <= 2; units++) {
            int at = meets[m] + units * e->unit;
            s->args[1] = (uint32_t)(at - (at % e->unit + e->unit) % e->unit);
            check_elements(p, "k", s);
        }
}

static void check_case(const edge_case *e, uint32_t probes)
{
    const int sizes[] = {4, 64, e->to - e->from, e->to - e->from + 4, 4096};
    char *text = text_of(e);
    probed p;
    probed_begin(&p, text, probes, true);
    uint32_t *data = fixture_alloc(&p.f, DATA);
    for (uint32_t i = 0; i < DATA / 4; i++)
        data[i] = i * 5 % 64;
    shape s = {.grid = {2, 1, 1},
               .block = {32, 1, 1},
               .nargs = 3,
               .args = {0, 0, STEP},
               .data = data,
               .bytes = DATA};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (beside who = 0; who < BESIDES; who++) {
            int bytes = (sizes[i] + e->unit - 1) / e->unit * e->unit; /* nobody stands across */
            place_objects(&s, (char *)data, bytes, who);
            memcpy((void *)(uintptr_t)s.args[0], &s.args[0], sizeof s.args[0]);
            check_offsets(&p, e, &s, bytes);
        }
    probed_end(&p);
    free(text);
}

static void check_cases(const char *names)
{
    uint32_t probes;
    assert_true(rewrite_probes_parse(names, &probes));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("%s: %s\n", names, cases[i].name);
        check_case(&cases[i], probes);
    }
}

static void touch_stays_in_its_ranges(void **state)
{
    (void)state;
    check_cases("touch");
}

static void frequency_stays_in_its_ranges(void **state)
{
    (void)state;
    check_cases("frequency");
}

static void objects_stay_in_their_ranges(void **state)
{
    (void)state;
    check_cases("objects");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(touch_stays_in_its_ranges),
        cmocka_unit_test(frequency_stays_in_its_ranges),
        cmocka_unit_test(objects_stay_in_their_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
