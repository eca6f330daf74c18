/* Hostile profiles. The first byte chooses: the rest is a whole file, or a list of changes to the
 * cells of a valid one (see struct edit), which reach what a random change of the file's bytes
 * hardly does. Everything that can be loaded is, and reported. */
#include "../profile/story.h"
#include "../report/payload.h"
#include "support/file.h"

#include "report/report.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static wl_error err;
static FILE *nowhere;
static unsigned char *valid;
static size_t valid_size;

/* SQLite opens files by their real names, so that a memfd will not do. */
static char path[64];

static void remove_file(void)
{
    unlink(path);
}

static void make_valid(void)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_all(builder);
    story_expect(prof_finish(builder, &err), &err);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    prof_db *db;
    snprintf(path, sizeof path, "%s/warplens-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    close(mkstemp(path));
    atexit(remove_file);
    nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        abort();
    make_valid();
    story_expect(prof_open(path, &db, &err),
                 &err); /* else everything would be refused, and nothing found */
    prof_close(db);
    valid = (void *)file_read(path, &valid_size);
    if (!valid)
        abort();
    return 0;
}

/* ---- loading ---- */

static void load_maps(prof_db *db, wl_arena *arena)
{
    prof_heat_info_rows heats;
    if (prof_load_heats(db, PROF_ALL, arena, &heats, &err))
        return;
    for (uint32_t i = 0; i < heats.count && i < 16; i++) {
        prof_heat heat;
        (void)prof_load_heat(db, heats.rows[i].id, arena, &heat, &err);
    }
}

static void load_texts(prof_db *db, wl_arena *arena)
{
    prof_file_rows files;
    prof_kernel_rows kernels;
    const char *text;
    size_t length;
    if (prof_load_files(db, arena, &files, &err) == WL_OK)
        for (uint32_t i = 0; i < files.count && i < 16; i++)
            (void)prof_load_source(db, files.rows[i].id, arena, &text, &length, &err);
    (void)prof_load_kernels(db, arena, &kernels, &err);
}

static void load_rows(prof_db *db, wl_arena *arena)
{
    prof_info info;
    prof_coverage coverage;
    prof_process_rows processes;
    prof_device_rows devices;
    prof_code_rows code;
    prof_launch_rows launches;
    prof_instruction_rows insns;
    prof_sample_rows samples;
    prof_skip_rows skips;
    prof_message_rows messages;
    prof_unsupported_rows unsupported;
    prof_call_rows calls;
    (void)prof_load_info(db, arena, &info, &err);
    (void)prof_load_coverage(db, arena, &coverage, &err);
    (void)prof_load_processes(db, arena, &processes, &err);
    (void)prof_load_devices(db, arena, &devices, &err);
    (void)prof_load_code(db, PROF_ALL, arena, &code, &err);
    (void)prof_load_launches(db, PROF_ALL, arena, &launches, &err);
    (void)prof_load_instructions(db, PROF_ALL, PROF_ALL, arena, &insns, &err);
    (void)prof_load_samples(db, PROF_ALL, arena, &samples, &err);
    (void)prof_load_calls(db, arena, &calls, &err);
    (void)prof_load_skips(db, arena, &skips, &err);
    (void)prof_load_messages(db, arena, &messages, &err);
    (void)prof_load_unsupported(db, arena, &unsupported, &err);
}

static void analyze(prof_db *db, wl_arena *arena)
{
    ana_thresholds thresholds = ana_thresholds_default();
    ana_findings findings;
    ana_kernels kernels;
    ana_memory memory;
    ana_uses uses;
    bool found = ana_find(db, &thresholds, arena, &findings, &err) == WL_OK;
    (void)ana_kernel_table(db, found ? &findings : NULL, arena, &kernels, &err);
    (void)ana_memory_table(db, arena, &memory, &err);
    (void)ana_use_table(db, &thresholds, arena, &uses, &err);
}

static void report(prof_db *db, wl_arena *arena)
{
    ana_thresholds thresholds = ana_thresholds_default();
    ana_findings findings;
    rep_data data;
    unsigned parts = REP_PART_LAUNCH_ROWS | REP_PART_HEATS | REP_PART_SOURCES | REP_PART_LISTINGS;
    if (ana_find(db, &thresholds, arena, &findings, &err) != WL_OK ||
        rep_load(db, &findings, parts, arena, &data, &err) != WL_OK)
        return;
    (void)rep_text(&data, NULL, nowhere, &err);
    (void)rep_code(&data, NULL, nowhere, &err);
    (void)rep_json(&data, nowhere, &err);
    (void)rep_sarif(&data, nowhere, &err);
    (void)write_payload(&data, nowhere, &err);
    for (int table = 0; table < REP_TABLE_COUNT; table++)
        (void)rep_csv(&data, (rep_table)table, nowhere, &err);
}

