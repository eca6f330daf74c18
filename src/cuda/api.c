#include "cuda/api.h"

#include <string.h>

#define LEGACY CUDA_STREAM_LEGACY
#define PTDS CUDA_STREAM_PTDS
#define PTSZ CUDA_STREAM_PTSZ

static const cuda_driver_function driver[] = {
#define CU(symbol, base, version, stream, ret, args) {#symbol, #base, version, stream},
#include "cuda/driver_api.def"
#undef CU
};

enum { DRIVER = sizeof driver / sizeof *driver };

const cuda_driver_function *cuda_driver_functions(size_t *count)
{
    *count = DRIVER;
    return driver;
}

static size_t first_of_base(const char *base)
{
    size_t low = 0, high = DRIVER;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(driver[middle].base, base) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the base has variants for the thread's own default stream: those alone count for a caller
 * that wants them. */
static bool has_per_thread(size_t first)
{
    for (size_t i = first; i < DRIVER && strcmp(driver[i].base, driver[first].base) == 0; i++)
        if (driver[i].stream != LEGACY)
            return true;
    return false;
}

const cuda_driver_function *cuda_driver_find(const char *name, int version, bool per_thread,
                                             bool *known)
{
    const cuda_driver_function *best = NULL;
    size_t first = first_of_base(name);
    per_thread = per_thread && first < DRIVER && has_per_thread(first);
    *known = false;
    for (size_t i = first; i < DRIVER && strcmp(driver[i].base, name) == 0; i++) {
        const cuda_driver_function *row = &driver[i];
        if (row->version == 0 || (row->stream != LEGACY) != per_thread)
            continue;
        *known = true;
        if (row->version <= version && (!best || row->version >= best->version))
            best = row;
    }
    return best;
}
