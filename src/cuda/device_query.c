/* What CUDA's queries about a device answer. */
#include "cuda/device.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const struct attribute_row {
    const char *name;
    cuda_attribute_source source;
    int value;
} rows[CUDA_ATTRIBUTES] = {
#define X(number, id, source, value) [number] = {#id, CUDA_ATTRIBUTE_##source, value},
#include "cuda/attributes.def"
#undef X
};

/* "MAX_THREADS_PER_BLOCK"; NULL where there is none. */
static const char *name_of_attribute(int number)
{
    return number >= 0 && number < CUDA_ATTRIBUTES ? rows[number].name : NULL;
}

cuda_attribute_source cuda_attribute_source_of(int number)
{
    return name_of_attribute(number) ? rows[number].source : CUDA_ATTRIBUTE_HERE;
}

bool cuda_attribute_key(int number, char key[static CUDA_ATTRIBUTE_KEY])
{
    const char *name = name_of_attribute(number);
    snprintf(key, CUDA_ATTRIBUTE_KEY, "%s", name ? name : "");
    for (char *c = key; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return name != NULL;
}

bool cuda_device_attribute(const cuda_device *device, int number, int *value)
{
    if (!name_of_attribute(number))
        return false;
    *value = rows[number].source == CUDA_ATTRIBUTE_HERE ? rows[number].value
                                                        : device->attributes[number];
    return true;
}

void cuda_device_uuid(const cuda_device *device, int ordinal, CUuuid *uuid)
{
    char text[sizeof device->id + 32];
    int length = snprintf(text, sizeof text, "warplens:%s:%d", device->id, ordinal);
    XXH128_hash_t hash = XXH3_128bits(text, (size_t)length);
    memcpy(uuid->bytes, &hash.high64, 8);
    memcpy(uuid->bytes + 8, &hash.low64, 8);
}

static int attribute_or_zero(const cuda_device *device, int number)
{
    int value = 0;
    cuda_device_attribute(device, number, &value);
    return value;
}

/* Numbers of the attributes of device_prop.def; NONE is that of no attribute. */
enum {
    A_NONE = 0,
#define X(number, id, source, value) A_##id = number,
#include "cuda/attributes.def"
#undef X
};

/* A field of `count` elements of `bytes` bytes each (0: a single value) from as many attributes
 * with numbers in a row. */
static void fill_property(void *field, size_t bytes, int count, int attribute,
                          const cuda_device *device)
{
    for (int i = 0; attribute != A_NONE && i < (count ? count : 1); i++) {
        int64_t value = attribute_or_zero(device, attribute + i);
        memcpy((char *)field + (size_t)i * bytes, &value, bytes);
    }
}

#define ELEMENT(field, count) (sizeof(field) / ((count) ? (count) : 1))
#define FILL(type, name, count, attribute) \
    fill_property(&prop->name, ELEMENT(prop->name, count), count, A_##attribute, device);
#define SKIP(type, name, count, attribute)

/* The fields that no attribute gives. */
#define FILL_REST()                                          \
    do {                                                     \
        memcpy(prop->name, device->name, sizeof prop->name); \
        cuda_device_uuid(device, ordinal, &prop->uuid);      \
        prop->totalGlobalMem = device->global_bytes;         \
        prop->pciBusID += ordinal;                           \
    } while (0)

void cuda_device_prop_v11(const cuda_device *device, int ordinal, cudaDeviceProp_v11 *prop)
{
    memset(prop, 0, sizeof *prop);
#define ALL FILL
#define OLD FILL
#define NEW SKIP
#define V12 SKIP
#define V13 SKIP
#include "cuda/device_prop.def"
#undef NEW
#undef V12
    FILL_REST();
}

void cuda_device_prop_v12(const cuda_device *device, int ordinal, cudaDeviceProp_v12 *prop)
{
    memset(prop, 0, sizeof *prop);
#define NEW FILL
#define V12 FILL
#include "cuda/device_prop.def"
#undef OLD
#undef V12
#undef V13
    FILL_REST();
}

void cuda_device_prop_v13(const cuda_device *device, int ordinal, cudaDeviceProp_v13 *prop)
{
    memset(prop, 0, sizeof *prop);
#define OLD SKIP
#define V12 SKIP
#define V13 FILL
#include "cuda/device_prop.def"
#undef ALL
#undef OLD
#undef NEW
#undef V12
#undef V13
    FILL_REST();
}
