/* The few sections of an ELF file that say how a program uses CUDA. */
#include "program/elf.h"

#include "base/order.h"
#include "base/vec.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read by hand: this also runs inside applications, and libelf cannot be linked into a shared
 * library from its archive. Only 64-bit files are looked into; every offset is checked against
 * the file's size. */
typedef struct reader {
    const uint8_t *data;
    size_t size;
    const Elf64_Shdr *sections; /* nsections of them, within the file; NULL without */
    size_t nsections, names;
    const Elf64_Shdr *symbols, *texts; /* NULL without */
    prog_elf *out;
    wl_vec(prog_elf_function) functions;
    wl_vec(uint64_t) starts; /* of every function, to know how long one can be */
    bool has_v2_properties, has_texture_references;
} reader;

/* `count` items of `size` bytes at an offset of the file; NULL where they are not all there or
 * not aligned, as a linker aligns all tables. */
static const void *at(const reader *r, uint64_t offset, uint64_t count, uint64_t size)
{
    if (offset > r->size || (count && size > (r->size - offset) / count) || offset % 8)
        return NULL;
    return r->data + offset;
}

static const uint8_t *content(const reader *r, const Elf64_Shdr *section)
{
    bool there = section->sh_type != SHT_NOBITS && section->sh_offset <= r->size &&
                 section->sh_size <= r->size - section->sh_offset;
    return there ? r->data + section->sh_offset : NULL;
}

