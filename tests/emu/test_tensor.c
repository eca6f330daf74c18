/* Bulk copies of boxes of tensors: every rank and swizzle against a naive reference, what of a box
 * is shown, clusters, reductions, and maps that are changed. */
#include "fixture.h"

#include "access/tensor.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 16384, RANKS = 5 };

/* ---- kernels ---- */

#define PARAMS                                                                              \
    "(.param .align 64 .b8 map[128], .param .u64 data, .param .u32 bytes, .param .u32 c0, " \
    ".param .u32 c1, .param .u32 c2, .param .u32 c3, .param .u32 c4, .param .u32 shift)"
#define REGISTERS                                                                            \
    ".reg .pred %p<9>; .reg .b32 %r<30>; .reg .b16 %h<4>; .reg .b64 %rd<12>;\n"              \
    "mov.b64 %rd1, map; cvta.param.u64 %rd2, %rd1; ld.param.u64 %rd3, [data]; mov.u32 %r1, " \
    "%tid.x;\n"                                                                              \
    "ld.param.u32 %r2, [c0]; ld.param.u32 %r3, [c1]; ld.param.u32 %r4, [c2]; ld.param.u32 "  \
    "%r5, [c3]; ld.param.u32 %r6, [c4]; mov.u32 %r7, room; mov.u32 %r8, bar;\n"              \
    "ld.param.u32 %r22, [shift]; cvt.u64.u32 %rd7, %r22; add.u64 %rd2, %rd2, %rd7;\n"
#define SHARED ".extern .shared .align 1024 .b8 room[];\n"
/* 32-bit words of shared memory and of `data`, by all threads of the warp. */
#define EACH_WORD(label, body)                                                            \
    "shl.b32 %r10, %r1, 2;\n" label ": add.u32 %r11, %r7, %r10; cvt.u64.u32 %rd5, %r10; " \
    "add.u64 %rd6, %rd3, %rd5; " body " add.u32 %r10, %r10, 128;\n"                       \
    "setp.lt.u32 %p2, %r10, 16384; @%p2 bra " label "; bar.sync 0;\n"

static const char *const coordinates[RANKS] = {"%r2", "%r2, %r3", "%r2, %r3, %r4",
                                               "%r2, %r3, %r4, %r5", "%r2, %r3, %r4, %r5, %r6"};

static const char load_begins[] = HEADER SHARED
    ".visible .entry k" PARAMS "{\n.shared .align 8 .b64 bar;\n" REGISTERS EACH_WORD(
        "F", "ld.global.u32 %r12, [%rd6]; st.shared.u32 [%r11], "
             "%r12;") "setp.ne.u32 %p1, %r1, 0; @%p1 bra W;\n"
                      "prefetch.tensormap [%rd2];\n"
                      "mbarrier.init.shared::cta.b64 [%r8], 1; "
                      "fence.proxy.async.shared::cta;\n"
                      "ld.param.u32 %r9, [bytes]; "
                      "mbarrier.arrive.expect_tx.shared::cta.b64 _, "
                      "[%r8], %r9;\n";
static const char load_ends[] =
    "W: bar.sync 0;\n"
    "L: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], 0; @!%p3 bra L;\n"
    "bar.sync 0;\n" EACH_WORD(
        "G", "ld.shared.u32 %r12, [%r11]; st.global.u32 [%rd6], %r12;") "ret;\n}\n";
static const char store_begins[] = HEADER SHARED
    ".visible .entry k" PARAMS "{\n.shared .align 8 .b64 bar;\n" REGISTERS EACH_WORD(
        "F", "ld.global.u32 %r12, [%rd6]; st.shared.u32 [%r11], "
             "%r12;") "setp.ne.u32 %p1, %r1, 0; @%p1 bra W;\n"
                      /* where the box begins */
                      "ld.param.u32 %r9, [bytes]; add.u32 %r7, %r7, %r9;\n"
                      "fence.proxy.async.shared::cta;\n";
static const char store_ends[] =
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\nW: ret;\n}\n";

/* Loads a box over shared memory that holds `data`, and writes what is there then to `data`. */
static void write_load(char *text, size_t size, uint32_t rank)
{
    const char *at = coordinates[rank - 1];
    snprintf(text, size,
             "%scp.async.bulk.prefetch.tensor.%ud.L2.global.tile [%%rd2, {%s}];\n"
             "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
             "[%%r7], [%%rd2, {%s}], [%%r8];\n%s",
             load_begins, rank, at, rank, at, load_ends);
}

/* Stores what is in `data`, or reduces by it. */
static void write_store(char *text, size_t size, uint32_t rank, const char *reduction)
{
    snprintf(text, size,
             "%scp%s.async.bulk.tensor.%ud.global.shared::cta%s%s.tile.bulk_group [%%rd2, {%s}], "
             "[%%r7];\n%s",
             store_begins, *reduction ? ".reduce" : "", rank, *reduction ? "." : "", reduction,
             coordinates[rank - 1], store_ends);
}

