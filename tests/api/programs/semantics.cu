// Prints what the runtime answers in situations where programs depend on the answer. What CUDA 13.0 printed on an H200 (driver
// 580.159, 2026-11-20) is semantics.expected; the emulator must print the same.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>

__global__ void nothing() {}
__global__ void store(int *p, int v) { *p = v; }
__global__ void __launch_bounds__(64) bounded(int *p) { p[threadIdx.x] = 1; }
__global__ void dynamic(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void big_static(int *p)
{
    __shared__ int s[8192];
    s[threadIdx.x] = 1;
    p[0] = s[threadIdx.x];
}
__global__ void say(int n) { printf("device says %d\n", n); }
__device__ int symbol[4];
__constant__ float table[8];
__managed__ int shared_int = 5;

static void show(const char *what, cudaError_t e)
{
    cudaError_t peek = cudaPeekAtLastError(), last = cudaGetLastError();
    printf("%-44s %-32s peek %-28s last %s\n", what, cudaGetErrorName(e), cudaGetErrorName(peek), cudaGetErrorName(last));
    fflush(stdout);
}
#define SHOW(call) show(#call, (call))

static void launches(int *d)
{
    nothing<<<0, 1>>>();
    SHOW(cudaSuccess); // grid of 0
    nothing<<<1, 0>>>();
    SHOW(cudaSuccess);
    nothing<<<1, 1025>>>();
    SHOW(cudaSuccess);
    nothing<<<1, dim3(1, 1, 65)>>>();
    SHOW(cudaSuccess);
    nothing<<<dim3(1, 65536), 1>>>();
    SHOW(cudaSuccess);
    bounded<<<1, 65>>>(d);
    SHOW(cudaSuccess);
    dynamic<<<1, 32, 48 * 1024>>>(d);
    SHOW(cudaSuccess);
    dynamic<<<1, 32, 48 * 1024 + 4>>>(d);
    SHOW(cudaSuccess);
    dynamic<<<1, 32, 1 << 20>>>(d);
    SHOW(cudaSuccess);
    SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    dynamic<<<1, 32, 100 * 1024>>>(d);
    SHOW(cudaSuccess);
    dynamic<<<1, 32, 100 * 1024 + 4>>>(d);
    SHOW(cudaSuccess);
    SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    SHOW(cudaFuncSetAttribute(dynamic, (cudaFuncAttribute)77, 0));
    big_static<<<1, 32, 16 * 1024>>>(d);
    SHOW(cudaSuccess);
    big_static<<<1, 32, 16 * 1024 + 4>>>(d);
    SHOW(cudaSuccess);
    void *args[] = {&d};
    SHOW(cudaLaunchKernel((const void *)dynamic, dim3(1), dim3(32), args, 128, 0));
    SHOW(cudaLaunchKernel((const void *)show, dim3(1), dim3(32), args, 128, 0));
    SHOW(cudaLaunchKernel((const void *)nullptr, dim3(1), dim3(32), args, 128, 0));
    SHOW(cudaLaunchCooperativeKernel((const void *)nothing, dim3(1), dim3(32), (void **)nullptr, 0, 0));
    SHOW(cudaLaunchCooperativeKernel((const void *)nothing, dim3(1 << 20), dim3(32), (void **)nullptr, 0, 0));
    SHOW(cudaDeviceSynchronize());
}

static void memory(int *d)
{
    int h[1024] = {0};
    void *p = (void *)1;
    size_t pitch = 7;
    SHOW(cudaMalloc(&p, 0));
    printf("  pointer of nothing: %s\n", p ? "set" : "null");
    SHOW(cudaFree(nullptr));
    SHOW(cudaFree((void *)0x1000));
    SHOW(cudaFree(h));
    SHOW(cudaFree(d + 1));
    SHOW(cudaMalloc(&p, (size_t)1 << 46));
    SHOW(cudaMalloc((void **)nullptr, 16));
    SHOW(cudaMallocPitch(&p, &pitch, 100, 10));
    printf("  pitch %zu\n", pitch);
    SHOW(cudaMemcpy2D(p, pitch, h, 100, 100, 10, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(p, 99, h, 100, 100, 10, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(p, pitch, h, 100, 100, 200, cudaMemcpyHostToDevice));
    SHOW(cudaMemset2D(p, pitch, 1, 100, 10));
    SHOW(cudaMemset2D(p, 50, 1, 100, 10));
    SHOW(cudaFree(p));
    SHOW(cudaFree(p));
    SHOW(cudaMemcpy(d, h, 4096, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(d, h, 4096, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(h, d, 4096, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(h, d, 4096, cudaMemcpyDefault));
    SHOW(cudaMemcpy(h, h + 512, 64, cudaMemcpyDefault));
    SHOW(cudaMemcpy(h, h + 512, 64, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy(d, d + 512, 64, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(d, h, 64, (cudaMemcpyKind)9));
    SHOW(cudaMemcpy(d, nullptr, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(nullptr, h, 4, cudaMemcpyHostToDevice));
    SHOW(cudaMemset(nullptr, 0, 4));
    SHOW(cudaMemset(nullptr, 0, 0));
    SHOW(cudaMemset(h, 0, 4));
    SHOW(cudaMemset(d, 0, 4096));
    SHOW(cudaHostAlloc(&p, 4096, cudaHostAllocMapped));
    SHOW(cudaHostAlloc(&p, 4096, 0x80));
    void *q = nullptr;
    SHOW(cudaMallocHost(&q, 4096));
    SHOW(cudaHostGetDevicePointer(&p, q, 0));
    SHOW(cudaHostGetDevicePointer(&p, h, 0));
    SHOW(cudaFree(q));
    SHOW(cudaFreeHost(d));
    SHOW(cudaFreeHost(h));
    SHOW(cudaFreeHost(q));
    SHOW(cudaFreeHost(nullptr));
    SHOW(cudaHostUnregister(h));
    char *own = (char *)aligned_alloc(4096, 8192);
    memset(own, 1, 8192);
    SHOW(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
    SHOW(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
    SHOW(cudaHostGetDevicePointer(&p, own, 0));
    SHOW(cudaHostUnregister(own));
    SHOW(cudaHostUnregister(own));
    SHOW(cudaMallocManaged(&p, 0));
    SHOW(cudaMallocManaged(&p, 4096));
    SHOW(cudaMemset(p, 3, 4096));
    SHOW(cudaDeviceSynchronize());
    printf("  managed holds %d\n", ((char *)p)[4095]);
    SHOW(cudaFree(p));
    int v[4] = {1, 2, 3, 4};
    SHOW(cudaMemcpyToSymbol(symbol, v, 16));
    SHOW(cudaMemcpyToSymbol(symbol, v, 16, 4));
    SHOW(cudaMemcpyToSymbol(symbol, v, 4, 12));
    SHOW(cudaMemcpyToSymbol(symbol, v, 4, 0, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpyToSymbol((const void *)v, v, 4));
    SHOW(cudaMemcpyFromSymbol(v, symbol, 16));
    printf("  symbol holds %d %d %d %d\n", v[0], v[1], v[2], v[3]);
    SHOW(cudaGetSymbolAddress(&p, table));
    SHOW(cudaGetSymbolSize(&pitch, table));
    printf("  size %zu\n", pitch);
    SHOW(cudaGetSymbolAddress(&p, (const void *)h));
    printf("  managed variable holds %d\n", shared_int);
}

static const char *name_of(cudaMemoryType t)
{
    static const char *const names[] = {"unregistered", "host", "device", "managed"};
    return names[t];
}

static void pointer(const char *what, const void *p)
{
    cudaPointerAttributes a;
    memset(&a, 1, sizeof a);
    cudaError_t e = cudaPointerGetAttributes(&a, p);
    printf("%-16s %s type %s device %d device pointer %s host pointer %s\n", what, cudaGetErrorName(e), name_of(a.type),
           a.device, a.devicePointer == p ? "same" : a.devicePointer ? "other" : "null",
           a.hostPointer == p ? "same" : a.hostPointer ? "other" : "null");
}

static void pointers(int *d)
{
    int h;
    void *pinned, *managed, *sym;
    cudaMallocHost(&pinned, 64);
    cudaMallocManaged(&managed, 64);
    cudaGetSymbolAddress(&sym, symbol);
    pointer("device", d);
    pointer("inside", d + 5);
    pointer("stack", &h);
    pointer("null", nullptr);
    pointer("pinned", pinned);
    pointer("managed", managed);
    pointer("symbol", sym);
    cudaFreeHost(pinned);
    cudaFree(managed);
}

static void streams()
{
    cudaStream_t s, t;
    cudaEvent_t a, b, plain;
    float ms = -1;
    SHOW(cudaStreamCreate(&s));
    SHOW(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    SHOW(cudaStreamCreateWithFlags(&t, 77));
    SHOW(cudaStreamQuery(s));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaStreamSynchronize(0));
    SHOW(cudaStreamSynchronize(cudaStreamPerThread));
    SHOW(cudaEventCreate(&a));
    SHOW(cudaEventCreate(&b));
    SHOW(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    SHOW(cudaEventCreateWithFlags(&plain, 0x40));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    SHOW(cudaEventQuery(a));
    SHOW(cudaEventSynchronize(a));
    SHOW(cudaStreamWaitEvent(s, a, 0));
    SHOW(cudaEventRecord(a, s));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    SHOW(cudaEventRecord(b, s));
    SHOW(cudaEventRecord(plain, s));
    SHOW(cudaEventSynchronize(b));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    printf("  %s\n", ms >= 0 && ms < 60000 ? "plausible" : "implausible");
    SHOW(cudaEventElapsedTime(&ms, a, plain));
    SHOW(cudaEventDestroy(a));
    SHOW(cudaEventDestroy(b));
    SHOW(cudaEventDestroy(nullptr));
    SHOW(cudaStreamDestroy(s));
    SHOW(cudaStreamDestroy(0));
    int least = 9, greatest = 9;
    SHOW(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("  priorities %d %d\n", least, greatest);
}

static void devices()
{
    int n = -1, v = -1;
    cudaDeviceProp prop;
    SHOW(cudaGetDevice(&n));
    SHOW(cudaSetDevice(99));
    SHOW(cudaSetDevice(-1));
    SHOW(cudaGetDevice(&n));
    printf("  device %d\n", n);
    SHOW(cudaGetDeviceProperties(&prop, 99));
    SHOW(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
    printf("  warp size %d\n", v);
    SHOW(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0));
    SHOW(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 99));
    SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    SHOW(cudaDeviceCanAccessPeer(&v, 0, 0));
    SHOW(cudaDeviceCanAccessPeer(&v, 0, 99));
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    SHOW(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    size_t value = 0;
    SHOW(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    printf("  stack %zu\n", value);
    SHOW(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    printf("  heap %zu\n", value);
    SHOW(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize));
    printf("  printf %zu\n", value);
    SHOW(cudaDeviceGetLimit(&value, (cudaLimit)55));
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    SHOW(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    printf("  stack %zu\n", value);
}

static void functions()
{
    cudaFuncAttributes a;
    SHOW(cudaFuncGetAttributes(&a, dynamic));
    printf("  shared %zu const %zu threads %d dynamic %d\n", a.sharedSizeBytes, a.constSizeBytes, a.maxThreadsPerBlock,
           a.maxDynamicSharedSizeBytes);
    SHOW(cudaFuncGetAttributes(&a, big_static));
    printf("  shared %zu threads %d dynamic %d\n", a.sharedSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes);
    SHOW(cudaFuncGetAttributes(&a, bounded));
    printf("  threads %d binary %d\n", a.maxThreadsPerBlock, a.binaryVersion);
    SHOW(cudaFuncGetAttributes(&a, show));
    SHOW(cudaFuncSetCacheConfig(dynamic, cudaFuncCachePreferShared));
    int blocks = -1;
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0));
    printf("  blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 2048, 0));
    printf("  blocks %d\n", blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 0, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big_static, 256, 0));
    printf("  blocks %d\n", blocks);
    int grid = -1, block = -1;
    SHOW(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
    printf("  best %d x %d\n", grid, block);
}

static void pools(int *d)
{
    void *p = nullptr, *q = nullptr;
    cudaStream_t s;
    cudaMemPool_t pool = nullptr;
    uint64_t v = 0;
    cudaStreamCreate(&s);
    SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
    SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &v));
    printf("  threshold %llu\n", (unsigned long long)v);
    SHOW(cudaMallocAsync(&p, 1000, s));
    SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &v));
    printf("  used %s\n", v >= 1000 ? "some" : "none");
    SHOW(cudaMallocAsync(&q, 0, s));
    SHOW(cudaMallocAsync(&q, (size_t)1 << 46, s));
    SHOW(cudaMemsetAsync(p, 1, 1000, s));
    SHOW(cudaFreeAsync(p, s));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaMallocAsync(&p, 1000, s));
    SHOW(cudaFree(p));
    SHOW(cudaMalloc(&p, 1000));
    SHOW(cudaFreeAsync(p, s));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaFreeAsync((void *)0x100, s));
    SHOW(cudaMemPoolDestroy(pool));
    cudaStreamDestroy(s);
    (void)d;
}

static void capture(int *d)
{
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaGraph_t g = nullptr, h = nullptr;
    cudaGraphExec_t x = nullptr;
    cudaStreamCaptureStatus status;
    size_t n = 0;
    int v = -1;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    SHOW(cudaStreamEndCapture(s, &g));
    SHOW(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    store<<<1, 1, 0, s>>>(d, 7);
    SHOW(cudaStreamIsCapturing(s, &status));
    printf("  status %d\n", status);
    SHOW(cudaEventRecord(e, s));
    SHOW(cudaStreamWaitEvent(t, e, 0));
    store<<<1, 1, 0, t>>>(d + 1, 8);
    SHOW(cudaEventRecord(e, t));
    SHOW(cudaStreamWaitEvent(s, e, 0));
    SHOW(cudaMemcpyAsync(d + 2, d, 8, cudaMemcpyDeviceToDevice, s));
    SHOW(cudaStreamEndCapture(t, &g));
    SHOW(cudaStreamEndCapture(s, &g));
    SHOW(cudaGraphGetNodes(g, nullptr, &n));
    printf("  nodes %zu\n", n);
    SHOW(cudaGraphInstantiate(&x, g, 0));
    SHOW(cudaMemset(d, 0, 16));
    SHOW(cudaGraphLaunch(x, s));
    SHOW(cudaStreamSynchronize(s));
    int r[4];
    SHOW(cudaMemcpy(r, d, 16, cudaMemcpyDeviceToHost));
    printf("  %d %d %d %d\n", r[0], r[1], r[2], r[3]);
    SHOW(cudaGraphExecDestroy(x));
    SHOW(cudaGraphDestroy(g));

    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    store<<<1, 1, 0, s>>>(d, 7);
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaStreamIsCapturing(s, &status));
    printf("  status %d\n", status);
    store<<<1, 1, 0, s>>>(d, 7);
    SHOW(cudaSuccess);
    SHOW(cudaStreamEndCapture(s, &g));
    printf("  graph %s\n", g ? "set" : "null");

    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    void *p = nullptr;
    SHOW(cudaMalloc(&p, 64));
    SHOW(cudaStreamEndCapture(s, &g));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMalloc(&p, 64));
    SHOW(cudaEventRecord(e, s));
    SHOW(cudaStreamWaitEvent(t, e, 0));
    store<<<1, 1, 0, t>>>(d, 7);
    SHOW(cudaStreamEndCapture(s, &g));
    SHOW(cudaStreamIsCapturing(t, &status));
    printf("  status %d\n", status);
    SHOW(cudaFree(p));

    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaStreamEndCapture(s, &g));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaEventRecord(e, s));
    SHOW(cudaEventQuery(e));
    SHOW(cudaEventSynchronize(e));
    SHOW(cudaStreamEndCapture(s, &h));
    SHOW(cudaEventQuery(e));
    SHOW(cudaGraphCreate(&g, 0));
    SHOW(cudaGraphCreate(&h, 1));
    cudaGraphNode_t node, other;
    SHOW(cudaGraphAddEmptyNode(&node, g, nullptr, 0));
    SHOW(cudaGraphAddEmptyNode(&other, g, &node, 1));
    cudaMemsetParams set = {};
    set.dst = d;
    set.value = 9;
    set.elementSize = 4;
    set.width = 4;
    set.height = 1;
    SHOW(cudaGraphAddMemsetNode(&other, g, &other, 1, &set));
    void *args[] = {&d, &v};
    cudaKernelNodeParams k = {};
    k.func = (void *)store;
    k.gridDim = k.blockDim = dim3(1);
    k.kernelParams = args;
    SHOW(cudaGraphAddKernelNode(&node, g, &other, 1, &k));
    k.blockDim = dim3(2000);
    SHOW(cudaGraphAddKernelNode(&other, g, nullptr, 0, &k));
    SHOW(cudaGraphInstantiate(&x, g, 0));
    SHOW(cudaGraphLaunch(x, 0));
    SHOW(cudaMemcpy(r, d, 16, cudaMemcpyDeviceToHost));
    printf("  %d %d %d %d\n", r[0], r[1], r[2], r[3]);
    cudaGraphExecDestroy(x);
    cudaGraphDestroy(g);
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
}

static void printing()
{
    say<<<1, 1>>>(1);
    printf("host says 2\n");
    fflush(stdout);
    cudaDeviceSynchronize();
    printf("host says 3\n");
    fflush(stdout);
    say<<<1, 1>>>(4);
    cudaMemset(nullptr, 0, 0);
    cudaDeviceSynchronize();
    fflush(stdout);
}

static void callbacks()
{
    cudaStream_t s;
    cudaStreamCreate(&s);
    static int order[3], at;
    SHOW(cudaLaunchHostFunc(s, [](void *p) { order[at++] = *(int *)p; }, new int(1)));
    SHOW(cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t e, void *p) { order[at++] = *(int *)p + (int)e; }, new int(2), 0));
    static cudaError_t inside;
    SHOW(cudaLaunchHostFunc(s, [](void *) { void *p; inside = cudaMalloc(&p, 4); }, nullptr));
    SHOW(cudaStreamSynchronize(s));
    printf("  order %d %d, inside %s\n", order[0], order[1], cudaGetErrorName(inside));
    cudaStreamDestroy(s);
}

static void after_fault(int *d)
{
    store<<<1, 1>>>((int *)0x10, 1);
    show("launch of a fault", cudaSuccess);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGetLastError());
    void *p = nullptr;
    SHOW(cudaMalloc(&p, 16));
    SHOW(cudaMemset(d, 0, 4));
    SHOW(cudaFree(d));
    store<<<1, 1>>>(d, 1);
    show("launch after a fault", cudaSuccess);
    int n = 0;
    SHOW(cudaGetDeviceCount(&n));
    SHOW(cudaGetDevice(&n));
    SHOW(cudaSetDevice(0));
    SHOW(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
    cudaEvent_t e;
    SHOW(cudaEventCreate(&e));
    SHOW(cudaStreamSynchronize(0));
    SHOW(cudaDeviceReset());
}

int main()
{
    int *d = nullptr;
    SHOW(cudaMalloc(&d, 4096));
    devices();
    launches(d);
    functions();
    memory(d);
    pointers(d);
    streams();
    pools(d);
    capture(d);
    callbacks();
    printing();
    printf("%s | %s | %s\n", cudaGetErrorString(cudaErrorInvalidConfiguration), cudaGetErrorString((cudaError_t)12345),
           cudaGetErrorName((cudaError_t)12345));
    std::thread([] { SHOW(cudaMemset(nullptr, 0, 4)); cudaMemset(nullptr, 0, 4); }).join();
    SHOW(cudaSuccess);
    after_fault(d);
    SHOW(cudaDeviceReset());
    return 0;
}