static void load_file(const void *data, size_t size)
{
    prof_db *db;
    int fd = open(path, O_WRONLY | O_TRUNC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    wl_arena *arena = wl_arena_new();
    if (prof_open(path, &db, &err) == WL_OK) {
        load_rows(db, arena);
        load_texts(db, arena);
        load_maps(db, arena);
        analyze(db, arena);
        report(db, arena);
        prof_close(db);
    }
    wl_arena_free(arena);
}

/* ---- changing cells ---- */

static const char *const cells[][2] = {
    {"launch_kinds", "kernel"},
    {"launch_kinds", "first"},
    {"launch_kinds", "count"},
    {"launch_kinds", "timed"},
    {"launch_kinds", "grid_x"},
    {"launch_kinds", "fault"},
    {"launch_kinds", "dropped"},
    {"launch_kinds", "warp_instructions"},
    {"launch_times", "kind"},
    {"launch_times", "call"},
    {"launch_times", "host_seconds"},
    {"mix", "class"},
    {"mix", "thread_instructions"},
    {"instructions", "pc"},
    {"instructions", "object"},
    {"instructions", "space"},
    {"instructions", "access"},
    {"instructions", "requests"},
    {"instructions", "sectors"},
    {"instructions", "sectors_min"},
    {"instructions", "wavefronts"},
    {"instructions", "misaligned"},
    {"instructions", "stride"},
    {"instructions", "active_lanes"},
    {"instructions", "bytes"},
    {"blocks", "first_pc"},
    {"blocks", "ninsns"},
    {"blocks", "executions"},
    {"static_blocks", "first_pc"},
    {"static_blocks", "chain_loads"},
    {"static_mix", "first_pc"},
    {"static_mix", "class"},
    {"static_mix", "chain"},
    {"static_mix", "machine"},
    {"devices", "file"},
    {"objects", "bytes"},
    {"objects", "base"},
    {"objects", "kind"},
    {"objects", "space"},
    {"objects", "name"},
    {"objects", "process"},
    {"objects", "alloc_order"},
    {"objects", "free_order"},
    {"objects", "kernel"},
    {"heats", "object"},
    {"heats", "space"},
    {"heats", "warps"},
    {"heats", "content"},
    {"heats", "launch"},
    {"contents", "nrows"},
    {"contents", "npcsets"},
    {"contents", "npcs"},
    {"contents", "data"},
    {"kernels", "name"},
    {"kernels", "module"},
    {"kernels", "ncode"},
    {"modules", "bytes"},
    {"modules", "kind"},
    {"modules", "code"},
    {"files", "text"},
    {"files", "bytes"},
    {"files", "path"},
    {"locs", "inlined_at"},
    {"locs", "file"},
    {"code", "text"},
    {"code", "block"},
    {"code", "file"},
    {"code", "line"},
    {"calls", "stack"},
    {"calls", "kind"},
    {"calls", "api"},
    {"frames", "depth"},
    {"processes", "end_ns"},
    {"processes", "collector"},
    {"devices", "name"},
    {"info", "value"},
    {"arguments", "value"},
    {"samples", "launch"},
    {"samples", "block"},
    {"samples", "why"},
    {"samples", "mapped"},
    {"samples", "alike"},
    {"samples", "requests"},
    {"trials", "launch"},
    {"trials", "kind"},
    {"trials", "blocks"},
    {"trials", "pc"},
    {"trials", "block_x"},
    {"trials", "object"},
    {"trials", "pitch"},
    {"trials", "pad"},
    {"trial_instructions", "trial"},
    {"trial_instructions", "after"},
    {"trial_instructions", "pc"},
    {"trial_instructions", "space"},
    {"trial_instructions", "sectors"},
    {"trial_instructions", "wavefronts"},
    {"kernels", "machine_sm"},
    {"kernels", "machine_missing"},
    {"launch_kinds", "registers_by"},
};

/* In the input: cell, kind, length, then the value's bytes. */
typedef struct edit {
    uint8_t cell, kind, length;
} edit;

enum { INTEGER, REAL, TEXT, BLOB, PACKED, KINDS };

static void bind(sqlite3_stmt *stmt, uint8_t kind, const uint8_t *value, size_t length)
{
    int64_t number = 0;
    double real = 0;
    char packed[512];
    memcpy(&number, value, length < sizeof number ? length : sizeof number);
    memcpy(&real, value, length < sizeof real ? length : sizeof real);
    switch (kind % KINDS) {
    case INTEGER: sqlite3_bind_int64(stmt, 1, number); break;
    case REAL: sqlite3_bind_double(stmt, 1, real); break;
    case TEXT:
        sqlite3_bind_text(stmt, 1, (const char *)value, (int)length, SQLITE_TRANSIENT);
        break;
    case BLOB: sqlite3_bind_blob(stmt, 1, value, (int)length, SQLITE_TRANSIENT); break;
    default: {
        size_t n = ZSTD_compress(packed, sizeof packed, value, length, 1);
        sqlite3_bind_blob(stmt, 1, packed, ZSTD_isError(n) ? 0 : (int)n, SQLITE_TRANSIENT);
    }
    }
}

static void apply(sqlite3 *db, const edit *e, const uint8_t *value)
{
    char sql[128];
    sqlite3_stmt *stmt;
    const char *const *cell = cells[e->cell % (sizeof cells / sizeof *cells)];
    snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = ?", cell[0], cell[1]);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        abort();
    bind(stmt, e->kind, value, e->length);
    sqlite3_step(stmt);
    sqlite3_finalize(stmt);
}

static void load_edited(const uint8_t *data, size_t size)
{
    sqlite3 *db;
    sqlite3_int64 length;
    unsigned char *copy = sqlite3_malloc64(valid_size);
    memcpy(copy, valid, valid_size);
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        abort();
    unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
    sqlite3_deserialize(db, "main", copy, (sqlite3_int64)valid_size, (sqlite3_int64)valid_size,
                        flags);
    while (size >= sizeof(edit)) {
        edit e = {data[0], data[1], data[2]};
        data += sizeof e;
        size -= sizeof e;
        e.length = e.length < size ? e.length : (uint8_t)size;
        apply(db, &e, data);
        data += e.length;
        size -= e.length;
    }
    unsigned char *file = sqlite3_serialize(db, "main", &length, 0);
    sqlite3_close(db);
    if (file)
        load_file(file, (size_t)length);
    sqlite3_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & 1)
        load_edited(data + 1, size - 1);
    else
        load_file(data + 1, size - 1);
    return 0;
}
