/* Launches of machine code: what replay makes of them is what it makes of the PTX that ptxas made the
 * code of, by the machine's numbers. */
#include <string.h>
#include <unistd.h>

#include "../sass/lifting.h"
#include "replay/session.h"
#include "support/test.h"

#include <stdlib.h>

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".const .align 4 .u32 stride = 2;\n"
    /* out[i] = in[i] for i < n; then out[i] is stored `turns` times more, by every second thread */
    ".visible .entry copy(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 turns)\n"
    "{ .reg .pred %p<3>; .reg .u32 %r<9>; .reg .u64 %d<6>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5;\n"
    "  @%p1 bra END; ld.param.u64 %d1, [in]; cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d2, %r4, "
    "4;\n"
    "  add.u64 %d3, %d1, %d2; ld.global.u32 %r6, [%d3];\n"
    "  ld.param.u64 %d4, [out]; cvta.to.global.u64 %d4, %d4; add.u64 %d5, %d4, %d2;\n"
    "  st.global.u32 [%d5], %r6; and.b32 %r7, %r3, 1; setp.eq.u32 %p2, %r7, 1; @%p2 bra END;\n"
    "  ld.param.u32 %r8, [turns]; mul.wide.u32 %d2, %r2, 4;\n"
    "NEXT: .pragma \"nounroll\"; setp.eq.u32 %p1, %r8, 0; @%p1 bra END; st.volatile.global.u32 "
    "[%d5], %r6;\n"
    "  sub.u32 %r8, %r8, 1; bra NEXT;\n"
    "END: ret; }\n"
    /* out[in[tid]] = 0 */
    ".visible .entry scatter(.param .u64 out, .param .u64 in)\n"
    "{ .reg .u32 %r<3>; .reg .u64 %d<6>;\n"
    "  ld.param.u64 %d1, [in]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2; ld.global.u32 %r2, [%d3];\n"
    "  ld.param.u64 %d4, [out]; cvta.to.global.u64 %d4, %d4; mul.wide.u32 %d5, %r2, 4;\n"
    "  add.u64 %d4, %d4, %d5; st.global.u32 [%d4], 0; ret; }\n"
    /* out[stride * tid] = 0 */
    ".visible .entry strided(.param .u64 out)\n"
    "{ .reg .u32 %r<5>; .reg .u64 %d<4>;\n"
    "  ld.const.u32 %r1, [stride]; mov.u32 %r2, %tid.x; mul.lo.u32 %r3, %r1, %r2;\n"
    "  ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d2, %r3, 4;\n"
    "  add.u64 %d3, %d1, %d2; st.global.u32 [%d3], 0; ret; }\n"
    /* out[s[tid ^ 1]] = 0 where s[tid] = tid; then out[256 + tid] = 0 by the first block of each cluster */
    ".visible .entry ranked(.param .u64 out)\n"
    "{ .reg .u32 %r<9>; .reg .u64 %d<6>; .reg .pred %p; .shared .align 4 .b32 s[32];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], "
    "%r1;\n"
    "  bar.sync 0; xor.b32 %r4, %r1, 1; mad.lo.u32 %r4, %r4, 4, %r2; ld.shared.u32 %r5, [%r4];\n"
    "  ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d2, %r5, 4;\n"
    "  add.u64 %d3, %d1, %d2; st.global.u32 [%d3], 0; mov.u32 %r6, %cluster_ctarank;\n"
    "  setp.ne.u32 %p, %r6, 0; @%p bra END; mul.wide.u32 %d4, %r1, 4; add.u64 %d5, %d1, %d4;\n"
    "  st.volatile.global.u32 [%d5+1024], %r5;\n"
    "END: ret; }\n"
    /* out[offset] = 0 */
    ".const .align 4 .u32 offset = 1;\n"
    ".visible .entry shifted(.param .u64 out)\n"
    "{ .reg .u32 %r<2>; .reg .u64 %d<3>;\n"
    "  ld.const.u32 %r1, [offset]; mul.wide.u32 %d2, %r1, 4; ld.param.u64 %d1, [out];\n"
    "  cvta.to.global.u64 %d1, %d1; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], 0; ret; }\n"
    /* table[tid] = 1 */
    ".visible .global .align 4 .b8 table[512];\n"
    ".visible .entry tabled()\n"
    "{ .reg .u32 %r<3>; .reg .u64 %d<3>; mov.u32 %r2, %tid.x; mul.wide.u32 %d1, %r2, 4;\n"
    "  mov.u64 %d2, table; add.u64 %d2, %d2, %d1; st.global.u32 [%d2], 1; ret; }\n";

