/* Which sectors of one heat map follow which pattern, and what instructions pay for it. */
#include "analysis/heatmap/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 3,
    FEW_ROWS = 16,
    FEW_RUNS = 4,
    COMMON_SHAPES = 8
}; /* kinds: loads, stores, atomics */

typedef struct work {
    const prof_heat *heat;
    const map_insn *insns;
    uint32_t ninsns;
    const ana_thresholds *t;
    const prof_object *object;
    const uint32_t *grid;
    const map_cover *cover;
    uint64_t base, bytes;
    map_result *out;
    wl_arena *arena;
    uint8_t *by_blocks;         /* of each row the set of words that any block uses */
    uint8_t *labels;            /* ana_pattern of each row + 1; 0: none of the sharing patterns */
    uint32_t **sets;            /* for each pcset the indices of its instructions */
    uint32_t *counts;           /* how many they are */
    uint64_t (*weights)[KINDS]; /* and what they issue in all, by kind */
} work;

/* ---- one row ---- */

typedef struct row_facts {
    uint32_t sector_temperature, hottest, coldest, sum; /* of touched words */
    uint32_t used, words;    /* touched words, and words that the object has there */
    uint32_t used_by_blocks; /* words that any block uses, as far as is known */
    uint64_t n[KINDS], all;
} row_facts;

/* Words of a row that lie in the object. */
static uint32_t row_words_of(const work *w, const obs_heat_row *row)
{
    int64_t start = (int64_t)row->sector * OBS_SECTOR_BYTES - (int64_t)(w->base % OBS_SECTOR_BYTES);
    int64_t end = start + OBS_SECTOR_BYTES;
    int64_t from = start<0 ? 0 : start, to = end>(int64_t) w->bytes ? (int64_t)w->bytes : end;
    if (w->bytes == 0 || from >= to)
        return OBS_WORDS_PER_SECTOR;
    return (uint32_t)((to - from + OBS_WORD_BYTES - 1) / OBS_WORD_BYTES);
}

static row_facts row_facts_of(const work *w, const obs_heat_row *row)
{

    row_facts f = {.coldest = UINT32_MAX, .n = {row->reads, row->writes, row->atomics}};
    f.sector_temperature = (uint32_t)__builtin_popcount(row->history);
    for (uint32_t i = 0; i < OBS_WORDS_PER_SECTOR; i++) {
        uint32_t t = (uint32_t)__builtin_popcount(row->word[i]);
        f.sum += t;
        f.used += t > 0;
        f.hottest = t > f.hottest ? t : f.hottest;
        f.coldest = t && t < f.coldest ? t : f.coldest;
    }
    f.words = row_words_of(w, row);
    f.used_by_blocks = (uint32_t)__builtin_popcount(w->by_blocks[row - w->heat->rows]);
    f.words = f.used_by_blocks > f.words ? f.used_by_blocks : f.words;
    f.all = f.n[0] + f.n[1] + f.n[2];
    return f;
}

/* ---- the whole map ---- */

static uint64_t sector_shape_of(const obs_heat_row *row)
{
    uint64_t shape = 0;
    for (uint32_t i = 0; i < OBS_WORDS_PER_SECTOR; i++)
        shape = shape << 6 | (uint64_t)__builtin_popcount(row->word[i]);
    return shape;
}

static int by_rising_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_value_down(const void *a, const void *b)
{
    return by_rising_value(b, a);
}

/* Sorts values and counts equal ones: counts, largest first, in `counts`; how many different
 * ones. */
static uint32_t count_equal(uint64_t *values, uint64_t *counts, uint32_t n)
{
    uint32_t different = 0;
    qsort(values, n, sizeof *values, by_rising_value);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || values[i] != values[i - 1])
            counts[different++] = 0;
        counts[different - 1]++;
    }
    qsort(counts, different, sizeof *counts, by_value_down);
    return different;
}

