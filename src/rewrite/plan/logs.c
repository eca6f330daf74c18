/* Which accesses are written to the log (layout.h): those where loaded data decides on the address,
 * so that lanes would update counters anywhere, and perhaps all the same few. An entry is written
 * where the next one of the same lane is written, too, and costs as little as memory does; it is
 * counted when the kernel is over. */
#include "rewrite/counting/counting.h"
#include "rewrite/elements/elements.h"

/* Can one entry name that many counters? */
static bool is_entry(unsigned n)
{
    return n == 1 || n == 2 || n == 4 || n == 8;
}

static bool logs_elements(const rw_plan *p, const flow_function *f, uint32_t site)
{
    bool marks = rw_plan_has(p, REWRITE_TOUCH) && !rw_plan_has(p, REWRITE_FREQUENCY);
    return (marks || rw_plan_has(p, REWRITE_FREQUENCY)) && p->elements->slot_of[site] != IR_NONE &&
           !rw_is_in_walk(p, site) && !rw_left_walk(p, site) &&
           rw_pattern_of(p, f, site) >= RW_SCATTERED && !rw_is_strided(p, f, site) &&
           !rw_is_for_block(p, f, site) && !(marks && p->elements->merges[site].head != site);
}

static bool logs_shared(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return rw_plan_has(p, REWRITE_SHARED) && rw_may_be_shared(&p->sites[site]) &&
           !p->shared->by_place[site] && p->shared->table_of[site] == IR_NONE &&
           rw_is_loaded(p, f, site);
}

static unsigned kinds_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    if (!is_entry(rw_elements(&p->sites[site])))
        return 0;
    return (logs_elements(p, f, site) ? RW_LOGS_ELEMENTS : 0u) |
           (logs_shared(p, f, site) ? RW_LOGS_SHARED : 0u);
}

/* Of the kernel's own sites only: functions do not know the lane's place. Needs: sites, shared,
 * slots, walks, merges. Fills: logged. */
wl_status rw_pass_logs(rw_plan *p)
{
    const flow_function *f = &p->flow->funcs[0];
    bool bounded = true;
    p->logged = wl_new_array(p->arena, uint8_t, (size_t)p->nsites + 1);
    if (!p->logged)
        return WL_NOMEM;
    for (uint32_t s = rw_first_site(p, f); s < rw_end_of_sites(p, f); s++) {
        p->logged[s] = (uint8_t)kinds_of(p, f, s);
        p->out->logs |= p->logged[s] != 0;
        p->out->log_rows += (uint32_t)__builtin_popcount(p->logged[s]);
        bounded = bounded && (!p->logged[s] || f->loops.of[rw_block_of(p, f, s)] == FLOW_NONE);
    }
    if (!bounded)
        p->out->log_rows = 0;
    return WL_OK;
}
