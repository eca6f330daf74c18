/* Spans of numbers: whatever a span's numbers give lies in the span that is computed for them;
 * single numbers give one. */
#include <string.h>

#include "ptx/ptx.h"
#include "rewrite/plan/plan.h"
#include "support/test.h"

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
    ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
    "mov.u32 %r0, %r1;\nadd.s32 %r0, %r1, %r2;\nsub.u32 %r0, %r1, %r2;\n"
    "mul.lo.s32 %r0, %r1, %r2;\nmul.wide.s32 %d0, %r1, %r2;\nmul.wide.u32 %d0, %r1, %r2;\n"
    "mad.lo.s32 %r0, %r1, %r2, %r3;\nmad.wide.s32 %d0, %r1, %r2, %d3;\n"
    "and.b32 %r0, %r1, %r2;\nor.b32 %r0, %r1, %r2;\nxor.b32 %r0, %r1, %r2;\n"
    "not.b32 %r0, %r1;\nneg.s32 %r0, %r1;\nshl.b32 %r0, %r1, %r2;\n"
    "shr.u32 %r0, %r1, %r2;\nshr.s32 %r0, %r1, %r2;\nshr.s64 %d0, %d1, %r2;\n"
    "min.s32 %r0, %r1, %r2;\nmax.u32 %r0, %r1, %r2;\nadd.s64 %d0, %d1, %d2;\n"
    "cvt.s64.s32 %d0, %r1;\ncvt.u32.u64 %r0, %d1;\ncvt.u16.u32 %h0, %r1;\n"
    "setp.lt.s32 %p0, %r1, %r2;\nsetp.ge.u32 %p0, %r1, %r2;\nsetp.eq.s32 %p0, %r1, %r2;\n"
    "setp.ne.s64 %p0, %d1, %d2;\nsetp.hi.and.u32 %p0, %r1, %r2, %p3;\n"
    "setp.le.or.s32 %p0, %r1, %r2, %p3;\nsetp.gt.xor.s32 %p0, %r1, %r2, %p3;\n"
    "selp.s32 %r0, %r1, %r2, %p3;\nand.pred %p0, %p1, %p2;\nor.pred %p0, %p1, %p2;\n"
    "xor.pred %p0, %p1, %p2;\nnot.pred %p0, %p1;\nret;\n}\n";

static uint64_t state = 1;

static uint64_t any(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 32 | state << 32;
}

static uint64_t greatest(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Of small numbers, of numbers around where a sign changes, of any. */
static rw_interval any_span(unsigned bits)
{
    static const uint64_t lengths[] = {0, 1, 5, 300, UINT64_MAX};
    uint64_t all = greatest(bits),
             from[] = {any() % 40, all - any() % 40, all / 2 - any() % 9, any()},
             low = from[any() % 4] & all, length = any() & lengths[any() % 5];
    return (rw_interval){low, length > all - low ? all : low + length};
}

static uint64_t inside(rw_interval s)
{
    uint64_t length = s.high - s.low;
    return any() % 4 == 0         ? s.low
           : any() % 3 == 0       ? s.high
           : length == UINT64_MAX ? any()
                                  : s.low + any() % (length + 1);
}

static void check(const ir_func *f, const ir_insn *insn, const rw_interval *in)
{
    rw_interval out = rw_interval_of(insn, in), number[RW_MAX_OPERANDS] = {0};
    assert_true(out.low <= out.high);
    for (int n = 0; n < 20; n++) {
        for (uint32_t o = 1; o < insn->noperands; o++)
            number[o].low = number[o].high = inside(in[o]);
        rw_interval one = rw_interval_of(insn, number);
        assert_int_equal(one.low, one.high);
        if (one.low < out.low || one.low > out.high)
            fail_msg("instruction %u of %s: %llx is not in %llx to %llx", insn->pc, f->name,
                     (unsigned long long)one.low, (unsigned long long)out.low,
                     (unsigned long long)out.high);
    }
}

static void spans_hold_all_results(void **ctx)
{
    (void)ctx;
    ir_module *m;
    wl_error err = {0};
    assert_int_equal(ptx_parse(text, strlen(text), "spans", &m, &err), WL_OK);
    const ir_func *f = m->funcs[0];
    uint32_t narrow = 0;
    for (uint32_t i = 0; i + 1 < f->ninsns; i++) {
        const ir_insn *insn = &f->insns[i];
        assert_true(rw_op_is_known(insn));
        for (int n = 0; n < 2000; n++) {
            rw_interval in[RW_MAX_OPERANDS] = {0};
            for (uint32_t o = 1; o < insn->noperands; o++)
                in[o] = any_span(rw_bits_of(f->regs[insn->operands[o].reg].type));
            check(f, insn, in);
            rw_interval out = rw_interval_of(insn, in);
            narrow += out.high - out.low < greatest(rw_result_bits(insn));
        }
    }
    assert_true(narrow > 2000 * (f->ninsns - 1) / 2); /* and are mostly not all numbers there are */
    ir_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spans_hold_all_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
