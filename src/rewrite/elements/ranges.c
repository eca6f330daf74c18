/* The object that a lane's address lies in, for objects, touch and frequency.
 *
 * Needs: __wl_a and the guard of the site. Keeps: everything. Accesses through one parameter, and of one class where that
 * matters, share a *slot*: the range that the parameter points into, which the host knows and gives with the hidden parameter,
 * so that nothing is loaded. Accesses through other pointers share a slot a class, registers that keep the range that was found
 * last. Leaves behind: __wl_in, whether the lane accesses memory in the slot's range, and __wl_x, how far behind its begin. A
 * lane whose address lies elsewhere searches the table of ranges, and has counted and marked there when it comes back. Ranges
 * in slots begin at multiples of 128, where elements are concerned: there a word of a bitmap and a line begin, too. */
#include "rewrite/code/body.h"

#include <stddef.h>
#include <stdio.h>

static const uint32_t elements = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY;

static bool is_given(const rw_body *b, uint32_t slot)
{
    return b->plan->elements->slots[slot].param != IR_NONE;
}

/* ---- registers ---- */

static void declare(rw_body *b)
{
    if (!b->plan->elements->nslots)
        return;
    rw_text(b, "\t.reg .pred __wl_in, __wl_out, __wl_valid, __wl_full, __wl_head, __wl_alone, "
               "__wl_rows, __wl_begins;\n"
               "\t.reg .b32 __wl_line, __wl_lane4, __wl_inside;\n"
               "\t.reg .b64 __wl_range, __wl_bits, __wl_first, __wl_from;\n");
    for (uint32_t i = 0; b->probes & elements && i < RW_DEFERRED; i++)
        rw_line(b, ".reg .b64 __wl_k%u;", i);
    for (uint32_t i = 0; i < b->plan->elements->nslots; i++)
        rw_line(b, ".reg .b64 __wl_base%u, __wl_size%u, __wl_bits%u, __wl_counts%u, __wl_lines%u;",
                i, i, i, i, i);
}

/* The kernel finds slots in its parameter, other functions where the host left them in the state, too. */
static void enter_slot(rw_body *b, uint32_t slot)
{
    static const struct {
        const char *name;
        size_t at;
    } parts[] = {{"base", offsetof(rewrite_slot, base)},
                 {"size", offsetof(rewrite_slot, size)},
                 {"bits", offsetof(rewrite_slot, bits)},
                 {"counts", offsetof(rewrite_slot, counts)},
                 {"lines", offsetof(rewrite_slot, lines)}};
    size_t at = slot * sizeof(rewrite_slot);
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!is_given(b, slot))
            rw_line(b, "mov.u64 __wl_%s%u, 0;", parts[i].name, slot);
        else if (b->index == 0)
            rw_line(b, "ld.param.u64 __wl_%s%u, [__wl_probe+%zu];", parts[i].name, slot,
                    offsetof(rewrite_param, slot) + at + parts[i].at);
        else
            rw_line(b, "ld.global.u64 __wl_%s%u, [__wl_state+%zu];", parts[i].name, slot,
                    offsetof(rewrite_state, slot) + at + parts[i].at);
}

/* Counters that are spread (layout.h) are those of the multiprocessor's copy. */
static void enter_copy(rw_body *b, uint32_t slot)
{
    size_t at = slot * sizeof(rewrite_slot) + offsetof(rewrite_slot, spread);
    if (!rw_has(b, REWRITE_FREQUENCY) || !is_given(b, slot) || !b->plan->elements->contended[slot])
        return;
    if (b->index == 0)
        rw_line(b, "ld.param.u32 __wl_u, [__wl_probe+%zu];", offsetof(rewrite_param, slot) + at);
    else
        rw_line(b, "ld.global.u32 __wl_u, [__wl_state+%zu];", offsetof(rewrite_state, slot) + at);
    rw_text(b, "\tmov.u32 __wl_t, %smid;\n");
    rw_line(b, "and.b32 __wl_t, __wl_t, %u;", REWRITE_SPREAD - 1);
    rw_line(b, "mad.wide.u32 __wl_counts%u, __wl_t, __wl_u, __wl_counts%u;", slot, slot);
    rw_line(b, "mad.wide.u32 __wl_lines%u, __wl_t, __wl_u, __wl_lines%u;", slot, slot);
}

