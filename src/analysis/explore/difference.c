/* Differences of operations, and of warps whose paths were aligned. */
#include "analysis/explore/difference.h"

#include "base/gcd.h"

#include <stdlib.h>

/* ---- two warps ---- */

typedef struct pairing {
    const explore_path *a, *b;
    uint32_t times;
    void (*each)(void *ctx, const explore_pair *pair);
    void *ctx;
} pairing;

/* `first`: only the first warp has it. */
static void pair_alone(const pairing *p, const explore_visit *v, bool first)
{
    p->each(p->ctx, &(explore_pair){.a = first ? v : NULL,
                                    .b = first ? NULL : v,
                                    .pc = v->pc,
                                    .count = v->ninsns,
                                    .times = p->times,
                                    .each = {.ins = 1}});
}

/* Operations that access no memory, from `pc` up to `end`. */
static void pair_plain(const pairing *p, const explore_visit *a, const explore_visit *b,
                       uint32_t pc, uint32_t end)
{
    if (pc < end)
        p->each(p->ctx, &(explore_pair){.a = a,
                                        .b = b,
                                        .pc = pc,
                                        .count = end - pc,
                                        .times = p->times,
                                        .each = {.thrd = explore_lanes(a->mask ^ b->mask)}});
}

/* Lanes are those of the request where one has it: its predicate may keep others from it. */
static explore_operation operation_of_visit(const explore_path *path, const explore_visit *v,
                                            const explore_request *r, uint32_t pc)
{
    return (explore_operation){.pc = pc,
                               .lanes = r ? r->mask : v->mask,
                               .sizes = r ? path->sizes.data + r->first_size : NULL,
                               .nsizes = r ? r->nsizes : 0,
                               .conflicts = r ? r->extra : 0};
}

static void pair_requests(const pairing *p, const explore_visit *a, const explore_visit *b,
                          const explore_request *ra, const explore_request *rb, uint32_t pc)
{
    explore_operation x = operation_of_visit(p->a, a, ra, pc),
                      y = operation_of_visit(p->b, b, rb, pc);
    if (!ra) /* it executes the instruction with no lane */
        x.lanes = 0;
    if (!rb)
        y.lanes = 0;
    p->each(p->ctx, &(explore_pair){.a = a,
                                    .b = b,
                                    .asked = ra,
                                    .than = rb,
                                    .pc = pc,
                                    .count = 1,
                                    .times = p->times,
                                    .each = explore_difference_of(&x, &y, EXPLORE_EXCLUSIVE)});
}

/* NULL: there is none before `end`. */
static const explore_request *request_at(const explore_path *path, const explore_visit *v,
                                         uint32_t i, uint32_t end)
{
    const explore_request *r = i < v->nrequests ? &path->requests.data[v->first + i] : NULL;
    return r && r->pc < end ? r : NULL;
}

/* Of the instructions from `pc` on that only the longer of the two blocks has. */
static void pair_rest(const pairing *p, const explore_visit *v, uint32_t pc, bool first)
{
    if (v->pc + v->ninsns > pc)
        p->each(p->ctx, &(explore_pair){.a = first ? v : NULL,
                                        .b = first ? NULL : v,
                                        .pc = pc,
                                        .count = v->pc + v->ninsns - pc,
                                        .times = p->times,
                                        .each = {.ins = 1}});
}

/* Both run through the same instructions; `end`: the first that one of them does not have. */
static void pair_visits(const pairing *p, const explore_visit *a, const explore_visit *b)
{
    uint32_t pc = a->pc, i = 0, k = 0, end = pc + (a->ninsns < b->ninsns ? a->ninsns : b->ninsns);
    for (;;) {
        const explore_request *ra = request_at(p->a, a, i, end), *rb = request_at(p->b, b, k, end);
        if (!ra && !rb)
            break;
        uint32_t next = !ra ? rb->pc : !rb || ra->pc < rb->pc ? ra->pc : rb->pc;
        ra = ra && ra->pc == next ? ra : NULL;
        rb = rb && rb->pc == next ? rb : NULL;
        pair_plain(p, a, b, pc, next);
        pair_requests(p, a, b, ra, rb, next);
        i += ra != NULL;
        k += rb != NULL;
        pc = next + 1;
    }
    pair_plain(p, a, b, pc, end);
    pair_rest(p, a, end, true);
    pair_rest(p, b, end, false);
}

/* ---- what repeats ---- */

static uint32_t less_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* After how many visits both parts are where they were; `most`, where these are more. */
static uint32_t common_round(const explore_cursor *a, const explore_cursor *b, uint32_t most)
{
    uint64_t x = explore_part_of(a)->length, y = explore_part_of(b)->length;
    uint64_t round = x / wl_gcd(x, y) * y;
    return round < most ? (uint32_t)round : most;
}

/* So many visits of both that are partners, each the next of the one and of the other. */
static void pair_run(pairing *p, explore_cursor a, explore_cursor b, uint32_t count)
{
    for (uint32_t n; (n = less_of(count, less_of(explore_left(&a), explore_left(&b)))) > 0;) {
        uint32_t length = common_round(&a, &b, n);
        p->times = length ? n / length : 1;
        for (uint32_t i = 0; i < length; i++)
            pair_visits(p, explore_visit_after(&a, i), explore_visit_after(&b, i));
        n = length * p->times;
        explore_go_on(&a, n);
        explore_go_on(&b, n);
        count -= n;
    }
}

