/* Options: the table itself, what texts mean, which are refused and with what message, and
 * kernels chosen by name. */
#include "program/kernel_name.h"
#include "program/options.h"
#include "support/random.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one option ---- */

/* Reads the options with this one given. */
static wl_status read_with(prog_option_id id, const char *text, prog_options *out, wl_error *err)
{
    const char *given[PROG_OPTIONS] = {NULL};
    given[id] = text;
    return prog_options_read(given, out, err);
}

static prog_options accept(prog_option_id id, const char *text)
{
    prog_options o;
    wl_error err = {0};
    if (read_with(id, text, &o, &err) != WL_OK)
        fail_msg("%s", err.text);
    return o;
}

/* How the message calls the option. */
static void name_of(prog_option_id id, char *name, size_t size)
{
    const prog_option *row = &prog_option_table[id];
    snprintf(name, size, "%s%s", row->name ? "--" : "", row->name ? row->name : row->variable);
}

static void expect_text(const char *message, const char *part)
{
    if (!strstr(message, part))
        fail_msg("\"%s\" does not contain \"%s\"", message, part);
}

/* The message names the option, what is allowed and the value. */
static void refuse(prog_option_id id, const char *text)
{
    prog_options o;
    wl_error err = {0};
    char name[64], allowed[256], quoted[2048];
    wl_status status = read_with(id, text, &o, &err);
    name_of(id, name, sizeof name);
    if (status != WL_ARG)
        fail_msg("%s takes '%s'", name, text);
    prog_option_allowed(&prog_option_table[id], allowed, sizeof allowed);
    snprintf(quoted, sizeof quoted, "not '%s'", text);
    expect_text(err.text, name);
    expect_text(err.text, allowed);
    expect_text(err.text, quoted);
    prog_options_clear(&o);
}

/* ---- the table ---- */

static void rows_are_complete(void **state)
{
    (void)state;
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++) {
        const prog_option *row = &prog_option_table[id];
        assert_true(row->name || row->variable);
        assert_true(row->help && row->help[strlen(row->help) - 1] != '.');
        assert_true(!row->name || !row->argument == (row->type == PROG_TYPE_flag));
        assert_true((row->type == PROG_TYPE_choice) == (row->choices != NULL));
        if (row->type == PROG_TYPE_number)
            assert_true(row->least < row->most);
        assert_false(row->initial && row->without);
    }
}

static void names_are_unique(void **state)
{
    (void)state;
    for (prog_option_id a = 0; a < PROG_OPTIONS; a++)
        for (prog_option_id b = 0; b < a; b++) {
            const prog_option *x = &prog_option_table[a], *y = &prog_option_table[b];
            assert_false(x->name && y->name && strcmp(x->name, y->name) == 0);
            assert_false(x->variable && y->variable && strcmp(x->variable, y->variable) == 0);
            assert_false(x->letter && x->letter == y->letter);
        }
}

/* A default that was typed would do the same. */
static void defaults_are_allowed(void **state)
{
    (void)state;
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++) {
        prog_options o;
        wl_error err = {0};
        const char *initial = prog_option_table[id].initial;
        if (initial && read_with(id, initial, &o, &err) != WL_OK)
            fail_msg("%s", err.text);
        if (initial)
            prog_options_clear(&o);
    }
}

static void samples(void **state)
{
    (void)state;
    uint64_t taken = 0;
    for (uint64_t number = 0; number < 40; number++)
        taken |= (uint64_t)prog_in_sample(number, 3) << number;
    assert_int_equal(taken, 0x7 | UINT64_C(1) << 4 | 1 << 8 | 1 << 16 | UINT64_C(1) << 32);
    for (uint64_t number = 0; number < 40; number++)
        assert_true(prog_in_sample(number, 0));
    assert_false(prog_in_sample(3, 1)); /* 0, 1, 2, 4 ... */
    assert_true(prog_in_sample(1, 1) && prog_in_sample(2, 1) && prog_in_sample(4, 1));
}

