/* The text of the sample: its head, tables and findings, what it leaves out, and what it must not
 * say. */
#include "render.h"
#include "support/test.h"

#include "report/impl.h"

#include <stdlib.h>
#include <string.h>

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static void test_text_begins_with_the_run(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    static const char head[] =
        "transpose --size 512\n"
        "device     NVIDIA H200, compute capability 9.0\n"
        "backend    emulate (on the CPU, no GPU used), warplens 0.1.0\n"
        "memory     2 MiB at the peak\n"
        "\n"
        "Ranges  what the program calls what it does; each has all that is in it\n"
        "  range            times  launches  share  sectors  needed  findings\n"
        "  step *               2         2   75 %    3,000   2,000         1\n"
        "    model@forward      1         1   25 %    1,000   1,000      none\n"
        "  (in no range)                  1   25 %    1,000   1,000\n"
        "\n"
        "Kernels  costliest first; sectors per request, now and needed\n"
        "  kernel                               launches  requests  sectors  per request  needed  "
        "wavefronts  conflicts  findings\n"
        "  transpose_shared<\u2026>                         1    24.6 K   41.0 K         2.50    "
        "2.50       262 K      254 K         1\n"
        "  transpose_naive                             1    16.4 K    295 K         18.0    4.00   "
        "                             1\n"
        "  evil<\"</script><script>\u2026</script>\">         1         1        1         1.00    "
        "1.00                             none\n";
    assert_memory_equal(text, head, sizeof head - 1);
    free(text);
}

static void test_text_of_the_peaks_of_several_devices(void **state)
{
    fixture *f = *state;
    ana_device_memory devices[] = {
        {.process = 1, .device = 0, .peak_bytes = 3 << 20},
        {.process = 1, .device = 1, .peak_bytes = 5 << 10},
        {.process = 2, .device = 0, .peak_bytes = 7},
    };
    f->data.memory.ndevices = 2;
    f->data.memory.devices = devices;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "\nmemory     3 MiB at the peak on device 0\n"
                     "           5 KiB at the peak on device 1\n\n");
    free(text);
    prof_process processes[] = {f->data.processes.rows[0], f->data.processes.rows[0]};
    f->data.processes.rows = processes;
    f->data.processes.count = 2;
    f->data.memory.ndevices = 3;
    text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "\nmemory     3 MiB at the peak on device 0 of process 1\n"
                     "           5 KiB at the peak on device 1 of process 1\n"
                     "           7 B at the peak on device 0 of process 2\n\n");
    free(text);
}

static void expect_maps(fixture *f, uint64_t observed, uint64_t mapped, uint64_t blocks,
                        uint64_t run, const char *want)
{
    prof_coverage *c = &f->data.coverage;
    c->launches_observed = observed;
    c->launches_mapped = mapped;
    c->blocks_sampled = blocks;
    c->blocks_run = run;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, want);
    free(text);
}

static void test_text_of_heat_maps(void **state)
{
    fixture *f = *state;
    expect_maps(f, 3, 2, 4, 9,
                " 4 blocks with heat maps in 2 of 3 launches, which stand for the others\n");
    expect_maps(f, 3, 3, 6, 9,
                " 6 blocks with heat maps (2 per launch), which stand for the others\n");
    expect_maps(f, 3, 3, 5, 9, " 5 blocks with heat maps, which stand for the others\n");
    expect_maps(f, 3, 3, 9, 9, " 9 blocks with heat maps (3 per launch)\n");
    expect_maps(f, 1, 1, 1, 9, " 1 block with heat maps, which stands for the others\n");
    expect_maps(f, 1, 1, 1, 1, " 1 block with heat maps\n");
}

/* In a line, unless all is asked for or it is. */
static void test_text_of_what_gains_little(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_null(strstr(text, "Findings of little gain"));
    assert_has(text, "Further findings  --finding N shows one, --all shows all of them");
    assert_has(text, "of the traffic   saves\n");
    assert_has(text, "68 %  little\n");
    free(text);
    text = text_of(&f->data, &(rep_text_options){.width = 80, .finding = 2});
    assert_has(text,
               "Findings of little gain: not worth working on\n  These patterns are there, but "
               "they cost hardly any time");
    free(text);
}

