/* Device memory, what is wrong with accesses, and what the observer is shown. */
#include "emu/slice.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BEGIN(name)                                                                               \
    HEADER ".file 1 \"demo.cu\"\n.visible .entry " name                                           \
           "(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<12>; .reg .f32 " \
           "%f<9>;\n.loc 1 42 3\n"                                                                \
           "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 "     \
           "%rd3, %rd1, %rd2;\n"
#define END "}\n"

static void faults_say_what_and_where(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f,
                  BEGIN("past") "ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd3], %r2; ret;\n" END
                                ".visible .entry odd(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 "
                                "%r<3>; ld.param.u64 %rd1, [p];\n"
                                "ld.global.u32 %r1, [%rd1+2]; ret; }\n"
                                ".visible .entry null(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 "
                                "%r<3>; mov.u64 %rd1, 0;\n"
                                "st.global.u32 [%rd1+16], 1; ret; }\n"
                                ".visible .entry shared(.param .u64 p) { .shared .b8 box[64]; .reg "
                                ".b32 %r<5>; mov.u32 %r1, %tid.x;\n"
                                "shl.b32 %r2, %r1, 2; mov.u32 %r3, box; add.u32 %r3, %r3, %r2; "
                                "st.shared.u32 [%r3], %r1; ret; }\n"
                                ".visible .entry dead(.param .u64 p) { trap; ret; }\n"
                                ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
                                ".visible .entry constant(.param .u64 p) { .reg .b64 %rd<3>; "
                                "mov.u64 %rd1, table;\n"
                                "cvta.const.u64 %rd2, %rd1; st.u32 [%rd2], 1; ret; }\n");
    uint32_t *data = fixture_alloc(&f, 100 * 4);
    assert_int_equal(TRY(&f, "past", 1, 128, P(data)), WL_FAULT);
    const emu_fault *fault = &f.result.fault;
    assert_int_equal(fault->kind, EMU_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(fault->cuda_error, 700);
    assert_int_equal(fault->thread.x, 100);
    assert_int_equal(fault->address, P(data) + 400);
    assert_int_equal(fault->bytes, 4);
    assert_non_null(strstr(fault->text, "demo.cu:42"));
    assert_non_null(strstr(fault->text, "kernel past"));
    assert_non_null(strstr(fault->text,
                           "0 bytes after the end of the nearest allocation, 400 bytes"));

    assert_int_equal(TRY(&f, "odd", 1, 1, P(data)), WL_FAULT);
    assert_int_equal(fault->kind, EMU_FAULT_MISALIGNED);
    assert_int_equal(TRY(&f, "null", 1, 1, P(data)), WL_FAULT);
    assert_int_equal(fault->kind, EMU_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(fault->text, "null pointer"));
    assert_int_equal(TRY(&f, "shared", 1, 32, P(data)), WL_FAULT);
    assert_int_equal(fault->kind, EMU_FAULT_SHARED_BOUNDS);
    assert_int_equal(fault->thread.x, 16);
    assert_int_equal(TRY(&f, "dead", 1, 32, P(data)), WL_FAULT);
    assert_int_equal(fault->kind, EMU_FAULT_TRAP);
    assert_int_equal(TRY(&f, "constant", 1, 32, P(data)), WL_FAULT);
    assert_int_equal(fault->kind, EMU_FAULT_READ_ONLY);

    assert_int_equal(emu_mem_free(f.machine, P(data)), WL_OK);
    assert_int_equal(TRY(&f, "past", 1, 32, P(data)), WL_FAULT);
    assert_int_equal(fault->kind, EMU_FAULT_USE_AFTER_FREE);
    assert_int_equal(emu_mem_free(f.machine, P(data)), WL_NOENT);
    fixture_end(&f);
}

/* Block 3 takes longest to its trap, those after it are at theirs before. */
static void the_first_block_speaks(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, HEADER ".visible .entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b32 "
                             "%r<4>; mov.u32 %r1, %ctaid.x;\n"
                             "setp.lt.u32 %p1, %r1, 3; @%p1 exit; setp.ne.u32 %p2, %r1, 3;\n"
                             "@%p2 bra $END; mov.u32 %r2, 0; $L: add.u32 %r2, %r2, 1;\n"
                             "setp.lt.u32 %p3, %r2, 10000; @%p3 bra $L; $END: trap; }\n");
    for (f.threads = 1; f.threads <= 4; f.threads++)
        for (int k = 0; k < 20; k++) {
            assert_int_equal(TRY(&f, "k", 64, 32, 0), WL_FAULT);
            assert_int_equal(f.result.fault.block.x, 3);
        }
    fixture_end(&f);
}

