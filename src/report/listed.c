/* `stats --code`: each kernel's source, PTX and machine code in a terminal. Under a source line stands its
 * PTX, and beside each instruction what was made from it. */
#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>

/* An instruction of one of the forms. */
typedef struct code_item {
    uint32_t pc, ptx_line, file, line;
    const char *text;
    uint64_t executions;
    bool counted;
} code_item;

typedef struct code_list {
    uint32_t count;
    code_item *items; /* by pc */
    bool known;       /* there is such code */
} code_list;

typedef struct listed_kernel {
    const rep_terminal *t;
    code_list ptx, sass;
    const prof_listing *listing; /* of the form that was not measured; NULL: there is none */
    const prof_kernel *kernel;
    bool related; /* by lines of the PTX */
    uint8_t *put; /* [sass.count]: it stands in the table */
    rep_grid *grid;
} listed_kernel;

/* ---- the two forms ---- */

static bool take_measured(const rep_terminal *t, uint32_t kernel, code_list *out)
{
    const rep_data *d = t->d;
    uint32_t first = rep_first_code_of(d, kernel), end = first;
    while (end < d->code.count && d->code.rows[end].kernel == kernel)
        end++;
    *out = (code_list){end - first, wl_new_array(t->arena, code_item, (size_t)(end - first) + 1),
                       end > first};
    const prof_block *at = rep_first_block_of(d, kernel);
    for (uint32_t i = 0; out->items && i < out->count; i++) {
        const prof_code *c = &d->code.rows[first + i];
        const prof_block *block = rep_block_at(d, &at, kernel, c->pc);
        out->items[i] = (code_item){c->pc,        c->ptx_line, c->file,
                                    c->line,      c->text,     block ? block->executions : 0,
                                    block != NULL};
    }
    return out->items != NULL;
}

static bool take_listed(const rep_terminal *t, const prof_listing *l, code_list *out)
{
    uint32_t count = l->insns ? l->ninsns : 0;
    *out = (code_list){count, wl_new_array(t->arena, code_item, (size_t)count + 1), count > 0};
    for (uint32_t i = 0; out->items && i < count; i++) {
        const prof_listed *c = &l->insns[i];
        out->items[i] = (code_item){i, c->ptx_line, c->file, c->line, c->text, 0, false};
    }
    return out->items != NULL;
}

static bool has_ptx_lines(const code_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].ptx_line)
            return true;
    return false;
}

static bool take_forms(listed_kernel *k)
{
    const rep_data *d = k->t->d;
    bool sass = k->kernel->module_kind == CAP_MODULE_CUBIN;
    bool room = take_measured(k->t, k->kernel->id, sass ? &k->sass : &k->ptx);
    for (uint32_t i = 0; room && i < d->listings.count; i++) {
        const prof_listing *l = &d->listings.rows[i];
        if (l->kernel != k->kernel->id)
            continue;
        room = take_listed(k->t, l, l->kind == CAP_MODULE_CUBIN ? &k->sass : &k->ptx);
        k->listing = l;
    }
    k->put = wl_new_array(k->t->arena, uint8_t, (size_t)k->sass.count + 1);
    k->related = has_ptx_lines(&k->ptx) && has_ptx_lines(&k->sass);
    return room && k->put;
}

/* ---- rows ---- */

static const char *executions_text(const listed_kernel *k, const code_item *c)
{
    return c && c->counted ? rep_count(k->t->arena, c->executions) : "";
}

static void put_code_row(listed_kernel *k, const code_item *ptx, const code_item *sass)
{
    wl_arena *arena = k->t->arena;
    bool of_sass = k->kernel->module_kind == CAP_MODULE_CUBIN;
    const char *address = sass ? wl_arena_printf(arena, "%04x", sass->pc * 16) : "";
    const char *ran = executions_text(k, of_sass ? sass : ptx);
    const char *cells[] = {ptx ? rep_printable(k->t, ptx->text) : "", of_sass ? "" : ran,
                           address ? address : "", sass ? rep_printable(k->t, sass->text) : "",
                           of_sass ? ran : ""};
    rep_grid_add(k->grid, cells);
}

static bool same_source(const code_item *a, uint32_t file, uint32_t line)
{
    return a->file == file && a->line == line;
}

/* The PTX instruction, and beside it all that was made from its line, wherever ptxas put that. */
static void put_with_made(listed_kernel *k, const code_item *ptx)
{
    bool first = true;
    for (uint32_t i = 0; k->related && ptx->ptx_line && i < k->sass.count; i++) {
        const code_item *sass = &k->sass.items[i];
        if (k->put[i] || sass->ptx_line != ptx->ptx_line)
            continue;
        put_code_row(k, first ? ptx : NULL, sass);
        k->put[i] = true;
        first = false;
    }
    if (first)
        put_code_row(k, ptx, NULL);
}

