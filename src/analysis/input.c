#include "analysis/input.h"

#include <stdlib.h>

static int by_group(const void *a, const void *b)
{
    const prof_instruction *x = a, *y = b;
    if (x->c.object != y->c.object) {
        return x->c.object < y->c.object ? -1 : 1;
    }
    if (x->c.space != y->c.space) {
        return x->c.space < y->c.space ? -1 : 1;
    }
    return x->c.pc < y->c.pc ? -1 : x->c.pc > y->c.pc;
}

static bool before(uint32_t object, uint32_t space, const ana_group *g)
{
    return object < g->object || (object == g->object && space < g->space);
}

static bool same(uint32_t object, uint32_t space, const ana_group *g)
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
        for (; t < traffic->count && before(traffic->rows[t].object, traffic->rows[t].space, g);
             t++) {}
        for (; h < heats->count && before(heats->rows[h].object, heats->rows[h].space, g); h++) {}
        g->traffic = &traffic->rows[t];
        g->heats = &heats->rows[h];
        for (; t < traffic->count && same(traffic->rows[t].object, traffic->rows[t].space, g);
             t++) {
            g->ntraffic++;
        }
        for (; h < heats->count && same(heats->rows[h].object, heats->rows[h].space, g); h++) {
            g->nheats++;
        }
    }
}

static wl_status group(ana_input *input, const prof_instruction_rows *totals,
                       const prof_object_rows *objects)
{
    input->groups = wl_new_array(input->scratch, ana_group, totals->count);
    if (!input->groups) {
        return WL_NOMEM;
    }
    if (totals->count) {
        qsort(totals->rows, totals->count, sizeof *totals->rows, by_group);
    }
    for (uint32_t i = 0; i < totals->count; i++) {
        const prof_instruction *row = &totals->rows[i];
        ana_group *last = input->ngroups ? &input->groups[input->ngroups - 1] : NULL;
        if (!last || !same(row->c.object, row->c.space, last)) {
            last = &input->groups[input->ngroups++];
            *last = (ana_group){.object = row->c.object, .space = row->c.space, .insns = row};
            last->info = prof_find_object(objects, row->c.object);
        }
        last->ninsns++;
        input->sectors += row->c.sectors;
        input->wavefronts += row->c.wavefronts;
    }
    return WL_OK;
}

wl_status ana_input_load(ana_input *input, const prof_object_rows *objects, wl_error *err)
{
    prof_instruction_rows totals;
    prof_traffic_rows traffic;
    prof_heat_info_rows heats;
    uint32_t kernel = input->kernel->id;
    wl_arena *arena = input->scratch;
    wl_status status = prof_load_code(input->db, kernel, arena, &input->code, err);
    status = status == WL_OK ? prof_load_instruction_totals(input->db, kernel, arena, &totals, err)
                             : status;
    status = status == WL_OK ? prof_load_samples(input->db, kernel, arena, &input->samples, err)
                             : status;
    status = status == WL_OK ? prof_load_traffic(input->db, kernel, arena, &traffic, err) : status;
    status = status == WL_OK ? prof_load_heats(input->db, kernel, arena, &heats, err) : status;
    if (status != WL_OK) {
        return status;
    }
    if (group(input, &totals, objects) != WL_OK) {
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    }
    attach(input, &traffic, &heats);
    return WL_OK;
}

double ana_alike(const ana_input *input, const prof_heat_info *heat)
{
    uint32_t low = 0, high = input->samples.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const prof_sample *p = &input->samples.rows[middle];
        if (p->launch < heat->launch || (p->launch == heat->launch && p->s.block < heat->block)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const prof_sample *found = low < input->samples.count ? &input->samples.rows[low] : NULL;
    bool same = found && found->launch == heat->launch && found->s.block == heat->block;
    return same && found->s.alike ? (double)found->s.alike : 1;
}

void ana_add_evidence(ana_draft *draft, const char *name, const char *label, double value,
                      const char *unit)
{
    if (draft->nevidence < sizeof draft->evidence / sizeof *draft->evidence) {
        draft->evidence[draft->nevidence++] = (ana_evidence){name, label, value, unit};
    }
}

const char *ana_object_text(const prof_object *o)
{
    return !o ? "memory of no known allocation" : o->variable[0] ? o->variable : "this object";
}

ana_sector ana_sector_of(const obs_heat_row *row, const prof_object *object)
{
    uint64_t base = object ? object->base % OBS_SECTOR_BYTES : 0;
    ana_sector sector = {
        .offset = row->sector * OBS_SECTOR_BYTES - base,
        .temperature = (uint32_t)__builtin_popcount(row->history),
    };
    for (int i = 0; i < OBS_WORDS_PER_SECTOR; i++) {
        sector.word[i] = (uint32_t)__builtin_popcount(row->word[i]);
    }
    return sector;
}

ana_draft *ana_draft_add(ana_drafts *drafts, const ana_input *input, const ana_group *group,
                         ana_pattern pattern)
{
    if (drafts->count == drafts->capacity) {
        uint32_t capacity = drafts->capacity ? drafts->capacity * 2 : 16;
        ana_draft *rows = realloc(drafts->rows, capacity * sizeof *rows);
        if (!rows) {
            return NULL;
        }
        drafts->rows = rows;
        drafts->capacity = capacity;
    }
    double *excess = wl_new_array(input->scratch, double, group->ninsns);
    if (!excess) {
        return NULL;
    }
    drafts->rows[drafts->count] = (ana_draft){
        .pattern = pattern, .group = group, .insn_excess = excess};
    return &drafts->rows[drafts->count++];
}