/* Block 0 never ends, as it may where it waits for what block 1 would have written. */
static void a_fault_ends_blocks_that_go_on_for_ever(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, HEADER ".visible .entry k(.param .u64 p) { .reg .pred %p1; .reg .b32 %r1;\n"
                             "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 trap;\n"
                             "$L: add.u32 %r1, %r1, 1; bra $L; }\n");
    f.threads = 2;
    assert_int_equal(TRY(&f, "k", 2, 32, 0), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_TRAP);
    assert_int_equal(f.result.fault.block.x, 1);
    fixture_end(&f);
}

static void memory_is_accounted(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, HEADER);
    uint64_t a, b, used, total;
    emu_alloc found;
    assert_int_equal(emu_mem_alloc(f.machine, 1000, 1, EMU_ALLOC_DEVICE, 7, &a), WL_OK);
    assert_int_equal(emu_mem_alloc(f.machine, 5000, 4096, EMU_ALLOC_MANAGED, 8, &b), WL_OK);
    assert_int_equal(a % 512, 0);
    assert_int_equal(b % 4096, 0);
    emu_mem_usage(f.machine, &used, &total);
    assert_int_equal(used, 6000);
    assert_true(emu_mem_find(f.machine, a + 999, &found));
    assert_int_equal(found.id, 7);
    assert_false(emu_mem_find(f.machine, a + 1000, &found));
    memset((void *)(uintptr_t)b, 1, 5000);
    assert_int_equal(emu_mem_free(f.machine, a), WL_OK);
    assert_false(emu_mem_find(f.machine, a, &found));
    assert_int_equal(emu_mem_alloc(f.machine, UINT64_C(1) << 40, 1, EMU_ALLOC_DEVICE, 7, &a),
                     WL_NOMEM);
    assert_int_equal(emu_mem_alloc(f.machine, 8, 3, EMU_ALLOC_DEVICE, 7, &a), WL_ARG);
    static char own[256];
    assert_int_equal(emu_mem_register(f.machine, own, sizeof own, 9), WL_OK);
    assert_int_equal(emu_mem_register(f.machine, own + 8, 8, 9), WL_EXISTS);
    assert_true(emu_mem_find(f.machine, P(own + 255), &found));
    assert_int_equal(emu_mem_reserve(f.machine, 1 << 22, 0, &a), WL_OK);
    assert_false(emu_mem_find(f.machine, a, &found));
    assert_int_equal(emu_mem_map(f.machine, a + (1 << 21), 1 << 21, 10), WL_OK);
    assert_true(emu_mem_find(f.machine, a + (1 << 21), &found));
    assert_int_equal(emu_mem_unmap(f.machine, a + (1 << 21), 1 << 21), WL_OK);
    assert_false(emu_mem_find(f.machine, a + (1 << 21), &found));
    fixture_end(&f);
}

/* Pages of which something else lives on stay: the first and the last here. */
static void freed_memory_goes_back_to_the_host(void **state)
{
    (void)state;
    enum { PAGES = 8 };
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char resident[PAGES];
    fixture f;
    fixture_begin(&f, HEADER);
    uint64_t before, freed, after;
    assert_int_equal(emu_mem_alloc(f.machine, page / 2, page, EMU_ALLOC_DEVICE, 1, &before), WL_OK);
    assert_int_equal(emu_mem_alloc(f.machine, PAGES * page, 1, EMU_ALLOC_DEVICE, 2, &freed), WL_OK);
    assert_int_equal(emu_mem_alloc(f.machine, page / 2, 1, EMU_ALLOC_DEVICE, 3, &after), WL_OK);
    memset((void *)(uintptr_t)before, 1, after + page / 2 - before);
    assert_int_equal(emu_mem_free(f.machine, freed), WL_OK);
    uint64_t whole = (freed + page - 1) & ~(page - 1);
    assert_int_equal(mincore((void *)(uintptr_t)whole, (PAGES - 1) * page, resident), 0);
    for (uint32_t i = 0; i < PAGES - 1; i++)
        assert_int_equal(resident[i] & 1, 0);
    assert_int_equal(((char *)(uintptr_t)before)[page / 2 - 1], 1);
    assert_int_equal(*(char *)(uintptr_t)after, 1);
    assert_int_equal(emu_mem_free(f.machine, before), WL_OK); /* no whole page */
    fixture_end(&f);
}