static void defaults(void **state)
{
    (void)state;
    prog_options o;
    assert_int_equal(prog_options_read(NULL, &o, NULL), WL_OK);
    assert_string_equal(o.output, "");
    assert_false(o.force);
    assert_string_equal(o.backend, "auto");
    assert_string_equal(o.device, "h200");
    assert_int_equal(o.threads, 0);
    assert_true(o.device_memory == UINT64_MAX); /* as the device has */
    assert_int_equal(o.probe_launches, 16);
    assert_string_equal(o.kernel_name, "");
    assert_true(o.blocks.automatic && !o.blocks.all && o.blocks.count == 0);
    assert_true(o.replay_budget.by_run && o.replay_budget.bytes == UINT64_C(4) << 30);
    assert_true(o.memo && !o.check_replay);
    assert_string_equal(o.progress, "none");
    assert_int_equal(o.verbosity, 2);
    prog_options_clear(&o);
}

/* ---- every row, by its type ---- */

static void refuse_each(prog_option_id id, const char *const *texts)
{
    for (; *texts; texts++)
        refuse(id, *texts);
}

static void refuse_by_type(prog_option_id id)
{
    static const char *const numbers[] = {"",
                                          "x",
                                          "two",
                                          "-1",
                                          "+1",
                                          " 1",
                                          "1 ",
                                          "1.5",
                                          "1e3",
                                          "0x1",
                                          "1,2",
                                          "1;1",
                                          "99999999999999999999",
                                          NULL};
    static const char *const flags[] = {"", "2", "yes", "true", "-1", "01", " 1", NULL};
    static const char *const choices[] = {"", "some", "AUTO", "auto ", "full,basic", "|", NULL};
    static const char *const patterns[] = {"",         "regex:(",  "regex:[a", "regex:a{2,1}",
                                           "regex:*(", "regex:\\", NULL};
    static const char *const ranges[] = {"",     "regex:(", "a;regex:[b", "d@regex:*(", "/",
                                         "a//b", "*",       "a/]/b",      "d@",         NULL};
    static const char *const devices[] = {"",      "voodoo2",   "h200,voodoo2",         ",h200",
                                          "h200,", "h200;a100", "/no/such/device.json", NULL};
    static const char *const blocks[] = {"",
                                         "x",
                                         "1,",
                                         "1,,2",
                                         "1,2,3,4",
                                         "-1",
                                         "1,-2",
                                         "1 ,2",
                                         "1;",
                                         ";1",
                                         "auto;1",
                                         "1;all",
                                         "Auto",
                                         "0x1",
                                         "2147483647",
                                         "0,65535",
                                         "0,0,65535",
                                         "1.5",
                                         "99999999999999999999",
                                         NULL};
    static const char *const probes[] = {"",        "Trace",       "trace,",
                                         ",trace",  "trace;touch", "trace touch",
                                         "sectors", "none,trace",  NULL};
    static const char *const budgets[] = {
        "",        "x",         "0",         "-1",    "5x",      "5 s",         "1,",
        ",1",      "inf",       "nan",       "1e3",   "1,2,3",   "0x10s",       "1s,2m",
        "1G,2M",   "+5",        "1e99",      "60s4G", "none,1s", "9999999999s", "auto,1s",
        "1s,auto", "auto,auto", "automatic", "au",    NULL};
    static const char *const *const bad[] = {
        [PROG_TYPE_number] = numbers, [PROG_TYPE_flag] = flags,       [PROG_TYPE_choice] = choices,
        [PROG_TYPE_ranges] = ranges,  [PROG_TYPE_pattern] = patterns, [PROG_TYPE_devices] = devices,
        [PROG_TYPE_blocks] = blocks,  [PROG_TYPE_probes] = probes,    [PROG_TYPE_budget] = budgets};
    if (prog_option_table[id].type != PROG_TYPE_text)
        refuse_each(id, bad[prog_option_table[id].type]);
}

static void bad_values(void **state)
{
    (void)state;
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++)
        refuse_by_type(id);
}