/* So many visits that only one of them has. */
static void pair_none(pairing *p, explore_cursor c, uint32_t count, bool first)
{
    for (uint32_t n; (n = less_of(count, explore_left(&c))) > 0;) {
        uint32_t length = less_of(n, explore_part_of(&c)->length);
        p->times = length ? n / length : 1;
        for (uint32_t i = 0; i < length; i++)
            pair_alone(p, explore_visit_after(&c, i), first);
        n = length * p->times;
        explore_go_on(&c, n);
        count -= n;
    }
}

void explore_walk(const explore_path *a, const explore_path *b, const explore_runs *runs,
                  void (*each)(void *ctx, const explore_pair *pair), void *ctx)
{
    pairing p = {a, b, 1, each, ctx};
    for (size_t r = 0; r < runs->count; r++) {
        const explore_run *run = &runs->data[r];
        if (run->na && run->nb)
            pair_run(&p, explore_cursor_at(a, run->a), explore_cursor_at(b, run->b), run->na);
        else if (run->na)
            pair_none(&p, explore_cursor_at(a, run->a), run->na, true);
        else
            pair_none(&p, explore_cursor_at(b, run->b), run->nb, false);
    }
}

/* ---- alignment ---- */

static uint32_t key_after(const explore_cursor *c, uint32_t after)
{
    return explore_visit_after(c, after)->pc;
}

/* How many visits both begin with that are of the same blocks. */
static uint32_t common_begin(const explore_path *a, const explore_path *b)
{
    explore_cursor x = explore_cursor_at(a, 0), y = explore_cursor_at(b, 0);
    uint32_t all = 0;
    for (uint32_t n; (n = less_of(explore_left(&x), explore_left(&y))) > 0; all += n) {
        uint32_t length = common_round(&x, &y, n);
        for (uint32_t i = 0; i < length; i++)
            if (key_after(&x, i) != key_after(&y, i))
                return all + i;
        explore_go_on(&x, n); /* the rounds that are left are like the first */
        explore_go_on(&y, n);
    }
    return all;
}

/* Visits of the part before the place with so many before it, and the place. */
static explore_cursor before(const explore_path *path, uint32_t index, uint32_t *count)
{
    explore_cursor c = explore_cursor_at(path, index - 1);
    *count = ++c.at;
    return c;
}

static uint32_t key_before(const explore_cursor *c, uint32_t count)
{
    const explore_cursor from = {c->path, c->part, c->at - count};
    return explore_visit_after(&from, 0)->pc;
}

/* Likewise with which both end, at most so many. */
static uint32_t common_end(const explore_path *a, const explore_path *b, uint32_t most)
{
    uint32_t all = 0;
    while (all < most) {
        uint32_t nx, ny;
        explore_cursor x = before(a, a->length - all, &nx), y = before(b, b->length - all, &ny);
        uint32_t n = less_of(most - all, less_of(nx, ny));
        uint32_t length = common_round(&x, &y, n);
        for (uint32_t i = 1; i <= length; i++)
            if (key_before(&x, i) != key_before(&y, i))
                return all + i - 1;
        all += n;
    }
    return all;
}

/* The blocks of `count` visits from `from` on. */
static uint32_t *keys_of(const explore_path *path, uint32_t from, uint32_t count)
{
    uint32_t *keys = malloc(((size_t)count + 1) * sizeof *keys);
    explore_cursor c = explore_cursor_at(path, from);
    for (uint32_t done = 0; keys && done < count;) {
        uint32_t n = less_of(count - done, explore_left(&c));
        for (uint32_t i = 0; i < n; i++)
            keys[done + i] = key_after(&c, i);
        explore_go_on(&c, n);
        done += n;
    }
    return keys;
}

/* Where the parts that both begin and end with are left out, the rest is as in a diff of all: that
 * leaves them out, too. */
bool explore_align_paths(const explore_path *a, const explore_path *b, uint32_t most,
                         explore_runs *out, uint64_t *work)
{
    uint32_t begin = common_begin(a, b),
             end = common_end(a, b, less_of(a->length, b->length) - begin);
    uint32_t na = a->length - begin - end, nb = b->length - begin - end;
    uint32_t *x = na && nb ? keys_of(a, begin, na) : NULL,
             *y = na && nb ? keys_of(b, begin, nb) : NULL;
    *work += a->list.count + b->list.count + (x ? (uint64_t)na + nb : 0);
    out->count = 0;
    bool all = begin == 0 || wl_push(out, (explore_run){0, 0, begin, begin});
    size_t first = out->count;
    if (na && nb)
        all = all && x && y && explore_align(x, na, y, nb, most, out);
    else if (na || nb)
        all = all && wl_push(out, (explore_run){0, 0, na, nb});
    for (size_t i = first; i < out->count; i++) {
        out->data[i].a += begin;
        out->data[i].b += begin;
    }
    free(x);
    free(y);
    return all &&
           (end == 0 || wl_push(out, (explore_run){a->length - end, b->length - end, end, end}));
}
