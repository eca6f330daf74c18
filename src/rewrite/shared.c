/* shared: how often each element of shared memory was loaded, stored, updated.
 *
 * Needs: counts.c, runs.c, place.c. Keeps: everything. Buffers: a u32 for each class and element, by address, and a u32 for
 * each thread of a block and each of `nplaces` things that are counted by thread; of both copies, the one of the
 * multiprocessor's number.
 *
 * Where an address follows from the thread's place in its block, nothing is done at the access: the host knows the elements,
 * and has to know only how often each thread came there (GMProf's static determination). That follows from the launch, from
 * branches that are decided by the place as well, from counting the threads that go the seldom way of a branch, or, in loops,
 * from a register that counts iterations, published when the thread leaves. All other accesses are counted by address. */
#include "rewrite/internal.h"

#include <stddef.h>
#include <stdlib.h>

enum {
    MAX_TIMES = 8,       /* registers that count by thread */
    SYSTEM_BYTES = 1024, /* of shared memory, from sm_80 on */
    NOWHERE_BYTES = 32,  /* the largest access of a lane */
    TABLES_ALIGN = 128   /* so that variables keep their banks, whatever comes first */
};

/* ---- which sites ---- */

bool rw_may_be_shared(const rewrite_site *s)
{
    return s->space == IR_SPACE_SHARED || s->space == IR_SPACE_GENERIC;
}

static bool address_placed(rw_plan *p, const flow_function *f, const flow_address *a)
{
    if (a->value != FLOW_NONE)
        return !a->operand->component && rw_placed(p, f, a->value);
    return a->operand->has_sym && rw_var_listed(p, &a->operand->sym) != IR_NONE;
}

/* Makes sure that it is known how often each thread runs the blocks with that root; false where that is too much. */
static bool follow_root(rw_plan *p, const flow_function *f, uint32_t root)
{
    const rw_run *run = &p->runs[0][root];
    if (rw_runs_once(f, root))
        return true;
    if (run->from != FLOW_NONE && (run->placed || run->edge != FLOW_NONE)) {
        if (!follow_root(p, f, p->runs[0][run->from].root))
            return false;
        rw_edge *edge = run->placed ? NULL : &p->edges[run->edge];
        if (edge && !(edge->probes >> REWRITE_SHARED & 1)) {
            edge->probes |= 1u << REWRITE_SHARED;
            edge->place = p->out->nplaces++;
        }
        return true;
    }
    if (p->place_of[root] == IR_NONE && p->ntimes < MAX_TIMES) {
        p->place_of[root] = p->out->nplaces++;
        p->ntimes++;
    }
    return p->place_of[root] != IR_NONE;
}

static bool plan_site(rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t i = p->sites[site].pc - f->first_pc;
    const ir_insn *insn = &f->func->insns[i];
    return p->sites[site].space == IR_SPACE_SHARED && f->blocks[f->block_of[i]].reached &&
           address_placed(p, f, p->addresses[site]) &&
           (insn->guard == IR_NONE || rw_guard_placed(p, f, insn)) &&
           follow_root(p, f, p->runs[0][f->block_of[i]].root);
}

/* Shared memory that a block may have whatever its size, without any effect on how many blocks fit a multiprocessor. */
static uint64_t free_bytes(const rw_plan *p)
{
    uint64_t used = SYSTEM_BYTES, each = p->module->sm >= 90   ? 7296
                                         : p->module->sm >= 80 ? 5248
                                                               : 3072;
    for (uint32_t i = 0; i < p->nvars; i++) {
        const ir_var *var = p->vars[i].var;
        if (var->space == IR_SPACE_SHARED && !ir_var_size(var))
            return 0; /* the launch says how much it is */
        used += var->space == IR_SPACE_SHARED ? ir_var_size(var) + 16 : 0;
    }
    used += 2 * NOWHERE_BYTES;
    return used < each ? (each - used) / TABLES_ALIGN * TABLES_ALIGN : 0;
}

