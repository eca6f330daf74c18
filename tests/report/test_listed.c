/* `stats --code` of a kernel made by hand: its source, PTX and machine code side by side, and what is said
 * where one of them is missing; and the same as the page is given it. */
#include "support/test.h"
#include "unpack.h"

#include "report/impl.h"

#include <stdlib.h>
#include <string.h>

enum { KERNEL = 3, FILE_ID = 5 };

static const char source_text[] = "first\n  x = a * b + c;\n  store(x);\n";

static prof_file file = {.id = FILE_ID, .path = "/src/k.cu", .name = "k.cu", .has_text = true};
static rep_source source = {FILE_ID, source_text, sizeof source_text - 1};

/* PTX: a multiplication and an addition of line 2, a store of line 3, an end of no line. */
static prof_code ptx[] = {
    {.kernel = KERNEL,
     .pc = 0,
     .text = "mul.f32 %f3, %f1, %f2;",
     .ptx_line = 10,
     .file = FILE_ID,
     .line = 2},
    {.kernel = KERNEL,
     .pc = 1,
     .text = "add.f32 %f4, %f3, %f5;",
     .ptx_line = 11,
     .file = FILE_ID,
     .line = 2},
    {.kernel = KERNEL,
     .pc = 2,
     .text = "st.global.f32 [%rd1], %f4;",
     .ptx_line = 13,
     .file = FILE_ID,
     .line = 3},
    {.kernel = KERNEL, .pc = 3, .text = "ret;", .ptx_line = 14},
};

/* Machine code: both became one, the store two that stand apart; one was made from nothing. */
static prof_listed sass[] = {
    {"FFMA R4, R1, R2, R5", 11, FILE_ID, 2},
    {"IMAD R6, R7, 0x4, R8", 13, FILE_ID, 3},
    {"NOP", 0, FILE_ID, 3},
    {"STG.E [R6], R4", 13, FILE_ID, 3},
    {"EXIT", 14, 0, 0},
};

static prof_block blocks[] = {
    {.kernel = KERNEL, .first_pc = 0, .ninsns = 2, .executions = 64},
    {.kernel = KERNEL, .first_pc = 3, .ninsns = 1, .executions = 0},
};

typedef struct made {
    rep_data data;
    prof_kernel kernel;
    ana_kernel row;
    prof_listing listing;
} made;

static void make_kernel(made *m)
{
    *m = (made){.kernel = {.id = KERNEL,
                           .name = "k()",
                           .short_name = "k",
                           .mangled = "k",
                           .ncode = 4,
                           .module = "",
                           .missing = "",
                           .machine_missing = ""},
                .row = {.kernel = KERNEL, .launches = 1},
                .listing = {.kernel = KERNEL,
                            .kind = CAP_MODULE_CUBIN,
                            .sm = 80,
                            .device_sm = 90,
                            .ninsns = 5,
                            .missing = "",
                            .apart = "",
                            .insns = sass}};
    m->data = (rep_data){.files = {1, &file},
                         .sources = &source,
                         .kernels = {1, &m->kernel},
                         .kernel_table = {.count = 1, .rows = &m->row},
                         .code = {4, ptx},
                         .listings = {1, &m->listing},
                         .blocks = {2, blocks}};
}

