/* Small cubins, as src/cuda/cubin.c reads them. */
#include "support/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190, ROOM = 1 << 16 };

typedef struct cubin_file {
    unsigned char *data;
    size_t size, names; /* where the names begin */
    Elf64_Shdr *sections;
} cubin_file;

static void append(cubin_file *f, const void *bytes, size_t size)
{
    memcpy(f->data + f->size, bytes, size);
    f->size += size;
}

/* Parameters beyond 4 KiB are described in the second way, as ptxas does it. */
static void append_param(cubin_file *f, const cubin_kernel *k, uint32_t i)
{
    bool large = k->bytes > 4096;
    uint32_t position = i ? i : k->position_of_first;
    const uint16_t head[] = {large ? 0x4504 : 0x1704,  12, 0, 0, (uint16_t)position,
                             (uint16_t)k->params[i][0]};
    uint32_t packed = large ? k->params[i][1] : k->params[i][1] << 18 | 0x1f000;
    append(f, head, sizeof head);
    append(f, &packed, sizeof packed);
}

/* The last parameter first, among attributes of other kinds. */
static void append_info(cubin_file *f, const cubin_kernel *k)
{
    static const uint16_t version[] = {0x3704, 4, 0x82, 0}, registers[] = {0x1b03, 0xff};
    const uint16_t bytes[] = {0x1903, (uint16_t)k->bytes};
    append(f, version, sizeof version);
    for (uint32_t i = k->count; i-- > 0;)
        append_param(f, k, i);
    append(f, registers, sizeof registers);
    append(f, bytes, sizeof bytes);
}

static void append_names(cubin_file *f, const cubin_kernel *kernels, size_t count)
{
    f->names = f->size;
    append(f, "\0.shstrtab", 11);
    f->sections[1].sh_name = 1;
    for (size_t i = 0; i < count; i++) {
        f->sections[2 + i].sh_name = (Elf64_Word)(f->size - f->names);
        f->size += 1 + (size_t)sprintf((char *)f->data + f->size, ".nv.info.%s", kernels[i].name);
    }
    f->sections[1].sh_type = SHT_STRTAB;
    f->sections[1].sh_offset = f->names;
    f->sections[1].sh_size = f->size - f->names;
}

unsigned char *cubin_make(const cubin_kernel *kernels, size_t count, size_t *size)
{
    Elf64_Ehdr h = {.e_machine = MACHINE_CUDA,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = (Elf64_Half)(count + 2),
                    .e_shstrndx = 1};
    cubin_file f = {.data = calloc(1, ROOM), .size = sizeof h};
    f.sections = calloc(count + 2, sizeof *f.sections);
    for (size_t i = 0; i < count; i++) {
        f.sections[2 + i].sh_type = SHT_LOPROC;
        f.sections[2 + i].sh_offset = f.size;
        append_info(&f, &kernels[i]);
        f.size -= kernels[i].cut;
        f.sections[2 + i].sh_size = f.size - f.sections[2 + i].sh_offset;
    }
    append_names(&f, kernels, count);
    h.e_shoff = f.size;
    append(&f, f.sections, (count + 2) * sizeof *f.sections);
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(f.data, &h, sizeof h);
    free(f.sections);
    *size = f.size;
    return f.data;
}
