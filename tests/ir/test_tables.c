/* The vocabulary tables: nothing is named twice, every grammar can be read, every text finds
 * itself. */

#include "ir/forms.h"
#include "ir/lookup.h"
#include "ptx/ptx.h"
#include "support/test.h"

#include <pthread.h>
#include <string.h>

static void test_ops(void **state)
{
    (void)state;
    for (unsigned op = 1; op < IR_OP_COUNT; op++) {
        const char *text = ir_op_get(op)->text;
        assert_int_equal(ir_find_op(text, strlen(text), ir_hash(text, strlen(text))), op);
    }
    assert_null(ir_forms_problem());
    assert_string_equal(ir_op_get(IR_OP_COUNT)->text, "");
}

static void test_suffixes(void **state)
{
    (void)state;
    for (unsigned s = 1; s < IR_SUFFIX_COUNT; s++) {
        const char *text = ir_suffix_text(s);
        assert_true(*text);
        assert_int_equal(ir_find_suffix(text, strlen(text), ir_hash(text, strlen(text))), s);
        assert_int_equal(ir_suffix_class_of(s) == IR_SC_TYPE, s < IR_TYPE_COUNT);
    }
    assert_int_equal(IR_S_f32, IR_T_f32);
    assert_string_equal(ir_suffix_text(IR_S_shared__cta), "shared::cta");
    assert_string_equal(ir_suffix_text(IR_S_m64n128k16), "m64n128k16");
    assert_int_equal(ir_suffix_class_of(IR_S_v4), IR_SC_VECTOR);
    assert_string_equal(ir_suffix_text(IR_SUFFIX_COUNT), "");
}

static ir_sreg find_sreg(const char *text, uint32_t *index)
{
    return ir_find_sreg(text, strlen(text), ir_hash(text, strlen(text)), index);
}

static void test_sregs(void **state)
{
    (void)state;
    uint32_t index;
    for (unsigned r = 1; r < IR_SREG_COUNT; r++)
        if (!ir_sreg_get(r)->indexed)
            assert_int_equal(find_sreg(ir_sreg_get(r)->text, &index), r);
    assert_int_equal(find_sreg("envreg31", &index), IR_SR_envreg);
    assert_int_equal(index, 31);
    assert_int_equal(find_sreg("envreg32", &index), IR_SR_none);
    assert_int_equal(find_sreg("envreg", &index), IR_SR_none);
    assert_int_equal(find_sreg("pm7", &index), IR_SR_pm);
    assert_int_equal(index, 7);
    assert_int_equal(find_sreg("reserved_smem_offset_1", &index), IR_SR_reserved_smem_offset);
    assert_int_equal(find_sreg("tid1", &index), IR_SR_none);
    assert_true(ir_sreg_get(IR_SR_tid)->vector);
    assert_int_equal(ir_sreg_get(IR_SR_clock64)->type, IR_T_u64);
}

/* Who reads the same value, and whether the launch decides it: one of each kind. */
static void test_sreg_columns(void **state)
{
    (void)state;
    static const struct {
        ir_sreg sreg;
        ir_level level;
        ir_source source;
    } rows[] = {
        {IR_SR_tid, IR_LEVEL_THREAD, IR_SOURCE_LAUNCH},
        {IR_SR_ntid, IR_LEVEL_GRID, IR_SOURCE_LAUNCH},
        {IR_SR_ctaid, IR_LEVEL_BLOCK, IR_SOURCE_LAUNCH},
        {IR_SR_clusterid, IR_LEVEL_CLUSTER, IR_SOURCE_LAUNCH},
        {IR_SR_lanemask_lt, IR_LEVEL_THREAD, IR_SOURCE_LAUNCH},
        {IR_SR_warpid, IR_LEVEL_WARP, IR_SOURCE_PLACEMENT},
        {IR_SR_smid, IR_LEVEL_WARP, IR_SOURCE_PLACEMENT},
        {IR_SR_nsmid, IR_LEVEL_DEVICE, IR_SOURCE_ENVIRONMENT},
        {IR_SR_globaltimer, IR_LEVEL_THREAD, IR_SOURCE_CLOCK},
        {IR_SR_pm3_64, IR_LEVEL_THREAD, IR_SOURCE_CLOCK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(ir_sreg_get(rows[i].sreg)->level, rows[i].level);
        assert_int_equal(ir_sreg_get(rows[i].sreg)->source, rows[i].source);
    }
}

static void test_types(void **state)
{
    (void)state;
    assert_int_equal(ir_type_get(IR_T_f16x2)->bytes, 4);
    assert_int_equal(ir_type_get(IR_T_b128)->bytes, 16);
    assert_int_equal(ir_type_get(IR_T_e2m1x2)->bytes, 1);
    assert_int_equal(ir_type_get(IR_T_e3m2x2)->bytes, 2);
    assert_int_equal(ir_type_get(IR_T_pred)->bytes, 1);
    assert_string_equal(ir_type_get(IR_T_bf16x2)->text, "bf16x2");
    assert_string_equal(ir_space_text(IR_SPACE_SHARED_CLUSTER), "shared::cluster");
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(ir_nearest(IR_VOC_OPS, "moov", 4), "mov");
    assert_string_equal(ir_nearest(IR_VOC_SUFFIXES, "gobal", 5), "global");
    assert_string_equal(ir_nearest(IR_VOC_SREGS, "nctaidd", 7), "nctaid");
    assert_null(ir_nearest(IR_VOC_OPS, "somethingelse", 13));
    assert_null(ir_nearest(IR_VOC_OPS, "", 0));
}

/* The tables are built by whoever comes first, here by four threads at once that parse, verify and
 * print. */
static void *parse_in_thread(void *text)
{
    ir_module *module;
    wl_error err;
    intptr_t failures = 0;
    for (int i = 0; i < 50; i++) {
        if (ptx_parse(text, strlen(text), "x", &module, &err) != WL_OK ||
            ptx_verify(module, "x", &err) != WL_OK)
            failures++;
        ir_module_free(module);
    }
    return (void *)failures;
}

static void test_threads(void **state)
{
    (void)state;
    static char text[] =
        ".version 8.0\n.target sm_80\n.entry k(){.reg .f32 f<3>;fma.rn.f32 f0,f1,f2,1.5;ret;}";
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, parse_in_thread, text), 0);
    for (int i = 0; i < 4; i++) {
        void *failures;
        pthread_join(threads[i], &failures);
        assert_null(failures);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_ops),
        cmocka_unit_test(test_suffixes),     cmocka_unit_test(test_sregs),
        cmocka_unit_test(test_sreg_columns), cmocka_unit_test(test_types),
        cmocka_unit_test(test_nearest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
