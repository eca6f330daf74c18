/* What a cubin's ELF headers, its table of symbols and its sections ".nv.info.<kernel>" say.
 *
 * The latter is a list of attributes: u8 format, u8 attribute, and 16 bits that are the value
 * or, where the format is SIZED, the number of bytes that follow. Parameters are attributes of 12
 * bytes: u32 index, u16 position, u16 offset, u32 that packs the size with what we do not need; the
 * size has 14 bits, or 16 in the second version, for parameters beyond 4 KiB. */
#include "cuda/cubin.h"

#include "base/vec.h"
#include "cuda/fatbin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

enum {
    FORMAT_SIZED = 4,
    ATTRIBUTE_PARAM = 0x17,
    ATTRIBUTE_PARAM_BYTES = 0x19,
    ATTRIBUTE_PARAM_V2 = 0x45,
    PARAM_BYTES = 12,
    MAX_NAME = 1 << 16,
    LATE_ABI = 8
};

typedef wl_vec(cuda_param) param_list;
typedef wl_vec(cuda_layout) layout_list;

/* ---- headers ---- */

static uint64_t later_end(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static Elf64_Shdr section_header(const char *cubin, const Elf64_Ehdr *h, unsigned index)
{
    Elf64_Shdr s;
    memcpy(&s, cubin + h->e_shoff + index * sizeof s, sizeof s);
    return s;
}

/* The end of what the sections hold; UINT64_MAX where the table lies outside of the bytes. */
static uint64_t end_of_sections(const char *cubin, size_t size, const Elf64_Ehdr *h)
{
    uint64_t end = h->e_shoff + (uint64_t)h->e_shnum * sizeof(Elf64_Shdr);
    if (h->e_shoff > CUDA_MAX_CONTENT || end > size)
        return UINT64_MAX;
    for (unsigned i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr s = section_header(cubin, h, i);
        if (s.sh_type == SHT_NOBITS)
            continue;
        if (s.sh_offset > CUDA_MAX_CONTENT || s.sh_size > CUDA_MAX_CONTENT)
            return UINT64_MAX;
        end = later_end(end, s.sh_offset + s.sh_size);
    }
    return end;
}

size_t cuda_cubin_bytes(const void *cubin, size_t size)
{
    Elf64_Ehdr h;
    if (cuda_image_identify(cubin, size) != CUDA_IMAGE_ELF || size < sizeof h)
        return 0;
    memcpy(&h, cubin, sizeof h);
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_CUDA ||
        h.e_shentsize != sizeof(Elf64_Shdr) || h.e_phoff > CUDA_MAX_CONTENT)
        return 0;
    uint64_t end = end_of_sections(cubin, size, &h);
    end = later_end(end, h.e_phoff + (uint64_t)h.e_phnum * sizeof(Elf64_Phdr));
    return end <= size && end <= CUDA_MAX_CONTENT ? (size_t)end : 0;
}

/* Since version 8 of its ABI, CUDA 13's, the second byte of the flags, before it the first. */
uint32_t cuda_cubin_sm(const void *cubin, size_t size)
{
    Elf64_Ehdr h;
    if (!cuda_cubin_bytes(cubin, size))
        return 0;
    memcpy(&h, cubin, sizeof h);
    return h.e_ident[EI_ABIVERSION] >= LATE_ABI ? h.e_flags >> 8 & 0xff : h.e_flags & 0xff;
}

/* ---- parameters ---- */

