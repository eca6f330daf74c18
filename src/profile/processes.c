/* The small records of a capture: the process, its device, modules, objects, calls, messages. */
#include "profile/builder.h"
#include "profile/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 1024 };

/* 0 where none was given out. */
static uint32_t id_of_number(const id_map *map, uint32_t number)
{
    id_entry *found = NULL;
    if (number - 1 < map->ids.count && map->ids.data[number - 1])
        return map->ids.data[number - 1];
    HASH_FIND(hh, map->others, &number, sizeof number, found);
    return found ? found->id : 0;
}

static bool keep_other_id(prof_builder *b, id_map *map, uint32_t number, uint32_t id)
{
    id_entry *entry = wl_new(b->process.arena, id_entry);
    if (!entry)
        return false;
    *entry = (id_entry){.key = number, .id = id};
    HASH_ADD(hh, map->others, key, sizeof number, entry);
    return true;
}

/* Numbers that leave a gap, as only a capture that was tampered with has them, cost no array. */
static bool keep_id(prof_builder *b, id_map *map, uint32_t number, uint32_t id)
{
    enum { LARGEST_GAP = 64 };
    if (number - 1 > map->ids.count + LARGEST_GAP)
        return keep_other_id(b, map, number, id);
    while (map->ids.count < number)
        if (!wl_push(&map->ids, 0))
            return false;
    map->ids.data[number - 1] = id;
    return true;
}

uint32_t builder_id(prof_builder *b, id_map *map, uint32_t number, uint32_t *counter)
{
    uint32_t id = number ? id_of_number(map, number) : 0;
    if (id || !number)
        return id;
    if (keep_id(b, map, number, *counter + 1))
        return ++*counter;
    b->nomem = true;
    return 0;
}

uint32_t builder_call(prof_builder *b, uint32_t number)
{
    return builder_id(b, &b->process.calls_by_number, number, &b->ncalls);
}

/* An object that no OBJECT record has announced is unknown. */
static uint32_t known_object(const prof_builder *b, uint32_t number)
{
    return number ? id_of_number(&b->process.objects_by_number, number) : 0;
}

static uint32_t numbered(prof_builder *b, stream_entry **table, uint64_t handle, uint32_t *counter)
{
    stream_entry *found = NULL;
    HASH_FIND(hh, *table, &handle, sizeof handle, found);
    if (!found) {
        found = wl_new(b->process.arena, stream_entry);
        if (!found) {
            b->nomem = true;
            return 0;
        }
        *found = (stream_entry){.handle = handle, .number = ++*counter};
        HASH_ADD(hh, *table, handle, sizeof handle, found);
    }
    return found->number;
}

uint32_t builder_stream(prof_builder *b, uint64_t handle)
{
    return handle == 0 ? 0 : numbered(b, &b->process.streams, handle, &b->process.nstreams);
}

/* Its row, with texts of its own; false without memory. */
static bool keep_process(process *p, const cap_process *r)
{
    p->row = (prof_process){.id = p->id,
                            .pid = r->pid,
                            .parent_pid = r->parent,
                            .executable = r->executable,
                            .directory = r->directory,
                            .host = r->host,
                            .collector = r->collector,
                            .version = r->version,
                            .options = r->options,
                            .start_ns = r->start_ns};
    const char **texts[] = {&p->row.executable, &p->row.directory, &p->row.host,
                            &p->row.collector,  &p->row.version,   &p->row.options};
    bool good = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = wl_arena_strdup(p->arena, *texts[i]);
        good &= *texts[i] != NULL;
    }
    return good;
}

static wl_status add_process(prof_builder *b, const cap_process *r, wl_error *err)
{
    process *p = &b->process;
    if (p->named)
        return wl_fail(err, WL_CORRUPT, "The capture describes two processes.");
    p->named = true;
    p->emulated = strcmp(r->collector, "inline") != 0;
    p->directory = wl_arena_strdup(p->arena, r->directory);
    symbols_reset(b->symbols, r->executable);
    sources_program(b->sources, r->executable);
    sources_binary(b->sources, r->executable);
    wl_status status = p->directory && keep_process(p, r) ? WL_OK : NOMEM(err);
    for (uint32_t i = 0; i < r->argc && status == WL_OK; i++) {
        const row_argument row = {p->id, i, r->argv[i]};
        status = table_insert_arguments(b->insert[TABLE_arguments], &row, err);
    }
    return status;
}

