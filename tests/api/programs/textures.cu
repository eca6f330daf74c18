// Textures and surfaces through the runtime: fetches of every shape, whose values follow from the programming guide. Prints
// what differs, and how many do. `answers` prints what the interface says to good and bad arguments, to compare a GPU with the
// emulator; any other argument names a mistake that loses the context.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static int failures;

static void show(const char *what, cudaError_t e)
{
    cudaGetLastError();
    printf("%-72s %s\n", what, cudaGetErrorName(e));
    fflush(stdout);
}
#define SHOW(call) show(#call, (call))
#define NEED(call)                                                                  \
    do {                                                                            \
        cudaError_t need_ = (call);                                                 \
        if (need_) {                                                                \
            printf("%s: %s, line %d\n", #call, cudaGetErrorName(need_), __LINE__);  \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

static void expect(const char *what, float got, float want, float tolerance = 0)
{
    bool ok = got == want || (got > want - tolerance && got < want + tolerance);
    if (!ok) {
        failures++;
        printf("%s: %g, expected %g\n", what, got, want);
    }
}

struct flags {
    cudaTextureAddressMode mode = cudaAddressModeClamp;
    cudaTextureFilterMode filter = cudaFilterModePoint;
    bool normalized = false;
    cudaTextureReadMode read = cudaReadModeElementType;
    cudaTextureFilterMode mip = cudaFilterModePoint;
    float max_level = 0;
};

static cudaTextureObject_t texture(const cudaResourceDesc &resource, flags f = {})
{
    cudaTextureDesc d = {};
    for (int k = 0; k < 3; k++)
        d.addressMode[k] = f.mode;
    d.filterMode = f.filter;
    d.readMode = f.read;
    d.normalizedCoords = f.normalized;
    d.mipmapFilterMode = f.mip;
    d.maxMipmapLevelClamp = f.max_level;
    cudaTextureObject_t t = 0;
    NEED(cudaCreateTextureObject(&t, &resource, &d, nullptr));
    return t;
}

static cudaResourceDesc of_array(cudaArray_t array)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    return r;
}

template <typename T> static cudaResourceDesc of_linear(T *data, size_t count)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = data;
    r.res.linear.desc = cudaCreateChannelDesc<T>();
    r.res.linear.sizeInBytes = count * sizeof(T);
    return r;
}

template <typename T> static cudaArray_t make(int width, int height, int depth, unsigned flags_, const std::vector<T> &data)
{
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    NEED(cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, depth), flags_));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)data.data(), width * sizeof(T), width, height ? height : 1);
    p.dstArray = array;
    p.extent = make_cudaExtent(width, height ? height : 1, depth ? depth : 1);
    p.kind = cudaMemcpyHostToDevice;
    NEED(cudaMemcpy3D(&p));
    return array;
}

static std::vector<float> ramp(int n)
{
    std::vector<float> v(n);
    for (int i = 0; i < n; i++)
        v[i] = (float)i;
    return v;
}

static float *results(int n = 256)
{
    static float *r;
    if (!r)
        NEED(cudaMallocManaged(&r, 4096));
    memset(r, 0xff, n * sizeof *r);
    return r;
}

// ---- values ----

