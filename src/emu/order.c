/* Program order of basic blocks: of two places where lanes of a warp stand, which one is behind.
 *
 * The order is a weak topological one (Bourdoncle, "Efficient chaotic iteration strategies with
 * widenings"): a block comes after its predecessors, back edges aside, and the blocks of a loop
 * stand together, before what follows the loop. So lanes that leave a loop early wait for those
 * that stay, and the sides of a branch meet where they join, wherever the compiler has put them in
 * the text. */
#include "emu/decode.h"

typedef struct order_state {
    emu_kernel *kernel;
    uint32_t first, count; /* blocks of the function */
    uint32_t *number;      /* depth-first number, 0 unseen, UINT32_MAX finished */
    uint32_t *stack, depth;
    struct order_visit *visits;
    uint32_t nvisits;
    uint32_t counter;
    uint32_t *order; /* reversed: blocks in the order they are finished */
    uint32_t finished;
} order_state;

typedef struct order_visit {
    uint32_t block, successor, head;
    bool loop, inside; /* a component is headed here; its inside is being ordered */
} order_visit;

static uint32_t successor(const order_state *s, uint32_t block, uint32_t n)
{
    const emu_bb *bb = &s->kernel->bbs[s->first + block];
    const emu_brx *brx = bb->extra;
    uint32_t next = UINT32_MAX;
    bool falls = bb->term == EMU_TERM_FALL || bb->term == EMU_TERM_BRA_IF ||
                 bb->term == EMU_TERM_CALL || bb->guard != EMU_NOREF;
    if (n == 0)
        next = falls ? bb->next : UINT32_MAX - 1;
    else if (bb->term == EMU_TERM_BRX)
        next = n - 1 < brx->count ? brx->targets[n - 1] : UINT32_MAX;
    else if (n == 1 && (bb->term == EMU_TERM_BRA || bb->term == EMU_TERM_BRA_IF))
        next = bb->target;
    return next >= UINT32_MAX - 1 ? next : next - s->first;
}

static void push_visit(order_state *s, uint32_t block)
{
    s->stack[s->depth++] = block;
    s->number[block] = ++s->counter;
    s->visits[s->nvisits++] = (order_visit){.block = block, .head = s->counter};
}

static void finish_block(order_state *s, uint32_t block)
{
    s->number[block] = UINT32_MAX;
    s->order[s->finished++] = block;
}

/* All successors have been seen: the block ends its component or belongs to one below it on the
 * stack. Blocks of a component other than its head are forgotten and ordered again, as what the
 * head leads to inside the loop. */
static bool end_visit(order_state *s, order_visit *v)
{
    if (v->head != s->number[v->block])
        return true;
    uint32_t block = v->block;
    if (!v->loop) {
        s->depth--;
        finish_block(s, block);
        return true;
    }
    while (s->stack[s->depth - 1] != block)
        s->number[s->stack[--s->depth]] = 0;
    s->depth--;
    s->number[block] = UINT32_MAX;
    v->inside = true;
    v->successor = 0;
    return false;
}

static void step_visit(order_state *s)
{
    order_visit *v = &s->visits[s->nvisits - 1];
    uint32_t next = successor(s, v->block, v->successor);
    if (next == UINT32_MAX) {
        if (v->inside)
            s->order[s->finished++] = v->block;
        else if (!end_visit(s, v))
            return;
        order_visit done = *v;
        s->nvisits--;
        if (s->nvisits && !done.inside && s->number[done.block] != UINT32_MAX) {
            order_visit *parent = &s->visits[s->nvisits - 1];
            if (done.head <= parent->head && !parent->inside) {
                parent->head = done.head;
                parent->loop = true;
            }
        }
        return;
    }
    v->successor++;
    if (next == UINT32_MAX - 1)
        return;
    if (s->number[next] == 0) {
        push_visit(s, next);
    } else if (!v->inside && s->number[next] <= v->head) {
        v->head = s->number[next];
        v->loop = true;
    }
}

static bool order_function(emu_kernel *kernel, uint32_t first, uint32_t count)
{
    order_state s = {.kernel = kernel, .first = first, .count = count};
    s.number = calloc(count, sizeof *s.number);
    s.stack = malloc(count * sizeof *s.stack);
    s.visits = malloc((count + 1) * sizeof *s.visits);
    s.order = malloc(count * sizeof *s.order);
    bool ok = s.number && s.stack && s.visits && s.order;
    if (ok) {
        push_visit(&s, 0);
        while (s.nvisits)
            step_visit(&s);
        for (uint32_t b = 0; b < count; b++) /* cannot be reached */
            kernel->bbs[first + b].order = UINT32_MAX;
        for (uint32_t n = 0; n < s.finished; n++)
            kernel->bbs[first + s.order[n]].order = s.finished - 1 - n;
    }
    free(s.number);
    free(s.stack);
    free(s.visits);
    free(s.order);
    return ok;
}

wl_status emu_order_blocks(emu_kernel *kernel)
{
    for (uint32_t b = 0; b < kernel->nbbs;) {
        uint32_t end = b + 1;
        while (end < kernel->nbbs && kernel->bbs[end].function == kernel->bbs[b].function)
            end++;
        if (!order_function(kernel, b, end - b))
            return WL_NOMEM;
        b = end;
    }
    return WL_OK;
}
