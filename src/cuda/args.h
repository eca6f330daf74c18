/* What arguments of CUDA's functions mean that every collector reads alike. */
#ifndef WL_CUDA_ARGS_H
#define WL_CUDA_ARGS_H

#include <stdbool.h>
#include <stddef.h>

/* `extra` of a launch: a list of tags and values that ends in CU_LAUNCH_PARAM_END; NULL is an empty
 * one. Gives the buffer of packed parameters and its length, NULL and 0 where the list names none.
 * False at a tag that is not known. */
bool cuda_read_extra(void **extra, const void **buffer, size_t *bytes);

/* Bytes of a channel of a CUarray_format; 0 where it is not one of the plain formats. */
unsigned cuda_format_bytes(int format);

#endif
