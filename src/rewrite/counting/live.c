/* The plan of live ranges of shared arrays, where they do not follow from counts: flags say which
 * words the block has stored to, and stores that begin a range or update are told apart by the
 * addresses of the loads that they depend on. */
#include "rewrite/counting/counting.h"

#include "flow/affine.h"

#include <string.h>

typedef struct state {
    rw_plan *p;
    rw_live_plan *live;
    const flow_array *array;
} state;

static const flow_array_use *use_at(const state *s, uint32_t u)
{
    return &s->live->found.uses[s->array->first + u];
}

static const flow_use_count *count_at(const state *s, uint32_t u)
{
    return &s->live->counts.uses[use_at(s, u)->use];
}

static const flow_fill *fill_at(const state *s, uint32_t pc)
{
    uint32_t at = s->live->fills.at[pc];
    return at == FLOW_NONE ? NULL : &s->live->fills.fills[at];
}

static bool has_any_site(const rw_plan *p, uint32_t pc)
{
    return p->site_first[pc + 1] > p->site_first[pc];
}

/* ---- what can be followed ---- */

static bool is_use_of_array(const state *s, uint32_t pc)
{
    for (uint32_t u = 0; u < s->array->count; u++)
        if (count_at(s, u)->pc == pc)
            return true;
    return false;
}

/* A store that may begin a range, and which load says: a thread knows what it read last. */
static bool can_compare(const state *s, const flow_fill *fill)
{
    bool can = !fill->unknown;
    for (uint32_t r = fill->first; r < fill->first + fill->count; r++) {
        const flow_read *read = &s->live->fills.reads[r];
        can &= !is_use_of_array(s, read->pc) || (read->scope == FLOW_BY_THREAD && !read->earlier);
    }
    return can;
}

static bool can_follow_use(const state *s, uint32_t u)
{
    const flow_array_use *use = use_at(s, u);
    uint32_t pc = count_at(s, u)->pc;
    return count_at(s, u)->context == 0 && use->certain &&
           (use->write != FLOW_EITHER || can_compare(s, fill_at(s, pc))) &&
           rw_site_of_shared(s->p, pc) != IR_NONE;
}

static bool can_follow_array(const state *s)
{
    const flow_object *o = &s->p->flow->objects[s->array->object];
    bool can = o->bytes && o->bytes <= UINT32_MAX / 2 &&
               rw_var_listed_as(s->p, o->var) != IR_NONE && s->live->narrays < RW_MAX_LIVE;
    for (uint32_t u = 0; u < s->array->count && can; u++)
        can = can_follow_use(s, u);
    return can;
}

/* Do its ranges follow from what the host sees, and from counts of elements? */
static bool follows_from_counts(const state *s)
{
    bool *shown = flow_new(&s->p->flow->mem, bool, s->p->proof.npcs + 1u);
    for (uint32_t pc = 0; pc < s->p->proof.npcs; pc++)
        shown[pc] = !has_any_site(s->p, pc);
    flow_apart apart = flow_judge_apart(&s->live->counts, &s->live->fills, &s->live->found,
                                        s->array, shown);
    return !apart.any || (apart.alike && apart.barrier != FLOW_NONE);
}

/* ---- accesses ---- */

static bool is_inside(const flow_function *f, uint32_t loop, uint32_t block)
{
    return loop == FLOW_NONE || flow_in_loop(&f->loops, loop, block);
}

/* Has the thread always filled what the use accesses when it comes to it? */
static bool fills_before(const state *s, uint32_t fill, uint32_t use)
{
    const flow_function *f = &s->p->flow->funcs[0];
    const flow_use_count *from = count_at(s, fill), *to = count_at(s, use);
    uint32_t first = from->pc - f->first_pc, then = to->pc - f->first_pc;
    uint32_t a = f->block_of[first], b = f->block_of[then];
    int64_t apart, nfrom = 4 * rw_elements(&s->p->sites[rw_site_of_shared(s->p, from->pc)]),
                   nto = 4 * rw_elements(&s->p->sites[rw_site_of_shared(s->p, to->pc)]);
    return use_at(s, fill)->write == FLOW_FILLS && f->func->insns[first].guard == IR_NONE &&
           !rw_is_matrix(&f->func->insns[first]) && !rw_is_matrix(&f->func->insns[then]) &&
           (a == b ? first < then : flow_dominates(&f->dom, a, b)) && !f->loops.irreducible &&
           is_inside(f, f->loops.of[a], b) && from->form && to->form &&
           flow_affine_is_constant(flow_affine_add(&s->p->flow->mem, to->form, from->form, -1),
                                   &apart) &&
           apart >= 0 && apart + nto <= nfrom;
}