static void expect_number(prog_option_id id, uint64_t number, bool allowed)
{
    char text[32];
    prog_options o;
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    if (!allowed) {
        refuse(id, text);
        return;
    }
    o = accept(id, text);
    prog_options_clear(&o);
}

static void ranges(void **state)
{
    (void)state;
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++) {
        const prog_option *row = &prog_option_table[id];
        if (row->type != PROG_TYPE_number)
            continue;
        expect_number(id, row->least, true);
        expect_number(id, row->most, true);
        expect_number(id, row->most + 1, false);
        if (row->least)
            expect_number(id, row->least - 1, false);
    }
    expect_number(PROG_OPTION_threads, 0, false);
    expect_number(PROG_OPTION_threads, 1000000, false);
}

static void choices(void **state)
{
    (void)state;
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++) {
        const prog_option *row = &prog_option_table[id];
        char *copy = row->choices ? strdup(row->choices) : NULL, *rest = copy;
        for (char *one; copy && (one = strsep(&rest, "|"));) {
            prog_options o = accept(id, one);
            prog_options_clear(&o);
        }
        free(copy);
    }
}

/* Damaged texts of every type: reading ends, and what is refused is told. */
static void damaged_values(void **state)
{
    static const char *const good[] = {"auto",   "all",          "1,2,3;4,5,6", "0",
                                       "60s,4G", "trace,blocks", "h200",        "regex:a(b|c)",
                                       "none",   "12345678",     "basic"};
    static const char bytes[] = "0123456789,;:.|()[]{}*+-\\ax sGMn\xff\n";
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 3000; i++) {
        char text[64];
        wl_error err = {0};
        prog_options o;
        prog_option_id id = (prog_option_id)(i % PROG_OPTIONS);
        snprintf(text, sizeof text, "%s", good[random_below(&seed, sizeof good / sizeof *good)]);
        for (int k = 0; k < 1 + i % 4; k++)
            text[random_below(&seed, strlen(text))] = bytes[random_below(&seed, sizeof bytes - 1)];
        wl_status status = read_with(id, text, &o, &err);
        assert_true(status == WL_OK || status == WL_ARG);
        assert_int_equal(status == WL_ARG, *err.text != '\0');
        prog_options_clear(&o);
    }
}

/* ---- what texts mean ---- */

static void block_lists(void **state)
{
    (void)state;
    prog_options o = accept(PROG_OPTION_blocks, "7;1,2;3,65534,65534;2147483646");
    static const prog_block expected[] = {
        {7, 0, 0}, {1, 2, 0}, {3, 65534, 65534}, {2147483646, 0, 0}};
    assert_false(o.blocks.automatic || o.blocks.all);
    assert_int_equal(o.blocks.count, 4);
    assert_memory_equal(o.blocks.list, expected, sizeof expected);
    prog_options_clear(&o);
    o = accept(PROG_OPTION_blocks, "all");
    assert_true(o.blocks.all && !o.blocks.automatic && o.blocks.count == 0);
    prog_options_clear(&o);
}

/* Counters only: whatever blocks were named, none gets a heat map. */
static void basic_has_no_blocks(void **state)
{
    (void)state;
    const char *given[PROG_OPTIONS] = {[PROG_OPTION_set] = "basic", [PROG_OPTION_blocks] = "1,2,3"};
    prog_options o;
    assert_int_equal(prog_options_read(given, &o, NULL), WL_OK);
    assert_true(!o.blocks.automatic && !o.blocks.all && o.blocks.count == 0);
    prog_options_clear(&o);
}

static void expect_budget(const char *text, double seconds, uint64_t bytes)
{
    prog_options o = accept(PROG_OPTION_replay_budget, text);
    assert_true(o.replay_budget.seconds == seconds);
    assert_int_equal(o.replay_budget.bytes, bytes);
    prog_options_clear(&o);
}

