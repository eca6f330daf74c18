/* A shared array that only passes on what a block loads from one object: each thread takes it from
 * the object where it reads the array now.
 *
 * Few blocks suffice, since it is their own part that matters. */
#include "replay/trials/objects.h"
#include "replay/trials/passed.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    MOST_FILLS = 16,
    WORD = 4,
    NOTHING = 0, /* of addresses: nothing was stored yet */
    CONSTANT = 1 /* a number that stands in the code was */
};

typedef struct passing {
    const trial_work *t;
    const obs_shared *array;
    uint32_t nfills;
    trial_fill fills[MOST_FILLS];
    uint32_t object;                  /* that all is loaded from */
    uint32_t like;                    /* pc of one of these loads: it stands for all afterwards */
    uint32_t nkept, kept[MOST_FILLS]; /* pcs of those whose data is used elsewhere, too */
    atomic_bool *failed;
} passing;

/* ---- a block ---- */

typedef struct passed { /* what happened so far */
    const passing *p;
    const trial_shown *to;
    uint64_t *words; /* of the array: the address of what it holds */
    uint64_t *last;  /* [fills][warps][lanes]: of what a lane loaded last */
    uint32_t warps;
    bool good;
} passed;

static uint64_t *last_of(const passed *b, uint32_t fill, uint32_t warp)
{
    return &b->last[((size_t)fill * b->warps + warp) * ACC_LANES];
}

static bool loads_for(const trial_fill *fill, uint32_t pc)
{
    for (uint32_t i = 0; i < fill->nloads; i++)
        if (fill->loads[i] == pc)
            return true;
    return false;
}

static void note_load(const passed *b, const acc_request *r)
{
    for (uint32_t f = 0; f < b->p->nfills; f++)
        for (uint32_t m = loads_for(&b->p->fills[f], r->pc) ? r->mask : 0; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            last_of(b, f, r->warp)[lane] = r->addr[lane];
        }
}

static const trial_fill *fill_at(const passing *p, uint32_t pc)
{
    for (uint32_t f = 0; f < p->nfills; f++)
        if (p->fills[f].pc == pc)
            return &p->fills[f];
    return NULL;
}

static void fill_words(passed *b, const acc_request *r)
{
    const trial_fill *fill = fill_at(b->p, r->pc);
    uint64_t *last = last_of(b, (uint32_t)(fill - b->p->fills), r->warp);
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t *words = &b->words[(r->addr[lane] - b->p->array->offset) / WORD];
        b->good &= last[lane] != NOTHING || fill->constant;
        for (uint32_t w = 0; w < r->bytes / WORD; w++)
            words[w] = last[lane] ? last[lane] + w * WORD : CONSTANT;
        if (fill->constant)
            last[lane] = NOTHING;
    }
}

/* Where in the object a lane's words lie; CONSTANT where they are none of its. They must lie as they
 * do in the array. */
static uint64_t source_of(passed *b, uint64_t at, uint32_t bytes)
{
    const uint64_t *words = &b->words[(at - b->p->array->offset) / WORD];
    for (uint32_t w = 0; w < bytes / WORD; w++)
        b->good &= words[w] != NOTHING &&
                   (words[0] == CONSTANT ? words[w] == CONSTANT : words[w] == words[0] + w * WORD);
    b->good &= words[0] == CONSTANT || words[0] % bytes == 0;
    return words[0];
}

static void read_words(passed *b, const acc_request *r)
{
    acc_request shown = *r;
    uint64_t addr[ACC_LANES] = {0};
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        addr[lane] = source_of(b, r->addr[lane], r->bytes);
        if (addr[lane] == CONSTANT)
            shown.mask &= ~(UINT32_C(1) << lane);
    }
    shown.pc = b->p->like;
    shown.space = ACC_GLOBAL;
    shown.object = b->p->object;
    shown.addr = addr;
    if (shown.mask && b->good)
        trial_show(b->to, &shown);
}

static bool stays(const passing *p, uint32_t pc)
{
    for (uint32_t i = 0; i < p->nkept; i++)
        if (p->kept[i] == pc)
            return true;
    return false;
}

static void pass_request(passed *b, const acc_request *r)
{
    if (r->space == ACC_GLOBAL) {
        note_load(b, r);
        if (stays(b->p, r->pc))
            trial_show(b->to, r);
    } else if (r->op == ACC_STORE)
        fill_words(b, r);
    else
        read_words(b, r);
}

static void pass_block(const void *how, const trial_log *log, const trial_shown *to)
{
    const passing *p = how;
    emu_dim size = p->t->launch->run.launch.block;
    uint32_t warps = (size.x * size.y * size.z + ACC_LANES - 1) / ACC_LANES;
    passed b = {.p = p,
                .to = to,
                .words = calloc(p->array->bytes / WORD + 1, sizeof(uint64_t)),
                .last = calloc((size_t)p->nfills * warps * ACC_LANES + 1, sizeof(uint64_t)),
                .warps = warps,
                .good = !log->full};
    b.good &= b.words && b.last;
    for (uint32_t i = 0; i < log->count && b.good; i++)
        pass_request(&b, trial_log_at(log, i));
    if (!b.good)
        atomic_store(p->failed, true);
    free(b.words);
    free(b.last);
}

