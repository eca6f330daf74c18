#include "replay/padding.h"

#include "flow/affine.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static bool is_of_array(const flow_kernel *k, const flow_term *t, const char *array)
{
    const flow_symbol *s = &t->factors[0];
    return t->nfactors == 1 && s->kind == FLOW_SYM_BASE && k->objects[s->a].var &&
           strcmp(k->objects[s->a].var->name, array) == 0;
}

static bool is_in_array(const flow_kernel *k, const flow_affine *form, const char *array)
{
    for (uint32_t i = 0; i < form->nterms; i++)
        if (is_of_array(k, &form->terms[i], array))
            return true;
    return false;
}

/* Keeps the smallest ones, ascending, each once. */
static uint32_t add_pitch(uint32_t *pitches, uint32_t count, uint64_t bytes)
{
    uint32_t at = 0;
    while (at < count && pitches[at] < bytes)
        at++;
    if ((at < count && pitches[at] == bytes) || at == REPLAY_PITCHES || bytes > UINT32_MAX)
        return count;
    count += count < REPLAY_PITCHES;
    memmove(&pitches[at + 1], &pitches[at], (count - 1 - at) * sizeof *pitches);
    pitches[at] = (uint32_t)bytes;
    return count;
}

static uint32_t add_form(const flow_kernel *k, const flow_affine *form, const char *array,
                         uint32_t element, uint32_t *pitches, uint32_t count)
{
    for (uint32_t i = 0; form && is_in_array(k, form, array) && i < form->nterms; i++) {
        const flow_term *t = &form->terms[i];
        uint64_t bytes = (uint64_t)llabs(t->coefficient);
        if (t->nfactors && !is_of_array(k, t, array) && bytes > element && bytes % element == 0)
            count = add_pitch(pitches, count, bytes);
    }
    return count;
}

uint32_t replay_pitches_of(const flow_kernel *k, const char *array, uint32_t element,
                           uint32_t out[REPLAY_PITCHES])
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < k->code->count; n++) {
        const flow_function *f = &k->funcs[n];
        for (uint32_t a = 0; a < f->address_first[f->func->ninsns]; a++)
            if (f->addresses[a].touch && f->addresses[a].value != FLOW_NONE)
                count = add_form(k, f->affine[f->addresses[a].value], array, element, out, count);
    }
    return count;
}

/* ---- requests ---- */

typedef struct padded_block {
    const replay_padded *padded;
    void *inner;
} padded_block;

typedef struct padded_worker {
    const replay_padded *padded;
    void *inner;
} padded_worker;

static void *begin_padded_worker(void *ctx, uint32_t number)
{
    replay_padded *padded = ctx;
    padded_worker *w = malloc(sizeof *w);
    if (w)
        *w = (padded_worker){padded, padded->inner->worker_begin(padded->inner->ctx, number)};
    return w;
}

static void end_padded_worker(void *worker)
{
    padded_worker *w = worker;
    if (w && w->padded->inner->worker_end)
        w->padded->inner->worker_end(w->inner);
    free(w);
}

static void *begin_padded_block(void *worker, uint64_t block)
{
    const padded_worker *w = worker;
    void *inner = w ? w->padded->inner->block_begin(w->inner, block) : NULL;
    padded_block *b = inner ? malloc(sizeof *b) : NULL;
    if (b)
        *b = (padded_block){w->padded, inner};
    return b;
}

static void end_padded_block(void *worker, void *block, uint64_t warp_instructions)
{
    const padded_worker *w = worker;
    padded_block *b = block;
    if (b)
        w->padded->inner->block_end(w->inner, b->inner, warp_instructions);
    free(b);
}

static int64_t stride_of(const uint64_t *addr, uint32_t mask)
{
    int64_t stride = (int64_t)(addr[1] - addr[0]);
    if (mask != UINT32_MAX)
        return ACC_IRREGULAR;
    for (uint32_t lane = 2; lane < ACC_LANES; lane++)
        if ((int64_t)(addr[lane] - addr[lane - 1]) != stride)
            return ACC_IRREGULAR;
    return stride;
}

/* False where a lane accesses something else. */
static bool pad_addresses(const replay_padding *p, const acc_request *request, uint64_t *addr)
{
    enum { ELSEWHERE = 1 << 30 }; /* in the same banks */
    for (uint32_t lane = 0; lane < ACC_LANES; lane++) {
        uint64_t a = request->addr[lane];
        if (!(request->mask >> lane & 1))
            continue;
        if (a < p->start || a >= p->end)
            return false;
        addr[lane] = ELSEWHERE + a + (a - p->start) / p->pitch * p->pad;
    }
    return request->space == ACC_SHARED;
}

static void show_padded(void *block, const acc_request *request)
{
    const padded_block *b = block;
    acc_request moved = *request;
    uint64_t addr[ACC_LANES] = {0};
    if (!pad_addresses(&b->padded->padding, request, addr))
        return;
    moved.addr = addr;
    moved.stride = stride_of(addr, request->mask);
    b->padded->inner->access(b->inner, &moved);
}

acc_observer replay_padded_observer(replay_padded *padded)
{
    return (acc_observer){.ctx = padded,
                          .worker_begin = begin_padded_worker,
                          .worker_end = end_padded_worker,
                          .block_begin = begin_padded_block,
                          .block_end = end_padded_block,
                          .access = show_padded};
}
