/* Every column of the tables and every key of the objects, with a value of its own: one that stands
 * in another's place is noticed. */
#include "render.h"
#include "sample.h"
#include "support/test.h"

#include "report/impl.h"

#include <string.h>

/* ---- rows whose fields all differ ---- */

static const obs_mix no_mix;

static prof_launch launches[] = {{.id = 11,
                                  .count = 118,
                                  .process = 12,
                                  .number = 13,
                                  .kernel = 1,
                                  .grid = {21, 22, 23},
                                  .block = {24, 25, 26},
                                  .stream = 31,
                                  .dynamic_shared = 32,
                                  .static_shared = 33,
                                  .registers = 34,
                                  .warp_instructions = 35,
                                  .thread_instructions = 36,
                                  .host_seconds = 0.5,
                                  .device_seconds = 0.25,
                                  .blocks_run = 37,
                                  .blocks_observed = 38,
                                  .blocks_sampled = 39,
                                  .error = 40,
                                  .fault = "it broke",
                                  .way = CAP_WAY_REPLAY,
                                  .estimated = true,
                                  .mix = &no_mix}};

static prof_instruction instructions[] = {{.launch = 11,
                                           .kernel = 1,
                                           .executions = 41,
                                           .c = {.pc = 14,
                                                 .op = ACC_LOAD,
                                                 .space = ACC_GLOBAL,
                                                 .object = 1,
                                                 .bytes = 42,
                                                 .requests = 43,
                                                 .active_lanes = 44,
                                                 .sectors = 45,
                                                 .sectors_min = 46,
                                                 .uniform = 49,
                                                 .contiguous = 50,
                                                 .misaligned = 51,
                                                 .strided = 52,
                                                 .irregular = 53,
                                                 .stride = -54}},
                                          {.launch = 11,
                                           .kernel = 1,
                                           .executions = 55,
                                           .c = {.pc = 17,
                                                 .op = ACC_STORE,
                                                 .space = ACC_SHARED,
                                                 .object = 3,
                                                 .bytes = 4,
                                                 .requests = 56,
                                                 .active_lanes = 57,
                                                 .wavefronts = 58,
                                                 .wavefronts_min = 59}}};

static prof_object objects[] = {{.id = 1,
                                 .process = 61,
                                 .kind = CAP_OBJECT_DEVICE,
                                 .space = ACC_GLOBAL,
                                 .name = "d_x (a.cu:6)",
                                 .variable = "d_x",
                                 .bytes = 62,
                                 .file = 1,
                                 .line = 63,
                                 .function = "upload",
                                 .freed = true,
                                 .freed_how = CAP_FREED_PROGRAM,
                                 .parent = 64,
                                 .pool = 65,
                                 .tag = "image",
                                 .element_bytes = 66,
                                 .made_by_kernel = 2},
                                {.id = 3,
                                 .kind = PROF_OBJECT_SHARED,
                                 .space = ACC_SHARED,
                                 .kernel = 2,
                                 .name = "tile",
                                 .variable = "tile",
                                 .bytes = 67,
                                 .function = "",
                                 .tag = ""}};

static prof_sample samples[] = {{.launch = 11,
                                 .kernel = 1,
                                 .of = 71,
                                 .s = {.block = 72,
                                       .block_index = {73, 74, 75},
                                       .why = OBS_WHY_OUTLIER,
                                       .alike = 76,
                                       .instructions = 77,
                                       .requests = 78,
                                       .sectors = 156,
                                       .mapped = 1}}};

static ana_use uses[] = {{.object = 1,
                          .counted = true,
                          .elements = 90,
                          .touched = 3,
                          .times = {81, 82, 83},
                          .most = 84,
                          .rare = 2,
                          .mean = 85,
                          .variation = 86}};

static ana_use parts[] = {{.object = 3,
                           .kernel = 2,
                           .array = true,
                           .counted = true,
                           .elements = 90,
                           .touched = 3,
                           .times = {81, 82, 83},
                           .reuse = {.ranges_known = true,
                                     .ranges = {160, 161, 162},
                                     .accesses_per_range = 0.75,
                                     .unfilled = 163,
                                     .blocks_known = true,
                                     .blocks = 164,
                                     .block_words = 165,
                                     .block_words_most = 166,
                                     .block_accesses = 167,
                                     .accesses_per_block_word = 1.5}}};

