/* Walks from each barrier back and on to the next ones, and looks at whom it keeps apart. */
#include "analysis/shared/order.h"

#include "analysis/detect.h"
#include "analysis/forms.h"
#include "flow/barriers.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHAPES = 8, MOST_CODE = 20000, MOST_ACCESSES = 400, NOBODY = UINT32_MAX };

typedef struct access {
    uint32_t pc;
    bool writes, shared, global; /* both: its address tells which */
    bool signals;                /* an atomic in global memory: other blocks may act on it */
    const char *premise;
    footprint at[MOST_SHAPES];
    crowd by[MOST_SHAPES];
    const prof_access *objects; /* that it reached in global memory, by launch */
    uint32_t nobjects;
} access;

typedef struct links { /* of an instruction to others: to[first[pc]], ... */
    uint32_t *first, *to;
} links;

typedef struct walker {
    const ana_input *input;
    uint32_t ncode;
    bool *begins; /* [ncode] a basic block */
    links next, before;
    uint32_t *access_at; /* [ncode] in accesses, NOBODY */
    uint8_t *keeps;      /* [ncode] of a barrier: whom it keeps apart yet (footprint_order) */
    uint32_t naccesses;
    access *accesses;
    uint32_t nshapes;
    uint32_t shapes[MOST_SHAPES][3];
    crowd all[MOST_SHAPES]; /* the threads of a block */
    bool guarded;           /* premises count */
    /* [naccesses][naccesses] footprint_order + 1; 0: not looked at; [1] where premises count */
    uint8_t *met[2];
    /* Of a walk_from. */
    uint32_t *stack, *seen;
    uint32_t turn;
} walker;

/* ---- instructions ---- */

/* Whether the opcode, such as "ld.shared.f32", has the part between dots. */
static bool op_has(const char *op, const char *part)
{
    size_t n = strlen(part);
    for (const char *at = strchr(op, '.'); at; at = strchr(at + 1, '.'))
        if (strncmp(at + 1, part, n) == 0 && (at[1 + n] == '.' || at[1 + n] == '\0'))
            return true;
    return false;
}

static bool op_is(const char *op, const char *name)
{
    size_t n = strlen(name);
    return strncmp(op, name, n) == 0 && (op[n] == '.' || op[n] == '\0');
}

static bool is_of_other_memory(const char *op)
{
    return op_has(op, "local") || op_has(op, "param") || op_has(op, "const") ||
           op_has(op, "param::entry") || op_has(op, "param::func");
}

static bool is_atomic(const char *op)
{
    return op_is(op, "atom") || op_is(op, "red");
}

static bool is_access(const char *op)
{
    return (op_is(op, "ld") || op_is(op, "ldu") || op_is(op, "st") || is_atomic(op)) &&
           !is_of_other_memory(op);
}

/* ---- control flow ---- */

static bool is_numbered(const prof_code_rows *code)
{
    for (uint32_t i = 0; i < code->count; i++)
        if (code->rows[i].pc != i)
            return false;
    return code->count > 0 && code->count <= MOST_CODE;
}

static bool mark_begins(walker *w)
{
    const prof_successor_rows *rows = &w->input->successors;
    bool good = true;
    for (uint32_t i = 0; i < rows->count && good; i++) {
        good = rows->rows[i].first_pc < w->ncode && rows->rows[i].next_pc < w->ncode;
        if (good)
            w->begins[rows->rows[i].first_pc] = w->begins[rows->rows[i].next_pc] = true;
    }
    return good;
}

/* Code that nothing reaches counts as part of the block before it. */
static bool is_last(const walker *w, uint32_t pc)
{
    return pc + 1 == w->ncode || w->begins[pc + 1];
}

static uint32_t first_of_block(const walker *w, uint32_t pc)
{
    while (pc > 0 && !w->begins[pc])
        pc--;
    return pc;
}

typedef void edge_done(walker *w, uint32_t from, uint32_t to);

