/* Texture fetches and surface accesses, worked out by hand from the programming guide's formulas.
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct bench { /* a kernel around one instruction, and what it reads */
    fixture f;
    uint64_t handle;
    float *in;     /* 8 words a thread: %f0.. and %r0.. */
    uint32_t *out; /* 4 words a thread */
} bench;

enum { THREADS = 32 };

static const char *kernel_text(const char *body)
{
    static char text[4096];
    int n = snprintf(text, sizeof text,
                     HEADER ".visible .entry k(.param .u64 h, .param .u64 i, .param .u64 "
                            "o)\n{\n.reg .b16 %%h<4>; .reg .b32 %%r<30>;"
                            ".reg .f32 %%f<8>; .reg .b64 %%rd<20>; .reg .pred "
                            "%%p<3>;\nld.param.u64 %%rd1, [h]; ld.param.u64 %%rd2, [i];"
                            "ld.param.u64 %%rd3, [o]; mov.u32 %%r20, %%tid.x; mul.wide.u32 %%rd4, "
                            "%%r20, 32; add.u64 %%rd5, %%rd2, %%rd4;"
                            "mul.wide.u32 %%rd6, %%r20, 16; add.u64 %%rd7, %%rd3, %%rd6;\n");
    for (int k = 0; k < 8; k++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "ld.global.b32 %%r%d, [%%rd5+%d]; mov.b32 %%f%d, %%r%d;\n", k, 4 * k, k, k);
    for (int k = 0; k < 4; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "mov.u32 %%r1%d, 77;\n", k);
    n += snprintf(text + n, sizeof text - (size_t)n, "%s\n", body);
    for (int k = 0; k < 4; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "st.global.b32 [%%rd7+%d], %%r1%d;\n",
                      4 * k, k);
    snprintf(text + n, sizeof text - (size_t)n, "ret;\n}\n");
    return text;
}

static void begin(bench *b, const char *body)
{
    memset(b, 0, sizeof *b);
    fixture_begin(&b->f, kernel_text(body));
    b->in = fixture_alloc(&b->f, THREADS * 32);
    b->out = fixture_alloc(&b->f, THREADS * 16);
}

#define R "{%r10, %r11, %r12, %r13}"

static emu_image image_of(bench *b, uint32_t w, uint32_t h, uint32_t d, const float *texels)
{
    uint32_t rows = h ? h : 1, slices = d ? d : 1;
    emu_image image = {.dims = d   ? 3
                               : h ? 2
                                   : 1,
                       .kind = EMU_TEXEL_FLOAT,
                       .bits = 32,
                       .channels = 1,
                       .slices = 1,
                       .nlevels = 1};
    float *data = fixture_alloc(&b->f, (uint64_t)w * rows * slices * 4);
    memcpy(data, texels, (size_t)w * rows * slices * 4);
    image.level[0] = (emu_image_level){P(data), w * 4, (uint64_t)w * rows * 4, {w, rows, slices}};
    return image;
}

static void bind(bench *b, emu_texture t)
{
    assert_int_equal(emu_texture_new(b->f.machine, &t, &b->handle), WL_OK);
    assert_int_not_equal(b->handle, 0);
}

static emu_texture texture_of(emu_image image, emu_address_mode mode)
{
    return (emu_texture){
        .image = image, .mode = {mode, mode, mode}, .border = {4, 5, 6, 7}, .max_level = 16};
}

static wl_status try(bench *b, uint32_t threads)
{
    return TRY(&b->f, "k", 1, threads, b->handle, P(b->in), P(b->out));
}

static float number(const bench *b, uint32_t thread, uint32_t channel)
{
    float f;
    memcpy(&f, &b->out[4 * thread + channel], 4);
    return f;
}

/* One fetch with up to 8 input words. */
static float fetch(bench *b, float x, float y, float z)
{
    b->in[0] = x;
    b->in[1] = y;
    b->in[2] = z;
    fixture_ok(&b->f, try(b, 1));
    return number(b, 0, 0);
}

static void near(float got, double want, double tolerance)
{
    if (!(fabs((double)got - want) <= tolerance))
        fail_msg("%.9g, expected %.9g", (double)got, want);
}
#define IS(got, want) near(got, want, 0)

static const float four[] = {10, 20, 30, 40};

/* ---- coordinates ---- */

