/* Kernels as lists of accesses: observed, put into a profile, searched for findings. */
#include "sim.h"
#include "support/drive.h"
#include "support/test.h"

#include "analysis/find.h"

#include "base/vec.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_ok(wl_status status, const wl_error *err)
{
    if (status != WL_OK)
        fail_msg("%s: %s", wl_status_text(status), err->text);
}

void sim_begin(sim *s, uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by)
{
    *s = (sim){.grid = {gx, gy, 1}, .block = {bx, by, 1}, .next = 0x7f0000000000, .nsampled = 1};
    s->arena = wl_arena_new();
    assert_non_null(s->arena);
}

void sim_end(sim *s)
{
    wl_vec_free(&s->log);
    wl_arena_free(s->arena);
}

static uint32_t add_object(sim *s, const char *name, uint64_t base, uint64_t bytes, bool shared)
{
    assert_true(s->nobjects + 1 < SIM_MAX_OBJECTS);
    s->objects[++s->nobjects] = (sim_object){name, base, bytes, shared, false};
    return s->nobjects;
}

uint32_t sim_alloc(sim *s, const char *name, uint64_t bytes, uint32_t skew)
{
    uint64_t base = s->next + skew;
    s->next += (bytes + skew + 511) / 256 * 256;
    return add_object(s, name, base, bytes, false);
}

uint32_t sim_shared(sim *s, const char *name, uint64_t bytes)
{
    uint64_t offset = 0;
    for (uint32_t i = 1; i <= s->nobjects; i++)
        offset += s->objects[i].shared ? (s->objects[i].bytes + 15) / 16 * 16 : 0;
    s->nshared++;
    return add_object(s, name, offset, bytes, true);
}

uint32_t sim_local(sim *s, uint64_t bytes)
{
    uint32_t object = add_object(s, "local", 0, bytes, false);
    s->objects[object].local = true;
    return object;
}

static void access_warp(sim *s, sim_request *r, uint64_t block, uint32_t warp, sim_offset *offset,
                        const void *args)
{
    uint32_t threads = s->block[0] * s->block[1];
    sim_thread t = {.linear_block = block};
    t.block[0] = (uint32_t)(block % s->grid[0]);
    t.block[1] = (uint32_t)(block / s->grid[0]);
    r->mask = 0;
    r->block = block;
    r->warp = warp;
    for (uint32_t lane = 0; lane < 32; lane++) {
        t.index = warp * 32 + lane;
        t.thread[0] = t.index % s->block[0];
        t.thread[1] = t.index / s->block[0];
        int64_t at = t.index < threads ? offset(&t, args) : -1;
        if (at >= 0) {
            assert_true((uint64_t)at + r->bytes <= s->objects[r->object].bytes);
            r->mask |= 1u << lane;
            r->addr[lane] = s->objects[r->object].base + (uint64_t)at;
        }
    }
    if (r->mask)
        assert_true(wl_push(&s->log, *r));
}

void sim_access(sim *s, uint32_t pc, acc_op op, uint32_t object, uint32_t bytes, sim_offset *offset,
                const void *args)
{
    sim_request r = {
        .pc = pc, .object = object, .bytes = bytes, .flags = s->flags, .op = (uint8_t)op};
    r.space = s->objects[object].shared  ? ACC_SHARED
              : s->objects[object].local ? ACC_LOCAL
                                         : ACC_GLOBAL;
    for (uint64_t block = 0; block < (uint64_t)s->grid[0] * s->grid[1]; block++)
        for (uint32_t warp = 0; warp < sim_warps(s); warp++)
            access_warp(s, &r, block, warp, offset, args);
}

/* ---- to a summary ---- */

static uint32_t shared_index(const sim *s, uint32_t object)
{
    uint32_t index = 0;
    for (uint32_t i = 1; i <= object; i++)
        index += s->objects[i].shared;
    return index;
}