/* Calls `done` for each way from an instruction to another. */
static void each_edge(walker *w, edge_done *done)
{
    const prof_successor_rows *rows = &w->input->successors;
    for (uint32_t pc = 0; pc < w->ncode; pc++) {
        uint32_t first = is_last(w, pc) ? first_of_block(w, pc) : 0;
        if (!is_last(w, pc))
            done(w, pc, pc + 1);
        for (uint32_t i = 0; i < rows->count && is_last(w, pc); i++)
            if (rows->rows[i].first_pc == first)
                done(w, pc, rows->rows[i].next_pc);
    }
}

static void count_edge(walker *w, uint32_t from, uint32_t to)
{
    w->next.first[from + 1]++;
    w->before.first[to + 1]++;
}

static void put_edge(walker *w, uint32_t from, uint32_t to)
{
    w->next.to[w->next.first[from]++] = to;
    w->before.to[w->before.first[to]++] = from;
}

static void sum_links(links *l, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        l->first[i + 1] += l->first[i];
}

/* After edges were put: each begins where the one before it ends. */
static void move_back(links *l, uint32_t n)
{
    for (uint32_t i = n; i > 0; i--)
        l->first[i] = l->first[i - 1];
    l->first[0] = 0;
}

static bool link_code(walker *w)
{
    wl_arena *a = w->input->scratch;
    size_t edges = (size_t)w->ncode + w->input->successors.count + 1;
    w->next = (links){wl_new_array(a, uint32_t, w->ncode + 2), wl_new_array(a, uint32_t, edges)};
    w->before = (links){wl_new_array(a, uint32_t, w->ncode + 2), wl_new_array(a, uint32_t, edges)};
    if (!w->next.first || !w->next.to || !w->before.first || !w->before.to)
        return false;
    each_edge(w, count_edge);
    sum_links(&w->next, w->ncode);
    sum_links(&w->before, w->ncode);
    each_edge(w, put_edge);
    move_back(&w->next, w->ncode);
    move_back(&w->before, w->ncode);
    return true;
}

/* ---- accesses ---- */

static const prof_access *objects_of(const ana_input *input, uint32_t pc, uint32_t *count)
{
    const prof_access_rows *all = &input->accesses;
    uint32_t first = 0;
    while (first < all->count && all->rows[first].pc < pc)
        first++;
    for (*count = 0; first + *count < all->count && all->rows[first + *count].pc == pc;)
        ++*count;
    return *count ? &all->rows[first] : NULL;
}

static const char *premise_of(const ana_input *input, uint32_t pc)
{
    for (uint32_t i = 0; i < input->premises.count && input->premises.rows[i].pc <= pc; i++)
        if (input->premises.rows[i].pc == pc)
            return input->premises.rows[i].premise;
    return NULL;
}

/* Many accesses have the premise of the one before. */
static bool find_crowds(const walker *w, access *a)
{
    const access *last = w->naccesses ? a - 1 : NULL;
    bool same = last && a->premise && last->premise && strcmp(a->premise, last->premise) == 0;
    for (uint32_t s = 0; s < w->nshapes; s++)
        if (same)
            a->by[s] = last->by[s];
        else if (!crowd_of(a->premise, w->shapes[s], w->input->scratch, &a->by[s]))
            return false;
    return true;
}

static bool add_access(walker *w, const prof_code *code)
{
    bool shared = op_has(code->op, "shared"), global = op_has(code->op, "global");
    access *a = &w->accesses[w->naccesses];
    *a = (access){.pc = code->pc,
                  .writes = op_is(code->op, "st") || is_atomic(code->op),
                  .shared = shared || !global,
                  .global = global || !shared,
                  .signals = is_atomic(code->op) && (global || !shared),
                  .premise = premise_of(w->input, code->pc)};
    a->objects = objects_of(w->input, code->pc, &a->nobjects);
    for (uint32_t s = 0; s < w->nshapes; s++)
        a->at[s] = footprint_of(ana_form_at(&w->input->forms, code->pc), w->shapes[s]);
    w->access_at[code->pc] = w->naccesses;
    bool good = find_crowds(w, a);
    w->naccesses++;
    return good;
}