enum { A = 1, B, STRIDE, OFFSET, TABLE, MODULE = 1, BESIDE = 7, BYTES = 16384 };
static const uint64_t base_a = 0x7f0000000000, base_b = 0x7f0000010020,
                      base_stride = 0x7f0000020000, base_table = 0x7f0000030010;

typedef struct fixture {
    replay_session *session;
    uint32_t next;
    replay_outcome out;
    wl_error err;
} fixture;

static void see(fixture *f, const cap_record *record)
{
    assert_int_equal(replay_see(f->session, record, &f->err), WL_OK);
}

static void begin(fixture *f, cap_module_kind kind, const char *code, size_t length)
{
    const replay_settings settings = {.threads = 2, .blocks = {.automatic = true}, .memo = true};
    *f = (fixture){0};
    assert_int_equal(replay_session_new(&settings, NULL, NULL, &f->session, &f->err), WL_OK);
    see(f, &(cap_record){.type = CAP_DEVICE,
                         .device = {.cc_major = 9, .num_sms = 132, .global_bytes = 1 << 30}});
    see(f,
        &(cap_record){
            .type = CAP_MODULE,
            .module = {.id = MODULE, .kind = kind, .name = "m", .code = code, .length = length}});
    see(f, &(cap_record){.type = CAP_OBJECT,
                         .object = {.id = A, .base = base_a, .bytes = BYTES, .name = ""}});
    see(f, &(cap_record){.type = CAP_OBJECT,
                         .object = {.id = B, .base = base_b, .bytes = BYTES, .name = ""}});
}

static void add_variable(fixture *f, uint32_t id, cap_object_kind kind, uint64_t base,
                         uint64_t bytes, const char *name)
{
    see(f, &(cap_record){.type = CAP_OBJECT,
                         .object = {.id = id,
                                    .base = base,
                                    .bytes = bytes,
                                    .kind = kind,
                                    .module = MODULE,
                                    .name = name}});
}

/* PTX, and beside it the machine code that the GPU ran. */
static void begin_both(fixture *f)
{
    size_t size;
    char *cubin = lifting_assemble(ptx, "-arch=sm_90", false, &size);
    begin(f, CAP_MODULE_PTX, ptx, strlen(ptx));
    see(f, &(cap_record){.type = CAP_MODULE,
                         .module = {.id = BESIDE,
                                    .kind = CAP_MODULE_CUBIN,
                                    .name = "m",
                                    .code = cubin,
                                    .length = size,
                                    .beside = MODULE}});
    free(cubin);
}

static void begin_machine(fixture *f)
{
    size_t size;
    char *cubin = lifting_assemble(ptx, "-arch=sm_90", false, &size);
    begin(f, CAP_MODULE_CUBIN, cubin, size);
    free(cubin);
}

static void end(fixture *f)
{
    replay_session_free(f->session);
}

static replay_kind launch_in_clusters(fixture *f, const char *kernel, uint32_t grid, uint32_t block,
                                      uint32_t cluster, const void *params, uint64_t bytes)
{
    const cap_note note = {.id = ++f->next,
                           .module = MODULE,
                           .kernel = kernel,
                           .grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .cluster = {cluster, 1, 1},
                           .params = params,
                           .nparams = bytes};
    assert_int_equal(replay_note(f->session, &note, &f->out, &f->err), WL_OK);
    return f->out.kind;
}

static replay_kind launch(fixture *f, const char *kernel, uint32_t grid, uint32_t block,
                          const void *params, uint64_t bytes)
{
    return launch_in_clusters(f, kernel, grid, block, 1, params, bytes);
}

static replay_kind copy(fixture *f, uint64_t out, uint64_t in, uint32_t n, uint32_t turns)
{
    const struct {
        uint64_t out, in;
        uint32_t n, turns;
    } p = {out, in, n, turns};
    if (launch(f, "copy", 4, 256, &p, sizeof p) == REPLAY_NOTHING)
        fail_msg("%s", f->out.way.reason);
    return f->out.kind;
}

/* Requests, lanes and sectors of an object, all instructions together. */
typedef struct sums {
    uint64_t requests, lanes, sectors, sectors_min;
} sums;

static sums sums_of(const fixture *f, uint32_t object, acc_op op)
{
    const obs_summary *s = &f->out.launch.summary;
    sums all = {0};
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const obs_insn *c = &s->insns[i];
        if (c->space == ACC_GLOBAL && c->object == object && c->op == op)
            all = (sums){all.requests + c->requests, all.lanes + c->active_lanes,
                         all.sectors + c->sectors, all.sectors_min + c->sectors_min};
    }
    return all;
}

