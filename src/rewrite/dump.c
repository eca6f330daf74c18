/* What the passes found, for people: the kernel's instructions, each with a line for what the pass
 * says about it. */
#include "rewrite/dump.h"

#include "ir/front.h"
#include "rewrite/counting/counting.h"
#include "rewrite/elements/elements.h"
#include "rewrite/path/path.h"
#include "rewrite/trace/trace.h"

/* ---- a site ---- */

static void dump_access(const rewrite_probe_site *s, FILE *out)
{
    static const char *const ops[] = {"load", "store", "atomic", "reduction"};
    fprintf(out, "%s of %u bytes, %s", ops[s->op], s->bytes, ir_space_text((ir_space)s->space));
    if (s->param != IR_NONE)
        fprintf(out, ", from parameter %u+%u", s->param, s->param_offset);
}

static void dump_bit(const rw_plan *p, uint32_t s, FILE *out)
{
    if (!rw_plan_has(p, REWRITE_OBJECTS))
        fprintf(out, "no bit is asked for");
    else if (p->objects->bit[s] == IR_NONE)
        fprintf(out, "follows from the launch");
    else if (p->objects->first_of[s] == IR_NONE)
        fprintf(out, "bit %u, set here", p->objects->bit[s]);
    else
        fprintf(out, "bit %u, set by block %u", p->objects->bit[s], p->objects->first_of[s]);
}

static void dump_shared(const rw_plan *p, uint32_t s, FILE *out)
{
    if (!rw_plan_has(p, REWRITE_SHARED) || !rw_may_be_shared(&p->sites[s]))
        fprintf(out, "not counted");
    else if (p->shared->by_place[s])
        fprintf(out, "counted by thread");
    else if (p->shared->table_of[s] != IR_NONE)
        fprintf(out, "counted in shared memory, table %u", p->shared->table_of[s]);
    else
        fprintf(out, "counted by address");
}

static void dump_live(const rw_plan *p, uint32_t s, FILE *out)
{
    uint32_t at = p->live->access_at[p->sites[s].pc];
    if (at == IR_NONE || p->live->accesses[at].site != s) {
        fprintf(out, "nothing is noted");
        return;
    }
    const rw_live_access *a = &p->live->accesses[at];
    fprintf(out, "%s, flags of %s%s", flow_write_name((flow_write)a->write),
            p->live->arrays[a->array].var->name, a->filled ? ", filled before" : "");
    if (a->keeps != IR_NONE)
        fprintf(out, ", its address is kept as %u", a->keeps);
}

static void dump_slot(const rw_plan *p, uint32_t s, FILE *out)
{
    uint32_t slot = p->elements->slot_of[s];
    if (slot == IR_NONE) {
        fprintf(out, "no slot");
        return;
    }
    fprintf(out, "slot %u, class %u%s", slot, p->elements->slots[slot].class_,
            p->elements->contended[slot] ? ", contended" : "");
    if (p->elements->slots[slot].param == IR_NONE)
        fprintf(out, ", found at run time");
}

static void dump_walk(const rw_plan *p, uint32_t s, FILE *out)
{
    const rw_walk *w = &p->elements->walk[s];
    if (w->loop == FLOW_NONE) {
        fprintf(out, "noted where it is");
        return;
    }
    fprintf(out, "noted after loop %u, with site %u, leader %u", w->loop, w->head, w->leader);
    if (w->head != s)
        return;
    fprintf(out, ", bytes %lld to %lld", (long long)w->low, (long long)w->high);
    if (w->known)
        fprintf(out, ", step %lld%s", (long long)w->step,
                w->dense     ? ", dense"
                : w->gapless ? ", gapless"
                             : "");
}

static void dump_merge(const rw_plan *p, uint32_t s, FILE *out)
{
    const rw_merge *m = &p->elements->merges[s];
    if (m->head != s)
        fprintf(out, "marked by site %u", m->head);
    else
        fprintf(out, "marks bytes %lld to %lld", (long long)m->low, (long long)m->high);
}

