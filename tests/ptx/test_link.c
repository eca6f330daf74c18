/* Linking of PTX. */
#include "ptx/link.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD(version, target) ".version " version "\n.target " target "\n.address_size 64\n"

static char *link_texts(const char *const *texts, size_t count, wl_status expected, wl_error *err)
{
    ptx_source parts[4];
    char *text;
    size_t length;
    for (size_t i = 0; i < count; i++)
        parts[i] = (ptx_source){.text = (char *)(uintptr_t)texts[i], .length = strlen(texts[i])};
    wl_status status = ptx_link(parts, count, &text, &length, err);
    if (status != expected)
        fail_msg("status %d: %s", status, err->text);
    if (text)
        assert_int_equal(strlen(text), length);
    return text;
}

static char *link_good(const char *const *texts, size_t count)
{
    wl_error err = {0};
    return link_texts(texts, count, WL_OK, &err);
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        count++;
    return count;
}

static void assert_order(const char *text, const char *first, const char *second)
{
    const char *a = strstr(text, first), *b = strstr(text, second);
    if (!a || !b || a > b)
        fail_msg("\"%s\" is not before \"%s\" in:\n%s", first, second, text);
}

static void declarations_find_their_definitions(void **state)
{
    static const char *const texts[] = {
        HEAD("8.0",
             "sm_80") ".extern .func (.param .b32 r) f (.param .b32 a);\n"
                      ".extern .global .align 4 .b32 x;\n"
                      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                      ".visible .entry k() { call (r), f, (x); ret; }\n",
        HEAD("8.3",
             "sm_90") ".visible .global .align 4 .b32 x = 3;\n"
                      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                      ".visible .func (.param .b32 r) f (.param .b32 a) { ret; }\n"};
    char *text = link_good(texts, 2);
    (void)state;
    assert_int_equal(occurrences(text, ".version"), 1);
    assert_non_null(strstr(text, ".version 8.3"));
    assert_non_null(strstr(text, ".target sm_90"));
    assert_int_equal(occurrences(text, ".extern"), 1); /* vprintf */
    assert_int_equal(occurrences(text, "vprintf"), 1);
    assert_int_equal(occurrences(text, ".b32 x"), 1);
    assert_order(text, ".visible .func (.param .b32 r) f (.param .b32 a);", ".visible .entry k");
    assert_order(text, ".b32 x = 3;", ".visible .entry k");
    free(text);
}

static void weak_symbols_are_kept_once(void **state)
{
    static const char *const texts[] = {
        HEAD("8.0", "sm_80") ".weak .func t() { bar; }\n.weak .entry e() { one; }\n.common .global "
                             ".b32 c;\n",
        HEAD("8.0", "sm_80") ".weak .func t() { bar; }\n.weak .entry e() { two; }\n.common .global "
                             ".b32 c;\n"
                             ".visible .func w() { ret; }\n",
        HEAD("8.0", "sm_80") ".weak .func w() { lost; }\n"};
    char *text = link_good(texts, 3);
    (void)state;
    assert_int_equal(occurrences(text, "bar;"), 1);
    assert_int_equal(occurrences(text, "one;"), 1);
    assert_int_equal(occurrences(text, "two;"), 0);
    assert_int_equal(occurrences(text, "lost;"), 0);
    assert_int_equal(occurrences(text, ".b32 c"), 1);
    free(text);
}

static void locals_of_one_name_are_told_apart(void **state)
{
    static const char *const texts[] = {
        HEAD("8.0", "sm_80") ".global .b32 hidden = 1;\n.func local() { st [hidden+4], 1; }\n"
                             ".visible .entry a() { call local; // hidden\n ld r, [hidden]; }\n",
        HEAD("8.0", "sm_80") ".global .b32 hidden = 2;\n.func local() { st [hidden], 2; }\n"
                             ".visible .entry b() { call local; ld hidden2, [hidden]; }\n"};
    char *text = link_good(texts, 2);
    (void)state;
    assert_non_null(strstr(text, ".b32 hidden = 1;"));
    assert_non_null(strstr(text, ".b32 hidden_part1 = 2;"));
    assert_non_null(strstr(text, "st [hidden_part1], 2;"));
    assert_non_null(strstr(text, "call local_part1; ld hidden2, [hidden_part1];"));
    assert_non_null(strstr(text, "st [hidden+4], 1;"));
    assert_non_null(strstr(text, "// hidden\n"));
    free(text);
}

static void source_lines_keep_their_files(void **state)
{
    static const char *const texts[] = {
        HEAD("8.0",
             "sm_80") ".visible .entry a() { .loc 1 3 0\n .loc 2 7 1, function_name "
                      "$L__info_string0, "
                      "inlined_at 1 3 0\n ret; }\n.file 1 \"a.cu\"\n.file 2 \"h.h\", 123, 456\n"
                      ".section .debug_str { $L__info_string0: .b8 95 }\n",
        HEAD("8.0", "sm_80") ".visible .entry b() { .loc 1 9 0\n .loc 1 9 2, function_name "
                             "$L__info_string0, "
                             "inlined_at 1 9 1\n ret; }\n.file 1 \"b.cu\"\n"
                             ".section .debug_str { $L__info_string0: .b8 96 }\n.section "
                             ".debug_info { .b32 1 }\n"};
    char *text = link_good(texts, 2);
    (void)state;
    assert_non_null(strstr(text, ".file 3 \"b.cu\""));
    assert_non_null(strstr(text, ".loc 3 9 0"));
    assert_non_null(strstr(text, "inlined_at 3 9 1"));
    assert_non_null(strstr(text, ".loc 2 7 1, function_name $L__info_string0, inlined_at 1 3 0"));
    assert_int_equal(occurrences(text, "$L__info_string0_part1"), 2);
    assert_null(strstr(text, ".debug_info"));
    free(text);
}

