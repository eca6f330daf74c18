/* The patterns once more, naively, from raw accesses. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EDGE 0.95 /* shares and ratios may fall short by a twentieth */

/* ---- requests ---- */

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The different values of address / unit over all bytes of the request, ascending. */
static uint32_t pieces(const sim_request *r, uint64_t unit, uint64_t *out)
{
    uint64_t all[32 * 16];
    uint32_t n = 0, kept = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (!(r->mask >> lane & 1))
            continue;
        uint64_t last = (r->addr[lane] + r->bytes - 1) / unit;
        for (uint64_t piece = r->addr[lane] / unit; piece <= last; piece++)
            if (n == 0 || all[n - 1] != piece)
                all[n++] = piece;
    }
    qsort(all, n, sizeof *all, ascending);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || all[i] != all[i - 1])
            out[kept++] = all[i];
    return kept;
}

static uint32_t sectors_of(const sim_request *r)
{
    uint64_t out[32 * 16];
    return pieces(r, 32, out);
}

/* As many as could hold the bytes that lanes touch. */
static uint32_t fewest_of(const sim_request *r)
{
    uint64_t starts[32], end = 0, bytes = 0;
    uint32_t n = 0;
    for (int lane = 0; lane < 32; lane++)
        if (r->mask >> lane & 1)
            starts[n++] = r->addr[lane];
    qsort(starts, n, sizeof *starts, ascending);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t from = starts[i] > end ? starts[i] : end;
        end = starts[i] + r->bytes;
        bytes += end - from;
    }
    return (uint32_t)((bytes + 31) / 32);
}

typedef enum shape { UNIFORM, CONTIGUOUS, MISALIGNED, STRIDED, IRREGULAR } shape;

static shape shape_of(const sim_request *r)
{
    uint64_t a[32];
    int n = 0, lanes[32];
    for (int lane = 0; lane < 32; lane++) {
        if (r->mask >> lane & 1) {
            lanes[n] = lane;
            a[n++] = r->addr[lane];
        }
    }
    bool uniform = true, constant = n >= 2;
    int64_t step = n >= 2 ? (int64_t)(a[1] - a[0]) : 0;
    for (int i = 1; i < n; i++) {
        uniform &= a[i] == a[0];
        constant &= (int64_t)(a[i] - a[i - 1]) == step && lanes[i] == lanes[i - 1] + 1;
    }
    if (uniform)
        return UNIFORM;
    if (constant && llabs(step) == r->bytes)
        return sectors_of(r) > fewest_of(r) ? MISALIGNED : CONTIGUOUS;
    return constant && n >= 3 ? STRIDED : IRREGULAR;
}

double reference_sectors(const sim *s)
{
    double n = 0;
    for (size_t i = 0; i < s->log.count; i++)
        n += s->log.data[i].space == ACC_GLOBAL ? sectors_of(&s->log.data[i]) : 0;
    return n;
}

enum { MOST_PCS = 1024 };

/* The first instruction from `pc` on that accesses the object. */
static uint32_t next_pc(const sim *s, uint32_t object, uint32_t pc)
{
    uint32_t next = MOST_PCS;
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        next = r->object == object && r->pc >= pc && r->pc < next ? r->pc : next;
    }
    return next;
}

/* ---- the sampled blocks' maps ---- */

typedef struct cell {
    uint32_t sector, word[8]; /* bit sets of warps */
    uint64_t n[3];            /* requests by kind */
    bool stream;              /* only whole contiguous pieces come here */
    uint32_t used;            /* set of words that any sampled block touched */
    int label;                /* pattern, or -1 */
    bool sparse;
} cell;

typedef struct map {
    uint64_t first; /* sector of cells[0] */
    uint32_t count;
    cell *cells; /* also untouched ones */
    bool random; /* gathered, and without order */
} map;

static int kind_of(const sim_request *r)
{
    return r->op == ACC_LOAD ? 0 : r->op == ACC_STORE ? 1 : 2;
}

/* The place of the request's block among the sampled ones; negative: it is of none, or on another
 * object. */
static int in_sample(const sim *s, const sim_request *r, uint32_t object)
{
    for (uint32_t i = 0; r->object == object && i < s->nsampled; i++)
        if (r->block == s->sampled[i])
            return (int)i;
    return -1;
}