static wl_status measure_shapes(work *w)
{
    uint32_t n = w->heat->info.nrows;
    uint64_t *shapes = wl_new_array(w->arena, uint64_t, n),
             *counts = wl_new_array(w->arena, uint64_t, n);
    if (!shapes || !counts)
        return WL_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        shapes[i] = sector_shape_of(&w->heat->rows[i]);
    uint32_t different = count_equal(shapes, counts, n);
    uint64_t common = 0;
    for (uint32_t i = 0; i < different && i < COMMON_SHAPES; i++)
        common += counts[i];
    w->out->shapes = n ? (double)common / n : 1;
    return WL_OK;
}

/* Words at which runs of touched words begin, from the first sector of the map. */
static uint32_t find_touched_runs(const work *w, uint64_t *starts)
{
    const obs_heat_row *rows = w->heat->rows;
    uint32_t n = 0;
    uint64_t last = UINT64_MAX - 1; /* the last touched word */
    for (uint32_t i = 0; i < w->heat->info.nrows; i++) {
        for (uint32_t k = 0; k < OBS_WORDS_PER_SECTOR; k++) {
            uint64_t word = (rows[i].sector - rows[0].sector) * OBS_WORDS_PER_SECTOR + k;
            if (rows[i].word[k]) {
                if (word != last + 1)
                    starts[n++] = word;
                last = word;
            }
        }
    }
    return n;
}

static wl_status measure_stride(work *w)
{
    size_t most = (size_t)w->heat->info.nrows * (OBS_WORDS_PER_SECTOR / 2);
    uint64_t *starts = wl_new_array(w->arena, uint64_t, most);
    if (!starts)
        return WL_NOMEM;
    uint32_t n = find_touched_runs(w, starts);
    if (n < FEW_RUNS)
        return WL_OK;
    for (uint32_t i = 0; i + 1 < n; i++)
        starts[i] = starts[i + 1] - starts[i];
    qsort(starts, n - 1, sizeof *starts, by_rising_value);
    uint32_t best = 0;
    for (uint32_t i = 0, run = 0; i + 1 < n; i++) {
        run = i && starts[i] == starts[i - 1] ? run + 1 : 1;
        if (run > best) {
            best = run;
            w->out->stride = (int64_t)(starts[i] * OBS_WORD_BYTES);
        }
    }
    w->out->stride_share = (double)best / (n - 1);
    return WL_OK;
}

/* Coefficient of variation of the touched words' temperatures. */
static double measure_temperatures(work *w)
{
    double words = 0, sum = 0, squares = 0, sectors = 0, hottest = 0, by_blocks = 0;
    uint32_t n = w->heat->info.nrows;
    for (uint32_t i = 0; i < n; i++) {
        const obs_heat_row *row = &w->heat->rows[i];
        row_facts f = row_facts_of(w, row);
        for (uint32_t k = 0; k < OBS_WORDS_PER_SECTOR; k++) {
            double t = __builtin_popcount(row->word[k]);
            squares += t * t;
        }
        words += f.used;
        by_blocks += f.used_by_blocks;
        sum += f.sum;
        sectors += f.sector_temperature;
        hottest += f.hottest;
        w->out->traffic += (double)f.all;
    }
    if (words == 0)
        return 0;
    double mean = sum / words, variance = squares / words - mean * mean;
    w->out->word_temperature = mean;
    w->out->sector_temperature = sectors / n;
    w->out->hottest_word = hottest / n;
    w->out->words_used = by_blocks / n;
    return variance > 0 ? sqrt(variance) / mean : 0;
}

/* Do the requests that made this map gather, rather than step? */
static bool irregular_requests(const work *w)
{
    uint64_t requests = 0, irregular = 0;
    for (uint32_t i = 0; i < w->ninsns; i++) {
        if (w->out->shares[i].traffic > 0) {
            requests += w->insns[i].requests;
            irregular += w->insns[i].irregular;
        }
    }
    return requests && irregular * 2 >= requests;
}

static bool irregular_map(const work *w, double spread)
{
    if (w->heat->info.nrows < FEW_ROWS)
        return spread > w->t->random_spread;
    return w->out->shapes < w->t->random_shapes;
}

