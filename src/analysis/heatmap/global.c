/* Patterns of device memory. Sector transfers are charged once, in this order:
 *   1. patterns of the heat map (map.h): hot, hot-random or false-sharing, then strided out of what
 *      they leave;
 *   2. misaligned: one sector for each request that is contiguous but starts off the boundary;
 *   3. uncoalesced (of atomic updates scattered-atomics): what else the requests issue beyond the
 * fewest sectors that could hold their bytes; or divergent, where that is little a request since
 * few lanes take part; or, whatever the ratio, where they are pieces of rows, since the block is
 * less than a warp wide. 2 and 3 are charged for an instruction only as far as its transfers lie in
 * sectors that 1 has not settled: mending the sharing changes those requests, too.
 *
 * A map knows the sampled blocks only. Its costs, as parts of the transfers that it saw, are taken
 * for the whole launch. */
#include "analysis/detect.h"
#include "analysis/heatmap/layout.h"
#include "analysis/heatmap/parts.h"
#include "analysis/heatmap/words.h"

#include <math.h>
#include <string.h>

typedef struct cached {
    uint32_t content;
    uint32_t nparts;
    map_result *parts; /* what each part of the object shows */
} cached;

typedef struct work {
    const ana_input *input;
    const ana_group *group;
    map_insn *insns;
    map_cover cover;
    double *traffic, *settled, *sectors; /* by instruction, scaled to the launches */
    double touched;                      /* different sectors of the object, likewise */
    double excess[ANA_PATTERN_COUNT], alone[ANA_PATTERN_COUNT], best[ANA_PATTERN_COUNT];
    double *claims[ANA_PATTERN_COUNT]; /* by instruction */
    uint32_t launches[ANA_PATTERN_COUNT], example_launch[ANA_PATTERN_COUNT];
    const map_result *example[ANA_PATTERN_COUNT];
    uint32_t ncached;
    cached *cache;
    uint32_t lowest;      /* of the maps' contents */
    uint32_t *by_content; /* content - lowest to index in cache + 1 */
} work;

static bool is_stream(const obs_insn *c)
{
    bool contiguous = (c->contiguous + c->misaligned) * 2 >= c->requests;
    return contiguous && c->active_lanes * c->bytes >= c->requests * MAP_STREAM_BYTES;
}

static bool is_update(const obs_insn *c)
{
    return c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

/* Do at least two lanes update one address, for certain? As many words as the sectors hold are the
 * most that there can be. */
static bool shares_addresses(const obs_insn *c)
{
    double most = c->bytes ? (double)c->sectors * OBS_SECTOR_BYTES / c->bytes : 0;
    return c->uniform * 2 > c->requests || 2 * most <= (double)c->active_lanes;
}

static uint8_t pattern_of_updates(const obs_insn *c)
{
    return !is_update(c) ? 0 : shares_addresses(c) ? ANA_SAME_ADDRESS : ANA_SCATTERED_ATOMICS;
}

static bool start_cache(work *w)
{
    const ana_group *g = w->group;
    uint32_t highest = 0;
    w->lowest = g->nheats ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < g->nheats; i++) {
        w->lowest = g->heats[i].content < w->lowest ? g->heats[i].content : w->lowest;
        highest = g->heats[i].content > highest ? g->heats[i].content : highest;
    }
    w->cache = wl_new_array(w->input->scratch, cached, g->nheats);
    w->by_content = wl_new_array(w->input->scratch, uint32_t, (size_t)highest - w->lowest + 1);
    return w->cache && w->by_content;
}

static bool begin_work(work *w)
{
    wl_arena *arena = w->input->scratch;
    uint32_t n = w->group->ninsns;
    w->insns = wl_new_array(arena, map_insn, n);
    w->traffic = wl_new_array(arena, double, n);
    w->settled = wl_new_array(arena, double, n);
    w->sectors = wl_new_array(arena, double, n);
    if (!w->insns || !w->traffic || !w->settled || !w->sectors || !start_cache(w))
        return false;
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        w->claims[p] = wl_new_array(arena, double, n);
        if (!w->claims[p])
            return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const prof_instruction *insn = &w->group->insns[i];
        const obs_insn *c = &insn->c;
        w->insns[i] = (map_insn){.pc = c->pc,
                                 .op = c->op,
                                 .weight = c->sectors,
                                 .requests = c->requests,
                                 .irregular = c->irregular,
                                 .stream = is_stream(c),
                                 .updates = pattern_of_updates(c),
                                 .family = layout_family(w->input, insn)};
        layout_steps(w->input, insn, w->insns[i].steps);
    }
    return true;
}

