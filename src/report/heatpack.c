/* A heat map as columns of bytes for the HTML report. */
#include "report/impl.h"
#include "report/keys.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = OBS_WORDS_PER_SECTOR };

typedef struct run { /* consecutive sectors that are alike */
    obs_heat_row row;
    uint64_t repeat;
} run;

static bool alike(const obs_heat_row *a, const obs_heat_row *b)
{
    return a->history == b->history && memcmp(a->word, b->word, sizeof a->word) == 0 &&
           a->reads == b->reads && a->writes == b->writes && a->atomics == b->atomics &&
           a->owner == b->owner && a->pcset == b->pcset;
}

static bool same_temperatures(const obs_heat_row *a, const obs_heat_row *b)
{
    if (__builtin_popcount(a->history) != __builtin_popcount(b->history) || a->owner != b->owner ||
        a->pcset != b->pcset)
        return false;
    for (int w = 0; w < WORDS; w++)
        if (__builtin_popcount(a->word[w]) != __builtin_popcount(b->word[w]))
            return false;
    return true;
}

/* Adjacent rows that are alike become one run. */
static uint32_t make_runs(const prof_heat *heat, run *runs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < heat->info.nrows; i++) {
        const obs_heat_row *row = &heat->rows[i];
        run *last = count > 0 ? &runs[count - 1] : NULL;
        if (last && last->row.sector + last->repeat == row->sector && alike(&last->row, row))
            last->repeat++;
        else
            runs[count++] = (run){*row, 1};
    }
    return count;
}

/* Runs of equal temperatures become one, which keeps the counts of its first sector. */
static uint32_t merge_runs(run *runs, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        run *last = kept > 0 ? &runs[kept - 1] : NULL;
        if (last && last->row.sector + last->repeat == runs[i].row.sector &&
            same_temperatures(&last->row, &runs[i].row))
            last->repeat += runs[i].repeat;
        else
            runs[kept++] = runs[i];
    }
    return kept;
}

/* ---- columns ---- */

typedef struct column_writer {
    rep_columns to;
    const run *runs;
    uint32_t count;
} column_writer;

enum { RUN_BYTES = 8 + 4 + 4 * WORDS + 3 * 4 + 2 * 2 }; /* of one run in all columns, at most */

#define COLUMN(c, name, width, expression)                               \
    do {                                                                 \
        for (uint32_t i = 0; i < (c)->count; i++) {                      \
            const run *r = &(c)->runs[i];                                \
            rep_put_element(&(c)->to, (c)->count, width, i, expression); \
        }                                                                \
        rep_end_column(&(c)->to, name, (c)->count, width);               \
    } while (0)

/* Each word as what tells it from the word before: warps often take whole sectors. */
static void put_word_column(column_writer *c)
{
    size_t all = (size_t)WORDS * c->count;
    for (uint32_t w = 0; w < WORDS; w++)
        for (uint32_t i = 0; i < c->count; i++) {
            const uint32_t *word = c->runs[i].row.word;
            rep_put_element(&c->to, all, 4, (size_t)w * c->count + i,
                            word[w] ^ (w > 0 ? word[w - 1] : 0));
        }
    rep_end_column(&c->to, K(page_columns, word), all, 4);
}

/* How many warps, instead of which: a ninth of the size where they are irregular. */
static void put_warmth(column_writer *c)
{
    size_t all = (size_t)(WORDS + 1) * c->count;
    for (uint32_t w = 0; w <= WORDS; w++)
        for (uint32_t i = 0; i < c->count; i++) {
            const obs_heat_row *row = &c->runs[i].row;
            uint32_t warps = w < WORDS ? row->word[w] : row->history;
            rep_put_element(&c->to, all, 1, (size_t)w * c->count + i,
                            (uint64_t)__builtin_popcount(warps));
        }
    rep_end_column(&c->to, K(page_columns, warmth), all, 1);
}

static uint64_t skipped(const run *runs, uint32_t i)
{
    return i == 0 ? 0 : runs[i].row.sector - runs[i - 1].row.sector - runs[i - 1].repeat;
}

