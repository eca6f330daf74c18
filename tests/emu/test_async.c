/* Asynchronous copies, barriers in shared memory, matrices. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>

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
    memset(data, 0xee, 1024 + 16 * 20 * 4);
    static const uint16_t half[] = {0,      0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700,
                                    0x4800, 0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80};
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++) {
            ((uint16_t *)data)[16 * i + k] = half[i];       /* by rows */
            ((uint16_t *)data)[256 + 16 * i + k] = half[i]; /* B by columns: column i */
        }
    RUN(&f, "k", 1, 32, P(data));
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 20; i++) {
            const uint8_t *at = data + 1024 + 4 * (20 * j + i);
            const uint8_t untouched[4] = {0xee, 0xee, 0xee, 0xee};
            const float want = (float)(16 * i * j + 1);
            assert_memory_equal(at, i < 16 ? (const void *)&want : untouched, 4);
        }
    fixture_end(&f);
}

/* ---- mma, with elements of every type ---- */

/* Of a type: some codes, and what they stand for. */
typedef struct element {
    uint64_t code[4];
    double value[4];
} element;

static const element F16 = {{0x3c00, 0x4000, 0xb800, 0x3e00}, {1, 2, -0.5, 1.5}},
                     BF16 = {{0x3f80, 0x4000, 0xbf00, 0x4110}, {1, 2, -0.5, 9}},
                     /* the last 13 bits do not count */
    TF32 = {{0x3f800000, 0x40001fff, 0xbf000000, 0x41100000}, {1, 2, -0.5, 9}},
                     F64 = {{0x3ff0000000000000, 0x4000000000000000, 0xbfe0000000000000,
                             0x3ff0000000000001},
                            {1, 2, -0.5, 1 + 0x1p-52}},
                     E4M3 = {{0x38, 0x41, 0xb0, 0x01}, {1, 2.25, -0.5, 0x1p-9}},
                     E5M2 = {{0x3c, 0x41, 0xb8, 0x01}, {1, 2.5, -0.5, 0x1p-16}},
                     S8 = {{0x7f, 0x80, 0x01, 0xff}, {127, -128, 1, -1}},
                     U8 = {{0x7f, 0x80, 0x01, 0xff}, {127, 128, 1, 255}},
                     S4 = {{0x7, 0x8, 0x1, 0xf}, {7, -8, 1, -1}},
                     U4 = {{0x7, 0x8, 0x1, 0xf}, {7, 8, 1, 15}}, B1 = {{0, 1, 1, 0}, {0, 1, 1, 0}};

typedef struct mma_case {
    const char *text;    /* from the shape on */
    uint32_t m, k, bits; /* n is 8; bits of an element of A and B */
    const element *a, *b;
    char sum; /* the type of C and D: 'h' f16, 'f' f32, 'd' f64, 's' s32 */
} mma_case;

static const mma_case mma_cases[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, &F16, &F16, 'f'},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 16, &F16, &F16, 'h'},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 16, &BF16, &BF16, 'f'},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 32, &TF32, &TF32, 'f'},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 64, &F64, &F64, 'd'},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 32, 8, &E4M3, &E5M2, 'f'},
    {"m16n8k32.row.col.s32.s8.u8.s32", 16, 32, 8, &S8, &U8, 's'},
    {"m8n8k16.row.col.s32.u8.s8.s32", 8, 16, 8, &U8, &S8, 's'},
    {"m16n8k64.row.col.s32.s4.u4.s32", 16, 64, 4, &S4, &U4, 's'},
    {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 256, 1, &B1, &B1, 's'},
    {"m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 128, 1, &B1, &B1, 's'},
};

static uint32_t code_of_a(uint32_t row, uint32_t k)
{
    return (7 * row + 5 * k + row * k / 3) % 4;
}

static uint32_t code_of_b(uint32_t k, uint32_t column)
{
    return (3 * k + column + k * column / 2) % 4;
}

static double element_of_c(const mma_case *c, uint32_t row, uint32_t column)
{
    (void)c;
    return (double)row - 2 * column;
}

static double element_of_d(const mma_case *c, uint32_t row, uint32_t column)
{
    double sum = element_of_c(c, row, column);
    for (uint32_t k = 0; k < c->k; k++) {
        double x = c->a->value[code_of_a(row, k)], y = c->b->value[code_of_b(k, column)];
        sum = strstr(c->text, "xor") ? sum + (x != y)
                                     : fma(x, y, sum); /* rounded once, in f64 too */
    }
    return sum;
}

/* Exact where f16 can hold the number. */
static uint64_t half_bits(double v)
{
    int exponent;
    double mantissa = frexp(fabs(v), &exponent);
    return v == 0 ? 0
                  : (uint64_t)(v < 0) << 15 | (uint64_t)(exponent + 14) << 10 |
                        ((uint64_t)ldexp(mantissa, 11) - 1024);
}

static uint64_t sum_bits(char type, double v)
{
    float f = (float)v;
    uint64_t bits = 0;
    switch (type) {
    case 'h': return half_bits(v);
    case 'f': memcpy(&bits, &f, sizeof f); return bits;
    case 'd': memcpy(&bits, &v, sizeof v); return bits;
    default: return (uint32_t)(int32_t)v;
    }
}

/* Each lane has 64 bytes for its registers of each matrix; PTX ISA, "Matrix Fragments for mma":
 * which elements they hold. */
enum { LANE_BYTES = 64, MATRIX_BYTES = 32 * LANE_BYTES };

