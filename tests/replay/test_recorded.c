/* What probes recorded, by way of a capture: what is known of each instruction; and where memory
 * runs out, there or in a proof, that is said. */
#include "../rewrite/probed.h"
#include "support/scarce.h"

#include "capture/capture.h"
#include "emu/slice.h"
#include "replay/facts.h"
#include "replay/recorded.h"

#include <stdlib.h>
#include <unistd.h>

enum { LANES = 32, NOTE = 1 };

/* Each thread goes where its element says, in an array and in a table; nobody stores to memory. */
static const char text[] = HEADER
    ".const .align 4 .u32 table[32];\n"
    ".visible .entry k(.param .u64 in)\n{\n.shared .align 4 .b8 tile[128];\n"
    ".reg .pred %p;\n.reg .b32 %r<8>;\n.reg .b64 %d<6>;\n"
    "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %d2, %r1, 4, %d1;\n"
    "ld.global.u32 %r2, [%d2];\nand.b32 %r2, %r2, 31;\nshl.b32 %r3, %r2, 2;\n"
    "mov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r3;\nst.shared.u32 [%r4], %r1;\n"
    "mov.u64 %d3, table;\ncvt.u64.u32 %d4, %r3;\nadd.s64 %d3, %d3, %d4;\n"
    "ld.const.u32 %r5, [%d3];\nsetp.gt.u32 %p, %r2, 40;\n@%p st.global.u32 [%d2], %r5;\nret;\n}\n";

typedef struct recording {
    probed p;
    left l;
    replay_facts facts;
    replay_recorded *recorded;
    cap_note note;
    replay_recorded_part part;
} recording;

static uint64_t constant_here(void *ctx, const char *name)
{
    uint64_t address = 0;
    recording *r = ctx;
    return emu_module_symbol(r->p.f.module, name, &address, NULL) ? address : 0;
}

/* As a launch of one warp left it. */
static void write_recorded(recording *r, uint32_t probes, const char *path)
{
    uint64_t block = 0;
    const rewrite_run all = {0, r->l.copy.size};
    uint64_t head = rewrite_pack_head(&all, 1, all.bytes, NULL);
    char *packed = malloc(head + all.bytes);
    rewrite_pack_head(&all, 1, all.bytes, packed);
    memcpy(packed + head, r->l.state, all.bytes);
    const cap_probe probe = {.note = NOTE,
                             .probes = probes,
                             .everything = 1,
                             .nblocks = 1,
                             .blocks = &block,
                             .rows = r->l.state ? ((rewrite_state *)r->l.state)->rows : 0,
                             .data = packed,
                             .length = head + all.bytes};
    cap_writer *w;
    wl_error err;
    unlink(path);
    assert_int_equal(cap_create(path, &w, &err), WL_OK);
    assert_int_equal(cap_write_note(w, &r->note), WL_OK);
    assert_int_equal(cap_write_probe(w, &probe), WL_OK);
    cap_close(w);
    free(packed);
}

static void begin(recording *r)
{
    uint32_t probes;
    const uint64_t block = 0;
    const char *path = WL_BINARY_DIR "/tests/recorded.wlcap";
    wl_error err;
    shot after;
    *r = (recording){.note = {.id = NOTE,
                              .kernel = "k",
                              .grid = {1, 1, 1},
                              .block = {LANES, 1, 1},
                              .flags = CAP_NOTE_PROBED}};
    assert_true(rewrite_probes_parse("trace,objects,blocks", &probes));
    probed_begin(&r->p, text, probes, true);
    uint32_t *data = fixture_alloc(&r->p.f, 4 * LANES);
    const shape s = {.grid = {1, 1, 1},
                     .block = {LANES, 1, 1},
                     .nargs = 1,
                     .args = {P(data)},
                     .data = data,
                     .bytes = 4 * LANES};
    const rewrite_setup setup = {.rows = 200};
    shoot_probed(&r->p, "k", &s, false, &setup, &block, 1, &after, &r->l);
    shot_end(&after);
    const ir_func *func = ir_module_kernel(r->p.f.ptx, "k");
    assert_int_equal(replay_facts_of(r->p.f.ptx, func, NULL, r->p.arena, &r->facts), WL_OK);
    emu_kernel *slice;
    assert_int_equal(emu_module_slice(r->p.f.module, "k", &r->facts.proof, &slice, &err), WL_OK);
    r->part = (replay_recorded_part){&r->note, slice, constant_here, r};
    write_recorded(r, probes, path);
    assert_int_equal(replay_recorded_read(path, UINT64_MAX, 0, &r->recorded, &err), WL_OK);
    unlink(path);
}

static void end(recording *r)
{
    replay_recorded_free(r->recorded);
    left_end(&r->l);
    probed_end(&r->p);
}

/* Everything is covered, but only the store did not run. */
static void expect_whole(const recording *r, const replay_recorded_launch *l)
{
    const rewrite_kernel *k = probed_kernel(&r->p, "k");
    assert_int_equal(l->nblocks, 1);
    assert_int_equal(l->dropped, 0);
    assert_int_equal(k->nsites, 4);
    for (uint32_t i = 0; i < k->nsites; i++) {
        bool store = k->sites[i].op == ACC_STORE && k->sites[i].space == IR_SPACE_GLOBAL;
        assert_true(l->covered[k->sites[i].pc]);
        assert_int_equal(replay_recorded_idle(l, k->sites[i].pc), store);
    }
}

