/* The front ends that the process knows, and what is asked of them. */
#include "ir/front.h"

#include <stdio.h>

enum { MAX_FRONTS = 8 };

static const ir_front *fronts[MAX_FRONTS];
static uint32_t nfronts;

bool ir_add_front(const ir_front *front)
{
    if (nfronts == MAX_FRONTS)
        return false;
    fronts[nfronts++] = front;
    return true;
}

wl_status ir_read(const ir_front *usual, const char *bytes, size_t length, const char *name,
                  ir_module **out, wl_error *err)
{
    for (uint32_t i = 0; i < nfronts; i++)
        if (fronts[i]->recognises(bytes, length))
            return fronts[i]->read(bytes, length, name, out, err);
    return usual->read(bytes, length, name, out, err);
}

char *ir_insn_name(const ir_insn *insn, char *buffer, size_t size)
{
    size_t at = (size_t)snprintf(buffer, size, "%s", ir_op_get(insn->op)->text);
    for (unsigned i = 0; i < insn->nsuffixes && at < size; i++)
        at += (size_t)snprintf(buffer + at, size - at, ".%s",
                               ir_suffix_text((ir_suffix)insn->suffixes[i]));
    return buffer;
}

char *ir_insn_text(const ir_module *module, const ir_func *func, const ir_insn *insn, char *buffer,
                   size_t size)
{
    return module->front ? module->front->insn_text(module, func, insn, buffer, size)
                         : ir_insn_name(insn, buffer, size);
}

const char *ir_inlined_from(const ir_module *module, const ir_loc *loc, wl_arena *arena)
{
    bool known = module->front && module->front->inlined_from;
    return known ? module->front->inlined_from(module, loc, arena) : "";
}
