/* Notes made by hand: what replay makes of them. */
#include <string.h>
#include <unistd.h>

#include "access/tensor.h"
#include "replay/replay.h"
#include "replay/session.h"
#include "support/test.h"

static const char ptx[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".const .align 4 .u32 stride = 2;\n"
    ".global .align 4 .u32 counter;\n"
    /* out[i] = a * in[i] for i < n */
    ".visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 a, .param .u32 n)\n"
    "{ .reg .pred %p; .reg .u32 %r<6>; .reg .u64 %d<6>; .reg .f32 %f<4>;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; setp.ge.u32 %p, %r4, %r5;\n"
    "  @%p bra END; ld.param.u64 %d1, [in]; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;\n"
    "  ld.global.f32 %f1, [%d3]; ld.param.f32 %f2, [a]; mul.f32 %f3, %f1, %f2;\n"
    "  ld.param.u64 %d4, [out]; add.u64 %d5, %d4, %d2; st.global.f32 [%d5], %f3;\n"
    "END: ret; }\n"
    /* data[stride * tid] = 0; counter += 1 */
    ".visible .entry strided(.param .u64 data)\n"
    "{ .reg .u32 %r<5>; .reg .u64 %d<4>;\n"
    "  ld.const.u32 %r1, [stride]; mov.u32 %r2, %tid.x; mul.lo.u32 %r3, %r1, %r2;\n"
    "  ld.param.u64 %d1, [data]; mul.wide.u32 %d2, %r3, 4; add.u64 %d3, %d1, %d2;\n"
    "  st.global.u32 [%d3], 0; mov.u64 %d1, counter; red.global.add.u32 [%d1], 1; ret; }\n"
    /* out[in[tid]] = 0 */
    ".visible .entry looping(.param .u64 data, .param .u32 turns)\n"
    "{ .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p; .reg .f32 %f;\n"
    "  mov.u32 %r1, 0; ld.param.u32 %r2, [turns]; ld.param.u64 %d1, [data];\n"
    "NEXT: and.b32 %r3, %r1, 1023; mul.wide.u32 %d2, %r3, 4; add.u64 %d3, %d1, %d2;\n"
    "  ld.global.f32 %f, [%d3]; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, %r2;\n"
    "  @%p bra NEXT; ret; }\n"
    ".visible .entry scatter(.param .u64 out, .param .u64 in)\n"
    "{ .reg .u32 %r<3>; .reg .u64 %d<6>;\n"
    "  ld.param.u64 %d1, [in]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
    "  add.u64 %d3, %d1, %d2; ld.global.u32 %r2, [%d3]; ld.param.u64 %d4, [out];\n"
    "  mul.wide.u32 %d5, %r2, 4; add.u64 %d4, %d4, %d5; st.global.u32 [%d4], 0; ret; }\n"
    /* out[index ? index[tid] : tid] = 0, and as often as `turns` says once more */
    ".visible .entry chosen(.param .u64 out, .param .u64 index, .param .u32 turns)\n"
    "{ .reg .u32 %r<5>; .reg .u64 %d<7>; .reg .pred %p<3>;\n"
    "  ld.param.u64 %d1, [index]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
    "  setp.eq.u64 %p1, %d1, 0; add.u64 %d3, %d1, %d2; mov.u32 %r2, %r1;\n"
    "  @%p1 bra SAME; ld.global.u32 %r2, [%d3];\n"
    "SAME: ld.param.u64 %d4, [out]; mul.wide.u32 %d5, %r2, 4; add.u64 %d6, %d4, %d5;\n"
    "  mov.u32 %r3, 0; ld.param.u32 %r4, [turns];\n"
    "NEXT: st.global.u32 [%d6], 0; add.u32 %r3, %r3, 1; setp.le.u32 %p2, %r3, %r4;\n"
    "  @%p2 bra NEXT; ret; }\n"
    /* out[tid] = 0 where that lies before `in` */
    ".visible .entry ordered(.param .u64 out, .param .u64 in)\n"
    "{ .reg .b32 %r<3>; .reg .b64 %d<6>; .reg .pred %p;\n"
    "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d1, %d3; setp.lt.u64 %p, %d4, %d2;\n"
    "  @!%p bra END; st.global.u32 [%d4], 0;\n"
    "END: ret; }\n"
    /* data[tid * first] = 0 with one dimension, data[tid * first * second] = 0 with more */
    ".visible .entry dimensions(.param .u64 data, .param .u32 count, .param .u32 first, .param "
    ".u32 second)\n"
    "{ .reg .b32 %r<5>; .reg .b64 %d<4>; .reg .pred %p;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [count]; ld.param.u32 %r2, [first];\n"
    "  mov.u32 %r3, %tid.x; mul.lo.u32 %r3, %r3, %r2; setp.eq.u32 %p, %r1, 1; @%p bra DONE;\n"
    "  ld.param.u32 %r4, [second]; mul.lo.u32 %r3, %r3, %r4;\n"
    "DONE: mul.wide.u32 %d2, %r3, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], 0; ret; }\n"
    /* data[tid] = 0, and a box of 8 rows at row 8 * block */
    ".visible .entry boxes(.param .align 64 .b8 map[128], .param .u64 data)\n"
    "{ .shared .align 128 .b8 box[1024]; .reg .b32 %r<5>; .reg .b64 %d<5>; .reg .pred %p;\n"
    "  ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
    "  add.u64 %d3, %d1, %d2; st.global.u32 [%d3], 0; setp.ne.u32 %p, %r1, 0; @%p bra END;\n"
    "  mov.b64 %d4, map; cvta.param.u64 %d4, %d4; mov.u32 %r2, box; mov.u32 %r3, %ctaid.x;\n"
    "  shl.b32 %r3, %r3, 3; mov.u32 %r4, 0;\n"
    "  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d4, {%r4, %r3}], [%r2];\n"
    "END: ret; }\n";

enum { A = 1, B, C, STRIDE, COUNTER, MODULE = 1 };
static const uint64_t base_a = 0x7f0000000000, base_b = 0x7f0000010000, base_c = 0x7f0000020200;
static const uint64_t base_stride = 0x7f0000100104, base_counter = 0x7f0000100208;
enum { BYTES = 16384 };

typedef struct fixture {
    replay_session *session;
    uint32_t next;
    replay_outcome out;
    wl_error err;
    bool stopped;
} fixture;

static void see(fixture *f, const cap_record *record)
{
    assert_int_equal(replay_see(f->session, record, &f->err), WL_OK);
}

static void object(fixture *f, uint32_t id, uint32_t kind, uint64_t base, uint64_t bytes,
                   const char *name)
{
    bool variable = kind == CAP_OBJECT_CONST || kind == CAP_OBJECT_SYMBOL;
    see(f, &(cap_record){.type = CAP_OBJECT,
                         .object = {.id = id,
                                    .kind = kind,
                                    .base = base,
                                    .bytes = bytes,
                                    .module = variable ? MODULE : 0,
                                    .name = name}});
}

static void set_stride(fixture *f, uint32_t value, bool known)
{
    see(f, &(cap_record){.type = CAP_SYMBOL,
                         .symbol = {.object = STRIDE,
                                    .data = (const char *)&value,
                                    .length = known ? sizeof value : 0}});
}

static bool go_on(void *ctx)
{
    return !((fixture *)ctx)->stopped;
}

static void begin_with(fixture *f, const replay_settings *settings)
{
    *f = (fixture){0};
    assert_int_equal(replay_session_new(settings, go_on, f, &f->session, &f->err), WL_OK);
    see(f, &(cap_record){.type = CAP_DEVICE,
                         .device = {.cc_major = 9, .num_sms = 132, .global_bytes = 1 << 30}});
    see(f, &(cap_record){
               .type = CAP_MODULE,
               .module = {.id = MODULE, .name = "m", .code = ptx, .length = sizeof ptx - 1}});
    object(f, STRIDE, CAP_OBJECT_CONST, base_stride, 4, "stride");
    object(f, COUNTER, CAP_OBJECT_SYMBOL, base_counter, 4, "counter");
    object(f, A, CAP_OBJECT_DEVICE, base_a, BYTES, "");
    object(f, B, CAP_OBJECT_DEVICE, base_b, BYTES, "");
    object(f, C, CAP_OBJECT_DEVICE, base_c, BYTES, "");
}

static void begin(fixture *f, double seconds)
{
    begin_with(f, &(replay_settings){.threads = 1,
                                     .blocks = {.automatic = true},
                                     .memo = true,
                                     .budget = {.seconds = seconds}});
}

static void end(fixture *f)
{
    replay_session_free(f->session);
}

static replay_kind launch(fixture *f, const char *kernel, uint32_t grid, uint32_t block,
                          const void *params, uint64_t bytes)
{
    cap_note note = {.id = ++f->next,
                     .module = MODULE,
                     .kernel = kernel,
                     .grid = {grid, 1, 1},
                     .block = {block, 1, 1},
                     .cluster = {1, 1, 1},
                     .params = params,
                     .nparams = bytes};
    assert_int_equal(replay_note(f->session, &note, &f->out, &f->err), WL_OK);
    return f->out.kind;
}

typedef struct scale_params {
    uint64_t out, in;
    float a;
    uint32_t n;
} scale_params;

static replay_kind scale(fixture *f, uint64_t out, uint64_t in, float a, uint32_t n)
{
    scale_params p = {out, in, a, n};
    return launch(f, "scale", 4, 256, &p, sizeof p);
}

static const obs_insn *row(const fixture *f, uint32_t object, uint8_t op)
{
    const obs_summary *s = &f->out.launch.summary;
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].object == object && s->insns[i].op == op)
            return &s->insns[i];
    fail_msg("no access of object %u", object);
    return NULL;
}