/* An instruction that streams: most requests contiguous, and a sector or more on average. */
static bool streams(const sim *s, uint32_t object, uint32_t pc)
{
    uint64_t n = 0, contiguous = 0, bytes = 0;
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        if (r->object == object && r->pc == pc) {
            shape f = shape_of(r);
            n++;
            contiguous += f == CONTIGUOUS || f == MISALIGNED;
            bytes += (uint64_t)__builtin_popcount(r->mask) * r->bytes;
        }
    }
    return contiguous * 2 >= n && bytes >= 32 * n;
}

static void touch_map(map *m, const sim_request *r, bool stream)
{
    uint64_t out[32 * 16];
    uint32_t n = pieces(r, 32, out);
    for (uint32_t i = 0; i < n; i++) {
        cell *c = &m->cells[out[i] - m->first];
        c->sector |= 1u << r->warp;
        c->n[kind_of(r)]++;
        c->stream &= stream;
    }
    n = pieces(r, 4, out);
    for (uint32_t i = 0; i < n; i++)
        m->cells[out[i] / 8 - m->first].word[out[i] % 8] |= 1u << r->warp;
}

static map make_map(const sim *s, uint32_t object, int sample)
{
    const sim_object *o = &s->objects[object];
    map m = {.first = o->base / 32, .count = (uint32_t)((o->base % 32 + o->bytes + 31) / 32)};
    m.cells = calloc(m.count, sizeof *m.cells);
    for (uint32_t i = 0; i < m.count; i++)
        m.cells[i].stream = true;
    bool known[MOST_PCS] = {false}, stream[MOST_PCS] = {false};
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        if (r->object == object && r->block == s->sampled[sample]) {
            if (!known[r->pc]) {
                known[r->pc] = true;
                stream[r->pc] = streams(s, object, r->pc);
            }
            touch_map(&m, r, stream[r->pc]);
        }
    }
    return m;
}

static int warps_in(uint32_t set)
{
    return __builtin_popcount(set);
}

static int hottest(const cell *c)
{
    int most = 0;
    for (int i = 0; i < 8; i++)
        most = warps_in(c->word[i]) > most ? warps_in(c->word[i]) : most;
    return most;
}

static int used(const cell *c)
{
    return __builtin_popcount(c->used);
}

/* What one block leaves of a sector may be another's: words are used where any block touches them. */
static void join_used(map *maps, uint32_t n)
{
    for (uint32_t i = 0; n && i < maps[0].count; i++) {
        uint32_t all = 0;
        for (uint32_t m = 0; m < n; m++)
            for (uint32_t k = 0; k < 8; k++)
                all |= (uint32_t)(maps[m].cells[i].word[k] != 0) << k;
        for (uint32_t m = 0; m < n; m++)
            maps[m].cells[i].used = all;
    }
}

/* Words of the object in the cell. */
static int words_in(const sim_object *o, const map *m, uint32_t cell_index)
{
    int n = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t start = (m->first + cell_index) * 32 + (uint64_t)i * 4;
        n += start + 4 > o->base && start < o->base + o->bytes;
    }
    return n;
}

static double transfers(const cell *c)
{
    return (double)(c->n[0] + c->n[1] + c->n[2]);
}

