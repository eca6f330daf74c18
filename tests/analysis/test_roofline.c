/* Operations against bytes, on a device of round numbers: ten multiprocessors of 1 GHz. */
#include "support/test.h"

#include "analysis/model/work.h"

#define ASSERT_NEAR(value, expected) assert_within(value, expected, 1e-12)

static cuda_device device_of_ten(void)
{
    cuda_device d = {.l2_bytes = 1000000};
    d.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 10;
    static const struct {
        cuda_figure_key key;
        double value;
    } figures[] = {{CUDA_FIGURE_clock, 1e9},       {CUDA_FIGURE_fp32, 128},
                   {CUDA_FIGURE_fp64, 2},          {CUDA_FIGURE_half2, 256},
                   {CUDA_FIGURE_int32, 64},        {CUDA_FIGURE_tensor_fp16, 1024},
                   {CUDA_FIGURE_l1_wide, 100},     {CUDA_FIGURE_shared_passes, 0.5},
                   {CUDA_FIGURE_l2_read, 1e12},    {CUDA_FIGURE_l2_write, 5e11},
                   {CUDA_FIGURE_dram_read, 2.5e11}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        d.measured.figures[figures[i].key].value = figures[i].value;
    return d;
}

static const obs_mix nothing;

static model_roofline roofline_of(const model_work *w, const obs_mix *mix)
{
    cuda_device d = device_of_ten();
    prof_launch l = {
        .mix = mix ? mix : &nothing, .warp_instructions = 10, .thread_instructions = 80};
    return model_roofline_of(&d, w, &l);
}

static void assert_roof(model_roof roof, double amount, double rate)
{
    ASSERT_NEAR(roof.amount, amount);
    ASSERT_NEAR(roof.seconds, amount / rate);
}

static void bytes_of_each_level(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .shared_turns = 5000};
    w.traffic = (model_traffic){
        .sectors = 8000, .missed = 3000, .stored = 1000, .stored_bytes = 32000, .footprint = 1e6};
    model_roofline r = roofline_of(&w, NULL);
    assert_roof(r.levels[MODEL_LEVEL_SHARED], 5000 * 128, 0.5 * 128 * 1e10);
    assert_roof(r.levels[MODEL_LEVEL_L1], 8000 * 32, 100 * 1e10);
    ASSERT_NEAR(r.levels[MODEL_LEVEL_L2].amount, 4000 * 32);
    ASSERT_NEAR(r.levels[MODEL_LEVEL_L2].seconds, 3000 * 32 / 1e12 + 1000 * 32 / 5e11);
    assert_true(r.levels[MODEL_LEVEL_DRAM].amount == 0); /* it stays in L2 */
    w.traffic.moved_again = 10;
    assert_roof(roofline_of(&w, NULL).levels[MODEL_LEVEL_DRAM], 320, 2.5e11);
    w.traffic.footprint = 1000032;
    assert_roof(roofline_of(&w, NULL).levels[MODEL_LEVEL_DRAM], 1000352, 2.5e11);
}

/* Only active lanes do something; those of all classes tell where PTX has none of the class. */
static void operations_of_active_lanes(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8};
    w.machine[IR_COST_FP32] = 1000;
    w.machine[IR_COST_FP64] = 100;
    w.machine[IR_COST_HALF] = 10;
    w.machine[IR_COST_TENSOR] = 5;
    w.machine[IR_COST_INT] = 7;
    obs_mix mix = nothing;
    mix.warp_instructions[IR_COST_FP32] = 500;
    mix.thread_instructions[IR_COST_FP32] = 500 * 16;
    mix.warp_instructions[IR_COST_TENSOR] = 5;
    mix.thread_instructions[IR_COST_TENSOR] = 5 * 32;
    model_roofline r = roofline_of(&w, &mix);
    assert_roof(r.arithmetic[MODEL_ARITHMETIC_FP32], 1000 * 16, 128e10);
    assert_roof(r.arithmetic[MODEL_ARITHMETIC_FP64], 100 * 8, 2e10);
    assert_roof(r.arithmetic[MODEL_ARITHMETIC_HALF], 10 * 8, 256e10);
    assert_roof(r.arithmetic[MODEL_ARITHMETIC_TENSOR], 5 * 2048, 1024e10);
    assert_roof(r.arithmetic[MODEL_ARITHMETIC_INTEGER], 7 * 8, 64e10);
}

static void integers_count_where_nothing_else_does(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .machine[IR_COST_INT] = 7};
    model_roofline r = roofline_of(&w, NULL);
    assert_true(model_counts_arithmetic(&r, MODEL_ARITHMETIC_INTEGER));
    assert_false(model_counts_arithmetic(&r, MODEL_ARITHMETIC_FP64));
    w.machine[IR_COST_FP64] = 1;
    r = roofline_of(&w, NULL);
    assert_false(model_counts_arithmetic(&r, MODEL_ARITHMETIC_INTEGER));
    assert_true(model_counts_arithmetic(&r, MODEL_ARITHMETIC_FP64));
}

static void a_level_without_a_figure_is_in_none(void **state)
{
    (void)state;
    cuda_device d = device_of_ten();
    d.measured.figures[CUDA_FIGURE_dram_read].value = 0;
    model_work w = {.blocks = 1, .warps = 1, .traffic = {.footprint = 2e6}};
    prof_launch l = {.mix = &nothing};
    assert_true(model_roofline_of(&d, &w, &l).levels[MODEL_LEVEL_DRAM].amount == 0);
}

static void sums_of_launches(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .shared_turns = 100, .machine[IR_COST_INT] = 7};
    model_roofline one = roofline_of(&w, NULL), sum = one;
    model_roofline_add(&sum, &one, 2);
    assert_roof(sum.levels[MODEL_LEVEL_SHARED], 3 * 12800, 0.5 * 128 * 1e10);
    assert_roof(sum.arithmetic[MODEL_ARITHMETIC_INTEGER], 3 * 56, 64e10);
}

static void names_of_resources(void **state)
{
    (void)state;
    assert_string_equal(model_level_words(MODEL_LEVEL_DRAM), "device memory");
    assert_string_equal(model_level_words(MODEL_LEVEL_L1), "L1 requests");
    assert_string_equal(model_arithmetic_words(MODEL_ARITHMETIC_TENSOR), "tensor-core");
    assert_int_equal(model_level_resource(MODEL_LEVEL_DRAM), MODEL_DRAM);
    assert_int_equal(model_arithmetic_resource(MODEL_ARITHMETIC_TENSOR), MODEL_TENSOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_each_level),
        cmocka_unit_test(operations_of_active_lanes),
        cmocka_unit_test(integers_count_where_nothing_else_does),
        cmocka_unit_test(a_level_without_a_figure_is_in_none),
        cmocka_unit_test(sums_of_launches),
        cmocka_unit_test(names_of_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
