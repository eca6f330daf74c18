/* Loops of compare and swap: of the lanes that want a word, one has its way each round, and all others
 * try again. */
#include "analysis/forms.h"
#include "analysis/model/parts.h"

#include <string.h>

static const prof_static_block *block_at(const prof_static_block_rows *blocks, uint32_t kernel,
                                         uint32_t pc)
{
    uint32_t low = 0, high = blocks->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const prof_static_block *b = &blocks->rows[middle];
        if (b->kernel < kernel || (b->kernel == kernel && b->first_pc <= pc))
            low = middle + 1;
        else
            high = middle;
    }
    return low && blocks->rows[low - 1].kernel == kernel ? &blocks->rows[low - 1] : NULL;
}

bool model_is_retried(const model_rows *rows, const prof_instruction *i)
{
    const prof_code *code = prof_find_code(&rows->code, i->kernel, i->c.pc);
    const prof_static_block *block = block_at(&rows->blocks, i->kernel, i->c.pc);
    return i->c.space == ACC_GLOBAL && model_is_atomic(&i->c) && code && strstr(code->op, ".cas") &&
           block && block->loop != UINT32_MAX;
}

/* Lanes that had their way: the emulator runs warps so that only lanes of one warp are in each
 * other's way, and of a request to one word one lane succeeds. */
static double updates_of(const obs_insn *c)
{
    return (double)(model_is_of_one_word(c) ? c->requests : c->active_lanes);
}

prof_instruction model_without_retries(const prof_instruction *i)
{
    prof_instruction once = *i;
    once.c.active_lanes = (uint64_t)updates_of(&i->c);
    if (model_is_of_one_word(&i->c))
        model_set_turns(&once.c, i->c.requests);
    return once;
}

static bool is_one_place(const prof_form *form, const prof_launch *launch)
{
    static const int64_t still[3];
    ana_place p;
    return form && ana_place_of(form, launch, &p) && ana_place_is_exact(&p) &&
           !memcmp(p.thread, still, sizeof still) && !memcmp(p.block, still, sizeof still);
}

/* That all blocks update together, as far as that is known at the most. */
static double words_of(const model_rows *rows, const prof_launch *launch,
                       const model_launch_rows *l, const obs_insn *c, double blocks)
{
    const prof_object *object = prof_find_object(&rows->objects, c->object);
    if (is_one_place(ana_form_of(&rows->forms, launch->kernel, c->pc), launch))
        return 1;
    double bytes = object ? (double)object->bytes : (double)c->sectors * MODEL_SECTOR;
    for (uint32_t i = 0; i < l->ntouched; i++)
        if (l->touched[i].object == c->object)
            bytes = at_most(bytes, l->touched[i].sectors * blocks * MODEL_SECTOR);
    return at_least(1, part_of(bytes, c->bytes));
}

/* An update that keeps the larger value, say, soon has nothing to change: then nobody is in the way.
 * Either the loop has a branch for that, so that it is more than one basic block, or it selects. */
static bool may_change_nothing(const model_rows *rows, const prof_instruction *i)
{
    static const char *const ops[] = {"min.", "max.", "selp."};
    const prof_code *swap = prof_find_code(&rows->code, i->kernel, i->c.pc);
    const prof_static_block *block = block_at(&rows->blocks, i->kernel, i->c.pc);
    if (block->loop != block->first_pc)
        return true;
    for (const prof_code *c = swap; c > rows->code.rows && c->kernel == swap->kernel; c--)
        for (size_t k = 0; c->block == swap->block && k < sizeof ops / sizeof *ops; k++)
            if (!strncmp(c->op, ops[k], strlen(ops[k])))
                return true;
    return false;
}

/* In the busiest slice of L2, which has as large a part of the words as of the turns. */
static model_swaps swaps_of(const obs_insn *c, double words, double resident_lanes)
{
    double part = part_of((double)c->slice_turns, (double)c->turns);
    double updates = part * updates_of(c), at_once = at_most(updates, part * resident_lanes);
    double rounds = updates / at_least(1, part * words);
    double waiting = at_once * (1 - part_of(at_once, updates) / 2); /* the mean of all rounds */
    return (model_swaps){rounds, rounds * waiting};
}

static void add_tries(model_swaps *sum, const model_swaps *s)
{
    sum->rounds += s->rounds;
    sum->tries += s->tries;
}

void model_add_retries(const model_rows *rows, const model_device *d, const prof_launch *launch,
                       const model_launch_rows *l, const prof_instruction *now, model_work *w)
{
    enum { LANES = 32 };
    for (uint32_t i = 0; i < l->ninsns; i++) {
        if (!model_is_retried(rows, &now[i]))
            continue;
        double words = words_of(rows, launch, l, &now[i].c, w->blocks);
        model_swaps s = swaps_of(&now[i].c, words, d->resident * w->warps * LANES);
        add_tries(&w->traffic.swaps_most, &s);
        if (!may_change_nothing(rows, &now[i]))
            add_tries(&w->traffic.swaps, &s);
    }
}