/* ---- one launch, worked out by hand ---- */

static void a_launch(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    assert_int_equal(scale(&f, base_a, base_b, 2, 1000), REPLAY_LAUNCH);
    const obs_insn *load = row(&f, B, ACC_LOAD), *store = row(&f, A, ACC_STORE);
    /* 31 whole warps of 128 bytes, and one of 8 threads: 32 bytes. */
    assert_int_equal(load->requests, 32);
    assert_int_equal(load->active_lanes, 1000);
    assert_int_equal(load->sectors, 31 * 4 + 1);
    assert_int_equal(store->sectors, 31 * 4 + 1);
    assert_int_equal(f.out.launch.summary.blocks_run, 4);
    assert_int_equal(f.out.way.way, CAP_WAY_REPLAY);
    assert_int_equal(f.out.way.count, 0);
    assert_false(f.out.way.estimated);
    for (uint32_t i = 0; i < f.out.launch.summary.nheats; i++) {
        const obs_heat *heat = &f.out.launch.summary.heats[i];
        uint64_t from = (heat->object == A ? base_a : base_b) + heat->block * 1024;
        assert_int_equal(heat->rows[0].sector, from / 32);
    }
    end(&f);
}

/* ---- the memo ---- */

static void repeats(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    assert_int_equal(scale(&f, base_a, base_b, 2, 1000), REPLAY_LAUNCH);
    assert_int_equal(scale(&f, base_a, base_b, 3, 1000), REPLAY_REPEAT); /* a is only a factor */
    assert_int_equal(f.out.repeat.same_as, 1);
    assert_int_equal(f.out.repeat.count, 0);
    assert_int_equal(scale(&f, base_a, base_b, 2, 999), REPLAY_LAUNCH);
    assert_int_equal(scale(&f, base_a, base_a, 2, 1000), REPLAY_LAUNCH); /* one object */
    assert_int_equal(scale(&f, base_a + 4, base_b, 2, 1000), REPLAY_LAUNCH);
    end(&f);
}