static void addresses_are_the_same_in_each_run(void **state)
{
    (void)state;
    uint64_t first = 0;
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_begin(&f, HEADER);
        uint64_t a = P(fixture_alloc(&f, 1000));
        first = k ? first : a;
        assert_int_equal(a, first);
        fixture_end(&f);
    }
}

/* Machines that are there at the same time: a program's addresses lie in none of them. */
static void machines_lie_beside_each_other(void **state)
{
    enum { MACHINES = 3 };
    const emu_device device = {.sm = 90, .num_sms = 1};
    emu_machine *machines[MACHINES];
    (void)state;
    for (int k = 0; k < MACHINES; k++) {
        assert_int_equal(emu_machine_new_replay(&device, &machines[k], NULL), WL_OK);
        for (int z = 0; z < 64; z++) {
            uint64_t at = UINT64_C(0x7f0000000000) + ((uint64_t)z << 34);
            assert_int_equal(emu_mem_ghost(machines[k], at, 1 << 20, EMU_ALLOC_DEVICE,
                                           (uint32_t)z + 1),
                             WL_OK);
        }
    }
    for (int k = 0; k < MACHINES; k++)
        emu_machine_free(machines[k]);
}

static void variables_are_initialised(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, HEADER ".visible .global .align 4 .f32 x = 0f3FC00000;\n"
                             ".visible .global .align 4 .u32 m[2][3] = {{1, 2}, {4, 5, 6}};\n"
                             ".visible .const .align 2 .u16 c[4] = {7, 8};\n"
                             ".visible .global .align 8 .u64 ptr[2] = {m, generic(m)+8};\n"
                             ".visible .global .align 1 .b8 text[4] = {104, 105, 0};\n");
    uint64_t address, size, m;
    assert_true(emu_module_symbol(f.module, "x", &address, &size));
    assert_true(*(float *)(uintptr_t)address == 1.5f);
    assert_true(emu_module_symbol(f.module, "m", &m, &size));
    assert_int_equal(size, 24);
    static const uint32_t want[] = {1, 2, 0, 4, 5, 6};
    assert_memory_equal((void *)(uintptr_t)m, want, 24);
    assert_true(emu_module_symbol(f.module, "c", &address, &size));
    static const uint16_t constants[] = {7, 8, 0, 0};
    assert_memory_equal((void *)(uintptr_t)address, constants, 8);
    assert_true(emu_module_symbol(f.module, "ptr", &address, &size));
    assert_int_equal(((uint64_t *)(uintptr_t)address)[0], m);
    assert_int_equal(((uint64_t *)(uintptr_t)address)[1], m + 8);
    assert_true(emu_module_symbol(f.module, "text", &address, &size));
    assert_string_equal((char *)(uintptr_t)address, "hi");
    assert_false(emu_module_symbol(f.module, "none", &address, &size));
    fixture_end(&f);
}

/* ---- the observer ---- */

typedef struct seen {
    acc_request access[16];
    uint64_t first[16], last[16];
    uint32_t count, blocks;
    uint64_t warp_instructions;
} seen;

static void *begin_worker(void *ctx, uint32_t worker)
{
    assert_int_equal(worker, 0);
    return ctx;
}

static void *begin_block(void *worker, uint64_t block)
{
    ((seen *)worker)->blocks++;
    return block == 1 ? worker : NULL;
}

static void end_block(void *worker, void *block, uint64_t warp_instructions)
{
    assert_ptr_equal(worker, block);
    ((seen *)worker)->warp_instructions += warp_instructions;
}

