/* Texts that are not rewritten, or not wholly: what is refused and why; what stays as it is;
 * names. */
#include "probed.h"

#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

static rewrite_result rewrite(const char *text, ir_module **module, wl_arena *arena, wl_status want)
{
    wl_error err = {0};
    rewrite_result result = {0};
    rewrite_options options = {.probes = 1u << REWRITE_TRACE, .everything = true};
    assert_int_equal(ptx_parse(text, strlen(text), "case", module, &err), WL_OK);
    assert_int_equal(rewrite_module(*module, &options, arena, &result, &err), want);
    return result;
}

static void check_refused(const char *text, const char *reason)
{
    ir_module *module;
    wl_arena *arena = wl_arena_new();
    rewrite_result result = rewrite(text, &module, arena, WL_OK);
    assert_null(result.text);
    assert_non_null(result.kernels[0].refused);
    assert_non_null(strstr(result.kernels[0].refused, reason));
    ir_module_free(module);
    wl_arena_free(arena);
}

#define STORE ".reg .b64 %d<2>;\nld.param.u64 %d1, [a];\nst.global.u32 [%d1], 1;\nret;\n"

static void kernels_that_cannot_be_rewritten_say_why(void **state)
{
    (void)state;
    check_refused(".version 7.0\n.target sm_80\n.address_size 64\n"
                  ".visible .entry k(.param .u64 a, .param .align 4 .b8 b[4056])\n{\n" STORE "}\n",
                  "no room");
    check_refused(HEADER ".visible .entry k(.param .u64 a)\n{\n" STORE "}\n"
                         ".global .align 8 .u64 table[1] = {k};\n",
                  "launch it");
    check_refused(HEADER ".visible .entry k(.param .u64 a)\n{\n{\n.local .align 4 .b8 x[4];\n"
                         "st.local.u32 [x], 1;\n}\n" STORE "}\n",
                  "inner scopes");
}

static void the_largest_kernels_stay_as_they_are_where_text_is_limited(void **state)
{
    (void)state;
    const char *text = HEADER
        ".visible .entry large(.param .u64 a)\n{\n.reg .b64 %d<3>;\nld.param.u64 %d1, [a];\n"
        "st.global.u32 [%d1], 1;\nld.global.u64 %d2, [%d1];\nst.global.u32 [%d2], 2;\nret;\n}\n"
        ".visible .entry small(.param .u64 a)\n{\n" STORE "}\n";
    ir_module *module;
    wl_error err = {0};
    wl_arena *arena = wl_arena_new();
    rewrite_result all = rewrite(text, &module, arena, WL_OK), some = {0}, none = {0};
    rewrite_options options = {.probes = 1u << REWRITE_TRACE, .everything = true};
    rewrite_alone own;
    assert_int_equal(rewrite_kernel_alone(module, ir_module_func(module, "small"), &options, arena,
                                          &own, &err),
                     WL_OK);
    options.most_bytes = own.length; /* with what stands before the kernel */
    assert_int_equal(rewrite_module(module, &options, arena, &some, &err), WL_OK);
    assert_true(some.length < all.length);
    assert_string_equal(some.kernels[0].refused, "compiling it with probes would take too long");
    assert_int_equal(some.kernels[0].probes, 0);
    assert_null(some.kernels[1].refused);
    assert_int_not_equal(some.kernels[1].probes, 0);
    options.most_bytes = 1;
    assert_int_equal(rewrite_module(module, &options, arena, &none, &err), WL_OK);
    assert_null(none.text);
    free(own.text);
    free(all.text);
    free(some.text);
    ir_module_free(module);
    wl_arena_free(arena);
}

static void a_kernel_without_instructions_stays_as_it_is(void **state)
{
    (void)state;
    ir_module *module;
    wl_error err = {0};
    wl_arena *arena = wl_arena_new();
    rewrite_result result = rewrite(HEADER ".visible .entry k()\n{\n}\n", &module, arena, WL_OK);
    rewrite_options options = {.probes = (1u << REWRITE_PROBE_COUNT) - 1, .everything = true};
    free(result.text);
    assert_int_equal(rewrite_module(module, &options, arena, &result, &err), WL_OK);
    free(result.text);
    ir_module_free(module);
    wl_arena_free(arena);
}