/* __wl_begins: the first thread of its block. __wl_rows: the lanes of the warp differ in %tid.x only, which goes up by 1. __wl_lane4: 4 times the lane, where they do, else
 * what no offset in a line is. */
static void enter(rw_body *b)
{
    if (!b->plan->elements->nslots)
        return;
    for (uint32_t i = 0; i < b->plan->elements->nslots; i++)
        enter_slot(b, i);
    for (uint32_t i = 0; i < b->plan->elements->nslots; i++)
        enter_copy(b, i);
    if (!(b->probes & elements))
        return;
    rw_text(b, "\tmov.u32 __wl_t, %tid.x;\n"
               "\tmov.u32 __wl_u, %tid.y;\n"
               "\tor.b32 __wl_t, __wl_t, __wl_u;\n"
               "\tmov.u32 __wl_u, %tid.z;\n"
               "\tor.b32 __wl_t, __wl_t, __wl_u;\n"
               "\tsetp.eq.u32 __wl_begins, __wl_t, 0;\n"
               "\tmov.u32 __wl_t, %ntid.y;\n"
               "\tmov.u32 __wl_u, %ntid.z;\n"
               "\tmul.lo.u32 __wl_t, __wl_t, __wl_u;\n"
               "\tsetp.eq.u32 __wl_p, __wl_t, 1;\n"
               "\tmov.u32 __wl_t, %ntid.x;\n"
               "\tand.b32 __wl_t, __wl_t, 31;\n"
               "\tsetp.eq.or.u32 __wl_rows, __wl_t, 0, __wl_p;\n"
               "\tshl.b32 __wl_lane4, __wl_lane, 2;\n"
               "\tselp.b32 __wl_lane4, __wl_lane4, -1, __wl_rows;\n");
}

/* ---- searching ---- */

/* One more access that is in no range. The number stops growing at a million: all lanes of a large grid would wait for it. */
static void miss(rw_body *b)
{
    rw_line(b, "ld.volatile.global.u64 __wl_z, [__wl_state+%zu];", offsetof(rewrite_state, missed));
    rw_line(b, "setp.lt.u64 __wl_q, __wl_z, %u;", REWRITE_MOST_MISSED);
    rw_line(b, "@__wl_q red.global.add.u64 [__wl_state+%zu], 1;", offsetof(rewrite_state, missed));
}

/* __wl_range: the range in which __wl_a is; else to $__wl_none. Binary search: ranges [0, lo) begin at or below it. */
static void search(rw_body *b, uint32_t label)
{
    rw_line(b, "ld.global.u32 __wl_hi, [__wl_state+%zu];", offsetof(rewrite_state, nranges));
    rw_line(b, "ld.global.u64 __wl_y, [__wl_state+%zu];", offsetof(rewrite_state, ranges));
    rw_line(b, "mov.u32 __wl_lo, 0;");
    ptx_putf(b->out, "$__wl_search%u:\n", label);
    rw_line(b, "setp.ge.u32 __wl_q, __wl_lo, __wl_hi;");
    rw_line(b, "@__wl_q bra $__wl_searched%u;", label);
    rw_text(b, "\tadd.u32 __wl_t, __wl_lo, __wl_hi;\n"
               "\tshr.u32 __wl_t, __wl_t, 1;\n");
    rw_line(b, "mad.wide.u32 __wl_range, __wl_t, %zu, __wl_y;", sizeof(rewrite_range));
    rw_text(b, "\tld.global.u64 __wl_z, [__wl_range];\n"
               "\tsetp.le.u64 __wl_q, __wl_z, __wl_a;\n"
               "\t@__wl_q add.u32 __wl_lo, __wl_t, 1;\n"
               "\t@!__wl_q mov.u32 __wl_hi, __wl_t;\n");
    rw_line(b, "bra $__wl_search%u;", label);
    ptx_putf(b->out, "$__wl_searched%u:\n", label);
    rw_line(b, "setp.eq.u32 __wl_q, __wl_lo, 0;");
    rw_line(b, "@__wl_q bra $__wl_none%u;", label);
    rw_line(b, "sub.u32 __wl_lo, __wl_lo, 1;");
    rw_line(b, "mad.wide.u32 __wl_range, __wl_lo, %zu, __wl_y;", sizeof(rewrite_range));
    rw_text(b, "\tld.global.v2.u64 {__wl_y, __wl_z}, [__wl_range];\n"
               "\tsub.s64 __wl_first, __wl_a, __wl_y;\n"
               "\tsetp.ge.u64 __wl_q, __wl_first, __wl_z;\n");
    rw_line(b, "@__wl_q bra $__wl_none%u;", label);
}

