/* What the model says of a launch, in both JSON outputs. */
#include "render.h"
#include "support/test.h"
#include "unpack.h"

#include <string.h>

/* 1 and 2 MB at half of what L1 and L2 reach; 3 million FP32 operations, integers beside them. */
static ana_model model_of(const fixture *f)
{
    ana_model m = {.kernel = f->data.kernel_table.rows[0].kernel,
                   .kind = f->data.launches.rows[0].kind,
                   .launches = 1,
                   .seconds = 5e-6,
                   .bound = MODEL_L2,
                   .resources = {[MODEL_L1] = 1e-6, [MODEL_L2] = 4e-6, [MODEL_LAUNCH] = 3e-6}};
    m.roofline.levels[MODEL_LEVEL_L1] = (model_roof){1e6, 0.5e-6};
    m.roofline.levels[MODEL_LEVEL_L2] = (model_roof){2e6, 2e-6};
    m.roofline.arithmetic[MODEL_ARITHMETIC_FP32] = (model_roof){3e6, 1e-6};
    m.roofline.arithmetic[MODEL_ARITHMETIC_INTEGER] = (model_roof){7e6, 1e-6};
    m.occupancy = (model_occupancy){.most = 64,
                                    .blocks = 5,
                                    .warps = 40,
                                    .used = 132,
                                    .sms = 132,
                                    .limits = 1u << MODEL_LIMIT_REGISTERS,
                                    .has_step = true,
                                    .step = {MODEL_LIMIT_REGISTERS, 48, 40, 6, 48}};
    return m;
}

static void assert_text(json_t *row, const char *key, const char *expected)
{
    assert_string_equal(json_string_value(json_object_get(row, key)), expected);
}

static void assert_number(json_t *row, const char *key, double expected)
{
    assert_within(json_number_value(json_object_get(row, key)), expected, 1e-9);
}

static void assert_roofline(json_t *roofline)
{
    json_t *arithmetic = json_object_get(roofline, "arithmetic"),
           *row = json_array_get(arithmetic, 0);
    json_t *levels = json_object_get(roofline, "levels");
    assert_int_equal(json_array_size(arithmetic), 1); /* integers are addresses here */
    assert_keys(row, "name words operations ceiling");
    assert_text(row, "name", "fp32");
    assert_number(row, "operations", 3e6);
    assert_number(row, "ceiling", 3e12);
    assert_int_equal(json_array_size(levels), 2); /* none that moves nothing */
    assert_text(json_array_get(levels, 0), "words", "L1 requests");
    row = json_array_get(levels, 1);
    assert_keys(row, "name words bytes ceiling reachable");
    assert_text(row, "name", "l2");
    assert_number(row, "bytes", 2e6);
    assert_number(row, "ceiling", 1e12);
    assert_number(row, "reachable", 0.5e12);
}

static void assert_occupancy(json_t *occupancy)
{
    json_t *limits = json_object_get(occupancy, "limits"),
           *step = json_object_get(occupancy, "step");
    assert_keys(occupancy, "warps most blocks used sms limits step");
    assert_number(occupancy, "warps", 40);
    assert_number(occupancy, "most", 64);
    assert_int_equal(json_array_size(limits), 1);
    assert_text(json_array_get(limits, 0), "words", "registers");
    assert_text(step, "of", "registers");
    assert_number(step, "now", 48);
    assert_number(step, "wanted", 40);
    assert_number(step, "blocks", 6);
    assert_number(step, "warps", 48);
}

static json_t *first_of(json_t *json, const char *key)
{
    return json_array_get(json_object_get(json, key), 0);
}

static void both_outputs_have_it(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    ana_model m = model_of(f);
    f->data.models = (ana_models){.count = 1, .rows = &m, .nkernels = 1, .kernels = &m};
    json_t *json = json_of(&f->data), *page = payload_json(&f->data, &parts);
    json_t *launch = first_of(json, "launches"), *kernel = first_of(page, "kernels");
    assert_roofline(json_object_get(json_object_get(launch, "model"), "roofline"));
    assert_roofline(json_object_get(json_object_get(kernel, "model"), "roofline"));
    assert_occupancy(json_object_get(launch, "occupancy"));
    json_decref(json);
    json_decref(page);
    rep_free_parts(&parts);
}

