/* What is known of a kernel's code without running it: basic blocks, loops, forms of addresses
 * (docs/flow.md). */
#include "profile/builder.h"

#include "flow/affine.h"
#include "flow/barriers.h"
#include "flow/fills.h"
#include "flow/premises.h"
#include "ir/expansion.h"
#include "profile/cubins.h"
#include "profile/machine.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
    prof_builder *b;
    uint32_t kernel;
    const sass_body *lifted; /* what the code was lifted from; NULL: it is PTX */
    const flow_kernel *flow;
    const flow_function *f;           /* the function at hand */
    double (*machine)[IR_COST_COUNT]; /* [its blocks], of machine code; NULL: not known */
    uint8_t *taken;                   /* [machine instructions of `lifted`] what stands there */
    wl_error *err;
} writer;

static uint32_t header_of(const flow_function *f, uint32_t loop)
{
    return loop == FLOW_NONE ? UINT32_MAX
                             : f->first_pc + f->blocks[f->loops.loops[loop].header].first;
}

/* Where the profile has a basic block, or what begins one, such as a loop; UINT32_MAX: nowhere, since it
 * lies within a machine instruction. */
static uint32_t place_of_block(const writer *w, uint32_t first_pc)
{
    const sass_body *l = w->lifted;
    if (!l || first_pc == UINT32_MAX)
        return first_pc;
    return l->run_of[first_pc] < l->nruns ? l->runs[l->run_of[first_pc]].insn : UINT32_MAX;
}

/* ---- blocks ---- */

static wl_status write_static_mix(const writer *w, uint32_t number)
{
    const flow_block *block = &w->f->blocks[number];
    const flow_ilp *ilp = &w->f->ilp[number];
    uint32_t counts[IR_COST_COUNT] = {0};
    double machine[IR_COST_COUNT] = {0};
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        counts[w->f->costs[i]]++;
        ir_add_expansion(&w->f->func->insns[i], machine);
    }
    if (w->machine)
        memcpy(machine, w->machine[number], sizeof machine);
    wl_status status = WL_OK;
    for (uint32_t cost = 0; cost < IR_COST_COUNT && status == WL_OK; cost++) {
        const prof_static_mix row = {w->kernel,
                                     w->f->first_pc + block->first,
                                     cost,
                                     counts[cost],
                                     ilp->chain[cost],
                                     machine[cost],
                                     ilp->machine[cost]};
        if (counts[cost] || machine[cost] > 0 || ilp->machine[cost] > 0)
            status = table_insert_static_mix(w->b->insert[TABLE_static_mix], &row, w->err);
    }
    return status;
}

static wl_status write_block(const writer *w, uint32_t number)
{
    const flow_block *block = &w->f->blocks[number];
    const flow_ilp *ilp = &w->f->ilp[number];
    const prof_static_block row = {.kernel = w->kernel,
                                   .first_pc = w->f->first_pc + block->first,
                                   .ninsns = block->count,
                                   .loop = header_of(w->f, w->f->loops.of[number]),
                                   .ilp = ilp->groups ? flow_ilp_of(ilp) : -1,
                                   .mlp = ilp->loads ? flow_mlp_of(ilp) : -1,
                                   .chain_loads = ilp->chain_loads,
                                   .chain_shared = ilp->chain_shared};
    if (block->count == 0)
        return WL_OK;
    wl_status status = table_insert_static_blocks(w->b->insert[TABLE_static_blocks], &row, w->err);
    return status == WL_OK ? write_static_mix(w, number) : status;
}

static wl_status write_static_blocks(const writer *w)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < w->f->nblocks && status == WL_OK; i++)
        status = write_block(w, i);
    return status;
}

static wl_status write_successors(const writer *w)
{
    const flow_function *f = w->f;
    wl_status status = WL_OK;
    for (uint32_t b = 0; b < f->nblocks; b++)
        for (uint32_t i = f->graph.succ_first[b]; i < f->graph.succ_first[b + 1] && status == WL_OK;
             i++) {
            uint32_t next = f->graph.succ[i];
            bool both = next < f->nblocks && f->blocks[b].count && f->blocks[next].count;
            const prof_successor row = {w->kernel, f->first_pc + f->blocks[b].first,
                                        both ? f->first_pc + f->blocks[next].first : 0};
            if (both)
                status = table_insert_successors(w->b->insert[TABLE_successors], &row, w->err);
        }
    return status;
}

