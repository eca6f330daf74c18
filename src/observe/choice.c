#include "observe/choice.h"

#include <string.h>

enum { STEPS_LOG2 = 4 }; /* steps of an octave */
enum { RATIO_SCALE = 256, SHARE = 20 };

/* ---- cells ---- */

/* Steps of a sixteenth of an octave, below 16 of one; without floating point, so that it is the
 * same everywhere. */
static uint32_t log_step_of(uint64_t n)
{
    if (n < 1u << STEPS_LOG2)
        return (uint32_t)n;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(n);
    return (octave - STEPS_LOG2 + 1) << STEPS_LOG2 |
           (uint32_t)(n >> (octave - STEPS_LOG2) & ((1u << STEPS_LOG2) - 1));
}

static uint32_t x_of(const obs_sample *s)
{
    return log_step_of(s->instructions);
}

static uint32_t y_of(const obs_sample *s)
{
    return s->requests ? log_step_of(s->sectors * RATIO_SCALE / s->requests) : 0;
}

void obs_kept_free(obs_kept *kept)
{
    obs_log_free(&kept->log);
    obs_heat_free(kept->heat);
    *kept = (obs_kept){0};
}

/* The block with the smaller index that has a map stays. */
static void keep_better_block(obs_kept *to, obs_kept *from)
{
    bool better = !to->about.mapped ? from->about.mapped || from->about.block < to->about.block
                                    : from->about.mapped && from->about.block < to->about.block;
    if (!better)
        return;
    obs_kept old = *to;
    *to = *from;
    *from = old;
}

static void join_cells(obs_cell *to, obs_cell *from)
{
    to->count += from->count;
    to->first = from->first < to->first ? from->first : to->first;
    keep_better_block(&to->kept, &from->kept);
    obs_kept_free(&from->kept);
}

static obs_cell *find_cell(obs_choice *c, uint32_t x, uint32_t y)
{
    uint32_t n = c->count;
    for (uint32_t i = 0, at = c->last < n ? c->last : 0; i < n; i++, at = at + 1 < n ? at + 1 : 0) {
        if (c->cells[at].x == x && c->cells[at].y == y) {
            c->last = at;
            return &c->cells[at];
        }
    }
    return NULL;
}

/* Doubles the steps. */
static void coarsen(obs_choice *c)
{
    uint32_t n = c->count;
    c->shift++;
    c->count = 0;
    for (uint32_t i = 0; i < n; i++) {
        obs_cell cell = c->cells[i];
        cell.x >>= 1;
        cell.y >>= 1;
        obs_cell *there = find_cell(c, cell.x, cell.y);
        if (there)
            join_cells(there, &cell);
        else
            c->cells[c->count++] = cell;
    }
}

static void add_cell(obs_choice *c, const obs_cell *cell)
{
    c->cells[c->count++] = *cell;
    while (c->count > OBS_CELLS)
        coarsen(c);
}

static void count_block_in_cell(obs_choice *choice, obs_cell *cell, uint64_t block)
{
    choice->blocks++;
    cell->count++;
    cell->first = block < cell->first ? block : cell->first;
}

bool obs_choice_count(obs_choice *choice, const obs_sample *about)
{
    obs_cell *there = find_cell(choice, x_of(about) >> choice->shift, y_of(about) >> choice->shift);
    if (!there || (!there->kept.about.mapped && about->block < there->kept.about.block))
        return false;
    count_block_in_cell(choice, there, about->block);
    return true;
}

void obs_choice_add(obs_choice *choice, obs_kept *block)
{
    uint32_t x = x_of(&block->about) >> choice->shift, y = y_of(&block->about) >> choice->shift;
    obs_cell *there = find_cell(choice, x, y);
    if (!there) {
        choice->blocks++;
        obs_cell cell = {x, y, 1, block->about.block, *block};
        *block = (obs_kept){0};
        add_cell(choice, &cell);
        return;
    }
    count_block_in_cell(choice, there, block->about.block);
    keep_better_block(&there->kept, block);
}

void obs_choice_merge(obs_choice *to, obs_choice *from)
{
    while (to->shift < from->shift)
        coarsen(to);
    while (from->shift < to->shift)
        coarsen(from);
    to->blocks += from->blocks;
    for (uint32_t i = 0; i < from->count; i++) {
        obs_cell cell = from->cells[i];
        for (uint32_t shift = from->shift; shift < to->shift; shift++) {
            cell.x >>= 1;
            cell.y >>= 1;
        }
        obs_cell *there = find_cell(to, cell.x, cell.y);
        if (there)
            join_cells(there, &cell);
        else
            add_cell(to, &cell);
    }
    *from = (obs_choice){0};
}

void obs_choice_free(obs_choice *choice)
{
    for (uint32_t i = 0; i < choice->count; i++)
        obs_kept_free(&choice->cells[i].kept);
    *choice = (obs_choice){0};
}

/* ---- clusters ---- */

typedef struct cluster {
    uint32_t number;
    uint64_t count, first;
    obs_cell *medoid;
} cluster;

typedef struct making {
    obs_choice *choice;
    uint32_t of[OBS_CELLS]; /* cluster of each cell */
    uint32_t nclusters, npopulations;
    cluster clusters[OBS_CELLS];
    bool chosen[OBS_CELLS];
} making;

static uint32_t steps_apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Steps between two cells, the larger of both ways: 1 where they touch. */
static uint32_t cell_distance(const obs_cell *a, const obs_cell *b)
{
    uint32_t x = steps_apart(a->x, b->x), y = steps_apart(a->y, b->y);
    return x > y ? x : y;
}

