/* Device code in files. */
#include "cuda/fatbin.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

typedef wl_vec(cuda_file_fatbin) fatbin_list;

static wl_status map_file(const char *path, cuda_file *out, wl_error *err)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return wl_fail_errno(err, "%s cannot be opened", path);
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        return wl_fail(err, WL_IO, "%s is not a file", path);
    }
    out->size = (size_t)status.st_size;
    out->map = out->size ? mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, file, 0) : NULL;
    wl_status result = WL_OK;
    if (out->map == MAP_FAILED) {
        out->map = NULL;
        result = wl_fail_errno(err, "%s cannot be read", path);
    }
    close(file);
    return result;
}

/* Fatbins lie one behind the other, each aligned to 8 bytes. */
static wl_status scan(const cuda_file *file, uint64_t from, uint64_t bytes, const char *section,
                      fatbin_list *list, wl_error *err)
{
    const unsigned char *base = file->map;
    for (uint64_t at = 0; at + 8 <= bytes; at = (at + 7) & ~(uint64_t)7) {
        cuda_file_fatbin found = {.section = section, .offset = from + at};
        uint32_t magic;
        memcpy(&magic, base + from + at, sizeof magic);
        if (magic != CUDA_FATBIN_MAGIC) {
            at += 8;
            continue;
        }
        wl_status status = cuda_fatbin_read(base + from + at, bytes - at, &found.fatbin, err);
        if (status != WL_OK)
            return status;
        at += found.fatbin.bytes;
        if (!wl_push(list, found)) {
            cuda_fatbin_clear(&found.fatbin);
            return wl_fail(err, WL_NOMEM, "no memory for the list of fat binaries");
        }
    }
    return WL_OK;
}

static const char *fatbin_section(const char *name)
{
    static const char *const names[] = {".nv_fatbin", "__nv_relfatbin"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return names[i];
    return NULL;
}

static wl_status scan_sections(cuda_file *file, Elf *elf, fatbin_list *list, wl_error *err)
{
    size_t names;
    wl_status status = WL_OK;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return WL_OK; /* no sections: nothing that we could find */
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn && status == WL_OK;
         scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *section = fatbin_section(elf_strptr(elf, names, header.sh_name));
        if (!section)
            continue;
        if (header.sh_offset > file->size || header.sh_size > file->size - header.sh_offset)
            return wl_fail(err, WL_TRUNCATED, "the section %s lies beyond the end of the file",
                           section);
        status = scan(file, header.sh_offset, header.sh_size, section, list, err);
    }
    return status;
}

static wl_status scan_elf(cuda_file *file, fatbin_list *list, wl_error *err)
{
    GElf_Ehdr header;
    wl_status status;
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory(file->map, file->size);
    if (!elf || !gelf_getehdr(elf, &header))
        status = wl_fail(err, WL_PARSE, "not a valid ELF file: %s", elf_errmsg(-1));
    else if (header.e_machine == EM_CUDA)
        file->cubin = true, status = WL_OK;
    else
        status = scan_sections(file, elf, list, err);
    elf_end(elf);
    return status;
}

wl_status cuda_file_open(const char *path, cuda_file *out, wl_error *err)
{
    fatbin_list list = {0};
    memset(out, 0, sizeof *out);
    wl_status status = map_file(path, out, err);
    if (status != WL_OK || !out->map)
        return status;
    out->kind = cuda_image_identify(out->map, out->size);
    if (out->kind == CUDA_IMAGE_ELF)
        status = scan_elf(out, &list, err);
    else if (out->kind == CUDA_IMAGE_FATBIN)
        status = scan(out, 0, out->size, "", &list, err);
    out->fatbins = list.data;
    out->count = list.count;
    if (status != WL_OK)
        cuda_file_close(out);
    return status;
}

void cuda_file_close(cuda_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        cuda_fatbin_clear(&file->fatbins[i].fatbin);
    free(file->fatbins);
    if (file->map)
        munmap(file->map, file->size);
    memset(file, 0, sizeof *file);
}
