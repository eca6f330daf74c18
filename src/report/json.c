/* The machine-readable output "warplens/1". */
#include "report/impl.h"
#include "report/keys.h"

#include <string.h>

static json_t *device_json(const rep_data *d)
{
    if (d->devices.count == 0)
        return NULL;
    const prof_device *device = &d->devices.rows[0];
    char cc[32];
    snprintf(cc, sizeof cc, "%u.%u", device->cc_major, device->cc_minor);
    json_t *row = json_object();
    rep_put_text(row, K(device, name), device->name);
    rep_put_text(row, K(device, compute_capability), cc);
    return row;
}

static const char *failure_of(const rep_data *d, uint32_t launch)
{
    for (uint32_t i = 0; i < d->nfailures; i++)
        if (d->failures[i].launch == launch)
            return d->failures[i].why;
    return NULL;
}

static void put_rate(json_t *row, const char *key, double rate)
{
    if (rate >= 0)
        rep_put_number(row, key, rate);
}

/* Of a launch of these without what probes cost; negative: it was not measured. */
static double measured_seconds(const prof_launch *l)
{
    return l->timed && !l->recorded ? l->device_seconds / (double)l->timed : -1;
}

static json_t *model_json(const ana_model *m, const prof_launch *l)
{
    json_t *row = json_object(), *seconds = json_object(), *benefits = json_object();
    rep_put_seconds(row, K(model, seconds), m->seconds);
    rep_put_seconds(row, K(model, low), m->low);
    rep_put_seconds(row, K(model, high), m->high);
    rep_put_text(row, K(model, bound), model_resource_name(m->bound));
    rep_put_unsure(row, K(model, unsure), m, model_unsure_name);
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
        if (m->resources[r] > 0)
            rep_put_seconds(seconds, model_resource_name(r), m->resources[r]);
    rep_put(row, K(model, resources), seconds);
    put_rate(row, K(model, l1_hit_rate), model_hit_rate(m->from_l1, m->from_l2));
    put_rate(row, K(model, l2_hit_rate), model_hit_rate(m->from_l2, m->from_dram));
    rep_put_benefits(benefits, &m->benefits);
    rep_put(row, K(model, benefits), benefits);
    rep_put(row, K(model, roofline), rep_roofline_json(m));
    rep_put_seconds(row, K(model, efficiency), ana_efficiency(m, measured_seconds(l)));
    return row;
}

