/* What goes into a profile comes out of it: rows, names, lines, ids; and what must not come in
 * stays out. */
#include "content.h"
#include "profile/blob.h"
#include "profile/tables.h"
#include "story.h"
#include "support/test.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static wl_error err;

typedef struct opened {
    prof_db *db;
    wl_arena *arena;
} opened;

static opened make(const char *name, void (*tell)(prof_builder *))
{
    opened o = {.arena = wl_arena_new()};
    prof_builder *builder;
    prof_options options = {.force = true, .command = "warplens profile ./app"};
    story_expect(prof_create(story_path(name), &options, &builder, &err), &err);
    tell(builder);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path(name), &o.db, &err), &err);
    return o;
}

static void done(opened *o, const char *name)
{
    prof_close(o->db);
    wl_arena_free(o->arena);
    unlink(story_path(name));
}

static void rows_come_back(void **state)
{
    (void)state;
    opened o = make("rows.wlprof", story_all);
    prof_info info;
    prof_process_rows processes;
    prof_device_rows devices;
    prof_launch_rows launches;
    prof_instruction_rows insns;
    story_expect(prof_load_info(o.db, o.arena, &info, &err), &err);
    assert_string_equal(info.command, "warplens profile ./app");
    assert_string_equal(info.collector, "emulate");
    story_expect(prof_load_processes(o.db, o.arena, &processes, &err), &err);
    assert_int_equal(processes.count, 1);
    assert_int_equal(processes.rows[0].argc, 2);
    assert_string_equal(processes.rows[0].argv[1], "1024");
    assert_int_equal(processes.rows[0].end_ns, 5000);
    assert_null(processes.rows[0].cut_off);
    story_expect(prof_load_devices(o.db, o.arena, &devices, &err), &err);
    assert_string_equal(devices.rows[0].name, "NVIDIA H200");
    assert_true(devices.rows[0].global_bytes == 150ull << 30);
    story_expect(prof_load_launches(o.db, PROF_ALL, o.arena, &launches, &err), &err);
    assert_int_equal(launches.count, 3);
    assert_int_equal(launches.rows[2].id, 3);
    assert_int_equal(launches.rows[2].thread_instructions, 2710);
    assert_int_equal(launches.rows[2].mix->thread_instructions[0], 2500);
    assert_true(launches.rows[1].host_seconds == 0.25 && launches.rows[1].device_seconds < 0);
    story_expect(prof_load_instructions(o.db, PROF_ALL, 2, o.arena, &insns, &err), &err);
    assert_int_equal(insns.count, 3);
    assert_int_equal(insns.rows[0].c.pc, 1);
    assert_int_equal(insns.rows[0].executions, 8);
    assert_int_equal(insns.rows[0].execution_lanes, 250);
    assert_int_equal(insns.rows[1].c.sectors, 64);
    assert_true(insns.rows[1].c.stride == -8);
    story_expect(prof_load_instruction_totals(o.db, 1, o.arena, &insns, &err), &err);
    assert_int_equal(insns.count, 3);
    assert_int_equal(insns.rows[1].c.sectors, 3 * 64);
    done(&o, "rows.wlprof");
}

/* A row of `locs`, which nothing but exports of the profile reads. */
static prof_loc loc_of(const opened *o, uint32_t id)
{
    uint32_t count;
    prof_loc *rows;
    story_expect(table_load(o->db->sql, TABLE_locs, "locs WHERE id = ?", DB_VALUES(db_int(id)), 1,
                            o->arena, &count, &rows, &err),
                 &err);
    assert_int_equal(count, 1);
    return rows[0];
}