static void faults_are_named(void **state)
{
    static const char *const twice[] = {HEAD("8.0", "sm_80") ".visible .func f() { ret; }",
                                        HEAD("8.0", "sm_80") ".visible .func f() { ret; }"};
    static const char *const broken[] = {HEAD("8.0", "sm_80") ".visible .func f() { ret; "};
    static const char *const words[] = {HEAD("8.0", "sm_80") "what is this"};
    wl_error err = {0};
    (void)state;
    link_texts(twice, 2, WL_EXISTS, &err);
    assert_non_null(strstr(err.text, "f is defined in two"));
    link_texts(broken, 1, WL_PARSE, &err);
    link_texts(words, 1, WL_PARSE, &err);
    link_texts(words, 0, WL_ARG, &err);
}

/* Cut off anywhere: an error or a text, never more than there is. */
static void damage_is_survived(void **state)
{
    static const char whole[] = HEAD("8.0",
                                     "sm_80, debug") "// c\n/* d */ .file 1 \"a\\\"b\"\n"
                                                     ".extern .func (.param .b32 r) f (.param .b32 "
                                                     "a);\n.global .b8 s[3] = {1, 2, 3};\n"
                                                     ".visible .entry k() { .loc 1 2 3\n { ret; } "
                                                     "}\n.section .debug_str { .b8 1 }\n";
    (void)state;
    for (size_t i = 0; i < sizeof whole; i++) {
        char *copy = strndup(whole, i), *text;
        size_t length;
        ptx_source parts[2] = {{.text = copy, .length = i}, {.text = copy, .length = i}};
        if (ptx_link(parts, 1, &text, &length, NULL) == WL_OK)
            free(text);
        if (ptx_link(parts, 2, &text, &length, NULL) == WL_OK)
            free(text);
        free(copy);
    }
}

/* ---- with nvcc and ptxas ---- */

static const char header[] =
    "#include <cstdio>\n"
    "template <class T> __device__ __noinline__ T twice(T x) { printf(\"%d\\n\", (int)x); return x "
    "+ x; }\n"
    "template <class T> __global__ void fill(T *p, T v) { p[threadIdx.x] = twice(v); }\n"
    "extern __device__ int counter;\nextern __constant__ float factors[4];\n__device__ int "
    "helper(int);\n"
    "typedef int (*op)(int);\nextern __device__ op ops[2];\n";
static const char first[] =
    "#include \"h.h\"\nstatic __device__ int hidden = 1;\n"
    "static __device__ __noinline__ int bump(int x) { return x + hidden++; }\nextern __shared__ "
    "float smem[];\n"
    "__global__ void k(int *p) { smem[threadIdx.x] = factors[threadIdx.x & 3]; __syncthreads();\n"
    "    p[threadIdx.x] = helper(bump(threadIdx.x)) + ops[threadIdx.x & 1](3) + "
    "(int)smem[threadIdx.x ^ 1];\n"
    "    atomicAdd(&counter, twice(1)); }\n"
    "int main() { int *d; cudaMalloc(&d, 4096); k<<<1, 32, 128>>>(d); fill<<<1, 32>>>(d, 3); }\n";
static const char second[] =
    "#include \"h.h\"\nstatic __device__ int hidden = 5;\n"
    "static __device__ __noinline__ int bump(int x) { return x * hidden--; }\n__device__ int "
    "counter;\n"
    "__constant__ float factors[4] = {1, 2, 3, 4};\n"
    "__device__ int helper(int x) { return bump(x) + twice(2); }\n"
    "__device__ int plus(int x) { return x + 1; }\n__device__ int minus(int x) { return x - 1; }\n"
    "__device__ op ops[2] = {plus, minus};\n"
    "__global__ void other(float *p) { extern __shared__ float smem[]; smem[threadIdx.x] = "
    "p[threadIdx.x]; }\n"
    "template __global__ void fill<int>(int *, int);\n";

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write_text(path, text);
}

static char *read_text(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return test_read(path, NULL);
}

static int run(const char *folder, const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "cd %s && PATH=$(dirname %s):$PATH && %s", folder, WL_NVCC,
             command);
    return system(line);
}

static void ptxas_takes_what_was_linked(void **state)
{
    static const char *const modes[] = {"", "-lineinfo", "-G"};
    char folder[] = "/tmp/wl_link_XXXXXX", command[256];
    (void)state;
    if (!*WL_NVCC)
        skip();
    assert_non_null(mkdtemp(folder));
    write_text(folder, "h.h", header);
    write_text(folder, "one.cu", first);
    write_text(folder, "two.cu", second);
    for (int i = 0; i < 3; i++) {
        snprintf(command, sizeof command, "nvcc %s -arch=compute_90 -rdc=true -ptx one.cu two.cu",
                 modes[i]);
        assert_int_equal(run(folder, command), 0);
        char *parts[] = {read_text(folder, "one.ptx"), read_text(folder, "two.ptx")};
        char *whole = link_good((const char *const *)parts, 2);
        write_text(folder, "whole.ptx", whole);
        assert_int_equal(run(folder, "ptxas -arch=sm_90 -c whole.ptx -o whole.cubin"), 0);
        free(whole), free(parts[0]), free(parts[1]);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_find_their_definitions),
        cmocka_unit_test(weak_symbols_are_kept_once),
        cmocka_unit_test(locals_of_one_name_are_told_apart),
        cmocka_unit_test(source_lines_keep_their_files),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(ptxas_takes_what_was_linked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
