/* What probes recorded: read from the capture, joined with a slice's run, scaled to the launch. */
#include "replay/recorded.h"

#include "replay/elements.h"
#include "replay/run.h"
#include "replay/watch.h"
#include "rewrite/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

typedef struct taken { /* a PROBE record */
    uint32_t note;
    cap_probe probe;    /* arrays in the arena */
    const char *tables; /* of elements, in the arena; NULL: none */
    uint64_t tables_length;
    UT_hash_handle hh;
} taken;

typedef struct planned { /* what rewrite_module() said of a module */
    const ir_module *module;
    uint32_t probes, everything;
    wl_arena *arena;
    rewrite_result result;
    struct planned *next;
} planned;

typedef struct named { /* a kernel that recorded */
    const char *name;
    UT_hash_handle hh;
} named;

struct replay_recorded {
    wl_arena *arena;
    taken *notes;
    named *kernels;
    planned *plans;
    uint32_t probes; /* of all records */
};

/* A variable's place on the device, and here. */
typedef struct place {
    uint8_t space;
    uint64_t device, here, bytes;
} place;

typedef struct tally {
    uint64_t executions, lanes;
} tally;

struct replay_recorded_trace {
    const rewrite_kernel *kernel;
    const emu_kernel *slice;
    rewrite_layout layout;
    rewrite_copy copy;
    uint32_t nplaces;
    place *places;
    tally *seen;      /* [pcs] in the trace */
    tally *counted;   /* [pcs] in all; executions UINT64_MAX: not counted */
    uint64_t records; /* accesses in the trace */
    uint64_t blocks;  /* of the launch */
    const acc_observer *inner;
};

/* ---- reading the capture ---- */

static bool keep_probe(replay_recorded *r, const cap_probe *p)
{
    taken *t = wl_new(r->arena, taken);
    if (!t)
        return false;
    t->note = p->note;
    t->probe = *p;
    t->probe.data = wl_arena_copy(r->arena, p->data, p->length);
    t->probe.blocks = wl_arena_copy(r->arena, p->blocks, p->nblocks * sizeof *p->blocks);
    t->probe.objects = wl_arena_copy(r->arena, p->objects, p->count * sizeof *p->objects);
    if (!t->probe.data || !t->probe.blocks || !t->probe.objects)
        return false;
    r->probes |= p->probes;
    HASH_ADD(hh, r->notes, note, sizeof t->note, t);
    return true;
}

static bool has_note(const replay_recorded *r, uint32_t note, taken **found)
{
    HASH_FIND(hh, r->notes, &note, sizeof note, *found);
    return *found != NULL;
}

bool replay_recorded_kernel(const replay_recorded *r, const char *kernel)
{
    named *found = NULL;
    if (r)
        HASH_FIND_STR(r->kernels, kernel, found);
    return found != NULL;
}

static bool keep_kernel(replay_recorded *r, const cap_note *note)
{
    if (!(note->flags & CAP_NOTE_PROBED) || replay_recorded_kernel(r, note->kernel))
        return true;
    named *k = wl_new(r->arena, named);
    if (!k || !(k->name = wl_arena_strdup(r->arena, note->kernel)))
        return false;
    HASH_ADD_KEYPTR(hh, r->kernels, k->name, strlen(k->name), k);
    return true;
}

static bool keep_tables(replay_recorded *r, const cap_tables *tables)
{
    taken *t = NULL;
    if (!has_note(r, tables->note, &t) || t->tables)
        return true;
    t->tables = wl_arena_copy(r->arena, tables->data, tables->length);
    t->tables_length = tables->length;
    return t->tables != NULL;
}

static bool fits_memory(const replay_recorded *r, uint64_t length, uint64_t most)
{
    return !most || wl_arena_used(r->arena) + length <= most;
}

static wl_status read_records(replay_recorded *r, cap_reader *reader, uint64_t size, uint64_t most)
{
    cap_record record;
    wl_error damage;
    bool end = false;
    taken *before;
    for (;;) {
        wl_status status = cap_read(reader, &record, &end, &damage);
        if (end || cap_position(reader) > size)
            return WL_OK;
        if (status == WL_NOMEM ||
            (status == WL_OK && record.type == CAP_NOTE && !keep_kernel(r, &record.note)))
            return WL_NOMEM;
        if (status == WL_OK && record.type == CAP_TABLES &&
            fits_memory(r, record.tables.length, most) && !keep_tables(r, &record.tables))
            return WL_NOMEM;
        if (status == WL_OK && record.type == CAP_PROBE &&
            !has_note(r, record.probe.note, &before) && fits_memory(r, record.probe.length, most) &&
            !keep_probe(r, &record.probe))
            return WL_NOMEM;
    }
}