static void code_has_lines(void **state)
{
    (void)state;
    opened o = make("lines.wlprof", story_all);
    prof_kernel_rows kernels;
    prof_code_rows code;
    prof_file_rows files;
    prof_loc loc, outer;
    story_expect(prof_load_kernels(o.db, o.arena, &kernels, &err), &err);
    story_expect(prof_load_code(o.db, 1, o.arena, &code, &err), &err);
    story_expect(prof_load_files(o.db, o.arena, &files, &err), &err);
    assert_int_equal(kernels.count, 1);
    const prof_kernel *k = &kernels.rows[0];
    assert_string_equal(k->missing, "");
    assert_string_equal(k->name, "scale(float*)");
    assert_string_equal(k->short_name, "scale");
    assert_int_equal(k->line, 12);
    assert_string_equal(prof_find_file(&files, k->file)->path, "/src/scale.cu");
    assert_int_equal(k->ncode, 11); /* its own seven, then those of the function that it calls */
    assert_int_equal(code.count, 11);
    assert_string_equal(code.rows[1].op, "ld.global.f32");
    assert_non_null(strstr(code.rows[1].text, "ld.global.f32"));
    assert_string_equal(code.rows[8].function, "twice(float)");
    assert_int_equal(code.rows[8].line, 30);
    assert_int_equal(code.rows[1].block, 0);
    assert_int_equal(code.rows[6].block, 1); /* after the call */
    assert_int_equal(code.rows[7].block, 3); /* after the empty block at the kernel's end */
    /* Inlined from a header of the toolkit: counts where it was called. */
    const prof_code *call = &code.rows[3];
    assert_int_equal(call->line, 14);
    loc = loc_of(&o, call->loc);
    assert_string_equal(loc.function, "float()");
    assert_int_equal(loc.line, 70);
    assert_true(prof_find_file(&files, loc.file)->system);
    outer = loc_of(&o, loc.inlined_at);
    assert_int_equal(outer.line, 14);
    assert_int_equal(outer.inlined_at, 0);
    /* Inlined from a header of the application: counts there. */
    const prof_code *store = &code.rows[5];
    assert_int_equal(store->line, 8);
    assert_string_equal(prof_find_file(&files, store->file)->name, "helpers.cuh");
    assert_string_equal(prof_find_file(&files, store->file)->path, "/src/helpers.cuh");
    assert_string_equal(loc_of(&o, store->loc).function, "store(float)");
    assert_false(prof_find_file(&files, store->file)->has_text);
    assert_string_equal(prof_find_file(&files, store->file)->missing, "not found");
    done(&o, "lines.wlprof");
}

static void heat_maps_come_back(void **state)
{
    (void)state;
    opened o = make("heat.wlprof", story_all);
    prof_heat_info_rows infos;
    prof_heat heat;
    story_expect(prof_load_heats(o.db, PROF_ALL, o.arena, &infos, &err), &err);
    assert_int_equal(infos.count, 3);
    assert_int_equal(infos.rows[0].content, infos.rows[2].content); /* equal rows are kept once */
    story_expect(prof_load_heat(o.db, infos.rows[1].id, o.arena, &heat, &err), &err);
    assert_int_equal(heat.info.launch, 2);
    assert_int_equal(heat.info.nrows, 2);
    assert_true(heat.rows[0].sector == 0 && heat.rows[1].sector == 4); /* from the object's start */
    assert_int_equal(heat.rows[0].word[2], 3);
    assert_int_equal(heat.rows[0].reads, 5);
    assert_int_equal(heat.rows[1].history, 0x80000000);
    assert_int_equal(heat.rows[1].writes, 9);
    assert_int_equal(heat.npcsets, 1);
    assert_int_equal(heat.pcsets[0].pcs[1], 5);
    assert_int_equal(prof_load_heat(o.db, 99, o.arena, &heat, &err), WL_NOENT);
    done(&o, "heat.wlprof");
}

static void expect_span(wl_span_reader *r, uint64_t first, uint64_t count, uint64_t loads,
                        uint64_t stores, uint64_t atomics)
{
    wl_span span;
    assert_true(wl_span_next(r, &span));
    assert_true(span.first == first && span.count == count && span.times[WL_LOADS] == loads &&
                span.times[WL_STORES] == stores && span.times[WL_ATOMICS] == atomics);
}