static void observe_block(const sim *s, const drive *worker, uint64_t block)
{
    obs_block *b = drive_block(worker, block);
    assert_non_null(b);
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        if (r->block == block) {
            acc_request a = {
                .pc = r->pc, .op = r->op, .space = r->space, .bytes = r->bytes, .mask = r->mask};
            a.warp = r->warp;
            a.flags = r->flags;
            a.addr = r->addr;
            a.stride = ACC_IRREGULAR;
            a.object = r->space == ACC_SHARED  ? shared_index(s, r->object)
                       : r->space == ACC_LOCAL ? 0
                                               : r->object;
            obs_record(b, &a);
        }
    }
    drive_end(worker, b, 0);
}

static uint32_t object_at(void *ctx, uint64_t address)
{
    const sim *s = ctx;
    for (uint32_t i = 1; i <= s->nobjects; i++) {
        const sim_object *o = &s->objects[i];
        if (!o->shared && !o->local && address >= o->base && address < o->base + o->bytes)
            return i;
    }
    return 0;
}

static int by_block(const void *a, const void *b)
{
    const sim_request *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static obs_summary summarize(sim *s)
{
    obs_shared *shared = wl_new_array(s->arena, obs_shared, s->nshared + 1);
    shared[0] = (obs_shared){.name = "", .offset = 0, .bytes = 64 << 10};
    for (uint32_t i = 1, n = 0; i <= s->nobjects; i++) {
        if (s->objects[i].shared) {
            shared[++n] = (obs_shared){s->objects[i].name, (uint32_t)s->objects[i].base,
                                       (uint32_t)s->objects[i].bytes};
        }
    }
    obs_config config = {.ncode = SIM_MAX_PCS,
                         .grid = {s->grid[0], s->grid[1], 1},
                         .block = {s->block[0], s->block[1], 1},
                         .nshared = s->nshared + 1,
                         .shared = shared,
                         .nsampled = s->nsampled,
                         .sampled = s->sampled,
                         .object_at = object_at,
                         .object_ctx = s};
    obs_launch *launch;
    obs_summary summary;
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    uint64_t blocks = (uint64_t)s->grid[0] * s->grid[1];
    for (uint64_t block = 0; block < blocks; block++)
        observe_block(s, &worker, block);
    assert_int_equal(obs_finish(launch, s->arena, &summary), WL_OK);
    obs_launch_free(launch);
    summary.blocks_run = summary.blocks_observed = blocks;
    summary.blocks_sampled = s->nsampled;
    return summary;
}

/* ---- to a profile ---- */

static void add_record(prof_builder *builder, const cap_record *record)
{
    wl_error err = {0};
    expect_ok(prof_add(builder, record, &err), &err);
}

static void add_process(prof_builder *builder)
{
    cap_record r = {.type = CAP_PROCESS};
    r.process = (cap_process){
        .pid = 1, .executable = "/sim", .directory = "/", .host = "", .collector = "emulate"};
    r.process.version = r.process.options = "";
    add_record(builder, &r);
}

/* An object of the same name as an earlier one is made when that one is gone. */
static void free_namesake(const sim *s, prof_builder *builder, uint32_t object)
{
    for (uint32_t i = 1; i < object; i++) {
        if (!s->objects[i].shared && strcmp(s->objects[i].name, s->objects[object].name) == 0) {
            cap_record r = {.type = CAP_FREE};
            r.free = (cap_free){i, 0, CAP_FREED_CONTEXT};
            add_record(builder, &r);
        }
    }
}

static void add_objects(const sim *s, prof_builder *builder)
{
    for (uint32_t i = 1; i <= s->nobjects; i++) {
        const sim_object *o = &s->objects[i];
        cap_record r = {.type = CAP_OBJECT};
        r.object = (cap_object){.id = i,
                                .kind = CAP_OBJECT_SYMBOL,
                                .base = o->base,
                                .bytes = o->bytes,
                                .name = o->name};
        if (!o->shared && !o->local) {
            free_namesake(s, builder, i);
            add_record(builder, &r);
        }
    }
}

static void add_launches(sim *s, prof_builder *builder, uint32_t launches)
{
    cap_record r = {.type = CAP_LAUNCH};
    r.launch = (cap_launch){
        .kernel = "kernel", .fault = "", .host_seconds = -1, .device_seconds = -1};
    memcpy(r.launch.grid, s->grid, sizeof s->grid);
    memcpy(r.launch.block, s->block, sizeof s->block);
    r.launch.summary = summarize(s);
    for (uint32_t i = 1; i <= launches; i++) {
        r.launch.id = i;
        if (s->mapped && i > s->mapped) {
            r.launch.summary.nheats = r.launch.summary.nsamples = 0;
            r.launch.summary.blocks_sampled = 0;
        }
        add_record(builder, &r);
    }
}

/* What the code tells of addresses comes from no code here, but from the test. */
static void add_forms(const sim *s, const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (uint32_t pc = 0; pc < SIM_MAX_PCS; pc++) {
        if (s->forms[pc]) {
            char *insert = sqlite3_mprintf("INSERT INTO forms VALUES (1, %u, 0, 4, %Q, 1)", pc,
                                           s->forms[pc]);
            assert_int_equal(sqlite3_exec(db, insert, NULL, NULL, NULL), SQLITE_OK);
            sqlite3_free(insert);
        }
    }
    sqlite3_close(db);
}

static const detect_row all_detectors[] = {
#define X(name, scope) {ANA_SCOPE_##scope, ana_detect_##name},
#include "analysis/detectors.def"
#undef X
};

/* What a kernel's accesses show: a list of accesses says nothing about how a program allocates. */
static wl_status find_in_kernels(sim *s, prof_db *db, ana_findings *out, wl_error *err)
{
    detect_row rows[sizeof all_detectors / sizeof *all_detectors];
    size_t n = 0;
    ana_thresholds thresholds = ana_thresholds_default();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ana_scope scope = all_detectors[i].scope;
        if (scope == ANA_SCOPE_KERNEL || scope == ANA_SCOPE_KERNEL_AND_OBJECT)
            rows[n++] = all_detectors[i];
    }
    return find_with(rows, n, db, &thresholds, s->arena, out, err);
}