static void dump_log(const rw_plan *p, uint32_t s, FILE *out)
{
    static const char *const kinds[] = {"not logged", "its elements are logged",
                                        "its shared memory is logged",
                                        "its elements and its shared memory are logged"};
    fputs(kinds[p->logged[s]], out);
}

static void dump_spot(const rw_plan *p, uint32_t s, FILE *out)
{
    if (!rw_plan_has(p, REWRITE_TRACE)) {
        fprintf(out, "no trace is asked for");
        return;
    }
    const rewrite_spot *spot = &p->trace->spots[s];
    const rw_piece *piece = &p->trace->pieces[p->trace->piece_of[s]];
    fprintf(out, "record %u (%s of %u rows), %lld from ", p->trace->piece_of[s],
            piece->loop == FLOW_NONE ? "region"
            : piece->summarized      ? "summarized loop"
                                     : "loop",
            piece->rows, (long long)spot->offset);
    if (spot->var)
        fprintf(out, "variable %s", p->vars[spot->var - 1].var->name);
    else if (spot->kept)
        fprintf(out, "base %u, kept of an earlier record", spot->kept - 1);
    else
        fprintf(out, "row %u%s", spot->row, spot->high ? ", upper half" : "");
    if (spot->ran)
        fprintf(out, ", if bit %u", spot->ran - 1);
}

static void dump_site(const rw_plan *p, rw_pass pass, uint32_t s, FILE *out)
{
    fprintf(out, "        site %u: ", s);
    switch (pass) {
    case RW_PASS_bits: dump_bit(p, s, out); break;
    case RW_PASS_shared: dump_shared(p, s, out); break;
    case RW_PASS_live: dump_live(p, s, out); break;
    case RW_PASS_slots: dump_slot(p, s, out); break;
    case RW_PASS_walks: dump_walk(p, s, out); break;
    case RW_PASS_merges: dump_merge(p, s, out); break;
    case RW_PASS_logs: dump_log(p, s, out); break;
    case RW_PASS_records: dump_spot(p, s, out); break;
    default: dump_access(&p->sites[s], out); break;
    }
    fputc('\n', out);
}

static void dump_skip(const rw_plan *p, uint32_t pc, FILE *out)
{
    for (uint32_t i = 0; i < p->nskips; i++)
        if (p->skips[i].pc == pc)
            fprintf(out, "        no probe: %s\n", p->skips[i].reason);
}

/* ---- a block ---- */

static void dump_run(const rw_plan *p, const flow_function *f, uint32_t b, FILE *out)
{
    const rw_run *run = &p->control->runs[f->index][b];
    if (!f->blocks[b].reached)
        return;
    fprintf(out, ", runs as block %u", run->root);
    if (run->from != FLOW_NONE)
        fprintf(out, ", that decided by block %u%s", run->from,
                run->by_thread   ? " and the thread's index"
                : run->by_launch ? " and the launch"
                                 : "");
}

static void dump_counter(const rw_plan *p, const flow_function *f, uint32_t i, FILE *out)
{
    static const char *const kinds[] = {"in memory", "in registers of each lane", "in a register",
                                        "in a register", "derived"};
    if (!rw_plan_has(p, REWRITE_BLOCKS) || !p->code.leader[f->first_pc + f->index + i])
        return;
    uint32_t block = p->blocks->block_at[f->first_pc + f->index + i],
             counter = p->blocks->list[block].counter;
    if (counter == IR_NONE)
        fprintf(out, "  basic block %u: not counted\n", block);
    else
        fprintf(out, "  basic block %u: counter %u, %s\n", block, counter,
                kinds[p->blocks->counters[counter].kind]);
}

static void dump_path_step(const rewrite_path_step *s, FILE *out)
{
    static const char *const kinds[] = {"counts", "point, counts", "turn of loop", "folds loop"};
    fprintf(out, "        path: %s ", kinds[s->kind]);
    if (s->kind == REWRITE_PATH_COUNT || s->kind == REWRITE_PATH_POINT)
        fprintf(out, "%u instructions\n", s->add);
    else if (s->kind == REWRITE_PATH_TURN)
        fprintf(out, "%u\n", s->loop);
    else
        fprintf(out, "%u, %u instructions a turn, %u less\n", s->loop, s->add, s->less);
}

