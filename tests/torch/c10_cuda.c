/* A small caching allocator that takes segments from CUDA and reports as PyTorch's does: each block
 * that it hands out or takes back, with its lock held. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct device {
    int8_t type, index;
} device;

void report(void *, int64_t, size_t, size_t,
            device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
void refuse(int64_t, size_t, size_t,
            device) __asm__("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE");

enum { SEGMENT = 1 << 20, MOST = 256 };

typedef struct block {
    uint64_t base;
    size_t bytes;
    bool used, first; /* first: of its segment */
} block;

static block blocks[MOST]; /* by place in their segments */
static size_t nblocks, reserved, allocated;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *driver(const char *name)
{
    static void *library;
    library = library ? library : dlopen("libcuda.so.1", RTLD_NOW);
    return dlsym(library, name);
}

static block *new_segment(size_t bytes)
{
    int (*take)(uint64_t *, size_t);
    uint64_t base;
    *(void **)&take = driver("cuMemAlloc_v2");
    if (nblocks == MOST || take(&base, bytes))
        return NULL;
    reserved += bytes;
    blocks[nblocks] = (block){.base = base, .bytes = bytes, .first = true};
    return &blocks[nblocks++];
}

static block *free_block(size_t bytes)
{
    for (size_t i = 0; i < nblocks; i++)
        if (!blocks[i].used && blocks[i].bytes >= bytes)
            return &blocks[i];
    return new_segment(bytes > SEGMENT ? bytes : SEGMENT);
}

static void split(block *b, size_t bytes)
{
    if (b->bytes == bytes || nblocks == MOST)
        return;
    for (block *at = &blocks[nblocks++]; at > b + 1; at--)
        *at = at[-1];
    b[1] = (block){.base = b->base + bytes, .bytes = b->bytes - bytes};
    b->bytes = bytes;
}

uint64_t tensor_new(size_t asked)
{
    const size_t bytes = (asked + 511) / 512 * 512;
    pthread_mutex_lock(&lock);
    block *b = free_block(bytes);
    if (b) {
        split(b, bytes);
        b->used = true;
        allocated += b->bytes;
        report((void *)b->base, (int64_t)b->bytes, allocated, reserved, (device){1, 0});
    } else {
        refuse((int64_t)bytes, allocated, reserved, (device){1, 0});
    }
    const uint64_t base = b ? b->base : 0;
    pthread_mutex_unlock(&lock);
    return base;
}

void tensor_free(uint64_t base)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nblocks; i++)
        if (blocks[i].base == base && blocks[i].used) {
            blocks[i].used = false;
            allocated -= blocks[i].bytes;
            report((void *)base, -(int64_t)blocks[i].bytes, allocated, reserved, (device){1, 0});
        }
    pthread_mutex_unlock(&lock);
}

/* On the CPU: is none of CUDA's business. */
void host_tensor(void)
{
    static char memory[512];
    report(memory, sizeof memory, sizeof memory, sizeof memory, (device){0, 0});
    report(memory, -(int64_t)sizeof memory, 0, sizeof memory, (device){0, 0});
}
