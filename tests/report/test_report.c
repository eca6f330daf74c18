/* Every reporter on the sample: what stands in its output, and what must not. */
#include "render.h"
#include "sample.h"
#include "support/test.h"

#include "report/impl.h"

#include <string.h>
#include <unistd.h>
#include <zlib.h>

static json_t *json_of(const rep_data *data)
{
    char *text = json_text_of(data);
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("line %d: %s", error.line, error.text);
    free(text);
    return json;
}

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

/* ---- text ---- */

static void test_text_says_what_matters(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
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

static void assert_keys(json_t *object, const char *keys)
{
    char found[512] = "";
    const char *key;
    json_t *value;
    assert_non_null(object);
    json_object_foreach(object, key, value)
    {
        strcat(found, *found ? " " : "");
        strcat(found, key);
    }
    assert_string_equal(found, keys);
}

/* Findings of wider scopes have no kernel, no object or neither, and cost something else. */
static void test_text_of_a_finding_of_the_program(void **state)
{
    fixture *f = *state;
    ana_finding row = f->data.findings->rows[0];
    row.scope = ANA_SCOPE_PROGRAM;
    row.kernel = row.object = 0;
    row.access = NULL;
    ana_finding_group group = {.count = 1,
                               .cost = {.unit = ANA_BYTES, .excess = 4096, .share_of_program = 0.5},
                               .advice = "Allocate less."};
    ana_findings all = {.count = 1, .rows = &row, .ngroups = 1, .groups = &group};
    f->data.findings = &all;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "by their share of the program's traffic or memory\n");
    assert_has(text, "     50 % of the program's memory: 4,096 bytes avoidable\n     why   ");
    assert_has(text, "     fix       Allocate less.\n");
    free(text);
    json_t *json = json_of(&f->data);
    json_t *finding = json_array_get(json_object_get(json, "findings"), 0);
    assert_keys(finding, "number key pattern subject lines excess_wavefronts share_of_program gain "
                         "certainty evidence advice");
    json_decref(json);
}

/* What was not observed is not known: a row without counts, and sums that say so. */
static void test_unknown_accesses(void **state)
{
    fixture *f = *state;
    static prof_gap gaps[] = {{.kernel = 1, .launch = 1, .pc = 14, .reason = "it depends on data"}};
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_null(strstr(text, "lacks accesses"));
    free(text);
    f->data.gaps = (prof_gap_rows){1, gaps};
    f->data.totals.rows++; /* but pc 14 of kernel 1 */
    f->data.totals.count--;
    text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "> 16.4 K  > 295 K");
    assert_has(text, "> lacks accesses that are not known");
    free(text);
    json_t *json = json_of(&f->data), *rows = json_object_get(json, "instructions");
    json_t *row = json_array_get(rows, json_array_size(rows) - 1);
    assert_int_equal(json_integer_value(json_object_get(row, "pc")), 14);
    assert_int_equal(json_integer_value(json_object_get(row, "launch")), 1);
    assert_string_equal(json_string_value(json_object_get(row, "op")), "load");
    assert_string_equal(json_string_value(json_object_get(row, "space")), "global");
    assert_int_equal(json_integer_value(json_object_get(row, "line")), 8);
    assert_null(json_object_get(row, "requests"));
    assert_null(json_object_get(row, "executions"));
    json_decref(json);
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
    char *text = text_of(&f->data, &(rep_text_options){.width = 100});
    assert_has(text, "kind)0>  ");
    k[1].short_name = "another";
    char *alone = text_of(&f->data, &(rep_text_options){.width = 100});
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

/* ---- JSON ---- */