static void budgets(void **state)
{
    (void)state;
    expect_budget("90", 90, 0);
    expect_budget("1.5s", 1.5, 0);
    expect_budget("2m,512M", 120, 512 << 20);
    expect_budget("512M,2m", 120, 512 << 20);
    expect_budget("1h", 3600, 0);
    expect_budget("4G", 0, UINT64_C(4) << 30);
    expect_budget("none", 0, 0);
    expect_budget("auto", 0, 0);
    expect_budget("2G,auto", 0, UINT64_C(2) << 30);
    prog_options o = accept(PROG_OPTION_replay_budget, "auto");
    assert_true(o.replay_budget.by_run);
    prog_options_clear(&o);
    o = accept(PROG_OPTION_replay_budget, "4G");
    assert_false(o.replay_budget.by_run);
    prog_options_clear(&o);
}

static void expect_probes(const char *text, uint32_t probes)
{
    prog_options o = accept(PROG_OPTION_probes, text);
    assert_int_equal(o.probes, probes);
    prog_options_clear(&o);
}

/* Bits in the order of rewrite/probes.def: objects, trace, touch, frequency, shared, blocks, path. */
static void probes(void **state)
{
    (void)state;
    expect_probes("none", 0);
    expect_probes("objects", 1);
    expect_probes("trace,blocks", 2 + 32);
    expect_probes("touch,frequency,shared", 4 + 8 + 16);
    expect_probes("path", 64);
    expect_probes("all", 127);
}

static void several_devices(void **state)
{
    (void)state;
    prog_options o = accept(PROG_OPTION_device, "h200,A100");
    assert_string_equal(o.device, "h200,A100");
    prog_options_clear(&o);
}

static void sequences_are_a_set(void **state)
{
    (void)state;
    prog_options o = accept(PROG_OPTION_set, "full");
    assert_true(o.blocks.automatic && o.sequence_limit == 0);
    prog_options_clear(&o);
    o = accept(PROG_OPTION_set, "sequences");
    assert_true(o.blocks.automatic && o.sequence_limit == 256 << 20);
    prog_options_clear(&o);
    o = accept(PROG_OPTION_probes, "frequency,shared");
    assert_int_equal(o.sequence_limit, 4 << 20); /* what blocks do to arrays is drawn from them */
    prog_options_clear(&o);
    o = accept(PROG_OPTION_probes, "touch,frequency");
    assert_int_equal(o.sequence_limit, 0);
    prog_options_clear(&o);
}

/* ---- where values come from ---- */

static void environment(void **state)
{
    (void)state;
    prog_options o;
    wl_error err = {0};
    setenv("WARPLENS_THREADS", "3", 1);
    setenv("WARPLENS_SET", "", 1); /* as good as unset */
    assert_int_equal(prog_options_read(NULL, &o, &err), WL_OK);
    assert_int_equal(o.threads, 3);
    assert_string_equal(o.set, "full");
    prog_options_clear(&o);
    o = accept(PROG_OPTION_threads, "5"); /* what is given counts */
    assert_int_equal(o.threads, 5);
    prog_options_clear(&o);
    setenv("WARPLENS_THREADS", "0", 1);
    assert_int_equal(prog_options_read(NULL, &o, &err), WL_ARG);
    assert_string_equal(err.text, "WARPLENS_THREADS takes a number from 1 to 1024, not '0'");
    prog_options_clear(&o);
    unsetenv("WARPLENS_THREADS");
    unsetenv("WARPLENS_SET");
}

static void messages(void **state)
{
    (void)state;
    prog_options o;
    wl_error err = {0};
    read_with(PROG_OPTION_kernel_name, "regex:(", &o, &err);
    expect_text(err.text, "--kernel-name takes a kernel's name, or regex: and an extended regular "
                          "expression, not 'regex:(': ");
    prog_options_clear(&o);
    read_with(PROG_OPTION_device, "voodoo2", &o, &err);
    expect_text(err.text, "--device takes what 'warplens devices' lists");
    expect_text(err.text, "h200"); /* the known ones are listed */
    prog_options_clear(&o);
    read_with(PROG_OPTION_collect, "some", &o, &err);
    assert_string_equal(err.text, "--collect takes auto, replay or probe, not 'some'");
    prog_options_clear(&o);
}

