/* What is written is what is read, for records of all types and sizes; and the document agrees
 * with the code. */
#include "capture/records.h"
#include "sample.h"
#include "support/test.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_back(const char *path, const cap_record *records, int count)
{
    cap_reader *reader;
    cap_record record;
    wl_error err = {0};
    bool end;
    assert_int_equal(cap_open(path, &reader, &err), WL_OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(cap_read(reader, &record, &end, &err), WL_OK);
        assert_false(end);
        assert_true(sample_equal(&records[i], &record));
    }
    assert_int_equal(cap_read(reader, &record, &end, &err), WL_OK);
    assert_true(end);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(cap_position(reader), st.st_size);
    cap_reader_free(reader);
}

/* From the last record to the first, and what each begins with without being decoded. */
static void read_backwards(const char *path, const cap_record *records, const uint64_t *ends,
                           int count)
{
    cap_reader *reader, *skipping;
    cap_record record;
    wl_error err = {0};
    bool end;
    assert_int_equal(cap_open(path, &reader, &err), WL_OK);
    assert_int_equal(cap_open(path, &skipping, &err), WL_OK);
    cap_skip(skipping, UINT64_MAX);
    uint64_t begin = cap_position(reader);
    for (int i = count; i-- > 0;) {
        cap_seek(reader, i ? ends[i - 1] : begin);
        assert_int_equal(cap_read(reader, &record, &end, &err), WL_OK);
        assert_true(sample_equal(&records[i], &record));
        assert_int_equal(cap_position(reader), ends[i]);
        cap_seek(skipping, i ? ends[i - 1] : begin);
        assert_int_equal(cap_read(skipping, &record, &end, &err), WL_OK);
        if (record.type == CAP_TABLES)
            assert_int_equal(cap_subject(skipping), records[i].tables.note);
        if (record.type == CAP_LAUNCH)
            assert_int_equal(cap_subject(skipping), records[i].launch.id);
    }
    cap_reader_free(reader);
    cap_reader_free(skipping);
}

static void all_types_of_all_sizes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        wl_arena *arena = wl_arena_new();
        const char *path = sample_path(arena, "records");
        cap_record records[SAMPLE_TYPES];
        uint64_t ends[SAMPLE_TYPES];
        sample_file(path, i, i, records, ends, arena);
        read_back(path, records, SAMPLE_TYPES);
        read_backwards(path, records, ends, SAMPLE_TYPES);
        unlink(path);
        wl_arena_free(arena);
    }
}

/* ---- what is too large for a record ---- */

enum { FITTED_ROWS = 100 };

static obs_heat heat_of_rows(wl_arena *arena, uint32_t object, uint32_t rows)
{
    obs_heat heat = {.object = object, .nrows = rows, .dropped = 3};
    heat.rows = wl_new_array(arena, obs_heat_row, rows);
    for (uint32_t i = 0; i < rows; i++)
        heat.rows[i].sector = 7 + i;
    return heat;
}

/* Every map keeps as many rows as the others, and counts those it lost. */
static void large_maps_are_cut(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_heat heats[] = {heat_of_rows(arena, 1, FITTED_ROWS), heat_of_rows(arena, 2, 10),
                        heat_of_rows(arena, 3, FITTED_ROWS)};
    cap_launch fitting,
        launch = {.kernel = "k", .fault = "", .summary = {.nheats = 3, .heats = heats}};
    size_t all = cap_size_launch(&launch), row = 60;
    obs_heat *own;
    assert_int_equal(cap_fit_launch(&launch, all, &fitting, &own), WL_OK);
    assert_null(own);
    assert_ptr_equal(fitting.summary.heats, heats);
    assert_int_equal(cap_fit_launch(&launch, all - 1, &fitting, &own), WL_OK);
    assert_int_equal(fitting.summary.heats[0].nrows, FITTED_ROWS - 1);
    assert_int_equal(fitting.summary.heats[0].dropped, 4);
    free(own);
    assert_int_equal(cap_fit_launch(&launch, all - 100 * row, &fitting, &own), WL_OK);
    assert_int_equal(fitting.summary.heats[0].nrows, FITTED_ROWS - 50);
    assert_int_equal(fitting.summary.heats[0].dropped, 53);
    assert_int_equal(fitting.summary.heats[1].nrows, 10);
    assert_int_equal(fitting.summary.heats[1].dropped, 3);
    assert_int_equal(fitting.summary.heats[2].nrows, FITTED_ROWS - 50);
    assert_int_equal(cap_size_launch(&fitting), all - 100 * row);
    assert_int_equal(heats[0].nrows, FITTED_ROWS);
    free(own);
    assert_int_equal(cap_fit_launch(&launch, 10, &fitting, &own), WL_LIMIT);
    free(own);
    wl_arena_free(arena);
}

