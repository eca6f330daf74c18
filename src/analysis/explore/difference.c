/* Differences of operations, and of warps whose paths were aligned. */
#include "analysis/explore/difference.h"

#include <stdlib.h>

/* ---- two warps ---- */

typedef struct pairing {
    const explore_path *a, *b;
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
    p->each(p->ctx,
            &(explore_pair){a, b, ra, rb, pc, 1, explore_difference_of(&x, &y, EXPLORE_EXCLUSIVE)});
}

static const explore_request *request_at(const explore_path *path, const explore_visit *v,
                                         uint32_t i)
{
    return i < v->nrequests ? &path->requests.data[v->first + i] : NULL;
}

/* Both run through the same instructions; `end`: the first that one of them does not have. */
static void pair_visits(const pairing *p, const explore_visit *a, const explore_visit *b)
{
    uint32_t pc = a->pc, i = 0, k = 0, end = pc + (a->ninsns < b->ninsns ? a->ninsns : b->ninsns);
    while (i < a->nrequests || k < b->nrequests) {
        const explore_request *ra = request_at(p->a, a, i), *rb = request_at(p->b, b, k);
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
}

void explore_walk(const explore_path *a, const explore_path *b, const explore_runs *runs,
                  void (*each)(void *ctx, const explore_pair *pair), void *ctx)
{
    const pairing p = {a, b, each, ctx};
    for (size_t r = 0; r < runs->count; r++) {
        const explore_run *run = &runs->data[r];
        for (uint32_t i = 0; i < run->na || i < run->nb; i++) {
            const explore_visit *x = i < run->na ? &a->visits.data[run->a + i] : NULL;
            const explore_visit *y = i < run->nb ? &b->visits.data[run->b + i] : NULL;
            if (x && y)
                pair_visits(&p, x, y);
            else if (x)
                pair_alone(&p, x, true);
            else if (y)
                pair_alone(&p, y, false);
        }
    }
}

/* ---- alignment ---- */

static uint32_t *keys_of(const explore_path *path)
{
    uint32_t *keys = malloc((path->visits.count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < path->visits.count; i++)
        keys[i] = path->visits.data[i].pc;
    return keys;
}

bool explore_align_paths(const explore_path *a, const explore_path *b, uint32_t most,
                         explore_runs *out)
{
    uint32_t *x = keys_of(a), *y = keys_of(b);
    out->count = 0;
    bool all = x && y &&
               explore_align(x, (uint32_t)a->visits.count, y, (uint32_t)b->visits.count, most, out);
    free(x);
    free(y);
    return all;
}
