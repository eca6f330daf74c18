/* Kernels: their code with source lines, and the objects that belong to a kernel (shared and local
 * memory). */
#include "profile/builder.h"

#include "ir/kernel.h"
#include "profile/demangle.h"
#include "ptx/ptx.h"
#include "sass/body.h"
#include "sass/lift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_TEXT = 512,
    MAX_CHAIN = 64,      /* inlined into one another */
    MAX_CUBIN = 1 << 20, /* compressed bytes: a profile keeps no longer one */
};

static const char no_ptx[] = "the capture has no PTX of it";

/* ---- modules ---- */

static void parse_module(prof_builder *b, module *m)
{
    wl_error err = {0};
    m->tried = true;
    if (m->kind != CAP_MODULE_PTX) { /* its kernels are read one by one */
        m->why_not = no_ptx;
        cuda_cubin_layouts(m->code, m->length, &m->layouts);
        return;
    }
    if (ir_read(&ptx_front, m->code, m->length, m->name, &m->ptx, &err) != WL_OK) {
        m->ptx = NULL;
        m->why_not = wl_arena_strdup(b->arena, err.text);
        return;
    }
    m->locs = wl_new_array(b->arena, uint32_t, (size_t)m->ptx->nlocs + 1);
    m->files = wl_new_array(b->arena, uint32_t, (size_t)m->ptx->nfiles + 1);
    b->nomem |= !m->locs || !m->files;
}

static wl_status write_module(prof_builder *b, module *m, wl_error *err)
{
    if (blob_compress(m->code, m->length, &b->compressed) != WL_OK)
        return NOMEM(err);
    bool keep = m->kind == CAP_MODULE_PTX || b->compressed.size <= MAX_CUBIN;
    m->id = ++b->nmodules;
    const row_module row = {.id = m->id,
                            .kind = m->kind,
                            .name = m->name,
                            .hash = m->hash,
                            .bytes = m->length,
                            .code = {keep ? b->compressed.data : NULL, b->compressed.size}};
    return table_insert_modules(b->insert[TABLE_modules], &row, err);
}

static module *find_parsed_module(prof_builder *b, uint32_t number)
{
    module_entry *entry = NULL;
    HASH_FIND(hh, b->process.modules, &number, sizeof number, entry);
    if (!entry)
        return NULL;
    if (!entry->found->tried)
        parse_module(b, entry->found);
    return entry->found;
}

void builder_modules_free(prof_builder *b)
{
    for (module *m = b->modules; m; m = m->hh.next) {
        ir_module_free(m->ptx);
        cuda_layouts_clear(&m->layouts);
    }
    HASH_CLEAR(hh, b->modules);
}

/* ---- locations ---- */

static const char *inlined_function(prof_builder *b, const ir_module *code, const ir_loc *loc)
{
    const char *mangled = ir_inlined_from(code, loc, b->arena);
    return !mangled || !*mangled ? mangled : prof_demangle(b->arena, mangled);
}

/* The profile's id of a file that the module numbers. */
static uint32_t loc_file(prof_builder *b, const module *m, uint32_t number)
{
    for (uint32_t i = 0; i < m->ptx->nfiles; i++) {
        const ir_file *file = &m->ptx->files[i];
        if (file->number == number) {
            if (!m->files[i])
                m->files[i] = sources_id(b->sources, file->path, b->process.directory);
            return m->files[i];
        }
    }
    return 0;
}

/* One row, the same id for equal ones. */
static wl_status intern_loc(prof_builder *b, uint32_t file, const ir_loc *loc, const char *function,
                            uint32_t inlined_at, uint32_t *id, wl_error *err)
{
    char *key = wl_arena_printf(b->arena, "%u %u %u %u %s", file, loc->line, loc->column,
                                inlined_at, function);
    loc_entry *entry = NULL;
    if (!key)
        return NOMEM(err);
    HASH_FIND_STR(b->locs, key, entry);
    if (entry) {
        *id = entry->id;
        return WL_OK;
    }
    entry = wl_new(b->arena, loc_entry);
    if (!entry)
        return NOMEM(err);
    *entry = (loc_entry){.key = key, .id = ++b->nlocs};
    HASH_ADD_KEYPTR(hh, b->locs, key, strlen(key), entry);
    *id = entry->id;
    const prof_loc row = {*id, file, loc->line, loc->column, function, inlined_at};
    return table_insert_locs(b->insert[TABLE_locs], &row, err);
}

