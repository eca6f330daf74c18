/* What decoding knows of an instruction before it runs, and arithmetic that no GPU recorded here has
 * carried out. */
#include "fixture.h"

#include "emu/decode.h"

#include <stdio.h>

/* Which operands are written, from 0: a set of bits. An operand that may be missing stands for what
 * it can be; two destinations with "|" between them are one operand. */
static void written_operands_are_known(void **state)
{
    static const struct {
        const char *text;
        uint32_t written;
    } cases[] = {
        {"add.u32 %r1, %r2, %r3;", 1},
        {"mov.b64 {%r1, %r2}, %rd1;", 1},
        {"setp.lt.u32 %p1|%p2, %r1, %r2;", 1},
        {"setp.lt.u32 %p1, %r1, %r2;", 1},
        {"shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;", 1},
        {"shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;", 1},
        {"st.global.u32 [%rd1], %r1;", 0},
        {"ld.global.v2.u32 {%r1, %r2}, [%rd1];", 1},
        {"atom.global.add.u32 %r1, [%rd1], %r2;", 1},
        {"red.global.add.u32 [%rd1], %r2;", 0},
        {"bar.sync 0;", 0},
        {"bar.red.popc.u32 %r1, 0, %p1;", 1},
        {"bar.red.popc.u32 %r1, 0, 64, %p1;", 1},
        {"mbarrier.init.shared.b64 [%r1], 1;", 0},
        {"mbarrier.arrive.shared.b64 %rd1, [%r1];", 1},
        {"mbarrier.arrive.shared.b64 %rd1, [%r1], %r2;", 1},
        {"mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], %r2;", 1},
        {"mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;", 1},
        {"cp.async.ca.shared.global [%r1], [%rd1], 4;", 0},
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5, %f6}];", 1},
        {"call nothing;", 0},
        {"call (%r1), something, (%r2);", 1},
    };
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[2048] = HEADER ".global .texref image;\n.func nothing() { ret; }\n"
                                 ".func (.reg .b32 a) something(.reg .b32 b) { ret; }\n"
                                 ".visible .entry k() {\n.reg .pred %p<3>; .reg .b32 %r<4>; .reg "
                                 ".f32 %f<7>; .reg .b64 %rd<2>;\n";
        fixture f;
        strcat(text, cases[n].text);
        strcat(text, "\n}\n");
        fixture_begin(&f, text);
        uint32_t written = emu_written(ir_module_func(f.ptx, "k")->insns);
        if (written != cases[n].written)
            fail_msg("%s writes %x", cases[n].text, written);
        fixture_end(&f);
    }
}

/* Pairs of f32, with a pair of small numbers that .ftz takes for zero. */
static void pairs_of_floats_are_computed(void **state)
{
    static const struct {
        const char *text;
        float low, high;
    } cases[] = {
        {"add.rn.f32x2 %rd9, %rd4, %rd5;", 3 + 5, 4 - 0.5f},
        {"sub.rn.f32x2 %rd9, %rd4, %rd5;", 3 - 5, 4 + 0.5f},
        {"mul.rn.f32x2 %rd9, %rd4, %rd5;", 3 * 5, 4 * -0.5f},
        {"fma.rn.f32x2 %rd9, %rd4, %rd5, %rd6;", 3 * 5 + 7, 4 * -0.5f + 0x1p-130f},
        {"add.rn.f32x2 %rd9, %rd6, %rd6;", 14, 0x1p-129f},
        {"add.rn.ftz.f32x2 %rd9, %rd6, %rd6;", 14, 0},
        {"mul.rn.ftz.f32x2 %rd9, %rd6, %rd4;", 21, 0},
        {"mul.rn.f32x2 %rd9, %rd6, %rd4;", 21, 0x1p-128f},
    };
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[2048] =
            ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k(.param "
            ".u64 p) {\n.reg .b64 %rd<10>; ld.param.u64 %rd1, [p]; ld.global.v2.u64 "
            "{%rd4, %rd5}, [%rd1]; ld.global.u64 %rd6, [%rd1+16];\n";
        fixture f;
        strcat(text, cases[n].text);
        strcat(text, "\nst.global.u64 [%rd1+24], %rd9; ret; }\n");
        fixture_begin(&f, text);
        float *data = fixture_alloc(&f, 32);
        memcpy(data, (const float[]){3, 4, 5, -0.5f, 7, 0x1p-130f}, 24);
        RUN(&f, "k", 1, 1, P(data));
        assert_true(data[6] == cases[n].low && data[7] == cases[n].high);
        fixture_end(&f);
    }
}

/* Both halves of 128 bits, in each lane. */
static void halves_of_wide_registers_are_packed(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f,
                  HEADER ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<2>; .reg .b64 %rd<9>; "
                         ".reg .b128 %q<2>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; "
                         "mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2;\n"
                         "add.u64 %rd4, %rd2, 5; not.b64 %rd5, %rd2;\n"
                         "mov.b128 %q1, {%rd4, %rd5}; mov.b128 {%rd6, %rd7}, %q1;\n"
                         "st.global.v2.u64 [%rd3], {%rd6, %rd7}; ret; }\n");
    uint64_t *out = fixture_alloc(&f, 16 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint64_t i = 0; i < 32; i++)
        assert_true(out[2 * i] == 16 * i + 5 && out[2 * i + 1] == ~(16 * i));
    fixture_end(&f);
}

/* A kernel that keeps so many words live at once. */
static uint32_t registers_of(uint32_t words)
{
    static char text[1 << 16];
    int n = snprintf(text, sizeof text,
                     HEADER ".visible .entry k(.param .u64 p) {\n.reg .b32 %%r<400>; .reg .b64 "
                            "%%rd<2>;\nld.param.u64 %%rd1, [p];\n");
    for (uint32_t i = 0; i < words; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "ld.global.u32 %%r%u, [%%rd1+%u];\n", i,
                      4 * i);
    for (uint32_t i = 0; i < words; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "st.global.u32 [%%rd1+%u], %%r%u;\n",
                      4 * i, i);
    snprintf(text + n, sizeof text - (size_t)n, "ret; }\n");
    fixture f;
    fixture_begin(&f, text);
    emu_kernel *k;
    wl_error err;
    assert_int_equal(emu_module_kernel(f.module, "k", &k, &err), WL_OK);
    uint32_t registers = emu_kernel_get(k)->registers;
    fixture_end(&f);
    return registers;
}

/* The compiler spills what a thread cannot have, so that a block of 256 threads still fits. */
static void live_registers_are_no_more_than_a_thread_has(void **state)
{
    (void)state;
    assert_int_equal(registers_of(100), 100 + 2); /* and an address */
    assert_int_equal(registers_of(300), 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_operands_are_known),
        cmocka_unit_test(pairs_of_floats_are_computed),
        cmocka_unit_test(halves_of_wide_registers_are_packed),
        cmocka_unit_test(live_registers_are_no_more_than_a_thread_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