static void uses_come_back(void **state)
{
    (void)state;
    opened o = make("uses.wlprof", story_all);
    prof_use_rows uses;
    prof_live_ranges_rows live;
    prof_launch_rows launches;
    wl_span_reader spans;
    wl_span none;
    story_expect(prof_load_uses(o.db, PROF_ALL, o.arena, &uses, &err), &err);
    assert_int_equal(uses.count, 3); /* by object */
    const prof_use *u = &uses.rows[0];
    assert_true(u->launch == 1 && u->object == 1 && u->space == ACC_GLOBAL && u->elements == 1024);
    assert_true(u->known == OBS_KNOWN_COUNTED && u->touched == 7 && u->times[WL_LOADS] == 10);
    assert_true(u->times[WL_STORES] == 2 && u->times[WL_ATOMICS] == 0 && u->least == 1);
    assert_true(u->most == 2 && u->squares == 22);
    story_expect(prof_load_spans(o.db, u->spans, o.arena, &spans, &err), &err);
    expect_span(&spans, 0, 5, 2, 0, 0);
    expect_span(&spans, 7, 2, 0, 1, 0);
    assert_false(wl_span_next(&spans, &none));
    u = &uses.rows[1];
    assert_true(u->object == 2 && u->known == OBS_KNOWN_NOTHING && u->spans == 0);
    assert_true(u->ranges[OBS_COMPUTED] == UINT64_MAX && u->block_words == UINT64_MAX);
    u = &uses.rows[2];
    assert_true(u->space == ACC_SHARED && u->elements == 32 && u->touched == 32 && u->most == 13);
    assert_true(u->ranges[OBS_FROM_MEMORY] == 64 && u->range_accesses[OBS_FROM_MEMORY] == 128);
    assert_true(u->ranges[OBS_FROM_COPY] == 0 && u->range_accesses[OBS_FROM_COPY] == 0);
    assert_true(u->ranges[OBS_COMPUTED] == 32 && u->range_accesses[OBS_COMPUTED] == 160);
    assert_true(u->block_words == 128 && u->block_words_most == 32 && u->blocks == 4);
    assert_true(u->block_accesses == 416 && u->unfilled == 32);
    story_expect(prof_load_live_ranges(o.db, PROF_ALL, o.arena, &live, &err), &err);
    assert_int_equal(live.count, 3);
    assert_true(live.rows[1].live.origin == OBS_FROM_MEMORY && live.rows[1].live.accesses == 3);
    assert_true(live.rows[1].object == u->object && live.rows[2].live.origin == OBS_COMPUTED);
    assert_int_equal(prof_load_spans(o.db, 99, o.arena, &spans, &err), WL_CORRUPT);
    story_expect(prof_load_launches(o.db, PROF_ALL, o.arena, &launches, &err), &err);
    assert_int_equal(launches.rows[0].objects_known, OBS_KNOWN_COUNTED);
    assert_int_equal(launches.rows[0].arrays_known, OBS_KNOWN_COUNTED);
    assert_int_equal(launches.rows[1].objects_known, OBS_KNOWN_NOTHING);
    done(&o, "samples.wlprof");
}

static void samples_come_back(void **state)
{
    (void)state;
    opened o = make("samples.wlprof", story_all);
    prof_sample_rows rows;
    story_expect(prof_load_samples(o.db, PROF_ALL, o.arena, &rows, &err), &err);
    assert_int_equal(rows.count, 6); /* two of each launch */
    const prof_sample *typical = &rows.rows[2], *odd = &rows.rows[3];
    assert_int_equal(typical->launch, 2);
    assert_string_equal(prof_why_text(typical->s.why), "typical");
    assert_int_equal(typical->s.alike, 3);
    assert_int_equal(typical->s.mapped, 1);
    assert_int_equal(odd->s.block, 3);
    assert_int_equal(odd->s.block_index[1], 1);
    assert_string_equal(prof_why_text(odd->s.why), "outlier");
    assert_int_equal(odd->s.mapped, 0);
    assert_int_equal(odd->s.instructions, 700);
    assert_int_equal(odd->s.sectors, 200);
    story_expect(prof_load_samples(o.db, typical->kernel, o.arena, &rows, &err), &err);
    assert_true(rows.count >= 2);
    done(&o, "samples.wlprof");
}