static void put_launches(rep_json_out *j, const rep_data *d)
{
    rep_json_array(j, K(output, launches));
    for (uint32_t i = 0; i < d->launches.count; i++) {
        const prof_launch *l = &d->launches.rows[i];
        json_t *row = json_object();
        rep_put_count(row, K(launch, id), l->id);
        if (l->count > 1)
            rep_put_count(row, K(launch, count), l->count);
        rep_put_text(row, K(launch, kernel), rep_kernel_name(d, l->kernel));
        rep_put_dim(row, K(launch, grid), l->grid);
        rep_put_dim(row, K(launch, block), l->block);
        rep_put_count(row, K(launch, stream), l->stream);
        if (l->blocks_run > 0)
            rep_put_count(row, K(launch, thread_instructions), l->thread_instructions);
        rep_put(row, K(launch, ranges), rep_launch_ranges_json(d, l));
        rep_put_seconds(row, K(launch, host_seconds), l->host_seconds);
        rep_put_seconds(row, K(launch, device_seconds), l->device_seconds);
        if (l->blocks_run > 0)
            rep_put_text(row, K(launch, way), prof_way_text(l->way));
        if (l->error)
            rep_put_text(row, K(launch, failed), failure_of(d, l->id));
        if (l->estimated)
            rep_put(row, K(launch, estimated), json_true());
        const ana_model *model = ana_model_of(&d->models, l->kind);
        if (model && !model->missing)
            rep_put(row, K(launch, model), model_json(model, l));
        if (model)
            rep_put(row, K(launch, occupancy), rep_occupancy_json(&model->occupancy));
        json_t *warps = rep_compared_json(d, l->rows_of);
        if (warps)
            rep_put(row, K(launch, warps), warps);
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static void put_copies(rep_json_out *j, const rep_data *d)
{
    ana_copy_sum sums[ANA_DIRECTIONS];
    ana_copies(&d->transfers, &d->objects, sums);
    rep_json_array(j, K(output, copies));
    for (int i = 0; i < ANA_DIRECTIONS; i++) {
        if (!sums[i].calls)
            continue;
        json_t *row = json_object();
        rep_put_text(row, K(copy, direction), ana_direction_name((ana_direction)i));
        rep_put_count(row, K(copy, calls), sums[i].calls);
        rep_put_count(row, K(copy, bytes), sums[i].bytes);
        if (sums[i].timed) {
            rep_put_count(row, K(copy, timed), sums[i].timed);
            rep_put_count(row, K(copy, timed_bytes), sums[i].timed_bytes);
            rep_put_seconds(row, K(copy, device_seconds), sums[i].seconds);
        }
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static void put_key_text(json_t *row, const char *name, uint64_t key)
{
    char text[ANA_KEY_TEXT];
    ana_key_text(key, text);
    rep_put_text(row, name, text);
}

static void put_kernels(rep_json_out *j, const rep_data *d)
{
    rep_json_array(j, K(output, kernels));
    for (uint32_t i = 0; i < d->kernels.count; i++) {
        const prof_kernel *k = &d->kernels.rows[i];
        json_t *row = json_object();
        put_key_text(row, K(kernel, key), d->keys.kernels[i]);
        rep_put_text(row, K(kernel, name), k->name);
        rep_put_text(row, K(kernel, family), rep_family_of(d, k->id, NULL)->name);
        if (k->file && k->line) {
            rep_put_text(row, K(kernel, file), rep_file_path(d, k->file));
            rep_put_count(row, K(kernel, line), k->line);
        }
        if (k->machine_sm)
            rep_put_count(row, K(kernel, machine_code), k->machine_sm);
        if (k->machine_missing[0])
            rep_put_text(row, K(kernel, machine_code_missing), k->machine_missing);
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static json_t *instruction_json(const rep_data *d, const prof_instruction *i, const obs_insn *sum)
{
    const prof_code *code = prof_find_code(&d->code, i->kernel, i->c.pc);
    json_t *row = json_object();
    rep_put_count(row, K(instruction, launch), i->launch);
    rep_put_text(row, K(instruction, kernel), rep_kernel_name(d, i->kernel));
    rep_put_count(row, K(instruction, pc), i->c.pc);
    rep_put_text(row, K(instruction, op), prof_access_text(i->c.op));
    rep_put_text(row, K(instruction, space), prof_space_text(i->c.space));
    if (code && code->file && code->line) {
        rep_put_text(row, K(instruction, file), rep_file_path(d, code->file));
        rep_put_count(row, K(instruction, line), code->line);
    }
    rep_put_count(row, K(instruction, executions), i->executions);
    rep_put_count(row, K(instruction, requests), sum->requests);
    rep_put_count(row, K(instruction, sectors), sum->sectors);
    rep_put_count(row, K(instruction, sectors_min), sum->sectors_min);
    if (!(sum->flags & OBS_UNCLEAR)) {
        rep_put_count(row, K(instruction, wavefronts), sum->wavefronts);
        rep_put_count(row, K(instruction, wavefronts_min), sum->wavefronts_min);
    }
    rep_put_count(row, K(instruction, active_lanes), sum->active_lanes);
    return row;
}

/* Adds up what the rows [first, end) did in one space; false where there was nothing. */
static bool add_up_instructions(const prof_instruction *first, const prof_instruction *end,
                                int space, const prof_instruction **one, obs_insn *sum)
{
    *sum = (obs_insn){0};
    *one = NULL;
    for (const prof_instruction *i = first; i < end; i++) {
        if (i->c.space != space)
            continue;
        *one = *one ? *one : i;
        sum->flags |= i->c.flags;
        sum->requests += i->c.requests;
        sum->active_lanes += i->c.active_lanes;
        sum->sectors += i->c.sectors;
        sum->sectors_min += i->c.sectors_min;
        sum->wavefronts += i->c.wavefronts;
        sum->wavefronts_min += i->c.wavefronts_min;
    }
    return *one != NULL;
}

/* The word of the instruction that its opcode begins with; NULL: another. */
static const char *access_of_opcode(const char *op)
{
    static const struct {
        const char *start;
        acc_op op;
    } starts[] = {
        {"ld", ACC_LOAD}, {"st", ACC_STORE}, {"atom", ACC_ATOMIC}, {"red", ACC_REDUCTION}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(op, starts[i].start, strlen(starts[i].start)) == 0)
            return prof_access_text(starts[i].op);
    return NULL;
}

static const char *space_of_opcode(const char *op)
{
    for (uint32_t space = 0; space < ACC_SPACE_COUNT; space++) {
        const char *name = prof_space_text(space), *at = strstr(op, name);
        if (at && at > op && at[-1] == '.')
            return name;
    }
    return NULL;
}

/* Was something of the instruction observed? The totals come by kernel, pc. */
static bool has_totals(const rep_data *d, uint32_t kernel, uint32_t pc)
{
    uint32_t low = 0, high = d->totals.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const prof_instruction *i = &d->totals.rows[middle];
        if (i->kernel < kernel || (i->kernel == kernel && i->c.pc < pc))
            low = middle + 1;
        else
            high = middle;
    }
    const prof_instruction *found = low < d->totals.count ? &d->totals.rows[low] : NULL;
    return found && found->kernel == kernel && found->c.pc == pc;
}

/* Instructions of observed kernels of which nothing is known but that they are there: rows without
 * counts. */
static void put_unknown_instructions(rep_json_out *j, const rep_data *d)
{
    for (uint32_t i = 0; i < d->gaps.count; i++) {
        const prof_gap *g = &d->gaps.rows[i];
        const prof_code *code = prof_find_code(&d->code, g->kernel, g->pc);
        const char *access = code ? access_of_opcode(code->op) : NULL;
        bool again = i && d->gaps.rows[i - 1].kernel == g->kernel &&
                     d->gaps.rows[i - 1].pc == g->pc;
        if (!access || again || has_totals(d, g->kernel, g->pc) || !rep_has_gaps(d, g->kernel))
            continue;
        json_t *row = json_object();
        rep_put_count(row, K(instruction, launch), g->launch);
        rep_put_text(row, K(instruction, kernel), rep_kernel_name(d, g->kernel));
        rep_put_count(row, K(instruction, pc), g->pc);
        rep_put_text(row, K(instruction, op), access);
        if (space_of_opcode(code->op))
            rep_put_text(row, K(instruction, space), space_of_opcode(code->op));
        if (code->file && code->line) {
            rep_put_text(row, K(instruction, file), rep_file_path(d, code->file));
            rep_put_count(row, K(instruction, line), code->line);
        }
        rep_json_row(j, row);
    }
}

/* One row an instruction and space: what it did to several objects is added up. The rows come by
 * kernel, launch, pc. */
static void put_instructions(rep_json_out *j, const rep_data *d)
{
    const prof_instruction *row = d->instructions.rows, *last = row + d->instructions.count;
    rep_json_array(j, K(output, instructions));
    for (const prof_instruction *end; row < last; row = end) {
        for (end = row; end < last && end->kernel == row->kernel && end->launch == row->launch &&
                        end->c.pc == row->c.pc;)
            end++;
        const prof_instruction *one;
        obs_insn sum;
        for (int space = 0; space < ACC_SPACE_COUNT; space++)
            if (add_up_instructions(row, end, space, &one, &sum))
                rep_json_row(j, instruction_json(d, one, &sum));
    }
    put_unknown_instructions(j, d);
    rep_json_array_end(j);
}

void rep_put_use(json_t *row, const ana_use *u, uint64_t bytes)
{
    uint64_t touched = OBS_WORD_BYTES * u->touched, rare = OBS_WORD_BYTES * u->rare;
    rep_put_count(row, K(use, touched_bytes), touched < bytes ? touched : bytes);
    if (u->counted) {
        rep_put_count(row, K(use, loads), u->times[WL_LOADS]);
        rep_put_count(row, K(use, stores), u->times[WL_STORES]);
        rep_put_count(row, K(use, atomics), u->times[WL_ATOMICS]);
        rep_put_number(row, K(use, accesses_mean), u->mean);
        rep_put_count(row, K(use, accesses_max), u->most);
        rep_put_number(row, K(use, accesses_variation), u->variation);
        rep_put_count(row, K(use, rarely_used_bytes), rare < bytes ? rare : bytes);
    }
    if (u->partial)
        rep_put(row, K(use, touched_partial), json_true());
    if (u->estimated)
        rep_put(row, K(use, touched_estimated), json_true());
}

/* What an allocation was taken from, what ended it, and what the program said of it. */
static void put_life(json_t *row, const rep_data *d, const prof_object *o)
{
    if (o->freed_how)
        rep_put_text(row, K(object, freed_how), prof_freed_text(o->freed_how));
    if (o->parent)
        rep_put_count(row, K(object, parent), o->parent);
    if (o->pool)
        rep_put_count(row, K(object, pool), o->pool);
    if (o->tag[0])
        rep_put_text(row, K(object, tag), o->tag);
    if (o->element_bytes)
        rep_put_count(row, K(object, element_bytes), o->element_bytes);
    if (o->made_by_kernel)
        rep_put_text(row, K(object, made_by), rep_kernel_name(d, o->made_by_kernel));
}

static json_t *life_patterns_json(const rep_life *life)
{
    json_t *names = json_array();
    for (int p = 0; p < ANA_PATTERN_COUNT; p++)
        if (life->patterns[p])
            json_array_append_new(names, json_string(ana_pattern_get((ana_pattern)p)->name));
    return names;
}

static void put_course(json_t *row, const rep_life *life)
{
    rep_put_count(row, K(object, bytes_at_peak), life->at_peak);
    rep_put_text(row, K(object, allocated_by), life->allocated);
    rep_put_text(row, K(object, freed_by), life->freed);
    rep_put_count(row, K(object, calls_alive), life->alive);
    rep_put_text(row, K(object, first_access), life->first);
    rep_put_text(row, K(object, last_access), life->last);
    if (life->possibly)
        rep_put(row, K(object, accesses_possible), json_true());
    if (life->idle_calls)
        rep_put_count(row, K(object, idle_calls), life->idle_calls);
    if (life->idle_calls && life->idle_seconds > 0)
        rep_put_number(row, K(object, idle_seconds), life->idle_seconds);
    if (life->found)
        rep_put(row, K(object, patterns), life_patterns_json(life));
    if (life->saves)
        rep_put_count(row, K(object, saves_bytes), life->saves);
}

static void put_objects(rep_json_out *j, const rep_data *d)
{
    rep_lives lives = {0};
    wl_arena *arena = wl_arena_new();
    j->failed |= !arena || !rep_lives_of(d, arena, &lives);
    rep_json_array(j, K(output, objects));
    for (uint32_t i = 0; i < d->objects.count; i++) {
        const prof_object *o = &d->objects.rows[i];
        json_t *row = json_object();
        rep_put_count(row, K(object, id), o->id);
        put_key_text(row, K(object, key), d->keys.objects[i]);
        rep_put_text(row, K(object, name), o->name);
        rep_put_text(row, K(object, space), prof_space_text(o->space));
        rep_put_count(row, K(object, bytes), o->bytes);
        if (o->file && o->line) {
            rep_put_text(row, K(object, file), rep_file_path(d, o->file));
            rep_put_count(row, K(object, line), o->line);
        }
        put_life(row, d, o);
        const rep_life *life = j->failed ? NULL : rep_life_of(&lives, o->id);
        if (life)
            put_course(row, life);
        const ana_use *use = rep_use_of(d, o->id);
        if (use && !use->unknown)
            rep_put_use(row, use, o->bytes);
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
    wl_arena_free(arena);
}

json_t *rep_live_ranges_json(const ana_reuse *r)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < r->nlive; i++) {
        json_t *row = json_object();
        rep_put_text(row, K(live_ranges, origin), prof_origin_text(r->live[i].origin));
        rep_put_count(row, K(live_ranges, accesses), r->live[i].accesses);
        rep_put_count(row, K(live_ranges, ranges), r->live[i].ranges);
        json_array_append_new(rows, row);
    }
    return rows;
}

static void put_ranges(json_t *row, const ana_reuse *r)
{
    uint64_t ranges = 0;
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        ranges += r->ranges[origin];
    rep_put_count(row, K(kernel_use, ranges), ranges);
    if (ranges)
        rep_put_number(row, K(kernel_use, accesses_per_range), r->accesses_per_range);
    rep_put_count(row, K(kernel_use, ranges_loaded), r->ranges[OBS_FROM_MEMORY]);
    rep_put_count(row, K(kernel_use, ranges_copied), r->ranges[OBS_FROM_COPY]);
    rep_put_count(row, K(kernel_use, ranges_computed), r->ranges[OBS_COMPUTED]);
    rep_put_count(row, K(kernel_use, accesses_unfilled), r->unfilled);
    if (r->nlive)
        rep_put(row, K(kernel_use, live_ranges), rep_live_ranges_json(r));
}

static void put_blocks(json_t *row, const ana_reuse *r)
{
    rep_put_count(row, K(kernel_use, blocks), r->blocks);
    rep_put_count(row, K(kernel_use, block_elements), r->block_words);
    rep_put_count(row, K(kernel_use, block_elements_max), r->block_words_most);
    rep_put_count(row, K(kernel_use, block_accesses), r->block_accesses);
    if (r->block_words)
        rep_put_number(row, K(kernel_use, accesses_per_block_element), r->accesses_per_block_word);
}

static json_t *kernel_use_json(const rep_data *d, const ana_use *u)
{
    json_t *row = json_object();
    rep_put_text(row, K(kernel_use, kernel), rep_kernel_name(d, u->kernel));
    rep_put_text(row, K(kernel_use, object), rep_object_name(d, u->object));
    rep_put_count(row, K(kernel_use, id), u->object);
    rep_put_text(row, K(kernel_use, space), prof_space_text(u->array ? ACC_SHARED : ACC_GLOBAL));
    rep_put_count(row, K(kernel_use, elements), u->elements);
    if (!u->unknown)
        rep_put_count(row, K(kernel_use, touched), u->touched);
    if (u->counted) {
        rep_put_count(row, K(kernel_use, loads), u->times[WL_LOADS]);
        rep_put_count(row, K(kernel_use, stores), u->times[WL_STORES]);
        rep_put_count(row, K(kernel_use, atomics), u->times[WL_ATOMICS]);
    }
    if (u->reuse.ranges_known)
        put_ranges(row, &u->reuse);
    if (u->reuse.blocks_known)
        put_blocks(row, &u->reuse);
    if (u->partial)
        rep_put(row, K(kernel_use, partial), json_true());
    if (u->estimated)
        rep_put(row, K(kernel_use, estimated), json_true());
    return row;
}

static void put_uses(rep_json_out *j, const rep_data *d)
{
    rep_json_array(j, K(output, uses));
    for (uint32_t i = 0; i < d->uses.nparts; i++)
        rep_json_row(j, kernel_use_json(d, &d->uses.parts[i]));
    rep_json_array_end(j);
}

static void put_samples(rep_json_out *j, const rep_data *d)
{
    rep_json_array(j, K(output, samples));
    for (uint32_t i = 0; i < d->samples.count; i++) {
        json_t *row = json_object();
        rep_put_count(row, K(sample, launch), d->samples.rows[i].launch);
        rep_put_dim(row, K(sample, block), d->samples.rows[i].s.block_index);
        rep_put_sample(row, &d->samples.rows[i]);
        rep_json_row(j, row);
    }
    rep_json_array_end(j);
}

static const char *cost_key(ana_unit unit)
{
    switch (unit) {
    case ANA_SECTORS: return K(cost, excess_sectors);
    case ANA_WAVEFRONTS: return K(cost, excess_wavefronts);
    case ANA_BYTES: return K(cost, excess_bytes);
    case ANA_INSTRUCTIONS: return K(cost, excess_instructions);
    case ANA_COPIED: return K(cost, excess_copied_bytes);
    case ANA_BARRIERS: return K(cost, excess_barriers);
    case ANA_SHARED_BYTES: return K(cost, excess_shared_bytes);
    case ANA_UNIT_COUNT: break;
    }
    return "";
}

static json_t *lines_json(const ana_line *rows, uint32_t count)
{
    json_t *lines = json_array();
    for (uint32_t i = 0; i < count; i++) {
        if (!rows[i].file || !rows[i].line)
            continue;
        json_t *row = json_object();
        rep_put_text(row, K(place, file), rows[i].file);
        rep_put_count(row, K(place, line), rows[i].line);
        if (rows[i].inside)
            rep_put(row, K(place, inside), json_true());
        json_array_append_new(lines, row);
    }
    return lines;
}

json_t *rep_gain_json(const ana_worth *w, bool single)
{
    json_t *row = json_object();
    rep_put_number(row, K(gain, seconds), w->seconds);
    rep_put_number(row, K(gain, low), w->low);
    rep_put_number(row, K(gain, high), w->high);
    if (single)
        rep_put_number(row, K(gain, of_kernel), w->of_kernel);
    rep_put_number(row, K(gain, of_program), w->of_program);
    if (single)
        rep_put_number(row, K(gain, of_full), w->of_full);
    if (single && w->before > 0) {
        rep_put_number(row, K(gain, before), w->before);
        rep_put_number(row, K(gain, after), w->after);
        rep_put_number(row, K(gain, after_low), w->after_low);
        rep_put_number(row, K(gain, after_high), w->after_high);
    }
    if (single && w->small)
        rep_put(row, K(gain, small), json_true());
    return row;
}

static void put_worth(json_t *row, const ana_finding *f, const ana_worth *w, bool single)
{
    rep_put_text(row, K(worth, verdict), ana_gain_name(f->gain));
    if (f->gain != ANA_GAIN_FULL)
        rep_put_text(row, K(worth, verdict_note), f->gain_note);
    if (w->known)
        rep_put(row, K(worth, gain), rep_gain_json(w, single));
}

static json_t *finding_json(const rep_data *d, const ana_finding *f)
{
    const ana_pattern_info *pattern = ana_pattern_get(f->pattern);
    json_t *row = json_object(), *evidence = json_object();
    rep_put_count(row, K(finding, number), f->number);
    put_key_text(row, K(finding, key), f->key);
    rep_put_text(row, K(finding, pattern), pattern->name);
    rep_put_text(row, K(finding, subject), ana_scope_name(f->scope));
    rep_put_text(row, K(finding, kernel), rep_kernel_name(d, f->kernel));
    rep_put_text(row, K(finding, object), rep_object_name(d, f->object));
    rep_put(row, K(finding, parameters), rep_passed_json(d, f->kernel, f->object));
    rep_put(row, K(finding, lines), lines_json(f->lines, f->nlines));
    rep_put_count(row, cost_key(f->cost.unit), f->cost.excess);
    for (uint32_t i = 0; i < f->nevidence; i++)
        rep_put_number(evidence, f->evidence[i].name, f->evidence[i].value);
    if (f->kernel)
        rep_put_number(row, K(finding, share_of_kernel), f->cost.share_of_kernel);
    rep_put_number(row, K(finding, share_of_program), f->cost.share_of_program);
    rep_put_seconds(row, K(finding, kernel_share_of_time), f->kernel_share_of_time);
    if (f->saving.known)
        rep_put_count(row, K(finding, saves_bytes), f->saving.bytes);
    if (f->saving.step)
        rep_put_count(row, K(finding, plan_step), f->saving.step);
    if (f->saving.pool)
        rep_put_text(row, K(finding, pool), rep_pool_name(d, f->saving.pool));
    put_worth(row, f, &f->worth, true);
    rep_put_text(row, K(finding, certainty), ana_certainty_name(f->certainty));
    rep_put(row, K(finding, evidence), evidence);
    rep_put_text(row, K(finding, advice), f->advice && *f->advice ? f->advice : pattern->remedy);
    if (f->refusal)
        rep_put(row, K(finding, refusal), rep_refusal_json(d, f->refusal));
    if (f->frequency)
        rep_put(row, K(finding, frequency), rep_frequency_json(f->frequency));
    if (f->nremedies)
        rep_put(row, K(finding, remedies), rep_remedies_json(f));
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
    rep_put_count(row, K(group, number), first->number);
    rep_put_text(row, K(group, pattern), pattern->name);
    rep_put(row, K(group, kernels), rep_kernel_names(d, g));
    rep_put(row, K(group, objects), rep_object_names(d, g));
    rep_put(row, K(group, lines), lines_json(g->lines, g->nlines));
    rep_put_count(row, cost_key(g->cost.unit), g->cost.excess);
    rep_put_number(row, K(group, share_of_program), g->cost.share_of_program);
    put_worth(row, first, &g->worth, g->nkernels == 1);
    rep_put_text(row, K(group, advice), g->advice && *g->advice ? g->advice : pattern->remedy);
    return row;
}

/* ---- memory ---- */

static json_t *peak_json(const rep_data *d, const ana_peak *peak, wl_arena *arena)
{
    json_t *row = json_object(), *names = json_array();
    for (uint32_t k = 0; k < peak->nobjects; k++) {
        const char *name = rep_object_name(d, peak->objects[k]);
        if (name)
            json_array_append_new(names, rep_text_json(name));
    }
    rep_put_count(row, K(peak, process), peak->process);
    rep_put_count(row, K(peak, device), peak->device);
    rep_put_count(row, K(peak, bytes), peak->bytes);
    rep_put_text(row, K(peak, call), rep_call_text(d, arena, peak->call));
    rep_put(row, K(peak, objects), names);
    return row;
}

static json_t *device_memory_json(const rep_data *d, const ana_device_memory *m)
{
    json_t *row = json_object(), *over_time = json_array();
    for (uint32_t i = 0; i < m->npoints; i++) {
        json_t *moment = json_object();
        rep_put_count(moment, K(moment, object), m->points[i].object);
        rep_put(moment, K(moment, freed), json_boolean(m->points[i].freed));
        rep_put_count(moment, K(moment, bytes), m->points[i].bytes);
        json_array_append_new(over_time, moment);
    }
    rep_put_count(row, K(device_memory, process), m->process);
    rep_put_count(row, K(device_memory, device), m->device);
    rep_put_text(row, K(device_memory, name), rep_device_name(d, m->process, m->device));
    rep_put_count(row, K(device_memory, peak_bytes), m->peak_bytes);
    rep_put(row, K(device_memory, over_time), over_time);
    return row;
}

static json_t *pool_objects_json(const rep_data *d, const ana_pool *p)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < p->nobjects; i++) {
        const char *name = rep_object_name(d, p->objects[i]);
        if (name)
            json_array_append_new(names, rep_text_json(name));
    }
    return names;
}

static void put_divided(json_t *row, const rep_data *d, const ana_pool *p)
{
    rep_put_count(row, K(pool, free_bytes), p->free_then);
    rep_put_count(row, K(pool, largest_free_bytes), p->largest_free_then);
    if (p->free_then)
        rep_put_number(row, K(pool, fragmentation), ana_fragmentation(p));
    rep_put(row, K(pool, objects), pool_objects_json(d, p));
}

static json_t *pool_json(const rep_data *d, const ana_pool *p)
{
    json_t *row = json_object();
    rep_put_count(row, K(pool, process), p->process);
    rep_put_count(row, K(pool, device), p->device);
    rep_put_text(row, K(pool, kind), p->pool ? prof_pool_kind_text(p->kind) : "program");
    if (p->pool)
        rep_put_count(row, K(pool, pool), p->pool);
    else
        rep_put_text(row, K(pool, name), p->name);
    rep_put_count(row, K(pool, most_reserved_bytes), p->most_reserved);
    rep_put_count(row, K(pool, most_used_bytes), p->most_used);
    rep_put_count(row, K(pool, reserved_bytes), p->reserved_then);
    if (p->divided)
        put_divided(row, d, p);
    return row;
}

static json_t *pools_json(const rep_data *d)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < d->pools.count; i++)
        json_array_append_new(rows, pool_json(d, &d->pools.rows[i]));
    return rows;
}

