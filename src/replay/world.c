/* Objects, modules, constants and kernels of a process, as its records tell of them. */
#include "replay/world.h"

#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ALIGNMENT = 512 };

static wl_status fail_nomem(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "out of memory while computing accesses");
}

/* ---- objects ---- */

static replay_world_object *world_object_of(const replay_world *w, uint32_t id)
{
    replay_world_object *o = NULL;
    HASH_FIND(hh, w->objects, &id, sizeof id, o);
    return o;
}

static emu_alloc_kind alloc_kind_of(uint32_t kind)
{
    static const emu_alloc_kind kinds[] = {
        [CAP_OBJECT_DEVICE] = EMU_ALLOC_DEVICE,   [CAP_OBJECT_PINNED] = EMU_ALLOC_PINNED,
        [CAP_OBJECT_MANAGED] = EMU_ALLOC_MANAGED, [CAP_OBJECT_REGISTERED] = EMU_ALLOC_REGISTERED,
        [CAP_OBJECT_SYMBOL] = EMU_ALLOC_SYMBOL,   [CAP_OBJECT_CONST] = EMU_ALLOC_CONST,
        [CAP_OBJECT_HEAP] = EMU_ALLOC_HEAP,       [CAP_OBJECT_ARRAY] = EMU_ALLOC_DEVICE};
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : EMU_ALLOC_DEVICE;
}

/* What lies where something new does has gone unseen. */
static wl_status add_ghost(replay_world *w, uint64_t base, uint64_t bytes, emu_alloc_kind kind,
                           uint32_t id)
{
    wl_status status = emu_mem_ghost(w->machine, base, bytes, kind, id);
    emu_alloc old;
    while (status == WL_EXISTS && (emu_mem_find(w->machine, base, &old) ||
                                   emu_mem_find(w->machine, base + bytes - 1, &old))) {
        emu_mem_free(w->machine, old.base);
        status = emu_mem_ghost(w->machine, base, bytes, kind, id);
    }
    return status == WL_NOMEM ? status : WL_OK; /* elsewhere it counts as unknown memory */
}

