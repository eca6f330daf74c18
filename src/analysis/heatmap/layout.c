/* Compares the forms of addresses. */
#include "analysis/heatmap/layout.h"

#include "analysis/atomics.h"

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

bool layout_is_combined(const ana_input *input, const prof_instruction *insn)
{
    return ana_is_combined(prof_find_code(&input->code, input->kernel->id, insn->c.pc),
                           ana_form_at(&input->forms, insn->c.pc),
                           prof_find_launch(&input->program->launches, insn->launch));
}

bool layout_is_counted(const ana_input *input, const prof_instruction *insn)
{
    ana_place p;
    return locate_place(input, insn, &p) && p.counted;
}

/* What comes after a block's part of a row. */
typedef enum row_end {
    ROW_ENDS,      /* something else: the next block's part lies elsewhere */
    ROW_MAY_GO_ON, /* the code does not tell */
    ROW_GOES_ON    /* the next block's part */
} row_end;

static row_end end_of_row(const prof_launch *l, const ana_place *p, int64_t bytes)
{
    int64_t row = (p->thread[0] < 0 ? -bytes : bytes) * l->block[0];
    for (int d = 0; d < 3; d++)
        if (l->grid[d] > 1 && p->block[d] == row)
            return ROW_GOES_ON;
    bool known = (!p->unknown && !p->block_unknown) || p->block[0];
    return known || l->grid[0] == 1 ? ROW_ENDS : ROW_MAY_GO_ON;
}

/* Less than a warp wide, though it has the threads of one. */
static bool is_narrow_block(const prof_launch *l)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    return l->block[0] > 1 && l->block[0] < ACC_LANES && threads >= ACC_LANES;
}

bool layout_is_narrow(const ana_input *input, const prof_instruction *insn)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, insn->launch);
    ana_place p;
    if (!l || !is_narrow_block(l) || !locate_place(input, insn, &p) || p.loaded || p.counted)
        return false;
    bool pieces = llabs(p.thread[0]) == (int64_t)insn->c.bytes &&
                  (p.thread_unknown || p.thread[1] != p.thread[0] * (int64_t)l->block[0]);
    bool wider = insn->c.space == ACC_SHARED ? l->grid[0] > 1
                                             : end_of_row(l, &p, insn->c.bytes) != ROW_ENDS;
    return (pieces || insn->c.flags & OBS_PIECES) && wider;
}

bool layout_goes_on(const ana_input *input, const prof_instruction *insn)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, insn->launch);
    ana_place p;
    return locate_place(input, insn, &p) && end_of_row(l, &p, insn->c.bytes) == ROW_GOES_ON;
}

bool layout_has_tiles(const ana_input *input)
{
    for (uint32_t i = 0; i < input->ngroups; i++)
        if (input->groups[i].space == ACC_SHARED)
            return true;
    return false;
}

bool layout_is_loaded(const ana_input *input, const prof_instruction *insn)
{
    ana_place p;
    return !locate_place(input, insn, &p) || p.loaded;
}

enum { NEAR = 128 }; /* bytes: a row of a warp */

bool layout_slides(const ana_input *input, const prof_instruction *insn)
{
    ana_place p;
    return locate_place(input, insn, &p) && llabs(p.thread[0]) == (int64_t)insn->c.bytes &&
           p.step && p.step < NEAR && p.step % OBS_SECTOR_BYTES;
}

static bool is_whole(int64_t step)
{
    return step % OBS_SECTOR_BYTES == 0;
}

bool layout_is_shifted(const ana_input *input, const prof_instruction *insn)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, insn->launch);
    ana_place p;
    if (!l || !locate_place(input, insn, &p) || p.unknown || p.thread_unknown || p.block_unknown ||
        p.uneven)
        return false;
    bool whole = is_whole(p.thread[0] * ACC_LANES);
    for (int d = 0; d < 3; d++) {
        whole &= l->grid[d] == 1 || is_whole(p.block[d]);
        whole &= d == 0 || l->block[d] == 1 || is_whole(p.thread[d]);
    }
    return whole;
}

bool layout_are_neighbours(const ana_input *input, const prof_instruction *a,
                           const prof_instruction *b)
{
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