/* ---- instructions of rows ---- */

static uint32_t find_insn(const work *w, uint32_t pc)
{
    uint32_t low = 0, high = w->ninsns;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->insns[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->ninsns && w->insns[low].pc == pc ? low : UINT32_MAX;
}

static uint32_t transfer_kind_of(const map_insn *insn)
{
    return insn->op == ACC_LOAD ? 0 : insn->op == ACC_STORE ? 1 : 2;
}

static bool resolve_set(work *w, uint32_t s)
{
    const obs_pcset *set = &w->heat->pcsets[s];
    w->sets[s] = wl_new_array(w->arena, uint32_t, set->count);
    for (uint32_t i = 0; w->sets[s] && i < set->count; i++) {
        uint32_t index = find_insn(w, set->pcs[i]);
        if (index != UINT32_MAX) {
            w->sets[s][w->counts[s]++] = index;
            w->weights[s][transfer_kind_of(&w->insns[index])] += w->insns[index].weight;
        }
    }
    return w->sets[s] != NULL;
}

static wl_status resolve_sets(work *w)
{
    uint32_t n = w->heat->npcsets;
    w->sets = wl_new_array(w->arena, uint32_t *, n);
    w->counts = wl_new_array(w->arena, uint32_t, n);
    w->weights = wl_arena_array(w->arena, n, sizeof *w->weights);
    bool good = w->sets && w->counts && w->weights;
    for (uint32_t s = 0; good && s < n; s++)
        good = resolve_set(w, s);
    return good ? WL_OK : WL_NOMEM;
}

/* The part of a row's transfers of one kind that each of its instructions made, by how much they
 * issue in all. */
static double instruction_part_of(const work *w, const obs_heat_row *row, uint32_t kind,
                                  uint32_t index)
{
    const map_insn *insn = &w->insns[index];
    uint64_t sum = w->weights[row->pcset][kind];
    return sum && transfer_kind_of(insn) == kind ? (double)insn->weight / (double)sum : 0;
}

static bool all_stream(const work *w, const obs_heat_row *row)
{
    for (uint32_t i = 0; i < w->counts[row->pcset]; i++)
        if (!w->insns[w->sets[row->pcset][i]].stream)
            return false;
    return w->counts[row->pcset] > 0;
}

/* ---- what other blocks use ---- */

static uint8_t row_words(const obs_heat_row *row)
{
    uint8_t words = 0;
    for (uint32_t i = 0; i < OBS_WORDS_PER_SECTOR; i++)
        words |= (uint8_t)((row->word[i] != 0) << i);
    return words;
}

/* Do `before` blocks before this one, or `after` after it, take a byte of the word that begins
 * `apart` bytes from one of this block's? */
static bool comes_to(int64_t apart, int32_t step, uint32_t before, uint32_t after)
{
    int64_t most = step < 0 ? before : after, least = step < 0 ? after : before, size = abs(step);
    int64_t low = apart < 0 ? apart / size : (apart + size - 1) / size; /* rounded up */
    return low * size < apart + OBS_WORD_BYTES && low <= most && low >= -least;
}

/* Words of a sector that other blocks take where they step on from this one's of `from`. */
static uint8_t words_stepped_to(const work *w, const obs_heat_row *from, uint64_t sector,
                                const map_insn *insn)
{
    uint8_t own = row_words(from), found = 0;
    int64_t apart = ((int64_t)sector - (int64_t)from->sector) * OBS_SECTOR_BYTES;
    for (int d = 0; d < 3; d++) {
        uint32_t at = w->heat->info.block_index[d];
        for (int k = 0; insn->steps[d] && at < w->grid[d] && k < OBS_WORDS_PER_SECTOR; k++)
            for (int t = 0; own >> k & 1 && t < OBS_WORDS_PER_SECTOR; t++)
                found |= (uint8_t)(comes_to(apart + (int64_t)(t - k) * OBS_WORD_BYTES,
                                            insn->steps[d], at, w->grid[d] - at - 1)
                                   << t);
    }
    return found;
}

static bool has_steps(const map_insn *insn)
{
    return insn->steps[0] || insn->steps[1] || insn->steps[2];
}

/* What the row's instructions take in other blocks, there and in the rows next to it. */
static void step_from_row(work *w, uint32_t row)
{
    enum { NEAR = 2 };
    const obs_heat_row *rows = w->heat->rows, *from = &rows[row];
    uint32_t first = row < NEAR ? 0 : row - NEAR;
    for (uint32_t i = 0; i < w->counts[from->pcset]; i++) {
        const map_insn *insn = &w->insns[w->sets[from->pcset][i]];
        for (uint32_t k = first; has_steps(insn) && k <= row + NEAR && k < w->heat->info.nrows; k++)
            w->by_blocks[k] |= words_stepped_to(w, from, rows[k].sector, insn);
    }
}

static wl_status find_words_of_blocks(work *w)
{
    w->by_blocks = wl_new_array(w->arena, uint8_t, w->heat->info.nrows);
    if (!w->by_blocks)
        return WL_NOMEM;
    for (uint32_t i = 0; i < w->heat->info.nrows; i++) {
        const obs_heat_row *row = &w->heat->rows[i];
        w->by_blocks[i] |= row_words(row) | cover_words(w->cover, row->sector);
        step_from_row(w, i);
    }
    return WL_OK;
}

/* What blocks use, as far as is known, of the sector `away` (1 or -1) from a row's. */
static uint8_t words_next_to(const work *w, const obs_heat_row *row, int away)
{
    uint32_t next = (uint32_t)(row - w->heat->rows) + (uint32_t)away; /* -1 wraps beyond the last */
    uint64_t sector = row->sector + (uint64_t)(int64_t)away;
    if (next < w->heat->info.nrows && w->heat->rows[next].sector == sector)
        return w->by_blocks[next];
    uint8_t words = cover_words(w->cover, sector);
    for (uint32_t i = 0; i < w->counts[row->pcset]; i++)
        words |= words_stepped_to(w, row, sector, &w->insns[w->sets[row->pcset][i]]);
    return words;
}

/* Does the sector hold the end of a run of used words that is longer than what a stride takes? */
static bool is_end_of_run(const work *w, const obs_heat_row *row)
{
    uint32_t words = (uint32_t)words_next_to(w, row, 1) << 2 * OBS_WORDS_PER_SECTOR |
                     (uint32_t)w->by_blocks[row - w->heat->rows] << OBS_WORDS_PER_SECTOR |
                     words_next_to(w, row, -1);
    uint32_t run = 0;
    bool here = false;
    for (uint32_t i = 0; i < 3 * OBS_WORDS_PER_SECTOR; i++) {
        run = words >> i & 1 ? run + 1 : 0;
        here = run && (here || i / OBS_WORDS_PER_SECTOR == 1);
        if (here && run > w->t->strided_words * OBS_WORDS_PER_SECTOR)
            return true;
    }
    return false;
}

/* ---- patterns ---- */

/* A warp that comes back to the sector with updates: no L1 cache keeps them. */
static uint8_t label_of_updates(const row_facts *f)
{
    return f->n[2] > f->sector_temperature ? ANA_SCATTERED_ATOMICS + 1 : 0;
}

static uint8_t label_row(const work *w, const obs_heat_row *row, bool shared_at_random)
{
    row_facts f = row_facts_of(w, row);
    uint32_t hot = (uint32_t)fmin(ceil(w->t->hot_share * w->heat->info.warps), UINT32_MAX);
    if (w->out->random) /* one cause, for the sectors that one warp alone gathered from as well */
        return shared_at_random ? ANA_HOT_RANDOM + 1 : label_of_updates(&f);
    if (f.sector_temperature < 2)
        return label_of_updates(&f);
    if (f.sector_temperature >= w->t->sharing_ratio * f.hottest)
        return all_stream(w, row) ? label_of_updates(&f) : ANA_FALSE_SHARING + 1;
    return f.coldest >= (hot > 2 ? hot : 2) ? ANA_HOT + 1 : label_of_updates(&f);
}

/* Rows of a matrix are apart as well, but long: what they leave of a sector is their ends. */
static bool is_sparse(const work *w, const obs_heat_row *row, const row_facts *f)
{
    return f->used_by_blocks <= w->t->strided_words * f->words && !is_end_of_run(w, row);
}

static void label_rows(work *w)
{
    const map_result *out = w->out;
    double enough = w->t->random_share * w->heat->info.warps;
    bool shared = ana_reaches(w->t, out->sector_temperature, enough > 2 ? enough : 2);
    for (uint32_t i = 0; i < w->heat->info.nrows; i++) {
        const obs_heat_row *row = &w->heat->rows[i];
        row_facts f = row_facts_of(w, row);
        w->labels[i] = label_row(w, row, shared);
        if (w->labels[i])
            w->out->patterns[w->labels[i] - 1].traffic += (double)f.all;
        if (is_sparse(w, row, &f))
            w->out->patterns[ANA_STRIDED].traffic += (double)f.all;
    }
}

static void decide_pattern(work *w)
{
    map_result *out = w->out;
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        map_pattern *pattern = &out->patterns[p];
        pattern->holds = pattern->traffic > 0 &&
                         ana_reaches(w->t, pattern->traffic, w->t->map_share * out->traffic);
    }
    map_pattern *strided = &out->patterns[ANA_STRIDED];
    strided->holds &= ana_reaches(w->t, out->stride_share, w->t->strided_share) &&
                      ana_reaches(w->t, strided->traffic, w->t->strided_share * out->traffic);
}

