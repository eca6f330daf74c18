/* Tables as CSV. */
#include "report/impl.h"

#include <inttypes.h>
#include <string.h>

typedef struct csv {
    const rep_data *d;
    FILE *out;
    wl_arena *arena;
    bool first, failed;
} csv;

const char *rep_table_name(rep_table table)
{
    static const char *const names[] = {
#define X(id, name) name,
#include "report/tables.def"
#undef X
    };
    return table < REP_TABLE_COUNT ? names[table] : "";
}

static void separate(csv *c)
{
    if (!c->first)
        fputc(',', c->out);
    c->first = false;
}

/* A spreadsheet takes what begins so for a formula. */
static bool looks_like_formula(const char *value)
{
    return *value && strchr("=+-@\t\r", *value);
}

/* NULL: an empty field. What could be taken for a formula comes after an apostrophe. */
static void text(csv *c, const char *value)
{
    separate(c);
    if (!value)
        return;
    const char *clean = rep_clean(c->arena, value, false);
    if (!clean)
        return;
    bool formula = looks_like_formula(clean);
    if (!formula && !strpbrk(clean, ",\"\r\n")) {
        fputs(clean, c->out);
        return;
    }
    fputs(formula ? "\"'" : "\"", c->out);
    for (; *clean; clean++) {
        if (*clean == '"')
            fputc('"', c->out);
        fputc(*clean, c->out);
    }
    fputc('"', c->out);
}

static void count_cell(csv *c, uint64_t value)
{
    separate(c);
    fprintf(c->out, "%" PRIu64, value);
}

static void known(csv *c, bool is_known, uint64_t value)
{
    if (is_known)
        count_cell(c, value);
    else
        separate(c);
}

static void number_cell(csv *c, double value)
{
    separate(c);
    if (value >= 0)
        fprintf(c->out, "%.10g", value);
}

static void end(csv *c)
{
    fputs("\r\n", c->out);
    c->first = true;
}

static void place_cells(csv *c, uint32_t file, uint32_t line)
{
    text(c, file && line ? rep_file_path(c->d, file) : NULL);
    known(c, file && line, line);
}

static void instructions(csv *c)
{
    fputs("launch,kernel,pc,op,instruction,space,object,file,line,bytes,executions,requests,active_"
          "lanes,"
          "sectors,sectors_min,wavefronts,wavefronts_min,uniform,contiguous,misaligned,strided,"
          "irregular,stride\r\n",
          c->out);
    for (uint32_t i = 0; i < c->d->instructions.count; i++) {
        const prof_instruction *row = &c->d->instructions.rows[i];
        const prof_code *code = prof_find_code(&c->d->code, row->kernel, row->c.pc);
        bool shared = row->c.space == ACC_SHARED;
        count_cell(c, row->launch);
        text(c, rep_kernel_name(c->d, row->kernel));
        count_cell(c, row->c.pc);
        text(c, prof_access_text(row->c.op));
        text(c, code ? code->text : NULL);
        text(c, prof_space_text(row->c.space));
        text(c, rep_object_name(c->d, row->c.object));
        place_cells(c, code ? code->file : 0, code ? code->line : 0);
        count_cell(c, row->c.bytes);
        count_cell(c, row->executions);
        count_cell(c, row->c.requests);
        count_cell(c, row->c.active_lanes);
        known(c, !shared, row->c.sectors);
        known(c, !shared, row->c.sectors_min);
        bool clear = !(row->c.flags & OBS_UNCLEAR);
        known(c, shared && clear, row->c.wavefronts);
        known(c, shared && clear, row->c.wavefronts_min);
        count_cell(c, row->c.uniform);
        count_cell(c, row->c.contiguous);
        count_cell(c, row->c.misaligned);
        count_cell(c, row->c.strided);
        count_cell(c, row->c.irregular);
        separate(c);
        if (row->c.strided)
            fprintf(c->out, "%" PRId64, row->c.stride);
        end(c);
    }
}

