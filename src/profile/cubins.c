/* Finds the fat binary that a module's PTX came from, and chooses among its cubins. */
#include "profile/cubins.h"

#include "cuda/fatbin.h"
#include "sass/decode.h"

#include <stdlib.h>
#include <string.h>

enum { MAJOR = 10, OTHER_MAJOR = 1000 };

/* Whether an entry is this PTX. Only one of its size is expanded. */
static wl_status entry_is_ptx(const cuda_entry *e, const char *ptx, size_t length, bool *same)
{
    unsigned char *content;
    size_t size;
    *same = false;
    if (e->kind != CUDA_ENTRY_PTX || e->expanded_bytes < length)
        return WL_OK;
    wl_status status = cuda_entry_content(e, &content, &size, NULL);
    if (status != WL_OK)
        return status == WL_NOMEM ? status : WL_OK;
    *same = strnlen((const char *)content, size) == length && memcmp(content, ptx, length) == 0;
    free(content);
    return WL_OK;
}

static wl_status fatbin_of_ptx(const cuda_file *file, const char *ptx, size_t length,
                               const cuda_fatbin **found)
{
    *found = NULL;
    for (size_t i = 0; i < file->count && !*found; i++) {
        const cuda_fatbin *fatbin = &file->fatbins[i].fatbin;
        for (size_t k = 0; k < fatbin->count && !*found; k++) {
            bool same;
            if (entry_is_ptx(&fatbin->entries[k], ptx, length, &same) != WL_OK)
                return WL_NOMEM;
            if (same)
                *found = fatbin;
        }
    }
    return WL_OK;
}

/* How far machine code for one device is from another's. */
static uint32_t distance_of(uint32_t arch, uint32_t sm)
{
    uint32_t apart = arch > sm ? arch - sm : sm - arch;
    return arch / MAJOR == sm / MAJOR ? apart : OTHER_MAJOR + apart;
}

static const cuda_entry *nearest_cubin(const cuda_fatbin *fatbin, uint32_t sm)
{
    const cuda_entry *best = NULL;
    for (size_t i = 0; i < fatbin->count; i++) {
        const cuda_entry *e = &fatbin->entries[i];
        if (e->kind == CUDA_ENTRY_ELF && !e->relocatable && e->arch >= SASS_LEAST_SM &&
            (!best || distance_of(e->arch, sm) < distance_of(best->arch, sm)))
            best = e;
    }
    return best;
}

static wl_status take_cubin(const cuda_fatbin *fatbin, uint32_t sm, found_cubin *out)
{
    const cuda_entry *e = fatbin ? nearest_cubin(fatbin, sm) : NULL;
    out->why_not = fatbin ? "the program has no machine code of it"
                          : "its PTX is not in the file that it came from";
    if (!e)
        return WL_OK;
    wl_status status = cuda_entry_content(e, &out->bytes, &out->size, NULL);
    if (status != WL_OK) {
        out->bytes = NULL;
        out->why_not = "its machine code cannot be expanded";
        return status == WL_NOMEM ? status : WL_OK;
    }
    out->sm = e->arch;
    return WL_OK;
}

wl_status cubin_beside(const char *path, const char *ptx, size_t length, uint32_t sm,
                       found_cubin *out)
{
    cuda_file file;
    const cuda_fatbin *fatbin = NULL;
    wl_status status = cuda_file_open(path, &file, NULL);
    *out = (found_cubin){.why_not = "the file that it came from cannot be read"};
    if (status != WL_OK)
        return status == WL_NOMEM ? status : WL_OK;
    status = fatbin_of_ptx(&file, ptx, length, &fatbin);
    if (status == WL_OK)
        status = take_cubin(fatbin, sm, out);
    cuda_file_close(&file);
    return status;
}
