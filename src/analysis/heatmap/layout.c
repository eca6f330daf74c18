/* Compares the forms of addresses. */
#include "analysis/heatmap/layout.h"

#include "analysis/forms.h"

#include <stdlib.h>
#include <string.h>

/* The instruction's address in its launch; false where nothing is known of it. */
static bool locate_place(const ana_input *input, const prof_instruction *insn, ana_place *out)
{
    const prof_form *form = ana_form_at(&input->forms, insn->c.pc);
    const prof_launch *l = prof_find_launch(&input->program->launches, insn->launch);
    return form && l && ana_place_of(form, l, out);
}

layout_blocks layout_of_blocks(const ana_input *input, const prof_instruction *insn)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, insn->launch);
    layout_blocks found = LAYOUT_SAME_WORDS;
    ana_place p;
    if (!l)
        return LAYOUT_UNKNOWN;
    if ((uint64_t)l->grid[0] * l->grid[1] * l->grid[2] == 1)
        return LAYOUT_SAME_WORDS;
    if (!locate_place(input, insn, &p) || p.unknown || p.block_unknown)
        return LAYOUT_UNKNOWN;
    for (int d = 0; d < 3; d++) {
        int64_t step = l->grid[d] > 1 ? llabs(p.block[d]) : 0;
        if (step > 0 && step < OBS_SECTOR_BYTES)
            return LAYOUT_OTHER_WORDS;
        found = step % OBS_SECTOR_BYTES ? LAYOUT_UNKNOWN : found;
    }
    return found;
}

void layout_steps(const ana_input *input, const prof_instruction *insn, int8_t steps[3])
{
    ana_place p;
    bool other = layout_of_blocks(input, insn) == LAYOUT_OTHER_WORDS &&
                 locate_place(input, insn, &p);
    for (int d = 0; d < 3; d++) {
        bool near = other && llabs(p.block[d]) < OBS_SECTOR_BYTES;
        steps[d] = near ? (int8_t)p.block[d] : 0;
    }
}

bool layout_is_one_address(const ana_input *input, const prof_instruction *insn)
{
    static const int64_t none[3];
    const prof_object *o = prof_find_object(&input->program->objects, insn->c.object);
    ana_place p;
    if (o && o->bytes && o->bytes <= insn->c.bytes)
        return true;
    return locate_place(input, insn, &p) && ana_place_is_exact(&p) &&
           memcmp(p.thread, none, sizeof none) == 0 && memcmp(p.block, none, sizeof none) == 0;
}

bool layout_is_counted(const ana_input *input, const prof_instruction *insn)
{
    ana_place p;
    return locate_place(input, insn, &p) && p.counted;
}

bool layout_is_narrow(const ana_input *input, const prof_instruction *insn)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, insn->launch);
    ana_place p;
    bool along = locate_place(input, insn, &p) && llabs(p.thread[0]) == (int64_t)insn->c.bytes;
    return along && l->block[0] % ACC_LANES && l->block[0] < ACC_LANES && l->block[1] > 1 &&
           (p.thread_unknown || p.thread[1] != p.thread[0] * (int64_t)l->block[0]);
}

bool layout_is_loaded(const ana_input *input, const prof_instruction *insn)
{
    ana_place p;
    return !locate_place(input, insn, &p) || p.loaded;
}

bool layout_are_neighbours(const ana_input *input, const prof_instruction *a,
                           const prof_instruction *b)
{
    enum { NEAR = 128 }; /* a row of a warp */
    ana_place p, q;
    if (!locate_place(input, a, &p) || !locate_place(input, b, &q) || p.shape != q.shape)
        return false;
    int64_t apart = llabs(p.constant - q.constant);
    return apart < NEAR && apart % OBS_SECTOR_BYTES;
}

uint64_t layout_family(const ana_input *input, const prof_instruction *insn)
{
    ana_place p;
    const prof_code *code = prof_find_code(&input->code, input->kernel->id, insn->c.pc);
    if (locate_place(input, insn, &p) && p.shape)
        return p.shape;
    return code && code->line ? (uint64_t)code->file << 32 | code->line : 0;
}
