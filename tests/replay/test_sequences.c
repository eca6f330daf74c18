/* A kernel whose steps were worked out by hand: emulated and as a slice on memory that is not
 * there, through a capture and the import, and read from the profile. */
#include "../emu/fixture.h"
#include "../profile/story.h"
#include "base/steps.h"
#include "emu/slice.h"
#include "profile/blob.h"
#include "replay/compare.h"
#include "replay/facts.h"
#include "replay/watch.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 64, BYTES = 8192, X = 1, Y = 2 };

/* Two trips over x, 256 bytes apart; then the odd lanes of block 0 store 256 bytes further in y
 * than all others do. */
static const char text[] = HEADER
    ".visible .entry k(.param .u64 x, .param .u64 y)\n{\n"
    ".reg .b64 %rd<5>; .reg .b32 %r<5>; .reg .f32 %f<2>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [x];\n"
    "ld.param.u64 %rd2, [y];\n"
    "mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd3;\n"
    "add.s64 %rd2, %rd2, %rd3;\n"
    "mov.u32 %r2, 0;\n"
    "trip:\n"
    "ld.global.f32 %f1, [%rd1];\n" /* pc 7 */
    "add.s64 %rd1, %rd1, 256;\n"
    "add.s32 %r2, %r2, 1;\n"
    "setp.lt.s32 %p, %r2, 2;\n"
    "@%p bra trip;\n"
    "and.b32 %r3, %r1, 1;\n"
    "mov.u32 %r4, %ctaid.x;\n"
    "setp.gt.u32 %p, %r3, %r4;\n"
    "@%p bra odd;\n"
    "st.global.f32 [%rd2], %f1;\n" /* pc 16 */
    "bra done;\n"
    "odd:\n"
    "st.global.f32 [%rd2+256], %f1;\n" /* pc 18 */
    "done:\n"
    "ret;\n}\n"
    /* Block b loads from x as often as b modulo 23 says, b * b modulo 61 words on each time. */
    ".visible .entry many(.param .u64 x, .param .u64 y)\n{\n"
    ".reg .b64 %rd<5>; .reg .b32 %r<6>; .reg .f32 %f<2>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [x];\n"
    "mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd3;\n"
    "mov.u32 %r4, %ctaid.x;\n"
    "rem.u32 %r2, %r4, 23;\n"
    "mul.lo.u32 %r3, %r4, %r4;\n"
    "rem.u32 %r3, %r3, 61;\n"
    "mul.wide.u32 %rd4, %r3, 4;\n"
    "trip:\n"
    "ld.global.f32 %f1, [%rd1];\n"
    "add.s64 %rd1, %rd1, %rd4;\n"
    "sub.u32 %r2, %r2, 1;\n"
    "setp.gt.s32 %p, %r2, 0;\n"
    "@%p bra trip;\n"
    "ret;\n}\n";

typedef struct expected_step {
    uint32_t pc, mask, slot;
    int64_t first; /* of the first active lane; the others lie 4 bytes from lane to lane */
} expected_step;

typedef struct expected {
    const expected_step *parted, *together; /* of block 0, and of block 1 */
    uint32_t nparted, ntogether;
} expected;

/* Of the two sides the one that is branched to runs first (src/emu/order.c): the odd lanes' begin
 * in y is what the even ones' is relative to. */
static const expected_step parted[] = {{7, UINT32_MAX, 0, 0},
                                       {7, UINT32_MAX, 0, 256},
                                       {18, 0xaaaaaaaa, 1, 0},
                                       {16, 0x55555555, 1, -260}};
static const expected_step together[] = {
    {7, UINT32_MAX, 0, 0}, {7, UINT32_MAX, 0, 256}, {16, UINT32_MAX, 1, 0}};

static const expected of_sampled = {parted, together, 4, 3};

/* Where all blocks are kept, the basic blocks that lanes begin are among the steps. */
#define ENTRY(pc, mask) {pc, mask, WL_STEP_ENTRY, 0}
static const expected_step parted_path[] = {
    ENTRY(0, UINT32_MAX),      ENTRY(7, UINT32_MAX),    {7, UINT32_MAX, 0, 0},
    ENTRY(7, UINT32_MAX),      {7, UINT32_MAX, 0, 256}, ENTRY(12, UINT32_MAX),
    ENTRY(18, 0xaaaaaaaa),     {18, 0xaaaaaaaa, 1, 0},  ENTRY(16, 0x55555555),
    {16, 0x55555555, 1, -260}, ENTRY(19, UINT32_MAX)};
