#include "base/log.h"
#include "report/impl.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WIDTH = 100, NAME_WIDTH = 64, FINDING_LINES = 4, TOP_KERNELS = 20, WRAP_MOST = 100 };

typedef struct style { /* escape sequences, "" without colour */
    const char *bold, *dim, *warn, *good, *off;
} style;

typedef struct text {
    const rep_data *d;
    const rep_text_options *o;
    wl_arena *arena;
    FILE *out;
    style s;
    rep_lines lines;
} text;

static const char *clean(const text *t, const char *s)
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

/* Prints words from column `at` on, where the line already stands; further lines begin at `indent`. */
static void wrap_open(const text *t, unsigned indent, unsigned at, const char *words)
{
    size_t most = t->o->width && t->o->width < WRAP_MOST ? t->o->width : WRAP_MOST;
    size_t column = at;
    bool first = true; /* on its line */
    for (const char *p = clean(t, words); *p;) {
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

static void wrap_at(const text *t, unsigned indent, unsigned at, const char *words)
{
    wrap_open(t, indent, at, words);
    fputc('\n', t->out);
}

static void wrap(const text *t, unsigned indent, const char *words)
{
    wrap_at(t, indent, indent, words);
}

static void title(const text *t, const char *heading, const char *note)
{
    bool fits = note && (!t->o->width || rep_width(heading) + 2 + rep_width(note) <= t->o->width);
    fprintf(t->out, "\n%s%s%s", t->s.bold, heading, t->s.off);
    if (fits)
        fprintf(t->out, "  %s%s%s", t->s.dim, note, t->s.off);
    fputc('\n', t->out);
}

/* A name cut to what is left of the line behind `used` columns, and to NAME_WIDTH where the line is endless. */
static const char *name(const text *t, const char *s, size_t used)
{
    size_t most = NAME_WIDTH;
    if (t->o->full_names)
        return clean(t, s);
    if (t->o->width)
        most = t->o->width > used + 16 ? t->o->width - used : 16;
    const char *result = rep_shorten_name(t->arena, clean(t, s), most);
    return result ? result : "";
}

/* In tables the numbers come first: a name has less than half of the line. */
static const char *kernel_cell(const text *t, uint32_t kernel)
{
    const prof_kernel *k = prof_find_kernel(&t->d->kernels, kernel);
    return name(t, k ? k->short_name : "unknown", t->o->width * 3 / 5);
}

/* ---- header ---- */

static const char *collector_text(const char *collector)
{
    if (strcmp(collector, "emulate") == 0)
        return "emulated, no GPU used";
    if (strcmp(collector, "inline") == 0)
        return "on the GPU, launches replayed or probed";
    return strcmp(collector, "sass") == 0 ? "on the GPU, machine code patched" : collector;
}

static const char *command_line(const text *t)
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

static void header(const text *t)
{
    const rep_data *d = t->d;
    fprintf(t->out, "%s%s%s\n", t->s.bold,
            t->o->width ? rep_shorten_end(t->arena, clean(t, command_line(t)), t->o->width)
                        : clean(t, command_line(t)),
            t->s.off);
    for (uint32_t i = 0; i < d->devices.count && i < 1; i++)
        fprintf(t->out, "device     %s, compute capability %u.%u\n",
                clean(t, d->devices.rows[i].name), d->devices.rows[i].cc_major,
                d->devices.rows[i].cc_minor);
    if (d->info.collector[0])
        fprintf(t->out, "collector  %s (%s), warplens %s\n", clean(t, d->info.collector),
                clean(t, collector_text(d->info.collector)), clean(t, d->info.version));
    if (d->memory.peak_bytes > 0)
        fprintf(t->out, "memory     %s at the peak\n", rep_bytes(t->arena, d->memory.peak_bytes));
}

/* ---- kernels ---- */

/* A kernel that only ran on a GPU has no counts to show, and no zeros for them. */
static bool observed(const text *t, const ana_kernel *row)
{
    return row->launches > 0 || t->d->coverage.launches_observed > 0;
}

static int by_seconds(const void *a, const void *b)
{
    double x = (*(const ana_kernel *const *)a)->device.seconds,
           y = (*(const ana_kernel *const *)b)->device.seconds;
    return (y > x) - (y < x);
}

/* Kernels of which launches were timed, by how long all of theirs took. */
static const ana_kernel **timed_kernels(const text *t, uint32_t *count)
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

static void device_times(const text *t)
{
    static const rep_column columns[] = {
        {"kernel", .flexible = true, .middle = true},
        {"launches", .right = true},
        {"timed", .right = true, .spare = 2},
        {"in all", .right = true},
        {"mean", .right = true},
        {"least", .right = true, .spare = 1},
        {"most", .right = true, .spare = 1},
    };
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    uint32_t count = 0, shown = 0;
    const ana_kernel **rows = timed_kernels(t, &count);
    bool estimated = false;
    for (uint32_t i = 0; grid && rows && i < count; i++) {
        const ana_device_time *d = &rows[i]->device;
        if ((t->o->kernel && t->o->kernel != rows[i]->kernel) ||
            (!t->o->all_lines && shown >= TOP_KERNELS))
            continue;
        const char *about = d->timed < d->launches ? "~" : "";
        const char *cells[] = {
            kernel_cell(t, rows[i]->kernel),
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
    title(t, "Time on the device",
          estimated
              ? "longest in all first; ~ counts launches that were not timed as those like them"
              : "longest in all first");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (!t->o->kernel && shown < count)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, count - shown, t->s.off);
}

static void kernels(const text *t)
{
    static const rep_column columns[] = {
        {"kernel", .flexible = true, .middle = true},
        {"launches", .right = true, .spare = 2},
        {"instructions", .right = true, .spare = 5},
        {"requests", .right = true, .spare = 3},
        {"sectors", .right = true},
        {"a request", .right = true},
        {"fewest", .right = true},
        {"wavefronts", .right = true, .spare = 4},
        {"conflicts", .right = true},
        {"findings", .right = true, .spare = 1},
    };
    const ana_kernels *table = &t->d->kernel_table;
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    uint32_t shown = 0;
    for (uint32_t i = 0; grid && i < table->count; i++) {
        const ana_kernel *row = &table->rows[i];
        const ana_counts *c = &row->counts;
        if ((t->o->kernel && t->o->kernel != row->kernel) ||
            (!t->o->all_lines && shown >= TOP_KERNELS) || !observed(t, row))
            continue;
        uint64_t global = 0; /* requests that move sectors */
        for (uint32_t k = 0; k < t->lines.count; k++)
            if (t->lines.rows[k].kernel == row->kernel && t->lines.rows[k].space != OBS_SHARED)
                global += t->lines.rows[k].requests;
        const char *cells[] = {
            kernel_cell(t, row->kernel),
            rep_count(t->arena, row->launches),
            rep_short_count(t->arena, c->thread_instructions),
            rep_short_count(t->arena, c->requests),
            c->sectors ? rep_short_count(t->arena, c->sectors) : "",
            c->sectors ? rep_ratio(t->arena, (double)c->sectors, (double)global) : "",
            c->sectors ? rep_ratio(t->arena, (double)c->sectors_min, (double)global) : "",
            c->wavefronts ? rep_short_count(t->arena, c->wavefronts) : "",
            c->wavefronts ? rep_short_count(t->arena, rep_excess(c->wavefronts, c->wavefronts_min))
                          : "",
            row->nfindings ? rep_count(t->arena, row->nfindings) : "none",
        };
        rep_grid_add(grid, cells);
        shown++;
    }
    if (!grid || shown == 0)
        return;
    title(t, "Kernels", "dearest first; sectors a request, now and the fewest possible");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (!t->o->kernel && shown < table->count)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, table->count - shown,
                t->s.off);
}

/* ---- findings ---- */

static void cost_of(const ana_line *l, ana_unit unit, uint64_t *now, uint64_t *min)
{
    *now = unit == ANA_WAVEFRONTS ? l->wavefronts : l->sectors;
    *min = unit == ANA_WAVEFRONTS ? l->wavefronts_min : l->sectors_min;
}

static void finding_line(const text *t, const ana_line *l, uint32_t kernel, ana_unit unit)
{
    const prof_file *file = rep_file_by_path(t->d, l->file);
    const char *place = rep_place(t->arena, l->file, l->line);
    const char *source = clean(t, rep_source_line(t->d, t->arena, file ? file->id : 0, l->line));
    if (!place) {
        const prof_code *code = prof_find_code(&t->d->code, kernel, l->pc);
        place = wl_arena_printf(t->arena, "pc %u", l->pc);
        source = clean(t, code ? code->text : NULL);
    }
    source += strspn(source, " ");
    place = clean(t, place);
    size_t used = 5 + rep_width(place) + 2;
    if (t->o->width && t->o->width > used)
        source = rep_shorten_end(t->arena, source, t->o->width - used);
    fprintf(t->out, "     %s%s%s%s%s\n", t->s.warn, place, t->s.off, *source ? "  " : "", source);
    uint64_t now, min;
    cost_of(l, unit, &now, &min);
    if (unit == ANA_BYTES || l->requests == 0)
        return;
    const char *each = rep_ratio(t->arena, (double)now, (double)l->requests);
    const char *moved = wl_arena_printf(t->arena, "%s, %s %s",
                                        rep_plural(t->arena, l->requests, "request", "requests"),
                                        rep_count(t->arena, now), ana_unit_text(unit));
    fputs("       ", t->out);
    if (now > min)
        wrap(t, 7,
             wl_arena_printf(t->arena, "%s (at the least %s): %s a request, could be %s", moved,
                             rep_count(t->arena, min), each,
                             rep_ratio(t->arena, (double)min, (double)l->requests)));
    else
        wrap(t, 7,
             wl_arena_printf(t->arena,
                             "%s: %s a request, the fewest; the cost is between the warps", moved,
                             each));
}

/* Which blocks the heat map is of, where the finding rests on one. */
static void sampled(const text *t, const ana_finding *f)
{
    uint32_t count;
    const prof_sample *samples = rep_samples(t->d, f->example_launch, &count);
    const char *line = "";
    for (uint32_t i = 0; f->nsectors && line && i < count; i++) {
        const obs_sample *s = &samples[i].s;
        if (s->mapped)
            line = wl_arena_printf(t->arena, "%s%s%u,%u,%u (%s)", line, *line ? "; " : "",
                                   s->block_index[0], s->block_index[1], s->block_index[2],
                                   rep_why(t->arena, &samples[i]));
    }
    if (!line || !*line)
        return;
    fprintf(t->out, "     %sin%s    block ", t->s.dim, t->s.off);
    wrap_at(t, 11, 17, line);
}

/* What the lines above already say. */
static bool told(const char *evidence)
{
    static const char *const names[] = {"requests", "sectors_per_request", "wavefronts_per_request",
                                        "fewest_per_request"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(evidence, names[i]) == 0)
            return true;
    return false;
}

static void evidence(const text *t, const ana_finding *f)
{
    const char *line = "";
    for (uint32_t i = 0; line && i < f->nevidence; i++) {
        const ana_evidence *e = &f->evidence[i];
        const char *unit = strstr(e->label, e->unit) ? "" : e->unit; /* not twice */
        if (!told(e->name))
            line = wl_arena_printf(t->arena, "%s%s%s %s", line, *line ? ", " : "", e->label,
                                   rep_quantity(t->arena, e->value, unit));
    }
    if (!line || !*line)
        return;
    fprintf(t->out, "     %sseen%s  ", t->s.dim, t->s.off);
    wrap(t, 11, line);
}

static void finding(const text *t, const ana_finding *f, uint32_t number)
{
    const ana_pattern_info *pattern = ana_pattern_get(f->pattern);
    const prof_kernel *kernel = prof_find_kernel(&t->d->kernels, f->kernel);
    const char *object = rep_object_name(t->d, f->object);
    size_t used = 5 + rep_width(pattern->title) + 2 + rep_width(pattern->name);
    fprintf(t->out, "%3u. %s", number, t->s.bold);
    wrap_open(t, 5, 5, pattern->title);
    fputs(t->s.off, t->out);
    if (!t->o->width || used <= t->o->width)
        fprintf(t->out, "  %s%s%s", t->s.dim, pattern->name, t->s.off);
    fputc('\n', t->out);
    const char *share = wl_arena_printf(t->arena, "%s of the program's traffic",
                                        rep_percent(t->arena, f->share_of_program));
    fprintf(t->out, "     %s%s%s: ", t->s.warn, share ? share : "", t->s.off);
    wrap_at(t, 5, share ? 7 + (unsigned)rep_width(share) : 7,
            wl_arena_printf(t->arena, "%s %s too many, %s of the kernel's",
                            rep_count(t->arena, f->excess), ana_unit_text(pattern->unit),
                            rep_percent(t->arena, f->share_of_kernel)));
    fprintf(t->out, "     kernel %s\n", name(t, kernel ? kernel->short_name : "unknown", 12));
    const char *more = f->objects > 1
                           ? wl_arena_printf(t->arena, " and %u more made there", f->objects - 1)
                           : "";
    fprintf(t->out, "     object %s%s\n",
            name(t, object ? object : "unknown", 12 + (more ? strlen(more) : 0)), more ? more : "");
    for (uint32_t i = 0; i < f->nlines && i < FINDING_LINES; i++)
        finding_line(t, &f->lines[i], f->kernel, pattern->unit);
    if (f->nlines > FINDING_LINES)
        fprintf(t->out, "     and %u more lines\n", f->nlines - FINDING_LINES);
    fprintf(t->out, "     %swhy%s   ", t->s.dim, t->s.off);
    wrap(t, 11, f->summary);
    evidence(t, f);
    sampled(t, f);
    fprintf(t->out, "     %sfix%s   ", t->s.good, t->s.off);
    wrap(t, 11, f->advice && *f->advice ? f->advice : pattern->remedy);
    if (f->gain == ANA_GAIN_FULL)
        return;
    fprintf(t->out, "     %sbut%s   ", t->s.warn, t->s.off);
    wrap(t, 11, f->gain_note);
}

static void findings(const text *t)
{
    const ana_findings *all = t->d->findings;
    uint32_t shown = 0, of = 0;
    bool last_little = false;
    for (uint32_t i = 0; i < all->count; i++) {
        if (t->o->kernel && all->rows[i].kernel != t->o->kernel)
            continue;
        of++;
        if (t->o->findings && shown >= t->o->findings)
            continue;
        bool little = all->rows[i].gain != ANA_GAIN_FULL;
        if (shown == 0 || little != last_little)
            title(t, little ? "Findings of little gain" : "Findings",
                  little ? "patterns that are there, but that hardly anything waits for"
                         : "dearest first, by their share of the program's sectors and wavefronts");
        else
            fputc('\n', t->out);
        last_little = little;
        finding(t, &all->rows[i], i + 1);
        shown++;
    }
    if (of == 0) {
        title(t, "Findings", NULL);
        fprintf(t->out, "  %s\n",
                t->d->coverage.launches_observed > 0
                    ? "none: no access pattern costs enough to be worth a change"
                    : "none: no kernel launch was observed");
    } else if (shown < of) {
        fprintf(t->out, "\n     %sand %u more findings%s\n", t->s.dim, of - shown, t->s.off);
    }
}

/* ---- lines ---- */

static bool has_findings(const text *t, uint32_t kernel)
{
    for (uint32_t i = 0; i < t->d->findings->count; i++)
        if (t->d->findings->rows[i].kernel == kernel)
            return true;
    return false;
}

static bool same_place(const rep_line *a, const rep_line *b)
{
    return a->line ? a->file == b->file && a->line == b->line : !b->line && a->pc == b->pc;
}

/* The line, or the instruction where there is no line information, above the rows of its accesses. */
static void line_head(const text *t, rep_grid *grid, const rep_line *l)
{
    char *place = rep_place(t->arena, rep_file_path(t->d, l->file), l->line);
    const char *source = clean(t, rep_source_line(t->d, t->arena, l->file, l->line));
    if (!place) {
        const prof_code *code = prof_find_code(&t->d->code, l->kernel, l->pc);
        place = wl_arena_printf(t->arena, "pc %u", l->pc);
        source = clean(t, code ? code->text : NULL);
    }
    source += strspn(source, " ");
    const char *head = wl_arena_printf(t->arena, "%s%s%s%s%s", t->s.warn, clean(t, place), t->s.off,
                                       *source ? "  " : "", source);
    if (t->o->width) { /* colours take no columns */
        size_t escapes = strlen(t->s.warn) + strlen(t->s.off);
        head = rep_shorten_end(t->arena, head ? head : "", t->o->width - 2 + escapes);
    }
    rep_grid_banner(grid, head ? head : "");
}

static void line_row(const text *t, rep_grid *grid, const rep_line *l)
{
    bool shared = l->space == OBS_SHARED;
    uint64_t now = shared ? l->wavefronts : l->sectors;
    uint64_t min = shared ? l->wavefronts_min : l->sectors_min;
    const char *cells[] = {
        wl_arena_printf(t->arena, "  %s %s", prof_access_text(l->op), prof_space_text(l->space)),
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

static void lines_of(const text *t, uint32_t kernel)
{
    static const rep_column columns[] = {
        {.head = "line, access"},
        {"requests", .right = true, .spare = 1},
        {"lanes", .right = true, .spare = 3},
        {"sectors", .right = true},
        {"wavefronts", .right = true},
        {"a request", .right = true},
        {"fewest", .right = true, .spare = 2},
        {"excess", .right = true},
    };
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    const rep_line *last = NULL;
    for (uint32_t i = 0; grid && i < t->lines.count; i++) {
        const rep_line *l = &t->lines.rows[i];
        if (l->kernel != kernel)
            continue;
        if (!last || !same_place(last, l))
            line_head(t, grid, l);
        line_row(t, grid, l);
        last = l;
    }
    if (!grid || !last)
        return;
    const prof_kernel *found = prof_find_kernel(&t->d->kernels, kernel);
    title(t, "Lines of", name(t, found ? found->name : "unknown", 10));
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
}

static void lines(const text *t)
{
    for (uint32_t i = 0; i < t->d->kernel_table.count; i++) {
        uint32_t kernel = t->d->kernel_table.rows[i].kernel;
        if (t->o->kernel ? kernel == t->o->kernel : t->o->all_lines || has_findings(t, kernel))
            lines_of(t, kernel);
    }
}

/* ---- coverage ---- */

enum { MOST_GAPS = 8 }; /* lines that are named */

static void fact(const text *t, bool good, const char *words)
{
    fprintf(t->out, "  %s%s%s ", good ? t->s.good : t->s.warn, good ? "+" : "!", t->s.off);
    wrap(t, 4, words ? words : "");
}

static void part(const text *t, uint64_t n, uint64_t of, const char *what)
{
    fact(t, n == of,
         wl_arena_printf(t->arena, "%s of %s %s", rep_count(t->arena, n), rep_count(t->arena, of),
                         what));
}

/* Instructions of one kernel that were not observed for one reason, in a line. */
static void gaps(const text *t, uint32_t from)
{
    const prof_gap *rows = t->d->gaps.rows, *first = &rows[from];
    uint32_t count = t->d->gaps.count, n = 0;
    const char *lines = "";
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kernel != first->kernel || strcmp(rows[i].reason, first->reason) != 0)
            continue;
        if (i < from)
            return; /* said before */
        const prof_code *code = prof_find_code(&t->d->code, first->kernel, rows[i].pc);
        if (code && code->line && n < MOST_GAPS && lines)
            lines = wl_arena_printf(t->arena, "%s%s%u", lines, *lines ? ", " : ", line ",
                                    code->line);
        n++;
    }
    fact(t, false,
         wl_arena_printf(t->arena, "%s of %s not observed%s%s: %s",
                         rep_plural(t->arena, n, "memory instruction", "memory instructions"),
                         rep_kernel_name(t->d, first->kernel), lines ? lines : "",
                         n > MOST_GAPS ? ", ..." : "", first->reason));
}

static void left_out(const text *t)
{
    const rep_data *d = t->d;
    if (d->coverage.launches_estimated)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "%s estimated, from a part of the blocks or from a launch like it",
                             rep_plural(t->arena, d->coverage.launches_estimated, "launch is",
                                        "launches are")));
    for (uint32_t i = 0; i < d->gaps.count; i++)
        gaps(t, i);
    for (uint32_t i = 0; i < d->skips.count; i++)
        fact(t, false,
             wl_arena_printf(t->arena, "%s of %s not observed: %s",
                             rep_plural(t->arena, d->skips.rows[i].count, "launch", "launches"),
                             d->skips.rows[i].kernel, d->skips.rows[i].reason));
    for (uint32_t i = 0; i < d->launches.count; i++)
        if (d->launches.rows[i].fault[0])
            fact(t, false,
                 wl_arena_printf(t->arena, "launch %u failed: %s", d->launches.rows[i].id,
                                 d->launches.rows[i].fault));
    const char *missing = "";
    for (uint32_t i = 0; missing && i < d->unsupported.count; i++)
        missing = wl_arena_printf(t->arena, "%s%s%s", missing, i > 0 ? ", " : "",
                                  d->unsupported.rows[i].api);
    if (missing && *missing)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "CUDA functions that the program asked for and that are not "
                             "there: %s",
                             missing));
    for (uint32_t i = 0; i < d->processes.count; i++)
        if (d->processes.rows[i].cut_off)
            fact(t, false,
                 wl_arena_printf(t->arena, "the record of process %u ends early: %s",
                                 d->processes.rows[i].pid, d->processes.rows[i].cut_off));
    for (uint32_t i = 0; i < d->messages.count; i++)
        fact(t, d->messages.rows[i].level > WL_LOG_WARN, d->messages.rows[i].text);
}

