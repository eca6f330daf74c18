/* Live ranges of shared arrays in launches that were counted in part. */
#include "replay/ranges.h"

#include "flow/taint.h"
#include "observe/filled.h"

#include <string.h>

typedef struct state {
    const replay_arrays *code;
    const emu_kernel *slice;
    const bool *counted, *idle;
} state;

/* ---- instructions ---- */

static const flow_use_count *use_at(const state *s, const flow_array_use *use)
{
    return &s->code->counts.uses[use->use];
}

/* Does the observer see all that the instruction accesses? */
static bool is_shown(const state *s, uint32_t pc)
{
    return s->idle[pc] || (!s->counted[pc] && emu_slice_shows(s->slice, pc));
}

static const flow_fill *fill_at(const state *s, uint32_t pc)
{
    uint32_t at = s->code->fills.at[pc];
    return at == FLOW_NONE ? NULL : &s->code->fills.fills[at];
}

static int class_of_use(const state *s, const flow_array_use *use, uint32_t pc)
{
    ir_place place = ir_kernel_at(&s->code->code, pc);
    if (use->write == FLOW_NO_WRITE)
        return WL_LOADS;
    return ir_insn_effect(place.insn) == IR_EFFECT_ATOMIC ? WL_ATOMICS : WL_STORES;
}

static uint8_t origin_of_fill(const flow_fill *fill)
{
    return fill->origin == FLOW_ASYNC    ? OBS_FROM_COPY
           : fill->origin == FLOW_DEVICE ? OBS_FROM_MEMORY
                                         : OBS_COMPUTED;
}

/* May the value of a shown store come from a load of the array that is not? */
static bool reads_counted(const state *s, const flow_array *array, uint32_t pc)
{
    const flow_fill *fill = fill_at(s, pc);
    for (uint32_t r = 0; fill && r < fill->count; r++) {
        uint32_t load = s->code->fills.reads[fill->first + r].pc;
        for (uint32_t u = array->first; u < array->first + array->count; u++)
            if (use_at(s, &s->code->found.uses[u])->pc == load && !is_shown(s, load))
                return true;
    }
    return false;
}

/* ---- barriers ---- */

/* Of all threads of the block, which come to it in every launch alike. */
static bool is_full_barrier(const state *s, const flow_function *f, const ir_insn *insn)
{
    uint32_t block = f->block_of[insn->pc];
    bool full = flow_is_barrier(insn) && ir_has(insn, IR_S_sync) && insn->noperands == 1 &&
                !ir_has(insn, IR_S_warp) && !ir_has(insn, IR_S_cluster) &&
                insn->guard == IR_NONE && !f->loops.irreducible &&
                s->code->proof.flags[f->first_pc + insn->pc] & FLOW_PC_COUNTED &&
                f->control_level[block] <= FLOW_BLOCK;
    for (uint32_t l = f->loops.of[block]; l != FLOW_NONE; l = f->loops.loops[l].parent)
        full &= f->loop_level[l] <= FLOW_BLOCK;
    return full;
}

static bool comes_before(const flow_function *f, uint32_t first, uint32_t then)
{
    uint32_t a = f->block_of[first], b = f->block_of[then];
    return a == b ? first < then : flow_dominates(&f->dom, a, b);
}

static bool comes_before_counted(const state *s, const flow_array *array, uint32_t barrier)
{
    const flow_function *f = &s->code->flow->funcs[0];
    for (uint32_t u = array->first; u < array->first + array->count; u++) {
        const flow_use_count *use = use_at(s, &s->code->found.uses[u]);
        if (!is_shown(s, use->pc) &&
            (use->context != 0 || !comes_before(f, barrier, use->pc - f->first_pc)))
            return false;
    }
    return true;
}

/* The last that stands on all ways to what was counted of the array; FLOW_NONE: there is none. */
static uint32_t find_barrier(const state *s, const flow_array *array)
{
    const flow_function *f = &s->code->flow->funcs[0];
    uint32_t found = FLOW_NONE;
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        if (is_full_barrier(s, f, &f->func->insns[i]) && comes_before_counted(s, array, i) &&
            (found == FLOW_NONE || comes_before(f, found, i)))
            found = i;
    return found == FLOW_NONE ? FLOW_NONE : f->first_pc + found;
}

/* ---- arrays ---- */