static void points_along_a_line(void **state)
{
    (void)state;
    static const struct {
        emu_address_mode mode;
        float x[7], want[7];
    } cases[] = {
        {EMU_WRAP, {-0.1f, 0, 0.26f, 0.5f, 0.99f, 1.3f, -1.3f}, {40, 10, 20, 30, 40, 20, 30}},
        {EMU_CLAMP, {-0.1f, 0, 0.26f, 0.5f, 0.99f, 1.3f, -9}, {10, 10, 20, 30, 40, 40, 10}},
        {EMU_MIRROR, {-0.1f, 0, 0.26f, 0.5f, 0.99f, 1.3f, -1.3f}, {10, 10, 20, 30, 40, 30, 30}},
        {EMU_BORDER, {-0.1f, 0, 0.26f, 0.5f, 0.99f, 1.3f, NAN}, {4, 10, 20, 30, 40, 4, 10}}};
    bench b;
    begin(&b, "tex.1d.v4.f32.f32 " R ", [%rd1, {%f0}];");
    emu_image image = image_of(&b, 4, 0, 0, four);
    for (size_t c = 0; c < 4; c++) {
        emu_texture t = texture_of(image, cases[c].mode);
        t.normalized = true;
        bind(&b, t);
        for (int k = 0; k < 7; k++)
            IS(fetch(&b, cases[c].x[k], 0, 0), (double)cases[c].want[k]);
        t.normalized = false;
        bind(&b, t);
        bool border = cases[c].mode == EMU_BORDER;
        IS(fetch(&b, 2.999f, 0, 0), 30);
        IS(fetch(&b, 3, 0, 0), 40);
        IS(fetch(&b, -0.001f, 0, 0), border ? 4 : 10);
        IS(fetch(&b, 5, 0, 0), border ? 4 : 40);
        IS(fetch(&b, INFINITY, 0, 0), border ? 4 : 40);
    }
    assert_int_equal(b.out[1], 0); /* channels that are not there */
    assert_int_equal(b.out[2], 0);
    assert_int_equal(b.out[3], 0);
    fixture_end(&b.f);
}

static void filtered_along_a_line(void **state)
{
    (void)state;
    bench b;
    begin(&b, "tex.1d.v4.f32.f32 " R ", [%rd1, {%f0}];");
    emu_texture t = texture_of(image_of(&b, 4, 0, 0, four), EMU_CLAMP);
    t.filter = true;
    bind(&b, t);
    IS(fetch(&b, 1, 0, 0), 15);
    IS(fetch(&b, 1.25f, 0, 0), 17.5);
    IS(fetch(&b, 0.25f, 0, 0), 10);
    IS(fetch(&b, 3.75f, 0, 0), 40);
    IS(fetch(&b, 0.5f + 1.f / 1024, 0, 0), 10); /* weights have 8 bits */
    IS(fetch(&b, 0.5f + 3.f / 1024, 0, 0), 10 + 10 / 256.);
    IS(fetch(&b, 1.5f - 1.f / 1024, 0, 0), 20);
    t.mode[0] = EMU_BORDER;
    bind(&b, t);
    IS(fetch(&b, 0, 0, 0), 7);
    IS(fetch(&b, 4, 0, 0), 22);
    IS(fetch(&b, -0.5f, 0, 0), 4);
    t.mode[0] = EMU_WRAP;
    t.normalized = true;
    bind(&b, t);
    IS(fetch(&b, 0, 0, 0), 25);
    IS(fetch(&b, 0.9375f, 0, 0), 40 - 7.5);
    t.mode[0] = EMU_MIRROR;
    bind(&b, t);
    IS(fetch(&b, 0, 0, 0), 10);
    IS(fetch(&b, 1.25f, 0, 0), 35);
    fixture_end(&b.f);
}

static void numbers_between_the_steps(void **state)
{
    (void)state;
    static const float seven[] = {0, 1, 2, 3, 4, 5, 6},
                       pair[] = {1, 1 + 0x1p-23f, 0x1p20f, 0x1.8p-7f, 0x1p-127f, 0x1p-126f};
    bench b;
    begin(&b, "tex.1d.v4.f32.f32 " R ", [%rd1, {%f0}];");
    emu_texture t = texture_of(image_of(&b, 7, 0, 0, seven), EMU_CLAMP);
    t.normalized = true;
    bind(&b, t);
    IS(fetch(&b, 299593.75f * 0x1p-21f, 0, 0), 0); /* 1.0000008 texels, but cut to 21 bits less */
    IS(fetch(&b, 299594 * 0x1p-21f, 0, 0), 1);
    t.mode[0] = EMU_WRAP;
    bind(&b, t);
    IS(fetch(&b, -1e-30f, 0, 0), 6);
    IS(fetch(&b, -1e-40f, 0, 0), 0); /* subnormal */
    IS(fetch(&b, INFINITY, 0, 0), 0);
    t = texture_of(image_of(&b, 6, 0, 0, pair), EMU_CLAMP);
    t.filter = true;
    bind(&b, t);
    IS(fetch(&b, 1, 0, 0), 1 + 0x1p-23);                    /* half of a step: away from zero */
    IS(fetch(&b, 2.5f + 255.f / 256, 0, 0), 4096 + 0x1p-7); /* cut 28 bits from the larger */
    IS(fetch(&b, 4.5f, 0, 0), 0);
    IS(fetch(&b, 5, 0, 0), 0);
    IS(fetch(&b, 5.5f, 0, 0), 0x1p-126);
    t.mode[1] = EMU_BORDER; /* what has no rows is filtered at their edge */
    bind(&b, t);
    IS(fetch(&b, 0.5f, 0, 0), 2.5);
    fixture_end(&b.f);
}

