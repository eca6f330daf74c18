/* Loads what detectors are given of a kernel, its instructions grouped by the object they touch. */
#include "analysis/input.h"

#include "flow/barriers.h"

#include <math.h>
#include <stdlib.h>

static int by_group(const void *a, const void *b)
{
    const prof_instruction *x = a, *y = b;
    if (x->c.object != y->c.object)
        return x->c.object < y->c.object ? -1 : 1;
    if (x->c.space != y->c.space)
        return x->c.space < y->c.space ? -1 : 1;
    return x->c.pc < y->c.pc ? -1 : x->c.pc > y->c.pc;
}

static bool is_before_group(uint32_t object, uint32_t space, const ana_group *g)
{
    return object < g->object || (object == g->object && space < g->space);
}

static bool is_of_group(uint32_t object, uint32_t space, const ana_group *g)
{
    return object == g->object && space == g->space;
}

/* The rows of each group: both come sorted by object and space. */
static void attach(ana_input *input, const prof_traffic_rows *traffic,
                   const prof_heat_info_rows *heats)
{
    uint32_t t = 0, h = 0;
    for (uint32_t i = 0; i < input->ngroups; i++) {
        ana_group *g = &input->groups[i];
        for (; t < traffic->count &&
               is_before_group(traffic->rows[t].object, traffic->rows[t].space, g);
             t++) {}
        for (; h < heats->count && is_before_group(heats->rows[h].object, heats->rows[h].space, g);
             h++) {}
        g->traffic = &traffic->rows[t];
        g->heats = &heats->rows[h];
        for (;
             t < traffic->count && is_of_group(traffic->rows[t].object, traffic->rows[t].space, g);
             t++) {
            g->ntraffic++;
            g->launches += traffic->rows[t].count;
        }
        for (; h < heats->count && is_of_group(heats->rows[h].object, heats->rows[h].space, g); h++)
            g->nheats++;
    }
}

static wl_status group_instructions(ana_input *input, const prof_instruction_rows *totals)
{
    input->groups = wl_new_array(input->scratch, ana_group, totals->count);
    if (!input->groups)
        return WL_NOMEM;
    if (totals->count)
        qsort(totals->rows, totals->count, sizeof *totals->rows, by_group);
    for (uint32_t i = 0; i < totals->count; i++) {
        const prof_instruction *row = &totals->rows[i];
        ana_group *last = input->ngroups ? &input->groups[input->ngroups - 1] : NULL;
        if (!last || !is_of_group(row->c.object, row->c.space, last)) {
            last = &input->groups[input->ngroups++];
            *last = (ana_group){.object = row->c.object, .space = row->c.space, .insns = row};
            last->info = prof_find_object(&input->program->objects, row->c.object);
        }
        last->ninsns++;
        input->totals[ANA_SECTORS] += (double)row->c.sectors;
        input->totals[ANA_WAVEFRONTS] += (double)row->c.wavefronts;
    }
    input->insns = totals->rows;
    input->ninsns = totals->count;
    return WL_OK;
}

uint32_t ana_multiprocessors(const ana_program *program, const prof_launch *launch)
{
    for (uint32_t i = 0; i < program->devices.count; i++) {
        const prof_device *d = &program->devices.rows[i];
        if (d->process == launch->process && d->ordinal == launch->device)
            return d->num_sms;
    }
    return 0;
}

double ana_room_of(const ana_program *program, const prof_launch *launch)
{
    double sms = ana_multiprocessors(program, launch), done = (double)launch->warp_instructions;
    double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    return blocks > 0 && blocks < sms ? done / blocks * sms : done;
}

static void add_shared_memory(ana_input *input)
{
    const prof_launch_rows *launches = &input->program->launches;
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        double blocks = (double)l->count * l->grid[0] * l->grid[1] * l->grid[2];
        if (l->kernel == input->kernel->id)
            input->totals[ANA_SHARED_BYTES] += blocks * ((double)l->static_shared +
                                                         (double)l->dynamic_shared);
    }
}

double ana_uneven_room(const ana_program *program, const prof_launch *l)
{
    double threads = (double)l->block[0] * l->block[1] * l->block[2];
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2],
           done = (double)l->warp_instructions;
    double sms = ana_multiprocessors(program, l), at_once = blocks < sms ? blocks : sms;
    double in_blocks = (double)l->longest_warps * ceil(threads / 32) - done;
    double of_blocks = blocks > 0 ? at_once * ((double)l->busiest_block - done / blocks) : 0;
    return (in_blocks > 0 ? in_blocks : 0) + (of_blocks > 0 ? of_blocks : 0);
}