/* The table of the site's array and class; IR_NONE: there is no room for it. */
static uint32_t table_for(rw_plan *p, const flow_object *o, unsigned class_, uint64_t room)
{
    uint32_t n = p->ntables;
    for (uint32_t t = 0; t < n; t++)
        if (p->tables[t].var == o->var && p->tables[t].class_ == class_)
            return t;
    uint32_t bytes = (uint32_t)((o->bytes + 3) / 4 * 4);
    if (n == RW_MAX_TABLES || !o->bytes || o->bytes > room || p->table_bytes + bytes > room)
        return IR_NONE;
    p->tables[n] = (rw_table){o->var, class_, bytes, p->table_bytes};
    p->table_bytes += bytes;
    return p->ntables++;
}

static void plan_tables(rw_plan *p, const flow_function *f)
{
    uint64_t room = free_bytes(p);
    if (!rw_leaves_together(p))
        return;
    for (uint32_t s = p->site_first[0]; s < p->site_first[f->func->ninsns]; s++) {
        const rewrite_site *site = &p->sites[s];
        if (site->space != IR_SPACE_SHARED || p->by_place[s])
            continue;
        flow_reach reach = flow_reach_of(p->flow, f, p->addresses[s]);
        const flow_object *o = reach.object == FLOW_NONE ? NULL : &p->flow->objects[reach.object];
        if (o && o->space == IR_SPACE_SHARED && rw_var_listed_as(p, o->var) != IR_NONE)
            p->table_of[s] = table_for(p, o, rewrite_class(site), room);
    }
    if (p->ntables)
        p->table_bytes = (p->table_bytes + 2 * NOWHERE_BYTES + TABLES_ALIGN - 1) / TABLES_ALIGN *
                         TABLES_ALIGN;
}

wl_status rw_plan_shared(rw_plan *p)
{
    const flow_function *f = &p->flow->funcs[0];
    p->by_place = wl_new_array(p->arena, bool, (size_t)p->nsites + 1);
    p->place_of = wl_new_array(p->arena, uint32_t, (size_t)f->nblocks + 1);
    p->table_of = wl_new_array(p->arena, uint32_t, (size_t)p->nsites + 1);
    if (!p->by_place || !p->place_of || !p->table_of)
        return WL_NOMEM;
    for (uint32_t s = 0; s < p->nsites; s++)
        p->table_of[s] = IR_NONE;
    for (uint32_t b = 0; b < f->nblocks; b++)
        p->place_of[b] = IR_NONE;
    if (!(p->out->probes >> REWRITE_SHARED & 1))
        return WL_OK;
    for (uint32_t s = p->site_first[0]; s < p->site_first[f->func->ninsns]; s++)
        p->by_place[s] = plan_site(p, f, s);
    plan_tables(p, f);
    for (uint32_t s = 0; s < p->nsites; s++) {
        bool by_address = rw_may_be_shared(&p->sites[s]) && !p->by_place[s];
        p->out->by_address |= by_address;
        p->counts_directly |= by_address && p->table_of[s] == IR_NONE;
    }
    return WL_OK;
}

bool rw_counts_shared(const rw_body *b, uint32_t site)
{
    return rw_has(b, REWRITE_SHARED) && rw_may_be_shared(&b->plan->sites[site]) &&
           !b->plan->by_place[site];
}

/* The kernel finds it in its parameter, where nothing has to be loaded; other functions in the state. */
#define LOAD(b, type, to, member)                                      \
    do {                                                               \
        if ((b)->index == 0)                                           \
            rw_line(b, "ld.param." type " %s, [__wl_probe+%zu];", to,  \
                    offsetof(rewrite_param, member));                  \
        else                                                           \
            rw_line(b, "ld.global." type " %s, [__wl_state+%zu];", to, \
                    offsetof(rewrite_state, member));                  \
    } while (0)