static void mark_used(rw_body *b, unsigned class_)
{
    rw_line(b, "ld.global.u32 __wl_t, [__wl_range+%zu];", offsetof(rewrite_range, used));
    rw_line(b, "and.b32 __wl_t, __wl_t, %u;", 1u << class_);
    rw_line(b, "setp.eq.u32 __wl_q, __wl_t, 0;");
    rw_line(b, "@__wl_q red.global.or.b32 [__wl_range+%zu], %u;", offsetof(rewrite_range, used),
            1u << class_);
}

/* Into `to`, unless the range has none: then to $__wl_none. */
static void load_table(rw_body *b, size_t at, const char *to, uint32_t label)
{
    rw_line(b, "ld.global.u64 %s, [__wl_range+%zu];", to, at);
    rw_line(b, "setp.eq.u64 __wl_q, %s, 0;", to);
    rw_line(b, "@__wl_q bra $__wl_none%u;", label);
}

/* Counts and marks this lane's access in the range at __wl_range, whose begin is __wl_y. */
static void note_apart(rw_body *b, uint32_t site, uint32_t label)
{
    const rewrite_site *s = &b->plan->sites[site];
    unsigned n = rw_elements(s);
    rw_text(b, "\tand.b64 __wl_x, __wl_y, -128;\n"
               "\tsub.s64 __wl_x, __wl_a, __wl_x;\n");
    if (rw_has(b, REWRITE_FREQUENCY)) {
        load_table(b, offsetof(rewrite_range, counts) + 8 * rewrite_class(s), "__wl_bits", label);
        rw_text(b, "\tand.b64 __wl_first, __wl_x, -4;\n"
                   "\tadd.s64 __wl_bits, __wl_bits, __wl_first;\n");
        for (unsigned e = 0; e < n; e++)
            rw_line(b, "red.global.add.u32 [__wl_bits+%u], 1;", 4 * e);
    }
    if (rw_marks(b)) {
        load_table(b, offsetof(rewrite_range, lines), "__wl_bits", label);
        rw_text(b, "\tsetp.eq.u64 __wl_in, __wl_bits, __wl_bits;\n");
        rw_mark(b, n, "__wl_bits", NULL);
    }
}

/* From the range at __wl_range, __wl_y and __wl_z its begin and size. */
static void keep_slot(rw_body *b, uint32_t slot, uint32_t label)
{
    unsigned class_ = b->plan->elements->slots[slot].class_;
    if (b->probes & elements) {
        rw_text(b, "\tand.b64 __wl_x, __wl_y, 127;\n"
                   "\tsetp.ne.u64 __wl_q, __wl_x, 0;\n");
        rw_line(b, "@__wl_q bra $__wl_found%u;", label);
    }
    rw_line(b, "mov.u64 __wl_base%u, __wl_y;", slot);
    rw_line(b, "mov.u64 __wl_size%u, __wl_z;", slot);
    if (rw_has(b, REWRITE_FREQUENCY))
        rw_line(b, "ld.global.u64 __wl_counts%u, [__wl_range+%zu];", slot,
                offsetof(rewrite_range, counts) + 8 * class_);
    rw_line(b, "ld.global.u64 __wl_lines%u, [__wl_range+%zu];", slot,
            offsetof(rewrite_range, lines) + (rw_has(b, REWRITE_FREQUENCY) ? 8 * class_ : 0));
}

