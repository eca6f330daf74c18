#include "replay/patched.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* The object that all of it lies in; 0: there is none, or others lie in that. */
static uint32_t object_of(const replay_patched *p, const cap_patched_insn *insn)
{
    emu_alloc found;
    if (insn->low >= insn->high || !emu_mem_find_object(p->machine, insn->low, &found) ||
        found.divided || insn->high - found.base > found.size)
        return 0;
    return found.id;
}

/* The array that all of it lies in; 0: none does. */
static uint32_t array_of(const obs_summary *s, const cap_patched_insn *insn)
{
    for (uint32_t i = 1; i < s->nshared; i++) {
        const obs_shared *array = &s->shared[i];
        if (insn->low >= array->offset && insn->low < insn->high &&
            insn->high <= (uint64_t)array->offset + array->bytes)
            return i;
    }
    return 0;
}

/* An update whose result nobody gets; only the code tells that. */
static bool is_reduction_insn(const replay_patched *p, const obs_insn *row)
{
    char name[64];
    return p->code && row->op == ACC_ATOMIC && row->pc < p->code->count &&
           strncmp(sass_body_name(p->code, row->pc, name, sizeof name), "RED", 3) == 0;
}

static obs_insn counted_row(const replay_patched *p, const obs_summary *s,
                            const cap_patched_insn *insn)
{
    obs_insn row = insn->row;
    row.object = row.space == ACC_GLOBAL   ? object_of(p, insn)
                 : row.space == ACC_SHARED ? array_of(s, insn)
                                           : 0;
    if (is_reduction_insn(p, &row))
        row.op = ACC_REDUCTION;
    return row;
}

static int by_row(const void *a, const void *b)
{
    const obs_insn *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->space != y->space ? (x->space < y->space ? -1 : 1)
                                : (x->op > y->op) - (x->op < y->op);
}

/* ---- which gaps are filled ---- */

/* The letters of an instruction's name before its modifiers: "LDG" of "LDG.E.64". */
static size_t operation_of(const replay_patched *p, uint32_t pc, char *name, size_t size)
{
    sass_body_name(p->code, pc, name, size);
    return strcspn(name, ".");
}

/* Instructions without a count did not run, as long as the patches are known to see their like: another
 * one of the same operation was counted. */
static bool did_not_run(const replay_patched *p, uint32_t pc)
{
    char name[64], other[64];
    if (!p->code || pc >= p->code->count)
        return false;
    size_t length = operation_of(p, pc, name, sizeof name);
    for (uint32_t i = 0; i < p->counted->count; i++) {
        uint32_t at = p->counted->insns[i].row.pc;
        if (at < p->code->count && operation_of(p, at, other, sizeof other) == length &&
            memcmp(name, other, length) == 0)
            return true;
    }
    return false;
}

/* ---- joining ---- */

typedef struct joining {
    const replay_patched *p;
    uint32_t npcs;
    uint8_t *counted; /* [pcs]: there are counts of it, */
    uint8_t *filled;  /* and they stand for it */
} joining;

static uint32_t pcs_of(const replay_patched *p, const cap_gap *gaps, uint32_t ngaps)
{
    uint32_t n = p->code ? p->code->count : 0;
    for (uint32_t i = 0; i < ngaps; i++)
        n = gaps[i].pc >= n ? gaps[i].pc + 1 : n;
    return n;
}

/* Rows of the slice go where a part of what the instruction does was shown. */
static wl_status put_counted_rows(const joining *j, wl_arena *arena, obs_summary *s)
{
    const cap_patched *c = j->p->counted;
    obs_insn *all = wl_new_array(arena, obs_insn, s->ninsns + c->count + 1);
    uint32_t n = 0;
    if (!all)
        return WL_NOMEM;
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].pc >= j->npcs || !j->filled[s->insns[i].pc])
            all[n++] = s->insns[i];
    for (uint32_t i = 0; i < c->count; i++)
        if (c->insns[i].row.pc < j->npcs && j->filled[c->insns[i].row.pc])
            all[n++] = counted_row(j->p, s, &c->insns[i]);
    qsort(all, n, sizeof *all, by_row);
    s->insns = all;
    s->ninsns = n;
    return WL_OK;
}

wl_status replay_patched_join(const replay_patched *p, const cap_gap *gaps, uint32_t ngaps,
                              wl_arena *arena, obs_summary *summary, cap_way *way)
{
    joining j = {.p = p, .npcs = pcs_of(p, gaps, ngaps)};
    cap_gap *left = wl_new_array(arena, cap_gap, ngaps + 1);
    j.counted = wl_new_array(arena, uint8_t, j.npcs + 1);
    j.filled = wl_new_array(arena, uint8_t, j.npcs + 1);
    if (!left || !j.counted || !j.filled)
        return WL_NOMEM;
    for (uint32_t i = 0; i < p->counted->count; i++)
        if (p->counted->insns[i].row.pc < j.npcs)
            j.counted[p->counted->insns[i].row.pc] = 1;
    way->gaps = left;
    way->count = 0;
    for (uint32_t i = 0; i < ngaps; i++) {
        bool counted = j.counted[gaps[i].pc];
        j.filled[gaps[i].pc] = counted;
        if (!counted && !did_not_run(p, gaps[i].pc))
            left[way->count++] = gaps[i];
    }
    summary->dropped += p->counted->elsewhere;
    return put_counted_rows(&j, arena, summary);
}

wl_status replay_patched_alone(const replay_patched *p, wl_arena *arena, obs_summary *summary)
{
    const cap_patched *c = p->counted;
    const uint32_t *grid = p->note->grid;
    *summary = (obs_summary){.blocks_run = (uint64_t)grid[0] * grid[1] * grid[2],
                             .dropped = c->elsewhere,
                             .nshared = 1,
                             .shared = wl_new(arena, obs_shared),
                             .insns = wl_new_array(arena, obs_insn, c->count + 1)};
    if (!summary->shared || !summary->insns)
        return WL_NOMEM;
    summary->blocks_observed = summary->blocks_run;
    summary->shared->name = "";
    for (uint32_t i = 0; i < c->count; i++)
        summary->insns[summary->ninsns++] = counted_row(p, summary, &c->insns[i]);
    qsort(summary->insns, summary->ninsns, sizeof *summary->insns, by_row);
    return WL_OK;
}
