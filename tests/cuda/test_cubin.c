/* What cubins say of their kernels' parameters: made by hand, and damaged. */
#include "cuda/cubin.h"
#include "support/cubin.h"
#include "support/test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const cubin_kernel good[] = {
    {.name = "fill", .bytes = 0x2c, .count = 4, .params = {{0, 8}, {8, 1}, {16, 24}, {40, 4}}},
    {.name = "none"},
    {.name = "big", .bytes = 20016, .count = 3, .params = {{0, 8}, {8, 20000}, {20008, 8}}},
};

/* Of a copy that ends where its allocation does, so that a sanitizer sees any step beyond. */
static cuda_layouts read_copy(const unsigned char *data, size_t size)
{
    cuda_layouts layouts;
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    cuda_cubin_layouts(copy, size, &layouts);
    free(copy);
    return layouts;
}

static void expect_layout(const cuda_layouts *layouts, const cubin_kernel *k)
{
    const cuda_layout *layout = cuda_layout_of(layouts, k->name);
    assert_non_null(layout);
    assert_int_equal(layout->bytes, k->bytes);
    assert_int_equal(layout->count, k->count);
    for (uint32_t i = 0; i < k->count; i++) {
        assert_int_equal(layout->params[i].offset, k->params[i][0]);
        assert_int_equal(layout->params[i].bytes, k->params[i][1]);
    }
}

static void parameters_are_by_position(void **state)
{
    size_t size;
    unsigned char *cubin = cubin_make(good, 3, &size);
    (void)state;
    assert_int_equal(cuda_cubin_bytes(cubin, size), size);
    cuda_layouts layouts = read_copy(cubin, size);
    assert_int_equal(layouts.count, 3);
    for (int i = 0; i < 3; i++)
        expect_layout(&layouts, &good[i]);
    assert_null(cuda_layout_of(&layouts, "other"));
    cuda_layouts_clear(&layouts);
    free(cubin);
}

static uint32_t made_for(unsigned char abi, uint32_t flags)
{
    size_t size;
    unsigned char *cubin = cubin_make(good, 3, &size);
    Elf64_Ehdr header;
    memcpy(&header, cubin, sizeof header);
    header.e_ident[EI_ABIVERSION] = abi;
    header.e_flags = flags;
    memcpy(cubin, &header, sizeof header);
    uint32_t sm = cuda_cubin_sm(cubin, size);
    free(cubin);
    return sm;
}

/* The flags of what nvcc 12 makes for sm_80, and nvcc 13 for sm_90 and sm_100. */
static void the_header_names_the_device(void **state)
{
    (void)state;
    assert_int_equal(made_for(7, 0x00500550), 80);
    assert_int_equal(made_for(8, 0x06005a04), 90);
    assert_int_equal(made_for(8, 0x06006404), 100);
    assert_int_equal(cuda_cubin_sm("no cubin", 8), 0);
}

/* Beside a good kernel, which keeps its parameters. */
static void impossible_parameters_are_left_out(void **state)
{
    static const cubin_kernel bad[] = {
        {.name = "overlaps", .bytes = 16, .count = 2, .params = {{0, 8}, {4, 8}}},
        {.name = "disorder", .bytes = 16, .count = 2, .params = {{8, 8}, {0, 8}}},
        {.name = "beyond", .bytes = 15, .count = 2, .params = {{0, 8}, {8, 8}}},
        {.name = "empty", .bytes = 8, .count = 2, .params = {{0, 0}, {0, 8}}},
        {.name = "twice", .bytes = 8, .count = 2, .params = {{0, 8}, {0, 8}}, 1},
        {.name = "missing", .bytes = 8, .count = 1, .params = {{0, 8}}, 2},
        {.name = "far", .bytes = 8, .count = 1, .params = {{0, 8}}, 0xffff},
        {.name = "large", .bytes = 0xffff, .count = 1, .params = {{0, 0xffff}}},
        {.name = "cut", .bytes = 8, .count = 1, .params = {{0, 8}}, 0, 2},
        {.name = "short", .bytes = 8, .count = 1, .params = {{0, 8}}, 0, 12},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const cubin_kernel both[] = {bad[i], good[0]};
        size_t size;
        unsigned char *cubin = cubin_make(both, 2, &size);
        cuda_layouts layouts = read_copy(cubin, size);
        assert_null(cuda_layout_of(&layouts, bad[i].name));
        expect_layout(&layouts, &good[0]);
        cuda_layouts_clear(&layouts);
        free(cubin);
    }
}

/* Many sections over the same bytes: no more is read than the file has. */
static void sections_over_each_other_are_bounded(void **state)
{
    cubin_kernel many[64];
    size_t size;
    (void)state;
    for (int i = 0; i < 64; i++)
        many[i] = good[0];
    unsigned char *cubin = cubin_make(many, 64, &size);
    Elf64_Ehdr h;
    memcpy(&h, cubin, sizeof h);
    for (int i = 2; i < 66; i++) {
        Elf64_Shdr s;
        memcpy(&s, cubin + h.e_shoff + (size_t)i * sizeof s, sizeof s);
        s.sh_offset = 0;
        s.sh_size = size;
        memcpy(cubin + h.e_shoff + (size_t)i * sizeof s, &s, sizeof s);
    }
    cuda_layouts layouts = read_copy(cubin, size);
    assert_int_equal(layouts.count, 0);
    cuda_layouts_clear(&layouts);
    free(cubin);
}

static void damage_is_survived(void **state)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t size;
    unsigned char *cubin = cubin_make(good, 3, &size);
    (void)state;
    for (size_t i = 0; i < size; i++) {
        cuda_layouts layouts = read_copy(cubin, i);
        assert_int_equal(layouts.count, 0);
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char was = cubin[i];
        for (size_t k = 0; k < sizeof values; k++) {
            cubin[i] = values[k];
            cuda_layouts layouts = read_copy(cubin, size);
            cuda_layouts_clear(&layouts);
        }
        cubin[i] = was;
    }
    free(cubin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_by_position),
        cmocka_unit_test(the_header_names_the_device),
        cmocka_unit_test(impossible_parameters_are_left_out),
        cmocka_unit_test(sections_over_each_other_are_bounded),
        cmocka_unit_test(damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