static void look_elsewhere(rw_body *b, uint32_t site, uint32_t label)
{
    uint32_t slot = b->plan->elements->slot_of[site];
    if (is_given(b, slot)) {
        rw_line(b, "setp.eq.u64 __wl_q, __wl_base%u, -1;", slot);
        rw_line(b, "@__wl_q bra $__wl_none%u;", label);
    }
    search(b, label);
    if (rw_has(b, REWRITE_OBJECTS) && b->plan->sites[site].param == IR_NONE)
        mark_used(b, rewrite_class(&b->plan->sites[site]));
    if (b->probes & elements)
        note_apart(b, site, label);
    if (!is_given(b, slot))
        keep_slot(b, slot, label);
    rw_line(b, "bra $__wl_found%u;", label);
    ptx_putf(b->out, "$__wl_none%u:\n", label);
    miss(b);
}

void rw_look_elsewhere(rw_body *b, uint32_t site)
{
    uint32_t label = (*b->labels)++;
    look_elsewhere(b, site, label);
    ptx_putf(b->out, "$__wl_found%u:\n", label);
}

/* The condition under which the lane accesses global memory, "" for always. */
static const char *valid_lanes(rw_body *b, uint32_t site)
{
    const char *guard = b->guard.text;
    if (!(b->plan->sites[site].flags & REWRITE_GENERIC))
        return guard;
    rw_line(b, "setp.lt%s.u64 __wl_valid, __wl_a, %llu%s%s;", *guard ? ".and" : "",
            (unsigned long long)REWRITE_TAG_SHARED, *guard ? ", " : "", guard);
    return "__wl_valid";
}

/* ---- lines ---- */

/* __wl_full: the warp accesses whole lines, all lanes side by side; __wl_head: a lane for each line. `proven`: flow knows that they are
 * side by side if they are in a row. */
static void find_lines(rw_body *b, uint32_t site, bool proven)
{
    unsigned n = rw_elements(&b->plan->sites[site]), shift = n == 1 ? 0 : n == 2 ? 1 : 2;
    const char *own = "__wl_lane4";
    rw_line(b, "cvt.u32.u64 __wl_lo, __wl_x;");
    rw_line(b, "and.b32 __wl_t, __wl_lo, %u;", 128 * n - 1);
    if (shift) {
        rw_line(b, "shl.b32 __wl_u, __wl_lane4, %u;", shift);
        own = "__wl_u";
    }
    rw_line(b, "setp.eq.and.u32 __wl_p, __wl_t, %s, __wl_in;", own);
    if (!proven) {
        rw_line(b, "shr.u64 __wl_y, __wl_x, %u;", 7 + shift);
        rw_text(b, "\tcvt.u32.u64 __wl_u, __wl_y;\n"
                   "\tshfl.sync.idx.b32 __wl_v, __wl_u, 0, 31, __wl_active;\n"
                   "\tsetp.eq.and.u32 __wl_p, __wl_v, __wl_u, __wl_p;\n");
    }
    rw_text(b, "\tvote.sync.ballot.b32 __wl_v, __wl_p, __wl_active;\n"
               "\tsetp.eq.u32 __wl_full, __wl_v, -1;\n");
    if (n > 1)
        rw_text(b, "\tand.b32 __wl_t, __wl_lo, 127;\n");
    rw_line(b, "setp.eq.and.u32 __wl_head, %s, 0, __wl_full;", n > 1 ? "__wl_t" : "__wl_lane");
}

static bool tries_lines(const rw_body *b, uint32_t site)
{
    rw_pattern shape = rw_pattern_of(b->plan, b->f, site);
    return b->plan->sites[site].bytes >= 4 &&
           (shape == RW_COALESCED || shape == RW_MAYBE_COALESCED || shape == RW_UNKNOWN);
}

/* What frequency needs to know. */
static rw_lanes needed_lanes(const rw_body *b, uint32_t site)
{
    if (rw_is_for_block(b->plan, b->f, site))
        return RW_LANES_UNKNOWN;
    rw_pattern shape = rw_pattern_of(b->plan, b->f, site);
    if (shape == RW_UNIFORM || shape == RW_UNIFORM_IN_ROW)
        return RW_LANES_GROUP;
    return tries_lines(b, site) ? RW_LANES_ACTIVE : RW_LANES_UNKNOWN;
}

/* __wl_alone: the lane notes the access for all in __wl_inside, which have its address. Where each lane has found a range for
 * itself, some may have searched, and are done. */
