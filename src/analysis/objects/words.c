/* The sentences of findings about objects. */
#include "analysis/objects/teller.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(...) wl_arena_printf(t->input->arena, __VA_ARGS__)

/* ---- words ---- */

const char *tell_bytes(const tell_state *t, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    return wl_arena_printf(t->input->arena, value < 10 && unit ? "%.1f %s" : "%.0f %s", value,
                           units[unit]);
}

const char *tell_object(const tell_state *t, uint32_t object)
{
    const obj_object *o = &t->found.trace.objects.data[object];
    const prof_object *row = prof_find_object(&t->input->program->objects, o->id);
    return row ? row->name : "another object";
}

/* What the program calls it, else the object. */
static const char *tell_pool(const tell_state *t, uint32_t object)
{
    const obj_object *o = &t->found.trace.objects.data[object];
    const prof_object *row = prof_find_object(&t->input->program->objects, o->id);
    return row && row->tag[0] ? TEXT("the pool \"%s\"", row->tag) : tell_object(t, object);
}

static const char *kernel_words(const tell_state *t, const obj_op *op)
{
    const ana_program *p = t->input->program;
    const prof_launch *l = prof_find_launch(&p->launches, op->launch);
    const prof_kernel *k = l ? prof_find_kernel(&p->kernels, l->kernel) : NULL;
    return k ? k->short_name : NULL;
}

static prof_call call_of(tell_state *t, uint32_t id)
{
    prof_call call = {0};
    wl_status status = id ? prof_load_call(t->input->program->db, id, t->input->scratch, &call,
                                           t->err)
                          : WL_OK;
    t->status = status == WL_OK || status == WL_NOENT ? t->status : status;
    return call;
}

static int compare_stack(const void *key, const void *item)
{
    uint32_t a = *(const uint32_t *)key, b = ((const prof_caller *)item)->stack;
    return a < b ? -1 : a > b;
}

ana_source tell_caller(const tell_state *t, uint32_t stack)
{
    const prof_caller *found = stack && t->callers->count
                                   ? bsearch(&stack, t->callers->rows, t->callers->count,
                                             sizeof *found, compare_stack)
                                   : NULL;
    return found ? (ana_source){found->file, found->line} : (ana_source){0, 0};
}

/* What a node of a graph does stands in no line: that of the graph's launch does. */
const char *tell_place(tell_state *t, uint32_t id, const char *what)
{
    prof_call call = call_of(t, id);
    if (what && !call.line && call.parent) {
        what = TEXT("%s of the graph that is launched", what);
        call = call_of(t, call.parent);
    }
    const prof_file *file = prof_find_file(&t->input->program->files, call.file);
    if (!file || !call.line || !what)
        return what;
    ana_source caller = tell_caller(t, call.stack);
    const prof_file *from = prof_find_file(&t->input->program->files, caller.file);
    return from ? TEXT("%s at %s:%u, called at %s:%u", what, file->name, call.line, from->name,
                       caller.line)
                : TEXT("%s at %s:%u", what, file->name, call.line);
}

/* "the launch of step at app.cu:12", "the copy at app.cu:9" */
static const char *op_words(tell_state *t, uint32_t at)
{
    static const char *const kinds[] = {"the allocation", "the free", "the copy", "the memset",
                                        "the launch"};
    const obj_op *op = &t->found.trace.ops.data[at];
    const char *kernel = op->kind == OBJ_LAUNCH ? kernel_words(t, op) : NULL;
    return tell_place(t, op->call,
                      kernel ? wl_arena_printf(t->input->arena, "the launch of %s", kernel)
                             : kinds[op->kind]);
}

/* The same as the begin of a sentence. */
static const char *upper_words(tell_state *t, uint32_t at)
{
    const char *words = op_words(t, at);
    return words ? wl_arena_printf(t->input->arena, "T%s", words + 1) : NULL;
}

