/* What did not go to its end: launches that failed, calls that tell of one, processes that were cut
 * off. Reports say it before all else. */
#include "report/impl.h"

#include "base/vec.h"
#include "cuda/errors.h"

#include <string.h>

/* "CUDA_ERROR_ILLEGAL_ADDRESS", or the number of an error without a name. */
static const char *error_name(wl_arena *arena, int32_t error)
{
    const char *name = cuda_driver_error_name(error);
    return name ? name : wl_arena_printf(arena, "CUDA error %d", error);
}

/* ---- launches that the emulator stopped ---- */

/* "reads 4 bytes, 12,288 bytes after the end of out (bounds.cu:20)"; NULL where the object is not
 * known. */
static const char *miss_of(const rep_data *d, wl_arena *arena, const prof_fault *f)
{
    const prof_object *o = prof_find_object(&d->objects, f->object);
    if (!o || !*f->what)
        return NULL;
    int verb = (int)strcspn(f->what, " ");
    bool inside = f->address - o->base < o->bytes;
    uint64_t by = inside                 ? f->address - o->base
                  : f->address < o->base ? o->base - f->address
                                         : f->address - o->base - o->bytes;
    const char *where = inside                 ? o->freed ? "into the freed" : "into"
                        : f->address < o->base ? "before the start of"
                                               : "after the end of";
    const char *distance = by == 0 && !inside
                               ? "directly"
                               : wl_arena_printf(arena, "%s bytes", rep_count(arena, by));
    return wl_arena_printf(arena, "%.*s %u bytes, %s %s %s, which has %s", verb, f->what, f->bytes,
                           distance ? distance : "", where, o->name, rep_bytes(arena, o->bytes));
}

static const char *place_of(const rep_data *d, wl_arena *arena, uint32_t kernel, uint32_t pc,
                            rep_failure *out)
{
    const prof_code *code = prof_find_code(&d->code, kernel, pc);
    if (code && code->file && code->line) {
        out->file = rep_file_path(d, code->file);
        out->line = code->line;
        return rep_place(arena, out->file, out->line);
    }
    return wl_arena_printf(arena, "instruction %u%s%s", pc, code ? ", " : "",
                           code ? code->text : "");
}

static void tell_fault(const rep_data *d, wl_arena *arena, const prof_fault *f, rep_failure *out)
{
    const char *place = place_of(d, arena, out->kernel, f->pc, out);
    const char *miss = miss_of(d, arena, f);
    const char *what = miss ? miss : f->what;
    out->object = f->object;
    out->why = wl_arena_printf(arena, "%s at %s, block (%u,%u,%u), thread (%u,%u,%u)%s%s", f->kind,
                               place ? place : "", f->block[0], f->block[1], f->block[2],
                               f->thread[0], f->thread[1], f->thread[2], *what ? ": " : "", what);
}

static const prof_fault *find_fault(const prof_fault_rows *faults, uint32_t launch)
{
    for (uint32_t i = 0; i < faults->count; i++)
        if (faults->rows[i].launch == launch)
            return &faults->rows[i];
    return NULL;
}

static rep_failure launch_failure(const rep_data *d, wl_arena *arena, const prof_launch *l,
                                  const prof_fault_rows *faults)
{
    const prof_kernel *k = prof_find_kernel(&d->kernels, l->kernel);
    const prof_fault *fault = find_fault(faults, l->id);
    rep_failure out = {.launch = l->id, .kernel = l->kernel};
    out.what = wl_arena_printf(arena, "launch %u (%s) failed", l->id,
                               k ? k->short_name : "an unknown kernel");
    if (fault)
        tell_fault(d, arena, fault, &out);
    else
        out.why = *l->fault ? l->fault : error_name(arena, l->error);
    return out;
}

/* ---- calls and processes ---- */

/* Errors after which a context is of no use: they come from a kernel before, and every later call
 * gives them, too. */
static bool is_of_kernel(int32_t error)
{
    return error == 700 || error == 702 || (error >= 709 && error <= 720 && error != 712);
}

static rep_failure call_failure(wl_arena *arena, const prof_call *c)
{
    rep_failure out = {0};
    out.what = wl_arena_printf(arena, "%s returned %s", c->api, error_name(arena, c->result));
    out.why = "a kernel that was launched before it failed on the GPU; 'warplens profile --backend "
              "emulate' runs the program without one and names the access";
    return out;
}

static rep_failure process_failure(wl_arena *arena, const prof_process *p)
{
    rep_failure out = {0};
    out.what = wl_arena_printf(arena, "the recording of process %u ended early", p->pid);
    out.why = p->cut_off;
    return out;
}

/* ---- all of them ---- */

typedef wl_vec(rep_failure) failure_list;

static bool add_failure(failure_list *list, rep_failure failure)
{
    return failure.what && failure.why && wl_push(list, failure);
}

/* The first call of each process that tells of a failed kernel, where no launch does. */
static bool add_calls(const rep_data *d, wl_arena *arena, failure_list *list)
{
    uint32_t told = 0; /* processes ascend */
    bool room = true;
    for (uint32_t i = 0; i < d->calls.count && room; i++) {
        const prof_call *c = &d->calls.rows[i];
        if (c->process == told || !is_of_kernel(c->result))
            continue;
        told = c->process;
        room = add_failure(list, call_failure(arena, c));
    }
    return room;
}

static bool collect_failures(const rep_data *d, wl_arena *arena, const prof_fault_rows *faults,
                             failure_list *list)
{
    bool room = true;
    for (uint32_t i = 0; i < d->launches.count && room; i++)
        if (d->launches.rows[i].error)
            room = add_failure(list, launch_failure(d, arena, &d->launches.rows[i], faults));
    if (room && list->count == 0)
        room = add_calls(d, arena, list);
    for (uint32_t i = 0; i < d->processes.count && room; i++)
        if (d->processes.rows[i].cut_off)
            room = add_failure(list, process_failure(arena, &d->processes.rows[i]));
    return room;
}

wl_status rep_load_failures(prof_db *db, wl_arena *arena, rep_data *d, wl_error *err)
{
    prof_fault_rows faults;
    failure_list list = {0};
    wl_status status = prof_load_faults(db, arena, &faults, err);
    if (status != WL_OK)
        return status;
    bool room = collect_failures(d, arena, &faults, &list);
    d->failures = room ? wl_new_array(arena, rep_failure, list.count + 1) : NULL;
    if (d->failures && list.count) {
        memcpy(d->failures, list.data, list.count * sizeof *list.data);
        d->nfailures = (uint32_t)list.count;
    }
    wl_vec_free(&list);
    return d->failures ? WL_OK
                       : wl_fail(err, WL_NOMEM, "not enough memory for the failures of the report");
}