static void objects_and_calls(void **state)
{
    (void)state;
    opened o = make("objects.wlprof", story_all);
    prof_object_rows objects;
    prof_call_rows calls;
    prof_coverage coverage;
    story_expect(prof_load_objects(o.db, o.arena, &objects, &err), &err);
    story_expect(prof_load_calls(o.db, o.arena, &calls, &err), &err);
    assert_int_equal(objects.count, 3);
    assert_string_equal(objects.rows[0].name, "cudaMalloc #1");
    assert_string_equal(objects.rows[1].name, "cudaMalloc #2");
    assert_true(objects.rows[1].freed && !objects.rows[0].freed);
    assert_int_equal(objects.rows[0].freed_how, CAP_FREED_EXIT);
    assert_int_equal(objects.rows[1].freed_how, CAP_FREED_PROGRAM);
    assert_int_equal(objects.rows[2].freed_how, CAP_FREED_UNTOLD);
    assert_string_equal(prof_find_call(&calls, objects.rows[1].free_call)->api, "cudaFree");
    assert_int_equal(objects.rows[2].kind, PROF_OBJECT_SHARED);
    assert_string_equal(objects.rows[2].variable, "tile");
    assert_string_equal(objects.rows[2].name, "tile (scale)");
    assert_int_equal(calls.count, 3); /* launches and copies belong to no object */
    for (uint32_t i = 0; i < calls.count; i++) {
        assert_int_equal(calls.rows[i].number, calls.rows[i].id);
        assert_int_equal(calls.rows[i].thread, 1);
    }
    story_expect(prof_load_coverage(o.db, o.arena, &coverage, &err), &err);
    assert_int_equal(coverage.launches_seen, 3);
    assert_int_equal(coverage.launches_observed, 3);
    assert_int_equal(coverage.blocks_sampled, 3);
    assert_int_equal(coverage.processes_cut_off, 0);
    done(&o, "objects.wlprof");
}

/* A relative path is found beside the process and above its executable; the text comes along. */
static void tell_relative(prof_builder *builder)
{
    static char ptx[sizeof "x" + 8192];
    const char *file = ".file 1 \"/src/scale.cu\"", *at = strstr(story_ptx, file);
    snprintf(ptx, sizeof ptx, "%.*s.file 1 \"tests/profile/site_probe.c\"%s", (int)(at - story_ptx),
             story_ptx, at + strlen(file));
    cap_record process = story_process(WL_SOURCE_DIR "/build/some/bin/app"),
               module = story_module(1);
    cap_record launch = story_launch(1, 2, 0x7f0000000000), end = story_end();
    module.module.code = ptx;
    module.module.length = strlen(ptx);
    const cap_record *all[] = {&process, &module, &launch, &end};
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        story_expect(prof_add(builder, all[i], &err), &err);
}

static void relative_sources(void **state)
{
    (void)state;
    opened o = make("relative.wlprof", tell_relative);
    prof_kernel_rows kernels;
    prof_file_rows files;
    const char *text;
    size_t length;
    story_expect(prof_load_kernels(o.db, o.arena, &kernels, &err), &err);
    story_expect(prof_load_files(o.db, o.arena, &files, &err), &err);
    const prof_file *file = prof_find_file(&files, kernels.rows[0].file);
    assert_string_equal(file->path, WL_SOURCE_DIR "/tests/profile/site_probe.c");
    assert_true(file->has_text);
    story_expect(prof_load_source(o.db, file->id, o.arena, &text, &length, &err), &err);
    assert_int_equal(length, file->bytes);
    assert_non_null(strstr(text, "int main(int argc, char **argv)"));
    done(&o, "relative.wlprof");
}

/* ---- the same content ---- */

static int64_t moved; /* how far the second run's addresses and times lie off */

