/* Drafts: patterns as detectors note them, before they are judged. */
#include "analysis/input.h"

#include <stdlib.h>

static bool reserve_draft(ana_drafts *drafts)
{
    if (drafts->count < drafts->capacity)
        return true;
    uint32_t capacity = drafts->capacity ? drafts->capacity * 2 : 16;
    ana_draft *rows = realloc(drafts->rows, capacity * sizeof *rows);
    if (rows) {
        drafts->rows = rows;
        drafts->capacity = capacity;
    }
    return rows != NULL;
}

ana_draft *ana_draft_add(ana_drafts *drafts, const ana_input *input, ana_pattern pattern)
{
    const ana_group *group = input->group;
    ana_draft draft = {.pattern = pattern,
                       .scope = input->scope,
                       .kernel = input->kernel ? input->kernel->id : 0,
                       .object = group           ? group->object
                                 : input->object ? input->object->id
                                                 : 0,
                       .group = group,
                       .unit = ana_pattern_get(pattern)->unit,
                       .told = ana_pattern_get(pattern)->told,
                       .ninsns = group ? group->ninsns : input->ninsns,
                       .insns = group ? group->insns : input->insns};
    draft.insn_excess = wl_new_array(input->scratch, double, draft.ninsns);
    if (!draft.insn_excess || !reserve_draft(drafts))
        return NULL;
    drafts->rows[drafts->count] = draft;
    return &drafts->rows[drafts->count++];
}

ana_draft *ana_draft_add_of(ana_drafts *drafts, const ana_input *input, const ana_group *group,
                            ana_pattern pattern)
{
    ana_input of_group = *input;
    of_group.group = group;
    of_group.scope = ANA_SCOPE_KERNEL_AND_OBJECT;
    return ana_draft_add(drafts, &of_group, pattern);
}

const ana_group *ana_group_of(const ana_input *input, acc_space space, uint32_t object)
{
    for (uint32_t g = 0; g < input->ngroups; g++)
        if (input->groups[g].space == space && input->groups[g].object == object)
            return &input->groups[g];
    return NULL;
}

double ana_charged(const ana_drafts *drafts, const ana_group *group, uint32_t insn)
{
    double sum = 0;
    for (uint32_t i = 0; i < drafts->count; i++)
        sum += drafts->rows[i].group == group ? drafts->rows[i].insn_excess[insn] : 0;
    return sum;
}

void ana_add_evidence(ana_draft *draft, const char *name, const char *label, double value,
                      const char *unit)
{
    if (draft->nevidence < sizeof draft->evidence / sizeof *draft->evidence)
        draft->evidence[draft->nevidence++] = (ana_evidence){name, label, value, unit};
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
    for (int i = 0; i < OBS_WORDS_PER_SECTOR; i++)
        sector.word[i] = (uint32_t)__builtin_popcount(row->word[i]);
    return sector;
}
