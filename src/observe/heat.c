#include "observe/heat.h"

#include "observe/pcset.h"
#include "observe/table.h"

#include <string.h>

enum { LANE_NONE = 0xff, LANE_SEVERAL = 0xfe };
enum { COUNT_READS, COUNT_WRITES, COUNT_ATOMICS };
enum { MAX_PCSETS = UINT16_MAX + 1 };
/* Left-out sectors are told apart up to this many times the limit. */
enum { DROPPED_FACTOR = 4 };

typedef struct cell {
    uint64_t sector;
    uint32_t history, word[OBS_WORDS_PER_SECTOR];
    uint32_t counts[3];
    uint32_t request; /* the last that touched it */
    uint32_t pc;      /* of the last request */
    uint32_t pcset;
    uint8_t
        lane[OBS_WORDS_PER_SECTOR]; /* that touched the word; SEVERAL for several, of any warp */
} cell;

typedef struct map {
    uint32_t object;
    uint8_t space;
    wl_vec(cell) cells;
    obs_table by_sector; /* index in cells + 1 */
    obs_table left_out;
    obs_pcsets pcsets;
    uint32_t last;    /* cell of the last touch */
    uint32_t request; /* number of the request being recorded */
} map;

struct obs_heat_block {
    uint64_t limit;
    wl_vec(map) maps;
    obs_table by_object; /* object << 8 | space: index in maps + 1 */
};

/* The request being recorded. */
typedef struct touch {
    map *map;
    uint64_t limit;
    uint32_t warp_bit, pc, count;
    bool failed;
} touch;

obs_heat_block *obs_heat_begin(uint64_t limit)
{
    obs_heat_block *heat = calloc(1, sizeof *heat);
    if (heat)
        heat->limit = limit && limit < UINT32_MAX / 2 ? limit : UINT32_MAX / 2;
    return heat;
}

static void map_free(map *m)
{
    wl_vec_free(&m->cells);
    obs_table_free(&m->by_sector);
    obs_table_free(&m->left_out);
    obs_pcsets_free(&m->pcsets);
}

void obs_heat_free(obs_heat_block *heat)
{
    if (!heat)
        return;
    for (size_t i = 0; i < heat->maps.count; i++)
        map_free(&heat->maps.data[i]);
    wl_vec_free(&heat->maps);
    obs_table_free(&heat->by_object);
    free(heat);
}

static map *map_of(obs_heat_block *heat, const acc_request *access)
{
    uint64_t key = (uint64_t)access->object << 8 | access->space;
    uint32_t index = obs_table_get(&heat->by_object, key);
    if (index)
        return &heat->maps.data[index - 1];
    map fresh = {.object = access->object, .space = (uint8_t)access->space};
    if (!wl_push(&heat->maps, fresh))
        return NULL;
    if (obs_table_put(&heat->by_object, key, (uint32_t)heat->maps.count))
        return &heat->maps.data[heat->maps.count - 1];
    heat->maps.count--;
    return NULL;
}

static void leave_out(touch *t, uint64_t sector)
{
    obs_table *left = &t->map->left_out;
    if (left->count < t->limit * DROPPED_FACTOR && !obs_table_get(left, sector) &&
        !obs_table_put(left, sector, 1))
        t->failed = true;
}

static cell *add_sector_cell(touch *t, uint64_t sector)
{
    map *m = t->map;
    cell fresh = {.sector = sector, .pc = UINT32_MAX};
    if (m->cells.count >= t->limit) {
        leave_out(t, sector);
        return NULL;
    }
    memset(fresh.lane, LANE_NONE, sizeof fresh.lane);
    if (!wl_push(&m->cells, fresh) ||
        !obs_table_put(&m->by_sector, sector, (uint32_t)m->cells.count)) {
        m->cells.count -= m->cells.count && m->cells.data[m->cells.count - 1].sector == sector;
        t->failed = true;
        return NULL;
    }
    m->last = (uint32_t)m->cells.count - 1;
    return &m->cells.data[m->last];
}

/* Accesses go through memory in the same order again and again, so that the sector is mostly that
 * of the last touch or the one that was new after it. NULL where the map is full or memory
 * exhausted. */
static cell *cell_of(touch *t, uint64_t sector)
{
    map *m = t->map;
    for (uint32_t i = m->last; i < m->cells.count && i <= m->last + 1; i++) {
        if (m->cells.data[i].sector == sector) {
            m->last = i;
            return &m->cells.data[i];
        }
    }
    uint32_t index = obs_table_get(&m->by_sector, sector);
    if (!index)
        return add_sector_cell(t, sector);
    m->last = index - 1;
    return &m->cells.data[m->last];
}

/* Once a request and sector. */
static void count_request(touch *t, cell *c)
{
    c->request = t->map->request;
    c->history |= t->warp_bit;
    c->counts[t->count] += c->counts[t->count] != UINT32_MAX;
    if (c->pc == t->pc)
        return;
    uint32_t set = obs_pcset_add(&t->map->pcsets, c->pcset, t->pc);
    if (set == UINT32_MAX) {
        t->failed = true;
        return;
    }
    c->pcset = set;
    c->pc = t->pc;
}