/* What remains of n transfers of a sector when the pattern is mended. */
static double left_of(ana_pattern pattern, uint64_t n, uint32_t sector_temperature)
{
    uint64_t left = n > 0;
    if (pattern == ANA_FALSE_SHARING)
        left = (n + sector_temperature - 1) / sector_temperature;
    return (double)left;
}

static void keep_example(work *w, ana_pattern pattern, uint32_t row, double excess, double *best)
{
    map_pattern *p = &w->out->patterns[pattern];
    uint32_t at = p->nexamples;
    while (at > 0 && best[at - 1] < excess)
        at--;
    if (at >= MAP_EXAMPLES)
        return;
    p->nexamples += p->nexamples < MAP_EXAMPLES;
    for (uint32_t i = p->nexamples - 1; i > at; i--) {
        p->examples[i] = p->examples[i - 1];
        best[i] = best[i - 1];
    }
    p->examples[at] = ana_sector_of(&w->heat->rows[row], w->object);
    best[at] = excess;
}

/* A row and what is charged for it. */
typedef struct charged_row {
    const obs_heat_row *row;
    row_facts f;
    ana_pattern shared; /* where has_shared is set */
    bool has_shared, sparse;
    double paid[ANA_PATTERN_COUNT];
} charged_row;

/* What an instruction pays for where its row shows a pattern of sharing. */
static ana_pattern pattern_paid(const map_insn *insn, ana_pattern shared)
{
    return shared != ANA_FALSE_SHARING && insn->updates ? (ana_pattern)insn->updates : shared;
}

