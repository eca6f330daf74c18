/* The HTML report's data, all but the columns of heat maps. */
#include "report/impl.h"
#include "report/keys.h"

#include "base/version.h"
#include "ir/module.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_LAUNCHES = 2000,
    WHOLE_LINES = 1500,
    CONTEXT = 30,
    BRIEF = 80, /* columns of a kernel's name in coverage */
    /* compressed; a third more in the file, which stays below 20 MB */
    MAPS_BYTES = 10000000,
    CODE_BYTES = 1000000,
    LISTING_BYTES = 1000000,
    PHASES_BYTES = 2000000,
    EXPLORE_BYTES = 2000000
};

/* ---- program and device ---- */

static void put_start(json_t *row, int64_t start_ns)
{
    char text[40];
    time_t seconds = (time_t)(start_ns / 1000000000);
    struct tm utc;
    if (start_ns > 0 && gmtime_r(&seconds, &utc) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        rep_put_text(row, K(page_program, started), text);
}

static json_t *program_json(const rep_data *d)
{
    json_t *row = json_object(), *arguments = json_array();
    const prof_process *p = d->processes.count ? &d->processes.rows[0] : NULL;
    for (uint32_t i = 1; p && i < p->argc; i++)
        json_array_append_new(arguments, rep_text_json(p->argv[i]));
    rep_put_text(row, K(page_program, executable), p ? p->executable : "unknown");
    rep_put(row, K(page_program, arguments), arguments);
    rep_put_count(row, K(page_program, processes), d->processes.count);
    if (p && p->host[0])
        rep_put_text(row, K(page_program, host), p->host);
    if (p)
        put_start(row, p->start_ns);
    rep_put_text(row, K(page_program, collector), d->info.collector);
    return row;
}

static json_t *page_device_json(const rep_data *d)
{
    const prof_device *device = &d->devices.rows[0];
    char cc[32];
    snprintf(cc, sizeof cc, "%u.%u", device->cc_major, device->cc_minor);
    json_t *row = json_object();
    rep_put_text(row, K(page_device, name), device->name);
    rep_put_text(row, K(page_device, compute_capability), cc);
    if (device->num_sms)
        rep_put_count(row, K(page_device, sms), device->num_sms);
    if (device->global_bytes)
        rep_put_count(row, K(page_device, bytes), device->global_bytes);
    return row;
}

/* ---- sources: the whole file where it is short, else windows around the lines that matter ---- */

typedef struct needed { /* by line, 1 .. count */
    bool *lines;
    uint32_t count;
    bool any;
} needed;

static void need_around(needed *n, uint32_t line)
{
    n->any = true;
    uint32_t from = line > CONTEXT ? line - CONTEXT : 1;
    for (uint32_t i = from; i <= n->count && i <= line + CONTEXT; i++)
        n->lines[i] = true;
}

/* Places within helpers, too, which the code's own lines are not. */
static void need_lines_of_findings(const rep_data *d, const char *path, needed *n)
{
    for (uint32_t i = 0; i < d->findings->count; i++) {
        const ana_finding *f = &d->findings->rows[i];
        for (uint32_t k = 0; k < f->nlines; k++)
            if (f->lines[k].file && !strcmp(f->lines[k].file, path))
                need_around(n, f->lines[k].line);
    }
}

static void need_listed_lines(const rep_data *d, uint32_t file, needed *n)
{
    for (uint32_t i = 0; i < d->listings.count; i++) {
        const prof_listing *l = &d->listings.rows[i];
        uint32_t last = 0;
        for (uint32_t k = 0; l->insns && k < l->ninsns; k++) {
            if (l->insns[k].file == file && l->insns[k].line != last)
                need_around(n, l->insns[k].line);
            last = l->insns[k].file == file ? l->insns[k].line : 0;
        }
    }
}

static void need_lines(const rep_data *d, uint32_t file, needed *n)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < d->code.count; i++) {
        const prof_code *code = &d->code.rows[i];
        if (code->file == file && code->line != last)
            need_around(n, code->line);
        last = code->file == file ? code->line : 0;
    }
    need_listed_lines(d, file, n);
    for (uint32_t i = 0; i < d->kernels.count; i++)
        if (d->kernels.rows[i].file == file)
            need_around(n, d->kernels.rows[i].line);
    for (uint32_t i = 0; i < d->objects.count; i++)
        if (d->objects.rows[i].file == file)
            need_around(n, d->objects.rows[i].line);
    for (uint32_t i = 0; n->count && i < d->courses.count; i++)
        for (uint32_t k = 0; k < d->courses.rows[i].sites.count; k++)
            if (d->courses.rows[i].sites.rows[k].file == file)
                need_around(n, d->courses.rows[i].sites.rows[k].line);
}

static uint32_t count_lines(const char *text, size_t length)
{
    uint32_t count = 1;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + length - p))); p++)
        count++;
    return count;
}

static void add_chunk(json_t *chunks, uint32_t first, const char *from, const char *to)
{
    char *text = strndup(from, (size_t)(to - from));
    json_t *chunk = json_object();
    rep_put_count(chunk, K(page_chunk, first), first);
    rep_put_text(chunk, K(page_chunk, text), text ? text : "");
    json_array_append_new(chunks, chunk);
    free(text);
}