static uint16_t half_at(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

/* Parameters may come in any order. False where that cannot be one, or without memory. */
static bool take_param(const unsigned char *p, bool second_version, param_list *params)
{
    uint32_t packed = half_at(p + 8) | (uint32_t)half_at(p + 10) << 16;
    cuda_param param = {half_at(p + 6), second_version ? packed & 0xffff : packed >> 18};
    size_t position = half_at(p + 4);
    if (position >= CUDA_MAX_PARAM_BYTES)
        return false;
    while (params->count <= position)
        if (!wl_push(params, (cuda_param){0}))
            return false;
    if (params->data)
        params->data[position] = param;
    return params->data != NULL;
}

/* The attributes of a kernel; false where they do not hold together, or without memory. */
static bool read_attributes(const unsigned char *p, size_t left, param_list *params,
                            uint32_t *bytes)
{
    size_t length = 0;
    *bytes = 0;
    for (; left >= 4; p += 4 + length, left -= 4 + length) {
        bool second_version = p[1] == ATTRIBUTE_PARAM_V2;
        length = p[0] == FORMAT_SIZED ? half_at(p + 2) : 0;
        if (length > left - 4)
            return false;
        if (p[1] == ATTRIBUTE_PARAM_BYTES && !length)
            *bytes = half_at(p + 2);
        if ((second_version || p[1] == ATTRIBUTE_PARAM) && length == PARAM_BYTES &&
            !take_param(p + 4, second_version, params))
            return false;
    }
    return left == 0;
}

/* Whether each position has its bytes, one after the other, within what all of them take. */
static bool in_order(const param_list *params, uint32_t bytes)
{
    uint32_t end = 0;
    for (size_t i = 0; i < params->count; i++) {
        const cuda_param *p = &params->data[i];
        if (!p->bytes || p->offset < end)
            return false;
        end = p->offset + p->bytes;
    }
    return end <= bytes && bytes <= CUDA_MAX_PARAM_BYTES;
}

static void keep_layout(const char *kernel, const char *section, size_t size, layout_list *list)
{
    param_list params = {0};
    uint32_t bytes;
    if (read_attributes((const unsigned char *)section, size, &params, &bytes) &&
        in_order(&params, bytes)) {
        cuda_layout layout = {strdup(kernel), params.data, (uint32_t)params.count, bytes};
        if (layout.kernel && wl_push(list, layout))
            return;
        free(layout.kernel);
    }
    wl_vec_free(&params);
}

/* A name in a table of names; NULL where it has no end. */
static const char *name_at(const char *cubin, const Elf64_Shdr *names, uint32_t at)
{
    if (at >= names->sh_size)
        return NULL;
    const char *name = cubin + names->sh_offset + at;
    uint64_t rest = names->sh_size - at;
    return memchr(name, '\0', rest < MAX_NAME ? rest : MAX_NAME) ? name : NULL;
}

/* The kernel that a section describes; NULL where it is another section. */
static const char *described_kernel(const char *cubin, const Elf64_Shdr *names,
                                    const Elf64_Shdr *section)
{
    static const char prefix[] = ".nv.info.";
    const char *name = section->sh_type == SHT_NOBITS ? NULL
                                                      : name_at(cubin, names, section->sh_name);
    return name && strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : NULL;
}

/* Sections that lie over each other would make much of a small file: no more is read than it has.
 */
static void read_layouts(const char *cubin, uint64_t left, const Elf64_Ehdr *h,
                         const Elf64_Shdr *names, layout_list *list)
{
    for (unsigned i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr s = section_header(cubin, h, i);
        const char *kernel = described_kernel(cubin, names, &s);
        if (!kernel)
            continue;
        uint64_t bytes = s.sh_size + strlen(kernel);
        if (bytes > left)
            return;
        left -= bytes;
        keep_layout(kernel, cubin + s.sh_offset, s.sh_size, list);
    }
}

/* The headers of a cubin, and the section of its sections' names. How long it is, and all sections
 * lie in that; 0: it is none. */
static size_t open_cubin(const void *cubin, size_t size, Elf64_Ehdr *h, Elf64_Shdr *names)
{
    size_t bytes = cuda_cubin_bytes(cubin, size);
    if (!bytes)
        return 0;
    memcpy(h, cubin, sizeof *h);
    if (h->e_shstrndx >= h->e_shnum)
        return 0;
    *names = section_header(cubin, h, h->e_shstrndx);
    return names->sh_type == SHT_STRTAB ? bytes : 0;
}

void cuda_cubin_layouts(const void *cubin, size_t size, cuda_layouts *out)
{
    Elf64_Ehdr h;
    Elf64_Shdr names;
    layout_list list = {0};
    size_t bytes = open_cubin(cubin, size, &h, &names);
    if (bytes)
        read_layouts(cubin, bytes, &h, &names, &list);
    *out = (cuda_layouts){list.data, list.count};
}

const cuda_layout *cuda_layout_of(const cuda_layouts *layouts, const char *kernel)
{
    for (size_t i = 0; i < layouts->count; i++)
        if (strcmp(layouts->list[i].kernel, kernel) == 0)
            return &layouts->list[i];
    return NULL;
}

void cuda_layouts_clear(cuda_layouts *layouts)
{
    for (size_t i = 0; i < layouts->count; i++) {
        free(layouts->list[i].kernel);
        free(layouts->list[i].params);
    }
    free(layouts->list);
    *layouts = (cuda_layouts){0};
}

/* ---- variables ---- */

typedef wl_vec(cuda_variable) variable_list;

typedef struct symbol_table {
    const char *cubin;
    Elf64_Ehdr h;
    Elf64_Shdr sections; /* names of sections */
    Elf64_Shdr symbols;  /* names of symbols */
    uint64_t left;       /* bytes of names that are still taken, as many as the file has */
} symbol_table;

/* Whether variables lie in the section; which of their kinds, then. */
static bool holds_variables(const symbol_table *t, const Elf64_Shdr *section, bool *constant)
{
    const char *name = name_at(t->cubin, &t->sections, section->sh_name);
    *constant = name && strcmp(name, ".nv.constant3") == 0;
    return *constant ||
           (name && (strcmp(name, ".nv.global") == 0 || strcmp(name, ".nv.global.init") == 0));
}

static void keep_variable(symbol_table *t, const Elf64_Sym *symbol, variable_list *list)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx >= t->h.e_shnum)
        return;
    Elf64_Shdr section = section_header(t->cubin, &t->h, symbol->st_shndx);
    const char *name = name_at(t->cubin, &t->symbols, symbol->st_name);
    bool constant, filled = section.sh_type != SHT_NOBITS;
    bool lies = symbol->st_size && symbol->st_value <= section.sh_size &&
                symbol->st_size <= section.sh_size - symbol->st_value;
    if (!name || !*name || !lies || !holds_variables(t, &section, &constant) ||
        strlen(name) > t->left)
        return;
    t->left -= strlen(name);
    cuda_variable v = {.name = strdup(name),
                       .constant = constant,
                       .offset = symbol->st_value,
                       .bytes = symbol->st_size};
    v.initial = filled ? t->cubin + section.sh_offset + symbol->st_value : NULL;
    if (!v.name || !wl_push(list, v))
        free(v.name);
}

