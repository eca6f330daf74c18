#include "report/impl.h"

#include <string.h>

static json_t *device_json(const rep_data *d)
{
    if (d->devices.count == 0)
        return NULL;
    const prof_device *device = &d->devices.rows[0];
    char cc[32];
    snprintf(cc, sizeof cc, "%u.%u", device->cc_major, device->cc_minor);
    json_t *row = json_object();
    rep_put_text(row, "name", device->name);
    rep_put_text(row, "compute_capability", cc);
    return row;
}

static void launches(rep_json_out *j, const rep_data *d)
{
    rep_json_array(j, "launches");
    for (uint32_t i = 0; i < d->launches.count; i++) {
        const prof_launch *l = &d->launches.rows[i];
        json_t *row = json_object();
        rep_put_count(row, "id", l->id);
        rep_put_text(row, "kernel", rep_kernel_name(d, l->kernel));
        rep_put_dim(row, "grid", l->grid);
        rep_put_dim(row, "block", l->block);
        rep_put_count(row, "stream", l->stream);
        if (l->blocks_run > 0)
            rep_put_count(row, "thread_instructions", l->thread_instructions);
        rep_put_seconds(row, "host_seconds", l->host_seconds);
        rep_put_seconds(row, "device_seconds", l->device_seconds);
        if (l->blocks_run > 0)
            rep_put_text(row, "way", prof_way_text(l->way));
        if (l->estimated)
            rep_put(row, "estimated", json_true());
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static void copies(rep_json_out *j, const rep_data *d)
{
    ana_copy_sum sums[ANA_DIRECTIONS];
    ana_copies(&d->calls, &d->objects, sums);
    rep_json_array(j, "copies");
    for (int i = 0; i < ANA_DIRECTIONS; i++) {
        if (!sums[i].calls)
            continue;
        json_t *row = json_object();
        rep_put_text(row, "direction", ana_direction_name((ana_direction)i));
        rep_put_count(row, "calls", sums[i].calls);
        rep_put_count(row, "bytes", sums[i].bytes);
        if (sums[i].timed) {
            rep_put_count(row, "timed", sums[i].timed);
            rep_put_count(row, "timed_bytes", sums[i].timed_bytes);
            rep_put_seconds(row, "device_seconds", sums[i].seconds);
        }
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static json_t *instruction_json(const rep_data *d, const prof_instruction *i, const obs_insn *sum)
{
    const prof_code *code = prof_find_code(&d->code, i->kernel, i->c.pc);
    json_t *row = json_object();
    rep_put_count(row, "launch", i->launch);
    rep_put_text(row, "kernel", rep_kernel_name(d, i->kernel));
    rep_put_count(row, "pc", i->c.pc);
    rep_put_text(row, "op", prof_access_text(i->c.op));
    rep_put_text(row, "space", prof_space_text(i->c.space));
    if (code && code->file && code->line) {
        rep_put_text(row, "file", rep_file_path(d, code->file));
        rep_put_count(row, "line", code->line);
    }
    rep_put_count(row, "executions", i->executions);
    rep_put_count(row, "requests", sum->requests);
    rep_put_count(row, "sectors", sum->sectors);
    rep_put_count(row, "sectors_min", sum->sectors_min);
    rep_put_count(row, "wavefronts", sum->wavefronts);
    rep_put_count(row, "wavefronts_min", sum->wavefronts_min);
    rep_put_count(row, "active_lanes", sum->active_lanes);
    return row;
}

/* Adds up what the rows [first, end) did in one space; false where there was nothing. */
static bool add_up(const prof_instruction *first, const prof_instruction *end, int space,
                   const prof_instruction **one, obs_insn *sum)
{
    *sum = (obs_insn){0};
    *one = NULL;
    for (const prof_instruction *i = first; i < end; i++) {
        if (i->c.space != space)
            continue;
        *one = *one ? *one : i;
        sum->requests += i->c.requests;
        sum->active_lanes += i->c.active_lanes;
        sum->sectors += i->c.sectors;
        sum->sectors_min += i->c.sectors_min;
        sum->wavefronts += i->c.wavefronts;
        sum->wavefronts_min += i->c.wavefronts_min;
    }
    return *one != NULL;
}

/* One row an instruction and space: what it did to several objects is added up. The rows come by kernel, launch, pc. */
static void instructions(rep_json_out *j, const rep_data *d)
{
    const prof_instruction *row = d->instructions.rows, *last = row + d->instructions.count;
    rep_json_array(j, "instructions");
    for (const prof_instruction *end; row < last; row = end) {
        for (end = row; end < last && end->kernel == row->kernel && end->launch == row->launch &&
                        end->c.pc == row->c.pc;)
            end++;
        const prof_instruction *one;
        obs_insn sum;
        for (int space = 0; space < OBS_SPACE_COUNT; space++)
            if (add_up(row, end, space, &one, &sum))
                rep_json_row(j, instruction_json(d, one, &sum));
    }
    rep_json_array_end(j);
}

void rep_put_use(json_t *row, const ana_use *u, uint64_t bytes)
{
    uint64_t touched = OBS_WORD_BYTES * u->touched, rare = OBS_WORD_BYTES * u->rare;
    rep_put_count(row, "touched_bytes", touched < bytes ? touched : bytes);
    if (u->counted) {
        rep_put_count(row, "loads", u->times[WL_LOADS]);
        rep_put_count(row, "stores", u->times[WL_STORES]);
        rep_put_count(row, "atomics", u->times[WL_ATOMICS]);
        rep_put_number(row, "accesses_mean", u->mean);
        rep_put_count(row, "accesses_max", u->most);
        rep_put_number(row, "accesses_variation", u->variation);
        rep_put_count(row, "rarely_used_bytes", rare < bytes ? rare : bytes);
    }
    if (u->partial)
        rep_put(row, "touched_partial", json_true());
    if (u->estimated)
        rep_put(row, "touched_estimated", json_true());
}

static void objects(rep_json_out *j, const rep_data *d)
{
    rep_json_array(j, "objects");
    for (uint32_t i = 0; i < d->objects.count; i++) {
        const prof_object *o = &d->objects.rows[i];
        json_t *row = json_object();
        rep_put_count(row, "id", o->id);
        rep_put_text(row, "name", o->name);
        rep_put_text(row, "space", prof_space_text(o->space));
        rep_put_count(row, "bytes", o->bytes);
        if (o->file && o->line) {
            rep_put_text(row, "file", rep_file_path(d, o->file));
            rep_put_count(row, "line", o->line);
        }
        if (rep_use_of(d, o->id))
            rep_put_use(row, rep_use_of(d, o->id), o->bytes);
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static void samples(rep_json_out *j, const rep_data *d)
{
    rep_json_array(j, "samples");
    for (uint32_t i = 0; i < d->samples.count; i++) {
        json_t *row = json_object();
        rep_put_count(row, "launch", d->samples.rows[i].launch);
        rep_put_dim(row, "block", d->samples.rows[i].s.block_index);
        rep_put_sample(row, &d->samples.rows[i]);
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static const char *const excess_keys[ANA_UNIT_COUNT] = {[ANA_SECTORS] = "excess_sectors",
                                                        [ANA_WAVEFRONTS] = "excess_wavefronts",
                                                        [ANA_BYTES] = "excess_bytes"};

static json_t *lines_json(const ana_line *rows, uint32_t count)
{
    json_t *lines = json_array();
    for (uint32_t i = 0; i < count; i++) {
        if (!rows[i].file || !rows[i].line)
            continue;
        json_t *row = json_object();
        rep_put_text(row, "file", rows[i].file);
        rep_put_count(row, "line", rows[i].line);
        json_array_append_new(lines, row);
    }
    return lines;
}

static void put_gain(json_t *row, const ana_finding *f)
{
    rep_put_text(row, "gain", ana_gain_name(f->gain));
    if (f->gain != ANA_GAIN_FULL)
        rep_put_text(row, "gain_note", f->gain_note);
}

static json_t *finding_json(const rep_data *d, const ana_finding *f)
{
    const ana_pattern_info *pattern = ana_pattern_get(f->pattern);
    json_t *row = json_object(), *evidence = json_object();
    rep_put_count(row, "number", f->number);
    rep_put_text(row, "pattern", pattern->name);
    rep_put_text(row, "kernel", rep_kernel_name(d, f->kernel));
    rep_put_text(row, "object", rep_object_name(d, f->object));
    rep_put(row, "lines", lines_json(f->lines, f->nlines));
    rep_put_count(row, excess_keys[pattern->unit], f->excess);
    for (uint32_t i = 0; i < f->nevidence; i++)
        rep_put_number(evidence, f->evidence[i].name, f->evidence[i].value);
    rep_put_number(row, "share_of_kernel", f->share_of_kernel);
    rep_put_number(row, "share_of_program", f->share_of_program);
    rep_put_seconds(row, "kernel_share_of_time", f->kernel_share_of_time);
    put_gain(row, f);
    rep_put(row, "evidence", evidence);
    rep_put_text(row, "advice", f->advice && *f->advice ? f->advice : pattern->remedy);
    return row;
}

json_t *rep_kernel_names(const rep_data *d, const ana_finding_group *g)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < g->nkernels; i++) {
        const char *name = rep_kernel_name(d, g->kernels[i]);
        if (name)
            json_array_append_new(names, rep_text_json(name));
    }
    return names;
}

json_t *rep_object_names(const rep_data *d, const ana_finding_group *g)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < g->nobjects; i++) {
        const char *name = rep_object_name(d, g->objects[i]);
        if (name)
            json_array_append_new(names, rep_text_json(name));
    }
    return names;
}

static json_t *group_json(const rep_data *d, const ana_finding_group *g)
{
    const ana_finding *first = &d->findings->rows[g->first];
    const ana_pattern_info *pattern = ana_pattern_get(first->pattern);
    json_t *row = json_object();
    rep_put_count(row, "number", first->number);
    rep_put_text(row, "pattern", pattern->name);
    rep_put(row, "kernels", rep_kernel_names(d, g));
    rep_put(row, "objects", rep_object_names(d, g));
    rep_put(row, "lines", lines_json(g->lines, g->nlines));
    rep_put_count(row, excess_keys[pattern->unit], g->excess);
    rep_put_number(row, "share_of_program", g->share_of_program);
    put_gain(row, first);
    rep_put_text(row, "advice", g->advice && *g->advice ? g->advice : pattern->remedy);
    return row;
}

static json_t *memory_json(const rep_data *d)
{
    json_t *memory = json_object(), *peaks = json_array();
    wl_arena *arena = wl_arena_new();
    rep_put_count(memory, "peak_bytes", d->memory.peak_bytes);
    for (uint32_t i = 0; arena && i < d->memory.npeaks; i++) {
        const ana_peak *peak = &d->memory.peaks[i];
        json_t *row = json_object(), *names = json_array();
        rep_put_count(row, "bytes", peak->bytes);
        rep_put_text(row, "call", rep_call_text(d, arena, peak->call));
        for (uint32_t k = 0; k < peak->nobjects; k++) {
            const char *name = rep_object_name(d, peak->objects[k]);
            if (name)
                json_array_append_new(names, rep_text_json(name));
        }
        rep_put(row, "objects", names);
        json_array_append_new(peaks, row);
    }
    rep_put(memory, "peaks", peaks);
    wl_arena_free(arena);
    return memory;
}

json_t *rep_gaps_json(const rep_data *d)
{
    json_t *gaps = json_array();
    for (uint32_t i = 0; i < d->gaps.count; i++) {
        const prof_gap *g = &d->gaps.rows[i];
        const prof_code *code = prof_find_code(&d->code, g->kernel, g->pc);
        json_t *row = json_object();
        rep_put_text(row, "kernel", rep_kernel_name(d, g->kernel));
        rep_put_count(row, "pc", g->pc);
        if (code && code->file && code->line) {
            rep_put_text(row, "file", rep_file_path(d, code->file));
            rep_put_count(row, "line", code->line);
        }
        rep_put_text(row, "reason", g->reason);
        json_array_append_new(gaps, row);
    }
    return gaps;
}

static json_t *coverage_json(const rep_data *d)
{
    json_t *coverage = json_object(), *skipped = json_array(), *calls = json_array();
    wl_arena *arena = wl_arena_new();
    rep_put_count(coverage, "launches_seen", d->coverage.launches_seen);
    rep_put_count(coverage, "launches_observed", d->coverage.launches_observed);
    for (uint32_t i = 0; i < d->skips.count; i++) {
        json_t *row = json_object();
        rep_put_text(row, "kernel", d->skips.rows[i].kernel);
        rep_put_text(row, "reason", arena ? rep_readable(arena, d->skips.rows[i].reason, 0) : NULL);
        json_array_append_new(skipped, row);
    }
    wl_arena_free(arena);
    rep_put(coverage, "skipped", skipped);
    if (d->gaps.count)
        rep_put(coverage, "gaps", rep_gaps_json(d));
    rep_put_count(coverage, "blocks_sampled", d->coverage.blocks_sampled);
    rep_put_count(coverage, "records_dropped", d->coverage.records_dropped);
    for (uint32_t i = 0; i < d->unsupported.count; i++)
        json_array_append_new(calls, rep_text_json(d->unsupported.rows[i].api));
    rep_put(coverage, "unsupported_calls", calls);
    return coverage;
}

wl_status rep_json(const rep_data *data, FILE *out, wl_error *err)
{
    rep_json_out j;
    rep_json_begin(&j, out);
    rep_json_value(&j, "schema", json_string("warplens/1"));
    json_t *device = device_json(data);
    if (device)
        rep_json_value(&j, "device", device);
    if (data->info.collector[0])
        rep_json_value(&j, "collector", rep_text_json(data->info.collector));
    launches(&j, data);
    copies(&j, data);
    instructions(&j, data);
    objects(&j, data);
    samples(&j, data);
    rep_json_array(&j, "findings");
    for (uint32_t i = 0; i < data->findings->count; i++)
        rep_json_row(&j, finding_json(data, &data->findings->rows[i]));
    rep_json_array_end(&j);
    rep_json_array(&j, "groups");
    for (uint32_t i = 0; i < data->findings->ngroups; i++)
        rep_json_row(&j, group_json(data, &data->findings->groups[i]));
    rep_json_array_end(&j);
    rep_json_value(&j, "memory", memory_json(data));
    rep_json_value(&j, "coverage", coverage_json(data));
    rep_json_end(&j);
    return rep_done(out, j.failed, err);
}
