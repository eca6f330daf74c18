/* Regions: code that lanes enter and leave together, of which one record of the trace tells.
 *
 * A region is a row of basic blocks in one loop without a cycle and without a call: it is entered
 * at the first only, left from the last only, and branches go forward. The lanes that are in the
 * last have all been in the first (what is assumed is that lanes which part at a branch meet again
 * where its ways do), and run each block once or not at all. A block that a branch leads past has a
 * bit: the record has those of the blocks that the lane ran. Blocks are told in the order of the
 * text, which is that of each lane.
 *
 * A base is a value, and the same value is written once: a piece refers to what a piece wrote that
 * dominates it. What is known before a loop whose records need it is written by the region that
 * computes it. Between that and its use the lane cannot have computed it anew without having
 * written it anew: all ways to the use lead through what wrote it. This holds for the kernel
 * itself; a function may call itself between the two. */
#include "rewrite/trace/trace.h"

/* ---- rows of bases ---- */

/* The next place in the record. Two narrow bases share a row. */
static void place_base(rw_piece *piece, bool narrow, uint32_t *row, bool *high)
{
    *high = narrow && piece->half;
    *row = *high ? piece->half : piece->rows++;
    if (narrow)
        piece->half = *high ? 0 : *row;
}

static uint8_t ran_of(const rw_plan *p, const flow_function *f, uint32_t block)
{
    return p->trace->ran_at[f->first_pc + f->blocks[block].first];
}

static bool is_narrow_register(const flow_function *f, uint32_t reg)
{
    return ir_type_get(f->func->regs[reg].type)->bits < 64;
}

/* The value that the site's base is, where pieces may share it; else FLOW_NONE. */
static uint32_t shared_value(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t value = p->addresses[site]->value;
    bool has = f->index == 0 && !p->trace->spots[site].alone && !p->trace->spots[site].var &&
               value != FLOW_NONE && f->values[value].reg == p->addresses[site]->operand->reg;
    return has ? value : FLOW_NONE;
}

/* ---- bases of other pieces ---- */

/* Keeps the base of a site that is written for it. */
static uint32_t keep_site_base(rw_plan *p, uint32_t site)
{
    const rewrite_spot *spot = &p->trace->spots[site];
    for (uint32_t i = 0; i < p->trace->nkeeps; i++)
        if (p->trace->keeps[i].piece == p->trace->piece_of[site] &&
            p->trace->keeps[i].keep.row == spot->row && p->trace->keeps[i].keep.high == spot->high)
            return i;
    if (p->trace->nkeeps == REWRITE_KEPT)
        return IR_NONE;
    p->trace->keeps[p->trace->nkeeps] = (rw_keep){
        p->trace->piece_of[site],
        {.row = spot->row, .slot = p->trace->nkeeps, .high = spot->high, .ran = spot->ran},
    };
    return p->trace->nkeeps++;
}

/* The base that an earlier piece, or this one where it is computed, writes for the site; IR_NONE:
 * none does. */
static uint32_t find_kept(rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t value = shared_value(p, f, site), from;
    if (value == FLOW_NONE)
        return IR_NONE;
    if (p->trace->keep_at[value] != IR_NONE)
        return p->trace->keep_at[value];
    from = p->trace->opened_at[value];
    if (from == IR_NONE || p->trace->piece_of[from] == p->trace->npieces - 1 ||
        !flow_dominates(&f->dom, rw_block_of(p, f, from), rw_block_of(p, f, site)))
        return IR_NONE;
    return keep_site_base(p, from);
}

static void spot_site(rw_plan *p, const flow_function *f, rw_piece *piece, uint32_t site)
{
    rewrite_spot *spot = &p->trace->spots[site];
    *spot = rw_spot_of(p, f, site);
    spot->ran = ran_of(p, f, rw_block_of(p, f, site));
    p->trace->piece_of[site] = (uint32_t)(piece - p->trace->pieces);
    piece->end = site + 1;
    if (spot->var)
        return;
    uint32_t kept = find_kept(p, f, site), base = rw_find_base(p, f, piece->first, site);
    if (kept != IR_NONE) {
        spot->kept = (uint8_t)(1 + p->trace->keeps[kept].keep.slot);
    } else if (base != site) {
        spot->row = p->trace->spots[base].row, spot->high = p->trace->spots[base].high;
    } else {
        uint32_t value = shared_value(p, f, site);
        p->trace->opens[site] = true;
        place_base(piece, spot->narrow, &spot->row, &spot->high);
        if (value != FLOW_NONE && p->trace->opened_at[value] == IR_NONE)
            p->trace->opened_at[value] = site;
    }
}

