/* Textures, surfaces and mipmapped arrays of the emulated driver, called as an application calls
 * libcuda.so.1. */
#include "cuda/types.h"
#include "support/test.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *library;

#define CALL(symbol, types, ...) ((CUresult(*) types)dlsym(library, #symbol))(__VA_ARGS__)
#define EXPECT(code, call) assert_int_equal((int)(call), code)

#define texture_new(...)                                                        \
    CALL(cuTexObjectCreate,                                                     \
         (CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, \
          const CUDA_RESOURCE_VIEW_DESC *),                                     \
         __VA_ARGS__)
#define surface_new(...) \
    CALL(cuSurfObjectCreate, (CUsurfObject *, const CUDA_RESOURCE_DESC *), __VA_ARGS__)

/* Reads texel (tid, 0) of a texture and adds it to (tid, 1) of a surface. */
static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 t, .param .u64 s)\n{\n"
    ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [s]; mov.u32 %r1, %tid.x;\n"
    "shl.b32 %r2, %r1, 2; mov.u32 %r3, 1; mov.u32 %r4, 0;\n"
    "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r4}];\n"
    "suld.b.2d.b32.trap %f5, [%rd2, {%r2, %r3}]; add.f32 %f6, %f1, %f5;\n"
    "sust.b.2d.b32.trap [%rd2, {%r2, %r3}], %f6; ret;\n}\n";

static CUarray array_of(const float *texels, unsigned flags)
{
    CUarray array;
    const CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 4, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = flags};
    EXPECT(0, CALL(cuArray3DCreate_v2, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), &array, &d));
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = texels,
                                .srcPitch = 16,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = 16,
                                .Height = 2};
    EXPECT(0, CALL(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *), &copy));
    return array;
}

static CUDA_RESOURCE_DESC resource_of(CUarray array)
{
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_ARRAY};
    d.res.array.hArray = array;
    return d;
}

static void destroy_array(CUarray array)
{
    EXPECT(0, CALL(cuArrayDestroy, (CUarray), array));
}

static void kernels_read_and_write(void **state)
{
    static const float texels[] = {1, 2, 3, 4, 50, 60, 70, 80}, want[] = {51, 62, 73, 84};
    float got[8];
    CUmodule module;
    CUfunction add;
    CUtexObject t;
    CUsurfObject s;
    (void)state;
    CUarray from = array_of(texels, 0), to = array_of(texels, CUDA_ARRAY3D_SURFACE_LDST);
    const CUDA_RESOURCE_DESC source = resource_of(from), target = resource_of(to);
    const CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP}};
    EXPECT(0, texture_new(&t, &source, &how, NULL));
    EXPECT(0, surface_new(&s, &target));
    EXPECT(0, CALL(cuModuleLoadData, (CUmodule *, const void *), &module, kernels));
    EXPECT(0,
           CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &add, module, "add"));
    void *params[] = {&t, &s};
    EXPECT(0, CALL(cuLaunchKernel,
                   (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    unsigned, CUstream, void **, void **),
                   add, 1, 1, 1, 4, 1, 1, 0, NULL, params, NULL));
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = to,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = got,
                                .dstPitch = 16,
                                .WidthInBytes = 16,
                                .Height = 2};
    EXPECT(0, CALL(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *), &copy));
    assert_memory_equal(got + 4, want, sizeof want);
    EXPECT(0, CALL(cuTexObjectDestroy, (CUtexObject), t));
    EXPECT(0, CALL(cuSurfObjectDestroy, (CUsurfObject), s));
    EXPECT(0, CALL(cuModuleUnload, (CUmodule), module));
    destroy_array(from);
    destroy_array(to);
}

static void expect_view(CUtexObject texture, const CUDA_RESOURCE_VIEW_DESC *expected)
{
    CUDA_RESOURCE_VIEW_DESC got;
    memset(&got, 0xff, sizeof got);
    EXPECT(0, CALL(cuTexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC *, CUtexObject), &got,
                   texture));
    assert_memory_equal(&got, expected, sizeof got);
}