static json_t *memory_json(const rep_data *d)
{
    json_t *memory = json_object(), *peaks = json_array(), *devices = json_array();
    wl_arena *arena = wl_arena_new();
    for (uint32_t i = 0; arena && i < d->memory.npeaks; i++)
        json_array_append_new(peaks, peak_json(d, &d->memory.peaks[i], arena));
    for (uint32_t i = 0; i < d->memory.ndevices; i++)
        json_array_append_new(devices, device_memory_json(d, &d->memory.devices[i]));
    rep_put_count(memory, K(memory, peak_bytes), d->memory.peak_bytes);
    if (d->findings && d->findings->replayed)
        rep_put_count(memory, K(memory, peak_bytes_after), d->findings->peak_after);
    rep_put(memory, K(memory, peaks), peaks);
    rep_put(memory, K(memory, devices), devices);
    if (d->pools.count)
        rep_put(memory, K(memory, pools), pools_json(d));
    wl_arena_free(arena);
    return memory;
}

/* ---- coverage ---- */

json_t *rep_failures_json(const rep_data *d)
{
    json_t *failures = json_array();
    for (uint32_t i = 0; i < d->nfailures; i++) {
        const rep_failure *f = &d->failures[i];
        json_t *row = json_object();
        rep_put_text(row, K(failure, what), f->what);
        rep_put_text(row, K(failure, why), f->why);
        if (f->launch)
            rep_put_count(row, K(failure, launch), f->launch);
        if (f->object)
            rep_put_count(row, K(failure, object), f->object);
        if (f->file) {
            rep_put_text(row, K(failure, file), f->file);
            rep_put_count(row, K(failure, line), f->line);
        }
        json_array_append_new(failures, row);
    }
    return failures;
}