static void find_alone(rw_body *b, uint32_t slot, rw_pattern shape)
{
    if (is_given(b, slot))
        rw_text(b, "\tmov.b32 __wl_inside, __wl_mask;\n\tmov.pred __wl_p, __wl_leads;\n");
    else
        rw_text(b, "\tvote.sync.ballot.b32 __wl_inside, __wl_in, __wl_active;\n"
                   "\tbrev.b32 __wl_t, __wl_inside;\n"
                   "\tbfind.shiftamt.u32 __wl_t, __wl_t;\n"
                   "\tsetp.eq.u32 __wl_p, __wl_t, __wl_lane;\n");
    if (shape == RW_UNIFORM_IN_ROW)
        rw_text(b, "\tnot.pred __wl_q, __wl_rows;\n\tor.pred __wl_p, __wl_p, __wl_q;\n");
    rw_text(b, "\tand.pred __wl_alone, __wl_p, __wl_in;\n");
}

/* __wl_in, __wl_out: as rw_find_kept(), for __wl_x. */
static void find_lanes_in(rw_body *b, uint32_t site)
{
    uint32_t slot = b->plan->elements->slot_of[site];
    const char *valid = valid_lanes(b, site);
    const char *and = *valid ? ".and" : "", *comma = *valid ? ", " : "";
    rw_line(b, "setp.lt%s.u64 __wl_in|__wl_out, __wl_x, __wl_size%u%s%s;", and, slot, comma, valid);
}

/* ---- keeping ---- */

/* Does the site wait? What is noted behind its loop, or by another site, does not. */
static bool is_kept(const rw_body *b, uint32_t site)
{
    return b->plan->elements->slot_of[site] != IR_NONE &&
           b->plan->elements->walk[site].loop == FLOW_NONE &&
           !(rw_marks(b) && b->plan->elements->merges[site].head != site);
}

static uint32_t kept_in(const rw_body *b, uint32_t block)
{
    uint32_t first = b->f->first_pc + b->f->blocks[block].first, n = 0;
    uint32_t end = b->plan->site_first[first + b->f->blocks[block].count];
    for (uint32_t s = b->plan->site_first[first]; s < end; s++)
        n += is_kept(b, s);
    return n;
}

static bool has_base(const rw_body *b, uint32_t site)
{
    const flow_address *a = b->plan->addresses[site];
    return a->value != FLOW_NONE && !(b->plan->sites[site].flags & REWRITE_GENERIC) &&
           ir_type_get(b->func->regs[a->operand->reg].type)->bits == 64;
}

/* What was kept from the same base as the site; NULL: nothing. */
static const rw_deferred *find_base(const rw_body *b, uint32_t site)
{
    for (uint32_t i = 0; i < b->nkept && has_base(b, site); i++) {
        const rw_deferred *k = &b->kept[i];
        if (k->base == i && !k->guarded && has_base(b, k->site) &&
            b->plan->addresses[k->site]->value == b->plan->addresses[site]->value)
            return k;
    }
    return NULL;
}

static uint32_t block_of(const rw_body *b, uint32_t site)
{
    return b->f->block_of[b->plan->sites[site].pc - b->f->first_pc];
}

/* Atomics whose result is waited for are no instructions with guards. */
static bool has_atomic(const rw_body *b, uint32_t block)
{
    const flow_block *f = &b->f->blocks[block];
    for (uint32_t i = f->first; i < f->first + f->count; i++)
        if (b->f->func->insns[i].op == IR_atom)
            return true;
    return false;
}

enum { MOST_CARRIED = 8 /* of sixteen */ };

/* Is the block gone around by a branch of the one before, so that what is kept in it waits for what follows? */
static bool is_carried(const rw_body *b, uint32_t block)
{
    uint32_t first = b->f->graph.pred_first[block];
    if (b->f->graph.pred_first[block + 1] - first != 1)
        return false;
    uint32_t from = b->f->graph.pred[first];
    return from < b->f->nblocks && rw_body_of_if(b->f, from) == block && !has_atomic(b, block) &&
           kept_in(b, block) <= MOST_CARRIED;
}

static bool in_if(const rw_body *b, uint32_t site)
{
    return is_carried(b, block_of(b, site));
}

/* An address waits for the end of its basic block: code between the accesses would keep the compiler from moving one before another, as
 * it does to wait for several at once. Lanes that do not access memory keep what no address is. */
