/* The lives of data objects in rows: by which calls each was made and freed, when it was accessed,
 * and what was found of it. */
#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OBJECTS = 20 };

/* What all rows of one course are made from. */
typedef struct living {
    const rep_data *d;
    const ana_course *course;
    uint64_t
        *before; /* calls before each operation: copies, sets and launches, allocations, frees */
    wl_arena *arena;
} living;

/* ---- operations ---- */

static bool count_calls(living *l)
{
    const ana_course *c = l->course;
    uint64_t calls = 0;
    l->before = wl_new_array(l->arena, uint64_t, (size_t)c->nops + 1);
    for (uint32_t i = 0; l->before && i <= c->nops; i++) {
        l->before[i] = calls;
        calls += i < c->nops && obj_is_work(c->ops[i].kind) ? c->ops[i].count : 0;
    }
    return l->before != NULL;
}

/* Calls between two operations, both left out; `to` may be after the last. */
static uint64_t count_between(const living *l, uint32_t from, uint32_t to)
{
    uint64_t first = from < l->course->nops ? l->before[from] + l->course->ops[from].count : 0;
    uint64_t end = l->before[to < l->course->nops ? to : l->course->nops];
    return end > first ? end - first : 0;
}

/* "square (stages.cu:16)", "cudaMemcpy (stages.cu:14)"; NULL for no operation. */
static const char *operation_text(const living *l, uint32_t at)
{
    if (at >= l->course->nops)
        return NULL;
    const ana_course_op *op = &l->course->ops[at];
    const prof_kernel *kernel = op->kernel ? prof_find_kernel(&l->d->kernels, op->kernel) : NULL;
    const prof_call_site *site = op->site < l->course->sites.count
                                     ? &l->course->sites.rows[op->site]
                                     : NULL;
    const char *what = kernel ? kernel->short_name : site ? site->api : "unknown";
    const char *place = site ? rep_place(l->arena, rep_file_path(l->d, site->file), site->line)
                             : NULL;
    return place ? wl_arena_printf(l->arena, "%s (%s)", what, place) : what;
}

/* ---- what was found ---- */

static void note_pattern(rep_life *life, ana_pattern pattern)
{
    life->patterns[pattern] = true;
    life->found = true;
}

static void note_changes(const living *l, rep_life *lives)
{
    const ana_course *c = l->course;
    for (uint32_t i = 0; i < c->nchanges; i++)
        for (uint32_t k = 0; c->changes[i].number && k < c->changes[i].count; k++) {
            rep_life *life = &lives[c->hits[c->changes[i].first + k].object];
            note_pattern(life, c->changes[i].pattern);
            life->saves = c->changes[i].saves > life->saves ? c->changes[i].saves : life->saves;
        }
}

static void note_findings(const rep_data *d, const rep_lives *lives)
{
    for (uint32_t i = 0; i < d->findings->count; i++) {
        rep_life *life = rep_life_of(lives, d->findings->rows[i].object);
        if (life)
            note_pattern(life, d->findings->rows[i].pattern);
    }
}

const char *rep_patterns_of(const rep_life *life, wl_arena *arena)
{
    const char *text = NULL;
    for (int p = 0; p < ANA_PATTERN_COUNT; p++)
        if (life->patterns[p])
            text = wl_arena_printf(arena, "%s%s%s", text ? text : "", text ? ", " : "",
                                   ana_pattern_get((ana_pattern)p)->name);
    return text;
}

/* ---- rows ---- */

static bool is_at_peak(const living *l, const ana_course_object *o)
{
    uint32_t moment = l->course->devices[o->device].moment;
    return o->counted && moment != OBJ_NONE && o->begin <= moment && moment < o->end;
}

static rep_life life_row(const living *l, const ana_course_object *o)
{
    uint32_t end = o->free != OBJ_NONE ? o->free : o->end;
    return (rep_life){.object = o->id,
                      .bytes = o->bytes,
                      .at_peak = is_at_peak(l, o) ? o->bytes : 0,
                      .allocated = operation_text(l, o->allocate),
                      .freed = operation_text(l, o->free),
                      .first = operation_text(l, o->first),
                      .last = operation_text(l, o->last),
                      .possibly = o->possibly,
                      .alive = count_between(l, o->begin, end),
                      .idle_calls = o->idle_calls,
                      .idle_seconds = o->idle_seconds};
}

static int by_object_id(const void *a, const void *b)
{
    const rep_life *x = a, *y = b;
    return x->object < y->object ? -1 : x->object > y->object;
}

rep_life *rep_life_of(const rep_lives *lives, uint32_t object)
{
    const rep_life wanted = {.object = object};
    return lives->count
               ? bsearch(&wanted, lives->rows, lives->count, sizeof *lives->rows, by_object_id)
               : NULL;
}