typedef struct params {
    _Alignas(64) uint8_t map[128];
    uint64_t data;
    uint32_t bytes;
    int32_t at[RANKS];
    uint32_t shift; /* of the map's address */
} params;

static wl_status launch(fixture *f, const params *p, uint32_t grid)
{
    emu_kernel *kernel = fixture_kernel(f, "k");
    emu_launch l = {.grid = {grid, 1, 1},
                    .block = {32, 1, 1},
                    .cluster = f->cluster,
                    .dynamic_shared = ROOM,
                    .params = p,
                    .threads = 1,
                    .time_limit = 20,
                    .observer = f->observer};
    emu_result_clear(&f->result);
    return emu_run(f->machine, kernel, &l, &f->result, &f->err);
}

/* ---- the naive reference: element by element, and a swizzle by the guide's picture ---- */

/* Rows of 128 bytes of shared memory, of eight pieces of 16: where piece `x` of row `y` goes. */
static uint32_t swizzled(uint32_t swizzle, uint32_t offset)
{
    static const uint32_t rows[4] = {1, 2, 4, 8};
    uint32_t y = offset / 128, x = offset % 128 / 16;
    return y * 128 + ((y % rows[swizzle]) ^ x) * 16 + offset % 16;
}

typedef struct reference {
    const acc_tensor *t;
    const int32_t *at;
    uint8_t *tensor, *shared;
    bool load;
} reference;

static void one_element(const reference *r, const uint32_t *index, uint32_t row)
{
    const acc_tensor *t = r->t;
    static const uint32_t widths[4] = {0, 32, 64, 128};
    uint32_t bytes = (uint32_t)t->stride[0], width = widths[t->swizzle];
    uint64_t offset = 0;
    bool inside = true;
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t c = (int64_t)r->at[d] + index[d];
        inside &= c >= 0 && c < (int64_t)t->dim[d];
        offset += (uint64_t)c * t->stride[d];
    }
    uint32_t pitch = width ? width : t->box[0] * bytes;
    for (uint32_t b = 0; b < bytes; b++) {
        uint8_t *s = r->shared + swizzled(t->swizzle, row * pitch + index[0] * bytes + b);
        uint8_t outside = t->nan ? (uint8_t)(b % 2 ? 0x7f : 0xf7) : 0;
        if (r->load)
            *s = inside ? r->tensor[offset + b] : outside;
        else if (inside)
            r->tensor[offset + b] = *s;
    }
}

static void move_by_elements(const reference *r)
{
    const acc_tensor *t = r->t;
    uint32_t size[RANKS], index[RANKS], row = 0;
    for (uint32_t d = 0; d < RANKS; d++)
        size[d] = d < t->rank ? t->box[d] : 1;
#define LOOP(d) \
    for (index[d] = 0; index[d] < size[d]; index[d] += d < (int)t->rank ? t->step[d] : 1)
    LOOP(4)
    LOOP(3)
    LOOP(2)
    LOOP(1)
    {
        for (index[0] = 0; index[0] < size[0]; index[0]++)
            one_element(r, index, row);
        row++;
    }
}

/* ---- tensors at random ---- */

static const uint8_t elements[] = {ACC_ELEMENT_U8,   ACC_ELEMENT_U16,    ACC_ELEMENT_S32,
                                   ACC_ELEMENT_U64,  ACC_ELEMENT_F16,    ACC_ELEMENT_F64,
                                   ACC_ELEMENT_BF16, ACC_ELEMENT_F32_FTZ};

static void draw_row(uint64_t *random, acc_tensor *t)
{
    static const uint32_t most[4] = {256, 32, 64, 128};
    uint32_t bytes = acc_element_bytes((acc_element)t->element);
    uint32_t row = 16 * (1 + (uint32_t)random_below(random, most[t->swizzle] / 16));
    if (row / bytes > 256)
        row = 256 * bytes;
    t->box[0] = (uint16_t)(row / bytes);
    t->dim[0] = 1 + random_below(random, 2 * t->box[0]);
    t->stride[0] = bytes;
    t->step[0] = 1;
}

static acc_tensor draw_tensor(uint64_t *random, uint32_t rank, uint32_t swizzle)
{
    acc_tensor t = {.rank = (uint8_t)rank,
                    .swizzle = (uint8_t)swizzle,
                    .element = elements[random_below(random, sizeof elements)]};
    static const uint32_t most_rows[RANKS] = {1, 20, 6, 4, 3};
    draw_row(random, &t);
    t.nan = t.element >= ACC_ELEMENT_F16 && random_below(random, 2);
    uint64_t span = (t.dim[0] * t.stride[0] + 15) / 16 * 16;
    for (uint32_t d = 1; d < rank; d++) {
        t.stride[d] = span + 16 * random_below(random, 3);
        t.dim[d] = 1 + random_below(random, 5);
        t.box[d] = (uint16_t)(1 + random_below(random, most_rows[rank - 1]));
        t.step[d] = (uint8_t)(1 + random_below(random, 3));
        span = t.stride[d] * t.dim[d];
    }
    return t;
}