static void keep(rw_body *b, uint32_t site)
{
    const char *guard = b->guard.text;
    bool negated = *guard == '!';
    const rw_deferred *base = *guard ? NULL : find_base(b, site);
    const rw_merge *joint = &b->plan->elements->merges[site];
    uint64_t imm = b->plan->addresses[site]->operand->imm;
    uint32_t n = b->nkept++;
    b->kept[n] = (rw_deferred){
        .site = site, .base = n, .elements = rw_elements(&b->plan->sites[site]), .guarded = *guard};
    if (rw_marks(b) && joint->high > joint->low) {
        b->kept[n].joined = joint->high - joint->low > 4 * (int64_t)b->kept[n].elements;
        b->kept[n].elements = (uint32_t)((joint->high - joint->low) / 4);
        b->kept[n].offset = joint->low - (int64_t)imm;
    }
    if (in_if(b, site)) {
        b->kept[n].guarded = true;
        base = NULL;
    }
    if (base) {
        b->kept[n].base = base->base;
        b->kept[n].offset += (int64_t)(imm - b->plan->addresses[base->site]->operand->imm);
    } else if (*guard) {
        rw_line(b, "selp.b64 __wl_k%u, %s, %s, %s;", n, negated ? "-1" : "__wl_a",
                negated ? "__wl_a" : "-1", guard + negated);
    } else {
        rw_line(b, "mov.b64 __wl_k%u, __wl_a;", n);
    }
}

static void find_address(rw_body *b, const rw_deferred *k)
{
    rw_line(b, "add.s64 __wl_a, __wl_k%u, %lld;", k->base, (long long)k->offset);
}

void rw_find_kept(rw_body *b, const rw_deferred *k, const rw_deferred *before)
{
    uint32_t slot = b->plan->elements->slot_of[k->site];
    b->guard = (rw_guard){""};
    if (k->guarded) {
        rw_line(b, "mov.b64 {__wl_lo, __wl_hi}, __wl_k%u;\n\tsetp.ne.u32 __wl_g, __wl_hi, -1;",
                k->base);
        b->guard = (rw_guard){"__wl_g"};
    }
    if (b->plan->sites[k->site].flags & REWRITE_GENERIC)
        find_address(b, k);
    if (!before || before->base != k->base || b->plan->elements->slot_of[before->site] != slot)
        rw_line(b, "sub.s64 __wl_from, __wl_k%u, __wl_base%u;", k->base, slot);
    rw_line(b, "add.s64 __wl_x, __wl_from, %lld;", (long long)k->offset);
    find_lanes_in(b, k->site);
    if (k->joined) { /* all of it */
        rw_line(b, "add.s64 __wl_y, __wl_x, %u;", 4 * (k->elements - 1));
        rw_line(b, "setp.lt.and.u64 __wl_in|__wl_q, __wl_y, __wl_size%u, __wl_in;", slot);
        rw_text(b, "\tor.pred __wl_out, __wl_out, __wl_q;\n");
    }
}

/* Notes the accesses of lanes elsewhere. */
static void note_others(rw_body *b, const rw_deferred *k)
{
    uint32_t label = (*b->labels)++;
    rw_line(b, "@!__wl_out bra $__wl_found%u;", label);
    find_address(b, k);
    look_elsewhere(b, k->site, label);
    ptx_putf(b->out, "$__wl_found%u:\n", label);
}

/* ---- counting ---- */

static void count_lanes(rw_body *b, const rw_deferred *k)
{
    uint32_t site = k->site;
    rw_pattern shape = rw_pattern_of(b->plan, b->f, site);
    note_others(b, k);
    if (rw_is_for_block(b->plan, b->f, site)) {
        rw_count_block(b, site);
        return;
    }
    if (shape == RW_UNIFORM || shape == RW_UNIFORM_IN_ROW)
        find_alone(b, b->plan->elements->slot_of[site], shape);
    rw_count_lanes(b, site);
}

/* What is no whole line is noted at the end of the copy, where it does not stand in the way; in inner scopes of the body, whose
 * labels are not known there, right here. Gives where the text goes on. */
static ptx_text *begin_rest(rw_body *b, uint32_t label)
{
    ptx_text *out = b->out;
    if (b->depth == 0)
        b->out = b->rest;
    ptx_putf(b->out, "$__wl_rest%u:\n", label);
    return out;
}