/* The profile's id for a location of the module; outer ones are written first. */
static wl_status write_loc(prof_builder *b, module *m, uint32_t index, int depth, uint32_t *id,
                           wl_error *err)
{
    *id = 0;
    if (index >= m->ptx->nlocs || depth > MAX_CHAIN)
        return WL_OK;
    if (m->locs[index]) {
        *id = m->locs[index];
        return WL_OK;
    }
    const ir_loc *loc = &m->ptx->locs[index];
    uint32_t outer = 0, file = loc_file(b, m, loc->file);
    wl_status status = WL_OK;
    if (loc->inlined_at != IR_NONE)
        status = write_loc(b, m, loc->inlined_at, depth + 1, &outer, err);
    const char *function = inlined_function(b, m->ptx, loc);
    if (status != WL_OK || !function)
        return status != WL_OK ? status : NOMEM(err);
    if (!file)
        return b->nomem ? NOMEM(err) : WL_OK;
    status = intern_loc(b, file, loc, function, outer, id, err);
    m->locs[index] = *id;
    return status;
}

/* Where a location counts: the innermost place of its chain that is no system header, else the
 * outermost. */
static const ir_loc *counting_loc(prof_builder *b, const module *m, uint32_t index)
{
    const ir_loc *loc = NULL;
    for (int depth = 0; index < m->ptx->nlocs && depth <= MAX_CHAIN; depth++) {
        loc = &m->ptx->locs[index];
        uint32_t file = loc_file(b, m, loc->file);
        if (file && !sources_system(b->sources, file))
            break;
        index = loc->inlined_at;
    }
    return loc;
}

static const ir_loc *outermost(const ir_module *ptx, uint32_t index)
{
    for (int depth = 0; ptx->locs[index].inlined_at < ptx->nlocs && depth <= MAX_CHAIN; depth++)
        index = ptx->locs[index].inlined_at;
    return &ptx->locs[index];
}

/* ---- code ---- */

typedef struct body {
    prof_builder *b;
    module *m;
    ir_kernel code;
    const char **functions; /* demangled, by index in code */
    uint32_t nblocks;
    uint32_t *blocks;   /* by pc */
    code_place *places; /* likewise */
} body;

static uint32_t ncode(const body *c)
{
    return c->code.npcs;
}

/* Numbers basic blocks as the emulator does: one that is empty, at the end of a function, counts.
 */
static bool set_blocks(body *c)
{
    c->blocks = wl_new_array(c->b->arena, uint32_t, ncode(c));
    for (uint32_t f = 0; c->blocks && f < c->code.count; f++) {
        uint32_t first = c->code.first_pc[f], end = c->code.first_pc[f + 1];
        for (uint32_t pc = first; pc <= end; pc++) {
            c->nblocks += c->code.leader[pc + f];
            if (pc < end)
                c->blocks[pc] = c->nblocks - 1;
        }
    }
    return c->blocks != NULL;
}

static wl_status write_code_row(body *c, kernel *k, uint32_t function, uint32_t i, wl_error *err)
{
    const ir_func *f = c->code.funcs[function];
    const ir_insn *insn = &f->insns[i];
    uint32_t pc = c->code.first_pc[function] + i, loc = 0, file = 0;
    char text[MAX_TEXT], op[MAX_TEXT];
    ir_insn_text(c->m->ptx, f, insn, text, sizeof text);
    wl_status status = write_loc(c->b, c->m, insn->loc, 0, &loc, err);
    const ir_loc *counts = counting_loc(c->b, c->m, insn->loc);
    if (status != WL_OK)
        return status;
    if (counts)
        file = loc_file(c->b, c->m, counts->file);
    if (!k->file && counts)
        k->file = loc_file(c->b, c->m, outermost(c->m->ptx, insn->loc)->file);
    c->places[pc] = (code_place){insn->pos.line, file, file ? counts->line : 0};
    const prof_code row = {.kernel = k->id,
                           .pc = pc,
                           .text = text,
                           .op = ir_insn_name(insn, op, sizeof op),
                           .function = c->functions[function],
                           .ptx_line = insn->pos.line,
                           .block = c->blocks[pc],
                           .loc = loc,
                           .file = file,
                           .line = file ? counts->line : 0,
                           .column = file ? counts->column : 0};
    return table_insert_code(c->b->insert[TABLE_code], &row, err);
}