static uint32_t bytes_of(const acc_tensor *t)
{
    uint32_t bytes = (uint32_t)t->stride[0] * t->box[0];
    for (uint32_t d = 1; d < t->rank; d++)
        bytes *= (t->box[d] + t->step[d] - 1u) / t->step[d];
    return bytes;
}

static uint64_t span_of(const acc_tensor *t)
{
    uint64_t span = t->stride[0] * t->dim[0];
    for (uint32_t d = 1; d < t->rank; d++)
        span += t->stride[d] * (t->dim[d] - 1);
    return span;
}

static void fill_at_random(uint64_t *random, uint8_t *data, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)random_next(random);
}

typedef struct machine { /* a tensor, and what is in shared memory; each twice */
    fixture f;
    uint8_t *tensor, *data, *shared, *copy;
} machine;

enum { TENSOR_ROOM = 1 << 18 };

static void machine_begin(machine *m, const char *text)
{
    fixture_begin(&m->f, text);
    m->tensor = fixture_alloc(&m->f, TENSOR_ROOM);
    m->data = fixture_alloc(&m->f, ROOM);
    m->shared = malloc(ROOM);
    m->copy = malloc(TENSOR_ROOM);
}

static void machine_end(machine *m)
{
    free(m->shared);
    free(m->copy);
    fixture_end(&m->f);
}

static void one_move(machine *m, uint64_t *random, uint32_t rank, uint32_t swizzle, bool load)
{
    acc_tensor t = draw_tensor(random, rank, swizzle);
    params p = {.data = P(m->data), .bytes = load ? bytes_of(&t) : 0};
    t.address = P(m->tensor);
    assert_null(acc_tensor_fault(&t));
    assert_true(span_of(&t) <= TENSOR_ROOM);
    acc_tensor_encode(&t, p.map);
    for (uint32_t d = 0; d < rank; d++)
        p.at[d] = (int32_t)random_below(random, (uint32_t)t.dim[d] + 4) - 2;
    fill_at_random(random, m->tensor, TENSOR_ROOM);
    fill_at_random(random, m->data, ROOM);
    memcpy(m->copy, m->tensor, TENSOR_ROOM);
    memcpy(m->shared, m->data, ROOM);
    reference r = {&t, p.at, m->copy, m->shared, load};
    move_by_elements(&r);
    fixture_ok(&m->f, launch(&m->f, &p, 1));
    assert_memory_equal(m->tensor, m->copy, TENSOR_ROOM);
    assert_memory_equal(m->data, m->shared, ROOM);
}

static void boxes_move_as_the_reference_says(void **state)
{
    enum { TIMES = 12 };
    (void)state;
    uint64_t random = 5;
    char text[8192];
    for (uint32_t rank = 1; rank <= RANKS; rank++)
        for (int load = 0; load < 2; load++) {
            machine m;
            if (load)
                write_load(text, sizeof text, rank);
            else
                write_store(text, sizeof text, rank, "");
            machine_begin(&m, text);
            for (uint32_t swizzle = 0; swizzle < ACC_SWIZZLE_COUNT; swizzle++)
                for (int n = 0; n < TIMES; n++)
                    one_move(&m, &random, rank, swizzle, load != 0);
            machine_end(&m);
        }
}

/* ---- by hand ---- */

/* A matrix of 16-bit numbers, `columns` wide, in boxes of 64 columns and 8 rows. */
static acc_tensor matrix_of(uint64_t address, uint32_t columns, uint32_t rows, acc_swizzle swizzle)
{
    return (acc_tensor){.address = address,
                        .dim = {columns, rows},
                        .stride = {2, columns * 2},
                        .box = {64, 8},
                        .step = {1, 1},
                        .rank = 2,
                        .element = ACC_ELEMENT_U16,
                        .swizzle = (uint8_t)swizzle};
}