static bool is_filled_before(const state *s, uint32_t use)
{
    for (uint32_t fill = 0; fill < s->array->count; fill++)
        if (fill != use && fills_before(s, fill, use))
            return true;
    return false;
}

static uint32_t number_of_live_load(state *s, uint32_t pc)
{
    rw_live_plan *live = s->live;
    for (uint32_t i = 0; i < live->nloads; i++)
        if (live->loads[i].pc == pc)
            return i;
    if (live->nloads == RW_MAX_LIVE_LOADS)
        return IR_NONE;
    live->loads[live->nloads] = (rw_live_load){
        pc, rw_elements(&s->p->sites[rw_site_of_shared(s->p, pc)])};
    return live->nloads++;
}

/* The loads that a store has to compare with; false: there are too many. */
static bool list_reads(state *s, uint32_t pc, uint32_t *reads)
{
    const flow_fill *fill = fill_at(s, pc);
    for (uint32_t r = fill->first; r < fill->first + fill->count; r++) {
        uint32_t load = s->live->fills.reads[r].pc;
        uint32_t number = is_use_of_array(s, load) ? number_of_live_load(s, load) : 0;
        if (number == IR_NONE)
            return false;
        if (is_use_of_array(s, load))
            *reads |= 1u << number;
    }
    return true;
}

static bool add_live_access(state *s, uint32_t u)
{
    const flow_array_use *use = use_at(s, u);
    uint32_t pc = count_at(s, u)->pc;
    rw_live_access *a = &s->live->accesses[s->live->naccesses];
    *a = (rw_live_access){.site = rw_site_of_shared(s->p, pc),
                          .array = s->live->narrays,
                          .write = use->write,
                          .keeps = IR_NONE};
    if (use->write != FLOW_NO_WRITE)
        a->origin = fill_at(s, pc)->origin;
    if (use->write == FLOW_NO_WRITE || use->write == FLOW_UPDATES)
        a->filled = is_filled_before(s, u);
    s->live->access_at[pc] = s->live->naccesses++;
    return use->write != FLOW_EITHER || list_reads(s, pc, &a->reads);
}

/* ---- arrays ---- */

static void add_class_of_use(const state *s, uint32_t u, rw_live_array *a)
{
    const flow_array_use *use = use_at(s, u);
    flow_alike *all = &a->classes[flow_class_of_use(&s->live->counts, use)];
    flow_alike one = {.write = use->write};
    if (use->write == FLOW_FILLS)
        one.origin = fill_at(s, count_at(s, u)->pc)->origin;
    a->alike &= one.write != FLOW_EITHER &&
                (all->write == FLOW_NO_WRITE ||
                 (all->write == one.write && all->origin == one.origin));
    *all = one;
}

static void count_begins(const state *s, rw_live_array *a)
{
    memset(a->begins, 0xff, sizeof a->begins);
    for (uint32_t u = 0; u < s->array->count; u++)
        add_class_of_use(s, u, a);
    for (uint32_t u = 0; u < s->array->count && !a->alike; u++) {
        uint8_t write = use_at(s, u)->write;
        if (write != FLOW_FILLS && write != FLOW_EITHER)
            continue;
        uint32_t *place = &a->begins[fill_at(s, count_at(s, u)->pc)->origin];
        *place = *place == IR_NONE ? s->p->out->nplaces++ : *place;
    }
}

/* ---- arrays that are filled first ---- */

/* The root that all threads of the block run and from which a thread's index leads to the block;
 * FLOW_NONE: there is none. */
static uint32_t common_root(const rw_plan *p, const flow_function *f, uint32_t block)
{
    const rw_run *runs = p->control->runs[0];
    uint32_t root = runs[block].root;
    while (!flow_runs_together(f, root)) {
        if (runs[root].from == FLOW_NONE || !runs[root].by_thread)
            return FLOW_NONE;
        root = runs[runs[root].from].root;
    }
    return root;
}

/* Have all threads that come to the barrier decided about the store? */
static bool is_before_barrier(const rw_plan *p, const flow_function *f, uint32_t store,
                              uint32_t root, uint32_t barrier)
{
    uint32_t from = f->block_of[store], to = f->block_of[barrier], join = f->post.parent[from];
    if (flow_comes_before(f, store, barrier))
        return is_inside(f, f->loops.of[from], to);
    while (join != FLOW_NONE && join < f->nblocks && p->control->runs[0][join].root != root)
        join = f->post.parent[join];
    return join != FLOW_NONE && join < f->nblocks && flow_dominates(&f->dom, join, to) &&
           f->loops.of[join] == f->loops.of[from] && is_inside(f, f->loops.of[from], to);
}