static wl_status write_code(body *c, kernel *k, wl_error *err)
{
    c->places = wl_new_array(c->b->process.arena, code_place, (size_t)ncode(c) + 1);
    wl_status status = c->places ? WL_OK : NOMEM(err);
    for (uint32_t f = 0; f < c->code.count; f++)
        for (uint32_t i = 0; i < c->code.funcs[f]->ninsns && status == WL_OK; i++)
            status = write_code_row(c, k, f, i, err);
    return status;
}

/* The first line of the kernel itself: the outermost place of its first instruction that has
 * one. */
static uint32_t first_line(const body *c)
{
    const ir_func *f = c->code.funcs[0];
    for (uint32_t i = 0; i < f->ninsns; i++)
        if (f->insns[i].loc < c->m->ptx->nlocs)
            return outermost(c->m->ptx, f->insns[i].loc)->line;
    return 0;
}

static bool set_functions(body *c)
{
    c->functions = wl_new_array(c->b->process.arena, const char *, c->code.count);
    for (uint32_t i = 0; c->functions && i < c->code.count; i++) {
        c->functions[i] = prof_demangle(c->b->arena, c->code.funcs[i]->name);
        if (!c->functions[i])
            return false;
    }
    return c->functions != NULL;
}

typedef struct shape_of_code {
    uint32_t ninsns, nblocks;
} shape_of_code;

static wl_status write_kernel_row(prof_builder *b, const kernel *k, const cap_launch *launch,
                                  const module *m, const shape_of_code *shape,
                                  const machine_facts *machine, const char *missing, wl_error *err)
{
    const char *name = prof_demangle(b->arena, launch->kernel);
    if (!name)
        return NOMEM(err);
    const prof_kernel row = {.id = k->id,
                             .name = name,
                             .short_name = k->short_name,
                             .mangled = launch->kernel,
                             .module_id = m ? m->id : 0,
                             .file = k->file,
                             .line = k->file ? k->line : 0,
                             .ncode = shape ? shape->ninsns : 0,
                             .nblocks = shape ? shape->nblocks : 0,
                             .machine_sm = machine ? machine->sm : 0,
                             .machine_missing = machine ? machine->why_not : missing,
                             .missing = missing};
    return table_insert_kernels(b->insert[TABLE_kernels], &row, err);
}

static wl_status write_body(prof_builder *b, kernel *k, const cap_launch *launch, module *m,
                            wl_error *err)
{
    const ir_func *func = ir_module_kernel(m->ptx, launch->kernel);
    if (!func)
        return write_kernel_row(b, k, launch, m, NULL, NULL, "the module's PTX does not define it",
                                err);
    body c = {.b = b, .m = m};
    if (ir_kernel_of(m->ptx, func, b->process.arena, &c.code) != WL_OK || !set_blocks(&c) ||
        !set_functions(&c)) {
        return NOMEM(err);
    }
    wl_status status = write_code(&c, k, err);
    status = status == WL_OK ? builder_parameters(b, k->id, func, err) : status;
    machine_facts machine = {.why_not = ""};
    k->ncode = ncode(&c);
    k->places = c.places;
    if (status == WL_OK)
        status = builder_facts(b, k, &c.code, m, launch->device, &machine, err);
    k->places = NULL;
    k->registers = machine.registers;
    k->line = first_line(&c);
    k->blocks = c.blocks;
    const shape_of_code shape = {ncode(&c), c.nblocks};
    return status == WL_OK ? write_kernel_row(b, k, launch, m, &shape, &machine, "", err) : status;
}

