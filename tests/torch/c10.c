/* What PyTorch's libc10.so has for its profiler: functions that its allocators report to. Names and
 * parameters are PyTorch's; these count the reports, to show that they arrive. */
#include <stddef.h>
#include <stdint.h>

typedef struct device {
    int8_t type, index;
} device;

int64_t reported_bytes, refused_bytes;

void report(void *, int64_t, size_t, size_t,
            device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
void refuse(int64_t, size_t, size_t,
            device) __asm__("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE");

void report(void *base, int64_t bytes, size_t allocated, size_t reserved, device where)
{
    (void)base, (void)allocated, (void)reserved, (void)where;
    reported_bytes += bytes;
}

void refuse(int64_t bytes, size_t allocated, size_t reserved, device where)
{
    (void)allocated, (void)reserved, (void)where;
    refused_bytes += bytes;
}
