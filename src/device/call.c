/* One API call: its lock, its checks and its record; threads and the current context. */
#include "device/impl.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* ---- threads ---- */

static __thread dev_thread *self;
static pthread_key_t self_key;
static pthread_once_t self_once = PTHREAD_ONCE_INIT;

static void forget_self(void *thread)
{
    self = NULL;
    free(thread);
}

static void make_thread_key(void)
{
    pthread_key_create(&self_key, forget_self);
}

dev_thread *dev_self(void)
{
    if (self)
        return self;
    pthread_once(&self_once, make_thread_key);
    self = calloc(1, sizeof *self);
    if (self) {
        self->number = rec_thread();
        pthread_setspecific(self_key, self);
    }
    return self;
}

dev_context *dev_current(void)
{
    dev_thread *t = dev_self();
    return t && t->depth ? t->contexts[t->depth - 1] : NULL;
}

void dev_set_current(dev_context *context)
{
    dev_thread *t = dev_self();
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

dev_result dev_push_current(dev_context *context)
{
    dev_thread *t = dev_self();
    if (!t || t->depth == DEV_MAX_STACKED)
        return DEV_INVALID_VALUE;
    t->contexts[t->depth++] = context;
    t->device = context->device->ordinal;
    return DEV_OK;
}

dev_result dev_pop_current(dev_context **context)
{
    dev_thread *t = dev_self();
    if (!t || !t->depth)
        return DEV_INVALID_CONTEXT;
    *context = t->contexts[--t->depth];
    return DEV_OK;
}

/* ---- records ---- */

void dev_call_write(dev_call *call, dev_result result)
{
    const dev_context *context = dev_current();
    if (!call->rec.id)
        return;
    if (!call->rec.record.context && dev_is(context, DEV_CONTEXT)) {
        call->rec.record.context = context->id;
        call->rec.record.device = (uint32_t)context->device->ordinal;
    }
    rec_call_write(&call->rec, (int32_t)result);
}

/* ---- calls ---- */

static dev_result make_primary_current(dev_thread *t)
{
    if (t->depth && dev_is(t->contexts[t->depth - 1], DEV_CONTEXT))
        return DEV_OK;
    dev_result r = dev_initialize();
    if (r)
        return r;
    dev_gpu *device = dev_gpu_get(t->device);
    dev_context *context = device->primary;
    r = context ? DEV_OK : dev_primary_retain(device, &context);
    if (r == DEV_OK)
        dev_set_current(context);
    return r;
}

static dev_result check_context(dev_call *call, dev_thread *t)
{
    if ((call->flags & DEV_INIT) && !dev_g.initialized)
        return DEV_NOT_INITIALIZED;
    if (call->flags & DEV_PRIMARY) {
        dev_result r = make_primary_current(t);
        if (r)
            return r;
    }
    if (!(call->flags & (DEV_CURRENT | DEV_PRIMARY)))
        return DEV_OK;
    call->context = dev_current();
    if (!dev_is(call->context, DEV_CONTEXT))
        return t->depth ? DEV_CONTEXT_DESTROYED : DEV_INVALID_CONTEXT;
    return call->flags & DEV_UNSTICKY ? DEV_OK : call->context->error;
}

dev_result dev_begin(dev_call *call, const char *api, cap_call_kind kind, uint32_t flags)
{
    call->api = api;
    call->context = NULL;
    call->flags = flags;
    call->locked = call->launches_graph = false;
    call->rec.id = 0;
    if (rec_g.forked) {
        rec_mark_forked();
        return DEV_NOT_INITIALIZED;
    }
    dev_thread *t = dev_self();
    if (!t)
        return DEV_NOMEM;
    if (t->in_host_function)
        return DEV_NOT_PERMITTED;
    bool recorded = !(flags & DEV_QUIET) && *prog_options_get()->capture_dir;
    rec_call_begin(&call->rec, api, kind, REC_NOW);
    if (recorded)
        rec_call_stack(&call->rec);
    pthread_mutex_lock(&rec_g.lock);
    call->locked = true;
    dev_result r = check_context(call, t);
    if (recorded)
        rec_call_number(&call->rec);
    return r;
}

/* What the device has left where it refused memory. */
static void write_refusal(const dev_call *call)
{
    dev_gpu *device = dev_is(call->context, DEV_CONTEXT) ? dev_context_device(call->context) : NULL;
    uint64_t unused, all;
    if (!device || !call->rec.id)
        return;
    dev_gpu_memory(device, &unused, &all);
    rec_refused(call->rec.id, unused, all);
}

dev_result dev_end(dev_call *call, dev_result result)
{
    if (!call->locked)
        return result;
    dev_call_write(call, result);
    if (result == DEV_NOMEM && call->rec.record.kind == CAP_CALL_ALLOC)
        write_refusal(call);
    pthread_mutex_unlock(&rec_g.lock);
    call->locked = call->launches_graph = false;
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
    dev_initialize();
    wl_log(WL_LOG_WARN, "%s is not supported by the emulator; it returns an error.", name);
    cap_unsupported record = {.api = m->name};
    REC_WRITE(unsupported, &record);
}

dev_result dev_unsupported(const char *api)
{
    if (rec_g.forked)
        return DEV_NOT_INITIALIZED;
    pthread_mutex_lock(&rec_g.lock);
    name_missing(api);
    pthread_mutex_unlock(&rec_g.lock);
    return DEV_NOT_SUPPORTED;
}

dev_result dev_unsupported_part(const char *part)
{
    name_missing(part);
    return DEV_NOT_SUPPORTED;
}

int dev_driver_result(dev_result result)
{
    switch (result) {
    case DEV_INVALID_CONFIGURATION:
    case DEV_INVALID_PITCH:
    case DEV_INVALID_TEXTURE:
    case DEV_INVALID_CHANNEL:
    case DEV_INVALID_DIRECTION:
    case DEV_MISSING_CONFIGURATION: return DEV_INVALID_VALUE;
    case DEV_INVALID_SYMBOL: return DEV_NOT_FOUND;
    case DEV_INVALID_DEVICE_FUNCTION: return DEV_INVALID_HANDLE;
    default: return result;
    }
}
