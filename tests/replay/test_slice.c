/* Slices against whole kernels: the same accesses, row for row and heat map for heat map, with no
 * memory behind the objects. */
#include "../emu/fixture.h"
#include "../flow/generate.h"
#include "../observe/ranges.h"
#include "../observe/trace.h"
#include "support/test.h"

#include "flow/launch.h"
#include "ir/module.h"
#include "replay/compare.h"
#include "replay/fills.h"
#include "replay/watch.h"
#include "rewrite/rewrite.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 700, BLOCK = 256, GRID = 3 };

/* ---- a machine of ghosts beside one with memory ---- */

typedef struct ghosts {
    emu_machine *machine;
    emu_module *module;
} ghosts;

static const emu_device device = {.sm = 90,
                                  .num_sms = 132,
                                  .max_threads_per_block = 1024,
                                  .max_blocks_per_sm = 32,
                                  .max_threads_per_sm = 2048,
                                  .global_bytes = UINT64_C(1) << 34};

static uint64_t same_address(void *ctx, const ir_var *var, uint64_t size)
{
    uint64_t address = 0;
    (void)size;
    assert_true(emu_module_symbol(ctx, var->name, &address, NULL));
    return address;
}

static void haunt(ghosts *g, const fixture *f, uint64_t address)
{
    emu_alloc alloc;
    assert_true(emu_mem_find(f->machine, address, &alloc));
    assert_int_equal(emu_mem_ghost(g->machine, alloc.base, alloc.size, alloc.kind, alloc.id),
                     WL_OK);
}

static void ghosts_begin(ghosts *g, fixture *f)
{
    wl_error err;
    assert_int_equal(emu_machine_new_replay(&device, &g->machine, &err), WL_OK);
    if (emu_module_load_at(g->machine, f->ptx, same_address, f->module, &g->module, &err) != WL_OK)
        fail_msg("%s", err.text);
}

static void ghosts_end(ghosts *g)
{
    emu_machine_free(g->machine);
}

/* ---- live ranges, beside a reference ---- */

/* Shows to both what the emulator shows; one block after the other. */
typedef struct tee {
    acc_observer first;
    ref_ranges *second;
} tee;

static tee shown;

static void show_access(void *block, const acc_request *request)
{
    shown.first.access(block, request);
    ref_ranges_add(shown.second, request);
}

static void show_block_end(void *worker, void *block, uint64_t warp_instructions)
{
    shown.first.block_end(worker, block, warp_instructions);
    ref_ranges_end_block(shown.second);
}

static acc_observer tee_of(const acc_observer *observer, ref_ranges *reference)
{
    shown = (tee){*observer, reference};
    acc_observer both = *observer;
    both.access = show_access;
    both.block_end = show_block_end;
    return both;
}

static uint32_t list_arrays(const emu_kernel *kernel, uint32_t dynamic, obs_shared *arrays)
{
    uint32_t n = 1;
    arrays[0] = (obs_shared){"", 0, 0};
    for (uint32_t i = 0; i < emu_kernel_nshared(kernel); i++) {
        emu_shared_var v = emu_kernel_shared(kernel, i, dynamic);
        assert_true(n < REF_ARRAYS);
        if (v.size)
            arrays[n++] = (obs_shared){v.var->name, v.offset, v.size};
    }
    return n;
}

/* Returns the arrays whose live ranges are known. */
static uint32_t compare_arrays(const ref_ranges *reference, const obs_summary *s)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < s->nuses; i++) {
        if (s->uses[i].space != ACC_SHARED)
            continue;
        ref_ranges_compare(reference, s->uses[i].object, &s->uses[i]);
        known += s->uses[i].reuse & OBS_REUSE_RANGES;
    }
    return known;
}

/* ---- both ways ---- */

enum { OBJECTS = 2 };

typedef struct work {
    const char *text; /* of a generated kernel; NULL: of a file */
    fixture *f;
    ghosts *g;
    const void *objects[OBJECTS]; /* number 1 and on */
    emu_launch launch;
    uint32_t probes; /* what is counted of elements */
    uint32_t arrays; /* whose live ranges were compared with a reference */
    uint64_t warps;  /* likewise what they did */
    bool decides;    /* the slice is that of the launch */
} work;