static void planes_and_volumes(void **state)
{
    (void)state;
    static const float eight[] = {0, 1, 2, 3, 4, 5, 6, 7};
    bench b;
    begin(&b, "tex.2d.v4.f32.f32 " R ", [%rd1, {%f0, %f1}];");
    emu_texture t = texture_of(image_of(&b, 4, 2, 0, eight), EMU_CLAMP);
    bind(&b, t);
    IS(fetch(&b, 3.5f, 1.5f, 0), 7);
    IS(fetch(&b, 9, -2, 0), 3);
    t.mode[1] = EMU_BORDER;
    bind(&b, t);
    IS(fetch(&b, 9, -2, 0), 4);
    IS(fetch(&b, 9, 1, 0), 7);
    t.filter = true;
    bind(&b, t);
    IS(fetch(&b, 1.5f, 1, 0), 3);
    IS(fetch(&b, 1.75f, 0.75f, 0), 2.25);
    t.mode[0] = t.mode[1] = EMU_WRAP;
    t.normalized = true;
    bind(&b, t);
    IS(fetch(&b, 0, 0, 0), 3.5); /* of 7 4 3 0 */
    fixture_end(&b.f);

    begin(&b, "tex.3d.v4.f32.f32 " R ", [%rd1, {%f0, %f1, %f2, %f2}];");
    t = texture_of(image_of(&b, 2, 2, 2, eight), EMU_CLAMP);
    bind(&b, t);
    IS(fetch(&b, 1.5f, 0.5f, 1.5f), 5);
    IS(fetch(&b, 0, 1, 7), 6);
    t.filter = true;
    bind(&b, t);
    IS(fetch(&b, 1, 1, 1), 3.5);
    IS(fetch(&b, 0.5f, 0.5f, 0.75f), 1);
    fixture_end(&b.f);
}

static void layers(void **state)
{
    (void)state;
    float texels[24];
    for (int k = 0; k < 24; k++)
        texels[k] = (float)k;
    bench b;
    begin(&b, "tex.a2d.v4.f32.f32 " R ", [%rd1, {%r2, %f0, %f1, %f1}];");
    emu_image image = image_of(&b, 4, 2, 3, texels);
    image.dims = 2;
    image.layered = true;
    image.slices = 3;
    image.level[0].size[2] = 1;
    bind(&b, texture_of(image, EMU_CLAMP));
    static const int32_t numbers[] = {0, 2, -1, 9};
    static const float want[] = {6, 22, 22, 22}; /* a number has no sign */
    for (int k = 0; k < 4; k++) {
        float layer;
        memcpy(&layer, &numbers[k], 4);
        IS(fetch(&b, 2, 1, layer), (double)want[k]);
    }
    fixture_end(&b.f);
}

static void cubes(void **state)
{
    (void)state;
    static const float v[7][3] = {{1, .5f, .5f},  {1, -.5f, -.5f}, {-1, .5f, .5f}, {.5f, 1, .5f},
                                  {.5f, -1, .5f}, {.5f, .5f, 1},   {.5f, .5f, -1}};
    static const float want[] = {0, 3, 11, 23, 31, 41, 50};
    float texels[24], flat[24];
    for (int k = 0; k < 24; k++) {
        texels[k] = (float)(k / 4 * 10 + k % 4);
        flat[k] = (float)(k / 4 * 10);
    }
    bench b;
    begin(&b, "tex.cube.v4.f32.f32 " R ", [%rd1, {%f0, %f1, %f2, %f2}];");
    for (int pass = 0; pass < 2; pass++) {
        emu_image image = image_of(&b, 2, 2, 6, pass ? flat : texels);
        image.dims = 2;
        image.cube = true;
        image.slices = 6;
        image.level[0].size[2] = 1;
        emu_texture t = texture_of(image, EMU_CLAMP);
        t.normalized = true;
        bind(&b, t);
        for (int k = 0; k < 7 && !pass; k++)
            IS(fetch(&b, v[k][0], v[k][1], v[k][2]), (double)want[k]);
        if (!pass)
            continue;
        t.filter = true;
        bind(&b, t);
        IS(fetch(&b, 1, 0, -1), 50);
        t.seamless = true;
        bind(&b, t);
        IS(fetch(&b, 1, 0, -1), 25);
        IS(fetch(&b, 1, 0, 0.1f), 0);
        IS(fetch(&b, 1, 1, 1), (86 * 40 + 85 * 20) / 256.); /* the fourth's 64 divided by three */
    }
    fixture_end(&b.f);
}

