/* What NVTX loads as its tool (NVTX_INJECTION64_PATH): serves ranges (ranges.c) and its memory
 * extension, by telling the collector what programs say of their heaps and regions. Of all else in
 * NVTX it wants nothing, so those calls do as little as without a tool. Where no collector is in the
 * process, it refuses.
 *
 * The interface is NVTX's (nvToolsExtMem.h, module 1): what is laid out here is read and never
 * changes there, since programs have it compiled in. */
#include "nvtx/ranges.h"
#include "warplens/annotate.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

/* ---- as NVTX lays it out ---- */

typedef struct module_segment {
    size_t id, count;
    intptr_t *functions;
} module_segment;

typedef struct module_info {
    uint16_t version, size, module, compatible;
    size_t count;
    module_segment *segments;
} module_info;

enum { MODULE_MEMORY = 1, SEGMENT_FUNCTIONS = 1 };
enum { VIRTUAL_ADDRESS = 1 };       /* NVTX_MEM_TYPE_... */
enum { BY_POINTER = 1, BY_HANDLE }; /* NVTX_MEM_REGION_REF_TYPE_... */
enum { IN_ASCII = 1 };              /* NVTX_MESSAGE_TYPE_... */

typedef struct range {
    size_t bytes;
    const void *base;
} range;

typedef struct heap_description {
    uint16_t compatible, size;
    uint32_t reserved, usage, type;
    size_t range_bytes;
    const range *range;
    uint32_t category, name_type;
    const char *name;
} heap_description;

typedef struct region_batch {
    uint16_t compatible, size;
    uint32_t type;
    const void *heap;
    size_t count, stride;
    const char *ranges;
    const void **handles; /* to be set; NULL: not asked for */
} region_batch;

typedef struct resize_batch {
    uint16_t compatible, size;
    uint32_t type;
    size_t count, stride;
    const char *ranges;
} resize_batch;

typedef struct reference_batch {
    uint16_t compatible, size;
    uint32_t type;
    size_t count, stride;
    const char *references;
} reference_batch;

typedef struct region_name {
    uint32_t reference_type, name_type;
    const void *region;
    const char *name;
} region_name;

typedef struct name_batch {
    uint16_t compatible, size;
    uint32_t reserved;
    size_t count, stride;
    const char *names;
} name_batch;

/* ---- heaps ---- */

/* Kept for heaps that are reset, which the collector knows as pools that end and begin. */
typedef struct heap {
    range at;
    char *name;
    struct heap *next;
} heap;

static heap *heaps;
static pthread_mutex_t heaps_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_heap(const range *at, const char *name)
{
    heap *made = calloc(1, sizeof *made);
    if (!made)
        return;
    *made = (heap){.at = *at, .name = name ? strdup(name) : NULL};
    pthread_mutex_lock(&heaps_lock);
    made->next = heaps;
    heaps = made;
    pthread_mutex_unlock(&heaps_lock);
}

/* The caller's from then on; NULL: there is no such heap. */
static heap *take_heap(const void *base)
{
    pthread_mutex_lock(&heaps_lock);
    heap **at = &heaps;
    while (*at && (*at)->at.base != base)
        at = &(*at)->next;
    heap *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&heaps_lock);
    return found;
}

static void free_heap(heap *h)
{
    if (h)
        free(h->name);
    free(h);
}

/* A heap's handle is its address, as NVTX has it. */
static const void *register_heap(const void *domain, const heap_description *told)
{
    (void)domain;
    if (!told || told->type != VIRTUAL_ADDRESS || !told->range || told->range_bytes < sizeof(range))
        return NULL;
    const char *name = told->name_type == IN_ASCII ? told->name : NULL;
    warplens_pool(told->range->base, told->range->bytes, name);
    keep_heap(told->range, name);
    return told->range->base;
}

static void unregister_heap(const void *domain, const void *base)
{
    (void)domain;
    heap *h = take_heap(base);
    if (h)
        warplens_pool_end(base);
    free_heap(h);
}

static void reset_heap(const void *domain, const void *base)
{
    (void)domain;
    heap *h = take_heap(base);
    if (!h)
        return;
    warplens_pool_end(base);
    warplens_pool(base, h->at.bytes, h->name);
    keep_heap(&h->at, h->name);
    free_heap(h);
}

/* ---- regions ---- */

static void register_regions(const void *domain, const region_batch *batch)
{
    (void)domain;
    if (!batch || batch->type != VIRTUAL_ADDRESS || batch->stride < sizeof(range))
        return;
    for (size_t i = 0; i < batch->count; i++) {
        const range *r = (const void *)(batch->ranges + i * batch->stride);
        warplens_alloc(r->base, r->bytes, NULL, 0);
        if (batch->handles)
            batch->handles[i] = r->base;
    }
}

static void resize_regions(const void *domain, const resize_batch *batch)
{
    (void)domain;
    if (!batch || batch->type != VIRTUAL_ADDRESS || batch->stride < sizeof(range))
        return;
    for (size_t i = 0; i < batch->count; i++) {
        const range *r = (const void *)(batch->ranges + i * batch->stride);
        warplens_free(r->base);
        warplens_alloc(r->base, r->bytes, NULL, 0);
    }
}

/* Pointers and handles are both addresses. */
static void unregister_regions(const void *domain, const reference_batch *batch)
{
    (void)domain;
    if (!batch || batch->stride < sizeof(void *))
        return;
    for (size_t i = 0; i < batch->count; i++)
        warplens_free(*(const void *const *)(const void *)(batch->references + i * batch->stride));
}

static void name_regions(const void *domain, const name_batch *batch)
{
    (void)domain;
    if (!batch || batch->stride < sizeof(region_name))
        return;
    for (size_t i = 0; i < batch->count; i++) {
        const region_name *n = (const void *)(batch->names + i * batch->stride);
        bool known = n->reference_type == BY_POINTER || n->reference_type == BY_HANDLE;
        if (known && n->name_type == IN_ASCII)
            warplens_name(n->region, n->name, 0);
    }
}

/* ---- what NVTX looks for ---- */

static void set_function(const module_segment *segment, size_t number, intptr_t function)
{
    if (number < segment->count)
        segment->functions[number] = function;
}

VISIBLE int InitializeInjectionNvtxExtension(module_info *module);

int InitializeInjectionNvtxExtension(module_info *module)
{
    if (!module || module->module != MODULE_MEMORY || !warplens_find_collector())
        return 0;
    for (size_t i = 0; i < module->count; i++) {
        const module_segment *s = &module->segments[i];
        if (s->id != SEGMENT_FUNCTIONS)
            continue;
        set_function(s, 0, (intptr_t)register_heap);
        set_function(s, 1, (intptr_t)unregister_heap);
        set_function(s, 2, (intptr_t)reset_heap);
        set_function(s, 3, (intptr_t)register_regions);
        set_function(s, 4, (intptr_t)resize_regions);
        set_function(s, 5, (intptr_t)unregister_regions);
        set_function(s, 6, (intptr_t)name_regions);
    }
    return 1;
}

/* NVTX asks a tool for this first. */
VISIBLE int InitializeInjectionNvtx2(const void *get_export_table);

int InitializeInjectionNvtx2(const void *get_export_table)
{
    return nvtx_serve_ranges(get_export_table);
}
