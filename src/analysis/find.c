#include "analysis/finding.h"
#include "analysis/gain.h"
#include "analysis/group.h"
#include "analysis/input.h"
#include "analysis/times.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In order of precedence. */
static ana_detector *const detectors[] = {ana_detect_global, ana_detect_shared};

typedef struct work {
    prof_db *db;
    const ana_thresholds *thresholds;
    wl_arena *arena;
    prof_object_rows objects;
    prof_file_rows files;
    prof_launch_rows launches;
    prof_device_rows devices;
    uint64_t *traffic; /* sectors and wavefronts by kernel id */
    wl_vec(ana_finding) found;
    uint64_t total; /* sectors and wavefronts of the program */
} work;

static wl_status nomem(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

/* ---- judging ---- */

static double total_of(const ana_input *input, const ana_draft *d)
{
    uint64_t total = ana_pattern_get(d->pattern)->unit == ANA_WAVEFRONTS ? input->wavefronts
                                                                         : input->sectors;
    return total ? (double)total : 1;
}

static bool worth_telling(const ana_input *input, const ana_draft *d)
{
    const ana_thresholds *t = input->thresholds;
    double share = d->alone / total_of(input, d);
    bool wasteful = d->requests && d->alone >= t->wasteful * (double)d->requests * (1 - 1e-9);
    return d->excess >= t->min_excess && share >= (wasteful ? t->min_share_wasteful : t->min_share);
}

/* ---- lines ---- */

typedef struct charged_line {
    ana_line line;
    uint32_t file;
    double excess, most; /* of the line, and of its costliest instruction */
} charged_line;

static int by_excess(const void *a, const void *b)
{
    const charged_line *x = a, *y = b;
    if (x->excess != y->excess) {
        return x->excess > y->excess ? -1 : 1;
    }
    return x->line.pc < y->line.pc ? -1 : x->line.pc > y->line.pc;
}

static charged_line *line_of(charged_line *lines, uint32_t *n, const prof_code *code,
                             const ana_input *input, uint32_t pc)
{
    uint32_t file = code ? code->file : 0, line = file ? code->line : 0;
    for (uint32_t i = 0; i < *n; i++) {
        bool same = file ? lines[i].file == file && lines[i].line.line == line
                         : !lines[i].file && lines[i].line.pc == pc;
        if (same) {
            return &lines[i];
        }
    }
    const prof_file *found = prof_find_file(input->files, file);
    lines[*n] = (charged_line){.file = file, .line = {.line = line, .pc = pc}};
    lines[*n].line.file = found ? found->path : NULL;
    return &lines[(*n)++];
}

static bool set_lines(const ana_input *input, const ana_draft *d, ana_finding *f)
{
    charged_line *lines = wl_new_array(input->scratch, charged_line, d->group->ninsns);
    uint32_t n = 0;
    for (uint32_t i = 0; lines && i < d->group->ninsns; i++) {
        const obs_insn *c = &d->group->insns[i].c;
        if (d->insn_excess[i] <= 0) {
            continue;
        }
        charged_line *l = line_of(lines, &n, prof_find_code(&input->code, input->kernel->id, c->pc),
                                  input, c->pc);
        l->excess += d->insn_excess[i];
        l->line.requests += c->requests;
        l->line.sectors += c->sectors;
        l->line.sectors_min += c->sectors_min;
        l->line.wavefronts += c->wavefronts;
        l->line.wavefronts_min += c->wavefronts_min;
        if (d->insn_excess[i] > l->most) {
            l->most = d->insn_excess[i];
            l->line.pc = c->pc;
        }
    }
    if (n) {
        qsort(lines, n, sizeof *lines, by_excess);
    }
    f->nlines = n;
    f->lines = wl_new_array(input->arena, ana_line, n);
    for (uint32_t i = 0; f->lines && i < n; i++) {
        f->lines[i] = lines[i].line;
    }
    return lines && f->lines;
}

/* ---- findings ---- */

static bool add_finding(work *w, const ana_input *input, const ana_draft *d)
{
    ana_finding f = {
        .pattern = d->pattern,
        .kernel = input->kernel->id,
        .object = d->group->object,
        .space = d->group->space,
        .objects = 1,
        .launches = d->launches,
        .example_launch = d->example_launch,
        .excess = (uint64_t)llround(d->excess),
        .share_of_kernel = d->excess / total_of(input, d),
        .nevidence = d->nevidence,
        .nsectors = d->nsectors,
        .summary = d->summary,
        .remedy = d->remedy,
        .advice = group_fill(w->arena, d->remedy, ana_object_text(d->group->info)),
    };
    f.evidence = wl_arena_copy(w->arena, d->evidence, d->nevidence * sizeof *f.evidence);
    f.sectors = wl_arena_copy(w->arena, d->sectors, d->nsectors * sizeof *f.sectors);
    return f.advice && f.evidence && f.sectors && set_lines(input, d, &f) && wl_push(&w->found, f);
}

static wl_status detect(work *w, ana_input *input, ana_drafts *drafts, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t g = 0; g < input->ngroups && status == WL_OK; g++) {
        for (size_t i = 0; i < sizeof detectors / sizeof *detectors && status == WL_OK; i++) {
            status = detectors[i](input, &input->groups[g], drafts, err);
        }
    }
    for (uint32_t i = 0; i < drafts->count && status == WL_OK; i++) {
        if (worth_telling(input, &drafts->rows[i]) && !add_finding(w, input, &drafts->rows[i])) {
            status = nomem(err);
        }
    }
    return status;
}