/* ---- texels ---- */

static emu_image packed(bench *b, emu_texel_kind kind, uint8_t bits, uint8_t channels,
                        const void *texels, size_t bytes)
{
    emu_image image = {
        .dims = 1, .kind = kind, .bits = bits, .channels = channels, .slices = 1, .nlevels = 1};
    void *data = fixture_alloc(&b->f, bytes);
    memcpy(data, texels, bytes);
    image.level[0] = (emu_image_level){
        P(data), bytes, bytes, {(uint32_t)(bytes * 8 / bits / channels), 1, 1}};
    return image;
}

static void formats(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0, 255, 51, 128, 188, 10, 188, 188};
    static const int16_t shorts[] = {-32768, 32767, -32767, 0};
    static const uint16_t halves[] = {0x3c00, 0xc500, 0x0001, 0x7bff};
    static const int32_t words[] = {-5, 7};
    bench b;
    begin(&b, "tex.1d.v4.f32.f32 " R ", [%rd1, {%f0}];");
    emu_texture t = texture_of(packed(&b, EMU_TEXEL_UNSIGNED, 8, 4, bytes, 8), EMU_CLAMP);
    bind(&b, t);
    IS(fetch(&b, 0, 0, 0), 0);
    IS(number(&b, 0, 1), 1);
    near(number(&b, 0, 2), 0.2, 1e-8);
    near(number(&b, 0, 3), 128 / 255., 1e-7);
    t.srgb = true;
    bind(&b, t);
    IS(fetch(&b, 1, 0, 0), 129 / 256.);       /* 0.5029 in eight bits */
    IS(number(&b, 0, 1), 50. / 16384);        /* 0.003035 */
    near(number(&b, 0, 3), 188 / 255., 1e-7); /* alpha is linear already */
    t = texture_of(packed(&b, EMU_TEXEL_UNSIGNED, 8, 4, bytes, 8), EMU_CLAMP);
    t.element = true;
    t.filter = true; /* of no effect on integers */
    bind(&b, t);
    fetch(&b, 1, 0, 0);
    assert_int_equal(b.out[0], 188);
    assert_int_equal(b.out[1], 10);
    t = texture_of(packed(&b, EMU_TEXEL_SIGNED, 16, 2, shorts, 8), EMU_CLAMP);
    bind(&b, t);
    IS(fetch(&b, 0, 0, 0), -1);
    IS(number(&b, 0, 1), 1);
    IS(number(&b, 0, 2), 0);
    IS(fetch(&b, 1, 0, 0), -1);
    t.element = true;
    bind(&b, t);
    fetch(&b, 0, 0, 0);
    assert_int_equal((int32_t)b.out[0], -32768);
    assert_int_equal(b.out[3], 0);
    bind(&b, texture_of(packed(&b, EMU_TEXEL_FLOAT, 16, 4, halves, 8), EMU_CLAMP));
    IS(fetch(&b, 0, 0, 0), 1);
    IS(number(&b, 0, 1), -5);
    IS(number(&b, 0, 2), 0x1p-24);
    IS(number(&b, 0, 3), 65504);
    bind(&b, texture_of(packed(&b, EMU_TEXEL_SIGNED, 32, 1, words, 8), EMU_CLAMP));
    fetch(&b, 0, 0, 0);
    assert_int_equal((int32_t)b.out[0], -5);
    fixture_end(&b.f);

    begin(&b, "tex.1d.v2.f16x2.f32 {%r10, %r11}, [%rd1, {%f0}];");
    bind(&b, texture_of(packed(&b, EMU_TEXEL_FLOAT, 16, 4, halves, 8), EMU_CLAMP));
    fetch(&b, 0, 0, 0);
    assert_int_equal(b.out[0], 0xc5003c00);
    assert_int_equal(b.out[1], 0x7bff0001);
    assert_int_equal(b.out[2], 77);
    fixture_end(&b.f);
}

