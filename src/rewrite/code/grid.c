/* Where in the grid a thread is, and what blocks and rows of threads have in common. */
#include "rewrite/code/body.h"

static rw_reg load_sreg(rw_body *b, const char *name)
{
    return rw_get(b, mov_u32, rw_sreg(name));
}

rw_reg rw_low_block(rw_body *b)
{
    static const char *const sizes[] = {"%nctaid.y", "%nctaid.x"}, *const indices[] = {"%ctaid.y",
                                                                                       "%ctaid.x"};
    rw_reg to = load_sreg(b, "%ctaid.z");
    for (unsigned i = 0; i < 2; i++) {
        rw_reg size = load_sreg(b, sizes[i]), index = load_sreg(b, indices[i]);
        rw_do(b, mad_lo_u32, to, to, size, index);
    }
    return to;
}

rw_reg rw_linear_warp(rw_body *b)
{
    static const char *const sizes[] = {"%ntid.y", "%ntid.x"}, *const indices[] = {"%tid.y",
                                                                                   "%tid.x"};
    rw_reg to = load_sreg(b, "%tid.z");
    for (unsigned i = 0; i < 2; i++) {
        rw_do(b, mul_lo_u32, to, to, load_sreg(b, sizes[i]));
        rw_do(b, add_u32, to, to, load_sreg(b, indices[i]));
    }
    rw_do(b, shr_u32, to, to, rw_number(5));
    return to;
}

void rw_linear_thread(rw_body *b, rw_reg *thread, rw_reg *threads)
{
    *thread = load_sreg(b, "%tid.z");
    rw_reg ny = load_sreg(b, "%ntid.y"), y = load_sreg(b, "%tid.y");
    rw_do(b, mad_lo_u32, *thread, *thread, ny, y);
    rw_reg nx = load_sreg(b, "%ntid.x"), x = load_sreg(b, "%tid.x");
    rw_do(b, mad_lo_u32, *thread, *thread, nx, x);
    ny = load_sreg(b, "%ntid.y");
    rw_reg layer = rw_get(b, mul_lo_u32, nx, ny), nz = load_sreg(b, "%ntid.z");
    *threads = rw_get(b, mul_lo_u32, layer, nz);
}

rw_reg rw_copy_number(rw_body *b, uint32_t copies)
{
    return rw_get(b, and_b32, load_sreg(b, "%smid"), rw_number(copies - 1));
}

/* Where the function's variables lie, and in the kernel those of the module: written by threads
 * with %tid.x 0 of traced blocks, and of blocks with %ctaid.x 0. */
void rw_write_vars(rw_body *b)
{
    const rewrite_kernel *k = b->plan->out;
    if (!k->vars_at)
        return;
    rw_reg index = load_sreg(b, "%tid.x");
    if (!rw_has(b, REWRITE_TRACE))
        rw_do(b, or_b32, index, index, load_sreg(b, "%ctaid.x"));
    rw_reg first = rw_get(b, setp_eq_u32, index, rw_number(0));
    for (uint32_t i = 0; i < k->nvars; i++) {
        const ir_var *var = k->vars[i].var;
        if (var->func ? var->func != b->f->func : b->index != 0)
            continue;
        rw_reg address = rw_get(b, mov_u64, rw_address_of_name(var->name, 0));
        rw_when(b, first, st_global_u64, rw_at(b->state, k->vars_at + 8 * i), address);
    }
}

/* ---- what is the same for many ---- */

enum { SELDOM = 4 /* times: fewer do not get into each other's way */ };

rw_reg rw_is_first(rw_body *b, uint32_t set)
{
    rw_reg any = rw_get(b, mov_u32, rw_number(0));
    for (unsigned i = 0; i < RW_DIMENSIONS; i++)
        if (set >> i & 1)
            rw_do(b, or_b32, any, any, load_sreg(b, rw_dimensions[i].index));
    return rw_get(b, setp_eq_u32, any, rw_number(0));
}

void rw_is_reused(rw_body *b, uint32_t set, rw_reg to)
{
    rw_reg times = rw_get(b, mov_u32, rw_number(1));
    for (unsigned i = 0; i < RW_DIMENSIONS; i++)
        if (set >> i & 1)
            rw_do(b, mul_lo_u32, times, times, load_sreg(b, rw_dimensions[i].count));
    rw_do(b, setp_gt_u32, to, times, rw_number(SELDOM));
}