static json_t *chunks_json(const char *text, size_t length, const needed *n)
{
    json_t *chunks = json_array();
    const char *end = text + length, *start = NULL;
    uint32_t first = 0;
    for (uint32_t line = 1; line <= n->count; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (n->lines[line] && !start) {
            start = text;
            first = line;
        } else if (!n->lines[line] && start) {
            add_chunk(chunks, first, start, text - 1);
            start = NULL;
        }
        text = newline ? newline + 1 : end;
    }
    if (start)
        add_chunk(chunks, first, start, end);
    return chunks;
}

/* NULL where the report says nothing about the file. */
static json_t *file_json(const rep_data *d, const prof_file *file)
{
    const char *text = "";
    size_t length = 0;
    bool loaded = rep_loaded_text(d, file->id, &text, &length);
    needed n = {.count = loaded ? count_lines(text, length) : 0};
    n.lines = calloc((size_t)n.count + 2, sizeof *n.lines);
    if (!n.lines)
        return NULL;
    need_lines(d, file->id, &n);
    need_lines_of_findings(d, file->path, &n);
    json_t *row = NULL;
    if (n.any) {
        if (n.count <= WHOLE_LINES)
            memset(n.lines, true, n.count + 1);
        row = json_object();
        rep_put_count(row, K(page_file, id), file->id);
        rep_put_text(row, K(page_file, path), file->path);
        if (!loaded && file->missing[0])
            rep_put_text(row, K(page_file, missing), file->missing);
        rep_put(row, K(page_file, chunks), loaded ? chunks_json(text, length, &n) : json_array());
    }
    free(n.lines);
    return row;
}

/* ---- kernels and launches ---- */

/* Instructions of warps by cost class, over the kernel's observed launches. */
static json_t *mix_json(const rep_data *d, uint32_t kernel)
{
    json_t *mix = json_array();
    for (uint32_t class = 0; class < IR_COST_COUNT; class ++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < d->launches.count; i++)
            if (d->launches.rows[i].kernel == kernel)
                sum += d->launches.rows[i].count *
                       d->launches.rows[i].mix->warp_instructions[class];
        if (sum == 0)
            continue;
        json_t *row = json_object();
        rep_put_text(row, K(page_mix, class), prof_class_text(class));
        rep_put_count(row, K(page_mix, instructions), sum);
        json_array_append_new(mix, row);
    }
    return mix;
}

/* ---- the model ---- */