/* `words` has bit k set for word k of the sector. */
static void touch_sector(touch *t, uint64_t sector, uint32_t words)
{
    cell *c = cell_of(t, sector);
    if (!c)
        return;
    for (uint32_t k = 0; k < OBS_WORDS_PER_SECTOR; k++)
        c->word[k] |= t->warp_bit & (0 - (words >> k & 1));
    if (c->request != t->map->request)
        count_request(t, c);
}

/* The words [first, last]. */
static void touch_words(touch *t, uint64_t first, uint64_t last)
{
    uint64_t end = last / OBS_WORDS_PER_SECTOR;
    for (uint64_t sector = first / OBS_WORDS_PER_SECTOR; sector <= end; sector++) {
        uint32_t words = 0xff;
        if (sector == first / OBS_WORDS_PER_SECTOR)
            words &= 0xffu << (first % OBS_WORDS_PER_SECTOR);
        if (sector == end)
            words &= 0xffu >> (OBS_WORDS_PER_SECTOR - 1 - last % OBS_WORDS_PER_SECTOR);
        touch_sector(t, sector, words);
    }
}

/* Neighbouring lanes mostly fall in one sector: their words are collected and touched at once. */
static void touch_lanes(touch *t, const acc_request *access)
{
    uint64_t sector = 0;
    uint32_t words = 0;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint64_t a = access->addr[__builtin_ctz(m)];
        uint64_t first = a / OBS_WORD_BYTES, last = (a + access->bytes - 1) / OBS_WORD_BYTES;
        bool inside = first / OBS_WORDS_PER_SECTOR == last / OBS_WORDS_PER_SECTOR;
        if (words && (!inside || sector != first / OBS_WORDS_PER_SECTOR)) {
            touch_sector(t, sector, words);
            words = 0;
        }
        if (!inside) {
            touch_words(t, first, last);
            continue;
        }
        sector = first / OBS_WORDS_PER_SECTOR;
        words |= (2u << last % OBS_WORDS_PER_SECTOR) - (1u << first % OBS_WORDS_PER_SECTOR);
    }
    if (words)
        touch_sector(t, sector, words);
}

/* Shared memory, where each word also remembers its lane. */
static void touch_owned(touch *t, const acc_request *access)
{
    cell *c = NULL;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t a = access->addr[lane], last = (a + access->bytes - 1) / OBS_WORD_BYTES;
        for (uint64_t w = a / OBS_WORD_BYTES; w <= last; w++) {
            if (!c || c->sector != w / OBS_WORDS_PER_SECTOR)
                c = cell_of(t, w / OBS_WORDS_PER_SECTOR);
            if (!c)
                continue;
            uint8_t *owner = &c->lane[w % OBS_WORDS_PER_SECTOR];
            if (*owner != lane)
                *owner = *owner == LANE_NONE ? (uint8_t)lane : LANE_SEVERAL;
            c->word[w % OBS_WORDS_PER_SECTOR] |= t->warp_bit;
            if (c->request != t->map->request)
                count_request(t, c);
        }
    }
}

static uint32_t counter_of_op(acc_op op)
{
    return op == ACC_LOAD ? COUNT_READS : op == ACC_STORE ? COUNT_WRITES : COUNT_ATOMICS;
}

bool obs_heat_record(obs_heat_block *heat, const acc_request *access, const obs_run *run)
{
    if (access->space == ACC_LOCAL)
        return true;
    touch t = {.map = map_of(heat, access),
               .limit = heat->limit,
               .warp_bit = 1u << (access->warp & 31),
               .pc = access->pc,
               .count = counter_of_op(access->op)};
    if (!t.map)
        return false;
    t.map->request++;
    if (access->space == ACC_SHARED) {
        touch_owned(&t, access);
    } else if (run && run->stride >= 0 && (uint64_t)run->stride <= access->bytes) {
        uint64_t last = run->first + (uint64_t)run->stride * (run->count - 1) + access->bytes - 1;
        touch_words(&t, run->first / OBS_WORD_BYTES, last / OBS_WORD_BYTES);
    } else {
        touch_lanes(&t, access);
    }
    return !t.failed;
}

/* ---- the finished map ---- */

static int by_sector(const void *a, const void *b)
{
    uint64_t x = ((const cell *)a)->sector, y = ((const cell *)b)->sector;
    return x < y ? -1 : x > y;
}

static uint32_t owner_of(uint32_t history, uint8_t lane)
{
    if (!history)
        return OBS_OWNER_NONE;
    if (history & (history - 1))
        return OBS_OWNER_BLOCK;
    return lane == LANE_SEVERAL ? OBS_OWNER_WARP : OBS_OWNER_THREAD;
}