static const char *calls_words(const tell_state *t, uint32_t calls)
{
    return wl_arena_printf(t->input->arena, "%u call%s", calls, calls == 1 ? "" : "s");
}

/* ---- what hits say ---- */

/* What fills it is put off with its allocation. */
static tell_words tell_early_fill(tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    const char *fill = op_words(t, t->found.lives.rows[h->object].filled),
               *use = op_words(t, h->to), *calls = calls_words(t, h->calls);
    bool copies = t->found.trace.ops.data[t->found.lives.rows[h->object].filled].kind == OBJ_COPY;
    return (tell_words){
        TEXT("Its %s are allocated %s before their first use, %s; until then only %s fills them.",
             tell_bytes(t, h->bytes), calls, use, fill),
        TEXT("Put off %s, and the allocation of " ANA_OBJECT ", until just before %s.%s", fill, use,
             copies ? " What is copied must still be there, and the same." : ""),
        REMEDY_ALLOCATE_LATER};
}

static tell_words tell_early(tell_state *t, const tell_bundle *b)
{
    if (b->first->to != t->found.lives.rows[b->first->object].first)
        return tell_early_fill(t, b);
    const char *use = op_words(t, b->first->to), *calls = calls_words(t, b->first->calls);
    return (tell_words){
        TEXT("Its %s are allocated %s before their first use, %s.", tell_bytes(t, b->first->bytes),
             calls, use),
        TEXT("Allocate " ANA_OBJECT " just before %s, which is its first use.", use),
        REMEDY_ALLOCATE_LATER};
}

static tell_words tell_late(tell_state *t, const tell_bundle *b)
{
    const char *use = op_words(t, b->first->from), *calls = calls_words(t, b->first->calls);
    return (tell_words){TEXT("Its %s are kept for %s after their last use, %s.",
                             tell_bytes(t, b->first->bytes), calls, use),
                        TEXT("Free " ANA_OBJECT " just after %s, which is its last use.", use),
                        REMEDY_FREE_SOONER};
}

static tell_words tell_redundant(tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    const obj_object *other = &t->found.trace.objects.data[h->other];
    const char *name = tell_object(t, h->other);
    return (tell_words){
        TEXT("Its first use, %s, comes after the last use of %s, %s; it has %s, and %s %s.",
             op_words(t, h->to), name, op_words(t, h->from), tell_bytes(t, h->bytes), name,
             tell_bytes(t, other->bytes)),
        TEXT("Let " ANA_OBJECT " use the memory of %s, made large enough for both, in place "
             "of an allocation of its own.",
             name),
        REMEDY_REUSE_MEMORY};
}

static tell_words tell_unused(tell_state *t, const tell_bundle *b)
{
    return (tell_words){
        TEXT("No copy, no set and no kernel accesses its %s.", tell_bytes(t, b->first->bytes)),
        "Leave out the allocation of " ANA_OBJECT ".", REMEDY_LEAVE_OUT};
}

static bool leaks_again(const tell_state *t, const obj_hit *h)
{
    return h->count >= t->input->program->thresholds->leak_objects;
}

/* Is the memory missed nowhere before the process ends? */
bool tell_rests_until_exit(const tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    return h->pattern == ANA_LEAK && !leaks_again(t, h) && !h->saves && !b->step;
}

static tell_words tell_leak(tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    if (leaks_again(t, h))
        return (tell_words){
            TEXT("The line allocates %u objects, %s together, that nothing frees before the "
                 "process ends.",
                 h->count, tell_bytes(t, b->bytes)),
            "Free " ANA_OBJECT " after its last use, before the line allocates again.",
            REMEDY_FREE_SOONER};
    const char *use = h->from == OBJ_NONE ? "" : op_words(t, h->from);
    const char *summary = TEXT("Nothing frees its %s before the process ends.",
                               tell_bytes(t, h->bytes));
    if (!*use || tell_rests_until_exit(t, b))
        return (tell_words){summary, "Free " ANA_OBJECT " after its last use.", REMEDY_FREE_SOONER};
    return (tell_words){summary, TEXT("Free " ANA_OBJECT " after %s, which is its last use.", use),
                        REMEDY_FREE_SOONER};
}

