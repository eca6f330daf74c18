#include "warps.h"

#include "report/impl.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

static uint64_t state = 11;

static uint64_t below(uint64_t n)
{
    return (random_next(&state) >> 20) % n;
}

static wl_step random_step(void)
{
    uint64_t kind = below(6);
    wl_step step = {.pc = (uint32_t)below(3000),
                    .mask = below(3) ? UINT32_MAX : (uint32_t)random_next(&state) | 1u << below(32),
                    .slot = kind == 0   ? WL_STEP_BARRIER
                            : kind == 1 ? WL_STEP_ENTRY
                                        : (uint32_t)kind % SAMPLE_SLOTS};
    int64_t begin = (int64_t)below(UINT64_C(1) << 40) - (INT64_C(1) << 39);
    int64_t stride = (int64_t)below(300) - 150;
    bool random = below(2);
    for (int lane = 0; lane < WL_STEP_LANES; lane++)
        step.offset[lane] = begin + (random ? (int64_t)below(1 << 20) - 4096 : lane * stride);
    return step;
}

/* A fourth of the steps comes in rounds of the same few. */
static const wl_folded *make_pages(wl_arena *arena, uint32_t *npages)
{
    enum { ROUND = 7, FIRST_PAGE = 4096 };
    wl_folded *pages = wl_new_array(arena, wl_folded, 2);
    wl_folder *folder = wl_folder_new();
    wl_fold_bytes bytes = {0};
    wl_step round[ROUND];
    *npages = 2;
    for (uint32_t i = 0; i < ROUND; i++)
        round[i] = random_step();
    for (uint32_t i = 0, steps = 0; i < 2; i++) {
        bytes.count = 0;
        for (; steps < SAMPLE_STEPS && wl_folder_count(folder) < FIRST_PAGE; steps++) {
            wl_step *again = &round[steps % ROUND], other = random_step();
            again->offset[0] += 32 * (steps % 5 == 0);
            if (!wl_folder_put(folder, steps / 512 % 4 == 3 ? again : &other))
                abort();
        }
        uint32_t count = wl_folder_count(folder);
        if (!wl_folder_end(folder, &bytes))
            abort();
        pages[i] = (wl_folded){wl_arena_copy(arena, bytes.data, bytes.count), bytes.count, count,
                               SAMPLE_SLOTS};
    }
    wl_folder_free(folder);
    wl_vec_free(&bytes);
    return pages;
}

static const prof_slot *make_slots(wl_arena *arena, uint32_t second)
{
    prof_slot *slots = wl_new_array(arena, prof_slot, SAMPLE_SLOTS);
    slots[0] = (prof_slot){ACC_GLOBAL, 1};
    slots[1] = (prof_slot){ACC_SHARED, second};
    return slots;
}

static void make_warps(prof_warp *warps, wl_arena *arena)
{
    const wl_folded *pages[SAMPLE_SEQUENCES];
    uint32_t npages = 0;
    const prof_slot *slots[SAMPLE_SEQUENCES + 1];
    for (uint32_t i = 0; i < SAMPLE_SEQUENCES; i++)
        pages[i] = make_pages(arena, &npages);
    for (uint32_t i = 0; i <= SAMPLE_SEQUENCES; i++)
        slots[i] = make_slots(arena, 2 + i);
    for (uint32_t i = 0; i < SAMPLE_WARPS; i++) {
        int64_t *begin = wl_new_array(arena, int64_t, SAMPLE_SLOTS);
        begin[0] = (int64_t)below(UINT64_C(1) << 36) - 4096;
        begin[1] = (int64_t)below(8192);
        uint32_t sequence = i * i % SAMPLE_SEQUENCES;
        bool other = sequence == 0 && i % 4 == 0; /* objects than the rest of the sequence */
        warps[i] = (prof_warp){.block = i / 8 * 3,
                               .number = i % 8,
                               .nslots = SAMPLE_SLOTS,
                               .slots = slots[other ? SAMPLE_SEQUENCES : sequence],
                               .begin = begin,
                               .npages = npages,
                               .pages = pages[sequence]};
    }
}

void sample_warps(ana_explore *out, wl_arena *arena)
{
    prof_warp *warps = wl_new_array(arena, prof_warp, SAMPLE_WARPS);
    state = 11;
    make_warps(warps, arena);
    *out = (ana_explore){.launch = 1,
                         .kernel = 1,
                         .blocks = 256,
                         .blocks_known = SAMPLE_WARPS / 8,
                         .paths = true,
                         .warps = {SAMPLE_WARPS, warps},
                         .kind_of = wl_new_array(arena, uint32_t, SAMPLE_WARPS),
                         .nsequences = SAMPLE_SEQUENCES,
                         .nkinds = 1,
                         .kinds = wl_new_array(arena, ana_warp_kind, 1),
                         .nclusters = 1,
                         .clusters = wl_new_array(arena, ana_warp_cluster, 1)};
    out->kinds[0].counts.operations = SAMPLE_STEPS;
    out->clusters[0].warps = SAMPLE_WARPS;
}

static json_t *lanes_json(const wl_step *step)
{
    json_t *offsets = json_array();
    for (int lane = 0; lane < WL_STEP_LANES; lane++)
        json_array_append_new(offsets, step->mask >> lane & 1 ? json_integer(step->offset[lane])
                                                              : json_null());
    return offsets;
}

static json_t *step_json(const wl_step *s)
{
    if (!wl_step_accesses(s))
        return json_pack("{s:s,s:I,s:I}", "kind", s->slot == WL_STEP_ENTRY ? "entry" : "barrier",
                         "pc", (json_int_t)s->pc, "mask", (json_int_t)s->mask);
    return json_pack("{s:s,s:I,s:I,s:i,s:o}", "kind", "access", "pc", (json_int_t)s->pc, "mask",
                     (json_int_t)s->mask, "slot", (int)s->slot, "offsets", lanes_json(s));
}

static json_t *warp_json(const prof_warp *w)
{
    json_t *steps = json_array(), *slots = json_array(), *begins = json_array();
    wl_unfolding unfolding = {.pages = w->pages, .npages = w->npages};
    for (wl_step step; wl_unfolding_step(&unfolding, &step);)
        json_array_append_new(steps, step_json(&step));
    wl_unfolding_free(&unfolding);
    for (uint32_t i = 0; i < w->nslots; i++) {
        json_array_append_new(slots, json_pack("[s,i]", prof_space_text(w->slots[i].space),
                                               (int)w->slots[i].object));
        json_array_append_new(begins, json_integer(w->begin[i]));
    }
    return json_pack("{s:I,s:i,s:o,s:o,s:o}", "block", (json_int_t)w->block, "warp", (int)w->number,
                     "slots", slots, "begins", begins, "steps", steps);
}

wl_status sample_warps_json(const rep_data *data, FILE *out, wl_error *err)
{
    json_t *rows = json_array();
    const prof_warp_rows *warps = &data->warps.rows[0].warps;
    for (uint32_t i = 0; i < warps->count; i += 5)
        json_array_append_new(rows, warp_json(&warps->rows[i]));
    bool failed = json_dumpf(rows, out, JSON_COMPACT) != 0;
    json_decref(rows);
    return rep_done(out, failed, err);
}
