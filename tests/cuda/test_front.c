/* The libraries that bear the names of NVIDIA's: what they export, and that each has its own
 * release's functions. */
#include "cuda/types.h"
#include "support/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER WL_BINARY_DIR "/lib/warplens/emulate/"

static const struct {
    const char *symbol;
    int first, last;
} runtime[] = {
#define CUDART(symbol, first, last, ret, args) {#symbol, (first) / 1000, (last) / 1000},
#include "cuda/runtime_api.def"
#undef CUDART
};

static const struct {
    const char *soname;
    int major;
} libraries[] = {{"libcudart.so.11.0", 11}, {"libcudart.so.12", 12}, {"libcudart.so.13", 13}};

static void *open_library(const char *soname)
{
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s", soname);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

static int exported_by(const char *symbol, int major)
{
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        if (strcmp(runtime[i].symbol, symbol) == 0 && runtime[i].first <= major &&
            major <= runtime[i].last)
            return 1;
    return 0;
}

/* Programs that were linked with -cudart shared ask for a symbol of a version named like the
 * library. */
static void each_exports_its_release(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        void *library = open_library(libraries[k].soname);
        for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++) {
            const char *symbol = runtime[i].symbol;
            void *found = dlvsym(library, symbol, libraries[k].soname);
            if (!found != !exported_by(symbol, libraries[k].major))
                fail_msg("%s in %s: %p", symbol, libraries[k].soname, found);
        }
        assert_null(dlsym(library, "front_find"));
        assert_null(dlsym(library, "front_slots"));
        dlclose(library);
    }
}

static int version_of(void *library)
{
    int version = 0;
    int (*get)(int *) = (int (*)(int *))dlsym(library, "cudaRuntimeGetVersion");
    assert_int_equal(get(&version), 0);
    return version;
}

/* One past the last byte that the function wrote. */
static size_t bytes_written(void *library, const char *symbol)
{
    unsigned char properties[2048];
    int (*get)(void *, int) = (int (*)(void *, int))dlsym(library, symbol);
    size_t end = sizeof properties;
    memset(properties, 0x5a, sizeof properties);
    assert_int_equal(get(properties, 0), 0);
    assert_string_equal((char *)properties, "NVIDIA H200");
    while (end && properties[end - 1] == 0x5a)
        end--;
    return end;
}

static void layouts_follow_the_release(void **state)
{
    void *v11 = open_library("libcudart.so.11.0"), *v12 = open_library("libcudart.so.12");
    void *v13 = open_library("libcudart.so.13");
    (void)state;
    assert_int_equal(version_of(v11) / 1000, 11);
    assert_int_equal(version_of(v12) / 1000, 12);
    assert_int_equal(version_of(v13) / 1000, 13);
    assert_int_equal(bytes_written(v11, "cudaGetDeviceProperties"), sizeof(cudaDeviceProp_v11));
    assert_int_equal(bytes_written(v12, "cudaGetDeviceProperties_v2"), sizeof(cudaDeviceProp_v12));
    assert_int_equal(bytes_written(v13, "cudaGetDeviceProperties"), sizeof(cudaDeviceProp_v13));
}

static void what_is_missing_is_refused(void **state)
{
    void *library = open_library("libcudart.so.13");
    int (*missing)(void *) = (int (*)(void *))dlsym(library, "cudaIpcGetMemHandle");
    (void)state;
    assert_non_null(missing);
    assert_int_equal(missing(NULL), 801);
    assert_int_equal(missing(NULL), 801);
}

/* Arguments arrive as they were given, on the first call of a function, which looks it up, and on
 * later ones. */
static void arguments_pass_through(void **state)
{
    void *library = open_library("libcudart.so.13");
    int (*copy)(void *, size_t, const void *, size_t, size_t, size_t,
                int) = (int (*)(void *, size_t, const void *, size_t, size_t, size_t,
                                int))dlsym(library, "cudaMemcpy2D");
    char from[30] = "abcdefghijklmnopqrstuvwxyz", to[12];
    (void)state;
    for (int i = 0; i < 2; i++) {
        memset(to, '.', sizeof to);
        assert_int_equal(copy(to, 4, from, 10, 3, 2, cudaMemcpyHostToHost), 0);
        assert_memory_equal(to, "abc.klm.....", 12);
    }
    assert_int_equal(copy(to, 2, from, 10, 3, 2, cudaMemcpyHostToHost), cudaErrorInvalidPitchValue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_exports_its_release),
        cmocka_unit_test(layouts_follow_the_release),
        cmocka_unit_test(what_is_missing_is_refused),
        cmocka_unit_test(arguments_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
