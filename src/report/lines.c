/* The source lines of kernels, with what their accesses cost together. */
#include "analysis/places.h"
#include "report/impl.h"

#include <stdlib.h>

bool rep_same_place(const rep_line *a, const rep_line *b)
{
    if (a->kernel != b->kernel)
        return false;
    return a->line ? a->file == b->file && a->line == b->line : !b->line && a->pc == b->pc;
}

bool rep_same_line(const rep_line *a, const rep_line *b)
{
    return rep_same_place(a, b) && a->helper_file == b->helper_file &&
           a->helper_line == b->helper_line;
}

static bool same_access(const rep_line *a, const rep_line *b)
{
    return rep_same_line(a, b) && a->op == b->op && a->space == b->space;
}

static void sum_line(rep_line *to, const rep_line *from)
{
    to->requests += from->requests;
    to->active_lanes += from->active_lanes;
    to->sectors += from->sectors;
    to->sectors_min += from->sectors_min;
    to->wavefronts += from->wavefronts;
    to->wavefronts_min += from->wavefronts_min;
}

static rep_line line_of_instruction(const ana_places *in, const prof_instruction *i)
{
    const prof_code *code = prof_find_code(&in->code, i->kernel, i->c.pc);
    ana_source helper = {0}, at = code ? ana_source_of(in, code, &helper) : (ana_source){0};
    bool known = at.file && at.line;
    return (rep_line){.kernel = i->kernel,
                      .file = known ? at.file : 0,
                      .line = known ? at.line : 0,
                      .helper_file = helper.file,
                      .helper_line = helper.line,
                      .pc = i->c.pc,
                      .op = i->c.op,
                      .space = i->c.space,
                      .requests = i->c.requests,
                      .active_lanes = i->c.active_lanes,
                      .sectors = i->c.sectors,
                      .sectors_min = i->c.sectors_min,
                      .wavefronts = i->c.wavefronts,
                      .wavefronts_min = i->c.wavefronts_min};
}

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

/* The caller's own accesses come before those of the helpers that were inlined there. */
static int by_line_and_access(const void *left, const void *right)
{
    const rep_line *a = left, *b = right;
    int order = ORDER(a->kernel, b->kernel);
    order = order ? order : ORDER(a->file, b->file);
    order = order ? order : ORDER(a->line, b->line);
    order = order ? order : ORDER(a->helper_file, b->helper_file);
    order = order ? order : ORDER(a->helper_line, b->helper_line);
    order = order ? order : ORDER(a->pc, b->pc);
    order = order ? order : ORDER(a->space, b->space);
    return order ? order : ORDER(a->op, b->op);
}

/* Adds up neighbours in the sorted rows. A line's rows stand together, but ways to access may
 * alternate, so a row looks back over its whole line. */
static uint32_t merge_lines(rep_line *rows, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = kept;
        while (k > 0 && rep_same_line(&rows[k - 1], &rows[i]) &&
               !same_access(&rows[k - 1], &rows[i]))
            k--;
        if (k > 0 && same_access(&rows[k - 1], &rows[i]))
            sum_line(&rows[k - 1], &rows[i]);
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

/* Rows come by kernel. */
static prof_code_rows code_of_kernel(const prof_code_rows *all, uint32_t kernel)
{
    uint32_t from = 0;
    while (from < all->count && all->rows[from].kernel < kernel)
        from++;
    uint32_t end = from;
    while (end < all->count && all->rows[end].kernel == kernel)
        end++;
    return (prof_code_rows){.count = end - from, .rows = all->rows + from};
}

wl_status rep_lines_of(const rep_data *data, wl_arena *arena, rep_lines *out)
{
    const prof_instruction_rows *totals = &data->totals;
    rep_line *rows = wl_new_array(arena, rep_line, totals->count + 1);
    ana_places in = {.files = &data->files, .locs = &data->locs};
    if (!rows)
        return WL_NOMEM;
    for (uint32_t i = 0; i < totals->count; i++) {
        uint32_t kernel = totals->rows[i].kernel;
        if (i == 0 || totals->rows[i - 1].kernel != kernel)
            in.code = code_of_kernel(&data->code, kernel);
        rows[i] = line_of_instruction(&in, &totals->rows[i]);
    }
    qsort(rows, totals->count, sizeof *rows, by_line_and_access);
    out->rows = rows;
    out->count = merge_lines(rows, totals->count);
    return WL_OK;
}