/* ---- maps ---- */

static wl_status analyze_parts(work *w, const prof_heat *heat, wl_arena *scratch, cached *c)
{
    const prof_launch *l = prof_find_launch(&w->input->program->launches, heat->info.launch);
    map_input in = {.object = w->group->info,
                    .cover = &w->cover,
                    .ninsns = w->group->ninsns,
                    .insns = w->insns,
                    .thresholds = w->input->program->thresholds};
    prof_heat *parts;
    for (int d = 0; l && d < 3; d++)
        in.grid[d] = l->grid[d];
    wl_status status = parts_split(heat, w->insns, w->group->ninsns, scratch, &c->nparts, &parts);
    c->parts = status == WL_OK ? wl_new_array(w->input->scratch, map_result, c->nparts) : NULL;
    for (uint32_t i = 0; c->parts && i < c->nparts && status == WL_OK; i++) {
        in.heat = &parts[i];
        status = map_analyze(&in, scratch, w->input->scratch, &c->parts[i]);
    }
    return c->parts ? status : WL_NOMEM;
}

/* One map, without what only its analysis needs. */
static wl_status analyze_one(work *w, const prof_heat_info *info, cached *c, wl_error *err)
{
    prof_heat heat = {0};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch
                           ? prof_load_heat(w->input->program->db, info->id, scratch, &heat, err)
                           : ana_nomem(err);
    if (status == WL_OK && analyze_parts(w, &heat, scratch, c) != WL_OK)
        status = ana_nomem(err);
    c->content = info->content;
    wl_arena_free(scratch);
    return status;
}

/* Maps with equal rows are analysed once: the launches of a loop are often all alike. */
static wl_status analyze_map(work *w, const prof_heat_info *info, const cached **out, wl_error *err)
{
    uint32_t *known = &w->by_content[info->content - w->lowest];
    if (*known && w->cache[*known - 1].parts[0].warps == info->warps) {
        *out = &w->cache[*known - 1];
        return WL_OK;
    }
    cached *c = &w->cache[w->ncached++];
    *known = w->ncached;
    *out = c;
    return analyze_one(w, info, c, err);
}

static void add_part(work *w, const map_result *r, double scale)
{
    w->touched += scale * r->nrows;
    for (uint32_t i = 0; i < w->group->ninsns; i++) {
        w->traffic[i] += scale * r->shares[i].traffic;
        w->settled[i] += scale * r->shares[i].settled;
        w->sectors[i] += scale * r->shares[i].sectors;
        for (int p = 0; p < ANA_PATTERN_COUNT; p++)
            w->claims[p][i] += scale * r->shares[i].claim[p];
    }
}

/* What a launch pays for one pattern, and the part of a map that pays most of it. */
typedef struct launch_cost {
    double excess, highest;
    const map_result *most;
} launch_cost;

static void add_part_cost(launch_cost *cost, const map_result *r, ana_pattern p, double scale)
{
    double excess = scale * r->patterns[p].excess;
    cost->excess += excess;
    if (excess > cost->highest) {
        cost->highest = excess;
        cost->most = r;
    }
}

static void add_launch_cost(work *w, const prof_traffic *of, ana_pattern p, const launch_cost *cost)
{
    if (cost->excess > 0) {
        w->launches[p] += (uint32_t)of->count;
        w->excess[p] += (double)of->count * cost->excess;
    }
    if (cost->excess > w->best[p]) {
        w->best[p] = cost->excess;
        w->example_launch[p] = of->launch;
        w->example[p] = cost->most;
    }
}

static double traffic_of_map(const cached *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->nparts; i++)
        sum += c->parts[i].traffic;
    return sum;
}

/* The maps of one launch and of those like it: several sampled blocks stand for it together, each
 * for as many as are like it. */
