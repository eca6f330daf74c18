/* Runs the texture cases on a GPU and writes their results.
 *
 *   texture_record file
 *
 * A text line "warplens-textures 1", lines "chip", "driver" and "date", an empty line, then for
 * each case its text, a newline and TEXTURE_LANES * TEXTURE_RESULTS words, little-endian. A case
 * that the driver refuses has the word 'refused' and the error before the newline, and no results.
 * What a GPU gave goes to data/textures.rec.zst (zstd -19); run against the emulator's libcuda.so.1
 * it writes what the emulator gives, which is compared with that. Build: nvcc -O1 -o texture_record
 * texture_record.c texture_cases.c -lcuda */
#include "texture_cases.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: CUDA error %d\n", what, (int)result);
    exit(1);
}
#define CHECK(call) check(call, #call)

typedef struct bound { /* what a case works on */
    CUarray array;
    CUmipmappedArray mipmap;
    CUdeviceptr memory;
    CUtexObject texture;
    CUsurfObject surface;
} bound;

static bool on_surface(const texture_case *c)
{
    return c->op == TO_LOAD || c->op == TO_ADD;
}

static char *texels(const texture_case *c, unsigned level, size_t pitch, unsigned size[3])
{
    size_t element = texture_format_bytes(c->format) * c->channels;
    texture_level_size(c, level, size);
    char *data = calloc(pitch ? pitch : size[0] * element, (size_t)size[1] * size[2]);
    if (!pitch)
        pitch = size[0] * element;
    for (unsigned z = 0; z < size[2]; z++)
        for (unsigned y = 0; y < size[1]; y++)
            for (unsigned x = 0; x < size[0]; x++)
                texture_case_texel(c, level, x, y, z,
                                   data + (z * size[1] + y) * pitch + x * element);
    return data;
}

static void fill(const texture_case *c, unsigned level, CUarray array)
{
    unsigned size[3];
    char *data = texels(c, level, 0, size);
    size_t row = size[0] * texture_format_bytes(c->format) * c->channels;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = data,
                          .srcPitch = row,
                          .srcHeight = size[1],
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = row,
                          .Height = size[1],
                          .Depth = size[2]};
    CHECK(cuMemcpy3D(&copy));
    free(data);
}

static CUresult bind_array(const texture_case *c, bound *b, CUDA_RESOURCE_DESC *resource)
{
    unsigned flags = on_surface(c)        ? CUDA_ARRAY3D_SURFACE_LDST
                     : c->op == TO_GATHER ? CUDA_ARRAY3D_TEXTURE_GATHER
                                          : 0;
    if (c->geometry == TG_A1D || c->geometry == TG_A2D || c->geometry == TG_ACUBE)
        flags |= CUDA_ARRAY3D_LAYERED;
    if (c->geometry == TG_CUBE || c->geometry == TG_ACUBE)
        flags |= CUDA_ARRAY3D_CUBEMAP;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = c->width,
                                 .Height = c->height,
                                 .Depth = c->depth,
                                 .Format = c->format,
                                 .NumChannels = c->channels,
                                 .Flags = flags};
    CUresult r;
    if (c->layout == TL_MIPMAP) {
        if ((r = cuMipmappedArrayCreate(&b->mipmap, &d, c->levels)))
            return r;
        for (unsigned level = 0; level < c->levels; level++) {
            CUarray array;
            CHECK(cuMipmappedArrayGetLevel(&array, b->mipmap, level));
            fill(c, level, array);
        }
        resource->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource->res.mipmap.hMipmappedArray = b->mipmap;
        return CUDA_SUCCESS;
    }
    if ((r = cuArray3DCreate(&b->array, &d)))
        return r;
    fill(c, 0, b->array);
    resource->resType = CU_RESOURCE_TYPE_ARRAY;
    resource->res.array.hArray = b->array;
    return CUDA_SUCCESS;
}

static void bind_memory(const texture_case *c, bound *b, CUDA_RESOURCE_DESC *resource)
{
    unsigned size[3];
    bool pitched = c->layout == TL_PITCH;
    size_t element = texture_format_bytes(c->format) * c->channels,
           pitch = pitched ? 512 : c->width * element;
    char *data = texels(c, 0, pitch, size);
    CHECK(cuMemAlloc(&b->memory, pitch * size[1]));
    CHECK(cuMemcpyHtoD(b->memory, data, pitch * size[1]));
    free(data);
    resource->resType = pitched ? CU_RESOURCE_TYPE_PITCH2D : CU_RESOURCE_TYPE_LINEAR;
    if (pitched) {
        resource->res.pitch2D.devPtr = b->memory;
        resource->res.pitch2D.format = c->format;
        resource->res.pitch2D.numChannels = c->channels;
        resource->res.pitch2D.width = c->width;
        resource->res.pitch2D.height = c->height;
        resource->res.pitch2D.pitchInBytes = pitch;
    } else {
        resource->res.linear.devPtr = b->memory;
        resource->res.linear.format = c->format;
        resource->res.linear.numChannels = c->channels;
        resource->res.linear.sizeInBytes = pitch;
    }
}

