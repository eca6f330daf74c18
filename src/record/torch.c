/* PyTorch's tensors. Its caching allocator, in libc10_cuda.so, reports each block that it hands out
 * or takes back to a function of libc10.so, for PyTorch's profiler. The collector is loaded before
 * both, so that the report comes here; it goes on to PyTorch's own function. The names of these
 * functions hold the types of their parameters: where a version of PyTorch has others, it has other
 * names, and nothing comes here.
 *
 * A report is made on the thread that asked, with the allocator's lock held. Part of each
 * collector, as exports.c. */
#define _GNU_SOURCE
#include "record/parts.h"

#include <dlfcn.h>
#include <stddef.h>

typedef struct c10_device { /* c10::Device */
    int8_t type, index;
} c10_device;

enum { C10_CUDA = 1 };

#define VISIBLE __attribute__((visibility("default")))

/* The function of PyTorch's that our own stands before; `caller` lies in a library that needs it. */
static void *find_torch_function(const char *symbol, const void *caller)
{
    Dl_info info;
    void *found = dlsym(RTLD_NEXT, symbol);
    if (found || !dladdr(caller, &info))
        return found;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    found = library ? dlsym(library, symbol) : NULL;
    if (library)
        dlclose(library);
    return found;
}

static void *torch_function(void **known, const char *symbol, const void *caller)
{
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!found) {
        found = find_torch_function(symbol, caller);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found;
}

static void note_block(uint64_t base, int64_t bytes, c10_device device)
{
    const rec_named names = {.in = "PyTorch segment", .part = "tensor"};
    if (device.type != C10_CUDA)
        return;
    if (bytes > 0)
        rec_block_taken("CUDACachingAllocator::malloc", base, (uint64_t)bytes, &names);
    else
        rec_annotate_free("CUDACachingAllocator::free", base);
}

/* void c10::reportMemoryUsageToProfiler(void *ptr, int64_t alloc_size, size_t total_allocated,
 *                                       size_t total_reserved, c10::Device device) */
#define REPORT(function, symbol, number)                                                           \
    VISIBLE void function(void *, int64_t, number, number, c10_device) __asm__(symbol);            \
    void function(void *base, int64_t bytes, number allocated, number reserved, c10_device device) \
    {                                                                                              \
        static void *known;                                                                        \
        void (*theirs)(void *, int64_t, number, number, c10_device);                               \
        *(void **)&theirs = torch_function(&known, symbol, __builtin_return_address(0));           \
        if (theirs)                                                                                \
            theirs(base, bytes, allocated, reserved, device);                                      \
        note_block((uintptr_t)base, bytes, device);                                                \
    }

REPORT(torch_reports, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", size_t)
REPORT(torch_reports_signed, "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE", int64_t)

/* void c10::reportOutOfMemoryToProfiler(int64_t alloc_size, size_t total_allocated,
 *                                       size_t total_reserved, c10::Device device) */
#define REPORT_FAILURE(function, symbol, number)                                         \
    VISIBLE void function(int64_t, number, number, c10_device) __asm__(symbol);          \
    void function(int64_t bytes, number allocated, number reserved, c10_device device)   \
    {                                                                                    \
        static void *known;                                                              \
        void (*theirs)(int64_t, number, number, c10_device);                             \
        *(void **)&theirs = torch_function(&known, symbol, __builtin_return_address(0)); \
        if (theirs)                                                                      \
            theirs(bytes, allocated, reserved, device);                                  \
        if (device.type == C10_CUDA && bytes > 0)                                        \
            rec_block_refused("CUDACachingAllocator::malloc", (uint64_t)bytes,           \
                              (uint32_t)device.index);                                   \
    }

REPORT_FAILURE(torch_fails, "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE", size_t)
REPORT_FAILURE(torch_fails_signed, "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE", int64_t)
