/* Functions of the CUDA system. */
#include "emu/builtin.h"

#include <stdio.h>
#include <string.h>

/* Argument `n` of a call for one lane; one that is missing reads as 0. */
static uint64_t argument_of_call(const emu_warp *w, const emu_call *call, uint32_t n, uint32_t lane)
{
    uint64_t value = 0;
    if (n >= call->nargs)
        return 0;
    const emu_place *p = &call->args[n];
    const uint8_t *from = (const uint8_t *)emu_at(w, p->ref) + (size_t)lane * p->stride;
    memcpy(&value, from, p->bytes < 8 ? p->bytes : 8);
    return value;
}

/* Its n-th result, where the call takes one. */
static void set_call_result(const emu_warp *w, const emu_call *call, uint32_t n, uint32_t lane,
                            uint64_t value)
{
    if (n >= call->nrets || call->rets[n].ref == EMU_NOREF)
        return;
    const emu_place *p = &call->rets[n];
    memcpy((uint8_t *)emu_at(w, p->ref) + (size_t)lane * p->stride, &value,
           p->bytes < 8 ? p->bytes : 8);
}

bool emu_read_generic(emu_warp *w, uint32_t lane, uint64_t address, void *to, uint32_t bytes)
{
    emu_machine *m = w->worker->run->machine;
    uint64_t offset = address - m->shared_window;
    const uint8_t *from = NULL;
    if (offset < EMU_WINDOW_BYTES) {
        if (offset <= w->cta->shared_bytes && bytes <= w->cta->shared_bytes - offset)
            from = w->cta->shared + offset;
    } else if (offset - EMU_WINDOW_BYTES < EMU_WINDOW_BYTES) {
        offset -= EMU_WINDOW_BYTES;
        if (offset <= w->local_stride && bytes <= w->local_stride - offset)
            from = w->local + (size_t)lane * w->local_stride + offset;
    } else if (emu_memory_holding(&m->memory, address, bytes)) {
        from = (const uint8_t *)(uintptr_t)address;
    }
    if (from)
        memcpy(to, from, bytes);
    return from != NULL;
}

bool emu_read_string(emu_warp *w, uint32_t lane, uint64_t address, char *to, uint32_t size)
{
    for (uint32_t n = 0; n + 1 < size; n++) {
        if (!emu_read_generic(w, lane, address + n, to + n, 1))
            return false;
        if (to[n] == '\0')
            return true;
    }
    to[size - 1] = '\0';
    return true;
}

static void run_vprintf(emu_warp *w, const emu_call *call, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        int32_t n = emu_printf(w, lane, argument_of_call(w, call, 0, lane),
                               argument_of_call(w, call, 1, lane));
        set_call_result(w, call, 0, lane, (uint32_t)n);
    }
}

static void tell_of_malloc(const emu_warp *w, const emu_call *call, uint64_t address, uint64_t size)
{
    const emu_run_state *run = w->worker->run;
    const emu_heap_alloc made = {address, size, w->cta->index, call->pc};
    if (run->launch->heap)
        emu_memory_set_id(&run->machine->memory, address,
                          run->launch->heap->made(run->launch->heap->ctx, &made));
}

static void run_malloc(emu_warp *w, const emu_call *call, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t size = argument_of_call(w, call, 0, lane), address = 0;
        if (size &&
            emu_mem_alloc(w->worker->run->machine, size, 16, EMU_ALLOC_HEAP, 0, &address) != WL_OK)
            address = 0;
        if (address)
            tell_of_malloc(w, call, address, size);
        set_call_result(w, call, 0, lane, address);
    }
}

static void run_free(emu_warp *w, const emu_call *call, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = argument_of_call(w, call, 0, lane);
        emu_alloc alloc;
        bool heap = address && emu_mem_find(w->worker->run->machine, address, &alloc) &&
                    alloc.base == address && alloc.kind == EMU_ALLOC_HEAP;
        if (address && !heap)
            emu_raise(w, call->pc, EMU_FAULT_ILLEGAL_ADDRESS, lane, address, 0,
                      "frees what malloc has not given");
        if (!address)
            continue;
        const emu_heap_observer *told = w->worker->run->launch->heap;
        if (told && alloc.id)
            told->freed(told->ctx, alloc.id);
        emu_mem_free(w->worker->run->machine, address);
    }
}

static void run_assertfail(emu_warp *w, const emu_call *call, uint32_t mask)
{
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    char what[200] = "?", file[160] = "?", function[120] = "?";
    emu_read_string(w, lane, argument_of_call(w, call, 0, lane), what, sizeof what);
    emu_read_string(w, lane, argument_of_call(w, call, 1, lane), file, sizeof file);
    emu_read_string(w, lane, argument_of_call(w, call, 3, lane), function, sizeof function);
    emu_raise(w, call->pc, EMU_FAULT_ASSERT, lane, 0, 0, "%s:%u: %s: assertion `%s' failed", file,
              (uint32_t)argument_of_call(w, call, 2, lane), function, what);
}

const emu_builtin *emu_builtin_find(const char *name)
{
    static const emu_builtin builtins[] = {
        {"vprintf", run_vprintf},
        {"malloc", run_malloc},
        {"free", run_free},
        {"__assertfail", run_assertfail},
        {"__assert_fail", run_assertfail},
    };
    for (size_t k = 0; k < sizeof builtins / sizeof *builtins; k++)
        if (strcmp(builtins[k].name, name) == 0)
            return &builtins[k];
    return NULL;
}
