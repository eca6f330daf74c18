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
#include "rewrite/code/body.h"

#include <stddef.h>
#include <stdlib.h>

bool rw_counts_shared(const rw_body *b, uint32_t site)
{
    return rw_has(b, REWRITE_SHARED) && rw_may_be_shared(&b->plan->sites[site]) &&
           !b->plan->shared->by_place[site];
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
    return rw_counts_shared(b, site) && b->plan->shared->table_of[site] == IR_NONE &&
           rw_counts_lanes(b, site);
}

/* ---- counters in shared memory ---- */

/* Behind the tables: where lanes count that miss their array, and behind that where those do that access nothing. */
static uint32_t missed_at(const rw_plan *p)
{
    return p->shared->table_bytes - 2 * RW_NOWHERE_BYTES;
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
    each_word(b, 0, b->plan->shared->table_bytes, clear_word, 0);
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
    for (uint32_t t = 0; t < b->plan->shared->ntables; t++) {
        const rw_table *table = &b->plan->shared->tables[t];
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
    const rw_table *table = &b->plan->shared->tables[b->plan->shared->table_of[site]];
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
        rw_line(b, "add.u32 __wl_u, __wl_u, %u;", RW_NOWHERE_BYTES);
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
        if (b->plan->shared->place_of[n] != IR_NONE)
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
    if (b->index == 0 && b->plan->shared->place_of[block] != IR_NONE)
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
    find_place(b, b->plan->shared->place_of[block]);
    rw_line(b, "setp.ne.u32 __wl_p, __wl_times%u, 0;", block);
    rw_line(b, "@__wl_p red.global.add.u32 [__wl_y], __wl_times%u;", block);
    clear_times(b, block);
}

static void leave(rw_body *b)
{
    if (b->index == 0 && b->plan->shared->ntables)
        publish_tables(b);
    if (b->index != 0 || !b->plan->shared->ntimes)
        return;
    find_places(b);
    each_times(b, publish_times);
}

static void count_edge(rw_body *b, uint32_t edge)
{
    if (!(b->plan->control->edges[edge].probes >> REWRITE_SHARED & 1))
        return;
    find_places(b);
    find_place(b, b->plan->control->edges[edge].place);
    rw_line(b, "red.global.add.u32 [__wl_y], 1;");
}

/* ---- by address ---- */

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_shared;\n\t.reg .b32 __wl_limit;\n");
    if (b->index == 0 && b->plan->shared->table_bytes)
        rw_line(b, ".shared .align 16 .b8 __wl_tables[%u];", b->plan->shared->table_bytes);
    each_times(b, declare_times);
}

static void enter(rw_body *b)
{
    each_times(b, clear_times);
    if (b->index == 0 && b->plan->shared->ntables)
        clear_tables(b);
    if (b->plan->shared->counts_directly)
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
    if (b->plan->shared->table_of[site] != IR_NONE) {
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

const rw_emitter rw_shared_emitter = {.probes = 1u << REWRITE_SHARED,
                                      .declare = declare,
                                      .enter = enter,
                                      .start = start,
                                      .access = count_shared,
                                      .edge = count_edge,
                                      .leave = leave};