static void sums_and_borders(void **state)
{
    (void)state;
    static const int8_t bytes[] = {-128, -127, 127, 64};
    static const uint8_t colours[] = {0, 10, 200, 255};
    bench b;
    begin(&b, "tex.1d.v4.f32.f32 " R ", [%rd1, {%f0}];");
    emu_texture t = texture_of(packed(&b, EMU_TEXEL_UNSIGNED, 8, 1, colours, 4), EMU_CLAMP);
    t.filter = true;
    bind(&b, t);
    near(fetch(&b, 0.75f, 0, 0), 643 / 65535., 1e-9); /* 2.5 * 257, to the nearest */
    t = texture_of(packed(&b, EMU_TEXEL_SIGNED, 8, 1, bytes, 4), EMU_BORDER);
    t.filter = true;
    t.mode[1] = EMU_CLAMP;
    t.border[0] = 0.3f;
    bind(&b, t);
    IS(fetch(&b, 1, 0, 0), -1); /* 127.5, held */
    near(fetch(&b, 3.5f, 0, 0), 16513 / 32767., 1e-7);
    near(fetch(&b, 9, 0, 0), 9804 / 32767., 1e-7); /* 38 of 127 */
    t = texture_of(packed(&b, EMU_TEXEL_FLOAT, 16, 1, bytes, 4), EMU_BORDER);
    t.border[0] = 0.3f;
    bind(&b, t);
    IS(fetch(&b, 9, 0, 0), 0.2998046875); /* towards zero */
    t = texture_of(packed(&b, EMU_TEXEL_UNSIGNED, 8, 1, colours, 4), EMU_BORDER);
    t.border[0] = 0.3f; /* 0x3e99999a */
    bind(&b, t);
    near(fetch(&b, 9, 0, 0), 76 / 255., 1e-7); /* 76.5, towards zero */
    t.element = true;
    bind(&b, t);
    fetch(&b, 9, 0, 0);
    assert_int_equal(b.out[0], 0x9a);
    fixture_end(&b.f);
}

/* What a sum of floats leaves below the normal numbers is zero, of the sum's sign; halves keep it. */
static void sums_below_normal_numbers(void **state)
{
    enum { ZERO, MINUS_ZERO = INT32_MIN };
    (void)state;
    static const struct {
        float first, second, at;
        int32_t bits;
    } cases[] = {{-0x1p-126f, 0, 0.5f, INT32_MIN | 1 << 23}, /* the first texel as it is */
                 {-0x1p-126f, 0, 0.75f, MINUS_ZERO},
                 {0x1p-126f, 0, 0.75f, ZERO},
                 {-0x1p-125f, 0, 1, INT32_MIN | 1 << 23}, /* half of it is the smallest */
                 {-0x1p-125f, 0, 1.0625f, MINUS_ZERO},
                 {0x1p-125f, -0x1p-125f, 0.75f, 1 << 23},
                 {0x1p-125f, -0x1p-125f, 1, ZERO},
                 {-0.0f, -0.0f, 1, MINUS_ZERO},
                 {-0.0f, 0, 1, ZERO}};
    static const uint16_t halves[] = {0x8002, 0};
    bench b;
    begin(&b, "tex.1d.v4.f32.f32 " R ", [%rd1, {%f0}];");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float texels[] = {cases[i].first, cases[i].second};
        emu_texture t = texture_of(packed(&b, EMU_TEXEL_FLOAT, 32, 1, texels, 8), EMU_CLAMP);
        t.filter = true;
        bind(&b, t);
        fetch(&b, cases[i].at, 0, 0);
        if ((int32_t)b.out[0] != cases[i].bits)
            fail_msg("case %zu: %08x instead of %08x", i, b.out[0], (unsigned)cases[i].bits);
    }
    emu_texture t = texture_of(packed(&b, EMU_TEXEL_FLOAT, 16, 1, halves, 4), EMU_CLAMP);
    t.filter = true;
    bind(&b, t);
    IS(fetch(&b, 1, 0, 0), -0x1p-24);
    fixture_end(&b.f);
}

/* ---- levels ---- */

static emu_image mipmap(bench *b)
{
    static const float texels[] = {0, 0, 0, 0, 0, 0,   0,   0,   0,   0,  0,
                                   0, 0, 0, 0, 0, 100, 100, 100, 100, 200};
    emu_image image = image_of(b, 4, 4, 0, texels);
    float *rest = fixture_alloc(&b->f, 20);
    memcpy(rest, texels + 16, 20);
    image.nlevels = 3;
    image.level[1] = (emu_image_level){P(rest), 8, 16, {2, 2, 1}};
    image.level[2] = (emu_image_level){P(rest + 4), 4, 4, {1, 1, 1}};
    return image;
}