/* Inside the application a bad value gives the default; nothing is refused there. Reads this
 * process's options, once. */
static void inside_the_application(void **state)
{
    (void)state;
    setenv("WARPLENS_THREADS", "many", 1);
    setenv("WARPLENS_BLOCKS", "1;2,x", 1);
    setenv("WARPLENS_DEVICE", "voodoo2", 1);
    setenv("WARPLENS_SEQUENCE_LIMIT", "77", 1);
    setenv("WARPLENS_LAUNCH_SKIP", "4", 1);
    setenv("WARPLENS_KERNEL_NAME", "regex:^add", 1);
    setenv("WARPLENS_KERNEL_EXCLUDE", "add_two", 1);
    const prog_options *o = prog_options_get();
    unsetenv("WARPLENS_LAUNCH_SKIP");
    assert_int_equal(o->threads, 0);
    assert_int_equal(o->sequence_limit, 0); /* no set of sequences was asked for */
    assert_true(o->blocks.automatic && o->blocks.count == 0);
    assert_string_equal(o->device, "voodoo2"); /* whoever opens it will say */
    assert_ptr_equal(prog_options_get(), o);
    assert_int_equal(o->launch_skip, 4);
    assert_true(prog_kernel_asked("_Z7add_onePf"));
    assert_false(prog_kernel_asked("_Z7add_twoPf"));
    assert_false(prog_kernel_asked("_Z3subPf"));
}

/* ---- names of kernels ---- */

static void expect_base(const char *mangled, const char *base)
{
    char text[64];
    prog_base_name(mangled, text, sizeof text);
    assert_string_equal(text, base);
}

static void base_names(void **state)
{
    (void)state;
    expect_base("_Z3addPKfS0_Pfi", "add");
    expect_base("_Z6reduceIfLi256EEvPT_S1_j", "reduce");
    expect_base("_ZN4deep5inner6kernelIiEEvPT_", "kernel");
    expect_base("_ZN12_GLOBAL__N_15localEv", "local");
    expect_base("plain_c", "plain_c");
    expect_base("_Z", "_Z");
    expect_base("_Z99short", "_Z99short");
}

static void name_patterns(void **state)
{
    wl_error err = {0};
    (void)state;
    assert_true(prog_pattern_matches("add", "_Z3addPKf"));
    assert_true(prog_pattern_matches("_Z3addPKf", "_Z3addPKf"));
    assert_false(prog_pattern_matches("ad", "_Z3addPKf"));
    assert_true(prog_pattern_matches("regex:^a.d$", "_Z3addPKf"));
    assert_true(prog_pattern_matches("regex:PKf", "_Z3addPKf"));
    assert_false(prog_pattern_matches("regex:sub", "_Z3addPKf"));
    assert_false(prog_pattern_matches("regex:(", "_Z3addPKf"));
    assert_int_equal(prog_pattern_check("regex:(", &err), WL_ARG);
    assert_true(*err.text);
    assert_int_equal(prog_pattern_check("regex:a(b|c)", &err), WL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(defaults_are_allowed),
        cmocka_unit_test(defaults),
        cmocka_unit_test(samples),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(ranges),
        cmocka_unit_test(choices),
        cmocka_unit_test(damaged_values),
        cmocka_unit_test(block_lists),
        cmocka_unit_test(basic_has_no_blocks),
        cmocka_unit_test(sequences_are_a_set),
        cmocka_unit_test(budgets),
        cmocka_unit_test(probes),
        cmocka_unit_test(several_devices),
        cmocka_unit_test(environment),
        cmocka_unit_test(messages),
        cmocka_unit_test(inside_the_application),
        cmocka_unit_test(base_names),
        cmocka_unit_test(name_patterns),
    };
    for (prog_option_id id = 0; id < PROG_OPTIONS; id++)
        if (prog_option_table[id].variable)
            unsetenv(prog_option_table[id].variable);
    setenv("WARPLENS_DEVICES", WL_SOURCE_DIR "/devices", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