/* Where updates alone come back to a row, its loads and stores do not pay; nor do streams that meet
 * in one. */
static bool pays_for_sharing(const map_insn *insn, const charged_row *c)
{
    bool apart = (c->shared == ANA_FALSE_SHARING && insn->stream) ||
                 (c->shared == ANA_SCATTERED_ATOMICS && !insn->updates);
    return c->has_shared && !apart;
}

/* Of one kind of transfers: what each instruction of the row pays. */
static void charge_insn(work *w, uint32_t index, uint32_t kind, charged_row *c)
{
    const map_insn *insn = &w->insns[index];
    map_share *share = &w->out->shares[index];
    uint64_t all = c->f.n[kind];
    double part = instruction_part_of(w, c->row, kind, index), n = (double)all * part, left = n;
    if (n == 0)
        return;
    if (pays_for_sharing(insn, c)) {
        ana_pattern pays = pattern_paid(insn, c->shared);
        left = left_of(c->shared, all, c->f.sector_temperature) * part;
        share->claim[pays] += n - left;
        c->paid[pays] += n - left;
        share->settled += n;
    } else if (c->sparse) {
        share->settled += n;
    }
    if (c->sparse) {
        double unused = 1 - (double)c->f.used_by_blocks / c->f.words;
        share->claim[ANA_STRIDED] += left * unused;
        c->paid[ANA_STRIDED] += left * unused;
        w->out->patterns[ANA_STRIDED].alone += n * unused;
    }
}

