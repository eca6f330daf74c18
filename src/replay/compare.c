/* A slice's summary against the whole kernel's, row for row. */
#include "replay/compare.h"

#include "emu/slice.h"
#include "replay/paths.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct state {
    const replay_facts *facts;
    const emu_kernel *kernel; /* the slice */
    const obs_summary *whole, *slice;
    bool all; /* that the kernel accessed is shown */
    char *text;
    size_t size;
} state;

__attribute__((format(printf, 2, 3))) static bool differ(const state *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->text, s->size, format, args);
    va_end(args);
    return false;
}

static bool shown(const state *s, uint32_t pc)
{
    return emu_slice_shows(s->kernel, pc);
}

/* ---- rows ---- */

static bool rows_equal(const obs_insn *a, const obs_insn *b)
{
    return a->pc == b->pc && a->object == b->object && a->space == b->space && a->op == b->op &&
           a->bytes == b->bytes && a->flags == b->flags && a->requests == b->requests &&
           a->active_lanes == b->active_lanes && a->sectors == b->sectors &&
           a->sectors_min == b->sectors_min && a->wavefronts == b->wavefronts &&
           a->wavefronts_min == b->wavefronts_min && a->turns == b->turns &&
           a->uniform == b->uniform && a->contiguous == b->contiguous &&
           a->misaligned == b->misaligned && a->strided == b->strided &&
           a->irregular == b->irregular && a->stride == b->stride;
}

static bool agree_rows(state *s)
{
    uint32_t at = 0;
    s->all = true;
    for (uint32_t i = 0; i < s->whole->ninsns; i++) {
        const obs_insn *row = &s->whole->insns[i];
        if (!shown(s, row->pc)) {
            s->all = false;
            continue;
        }
        if (at == s->slice->ninsns)
            return differ(s, "instruction %u on object %u is missing", row->pc, row->object);
        const obs_insn *got = &s->slice->insns[at++];
        if (!rows_equal(row, got))
            return differ(s,
                          "instruction %u on object %u: %llu requests, %llu sectors; the slice has "
                          "instruction %u on object %u: %llu requests, %llu sectors",
                          row->pc, row->object, (unsigned long long)row->requests,
                          (unsigned long long)row->sectors, got->pc, got->object,
                          (unsigned long long)got->requests, (unsigned long long)got->sectors);
    }
    return at == s->slice->ninsns ||
           differ(s, "the slice shows instruction %u, which the kernel did not execute",
                  s->slice->insns[at].pc);
}

/* ---- heat maps ---- */

static bool set_has(const obs_pcset *set, uint32_t pc)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->pcs[i] == pc)
            return true;
    return false;
}

/* Whether the slice's set is the shown part of the other. */
static bool sets_agree(const state *s, const obs_pcset *whole, const obs_pcset *slice)
{
    uint32_t expected = 0;
    for (uint32_t i = 0; i < whole->count; i++) {
        expected += shown(s, whole->pcs[i]);
        if (shown(s, whole->pcs[i]) && !set_has(slice, whole->pcs[i]))
            return false;
    }
    return expected == slice->count;
}

static bool heat_rows_agree(const state *s, const obs_heat_row *whole, const obs_heat_row *slice)
{
    bool equal = whole->history == slice->history && whole->reads == slice->reads &&
                 whole->writes == slice->writes && whole->atomics == slice->atomics &&
                 whole->owner == slice->owner;
    bool part = !(slice->history & ~whole->history) && slice->reads <= whole->reads &&
                slice->writes <= whole->writes && slice->atomics <= whole->atomics;
    for (int i = 0; i < OBS_WORDS_PER_SECTOR; i++) {
        equal &= whole->word[i] == slice->word[i];
        part &= !(slice->word[i] & ~whole->word[i]);
    }
    return s->all ? equal : part;
}

static bool any_shown(const state *s, const obs_pcset *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (shown(s, set->pcs[i]))
            return true;
    return false;
}

/* `slice` may be NULL: then nothing of the other may be shown. */
static bool heats_agree(const state *s, const obs_heat *whole, const obs_heat *slice)
{
    uint32_t at = 0, n = slice ? slice->nrows : 0;
    for (uint32_t i = 0; i < whole->nrows; i++) {
        const obs_heat_row *row = &whole->rows[i];
        if (!any_shown(s, &whole->pcsets[row->pcset]))
            continue;
        const obs_heat_row *got = at < n ? &slice->rows[at++] : NULL;
        if (!got || got->sector != row->sector || !heat_rows_agree(s, row, got) ||
            !sets_agree(s, &whole->pcsets[row->pcset], &slice->pcsets[got->pcset]))
            return differ(s, "heat map of object %u, block %llu: sector %llu differs%s",
                          whole->object, (unsigned long long)whole->block,
                          (unsigned long long)row->sector, got ? "" : " (is missing)");
    }
    return at == n || differ(s, "heat map of object %u has sector %llu too many", whole->object,
                             (unsigned long long)slice->rows[at].sector);
}