static void end_rest(rw_body *b, uint32_t label, ptx_text *out)
{
    if (b->depth == 0)
        rw_line(b, "bra $__wl_noted%u;", label);
    b->out = out;
    ptx_putf(b->out, "$__wl_noted%u:\n", label);
}

static void count_rest(rw_body *b, const rw_deferred *k, uint32_t label)
{
    if (b->depth != 0)
        rw_line(b, "bra $__wl_noted%u;", label);
    ptx_text *out = begin_rest(b, label);
    count_lanes(b, k);
    end_rest(b, label, out);
}

static void count(rw_body *b, const rw_deferred *k)
{
    uint32_t site = k->site, label = (*b->labels)++;
    rw_find_kept(b, k, NULL);
    rw_find_lanes(b, needed_lanes(b, site));
    if (!tries_lines(b, site)) {
        count_lanes(b, k);
        return;
    }
    find_lines(b, site, rw_pattern_of(b->plan, b->f, site) == RW_COALESCED);
    rw_line(b, "@!__wl_full bra $__wl_rest%u;", label);
    rw_count_lines(b, site);
    count_rest(b, k, label);
}

/* ---- marking ---- */

/* What is to be known of the access whose turn it is, in registers: __wl_a, __wl_out, __wl_many its elements, __wl_lost: where to search is
 * known to be in vain. */
static void choose_kept(rw_body *b, uint32_t i, uint32_t chosen)
{
    const rw_deferred *k = &b->kept[i];
    uint32_t label = (*b->labels)++;
    rw_line(b, "setp.ne.u32 __wl_p, __wl_turn, %u;", i);
    rw_line(b, "@__wl_p bra $__wl_other%u;", label);
    rw_find_kept(b, k, NULL);
    find_address(b, k);
    rw_line(b, "mov.u32 __wl_many, %u;", k->elements);
    rw_line(b, "setp.eq.u64 __wl_lost, __wl_base%u, -1;", b->plan->elements->slot_of[k->site]);
    rw_line(b, "bra $__wl_chosen%u;", chosen);
    ptx_putf(b->out, "$__wl_other%u:\n", label);
}

/* Marks the element at __wl_a, in the range at __wl_range, whose begin is __wl_y. */
static void mark_apart(rw_body *b, uint32_t label)
{
    rw_text(b, "\tand.b64 __wl_x, __wl_y, -128;\n"
               "\tsub.s64 __wl_x, __wl_a, __wl_x;\n"
               "\tshr.u64 __wl_x, __wl_x, 2;\n");
    load_table(b, offsetof(rewrite_range, lines), "__wl_bits", label);
    rw_text(b, "\tadd.s64 __wl_bits, __wl_bits, __wl_x;\n"
               "\tst.global.u8 [__wl_bits], 1;\n");
}

/* Of the n accesses that were kept those elsewhere, one after the other: code for all of them is seldom run, and takes registers. */
static void mark_others(rw_body *b, uint32_t n)
{
    uint32_t label = (*b->labels)++;
    rw_text(b, "\tmov.u32 __wl_turn, 0;\n");
    ptx_putf(b->out, "$__wl_again%u:\n", label);
    for (uint32_t i = 0; i < n; i++)
        if (is_given(b, b->plan->elements->slot_of[b->kept[i].site]))
            choose_kept(b, i, label);
    rw_line(b, "bra $__wl_found%u;", label);
    ptx_putf(b->out, "$__wl_chosen%u:\n", label);
    rw_line(b, "@!__wl_out bra $__wl_found%u;", label);
    ptx_putf(b->out, "$__wl_each%u:\n", label);
    rw_line(b, "@__wl_lost bra $__wl_none%u;", label);
    search(b, label);
    mark_apart(b, label);
    rw_line(b, "bra $__wl_marked%u;", label);
    ptx_putf(b->out, "$__wl_none%u:\n", label);
    miss(b);
    ptx_putf(b->out, "$__wl_marked%u:\n", label);
    rw_text(b, "\tadd.s64 __wl_a, __wl_a, 4;\n"
               "\tsub.u32 __wl_many, __wl_many, 1;\n"
               "\tsetp.ne.u32 __wl_q, __wl_many, 0;\n");
    rw_line(b, "@__wl_q bra $__wl_each%u;", label);
    ptx_putf(b->out, "$__wl_found%u:\n", label);
    rw_text(b, "\tadd.u32 __wl_turn, __wl_turn, 1;\n");
    rw_line(b, "setp.lt.u32 __wl_p, __wl_turn, %u;", n);
    rw_line(b, "@__wl_p bra $__wl_again%u;", label);
}