static void add_launch(work *w, const prof_traffic *of, const cached *const *maps,
                       const double *alike, uint32_t n)
{
    double launches = (double)of->count;
    double traffic = 0;
    launch_cost costs[ANA_PATTERN_COUNT] = {{0}};
    for (uint32_t i = 0; i < n; i++)
        traffic += alike[i] * traffic_of_map(maps[i]);
    double scale = traffic > 0 ? (double)of->sectors / traffic : 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; maps[i]->parts && k < maps[i]->nparts; k++) {
            const map_result *r = &maps[i]->parts[k];
            add_part(w, r, launches * scale * alike[i]);
            for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
                add_part_cost(&costs[p], r, (ana_pattern)p, scale * alike[i]);
                w->alone[p] += launches * scale * alike[i] * r->patterns[p].alone;
            }
        }
    }
    for (int p = 0; p < ANA_PATTERN_COUNT; p++)
        add_launch_cost(w, of, (ana_pattern)p, &costs[p]);
}

static uint32_t maps_of_launch(const ana_group *g, uint32_t first)
{
    uint32_t n = 0;
    while (first + n < g->nheats && g->heats[first + n].launch == g->heats[first].launch)
        n++;
    return n;
}

static bool have_one_shape(const work *w, uint32_t a, uint32_t b)
{
    const prof_launch_rows *launches = &w->input->program->launches;
    const prof_launch *x = prof_find_launch(launches, a), *y = prof_find_launch(launches, b);
    return x && y && memcmp(x->grid, y->grid, sizeof x->grid) == 0 &&
           memcmp(x->block, y->block, sizeof x->block) == 0 &&
           x->dynamic_shared == y->dynamic_shared;
}

/* The maps that stand for a launch without any, of which those from `end` on are later: the last
 * ones of a launch of its shape; nheats where there are none. */
static uint32_t find_stand_in(const work *w, uint32_t launch, uint32_t end)
{
    const ana_group *g = w->group;
    while (end > 0) {
        uint32_t first = end - 1;
        while (first > 0 && g->heats[first - 1].launch == g->heats[first].launch)
            first--;
        if (have_one_shape(w, g->heats[first].launch, launch))
            return first;
        end = first;
    }
    return g->nheats;
}

/* A launch, by maps of its own or of a launch like it: from `first` on. */
static wl_status add_launch_maps(work *w, const prof_traffic *of, uint32_t first,
                                 const cached **maps, double *alike, wl_error *err)
{
    const ana_group *g = w->group;
    uint32_t n = maps_of_launch(g, first);
    for (uint32_t i = 0; i < n; i++) {
        alike[i] = ana_alike(w->input, &g->heats[first + i]);
        wl_status status = analyze_map(w, &g->heats[first + i], &maps[i], err);
        if (status != WL_OK)
            return status;
    }
    add_launch(w, of, maps, alike, n);
    return WL_OK;
}

static wl_status add_group_maps(work *w, wl_error *err)
{
    const ana_group *g = w->group;
    const cached **maps = wl_new_array(w->input->scratch, const cached *, g->nheats);
    double *alike = wl_new_array(w->input->scratch, double, g->nheats);
    if (!maps || !alike)
        return ana_nomem(err);
    wl_status status = cover_load(w->input, g, w->input->scratch, &w->cover, err);
    for (uint32_t i = 0, h = 0; i < g->ntraffic && status == WL_OK; i++) {
        uint32_t launch = g->traffic[i].launch;
        while (h < g->nheats && g->heats[h].launch < launch)
            h++;
        bool own = h < g->nheats && g->heats[h].launch == launch;
        uint32_t first = own ? h : find_stand_in(w, launch, h);
        if (first < g->nheats)
            status = add_launch_maps(w, &g->traffic[i], first, maps, alike, err);
    }
    return status;
}

/* ---- requests ---- */

/* The part of an instruction's transfers that no pattern of the map has settled. */
static double unsettled_part(const work *w, uint32_t i)
{
    double part = w->traffic[i] > 0 ? 1 - w->settled[i] / w->traffic[i] : 1;
    return part > 0 ? part : 0;
}

/* The same, as far as requests may show another pattern there: where nearly all is settled, the
 * rest is the edge of that pattern. */