/* Is it a copy from the host, or a set, before anything else accesses the object? Then it can be put
 * off, and there is nothing to copy out. */
static bool is_first_fill(const tell_state *t, const obj_hit *h)
{
    const obj_op *op = &t->found.trace.ops.data[h->from];
    uint32_t count;
    const obj_access *a = obj_accesses(&t->found.trace, op, &count);
    return h->from == t->found.lives.rows[h->object].first && obj_is_one_way(a, count) &&
           a->how == OBJ_WRITE && (op->kind == OBJ_COPY || op->kind == OBJ_SET);
}

static tell_words tell_idle(tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    const char *before = op_words(t, h->from), *after = op_words(t, h->to);
    const char *often = b->hits > b->objects ? TEXT(" It lies idle so %u times.", b->hits) : "";
    const char *summary = TEXT("Between %s and %s, %s run without using its %s.%s", before, after,
                               calls_words(t, h->calls), tell_bytes(t, h->bytes), often);
    if (is_first_fill(t, h) && b->hits <= b->objects)
        return (tell_words){summary,
                            TEXT("Put off %s, and the allocation of " ANA_OBJECT
                                 ", until just before %s. What is copied must still be there, "
                                 "and the same.",
                                 before, after),
                            REMEDY_ALLOCATE_LATER};
    return (tell_words){summary,
                        TEXT("Copy " ANA_OBJECT
                             " to the host and free it after %s; allocate it again and copy "
                             "it back before %s.",
                             before, after),
                        REMEDY_MOVE_OUT};
}

static tell_words tell_dead(tell_state *t, const tell_bundle *b)
{
    const char *write = op_words(t, b->first->from), *next = op_words(t, b->first->to);
    const char *often = b->writes > 1 ? TEXT(" That happens %u times.", b->writes) : "";
    if (write && next && strcmp(write, next) == 0)
        next = "the next one";
    return (tell_words){
        TEXT("What %s writes is replaced by %s, and nothing reads it in between: %s in "
             "vain.%s",
             write, next, tell_bytes(t, b->bytes), often),
        TEXT("Leave out %s: what it writes to " ANA_OBJECT " is replaced unread.", write),
        REMEDY_LEAVE_OUT};
}

/* What has to be changed with the object, whose copies and sets move more than is kept of it. */
static const char *copies_words(tell_state *t, const obj_hit *h)
{
    const obj_moved *host = &t->found.extents[h->object].by_host;
    return host->op != OBJ_NONE && host->bytes > h->keeps
               ? TEXT(" %s moves %s of it, and has to be shortened with it.",
                      upper_words(t, host->op), tell_bytes(t, host->bytes))
               : "";
}

static tell_words tell_overallocation(tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    const obj_extent *e = &t->found.extents[h->object];
    const char *enough = tell_bytes(t, h->keeps), *all = tell_bytes(t, h->bytes);
    uint64_t hole = e->hole.first * OBJ_ELEMENT_BYTES;
    const char *summary =
        TEXT("Kernels access %.3g %% of its %s, from byte %llu to byte %llu.%s",
             100 * (double)e->touched / (double)e->elements, all,
             (unsigned long long)e->used.first * OBJ_ELEMENT_BYTES,
             (unsigned long long)(e->used.first + e->used.count) * OBJ_ELEMENT_BYTES - 1,
             copies_words(t, h));
    if (!obj_is_unused_at_ends(e))
        return (tell_words){
            summary,
            TEXT("Allocate what lies before byte %llu of " ANA_OBJECT
                 " and what lies after the next %s apart, and leave out what is between "
                 "them, which no kernel accesses.",
                 (unsigned long long)hole, tell_bytes(t, h->bytes - h->keeps)),
            REMEDY_ALLOCATE_LESS};
    return (tell_words){summary,
                        e->used.first
                            ? TEXT("Allocate %llu bytes (%s) for " ANA_OBJECT
                                   " in place of %s, beginning with what is byte %llu now.",
                                   (unsigned long long)h->keeps, enough, all,
                                   (unsigned long long)e->used.first * OBJ_ELEMENT_BYTES)
                            : TEXT("Allocate %llu bytes (%s) for " ANA_OBJECT " in place of %s.",
                                   (unsigned long long)h->keeps, enough, all),
                        REMEDY_ALLOCATE_LESS};
}

