/* Launches: checked as the driver does, run by the emulator, observed and recorded. */
#include "base/clock.h"
#include "base/progress.h"
#include "device/impl.h"
#include "inject/guard.h"

#include "device/check.h"
#include "device/heap.h"
#include "device/lifted.h"
#include "device/same.h"
#include "program/kernel_name.h"
#include "replay/elements.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

static bool dims_within_limits(emu_dim d, const cuda_device *device, int x, int y, int z)
{
    return d.x && d.y && d.z && d.x <= (uint32_t)cuda_attribute_of(device, x) &&
           d.y <= (uint32_t)cuda_attribute_of(device, y) &&
           d.z <= (uint32_t)cuda_attribute_of(device, z);
}

static bool has_cluster(const dev_launch *l)
{
    return l->cluster.x && (uint64_t)l->cluster.x * l->cluster.y * l->cluster.z > 1;
}

static dev_result check_shape(const dev_launch *l, const cuda_device *device)
{
    dev_result bad = l->old_runtime ? DEV_INVALID_CONFIGURATION : DEV_INVALID_VALUE;
    if (!dims_within_limits(l->grid, device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) ||
        !dims_within_limits(l->block, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z))
        return bad;
    uint64_t threads = (uint64_t)l->block.x * l->block.y * l->block.z;
    if (threads > (uint64_t)cuda_attribute_of(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK))
        return bad;
    if (has_cluster(l) &&
        (l->grid.x % l->cluster.x || l->grid.y % l->cluster.y || l->grid.z % l->cluster.z))
        return DEV_INVALID_CLUSTER_SIZE;
    return DEV_OK;
}

