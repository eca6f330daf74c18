/* How thresholds are set by name, and what is refused. */
#include "support/test.h"

#include "analysis/thresholds.h"

#include <stdio.h>
#include <string.h>

static const ana_thresholds defaults = {
#define X(id, value, reason) .id = value,
#include "analysis/thresholds.def"
#undef X
};

static uint32_t index_of(const char *name)
{
    for (uint32_t i = 0; i < ANA_THRESHOLD_COUNT; i++)
        if (strcmp(ana_threshold_get(i)->name, name) == 0)
            return i;
    fail_msg("there is no threshold %s", name);
    return 0;
}

static void test_defaults(void **state)
{
    (void)state;
    ana_thresholds t = ana_thresholds_default();
    assert_memory_equal(&t, &defaults, sizeof t);
    for (uint32_t i = 0; i < ANA_THRESHOLD_COUNT; i++) {
        assert_false(ana_threshold_differs(&t, i));
        assert_false(ana_threshold_differs(NULL, i));
        assert_true(strlen(ana_threshold_get(i)->reason) > 20);
    }
}

/* Each name leads to its own field, and to no other. */
static void test_set(void **state)
{
    (void)state;
    wl_error err = {0};
    ana_thresholds t = ana_thresholds_default();
    assert_int_equal(ana_threshold_set(&t, "idle_calls=5", &err), WL_OK);
    assert_true(t.idle_calls == 5);
    assert_int_equal(ana_threshold_set(&t, "idle_calls=4", &err), WL_OK);
    assert_int_equal(ana_threshold_set(&t, "link_rate=1.25e10", &err), WL_OK);
    assert_true(t.idle_calls == 4 && t.link_rate == 1.25e10);
    assert_int_equal(ana_threshold_set(&t, "hot_share=0", &err), WL_OK);
    uint32_t differ = 0;
    for (uint32_t i = 0; i < ANA_THRESHOLD_COUNT; i++)
        differ += ana_threshold_differs(&t, i);
    assert_int_equal(differ, 3);
    assert_true(ana_threshold_value(&t, index_of("hot_share")) == 0);
    assert_true(ana_threshold_value(&t, index_of("idle_calls")) == 4);
    assert_true(ana_threshold_value(NULL, index_of("idle_calls")) == defaults.idle_calls);
}

static void refuses(const char *setting, const char *message)
{
    wl_error err = {0};
    ana_thresholds t = ana_thresholds_default();
    assert_int_equal(ana_threshold_set(&t, setting, &err), WL_ARG);
    assert_string_equal(err.text, message);
    assert_memory_equal(&t, &defaults, sizeof t);
}

static void test_refused(void **state)
{
    (void)state;
    refuses("idle_cals=5", "there is no threshold 'idle_cals'; did you mean 'idle_calls'?");
    refuses("zzz=5", "there is no threshold 'zzz'");
    refuses("=5", "there is no threshold ''");
    static const char *const bad[] = {"", "two", "5x", "-1", "nan", "inf", "1e16", " ", "5,5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char setting[64], message[128];
        snprintf(setting, sizeof setting, "idle_calls=%s", bad[i]);
        snprintf(message, sizeof message,
                 "idle_calls is a number from 0 to 1e+15, as in idle_calls=2, not '%s'", bad[i]);
        refuses(setting, message);
    }
    refuses("idle_calls", "idle_calls is a number from 0 to 1e+15, as in idle_calls=2, not ''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
