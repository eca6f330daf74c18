/* `stats`: header, kernels, findings, source lines and coverage in a terminal. */
#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WIDTH = 100, NAME_WIDTH = 64, WRAP_MOST = 100 };

const char *rep_printable(const rep_terminal *t, const char *s)
{
    const char *result = s ? rep_clean(t->arena, s, true) : NULL;
    return result ? result : "";
}

/* ---- paragraphs ---- */

/* Bytes of the next word: "< 0.1 %" is one. */
static size_t word_bytes(const char *p)
{
    size_t length = strcspn(p, " ");
    if (length == 1 && *p == '<' && p[1])
        length += 1 + strcspn(p + 2, " ");
    bool percent = p[length] && p[length + 1] == '%' &&
                   (!p[length + 2] || strchr(" .,:;", p[length + 2]));
    return percent ? length + 1 + strcspn(p + length + 1, " ") : length;
}

void rep_wrap_open(const rep_terminal *t, unsigned indent, unsigned at, const char *words)
{
    size_t most = t->o->width && t->o->width < WRAP_MOST ? t->o->width : WRAP_MOST;
    size_t column = at;
    bool first = true; /* on its line */
    for (const char *p = rep_printable(t, words); *p;) {
        size_t length = word_bytes(p);
        char *word = wl_arena_strndup(t->arena, p, length);
        size_t width = word ? rep_width(word) : 0;
        if (column > indent && column + !first + width > most) {
            fprintf(t->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', t->out);
            column++;
        }
        fputs(word ? word : "", t->out);
        column += width;
        first = false;
        p += length + strspn(p + length, " ");
    }
}

void rep_wrap_at(const rep_terminal *t, unsigned indent, unsigned at, const char *words)
{
    rep_wrap_open(t, indent, at, words);
    fputc('\n', t->out);
}

void rep_wrap(const rep_terminal *t, unsigned indent, const char *words)
{
    rep_wrap_at(t, indent, indent, words);
}

void rep_title(const rep_terminal *t, const char *heading, const char *note)
{
    bool fits = note && (!t->o->width || rep_width(heading) + 2 + rep_width(note) <= t->o->width);
    fprintf(t->out, "\n%s%s%s", t->s.bold, heading, t->s.off);
    if (fits)
        fprintf(t->out, "  %s%s%s", t->s.dim, note, t->s.off);
    fputc('\n', t->out);
}

const char *rep_fit_name(const rep_terminal *t, const char *s, size_t used)
{
    size_t most = NAME_WIDTH;
    if (t->o->full_names)
        return rep_printable(t, s);
    if (t->o->width)
        most = t->o->width > used + 16 ? t->o->width - used : 16;
    const char *result = rep_shorten_name(t->arena, rep_printable(t, s), most);
    return result ? result : "";
}

/* Instances of a template that are told apart by what was left out. */
static bool is_of_others_too(const rep_terminal *t, uint32_t kernel, const char *name, size_t used)
{
    const prof_kernel_rows *all = &t->d->kernels;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->rows[i].id != kernel &&
            strcmp(rep_fit_name(t, all->rows[i].short_name, used), name) == 0)
            return true;
    return false;
}

/* In tables the numbers come first: a name has less than half of the line. */
const char *rep_kernel_cell(const rep_terminal *t, uint32_t kernel)
{
    const prof_kernel *k = prof_find_kernel(&t->d->kernels, kernel);
    size_t used = t->o->width * 3 / 5;
    const char *name = rep_fit_name(t, k ? k->short_name : "unknown", used);
    if (!k || !t->o->width || t->o->full_names || !is_of_others_too(t, kernel, name, used))
        return name;
    const char *ends = rep_shorten_middle(t->arena, rep_printable(t, k->short_name),
                                          t->o->width - used);
    return ends ? ends : "";
}

bool rep_shows_kernel(const rep_terminal *t, uint32_t kernel)
{
    for (uint32_t i = 0; i < t->o->nkernels; i++)
        if (t->o->kernels[i] == kernel)
            return true;
    return !t->o->kernels;
}

/* ---- failures ---- */