/* What is counted of a class is told by one number: all of it must do the same. */
static bool add_counted_use(const state *s, const flow_array_use *use, replay_array *a)
{
    uint32_t pc = use_at(s, use)->pc;
    const flow_fill *fill = fill_at(s, pc);
    replay_counted one = {.write = use->write}, *all = &a->counted[class_of_use(s, use, pc)];
    if (use->write == FLOW_FILLS)
        one.origin = origin_of_fill(fill);
    bool same = all->write == FLOW_NO_WRITE ||
                (all->write == one.write && all->origin == one.origin);
    *all = one;
    return same && one.write != FLOW_EITHER;
}

static void judge_array(const state *s, const flow_array *array, replay_array *out)
{
    bool known = true;
    for (uint32_t u = array->first; u < array->first + array->count; u++) {
        const flow_array_use *use = &s->code->found.uses[u];
        uint32_t pc = use_at(s, use)->pc;
        if (is_shown(s, pc)) {
            known &= !reads_counted(s, array, pc);
            continue;
        }
        out->apart = true;
        known &= add_counted_use(s, use, out);
    }
    out->barrier = out->apart && known ? find_barrier(s, array) : FLOW_NONE;
    out->known = known && out->barrier != FLOW_NONE;
}

wl_status replay_ranges_find(const replay_arrays *code, const emu_kernel *slice,
                             const bool *counted, const bool *idle, wl_arena *arena,
                             replay_ranges *out)
{
    const state s = {code, slice, counted, idle};
    *out = (replay_ranges){.arrays = wl_new_array(arena, replay_array, code->found.count + 1)};
    for (uint32_t i = 0; out->arrays && i < code->found.count; i++) {
        const flow_array *array = &code->found.arrays[i];
        if (array->object == FLOW_NONE)
            continue;
        replay_array *a = &out->arrays[out->count++];
        *a = (replay_array){.var = code->flow->objects[array->object].var};
        judge_array(&s, array, a);
    }
    return out->arrays ? WL_OK : WL_NOMEM;
}

const replay_array *replay_ranges_of(const replay_ranges *ranges, const char *name)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (strcmp(ranges->arrays[i].var->name, name) == 0)
            return &ranges->arrays[i];
    return NULL;
}

/* ---- together ---- */

/* Of what was counted: accesses by class. False where a block may have accessed one of the words
 * before it stored to it. */
static bool add_up_counted(const wl_spans *counted, const obs_launch *launch, uint32_t index,
                           uint64_t times[WL_CLASSES])
{
    wl_span_reader all = wl_spans_read(counted->data, counted->size, counted->counted);
    for (wl_span span; wl_span_next(&all, &span);) {
        for (uint64_t w = span.first; w < span.first + span.count; w++)
            if (!obs_is_filled(launch, index, w))
                return false;
        for (int c = 0; c < WL_CLASSES; c++)
            times[c] += span.count * span.times[c];
    }
    return true;
}

/* The origin that all ranges have; OBS_ORIGIN_COUNT: there are several. */
static int only_origin(const obs_use *use)
{
    int only = OBS_COMPUTED, found = 0;
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        if (use->ranges[origin]) {
            only = origin;
            found++;
        }
    return found > 1 ? OBS_ORIGIN_COUNT : only;
}

bool replay_ranges_join(const replay_array *array, const obs_use *slice, const wl_spans *counted,
                        const obs_launch *launch, uint32_t index, obs_use *use)
{
    uint64_t times[WL_CLASSES] = {0}, in_ranges = 0;
    if (!array->known || !slice || !(slice->reuse & OBS_REUSE_RANGES) ||
        !add_up_counted(counted, launch, index, times))
        return false;
    use->reuse = OBS_REUSE_RANGES;
    use->blocks = slice->blocks;
    use->unfilled = slice->unfilled;
    memcpy(use->ranges, slice->ranges, sizeof use->ranges);
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        in_ranges += slice->range_accesses[origin];
    for (int c = 0; c < WL_CLASSES; c++)
        if (array->counted[c].write == FLOW_FILLS)
            use->ranges[array->counted[c].origin] += times[c];
        else
            in_ranges += times[c];
    int only = only_origin(use);
    if (only != OBS_ORIGIN_COUNT) {
        use->reuse |= OBS_REUSE_ORIGINS;
        use->range_accesses[only] = in_ranges;
    }
    return true;
}