json_t *rep_gaps_json(const rep_data *d)
{
    json_t *gaps = json_array();
    for (uint32_t i = 0; i < d->gaps.count; i++) {
        const prof_gap *g = &d->gaps.rows[i];
        const prof_code *code = prof_find_code(&d->code, g->kernel, g->pc);
        json_t *row = json_object();
        rep_put_text(row, K(gap, kernel), rep_kernel_name(d, g->kernel));
        rep_put_count(row, K(gap, pc), g->pc);
        if (code && code->file && code->line) {
            rep_put_text(row, K(gap, file), rep_file_path(d, code->file));
            rep_put_count(row, K(gap, line), code->line);
        }
        rep_put_text(row, K(gap, reason), g->reason);
        json_array_append_new(gaps, row);
    }
    return gaps;
}

static json_t *coverage_json(const rep_data *d)
{
    json_t *coverage = json_object(), *skipped = json_array(), *calls = json_array();
    wl_arena *arena = wl_arena_new();
    rep_put_count(coverage, K(coverage, launches_seen), d->coverage.launches_seen);
    rep_put_count(coverage, K(coverage, launches_observed), d->coverage.launches_observed);
    rep_put_count(coverage, K(coverage, launches_failed), d->coverage.launches_failed);
    for (uint32_t i = 0; i < d->skips.count; i++) {
        json_t *row = json_object();
        rep_put_text(row, K(skip, kernel), d->skips.rows[i].kernel);
        rep_put_text(row, K(skip, reason),
                     arena ? rep_readable(arena, d->skips.rows[i].reason, 0) : NULL);
        json_array_append_new(skipped, row);
    }
    wl_arena_free(arena);
    rep_put(coverage, K(coverage, skipped), skipped);
    if (d->gaps.count)
        rep_put(coverage, K(coverage, gaps), rep_gaps_json(d));
    rep_put_count(coverage, K(coverage, blocks_sampled), d->coverage.blocks_sampled);
    rep_put_count(coverage, K(coverage, launches_mapped), d->coverage.launches_mapped);
    rep_put_count(coverage, K(coverage, records_dropped), d->coverage.records_dropped);
    if (d->coverage.objects_dropped)
        rep_put_count(coverage, K(coverage, objects_dropped), d->coverage.objects_dropped);
    for (uint32_t i = 0; i < d->unsupported.count; i++)
        json_array_append_new(calls, rep_text_json(d->unsupported.rows[i].api));
    rep_put(coverage, K(coverage, unsupported_calls), calls);
    return coverage;
}