enum { MOST_FAILURES = 5 };

static void failures(const rep_terminal *t)
{
    for (uint32_t i = 0; i < t->d->nfailures; i++) {
        const rep_failure *f = &t->d->failures[i];
        if (i == MOST_FAILURES && !t->o->all) {
            fprintf(t->out, "%sand %u more: --all shows them%s\n", t->s.bad, t->d->nfailures - i,
                    t->s.off);
            break;
        }
        fputs(t->s.bad, t->out);
        rep_wrap_open(t, 2, 0, wl_arena_printf(t->arena, "FAILED: %s: %s", f->what, f->why));
        fprintf(t->out, "%s\n", t->s.off);
    }
    if (t->d->nfailures)
        fputc('\n', t->out);
}

/* ---- header ---- */

static const char *backend_text(const char *collector)
{
    if (strcmp(collector, "emulate") == 0)
        return "on the CPU, no GPU used";
    if (strcmp(collector, "inline") == 0)
        return "on the GPU";
    return strcmp(collector, "sass") == 0 ? "on the GPU, machine code patched" : collector;
}

static const char *command_line(const rep_terminal *t)
{
    if (t->d->processes.count == 0)
        return "no process was recorded";
    const prof_process *p = &t->d->processes.rows[0];
    const char *line = rep_base_name(p->executable);
    for (uint32_t i = 1; i < p->argc; i++)
        line = wl_arena_printf(t->arena, "%s %s", line ? line : "", p->argv[i]);
    if (t->d->processes.count > 1)
        line = wl_arena_printf(t->arena, "%s  (%u processes)", line ? line : "",
                               t->d->processes.count);
    return line ? line : "";
}

/* Devices are told apart where there are several, and processes likewise. */
static void draw_memory(const rep_terminal *t)
{
    const ana_memory *memory = &t->d->memory;
    bool replayed = t->d->findings && t->d->findings->replayed;
    uint64_t after = replayed ? t->d->findings->peak_after : memory->peak_bytes;
    if (memory->ndevices == 1)
        fprintf(t->out, "memory     %s at the peak", rep_bytes(t->arena, memory->peak_bytes));
    if (memory->ndevices == 1 && after < memory->peak_bytes)
        fprintf(t->out, ", %s with what is advised about memory", rep_bytes(t->arena, after));
    if (memory->ndevices == 1)
        fputc('\n', t->out);
    for (uint32_t i = 0; memory->ndevices > 1 && i < memory->ndevices; i++) {
        const ana_device_memory *m = &memory->devices[i];
        fprintf(t->out, "%s %s at the peak on device %u", i == 0 ? "memory    " : "          ",
                rep_bytes(t->arena, m->peak_bytes), m->device);
        if (t->d->processes.count > 1)
            fprintf(t->out, " of process %u", m->process);
        fputc('\n', t->out);
    }
}

static const char *pool_title(const rep_terminal *t, const ana_pool *p)
{
    if (!p->pool)
        return rep_printable(t, p->name);
    return p->kind == CAP_POOL_DEFAULT ? "CUDA's default pool"
                                       : wl_arena_printf(t->arena, "CUDA pool %u", p->pool);
}

/* What pools keep of the device's memory, and what is in use of it. */
static void draw_pools(const rep_terminal *t)
{
    for (uint32_t i = 0; i < t->d->pools.count; i++) {
        const ana_pool *p = &t->d->pools.rows[i];
        const char *title = pool_title(t, p);
        fprintf(t->out, "%s %s: %s reserved at the peak", i == 0 ? "pools     " : "          ",
                title ? title : "", rep_bytes(t->arena, p->most_reserved));
        fprintf(t->out, ", %s in use at its peak", rep_bytes(t->arena, p->most_used));
        if (p->divided && p->free_then)
            fprintf(t->out, ", then %s free, the largest piece %s",
                    rep_bytes(t->arena, p->free_then), rep_bytes(t->arena, p->largest_free_then));
        fputc('\n', t->out);
    }
}

