/* Launches that do what an earlier one did, as the emulating collector asks for them: which kernels
 * are proven, what is kept, what is found, and that nothing is trusted once a repeat was none. */
#include "../emu/fixture.h"

#include "replay/facts.h"
#include "replay/repeats.h"
#include "replay/watch.h"

enum { THREADS = 64, BYTES = 4 * THREADS, A = 1, B = 2, PART = 3 };

/* `plain` stores one word a thread; `gather` stores where its data says. */
static const char *const text = HEADER
    ".visible .entry plain(.param .u64 to, .param .u32 value)\n{\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [to];\nld.param.u32 %r1, [value];\n"
    "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r1;\nret;\n}\n"
    ".visible .entry gather(.param .u64 to)\n{\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [to];\nld.global.u32 %r1, [%rd1];\n"
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r1;\nret;\n}\n"
    ".visible .entry mixed(.param .u8 a, .param .u64 to, .param .u16 b, .param .u32 c)\n{\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .b16 %s<2>;\n"
    "ld.param.u64 %rd1, [to];\nld.param.u16 %s1, [b];\ncvt.u64.u16 %rd2, %s1;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.param.u32 %r1, [c];\nst.global.u32 [%rd3], %r1;\n"
    "ret;\n}\n";

typedef struct process {
    fixture f;
    replay_repeats *repeats;
    replay_proven plain, gather;
    uint64_t a, b; /* objects */
} process;

static uint64_t new_object(process *p, uint32_t id)
{
    uint64_t address = 0;
    assert_int_equal(emu_mem_alloc(p->f.machine, BYTES, 256, EMU_ALLOC_DEVICE, id, &address),
                     WL_OK);
    return address;
}

static void begin(process *p)
{
    *p = (process){0};
    fixture_begin(&p->f, text);
    p->repeats = replay_repeats_new();
    assert_non_null(p->repeats);
    p->a = new_object(p, A);
    p->b = new_object(p, B);
}

static void end(process *p)
{
    replay_proven_clear(&p->plain);
    replay_proven_clear(&p->gather);
    replay_repeats_free(p->repeats);
    fixture_end(&p->f);
}

static bool find_address(void *ctx, uint64_t address, emu_alloc *out)
{
    process *p = ctx;
    return emu_mem_find_object(p->f.machine, address, out);
}

static bool find_number(void *ctx, uint32_t object, emu_alloc *out)
{
    process *p = ctx;
    return emu_mem_find_id(p->f.machine, object == B ? p->b : p->a, object, out);
}

static const replay_facts *prove(process *p, replay_proven *proven, const char *kernel)
{
    return replay_repeats_prove(p->repeats, proven, p->f.ptx, fixture_kernel(&p->f, kernel));
}

typedef struct plain_params {
    uint64_t to;
    uint32_t value;
} plain_params;

/* What is known of a launch of `plain` before it runs. */
static void look(process *p, uint64_t to, uint32_t value, replay_repeat *out)
{
    plain_params params = {to, value};
    replay_launch launch = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .params = &params};
    replay_repeats_find(p->repeats, &p->plain, &launch, find_address, p, out);
}

/* Runs it observed, and keeps it under this number; `rows`, where it is there, gets up to two. */
static void run_rows_and_keep(process *p, uint64_t to, const replay_repeat *repeat, uint32_t number,
                              obs_insn rows[2])
{
    replay_watch watch;
    obs_summary summary;
    replay_settings settings = {.threads = 1};
    replay_watched what = {.settings = &settings,
                           .machine = p->f.machine,
                           .kernel = fixture_kernel(&p->f, "plain"),
                           .grid = {1, 1, 1},
                           .block = {THREADS, 1, 1}};
    assert_int_equal(replay_watch_begin(&what, NULL, &watch), WL_OK);
    p->f.observer = &watch.observer;
    RUN(&p->f, "plain", 1, THREADS, to, 7);
    assert_int_equal(replay_watch_finish(&watch, &p->f.result, &summary), WL_OK);
    replay_repeats_keep(p->repeats, repeat, number, &summary, find_number, p);
    for (uint32_t i = 0; rows && i < summary.ninsns && i < 2; i++)
        rows[i] = summary.insns[i];
    replay_watch_end(&watch);
}

static void run_and_keep(process *p, uint64_t to, const replay_repeat *repeat, uint32_t number)
{
    run_rows_and_keep(p, to, repeat, number, NULL);
}

/* Parameters lie at their own alignments; of each only those bytes count that an address depends
 * on: `w` is stored, `unused` is not read, of the array two of four words are read. */
