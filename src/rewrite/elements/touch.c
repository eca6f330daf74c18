/* touch: which elements of objects were touched.
 *
 * Needs: ranges.c (__wl_in, __wl_x). Keeps: everything. Buffers (layout.h): marks, a byte for each element, and a bitmap. A mark is a plain store of 1: whoever comes first, and however often, it is right. So nothing is read, nothing waits, and of
 * lanes with one address none has to be chosen: their stores are one. Of a block whose threads all have one address its first stores; and what
 * all blocks access alike, the first ones mark.
 *
 * Lanes look first only where stores would wait for each other: where many warps of the launch are known to touch the same, and where
 * lanes are scattered over a small object; these use the bitmap, which stays in the multiprocessor's cache. So do lanes a line or more
 * apart: the next warps mark what lies beside, at the same time, and updates of a word get less into each other's way than stores to it. All accesses of a basic block
 * look before the first of them waits.
 *
 * With frequency there are no marks: what was counted was touched. */
#include "rewrite/code/body.h"

#include <stdio.h>

bool rw_marks(const rw_body *b)
{
    return rw_has(b, REWRITE_TOUCH) && !rw_has(b, REWRITE_FREQUENCY);
}

/* ---- who looks first ---- */

enum {
    SMALL_BYTES = 1 << 20, /* of an object: its bitmap stays in the cache of a multiprocessor */
    AT_ONCE = 4            /* accesses */
};

/* Dimensions whose first index marks for all (GMProf's thread-invariant accesses, over the whole launch). */
static uint32_t spared_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return rw_is_for_all(p, f, site) ? rw_reuse_of(p, f, site) : 0;
}

/* A set of dimensions as in rw_crowd_of(), whose predicate is found once, where the copy begins; 0: none. */
static uint32_t common_reuse(const rw_body *b)
{
    uint32_t first = b->plan->site_first[b->f->first_pc],
             end = b->plan->site_first[b->f->first_pc + b->f->func->ninsns];
    for (uint32_t s = first; s < end; s++)
        if (b->plan->elements->slot_of[s] != IR_NONE &&
            b->plan->elements->walk[s].loop == FLOW_NONE && rw_crowd_of(b->plan, b->f, s))
            return rw_crowd_of(b->plan, b->f, s);
    return 0;
}

static void declare(rw_body *b)
{
    if (!rw_marks(b))
        return;
    rw_text(b, "\t.reg .pred __wl_reused, __wl_look, __wl_looks, __wl_missed, __wl_lost;\n"
               "\t.reg .b32 __wl_turn, __wl_many;\n");
    for (unsigned i = 0; i < RW_DEFERRED; i++)
        rw_line(b, ".reg .b64 __wl_m%u;\n\t.reg .b32 __wl_s%u;", i, i);
}

static void enter(rw_body *b)
{
    uint32_t set = rw_marks(b) ? common_reuse(b) : 0;
    if (set)
        rw_is_reused(b, set, "__wl_reused");
}

/* Do lanes go wherever data or a stride says? */
static bool is_scattered(const rw_body *b, uint32_t site)
{
    return rw_pattern_of(b->plan, b->f, site) >= RW_SCATTERED;
}

/* The predicate, the same for all threads, that says whether lanes look first; NULL: they never do. */
static const char *find_look(rw_body *b, uint32_t site)
{
    uint32_t set = rw_crowd_of(b->plan, b->f, site);
    if (is_scattered(b, site))
        rw_line(b, "setp.le.u64 __wl_look, __wl_size%u, %u;", b->plan->elements->slot_of[site],
                SMALL_BYTES);
    else if (set && set == common_reuse(b))
        return "__wl_reused";
    else if (set)
        rw_is_reused(b, set, "__wl_look");
    else
        return NULL;
    return "__wl_look";
}

/* ---- one access ---- */

/* Sets n marks from `at` on, in the lanes of the predicate. An access of n elements is aligned to n. */
static void set_marks(rw_body *b, unsigned n, const char *at, const char *lanes)
{
    bool together = n <= 8 && (n & (n - 1)) == 0;
    uint64_t ones = UINT64_C(0x0101010101010101) >> (together ? 64 - 8 * n : 0);
    if (together)
        rw_line(b, "@%s st.global.u%u [%s], %llu;", lanes, 8 * n, at, (unsigned long long)ones);
    for (unsigned e = 0; !together && e < n; e++)
        rw_line(b, "@%s st.global.u8 [%s+%u], 1;", lanes, at, e);
}