/* False where there are too many, or memory is exhausted. */
static bool find_accesses(walker *w)
{
    for (uint32_t pc = 0; pc < w->ncode; pc++) {
        const prof_code *code = &w->input->code.rows[pc];
        w->access_at[pc] = NOBODY;
        if (!is_access(code->op))
            continue;
        if (w->naccesses == MOST_ACCESSES || !add_access(w, code))
            return false;
    }
    return true;
}

static bool has_shape(const walker *w, const uint32_t block[3])
{
    for (uint32_t i = 0; i < w->nshapes; i++)
        if (memcmp(w->shapes[i], block, sizeof w->shapes[i]) == 0)
            return true;
    return false;
}

/* Of the blocks of the launches that were observed. */
static bool find_shapes(walker *w)
{
    const prof_launch_rows *launches = &w->input->program->launches;
    for (uint32_t i = 0; i < launches->count; i++) {
        const prof_launch *l = &launches->rows[i];
        if (l->kernel != w->input->kernel->id || has_shape(w, l->block))
            continue;
        if (w->nshapes == MOST_SHAPES)
            return false;
        if (!crowd_of(NULL, l->block, w->input->scratch, &w->all[w->nshapes]))
            return false;
        memcpy(w->shapes[w->nshapes++], l->block, sizeof l->block);
    }
    return w->nshapes > 0;
}

/* ---- who meets whom ---- */

static bool knows_objects_of(const access *a)
{
    for (uint32_t i = 0; i < a->nobjects; i++)
        if (!a->objects[i].object)
            return false;
    return a->nobjects > 0;
}

/* Did each launch have them in different objects? Of what was not seen to run nothing is known. */
static bool has_other_objects(const walker *w, const access *a, const access *b)
{
    bool apart = w->input->counted && knows_objects_of(a) && knows_objects_of(b);
    for (uint32_t i = 0, first = 0; i < a->nobjects && apart; i++) {
        const prof_access *one = &a->objects[i];
        while (first < b->nobjects && b->objects[first].launch < one->launch)
            first++;
        for (uint32_t k = first; k < b->nobjects && b->objects[k].launch == one->launch; k++)
            apart &= b->objects[k].object != one->object;
    }
    return apart;
}

static bool fits_in_crowd(const uint32_t block[3])
{
    return (uint64_t)block[0] * block[1] * block[2] <= (uint64_t)CROWD_WARPS * CROWD_LANES;
}

static const crowd *crowd_at(const walker *w, const access *a, uint32_t s)
{
    return w->guarded ? &a->by[s] : &w->all[s];
}

static footprint_order meet_anywhere(const walker *w, const access *x, const access *y, uint32_t s)
{
    return fits_in_crowd(w->shapes[s])
               ? footprint_meet_anywhere(crowd_at(w, x, s), crowd_at(w, y, s))
               : FOOTPRINT_BLOCK;
}

static footprint_order meet_known(const walker *w, const access *x, const access *y, uint32_t s)
{
    return footprint_meet(&x->at[s], crowd_at(w, x, s), &y->at[s], crowd_at(w, y, s), w->shapes[s]);
}

static footprint_order meet_shared(const walker *w, const access *x, const access *y, uint32_t s)
{
    const footprint *a = &x->at[s], *b = &y->at[s];
    if (footprint_comparable(a, b) && a->base)
        return meet_known(w, x, y, s);
    return a->base && b->base && !footprint_same_base(a, b) ? FOOTPRINT_APART
                                                            : meet_anywhere(w, x, y, s);
}

/* What signals to other blocks stays where all that they may rely on stands. */
static footprint_order meet_global(const walker *w, const access *x, const access *y, uint32_t s)
{
    if (x->signals || y->signals)
        return FOOTPRINT_BLOCK;
    if (footprint_comparable(&x->at[s], &y->at[s]))
        return meet_known(w, x, y, s);
    return has_other_objects(w, x, y) ? FOOTPRINT_APART : meet_anywhere(w, x, y, s);
}