static void used_parameters_are_known(void **state)
{
    static const char kernel[] = HEADER
        ".visible .entry k(.param .u8 a, .param .u64 to, .param .u8 b, .param .u32 w,\n"
        ".param .u16 unused, .param .align 16 .b8 many[16], .param .u16 c)\n{\n"
        ".reg .b64 %rd<8>; .reg .b32 %r<8>;\n"
        "ld.param.u8 %r1, [a]; ld.param.u64 %rd1, [to]; ld.param.u8 %r2, [b];\n"
        "ld.param.u32 %r3, [w]; ld.param.u32 %r4, [many+4]; ld.param.u32 %r5, [many+12];\n"
        "ld.param.u16 %r6, [c];\n"
        "add.u32 %r1, %r1, %r2; add.u32 %r4, %r4, %r5; add.u32 %r1, %r1, %r4;\n"
        "add.u32 %r1, %r1, %r6; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
        "st.global.u32 [%rd3], %r3; ret;\n}\n";
    static const char used[] = "1.......11111111" /* a, to */
                               "1..............." /* b, w, unused */
                               "....1111....1111" /* many */
                               "11";              /* c */
    fixture f;
    replay_facts facts;
    (void)state;
    fixture_begin(&f, kernel);
    wl_arena *arena = wl_arena_new();
    const ir_func *func = emu_kernel_get(fixture_kernel(&f, "k"))->func;
    assert_int_equal(replay_facts_of(f.ptx, func, NULL, arena, &facts), WL_OK);
    assert_int_equal(facts.param_bytes, sizeof used - 1);
    for (size_t i = 0; i < sizeof used - 1; i++)
        if (facts.param_used[i] != (used[i] == '1'))
            fail_msg("byte %zu: %u", i, facts.param_used[i]);
    wl_arena_free(arena);
    fixture_end(&f);
}

/* One launch is not worth a proof; accesses that depend on data have none. */
static void kernels_are_proven_late(void **state)
{
    (void)state;
    process p;
    begin(&p);
    replay_repeat repeat = {0};
    assert_null(prove(&p, &p.plain, "plain"));
    look(&p, p.a, 1, &repeat);
    assert_null(repeat.facts);
    assert_non_null(prove(&p, &p.plain, "plain"));
    assert_non_null(prove(&p, &p.plain, "plain"));
    assert_null(prove(&p, &p.gather, "gather"));
    assert_null(prove(&p, &p.gather, "gather"));
    end(&p);
}

/* Found with another value, which no address depends on, and on another object of its size. */
static void a_repeat_is_found(void **state)
{
    (void)state;
    process p;
    replay_repeat repeat = {0};
    begin(&p);
    prove(&p, &p.plain, "plain");
    prove(&p, &p.plain, "plain");
    look(&p, p.a, 1, &repeat);
    assert_true(repeat.facts && !repeat.known);
    run_and_keep(&p, p.a, &repeat, 5);
    look(&p, p.a, 2, &repeat);
    assert_true(repeat.known);
    assert_int_equal(repeat.launch.launch, 5);
    look(&p, p.b, 2, &repeat);
    assert_true(repeat.known);
    assert_int_equal(repeat.launch.nmoves, 1);
    assert_int_equal(repeat.launch.moves[0].from, A);
    assert_int_equal(repeat.launch.moves[0].to, B);
    look(&p, p.a + 4, 2, &repeat); /* another place in its object */
    assert_true(repeat.facts && !repeat.known);
    end(&p);
}

/* The second half of a warp's words lie in a part of A. What is accessed counts as the innermost's,
 * and such a launch is no repeat: another part may lie there the next time. */
static void parts_are_told_apart(void **state)
{
    (void)state;
    process p;
    replay_repeat repeat = {0};
    obs_insn rows[2] = {0};
    begin(&p);
    prove(&p, &p.plain, "plain");
    prove(&p, &p.plain, "plain");
    look(&p, p.a, 1, &repeat);
    run_and_keep(&p, p.a, &repeat, 5);
    assert_int_equal(emu_mem_part(p.f.machine, p.a + 64, 64, PART), WL_OK);
    assert_int_equal(emu_mem_part(p.f.machine, p.a + 32, 64, PART), WL_EXISTS);
    look(&p, p.a, 1, &repeat);
    assert_true(repeat.facts && !repeat.known);
    run_rows_and_keep(&p, p.a, &repeat, 6, rows);
    assert_int_equal(rows[0].object, A);
    assert_int_equal(rows[0].requests, 2);
    assert_int_equal(rows[0].active_lanes, 48);
    assert_int_equal(rows[1].object, PART);
    assert_int_equal(rows[1].requests, 1);
    assert_int_equal(rows[1].active_lanes, 16);
    look(&p, p.a, 1, &repeat);
    assert_false(repeat.known);
    emu_mem_part_end(p.f.machine, p.a + 64, PART);
    look(&p, p.a, 1, &repeat);
    assert_true(repeat.known);
    assert_int_equal(repeat.launch.launch, 5);
    end(&p);
}

