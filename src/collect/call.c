/* One API call: its lock, its checks and its record; threads and the current context. */
#include "collect/impl.h"

#include "base/log.h"
#include "collect/stack.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads ---- */

static __thread collect_thread *self;
static pthread_key_t self_key;
static pthread_once_t self_once = PTHREAD_ONCE_INIT;

static void forget_self(void *thread)
{
    self = NULL;
    free(thread);
}

static void make_key(void)
{
    pthread_key_create(&self_key, forget_self);
}

collect_thread *collect_self(void)
{
    if (self)
        return self;
    pthread_once(&self_once, make_key);
    self = calloc(1, sizeof *self);
    if (self) {
        self->number = __atomic_add_fetch(&collect_g.next_thread, 1, __ATOMIC_RELAXED);
        pthread_setspecific(self_key, self);
    }
    return self;
}

collect_context *collect_current(void)
{
    collect_thread *t = collect_self();
    return t && t->depth ? t->contexts[t->depth - 1] : NULL;
}

void collect_set_current(collect_context *context)
{
    collect_thread *t = collect_self();
    if (!t)
        return;
    if (!context) {
        t->depth -= t->depth > 0;
        return;
    }
    t->depth += t->depth == 0;
    t->contexts[t->depth - 1] = context;
    t->device = context->device->ordinal;
}

collect_result collect_push_current(collect_context *context)
{
    collect_thread *t = collect_self();
    if (!t || t->depth == COLLECT_MAX_STACKED)
        return COLLECT_INVALID_VALUE;
    t->contexts[t->depth++] = context;
    t->device = context->device->ordinal;
    return COLLECT_OK;
}

collect_result collect_pop_current(collect_context **context)
{
    collect_thread *t = collect_self();
    if (!t || !t->depth)
        return COLLECT_INVALID_CONTEXT;
    *context = t->contexts[--t->depth];
    return COLLECT_OK;
}

/* ---- records ---- */

static void write_maps(void)
{
    cap_maps maps;
    if (!collect_maps_changed())
        return;
    if (collect_maps_read(&maps) != WL_OK)
        return;
    COLLECT_WRITE(maps, &maps);
    collect_maps_free(&maps);
}

void collect_call_write(collect_call *call, collect_result result)
{
    if (!call->id || call->written)
        return;
    call->written = true;
    write_maps();
    cap_call record = call->record;
    record.id = call->id;
    record.end_ns = collect_since_start();
    record.result = result;
    COLLECT_WRITE(call, &record);
}

uint32_t collect_call_node(uint32_t parent, const char *api, cap_call_kind kind,
                           const cap_call *fields)
{
    if (!parent || !collect_g.writer)
        return 0;
    cap_call record = *fields;
    record.id = ++collect_g.next_call;
    record.api = api;
    record.kind = kind;
    record.thread = collect_self() ? collect_self()->number : 0;
    record.end_ns = collect_since_start();
    COLLECT_WRITE(call, &record);
    return record.id;
}

/* ---- calls ---- */

static collect_result make_primary_current(collect_thread *t)
{
    if (t->depth && collect_is(t->contexts[t->depth - 1], COLLECT_CONTEXT))
        return COLLECT_OK;
    collect_result r = collect_initialize();
    if (r)
        return r;
    collect_device *device = collect_device_get(t->device);
    collect_context *context = device->primary;
    r = context ? COLLECT_OK : collect_primary_retain(device, &context);
    if (r == COLLECT_OK)
        collect_set_current(context);
    return r;
}

static collect_result check(collect_call *call, collect_thread *t)
{
    if ((call->flags & COLLECT_INIT) && !collect_g.initialized)
        return COLLECT_NOT_INITIALIZED;
    if (call->flags & COLLECT_PRIMARY) {
        collect_result r = make_primary_current(t);
        if (r)
            return r;
    }
    if (!(call->flags & (COLLECT_CURRENT | COLLECT_PRIMARY)))
        return COLLECT_OK;
    call->context = collect_current();
    if (!collect_is(call->context, COLLECT_CONTEXT))
        return t->depth ? COLLECT_CONTEXT_DESTROYED : COLLECT_INVALID_CONTEXT;
    return call->flags & COLLECT_UNSTICKY ? COLLECT_OK : call->context->error;
}

/* Kept out of line: its frame is this library's, which the stack leaves out. */
static __attribute__((noinline)) void note(collect_call *call, cap_call_kind kind)
{
    call->record.kind = kind;
    call->record.start_ns = collect_since_start();
    call->record.stack.pcs = call->pcs;
    call->record.stack.count = collect_stack(call->pcs, CAP_MAX_STACK);
}

collect_result collect_begin(collect_call *call, const char *api, cap_call_kind kind,
                             uint32_t flags)
{
    memset(call, 0, offsetof(collect_call, pcs));
    call->api = call->record.api = api;
    call->flags = flags;
    if (collect_g.forked) {
        collect_mark_forked();
        return COLLECT_NOT_INITIALIZED;
    }
    collect_thread *t = collect_self();
    if (!t)
        return COLLECT_NOMEM;
    if (t->in_host_function)
        return COLLECT_NOT_PERMITTED;
    bool recorded = !(flags & COLLECT_QUIET) && *collect_options_get()->capture_dir;
    if (recorded)
        note(call, kind);
    pthread_mutex_lock(&collect_g.lock);
    call->locked = true;
    collect_result r = check(call, t);
    if (recorded && collect_g.writer) {
        call->record.thread = t->number;
        call->id = ++collect_g.next_call;
    }
    return r;
}

collect_result collect_end(collect_call *call, collect_result result)
{
    if (!call->locked)
        return result;
    collect_call_write(call, result);
    pthread_mutex_unlock(&collect_g.lock);
    call->locked = false;
    return result;
}

/* ---- what is not there ---- */

typedef struct missing {
    char *name;
    UT_hash_handle hh;
} missing;

static missing *missing_names;

static void name_missing(const char *name)
{
    missing *m;
    HASH_FIND_STR(missing_names, name, m);
    if (m)
        return;
    m = calloc(1, sizeof *m);
    if (!m || !(m->name = strdup(name))) {
        free(m);
        return;
    }
    HASH_ADD_KEYPTR(hh, missing_names, m->name, strlen(m->name), m);
    collect_initialize();
    wl_log(WL_LOG_WARN, "%s is not supported by the emulator; it returns an error.", name);
    cap_unsupported record = {.api = m->name};
    COLLECT_WRITE(unsupported, &record);
}

collect_result collect_unsupported(const char *api)
{
    if (collect_g.forked)
        return COLLECT_NOT_INITIALIZED;
    pthread_mutex_lock(&collect_g.lock);
    name_missing(api);
    pthread_mutex_unlock(&collect_g.lock);
    return COLLECT_NOT_SUPPORTED;
}

collect_result collect_unsupported_part(const char *part)
{
    name_missing(part);
    return COLLECT_NOT_SUPPORTED;
}

int collect_driver_result(collect_result result)
{
    switch (result) {
    case COLLECT_INVALID_CONFIGURATION:
    case COLLECT_INVALID_PITCH:
    case COLLECT_INVALID_TEXTURE:
    case COLLECT_INVALID_CHANNEL:
    case COLLECT_INVALID_DIRECTION:
    case COLLECT_MISSING_CONFIGURATION: return COLLECT_INVALID_VALUE;
    case COLLECT_INVALID_SYMBOL: return COLLECT_NOT_FOUND;
    case COLLECT_INVALID_DEVICE_FUNCTION: return COLLECT_INVALID_HANDLE;
    default: return result;
    }
}
