/* shared: how often each element of shared memory was loaded, stored, updated.
 *
 * Needs: the passes runs and shared. Keeps: everything. Buffers: a u32 for each class and element,
 * by address, and a u32 for each thread of a block and each of `nplaces` things that are counted by
 * thread; of both copies, the one of the multiprocessor's number.
 *
 * Where an address follows from the thread's index in its block, nothing is done at the access: the
 * host knows the elements, and has to know only how often each thread came there (GMProf's static
 * determination). That follows from the launch, from branches that are decided by the index as
 * well, from counting the threads that go the seldom way of a branch, or, in loops, from a register
 * that counts iterations, published when the thread leaves. All other accesses are counted by
 * address: in tables in shared memory while they fit, else in device memory. */
#include "rewrite/code/body.h"

#include <stddef.h>

bool rw_counts_shared(const rw_body *b, uint32_t site)
{
    return rw_has(b, REWRITE_SHARED) && rw_may_be_shared(&b->plan->sites[site]) &&
           !b->plan->shared->by_place[site];
}

bool rw_shared_needs_lanes(const rw_body *b, uint32_t site)
{
    return rw_counts_shared(b, site) && b->plan->shared->table_of[site] == IR_NONE &&
           rw_counts_lanes(b, site);
}

/* The kernel finds it in its parameter, where nothing has to be loaded; other functions in the
 * state. */
