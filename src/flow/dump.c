#include "flow/dump.h"

#include "flow/affine.h"
#include "ir/front.h"

#include <string.h>

bool flow_pass_find(const char *name, flow_pass *out)
{
    static const char *const names[] = {
#define X(id, summary) #id,
#include "flow/passes.def"
#undef X
    };
    for (int p = 0; p < FLOW_PASS_COUNT; p++)
        if (strcmp(names[p], name) == 0) {
            *out = (flow_pass)p;
            return true;
        }
    return false;
}

/* ---- a block ---- */

static void dump_nodes(const char *what, const uint32_t *nodes, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%u", i ? "," : what, nodes[i]);
}

static void dump_block(const flow_function *f, uint32_t b, flow_pass pass, FILE *out)
{
    static const char *const levels[] = {"grid", "block", "warp", "thread"};
    const flow_graph *g = &f->graph;
    fprintf(out, "block %u", b);
    switch (pass) {
    case FLOW_PASS_cfg:
        if (!f->blocks[b].reached)
            fprintf(out, f->blocks[b].doomed ? " faults" : " unreached");
        dump_nodes(" -> ", g->succ + g->succ_first[b], flow_nsucc(g, b), out);
        if (f->dom.parent[b] != FLOW_NONE)
            fprintf(out, " dominator %u", f->dom.parent[b]);
        if (f->post.parent[b] != FLOW_NONE)
            fprintf(out, " post-dominator %u", f->post.parent[b]);
        dump_nodes(" depends on ", f->control.item + f->control.first[b],
                   f->control.first[b + 1] - f->control.first[b], out);
        if (f->loops.of[b] != FLOW_NONE)
            fprintf(out, " loop %u", f->loops.of[b]);
        break;
    case FLOW_PASS_uniform: fprintf(out, " control %s", levels[f->control_level[b]]); break;
    case FLOW_PASS_taint:
        if (f->guarded[b].source.reason != FLOW_CLEAN)
            fprintf(out, " decided by %s of %u, branch %u",
                    flow_reason_name((flow_reason)f->guarded[b].source.reason),
                    f->guarded[b].source.pc, f->guarded[b].branch);
        break;
    case FLOW_PASS_ilp:
        fprintf(out, " ILP %.2f MLP %.2f", flow_ilp_of(&f->ilp[b]), flow_mlp_of(&f->ilp[b]));
        fprintf(out, " chain %u loads %u shared %u", flow_chain_of(&f->ilp[b]),
                f->ilp[b].chain_loads, f->ilp[b].chain_shared);
        break;
    default: break;
    }
    fputc('\n', out);
}

/* ---- a value ---- */

static void dump_points(const flow_kernel *k, const flow_points *p, FILE *out)
{
    for (uint32_t e = 0; e < k->nelements; e++)
        if (flow_bit(p->set, e))
            switch (k->elements[e].kind) {
            case FLOW_TO_OBJECT:
                fprintf(out, " &%s", k->objects[k->elements[e].object].var->name);
                break;
            case FLOW_TO_PARAM:
                fprintf(out, " *param%u+%u", k->elements[e].param, k->elements[e].offset);
                break;
            case FLOW_TO_SHARED: fprintf(out, " shared"); break;
            case FLOW_TO_LOCAL: fprintf(out, " local"); break;
            default: fprintf(out, " unknown");
            }
    if (p->offset != FLOW_OFFSET_UNKNOWN && p->offset != INT64_MAX)
        fprintf(out, " +%lld", (long long)p->offset);
}

