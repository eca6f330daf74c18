#include "run.h"

#include "base/vec.h"
#include "emu/emu.h"
#include "observe/observe.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct course { /* of one run */
    run *run;
    emu_machine *machine;
    emu_kernel *kernel;
    obs_launch *launch;
    acc_observer observer;
    void *worker;
    obs_shared *shared;
    uint32_t nshared;
    uint64_t block; /* that runs */
    bool elements;
} course;

static void stop(const run *r, const char *what)
{
    fprintf(stderr, "bench_findings: kernel %u: %s\n", r->kernel->seed, what);
    exit(2);
}

static void expect_ok(const run *r, wl_status status, const wl_error *err)
{
    if (status != WL_OK)
        stop(r, err->text[0] ? err->text : wl_status_text(status));
}

/* ---- the emulator's accesses ---- */

static uint32_t object_of(const run *r, bool shared, uint64_t address)
{
    for (uint32_t i = 1; i <= r->accesses.nobjects; i++) {
        const sim_object *o = &r->accesses.objects[i];
        if (o->shared == shared && address >= o->base && address - o->base < o->bytes)
            return i;
    }
    stop(r, "an access to no object");
    return 0;
}

static void keep_raw(course *c, const acc_request *a)
{
    run *r = c->run;
    bool shared = a->space == ACC_SHARED;
    sim_request request = {.pc = a->pc,
                           .warp = a->warp,
                           .object = object_of(r, shared, a->addr[__builtin_ctz(a->mask)]),
                           .bytes = a->bytes,
                           .mask = a->mask,
                           .op = (uint8_t)a->op,
                           .space = shared ? ACC_SHARED : ACC_GLOBAL,
                           .block = c->block};
    memcpy(request.addr, a->addr, sizeof request.addr);
    if (!wl_push(&r->accesses.log, request))
        stop(r, "out of memory");
}

static void *on_worker(void *ctx, uint32_t number)
{
    course *c = ctx;
    c->observer = obs_observer(c->launch);
    c->worker = c->observer.worker_begin(c->observer.ctx, number);
    return c;
}

typedef struct in_flight {
    course *course;
    void *block;
} in_flight;

static void *on_block(void *worker, uint64_t block)
{
    course *c = worker;
    static in_flight one; /* of a single worker, one block after the other */
    c->block = block;
    one = (in_flight){c, c->observer.block_begin(c->worker, block)};
    return &one;
}

static void on_block_end(void *worker, void *block, uint64_t warp_instructions)
{
    course *c = worker;
    in_flight *one = block;
    c->observer.block_end(c->worker, one->block, warp_instructions);
}

static void on_access(void *block, const acc_request *a)
{
    in_flight *one = block;
    keep_raw(one->course, a);
    one->course->observer.access(one->block, a);
}

static uint32_t object_at(void *ctx, uint64_t address)
{
    emu_alloc alloc;
    return emu_mem_find(((const course *)ctx)->machine, address, &alloc) ? alloc.id : 0;
}

/* Objects begin where their first array does, which may be off the allocation's boundary. */
static bool range_at(void *ctx, uint64_t address, obs_range *out)
{
    const course *c = ctx;
    emu_alloc alloc;
    if (!emu_mem_find(c->machine, address, &alloc) || !alloc.id)
        return false;
    uint32_t skew = c->run->kernel->objects[alloc.id - 1].skew;
    *out = (obs_range){.object = alloc.id, .base = alloc.base + skew, .bytes = alloc.size - skew};
    return true;
}

/* ---- running ---- */

/* Object i of device memory has number i + 1. */
static void allocate(course *c, uint64_t *params)
{
    const kernel *k = c->run->kernel;
    uint64_t pools[MAX_OBJECTS] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->nobjects; i++) {
        const kernel_object *o = &k->objects[i];
        uint64_t address;
        if (o->shared)
            continue;
        if (o->pool != i)
            address = pools[o->pool];
        else if (emu_mem_alloc(c->machine, o->room, 256, EMU_ALLOC_DEVICE, i + 1, &address) !=
                 WL_OK)
            stop(c->run, "no memory");
        pools[i] = address;
        params[n++] = c->run->accesses.objects[i + 1].base = address + o->offset + o->skew;
    }
}

