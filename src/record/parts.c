#include "record/parts.h"

#include "base/nest.h"
#include "record/record.h"

#include <stdlib.h>

typedef struct part {
    wl_nested place; /* id: its number in the capture */
    uint32_t in;     /* the object that CUDA gave, which it goes with */
    uint32_t kind;   /* cap_object_kind, of that object */
    bool pool;
} part;

static wl_nest parts;
static const rec_part_hooks *hooks;

void rec_parts_start(const rec_part_hooks *which)
{
    hooks = which;
}

static part *part_at(wl_nested *place)
{
    return place ? (part *)((char *)place - offsetof(part, place)) : NULL;
}

static part *innermost_part(uint64_t address)
{
    uint64_t low = 0, high = UINT64_MAX;
    return part_at(wl_nest_at(&parts, address, &low, &high));
}

static part *outer_part(const part *p)
{
    return part_at(p->place.around);
}

uint32_t rec_part_of(uint64_t address, uint64_t bytes, uint64_t *base)
{
    if (!parts.items.count)
        return 0;
    part *p = innermost_part(address);
    while (p && bytes > p->place.base + p->place.bytes - address)
        p = outer_part(p);
    if (p)
        *base = p->place.base;
    return p ? p->place.id : 0;
}

/* ---- what cannot be placed ---- */

typedef enum trouble {
    NO_MEMORY_THERE,
    BEYOND_ITS_MEMORY,
    ACROSS_A_POOL,
    NOTHING_BEGINS_THERE,
    TROUBLES
} trouble;

static void tell_trouble(trouble kind, const char *api, uint64_t address)
{
    static const char *const texts[TROUBLES] = {
        [NO_MEMORY_THERE] = "CUDA knows of no memory there",
        [BEYOND_ITS_MEMORY] = "it reaches beyond the allocation that it begins in",
        [ACROSS_A_POOL] = "it crosses the border of a pool",
        [NOTHING_BEGINS_THERE] = "nothing that was announced begins there",
    };
    static bool told[TROUBLES];
    if (!told[kind])
        rec_message(WL_LOG_WARN,
                    "%s at address 0x%llx was left out: %s. Others of this kind are left out "
                    "without a message.",
                    api, (unsigned long long)address, texts[kind]);
    told[kind] = true;
}

/* ---- begin and end ---- */

static void annotate(uint32_t object, const char *name, uint64_t element_bytes)
{
    const cap_annotation record = {
        .object = object, .tag = name ? name : "", .element_bytes = (uint32_t)element_bytes};
    if (*record.tag || record.element_bytes)
        REC_WRITE(annotation, &record);
}

static void end_part(part *p, uint32_t call, cap_freed_how how)
{
    const cap_free record = {.object = p->place.id, .call = call, .how = how};
    REC_WRITE(free, &record);
    if (hooks->ends)
        hooks->ends(p->place.base, p->place.id);
    wl_nest_remove(&parts, &p->place);
    free(p);
}

/* What begins within it goes before it does. */
static void end_with_inside(part *p, uint32_t call, cap_freed_how how)
{
    wl_nested *inner;
    while ((inner = wl_nest_within(&parts, p->place.base, p->place.bytes)) && inner != &p->place)
        end_part(part_at(inner), call, how);
    end_part(p, call, how);
}

void rec_parts_end_with(uint32_t object, uint32_t call, cap_freed_how how)
{
    for (size_t i = parts.items.count; i-- > 0;) {
        part *p = part_at(parts.items.data[i]);
        if (p->in == object)
            end_part(p, call, how);
    }
}

void rec_parts_forget(void)
{
    for (size_t i = 0; i < parts.items.count; i++)
        free(part_at(parts.items.data[i]));
    wl_nest_free(&parts);
}

/* What lies there was given up unseen; a pool stays. */
static bool clear_the_way(uint64_t base, uint64_t bytes)
{
    for (wl_nested *old; (old = wl_nest_in_the_way(&parts, base, bytes));) {
        if (part_at(old)->pool)
            return false;
        end_with_inside(part_at(old), 0, CAP_FREED_UNSEEN);
    }
    return true;
}