static json_t *resources_json(const ana_model *m)
{
    json_t *rows = json_array();
    model_resource order[MODEL_RESOURCES];
    uint32_t count = model_resources_by_time(m, order);
    for (uint32_t i = 0; i < count; i++) {
        json_t *row = json_object();
        rep_put_text(row, K(page_resource, name), model_resource_name(order[i]));
        rep_put_text(row, K(page_resource, words), model_resource_words(order[i]));
        rep_put_seconds(row, K(page_resource, seconds), m->resources[order[i]]);
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *benefits_json(const model_benefits *b)
{
    json_t *row = json_object();
    rep_put_benefits(row, b);
    rep_put_seconds(row, K(page_benefits, computation), b->computation);
    rep_put_seconds(row, K(page_benefits, memory), b->memory);
    rep_put_seconds(row, K(page_benefits, overlap), b->overlap);
    rep_put_seconds(row, K(page_benefits, least_computation), b->least_computation);
    rep_put_seconds(row, K(page_benefits, least_memory), b->least_memory);
    return row;
}

static json_t *prediction_json(const ana_model *m, const ana_kernel *k)
{
    double measured = rep_measured_seconds(k, m);
    json_t *row = json_object();
    rep_put_seconds(row, K(page_model, seconds), m->seconds);
    rep_put_seconds(row, K(page_model, low), m->low);
    rep_put_seconds(row, K(page_model, high), m->high);
    rep_put_unsure(row, K(page_model, unsure), m, model_unsure_words);
    rep_put_text(row, K(page_model, bound), model_resource_name(m->bound));
    rep_put(row, K(page_model, resources), resources_json(m));
    rep_put(row, K(page_model, benefits), benefits_json(&m->benefits));
    rep_put(row, K(page_model, roofline), rep_roofline_json(m));
    rep_put_seconds(row, K(page_model, measured), measured);
    rep_put_seconds(row, K(page_model, efficiency), ana_efficiency(m, measured));
    return row;
}

/* Of the kernel, and how full its costliest launch makes the multiprocessors. */
static void put_model(json_t *row, const rep_data *d, const ana_kernel *k,
                      const prof_launch *launch)
{
    const ana_model *model = ana_model_of_kernel(&d->models, k->kernel);
    const ana_model *of_launch = launch ? ana_model_of(&d->models, launch->kind) : NULL;
    if (model)
        rep_put(row, K(page_kernel, model), prediction_json(model, k));
    else if (of_launch)
        rep_put_text(row, K(page_kernel, model_missing), of_launch->missing);
    if (of_launch)
        rep_put(row, K(page_kernel, occupancy), rep_occupancy_json(&of_launch->occupancy));
}

/* ---- kernels ---- */

static void put_kernel_sums(json_t *row, const rep_data *d, const ana_kernel *k)
{
    rep_put_count(row, K(page_kernel, requests), k->counts.requests);
    rep_put_count(row, K(page_kernel, sectors), k->counts.sectors);
    rep_put_count(row, K(page_kernel, sectors_min), k->counts.sectors_min);
    rep_put_count(row, K(page_kernel, wavefronts), k->counts.wavefronts);
    rep_put_count(row, K(page_kernel, wavefronts_min), k->counts.wavefronts_min);
    if (rep_has_gaps(d, k->kernel))
        rep_put(row, K(page_kernel, lacks), json_true());
}

static void put_machine_code(json_t *row, const prof_kernel *kernel)
{
    if (kernel && kernel->machine_sm)
        rep_put_count(row, K(page_kernel, machine_code), kernel->machine_sm);
    if (kernel && kernel->machine_missing[0])
        rep_put_text(row, K(page_kernel, machine_code_missing), kernel->machine_missing);
}

static void put_family(json_t *row, const rep_data *d, uint32_t kernel)
{
    const ana_member *member;
    const ana_family *family = rep_family_of(d, kernel, &member);
    if (family->count < 2)
        return;
    rep_put_text(row, K(page_kernel, family), family->name);
    rep_put_text(row, K(page_kernel, instance), member->label);
}

static json_t *kernel_json(const rep_data *d, const ana_kernel *k, rep_parts *parts)
{
    static const uint32_t unknown[3] = {0, 0, 0};
    const prof_kernel *kernel = prof_find_kernel(&d->kernels, k->kernel);
    const prof_launch *launch = rep_costliest_launch(d, k->kernel);
    json_t *row = json_object();
    rep_put_count(row, K(page_kernel, id), k->kernel);
    rep_put_text(row, K(page_kernel, name), kernel ? kernel->name : "unknown");
    rep_put_text(row, K(page_kernel, short_name), kernel ? kernel->short_name : "unknown");
    put_family(row, d, k->kernel);
    if (kernel && kernel->module[0])
        rep_put_text(row, K(page_kernel, module), rep_base_name(kernel->module));
    if (kernel && kernel->file && kernel->line) {
        rep_put_count(row, K(page_kernel, file), kernel->file);
        rep_put_count(row, K(page_kernel, line), kernel->line);
    }
    put_machine_code(row, kernel);
    rep_put_count(row, K(page_kernel, launches), k->launches);
    rep_put_dim(row, K(page_kernel, grid), launch ? launch->grid : unknown);
    rep_put_dim(row, K(page_kernel, block), launch ? launch->block : unknown);
    rep_put_count(row, K(page_kernel, thread_instructions), k->counts.thread_instructions);
    if (k->device.timed) {
        rep_put_seconds(row, K(page_kernel, device_seconds), k->device.seconds);
        rep_put_count(row, K(page_kernel, timed), k->device.timed);
        rep_put_count(row, K(page_kernel, noted), k->device.launches);
    }
    put_kernel_sums(row, d, k);
    rep_put(row, K(page_kernel, mix), mix_json(d, k->kernel));
    put_model(row, d, k, launch);
    rep_put_code(row, d, k->kernel, parts);
    return row;
}

static int by_launch(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The launches that a finding, a map or the explorer refers to, ascending. NULL without memory. */
static uint32_t *example_launches(const rep_data *d, wl_arena *arena, uint32_t *count)
{
    size_t most = (size_t)d->findings->count + d->nheats + d->warps.count + d->npaths + d->nserved;
    uint32_t *launches = wl_new_array(arena, uint32_t, most + 1);
    *count = 0;
    for (uint32_t i = 0; launches && i < d->findings->count; i++)
        if (d->findings->rows[i].access)
            launches[(*count)++] = d->findings->rows[i].access->example_launch;
    for (uint32_t i = 0; launches && i < d->nheats; i++)
        launches[(*count)++] = d->heats[i].info.launch;
    for (uint32_t i = 0; launches && i < d->warps.count; i++)
        launches[(*count)++] = d->warps.rows[i].launch;
    for (uint32_t i = 0; launches && i < d->npaths; i++)
        launches[(*count)++] = d->paths[i].hashed.launch;
    for (uint32_t i = 0; launches && i < d->nserved; i++)
        launches[(*count)++] = d->served[i].launch;
    if (launches)
        qsort(launches, *count, sizeof *launches, by_launch);
    return launches;
}

static json_t *samples_json(const rep_data *d, uint32_t launch)
{
    uint32_t count;
    const prof_sample *samples = rep_samples(d, launch, &count);
    json_t *rows = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *row = json_object();
        rep_put_dim(row, K(page_sample, block), samples[i].s.block_index);
        rep_put_sample(row, &samples[i]);
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *launch_json(const rep_data *d, const prof_launch *l)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_launch, id), l->id);
    rep_put_count(row, K(page_launch, kernel), l->kernel);
    rep_put_dim(row, K(page_launch, grid), l->grid);
    rep_put_dim(row, K(page_launch, block), l->block);
    rep_put_count(row, K(page_launch, stream), l->stream);
    if (l->blocks_run > 0)
        rep_put_count(row, K(page_launch, thread_instructions), l->thread_instructions);
    rep_put_seconds(row, K(page_launch, host_seconds), l->host_seconds / (double)l->count);
    rep_put_seconds(row, K(page_launch, device_seconds),
                    l->timed ? l->device_seconds / (double)l->timed : -1);
    rep_put_count(row, K(page_launch, blocks_run), l->blocks_run);
    rep_put_count(row, K(page_launch, blocks_observed), l->blocks_observed);
    rep_put_count(row, K(page_launch, blocks_sampled), l->blocks_sampled);
    if (l->estimated)
        rep_put(row, K(page_launch, estimated), json_true());
    rep_put(row, K(page_launch, samples), samples_json(d, l->id));
    if (l->fault[0])
        rep_put_text(row, K(page_launch, fault), l->fault);
    return row;
}

/* Returns how many were left out: of launches that are alike all but the first. */
static uint64_t put_page_launches(rep_json_out *j, const rep_data *d, wl_arena *arena)
{
    uint64_t left_out = 0;
    uint32_t nexamples;
    const uint32_t *examples = example_launches(d, arena, &nexamples);
    rep_json_array(j, K(page, launches));
    for (uint32_t i = 0; i < d->launches.count; i++) {
        uint32_t id = d->launches.rows[i].id;
        if (i < MAX_LAUNCHES ||
            (examples && bsearch(&id, examples, nexamples, sizeof id, by_launch)))
            rep_json_row(j, launch_json(d, &d->launches.rows[i]));
        else
            left_out++;
        left_out += d->launches.rows[i].count - 1;
    }
    rep_json_array_end(j);
    return left_out;
}

/* ---- instructions, objects ---- */

static json_t *shapes_json(const obs_insn *c)
{
    json_t *shapes = json_object();
    rep_put_count(shapes, K(page_shapes, uniform), c->uniform);
    rep_put_count(shapes, K(page_shapes, contiguous), c->contiguous);
    rep_put_count(shapes, K(page_shapes, misaligned), c->misaligned);
    rep_put_count(shapes, K(page_shapes, strided), c->strided);
    rep_put_count(shapes, K(page_shapes, irregular), c->irregular);
    return shapes;
}

static json_t *page_instruction_json(const rep_data *d, const prof_instruction *i)
{
    const prof_code *code = prof_find_code(&d->code, i->kernel, i->c.pc);
    json_t *row = json_object();
    rep_put_count(row, K(page_instruction, kernel), i->kernel);
    rep_put_count(row, K(page_instruction, pc), i->c.pc);
    rep_put_count(row, K(page_instruction, executions), i->executions);
    rep_put_text(row, K(page_instruction, op), prof_access_text(i->c.op));
    rep_put_text(row, K(page_instruction, space), prof_space_text(i->c.space));
    if (i->c.object)
        rep_put_count(row, K(page_instruction, object), i->c.object);
    if (code && code->file && code->line) {
        rep_put_count(row, K(page_instruction, file), code->file);
        rep_put_count(row, K(page_instruction, line), code->line);
    }
    if (code)
        rep_put_text(row, K(page_instruction, text), code->text);
    rep_put_count(row, K(page_instruction, bytes), i->c.bytes);
    rep_put_count(row, K(page_instruction, requests), i->c.requests);
    rep_put_count(row, K(page_instruction, active_lanes), i->c.active_lanes);
    rep_put_count(row, K(page_instruction, sectors), i->c.sectors);
    rep_put_count(row, K(page_instruction, sectors_min), i->c.sectors_min);
    rep_put_count(row, K(page_instruction, wavefronts), i->c.wavefronts);
    rep_put_count(row, K(page_instruction, wavefronts_min), i->c.wavefronts_min);
    rep_put(row, K(page_instruction, shapes), shapes_json(&i->c));
    rep_put_number(row, K(page_instruction, stride), (double)i->c.stride);
    return row;
}

static json_t *use_json(const ana_use *use, uint64_t bytes)
{
    json_t *row = json_object();
    rep_put_use(row, use, bytes);
    return row;
}

static json_t *object_json(const rep_data *d, const prof_object *o)
{
    json_t *row = json_object();
    const ana_use *use = rep_use_of(d, o->id);
    rep_put_count(row, K(page_object, id), o->id);
    rep_put_text(row, K(page_object, name), o->name);
    rep_put_text(row, K(page_object, kind), prof_object_kind_text(o->kind));
    rep_put_text(row, K(page_object, space), prof_space_text(o->space));
    rep_put_count(row, K(page_object, bytes), o->bytes);
    if (o->base < (UINT64_C(1) << 53)) /* what the page's numbers hold */
        rep_put_count(row, K(page_object, base), o->base);
    if (o->kernel)
        rep_put_count(row, K(page_object, kernel), o->kernel);
    if (o->file && o->line) {
        rep_put_count(row, K(page_object, file), o->file);
        rep_put_count(row, K(page_object, line), o->line);
    }
    if (o->function[0])
        rep_put_text(row, K(page_object, function), o->function);
    if (o->process) {
        rep_put_count(row, K(page_object, process), o->process);
        rep_put_count(row, K(page_object, device), o->device);
        rep_put(row, K(page_object, freed), json_boolean(o->freed));
    }
    if (use && !use->unknown)
        rep_put(row, K(page_object, use), use_json(use, o->bytes));
    return row;
}

/* ---- findings ---- */

static json_t *finding_line_json(const rep_data *d, const ana_line *l)
{
    const prof_file *file = rep_file_by_path(d, l->file);
    json_t *row = json_object();
    if (file && l->line) {
        rep_put_count(row, K(page_line, file), file->id);
        rep_put_count(row, K(page_line, line), l->line);
    }
    rep_put_count(row, K(page_line, pc), l->pc);
    if (l->inside)
        rep_put(row, K(page_line, inside), json_true());
    rep_put_count(row, K(page_line, requests), l->requests);
    rep_put_count(row, K(page_line, sectors), l->sectors);
    rep_put_count(row, K(page_line, sectors_min), l->sectors_min);
    rep_put_count(row, K(page_line, wavefronts), l->wavefronts);
    rep_put_count(row, K(page_line, wavefronts_min), l->wavefronts_min);
    return row;
}

static json_t *evidence_json(const ana_evidence *e)
{
    json_t *row = json_object();
    rep_put_text(row, K(page_evidence, name), e->name);
    rep_put_text(row, K(page_evidence, label), e->label);
    rep_put_number(row, K(page_evidence, value), e->value);
    rep_put_text(row, K(page_evidence, unit), e->unit);
    return row;
}

static json_t *sector_json(const ana_sector *s)
{
    json_t *row = json_object(), *words = json_array();
    rep_put_number(row, K(page_sector, offset), (double)(int64_t)s->offset);
    rep_put_count(row, K(page_sector, temperature), s->temperature);
    for (int w = 0; w < OBS_WORDS_PER_SECTOR; w++)
        json_array_append_new(words, json_integer(s->word[w]));
    rep_put(row, K(page_sector, words), words);
    return row;
}

/* The part of findings about accesses. */
static json_t *page_access_json(const ana_access *a)
{
    json_t *row = json_object(), *sectors = json_array();
    for (uint32_t i = 0; i < a->nsectors; i++)
        json_array_append_new(sectors, sector_json(&a->sectors[i]));
    rep_put_text(row, K(page_access, space), prof_space_text(a->space));
    rep_put_count(row, K(page_access, launches), a->launches);
    rep_put_count(row, K(page_access, example_launch), a->example_launch);
    rep_put_count(row, K(page_access, objects), a->objects);
    rep_put(row, K(page_access, sectors), sectors);
    return row;
}

static void put_page_cost(json_t *row, const ana_finding *f)
{
    rep_put_text(row, K(page_finding, unit), ana_unit_text(f->cost.unit));
    rep_put_count(row, K(page_finding, excess), f->cost.excess);
    if (f->kernel)
        rep_put_number(row, K(page_finding, share_of_kernel), f->cost.share_of_kernel);
    rep_put_number(row, K(page_finding, share_of_program), f->cost.share_of_program);
    rep_put_seconds(row, K(page_finding, kernel_share_of_time), f->kernel_share_of_time);
    rep_put_text(row, K(page_finding, gain), ana_gain_name(f->gain));
    if (f->gain != ANA_GAIN_FULL)
        rep_put_text(row, K(page_finding, gain_note), f->gain_note);
    if (f->worth.known)
        rep_put(row, K(page_finding, worth), rep_gain_json(&f->worth, true));
    if (f->nremedies)
        rep_put(row, K(page_finding, remedies), rep_remedies_json(f));
}

static json_t *page_finding_json(const rep_data *d, const ana_finding *f)
{
    const ana_pattern_info *pattern = ana_pattern_get(f->pattern);
    json_t *row = json_object(), *lines = json_array(), *evidence = json_array();
    for (uint32_t i = 0; i < f->nlines; i++)
        json_array_append_new(lines, finding_line_json(d, &f->lines[i]));
    for (uint32_t i = 0; i < f->nevidence; i++)
        json_array_append_new(evidence, evidence_json(&f->evidence[i]));
    rep_put_count(row, K(page_finding, number), f->number);
    rep_put_text(row, K(page_finding, pattern), pattern->name);
    rep_put_text(row, K(page_finding, title), pattern->title);
    rep_put_text(row, K(page_finding, subject), ana_scope_name(f->scope));
    if (f->kernel)
        rep_put_count(row, K(page_finding, kernel), f->kernel);
    if (f->object)
        rep_put_count(row, K(page_finding, object), f->object);
    rep_put(row, K(page_finding, parameters), rep_passed_json(d, f->kernel, f->object));
    put_page_cost(row, f);
    rep_put_text(row, K(page_finding, summary), f->summary ? f->summary : "");
    rep_put(row, K(page_finding, lines), lines);
    rep_put(row, K(page_finding, evidence), evidence);
    if (f->access)
        rep_put(row, K(page_finding, access), page_access_json(f->access));
    if (f->refusal)
        rep_put(row, K(page_finding, refusal), rep_refusal_json(d, f->refusal));
    if (f->frequency)
        rep_put(row, K(page_finding, frequency), rep_frequency_json(f->frequency));
    return row;
}

static json_t *ids_json(const uint32_t *ids, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        if (ids[i])
            json_array_append_new(list, json_integer(ids[i]));
    return list;
}

static json_t *page_group_json(const rep_data *d, const ana_finding_group *g)
{
    const ana_finding *f = &d->findings->rows[g->first];
    json_t *row = json_object();
    rep_put_count(row, K(page_group, first), g->first);
    rep_put_count(row, K(page_group, count), g->count);
    rep_put(row, K(page_group, kernels), ids_json(g->kernels, g->nkernels));
    rep_put(row, K(page_group, objects), ids_json(g->objects, g->nobjects));
    rep_put_count(row, K(page_group, excess), g->cost.excess);
    rep_put_number(row, K(page_group, share_of_program), g->cost.share_of_program);
    if (g->worth.known)
        rep_put(row, K(page_group, worth), rep_gain_json(&g->worth, g->nkernels == 1));
    if (f->gain != ANA_GAIN_FULL)
        rep_put_text(row, K(page_group, gain_reason), ana_gain_reason(f->gain));
    rep_put_text(row, K(page_group, advice),
                 g->advice && *g->advice ? g->advice : ana_pattern_get(f->pattern)->remedy);
    return row;
}

/* ---- memory, coverage ---- */

static json_t *page_peak_json(const rep_data *d, const ana_peak *peak, wl_arena *arena)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_peak, process), peak->process);
    rep_put_count(row, K(page_peak, device), peak->device);
    rep_put_count(row, K(page_peak, bytes), peak->bytes);
    rep_put_text(row, K(page_peak, call), rep_call_text(d, arena, peak->call));
    rep_put(row, K(page_peak, objects), ids_json(peak->objects, peak->nobjects));
    return row;
}

