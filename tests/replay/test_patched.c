/* What patches counted, joined with what a slice shows: by hand, and random joins against a naive
 * reference. */
#include "emu/slice.h"
#include "replay/patched.h"
#include "support/random.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECT = 7, DIVIDED, PART, BASE = 0x10000000, BYTES = 4096 };
enum { LDG, STG, RED, ATOMG, OPERATIONS, PCS = 8 };

/* As ptxas writes them down for sm_90. */
static const uint64_t words[OPERATIONS][2] = {
    [LDG] = {0x00000008020b7981, 0x000ee2000c1e1900}, /* LDG.E R11, desc[UR8][R2.64] */
    [STG] = {0x0000000b04007986, 0x0081e8000c101908}, /* STG.E desc[UR8][R4.64], R11 */
    [RED] = {0x0000000b0800098e,
             0x000fe8000c10e188}, /* REDG.E.ADD.STRONG.GPU desc[UR8][R8.64], R11 */
    [ATOMG] = {0x0000000d060779a8,
               0x000ea800081ee1c8}, /* ATOMG.E.ADD.STRONG.GPU PT, R7, desc[UR8][R6.64], R13 */
};

typedef struct patching {
    emu_machine *machine;
    wl_arena *arena;
    unsigned char code[16 * PCS];
    sass_body body;
    cap_note note;
    replay_patched p;
    cap_patched counted;
    wl_error err;
} patching;

static void put_operation(patching *t, uint32_t pc, uint32_t operation)
{
    memcpy(t->code + 16 * pc, words[operation], 16);
}

/* An object, and one after it in which another lies. */
static void begin_patching(patching *t)
{
    emu_device device = {.sm = 90,
                         .num_sms = 1,
                         .max_threads_per_block = 1024,
                         .max_blocks_per_sm = 32,
                         .max_threads_per_sm = 2048,
                         .global_bytes = 1 << 30};
    memset(t, 0, sizeof *t);
    assert_int_equal(emu_machine_new_replay(&device, &t->machine, &t->err), WL_OK);
    assert_int_equal(emu_mem_ghost(t->machine, BASE, BYTES, EMU_ALLOC_DEVICE, OBJECT), WL_OK);
    assert_int_equal(emu_mem_ghost(t->machine, BASE + BYTES, BYTES, EMU_ALLOC_DEVICE, DIVIDED),
                     WL_OK);
    assert_int_equal(emu_mem_part(t->machine, BASE + BYTES + 512, 512, PART), WL_OK);
    t->arena = wl_arena_new();
    t->body = (sass_body){.sm = 90, .count = PCS, .bytes = t->code};
    t->note = (cap_note){.grid = {3, 2, 1}, .block = {32, 1, 1}};
    t->p = (replay_patched){&t->counted, t->machine, &t->body, &t->note};
}

static void end_patching(patching *t)
{
    emu_machine_free(t->machine);
    wl_arena_free(t->arena);
}

static cap_patched_insn counts(uint32_t pc, acc_op op, acc_space space, uint64_t low, uint64_t high)
{
    return (cap_patched_insn){{.pc = pc,
                               .space = (uint8_t)space,
                               .op = (uint8_t)op,
                               .bytes = 4,
                               .requests = 100 + pc,
                               .active_lanes = 3200,
                               .sectors = 400},
                              low,
                              high};
}

static void join(patching *t, const cap_gap *gaps, uint32_t n, obs_summary *s, cap_way *way)
{
    assert_int_equal(replay_patched_join(&t->p, gaps, n, t->arena, s, way), WL_OK);
}

