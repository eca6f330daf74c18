/* Where in the grid a thread is, and what blocks and rows of threads have in common. */
#include "rewrite/code/body.h"

/* The block's linear index. Changes __wl_lo, __wl_hi, __wl_z. */
void rw_linear_block(rw_body *b, const char *to)
{
    static const char *const sregs[] = {"%ctaid.y", "%nctaid.x", "%ctaid.x"};
    rw_line(b, "mov.u32 __wl_lo, %%ctaid.z;");
    rw_line(b, "mov.u32 __wl_hi, %%nctaid.y;");
    rw_line(b, "mul.wide.u32 %s, __wl_lo, __wl_hi;", to);
    for (int i = 0; i < 3; i++) {
        rw_line(b, "mov.u32 __wl_lo, %s;", sregs[i]);
        rw_line(b, "cvt.u64.u32 __wl_z, __wl_lo;");
        rw_line(b, i == 1 ? "mul.lo.u64 %s, %s, __wl_z;" : "add.u64 %s, %s, __wl_z;", to, to);
    }
}

/* Its lower half. Changes __wl_lo, __wl_hi. */
void rw_low_block(rw_body *b, const char *to)
{
    rw_line(b, "mov.u32 %s, %%ctaid.z;", to);
    for (char d = 'y'; d >= 'x'; d--) {
        rw_line(b, "mov.u32 __wl_lo, %%nctaid.%c;", d);
        rw_line(b, "mov.u32 __wl_hi, %%ctaid.%c;", d);
        rw_line(b, "mad.lo.u32 %s, %s, __wl_lo, __wl_hi;", to, to);
    }
}

/* The warp's number in its block. Changes __wl_lo. */
void rw_linear_warp(rw_body *b, const char *to)
{
    rw_line(b, "mov.u32 %s, %%tid.z;", to);
    rw_line(b, "mov.u32 __wl_lo, %%ntid.y;");
    rw_line(b, "mul.lo.u32 %s, %s, __wl_lo;", to, to);
    rw_line(b, "mov.u32 __wl_lo, %%tid.y;");
    rw_line(b, "add.u32 %s, %s, __wl_lo;", to, to);
    rw_line(b, "mov.u32 __wl_lo, %%ntid.x;");
    rw_line(b, "mul.lo.u32 %s, %s, __wl_lo;", to, to);
    rw_line(b, "mov.u32 __wl_lo, %%tid.x;");
    rw_line(b, "add.u32 %s, %s, __wl_lo;", to, to);
    rw_line(b, "shr.u32 %s, %s, 5;", to, to);
}

/* The thread's number in its block, and how many there are. Changes __wl_u, __wl_v. */
void rw_linear_thread(rw_body *b, const char *to, const char *all)
{
    rw_line(b, "mov.u32 %s, %%tid.z;", to);
    rw_text(b, "\tmov.u32 __wl_v, %ntid.y;\n\tmov.u32 __wl_u, %tid.y;\n");
    rw_line(b, "mad.lo.u32 %s, %s, __wl_v, __wl_u;", to, to);
    rw_text(b, "\tmov.u32 __wl_v, %ntid.x;\n\tmov.u32 __wl_u, %tid.x;\n");
    rw_line(b, "mad.lo.u32 %s, %s, __wl_v, __wl_u;", to, to);
    rw_text(b, "\tmov.u32 __wl_u, %ntid.y;\n\tmul.lo.u32 __wl_v, __wl_v, __wl_u;\n"
               "\tmov.u32 __wl_u, %ntid.z;\n");
    rw_line(b, "mul.lo.u32 %s, __wl_v, __wl_u;", all);
}

/* Where the function's variables lie, and in the kernel those of the module: written by threads with %tid.x 0 of traced blocks,
 * and of blocks with %ctaid.x 0. */
void rw_write_vars(rw_body *b)
{
    const rewrite_kernel *k = b->plan->out;
    if (!k->vars_at)
        return;
    rw_text(b, "\tmov.u32 __wl_t, %tid.x;\n");
    if (!rw_has(b, REWRITE_TRACE))
        rw_text(b, "\tmov.u32 __wl_lo, %ctaid.x;\n\tor.b32 __wl_t, __wl_t, __wl_lo;\n");
    rw_line(b, "setp.eq.u32 __wl_p, __wl_t, 0;");
    for (uint32_t i = 0; i < k->nvars; i++) {
        const ir_var *var = k->vars[i].var;
        if (var->func ? var->func != b->f->func : b->index != 0)
            continue;
        rw_line(b, "mov.u64 __wl_a, %s;", var->name);
        rw_line(b, "@__wl_p st.global.u64 [__wl_state+%u], __wl_a;", k->vars_at + 8 * i);
    }
}

enum { SELDOM = 4 /* times: fewer do not get into each other's way */ };

void rw_is_first(rw_body *b, uint32_t set, const char *to)
{
    rw_line(b, "mov.u32 __wl_t, 0;");
    for (unsigned i = 0; i < RW_DIMENSIONS; i++)
        if (set >> i & 1)
            rw_line(b, "mov.u32 __wl_u, %s;\n\tor.b32 __wl_t, __wl_t, __wl_u;",
                    rw_dimensions[i].index);
    rw_line(b, "setp.eq.u32 %s, __wl_t, 0;", to);
}

void rw_is_reused(rw_body *b, uint32_t set, const char *to)
{
    rw_line(b, "mov.u32 __wl_t, 1;");
    for (unsigned i = 0; i < RW_DIMENSIONS; i++)
        if (set >> i & 1) {
            rw_line(b, "mov.u32 __wl_u, %s;", rw_dimensions[i].count);
            rw_line(b, "mul.lo.u32 __wl_t, __wl_t, __wl_u;");
        }
    rw_line(b, "setp.gt.u32 %s, __wl_t, %u;", to, SELDOM);
}