static const expected_step together_path[] = {
    ENTRY(0, UINT32_MAX),  ENTRY(7, UINT32_MAX),    {7, UINT32_MAX, 0, 0},
    ENTRY(7, UINT32_MAX),  {7, UINT32_MAX, 0, 256}, ENTRY(12, UINT32_MAX),
    ENTRY(16, UINT32_MAX), {16, UINT32_MAX, 1, 0},  ENTRY(19, UINT32_MAX)};
static const expected of_all = {parted_path, together_path, 11, 9};

/* ---- running it ---- */

typedef struct run {
    wl_arena *arena;
    fixture f;
    uint64_t params[2];
    replay_facts facts;
    emu_kernel *whole, *slice;
} run;

static void begin_run(run *r)
{
    wl_error err;
    r->arena = wl_arena_new();
    fixture_begin(&r->f, text);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(emu_mem_alloc(r->f.machine, BYTES, 256, EMU_ALLOC_DEVICE, X + i,
                                       &r->params[i]),
                         WL_OK);
    r->whole = fixture_kernel(&r->f, "k");
    assert_int_equal(replay_facts_of(r->f.ptx, emu_kernel_get(r->whole)->func, NULL, r->arena,
                                     &r->facts),
                     WL_OK);
    assert_int_equal(emu_module_slice(r->f.module, "k", &r->facts.proof, &r->slice, &err), WL_OK);
}

static void end_run(run *r)
{
    fixture_end(&r->f);
    wl_arena_free(r->arena);
}

static void watch_run(run *r, emu_kernel *kernel, uint32_t threads, bool all, bool incomplete,
                      replay_watch *watch, obs_summary *out)
{
    emu_result result = {0};
    wl_error err;
    replay_settings settings = {.threads = threads,
                                .blocks = {.automatic = true, .all = true},
                                .sequence_limit = 1 << 20,
                                .all_warps = all};
    emu_launch launch = {
        .grid = {2, 1, 1}, .block = {THREADS, 1, 1}, .params = r->params, .threads = threads};
    replay_watched what = {.settings = &settings,
                           .machine = r->f.machine,
                           .kernel = kernel,
                           .grid = launch.grid,
                           .block = launch.block,
                           .incomplete = incomplete};
    const flow_proof *proof = kernel == r->slice ? &r->facts.proof : NULL;
    assert_int_equal(replay_watch_begin(&what, proof, watch), WL_OK);
    launch.observer = &watch->observer;
    assert_int_equal(emu_run(r->f.machine, kernel, &launch, &result, &err), WL_OK);
    assert_int_equal(replay_watch_finish(watch, &result, out), WL_OK);
    emu_result_clear(&result);
}

/* ---- the profile ---- */

/* Launch 1 of a process that has both objects. */
static void import_summary(const run *r, const obs_summary *summary, const char *capture,
                           const char *profile)
{
    cap_writer *w;
    wl_error err;
    cap_record process = story_process("/src/app"), module = story_module(1),
               launch = story_launch(1, 0, r->params[0]);
    unlink(capture);
    module.module.code = text;
    module.module.length = sizeof text - 1;
    launch.launch.kernel = "k";
    launch.launch.summary = *summary;
    story_expect(cap_create(capture, &w, &err), &err);
    assert_int_equal(cap_write_process(w, &process.process), WL_OK);
    assert_int_equal(cap_write_module(w, &module.module), WL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const cap_record object = story_object(X + i, 0, r->params[i], BYTES);
        assert_int_equal(cap_write_object(w, &object.object), WL_OK);
    }
    assert_int_equal(cap_write_observed(w, &launch.launch), WL_OK);
    cap_close(w);
    prof_options options = {.force = true};
    story_expect(prof_import(&capture, 1, profile, &options, &err), &err);
}

static sqlite3_stmt *query(sqlite3 *sql, const char *text_of, uint64_t of)
{
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(sql, text_of, -1, &stmt, NULL), SQLITE_OK);
    sqlite3_bind_int64(stmt, 1, (int64_t)of);
    return stmt;
}