/* Zeroed memory that is the object of this number, on both machines. */
static void *add_object(work *w, uint32_t number, uint64_t bytes)
{
    uint64_t address = 0;
    assert_int_equal(emu_mem_alloc(w->f->machine, bytes, 256, EMU_ALLOC_DEVICE, number, &address),
                     WL_OK);
    haunt(w->g, w->f, address);
    w->objects[number - 1] = (void *)(uintptr_t)address;
    return (void *)(uintptr_t)address;
}

static uint64_t base_of(void *ctx, uint32_t object)
{
    const work *w = ctx;
    assert_true(object >= 1 && object <= OBJECTS);
    return P(w->objects[object - 1]);
}

static void run_on(work *w, emu_machine *machine, emu_kernel *kernel, const flow_proof *proof,
                   replay_watch *watch, obs_summary *out)
{
    emu_result result = {0};
    wl_error err = {0};
    replay_settings settings = {.threads = 1,
                                .blocks = {.automatic = true},
                                .sequence_limit = 64 << 20,
                                .all_warps = true,
                                .probes = w->probes};
    replay_fills fills = {0};
    replay_watched what = {.settings = &settings,
                           .machine = machine,
                           .kernel = kernel,
                           .grid = w->launch.grid,
                           .block = w->launch.block,
                           .dynamic_shared = w->launch.dynamic_shared};
    what.fills = replay_fills_of(&fills, w->f->ptx, emu_kernel_get(kernel)->func);
    assert_non_null(what.fills);
    assert_int_equal(replay_watch_begin(&what, proof, watch), WL_OK);
    obs_shared arrays[REF_ARRAYS];
    uint32_t narrays = list_arrays(kernel, w->launch.dynamic_shared, arrays);
    ref_ranges *reference = ref_ranges_new(what.fills, arrays, narrays);
    const acc_observer both = tee_of(&watch->observer, reference);
    const emu_dim grid = w->launch.grid, block = w->launch.block;
    ref_trace *trace = ref_trace_new(&both, (uint32_t[]){grid.x, grid.y, grid.z},
                                     (uint32_t[]){block.x, block.y, block.z});
    const acc_observer all = ref_trace_observer(trace);
    w->launch.observer = &all;
    if (emu_run(machine, kernel, &w->launch, &result, &err) != WL_OK)
        fail_msg("%s%s", err.text, result.fault.text);
    assert_int_equal(replay_watch_finish(watch, &result, out), WL_OK);
    w->arrays += compare_arrays(reference, out);
    w->warps += ref_trace_compare(trace, out, base_of, w);
    assert_int_equal(out->warps_dropped, 0);
    ref_trace_free(trace);
    ref_ranges_free(reference);
    replay_fills_clear(&fills);
    emu_result_clear(&result);
}

typedef struct tally {
    uint32_t kernels, whole, rows, arrays;
    uint64_t warps;
} tally;

/* What a kernel did, and what its slice showed. */
typedef struct both {
    wl_arena *arena;
    replay_facts facts;
    emu_kernel *sliced;
    replay_watch watch_whole, watch_slice;
    obs_summary whole, slice;
    char difference[256];
} both;

/* What the launch says of the kernel's guards. */
static const uint8_t *decide(work *w, const emu_kernel *kernel, wl_arena *arena)
{
    const emu_kernel_info *info = emu_kernel_get(kernel);
    flow_launch launch = {.params = w->launch.params,
                          .nparams = info->param_bytes,
                          .grid = {w->launch.grid.x, w->launch.grid.y, w->launch.grid.z},
                          .block = {w->launch.block.x, w->launch.block.y, w->launch.block.z}};
    ir_kernel *code = wl_new(arena, ir_kernel);
    assert_int_equal(ir_kernel_of(w->f->ptx, info->func, arena, code), WL_OK);
    uint8_t *decided = wl_new_array(arena, uint8_t, code->npcs + 1);
    assert_int_equal(flow_decide(flow_kernel_new(code, arena), &launch, decided), WL_OK);
    return decided;
}