static wl_status add_constant(replay_world *w, replay_world_object *o)
{
    o->memory = calloc(1, o->bytes + 2 * ALIGNMENT);
    if (!o->memory)
        return WL_NOMEM;
    uint64_t from = ((uint64_t)(uintptr_t)o->memory + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    o->at = from + o->base % ALIGNMENT;
    o->known = true;
    return add_ghost(w, o->at, o->bytes, EMU_ALLOC_CONST, o->id);
}

/* What a constant of machine code holds at first; that of PTX is known when it is loaded, but not all of
 * it may be. */
static void fill_constant(replay_world_object *o, const replay_world_module *m)
{
    const cuda_variable *v = replay_source_constant(m->beside_number ? &m->beside : &m->source,
                                                    o->name);
    if (v && v->initial && v->bytes == o->bytes)
        memcpy((void *)(uintptr_t)o->at, v->initial, v->bytes);
}

static void forget_object(replay_world *w, replay_world_object *o)
{
    emu_alloc alloc;
    if (o->part)
        emu_mem_part_end(w->machine, o->base, o->id);
    else if (emu_mem_find(w->machine, o->base, &alloc) && alloc.id == o->id)
        emu_mem_free(w->machine, o->base);
    if (o->memory)
        emu_mem_free(w->machine, o->at);
    HASH_DEL(w->objects, o);
    free(o->memory);
    free(o->name);
    free(o);
}

static wl_status see_object(replay_world *w, const cap_object *r, wl_error *err)
{
    replay_world_module *m = NULL;
    replay_world_object *o = world_object_of(w, r->id);
    if (o)
        forget_object(w, o);
    if (!r->bytes)
        return WL_OK;
    o = calloc(1, sizeof *o);
    if (!o)
        return fail_nomem(err);
    *o = (replay_world_object){
        .id = r->id, .base = r->base, .bytes = r->bytes, .part = r->parent != 0};
    HASH_ADD(hh, w->objects, id, sizeof o->id, o);
    if (o->part)
        return emu_mem_part(w->machine, r->base, r->bytes, r->id) == WL_NOMEM ? fail_nomem(err)
                                                                              : WL_OK;
    wl_status status = add_ghost(w, r->base, r->bytes, alloc_kind_of(r->kind), r->id);
    HASH_FIND(hh, w->modules, &r->module, sizeof r->module, m);
    if (status == WL_OK && m) {
        o->name = strdup(r->name);
        status = o->name && wl_push(&m->variables, r->id) ? WL_OK : WL_NOMEM;
    }
    if (status == WL_OK && m && r->kind == CAP_OBJECT_CONST)
        status = add_constant(w, o);
    if (status == WL_OK && m && o->memory)
        fill_constant(o, m);
    return status == WL_OK ? WL_OK : fail_nomem(err);
}

bool replay_world_find(void *ctx, uint64_t address, emu_alloc *out)
{
    return emu_mem_find_object(((replay_world *)ctx)->machine, address, out);
}

bool replay_world_find_object(void *ctx, uint32_t object, emu_alloc *out)
{
    const replay_world_object *o = world_object_of(ctx, object);
    return o && emu_mem_find_id(((replay_world *)ctx)->machine, o->base, object, out);
}

/* ---- modules ---- */

/* Of PTX that nobody has seen it is as good as nothing. */
static wl_status see_code_beside(replay_world *w, const cap_module *r, wl_error *err)
{
    replay_world_module *m = NULL;
    HASH_FIND(hh, w->modules, &r->beside, sizeof r->beside, m);
    if (!m || m->beside_number || m->source.kind != CAP_MODULE_PTX)
        return WL_OK;
    m->beside_number = r->id;
    return replay_source_take(r, &m->beside) == WL_OK ? WL_OK : fail_nomem(err);
}

static wl_status see_module(replay_world *w, const cap_module *r, wl_error *err)
{
    replay_world_module *m = NULL;
    if (r->beside)
        return see_code_beside(w, r, err);
    HASH_FIND(hh, w->modules, &r->id, sizeof r->id, m);
    if (m)
        return WL_OK;
    m = calloc(1, sizeof *m);
    if (!m)
        return fail_nomem(err);
    m->id = r->id;
    HASH_ADD(hh, w->modules, id, sizeof m->id, m);
    return replay_source_take(r, &m->source) == WL_OK ? WL_OK : fail_nomem(err);
}

static replay_world_object *variable_of(const replay_world *w, const replay_world_module *m,
                                        const char *name)
{
    for (size_t i = 0; i < m->variables.count; i++) {
        replay_world_object *o = world_object_of(w, m->variables.data[i]);
        if (o && o->name && strcmp(o->name, name) == 0)
            return o;
    }
    return NULL;
}

typedef struct placing {
    const replay_world *w;
    const replay_world_module *m;
} placing;

static uint64_t variable_address_of(void *ctx, const ir_var *var, uint64_t size)
{
    const placing *p = ctx;
    const replay_world_object *o = variable_of(p->w, p->m, var->name);
    bool constant = var->space == IR_SPACE_CONST;
    return !o || o->bytes < size ? 0 : constant ? o->at : o->base;
}

static replay_code *find_kernel_code(replay_world *w, replay_world_module *m, replay_source *source,
                                     const char *kernel)
{
    placing p = {w, m};
    return replay_code_of(source, kernel, w->machine, variable_address_of, &p);
}

static void kernel_free(replay_world_kernel *k)
{
    for (replay_world_kernel *v = k->variants, *next; v; v = next) {
        next = v->next;
        kernel_free(v);
    }
    replay_fills_clear(&k->fills);
    replay_arrays_clear(&k->arrays);
    replay_path_clear(&k->path);
    replay_doors_clear(&k->doors);
    wl_arena_free(k->arena);
    replay_shapes_free(k->shapes);
    replay_shapes_free(k->tried);
    free(k->name);
    free(k);
}

static void kernels_free(replay_world_kernel **kernels)
{
    replay_world_kernel *k, *next;
    HASH_ITER (hh, *kernels, k, next) {
        HASH_DEL(*kernels, k);
        kernel_free(k);
    }
}

static void module_free(replay_world_module *m)
{
    replay_source_unload(&m->source); /* its slices use the proofs */
    replay_source_unload(&m->beside);
    kernels_free(&m->kernels);
    kernels_free(&m->machine);
    replay_source_clear(&m->source);
    replay_source_clear(&m->beside);
    wl_vec_free(&m->variables);
    free(m);
}

/* ---- kernels ---- */

/* Of machine code an instruction has one gap, and none for its constants. */
static void tell_gap(replay_world_kernel *k, const cap_gap *gap)
{
    const ir_insn *insn = ir_kernel_at(&k->facts.code, gap->pc).insn;
    uint32_t pc = replay_code_pc(k->code, gap->pc);
    bool again = k->ntold && k->told[k->ntold - 1].pc == pc;
    if (!k->code->machine || (!again && insn->space != IR_SPACE_CONST))
        k->told[k->ntold++] = (cap_gap){pc, gap->reason};
}

static wl_status list_kernel_gaps(replay_world_kernel *k)
{
    const replay_facts *f = &k->facts;
    k->gaps = wl_new_array(k->arena, cap_gap, f->proof.npcs + 1);
    k->told = wl_new_array(k->arena, cap_gap, f->proof.npcs + 1);
    if (!k->gaps || !k->told)
        return WL_NOMEM;
    for (uint32_t pc = 0; pc < f->proof.npcs; pc++) {
        const char *reason = replay_gap(f, k->slice, k->code->machine, pc, k->arena);
        k->shown += f->proof.flags[pc] & FLOW_PC_MEMORY && emu_slice_shows(k->slice, pc);
        if (!reason)
            continue;
        k->gaps[k->ngaps] = (cap_gap){pc, reason};
        tell_gap(k, &k->gaps[k->ngaps++]);
    }
    return WL_OK;
}

static wl_status prepare_kernel(replay_world *w, replay_world_module *m, replay_world_kernel *k)
{
    wl_error *err = &k->error;
    const replay_code *code = k->code = find_kernel_code(w, m, k->source, k->name);
    if (!code)
        return fail_nomem(err);
    if (code->status != WL_OK)
        return wl_fail(err, code->status == WL_NOMEM ? WL_NOMEM : WL_UNSUPPORTED, "%s%s",
                       code->kernel[0] ? "" : "its module cannot be read: ", code->error.text);
    const ir_func *func = ir_module_kernel(code->ir, k->name);
    if (!func)
        return wl_fail(err, WL_NOENT, "its module has no such kernel");
    if (replay_facts_of(code->ir, func, k->decided, k->arena, &k->facts) != WL_OK)
        return fail_nomem(err);
    wl_status status = emu_module_slice(code->loaded, k->name, &k->facts.proof, &k->slice, err);
    return status == WL_OK && list_kernel_gaps(k) != WL_OK ? fail_nomem(err) : status;
}

/* `decided`: NULL, or `count` bytes, which are copied. */
static replay_world_kernel *make_world_kernel(replay_world *w, replay_world_module *m,
                                              replay_source *source, const char *name,
                                              const uint8_t *decided, uint32_t count)
{
    replay_world_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->name = strdup(name);
    k->arena = wl_arena_new();
    uint8_t *copy = decided && k->arena ? wl_new_array(k->arena, uint8_t, count + 1) : NULL;
    if (!k->name || !k->arena || (decided && !copy)) {
        kernel_free(k);
        return NULL;
    }
    if (decided)
        k->decided = memcpy(copy, decided, count);
    k->number = ++w->nkernels;
    k->source = source;
    k->status = prepare_kernel(w, m, k);
    return k;
}

static wl_status find_world_kernel(replay_world *w, replay_world_module *m, bool machine,
                                   const char *name, replay_world_kernel **out, wl_error *err)
{
    replay_world_kernel **of = machine ? &m->machine : &m->kernels, *k = NULL;
    HASH_FIND_STR(*of, name, k);
    if (!k && (k = make_world_kernel(w, m, machine ? &m->beside : &m->source, name, NULL, 0)))
        HASH_ADD_KEYPTR(hh, *of, k->name, strlen(k->name), k);
    *out = k;
    if (!k)
        return fail_nomem(err);
    if (k->status != WL_OK)
        *err = k->error;
    return k->status;
}

wl_status replay_world_find_kernel(replay_world *w, uint32_t module, const char *name,
                                   replay_world_kernel **out, wl_error *err)
{
    replay_world_module *m = NULL;
    HASH_FIND(hh, w->modules, &module, sizeof module, m);
    return m ? find_world_kernel(w, m, false, name, out, err)
             : wl_fail(err, WL_NOENT, "its code is not known");
}

wl_status replay_world_find_machine(replay_world *w, uint32_t module, const char *name,
                                    replay_world_kernel **out, uint32_t *number, wl_error *err)
{
    replay_world_module *m = NULL;
    HASH_FIND(hh, w->modules, &module, sizeof module, m);
    if (!m || !m->beside_number)
        return WL_NOENT;
    *number = m->beside_number;
    return find_world_kernel(w, m, true, name, out, err);
}

bool replay_world_has_kernel(const replay_world *w, uint32_t module, const char *name)
{
    replay_world_module *m = NULL;
    replay_world_kernel *k = NULL;
    HASH_FIND(hh, w->modules, &module, sizeof module, m);
    if (m)
        HASH_FIND_STR(m->kernels, name, k);
    return k != NULL;
}

/* ---- what launches decide ---- */

enum { MAX_VARIANTS = 64 }; /* of a kernel: launches that decide otherwise have it as it is */

static bool decides_anything(const uint8_t *decided, uint32_t count)
{
    for (uint32_t pc = 0; pc < count; pc++)
        if (decided[pc] != FLOW_DECIDED_OPEN)
            return true;
    return false;
}

/* NULL: out of memory, or there are too many. */
static replay_world_kernel *variant_of(replay_world *w, replay_world_module *m,
                                       replay_world_kernel *k, const uint8_t *decided)
{
    uint32_t count = 0, npcs = k->facts.code.npcs;
    for (replay_world_kernel *v = k->variants; v; v = v->next, count++)
        if (memcmp(v->decided, decided, npcs) == 0)
            return v;
    replay_world_kernel *v = count < MAX_VARIANTS
                                 ? make_world_kernel(w, m, k->source, k->name, decided, npcs)
                                 : NULL;
    if (v) {
        v->next = k->variants;
        k->variants = v;
    }
    return v;
}

/* NULL: the launch decides nothing, or there are too many that decide otherwise. */
static wl_status find_variant(replay_world *w, uint32_t module, const flow_launch *launch,
                              replay_world_kernel *k, replay_world_kernel **variant)
{
    replay_world_module *m = NULL;
    uint32_t npcs = k->facts.code.npcs;
    *variant = NULL;
    HASH_FIND(hh, w->modules, &module, sizeof module, m);
    if (!m)
        return WL_OK;
    if (!k->asked)
        k->asked = flow_kernel_new(&k->facts.code, k->arena);
    uint8_t *decided = malloc(npcs + 1);
    wl_status status = k->asked && decided ? flow_decide(k->asked, launch, decided) : WL_NOMEM;
    if (status == WL_OK && decides_anything(decided, npcs))
        *variant = variant_of(w, m, k, decided);
    free(decided);
    return status;
}

wl_status replay_world_decide(replay_world *w, uint32_t module, const flow_launch *launch,
                              replay_world_kernel **kernel)
{
    replay_world_kernel *k = *kernel, *v = NULL;
    wl_status status = k->ngaps ? find_variant(w, module, launch, k, &v) : WL_OK;
    if (v && v->status == WL_OK && v->ngaps < k->ngaps)
        *kernel = v;
    return status;
}

static uint32_t bytes_used(const replay_world_kernel *k)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < k->facts.param_bytes; i++)
        used += k->facts.param_used[i];
    return used;
}

