/* The object that a lane's address lies in, for objects, touch and frequency.
 *
 * Needs: __wl_a and the guard of the site. Keeps: everything. Each *slot* remembers the last range that was found, in
 * registers of its own: accesses through one parameter, and of one class where that matters, share a slot. Only where an
 * address is outside of it, its lane searches the table of ranges. Leaves behind: __wl_in, whether the lane accesses memory
 * in the slot's range. */
#include "rewrite/internal.h"

#include <stddef.h>

static const uint32_t elements = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY;

/* ---- slots ---- */

static bool needs_slot(const rw_plan *p, const rewrite_site *s)
{
    bool object = p->out->probes >> REWRITE_OBJECTS & 1 && s->param == PTX_NONE;
    bool global = s->space == PTX_SPACE_GLOBAL || s->space == PTX_SPACE_GENERIC;
    return global && (p->out->probes & elements || object);
}

static uint32_t find_slot(rw_plan *p, rw_slot key, uint32_t most)
{
    for (uint32_t i = 0; i < p->nslots; i++)
        if (p->slots[i].param == key.param && p->slots[i].offset == key.offset &&
            p->slots[i].class_ == key.class_)
            return i;
    if (p->nslots >= most)
        return PTX_NONE;
    p->slots[p->nslots] = key;
    return p->nslots++;
}

/* Classes are apart where each has its counters, or leaves its own mark on an object. */
wl_status rw_plan_slots(rw_plan *p)
{
    p->slot_of = wl_new_array(p->arena, uint32_t, (size_t)p->nsites + 1);
    if (!p->slot_of)
        return WL_NOMEM;
    for (uint32_t i = 0; i < p->nsites; i++) {
        const rewrite_site *s = &p->sites[i];
        bool apart = s->param == PTX_NONE || p->out->probes >> REWRITE_FREQUENCY & 1;
        rw_slot key = {s->param, s->param_offset, apart ? rewrite_class(s) : 0};
        p->slot_of[i] = PTX_NONE;
        if (!needs_slot(p, s))
            continue;
        p->slot_of[i] = find_slot(p, key, RW_MAX_SLOTS - REWRITE_CLASSES);
        if (p->slot_of[i] == PTX_NONE)
            p->slot_of[i] = find_slot(p, (rw_slot){PTX_NONE, 0, rewrite_class(s)}, RW_MAX_SLOTS);
    }
    return WL_OK;
}

/* ---- code ---- */

static void declare(rw_body *b)
{
    if (!b->plan->nslots)
        return;
    rw_text(b, "\t.reg .pred __wl_in, __wl_valid;\n");
    for (uint32_t i = 0; i < b->plan->nslots; i++) {
        rw_line(b, ".reg .b64 __wl_base%u, __wl_size%u;", i, i);
        if (rw_has(b, REWRITE_TOUCH))
            rw_line(b, ".reg .b64 __wl_bits%u;", i);
        if (rw_has(b, REWRITE_FREQUENCY))
            rw_line(b, ".reg .b64 __wl_counts%u;", i);
    }
}

static void enter(rw_body *b)
{
    for (uint32_t i = 0; i < b->plan->nslots; i++) {
        rw_line(b, "mov.u64 __wl_base%u, 0;", i);
        rw_line(b, "mov.u64 __wl_size%u, 0;", i);
    }
}

/* __wl_x: the last range that begins at or below __wl_a; else to $__wl_none. Binary search: ranges [0, lo) begin there. */
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
    rw_line(b, "mad.wide.u32 __wl_x, __wl_t, %zu, __wl_y;", sizeof(rewrite_range));
    rw_text(b, "\tld.global.u64 __wl_z, [__wl_x];\n"
               "\tsetp.le.u64 __wl_q, __wl_z, __wl_a;\n"
               "\t@__wl_q add.u32 __wl_lo, __wl_t, 1;\n"
               "\t@!__wl_q mov.u32 __wl_hi, __wl_t;\n");
    rw_line(b, "bra $__wl_search%u;", label);
    ptx_putf(b->out, "$__wl_searched%u:\n", label);
    rw_line(b, "setp.eq.u32 __wl_q, __wl_lo, 0;");
    rw_line(b, "@__wl_q bra $__wl_none%u;", label);
    rw_line(b, "sub.u32 __wl_lo, __wl_lo, 1;");
    rw_line(b, "mad.wide.u32 __wl_x, __wl_lo, %zu, __wl_y;", sizeof(rewrite_range));
}

