/* Operands of instructions whose bits were written down by hand, as operands.h says. */
#include "sass/operands.h"
#include "support/test.h"

#include <string.h>

static bool read_halves_of(uint64_t high, uint64_t low, uint32_t sm, sass_details *out)
{
    unsigned char bytes[SASS_BYTES];
    memcpy(bytes, &low, sizeof low);
    memcpy(bytes + sizeof low, &high, sizeof high);
    return sass_read(bytes, 2, sm, out);
}

static void expect_text(const sass_details *insn, uint32_t sm, const char *expected)
{
    char text[128];
    assert_int_equal(sass_print(insn, sm, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
}

/* @!P3 STG.E desc[UR10][R2.64+0x10], R203 */
static void an_address_has_parts(void **state)
{
    sass_details insn;
    (void)state;
    assert_true(read_halves_of(0x000fe2000c10190a, 0x000010cb0200b986, 90, &insn));
    assert_int_equal(insn.guard, 3);
    assert_true(insn.guard_negated);
    assert_int_equal(insn.operands, 2);
    const sass_operand *at = &insn.operand[0], *from = &insn.operand[1];
    assert_int_equal(at->kind, SASS_MEMORY);
    assert_int_equal(at->reg, 2);
    assert_int_equal(at->uniform, 10);
    assert_int_equal(at->value, 0x10);
    assert_int_equal(at->flags, SASS_WITH_REGISTER | SASS_WITH_UNIFORM | SASS_DESCRIBED);
    assert_int_equal(from->kind, SASS_REGISTER);
    assert_int_equal(from->reg, 203);
    assert_int_equal(insn.stall, 1);
    assert_int_equal(insn.write_barrier, 7);
    expect_text(&insn, 90, "@!P3 STG.E desc[UR10][R2.64+0x10], R203");
}

/* Carries of IADD3 stand at their places also where it has none. */
static void what_is_not_printed_has_its_place(void **state)
{
    sass_details insn;
    (void)state;
    assert_true(read_halves_of(0x000fe20007ffe897, 0x0000000194977810, 90, &insn));
    assert_int_equal(insn.operands, 6);
    assert_int_equal(insn.operand[1].flags, SASS_HIDDEN | SASS_WRITTEN);
    assert_int_equal(insn.operand[1].reg, SASS_ALWAYS);
    assert_int_equal(insn.operand[4].value, 1);
    assert_int_equal(insn.operand[5].flags, SASS_NEGATED);
    expect_text(&insn, 90, "IADD3 R151, R148, 0x1, -R151");
    assert_true(read_halves_of(0x000fe20007ffe897, 0x0000000194977810, 100, &insn));
    expect_text(&insn, 100, "IADD3 R151, PT, PT, R148, 0x1, -R151");
}

/* Targets count from the instruction, the third here. */
static void a_target_is_an_address(void **state)
{
    sass_details insn;
    (void)state;
    assert_true(read_halves_of(0x000fe20003800000, 0x0000001000001947, 80, &insn));
    expect_text(&insn, 80, "@P1 BRA 0x40");
}

/* Each bit of EXIT that means nothing, and fields with values that have no name. */
static void nothing_is_guessed(void **state)
{
    sass_details insn;
    (void)state;
    assert_true(read_halves_of(0x000fe20003800000, 0x000000000000794d, 90, &insn));
    for (unsigned bit = 16; bit < 64; bit++) {
        assert_false(read_halves_of(0x000fe20003800000, 0x000000000000794d | UINT64_C(1) << bit, 90,
                                    &insn));
        assert_null(insn.form);
    }
    expect_text(&insn, 90, "UNKNOWN");
    assert_true(read_halves_of(0x000fe20000002100, 0x0000000000117919, 90, &insn));
    expect_text(&insn, 90, "S2R R17, SR_TID.X");
    assert_false(read_halves_of(0x000fe20000000400, 0x0000000000117919, 90, &insn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_parts),
        cmocka_unit_test(what_is_not_printed_has_its_place),
        cmocka_unit_test(a_target_is_an_address),
        cmocka_unit_test(nothing_is_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