static void without_lines(const text *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->d->kernels.count; i++)
        n += t->d->kernels.rows[i].file == 0;
    if (n)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "%s without line information: compile with nvcc -lineinfo to see "
                             "source lines",
                             rep_plural(t->arena, n, "kernel", "kernels")));
}

static void unread_sources(const text *t)
{
    enum { MOST = 5 };
    const char *names = "";
    uint64_t n = 0;
    for (uint32_t i = 0; names && i < t->d->files.count; i++) {
        const prof_file *f = &t->d->files.rows[i];
        if (f->has_text || f->system || ++n > MOST)
            continue;
        names = wl_arena_printf(t->arena, "%s%s%s (%s)", names, n > 1 ? ", " : "", f->name,
                                f->missing);
    }
    if (n)
        fact(t, false,
             wl_arena_printf(t->arena, "%s could not be read: %s%s",
                             rep_plural(t->arena, n, "source file", "source files"),
                             names ? names : "", n > MOST ? ", ..." : ""));
}

/* Odd blocks that are known, but have no map. */
static void unmapped(const text *t)
{
    enum { MOST = 3 };
    for (uint32_t i = 0, shown = 0; i < t->d->samples.count && shown < MOST; i++) {
        const prof_sample *p = &t->d->samples.rows[i];
        const prof_kernel *k = prof_find_kernel(&t->d->kernels, p->kernel);
        if (p->s.mapped)
            continue;
        fact(t, false,
             wl_arena_printf(t->arena,
                             "block %u,%u,%u of launch %u (%s) is %s, but has no heat map: profile "
                             "again with --block %u,%u,%u",
                             p->s.block_index[0], p->s.block_index[1], p->s.block_index[2],
                             p->launch, name(t, k ? k->short_name : "unknown", 60),
                             rep_why(t->arena, p), p->s.block_index[0], p->s.block_index[1],
                             p->s.block_index[2]));
        shown++;
    }
}

