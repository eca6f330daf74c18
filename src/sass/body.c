/* Reads lifted code, and relates its instructions and basic blocks to those of the machine. */
#include "sass/body.h"

#include "ir/blocks.h"
#include "ir/kernel.h"
#include "ptx/ptx.h"
#include "sass/lift.h"
#include "sass/lift_ways.h"
#include "sass/operands.h"

#include <stdio.h>
#include <string.h>

typedef struct relating {
    sass_body *body;
    const sass_lifted *lifted;
    const ir_func *func;
    lift_ways ways;
    bool *own; /* [npcs]: made of a machine instruction */
    uint32_t *
        first; /* [count]: in the copy at hand, the first of the IR; SASS_NOWHERE: it does nothing */
    uint8_t *of_ir; /* [npcs + 1]: 1 where a basic block of the IR begins */
    wl_vec(sass_run) runs;
    wl_arena *arena, *scratch;
} relating;

static void fill_numbers(uint32_t *list, uint32_t count, uint32_t number)
{
    for (uint32_t i = 0; i < count; i++)
        list[i] = number;
}

/* ---- instructions ---- */

static void relate_insns(relating *r)
{
    sass_body *b = r->body;
    uint32_t last = 0;
    for (uint32_t pc = 0; pc < b->npcs; pc++) {
        uint32_t line = r->func->insns[pc].pos.line;
        uint32_t insn = line <= r->lifted->lines ? r->lifted->insn_of_line[line] : SASS_NOWHERE;
        r->own[pc] = insn < b->count;
        last = r->own[pc] ? insn : last; /* what prepares the kernel belongs to its first one */
        b->insn_of[pc] = last;
    }
}

/* ---- copies ---- */

/* The end of the copy that begins at `pc`: what belongs to no machine instruction, as the kernel's head
 * does, stands between copies. */
static uint32_t end_of_copy(const relating *r, uint32_t pc)
{
    while (pc < r->body->npcs && !r->own[pc])
        pc++;
    while (pc < r->body->npcs && r->own[pc])
        pc++;
    return pc;
}

static void find_first(relating *r, uint32_t from, uint32_t to)
{
    fill_numbers(r->first, r->body->count, SASS_NOWHERE);
    for (uint32_t pc = to; pc-- > from;)
        if (r->own[pc])
            r->first[r->body->insn_of[pc]] = pc;
}

static bool is_entered(const relating *r, uint32_t insn)
{
    const lift_ways *w = &r->ways;
    return w->labels[insn] || (insn && w->ways[insn - 1].goes != LIFT_ON);
}

/* Whether a basic block of the IR begins within the instructions (from, to] of the IR. */
static bool parts_between(const relating *r, uint32_t from, uint32_t to)
{
    for (uint32_t pc = from + 1; pc <= to; pc++)
        if (r->of_ir[pc])
            return true;
    return false;
}

static bool stands_alone(const relating *r, uint32_t pc)
{
    return ir_stands_alone(&r->func->insns[pc]);
}

/* A block of the machine begins where one of the IR does: at the instruction that it is of, or, where
 * instructions before it do nothing, at the one that control comes to; and after one within which the IR's does. A
 * guarded end of a block, which has a block of its own in the IR, goes with what is before it. */
static bool begins_machine_block(const relating *r, uint32_t insn, uint32_t before, uint32_t next,
                                 uint32_t end)
{
    uint32_t own = r->first[insn];
    if (next >= end)
        return false;
    if (is_entered(r, insn) && r->of_ir[next])
        return true;
    if (own == SASS_NOWHERE)
        return false;
    uint32_t to = own && stands_alone(r, own) ? own - 1 : own;
    return (to == own && r->of_ir[own]) ||
           (before != SASS_NOWHERE && to > before && parts_between(r, before, to));
}

/* Goes down from the last instruction, so that `next` is the next of the IR. */
static void find_leaders(relating *r, uint32_t number, uint32_t end)
{
    sass_body *b = r->body;
    uint32_t next = end;
    for (uint32_t i = b->count; i-- > 0;) {
        if (r->ways.seen[i] != number)
            continue;
        next = r->first[i] != SASS_NOWHERE ? r->first[i] : next;
        uint32_t before = i && r->ways.seen[i - 1] == number ? r->first[i - 1] : SASS_NOWHERE;
        b->leader[i] |= begins_machine_block(r, i, before, next, end);
        b->reached[i] = 1;
    }
}

