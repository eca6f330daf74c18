/* Captures that are cut off, altered, or made to harm: an error, never a crash, and what lies
 * before stays readable. */
#include "capture/records.h"
#include "sample.h"
#include "support/records.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

typedef struct capture {
    wl_arena *arena;
    cap_record records[SAMPLE_TYPES];
    uint64_t ends[SAMPLE_TYPES];
    uint8_t *data;
    size_t size;
} capture;

static capture load(uint64_t seed, uint32_t size)
{
    capture c = {.arena = wl_arena_new()};
    const char *path = sample_path(c.arena, "damage");
    sample_file(path, seed, size, c.records, c.ends, c.arena);
    c.size = c.ends[SAMPLE_TYPES - 1];
    size_t length;
    c.data = (uint8_t *)test_read(path, &length);
    assert_int_equal(length, c.size);
    unlink(path);
    return c;
}

static void unload(capture *c)
{
    free(c->data);
    wl_arena_free(c->arena);
}

/* Reads to the first error or the end; how many records were good, which must be those that were
 * written. */
static wl_status read_all(const capture *c, const uint8_t *data, size_t size, int *good)
{
    cap_reader *reader;
    cap_record record;
    wl_error err = {0};
    bool end = false;
    *good = 0;
    wl_status status = cap_open_memory(data, size, &reader, &err);
    if (status) {
        assert_true(err.text[0]);
        return status;
    }
    while (!(status = cap_read(reader, &record, &end, &err)) && !end) {
        assert_true(*good < SAMPLE_TYPES && sample_equal(&c->records[*good], &record));
        ++*good;
    }
    assert_true(!status || err.text[0]);
    cap_reader_free(reader);
    return status;
}

static int whole_records(const capture *c, size_t size)
{
    int n = 0;
    while (n < SAMPLE_TYPES && c->ends[n] <= size)
        n++;
    return n;
}

static void cut_off_anywhere(void **state)
{
    (void)state;
    capture c = load(5, 3);
    for (size_t size = 0; size <= c.size; size++) {
        uint8_t *copy = malloc(size + 1); /* exactly this much: sanitizers see a byte too many */
        copy = realloc(copy, size ? size : 1);
        memcpy(copy, c.data, size);
        int good, whole = whole_records(&c, size);
        bool boundary = size == 16 || (whole && c.ends[whole - 1] == size);
        wl_status status = read_all(&c, copy, size, &good);
        assert_int_equal(status, boundary ? WL_OK : WL_TRUNCATED);
        assert_int_equal(good, whole);
        free(copy);
    }
    unload(&c);
}

static void altered_anywhere(void **state)
{
    (void)state;
    capture c = load(6, 3);
    for (size_t at = 0; at < c.size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            int good, before = whole_records(&c, at);
            c.data[at] ^= (uint8_t)(1 << bit);
            wl_status status = read_all(&c, c.data, c.size, &good);
            c.data[at] ^= (uint8_t)(1 << bit);
            assert_true(status == WL_CORRUPT || status == WL_TRUNCATED || status == WL_VERSION);
            assert_int_equal(good, at < 16 ? 0 : before);
        }
    }
    unload(&c);
}

/* A damaged payload costs its record, not those behind it. */
static void goes_on_behind_damage(void **state)
{
    (void)state;
    capture c = load(7, 5);
    cap_reader *reader;
    cap_record record;
    wl_error err;
    bool end;
    c.data[c.ends[3] - 1] ^= 1;
    assert_int_equal(cap_open_memory(c.data, c.size, &reader, &err), WL_OK);
    for (int i = 0; i < SAMPLE_TYPES; i++) {
        assert_int_equal(cap_read(reader, &record, &end, &err), i == 3 ? WL_CORRUPT : WL_OK);
        assert_false(end);
        assert_true(i == 3 || sample_equal(&record, &c.records[i]));
    }
    assert_int_equal(cap_read(reader, &record, &end, &err), WL_OK);
    assert_true(end);
    cap_reader_free(reader);
    unload(&c);
}

/* ---- payloads with a right checksum ---- */

/* Of the record read, texts and arrays are gone when this returns. */
static wl_status read_record(uint32_t type, uint32_t flags, const void *payload, size_t size,
                             cap_record *record)
{
    cap_buffer b = {0};
    cap_reader *reader;
    wl_error err;
    bool end;
    put_bytes(&b, cap_magic, 8);
    put_number(&b, CAP_VERSION, 8);
    put_number(&b, type, 4);
    put_number(&b, flags, 4);
    put_number(&b, size, 8);
    put_number(&b, cap_hash(type, flags, payload, size), 8);
    put_bytes(&b, payload, size);
    assert_int_equal(b.status, WL_OK);
    assert_int_equal(cap_open_memory(b.data, b.size, &reader, &err), WL_OK);
    wl_status status = cap_read(reader, record, &end, &err);
    cap_reader_free(reader);
    cap_buffer_free(&b);
    return status;
}

