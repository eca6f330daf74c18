/* Device code as it comes from nvcc: fat binaries, cubins, PTX text.
 *
 * A fat binary ("fatbin") is a list of entries, each PTX or SASS (an ELF file, "cubin") for one
 * architecture, plain or compressed. An executable holds fatbins in the sections .nv_fatbin and
 * __nv_relfatbin (separate compilation), and for each a wrapper in .nvFatBinSegment that is
 * registered at start.
 *
 * All of this may come from an untrusted file: every size and offset is checked against the bytes
 * that are there, and what an entry expands to is bounded. What an application hands over as a bare
 * pointer has no known size; there CUDA_SIZE_UNKNOWN makes the functions believe the sizes that the
 * image states of itself, as the driver does. */
#ifndef WL_CUDA_FATBIN_H
#define WL_CUDA_FATBIN_H

#include "base/error.h"
#include "ptx/link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_SIZE_UNKNOWN SIZE_MAX

enum {
    CUDA_WRAPPER_MAGIC = 0x466243b1,
    CUDA_MAX_PRELINKED = 1 << 16,
    CUDA_MAX_CONTENT = 1 << 28 /* bytes that one entry may expand to */
};
#define CUDA_FATBIN_MAGIC 0xba55ed50u

/* __fatBinC_Wrapper_t. Version 2 comes from linking relocatable code: `prelinked` then is a
 * NULL-terminated array of the fatbins of the objects that went in. */
typedef struct cuda_fatbin_wrapper {
    uint32_t magic, version;
    const void *fatbin;
    const void *const *prelinked;
} cuda_fatbin_wrapper;

typedef enum cuda_image_kind {
    CUDA_IMAGE_UNKNOWN,
    CUDA_IMAGE_WRAPPER,
    CUDA_IMAGE_FATBIN,
    CUDA_IMAGE_ELF,
    CUDA_IMAGE_PTX
} cuda_image_kind;

cuda_image_kind cuda_image_identify(const void *data, size_t size);

typedef enum cuda_entry_kind { CUDA_ENTRY_OTHER, CUDA_ENTRY_PTX, CUDA_ENTRY_ELF } cuda_entry_kind;

typedef enum cuda_compression { CUDA_PLAIN, CUDA_LZ4, CUDA_ZSTD } cuda_compression;

typedef struct cuda_entry {
    cuda_entry_kind kind;
    uint32_t arch;    /* 90 */
    char variant;     /* 'a': this architecture only; 'f': its family; 0: it and all later ones */
    bool relocatable; /* to be linked with others before use (nvcc -rdc=true) */
    cuda_compression compression;
    uint64_t flags;               /* as stored */
    const unsigned char *payload; /* in the image */
    size_t payload_bytes;         /* without padding behind compressed data */
    size_t expanded_bytes;        /* the size stated; that of the payload where it is plain */
    char name[128];               /* source file, as nvcc -G notes it; may be empty or cut off */
} cuda_entry;

typedef struct cuda_fatbin {
    cuda_entry *entries;
    size_t count;
    size_t bytes; /* of the container */
} cuda_fatbin;

/* The entries point into `data`. WL_PARSE, WL_TRUNCATED or WL_CORRUPT with a text. */
wl_status cuda_fatbin_read(const void *data, size_t size, cuda_fatbin *out, wl_error *err);
void cuda_fatbin_clear(cuda_fatbin *fatbin);

/* The entry's content, expanded; malloc'ed and NUL-terminated (*length is without the NUL). */
wl_status cuda_entry_content(const cuda_entry *entry, unsigned char **content, size_t *length,
                             wl_error *err);

/* True where PTX for `arch` and `variant` may be compiled for a device of compute capability `sm`.
 */
bool cuda_arch_fits(uint32_t arch, char variant, uint32_t sm);

/* The entry of a kind, PTX or ELF, that a driver would take for the device: the one with the
 * highest architecture that fits, the most specific variant among equals. NULL where none fits. */
const cuda_entry *cuda_fatbin_choose(const cuda_fatbin *fatbin, cuda_entry_kind kind, uint32_t sm);

/* ---- images: anything that cuModuleLoadData or __cudaRegisterFatBinary takes ---- */

typedef struct cuda_image {
    ptx_source *ptx; /* their texts are malloc'ed; more than one: relocatable, to be linked with
                        ptx_link() */
    size_t count;
} cuda_image;

/* The PTX of an image for a device. WL_NOENT: it has none that fits, and err says what it has ("it
 * holds SASS for sm_75, PTX for sm_100"). WL_UNSUPPORTED: it is PTX text for another architecture.
 * WL_ARG: no image. Other codes as cuda_fatbin_read(). A wrapper is followed only where the size is
 * unknown: it holds addresses. */
wl_status cuda_image_read(const void *data, size_t size, uint32_t sm, cuda_image *out,
                          wl_error *err);
void cuda_image_clear(cuda_image *image);

/* The machine code of an image for a device: an ELF file, malloc'ed. WL_NOENT where it has none
 * that runs there; other codes as cuda_image_read(). What is no fatbin is taken for a cubin of the
 * right device. */
wl_status cuda_image_cubin(const void *data, size_t size, uint32_t sm, unsigned char **cubin,
                           size_t *length, wl_error *err);

/* ---- files ---- */

typedef struct cuda_file_fatbin { /* one fatbin of an executable, library, object, or a file that is
                                     one itself */
    cuda_fatbin fatbin;
    const char *section; /* ".nv_fatbin", "__nv_relfatbin", "" */
    uint64_t offset;     /* in the file */
} cuda_file_fatbin;

typedef struct cuda_file {
    void *map; /* the file's bytes; owned */
    size_t size;
    cuda_image_kind kind; /* ELF for executables as well as cubins */
    bool cubin;
    cuda_file_fatbin *fatbins;
    size_t count;
} cuda_file;

/* Finds all device code of a file: ELF executable, library or object; cubin; fatbin; PTX text.
 * WL_IO, WL_NOENT, WL_PARSE. A file without device code gives WL_OK and no fatbins. */
wl_status cuda_file_open(const char *path, cuda_file *out, wl_error *err);
void cuda_file_close(cuda_file *file);

#endif
