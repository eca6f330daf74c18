/* Textures and surfaces in the driver interface. */
#include "api/both/array.h"
#include "api/driver/driver.h"

typedef struct kept_object { /* what the questions give back */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
} kept_object;

static const char the_drivers[] = "the driver's";

dev_result dr_new_texture(dev_call *call, CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    if (!resource || !texture)
        return DEV_INVALID_VALUE;
    kept_object kept = {.resource = *resource, .texture = *texture};
    if (view)
        kept.view = *view;
    api_kept keeping = {&kept, sizeof kept, the_drivers};
    return api_new_texture(call, out, resource, texture, view, &keeping);
}

dev_result dr_new_surface(dev_call *call, CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
    if (!resource)
        return DEV_INVALID_VALUE;
    kept_object kept = {.resource = *resource};
    api_kept keeping = {&kept, sizeof kept, the_drivers};
    return api_new_surface(call, out, resource, &keeping);
}

dev_result dr_resource_of(unsigned long long handle, bool surface, CUDA_RESOURCE_DESC *out)
{
    return api_question(handle, surface, the_drivers, out, offsetof(kept_object, resource),
                        sizeof *out);
}

dev_result dr_texture_of(CUtexObject handle, CUDA_TEXTURE_DESC *out)
{
    return api_question(handle, false, the_drivers, out, offsetof(kept_object, texture),
                        sizeof *out);
}

dev_result dr_view_of(CUtexObject handle, CUDA_RESOURCE_VIEW_DESC *out)
{
    return api_question(handle, false, the_drivers, out, offsetof(kept_object, view), sizeof *out);
}