static void test_json_has_the_documented_keys(void **state)
{
    fixture *f = *state;
    json_t *json = json_of(&f->data);
    assert_keys(
        json,
        "schema failures device collector launches kernels copies instructions objects samples "
        "findings groups left_out memory "
        "coverage");
    assert_keys(json_object_get(json, "device"), "name compute_capability");
    assert_keys(json_array_get(json_object_get(json, "launches"), 0),
                "id kernel grid block stream thread_instructions host_seconds way");
    assert_keys(json_array_get(json_object_get(json, "instructions"), 0),
                "launch kernel pc op space file line executions requests sectors sectors_min "
                "wavefronts wavefronts_min active_lanes");
    assert_keys(json_array_get(json_object_get(json, "objects"), 0),
                "id key name space bytes file line pool tag element_bytes touched_bytes loads "
                "stores atomics accesses_mean "
                "accesses_max accesses_variation rarely_used_bytes touched_partial");
    assert_keys(json_array_get(json_object_get(json, "objects"), 1),
                "id key name space bytes file line freed_how touched_bytes touched_estimated");
    assert_keys(json_array_get(json_object_get(json, "objects"), 2),
                "id key name space bytes file line");
    assert_keys(json_array_get(json_object_get(json, "findings"), 0),
                "number key pattern subject kernel object lines excess_wavefronts share_of_kernel "
                "share_of_program gain certainty evidence advice");
    assert_keys(json_array_get(json_object_get(json, "findings"), 1),
                "number key pattern subject kernel object lines excess_sectors share_of_kernel "
                "share_of_program kernel_share_of_time gain gain_note certainty evidence advice");
    assert_keys(json_array_get(json_object_get(json, "groups"), 1),
                "number pattern kernels objects lines excess_sectors share_of_program gain "
                "gain_note advice");
    assert_keys(json_object_get(json, "memory"), "peak_bytes peaks devices");
    assert_keys(
        json_object_get(json, "coverage"),
        "launches_seen launches_observed launches_failed skipped blocks_sampled launches_mapped "
        "records_dropped "
        "unsupported_calls");
    json_decref(json);
}

static void test_json_values(void **state)
{
    fixture *f = *state;
    json_t *json = json_of(&f->data);
    json_t *instructions = json_object_get(json, "instructions");
    assert_int_equal(json_array_size(instructions), 5); /* the store on two objects is one row */
    json_t *store = json_array_get(instructions, 3);
    assert_int_equal(json_integer_value(json_object_get(store, "requests")), 2 * 8192);
    assert_int_equal(json_integer_value(json_object_get(store, "sectors")), 5 * 8192);
    assert_string_equal(json_string_value(json_object_get(store, "op")), "store");
    json_t *odd = json_array_get(json_object_get(json, "samples"), 1);
    assert_string_equal(json_string_value(json_object_get(odd, "why")), "outlier");
    assert_int_equal(json_integer_value(json_object_get(odd, "sectors_per_request")), 18);
    assert_int_equal(json_integer_value(json_object_get(odd, "of")), 256);
    json_t *unplaced = json_array_get(instructions, 4);
    assert_null(json_object_get(unplaced, "line"));
    assert_has(json_string_value(json_object_get(unplaced, "kernel")), SAMPLE_HOSTILE);
    json_t *finding = json_array_get(json_object_get(json, "findings"), 1);
    json_t *evidence = json_object_get(finding, "evidence");
    assert_true(json_real_value(json_object_get(evidence, "mean_word_temperature")) == 1.0625);
    assert_int_equal(json_integer_value(json_object_get(evidence, "sectors_per_request")), 32);
    assert_has(json_string_value(json_object_get(finding, "advice")), "Transpose the data");
    json_t *peak = json_array_get(json_object_get(json_object_get(json, "memory"), "peaks"), 0);
    assert_string_equal(json_string_value(json_object_get(peak, "call")),
                        "cudaMalloc (transpose.cu:6)");
    json_decref(json);
}

/* ---- SARIF ---- */

static json_t *sarif_of(const rep_data *data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(rep_sarif(data, out, NULL), WL_OK);
    fclose(out);
    json_t *log = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(log);
    return log;
}

