/* touch: which elements of objects were touched.
 *
 * Needs: where the access lies in its slot's range (deferred.c). Keeps: everything. Buffers
 * (layout.h): marks, a byte for each element, and a bitmap. A mark is a plain store of 1: whoever
 * comes first, and however often, it is right. So nothing is read, nothing waits, and of lanes with
 * one address none has to be chosen: their stores are one. Of a block whose threads all have one
 * address its first stores; and what all blocks access alike, the first ones mark.
 *
 * Lanes look first only where stores would wait for each other: where many warps of the launch are
 * known to touch the same, and where lanes are scattered over a small object; these use the bitmap,
 * which stays in the multiprocessor's cache. So do lanes a line or more apart: the next warps mark
 * what lies beside, at the same time, and updates of a word get less into each other's way than
 * stores to it. All accesses of a basic block look before the first of them waits.
 *
 * With frequency there are no marks: what was counted was touched. */
#include "rewrite/elements/deferred.h"

bool rw_marks(const rw_body *b)
{
    return rw_has(b, REWRITE_TOUCH) && !rw_has(b, REWRITE_FREQUENCY);
}

/* ---- who looks first ---- */

enum {
    SMALL_BYTES = 1 << 20, /* of an object: its bitmap stays in the cache of a multiprocessor */
    /* The same where there is no room in the log: in a long row of loads, each look is waited for. */
    CROWDED_BYTES = 1 << 16,
    AT_ONCE = 4 /* accesses */
};

/* Dimensions whose first index marks for all (GMProf's thread-invariant accesses, over the whole
 * launch). */
static uint32_t spared_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return rw_is_for_all(p, f, site) ? rw_reuse_of(p, f, site) : 0;
}

/* A set of dimensions as in rw_crowd_of(), whose predicate is found once, where the copy begins; 0:
 * none. */
static uint32_t common_reuse(const rw_body *b)
{
    uint32_t end = rw_end_of_sites(b->plan, b->f);
    for (uint32_t s = rw_first_site(b->plan, b->f); s < end; s++)
        if (b->plan->elements->slot_of[s] != IR_NONE && !rw_is_in_walk(b->plan, s) &&
            rw_crowd_of(b->plan, b->f, s))
            return rw_crowd_of(b->plan, b->f, s);
    return 0;
}

static void declare_touch(rw_body *b)
{
    if (rw_marks(b))
        b->elements.reused = rw_declare(b, RW_PRED, "reused", IR_NONE);
}

static void enter_touch(rw_body *b)
{
    uint32_t set = rw_marks(b) ? common_reuse(b) : 0;
    if (set)
        rw_is_reused(b, set, b->elements.reused);
}

/* Do lanes go wherever data or a stride says? */
static bool is_scattered(const rw_body *b, uint32_t site)
{
    return !rw_left_walk(b->plan, site) && rw_pattern_of(b->plan, b->f, site) >= RW_SCATTERED;
}

/* The predicate, the same for all threads, that says whether lanes look first; none: they never
 * do. */
static rw_opd find_look(rw_body *b, uint32_t site)
{
    uint32_t set = rw_crowd_of(b->plan, b->f, site);
    if (is_scattered(b, site)) {
        bool logs = rw_logs(b, site, RW_LOGS_ELEMENTS);
        return rw_get(b, setp_le_u64, rw_slot_of_site(b, site).size,
                      rw_number(logs ? CROWDED_BYTES : SMALL_BYTES));
    }
    if (set && set == common_reuse(b))
        return b->elements.reused;
    if (!set)
        return (rw_opd){0};
    rw_reg look = rw_temp(b, RW_PRED);
    rw_is_reused(b, set, look);
    return look;
}

/* ---- one access ---- */

/* Sets n marks from `at` on, in the lanes of the predicate. An access of n elements is aligned to
 * n. */
