/* What a block does to a shared array, phase after phase, as columns of bytes for the HTML report. */
#include "report/impl.h"
#include "report/keys.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUN_BYTES = 10 * 4 + 2, /* of one run in all columns */
    PHASE_BYTES = 4 + 4,
    SHARE = 4 /* an array takes one in so many of the bytes that are left, at most */
};

typedef struct packing {
    rep_columns to;
    const ana_phases *phases;
    uint32_t count, nruns; /* the first phases, and their runs */
    uint32_t *set_of;      /* of the block's sets: 1 + the array's; 0: not used */
} packing;

/* ---- columns ---- */

#define PHASE_COLUMN(p, name, expression)                            \
    do {                                                             \
        for (uint32_t i = 0; i < (p)->count; i++) {                  \
            const ana_phase *phase = &(p)->phases->rows[i];          \
            rep_put_element(&(p)->to, (p)->count, 4, i, expression); \
        }                                                            \
        rep_end_column(&(p)->to, name, (p)->count, 4);               \
    } while (0)

#define RUN_COLUMN(p, name, width, expression)                                \
    do {                                                                      \
        uint32_t at = 0;                                                      \
        for (uint32_t i = 0; i < (p)->count; i++)                             \
            for (uint32_t k = 0; k < (p)->phases->rows[i].nruns; k++, at++) { \
                const ana_word_run *run = &(p)->phases->rows[i].runs[k];      \
                rep_put_element(&(p)->to, (p)->nruns, width, at, expression); \
            }                                                                 \
        rep_end_column(&(p)->to, name, (p)->nruns, width);                    \
    } while (0)

static void put_phase_columns(packing *p)
{
    PHASE_COLUMN(p, K(page_phase_columns, size), phase->nruns);
    PHASE_COLUMN(p, K(page_phase_columns, end), phase->end);
    RUN_COLUMN(p, K(page_phase_columns, first), 4, run->first);
    RUN_COLUMN(p, K(page_phase_columns, repeat), 4, run->count);
    RUN_COLUMN(p, K(page_phase_columns, loads), 4, run->use.loads);
    RUN_COLUMN(p, K(page_phase_columns, stores), 4, run->use.stores);
    RUN_COLUMN(p, K(page_phase_columns, atomics), 4, run->use.atomics);
    RUN_COLUMN(p, K(page_phase_columns, readers), 4, run->use.readers);
    RUN_COLUMN(p, K(page_phase_columns, writers), 4, run->use.writers);
    RUN_COLUMN(p, K(page_phase_columns, pcset), 4, p->set_of[run->use.set] - 1);
    RUN_COLUMN(p, K(page_phase_columns, begun), 4, run->use.begun);
    RUN_COLUMN(p, K(page_phase_columns, accesses), 4, run->use.accesses);
    RUN_COLUMN(p, K(page_phase_columns, origin), 1, run->use.origin);
    RUN_COLUMN(p, K(page_phase_columns, updated), 1, run->use.updated);
}

/* ---- sets of instructions ---- */

static json_t *set_json(const ana_pcs *set)
{
    json_t *pcs = json_array();
    for (uint32_t i = 0; i < set->count; i++)
        json_array_append_new(pcs, json_integer(set->pcs[i]));
    return pcs;
}

/* Those that the phases name, numbered as they come. */
static json_t *sets_json(packing *p)
{
    json_t *sets = json_array();
    memset(p->set_of, 0, p->phases->nsets * sizeof *p->set_of);
    p->nruns = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const ana_phase *phase = &p->phases->rows[i];
        for (uint32_t k = 0; k < phase->nruns; k++) {
            uint32_t set = phase->runs[k].use.set;
            if (p->set_of[set])
                continue;
            json_array_append_new(sets, set_json(&p->phases->sets[set]));
            p->set_of[set] = (uint32_t)json_array_size(sets);
        }
        p->nruns += phase->nruns;
    }
    return sets;
}

/* ---- rows ---- */

static json_t *phases_json(const packing *p)
{
    const ana_phases *a = p->phases;
    json_t *row = json_object();
    rep_put_count(row, K(page_phases, object), a->object);
    rep_put_count(row, K(page_phases, kernel), a->kernel);
    rep_put_count(row, K(page_phases, launch), a->launch);
    rep_put_dim(row, K(page_phases, block), a->block);
    rep_put_count(row, K(page_phases, warps), a->warps);
    rep_put_count(row, K(page_phases, words), a->nwords);
    rep_put_count(row, K(page_phases, first_bank), a->first_bank);
    rep_put_count(row, K(page_phases, phases), p->count);
    rep_put_count(row, K(page_phases, left_out), a->count - p->count);
    rep_put_count(row, K(page_phases, rows), p->nruns);
    return row;
}

/* As many of the first phases as take `most` bytes; NULL where none does, or without memory. */
static json_t *pack_fitting(packing *p, uint64_t most, rep_part *part)
{
    while (p->count) {
        json_t *sets = sets_json(p), *row = phases_json(p);
        size_t bytes = (size_t)p->nruns * RUN_BYTES + (size_t)p->count * PHASE_BYTES;
        if (rep_columns_init(&p->to, bytes))
            put_phase_columns(p);
        json_t *columns = rep_pack_columns(&p->to, part);
        rep_put(row, K(page_phases, pcsets), sets);
        if (columns && part->size <= most) {
            rep_put(row, K(page_phases, columns), columns);
            return row;
        }
        json_decref(columns);
        json_decref(row);
        free(part->data);
        *part = (rep_part){0};
        p->count = columns ? p->count / 2 : 0;
    }
    return NULL;
}

json_t *rep_pack_phases(const ana_phases *phases, rep_parts *parts)
{
    packing p = {.phases = phases, .count = phases->count};
    rep_part part = {0};
    p.set_of = calloc(phases->nsets + 1u, sizeof *p.set_of);
    json_t *row = p.set_of ? pack_fitting(&p, parts->phase_room / SHARE, &part) : NULL;
    if (row) {
        rep_put_count(row, K(page_phases, part), parts->count);
        parts->phase_room -= part.size;
        rep_add_part(parts, part);
    }
    free(p.set_of);
    return row;
}