static const obs_heat *heat_of(const obs_summary *summary, const obs_heat *like)
{
    for (uint32_t i = 0; i < summary->nheats; i++) {
        const obs_heat *h = &summary->heats[i];
        if (h->object == like->object && h->space == like->space && h->block == like->block)
            return h;
    }
    return NULL;
}

static bool has_map(const obs_summary *summary, uint64_t block)
{
    for (uint32_t i = 0; i < summary->nsamples; i++)
        if (summary->samples[i].block == block)
            return summary->samples[i].mapped;
    return false;
}

/* Which blocks get maps depends on all that they did: of a part of it others may. */
static bool agree_heats(const state *s)
{
    for (uint32_t i = 0; i < s->whole->nheats; i++) {
        const obs_heat *heat = &s->whole->heats[i], *got = heat_of(s->slice, heat);
        if ((s->facts->whole || has_map(s->slice, heat->block)) && !heats_agree(s, heat, got))
            return false;
    }
    for (uint32_t i = 0; i < s->slice->nheats; i++) {
        const obs_heat *heat = &s->slice->heats[i];
        if ((s->facts->whole || has_map(s->whole, heat->block)) && !heat_of(s->whole, heat))
            return differ(s, "the slice has a heat map of object %u, block %llu", heat->object,
                          (unsigned long long)heat->block);
    }
    return true;
}

/* ---- uses of sectors ---- */

/* Where the slice shows all that the kernel accessed. */
static bool agree_reuses(const state *s)
{
    const obs_summary *a = s->whole, *b = s->slice;
    if (!s->facts->whole || !s->all)
        return true;
    if (a->nreuses != b->nreuses)
        return differ(s, "%u rows tell of uses of sectors; of the slice %u", a->nreuses,
                      b->nreuses);
    for (uint32_t i = 0; i < a->nreuses; i++) {
        const obs_reuse *x = &a->reuses[i], *y = &b->reuses[i];
        if (x->block != y->block || x->object != y->object || x->distance != y->distance ||
            x->loads != y->loads || x->stores != y->stores || x->waits != y->waits)
            return differ(s, "uses of object %u by block %llu differ", x->object,
                          (unsigned long long)x->block);
    }
    return true;
}

/* ---- elements ---- */

static bool reuse_equal(const obs_use *x, const obs_use *y)
{
    bool equal = x->reuse == y->reuse && x->unfilled == y->unfilled && x->nlive == y->nlive &&
                 x->block_words == y->block_words && x->block_words_most == y->block_words_most &&
                 x->block_accesses == y->block_accesses && x->blocks == y->blocks;
    for (uint32_t i = 0; i < x->nlive && equal; i++)
        equal = x->live[i].origin == y->live[i].origin && x->live[i].ranges == y->live[i].ranges &&
                x->live[i].accesses == y->live[i].accesses;
    return equal && memcmp(x->ranges, y->ranges, sizeof x->ranges) == 0 &&
           memcmp(x->range_accesses, y->range_accesses, sizeof x->range_accesses) == 0;
}

/* Where the slice shows all that the kernel accessed. */
static bool agree_uses(const state *s)
{
    const obs_summary *a = s->whole, *b = s->slice;
    if (!s->facts->whole || !s->all)
        return true;
    if (a->nuses != b->nuses)
        return differ(s, "elements of %u objects are known; of the slice %u", a->nuses, b->nuses);
    for (uint32_t i = 0; i < a->nuses; i++) {
        const obs_use *x = &a->uses[i], *y = &b->uses[i];
        if (x->object != y->object || x->space != y->space || x->known != y->known ||
            x->length != y->length || memcmp(x->spans, y->spans, x->length) != 0)
            return differ(s, "the elements of object %u differ", x->object);
        if (!reuse_equal(x, y))
            return differ(s, "what blocks do to the elements of object %u differs", x->object);
    }
    return true;
}

/* ---- sequences ---- */

static bool pages_equal(const obs_page *a, uint32_t na, const obs_page *b, uint32_t nb)
{
    bool equal = na == nb;
    for (uint32_t i = 0; equal && i < na; i++)
        equal = a[i].count == b[i].count && a[i].length == b[i].length &&
                memcmp(a[i].data, b[i].data, a[i].length) == 0;
    return equal;
}

static bool warps_equal(const obs_warps *a, const obs_warps *b)
{
    bool equal = a->sequence == b->sequence && a->nslots == b->nslots;
    for (uint32_t i = 0; equal && i < a->nslots; i++)
        equal = a->slots[i].space == b->slots[i].space && a->slots[i].object == b->slots[i].object;
    return equal && pages_equal(a->pages, a->npages, b->pages, b->npages);
}

