/* What probes recorded of a launch: unpacked, and scaled to the launch. */
#include "replay/elements.h"
#include "replay/followed.h"
#include "replay/recorded_impl.h"
#include "replay/run.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without the tables of elements, which are large and which nothing here asks for. Of a damaged
 * state nothing is there. */
static wl_status unpack_probe(struct replay_recorded_trace *t, const cap_note *note,
                              const cap_probe *probe, wl_arena *arena)
{
    uint64_t size = rewrite_packed_size(probe->data, probe->length);
    rewrite_state head = {0}, *state;
    rewrite_unpack(probe->data, probe->length, 0, &head, sizeof head);
    uint64_t fixed = t->layout.tables_at ? t->layout.tables_at : head.pool_at;
    uint64_t pool = head.pool_at < size ? size - head.pool_at : 0;
    t->copy = (rewrite_copy){.kernel = t->kernel,
                             .layout = &t->layout,
                             .grid = {note->grid[0], note->grid[1], note->grid[2]},
                             .params = note->params,
                             .nparams = note->nparams};
    if (fixed < sizeof head || fixed > size)
        return WL_OK;
    if (!(state = wl_arena_alloc(arena, fixed + pool)))
        return WL_NOMEM;
    rewrite_unpack(probe->data, probe->length, 0, state, fixed);
    rewrite_unpack(probe->data, probe->length, head.pool_at, (char *)state + fixed, pool);
    state->pool_at = fixed;
    t->copy.state = state;
    t->copy.size = fixed + pool;
    return WL_OK;
}

static wl_status lay_out_trace(replay_recorded_launch *l, const cap_note *note,
                               const cap_probe *probe, wl_arena *arena)
{
    struct replay_recorded_trace *t = l->trace;
    rewrite_setup setup = {.blocks = t->blocks,
                           .threads = {note->block[0], note->block[1], note->block[2]},
                           .nobjects = probe->count,
                           .shared_bytes = probe->shared_bytes};
    rewrite_object *objects = wl_new_array(arena, rewrite_object, probe->count + 1);
    if (!objects)
        return WL_NOMEM;
    for (uint32_t i = 0; i < probe->count; i++)
        objects[i] = (rewrite_object){probe->objects[i].base, probe->objects[i].bytes};
    setup.objects = objects;
    rewrite_state head = {0};
    rewrite_unpack(probe->data, probe->length, 0, &head, sizeof head);
    setup.path_bytes = head.paths ? UINT64_MAX : 0;
    rewrite_lay_out(t->kernel, &setup, &t->layout);
    wl_status status = unpack_probe(t, note, probe, arena);
    l->dropped = rewrite_dropped(&t->copy);
    return status;
}

/* ---- places of variables ---- */

static bool shared_here(const replay_recorded_part *part, const ir_var *var, replay_place *p)
{
    uint32_t count = emu_kernel_nshared(part->slice);
    for (uint32_t i = 0; i < count; i++) {
        emu_shared_var v = emu_kernel_shared(part->slice, i, part->note->dynamic_shared);
        if (strcmp(v.var->name, var->name) == 0) {
            p->here = v.offset;
            p->bytes = v.size;
            return true;
        }
    }
    return false;
}

static bool variable_place_of(const replay_recorded_part *part, const ir_var *var, uint64_t device,
                              replay_place *p)
{
    *p = (replay_place){.space = (uint8_t)var->space, .device = device};
    if (var->space != IR_SPACE_CONST)
        return shared_here(part, var, p);
    p->here = part->constant(part->ctx, var->name);
    p->bytes = ir_var_size(var);
    return p->here != 0;
}

static wl_status find_variable_places(replay_recorded_launch *l, const replay_recorded_part *part,
                                      wl_arena *arena)
{
    struct replay_recorded_trace *t = l->trace;
    t->places = wl_new_array(arena, replay_place, t->kernel->nvars + 1);
    if (!t->places)
        return WL_NOMEM;
    for (uint32_t i = 0; i < t->kernel->nvars; i++)
        if (variable_place_of(part, t->kernel->vars[i].var, rewrite_var_address(&t->copy, i),
                              &t->places[t->nplaces]))
            t->nplaces++;
    return WL_OK;
}

