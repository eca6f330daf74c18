#include "observe/reads.h"

#include <stdlib.h>
#include <string.h>

/* ---- which loads matter ---- */

enum {
    KEEP_LAST = 1, /* each lane's last execution */
    KEEP_ALL = 2   /* all of them: which lanes read which words */
};

/* Other warps may have gone on since a barrier that reduces: their last execution may be another
 * one. */
static uint8_t how_to_keep(const flow_read *read)
{
    return read->earlier || read->scope == FLOW_BY_BLOCK ? KEEP_ALL : KEEP_LAST;
}

static void plan_read(obs_read_plan *plan, const flow_read *read)
{
    if (read->pc >= plan->npcs)
        return;
    if (plan->load_of[read->pc] == FLOW_NONE)
        plan->load_of[read->pc] = plan->nloads++;
    plan->keep[read->pc] |= how_to_keep(read);
}

bool obs_read_plan_make(const flow_fills *fills, uint32_t ncode, obs_read_plan *out)
{
    *out = (obs_read_plan){.fills = fills};
    if (!fills)
        return true;
    out->npcs = ncode;
    out->load_of = malloc((ncode + 1u) * sizeof *out->load_of);
    out->keep = calloc(ncode + 1u, 1);
    if (!out->load_of || !out->keep)
        return false;
    memset(out->load_of, 0xff, ncode * sizeof *out->load_of);
    for (uint32_t i = 0; i < fills->nreads; i++)
        plan_read(out, &fills->reads[i]);
    return true;
}

void obs_read_plan_free(obs_read_plan *plan)
{
    free(plan->load_of);
    free(plan->keep);
    *plan = (obs_read_plan){0};
}

const flow_fill *obs_fill_of(const obs_read_plan *plan, uint32_t pc)
{
    const flow_fills *f = plan->fills;
    uint32_t at = f && pc < f->npcs ? f->at[pc] : FLOW_NONE;
    return at == FLOW_NONE ? NULL : &f->fills[at];
}

/* ---- what they read ---- */

typedef struct last_read { /* by the lanes of a warp: words [first, end), none where end is 0 */
    uint32_t first[ACC_LANES], end[ACC_LANES];
} last_read;

typedef struct read_word { /* lanes of a warp that read a word by a load */
    uint64_t key;          /* of load, warp and word; 0: empty */
    uint32_t lanes;
} read_word;

struct obs_reads {
    const obs_read_plan *plan;
    uint32_t warps;
    last_read *last;  /* [warp][load] */
    uint8_t *used;    /* [warp][load] whether `last` holds any */
    read_word *words; /* open addressing */
    uint32_t capacity, count;
};

obs_reads *obs_reads_new(const obs_read_plan *plan, uint32_t warps)
{
    obs_reads *reads = calloc(1, sizeof *reads);
    size_t n = (size_t)warps * plan->nloads;
    if (!reads)
        return NULL;
    reads->plan = plan;
    reads->warps = warps;
    reads->last = malloc((n + 1) * sizeof *reads->last);
    reads->used = calloc(n + 1, 1);
    if (reads->last && reads->used)
        return reads;
    obs_reads_free(reads);
    return NULL;
}

void obs_reads_free(obs_reads *reads)
{
    if (!reads)
        return;
    free(reads->last);
    free(reads->used);
    free(reads->words);
    free(reads);
}

void obs_reads_clear(obs_reads *reads)
{
    memset(reads->used, 0, (size_t)reads->warps * reads->plan->nloads);
    if (reads->count)
        memset(reads->words, 0, reads->capacity * sizeof *reads->words);
    reads->count = 0;
}

static void keep_last_read(obs_reads *reads, uint32_t load, const acc_request *access)
{
    size_t at = (size_t)access->warp * reads->plan->nloads + load;
    last_read *last = &reads->last[at];
    if (!reads->used[at])
        *last = (last_read){0};
    reads->used[at] = 1;
    for (uint32_t lane = 0; lane < ACC_LANES; lane++) {
        uint32_t on = 0 - (access->mask >> lane & 1), address = (uint32_t)access->addr[lane];
        uint32_t first = address / OBS_WORD_BYTES;
        uint32_t end = (address + access->bytes - 1) / OBS_WORD_BYTES + 1;
        last->first[lane] = (first & on) | (last->first[lane] & ~on);
        last->end[lane] = (end & on) | (last->end[lane] & ~on);
    }
}

/* ---- all executions ---- */

static uint64_t key_of_word(const obs_reads *reads, uint32_t load, uint32_t warp, uint32_t word)
{
    return ((uint64_t)load * reads->warps + warp + 1) << 32 | word;
}

static read_word *find_word(const obs_reads *reads, uint64_t key)
{
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (reads->capacity - 1);
    while (reads->words[at].key && reads->words[at].key != key)
        at = (at + 1) & (reads->capacity - 1);
    return &reads->words[at];
}