static void header(const rep_terminal *t)
{
    const rep_data *d = t->d;
    fprintf(t->out, "%s%s%s\n", t->s.bold,
            t->o->width ? rep_shorten_end(t->arena, rep_printable(t, command_line(t)), t->o->width)
                        : rep_printable(t, command_line(t)),
            t->s.off);
    for (uint32_t i = 0; i < d->devices.count && i < 1; i++)
        fprintf(t->out, "device     %s, compute capability %u.%u\n",
                rep_printable(t, d->devices.rows[i].name), d->devices.rows[i].cc_major,
                d->devices.rows[i].cc_minor);
    if (d->info.collector[0])
        fprintf(t->out, "backend    %s (%s), warplens %s\n", rep_printable(t, d->info.collector),
                rep_printable(t, backend_text(d->info.collector)),
                rep_printable(t, d->info.version));
    draw_memory(t);
    draw_pools(t);
}

/* ---- times ---- */

static int by_seconds(const void *a, const void *b)
{
    double x = (*(const ana_kernel *const *)a)->device.seconds,
           y = (*(const ana_kernel *const *)b)->device.seconds;
    return (y > x) - (y < x);
}

/* Kernels of which launches were timed, by how long all of theirs took. */
static const ana_kernel **timed_kernels(const rep_terminal *t, uint32_t *count)
{
    const ana_kernels *table = &t->d->kernel_table;
    const ana_kernel **rows = wl_new_array(t->arena, const ana_kernel *, (size_t)table->count + 1);
    *count = 0;
    for (uint32_t i = 0; rows && i < table->count; i++)
        if (table->rows[i].device.timed)
            rows[(*count)++] = &table->rows[i];
    if (rows)
        qsort(rows, *count, sizeof *rows, by_seconds);
    return rows;
}

static void device_times(const rep_terminal *t)
{
    static const rep_column columns[] = {
        {"kernel", .flexible = true, .middle = true},
        {"launches", .right = true},
        {"timed", .right = true, .spare = 2},
        {"total", .right = true},
        {"mean", .right = true},
        {"min", .right = true, .spare = 1},
        {"max", .right = true, .spare = 1},
    };
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    uint32_t count = 0, shown = 0;
    const ana_kernel **rows = timed_kernels(t, &count);
    bool estimated = false;
    for (uint32_t i = 0; grid && rows && i < count; i++) {
        const ana_device_time *d = &rows[i]->device;
        if (!rep_shows_kernel(t, rows[i]->kernel) || (!t->o->all && shown >= REP_TOP_KERNELS))
            continue;
        const char *about = d->timed < d->launches ? "~" : "";
        const char *cells[] = {
            rep_kernel_cell(t, rows[i]->kernel),
            rep_count(t->arena, d->launches),
            rep_count(t->arena, d->timed),
            wl_arena_printf(t->arena, "%s%s", about, rep_seconds(t->arena, d->seconds)),
            rep_seconds(t->arena, d->seconds / (double)d->launches),
            rep_seconds(t->arena, d->least),
            rep_seconds(t->arena, d->most)};
        rep_grid_add(grid, cells);
        estimated |= d->timed < d->launches;
        shown++;
    }
    if (!shown)
        return;
    rep_title(t, "Time on the device",
              estimated
                  ? "longest first; ~ counts launches that were not timed like those that were"
                  : "longest first");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (!t->o->kernels && shown < count)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, count - shown, t->s.off);
}

static void copies(const rep_terminal *t)
{
    static const rep_column columns[] = {
        {"copies", .flexible = true}, {"calls", .right = true},
        {"bytes", .right = true},     {"timed", .right = true, .spare = 2},
        {"time", .right = true},      {"per second", .right = true, .spare = 1},
    };
    ana_copy_sum sums[ANA_DIRECTIONS];
    uint64_t timed = 0;
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    ana_copies(&t->d->transfers, &t->d->objects, sums);
    for (int i = 0; grid && i < ANA_DIRECTIONS; i++) {
        const ana_copy_sum *s = &sums[i];
        const char *cells[] = {
            ana_direction_words((ana_direction)i),
            rep_count(t->arena, s->calls),
            rep_bytes(t->arena, s->bytes),
            rep_count(t->arena, s->timed),
            s->timed ? rep_seconds(t->arena, s->seconds) : "",
            s->seconds > 0 ? rep_bytes(t->arena, (uint64_t)((double)s->timed_bytes / s->seconds))
                           : ""};
        if (s->calls)
            rep_grid_add(grid, cells);
        timed += s->timed;
    }
    if (!timed || t->o->kernels)
        return;
    rep_title(t, "Copies", "time and bytes per second are those of the copies that were timed");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
}