/* A store by which the host knows what is filled when the barrier has been passed. */
static bool fills_by_place(const state *s, const rw_live_access *a, uint32_t barrier,
                           uint32_t *root)
{
    const flow_function *f = &s->p->flow->funcs[0];
    uint32_t i = s->p->sites[a->site].pc - f->first_pc;
    const ir_insn *insn = &f->func->insns[i];
    if (a->write != FLOW_FILLS || rw_is_matrix(insn) ||
        !rw_is_placed(s->p, f, s->p->addresses[a->site]) ||
        (insn->guard != IR_NONE && !rw_guard_follows_thread(s->p, f, insn)))
        return false;
    *root = common_root(s->p, f, f->block_of[i]);
    return *root != FLOW_NONE && is_before_barrier(s->p, f, i, *root, barrier);
}

/* Is the barrier on all ways to what does not begin ranges for sure? */
static bool precedes_others(const state *s, uint32_t first, uint32_t barrier)
{
    const flow_function *f = &s->p->flow->funcs[0];
    for (uint32_t i = first; i < s->live->naccesses; i++) {
        const rw_live_access *a = &s->live->accesses[i];
        if (a->write != FLOW_FILLS && !a->filled &&
            !flow_comes_before(f, barrier, s->p->sites[a->site].pc - f->first_pc))
            return false;
    }
    return true;
}

static bool marks_fills(const state *s, uint32_t first, uint32_t barrier)
{
    bool any = false;
    for (uint32_t i = first; i < s->live->naccesses; i++) {
        rw_live_access *a = &s->live->accesses[i];
        a->fills = fills_by_place(s, a, barrier, &a->root);
        any |= a->fills;
    }
    return any;
}

/* The last barrier before which something is filled, and after which all else comes. `first`: of the
 * array's accesses. */
static bool is_filled_first(const state *s, uint32_t first)
{
    const flow_function *f = &s->p->flow->funcs[0];
    uint32_t found = FLOW_NONE;
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        if (flow_is_full_barrier(f, &f->func->insns[i]) && precedes_others(s, first, i) &&
            (found == FLOW_NONE || flow_comes_before(f, found, i)))
            found = i;
    return found != FLOW_NONE && marks_fills(s, first, found);
}

/* ---- each array ---- */

/* What cannot be followed leaves the plan as it was. */
static void plan_live_array(state *s)
{
    const flow_object *o = &s->p->flow->objects[s->array->object];
    rw_live_plan *live = s->live;
    uint32_t naccesses = live->naccesses, nloads = live->nloads;
    rw_live_array a = {.alike = true, .unfilled = IR_NONE};
    bool good = !follows_from_counts(s) && can_follow_array(s);
    for (uint32_t u = 0; u < s->array->count && good; u++)
        good = add_live_access(s, u);
    if (good && !is_filled_first(s, naccesses)) {
        a.flags = true;
        a.from = rw_take_shared(s->p, (uint32_t)((o->bytes + 3) / 4));
        good = a.from != IR_NONE;
    }
    if (!good) {
        for (uint32_t i = naccesses; i < live->naccesses; i++)
            live->access_at[s->p->sites[live->accesses[i].site].pc] = IR_NONE;
        live->naccesses = naccesses;
        live->nloads = nloads;
        return;
    }
    a.var = o->var;
    a.bytes = (uint32_t)o->bytes;
    if (a.flags)
        a.unfilled = s->p->out->nplaces++;
    count_begins(s, &a);
    live->arrays[live->narrays++] = a;
}

static void keep_loads(rw_plan *p)
{
    rw_live_plan *live = p->live;
    for (uint32_t i = 0; i < live->nloads; i++)
        live->accesses[live->access_at[live->loads[i].pc]].keeps = i;
}

/* Needs: sites, variables, runs. Fills: live, and takes shared memory before the tables. */
wl_status rw_pass_live(rw_plan *p)
{
    state s = {p, p->live, NULL};
    p->live->access_at = wl_new_array(p->arena, uint32_t, p->proof.npcs + 1u);
    p->live->accesses = wl_new_array(p->arena, rw_live_access, p->proof.npcs + 1u);
    if (!p->live->access_at || !p->live->accesses)
        return WL_NOMEM;
    memset(p->live->access_at, 0xff, (p->proof.npcs + 1u) * sizeof(uint32_t));
    for (uint32_t i = 0; rw_plan_has(p, REWRITE_SHARED) && i < p->live->found.count; i++) {
        s.array = &p->live->found.arrays[i];
        if (s.array->object != FLOW_NONE)
            plan_live_array(&s);
    }
    keep_loads(p);
    return WL_OK;
}
