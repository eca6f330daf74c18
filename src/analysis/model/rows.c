/* The rows of a profile that one launch after the other is worked out from. */
#include "analysis/model/parts.h"

typedef struct row_key { /* what rows of launches begin with */
    uint32_t launch, kernel;
} row_key;

static bool comes_before(const row_key *row, const prof_launch *l)
{
    return row->kernel != l->kernel ? row->kernel < l->kernel : row->launch < l->id;
}

static const row_key *row_at(const model_cursor *c)
{
    return c->at < c->count ? (const void *)((const char *)c->rows + c->at * c->size) : NULL;
}

/* The rows of the launch; *count of them. */
static const void *take_rows(model_cursor *c, const prof_launch *l, uint32_t *count)
{
    while (row_at(c) && comes_before(row_at(c), l))
        c->at++;
    const void *first = row_at(c);
    uint32_t before = c->at;
    while (row_at(c) && row_at(c)->kernel == l->kernel && row_at(c)->launch == l->id)
        c->at++;
    *count = c->at - before;
    return first;
}

static size_t most_of_launch(const prof_instruction_rows *rows)
{
    size_t most = 0, first = 0;
    for (size_t i = 0; i < rows->count; i++) {
        bool same = rows->rows[i].launch == rows->rows[first].launch &&
                    rows->rows[i].kernel == rows->rows[first].kernel;
        first = same ? first : i;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return most;
}

#define CURSOR(table) (model_cursor){(table).rows, sizeof *(table).rows, (table).count, 0}

wl_status model_rows_load(prof_db *profile, wl_arena *arena, model_rows **out, wl_error *err)
{
    prof_instruction_rows instructions;
    prof_touched_rows touched;
    prof_reuse_rows reuses;
    prof_work_rows work;
    prof_wait_rows waits;
    model_rows *rows = *out = wl_new(arena, model_rows);
    if (!rows)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    wl_status status = prof_load_objects(profile, arena, &rows->objects, err);
    if (status == WL_OK)
        status = prof_load_code(profile, PROF_ALL, arena, &rows->code, err);
    if (status == WL_OK)
        status = prof_load_forms(profile, PROF_ALL, arena, &rows->forms, err);
    if (status == WL_OK)
        status = prof_load_static_blocks(profile, PROF_ALL, arena, &rows->blocks, err);
    if (status == WL_OK)
        status = prof_load_kind_instructions(profile, arena, &instructions, err);
    if (status == WL_OK)
        status = prof_load_touched(profile, arena, &touched, err);
    if (status == WL_OK)
        status = prof_load_reuses(profile, arena, &reuses, err);
    if (status == WL_OK)
        status = prof_load_work(profile, arena, &work, err);
    if (status == WL_OK)
        status = prof_load_waits(profile, arena, &waits, err);
    if (status != WL_OK)
        return status;
    rows->all = instructions;
    rows->instructions = CURSOR(instructions);
    rows->touched = CURSOR(touched);
    rows->reuses = CURSOR(reuses);
    rows->work = CURSOR(work);
    rows->waits = CURSOR(waits);
    rows->changed = wl_new_array(arena, prof_instruction, most_of_launch(&instructions) + 1);
    return rows->changed ? WL_OK
                         : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

static void rewind_cursor(model_cursor *c, uint32_t kernel)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        c->at = low + (high - low) / 2;
        if (row_at(c)->kernel < kernel)
            low = c->at + 1;
        else
            high = c->at;
    }
    c->at = low;
}

void model_rows_rewind(model_rows *rows, uint32_t kernel)
{
    rewind_cursor(&rows->instructions, kernel);
    rewind_cursor(&rows->touched, kernel);
    rewind_cursor(&rows->reuses, kernel);
    rewind_cursor(&rows->work, kernel);
    rewind_cursor(&rows->waits, kernel);
    rows->last = (model_kept){0};
}

model_launch_rows model_take_launch(model_rows *rows, const prof_launch *launch)
{
    model_launch_rows l;
    l.insns = take_rows(&rows->instructions, launch, &l.ninsns);
    l.touched = take_rows(&rows->touched, launch, &l.ntouched);
    l.reuses = take_rows(&rows->reuses, launch, &l.nreuses);
    l.work = take_rows(&rows->work, launch, &l.nwork);
    l.waits = take_rows(&rows->waits, launch, &l.nwaits);
    return l;
}
