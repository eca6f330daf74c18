/* A heap and its regions, as NVTX's memory extension has them; compiled with NVTX's own headers. The
 * driver is looked up, so that nothing of CUDA's toolkit is needed. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExtMem.h>
#include <stdio.h>

enum { KIB = 1024 };

static void *driver;

static void *function(const char *name)
{
    void *found = dlsym(driver, name);
    if (!found)
        fprintf(stderr, "no %s\n", name);
    return found;
}

static unsigned long long base_of_context(void)
{
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *);
    int (*take)(unsigned long long *, size_t);
    unsigned long long base = 0;
    void *context;
    *(void **)&init = function("cuInit");
    *(void **)&retain = function("cuDevicePrimaryCtxRetain");
    *(void **)&set = function("cuCtxSetCurrent");
    *(void **)&take = function("cuMemAlloc_v2");
    return init(0) || retain(&context, 0) || set(context) || take(&base, 16 * KIB) ? 0 : base;
}

static void fill(const char *at, size_t bytes)
{
    int (*set)(unsigned long long, unsigned char, size_t);
    *(void **)&set = function("cuMemsetD8_v2");
    set((unsigned long long)at, 1, bytes);
}

static nvtxMemHeapHandle_t register_heap(const char *at, size_t bytes)
{
    const nvtxMemVirtualRangeDesc_t range = {.size = bytes, .ptr = at};
    const nvtxMemHeapDesc_t heap = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                    .structSize = sizeof heap,
                                    .usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
                                    .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                    .typeSpecificDescSize = sizeof range,
                                    .typeSpecificDesc = &range,
                                    .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                    .message.ascii = "the heap"};
    return nvtxMemHeapRegister(NULL, &heap);
}

static void register_regions(nvtxMemHeapHandle_t heap, const nvtxMemVirtualRangeDesc_t *ranges,
                             size_t count, nvtxMemRegionHandle_t *handles)
{
    const nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                                 .structSize = sizeof batch,
                                                 .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                                 .heap = heap,
                                                 .regionCount = count,
                                                 .regionDescElementSize = sizeof *ranges,
                                                 .regionDescElements = ranges,
                                                 .regionHandleElementsOut = handles};
    nvtxMemRegionsRegister(NULL, &batch); /* here */
}

static void name_region(nvtxMemRegionHandle_t region, const char *name)
{
    const nvtxMemRegionNameDesc_t names = {.regionRefType = NVTX_MEM_REGION_REF_TYPE_HANDLE,
                                           .nameType = NVTX_MESSAGE_TYPE_ASCII,
                                           .region.handle = region,
                                           .name.ascii = name};
    const nvtxMemRegionsNameBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                             .structSize = sizeof batch,
                                             .regionCount = 1,
                                             .regionElementSize = sizeof names,
                                             .regionElements = &names};
    nvtxMemRegionsName(NULL, &batch);
}

static void unregister_region(const void *at)
{
    const nvtxMemRegionRef_t region = {.pointer = at};
    const nvtxMemRegionsUnregisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                                   .structSize = sizeof batch,
                                                   .refType = NVTX_MEM_REGION_REF_TYPE_POINTER,
                                                   .refCount = 1,
                                                   .refElementSize = sizeof region,
                                                   .refElements = &region};
    nvtxMemRegionsUnregister(NULL, &batch);
}

static void resize_region(const char *at, size_t bytes)
{
    const nvtxMemVirtualRangeDesc_t range = {.size = bytes, .ptr = at};
    const nvtxMemRegionsResizeBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                               .structSize = sizeof batch,
                                               .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                               .regionDescCount = 1,
                                               .regionDescElementSize = sizeof range,
                                               .regionDescElements = &range};
    nvtxMemRegionsResize(NULL, &batch);
}

int main(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    const unsigned long long base = driver ? base_of_context() : 0;
    if (!base)
        return 1;
    const char *at = (const char *)base;
    const nvtxMemVirtualRangeDesc_t ranges[] = {{.size = 4 * KIB, .ptr = at},
                                                {.size = 2 * KIB, .ptr = at + 8 * KIB}};
    nvtxMemRegionHandle_t regions[2] = {NULL, NULL};
    nvtxMemHeapHandle_t heap = register_heap(at, 16 * KIB);
    register_regions(heap, ranges, 2, regions);
    name_region(regions[0], "first");
    name_region(regions[1], "second");
    fill(at, 4 * KIB);
    unregister_region(at);
    resize_region(at + 8 * KIB, 6 * KIB);
    fill(at + 8 * KIB, 6 * KIB);
    nvtxRangePushA("a range");
    const int depth = nvtxRangePop();
    nvtxMemHeapReset(NULL, heap);
    register_regions(heap, ranges, 1, NULL);
    nvtxMemHeapUnregister(NULL, heap);
    printf("%d %d\n", heap == (const void *)at, depth);
    return 0;
}