static void set_marks(rw_body *b, unsigned n, rw_opd at, rw_reg lanes)
{
    switch (n) {
    case 2: rw_when(b, lanes, st_global_u16, at, rw_number(0x0101)); break;
    case 4: rw_when(b, lanes, st_global_u32, at, rw_number(0x01010101)); break;
    case 8: rw_when(b, lanes, st_global_u64, at, rw_number(0x0101010101010101)); break;
    default:
        for (unsigned e = 0; e < n; e++)
            rw_when(b, lanes, st_global_u8, rw_at(at, at.value + e), rw_number(1));
    }
}

/* The mark of the lane's first element. */
static rw_reg find_mark(rw_body *b, rw_reg table, rw_reg at)
{
    rw_reg mark = rw_get(b, shr_u64, at, rw_number(2));
    rw_do(b, add_s64, mark, mark, table);
    return mark;
}

void rw_mark(rw_body *b, unsigned n, rw_reg table, rw_reg at, rw_reg in, rw_opd looks)
{
    rw_reg mark = find_mark(b, table, at);
    if (!rw_is_some(looks) || n > 1) { /* the first says nothing about the others */
        set_marks(b, n, rw_at(mark, 0), in);
        return;
    }
    rw_reg look = rw_get(b, and_pred, in, looks);
    rw_reg known = rw_get(b, mov_u32, rw_number(0));
    rw_when(b, look, ld_global_u8, known, rw_at(mark, 0));
    rw_reg is_new = rw_get(b, setp_eq_and_u32, known, rw_number(0), in);
    set_marks(b, n, rw_at(mark, 0), is_new);
}

/* The bits of n elements, in their word of the bitmap. */
static rw_reg element_mask(rw_body *b, unsigned n, rw_reg element)
{
    return rw_get(b, shf_l_wrap_b32, rw_number(0), rw_number((1u << n) - 1), element);
}

static void set_bits(rw_body *b, unsigned n, rw_reg table, const rw_found *found)
{
    rw_reg word = rw_get(b, shr_u64, found->at, rw_number(7));
    rw_do(b, shl_b64, word, word, rw_number(2));
    rw_do(b, add_s64, word, word, table);
    rw_reg element = rw_get(b, cvt_u32_u64, found->at);
    rw_do(b, shr_u32, element, element, rw_number(2));
    rw_reg bits = element_mask(b, n, element);
    rw_when(b, found->in, red_global_or_b32, rw_at(word, 0), bits);
}

/* Of several sites, whose elements are aligned to 4 bytes at least: several at once where they are
 * aligned to more. */
static void mark_joined(rw_body *b, unsigned n, rw_reg table, const rw_found *found)
{
    unsigned width = n % 8 == 0 ? 8 : n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
    rw_reg mark = find_mark(b, table, found->at);
    rw_reg low = rw_get(b, cvt_u32_u64, mark);
    rw_do(b, and_b32, low, low, rw_number(width - 1));
    rw_reg aligned = rw_temp(b, RW_PRED), other = rw_temp(b, RW_PRED);
    rw_do(b, setp_eq_and_u32__both, aligned, other, low, rw_number(0), found->in);
    for (unsigned e = 0; e < n; e += width)
        set_marks(b, width, rw_at(mark, e), aligned);
    for (unsigned e = 0; width > 1 && e < n; e++)
        set_marks(b, 1, rw_at(mark, e), other);
}

/* ---- accesses of a basic block ---- */

static bool is_given(const rw_body *b, uint32_t n)
{
    return rw_is_given(b, b->plan->elements->slot_of[b->elements.deferred[n].site]);
}

static bool may_look(const rw_body *b, uint32_t n)
{
    const rw_deferred *d = &b->elements.deferred[n];
    return is_given(b, n) && !d->joined &&
           (is_scattered(b, d->site) || rw_crowd_of(b->plan, b->f, d->site));
}

/* Leaves in found->in only the lanes that mark for others. */
static void spare_lanes(rw_body *b, uint32_t site, const rw_found *found)
{
    uint32_t spared = spared_of(b->plan, b->f, site);
    if (rw_is_for_block(b->plan, b->f, site))
        rw_do(b, and_pred, found->in, found->in, b->elements.begins);
    if (spared)
        rw_do(b, and_pred, found->in, found->in, rw_is_first(b, spared));
}