/* From the range at __wl_x, in which __wl_a is. Bitmap and counters are kept as if address 0 were their first element. */
static void fill_slot(rw_body *b, uint32_t slot, unsigned class_)
{
    if (rw_has(b, REWRITE_TOUCH)) {
        rw_line(b, "ld.global.u64 __wl_bits%u, [__wl_x+%zu];", slot, offsetof(rewrite_range, bits));
        rw_line(b, "shr.u64 __wl_z, __wl_base%u, 7;", slot);
        rw_line(b, "shl.b64 __wl_z, __wl_z, 2;");
        rw_line(b, "sub.s64 __wl_bits%u, __wl_bits%u, __wl_z;", slot, slot);
    }
    if (rw_has(b, REWRITE_FREQUENCY)) {
        rw_line(b, "ld.global.u64 __wl_counts%u, [__wl_x+%zu];", slot,
                offsetof(rewrite_range, counts) + 8 * class_);
        rw_line(b, "and.b64 __wl_z, __wl_base%u, -4;", slot);
        rw_line(b, "sub.s64 __wl_counts%u, __wl_counts%u, __wl_z;", slot, slot);
    }
}

static void mark_used(rw_body *b, unsigned class_)
{
    rw_line(b, "ld.global.u32 __wl_t, [__wl_x+%zu];", offsetof(rewrite_range, used));
    rw_line(b, "and.b32 __wl_t, __wl_t, %u;", 1u << class_);
    rw_line(b, "setp.eq.u32 __wl_q, __wl_t, 0;");
    rw_line(b, "@__wl_q red.global.or.b32 [__wl_x+%zu], %u;", offsetof(rewrite_range, used),
            1u << class_);
}

static void refill(rw_body *b, uint32_t site, uint32_t label)
{
    uint32_t slot = b->plan->slot_of[site];
    unsigned class_ = rewrite_class(&b->plan->sites[site]);
    search(b, label);
    rw_line(b, "ld.global.v2.u64 {__wl_base%u, __wl_size%u}, [__wl_x];", slot, slot);
    rw_line(b, "sub.s64 __wl_z, __wl_a, __wl_base%u;", slot);
    rw_line(b, "setp.ge.u64 __wl_q, __wl_z, __wl_size%u;", slot);
    rw_line(b, "@__wl_q bra $__wl_none%u;", label);
    fill_slot(b, slot, class_);
    if (rw_has(b, REWRITE_OBJECTS) && b->plan->sites[site].param == PTX_NONE)
        mark_used(b, class_);
    rw_line(b, "setp.eq.u32 __wl_in, 0, 0;");
    rw_line(b, "bra $__wl_found%u;", label);
    ptx_putf(b->out, "$__wl_none%u:\n", label);
    rw_line(b, "mov.u64 __wl_size%u, 0;", slot);
    rw_line(b, "red.global.add.u64 [__wl_state+%zu], 1;", offsetof(rewrite_state, missed));
}

void rw_find_range(rw_body *b, uint32_t site)
{
    uint32_t slot = b->plan->slot_of[site], label = (*b->labels)++;
    const char *valid = b->guard.text;
    if (slot == PTX_NONE)
        return;
    if (b->plan->sites[site].flags & REWRITE_GENERIC) {
        rw_line(b, "setp.lt%s.u64 __wl_valid, __wl_a, %llu%s%s;", *valid ? ".and" : "",
                (unsigned long long)REWRITE_TAG_SHARED, *valid ? ", " : "", valid);
        valid = "__wl_valid";
    }
    const char *and = *valid ? ".and" : "", *comma = *valid ? ", " : "";
    rw_line(b, "sub.s64 __wl_x, __wl_a, __wl_base%u;", slot);
    rw_line(b, "setp.lt%s.u64 __wl_in, __wl_x, __wl_size%u%s%s;", and, slot, comma, valid);
    if (*valid) {
        rw_line(b, "setp.ge.and.u64 __wl_p, __wl_x, __wl_size%u, %s;", slot, valid);
        rw_line(b, "@!__wl_p bra $__wl_found%u;", label);
    } else {
        rw_line(b, "@__wl_in bra $__wl_found%u;", label);
    }
    refill(b, site, label);
    ptx_putf(b->out, "$__wl_found%u:\n", label);
}

/* What is marked behind its loop is looked up there, unless it is counted, too. */
static void find(rw_body *b, uint32_t site)
{
    if (b->plan->late[site].loop == FLOW_NONE || rw_has(b, REWRITE_FREQUENCY))
        rw_find_range(b, site);
}

const rw_pass rw_ranges_pass = {
    .probes = elements | 1u << REWRITE_OBJECTS, .declare = declare, .enter = enter, .access = find};
