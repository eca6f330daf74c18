/* Cubins: ELF files that hold the machine code of kernels for one architecture. They may come from
 * anywhere: every size and offset is checked against the bytes that are there. Read by hand, since
 * this also runs inside applications. */
#ifndef WL_CUDA_CUBIN_H
#define WL_CUDA_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUDA_MAX_PARAM_BYTES = 1 << 15 }; /* of all parameters of a kernel */

/* How long a cubin is by what its headers say; 0: it is none, or reaches beyond `size`. `size` may
 * be CUDA_SIZE_UNKNOWN, for bytes that the driver takes as a cubin. */
size_t cuda_cubin_bytes(const void *cubin, size_t size);

/* Compute capability times ten that a cubin was made for, by its header; 0: it is none. */
uint32_t cuda_cubin_sm(const void *cubin, size_t size);

typedef struct cuda_param { /* bytes, from the begin of the kernel's parameters */
    uint32_t offset, bytes;
} cuda_param;

typedef struct cuda_layout { /* of a kernel's parameters */
    char *kernel;            /* as the cubin names it, mangled */
    cuda_param *params;      /* by position, without overlap */
    uint32_t count;
    uint32_t bytes; /* of all of them */
} cuda_layout;

typedef struct cuda_layouts { /* of all kernels of a cubin */
    cuda_layout *list;
    size_t count;
} cuda_layouts;

/* What is no cubin has none; kernels whose description does not hold together, or that there is no
 * memory for, are left out. `size` as cuda_cubin_bytes(). To be cleared. */
void cuda_cubin_layouts(const void *cubin, size_t size, cuda_layouts *out);
/* NULL where the cubin does not describe the kernel. */
const cuda_layout *cuda_layout_of(const cuda_layouts *layouts, const char *kernel);
void cuda_layouts_clear(cuda_layouts *layouts);

typedef struct cuda_variable {
    char *name;
    bool constant;   /* in the bank of the program's constants, else in global memory */
    uint64_t offset; /* in the bank; in global memory it says nothing */
    uint64_t bytes;
    const char *initial; /* what it holds at first, in the cubin; NULL: zeros */
} cuda_variable;

typedef struct cuda_variables { /* that a cubin defines */
    cuda_variable *list;
    size_t count;
} cuda_variables;

/* As cuda_cubin_layouts(); `cubin` outlives what is found. Variables that do not lie in their section are left out. */
void cuda_cubin_variables(const void *cubin, size_t size, cuda_variables *out);
void cuda_variables_clear(cuda_variables *variables);

#endif
