#include "walks.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

void walk_begin(walk_kernel *k, uint32_t blocks, uint32_t threads)
{
    *k = (walk_kernel){0};
    k->facts.grid[0] = blocks;
    k->facts.block[0] = threads;
    for (int i = 1; i < 3; i++)
        k->facts.grid[i] = k->facts.block[i] = 1;
    k->facts.mix_whole = true;
    k->facts.arch = ana_arch_of_device(9, 0);
    k->file = (prof_file){.id = 1, .path = "/src/walk.cu"};
    k->objects[0] = (prof_object){
        .id = 1, .space = ACC_GLOBAL, .name = "data", .variable = "data", .base = 0x100000};
    k->objects[1] = (prof_object){.id = 2, .space = ACC_SHARED, .name = "tile", .variable = "tile"};
}

uint32_t walk_block(walk_kernel *k, uint32_t ninsns, uint32_t loop)
{
    uint32_t first = k->facts.code.count;
    assert_true(first + ninsns <= WALK_MOST_CODE && k->facts.blocks.count < WALK_MOST_BLOCKS);
    for (uint32_t pc = first; pc < first + ninsns; pc++)
        k->code[pc] = (prof_code){.pc = pc, .op = "add.s32", .file = 1, .line = 100 + pc};
    k->blocks[k->facts.blocks.count++] = (prof_static_block){
        .first_pc = first, .ninsns = ninsns, .loop = loop};
    k->facts.code.count += ninsns;
    return first;
}

void walk_loop(walk_kernel *k, uint32_t header, uint32_t outer)
{
    uint32_t depth = 1;
    for (uint32_t i = 0; i < k->facts.loops.count; i++)
        depth += k->loops[i].header == outer ? k->loops[i].depth : 0;
    k->loops[k->facts.loops.count++] = (prof_loop){
        .header = header, .depth = depth, .outer = outer};
}

void walk_insn(walk_kernel *k, uint32_t pc, uint32_t object, uint32_t bytes)
{
    k->insns[k->facts.insns.count++].c = (obs_insn){.pc = pc,
                                                    .object = object,
                                                    .op = ACC_LOAD,
                                                    .space = object == 1 ? ACC_GLOBAL : ACC_SHARED,
                                                    .bytes = bytes};
}

void walk_end(walk_kernel *k, wl_arena *arena)
{
    explore_facts *f = &k->facts;
    f->code.rows = k->code;
    f->blocks.rows = k->blocks;
    f->loops.rows = k->loops;
    f->insns.rows = k->insns;
    f->objects = (prof_object_rows){2, k->objects};
    f->files = (prof_file_rows){1, &k->file};
    assert_true(explore_prepare(f, arena));
}

/* ---- steps ---- */

void walk_steps_begin(walk_steps *s, wl_arena *arena)
{
    *s = (walk_steps){.arena = arena,
                      .folder = wl_folder_new(),
                      .pages = wl_new_array(arena, wl_folded, WALK_MOST_PAGES)};
    assert_true(s->folder && s->pages);
}

static void end_page(walk_steps *s)
{
    wl_fold_bytes bytes = {0};
    uint32_t count = wl_folder_count(s->folder);
    assert_true(wl_folder_end(s->folder, &bytes));
    const void *data = wl_arena_copy(s->arena, bytes.data, bytes.count);
    assert_true(data && s->npages < WALK_MOST_PAGES);
    s->pages[s->npages++] = (wl_folded){data, bytes.count, count, 2};
    wl_vec_free(&bytes);
}

static void add_step(walk_steps *s, const wl_step *step)
{
    if (wl_folder_count(s->folder) == WL_FOLD_STEPS)
        end_page(s);
    assert_true(wl_folder_put(s->folder, step));
}

void walk_enter(walk_steps *s, uint32_t pc, uint32_t lanes)
{
    add_step(s, &(wl_step){.pc = pc, .mask = lanes, .slot = WL_STEP_ENTRY});
}

void walk_access(walk_steps *s, uint32_t pc, uint32_t lanes, uint32_t object, int64_t from,
                 int64_t stride)
{
    wl_step step = {.pc = pc, .mask = lanes, .slot = object - 1};
    for (int lane = 0; lane < WL_STEP_LANES; lane++)
        step.offset[lane] = from + lane * stride;
    add_step(s, &step);
}

void walk_barrier(walk_steps *s, uint32_t pc)
{
    add_step(s, &(wl_step){.pc = pc, .mask = UINT32_MAX, .slot = WL_STEP_BARRIER});
}

void walk_steps_end(walk_steps *s)
{
    if (wl_folder_count(s->folder))
        end_page(s);
    wl_folder_free(s->folder);
    s->folder = NULL;
}

prof_warp walk_warp(const walk_steps *s, uint64_t block, uint32_t number, int64_t begin)
{
    static const prof_slot slots[] = {{ACC_GLOBAL, 1}, {ACC_SHARED, 2}};
    int64_t *begins = wl_new_array(s->arena, int64_t, 2);
    assert_non_null(begins);
    begins[0] = begin;
    return (prof_warp){block, number, 2, slots, begins, s->npages, s->pages};
}

const explore_visit *walk_visit(const explore_path *p, uint32_t index)
{
    const explore_cursor at = explore_cursor_at(p, index);
    return explore_visit_after(&at, 0);
}

const explore_request *walk_request(const explore_path *p, const explore_visit *v, uint32_t pc)
{
    for (uint32_t i = 0; v && i < v->nrequests; i++)
        if (p->requests.data[v->first + i].pc == pc)
            return &p->requests.data[v->first + i];
    return NULL;
}

explore_operation walk_operation(const explore_path *p, const explore_visit *v, uint32_t pc,
                                 bool either)
{
    const explore_request *r = walk_request(p, v, pc);
    explore_operation o = {.pc = pc, .lanes = r ? r->mask : either || !v ? 0 : v->mask};
    if (r) {
        o.sizes = p->sizes.data + r->first_size;
        o.nsizes = r->nsizes;
        o.conflicts = r->extra;
    }
    return o;
}