/* The picture of the CUDA C++ Programming Guide: pieces of 16 bytes in rows of 128. */
static void swizzles_are_those_of_the_guide(void **state)
{
    (void)state;
    static const uint8_t pictures[4][8][8] = {[ACC_SWIZZLE_32] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                                                  {1, 0, 3, 2, 5, 4, 7, 6},
                                                                  {0, 1, 2, 3, 4, 5, 6, 7},
                                                                  {1, 0, 3, 2, 5, 4, 7, 6},
                                                                  {0, 1, 2, 3, 4, 5, 6, 7},
                                                                  {1, 0, 3, 2, 5, 4, 7, 6},
                                                                  {0, 1, 2, 3, 4, 5, 6, 7},
                                                                  {1, 0, 3, 2, 5, 4, 7, 6}},
                                              [ACC_SWIZZLE_64] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                                                  {1, 0, 3, 2, 5, 4, 7, 6},
                                                                  {2, 3, 0, 1, 6, 7, 4, 5},
                                                                  {3, 2, 1, 0, 7, 6, 5, 4},
                                                                  {0, 1, 2, 3, 4, 5, 6, 7},
                                                                  {1, 0, 3, 2, 5, 4, 7, 6},
                                                                  {2, 3, 0, 1, 6, 7, 4, 5},
                                                                  {3, 2, 1, 0, 7, 6, 5, 4}},
                                              [ACC_SWIZZLE_128] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                                                   {1, 0, 3, 2, 5, 4, 7, 6},
                                                                   {2, 3, 0, 1, 6, 7, 4, 5},
                                                                   {3, 2, 1, 0, 7, 6, 5, 4},
                                                                   {4, 5, 6, 7, 0, 1, 2, 3},
                                                                   {5, 4, 7, 6, 1, 0, 3, 2},
                                                                   {6, 7, 4, 5, 2, 3, 0, 1},
                                                                   {7, 6, 5, 4, 3, 2, 1, 0}}};
    const int32_t at[ACC_TENSOR_RANK] = {0};
    for (int swizzle = ACC_SWIZZLE_32; swizzle < ACC_SWIZZLE_COUNT; swizzle++) {
        acc_tensor t = matrix_of(0, 64, 32, (acc_swizzle)swizzle);
        t.box[0] = (uint16_t)(8 << swizzle);
        t.box[1] = (uint16_t)(64 >> (swizzle - 1));
        acc_box box = acc_box_of(&t, at);
        for (uint32_t place = 0; place < 1024; place += 16) {
            uint64_t to = acc_box_place(&box, 2048, place / box.pitch, place % box.pitch) - 2048;
            assert_int_equal(to / 128, place / 128);
            assert_int_equal(to % 128 / 16, pictures[swizzle][place / 128][place % 128 / 16]);
        }
    }
}

typedef struct seen { /* requests of the copy, by space */
    uint32_t pc, requests[2], lanes[2], bytes[2], goes_on[2], sectors;
    acc_op op[2];
    uint64_t low[2];
} seen;

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

/* Of rows that ascend. */
static uint32_t distinct_sectors(const acc_request *a)
{
    uint32_t sectors = 0;
    uint64_t next = 0;
    for (uint32_t lane = 0; lane < 32 && a->mask >> lane & 1; lane++)
        for (uint64_t at = a->addr[lane] / 32; at <= (a->addr[lane] + a->bytes - 1) / 32; at++)
            if (at >= next) {
                sectors++;
                next = at + 1;
            }
    return sectors;
}

static void see_request(void *block, const acc_request *a)
{
    seen *s = block;
    if (!(a->flags & ACC_BOX))
        return;
    uint32_t side = a->space == ACC_SHARED;
    s->sectors += side ? 0 : distinct_sectors(a);
    s->requests[side] += !(a->flags & ACC_GOES_ON);
    s->goes_on[side] += (a->flags & ACC_GOES_ON) != 0;
    s->lanes[side] += (uint32_t)__builtin_popcount(a->mask);
    s->bytes[side] = a->bytes;
    s->op[side] = a->op;
    if (!(a->flags & ACC_GOES_ON))
        s->low[side] = a->addr[0];
}

/* 8 rows of 64 columns at (-16, 5) of a matrix of 12 rows: 48 columns and 7 rows of it are inside. */
static void what_is_inside_is_shown(void **state)
{
    (void)state;
    machine m;
    seen s = {0};
    const acc_observer observer = {
        .ctx = &s, .worker_begin = see_worker, .block_begin = see_block, .access = see_request};
    char text[8192];
    write_load(text, sizeof text, 2);
    machine_begin(&m, text);
    m.f.observer = &observer;
    acc_tensor t = matrix_of(P(m.tensor), 256, 12, ACC_SWIZZLE_128);
    params p = {.data = P(m.data), .bytes = 1024, .at = {-16, 5}};
    acc_tensor_encode(&t, p.map);
    fixture_ok(&m.f, launch(&m.f, &p, 1));
    assert_int_equal(s.requests[0], 1);
    assert_int_equal(s.lanes[0], 7);
    assert_int_equal(s.bytes[0], 96);
    assert_int_equal(s.op[0], ACC_LOAD);
    assert_int_equal(s.low[0], P(m.tensor) + 5 * 512);
    assert_int_equal(s.sectors, 7 * 3);
    assert_int_equal(s.requests[1], 1);
    assert_int_equal(s.bytes[1] * s.lanes[1], 1024);
    assert_int_equal(s.op[1], ACC_STORE);
    assert_int_equal(s.goes_on[0] + s.goes_on[1], 0);
    machine_end(&m);
}

/* 200 rows of 16 bytes, two in a sector: after an odd one the box begins, and no request ends
 * between two that share a sector. */