/* __wl_shared: the multiprocessor's copy of the counters by address. Changes __wl_t, __wl_u. */
static void find_tables(rw_body *b)
{
    LOAD(b, "u64", "__wl_shared", shared);
    LOAD(b, "u32", "__wl_limit", shared_bytes);
    LOAD(b, "u32", "__wl_u", shared_mask);
    rw_text(b, "\tmov.u32 __wl_t, %smid;\n\tand.b32 __wl_t, __wl_t, __wl_u;\n");
    rw_line(b, "mul.lo.u32 __wl_t, __wl_t, %u;", REWRITE_CLASSES);
    rw_line(b, "mad.wide.u32 __wl_shared, __wl_t, __wl_limit, __wl_shared;");
}

bool rw_shared_needs_lanes(const rw_body *b, uint32_t site)
{
    return rw_counts_shared(b, site) && b->plan->table_of[site] == IR_NONE &&
           rw_counts_lanes(b, site);
}

/* ---- counters in shared memory ---- */

/* Behind the tables: where lanes count that miss their array, and behind that where those do that access nothing. */
static uint32_t missed_at(const rw_plan *p)
{
    return p->table_bytes - 2 * NOWHERE_BYTES;
}

/* Calls `each` for the words of all tables that are this thread's; __wl_lo: its offset in them. */
static void each_word(rw_body *b, uint32_t from, uint32_t bytes, void (*each)(rw_body *b, uint32_t),
                      uint32_t table)
{
    uint32_t label = (*b->labels)++;
    rw_linear_thread(b, "__wl_lo", "__wl_hi");
    rw_text(b, "\tshl.b32 __wl_lo, __wl_lo, 2;\n\tshl.b32 __wl_hi, __wl_hi, 2;\n"
               "\tmov.u32 __wl_v, __wl_tables;\n");
    if (from)
        rw_line(b, "add.u32 __wl_v, __wl_v, %u;", from);
    ptx_putf(b->out, "$__wl_words%u:\n", label);
    rw_line(b, "setp.ge.u32 __wl_p, __wl_lo, %u;", bytes);
    rw_line(b, "@__wl_p bra $__wl_worded%u;", label);
    rw_text(b, "\tadd.u32 __wl_t, __wl_v, __wl_lo;\n");
    each(b, table);
    rw_text(b, "\tadd.u32 __wl_lo, __wl_lo, __wl_hi;\n");
    rw_line(b, "bra $__wl_words%u;", label);
    ptx_putf(b->out, "$__wl_worded%u:\n", label);
}

static void clear_word(rw_body *b, uint32_t table)
{
    (void)table;
    rw_text(b, "\tst.shared.u32 [__wl_t], 0;\n");
}

/* All threads of the block are here. */
static void clear_tables(rw_body *b)
{
    each_word(b, 0, b->plan->table_bytes, clear_word, 0);
    rw_text(b, "\tbar.sync 0;\n");
}

static void publish_word(rw_body *b, uint32_t table)
{
    (void)table;
    rw_text(b, "\tld.shared.u32 __wl_u, [__wl_t];\n"
               "\tsetp.ne.u32 __wl_p, __wl_u, 0;\n"
               "\tcvt.u64.u32 __wl_y, __wl_lo;\n"
               "\tadd.s64 __wl_y, __wl_y, __wl_x;\n"
               "\t@__wl_p red.global.add.u32 [__wl_y], __wl_u;\n");
}

static void publish_tables(rw_body *b)
{
    rw_text(b, "\tbar.sync 0;\n");
    find_tables(b);
    for (uint32_t t = 0; t < b->plan->ntables; t++) {
        const rw_table *table = &b->plan->tables[t];
        rw_line(b, "mov.u64 __wl_x, %s;", table->var->name);
        rw_text(b, "\tadd.s64 __wl_x, __wl_x, __wl_shared;\n");
        if (table->class_)
            rw_line(b, "mad.wide.u32 __wl_x, __wl_limit, %u, __wl_x;", table->class_);
        each_word(b, table->from, table->bytes, publish_word, t);
    }
    rw_linear_thread(b, "__wl_lo", "__wl_hi");
    rw_text(b, "\tmov.u32 __wl_t, __wl_tables;\n");
    rw_line(b, "ld.shared.u32 __wl_u, [__wl_t+%u];", missed_at(b->plan));
    rw_text(b, "\tsetp.eq.u32 __wl_q, __wl_lo, 0;\n"
               "\tsetp.ne.and.u32 __wl_p, __wl_u, 0, __wl_q;\n"
               "\tcvt.u64.u32 __wl_x, __wl_u;\n");
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_state+%zu], __wl_x;",
            offsetof(rewrite_state, missed));
}