static void test_sarif_results_name_their_rules(void **state)
{
    fixture *f = *state;
    json_t *log = sarif_of(&f->data), *run = json_array_get(json_object_get(log, "runs"), 0);
    json_t *driver = json_object_get(json_object_get(run, "tool"), "driver");
    json_t *rules = json_object_get(driver, "rules"), *results = json_object_get(run, "results");
    assert_int_equal(json_array_size(rules), ANA_PATTERN_COUNT);
    assert_int_equal(json_array_size(results), f->data.findings->ngroups);
    for (size_t i = 0; i < json_array_size(results); i++) {
        json_t *result = json_array_get(results, i);
        json_int_t index = json_integer_value(json_object_get(result, "ruleIndex"));
        json_t *rule = json_array_get(rules, (size_t)index);
        const char *id = json_string_value(json_object_get(rule, "id"));
        json_t *page = json_object_get(json_object_get(rule, "help"), "markdown");
        assert_string_equal(json_string_value(json_object_get(result, "ruleId")), id);
        assert_has(json_string_value(page), id);
        assert_has(json_string_value(page), "## How to fix it");
    }
    json_decref(log);
}

static void test_sarif_places(void **state)
{
    fixture *f = *state;
    json_t *log = sarif_of(&f->data), *run = json_array_get(json_object_get(log, "runs"), 0);
    json_t *result = json_array_get(json_object_get(run, "results"), 0);
    json_t *place = json_object_get(json_array_get(json_object_get(result, "locations"), 0),
                                    "physicalLocation");
    json_t *region = json_object_get(place, "region");
    json_t *uri = json_object_get(json_object_get(place, "artifactLocation"), "uri");
    const ana_line *line = &f->data.findings->rows[0].lines[0];
    assert_int_equal(json_integer_value(json_object_get(region, "startLine")), line->line);
    assert_has(json_string_value(uri), rep_base_name(line->file));
    json_decref(log);
}

/* ---- CSV ---- */

/* Checks the grammar of RFC 4180 and returns the number of records; every one has `fields`
 * fields. */
static size_t check_csv(const char *text, size_t fields)
{
    size_t records = 0;
    for (const char *p = text; *p; records++) {
        size_t here = 1;
        for (;; p++) {
            if (*p == '"') {
                for (p++; *p != '"' || p[1] == '"'; p += *p == '"' ? 2 : 1)
                    assert_true(*p != '\0');
                p++;
            } else {
                p += strcspn(p, ",\"\r\n");
            }
            if (*p != ',')
                break;
            here++;
        }
        assert_memory_equal(p, "\r\n", 2);
        p += 2;
        assert_int_equal(here, fields);
    }
    return records;
}

static void test_csv_tables(void **state)
{
    fixture *f = *state;
    static const struct {
        rep_table table;
        size_t fields, records;
    } cases[] = {{REP_TABLE_INSTRUCTIONS, 23, 7},
                 {REP_TABLE_FINDINGS, 17, 3},
                 {REP_TABLE_SAMPLES, 11, 4},
                 {REP_TABLE_LAUNCHES, 23, 4},
                 {REP_TABLE_OBJECTS, 12, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = csv_of(&f->data, cases[i].table);
        assert_int_equal(check_csv(text, cases[i].fields), cases[i].records);
        free(text);
    }
    char *objects = csv_of(&f->data, REP_TABLE_OBJECTS);
    assert_has(objects, "\"d_out, \"\"quoted\"\" (transpose.cu:21)\"");
    free(objects);
    assert_int_equal(rep_csv(&f->data, REP_TABLE_COUNT, stdout, NULL), WL_ARG);
}

/* A spreadsheet must not run a name; numbers stay numbers. */
static void test_csv_formulas(void **state)
{
    fixture *f = *state;
    static const char *const names[] = {"=cmd()", "+1", "-1", "@sum", "\ttab"};
    const char *before = f->data.objects.rows[0].name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char expected[32];
        f->data.objects.rows[0].name = names[i];
        char *text = csv_of(&f->data, REP_TABLE_OBJECTS);
        snprintf(expected, sizeof expected, ",\"'%s\",", names[i]);
        assert_has(text, expected);
        free(text);
    }
    f->data.objects.rows[0].name = before;
    char *text = csv_of(&f->data, REP_TABLE_INSTRUCTIONS);
    assert_null(strstr(text, "'"));
    free(text);
}

