/* Every reporter on the sample: what stands in its output, and what must not. */
#include "render.h"
#include "sample.h"
#include "support/test.h"
#include "unpack.h"

#include "report/impl.h"

#include <string.h>
#include <unistd.h>

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/* ---- JSON ---- */

/* Findings of wider scopes have no kernel, no object or neither, and cost something else. */
static void test_finding_of_the_program(void **state)
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
    assert_has(text, "Findings  those that save most memory first\n");
    assert_has(text, "     50 % of the program's memory: 4,096 bytes avoidable\n     why   ");
    assert_has(text, "     fix       Allocate less.\n");
    free(text);
    json_t *json = json_of(&f->data);
    json_t *finding = json_array_get(json_object_get(json, "findings"), 0);
    assert_keys(finding,
                "number key pattern subject lines excess_wavefronts share_of_program verdict "
                "certainty evidence advice");
    json_decref(json);
}

/* What is saved of memory, and the peak that remains; copies in vain have a cost of their own. */
static void test_savings_of_memory(void **state)
{
    fixture *f = *state;
    ana_finding rows[2] = {f->data.findings->rows[0], f->data.findings->rows[0]};
    for (int i = 0; i < 2; i++) {
        rows[i].kernel = 0;
        rows[i].access = NULL;
        rows[i].number = (uint32_t)i + 1;
    }
    rows[0].cost = (ana_cost){.unit = ANA_BYTES, .excess = 4096, .share_of_program = 0.5};
    rows[0].saving = (ana_saving){true, 1024, 2, 512, 0};
    ana_remedy remedy = {.kind = REMEDY_FREE_SOONER, .remedy = "Free.", .advice = "Free."};
    rows[0].nremedies = 1;
    rows[0].remedies = &remedy;
    rows[1].cost = (ana_cost){.unit = ANA_COPIED, .excess = 70, .share_of_program = 0.25};
    ana_finding_group groups[] = {
        {.first = 0, .count = 1, .cost = rows[0].cost, .advice = "Free."},
        {.first = 1, .count = 1, .cost = rows[1].cost, .advice = "Drop."}};
    ana_findings all = {.count = 2,
                        .rows = rows,
                        .ngroups = 2,
                        .groups = groups,
                        .replayed = true,
                        .peak_after = 512};
    f->data.findings = &all;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "memory     2 MiB at the peak, 512 B with what is advised about memory\n");
    assert_has(text, "     25 % of what is copied: 70 copied bytes avoidable\n");
    assert_has(text, "Memory  what holds the peak, and changes that lower it together\n");
    assert_has(text, "finding  change");
    assert_has(text, " 512 B\n");
    free(text);
    rows[1].saving = (ana_saving){true, 2048, 0, 0, 0};
    text = text_of(&f->data, &(rep_text_options){.width = 120, .findings = 1});
    assert_has(text, "Further findings");
    assert_has(text, " 25 %  2 KiB\n"); /* under "saves" */
    rows[1].saving = (ana_saving){0};
    free(text);
    json_t *json = json_of(&f->data), *findings = json_object_get(json, "findings");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "memory"),
                                                        "peak_bytes_after")),
                     512);
    json_t *first = json_array_get(findings, 0), *second = json_array_get(findings, 1);
    assert_int_equal(json_integer_value(json_object_get(first, "saves_bytes")), 1024);
    assert_int_equal(json_integer_value(json_object_get(first, "plan_step")), 2);
    assert_int_equal(json_integer_value(json_object_get(second, "excess_copied_bytes")), 70);
    assert_null(json_object_get(second, "saves_bytes"));
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