static void long_boxes_are_one_request(void **state)
{
    (void)state;
    machine m;
    seen s = {0};
    const acc_observer observer = {
        .ctx = &s, .worker_begin = see_worker, .block_begin = see_block, .access = see_request};
    char text[8192];
    write_store(text, sizeof text, 2, "");
    machine_begin(&m, text);
    m.f.observer = &observer;
    acc_tensor t = matrix_of(P(m.tensor), 8, 256, ACC_SWIZZLE_NONE);
    t.box[0] = 8;
    t.box[1] = 200;
    params p = {.data = P(m.data), .at = {0, 1}};
    acc_tensor_encode(&t, p.map);
    fixture_ok(&m.f, launch(&m.f, &p, 1));
    assert_int_equal(s.requests[0], 1);
    assert_int_equal(s.goes_on[0], 6); /* 7 requests: six of 31 or 32 rows, and the rest */
    assert_int_equal(s.sectors, 101);  /* 3,200 bytes from the middle of a sector on */
    assert_int_equal(s.lanes[0], 200);
    assert_int_equal(s.op[0], ACC_STORE);
    assert_int_equal(s.requests[1], 1);
    assert_int_equal(s.bytes[1], 3200);
    machine_end(&m);
}

/* A swizzle of 64 bytes leaves rows of 32 in one piece, and tears those of 48. */
static void rows_are_shown_as_they_lie(void **state)
{
    (void)state;
    machine m;
    char text[8192];
    write_store(text, sizeof text, 2, "");
    machine_begin(&m, text);
    for (uint32_t row = 32; row <= 48; row += 16) {
        seen s = {0};
        const acc_observer observer = {
            .ctx = &s, .worker_begin = see_worker, .block_begin = see_block, .access = see_request};
        m.f.observer = &observer;
        acc_tensor t = matrix_of(P(m.tensor), 256, 12, ACC_SWIZZLE_64);
        t.box[0] = (uint16_t)(row / 2);
        params p = {.data = P(m.data)};
        acc_tensor_encode(&t, p.map);
        fixture_ok(&m.f, launch(&m.f, &p, 1));
        assert_int_equal(s.requests[1], 1);
        assert_int_equal(s.bytes[1], row == 32 ? 32 : 16);
        assert_int_equal(s.lanes[1], row == 32 ? 8 : 24);
    }
    machine_end(&m);
}

static void loads_round_to_tf32(void **state)
{
    (void)state;
    machine m;
    char text[8192];
    const uint32_t values[4] = {0x3f800fff, 0x3f803000, 0x40000000, 0x7fc00001};
    const uint32_t rounded[4] = {0x3f800000, 0x3f804000, 0x40000000, 0};
    write_load(text, sizeof text, 1);
    machine_begin(&m, text);
    acc_tensor t = {.address = P(m.tensor),
                    .dim = {3},
                    .stride = {4},
                    .box = {4},
                    .step = {1},
                    .rank = 1,
                    .element = ACC_ELEMENT_TF32};
    params p = {.data = P(m.data), .bytes = 16};
    acc_tensor_encode(&t, p.map);
    memcpy(m.tensor, values, sizeof values);
    fixture_ok(&m.f, launch(&m.f, &p, 1));
    assert_memory_equal(m.data, rounded, sizeof rounded);
    machine_end(&m);
}

/* ---- reductions ---- */

static void boxes_are_reduced(void **state)
{
    (void)state;
    machine m;
    char text[8192];
    write_store(text, sizeof text, 2, "add");
    machine_begin(&m, text);
    acc_tensor t = matrix_of(P(m.tensor), 256, 12, ACC_SWIZZLE_NONE);
    t.element = ACC_ELEMENT_U32;
    t.stride[0] = 4;
    t.dim[0] = 128;
    t.box[0] = 32;
    params p = {.data = P(m.data), .at = {112, 9}};
    acc_tensor_encode(&t, p.map);
    for (uint32_t i = 0; i < ROOM / 4; i++)
        ((uint32_t *)m.data)[i] = i + 1;
    memset(m.tensor, 0, TENSOR_ROOM);
    fixture_ok(&m.f, launch(&m.f, &p, 3));
    for (uint32_t y = 0; y < 13; y++)
        for (uint32_t x = 0; x < 128; x++) {
            bool inside = y >= 9 && y < 12 && x >= 112;
            uint32_t want = inside ? 3 * ((y - 9) * 32 + (x - 112) + 1) : 0;
            assert_int_equal(((uint32_t *)m.tensor)[y * 128 + x], want);
        }
    machine_end(&m);
}

typedef struct reduction {
    const char *op;
    acc_element element;
    uint64_t there, comes, becomes; /* 0, 0, 0: elements of this type are not reduced so */
} reduction;

static const reduction reductions[] = {
    {"add", ACC_ELEMENT_U32, 0xfffffffe, 5, 3},
    {"add", ACC_ELEMENT_U64, 0xffffffff, 1, 0x100000000},
    {"add", ACC_ELEMENT_F32, 0x3f800000, 0x40000000, 0x40400000},  /* 1 + 2 */
    {"add", ACC_ELEMENT_TF32, 0x3f800000, 0x40000000, 0x40400000}, /* the same */
    {"add", ACC_ELEMENT_F16, 0x3c00, 0x4000, 0x4200},
    {"add", ACC_ELEMENT_BF16, 0x3f80, 0x4000, 0x4040},
    {"min", ACC_ELEMENT_S32, 3, 0xfffffffe, 0xfffffffe},
    {"min", ACC_ELEMENT_U32, 3, 0xfffffffe, 3},
    {"max", ACC_ELEMENT_S64, 3, UINT64_MAX, 3},
    {"max", ACC_ELEMENT_F16, 0x3c00, 0x4000, 0x4000},
    {"inc", ACC_ELEMENT_U32, 7, 7, 0},
    {"dec", ACC_ELEMENT_U32, 0, 7, 7},
    {"and", ACC_ELEMENT_U32, 12, 10, 8},
    {"or", ACC_ELEMENT_U64, 12, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 12},
    {"xor", ACC_ELEMENT_S32, 12, 10, 6},
    {"min", ACC_ELEMENT_F32, 0, 0, 0},
    {"or", ACC_ELEMENT_U16, 0, 0, 0},
    {"inc", ACC_ELEMENT_F16, 0, 0, 0},
};