/* And those in slots of their own. */
static void mark_found(rw_body *b, uint32_t n)
{
    char table[24];
    for (uint32_t i = 0; i < n; i++) {
        const rw_deferred *k = &b->kept[i];
        uint32_t slot = b->plan->elements->slot_of[k->site];
        if (is_given(b, slot))
            continue;
        rw_find_kept(b, k, NULL);
        snprintf(table, sizeof table, "__wl_lines%u", slot);
        rw_mark(b, k->elements, table, NULL);
        note_others(b, k);
    }
}

static void mark(rw_body *b, uint32_t n)
{
    uint32_t label = (*b->labels)++;
    rw_mark_kept(b, n);
    if (b->depth == 0)
        rw_line(b, "@__wl_missed bra $__wl_rest%u;", label);
    else
        rw_line(b, "@!__wl_missed bra $__wl_noted%u;", label);
    ptx_text *out = begin_rest(b, label);
    mark_others(b, n);
    end_rest(b, label, out);
    mark_found(b, n);
}

/* ---- the whole ---- */

static void note_kept(rw_body *b)
{
    uint32_t n = b->nkept;
    b->nkept = 0;
    if (n && rw_marks(b))
        mark(b, n);
    for (uint32_t i = 0; i < n && !rw_marks(b); i++)
        count(b, &b->kept[i]);
}

/* Room for what is kept in the block that the branch goes around: where it does, the registers say that nothing is accessed. */
static void make_room(rw_body *b, uint32_t body)
{
    uint32_t n = kept_in(b, body);
    if (b->nkept + n > MOST_CARRIED)
        note_kept(b);
    for (uint32_t i = 0; i < n; i++)
        rw_line(b, "mov.b64 __wl_k%u, -1;", b->nkept + i);
}

/* Blocks that a branch goes around are as short as an access or two, as a rule, and the compiler makes instructions with guards of them. So what
 * they access is noted where the ways have met, behind all that follow each other so. */
static void finish(rw_body *b, uint32_t insn)
{
    uint32_t block = b->f->block_of[insn], body = rw_body_of_if(b->f, block);
    bool last = insn == b->f->blocks[block].first + b->f->blocks[block].count - 1;
    if (last && (b->probes & elements) && is_carried(b, block))
        return;
    if (last && (b->probes & elements) && body != FLOW_NONE && kept_in(b, body) &&
        is_carried(b, body))
        make_room(b, body);
    else
        note_kept(b);
}

/* Calls, which need their arguments side by side, are in scopes, but not in blocks that wait for others. */
static void scope(rw_body *b)
{
    bool waits = b->nkept && b->kept[b->nkept - 1].guarded && in_if(b, b->kept[b->nkept - 1].site);
    if (!waits)
        note_kept(b);
}

static void note(rw_body *b, uint32_t site)
{
    if (b->probes & elements && is_kept(b, site)) {
        if (b->nkept == RW_DEFERRED)
            note_kept(b);
        keep(b, site);
        return;
    }
    if (b->probes & elements || b->plan->elements->slot_of[site] == IR_NONE ||
        b->plan->elements->walk[site].loop != FLOW_NONE)
        return;
    uint32_t label = (*b->labels)++;
    rw_line(b, "sub.s64 __wl_x, __wl_a, __wl_base%u;", b->plan->elements->slot_of[site]);
    find_lanes_in(b, site);
    rw_line(b, "@!__wl_out bra $__wl_found%u;", label);
    look_elsewhere(b, site, label);
    ptx_putf(b->out, "$__wl_found%u:\n", label);
}

const rw_emitter rw_ranges_emitter = {.probes = elements | 1u << REWRITE_OBJECTS,
                                      .declare = declare,
                                      .enter = enter,
                                      .access = note,
                                      .finish = finish,
                                      .scope = scope};
