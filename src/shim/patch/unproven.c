/* Which kernels of machine code have accesses that no replay could compute. */
#include "cuda/cubin.h"
#include "flow/flow.h"
#include "sass/body.h"
#include "shim/patch/impl.h"

static bool has_unproven(const flow_proof *proof)
{
    for (uint32_t pc = 0; pc < proof->npcs; pc++)
        if (proof->flags[pc] & FLOW_PC_MEMORY && !(proof->flags[pc] & FLOW_PC_PROVEN))
            return true;
    return false;
}

/* Where there is no memory for a proof, nothing is proven. */
static bool is_body_unproven(const sass_body *body, const char *kernel, wl_arena *arena)
{
    const ir_func *func = ir_module_kernel(body->module, kernel);
    ir_kernel code;
    flow_proof proof;
    return !func || ir_kernel_of(body->module, func, arena, &code) != WL_OK ||
           flow_prove(&code, arena, &proof) != WL_OK || has_unproven(&proof);
}

bool patch_is_unproven(const void *cubin, size_t bytes, const char *kernel)
{
    wl_arena *arena = wl_arena_new();
    sass_body body = {0};
    wl_error why;
    bool unproven = !arena ||
                    sass_body_read(cubin, bytes, cuda_cubin_sm(cubin, bytes), kernel, arena, &body,
                                   &why) != WL_OK ||
                    is_body_unproven(&body, kernel, arena);
    sass_body_clear(&body);
    wl_arena_free(arena);
    return unproven;
}