static bool is_logged(const rw_body *b, const rw_deferred *d)
{
    return !d->joined && rw_logs(b, d->site, RW_LOGS_ELEMENTS);
}

/* Gives the lanes for which there is no room in the log. */
static rw_reg log_marks(rw_body *b, const rw_deferred *d, const rw_found *found)
{
    rw_slot_registers slot = rw_slot_of_site(b, d->site);
    if (rw_may_be_beside(b, d->site)) {
        rw_reg mark = find_mark(b, slot.lines, found->at);
        rw_reg beside = rw_find_beside(b, d->elements, mark, found->in);
        set_marks(b, d->elements, rw_at(mark, 0), beside);
        rw_do(b, and_pred, found->in, found->in, rw_get(b, not_pred, beside));
    }
    return rw_log_marks(b, d->elements, slot.lines, found->at, found->in);
}

/* Marks without looking. Changes looks: some do look, or have no room in the log. */
static void mark_at_once(rw_body *b, const rw_deferred *d, const rw_found *found, rw_reg looks)
{
    spare_lanes(b, d->site, found);
    rw_slot_registers slot = rw_slot_of_site(b, d->site);
    if (d->joined) {
        mark_joined(b, d->elements, slot.lines, found);
        return;
    }
    if (is_logged(b, d)) {
        rw_do(b, or_pred, looks, looks, log_marks(b, d, found));
        return;
    }
    rw_opd look = find_look(b, d->site);
    if (rw_is_some(look)) {
        rw_do(b, or_pred, looks, looks, look);
        rw_do(b, and_pred, found->in, found->in, rw_get(b, not_pred, look));
    }
    if (is_scattered(b, d->site) && rw_is_strided(b->plan, b->f, d->site))
        set_bits(b, d->elements, slot.bits, found);
    else
        rw_mark(b, d->elements, slot.lines, found->at, found->in, (rw_opd){0});
}

/* ---- accesses at fixed distances ---- */

/* Is the access marked by whoever makes it, whatever the lanes are? */
static bool is_marked_plainly(const rw_body *b, uint32_t n)
{
    const rw_deferred *d = &b->elements.deferred[n];
    return is_given(b, n) && !d->joined && !may_look(b, n) && !is_scattered(b, d->site) &&
           !rw_is_for_block(b->plan, b->f, d->site) && !spared_of(b->plan, b->f, d->site);
}

/* Are the two apart by a number of elements? */
static bool are_in_step(const rw_body *b, uint32_t m, uint32_t n)
{
    const rw_deferred *one = &b->elements.deferred[m], *other = &b->elements.deferred[n];
    return is_marked_plainly(b, m) && is_marked_plainly(b, n) && one->base == other->base &&
           b->plan->elements->slot_of[one->site] == b->plan->elements->slot_of[other->site] &&
           (one->offset - other->offset) % 4 == 0;
}