/* ---- bases that are written where they are computed ---- */

/* Does each use of the site's base in a loop find a value that was there before? */
static bool is_outer(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t loop = f->loops.of[rw_block_of(p, f, site)], value = p->addresses[site]->value;
    return loop != FLOW_NONE && value != FLOW_NONE && f->values[value].kind != FLOW_VALUE_ENTRY &&
           !flow_in_loop(&f->loops, loop, f->values[value].block);
}

/* Values of the kernel that loops need which do not compute them. */
static void find_outer(rw_plan *p, const flow_function *f, bool *outer)
{
    uint32_t end = p->site_first[p->code.first_pc[f->index + 1]];
    for (uint32_t s = p->site_first[f->first_pc]; s < end; s++) {
        if (p->trace->piece_of[s] != IR_NONE)
            continue;
        p->trace->spots[s] = rw_spot_of(p, f, s);
        if (is_outer(p, f, s) && shared_value(p, f, s) != FLOW_NONE)
            outer[p->addresses[s]->value] = true;
    }
}

static void keep_value_in_region(rw_plan *p, const flow_function *f, uint32_t value,
                                 rw_piece *piece)
{
    if (p->trace->nkeeps == REWRITE_KEPT)
        return;
    const flow_value *v = &f->values[value];
    rewrite_keep *keep = &p->trace->keeps[p->trace->nkeeps].keep;
    *keep = (rewrite_keep){.slot = p->trace->nkeeps, .ran = ran_of(p, f, v->block)};
    place_base(piece, is_narrow_register(f, v->reg), &keep->row, &keep->high);
    p->trace->keeps[p->trace->nkeeps].piece = (uint32_t)(piece - p->trace->pieces);
    p->trace->keep_at[value] = p->trace->nkeeps++;
}

static bool computes(const flow_function *f, uint32_t block, const bool *outer)
{
    for (uint32_t v = 0; outer && v < f->nvalues; v++)
        if (outer[v] && f->values[v].block == block)
            return true;
    return false;
}

/* ---- regions ---- */

static uint32_t sites_before(const rw_plan *p, const flow_function *f, uint32_t block)
{
    uint32_t insn = block < f->nblocks ? f->blocks[block].first : f->func->ninsns;
    return p->site_first[f->first_pc + insn];
}

/* Is something of the block told by its region? */
static bool is_told_by_region(const rw_plan *p, const flow_function *f, uint32_t block,
                              const bool *outer)
{
    return sites_before(p, f, block + 1) > sites_before(p, f, block) || computes(f, block, outer);
}

static bool has_call(const flow_function *f, const flow_block *block)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (f->func->insns[i].op == IR_call)
            return true;
    return false;
}

static bool is_plain(const rw_plan *p, const flow_function *f, uint32_t block)
{
    const flow_block *b = &f->blocks[block];
    uint32_t first = sites_before(p, f, block);
    bool of_loop = first < sites_before(p, f, block + 1) && p->trace->piece_of[first] != IR_NONE;
    return b->reached && !b->doomed && !of_loop && !has_call(f, b);
}

/* Do all ways to the block come from the region that begins with `first`? */
static bool comes_from(const flow_function *f, uint32_t first, uint32_t block)
{
    const flow_graph *g = &f->graph;
    for (uint32_t e = g->pred_first[block]; e < g->pred_first[block + 1]; e++)
        if (g->pred[e] < first || g->pred[e] >= block)
            return false;
    return true;
}

/* The furthest block that the block leads to; FLOW_NONE where one leads back, or out of the
 * function. */
static uint32_t leads_to(const flow_function *f, uint32_t block)
{
    const flow_graph *g = &f->graph;
    uint32_t furthest = block;
    for (uint32_t e = g->succ_first[block]; e < g->succ_first[block + 1]; e++) {
        if (g->succ[e] <= block || g->succ[e] >= f->nblocks)
            return FLOW_NONE;
        furthest = g->succ[e] > furthest ? g->succ[e] : furthest;
    }
    return furthest;
}

