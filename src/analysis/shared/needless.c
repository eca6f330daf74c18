/* Barriers that order nothing that another thread accesses, or lanes of single warps alone (order.h).
 *
 * The cost is how often warps come to them. What that takes is predicted, and only told where it is
 * worth the change: a barrier that nobody needs is no fault in itself. */
#include "analysis/detect.h"
#include "analysis/shared/order.h"

#include <string.h>

typedef struct work {
    const ana_input *input;
    order_barriers all;
    double gone, eased; /* executions of those that can go, and of those that warps keep */
    uint32_t lines;     /* of either */
} work;

/* ---- the same line in other kernels ---- */

static bool is_at(const order_barrier *a, const order_barrier *b)
{
    return a->file == b->file && a->line == b->line;
}

static footprint_order more_needed(footprint_order a, footprint_order b)
{
    return a > b ? a : b;
}

static bool is_barrier_at(const prof_code *code, const order_barrier *at)
{
    return strncmp(code->op, "bar", 3) == 0 && code->file == at->file && code->line == at->line;
}

/* What kernel needs the barriers of the line for: all that it has there, if it was not followed. */
static footprint_order needs_there(const prof_code_rows *code, const order_barriers *all,
                                   const order_barrier *at)
{
    footprint_order needs = FOOTPRINT_APART;
    for (uint32_t i = 0; i < code->count && !all->known; i++)
        if (is_barrier_at(&code->rows[i], at))
            return FOOTPRINT_BLOCK;
    for (uint32_t i = 0; i < all->count; i++)
        if (is_at(&all->rows[i], at))
            needs = more_needed(needs, all->rows[i].needs);
    return needs;
}

static bool shares_lines(const work *w, const prof_code_rows *code)
{
    for (uint32_t i = 0; i < code->count; i++)
        for (uint32_t k = 0; k < w->all.count; k++)
            if (w->all.rows[k].line && w->all.rows[k].needs != FOOTPRINT_BLOCK &&
                is_barrier_at(&code->rows[i], &w->all.rows[k]))
                return true;
    return false;
}

static wl_status add_needs(work *w, const prof_kernel *kernel, wl_arena *arena, wl_error *err)
{
    ana_input other = {
        .program = w->input->program, .kernel = kernel, .scratch = arena, .arena = arena};
    order_barriers all = {0};
    wl_status status = prof_load_code(other.program->db, kernel->id, arena, &other.code, err);
    if (status != WL_OK || !shares_lines(w, &other.code))
        return status;
    status = ana_input_load(&other, err);
    status = status == WL_OK ? order_of(&other, &all, err) : status;
    for (uint32_t i = 0; i < w->all.count && status == WL_OK; i++)
        if (w->all.rows[i].line)
            w->all.rows[i].needs = more_needed(w->all.rows[i].needs,
                                               needs_there(&other.code, &all, &w->all.rows[i]));
    return status;
}

/* Instances of a template, and kernels that call one function, have its lines in common. */
static wl_status ask_other_kernels(work *w, wl_error *err)
{
    const prof_kernel_rows *kernels = &w->input->program->kernels;
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < kernels->count && status == WL_OK; i++) {
        wl_arena *arena = wl_arena_new();
        if (kernels->rows[i].id != w->input->kernel->id)
            status = arena ? add_needs(w, &kernels->rows[i], arena, err) : ana_nomem(err);
        wl_arena_free(arena);
    }
    return status;
}

/* ---- what it costs ---- */

static bool is_first_of_line(const work *w, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (w->all.rows[i].needs != FOOTPRINT_BLOCK && is_at(&w->all.rows[i], &w->all.rows[at]))
            return false;
    return true;
}

static void sum_executions(work *w)
{
    for (uint32_t i = 0; i < w->all.count; i++) {
        const order_barrier *b = &w->all.rows[i];
        w->gone += b->needs == FOOTPRINT_APART ? (double)b->executions : 0;
        w->eased += b->needs == FOOTPRINT_WARPS ? (double)b->executions : 0;
        w->lines += b->needs != FOOTPRINT_BLOCK && is_first_of_line(w, i);
    }
}