/* By the address in __wl_a. Nothing here is a branch, not even to a guarded instruction, so that ptxas contracts products and
 * sums as in the original; lanes that are not to be counted count somewhere else. */
static void count_in_table(rw_body *b, uint32_t site)
{
    const rw_table *table = &b->plan->tables[b->plan->table_of[site]];
    unsigned n = rw_elements(&b->plan->sites[site]);
    const char *guard = b->guard.text;
    bool negated = *guard == '!';
    rw_line(b, "mov.u32 __wl_t, %s;", table->var->name);
    rw_text(b, "\tcvt.u32.u64 __wl_lo, __wl_a;\n\tsub.u32 __wl_lo, __wl_lo, __wl_t;\n");
    rw_line(b, "setp.lt.u32 __wl_p, __wl_lo, %u;",
            table->bytes > 4 * (n - 1) ? table->bytes - 4 * (n - 1) : 0);
    rw_text(b, "\tand.b32 __wl_lo, __wl_lo, -4;\n\tmov.u32 __wl_t, __wl_tables;\n");
    rw_line(b, "add.u32 __wl_u, __wl_t, %u;", missed_at(b->plan));
    rw_line(b, "add.u32 __wl_t, __wl_t, %u;", table->from);
    rw_text(b, "\tadd.u32 __wl_lo, __wl_lo, __wl_t;\n"
               "\tselp.b32 __wl_lo, __wl_lo, __wl_u, __wl_p;\n");
    if (*guard) {
        rw_line(b, "add.u32 __wl_u, __wl_u, %u;", NOWHERE_BYTES);
        rw_line(b, "selp.b32 __wl_lo, %s, %s, %s;", negated ? "__wl_u" : "__wl_lo",
                negated ? "__wl_lo" : "__wl_u", guard + negated);
    }
    for (unsigned e = 0; e < n; e++)
        rw_line(b, "red.shared.add.u32 [__wl_lo+%u], 1;", 4 * e);
}

/* ---- by thread ---- */

/* Calls `each` for the blocks that registers count. */
static void each_times(rw_body *b, void (*each)(rw_body *b, uint32_t block))
{
    for (uint32_t n = 0; b->index == 0 && n < b->f->nblocks; n++)
        if (b->plan->place_of[n] != IR_NONE)
            each(b, n);
}

static void declare_times(rw_body *b, uint32_t block)
{
    rw_line(b, ".reg .b32 __wl_times%u;", block);
}

static void clear_times(rw_body *b, uint32_t block)
{
    rw_line(b, "mov.u32 __wl_times%u, 0;", block);
}

static void start(rw_body *b, uint32_t block)
{
    if (b->index == 0 && b->plan->place_of[block] != IR_NONE)
        rw_line(b, "add.u32 __wl_times%u, __wl_times%u, 1;", block, block);
}

/* __wl_x: the counters of this thread in the multiprocessor's copy, __wl_u: threads of a block. */
static void find_places(rw_body *b)
{
    LOAD(b, "u64", "__wl_x", places);
    LOAD(b, "u32", "__wl_u", place_bytes);
    LOAD(b, "u32", "__wl_v", place_mask);
    rw_text(b, "\tmov.u32 __wl_t, %smid;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_v;\n"
               "\tmad.wide.u32 __wl_x, __wl_t, __wl_u, __wl_x;\n");
    rw_linear_thread(b, "__wl_t", "__wl_u");
    rw_text(b, "\tmad.wide.u32 __wl_x, __wl_t, 4, __wl_x;\n");
}