/* What does not apply is empty, not zero. */
static void test_csv_leaves_out_what_was_not_measured(void **state)
{
    fixture *f = *state;
    char *text = csv_of(&f->data, REP_TABLE_LAUNCHES);
    assert_has(text, ",1000,32000,0.25,,256,256,1,0,,1\r\n");
    free(text);
    text = csv_of(&f->data, REP_TABLE_INSTRUCTIONS);
    assert_has(text, ",262144,32768,,,0,0,0,8192,0,2048\r\n"); /* global: no wavefronts */
    assert_has(text, ",,,262144,8192,0,0,0,8192,0,128\r\n");   /* shared: no sectors */
    free(text);
}

/* ---- payload ---- */

/* The bytes of a part; caller frees. */
static uint8_t *unpacked(const rep_part *part, size_t *size)
{
    enum { MOST = 1 << 20 };
    uint8_t *bytes = malloc(MOST);
    z_stream z = {
        .next_in = part->data, .avail_in = (uInt)part->size, .next_out = bytes, .avail_out = MOST};
    assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    *size = z.total_out;
    return bytes;
}

static json_t *payload_json(const rep_data *data, rep_parts *parts)
{
    assert_int_equal(rep_payload_parts(data, parts, NULL), WL_OK);
    size_t size;
    uint8_t *text = unpacked(&parts->rows[0], &size);
    json_t *json = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    free(text);
    return json;
}

static json_int_t number_of(json_t *row, const char *name)
{
    return json_integer_value(json_object_get(row, name));
}

/* The same line in both JSON outputs, and what it is made of. */
static void test_json_of_what_is_left_out(void **state)
{
    fixture *f = *state;
    ana_findings none = *f->data.findings;
    none.left_out = (ana_left_out){0};
    rep_parts parts;
    json_t *output = json_of(&f->data), *page = payload_json(&f->data, &parts);
    json_t *rows[] = {json_object_get(output, "left_out"), json_object_get(page, "left_out")};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(number_of(rows[i], "patterns"), 2);
        assert_int_equal(number_of(rows[i], "sectors"), 1234);
        assert_string_equal(json_string_value(json_object_get(rows[i], "pattern")), "misaligned");
        assert_has(json_string_value(json_object_get(rows[i], "text")),
                   "2 patterns cost too little to be findings;");
    }
    json_decref(output);
    json_decref(page);
    rep_free_parts(&parts);
    f->data.findings = &none;
    output = json_of(&f->data);
    assert_null(json_object_get(output, "left_out"));
    json_decref(output);
    ana_left_over kernel = {1, 1234};
    none.left_out = (ana_left_out){.unnamed_sectors = 1234,
                                   .unnamed_share = 0.25,
                                   .much = true,
                                   .nkernels = 1,
                                   .kernels = &kernel};
    output = json_of(&f->data);
    json_t *row = json_object_get(output, "left_out");
    assert_true(json_real_value(json_object_get(row, "share_of_sectors")) == 0.25);
    assert_has(json_string_value(json_object_get(row, "sectors_kernel")), "transpose");
    assert_true(json_is_true(json_object_get(row, "much")));
    json_decref(output);
}

/* The page marks sums that lack accesses, as text does. */
static void test_payload_marks_unknown_accesses(void **state)
{
    fixture *f = *state;
    static prof_gap gaps[] = {{.kernel = 1, .launch = 1, .pc = 14, .reason = "it depends on data"}};
    f->data.gaps = (prof_gap_rows){1, gaps};
    rep_parts parts;
    json_t *page = payload_json(&f->data, &parts), *row;
    size_t i, marked = 0;
    json_array_foreach(json_object_get(page, "kernels"), i, row)
    {
        assert_int_equal(json_is_true(json_object_get(row, "lacks")), number_of(row, "id") == 1);
        marked += json_is_true(json_object_get(row, "lacks"));
    }
    assert_int_equal(marked, 1);
    json_decref(page);
    rep_free_parts(&parts);
}

