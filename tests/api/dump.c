#include "dump.h"

#include <inttypes.h>
#include <stdbool.h>

static void put_rows(const obs_summary *s, FILE *out)
{
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const obs_insn *r = &s->insns[i];
        fprintf(out, "    pc %u object %u space %u op %u bytes %u requests %" PRIu64, r->pc,
                r->object, r->space, r->op, r->bytes, r->requests);
        fprintf(out, " lanes %" PRIu64 " sectors %" PRIu64 "/%" PRIu64, r->active_lanes, r->sectors,
                r->sectors_min);
        fprintf(out, " wavefronts %" PRIu64 "/%" PRIu64 "\n", r->wavefronts, r->wavefronts_min);
    }
    for (uint32_t i = 0; i < s->nshared; i++)
        fprintf(out, "    shared %u %s offset %u bytes %u\n", i, s->shared[i].name,
                s->shared[i].offset, s->shared[i].bytes);
    for (uint32_t i = 0; i < s->nheats; i++)
        fprintf(out, "    heat object %u space %u block %" PRIu64 " rows %u dropped %" PRIu64 "\n",
                s->heats[i].object, s->heats[i].space, s->heats[i].block, s->heats[i].nrows,
                s->heats[i].dropped);
    for (uint32_t i = 0; i < s->nblocks; i++)
        fprintf(out, "    block from %u length %u executions %" PRIu64 " lanes %" PRIu64 "\n",
                s->blocks[i].first_pc, s->blocks[i].ninsns, s->blocks[i].executions,
                s->blocks[i].lanes);
}

static void put_launch(const cap_launch *l, unsigned flags, FILE *out)
{
    const obs_summary *s = &l->summary;
    fprintf(out, "%u call %u module %u %s grid %u,%u,%u block %u,%u,%u shared %u+%u", l->id,
            l->call, l->module, l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0],
            l->block[1], l->block[2], l->static_shared, l->dynamic_shared);
    fprintf(out, " stream %" PRIu64 " error %d instructions %" PRIu64 "/%" PRIu64, l->stream,
            l->error, s->warp_instructions, s->thread_instructions);
    fprintf(out, " blocks %" PRIu64 "/%" PRIu64 "/%" PRIu64 " rows %u heats %u", s->blocks_run,
            s->blocks_observed, s->blocks_sampled, s->ninsns, s->nheats);
    if (!(flags & DUMP_STABLE))
        fprintf(out, " registers %u%s%s", l->registers, *l->fault ? " fault " : "", l->fault);
    fprintf(out, "\n");
    if (flags & DUMP_ROWS)
        put_rows(s, out);
}

static void put_order(const cap_call *c, FILE *out)
{
    fprintf(out, "    ordinal %" PRIu64 " device %u context %" PRIu64 " flags %u parent %u",
            c->ordinal, c->device, c->context, c->flags, c->parent);
    fprintf(out, " event %" PRIu64 " version %" PRIu64 "\n", c->event, c->version);
    for (uint32_t i = 0; i < c->nshapes; i++)
        fprintf(out, "    %" PRIu64 " bytes x %" PRIu64 " x %" PRIu64 "\n", c->shape[i].width,
                c->shape[i].rows, c->shape[i].slices);
}

static void put_call(const cap_call *c, unsigned flags, FILE *out)
{
    fprintf(out, "%u %s kind %u stream %" PRIu64 " thread %u result %d", c->id, c->api, c->kind,
            c->stream, c->thread, c->result);
    fprintf(out, " from %u+%" PRIu64 " to %u+%" PRIu64 " bytes %" PRIu64 "%s\n", c->source_object,
            c->source_offset, c->target_object, c->target_offset, c->bytes,
            c->stack.count ? "" : " without a stack");
    if (!(flags & DUMP_STABLE))
        put_order(c, out);
    for (uint32_t i = 0; (flags & DUMP_ADDRESSES) && i < c->stack.count; i++)
        fprintf(out, "    %" PRIx64 "\n", c->stack.pcs[i]);
}