static void tell_moved(prof_builder *builder)
{
    const cap_record story[] = {story_process("/src/app"), story_device(), story_module(1)};
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof story / sizeof *story; i++) {
        cap_record r = story[i];
        if (r.type == CAP_PROCESS) {
            r.process.pid += (uint32_t)moved;
            r.process.start_ns += moved;
            r.process.options = moved ? "--threads 2" : "";
        }
        story_expect(prof_add(builder, &r, &err), &err);
    }
    cap_record call = story_call(1, "cudaMalloc", CAP_CALL_ALLOC), end = story_end();
    call.call.start_ns += moved;
    call.call.stream = 0x5000 + (uint64_t)moved;
    cap_record object = story_object(1, 1, 0x7f0000000000 + (uint64_t)moved, 4096);
    cap_record launch = story_launch(1, 2, object.object.base);
    launch.launch.host_seconds += 0.001 * (double)moved;
    story_expect(prof_add(builder, &call, &err), &err);
    story_expect(prof_add(builder, &object, &err), &err);
    story_expect(prof_add(builder, &launch, &err), &err);
    story_expect(prof_add(builder, &end, &err), &err);
}

static uint64_t hash_of(void)
{
    opened o = make("hash.wlprof", tell_moved);
    uint64_t hash = content_hash(story_path("hash.wlprof"));
    done(&o, "hash.wlprof");
    return hash;
}

static void tell_shorter(prof_builder *builder)
{
    cap_record process = story_process("/src/app"), end = story_end();
    story_expect(prof_begin_process(builder, &err), &err);
    story_expect(prof_add(builder, &process, &err), &err);
    story_expect(prof_add(builder, &end, &err), &err);
}

static void content_does_not_depend_on_the_run(void **state)
{
    (void)state;
    moved = 0;
    uint64_t first = hash_of(), other;
    moved = 0x40000;
    assert_true(first == hash_of());
    opened o = make("hash.wlprof", tell_shorter);
    other = content_hash(story_path("hash.wlprof"));
    assert_true(first != other);
    done(&o, "hash.wlprof");
}

/* ---- files ---- */

static void never_overwrites(void **state)
{
    (void)state;
    const char *path = story_path("there.wlprof");
    prof_builder *builder;
    unlink(path);
    test_write_text(path, "mine");
    assert_int_equal(prof_create(path, NULL, &builder, &err), WL_EXISTS);
    assert_null(builder);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 4);
    unlink(path);
    /* One that comes while the import runs is not replaced, either, and nothing else is left. */
    story_expect(prof_create(path, NULL, &builder, &err), &err);
    test_write_text(path, "mine");
    story_all(builder);
    assert_int_equal(prof_finish(builder, &err), WL_EXISTS);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 4);
    unlink(path);
}

static uint32_t files_beside(const char *start)
{
    char command[4400], text[32] = "";
    snprintf(command, sizeof command, "ls -d %s* 2>/dev/null | wc -l", start);
    FILE *pipe = popen(command, "r");
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    return (uint32_t)atoi(text);
}

/* What a run that was ended has left. */
static void remove_beside(const char *start)
{
    char command[4400];
    snprintf(command, sizeof command, "rm -f %s*", start);
    assert_int_equal(system(command), 0);
}

static void discarded_leaves_nothing(void **state)
{
    (void)state;
    prof_builder *builder;
    remove_beside(story_path("half.wlprof"));
    story_expect(prof_create(story_path("half.wlprof"), NULL, &builder, &err), &err);
    assert_int_equal(files_beside(story_path("half.wlprof")), 1); /* the unnamed half */
    story_all(builder);
    prof_discard(builder);
    assert_int_equal(files_beside(story_path("half.wlprof")), 0);
}