/* The one page that the query gives, from columns 0 to 2. */
static wl_folded only_page(sqlite3 *sql, const char *text_of, uint64_t of, wl_arena *arena)
{
    sqlite3_stmt *stmt = query(sql, text_of, of);
    unsigned char *data;
    blob_unpacker *unpacker = NULL;
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    uint64_t bytes = (uint64_t)sqlite3_column_int64(stmt, 0);
    assert_int_equal(blob_decompress(&unpacker, sqlite3_column_blob(stmt, 1),
                                     (size_t)sqlite3_column_bytes(stmt, 1), bytes, arena, &data),
                     WL_OK);
    blob_unpacker_free(unpacker);
    const wl_folded page = {data, (size_t)bytes, (uint32_t)sqlite3_column_int(stmt, 2), 2};
    assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
    return page;
}

static void expect_steps(sqlite3 *sql, uint64_t sequence, const expected_step *want, uint32_t n,
                         wl_arena *arena)
{
    wl_step s;
    const wl_folded page = only_page(
        sql, "SELECT bytes, data, nsteps FROM sequence_pages WHERE sequence = ?", sequence, arena);
    wl_unfolding steps = {.pages = &page, .npages = 1};
    for (uint32_t i = 0; i < n; i++) {
        assert_true(wl_unfolding_step(&steps, &s));
        assert_true(s.pc == want[i].pc && s.mask == want[i].mask && s.slot == want[i].slot);
        for (uint32_t lane = 0; lane < 32; lane++)
            if (wl_step_accesses(&s) && s.mask >> lane & 1)
                assert_int_equal(s.offset[lane],
                                 want[i].first + 4 * (lane - __builtin_ctz(s.mask)));
    }
    assert_false(wl_unfolding_step(&steps, &s) || steps.failed);
    wl_unfolding_free(&steps);
}

/* Warps 0 and 1 of the block; the first access of warp 0 to y is at byte `y`. */
static void expect_group(sqlite3 *sql, uint64_t group, uint64_t block, int64_t y, wl_arena *arena)
{
    wl_warp w;
    const wl_folded bytes = only_page(sql,
                                      "SELECT bytes, data, nwarps FROM warp_pages WHERE warps = ?",
                                      group, arena);
    wl_page_reader page = wl_page_read(bytes.data, bytes.size, bytes.nslots);
    for (uint32_t warp = 0; warp < 2; warp++) {
        assert_true(wl_page_warp(&page, &w));
        assert_true(w.block == block && w.number == warp);
        assert_true(w.begin[0] == 128 * warp && w.begin[1] == y + 128 * warp);
    }
    assert_false(wl_page_warp(&page, &w));
    assert_false(page.damaged);
}