/* The object with the longest spans goes first. */
static void long_spans_are_left_out(void **state)
{
    (void)state;
    char text[300] = {0};
    obs_use *own, list[] = {{.object = 1, .known = OBS_KNOWN_TOUCHED, .spans = text, .length = 20},
                            {.object = 2, .known = OBS_KNOWN_COUNTED, .spans = text, .length = 300},
                            {.object = 3, .known = OBS_KNOWN_TOUCHED, .spans = text, .length = 50}};
    cap_uses fitting, uses = {.launch = 1, .count = 3, .uses = list};
    uint32_t left_out;
    size_t all = cap_size_uses(&uses);
    assert_int_equal(cap_fit_uses(&uses, all, &fitting, &own, &left_out), WL_OK);
    assert_null(own);
    assert_int_equal(left_out, 0);
    assert_int_equal(cap_fit_uses(&uses, all - 1, &fitting, &own, &left_out), WL_OK);
    assert_int_equal(left_out, 1);
    assert_int_equal(fitting.uses[1].known, OBS_KNOWN_NOTHING);
    assert_int_equal(fitting.uses[1].length, 0);
    assert_int_equal(fitting.uses[2].length, 50);
    assert_int_equal(list[1].length, 300);
    free(own);
    assert_int_equal(cap_fit_uses(&uses, all - 301, &fitting, &own, &left_out), WL_OK);
    assert_int_equal(left_out, 2);
    assert_int_equal(fitting.uses[0].length, 20);
    free(own);
    assert_int_equal(cap_fit_uses(&uses, 10, &fitting, &own, &left_out), WL_LIMIT);
    free(own);
}

/* A launch with a large map: compressed, and read whole. */
static void large_launch(void **state)
{
    enum { ROWS = 200000 };
    (void)state;
    wl_arena *arena = wl_arena_new();
    const char *path = sample_path(arena, "large");
    uint32_t pcs[] = {1, 7};
    obs_pcset set = {2, pcs};
    obs_heat heat = {.object = 1, .nrows = ROWS, .npcsets = 1, .pcsets = &set};
    heat.rows = wl_new_array(arena, obs_heat_row, ROWS);
    for (uint32_t i = 0; i < ROWS; i++)
        heat.rows[i] = (obs_heat_row){.sector = 1000 + i, .history = 1, .reads = i};
    cap_record record = {.type = CAP_LAUNCH};
    record.launch = (cap_launch){
        .id = 1, .kernel = "k", .fault = "", .summary = {.nheats = 1, .heats = &heat}};
    cap_writer *writer;
    struct stat st;
    assert_int_equal(cap_create(path, &writer, NULL), WL_OK);
    assert_int_equal(cap_write_launch(writer, &record.launch), WL_OK);
    assert_int_equal(cap_written(writer), 1);
    cap_close(writer);
    read_back(path, &record, 1);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < ROWS * 20); /* 60 bytes a row before compression */
    unlink(path);
    wl_arena_free(arena);
}

static void null_strings_are_empty(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    const char *path = sample_path(arena, "null");
    cap_writer *writer;
    assert_int_equal(cap_create(path, &writer, NULL), WL_OK);
    assert_int_equal(cap_write_skipped(writer, &(cap_skipped){.call = 3}), WL_OK);
    assert_int_equal(cap_write_module(writer, &(cap_module){.id = 1}), WL_OK);
    cap_close(writer);
    cap_record want[2] = {{.type = CAP_SKIPPED, .skipped = {"", "", 3}},
                          {.type = CAP_MODULE, .module = {.id = 1, .name = "", .code = ""}}};
    read_back(path, want, 2);
    unlink(path);
    wl_arena_free(arena);
}

/* ---- several threads ---- */

enum { THREADS = 4, EACH = 500 };

static void *write_many(void *arg)
{
    char text[6000];
    memset(text, 'x', sizeof text); /* some are compressed */
    for (uint32_t i = 0; i < EACH; i++) {
        text[i % 2 ? 5000 : 20] = '\0';
        assert_int_equal(cap_write_skipped(arg, &(cap_skipped){text, "r", i}), WL_OK);
        text[20] = text[5000] = 'x';
    }
    return NULL;
}