static ana_line lines[] = {{"/src/a.cu", 91, 17, false, 1, 1, 1, 0, 0}};
static ana_evidence evidence[] = {{"part", "a part", 92, ""}};
static ana_access about = {.launches = 93};
static ana_finding rows[] = {
    {.number = 94,
     .key = 95,
     .pattern = ANA_STRIDED,
     .scope = ANA_SCOPE_KERNEL_AND_OBJECT,
     .kernel = 1,
     .object = 1,
     .cost = {.unit = ANA_SECTORS, .excess = 96, .share_of_kernel = 0.5, .share_of_program = 0.25},
     .kernel_share_of_time = 0.125,
     .worth = {.known = true,
               .seconds = 119,
               .low = -120,
               .high = 121,
               .of_kernel = 0.5,
               .of_program = 0.25,
               .small = true,
               .of_full = 0.625},
     .gain = ANA_GAIN_TINY,
     .gain_figures = "",
     .gain_note = "It gains little.",
     .certainty = ANA_CERTAINTY_SAMPLED,
     .nlines = 1,
     .lines = lines,
     .nevidence = 1,
     .evidence = evidence,
     .summary = "It is so.",
     .advice = "Change it.",
     .access = &about}};
static uint32_t kernel_one[] = {1}, object_one[] = {1};
static ana_finding_group groups[] = {
    {.first = 0,
     .count = 1,
     .nkernels = 1,
     .kernels = kernel_one,
     .nobjects = 1,
     .objects = object_one,
     .nlines = 1,
     .lines = lines,
     .cost = {.unit = ANA_BYTES, .excess = 97, .share_of_program = 0.75},
     .worth = {.known = true,
               .seconds = 122,
               .low = 123,
               .high = 124,
               .of_kernel = 0.125,
               .of_program = 0.375,
               .of_full = 0.875},
     .advice = "Change both."}};
static const ana_findings findings = {.count = 1, .rows = rows, .ngroups = 1, .groups = groups};

static ana_memory_point course[] = {{.object = 1, .freed = true, .bytes = 101}};
static ana_device_memory device_memory[] = {
    {.process = 102, .device = 103, .peak_bytes = 104, .npoints = 1, .points = course}};
static ana_peak peaks[] = {
    {.process = 105, .device = 106, .bytes = 107, .call = 1, .nobjects = 1, .objects = object_one}};
static rep_failure failures[] = {{.what = "launch 11",
                                  .why = "it broke",
                                  .launch = 11,
                                  .object = 1,
                                  .file = "a.cu",
                                  .line = 108}};
static prof_gap gaps[] = {{.kernel = 1, .pc = 14, .reason = "not read"}};
static prof_passed passed[] = {{.kernel = 1, .object = 1, .parameter = "in"},
                               {.kernel = 1, .object = 1, .parameter = "out"},
                               {.kernel = 1, .object = 3, .parameter = "other"}};

/* The sample with these rows in place of its own; its names are short. */
static rep_data *distinct(void **state)
{
    rep_data *d = &((fixture *)*state)->data;
    static prof_kernel kernels[2];
    kernels[0] = d->kernels.rows[0];
    kernels[1] = d->kernels.rows[1];
    kernels[0].name = "first";
    kernels[1].name = "second";
    d->kernels.rows = kernels;
    d->kernels.count = 2;
    d->launches = (prof_launch_rows){1, launches};
    d->instructions = (prof_instruction_rows){2, instructions};
    d->objects = (prof_object_rows){2, objects};
    d->samples = (prof_sample_rows){1, samples};
    d->uses.count = 1;
    d->uses.rows = uses;
    d->uses.nparts = 1;
    d->uses.parts = parts;
    d->findings = &findings;
    d->memory = (ana_memory){
        .peak_bytes = 109, .npeaks = 1, .peaks = peaks, .ndevices = 1, .devices = device_memory};
    d->failures = failures;
    d->nfailures = 1;
    d->gaps = (prof_gap_rows){1, gaps};
    d->passed = (prof_passed_rows){3, passed};
    d->coverage = (prof_coverage){.launches_seen = 111,
                                  .launches_observed = 112,
                                  .launches_failed = 113,
                                  .blocks_sampled = 114,
                                  .launches_mapped = 117,
                                  .records_dropped = 115,
                                  .objects_dropped = 116};
    return d;
}

