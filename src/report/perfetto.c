/* Trace events: the JSON that the Perfetto UI and its trace processor read, as well as Chrome's own
 * viewer. A process of the application is a process there, host threads and streams are its
 * threads, objects are asynchronous slices. docs/perfetto.md says what is where. */
#include "report/impl.h"
#include "report/timeline.h"

#include "capture/capture.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of streams among the threads of a process begin here; those of host threads below. */
enum { FIRST_STREAM = 1000000, DIGITS = 15 };

typedef struct perfetto {
    const rep_data *d;
    rep_json_out j;
    rep_timeline timeline;
    wl_arena *arena;
    double end;            /* of all there is, in nanoseconds */
    const char **findings; /* by kernel, in the order of d->kernels: "1, 4" */
} perfetto;

/* ---- events ---- */

static json_t *trace_event(const char *phase, const char *name, uint32_t process, uint32_t thread)
{
    json_t *row = json_object();
    rep_put_text(row, "ph", phase);
    rep_put_text(row, "name", name);
    rep_put_count(row, "pid", process);
    rep_put_count(row, "tid", thread);
    return row;
}

/* Times are in microseconds. */
static void put_moment(json_t *row, const char *key, double ns)
{
    rep_put_number(row, key, ns / 1000);
}

static void put_slice(perfetto *p, json_t *row, double start, double end, json_t *args)
{
    put_moment(row, "ts", start);
    put_moment(row, "dur", end - start);
    rep_put(row, "args", args);
    rep_json_row(&p->j, row);
    p->end = end > p->end ? end : p->end;
}

/* Names a process or thread, and says where it stands among the others. */
static void put_name(perfetto *p, bool thread, uint32_t process, uint32_t number, const char *name)
{
    json_t *row = trace_event("M", thread ? "thread_name" : "process_name", process, number);
    rep_put(row, "args", json_pack("{s:o?}", "name", rep_text_json(name ? name : "")));
    rep_json_row(&p->j, row);
    row = trace_event("M", thread ? "thread_sort_index" : "process_sort_index", process, number);
    rep_put(row, "args", json_pack("{s:I}", "sort_index", (json_int_t)(thread ? number : process)));
    rep_json_row(&p->j, row);
}

typedef enum flow_end { FLOW_BEGINS, FLOW_ENDS } flow_end;

/* An arrow from a slice to another; `id` is unique in its category. */
static void put_flow(perfetto *p, flow_end end, const char *category, uint64_t id, uint32_t process,
                     uint32_t thread, double ns)
{
    json_t *row = trace_event(end == FLOW_ENDS ? "f" : "s", category, process, thread);
    rep_put_text(row, "cat", category);
    rep_put_count(row, "id", id);
    if (end == FLOW_ENDS)
        rep_put_text(row, "bp", "e"); /* binds to the slice around it */
    put_moment(row, "ts", ns);
    rep_json_row(&p->j, row);
}

/* ---- host threads ---- */

static double call_start(const perfetto *p, const prof_call *c)
{
    return rep_moment(p->d, &p->timeline, c->process, c->start_ns);
}

static double call_end(const perfetto *p, const prof_call *c)
{
    return rep_moment(p->d, &p->timeline, c->process, c->end_ns);
}

static void put_trace_place(json_t *args, const rep_data *d, wl_arena *arena, uint32_t file,
                            uint32_t line, const char *function)
{
    rep_put_text(args, "site", rep_place(arena, rep_file_path(d, file), line));
    if (*function)
        rep_put_text(args, "function", function);
}

static json_t *call_args(const perfetto *p, const prof_call *c)
{
    json_t *args = json_object();
    put_trace_place(args, p->d, p->arena, c->file, c->line, c->function);
    if (c->bytes)
        rep_put_count(args, "bytes", c->bytes);
    if (c->source_object)
        rep_put_text(args, "from", rep_object_name(p->d, c->source_object));
    if (c->target_object)
        rep_put_text(args, "to", rep_object_name(p->d, c->target_object));
    if (c->result)
        rep_put(args, "error", json_integer(c->result));
    return args;
}

static void put_calls(perfetto *p)
{
    for (uint32_t i = 0; i < p->d->every_call.count; i++) {
        const prof_call *c = &p->d->every_call.rows[i];
        if (c->parent)
            continue; /* the host did not call it: a graph did */
        put_slice(p, trace_event("X", c->api, c->process, c->thread), call_start(p, c),
                  call_end(p, c), call_args(p, c));
    }
}

static uint32_t most_threads(const perfetto *p, uint32_t process)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->d->every_call.count; i++) {
        const prof_call *c = &p->d->every_call.rows[i];
        if (c->process == process && !c->parent && c->thread > most)
            most = c->thread;
    }
    return most;
}