static bool note_compute_capability(process *p, const cap_device *r)
{
    while (p->sms.count <= r->ordinal && r->ordinal < MAX_DEVICES)
        if (!wl_push(&p->sms, 0))
            return false;
    if (r->ordinal < p->sms.count)
        p->sms.data[r->ordinal] = r->cc_major * 10 + r->cc_minor;
    return true;
}

uint32_t builder_device_sm(const prof_builder *b, uint32_t device)
{
    const process *p = &b->process;
    return device < p->sms.count ? p->sms.data[device] : 0;
}

static wl_status add_process_device(prof_builder *b, const cap_device *r, wl_error *err)
{
    if (!note_compute_capability(&b->process, r))
        return NOMEM(err);
    const prof_device row = {.process = b->process.id,
                             .ordinal = r->ordinal,
                             .name = r->name,
                             .file = r->file,
                             .cc_major = r->cc_major,
                             .cc_minor = r->cc_minor,
                             .num_sms = r->num_sms,
                             .global_bytes = r->global_bytes};
    return table_insert_devices(b->insert[TABLE_devices], &row, err);
}

static wl_status add_process_maps(prof_builder *b, const cap_maps *r, wl_error *err)
{
    HASH_CLEAR(hh, b->process.stacks);
    for (uint32_t i = 0; i < r->count; i++)
        sources_binary(b->sources, r->maps[i].path);
    return symbols_maps(b->symbols, r) == WL_OK ? WL_OK : NOMEM(err);
}

static wl_status add_place(prof_builder *b, const cap_place *r, wl_error *err)
{
    return symbols_place(b->symbols, r) == WL_OK ? WL_OK : NOMEM(err);
}

static module *intern_module(prof_builder *b, const cap_module *r)
{
    module *m = NULL;
    HASH_FIND(hh, b->modules, &r->hash, sizeof r->hash, m);
    if (m || !(m = wl_new(b->arena, module)))
        return m;
    m->hash = r->hash;
    m->kind = (cap_module_kind)r->kind;
    m->length = r->length;
    m->name = wl_arena_strdup(b->arena, r->name);
    m->code = wl_arena_strndup(b->arena, r->code, r->length);
    if (!m->name || !m->code)
        return NULL;
    HASH_ADD(hh, b->modules, hash, sizeof m->hash, m);
    return m;
}

static wl_status add_module(prof_builder *b, const cap_module *r, wl_error *err)
{
    module_entry *entry = wl_new(b->process.arena, module_entry), *old = NULL;
    module *m = intern_module(b, r);
    if (!entry || !m)
        return NOMEM(err);
    HASH_FIND(hh, b->process.modules, &r->id, sizeof r->id, old);
    if (old)
        HASH_DEL(b->process.modules, old);
    *entry = (module_entry){.number = r->id, .found = m};
    HASH_ADD(hh, b->process.modules, number, sizeof entry->number, entry);
    HASH_FIND(hh, b->process.modules, &r->beside, sizeof r->beside, old);
    if (old)
        old->beside = true;
    return WL_OK;
}

static wl_status add_announced_object(prof_builder *b, const cap_object *r, wl_error *err)
{
    process *p = &b->process;
    if (r->id == 0 || known_object(b, r->id))
        return wl_fail(err, WL_CORRUPT, "The capture announces object %u twice.", r->id);
    object_info o = {
        .record = *r, .alloc_call = builder_call(b, r->call), .alloc_order = ++p->order};
    o.parent = known_object(b, r->parent);
    o.tag = "";
    o.id = builder_id(b, &p->objects_by_number, r->id, &b->nobjects);
    o.record.name = wl_arena_strdup(p->arena, r->name);
    o.record.kernel = r->kind == CAP_OBJECT_HEAP ? wl_arena_strdup(p->arena, r->kernel) : "";
    if (b->nomem || !o.record.name || !o.record.kernel || !wl_push(&p->objects, o) ||
        !builder_place(p, &o)) {
        return NOMEM(err);
    }
    return WL_OK;
}

