/* What makes up the difference of two warps, by loop, by branch, by instruction. */
#include "analysis/explore/words.h"

#include <stdlib.h>
#include <string.h>

/* What the two warps did at an instruction; [0] is of the first, [1] of the other. */
struct explore_spot {
    uint32_t visits[2];      /* of the basic block that begins there */
    double alone[2];         /* operations of that block that only one of them executes */
    double thrd, glob, conf; /* sums of differences, as the formula weighs them */
    double pairs, lanes[2];  /* operations that differ in lanes, and how many these are */
    double requests, bytes[2];
    double served, passes[2];
    uint32_t object;
};

/* ---- adding up ---- */

typedef struct adding {
    const explore_path *paths[2];
    explore_spot *spots;
    uint32_t nspots;
    double clamped, operations;
    uint64_t pairs; /* that were looked at */
} adding;

static uint32_t lanes_at(const explore_visit *v, const explore_request *r)
{
    return r ? r->mask : v->mask;
}

static double bytes_of_request(const explore_path *path, const explore_request *r)
{
    double sum = 0;
    for (uint32_t i = 0; r && i < r->nsizes; i++)
        sum += path->sizes.data[r->first_size + i];
    return sum;
}

/* Of a request whose predicate tells lanes apart that of the instruction, else of the block. */
static void add_differing_lanes(adding *s, const explore_pair *p)
{
    bool alike = (!p->asked || p->asked->mask == p->a->mask) &&
                 (!p->than || p->than->mask == p->b->mask);
    uint32_t ours = lanes_at(p->a, p->asked), theirs = lanes_at(p->b, p->than);
    explore_spot *spot = &s->spots[alike ? p->a->pc : p->pc];
    double count = (double)p->count * p->times;
    spot->thrd += count * p->each.thrd / 32;
    spot->pairs += count;
    spot->lanes[0] += count * __builtin_popcount(p->than && !p->asked ? 0 : ours);
    spot->lanes[1] += count * __builtin_popcount(p->asked && !p->than ? 0 : theirs);
}

static void add_memory(adding *s, const explore_pair *p)
{
    explore_spot *spot = &s->spots[p->pc];
    spot->object = p->asked ? p->asked->object : p->than->object;
    if (p->each.glob > 0) {
        spot->glob += p->times * p->each.glob / 1024;
        spot->requests += p->times;
        spot->bytes[0] += p->times * bytes_of_request(s->paths[0], p->asked);
        spot->bytes[1] += p->times * bytes_of_request(s->paths[1], p->than);
    }
    if (p->each.conf > 0) {
        spot->conf += p->times * p->each.conf / 8;
        spot->served += p->times;
        spot->passes[0] += (double)p->times * (p->asked ? p->asked->passes : 0);
        spot->passes[1] += (double)p->times * (p->than ? p->than->passes : 0);
    }
}

static void add_pair(void *ctx, const explore_pair *p)
{
    adding *s = ctx;
    const explore_visit *v = p->a ? p->a : p->b;
    double count = (double)p->count * p->times;
    s->pairs++;
    s->operations += count;
    s->clamped += count * explore_clamped(&p->each);
    if (v->pc >= s->nspots || p->pc >= s->nspots)
        return;
    if (!p->a || !p->b) {
        s->spots[v->pc].alone[!p->a] += count;
        return;
    }
    if (p->each.thrd > 0)
        add_differing_lanes(s, p);
    if (p->asked || p->than)
        add_memory(s, p);
}

static void add_visits(adding *s, uint32_t which)
{
    const explore_path *path = s->paths[which];
    for (size_t i = 0; i < path->parts.count; i++) {
        const explore_part *part = &path->parts.data[i];
        for (uint32_t k = 0; k < part->length; k++) {
            uint32_t pc = explore_visit_of(path, part, k)->pc;
            if (pc < s->nspots)
                s->spots[pc].visits[which] += part->times;
        }
    }
}

/* ---- loops ---- */