/* An element of a column, put together from its planes. */
static uint64_t element(json_t *map, const char *name, size_t width, size_t i, const uint8_t *bytes)
{
    json_t *column = json_object_get(json_object_get(map, "columns"), name);
    const uint8_t *at = bytes + json_integer_value(json_array_get(column, 0));
    size_t count = (size_t)json_integer_value(json_array_get(column, 1));
    assert_true(i < count);
    uint64_t value = 0;
    for (size_t byte = 0; byte < width; byte++)
        value |= (uint64_t)at[byte * count + i] << (8 * byte);
    return value;
}

static void test_payload_holds_the_heat_map(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    json_t *json = payload_json(&f->data, &parts);
    json_t *map = json_array_get(json_object_get(json, "maps"), 0);
    assert_int_equal(number_of(map, "rows"), 32);
    assert_int_equal(number_of(map, "sectors"), 128);
    assert_false(json_is_true(json_object_get(map, "merged")));
    assert_int_equal(number_of(map, "part"), parts.count - 1);
    size_t size;
    uint8_t *bytes = unpacked(&parts.rows[parts.count - 1], &size);
    assert_int_equal(size, 32 * 60);
    for (size_t i = 0; i < 32; i++) {
        assert_int_equal(element(map, "skip", 8, i, bytes), i == 0 ? 0 : 60);
        assert_int_equal(element(map, "repeat", 4, i, bytes), 4);
        assert_int_equal(element(map, "word", 4, i, bytes), 1);
        assert_int_equal(element(map, "word", 4, 7 * 32 + i, bytes), 1 << 6 | 1 << 7);
        assert_int_equal(element(map, "writes", 4, i, bytes), 8);
    }
    free(bytes);
    json_decref(json);
    rep_free_parts(&parts);
}

/* A kernel's instructions, in a part of their own. */
static void test_payload_holds_the_code(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    json_t *json = payload_json(&f->data, &parts);
    json_t *kernel, *kernels = json_object_get(json, "kernels");
    size_t i;
    json_array_foreach(kernels, i, kernel)
    {
        uint32_t id = (uint32_t)number_of(kernel, "id"), k = 0;
        assert_in_range(number_of(kernel, "code"), 1, parts.count - 1);
        size_t size;
        uint8_t *bytes = unpacked(&parts.rows[number_of(kernel, "code")], &size);
        json_t *code = json_loadb((const char *)bytes, size, 0, NULL);
        for (uint32_t c = 0; c < f->data.code.count; c++) {
            const prof_code *row = &f->data.code.rows[c];
            if (row->kernel != id)
                continue;
            json_t *insn = json_array_get(code, k++);
            assert_int_equal(number_of(insn, "pc"), row->pc);
            assert_int_equal(number_of(insn, "line"), row->line); /* absent where it is 0 */
            assert_string_equal(json_string_value(json_object_get(insn, "text")), row->text);
        }
        assert_int_equal(json_array_size(code), k);
        json_decref(code);
        free(bytes);
    }
    json_decref(json);
    rep_free_parts(&parts);
}

/* Maps of equal content are one part. */
static void test_payload_shares_parts_of_equal_maps(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    prof_heat heats[2] = {f->data.heats[0], f->data.heats[0]};
    heats[1].info.launch = 2;
    heats[1].info.block_index[0] = 7;
    f->data.heats = heats;
    f->data.nheats = 2;
    f->data.heat_same = (uint32_t[]){0, 0};
    f->data.all_heats = true;
    json_t *json = payload_json(&f->data, &parts);
    json_t *maps = json_object_get(json, "maps");
    json_t *first = json_array_get(maps, 0), *second = json_array_get(maps, 1);
    assert_int_equal(number_of(first, "part"), parts.count - 1);
    assert_int_equal(number_of(second, "part"), parts.count - 1);
    assert_int_equal(number_of(first, "launch"), heats[0].info.launch);
    assert_int_equal(number_of(second, "launch"), 2);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(second, "block"), 0)), 7);
    assert_int_equal(number_of(second, "rows"), number_of(first, "rows"));
    json_decref(json);
    rep_free_parts(&parts);
}