static json_t *page_device_memory_json(const rep_data *d, const ana_device_memory *m)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_device_memory, process), m->process);
    rep_put_count(row, K(page_device_memory, device), m->device);
    rep_put_text(row, K(page_device_memory, name), rep_device_name(d, m->process, m->device));
    rep_put_count(row, K(page_device_memory, peak_bytes), m->peak_bytes);
    return row;
}

static json_t *courses_json(const rep_data *d, wl_arena *arena, rep_parts *parts)
{
    json_t *courses = json_array();
    for (uint32_t i = 0; i < d->courses.count; i++) {
        json_t *course = rep_pack_course(d, &d->courses.rows[i], arena, parts);
        parts->failed |= !course;
        if (course)
            json_array_append_new(courses, course);
    }
    return courses;
}

static json_t *page_memory_json(const rep_data *d, rep_parts *parts, wl_arena *arena)
{
    json_t *memory = json_object(), *peaks = json_array(), *devices = json_array();
    for (uint32_t i = 0; i < d->memory.npeaks; i++)
        json_array_append_new(peaks, page_peak_json(d, &d->memory.peaks[i], arena));
    for (uint32_t i = 0; i < d->memory.ndevices; i++)
        json_array_append_new(devices, page_device_memory_json(d, &d->memory.devices[i]));
    if (d->processes.count > 0)
        rep_put_count(memory, K(page_memory, peak_bytes), d->memory.peak_bytes);
    rep_put(memory, K(page_memory, peaks), peaks);
    rep_put(memory, K(page_memory, devices), devices);
    rep_put(memory, K(page_memory, courses), courses_json(d, arena, parts));
    return memory;
}