static void run_both(work *w, const char *name, both *b)
{
    emu_kernel *kernel = fixture_kernel(w->f, name);
    wl_error err;
    *b = (both){.arena = wl_arena_new()};
    assert_int_equal(replay_facts_of(w->f->ptx, emu_kernel_get(kernel)->func,
                                     w->decides ? decide(w, kernel, b->arena) : NULL, b->arena,
                                     &b->facts),
                     WL_OK);
    if (emu_module_slice(w->g->module, name, &b->facts.proof, &b->sliced, &err) != WL_OK)
        fail_msg("%s", err.text);
    run_on(w, w->f->machine, kernel, NULL, &b->watch_whole, &b->whole);
    run_on(w, w->g->machine, b->sliced, &b->facts.proof, &b->watch_slice, &b->slice);
}

static bool agree(both *b)
{
    return replay_agree(&b->facts, b->sliced, &b->whole, &b->slice, b->difference,
                        sizeof b->difference);
}

static void end_both(both *b)
{
    replay_watch_end(&b->watch_whole);
    replay_watch_end(&b->watch_slice);
    wl_arena_free(b->arena);
}

static void check_kernel(work *w, const char *name, tally *t)
{
    both b;
    run_both(w, name, &b);
    if (!agree(&b))
        fail_msg("%s: %s\n%.400s", name, b.difference, w->text ? w->text : "");
    t->kernels++;
    t->whole += b.facts.whole;
    t->rows += b.slice.ninsns;
    t->arrays += w->arrays;
    t->warps += w->warps;
    w->arrays = 0;
    w->warps = 0;
    end_both(&b);
}

static void slices_show_what_kernels_do(void **state)
{
    (void)state;
    char *text = test_read_source("tests/flow/kernels.ptx");
    fixture f;
    ghosts g;
    tally t = {0};
    fixture_begin(&f, text);
    ghosts_begin(&g, &f);
    uint64_t params[] = {0, 0, N};
    work w = {
        .f = &f,
        .g = &g,
        .launch = {.grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, .params = params, .threads = 1},
        .probes = 1u << REWRITE_SHARED,
    };
    int *in = add_object(&w, 1, 4 * N), *out = add_object(&w, 2, 4 * N);
    for (int i = 0; i < N; i++)
        in[i] = (i * 37 + 11) % N;
    params[0] = P(in);
    params[1] = P(out);
    for (uint32_t i = 0; i < f.ptx->nfuncs; i++)
        if (f.ptx->funcs[i]->entry && f.ptx->funcs[i]->has_body)
            check_kernel(&w, f.ptx->funcs[i]->name, &t);
    print_message("%u kernels, %u wholly proven, %u rows, %u arrays, %llu warps\n", t.kernels,
                  t.whole, t.rows, t.arrays, (unsigned long long)t.warps);
    assert_true(t.arrays >= 4);
    assert_int_equal(t.warps, 2 * t.kernels * GRID * BLOCK / 32);
    assert_true(t.kernels >= 26 && t.whole >= 8 && t.rows > 100);
    ghosts_end(&g);
    fixture_end(&f);
    free(text);
}

static void check_random(uint64_t seed, bool decides, char *text, tally *t)
{
    enum { THREADS = 32, WORDS = 2 * THREADS * GENERATED_WORDS };
    fixture f;
    ghosts g;
    generate_kernel(seed, text, 1 << 16);
    fixture_begin(&f, text);
    ghosts_begin(&g, &f);
    uint64_t params[] = {0, 0, 17};
    work w = {
        .text = text,
        .f = &f,
        .g = &g,
        .launch = {.grid = {2, 1, 1}, .block = {THREADS, 1, 1}, .params = params, .threads = 1},
        .probes = 1u << REWRITE_SHARED,
        .decides = decides};
    uint32_t *in = add_object(&w, 1, 4 * WORDS), *out = add_object(&w, 2, 4 * WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        in[i] = (uint32_t)((seed + i) * 2654435761u >> 20) % 64;
        out[i] = (uint32_t)((seed + i) * 40503u >> 7) % 64;
    }
    params[0] = P(in);
    params[1] = P(out);
    check_kernel(&w, "k", t);
    ghosts_end(&g);
    fixture_end(&f);
}