/* __wl_y: the thread's counter, after find_places(). */
static void find_place(rw_body *b, uint32_t place)
{
    rw_line(b, "mul.lo.u32 __wl_t, __wl_u, %u;", 4 * place);
    rw_text(b, "\tcvt.u64.u32 __wl_y, __wl_t;\n\tadd.s64 __wl_y, __wl_y, __wl_x;\n");
}

static void publish_times(rw_body *b, uint32_t block)
{
    find_place(b, b->plan->place_of[block]);
    rw_line(b, "setp.ne.u32 __wl_p, __wl_times%u, 0;", block);
    rw_line(b, "@__wl_p red.global.add.u32 [__wl_y], __wl_times%u;", block);
    clear_times(b, block);
}

static void leave(rw_body *b)
{
    if (b->index == 0 && b->plan->ntables)
        publish_tables(b);
    if (b->index != 0 || !b->plan->ntimes)
        return;
    find_places(b);
    each_times(b, publish_times);
}

static void count_edge(rw_body *b, uint32_t edge)
{
    if (!(b->plan->edges[edge].probes >> REWRITE_SHARED & 1))
        return;
    find_places(b);
    find_place(b, b->plan->edges[edge].place);
    rw_line(b, "red.global.add.u32 [__wl_y], 1;");
}

/* ---- by address ---- */

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_shared;\n\t.reg .b32 __wl_limit;\n");
    if (b->index == 0 && b->plan->table_bytes)
        rw_line(b, ".shared .align 16 .b8 __wl_tables[%u];", b->plan->table_bytes);
    each_times(b, declare_times);
}

static void enter(rw_body *b)
{
    each_times(b, clear_times);
    if (b->index == 0 && b->plan->ntables)
        clear_tables(b);
    if (b->plan->counts_directly)
        find_tables(b);
}

/* __wl_counted: the lane accesses shared memory, and where it is counted. __wl_lo: the address. */
static void find_counted(rw_body *b, const rewrite_site *s)
{
    const char *shared = b->guard.text;
    rw_line(b, "cvt.u32.u64 __wl_lo, __wl_a;");
    if (s->flags & REWRITE_GENERIC) {
        rw_line(b, "shr.u64 __wl_x, __wl_a, 62;");
        rw_line(b, "setp.eq%s.u64 __wl_q, __wl_x, 1%s%s;", *shared ? ".and" : "",
                *shared ? ", " : "", shared);
        shared = "__wl_q";
    }
    const char *and = *shared ? ".and" : "", *comma = *shared ? ", " : "";
    rw_line(b, "setp.ge%s.u32 __wl_p, __wl_lo, __wl_limit%s%s;", and, comma, shared);
    rw_line(b, "setp.lt%s.u32 __wl_counted, __wl_lo, __wl_limit%s%s;", and, comma, shared);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_state+%zu], 1;", offsetof(rewrite_state, missed));
}

static void count_shared(rw_body *b, uint32_t site)
{
    const rewrite_site *s = &b->plan->sites[site];
    if (!rw_counts_shared(b, site))
        return;
    if (b->plan->table_of[site] != IR_NONE) {
        count_in_table(b, site);
        return;
    }
    find_counted(b, s);
    rw_text(b, "\tand.b32 __wl_lo, __wl_lo, -4;\n"
               "\tcvt.u64.u32 __wl_x, __wl_lo;\n"
               "\tadd.s64 __wl_x, __wl_x, __wl_shared;\n");
    if (rewrite_class(s))
        rw_line(b, "mad.wide.u32 __wl_x, __wl_limit, %u, __wl_x;", rewrite_class(s));
    rw_count(b, site);
}