static void put_source_head(listed_kernel *k, uint32_t file, uint32_t line)
{
    const rep_terminal *t = k->t;
    const char *place = rep_place(t->arena, rep_file_path(t->d, file), line);
    const char *source = rep_printable(t, rep_source_line(t->d, t->arena, file, line));
    source += strspn(source, " \t");
    const char *head = wl_arena_printf(t->arena, "%s%s%s%s%s", t->s.warn,
                                       place ? rep_printable(t, place) : "no line is known",
                                       t->s.off, *source ? "  " : "", source);
    rep_grid_banner(k->grid, head ? head : "");
}

static void put_line(listed_kernel *k, uint32_t file, uint32_t line)
{
    put_source_head(k, file, line);
    for (uint32_t i = 0; i < k->ptx.count; i++)
        if (same_source(&k->ptx.items[i], file, line))
            put_with_made(k, &k->ptx.items[i]);
    for (uint32_t i = 0; i < k->sass.count; i++)
        if (!k->put[i] && same_source(&k->sass.items[i], file, line))
            put_code_row(k, NULL, &k->sass.items[i]);
}

/* ---- source lines ---- */

typedef struct source_place {
    uint32_t file, line;
} source_place;

/* Those without a line come last. */
static int by_source_place(const void *left, const void *right)
{
    const source_place *a = left, *b = right;
    if ((a->line == 0) != (b->line == 0))
        return a->line == 0 ? 1 : -1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static uint32_t add_places(const code_list *list, source_place *out, uint32_t n)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const code_item *c = &list->items[i];
        const source_place place = {c->line ? c->file : 0, c->file ? c->line : 0};
        if (n == 0 || by_source_place(&out[n - 1], &place) != 0)
            out[n++] = place;
    }
    return n;
}

static void put_source_lines(listed_kernel *k)
{
    size_t most = (size_t)k->ptx.count + k->sass.count + 1;
    source_place *places = wl_new_array(k->t->arena, source_place, most);
    if (!places)
        return;
    uint32_t n = add_places(&k->sass, places, add_places(&k->ptx, places, 0));
    qsort(places, n, sizeof *places, by_source_place);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || by_source_place(&places[i - 1], &places[i]) != 0)
            put_line(k, places[i].file, places[i].line);
}

/* ---- words ---- */

static const char *machine_words(const listed_kernel *k)
{
    const prof_listing *l = k->listing;
    uint32_t sm = l && l->sm ? l->sm : k->kernel->machine_sm;
    if (!k->sass.known)
        return wl_arena_printf(k->t->arena, "There is no SASS to show: %s.",
                               l && l->missing[0] ? l->missing : "the profile has none");
    if (l && l->device_sm && l->device_sm != sm)
        return wl_arena_printf(k->t->arena,
                               "SASS is for sm_%u: the program has none for the device's sm_%u.",
                               sm, l->device_sm);
    return sm ? wl_arena_printf(k->t->arena, "SASS is for sm_%u.", sm) : "";
}

static const char *relation_words(const listed_kernel *k)
{
    if (!k->ptx.known || !k->sass.known)
        return "";
    if (k->related)
        return "Beside PTX stands what was made from it.";
    return wl_arena_printf(k->t->arena, "PTX and SASS have only source lines in common: %s.",
                           k->listing && k->listing->apart[0]
                               ? k->listing->apart
                               : "nothing says what was made from what");
}

static const char *count_words(const listed_kernel *k)
{
    if (!k->kernel->ncode)
        return "It was not measured.";
    return k->kernel->module_kind == CAP_MODULE_CUBIN ? "Counts are of SASS."
                                                      : "Counts are of PTX.";
}

static void draw_listed(const rep_terminal *t, const prof_kernel *kernel)
{
    static const rep_column columns[] = {{.head = "PTX", .flexible = true},
                                         {.head = "executed", .right = true},
                                         {.head = "at"},
                                         {.head = "SASS", .flexible = true},
                                         {.head = "executed", .right = true}};
    listed_kernel k = {.t = t, .kernel = kernel};
    rep_title(t, "Code of", rep_fit_name(t, kernel->short_name, 8));
    k.grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    if (!k.grid || !take_forms(&k))
        return;
    const char *words[] = {machine_words(&k), relation_words(&k), count_words(&k)};
    fputs("  ", t->out);
    rep_wrap_at(t, 2, 2,
                wl_arena_printf(t->arena, "%s %s %s", words[0] ? words[0] : "",
                                words[1] ? words[1] : "", words[2]));
    put_source_lines(&k);
    if (k.ptx.known || k.sass.known)
        rep_grid_draw(k.grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
}

wl_status rep_code(const rep_data *data, const rep_text_options *options, FILE *out, wl_error *err)
{
    rep_terminal t;
    if (!rep_terminal_open(data, options, out, &t))
        return wl_fail(err, WL_NOMEM, "not enough memory for the code");
    for (uint32_t i = 0; i < data->kernel_table.count; i++) {
        uint32_t kernel = data->kernel_table.rows[i].kernel;
        const prof_kernel *found = prof_find_kernel(&data->kernels, kernel);
        if (found && rep_shows_kernel(&t, kernel))
            draw_listed(&t, found);
    }
    wl_arena_free(t.arena);
    return rep_done(out, false, err);
}