static const obs_block_count *block_at(const fixture *f, uint32_t pc)
{
    const obs_summary *s = &f->out.launch.summary;
    for (uint32_t i = 0; i < s->nblocks; i++)
        if (pc - s->blocks[i].first_pc < s->blocks[i].ninsns)
            return &s->blocks[i];
    fail_msg("nothing is told of how often %u ran", pc);
    return NULL;
}

static void expect_same(const fixture *machine, const fixture *text, uint32_t object, acc_op op)
{
    sums a = sums_of(machine, object, op), b = sums_of(text, object, op);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.requests > 0);
}

/* ---- counts ---- */

static void counts_are_those_of_the_text(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture machine, text;
    begin_machine(&machine);
    begin(&text, CAP_MODULE_PTX, ptx, strlen(ptx));
    static const uint32_t sizes[] = {1000, 1024, 7, 0}, turns[] = {3, 0, 10, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(copy(&text, base_a, base_b, sizes[i], turns[i]), REPLAY_LAUNCH);
        assert_int_equal(copy(&machine, base_a, base_b, sizes[i], turns[i]), REPLAY_LAUNCH);
        assert_int_equal(machine.out.way.way, CAP_WAY_REPLAY);
        assert_int_equal(machine.out.way.count, 0);
        if (!sizes[i])
            continue;
        expect_same(&machine, &text, B, ACC_LOAD);
        expect_same(&machine, &text, A, ACC_STORE);
    }
    end(&machine);
    end(&text);
}

/* By hand: 31 warps of 32 threads and one of 8; loads begin 32 bytes off a line, and so take whole
 * sectors. */
static void rows_have_the_machines_numbers(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    begin_machine(&f);
    assert_int_equal(copy(&f, base_a, base_b, 1000, 0), REPLAY_LAUNCH);
    sums load = sums_of(&f, B, ACC_LOAD);
    assert_int_equal(load.requests, 32);
    assert_int_equal(load.lanes, 1000);
    assert_int_equal(load.sectors, 31 * 4 + 1);
    const obs_summary *s = &f.out.launch.summary;
    uint64_t instructions = 0;
    for (uint32_t i = 0; i < s->nblocks; i++) {
        const obs_block_count *b = &s->blocks[i];
        instructions += b->executions * b->ninsns;
        assert_true(i == 0 || b->first_pc >= s->blocks[i - 1].first_pc + s->blocks[i - 1].ninsns);
    }
    assert_int_equal(block_at(&f, 0)->executions, 32);
    assert_int_equal(block_at(&f, 0)->lanes, 1024);
    assert_int_equal(s->warp_instructions, instructions);
    for (uint32_t i = 0; i < s->ninsns; i++) {
        assert_int_equal(block_at(&f, s->insns[i].pc)->executions, s->insns[i].requests);
        assert_int_equal(block_at(&f, s->insns[i].pc)->lanes, s->insns[i].active_lanes);
    }
    assert_true(s->nheats >= 2); /* of each object, by blocks that were chosen */
    for (uint32_t i = 0; i < s->nheats; i++)
        for (uint32_t k = 0; k < s->heats[i].npcsets; k++)
            assert_int_equal(s->heats[i].pcsets[k].pcs[0],
                             s->insns[s->heats[i].object == B ? 0 : 1].pc);
    end(&f);
}

/* ---- the memo ---- */

static void repeats(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    begin_machine(&f);
    assert_int_equal(copy(&f, base_a, base_b, 1000, 2), REPLAY_LAUNCH);
    assert_int_equal(copy(&f, base_a, base_b, 1000, 2), REPLAY_REPEAT);
    assert_int_equal(copy(&f, base_a, base_b, 1000, 1), REPLAY_LAUNCH);
    assert_int_equal(copy(&f, base_a + 1024, base_b, 500, 2), REPLAY_LAUNCH);
    end(&f);
}

/* ---- what is not known ---- */

static void gaps_have_the_machines_numbers(void **state)
{
    (void)state;
    lifting_need_ptxas();
    const uint64_t p[] = {base_a, base_b};
    fixture f;
    begin_machine(&f);
    assert_int_equal(launch(&f, "scatter", 1, 32, p, sizeof p), REPLAY_LAUNCH);
    assert_int_equal(f.out.launch.summary.ninsns, 1);
    assert_int_equal(sums_of(&f, B, ACC_LOAD).sectors, 4);
    assert_int_equal(f.out.way.count, 1);
    assert_string_equal(f.out.way.gaps[0].reason, "its address depends on data loaded from memory");
    assert_true(f.out.way.gaps[0].pc > f.out.launch.summary.insns[0].pc);
    assert_true(f.out.way.gaps[0].pc < f.out.launch.summary.insns[0].pc + 16);
    end(&f);
}