/* Are the requests a gather, and the temperatures without order? */
static bool is_random(const sim *s, uint32_t object, const map *m)
{
    double requests = 0, irregular = 0, sum = 0, squares = 0, words = 0;
    for (size_t i = 0; i < s->log.count; i++) {
        if (s->log.data[i].object == object) {
            requests++;
            irregular += shape_of(&s->log.data[i]) == IRREGULAR;
        }
    }
    if (irregular * 2 < requests)
        return false;
    uint32_t rows = 0, common = 0;
    uint32_t *counts = calloc(m->count, sizeof *counts);
    for (uint32_t i = 0; i < m->count; i++) {
        const cell *c = &m->cells[i];
        if (!c->sector)
            continue;
        rows++;
        for (int k = 0; k < 8; k++) {
            double t = warps_in(c->word[k]);
            words += t > 0;
            sum += t;
            squares += t * t;
        }
        uint32_t first = 0; /* the first row with the same temperatures */
        for (;; first++) {
            bool same = m->cells[first].sector != 0;
            for (int k = 0; same && k < 8; k++)
                same = warps_in(m->cells[first].word[k]) == warps_in(c->word[k]);
            if (same)
                break;
        }
        counts[first]++;
    }
    for (int best = 0; best < 8; best++) {
        uint32_t at = 0;
        for (uint32_t i = 0; i < m->count; i++)
            at = counts[i] > counts[at] ? i : at;
        common += counts[at];
        counts[at] = 0;
    }
    free(counts);
    double mean = words ? sum / words : 0, variance = words ? squares / words - mean * mean : 0;
    bool disorder = rows < 16 ? mean > 0 && sqrt(variance > 0 ? variance : 0) / mean > 0.05
                              : common < 0.75 * rows;
    return disorder;
}

/* Are half of the distances between runs of touched words equal? */
static bool constant_stride(const map *m)
{
    uint64_t *distances = calloc((size_t)m->count * 8 + 1, sizeof *distances);
    size_t n = 0, best = 0;
    uint64_t last_start = 0;
    bool before = false, any = false;
    for (uint64_t w = 0; w < (uint64_t)m->count * 8; w++) {
        bool touched = m->cells[w / 8].word[w % 8] != 0;
        if (touched && !before) {
            if (any)
                distances[n++] = w - last_start;
            any = true;
            last_start = w;
        }
        before = touched;
    }
    qsort(distances, n, sizeof *distances, ascending);
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i && distances[i] == distances[i - 1] ? run + 1 : 1;
        best = run > best ? run : best;
    }
    free(distances);
    return n >= 3 && (double)best * 2 >= EDGE * (double)n;
}

static bool word_is_used(const map *m, int64_t word)
{
    return word >= 0 && word < (int64_t)m->count * 8 && (m->cells[word / 8].used >> word % 8 & 1);
}

/* Does a word of the cell lie in a run of more than four words that blocks use? Such runs are rows,
 * and what they leave of a sector is where they end. */
static bool ends_a_row(const map *m, uint32_t index)
{
    for (int64_t word = (int64_t)index * 8; word < (int64_t)index * 8 + 8; word++) {
        int64_t first = word, end = word;
        while (word_is_used(m, first - 1))
            first--;
        while (word_is_used(m, end))
            end++;
        if (word_is_used(m, word) && end - first > 4)
            return true;
    }
    return false;
}

static int label_of(const sim *s, const cell *c, bool random, bool warm)
{
    int warps = (int)sim_warps(s), T = warps_in(c->sector), most = hottest(c);
    bool hot = true;
    for (int i = 0; i < 8; i++) {
        int t = warps_in(c->word[i]);
        hot &= t == 0 || (t >= 2 && 2 * t >= warps);
    }
    if (random)
        return warm && T ? ANA_HOT_RANDOM : -1;
    if (T < 2)
        return -1;
    if (T >= 2 * most)
        return c->stream ? -1 : ANA_FALSE_SHARING;
    return hot ? ANA_HOT : -1;
}

/* ---- an object ---- */

typedef struct costs {
    double excess[ANA_PATTERN_COUNT], alone[ANA_PATTERN_COUNT], requests[ANA_PATTERN_COUNT];
} costs;

/* What the object's atomic updates pay for in place of hot and hot-random: kernels have one
 * instruction that updates an object. */
static int pattern_of_updates(const sim *s, uint32_t object)
{
    double n = 0, uniform = 0, lanes = 0, words = 0;
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        if (r->object == object && kind_of(r) == 2) {
            n++;
            uniform += shape_of(r) == UNIFORM;
            lanes += __builtin_popcount(r->mask);
            words += sectors_of(r) * 32.0 / r->bytes;
        }
    }
    return 2 * uniform > n || 2 * words <= lanes ? ANA_SAME_ADDRESS : ANA_SCATTERED_ATOMICS;
}

/* Does a warp come back to the cell with updates? */
static bool repeats_updates(const cell *c)
{
    return c->n[2] > (uint64_t)warps_in(c->sector);
}

