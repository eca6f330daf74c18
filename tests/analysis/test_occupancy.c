/* Resident warps of launches on an H200: 132 multiprocessors that hold 64 warps, 32 blocks, 65,536
 * registers and 228 KiB of shared memory each. */
#include "support/test.h"

#include "analysis/model/model.h"

static prof_launch launch_of(uint32_t grid, uint32_t threads)
{
    return (prof_launch){.grid = {grid, 1, 1},
                         .block = {threads, 1, 1},
                         .registers = 32,
                         .registers_by = PROF_REGISTERS_PTXAS};
}

static model_occupancy occupancy_of(const prof_launch *l)
{
    static cuda_device d;
    wl_error err;
    if (!d.id[0])
        assert_int_equal(cuda_device_load("h200", &d, &err), WL_OK);
    return model_occupancy_of(&d, l);
}

static void assert_step(const model_occupancy *o, model_limit of, uint32_t now, uint32_t wanted,
                        uint32_t blocks, uint32_t warps)
{
    assert_true(o->has_step && o->limits >> of & 1);
    assert_int_equal(o->step.of, of);
    assert_int_equal(o->step.now, now);
    assert_int_equal(o->step.wanted, wanted);
    assert_int_equal(o->step.blocks, blocks);
    assert_int_equal(o->step.warps, warps);
}

static void as_many_as_can_be(void **state)
{
    (void)state;
    prof_launch l = launch_of(132 * 8, 256);
    model_occupancy o = occupancy_of(&l);
    assert_int_equal(o.warps, 64);
    assert_int_equal(o.most, 64);
    assert_int_equal(o.blocks, 8);
    assert_int_equal(o.limits, 0);
    assert_false(o.has_step || o.estimated);
}

static void registers(void **state)
{
    (void)state;
    prof_launch l = launch_of(100000, 256);
    l.registers = 48; /* 1,536 of a warp: 10 warps in a partition's 16,384, 40 of 64 */
    model_occupancy o = occupancy_of(&l);
    assert_int_equal(o.warps, 40);
    assert_int_equal(o.blocks, 5);
    assert_false(o.estimated);
    assert_step(&o, MODEL_LIMIT_REGISTERS, 48, 40, 6, 48); /* 1,280: 12 warps */
    l.registers_by = PROF_REGISTERS_ESTIMATE;
    assert_true(occupancy_of(&l).estimated);
    l.registers = 32; /* they limit nothing: estimated or not */
    assert_false(occupancy_of(&l).estimated);
}

static void shared_memory(void **state)
{
    (void)state;
    prof_launch l = launch_of(100000, 256);
    l.static_shared = 40000;
    l.dynamic_shared = 20000; /* with 1 KiB that is reserved, 61,056: three of 233,472 */
    model_occupancy o = occupancy_of(&l);
    assert_int_equal(o.warps, 24);
    assert_step(&o, MODEL_LIMIT_SHARED, 60000, 233472 / 4 - 1024, 4, 32);
    l.static_shared = 0;
    l.dynamic_shared = o.step.wanted;
    assert_int_equal(occupancy_of(&l).warps, 32);
    l.dynamic_shared++;
    assert_int_equal(occupancy_of(&l).warps, 24);
}

static void sizes_of_blocks(void **state)
{
    (void)state;
    prof_launch l = launch_of(100000, 768);
    model_occupancy o = occupancy_of(&l);
    assert_int_equal(o.warps, 48);
    assert_int_equal(o.limits, 1u << MODEL_LIMIT_THREADS | 1u << MODEL_LIMIT_REGISTERS);
    assert_step(&o, MODEL_LIMIT_THREADS, 768, 672, 3, 63); /* fewer registers would not help */
    l.registers = 16;
    assert_int_equal(occupancy_of(&l).limits, 1u << MODEL_LIMIT_THREADS);
    l = launch_of(100000, 32);
    o = occupancy_of(&l);
    assert_int_equal(o.warps, 32);
    assert_step(&o, MODEL_LIMIT_BLOCKS, 32, 64, 32, 64);
}

static void grids_that_do_not_fill(void **state)
{
    (void)state;
    prof_launch l = launch_of(200, 256);
    model_occupancy o = occupancy_of(&l);
    assert_int_equal(o.blocks, 2);
    assert_int_equal(o.warps, 16);
    assert_int_equal(o.used, 132);
    assert_int_equal(o.limits, 1u << MODEL_LIMIT_GRID);
    assert_step(&o, MODEL_LIMIT_GRID, 200, 8 * 132, 8, 64);
    l.grid[0] = 4;
    o = occupancy_of(&l);
    assert_int_equal(o.used, 4);
    assert_int_equal(o.sms, 132);
    assert_int_equal(o.warps, 8);
    l.registers = 48; /* that matters only where there are enough blocks */
    o = occupancy_of(&l);
    assert_step(&o, MODEL_LIMIT_GRID, 4, 5 * 132, 5, 40);
}

/* Where registers and shared memory are as tight, less of one does not help. */
static void several_limits(void **state)
{
    (void)state;
    prof_launch l = launch_of(100000, 256);
    l.registers = 48;
    l.dynamic_shared = 45000; /* five blocks, too */
    model_occupancy o = occupancy_of(&l);
    assert_int_equal(o.warps, 40);
    assert_int_equal(o.limits, 1u << MODEL_LIMIT_REGISTERS | 1u << MODEL_LIMIT_SHARED);
    assert_false(o.has_step);
}

static void blocks_that_do_not_fit(void **state)
{
    (void)state;
    prof_launch l = launch_of(10, 1024);
    l.dynamic_shared = 1000000;
    assert_int_equal(occupancy_of(&l).most, 0);
    l = launch_of(0, 256);
    assert_int_equal(occupancy_of(&l).most, 0);
}

static void efficiency(void **state)
{
    (void)state;
    ana_model m = {.bound = MODEL_L2, .resources = {[MODEL_L2] = 5e-6, [MODEL_LAUNCH] = 3e-6}};
    assert_within(ana_efficiency(&m, 8e-6), 0.625, 1e-12);
    assert_true(ana_efficiency(&m, -1) < 0);
    assert_true(ana_efficiency(&m, 0) < 0);
    m.bound = MODEL_LAUNCH; /* of that there is no more or less */
    assert_true(ana_efficiency(&m, 8e-6) < 0);
    m.bound = MODEL_L2;
    m.missing = "What its time follows from is not known in full.";
    assert_true(ana_efficiency(&m, 8e-6) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_can_be),      cmocka_unit_test(registers),
        cmocka_unit_test(shared_memory),          cmocka_unit_test(sizes_of_blocks),
        cmocka_unit_test(grids_that_do_not_fill), cmocka_unit_test(several_limits),
        cmocka_unit_test(blocks_that_do_not_fit), cmocka_unit_test(efficiency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