static void test_text_says_what_matters(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120, .all = true});
    assert_has(text, "transpose --size 512");
    assert_has(text, "NVIDIA H200, compute capability 9.0");
    assert_has(text, "Lanes of a warp collide in shared-memory banks");
    assert_has(text,
               "97 % of the program's traffic: 253,952 wavefronts avoidable, 97 % of the kernel's");
    assert_has(text, "transpose.cu:11  out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];");
    assert_has(text, "32.0 sectors per request, could be 4.00; 8,192 requests");
    assert_has(text, "Declare tile[TILE][TILE + 1]");
    assert_has(text, "object d_out, \"quoted\" (transpose.cu:21) and 2 more allocated there");
    assert_has(text, "evidence  warps per word: 1.06");
    assert_has(text, "heat map  block 0,0,0 (stands for 255 of 256 blocks)\n");
    assert_has(
        text,
        "1 unusual block has no heat map, such as 15,15,0 of launch 1 (transpose_naive), unlike");
    assert_has(text, "--block 15,15,0");
    assert_has(text, "hardly matters to the program as a whole.\n  2. Only a few words");
    assert_has(text, "but       it gains little: 0.4 % of the program's time\n");
    assert_true(strstr(text, "a column of tile") < strstr(text, "Findings of little gain"));
    assert_true(strstr(text, "Findings of little gain") < strstr(text, "d_out"));
    assert_has(text, "Transpose the data"); /* without advice of its own: the pattern's remedy */
    assert_has(text, "3 launches of warmup not observed: left out by --kernel-name");
    assert_has(text, "cudaGraphInstantiate");
    assert_has(text, "3 of 6 launches observed");
    assert_true(strstr(text, "Findings") < strstr(text, "Coverage"));
    free(text);
}

/* A line that a finding tells of has its numbers there, and is not repeated below. */
static void test_text_says_a_line_once(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_int_equal(count_of(text, "tile[threadIdx.x][threadIdx.y + i];\n"), 1);
    free(text);
    text = text_of(&f->data, &(rep_text_options){.width = 120, .all = true});
    assert_int_equal(count_of(text, "tile[threadIdx.x][threadIdx.y + i];\n"), 2);
    assert_true(strstr(text, "Findings") < strstr(text, "Lines of"));
    assert_true(strstr(text, "Lines of") < strstr(text, "Coverage"));
    free(text);
    text = text_of(&f->data,
                   &(rep_text_options){.width = 120, .findings = 1}); /* the rest briefly */
    assert_int_equal(count_of(text, "tile[threadIdx.x][threadIdx.y + i];\n"), 1);
    free(text);
}

/* The transposes as one finding: what one change fixes has one number, with its places and its
 * lines. */
static void test_text_of_a_group(void **state)
{
    fixture *f = *state;
    uint32_t kernels[] = {2, 1}, objects[] = {3, 2};
    ana_line lines[] = {f->data.findings->rows[0].lines[0], f->data.findings->rows[1].lines[0]};
    ana_finding_group group = {
        .count = 2,
        .nkernels = 2,
        .kernels = kernels,
        .nobjects = 2,
        .objects = objects,
        .nlines = 2,
        .lines = lines,
        .cost = {.unit = ANA_WAVEFRONTS, .excess = 483328, .share_of_program = 0.99},
        .advice = "Transpose tile and d_out."};
    ana_findings all = *f->data.findings;
    all.ngroups = 1;
    all.groups = &group;
    f->data.findings = &all;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "99 % of the program's traffic: 483,328 wavefronts avoidable\n     kernel  ");
    assert_has(text,
               "of the program  of the kernel\n     transpose_shared<…>  tile (transpose.cu:10)");
    assert_has(text, "\n     transpose_naive      d_out, \"quoted\" (");
    assert_has(text, "     transpose.cu:8  out[");
    assert_has(text, "fix       Transpose tile and d_out.");
    assert_null(strstr(text, "\n  2. "));
    free(text);
    text = text_of(&f->data,
                   &(rep_text_options){.width = 120, .kernels = (uint32_t[]){1}, .nkernels = 1});
    assert_has(text, "\n  1. Lanes of a warp"); /* whatever is left out, numbers stay */
    free(text);
}

