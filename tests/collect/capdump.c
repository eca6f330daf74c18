/* Prints the records of a capture, one a line: capdump FILE ... [-v]. With -v also rows of summaries and stacks. */
#include "capture/capture.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool verbose;

static void print_insns(const obs_summary *s)
{
    for (uint32_t i = 0; verbose && i < s->ninsns; i++) {
        const obs_insn *r = &s->insns[i];
        printf("    pc %u object %u space %u op %u bytes %u requests %" PRIu64 " lanes %" PRIu64
               " sectors %" PRIu64 "/%" PRIu64 " wavefronts %" PRIu64 "/%" PRIu64 "\n",
               r->pc, r->object, r->space, r->op, r->bytes, r->requests, r->active_lanes,
               r->sectors, r->sectors_min, r->wavefronts, r->wavefronts_min);
    }
    for (uint32_t i = 0; verbose && i < s->nshared; i++)
        printf("    shared %u %s offset %u bytes %u\n", i, s->shared[i].name, s->shared[i].offset,
               s->shared[i].bytes);
    for (uint32_t i = 0; verbose && i < s->nheats; i++)
        printf("    heat object %u space %u block %" PRIu64 " rows %u dropped %" PRIu64 "\n",
               s->heats[i].object, s->heats[i].space, s->heats[i].block, s->heats[i].nrows,
               s->heats[i].dropped);
}

static void print_launch(const cap_launch *l)
{
    const obs_summary *s = &l->summary;
    printf("%u call %u module %u %s grid %u,%u,%u block %u,%u,%u shared %u+%u registers %u stream "
           "%" PRIu64 " error %d instructions %" PRIu64 "/%" PRIu64 " blocks %" PRIu64 "/%" PRIu64
           "/%" PRIu64 " rows %u heats %u%s%s\n",
           l->id, l->call, l->module, l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0],
           l->block[1], l->block[2], l->static_shared, l->dynamic_shared, l->registers, l->stream,
           l->error, s->warp_instructions, s->thread_instructions, s->blocks_run,
           s->blocks_observed, s->blocks_sampled, s->ninsns, s->nheats, *l->fault ? " fault " : "",
           l->fault);
    print_insns(s);
}

static void print_call(const cap_call *c)
{
    printf("%u %s kind %u stream %" PRIu64 " thread %u result %d from %u+%" PRIu64 " to %u+%" PRIu64
           " bytes %" PRIu64 " stack %u\n",
           c->id, c->api, c->kind, c->stream, c->thread, c->result, c->source_object,
           c->source_offset, c->target_object, c->target_offset, c->bytes, c->stack.count);
    for (uint32_t i = 0; verbose && i < c->stack.count; i++)
        printf("    %" PRIx64 "\n", c->stack.pcs[i]);
}

static void print_maps(const cap_maps *m)
{
    printf("%u files\n", m->count);
    for (uint32_t i = 0; verbose && i < m->count; i++)
        printf("    %" PRIx64 "-%" PRIx64 " %" PRIx64 " %s %s\n", m->maps[i].start, m->maps[i].end,
               m->maps[i].offset, m->maps[i].path, m->maps[i].build_id);
}

static void print_record(const cap_record *r)
{
    static const char *const names[] = {
#define X(id, number, type) [CAP_##id] = #id,
#include "capture/events.def"
#undef X
    };
    printf("%-11s ", names[r->type]);
    switch (r->type) {
    case CAP_PROCESS:
        printf("pid %u %s in %s argc %u collector %s options %s\n", r->process.pid,
               r->process.executable, r->process.directory, r->process.argc, r->process.collector,
               r->process.options);
        break;
    case CAP_DEVICE:
        printf("%u %s cc %u.%u sms %u bytes %" PRIu64 " file %s\n", r->device.ordinal,
               r->device.name, r->device.cc_major, r->device.cc_minor, r->device.num_sms,
               r->device.global_bytes, r->device.file);
        break;
    case CAP_MAPS: print_maps(&r->maps); break;
    case CAP_MODULE:
        printf("%u %s %" PRIu64 " bytes\n", r->module.id, r->module.name, r->module.length);
        break;
    case CAP_OBJECT:
        printf("%u kind %u device %u bytes %" PRIu64 " call %u module %u %s\n", r->object.id,
               r->object.kind, r->object.device, r->object.bytes, r->object.call, r->object.module,
               r->object.name);
        break;
    case CAP_FREE: printf("%u call %u\n", r->free.object, r->free.call); break;
    case CAP_CALL: print_call(&r->call); break;
    case CAP_LAUNCH: print_launch(&r->launch); break;
    case CAP_SKIPPED:
        printf("%s call %u: %s\n", r->skipped.kernel, r->skipped.call, r->skipped.reason);
        break;
    case CAP_UNSUPPORTED: printf("%s\n", r->unsupported.api); break;
    case CAP_MESSAGE: printf("%u %s\n", r->message.level, r->message.text); break;
    case CAP_END: printf("records %" PRIu64 "\n", r->end.records); break;
    }
}

static int dump(const char *path)
{
    cap_reader *reader;
    wl_error err = {0};
    if (cap_open(path, &reader, &err) != WL_OK) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        return 1;
    }
    cap_record record;
    bool end = false;
    wl_status status;
    while ((status = cap_read(reader, &record, &end, &err)) == WL_OK && !end)
        print_record(&record);
    if (status != WL_OK)
        fprintf(stderr, "%s: %s\n", path, err.text);
    cap_reader_free(reader);
    return status != WL_OK;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        verbose |= strcmp(argv[i], "-v") == 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-v") != 0)
            failed |= dump(argv[i]);
    return failed;
}