static bool add_lives_of(const rep_data *d, const ana_course *c, wl_arena *arena, rep_lives *out)
{
    living l = {.d = d, .course = c, .arena = arena};
    rep_life *rows = out->rows + out->count;
    if (!count_calls(&l))
        return false;
    for (uint32_t i = 0; i < c->nobjects; i++)
        rows[i] = life_row(&l, &c->objects[i]);
    note_changes(&l, rows);
    out->count += c->nobjects;
    return true;
}

bool rep_lives_of(const rep_data *d, wl_arena *arena, rep_lives *out)
{
    size_t most = 0;
    for (uint32_t i = 0; i < d->courses.count; i++)
        most += d->courses.rows[i].nobjects;
    *out = (rep_lives){.rows = wl_new_array(arena, rep_life, most + 1)};
    bool good = out->rows != NULL;
    for (uint32_t i = 0; i < d->courses.count && good; i++)
        good = add_lives_of(d, &d->courses.rows[i], arena, out);
    if (good && out->count)
        qsort(out->rows, out->count, sizeof *out->rows, by_object_id);
    if (good)
        note_findings(d, out);
    return good;
}

/* ---- in a terminal ---- */

static int by_bytes_at_peak(const void *a, const void *b)
{
    const rep_life *x = a, *y = b;
    if (x->at_peak != y->at_peak)
        return x->at_peak > y->at_peak ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return by_object_id(a, b);
}

static const char *cell_text(const rep_terminal *t, const char *text)
{
    return text ? rep_printable(t, text) : "";
}

/* "12 calls", "12 calls, 3.4 ms" */
static const char *idle_text(const rep_terminal *t, const rep_life *life)
{
    const char *calls = rep_plural(t->arena, life->idle_calls, "call", "calls");
    if (!life->idle_calls)
        return "";
    return life->idle_seconds > 0 ? wl_arena_printf(t->arena, "%s, %s", calls,
                                                    rep_seconds(t->arena, life->idle_seconds))
                                  : calls;
}

static void add_life(const rep_terminal *t, rep_grid *grid, const rep_life *life)
{
    const char *name = rep_object_name(t->d, life->object);
    const char *patterns = rep_patterns_of(life, t->arena);
    const char *cells[] = {name ? rep_fit_name(t, name, t->o->width / 2) : "unknown",
                           rep_bytes(t->arena, life->bytes),
                           life->at_peak ? rep_bytes(t->arena, life->at_peak) : "",
                           life->saves ? rep_bytes(t->arena, life->saves) : "",
                           rep_count(t->arena, life->alive),
                           idle_text(t, life),
                           cell_text(t, life->allocated),
                           cell_text(t, life->first),
                           cell_text(t, life->last),
                           cell_text(t, life->freed),
                           cell_text(t, patterns)};
    rep_grid_add(grid, cells);
}

static void draw_lives(const rep_terminal *t, rep_life *rows, uint32_t count)
{
    static const rep_column columns[] = {{"object", .flexible = true, .middle = true},
                                         {"bytes", .right = true},
                                         {"at the peak", .right = true},
                                         {"saves", .right = true},
                                         {"calls alive", .right = true, .spare = 3},
                                         {"idle longest", .right = true, .spare = 4},
                                         {"allocated", .spare = 6},
                                         {"first access", .spare = 5},
                                         {"last access", .spare = 2},
                                         {"freed", .spare = 7},
                                         {.head = "patterns", .spare = 1}};
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    uint32_t shown = t->o->all || count < MOST_OBJECTS ? count : MOST_OBJECTS;
    for (uint32_t i = 0; grid && i < shown; i++)
        add_life(t, grid, &rows[i]);
    if (grid)
        rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (shown < count)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, count - shown, t->s.off);
}

wl_status rep_objects(const rep_data *data, const rep_text_options *options, FILE *out,
                      wl_error *err)
{
    rep_terminal t;
    rep_lives lives;
    if (!rep_terminal_open(data, options, out, &t))
        return wl_fail(err, WL_NOMEM, "not enough memory for the objects");
    bool good = rep_lives_of(data, t.arena, &lives);
    if (good && lives.count)
        qsort(lives.rows, lives.count, sizeof *lives.rows, by_bytes_at_peak);
    rep_title(&t, "Objects", "most bytes at the peak first; what following a finding saves there");
    if (good && lives.count)
        draw_lives(&t, lives.rows, lives.count);
    else if (good)
        rep_wrap(&t, 2, "The program allocated nothing on a device.");
    wl_arena_free(t.arena);
    return good ? rep_done(out, false, err)
                : wl_fail(err, WL_NOMEM, "not enough memory for the objects");
}
