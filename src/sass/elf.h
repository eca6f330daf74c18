/* Sections of a cubin, by name, and what relocations say of them. */
#ifndef WL_SASS_ELF_H
#define WL_SASS_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct elf_sections {
    Elf *elf;
    size_t names; /* the section of their names */
} elf_sections;

typedef struct elf_part { /* a section's bytes */
    Elf_Scn *scn;         /* NULL: there is none */
    const unsigned char *bytes;
    size_t size; /* also of a section without bytes */
} elf_part;

/* The section of the name `prefix` and then `rest`. */
elf_part elf_find_part(const elf_sections *s, const char *prefix, const char *rest);

typedef struct elf_attribute { /* of .nv.info, whose form src/cuda/cubin.c describes */
    unsigned number;
    const unsigned char *bytes; /* that follow it */
    size_t size;                /* 0 where its value is all there is */
} elf_attribute;

/* The attribute at *at, from 0 on, which moves to the next one; false at the end, and where one does not
 * fit into the section. */
bool elf_next_attribute(const elf_part *info, size_t *at, elf_attribute *out);

typedef struct elf_links { /* the relocations of a section */
    const elf_sections *sections;
    Elf_Data *relocations, *symbols;
    size_t names; /* the section of the symbols' names */
    bool with_addends;
} elf_links;

elf_links elf_find_links(const elf_sections *s, Elf_Scn *of);
/* Number `i`; false where there is none. */
bool elf_take_link(const elf_links *links, int i, GElf_Rela *out);
bool elf_link_symbol(const elf_links *links, const GElf_Rela *link, GElf_Sym *out);
/* Valid as long as the file; NULL: it has no name. */
const char *elf_symbol_name(const elf_links *links, const GElf_Sym *symbol);

#endif