static double open_part(const work *w, uint32_t i)
{
    bool settled = ana_reaches(w->input->program->thresholds, 1 - unsettled_part(w, i), 1);
    return settled ? 0 : unsettled_part(w, i);
}

typedef struct charges {
    /* MISALIGNED, UNCOALESCED, DIVERGENT, SCATTERED_ATOMICS, SAME_ADDRESS */
    double of[ANA_PATTERN_COUNT];
} charges;

/* Have the blocks of the launch that the row stands for one warp each? */
static bool has_lone_warps(const work *w, const prof_instruction *insn)
{
    const prof_launch *l = prof_find_launch(&w->input->program->launches, insn->launch);
    return l && (uint64_t)l->block[0] * l->block[1] * l->block[2] <= ACC_LANES;
}

/* Of the updates of one address by blocks of one warp each: those that larger blocks would spare. */
static double spared_updates(const work *w, uint32_t i)
{
    const prof_instruction *insn = &w->group->insns[i];
    bool spares = is_update(&insn->c) && has_lone_warps(w, insn) &&
                  layout_is_one_address(w->input, insn);
    double kept = 1 / fmax(1, w->input->program->thresholds->combined_warps);
    return spares ? open_part(w, i) * (double)insn->c.requests * (1 - kept) : 0;
}

static bool is_divergent(const work *w, const obs_insn *c)
{
    return !(c->flags & ACC_BULK) && /* which one thread asks for, whatever the others do */
           (double)c->active_lanes <=
               w->input->program->thresholds->divergent_lanes * (double)c->requests;
}

/* Does the instruction pay for a narrow block, whatever its ratio is? */
static bool is_narrow(const work *w, uint32_t i, double excess, double requests)
{
    const ana_thresholds *t = w->input->program->thresholds;
    const prof_instruction *insn = &w->group->insns[i];
    return insn->c.flags & OBS_PIECES && !is_update(&insn->c) &&
           ana_reaches(t, excess, t->pieces_waste * requests) && layout_is_narrow(w->input, insn);
}

/* Rows of a box are what its map makes them: short, or off the boundary. No lanes take part. */
static ana_pattern pattern_of_box(const work *w, const obs_insn *c)
{
    bool far = ana_reaches(w->input->program->thresholds, (double)c->sectors,
                           w->input->program->thresholds->uncoalesced_ratio *
                               (double)c->sectors_min);
    return far ? ANA_UNCOALESCED : ANA_MISALIGNED;
}

static charges charge_requests(const work *w, uint32_t i)
{
    const obs_insn *c = &w->group->insns[i].c;
    const ana_thresholds *t = w->input->program->thresholds;
    charges paid = {.of[ANA_SAME_ADDRESS] = spared_updates(w, i)};
    if (c->sectors <= c->sectors_min || c->requests == 0)
        return paid;
    double part = open_part(w, i), excess = part * (double)(c->sectors - c->sectors_min);
    if (c->flags & ACC_BOX) {
        paid.of[pattern_of_box(w, c)] = excess;
        return paid;
    }
    double open_requests = part * (double)c->requests;
    if (ana_reaches(t, (double)c->misaligned, t->misaligned_share * (double)c->requests)) {
        double one_each = part * (double)c->misaligned;
        paid.of[ANA_MISALIGNED] = one_each < excess ? one_each : excess;
    }
    excess -= paid.of[ANA_MISALIGNED];
    bool far = ana_reaches(t, (double)c->sectors, t->uncoalesced_ratio * (double)c->sectors_min);
    if ((far && ana_reaches(t, excess, t->uncoalesced_waste * open_requests)) ||
        is_narrow(w, i, excess, open_requests))
        paid.of[is_update(c) ? ANA_SCATTERED_ATOMICS : ANA_UNCOALESCED] = excess;
    else if (is_divergent(w, c) && ana_reaches(t, excess, t->divergent_waste * open_requests))
        paid.of[is_update(c) ? ANA_SCATTERED_ATOMICS : ANA_DIVERGENT] = excess;
    return paid;
}

/* ---- drafts ---- */

/* What the instructions that pay for a draft did. */
typedef bool layout_question(const ana_input *input, const prof_instruction *insn);