static bool charge_executions(const work *w, ana_draft *d)
{
    double all = w->input->totals[ANA_BARRIERS];
    uint32_t *places = wl_new_array(w->input->scratch, uint32_t, w->all.count);
    double *excess = wl_new_array(w->input->scratch, double, w->all.count);
    d->places = places;
    d->place_excess = excess;
    for (uint32_t i = 0; places && excess && i < w->all.count; i++) {
        if (w->all.rows[i].needs == FOOTPRINT_BLOCK)
            continue;
        places[d->nplaces] = w->all.rows[i].pc;
        excess[d->nplaces++] = (double)w->all.rows[i].executions;
    }
    d->excess = d->alone = w->gone + w->eased;
    d->barriers = all > 0 ? w->gone / all : 0;
    d->warp_barriers = all > 0 ? w->eased / all : 0;
    return places && excess;
}

/* ---- what is said ---- */

/* "lines 12, 14 and 20" of those that need so much; in the order of the code. */
static const char *lines_of(const work *w, footprint_order needs)
{
    const char *text = "", *last = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->all.count && text; i++) {
        const order_barrier *b = &w->all.rows[i];
        if (b->needs != needs || !is_first_of_line(w, i))
            continue;
        if (last)
            text = wl_arena_printf(w->input->arena, "%s%s%s", text, count > 1 ? ", " : "", last);
        last = wl_arena_printf(w->input->arena, "%u", b->line);
        count++;
    }
    if (!text || !last)
        return NULL;
    return count == 1 ? wl_arena_printf(w->input->arena, "line %s", last)
                      : wl_arena_printf(w->input->arena, "lines %s and %s", text, last);
}

static const char *remedy_of(const work *w)
{
    bool known = w->all.rows[0].line != 0;
    const char *gone = w->gone > 0 && w->eased > 0 ? lines_of(w, FOOTPRINT_APART) : "";
    const char *eased = w->gone > 0 && w->eased > 0 ? lines_of(w, FOOTPRINT_WARPS) : "";
    if (!gone || !eased)
        return NULL;
    if (w->gone > 0 && w->eased > 0 && known)
        return wl_arena_printf(
            w->input->arena,
            "Leave out the __syncthreads() of %s, and let __syncwarp() take the "
            "place of that of %s: the code shows that no warp takes or overwrites there "
            "what another one accesses. All other barriers stay.",
            gone, eased);
    if (w->eased > 0)
        return "Let __syncwarp() take the place of the __syncthreads() of these lines: the code "
               "shows "
               "that no warp takes or overwrites what another one accesses across them. All other "
               "barriers stay.";
    if (!known)
        return "Leave out the kernel's __syncthreads(): the code shows that no thread takes or "
               "overwrites what another one accesses across them.";
    return "Leave out the __syncthreads() of these lines: the code shows that no thread takes or "
           "overwrites what another one accesses across them. All other barriers stay.";
}

static bool set_words_of_barriers(const work *w, ana_draft *d)
{
    double all = w->input->totals[ANA_BARRIERS];
    ana_add_evidence(d, "barriers", "barriers that warps come to", all, "");
    ana_add_evidence(d, "superfluous", "of those that can go", w->gone, "");
    ana_add_evidence(d, "of_warps", "of those that warps can keep by themselves", w->eased, "");
    d->kind = w->eased > 0 ? REMEDY_WARP_BARRIERS : REMEDY_NO_BARRIERS;
    d->remedy = remedy_of(w);
    d->summary = wl_arena_printf(
        w->input->arena,
        "Of the barriers that warps come to, %.3g %% order nothing between %s: neither in shared "
        "nor "
        "in global memory does one access what another one stores, before and after them.",
        all > 0 ? 100 * (w->gone + w->eased) / all : 0,
        w->eased > 0 ? "different warps" : "different threads");
    return d->remedy && d->summary;
}

static bool draft_barriers(const work *w, ana_drafts *drafts)
{
    ana_draft *d = ana_draft_add(drafts, w->input, ANA_SUPERFLUOUS_BARRIER);
    if (!d || !charge_executions(w, d))
        return false;
    d->launches = 0;
    return set_words_of_barriers(w, d);
}

wl_status ana_detect_barriers(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    work w = {.input = input};
    wl_status status = order_of(input, &w.all, err);
    bool some = false;
    for (uint32_t i = 0; i < w.all.count; i++)
        some |= w.all.rows[i].needs != FOOTPRINT_BLOCK && w.all.rows[i].executions;
    if (status != WL_OK || !some)
        return status;
    status = ask_other_kernels(&w, err);
    sum_executions(&w);
    if (status != WL_OK || !(w.gone + w.eased > 0))
        return status;
    return draft_barriers(&w, drafts) ? WL_OK : ana_nomem(err);
}