wl_status replay_recorded_read(const char *path, uint64_t size, uint64_t most,
                               replay_recorded **out, wl_error *err)
{
    cap_reader *reader = NULL;
    replay_recorded *r = calloc(1, sizeof *r);
    if (!r || !(r->arena = wl_arena_new())) {
        free(r);
        return wl_fail(err, WL_NOMEM, "out of memory while replaying launches");
    }
    wl_status status = cap_open(path, &reader, err);
    if (status == WL_OK) {
        cap_skip(reader, ~(1u << CAP_NOTE | 1u << CAP_PROBE | 1u << CAP_TABLES));
        status = read_records(r, reader, size, most);
    }
    cap_reader_free(reader);
    if (status != WL_OK) {
        replay_recorded_free(r);
        return wl_fail(err, status, "what probes recorded cannot be read");
    }
    *out = r;
    return WL_OK;
}

void replay_recorded_free(replay_recorded *r)
{
    if (!r)
        return;
    for (planned *p = r->plans, *next; p; p = next) {
        next = p->next;
        free(p->result.text);
        wl_arena_free(p->arena);
        free(p);
    }
    HASH_CLEAR(hh, r->notes);
    HASH_CLEAR(hh, r->kernels);
    wl_arena_free(r->arena);
    free(r);
}

uint32_t replay_recorded_probes(const replay_recorded *r)
{
    return r ? r->probes : 0;
}

bool replay_recorded_has(const replay_recorded *r, uint32_t note)
{
    taken *found = NULL;
    return r && has_note(r, note, &found);
}

/* ---- the kernel as it was rewritten ---- */

static const planned *plan_of(replay_recorded *r, const ir_module *module, const cap_probe *probe)
{
    for (planned *p = r->plans; p; p = p->next)
        if (p->module == module && p->probes == probe->probes && p->everything == probe->everything)
            return p;
    planned *p = calloc(1, sizeof *p);
    rewrite_options options = {.probes = probe->probes, .everything = probe->everything};
    wl_error err;
    if (!p || !(p->arena = wl_arena_new())) {
        free(p);
        return NULL;
    }
    p->module = module;
    p->probes = probe->probes;
    p->everything = probe->everything;
    if (rewrite_module(module, &options, p->arena, &p->result, &err) != WL_OK)
        p->result = (rewrite_result){0};
    p->next = r->plans;
    r->plans = p;
    return p;
}

static const rewrite_kernel *kernel_of(const planned *p, const char *name)
{
    for (uint32_t i = 0; i < p->result.nkernels; i++)
        if (strcmp(p->result.kernels[i].func->name, name) == 0)
            return p->result.kernels[i].probes ? &p->result.kernels[i] : NULL;
    return NULL;
}

/* Without the tables of elements, which are large and which nothing here asks for. */
static void unpack_probe(struct replay_recorded_trace *t, const cap_note *note,
                         const cap_probe *probe, wl_arena *arena)
{
    uint64_t size = rewrite_packed_size(probe->data, probe->length);
    rewrite_state head = {0}, *state;
    rewrite_unpack(probe->data, probe->length, 0, &head, sizeof head);
    uint64_t fixed = t->layout.tables_at ? t->layout.tables_at : head.pool_at;
    uint64_t pool = head.pool_at < size ? size - head.pool_at : 0;
    t->copy = (rewrite_copy){.kernel = t->kernel,
                             .layout = &t->layout,
                             .grid = {note->grid[0], note->grid[1], note->grid[2]},
                             .params = note->params,
                             .nparams = note->nparams};
    if (fixed < sizeof head || fixed > size || !(state = wl_arena_alloc(arena, fixed + pool)))
        return;
    rewrite_unpack(probe->data, probe->length, 0, state, fixed);
    rewrite_unpack(probe->data, probe->length, head.pool_at, (char *)state + fixed, pool);
    state->pool_at = fixed;
    t->copy.state = state;
    t->copy.size = fixed + pool;
}