static part *begin_part(const rec_memory *in, uint64_t base, uint64_t bytes, bool pool)
{
    part *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (part){
        .place = {.base = base, .bytes = bytes}, .in = in->object, .kind = in->kind, .pool = pool};
    if (!wl_nest_add(&parts, &p->place)) {
        free(p);
        return NULL;
    }
    p->place.id = rec_object_new();
    return p;
}

static cap_object object_of_part(const part *p)
{
    const part *outer = outer_part(p);
    return (cap_object){.id = p->place.id,
                        .kind = p->kind,
                        .base = p->place.base,
                        .bytes = p->place.bytes,
                        .name = "",
                        .kernel = "",
                        .parent = outer ? outer->place.id : p->in};
}

bool rec_part_number(size_t index, cap_object *out)
{
    if (index >= parts.items.count)
        return false;
    *out = object_of_part(part_at(parts.items.data[index]));
    return true;
}

static void write_part(const part *p, const rec_memory *in, uint32_t call)
{
    cap_object record = object_of_part(p);
    record.device = in->device;
    record.call = call;
    REC_WRITE(object, &record);
    if (hooks->begins)
        hooks->begins(p->place.base, p->place.bytes, p->place.id);
}

/* ---- calls ---- */

/* False where nothing is recorded; else the lock is held. */
static bool begin_call(rec_call *call, const char *api, cap_call_kind kind)
{
    if (!__atomic_load_n(&rec_g.started, __ATOMIC_ACQUIRE) || rec_g.forked || !hooks)
        return false;
    rec_call_begin(call, api, kind, REC_HELD);
    rec_call_stack(call);
    pthread_mutex_lock(&rec_g.lock);
    if (rec_g.writer)
        return true;
    pthread_mutex_unlock(&rec_g.lock);
    return false;
}

static void end_call(void)
{
    pthread_mutex_unlock(&rec_g.lock);
}

/* Before its record: what was submitted until now still sees the parts as they are. */
static void settle_submitted(void)
{
    if (hooks->settle)
        hooks->settle();
}

static void write_part_call(rec_call *call, const rec_memory *in, uint64_t bytes)
{
    call->record.device = in->device;
    call->record.context = in->context;
    call->record.bytes = bytes;
    rec_call_number(call);
    rec_call_write(call, 0);
}

/* The memory that CUDA gave around the range. */
static bool find_memory_around(const char *api, uint64_t base, uint64_t bytes, rec_memory *in)
{
    rec_memory last;
    bool found = base && bytes && base + bytes > base && hooks->find(base, in) &&
                 in->kind != CAP_OBJECT_CONST; /* what constants hold is told by whole variables */
    if (!found)
        tell_trouble(NO_MEMORY_THERE, api, base);
    else if (!hooks->find(base + bytes - 1, &last))
        tell_trouble(BEYOND_ITS_MEMORY, api, base);
    else
        return true;
    return false;
}

typedef struct announced {
    uint64_t base, bytes, element_bytes;
    const char *name;
    bool pool;
} announced;

static void announce(rec_call *call, const rec_memory *in, const announced *a)
{
    settle_submitted();
    if (!clear_the_way(a->base, a->bytes)) {
        tell_trouble(ACROSS_A_POOL, call->record.api, a->base);
        return;
    }
    part *p = begin_part(in, a->base, a->bytes, a->pool);
    if (!p)
        return;
    call->record.target_object = p->place.id;
    write_part_call(call, in, a->bytes);
    write_part(p, in, call->id);
    annotate(p->place.id, a->name, a->element_bytes);
}

/* ---- what the program says ---- */

void rec_annotate_pool(const char *api, uint64_t base, uint64_t bytes, const char *name)
{
    rec_call call;
    rec_memory in;
    const announced a = {.base = base, .bytes = bytes, .name = name, .pool = true};
    if (!begin_call(&call, api, CAP_CALL_ALLOC))
        return;
    if (find_memory_around(api, base, bytes, &in)) {
        if (in.base == base && in.bytes == bytes)
            annotate(in.object, name, 0);
        else
            announce(&call, &in, &a);
    }
    end_call();
}

