/* Tensor maps of the emulated driver, called as an application calls libcuda.so.1. The results
 * expected are those of the manual: no GPU's driver was asked. */
#include "cuda/types.h"
#include "support/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *library;

#define CALL(symbol, types, ...) ((CUresult(*) types)dlsym(library, #symbol))(__VA_ARGS__)
#define EXPECT(code, call)                                            \
    do {                                                              \
        int result_ = (int)(call);                                    \
        if (result_ != (code))                                        \
            fail_msg("%s: %d instead of %d", #call, result_, (code)); \
    } while (0)

#define ENCODE(...)                                                                       \
    CALL(cuTensorMapEncodeTiled,                                                          \
         (CUtensorMap *, int, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, \
          const cuuint32_t *, const cuuint32_t *, int, int, int, int),                    \
         __VA_ARGS__)
#define cuTensorMapReplaceAddress(...) \
    CALL(cuTensorMapReplaceAddress, (CUtensorMap *, void *), __VA_ARGS__)

/* Each condition of the manual by an argument that breaks it. */
static void tensor_maps_are_checked(void **state)
{
    CUtensorMap maps[2], *map = &maps[0], *off = (CUtensorMap *)(void *)((char *)map + 32);
    char *at = (char *)0x10000, *odd = (char *)0x10008;
    const cuuint64_t dim[6] = {100, 50, 4, 2, 2, 2}, none[2] = {100, 0};
    const cuuint64_t stride[4] = {400, 20000, 80000, 160000}, odd_stride[1] = {408},
                     wide[1] = {UINT64_C(1) << 40};
    const cuuint32_t box[6] = {16, 8, 1, 1, 1, 1}, large[2] = {16, 257}, narrow[2] = {3, 8};
    const cuuint32_t step[6] = {1, 1, 1, 1, 1, 1}, far[2] = {1, 9}, nowhere[2] = {1, 0};
    (void)state;
    EXPECT(0, ENCODE(map, 7, 2, at, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(0, ENCODE(map, 7, 5, at, dim, stride, box, step, 0, 2, 3, 1));
    EXPECT(0, ENCODE(map, 7, 1, at, dim, NULL, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(NULL, 7, 2, at, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(off, 7, 2, at, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 16, 2, at, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 0, at, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 6, at, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, odd, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, NULL, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, none, stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, NULL, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, odd_stride, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, wide, box, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, NULL, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, large, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, narrow, step, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, NULL, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, far, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, nowhere, 0, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, step, 3, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, step, 1, 0, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, step, 0, 7, 0, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, step, 0, 1, 0, 0)); /* 64 bytes of 32 */
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, step, 0, 0, 4, 0));
    EXPECT(1, ENCODE(map, 7, 2, at, dim, stride, box, step, 0, 0, 0, 2));
    EXPECT(1, ENCODE(map, 3, 2, at, dim, stride, box, step, 0, 0, 0, 1)); /* NaN of integers */
    EXPECT(801, ENCODE(map, 13, 2, at, dim, stride, box, step, 0, 0, 0, 0));
    EXPECT(801, ENCODE(map, 7, 2, at, dim, stride, box, step, 0, 4, 0, 0));
    EXPECT(801, ENCODE(map, 7, 3, at, dim, stride, box, step, 1, 0, 0, 0));
    EXPECT(0, ENCODE(map, 7, 2, at, dim, stride, box, step, 0, 3, 0, 0));
    EXPECT(0, ENCODE(&maps[1], 7, 2, at + 64, dim, stride, box, step, 0, 3, 0, 0));
    assert_memory_not_equal(map, &maps[1], sizeof *map);
    EXPECT(1, cuTensorMapReplaceAddress(map, odd));
    EXPECT(1, cuTensorMapReplaceAddress(off, at));
    EXPECT(0, cuTensorMapReplaceAddress(map, at + 64));
    assert_memory_equal(map, &maps[1], sizeof *map);
    memset(map, 0, sizeof *map);
    EXPECT(1, cuTensorMapReplaceAddress(map, at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_maps_are_checked),
    };
    setenv("WARPLENS_DEVICES", WL_SOURCE_DIR "/devices", 1);
    library = dlopen(WL_BINARY_DIR "/lib/warplens/emulate/libcuda.so.1", RTLD_NOW);
    if (!library || CALL(cuInit, (unsigned), 0))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