wl_status rep_json(const rep_data *data, FILE *out, wl_error *err)
{
    rep_json_out j;
    rep_json_begin(&j, out);
    rep_json_value(&j, K(output, schema), json_string("warplens/1"));
    rep_json_value(&j, K(output, failures), rep_failures_json(data));
    json_t *device = device_json(data);
    if (device)
        rep_json_value(&j, K(output, device), device);
    if (data->info.collector[0])
        rep_json_value(&j, K(output, collector), rep_text_json(data->info.collector));
    put_launches(&j, data);
    put_kernels(&j, data);
    if (data->ranges.count)
        rep_json_value(&j, K(output, ranges), rep_ranges_json(data));
    put_copies(&j, data);
    put_instructions(&j, data);
    put_objects(&j, data);
    put_uses(&j, data);
    put_samples(&j, data);
    rep_json_array(&j, K(output, findings));
    for (uint32_t i = 0; i < data->findings->count; i++)
        rep_json_row(&j, finding_json(data, &data->findings->rows[i]));
    rep_json_array_end(&j);
    rep_json_array(&j, K(output, groups));
    for (uint32_t i = 0; i < data->findings->ngroups; i++)
        rep_json_row(&j, group_json(data, &data->findings->groups[i]));
    rep_json_array_end(&j);
    json_t *left_out = rep_left_out_json(data);
    if (left_out)
        rep_json_value(&j, K(output, left_out), left_out);
    json_t *thresholds = rep_thresholds_json(data);
    if (thresholds)
        rep_json_value(&j, K(output, thresholds), thresholds);
    rep_json_value(&j, K(output, memory), memory_json(data));
    rep_json_value(&j, K(output, coverage), coverage_json(data));
    rep_json_end(&j);
    return rep_done(out, j.failed, err);
}
