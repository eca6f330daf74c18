#include "device/same.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MOST_BYTES = 64 << 20 }; /* of the memo */

struct dev_facts {
    wl_arena *arena;
    replay_facts facts;
    uint64_t number; /* of the kernel */
};

static replay_memo *memo;
static uint64_t next_number;
static bool off; /* a repeat was none */

/* ---- facts ---- */

void dev_same_forget(dev_function *function)
{
    if (!function->facts)
        return;
    wl_arena_free(function->facts->arena);
    free(function->facts);
    function->facts = NULL;
}

static struct dev_facts *new_facts(const dev_function *f)
{
    struct dev_facts *facts = calloc(1, sizeof *facts);
    const emu_kernel_info *info = emu_kernel_get(f->kernel);
    if (!facts)
        return NULL;
    facts->number = ++next_number;
    facts->arena = wl_arena_new();
    if (facts->arena &&
        replay_facts_of(f->module->ptx, info->func, facts->arena, &facts->facts) == WL_OK) {
        facts->facts.whole &= facts->facts.param_bytes == info->param_bytes;
        return facts;
    }
    wl_arena_free(facts->arena);
    free(facts);
    return NULL;
}

static const struct dev_facts *facts_of(dev_function *f)
{
    if (f->launched++ == 0)
        return NULL;
    if (!f->facts && !f->facts_tried)
        f->facts = new_facts(f);
    f->facts_tried = true;
    return f->facts && f->facts->facts.whole ? f->facts : NULL;
}

/* ---- live memory ---- */

static bool find(void *ctx, uint64_t address, emu_alloc *out)
{
    return emu_mem_find(ctx, address, out) && out->id != 0;
}

static bool find_object(void *ctx, uint32_t object, emu_alloc *out)
{
    dev_block *block, *next;
    HASH_ITER (hh, dev_g.blocks, block, next) {
        if (block->object == object)
            return find(ctx, block->base, out) && out->id == object;
    }
    return false;
}

static uint64_t hash_constants(const dev_function *f, const replay_facts *facts)
{
    uint64_t hash = 0, address, size;
    for (uint32_t i = 0; i < facts->nconstants; i++)
        if (emu_module_symbol(f->module->loaded, facts->constants[i]->name, &address, &size))
            hash = XXH64((const void *)(uintptr_t)address, size, hash + 1);
    return hash;
}

/* ---- finding and keeping ---- */

void dev_same_find(const dev_op *op, dev_known *out)
{
    const dev_op_launch *l = &op->launch;
    emu_machine *machine = op->context->device->machine;
    out->keyed = out->known = false;
    if (off || !prog_options_get()->memo || (!memo && !(memo = replay_memo_new())))
        return;
    const struct dev_facts *facts = facts_of(l->function);
    if (!facts)
        return;
    replay_launch launch = {.facts = &facts->facts,
                            .kernel = facts->number,
                            .grid = l->grid,
                            .block = l->block,
                            .cluster = l->cluster,
                            .dynamic_shared = l->shared,
                            .device = (uint32_t)op->context->device->ordinal,
                            .cooperative = l->cooperative,
                            .params = l->params,
                            .constants = hash_constants(l->function, &facts->facts)};
    replay_key_of(&launch, find, machine, &out->key);
    out->keyed = true;
    out->known = replay_memo_get(memo, &out->key, find, machine, &out->launch);
}

/* All that was accessed is proven. */
static bool is_proven(const replay_facts *facts, const obs_summary *summary)
{
    for (uint32_t i = 0; i < summary->ninsns; i++)
        if (!(facts->proof.flags[summary->insns[i].pc] & FLOW_PC_PROVEN))
            return false;
    return summary->dropped == 0;
}

void dev_same_keep(const dev_op *op, const dev_known *known, uint32_t launch,
                   const obs_summary *summary)
{
    if (known->keyed && replay_memo_bytes(memo) < MOST_BYTES &&
        is_proven(&op->launch.function->facts->facts, summary))
        replay_memo_put(memo, &known->key, launch, summary, find_object,
                        op->context->device->machine);
}

/* ---- recording ---- */

cap_note dev_note_of(const dev_op *op, const dev_stream *stream, uint32_t call)
{
    const dev_op_launch *l = &op->launch;
    const emu_kernel_info *info = emu_kernel_get(l->function->kernel);
    return (cap_note){.id = rec_g.next_launch + 1,
                      .call = call,
                      .module = l->function->module->id,
                      .kernel = l->function->name,
                      .grid = {l->grid.x, l->grid.y, l->grid.z},
                      .block = {l->block.x, l->block.y, l->block.z},
                      .cluster = {l->cluster.x, l->cluster.y, l->cluster.z},
                      .dynamic_shared = l->shared,
                      .static_shared = info->static_shared,
                      .local_bytes = info->local_bytes,
                      .registers = info->registers,
                      .flags = CAP_NOTE_NO_PARAMS | (l->cooperative ? CAP_NOTE_COOPERATIVE : 0),
                      .device = (uint32_t)op->context->device->ordinal,
                      .context = op->context->id,
                      .stream = stream->id,
                      .params = ""};
}

static void write_repeat(const dev_op *op, const dev_stream *stream, uint32_t call,
                         const replay_known *known, double seconds)
{
    cap_note note = dev_note_of(op, stream, call);
    cap_repeat repeat = {.note = note.id,
                         .same_as = known->launch,
                         .host_seconds = seconds,
                         .count = known->nmoves,
                         .moves = (cap_move *)(uintptr_t)known->moves};
    rec_g.next_launch++;
    REC_WRITE(note, &note);
    REC_WRITE(repeat, &repeat);
}

bool dev_same_write(const dev_op *op, const dev_stream *stream, uint32_t call,
                    const dev_known *known, const emu_result *result)
{
    const replay_known *launch = &known->launch;
    if (result->warp_instructions == launch->warp_instructions &&
        result->thread_instructions == launch->thread_instructions) {
        write_repeat(op, stream, call, launch, result->seconds);
        return true;
    }
    off = true;
    rec_message(WL_LOG_WARN,
                "A launch of %s was taken for the repeat of an earlier one, and did something "
                "else; launches are not taken for repeats from here on.",
                op->launch.function->name);
    return false;
}