static void put_note(const cap_note *n, FILE *out)
{
    fprintf(out,
            "%u call %u module %u %s grid %u,%u,%u block %u,%u,%u cluster %u,%u,%u shared %u+%u",
            n->id, n->call, n->module, n->kernel, n->grid[0], n->grid[1], n->grid[2], n->block[0],
            n->block[1], n->block[2], n->cluster[0], n->cluster[1], n->cluster[2], n->static_shared,
            n->dynamic_shared);
    fprintf(out,
            " local %u registers %u flags %u device %u stream %" PRIu64 " parameters %" PRIu64 "\n",
            n->local_bytes, n->registers, n->flags, n->device, n->stream, n->nparams);
}

static void put_times(const cap_times *t, FILE *out)
{
    fprintf(out, "%u\n", t->count);
    for (uint32_t i = 0; i < t->count; i++)
        fprintf(out, "    note %u seconds %.9f\n", t->times[i].note, t->times[i].seconds);
}

static void put_call_times(const cap_call_times *t, FILE *out)
{
    fprintf(out, "%u\n", t->count);
    for (uint32_t i = 0; i < t->count; i++)
        fprintf(out, "    call %u seconds %.9f\n", t->times[i].call, t->times[i].seconds);
}

static void put_repeat(const cap_repeat *r, FILE *out)
{
    fprintf(out, "%u same as %u\n", r->note, r->same_as);
    for (uint32_t i = 0; i < r->count; i++)
        fprintf(out, "    object %u is %u\n", r->moves[i].from, r->moves[i].to);
}

static void put_way(const cap_way *w, FILE *out)
{
    fprintf(out, "%u way %u estimated %u %s\n", w->note, w->way, w->estimated, w->reason);
    for (uint32_t i = 0; i < w->count; i++)
        fprintf(out, "    pc %u: %s\n", w->gaps[i].pc, w->gaps[i].reason);
}

static void put_uses(const cap_uses *u, FILE *out)
{
    fprintf(out, "%u objects %u arrays %u\n", u->launch, u->objects_known, u->arrays_known);
    for (uint32_t i = 0; i < u->count; i++)
        fprintf(out, "    space %u object %u known %u bytes %" PRIu64 "\n", u->uses[i].space,
                u->uses[i].object, u->uses[i].known, u->uses[i].length);
}

static void put_maps(const cap_maps *m, unsigned flags, FILE *out)
{
    fprintf(out, "%u files\n", m->count);
    for (uint32_t i = 0; (flags & DUMP_ADDRESSES) && i < m->count; i++)
        fprintf(out, "    %" PRIx64 "-%" PRIx64 " %" PRIx64 " %s %s\n", m->maps[i].start,
                m->maps[i].end, m->maps[i].offset, m->maps[i].path, m->maps[i].build_id);
}

static void put_process(const cap_process *p, FILE *out)
{
    fprintf(out, "pid %u of %u %s in %s argc %u collector %s options %s\n", p->pid, p->parent,
            p->executable, p->directory, p->argc, p->collector, p->options);
}

static void put_starts(const cap_starts *s, FILE *out)
{
    for (uint32_t i = 0; i < s->count; i++)
        fprintf(out, "%snote %u call %u: %g s", i ? ", " : "", s->starts[i].note, s->starts[i].call,
                s->starts[i].seconds);
    fprintf(out, "\n");
}

static void put_indirect(const cap_indirect *r, FILE *out)
{
    fprintf(out, "%u objects", r->launch);
    for (uint32_t i = 0; i < r->count; i++)
        fprintf(out, " %u:%u", r->objects[i].object, r->objects[i].accesses);
    fprintf(out, "\n");
}

static void put_graph(const cap_graph *g, FILE *out)
{
    fprintf(out, "%u nodes", g->id);
    for (uint32_t i = 0; i < g->nnodes; i++)
        fprintf(out, " %u", g->types[i]);
    fprintf(out, g->edges_known ? " edges" : " edges not known");
    for (uint32_t i = 0; i < g->nedges; i++)
        fprintf(out, " %u-%u", g->edges[i].from, g->edges[i].to);
    fprintf(out, "\n");
}