/* Into zeroed memory, so that padding is the same every time. */
static void fill_row(const cell *c, bool shared, uint32_t pcset, obs_heat_row *row)
{
    row->sector = c->sector;
    row->history = c->history;
    memcpy(row->word, c->word, sizeof row->word);
    row->reads = c->counts[COUNT_READS];
    row->writes = c->counts[COUNT_WRITES];
    row->atomics = c->counts[COUNT_ATOMICS];
    row->pcset = (uint16_t)pcset;
    for (uint32_t k = 0; shared && k < OBS_WORDS_PER_SECTOR; k++)
        row->owner |= (uint16_t)(owner_of(c->word[k], c->lane[k]) << (2 * k));
}

/* Numbers the sets that cells have in the order in which they appear: renumbered[set] is the new
 * number. Where they are more than a row can name, the last number stands for all instructions of
 * the map. */
static uint32_t renumber(const map *m, uint32_t *renumbered)
{
    uint32_t count = 0;
    memset(renumbered, 0xff, (m->pcsets.ends.count + 1) * sizeof *renumbered);
    for (size_t i = 0; i < m->cells.count; i++) {
        uint32_t *number = &renumbered[m->cells.data[i].pcset];
        if (*number == UINT32_MAX)
            *number = count < MAX_PCSETS - 1 ? count++ : MAX_PCSETS - 1;
    }
    return count;
}

/* The set of all instructions of the map; UINT32_MAX when memory is exhausted. */
static uint32_t set_of_all(obs_pcsets *sets)
{
    uint32_t all = 0;
    for (size_t i = 0, n = sets->pcs.count; i < n && all != UINT32_MAX; i++)
        all = obs_pcset_add(sets, all, sets->pcs.data[i]);
    return all;
}

/* Set n of the map is numbers[n]; the sets and behind them their members are one piece of memory.*/
static bool copy_sets(const obs_pcsets *sets, const uint32_t *numbers, uint32_t nsets,
                      obs_heat *out)
{
    size_t members = 0;
    uint32_t count;
    for (uint32_t n = 0; n < nsets; n++) {
        obs_pcset_get(sets, numbers[n], &count);
        members += count;
    }
    out->pcsets = malloc(nsets * sizeof *out->pcsets + members * sizeof(uint32_t) + 1);
    if (!out->pcsets)
        return false;
    uint32_t *next = (uint32_t *)(out->pcsets + nsets);
    for (uint32_t n = 0; n < nsets; n++) {
        const uint32_t *pcs = obs_pcset_get(sets, numbers[n], &count);
        if (count)
            memcpy(next, pcs, count * sizeof *next);
        out->pcsets[n] = (obs_pcset){.count = count, .pcs = next};
        next += count;
    }
    out->npcsets = nsets;
    return true;
}

static bool fill_pcsets(map *m, const uint32_t *renumbered, uint32_t count, obs_heat *out)
{
    size_t known = m->pcsets.ends.count;
    uint32_t *numbers = calloc((size_t)count + 1, sizeof *numbers);
    if (!numbers)
        return false;
    for (size_t set = 0; set <= known; set++)
        if (renumbered[set] < count)
            numbers[renumbered[set]] = (uint32_t)set;
    bool all = count == MAX_PCSETS - 1;
    if (all)
        numbers[count] = set_of_all(&m->pcsets);
    bool ok = (!all || numbers[count] != UINT32_MAX) &&
              copy_sets(&m->pcsets, numbers, count + all, out);
    free(numbers);
    return ok;
}

static bool fill_heat(map *m, obs_heat *out)
{
    out->object = m->object;
    out->space = m->space;
    out->dropped = m->left_out.count;
    out->rows = calloc(m->cells.count + 1, sizeof *out->rows);
    uint32_t *renumbered = malloc((m->pcsets.ends.count + 1) * sizeof *renumbered);
    bool ok = out->rows && renumbered;
    if (ok) {
        qsort(m->cells.data, m->cells.count, sizeof(cell), by_sector);
        ok = fill_pcsets(m, renumbered, renumber(m, renumbered), out);
    }
    for (size_t i = 0; ok && i < m->cells.count; i++) {
        const cell *c = &m->cells.data[i];
        fill_row(c, m->space == ACC_SHARED, renumbered[c->pcset], &out->rows[i]);
    }
    out->nrows = ok ? (uint32_t)m->cells.count : 0;
    free(renumbered);
    return ok;
}

bool obs_heat_end(obs_heat_block *heat, const obs_heat *about, obs_heats *out)
{
    bool all = true;
    for (size_t i = 0; i < heat->maps.count; i++) {
        obs_heat one = *about;
        one.rows = NULL;
        one.pcsets = NULL;
        if (!heat->maps.data[i].cells.count)
            continue;
        if (!fill_heat(&heat->maps.data[i], &one) || !wl_push(out, one)) {
            obs_heat_clear(&one);
            all = false;
        }
        map_free(&heat->maps.data[i]);
        heat->maps.data[i] = (map){0};
    }
    return all;
}

void obs_heat_clear(obs_heat *heat)
{
    free(heat->pcsets); /* with their members */
    free(heat->rows);
    *heat = (obs_heat){0};
}