static void lay_out_trace(replay_recorded_launch *l, const cap_note *note, const cap_probe *probe,
                          wl_arena *arena)
{
    struct replay_recorded_trace *t = l->trace;
    rewrite_setup setup = {.blocks = t->blocks,
                           .threads = {note->block[0], note->block[1], note->block[2]},
                           .nobjects = probe->count,
                           .shared_bytes = probe->shared_bytes};
    rewrite_object *objects = wl_new_array(arena, rewrite_object, probe->count + 1);
    for (uint32_t i = 0; objects && i < probe->count; i++)
        objects[i] = (rewrite_object){probe->objects[i].base, probe->objects[i].bytes};
    setup.objects = objects;
    setup.nobjects = objects ? probe->count : 0;
    rewrite_lay_out(t->kernel, &setup, &t->layout);
    unpack_probe(t, note, probe, arena);
    l->dropped = rewrite_dropped(&t->copy);
}

/* ---- places of variables ---- */

static bool shared_here(const replay_recorded_part *part, const ir_var *var, place *p)
{
    uint32_t count = emu_kernel_nshared(part->slice);
    for (uint32_t i = 0; i < count; i++) {
        emu_shared_var v = emu_kernel_shared(part->slice, i, part->note->dynamic_shared);
        if (strcmp(v.var->name, var->name) == 0) {
            p->here = v.offset;
            p->bytes = v.size;
            return true;
        }
    }
    return false;
}

static bool place_of(const replay_recorded_part *part, const ir_var *var, uint64_t device, place *p)
{
    *p = (place){.space = (uint8_t)var->space, .device = device};
    if (var->space != IR_SPACE_CONST)
        return shared_here(part, var, p);
    p->here = part->constant(part->ctx, var->name);
    p->bytes = ir_var_size(var);
    return p->here != 0;
}

static wl_status find_places(replay_recorded_launch *l, const replay_recorded_part *part,
                             wl_arena *arena)
{
    struct replay_recorded_trace *t = l->trace;
    t->places = wl_new_array(arena, place, t->kernel->nvars + 1);
    if (!t->places)
        return WL_NOMEM;
    for (uint32_t i = 0; i < t->kernel->nvars; i++)
        if (place_of(part, t->kernel->vars[i].var, rewrite_var_address(&t->copy, i),
                     &t->places[t->nplaces]))
            t->nplaces++;
    return WL_OK;
}

/* An address on the device to the one here; false where nothing lies there. */
static bool translate_address(const struct replay_recorded_trace *t, uint8_t space,
                              uint64_t *address)
{
    if (space == IR_SPACE_GLOBAL || space == IR_SPACE_LOCAL)
        return true;
    bool constant = space == IR_SPACE_CONST;
    for (uint32_t i = 0; i < t->nplaces; i++) {
        const place *p = &t->places[i];
        if ((p->space == IR_SPACE_CONST) == constant && *address - p->device < p->bytes) {
            *address += p->here - p->device;
            return true;
        }
    }
    return false;
}

/* ---- what was recorded ---- */

static void count_access(void *ctx, const rewrite_access *a)
{
    struct replay_recorded_trace *t = ctx;
    t->seen[a->site->pc].executions++;
    t->seen[a->site->pc].lanes += (uint32_t)__builtin_popcount(a->mask);
    t->records++;
}

/* Of the instructions that run whenever their block does. */
static void count_block(struct replay_recorded_trace *t, uint32_t first_pc, uint32_t ninsns,
                        tally all)
{
    uint32_t npcs = emu_kernel_get(t->slice)->ncode;
    for (uint32_t pc = first_pc; pc < first_pc + ninsns && pc < npcs; pc++)
        if (!all.executions || emu_kernel_code(t->slice, pc).insn->guard == IR_NONE)
            t->counted[pc] = all;
}

static void count_blocks(struct replay_recorded_trace *t, uint32_t npcs)
{
    tally all;
    for (uint32_t pc = 0; pc < npcs; pc++)
        t->counted[pc].executions = UINT64_MAX;
    for (uint32_t i = 0; i < t->kernel->nblocks; i++)
        if (rewrite_read_block(&t->copy, i, &all.executions, &all.lanes))
            count_block(t, t->kernel->blocks[i].first_pc, t->kernel->blocks[i].ninsns, all);
}