/* ---- objects allocated again and again ---- */

static const char *name_of(const work *w, uint32_t object)
{
    const prof_object *o = prof_find_object(&w->objects, object);
    return o ? o->name : "";
}

/* Objects that are never alive together have one name where they come from one place. */
static bool alike(const work *w, const ana_finding *a, const ana_finding *b)
{
    return a->pattern == b->pattern && a->space == b->space &&
           strcmp(name_of(w, a->object), name_of(w, b->object)) == 0;
}

/* Text and evidence are those of the costlier one, the lines of both. */
static bool merge(wl_arena *arena, ana_finding *to, const ana_finding *from)
{
    const ana_finding *more = from->excess > to->excess ? from : to, *less = more == to ? from : to;
    uint32_t nlines = 0;
    ana_line *lines = group_join_lines(arena, more->lines, more->nlines, less->lines, less->nlines,
                                       &nlines);
    uint64_t excess = to->excess + from->excess;
    uint32_t objects = to->objects + from->objects, launches = to->launches + from->launches;
    double share = to->share_of_kernel + from->share_of_kernel;
    *to = *more;
    to->excess = excess;
    to->objects = objects;
    to->launches = launches;
    to->share_of_kernel = share;
    to->lines = lines;
    to->nlines = nlines;
    return lines != NULL;
}

typedef struct order_key {
    const work *w;
    const ana_finding *f;
} order_key;

static int by_name(const void *a, const void *b)
{
    const order_key *x = a, *y = b;
    int order = x->f->pattern < y->f->pattern ? -1 : x->f->pattern > y->f->pattern;
    order = order ? order : strcmp(name_of(x->w, x->f->object), name_of(y->w, y->f->object));
    return order ? order : x->f->object < y->f->object ? -1 : x->f->object > y->f->object;
}

/* Of one kernel: found.data[first ..]. */
static wl_status merge_objects(work *w, size_t first, wl_arena *scratch, wl_error *err)
{
    size_t n = w->found.count - first, kept = 0;
    order_key *order = wl_new_array(scratch, order_key, n);
    ana_finding *rows = wl_new_array(scratch, ana_finding, n);
    if (!order || !rows) {
        return nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = (order_key){w, &w->found.data[first + i]};
    }
    if (n) {
        qsort(order, n, sizeof *order, by_name);
    }
    for (size_t i = 0; i < n; i++) {
        if (kept && alike(w, &rows[kept - 1], order[i].f)) {
            if (!merge(w->arena, &rows[kept - 1], order[i].f)) {
                return nomem(err);
            }
        } else {
            rows[kept++] = *order[i].f;
        }
    }
    for (size_t i = 0; i < kept; i++) {
        w->found.data[first + i] = rows[i];
    }
    w->found.count = first + kept;
    return WL_OK;
}