/* Is what is gathered shared by enough warps, on average over the sectors of all blocks? A gather is
 * one pattern: blocks in which warps happen to meet a little less often do not show another. */
static bool is_warm(const sim *s, const map *maps)
{
    double temperature = 0, rows = 0, enough = 0.25 * sim_warps(s);
    for (uint32_t i = 0; i < s->nsampled; i++) {
        for (uint32_t k = 0; maps[i].random && k < maps[i].count; k++) {
            temperature += warps_in(maps[i].cells[k].sector);
            rows += maps[i].cells[k].sector != 0;
        }
    }
    return rows && temperature / rows >= EDGE * (enough > 2 ? enough : 2);
}

static void map_costs(const sim *s, uint32_t object, map *m, bool warm, costs *out)
{
    int updates = pattern_of_updates(s, object);
    double all = 0, of[ANA_PATTERN_COUNT] = {0};
    for (uint32_t i = 0; i < m->count; i++)
        all += transfers(&m->cells[i]);
    for (uint32_t i = 0; i < m->count; i++) {
        cell *c = &m->cells[i];
        c->label = label_of(s, c, m->random, warm);
        c->label = c->label < 0 && repeats_updates(c) ? ANA_SCATTERED_ATOMICS : c->label;
        c->sparse = c->sector && used(c) * 2 <= words_in(&s->objects[object], m, i) &&
                    !ends_a_row(m, i);
        of[ANA_STRIDED] += c->sparse ? transfers(c) : 0;
        if (c->label >= 0)
            of[c->label] += transfers(c);
    }
    bool strided = constant_stride(m) && of[ANA_STRIDED] * 2 >= EDGE * all;
    for (uint32_t i = 0; i < m->count; i++) {
        cell *c = &m->cells[i];
        c->sparse &= strided;
        c->label = c->label >= 0 && of[c->label] * 4 >= EDGE * all ? c->label : -1;
        double unused = 1 - (double)used(c) / words_in(&s->objects[object], m, i);
        for (int k = 0; k < 3; k++) {
            double n = (double)c->n[k], left = n;
            if (c->label == ANA_FALSE_SHARING)
                left = ceil(n / warps_in(c->sector));
            else if (c->label >= 0)
                left = n > 0;
            bool again = c->label == ANA_SCATTERED_ATOMICS;
            int label = k == 2 && c->label != ANA_FALSE_SHARING && c->label >= 0 ? updates
                        : again                                                  ? -1
                                                                                 : c->label;
            left = again && k < 2 ? n : left;
            if (label >= 0) {
                out->excess[label] += n - left;
                out->alone[label] += n - left;
            }
            if (c->sparse) {
                out->excess[ANA_STRIDED] += left * unused;
                out->alone[ANA_STRIDED] += n * unused;
            }
        }
    }
}

/* ---- rows in pieces ---- */

/* Where the row of the lane begins, as far as the lane tells. */
static int64_t begin_of_row(const sim *s, const sim_request *r, uint32_t lane)
{
    return (int64_t)r->addr[lane] - (int64_t)(lane % s->block[0]) * r->bytes;
}

/* Do the threads of each row of the block take neighbours, and the rows lie apart? */
static bool is_in_pieces(const sim *s, const sim_request *r)
{
    int64_t begin = 0, length = (int64_t)s->block[0] * r->bytes;
    uint32_t row = UINT32_MAX;
    bool apart = false;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(r->mask >> lane & 1))
            continue;
        int64_t now = begin_of_row(s, r, lane);
        if (row == lane / s->block[0] ? now != begin
                                      : row != UINT32_MAX && llabs(now - begin) < length)
            return false;
        apart |= row != UINT32_MAX && row != lane / s->block[0] && now != begin + length;
        row = lane / s->block[0];
        begin = now;
    }
    return apart;
}

/* The first request of the instruction in the block. */
static const sim_request *first_in_block(const sim *s, uint32_t object, uint32_t pc, uint64_t block)
{
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        if (r->object == object && r->pc == pc && r->block == block)
            return r;
    }
    return NULL;
}

/* Is the block less than a warp wide, does the instruction mostly take pieces of rows, and go the
 * last two blocks along the same rows? */