static void full_disk(void **state)
{
    (void)state;
    struct stat st;
    if (stat("/dev/full", &st) != 0)
        skip();
    prof_builder *builder;
    prof_options options = {.force = true};
    remove_beside(story_path("full.wlprof"));
    assert_int_not_equal(prof_create("/dev/full/x.wlprof", &options, &builder, &err), WL_OK);
    /* A limit on file sizes fails writes as a full disk does. */
    story_expect(prof_create(story_path("full.wlprof"), &options, &builder, &err), &err);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){8192, old.rlim_max};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    story_all(builder);
    wl_status status = prof_finish(builder, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, before);
    assert_true(status == WL_NOSPACE || status == WL_IO);
    assert_true(strlen(err.text) > 10);
    assert_int_equal(files_beside(story_path("full.wlprof")), 0);
}

static bool stop_at_once(void)
{
    return true;
}

static void copies(void **state)
{
    (void)state;
    opened o = make("from.wlprof", story_all);
    char to[4096];
    uint64_t a, b;
    snprintf(to, sizeof to, "%s", story_path("to.wlprof"));
    remove_beside(to);
    assert_int_equal(prof_copy(o.db, to, false, stop_at_once, &err), WL_STATE);
    assert_int_equal(files_beside(to), 0);
    story_expect(prof_copy(o.db, to, false, NULL, &err), &err);
    assert_int_equal(prof_copy(o.db, to, false, NULL, &err), WL_EXISTS);
    story_expect(prof_copy(o.db, to, true, NULL, &err), &err);
    prof_db *copy;
    story_expect(prof_open(to, &copy, &err), &err);
    a = content_hash(story_path("from.wlprof"));
    b = content_hash(to);
    assert_true(a == b);
    prof_close(copy);
    unlink(to);
    done(&o, "from.wlprof");
}

/* ---- files from elsewhere ---- */

static wl_status try_open(const char *path)
{
    prof_db *db;
    wl_status status = prof_open(path, &db, &err);
    if (status == WL_OK)
        prof_close(db);
    else
        assert_null(db);
    return status;
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    char *text = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s", text);
    sqlite3_close(db);
}

static void changed(const char *name, const char *sql)
{
    opened o = make(name, story_all);
    prof_close(o.db);
    wl_arena_free(o.arena);
    change(story_path(name), sql);
}

static void strangers_are_refused(void **state)
{
    (void)state;
    const char *path = story_path("strange.wlprof");
    assert_int_equal(try_open("/nowhere/x"), WL_NOENT);
    assert_int_equal(try_open("/tmp"), WL_ARG);
    test_write_text(path,
                    "no profile at all, but long enough for a header of SQLite's, which has a "
                    "hundred bytes of its own: here.");
    assert_int_equal(try_open(path), WL_CORRUPT);
    test_write_text(path, "WLCAPTUR........");
    assert_int_equal(try_open(path), WL_CORRUPT);
    assert_non_null(strstr(err.text, "import"));
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(try_open(path), WL_CORRUPT);
    changed("strange.wlprof", "PRAGMA user_version = 99");
    assert_int_equal(try_open(path), WL_VERSION);
    changed("strange.wlprof", "PRAGMA application_id = 1");
    assert_int_equal(try_open(path), WL_CORRUPT);
    /* A view under a table's name would run what the file says. */
    changed("strange.wlprof",
            "DROP TABLE skips; CREATE VIEW skips AS SELECT 1 AS id, 1 AS process, 'k' AS kernel, "
            "'r' AS reason, 1 AS count");
    assert_int_equal(try_open(path), WL_CORRUPT);
    changed(
        "strange.wlprof",
        "DROP TABLE skips; CREATE TABLE skips (id INTEGER PRIMARY KEY, process, kernel, reason, "
        "count AS (length(zeroblob(1000000))))");
    assert_int_equal(try_open(path), WL_VERSION);
    unlink(path);
}

typedef wl_status loader(prof_db *db, wl_arena *arena);

static wl_status load_launches(prof_db *db, wl_arena *arena)
{
    prof_launch_rows rows;
    return prof_load_launches(db, PROF_ALL, arena, &rows, &err);
}

static wl_status load_first_heat(prof_db *db, wl_arena *arena)
{
    prof_heat heat;
    return prof_load_heat(db, 1, arena, &heat, &err);
}