/* It needs no figures of the device. */
static void occupancy_without_a_model(void **state)
{
    fixture *f = *state;
    ana_model m = model_of(f);
    m.missing = "No figures were measured of its device.";
    m.occupancy.estimated = true;
    m.occupancy.has_step = false;
    f->data.models = (ana_models){.count = 1, .rows = &m};
    json_t *json = json_of(&f->data), *launch = first_of(json, "launches");
    assert_null(json_object_get(launch, "model"));
    assert_keys(json_object_get(launch, "occupancy"),
                "warps most blocks used sms limits estimated");
    json_decref(json);
    rep_parts parts;
    m.kind = rep_costliest_launch(&f->data, m.kernel)->kind;
    json = payload_json(&f->data, &parts);
    json_t *kernel = first_of(json, "kernels");
    assert_text(kernel, "model_missing", m.missing);
    assert_null(json_object_get(kernel, "model"));
    assert_number(json_object_get(kernel, "occupancy"), "warps", 40);
    json_decref(json);
    rep_free_parts(&parts);
    m.occupancy.most = 0;
    json = json_of(&f->data);
    assert_null(json_object_get(first_of(json, "launches"), "occupancy"));
    json_decref(json);
}

static json_t *model_of_launch(fixture *f, json_t **json)
{
    *json = json_of(&f->data);
    return json_object_get(first_of(*json, "launches"), "model");
}

static void efficiency_of_launches_that_were_timed(void **state)
{
    fixture *f = *state;
    json_t *json;
    ana_model m = model_of(f);
    prof_launch *launch = &f->data.launches.rows[0];
    f->data.models = (ana_models){.count = 1, .rows = &m};
    assert_null(json_object_get(model_of_launch(f, &json), "efficiency"));
    json_decref(json);
    prof_launch before = *launch;
    launch->timed = 2;
    launch->device_seconds = 16e-6;
    assert_number(model_of_launch(f, &json), "efficiency", 0.5);
    json_decref(json);
    launch->recorded = true; /* its time has that of its probes in it */
    assert_null(json_object_get(model_of_launch(f, &json), "efficiency"));
    json_decref(json);
    *launch = before;
}

static json_t *model_of_kernel(fixture *f, rep_parts *parts, json_t **page)
{
    *page = payload_json(&f->data, parts);
    return json_object_get(first_of(*page, "kernels"), "model");
}

/* The mean of other launches than those that the model is of says nothing about it. */
static void efficiency_of_kernels(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    json_t *page;
    ana_model m = model_of(f);
    ana_device_time *time = &f->data.kernel_table.rows[0].device, before = *time;
    f->data.models = (ana_models){.nkernels = 1, .kernels = &m};
    *time = (ana_device_time){.launches = 4, .timed = 1, .seconds = 32e-6};
    m.launches = 4;
    assert_number(model_of_kernel(f, &parts, &page), "efficiency", 0.5);
    assert_number(json_object_get(first_of(page, "kernels"), "model"), "measured", 8e-6);
    json_decref(page);
    rep_free_parts(&parts);
    m.launches = 3;
    assert_null(json_object_get(model_of_kernel(f, &parts, &page), "efficiency"));
    assert_null(json_object_get(first_of(page, "model"), "measured"));
    json_decref(page);
    rep_free_parts(&parts);
    *time = before;
}

static void assert_text_has(fixture *f, const char *part)
{
    char *text = text_of(&f->data, &(rep_text_options){.width = 140});
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
    free(text);
}

static void assert_text_lacks(fixture *f, const char *part)
{
    char *text = text_of(&f->data, &(rep_text_options){.width = 140});
    assert_null(strstr(text, part));
    free(text);
}

static void text_of_both(void **state)
{
    fixture *f = *state;
    ana_model m = model_of(f);
    ana_kernel *kernel = &f->data.kernel_table.rows[0];
    ana_device_time before = kernel->device;
    m.kind = rep_costliest_launch(&f->data, m.kernel)->kind;
    f->data.models = (ana_models){.count = 1, .rows = &m, .nkernels = 1, .kernels = &m};
    assert_text_has(f, "  then           warps resident\n");
    assert_text_has(f, "  launch 3.0 us  62 % registers\n");
    assert_text_lacks(f, "efficiency"); /* nothing was measured */
    kernel->device = (ana_device_time){.launches = 1, .timed = 1, .seconds = 5e-6};
    m.occupancy.limits |= 1u << MODEL_LIMIT_SHARED;
    assert_text_has(f, "  then           efficiency  warps resident\n");
    assert_text_has(f, "  launch 3.0 us        80 %  62 % registers, shared\n");
    m.occupancy = (model_occupancy){0};
    assert_text_lacks(f, "warps resident");
    kernel->device = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        T(both_outputs_have_it),
        T(occupancy_without_a_model),
        T(efficiency_of_launches_that_were_timed),
        T(efficiency_of_kernels),
        T(text_of_both),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
