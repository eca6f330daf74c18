/* Callers that tell apart what is done at one place: that of a helper which several callers use. */
#include "profile/builder.h"

#include <string.h>

enum { MOST_CALLERS = 8 };

typedef struct shared_place { /* of one line and variable */
    const char *key;
    uint32_t seen,
        differs;         /* levels of callers: that was looked at; where they differ, 0: nowhere */
    uint32_t file, line; /* of the first one's caller at the level */
    UT_hash_handle hh;
} shared_place;

/* The application's frame `level` calls outwards; NULL: there is none. */
static const stack_frame *caller_at(const called_place *row, uint32_t level)
{
    for (uint32_t i = row->frame + 1; i < row->stack->count; i++) {
        const stack_frame *f = &row->stack->frames[i];
        if (f->file && f->line && !f->system && --level == 0)
            return f;
    }
    return NULL;
}

static shared_place *place_shared_by(wl_arena *arena, shared_place **all, const called_place *row)
{
    shared_place *place = NULL;
    const stack_frame *f = &row->stack->frames[row->frame];
    const char *key = wl_arena_printf(arena, "%u %u %s", f->file, f->line, row->variable);
    if (!key)
        return NULL;
    HASH_FIND_STR(*all, key, place);
    if (place || !(place = wl_new(arena, shared_place)))
        return place;
    place->key = key;
    HASH_ADD_KEYPTR(hh, *all, place->key, strlen(place->key), place);
    return place->hh.tbl ? place : NULL;
}

static void compare_callers(shared_place *place, const called_place *row, uint32_t level)
{
    const stack_frame *f = caller_at(row, level);
    uint32_t file = f ? f->file : 0, line = f ? f->line : 0;
    bool first = place->seen < level;
    if (!first && !place->differs && (place->file != file || place->line != line))
        place->differs = level;
    if (first) {
        place->seen = level;
        place->file = file;
        place->line = line;
    }
}

bool builder_find_callers(wl_arena *arena, called_place *rows, size_t count)
{
    shared_place *all = NULL, **places = wl_new_array(arena, shared_place *, count + 1);
    bool good = places != NULL;
    for (size_t i = 0; i < count && good; i++) {
        places[i] = place_shared_by(arena, &all, &rows[i]);
        good = places[i] != NULL;
    }
    for (uint32_t level = 1; level <= MOST_CALLERS && good; level++)
        for (size_t i = 0; i < count; i++)
            if (!places[i]->differs || places[i]->differs == level)
                compare_callers(places[i], &rows[i], level);
    for (size_t i = 0; i < count && good; i++)
        if (places[i]->differs)
            rows[i].caller = caller_at(&rows[i], places[i]->differs);
    HASH_CLEAR(hh, all);
    return good;
}

/* ---- of calls ---- */

static called_place *list_stacks(const prof_builder *b, wl_arena *arena, size_t *count)
{
    called_place *rows = wl_new_array(arena, called_place, (size_t)b->nstacks + 1);
    *count = 0;
    for (const stack *s = b->stacks; rows && s; s = s->hh.next)
        if (s->site < s->count)
            rows[(*count)++] = (called_place){s, s->site, "", NULL};
    return rows;
}

wl_status builder_callers(prof_builder *b, wl_error *err)
{
    size_t count = 0;
    wl_arena *arena = wl_arena_new();
    called_place *rows = arena ? list_stacks(b, arena, &count) : NULL;
    wl_status status = rows && builder_find_callers(arena, rows, count) ? WL_OK : NOMEM(err);
    for (size_t i = 0; i < count && status == WL_OK; i++) {
        const prof_caller row = {rows[i].stack->id, rows[i].caller ? rows[i].caller->file : 0,
                                 rows[i].caller ? rows[i].caller->line : 0};
        if (row.line)
            status = table_insert_callers(b->insert[TABLE_callers], &row, err);
    }
    wl_arena_free(arena);
    return status;
}