static void test_payload_excerpts(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    json_t *json = payload_json(&f->data, &parts);
    json_t *files = json_object_get(json, "files");
    assert_int_equal(json_array_size(files), 1); /* nothing is said about the other one */
    json_t *chunk = json_array_get(json_object_get(json_array_get(files, 0), "chunks"), 0);
    assert_int_equal(json_integer_value(json_object_get(chunk, "first")), 1);
    assert_has(json_string_value(json_object_get(chunk, "text")), "// </script>\n");
    json_decref(json);
    rep_free_parts(&parts);
}

/* A long file is cut to windows around the lines that matter. */
static void test_payload_windows(void **state)
{
    fixture *f = *state;
    enum { LINES = 4000 };
    char *text = wl_arena_alloc(f->arena, LINES * 8 + 1);
    for (int i = 1, at = 0; i <= LINES; i++)
        at += sprintf(text + at, "L%d\n", i);
    rep_source sources[] = {{1, text, strlen(text)}, {2, NULL, 0}};
    prof_code code[] = {{.kernel = 1, .pc = 1, .text = "", .op = "", .file = 1, .line = 2000}};
    f->data.sources = sources;
    f->data.code = (prof_code_rows){1, code};
    rep_parts parts;
    json_t *json = payload_json(&f->data, &parts);
    json_t *chunks = json_object_get(json_array_get(json_object_get(json, "files"), 0), "chunks");
    assert_int_equal(json_array_size(chunks), 2);
    json_t *second = json_array_get(chunks, 1);
    assert_int_equal(json_integer_value(json_object_get(second, "first")), 1970);
    const char *window = json_string_value(json_object_get(second, "text"));
    assert_memory_equal(window, "L1970\n", 6);
    assert_string_equal(window + strlen(window) - 6, "\nL2030");
    json_decref(json);
    rep_free_parts(&parts);
}

/* Each word used by `warps` warps, or by any number of them for 0. */
static void scatter(prof_heat *heat, uint32_t warps)
{
    uint32_t random = 1;
    for (uint32_t i = 0; i < heat->info.nrows; i++)
        for (int w = 0; w < OBS_WORDS_PER_SECTOR; w++) {
            random = random * 1664525u + 1013904223u;
            uint32_t count = warps ? warps : random >> 24 & 15;
            heat->rows[i].word[w] = ((1u << count) - 1) << (random >> 16 & 15);
        }
}

/* What finds no room is merged where only the warps differ, then cut, then left out. */
static void test_heat_beyond_the_budget(void **state)
{
    fixture *f = *state;
    prof_heat *heat = &f->data.heats[0];
    scatter(heat, 1);
    rep_parts parts = {.room = 1 << 20};
    json_t *map = rep_pack_heat(heat, 1 << 20, &parts);
    assert_int_equal(number_of(map, "rows"), 128);
    size_t whole = parts.rows[0].size;
    json_decref(map);
    map = rep_pack_heat(heat, whole - 1, &parts);
    assert_true(json_is_true(json_object_get(map, "merged")));
    assert_int_equal(number_of(map, "rows"), 32);
    assert_int_equal(number_of(map, "left_out"), 0);
    assert_int_equal(number_of(map, "part"), 1);
    assert_int_equal(parts.room, (1 << 20) - whole - parts.rows[1].size);
    size_t size;
    uint8_t *bytes = unpacked(&parts.rows[1], &size);
    assert_int_equal(element(map, "warmth", 1, 0, bytes), 1);
    assert_int_equal(element(map, "warmth", 1, 8 * 32, bytes), 8);
    free(bytes);
    json_decref(map);
    scatter(heat, 0);
    parts.room = 400;
    map = rep_pack_heat(heat, parts.room, &parts);
    json_int_t rows = number_of(map, "rows");
    assert_in_range(rows, 16, 127);
    assert_int_equal(number_of(map, "left_out"), 128 - rows);
    json_decref(map);
    parts.room = 10;
    assert_null(rep_pack_heat(heat, parts.room, &parts));
    assert_int_equal(parts.count, 3);
    rep_free_parts(&parts);
}

