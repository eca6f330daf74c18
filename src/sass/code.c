/* Finds in a cubin the sections that belong to a kernel. */
#include "sass/code.h"

#include "sass/lines.h"

#include <gelf.h>
#include <string.h>

enum { ATTRIBUTE_REGISTERS = 0x2f, FORMAT_SIZED = 4, REGISTERS_BYTES = 8 };

typedef struct elf_sections {
    Elf *elf;
    size_t names; /* the section of their names */
} elf_sections;

typedef struct elf_part { /* a section's bytes */
    Elf_Scn *scn;
    const unsigned char *bytes;
    size_t size;
} elf_part;

static elf_part bytes_of(Elf_Scn *scn)
{
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    return data && data->d_buf ? (elf_part){scn, data->d_buf, data->d_size}
                               : (elf_part){.scn = scn};
}

/* The section of the name `prefix` and then `rest`; one without bytes where there is none. */
static elf_part find_elf_section(const elf_sections *s, const char *prefix, const char *rest)
{
    size_t length = strlen(prefix);
    for (Elf_Scn *scn = elf_nextscn(s->elf, NULL); scn; scn = elf_nextscn(s->elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(s->elf, s->names, header.sh_name)
                                                      : NULL;
        if (name && header.sh_type != SHT_NOBITS && strncmp(name, prefix, length) == 0 &&
            strcmp(name + length, rest) == 0)
            return bytes_of(scn);
    }
    return (elf_part){0};
}

/* ---- relocations ---- */

typedef struct line_owner { /* of the addresses in a line table */
    Elf *elf;
    size_t text; /* the kernel's section */
    Elf_Data *relocations;
    Elf_Data *symbols;
    bool with_addends;
} line_owner;

static bool symbol_in_text(const line_owner *o, uint64_t info, uint64_t *value)
{
    GElf_Sym symbol;
    bool found = o->symbols && gelf_getsym(o->symbols, (int)GELF_R_SYM(info), &symbol) &&
                 symbol.st_shndx == o->text;
    if (found)
        *value = symbol.st_value;
    return found;
}

static bool take_relocation(const line_owner *o, int i, GElf_Rela *out)
{
    GElf_Rel plain;
    if (o->with_addends)
        return gelf_getrela(o->relocations, i, out) != NULL;
    if (!gelf_getrel(o->relocations, i, &plain))
        return false;
    *out = (GElf_Rela){.r_offset = plain.r_offset, .r_info = plain.r_info};
    return true;
}

static bool own_address(void *ctx, size_t offset, uint64_t *added)
{
    const line_owner *o = ctx;
    GElf_Rela r;
    for (int i = 0; o->relocations && take_relocation(o, i, &r); i++)
        if (r.r_offset == offset) {
            bool own = symbol_in_text(o, r.r_info, added);
            *added += own ? (uint64_t)r.r_addend : 0;
            return own;
        }
    return false;
}

/* The relocations of a section. */
static void find_relocations(const elf_sections *s, Elf_Scn *of, line_owner *out)
{
    for (Elf_Scn *scn = elf_nextscn(s->elf, NULL); scn; scn = elf_nextscn(s->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_info != elf_ndxscn(of) ||
            (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
            continue;
        Elf_Scn *symbols = elf_getscn(s->elf, header.sh_link);
        out->relocations = elf_getdata(scn, NULL);
        out->symbols = symbols ? elf_getdata(symbols, NULL) : NULL;
        out->with_addends = header.sh_type == SHT_RELA;
    }
}

static void take_lines(const elf_sections *s, const elf_part *text, sass_code *out)
{
    elf_part lines = find_elf_section(s, ".nv_debug_line_sass", "");
    elf_part ptx = find_elf_section(s, ".nv_debug_ptx_txt", "");
    line_owner owner = {.elf = s->elf, .text = elf_ndxscn(text->scn)};
    if (!lines.bytes || !ptx.bytes)
        return;
    find_relocations(s, lines.scn, &owner);
    out->lines = sass_read_lines(lines.bytes, lines.size, own_address, &owner, out->insns,
                                 out->count);
    out->ptx = (const char *)ptx.bytes;
    out->ptx_bytes = ptx.size;
}

/* ---- registers ---- */

static bool names_kernel(const elf_sections *s, uint32_t symbol, const char *kernel)
{
    for (Elf_Scn *scn = elf_nextscn(s->elf, NULL); scn; scn = elf_nextscn(s->elf, scn)) {
        GElf_Shdr header;
        GElf_Sym found;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        const char *name = data && gelf_getsym(data, (int)symbol, &found)
                               ? elf_strptr(s->elf, header.sh_link, found.st_name)
                               : NULL;
        return name && strcmp(name, kernel) == 0;
    }
    return false;
}

/* The section is a list of attributes, as src/cuda/cubin.c says; one names a function and its
 * registers. */
static uint32_t registers_of(const elf_sections *s, const char *kernel)
{
    elf_part info = find_elf_section(s, ".nv.info", "");
    for (size_t at = 0, length; at + 4 <= info.size; at += 4 + length) {
        const unsigned char *p = info.bytes + at;
        length = p[0] == FORMAT_SIZED ? (size_t)(p[2] | p[3] << 8) : 0;
        uint32_t values[2];
        if (length > info.size - at - 4)
            return 0;
        if (p[1] != ATTRIBUTE_REGISTERS || length != REGISTERS_BYTES)
            continue;
        memcpy(values, p + 4, sizeof values);
        if (names_kernel(s, values[0], kernel))
            return values[1];
    }
    return 0;
}

/* ---- code ---- */

static wl_status take_kernel_text(const elf_sections *s, const char *kernel, wl_arena *arena,
                                  sass_code *out, wl_error *err)
{
    elf_part text = find_elf_section(s, ".text.", kernel);
    if (!text.bytes)
        return wl_fail(err, WL_NOENT, "The machine code has no kernel %s.", kernel);
    out->count = (uint32_t)(text.size / SASS_BYTES);
    out->insns = wl_new_array(arena, sass_insn, out->count);
    if (!out->insns)
        return wl_fail(err, WL_NOMEM, "There is no memory for the machine code of %s.", kernel);
    for (uint32_t i = 0; i < out->count; i++)
        out->insns[i] = sass_decode(text.bytes + (size_t)i * SASS_BYTES, i, out->sm);
    out->registers = registers_of(s, kernel);
    take_lines(s, &text, out);
    return WL_OK;
}

wl_status sass_code_read(const void *cubin, size_t size, uint32_t sm, const char *kernel,
                         wl_arena *arena, sass_code *out, wl_error *err)
{
    *out = (sass_code){.sm = sm};
    if (sm < SASS_LEAST_SM)
        return wl_fail(err, WL_UNSUPPORTED, "Machine code for sm_%u is not read.", sm);
    elf_version(EV_CURRENT);
    char *image = wl_arena_copy(arena, cubin, size); /* libelf writes to what it is given */
    elf_sections s = {.elf = image ? elf_memory(image, size) : NULL};
    wl_status status;
    if (!image)
        status = wl_fail(err, WL_NOMEM, "There is no memory for machine code.");
    else if (!s.elf || elf_getshdrstrndx(s.elf, &s.names) != 0)
        status = wl_fail(err, WL_CORRUPT, "The machine code is no ELF file.");
    else
        status = take_kernel_text(&s, kernel, arena, out, err);
    elf_end(s.elf);
    return status;
}