static void dump_path_steps(const rw_plan *p, uint32_t pc, FILE *out)
{
    for (uint32_t i = 0; i < p->out->path.nsteps; i++)
        if (p->out->path.steps[i].pc == pc)
            dump_path_step(&p->out->path.steps[i], out);
}

static void dump_edge(const rw_plan *p, const flow_function *f, uint32_t b, FILE *out)
{
    uint32_t n = p->control->edge_at[f->first_pc + f->blocks[b].first];
    if (n == FLOW_NONE)
        return;
    const rw_edge *e = &p->control->edges[n];
    fprintf(out, ", edge %u when %s: ", n, e->taken ? "taken" : "not taken");
    if (e->bit)
        fprintf(out, "bit %u", (unsigned)__builtin_ctz(e->bit));
    else
        fprintf(out, e->probes ? "counted on the way" : "not counted");
}

/* ---- a kernel ---- */

static void dump_insn_plan(const rw_plan *p, const flow_function *f, uint32_t i, rw_pass pass,
                           FILE *out)
{
    char line[512];
    uint32_t pc = f->first_pc + i;
    bool of_sites = pass != RW_PASS_runs && pass != RW_PASS_blocks && pass != RW_PASS_paths &&
                    pass != RW_PASS_variables && pass != RW_PASS_points;
    if (pass == RW_PASS_blocks)
        dump_counter(p, f, i, out);
    ir_insn_text(p->module, f->func, &f->func->insns[i], line, sizeof line);
    fprintf(out, "  %5u %s\n", pc, line);
    for (uint32_t s = p->site_first[pc]; of_sites && s < p->site_first[pc + 1]; s++)
        dump_site(p, pass, s, out);
    if (pass == RW_PASS_sites)
        dump_skip(p, pc, out);
    if (pass == RW_PASS_points)
        dump_path_steps(p, pc, out);
}

static void dump_function(const rw_plan *p, const flow_function *f, rw_pass pass, FILE *out)
{
    fprintf(out, "%s %s%s\n", f->func->entry ? "kernel" : "function", f->func->name,
            p->cloned[f->index] ? "" : ": no probes in it");
    for (uint32_t b = 0; b < f->nblocks; b++) {
        fprintf(out, "block %u", b);
        if (pass == RW_PASS_runs)
            dump_run(p, f, b, out);
        if (pass == RW_PASS_paths)
            dump_edge(p, f, b, out);
        fputc('\n', out);
        for (uint32_t i = f->blocks[b].first; i < f->blocks[b].first + f->blocks[b].count; i++)
            dump_insn_plan(p, f, i, pass, out);
    }
}

/* What the pass found, for people. */
static void dump_pass(const rw_plan *p, rw_pass pass, FILE *out)
{
    for (uint32_t v = 0; pass == RW_PASS_variables && v < p->nvars; v++)
        fprintf(out, "variable %u %s (%s)\n", v, p->vars[v].var->name,
                ir_space_text(p->vars[v].var->space));
    for (uint32_t k = 0; k < p->code.count; k++)
        dump_function(p, &p->flow->funcs[k], pass, out);
}

bool rewrite_has_pass(const char *name)
{
    rw_pass pass;
    return rw_pass_find(name, &pass);
}

wl_status rewrite_dump(const ir_module *module, const ir_func *kernel,
                       const rewrite_options *options, const char *name, wl_arena *arena, FILE *out)
{
    rw_pass pass;
    rewrite_kernel planned = {.func = kernel};
    rw_plan plan = {.module = module,
                    .options = options,
                    .arena = arena,
                    .out = &planned,
                    .number = kernel->index};
    if (!rw_pass_find(name, &pass))
        return WL_OK;
    wl_status status = rw_plan_kernel(&plan);
    if (status == WL_OK)
        dump_pass(&plan, pass, out);
    return status;
}
