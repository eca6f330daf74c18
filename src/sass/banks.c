/* Reads constant banks, relocations and the attributes of .nv.info.<kernel>.
 *
 * Parameters lie in bank 0 from 0x160 (sm_80), 0x210 (sm_90) or 0x380 (sm_100) on, on sm_80 from
 * 0x1a80 on where they take more than 4 KiB; the attribute PARAM_CBANK says so. The attribute of
 * indirect branches lists, for each, its offset in the code, two halves that are zero, and how
 * many targets follow it. */
#include "sass/banks.h"

#include "sass/decode.h"

#include <stdio.h>
#include <string.h>

enum {
    ATTRIBUTE_PARAM_BANK = 0x0a,
    PARAM_BANK_BYTES = 8,
    ATTRIBUTE_JUMPS = 0x34,
    JUMP_BYTES = 12, /* before the targets */
    MAX_LINKS = 1 << 20
};

typedef struct place_reader {
    const elf_sections *elf;
    const char *kernel;
    uint32_t instructions;
    wl_arena *arena;
    sass_places *out;
} place_reader;

static uint32_t word_at(const unsigned char *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* ---- attributes ---- */

/* The number of an instruction; SASS_NOWHERE where the offset is none. */
static uint32_t instruction_at(const place_reader *r, uint32_t offset)
{
    bool whole = offset % SASS_BYTES == 0 && offset / SASS_BYTES < r->instructions;
    return whole ? offset / SASS_BYTES : SASS_NOWHERE;
}

static uint32_t count_jumps(const unsigned char *p, size_t bytes)
{
    uint32_t jumps = 0;
    for (size_t at = 0; bytes - at >= JUMP_BYTES; jumps++) {
        uint64_t targets = (uint64_t)word_at(p + at + 8) * sizeof(uint32_t);
        if (targets > bytes - at - JUMP_BYTES)
            break;
        at += JUMP_BYTES + targets;
    }
    return jumps;
}

static bool take_jump(const place_reader *r, const unsigned char *p, sass_jump *out)
{
    *out = (sass_jump){.from = instruction_at(r, word_at(p)), .count = word_at(p + 8)};
    out->targets = wl_new_array(r->arena, uint32_t, out->count);
    for (uint32_t i = 0; out->targets && i < out->count; i++)
        out->targets[i] = instruction_at(r, word_at(p + JUMP_BYTES + sizeof(uint32_t) * i));
    return out->targets != NULL;
}

static bool take_jumps(place_reader *r, const unsigned char *p, size_t bytes)
{
    uint32_t count = count_jumps(p, bytes);
    r->out->jumps = wl_new_array(r->arena, sass_jump, count);
    if (!r->out->jumps)
        return count == 0;
    for (r->out->njumps = 0; r->out->njumps < count; r->out->njumps++) {
        sass_jump *jump = &r->out->jumps[r->out->njumps];
        if (!take_jump(r, p, jump))
            return jump->count == 0;
        p += JUMP_BYTES + sizeof(uint32_t) * jump->count;
    }
    return true;
}

static bool take_attributes(place_reader *r)
{
    elf_part info = elf_find_part(r->elf, ".nv.info.", r->kernel);
    elf_attribute a;
    for (size_t at = 0; elf_next_attribute(&info, &at, &a);) {
        if (a.number == ATTRIBUTE_PARAM_BANK && a.size == PARAM_BANK_BYTES) {
            r->out->param_base = (uint32_t)(a.bytes[4] | a.bytes[5] << 8);
            r->out->param_bytes = (uint32_t)(a.bytes[6] | a.bytes[7] << 8);
        }
        if (a.number == ATTRIBUTE_JUMPS && !take_jumps(r, a.bytes, a.size))
            return false;
    }
    return true;
}

/* ---- banks ---- */

static elf_part find_bank(const place_reader *r, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, ".nv.constant%u.", number);
    elf_part own = elf_find_part(r->elf, name, r->kernel);
    if (own.scn)
        return own;
    name[strlen(name) - 1] = '\0';
    return elf_find_part(r->elf, name, "");
}

static uint32_t count_links(const elf_links *links)
{
    GElf_Rela link;
    int count = 0;
    while (count < MAX_LINKS && elf_take_link(links, count, &link))
        count++;
    return (uint32_t)count;
}

/* Of a variable in .nv.global, or .nv.global.init. */
static uint64_t global_bytes(const elf_sections *s, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    Elf_Scn *scn = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(s->elf, symbol->st_shndx) : NULL;
    const char *name = scn && gelf_getshdr(scn, &header)
                           ? elf_strptr(s->elf, s->names, header.sh_name)
                           : NULL;
    bool global = name && GELF_ST_TYPE(symbol->st_info) == STT_OBJECT &&
                  strncmp(name, ".nv.global", strlen(".nv.global")) == 0;
    return global ? symbol->st_size : 0;
}

static void take_links(place_reader *r, const elf_links *links, uint32_t bank, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        GElf_Rela link;
        GElf_Sym symbol;
        if (!elf_take_link(links, (int)i, &link) || !elf_link_symbol(links, &link, &symbol))
            continue;
        const char *name = elf_symbol_name(links, &symbol);
        const char *kept = wl_arena_strdup(r->arena, name ? name : "");
        r->out->links[r->out->nlinks++] = (sass_link){.bank = bank,
                                                      .type = (uint32_t)GELF_R_TYPE(link.r_info),
                                                      .offset = link.r_offset,
                                                      .addend = link.r_addend,
                                                      .bytes = global_bytes(r->elf, &symbol),
                                                      .symbol = kept ? kept : ""};
    }
}

static bool take_places(place_reader *r)
{
    elf_links links[SASS_BANKS + 1];
    uint32_t counts[SASS_BANKS + 1], all = 0;
    for (unsigned i = 0; i <= SASS_BANKS; i++) {
        elf_part part = i < SASS_BANKS ? find_bank(r, i)
                                       : elf_find_part(r->elf, ".text.", r->kernel);
        if (i < SASS_BANKS)
            r->out->banks[i] = (sass_bank){part.bytes, part.bytes ? part.size : 0};
        links[i] = part.scn ? elf_find_links(r->elf, part.scn) : (elf_links){0};
        counts[i] = count_links(&links[i]);
        all += counts[i];
    }
    r->out->links = wl_new_array(r->arena, sass_link, all);
    for (unsigned i = 0; r->out->links && i <= SASS_BANKS; i++)
        take_links(r, &links[i], i, counts[i]);
    return r->out->links || !all;
}

wl_status sass_find_places(const elf_sections *s, const char *kernel, uint32_t instructions,
                           wl_arena *arena, sass_places *out, wl_error *err)
{
    place_reader r = {s, kernel, instructions, arena, out};
    *out = (sass_places){0};
    out->shared = elf_find_part(s, ".nv.shared.", kernel).size;
    if (!take_attributes(&r) || !take_places(&r))
        return wl_fail(err, WL_NOMEM, "There is no memory for what the machine code of %s names.",
                       kernel);
    return WL_OK;
}