static bool is_of_narrow_block(const sim *s, uint32_t object, uint32_t pc)
{
    double n = 0, in_pieces = 0;
    if (s->block[0] >= 32 || s->block[0] < 2 || s->block[0] & (s->block[0] - 1) || s->grid[0] < 2)
        return false;
    const sim_request *last = first_in_block(s, object, pc, s->grid[0] - 1),
                      *before = first_in_block(s, object, pc, s->grid[0] - 2);
    if (!last || !before || last->warp != before->warp)
        return false;
    uint32_t lane = (uint32_t)__builtin_ctz(last->mask);
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        if (r->object == object && r->pc == pc) {
            n++;
            in_pieces += is_in_pieces(s, r);
        }
    }
    return 2 * in_pieces > n && (before->mask >> lane & 1) &&
           last->addr[lane] - before->addr[lane] == s->block[0] * last->bytes;
}

/* Requests of each instruction, counted where the sectors that it moves are not settled by the
 * map. */
static void request_costs(const sim *s, uint32_t object, const map *maps, costs *out)
{
    for (uint32_t pc = next_pc(s, object, 0); pc < MOST_PCS; pc = next_pc(s, object, pc + 1)) {
        double n = 0, sectors = 0, fewest = 0, misaligned = 0, seen = 0, settled = 0, lanes = 0;
        bool updates = false, one_address = true;
        uint64_t address = 0;
        for (size_t i = 0; i < s->log.count; i++) {
            const sim_request *r = &s->log.data[i];
            if (r->object != object || r->pc != pc)
                continue;
            n++;
            updates |= kind_of(r) == 2;
            address = address ? address : r->addr[__builtin_ctz(r->mask)];
            one_address &= shape_of(r) == UNIFORM && r->addr[__builtin_ctz(r->mask)] == address;
            lanes += __builtin_popcount(r->mask);
            sectors += sectors_of(r);
            fewest += fewest_of(r);
            misaligned += shape_of(r) == MISALIGNED;
            uint64_t list[32 * 16];
            int sample = in_sample(s, r, object);
            uint32_t count = sample >= 0 ? pieces(r, 32, list) : 0;
            for (uint32_t k = 0; k < count; k++) {
                const cell *c = &maps[sample].cells[list[k] - maps[sample].first];
                seen++;
                bool others = c->label == ANA_SCATTERED_ATOMICS && kind_of(r) < 2;
                settled += (c->label >= 0 && !others) || c->sparse;
            }
        }
        settled = settled >= EDGE * seen ? seen : settled; /* the rest is that pattern's edge */
        double open = seen ? 1 - settled / seen : 1, excess = open * (sectors - fewest),
               one_each = 0;
        if (updates && one_address && sim_warps(s) == 1) {
            out->excess[ANA_SAME_ADDRESS] += open * n * 7 / 8;
            out->alone[ANA_SAME_ADDRESS] += open * n * 7 / 8;
            out->requests[ANA_SAME_ADDRESS] += n;
        }
        if (n && excess > 0 && misaligned >= 0.25 * EDGE * n) {
            one_each = open * misaligned < excess ? open * misaligned : excess;
            out->excess[ANA_MISALIGNED] += one_each;
            out->requests[ANA_MISALIGNED] += misaligned;
        }
        bool far = sectors >= 2 * EDGE * fewest && excess - one_each >= 2 * EDGE * open * n;
        bool narrow = !updates && excess - one_each >= 1.5 * EDGE * open * n &&
                      is_of_narrow_block(s, object, pc);
        if (n && excess - one_each > 0 && (far || narrow)) {
            ana_pattern p = updates ? ANA_SCATTERED_ATOMICS : ANA_UNCOALESCED;
            out->excess[p] += excess - one_each;
            out->alone[p] += updates ? excess - one_each : 0;
            out->requests[p] += n;
        } else if (n && lanes <= 8 * n && excess - one_each > 0 &&
                   excess - one_each >= 0.5 * EDGE * open * n) {
            ana_pattern p = updates ? ANA_SCATTERED_ATOMICS : ANA_DIVERGENT;
            out->excess[p] += excess - one_each;
            out->alone[p] += updates ? excess - one_each : 0;
            out->requests[p] += n;
        }
    }
    out->alone[ANA_MISALIGNED] = out->excess[ANA_MISALIGNED];
    out->alone[ANA_UNCOALESCED] = out->excess[ANA_UNCOALESCED];
    out->alone[ANA_DIVERGENT] = out->excess[ANA_DIVERGENT];
}