static void put_processes(perfetto *p)
{
    for (uint32_t i = 0; i < p->d->processes.count; i++) {
        const prof_process *process = &p->d->processes.rows[i];
        uint32_t threads = most_threads(p, process->id);
        put_name(p, false, process->id, 0,
                 wl_arena_printf(p->arena, "%s (process %u)", rep_base_name(process->executable),
                                 process->pid));
        for (uint32_t thread = 1; thread <= threads; thread++)
            put_name(p, true, process->id, thread,
                     wl_arena_printf(p->arena, "host thread %u", thread));
    }
}

/* ---- streams ---- */

static const char *stream_name(const perfetto *p, const rep_work *w)
{
    const char *which = w->stream ? wl_arena_printf(p->arena, "stream %u", w->stream)
                                  : "default stream";
    return wl_arena_printf(p->arena, "%s, device %u", which, w->device);
}

static json_t *launch_args(const perfetto *p, const prof_launch *l)
{
    json_t *args = json_object();
    uint32_t index = 0;
    while (index < p->d->kernels.count && p->d->kernels.rows[index].id != l->kernel)
        index++;
    rep_put_text(args, "kernel", rep_kernel_name(p->d, l->kernel));
    rep_put_count(args, "launch", l->id);
    rep_put_text(args, "grid",
                 wl_arena_printf(p->arena, "%u, %u, %u", l->grid[0], l->grid[1], l->grid[2]));
    rep_put_text(args, "block",
                 wl_arena_printf(p->arena, "%u, %u, %u", l->block[0], l->block[1], l->block[2]));
    if (index < p->d->kernels.count && p->findings[index])
        rep_put_text(args, "findings", p->findings[index]);
    return args;
}

static const char *work_name(const perfetto *p, const rep_work *w)
{
    if (w->own)
        return w->own->kind == CAP_CALL_SET ? "set" : "copy";
    const prof_kernel *kernel = prof_find_kernel(&p->d->kernels, w->launch->kernel);
    return kernel ? kernel->short_name : "unknown";
}

static void put_work(perfetto *p, const rep_work *w, uint32_t thread)
{
    json_t *args = w->own ? call_args(p, w->own) : launch_args(p, w->launch);
    rep_put_text(args, "time", w->measured ? "measured" : "not measured: of the host's call");
    if (w->measured)
        rep_put_number(args, "device_seconds", w->seconds);
    put_slice(p, trace_event("X", work_name(p, w), w->process, thread), w->start, w->end, args);
    if (w->call && w->launch) {
        put_flow(p, FLOW_BEGINS, "launch", w->launch->id, w->process, w->call->thread,
                 call_start(p, w->call));
        put_flow(p, FLOW_ENDS, "launch", w->launch->id, w->process, thread, w->start);
    }
}

static void put_streams(perfetto *p)
{
    const rep_timeline *t = &p->timeline;
    uint32_t thread = FIRST_STREAM;
    for (uint32_t i = 0; i < t->count; i++) {
        if (i == 0 || !rep_same_stream(&t->work[i - 1], &t->work[i]))
            put_name(p, true, t->work[i].process, ++thread, stream_name(p, &t->work[i]));
        put_work(p, &t->work[i], thread);
    }
}

/* ---- memory ---- */

/* When an allocation was done, or a free began: the memory is taken in between. */
static double memory_moment(const perfetto *p, uint32_t process, uint32_t call, bool freed)
{
    const prof_call *c = rep_host_call(p->d, call);
    if (!c)
        return rep_moment(p->d, &p->timeline, process, 0);
    return freed ? call_start(p, c) : call_end(p, c);
}

static void put_memory_of(perfetto *p, const ana_device_memory *m)
{
    double last = 0;
    const char *name = wl_arena_printf(p->arena, "memory in use, device %u", m->device);
    for (uint32_t i = 0; i < m->npoints; i++) {
        double at = memory_moment(p, m->process, m->points[i].call, m->points[i].freed);
        last = at > last ? at : last;
        json_t *row = trace_event("C", name ? name : "", m->process, 0);
        put_moment(row, "ts", last);
        rep_put(row, "args", json_pack("{s:I}", "bytes", (json_int_t)m->points[i].bytes));
        rep_json_row(&p->j, row);
    }
}

/* ---- objects ---- */

static const char *also(wl_arena *arena, const char *list, const char *more)
{
    return list ? wl_arena_printf(arena, "%s, %s", list, more) : more;
}

