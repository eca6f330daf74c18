/* Parts of allocations, as the program announces them: the machines are told, which then show what
 * is accessed there as theirs. */
#include "record/parts.h"

#include "device/impl.h"

static bool find_given_memory(uint64_t address, rec_memory *out)
{
    dev_memory memory;
    const dev_block *block = dev_block_find(address);
    const dev_context *context = dev_current();
    if (!block || !dev_memory_find(address, &memory))
        return false;
    *out = (rec_memory){.base = memory.base,
                        .bytes = memory.size,
                        .object = memory.object,
                        .kind = dev_object_kind(block->kind),
                        .device = (uint32_t)block->device->ordinal,
                        .context = dev_is(context, DEV_CONTEXT) ? context->id : 0};
    return true;
}

/* A host function is itself what others wait for. */
static void wait_for_submitted(void)
{
    const dev_thread *t = dev_self();
    if (t && !t->in_host_function)
        dev_wait_idle(NULL, NULL);
}

static void part_begins(uint64_t base, uint64_t bytes, uint32_t object)
{
    for (int i = 0; i < dev_g.ndevices; i++)
        emu_mem_part(dev_g.devices[i].machine, base, bytes, object);
}

static void part_ends(uint64_t base, uint32_t object)
{
    for (int i = 0; i < dev_g.ndevices; i++)
        emu_mem_part_end(dev_g.devices[i].machine, base, object);
}

void dev_parts_start(void)
{
    static const rec_part_hooks hooks = {.find = find_given_memory,
                                         .settle = wait_for_submitted,
                                         .begins = part_begins,
                                         .ends = part_ends};
    rec_parts_start(&hooks);
}