static bool starts_in_array(const obs_shared *a, const acc_request *r)
{
    uint64_t at = r->addr[__builtin_ctz(r->mask)];
    return at >= a->offset && at < (uint64_t)a->offset + a->bytes;
}

static bool is_passed(const void *how, const acc_request *r)
{
    const passing *p = how;
    bool loads = false;
    for (uint32_t f = 0; f < p->nfills && r->space == ACC_GLOBAL; f++)
        loads |= loads_for(&p->fills[f], r->pc);
    return r->space == ACC_SHARED ? starts_in_array(p->array, r)
                                  : loads && r->op == ACC_LOAD && r->object == p->object;
}

/* ---- may it be tried? ---- */

static bool is_plain_use(const obs_insn *row)
{
    const uint32_t otherwise = ACC_VOLATILE | ACC_MATRIX | ACC_BULK | ACC_BARRIER;
    return (row->op == ACC_LOAD || row->op == ACC_STORE) && !(row->flags & otherwise) &&
           row->bytes % WORD == 0 && row->bytes <= 16;
}

/* Finds what fills the array; false where that is not only loads. */
static bool find_fills(const trial_work *t, const trial_rows *rows, passing *p)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const obs_insn *row = &rows->rows[i];
        if (!is_plain_use(row))
            return false;
        if (row->op != ACC_STORE)
            continue;
        if (p->nfills == MOST_FILLS)
            return false;
        trial_fill *fill = &p->fills[p->nfills++];
        if (!trial_fill_of(t->flow, row->pc, row->flags & ACC_ASYNC, fill))
            return false;
    }
    return p->nfills > 0;
}

static bool is_feeding(const passing *p, uint32_t pc)
{
    for (uint32_t f = 0; f < p->nfills; f++)
        if (loads_for(&p->fills[f], pc))
            return true;
    return false;
}

/* Do all loads that feed the array take elements of one object, which nothing changes? */
static bool find_object(const trial_work *t, passing *p)
{
    for (uint32_t i = 0; i < t->base.count; i++) {
        const obs_insn *row = &t->base.rows[i];
        if (row->space != ACC_GLOBAL || row->op != ACC_LOAD || !is_feeding(p, row->pc))
            continue;
        if (!row->object || (p->object && p->object != row->object) || p->nkept == MOST_FILLS)
            return false;
        if (!(row->flags & ACC_ASYNC) && !trial_feeds_only(t->flow, row->pc, p->fills, p->nfills))
            p->kept[p->nkept++] = row->pc;
        p->object = row->object;
        p->like = row->pc;
    }
    for (uint32_t i = 0; i < t->base.count; i++) {
        const obs_insn *row = &t->base.rows[i];
        if (row->space == ACC_GLOBAL && row->op != ACC_LOAD &&
            (!row->object || row->object == p->object))
            return false;
    }
    return p->object != 0;
}

/* ---- the trial ---- */

/* The array's rows, and those of the loads that feed it. */
static bool add_loads(const trial_work *t, const passing *p, trial_rows *rows)
{
    for (uint32_t i = 0; i < t->base.count; i++)
        if (t->base.rows[i].space == ACC_GLOBAL && t->base.rows[i].op == ACC_LOAD &&
            is_feeding(p, t->base.rows[i].pc))
            rows->rows[rows->count++] = t->base.rows[i];
    return rows->count > 0;
}

/* Lanes take neighbouring elements, or the same ones, as a rule: the array was not there to give
 * them an order that suits memory. */
static bool are_together(const trial_rows *after)
{
    uint64_t sectors = 0, fewest = 0;
    for (uint32_t i = 0; i < after->count; i++) {
        sectors += after->rows[i].sectors;
        fewest += after->rows[i].sectors_min;
    }
    return after->count && 2 * sectors <= 3 * fewest;
}

static wl_status pass_array(trial_work *t, uint32_t array)
{
    atomic_bool failed = false;
    passing p = {.t = t, .array = &t->launch->summary->shared[array], .failed = &failed};
    const trial_view view = {.choose = is_passed, .redo = pass_block, .how = &p};
    const obs_trial trial = {.kind = OBS_TRIAL_DIRECT, .object = array};
    trial_rows before, after;
    wl_status status = trial_rows_of(t, ACC_SHARED, array, &before);
    if (status != WL_OK || !find_fills(t, &before, &p) || !find_object(t, &p))
        return status;
    status = trial_run_changed(t, &(trial_run){.view = &view}, &after);
    if (status == WL_OK && !failed && are_together(&after) && add_loads(t, &p, &before))
        trial_add(t, trial, &before, &after);
    return status;
}

bool trial_has_shared_loads(const obs_summary *s)
{
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].space == ACC_SHARED && s->insns[i].object && s->insns[i].op == ACC_LOAD)
            return true;
    return false;
}

wl_status trial_direct(trial_work *t)
{
    trial_work few = *t;
    few.few = true;
    few.base = (trial_rows){0};
    wl_status status = trial_analyse(&few);
    if (status == WL_OK)
        status = trial_run_base(&few);
    for (uint32_t i = 1; i < t->launch->summary->nshared && status == WL_OK; i++)
        status = pass_array(&few, i);
    t->count = few.count;
    t->flow = few.flow;
    return status;
}