/* An address on the device to the one here; false where nothing lies there. */
bool replay_recorded_translate(const struct replay_recorded_trace *t, acc_space space,
                               uint64_t *address)
{
    if (space == ACC_GLOBAL || space == ACC_LOCAL)
        return true;
    bool constant = space == ACC_CONST;
    for (uint32_t i = 0; i < t->nplaces; i++) {
        const replay_place *p = &t->places[i];
        if ((p->space == IR_SPACE_CONST) == constant && *address - p->device < p->bytes) {
            *address += p->here - p->device;
            return true;
        }
    }
    return false;
}

/* ---- what was recorded ---- */

static void count_recorded_access(void *ctx, const rewrite_access *a)
{
    struct replay_recorded_trace *t = ctx;
    t->seen[a->site->pc].executions++;
    t->seen[a->site->pc].lanes += (uint32_t)__builtin_popcount(a->mask);
    t->records++;
}

/* Of the instructions that run whenever their block does. */
static void tally_block(struct replay_recorded_trace *t, uint32_t first_pc, uint32_t ninsns,
                        replay_tally all)
{
    uint32_t npcs = emu_kernel_get(t->slice)->ncode;
    for (uint32_t pc = first_pc; pc < first_pc + ninsns && pc < npcs; pc++)
        if (!all.executions || emu_kernel_code(t->slice, pc).insn->guard == IR_NONE)
            t->counted[pc] = all;
}

static void count_recorded_blocks(struct replay_recorded_trace *t, uint32_t npcs)
{
    replay_tally all;
    for (uint32_t pc = 0; pc < npcs; pc++)
        t->counted[pc].executions = UINT64_MAX;
    for (uint32_t i = 0; i < t->kernel->nblocks; i++)
        if (rewrite_read_block(&t->copy, i, &all.executions, &all.lanes))
            tally_block(t, t->kernel->blocks[i].first_pc, t->kernel->blocks[i].ninsns, all);
}

/* Does the probe `objects` say that the instruction ran in no block? */
static bool is_recorded_idle(const struct replay_recorded_trace *t, uint32_t pc)
{
    if (!rewrite_has_probe(t->kernel, REWRITE_OBJECTS))
        return false;
    for (uint32_t i = 0; i < t->kernel->nsites; i++)
        if (t->kernel->sites[i].pc == pc && rewrite_site_ran(&t->copy, i))
            return false;
    return true;
}

bool replay_recorded_idle(const replay_recorded_launch *l, uint32_t pc)
{
    return l->trace->counted[pc].executions == 0 || is_recorded_idle(l->trace, pc);
}

const rewrite_copy *replay_recorded_copy(const replay_recorded_launch *l)
{
    return &l->trace->copy;
}

static uint8_t accesses_of_classes(uint32_t classes)
{
    return (uint8_t)((classes >> REWRITE_LOADS & 1 ? CAP_REACHED_LOADED : 0) |
                     (classes >> REWRITE_STORES & 1 ? CAP_REACHED_STORED : 0) |
                     (classes >> REWRITE_ATOMICS & 1 ? CAP_REACHED_ATOMIC : 0));
}

wl_status replay_recorded_indirect(const replay_recorded_launch *l, wl_arena *arena,
                                   cap_indirect *out)
{
    const cap_probe *probe = l->probe;
    *out = (cap_indirect){0};
    if (!rewrite_has_probe(l->trace->kernel, REWRITE_OBJECTS))
        return WL_OK;
    out->launch = probe->note;
    out->objects = wl_new_array(arena, cap_reached, probe->count + 1);
    for (uint32_t i = 0; out->objects && i < probe->count; i++) {
        uint8_t accesses = accesses_of_classes(rewrite_object_used(&l->trace->copy, i));
        if (accesses)
            out->objects[out->count++] = (cap_reached){probe->objects[i].object, accesses};
    }
    return out->objects ? WL_OK : WL_NOMEM;
}

/* What did not run in the traced blocks may have run in others, unless something tells that it
 * did not. */
static void mark_covered(replay_recorded_launch *l)
{
    const struct replay_recorded_trace *t = l->trace;
    bool traced = rewrite_has_probe(t->kernel, REWRITE_TRACE),
         all = traced && l->nblocks == t->blocks && !l->dropped;
    for (uint32_t i = 0; i < t->kernel->nsites; i++) {
        uint32_t pc = t->kernel->sites[i].pc;
        l->covered[pc] = all || (traced && t->seen[pc].executions) || replay_recorded_idle(l, pc);
        l->elements[pc] |= (uint8_t)replay_elements_of_site(t->kernel, &t->kernel->sites[i]);
    }
}