/* A string of a string table; "" where there is none that ends within it. */
static const char *string(const reader *r, size_t table, uint64_t offset)
{
    if (table >= r->nsections || offset >= r->sections[table].sh_size)
        return "";
    const uint8_t *strings = content(r, &r->sections[table]);
    uint64_t rest = r->sections[table].sh_size - offset;
    return strings && memchr(strings + offset, 0, rest) ? (const char *)strings + offset : "";
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Names of the runtime's own functions; an application may well have a "cudaHelper" of its own:
 * inject/patch.c only redirects what the runtime's table lists. */
static bool is_runtime_name(const char *name)
{
    return begins_with(name, "cuda") || begins_with(name, "__cuda");
}

static wl_status add_symbol(reader *r, const Elf64_Sym *sym, const char *name)
{
    if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
        return WL_OK;
    if (!wl_push(&r->starts, sym->st_value))
        return WL_NOMEM;
    if (!is_runtime_name(name))
        return WL_OK;
    r->has_v2_properties |= strcmp(name, "cudaGetDeviceProperties_v2") == 0;
    r->has_texture_references |= strcmp(name, "cudaBindTexture") == 0;
    prog_elf_function f = {.name = strdup(name), .address = sym->st_value, .size = sym->st_size};
    if (!f.name || !wl_push(&r->functions, f)) {
        free(f.name);
        return WL_NOMEM;
    }
    return WL_OK;
}

static wl_status read_symbols(reader *r)
{
    const Elf64_Shdr *table = r->symbols;
    if (!table)
        return WL_OK;
    size_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = at(r, table->sh_offset, count, sizeof *symbols);
    wl_status status = WL_OK;
    for (size_t i = 0; symbols && i < count && status == WL_OK; i++)
        status = add_symbol(r, &symbols[i], string(r, table->sh_link, symbols[i].st_name));
    return status;
}

static void read_dynamic(reader *r, const Elf64_Shdr *section)
{
    size_t count = section->sh_size / sizeof(Elf64_Dyn);
    const Elf64_Dyn *dynamic = at(r, section->sh_offset, count, sizeof *dynamic);
    for (size_t i = 0; dynamic && i < count; i++) {
        if (dynamic[i].d_tag != DT_NEEDED)
            continue;
        const char *name = string(r, section->sh_link, dynamic[i].d_un.d_val);
        r->out->needs_runtime |= begins_with(name, "libcudart.so");
        r->out->needs_driver |= begins_with(name, "libcuda.so");
    }
}

/* The static runtime names its functions to tools and opens the driver by its file name; nothing
 * else has both. */
static bool has_runtime_texts(const reader *r, const Elf64_Shdr *section)
{
    static const char function[] = "cudaMallocFromPoolAsync", old[] = "cudaStreamBeginCapture",
                      driver[] = "libcuda.so.1";
    const uint8_t *data = content(r, section);
    size_t size = section->sh_size;
    return data && memmem(data, size, driver, sizeof driver) &&
           (memmem(data, size, function, sizeof function) || memmem(data, size, old, sizeof old));
}

static void read_section(reader *r, const Elf64_Shdr *section)
{
    const char *name = string(r, r->names, section->sh_name);
    if (strcmp(name, ".nv_fatbin") == 0 || strcmp(name, ".nvFatBinSegment") == 0)
        r->out->has_device_code = true;
    if (strcmp(name, ".nv_fatbin") == 0) {
        r->out->device_code = section->sh_addr;
        r->out->device_code_bytes = section->sh_size;
    }
    if (strcmp(name, ".debug_info") == 0)
        r->out->has_debug_info = true;
    if (strcmp(name, ".rodata") == 0)
        r->texts = section;
    if (section->sh_type == SHT_DYNAMIC)
        read_dynamic(r, section);
    if (section->sh_type == SHT_SYMTAB)
        r->symbols = section;
}

static int by_address(const void *a, const void *b)
{
    const prog_elf_function *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static void measure_room(reader *r)
{
    if (!r->functions.count)
        return;
    qsort(r->functions.data, r->functions.count, sizeof *r->functions.data, by_address);
    qsort(r->starts.data, r->starts.count, sizeof *r->starts.data, wl_by_number);
    size_t next = 0;
    for (size_t i = 0; i < r->functions.count; i++) {
        prog_elf_function *f = &r->functions.data[i];
        while (next < r->starts.count && r->starts.data[next] <= f->address)
            next++;
        f->room = next < r->starts.count ? r->starts.data[next] - f->address : f->size;
    }
}

static bool has_function(const reader *r, const char *name)
{
    for (size_t i = 0; i < r->functions.count; i++)
        if (strcmp(r->functions.data[i].name, name) == 0)
            return true;
    return false;
}

static void conclude_elf(reader *r)
{
    prog_elf *out = r->out;
    bool named = has_function(r, "__cudaRegisterFatBinary") &&
                 has_function(r, "cudaGetErrorString");
    out->is_stripped = !named && out->has_device_code && !out->needs_runtime && r->texts &&
                       has_runtime_texts(r, r->texts);
    out->has_static_runtime = named || out->is_stripped;
    if (named)
        out->runtime_major = r->has_texture_references ? 11 : r->has_v2_properties ? 12 : 13;
    measure_room(r);
    out->functions = r->functions.data;
    out->count = r->functions.count;
    wl_vec_free(&r->starts);
}

static void read_segments(reader *r, const Elf64_Ehdr *header)
{
    const Elf64_Phdr *p = at(r, header->e_phoff, header->e_phnum, sizeof *p);
    for (size_t i = 0; p && i < header->e_phnum; i++)
        r->out->has_interpreter |= p[i].p_type == PT_INTERP;
}

static void find_sections(reader *r, const Elf64_Ehdr *header)
{
    const Elf64_Shdr *first = at(r, header->e_shoff, 1, sizeof *first);
    if (!header->e_shoff || !first || header->e_shentsize != sizeof *first)
        return;
    r->nsections = header->e_shnum ? header->e_shnum : first->sh_size; /* many: kept there */
    r->names = header->e_shstrndx == SHN_XINDEX ? first->sh_link : header->e_shstrndx;
    r->sections = at(r, header->e_shoff, r->nsections, sizeof *first);
    if (!r->sections)
        r->nsections = 0;
}

static wl_status read_elf(reader *r)
{
    const Elf64_Ehdr *header = at(r, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return WL_OK;
    r->out->is_elf = true;
    r->out->is_64bit = header->e_ident[EI_CLASS] == ELFCLASS64;
    r->out->is_x86 = header->e_machine == EM_X86_64;
    if (!r->out->is_64bit || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return WL_OK;
    read_segments(r, header);
    find_sections(r, header);
    for (size_t i = 0; i < r->nsections; i++)
        read_section(r, &r->sections[i]);
    wl_status status = read_symbols(r);
    conclude_elf(r);
    return status;
}

wl_status prog_elf_read(const char *path, prog_elf *out, wl_error *err)
{
    struct stat st;
    *out = (prog_elf){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wl_fail_errno(err, "cannot open %s", path);
    reader r = {.out = out};
    void *data = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        r.size = (size_t)st.st_size;
        data = mmap(NULL, r.size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (data == MAP_FAILED)
        return st.st_size ? wl_fail_errno(err, "cannot read %s", path) : WL_OK;
    r.data = data;
    wl_status status = read_elf(&r);
    munmap(data, r.size);
    if (status != WL_OK) {
        prog_elf_clear(out);
        return wl_fail(err, status, "cannot read %s: out of memory", path);
    }
    return WL_OK;
}

void prog_elf_clear(prog_elf *elf)
{
    for (size_t i = 0; i < elf->count; i++)
        free(elf->functions[i].name);
    free(elf->functions);
    elf->functions = NULL;
    elf->count = 0;
}
