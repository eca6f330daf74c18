/* Finds in a cubin the sections that belong to a kernel. */
#include "sass/code.h"

#include "sass/elf.h"
#include "sass/lines.h"
#include "sass/operands.h"

#include <string.h>

enum {
    ATTRIBUTE_FRAME = 0x11,
    ATTRIBUTE_STACK = 0x12,
    ATTRIBUTE_REGISTERS = 0x2f,
    OF_KERNEL_BYTES = 8
};

/* ---- relocations ---- */

typedef struct line_owner { /* of the addresses in a line table */
    elf_links links;
    size_t text; /* the kernel's section */
} line_owner;

static bool symbol_in_text(const line_owner *o, const GElf_Rela *link, uint64_t *value)
{
    GElf_Sym symbol;
    bool found = elf_link_symbol(&o->links, link, &symbol) && symbol.st_shndx == o->text;
    if (found)
        *value = symbol.st_value;
    return found;
}

static bool own_address(void *ctx, size_t offset, uint64_t *added)
{
    const line_owner *o = ctx;
    GElf_Rela r;
    for (int i = 0; elf_take_link(&o->links, i, &r); i++)
        if (r.r_offset == offset) {
            bool own = symbol_in_text(o, &r, added);
            *added += own ? (uint64_t)r.r_addend : 0;
            return own;
        }
    return false;
}

static void take_lines(const elf_sections *s, const elf_part *text, sass_code *out)
{
    elf_part lines = elf_find_part(s, ".nv_debug_line_sass", "");
    elf_part ptx = elf_find_part(s, ".nv_debug_ptx_txt", "");
    if (!lines.bytes || !ptx.bytes)
        return;
    line_owner owner = {elf_find_links(s, lines.scn), elf_ndxscn(text->scn)};
    out->lines = sass_read_lines(lines.bytes, lines.size, own_address, &owner, out->insns,
                                 out->count);
    out->ptx = (const char *)ptx.bytes;
    out->ptx_bytes = ptx.size;
}

/* ---- registers and stack ---- */

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

/* An attribute of the cubin that names a function and a number of it; 0: there is none. */
static uint32_t number_of_kernel(const elf_sections *s, const char *kernel, unsigned attribute)
{
    elf_part info = elf_find_part(s, ".nv.info", "");
    elf_attribute a;
    for (size_t at = 0; elf_next_attribute(&info, &at, &a);) {
        uint32_t values[2];
        if (a.number != attribute || a.size != OF_KERNEL_BYTES)
            continue;
        memcpy(values, a.bytes, sizeof values);
        if (names_kernel(s, values[0], kernel))
            return values[1];
    }
    return 0;
}

static uint32_t stack_of(const elf_sections *s, const char *kernel)
{
    uint32_t frame = number_of_kernel(s, kernel, ATTRIBUTE_FRAME),
             stack = number_of_kernel(s, kernel, ATTRIBUTE_STACK);
    return stack > frame ? stack : frame;
}

/* ---- code ---- */

static wl_status take_kernel_text(const elf_sections *s, const char *kernel, wl_arena *arena,
                                  sass_code *out, wl_error *err)
{
    elf_part text = elf_find_part(s, ".text.", kernel);
    if (!text.bytes)
        return wl_fail(err, WL_NOENT, "The machine code has no kernel %s.", kernel);
    out->count = (uint32_t)(text.size / SASS_BYTES);
    out->insns = wl_new_array(arena, sass_insn, out->count);
    if (!out->insns)
        return wl_fail(err, WL_NOMEM, "There is no memory for the machine code of %s.", kernel);
    out->bytes = text.bytes;
    for (uint32_t i = 0; i < out->count; i++)
        out->insns[i] = sass_decode(text.bytes + (size_t)i * SASS_BYTES, i, out->sm);
    out->registers = number_of_kernel(s, kernel, ATTRIBUTE_REGISTERS);
    out->stack = stack_of(s, kernel);
    take_lines(s, &text, out);
    return sass_find_places(s, kernel, out->count, arena, &out->places, err);
}

uint32_t sass_code_known(const sass_code *code)
{
    uint32_t known = 0;
    sass_details insn;
    for (uint32_t i = 0; i < code->count; i++)
        known += sass_read(code->bytes + (size_t)i * SASS_BYTES, i, code->sm, &insn);
    return known;
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