/* Does the probe `objects` say that the instruction ran in no block? */
static bool is_idle(const struct replay_recorded_trace *t, uint32_t pc)
{
    if (!(t->kernel->probes >> REWRITE_OBJECTS & 1))
        return false;
    for (uint32_t i = 0; i < t->kernel->nsites; i++)
        if (t->kernel->sites[i].pc == pc && rewrite_site_ran(&t->copy, i))
            return false;
    return true;
}

bool replay_recorded_idle(const replay_recorded_launch *l, uint32_t pc)
{
    return l->trace->counted[pc].executions == 0 || is_idle(l->trace, pc);
}

const rewrite_copy *replay_recorded_copy(const replay_recorded_launch *l)
{
    return &l->trace->copy;
}

/* What did not run in the traced blocks may have run in others, unless something tells that it
 * did not. */
static void mark_covered(replay_recorded_launch *l)
{
    const struct replay_recorded_trace *t = l->trace;
    bool traced = t->kernel->probes >> REWRITE_TRACE & 1,
         all = traced && l->nblocks == t->blocks && !l->dropped;
    for (uint32_t i = 0; i < t->kernel->nsites; i++) {
        uint32_t pc = t->kernel->sites[i].pc;
        l->covered[pc] = all || (traced && t->seen[pc].executions) || replay_recorded_idle(l, pc);
        l->elements[pc] |= (uint8_t)replay_elements_of_site(t->kernel, &t->kernel->sites[i]);
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static wl_status list_blocks(replay_recorded_launch *l, const cap_probe *probe, wl_arena *arena)
{
    uint64_t *blocks = wl_arena_copy(arena, probe->blocks, probe->nblocks * sizeof *blocks);
    uint32_t kept = 0;
    if (!blocks)
        return WL_NOMEM;
    qsort(blocks, probe->nblocks, sizeof *blocks, by_value);
    for (uint32_t i = 0; i < probe->nblocks; i++)
        if (blocks[i] < l->trace->blocks && (!kept || blocks[kept - 1] != blocks[i]))
            blocks[kept++] = blocks[i];
    l->blocks = blocks;
    l->nblocks = kept;
    return WL_OK;
}

static wl_status make_trace(const replay_recorded_part *part, const rewrite_kernel *k,
                            wl_arena *arena, replay_recorded_launch *l)
{
    uint32_t npcs = emu_kernel_get(part->slice)->ncode;
    struct replay_recorded_trace *t = l->trace = wl_new(arena, struct replay_recorded_trace);
    l->covered = wl_new_array(arena, uint8_t, npcs + 1);
    l->elements = wl_new_array(arena, uint8_t, npcs + 1);
    if (!t || !l->covered || !l->elements)
        return WL_NOMEM;
    *t = (struct replay_recorded_trace){.kernel = k,
                                        .slice = part->slice,
                                        .seen = wl_new_array(arena, tally, npcs + 1),
                                        .counted = wl_new_array(arena, tally, npcs + 1),
                                        .blocks = (uint64_t)part->note->grid[0] *
                                                  part->note->grid[1] * part->note->grid[2]};
    return t->seen && t->counted ? WL_OK : WL_NOMEM;
}

wl_status replay_recorded_begin(replay_recorded *r, const replay_recorded_part *part,
                                wl_arena *arena, replay_recorded_launch *out)
{
    taken *found = NULL;
    *out = (replay_recorded_launch){0};
    if (!has_note(r, part->note->id, &found))
        return WL_NOENT;
    const planned *plan = plan_of(r, emu_kernel_module(part->slice), &found->probe);
    const rewrite_kernel *k = plan ? kernel_of(plan, part->note->kernel) : NULL;
    if (!k || rewrite_packed_size(found->probe.data, found->probe.length) < k->fixed_bytes)
        return plan ? WL_NOENT : WL_NOMEM;
    wl_status status = make_trace(part, k, arena, out);
    if (status == WL_OK)
        status = list_blocks(out, &found->probe, arena);
    if (status != WL_OK)
        return status;
    out->probe = &found->probe;
    out->tables = found->tables;
    out->tables_length = found->tables_length;
    lay_out_trace(out, part->note, &found->probe, arena);
    if (k->probes >> REWRITE_TRACE & 1 && !rewrite_trace_is_readable(&out->trace->copy))
        return WL_UNSUPPORTED;
    status = find_places(out, part, arena);
    if (status != WL_OK)
        return status;
    rewrite_read_trace(&out->trace->copy, count_access, out->trace);
    count_blocks(out->trace, emu_kernel_get(part->slice)->ncode);
    mark_covered(out);
    return WL_OK;
}

/* ---- joined with what the slice shows ---- */

typedef struct joined_block {
    replay_recorded_launch *launch;
    void *inner; /* obs_block */
    uint64_t index;
} joined_block;

typedef struct joined_worker {
    replay_recorded_launch *launch;
    void *inner;
} joined_worker;

static void *on_worker(void *ctx, uint32_t number)
{
    replay_recorded_launch *l = ctx;
    joined_worker *w = malloc(sizeof *w);
    if (w)
        *w = (joined_worker){l, l->trace->inner->worker_begin(l->trace->inner->ctx, number)};
    return w;
}

static void on_worker_end(void *worker)
{
    free(worker);
}

static void *on_block(void *worker, uint64_t index)
{
    joined_worker *w = worker;
    joined_block *b = w ? malloc(sizeof *b) : NULL;
    if (!b)
        return NULL;
    *b = (joined_block){w->launch, w->launch->trace->inner->block_begin(w->inner, index), index};
    return b;
}

static void on_access(void *block, const acc_request *a)
{
    joined_block *b = block;
    const replay_recorded_launch *l = b->launch;
    if (!b->inner)
        return;
    if (!l->covered[a->pc])
        obs_record(b->inner, a);
    bool array = a->space == ACC_SHARED;
    if (!(l->elements[a->pc] & (array ? REPLAY_ELEMENTS_ARRAYS : REPLAY_ELEMENTS_OBJECTS)))
        obs_record_use(b->inner, a);
}

static int64_t stride_of(const rewrite_access *a, const uint64_t *address)
{
    int64_t stride = (int64_t)(address[1] - address[0]);
    if (a->mask != UINT32_MAX)
        return ACC_IRREGULAR;
    for (uint32_t lane = 2; lane < REWRITE_LANES; lane++)
        if ((int64_t)(address[lane] - address[lane - 1]) != stride)
            return ACC_IRREGULAR;
    return stride;
}

static void give_access(void *ctx, const rewrite_access *a)
{
    joined_block *b = ctx;
    const rewrite_site *s = a->site;
    uint64_t address[REWRITE_LANES] = {0};
    if (!b->launch->covered[s->pc])
        return;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        address[lane] = a->addr[lane];
        if (!translate_address(b->launch->trace, a->space, &address[lane])) {
            __atomic_add_fetch(&b->launch->dropped, 1, __ATOMIC_RELAXED);
            return;
        }
    }
    acc_request access = {.pc = s->pc,
                          .op = (acc_op)s->op,
                          .space = ir_request_space(a->space),
                          .bytes = s->bytes,
                          .flags = s->flags,
                          .mask = a->mask,
                          .warp = a->warp,
                          .addr = address,
                          .stride = stride_of(a, address)};
    obs_record(b->inner, &access);
}

static bool is_traced(const replay_recorded_launch *l, uint64_t index)
{
    return bsearch(&index, l->blocks, l->nblocks, sizeof index, by_value) != NULL;
}

static void on_block_end(void *worker, void *block, uint64_t warp_instructions)
{
    joined_worker *w = worker;
    joined_block *b = block;
    if (b && b->inner && is_traced(b->launch, b->index))
        rewrite_read_traced(&b->launch->trace->copy, b->index, give_access, b);
    if (b)
        b->launch->trace->inner->block_end(w->inner, b->inner, warp_instructions);
    free(b);
}

acc_observer replay_recorded_observer(replay_recorded_launch *launch, const acc_observer *inner)
{
    launch->trace->inner = inner;
    return (acc_observer){.ctx = launch,
                          .worker_begin = on_worker,
                          .worker_end = on_worker_end,
                          .block_begin = on_block,
                          .block_end = on_block_end,
                          .access = on_access};
}

/* ---- the whole launch ---- */

/* The part of the instruction's accesses that was recorded; 1: all. */
static double share_of(const replay_recorded_launch *l, uint32_t pc)
{
    const struct replay_recorded_trace *t = l->trace;
    const tally *seen = &t->seen[pc], *all = &t->counted[pc];
    if (all->executions != UINT64_MAX && all->executions >= seen->executions && seen->executions)
        return (double)seen->executions / (double)all->executions;
    double kept = (double)t->records / (double)(t->records + l->dropped);
    return t->blocks ? kept * (double)l->nblocks / (double)t->blocks : 1;
}

static bool is_known(const obs_summary *s, uint32_t first_pc)
{
    for (uint32_t i = 0; i < s->nblocks; i++)
        if (s->blocks[i].first_pc == first_pc)
            return true;
    return false;
}

static void add_mix(const struct replay_recorded_trace *t, const obs_block_count *b, obs_summary *s)
{
    for (uint32_t pc = b->first_pc; pc < b->first_pc + b->ninsns; pc++) {
        ir_cost cost = emu_kernel_code(t->slice, pc).cost;
        s->mix.warp_instructions[cost] += b->executions;
        s->mix.thread_instructions[cost] += b->lanes;
    }
    s->warp_instructions += b->executions * b->ninsns;
    s->thread_instructions += b->lanes * b->ninsns;
}

static int by_pc(const void *a, const void *b)
{
    const obs_block_count *x = a, *y = b;
    return (x->first_pc > y->first_pc) - (x->first_pc < y->first_pc);
}

/* Basic blocks that the slice does not count. */
static wl_status add_blocks(const replay_recorded_launch *l, wl_arena *arena, obs_summary *s)
{
    const struct replay_recorded_trace *t = l->trace;
    uint32_t npcs = emu_kernel_get(t->slice)->ncode;
    obs_block_count *all = wl_new_array(arena, obs_block_count,
                                        s->nblocks + t->kernel->nblocks + 1);
    if (!all)
        return WL_NOMEM;
    uint32_t n = s->nblocks;
    if (n)
        memcpy(all, s->blocks, n * sizeof *all);
    for (uint32_t i = 0; i < t->kernel->nblocks; i++) {
        const rewrite_block *b = &t->kernel->blocks[i];
        obs_block_count one = {.first_pc = b->first_pc, .ninsns = b->ninsns};
        if (b->first_pc + b->ninsns > npcs || is_known(s, b->first_pc) ||
            !rewrite_read_block(&t->copy, i, &one.executions, &one.lanes))
            continue;
        all[n++] = one;
        add_mix(t, &one, s);
    }
    qsort(all, n, sizeof *all, by_pc);
    s->blocks = all;
    s->nblocks = n;
    return WL_OK;
}

/* Lanes by how many ran the block, where that is known: blocks at the edge of the data have
 * fewer. */
static void scale_lanes(const struct replay_recorded_trace *t, obs_insn *row, uint64_t lanes)
{
    const tally *seen = &t->seen[row->pc], *all = &t->counted[row->pc];
    if (all->executions != UINT64_MAX && seen->lanes && all->lanes >= seen->lanes)
        row->active_lanes = (uint64_t)llround((double)lanes * (double)all->lanes /
                                              (double)seen->lanes);
}

/* Where the slice shows how often a block runs, the device does not count it. */
static void use_counts(struct replay_recorded_trace *t, const obs_summary *s)
{
    for (uint32_t i = 0; i < s->nblocks; i++)
        if (t->counted[s->blocks[i].first_pc].executions == UINT64_MAX)
            count_block(t, s->blocks[i].first_pc, s->blocks[i].ninsns,
                        (tally){s->blocks[i].executions, s->blocks[i].lanes});
}

wl_status replay_recorded_finish(replay_recorded_launch *l, wl_arena *arena, obs_summary *s)
{
    use_counts(l->trace, s);
    for (uint32_t i = 0; i < s->ninsns; i++) {
        obs_insn *row = &s->insns[i];
        double share = l->covered[row->pc] ? share_of(l, row->pc) : 1;
        uint64_t lanes = row->active_lanes;
        if (share < 1) {
            replay_scale_row(row, share);
            scale_lanes(l->trace, row, lanes);
            l->estimated = true;
        }
    }
    s->dropped += l->dropped;
    return add_blocks(l, arena, s);
}