/* __wl_y: the mark of the lane's first element at __wl_x. */
static void find_mark(rw_body *b, const char *table)
{
    rw_text(b, "\tshr.u64 __wl_y, __wl_x, 2;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, %s;", table);
}

void rw_mark(rw_body *b, unsigned n, const char *table, const char *looks)
{
    find_mark(b, table);
    if (!looks || n > 1) { /* the first says nothing about the others */
        set_marks(b, n, "__wl_y", "__wl_in");
        return;
    }
    rw_line(b, "and.pred __wl_q, __wl_in, %s;", looks);
    rw_text(b, "\tmov.u32 __wl_t, 0;\n"
               "\t@__wl_q ld.global.u8 __wl_t, [__wl_y];\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, 0, __wl_in;\n");
    set_marks(b, n, "__wl_y", "__wl_p");
}

/* Bits of n elements at __wl_x, where __wl_in is set. */
static void set_bits(rw_body *b, unsigned n, uint32_t slot)
{
    rw_text(b, "\tshr.u64 __wl_y, __wl_x, 7;\n\tshl.b64 __wl_y, __wl_y, 2;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, __wl_bits%u;", slot);
    rw_text(b, "\tcvt.u32.u64 __wl_u, __wl_x;\n\tshr.u32 __wl_u, __wl_u, 2;\n");
    rw_line(b, "shf.l.wrap.b32 __wl_u, 0, %u, __wl_u;", (1u << n) - 1);
    rw_text(b, "\t@__wl_in red.global.or.b32 [__wl_y], __wl_u;\n");
}

/* Of several sites, whose elements are aligned to 4 bytes at least: several at once where they are aligned to more. */
static void mark_joined(rw_body *b, unsigned n, const char *table)
{
    unsigned width = n % 8 == 0 ? 8 : n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
    char at[32];
    find_mark(b, table);
    rw_line(b, "cvt.u32.u64 __wl_t, __wl_y;\n\tand.b32 __wl_t, __wl_t, %u;", width - 1);
    rw_text(b, "\tsetp.eq.and.u32 __wl_p|__wl_q, __wl_t, 0, __wl_in;\n");
    for (unsigned e = 0; e < n; e += width) {
        snprintf(at, sizeof at, "__wl_y+%u", e);
        set_marks(b, width, at, "__wl_p");
    }
    for (unsigned e = 0; width > 1 && e < n; e++) {
        snprintf(at, sizeof at, "__wl_y+%u", e);
        set_marks(b, 1, at, "__wl_q");
    }
}

/* ---- accesses of a basic block ---- */

static bool is_given(const rw_body *b, uint32_t kept)
{
    return b->plan->elements->slots[b->plan->elements->slot_of[b->kept[kept].site]].param !=
           IR_NONE;
}

static bool may_look(const rw_body *b, const rw_deferred *k)
{
    return !k->joined && (is_scattered(b, k->site) || rw_crowd_of(b->plan, b->f, k->site));
}

/* Marks without looking. Changes __wl_looks: some do look. */
static void mark_at_once(rw_body *b, const rw_deferred *k, const rw_deferred *before)
{
    uint32_t site = k->site;
    char table[24];
    rw_find_kept(b, k, before);
    rw_text(b, "\tor.pred __wl_missed, __wl_missed, __wl_out;\n");
    if (rw_is_for_block(b->plan, b->f, site))
        rw_text(b, "\tand.pred __wl_in, __wl_in, __wl_begins;\n");
    if (spared_of(b->plan, b->f, site)) {
        rw_is_first(b, spared_of(b->plan, b->f, site), "__wl_p");
        rw_text(b, "\tand.pred __wl_in, __wl_in, __wl_p;\n");
    }
    snprintf(table, sizeof table, "__wl_lines%u", b->plan->elements->slot_of[site]);
    if (k->joined) {
        mark_joined(b, k->elements, table);
        return;
    }
    const char *looks = find_look(b, site);
    if (looks) {
        rw_line(b, "or.pred __wl_looks, __wl_looks, %s;", looks);
        rw_line(b, "not.pred __wl_p, %s;\n\tand.pred __wl_in, __wl_in, __wl_p;", looks);
    }
    if (is_scattered(b, site) && rw_is_strided(b->plan, b->f, site))
        set_bits(b, k->elements, b->plan->elements->slot_of[site]);
    else
        rw_mark(b, k->elements, table, NULL);
}