static json_t *skipped_json(const rep_data *d, wl_arena *arena)
{
    json_t *skipped = json_array();
    for (uint32_t i = 0; i < d->skips.count; i++) {
        json_t *row = json_object();
        rep_put_text(row, K(page_skip, kernel), d->skips.rows[i].kernel);
        rep_put_text(row, K(page_skip, short_name),
                     rep_brief_name(arena, d->skips.rows[i].kernel, BRIEF));
        rep_put_text(row, K(page_skip, reason),
                     rep_readable(arena, d->skips.rows[i].reason, BRIEF));
        rep_put_count(row, K(page_skip, launches), d->skips.rows[i].count);
        json_array_append_new(skipped, row);
    }
    return skipped;
}

static void add_page_message(json_t *messages, const char *level, const char *text)
{
    json_t *row = json_object();
    rep_put_text(row, K(page_message, level), level);
    rep_put_text(row, K(page_message, text), text);
    json_array_append_new(messages, row);
}

static json_t *messages_json(const rep_data *d, wl_arena *arena)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    json_t *messages = json_array();
    for (uint32_t i = 0; i < d->messages.count; i++)
        add_page_message(messages, levels[d->messages.rows[i].level & 3],
                         rep_readable(arena, d->messages.rows[i].text, BRIEF));
    return messages;
}

