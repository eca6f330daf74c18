/* Which rows of a heat map belong together. */
#include "analysis/heatmap/parts.h"

#include <string.h>

enum {
    MOST_PARTS = 8,
    FEW_ROWS = 16,    /* fewer are a part of their own only where they lie beside the others */
    MOST_INSNS = 512, /* of kernels with more, objects stay whole */
    BORDER = 16       /* sectors in common count from this part of an instruction's on */
};

typedef struct part_extent {
    uint32_t rows;
    uint64_t first, last; /* sectors */
} part_extent;

typedef struct splitter {
    const prof_heat *heat;
    const map_insn *insns;
    uint32_t ninsns;
    uint32_t *parent;    /* union-find over instructions */
    uint32_t *set_rows;  /* rows by pcset */
    uint32_t *insn_rows; /* rows by instruction */
    uint32_t *first;     /* an instruction of each pcset; UINT32_MAX: none is known */
    part_extent *extent; /* by root: what its part holds */
    uint32_t *part;      /* by root: number of its part + 1; 0: not numbered yet */
} splitter;

static uint32_t part_root(splitter *s, uint32_t i)
{
    while (s->parent[i] != i)
        i = s->parent[i] = s->parent[s->parent[i]];
    return i;
}

static void join_parts(splitter *s, uint32_t a, uint32_t b)
{
    uint32_t x = part_root(s, a), y = part_root(s, b);
    s->parent[x < y ? y : x] = x < y ? x : y;
}

static uint32_t index_of_pc(const splitter *s, uint32_t pc)
{
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].pc == pc)
            return i;
    return UINT32_MAX;
}

static void count_part_rows(splitter *s)
{
    for (uint32_t r = 0; r < s->heat->info.nrows; r++)
        s->set_rows[s->heat->rows[r].pcset]++;
    for (uint32_t set = 0; set < s->heat->npcsets; set++) {
        const obs_pcset *pcs = &s->heat->pcsets[set];
        s->first[set] = UINT32_MAX;
        for (uint32_t k = pcs->count; k-- > 0;) {
            uint32_t i = index_of_pc(s, pcs->pcs[k]);
            if (i != UINT32_MAX) {
                s->insn_rows[i] += s->set_rows[set];
                s->first[set] = i;
            }
        }
    }
}

static void join_families(splitter *s)
{
    for (uint32_t i = 0; i < s->ninsns; i++)
        s->parent[i] = i;
    for (uint32_t i = 0; i < s->ninsns; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (s->insns[i].family == s->insns[k].family) {
                join_parts(s, i, k);
                break;
            }
        }
    }
}

/* Joins the instructions of a pcset that have more than a border of their sectors in common. */
static void join_set(splitter *s, uint32_t set)
{
    const obs_pcset *pcs = &s->heat->pcsets[set];
    uint32_t a = s->first[set];
    for (uint32_t k = 0; k < pcs->count && a != UINT32_MAX; k++) {
        uint32_t b = index_of_pc(s, pcs->pcs[k]);
        if (b == UINT32_MAX)
            continue;
        uint32_t least = s->insn_rows[a] < s->insn_rows[b] ? s->insn_rows[a] : s->insn_rows[b];
        if ((uint64_t)s->set_rows[set] * BORDER >= least)
            join_parts(s, a, b);
    }
}

static void measure_parts(splitter *s)
{
    for (uint32_t r = 0; r < s->heat->info.nrows; r++) {
        const obs_heat_row *row = &s->heat->rows[r];
        if (s->first[row->pcset] == UINT32_MAX)
            continue;
        part_extent *e = &s->extent[part_root(s, s->first[row->pcset])];
        e->first = e->rows ? e->first : row->sector; /* rows ascend by sector */
        e->last = row->sector;
        e->rows++;
    }
}

/* A few rows amid those of the largest part are its edges or the odd element; beside them they are
 * a small array of a pool. */
static bool is_part(const part_extent *e, const part_extent *largest)
{
    bool beside = e->last < largest->first || e->first > largest->last;
    return e->rows >= FEW_ROWS || (e->rows > 0 && beside);
}

static uint32_t largest_unnumbered(const splitter *s)
{
    uint32_t largest = UINT32_MAX;
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (!s->part[i] && (largest == UINT32_MAX || s->extent[i].rows > s->extent[largest].rows))
            largest = i;
    return largest;
}

/* Numbers the parts from the largest on; rows that are no part of their own, and those of parts
 * beyond the most that there can be, get the largest one's. Returns how many parts there are. */
static uint32_t number_parts(splitter *s)
{
    uint32_t n = 0, largest = largest_unnumbered(s), next = largest;
    while (next != UINT32_MAX && s->extent[next].rows) {
        bool own = n < MOST_PARTS &&
                   (next == largest || is_part(&s->extent[next], &s->extent[largest]));
        s->part[next] = own ? ++n : 1;
        next = largest_unnumbered(s);
    }
    return n;
}

static uint32_t part_of_row(splitter *s, const obs_heat_row *row)
{
    uint32_t i = s->first[row->pcset];
    return i == UINT32_MAX ? 0 : s->part[part_root(s, i)] - 1;
}

static wl_status fill_parts(splitter *s, wl_arena *arena, uint32_t count, prof_heat *out)
{
    for (uint32_t p = 0; p < count; p++) {
        out[p] = *s->heat;
        out[p].rows = wl_new_array(arena, obs_heat_row, s->heat->info.nrows);
        out[p].info.nrows = 0;
        if (!out[p].rows)
            return WL_NOMEM;
    }
    for (uint32_t r = 0; r < s->heat->info.nrows; r++) {
        prof_heat *part = &out[part_of_row(s, &s->heat->rows[r])];
        part->rows[part->info.nrows++] = s->heat->rows[r];
    }
    return WL_OK;
}

wl_status parts_split(const prof_heat *heat, const map_insn *insns, uint32_t ninsns,
                      wl_arena *arena, uint32_t *count, prof_heat **out)
{
    splitter s = {.heat = heat,
                  .insns = insns,
                  .ninsns = ninsns,
                  .parent = wl_new_array(arena, uint32_t, ninsns + 1),
                  .set_rows = wl_new_array(arena, uint32_t, heat->npcsets + 1),
                  .insn_rows = wl_new_array(arena, uint32_t, ninsns + 1),
                  .first = wl_new_array(arena, uint32_t, heat->npcsets + 1),
                  .extent = wl_new_array(arena, part_extent, ninsns + 1),
                  .part = wl_new_array(arena, uint32_t, ninsns + 1)};
    *out = wl_new_array(arena, prof_heat, MOST_PARTS);
    if (!s.parent || !s.set_rows || !s.insn_rows || !s.first || !s.extent || !s.part || !*out)
        return WL_NOMEM;
    (*out)[0] = *heat;
    *count = 1;
    if (ninsns < 2 || ninsns > MOST_INSNS)
        return WL_OK;
    count_part_rows(&s);
    join_families(&s);
    for (uint32_t set = 0; set < heat->npcsets; set++)
        join_set(&s, set);
    measure_parts(&s);
    uint32_t n = number_parts(&s);
    if (n < 2)
        return WL_OK;
    *count = n;
    return fill_parts(&s, arena, n, *out);
}
