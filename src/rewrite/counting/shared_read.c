/* Reading what the probe shared left: counters by address, and for each thread what follows from
 * how often it came where. */
#include "rewrite/counting/counting.h"

#include <stdlib.h>

/* ---- reading ---- */

typedef struct reading {
    const rewrite_copy *copy;
    const rw_plan *plan;
    const flow_function *f;
    rw_eval *eval;
    uint32_t thread;
    uint64_t *times; /* of each root for this thread, UINT64_MAX: not known yet */
} reading;

static uint64_t times_thread_ran(reading *r, uint32_t root)
{
    const rw_run *run = &r->plan->control->runs[0][root];
    uint64_t *times = &r->times[root];
    if (*times != UINT64_MAX)
        return *times;
    if (rw_runs_once(r->f, root))
        return *times = r->copy->layout->blocks;
    if (run->from == FLOW_NONE || (!run->by_thread && run->edge == FLOW_NONE))
        return *times = rw_read_place(r->copy, r->plan->shared->place_of[root], r->thread);
    uint32_t from = r->plan->control->runs[0][run->from].root;
    if (run->by_thread)
        return *times = rw_goes(r->eval, r->f, run) ? times_thread_ran(r, from) : 0;
    const rw_edge *edge = &r->plan->control->edges[run->edge];
    uint64_t gone = rw_read_place(r->copy, edge->place, r->thread);
    return *times = run->taken == edge->taken ? gone : times_thread_ran(r, from) - gone;
}

/* Of .x1 and .x2 only the first lanes give addresses. */
static bool gives_address(const reading *r, const ir_insn *insn)
{
    return (insn->op != IR_ldmatrix && insn->op != IR_stmatrix) ||
           r->thread % REWRITE_LANES < rw_matrix_rows(insn);
}

static void add_site_accesses(reading *r, uint32_t site, uint64_t *counts)
{
    const rewrite_probe_site *s = &r->plan->sites[site];
    const flow_address *a = r->plan->addresses[site];
    const ir_insn *insn = &r->f->func->insns[s->pc];
    uint64_t times = times_thread_ran(r, r->plan->control->runs[0][r->f->block_of[s->pc]].root);
    if (!times || !gives_address(r, insn) || !rw_guard_holds(r->eval, r->f, insn))
        return;
    uint64_t at = a->value == FLOW_NONE ? r->eval->vars[rw_var_listed(r->plan, &a->operand->sym)]
                                        : rw_eval_value(r->eval, r->f, a->value);
    uint32_t address = (uint32_t)(at + a->operand->imm), words = r->copy->layout->shared_bytes / 4;
    for (uint32_t e = 0; e < rw_elements(s); e++)
        if (address / 4 + e < words)
            counts[(size_t)rewrite_class(s) * words + address / 4 + e] += times;
}

static void add_thread_accesses(reading *r, uint64_t *counts)
{
    rw_eval_thread(r->eval, r->thread);
    for (uint32_t b = 0; b < r->f->nblocks; b++)
        r->times[b] = UINT64_MAX;
    for (uint32_t s = r->plan->site_first[0]; s < r->plan->site_first[r->f->func->ninsns]; s++)
        if (r->plan->shared->by_place[s])
            add_site_accesses(r, s, counts);
}

wl_status rewrite_read_shared(const rewrite_copy *c, uint64_t *counts)
{
    const rw_plan *p = c->kernel->plan;
    if (!rewrite_has_probe(c->kernel, REWRITE_SHARED) || !c->layout->shared_bytes)
        return WL_OK;
    rw_add_by_address(c, counts);
    reading r = {.copy = c,
                 .plan = p,
                 .f = &p->flow->funcs[0],
                 .eval = rw_eval_new(c),
                 .times = calloc(p->flow->funcs[0].nblocks + 1, sizeof(uint64_t))};
    uint32_t threads = c->layout->threads[0] * c->layout->threads[1] * c->layout->threads[2];
    wl_status status = r.eval && r.times ? WL_OK : WL_NOMEM;
    for (r.thread = 0; status == WL_OK && r.thread < threads; r.thread++)
        add_thread_accesses(&r, counts);
    rw_eval_free(r.eval);
    free(r.times);
    return status;
}