static void memory_that_runs_out_is_said(void **state)
{
    (void)state;
    recording r;
    replay_recorded_launch l;
    size_t refused = 0;
    begin(&r);
    wl_arena *arena = wl_arena_new();
    assert_int_equal(replay_recorded_begin(r.recorded, &r.part, arena, &l), WL_OK);
    expect_whole(&r, &l);
    for (bool failed = true; failed;) {
        scarce_fail(refused + 1);
        wl_status status = replay_recorded_begin(r.recorded, &r.part, arena, &l);
        failed = scarce_failed();
        scarce_fail(0);
        if (status != (failed ? WL_NOMEM : WL_OK))
            fail_msg("without request %zu: %s", refused + 1, wl_status_text(status));
        refused += failed;
    }
    expect_whole(&r, &l);
    assert_true(refused > 5);
    wl_arena_free(arena);
    end(&r);
}

static void memory_that_runs_out_in_a_proof_is_said(void **state)
{
    (void)state;
    fixture f;
    replay_facts facts;
    size_t refused = 0;
    fixture_begin(&f, text);
    const ir_func *func = ir_module_kernel(f.ptx, "k");
    for (bool failed = true; failed;) {
        wl_arena *arena = wl_arena_new();
        scarce_fail(refused + 1);
        wl_status status = replay_facts_of(f.ptx, func, NULL, arena, &facts);
        failed = scarce_failed();
        scarce_fail(0);
        if (status != (failed ? WL_NOMEM : WL_OK))
            fail_msg("without request %zu: %s", refused + 1, wl_status_text(status));
        refused += failed;
        wl_arena_free(arena);
    }
    assert_true(refused > 50);
    fixture_end(&f);
}

/* ---- what is the same ---- */

typedef struct same_case {
    const char *tables; /* NULL: none */
    uint32_t same_as, shared_bytes;
    const char *data;
} same_case;

static void write_same_cases(const char *path, const same_case *cases, uint32_t count)
{
    cap_writer *w;
    wl_error err;
    unlink(path);
    assert_int_equal(cap_create(path, &w, &err), WL_OK);
    for (uint32_t i = 0; i < count; i++) {
        const same_case *c = &cases[i];
        const cap_probed object = {7, 4096, 64};
        const cap_probe probe = {.note = i + 1,
                                 .shared_bytes = c->shared_bytes,
                                 .count = 1,
                                 .objects = (cap_probed *)&object,
                                 .data = c->data,
                                 .length = strlen(c->data)};
        assert_int_equal(cap_write_probe(w, &probe), WL_OK);
        if (c->same_as)
            assert_int_equal(cap_write_same_tables(w, &(cap_same_tables){i + 1, c->same_as}),
                             WL_OK);
        if (c->tables)
            assert_int_equal(cap_write_tables(w, &(cap_tables){i + 1, c->tables,
                                                               16 + strlen(c->tables + 16)}),
                             WL_OK);
    }
    cap_close(w);
}

/* Of launches that recorded the same, by whatever record, the hash is the same, and of no others. */
static void hashes_tell_what_is_the_same(void **state)
{
    (void)state;
    const char *path = WL_BINARY_DIR "/tests/recorded_same.wlcap";
    /* Packed states without a run: u64 size, u64 runs (0). */
    static const char one[17] = "\1", two[17] = "\2";
    static const same_case cases[] = {
        {one, 0, 0, "data"},  {one, 0, 0, "data"}, {NULL, 1, 0, "data"}, {two, 0, 0, "data"},
        {NULL, 0, 0, "data"}, {one, 0, 4, "data"}, {one, 0, 0, "date"},  {NULL, 4, 0, "data"},
    };
    static const uint32_t alike[] = {0, 0, 0, 3, 4, 5, 6, 3};
    enum { COUNT = sizeof cases / sizeof *cases };
    uint64_t hashes[COUNT][2];
    replay_recorded *r;
    wl_error err;
    write_same_cases(path, cases, COUNT);
    assert_int_equal(replay_recorded_read(path, UINT64_MAX, 0, &r, &err), WL_OK);
    assert_int_equal(replay_recorded_hash(r, 1, false, hashes[0]), WL_NOENT);
    assert_int_equal(replay_recorded_hash(r, 5, false, hashes[4]), WL_OK); /* it has no tables */
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(replay_recorded_hash(r, i + 1, true, hashes[i]), WL_OK);
    assert_int_equal(replay_recorded_hash(r, 3, false, hashes[2]), WL_OK); /* nor has it to read */
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t k = 0; k < COUNT; k++)
            assert_int_equal(memcmp(hashes[i], hashes[k], sizeof *hashes) == 0,
                             alike[i] == alike[k]);
    assert_int_equal(replay_recorded_hash(r, COUNT + 1, true, hashes[0]), WL_NOENT);
    replay_recorded_free(r);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_runs_out_is_said),
        cmocka_unit_test(memory_that_runs_out_in_a_proof_is_said),
        cmocka_unit_test(hashes_tell_what_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
