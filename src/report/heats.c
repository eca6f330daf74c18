/* Which heat maps of the profile an HTML report holds, and their rows. */
#include "report/impl.h"

#include <stdlib.h>

enum { MAX_HEAT_ROWS = 1 << 22, MAX_BLOCKS = 4 }; /* of all maps together; maps of one launch */

/* A map of the profile by one of its numbers: sorted, equal ones stand side by side. */
typedef struct numbered_map {
    uint32_t number, index;
} numbered_map;

static int by_number(const void *a, const void *b)
{
    const numbered_map *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The launch whose map of an object tells most: a finding's example, else the one that moved
 * most. */
static uint32_t telling_launch(const rep_data *d, uint32_t kernel, uint32_t object)
{
    for (uint32_t i = 0; i < d->findings->count; i++) {
        const ana_finding *f = &d->findings->rows[i];
        if (rep_is_about(f, kernel, object))
            return f->access->example_launch;
    }
    for (uint32_t i = 0; i < d->totals.count; i++) {
        const prof_instruction *row = &d->totals.rows[i];
        if (row->kernel == kernel && row->c.object == object)
            return row->launch;
    }
    return 0;
}

static bool has_finding(const rep_data *d, const prof_heat_info *info)
{
    for (uint32_t i = 0; i < d->findings->count; i++)
        if (rep_is_about(&d->findings->rows[i], info->kernel, info->object))
            return true;
    return false;
}

/* Marks up to MAX_BLOCKS maps with different content of each kernel and object: those of one
 * launch. */
static void choose_some(const rep_data *d, const prof_heat_info_rows *infos, bool *chosen)
{
    for (uint32_t i = 0, end; i < infos->count; i = end) {
        const prof_heat_info *first = &infos->rows[i];
        for (end = i; end < infos->count && infos->rows[end].kernel == first->kernel &&
                      infos->rows[end].object == first->object;)
            end++;
        uint32_t launch = telling_launch(d, first->kernel, first->object), taken = 0, last = 0;
        bool there = false;
        for (uint32_t k = i; k < end; k++)
            there |= infos->rows[k].launch == launch;
        for (uint32_t k = i; k < end && taken < MAX_BLOCKS; k++) {
            if (infos->rows[k].launch != (there ? launch : first->launch))
                continue;
            if (taken > 0 && infos->rows[k].content && infos->rows[k].content == last)
                continue;
            last = infos->rows[k].content;
            chosen[k] = true;
            taken++;
        }
    }
}

/* Launches that did the same share a map: marks each map once, at the first launch that has it.
 * Returns how many there are. `sorted` has room for all. */
static uint32_t mark_each_once(const prof_heat_info_rows *infos, numbered_map *sorted, bool *chosen)
{
    uint32_t maps = 0;
    for (uint32_t i = 0; i < infos->count; i++)
        sorted[i] = (numbered_map){infos->rows[i].id, i};
    qsort(sorted, infos->count, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < infos->count; i++) {
        chosen[sorted[i].index] = i == 0 || sorted[i].number != sorted[i - 1].number;
        maps += chosen[sorted[i].index];
    }
    return maps;
}

/* Loads the chosen maps, those with findings first, as long as the rows fit. */
static wl_status load_some(prof_db *db, const prof_heat_info_rows *infos, const bool *chosen,
                           wl_arena *arena, rep_data *d, wl_error *err)
{
    uint64_t room = MAX_HEAT_ROWS;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < infos->count; i++) {
            const prof_heat_info *info = &infos->rows[i];
            if (!chosen[i] || has_finding(d, info) != (pass == 0) || info->nrows > room)
                continue;
            room -= info->nrows;
            d->heat_same[d->nheats] = d->nheats;
            wl_status status = prof_load_heat(db, info->id, arena, &d->heats[d->nheats], err);
            if (status != WL_OK)
                return status;
            d->nheats++;
        }
    return WL_OK;
}

/* Loads all chosen maps, in their order. Rows of equal content are loaded once. */
static wl_status load_all(prof_db *db, const prof_heat_info_rows *infos, const bool *chosen,
                          numbered_map *sorted, wl_arena *arena, rep_data *d, wl_error *err)
{
    for (uint32_t i = 0; i < infos->count; i++) {
        if (!chosen[i])
            continue;
        sorted[d->nheats] = (numbered_map){infos->rows[i].content, d->nheats};
        d->heats[d->nheats++].info = infos->rows[i];
    }
    qsort(sorted, d->nheats, sizeof *sorted, by_number);
    uint32_t same = 0;
    for (uint32_t i = 0; i < d->nheats; i++) {
        prof_heat *heat = &d->heats[sorted[i].index];
        bool again = i > 0 && sorted[i].number == sorted[i - 1].number;
        same = again ? same : sorted[i].index;
        d->heat_same[sorted[i].index] = same;
        if (again) {
            heat->rows = d->heats[same].rows;
            heat->npcsets = d->heats[same].npcsets;
            heat->pcsets = d->heats[same].pcsets;
            continue;
        }
        wl_status status = prof_load_heat(db, heat->info.id, arena, heat, err);
        if (status != WL_OK)
            return status;
    }
    return WL_OK;
}

wl_status rep_load_heats(prof_db *db, bool all, wl_arena *arena, rep_data *d, wl_error *err)
{
    prof_heat_info_rows infos = {0};
    wl_status status = prof_load_heats(db, PROF_ALL, arena, &infos, err);
    if (status != WL_OK)
        return status;
    size_t room = (size_t)infos.count + 1;
    numbered_map *sorted = wl_new_array(arena, numbered_map, room);
    bool *chosen = wl_new_array(arena, bool, room), *some = wl_new_array(arena, bool, room);
    d->heats = wl_new_array(arena, prof_heat, room);
    d->heat_same = wl_new_array(arena, uint32_t, room);
    if (!sorted || !chosen || !some || !d->heats || !d->heat_same)
        return wl_fail(err, WL_NOMEM, "not enough memory for the report's heat maps");
    uint32_t maps = mark_each_once(&infos, sorted, chosen);
    choose_some(d, &infos, some);
    status = all ? load_all(db, &infos, chosen, sorted, arena, d, err)
                 : load_some(db, &infos, some, arena, d, err);
    d->all_heats = all;
    d->heats_left_out = maps > d->nheats ? maps - d->nheats : 0;
    return status;
}