static wl_status load_insns(prof_db *db, wl_arena *arena)
{
    prof_instruction_rows rows;
    return prof_load_instructions(db, PROF_ALL, PROF_ALL, arena, &rows, &err);
}

static void damage_is_told(void **state)
{
    (void)state;
    const struct {
        const char *sql;
        loader *load;
    } cases[] = {
        {"UPDATE launch_kinds SET grid_x = -1", load_launches},
        {"UPDATE launch_kinds SET grid_x = 'many'", load_launches},
        {"UPDATE launch_kinds SET registers = 1 << 40", load_launches},
        {"UPDATE launch_kinds SET count = 0", load_launches},
        {"UPDATE launch_kinds SET timed = count + 1", load_launches},
        {"UPDATE launch_times SET kind = 99", load_launches},
        {"UPDATE launch_times SET number = -1", load_launches},
        {"DELETE FROM launch_kinds", load_launches},
        {"UPDATE mix SET class = 99", load_launches},
        {"UPDATE instructions SET space = 17", load_insns},
        {"UPDATE contents SET nrows = 1000000000", load_first_heat},
        {"UPDATE contents SET nrows = 1", load_first_heat},
        {"UPDATE contents SET data = x'00'", load_first_heat},
        {"UPDATE contents SET data = 'text'", load_first_heat},
        {"UPDATE contents SET npcsets = 0, npcs = 3", load_first_heat},
        {"DELETE FROM contents", load_first_heat},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        prof_db *db;
        wl_arena *arena = wl_arena_new();
        changed("damaged.wlprof", cases[i].sql);
        story_expect(prof_open(story_path("damaged.wlprof"), &db, &err), &err);
        wl_status status = cases[i].load(db, arena);
        if (status != WL_CORRUPT && status != WL_NOENT)
            fail_msg("%s: %s", cases[i].sql, wl_status_text(status));
        prof_close(db);
        wl_arena_free(arena);
    }
    unlink(story_path("damaged.wlprof"));
}

/* What is read without being kept is looked at all the same. */
static void rows_are_read(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "UPDATE launch_kinds SET grid_x = -1", "UPDATE launch_times SET number = -1",
        "UPDATE calls SET stream = 'x'",       "UPDATE mix SET class = 99",
        "UPDATE blocks SET ninsns = -1",       "UPDATE instructions SET space = 99",
        "UPDATE heats SET block = 'x'",        "UPDATE contents SET nrows = -1",
        "UPDATE samples SET why = -1",
    };
    for (size_t i = 0; i <= sizeof damaged / sizeof *damaged; i++) {
        bool whole = i == sizeof damaged / sizeof *damaged;
        prof_db *db;
        changed("read.wlprof", whole ? "SELECT 1" : damaged[i]);
        story_expect(prof_open(story_path("read.wlprof"), &db, &err), &err);
        wl_status status = prof_read_launches(db, &err);
        if (status != (whole ? WL_OK : WL_CORRUPT))
            fail_msg("%s: %s", whole ? "as it is" : damaged[i], wl_status_text(status));
        uint64_t kinds = 0, rows = 0;
        prof_launch_rows all;
        wl_arena *arena = wl_arena_new();
        story_expect(prof_count_kinds(db, &kinds, &err), &err);
        if (whole) {
            story_expect(prof_load_launch_kinds(db, PROF_ALL, arena, &all, &err), &err);
            rows = all.count;
        }
        assert_true(kinds > 0 && (!whole || kinds == rows));
        wl_arena_free(arena);
        prof_close(db);
    }
    unlink(story_path("read.wlprof"));
}

static void text_is_always_utf8(void **state)
{
    (void)state;
    changed("utf8.wlprof", "UPDATE kernels SET name = CAST(x'61ff62c3' AS TEXT)");
    prof_db *db;
    prof_kernel_rows kernels;
    wl_arena *arena = wl_arena_new();
    story_expect(prof_open(story_path("utf8.wlprof"), &db, &err), &err);
    story_expect(prof_load_kernels(db, arena, &kernels, &err), &err);
    assert_string_equal(kernels.rows[0].name, "a?b?");
    prof_close(db);
    wl_arena_free(arena);
    unlink(story_path("utf8.wlprof"));
}