/* ---- lines ---- */

/* After the rows of the place whose first row is `i`. */
static uint32_t place_end(const rep_terminal *t, uint32_t i)
{
    uint32_t end = i + 1;
    while (end < t->lines.count && rep_same_place(&t->lines.rows[i], &t->lines.rows[end]))
        end++;
    return end;
}

/* How findings tell of the place; where none does and its requests cost more than they must, that
 * counts as told briefly. */
static rep_told how_told(const rep_terminal *t, uint32_t i, uint32_t end)
{
    rep_told most = REP_TOLD_NOWHERE;
    for (; i < end; i++) {
        const rep_line *l = &t->lines.rows[i];
        bool costs = l->sectors > l->sectors_min || l->wavefronts > l->wavefronts_min;
        rep_told told = rep_how_told(t, l);
        told = told == REP_TOLD_NOWHERE && costs ? REP_TOLD_BRIEFLY : told;
        most = told > most ? told : most;
    }
    return most;
}

static void add_head(const rep_terminal *t, rep_grid *grid, const char *before, const char *place,
                     const char *source)
{
    source += strspn(source, " ");
    const char *head = wl_arena_printf(t->arena, "%s%s%s%s%s%s", before, t->s.warn,
                                       rep_printable(t, place), t->s.off, *source ? "  " : "",
                                       source);
    if (t->o->width) { /* colours take no columns */
        size_t escapes = strlen(t->s.warn) + strlen(t->s.off);
        head = rep_shorten_end(t->arena, head ? head : "", t->o->width - 2 + escapes);
    }
    rep_grid_banner(grid, head ? head : "");
}

/* The line, or the instruction where there is no line information, above the rows of its
 * accesses. */
static void line_head(const rep_terminal *t, rep_grid *grid, const rep_line *l)
{
    char *place = rep_place(t->arena, rep_file_path(t->d, l->file), l->line);
    const char *source = rep_printable(t, rep_source_line(t->d, t->arena, l->file, l->line));
    if (!place) {
        const prof_code *code = prof_find_code(&t->d->code, l->kernel, l->pc);
        place = wl_arena_printf(t->arena, "pc %u", l->pc);
        source = rep_printable(t, code ? code->text : NULL);
    }
    add_head(t, grid, "", place, source);
}

/* The helper's line, below that of the code which calls it. */
static void helper_head(const rep_terminal *t, rep_grid *grid, const rep_line *l)
{
    char *place = rep_place(t->arena, rep_file_path(t->d, l->helper_file), l->helper_line);
    char *source = rep_source_line(t->d, t->arena, l->helper_file, l->helper_line);
    add_head(t, grid, "  in ", place, rep_printable(t, source));
}

static void line_row(const rep_terminal *t, rep_grid *grid, const rep_line *l)
{
    bool shared = l->space == ACC_SHARED;
    uint64_t now = shared ? l->wavefronts : l->sectors;
    uint64_t min = shared ? l->wavefronts_min : l->sectors_min;
    const char *cells[] = {
        wl_arena_printf(t->arena, "%s%s %s", l->helper_file ? "    " : "  ",
                        prof_access_text(l->op), prof_space_text(l->space)),
        rep_count(t->arena, l->requests),
        rep_ratio(t->arena, (double)l->active_lanes, (double)l->requests),
        shared ? "" : rep_count(t->arena, now),
        shared ? rep_count(t->arena, now) : "",
        rep_ratio(t->arena, (double)now, (double)l->requests),
        rep_ratio(t->arena, (double)min, (double)l->requests),
        rep_count(t->arena, rep_excess(now, min)),
    };
    rep_grid_add(grid, cells);
}

