/* The API of NVIDIA's Compute Sanitizer that puts patches into machine code, as far as it is used here.
 * Declared by hand and loaded at run time from the user's own copy (program/sanitizer_path.h): nothing
 * of NVIDIA's is in here. Without the lock. */
#ifndef WL_SHIM_PATCH_API_H
#define WL_SHIM_PATCH_API_H

#include "cuda/types.h"

#include <stdbool.h>
#include <stdint.h>

enum { PATCH_API_SUCCESS = 0 }; /* what its functions return */

/* Kinds of instructions that may be patched, by the API's numbers. */
enum {
    PATCH_API_GLOBAL = 3,
    PATCH_API_SHARED = 4,
    PATCH_API_LOCAL = 5,
    PATCH_API_COPIED = 14 /* from global to shared memory, not through registers */
};

typedef void (*patch_api_told)(void *ctx, uint32_t domain, uint32_t id, const void *data);

/* X(name of the field, the API's name, types of the arguments) */
#define PATCH_API(X)                                                                      \
    X(subscribe, sanitizerSubscribe, (void **subscriber, patch_api_told told, void *ctx)) \
    X(add_patches, sanitizerAddPatches, (const void *image, CUcontext context))           \
    X(patch_instructions, sanitizerPatchInstructions,                                     \
      (uint32_t kind, CUmodule module, const char *function))                             \
    X(patch_module, sanitizerPatchModule, (CUmodule module))                              \
    X(unpatch_module, sanitizerUnpatchModule, (CUmodule module))                          \
    X(set_data, sanitizerSetCallbackData, (CUfunction function, const void *data))        \
    X(place, sanitizerGetFunctionPcAndSize,                                               \
      (CUmodule module, const char *function, uint64_t *pc, uint64_t *bytes))

typedef struct patch_api {
#define X(field, symbol, types) int(*field) types;
    PATCH_API(X)
#undef X
} patch_api;

/* Loads it the first time, where it is wanted and there is one; it has to be before the program's first
 * context. NULL: there is none; `why` is the rest of a sentence that says why, "" where nobody wants
 * it. */
const patch_api *patch_api_get(const char **why);

#endif