static footprint_order worse_order(footprint_order a, footprint_order b)
{
    return a > b ? a : b;
}

static footprint_order meet(const walker *w, const access *x, const access *y)
{
    footprint_order order = FOOTPRINT_APART;
    if (!x->writes && !y->writes)
        return order;
    for (uint32_t s = 0; s < w->nshapes && order != FOOTPRINT_BLOCK; s++) {
        if (x->shared && y->shared)
            order = worse_order(order, meet_shared(w, x, y, s));
        if (x->global && y->global)
            order = worse_order(order, meet_global(w, x, y, s));
    }
    return order;
}

static footprint_order met(walker *w, uint32_t x, uint32_t y)
{
    uint8_t *known = &w->met[w->guarded][(size_t)x * w->naccesses + y];
    if (!*known)
        *known = (uint8_t)(1 + meet(w, &w->accesses[x], &w->accesses[y]));
    return (footprint_order)(*known - 1);
}

/* ---- walks ---- */

/* Lists the accesses that lie on ways from the barrier up to the next ones that keep lanes of a warp
 * (`apart` WARPS), or warps (BLOCK), apart. */
static uint32_t walk_from(walker *w, const links *ways, uint32_t from, footprint_order apart,
                          uint32_t *found)
{
    uint32_t depth = 0, count = 0;
    w->turn++;
    w->stack[depth++] = from;
    while (depth) {
        uint32_t pc = w->stack[--depth];
        for (uint32_t i = ways->first[pc]; i < ways->first[pc + 1]; i++) {
            uint32_t to = ways->to[i];
            if (w->seen[to] == w->turn)
                continue;
            w->seen[to] = w->turn;
            if (w->access_at[to] != NOBODY)
                found[count++] = w->access_at[to];
            if (w->keeps[to] < apart)
                w->stack[depth++] = to;
        }
    }
    return count;
}

/* What the barrier is needed for, if barriers that order less than `apart` are not there. */
static footprint_order needs(walker *w, uint32_t barrier, footprint_order apart)
{
    uint32_t before[MOST_ACCESSES], after[MOST_ACCESSES];
    uint32_t nbefore = walk_from(w, &w->before, barrier, apart, before);
    uint32_t nafter = walk_from(w, &w->next, barrier, apart, after);
    footprint_order order = FOOTPRINT_APART;
    for (uint32_t i = 0; i < nbefore; i++)
        for (uint32_t k = 0; k < nafter && order != FOOTPRINT_BLOCK; k++)
            order = worse_order(order, met(w, before[i], after[k]));
    return order;
}

/* ---- barriers ---- */

static bool is_same_place(const order_barrier *a, const order_barrier *b)
{
    return a->file == b->file && a->line == b->line;
}

static void set_keeps(walker *w, const order_barriers *o, const order_barrier *like,
                      footprint_order to)
{
    for (uint32_t i = 0; i < o->count; i++)
        if (is_same_place(&o->rows[i], like))
            w->keeps[o->rows[i].pc] = (uint8_t)to;
}

/* Of a barrier that never ran premises tell nothing: behind `if (blockDim.x > 512)` no thread of
 * smaller blocks accesses anything. */
static footprint_order needs_of_place(walker *w, const order_barriers *o, const order_barrier *like,
                                      footprint_order apart)
{
    footprint_order order = FOOTPRINT_APART;
    for (uint32_t i = 0; i < o->count; i++) {
        if (!is_same_place(&o->rows[i], like))
            continue;
        w->guarded = o->rows[i].executions > 0;
        order = worse_order(order, needs(w, o->rows[i].pc, apart));
    }
    return order;
}