static object_info *find_process_object(const process *p, uint32_t id)
{
    size_t low = 0, high = p->objects.count; /* ids ascend */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->objects.data[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->objects.count && p->objects.data[low].id == id ? &p->objects.data[low] : NULL;
}

const object_info *builder_object(const prof_builder *b, uint32_t number)
{
    return find_process_object(&b->process, known_object(b, number));
}

/* What the program said last counts. */
static wl_status add_annotation(prof_builder *b, const cap_annotation *r, wl_error *err)
{
    object_info *o = find_process_object(&b->process, known_object(b, r->object));
    if (!o) {
        return wl_fail(err, WL_CORRUPT, "The capture annotates object %u, which is not there.",
                       r->object);
    }
    o->tag = wl_arena_strdup(b->process.arena, r->tag);
    o->element_bytes = r->element_bytes;
    return o->tag ? WL_OK : NOMEM(err);
}

static wl_status add_pool(prof_builder *b, const cap_pool *r, wl_error *err)
{
    const prof_pool row = {
        .process = b->process.id, .pool = r->id, .kind = r->kind, .device = r->device};
    return table_insert_pools(b->insert[TABLE_pools], &row, err);
}

static wl_status add_pool_state(prof_builder *b, const cap_pool_state *r, wl_error *err)
{
    const prof_pool_state row = {.process = b->process.id,
                                 .pool = r->pool,
                                 .call = builder_call(b, r->call),
                                 .reserved = r->reserved,
                                 .used = r->used};
    return table_insert_pool_states(b->insert[TABLE_pool_states], &row, err);
}

static wl_status add_range(prof_builder *b, const cap_range *r, wl_error *err)
{
    process *p = &b->process;
    if (r->id == 0 || id_of_number(&p->ranges, r->id))
        return wl_fail(err, WL_CORRUPT, "The capture has range %u twice.", r->id);
    const prof_range row = {.id = builder_id(b, &p->ranges, r->id, &b->nranges),
                            .process = p->id,
                            .kind = r->kind,
                            .thread = r->thread ? numbered(b, &p->threads, r->thread, &p->nthreads)
                                                : 0,
                            .domain = r->domain,
                            .name = r->name};
    return b->nomem ? NOMEM(err) : table_insert_ranges(b->insert[TABLE_ranges], &row, err);
}

static wl_status add_ranges(prof_builder *b, const cap_ranges *r, wl_error *err)
{
    process *p = &b->process;
    if (r->id == 0 || id_of_number(&p->range_lists, r->id))
        return wl_fail(err, WL_CORRUPT, "The capture has list of ranges %u twice.", r->id);
    prof_range_member row = {.list = builder_id(b, &p->range_lists, r->id, &b->nrange_lists)};
    wl_status status = b->nomem ? NOMEM(err) : WL_OK;
    for (; row.position < r->count && status == WL_OK; row.position++) {
        row.range = id_of_number(&p->ranges, r->ranges[row.position]);
        status = row.range
                     ? table_insert_range_lists(b->insert[TABLE_range_lists], &row, err)
                     : wl_fail(err, WL_CORRUPT, "The capture lists range %u, which is not there.",
                               r->ranges[row.position]);
    }
    return status;
}

static wl_status add_refusal(prof_builder *b, const cap_refusal *r, wl_error *err)
{
    const prof_refusal row = {.call = builder_call(b, r->call), .free = r->free, .total = r->total};
    return row.call ? table_insert_refusals(b->insert[TABLE_refusals], &row, err) : WL_OK;
}

/* Records of before `how` was noted tell it by their call. */
static uint32_t freed_how(const cap_free *r)
{
    return r->how || !r->call ? r->how : CAP_FREED_PROGRAM;
}

static wl_status add_free(prof_builder *b, const cap_free *r, wl_error *err)
{
    object_info *o = find_process_object(&b->process, known_object(b, r->object));
    if (!o || o->freed) {
        return wl_fail(err, WL_CORRUPT, "The capture frees object %u, which is not there.",
                       r->object);
    }
    o->freed = true;
    builder_displace(&b->process, o->id, o->record.base);
    o->free_call = builder_call(b, r->call);
    o->freed_how = freed_how(r);
    o->free_order = ++b->process.order;
    return b->nomem ? NOMEM(err) : WL_OK;
}

/* Remembers what names of objects are made from. */
static wl_status keep_call(prof_builder *b, uint32_t id, const cap_call *r, stack *s, wl_error *err)
{
    process *p = &b->process;
    size_t index = id - p->first_call;
    bool graph = r->kind == CAP_CALL_LAUNCH && strstr(r->api, "GraphLaunch"); /* it may allocate */
    bool ends = r->kind == CAP_CALL_FREE; /* by whom tells whose an object is */
    if (r->kind != CAP_CALL_ALLOC && r->kind != CAP_CALL_OTHER && !ends && !graph)
        return WL_OK;
    while (p->calls.count <= index)
        if (!wl_push(&p->calls, (call_info){0}))
            return NOMEM(err);
    const char *api = s && s->runtime ? s->runtime : r->api;
    p->calls.data[index] = (call_info){s, builder_text(b, api)};
    return p->calls.data[index].api ? WL_OK : NOMEM(err);
}

static prof_call call_row(prof_builder *b, uint32_t id, const cap_call *r, const stack *s)
{
    const stack_frame none = {.function = ""};
    const stack_frame *site = s && s->site < s->count ? &s->frames[s->site] : &none;
    return (prof_call){
        .id = id,
        .process = b->process.id,
        .number = r->id,
        .api = r->api,
        .kind = r->kind,
        .stream = builder_stream(b, r->stream),
        .thread = numbered(b, &b->process.threads, r->thread, &b->process.nthreads),
        .start_ns = r->start_ns,
        .end_ns = r->end_ns,
        .result = r->result,
        .source_object = known_object(b, r->source_object),
        .source_offset = r->source_offset,
        .target_object = known_object(b, r->target_object),
        .target_offset = r->target_offset,
        .bytes = r->bytes,
        .stack = s ? s->id : 0,
        .file = site->file,
        .line = site->line,
        .function = site->function,
        .device_seconds = -1,
        .device_start = -1,
        .ordinal = r->ordinal,
        .device = r->device,
        .context = r->context,
        .flags = r->flags,
        .parent = r->parent ? builder_call(b, r->parent) : 0,
        .event = r->event,
        .version = r->version,
        .shape = r->nshapes ? r->shape[0] : (cap_shape){0},
        .ranges = r->ranges ? id_of_number(&b->process.range_lists, r->ranges) : 0,
    };
}

static wl_status add_stream(prof_builder *b, const cap_stream *s, wl_error *err)
{
    prof_stream row = {.process = b->process.id,
                       .stream = builder_stream(b, s->id),
                       .kind = s->kind,
                       .device = s->device,
                       .context = s->context,
                       .flags = s->flags,
                       .priority = s->priority};
    return table_insert_streams(b->insert[TABLE_streams], &row, err);
}

static wl_status add_call(prof_builder *b, const cap_call *r, wl_error *err)
{
    stack *s;
    wl_status status = builder_stack(b, &r->stack, &s, err);
    uint32_t id = builder_call(b, r->id);
    if (status != WL_OK || id == 0) {
        return status != WL_OK ? status
               : b->nomem      ? NOMEM(err)
                          : wl_fail(err, WL_CORRUPT, "The capture has a call without a number.");
    }
    const prof_call row = call_row(b, id, r, s);
    status = table_insert_calls(b->insert[TABLE_calls], &row, err);
    return status == WL_OK ? keep_call(b, id, r, s, err) : status;
}

static wl_status add_process_message(prof_builder *b, const cap_message *r, wl_error *err)
{
    const char *text = prof_demangle_text(b->process.arena, r->text);
    return text ? builder_message(b, b->process.id, r->level, text, err) : NOMEM(err);
}

wl_status builder_skipped(prof_builder *b, const cap_skipped *r, wl_error *err)
{
    process *p = &b->process;
    skip *found = NULL;
    char *both;
    if (asprintf(&both, "%s\n%s", r->kernel, r->reason) < 0)
        return NOMEM(err);
    const char *key = builder_text(b, both);
    free(both);
    if (!key)
        return NOMEM(err);
    HASH_FIND_STR(p->skips, key, found);
    if (!found) {
        found = wl_new(p->arena, skip);
        if (!found)
            return NOMEM(err);
        found->key = key;
        found->kernel = prof_demangle(p->arena, r->kernel);
        found->reason = prof_demangle_text(p->arena, r->reason);
        if (!found->kernel || !found->reason)
            return NOMEM(err);
        HASH_ADD_KEYPTR(hh, p->skips, key, strlen(key), found);
    }
    found->count++;
    return WL_OK;
}

wl_status builder_add_small(prof_builder *b, const cap_record *record, wl_error *err)
{
    switch (record->type) {
    case CAP_PROCESS: return add_process(b, &record->process, err);
    case CAP_DEVICE: return add_process_device(b, &record->device, err);
    case CAP_MAPS: return add_process_maps(b, &record->maps, err);
    case CAP_PLACE: return add_place(b, &record->place, err);
    case CAP_MODULE: return add_module(b, &record->module, err);
    case CAP_OBJECT: return add_announced_object(b, &record->object, err);
    case CAP_FREE: return add_free(b, &record->free, err);
    case CAP_ANNOTATION: return add_annotation(b, &record->annotation, err);
    case CAP_LEFT_OUT: b->process.row.objects_dropped += record->left_out.objects; return WL_OK;
    case CAP_POOL: return add_pool(b, &record->pool, err);
    case CAP_RANGE: return add_range(b, &record->range, err);
    case CAP_RANGES: return add_ranges(b, &record->ranges, err);
    case CAP_POOL_STATE: return add_pool_state(b, &record->pool_state, err);
    case CAP_REFUSAL: return add_refusal(b, &record->refusal, err);
    case CAP_CALL: return add_call(b, &record->call, err);
    case CAP_STREAM: return add_stream(b, &record->stream, err);
    case CAP_SKIPPED: return builder_skipped(b, &record->skipped, err);
    case CAP_UNSUPPORTED:
        return table_insert_unsupported(b->insert[TABLE_unsupported],
                                        &(prof_unsupported){record->unsupported.api}, err);
    case CAP_MESSAGE: return add_process_message(b, &record->message, err);
    case CAP_NOTE: return builder_note(b, &record->note, err);
    case CAP_TIMES: return builder_times(b, &record->times, err);
    case CAP_CALL_TIMES: return builder_call_times(b, &record->call_times, err);
    case CAP_STARTS: return builder_starts(b, &record->starts, err);
    case CAP_WAY: return builder_way(b, &record->way, err);
    case CAP_REPEAT: return builder_repeat(b, &record->repeat, err);
    case CAP_INDIRECT: return builder_indirect(b, &record->indirect, err);
    case CAP_TRIALS: return builder_trials(b, &record->trials, err);
    case CAP_FAULT: return builder_fault(b, &record->fault, err);
    case CAP_GRAPH: return builder_graph(b, &record->graph, err);
    case CAP_GRAPH_RUN: return builder_graph_run(b, &record->graph_run, err);
    case CAP_SYMBOL: /* for the replay of notes */
    case CAP_TENSOR:
    case CAP_PATCHED:
    case CAP_PROBE:
    case CAP_TABLES:
    case CAP_SAME_TABLES: return WL_OK;
    case CAP_END:
        b->process.ended = true;
        b->process.end_ns = record->end.end_ns;
        return WL_OK;
    default: return wl_fail(err, WL_CORRUPT, "The capture has a record of an unknown kind.");
    }
}