static void number_clusters(making *m)
{
    obs_cell *cells = m->choice->cells;
    uint32_t n = m->choice->count;
    for (uint32_t i = 0; i < n; i++)
        m->of[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < n; k++)
                if (cell_distance(&cells[i], &cells[k]) <= 1 && m->of[k] < m->of[i]) {
                    m->of[i] = m->of[k];
                    changed = true;
                }
    }
}

/* The steps from a cell to all blocks of its cluster. */
static uint64_t remoteness(const making *m, uint32_t cell)
{
    const obs_cell *cells = m->choice->cells;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->choice->count; i++)
        if (m->of[i] == m->of[cell])
            sum += cells[i].count * cell_distance(&cells[i], &cells[cell]);
    return sum;
}

static void fill_cluster(const making *m, cluster *c)
{
    uint64_t least = UINT64_MAX;
    c->first = UINT64_MAX;
    for (uint32_t i = 0; i < m->choice->count; i++) {
        obs_cell *cell = &m->choice->cells[i];
        if (m->of[i] != c->number)
            continue;
        c->count += cell->count;
        c->first = cell->first < c->first ? cell->first : c->first;
        uint64_t far = remoteness(m, i);
        if (!c->medoid || far < least || (far == least && cell->first < c->medoid->first)) {
            least = far;
            c->medoid = cell;
        }
    }
}

static int by_count(const void *a, const void *b)
{
    const cluster *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void list_clusters(making *m)
{
    number_clusters(m);
    for (uint32_t i = 0; i < m->choice->count; i++) {
        if (m->of[i] != i)
            continue;
        cluster *c = &m->clusters[m->nclusters++];
        *c = (cluster){.number = i};
        fill_cluster(m, c);
    }
    qsort(m->clusters, m->nclusters, sizeof *m->clusters, by_count);
    _Static_assert((int)OBS_CELLS <= (int)SHARE,
                   "the largest of so few clusters is always a population");
    while (m->npopulations < m->nclusters && m->npopulations < OBS_POPULATIONS &&
           m->clusters[m->npopulations].count * SHARE >= m->choice->blocks)
        m->npopulations++;
}

/* ---- choosing ---- */

/* Whether `a` stands better for the cluster than `b`: it is nearer, or the first of equally near
 * ones. */
static bool is_nearer(const obs_cell *a, const obs_cell *b, const cluster *c)
{
    uint32_t x = cell_distance(a, c->medoid), y = cell_distance(b, c->medoid);
    return x != y ? x < y : a->kept.about.block < b->kept.about.block;
}

/* The cell that stands for a population: block 0's where it is close to the medoid, else the
 * medoid's own, else the nearest that has a map. */
static obs_cell *representative(const making *m, const cluster *c)
{
    obs_cell *best = c->medoid;
    for (uint32_t i = 0; i < m->choice->count; i++) {
        obs_cell *cell = &m->choice->cells[i];
        if (m->of[i] != c->number || !cell->kept.about.mapped)
            continue;
        bool block_0 = cell->kept.about.block == 0;
        if (block_0 && cell_distance(cell, c->medoid) <= 1)
            return cell;
        if (!best->kept.about.mapped || is_nearer(cell, best, c))
            best = cell;
    }
    return best;
}

static void choose_cell(making *m, obs_cell *cell, obs_why why, uint64_t alike)
{
    m->chosen[cell - m->choice->cells] = true;
    cell->kept.about.why = (uint8_t)why;
    cell->kept.about.alike = alike;
}

/* Steps to the nearest population. */
static uint32_t strangeness(const making *m, const obs_cell *cell)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < m->npopulations; i++) {
        uint32_t d = cell_distance(cell, m->clusters[i].medoid);
        least = d < least ? d : least;
    }
    return least;
}

/* Of no population, or rare in its own and an octave from its middle. */
static bool is_outlier(const making *m, uint32_t i)
{
    const obs_cell *cell = &m->choice->cells[i];
    for (uint32_t p = 0; p < m->npopulations; p++)
        if (m->of[i] == m->clusters[p].number)
            return cell->count * SHARE < m->choice->blocks &&
                   cell_distance(cell, m->clusters[p].medoid) << m->choice->shift >=
                       1u << STEPS_LOG2;
    return true;
}

static obs_cell *next_outlier(const making *m)
{
    obs_cell *best = NULL;
    for (uint32_t i = 0; i < m->choice->count; i++) {
        obs_cell *cell = &m->choice->cells[i];
        if (m->chosen[i] || !is_outlier(m, i))
            continue;
        uint32_t d = strangeness(m, cell), most = best ? strangeness(m, best) : 0;
        if (!best || d > most || (d == most && cell->first < best->first))
            best = cell;
    }
    return best;
}

static int cells_by_block(const void *a, const void *b)
{
    const obs_cell *x = *(obs_cell *const *)a, *y = *(obs_cell *const *)b;
    uint64_t i = x->kept.about.block, k = y->kept.about.block;
    return i < k ? -1 : i > k;
}

uint32_t obs_choice_make(obs_choice *choice, obs_cell **chosen)
{
    making m = {.choice = choice};
    uint32_t n = 0;
    list_clusters(&m);
    for (uint32_t i = 0; i < m.npopulations; i++)
        choose_cell(&m, representative(&m, &m.clusters[i]), OBS_WHY_TYPICAL, m.clusters[i].count);
    for (uint32_t i = 0; i < OBS_OUTLIERS; i++) {
        obs_cell *cell = next_outlier(&m);
        if (cell)
            choose_cell(&m, cell, OBS_WHY_OUTLIER, cell->count);
    }
    for (uint32_t i = 0; i < choice->count; i++)
        if (m.chosen[i])
            chosen[n++] = &choice->cells[i];
    qsort(chosen, n, sizeof *chosen, cells_by_block);
    return n;
}
