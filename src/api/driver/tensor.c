/* Tensor maps in the driver interface. */
#include "access/tensor.h"
#include "api/driver/driver.h"

#include <string.h>

static bool is_map(const CUtensorMap *map)
{
    return map && (uintptr_t)map % ACC_TENSOR_MAP_ALIGN == 0;
}

static bool fill_dimensions(const dr_tensor *args, acc_tensor *t)
{
    if (!args->rank || args->rank > ACC_TENSOR_RANK || !args->dim || !args->box || !args->step ||
        (args->rank > 1 && !args->stride))
        return false;
    t->rank = (uint8_t)args->rank;
    for (uint32_t i = 0; i < args->rank; i++) {
        if (args->box[i] > UINT16_MAX || args->step[i] > UINT8_MAX)
            return false;
        t->dim[i] = args->dim[i];
        t->box[i] = (uint16_t)args->box[i];
        t->step[i] = (uint8_t)args->step[i];
        t->stride[i] = i ? args->stride[i - 1] : acc_element_bytes((acc_element)t->element);
    }
    return true;
}

/* What CUDA has, and we have not: packed elements, swizzles of other pieces than 16 bytes. */
static const char *missing_part(const dr_tensor *args)
{
    enum { CUDA_ELEMENTS = 16, CUDA_SWIZZLES = 7 };
    if (args->element >= ACC_ELEMENT_COUNT && args->element < CUDA_ELEMENTS)
        return "cuTensorMapEncodeTiled of packed elements";
    if (args->swizzle >= ACC_SWIZZLE_COUNT && args->swizzle < CUDA_SWIZZLES)
        return "cuTensorMapEncodeTiled with a swizzle of other pieces than 16 bytes";
    return NULL;
}

dev_result dr_encode_tiled(CUtensorMap *map, const dr_tensor *args)
{
    acc_tensor t = {.address = (uint64_t)(uintptr_t)args->address};
    if (missing_part(args))
        return dev_unsupported_part(missing_part(args));
    if (!is_map(map) || args->element >= ACC_ELEMENT_COUNT || args->swizzle >= ACC_SWIZZLE_COUNT ||
        args->interleave > UINT8_MAX || args->promotion > UINT8_MAX || args->fill > 1)
        return DEV_INVALID_VALUE;
    t.element = (uint8_t)args->element;
    t.swizzle = (uint8_t)args->swizzle;
    t.interleave = (uint8_t)args->interleave;
    t.promotion = (uint8_t)args->promotion;
    t.nan = args->fill != 0;
    if (!fill_dimensions(args, &t) || acc_tensor_fault(&t))
        return DEV_INVALID_VALUE;
    if (t.interleave)
        return dev_unsupported_part("cuTensorMapEncodeTiled of an interleaved layout");
    acc_tensor_encode(&t, map);
    return DEV_OK;
}

dev_result dr_replace_address(CUtensorMap *map, void *address)
{
    acc_tensor t;
    if (!is_map(map) || !acc_tensor_decode(map, &t))
        return DEV_INVALID_VALUE;
    t.address = (uint64_t)(uintptr_t)address;
    if (acc_tensor_fault(&t))
        return DEV_INVALID_VALUE;
    acc_tensor_encode(&t, map);
    return DEV_OK;
}