static void put_columns(column_writer *c, bool merged)
{
    COLUMN(c, K(page_columns, skip), 8, skipped(c->runs, (uint32_t)(r - c->runs)));
    COLUMN(c, K(page_columns, repeat), 4, r->repeat);
    if (merged)
        put_warmth(c);
    else
        put_word_column(c);
    COLUMN(c, K(page_columns, reads), 4, r->row.reads);
    COLUMN(c, K(page_columns, writes), 4, r->row.writes);
    COLUMN(c, K(page_columns, atomics), 4, r->row.atomics);
    COLUMN(c, K(page_columns, owner), 2, r->row.owner);
    COLUMN(c, K(page_columns, pcset), 2, r->row.pcset);
}

/* The runs compressed into `part`, which the caller frees; the columns' places. NULL without
 * memory. */
static json_t *columns_json(const run *runs, uint32_t count, bool merged, rep_part *part)
{
    column_writer c = {.runs = runs, .count = count};
    if (rep_columns_init(&c.to, (size_t)count * RUN_BYTES))
        put_columns(&c, merged);
    return rep_pack_columns(&c.to, part);
}

static json_t *pcsets_json(const prof_heat *heat)
{
    json_t *sets = json_array();
    for (uint32_t i = 0; i < heat->npcsets; i++) {
        json_t *set = json_array();
        for (uint32_t k = 0; k < heat->pcsets[i].count; k++)
            json_array_append_new(set, json_integer(heat->pcsets[i].pcs[k]));
        json_array_append_new(sets, set);
    }
    return sets;
}

void rep_put_heat_head(json_t *map, const prof_heat_info *info)
{
    rep_put_count(map, K(page_map, object), info->object);
    rep_put_count(map, K(page_map, kernel), info->kernel);
    rep_put_count(map, K(page_map, launch), info->launch);
    rep_put_text(map, K(page_map, space), prof_space_text(info->space));
    rep_put_dim(map, K(page_map, block), info->block_index);
    rep_put_count(map, K(page_map, warps), info->warps);
    rep_put_count(map, K(page_map, dropped), info->dropped);
}

static uint64_t sectors_of(const run *runs, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += runs[i].repeat;
    return sum;
}

/* The columns of as many merged runs as fit in `room` bytes, *count of them; NULL where too few
 * do. */
static json_t *fitting(const run *runs, uint32_t *count, uint64_t room, rep_part *part)
{
    enum { FEWEST = 16 };
    while (*count >= FEWEST) {
        json_t *columns = columns_json(runs, *count, true, part);
        if (!columns || part->size <= room)
            return columns;
        *count = (uint32_t)(*count * 0.9 * (double)room / (double)part->size);
        free(part->data);
        *part = (rep_part){0};
        json_decref(columns);
    }
    return NULL;
}

json_t *rep_pack_heat(const prof_heat *heat, uint64_t most, rep_parts *parts)
{
    run *runs = calloc((size_t)heat->info.nrows + 1, sizeof *runs);
    uint32_t count = runs ? make_runs(heat, runs) : 0, all = count;
    uint64_t sectors = sectors_of(runs, count);
    rep_part part = {0};
    json_t *columns = count > 0 ? columns_json(runs, count, false, &part) : NULL, *map = NULL;
    bool merged = columns && part.size > most;
    if (merged) {
        json_decref(columns);
        free(part.data);
        part = (rep_part){0};
        count = all = merge_runs(runs, count);
        columns = fitting(runs, &count, parts->room, &part);
    }
    if (columns) {
        map = json_object();
        rep_put_heat_head(map, &heat->info);
        rep_put_count(map, K(page_map, first_sector), runs[0].row.sector);
        rep_put_count(map, K(page_map, rows), count);
        rep_put_count(map, K(page_map, sectors), sectors);
        rep_put_count(map, K(page_map, left_out),
                      count < all ? sectors - sectors_of(runs, count) : 0);
        rep_put(map, K(page_map, merged), json_boolean(merged));
        rep_put(map, K(page_map, pcsets), pcsets_json(heat));
        rep_put_count(map, K(page_map, part), parts->count);
        rep_put(map, K(page_map, columns), columns);
        parts->room -= part.size;
        rep_add_part(parts, part);
    }
    free(runs);
    return map;
}