/* The last block of the region that begins with `first`, which is plain. Gives blocks that are
 * passed by their bits. */
static uint32_t end_of_region(rw_plan *p, const flow_function *f, uint32_t first, const bool *outer)
{
    uint32_t last = first, reach = first;
    unsigned bits = 0;
    for (uint32_t b = first; b < f->nblocks; b++) {
        if (!is_plain(p, f, b) || f->loops.of[b] != f->loops.of[first] ||
            (b > first && !comes_from(f, first, b)))
            break;
        if (reach <= b)
            last = b;
        else if (is_told_by_region(p, f, b, outer) && ++bits > REWRITE_RAN_BITS)
            break;
        else if (is_told_by_region(p, f, b, outer))
            p->trace->ran_at[f->first_pc + f->blocks[b].first] = (uint8_t)bits;
        uint32_t to = leads_to(f, b);
        if (to == FLOW_NONE)
            break;
        reach = to > reach ? to : reach;
    }
    for (uint32_t b = last + 1; b < f->nblocks; b++)
        p->trace->ran_at[f->first_pc + f->blocks[b].first] = 0;
    return last;
}

static void form_region(rw_plan *p, const flow_function *f, uint32_t first, uint32_t last,
                        const bool *outer)
{
    uint32_t site = sites_before(p, f, first), end = sites_before(p, f, last + 1);
    rw_piece *piece = rw_new_piece(p, f->index, site, FLOW_NONE);
    const flow_block *b = &f->blocks[last];
    piece->rows = 1, piece->block = first;
    for (uint32_t v = 0; outer && v < f->nvalues; v++)
        if (outer[v] && f->values[v].block >= first && f->values[v].block <= last)
            keep_value_in_region(p, f, v, piece);
    for (; site < end; site++)
        spot_site(p, f, piece, site);
    for (uint32_t n = first; n <= last; n++)
        piece->nbits += ran_of(p, f, n) != 0;
    p->trace->record_at[f->first_pc + b->first + b->count - 1] = (uint32_t)(piece -
                                                                            p->trace->pieces);
}

/* ---- basic blocks with calls, and those that fault ---- */

/* The last instruction of the basic block (ir/blocks.h) in which the site is. */
static uint32_t last_pc_of_block(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t pc = p->sites[site].pc, end = f->first_pc + f->func->ninsns;
    while (pc + 1 < end && !p->code.leader[pc + 1 + f->index])
        pc++;
    return pc;
}

static void form_blocks(rw_plan *p, const flow_function *f, uint32_t block)
{
    uint32_t end = sites_before(p, f, block + 1);
    for (uint32_t site = sites_before(p, f, block); site < end;) {
        rw_piece *piece = rw_new_piece(p, f->index, site, FLOW_NONE);
        uint32_t last = last_pc_of_block(p, f, site);
        piece->rows = 1, piece->block = block;
        for (; site < end && p->sites[site].pc <= last; site++)
            spot_site(p, f, piece, site);
        p->trace->record_at[last] = (uint32_t)(piece - p->trace->pieces);
    }
}

void rw_form_regions(rw_plan *p, uint32_t func)
{
    const flow_function *f = &p->flow->funcs[func];
    bool *outer = func == 0 ? flow_new(&p->flow->mem, bool, f->nvalues) : NULL;
    if (outer)
        find_outer(p, f, outer);
    for (uint32_t b = 0; b < f->nblocks; b++) {
        uint32_t first = sites_before(p, f, b), last = b;
        if (first < sites_before(p, f, b + 1) && p->trace->piece_of[first] != IR_NONE)
            continue;
        if (is_plain(p, f, b))
            last = end_of_region(p, f, b, outer);
        bool told = sites_before(p, f, last + 1) > first;
        for (uint32_t n = b; !told && n <= last; n++)
            told = is_plain(p, f, n) && computes(f, n, outer);
        if (told && is_plain(p, f, b))
            form_region(p, f, b, last, outer);
        else if (told)
            form_blocks(p, f, b);
        b = last;
    }
}