/* __wl_s<i>: what the lane has to set at __wl_m<i>, as bits of a word or as one mark. */
static void look(rw_body *b, uint32_t i)
{
    uint32_t site = b->kept[i].site, slot = b->plan->elements->slot_of[site];
    unsigned n = rw_elements(&b->plan->sites[site]);
    rw_find_kept(b, &b->kept[i], NULL);
    const char *looks = find_look(b, site);
    rw_line(b, "and.pred __wl_p, __wl_in, %s;", looks);
    rw_line(b, "shr.u64 __wl_m%u, __wl_x, %d;", i, is_scattered(b, site) ? 7 : 2);
    if (is_scattered(b, site))
        rw_line(b, "shl.b64 __wl_m%u, __wl_m%u, 2;", i, i);
    rw_line(b, "add.s64 __wl_m%u, __wl_m%u, __wl_%s%u;", i, i,
            is_scattered(b, site) ? "bits" : "lines", slot);
    rw_line(b, "mov.u32 __wl_s%u, -1;", i);
    if (is_scattered(b, site))
        rw_line(b, "@__wl_p ld.global.u32 __wl_s%u, [__wl_m%u];", i, i);
    else if (n > 1) /* the first says nothing about the others */
        rw_line(b, "@__wl_p mov.u32 __wl_s%u, 0;", i);
    else
        rw_line(b, "@__wl_p ld.global.u8 __wl_s%u, [__wl_m%u];", i, i);
}

static void set_unseen(rw_body *b, uint32_t i)
{
    uint32_t site = b->kept[i].site;
    unsigned n = rw_elements(&b->plan->sites[site]);
    char at[16];
    snprintf(at, sizeof at, "__wl_m%u", i);
    if (!is_scattered(b, site)) {
        rw_line(b, "setp.eq.u32 __wl_p, __wl_s%u, 0;", i);
        set_marks(b, n, at, "__wl_p");
        return;
    }
    rw_line(b, "cvt.u32.u64 __wl_u, __wl_k%u;", b->kept[i].base);
    rw_line(b, "add.u32 __wl_u, __wl_u, %d;", (int)b->kept[i].offset);
    rw_text(b, "\tshr.u32 __wl_u, __wl_u, 2;\n"); /* objects in slots begin at multiples of 128 */
    rw_line(b, "shf.l.wrap.b32 __wl_u, 0, %u, __wl_u;", (1u << n) - 1);
    rw_line(b, "not.b32 __wl_t, __wl_s%u;\n\tand.b32 __wl_t, __wl_t, __wl_u;", i);
    rw_text(b, "\tsetp.ne.u32 __wl_p, __wl_t, 0;\n");
    rw_line(b, "@__wl_p red.global.or.b32 [%s], __wl_t;", at);
}

/* Those that may look, of [*next, n), in turns: as many as do not cost registers look before the first is waited for. */
static uint32_t find_looking(const rw_body *b, uint32_t *next, uint32_t n, uint32_t found[AT_ONCE])
{
    uint32_t count = 0;
    for (; *next < n && count < AT_ONCE; ++*next)
        if (is_given(b, *next) && may_look(b, &b->kept[*next]))
            found[count++] = *next;
    return count;
}

static void mark_looking(rw_body *b, uint32_t n)
{
    uint32_t label = (*b->labels)++, some[AT_ONCE], next = 0,
             count = find_looking(b, &next, n, some);
    if (!count)
        return;
    rw_line(b, "@!__wl_looks bra $__wl_looked%u;", label);
    for (; count; count = find_looking(b, &next, n, some)) {
        for (uint32_t i = 0; i < count; i++)
            look(b, some[i]);
        for (uint32_t i = 0; i < count; i++)
            set_unseen(b, some[i]);
    }
    ptx_putf(b->out, "$__wl_looked%u:\n", label);
}

void rw_mark_kept(rw_body *b, uint32_t n)
{
    rw_text(b, "\tsetp.ne.u32 __wl_missed, __wl_lane, __wl_lane;\n"
               "\tmov.pred __wl_looks, __wl_missed;\n");
    const rw_deferred *before = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (is_given(b, i)) {
            mark_at_once(b, &b->kept[i], before);
            before = &b->kept[i];
        }
    mark_looking(b, n);
}

const rw_emitter rw_touch_emitter = {
    .probes = 1u << REWRITE_TOUCH, .declare = declare, .enter = enter};