/* Tries without the barriers of the place, beside those that are known to be able to go. */
static void judge_place(walker *w, order_barriers *o, const order_barrier *like)
{
    set_keeps(w, o, like, FOOTPRINT_APART);
    footprint_order least = needs_of_place(w, o, like, FOOTPRINT_BLOCK);
    if (least == FOOTPRINT_WARPS)
        least = needs_of_place(w, o, like, FOOTPRINT_WARPS);
    set_keeps(w, o, like, least);
    for (uint32_t i = 0; i < o->count; i++)
        if (is_same_place(&o->rows[i], like))
            o->rows[i].needs = least;
}

static uint64_t executions_of_place(const order_barriers *o, const order_barrier *like)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->count; i++)
        sum += is_same_place(&o->rows[i], like) ? o->rows[i].executions : 0;
    return sum;
}

/* The place that is executed most often of those that are left. */
static const order_barrier *next_place(const order_barriers *o, const bool *done)
{
    const order_barrier *next = NULL;
    for (uint32_t i = 0; i < o->count; i++)
        if (!done[i] &&
            (!next || executions_of_place(o, &o->rows[i]) > executions_of_place(o, next)))
            next = &o->rows[i];
    return next;
}

static bool judge_places(walker *w, order_barriers *o)
{
    bool *done = wl_new_array(w->input->scratch, bool, (size_t)o->count + 1);
    const order_barrier *next;
    while (done && (next = next_place(o, done))) {
        for (uint32_t i = 0; i < o->count; i++)
            done[i] |= is_same_place(&o->rows[i], next);
        judge_place(w, o, next);
    }
    return done != NULL;
}

/* A barrier with a result stays, whatever it orders. */
static bool add_barriers(walker *w, order_barriers *o)
{
    const prof_barrier_rows *rows = &w->input->barriers;
    o->rows = wl_new_array(w->input->scratch, order_barrier, (size_t)rows->count + 1);
    for (uint32_t i = 0; o->rows && i < rows->count; i++) {
        const prof_barrier *b = &rows->rows[i];
        const prof_code *code = b->pc < w->ncode ? &w->input->code.rows[b->pc] : NULL;
        if (!code)
            continue;
        w->keeps[b->pc] = b->meets == FLOW_MEETS_WARP ? FOOTPRINT_WARPS : FOOTPRINT_BLOCK;
        if (b->meets == FLOW_MEETS_BLOCK)
            o->rows[o->count++] = (order_barrier){.pc = b->pc,
                                                  .file = code->file,
                                                  .line = code->line,
                                                  .needs = FOOTPRINT_BLOCK,
                                                  .executions = b->executions};
    }
    return o->rows != NULL;
}

/* ---- the kernel ---- */

static bool make_walker_room(walker *w)
{
    wl_arena *a = w->input->scratch;
    w->access_at = wl_new_array(a, uint32_t, w->ncode);
    w->begins = wl_new_array(a, bool, w->ncode);
    w->keeps = wl_new_array(a, uint8_t, w->ncode);
    w->stack = wl_new_array(a, uint32_t, (size_t)w->ncode + 1);
    w->seen = wl_new_array(a, uint32_t, w->ncode);
    w->accesses = wl_new_array(a, access, MOST_ACCESSES);
    return w->access_at && w->begins && w->keeps && w->stack && w->seen && w->accesses;
}

static bool judge_kernel(walker *w, order_barriers *out)
{
    if (!make_walker_room(w))
        return false;
    if (!mark_begins(w) || !find_shapes(w) || !find_accesses(w))
        return true;
    if (!link_code(w))
        return false;
    for (int i = 0; i < 2; i++)
        w->met[i] = wl_new_array(w->input->scratch, uint8_t,
                                 (size_t)w->naccesses * w->naccesses + 1);
    out->known = true;
    return w->met[0] && w->met[1] && add_barriers(w, out) && judge_places(w, out);
}

wl_status order_of(const ana_input *input, order_barriers *out, wl_error *err)
{
    walker w = {.input = input, .ncode = input->code.count};
    *out = (order_barriers){0};
    if (!input->barriers.count || !is_numbered(&input->code) || judge_kernel(&w, out))
        return WL_OK;
    return ana_nomem(err);
}