static void put_findings_of(const perfetto *p, json_t *args, uint32_t object)
{
    const char *patterns = NULL, *numbers = NULL;
    uint64_t saves = 0;
    for (uint32_t i = 0; i < p->d->findings->count; i++) {
        const ana_finding *f = &p->d->findings->rows[i];
        if (f->object != object)
            continue;
        const char *name = ana_pattern_get(f->pattern)->name;
        if (!patterns || !strstr(patterns, name))
            patterns = also(p->arena, patterns, name);
        numbers = also(p->arena, numbers, wl_arena_printf(p->arena, "%u", f->number));
        saves = f->saving.bytes > saves ? f->saving.bytes : saves;
    }
    rep_put_text(args, "patterns", patterns);
    rep_put_text(args, "findings", numbers);
    if (saves)
        rep_put_count(args, "saves_bytes", saves);
}

static json_t *object_args(const perfetto *p, const prof_object *o)
{
    json_t *args = json_object();
    const prof_call *made = o->alloc_call ? prof_find_call(&p->d->every_call, o->alloc_call) : NULL;
    rep_put_count(args, "object", o->id);
    rep_put_count(args, "bytes", o->bytes);
    rep_put_text(args, "kind", prof_object_kind_text(o->kind));
    rep_put_count(args, "device", o->device);
    put_trace_place(args, p->d, p->arena, o->file, o->line, o->function);
    if (made)
        rep_put_text(args, "allocated_by", made->api);
    if (o->freed_how)
        rep_put_text(args, "freed_how", prof_freed_text(o->freed_how));
    put_findings_of(p, args, o->id);
    return args;
}

/* From the call that allocates it to the one that frees it. */
static void put_life_flow(perfetto *p, const prof_object *o)
{
    const prof_call *made = rep_host_call(p->d, o->alloc_call);
    const prof_call *freed = rep_host_call(p->d, o->free_call);
    if (!made || !freed)
        return;
    put_flow(p, FLOW_BEGINS, "life", o->id, o->process, made->thread, call_start(p, made));
    put_flow(p, FLOW_ENDS, "life", o->id, o->process, freed->thread, call_start(p, freed));
}

static void put_object(perfetto *p, const prof_object *o)
{
    double begin = memory_moment(p, o->process, o->alloc_call, false);
    double end = o->free_call ? memory_moment(p, o->process, o->free_call, true) : p->end;
    for (int last = 0; last < 2; last++) {
        json_t *row = trace_event(last ? "e" : "b", o->name, o->process, 0);
        rep_put_text(row, "cat", "object");
        rep_put(row, "id2", json_pack("{s:I}", "local", (json_int_t)o->id)); /* of the process */
        put_moment(row, "ts", !last ? begin : end > begin ? end : begin);
        if (!last)
            rep_put(row, "args", object_args(p, o));
        rep_json_row(&p->j, row);
    }
    put_life_flow(p, o);
}

/* Those of a process; shared and local memory is a kernel's. */
static void put_trace_objects(perfetto *p)
{
    for (uint32_t i = 0; i < p->d->objects.count; i++)
        if (p->d->objects.rows[i].process)
            put_object(p, &p->d->objects.rows[i]);
}

/* ---- the whole ---- */

static bool list_findings(perfetto *p)
{
    const rep_data *d = p->d;
    p->findings = wl_new_array(p->arena, const char *, (size_t)d->kernels.count + 1);
    for (uint32_t k = 0; p->findings && k < d->kernels.count; k++) {
        uint32_t last = 0;
        for (uint32_t i = 0; i < d->findings->count; i++) {
            const ana_finding *f = &d->findings->rows[i];
            if (f->kernel != d->kernels.rows[k].id || f->number == last)
                continue;
            last = f->number;
            p->findings[k] = also(p->arena, p->findings[k],
                                  wl_arena_printf(p->arena, "%u", f->number));
        }
    }
    return p->findings != NULL;
}

static void put_trace(perfetto *p, FILE *out)
{
    rep_json_begin(&p->j, out);
    p->j.digits = DIGITS;
    rep_json_value(&p->j, "displayTimeUnit", json_string("ns"));
    rep_json_array(&p->j, "traceEvents");
    put_processes(p);
    put_calls(p);
    put_streams(p);
    for (uint32_t i = 0; i < p->d->memory.ndevices; i++)
        put_memory_of(p, &p->d->memory.devices[i]);
    put_trace_objects(p);
    rep_json_array_end(&p->j);
    rep_json_end(&p->j);
}

wl_status rep_perfetto(const rep_data *data, FILE *out, wl_error *err)
{
    perfetto p = {.d = data, .arena = wl_arena_new()};
    wl_status status = p.arena ? rep_timeline_of(data, p.arena, &p.timeline, err)
                               : wl_fail(err, WL_NOMEM, "not enough memory for the trace");
    if (status == WL_OK && !list_findings(&p))
        status = wl_fail(err, WL_NOMEM, "not enough memory for the trace");
    if (status == WL_OK)
        put_trace(&p, out);
    wl_arena_free(p.arena);
    return status == WL_OK ? rep_done(out, p.j.failed, err) : status;
}