static void levels(void **state)
{
    (void)state;
    bench b;
    begin(&b, "tex.level.2d.v4.f32.f32 " R ", [%rd1, {%f0, %f1}], %f2;");
    emu_texture t = texture_of(mipmap(&b), EMU_CLAMP);
    t.normalized = true;
    bind(&b, t);
    IS(fetch(&b, .5f, .5f, 0), 0);
    IS(fetch(&b, .5f, .5f, 0.4f), 0);
    IS(fetch(&b, .5f, .5f, 0.6f), 100);
    IS(fetch(&b, .5f, .5f, 9), 200);
    t.mip_filter = true;
    bind(&b, t);
    IS(fetch(&b, .5f, .5f, 0.25f), 25);
    IS(fetch(&b, .5f, .5f, 1.5f), 150);
    IS(fetch(&b, .5f, .5f, -3), 0);
    t.bias = 0.5f;
    bind(&b, t);
    IS(fetch(&b, .5f, .5f, 0.25f), 75);
    t.min_level = 0.25f;
    t.max_level = 1.25f;
    bind(&b, t);
    IS(fetch(&b, .5f, .5f, -5), 25);
    IS(fetch(&b, .5f, .5f, 5), 125);
    fixture_end(&b.f);

    begin(&b, "tex.grad.2d.v4.f32.f32 " R ", [%rd1, {%f0, %f1}], {%f2, %f3}, {%f4, %f5};");
    t = texture_of(mipmap(&b), EMU_CLAMP);
    t.normalized = t.mip_filter = true;
    bind(&b, t);
    b.in[3] = b.in[4] = b.in[5] = 0;
    IS(fetch(&b, .5f, .5f, 0.25f), 0);
    IS(fetch(&b, .5f, .5f, 0.5f), 100);
    IS(fetch(&b, .5f, .5f, 1), 200);
    b.in[5] = 0.5f; /* the longer one counts */
    IS(fetch(&b, .5f, .5f, 0.25f), 100);
    fixture_end(&b.f);

    begin(&b, "tex.2d.v4.f32.f32 " R ", [%rd1, {%f0, %f1}];");
    t.bias = 2;
    t.image = mipmap(&b);
    bind(&b, t);
    IS(fetch(&b, .5f, .5f, 0), 0); /* the base level, always */
    fixture_end(&b.f);
}

static void gathers(void **state)
{
    (void)state;
    float texels[16];
    for (int k = 0; k < 16; k++)
        texels[k] = (float)k;
    bench b;
    begin(&b, "tld4.r.2d.v4.f32.f32 " R ", [%rd1, {%f0, %f1}];");
    bind(&b, texture_of(image_of(&b, 4, 4, 0, texels), EMU_CLAMP));
    IS(fetch(&b, 2, 2, 0), 9);
    IS(number(&b, 0, 1), 10);
    IS(number(&b, 0, 2), 6);
    IS(number(&b, 0, 3), 5);
    fixture_end(&b.f);
}

static void queries(void **state)
{
    (void)state;
    bench b;
    begin(&b, "txq.width.b32 %r10, [%rd1]; txq.height.b32 %r11, [%rd1]; txq.num_mipmap_levels.b32 "
              "%r12, [%rd1];"
              "txq.level.width.b32 %r13, [%rd1], 1;");
    bind(&b, texture_of(mipmap(&b), EMU_CLAMP));
    fixture_ok(&b.f, try(&b, 1));
    assert_int_equal(b.out[0], 4);
    assert_int_equal(b.out[1], 4);
    assert_int_equal(b.out[2], 3);
    assert_int_equal(b.out[3], 2);
    fixture_end(&b.f);

    float texels[24] = {0};
    begin(&b, "txq.width.b32 %r10, [%rd1]; txq.height.b32 %r11, [%rd1]; txq.depth.b32 %r12, [%rd1];"
              "txq.array_size.b32 %r13, [%rd1];");
    emu_image image = image_of(&b, 4, 0, 6, texels); /* six layered rows */
    image.dims = 1;
    image.layered = true;
    image.slices = 6;
    bind(&b, texture_of(image, EMU_CLAMP));
    fixture_ok(&b.f, try(&b, 1));
    assert_int_equal(b.out[0], 4);
    assert_int_equal(b.out[1], 6);
    assert_int_equal(b.out[2], 0);
    assert_int_equal(b.out[3], 6);
    fixture_end(&b.f);
}

/* ---- surfaces ---- */

static void integer_input(bench *b, int32_t x, int32_t y, int32_t z)
{
    const int32_t words[3] = {x, y, z};
    memcpy(b->in, words, sizeof words);
}

static uint32_t load(bench *b, int32_t x, int32_t y)
{
    integer_input(b, x, y, 0);
    fixture_ok(&b->f, try(b, 1));
    return b->out[0];
}

static void surface(bench *b, float *texels)
{
    emu_image image = image_of(b, 4, 2, 0, texels);
    assert_int_equal(emu_surface_new(b->f.machine, &image, &b->handle), WL_OK);
}

