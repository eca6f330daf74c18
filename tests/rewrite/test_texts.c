/* Texts that are not rewritten, or not wholly: what is refused and why; what stays as it is;
 * names. */
#include "probed.h"

#include "ptx/ptx.h"
#include "rewrite/dump.h"

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

/* As many marks as neighbouring accesses make are one store, where they are aligned. */
static void marks_of_neighbours_are_one_store(void **state)
{
    (void)state;
    static const struct {
        const char *accesses, *type, *ones;
    } cases[] = {
        {"st.global.v2.u32 [%d1], {1, 2};\n", "u16", "], 257;\n"},
        {"st.global.v4.u32 [%d1], {1, 2, 3, 4};\n", "u32", "], 16843009;\n"},
        {"st.global.v4.u32 [%d1], {1, 2, 3, 4};\nst.global.v4.u32 [%d1+16], {1, 2, 3, 4};\n", "u64",
         "], 72340172838076673;\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        ir_module *module;
        wl_error err = {0};
        wl_arena *arena = wl_arena_new();
        rewrite_result result = {0};
        rewrite_options options = {.probes = 1u << REWRITE_TOUCH, .everything = true};
        snprintf(text, sizeof text,
                 HEADER ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %%d<4>;\n.reg .b32 %%r;\n"
                        "ld.param.u64 %%d1, [a];\nmov.u32 %%r, %%tid.x;\n"
                        "mad.wide.u32 %%d1, %%r, 32, %%d1;\n%sret;\n}\n",
                 cases[i].accesses);
        assert_int_equal(ptx_parse(text, strlen(text), "case", &module, &err), WL_OK);
        assert_int_equal(rewrite_module(module, &options, arena, &result, &err), WL_OK);
        const char *at = strstr(result.text, cases[i].ones);
        while (at && at[-1] != '\n')
            at--;
        assert_non_null(at);
        snprintf(text, sizeof text, " st.global.%s [__wl_", cases[i].type);
        assert_non_null(strstr(at, text));
        assert_true(strstr(at, text) < strchr(at, '\n'));
        free(result.text);
        ir_module_free(module);
        wl_arena_free(arena);
    }
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

/* Of each pass, what it says about a kernel with a store, a loop that loads, and an array in shared
 * memory. */
static void each_pass_can_be_dumped(void **state)
{
    (void)state;
    static const struct {
        const char *pass, *says;
    } passes[] = {
#define X(name, summary) {#name, NULL},
#include "rewrite/passes.def"
#undef X
        {"sites", "site 0: store of 4 bytes, global, from parameter 0+0"},
        {"variables", "variable 0 tile (shared)"},
        {"runs", "block 1, runs as block 1"},
        {"bits", "follows from the launch"},
        {"shared", "site 1: counted by thread"},
        {"slots", "site 0: slot 0, class 1"},
        {"walks", "site 2: noted after loop 0, with site 2, leader 2"},
        {"walks", "step 4, dense"},
        {"merges", "site 0: marks bytes 0 to 4"},
        {"records", "site 1: record 1 (region of 2 rows), 0 from variable tile"},
        {"records", "(summarized loop of"},
        {"blocks", "basic block 1: counter 1, in a register"},
        {"paths", "block 0"},
    };
    wl_error err = {0};
    ir_module *module;
    const char *text = HEADER
        ".visible .entry k(.param .u64 a)\n{\n.shared .align 4 .b8 tile[128];\n"
        ".reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .b64 %d<3>;\n"
        "ld.param.u64 %d1, [a];\nmov.u32 %r1, 0;\nst.global.u32 [%d1], %r1;\n"
        "st.shared.u32 [tile], %r1;\nAGAIN:\nld.global.u32 %r2, [%d1];\n"
        "add.s64 %d1, %d1, 4;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n"
        "@%p1 bra AGAIN;\nret;\n}\n";
    rewrite_options options = {.probes = (1u << REWRITE_PROBE_COUNT) - 1, .everything = true};
    assert_int_equal(ptx_parse(text, strlen(text), "case", &module, &err), WL_OK);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        wl_arena *arena = wl_arena_new();
        char *dumped = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&dumped, &length);
        const char *says = passes[i].says ? passes[i].says : "kernel k\nblock 0";
        assert_true(rewrite_has_pass(passes[i].pass));
        assert_int_equal(rewrite_dump(module, module->funcs[0], &options, passes[i].pass, arena,
                                      out),
                         WL_OK);
        fclose(out);
        if (!strstr(dumped, says))
            print_error("%s does not say \"%s\":\n%s", passes[i].pass, says, dumped);
        assert_non_null(strstr(dumped, says));
        free(dumped);
        wl_arena_free(arena);
    }
    assert_false(rewrite_has_pass("nothing"));
    ir_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_cannot_be_rewritten_say_why),
        cmocka_unit_test(the_largest_kernels_stay_as_they_are_where_text_is_limited),
        cmocka_unit_test(a_kernel_without_instructions_stays_as_it_is),
        cmocka_unit_test(large_parameters_have_room_since_ptx_8_1),
        cmocka_unit_test(directives_are_kept),
        cmocka_unit_test(marks_of_neighbours_are_one_store),
        cmocka_unit_test(long_names_stay_whole),
        cmocka_unit_test(names_of_probes),
        cmocka_unit_test(each_pass_can_be_dumped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