/* Does the code answer so of most of what pays? */
static bool holds_of_most(const work *w, const ana_draft *d, layout_question *question)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->group->ninsns; i++)
        if (d->insn_excess[i] > 0 && question(w->input, &w->group->insns[i]))
            sum += d->insn_excess[i];
    return 2 * sum > d->excess;
}

static words_facts draft_facts_of(const ana_draft *d)
{
    words_facts f = {0};
    uint64_t requests = 0, sectors = 0, fewest = 0, irregular = 0, uniform = 0, strided = 0;
    uint64_t lanes = 0;
    double most = 0;
    for (uint32_t i = 0; i < d->group->ninsns; i++) {
        const obs_insn *c = &d->group->insns[i].c;
        if (d->insn_excess[i] <= 0)
            continue;
        requests += c->requests;
        sectors += c->sectors;
        fewest += c->sectors_min;
        lanes += c->active_lanes;
        irregular += c->irregular;
        uniform += c->uniform;
        strided += c->strided;
        f.loads |= c->op == ACC_LOAD;
        f.stores |= c->op == ACC_STORE;
        f.atomics |= is_update(c);
        f.async |= (c->flags & (ACC_ASYNC | ACC_BULK)) != 0;
        f.boxes |= (c->flags & ACC_BOX) != 0;
        if (d->insn_excess[i] > most) {
            most = d->insn_excess[i];
            f.bytes = c->bytes;
            f.stride = c->strided ? c->stride : 0;
        }
    }
    double n = requests ? (double)requests : 1;
    f.sectors_per_request = (double)sectors / n;
    f.fewest_per_request = (double)fewest / n;
    f.lanes = (double)lanes / n;
    f.irregular = irregular * 2 > requests;
    f.broadcast = uniform * 2 > requests;
    f.stride = strided * 2 > requests ? f.stride : 0;
    return f;
}

static void add_request_evidence(ana_draft *d, const words_facts *f)
{
    ana_add_evidence(d, "requests", "requests", (double)d->requests, "");
    ana_add_evidence(d, "sectors_per_request", "sectors per request", f->sectors_per_request,
                     "sectors");
    ana_add_evidence(d, "fewest_per_request", "needed per request", f->fewest_per_request,
                     "sectors");
}

static void add_map_evidence(ana_draft *d, const map_result *r)
{
    const map_pattern *p = &r->patterns[d->pattern];
    ana_add_evidence(d, "warps", "warps in the block", r->warps, "warps");
    ana_add_evidence(d, "mean_sector_temperature", "warps per sector", r->sector_temperature,
                     "warps");
    ana_add_evidence(d, "mean_word_temperature", "warps per word", r->word_temperature, "warps");
    ana_add_evidence(d, "words_used", "words used per sector", r->words_used, "words");
    ana_add_evidence(d, "sectors", "sectors in the heat map", r->nrows, "sectors");
    ana_add_evidence(d, "share_of_sectors", "of these, with this pattern",
                     r->nrows ? 100.0 * (double)p->rows / r->nrows : 0, "%");
    ana_add_evidence(d, "transfers_per_sector", "transfers per sector",
                     r->nrows ? r->traffic / r->nrows : 0, "");
    if (d->pattern == ANA_STRIDED)
        ana_add_evidence(d, "stride", "distance between used words", (double)r->stride, "bytes");
}

static uint64_t requests_paying(const ana_draft *d)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < d->group->ninsns; i++)
        n += d->insn_excess[i] > 0 ? d->group->insns[i].c.requests : 0;
    return n;
}

static bool is_of_updates(ana_pattern p)
{
    return p == ANA_SAME_ADDRESS || p == ANA_SCATTERED_ATOMICS;
}

/* Updates that the map does not show to be shared pay by their requests. */
static void add_requests_of_updates(const work *w, ana_draft *d)
{
    for (uint32_t i = 0; is_of_updates(d->pattern) && i < d->group->ninsns; i++) {
        double more = charge_requests(w, i).of[d->pattern];
        d->insn_excess[i] += more;
        d->excess += more;
        d->alone += more;
    }
}