/* ---- what is written of them ---- */

static void expect_lines(char *text, const char *const *expected, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strstr(text, expected[i]))
            fail_msg("not there:\n%s\nin:\n%s", expected[i], text);
    free(text);
}

static void expect_table(const rep_data *data, rep_table table, const char *expected)
{
    char *text = csv_of(data, table);
    const char *first = strstr(text, "\r\n");
    assert_non_null(first);
    assert_string_equal(first + 2, expected);
    free(text);
}

static void test_columns_of_tables(void **state)
{
    const rep_data *d = distinct(state);
    wl_arena *arena = ((fixture *)*state)->arena;
    expect_table(
        d, REP_TABLE_LAUNCHES,
        "11,12,first,21,22,23,24,25,26,31,32,33,34,35,36,0.5,0.25,37,38,39,40,it broke,118\r\n");
    expect_table(d, REP_TABLE_INSTRUCTIONS,
                 "11,first,14,load,\"ld.global.f32 %f1, [%rd4]\",global,d_x (a.cu:6),"
                 "/home/dev/src/transpose.cu,8,42,41,43,44,45,46,,,49,50,51,52,53,-54\r\n"
                 "11,first,17,store,\"st.global.f32 [%rd6], %f1\",shared,tile,"
                 "/home/dev/src/transpose.cu,8,4,55,56,57,,,58,59,0,0,0,0,0,\r\n");
    expect_table(
        d, REP_TABLE_OBJECTS,
        "1,61,d_x "
        "(a.cu:6),device,global,,62,/home/dev/src/transpose.cu,63,upload,1,program,,,,,,,,,,\r\n"
        "3,,tile,shared,shared,second,67,,,,,,,,,,,,,,,\r\n");
    expect_table(d, REP_TABLE_SAMPLES, "11,73,74,75,outlier,76,71,77,78,156,1\r\n");
    expect_table(d, REP_TABLE_USES,
                 "second,tile,3,shared,90,3,81,82,83,483,0.75,160,161,162,163,164,165,166,167,"
                 "1.5\r\n");
    expect_table(d, REP_TABLE_FINDINGS,
                 wl_arena_printf(arena,
                                 "strided,%s,first,d_x (a.cu:6),/src/a.cu,91,96,sectors,0.5,0.25,"
                                 "0.125,tiny,93,It is so.,Change it.,94,in and out\r\n",
                                 ana_pattern_get(ANA_STRIDED)->title));
}