wl_status replay_world_narrow(replay_world *w, uint32_t module, const flow_launch *launch,
                              replay_world_kernel **kernel)
{
    replay_world_kernel *k = *kernel, *v = NULL;
    wl_status status = k->decided ? WL_OK : find_variant(w, module, launch, k, &v);
    if (v && v->status == WL_OK && v->ngaps <= k->ngaps && bytes_used(v) < bytes_used(k))
        *kernel = v;
    return status;
}

/* ---- constants ---- */

static wl_status see_symbol(replay_world *w, const cap_symbol *r, wl_error *err)
{
    replay_world_object *o = world_object_of(w, r->object);
    replay_world_module *m, *next;
    (void)err;
    if (!o || !o->memory)
        return WL_OK;
    HASH_ITER (hh, w->modules, m, next) { /* initial values come first */
        bool loads = m->source.kind == CAP_MODULE_PTX && !replay_source_tried(&m->source);
        for (size_t i = 0; i < m->variables.count && loads; i++)
            if (m->variables.data[i] == r->object)
                (void)find_kernel_code(w, m, &m->source, "");
    }
    bool fits = r->length && r->offset <= o->bytes && r->length <= o->bytes - r->offset;
    if (fits)
        memcpy((void *)(uintptr_t)(o->at + r->offset), r->data, r->length);
    o->known = fits && (o->known || r->length == o->bytes);
    return WL_OK;
}