static tell_words tell_structured(tell_state *t, const tell_bundle *b)
{
    const obj_hit *h = b->first;
    const obj_extent *e = &t->found.extents[h->object];
    return (tell_words){
        TEXT("Launches access its %s in %u slices of at most %s, one after another, and "
             "come back to none.%s",
             tell_bytes(t, h->bytes), e->slices, tell_bytes(t, h->keeps), copies_words(t, h)),
        TEXT("Allocate one slice of " ANA_OBJECT
             ", %llu bytes (%s), and use it for each in turn; copy to the host "
             "what is needed of a slice before the next begins.",
             (unsigned long long)h->keeps, tell_bytes(t, h->keeps)),
        REMEDY_REUSE_SLICE};
}

tell_words tell_pattern(tell_state *t, const tell_bundle *b)
{
    switch (b->first->pattern) {
    case ANA_EARLY_ALLOCATION: return tell_early(t, b);
    case ANA_LATE_DEALLOCATION: return tell_late(t, b);
    case ANA_REDUNDANT_ALLOCATION: return tell_redundant(t, b);
    case ANA_UNUSED_ALLOCATION: return tell_unused(t, b);
    case ANA_LEAK: return tell_leak(t, b);
    case ANA_TEMPORARY_IDLENESS: return tell_idle(t, b);
    case ANA_OVERALLOCATION: return tell_overallocation(t, b);
    case ANA_STRUCTURED_ACCESS: return tell_structured(t, b);
    default: return tell_dead(t, b);
    }
}

/* Whose peak it is that is told of. */
static const char *pool_words(tell_state *t, const obj_hit *h)
{
    const obj_trace *trace = &t->found.trace;
    uint32_t pool = obj_pool_of(trace, trace->objects.data[h->object].device);
    if (pool == OBJ_NONE || h->pattern == ANA_DEAD_WRITE)
        return "";
    return TEXT(
        " What that saves is of the own peak of %s; whether the device's peak falls with it "
        "depends on the pool's allocator.",
        tell_pool(t, pool));
}

static const char *doubts(tell_state *t, const obj_hit *h)
{
    if (!h->possible)
        return "";
    if (t->found.trace.objects.data[h->object].seen_by_host)
        return " Uses that were not observed may rule it out: those of managed memory by the host, "
               "and "
               "those of arrays by textures and surfaces.";
    if (h->keeps)
        return TEXT(" But %s reads %s of it for another object.",
                    op_words(t, t->found.extents[h->object].on_device.op),
                    tell_bytes(t, t->found.extents[h->object].on_device.bytes));
    return h->pattern == ANA_REDUNDANT_ALLOCATION
               ? " Their streams do not wait for each other: without that the two uses may overlap."
               : "";
}

/* What is enough for this run's data need not be for other data. */
static const char *data_words(const tell_state *t, const obj_hit *h)
{
    return h->keeps && t->found.trace.objects.data[h->object].by_data
               ? " Loaded data decides which elements are accessed: with other data these may be "
                 "others."
               : "";
}

const char *tell_reservations(tell_state *t, const tell_bundle *b)
{
    return TEXT("%s%s%s", pool_words(t, b->first), data_words(t, b->first), doubts(t, b->first));
}
