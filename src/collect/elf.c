#include "collect/elf.h"

#include "base/vec.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct reader {
    Elf *elf;
    Elf_Scn *symbols;
    collect_elf *out;
    wl_vec(collect_elf_function) functions;
    wl_vec(uint64_t) starts; /* of every function, to know how long one can be */
    bool has_v2_properties, has_texture_references;
    wl_error *err;
} reader;

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Names of the runtime's own functions; an application may well have a "cudaHelper" of its own: collect/patch.c only
 * redirects what the runtime's table lists. */
static bool is_runtime_name(const char *name)
{
    return begins(name, "cuda") || begins(name, "__cuda");
}

static wl_status add_symbol(reader *r, const GElf_Sym *sym, const char *name)
{
    if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
        return WL_OK;
    if (!wl_push(&r->starts, sym->st_value))
        return WL_NOMEM;
    if (!name || !is_runtime_name(name))
        return WL_OK;
    r->has_v2_properties |= strcmp(name, "cudaGetDeviceProperties_v2") == 0;
    r->has_texture_references |= strcmp(name, "cudaBindTexture") == 0;
    collect_elf_function f = {.name = strdup(name), .address = sym->st_value, .size = sym->st_size};
    if (!f.name || !wl_push(&r->functions, f)) {
        free(f.name);
        return WL_NOMEM;
    }
    return WL_OK;
}

static wl_status read_symbols(reader *r, Elf_Scn *scn, const GElf_Shdr *header)
{
    for (Elf_Data *data = NULL; (data = elf_getdata(scn, data));) {
        size_t count = header->sh_entsize ? data->d_size / header->sh_entsize : 0;
        for (size_t i = 0; i < count; i++) {
            GElf_Sym sym;
            if (!gelf_getsym(data, (int)i, &sym))
                return wl_fail(r->err, WL_PARSE, "its symbol table is damaged");
            wl_status status = add_symbol(r, &sym,
                                          elf_strptr(r->elf, header->sh_link, sym.st_name));
            if (status != WL_OK)
                return status;
        }
    }
    return WL_OK;
}

static void read_dynamic(reader *r, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Dyn dyn;
        if (!gelf_getdyn(data, (int)i, &dyn) || dyn.d_tag != DT_NEEDED)
            continue;
        const char *name = elf_strptr(r->elf, header->sh_link, dyn.d_un.d_val);
        r->out->needs_runtime |= name && begins(name, "libcudart.so");
        r->out->needs_driver |= name && begins(name, "libcuda.so");
    }
}

/* The static runtime names its functions to tools and opens the driver by its file name; nothing else has both. */
static bool has_runtime_texts(Elf_Scn *scn)
{
    Elf_Data *data = elf_rawdata(scn, NULL);
    static const char function[] = "cudaMallocFromPoolAsync", old[] = "cudaStreamBeginCapture",
                      driver[] = "libcuda.so.1";
    return data && data->d_buf && memmem(data->d_buf, data->d_size, driver, sizeof driver) &&
           (memmem(data->d_buf, data->d_size, function, sizeof function) ||
            memmem(data->d_buf, data->d_size, old, sizeof old));
}

static void read_section(reader *r, Elf_Scn *scn, size_t names, bool *texts)
{
    GElf_Shdr header;
    if (!gelf_getshdr(scn, &header))
        return;
    const char *name = elf_strptr(r->elf, names, header.sh_name);
    if (name && (strcmp(name, ".nv_fatbin") == 0 || strcmp(name, ".nvFatBinSegment") == 0))
        r->out->has_device_code = true;
    if (name && strcmp(name, ".rodata") == 0)
        *texts = has_runtime_texts(scn);
    if (header.sh_type == SHT_DYNAMIC)
        read_dynamic(r, scn, &header);
    if (header.sh_type == SHT_SYMTAB)
        r->symbols = scn;
}

/* Symbol tables can be large, so only those of files that have something of CUDA are read. */
static wl_status read_symbol_table(reader *r, bool texts)
{
    GElf_Shdr header;
    if (!r->symbols || !(texts || r->out->has_device_code) || !gelf_getshdr(r->symbols, &header))
        return WL_OK;
    return read_symbols(r, r->symbols, &header);
}

static int by_address(const void *a, const void *b)
{
    const collect_elf_function *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure_room(reader *r)
{
    qsort(r->functions.data, r->functions.count, sizeof *r->functions.data, by_address);
    qsort(r->starts.data, r->starts.count, sizeof *r->starts.data, by_value);
    size_t next = 0;
    for (size_t i = 0; i < r->functions.count; i++) {
        collect_elf_function *f = &r->functions.data[i];
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

static void conclude(reader *r, bool texts)
{
    collect_elf *out = r->out;
    bool named = has_function(r, "__cudaRegisterFatBinary") &&
                 has_function(r, "cudaGetErrorString");
    out->has_static_runtime = named || (texts && !out->needs_runtime);
    out->is_stripped = out->has_static_runtime && !named;
    if (named)
        out->runtime_major = r->has_texture_references ? 11 : r->has_v2_properties ? 12 : 13;
    measure_room(r);
    out->functions = r->functions.data;
    out->count = r->functions.count;
    wl_vec_free(&r->starts);
}

static wl_status read_elf(reader *r)
{
    GElf_Ehdr header;
    size_t names, nphdrs = 0;
    bool texts = false;
    if (!gelf_getehdr(r->elf, &header))
        return wl_fail(r->err, WL_PARSE, "its ELF header is damaged");
    r->out->is_elf = true;
    r->out->is_64bit = header.e_ident[EI_CLASS] == ELFCLASS64;
    r->out->is_x86 = header.e_machine == EM_X86_64;
    elf_getphdrnum(r->elf, &nphdrs);
    for (size_t i = 0; i < nphdrs; i++) {
        GElf_Phdr p;
        r->out->has_interpreter |= gelf_getphdr(r->elf, (int)i, &p) && p.p_type == PT_INTERP;
    }
    if (elf_getshdrstrndx(r->elf, &names) != 0)
        return WL_OK; /* no sections: nothing more to learn */
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(r->elf, scn));)
        read_section(r, scn, names, &texts);
    wl_status status = read_symbol_table(r, texts);
    conclude(r, texts);
    return status;
}

wl_status collect_elf_read(const char *path, collect_elf *out, wl_error *err)
{
    *out = (collect_elf){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return wl_fail_errno(err, "cannot open %s", path);
    elf_version(EV_CURRENT);
    reader r = {.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL), .out = out, .err = err};
    wl_status status = WL_OK;
    if (!r.elf)
        status = wl_fail(err, WL_IO, "cannot read %s: %s", path, elf_errmsg(-1));
    else if (elf_kind(r.elf) == ELF_K_ELF)
        status = read_elf(&r);
    elf_end(r.elf);
    close(fd);
    if (status != WL_OK)
        collect_elf_clear(out);
    return status;
}

void collect_elf_clear(collect_elf *elf)
{
    for (size_t i = 0; i < elf->count; i++)
        free(elf->functions[i].name);
    free(elf->functions);
    elf->functions = NULL;
    elf->count = 0;
}