static void judge(reference *r, double total)
{
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        bool wasteful = r->requests[p] > 0 && r->alone[p] >= r->requests[p] * (1 - 1e-9);
        double share = wasteful ? 0.0001 : 0.01;
        r->told[p] = r->excess[p] >= 8 && r->alone[p] / total >= share;
    }
}

static void judge_costs(const costs *c, double total, reference *out)
{
    memcpy(out->excess, c->excess, sizeof out->excess);
    memcpy(out->alone, c->alone, sizeof out->alone);
    memcpy(out->requests, c->requests, sizeof out->requests);
    judge(out, total);
}

void reference_join(reference *pool, const reference *array, double total)
{
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        pool->excess[p] += array->excess[p];
        pool->alone[p] += array->alone[p];
        pool->requests[p] += array->excess[p] > 0 ? array->requests[p] : 0;
    }
    judge(pool, total);
}

void reference_object(const sim *s, uint32_t object, double total, reference *out)
{
    map maps[SIM_MAX_SAMPLED] = {{0}};
    costs c = {0};
    double in_map = 0, in_all = 0, requests = 0;
    *out = (reference){0};
    for (uint32_t i = 0; i < s->nsampled; i++)
        maps[i] = make_map(s, object, (int)i);
    join_used(maps, s->nsampled);
    for (uint32_t i = 0; i < s->nsampled; i++)
        maps[i].random = is_random(s, object, &maps[i]);
    bool warm = is_warm(s, maps);
    for (uint32_t i = 0; i < s->nsampled; i++)
        map_costs(s, object, &maps[i], warm, &c);
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        if (r->object == object) {
            in_all += sectors_of(r);
            in_map += in_sample(s, r, object) >= 0 ? sectors_of(r) : 0;
            requests++;
        }
    }
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        c.excess[p] *= in_map ? in_all / in_map : 0;
        c.alone[p] *= in_map ? in_all / in_map : 0;
        c.requests[p] = requests;
    }
    c.requests[ANA_MISALIGNED] = c.requests[ANA_UNCOALESCED] = c.requests[ANA_DIVERGENT] = 0;
    request_costs(s, object, maps, &c);
    judge_costs(&c, total, out);
    for (uint32_t i = 0; i < s->nsampled; i++)
        free(maps[i].cells);
}

/* ---- shared memory ---- */

/* Lanes are served in groups that take 128 bytes at most; a group takes as many passes as its
 * fullest bank has different words of it, or, with atomics, lanes. */
static void passes_of(const sim_request *r, double *now, double *fewest)
{
    uint32_t lanes = r->bytes <= 4 ? 32 : 128 / r->bytes;
    *now = *fewest = 0;
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint64_t words[32][64];
        int n[32] = {0}, most = 0;
        for (uint32_t lane = first; lane < first + lanes; lane++) {
            for (uint64_t b = 0; (r->mask >> lane & 1) && b < r->bytes; b += 4) {
                uint64_t word = (r->addr[lane] + b) / 4, bank = word % 32;
                bool known = false;
                for (int i = 0; i < n[bank]; i++)
                    known |= words[bank][i] == word && (r->op == ACC_LOAD || r->op == ACC_STORE);
                if (!known)
                    words[bank][n[bank]++] = word;
                most = n[bank] > most ? n[bank] : most;
            }
        }
        *now += most;
        *fewest += most > 0;
    }
}

double reference_passes(const sim *s)
{
    double sum = 0, now, fewest;
    for (size_t i = 0; i < s->log.count; i++) {
        if (s->log.data[i].space == ACC_SHARED) {
            passes_of(&s->log.data[i], &now, &fewest);
            sum += now;
        }
    }
    return sum;
}

/* The instructions of a shared array, one after the other: what conflicts cost, and what the array
 * costs. */