#define LOAD(b, type, to, member)                                                             \
    do {                                                                                      \
        if ((b)->index == 0)                                                                  \
            rw_do(b, ld_param_##type, to, rw_in_param(offsetof(rewrite_param, member)));      \
        else                                                                                  \
            rw_do(b, ld_global_##type, to, rw_at(b->state, offsetof(rewrite_state, member))); \
    } while (0)

/* Fills shared.counters, the multiprocessor's copy of the counters by address, and shared.limit. */
static void find_address_counters(rw_body *b)
{
    const rw_shared_code *s = &b->shared;
    rw_reg mask = rw_temp(b, RW_B32);
    LOAD(b, u64, s->counters, shared);
    LOAD(b, u32, s->limit, shared_bytes);
    LOAD(b, u32, mask, shared_mask);
    rw_reg copy = rw_get(b, mov_u32, rw_sreg("%smid"));
    rw_do(b, and_b32, copy, copy, mask);
    rw_do(b, mul_lo_u32, copy, copy, rw_number(REWRITE_CLASSES));
    rw_do(b, mad_wide_u32, s->counters, copy, s->limit, s->counters);
}

/* ---- counters in shared memory ---- */

rw_reg rw_find_shared_tables(rw_body *b)
{
    return rw_get(b, mov_u32, rw_address_of_name(RW_PREFIX "tables", 0));
}

uint32_t rw_missed_at(const rw_plan *p)
{
    return p->shared->table_bytes - 2 * RW_NOWHERE_BYTES;
}

/* Calls `each` for this thread's part of the `bytes` of the tables from `from` on: with the word's
 * address in shared memory, and how far after `from` it is. */
static void each_word(rw_body *b, uint32_t from, uint32_t bytes,
                      void (*each)(rw_body *b, rw_reg word, rw_reg at, rw_reg to), rw_reg to)
{
    rw_label again = rw_new_label(b, "words"), done = rw_new_label(b, "worded");
    rw_reg at, step;
    rw_linear_thread(b, &at, &step);
    rw_do(b, shl_b32, at, at, rw_number(2));
    rw_do(b, shl_b32, step, step, rw_number(2));
    rw_reg tables = rw_find_shared_tables(b);
    if (from)
        rw_do(b, add_u32, tables, tables, rw_number(from));
    rw_put_label(b, again);
    rw_goto_if(b, rw_get(b, setp_ge_u32, at, rw_number(bytes)), done);
    each(b, rw_get(b, add_u32, tables, at), at, to);
    rw_do(b, add_u32, at, at, step);
    rw_goto(b, again);
    rw_put_label(b, done);
}

static void clear_word(rw_body *b, rw_reg word, rw_reg at, rw_reg to)
{
    (void)at, (void)to;
    rw_do(b, st_shared_u32, rw_at(word, 0), rw_number(0));
}

/* All threads of the block are here. */
static void clear_tables(rw_body *b)
{
    each_word(b, 0, b->plan->shared->table_bytes, clear_word, (rw_reg){0});
    rw_do(b, bar_sync, rw_number(0));
}

/* `to`: the counters of the table's array and class. */
static void publish_table_word(rw_body *b, rw_reg word, rw_reg at, rw_reg to)
{
    rw_reg count = rw_get(b, ld_shared_u32, rw_at(word, 0));
    rw_reg any = rw_get(b, setp_ne_u32, count, rw_number(0));
    rw_reg counter = rw_get(b, cvt_u64_u32, at);
    rw_do(b, add_s64, counter, counter, to);
    rw_when(b, any, red_global_add_u32, rw_at(counter, 0), count);
}

static void publish_table(rw_body *b, const rw_table *table)
{
    const rw_temps temps = rw_temps_now(b);
    rw_reg to = rw_get(b, mov_u64, rw_address_of_name(table->var->name, 0));
    rw_do(b, add_s64, to, to, b->shared.counters);
    if (table->class_)
        rw_do(b, mad_wide_u32, to, b->shared.limit, rw_number(table->class_), to);
    each_word(b, table->from, table->bytes, publish_table_word, to);
    rw_temps_back(b, &temps);
}

/* What missed its array, by the block's first thread. */
static void publish_missed(rw_body *b)
{
    rw_reg thread, threads;
    rw_linear_thread(b, &thread, &threads);
    rw_reg tables = rw_find_shared_tables(b);
    rw_reg count = rw_get(b, ld_shared_u32, rw_at(tables, rw_missed_at(b->plan)));
    rw_reg first = rw_get(b, setp_eq_u32, thread, rw_number(0));
    rw_reg adds = rw_get(b, setp_ne_and_u32, count, rw_number(0), first);
    rw_reg wide = rw_get(b, cvt_u64_u32, count);
    rw_when(b, adds, red_global_add_u64, rw_at(b->state, offsetof(rewrite_state, missed)), wide);
}

static void publish_tables(rw_body *b)
{
    rw_do(b, bar_sync, rw_number(0));
    find_address_counters(b);
    for (uint32_t t = 0; t < b->plan->shared->ntables; t++)
        publish_table(b, &b->plan->shared->tables[t]);
    publish_missed(b);
}

/* Where the lane counts: its element in the table, or where those do that miss their array, or that
 * access nothing. */
static rw_reg find_in_table(rw_body *b, const rw_table *table, unsigned n)
{
    uint32_t reach = 4 * (n - 1);
    rw_reg begin = rw_get(b, mov_u32, rw_address_of_name(table->var->name, 0));
    rw_reg at = rw_get(b, cvt_u32_u64, b->address);
    rw_do(b, sub_u32, at, at, begin);
    rw_reg inside = rw_get(b, setp_lt_u32, at,
                           rw_number(table->bytes > reach ? table->bytes - reach : 0));
    rw_do(b, and_b32, at, at, rw_number(-4));
    rw_reg tables = rw_find_shared_tables(b);
    rw_reg nowhere = rw_get(b, add_u32, tables, rw_number(rw_missed_at(b->plan)));
    rw_do(b, add_u32, tables, tables, rw_number(table->from));
    rw_do(b, add_u32, at, at, tables);
    rw_do(b, selp_b32, at, at, nowhere, inside);
    if (!rw_is_some(b->guard))
        return at;
    rw_do(b, add_u32, nowhere, nowhere, rw_number(RW_NOWHERE_BYTES));
    if (b->guard.negated)
        rw_do(b, selp_b32, at, nowhere, at, rw_not(b->guard));
    else
        rw_do(b, selp_b32, at, at, nowhere, b->guard);
    return at;
}

/* By address. Nothing here is a branch, not even to a guarded instruction, so that ptxas contracts
 * products and sums as in the original; lanes that are not to be counted count somewhere else. */
static void count_in_table(rw_body *b, uint32_t site)
{
    const rw_shared_plan *p = b->plan->shared;
    unsigned n = rw_elements(&b->plan->sites[site]);
    rw_reg at = find_in_table(b, &p->tables[p->table_of[site]], n);
    for (unsigned e = 0; e < n; e++)
        rw_do(b, red_shared_add_u32, rw_at(at, 4 * e), rw_number(1));
}

/* ---- by thread ---- */

/* Calls `each` for the blocks that registers count. */
static void each_times(rw_body *b, void (*each)(rw_body *b, uint32_t block))
{
    for (uint32_t n = 0; b->index == 0 && n < b->f->nblocks; n++)
        if (b->plan->shared->place_of[n] != IR_NONE)
            each(b, n);
}

static rw_reg times_register(uint32_t block)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "times", .number = block};
}

static void declare_times(rw_body *b, uint32_t block)
{
    rw_declare(b, RW_B32, "times", block);
}

static void clear_times(rw_body *b, uint32_t block)
{
    rw_do(b, mov_u32, times_register(block), rw_number(0));
}

static void count_thread_run(rw_body *b, uint32_t block)
{
    if (b->index == 0 && b->plan->shared->place_of[block] != IR_NONE)
        rw_do(b, add_u32, times_register(block), times_register(block), rw_number(1));
}

rw_reg rw_find_thread_places(rw_body *b, rw_reg *threads)
{
    rw_reg places = rw_temp(b, RW_B64), bytes = rw_temp(b, RW_B32), mask = rw_temp(b, RW_B32),
           thread;
    LOAD(b, u64, places, places);
    LOAD(b, u32, bytes, place_bytes);
    LOAD(b, u32, mask, place_mask);
    rw_reg copy = rw_get(b, mov_u32, rw_sreg("%smid"));
    rw_do(b, and_b32, copy, copy, mask);
    rw_do(b, mad_wide_u32, places, copy, bytes, places);
    rw_linear_thread(b, &thread, threads);
    rw_do(b, mad_wide_u32, places, thread, rw_number(4), places);
    return places;
}

