/* Launches that are the same as an earlier one: what replay asks of the process, and what is
 * recorded of them. */
#include "device/same.h"

#include "device/lifted.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static replay_repeats *repeats;

void dev_same_forget(dev_function *function)
{
    replay_proven_clear(&function->proven);
    replay_fills_clear(&function->fills);
    replay_path_clear(&function->path);
    replay_shapes_free(function->shapes);
    function->shapes = NULL;
}

/* ---- live memory ---- */

static bool find_live_object(void *ctx, uint64_t address, emu_alloc *out)
{
    return emu_mem_find_object(ctx, address, out) && out->id != 0;
}

/* Not of parts: where a launch accessed one that no parameter led to, it is not kept. */
static bool find_numbered_object(void *ctx, uint32_t object, emu_alloc *out)
{
    dev_block *block, *next;
    HASH_ITER (hh, dev_g.blocks, block, next) {
        if (block->object == object)
            return emu_mem_find_id(ctx, block->base, object, out);
    }
    return false;
}

static uint64_t hash_constants(const dev_function *f, const replay_facts *facts)
{
    uint64_t hash = 0, address, size;
    emu_module *loaded = f->lifted ? f->lifted->loaded : f->module->loaded;
    for (uint32_t i = 0; i < facts->nconstants; i++)
        if (emu_module_symbol(loaded, facts->constants[i]->name, &address, &size))
            hash = XXH64((const void *)(uintptr_t)address, size, hash + 1);
    return hash;
}

/* ---- finding and keeping ---- */

void dev_same_find(const dev_op *op, replay_repeat *out)
{
    const dev_op_launch *l = &op->launch;
    dev_function *f = l->function;
    out->facts = NULL;
    out->known = false;
    out->renumbered = f->lifted;
    if (!dev_g.settings.memo || (!repeats && !(repeats = replay_repeats_new())))
        return;
    const ir_module *code = f->lifted ? f->lifted->body.module : f->module->ptx;
    const replay_facts *facts = replay_repeats_prove(repeats, &f->proven, code,
                                                     dev_running_kernel(f));
    if (!facts)
        return;
    replay_launch launch = {.grid = l->grid,
                            .block = l->block,
                            .cluster = l->cluster,
                            .dynamic_shared = l->shared,
                            .device = (uint32_t)op->context->device->ordinal,
                            .cooperative = l->cooperative,
                            .params = l->params,
                            .constants = hash_constants(f, facts)};
    replay_repeats_find(repeats, &f->proven, &launch, find_live_object,
                        op->context->device->machine, out);
}

void dev_same_keep(const dev_op *op, const replay_repeat *repeat, uint32_t launch,
                   const obs_summary *summary, const emu_result *result)
{
    obs_summary kept = *summary;
    kept.warp_instructions = result->warp_instructions; /* what a repeat is compared by */
    kept.thread_instructions = result->thread_instructions;
    if (repeat->facts)
        replay_repeats_keep(repeats, repeat, launch, &kept, find_numbered_object,
                            op->context->device->machine);
}

/* ---- recording ---- */

cap_note dev_note_of(const dev_op *op, const dev_turn *turn)
{
    const dev_op_launch *l = &op->launch;
    const emu_kernel_info *info = emu_kernel_get(l->function->kernel);
    const dev_lifted *lifted = l->function->lifted;
    return (cap_note){.id = rec_g.next_launch + 1,
                      .call = turn->call,
                      .module = lifted ? lifted->number : l->function->module->id,
                      .kernel = l->function->name,
                      .grid = {l->grid.x, l->grid.y, l->grid.z},
                      .block = {l->block.x, l->block.y, l->block.z},
                      .cluster = {l->cluster.x, l->cluster.y, l->cluster.z},
                      .dynamic_shared = l->shared,
                      .static_shared = info->static_shared,
                      .local_bytes = emu_kernel_get(dev_running_kernel(l->function))->local_bytes,
                      .registers = lifted ? lifted->body.registers : info->registers,
                      .flags = CAP_NOTE_NO_PARAMS | (turn->node ? CAP_NOTE_GRAPH : 0) |
                               (l->cooperative ? CAP_NOTE_COOPERATIVE : 0),
                      .device = (uint32_t)op->context->device->ordinal,
                      .context = op->context->id,
                      .stream = turn->stream->number,
                      .ordinal = turn->ordinal,
                      .params = ""};
}

static void write_repeat(const dev_op *op, const dev_turn *turn, const replay_known *known,
                         double seconds)
{
    cap_note note = dev_note_of(op, turn);
    cap_repeat repeat = {.note = note.id,
                         .same_as = known->launch,
                         .host_seconds = seconds,
                         .count = known->nmoves,
                         .moves = (cap_move *)(uintptr_t)known->moves};
    rec_g.next_launch++;
    REC_WRITE(note, &note);
    REC_WRITE(repeat, &repeat);
}

bool dev_same_write(const dev_op *op, const dev_turn *turn, const replay_repeat *repeat,
                    const emu_result *result)
{
    if (replay_repeats_confirm(repeats, repeat, result)) {
        write_repeat(op, turn, &repeat->launch, result->seconds);
        return true;
    }
    rec_message(WL_LOG_WARN,
                "A launch of %s was taken for the repeat of an earlier one, and did something "
                "else; launches are not taken for repeats from here on.",
                op->launch.function->name);
    return false;
}