static void repeats_with_other_objects(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    assert_int_equal(scale(&f, base_a, base_b, 2, 1000), REPLAY_LAUNCH);
    assert_int_equal(scale(&f, base_b, base_c, 2, 1000),
                     REPLAY_REPEAT); /* at the same distance of 256 */
    assert_int_equal(f.out.repeat.count, 2);
    assert_int_equal(f.out.repeat.moves[0].from, A);
    assert_int_equal(f.out.repeat.moves[0].to, B);
    assert_int_equal(f.out.repeat.moves[1].from, B);
    assert_int_equal(f.out.repeat.moves[1].to, C);
    assert_int_equal(scale(&f, base_b, base_a, 2, 1000), REPLAY_REPEAT); /* the other way round */
    assert_int_equal(f.out.repeat.count, 2);
    assert_int_equal(f.out.repeat.moves[0].to, B);
    assert_int_equal(f.out.repeat.moves[1].to, A);
    see(&f, &(cap_record){.type = CAP_FREE, .free = {.object = A}});
    object(&f, 10, CAP_OBJECT_DEVICE, base_a, BYTES / 2, ""); /* smaller, at the same place */
    assert_int_equal(scale(&f, base_a, base_b, 2, 1000), REPLAY_LAUNCH);
    assert_int_equal(row(&f, 10, ACC_STORE)->requests, 32);
    object(&f, 11, CAP_OBJECT_DEVICE, base_a + (1 << 20) + 32, BYTES, ""); /* otherwise aligned */
    assert_int_equal(scale(&f, base_b, base_a + (1 << 20) + 32, 2, 1000), REPLAY_LAUNCH);
    end(&f);
}