static json_t *page_coverage_json(const rep_data *d, wl_arena *arena, uint64_t maps_left_out,
                                  uint64_t launches_left_out)
{
    const prof_coverage *c = &d->coverage;
    json_t *row = json_object(), *calls = json_array();
    rep_put_count(row, K(page_coverage, launches_seen), c->launches_seen);
    rep_put_count(row, K(page_coverage, launches_observed), c->launches_observed);
    rep_put_count(row, K(page_coverage, launches_failed), c->launches_failed);
    if (c->launches_estimated)
        rep_put_count(row, K(page_coverage, launches_estimated), c->launches_estimated);
    rep_put_count(row, K(page_coverage, kernels_seen), c->kernels_seen);
    rep_put_count(row, K(page_coverage, kernels_observed), c->kernels_observed);
    rep_put_count(row, K(page_coverage, blocks_run), c->blocks_run);
    rep_put_count(row, K(page_coverage, blocks_observed), c->blocks_observed);
    rep_put_count(row, K(page_coverage, blocks_sampled), c->blocks_sampled);
    rep_put_count(row, K(page_coverage, launches_mapped), c->launches_mapped);
    rep_put_count(row, K(page_coverage, records_dropped), c->records_dropped);
    rep_put_count(row, K(page_coverage, sectors_dropped), c->sectors_dropped);
    rep_put_count(row, K(page_coverage, processes), c->processes);
    rep_put_count(row, K(page_coverage, objects_without_site), c->objects_without_site);
    rep_put_count(row, K(page_coverage, sources_missing), c->sources_missing);
    for (uint32_t i = 0; i < d->unsupported.count; i++)
        json_array_append_new(calls, rep_text_json(d->unsupported.rows[i].api));
    rep_put(row, K(page_coverage, skipped), skipped_json(d, arena));
    if (d->gaps.count)
        rep_put(row, K(page_coverage, gaps), rep_gaps_json(d));
    rep_put(row, K(page_coverage, unsupported_calls), calls);
    rep_put(row, K(page_coverage, messages), messages_json(d, arena));
    rep_put_count(row, K(page_coverage, maps_left_out), maps_left_out);
    rep_put(row, K(page_coverage, thresholds), rep_thresholds_json(d));
    rep_put_count(row, K(page_coverage, launches_left_out), launches_left_out);
    return row;
}

