/* Atomics: of which type they are, and what they wait for. */
#include "analysis/atomics.h"
#include "analysis/forms.h"
#include "analysis/model/parts.h"

#include <math.h>
#include <string.h>

bool model_is_atomic(const obs_insn *c)
{
    return c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

bool model_is_of_one_word(const obs_insn *c)
{
    return c->uniform * 2 > c->requests;
}

void model_set_turns(obs_insn *c, uint64_t turns)
{
    double part = c->turns ? (double)turns / (double)c->turns : 0;
    c->slice_turns = (uint64_t)llround((double)c->slice_turns * part);
    c->turns = c->turns ? turns : 0;
}

void model_rows_combine(model_rows *rows, const prof_launch_rows *launches)
{
    for (uint32_t i = 0; i < rows->all.count; i++) {
        prof_instruction *row = &rows->all.rows[i];
        if (!model_is_atomic(&row->c) || row->c.active_lanes <= row->c.requests ||
            !ana_is_combined(prof_find_code(&rows->code, row->kernel, row->c.pc),
                             ana_form_of(&rows->forms, row->kernel, row->c.pc),
                             prof_find_launch(launches, row->launch)))
            continue;
        row->c.active_lanes = row->c.requests;
        model_set_turns(&row->c, row->c.requests);
    }
}

static model_sum sum_of(const model_rows *rows, const prof_instruction *i)
{
    const prof_code *code = prof_find_code(&rows->code, i->kernel, i->c.pc);
    if (!code || (!strstr(code->op, ".f") && !strstr(code->op, ".bf")))
        return MODEL_SUM_INTEGER;
    return strstr(code->op, ".f64") ? MODEL_SUM_DOUBLE : MODEL_SUM_FLOAT;
}

/* While a try reads all words at once, where they are in different banks, or one, it swaps one after the
 * other. With each turn there is a lane less, so that half of them try, on average. */
static double passes_of_tries(const model_updates *u)
{
    double passes = u->turns * u->turns;
    return u->words == 1 ? passes / 2 : passes;
}

/* Lanes of other warps that want the word of one, where all of a block come at once. */
static double others_of(const model_updates *u, double warps)
{
    return u->words > 0 ? at_least(0, u->lanes * warps / u->words - u->turns) : 0;
}

bool model_add_spins(const model_rows *rows, const prof_instruction *i, const model_updates *u,
                     model_work *w)
{
    model_sum sum = sum_of(rows, i);
    model_spins *spins = &w->spins[sum];
    if (sum == MODEL_SUM_INTEGER)
        return false;
    double of_warp = u->requests / (w->blocks * w->warps);
    spins->tries += u->requests * u->turns;
    spins->passes += u->requests * passes_of_tries(u);
    spins->waits += of_warp * u->turns;
    spins->others += of_warp * others_of(u, w->warps);
    return true;
}

/* Further turns in a sector are of lanes that change one word. */
void model_add_atomics(const model_rows *rows, const prof_instruction *i, model_traffic *t)
{
    const obs_insn *c = &i->c;
    model_atomics *slice = &t->slice[sum_of(rows, i)];
    double turns = (double)c->slice_turns;
    double same = model_is_of_one_word(c)
                      ? turns
                      : turns * (1 - part_of((double)c->sectors, (double)c->turns));
    slice->same += at_least(same, 0);
    slice->apart += turns - at_least(same, 0);
    t->atomic_lanes += (double)c->active_lanes;
    t->atomic_turns += (double)c->turns;
}
