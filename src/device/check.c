/* Replay held against what a launch did in the emulator: see check.h. */
#include "device/check.h"

#include "record/parts.h"
#include "replay/compare.h"
#include "replay/world.h"

#include <stdio.h>
#include <string.h>

/* ---- the process as records would tell it ---- */

static wl_status tell_device(replay_world *w, const dev_gpu *d, wl_error *err)
{
    cap_record record = {.type = CAP_DEVICE,
                         .device = {.cc_major = d->description.sm / 10,
                                    .cc_minor = d->description.sm % 10,
                                    .num_sms = 1,
                                    .global_bytes = d->description.global_bytes}};
    int sms = 0;
    if (cuda_device_attribute(&d->description, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms))
        record.device.num_sms = (uint32_t)sms;
    return replay_world_see(w, &record, err);
}

/* The name of the variable that lies at the address; "" without one. */
static const char *variable_at(const dev_module *module, uint64_t address)
{
    uint64_t at;
    for (uint32_t i = 0; module && i < module->ptx->nvars; i++)
        if (emu_module_symbol(module->loaded, module->ptx->vars[i]->name, &at, NULL) &&
            at == address)
            return module->ptx->vars[i]->name;
    return "";
}

static wl_status tell_object(replay_world *w, const dev_block *block, wl_error *err)
{
    cap_record record = {.type = CAP_OBJECT,
                         .object = {.id = block->object,
                                    .kind = dev_object_kind(block->kind),
                                    .base = block->base,
                                    .bytes = block->size,
                                    .module = block->module ? block->module->id : 0,
                                    .name = variable_at(block->module, block->base)}};
    return replay_world_see(w, &record, err);
}

static wl_status tell_parts(replay_world *w, wl_error *err)
{
    cap_record record = {.type = CAP_OBJECT};
    wl_status status = WL_OK;
    for (size_t i = 0; status == WL_OK && rec_part_number(i, &record.object); i++)
        status = replay_world_see(w, &record, err);
    return status;
}

static wl_status tell_content(replay_world *w, const dev_block *block, wl_error *err)
{
    cap_record record = {.type = CAP_SYMBOL,
                         .symbol = {.object = block->object,
                                    .data = (const char *)(uintptr_t)block->base,
                                    .length = block->size}};
    return block->kind == EMU_ALLOC_CONST ? replay_world_see(w, &record, err) : WL_OK;
}

static wl_status tell_all(replay_world *w, const dev_op *op, wl_error *err)
{
    const dev_module *m = op->launch.function->module;
    cap_record module = {.type = CAP_MODULE,
                         .module = {.id = m->id, .name = "", .code = m->text, .length = m->length}};
    dev_block *block, *next;
    wl_status status = tell_device(w, op->context->device, err);
    if (status == WL_OK)
        status = replay_world_see(w, &module, err);
    HASH_ITER (hh, dev_g.blocks, block, next) {
        if (status == WL_OK && block->object)
            status = tell_object(w, block, err);
    }
    HASH_ITER (hh, dev_g.blocks, block, next) {
        if (status == WL_OK && block->object)
            status = tell_content(w, block, err);
    }
    return status == WL_OK ? tell_parts(w, err) : status;
}

/* ---- the slice ---- */

static wl_status run_slice(replay_world *w, const replay_world_kernel *k, const dev_op *op,
                           bool mapped, replay_watch *watch, obs_summary *out, wl_error *err)
{
    emu_result result = {0};
    emu_launch launch = dev_launch_emulated(op);
    launch.observer = &watch->observer;
    wl_status status = dev_launch_watch(op, w->machine, k->slice, &k->facts.proof, mapped, watch);
    if (status == WL_OK)
        status = emu_run(w->machine, k->slice, &launch, &result, err);
    if (status == WL_FAULT)
        wl_fail(err, status, "%s", result.fault.text);
    if (status == WL_OK)
        status = replay_watch_finish(watch, &result, out);
    if (status == WL_OK)
        replay_world_place_constants(w, out);
    emu_result_clear(&result);
    return status;
}

static void tell_of_replay(const dev_op *op, const char *what, const char *why)
{
    fprintf(stderr, "==WARPLENS== replay of %s: %s%s\n", op->launch.function->name, what, why);
}

static wl_status compare_with_slice(replay_world *w, const dev_op *op, const obs_summary *whole,
                                    wl_error *err)
{
    replay_world_kernel *kernel = NULL;
    replay_watch watch = {0};
    obs_summary slice;
    char text[300];
    wl_status status = replay_world_find_kernel(w, op->launch.function->module->id,
                                                op->launch.function->name, &kernel, err);
    if (status == WL_OK)
        status = run_slice(w, kernel, op, whole->blocks_sampled > 0, &watch, &slice, err);
    if (status == WL_OK &&
        replay_agree(&kernel->facts, kernel->slice, whole, &slice, text, sizeof text)) {
        snprintf(text, sizeof text, "%u of %u rows, %u heat maps, %u sequences%s", slice.ninsns,
                 whole->ninsns, slice.nheats, slice.nsequences,
                 kernel->facts.whole ? ", whole" : "");
        tell_of_replay(op, "agrees: ", text);
    } else if (status == WL_OK) {
        tell_of_replay(op, "DIFFERS: ", text);
    }
    replay_watch_end(&watch);
    return status;
}

void dev_check_replay(const dev_op *op, const obs_summary *whole)
{
    replay_world w = {0};
    wl_error err = {0};
    wl_status status = tell_all(&w, op, &err);
    if (status == WL_OK)
        status = compare_with_slice(&w, op, whole, &err);
    if (status != WL_OK)
        tell_of_replay(op, "was not possible: ", err.text);
    replay_world_clear(&w);
}