static void surface_loads(void **state)
{
    (void)state;
    uint32_t words[] = {10, 11, 12, 13, 0x04030201, 15, 16, 17};
    bench b;
    begin(&b, "suld.b.2d.b32.clamp {%r10}, [%rd1, {%r0, %r1}];");
    surface(&b, (float *)words);
    assert_int_equal(load(&b, 4, 1), 15);
    assert_int_equal(load(&b, -8, 0), 10);
    assert_int_equal(load(&b, 16, 9), 17);
    fixture_end(&b.f);
    begin(&b, "suld.b.2d.b32.zero {%r10}, [%rd1, {%r0, %r1}];");
    surface(&b, (float *)words);
    assert_int_equal(load(&b, 12, 0), 13);
    assert_int_equal(load(&b, 16, 0), 0);
    assert_int_equal(load(&b, 0, 2), 0);
    fixture_end(&b.f);
    begin(&b,
          "suld.b.2d.v4.b8.trap {%h0, %h1, %h2, %h3}, [%rd1, {%r0, %r1}]; cvt.u32.u16 %r10, %h2;");
    surface(&b, (float *)words);
    assert_int_equal(load(&b, 0, 1), 3);
    integer_input(&b, 16, 0, 0);
    assert_int_equal(try(&b, 1), WL_FAULT);
    assert_int_equal(b.f.result.fault.kind, EMU_FAULT_SURFACE_BOUNDS);
    integer_input(&b, 2, 0, 0);
    assert_int_equal(try(&b, 1), WL_FAULT);
    assert_int_equal(b.f.result.fault.kind, EMU_FAULT_MISALIGNED);
    fixture_end(&b.f);
    begin(&b,
          "suld.b.2d.v2.b64.trap {%rd10, %rd11}, [%rd1, {%r0, %r1}]; mov.b64 {%r10, %r11}, %rd11;");
    surface(&b, (float *)words);
    assert_int_equal(load(&b, 0, 1), 16);
    assert_int_equal(b.out[1], 17);
    fixture_end(&b.f);
}

static void surface_stores(void **state)
{
    (void)state;
    bench b;
    uint32_t words[8] = {0};
    begin(&b, "sust.b.2d.v2.b32.zero [%rd1, {%r0, %r1}], {%r20, %r2};");
    emu_image target = image_of(&b, 4, 2, 0, (float *)words);
    assert_int_equal(emu_surface_new(b.f.machine, &target, &b.handle), WL_OK);
    for (int k = 0; k < 3; k++) {
        const int32_t in[] = {8 * k, 1, 50 + k};
        memcpy(b.in + 8 * k, in, sizeof in);
    }
    fixture_ok(&b.f, try(&b, 3)); /* the third one is outside */
    static const uint32_t want[] = {0, 0, 0, 0, 0, 50, 1, 51};
    assert_memory_equal((void *)(uintptr_t)target.level[0].address, want, sizeof want);
    fixture_end(&b.f);

    begin(
        &b,
        "sured.b.add.1d.u32.trap [%rd1, {%r0}], %r1; sured.b.max.1d.s32.clamp [%rd1, {%r2}], %r1;");
    target = image_of(&b, 4, 0, 0, (float *)words);
    assert_int_equal(emu_surface_new(b.f.machine, &target, &b.handle), WL_OK);
    for (int k = 0; k < THREADS; k++) {
        const int32_t in[] = {k % 2 * 4, k + 1, 400};
        memcpy(b.in + 8 * k, in, sizeof in);
    }
    fixture_ok(&b.f, try(&b, THREADS));
    static const uint32_t sums[] = {256, 272, 0, 32};
    assert_memory_equal((void *)(uintptr_t)target.level[0].address, sums, sizeof sums);
    fixture_end(&b.f);
}

/* ---- what is wrong, what is seen ---- */

static void handles_are_checked(void **state)
{
    (void)state;
    bench b;
    begin(&b, "tex.1d.v4.f32.s32 " R ", [%rd1, {%r0}];");
    emu_image image = image_of(&b, 4, 0, 0, four);
    image.linear = true;
    bind(&b, texture_of(image, EMU_CLAMP));
    fixture_ok(&b.f, try(&b, 1));
    uint64_t good = b.handle, other, surf;
    assert_int_equal(emu_surface_new(b.f.machine, &image, &surf), WL_OK);
    assert_int_equal(emu_surface_free(b.f.machine, good), WL_NOENT);
    assert_int_equal(emu_texture_free(b.f.machine, surf), WL_NOENT);
    const uint64_t bad[] = {0, surf, good + 5, UINT64_MAX, good | UINT64_C(1) << 40};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        b.handle = bad[k];
        assert_int_equal(try(&b, 1), WL_FAULT);
        assert_int_equal(b.f.result.fault.kind, EMU_FAULT_BAD_TEXTURE);
        assert_non_null(strstr(b.f.result.fault.text, "no texture object"));
    }
    assert_int_equal(emu_texture_free(b.f.machine, good), WL_OK);
    assert_int_equal(emu_texture_free(b.f.machine, good), WL_NOENT);
    for (int k = 0; k < 600; k++) {
        emu_texture t = texture_of(image, EMU_CLAMP);
        assert_int_equal(emu_texture_new(b.f.machine, &t, &other), WL_OK);
        assert_true(other != good && other != surf);
    }
    b.handle = good;
    assert_int_equal(try(&b, 1), WL_FAULT);
    b.handle = other;
    fixture_ok(&b.f, try(&b, 1));
    assert_int_equal(emu_mem_free(b.f.machine, image.level[0].address), WL_OK);
    assert_int_equal(try(&b, 1), WL_FAULT);
    assert_int_equal(b.f.result.fault.kind, EMU_FAULT_USE_AFTER_FREE);
    fixture_end(&b.f);
}