rw_deferred rw_find_in_step(const rw_body *b, uint32_t i, uint32_t n)
{
    rw_deferred all = b->elements.deferred[i];
    int64_t low = all.offset, high = low;
    for (uint32_t k = 0; k < n; k++) {
        int64_t at = b->elements.deferred[k].offset;
        if (!are_in_step(b, i, k))
            continue;
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    if (low < high) {
        all.joined = true;
        all.offset = low;
        all.elements = (uint32_t)((high - low) / 4 + 1);
    }
    return all;
}

/* Is it marked with one that comes before? */
static bool follows_in_step(const rw_body *b, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (are_in_step(b, k, i))
            return true;
    return false;
}

/* What a lane has looked at: the mark, or the word of the bitmap, and what is there. */
typedef struct looked {
    rw_reg at, known;
} looked;

/* Leaves in found->in only the lanes for which there is no room in the log, and marks where these
 * do not look. The entry may be the last; then it is told twice. */
static void mark_what_log_lacks(rw_body *b, const rw_deferred *d, const rw_found *found,
                                rw_opd looks)
{
    rw_do(b, and_pred, found->in, found->in, rw_log_is_full(b));
    rw_reg lanes = rw_get(b, and_pred, found->in, rw_get(b, not_pred, looks));
    rw_mark(b, d->elements, rw_slot_of_site(b, d->site).lines, found->at, lanes, (rw_opd){0});
}

static looked look_first(rw_body *b, const rw_deferred *d)
{
    bool scattered = is_scattered(b, d->site);
    rw_slot_registers slot = rw_slot_of_site(b, d->site);
    rw_reg from;
    rw_found found = rw_find_deferred(b, d, NULL, &from, (rw_reg){0});
    rw_opd look = find_look(b, d->site);
    if (is_logged(b, d))
        mark_what_log_lacks(b, d, &found, look);
    rw_reg lanes = rw_get(b, and_pred, found.in, look);
    looked l = {.at = rw_get(b, shr_u64, found.at, rw_number(scattered ? 7 : 2))};
    if (scattered)
        rw_do(b, shl_b64, l.at, l.at, rw_number(2));
    rw_do(b, add_s64, l.at, l.at, scattered ? slot.bits : slot.lines);
    l.known = rw_get(b, mov_u32, rw_number(-1));
    if (scattered)
        rw_when(b, lanes, ld_global_u32, l.known, rw_at(l.at, 0));
    else if (rw_elements(&b->plan->sites[d->site]) >
             1) /* the first says nothing about the others */
        rw_when(b, lanes, mov_u32, l.known, rw_number(0));
    else
        rw_when(b, lanes, ld_global_u8, l.known, rw_at(l.at, 0));
    return l;
}

static void set_unseen(rw_body *b, const rw_deferred *d, const looked *l)
{
    unsigned n = rw_elements(&b->plan->sites[d->site]);
    if (!is_scattered(b, d->site)) {
        rw_reg is_new = rw_get(b, setp_eq_u32, l->known, rw_number(0));
        set_marks(b, n, rw_at(l->at, 0), is_new);
        return;
    }
    rw_reg element = rw_get(b, cvt_u32_u64, b->elements.kept[d->base]);
    rw_do(b, add_u32, element, element, rw_number((int)d->offset));
    /* Objects in slots begin at multiples of 128, so this is the element's place in its word. */
    rw_do(b, shr_u32, element, element, rw_number(2));
    rw_reg bits = element_mask(b, n, element);
    rw_reg is_new = rw_get(b, not_b32, l->known);
    rw_do(b, and_b32, is_new, is_new, bits);
    rw_reg any = rw_get(b, setp_ne_u32, is_new, rw_number(0));
    rw_when(b, any, red_global_or_b32, rw_at(l->at, 0), is_new);
}

static bool some_look(const rw_body *b, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (may_look(b, i))
            return true;
    return false;
}

/* Of those from `first` on as many as look together before the first of them is waited for: more
 * would take registers. */
static uint32_t find_end_of_turn(const rw_body *b, uint32_t first, uint32_t n)
{
    uint32_t looking = 0, end = first;
    for (; end < n && !(looking == AT_ONCE && may_look(b, end)); end++)
        looking += may_look(b, end);
    return end;
}

/* Those of the turn that look, and what is not in the log for want of room. */
static void mark_looking(rw_body *b, uint32_t first, uint32_t end, rw_reg looks)
{
    rw_label done = rw_new_label(b, "looked");
    looked seen[AT_ONCE];
    uint32_t count = 0;
    if (!some_look(b, first, end))
        return;
    rw_goto_if(b, rw_not(looks), done);
    for (uint32_t i = first; i < end; i++)
        if (may_look(b, i))
            seen[count++] = look_first(b, &b->elements.deferred[i]);
    count = 0;
    for (uint32_t i = first; i < end; i++)
        if (may_look(b, i))
            set_unseen(b, &b->elements.deferred[i], &seen[count++]);
    rw_put_label(b, done);
}

/* Do all that may look do so only where there is no room in the log? Then code for it is seldom
 * run. */
static bool looks_seldom(const rw_body *b, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (may_look(b, i) && !is_logged(b, &b->elements.deferred[i]))
            return false;
    return true;
}

/* Marks access i, and those of the n that are in step with it: the range is looked at once. */
static rw_found mark_in_step(rw_body *b, uint32_t i, uint32_t n, rw_reg *from)
{
    rw_deferred all = rw_find_in_step(b, i, n);
    rw_found found = rw_find_deferred(b, &all, NULL, from, (rw_reg){0});
    rw_reg mark = find_mark(b, rw_slot_of_site(b, all.site).lines, found.at);
    for (uint32_t k = i; k < n; k++) {
        const rw_deferred *d = &b->elements.deferred[k];
        if (are_in_step(b, i, k))
            set_marks(b, d->elements, rw_at(mark, (d->offset - all.offset) / 4), found.in);
    }
    return found;
}

/* Those that the host gives ranges of. Changes `out`: some are not in theirs; and `unlogged`: for
 * some there is no room in the log. */
static void mark_turn(rw_body *b, uint32_t first, uint32_t end, uint32_t n, rw_reg out,
                      rw_reg unlogged)
{
    const rw_temps temps = rw_temps_now(b);
    const rw_deferred *before = NULL;
    bool seldom = looks_seldom(b, first, end);
    rw_reg looks = seldom ? unlogged : rw_nowhere(b), from = {0};
    for (uint32_t i = first; i < end; i++) {
        const rw_deferred *d = &b->elements.deferred[i];
        if (!is_given(b, i) || follows_in_step(b, i))
            continue;
        if (is_marked_plainly(b, i)) {
            rw_do(b, or_pred, out, out, mark_in_step(b, i, n, &from).out);
        } else {
            rw_found found = rw_find_deferred(b, d, before, &from, (rw_reg){0});
            rw_do(b, or_pred, out, out, found.out);
            mark_at_once(b, d, &found, looks);
        }
        before = d;
    }
    if (!seldom)
        mark_looking(b, first, end, looks);
    rw_temps_back(b, &temps);
}

/* To remember for longer what had no room would take registers. */
static void mark_unlogged_now(rw_body *b, uint32_t first, uint32_t end, rw_reg unlogged)
{
    rw_label rest = rw_new_label(b, "full"), noted = rw_new_label(b, "logged");
    if (!some_look(b, first, end) || !looks_seldom(b, first, end))
        return;
    if (b->depth == 0)
        rw_goto_if(b, unlogged, rest);
    ptx_text *out = rw_begin_rest(b, rest);
    rw_mark_unlogged(b, first, end, unlogged);
    rw_end_rest(b, noted, out);
    rw_do(b, setp_ne_u32, unlogged, b->lane, b->lane);
}

uint32_t rw_mark_deferred(rw_body *b, uint32_t n, rw_reg out, rw_reg unlogged)
{
    uint32_t first = 0, end = find_end_of_turn(b, 0, n);
    for (; end < n; first = end, end = find_end_of_turn(b, first, n)) {
        mark_turn(b, first, end, n, out, unlogged);
        mark_unlogged_now(b, first, end, unlogged);
    }
    mark_turn(b, first, end, n, out, unlogged);
    return first;
}

void rw_mark_unlogged(rw_body *b, uint32_t first, uint32_t end, rw_reg unlogged)
{
    rw_label done = rw_new_label(b, "looked");
    if (!some_look(b, first, end) || !looks_seldom(b, first, end))
        return;
    rw_goto_if(b, rw_not(unlogged), done);
    for (uint32_t i = first; i < end; i++) {
        const rw_temps temps = rw_temps_now(b);
        if (may_look(b, i)) {
            looked l = look_first(b, &b->elements.deferred[i]);
            set_unseen(b, &b->elements.deferred[i], &l);
        }
        rw_temps_back(b, &temps);
    }
    rw_put_label(b, done);
}

const rw_emitter rw_emitter_touch = {
    .probes = 1u << REWRITE_TOUCH, .declare = declare_touch, .enter = enter_touch};