/* Which object lies first counts where the kernel asks. */
static void repeats_in_order(void **state)
{
    (void)state;
    fixture f;
    const uint64_t up[] = {base_a, base_b}, further[] = {base_b, base_c}, down[] = {base_b, base_a};
    begin(&f, 0);
    assert_int_equal(launch(&f, "ordered", 1, 32, up, sizeof up), REPLAY_LAUNCH);
    assert_int_equal(row(&f, A, ACC_STORE)->sectors, 4);
    assert_int_equal(launch(&f, "ordered", 1, 32, further, sizeof further), REPLAY_REPEAT);
    assert_int_equal(launch(&f, "ordered", 1, 32, down, sizeof down), REPLAY_LAUNCH);
    for (uint32_t i = 0; i < f.out.launch.summary.ninsns; i++)
        assert_int_equal(f.out.launch.summary.insns[i].requests, 0);
    end(&f);
}

typedef struct dimensions_params {
    uint64_t data;
    uint32_t count, first, second;
} dimensions_params;

static replay_kind dimensions(fixture *f, uint64_t data, uint32_t count, uint32_t first,
                              uint32_t second)
{
    dimensions_params p = {data, count, first, second};
    return launch(f, "dimensions", 1, 32, &p, 20);
}

/* What a launch does not get to makes no other launch of it. */
static void repeats_with_unused_parameters(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    assert_int_equal(dimensions(&f, base_a, 1, 2, 7), REPLAY_LAUNCH);
    assert_int_equal(row(&f, A, ACC_STORE)->sectors, 8);
    assert_int_equal(dimensions(&f, base_a, 1, 2, 7), REPLAY_REPEAT);
    assert_int_equal(dimensions(&f, base_c, 1, 2, 9), REPLAY_REPEAT);
    assert_int_equal(f.out.repeat.same_as, 1);
    assert_int_equal(dimensions(&f, base_a, 1, 3, 7), REPLAY_LAUNCH);
    assert_int_equal(dimensions(&f, base_a, 2, 2, 7), REPLAY_LAUNCH);
    assert_int_equal(row(&f, A, ACC_STORE)->sectors, 32);
    assert_int_equal(dimensions(&f, base_a, 2, 2, 9), REPLAY_LAUNCH);
    assert_int_equal(dimensions(&f, base_b, 3, 2, 9), REPLAY_LAUNCH);
    assert_int_equal(dimensions(&f, base_b, 2, 2, 9), REPLAY_REPEAT);
    end(&f);
}

/* ---- constants ---- */