static void objects_answer(void **state)
{
    static const float texels[8];
    CUtexObject t = 0;
    CUsurfObject s = 0;
    CUDA_RESOURCE_DESC back;
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_MIRROR}, .mipmapLevelBias = 2}, got;
    const CUDA_RESOURCE_VIEW_DESC view = {.width = 4, .height = 2};
    (void)state;
    CUarray array = array_of(texels, CUDA_ARRAY3D_SURFACE_LDST);
    CUDA_RESOURCE_DESC resource = resource_of(array);
    EXPECT(0, texture_new(&t, &resource, &how, NULL));
    EXPECT(0, surface_new(&s, &resource));
    EXPECT(0, CALL(cuTexObjectGetResourceDesc, (void *, CUtexObject), &back, t));
    assert_ptr_equal(back.res.array.hArray, array);
    EXPECT(0, CALL(cuSurfObjectGetResourceDesc, (void *, CUsurfObject), &back, s));
    assert_ptr_equal(back.res.array.hArray, array);
    EXPECT(0, CALL(cuTexObjectGetTextureDesc, (void *, CUtexObject), &got, t));
    assert_memory_equal(&got, &how, sizeof got);
    EXPECT(1, CALL(cuTexObjectGetTextureDesc, (void *, CUtexObject), NULL, t));
    EXPECT(1, CALL(cuTexObjectGetTextureDesc, (void *, CUtexObject), &got, 0x123456789));
    expect_view(t, &(CUDA_RESOURCE_VIEW_DESC){0});
    EXPECT(0, CALL(cuTexObjectDestroy, (CUtexObject), t));
    EXPECT(1, CALL(cuTexObjectDestroy, (CUtexObject), t));
    EXPECT(0, texture_new(&t, &resource, &how, &view));
    expect_view(t, &view);
    EXPECT(0, CALL(cuTexObjectDestroy, (CUtexObject), t));
    EXPECT(0, CALL(cuSurfObjectDestroy, (CUsurfObject), s));
    how.filterMode = 7;
    EXPECT(1, texture_new(&t, &resource, &how, NULL));
    how.filterMode = 0;
    EXPECT(1, texture_new(NULL, &resource, &how, NULL));
    EXPECT(1, texture_new(&t, NULL, &how, NULL));
    EXPECT(1, texture_new(&t, &resource, NULL, NULL));
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = 4096;
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 64;
    EXPECT(1, texture_new(&t, &resource, &how, NULL));
    EXPECT(1, surface_new(&s, &resource));
    destroy_array(array);
}

static void mipmapped_arrays_have_levels(void **state)
{
    CUmipmappedArray mipmap;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 8, .Height = 2, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    (void)state;
    EXPECT(0, CALL(cuMipmappedArrayCreate, (CUmipmappedArray *, const void *, unsigned), &mipmap,
                   &d, 3));
    for (unsigned k = 0; k < 3; k++) {
        EXPECT(0, CALL(cuMipmappedArrayGetLevel, (CUarray *, CUmipmappedArray, unsigned), &level,
                       mipmap, k));
        EXPECT(0, CALL(cuArray3DGetDescriptor_v2, (void *, CUarray), &d, level));
        assert_int_equal(d.Width, 8 >> k);
        assert_int_equal(d.Height, k ? 1 : 2);
    }
    EXPECT(1, CALL(cuMipmappedArrayGetLevel, (CUarray *, CUmipmappedArray, unsigned), &level,
                   mipmap, 3));
    EXPECT(0, CALL(cuMipmappedArrayDestroy, (CUmipmappedArray), mipmap));
    EXPECT(400, CALL(cuMipmappedArrayDestroy, (CUmipmappedArray), mipmap));
}

static void flat_arrays_have_no_flags(void **state)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR got = {.Depth = 9, .Flags = 9};
    const CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 4, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    (void)state;
    EXPECT(1, CALL(cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &array, NULL));
    EXPECT(0, CALL(cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &array, &d));
    EXPECT(0, CALL(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR *, CUarray), &got, array));
    assert_true(got.Width == 4 && got.Height == 2 && got.Depth == 0 && got.NumChannels == 2);
    assert_int_equal(got.Flags, 0);
    destroy_array(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_read_and_write),
        cmocka_unit_test(objects_answer),
        cmocka_unit_test(mipmapped_arrays_have_levels),
        cmocka_unit_test(flat_arrays_have_no_flags),
    };
    CUcontext context;
    setenv("WARPLENS_DEVICES", WL_SOURCE_DIR "/devices", 1);
    library = dlopen(WL_BINARY_DIR "/lib/warplens/emulate/libcuda.so.1", RTLD_NOW);
    if (!library || CALL(cuInit, (unsigned), 0) ||
        CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0) ||
        CALL(cuCtxSetCurrent, (CUcontext), context))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