static void threads_do_not_tear_records(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    const char *path = sample_path(arena, "threads");
    cap_writer *writer;
    cap_reader *reader;
    cap_record record;
    pthread_t threads[THREADS];
    bool end = false;
    uint32_t seen = 0;
    assert_int_equal(cap_create(path, &writer, NULL), WL_OK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_many, writer);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(cap_written(writer), THREADS * EACH);
    cap_close(writer);
    assert_int_equal(cap_open(path, &reader, NULL), WL_OK);
    while (cap_read(reader, &record, &end, NULL) == WL_OK && !end)
        seen += record.type == CAP_SKIPPED &&
                strlen(record.skipped.kernel) == (record.skipped.call % 2 ? 5000 : 20);
    assert_true(end);
    assert_int_equal(seen, THREADS * EACH);
    cap_reader_free(reader);
    unlink(path);
    wl_arena_free(arena);
}

/* ---- the document ---- */

typedef struct layout {
    char *at;
    size_t left;
} layout;

static void line(layout *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(layout *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out->at, out->left, format, args);
    va_end(args);
    assert_true(n > 0 && (size_t)n < out->left);
    out->at += n;
    out->left -= (size_t)n;
}

/* The lines that docs/capture-format.md must have for each structure. */
static void describe(layout *out)
{
#define BEGIN(t) \
    line(out, "### %s\n\n| type | field |\n|---|---|\n", strncmp(#t, "cap_", 4) != 0 ? #t : &#t[4]);
#define END(t) line(out, "\n");
#define U8(f) line(out, "| u8 | %s |\n", #f);
#define U16(f) line(out, "| u16 | %s |\n", #f);
#define U32(f) line(out, "| u32 | %s |\n", #f);
#define U64(f) line(out, "| u64 | %s |\n", #f);
#define I32(f) line(out, "| i32 | %s |\n", #f);
#define I64(f) line(out, "| i64 | %s |\n", #f);
#define F64(f) line(out, "| f64 | %s |\n", #f);
#define STR(f) line(out, "| string | %s |\n", #f);
#define TEXT(f, n) line(out, "| text | %s |\n", #f);
#define WORDS(f, n) line(out, "| u32 x %d | %s |\n", (int)(n), #f);
#define QWORDS(f, n) line(out, "| u64 x %d | %s |\n", (int)(n), #f);
#define STRINGS(n, f) line(out, "| strings | %s |\n", #f);
#define U32S(n, f) line(out, "| u32 array | %s |\n", #f);
#define U64S(n, f) line(out, "| u64 array | %s |\n", #f);
#define ARRAY(t, n, f) line(out, "| %s array | %s |\n", strncmp(#t, "cap_", 4) ? #t : &#t[4], #f);
#define PART(t, f) line(out, "| %s | %s |\n", strncmp(#t, "cap_", 4) ? #t : &#t[4], #f);
#define OPTIONAL() line(out, "| | *optional* |\n");
#define CHECK(condition)
#include "capture/fields.def"
#include "capture/fields_undef.h"
}

/* `test_capture_records --layout` prints the tables for the document. */
static void document_agrees(void **state)
{
    (void)state;
    static char want[1 << 16];
    layout out = {want, sizeof want};
    describe(&out);
    out.at[-1] = '\0'; /* nothing follows the last table */
    char *have = test_read_source("docs/capture-format.md");
    for (char *part = want, *next; part && *part; part = next) {
        next = strstr(part + 1, "\n### ");
        if (next)
            *next++ = '\0';
        if (!strstr(have, part))
            fail_msg("docs/capture-format.md lacks or contradicts:\n%s", part);
    }
#define X(id, number, t)                            \
    if (!strstr(have, "| " #number " | " #id " |")) \
        fail_msg("docs/capture-format.md does not list record %d, %s", number, #id);
#include "capture/events.def"
#undef X
    free(have);
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    layout out = {text, sizeof text};
    if (argc > 1 && strcmp(argv[1], "--layout") == 0) {
        describe(&out);
        fputs(text, stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_of_all_sizes),  cmocka_unit_test(large_maps_are_cut),
        cmocka_unit_test(long_spans_are_left_out), cmocka_unit_test(large_launch),
        cmocka_unit_test(null_strings_are_empty),  cmocka_unit_test(threads_do_not_tear_records),
        cmocka_unit_test(document_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