static void see(void *block, const acc_request *access)
{
    seen *s = block;
    assert_true(s->count < 16);
    s->first[s->count] = access->addr[__builtin_ctz(access->mask)];
    s->last[s->count] = access->addr[31 - __builtin_clz(access->mask)];
    s->access[s->count++] = *access;
}

static void the_observer_sees_accesses(void **state)
{
    (void)state;
    fixture f;
    seen s = {0};
    const acc_observer observer = {.ctx = &s,
                                   .worker_begin = begin_worker,
                                   .block_begin = begin_block,
                                   .block_end = end_block,
                                   .access = see};
    fixture_begin(&f,
                  BEGIN("k") ".shared .align 16 .b8 box[1024]; .local .align 4 .b8 depot[8];\n"
                             "ld.global.nc.u32 %r2, [%rd3];\n"                            /* 4 */
                             "ld.global.v2.f32 {%f1, %f2}, [%rd1];\n"                     /* 5 */
                             "setp.lt.u32 %p1, %r1, 3; @%p1 st.global.u32 [%rd3], %r2;\n" /* 6 7 */
                             "mov.u32 %r3, box; mad.lo.u32 %r4, %r1, 8, %r3; st.shared.u32 [%r4], "
                             "%r2;\n"                                             /* 8 9 10 */
                             "mov.u64 %rd4, depot; st.local.u32 [%rd4+4], %r2;\n" /* 11 12 */
                             "mov.u64 %rd5, box; cvta.shared.u64 %rd6, %rd5; ld.volatile.u32 %r5, "
                             "[%rd6+4];\n"                                /* 13 14 15 */
                             "red.global.add.u32 [%rd1], 1; ret;\n" END); /* 16 */
    uint32_t *data = fixture_alloc(&f, 1000);
    f.observer = &observer;
    RUN(&f, "k", 3, 32, P(data));
    assert_int_equal(s.blocks, 3);
    assert_int_equal(s.count, 7);
    assert_int_equal(s.warp_instructions, 18);
    const acc_request *a = s.access;
    assert_int_equal(a[0].pc, 4);
    assert_int_equal(a[0].op, ACC_LOAD);
    assert_int_equal(a[0].space, ACC_GLOBAL);
    assert_int_equal(a[0].bytes, 4);
    assert_int_equal(a[0].stride, 4);
    assert_int_equal(a[0].mask, UINT32_MAX);
    assert_int_equal(a[0].flags, ACC_READONLY);
    assert_int_equal(a[0].object, 1);
    assert_int_equal(s.first[0], P(data));
    assert_int_equal(s.last[0], P(data) + 124);
    assert_int_equal(a[1].bytes, 8);
    assert_int_equal(a[1].stride, 0);
    assert_int_equal(a[2].op, ACC_STORE);
    assert_int_equal(a[2].mask, 7);
    assert_int_equal(a[2].stride, ACC_IRREGULAR);
    assert_int_equal(a[3].space, ACC_SHARED);
    assert_int_equal(a[3].stride, 8);
    assert_int_equal(s.last[3], 31 * 8);
    assert_int_equal(a[4].space, ACC_LOCAL);
    assert_int_equal(s.first[4], 4);
    assert_int_equal(a[5].space, ACC_SHARED);
    assert_int_equal(a[5].flags, ACC_VOLATILE | ACC_GENERIC);
    assert_int_equal(s.first[5], 4);
    assert_int_equal(a[6].op, ACC_REDUCTION);
    assert_int_equal(data[0], 32 * 3);
    fixture_end(&f);
}

/* Waiting at a barrier in shared memory reads it: lanes that wait together do not disturb one
 * another. */