typedef struct seen {
    acc_request access;
    uint64_t addr[32];
    int count;
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

static void see(void *block, const acc_request *a)
{
    seen *s = block;
    if (!(a->flags & ACC_TEXTURE))
        return;
    s->count++;
    s->access = *a;
    memcpy(s->addr, a->addr, sizeof s->addr);
}

static void requests_are_reported(void **state)
{
    (void)state;
    seen s = {0};
    const acc_observer observer = {
        .ctx = &s, .worker_begin = see_worker, .block_begin = see_block, .access = see};
    float texels[40];
    for (int k = 0; k < 40; k++)
        texels[k] = (float)k;
    bench b;
    begin(&b, "tex.1d.v4.f32.s32 " R ", [%rd1, {%r0}];");
    b.f.observer = &observer;
    emu_image image = image_of(&b, 40, 0, 0, texels);
    image.linear = true;
    bind(&b, texture_of(image, EMU_CLAMP));
    for (int32_t k = 0; k < THREADS; k++)
        memcpy(b.in + 8 * k, &(int32_t){k + 3}, 4);
    fixture_ok(&b.f, try(&b, THREADS));
    assert_int_equal(s.count, 1);
    assert_int_equal(s.access.op, ACC_LOAD);
    assert_int_equal(s.access.space, ACC_GLOBAL);
    assert_int_equal(s.access.flags, ACC_TEXTURE | ACC_READONLY);
    assert_int_equal(s.access.bytes, 4);
    assert_true(s.access.mask == UINT32_MAX);
    assert_int_equal(s.access.stride, 4);
    assert_int_equal(s.addr[0], image.level[0].address + 12);
    emu_alloc held;
    assert_true(emu_mem_find(b.f.machine, image.level[0].address, &held));
    assert_int_equal(s.access.object, held.id);
    for (int32_t k = 0; k < THREADS; k++)
        memcpy(b.in + 8 * k, &(int32_t){k + 30}, 4);
    fixture_ok(&b.f, try(&b, THREADS));
    assert_int_equal(s.count, 2);
    assert_int_equal(s.access.mask, 0x3ff); /* outside of the memory nothing is read, and 0 given */
    assert_int_equal(b.out[4 * 9], 0x421c0000);
    assert_int_equal(b.out[4 * 10], 0);
    fixture_end(&b.f);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    static const char *const bodies[] = {"tex.2d.v4.f32.f32 " R ", [%rd1, {%f0, %f1}], {1, 2};",
                                         "tex.2d.v4.f32.f32 " R ", [%rd1, {%f0, %f1}], %f2;",
                                         "tex.2d.v4.f32.f32 " R ", [%rd1, %rd2, {%f0, %f1}];",
                                         "sust.p.2d.b32.trap [%rd1, {%r0, %r1}], {%r2};",
                                         "txq.channel_order.b32 %r10, [%rd1];",
                                         "tld4.r.cube.v4.f32.f32 " R
                                         ", [%rd1, {%f0, %f1, %f2, %f2}];"};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        fixture f;
        emu_kernel *kernel;
        fixture_begin(&f, kernel_text(bodies[k]));
        assert_int_equal(emu_module_kernel(f.module, "k", &kernel, &f.err), WL_UNSUPPORTED);
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_along_a_line),
        cmocka_unit_test(filtered_along_a_line),
        cmocka_unit_test(numbers_between_the_steps),
        cmocka_unit_test(planes_and_volumes),
        cmocka_unit_test(layers),
        cmocka_unit_test(cubes),
        cmocka_unit_test(formats),
        cmocka_unit_test(sums_and_borders),
        cmocka_unit_test(sums_below_normal_numbers),
        cmocka_unit_test(levels),
        cmocka_unit_test(gathers),
        cmocka_unit_test(queries),
        cmocka_unit_test(surface_loads),
        cmocka_unit_test(surface_stores),
        cmocka_unit_test(handles_are_checked),
        cmocka_unit_test(requests_are_reported),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