static void read_variables(symbol_table *t, const Elf64_Shdr *section, variable_list *list)
{
    if (section->sh_link >= t->h.e_shnum || section->sh_entsize != sizeof(Elf64_Sym))
        return;
    t->symbols = section_header(t->cubin, &t->h, section->sh_link);
    if (t->symbols.sh_type != SHT_STRTAB)
        return;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, t->cubin + section->sh_offset + at, sizeof symbol);
        keep_variable(t, &symbol, list);
    }
}

void cuda_cubin_variables(const void *cubin, size_t size, cuda_variables *out)
{
    symbol_table t = {.cubin = cubin};
    variable_list list = {0};
    size_t bytes = open_cubin(cubin, size, &t.h, &t.sections);
    bool found = false;
    t.left = bytes;
    for (unsigned i = 0; bytes && i < t.h.e_shnum && !found; i++) { /* there is one such table */
        Elf64_Shdr section = section_header(cubin, &t.h, i);
        found = section.sh_type == SHT_SYMTAB;
        if (found)
            read_variables(&t, &section, &list);
    }
    *out = (cuda_variables){list.data, list.count};
}

void cuda_variables_clear(cuda_variables *variables)
{
    for (size_t i = 0; i < variables->count; i++)
        free(variables->list[i].name);
    free(variables->list);
    *variables = (cuda_variables){0};
}
