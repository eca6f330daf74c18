/* Tensor maps, and the boxes of a tensor that bulk copies move (cp.async.bulk.tensor, tiled mode).
 *
 * A tensor of up to five dimensions lies in global memory, dimension 0 being that of neighbouring
 * elements. A box of it lies row by row in shared memory, a row being what runs along dimension 0.
 * Coordinates say where the box begins in the tensor; what of it is outside of the tensor is filled
 * when it is loaded, and left alone when it is stored. A swizzle exchanges pieces of 16 bytes within
 * a row by bits of the address in shared memory (CUDA C++ Programming Guide, "Using TMA to transfer
 * multi-dimensional arrays"), so that columns of boxes meet no bank twice.
 *
 * The 128 bytes of a map are the driver's own business. Those that the emulator's driver makes have
 * the form that acc_tensor_encode gives them. */
#ifndef WL_ACCESS_TENSOR_H
#define WL_ACCESS_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

enum { ACC_TENSOR_RANK = 5, ACC_TENSOR_MAP_BYTES = 128, ACC_TENSOR_MAP_ALIGN = 64 };

typedef enum acc_element {
#define X(id, ptx, bytes, floating, reduced) ACC_ELEMENT_##id,
#include "access/elements.def"
#undef X
    ACC_ELEMENT_COUNT
} acc_element;

/* Numbers of CUtensorMapSwizzle; the others that CUDA has are of later devices. */
typedef enum acc_swizzle {
    ACC_SWIZZLE_NONE,
    ACC_SWIZZLE_32,
    ACC_SWIZZLE_64,
    ACC_SWIZZLE_128,
    ACC_SWIZZLE_COUNT
} acc_swizzle;

typedef struct acc_tensor {
    uint64_t address;
    uint64_t dim[ACC_TENSOR_RANK]; /* elements */
    uint64_t
        stride[ACC_TENSOR_RANK];   /* bytes to the next element along it; [0]: the element's own */
    uint16_t box[ACC_TENSOR_RANK]; /* elements that a box spans */
    uint8_t step[ACC_TENSOR_RANK]; /* it takes one of so many of them; [0] does not count */
    uint8_t rank;
    uint8_t element, swizzle, interleave, promotion; /* as CUDA numbers them */
    bool nan; /* what is outside of the tensor becomes NaN, else zero */
} acc_tensor;

uint32_t acc_element_bytes(acc_element element);
/* By tensormap.replace's number; COUNT for none. */
acc_element acc_element_of_ptx(uint32_t number);

/* What is wrong with it by CUDA's documentation of cuTensorMapEncodeTiled, or NULL. */
const char *acc_tensor_fault(const acc_tensor *t);

void acc_tensor_encode(const acc_tensor *t, void *map);
/* False: these bytes are no map of ours. It may still be at fault. */
bool acc_tensor_decode(const void *map, acc_tensor *out);

typedef struct acc_box {
    const acc_tensor *tensor;
    int64_t at[ACC_TENSOR_RANK];
    uint32_t count[ACC_TENSOR_RANK]; /* elements taken along each */
    uint32_t rows;                   /* all but dimension 0, multiplied */
    uint32_t row_bytes;              /* of a row in the box, 16 at least */
    uint32_t pitch;                  /* from row to row in shared memory */
    uint32_t first, bytes;           /* the bytes of every row that are in the tensor; 0: none */
} acc_box;

/* Of a tensor without fault; the box refers to it. */
acc_box acc_box_of(const acc_tensor *t, const int32_t at[ACC_TENSOR_RANK]);
/* Where the row's bytes [box->first, ...) are in global memory; false where the row is outside. */
bool acc_box_row(const acc_box *box, uint32_t row, uint64_t *address);
/* Where the row's byte is in shared memory, of a box that begins at `shared`. */
uint64_t acc_box_place(const acc_box *box, uint64_t shared, uint32_t row, uint32_t byte);
/* What a box takes of shared memory, with what a swizzle leaves between rows. */
uint32_t acc_box_extent(const acc_box *box);
/* Bytes that a barrier is told of: of all elements, whether they are in the tensor or not. */
uint32_t acc_box_bytes(const acc_box *box);
/* Fills elements that are outside of the tensor. */
void acc_tensor_fill(const acc_tensor *t, void *to, uint32_t bytes);
/* What a load does to elements on their way. */
void acc_tensor_convert(const acc_tensor *t, void *data, uint32_t bytes);

#endif
