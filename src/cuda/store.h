/* The PTX that cubins were made from, kept in a folder while they are made: <hash of the
 * cubin>.ptx. A cubin that is loaded later, without PTX of its own, is looked up there. */
#ifndef WL_CUDA_STORE_H
#define WL_CUDA_STORE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { CUDA_HASH_TEXT = 33 };

/* The name that a cubin has in a store, hexadecimal; false where it is none. */
bool cuda_cubin_hash(const void *cubin, size_t size, char name[CUDA_HASH_TEXT]);

/* Makes the folder where it is not there. Another process may keep the same at the same time. */
wl_status cuda_store_keep(const char *folder, const void *cubin, size_t size, const char *ptx,
                          size_t length, wl_error *err);
/* *text is malloc'ed and NUL-terminated. False where the store does not have it. */
bool cuda_store_find(const char *folder, const void *cubin, size_t size, char **text,
                     size_t *length);

/* A whole file, malloc'ed, with a NUL behind it. */
wl_status cuda_file_bytes(const char *path, char **data, size_t *length, wl_error *err);

#endif