static wl_status find_in_kernel(work *w, const prof_kernel *kernel, wl_error *err)
{
    ana_drafts drafts = {0};
    ana_input input = {
        .db = w->db, .thresholds = w->thresholds, .kernel = kernel, .files = &w->files};
    input.arena = w->arena;
    input.scratch = wl_arena_new();
    size_t first = w->found.count;
    wl_status status = input.scratch ? ana_input_load(&input, &w->objects, err) : nomem(err);
    status = status == WL_OK ? detect(w, &input, &drafts, err) : status;
    status = status == WL_OK ? merge_objects(w, first, input.scratch, err) : status;
    w->traffic[kernel->id] = input.sectors + input.wavefronts;
    w->total += w->traffic[kernel->id];
    free(drafts.rows);
    wl_arena_free(input.scratch);
    return status;
}

/* ---- all ---- */

static int by_cost(const void *a, const void *b)
{
    const ana_finding *x = a, *y = b;
    bool little = x->gain != ANA_GAIN_FULL;
    if (little != (y->gain != ANA_GAIN_FULL)) {
        return little ? 1 : -1;
    }
    if (x->share_of_program != y->share_of_program) {
        return x->share_of_program > y->share_of_program ? -1 : 1;
    }
    if (x->excess != y->excess) {
        return x->excess > y->excess ? -1 : 1;
    }
    if (x->kernel != y->kernel) {
        return x->kernel < y->kernel ? -1 : 1;
    }
    if (x->object != y->object) {
        return x->object < y->object ? -1 : 1;
    }
    return (int)x->pattern - (int)y->pattern;
}

static bool judge(work *w)
{
    double *seconds = ana_launch_seconds(&w->launches, w->arena);
    gain_input in = {w->thresholds, &w->launches, seconds, &w->devices, w->arena};
    gain_kernel k = {0};
    for (size_t i = 0; seconds && i < w->found.count; i++) {
        ana_finding *f = &w->found.data[i];
        double total = w->total ? (double)w->total : 1;
        f->share_of_program = (double)f->excess / total;
        if (i == 0 || f->kernel != f[-1].kernel) {
            k = gain_of_kernel(&in, f->kernel, (double)w->traffic[f->kernel] / total);
        }
        if (!gain_set(&in, &k, prof_find_object(&w->objects, f->object), f)) {
            return false;
        }
    }
    return seconds != NULL;
}

static wl_status rank(work *w, const prof_kernel_rows *kernels, ana_findings *out, wl_error *err)
{
    if (!judge(w)) {
        return nomem(err);
    }
    if (w->found.count) {
        qsort(w->found.data, w->found.count, sizeof *w->found.data, by_cost);
    }
    wl_status status = group_findings(w->found.data, (uint32_t)w->found.count, kernels, &w->objects,
                                      w->arena, out);
    return status == WL_OK ? WL_OK : nomem(err);
}

wl_status ana_find(prof_db *profile, const ana_thresholds *thresholds, wl_arena *arena,
                   ana_findings *out, wl_error *err)
{
    work w = {.db = profile, .thresholds = thresholds, .arena = arena};
    prof_kernel_rows kernels;
    *out = (ana_findings){0};
    wl_status status = prof_load_kernels(profile, arena, &kernels, err);
    status = status == WL_OK ? prof_load_objects(profile, arena, &w.objects, err) : status;
    status = status == WL_OK ? prof_load_files(profile, arena, &w.files, err) : status;
    status = status == WL_OK ? prof_load_launches(profile, PROF_ALL, arena, &w.launches, err)
                             : status;
    status = status == WL_OK ? prof_load_devices(profile, arena, &w.devices, err) : status;
    if (status == WL_OK) { /* ids count from 1 */
        uint32_t last = kernels.count ? kernels.rows[kernels.count - 1].id : 0;
        w.traffic = wl_new_array(arena, uint64_t, (size_t)last + 1);
        status = w.traffic ? WL_OK : nomem(err);
    }
    for (uint32_t i = 0; status == WL_OK && i < kernels.count; i++) {
        status = find_in_kernel(&w, &kernels.rows[i], err);
    }
    status = status == WL_OK ? rank(&w, &kernels, out, err) : status;
    wl_vec_free(&w.found);
    return status;
}