/* ---- lifted code ---- */

/* Of subroutines that were copied the first copy counts. */
enum { OF_LOOP = 1, OF_FORM = 2, OF_BLOCK = 4 };

/* Whether nothing of the kind stands at the machine instruction so far. */
static bool take_machine_place(const writer *w, uint32_t pc, uint8_t kind)
{
    if (!w->lifted)
        return true;
    bool taken = w->taken[pc] & kind;
    w->taken[pc] |= kind;
    return !taken;
}

static uint32_t length_of_machine_block(const sass_body *l, uint32_t insn)
{
    uint32_t length = 1;
    while (insn + length < l->count && !l->leader[insn + length])
        length++;
    return length;
}

/* What of a block holds for the machine's as well. Its chains are longer than those of the machine's
 * instructions, since values are put together and taken apart between them. */
static wl_status write_lifted_block(const writer *w, uint32_t number)
{
    const flow_block *block = &w->f->blocks[number];
    const flow_ilp *ilp = &w->f->ilp[number];
    uint32_t place = block->count ? place_of_block(w, w->f->first_pc + block->first) : UINT32_MAX;
    if (place == UINT32_MAX || !take_machine_place(w, place, OF_BLOCK))
        return WL_OK;
    const prof_static_block row = {
        .kernel = w->kernel,
        .first_pc = place,
        .ninsns = length_of_machine_block(w->lifted, place),
        .loop = place_of_block(w, header_of(w->f, w->f->loops.of[number])),
        .ilp = -1,
        .mlp = ilp->loads ? flow_mlp_of(ilp) : -1,
        .chain_loads = ilp->chain_loads,
        .chain_shared = ilp->chain_shared};
    return table_insert_static_blocks(w->b->insert[TABLE_static_blocks], &row, w->err);
}

static wl_status write_lifted_blocks(const writer *w)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < w->f->nblocks && status == WL_OK; i++)
        status = write_lifted_block(w, i);
    return status;
}

/* ---- loops ---- */

static wl_status write_loops(const writer *w)
{
    char text[1200];
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < w->f->loops.count && status == WL_OK; i++) {
        const flow_loop *loop = &w->f->loops.loops[i];
        const flow_trip *trip = &w->f->trips[i];
        uint32_t header = place_of_block(w, header_of(w->f, i));
        if (header == UINT32_MAX || !take_machine_place(w, header, OF_LOOP))
            continue;
        const prof_loop row = {.kernel = w->kernel,
                               .header = header,
                               .number = i,
                               .depth = loop->depth,
                               .outer = place_of_block(w, header_of(w->f, loop->parent)),
                               .constant = trip->kind == FLOW_TRIP_CONSTANT,
                               .times = trip->count,
                               .trips = flow_trip_text(w->flow, trip, text, sizeof text)};
        status = table_insert_loops(w->b->insert[TABLE_loops], &row, w->err);
    }
    return status;
}

/* ---- addresses ---- */

static wl_status write_form(const writer *w, const flow_address *address, uint32_t position)
{
    char text[1200];
    uint32_t pc = w->f->first_pc + address->insn;
    if (!*flow_address_text(w->flow, w->f, address, text, sizeof text))
        return WL_OK;
    if (w->lifted && (address->space == IR_SPACE_CONST ||
                      !take_machine_place(w, w->lifted->insn_of[pc], OF_FORM)))
        return WL_OK;
    const prof_form row = {.kernel = w->kernel,
                           .pc = w->lifted ? w->lifted->insn_of[pc] : pc,
                           .position = position,
                           .bytes = address->bytes,
                           .form = text,
                           .no_wrap = address->value != FLOW_NONE &&
                                      w->f->affine[address->value]->assumes_no_wrap};
    return table_insert_forms(w->b->insert[TABLE_forms], &row, w->err);
}