/* Of four blocks of a warp each; in clusters of two, two of them have rank 0, and nobody knows which. */
static void ranks_are_known_without_clusters(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture machine, text;
    begin_machine(&machine);
    begin(&text, CAP_MODULE_PTX, ptx, strlen(ptx));
    assert_int_equal(launch(&machine, "ranked", 4, 32, &base_a, sizeof base_a), REPLAY_LAUNCH);
    assert_int_equal(machine.out.way.count, 0);
    assert_int_equal(sums_of(&machine, A, ACC_STORE).requests, 4 + 4);
    launch_in_clusters(&text, "ranked", 4, 32, 2, &base_a, sizeof base_a);
    assert_int_equal(sums_of(&text, A, ACC_STORE).requests, 4 + 2);
    assert_int_equal(launch_in_clusters(&machine, "ranked", 4, 32, 2, &base_a, sizeof base_a),
                     REPLAY_LAUNCH);
    assert_int_equal(sums_of(&machine, A, ACC_STORE).requests, 4);
    assert_int_equal(machine.out.way.count, 1);
    end(&machine);
    end(&text);
}

static void write_stride(fixture *f, const uint32_t *value)
{
    see(f, &(cap_record){.type = CAP_SYMBOL,
                         .symbol = {.object = STRIDE,
                                    .length = value ? sizeof *value : 0,
                                    .data = (const char *)value}});
}

/* Beside another constant, which the kernel does not read but the bank holds. */
static void constants_hold_what_was_written(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    const uint32_t eight = 8;
    begin_machine(&f);
    add_variable(&f, STRIDE, CAP_OBJECT_CONST, base_stride, 4, "stride");
    add_variable(&f, OFFSET, CAP_OBJECT_CONST, base_stride + 4, 4, "offset");
    assert_int_equal(launch(&f, "strided", 1, 32, &base_a, sizeof base_a), REPLAY_LAUNCH);
    assert_int_equal(sums_of(&f, A, ACC_STORE).sectors, 8); /* 32 words, every second: 256 bytes */
    write_stride(&f, &eight);
    assert_int_equal(launch(&f, "strided", 1, 32, &base_a, sizeof base_a), REPLAY_LAUNCH);
    assert_int_equal(sums_of(&f, A, ACC_STORE).sectors, 32);
    write_stride(&f, NULL); /* by the device: nobody knows what */
    assert_int_equal(launch(&f, "strided", 1, 32, &base_a, sizeof base_a), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "the constant stride, whose content is not known"));
    write_stride(&f, &eight);
    assert_int_equal(launch(&f, "strided", 1, 32, &base_a, sizeof base_a), REPLAY_REPEAT);
    end(&f);
}

/* Nobody noted what the program wrote there. */
static void constants_are_not_guessed(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    begin_machine(&f);
    assert_int_equal(launch(&f, "strided", 1, 32, &base_a, sizeof base_a), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "whose content is not known"));
    end(&f);
}

static void variables_are_objects(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    begin_machine(&f);
    add_variable(&f, TABLE, CAP_OBJECT_SYMBOL, base_table, 512, "table");
    assert_int_equal(launch(&f, "tabled", 1, 32, NULL, 0), REPLAY_LAUNCH);
    assert_int_equal(sums_of(&f, TABLE, ACC_STORE).sectors, 5); /* begins in mid of a sector */
    end(&f);
}

/* ---- beside PTX ---- */

/* What follows from the launch is counted by what ran, the rest by its PTX, and why is said once. */
static void what_ran_counts(void **state)
{
    (void)state;
    lifting_need_ptxas();
    const uint64_t p[] = {base_a, base_b};
    fixture both, machine;
    begin_both(&both);
    begin_machine(&machine);
    assert_int_equal(copy(&both, base_a, base_b, 1000, 3), REPLAY_LAUNCH);
    assert_int_equal(copy(&machine, base_a, base_b, 1000, 3), REPLAY_LAUNCH);
    assert_int_equal(both.out.launch.module, BESIDE);
    assert_null(both.out.remark);
    assert_int_equal(both.out.launch.summary.ninsns, machine.out.launch.summary.ninsns);
    for (uint32_t i = 0; i < machine.out.launch.summary.ninsns; i++)
        assert_memory_equal(&both.out.launch.summary.insns[i], &machine.out.launch.summary.insns[i],
                            sizeof(obs_insn));
    assert_int_equal(copy(&both, base_a, base_b, 1000, 3), REPLAY_REPEAT);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(launch(&both, "scatter", 1, 32, p, sizeof p),
                         i ? REPLAY_REPEAT : REPLAY_LAUNCH);
        assert_int_equal(both.out.launch.module, i ? 0 : MODULE);
        assert_int_equal(!both.out.remark, i);
        if (!i)
            assert_string_equal(
                both.out.remark,
                "scatter is counted by its PTX, not by its machine code: not all that it "
                "accesses follows from its launch (its address depends on data loaded "
                "from memory)");
    }
    end(&both);
    end(&machine);
}