/* Does the instruction lie in the loop, or in one within it? `loop`: a row. */
static bool lies_in_loop(const explore_facts *f, uint32_t pc, uint32_t loop)
{
    uint32_t at = pc < f->code.count ? f->loop_at[pc] : 0;
    for (uint32_t n = 0; at && at - 1 != loop && n <= f->loops.count; n++)
        at = f->loop_around[at - 1];
    return at && at - 1 == loop;
}

static bool has_other_blocks(const explore_facts *f, uint32_t loop)
{
    for (uint32_t i = 0; i < f->blocks.count; i++)
        if (f->blocks.rows[i].first_pc != f->loops.rows[loop].header &&
            lies_in_loop(f, f->blocks.rows[i].first_pc, loop))
            return true;
    return false;
}

typedef struct round_count {
    const explore_facts *facts;
    uint32_t loop, header;
    bool several, inside;
    uint32_t last; /* the block before; UINT32_MAX: none */
    uint32_t rounds, runs;
} round_count;

/* The next block; UINT32_MAX: the way's end. */
static void count_block_of_round(round_count *c, uint32_t pc)
{
    bool in = pc != UINT32_MAX && lies_in_loop(c->facts, pc, c->loop);
    if (c->inside && !in)
        c->rounds -= c->several && c->last == c->header; /* it only tested whether to go on */
    c->runs += in && !c->inside;
    c->rounds += pc == c->header;
    c->inside = in;
    c->last = pc;
}

/* All rounds of a part but for the first are counted alike. */
static void count_part_of_rounds(round_count *c, const explore_path *path, const explore_part *part)
{
    uint32_t rounds = 0, runs = 0;
    for (uint32_t n = 0; n < 2 && n < part->times; n++) {
        rounds = c->rounds;
        runs = c->runs;
        for (uint32_t k = 0; k < part->length; k++)
            count_block_of_round(c, explore_visit_of(path, part, k)->pc);
    }
    if (part->times > 2) {
        c->rounds += (part->times - 2) * (c->rounds - rounds);
        c->runs += (part->times - 2) * (c->runs - runs);
    }
}

/* Rounds of the loop (a row of them) that the path makes, each with all or some of its lanes, and how
 * often it comes to the loop. A last test that fails is no round. */
static uint32_t rounds_of_loop(const explore_facts *f, const explore_path *path, uint32_t loop,
                               uint32_t *runs)
{
    round_count c = {.facts = f,
                     .loop = loop,
                     .header = f->loops.rows[loop].header,
                     .several = has_other_blocks(f, loop),
                     .last = UINT32_MAX};
    for (size_t i = 0; i < path->parts.count; i++)
        count_part_of_rounds(&c, path, &path->parts.data[i]);
    count_block_of_round(&c, UINT32_MAX);
    *runs = c.runs;
    return c.rounds;
}

/* ---- candidates ---- */

typedef struct choosing {
    const explore_comparer *c;
    const adding *sums;
    uint32_t loop; /* row of the loop that explains what only one of them does; UINT32_MAX: none */
    explore_reason best[2];
} choosing;

static void offer_reason(choosing *ch, explore_reason r)
{
    if (r.weight > ch->best[0].weight) {
        ch->best[1] = ch->best[0];
        ch->best[0] = r;
    } else if (r.weight > ch->best[1].weight) {
        ch->best[1] = r;
    }
}

static double alone_at(const explore_spot *s)
{
    return s->alone[0] + s->alone[1];
}

static double alone_in_loop(const choosing *ch, uint32_t loop)
{
    double sum = 0;
    for (uint32_t pc = 0; pc < ch->c->nspots; pc++)
        if (alone_at(&ch->c->spots[pc]) > 0 && lies_in_loop(ch->c->facts, pc, loop))
            sum += alone_at(&ch->c->spots[pc]);
    return sum;
}

/* Its last instruction: that jumps back, and stands at the line of the loop's statement, where the first
 * of the body may be another. */
static uint32_t place_of_loop(const explore_facts *f, uint32_t loop)
{
    uint32_t last = f->loops.rows[loop].header;
    for (uint32_t i = 0; i < f->blocks.count; i++) {
        const prof_static_block *b = &f->blocks.rows[i];
        if (b->first_pc + b->ninsns > last + 1 && lies_in_loop(f, b->first_pc, loop))
            last = b->first_pc + b->ninsns - 1;
    }
    return last < f->code.count && f->code.rows[last].line ? last : f->loops.rows[loop].header;
}