static wl_status read_payload(uint32_t type, uint32_t flags, const void *payload, size_t size)
{
    cap_record record;
    return read_record(type, flags, payload, size, &record);
}

static void counts_beyond_the_payload(void **state)
{
    (void)state;
    const uint8_t many[] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    uint8_t process[64] = {0};
    assert_int_equal(read_payload(CAP_MAPS, 0, many, 4), WL_CORRUPT);
    assert_int_equal(read_payload(CAP_MAPS, 0, many, 8), WL_CORRUPT);
    assert_int_equal(read_payload(CAP_UNSUPPORTED, 0, many, 8), WL_CORRUPT);
    assert_int_equal(read_payload(CAP_MAPS, 0, many + 4, 4), WL_OK); /* none */
    memcpy(process + 8 + 6 * 4, many, 4);                            /* argc */
    assert_int_equal(read_payload(CAP_PROCESS, 0, process, 8 + 6 * 4 + 4 + 8), WL_CORRUPT);
    memset(process + 8, 0xff, 4); /* executable */
    assert_int_equal(read_payload(CAP_PROCESS, 0, process, 8 + 6 * 4 + 4 + 8), WL_CORRUPT);
}

static void values_out_of_range(void **state)
{
    (void)state;
    const uint8_t nul_inside[] = {3, 0, 0, 0, 'a', 0, 'b'}, left_over[] = {1, 0, 0, 0, 'a', 'b'};
    const uint8_t level[] = {9, 0, 0, 0, 0, 0, 0, 0}, good[] = {1, 0, 0, 0, 'a'};
    assert_int_equal(read_payload(CAP_UNSUPPORTED, 0, good, sizeof good), WL_OK);
    assert_int_equal(read_payload(CAP_UNSUPPORTED, 0, nul_inside, sizeof nul_inside), WL_CORRUPT);
    assert_int_equal(read_payload(CAP_UNSUPPORTED, 0, left_over, sizeof left_over), WL_CORRUPT);
    assert_int_equal(read_payload(CAP_UNSUPPORTED, 2, good, sizeof good),
                     WL_CORRUPT); /* unknown flag */
    assert_int_equal(read_payload(CAP_MESSAGE, 0, level, sizeof level), WL_CORRUPT);
    assert_int_equal(read_payload(0, 0, good, sizeof good), WL_CORRUPT);
    assert_int_equal(read_payload(99, 0, good, sizeof good), WL_CORRUPT);
    assert_int_equal(read_payload(CAP_UNSUPPORTED, 1, good, sizeof good), WL_CORRUPT); /* no zstd */
}

static wl_status read_launch(const obs_summary *summary)
{
    cap_buffer b = {0};
    cap_launch launch = {.summary = *summary};
    cap_put_cap_launch(&b, &launch);
    wl_status status = read_payload(CAP_LAUNCH, 0, b.data, b.size);
    cap_buffer_free(&b);
    return status;
}

/* What readers use as an index or search in. */
static void maps_that_contradict_themselves(void **state)
{
    (void)state;
    uint32_t pc = 1;
    obs_pcset set = {1, &pc};
    obs_heat_row rows[2] = {{.sector = 5}, {.sector = 6}};
    obs_heat heat = {.nrows = 2, .rows = rows, .npcsets = 1, .pcsets = &set};
    obs_summary summary = {.nheats = 1, .heats = &heat};
    assert_int_equal(read_launch(&summary), WL_OK);
    rows[1].pcset = 1;
    assert_int_equal(read_launch(&summary), WL_CORRUPT);
    rows[1].pcset = 0;
    rows[1].sector = 5;
    assert_int_equal(read_launch(&summary), WL_CORRUPT);
    rows[1].sector = 6;
    heat.space = ACC_SPACE_COUNT;
    assert_int_equal(read_launch(&summary), WL_CORRUPT);
    obs_insn insn = {.op = ACC_OP_COUNT};
    assert_int_equal(read_launch(&(obs_summary){.ninsns = 1, .insns = &insn}), WL_CORRUPT);
}