static void large_parameters_have_room_since_ptx_8_1(void **state)
{
    (void)state;
    ir_module *module;
    wl_arena *arena = wl_arena_new();
    rewrite_result result = rewrite(
        HEADER ".visible .entry k(.param .u64 a, .param .align 4 .b8 b[5001])\n{\n" STORE "}\n",
        &module, arena, WL_OK);
    assert_non_null(result.text);
    assert_int_equal(result.kernels[0].param_index, 2);
    assert_int_equal(result.kernels[0].param_offset, 5016);
    ir_module_free(module);

    /* What has probes gets no more. */
    char *text = result.text;
    rewrite(text, &module, arena, WL_UNSUPPORTED);
    ir_module_free(module);
    wl_arena_free(arena);
    free(text);
}

static void directives_are_kept(void **state)
{
    (void)state;
    ir_module *module;
    wl_arena *arena = wl_arena_new();
    rewrite_result result = rewrite(HEADER ".visible .entry k(.param .u64 a)\n.maxntid 128, 1, 1\n"
                                           ".minnctapersm 4\n{\n" STORE "}\n",
                                    &module, arena, WL_OK);
    assert_non_null(strstr(result.text, ".maxntid 128, 1, 1"));
    assert_non_null(strstr(result.text, ".minnctapersm 4"));
    ir_module_free(module);
    wl_arena_free(arena);
    free(result.text);
}

/* Mangled names of templates are thousands of characters long. */
static void long_names_stay_whole(void **state)
{
    (void)state;
    char name[3000], text[20000];
    ir_module *module, *again;
    wl_error err = {0};
    wl_arena *arena = wl_arena_new();
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(
        text, sizeof text,
        HEADER
        ".func f%s(.param .u64 a)\n{\n.reg .b64 %%d<2>;\nld.param.u64 %%d1, [a];\n"
        "st.global.u32 [%%d1], 1;\nret;\n}\n"
        ".visible .entry k%s(.param .u64 a)\n{\n.shared .align 4 .b8 s%s[4];\n.reg .b64 %%d<2>;\n"
        "ld.param.u64 %%d1, [a];\nst.shared.u32 [s%s], 1;\n"
        "{\n.param .u64 p;\nst.param.u64 [p], %%d1;\ncall f%s, (p);\n}\nret;\n}\n",
        name, name, name, name, name);
    rewrite_result result = rewrite(text, &module, arena, WL_OK);
    assert_int_equal(result.kernels[0].nsites, 2);
    assert_int_equal(ptx_parse(result.text, result.length, "again", &again, &err), WL_OK);
    assert_int_equal(ptx_verify(again, "again", &err), WL_OK);
    ir_module_free(module);
    ir_module_free(again);
    wl_arena_free(arena);
    free(result.text);
}

static void names_of_probes(void **state)
{
    (void)state;
    uint32_t set;
    assert_true(rewrite_probes_parse("touch,blocks", &set));
    assert_int_equal(set, 1u << REWRITE_TOUCH | 1u << REWRITE_BLOCKS);
    assert_true(rewrite_probes_parse("all", &set));
    assert_int_equal(set, (1u << REWRITE_PROBE_COUNT) - 1);
    assert_false(rewrite_probes_parse("", &set));
    assert_false(rewrite_probes_parse("touch,", &set));
    assert_false(rewrite_probes_parse("Trace", &set));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_cannot_be_rewritten_say_why),
        cmocka_unit_test(the_largest_kernels_stay_as_they_are_where_text_is_limited),
        cmocka_unit_test(a_kernel_without_instructions_stays_as_it_is),
        cmocka_unit_test(large_parameters_have_room_since_ptx_8_1),
        cmocka_unit_test(directives_are_kept),
        cmocka_unit_test(long_names_stay_whole),
        cmocka_unit_test(names_of_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
