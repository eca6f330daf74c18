/* Modules, kernels, and how many blocks of a kernel an SM holds. */
#ifndef WL_DEVICE_MODULE_H
#define WL_DEVICE_MODULE_H

#include "device/stream.h"

/* What CUDA calls the status of cuda_image_read. */
dev_result dev_image_result(wl_status status);
/* `image`: fatbin, its wrapper, or PTX text. Takes the best PTX of it for the context's device.
 * NO_BINARY_FOR_GPU where it has none, INVALID_PTX where it is text for a later device or does not
 * parse (`log` then holds the text; may be NULL). The image must stay until the module is
 * unloaded. */
dev_result dev_module_load(dev_context *context, const void *image, dev_module **module,
                           wl_error *log);
dev_result dev_module_unload(dev_module *module);
/* NOT_FOUND where there is none. A kernel that the emulator cannot run gives a function all the
 * same: it fails when it is launched, with a text that says why. */
dev_result dev_module_function(dev_module *module, const char *name, dev_function **function);
dev_result dev_module_global(dev_module *module, const char *name, uint64_t *address,
                             uint64_t *size);
unsigned dev_module_count(const dev_module *module);
dev_function *dev_module_at(dev_module *module, unsigned index);
dev_context *dev_module_context(const dev_module *module);

const char *dev_function_name(const dev_function *function);
dev_module *dev_function_module(const dev_function *function);
/* NULL (and `log` filled) where the emulator cannot run the kernel. */
const emu_kernel_info *dev_function_info(dev_function *function, wl_error *log);
dev_result dev_function_param(dev_function *function, size_t index, size_t *offset, size_t *size);

/* Attributes are numbered as CUfunction_attribute; those that cannot be set are read from the
 * kernel. */
enum { DEV_ATTRIBUTE_MAX = 16 };
dev_result dev_function_get(dev_function *function, int attribute, int *value);
dev_result dev_function_set(dev_function *function, int attribute, int value);
/* Blocks that fit on an SM at once. */
dev_result dev_occupancy(dev_function *function, int block, size_t shared, int *blocks);
dev_result dev_occupancy_shared(dev_function *function, int blocks, int block, size_t *shared);
/* The block size with the most threads on an SM, up to `limit` (0 or less: the kernel's own limit),
 * and the number of its blocks that fills the device. `shared` is by warps, as for
 * cuda_occupancy_best(). */
dev_result dev_occupancy_best(dev_function *function, int limit, const size_t *shared, int *block,
                              int *grid);
dev_result dev_max_clusters(dev_function *function, const dev_launch *launch, int *clusters);

#endif