static void the_observer_sees_barriers(void **state)
{
    (void)state;
    fixture f;
    seen s = {0};
    const acc_observer observer = {.ctx = &s,
                                   .worker_begin = begin_worker,
                                   .block_begin = begin_block,
                                   .block_end = end_block,
                                   .access = see};
    fixture_begin(&f, BEGIN("k") ".shared .align 8 .b8 bar[8];\n"
                                 "mov.u32 %r3, bar; mbarrier.init.shared.b64 [%r3], 1;\n"
                                 "mbarrier.arrive.shared.b64 %rd6, [%r3];\n"
                                 "mbarrier.test_wait.shared.b64 %p1, [%r3], %rd6;\n"
                                 "mbarrier.inval.shared.b64 [%r3]; ret;\n" END);
    void *data = fixture_alloc(&f, 4);
    f.observer = &observer;
    RUN(&f, "k", 2, 1, P(data));
    const acc_op ops[] = {ACC_STORE, ACC_ATOMIC, ACC_LOAD, ACC_STORE};
    assert_int_equal(s.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(s.access[i].op, ops[i]);
    fixture_end(&f);
}

/* Lanes of one generic access are in three spaces at once. */
static void generic_addresses_reach_all_spaces(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f,
        BEGIN(
            "k") ".shared .align 4 .u32 box; .local .align 4 .b8 depot[4];\n"
                 "st.shared.u32 [box], 11; mov.u64 %rd4, depot; st.local.u32 [%rd4], %r1; "
                 "bar.warp.sync -1;\n"
                 "mov.u64 %rd5, box; cvta.shared.u64 %rd5, %rd5; cvta.local.u64 %rd6, %rd4;\n"
                 "rem.u32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1;\n"
                 "selp.b64 %rd7, %rd5, %rd6, %p1; selp.b64 %rd7, %rd1, %rd7, %p2; ld.u32 %r3, "
                 "[%rd7];\n"
                 "isspacep.shared %p3, %rd7; isspacep.local %p4, %rd7; isspacep.global %p5, %rd7;\n"
                 "selp.u32 %r4, 1000, 0, %p3; selp.u32 %r5, 2000, 0, %p4; selp.u32 %r6, 4000, 0, "
                 "%p5;\n"
                 "add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6; "
                 "st.global.u32 [%rd3+4], %r3; ret;\n" END);
    uint32_t *data = fixture_alloc(&f, 4 * 33);
    data[0] = 99;
    RUN(&f, "k", 1, 32, P(data));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(data[1 + i], i % 3 == 0 ? 1011 : i % 3 == 1 ? 4099 : 2000 + i);
    fixture_end(&f);
}

/* Every name of a space, asked of an address of each kind. Whether a constant's address counts as a
 * global one, too, is left open. */
static void addresses_know_their_space(void **state)
{
    (void)state;
    enum { GLOBAL = 1, SHARED = 2, CTA = 4, CLUSTER = 8, LOCAL = 16, CONST = 32 };
    static const uint32_t want[] = {GLOBAL, SHARED | CTA | CLUSTER, LOCAL, CONST};
    fixture f;
    fixture_begin(
        &f, HEADER
        ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n.shared .align 4 .u32 box;\n"
        ".visible .entry k(.param .u64 p) {\n.local .align 4 .b8 depot[4]; .reg .pred %p<2>; "
        ".reg .b32 %r<4>; .reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, "
        "%rd1, %rd2;\n"
        "mov.u64 %rd4, box; cvta.shared.u64 %rd4, %rd4; mov.u64 %rd5, depot; cvta.local.u64 %rd5, "
        "%rd5; mov.u64 %rd6, table; cvta.const.u64 %rd6, %rd6;\n"
        "mov.u64 %rd7, 0; setp.eq.u32 %p1, %r1, 0; selp.b64 %rd7, %rd1, %rd7, %p1;\n"
        "setp.eq.u32 %p1, %r1, 1; selp.b64 %rd7, %rd4, %rd7, %p1;\n"
        "setp.eq.u32 %p1, %r1, 2; selp.b64 %rd7, %rd5, %rd7, %p1;\n"
        "setp.eq.u32 %p1, %r1, 3; selp.b64 %rd7, %rd6, %rd7, %p1; mov.u32 %r2, 0;\n"
        "isspacep.global %p1, %rd7; @%p1 or.b32 %r2, %r2, 1;\n"
        "isspacep.shared %p1, %rd7; @%p1 or.b32 %r2, %r2, 2;\n"
        "isspacep.shared::cta %p1, %rd7; @%p1 or.b32 %r2, %r2, 4;\n"
        "isspacep.shared::cluster %p1, %rd7; @%p1 or.b32 %r2, %r2, 8;\n"
        "isspacep.local %p1, %rd7; @%p1 or.b32 %r2, %r2, 16;\n"
        "isspacep.const %p1, %rd7; @%p1 or.b32 %r2, %r2, 32;\n"
        "st.global.u32 [%rd3], %r2; ret; }\n");
    uint32_t *data = fixture_alloc(&f, sizeof want);
    RUN(&f, "k", 1, 4, P(data));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(want[i] == CONST ? data[i] & ~(uint32_t)GLOBAL : data[i], want[i]);
    fixture_end(&f);
}