static void charge_row(work *w, uint32_t i, double (*best)[MAP_EXAMPLES])
{
    const obs_heat_row *row = &w->heat->rows[i];
    charged_row c = {.row = row, .f = row_facts_of(w, row)};
    c.shared = w->labels[i] ? (ana_pattern)(w->labels[i] - 1) : ANA_HOT;
    c.has_shared = w->labels[i] && w->out->patterns[c.shared].holds;
    c.sparse = w->out->patterns[ANA_STRIDED].holds && is_sparse(w, row, &c.f);
    for (uint32_t k = 0; k < w->counts[row->pcset] && (c.has_shared || c.sparse); k++)
        for (uint32_t kind = 0; kind < KINDS; kind++)
            charge_insn(w, w->sets[row->pcset][k], kind, &c);
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        if (c.paid[p] > 0) {
            w->out->patterns[p].rows++;
            w->out->patterns[p].excess += c.paid[p];
            w->out->patterns[p].alone += p == ANA_STRIDED ? 0 : c.paid[p];
            keep_example(w, (ana_pattern)p, i, c.paid[p], best[p]);
        }
    }
}

static void share_out_traffic(work *w)
{
    for (uint32_t i = 0; i < w->heat->info.nrows; i++) {
        const obs_heat_row *row = &w->heat->rows[i];
        const uint64_t n[KINDS] = {row->reads, row->writes, row->atomics};
        for (uint32_t k = 0; k < w->counts[row->pcset]; k++) {
            uint32_t index = w->sets[row->pcset][k], kind = transfer_kind_of(&w->insns[index]);
            w->out->shares[index].traffic += (double)n[kind] *
                                             instruction_part_of(w, row, kind, index);
            w->out->shares[index].sectors++;
        }
    }
}

wl_status map_analyze(const map_input *input, wl_arena *scratch, wl_arena *arena, map_result *out)
{
    const prof_heat *heat = input->heat;
    const prof_object *object = input->object;
    work w = {.heat = heat,
              .insns = input->insns,
              .ninsns = input->ninsns,
              .t = input->thresholds,
              .object = object,
              .grid = input->grid,
              .cover = input->cover,
              .base = object ? object->base : 0,
              .bytes = object ? object->bytes : 0,
              .out = out,
              .arena = scratch};
    *out = (map_result){.nrows = heat->info.nrows, .warps = heat->info.warps, .shapes = 1};
    out->shares = wl_new_array(arena, map_share, input->ninsns);
    w.labels = wl_new_array(scratch, uint8_t, heat->info.nrows);
    double best[ANA_PATTERN_COUNT][MAP_EXAMPLES] = {{0}};
    if (!out->shares || !w.labels || resolve_sets(&w) != WL_OK ||
        find_words_of_blocks(&w) != WL_OK || measure_shapes(&w) != WL_OK ||
        measure_stride(&w) != WL_OK) {
        return WL_NOMEM;
    }
    double spread = measure_temperatures(&w);
    share_out_traffic(&w);
    out->random = irregular_requests(&w) && irregular_map(&w, spread);
    label_rows(&w);
    decide_pattern(&w);
    for (uint32_t i = 0; i < heat->info.nrows; i++)
        charge_row(&w, i, best);
    return WL_OK;
}