static dev_result check_resources(const dev_launch *l, const emu_kernel_info *info,
                                  const cuda_device *device)
{
    int threads = (int)(l->block.x * l->block.y * l->block.z), most, blocks;
    int dynamic = dev_function_dynamic_limit(l->function, info);
    if ((int64_t)l->shared > dynamic)
        return DEV_INVALID_VALUE;
    dev_function_get(l->function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    if (threads > most)
        return threads > (int)info->max_threads ? DEV_INVALID_VALUE : DEV_OUT_OF_RESOURCES;
    dev_result r = dev_occupancy(l->function, threads, l->shared, &blocks);
    if (r || !blocks)
        return r ? r : DEV_OUT_OF_RESOURCES;
    uint64_t grid = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    uint64_t room = (uint64_t)blocks *
                    (uint64_t)cuda_attribute_of(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    return l->cooperative && grid > room ? DEV_COOPERATIVE_TOO_LARGE : DEV_OK;
}

static dev_result pack_params(const dev_launch *l, const emu_kernel_info *info, dev_op_launch *out)
{
    out->bytes = info->param_bytes;
    out->params = calloc(1, info->param_bytes ? info->param_bytes : 1);
    if (!out->params)
        return DEV_NOMEM;
    if (!l->params) {
        size_t bytes = l->packed_bytes < out->bytes ? l->packed_bytes : out->bytes;
        if (bytes)
            memcpy(out->params, l->packed, bytes);
        return l->packed_bytes >= out->bytes ? DEV_OK : DEV_INVALID_VALUE;
    }
    for (uint32_t i = 0; i < info->nparams; i++) {
        if (!l->params[i])
            return DEV_INVALID_VALUE;
        memcpy((char *)out->params + info->param_offsets[i], l->params[i], info->param_sizes[i]);
    }
    return DEV_OK;
}

/* Said once a kernel on stderr, and recorded for each launch. */
static dev_result refuse_emulation(dev_call *call, dev_function *f, const wl_error *why)
{
    if (!f->refused)
        wl_log(WL_LOG_ERROR, "Kernel %s cannot be emulated: %s", f->name, why->text);
    f->refused = true;
    dev_call_write(call, DEV_NOT_SUPPORTED);
    rec_skipped(call->rec.id, f->name, "%s", why->text);
    return DEV_NOT_SUPPORTED;
}

dev_result dev_launch_prepare(dev_call *call, dev_context *context, const dev_launch *launch,
                              dev_op **out)
{
    const cuda_device *device = &context->device->description;
    wl_error why = {0};
    dev_result r = check_shape(launch, device);
    if (r)
        return r;
    const emu_kernel_info *info = dev_function_info(launch->function, &why);
    if (!info)
        return refuse_emulation(call, launch->function, &why);
    r = check_resources(launch, info, device);
    if (r)
        return r;
    dev_op *op = dev_op_new(OP_LAUNCH, context);
    if (!op)
        return DEV_NOMEM;
    op->launch = (dev_op_launch){.function = launch->function,
                                 .grid = launch->grid,
                                 .block = launch->block,
                                 .cluster = launch->cluster,
                                 .shared = launch->shared,
                                 .cooperative = launch->cooperative};
    r = pack_params(launch, info, &op->launch);
    if (r) {
        dev_op_unref(op);
        return r;
    }
    *out = op;
    return DEV_OK;
}

/* ---- observation ---- */

wl_status dev_launch_watch(const dev_op *op, emu_machine *machine, emu_kernel *kernel,
                           const flow_proof *proof, bool mapped, replay_watch *w)
{
    const dev_op_launch *l = &op->launch;
    dev_function *f = l->function;
    const flow_fills *fills = NULL;
    if (!f->lifted && replay_elements_of_arrays(dev_g.settings.probes))
        fills = replay_fills_of(&f->fills, f->module->ptx, emu_kernel_get(f->kernel)->func);
    const rewrite_path *path = NULL;
    if (!f->lifted && dev_g.settings.probes >> REWRITE_PATH & 1)
        path = replay_path_of(&f->path, f->module->ptx, emu_kernel_get(f->kernel)->func);
    replay_watched what = {.settings = &dev_g.settings,
                           .machine = machine,
                           .kernel = kernel,
                           .grid = l->grid,
                           .block = l->block,
                           .cluster = l->cluster,
                           .dynamic_shared = l->shared,
                           .cooperative = l->cooperative,
                           .unmapped = !mapped,
                           .fills = fills,
                           .path = path,
                           .lifted = f->lifted ? &f->lifted->body : NULL};
    return replay_watch_begin(&what, proof, w);
}

/* Is this launch of the kernel to have heat maps? Counts it. */
static bool draws_maps(const dev_op *op)
{
    const dev_op_launch *l = &op->launch;
    const replay_shape shape = {l->grid, l->block, l->cluster, l->shared};
    return replay_shape_mapped(&l->function->shapes, &shape, &dev_g.settings);
}

static cap_launch describe_launch(const dev_op *op, const dev_turn *turn, const emu_result *result)
{
    const cap_note note = dev_note_of(op, turn);
    cap_launch launch = cap_launch_of_note(&note);
    launch.params = op->launch.params;
    launch.nparams = op->launch.bytes;
    launch.host_seconds = result->seconds;
    launch.error = result->fault.cuda_error;
    launch.fault = result->fault.text;
    return launch;
}

static wl_status write_fault(uint32_t launch, const dev_function *function, const emu_fault *f)
{
    const cap_fault fault = {.launch = launch,
                             .kind = emu_fault_text(f->kind),
                             .what = f->text + f->what,
                             .pc = dev_running_pc(function, f->pc),
                             .block = {f->block.x, f->block.y, f->block.z},
                             .thread = {f->thread.x, f->thread.y, f->thread.z},
                             .in_memory = f->in_memory,
                             .address = f->address,
                             .bytes = f->bytes};
    return cap_write_fault(rec_g.writer, &fault);
}

static void write_launch(replay_watch *w, const dev_op *op, const dev_turn *turn,
                         const emu_result *result, const replay_repeat *repeat)
{
    const dev_op_launch *l = &op->launch;
    cap_launch record = describe_launch(op, turn, result);
    wl_status status = replay_watch_finish(w, result, &record.summary);
    if (status != WL_OK) {
        rec_skipped(turn->call, l->function->name, "its summary could not be made (%s)",
                    wl_status_text(status));
        rec_stop_observing("the summary of %s could not be made (%s).", l->function->name,
                           wl_status_text(status));
        return;
    }
    if (prog_options_get()->check_replay && !record.error && !l->function->lifted)
        dev_check_replay(op, &record.summary);
    rec_g.next_launch++;
    status = rec_g.writer ? cap_write_observed(rec_g.writer, &record) : WL_STATE;
    if (status == WL_OK && result->fault.kind != EMU_FAULT_NONE)
        status = write_fault(record.id, l->function, &result->fault);
    if (status == WL_LIMIT || status == WL_NOMEM)
        rec_skipped(turn->call, l->function->name, "its summary could not be recorded (%s)",
                    wl_status_text(status));
    else if (rec_g.writer)
        rec_written(status);
    if (status == WL_OK && !record.error)
        dev_same_keep(op, repeat, record.id, &record.summary, result);
}

/* ---- running ---- */

static void print(void *ctx, const char *text, size_t length)
{
    dev_context *context = ctx;
    if (!wl_reserve(&context->printed, length))
        return;
    memcpy(context->printed.data + context->printed.count, text, length);
    context->printed.count += length;
}

static wl_progress progress;
static uint64_t launches; /* of the process, with that which runs */

/* Where it is time: "launch 12 of sum: block 10 of 4096, about 30 s left". `since`: when the launch
 * began, in wl_seconds. */
static void tell_progress(const char *kernel, double since, uint64_t done, uint64_t total)
{
    char base[64], left[64], text[256];
    if (!wl_progress_due(&progress))
        return;
    prog_base_name(kernel, base, sizeof base);
    wl_progress_left(wl_seconds() - since, done, total, left, sizeof left);
    snprintf(text, sizeof text, "launch %" PRIu64 ", of %s: block %" PRIu64 " of %" PRIu64 "%s",
             launches, base, done + (done < total), total, left);
    wl_progress_show(&progress, text);
}

typedef struct launch_progress {
    const char *kernel;
    double since;
} launch_progress;

static bool tell_block(void *ctx, uint64_t done, uint64_t total)
{
    const launch_progress *p = ctx;
    tell_progress(p->kernel, p->since, done, total);
    return true;
}

/* Of a launch that begins. */
static launch_progress begin_progress(const dev_op_launch *l)
{
    launch_progress p = {l->function->name, wl_seconds()};
    if (launches++ == 0)
        progress.kind = wl_progress_named(prog_options_get()->progress);
    tell_progress(p.kernel, p.since, 0, (uint64_t)l->grid.x * l->grid.y * l->grid.z);
    return p;
}

/* Of machine code shared memory begins with what the system reserves, which no limit counts. */
static uint32_t reserved_shared(const dev_function *f)
{
    uint32_t ptx = emu_kernel_get(f->kernel)->static_shared,
             all = emu_kernel_get(dev_running_kernel(f))->static_shared;
    return all > ptx ? all - ptx : 0;
}

emu_launch dev_launch_emulated(const dev_op *op)
{
    const dev_op_launch *l = &op->launch;
    return (emu_launch){.grid = l->grid,
                        .block = l->block,
                        .cluster = l->cluster,
                        .dynamic_shared = l->shared,
                        .params = l->params,
                        .cooperative = l->cooperative,
                        .reserved_shared = reserved_shared(l->function),
                        .threads = dev_g.settings.threads};
}

/* After its record. The kernel's own fault loses the context, as on a GPU; a failure of the
 * emulation is told apart. */
static void settle_launch(dev_op *op, uint32_t call, wl_status status, emu_result *result,
                          const wl_error *err)
{
    const char *kernel = op->launch.function->name;
    dev_heap_write_freed(call);
    if (status == WL_OK)
        return;
    if (status == WL_FAULT) {
        rec_say(WL_LOG_ERROR, result->fault.text);
        dev_lose(op->context, (dev_result)result->fault.cuda_error);
        return;
    }
    rec_message(WL_LOG_ERROR, "Kernel %s could not be run: %s", kernel, err->text);
    rec_skipped(call, kernel, "%s", err->text);
    dev_lose(op->context, status == WL_NOMEM ? DEV_NOMEM : DEV_LAUNCH_FAILED);
}

static wl_status run_kernel(dev_op *op, uint32_t call, const acc_observer *observer,
                            emu_result *result, wl_error *err)
{
    launch_progress shown = begin_progress(&op->launch);
    const prog_options *options = prog_options_get();
    emu_launch launch = dev_launch_emulated(op);
    launch.observer = observer;
    launch.heap = dev_heap_begin(op);
    launch.time_limit = (double)options->time_limit;
    launch.print = print;
    launch.print_ctx = op->context;
    launch.progress = progress.kind != WL_PROGRESS_NONE ? tell_block : NULL;
    launch.progress_ctx = &shown;
    inj_guard_begin(shown.kernel);
    wl_status status = emu_run(op->context->device->machine,
                               dev_running_kernel(op->launch.function), &launch, result, err);
    inj_guard_end();
    wl_progress_clear(&progress);
    dev_heap_write_made(op, call);
    return status;
}

static void run_unobserved(dev_op *op, const dev_turn *turn, const char *reason)
{
    emu_result result = {0};
    wl_error err = {0};
    wl_status status = run_kernel(op, turn->call, NULL, &result, &err);
    if (reason && (status == WL_OK || status == WL_FAULT))
        rec_skipped(turn->call, op->launch.function->name, "%s%s%s", reason,
                    status == WL_FAULT ? "; it failed: " : "",
                    status == WL_FAULT ? result.fault.text : "");
    settle_launch(op, turn->call, status, &result, &err);
    emu_result_clear(&result);
}

/* A repeat that fails has no more to it than that: what it did until then was not observed. */
static void write_failed(const dev_op *op, const dev_turn *turn, const emu_result *result)
{
    cap_launch record = describe_launch(op, turn, result);
    record.summary.blocks_run = result->blocks_run;
    rec_g.next_launch++;
    REC_WRITE(launch, &record);
}

static void run_repeat(dev_op *op, const dev_turn *turn, const replay_repeat *repeat)
{
    emu_result result = {0};
    wl_error err = {0};
    wl_status status = run_kernel(op, turn->call, NULL, &result, &err);
    if (status == WL_FAULT)
        write_failed(op, turn, &result);
    else if (status == WL_OK && !dev_same_write(op, turn, repeat, &result))
        rec_skipped(turn->call, op->launch.function->name,
                    "it did not do what the launch did that it was taken to repeat");
    settle_launch(op, turn->call, status, &result, &err);
    emu_result_clear(&result);
}

static void run_observed(dev_op *op, const dev_turn *turn, replay_watch *w,
                         const replay_repeat *repeat)
{
    emu_result result = {0};
    wl_error err = {0};
    wl_status status = run_kernel(op, turn->call, &w->observer, &result, &err);
    if (status == WL_OK || status == WL_FAULT)
        write_launch(w, op, turn, &result, repeat);
    settle_launch(op, turn->call, status, &result, &err);
    emu_result_clear(&result);
}

void dev_launch_run(dev_op *op, const dev_turn *turn)
{
    const char *kernel = op->launch.function->name;
    dev_flush_printed(op->context);
    const emu_dim c = op->launch.cluster;
    dev_lifted_choose(op->launch.function, (uint64_t)c.x * c.y * c.z > 1);
    const char *reason = rec_choose(kernel, turn->in_ranges);
    if (reason || !rec_g.observe) {
        run_unobserved(op, turn, reason);
        return;
    }
    replay_repeat repeat;
    bool mapped = draws_maps(op);
    dev_same_find(op, &repeat);
    if (repeat.known) {
        run_repeat(op, turn, &repeat);
        return;
    }
    replay_watch watch = {0};
    if (dev_launch_watch(op, op->context->device->machine, dev_running_kernel(op->launch.function),
                         NULL, mapped, &watch) == WL_OK) {
        run_observed(op, turn, &watch, &repeat);
    } else {
        rec_stop_observing("no memory for the counters of %s.", kernel);
        run_unobserved(op, turn, "no memory for its counters");
    }
    replay_watch_end(&watch);
}