static wl_status write_without_ptx(prof_builder *b, const kernel *k, const cap_launch *launch,
                                   const module *m, wl_error *err)
{
    const cuda_layout *layout = cuda_layout_of(&m->layouts, launch->kernel);
    wl_status status = layout ? builder_layout(b, k->id, layout, err) : WL_OK;
    const char *why = m->why_not ? m->why_not : "its PTX cannot be read";
    return status == WL_OK ? write_kernel_row(b, k, launch, m, NULL, NULL, why, err) : status;
}

/* ---- machine code ---- */

static bool set_machine_blocks(prof_builder *b, const sass_body *code, kernel *k, uint32_t *nblocks)
{
    k->ncode = code->count;
    k->blocks = wl_new_array(b->arena, uint32_t, k->ncode + 1);
    *nblocks = 0;
    for (uint32_t i = 0; k->blocks && i < k->ncode; i++) {
        *nblocks += code->leader[i];
        k->blocks[i] = *nblocks - 1;
    }
    return k->blocks != NULL;
}

/* The profile's id of the file that the lifted code numbers so; 0: it has no name that can be told. */
static uint32_t machine_file(prof_builder *b, const sass_body *code, uint32_t number)
{
    for (uint32_t i = 0; number && i < code->module->nfiles; i++)
        if (code->module->files[i].number == number)
            return sources_id(b->sources, code->module->files[i].path, b->process.directory);
    return 0;
}

/* A cubin's table of lines has one place of each instruction, and not where that was inlined. The kernel is
 * taken to begin where the first one does that is of no system header. */
static wl_status find_machine_line(prof_builder *b, const sass_body *code, uint32_t insn, kernel *k,
                                   prof_code *row, wl_error *err)
{
    const ir_loc loc = {.line = code->insns[insn].source_line, .inlined_at = IR_NONE};
    row->file = machine_file(b, code, code->insns[insn].source_file);
    if (!row->file)
        return b->nomem ? NOMEM(err) : WL_OK;
    row->line = loc.line;
    if (!k->file && !sources_system(b->sources, row->file)) {
        k->file = row->file;
        k->line = row->line;
    }
    return intern_loc(b, row->file, &loc, "", 0, &row->loc, err);
}

static wl_status write_machine_code(prof_builder *b, const sass_body *code, kernel *k,
                                    const char *function, wl_error *err)
{
    char text[MAX_TEXT], op[MAX_TEXT];
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < k->ncode && status == WL_OK; i++) {
        prof_code row = {.kernel = k->id,
                         .pc = i,
                         .text = sass_body_text(code, i, text, sizeof text),
                         .op = sass_body_name(code, i, op, sizeof op),
                         .function = function,
                         .ptx_line = code->insns[i].line,
                         .block = k->blocks[i]};
        status = find_machine_line(b, code, i, k, &row, err);
        if (status == WL_OK)
            status = table_insert_code(b->insert[TABLE_code], &row, err);
    }
    return status;
}

static wl_status write_machine_facts(prof_builder *b, const kernel *k, const cap_launch *launch,
                                     const sass_body *code, wl_error *err)
{
    ir_kernel lifted;
    const ir_func *func = ir_module_kernel(code->module, launch->kernel);
    if (!func || ir_kernel_of(code->module, func, b->process.arena, &lifted) != WL_OK)
        return NOMEM(err);
    return builder_lifted_facts(b, k->id, &lifted, code, err);
}

static wl_status write_machine_body(prof_builder *b, kernel *k, const cap_launch *launch, module *m,
                                    const sass_body *code, wl_error *err)
{
    const cuda_layout *layout = cuda_layout_of(&m->layouts, launch->kernel);
    const char *function = prof_demangle(b->arena, launch->kernel);
    uint32_t nblocks = 0;
    if (!function || !set_machine_blocks(b, code, k, &nblocks))
        return NOMEM(err);
    k->registers = code->registers;
    wl_status status = write_machine_code(b, code, k, function, err);
    if (status == WL_OK && layout)
        status = builder_layout(b, k->id, layout, err);
    if (status == WL_OK)
        status = write_machine_facts(b, k, launch, code, err);
    const shape_of_code shape = {k->ncode, nblocks};
    const machine_facts facts = {.sm = code->sm, .why_not = ""};
    return status == WL_OK ? write_kernel_row(b, k, launch, m, &shape, &facts, "", err) : status;
}

