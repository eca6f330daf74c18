/* A block's part of an object that it only loads, kept in shared memory: loaded once, by all threads
 * together, and read from there. Where it does not fit, tile by tile: what some turns of a loop take.
 *
 * Few blocks suffice, since it is their own part that matters. */
#include "replay/trials/objects.h"
#include "replay/trials/part.h"

#include <stdlib.h>

typedef struct turn { /* a request of the block */
    uint32_t tile, loop, nth,
        at; /* nth: the warp's earlier ones of the instruction; at: in the log */
} turn;

typedef struct staging {
    const trial_work *t;
    const trial_object *object;
    uint32_t each; /* turns of a loop that a tile is of; 0: all is one */
    uint64_t room; /* bytes that a part or tile may have */
    /* Of all blocks: what came of it. */
    atomic_bool *failed;
    atomic_uint *elements, *turns; /* of the largest part or tile; of the longest loop */
} staging;

static bool may_stage(const obs_insn *row)
{
    const uint32_t otherwise = ACC_ASYNC | ACC_BULK | ACC_VOLATILE | ACC_MATRIX | ACC_TEXTURE;
    return row->op == ACC_LOAD && !(row->flags & otherwise) && row->requests > 1 &&
           row->bytes <= 16 && __builtin_popcount(row->bytes) == 1;
}

bool trial_has_loads(const obs_summary *s)
{
    return trial_any_pays(s, may_stage);
}

/* ---- turns and tiles ---- */

static uint32_t row_of_pc(const trial_rows *rows, uint32_t pc)
{
    uint32_t at = 0;
    while (at + 1 < rows->count && rows->rows[at].pc != pc)
        at++;
    return at;
}

/* The innermost loop around the instruction, as a number of the kernel. */
static uint32_t loop_of_load(const flow_kernel *flow, uint32_t pc)
{
    ir_place place = ir_kernel_at(flow->code, pc);
    const flow_function *f = &flow->funcs[place.index];
    uint32_t loop = f->loops.of[f->block_of[pc - f->first_pc]];
    return loop == FLOW_NONE ? 0 : f->first_pc + loop + 1;
}

/* Does each warp that executes an instruction do so as often? A barrier in the loop needs it. */
static bool go_together(const uint32_t *counts, uint32_t nrows, uint32_t warps)
{
    for (uint32_t r = 0; r < nrows; r++)
        for (uint32_t w = 1; w < warps; w++)
            if (counts[r * warps + w] != counts[r * warps])
                return false;
    return true;
}

static void number_turns(const staging *s, const trial_log *log, uint32_t *counts, uint32_t warps,
                         turn *out)
{
    for (uint32_t i = 0; i < log->count; i++) {
        const acc_request *r = trial_log_at(log, i);
        uint32_t nth = counts[row_of_pc(&s->object->rows, r->pc) * warps + r->warp]++;
        out[i] = (turn){.nth = nth, .at = i};
        if (s->each) {
            out[i].loop = loop_of_load(s->t->flow, r->pc);
            out[i].tile = nth / s->each;
        }
    }
}

static int by_tile(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->loop != y->loop)
        return x->loop < y->loop ? -1 : 1;
    if (x->tile != y->tile)
        return x->tile < y->tile ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* ---- a tile ---- */

typedef struct filling { /* a tile, and who is shown how */
    const trial_shown *to;
    const acc_request
        *first; /* of the tile's requests: its instruction loads in the place of all */
} filling;

static void show_filling(const void *ctx, const trial_portion *p)
{
    const filling *f = ctx;
    trial_portion_show(p, f->first, ACC_LOAD, ACC_GLOBAL, f->to);
    trial_portion_show(p, f->first, ACC_STORE, ACC_SHARED, f->to);
}

static bool show_tile(const staging *s, const trial_log *log, const uint32_t *which, uint32_t count,
                      const trial_shown *to)
{
    trial_part part;
    if (!trial_part_make(&part, log, which, count))
        return false;
    const filling f = {to, trial_log_at(log, which[0])};
    trial_raise(s->elements, part.count);
    bool fits = (uint64_t)part.count * part.bytes <= s->room;
    if (fits)
        trial_part_move(&part, trial_threads(s->t), show_filling, &f);
    for (uint32_t i = 0; i < count && fits; i++)
        trial_part_show(&part, trial_log_at(log, which[i]), UINT32_MAX, to);
    trial_part_clear(&part);
    return true;
}