__global__ void fetch1(cudaTextureObject_t t, float *r)
{
    r[threadIdx.x] = tex1Dfetch<float>(t, (int)threadIdx.x - 2);
}
__global__ void row1(cudaTextureObject_t t, float *r) { r[threadIdx.x] = tex1D<float>(t, threadIdx.x * 0.5f); }
__global__ void plane(cudaTextureObject_t t, float *r, float dx, float dy)
{
    r[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<float>(t, threadIdx.x + dx, threadIdx.y + dy);
}
__global__ void box(cudaTextureObject_t t, float *r)
{
    int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    r[i] = tex3D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}
__global__ void layers1(cudaTextureObject_t t, float *r)
{
    r[threadIdx.y * blockDim.x + threadIdx.x] = tex1DLayered<float>(t, threadIdx.x + 0.5f, threadIdx.y);
}
__global__ void layers2(cudaTextureObject_t t, float *r)
{
    int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    r[i] = tex2DLayered<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z);
}
__global__ void faces(cudaTextureObject_t t, float *r)
{
    const float sign = threadIdx.x & 1 ? -1.f : 1.f;
    float3 v = {threadIdx.x / 2 == 0 ? sign : 0, threadIdx.x / 2 == 1 ? sign : 0, threadIdx.x / 2 == 2 ? sign : 0};
    r[threadIdx.x] = texCubemap<float>(t, v.x, v.y, v.z);
}
__global__ void faces_layered(cudaTextureObject_t t, float *r)
{
    r[threadIdx.x] = texCubemapLayered<float>(t, 0, 0, threadIdx.x & 1 ? -1.f : 1.f, threadIdx.x / 2);
}
__global__ void colours(cudaTextureObject_t t, float *r)
{
    float4 c = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
    r[4 * threadIdx.x] = c.x;
    r[4 * threadIdx.x + 1] = c.y;
    r[4 * threadIdx.x + 2] = c.z;
    r[4 * threadIdx.x + 3] = c.w;
}
__global__ void levels(cudaTextureObject_t t, float *r)
{
    r[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, (float)threadIdx.x / 4);
}
__global__ void gather(cudaTextureObject_t t, float *r)
{
    float4 c = tex2Dgather<float4>(t, 2, 2, 0);
    r[0] = c.x;
    r[1] = c.y;
    r[2] = c.z;
    r[3] = c.w;
}
__global__ void scale(cudaSurfaceObject_t s, float by)
{
    float v = surf2Dread<float>(s, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(v * by, s, threadIdx.x * 4, threadIdx.y);
}
__global__ void edges(cudaSurfaceObject_t s, float *r)
{
    int x = (int)threadIdx.x - 2;
    r[threadIdx.x] = surf2Dread<float>(s, x * 4, 1, cudaBoundaryModeClamp);
    r[16 + threadIdx.x] = surf2Dread<float>(s, x * 4, 1, cudaBoundaryModeZero);
    surf2Dwrite(-1.f, s, x * 4, 7, cudaBoundaryModeZero);
}
__global__ void paint(cudaSurfaceObject_t s)
{
    surf3Dwrite(make_uchar4(threadIdx.x, threadIdx.y, threadIdx.z, 9), s, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}
__global__ void layered(cudaSurfaceObject_t s)
{
    short v = surf2DLayeredread<short>(s, threadIdx.x * 2, threadIdx.y, 0);
    surf2DLayeredwrite((short)(v + 100), s, threadIdx.x * 2, threadIdx.y, 1);
}
__global__ void wide(cudaSurfaceObject_t s)
{
    longlong2 v = surf1Dread<longlong2>(s, threadIdx.x * 16);
    surf1Dwrite(make_longlong2(v.y, v.x), s, threadIdx.x * 16);
}

static void lines()
{
    float *data, *r = results();
    NEED(cudaMallocManaged(&data, 16 * 4));
    for (int i = 0; i < 16; i++)
        data[i] = 10 + i;
    cudaTextureObject_t t = texture(of_linear(data, 10));
    fetch1<<<1, 16>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 16; i++)
        expect("tex1Dfetch", r[i], i < 2 || i >= 12 ? 0 : 8 + i);
    NEED(cudaDestroyTextureObject(t));
    NEED(cudaFree(data));
    cudaArray_t array = make<float>(8, 0, 0, 0, ramp(8));
    t = texture(of_array(array));
    r = results();
    row1<<<1, 20>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 20; i++)
        expect("tex1D point", r[i], i / 2 < 7 ? i / 2 : 7);
    NEED(cudaDestroyTextureObject(t));
    flags f;
    f.filter = cudaFilterModeLinear;
    t = texture(of_array(array), f);
    row1<<<1, 20>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 20; i++)
        expect("tex1D linear", r[i], i < 1 ? 0 : i > 15 ? 7 : i * 0.5f - 0.5f);
    NEED(cudaDestroyTextureObject(t));
    NEED(cudaFreeArray(array));
}