static void gaps_are_filled_by_counts(void **state)
{
    (void)state;
    patching t;
    cap_way way = {0};
    begin_patching(&t);
    const uint32_t operations[PCS] = {LDG, LDG, STG, RED, STG, LDG, ATOMG, ATOMG};
    for (uint32_t pc = 0; pc < PCS; pc++)
        put_operation(&t, pc, operations[pc]);
    cap_patched_insn insns[] = {counts(0, ACC_LOAD, ACC_GLOBAL, BASE, BASE + 64),
                                counts(1, ACC_LOAD, ACC_GLOBAL, BASE + 4, BASE + BYTES),
                                counts(3, ACC_ATOMIC, ACC_GLOBAL, BASE, BASE + BYTES + 4)};
    obs_insn shown[] = {{.pc = 0, .object = OBJECT, .requests = 5},
                        {.pc = 1, .object = 3, .requests = 2}};
    cap_gap gaps[] = {{1, "one"}, {3, "three"}, {4, "four"}, {5, "five"}};
    obs_summary s = {.ninsns = 2, .insns = shown};
    t.counted = (cap_patched){.count = 3, .insns = insns, .elsewhere = 9};
    join(&t, gaps, 4, &s, &way);
    assert_int_equal(s.ninsns, 3);
    assert_int_equal(s.insns[0].requests, 5); /* what the slice shows stays */
    assert_int_equal(s.insns[1].requests, 101);
    assert_int_equal(s.insns[1].object, OBJECT);
    assert_int_equal(s.insns[2].pc, 3);
    assert_int_equal(s.insns[2].object, 0); /* it goes beyond the object */
    assert_int_equal(s.insns[2].op, ACC_REDUCTION);
    assert_int_equal(s.dropped, 9);
    assert_int_equal(
        way.count,
        1); /* no STG was counted, so that nothing is known of that one; the LDG did not run */
    assert_string_equal(way.gaps[0].reason, "four");
    end_patching(&t);
}