/* ---- the whole ---- */

/* One map's row; NULL where it found no room. `packed` keeps those of the maps before it. */
static json_t *heat_json(const rep_data *d, uint32_t i, json_t **packed, rep_parts *parts)
{
    bool last = i + 1 == d->nheats; /* the others leave as much as they take */
    uint64_t most = last || d->all_heats ? parts->room : parts->room / 2;
    uint32_t same = d->heat_same ? d->heat_same[i] : i;
    if (same == i)
        return rep_pack_heat(&d->heats[i], most, parts);
    json_t *map = json_copy(packed[same]); /* the part is the same; NULL stays NULL */
    if (map)
        rep_put_heat_head(map, &d->heats[i].info);
    return map;
}

/* Returns how many of the loaded maps found no room. */
static uint32_t put_maps(rep_json_out *j, const rep_data *d, rep_parts *parts)
{
    uint32_t left_out = 0;
    json_t **packed = calloc((size_t)d->nheats + 1, sizeof *packed);
    parts->failed |= !packed;
    rep_json_array(j, K(page, maps));
    for (uint32_t i = 0; packed && i < d->nheats; i++) {
        packed[i] = heat_json(d, i, packed, parts);
        if (packed[i])
            rep_json_row(j, json_incref(packed[i]));
        else
            left_out++;
    }
    rep_json_array_end(j);
    for (uint32_t i = 0; packed && i < d->nheats; i++)
        json_decref(packed[i]);
    free(packed);
    return left_out;
}

