#include "access/tensor.h"

#include <string.h>

enum {
    MOST_BOX = 256,
    MOST_STEP = 8,
    WIDE_INTERLEAVE = 2,
    MOST_PROMOTION = 3,
    PIECE = 16,       /* what a swizzle moves as a whole */
    SWIZZLE_ROW = 128 /* bytes of shared memory that are swizzled alike */
};
#define MOST_DIM (UINT64_C(1) << 32)
#define END_OF_STRIDES (UINT64_C(1) << 40)
static const uint32_t spans[ACC_SWIZZLE_COUNT] = {0, 32, 64, 128};

/* ---- elements ---- */

static const struct {
    uint8_t ptx, bytes;
    bool floating;
} elements[ACC_ELEMENT_COUNT] = {
#define X(id, ptx, bytes, floating, reduced) {ptx, bytes, floating},
#include "access/elements.def"
#undef X
};

uint32_t acc_element_bytes(acc_element element)
{
    return elements[element].bytes;
}

acc_element acc_element_of_ptx(uint32_t number)
{
    uint32_t element = 0;
    while (element < ACC_ELEMENT_COUNT && elements[element].ptx != number)
        element++;
    return (acc_element)element;
}

/* ---- what CUDA asks of a map ---- */

static const char *fault_of_dimension(const acc_tensor *t, uint32_t i)
{
    if (t->dim[i] == 0 || t->dim[i] > MOST_DIM)
        return "a dimension of the tensor has 1 to 2^32 elements";
    if (i && (t->stride[i] % 16 || t->stride[i] >= END_OF_STRIDES))
        return "a stride is a multiple of 16 bytes below 2^40";
    if (t->box[i] == 0 || t->box[i] > MOST_BOX)
        return "a dimension of the box has 1 to 256 elements";
    if (t->step[i] == 0 || t->step[i] > MOST_STEP)
        return "an element stride is 1 to 8";
    return NULL;
}

/* Interleaved: of 16 or 32 bytes, whose channels lie beside each other. */
static const char *fault_of_interleaved(const acc_tensor *t)
{
    const bool wide = t->interleave == WIDE_INTERLEAVE;
    if (t->rank < 3)
        return "an interleaved tensor has 3 dimensions at least";
    if (wide && t->address % 32)
        return "the address of a tensor that is interleaved by 32 bytes is a multiple of 32";
    for (uint32_t i = 1; wide && i < t->rank; i++)
        if (t->stride[i] % 32)
            return "the strides of a tensor that is interleaved by 32 bytes are multiples of 32";
    if (wide && t->swizzle != ACC_SWIZZLE_32)
        return "a tensor that is interleaved by 32 bytes has a swizzle of 32";
    return NULL;
}

static const char *fault_of_row(const acc_tensor *t)
{
    uint32_t row = t->box[0] * acc_element_bytes((acc_element)t->element);
    if (t->interleave)
        return fault_of_interleaved(t);
    if (row % PIECE)
        return "a row of the box is a multiple of 16 bytes";
    if (t->swizzle && row > spans[t->swizzle])
        return "a row of the box is at most as long as what its swizzle spans";
    return NULL;
}

const char *acc_tensor_fault(const acc_tensor *t)
{
    const char *fault = NULL;
    if (t->element >= ACC_ELEMENT_COUNT)
        return "this type of elements is not one of CUDA's, or is packed";
    if (t->rank == 0 || t->rank > ACC_TENSOR_RANK)
        return "a tensor has 1 to 5 dimensions";
    if (t->address % 16)
        return "the tensor's address is a multiple of 16";
    if (t->interleave > WIDE_INTERLEAVE || t->swizzle >= ACC_SWIZZLE_COUNT ||
        t->promotion > MOST_PROMOTION)
        return "interleave, swizzle or L2 promotion is none of CUDA's";
    if (t->nan && !elements[t->element].floating)
        return "only elements of a floating-point type are filled with NaN";
    for (uint32_t i = 0; i < t->rank && !fault; i++)
        fault = fault_of_dimension(t, i);
    return fault ? fault : fault_of_row(t);
}

/* ---- the 128 bytes ---- */

static const char mark[8] = "wl-tma1";

typedef struct encoded {
    char mark[sizeof mark];
    uint64_t address, stride[ACC_TENSOR_RANK - 1];
    uint32_t last[ACC_TENSOR_RANK]; /* dimension - 1 */
    uint16_t box[ACC_TENSOR_RANK];
    uint8_t step[ACC_TENSOR_RANK];
    uint8_t rank, element, swizzle, interleave, promotion, nan;
} encoded;

_Static_assert(sizeof(encoded) <= ACC_TENSOR_MAP_BYTES, "a map has room for it");