/* The instruction of the IR whose basic block runs as often as the machine's; SASS_NOWHERE: none does. */
static uint32_t counting_insn(const relating *r, uint32_t leader)
{
    const sass_body *b = r->body;
    uint32_t i = leader;
    while (r->first[i] == SASS_NOWHERE && i + 1 < b->count && !b->leader[i + 1])
        i++;
    uint32_t pc = r->first[i];
    if (pc == SASS_NOWHERE || !stands_alone(r, pc))
        return pc;
    bool follows = pc && !is_entered(r, i) && !stands_alone(r, pc - 1);
    return follows ? pc - 1 : SASS_NOWHERE;
}

static void add_body_run(relating *r, uint32_t leader, bool *nomem)
{
    uint32_t pc = counting_insn(r, leader);
    while (pc != SASS_NOWHERE && pc && !r->of_ir[pc])
        pc--;
    *nomem |= !wl_push(&r->runs, ((sass_run){leader, pc}));
}

typedef void copy_function(relating *r, uint32_t number, uint32_t end, bool *nomem);

static void look_at_copy(relating *r, uint32_t number, uint32_t end, bool *nomem)
{
    (void)nomem;
    find_leaders(r, number, end);
}

static void add_runs_of_copy(relating *r, uint32_t number, uint32_t end, bool *nomem)
{
    (void)end;
    for (uint32_t i = 0; i < r->body->count; i++)
        if (r->body->leader[i] && r->ways.seen[i] == number)
            add_body_run(r, i, nomem);
}

static bool go_through_copies(relating *r, copy_function *function)
{
    bool nomem = false;
    for (uint32_t copy = 0, from = 0; copy < r->ways.copies.count; copy++) {
        uint32_t number = lift_ways_reach(&r->ways, copy), to = end_of_copy(r, from);
        find_first(r, from, to);
        function(r, number, to, &nomem);
        from = to;
    }
    return !nomem;
}

/* ---- basic blocks ---- */

/* Blocks begin as well where what runs meets what never does. */
static void part_unreached(relating *r)
{
    sass_body *b = r->body;
    for (uint32_t i = 0; i < b->count; i++)
        b->leader[i] |= i == 0 || b->reached[i] != b->reached[i - 1];
}

static wl_status keep_runs(relating *r)
{
    sass_body *b = r->body;
    b->nruns = (uint32_t)r->runs.count;
    b->runs = wl_arena_copy(r->arena, r->runs.data, r->runs.count * sizeof *b->runs);
    if (!b->runs)
        return WL_NOMEM;
    fill_numbers(b->run_of, b->npcs, b->nruns);
    for (uint32_t i = b->nruns; i-- > 0;)
        if (b->runs[i].begin != SASS_NOWHERE)
            b->run_of[b->runs[i].begin] = i;
    return WL_OK;
}

static bool make_body_room(relating *r)
{
    sass_body *b = r->body;
    size_t npcs = (size_t)b->npcs + 1, count = (size_t)b->count + 1;
    b->insn_of = wl_new_array(r->arena, uint32_t, npcs);
    b->run_of = wl_new_array(r->arena, uint32_t, npcs);
    b->leader = wl_new_array(r->arena, uint8_t, count);
    b->reached = wl_new_array(r->arena, uint8_t, count);
    r->own = wl_new_array(r->scratch, bool, npcs);
    r->of_ir = wl_new_array(r->scratch, uint8_t, npcs);
    r->first = wl_new_array(r->scratch, uint32_t, count);
    return b->insn_of && b->run_of && b->leader && b->reached && r->own && r->of_ir && r->first;
}