/* What is listed beside it: the PTX that ptxas kept in it, and code that could not be lifted. */
static wl_status write_machine_listings(prof_builder *b, const kernel *k, const cap_launch *launch,
                                        const module *m, wl_error *err)
{
    sass_code code;
    const listed_code listed = {.code = &code, .device_sm = builder_device_sm(b, launch->device)};
    wl_arena *arena = wl_arena_new();
    wl_status status = arena ? sass_code_read(m->code, m->length, cuda_cubin_sm(m->code, m->length),
                                              launch->kernel, arena, &code, NULL)
                             : WL_NOMEM;
    bool read = status == WL_OK;
    if (read && !k->ncode)
        status = builder_machine_listing(b, k, &listed, arena, err);
    if (read && status == WL_OK)
        status = builder_kept_ptx(b, k, launch->kernel, &code, arena, err);
    wl_arena_free(arena);
    if (!read)
        return status == WL_NOMEM ? NOMEM(err) : WL_OK;
    return status;
}

/* Of a cubin's kernel all that its machine code tells, where that can be lifted: then launches are
 * replayed, and have its numbers. */
static wl_status write_machine(prof_builder *b, kernel *k, const cap_launch *launch, module *m,
                               wl_error *err)
{
    wl_error why = {0};
    sass_body code = {0};
    wl_arena *arena = wl_arena_new();
    wl_status status = arena ? sass_body_read(m->code, m->length, cuda_cubin_sm(m->code, m->length),
                                              launch->kernel, arena, &code, &why)
                             : WL_NOMEM;
    if (status == WL_OK)
        status = write_machine_body(b, k, launch, m, &code, err);
    else if (status == WL_NOMEM)
        (void)NOMEM(err);
    else
        status = write_without_ptx(b, k, launch, m, err);
    sass_body_clear(&code);
    wl_arena_free(arena);
    return status == WL_OK ? write_machine_listings(b, k, launch, m, err) : status;
}

static wl_status make_kernel(prof_builder *b, const cap_launch *launch, module *m, kernel *k,
                             wl_error *err)
{
    const char *name = prof_demangle(b->arena, launch->kernel);
    const char *short_name = name ? prof_short_name(b->arena, name) : NULL;
    k->short_name = short_name ? prof_heading_name(b->arena, short_name) : NULL;
    k->id = ++b->nkernels;
    if (!k->short_name || b->nomem)
        return NOMEM(err);
    if (!m)
        return write_kernel_row(b, k, launch, NULL, NULL, NULL, no_ptx, err);
    wl_status status = m->id ? WL_OK : write_module(b, m, err);
    if (status != WL_OK)
        return status;
    if (m->kind == CAP_MODULE_CUBIN)
        return write_machine(b, k, launch, m, err);
    return m->ptx ? write_body(b, k, launch, m, err) : write_without_ptx(b, k, launch, m, err);
}

static char *kernel_map_key(prof_builder *b, const module *m, const char *mangled)
{
    return wl_arena_printf(b->process.arena, "%llx %s", m ? (unsigned long long)m->hash : 0,
                           mangled);
}

bool builder_has_code_beside(const prof_builder *b, uint32_t module_number)
{
    module_entry *entry = NULL;
    HASH_FIND(hh, b->process.modules, &module_number, sizeof module_number, entry);
    return entry && entry->beside;
}

const kernel *builder_launched_kernel(prof_builder *b, uint32_t module_number, const char *mangled)
{
    kernel *found = NULL;
    const char *key = kernel_map_key(b, find_parsed_module(b, module_number), mangled);
    if (key)
        HASH_FIND_STR(b->kernels, key, found);
    return found;
}

wl_status builder_kernel(prof_builder *b, const cap_launch *launch, kernel **out, wl_error *err)
{
    module *m = find_parsed_module(b, launch->module);
    char *key = kernel_map_key(b, m, launch->kernel);
    if (!key)
        return NOMEM(err);
    HASH_FIND_STR(b->kernels, key, *out);
    if (*out)
        return WL_OK;
    kernel *k = wl_new(b->arena, kernel);
    key = k ? wl_arena_strdup(b->arena, key) : NULL;
    if (!key)
        return NOMEM(err);
    k->key = key;
    HASH_ADD_KEYPTR(hh, b->kernels, k->key, strlen(k->key), k);
    *out = k;
    return make_kernel(b, launch, m, k, err);
}

