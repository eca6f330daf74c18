/* What nvcc writes, in its several modes, against what we read out of it. Needs nvcc; passes over
 * without. */
#include "cuda/cubin.h"
#include "cuda/fatbin.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    "__device__ int table[4];\n"
    "__global__ void first(int *p) { p[threadIdx.x] += table[threadIdx.x & 3]; }\n"
    "__global__ void second(float *p) { p[threadIdx.x] *= 2.f; }\n"
    "int main() { first<<<1, 32>>>(nullptr); return 0; }\n";
static const char part_one[] =
    "extern __device__ int helper(int);\n"
    "__global__ void first(int *p) { p[threadIdx.x] = helper(threadIdx.x); }\n"
    "int main() { first<<<1, 32>>>(nullptr); return 0; }\n";
static const char part_two[] = "static __device__ int local = 3;\n"
                               "__device__ int helper(int x) { return x * 3 + local++; }\n";

static const char parameters[] =
    "struct part { char c; double d; float *p; };\n"
    "struct large { int x[5000]; };\n"
    "extern \"C\" __global__ void mixed(int *p, char c, part s, int n) { p[n] = c + *s.p; }\n"
    "extern \"C\" __global__ void many(int *q, large l, int *p) { *p = l.x[*q]; }\n"
    "extern \"C\" __global__ void none() {}\n";

static const char defined[] =
    "__constant__ int stride = 2;\n__constant__ float weights[16];\n"
    "__device__ int table[3] = {1, 2, 3};\n__device__ long long counter;\n"
    "__managed__ int managed = 5;\n"
    "__global__ void k(float *p) { p[threadIdx.x * stride] = weights[threadIdx.x & 15] +\n"
    "    table[threadIdx.x % 3] + counter + managed; }\n";
static const char zeros[64];

static char folder[64];

