/* Detectors of every scope: what they are called with, and the findings that come of their
 * drafts. */
#include "../profile/story.h"
#include "support/test.h"

#include "analysis/find.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The story's program: one kernel that moves 3 * 96 sectors and takes 3 * 4 wavefronts; two objects
 * of 4,096 and 1,024 bytes, alive together, and a shared array. */
enum { SECTORS = 3 * 96, WAVEFRONTS = 3 * 4, PEAK = 4096 + 1024 };

static wl_error err;
static wl_arena *arena;
static prof_db *db;
static unsigned calls[ANA_SCOPE_COUNT];

static int set_up(void **state)
{
    (void)state;
    prof_builder *builder;
    prof_options options = {.force = true};
    arena = wl_arena_new();
    memset(calls, 0, sizeof calls);
    story_expect(prof_create(story_path("detect.wlprof"), &options, &builder, &err), &err);
    story_all(builder);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path("detect.wlprof"), &db, &err), &err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    prof_close(db);
    wl_arena_free(arena);
    unlink(story_path("detect.wlprof"));
    return 0;
}

/* ---- detectors that find something wherever they are called ---- */

static wl_status tell(const ana_input *input, ana_drafts *drafts, double excess, ana_unit unit)
{
    ana_draft *d = ana_draft_add(drafts, input, ANA_HOT);
    assert_non_null(d);
    calls[input->scope]++;
    d->unit = unit;
    d->excess = d->alone = excess;
    d->summary = "It is so.";
    d->remedy = "Change " ANA_OBJECT ".";
    return WL_OK;
}

static wl_status of_program(const ana_input *input, ana_drafts *drafts, wl_error *error)
{
    (void)error;
    assert_true(!input->kernel && !input->group && !input->object && !input->ninsns);
    assert_true(input->totals[ANA_SECTORS] == SECTORS);
    assert_true(input->totals[ANA_WAVEFRONTS] == WAVEFRONTS);
    assert_true(input->totals[ANA_BYTES] == PEAK);
    return tell(input, drafts, PEAK / 4, ANA_BYTES);
}

static wl_status of_object(const ana_input *input, ana_drafts *drafts, wl_error *error)
{
    (void)error;
    assert_true(input->object && !input->kernel && !input->group);
    calls[ANA_SCOPE_OBJECT] += input->object->kernel != 0; /* the array: nothing is told of it */
    return input->object->kernel ? WL_OK
                                 : tell(input, drafts, (double)input->object->bytes, ANA_BYTES);
}

static wl_status of_kernel(const ana_input *input, ana_drafts *drafts, wl_error *error)
{
    (void)error;
    assert_true(input->kernel && !input->group && !input->object);
    assert_true(input->totals[ANA_SECTORS] == SECTORS);
    tell(input, drafts, 72, ANA_SECTORS);
    ana_draft *d = &drafts->rows[drafts->count - 1];
    assert_int_equal(d->ninsns, input->ninsns);
    d->insn_excess[0] = 72;
    d->launches = 3;
    return WL_OK;
}

static wl_status of_both(const ana_input *input, ana_drafts *drafts, wl_error *error)
{
    (void)error;
    assert_true(input->kernel && input->group && input->object == input->group->info);
    if (input->group->space != ACC_GLOBAL) {
        calls[ANA_SCOPE_KERNEL_AND_OBJECT]++;
        return WL_OK;
    }
    tell(input, drafts, 150, ANA_SECTORS);
    ana_draft *d = &drafts->rows[drafts->count - 1];
    assert_int_equal(d->ninsns, input->group->ninsns);
    d->insn_excess[0] = 100;
    d->insn_excess[1] = 50;
    d->certainty = ANA_CERTAINTY_SAMPLED;
    return WL_OK;
}

static const detect_row detectors[] = {{ANA_SCOPE_PROGRAM, of_program},
                                       {ANA_SCOPE_OBJECT, of_object},
                                       {ANA_SCOPE_KERNEL, of_kernel},
                                       {ANA_SCOPE_KERNEL_AND_OBJECT, of_both}};

static void find(ana_findings *out)
{
    ana_thresholds thresholds = ana_thresholds_default();
    story_expect(find_with(detectors, 4, db, &thresholds, arena, out, &err), &err);
}

/* ---- tests ---- */

static void each_scope_is_called_for_what_it_names(void **state)
{
    (void)state;
    ana_findings all;
    find(&all);
    assert_int_equal(calls[ANA_SCOPE_PROGRAM], 1);
    assert_int_equal(calls[ANA_SCOPE_OBJECT], 3);
    assert_int_equal(calls[ANA_SCOPE_KERNEL], 1);
    assert_int_equal(calls[ANA_SCOPE_KERNEL_AND_OBJECT], 2); /* object 1, the array */
    assert_int_equal(all.count, 5);
}

static const ana_finding *of_scope(const ana_findings *all, ana_scope scope)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->rows[i].scope == scope)
            return &all->rows[i];
    fail();
    return NULL;
}