static void test_json_has_the_documented_keys(void **state)
{
    fixture *f = *state;
    json_t *json = json_of(&f->data);
    assert_keys(json,
                "schema failures device collector launches kernels ranges copies instructions "
                "objects uses samples "
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
    assert_keys(json_array_get(json_object_get(json, "uses"), 0),
                "kernel object id space elements touched loads stores atomics ranges "
                "accesses_per_range ranges_loaded ranges_copied ranges_computed accesses_unfilled "
                "live_ranges blocks block_elements block_elements_max block_accesses "
                "accesses_per_block_element");
    assert_keys(json_array_get(json_object_get(json, "uses"), 1),
                "kernel object id space elements blocks block_elements block_elements_max "
                "block_accesses accesses_per_block_element partial estimated");
    assert_keys(json_array_get(json_object_get(json, "findings"), 0),
                "number key pattern subject kernel object lines excess_wavefronts share_of_kernel "
                "share_of_program verdict certainty evidence advice");
    assert_keys(
        json_array_get(json_object_get(json, "findings"), 1),
        "number key pattern subject kernel object lines excess_sectors share_of_kernel "
        "share_of_program kernel_share_of_time verdict verdict_note certainty evidence advice");
    assert_keys(json_array_get(json_object_get(json, "groups"), 1),
                "number pattern kernels objects lines excess_sectors share_of_program verdict "
                "verdict_note advice");
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

/* The keys, in the order of model_benefits, have 1, 2, 3, ... microseconds. */
static void assert_benefits(json_t *benefits, const char *keys)
{
    const char *key;
    json_t *value;
    int number = 0;
    assert_keys(benefits, keys);
    json_object_foreach(benefits, key, value)
    {
        ++number;
        assert_within(json_number_value(value) * 1e6, number, 1e-9);
    }
}

/* What the model says of a launch, and of all launches of a kernel. */
static void test_predictions(void **state)
{
    fixture *f = *state;
    ana_model m = {.kernel = 2,
                   .kind = f->data.launches.rows[0].kind,
                   .launches = 1,
                   .seconds = 5e-6,
                   .low = 4e-6,
                   .high = 7e-6,
                   .bound = MODEL_L1,
                   .resources = {[MODEL_L1] = 2e-6, [MODEL_LAUNCH] = 1e-6},
                   .benefits = {1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6, 7e-6, 8e-6, 9e-6}};
    f->data.models = (ana_models){.count = 1, .rows = &m, .nkernels = 1, .kernels = &m};
    json_t *json = json_of(&f->data);
    json_t *model = json_object_get(json_array_get(json_object_get(json, "launches"), 0), "model");
    json_t *resources = json_object_get(model, "resources");
    assert_keys(model, "seconds low high bound resources benefits roofline");
    assert_benefits(json_object_get(model, "benefits"),
                    "parallelism serialisation floating_point memory_parallelism");
    assert_string_equal(json_string_value(json_object_get(model, "bound")), "l1");
    assert_keys(resources, "l1 launch"); /* none that takes nothing */
    assert_true(json_real_value(json_object_get(resources, "l1")) == 2e-6);
    assert_true(json_real_value(json_object_get(model, "high")) == 7e-6);
    json_decref(json);
    m.missing = "No figures were measured of its device.";
    json = json_of(&f->data);
    assert_null(json_object_get(json_array_get(json_object_get(json, "launches"), 0), "model"));
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
    } cases[] = {{REP_TABLE_INSTRUCTIONS, 23, 7}, {REP_TABLE_FINDINGS, 17, 3},
                 {REP_TABLE_SAMPLES, 11, 4},      {REP_TABLE_LAUNCHES, 23, 4},
                 {REP_TABLE_OBJECTS, 22, 4},      {REP_TABLE_USES, 20, 3}};
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
        assert_null(json_object_get(rows[i], "much"));
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

/* Instructions of a kernel's launches by class, each launch as often as it stands for others. */
static void test_payload_sums_instructions_by_class(void **state)
{
    fixture *f = *state;
    enum { LAUNCHES = 3, CLASSES = 2, CLASS = 3 };
    static obs_mix mixes[LAUNCHES];
    prof_launch launches[LAUNCHES];
    rep_parts parts;
    assert_int_equal(f->data.launches.count, LAUNCHES);
    uint64_t sums[CLASSES] = {0};
    uint32_t kernel = f->data.launches.rows[0].kernel;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        launches[i] = f->data.launches.rows[i];
        launches[i].count = i + 1;
        launches[i].mix = &mixes[i];
        for (uint32_t k = 0; k < CLASSES; k++) {
            mixes[i].warp_instructions[CLASS + k] = 10 * (i + 1) + k;
            sums[k] += launches[i].kernel == kernel ? (i + 1) * (10 * (i + 1) + k) : 0;
        }
    }
    f->data.launches.rows = launches;
    json_t *page = payload_json(&f->data, &parts), *row;
    size_t i, seen = 0;
    json_array_foreach(json_object_get(page, "kernels"), i, row)
    {
        json_t *mix = json_object_get(row, "mix");
        if (number_of(row, "id") != kernel)
            continue;
        seen++;
        assert_int_equal(json_array_size(mix), CLASSES);
        for (uint32_t k = 0; k < CLASSES; k++) {
            json_t *entry = json_array_get(mix, k);
            assert_string_equal(json_string_value(json_object_get(entry, "class")),
                                prof_class_text(CLASS + k));
            assert_int_equal(number_of(entry, "instructions"), sums[k]);
        }
    }
    assert_int_equal(seen, 1);
    json_decref(page);
    rep_free_parts(&parts);
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

static void test_payload_holds_predictions(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    ana_model m = {.kernel = f->data.kernel_table.rows[0].kernel,
                   .seconds = 5e-6,
                   .low = 4e-6,
                   .high = 7e-6,
                   .bound = MODEL_L1,
                   .resources = {[MODEL_L1] = 2e-6, [MODEL_LAUNCH] = 3e-6},
                   .benefits = {1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6, 7e-6, 8e-6, 9e-6}};
    f->data.models = (ana_models){.nkernels = 1, .kernels = &m};
    json_t *json = payload_json(&f->data, &parts), *kernels = json_object_get(json, "kernels");
    json_t *model = json_object_get(json_array_get(kernels, 0), "model");
    json_t *resources = json_object_get(model, "resources"), *first = json_array_get(resources, 0);
    assert_keys(model, "seconds low high bound resources benefits roofline");
    assert_benefits(json_object_get(model, "benefits"),
                    "parallelism serialisation floating_point memory_parallelism computation "
                    "memory overlap least_computation least_memory");
    assert_int_equal(json_array_size(resources), 2);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "launch");
    assert_string_equal(json_string_value(json_object_get(first, "words")), "the launch itself");
    assert_true(json_real_value(json_object_get(first, "seconds")) == 3e-6);
    assert_null(json_object_get(json_array_get(kernels, 1), "model"));
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

/* A place within a helper, in a file of which the profile has no code, kernel or object: the page has the file, to show the
 * line or to say what it lacks. */
static void test_payload_holds_files_of_findings(void **state)
{
    fixture *f = *state;
    rep_parts parts;
    const prof_file *helper = &f->data.files.rows[1];
    ana_line lines[] = {f->data.findings->rows[0].lines[0], {.file = helper->path, .line = 7}};
    ana_finding row = f->data.findings->rows[0];
    ana_findings findings = *f->data.findings;
    row.lines = lines;
    row.nlines = 2;
    findings.rows = &row;
    findings.count = 1;
    findings.ngroups = 0;
    f->data.findings = &findings;
    json_t *json = payload_json(&f->data, &parts), *files = json_object_get(json, "files");
    assert_int_equal(json_array_size(files), 2);
    json_t *file = json_array_get(files, 1);
    assert_int_equal(number_of(file, "id"), helper->id);
    assert_string_equal(json_string_value(json_object_get(file, "path")), helper->path);
    assert_string_equal(json_string_value(json_object_get(file, "missing")), helper->missing);
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
    assert_int_equal(rep_payload_parts(&f->data, 1, &expected, NULL), WL_OK);
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
        T(test_payload_sums_instructions_by_class),
        T(test_json_of_what_is_left_out),
        T(test_payload_marks_unknown_accesses),
        T(test_finding_of_the_program),
        T(test_savings_of_memory),
        T(test_predictions),
        T(test_unknown_accesses),
        T(test_json_has_the_documented_keys),
        T(test_json_values),
        T(test_sarif_results_name_their_rules),
        T(test_sarif_places),
        T(test_csv_tables),
        T(test_csv_leaves_out_what_was_not_measured),
        T(test_csv_formulas),
        T(test_payload_holds_the_heat_map),
        T(test_payload_holds_the_code),
        T(test_payload_holds_predictions),
        T(test_payload_shares_parts_of_equal_maps),
        T(test_payload_excerpts),
        T(test_payload_holds_files_of_findings),
        T(test_payload_windows),
        T(test_heat_beyond_the_budget),
        T(test_html_carries_the_payload),
        T(test_full_disk),
#undef T
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