/* Puts what the program's constants hold now where machine code reads them. False, with a name, where
 * that is not known of one. */
static bool fill_program_bank(const replay_world *w, const replay_world_module *m,
                              const replay_world_kernel *k, uint64_t *hash, const char **unknown)
{
    uint64_t bytes = 0;
    const cuda_variables *variables = &k->source->variables;
    unsigned char *bank = replay_code_program_bank(k->code, &bytes);
    for (size_t i = 0; bank && i < variables->count; i++) {
        const cuda_variable *v = &variables->list[i];
        const replay_world_object *o = v->constant ? variable_of(w, m, v->name) : NULL;
        *unknown = v->name;
        if (!v->constant)
            continue;
        if (!o || !o->memory || !o->known || o->bytes != v->bytes || v->offset > bytes ||
            v->bytes > bytes - v->offset)
            return false;
        memcpy(bank + v->offset, (const void *)(uintptr_t)o->at, v->bytes);
    }
    *hash = bank ? XXH64(bank, bytes, *hash + 1) : *hash;
    return bank != NULL;
}

static bool see_constant(const replay_world *w, const replay_world_module *m, const ir_var *var,
                         uint64_t *hash, const char **unknown)
{
    const replay_world_object *o = variable_of(w, m, var->name);
    *unknown = var->name;
    if (!o || !o->memory || !o->known)
        return false;
    *hash = XXH64((const void *)(uintptr_t)o->at, o->bytes, *hash + 1);
    return true;
}