/* One box of one element that is not zero, the second of 16 bytes. */
static void one_reduction(const reduction *r)
{
    machine m;
    char text[8192];
    uint32_t bytes = acc_element_bytes(r->element);
    uint64_t got = 0;
    write_store(text, sizeof text, 1, r->op);
    machine_begin(&m, text);
    acc_tensor t = {.address = P(m.tensor),
                    .dim = {16 / bytes},
                    .stride = {bytes},
                    .box = {(uint16_t)(16 / bytes)},
                    .step = {1},
                    .rank = 1,
                    .element = (uint8_t)r->element};
    params p = {.data = P(m.data)};
    acc_tensor_encode(&t, p.map);
    memcpy(m.tensor + bytes, &r->there, bytes);
    memcpy(m.data + bytes, &r->comes, bytes);
    wl_status status = launch(&m.f, &p, 1);
    memcpy(&got, m.tensor + bytes, bytes);
    if (r->there || r->comes) {
        fixture_ok(&m.f, status);
        assert_int_equal(got, r->becomes);
    } else {
        assert_int_equal(status, WL_FAULT);
        assert_non_null(strstr(m.f.result.fault.text, "cannot be reduced so"));
    }
    machine_end(&m);
}

static void reductions_are_those_of_the_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        one_reduction(&reductions[i]);
}

/* ---- clusters ---- */

static const char multicast[] = HEADER SHARED
    ".visible .entry k" PARAMS "{\n.shared .align 8 .b64 bar;\n" REGISTERS
    "setp.ne.u32 %p1, %r1, 0; mov.u32 %r20, %cluster_ctarank; @%p1 bra B;\n"
    "mbarrier.init.shared::cta.b64 [%r8], 1; fence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;\n"
    "B: barrier.cluster.arrive; barrier.cluster.wait;\n"
    "setp.ne.u32 %p4, %r20, 1; or.pred %p5, %p1, %p4; @%p5 bra L;\n"
    "mov.u16 %h1, 13;\n" /* blocks 0, 2 and 3 */
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    ".multicast::cluster [%r7], [%rd2, {%r2, %r3}], [%r8], %h1;\n"
    "L: setp.eq.u32 %p6, %r20, 1; @%p6 bra E;\n"
    "T: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], 0; @!%p3 bra T;\n"
    "mul.wide.u32 %rd7, %r20, 1024; add.u64 %rd8, %rd3, %rd7; shl.b32 %r10, %r1, 2;\n"
    "G: add.u32 %r11, %r7, %r10; cvt.u64.u32 %rd5, %r10; add.u64 %rd6, %rd8, %rd5; ld.shared.u32 "
    "%r12, [%r11]; st.global.u32 [%rd6], %r12; add.u32 %r10, %r10, 128; setp.lt.u32 %p2, %r10, "
    "1024; @%p2 bra G;\n"
    "E: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";

static void boxes_reach_several_blocks(void **state)
{
    (void)state;
    machine m;
    seen s = {0};
    const acc_observer observer = {
        .ctx = &s, .worker_begin = see_worker, .block_begin = see_block, .access = see_request};
    machine_begin(&m, multicast);
    m.f.cluster = (emu_dim){4, 1, 1};
    m.f.observer = &observer;
    acc_tensor t = matrix_of(P(m.tensor), 64, 12, ACC_SWIZZLE_NONE);
    params p = {.data = P(m.data), .at = {0, 2}};
    acc_tensor_encode(&t, p.map);
    for (uint32_t i = 0; i < TENSOR_ROOM / 2; i++)
        ((uint16_t *)m.tensor)[i] = (uint16_t)(i * 7);
    memset(m.data, 0xee, ROOM);
    fixture_ok(&m.f, launch(&m.f, &p, 4));
    for (uint32_t block = 0; block < 4; block++)
        for (uint32_t i = 0; i < 512; i++)
            assert_int_equal(((uint16_t *)m.data)[block * 512 + i],
                             block == 1 ? 0xeeee : (uint16_t)((128 + i) * 7));
    assert_int_equal(s.requests[0], 1);
    assert_int_equal(s.requests[1], 3);
    assert_int_equal(s.low[1] >> 24, 4); /* the last is that of rank 3 */
    machine_end(&m);
}

/* ---- maps ---- */