static bool agree_paths(const state *s)
{
    replay_paths_differ differs;
    if (replay_compare_paths(s->kernel, s->whole, s->slice, &differs) != WL_OK)
        return differ(s, "out of memory while comparing paths");
    return !differs.any || differ(s, "the path of lane %u of warp %u, block %llu, differs",
                                  differs.lane, differs.warp, (unsigned long long)differs.block);
}

/* To the byte, where the slice shows all that the kernel did. */
static bool agree_sequences(const state *s)
{
    const obs_summary *a = s->whole, *b = s->slice;
    if (!s->facts->whole || !s->all)
        return agree_paths(s);
    if (a->nsequences != b->nsequences || a->nwarps != b->nwarps ||
        a->warps_dropped != b->warps_dropped)
        return differ(s, "%u sequences, %u groups of warps; of the slice %u, %u", a->nsequences,
                      a->nwarps, b->nsequences, b->nwarps);
    for (uint32_t i = 0; i < a->nsequences; i++)
        if (!pages_equal(a->sequences[i].pages, a->sequences[i].npages, b->sequences[i].pages,
                         b->sequences[i].npages))
            return differ(s, "sequence %u differs", i);
    for (uint32_t i = 0; i < a->nwarps; i++)
        if (!warps_equal(&a->warps[i], &b->warps[i]))
            return differ(s, "the warps of group %u differ", i);
    return true;
}

/* ---- counts ---- */

static const obs_block_count *block_at(const obs_summary *summary, uint32_t first_pc)
{
    for (uint32_t i = 0; i < summary->nblocks; i++)
        if (summary->blocks[i].first_pc == first_pc && summary->blocks[i].ninsns)
            return &summary->blocks[i];
    return NULL;
}

/* Lanes that a wait for other blocks has parted may come one after another. */
static bool counts_agree(const state *s, const obs_block_count *whole, const obs_block_count *slice)
{
    return whole->ninsns == slice->ninsns && whole->lanes == slice->lanes &&
           (whole->executions == slice->executions ||
            (!s->facts->whole && whole->executions > slice->executions));
}

static bool agree_blocks(const state *s)
{
    for (uint32_t i = 0; i < s->slice->nblocks; i++) {
        const obs_block_count *got = &s->slice->blocks[i];
        if (!got->ninsns) /* the end of a function */
            continue;
        const obs_block_count *block = block_at(s->whole, got->first_pc);
        if (!block || !counts_agree(s, block, got))
            return differ(s,
                          "basic block at %u: %llu executions by %llu lanes; the slice has %llu "
                          "by %llu",
                          got->first_pc, (unsigned long long)(block ? block->executions : 0),
                          (unsigned long long)(block ? block->lanes : 0),
                          (unsigned long long)got->executions, (unsigned long long)got->lanes);
    }
    bool totals = s->whole->nblocks == s->slice->nblocks &&
                  s->whole->warp_instructions == s->slice->warp_instructions &&
                  s->whole->thread_instructions == s->slice->thread_instructions &&
                  memcmp(&s->whole->mix, &s->slice->mix, sizeof s->whole->mix) == 0;
    return !s->facts->whole || totals || differ(s, "the totals differ");
}

static bool agree_launch(const state *s)
{
    const obs_summary *a = s->whole, *b = s->slice;
    bool same = a->blocks_run == b->blocks_run && a->blocks_observed == b->blocks_observed;
    if (!same || (s->facts->whole && a->blocks_sampled != b->blocks_sampled))
        return differ(s, "%llu blocks observed, %llu sampled; of the slice %llu, %llu",
                      (unsigned long long)a->blocks_observed, (unsigned long long)a->blocks_sampled,
                      (unsigned long long)b->blocks_observed,
                      (unsigned long long)b->blocks_sampled);
    same = a->nshared == b->nshared;
    for (uint32_t i = 0; same && i < a->nshared; i++)
        same = strcmp(a->shared[i].name, b->shared[i].name) == 0 &&
               a->shared[i].offset == b->shared[i].offset &&
               a->shared[i].bytes == b->shared[i].bytes;
    return same || differ(s, "arrays in shared memory differ");
}

bool replay_agree(const replay_facts *facts, const emu_kernel *kernel, const obs_summary *whole,
                  const obs_summary *slice, char *text, size_t size)
{
    state s = {.facts = facts,
               .kernel = kernel,
               .whole = whole,
               .slice = slice,
               .text = text,
               .size = size};
    return agree_launch(&s) && agree_rows(&s) && agree_heats(&s) && agree_reuses(&s) &&
           agree_uses(&s) && agree_sequences(&s) && agree_blocks(&s);
}