/* Is it known what all blocks use, as far as what pays goes? */
static bool knows_all_blocks(const work *w, const ana_draft *d)
{
    for (uint32_t i = 0; i < w->group->ninsns; i++) {
        if (!w->cover.all && d->insn_excess[i] > 0 &&
            layout_of_blocks(w->input, &w->group->insns[i]) == LAYOUT_UNKNOWN) {
            return false;
        }
    }
    return true;
}

/* Does most of what pays take words that other blocks have the neighbours of? */
static bool crosses_blocks(const work *w, const ana_draft *d)
{
    double crossing = 0;
    for (uint32_t i = 0; i < w->group->ninsns; i++)
        crossing += w->insns[i].steps[0] || w->insns[i].steps[1] || w->insns[i].steps[2]
                        ? d->insn_excess[i]
                        : 0;
    return 2 * crossing > d->excess;
}

static double sectors_paying(const ana_draft *d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d->group->ninsns; i++)
        sum += d->insn_excess[i] > 0 ? (double)d->group->insns[i].c.sectors : 0;
    return sum;
}

/* Do accesses of any kernel that move as many sectors of the object run along its rows? */
static bool has_rows_elsewhere(const work *w, const ana_draft *d)
{
    const ana_program *p = w->input->program;
    uint32_t object = w->group->object;
    return p->along_rows && object <= p->last_object && p->along_rows[object] >= sectors_paying(d);
}

/* Which threads make up a warp matters then. */
static bool has_shuffles(const ana_input *input)
{
    for (uint32_t i = 0; i < input->code.count; i++)
        if (strncmp(input->code.rows[i].op, "shfl", strlen("shfl")) == 0)
            return true;
    return false;
}

static bool draft_map(const work *w, ana_pattern p, const words_kind *kind, ana_drafts *drafts)
{
    ana_draft *d = ana_draft_add(drafts, w->input, p);
    if (!d)
        return false;
    const map_result *r = w->example[p];
    memcpy(d->insn_excess, w->claims[p], w->group->ninsns * sizeof *d->insn_excess);
    d->excess = w->excess[p];
    d->alone = w->alone[p];
    add_requests_of_updates(w, d);
    d->requests = requests_paying(d);
    d->launches = w->launches[p];
    d->example_launch = w->example_launch[p];
    words_facts f = draft_facts_of(d);
    f.warps = r->warps;
    f.lone = r->warps == 1;
    f.combined = holds_of_most(w, d, layout_is_combined);
    f.word_temperature = r->word_temperature;
    f.sector_temperature = r->sector_temperature;
    f.words_used = r->words_used;
    f.stride = p == ANA_STRIDED ? r->stride : f.stride;
    f.sampled = p == ANA_STRIDED && !knows_all_blocks(w, d);
    f.rows_elsewhere = p == ANA_STRIDED && !f.sampled && has_rows_elsewhere(w, d);
    f.crosses = crosses_blocks(w, d);
    f.shuffles = has_shuffles(w->input);
    add_map_evidence(d, r);
    add_request_evidence(d, &f);
    if (f.atomics)
        ana_add_evidence(d, "lanes", "active lanes", f.lanes, "");
    d->nsectors = r->patterns[p].nexamples;
    memcpy(d->sectors, r->patterns[p].examples, d->nsectors * sizeof *d->sectors);
    d->certainty = f.sampled                                 ? ANA_CERTAINTY_POSSIBLE
                   : ana_maps_all_blocks(w->input, w->group) ? ANA_CERTAINTY_COUNTED
                                                             : ANA_CERTAINTY_SAMPLED;
    return words_set(d, w->input, &f, kind);
}

static bool is_aligned_load(const work *w, const obs_insn *c)
{
    double most = w->input->program->thresholds->misaligned_share * (double)c->requests;
    return c->op == ACC_LOAD && c->contiguous * 2 > c->requests && (double)c->misaligned < most;
}

/* Is one of the instructions that pay a copy of this one, of the same line? A loop over rows is
 * unrolled. */
static bool line_pays(const work *w, const ana_draft *d, uint32_t pc)
{
    uint32_t kernel = w->input->kernel->id;
    const prof_code *own = prof_find_code(&w->input->code, kernel, pc);
    for (uint32_t i = 0; own && own->line && i < d->group->ninsns; i++) {
        const prof_code *code = prof_find_code(&w->input->code, kernel, d->group->insns[i].c.pc);
        if (d->insn_excess[i] > 0 && code && code->file == own->file && code->line == own->line)
            return true;
    }
    return false;
}