static void put_fault(const cap_fault *f, FILE *out)
{
    fprintf(out, "launch %u pc %u block %u,%u,%u thread %u,%u,%u %s: %s\n", f->launch, f->pc,
            f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2],
            f->kind, f->what);
}

static void put_graph_run(const cap_graph_run *r, FILE *out)
{
    fprintf(out, "graph %u call %u ordinals", r->graph, r->call);
    for (uint32_t i = 0; i < r->nnodes; i++)
        fprintf(out, " %" PRIu64, r->ordinals[i]);
    fprintf(out, "\n");
}

static void put_record(const cap_record *r, unsigned flags, FILE *out)
{
    static const char *const names[] = {
#define X(id, number, type) [CAP_##id] = #id,
#include "capture/events.def"
#undef X
    };
    bool stable = flags & DUMP_STABLE;
    if (stable && (r->type == CAP_PROCESS || r->type == CAP_STREAM || r->type == CAP_MAPS ||
                   r->type == CAP_END))
        return;
    fprintf(out, "%-11s ", names[r->type]);
    switch (r->type) {
    case CAP_PROCESS: put_process(&r->process, out); break;
    case CAP_DEVICE:
        fprintf(out, "%u %s cc %u.%u sms %u bytes %" PRIu64 " file %s\n", r->device.ordinal,
                r->device.name, r->device.cc_major, r->device.cc_minor, r->device.num_sms,
                r->device.global_bytes, r->device.file);
        break;
    case CAP_MAPS: put_maps(&r->maps, flags, out); break;
    case CAP_MODULE:
        fprintf(out, "%u %s %s %" PRIu64 " bytes\n", r->module.id,
                r->module.kind == CAP_MODULE_PTX ? "ptx" : "cubin", stable ? "" : r->module.name,
                r->module.length);
        break;
    case CAP_OBJECT:
        fprintf(out,
                "%u kind %u device %u bytes %" PRIu64
                " call %u module %u parent %u pool %u %s%s pc %u\n",
                r->object.id, r->object.kind, r->object.device, r->object.bytes, r->object.call,
                r->object.module, r->object.parent, r->object.pool, r->object.name,
                r->object.kernel, r->object.pc);
        break;
    case CAP_FREE:
        fprintf(out, "%u call %u how %u\n", r->free.object, r->free.call, r->free.how);
        break;
    case CAP_TRIALS: fprintf(out, "launch %u count %u\n", r->trials.launch, r->trials.count); break;
    case CAP_LEFT_OUT:
        fprintf(out, "call %u objects %" PRIu64 "\n", r->left_out.call, r->left_out.objects);
        break;
    case CAP_POOL:
        fprintf(out, "%u kind %u device %u\n", r->pool.id, r->pool.kind, r->pool.device);
        break;
    case CAP_REFUSAL:
        fprintf(out, "call %u free %" PRIu64 " of %" PRIu64 "\n", r->refusal.call, r->refusal.free,
                r->refusal.total);
        break;
    case CAP_POOL_STATE:
        fprintf(out, "%u call %u reserved %" PRIu64 " used %" PRIu64 "\n", r->pool_state.pool,
                r->pool_state.call, r->pool_state.reserved, r->pool_state.used);
        break;
    case CAP_PLACE:
        fprintf(out, "%u line %u of %s in %s\n", r->place.number, r->place.line, r->place.file,
                r->place.function);
        break;
    case CAP_ANNOTATION:
        fprintf(out, "object %u tag %s elements of %u bytes\n", r->annotation.object,
                r->annotation.tag, r->annotation.element_bytes);
        break;
    case CAP_CALL: put_call(&r->call, flags, out); break;
    case CAP_LAUNCH: put_launch(&r->launch, flags, out); break;
    case CAP_SKIPPED:
        fprintf(out, "%s call %u: %s\n", r->skipped.kernel, r->skipped.call, r->skipped.reason);
        break;
    case CAP_UNSUPPORTED: fprintf(out, "%s\n", r->unsupported.api); break;
    case CAP_MESSAGE: fprintf(out, "%u %s\n", r->message.level, r->message.text); break;
    case CAP_NOTE: put_note(&r->note, out); break;
    case CAP_SYMBOL:
        fprintf(out, "object %u call %u offset %" PRIu64 " bytes %" PRIu64 "\n", r->symbol.object,
                r->symbol.call, r->symbol.offset, r->symbol.length);
        break;
    case CAP_TIMES: put_times(&r->times, out); break;
    case CAP_CALL_TIMES: put_call_times(&r->call_times, out); break;
    case CAP_REPEAT: put_repeat(&r->repeat, out); break;
    case CAP_WAY: put_way(&r->way, out); break;
    case CAP_PROBE:
        fprintf(out, "note %u probes %x everything %u bytes %" PRIu64 "\n", r->probe.note,
                r->probe.probes, r->probe.everything, r->probe.length);
        break;
    case CAP_TABLES:
        fprintf(out, "note %u bytes %" PRIu64 "\n", r->tables.note, r->tables.length);
        break;
    case CAP_SAME_TABLES:
        fprintf(out, "note %u same as %u\n", r->same_tables.note, r->same_tables.same_as);
        break;
    case CAP_PATCHED:
        fprintf(out, "note %u instructions %u elsewhere %" PRIu64 "\n", r->patched.note,
                r->patched.count, r->patched.elsewhere);
        break;
    case CAP_TENSOR:
        fprintf(out, "rank %u element %u swizzle %u box %u x %u of %" PRIu64 " x %" PRIu64 "\n",
                r->tensor.rank, r->tensor.element, r->tensor.swizzle, r->tensor.box[0],
                r->tensor.box[1], r->tensor.dim[0], r->tensor.dim[1]);
        break;
    case CAP_RANGE:
        fprintf(out, "%u kind %u %s\n", r->range.id, r->range.kind, r->range.name);
        break;
    case CAP_RANGES: fprintf(out, "%u of %u\n", r->ranges.id, r->ranges.count); break;
    case CAP_STREAM:
        fprintf(out, "%" PRIu64 " kind %u device %u context %" PRIu64 " flags %u priority %d\n",
                r->stream.id, r->stream.kind, r->stream.device, r->stream.context, r->stream.flags,
                r->stream.priority);
        break;
    case CAP_USES: put_uses(&r->uses, out); break;
    case CAP_SEQUENCES:
        fprintf(out, "%u sequences %u groups of warps %u dropped %" PRIu64 "\n",
                r->sequences.launch, r->sequences.nsequences, r->sequences.nwarps,
                r->sequences.dropped);
        break;
    case CAP_PATHS:
        fprintf(out, "%u paths %u bytes %" PRIu64 "\n", r->paths.launch, r->paths.count,
                r->paths.length);
        break;
    case CAP_STARTS: put_starts(&r->starts, out); break;
    case CAP_INDIRECT: put_indirect(&r->indirect, out); break;
    case CAP_GRAPH: put_graph(&r->graph, out); break;
    case CAP_FAULT: put_fault(&r->fault, out); break;
    case CAP_GRAPH_RUN: put_graph_run(&r->graph_run, out); break;
    case CAP_END: fprintf(out, "records %" PRIu64 "\n", r->end.records); break;
    }
}

wl_status dump_capture(const char *path, unsigned flags, FILE *out, wl_error *err)
{
    cap_reader *reader;
    wl_status status = cap_open(path, &reader, err);
    if (status != WL_OK)
        return status;
    cap_record record;
    bool end = false;
    while ((status = cap_read(reader, &record, &end, err)) == WL_OK && !end)
        put_record(&record, flags, out);
    cap_reader_free(reader);
    return status;
}