static wl_status write_forms(const writer *w)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < w->f->func->ninsns; i++) {
        uint32_t first = w->f->address_first[i];
        for (uint32_t a = first; a < w->f->address_first[i + 1] && status == WL_OK; a++) {
            const flow_address *address = &w->f->addresses[a];
            if (address->touch && address->space != IR_SPACE_PARAM)
                status = write_form(w, address, a - first);
        }
    }
    return status;
}

/* ---- what is written to shared memory ---- */

static obs_origin origin_of_fill(const flow_fill *fill)
{
    switch (fill->origin) {
    case FLOW_DEVICE: return OBS_FROM_MEMORY;
    case FLOW_ASYNC: return OBS_FROM_COPY;
    default: return OBS_COMPUTED;
    }
}

static wl_status write_fill_reads(prof_builder *b, uint32_t of, const flow_fills *fills,
                                  const flow_fill *fill, wl_error *err)
{
    wl_status status = WL_OK;
    for (uint32_t i = fill->first; i < fill->first + fill->count && status == WL_OK; i++) {
        const flow_read *read = &fills->reads[i];
        const prof_fill_read row = {of,          fill->pc,      read->pc,
                                    read->scope, read->decides, read->earlier};
        status = table_insert_fill_reads(b->insert[TABLE_fill_reads], &row, err);
    }
    return status;
}

static wl_status write_fills(prof_builder *b, uint32_t of, flow_kernel *flow, wl_arena *arena,
                             wl_error *err)
{
    flow_fills fills = {0};
    wl_status status = flow_fills_of(flow, arena, &fills);
    if (status != WL_OK)
        return NOMEM(err);
    for (uint32_t i = 0; i < fills.count && status == WL_OK; i++) {
        const flow_fill *f = &fills.fills[i];
        const prof_fill row = {of, f->pc, origin_of_fill(f), f->copied, f->updates, f->unknown};
        status = table_insert_fills(b->insert[TABLE_fills], &row, err);
        if (status == WL_OK)
            status = write_fill_reads(b, of, &fills, f, err);
    }
    return status;
}

/* ---- barriers ---- */

static wl_status write_premises(prof_builder *b, uint32_t of, flow_kernel *flow, wl_arena *arena,
                                wl_error *err)
{
    flow_premises all = {0};
    wl_status status = flow_find_premises(flow, arena, &all);
    if (status != WL_OK)
        return NOMEM(err);
    for (uint32_t i = 0; i < all.count && status == WL_OK; i++) {
        const prof_premise row = {of, all.rows[i].pc, all.rows[i].text};
        status = table_insert_premises(b->insert[TABLE_premises], &row, err);
    }
    return status;
}

static wl_status write_barriers(prof_builder *b, uint32_t of, flow_kernel *flow, wl_arena *arena,
                                wl_error *err)
{
    flow_barriers all = {0};
    wl_status status = flow_find_barriers(flow, arena, &all);
    if (status != WL_OK)
        return NOMEM(err);
    for (uint32_t i = 0; i < all.count && status == WL_OK; i++) {
        const prof_barrier row = {.kernel = of, .pc = all.rows[i].pc, .meets = all.rows[i].meets};
        status = table_insert_barriers(b->insert[TABLE_barriers], &row, err);
    }
    return status == WL_OK && all.count ? write_premises(b, of, flow, arena, err) : status;
}

/* ---- machine code ---- */

static wl_status count_machine(const prof_builder *b, const flow_kernel *flow,
                               const listed_code *from, wl_arena *arena, machine_counts *counts,
                               machine_facts *facts)
{
    const sass_code *code = from->code;
    wl_status status = machine_count(flow, code, from->ptx, arena, counts);
    facts->registers = code->sm == from->device_sm ? code->registers : 0;
    facts->why_not = counts->why_not ? counts->why_not : "";
    facts->sm = status == WL_OK && !counts->why_not ? code->sm : 0;
    if (facts->sm && counts->unknown)
        facts->why_not = wl_arena_printf(
            b->arena, "%u of its %u instructions have opcodes that are not known, and are left out",
            counts->unknown, code->count);
    return facts->why_not ? status : WL_NOMEM;
}