static wl_status relate_body(relating *r)
{
    r->body->npcs = r->func->ninsns;
    if (!make_body_room(r) || !lift_ways_find(&r->ways, &r->lifted->code, r->scratch))
        return WL_NOMEM;
    relate_insns(r);
    ir_block_leaders(r->func, r->of_ir);
    if (!go_through_copies(r, look_at_copy))
        return WL_NOMEM;
    part_unreached(r);
    return go_through_copies(r, add_runs_of_copy) ? keep_runs(r) : WL_NOMEM;
}

/* ---- the whole ---- */

static wl_status keep_code(const sass_lifted *lifted, wl_arena *arena, sass_body *out)
{
    const sass_code *code = &lifted->code;
    out->sm = code->sm;
    out->registers = code->registers;
    out->count = code->count;
    out->undone = lifted->undone;
    out->lost = SASS_NOWHERE;
    for (uint32_t i = out->count; i-- > 0;)
        out->lost = lifted->known[i] ? out->lost : i;
    out->insns = wl_arena_copy(arena, code->insns, code->count * sizeof *code->insns);
    out->bytes = wl_arena_copy(arena, code->bytes, (size_t)code->count * SASS_BYTES);
    return out->insns && out->bytes ? WL_OK : WL_NOMEM;
}

static wl_status parse_lifted(const sass_lifted *lifted, const char *kernel, sass_body *out,
                              const ir_func **func, wl_error *err)
{
    wl_error why = {.text = "the kernel is not there"};
    wl_status status = ptx_parse(lifted->text, lifted->length, "lifted", &out->module, &why);
    *func = status == WL_OK ? ir_module_kernel(out->module, kernel) : NULL;
    if (*func)
        return WL_OK;
    return wl_fail(err, status == WL_NOMEM ? status : WL_UNSUPPORTED,
                   "its machine code cannot be read as PTX: %s", why.text);
}

static wl_status read_body(const sass_lifted *lifted, const char *kernel, wl_arena *arena,
                           wl_arena *scratch, sass_body *out, wl_error *err)
{
    relating r = {.body = out, .lifted = lifted, .arena = arena, .scratch = scratch};
    wl_status status = parse_lifted(lifted, kernel, out, &r.func, err);
    if (status != WL_OK)
        return status;
    status = keep_code(lifted, arena, out);
    if (status == WL_OK)
        status = relate_body(&r);
    wl_vec_free(&r.runs);
    wl_vec_free(&r.ways.copies);
    return status == WL_OK ? WL_OK : wl_fail(err, status, "out of memory");
}

wl_status sass_body_read(const void *cubin, size_t size, uint32_t sm, const char *kernel,
                         wl_arena *arena, sass_body *out, wl_error *err)
{
    sass_lifted lifted;
    wl_arena *scratch = wl_arena_new(); /* what is read of a cubin may be large */
    *out = (sass_body){0};
    wl_status status = scratch ? sass_lift(cubin, size, sm, kernel, scratch, &lifted, err)
                               : wl_fail(err, WL_NOMEM, "out of memory");
    if (status == WL_OK)
        status = read_body(&lifted, kernel, arena, scratch, out, err);
    wl_arena_free(scratch);
    return status;
}

void sass_body_clear(sass_body *body)
{
    ir_module_free(body->module);
    *body = (sass_body){0};
}

/* ---- texts ---- */

static bool read_body_insn(const sass_body *body, uint32_t insn, sass_details *out)
{
    return sass_read(body->bytes + (size_t)insn * SASS_BYTES, insn, body->sm, out);
}

char *sass_body_text(const sass_body *body, uint32_t insn, char *buffer, size_t size)
{
    sass_details details;
    read_body_insn(body, insn, &details);
    sass_print(&details, body->sm, buffer, size);
    return buffer;
}

char *sass_body_name(const sass_body *body, uint32_t insn, char *buffer, size_t size)
{
    sass_details details;
    if (!read_body_insn(body, insn, &details)) {
        snprintf(buffer, size, "opcode 0x%x", body->insns[insn].opcode);
        return buffer;
    }
    size_t at = (size_t)snprintf(buffer, size, "%s", details.form->name);
    for (unsigned i = 0; i < details.modifiers && at < size; i++)
        at += (size_t)snprintf(buffer + at, size - at, ".%.*s", details.modifier[i].length,
                               details.modifier[i].at);
    return buffer;
}