bool replay_world_constants(replay_world *w, uint32_t module, const replay_world_kernel *kernel,
                            uint64_t *hash, const char **unknown)
{
    const replay_facts *facts = &kernel->facts;
    replay_world_module *m = NULL;
    HASH_FIND(hh, w->modules, &module, sizeof module, m);
    *hash = 0;
    for (uint32_t i = 0; m && i < facts->nconstants; i++) {
        const ir_var *var = facts->constants[i];
        bool known = replay_code_settled(kernel->code, var) ||
                     (replay_code_is_program_bank(kernel->code, var)
                          ? fill_program_bank(w, m, kernel, hash, unknown)
                          : see_constant(w, m, var, hash, unknown));
        if (!known)
            return false;
    }
    return true;
}

uint64_t replay_world_constant(replay_world *w, uint32_t module, const char *name)
{
    replay_world_module *m = NULL;
    HASH_FIND(hh, w->modules, &module, sizeof module, m);
    const replay_world_object *o = m ? variable_of(w, m, name) : NULL;
    return o && o->memory ? o->at : 0;
}

static void place_heat_rows(const replay_world_object *o, obs_heat *heat)
{
    uint64_t from = o->at / OBS_SECTOR_BYTES, to = (o->at + o->bytes - 1) / OBS_SECTOR_BYTES;
    for (uint32_t i = 0; i < heat->nrows; i++)
        if (heat->rows[i].sector >= from && heat->rows[i].sector <= to)
            heat->rows[i].sector += o->base / OBS_SECTOR_BYTES - from;
}

void replay_world_place_constants(replay_world *w, obs_summary *summary)
{
    for (uint32_t i = 0; i < summary->nheats; i++) {
        obs_heat *heat = &summary->heats[i];
        bool shared = heat->space == ACC_SHARED || heat->space == ACC_LOCAL;
        const replay_world_object *o = shared ? NULL : world_object_of(w, heat->object);
        if (o && o->memory)
            place_heat_rows(o, heat);
    }
}

/* ---- the whole ---- */

/* What a slice can see of a device; limits that a launch on it has passed do not matter. */
static wl_status see_device(replay_world *w, const cap_device *r, wl_error *err)
{
    emu_device device = {.sm = r->cc_major * 10 + r->cc_minor,
                         .num_sms = r->num_sms ? r->num_sms : 1,
                         .max_threads_per_block = 1024,
                         .max_blocks_per_sm = 32,
                         .max_threads_per_sm = 2048,
                         .global_bytes = r->global_bytes};
    if (w->machine)
        return WL_OK;
    w->multiprocessors = r->num_sms;
    return emu_machine_new_replay(&device, &w->machine, err);
}

static void see_free(replay_world *w, const cap_free *r)
{
    replay_world_object *o = world_object_of(w, r->object);
    if (o)
        forget_object(w, o);
}

wl_status replay_world_see(replay_world *w, const cap_record *record, wl_error *err)
{
    if (record->type == CAP_DEVICE)
        return see_device(w, &record->device, err);
    if (!w->machine)
        return WL_OK;
    switch (record->type) {
    case CAP_MODULE: return see_module(w, &record->module, err);
    case CAP_OBJECT: return see_object(w, &record->object, err);
    case CAP_FREE: see_free(w, &record->free); return WL_OK;
    case CAP_SYMBOL: return see_symbol(w, &record->symbol, err);
    case CAP_TENSOR:
        return replay_maps_see(&w->maps, &record->tensor) == WL_OK ? WL_OK : fail_nomem(err);
    default: return WL_OK;
    }
}

void replay_world_clear(replay_world *w)
{
    replay_world_object *o, *next_object;
    replay_world_module *m, *next_module;
    HASH_ITER (hh, w->modules, m, next_module) {
        HASH_DEL(w->modules, m);
        module_free(m);
    }
    HASH_ITER (hh, w->objects, o, next_object) {
        forget_object(w, o);
    }
    replay_maps_clear(&w->maps);
    emu_machine_free(w->machine);
    *w = (replay_world){0};
}