static explore_reason reason_of_rounds(uint32_t pc, const uint32_t rounds[2],
                                       const uint32_t runs[2])
{
    explore_why why = rounds[1] == 0                                          ? EXPLORE_ENTERS_LOOP
                      : rounds[0] == 0                                        ? EXPLORE_SKIPS_LOOP
                      : runs[0] == 1 && runs[1] == 1 && rounds[0] < rounds[1] ? EXPLORE_LEAVES_LOOP
                                                                              : EXPLORE_ROUNDS;
    return (explore_reason){.why = why,
                            .pc = pc,
                            .least = rounds[0],
                            .most = rounds[0],
                            .than_least = rounds[1],
                            .than_most = rounds[1]};
}

/* The outermost loop of which they make other numbers of rounds; of several that which weighs most. */
static void offer_loops(choosing *ch)
{
    const explore_facts *f = ch->c->facts;
    explore_reason best = {0};
    uint32_t depth = UINT32_MAX;
    for (uint32_t i = 0; i < f->loops.count; i++) {
        const prof_loop *l = &f->loops.rows[i];
        uint32_t runs[2], rounds[2];
        double weight = l->depth <= depth ? alone_in_loop(ch, i) : 0;
        if (!(weight > 0) || (l->depth == depth && weight <= best.weight))
            continue;
        for (uint32_t k = 0; k < 2; k++)
            rounds[k] = rounds_of_loop(f, ch->sums->paths[k], i, &runs[k]);
        if (rounds[0] == rounds[1])
            continue;
        best = reason_of_rounds(place_of_loop(f, i), rounds, runs);
        best.weight = weight;
        depth = l->depth;
        ch->loop = i;
    }
    if (best.weight > 0)
        offer_reason(ch, best);
}

static bool has_several_blocks(const explore_path *path, uint32_t first, uint32_t count)
{
    explore_cursor c = explore_cursor_at(path, first);
    uint32_t pc = explore_visit_after(&c, 0)->pc;
    while (count) {
        uint32_t left = explore_left(&c), n = left < count ? left : count;
        for (uint32_t i = 0; i < n && i < explore_part_of(&c)->length; i++)
            if (explore_visit_after(&c, i)->pc != pc)
                return true;
        explore_go_on(&c, n);
        count -= n;
    }
    return false;
}

/* What the other does alone is in one piece of several blocks, and at most the way out comes after
 * it. */
static bool ends_early(const choosing *ch, uint32_t *pc)
{
    const explore_runs *runs = &ch->c->runs;
    const explore_path *path = ch->sums->paths[1];
    uint32_t pieces = 0, after = 0;
    bool several = false;
    for (size_t i = 0; i < runs->count; i++) {
        const explore_run *r = &runs->data[i];
        if (r->na && !r->nb)
            return false;
        if (!r->na) {
            pieces++;
            several = has_several_blocks(path, r->b, r->nb);
            const explore_cursor at = explore_cursor_at(path, r->b);
            *pc = explore_visit_after(&at, 0)->pc;
        } else if (pieces) {
            after += r->na;
        }
    }
    return pieces == 1 && several && after <= 1;
}

/* Of the branches that only one of them enters, or more often, the one that weighs most. */
static void offer_branches(choosing *ch)
{
    explore_reason best = {0};
    uint32_t end = 0;
    double sum = 0;
    for (uint32_t pc = 0; pc < ch->c->nspots; pc++) {
        const explore_spot *s = &ch->c->spots[pc];
        double weight = alone_at(s);
        if (!(weight > 0) || (ch->loop != UINT32_MAX && lies_in_loop(ch->c->facts, pc, ch->loop)))
            continue;
        sum += weight;
        if (weight <= best.weight)
            continue;
        best = (explore_reason){.why = s->visits[1] == 0   ? EXPLORE_ENTERS_BRANCH
                                       : s->visits[0] == 0 ? EXPLORE_SKIPS_BRANCH
                                                           : EXPLORE_TIMES,
                                .pc = pc,
                                .least = s->visits[0],
                                .most = s->visits[0],
                                .than_least = s->visits[1],
                                .than_most = s->visits[1],
                                .weight = weight};
    }
    if (best.weight > 0 && ch->loop == UINT32_MAX && ends_early(ch, &end))
        best = (explore_reason){.why = EXPLORE_ENDS_EARLY, .pc = end, .weight = sum};
    best.weight = sum;
    if (sum > 0)
        offer_reason(ch, best);
}

