/* Source lines by what their instructions did. */
#include "analysis/tables.h"

#include "base/vec.h"

#include <stdlib.h>

typedef struct line_vec {
    ana_source_line *data;
    size_t count, capacity;
} line_vec;

static int by_place(const void *a, const void *b)
{
    const ana_source_line *x = a, *y = b;
    if (x->kernel != y->kernel) {
        return x->kernel < y->kernel ? -1 : 1;
    }
    if (x->file != y->file) {
        return x->file < y->file ? -1 : 1;
    }
    return x->line < y->line ? -1 : x->line > y->line;
}

static bool same_place(const ana_source_line *a, const ana_source_line *b)
{
    return a->kernel == b->kernel && a->file == b->file && a->line == b->line;
}

static ana_source_line at(const prof_code_rows *code, uint32_t kernel, uint32_t pc)
{
    const prof_code *c = prof_find_code(code, kernel, pc);
    return (ana_source_line){.kernel = kernel, .file = c ? c->file : 0, .line = c ? c->line : 0};
}

/* Each instruction of a basic block is executed as often as the block. */
static bool add_blocks(line_vec *lines, const prof_code_rows *code, const prof_block_rows *blocks)
{
    for (uint32_t i = 0; i < blocks->count; i++) {
        const prof_block *b = &blocks->rows[i];
        for (uint32_t k = 0; k < b->ninsns && prof_find_code(code, b->kernel, b->first_pc + k);
             k++) {
            ana_source_line row = at(code, b->kernel, b->first_pc + k);
            row.counts.executions = b->executions;
            row.counts.thread_instructions = b->lanes;
            if (!wl_push(lines, row)) {
                return false;
            }
        }
    }
    return true;
}

static bool add_instructions(line_vec *lines, const prof_code_rows *code,
                             const prof_instruction_rows *totals)
{
    for (uint32_t i = 0; i < totals->count; i++) {
        const prof_instruction *t = &totals->rows[i];
        ana_source_line row = at(code, t->kernel, t->c.pc);
        row.counts.requests = t->c.requests;
        row.counts.active_lanes = t->c.active_lanes;
        row.counts.sectors = t->c.sectors;
        row.counts.sectors_min = t->c.sectors_min;
        row.counts.wavefronts = t->c.wavefronts;
        row.counts.wavefronts_min = t->c.wavefronts_min;
        if (!wl_push(lines, row)) {
            return false;
        }
    }
    return true;
}

static void add(ana_counts *to, const ana_counts *from)
{
    to->executions += from->executions;
    to->thread_instructions += from->thread_instructions;
    to->requests += from->requests;
    to->active_lanes += from->active_lanes;
    to->sectors += from->sectors;
    to->sectors_min += from->sectors_min;
    to->wavefronts += from->wavefronts;
    to->wavefronts_min += from->wavefronts_min;
}

/* One row a place, in order. */
static void join(line_vec *lines)
{
    size_t kept = 0;
    if (lines->count) {
        qsort(lines->data, lines->count, sizeof *lines->data, by_place);
    }
    for (size_t i = 0; i < lines->count; i++) {
        if (kept && same_place(&lines->data[kept - 1], &lines->data[i])) {
            add(&lines->data[kept - 1].counts, &lines->data[i].counts);
        } else {
            lines->data[kept++] = lines->data[i];
        }
    }
    lines->count = kept;
}

static wl_status add_kernel(prof_db *db, uint32_t kernel, line_vec *lines, wl_error *err)
{
    prof_code_rows code;
    prof_block_rows blocks;
    prof_instruction_rows totals;
    wl_arena *scratch = wl_arena_new();
    if (!scratch) {
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    }
    wl_status status = prof_load_code(db, kernel, scratch, &code, err);
    status = status == WL_OK ? prof_load_block_totals(db, kernel, scratch, &blocks, err) : status;
    status = status == WL_OK ? prof_load_instruction_totals(db, kernel, scratch, &totals, err)
                             : status;
    if (status == WL_OK &&
        (!add_blocks(lines, &code, &blocks) || !add_instructions(lines, &code, &totals))) {
        status = wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    }
    wl_arena_free(scratch);
    return status;
}

wl_status ana_line_table(prof_db *profile, uint32_t kernel, wl_arena *arena, ana_source_lines *out,
                         wl_error *err)
{
    line_vec lines = {0};
    prof_kernel_rows kernels;
    *out = (ana_source_lines){0};
    wl_status status = prof_load_kernels(profile, arena, &kernels, err);
    for (uint32_t i = 0; status == WL_OK && i < kernels.count; i++) {
        if (kernel == PROF_ALL || kernel == kernels.rows[i].id) {
            status = add_kernel(profile, kernels.rows[i].id, &lines, err);
        }
    }
    if (status == WL_OK) {
        join(&lines);
        out->count = (uint32_t)lines.count;
        out->rows = wl_arena_copy(arena, lines.data ? lines.data : (void *)"",
                                  lines.count * sizeof *lines.data);
        status = out->rows ? WL_OK
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    }
    wl_vec_free(&lines);
    return status;
}
