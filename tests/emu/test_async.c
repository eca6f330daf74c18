/* Asynchronous copies, barriers in shared memory, matrices. */
#include "fixture.h"

#define BEGIN(name)                                                                               \
    HEADER ".visible .entry " name "(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg " \
           ".b64 %rd<12>; .reg .f32 %f<30>;\n"                                                    \
           "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 "     \
           "%rd3, %rd1, %rd2;\n"
#define END "}\n"

/* 16 bytes a thread, odd threads read only 8 of them. */
static void copies_fill_with_zeros(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") ".shared .align 16 .b8 box[512]; mov.u32 %r2, box; shl.b32 %r3, "
                                 "%r1, 4; add.u32 %r4, %r2, %r3;\n"
                                 "mul.wide.u32 %rd4, %r1, 16; add.u64 %rd5, %rd1, %rd4; and.b32 "
                                 "%r5, %r1, 1; shl.b32 %r6, %r5, 3; sub.u32 %r7, 16, %r6;\n"
                                 "cp.async.cg.shared.global [%r4], [%rd5], 16, %r7; "
                                 "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
                                 "ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r4]; st.global.v4.u32 "
                                 "[%rd5+512], {%r8, %r9, %r10, %r11}; ret;\n" END);
    uint32_t *data = fixture_alloc(&f, 1024);
    for (uint32_t i = 0; i < 128; i++)
        data[i] = i + 1;
    RUN(&f, "k", 1, 32, P(data));
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(data[128 + i], i / 4 % 2 && i % 4 >= 2 ? 0 : i + 1);
    fixture_end(&f);
}

/* One thread starts a bulk copy; all wait for its bytes, twice, by parity. */
static void bulk_copies_complete_barriers(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, BEGIN("k") ".shared .align 128 .b8 box[1024]; .shared .align 8 .b64 bar; mov.u32 %r2, "
                       "box; mov.u32 %r3, bar;\n"
                       "setp.ne.u32 %p1, %r1, 0; @%p1 bra I; mbarrier.init.shared::cta.b64 [%r3], "
                       "64;\nI: bar.sync 0;\n"
                       "mov.u32 %r4, 0;\n"
                       "L: setp.ne.u32 %p2, %r1, 33; @%p2 bra A;\n"
                       "mbarrier.arrive.expect_tx.shared::cta.b64 %rd6, [%r3], 256;\n"
                       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], "
                       "[%rd1], 256, [%r3]; bra W;\n"
                       "A: mbarrier.arrive.shared::cta.b64 %rd6, [%r3];\n"
                       "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], %r4; @!%p3 bra W;\n"
                       "shl.b32 %r5, %r1, 2; add.u32 %r6, %r2, %r5; ld.shared.u32 %r7, [%r6]; "
                       "bar.sync 0; add.u32 %r7, %r7, 1000;\n"
                       "st.global.u32 [%rd3], %r7; bar.sync 0; add.u32 %r4, %r4, 1; setp.lt.u32 "
                       "%p4, %r4, 2; @%p4 bra L;\n"
                       "mbarrier.arrive.shared.b64 %rd7, [%r3]; mbarrier.test_wait.shared.b64 %p5, "
                       "[%r3], %rd6; selp.u32 %r8, 1, 0, %p5;\n"
                       "st.global.u32 [%rd3+256], %r8; ret;\n" END);
    uint32_t *data = fixture_alloc(&f, 512);
    for (uint32_t i = 0; i < 64; i++)
        data[i] = i;
    RUN(&f, "k", 1, 64, P(data));
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(data[i], i + 2000);
        assert_int_equal(data[64 + i], 1);
    }
    fixture_end(&f);
}

static void bulk_reductions_add(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, BEGIN("k") ".shared .align 128 .b8 box[64]; mov.u32 %r2, box; shl.b32 %r3, %r1, 2; "
                       "add.u32 %r4, %r2, %r3;\n"
                       "st.shared.u32 [%r4], %r1; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 exit;\n"
                       "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], "
                       "64; cp.async.bulk.commit_group;\n"
                       "cp.async.bulk.wait_group 0; cp.async.bulk.global.shared::cta.bulk_group "
                       "[%rd1+64], [%r2], 64; ret;\n" END);
    uint32_t *data = fixture_alloc(&f, 128);
    RUN(&f, "k", 3, 16, P(data));
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(data[i], 3 * i);
        assert_int_equal(data[16 + i], i);
    }
    assert_int_equal(TRY(&f, "k", 1, 16, P(data) + 32), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_ILLEGAL_ADDRESS);
    fixture_end(&f);
}

