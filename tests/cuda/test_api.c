/* The tables of functions and errors. */
#include "cuda/api.h"
#include "cuda/args.h"
#include "cuda/errors.h"
#include "cuda/types.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int releases[] = {0,     1000,  2000,  2010,  2020,  3000,  3010,  3020,  4000,
                               4010,  4020,  5000,  5050,  6000,  6050,  7000,  7050,  8000,
                               9000,  9010,  9020,  10000, 10010, 10020, 11000, 11010, 11020,
                               11030, 11040, 11050, 11060, 11070, 11080, 12000, 12010, 12020,
                               12030, 12040, 12050, 12060, 12080, 12090, 13000};

/* What driver 580.159 answers for this line at the given release: a symbol, or "!" and the status.
 */
static void expected_at(const char *answers, int release, char *out, size_t size)
{
    int from, used;
    char symbol[128];
    out[0] = '\0';
    for (; sscanf(answers, " %d=%127s%n", &from, symbol, &used) == 2; answers += used)
        if (from <= release)
            snprintf(out, size, "%s", symbol);
}

static void compare(const char *base, int flags, const char *answers)
{
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        char expected[128], ours[128];
        bool known;
        const cuda_driver_function *found = cuda_driver_find(base, releases[i], flags == 2, &known);
        expected_at(answers, releases[i], expected, sizeof expected);
        snprintf(ours, sizeof ours, "%s", found ? found->symbol : known ? "!2" : "!1");
        if (strcmp(ours, expected) != 0)
            fail_msg("%s, version %d, flags %d: %s, the driver %s", base, releases[i], flags, ours,
                     expected);
    }
}

static void lookups_are_those_of_the_driver(void **state)
{
    FILE *file = fopen(WL_SOURCE_DIR "/tests/cuda/recorded/getprocaddress.txt", "r");
    char line[1024], base[128];
    int flags, used, compared = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%127s %d:%n", base, &flags, &used) == 2 && base[0] != '#') {
            compare(base, flags, line + used);
            compared++;
        }
    fclose(file);
    assert_true(compared > 900);
}

static void names_with_a_suffix_are_none(void **state)
{
    bool known;
    (void)state;
    assert_null(cuda_driver_find("cuMemAlloc_v2", 13000, false, &known));
    assert_false(known);
    assert_null(cuda_driver_find("", 13000, false, &known));
    assert_null(cuda_driver_find("zzz", 13000, true, &known));
    assert_null(cuda_driver_find("cuCtxCreate", 1000, false, &known));
    assert_true(known);
    assert_string_equal(cuda_driver_find("cuCtxSynchronize", 13000, false, &known)->symbol,
                        "cuCtxSynchronize_v2");
}

static void symbols_are_unique_and_sorted(void **state)
{
    size_t count;
    const cuda_driver_function *driver = cuda_driver_functions(&count);
    (void)state;
    assert_true(count > 690);
    for (size_t i = 1; i < count; i++)
        assert_true(strcmp(driver[i - 1].base, driver[i].base) <= 0);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(driver[i].symbol, driver[k].symbol);
}

/* CUDA releases (11070, 13020) with this signature; a symbol may have several rows. */
static const struct {
    const char *symbol;
    int first, last;
} runtime[] = {
#define CUDART(symbol, first, last, ret, args) {#symbol, first, last},
#include "cuda/runtime_api.def"
#undef CUDART
};

/* Whether libcudart of this major version exports the symbol. */
static bool is_exported(const char *symbol, int major)
{
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        if (runtime[i].first / 1000 <= major && major <= runtime[i].last / 1000 &&
            strcmp(runtime[i].symbol, symbol) == 0)
            return true;
    return false;
}

static void runtime_symbols_belong_to_releases(void **state)
{
    (void)state;
    assert_true(is_exported("cudaMalloc", 11));
    assert_true(is_exported("cudaMalloc", 13));
    assert_true(is_exported("cudaBindTexture", 11));
    assert_false(is_exported("cudaBindTexture", 12));
    assert_true(is_exported("cudaGetDeviceProperties_v2", 12));
    assert_false(is_exported("cudaGetDeviceProperties_v2", 13));
    assert_false(is_exported("__cudaLaunchKernel", 11));
    assert_true(is_exported("__cudaLaunchKernel", 13));
    assert_false(is_exported("cudaNoSuch", 13));
}

static void errors_have_names_and_texts(void **state)
{
    (void)state;
    assert_int_equal(CUDA_ERROR_ILLEGAL_ADDRESS, 700);
    assert_int_equal(cudaErrorIllegalAddress, 700);
    assert_string_equal(cuda_driver_error_name(2), "CUDA_ERROR_OUT_OF_MEMORY");
    assert_string_equal(cuda_runtime_error_name(2), "cudaErrorMemoryAllocation");
    assert_string_equal(cuda_driver_error_text(700), "an illegal memory access was encountered");
    assert_null(cuda_driver_error_name(9));
    assert_null(cuda_driver_error_text(12345));
    assert_string_equal(cuda_runtime_error_name(202), "unrecognized error code");
    assert_string_equal(cuda_runtime_error_text(0), "no error");
}

static void parameters_of_launches_are_found(void **state)
{
    char packed[12];
    size_t bytes = sizeof packed, found;
    const void *buffer;
    void *list[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_BUFFER_POINTER, packed,
                    CU_LAUNCH_PARAM_END};
    void *unknown[] = {(void *)99, packed, CU_LAUNCH_PARAM_END};
    (void)state;
    assert_true(cuda_read_extra(list, &buffer, &found));
    assert_ptr_equal(buffer, packed);
    assert_int_equal(found, sizeof packed);
    assert_false(cuda_read_extra(unknown, &buffer, &found));
    assert_true(cuda_read_extra(NULL, &buffer, &found));
    assert_null(buffer);
}

static void channels_have_sizes(void **state)
{
    (void)state;
    assert_int_equal(cuda_format_bytes(CU_AD_FORMAT_SIGNED_INT8), 1);
    assert_int_equal(cuda_format_bytes(CU_AD_FORMAT_HALF), 2);
    assert_int_equal(cuda_format_bytes(CU_AD_FORMAT_FLOAT), 4);
    assert_int_equal(cuda_format_bytes(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups_are_those_of_the_driver),
        cmocka_unit_test(names_with_a_suffix_are_none),
        cmocka_unit_test(symbols_are_unique_and_sorted),
        cmocka_unit_test(runtime_symbols_belong_to_releases),
        cmocka_unit_test(errors_have_names_and_texts),
        cmocka_unit_test(parameters_of_launches_are_found),
        cmocka_unit_test(channels_have_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