/* Lane i asks for 8 (i + 1) bytes and all get as many as the last: what comes next lies after them.
 * After stackrestore the same place is given away again. */
static void alloca_takes_local_memory_from_the_top(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, HEADER
        ".visible .entry k(.param .u64 p) {\n.local .align 8 .b8 depot[8]; .reg .b32 %r<4>; .reg "
        ".b64 %rd<19>;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 32; add.u64 %rd3, "
        "%rd1, %rd2; cvt.u64.u32 %rd4, %r1;\n"
        "mov.u64 %rd5, depot; st.local.u64 [%rd5], 77; stacksave.u64 %rd6;\n"
        "add.u64 %rd7, %rd4, 1; shl.b64 %rd7, %rd7, 3; alloca.u64 %rd8, %rd7;\n"
        "alloca.u64 %rd9, 4; alloca.u64 %rd10, 8, 64;\n"
        "add.u64 %rd11, %rd8, %rd7; st.local.u64 [%rd11+-8], %rd4;\n"
        "st.local.u32 [%rd9], -1; st.local.u64 [%rd10], -1;\n"
        "ld.local.u64 %rd12, [%rd11+-8]; st.global.u64 [%rd3], %rd12;\n"
        "sub.u64 %rd13, %rd9, %rd8; st.global.u64 [%rd3+8], %rd13;\n"
        "and.b64 %rd14, %rd10, 63; stackrestore.u64 %rd6; alloca.u64 %rd15, 8; sub.u64 %rd16, "
        "%rd15, %rd8; or.b64 %rd14, %rd14, %rd16; st.global.u64 [%rd3+16], %rd14;\n"
        "ld.local.u64 %rd17, [%rd5]; st.global.u64 [%rd3+24], %rd17; ret; }\n"
        ".visible .entry greedy(.param .u64 n) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [n]; "
        "alloca.u64 %rd2, %rd1; ret; }\n");
    uint64_t *out = fixture_alloc(&f, 32 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[4 * i], i);
        assert_int_equal(out[4 * i + 1], 8 * 32);
        assert_int_equal(out[4 * i + 2], 0); /* aligned by 64; and the first place again */
        assert_int_equal(out[4 * i + 3], 77);
    }
    RUN(&f, "greedy", 1, 1, 256);
    assert_int_equal(TRY(&f, "greedy", 1, 1, UINT64_C(1) << 32), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_STACK_OVERFLOW);
    assert_non_null(strstr(f.result.fault.text, "asks for 4294967296 bytes"));
    fixture_end(&f);
}

/* ---- the system's functions ---- */

static void collect(void *ctx, const char *text, size_t length)
{
    strncat(ctx, text, length);
}

static void kernels_print_in_order(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, HEADER
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 fmt[] = "
        "{37,100,58,32,37,53,46,50,102,32,37,115,32,37,108,120,37,37,32,37,99,10,0};\n"
        ".global .align 1 .b8 word[3] = {111, 107, 0};\n"
        ".visible .entry k(.param .u64 p) { .local .align 8 .b8 depot[40]; .reg .b32 %r<4>; .reg "
        ".b64 %rd<9>;\n"
        ".reg .pred %p<2>;\n"
        "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 exit; mov.u32 %r1, %ctaid.x;\n"
        "mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; st.local.u32 [%rd1], %r1;\n"
        "st.local.f64 [%rd1+8], 0d400921FB54442D18; mov.u64 %rd3, word; st.local.u64 [%rd1+16], "
        "%rd3;\n"
        "st.local.u64 [%rd1+24], 0xabcdef0123; st.local.u32 [%rd1+32], 65;\n"
        "mov.u64 %rd4, fmt; { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], "
        "%rd4;\n"
        "st.param.b64 [b], %rd2; call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; } ret; }\n");
    static char text[4096], want[4096];
    for (int b = 0; b < 50; b++)
        sprintf(want + strlen(want), "%d: %5.2f ok %lx%% A\n", b, 3.14159265, 0xabcdef0123ul);
    f.print = collect;
    f.print_ctx = text;
    for (f.threads = 1; f.threads <= 2; f.threads++) {
        text[0] = '\0';
        RUN(&f, "k", 50, 32, 0);
        assert_string_equal(text, want);
    }
    fixture_end(&f);
}

