/* Looks sections up, whose headers may say anything. */
#include "sass/elf.h"

#include <string.h>

static bool is_part_name(const char *name, const char *prefix, const char *rest)
{
    size_t length = strlen(prefix);
    return name && strncmp(name, prefix, length) == 0 && strcmp(name + length, rest) == 0;
}

static elf_part part_of_section(Elf_Scn *scn, const GElf_Shdr *header)
{
    elf_part part = {.scn = scn, .size = header->sh_size};
    if (header->sh_type == SHT_NOBITS)
        return part;
    Elf_Data *data = elf_rawdata(scn, NULL);
    part.bytes = data ? data->d_buf : NULL;
    part.size = part.bytes ? data->d_size : 0;
    return part;
}

elf_part elf_find_part(const elf_sections *s, const char *prefix, const char *rest)
{
    for (Elf_Scn *scn = elf_nextscn(s->elf, NULL); scn; scn = elf_nextscn(s->elf, scn)) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) &&
            is_part_name(elf_strptr(s->elf, s->names, header.sh_name), prefix, rest))
            return part_of_section(scn, &header);
    }
    return (elf_part){0};
}

bool elf_next_attribute(const elf_part *info, size_t *at, elf_attribute *out)
{
    enum { FORMAT_SIZED = 4, HEAD_BYTES = 4 };
    size_t left = info->bytes ? info->size - *at : 0;
    if (left < HEAD_BYTES)
        return false;
    const unsigned char *p = info->bytes + *at;
    size_t size = p[0] == FORMAT_SIZED ? (size_t)(p[2] | p[3] << 8) : 0;
    if (size > left - HEAD_BYTES)
        return false;
    *out = (elf_attribute){p[1], p + HEAD_BYTES, size};
    *at += HEAD_BYTES + size;
    return true;
}

elf_links elf_find_links(const elf_sections *s, Elf_Scn *of)
{
    elf_links out = {.sections = s};
    for (Elf_Scn *scn = elf_nextscn(s->elf, NULL); scn; scn = elf_nextscn(s->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_info != elf_ndxscn(of) ||
            (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
            continue;
        GElf_Shdr symbols;
        Elf_Scn *table = elf_getscn(s->elf, header.sh_link);
        out.relocations = elf_getdata(scn, NULL);
        out.symbols = table ? elf_getdata(table, NULL) : NULL;
        out.names = table && gelf_getshdr(table, &symbols) ? symbols.sh_link : 0;
        out.with_addends = header.sh_type == SHT_RELA;
    }
    return out;
}

bool elf_take_link(const elf_links *links, int i, GElf_Rela *out)
{
    GElf_Rel plain;
    if (!links->relocations)
        return false;
    if (links->with_addends)
        return gelf_getrela(links->relocations, i, out) != NULL;
    if (!gelf_getrel(links->relocations, i, &plain))
        return false;
    *out = (GElf_Rela){.r_offset = plain.r_offset, .r_info = plain.r_info};
    return true;
}

bool elf_link_symbol(const elf_links *links, const GElf_Rela *link, GElf_Sym *out)
{
    return links->symbols && gelf_getsym(links->symbols, (int)GELF_R_SYM(link->r_info), out);
}

const char *elf_symbol_name(const elf_links *links, const GElf_Sym *symbol)
{
    return elf_strptr(links->sections->elf, links->names, symbol->st_name);
}