/* A copy of the map in global memory becomes one of another tensor, and is used then. */
static const char replacing[] = HEADER SHARED
    ".visible .entry k" PARAMS
    "{\n.shared .align 8 .b64 bar; .shared .align 128 .b8 own[128];\n" REGISTERS
    "setp.ne.u32 %p1, %r1, 0; add.u64 %rd9, %rd3, 8192; mov.u32 %r21, own; shl.b32 %r10, %r1, 2;\n"
    "cvt.u64.u32 %rd5, %r10; add.u64 %rd6, %rd2, %rd5; ld.u32 %r12, [%rd6]; add.u32 %r11, %r21, "
    "%r10; st.shared.u32 [%r11], %r12; bar.sync 0; @%p1 bra S;\n"
    "add.u64 %rd10, %rd3, 4096;\n"
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r21], %rd10;\n"
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r21], 1;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r21], 0, 16;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r21], 1, 4;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r21], 0, 16;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r21], 1, 3;\n"
    "mov.b64 %rd11, 64; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r21], 0, "
    "%rd11;\n"
    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r21], 1, 1;\n"
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r21], 7;\n"
    "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r21], 0;\n"
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r21], 0;\n"
    "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r21], 1;\n"
    "mbarrier.init.shared::cta.b64 [%r8], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], "
    "256;\n"
    "S: bar.sync 0; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync"
    ".aligned [%rd9], [%r21], 128; @%p1 bra L;\n"
    "fence.proxy.tensormap::generic.acquire.gpu [%rd9], 128;\n"
    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r7], [%rd9, "
    "{%r2, %r3}], [%r8];\n"
    "L: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], 0; @!%p3 bra L;\n"
    "G: add.u32 %r11, %r7, %r10; cvt.u64.u32 %rd5, %r10; add.u64 %rd6, %rd3, %rd5; ld.shared.u32 "
    "%r12, [%r11]; st.global.u32 [%rd6], %r12; add.u32 %r10, %r10, 128; setp.lt.u32 %p2, %r10, "
    "256; @%p2 bra G; ret;\n}\n";

static void maps_are_changed_in_place(void **state)
{
    (void)state;
    machine m;
    machine_begin(&m, replacing);
    acc_tensor t = matrix_of(P(m.tensor), 256, 12, ACC_SWIZZLE_128);
    params p = {.data = P(m.data), .at = {0, 0}};
    acc_tensor_encode(&t, p.map);
    float *from = (float *)(m.data + 4096), *to = (float *)m.data;
    for (uint32_t i = 0; i < 64; i++)
        from[i] = (float)i;
    fixture_ok(&m.f, launch(&m.f, &p, 1));
    for (uint32_t i = 0; i < 48; i++)
        assert_true(to[i] == (float)i);
    for (uint32_t i = 48; i < 64; i++)
        assert_true(to[i] != to[i]);
    machine_end(&m);
}

static acc_tensor good(void)
{
    return (acc_tensor){.address = 0x1000,
                        .dim = {100, 50, 4},
                        .stride = {4, 400, 20000},
                        .box = {16, 8, 2},
                        .step = {1, 1, 1},
                        .rank = 3,
                        .element = ACC_ELEMENT_F32};
}

static void maps_at_fault_are_refused(void **state)
{
    (void)state;
    acc_tensor t = good();
    assert_null(acc_tensor_fault(&t));
#define FAULT(...)                             \
    do {                                       \
        t = good();                            \
        __VA_ARGS__;                           \
        assert_non_null(acc_tensor_fault(&t)); \
    } while (0)
#define FINE(...)                          \
    do {                                   \
        t = good();                        \
        __VA_ARGS__;                       \
        assert_null(acc_tensor_fault(&t)); \
    } while (0)
    FAULT(t.rank = 0);
    FAULT(t.rank = 6);
    FAULT(t.address = 0x1008);
    FINE(t.address = 0x1010);
    FAULT(t.dim[1] = 0);
    FAULT(t.dim[2] = (UINT64_C(1) << 32) + 1);
    FINE(t.dim[2] = UINT64_C(1) << 32);
    FAULT(t.stride[1] = 408);
    FAULT(t.stride[2] = UINT64_C(1) << 40);
    FINE(t.stride[2] = (UINT64_C(1) << 40) - 16);
    FAULT(t.box[1] = 0);
    FAULT(t.box[1] = 257);
    FINE(t.box[1] = 256);
    FAULT(t.box[0] = 6);
    FINE(t.box[0] = 12);
    FAULT(t.step[1] = 0);
    FAULT(t.step[1] = 9);
    FINE(t.step[1] = 8);
    FAULT(t.element = ACC_ELEMENT_COUNT);
    FAULT(t.element = ACC_ELEMENT_S32; t.nan = true);
    FINE(t.nan = true);
    FAULT(t.swizzle = ACC_SWIZZLE_COUNT);
    FAULT(t.swizzle = ACC_SWIZZLE_32);
    FINE(t.swizzle = ACC_SWIZZLE_64);
    FAULT(t.promotion = 4);
    FAULT(t.interleave = 3);
    FAULT(t.interleave = 1; t.rank = 2);
    FINE(t.interleave = 1; t.box[0] = 1);
    FAULT(t.interleave = 2);
    FAULT(t.interleave = 2; t.swizzle = ACC_SWIZZLE_32);
    FINE(t.interleave = 2; t.swizzle = ACC_SWIZZLE_32; t.stride[1] = 416);
    FAULT(t.interleave = 2; t.swizzle = ACC_SWIZZLE_32; t.stride[1] = 416; t.address = 0x1010);
}

static void maps_say_what_they_were_told(void **state)
{
    (void)state;
    _Alignas(64) uint8_t map[ACC_TENSOR_MAP_BYTES];
    acc_tensor t = good(), back;
    t.rank = 5;
    t.dim[3] = 7, t.dim[4] = UINT64_C(1) << 32;
    t.stride[3] = 160000, t.stride[4] = (UINT64_C(1) << 40) - 16;
    t.box[3] = 256, t.box[4] = 1;
    t.step[3] = 8, t.step[4] = 2;
    t.swizzle = ACC_SWIZZLE_128, t.promotion = 3, t.interleave = 1, t.nan = true;
    acc_tensor_encode(&t, map);
    assert_true(acc_tensor_decode(map, &back));
    assert_memory_equal(&back, &t, sizeof t);
    map[0] ^= 1;
    assert_false(acc_tensor_decode(map, &back));
}

static void to_tf32_by_rounding(void **state)
{
    (void)state;
    const acc_tensor t = {.element = ACC_ELEMENT_TF32}, other = {.element = ACC_ELEMENT_F32};
    uint32_t values[] = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f803000, 0x7f800000, 0x7fc00001};
    const uint32_t rounded[] = {0x3f800000, 0x3f800000, 0x3f800000,
                                0x3f804000, 0x7f800000, 0x7fffe000};
    acc_tensor_convert(&other, values, sizeof values);
    assert_int_equal(values[1], 0x3f800fff);
    acc_tensor_convert(&t, values, sizeof values);
    assert_memory_equal(values, rounded, sizeof rounded);
}