/* Of a launch in clusters its rank is known by the PTX alone. */
static void launches_choose(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    begin_both(&f);
    assert_int_equal(launch(&f, "ranked", 4, 32, &base_a, sizeof base_a), REPLAY_LAUNCH);
    assert_int_equal(f.out.launch.module, BESIDE);
    assert_int_equal(launch_in_clusters(&f, "ranked", 4, 32, 2, &base_a, sizeof base_a),
                     REPLAY_LAUNCH);
    assert_int_equal(f.out.launch.module, MODULE);
    assert_non_null(f.out.remark);
    assert_int_equal(f.out.way.count, 0);
    assert_int_equal(sums_of(&f, A, ACC_STORE).requests, 4 + 2);
    end(&f);
}

/* The machine code's bank has all constants of the module, whichever the kernel reads. */
static void constants_beside(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    const uint32_t eight = 8;
    begin_both(&f);
    add_variable(&f, STRIDE, CAP_OBJECT_CONST, base_stride, 4, "stride");
    add_variable(&f, OFFSET, CAP_OBJECT_CONST, base_stride + 4, 4, "offset");
    for (uint32_t value = 2; value <= eight; value += 6) {
        assert_int_equal(launch(&f, "strided", 1, 32, &base_a, sizeof base_a), REPLAY_LAUNCH);
        assert_int_equal(f.out.launch.module, BESIDE);
        assert_int_equal(sums_of(&f, A, ACC_STORE).sectors, 4 * value);
        write_stride(&f, &eight);
    }
    see(&f, &(cap_record){.type = CAP_SYMBOL, .symbol = {.object = OFFSET, .data = ""}});
    assert_int_equal(launch(&f, "strided", 1, 32, &base_a, sizeof base_a), REPLAY_LAUNCH);
    assert_int_equal(f.out.launch.module, MODULE); /* OFFSET is not known, and not read */
    assert_int_equal(sums_of(&f, A, ACC_STORE).sectors, 32);
    assert_non_null(strstr(f.out.remark, "the constant offset, whose content is not known"));
    end(&f);
}

static void variables_beside(void **state)
{
    (void)state;
    lifting_need_ptxas();
    fixture f;
    begin_both(&f);
    add_variable(&f, TABLE, CAP_OBJECT_SYMBOL, base_table, 512, "table");
    assert_int_equal(launch(&f, "tabled", 1, 32, NULL, 0), REPLAY_LAUNCH);
    assert_int_equal(f.out.launch.module, BESIDE);
    assert_int_equal(sums_of(&f, TABLE, ACC_STORE).sectors, 5);
    end(&f);
}

static void left_out(void **state)
{
    (void)state;
    lifting_need_ptxas();
    static const char broken[] = "\177ELF\0broken";
    const uint64_t p[] = {base_a, base_b};
    fixture f;
    begin_machine(&f);
    assert_int_equal(launch(&f, "missing", 1, 32, p, sizeof p), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "no kernel missing"));
    assert_int_equal(launch(&f, "scatter", 1, 32, p, 8), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "fewer parameters"));
    end(&f);
    begin(&f, CAP_MODULE_CUBIN, broken, sizeof broken - 1);
    assert_int_equal(launch(&f, "scatter", 1, 32, p, sizeof p), REPLAY_NOTHING);
    assert_true(*f.out.way.reason);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_text),
        cmocka_unit_test(rows_have_the_machines_numbers),
        cmocka_unit_test(repeats),
        cmocka_unit_test(gaps_have_the_machines_numbers),
        cmocka_unit_test(ranks_are_known_without_clusters),
        cmocka_unit_test(constants_hold_what_was_written),
        cmocka_unit_test(constants_are_not_guessed),
        cmocka_unit_test(variables_are_objects),
        cmocka_unit_test(what_ran_counts),
        cmocka_unit_test(launches_choose),
        cmocka_unit_test(constants_beside),
        cmocka_unit_test(variables_beside),
        cmocka_unit_test(left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