static void test_text_says_that_nothing_gains_much(void **state)
{
    fixture *f = *state;
    ana_finding_group little = f->data.findings->groups[1];
    ana_findings all = *f->data.findings;
    all.ngroups = 1;
    all.groups = &little;
    f->data.findings = &all;
    char *text = text_of(&f->data, NULL);
    assert_has(text, "\nThe only finding is of little gain: fixing it would hardly make");
    assert_true(strstr(text, "The only finding") < strstr(text, "Kernels"));
    free(text);
}

/* Names of kernels in coverage: readable ones, and short. */
static void test_text_of_long_names(void **state)
{
    fixture *f = *state;
    static const char *const why =
        "no PTX of _ZN2at6nativeL6vectorIN3c104HalfEfEEvPT_T0_i is there";
    prof_skip skips[] = {
        {.kernel = "void at::native::reduce<512, 1, at::op<float, float> >(at::op<float, "
                   "float>, at::native::args)",
         .reason = why,
         .count = 3},
        {.kernel = "a", .reason = why, .count = 1},
        {.kernel = "b", .reason = why, .count = 1},
        {.kernel = "c", .reason = why, .count = 1},
        {.kernel = "d", .reason = why, .count = 1}};
    prof_message messages[] = {
        {.process = 1,
         .level = 1,
         .text = "_Z3foov. With probes _Z3foov is slow; _Zebra is not a name."}};
    f->data.skips = (prof_skip_rows){5, skips};
    f->data.messages = (prof_message_rows){1, messages};
    char *text = text_of(&f->data, &(rep_text_options){.width = 160});
    assert_has(text, "7 launches of 5 kernels (at::native::reduce<512, 1, at::op<…> >, a, b and 2");
    assert_has(text, "no PTX of at::native::vector<c10::Half, float> is there\n");
    assert_has(text, "foo. With probes foo is slow; _Zebra is not a name.\n");
    free(text);
    json_t *json = json_of(&f->data), *coverage = json_object_get(json, "coverage");
    json_t *skipped = json_array_get(json_object_get(coverage, "skipped"), 0);
    assert_string_equal(json_string_value(json_object_get(skipped, "kernel")), skips[0].kernel);
    assert_has(json_string_value(json_object_get(skipped, "reason")),
               "void at::native::vector<c10::Half, float>(c10::Half*, float, int)");
    json_decref(json);
}

/* Loads and stores of one line are rows of their own: their sectors a request differ. */
static void test_text_lines_by_access(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){
                                       .width = 200, .kernels = (uint32_t[]){1}, .nkernels = 1});
    char *lines = strstr(text, "Lines of");
    assert_non_null(lines);
    assert_has(
        lines,
        "\n  transpose.cu:8  out[x * n + y + i] = in[(y + i) * n + x];\n"
        "    load global      8,192          32.0   32,768         4.00    4.00          0\n"
        "    store global     8,192          32.0  262,144         32.0    4.00    229,376\n");
    assert_null(strstr(text, "transpose_shared"));
    free(text);
}

/* Two instances that end differently; shortened alike they could not be told apart. */
/* What an inlined helper accesses counts for the line that calls it, which stands above its own. */
static void test_text_lines_of_helpers(void **state)
{
    fixture *f = *state;
    static prof_loc locs[] = {
        {.id = 1, .file = 1, .line = 8, .function = ""},
        {.id = 2, .file = 1, .line = 5, .function = "load_at(float const*)", .inlined_at = 1}};
    f->data.locs = (prof_loc_rows){2, locs};
    prof_code *code = wl_new_array(f->arena, prof_code, f->data.code.count);
    memcpy(code, f->data.code.rows, f->data.code.count * sizeof *code);
    code[0].loc = 2; /* the load of kernel 1 */
    code[0].line = 5;
    f->data.code.rows = code;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120, .all = true});
    const char *lines = strstr(text, "Lines of  transpose_naive");
    assert_non_null(lines);
    const char *caller = strstr(lines, "\n  transpose.cu:8  out[x * n");
    const char *helper = strstr(lines, "\n    in transpose.cu:5  int x = blockIdx.x");
    const char *store = strstr(lines, "\n    store global"),
               *load = strstr(lines, "\n      load global");
    assert_true(caller && helper && store && load);
    assert_true(caller < store && store < helper && helper < load);
    free(text);
}