static wl_status list_blocks(replay_recorded_launch *l, const cap_probe *probe, wl_arena *arena)
{
    uint64_t *blocks = wl_arena_copy(arena, probe->blocks, probe->nblocks * sizeof *blocks);
    uint32_t kept = 0;
    if (!blocks)
        return WL_NOMEM;
    qsort(blocks, probe->nblocks, sizeof *blocks, wl_by_number);
    for (uint32_t i = 0; i < probe->nblocks; i++)
        if (blocks[i] < l->trace->blocks && (!kept || blocks[kept - 1] != blocks[i]))
            blocks[kept++] = blocks[i];
    l->blocks = blocks;
    l->nblocks = kept;
    return WL_OK;
}

static wl_status make_trace(const replay_recorded_part *part, const rewrite_kernel *k,
                            wl_arena *arena, replay_recorded_launch *l)
{
    uint32_t npcs = emu_kernel_get(part->slice)->ncode;
    struct replay_recorded_trace *t = l->trace = wl_new(arena, struct replay_recorded_trace);
    l->covered = wl_new_array(arena, uint8_t, npcs + 1);
    l->elements = wl_new_array(arena, uint8_t, npcs + 1);
    if (!t || !l->covered || !l->elements)
        return WL_NOMEM;
    *t = (struct replay_recorded_trace){.kernel = k,
                                        .slice = part->slice,
                                        .seen = wl_new_array(arena, replay_tally, npcs + 1),
                                        .counted = wl_new_array(arena, replay_tally, npcs + 1),
                                        .blocks = (uint64_t)part->note->grid[0] *
                                                  part->note->grid[1] * part->note->grid[2]};
    return t->seen && t->counted ? WL_OK : WL_NOMEM;
}

wl_status replay_recorded_begin(replay_recorded *r, const replay_recorded_part *part,
                                wl_arena *arena, replay_recorded_launch *out)
{
    const replay_taken *found = replay_recorded_find(r, part->note->id);
    const rewrite_kernel *k = NULL;
    *out = (replay_recorded_launch){0};
    if (!found)
        return WL_NOENT;
    wl_status status = replay_recorded_rewritten(r, emu_kernel_module(part->slice), &found->probe,
                                                 part->note->kernel, &k);
    if (status == WL_OK &&
        rewrite_packed_size(found->probe.data, found->probe.length) < k->fixed_bytes)
        status = WL_NOENT;
    if (status == WL_OK)
        status = make_trace(part, k, arena, out);
    if (status == WL_OK)
        status = list_blocks(out, &found->probe, arena);
    if (status != WL_OK)
        return status;
    out->probe = &found->probe;
    status = replay_recorded_tables(r, found, &out->tables, &out->tables_length);
    if (status != WL_OK)
        return status;
    status = lay_out_trace(out, part->note, &found->probe, arena);
    if (status != WL_OK)
        return status;
    if (rewrite_has_probe(k, REWRITE_TRACE) && !rewrite_trace_is_readable(&out->trace->copy))
        return WL_UNSUPPORTED;
    status = find_variable_places(out, part, arena);
    if (status != WL_OK)
        return status;
    rewrite_read_trace(&out->trace->copy, count_recorded_access, out->trace);
    count_recorded_blocks(out->trace, emu_kernel_get(part->slice)->ncode);
    mark_covered(out);
    return WL_OK;
}

bool replay_recorded_traced(const replay_recorded_launch *launch, uint64_t block)
{
    return bsearch(&block, launch->blocks, launch->nblocks, sizeof block, wl_by_number) != NULL;
}

/* ---- the whole launch ---- */

/* The part of the instruction's accesses that was recorded; 1: all. */
static double share_of(const replay_recorded_launch *l, uint32_t pc)
{
    const struct replay_recorded_trace *t = l->trace;
    const replay_tally *seen = &t->seen[pc], *all = &t->counted[pc];
    if (all->executions != UINT64_MAX && all->executions >= seen->executions && seen->executions)
        return (double)seen->executions / (double)all->executions;
    double kept = (double)t->records / (double)(t->records + l->dropped);
    return t->blocks ? kept * (double)l->nblocks / (double)t->blocks : 1;
}

static bool is_block_counted(const obs_summary *s, uint32_t first_pc)
{
    for (uint32_t i = 0; i < s->nblocks; i++)
        if (s->blocks[i].first_pc == first_pc)
            return true;
    return false;
}