/* D = A B + C with wmma: A(i, k) = i, B(k, j) = j, C = 1, so D(i, j) = 16 i j + 1. C and D are
 * stored by columns. */
static void wmma_multiplies(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f,
        BEGIN("k") "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
                   "{%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, [%rd1], 16;\n"
                   "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 "
                   "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%rd1+512], 16;\n"
                   "mov.f32 %f1, 0f3F800000;\n"
                   "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
                   "{%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9},\n"
                   "{%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, "
                   "{%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};\n"
                   "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd1+1024], "
                   "{%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9}, 20;\n"
                   "ret;\n" END);
    uint8_t *data = fixture_alloc(&f, 1024 + 16 * 20 * 4);
    static const uint16_t half[] = {0,      0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700,
                                    0x4800, 0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80};
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++) {
            ((uint16_t *)data)[16 * i + k] = half[i];       /* by rows */
            ((uint16_t *)data)[256 + 16 * i + k] = half[i]; /* B by columns: column i */
        }
    RUN(&f, "k", 1, 32, P(data));
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            assert_true(((float *)(data + 1024))[20 * j + i] == (float)(16 * i * j + 1));
    fixture_end(&f);
}

typedef struct seen_matrices {
    uint32_t loads, stores;
} seen_matrices;

static void *see_worker(void *ctx, uint32_t worker)
{
    (void)worker;
    return ctx;
}

static void *see_block(void *worker, uint64_t block)
{
    (void)block;
    return worker;
}

/* The eight lanes that name the rows of one matrix. */
static void see_request(void *block, const acc_request *a)
{
    seen_matrices *s = block;
    if (!(a->flags & ACC_MATRIX))
        return;
    assert_int_equal(a->flags, ACC_MATRIX);
    assert_int_equal(a->space, ACC_SHARED);
    assert_int_equal(a->mask, 0xff);
    assert_int_equal(a->bytes, 16);
    s->loads += a->op == ACC_LOAD;
    s->stores += a->op == ACC_STORE;
}

/* ldmatrix gives lane l elements (l / 4, 2 (l % 4)) and the next; .trans those of the transposed
 * matrix. */
static void matrices_load_and_store(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f,
                  BEGIN("k") ".shared .align 16 .b8 box[512]; mov.u32 %r2, box; shl.b32 %r3, %r1, "
                             "2; add.u32 %r4, %r2, %r3;\n"
                             "shl.b32 %r5, %r1, 1; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; "
                             "or.b32 %r7, %r5, %r6; st.shared.u32 [%r4], %r7; bar.sync 0;\n"
                             "and.b32 %r8, %r1, 7; shl.b32 %r8, %r8, 4; add.u32 %r8, %r8, %r2;\n"
                             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r8]; "
                             "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r10}, [%r8];\n"
                             "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r8], {%r9}; "
                             "bar.sync 0; ld.shared.u32 %r11, [%r4];\n"
                             "st.global.u32 [%rd3], %r9; st.global.u32 [%rd3+128], %r10; "
                             "st.global.u32 [%rd3+256], %r11; ret;\n" END);
    seen_matrices seen = {0};
    const acc_observer observer = {
        .ctx = &seen, .worker_begin = see_worker, .block_begin = see_block, .access = see_request};
    f.observer = &observer;
    uint32_t *data = fixture_alloc(&f, 384);
    RUN(&f, "k", 1, 32, P(data));
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t row = l / 4, column = l % 4 * 2;
        uint32_t straight = (8 * row + column) | (8 * row + column + 1) << 16;
        uint32_t turned = (8 * column + row) | (8 * (column + 1) + row) << 16;
        assert_int_equal(data[l], straight);
        assert_int_equal(data[32 + l], turned);
        assert_int_equal(data[64 + l], turned);
    }
    assert_int_equal(seen.loads, 2);
    assert_int_equal(seen.stores, 1);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_fill_with_zeros),  cmocka_unit_test(bulk_copies_complete_barriers),
        cmocka_unit_test(bulk_reductions_add),     cmocka_unit_test(wmma_multiplies),
        cmocka_unit_test(matrices_load_and_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