static uint64_t number(sqlite3 *sql, const char *text_of)
{
    sqlite3_stmt *stmt = query(sql, text_of, 0);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    uint64_t value = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static void expect_profile(const char *profile, const expected *want, wl_arena *arena)
{
    sqlite3 *sql;
    assert_int_equal(sqlite3_open_v2(profile, &sql, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(number(sql, "SELECT count(*) FROM sequences"), 2);
    assert_int_equal(number(sql, "SELECT count(*) FROM warp_groups"), 2);
    assert_int_equal(number(sql, "SELECT warps_dropped FROM launches"), 0);
    assert_int_equal(number(sql, "SELECT count(*) FROM warp_objects w JOIN objects o ON "
                                 "o.id = w.object WHERE w.space = 0"),
                     4);
    expect_steps(sql, 1, want->parted, want->nparted, arena);
    expect_steps(sql, 2, want->together, want->ntogether, arena);
    expect_group(sql, 1, 0, 260, arena);
    expect_group(sql, 2, 1, 0, arena);
    sqlite3_close(sql);
}

/* ---- tests ---- */

static void steps_are_as_by_hand(void **state)
{
    (void)state;
    run r;
    replay_watch watch;
    obs_summary summary;
    char capture[4096], profile[4096];
    snprintf(capture, sizeof capture, "%s", story_path("by-hand.wlcap"));
    snprintf(profile, sizeof profile, "%s", story_path("by-hand.wlprof"));
    begin_run(&r);
    assert_true(r.facts.whole);
    for (uint32_t way = 0; way < 8; way++) { /* whole or slice, on one thread or two */
        bool all = way & 4;
        watch_run(&r, way & 1 ? r.slice : r.whole, way & 2 ? 2 : 1, all, false, &watch, &summary);
        import_summary(&r, &summary, capture, profile);
        expect_profile(profile, all ? &of_all : &of_sampled, r.arena);
        replay_watch_end(&watch);
    }
    unlink(capture);
    unlink(profile);
    end_run(&r);
}

/* ---- threads ---- */

enum { MANY = 400 };

static void watch_many(run *r, uint32_t threads, uint64_t limit, replay_watch *watch,
                       obs_summary *out)
{
    emu_result result = {0};
    wl_error err;
    replay_settings settings = {.threads = threads,
                                .blocks = {.automatic = true},
                                .sequence_limit = limit,
                                .all_warps = true};
    emu_launch launch = {
        .grid = {MANY, 1, 1}, .block = {THREADS, 1, 1}, .params = r->params, .threads = threads};
    replay_watched what = {.settings = &settings,
                           .machine = r->f.machine,
                           .kernel = fixture_kernel(&r->f, "many"),
                           .grid = launch.grid,
                           .block = launch.block};
    assert_int_equal(replay_watch_begin(&what, NULL, watch), WL_OK);
    launch.observer = &watch->observer;
    assert_int_equal(emu_run(r->f.machine, what.kernel, &launch, &result, &err), WL_OK);
    assert_int_equal(replay_watch_finish(watch, &result, out), WL_OK);
    emu_result_clear(&result);
}

static void expect_same_pages(const obs_page *a, uint32_t na, const obs_page *b, uint32_t nb)
{
    assert_int_equal(na, nb);
    for (uint32_t i = 0; i < na; i++) {
        assert_true(a[i].count == b[i].count && a[i].length == b[i].length);
        assert_memory_equal(a[i].data, b[i].data, a[i].length);
    }
}

static void expect_same_warps(const obs_summary *a, const obs_summary *b)
{
    assert_int_equal(a->nsequences, b->nsequences);
    assert_int_equal(a->nwarps, b->nwarps);
    assert_int_equal(a->warps_dropped, b->warps_dropped);
    for (uint32_t i = 0; i < a->nsequences; i++)
        expect_same_pages(a->sequences[i].pages, a->sequences[i].npages, b->sequences[i].pages,
                          b->sequences[i].npages);
    for (uint32_t i = 0; i < a->nwarps; i++) {
        assert_int_equal(a->warps[i].sequence, b->warps[i].sequence);
        expect_same_pages(a->warps[i].pages, a->warps[i].npages, b->warps[i].pages,
                          b->warps[i].npages);
    }
}

/* The same bytes on any number of threads, whether there is room for all warps or not. */
static void threads_make_no_difference(void **state)
{
    (void)state;
    run r;
    uint64_t dropped = 2 * MANY;
    begin_run(&r);
    for (uint64_t limit = 4 << 10; limit <= 1 << 20; limit *= 4) {
        replay_watch first, other;
        obs_summary one, several;
        watch_many(&r, 1, limit, &first, &one);
        assert_true(one.warps_dropped < dropped);
        dropped = one.warps_dropped;
        for (uint32_t threads = 2; threads <= 8; threads *= 2) {
            watch_many(&r, threads, limit, &other, &several);
            expect_same_warps(&one, &several);
            replay_watch_end(&other);
        }
        replay_watch_end(&first);
        if (!dropped)
            break;
    }
    assert_int_equal(dropped, 0);
    end_run(&r);
}

/* Where not all accesses are shown there is no sequence, rather than a part of one. */
static void parts_have_none(void **state)
{
    (void)state;
    run r;
    replay_watch watch;
    obs_summary summary;
    begin_run(&r);
    watch_run(&r, r.slice, 1, true, true, &watch, &summary);
    assert_true(summary.nheats > 0 && summary.nwarps == 0 && summary.warps_dropped == 0);
    replay_watch_end(&watch);
    end_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_as_by_hand),
                                       cmocka_unit_test(threads_make_no_difference),
                                       cmocka_unit_test(parts_have_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