static void test_keys_of_objects(void **state)
{
    static const char *const expected[] = {
        "\"failures\": [{\"what\":\"launch 11\",\"why\":\"it broke\",\"launch\":11,\"object\":1,"
        "\"file\":\"a.cu\",\"line\":108}]",
        "{\"id\":11,\"count\":118,\"kernel\":\"first\",\"grid\":[21,22,23],\"block\":[24,25,26],"
        "\"stream\":31,"
        "\"thread_instructions\":36,\"host_seconds\":0.5,\"device_seconds\":0.25,"
        "\"way\":\"replay\",\"failed\":\"it broke\",\"estimated\":true}",
        "\"name\":\"first\",\"family\":\"transpose_naive\",\"file\":\"/home/dev/src/"
        "transpose.cu\",\"line\":3,\"machine_code\":90}",
        "\"name\":\"second\",\"family\":\"transpose_shared\",\"file\":\"/home/dev/src/"
        "transpose.cu\",\"line\":10,"
        "\"machine_code_missing\":\"the program has no machine code of it\"}",
        "{\"launch\":11,\"kernel\":\"first\",\"pc\":14,\"op\":\"load\",\"space\":\"global\","
        "\"file\":\"/home/dev/src/transpose.cu\",\"line\":8,\"executions\":41,\"requests\":43,"
        "\"sectors\":45,\"sectors_min\":46,\"wavefronts\":0,\"wavefronts_min\":0,"
        "\"active_lanes\":44}",
        "{\"launch\":11,\"kernel\":\"first\",\"pc\":17,\"op\":\"store\",\"space\":\"shared\","
        "\"file\":\"/home/dev/src/transpose.cu\",\"line\":8,\"executions\":55,\"requests\":56,"
        "\"sectors\":0,\"sectors_min\":0,\"wavefronts\":58,\"wavefronts_min\":59,"
        "\"active_lanes\":57}",
        "\"name\":\"d_x (a.cu:6)\",\"space\":\"global\",\"bytes\":62,"
        "\"file\":\"/home/dev/src/transpose.cu\",\"line\":63,\"freed_how\":\"program\","
        "\"parent\":64,\"pool\":65,\"tag\":\"image\",\"element_bytes\":66,\"made_by\":\"second\","
        "\"touched_bytes\":12,\"loads\":81,\"stores\":82,\"atomics\":83,\"accesses_mean\":85,"
        "\"accesses_max\":84,\"accesses_variation\":86,\"rarely_used_bytes\":8}",
        "\"name\":\"tile\",\"space\":\"shared\",\"bytes\":67}",
        "{\"launch\":11,\"block\":[73,74,75],\"why\":\"outlier\",\"alike\":76,\"of\":71,"
        "\"instructions\":77,\"sectors_per_request\":2,\"mapped\":true}",
        "{\"number\":94,\"key\":\"000000000000005f\",\"pattern\":\"strided\","
        "\"subject\":\"kernel-and-object\",\"kernel\":\"first\",\"object\":\"d_x (a.cu:6)\","
        "\"parameters\":[\"in\",\"out\"],\"lines\":[{\"file\":\"/src/"
        "a.cu\",\"line\":91}],\"excess_sectors\":96,"
        "\"share_of_kernel\":0.5,\"share_of_program\":0.25,\"kernel_share_of_time\":0.125,"
        "\"verdict\":\"tiny\",\"verdict_note\":\"It gains little.\",\"gain\":{\"seconds\":119,"
        "\"low\":-120,\"high\":121,\"of_kernel\":0.5,\"of_program\":0.25,\"of_full\":0.625,"
        "\"small\":true},"
        "\"certainty\":\"sampled\","
        "\"evidence\":{\"part\":92},\"advice\":\"Change it.\"}",
        "{\"number\":94,\"pattern\":\"strided\",\"kernels\":[\"first\"],"
        "\"objects\":[\"d_x (a.cu:6)\"],\"lines\":[{\"file\":\"/src/a.cu\",\"line\":91}],"
        "\"excess_bytes\":97,\"share_of_program\":0.75,\"verdict\":\"tiny\","
        "\"verdict_note\":\"It gains little.\",\"gain\":{\"seconds\":122,\"low\":123,"
        "\"high\":124,\"of_kernel\":0.125,\"of_program\":0.375,\"of_full\":0.875},\"advice\":"
        "\"Change both.\"}",
        "\"memory\": {\"peak_bytes\":109,\"peaks\":[{\"process\":105,\"device\":106,"
        "\"bytes\":107,\"call\":\"cudaMalloc (transpose.cu:6)\",\"objects\":[\"d_x (a.cu:6)\"]}],"
        "\"devices\":[{\"process\":102,\"device\":103,\"peak_bytes\":104,"
        "\"over_time\":[{\"object\":1,\"freed\":true,\"bytes\":101}]}]}",
        "\"coverage\": {\"launches_seen\":111,\"launches_observed\":112,\"launches_failed\":113,"
        "\"skipped\":[{\"kernel\":\"warmup()\",\"reason\":\"left out by --kernel-name\"}],"
        "\"gaps\":[{\"kernel\":\"first\",\"pc\":14,\"file\":\"/home/dev/src/transpose.cu\","
        "\"line\":8,\"reason\":\"not "
        "read\"}],\"blocks_sampled\":114,\"launches_mapped\":117,\"records_dropped\":115,"
        "\"objects_dropped\":116,\"unsupported_calls\":[\"cudaGraphInstantiate\"]}",
    };
    expect_lines(json_text_of(distinct(state)), expected, sizeof expected / sizeof *expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_columns_of_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keys_of_objects, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