static void objects_hold_all_of_an_instruction(void **state)
{
    (void)state;
    static const struct {
        uint64_t low, high;
        uint32_t object;
    } cases[] = {
        {BASE, BASE + BYTES, OBJECT},
        {BASE, BASE + BYTES + 1, 0},
        {BASE - 4, BASE + 4, 0},
        {BASE + BYTES + 512, BASE + BYTES + 1024, PART},
        {BASE + BYTES + 512, BASE + BYTES + 1028, 0},
        {BASE + BYTES, BASE + BYTES + 64, 0}, /* it may have left out, or not, the part within */
        {BASE + 8, BASE + 8, 0},
        {1, UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        patching t;
        obs_summary s;
        begin_patching(&t);
        cap_patched_insn insn = counts(2, ACC_LOAD, ACC_GLOBAL, cases[i].low, cases[i].high);
        t.counted = (cap_patched){.count = 1, .insns = &insn};
        assert_int_equal(replay_patched_alone(&t.p, t.arena, &s), WL_OK);
        assert_int_equal(s.ninsns, 1);
        assert_int_equal(s.insns[0].object, cases[i].object);
        assert_int_equal(s.blocks_run, 6);
        assert_int_equal(s.blocks_observed, 6);
        end_patching(&t);
    }
}

static void arrays_hold_all_of_an_instruction(void **state)
{
    (void)state;
    patching t;
    cap_way way = {0};
    begin_patching(&t);
    obs_shared arrays[] = {{.name = ""}, {"a", 1024, 64}, {"b", 1088, 64}};
    cap_patched_insn insns[] = {
        counts(1, ACC_LOAD, ACC_SHARED, 1024, 1088), counts(2, ACC_LOAD, ACC_SHARED, 1088, 1092),
        counts(3, ACC_LOAD, ACC_SHARED, 1084, 1092), counts(4, ACC_LOAD, ACC_LOCAL, 1024, 1028)};
    cap_gap gaps[] = {{1, ""}, {2, ""}, {3, ""}, {4, ""}};
    obs_summary s = {.nshared = 3, .shared = arrays};
    t.counted = (cap_patched){.count = 4, .insns = insns};
    join(&t, gaps, 4, &s, &way);
    assert_int_equal(s.ninsns, 4);
    assert_int_equal(way.count, 0);
    const uint32_t objects[] = {1, 2, 0, 0};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(s.insns[i].object, objects[i]);
    end_patching(&t);
}

static void without_code_nothing_is_known_not_to_have_run(void **state)
{
    (void)state;
    patching t;
    cap_way way = {0};
    begin_patching(&t);
    cap_patched_insn insn = counts(1, ACC_LOAD, ACC_GLOBAL, BASE, BASE + 4);
    cap_gap gaps[] = {{1, ""}, {UINT16_MAX, ""}};
    obs_summary s = {0};
    t.p.code = NULL;
    t.counted = (cap_patched){.count = 1, .insns = &insn};
    join(&t, gaps, 2, &s, &way);
    assert_int_equal(s.ninsns, 1);
    assert_int_equal(way.count, 1);
    end_patching(&t);
}

/* ---- against a naive reference ---- */

typedef struct drawn {
    uint32_t operations[PCS];
    bool gap[PCS], counted[PCS], shown[PCS];
} drawn;

static drawn draw(uint64_t *seed)
{
    drawn d;
    for (uint32_t pc = 0; pc < PCS; pc++) {
        d.operations[pc] = (uint32_t)random_below(seed, OPERATIONS);
        d.gap[pc] = random_below(seed, 2);
        d.counted[pc] = random_below(seed, 2);
        d.shown[pc] = random_below(seed, 2);
    }
    return d;
}

/* Names of RED and ATOMG are different ones. */
static bool reference_left(const drawn *d, uint32_t pc)
{
    bool seen = d->counted[pc];
    for (uint32_t other = 0; other < PCS; other++)
        seen |= d->counted[other] && d->operations[other] == d->operations[pc];
    return d->gap[pc] && !seen;
}

static const obs_insn *row_at(const obs_summary *s, uint32_t pc)
{
    const obs_insn *found = NULL;
    for (uint32_t i = 0; i < s->ninsns; i++) {
        if (s->insns[i].pc == pc)
            assert_null(found);
        found = s->insns[i].pc == pc ? &s->insns[i] : found;
    }
    return found;
}

static void check_drawn(const drawn *d)
{
    patching t;
    cap_way way = {0};
    cap_gap gaps[PCS];
    obs_insn shown[PCS];
    cap_patched_insn insns[PCS];
    obs_summary s = {.insns = shown};
    uint32_t n = 0, left = 0;
    begin_patching(&t);
    t.counted.insns = insns;
    for (uint32_t pc = 0; pc < PCS; pc++) {
        put_operation(&t, pc, d->operations[pc]);
        if (d->gap[pc])
            gaps[n++] = (cap_gap){pc, ""};
        if (d->shown[pc])
            shown[s.ninsns++] = (obs_insn){.pc = pc, .requests = 1};
        if (d->counted[pc])
            insns[t.counted.count++] = counts(pc, ACC_LOAD, ACC_GLOBAL, BASE, BASE + 4);
    }
    join(&t, gaps, n, &s, &way);
    for (uint32_t pc = 0; pc < PCS; pc++) {
        const obs_insn *row = row_at(&s, pc);
        bool filled = d->gap[pc] && d->counted[pc];
        assert_int_equal(row != NULL, filled || d->shown[pc]);
        if (row)
            assert_int_equal(row->requests, filled ? 100 + pc : 1);
        bool is_left = left < way.count && way.gaps[left].pc == pc;
        assert_int_equal(is_left, reference_left(d, pc));
        left += is_left;
    }
    assert_int_equal(left, way.count);
    end_patching(&t);
}

static void joins_are_those_of_the_reference(void **state)
{
    (void)state;
    uint64_t seed = 41;
    for (int i = 0; i < 500; i++) {
        drawn d = draw(&seed);
        check_drawn(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_filled_by_counts),
        cmocka_unit_test(objects_hold_all_of_an_instruction),
        cmocka_unit_test(arrays_hold_all_of_an_instruction),
        cmocka_unit_test(without_code_nothing_is_known_not_to_have_run),
        cmocka_unit_test(joins_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