/* Variables that no kernel touches are a line, unless all are asked for. */
static void test_text_of_idle_variables(void **state)
{
    fixture *f = *state;
    prof_object *objects = wl_new_array(f->arena, prof_object, f->data.objects.count + 2);
    ana_use *uses = wl_new_array(f->arena, ana_use, f->data.uses.count + 2);
    uint32_t n = f->data.objects.count, nuses = f->data.uses.count;
    memcpy(objects, f->data.objects.rows, n * sizeof *objects);
    memcpy(uses, f->data.uses.rows, nuses * sizeof *uses);
    for (uint32_t i = 0; i < 2; i++) {
        objects[n + i] = (prof_object){.id = 90 + i,
                                       .kind = CAP_OBJECT_SYMBOL,
                                       .space = ACC_GLOBAL,
                                       .name = i ? "lonely" : "visited",
                                       .bytes = 4,
                                       .tag = ""};
        uses[nuses + i] = (ana_use){.object = 90 + i, .elements = 1, .touched = i == 0};
    }
    f->data.objects = (prof_object_rows){n + 2, objects};
    f->data.uses.rows = uses;
    f->data.uses.count = nuses + 2;
    f->data.coverage.launches_observed = f->data.coverage.launches_seen;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "\n  visited");
    assert_has(text, "\n  1 module variable that no kernel touched: --all lists them\n");
    assert_null(strstr(text, "lonely"));
    free(text);
    f->data.coverage.launches_observed--;
    text = text_of(&f->data, &(rep_text_options){.width = 120, .all = true});
    assert_has(text, "\n  lonely");
    assert_null(strstr(text, "no kernel touched"));
    free(text);
    text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "that no kernel touched, as far as is known: --all");
    free(text);
}

static void test_text_tells_instances_apart(void **state)
{
    fixture *f = *state;
    prof_kernel k[2];
    assert_true(f->data.kernels.count >= 2);
    memcpy(k, f->data.kernels.rows, sizeof k);
    f->data.kernels = (prof_kernel_rows){2, k};
    k[0].short_name = "count_values_in_bins<int, float, long, (memory_kind)0>";
    k[1].short_name = "count_values_in_bins<int, float, long, (memory_kind)1>";
    char *text = text_of(&f->data, &(rep_text_options){.width = 100, .by = REP_BY_KERNEL});
    assert_has(text, "kind)0>  ");
    k[1].short_name = "another";
    char *alone = text_of(&f->data, &(rep_text_options){.width = 100, .by = REP_BY_KERNEL});
    assert_has(alone, "count_values_in_bins<…>  ");
    free(text), free(alone);
}

static void test_text_keeps_to_the_width(void **state)
{
    fixture *f = *state;
    static const unsigned widths[] = {60, 80, 100, 120, 160};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *text = text_of(&f->data, &(rep_text_options){.width = widths[i], .all = true});
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            if (rep_width(line) > widths[i])
                fail_msg("%zu columns instead of %u: %s", rep_width(line), widths[i], line);
        free(text);
    }
}

/* What a profile says must not drive the terminal. */
static void test_text_is_inert(void **state)
{
    fixture *f = *state;
    char *plain = text_of(&f->data, &(rep_text_options){.all = true});
    assert_null(strchr(plain, '\033'));
    assert_null(strchr(plain, '\t'));
    assert_has(plain, "[31mloud\xef\xbf\xbd");
    char *colored = text_of(&f->data, &(rep_text_options){.all = true, .color = true});
    assert_has(colored, "\033[1m");
    assert_null(strstr(colored, "\033[31m"));
    free(plain);
    free(colored);
}

static void test_text_limits_findings(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 100, .findings = 1});
    assert_has(text, "\nFurther findings  ");
    assert_has(text, "\n  2.  ");
    assert_int_equal(count_of(text, " avoidable, "), 1);
    free(text);
}

static void test_text_of_what_is_left_out(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 0});
    assert_has(text, "2 patterns cost too little to be findings; the largest: misaligned on ");
    assert_has(text, "0.4 %");
    assert_has(text, "1,234 sectors");
    free(text);
    ana_findings none = *f->data.findings;
    none.left_out = (ana_left_out){0};
    f->data.findings = &none;
    text = text_of(&f->data, NULL);
    assert_null(strstr(text, "Left out"));
    free(text);
}