void rec_annotate_alloc(const char *api, uint64_t base, uint64_t bytes, const char *name,
                        uint64_t element_bytes)
{
    rec_call call;
    rec_memory in;
    const announced a = {
        .base = base, .bytes = bytes, .name = name, .element_bytes = element_bytes};
    if (!begin_call(&call, api, CAP_CALL_ALLOC))
        return;
    if (find_memory_around(api, base, bytes, &in))
        announce(&call, &in, &a);
    end_call();
}

void rec_block_taken(const char *api, uint64_t base, uint64_t bytes, const rec_named *names)
{
    rec_call call;
    rec_memory in;
    const announced a = {.base = base, .bytes = bytes, .name = names->part};
    if (!begin_call(&call, api, CAP_CALL_ALLOC))
        return;
    if (find_memory_around(api, base, bytes, &in)) {
        if (!wl_nest_within(&parts, in.base, in.bytes))
            annotate(in.object, names->in, 0);
        announce(&call, &in, &a);
    }
    end_call();
}

void rec_block_refused(const char *api, uint64_t bytes, uint32_t device)
{
    enum { OUT_OF_MEMORY = 2 }; /* as both interfaces of CUDA number it */
    rec_call call;
    if (!begin_call(&call, api, CAP_CALL_ALLOC))
        return;
    call.record.bytes = bytes;
    call.record.device = device;
    rec_call_number(&call);
    rec_call_write(&call, OUT_OF_MEMORY);
    end_call();
}

/* The innermost pool, or other part, that begins there. */
static part *part_that_begins(uint64_t base, bool pool)
{
    part *p = innermost_part(base);
    while (p && (p->pool != pool || p->place.base != base))
        p = outer_part(p);
    return p;
}

static void give_up(rec_call *call, part *p)
{
    rec_memory in = {0};
    settle_submitted();
    hooks->find(p->place.base, &in);
    call->record.source_object = p->place.id;
    write_part_call(call, &in, p->place.bytes);
    end_with_inside(p, call->id, CAP_FREED_PROGRAM);
}

void rec_annotate_free(const char *api, uint64_t base)
{
    rec_call call;
    if (!base || !begin_call(&call, api, CAP_CALL_FREE))
        return;
    part *p = part_that_begins(base, false);
    if (p)
        give_up(&call, p);
    else
        tell_trouble(NOTHING_BEGINS_THERE, api, base);
    end_call();
}

/* The pool is all of an allocation: that stays, and what lies in it goes. */
static void empty_memory(rec_call *call, const rec_memory *in)
{
    if (!wl_nest_within(&parts, in->base, in->bytes))
        return;
    settle_submitted();
    write_part_call(call, in, 0);
    rec_parts_end_with(in->object, call->id, CAP_FREED_PROGRAM);
}

void rec_annotate_pool_end(const char *api, uint64_t base)
{
    rec_call call;
    rec_memory in;
    if (!base || !begin_call(&call, api, CAP_CALL_FREE))
        return;
    part *p = part_that_begins(base, true);
    if (p)
        give_up(&call, p);
    else if (hooks->find(base, &in) && in.base == base)
        empty_memory(&call, &in);
    else
        tell_trouble(NOTHING_BEGINS_THERE, api, base);
    end_call();
}

void rec_annotate_name(uint64_t address, const char *name, uint64_t element_bytes)
{
    rec_call call;
    rec_memory in;
    if (!begin_call(&call, "warplens_name", CAP_CALL_OTHER))
        return;
    const part *p = innermost_part(address);
    if (p)
        annotate(p->place.id, name, element_bytes);
    else if (hooks->find(address, &in) && in.object)
        annotate(in.object, name, element_bytes);
    else
        tell_trouble(NO_MEMORY_THERE, "warplens_name", address);
    end_call();
}