rw_reg rw_find_place(rw_body *b, uint32_t place, rw_reg places, rw_reg threads)
{
    rw_reg offset = rw_get(b, mul_lo_u32, threads, rw_number(4 * (int64_t)place));
    rw_reg counter = rw_get(b, cvt_u64_u32, offset);
    rw_do(b, add_s64, counter, counter, places);
    return counter;
}

static void publish_times(rw_body *b)
{
    rw_reg threads, places = rw_find_thread_places(b, &threads);
    for (uint32_t n = 0; n < b->f->nblocks; n++) {
        if (b->plan->shared->place_of[n] == IR_NONE)
            continue;
        rw_reg counter = rw_find_place(b, b->plan->shared->place_of[n], places, threads);
        rw_reg any = rw_get(b, setp_ne_u32, times_register(n), rw_number(0));
        rw_when(b, any, red_global_add_u32, rw_at(counter, 0), times_register(n));
        clear_times(b, n);
    }
}

static void count_edge_threads(rw_body *b, uint32_t edge)
{
    if (!(b->plan->control->edges[edge].probes >> REWRITE_SHARED & 1))
        return;
    rw_reg threads, places = rw_find_thread_places(b, &threads);
    rw_reg counter = rw_find_place(b, b->plan->control->edges[edge].place, places, threads);
    rw_do(b, red_global_add_u32, rw_at(counter, 0), rw_number(1));
}

/* ---- by address ---- */

/* The lanes that access shared memory, and where it is counted; *low: the address. */
static rw_reg find_counted(rw_body *b, const rewrite_probe_site *s, rw_reg *low)
{
    rw_opd shared = b->guard;
    *low = rw_get(b, cvt_u32_u64, b->address);
    if (s->flags & ACC_GENERIC) {
        rw_reg tag = rw_get(b, shr_u64, b->address, rw_number(62)), is = rw_temp(b, RW_PRED);
        rw_compare(b, RW_I_setp_eq_u64, RW_I_setp_eq_and_u64, is, tag, rw_number(1), shared);
        shared = is;
    }
    rw_reg misses = rw_temp(b, RW_PRED), counted = rw_temp(b, RW_PRED);
    rw_compare(b, RW_I_setp_ge_u32, RW_I_setp_ge_and_u32, misses, *low, b->shared.limit, shared);
    rw_compare(b, RW_I_setp_lt_u32, RW_I_setp_lt_and_u32, counted, *low, b->shared.limit, shared);
    rw_when(b, misses, red_global_add_u64, rw_at(b->state, offsetof(rewrite_state, missed)),
            rw_number(1));
    return counted;
}

static void count_shared_access(rw_body *b, uint32_t site)
{
    const rewrite_probe_site *s = &b->plan->sites[site];
    if (!rw_counts_shared(b, site))
        return;
    if (b->plan->shared->table_of[site] != IR_NONE) {
        count_in_table(b, site);
        return;
    }
    rw_reg low, counted = find_counted(b, s, &low);
    rw_do(b, and_b32, low, low, rw_number(-4));
    rw_reg counter = rw_get(b, cvt_u64_u32, low);
    rw_do(b, add_s64, counter, counter, b->shared.counters);
    if (rewrite_class(s))
        rw_do(b, mad_wide_u32, counter, b->shared.limit, rw_number(rewrite_class(s)), counter);
    rw_count(b, site, counter, counted);
}

/* ---- the emitter ---- */

static void declare_shared(rw_body *b)
{
    b->shared.counters = rw_declare(b, RW_B64, "shared", IR_NONE);
    b->shared.limit = rw_declare(b, RW_B32, "limit", IR_NONE);
    if (b->index == 0 && b->plan->shared->table_bytes)
        ptx_putf(b->out, "\t.shared .align 16 .b8 " RW_PREFIX "tables[%u];\n",
                 b->plan->shared->table_bytes);
    each_times(b, declare_times);
}

static void enter_shared(rw_body *b)
{
    each_times(b, clear_times);
    if (b->index == 0 && b->plan->shared->table_bytes)
        clear_tables(b);
    if (b->plan->shared->counts_directly)
        find_address_counters(b);
}

static void leave_shared(rw_body *b)
{
    if (b->index != 0)
        return;
    if (b->plan->shared->ntables)
        publish_tables(b);
    if (b->plan->shared->ntimes)
        publish_times(b);
}

const rw_emitter rw_emitter_shared = {.probes = 1u << REWRITE_SHARED,
                                      .declare = declare_shared,
                                      .enter = enter_shared,
                                      .start = count_thread_run,
                                      .access = count_shared_access,
                                      .edge = count_edge_threads,
                                      .leave = leave_shared};