/* ---- HTML ---- */

static int digit_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static size_t from_base64(const char *text, size_t length, uint8_t *out)
{
    size_t size = 0;
    for (size_t i = 0; i + 3 < length; i += 4) {
        uint32_t bits = 0;
        int padding = (text[i + 2] == '=') + (text[i + 3] == '=');
        for (size_t k = 0; k < 4; k++) {
            int value = text[i + k] == '=' ? 0 : digit_value(text[i + k]);
            assert_true(value >= 0); /* nothing that could end the element */
            bits = bits << 6 | (uint32_t)value;
        }
        for (int k = 0; k < 3 - padding; k++)
            out[size++] = (uint8_t)(bits >> (16 - 8 * k));
    }
    return size;
}

static void test_html_carries_the_payload(void **state)
{
    fixture *f = *state;
    char *html = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&html, &length);
    wl_error err = {0};
    wl_status status = rep_html(&f->data, out, &err);
    fclose(out);
    if (!rep_html_available()) {
        assert_int_equal(status, WL_UNSUPPORTED); /* built without the page */
        assert_has(err.text, "tools/bootstrap.sh");
        free(html);
        skip();
    }
    assert_int_equal(status, WL_OK);
    assert_null(strstr(html, "@PAYLOAD@"));
    assert_null(strstr(html, SAMPLE_HOSTILE));
    static const char open_tag[] = "<script type=\"application/octet-stream\" id=\"payload\">";
    char *from = strstr(html, open_tag);
    assert_non_null(from);
    from += strlen(open_tag);
    char *to = strstr(from, "</script>");
    rep_parts expected;
    assert_int_equal(rep_payload_parts(&f->data, &expected, NULL), WL_OK);
    for (uint32_t i = 0; i < expected.count; i++) {
        char *end = memchr(from, '.', (size_t)(to - from));
        end = end ? end : to;
        uint8_t *packed = malloc((size_t)(end - from) + 4);
        assert_int_equal(from_base64(from, (size_t)(end - from), packed), expected.rows[i].size);
        assert_memory_equal(packed, expected.rows[i].data, expected.rows[i].size);
        free(packed);
        from = end + 1;
    }
    assert_ptr_equal(from, to + 1);
    rep_free_parts(&expected);
    free(html);
}

static void test_full_disk(void **state)
{
    fixture *f = *state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    FILE *out = fopen("/dev/full", "w");
    assert_non_null(out);
    wl_error err = {0};
    assert_int_equal(rep_csv(&f->data, REP_TABLE_OBJECTS, out, &err), WL_NOSPACE);
    assert_has(err.text, "cannot write the output");
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        T(test_text_says_what_matters),
        T(test_text_says_a_line_once),
        T(test_text_of_a_finding_of_the_program),
        T(test_unknown_accesses),
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
        T(test_json_of_what_is_left_out),
        T(test_text_of_much_that_is_left_over),
        T(test_payload_marks_unknown_accesses),
        T(test_text_of_nothing),
        T(test_json_has_the_documented_keys),
        T(test_json_values),
        T(test_sarif_results_name_their_rules),
        T(test_sarif_places),
        T(test_csv_tables),
        T(test_csv_leaves_out_what_was_not_measured),
        T(test_csv_formulas),
        T(test_payload_holds_the_heat_map),
        T(test_payload_holds_the_code),
        T(test_payload_shares_parts_of_equal_maps),
        T(test_payload_excerpts),
        T(test_payload_windows),
        T(test_heat_beyond_the_budget),
        T(test_html_carries_the_payload),
        T(test_full_disk),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