static void dump_value(const flow_kernel *k, const flow_function *f, uint32_t v, flow_pass pass,
                       FILE *out)
{
    static const char *const levels[] = {"grid", "block", "warp", "thread"};
    char text[1024];
    fprintf(out, "        v%u", v);
    switch (pass) {
    case FLOW_PASS_origins: dump_points(k, &f->points[v], out); break;
    case FLOW_PASS_uniform: fprintf(out, " %s", levels[f->level[v]]); break;
    case FLOW_PASS_affine:
        fprintf(out, " = %s%s", flow_affine_text(k, f->affine[v], text, sizeof text),
                f->affine[v] && f->affine[v]->assumes_no_wrap ? " (no wrap)" : "");
        break;
    case FLOW_PASS_sources:
        fprintf(out, "%s%s%s", f->from[v] & FLOW_FROM_ATOMIC ? " atomic" : "",
                f->from[v] & FLOW_FROM_MEMORY ? " memory" : "",
                f->from[v] & FLOW_FROM_BLOCK ? " block" : "");
        break;
    case FLOW_PASS_taint:
        fprintf(out, " %s", flow_reason_name((flow_reason)f->taint[v].reason));
        if (f->taint[v].reason != FLOW_CLEAN)
            fprintf(out, " of %u", f->taint[v].pc);
        for (unsigned i = 0; i < f->clean[v].count; i++)
            fprintf(out, "%s%s%u", i ? ", " : ", clean where ", f->clean[v].item[i] & 1 ? "!" : "",
                    f->clean[v].item[i] / 2);
        break;
    case FLOW_PASS_predicates:
        if (f->literal[v] != FLOW_NONE)
            fprintf(out, " atom %s%u", f->literal[v] & 1 ? "!" : "", f->literal[v] / 2);
        break;
    default:
        if (f->values[v].old != FLOW_NONE)
            fprintf(out, " or v%u", f->values[v].old);
    }
    fputc('\n', out);
}

static void dump_phi(const flow_function *f, uint32_t v, FILE *out)
{
    uint32_t block = f->values[v].block, first = f->graph.pred_first[block];
    fprintf(out, "        phi v%u (", v);
    for (uint32_t p = first; p < f->graph.pred_first[block + 1]; p++)
        fprintf(out, "%s%u: v%u", p > first ? ", " : "", f->graph.pred[p],
                f->args[f->values[v].first_arg + p - first]);
    fprintf(out, ")\n");
}

/* ---- a function ---- */

static void dump_insn_line(const flow_kernel *k, const flow_function *f, uint32_t i, flow_pass pass,
                           FILE *out)
{
    char line[512];
    ir_insn_text(k->module, f->func, &f->func->insns[i], line, sizeof line);
    fprintf(out, "  %5u %s", f->first_pc + i, line);
    for (uint32_t u = f->use_first[i]; pass == FLOW_PASS_values && u < f->use_first[i + 1]; u++)
        fprintf(out, "%sv%u", u == f->use_first[i] ? "  // reads " : ", ", f->uses[u].value);
    fputc('\n', out);
    for (uint32_t d = f->def_first[i];
         pass >= FLOW_PASS_values && pass != FLOW_PASS_ilp && d < f->def_first[i + 1]; d++)
        dump_value(k, f, f->defs[d], pass, out);
}

static void dump_loops(const flow_kernel *k, const flow_function *f, FILE *out)
{
    char text[1200];
    for (uint32_t l = 0; l < f->loops.count; l++) {
        const flow_loop *loop = &f->loops.loops[l];
        fprintf(out, "loop %u at block %u, depth %u: %s\n", l, loop->header, loop->depth,
                flow_trip_text(k, &f->trips[l], text, sizeof text));
    }
}

static void dump_objects(const flow_kernel *k, FILE *out)
{
    for (uint32_t o = 0; o < k->nobjects; o++)
        fprintf(out, "object %u %s (%s), %llu bytes%s\n", o, k->objects[o].var->name,
                ir_space_text(k->objects[o].space), (unsigned long long)k->objects[o].bytes,
                k->objects[o].element != FLOW_NONE ? ", pointed to" : "");
}

void flow_dump(const flow_kernel *k, flow_pass pass, FILE *out)
{
    for (uint32_t n = 0; n < k->code->count; n++) {
        const flow_function *f = &k->funcs[n];
        fprintf(out, "%s %s\n", f->func->entry ? "kernel" : "function", f->func->name);
        if (pass == FLOW_PASS_affine)
            dump_loops(k, f, out);
        for (uint32_t b = 0; b < f->nblocks; b++) {
            dump_block(f, b, pass, out);
            for (uint32_t i = f->phi_first[b]; pass >= FLOW_PASS_values && i < f->phi_first[b + 1];
                 i++) {
                dump_phi(f, f->phis[i], out);
                if (pass > FLOW_PASS_values && pass != FLOW_PASS_ilp)
                    dump_value(k, f, f->phis[i], pass, out);
            }
            for (uint32_t i = f->blocks[b].first; i < f->blocks[b].first + f->blocks[b].count; i++)
                dump_insn_line(k, f, i, pass, out);
        }
    }
    if (pass == FLOW_PASS_objects)
        dump_objects(k, out);
}