/* Arrays of shared memory are named s<object>; their order is the emulator's. */
static void list_shared(course *c)
{
    uint32_t count = emu_kernel_nshared(c->kernel);
    c->shared = calloc((size_t)count + 1, sizeof *c->shared);
    c->shared[0].name = "";
    c->nshared = 1;
    for (uint32_t i = 0; i < count; i++) {
        emu_shared_var v = emu_kernel_shared(c->kernel, i, 0);
        c->run->accesses.objects[atoi(v.var->name + 1) + 1].base = v.offset;
        c->shared[c->nshared++] = (obs_shared){v.var->name, v.offset, v.size};
    }
}

static void observe(course *c, const uint64_t *params, wl_arena *arena, obs_summary *summary)
{
    const kernel *k = c->run->kernel;
    obs_config config = {.ncode = emu_kernel_get(c->kernel)->ncode,
                         .grid = {k->blocks, 1, 1},
                         .block = {k->block[0], k->block[1], 1},
                         .nshared = c->nshared,
                         .shared = c->shared,
                         .automatic = true,
                         .object_at = object_at,
                         .object_ctx = c,
                         .range_at = range_at,
                         .objects = c->elements ? OBS_KNOWN_TOUCHED : OBS_KNOWN_NOTHING};
    acc_observer observer = {.ctx = c,
                             .worker_begin = on_worker,
                             .block_begin = on_block,
                             .block_end = on_block_end,
                             .access = on_access};
    emu_launch launch = {.grid = {k->blocks, 1, 1},
                         .block = {k->block[0], k->block[1], 1},
                         .params = params,
                         .threads = 1,
                         .observer = &observer};
    emu_result result = {0};
    wl_error err = {0};
    if (obs_launch_new(&config, &c->launch) != WL_OK)
        stop(c->run, "out of memory");
    wl_status status = emu_run(c->machine, c->kernel, &launch, &result, &err);
    if (status == WL_FAULT)
        stop(c->run, result.fault.text);
    expect_ok(c->run, status, &err);
    expect_ok(c->run, obs_finish(c->launch, arena, summary), &err);
    summary->blocks_run = result.blocks_run;
    summary->warp_instructions = result.warp_instructions;
    summary->thread_instructions = result.thread_instructions;
    emu_result_clear(&result);
}

/* ---- analysing ---- */

static void add(run *r, prof_builder *builder, cap_record record)
{
    wl_error err = {0};
    expect_ok(r, prof_add(builder, &record, &err), &err);
}

static void fill_profile(run *r, prof_builder *builder, const obs_summary *summary)
{
    const kernel *k = r->kernel;
    wl_error err = {0};
    char names[MAX_OBJECTS][8];
    expect_ok(r, prof_begin_process(builder, &err), &err);
    cap_record process = {.type = CAP_PROCESS};
    process.process = (cap_process){.executable = "/bench",
                                    .directory = "/",
                                    .host = "",
                                    .collector = "emulate",
                                    .version = "",
                                    .options = ""};
    add(r, builder, process);
    for (uint32_t i = 0; i < k->nobjects; i++) {
        snprintf(names[i], sizeof names[i], "o%u", i);
        cap_record o = {.type = CAP_OBJECT};
        o.object = (cap_object){.id = i + 1,
                                .kind = CAP_OBJECT_SYMBOL,
                                .base = r->accesses.objects[i + 1].base - k->objects[i].offset,
                                .bytes = k->objects[i].room - k->objects[i].skew,
                                .name = names[i]};
        if (!k->objects[i].shared && k->objects[i].pool == i)
            add(r, builder, o);
    }
    char *text = kernel_ptx(k);
    cap_record module = {.type = CAP_MODULE};
    module.module = (cap_module){.id = 1,
                                 .kind = CAP_MODULE_PTX,
                                 .hash = 1,
                                 .name = "bench",
                                 .code = text,
                                 .length = strlen(text)};
    add(r, builder, module);
    cap_record launch = {.type = CAP_LAUNCH};
    launch.launch = (cap_launch){.id = 1,
                                 .module = 1,
                                 .kernel = "k",
                                 .grid = {k->blocks, 1, 1},
                                 .block = {k->block[0], k->block[1], 1},
                                 .host_seconds = -1,
                                 .device_seconds = -1,
                                 .fault = "",
                                 .summary = *summary};
    add(r, builder, launch);
    cap_record uses = {.type = CAP_USES};
    uses.uses = (cap_uses){.launch = 1,
                           .objects_known = summary->objects_known,
                           .count = summary->nuses,
                           .uses = summary->uses};
    add(r, builder, uses);
    add(r, builder, (cap_record){.type = CAP_END});
    free(text);
}

