/* Tells warplens what a program's own memory pool makes of the memory that it got from CUDA, so that reports name tensors
 * where they would name one large allocation; and what the program is about while it launches kernels.
 *
 *     float *block;
 *     cudaMalloc(&block, 64 << 20);
 *     warplens_pool(block, 64 << 20, "activations");
 *     float *q = block + 1024;                            as the pool hands it out
 *     warplens_alloc(q, 4096 * sizeof *q, "q", sizeof *q);
 *     ...
 *     warplens_free(q);
 *     warplens_pool_end(block);
 *
 * For C (C99 and later) and C++ (C++11 and later), by GCC, Clang and nvcc. There is nothing to link: a program that warplens
 * did not start finds no collector, and each call is then a test of one variable. That a call fails ends nothing; the
 * report says what could not be placed.
 *
 * All addresses are those of memory that CUDA knows when the call is made: device memory, managed and pinned memory. Texts
 * are copied, and may be NULL. All functions may be called from any thread. docs/annotate.md says more. */
#ifndef WARPLENS_ANNOTATE_H
#define WARPLENS_ANNOTATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a collector offers, under the name "warplens_collector_1". Fields may follow in later versions: `bytes` tells. */
typedef struct warplens_collector {
    size_t bytes; /* of this structure */
    void (*pool)(const void *base, size_t bytes, const char *name);
    void (*pool_end)(const void *base);
    void (*alloc)(const void *base, size_t bytes, const char *name, size_t element_bytes);
    void (*free)(const void *base);
    void (*name)(const void *address, const char *name, size_t element_bytes);
    /* Ranges. A domain of NULL is the default one. push and pop: of the calling thread; they return the range's level, from
     * 0, in its domain, or a negative number. start: the range is open for all threads; returns what ends it. */
    int (*range_push)(const char *domain, const char *name);
    int (*range_pop)(const char *domain);
    unsigned long long (*range_start)(const char *domain, const char *name);
    void (*range_end)(unsigned long long started);
} warplens_collector;

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) && defined(__linux__)

/* The dynamic linker's, where the program has one. A reference of this kind asks for no library. */
static void *warplens_symbol(void *where, const char *name) __attribute__((weakref("dlsym")));

/* NULL where the program is not profiled. */
static inline const warplens_collector *warplens_find_collector(void)
{
    static const warplens_collector *collector;
    static int looked;
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        const void *found = warplens_symbol ? warplens_symbol(NULL, "warplens_collector_1") : NULL;
        __atomic_store_n(&collector, (const warplens_collector *)found, __ATOMIC_RELAXED);
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&collector, __ATOMIC_RELAXED);
}

#else

static inline const warplens_collector *warplens_find_collector(void)
{
    return NULL;
}

#endif

/* These `bytes` at `base` are a pool, which the program divides by itself. Where they are all of an allocation it gets the
 * name; else they are an object of their own within it. Pools may lie in pools: the outer one is told of first. */
static inline void warplens_pool(const void *base, size_t bytes, const char *name)
{
    const warplens_collector *collector = warplens_find_collector();
    if (collector)
        collector->pool(base, bytes, name);
}

/* The pool is given up, and all that lies in it. Freeing the allocation by CUDA does the same. */
static inline void warplens_pool_end(const void *base)
{
    const warplens_collector *collector = warplens_find_collector();
    if (collector)
        collector->pool_end(base);
}

/* The program's allocator hands these bytes out. They need not lie in a pool that was declared, only in an allocation; they
 * may lie in what was handed out before. `element_bytes`: of one element, 0 where there is no such thing. */
static inline void warplens_alloc(const void *base, size_t bytes, const char *name,
                                  size_t element_bytes)
{
    const warplens_collector *collector = warplens_find_collector();
    if (collector)
        collector->alloc(base, bytes, name, element_bytes);
}

/* The program's allocator takes back what it handed out last at this address, and all that lies in it. */
static inline void warplens_free(const void *base)
{
    const warplens_collector *collector = warplens_find_collector();
    if (collector)
        collector->free(base);
}

/* What the program calls the innermost object that holds the address: an allocation of CUDA's, a variable of a module, a
 * part of a pool. What was said last counts. */
static inline void warplens_name(const void *address, const char *name, size_t element_bytes)
{
    const warplens_collector *collector = warplens_find_collector();
    if (collector)
        collector->name(address, name, element_bytes);
}

/* What the calling thread does from here on until warplens_range_pop() is, to the report, this: a step, a layer. Ranges lie
 * in ranges. A program that has such ranges by NVTX needs no others. */
static inline void warplens_range_push(const char *name)
{
    const warplens_collector *collector = warplens_find_collector();
    if (collector && collector->bytes > offsetof(warplens_collector, range_push))
        collector->range_push(NULL, name);
}

static inline void warplens_range_pop(void)
{
    const warplens_collector *collector = warplens_find_collector();
    if (collector && collector->bytes > offsetof(warplens_collector, range_pop))
        collector->range_pop(NULL);
}

#endif