static void write_text(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write_text(path, text);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/wl_nvcc_XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    write_text("a.cu", source);
    write_text("one.cu", part_one);
    write_text("two.cu", part_two);
    write_text("parameters.cu", parameters);
    write_text("variables.cu", defined);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void nvcc(const char *arguments)
{
    char command[1024];
    if (!*WL_NVCC)
        skip();
    snprintf(command, sizeof command, "cd %s && PATH=$(dirname %s):$PATH nvcc %s", folder, WL_NVCC,
             arguments);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

static cuda_file open_file(const char *name)
{
    char path[128];
    cuda_file file;
    wl_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (cuda_file_open(path, &file, &err) != WL_OK)
        fail_msg("%s", err.text);
    return file;
}

static char *ptx_of(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return test_read(path, NULL);
}

/* The entry's text holds the same entries and instructions as nvcc -ptx, comments aside. */
static void assert_same_ptx(const char *ours, const char *reference)
{
    const char *a = strstr(ours, ".visible"), *b = strstr(reference, ".visible");
    assert_non_null(a);
    assert_non_null(b);
    while (*a && *b) {
        while (*a == '\n' || *a == ' ' || *a == '\t' || *a == '\r')
            a++;
        for (;;) {
            while (*b == '\n' || *b == ' ' || *b == '\t' || *b == '\r')
                b++;
            if (b[0] != '/' || b[1] != '/')
                break;
            while (*b && *b != '\n')
                b++;
        }
        if (a[0] == '/' && a[1] == '/') {
            while (*a && *a != '\n')
                a++;
            continue;
        }
        if (*a != *b)
            fail_msg("\"%.40s\" against \"%.40s\"", a, b);
        if (*a)
            a++, b++;
    }
    assert_int_equal(*a, *b);
}

static void check_mode(const char *options, const char *reference, cuda_compression compression)
{
    char arguments[512];
    snprintf(arguments, sizeof arguments,
             "%s -fatbin -o a.fatbin a.cu && PATH=$(dirname %s):$PATH nvcc %s -ptx -o a.ptx a.cu",
             options, WL_NVCC, reference);
    nvcc(arguments);
    cuda_file file = open_file("a.fatbin");
    assert_int_equal(file.count, 1);
    const cuda_entry *entry = cuda_fatbin_choose(&file.fatbins[0].fatbin, CUDA_ENTRY_PTX, 90);
    assert_non_null(entry);
    assert_int_equal(entry->compression, compression);
    cuda_image image;
    assert_int_equal(cuda_image_read(file.map, file.size, 90, &image, NULL), WL_OK);
    char *expected = ptx_of("a.ptx");
    assert_same_ptx(image.ptx[0].text, expected);
    free(expected);
    cuda_image_clear(&image);
    cuda_file_close(&file);
}

static void modes_of_compression(void **state)
{
    (void)state;
    check_mode("", "", CUDA_ZSTD);
    check_mode("--compress-mode=none", "", CUDA_PLAIN);
    check_mode("--compress-mode=size", "", CUDA_ZSTD);
    check_mode("-arch=compute_90", "-arch=compute_90", CUDA_ZSTD);
}

static void several_architectures(void **state)
{
    (void)state;
    nvcc("-gencode=arch=compute_80,code=[compute_80,sm_80] "
         "-gencode=arch=compute_90a,code=[compute_90a,sm_90a] "
         "-gencode=arch=compute_100f,code=[compute_100f,sm_100] -fatbin -o a.fatbin a.cu");
    cuda_file file = open_file("a.fatbin");
    const cuda_fatbin *fatbin = &file.fatbins[0].fatbin;
    const struct {
        uint32_t sm, arch;
        char variant;
    } cases[] = {{80, 80, 0},     {86, 80, 0},     {90, 90, 'a'},
                 {100, 100, 'f'}, {103, 100, 'f'}, {120, 80, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cuda_entry *entry = cuda_fatbin_choose(fatbin, CUDA_ENTRY_PTX, cases[i].sm);
        assert_non_null(entry);
        assert_int_equal(entry->arch, cases[i].arch);
        assert_int_equal(entry->variant, cases[i].variant);
        unsigned char *text;
        size_t length;
        char target[32];
        char variant[2] = {cases[i].variant, 0};
        snprintf(target, sizeof target, ".target sm_%u%s", cases[i].arch, variant);
        assert_int_equal(cuda_entry_content(entry, &text, &length, NULL), WL_OK);
        assert_non_null(strstr((char *)text, target));
        free(text);
    }
    assert_null(cuda_fatbin_choose(fatbin, CUDA_ENTRY_PTX, 75));
    cuda_file_close(&file);
}

static void sass_alone_is_refused(void **state)
{
    cuda_image image;
    wl_error err = {0};
    (void)state;
    nvcc("-gencode=arch=compute_90,code=sm_90 -fatbin -o a.fatbin a.cu");
    nvcc("-arch=sm_90 -cubin -o a.cubin a.cu");
    cuda_file file = open_file("a.fatbin");
    assert_int_equal(cuda_image_read(file.map, file.size, 90, &image, &err), WL_NOENT);
    assert_non_null(strstr(err.text, "SASS for sm_90"));
    cuda_file_close(&file);
    file = open_file("a.cubin");
    assert_true(file.cubin);
    assert_int_equal(cuda_image_read(file.map, file.size, 90, &image, &err), WL_NOENT);
    assert_non_null(strstr(err.text, "cubin"));
    cuda_file_close(&file);
}

static void expect_cubin(const cuda_file *file, uint32_t sm, const cuda_entry *expected)
{
    unsigned char *cubin, *content;
    size_t length, bytes;
    wl_error err = {0};
    if (cuda_image_cubin(file->map, file->size, sm, &cubin, &length, &err) != WL_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cuda_entry_content(expected, &content, &bytes, &err), WL_OK);
    assert_int_equal(length, bytes);
    assert_memory_equal(cubin, content, bytes);
    free(content);
    free(cubin);
}

static void cubins_run_within_their_major_version(void **state)
{
    unsigned char *cubin;
    size_t length;
    (void)state;
    nvcc("-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 "
         "-fatbin -o a.fatbin a.cu");
    cuda_file file = open_file("a.fatbin");
    const cuda_fatbin *fatbin = &file.fatbins[0].fatbin;
    assert_int_equal(fatbin->count, 2);
    const cuda_entry *old = &fatbin->entries[fatbin->entries[0].arch == 80 ? 0 : 1];
    const cuda_entry *new = &fatbin->entries[fatbin->entries[0].arch == 80 ? 1 : 0];
    expect_cubin(&file, 80, old);
    expect_cubin(&file, 86, old);
    expect_cubin(&file, 90, new);
    assert_int_equal(cuda_image_cubin(file.map, file.size, 100, &cubin, &length, NULL), WL_NOENT);
    assert_int_equal(cuda_image_cubin(file.map, file.size, 75, &cubin, &length, NULL), WL_NOENT);
    cuda_file_close(&file);
}

static void cubins_of_files_are_taken_whole(void **state)
{
    unsigned char *cubin;
    size_t length;
    (void)state;
    nvcc("-arch=sm_90 -cubin -o a.cubin a.cu");
    cuda_file file = open_file("a.cubin");
    assert_int_equal(cuda_image_cubin(file.map, file.size, 90, &cubin, &length, NULL), WL_OK);
    assert_int_equal(length, file.size);
    assert_memory_equal(cubin, file.map, length);
    free(cubin);
    assert_int_equal(cuda_image_cubin(file.map, file.size / 2, 90, &cubin, &length, NULL),
                     WL_NOENT);
    cuda_file_close(&file);
}

static void expect_params(const cuda_layouts *layouts, const char *kernel, const cuda_param *params,
                          size_t count)
{
    const cuda_layout *layout = cuda_layout_of(layouts, kernel);
    assert_non_null(layout);
    assert_int_equal(layout->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(layout->params[i].offset, params[i].offset);
        assert_int_equal(layout->params[i].bytes, params[i].bytes);
    }
    uint32_t end = count ? params[count - 1].offset + params[count - 1].bytes : 0;
    assert_int_equal(layout->bytes, end);
}

static void cubins_tell_parameters(void **state)
{
    static const cuda_param mixed[] = {{0, 8}, {8, 1}, {16, 24}, {40, 4}},
                            many[] = {{0, 8}, {8, 20000}, {20008, 8}};
    static const char *const architectures[] = {"80", "90", "120"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "-arch=sm_%s -cubin -o p.cubin parameters.cu",
                 architectures[i]);
        nvcc(arguments);
        cuda_file file = open_file("p.cubin");
        cuda_layouts layouts;
        cuda_cubin_layouts(file.map, file.size, &layouts);
        assert_int_equal(layouts.count, 3);
        expect_params(&layouts, "mixed", mixed, 4);
        expect_params(&layouts, "none", NULL, 0);
        expect_params(&layouts, "many", many, 3);
        cuda_layouts_clear(&layouts);
        cuda_file_close(&file);
    }
}

static const cuda_variable *find_variable(const cuda_variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->count; i++)
        if (strcmp(variables->list[i].name, name) == 0)
            return &variables->list[i];
    fail_msg("the cubin has no variable %s", name);
    return NULL;
}

static void expect_variable(const cuda_variables *all, const char *name, bool constant,
                            uint64_t bytes, const char *initial)
{
    const cuda_variable *v = find_variable(all, name);
    assert_int_equal(v->constant, constant);
    assert_int_equal(v->bytes, bytes);
    if (initial)
        assert_memory_equal(v->initial, initial, bytes);
    else
        assert_null(v->initial);
}

/* Constants lie beside each other in their bank. */
static void cubins_tell_variables(void **state)
{
    (void)state;
    nvcc("-arch=sm_90 -cubin -o v.cubin variables.cu");
    cuda_file file = open_file("v.cubin");
    cuda_variables all;
    cuda_cubin_variables(file.map, file.size, &all);
    expect_variable(&all, "stride", true, 4, "\x02\0\0");
    expect_variable(&all, "weights", true, 64, zeros);
    expect_variable(&all, "table", false, 12, "\x01\0\0\0\x02\0\0\0\x03\0\0");
    expect_variable(&all, "counter", false, 8, NULL);
    expect_variable(&all, "managed", false, 4, "\x05\0\0");
    assert_int_equal(all.count, 5);
    const cuda_variable *a = find_variable(&all, "stride"), *b = find_variable(&all, "weights");
    assert_true(a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset);
    cuda_variables_clear(&all);
    /* Wherever the file ends. */
    for (size_t size = 0; size < file.size; size += 7) {
        char *cut = malloc(size + 1);
        memcpy(cut, file.map, size);
        cuda_cubin_variables(cut, size, &all);
        assert_int_equal(all.count, 0);
        cuda_variables_clear(&all);
        free(cut);
    }
    cuda_file_close(&file);
}

static size_t count_ptx(const cuda_file *file, const char *section, uint32_t sm, bool relocatable)
{
    size_t count = 0;
    for (size_t i = 0; i < file->count; i++) {
        const cuda_entry *entry = cuda_fatbin_choose(&file->fatbins[i].fatbin, CUDA_ENTRY_PTX, sm);
        if (entry && strcmp(file->fatbins[i].section, section) == 0 &&
            entry->relocatable == relocatable)
            count++;
    }
    return count;
}

static void executables_hold_fatbins(void **state)
{
    (void)state;
    nvcc("-o whole a.cu");
    cuda_file file = open_file("whole");
    assert_int_equal(count_ptx(&file, ".nv_fatbin", 90, false), 1);
    cuda_file_close(&file);
    nvcc("-rdc=true -gencode arch=compute_90,code=[sm_90,compute_90] -o parts one.cu two.cu");
    file = open_file("parts");
    assert_int_equal(count_ptx(&file, ".nv_fatbin", 90, false), 0);
    assert_int_equal(count_ptx(&file, "__nv_relfatbin", 90, true), 2);
    cuda_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_of_compression),
        cmocka_unit_test(several_architectures),
        cmocka_unit_test(sass_alone_is_refused),
        cmocka_unit_test(cubins_run_within_their_major_version),
        cmocka_unit_test(cubins_of_files_are_taken_whole),
        cmocka_unit_test(cubins_tell_parameters),
        cmocka_unit_test(cubins_tell_variables),
        cmocka_unit_test(executables_hold_fatbins),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