static void slices_show_what_random_kernels_do(void **state)
{
    (void)state;
    enum { KERNELS = 300 };
    char *text = calloc(1, 1 << 16);
    tally t = {0};
    assert_non_null(text);
    for (uint64_t seed = 1; seed <= KERNELS; seed++)
        for (unsigned decides = 0; decides < 2; decides++)
            check_random(seed, decides, text, &t);
    print_message("%u kernels, %u wholly proven, %u rows, %u arrays, %llu warps\n", t.kernels,
                  t.whole, t.rows, t.arrays, (unsigned long long)t.warps);
    assert_true(t.rows > KERNELS && t.arrays > KERNELS);
    assert_int_equal(t.warps, 2 * 2 * 2 * KERNELS);
    free(text);
}

/* ---- what differs ---- */

/* Stores an element a thread to memory and to an array, and loads it from there. */
static const char all_kinds[] = HEADER
    ".visible .entry k(.param .u64 to)\n{\n.shared .align 4 .b8 tile[128];\n"
    ".reg .b64 %d<3>; .reg .b32 %r<4>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [to];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
    "add.s64 %d1, %d1, %d2;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, tile;\nadd.u32 %r2, %r2, %r3;\n"
    "st.shared.u32 [%r2], %r1;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n"
    "setp.gt.u32 %p, %r1, 15;\n@%p bra DONE;\nst.global.u32 [%d1], %r3;\nDONE:\nret;\n}\n";