static CUresult bind(const texture_case *c, bound *b)
{
    CUDA_RESOURCE_DESC resource;
    memset(&resource, 0, sizeof resource);
    if (c->layout == TL_ARRAY || c->layout == TL_MIPMAP) {
        CUresult r = bind_array(c, b, &resource);
        if (r)
            return r;
    } else {
        bind_memory(c, b, &resource);
    }
    if (on_surface(c))
        return cuSurfObjectCreate(&b->surface, &resource);
    CUDA_TEXTURE_DESC d;
    memset(&d, 0, sizeof d);
    for (int k = 0; k < 3; k++)
        d.addressMode[k] = (CUaddress_mode)c->mode[k];
    d.filterMode = c->linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    d.mipmapFilterMode = c->mip_linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    d.flags = (c->element ? CU_TRSF_READ_AS_INTEGER : 0) |
              (c->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (c->srgb ? CU_TRSF_SRGB : 0) |
              (c->seamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    d.mipmapLevelBias = c->bias;
    d.minMipmapLevelClamp = c->min_level;
    d.maxMipmapLevelClamp = c->max_level;
    memcpy(d.borderColor, c->border, sizeof d.borderColor);
    return cuTexObjectCreate(&b->texture, &resource, &d, NULL);
}

static void unbind(bound *b)
{
    if (b->texture)
        cuTexObjectDestroy(b->texture);
    if (b->surface)
        cuSurfObjectDestroy(b->surface);
    if (b->array)
        cuArrayDestroy(b->array);
    if (b->mipmap)
        cuMipmappedArrayDestroy(b->mipmap);
    if (b->memory)
        cuMemFree(b->memory);
}

/* What a surface of 32-bit texels holds, in place of results. */
static void read_back(const texture_case *c, CUarray array, uint32_t *results)
{
    unsigned size[3];
    texture_level_size(c, 0, size);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = array,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = results,
                          .dstPitch = size[0] * 4,
                          .dstHeight = size[1],
                          .WidthInBytes = size[0] * 4,
                          .Height = size[1],
                          .Depth = size[2]};
    CHECK(cuMemcpy3D(&copy));
}

static void run(const texture_case *c, const bound *b, uint32_t *results)
{
    static char ptx[8192];
    static uint32_t inputs[TEXTURE_LANES * TEXTURE_INPUTS];
    size_t bytes = TEXTURE_LANES * TEXTURE_RESULTS * 4;
    unsigned long long handle = on_surface(c) ? b->surface : b->texture;
    CUmodule module;
    CUfunction k;
    CUdeviceptr in, out;
    void *params[] = {&handle, &in, &out};
    texture_case_ptx(c, ptx, sizeof ptx);
    texture_case_inputs(c, inputs);
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&k, module, "k"));
    CHECK(cuMemAlloc(&in, sizeof inputs));
    CHECK(cuMemAlloc(&out, bytes));
    CHECK(cuMemcpyHtoD(in, inputs, sizeof inputs));
    CHECK(cuLaunchKernel(k, 1, 1, 1, TEXTURE_LANES, 1, 1, 0, 0, params, NULL));
    CHECK(cuMemcpyDtoH(results, out, bytes));
    if (c->op == TO_ADD)
        read_back(c, b->array, results);
    cuMemFree(in);
    cuMemFree(out);
    cuModuleUnload(module);
}

int main(int argc, char **argv)
{
    static uint32_t results[TEXTURE_LANES * TEXTURE_RESULTS];
    char name[128], date[32], text[512];
    int version;
    CUdevice device;
    CUcontext context;
    time_t now = time(NULL);
    FILE *out = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (!out)
        return 2;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDriverGetVersion(&version));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(out, "warplens-textures 1\nchip %s\ndriver %d\ndate %s\n\n", name, version, date);
    texture_case c;
    unsigned refused = 0, n = 0;
    for (; texture_case_get(n, &c); n++) {
        bound b = {0};
        texture_case_text(&c, text, sizeof text);
        CUresult r = bind(&c, &b);
        if (r) {
            fprintf(out, "%s refused %d\n", text, (int)r);
            refused++;
        } else {
            run(&c, &b, results);
            fprintf(out, "%s\n", text);
            fwrite(results, sizeof results, 1, out);
        }
        unbind(&b);
    }
    printf("%s, driver %d: %u cases, %u refused\n", name, version, n, refused);
    return fclose(out) != 0;
}