void acc_tensor_encode(const acc_tensor *t, void *map)
{
    encoded e = {.address = t->address,
                 .rank = t->rank,
                 .element = t->element,
                 .swizzle = t->swizzle,
                 .interleave = t->interleave,
                 .promotion = t->promotion,
                 .nan = t->nan};
    memcpy(e.mark, mark, sizeof mark);
    memcpy(e.box, t->box, sizeof e.box);
    memcpy(e.step, t->step, sizeof e.step);
    memcpy(e.stride, t->stride + 1, sizeof e.stride);
    for (uint32_t i = 0; i < ACC_TENSOR_RANK; i++)
        e.last[i] = (uint32_t)(t->dim[i] - 1);
    memset(map, 0, ACC_TENSOR_MAP_BYTES);
    memcpy(map, &e, sizeof e);
}

bool acc_tensor_decode(const void *map, acc_tensor *out)
{
    encoded e;
    memcpy(&e, map, sizeof e);
    if (memcmp(e.mark, mark, sizeof mark) != 0)
        return false;
    *out = (acc_tensor){.address = e.address,
                        .rank = e.rank,
                        .element = e.element,
                        .swizzle = e.swizzle,
                        .interleave = e.interleave,
                        .promotion = e.promotion,
                        .nan = e.nan != 0};
    memcpy(out->box, e.box, sizeof e.box);
    memcpy(out->step, e.step, sizeof e.step);
    memcpy(out->stride + 1, e.stride, sizeof e.stride);
    out->stride[0] = e.element < ACC_ELEMENT_COUNT ? elements[e.element].bytes : 1;
    for (uint32_t i = 0; i < ACC_TENSOR_RANK; i++)
        out->dim[i] = (uint64_t)e.last[i] + 1;
    return true;
}

/* ---- boxes ---- */

static void clip_rows(acc_box *box)
{
    const acc_tensor *t = box->tensor;
    int64_t size = (int64_t)t->dim[0], end = box->at[0] + t->box[0];
    int64_t from = box->at[0] < 0 ? 0 : box->at[0], to = end < size ? end : size;
    if (from >= to)
        return;
    box->first = (uint32_t)(from - box->at[0]) * (uint32_t)t->stride[0];
    box->bytes = (uint32_t)(to - from) * (uint32_t)t->stride[0];
}

acc_box acc_box_of(const acc_tensor *t, const int32_t at[ACC_TENSOR_RANK])
{
    acc_box box = {.tensor = t, .rows = 1};
    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t step = i ? t->step[i] : 1;
        box.at[i] = at[i];
        box.count[i] = (t->box[i] + step - 1) / step;
        box.rows *= i ? box.count[i] : 1;
    }
    box.row_bytes = t->box[0] * (uint32_t)t->stride[0];
    box.pitch = t->swizzle ? spans[t->swizzle] : box.row_bytes;
    clip_rows(&box);
    return box;
}

bool acc_box_row(const acc_box *box, uint32_t row, uint64_t *address)
{
    const acc_tensor *t = box->tensor;
    int64_t start = box->at[0] * (int64_t)t->stride[0] + box->first;
    uint64_t offset = (uint64_t)start;
    for (uint32_t i = 1; i < t->rank; i++) {
        int64_t at = box->at[i] + (int64_t)(row % box->count[i]) * t->step[i];
        row /= box->count[i];
        if (at < 0 || (uint64_t)at >= t->dim[i])
            return false;
        offset += (uint64_t)at * t->stride[i];
    }
    *address = t->address + offset;
    return box->bytes > 0;
}

uint64_t acc_box_place(const acc_box *box, uint64_t shared, uint32_t row, uint32_t byte)
{
    uint64_t place = shared + (uint64_t)row * box->pitch + byte;
    uint32_t span = spans[box->tensor->swizzle];
    if (!span)
        return place;
    return place ^ (place / SWIZZLE_ROW % (span / PIECE)) * PIECE;
}

uint32_t acc_box_extent(const acc_box *box)
{
    return box->rows * box->pitch;
}

uint32_t acc_box_bytes(const acc_box *box)
{
    return box->rows * box->row_bytes;
}

void acc_tensor_fill(const acc_tensor *t, void *to, uint32_t bytes)
{
    static const uint8_t nan[2] = {0xf7, 0x7f}; /* in each half word, whatever the type */
    memset(to, 0, bytes);
    for (uint32_t i = 0; t->nan && i < bytes; i++)
        ((uint8_t *)to)[i] = nan[i % 2];
}

/* To the nearest, of two the even one. */
static uint32_t round_to_tf32(uint32_t value)
{
    if ((value & 0x7fffffff) > 0x7f800000)
        return 0x7fffe000;
    if ((value & 0x7f800000) == 0x7f800000)
        return value;
    return (value + 0xfff + (value >> 13 & 1)) & 0xffffe000;
}

void acc_tensor_convert(const acc_tensor *t, void *data, uint32_t bytes)
{
    if (t->element != ACC_ELEMENT_TF32 && t->element != ACC_ELEMENT_TF32_FTZ)
        return;
    for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
        uint32_t value;
        memcpy(&value, (uint8_t *)data + i, sizeof value);
        value = round_to_tf32(value);
        memcpy((uint8_t *)data + i, &value, sizeof value);
    }
}