static void planes()
{
    float *r = results(), *data;
    size_t pitch;
    cudaArray_t array = make<float>(8, 8, 0, cudaArrayTextureGather, ramp(64));
    flags f;
    f.filter = cudaFilterModeLinear;
    cudaTextureObject_t point = texture(of_array(array)), linear = texture(of_array(array), f);
    f.mode = cudaAddressModeBorder;
    cudaTextureObject_t border = texture(of_array(array), f);
    plane<<<1, dim3(8, 8)>>>(point, r, 0.5f, 0.5f);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        expect("tex2D point", r[i], i);
    plane<<<1, dim3(7, 7)>>>(linear, r, 0.75f, 1.25f);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 49; i++)
        expect("tex2D linear", r[i], (i / 7 + (i / 7 < 7 ? 0.75f : 0)) * 8 + i % 7 + 0.25f);
    plane<<<1, dim3(8, 8)>>>(border, r, 0, 0.5f);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        expect("tex2D border", r[i], i % 8 ? i - 0.5f : i / 2.f);
    gather<<<1, 1>>>(point, r);
    NEED(cudaDeviceSynchronize());
    expect("gather x", r[0], 17);
    expect("gather y", r[1], 18);
    expect("gather z", r[2], 10);
    expect("gather w", r[3], 9);
    cudaDestroyTextureObject(point);
    cudaDestroyTextureObject(linear);
    cudaDestroyTextureObject(border);
    cudaFreeArray(array);
    NEED(cudaMallocPitch(&data, &pitch, 5 * 4, 3));
    NEED(cudaMemcpy2D(data, pitch, ramp(15).data(), 20, 20, 3, cudaMemcpyHostToDevice));
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypePitch2D;
    d.res.pitch2D.devPtr = data;
    d.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    d.res.pitch2D.width = 5;
    d.res.pitch2D.height = 3;
    d.res.pitch2D.pitchInBytes = pitch;
    cudaTextureObject_t t = texture(d);
    plane<<<1, dim3(8, 4)>>>(t, r, 0.5f, 0.5f);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        expect("tex2D pitched", r[i], (i / 8 < 2 ? i / 8 : 2) * 5 + (i % 8 < 4 ? i % 8 : 4));
    cudaDestroyTextureObject(t);
    cudaFree(data);
}

static void solids()
{
    float *r = results();
    cudaArray_t array = make<float>(4, 3, 5, 0, ramp(60));
    cudaTextureObject_t t = texture(of_array(array));
    box<<<1, dim3(4, 3, 5)>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 60; i++)
        expect("tex3D", r[i], i);
    cudaDestroyTextureObject(t);
    cudaFreeArray(array);
    array = make<float>(4, 0, 5, cudaArrayLayered, ramp(20));
    t = texture(of_array(array));
    layers1<<<1, dim3(4, 7)>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 28; i++)
        expect("tex1DLayered", r[i], i < 20 ? i : 16 + i % 4);
    cudaDestroyTextureObject(t);
    cudaFreeArray(array);
    array = make<float>(4, 3, 5, cudaArrayLayered, ramp(60));
    t = texture(of_array(array));
    layers2<<<1, dim3(4, 3, 5)>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 60; i++)
        expect("tex2DLayered", r[i], i);
    cudaDestroyTextureObject(t);
    cudaFreeArray(array);
    std::vector<float> six(6 * 9 * 3);
    for (size_t i = 0; i < six.size(); i++)
        six[i] = i / 9;
    flags f;
    f.normalized = true;
    array = make<float>(3, 3, 6, cudaArrayCubemap, six);
    t = texture(of_array(array), f);
    faces<<<1, 6>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++)
        expect("texCubemap", r[i], i);
    cudaDestroyTextureObject(t);
    cudaFreeArray(array);
    array = make<float>(3, 3, 18, cudaArrayCubemap | cudaArrayLayered, six);
    t = texture(of_array(array), f);
    faces_layered<<<1, 6>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++)
        expect("texCubemapLayered", r[i], i / 2 * 6 + 4 + i % 2);
    cudaDestroyTextureObject(t);
    cudaFreeArray(array);
}