/* Of so many sectors that fit no pattern nobody reads that there is nothing. */
static void test_text_of_much_that_is_left_over(void **state)
{
    fixture *f = *state;
    const uint32_t named = 2, other = 1;
    ana_left_over kernel = {named, 1234};
    ana_left_out left = {.unnamed_sectors = 1234, .unnamed_share = 0.25, .much = true};
    ana_findings none = {.left_out = left};
    none.left_out.nkernels = 1;
    none.left_out.kernels = &kernel;
    f->data.findings = &none;
    f->data.nfailures = 0;
    for (int i = 0; i < 4; i++) { /* of the program, of two kernels, where it is little */
        const rep_text_options o = {.kernels = i == 1 ? &named : &other,
                                    .nkernels = i == 1 || i == 2};
        none.left_out.much = i != 3;
        char *text = text_of(&f->data, o.nkernels ? &o : NULL);
        assert_int_equal(i < 2, strstr(text, "none: no access pattern") == NULL);
        assert_int_equal(i < 2, strstr(text, "unexplained: more moves than is needed") != NULL);
        assert_int_equal(i != 2, strstr(text, "1,234 sectors") != NULL);
        assert_int_equal(i == 3, strstr(text, "Left out") != NULL); /* it is not said twice */
        free(text);
    }
}

static void test_text_of_nothing(void **state)
{
    (void)state;
    static const ana_findings none = {0};
    rep_data data = {.info = {"0.1.0", "", ""}, .findings = &none};
    char *text = text_of(&data, NULL);
    assert_has(text, "none: no kernel launch was observed");
    assert_null(strstr(text, "device"));
    free(text);
}

static ana_model prediction(uint32_t kernel, double seconds)
{
    return (ana_model){.kernel = kernel,
                       .kind = kernel,
                       .launches = 3,
                       .seconds = seconds,
                       .low = 0.5 * seconds,
                       .high = 2 * seconds,
                       .bound = MODEL_SHARED,
                       .resources = {[MODEL_SHARED] = 0.75 * seconds, [MODEL_L2] = 0.25 * seconds}};
}

static void test_text_of_predictions(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_null(strstr(text, "Predicted time")); /* no launch has a model */
    free(text);
    ana_model kernels[12] = {prediction(2, 4e-3), prediction(1, 2e-6)};
    for (uint32_t i = 2; i < 12; i++)
        kernels[i] = prediction(1, 1e-6);
    f->data.models = (ana_models){.nkernels = 12, .kernels = kernels};
    text = text_of(&f->data, &(rep_text_options){.width = 120});
    const char *part = strstr(text, "\nPredicted time");
    assert_non_null(part);
    assert_has(part,
               "  kernel               launches  a launch    from      to  bound by       then\n"
               "  transpose_shared<\u2026>         3    4.0 ms  2.0 ms  8.0 ms  shared 3.0 ms  "
               "l2 1.0 ms\n"
               "  transpose_naive             3    2.0 us  1.0 us  4.0 us  shared 1.5 us  "
               "l2 0.5 us\n");
    assert_has(part, "\n  and 2 more: --all shows them\n");
    free(text);
    uint32_t wanted = 1;
    text = text_of(&f->data, &(rep_text_options){
                                 .width = 120, .kernels = &wanted, .nkernels = 1, .all = true});
    assert_int_equal(count_of(text, "shared 1.5 us"), 1);
    assert_null(strstr(text, "shared 3.0 ms"));
    free(text);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_text_begins_with_the_run),
        T(test_text_of_the_peaks_of_several_devices),
        T(test_text_of_heat_maps),
        T(test_text_of_predictions),
        T(test_text_of_what_gains_little),
        T(test_text_says_what_matters),
        T(test_text_says_a_line_once),
        T(test_text_of_a_group),
        T(test_text_says_that_nothing_gains_much),
        T(test_text_of_long_names),
        T(test_text_lines_by_access),
        T(test_text_lines_of_helpers),
        T(test_text_of_idle_variables),
        T(test_text_tells_instances_apart),
        T(test_text_keeps_to_the_width),
        T(test_text_is_inert),
        T(test_text_limits_findings),
        T(test_text_of_what_is_left_out),
        T(test_text_of_much_that_is_left_over),
        T(test_text_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