/* Captures of before the optional fields were there. */
static void ends_before_optional_fields(void **state)
{
    (void)state;
    cap_record record = {0};
    const uint8_t free[] = {7, 0, 0, 0, 9, 0, 0, 0, CAP_FREED_KERNEL, 0, 0, 0};
    assert_int_equal(read_record(CAP_FREE, 0, free, sizeof free, &record), WL_OK);
    assert_int_equal(record.free.how, CAP_FREED_KERNEL);
    assert_int_equal(read_record(CAP_FREE, 0, free, 8, &record), WL_OK);
    assert_int_equal(record.free.object, 7);
    assert_int_equal(record.free.call, 9);
    assert_int_equal(record.free.how, CAP_FREED_UNTOLD);
    for (size_t size = 0; size < sizeof free; size++)
        assert_int_equal(read_payload(CAP_FREE, 0, free, size), size == 8 ? WL_OK : WL_CORRUPT);
}

/* Few bytes that unpack to very many. */
static void compressed_beyond_the_limit(void **state)
{
    (void)state;
    size_t plain = CAP_MAX_PAYLOAD / 4, room = ZSTD_compressBound(plain), n;
    uint8_t *zeros = calloc(1, plain), *once = malloc(room), *many = malloc(room * 6);
    struct rusage before, after;
    n = ZSTD_compress(once, room, zeros, plain, 1);
    assert_false(ZSTD_isError(n));
    free(zeros);
    for (int i = 0; i < 6; i++)
        memcpy(many + n * (size_t)i, once, n); /* frames one after another */
    assert_int_equal(read_payload(CAP_UNSUPPORTED, 1, many, n * 6), WL_CORRUPT);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(read_payload(CAP_MAPS, 1, once, n), WL_CORRUPT);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < CAP_MAX_PAYLOAD / 1024);
    free(once);
    free(many);
}

/* Elements that take less room in a payload than in memory, up to all that a record may take. */
static void decoded_beyond_the_limit(void **state)
{
    enum { COUNT = 1 << 10 };
    static const struct {
        size_t size;
        wl_status status;
    } cases[] = {
        {16, WL_OK},
        {CAP_MAX_DECODED / COUNT, WL_CORRUPT}, /* with what the record has taken before */
        {CAP_MAX_DECODED / COUNT + 1, WL_CORRUPT},
    };
    uint8_t payload[4 + COUNT] = {COUNT & 0xff, COUNT >> 8};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cap_cursor c = {.at = payload, .end = payload + sizeof payload, .arena = wl_arena_new()};
        void *elements;
        assert_non_null(wl_arena_alloc(c.arena, 64));
        uint32_t count = cap_get_count(&c, 1, cases[i].size, &elements);
        assert_int_equal(c.status, cases[i].status);
        assert_int_equal(count, cases[i].status ? 0 : COUNT);
        assert_true(!elements == (cases[i].status != WL_OK));
        wl_arena_free(c.arena);
    }
}

static wl_status open_bytes(const void *data, size_t size)
{
    cap_reader *reader;
    wl_error err = {0};
    wl_status status = cap_open_memory(data, size, &reader, &err);
    if (!status)
        cap_reader_free(reader);
    return status;
}

/* A capture without records, but for its version and flags. */
static wl_status open_header(unsigned version, unsigned flags)
{
    char bytes[17];
    snprintf(bytes, sizeof bytes, "WLCAPTUR%c%c%c%c%c%c%c%c", (int)version, 0, 0, 0, (int)flags, 0,
             0, 0);
    return open_bytes(bytes, 16);
}

static void other_files(void **state)
{
    (void)state;
    cap_reader *reader;
    wl_error err;
    assert_int_equal(open_bytes("SQLite format 3", 16), WL_CORRUPT);
    assert_int_equal(open_header(CAP_VERSION + 1, 0), WL_VERSION);
    assert_int_equal(open_header(CAP_VERSION - 1, 0), WL_VERSION);
    assert_int_equal(open_header(CAP_VERSION, 0), WL_OK);
    assert_int_equal(open_header(CAP_VERSION, 1), WL_CORRUPT);
    assert_int_equal(open_bytes("WLCAP", 5), WL_TRUNCATED);
    assert_int_equal(open_bytes("", 0), WL_TRUNCATED);
    assert_int_equal(cap_open("/", &reader, &err), WL_CORRUPT);
    assert_int_equal(cap_open("/nowhere/at/all", &reader, &err), WL_NOENT);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_off_anywhere),
        cmocka_unit_test(altered_anywhere),
        cmocka_unit_test(goes_on_behind_damage),
        cmocka_unit_test(counts_beyond_the_payload),
        cmocka_unit_test(values_out_of_range),
        cmocka_unit_test(maps_that_contradict_themselves),
        cmocka_unit_test(ends_before_optional_fields),
        cmocka_unit_test(compressed_beyond_the_limit),
        cmocka_unit_test(decoded_beyond_the_limit),
        cmocka_unit_test(other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
