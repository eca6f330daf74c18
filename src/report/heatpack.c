#include "report/impl.h"

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

/* Runs of equal temperatures become one, which keeps the histories and counts of its first sector. */
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

static bool room_for(rep_section *s, size_t bytes)
{
    if (s->count + bytes <= s->capacity)
        return true;
    size_t capacity = s->capacity ? s->capacity * 2 : 1 << 16;
    while (capacity < s->count + bytes)
        capacity *= 2;
    uint8_t *data = realloc(s->data, capacity);
    if (!data) {
        s->failed = true;
        return false;
    }
    s->data = data;
    s->capacity = capacity;
    return true;
}

/* Elements of `width` bytes, aligned to 8; [offset, count] for the payload. */
static json_t *column(rep_section *s, const void *values, size_t count, size_t width)
{
    size_t bytes = count * width, padded = (bytes + 7) / 8 * 8, offset = s->count;
    if (!room_for(s, padded))
        return NULL;
    memset(s->data + offset, 0, padded);
    memcpy(s->data + offset, values, bytes);
    s->count += padded;
    return json_pack("[I,I]", (json_int_t)offset, (json_int_t)count);
}

typedef struct columns {
    json_t *object;
    rep_section *section;
    const run *runs;
    uint32_t count;
    uint32_t *wide; /* room for 8 * count */
} columns;

#define COLUMN_OF(c, name, expression)                                              \
    do {                                                                            \
        for (uint32_t i = 0; i < (c)->count; i++) {                                 \
            const run *r = &(c)->runs[i];                                           \
            (c)->wide[i] = (uint32_t)(expression);                                  \
        }                                                                           \
        rep_put((c)->object, name, column((c)->section, (c)->wide, (c)->count, 4)); \
    } while (0)

static void put_words(columns *c)
{
    for (uint32_t w = 0; w < WORDS; w++)
        for (uint32_t i = 0; i < c->count; i++)
            c->wide[(size_t)w * c->count + i] = c->runs[i].row.word[w];
    rep_put(c->object, "word", column(c->section, c->wide, (size_t)WORDS * c->count, 4));
}

static void put_short(columns *c, const char *name, bool owner)
{
    uint16_t *narrow = (uint16_t *)(void *)c->wide;
    for (uint32_t i = 0; i < c->count; i++)
        narrow[i] = owner ? c->runs[i].row.owner : c->runs[i].row.pcset;
    rep_put(c->object, name, column(c->section, narrow, c->count, 2));
}

/* Sectors between the run before and this one. Doubles, because memory that is no object may lie anywhere. */
static void put_skip(columns *c)
{
    double *skip = (double *)(void *)c->wide;
    for (uint32_t i = 0; i < c->count; i++) {
        const run *r = &c->runs[i];
        skip[i] = i == 0 ? 0 : (double)(r->row.sector - r[-1].row.sector - r[-1].repeat);
    }
    rep_put(c->object, "skip", column(c->section, skip, c->count, sizeof *skip));
}

static json_t *columns_json(rep_section *section, const run *runs, uint32_t count)
{
    columns c = {json_object(), section, runs, count,
                 calloc((size_t)count * WORDS + 1, sizeof(uint32_t))};
    if (!c.wide) {
        section->failed = true;
        return c.object;
    }
    put_skip(&c);
    COLUMN_OF(&c, "repeat", r->repeat);
    COLUMN_OF(&c, "history", r->row.history);
    put_words(&c);
    COLUMN_OF(&c, "reads", r->row.reads);
    COLUMN_OF(&c, "writes", r->row.writes);
    COLUMN_OF(&c, "atomics", r->row.atomics);
    put_short(&c, "owner", true);
    put_short(&c, "pcset", false);
    free(c.wide);
    return c.object;
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

static json_t *head_json(const prof_heat_info *info)
{
    json_t *map = json_object();
    rep_put_count(map, "object", info->object);
    rep_put_count(map, "kernel", info->kernel);
    rep_put_count(map, "launch", info->launch);
    rep_put_text(map, "space", prof_space_text(info->space));
    rep_put_dim(map, "block", info->block_index);
    rep_put_count(map, "warps", info->warps);
    rep_put_count(map, "dropped", info->dropped);
    return map;
}

static uint64_t sectors_of(const run *runs, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += runs[i].repeat;
    return sum;
}

json_t *rep_pack_heat(const prof_heat *heat, rep_section *section, rep_pack_budget *budget)
{
    run *runs = calloc((size_t)heat->info.nrows + 1, sizeof *runs);
    if (!runs)
        return NULL;
    uint64_t most = budget->map_runs < budget->all_runs ? budget->map_runs : budget->all_runs;
    uint32_t count = make_runs(heat, runs);
    bool merged = count > most;
    if (merged)
        count = merge_runs(runs, count);
    uint64_t sectors = sectors_of(runs, count);
    if (count > most)
        count = (uint32_t)most;
    json_t *map = NULL;
    if (count > 0) {
        map = head_json(&heat->info);
        rep_put_count(map, "first_sector", runs[0].row.sector);
        rep_put_count(map, "rows", count);
        rep_put_count(map, "sectors", sectors);
        rep_put_count(map, "left_out", sectors - sectors_of(runs, count));
        rep_put(map, "merged", json_boolean(merged));
        rep_put(map, "pcsets", pcsets_json(heat));
        rep_put(map, "columns", columns_json(section, runs, count));
        budget->all_runs -= count;
    }
    free(runs);
    return map;
}