/* ---- captures that do not hold together ---- */

static void nonsense_is_refused(void **state)
{
    (void)state;
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("nonsense.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    cap_record r = story_end();
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT); /* the process comes first */
    r = story_process("/src/app");
    story_expect(prof_add(builder, &r, &err), &err);
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT);
    r = story_free(7, 1);
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT);
    r = story_launch(1, 1, 0x7f0000000000);
    r.launch.summary.insns[0].space = 9;
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT);
    r = story_launch(1, 1, 0x7f0000000000);
    r.launch.summary.insns[2].object = 2;
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT);
    r = story_launch(1, 1, 0x7f0000000000);
    r.launch.summary.heats[0].rows[0].pcset = 1;
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT);
    r = story_launch(1, 1, 0x7f0000000000);
    r.launch.summary.heats[0].rows[1].sector = 0;
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT);
    prof_discard(builder);
}

static void tell_cut_off(prof_builder *builder)
{
    cap_record process = story_process("/src/app"), module = story_module(1),
               call = story_call(1, "cudaMalloc", 0);
    cap_record object = story_object(1, 1, 0x7f0000000000, 4096),
               launch = story_launch(1, 2, 0x7f0000000000);
    const cap_record *all[] = {&process, &module, &call, &object, &launch};
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        story_expect(prof_add(builder, all[i], &err), &err);
}

static void cut_off_is_noted(void **state)
{
    (void)state;
    opened o = make("cut.wlprof", tell_cut_off);
    prof_process_rows processes;
    prof_launch_rows launches;
    prof_coverage coverage;
    story_expect(prof_load_processes(o.db, o.arena, &processes, &err), &err);
    assert_non_null(processes.rows[0].cut_off);
    assert_int_equal(processes.rows[0].end_ns, -1);
    story_expect(prof_load_launches(o.db, PROF_ALL, o.arena, &launches, &err), &err);
    assert_int_equal(launches.count, 1);
    story_expect(prof_load_coverage(o.db, o.arena, &coverage, &err), &err);
    assert_int_equal(coverage.processes_cut_off, 1);
    done(&o, "cut.wlprof");
}

/* A map that no column has room for keeps its first rows. */
static void large_heats_are_cut(void **state)
{
    (void)state;
    uint32_t pcs[] = {1, 2, 3};
    obs_pcset sets[] = {{1, pcs}, {2, pcs + 1}};
    obs_heat_row rows[10] = {{0}};
    obs_heat heat = {.nrows = 10, .rows = rows, .npcsets = 2, .pcsets = sets};
    blob packed = {0};
    assert_int_equal(blob_pack_heat(&heat, 0, &packed), WL_OK);
    assert_int_equal(blob_heat_rows(&heat, packed.size), 10);
    assert_int_equal(blob_heat_rows(&heat, packed.size - 1), 9);
    heat.nrows = 4;
    assert_int_equal(blob_heat_rows(&heat, packed.size - 1), 4);
    heat.nrows = 0;
    assert_int_equal(blob_pack_heat(&heat, 0, &packed), WL_OK);
    heat.nrows = 10;
    assert_int_equal(blob_heat_rows(&heat, packed.size), 0);
    assert_int_equal(blob_heat_rows(&heat, 1), 0);
    blob_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_heats_are_cut),
        cmocka_unit_test(rows_come_back),
        cmocka_unit_test(code_has_lines),
        cmocka_unit_test(heat_maps_come_back),
        cmocka_unit_test(uses_come_back),
        cmocka_unit_test(samples_come_back),
        cmocka_unit_test(objects_and_calls),
        cmocka_unit_test(relative_sources),
        cmocka_unit_test(content_does_not_depend_on_the_run),
        cmocka_unit_test(never_overwrites),
        cmocka_unit_test(discarded_leaves_nothing),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(copies),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(text_is_always_utf8),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(cut_off_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
