/* The builder of probe code: it takes operands of the right type only, and no register that is in
 * use. */
#include "rewrite/code/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct building {
    ptx_text text;
    uint32_t labels;
    rw_body b;
} building;

static void begin(building *x)
{
    *x = (building){0};
    x->b.out = &x->text;
    x->b.labels = &x->labels;
}

static void assert_text(building *x, const char *want)
{
    size_t length;
    char *text = ptx_text_take(&x->text, &length);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
}

#define FITS(name, ...) rw_operands_fit(RW_I_##name, RW_OPERANDS(__VA_ARGS__))

static void operands_have_their_types(void **state)
{
    (void)state;
    building x;
    begin(&x);
    rw_reg wide = rw_temp(&x.b, RW_B64), narrow = rw_temp(&x.b, RW_B32),
           yes = rw_temp(&x.b, RW_PRED);
    rw_opd one = rw_number(1);
    assert_true(FITS(add_s64, wide, wide, one));
    assert_false(FITS(add_s64, narrow, wide, one));
    assert_false(FITS(add_s64, wide, narrow, one));
    assert_false(FITS(add_s64, wide, wide));
    assert_false(FITS(add_s64, wide, wide, one, one));
    assert_false(FITS(add_s64, one, wide, one));
    assert_false(FITS(add_s64, wide, rw_at(wide, 8), one));
    assert_true(FITS(mad_wide_u32, wide, narrow, one, wide));
    assert_false(FITS(mad_wide_u32, wide, wide, one, wide));
    assert_true(FITS(mov_u32, narrow, rw_sreg("%tid.x")));
    assert_false(FITS(mov_u64, wide, rw_sreg("%tid.x")));
    assert_true(FITS(st_global_u32, rw_at(wide, 4), narrow));
    assert_false(FITS(st_global_u32, wide, narrow));
    assert_false(FITS(st_global_u32, rw_at(narrow, 4), narrow));
    assert_false(FITS(st_global_u64, rw_at(wide, 4), narrow));
    assert_true(FITS(st_shared_u32, rw_at(narrow, 4), narrow));
    assert_true(FITS(setp_lt_u64__both, yes, yes, wide, wide));
    assert_false(FITS(setp_lt_u64__both, yes, narrow, wide, wide));
    assert_false(FITS(setp_eq_u32, rw_not(yes), narrow, one));
    assert_true(FITS(vote_sync_ballot_b32, narrow, rw_not(yes), narrow));
    free(x.text.data);
}

static void results_are_new_registers_until_they_are_given_back(void **state)
{
    (void)state;
    building x;
    begin(&x);
    rw_reg kept = rw_get(&x.b, mov_u32, rw_number(7));
    const rw_temps temps = rw_temps_now(&x.b);
    rw_reg sum = rw_get(&x.b, add_u32, kept, rw_number(1));
    rw_reg wide = rw_get(&x.b, cvt_u64_u32, sum);
    rw_do(&x.b, add_s64, wide, wide, rw_number(INT64_MIN));
    rw_temps_back(&x.b, &temps);
    rw_reg is = rw_get(&x.b, setp_eq_u32, kept, rw_number(-1));
    rw_when(&x.b, rw_not(is), mov_u32, rw_temp(&x.b, RW_B32), kept);
    rw_print_temps(&x.text, &x.b.temps);
    assert_text(&x, "\tmov.u32 __wl_w0, 7;\n"
                    "\tadd.u32 __wl_w1, __wl_w0, 1;\n"
                    "\tcvt.u64.u32 __wl_d0, __wl_w1;\n"
                    "\tadd.s64 __wl_d0, __wl_d0, 0x8000000000000000;\n"
                    "\tsetp.eq.u32 __wl_p0, __wl_w0, -1;\n"
                    "\t@!__wl_p0 mov.u32 __wl_w1, __wl_w0;\n"
                    "\t.reg .pred __wl_p<1>;\n\t.reg .b32 __wl_w<2>;\n\t.reg .b64 __wl_d<1>;\n");
}

static void declared_registers_and_labels_have_their_names(void **state)
{
    (void)state;
    building x;
    begin(&x);
    rw_reg base = rw_declare(&x.b, RW_B64, "base", 3),
           low = rw_declare(&x.b, RW_B32, "low", IR_NONE), high = rw_temp(&x.b, RW_B32),
           is = rw_declare(&x.b, RW_PRED, "is", IR_NONE);
    rw_label done = rw_new_label(&x.b, "done"), end = {"end", IR_NONE};
    rw_do(&x.b, mov_b64__split, low, high, base);
    rw_do(&x.b, ld_param_u32, low, rw_in_param(16));
    rw_goto_if(&x.b, is, done);
    rw_goto(&x.b, end);
    rw_put_label(&x.b, done);
    rw_put_label(&x.b, end);
    assert_text(&x, "\t.reg .b64 __wl_base3;\n\t.reg .b32 __wl_low;\n\t.reg .pred __wl_is;\n"
                    "\tmov.b64 {__wl_low, __wl_w0}, __wl_base3;\n"
                    "\tld.param.u32 __wl_low, [__wl_probe+16];\n"
                    "\t@__wl_is bra $__wl_done0;\n\tbra $__wl_end;\n$__wl_done0:\n$__wl_end:\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_have_their_types),
        cmocka_unit_test(results_are_new_registers_until_they_are_given_back),
        cmocka_unit_test(declared_registers_and_labels_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