static void findings(csv *c)
{
    fputs("pattern,title,kernel,object,file,line,excess,unit,share_of_kernel,share_of_program,"
          "kernel_share_of_time,gain,launches,summary,advice,number,parameters\r\n",
          c->out);
    for (uint32_t i = 0; i < c->d->findings->count; i++) {
        const ana_finding *f = &c->d->findings->rows[i];
        const ana_pattern_info *pattern = ana_pattern_get(f->pattern);
        bool line = f->nlines > 0 && f->lines[0].file;
        text(c, pattern->name);
        text(c, pattern->title);
        text(c, rep_kernel_name(c->d, f->kernel));
        text(c, rep_object_name(c->d, f->object));
        text(c, line ? f->lines[0].file : NULL);
        known(c, line, line ? f->lines[0].line : 0);
        count_cell(c, f->cost.excess);
        text(c, ana_unit_text(f->cost.unit));
        number_cell(c, f->cost.share_of_kernel);
        number_cell(c, f->cost.share_of_program);
        number_cell(c, f->kernel_share_of_time);
        text(c, ana_gain_name(f->gain));
        known(c, f->access, f->access ? f->access->launches : 0);
        text(c, f->summary);
        text(c, f->advice && *f->advice ? f->advice : pattern->remedy);
        count_cell(c, f->number);
        text(c, rep_parameters(c->d, c->arena, f->kernel, f->object));
        end(c);
    }
}

static void launches(csv *c)
{
    fputs("id,process,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,stream,"
          "dynamic_shared,static_shared,registers,warp_instructions,thread_instructions,"
          "host_seconds,device_seconds,blocks_run,blocks_observed,blocks_sampled,error,fault,"
          "count\r\n",
          c->out);
    for (uint32_t i = 0; i < c->d->launches.count; i++) {
        const prof_launch *l = &c->d->launches.rows[i];
        count_cell(c, l->id);
        count_cell(c, l->process);
        text(c, rep_kernel_name(c->d, l->kernel));
        for (int k = 0; k < 3; k++)
            count_cell(c, l->grid[k]);
        for (int k = 0; k < 3; k++)
            count_cell(c, l->block[k]);
        count_cell(c, l->stream);
        count_cell(c, l->dynamic_shared);
        count_cell(c, l->static_shared);
        known(c, l->registers > 0, l->registers);
        known(c, l->blocks_run > 0, l->warp_instructions);
        known(c, l->blocks_run > 0, l->thread_instructions);
        number_cell(c, l->host_seconds);
        number_cell(c, l->device_seconds);
        count_cell(c, l->blocks_run);
        count_cell(c, l->blocks_observed);
        count_cell(c, l->blocks_sampled);
        separate(c);
        fprintf(c->out, "%d", l->error);
        text(c, l->fault[0] ? l->fault : NULL);
        count_cell(c, l->count);
        end(c);
    }
}

static void samples(csv *c)
{
    fputs("launch,block_x,block_y,block_z,why,alike,of,instructions,requests,sectors,mapped\r\n",
          c->out);
    for (uint32_t i = 0; i < c->d->samples.count; i++) {
        const prof_sample *p = &c->d->samples.rows[i];
        count_cell(c, p->launch);
        for (int k = 0; k < 3; k++)
            count_cell(c, p->s.block_index[k]);
        text(c, prof_why_text(p->s.why));
        known(c, p->s.alike > 0, p->s.alike);
        count_cell(c, p->of);
        known(c, p->s.instructions > 0, p->s.instructions);
        count_cell(c, p->s.requests);
        count_cell(c, p->s.sectors);
        count_cell(c, p->s.mapped);
        end(c);
    }
}

/* NULL: nothing is known of its life. */
static void life_cells(csv *c, const rep_life *life)
{
    static const rep_life none = {.idle_seconds = -1};
    const rep_life *l = life ? life : &none;
    known(c, life != NULL, l->at_peak);
    text(c, l->allocated);
    text(c, l->freed);
    known(c, life != NULL, l->alive);
    text(c, l->first);
    text(c, l->last);
    known(c, l->idle_calls > 0, l->idle_calls);
    number_cell(c, l->idle_calls ? l->idle_seconds : -1);
    text(c, rep_patterns_of(l, c->arena));
    known(c, l->saves > 0, l->saves);
}

