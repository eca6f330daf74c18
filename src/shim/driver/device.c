/* The devices, as DEVICE records. */
#include "shim/driver/driver.h"

#include "record/record.h"

#include <string.h>

static unsigned first_sm; /* of the first device */
static uint64_t least_memory = UINT64_MAX;

unsigned drv_sm(void)
{
    return first_sm;
}

uint64_t drv_least_memory(void)
{
    return least_memory == UINT64_MAX ? 0 : least_memory;
}

/* "NVIDIA H200" to "h200", "NVIDIA A100-SXM4-80GB" to "a100", "NVIDIA GeForce RTX 4090" to
 * "rtx4090": the names of the files in devices/, of which there may be none. */
static void file_of_device(const char *name, char *file, size_t size)
{
    static const char *const brands[] = {"NVIDIA ", "Tesla ", "GeForce "};
    size_t length = 0;
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        if (strncmp(name, brands[i], strlen(brands[i])) == 0)
            name += strlen(brands[i]);
    bool series = strncmp(name, "RTX ", 4) == 0 || strncmp(name, "GTX ", 4) == 0;
    for (size_t i = 0; name[i] && name[i] != '-' && length + 1 < size; i++) {
        if (name[i] == ' ' && !(series && i == 3))
            break;
        if (name[i] != ' ')
            file[length++] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    }
    file[length] = '\0';
}

static int driver_device_attribute(CUdevice device, int number)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetAttribute, (int *, int, CUdevice), &value, number,
           device);
    return value;
}

static void record_driver_device(int ordinal)
{
    char name[256] = "", file[64];
    CUdevice device;
    size_t bytes = 0;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGet, (CUdevice *, int), &device, ordinal) ||
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetName, (char *, int, CUdevice), name,
               (int)sizeof name, device))
        return;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceTotalMem_v2, (size_t *, CUdevice), &bytes, device);
    file_of_device(name, file, sizeof file);
    cap_device record = {
        .ordinal = (uint32_t)ordinal,
        .name = name,
        .cc_major = (uint32_t)driver_device_attribute(device,
                                                      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .cc_minor = (uint32_t)driver_device_attribute(device,
                                                      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .num_sms = (uint32_t)driver_device_attribute(device,
                                                     CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .global_bytes = bytes,
        .file = file};
    if (bytes < least_memory)
        least_memory = bytes;
    if (!first_sm)
        first_sm = record.cc_major * 10 + record.cc_minor;
    REC_WRITE(device, &record);
}

void drv_devices_record(void)
{
    int count = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetCount, (int *), &count);
    for (int i = 0; i < count; i++)
        record_driver_device(i);
}