static bool show_tiles(const staging *s, const trial_log *log, const turn *turns, uint32_t *which,
                       const trial_shown *to)
{
    bool good = true;
    for (uint32_t i = 0, from = 0; i < log->count && good; i++) {
        which[i] = turns[i].at;
        trial_raise(s->turns, turns[i].nth + 1);
        bool last = i + 1 == log->count || turns[i + 1].tile != turns[i].tile ||
                    turns[i + 1].loop != turns[i].loop;
        if (!last)
            continue;
        good = show_tile(s, log, &which[from], i + 1 - from, to);
        from = i + 1;
    }
    return good;
}

static void stage_block(const void *how, const trial_log *log, const trial_shown *to)
{
    const staging *s = how;
    uint32_t warps = (trial_threads(s->t) + ACC_LANES - 1) / ACC_LANES,
             nrows = s->object->rows.count;
    turn *turns = calloc((size_t)log->count + 1, sizeof *turns);
    uint32_t *which = calloc((size_t)log->count + 1, sizeof *which);
    uint32_t *counts = calloc((size_t)nrows * warps + 1, sizeof *counts);
    bool good = !log->full && turns && which && counts;
    if (good) {
        number_turns(s, log, counts, warps, turns);
        good = !s->each || go_together(counts, nrows, warps);
        if (s->each)
            qsort(turns, log->count, sizeof *turns, by_tile);
    }
    if (!good || !show_tiles(s, log, turns, which, to))
        atomic_store(s->failed, true);
    free(turns);
    free(which);
    free(counts);
}

static bool is_staged(const void *how, const acc_request *request)
{
    const staging *s = how;
    return request->space == ACC_GLOBAL && request->object == s->object->alloc.id;
}

/* ---- the trial ---- */

typedef struct staged { /* what came of a run */
    trial_rows rows;
    uint32_t elements, turns;
} staged;

static uint64_t reads_of(const trial_rows *rows, acc_space space)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i].op == ACC_LOAD && rows->rows[i].space == space)
            sum += rows->rows[i].requests;
    return sum;
}

/* No rows where a part or tile does not fit; no elements where that is not known. */
static wl_status run_staged(const trial_work *t, const trial_object *o, uint32_t each, staged *out)
{
    atomic_bool failed = false;
    atomic_uint elements = 0, turns = 0;
    const staging s = {.t = t,
                       .object = o,
                       .each = each,
                       .room = trial_room_of(t),
                       .failed = &failed,
                       .elements = &elements,
                       .turns = &turns};
    const trial_view view = {.choose = is_staged, .redo = stage_block, .how = &s};
    wl_status status = trial_run_changed(t, &(trial_run){.view = &view}, &out->rows);
    out->elements = failed ? 0 : elements;
    out->turns = turns;
    if (failed || reads_of(&out->rows, ACC_SHARED) != reads_of(&o->rows, ACC_GLOBAL))
        out->rows = (trial_rows){0};
    return status;
}

/* Turns of a loop, a power of two, that give each thread an element or more; 0: there is no loop. */
static uint32_t turns_of_tile(const trial_work *t, const staged *whole)
{
    uint32_t each = 1;
    while ((uint64_t)each * whole->elements < (uint64_t)trial_threads(t) * whole->turns)
        each *= 2;
    return each < whole->turns ? each : 0;
}

static bool are_stageable(const trial_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (!may_stage(&rows->rows[i]) || rows->rows[i].bytes != rows->rows[0].bytes)
            return false;
    return true;
}

static wl_status stage_object(trial_work *t, const trial_object *o)
{
    uint64_t room = trial_room_of(t);
    uint32_t bytes = o->rows.rows[0].bytes;
    obs_trial trial = {.kind = OBS_TRIAL_STAGED, .object = o->alloc.id};
    staged s = {0};
    if (!are_stageable(&o->rows))
        return WL_OK;
    wl_status status = run_staged(t, o, 0, &s);
    if (status == WL_OK && (uint64_t)s.elements * bytes > room) {
        trial.pitch = turns_of_tile(t, &s);
        status = trial.pitch ? run_staged(t, o, trial.pitch, &s) : WL_OK;
    }
    trial.pad = s.elements * bytes;
    if (status == WL_OK && trial.pad <= room && trial_sectors(&s.rows) < trial_sectors(&o->rows))
        trial_add(t, trial, &o->rows, &s.rows);
    return status;
}

wl_status trial_staged(trial_work *t)
{
    return trial_each_of_few(t, may_stage, stage_object);
}
