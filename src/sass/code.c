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

typedef struct line_taker { /* of a line table */
    elf_links links;
    size_t text; /* the kernel's section */
    sass_code *code;
    wl_arena *arena;
} line_taker;

static bool symbol_in_text(const line_taker *t, const GElf_Rela *link, uint64_t *value)
{
    GElf_Sym symbol;
    bool found = elf_link_symbol(&t->links, link, &symbol) && symbol.st_shndx == t->text;
    if (found)
        *value = symbol.st_value;
    return found;
}

static bool own_address(void *ctx, size_t offset, uint64_t *added)
{
    const line_taker *t = ctx;
    GElf_Rela r;
    for (int i = 0; elf_take_link(&t->links, i, &r); i++)
        if (r.r_offset == offset) {
            bool own = symbol_in_text(t, &r, added);
            *added += own ? (uint64_t)r.r_addend : 0;
            return own;
        }
    return false;
}

static void take_ptx_row(void *ctx, const sass_row *row)
{
    sass_code *code = ((line_taker *)ctx)->code;
    for (uint32_t i = row->first; i < row->end && i < code->count; i++) {
        code->lines += code->insns[i].line == 0;
        code->insns[i].line = row->line;
    }
}

enum { MOST_FILES = 4096 };

/* From 1; 0 where there is no memory, or too many of them. */
static uint32_t number_of_file(line_taker *t, const sass_row *row)
{
    sass_code *code = t->code;
    const char *between = *row->folder && *row->file != '/' ? "/" : "";
    const char *path = wl_arena_printf(t->arena, "%s%s%s", *between ? row->folder : "", between,
                                       row->file);
    for (uint32_t i = 0; path && i < code->nfiles; i++)
        if (strcmp(code->files[i], path) == 0)
            return i + 1;
    if (!code->files)
        code->files = wl_new_array(t->arena, const char *, MOST_FILES);
    if (!path || !code->files || code->nfiles == MOST_FILES)
        return 0;
    code->files[code->nfiles++] = path;
    return code->nfiles;
}

static void take_source_row(void *ctx, const sass_row *row)
{
    line_taker *t = ctx;
    uint32_t file = *row->file ? number_of_file(t, row) : 0;
    for (uint32_t i = row->first; file && i < row->end && i < t->code->count; i++) {
        t->code->insns[i].source_file = file;
        t->code->insns[i].source_line = row->line;
    }
}

static void take_lines(const elf_sections *s, const elf_part *text, wl_arena *arena, sass_code *out)
{
    elf_part lines = elf_find_part(s, ".nv_debug_line_sass", ""),
             sources = elf_find_part(s, ".debug_line", "");
    elf_part ptx = elf_find_part(s, ".nv_debug_ptx_txt", "");
    line_taker t = {.text = elf_ndxscn(text->scn), .code = out, .arena = arena};
    if (sources.bytes) {
        t.links = elf_find_links(s, sources.scn);
        sass_read_lines(sources.bytes, sources.size,
                        &(sass_line_reader){own_address, take_source_row, &t});
    }
    if (!lines.bytes || !ptx.bytes)
        return;
    t.links = elf_find_links(s, lines.scn);
    sass_read_lines(lines.bytes, lines.size, &(sass_line_reader){own_address, take_ptx_row, &t});
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
    take_lines(s, &text, arena, out);
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