static void add_room(ana_input *input)
{
    const prof_launch_rows *launches = &input->program->launches;
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        double room = ana_room_of(input->program, l) + ana_uneven_room(input->program, l);
        if (l->kernel == input->kernel->id)
            input->totals[ANA_INSTRUCTIONS] += (double)l->count * room;
    }
}

static bool is_fully_counted(const ana_input *input)
{
    const prof_launch_rows *launches = &input->program->launches;
    const prof_gap_rows *gaps = &input->program->gaps;
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        bool whole = !l->estimated && !l->dropped && l->blocks_observed == l->blocks_run;
        if (l->kernel == input->kernel->id && !whole)
            return false;
    }
    for (uint32_t i = 0; i < gaps->count; i++)
        if (gaps->rows[i].kernel == input->kernel->id)
            return false;
    return true;
}

static wl_status load_barriers(ana_input *input, wl_error *err)
{
    uint32_t kernel = input->kernel->id;
    prof_db *db = input->program->db;
    wl_status status = prof_load_barriers(db, kernel, input->scratch, &input->barriers, err);
    if (status != WL_OK || !input->barriers.count)
        return status;
    status = prof_load_successors(db, kernel, input->scratch, &input->successors, err);
    if (status == WL_OK)
        status = prof_load_premises(db, kernel, input->scratch, &input->premises, err);
    return status == WL_OK ? prof_load_accesses(db, kernel, input->scratch, &input->accesses, err)
                           : status;
}

wl_status ana_input_load(ana_input *input, wl_error *err)
{
    prof_instruction_rows totals;
    prof_traffic_rows traffic;
    prof_heat_info_rows heats;
    uint32_t kernel = input->kernel->id;
    prof_db *db = input->program->db;
    wl_arena *arena = input->scratch;
    wl_status status = prof_load_code(db, kernel, arena, &input->code, err);
    status = status == WL_OK ? prof_load_forms(db, kernel, arena, &input->forms, err) : status;
    status = status == WL_OK ? load_barriers(input, err) : status;
    status = status == WL_OK ? prof_load_instruction_totals(db, kernel, arena, &totals, err)
                             : status;
    status = status == WL_OK ? prof_load_kind_samples(db, kernel, arena, &input->samples, err)
                             : status;
    status = status == WL_OK ? prof_load_uses(db, kernel, arena, &input->uses, err) : status;
    status = status == WL_OK ? prof_load_traffic(db, kernel, arena, &traffic, err) : status;
    status = status == WL_OK ? prof_load_heats(db, kernel, arena, &heats, err) : status;
    if (status != WL_OK)
        return status;
    if (group_instructions(input, &totals) != WL_OK)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (uint32_t i = 0; i < input->barriers.count; i++)
        if (input->barriers.rows[i].meets != FLOW_MEETS_WARP)
            input->totals[ANA_BARRIERS] += (double)input->barriers.rows[i].executions;
    attach(input, &traffic, &heats);
    add_room(input);
    add_shared_memory(input);
    input->counted = is_fully_counted(input);
    return WL_OK;
}

double ana_alike(const ana_input *input, const prof_heat_info *heat)
{
    uint32_t low = 0, high = input->samples.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const prof_sample *p = &input->samples.rows[middle];
        if (p->launch < heat->launch || (p->launch == heat->launch && p->s.block < heat->block))
            low = middle + 1;
        else
            high = middle;
    }
    const prof_sample *found = low < input->samples.count ? &input->samples.rows[low] : NULL;
    bool same_block = found && found->launch == heat->launch && found->s.block == heat->block;
    return same_block && found->s.alike ? (double)found->s.alike : 1;
}

bool ana_maps_all_blocks(const ana_input *input, const ana_group *group)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < group->ntraffic; i++) {
        uint32_t launch = group->traffic[i].launch, first;
        for (; at < group->nheats && group->heats[at].launch < launch; at++) {}
        for (first = at; at < group->nheats && group->heats[at].launch == launch; at++) {}
        const prof_launch *l = prof_find_launch(&input->program->launches, launch);
        if (!l || at - first < l->blocks_run)
            return false;
    }
    return true;
}
