#include "probed.h"

#include "guards.h"

#include "ptx/ptx.h"

#include <stdlib.h>

void probed_begin(probed *p, const char *ptx, uint32_t probes, bool everything)
{
    wl_error err = {0};
    rewrite_options options = {.probes = probes, .everything = everything};
    memset(p, 0, sizeof *p);
    fixture_begin(&p->f, ptx);
    p->arena = wl_arena_new();
    if (rewrite_module(p->f.ptx, &options, p->arena, &p->result, &err) != WL_OK)
        fail_msg("%s", err.text);
    const char *text = p->result.text ? p->result.text : ptx;
    if (ptx_parse(text, strlen(text), "rewritten", &p->rewritten_ptx, &err) != WL_OK)
        fail_msg("%s", err.text);
    if (ptx_verify(p->rewritten_ptx, "rewritten", &err) != WL_OK)
        fail_msg("%s", err.text);
    if (emu_module_load(p->f.machine, p->rewritten_ptx, NULL, NULL, &p->rewritten, &err) != WL_OK)
        fail_msg("%s", err.text);
}

void probed_end(probed *p)
{
    emu_module_unload(p->rewritten);
    ir_module_free(p->rewritten_ptx);
    fixture_end(&p->f);
    free(p->result.text);
    wl_arena_free(p->arena);
}