/* Findings name objects of the profile: o<object> and s<object>. */
static void analyze(run *r, const char *scratch)
{
    wl_error err = {0};
    prof_db *db;
    prof_object_rows objects;
    ana_thresholds thresholds = ana_thresholds_default();
    expect_ok(r, prof_open(scratch, &db, &err), &err);
    expect_ok(r, ana_find(db, &thresholds, r->accesses.arena, &r->found, &err), &err);
    expect_ok(r, prof_load_objects(db, r->accesses.arena, &objects, &err), &err);
    for (uint32_t i = 0; i < r->found.count; i++) {
        const prof_object *o = prof_find_object(&objects, r->found.rows[i].object);
        if (r->found.rows[i].scope == ANA_SCOPE_KERNEL) {
            r->found.rows[i].object = UINT32_MAX; /* no object's */
            continue;
        }
        if (!o)
            stop(r, "a finding on no object");
        r->found.rows[i].object = (uint32_t)atoi(o->variable + 1);
    }
    prof_close(db);
}

static void start(run *r)
{
    const kernel *k = r->kernel;
    sim *s = &r->accesses;
    *s = (sim){.grid = {k->blocks, 1, 1}, .block = {k->block[0], k->block[1], 1}};
    s->arena = wl_arena_new();
    s->nobjects = k->nobjects;
    for (uint32_t i = 0; i < k->nobjects; i++)
        s->objects[i + 1] = (sim_object){.name = k->objects[i].family,
                                         .bytes = k->objects[i].bytes,
                                         .shared = k->objects[i].shared};
    for (s->nsampled = 0; s->nsampled < k->blocks; s->nsampled++)
        s->sampled[s->nsampled] = s->nsampled;
}

void run_kernel(const kernel *k, bool elements, const char *scratch, run *out)
{
    static const emu_device device = {.sm = 90,
                                      .num_sms = 132,
                                      .max_threads_per_block = 1024,
                                      .max_shared_per_block = 227 << 10,
                                      .max_blocks_per_sm = 32,
                                      .max_threads_per_sm = 2048,
                                      .shared_per_sm = 228 << 10,
                                      .global_bytes = 1ull << 32,
                                      .clock_khz = 1000000};
    *out = (run){.kernel = k};
    start(out);
    course c = {.run = out, .elements = elements};
    wl_error err = {0};
    ir_module *ptx;
    emu_module *module;
    obs_summary summary;
    prof_builder *builder;
    prof_options options = {.force = true};
    uint64_t params[MAX_OBJECTS] = {0};
    char *text = kernel_ptx(k);
    expect_ok(out, ptx_parse(text, strlen(text), "k", &ptx, &err), &err);
    expect_ok(out, emu_machine_new(&device, &c.machine, &err), &err);
    expect_ok(out, emu_module_load(c.machine, ptx, NULL, NULL, &module, &err), &err);
    expect_ok(out, emu_module_kernel(module, "k", &c.kernel, &err), &err);
    allocate(&c, params);
    list_shared(&c);
    observe(&c, params, out->accesses.arena, &summary);
    expect_ok(out, prof_create(scratch, &options, &builder, &err), &err);
    fill_profile(out, builder, &summary);
    expect_ok(out, prof_finish(builder, &err), &err);
    analyze(out, scratch);
    obs_launch_free(c.launch);
    emu_module_unload(module);
    emu_machine_free(c.machine);
    ir_module_free(ptx);
    free(c.shared);
    free(text);
    unlink(scratch);
}

void run_clear(run *r)
{
    wl_vec_free(&r->accesses.log);
    wl_arena_free(r->accesses.arena);
    *r = (run){0};
}