static void objects(csv *c)
{
    rep_lives lives;
    if (!rep_lives_of(c->d, c->arena, &lives)) {
        c->failed = true;
        return;
    }
    fputs(
        "id,process,name,kind,space,kernel,bytes,file,line,function,freed,freed_how,bytes_at_peak,"
        "allocated_by,freed_by,calls_alive,first_access,last_access,idle_calls,idle_seconds,"
        "patterns,"
        "saves_bytes\r\n",
        c->out);
    for (uint32_t i = 0; i < c->d->objects.count; i++) {
        const prof_object *o = &c->d->objects.rows[i];
        count_cell(c, o->id);
        known(c, o->process > 0, o->process);
        text(c, o->name);
        text(c, prof_object_kind_text(o->kind));
        text(c, prof_space_text(o->space));
        text(c, rep_kernel_name(c->d, o->kernel));
        count_cell(c, o->bytes);
        place_cells(c, o->file, o->line);
        text(c, o->function[0] ? o->function : NULL);
        known(c, o->process > 0, o->freed);
        text(c, o->freed_how ? prof_freed_text(o->freed_how) : NULL);
        life_cells(c, rep_life_of(&lives, o->id));
        end(c);
    }
}

static uint64_t ranges_of(const ana_reuse *r)
{
    uint64_t ranges = 0;
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        ranges += r->ranges[origin];
    return ranges;
}

static void reuse_cells(csv *c, const ana_reuse *r)
{
    known(c, r->ranges_known, ranges_of(r));
    number_cell(c, r->ranges_known ? r->accesses_per_range : -1);
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        known(c, r->ranges_known, r->ranges[origin]);
    known(c, r->ranges_known, r->unfilled);
    known(c, r->blocks_known, r->blocks);
    known(c, r->blocks_known, r->block_words);
    known(c, r->blocks_known, r->block_words_most);
    known(c, r->blocks_known, r->block_accesses);
    number_cell(c, r->blocks_known ? r->accesses_per_block_word : -1);
}

static void uses(csv *c)
{
    fputs("kernel,object,id,space,elements,touched,loads,stores,atomics,ranges,accesses_per_range,"
          "ranges_loaded,ranges_copied,ranges_computed,accesses_unfilled,blocks,block_elements,"
          "block_elements_max,block_accesses,accesses_per_block_element\r\n",
          c->out);
    for (uint32_t i = 0; i < c->d->uses.nparts; i++) {
        const ana_use *u = &c->d->uses.parts[i];
        text(c, rep_kernel_name(c->d, u->kernel));
        text(c, rep_object_name(c->d, u->object));
        count_cell(c, u->object);
        text(c, prof_space_text(u->array ? ACC_SHARED : ACC_GLOBAL));
        count_cell(c, u->elements);
        known(c, !u->unknown, u->touched);
        for (int class_ = 0; class_ < WL_CLASSES; class_++)
            known(c, u->counted, u->times[class_]);
        reuse_cells(c, &u->reuse);
        end(c);
    }
}

wl_status rep_csv(const rep_data *data, rep_table table, FILE *out, wl_error *err)
{
    static void (*const writers[REP_TABLE_COUNT])(csv *) = {
        [REP_TABLE_INSTRUCTIONS] = instructions, [REP_TABLE_FINDINGS] = findings,
        [REP_TABLE_LAUNCHES] = launches,         [REP_TABLE_OBJECTS] = objects,
        [REP_TABLE_SAMPLES] = samples,           [REP_TABLE_USES] = uses,
    };
    if (table >= REP_TABLE_COUNT)
        return wl_fail(err, WL_ARG, "there is no such table");
    csv c = {.d = data, .out = out, .arena = wl_arena_new(), .first = true};
    if (!c.arena)
        return wl_fail(err, WL_NOMEM, "not enough memory to write the table");
    writers[table](&c);
    wl_arena_free(c.arena);
    return rep_done(out, c.failed, err);
}