static void coverage(const text *t)
{
    const prof_coverage *c = &t->d->coverage;
    title(t, "Coverage", NULL);
    part(t, c->launches_observed, c->launches_seen, "launches observed");
    part(t, c->kernels_observed, c->kernels_seen, "kernels observed");
    part(t, c->blocks_observed, c->blocks_run, "blocks counted");
    fact(t, true,
         wl_arena_printf(t->arena, "%s sampled for heat maps",
                         rep_plural(t->arena, c->blocks_sampled, "block", "blocks")));
    if (c->records_dropped || c->sectors_dropped)
        fact(t, false,
             wl_arena_printf(t->arena, "%s not counted, %s missing from full heat maps",
                             rep_plural(t->arena, c->records_dropped, "access", "accesses"),
                             rep_plural(t->arena, c->sectors_dropped, "sector", "sectors")));
    else
        fact(t, true, "nothing dropped");
    if (c->objects_without_site)
        fact(t, false,
             wl_arena_printf(t->arena,
                             "%s without a source line: nvcc -g names where the host makes them",
                             rep_plural(t->arena, c->objects_without_site, "object", "objects")));
    unmapped(t);
    without_lines(t);
    unread_sources(t);
    left_out(t);
}

wl_status rep_text(const rep_data *data, const rep_text_options *options, FILE *out, wl_error *err)
{
    static const rep_text_options defaults = {.width = DEFAULT_WIDTH};
    static const style plain = {"", "", "", "", ""};
    static const style colored = {"\033[1m", "\033[2m", "\033[33m", "\033[32m", "\033[0m"};
    text t = {.d = data, .o = options ? options : &defaults, .arena = wl_arena_new(), .out = out};
    t.s = t.o->color ? colored : plain;
    if (!t.arena || rep_lines_of(data, t.arena, &t.lines) != WL_OK) {
        wl_arena_free(t.arena);
        return wl_fail(err, WL_NOMEM, "not enough memory for the report");
    }
    header(&t);
    kernels(&t);
    device_times(&t);
    findings(&t);
    lines(&t);
    coverage(&t);
    wl_arena_free(t.arena);
    return rep_done(out, false, err);
}
