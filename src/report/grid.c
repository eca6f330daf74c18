/* Tables in a terminal: columns that fit its width. */
#include "report/impl.h"

#include "base/vec.h"

#include <string.h>

enum { GAP = 2, NARROWEST = 12, COMFORTABLE = 28 }; /* widths of flexible columns */

struct rep_grid {
    wl_arena *arena;
    const rep_column *columns;
    size_t ncolumns, nrows, room;
    const char ***rows; /* ncolumns cells; NULL and the text for a banner */
};

rep_grid *rep_grid_new(wl_arena *arena, const rep_column *columns, size_t ncolumns)
{
    rep_grid *grid = wl_new(arena, rep_grid);
    if (grid)
        *grid = (rep_grid){.arena = arena, .columns = columns, .ncolumns = ncolumns};
    return grid;
}

static bool make_row_room(rep_grid *grid)
{
    if (grid->nrows < grid->room)
        return true;
    size_t room = grid->room ? grid->room * 2 : 16;
    const char ***rows = wl_new_array(grid->arena, const char **, room);
    if (!rows)
        return false;
    if (grid->nrows > 0)
        memcpy(rows, grid->rows, grid->nrows * sizeof *rows);
    grid->rows = rows;
    grid->room = room;
    return true;
}

bool rep_grid_add(rep_grid *grid, const char *const *cells)
{
    const char **row = wl_new_array(grid->arena, const char *, grid->ncolumns);
    if (!row || !make_row_room(grid))
        return false;
    for (size_t i = 0; i < grid->ncolumns; i++)
        row[i] = cells[i] ? cells[i] : "";
    grid->rows[grid->nrows++] = row;
    return true;
}

bool rep_grid_banner(rep_grid *grid, const char *text)
{
    const char **row = wl_new_array(grid->arena, const char *, 2);
    if (!row || !make_row_room(grid))
        return false;
    row[1] = text;
    grid->rows[grid->nrows++] = row;
    return true;
}

/* The widest cell of a column, the heading counted only where there is any content. */
static size_t natural_width(const rep_grid *grid, size_t column)
{
    size_t widest = 0;
    for (size_t r = 0; r < grid->nrows; r++) {
        size_t width = grid->rows[r][0] ? rep_width(grid->rows[r][column]) : 0;
        widest = width > widest ? width : widest;
    }
    size_t head = rep_width(grid->columns[column].head);
    return widest == 0 ? 0 : widest > head ? widest : head;
}

static size_t total_width(const rep_grid *grid, const size_t *widths, size_t indent,
                          size_t flexible)
{
    size_t total = indent;
    for (size_t i = 0; i < grid->ncolumns; i++) {
        bool cut = grid->columns[i].flexible && widths[i] > flexible;
        total += widths[i] ? (cut ? flexible : widths[i]) + GAP : 0;
    }
    return total > indent ? total - GAP : total;
}

/* The column that goes next when there is no room; ncolumns when none may. */
static size_t most_spare(const rep_grid *grid, const size_t *widths)
{
    size_t found = grid->ncolumns;
    for (size_t i = 0; i < grid->ncolumns; i++)
        if (widths[i] && grid->columns[i].spare &&
            (found == grid->ncolumns || grid->columns[i].spare > grid->columns[found].spare))
            found = i;
    return found;
}

/* Leaves out spare columns, then takes from the flexible ones, the widest first, until a row
 * fits. */
static void fit(const rep_grid *grid, size_t *widths, size_t indent, size_t most)
{
    while (most && total_width(grid, widths, indent, COMFORTABLE) > most) {
        size_t spare = most_spare(grid, widths);
        if (spare == grid->ncolumns)
            break;
        widths[spare] = 0;
    }
    while (most && total_width(grid, widths, indent, SIZE_MAX) > most) {
        size_t widest = grid->ncolumns;
        for (size_t i = 0; i < grid->ncolumns; i++)
            if (grid->columns[i].flexible && widths[i] > NARROWEST &&
                (widest == grid->ncolumns || widths[i] > widths[widest]))
                widest = i;
        if (widest == grid->ncolumns)
            return;
        widths[widest]--;
    }
}

static void spaces(FILE *out, size_t count)
{
    fprintf(out, "%*s", (int)count, "");
}

static void draw_row(const rep_grid *grid, const size_t *widths, const char *const *cells,
                     unsigned indent, FILE *out)
{
    size_t pending = indent;
    for (size_t i = 0; i < grid->ncolumns; i++) {
        if (!widths[i])
            continue;
        const rep_column *column = &grid->columns[i];
        const char *text = column->middle ? rep_shorten_middle(grid->arena, cells[i], widths[i])
                                          : rep_shorten_end(grid->arena, cells[i], widths[i]);
        size_t width = text ? rep_width(text) : 0;
        size_t pad = widths[i] - (width < widths[i] ? width : widths[i]);
        if (width > 0) { /* nothing after the last cell */
            spaces(out, pending + (column->right ? pad : 0));
            fputs(text, out);
            pending = GAP + (column->right ? 0 : pad);
        } else {
            pending += pad + GAP;
        }
    }
    fputc('\n', out);
}

void rep_grid_draw(const rep_grid *grid, unsigned indent, unsigned width, const char *head_on,
                   const char *head_off, FILE *out)
{
    size_t *widths = wl_new_array(grid->arena, size_t, grid->ncolumns);
    const char **heads = wl_new_array(grid->arena, const char *, grid->ncolumns);
    if (!widths || !heads)
        return;
    for (size_t i = 0; i < grid->ncolumns; i++) {
        widths[i] = natural_width(grid, i);
        heads[i] = grid->columns[i].head;
    }
    fit(grid, widths, indent, width);
    fputs(head_on, out);
    draw_row(grid, widths, heads, indent, out);
    fputs(head_off, out);
    for (size_t r = 0; r < grid->nrows; r++)
        if (grid->rows[r][0])
            draw_row(grid, widths, grid->rows[r], indent, out);
        else
            fprintf(out, "%*s%s\n", (int)indent, "", grid->rows[r][1]);
}