static void constants(void **state)
{
    (void)state;
    fixture f;
    uint64_t p[] = {base_a};
    begin(&f, 0);
    assert_int_equal(launch(&f, "strided", 1, 32, p, sizeof p), REPLAY_LAUNCH);
    assert_int_equal(row(&f, A, ACC_STORE)->sectors, 8); /* 32 words, every second: 256 bytes */
    assert_int_equal(row(&f, COUNTER, ACC_REDUCTION)->requests, 1);
    assert_int_equal(row(&f, STRIDE, ACC_LOAD)->requests, 1);
    for (uint32_t i = 0; i < f.out.launch.summary.nheats; i++)
        if (f.out.launch.summary.heats[i].object == STRIDE)
            assert_int_equal(f.out.launch.summary.heats[i].rows[0].sector, base_stride / 32);
    set_stride(&f, 8, true);
    assert_int_equal(launch(&f, "strided", 1, 32, p, sizeof p), REPLAY_LAUNCH);
    assert_int_equal(row(&f, A, ACC_STORE)->sectors, 32);
    set_stride(&f, 2, true);
    assert_int_equal(launch(&f, "strided", 1, 32, p, sizeof p), REPLAY_REPEAT);
    assert_int_equal(f.out.repeat.same_as, 1);
    set_stride(&f, 0, false);
    assert_int_equal(launch(&f, "strided", 1, 32, p, sizeof p), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "constant stride"));
    set_stride(&f, 8, true);
    assert_int_equal(launch(&f, "strided", 1, 32, p, sizeof p), REPLAY_REPEAT);
    end(&f);
}

/* ---- what the launch's parameters decide ---- */

static replay_kind choose(fixture *f, uint64_t out, uint64_t index, uint32_t turns)
{
    struct {
        uint64_t out, index;
        uint32_t turns;
    } p = {out, index, turns};
    return launch(f, "chosen", 1, 32, &p, 20);
}

/* Without an index all is known; launches that have one are not taken for the same, nor the other
 * way round. */
static void decided_by_parameters(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    assert_int_equal(choose(&f, base_a, base_b, 0), REPLAY_LAUNCH);
    assert_int_equal(f.out.way.count, 1);
    assert_int_equal(f.out.launch.summary.ninsns, 1);
    assert_int_equal(choose(&f, base_a, 0, 0), REPLAY_LAUNCH);
    assert_int_equal(f.out.way.count, 0);
    assert_int_equal(f.out.launch.summary.ninsns, 1);
    assert_int_equal(row(&f, A, ACC_STORE)->sectors, 4);
    assert_int_equal(choose(&f, base_a, 0, 2), REPLAY_LAUNCH);
    assert_int_equal(row(&f, A, ACC_STORE)->requests, 3);
    assert_int_equal(choose(&f, base_c, 0, 0), REPLAY_REPEAT);
    assert_int_equal(f.out.repeat.same_as, 2);
    assert_int_equal(choose(&f, base_a, base_b, 0), REPLAY_REPEAT);
    assert_int_equal(f.out.repeat.same_as, 1);
    end(&f);
}

/* ---- what is not known ---- */

static void gaps(void **state)
{
    (void)state;
    fixture f;
    uint64_t p[] = {base_a, base_b};
    begin(&f, 0);
    assert_int_equal(launch(&f, "scatter", 1, 32, p, sizeof p), REPLAY_LAUNCH);
    assert_int_equal(f.out.launch.summary.ninsns, 1);
    assert_int_equal(row(&f, B, ACC_LOAD)->sectors, 4);
    assert_int_equal(f.out.way.count, 1);
    assert_string_equal(f.out.way.gaps[0].reason, "its address depends on data loaded from memory");
    end(&f);
}

typedef struct box_params {
    _Alignas(64) uint64_t map[16];
    uint64_t data;
} box_params;

/* What the driver makes of a map is known by its bytes alone. */
static cap_record tensor_of(const box_params *p)
{
    cap_record r = {.type = CAP_TENSOR,
                    .tensor = {.address = base_b,
                               .dim = {32, 30},
                               .stride = {4, 128},
                               .box = {32, 8},
                               .step = {1, 1},
                               .rank = 2,
                               .element = ACC_ELEMENT_F32}};
    memcpy(r.tensor.map, p->map, sizeof r.tensor.map);
    return r;
}