static void formats()
{
    float *r = results();
    std::vector<uchar4> bytes;
    for (int i = 0; i < 4; i++)
        bytes.push_back(make_uchar4(i, 100, 255 - i, 51));
    cudaArray_t array = make<uchar4>(4, 1, 0, 0, bytes);
    flags f;
    f.read = cudaReadModeNormalizedFloat;
    cudaTextureObject_t t = texture(of_array(array), f);
    colours<<<1, 4>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        expect("red", r[4 * i], i / 255.f, 1e-7f);
        expect("green", r[4 * i + 1], 100 / 255.f, 1e-7f);
        expect("blue", r[4 * i + 2], (255 - i) / 255.f, 1e-7f);
        expect("alpha", r[4 * i + 3], 0.2f, 1e-7f);
    }
    cudaDestroyTextureObject(t);
    cudaFreeArray(array);
}

static void mipmaps()
{
    float *r = results();
    cudaMipmappedArray_t mip;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    NEED(cudaMallocMipmappedArray(&mip, &desc, make_cudaExtent(8, 4, 0), 3));
    for (unsigned k = 0; k < 3; k++) {
        cudaArray_t level;
        cudaExtent extent;
        NEED(cudaGetMipmappedArrayLevel(&level, mip, k));
        NEED(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
        printf("level %u: %zu x %zu x %zu\n", k, extent.width, extent.height, extent.depth);
        std::vector<float> data(32, k * 10.f);
        NEED(cudaMemcpy2DToArray(level, 0, 0, data.data(), extent.width * 4, extent.width * 4, extent.height,
                                 cudaMemcpyHostToDevice));
    }
    cudaArray_t none;
    SHOW(cudaGetMipmappedArrayLevel(&none, mip, 3));
    SHOW(cudaGetMipmappedArrayLevel(nullptr, mip, 0));
    cudaResourceDesc d = {};
    d.resType = cudaResourceTypeMipmappedArray;
    d.res.mipmap.mipmap = mip;
    flags f;
    f.normalized = true;
    f.max_level = 9;
    f.mip = cudaFilterModeLinear;
    cudaTextureObject_t t = texture(d, f);
    levels<<<1, 16>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 16; i++)
        expect("tex2DLod linear", r[i], i < 8 ? i * 2.5f : 20);
    cudaDestroyTextureObject(t);
    f.mip = cudaFilterModePoint;
    t = texture(d, f);
    levels<<<1, 16>>>(t, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 16; i++)
        if (i % 4 != 2)
            expect("tex2DLod point", r[i], i < 2 ? 0 : i < 6 ? 10 : 20);
    cudaDestroyTextureObject(t);
    SHOW(cudaFreeMipmappedArray(mip));
    SHOW(cudaFreeMipmappedArray(nullptr));
}