const rewrite_kernel *probed_kernel(const probed *p, const char *name)
{
    for (uint32_t i = 0; i < p->result.nkernels; i++)
        if (strcmp(p->result.kernels[i].func->name, name) == 0)
            return &p->result.kernels[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

/* ---- what is seen ---- */

/* The two modules have their variables at different places: an address in one becomes its
 * offset. */
static uint64_t normal(emu_machine *m, uint32_t space, uint64_t address)
{
    emu_alloc alloc;
    bool variable = space == ACC_GLOBAL || space == ACC_CONST;
    if (variable && emu_mem_find(m, address, &alloc) &&
        (alloc.kind == EMU_ALLOC_SYMBOL || alloc.kind == EMU_ALLOC_CONST))
        return (address - alloc.base) | UINT64_C(1) << 60;
    return address;
}

static void add(shot *s, emu_machine *m, seen one, const uint64_t *addr)
{
    if (s->count == s->room) {
        s->room = s->room * 2 + 1024;
        s->list = realloc(s->list, s->room * sizeof *s->list);
    }
    /* A function's frame lies elsewhere where its caller's is larger. */
    uint64_t from = one.space == ACC_LOCAL ? addr[__builtin_ctz(one.mask)] : 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        one.addr[lane] = one.mask >> lane & 1 ? normal(m, one.space, addr[lane]) - from : 0;
    s->list[s->count++] = one;
}

typedef struct watch {
    shot *shot;
    emu_machine *machine;
    uint64_t block;
} watch;

static void *begin_worker(void *ctx, uint32_t worker)
{
    (void)worker;
    return ctx;
}

static void *begin_block(void *worker, uint64_t block)
{
    watch *w = malloc(sizeof *w);
    *w = *(watch *)worker;
    w->block = block;
    return w;
}

static void end_block(void *worker, void *block, uint64_t warp_instructions)
{
    (void)worker, (void)warp_instructions;
    free(block);
}

static void on_access(void *block, const acc_request *a)
{
    watch *w = block;
    add(w->shot, w->machine,
        (seen){w->block, a->pc, a->op, a->space, a->bytes, a->flags, a->mask, a->warp, {0}},
        a->addr);
}

static void on_record(void *ctx, const rewrite_access *a)
{
    watch *w = ctx;
    const rewrite_probe_site *s = a->site;
    add(w->shot, w->machine,
        (seen){
            a->block, s->pc, s->op, (uint8_t)a->space, s->bytes, s->flags, a->mask, a->warp, {0}},
        a->addr);
}

void read_trace(probed *p, const left *state, shot *out)
{
    watch w = {out, p->f.machine, 0};
    rewrite_read_trace(&state->copy, on_record, &w);
}

static void on_enter(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    const watch *w = block;
    shot *s = w->shot;
    if (s->nentries == s->entries_room) {
        s->entries_room = s->entries_room * 2 + 1024;
        s->entries = realloc(s->entries, s->entries_room * sizeof *s->entries);
    }
    s->entries[s->nentries++] = (entered){w->block, warp, pc, mask};
}

/* ---- runs ---- */

/* Returns the kernel. */
static emu_kernel *lay_out_params(probed *p, emu_module *module, const char *name, const shape *s,
                                  uint8_t *buffer)
{
    emu_kernel *kernel = NULL;
    if (emu_module_kernel(module, name, &kernel, &p->f.err) != WL_OK)
        fail_msg("%s", p->f.err.text);
    const emu_kernel_info *info = emu_kernel_get(kernel);
    for (uint32_t k = 0; k < s->nargs; k++)
        memcpy(buffer + info->param_offsets[k], &s->args[k],
               info->param_sizes[k] < 8 ? info->param_sizes[k] : 8);
    return kernel;
}

static void keep_params(probed *p, const char *name, const shape *s, left *l)
{
    memset(l->params, 0, sizeof l->params);
    lay_out_params(p, p->f.module, name, s, l->params);
}

static void launch(probed *p, emu_module *module, const char *name, const shape *s,
                   const acc_observer *observer, const rewrite_param *param, shot *out)
{
    uint8_t buffer[4096] = {0};
    emu_kernel *kernel = lay_out_params(p, module, name, s, buffer);
    const emu_kernel_info *info = emu_kernel_get(kernel);
    if (param)
        memcpy(buffer + info->param_offsets[info->nparams - 1], param, sizeof *param);
    emu_launch l = {.grid = s->grid,
                    .block = s->block,
                    .dynamic_shared = s->dynamic_shared,
                    .params = buffer,
                    .threads = 1,
                    .time_limit = 60,
                    .observer = observer,
                    .print = p->f.print,
                    .print_ctx = p->f.print_ctx};
    void *before = malloc(s->bytes + 1);
    out->data = malloc(s->bytes + 1);
    memcpy(before, s->data, s->bytes);
    emu_result result;
    wl_status status = emu_run(p->f.machine, kernel, &l, &result, &p->f.err);
    if (status != WL_OK)
        fail_msg("%s: %s", name, status == WL_FAULT ? result.fault.text : p->f.err.text);
    memcpy(out->data, s->data, s->bytes);
    memcpy(s->data, before, s->bytes);
    free(before);
    out->blocks = result.blocks, out->nblocks = result.nblocks;
    out->ncode = info->ncode;
    out->block_of = calloc(info->ncode + 1, sizeof *out->block_of);
    for (uint32_t pc = 0; pc < info->ncode; pc++)
        out->block_of[pc] = emu_kernel_code(kernel, pc).block;
    out->warp_instructions = result.warp_instructions;
}

void shoot_original(probed *p, const char *name, const shape *s, shot *out)
{
    *out = (shot){0};
    watch w = {out, p->f.machine, 0};
    acc_observer observer = {.ctx = &w,
                             .worker_begin = begin_worker,
                             .block_begin = begin_block,
                             .block_end = end_block,
                             .access = on_access,
                             .enter = on_enter};
    launch(p, p->f.module, name, s, &observer, NULL, out);
}

/* ---- the log ---- */

static void count_entry(char *state, uint32_t entry)
{
    uint32_t n = 1u << (entry >> REWRITE_LOG_WIDTH & 3), place = entry & REWRITE_LOG_PLACE;
    for (uint32_t i = 0; i < n; i++)
        if (entry & REWRITE_LOG_MARKS)
            state[place + i] = 1;
        else
            ((uint32_t *)(void *)state)[place + i]++;
}

/* As the collector has a kernel do. Returns the number of entries. */
static uint64_t count_log(char *state, const rewrite_layout *l)
{
    const uint32_t *log = (const void *)(state + l->log_at);
    uint64_t n = 0, lanes = (uint64_t)l->log_regions * REWRITE_LANES;
    for (uint64_t i = 0; i < lanes; i++) {
        uint16_t end = 0;
        memcpy(&end, state + l->ends_at + i * l->end_bytes, l->end_bytes);
        assert_true(end <= l->log_rows);
        n += end;
        for (uint64_t row = 0; row < end; row++)
            count_entry(state, log[row * lanes + i]);
    }
    return n;
}

/* What stands in the parameters that the kernel's slots name. */
static void find_pointers(const rewrite_kernel *k, const shape *s, uint64_t *pointers)
{
    for (uint32_t i = 0; i < k->nslots; i++) {
        const rewrite_pointer *slot = &k->slots[i];
        bool given = slot->param < s->nargs && slot->offset == 0;
        pointers[i] = given ? s->args[slot->param] : 0;
    }
}

void shoot_probed(probed *p, const char *name, const shape *s, bool off, const rewrite_setup *given,
                  const uint64_t *blocks, uint32_t nblocks, shot *out, left *l)
{
    const rewrite_kernel *k = probed_kernel(p, name);
    uint64_t address = 0, pointers[REWRITE_SLOTS];
    rewrite_param param;
    rewrite_setup own = *given, *setup = &own;
    find_pointers(k, s, pointers);
    if (!own.pointers)
        own.pointers = pointers;
    *out = (shot){0};
    own.traced = blocks, own.ntraced = nblocks;
    own.blocks = (uint64_t)s->grid.x * s->grid.y * s->grid.z;
    memcpy(own.threads, (uint32_t[]){s->block.x, s->block.y, s->block.z}, sizeof own.threads);
    rewrite_lay_out(k, setup, &l->layout);
    uint64_t size = l->layout.bytes;
    assert_int_equal(emu_mem_alloc(p->f.machine, size, 256, EMU_ALLOC_INTERNAL, 0, &address),
                     WL_OK);
    void *state = (void *)(uintptr_t)address;
    memset(state, 0, l->layout.pool_at);
    memset((char *)state + l->layout.pool_at, GUARD_BYTE, size - l->layout.pool_at);
    rewrite_fill(k, setup, &l->layout, address, state,
                 (void *)(uintptr_t)(address + l->layout.ranges_at));
    memset((char *)state + l->layout.ends_at, 0, l->layout.log_at - l->layout.ends_at);
    rewrite_param_init(off ? 0 : address, off ? NULL : state, s->grid.x, &param);
    if (!off)
        rewrite_param_log(address, &l->layout, &param);
    launch(p, p->rewritten, name, s, NULL, k->probes ? &param : NULL, out);
    l->state = malloc(size);
    memcpy(l->state, state, size);
    l->logged = count_log(l->state, &l->layout);
    keep_params(p, name, s, l);
    l->copy = (rewrite_copy){.kernel = k,
                             .layout = &l->layout,
                             .state = l->state,
                             .size = size,
                             .grid = {s->grid.x, s->grid.y, s->grid.z},
                             .params = l->params,
                             .nparams = sizeof l->params};
    assert_int_equal(emu_mem_free(p->f.machine, address), WL_OK);
    if (!off && k->probes)
        check_guards(name, &l->copy);
}

void left_end(left *l)
{
    free(l->state);
}

void shot_end(shot *s)
{
    free(s->list), free(s->entries), free(s->block_of), free(s->blocks), free(s->data);
    *s = (shot){0};
}