static void expect_no_box(fixture *f)
{
    assert_int_equal(f->out.launch.summary.ninsns, 1);
    assert_int_equal(row(f, A, ACC_STORE)->sectors, 4 * 4);
    assert_int_equal(f->out.way.count, 1);
    assert_string_equal(f->out.way.gaps[0].reason, "nobody saw its tensor map being made");
}

/* Four blocks: 30 rows of 4 sectors, the last box being 6 rows high. */
static void tensor_maps(void **state)
{
    (void)state;
    fixture f;
    box_params p = {.data = base_a};
    for (uint32_t i = 0; i < 16; i++)
        p.map[i] = 0x1234567 * (i + 1);
    cap_record known = tensor_of(&p);
    begin(&f, 0);
    assert_int_equal(launch(&f, "boxes", 4, 32, &p, sizeof p), REPLAY_LAUNCH);
    expect_no_box(&f);
    known.tensor.box[0] = 512; /* damaged: none of CUDA's */
    see(&f, &known);
    assert_int_equal(launch(&f, "boxes", 4, 32, &p, sizeof p), REPLAY_LAUNCH);
    expect_no_box(&f);
    known = tensor_of(&p);
    see(&f, &known);
    assert_int_equal(launch(&f, "boxes", 4, 32, &p, sizeof p), REPLAY_LAUNCH);
    assert_int_equal(f.out.way.count, 0);
    assert_int_equal(row(&f, B, ACC_STORE)->requests, 4);
    assert_int_equal(row(&f, B, ACC_STORE)->sectors, 30 * 4);
    assert_int_equal(row(&f, A, ACC_STORE)->sectors, 4 * 4);
    assert_int_equal(launch(&f, "boxes", 4, 32, &p, sizeof p), REPLAY_REPEAT);
    p.map[3]++;
    assert_int_equal(launch(&f, "boxes", 4, 32, &p, sizeof p), REPLAY_LAUNCH);
    expect_no_box(&f);
    end(&f);
}

static void left_out(void **state)
{
    (void)state;
    fixture f;
    uint64_t p[] = {base_a, base_b};
    cap_note note = {.id = 7, .kernel = "scale", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    begin(&f, 0);
    assert_int_equal(launch(&f, "missing", 1, 32, p, sizeof p), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "no such kernel"));
    assert_int_equal(launch(&f, "scatter", 1, 32, p, 8), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "fewer parameters"));
    assert_int_equal(replay_note(f.session, &note, &f.out, &f.err), WL_OK);
    assert_int_equal(f.out.kind, REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "its code is not known"));
    note.module = MODULE;
    note.flags = CAP_NOTE_NO_PARAMS;
    assert_int_equal(replay_note(f.session, &note, &f.out, &f.err), WL_OK);
    assert_non_null(strstr(f.out.way.reason, "parameters"));
    end(&f);
}

static void memory_of_no_object(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    assert_int_equal(scale(&f, 0x7e0000000000, base_b, 2, 1000), REPLAY_LAUNCH);
    assert_int_equal(row(&f, 0, ACC_STORE)->requests, 32);
    assert_int_equal(scale(&f, 0x7e0000000000, base_b, 3, 1000), REPLAY_REPEAT);
    assert_int_equal(scale(&f, 0x7e0000000000, base_c, 2, 1000), REPLAY_LAUNCH);
    end(&f);
}

/* ---- limits ---- */

static void estimates(void **state)
{
    (void)state;
    fixture f;
    scale_params p = {base_a, base_b, 2, UINT32_MAX};
    begin(&f, 0.02);
    assert_int_equal(launch(&f, "scale", 1 << 20, 256, &p, sizeof p), REPLAY_LAUNCH);
    const obs_summary *s = &f.out.launch.summary;
    assert_true(f.out.way.estimated);
    assert_int_equal(s->blocks_run, 1 << 20);
    assert_true(s->blocks_observed >= 32 && s->blocks_observed < 1 << 20);
    uint64_t requests = 0; /* on A, B and what lies behind */
    for (uint32_t i = 0; i < s->ninsns; i++)
        requests += s->insns[i].op == ACC_LOAD ? s->insns[i].requests : 0;
    assert_true(requests > (1 << 23) * 0.99 && requests < (1 << 23) * 1.01);
    end(&f);
}