static void heads_say_what_they_are_about(void **state)
{
    (void)state;
    ana_findings all;
    find(&all);
    const ana_finding *program = of_scope(&all, ANA_SCOPE_PROGRAM);
    assert_true(!program->kernel && !program->object && !program->access && !program->nlines);
    assert_true(program->kernel_share_of_time < 0 && program->gain == ANA_GAIN_FULL);
    const ana_finding *object = of_scope(&all, ANA_SCOPE_OBJECT);
    assert_true(!object->kernel && object->object == 1 && !object->access);
    assert_string_equal(object->advice, "Change this object.");
    const ana_finding *kernel = of_scope(&all, ANA_SCOPE_KERNEL);
    assert_true(kernel->kernel == 1 && !kernel->object && kernel->nlines == 1);
    assert_int_equal(kernel->access->launches, 3);
    const ana_finding *both = of_scope(&all, ANA_SCOPE_KERNEL_AND_OBJECT);
    assert_true(both->kernel == 1 && both->object == 1 && both->nlines > 0);
    assert_int_equal(both->certainty, ANA_CERTAINTY_SAMPLED);
    assert_int_equal(both->access->space, ACC_GLOBAL);
}

/* All kinds stand in one list, by their share of what the program pays. */
static void one_cost_ranks_all(void **state)
{
    (void)state;
    const double traffic = SECTORS + WAVEFRONTS;
    const struct {
        ana_scope scope;
        ana_unit unit;
        double share;
    } order[] = {{ANA_SCOPE_OBJECT, ANA_BYTES, 4096.0 / PEAK},
                 {ANA_SCOPE_KERNEL_AND_OBJECT, ANA_SECTORS, 150 / traffic},
                 {ANA_SCOPE_PROGRAM, ANA_BYTES, 0.25},
                 {ANA_SCOPE_KERNEL, ANA_SECTORS, 72 / traffic},
                 {ANA_SCOPE_OBJECT, ANA_BYTES, 1024.0 / PEAK}};
    ana_findings all;
    find(&all);
    uint32_t little = 0; /* the kernel's are of little gain on this device, and come last */
    for (uint32_t i = 0; i < all.count; i++) {
        const ana_finding *f = &all.rows[i];
        assert_true(i == 0 || f[-1].gain != ANA_GAIN_FULL || f->gain != ANA_GAIN_FULL ||
                    f[-1].cost.share_of_program >= f->cost.share_of_program);
        little += f->gain != ANA_GAIN_FULL;
        bool listed = false;
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            listed |= order[k].scope == f->scope && order[k].unit == f->cost.unit &&
                      order[k].share == f->cost.share_of_program;
        }
        assert_true(listed);
    }
    assert_int_equal(little, 2);
    assert_true(of_scope(&all, ANA_SCOPE_KERNEL)->cost.share_of_kernel == 72.0 / SECTORS);
    assert_true(of_scope(&all, ANA_SCOPE_PROGRAM)->cost.share_of_kernel == 0);
}

/* Equal words alone join nothing where there is no kernel in common. */
static void groups_keep_objects_apart(void **state)
{
    (void)state;
    ana_findings all;
    find(&all);
    assert_int_equal(all.ngroups, 5);
    for (uint32_t g = 0; g < all.ngroups; g++) {
        const ana_finding_group *group = &all.groups[g];
        const ana_finding *f = &all.rows[group->first];
        assert_int_equal(group->count, 1);
        assert_int_equal(group->nkernels, f->kernel != 0);
        assert_int_equal(group->nobjects, f->object != 0);
        for (uint32_t k = 0; k < g; k++)
            assert_true(f->key != all.rows[all.groups[k].first].key);
    }
}

/* ---- what is worth telling ---- */

static ana_draft claimed; /* of the program, in bytes */

static wl_status claim(const ana_input *input, ana_drafts *drafts, wl_error *error)
{
    (void)error;
    ana_draft *d = ana_draft_add(drafts, input, ANA_HOT);
    assert_non_null(d);
    d->unit = ANA_BYTES;
    d->excess = claimed.excess;
    d->alone = claimed.alone;
    d->requests = claimed.requests;
    d->summary = "It is so.";
    d->remedy = "Change it.";
    return WL_OK;
}

/* Whether this is told of a program of PEAK bytes; `wasteful`: as the threshold, 0 for the default. */
static bool is_told(double excess, double alone, uint64_t requests, double wasteful)
{
    static const detect_row rows[] = {{ANA_SCOPE_PROGRAM, claim}};
    ana_thresholds thresholds = ana_thresholds_default();
    ana_findings all;
    claimed = (ana_draft){.excess = excess, .alone = alone, .requests = requests};
    thresholds.wasteful = wasteful > 0 ? wasteful : thresholds.wasteful;
    story_expect(find_with(rows, 1, db, &thresholds, arena, &all, &err), &err);
    return all.count == 1;
}

static void told_from_a_hundredth_on(void **state)
{
    (void)state;
    assert_true(is_told(52, 52, 0, 0));
    assert_false(is_told(51, 51, 0, 0));
    assert_true(is_told(51, 52, 0, 0)); /* as if no other pattern had been charged first */
    assert_false(is_told(52, 51, 0, 0));
}

static void told_from_eight_on(void **state)
{
    (void)state;
    assert_true(is_told(8, 52, 0, 0));
    assert_false(is_told(7, 52, 0, 0));
}

/* What is wrong in itself is told of a smaller part. */
static void wasteful_from_one_a_request_on(void **state)
{
    (void)state;
    assert_true(is_told(20, 20, 20, 0));
    assert_false(is_told(20, 20, 21, 0));
    assert_true(is_told(20, 0.52, 1, 0.1));
    assert_false(is_told(20, 0.51, 1, 0.1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_scope_is_called_for_what_it_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(heads_say_what_they_are_about, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_cost_ranks_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groups_keep_objects_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(told_from_a_hundredth_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(told_from_eight_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wasteful_from_one_a_request_on, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