static bool make_room_for_word(obs_reads *reads)
{
    obs_reads larger = *reads;
    if (reads->count < reads->capacity / 2)
        return true;
    larger.capacity = reads->capacity ? 2 * reads->capacity : 1024;
    larger.words = larger.capacity ? calloc(larger.capacity, sizeof *larger.words) : NULL;
    if (!larger.words)
        return false;
    for (uint32_t i = 0; i < reads->capacity; i++)
        if (reads->words[i].key)
            *find_word(&larger, reads->words[i].key) = reads->words[i];
    free(reads->words);
    *reads = larger;
    return true;
}

static bool keep_word(obs_reads *reads, uint64_t key, uint32_t lanes)
{
    if (!make_room_for_word(reads))
        return false;
    read_word *w = find_word(reads, key);
    reads->count += w->key == 0;
    w->key = key;
    w->lanes |= lanes;
    return true;
}

static uint32_t nth_word(const acc_request *access, uint32_t lane, uint32_t index)
{
    return (uint32_t)(access->addr[lane] / OBS_WORD_BYTES) + index;
}

/* Neighbouring lanes that read the same word go together. */
static bool keep_all_reads(obs_reads *reads, uint32_t load, const acc_request *access,
                           uint32_t index)
{
    uint32_t lanes = 0, word = 0;
    bool good = true;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), its = nth_word(access, lane, index);
        if (lanes && its != word) {
            good &= keep_word(reads, key_of_word(reads, load, access->warp, word), lanes);
            lanes = 0;
        }
        word = its;
        lanes |= 1u << lane;
    }
    return good & keep_word(reads, key_of_word(reads, load, access->warp, word), lanes);
}

bool obs_reads_keep(obs_reads *reads, const acc_request *access)
{
    const obs_read_plan *p = reads->plan;
    uint8_t keep = access->pc < p->npcs && access->warp < reads->warps ? p->keep[access->pc] : 0;
    bool good = true;
    if (keep & KEEP_LAST)
        keep_last_read(reads, p->load_of[access->pc], access);
    for (uint32_t i = 0; keep & KEEP_ALL && i * OBS_WORD_BYTES < access->bytes; i++)
        good &= keep_all_reads(reads, p->load_of[access->pc], access, i);
    return good;
}

/* ---- what they lead to ---- */

static uint32_t readers_of(const obs_reads *reads, uint32_t load, uint32_t warp, uint32_t word)
{
    return reads->count ? find_word(reads, key_of_word(reads, load, warp, word))->lanes : 0;
}

static uint32_t any_reader(const obs_reads *reads, uint32_t load, uint32_t word)
{
    uint32_t lanes = 0;
    for (uint32_t warp = 0; warp < reads->warps && !lanes; warp++)
        lanes = readers_of(reads, load, warp, word);
    return lanes;
}

/* Whether the lane stores to the word what depends on any execution. */
static bool was_read(const obs_reads *reads, const flow_read *read, uint32_t load,
                     const acc_request *access, uint32_t lane, uint32_t word)
{
    if (read->scope == FLOW_BY_BLOCK)
        return any_reader(reads, load, word) != 0;
    uint32_t lanes = readers_of(reads, load, access->warp, word);
    return read->scope == FLOW_BY_THREAD ? lanes >> lane & 1 : lanes != 0;
}

static bool any_last(const last_read *last, uint32_t word)
{
    uint32_t any = 0;
    for (uint32_t lane = 0; lane < ACC_LANES; lane++)
        any |= (word >= last->first[lane]) & (word < last->end[lane]);
    return any;
}

static uint32_t own_last(const last_read *last, const acc_request *access, uint32_t index)
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < ACC_LANES; lane++) {
        uint32_t word = nth_word(access, lane, index);
        lanes |= (uint32_t)((word >= last->first[lane]) & (word < last->end[lane])) << lane;
    }
    return lanes & access->mask;
}

static uint32_t last_leads(const obs_reads *reads, const flow_read *read, uint32_t load,
                           const acc_request *access, uint32_t index)
{
    size_t at = (size_t)access->warp * reads->plan->nloads + load;
    uint32_t lanes = 0;
    if (!reads->used[at])
        return 0;
    if (read->scope == FLOW_BY_THREAD)
        return own_last(&reads->last[at], access, index);
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        lanes |= (uint32_t)any_last(&reads->last[at], nth_word(access, lane, index)) << lane;
    }
    return lanes;
}

static uint32_t any_leads(const obs_reads *reads, const flow_read *read, uint32_t load,
                          const acc_request *access, uint32_t index)
{
    uint32_t lanes = 0;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), word = nth_word(access, lane, index);
        lanes |= (uint32_t)was_read(reads, read, load, access, lane, word) << lane;
    }
    return lanes;
}

uint32_t obs_reads_update(const obs_reads *reads, const flow_fill *fill, const acc_request *access,
                          uint32_t index)
{
    const obs_read_plan *p = reads->plan;
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < fill->count && lanes != access->mask; i++) {
        const flow_read *read = &p->fills->reads[fill->first + i];
        if (read->pc >= p->npcs || access->warp >= reads->warps)
            continue;
        uint32_t load = p->load_of[read->pc];
        lanes |= how_to_keep(read) == KEEP_LAST ? last_leads(reads, read, load, access, index)
                                                : any_leads(reads, read, load, access, index);
    }
    return lanes;
}