static void add_mix(const struct replay_recorded_trace *t, const obs_block_count *b, obs_summary *s)
{
    for (uint32_t pc = b->first_pc; pc < b->first_pc + b->ninsns; pc++) {
        ir_cost cost = emu_kernel_code(t->slice, pc).cost;
        s->mix.warp_instructions[cost] += b->executions;
        s->mix.thread_instructions[cost] += b->lanes;
    }
    s->warp_instructions += b->executions * b->ninsns;
    s->thread_instructions += b->lanes * b->ninsns;
}

static int by_pc(const void *a, const void *b)
{
    const obs_block_count *x = a, *y = b;
    return (x->first_pc > y->first_pc) - (x->first_pc < y->first_pc);
}

/* Basic blocks that the slice does not count. */
static wl_status add_recorded_blocks(const replay_recorded_launch *l, wl_arena *arena,
                                     obs_summary *s)
{
    const struct replay_recorded_trace *t = l->trace;
    uint32_t npcs = emu_kernel_get(t->slice)->ncode;
    obs_block_count *all = wl_new_array(arena, obs_block_count,
                                        s->nblocks + t->kernel->nblocks + 1);
    if (!all)
        return WL_NOMEM;
    uint32_t n = s->nblocks;
    if (n)
        memcpy(all, s->blocks, n * sizeof *all);
    for (uint32_t i = 0; i < t->kernel->nblocks; i++) {
        const rewrite_block *b = &t->kernel->blocks[i];
        obs_block_count one = {.first_pc = b->first_pc, .ninsns = b->ninsns};
        if (b->first_pc + b->ninsns > npcs || is_block_counted(s, b->first_pc) ||
            !rewrite_read_block(&t->copy, i, &one.executions, &one.lanes))
            continue;
        all[n++] = one;
        add_mix(t, &one, s);
    }
    qsort(all, n, sizeof *all, by_pc);
    s->blocks = all;
    s->nblocks = n;
    return WL_OK;
}

/* Lanes by how many ran the block, where that is known: blocks at the edge of the data have
 * fewer. */
static void scale_lanes(const struct replay_recorded_trace *t, obs_insn *row, uint64_t lanes)
{
    const replay_tally *seen = &t->seen[row->pc], *all = &t->counted[row->pc];
    if (all->executions != UINT64_MAX && seen->lanes && all->lanes >= seen->lanes)
        row->active_lanes = (uint64_t)llround((double)lanes * (double)all->lanes /
                                              (double)seen->lanes);
}

/* Where the slice shows how often a block runs, the device does not count it. */
static void use_counts(struct replay_recorded_trace *t, const obs_summary *s)
{
    for (uint32_t i = 0; i < s->nblocks; i++)
        if (t->counted[s->blocks[i].first_pc].executions == UINT64_MAX)
            tally_block(t, s->blocks[i].first_pc, s->blocks[i].ninsns,
                        (replay_tally){s->blocks[i].executions, s->blocks[i].lanes});
}

/* Which path each warp took, where the device tells. */
static wl_status add_recorded_paths(const replay_recorded_launch *l, wl_arena *arena,
                                    obs_summary *s)
{
    const rewrite_copy *copy = &l->trace->copy;
    uint64_t n = rewrite_npaths(copy);
    rewrite_warp_path *warps = n ? calloc(n, sizeof *warps) : NULL;
    if (!n)
        return WL_OK;
    for (uint64_t i = 0; warps && i < n; i++)
        (void)rewrite_read_path(copy, i, &warps[i]);
    wl_status status = warps ? replay_fold_paths(warps, n, arena, s) : WL_NOMEM;
    free(warps);
    return status;
}

wl_status replay_recorded_finish(replay_recorded_launch *l, wl_arena *arena, obs_summary *s)
{
    use_counts(l->trace, s);
    for (uint32_t i = 0; i < s->ninsns; i++) {
        obs_insn *row = &s->insns[i];
        double share = l->covered[row->pc] ? share_of(l, row->pc) : 1;
        uint64_t lanes = row->active_lanes;
        if (share < 1) {
            replay_scale_row(row, share);
            scale_lanes(l->trace, row, lanes);
            l->estimated = true;
        }
    }
    if (l->estimated && l->nblocks && l->nblocks < s->blocks_observed)
        s->blocks_observed = l->nblocks; /* not all that happened in the others was counted */
    s->dropped += l->dropped;
    wl_status status = add_recorded_blocks(l, arena, s);
    return status == WL_OK ? add_recorded_paths(l, arena, s) : status;
}