/* A part that is all of A stands for an object of its size. */
static void a_part_is_an_object(void **state)
{
    (void)state;
    process p;
    replay_repeat repeat = {0};
    emu_alloc found;
    begin(&p);
    prove(&p, &p.plain, "plain");
    prove(&p, &p.plain, "plain");
    look(&p, p.b, 1, &repeat);
    run_and_keep(&p, p.b, &repeat, 5);
    assert_int_equal(emu_mem_part(p.f.machine, p.a, BYTES, PART), WL_OK);
    look(&p, p.a, 1, &repeat);
    assert_true(repeat.known);
    assert_int_equal(repeat.launch.moves[0].from, B);
    assert_int_equal(repeat.launch.moves[0].to, PART);
    assert_true(emu_mem_find_id(p.f.machine, p.a, A, &found) && found.divided);
    assert_true(emu_mem_find_id(p.f.machine, p.a, PART, &found) && !found.divided);
    assert_int_equal(emu_mem_free(p.f.machine, p.a), WL_OK); /* and the part with it */
    assert_false(emu_mem_find_object(p.f.machine, p.a, &found));
    assert_int_equal(emu_mem_part(p.f.machine, p.a, BYTES, PART), WL_ARG);
    end(&p);
}

/* Whatever else differs but the value, it is another launch. */
static void launches_that_differ_are_no_repeats(void **state)
{
    (void)state;
    process p;
    replay_repeat known = {0};
    replay_key key;
    begin(&p);
    prove(&p, &p.plain, "plain");
    prove(&p, &p.plain, "plain");
    look(&p, p.a, 1, &known);
    const plain_params params = {p.a, 1}, same = {p.a, 2};
    const replay_launch like = {.facts = known.facts,
                                .kernel = p.plain.number,
                                .grid = {1, 1, 1},
                                .block = {THREADS, 1, 1},
                                .params = &params};
    replay_launch others[15];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        others[i] = like;
    others[0].params = &same;
    others[1].kernel++;
    others[2].grid.x++, others[3].grid.y++, others[4].grid.z++;
    others[5].block.x++, others[6].block.y++, others[7].block.z++;
    others[8].cluster.x++, others[9].cluster.y++, others[10].cluster.z++;
    others[11].dynamic_shared++, others[12].device++;
    others[13].cooperative = true, others[14].constants++;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        replay_key_of(&others[i], find_address, &p, &key);
        bool equal = memcmp(key.hash, known.key.hash, sizeof key.hash) == 0;
        if (equal != (i == 0))
            fail_msg("launch %zu", i);
    }
    end(&p);
}

static void nothing_is_trusted_after_a_wrong_repeat(void **state)
{
    (void)state;
    process p;
    replay_repeat repeat = {0};
    begin(&p);
    prove(&p, &p.plain, "plain");
    prove(&p, &p.plain, "plain");
    look(&p, p.a, 1, &repeat);
    run_and_keep(&p, p.a, &repeat, 1);
    look(&p, p.a, 1, &repeat);
    emu_result result = {.warp_instructions = repeat.launch.warp_instructions,
                         .thread_instructions = repeat.launch.thread_instructions};
    assert_true(replay_repeats_confirm(p.repeats, &repeat, &result));
    look(&p, p.a, 1, &repeat);
    assert_true(repeat.known);
    result.thread_instructions++;
    assert_false(replay_repeats_confirm(p.repeats, &repeat, &result));
    look(&p, p.a, 1, &repeat);
    assert_true(!repeat.facts && !repeat.known);
    end(&p);
}

/* Each lies at its own alignment; those that no address depends on do not matter. */
static void parameters_have_their_places(void **state)
{
    enum { TO = 8, END_OF_TO = 16, SHORT = 16, END_OF_SHORT = 18, PARAMS = 24 };
    process p;
    replay_facts facts;
    wl_arena *arena = wl_arena_new();
    (void)state;
    begin(&p);
    const ir_func *mixed = ir_module_kernel(p.f.ptx, "mixed");
    assert_int_equal(replay_facts_of(p.f.ptx, mixed, NULL, arena, &facts), WL_OK);
    assert_int_equal(facts.param_bytes, PARAMS);
    for (uint32_t i = 0; i < PARAMS; i++)
        assert_int_equal(facts.param_used[i],
                         (i >= TO && i < END_OF_TO) || (i >= SHORT && i < END_OF_SHORT));
    wl_arena_free(arena);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_parameters_are_known),
        cmocka_unit_test(kernels_are_proven_late),
        cmocka_unit_test(a_repeat_is_found),
        cmocka_unit_test(parts_are_told_apart),
        cmocka_unit_test(a_part_is_an_object),
        cmocka_unit_test(launches_that_differ_are_no_repeats),
        cmocka_unit_test(nothing_is_trusted_after_a_wrong_repeat),
        cmocka_unit_test(parameters_have_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