/* Registers of 32 bits lie at addresses that no uint64_t has. */
typedef uint64_t register_word __attribute__((aligned(4)));

static register_word *place_in_lane(void *matrix, uint32_t lane, uint32_t reg, uint32_t reg_bits)
{
    return (register_word *)((char *)matrix + lane * LANE_BYTES + reg * reg_bits / 8);
}

static uint32_t register_bits(uint32_t element_bits)
{
    return element_bits == 64 ? 64 : 32;
}

static void fill_a_and_b(const mma_case *c, char *memory)
{
    uint32_t size = register_bits(c->bits), per = size / c->bits, tall = c->m / 8;
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t n = 0; n < c->k / 4; n++) { /* this lane's elements of a row of A */
            uint32_t step = n / per, k = step * 4 * per + lane % 4 * per + n % per;
            uint32_t shift = n % per * c->bits;
            for (uint32_t half = 0; half < tall; half++)
                *place_in_lane(memory, lane, step * tall + half,
                               size) |= c->a->code[code_of_a(lane / 4 + 8 * half, k)] << shift;
            *place_in_lane(memory + MATRIX_BYTES, lane, step,
                           size) |= c->b->code[code_of_b(k, lane / 4)] << shift;
        }
}

static uint32_t sum_element_bits(const mma_case *c)
{
    return c->sum == 'h' ? 16 : c->sum == 'd' ? 64 : 32;
}

typedef double sum_element(const mma_case *c, uint32_t row, uint32_t column);

static void fill_c_or_d(const mma_case *c, char *matrix, sum_element *of)
{
    uint32_t bits = sum_element_bits(c), size = register_bits(bits);
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t n = 0; n < c->m / 4; n++) {
            uint64_t v = sum_bits(c->sum, of(c, lane / 4 + 8 * (n / 2), 2 * (lane % 4) + n % 2));
            *place_in_lane(matrix, lane, n * bits / size, size) |= v << n * bits % size;
        }
}

/* ---- its kernel ---- */

static void move_registers(char *text, bool load, const char *type, char name, uint32_t count,
                           uint32_t at)
{
    for (uint32_t n = 0; n < count; n++) {
        char reg[16], address[32];
        snprintf(reg, sizeof reg, "%%%c%u", name, n);
        snprintf(address, sizeof address, "[%%rd3+%u]", at + n * (strcmp(type, "f64") ? 4 : 8));
        sprintf(text + strlen(text), "%s.global.%s %s, %s;\n", load ? "ld" : "st", type,
                load ? reg : address, load ? address : reg);
    }
}

static void list_registers(char *text, char name, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        sprintf(text + strlen(text), "%s%%%c%u%s", n ? "," : "{", name, n,
                n + 1 < count ? "" : "}");
}

static void write_mma_kernel(const mma_case *c, char *text)
{
    uint32_t bits = sum_element_bits(c);
    const char *in = c->bits == 64 ? "f64" : "b32";
    const char *out = c->sum == 'd' ? "f64" : c->sum == 'f' ? "f32" : "b32";
    const uint32_t count[4] = {c->m * c->k * c->bits / 32 / register_bits(c->bits),
                               8 * c->k * c->bits / 32 / register_bits(c->bits),
                               c->m * 8 * bits / 32 / register_bits(bits),
                               c->m * 8 * bits / 32 / register_bits(bits)};
    sprintf(text,
            HEADER ".visible .entry k(.param .u64 p) {\n.reg .b32 %%r<2>; .reg .b64 %%rd<4>;\n.reg "
                   ".%s %%a<4>, %%b<4>; .reg .%s %%c<4>, %%d<4>;\n"
                   "ld.param.u64 %%rd1, [p]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, %%r1, %u; "
                   "add.u64 %%rd3, %%rd1, %%rd2;\n",
            in, out, LANE_BYTES);
    for (uint32_t n = 0; n < 3; n++)
        move_registers(text, true, n < 2 ? in : out, "abc"[n], count[n], n * MATRIX_BYTES);
    sprintf(text + strlen(text), "mma.sync.aligned.%s ", c->text);
    for (uint32_t n = 0; n < 4; n++) {
        list_registers(text, "dabc"[n], count[(n + 3) % 4]);
        strcat(text, n < 3 ? ", " : ";\n");
    }
    move_registers(text, false, out, 'd', count[3], 3 * MATRIX_BYTES);
    strcat(text, "ret; }\n");
}

static void matrices_of_every_type_multiply(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof mma_cases / sizeof *mma_cases; n++) {
        const mma_case *c = &mma_cases[n];
        static char text[4096], want[MATRIX_BYTES];
        fixture f;
        write_mma_kernel(c, text);
        fixture_begin(&f, text);
        char *memory = fixture_alloc(&f, 4 * MATRIX_BYTES);
        fill_a_and_b(c, memory);
        fill_c_or_d(c, memory + 2 * MATRIX_BYTES, element_of_c);
        memset(want, 0, sizeof want);
        fill_c_or_d(c, want, element_of_d);
        RUN(&f, "k", 1, 32, P(memory));
        if (memcmp(memory + 3 * MATRIX_BYTES, want, sizeof want) != 0)
            fail_msg("%s gives another product", c->text);
        fixture_end(&f);
    }
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
        cmocka_unit_test(copies_fill_with_zeros),
        cmocka_unit_test(bulk_copies_complete_barriers),
        cmocka_unit_test(bulk_reductions_add),
        cmocka_unit_test(wmma_multiplies),
        cmocka_unit_test(matrices_load_and_store),
        cmocka_unit_test(matrices_of_every_type_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
