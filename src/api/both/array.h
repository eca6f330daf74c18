/* Arrays, textures and surfaces as both interfaces ask for them. The runtime's descriptions are
 * converted to the driver interface's, and those to the core's here. Handles come as the
 * application gave them. */
#ifndef WL_API_BOTH_ARRAY_H
#define WL_API_BOTH_ARRAY_H

#include "cuda/driver_types.h"
#include "device/device.h"

/* ---- arrays; their handles are a CUarray or a cudaArray_t, as `void *` ---- */

dev_array *api_array_of(const void *handle); /* NULL where it is none */
size_t api_element_bytes(const dev_array *array);
/* `out` receives a handle. `levels`: 0, or of a mipmapped array. */
dev_result api_new_array(dev_call *call, void *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                         unsigned levels);
dev_result api_free_array(dev_call *call, const void *handle);
dev_result api_free_mipmap(dev_call *call, const void *handle);
dev_result api_level(const void *mipmap, unsigned level, void *out);
dev_result api_array_descriptor(const void *handle, CUDA_ARRAY3D_DESCRIPTOR *out);

/* ---- textures and surfaces ---- */

/* What questions about an object give back: as much as the front end wants to keep. */
typedef struct api_kept {
    const void *descriptions;
    size_t bytes;
    const char *side; /* "the runtime's" or "the driver's": a constant */
} api_kept;

/* `view` may be NULL: only that of the whole resource in its own format is there. */
dev_result api_new_texture(dev_call *call, unsigned long long *out,
                           const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view, const api_kept *kept);
dev_result api_new_surface(dev_call *call, unsigned long long *out,
                           const CUDA_RESOURCE_DESC *resource, const api_kept *kept);
/* `bytes` of what was kept, from `offset` on, where the same side made the object. */
dev_result api_question(unsigned long long handle, bool surface, const char *side, void *out,
                        size_t offset, size_t bytes);

#endif