static void expect_fault(machine *m, const params *p, emu_fault_kind kind, const char *text)
{
    assert_int_equal(launch(&m->f, p, 1), WL_FAULT);
    assert_int_equal(m->f.result.fault.kind, kind);
    if (!strstr(m->f.result.fault.text, text))
        fail_msg("%s", m->f.result.fault.text);
}

static void bad_copies_are_told_of(void **state)
{
    (void)state;
    machine m;
    char text[8192];
    write_store(text, sizeof text, 2, "");
    machine_begin(&m, text);
    acc_tensor t = matrix_of(P(m.tensor), 256, 12, ACC_SWIZZLE_NONE);
    params p = {.data = P(m.data)};
    expect_fault(&m, &p, EMU_FAULT_ILLEGAL_INSTRUCTION, "cuTensorMapEncodeTiled");
    t.rank = 3;
    t.dim[2] = t.box[2] = t.step[2] = 1;
    acc_tensor_encode(&t, p.map);
    expect_fault(&m, &p, EMU_FAULT_ILLEGAL_INSTRUCTION, "another number of dimensions");
    t = matrix_of(P(m.tensor), 256, 12, ACC_SWIZZLE_NONE);
    t.box[1] = 200;
    acc_tensor_encode(&t, p.map);
    expect_fault(&m, &p, EMU_FAULT_SHARED_BOUNDS, "shared memory");
    t = matrix_of(P(m.tensor), 256, TENSOR_ROOM / 512 + 1, ACC_SWIZZLE_NONE);
    acc_tensor_encode(&t, p.map);
    p.at[1] = TENSOR_ROOM / 512 - 4;
    expect_fault(&m, &p, EMU_FAULT_ILLEGAL_ADDRESS, "after the end");
    p.at[1] = 0;
    p.bytes = 64;
    expect_fault(&m, &p, EMU_FAULT_MISALIGNED, "multiple of 128");
    p.bytes = 0;
    p.shift = 16;
    expect_fault(&m, &p, EMU_FAULT_MISALIGNED, "64 bytes");
    machine_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_move_as_the_reference_says),
        cmocka_unit_test(swizzles_are_those_of_the_guide),
        cmocka_unit_test(what_is_inside_is_shown),
        cmocka_unit_test(long_boxes_are_one_request),
        cmocka_unit_test(rows_are_shown_as_they_lie),
        cmocka_unit_test(loads_round_to_tf32),
        cmocka_unit_test(boxes_are_reduced),
        cmocka_unit_test(reductions_are_those_of_the_type),
        cmocka_unit_test(boxes_reach_several_blocks),
        cmocka_unit_test(maps_are_changed_in_place),
        cmocka_unit_test(maps_at_fault_are_refused),
        cmocka_unit_test(maps_say_what_they_were_told),
        cmocka_unit_test(to_tf32_by_rounding),
        cmocka_unit_test(bad_copies_are_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
