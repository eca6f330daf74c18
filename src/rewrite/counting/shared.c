/* The plan of the probe shared: which accesses are counted by thread, which in tables in shared
 * memory, which by address. */
#include "rewrite/counting/counting.h"

enum {
    MAX_TIMES = 8,         /* registers that count by thread */
    SYSTEM_BYTES = 1024,   /* of shared memory, from sm_80 on */
    MOST_BYTES = 48 << 10, /* of variables in shared memory, without being asked for */
    TABLES_ALIGN = 128     /* so that variables keep their banks, whatever comes first */
};

/* ---- by thread ---- */

bool rw_is_placed(rw_plan *p, const flow_function *f, const flow_address *a)
{
    if (a->value != FLOW_NONE)
        return !a->operand->component && rw_follows_thread(p, f, a->value);
    return a->operand->has_sym && rw_var_listed(p, &a->operand->sym) != IR_NONE;
}

/* Makes sure that it is known how often each thread runs the blocks with that root; false where
 * that is too much. */
static bool follow_root(rw_plan *p, const flow_function *f, uint32_t root)
{
    const rw_run *run = &p->control->runs[0][root];
    if (rw_runs_once(f, root))
        return true;
    if (run->from != FLOW_NONE && (run->by_thread || run->edge != FLOW_NONE)) {
        if (!follow_root(p, f, p->control->runs[0][run->from].root))
            return false;
        rw_edge *edge = run->by_thread ? NULL : &p->control->edges[run->edge];
        if (edge && !(edge->probes >> REWRITE_SHARED & 1)) {
            edge->probes |= 1u << REWRITE_SHARED;
            edge->place = p->out->nplaces++;
        }
        return true;
    }
    if (p->shared->place_of[root] == IR_NONE && p->shared->ntimes < MAX_TIMES) {
        p->shared->place_of[root] = p->out->nplaces++;
        p->shared->ntimes++;
    }
    return p->shared->place_of[root] != IR_NONE;
}

static bool plan_by_place(rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t i = p->sites[site].pc - f->first_pc;
    const ir_insn *insn = &f->func->insns[i];
    return p->sites[site].space == IR_SPACE_SHARED && f->blocks[f->block_of[i]].reached &&
           rw_is_placed(p, f, p->addresses[site]) &&
           (insn->guard == IR_NONE || rw_guard_follows_thread(p, f, insn)) &&
           follow_root(p, f, p->control->runs[0][f->block_of[i]].root);
}

/* Shared memory that a block may have without any effect on how many blocks fit a multiprocessor:
 * whatever its size, or for as many threads as it has. */
static uint64_t bytes_for_block(const rw_plan *p, uint32_t threads)
{
    uint32_t sm = p->module->sm;
    uint64_t any = sm >= 90 ? 7296 : sm >= 80 ? 5248 : 3072;
    uint64_t own = threads * (uint64_t)(sm >= 90 && sm < 120 ? 114 : sm >= 80 ? 64 : 48);
    own = own < MOST_BYTES ? own : MOST_BYTES;
    return own > any ? own : any;
}

/* What the kernel's own variables leave of it. */
static uint64_t free_bytes(const rw_plan *p, uint32_t threads)
{
    uint64_t used = SYSTEM_BYTES, each = bytes_for_block(p, threads);
    for (uint32_t i = 0; i < p->nvars; i++) {
        const ir_var *var = p->vars[i].var;
        if (var->space == IR_SPACE_SHARED && !ir_var_size(var))
            return 0; /* the launch says how much it is */
        used += var->space == IR_SPACE_SHARED ? ir_var_size(var) + 16 : 0;
    }
    used += 2 * RW_NOWHERE_BYTES;
    return used < each ? (each - used) / TABLES_ALIGN * TABLES_ALIGN : 0;
}

/* The table of the site's array and class; IR_NONE: there is no room for it. */
static uint32_t table_for(rw_plan *p, const flow_object *o, unsigned class_, uint64_t room)
{
    uint32_t n = p->shared->ntables;
    for (uint32_t t = 0; t < n; t++)
        if (p->shared->tables[t].var == o->var && p->shared->tables[t].class_ == class_)
            return t;
    uint32_t bytes = (uint32_t)((o->bytes + 3) / 4 * 4);
    if (n == RW_MAX_TABLES || !o->bytes || o->bytes > room || p->shared->table_bytes + bytes > room)
        return IR_NONE;
    p->shared->tables[n] = (rw_table){o->var, class_, bytes, p->shared->table_bytes};
    p->shared->table_bytes += bytes;
    return p->shared->ntables++;
}

static void plan_tables(rw_plan *p, const flow_function *f)
{
    uint64_t room = free_bytes(p, p->options->threads);
    if (!rw_leaves_together(p))
        return;
    for (uint32_t s = p->site_first[0]; s < p->site_first[f->func->ninsns]; s++) {
        const rewrite_probe_site *site = &p->sites[s];
        if (site->space != IR_SPACE_SHARED || p->shared->by_place[s])
            continue;
        flow_reach reach = flow_reach_of(p->flow, f, p->addresses[s]);
        const flow_object *o = reach.object == FLOW_NONE ? NULL : &p->flow->objects[reach.object];
        if (o && o->space == IR_SPACE_SHARED && rw_var_listed_as(p, o->var) != IR_NONE)
            p->shared->table_of[s] = table_for(p, o, rewrite_class(site), room);
    }
}

/* Not by the block's size: who reads what was recorded does not know it. */
uint32_t rw_take_shared(rw_plan *p, uint32_t bytes)
{
    uint32_t from = p->shared->table_bytes, rounded = (bytes + 3) / 4 * 4;
    uint64_t room = free_bytes(p, 0);
    if (bytes > room || from + rounded > room)
        return IR_NONE;
    p->shared->table_bytes += rounded;
    return from;
}

static void end_tables(rw_plan *p)
{
    if (p->shared->table_bytes)
        p->shared->table_bytes = (p->shared->table_bytes + 2 * RW_NOWHERE_BYTES + TABLES_ALIGN -
                                  1) /
                                 TABLES_ALIGN * TABLES_ALIGN;
}

/* Needs: sites, variables, runs, live. Fills: shared, and which edges it counts. */
wl_status rw_pass_shared(rw_plan *p)
{
    const flow_function *f = &p->flow->funcs[0];
    p->shared->by_place = wl_new_array(p->arena, bool, (size_t)p->nsites + 1);
    p->shared->place_of = wl_new_array(p->arena, uint32_t, (size_t)f->nblocks + 1);
    p->shared->table_of = wl_new_array(p->arena, uint32_t, (size_t)p->nsites + 1);
    if (!p->shared->by_place || !p->shared->place_of || !p->shared->table_of)
        return WL_NOMEM;
    for (uint32_t s = 0; s < p->nsites; s++)
        p->shared->table_of[s] = IR_NONE;
    for (uint32_t b = 0; b < f->nblocks; b++)
        p->shared->place_of[b] = IR_NONE;
    if (!(p->out->probes >> REWRITE_SHARED & 1))
        return WL_OK;
    for (uint32_t s = p->site_first[0]; s < p->site_first[f->func->ninsns]; s++)
        p->shared->by_place[s] = plan_by_place(p, f, s);
    plan_tables(p, f);
    end_tables(p);
    for (uint32_t s = 0; s < p->nsites; s++) {
        bool by_address = rw_may_be_shared(&p->sites[s]) && !p->shared->by_place[s];
        p->out->by_address |= by_address;
        p->shared->counts_directly |= by_address && p->shared->table_of[s] == IR_NONE;
    }
    return WL_OK;
}