static void kernels_allocate(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, HEADER
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
        ".visible .entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; add.u64 %rd2, %rd2, "
        "1; shl.b64 %rd2, %rd2, 2;\n"
        "{ .param .b64 a; .param .b64 b; st.param.b64 [a], %rd2; call.uni (b), malloc, (a); "
        "ld.param.b64 %rd3, [b]; }\n"
        "add.u64 %rd4, %rd3, %rd2; st.u32 [%rd4+-4], %r1; ld.u32 %r2, [%rd4+-4];\n"
        "{ .param .b64 a; st.param.b64 [a], %rd3; call.uni free, (a); }\n"
        "red.global.add.u32 [%rd1], %r2; ret; }\n"
        ".visible .entry bad(.param .u64 p) { .reg .b64 %rd<9>; ld.param.u64 %rd1, [p];\n"
        "{ .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); } ret; }\n");
    uint32_t *sum = fixture_alloc(&f, 4);
    RUN(&f, "k", 2, 100, P(sum));
    assert_int_equal(*sum, 2 * 4950);
    assert_int_equal(TRY(&f, "bad", 1, 1, P(sum)), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_ILLEGAL_ADDRESS);
    fixture_end(&f);
}

static void unknown_instructions_are_named(void **state)
{
    (void)state;
    fixture f;
    emu_kernel *k;
    fixture_begin(&f, HEADER
                  ".visible .entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
                  "mov.u32 %r1, 0;\n"
                  "tcgen05.wait::ld.sync.aligned;\n ret; }\n.visible .entry fine() { ret; }\n");
    assert_int_equal(emu_module_kernel(f.module, "k", &k, &f.err), WL_UNSUPPORTED);
    assert_non_null(strstr(f.err.text, "kernel k"));
    assert_non_null(strstr(f.err.text, "line 6"));
    assert_non_null(strstr(f.err.text, "tcgen05.wait::ld"));
    assert_int_equal(emu_module_kernel(f.module, "none", &k, &f.err), WL_NOENT);
    RUN(&f, "fine", 1, 1, 0);
    fixture_end(&f);
}

static void launches_that_cannot_be_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, HEADER ".visible .entry k() .maxntid 64, 1, 1 { ret; }\n");
    assert_int_equal(TRY(&f, "k", 1, 65, 0), WL_FAULT);
    assert_int_equal(f.result.fault.cuda_error, 701);
    assert_int_equal(TRY(&f, "k", 0, 32, 0), WL_ARG);
    f.dynamic_shared = 300 << 10;
    assert_int_equal(TRY(&f, "k", 1, 32, 0), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_OUT_OF_RESOURCES);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_say_what_and_where),
        cmocka_unit_test(the_first_block_speaks),
        cmocka_unit_test(a_fault_ends_blocks_that_go_on_for_ever),
        cmocka_unit_test(memory_is_accounted),
        cmocka_unit_test(freed_memory_goes_back_to_the_host),
        cmocka_unit_test(addresses_are_the_same_in_each_run),
        cmocka_unit_test(machines_lie_beside_each_other),
        cmocka_unit_test(variables_are_initialised),
        cmocka_unit_test(the_observer_sees_accesses),
        cmocka_unit_test(the_observer_sees_barriers),
        cmocka_unit_test(generic_addresses_reach_all_spaces),
        cmocka_unit_test(addresses_know_their_space),
        cmocka_unit_test(alloca_takes_local_memory_from_the_top),
        cmocka_unit_test(kernels_print_in_order),
        cmocka_unit_test(kernels_allocate),
        cmocka_unit_test(unknown_instructions_are_named),
        cmocka_unit_test(launches_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