/* ---- shared and local memory ---- */

wl_status builder_kernel_object(prof_builder *b, kernel *k, uint32_t kind, const obs_shared *array,
                                uint32_t *id, wl_error *err)
{
    const char *name = kind == PROF_OBJECT_LOCAL ? "(local)" : array->name;
    shared_entry *entry = NULL;
    HASH_FIND_STR(k->shared, name, entry);
    if (!entry) {
        entry = wl_new(b->arena, shared_entry);
        if (!entry || !(entry->name = wl_arena_strdup(b->arena, name)))
            return NOMEM(err);
        entry->object = ++b->nobjects;
        entry->kind = (uint8_t)kind;
        entry->offset = array ? array->offset : 0;
        HASH_ADD_KEYPTR(hh, k->shared, entry->name, strlen(entry->name), entry);
    }
    if (array && array->bytes > entry->bytes)
        entry->bytes = array->bytes;
    *id = entry->object;
    return WL_OK;
}

/* A template's arguments are left out where they are long. */
static const char *kernel_in_brackets(prof_builder *b, const kernel *k)
{
    enum { LONGEST = 64 };
    if (strlen(k->short_name) <= LONGEST)
        return k->short_name;
    const char *plain = prof_plain_name(b->arena, k->short_name);
    return plain ? wl_arena_printf(b->arena, "%s<...>", plain) : NULL;
}

/* What the name of a shared array without one begins with: machine code does not tell of arrays, and
 * what was lifted of it has one for all that the kernel declares, and one for what launches add. */
static const char *nameless_shared(const char *array)
{
    return strcmp(array, SASS_DYNAMIC) == 0 ? "dynamic shared memory" : "shared memory";
}

static bool is_lifted_array(const char *array)
{
    return strcmp(array, SASS_SHARED) == 0 || strcmp(array, SASS_DYNAMIC) == 0;
}

/* "tile (transpose.cu:12)", "tile (transpose)" where the definition was not found. */
static wl_status write_shared(prof_builder *b, const kernel *k, const shared_entry *e,
                              wl_error *err)
{
    static const char *const marks[] = {"__shared__", NULL};
    const char *full = prof_demangle(b->arena, e->name);
    const char *variable = full ? prof_last_name(full) : NULL;
    if (!variable)
        return NOMEM(err);
    if (is_lifted_array(e->name))
        variable = "";
    uint32_t line = *variable ? sources_search(b->sources, k->file, k->line, variable, marks) : 0;
    const char *file = sources_name(sources_path(b->sources, k->file)), *name;
    const char *in = kernel_in_brackets(b, k);
    if (!in)
        return NOMEM(err);
    if (e->kind == PROF_OBJECT_LOCAL) {
        name = wl_arena_printf(b->arena, "local memory (%s)", in);
        variable = "";
    } else if (line) {
        name = wl_arena_printf(b->arena, "%s (%s:%u)", variable, file, line);
    } else {
        name = wl_arena_printf(b->arena, "%s (%s)", *variable ? variable : nameless_shared(e->name),
                               in);
    }
    if (!name)
        return NOMEM(err);
    const prof_object row = {.id = e->object,
                             .kernel = k->id,
                             .kind = e->kind,
                             .space = e->kind == PROF_OBJECT_LOCAL ? ACC_LOCAL : ACC_SHARED,
                             .name = name,
                             .variable = variable,
                             .base = e->offset,
                             .bytes = e->bytes,
                             .file = line ? k->file : 0,
                             .line = line,
                             .function = "",
                             .tag = ""};
    return table_insert_objects(b->insert[TABLE_objects], &row, err);
}

wl_status builder_kernel_objects(prof_builder *b, wl_error *err)
{
    wl_status status = WL_OK;
    for (kernel *k = b->kernels; k && status == WL_OK; k = k->hh.next)
        for (shared_entry *e = k->shared; e && status == WL_OK; e = e->hh.next)
            status = write_shared(b, k, e, err);
    return status;
}
