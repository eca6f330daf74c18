/* What a kernel's instructions do to its shared arrays, found once. */
#include "replay/arrays.h"

static wl_status analyse_arrays(replay_arrays *a, const ir_module *module, const ir_func *kernel)
{
    a->arena = wl_arena_new();
    wl_status status = a->arena ? ir_kernel_of(module, kernel, a->arena, &a->code) : WL_NOMEM;
    a->flow = status == WL_OK ? flow_kernel_new(&a->code, a->arena) : NULL;
    status = a->flow ? flow_prove_kernel(a->flow, a->arena, &a->proof) : WL_NOMEM;
    if (status == WL_OK)
        status = flow_run(a->flow, FLOW_PASS_affine);
    if (status == WL_OK)
        status = flow_count_uses(a->flow, &a->proof, &a->counts);
    if (status == WL_OK)
        status = flow_fills_of(a->flow, a->arena, &a->fills);
    return status == WL_OK ? flow_find_arrays(&a->counts, &a->fills, &a->found) : status;
}

void replay_arrays_clear(replay_arrays *a)
{
    wl_arena_free(a->arena);
    *a = (replay_arrays){0};
}

bool replay_arrays_find(replay_arrays *a, const ir_module *module, const ir_func *kernel)
{
    if (!a->tried && analyse_arrays(a, module, kernel) != WL_OK)
        replay_arrays_clear(a);
    a->tried = true;
    return a->arena != NULL;
}