/* Of modules whose code came as PTX out of a file. `code` becomes what out->code points to. */
static wl_status find_machine(const prof_builder *b, const flow_kernel *flow, const module *m,
                              uint32_t device, wl_arena *arena, sass_code *code, listed_code *out)
{
    found_cubin cubin;
    uint32_t sm = builder_device_sm(b, device);
    wl_status status = cubin_beside(m->name, m->code, m->length, sm, &cubin);
    *out = (listed_code){.missing = cubin.why_not, .ptx = m->code, .device_sm = sm};
    if (status == WL_OK && cubin.bytes) {
        status = sass_code_read(cubin.bytes, cubin.size, cubin.sm, flow->code->funcs[0]->name,
                                arena, code, NULL);
        out->missing = "the machine code beside its PTX lacks it";
        out->code = status == WL_OK ? code : NULL;
    }
    free(cubin.bytes);
    return status == WL_NOMEM ? status : WL_OK;
}

static wl_status write_facts(prof_builder *b, uint32_t kernel_id, const flow_kernel *flow,
                             const machine_counts *counts, wl_error *err)
{
    wl_status (*const parts[])(const writer *) = {write_static_blocks, write_successors,
                                                  write_loops, write_forms};
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < flow->code->count; i++) {
        const writer w = {.b = b,
                          .kernel = kernel_id,
                          .flow = flow,
                          .f = &flow->funcs[i],
                          .machine = counts->by_block ? counts->by_block[i] : NULL,
                          .err = err};
        for (size_t p = 0; p < sizeof parts / sizeof *parts && status == WL_OK; p++)
            status = parts[p](&w);
    }
    return status;
}

static wl_status write_flow(prof_builder *b, const kernel *k, flow_kernel *flow,
                            const machine_counts *counts, wl_arena *arena, wl_error *err)
{
    wl_status status = write_facts(b, k->id, flow, counts, err);
    if (status == WL_OK)
        status = write_fills(b, k->id, flow, arena, err);
    return status == WL_OK ? write_barriers(b, k->id, flow, arena, err) : status;
}

wl_status builder_facts(prof_builder *b, const kernel *k, const ir_kernel *code, const module *m,
                        uint32_t device, machine_facts *machine, wl_error *err)
{
    machine_counts counts = {0};
    sass_code found;
    listed_code listed = {0};
    wl_arena *arena = wl_arena_new();
    flow_kernel *flow = arena ? flow_kernel_new(code, arena) : NULL;
    wl_status status = flow ? flow_run(flow, FLOW_PASS_ilp) : WL_NOMEM;
    if (status == WL_OK)
        status = find_machine(b, flow, m, device, arena, &found, &listed);
    machine->why_not = listed.missing;
    if (status == WL_OK && listed.code)
        status = count_machine(b, flow, &listed, arena, &counts, machine);
    status = status == WL_OK ? write_flow(b, k, flow, &counts, arena, err) : NOMEM(err);
    if (status == WL_OK)
        status = builder_machine_listing(b, k, &listed, arena, err);
    wl_arena_free(arena);
    return status;
}

wl_status builder_lifted_facts(prof_builder *b, uint32_t kernel_id, const ir_kernel *code,
                               const sass_body *lifted, wl_error *err)
{
    wl_arena *arena = wl_arena_new();
    flow_kernel *flow = arena ? flow_kernel_new(code, arena) : NULL;
    uint8_t *taken = arena ? wl_new_array(arena, uint8_t, (size_t)lifted->count + 1) : NULL;
    wl_status status = flow && taken ? flow_run(flow, FLOW_PASS_ilp) : WL_NOMEM;
    if (status == WL_OK) {
        const writer w = {.b = b,
                          .kernel = kernel_id,
                          .lifted = lifted,
                          .flow = flow,
                          .f = &flow->funcs[0],
                          .taken = taken,
                          .err = err};
        wl_status (*const parts[])(const writer *) = {write_lifted_blocks, write_loops,
                                                      write_forms};
        for (size_t p = 0; p < sizeof parts / sizeof *parts && status == WL_OK; p++)
            status = parts[p](&w);
    } else {
        (void)NOMEM(err);
    }
    wl_arena_free(arena);
    return status;
}