static bool are_neighbours(const work *w, uint32_t a, uint32_t b)
{
    const prof_instruction *one = &w->group->insns[a], *other = &w->group->insns[b];
    return a != b && other->c.op == ACC_LOAD && layout_are_neighbours(w->input, one, other);
}

static bool has_neighbour(const work *w, uint32_t insn)
{
    for (uint32_t i = 0; i < w->group->ninsns; i++)
        if (are_neighbours(w, insn, i))
            return true;
    return false;
}

/* Do only loads pay, beside loads of the object that are aligned, or of elements next to theirs? */
static bool is_halo(const work *w, const ana_draft *d)
{
    bool aligned = false;
    for (uint32_t i = 0; i < d->group->ninsns; i++) {
        const obs_insn *c = &d->group->insns[i].c;
        if (d->insn_excess[i] > 0 && c->op != ACC_LOAD)
            return false;
        aligned |= is_aligned_load(w, c) && !line_pays(w, d, c->pc);
        aligned |= d->insn_excess[i] > 0 &&
                   (has_neighbour(w, i) || layout_slides(w->input, &d->group->insns[i]));
    }
    return aligned;
}

/* Of loads of neighbouring elements one brings what the others take: one that pays nothing, else the
 * one that needs most, or the first of several. */
static bool brings_all(const work *w, const ana_draft *d, uint32_t insn)
{
    uint64_t own = w->group->insns[insn].c.sectors_min;
    for (uint32_t i = 0; i < w->group->ninsns; i++) {
        uint64_t other = w->group->insns[i].c.sectors_min;
        bool before = other > own || (other == own && i < insn) || d->insn_excess[i] <= 0;
        if (before && are_neighbours(w, insn, i))
            return false;
    }
    return true;
}

/* What is staged with its edges is loaded once: the other loads of neighbouring elements go. */
static bool save_neighbours(const work *w, ana_draft *d)
{
    d->insn_saved = wl_new_array(w->input->scratch, double, d->ninsns);
    for (uint32_t i = 0; d->insn_saved && i < d->ninsns; i++)
        d->insn_saved[i] = brings_all(w, d, i) ? d->insn_excess[i]
                                               : (double)w->group->insns[i].c.sectors;
    return d->insn_saved != NULL;
}

/* Does the costliest instruction come back to each of its sectors? */
enum { VISITS = 2 /* to each sector, at least, where it is come back to */ };

static bool walks(const work *w, const ana_draft *d)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < d->group->ninsns; i++)
        most = d->insn_excess[i] > d->insn_excess[most] ? i : most;
    return w->sectors[most] > 0 && w->traffic[most] >= VISITS * w->sectors[most];
}

/* Do those that pay come back to each sector, all together? A loop over a row may be unrolled. */
static bool walk_together(const work *w, const ana_draft *d)
{
    double traffic = 0;
    for (uint32_t i = 0; i < d->group->ninsns; i++)
        traffic += d->insn_excess[i] > 0 ? w->traffic[i] : 0;
    return w->touched > 0 && traffic >= VISITS * w->touched;
}

static double block_width_of(const work *w, const ana_draft *d)
{
    const prof_launch *l = prof_find_launch(&w->input->program->launches, d->example_launch);
    return l ? l->block[0] : 0;
}

