/* The plan of one kernel: runs flow, then the passes of passes.def, then says where in a state
 * everything lies. */
#include "rewrite/plan/plan.h"

#include "rewrite/counting/counting.h"
#include "rewrite/elements/elements.h"
#include "rewrite/path/path.h"
#include "rewrite/trace/trace.h"

#include <string.h>

static wl_status analyse_kernel_flow(rw_plan *p, const ir_func *kernel)
{
    wl_status status = ir_kernel_of(p->module, kernel, p->arena, &p->code);
    if (status != WL_OK)
        return status;
    p->flow = flow_kernel_new(&p->code, p->arena);
    if (!p->flow)
        return WL_NOMEM;
    status = flow_prove_kernel(p->flow, p->arena, &p->proof);
    return status == WL_OK ? flow_run(p->flow, FLOW_PASS_affine) : status;
}

static wl_status allocate_plans(rw_plan *p)
{
    p->control = wl_new(p->arena, rw_control);
    p->blocks = wl_new(p->arena, rw_block_plan);
    p->objects = wl_new(p->arena, rw_object_plan);
    p->shared = wl_new(p->arena, rw_shared_plan);
    p->live = wl_new(p->arena, rw_live_plan);
    p->elements = wl_new(p->arena, rw_element_plan);
    p->trace = wl_new(p->arena, rw_trace_plan);
    p->path = wl_new(p->arena, rw_path_plan);
    return p->control && p->blocks && p->objects && p->shared && p->live && p->elements &&
                   p->trace && p->path
               ? WL_OK
               : WL_NOMEM;
}

/* What the kernel does to its shared arrays. */
static wl_status analyse_shared_arrays(rw_plan *p)
{
    bool any = false;
    for (uint32_t o = 0; o < p->flow->nobjects; o++)
        any |= p->flow->objects[o].space == IR_SPACE_SHARED;
    if (!any || !(p->options->probes >> REWRITE_SHARED & 1))
        return WL_OK;
    wl_status status = flow_count_uses(p->flow, &p->proof, &p->live->counts);
    if (status == WL_OK)
        status = flow_fills_of(p->flow, p->arena, &p->live->fills);
    return status == WL_OK ? flow_find_arrays(&p->live->counts, &p->live->fills, &p->live->found)
                           : status;
}

static void lay_out_fixed_state(rw_plan *p)
{
    rewrite_kernel *k = p->out;
    bool paths = k->probes >> REWRITE_PATH & 1;
    uint32_t at = paths ? sizeof(rewrite_state) : offsetof(rewrite_state, paths);
    if (k->probes & (1u << REWRITE_TRACE | 1u << REWRITE_SHARED) && k->nvars) {
        k->vars_at = at;
        at += 8 * k->nvars;
    }
    if (k->probes >> REWRITE_OBJECTS & 1) {
        k->bits_at = at;
        k->bits_bytes = (k->nbits + 1023) / 1024 * 128;
        at += REWRITE_COPIES * k->bits_bytes;
    }
    if (k->ntallies) {
        k->counters_at = at;
        k->copy_bytes = (k->ntallies * REWRITE_TALLY_BYTES + 127) / 128 * 128;
        at += REWRITE_COPIES * k->copy_bytes;
    }
    k->fixed_bytes = (at + 255) / 256 * 256;
}

/* ---- passes ---- */

static const struct {
    const char *name;
    wl_status (*run)(rw_plan *plan);
} passes[RW_PASS_COUNT] = {
#define X(name, summary) {#name, rw_pass_##name},
#include "rewrite/passes.def"
#undef X
};

bool rw_pass_find(const char *name, rw_pass *out)
{
    for (unsigned i = 0; i < RW_PASS_COUNT; i++)
        if (strcmp(passes[i].name, name) == 0) {
            *out = (rw_pass)i;
            return true;
        }
    return false;
}

typedef struct pass_run {
    rw_plan *plan;
    wl_status status;
} pass_run;

static void run_passes(void *ctx)
{
    pass_run *r = ctx;
    for (unsigned i = 0; r->status == WL_OK && i < RW_PASS_COUNT; i++)
        r->status = passes[i].run(r->plan);
}

/* In memory of the flow (flow/mem.h), passes need not look for failures: the host that reads what
 * was recorded makes the plan anew, so that a plan is whole or is not there. */
wl_status rw_plan_kernel(rw_plan *p)
{
    wl_status status = analyse_kernel_flow(p, p->out->func);
    if (status == WL_OK)
        status = allocate_plans(p);
    if (status == WL_OK)
        status = analyse_shared_arrays(p);
    p->out->plan = p;
    pass_run run = {p, status};
    if (status == WL_OK && flow_guard(&p->flow->mem, run_passes, &run) != WL_OK)
        return WL_NOMEM;
    if (run.status == WL_OK)
        lay_out_fixed_state(p);
    return run.status;
}