static void surfaces()
{
    float *r = results(), back[64];
    cudaSurfaceObject_t s;
    cudaArray_t array = make<float>(8, 8, 0, cudaArraySurfaceLoadStore, ramp(64));
    cudaResourceDesc d = of_array(array);
    NEED(cudaCreateSurfaceObject(&s, &d));
    scale<<<1, dim3(8, 8)>>>(s, 3);
    edges<<<1, 12>>>(s, r);
    NEED(cudaDeviceSynchronize());
    for (int i = 0; i < 12; i++) {
        int x = i - 2;
        expect("clamp", r[i], 3.f * (8 + (x < 0 ? 0 : x > 7 ? 7 : x)));
        expect("zero", r[16 + i], x < 0 || x > 7 ? 0 : 3.f * (8 + x));
    }
    NEED(cudaMemcpy2DFromArray(back, 32, array, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        expect("surf2Dwrite", back[i], i < 56 ? 3.f * i : -1);
    cudaDestroySurfaceObject(s);
    cudaFreeArray(array);
    array = make<uchar4>(4, 3, 2, cudaArraySurfaceLoadStore, std::vector<uchar4>(24));
    d = of_array(array);
    NEED(cudaCreateSurfaceObject(&s, &d));
    paint<<<1, dim3(4, 3, 2)>>>(s);
    uchar4 cells[24];
    cudaMemcpy3DParms p = {};
    p.dstPtr = make_cudaPitchedPtr(cells, 16, 4, 3);
    p.srcArray = array;
    p.extent = make_cudaExtent(4, 3, 2);
    p.kind = cudaMemcpyDeviceToHost;
    NEED(cudaMemcpy3D(&p));
    for (int i = 0; i < 24; i++)
        expect("surf3Dwrite", cells[i].x + 10 * cells[i].y + 100 * cells[i].z + 1000 * cells[i].w,
               i % 4 + 10 * (i / 4 % 3) + 100 * (i / 12) + 9000);
    cudaDestroySurfaceObject(s);
    cudaFreeArray(array);
    std::vector<short> shorts(2 * 12);
    for (int i = 0; i < 24; i++)
        shorts[i] = i;
    array = make<short>(4, 3, 2, cudaArraySurfaceLoadStore | cudaArrayLayered, shorts);
    d = of_array(array);
    NEED(cudaCreateSurfaceObject(&s, &d));
    layered<<<1, dim3(4, 3)>>>(s);
    p.dstPtr = make_cudaPitchedPtr(shorts.data(), 8, 4, 3);
    p.srcArray = array;
    NEED(cudaMemcpy3D(&p));
    for (int i = 0; i < 24; i++)
        expect("surf2DLayeredwrite", shorts[i], i < 12 ? i : 100 + i - 12);
    cudaDestroySurfaceObject(s);
    cudaFreeArray(array);
    std::vector<int4> quads;
    for (int i = 0; i < 5; i++)
        quads.push_back(make_int4(i, 10 + i, 20 + i, 30 + i));
    array = make<int4>(5, 0, 0, cudaArraySurfaceLoadStore, quads);
    d = of_array(array);
    NEED(cudaCreateSurfaceObject(&s, &d));
    wide<<<1, 5>>>(s);
    p.dstPtr = make_cudaPitchedPtr(quads.data(), 80, 5, 1);
    p.srcArray = array;
    p.extent = make_cudaExtent(5, 1, 1);
    NEED(cudaMemcpy3D(&p));
    for (int i = 0; i < 5; i++)
        expect("surf1Dwrite", quads[i].x + 100 * quads[i].z, 20 + i + 100 * i);
    cudaDestroySurfaceObject(s);
    cudaFreeArray(array);
}

// ---- answers ----

static void arguments()
{
    cudaTextureObject_t t = 0;
    cudaSurfaceObject_t s = 0;
    cudaArray_t array = make<float>(8, 8, 0, 0, ramp(64)), writable = make<float>(8, 8, 0, cudaArraySurfaceLoadStore, ramp(64)),
                bytes, none = nullptr;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<uchar4>(), three = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    NEED(cudaMallocArray(&bytes, &desc, 8, 8));
    float *data;
    NEED(cudaMalloc(&data, 4096));
    cudaResourceDesc r = of_array(array), got;
    cudaTextureDesc d = {}, got_texture;
    cudaResourceViewDesc view;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    printf("texture %s\n", t ? "set" : "0");
    SHOW(cudaGetTextureObjectResourceDesc(&got, t));
    printf("type %d, same array %d\n", got.resType, got.res.array.array == array);
    SHOW(cudaGetTextureObjectTextureDesc(&got_texture, t));
    printf("modes %d %d %d filter %d read %d normalized %d\n", got_texture.addressMode[0], got_texture.addressMode[1],
           got_texture.addressMode[2], got_texture.filterMode, got_texture.readMode, got_texture.normalizedCoords);
    SHOW(cudaGetTextureObjectResourceViewDesc(&view, t));
    SHOW(cudaGetTextureObjectResourceDesc(nullptr, t));
    SHOW(cudaGetTextureObjectTextureDesc(nullptr, t));
    SHOW(cudaDestroyTextureObject(t));
    SHOW(cudaDestroyTextureObject(t));
    SHOW(cudaDestroyTextureObject(0));
    SHOW(cudaDestroyTextureObject(123456));
    SHOW(cudaGetTextureObjectResourceDesc(&got, 123456));
    SHOW(cudaCreateTextureObject(nullptr, &r, &d, nullptr));
    SHOW(cudaCreateTextureObject(&t, nullptr, &d, nullptr));
    SHOW(cudaCreateTextureObject(&t, &r, nullptr, nullptr));
    r.res.array.array = none;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // null array
    r.resType = (cudaResourceType)9;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // type of resource
    r = of_array(array);
    d.addressMode[0] = (cudaTextureAddressMode)7;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // mode
    d.addressMode[0] = cudaAddressModeWrap;
    d.filterMode = (cudaTextureFilterMode)5;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // filter
    d.filterMode = cudaFilterModePoint;
    d.readMode = cudaReadModeNormalizedFloat;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // floats normalized
    SHOW(cudaDestroyTextureObject(t));
    r = of_array(bytes);
    d.readMode = cudaReadModeElementType;
    d.filterMode = cudaFilterModeLinear;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // integers filtered
    d.filterMode = cudaFilterModePoint;
    r = of_linear(data, 1024);
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // linear
    SHOW(cudaGetTextureObjectResourceDesc(&got, t));
    printf("type %d, %d bits, kind %d, %zu bytes, same %d\n", got.resType, got.res.linear.desc.x, got.res.linear.desc.f,
           got.res.linear.sizeInBytes, got.res.linear.devPtr == data);
    SHOW(cudaDestroyTextureObject(t));
    d.filterMode = cudaFilterModeLinear;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // linear memory, linear filter
    d.filterMode = cudaFilterModePoint;
    d.normalizedCoords = 1;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // linear memory, normalized
    d.normalizedCoords = 0;
    r.res.linear.devPtr = data + 1;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // misaligned
    r.res.linear.devPtr = nullptr;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // null
    r = of_linear(data, 1024);
    r.res.linear.sizeInBytes = 0;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // nothing
    r.res.linear.sizeInBytes = (size_t)1 << 40;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // too long
    r.res.linear.sizeInBytes = 4096;
    r.res.linear.desc = three;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // three channels
    r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = data;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = 8;
    r.res.pitch2D.height = 8;
    r.res.pitch2D.pitchInBytes = 64;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // pitch 64
    SHOW(cudaDestroyTextureObject(t));
    r.res.pitch2D.pitchInBytes = 36;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // pitch 36
    r.res.pitch2D.pitchInBytes = 16;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // pitch below width
    r.res.pitch2D.pitchInBytes = 64;
    r.res.pitch2D.devPtr = data + 8;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // misaligned
    r.res.pitch2D.devPtr = data;
    r.res.pitch2D.width = 0;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // no width
    r.res.pitch2D.width = 8;
    r.res.pitch2D.height = 0;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr)); // no height
    r = of_array(array);
    SHOW(cudaCreateSurfaceObject(&s, &r)); // array without the flag
    r = of_array(writable);
    SHOW(cudaCreateSurfaceObject(&s, &r));
    SHOW(cudaGetSurfaceObjectResourceDesc(&got, s));
    printf("type %d, same array %d\n", got.resType, got.res.array.array == writable);
    SHOW(cudaGetSurfaceObjectResourceDesc(nullptr, s));
    SHOW(cudaDestroySurfaceObject(s));
    SHOW(cudaDestroySurfaceObject(s));
    SHOW(cudaDestroySurfaceObject(0));
    SHOW(cudaCreateSurfaceObject(nullptr, &r));
    SHOW(cudaCreateSurfaceObject(&s, nullptr));
    r = of_linear(data, 1024);
    SHOW(cudaCreateSurfaceObject(&s, &r)); // linear memory
    r = of_array(none);
    SHOW(cudaCreateSurfaceObject(&s, &r)); // null array
    cudaMipmappedArray_t mip;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    SHOW(cudaMallocMipmappedArray(&mip, &f, make_cudaExtent(8, 8, 0), 0));
    SHOW(cudaMallocMipmappedArray(&mip, &f, make_cudaExtent(8, 8, 0), 4));
    SHOW(cudaMallocMipmappedArray(nullptr, &f, make_cudaExtent(8, 8, 0), 4));
    SHOW(cudaMallocMipmappedArray(&mip, &f, make_cudaExtent(8, 8, 0), 9));
    SHOW(cudaMallocMipmappedArray(&mip, &f, make_cudaExtent(0, 8, 0), 2));
    SHOW(cudaMalloc3DArray(&bytes, &f, make_cudaExtent(8, 8, 5), cudaArrayCubemap));
    SHOW(cudaMalloc3DArray(&bytes, &f, make_cudaExtent(8, 7, 6), cudaArrayCubemap));
    SHOW(cudaMalloc3DArray(&bytes, &f, make_cudaExtent(8, 8, 0), cudaArrayLayered));
    SHOW(cudaMalloc3DArray(&bytes, &f, make_cudaExtent(8, 0, 4), 0));
    SHOW(cudaMalloc3DArray(&bytes, &f, make_cudaExtent(8, 8, 4), cudaArrayTextureGather));
    size_t width = 0;
    SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &f, 0));
    printf("widest %zu\n", width);
}

