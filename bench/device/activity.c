/* Times of kernels by themselves: a library that the driver loads into a program (CUDA_INJECTION64_PATH), which has CUPTI note when each
 * kernel begins and ends on the GPU. The program runs as it always does: no launch is repeated, no cache is touched between them.
 *
 * A line a launch goes to the file that WARPLENS_ACTIVITY names, in the order in which kernels end: mangled name, grid, block (three
 * numbers each), nanoseconds; tabs between. activity.py builds it on a machine with a GPU, where CUPTI is. */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER = 1 << 20, FLUSH_MS = 100 };

/* What these members are is the same in all versions since. */
typedef CUpti_ActivityKernel9 kernel;

static FILE *out;

static void CUPTIAPI ask(uint8_t **buffer, size_t *size, size_t *records)
{
    *buffer = aligned_alloc(8, BUFFER);
    *size = *buffer ? BUFFER : 0;
    *records = 0;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                          size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        const kernel *k = (const kernel *)record;
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%llu\n", k->name, k->gridX, k->gridY,
                    k->gridZ, k->blockX, k->blockY, k->blockZ,
                    (unsigned long long)(k->end - k->start));
    }
    fflush(out);
    free(buffer);
}

static void flush(void)
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

int InitializeInjection(void);

int InitializeInjection(void)
{
    const char *path = getenv("WARPLENS_ACTIVITY");
    out = path ? fopen(path, "w") : NULL;
    if (!out || cuptiActivityRegisterCallbacks(ask, take) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
        fprintf(stderr,
                "Kernels cannot be timed: CUPTI refuses, or WARPLENS_ACTIVITY names no file.\n");
    else
        atexit(flush);
    cuptiActivityFlushPeriod(FLUSH_MS);
    return 1;
}
