/* What a collector exports besides CUDA's symbols: what a program that annotates what it does looks
 * for. Part of each collector, since what comes from an archive is hidden. */
#include "record/parts.h"
#include "record/ranges.h"
#include "warplens/annotate.h"

static void pool(const void *base, size_t bytes, const char *name)
{
    rec_annotate_pool("warplens_pool", (uintptr_t)base, bytes, name);
}

static void pool_end(const void *base)
{
    rec_annotate_pool_end("warplens_pool_end", (uintptr_t)base);
}

static void alloc(const void *base, size_t bytes, const char *name, size_t element_bytes)
{
    rec_annotate_alloc("warplens_alloc", (uintptr_t)base, bytes, name, element_bytes);
}

static void free_part(const void *base)
{
    rec_annotate_free("warplens_free", (uintptr_t)base);
}

static void name_object(const void *address, const char *name, size_t element_bytes)
{
    rec_annotate_name((uintptr_t)address, name, element_bytes);
}

static unsigned long long start_told_range(const char *domain, const char *name)
{
    return rec_range_start(domain, name);
}

static void end_told_range(unsigned long long started)
{
    rec_range_end(started);
}

__attribute__((visibility("default"))) extern const warplens_collector warplens_collector_1;

const warplens_collector warplens_collector_1 = {.bytes = sizeof(warplens_collector),
                                                 .pool = pool,
                                                 .pool_end = pool_end,
                                                 .alloc = alloc,
                                                 .free = free_part,
                                                 .name = name_object,
                                                 .range_push = rec_range_push,
                                                 .range_pop = rec_range_pop,
                                                 .range_start = start_told_range,
                                                 .range_end = end_told_range};