const rw_pass rw_shared_pass = {.probes = 1u << REWRITE_SHARED,
                                .declare = declare,
                                .enter = enter,
                                .start = start,
                                .access = count_shared,
                                .edge = count_edge,
                                .leave = leave};

/* ---- reading ---- */

typedef struct reading {
    const rewrite_copy *copy;
    const rw_plan *plan;
    const flow_function *f;
    rw_place *place;
    uint32_t thread;
    uint64_t *times; /* of each root for this thread, UINT64_MAX: not known yet */
} reading;

static uint64_t times_of(reading *r, uint32_t root)
{
    const rw_run *run = &r->plan->runs[0][root];
    uint64_t *times = &r->times[root];
    if (*times != UINT64_MAX)
        return *times;
    if (rw_runs_once(r->f, root))
        return *times = r->copy->layout->blocks;
    if (run->from == FLOW_NONE || (!run->placed && run->edge == FLOW_NONE))
        return *times = rw_read_place(r->copy, r->plan->place_of[root], r->thread);
    uint32_t from = r->plan->runs[0][run->from].root;
    if (run->placed)
        return *times = rw_goes(r->place, r->f, run) ? times_of(r, from) : 0;
    const rw_edge *edge = &r->plan->edges[run->edge];
    uint64_t gone = rw_read_place(r->copy, edge->place, r->thread);
    return *times = run->taken == edge->taken ? gone : times_of(r, from) - gone;
}

/* Of .x1 and .x2 only the first lanes give addresses. */
static bool gives_address(const reading *r, const ir_insn *insn)
{
    return (insn->op != IR_ldmatrix && insn->op != IR_stmatrix) ||
           r->thread % REWRITE_LANES < rw_matrix_rows(insn);
}

static void add_site(reading *r, uint32_t site, uint64_t *counts)
{
    const rewrite_site *s = &r->plan->sites[site];
    const flow_address *a = r->plan->addresses[site];
    const ir_insn *insn = &r->f->func->insns[s->pc];
    uint64_t times = times_of(r, r->plan->runs[0][r->f->block_of[s->pc]].root);
    if (!times || !gives_address(r, insn) || !rw_guard_holds(r->place, r->f, insn))
        return;
    uint64_t at = a->value == FLOW_NONE ? r->place->vars[rw_var_listed(r->plan, &a->operand->sym)]
                                        : rw_place_value(r->place, r->f, a->value);
    uint32_t address = (uint32_t)(at + a->operand->imm), words = r->copy->layout->shared_bytes / 4;
    for (uint32_t e = 0; e < rw_elements(s); e++)
        if (address / 4 + e < words)
            counts[(size_t)rewrite_class(s) * words + address / 4 + e] += times;
}

static void add_thread(reading *r, uint64_t *counts)
{
    rw_place_thread(r->place, r->thread);
    for (uint32_t b = 0; b < r->f->nblocks; b++)
        r->times[b] = UINT64_MAX;
    for (uint32_t s = r->plan->site_first[0]; s < r->plan->site_first[r->f->func->ninsns]; s++)
        if (r->plan->by_place[s])
            add_site(r, s, counts);
}

wl_status rewrite_read_shared(const rewrite_copy *c, uint64_t *counts)
{
    const rw_plan *p = c->kernel->plan;
    if (!(c->kernel->probes >> REWRITE_SHARED & 1) || !c->layout->shared_bytes)
        return WL_OK;
    rw_add_by_address(c, counts);
    reading r = {.copy = c,
                 .plan = p,
                 .f = &p->flow->funcs[0],
                 .place = rw_place_new(c),
                 .times = calloc(p->flow->funcs[0].nblocks + 1, sizeof(uint64_t))};
    uint32_t threads = c->layout->threads[0] * c->layout->threads[1] * c->layout->threads[2];
    wl_status status = r.place && r.times ? WL_OK : WL_NOMEM;
    for (r.thread = 0; status == WL_OK && r.thread < threads; r.thread++)
        add_thread(&r, counts);
    rw_place_free(r.place);
    free(r.times);
    return status;
}