static void pass_costs(const sim *s, uint32_t object, costs *out)
{
    for (uint32_t pc = next_pc(s, object, 0); pc < MOST_PCS; pc = next_pc(s, object, pc + 1)) {
        double n = 0, now = 0, fewest = 0, uniform = 0; /* of atomic updates */
        bool load = false;
        for (size_t i = 0; i < s->log.count; i++) {
            const sim_request *r = &s->log.data[i];
            double a, b;
            if (r->object == object && r->pc == pc) {
                passes_of(r, &a, &b);
                n++;
                now += a;
                fewest += b;
                uniform += kind_of(r) == 2 && shape_of(r) == UNIFORM;
                load = r->op == ACC_LOAD;
            }
        }
        if (now > fewest && now >= 1.1 * fewest) {
            ana_pattern p = 2 * uniform > n ? ANA_SAME_ADDRESS : ANA_BANK_CONFLICT;
            out->excess[p] += now - fewest;
            out->requests[p] += n;
        }
        out->excess[ANA_SHARED_THREAD_LOCAL] += fewest;
        out->requests[ANA_SHARED_THREAD_LOCAL] += n;
        out->excess[ANA_SHARED_WARP_LOCAL] += load ? 0 : fewest;
        out->requests[ANA_SHARED_WARP_LOCAL] += load ? 0 : n;
    }
}

/* Who touches a word of the array, in one block: bits of warps, and the thread, or -2 for
 * several. */
typedef struct toucher {
    uint32_t warps;
    int thread;
} toucher;

/* Are all words touched by one thread each (and if not, by one warp each) in every sampled
 * block? */
static void owners_of(const sim *s, uint32_t object, bool *one_thread, bool *one_warp)
{
    uint64_t words = s->objects[object].bytes / 4 + 1, base = s->objects[object].base;
    *one_thread = *one_warp = true;
    for (uint32_t b = 0; b < s->nsampled; b++) {
        toucher *t = calloc(words, sizeof *t);
        for (size_t i = 0; i < s->log.count; i++) {
            const sim_request *r = &s->log.data[i];
            for (int lane = 0; in_sample(s, r, object) == (int)b && lane < 32; lane++) {
                for (uint64_t at = 0; (r->mask >> lane & 1) && at < r->bytes; at += 4) {
                    toucher *word = &t[(r->addr[lane] + at - base) / 4];
                    int thread = (int)r->warp * 32 + lane;
                    word->thread = !word->warps || word->thread == thread ? thread : -2;
                    word->warps |= 1u << r->warp;
                }
            }
        }
        for (uint64_t w = 0; w < words; w++) {
            *one_thread &= !t[w].warps || t[w].thread >= 0;
            *one_warp &= warps_in(t[w].warps) <= 1;
        }
        free(t);
    }
}

void reference_shared(const sim *s, uint32_t object, double total, reference *out)
{
    costs c = {0};
    bool one_thread, one_warp;
    *out = (reference){0};
    pass_costs(s, object, &c);
    owners_of(s, object, &one_thread, &one_warp);
    if (!one_thread)
        c.excess[ANA_SHARED_THREAD_LOCAL] = 0;
    if (one_thread || !one_warp)
        c.excess[ANA_SHARED_WARP_LOCAL] = 0;
    memcpy(c.alone, c.excess, sizeof c.alone);
    judge_costs(&c, total > 0 ? total : 1, out);
}

/* Word k of the 32 lanes of a warp lies side by side, so that of lane l at 128 k + 4 l. */
double reference_local(const sim *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->log.count; i++) {
        const sim_request *r = &s->log.data[i];
        uint64_t found[32 * 16];
        uint32_t n = 0;
        for (uint32_t lane = 0; r->space == ACC_LOCAL && lane < 32; lane++) {
            for (uint32_t b = 0; (r->mask >> lane & 1) && b < r->bytes; b += 4) {
                uint64_t sector = ((r->addr[lane] + b) / 4 * 128 + 4 * (uint64_t)lane) / 32;
                uint32_t known = 0;
                for (; known < n && found[known] != sector; known++) {}
                found[known] = sector;
                n += known == n;
            }
        }
        sum += n;
    }
    return sum;
}