/* A block that takes longer than all the time there is. */
static void stopped_in_a_block(void **state)
{
    (void)state;
    fixture f;
    struct {
        uint64_t data;
        uint32_t turns;
    } p = {base_a, 1000};
    begin(&f, 0.02);
    assert_int_equal(launch(&f, "looping", 1, 32, &p, 12), REPLAY_LAUNCH);
    assert_int_equal(row(&f, A, ACC_LOAD)->requests, 1000);
    p.turns = 1u << 31;
    assert_int_equal(launch(&f, "looping", 1, 32, &p, 12), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "--replay-budget"));
    assert_int_equal(launch(&f, "looping", 2, 32, &p, 12), REPLAY_NOTHING); /* nothing is left */
    end(&f);
}

static void nothing_left(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1e-9);
    assert_int_equal(scale(&f, base_a, base_b, 2, 1000), REPLAY_LAUNCH); /* the first one runs */
    assert_int_equal(scale(&f, base_a, base_b, 3, 1000), REPLAY_REPEAT);
    assert_int_equal(scale(&f, base_a, base_b, 2, 10), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "--replay-budget"));
    end(&f);
}

static void interrupted(void **state)
{
    (void)state;
    fixture f;
    scale_params p = {base_a, base_b, 2, UINT32_MAX};
    begin(&f, 0);
    f.stopped = true; /* looked at ten times a second */
    assert_int_equal(launch(&f, "scale", 1 << 23, 256, &p, sizeof p), REPLAY_NOTHING);
    assert_non_null(strstr(f.out.way.reason, "interrupted"));
    end(&f);
}

/* The first two launches of a shape, then every power of two; each of them is counted. */
static void maps_of_some(void **state)
{
    (void)state;
    fixture f;
    begin_with(&f,
               &(replay_settings){.threads = 1, .blocks = {.automatic = true}, .heat_launches = 2});
    static const bool mapped[] = {true, true, true, false, true, false};
    scale_params other = {base_a, base_b, 2, 100};
    for (size_t i = 0; i < sizeof mapped; i++) {
        assert_int_equal(scale(&f, base_a, base_b, 2, 1000), REPLAY_LAUNCH);
        assert_int_equal(f.out.launch.summary.nheats > 0, mapped[i]);
        assert_int_equal(f.out.launch.summary.blocks_sampled > 0, mapped[i]);
        assert_int_equal(row(&f, B, ACC_LOAD)->requests, 32);
    }
    assert_int_equal(launch(&f, "scale", 1, 128, &other, sizeof other), REPLAY_LAUNCH);
    assert_true(f.out.launch.summary.nheats > 0); /* another shape */
    end(&f);
}

/* ---- whole captures ---- */

static void write_captured(cap_writer *w, uint32_t launches)
{
    static const scale_params p = {base_a, base_b, 2, 1000};
    cap_process process = {.pid = 1, .executable = "/app", .collector = "inline"};
    cap_device device = {.name = "", .cc_major = 9, .num_sms = 132, .global_bytes = 1 << 30};
    cap_module module = {.id = MODULE, .name = "m", .code = ptx, .length = sizeof ptx - 1};
    assert_int_equal(cap_write_process(w, &process), WL_OK);
    assert_int_equal(cap_write_device(w, &device), WL_OK);
    assert_int_equal(cap_write_module(w, &module), WL_OK);
    for (uint32_t i = 1; i <= launches; i++) {
        cap_note note = {.id = i,
                         .module = MODULE,
                         .kernel = "scale",
                         .grid = {4, 1, 1},
                         .block = {256, 1, 1},
                         .cluster = {1, 1, 1},
                         .params = (const char *)&p,
                         .nparams = sizeof p};
        assert_int_equal(cap_write_note(w, &note), WL_OK);
    }
}