static void expect_code(const made *m, const char *expected)
{
    char *text = NULL;
    size_t size;
    wl_error err;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(rep_code(&m->data, &(rep_text_options){.width = 90}, out, &err), WL_OK);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- text ---- */

static void beside_ptx_stands_what_was_made_from_it(void **state)
{
    (void)state;
    made m;
    make_kernel(&m);
    expect_code(
        &m,
        "\nCode of  k\n"
        "  SASS is for sm_80: the program has none for the device's sm_90. Beside PTX stands what\n"
        "  was made from it. Counts are of PTX.\n"
        "  PTX                         executed  at    SASS\n"
        "  k.cu:2  x = a * b + c;\n"
        "  mul.f32 %f3, %f1, %f2;            64\n"
        "  add.f32 %f4, %f3, %f5;            64  0000  FFMA R4, R1, R2, R5\n"
        "  k.cu:3  store(x);\n"
        "  st.global.f32 [%rd1], %f4;            0010  IMAD R6, R7, 0x4, R8\n"
        "                                        0030  STG.E [R6], R4\n"
        "                                        0020  NOP\n"
        "  no line is known\n"
        "  ret;                               0  0040  EXIT\n");
}

static void without_lines_of_ptx_only_source_lines_are_shared(void **state)
{
    (void)state;
    made m;
    prof_listed apart[2] = {sass[0], sass[3]};
    make_kernel(&m);
    apart[0].ptx_line = apart[1].ptx_line = 0;
    m.listing.insns = apart;
    m.listing.ninsns = 2;
    m.listing.device_sm = 80;
    m.listing.apart = "its machine code was made from other PTX";
    expect_code(
        &m,
        "\nCode of  k\n"
        "  SASS is for sm_80. PTX and SASS have only source lines in common: its machine code was\n"
        "  made from other PTX. Counts are of PTX.\n"
        "  PTX                         executed  at    SASS\n"
        "  k.cu:2  x = a * b + c;\n"
        "  mul.f32 %f3, %f1, %f2;            64\n"
        "  add.f32 %f4, %f3, %f5;            64\n"
        "                                        0000  FFMA R4, R1, R2, R5\n"
        "  k.cu:3  store(x);\n"
        "  st.global.f32 [%rd1], %f4;\n"
        "                                        0010  STG.E [R6], R4\n"
        "  no line is known\n"
        "  ret;                               0\n");
}

static void counts_stand_where_they_were_made(void **state)
{
    (void)state;
    made m;
    static prof_code measured[] = {{.kernel = KERNEL,
                                    .pc = 0,
                                    .text = "FFMA R4, R1, R2, R5",
                                    .ptx_line = 11,
                                    .file = FILE_ID,
                                    .line = 2}};
    static prof_listed kept[] = {{"add.f32 %f4, %f3, %f5;", 11, FILE_ID, 2}};
    make_kernel(&m);
    m.kernel.module_kind = CAP_MODULE_CUBIN;
    m.listing = (prof_listing){.kernel = KERNEL,
                               .kind = CAP_MODULE_PTX,
                               .sm = 90,
                               .ninsns = 1,
                               .missing = "",
                               .apart = "",
                               .insns = kept};
    m.data.code = (prof_code_rows){1, measured};
    expect_code(
        &m, "\nCode of  k\n"
            "  SASS is for sm_90. Beside PTX stands what was made from it. Counts are of SASS.\n"
            "  PTX                     at    SASS                 executed\n"
            "  k.cu:2  x = a * b + c;\n"
            "  add.f32 %f4, %f3, %f5;  0000  FFMA R4, R1, R2, R5        64\n");
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    made m;
    make_kernel(&m);
    m.listing = (prof_listing){.kernel = KERNEL,
                               .kind = CAP_MODULE_CUBIN,
                               .apart = "",
                               .missing = "the program has no machine code of it"};
    m.data.code.count = 1;
    m.data.blocks.count = 0;
    expect_code(
        &m,
        "\nCode of  k\n"
        "  There is no SASS to show: the program has no machine code of it. Counts are of PTX.\n"
        "  PTX\n"
        "  k.cu:2  x = a * b + c;\n"
        "  mul.f32 %f3, %f1, %f2;\n");
    m.data.code.count = m.data.listings.count = m.kernel.ncode = 0;
    expect_code(&m, "\nCode of  k\n"
                    "  There is no SASS to show: the profile has none. It was not measured.\n");
}

/* ---- the page's data ---- */

static json_t *code_part(const rep_parts *parts, const json_t *row)
{
    size_t size, number = (size_t)json_integer_value(json_object_get(row, "code"));
    assert_true(number > 0 && number < parts->count);
    uint8_t *bytes = unpacked(&parts->rows[number], &size);
    json_t *code = json_loadb((const char *)bytes, size, 0, NULL);
    free(bytes);
    assert_non_null(code);
    return code;
}

static void the_page_has_both_forms(void **state)
{
    (void)state;
    made m;
    rep_parts parts = {.code_room = 10000, .listing_room = 10000};
    make_kernel(&m);
    json_t *row = json_object();
    rep_add_part(&parts, (rep_part){0}); /* the text's */
    rep_put_code(row, &m.data, KERNEL, &parts);
    assert_string_equal(json_string_value(json_object_get(row, "code_form")), "ptx");
    json_t *code = code_part(&parts, row);
    json_t *expected = json_pack("[{s:i,s:s,s:i,s:i,s:i,s:i},{s:i,s:s,s:i,s:i,s:i,s:i},"
                                 "{s:i,s:s,s:i,s:i,s:i},{s:i,s:s,s:i,s:i}]",
                                 "pc", 0, "text", ptx[0].text, "file", FILE_ID, "line", 2,
                                 "ptx_line", 10, "executions", 64, "pc", 1, "text", ptx[1].text,
                                 "file", FILE_ID, "line", 2, "ptx_line", 11, "executions", 64, "pc",
                                 2, "text", ptx[2].text, "file", FILE_ID, "line", 3, "ptx_line", 13,
                                 "pc", 3, "text", "ret;", "ptx_line", 14, "executions", 0);
    assert_true(json_equal(code, expected));
    json_decref(code);
    json_decref(expected);
    json_t *listing = json_array_get(json_object_get(row, "listings"), 0);
    assert_keys(listing, "form sm device_sm instructions code");
    code = code_part(&parts, listing);
    assert_int_equal(json_array_size(code), 5);
    expected = json_pack("{s:i,s:s,s:i,s:i}", "pc", 2, "text", "NOP", "file", FILE_ID, "line", 3);
    assert_true(json_equal(json_array_get(code, 2), expected));
    json_decref(code);
    json_decref(expected);
    json_decref(row);
    rep_free_parts(&parts);
}

static void a_listing_without_room_says_so(void **state)
{
    (void)state;
    made m;
    rep_parts parts = {.code_room = 10, .listing_room = 10};
    make_kernel(&m);
    json_t *row = json_object();
    rep_add_part(&parts, (rep_part){0}); /* the text's */
    rep_put_code(row, &m.data, KERNEL, &parts);
    assert_keys(row, "code_form listings");
    json_t *listing = json_array_get(json_object_get(row, "listings"), 0);
    assert_string_equal(json_string_value(json_object_get(listing, "missing")),
                        "the report has no room for it");
    assert_int_equal(parts.count, 1);
    json_decref(row);
    rep_free_parts(&parts);
}

static void executions_that_lack_some_are_left_out(void **state)
{
    (void)state;
    made m;
    rep_parts parts = {.code_room = 10000, .listing_room = 10000};
    make_kernel(&m);
    prof_gap gap = {.kernel = KERNEL, .pc = 2, .reason = "it is not known"};
    m.data.gaps = (prof_gap_rows){1, &gap};
    json_t *row = json_object();
    rep_add_part(&parts, (rep_part){0}); /* the text's */
    rep_put_code(row, &m.data, KERNEL, &parts);
    json_t *code = code_part(&parts, row);
    for (size_t i = 0; i < json_array_size(code); i++)
        assert_null(json_object_get(json_array_get(code, i), "executions"));
    json_decref(code);
    json_decref(row);
    rep_free_parts(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_ptx_stands_what_was_made_from_it),
        cmocka_unit_test(without_lines_of_ptx_only_source_lines_are_shared),
        cmocka_unit_test(counts_stand_where_they_were_made),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(the_page_has_both_forms),
        cmocka_unit_test(a_listing_without_room_says_so),
        cmocka_unit_test(executions_that_lack_some_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