void sim_find(sim *s, uint32_t launches, ana_findings *out)
{
    char path[4096];
    wl_error err = {0};
    prof_builder *builder;
    prof_db *db;
    prof_options options = {.force = true};
    snprintf(path, sizeof path, WL_BINARY_DIR "/tests/sim-%d.wlprof", (int)getpid());
    if (s->log.count)
        qsort(s->log.data, s->log.count, sizeof *s->log.data, by_block);
    expect_ok(prof_create(path, &options, &builder, &err), &err);
    expect_ok(prof_begin_process(builder, &err), &err);
    add_process(builder);
    add_objects(s, builder);
    add_launches(s, builder, launches);
    cap_record end = {.type = CAP_END};
    add_record(builder, &end);
    expect_ok(prof_finish(builder, &err), &err);
    add_forms(s, path);
    expect_ok(prof_open(path, &db, &err), &err);
    expect_ok(find_in_kernels(s, db, out, &err), &err);
    /* The names of the profile's objects, in place of their ids. */
    prof_object_rows objects;
    expect_ok(prof_load_objects(db, s->arena, &objects, &err), &err);
    for (uint32_t i = 0; i < out->count; i++) {
        const prof_object *o = prof_find_object(&objects, out->rows[i].object);
        if (out->rows[i].scope == ANA_SCOPE_KERNEL)
            continue;
        assert_non_null(o);
        for (uint32_t k = 1; k <= s->nobjects; k++) {
            if (strcmp(o->variable, s->objects[k].name) == 0) {
                out->rows[i].object = k;
                break;
            }
        }
    }
    prof_close(db);
    unlink(path);
}

const char *sim_object_of(const sim *s, const ana_finding *f)
{
    return f->object ? s->objects[f->object].name : "";
}

const ana_finding *sim_finding(const sim *s, const ana_findings *all, const char *object,
                               ana_pattern pattern)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->rows[i].pattern == pattern && strcmp(sim_object_of(s, &all->rows[i]), object) == 0)
            return &all->rows[i];
    return NULL;
}

uint32_t sim_patterns(const sim *s, const ana_findings *all, const char *object)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        set |= strcmp(sim_object_of(s, &all->rows[i]), object) == 0 ? 1u << all->rows[i].pattern
                                                                    : 0;
    }
    return set;
}