typedef struct told {
    uint64_t calls, last, total, stop; /* stop: the number of launches done at which to end */
} told;

static bool note_progress(void *ctx, uint64_t done, uint64_t total)
{
    told *t = ctx;
    assert_true(done >= t->last && done <= total);
    t->calls++;
    t->last = done;
    t->total = total;
    return !t->stop || done < t->stop;
}

/* Launches are counted over all captures, and looked at one by one. */
static void progress_of_captures(void **state)
{
    (void)state;
    const char *paths[] = {WL_BINARY_DIR "/tests/progress-1.wlcap",
                           WL_BINARY_DIR "/tests/progress-2.wlcap"};
    for (uint64_t stop = 0; stop < 6; stop += 3) {
        told t = {.stop = stop};
        replay_progress progress = {note_progress, &t};
        replay_settings settings = {.threads = 1, .memo = true};
        wl_error err = {0};
        for (uint32_t i = 0; i < 2; i++) {
            cap_writer *w;
            unlink(paths[i]);
            assert_int_equal(cap_create(paths[i], &w, &err), WL_OK);
            write_captured(w, 2 + i);
            cap_close(w);
        }
        assert_int_equal(replay_captures(paths, 2, &settings, &progress, &err), WL_OK);
        assert_int_equal(t.total, 5);
        assert_int_equal(t.last, stop ? stop : 4);
        assert_true(t.calls >= t.last);
        unlink(paths[0]);
        unlink(paths[1]);
    }
}

/* ---- a launch that no record holds ---- */

static uint32_t too_large; /* the launch that is; 0: none */

wl_status __real_cap_write_observed(cap_writer *w, const cap_launch *launch);
wl_status __wrap_cap_write_observed(cap_writer *w, const cap_launch *launch);
wl_status __wrap_cap_write_observed(cap_writer *w, const cap_launch *launch)
{
    return launch->id == too_large ? WL_LIMIT : __real_cap_write_observed(w, launch);
}

/* Its repeats are said to be too large like itself, and refer to nothing. */
static void repeats_of_what_is_too_large(void **state)
{
    (void)state;
    const char *path = WL_BINARY_DIR "/tests/too-large.wlcap";
    replay_settings settings = {.threads = 1, .memo = true};
    cap_record record;
    cap_reader *reader;
    cap_writer *w;
    wl_error err = {0};
    uint32_t count = 0, last = 0;
    unlink(path);
    assert_int_equal(cap_create(path, &w, &err), WL_OK);
    write_captured(w, 4);
    cap_close(w);
    too_large = 1;
    assert_int_equal(replay_captures(&path, 1, &settings, NULL, &err), WL_OK);
    too_large = 0;
    assert_int_equal(cap_open(path, &reader, &err), WL_OK);
    for (bool done = false; cap_read(reader, &record, &done, &err) == WL_OK && !done;) {
        assert_true(record.type != CAP_REPEAT && record.type != CAP_LAUNCH);
        if (record.type != CAP_WAY || record.way.way != CAP_WAY_NONE)
            continue;
        assert_string_equal(record.way.reason, "what it accessed is too large to be recorded");
        assert_int_equal(record.way.note, last + 1);
        last = record.way.note;
        count++;
    }
    assert_int_equal(count, 4);
    cap_reader_free(reader);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch),
        cmocka_unit_test(repeats),
        cmocka_unit_test(repeats_with_other_objects),
        cmocka_unit_test(repeats_in_order),
        cmocka_unit_test(repeats_with_unused_parameters),
        cmocka_unit_test(constants),
        cmocka_unit_test(decided_by_parameters),
        cmocka_unit_test(gaps),
        cmocka_unit_test(tensor_maps),
        cmocka_unit_test(left_out),
        cmocka_unit_test(memory_of_no_object),
        cmocka_unit_test(estimates),
        cmocka_unit_test(stopped_in_a_block),
        cmocka_unit_test(nothing_left),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(maps_of_some),
        cmocka_unit_test(progress_of_captures),
        cmocka_unit_test(repeats_of_what_is_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