/* What differs may be as much in sum: then `other` says so, where the same number would be told of both. */
static explore_reason reason_of_means(explore_why why, explore_why other, uint32_t pc,
                                      const double sums[2], double count, double unit)
{
    double ours = sums[0] / count / unit, theirs = sums[1] / count / unit;
    return (explore_reason){.why = explore_told_alike(ours, theirs) ? other : why,
                            .pc = pc,
                            .least = ours,
                            .most = ours,
                            .than_least = theirs,
                            .than_most = theirs};
}

static void offer_lanes_and_memory(choosing *ch)
{
    enum { SECTOR = 32 };
    explore_reason lanes = {0}, glob = {0}, conf = {0};
    for (uint32_t pc = 0; pc < ch->c->nspots; pc++) {
        const explore_spot *s = &ch->c->spots[pc];
        if (s->thrd > lanes.weight) {
            lanes = reason_of_means(EXPLORE_LANES, EXPLORE_OTHER_LANES, pc, s->lanes, s->pairs, 1);
            lanes.weight = s->thrd;
        }
        if (s->glob > glob.weight) {
            glob = reason_of_means(EXPLORE_SECTORS, EXPLORE_OTHER_SECTORS, pc, s->bytes,
                                   s->requests, SECTOR);
            glob.weight = s->glob;
            glob.object = s->object;
        }
        if (s->conf > conf.weight) {
            conf = reason_of_means(EXPLORE_WAVEFRONTS, EXPLORE_OTHER_WAVEFRONTS, pc, s->passes,
                                   s->served, 1);
            conf.weight = s->conf;
            conf.object = s->object;
        }
    }
    offer_reason(ch, lanes);
    offer_reason(ch, glob);
    offer_reason(ch, conf);
}

/* ---- all together ---- */

static bool prepare_spots(explore_comparer *c)
{
    uint32_t wanted = c->facts->code.count;
    if (wanted > c->nspots || !c->spots) {
        free(c->spots);
        c->spots = malloc((wanted + 1) * sizeof *c->spots);
        c->nspots = wanted;
    }
    if (c->spots)
        memset(c->spots, 0, (c->nspots + 1) * sizeof *c->spots);
    return c->spots != NULL;
}

bool explore_compare(explore_comparer *c, const explore_path *a, const explore_path *b,
                     uint32_t most, explore_comparison *out)
{
    enum {
        TOLD_PARTS = 4
    }; /* the second reason is told where it is a fourth of the first, or more */
    *out = (explore_comparison){0};
    if (!prepare_spots(c) || !explore_align_paths(a, b, most, &c->runs, &c->work))
        return false;
    adding sums = {.paths = {a, b}, .spots = c->spots, .nspots = c->nspots};
    add_visits(&sums, 0);
    add_visits(&sums, 1);
    explore_walk(a, b, &c->runs, add_pair, &sums);
    c->work += sums.pairs;
    choosing ch = {.c = c, .sums = &sums, .loop = UINT32_MAX};
    offer_loops(&ch);
    offer_branches(&ch);
    offer_lanes_and_memory(&ch);
    out->difference = sums.operations > 0 ? sums.clamped / sums.operations : 0;
    for (uint32_t i = 0; i < 2 && ch.best[i].weight > 0; i++)
        if (i == 0 || TOLD_PARTS * ch.best[1].weight >= ch.best[0].weight)
            out->reasons[out->nreasons++] = ch.best[i];
    return true;
}

void explore_comparer_free(explore_comparer *c)
{
    free(c->spots);
    wl_vec_free(&c->runs);
}