// ---- mistakes ----

__global__ void trap(cudaSurfaceObject_t s) { surf2Dwrite(1.f, s, (int)threadIdx.x * 4 + 100, 0); }
__global__ void odd(cudaSurfaceObject_t s) { surf2Dwrite(1.f, s, 2, 0); }
__global__ void ask(cudaTextureObject_t t, unsigned *r)
{
    asm("txq.channel_data_type.b32 %0, [%1];" : "=r"(r[0]) : "l"(t));
    asm("txq.channel_order.b32 %0, [%1];" : "=r"(r[1]) : "l"(t));
    asm("txq.array_size.b32 %0, [%1];" : "=r"(r[2]) : "l"(t));
    asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(r[3]) : "l"(t));
    asm("txq.normalized_coords.b32 %0, [%1];" : "=r"(r[4]) : "l"(t));
}

static int mistake(const char *name)
{
    float *r = results();
    cudaSurfaceObject_t s;
    cudaTextureObject_t t;
    cudaArray_t array = make<float>(8, 8, 0, cudaArraySurfaceLoadStore, ramp(64));
    cudaResourceDesc d = of_array(array);
    NEED(cudaCreateSurfaceObject(&s, &d));
    t = texture(d);
    unsigned *words = (unsigned *)r;
    if (!strcmp(name, "trap"))
        trap<<<1, 1>>>(s);
    if (!strcmp(name, "odd"))
        odd<<<1, 1>>>(s);
    if (!strcmp(name, "texture"))
        plane<<<1, 1>>>(0x123456, r, 0, 0);
    if (!strcmp(name, "null"))
        plane<<<1, 1>>>(0, r, 0, 0);
    if (!strcmp(name, "surface"))
        scale<<<1, 1>>>(0x123456, 2);
    if (!strcmp(name, "freed")) {
        cudaDestroyTextureObject(t);
        plane<<<1, 1>>>(t, r, 0, 0);
    }
    if (!strcmp(name, "ask"))
        ask<<<1, 1>>>(t, words);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(e));
    if (!strcmp(name, "ask") && !e)
        printf("data type 0x%x order 0x%x size %u levels %u normalized %u\n", words[0], words[1], words[2], words[3], words[4]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "answers")) {
        arguments();
        return 0;
    }
    if (argc > 1)
        return mistake(argv[1]);
    lines();
    planes();
    solids();
    formats();
    mipmaps();
    surfaces();
    printf("%d wrong values\n", failures);
    return failures != 0;
}