static bool draft_requests(const work *w, ana_pattern p, const words_kind *kind, ana_drafts *drafts)
{
    ana_draft *d = ana_draft_add(drafts, w->input, p);
    if (!d)
        return false;
    double most = 0;
    for (uint32_t i = 0; i < w->group->ninsns; i++) {
        double excess = charge_requests(w, i).of[p];
        d->insn_excess[i] = excess;
        d->excess += excess;
        if (excess > most) {
            most = excess;
            d->example_launch = w->group->insns[i].launch;
        }
        if (excess > 0) {
            const obs_insn *c = &w->group->insns[i].c;
            d->requests += p == ANA_MISALIGNED ? c->misaligned : c->requests;
        }
    }
    if (d->excess <= 0) {
        drafts->count--;
        return true;
    }
    d->alone = d->excess;
    d->launches = (uint32_t)w->group->launches;
    words_facts f = draft_facts_of(d);
    f.halo = p == ANA_MISALIGNED && is_halo(w, d);
    f.shifted = p == ANA_MISALIGNED && holds_of_most(w, d, layout_is_shifted);
    if (f.halo && !save_neighbours(w, d))
        return false;
    f.walks = walks(w, d);
    f.own_rows = walk_together(w, d);
    f.rows_elsewhere = p == ANA_UNCOALESCED && has_rows_elsewhere(w, d);
    f.crosses = crosses_blocks(w, d);
    f.shuffles = has_shuffles(w->input);
    f.counted = holds_of_most(w, d, layout_is_counted);
    f.loaded = holds_of_most(w, d, layout_is_loaded);
    f.narrow = holds_of_most(w, d, layout_is_narrow);
    f.goes_on = holds_of_most(w, d, layout_goes_on);
    f.tiles = layout_has_tiles(w->input);
    f.lone = p == ANA_SAME_ADDRESS; /* others show in the map */
    f.combined = holds_of_most(w, d, layout_is_combined);
    add_request_evidence(d, &f);
    if (p == ANA_UNCOALESCED && f.stride)
        ana_add_evidence(d, "stride", "bytes from lane to lane", (double)f.stride, "bytes");
    if (p == ANA_DIVERGENT || is_of_updates(p))
        ana_add_evidence(d, "lanes", "active lanes", f.lanes, "");
    ana_add_evidence(d, "bytes", "bytes per lane", (double)f.bytes, "bytes");
    if (f.narrow)
        ana_add_evidence(d, "block_width", "threads of the block in x", block_width_of(w, d), "");
    return words_set(d, w->input, &f, kind);
}

/* What requests that the maps do not settle move beyond the fewest sectors, and pay for no pattern. */
static double count_unnamed_sectors(const work *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->group->ninsns; i++) {
        const obs_insn *c = &w->group->insns[i].c;
        charges paid = charge_requests(w, i);
        double left = unsettled_part(w, i) * ((double)c->sectors - (double)c->sectors_min);
        for (int p = 0; p < ANA_PATTERN_COUNT; p++)
            left -= paid.of[p];
        sum += left > 0 ? left : 0;
    }
    return sum;
}

wl_status ana_detect_global(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    static const struct {
        ana_pattern pattern;
        const words_kind *kind;
    } of_map[] = {{ANA_HOT, &words_hot},
                  {ANA_HOT_RANDOM, &words_hot_random},
                  {ANA_FALSE_SHARING, &words_false_sharing},
                  {ANA_STRIDED, &words_strided},
                  {ANA_SAME_ADDRESS, &words_same_address},
                  {ANA_SCATTERED_ATOMICS, &words_scattered_atomics}},
      of_requests[] = {{ANA_MISALIGNED, &words_misaligned},
                       {ANA_UNCOALESCED, &words_uncoalesced},
                       {ANA_DIVERGENT, &words_divergent},
                       {ANA_SAME_ADDRESS, &words_same_address},
                       {ANA_SCATTERED_ATOMICS, &words_scattered_atomics}};
    work w = {.input = input, .group = input->group};
    if (w.group->space != ACC_GLOBAL)
        return WL_OK;
    if (!begin_work(&w))
        return ana_nomem(err);
    wl_status status = w.group->object ? add_group_maps(&w, err) : WL_OK;
    bool good = true;
    for (size_t i = 0; status == WL_OK && i < sizeof of_map / sizeof *of_map && good; i++) {
        ana_pattern p = of_map[i].pattern;
        good = !w.example[p] || draft_map(&w, p, of_map[i].kind, drafts);
    }
    for (size_t i = 0; status == WL_OK && i < sizeof of_requests / sizeof *of_requests && good;
         i++) {
        ana_pattern p = of_requests[i].pattern;
        bool told = is_of_updates(p) && w.example[p];
        good = told || draft_requests(&w, p, of_requests[i].kind, drafts);
    }
    drafts->unnamed += status == WL_OK ? count_unnamed_sectors(&w) : 0;
    return status != WL_OK ? status : good ? WL_OK : ana_nomem(err);
}