/* With the field changed by `more`, the difference is told. */
#define EXPECT_TOLD_BY(b, field, more, says)                         \
    do {                                                             \
        __typeof__(field) kept = field;                              \
        field = (__typeof__(field))(kept + more);                    \
        if (agree(b) || !strstr((b)->difference, says))              \
            fail_msg("%s by %d: %s", #field, more, (b)->difference); \
        field = kept;                                                \
        assert_true(agree(b));                                       \
    } while (0)
#define EXPECT_TOLD(b, field, says)         \
    do {                                    \
        EXPECT_TOLD_BY(b, field, 1, says);  \
        EXPECT_TOLD_BY(b, field, -1, says); \
    } while (0)

static void expect_launches_told(both *b)
{
    EXPECT_TOLD(b, b->slice.blocks_run, "blocks observed");
    EXPECT_TOLD(b, b->slice.blocks_observed, "blocks observed");
    EXPECT_TOLD(b, b->slice.blocks_sampled, "blocks observed");
    EXPECT_TOLD(b, b->slice.nshared, "arrays in shared memory");
    EXPECT_TOLD(b, b->slice.shared[1].offset, "arrays in shared memory");
    EXPECT_TOLD(b, b->slice.shared[1].bytes, "arrays in shared memory");
    EXPECT_TOLD(b, b->slice.warp_instructions, "totals");
    EXPECT_TOLD(b, b->slice.thread_instructions, "totals");
    EXPECT_TOLD(b, b->slice.mix.warp_instructions[0], "totals");
    EXPECT_TOLD(b, b->slice.mix.thread_instructions[15], "totals");
}

static void expect_rows_told(both *b)
{
    for (uint32_t i = 0; i < b->slice.ninsns; i++) {
        obs_insn *row = &b->slice.insns[i];
        EXPECT_TOLD(b, row->pc, "instruction");
        EXPECT_TOLD(b, row->object, "instruction");
        EXPECT_TOLD(b, row->space, "instruction");
        EXPECT_TOLD(b, row->op, "instruction");
        EXPECT_TOLD(b, row->bytes, "instruction");
        EXPECT_TOLD(b, row->flags, "instruction");
        EXPECT_TOLD(b, row->requests, "instruction");
        EXPECT_TOLD(b, row->active_lanes, "instruction");
        EXPECT_TOLD(b, row->sectors, "instruction");
        EXPECT_TOLD(b, row->sectors_min, "instruction");
        EXPECT_TOLD(b, row->wavefronts, "instruction");
        EXPECT_TOLD(b, row->wavefronts_min, "instruction");
        EXPECT_TOLD(b, row->turns, "instruction");
        EXPECT_TOLD(b, row->uniform, "instruction");
        EXPECT_TOLD(b, row->contiguous, "instruction");
        EXPECT_TOLD(b, row->misaligned, "instruction");
        EXPECT_TOLD(b, row->strided, "instruction");
        EXPECT_TOLD(b, row->irregular, "instruction");
        EXPECT_TOLD(b, row->stride, "instruction");
    }
    EXPECT_TOLD_BY(b, b->slice.ninsns, -1, "is missing");
    EXPECT_TOLD_BY(b, b->whole.ninsns, -1, "did not execute");
}

static void expect_heats_told(both *b)
{
    assert_true(b->slice.nheats > 1);
    for (uint32_t i = 0; i < b->slice.nheats; i++) {
        obs_heat *heat = &b->slice.heats[i];
        EXPECT_TOLD(b, heat->object, "heat map");
        EXPECT_TOLD(b, heat->space, "heat map");
        EXPECT_TOLD(b, heat->block, "heat map");
        EXPECT_TOLD_BY(b, heat->pcsets[0].count, -1, "heat map");
        EXPECT_TOLD(b, heat->pcsets[0].pcs[0], "heat map");
        for (uint32_t r = 0; r < heat->nrows; r++) {
            obs_heat_row *row = &heat->rows[r];
            EXPECT_TOLD(b, row->sector, "heat map");
            EXPECT_TOLD(b, row->history, "heat map");
            EXPECT_TOLD(b, row->reads, "heat map");
            EXPECT_TOLD(b, row->writes, "heat map");
            EXPECT_TOLD(b, row->atomics, "heat map");
            EXPECT_TOLD(b, row->owner, "heat map");
            EXPECT_TOLD(b, row->word[0], "heat map");
            EXPECT_TOLD(b, row->word[OBS_WORDS_PER_SECTOR - 1], "heat map");
        }
        EXPECT_TOLD_BY(b, heat->nrows, -1, "is missing");
        EXPECT_TOLD_BY(b, b->whole.heats[i].nrows, -1, "too many");
    }
    EXPECT_TOLD_BY(b, b->slice.nheats, -1, "is missing");
    EXPECT_TOLD_BY(b, b->whole.nheats, -1, "the slice has a heat map");
}

static void expect_uses_told(both *b)
{
    assert_true(b->slice.nuses > 1);
    for (uint32_t i = 0; i < b->slice.nuses; i++) {
        obs_use *use = &b->slice.uses[i];
        char *spans = (char *)(uintptr_t)use->spans;
        EXPECT_TOLD(b, use->object, "elements");
        EXPECT_TOLD(b, use->space, "elements");
        EXPECT_TOLD(b, use->known, "elements");
        EXPECT_TOLD(b, use->length, "elements");
        EXPECT_TOLD(b, use->reuse, "elements");
        EXPECT_TOLD(b, use->ranges[OBS_COMPUTED], "elements");
        EXPECT_TOLD(b, use->range_accesses[OBS_FROM_MEMORY], "elements");
        EXPECT_TOLD(b, use->unfilled, "elements");
        EXPECT_TOLD(b, use->blocks, "elements");
        EXPECT_TOLD(b, use->block_words, "elements");
        EXPECT_TOLD(b, use->block_words_most, "elements");
        EXPECT_TOLD(b, use->block_accesses, "elements");
        for (uint32_t k = 0; k < use->nlive; k++) {
            EXPECT_TOLD(b, use->live[k].origin, "elements");
            EXPECT_TOLD(b, use->live[k].accesses, "elements");
            EXPECT_TOLD(b, use->live[k].ranges, "elements");
        }
        EXPECT_TOLD(b, spans[0], "elements");
        EXPECT_TOLD(b, spans[use->length - 1], "elements");
    }
    EXPECT_TOLD(b, b->slice.nuses, "elements");
}

static void expect_reuses_told(both *b)
{
    assert_true(b->slice.nreuses > 0);
    for (uint32_t i = 0; i < b->slice.nreuses; i++) {
        obs_reuse *reuse = &b->slice.reuses[i];
        EXPECT_TOLD(b, reuse->block, "uses of object");
        EXPECT_TOLD(b, reuse->object, "uses of object");
        EXPECT_TOLD(b, reuse->distance, "uses of object");
        EXPECT_TOLD(b, reuse->loads, "uses of object");
        EXPECT_TOLD(b, reuse->stores, "uses of object");
    }
    EXPECT_TOLD(b, b->slice.nreuses, "uses of sectors");
}

static void expect_steps_told(both *b)
{
    obs_sequence *last = &b->slice.sequences[b->slice.nsequences - 1];
    obs_warps *warps = &b->slice.warps[b->slice.nwarps - 1];
    char *steps = (char *)(uintptr_t)last->pages[0].data,
         *numbers = (char *)(uintptr_t)warps->pages[0].data;
    EXPECT_TOLD(b, b->slice.nsequences, "sequences");
    EXPECT_TOLD(b, b->slice.nwarps, "groups of warps");
    EXPECT_TOLD(b, b->slice.warps_dropped, "sequences");
    EXPECT_TOLD(b, last->npages, "sequence");
    EXPECT_TOLD(b, last->pages[0].count, "sequence");
    EXPECT_TOLD(b, last->pages[0].length, "sequence");
    EXPECT_TOLD(b, steps[last->pages[0].length - 1], "sequence");
    EXPECT_TOLD(b, warps->sequence, "the warps of group");
    EXPECT_TOLD(b, warps->nslots, "the warps of group");
    EXPECT_TOLD(b, warps->slots[0].space, "the warps of group");
    EXPECT_TOLD(b, warps->slots[0].object, "the warps of group");
    EXPECT_TOLD(b, numbers[warps->pages[0].length - 1], "the warps of group");
    b->facts.whole = false; /* what is compared where data decides some of it */
    EXPECT_TOLD(b, steps[last->pages[0].length - 1], "the path of lane");
    EXPECT_TOLD(b, warps->slots[0].object, "the path of lane");
    EXPECT_TOLD_BY(b, numbers[warps->pages[0].length - 1], 2, "the path of lane");
    b->facts.whole = true;
}

static void expect_blocks_told(both *b)
{
    for (uint32_t i = 0; i < b->slice.nblocks; i++) {
        obs_block_count *block = &b->slice.blocks[i];
        if (!block->ninsns)
            continue;
        EXPECT_TOLD(b, block->first_pc, "basic block");
        EXPECT_TOLD(b, block->executions, "basic block");
        EXPECT_TOLD(b, block->lanes, "basic block");
        EXPECT_TOLD_BY(b, block->ninsns, 1, "basic block");
    }
}

static void whatever_differs_is_told(void **state)
{
    (void)state;
    fixture f;
    ghosts g;
    both b;
    fixture_begin(&f, all_kinds);
    ghosts_begin(&g, &f);
    uint64_t params[] = {0};
    work w = {.f = &f,
              .g = &g,
              .launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params, .threads = 1},
              .probes = 1u << REWRITE_FREQUENCY | 1u << REWRITE_SHARED};
    params[0] = P(add_object(&w, 1, 4 * 32));
    run_both(&w, "k", &b);
    assert_true(b.facts.whole && agree(&b));
    expect_launches_told(&b);
    expect_rows_told(&b);
    expect_heats_told(&b);
    expect_uses_told(&b);
    expect_reuses_told(&b);
    expect_steps_told(&b);
    expect_blocks_told(&b);
    end_both(&b);
    ghosts_end(&g);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_differs_is_told),
                                       cmocka_unit_test(slices_show_what_kernels_do),
                                       cmocka_unit_test(slices_show_what_random_kernels_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
