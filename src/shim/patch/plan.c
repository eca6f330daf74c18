/* Which instructions of a kernel have a place in its table. */
#include "cuda/cubin.h"
#include "sass/code.h"
#include "shim/patch/read_table.h"

#include <stdlib.h>

static bool may_access_memory(const sass_insn *insn)
{
    return insn->cost == IR_COST_MEMORY || insn->cost == IR_COST_ATOMIC ||
           insn->cost == SASS_UNKNOWN;
}

/* LDGSTS with BYPASS: bit 81. */
static bool copies_in_pairs(const sass_code *code, uint32_t i)
{
    enum { LDGSTS = 0x1ae, OPCODE = 0x1ff };
    const unsigned char *bytes = code->bytes + (size_t)i * SASS_BYTES;
    return (code->insns[i].opcode & OPCODE) == LDGSTS && bytes[81 / 8] >> 81 % 8 & 1;
}

static uint16_t next_place(patch_plan *p, const sass_code *code, uint32_t i)
{
    return (uint16_t)(++p->slots | (copies_in_pairs(code, i) ? PATCH_PAIRS : 0));
}

static bool give_slots(const sass_code *code, patch_plan *p)
{
    p->insns = code->count;
    p->slot_of = calloc((size_t)code->count + 1, sizeof *p->slot_of);
    for (uint32_t i = 0; p->slot_of && i < code->count && p->slots < PATCH_MOST_SLOTS; i++)
        if (may_access_memory(&code->insns[i]))
            p->slot_of[i] = next_place(p, code, i);
    patch_plan_size(p);
    return p->slot_of && p->slots < PATCH_MOST_SLOTS;
}

bool patch_plan_make(const void *cubin, size_t bytes, const char *kernel, patch_plan *out)
{
    wl_arena *arena = wl_arena_new();
    sass_code code;
    wl_error why;
    *out = (patch_plan){0};
    bool made = arena &&
                sass_code_read(cubin, bytes, cuda_cubin_sm(cubin, bytes), kernel, arena, &code,
                               &why) == WL_OK &&
                give_slots(&code, out);
    wl_arena_free(arena);
    if (!made)
        patch_plan_clear(out);
    return made;
}

void patch_plan_clear(patch_plan *p)
{
    free(p->slot_of);
    *p = (patch_plan){0};
}