static void print_kernel_lines(const rep_terminal *t, uint32_t kernel)
{
    static const rep_column columns[] = {
        {.head = "line, access"},
        {"requests", .right = true, .spare = 2},
        {"active lanes", .right = true, .spare = 4},
        {"sectors", .right = true},
        {"wavefronts", .right = true},
        {"per request", .right = true, .spare = 1},
        {"needed", .right = true, .spare = 3},
        {"avoidable", .right = true},
    };
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    bool all = t->o->all || t->o->kernels;
    uint64_t shown = 0, quiet = 0;
    for (uint32_t i = 0, end; grid && i < t->lines.count; i = end) {
        end = place_end(t, i);
        if (t->lines.rows[i].kernel != kernel)
            continue;
        rep_told told = all ? REP_TOLD_BRIEFLY : how_told(t, i, end);
        quiet += told == REP_TOLD_NOWHERE;
        if (told != REP_TOLD_BRIEFLY) /* its finding has it above */
            continue;
        line_head(t, grid, &t->lines.rows[i]);
        for (uint32_t k = i; k < end; k++) {
            const rep_line *l = &t->lines.rows[k];
            if (l->helper_file && (k == i || !rep_same_line(l, l - 1)))
                helper_head(t, grid, l);
            line_row(t, grid, l);
        }
        shown++;
    }
    if (!grid || !shown)
        return;
    const prof_kernel *found = prof_find_kernel(&t->d->kernels, kernel);
    rep_title(t, "Lines of", rep_fit_name(t, found ? found->short_name : "unknown", 10));
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (quiet)
        fprintf(t->out, "  %sand %s with nothing avoidable: --all shows them%s\n", t->s.dim,
                rep_plural(t->arena, quiet, "more line", "more lines"), t->s.off);
}

static void lines(const rep_terminal *t)
{
    for (uint32_t i = 0; i < t->d->kernel_table.count; i++) {
        uint32_t kernel = t->d->kernel_table.rows[i].kernel;
        if (rep_shows_lines_of(t, kernel))
            print_kernel_lines(t, kernel);
    }
}

bool rep_terminal_open(const rep_data *data, const rep_text_options *options, FILE *out,
                       rep_terminal *t)
{
    static const rep_text_options defaults = {.width = DEFAULT_WIDTH};
    static const rep_style plain = {"", "", "", "", "", ""};
    static const rep_style colored = {"\033[1m",  "\033[2m",    "\033[33m",
                                      "\033[32m", "\033[1;31m", "\033[0m"};
    *t = (rep_terminal){
        .d = data, .o = options ? options : &defaults, .arena = wl_arena_new(), .out = out};
    t->s = t->o->color ? colored : plain;
    if (t->arena && rep_lines_of(data, t->arena, &t->lines) == WL_OK)
        return true;
    wl_arena_free(t->arena);
    return false;
}

/* `stats --by`: one table. */
static wl_status draw_by(const rep_terminal *t, wl_error *err)
{
    if (t->o->by == REP_BY_RANGE)
        rep_ranges(t);
    else
        rep_kernels(t);
    wl_arena_free(t->arena);
    return rep_done(t->out, false, err);
}

wl_status rep_text(const rep_data *data, const rep_text_options *options, FILE *out, wl_error *err)
{
    rep_terminal t;
    if (!rep_terminal_open(data, options, out, &t))
        return wl_fail(err, WL_NOMEM, "not enough memory for the report");
    failures(&t);
    if (t.o->by != REP_BY_ALL)
        return draw_by(&t, err);
    header(&t);
    rep_verdict(&t);
    rep_ranges(&t);
    rep_kernels(&t);
    device_times(&t);
    rep_predicted(&t);
    copies(&t);
    rep_findings(&t);
    rep_memory(&t);
    rep_uses(&t);
    rep_hashed(&t);
    lines(&t);
    rep_coverage(&t);
    wl_arena_free(t.arena);
    return rep_done(out, false, err);
}