static void put_page_uses(rep_json_out *j, const rep_data *d, rep_parts *parts)
{
    rep_json_array(j, K(page, uses));
    for (uint32_t i = 0; i < d->uses.nparts; i++)
        rep_json_row(j, rep_page_use_json(d, &d->uses.parts[i]));
    rep_json_array_end(j);
    rep_json_array(j, K(page, phases));
    for (uint32_t i = 0; i < d->phases.count; i++) {
        json_t *row = rep_pack_phases(&d->phases.rows[i], parts);
        if (row)
            rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static const rep_paths *paths_of_launch(const rep_data *d, uint32_t launch)
{
    for (uint32_t i = 0; i < d->npaths; i++)
        if (d->paths[i].hashed.launch == launch)
            return &d->paths[i];
    return NULL;
}

static json_t *add_paths(json_t *row, const rep_paths *paths, const ana_explore *steps,
                         rep_parts *parts)
{
    json_t *packed = rep_pack_paths(paths, steps, parts);
    if (!packed) {
        json_decref(row);
        return NULL;
    }
    rep_put(row, K(page_explore, hashed), packed);
    return row;
}

/* A server has more of the launch; it has not, where paths are too many for any page. */
static bool lacks_room(const json_t *row, const rep_paths *paths)
{
    const json_t *hashed = json_object_get(row, K(page_explore, hashed));
    return json_object_get(row, K(page_explore, left_out)) ||
           (paths && json_object_get(hashed, K(page_paths, left_out)) &&
            paths->hashed.warps <= REP_MOST_HASHED_WARPS);
}

json_t *rep_explored_row(const rep_data *d, const ana_explore *steps, const rep_paths *paths,
                         rep_parts *parts)
{
    json_t *row = NULL;
    if (steps)
        row = rep_pack_explored(d, steps, parts);
    else if (paths)
        row = rep_hashed_row_json(&paths->hashed);
    uint32_t kernel = steps ? steps->kernel : paths ? paths->hashed.kernel : 0;
    if (row && paths)
        row = add_paths(row, paths, steps, parts);
    if (!row)
        return NULL;
    rep_put_known_launches(row, d, kernel);
    parts->explore_left_out += lacks_room(row, paths);
    return row;
}

static void put_explored_row(rep_json_out *j, const rep_data *d, const ana_explore *steps,
                             const rep_paths *paths, rep_parts *parts)
{
    json_t *row = rep_explored_row(d, steps, paths, parts);
    parts->failed |= !row;
    if (row)
        rep_json_row(j, row);
}

static void put_explored(rep_json_out *j, const rep_data *d, rep_parts *parts)
{
    rep_json_array(j, K(page, explore));
    for (uint32_t i = 0; i < d->warps.count; i++)
        put_explored_row(j, d, &d->warps.rows[i], paths_of_launch(d, d->warps.rows[i].launch),
                         parts);
    for (uint32_t i = 0; i < d->npaths; i++)
        if (!rep_explored_launch(d, d->paths[i].hashed.launch))
            put_explored_row(j, d, NULL, &d->paths[i], parts);
    rep_json_array_end(j);
}

static void put_tables(rep_json_out *j, const rep_data *d, rep_parts *parts)
{
    rep_json_array(j, K(page, files));
    for (uint32_t i = 0; i < d->files.count; i++) {
        json_t *file = file_json(d, &d->files.rows[i]);
        if (file)
            rep_json_row(j, file);
    }
    rep_json_array_end(j);
    rep_json_array(j, K(page, kernels));
    for (uint32_t i = 0; i < d->kernel_table.count; i++)
        rep_json_row(j, kernel_json(d, &d->kernel_table.rows[i], parts));
    rep_json_array_end(j);
    if (d->ranges.count)
        rep_json_value(j, K(page, ranges), rep_ranges_json(d));
    rep_json_array(j, K(page, instructions));
    for (uint32_t i = 0; i < d->totals.count; i++)
        rep_json_row(j, page_instruction_json(d, &d->totals.rows[i]));
    rep_json_array_end(j);
    rep_json_array(j, K(page, objects));
    for (uint32_t i = 0; i < d->objects.count; i++)
        rep_json_row(j, object_json(d, &d->objects.rows[i]));
    rep_json_array_end(j);
    put_page_uses(j, d, parts);
    put_explored(j, d, parts);
    rep_json_array(j, K(page, findings));
    for (uint32_t i = 0; i < d->findings->count; i++)
        rep_json_row(j, page_finding_json(d, &d->findings->rows[i]));
    rep_json_array_end(j);
    rep_json_array(j, K(page, groups));
    for (uint32_t i = 0; i < d->findings->ngroups; i++)
        rep_json_row(j, page_group_json(d, &d->findings->groups[i]));
    rep_json_array_end(j);
    json_t *left_out = rep_left_out_json(d);
    if (left_out)
        rep_json_value(j, K(page, left_out), left_out);
}

static bool put_document(const rep_data *d, rep_parts *parts, wl_arena *arena, FILE *out)
{
    rep_json_out j;
    rep_json_begin(&j, out);
    rep_json_value(&j, K(page, schema), json_string("warplens-report/1"));
    rep_json_value(&j, K(page, version), json_string(WARPLENS_VERSION));
    rep_json_value(&j, K(page, program), program_json(d));
    rep_json_value(&j, K(page, failures), rep_failures_json(d));
    if (d->devices.count > 0)
        rep_json_value(&j, K(page, device), page_device_json(d));
    if (d->explorer)
        rep_json_value(&j, K(page, explorer), json_true());
    if (d->profile)
        rep_json_value(&j, K(page, profile), rep_text_json(d->profile));
    if (d->nserved)
        rep_json_value(&j, K(page, served), rep_served_json(d));
    put_tables(&j, d, parts);
    uint64_t launches_left_out = put_page_launches(&j, d, arena);
    uint64_t maps_left_out = d->heats_left_out + put_maps(&j, d, parts);
    rep_json_value(&j, K(page, memory), page_memory_json(d, parts, arena));
    rep_json_value(&j, K(page, coverage),
                   page_coverage_json(d, arena, maps_left_out, launches_left_out));
    rep_json_end(&j);
    return !j.failed && !parts->failed;
}

wl_status rep_payload_parts(const rep_data *data, uint32_t reports, rep_parts *out, wl_error *err)
{
    char *text = NULL;
    size_t length = 0;
    wl_arena *arena = wl_arena_new();
    FILE *stream = arena ? open_memstream(&text, &length) : NULL;
    *out = (rep_parts){.room = data->all_heats ? UINT64_MAX : MAPS_BYTES,
                       .code_room = CODE_BYTES,
                       .listing_room = LISTING_BYTES,
                       .phase_room = PHASES_BYTES,
                       .explore_room = (EXPLORE_BYTES + (data->nheats ? 0 : MAPS_BYTES)) / reports};
    rep_add_part(out, (rep_part){0}); /* the text's, which names the others */
    bool done = stream && put_document(data, out, arena, stream);
    done = stream && fclose(stream) == 0 && done;
    done = done && out->count > 0 && rep_gzip(text, length, &out->rows[0]);
    free(text);
    wl_arena_free(arena);
    return done ? WL_OK : wl_fail(err, WL_NOMEM, "not enough memory for the report's data");
}
