/* Arrays, and texture and surface objects over arrays or memory. */
#ifndef WL_DEVICE_ARRAY_H
#define WL_DEVICE_ARRAY_H

#include "device/call.h"

/* Arrays. Elements lie row by row in device memory; an array is an object of the capture. */
typedef struct dev_array_desc {
    size_t width, height, depth; /* in elements; 0 where the dimension is absent */
    unsigned channels;           /* 1, 2, 4 */
    int format;                  /* CUarray_format */
    unsigned flags;              /* as CUDA_ARRAY3D_* */
    unsigned levels;             /* of a mipmapped array, else 0 */
} dev_array_desc;

enum { DEV_ARRAY_LAYERED = 1, DEV_ARRAY_SURFACE = 2, DEV_ARRAY_CUBE = 4 }; /* flags */

dev_result dev_array_new(dev_call *call, const dev_array_desc *desc, dev_array **array);
dev_result dev_array_destroy(dev_call *call, dev_array *array);
/* An array made with desc.levels is a MIPMAP: it has levels, which are arrays and go with it.
 * `mipmap` need not be one. */
dev_result dev_array_level(const void *mipmap, unsigned level, dev_array **array);
const dev_array_desc *dev_array_get(const dev_array *array);

/* Texture and surface objects. */
typedef enum dev_resource_type { /* as CUresourcetype */
                                 DEV_RESOURCE_ARRAY,
                                 DEV_RESOURCE_MIPMAP,
                                 DEV_RESOURCE_LINEAR,
                                 DEV_RESOURCE_PITCH
} dev_resource_type;

typedef struct dev_resource {
    dev_resource_type type;
    dev_array *array; /* ARRAY, MIPMAP; not yet checked */
    uint64_t address; /* LINEAR, PITCH: */
    int format;
    unsigned channels;
    size_t bytes;                /* LINEAR */
    size_t width, height, pitch; /* PITCH, in elements, rows, bytes */
} dev_resource;

/* `sampling` without its image, which is made from the resource; NULL for a surface. `stored`: what
 * the front end wants to give back to questions, copied. INVALID_VALUE, INVALID_HANDLE,
 * INVALID_CHANNEL. */
dev_result dev_texture_new(dev_call *call, const dev_resource *resource,
                           const emu_texture *sampling, const void *stored, size_t bytes,
                           uint64_t *handle);
dev_result dev_texture_destroy(uint64_t handle, bool surface);
/* What was stored with the object; NULL where there is none of this sort. */
const void *dev_texture_stored(uint64_t handle, bool surface);

#endif
