/* Asynchronous copies, fences, hints.
 *
 * A copy is lifted as the PTX that it is made from; that it is done some time later nobody but a fence or a wait
 * can see, and the waits say nothing of their own then. */
#include "sass/lift_memory.h"

#include <string.h>

/* ---- small copies to shared memory ---- */

static unsigned copied_bytes(const lifter *l)
{
    return lift_has(l, "128") ? 16 : lift_has(l, "64") ? 8 : 4;
}

/* The 64 bits that "[%d0+16]" names. */
static lift_text value_of_address(lifter *l, lift_text address)
{
    lift_text d = lift_new(l, LIFT_B64);
    char *plus = strchr(address.at, '+');
    address.at[strlen(address.at) - 1] = '\0';
    *plus = '\0';
    lift_put(l, "add.s64 %s, %s, %s", d.at, address.at + 1, plus + 1);
    return d;
}

/* With .ZFILL the lowest bits of the address tell how many of the last bytes are 0 instead. */
static lift_text split_tail(lifter *l, lift_text address, unsigned bytes, lift_text *count)
{
    lift_text d = value_of_address(l, address), low = lift_new(l, LIFT_B64), text;
    *count = lift_new(l, LIFT_B32);
    lift_put(l, "and.b64 %s, %s, %u", low.at, d.at, bytes - 1);
    lift_put(l, "sub.s64 %s, %s, %s", d.at, d.at, low.at);
    lift_put(l, "cvt.u32.u64 %s, %s", count->at, low.at);
    lift_put(l, "sub.u32 %s, %u, %s", count->at, bytes, count->at);
    snprintf(text.at, sizeof text.at, "[%.20s]", d.at);
    return text;
}

/* To, from, P: where P does not hold, zeros are written. */
void lift_ldgsts(lifter *l)
{
    unsigned bytes = copied_bytes(l);
    const sass_operand *p = lift_operand(l, 2);
    bool partial = lift_has(l, "ZFILL"), always = lift_is_none(p) && !(p->flags & SASS_NEGATED);
    lift_text to = lift_narrow_address(l, 0), from = lift_wide_address(l, 1),
              count = lift_number(bytes);
    if (partial)
        from = split_tail(l, from, bytes, &count);
    if (!always) {
        lift_text t = lift_new(l, LIFT_B32);
        lift_put(l, "selp.b32 %s, %s, 0, %s", t.at, count.at, lift_pred(l, 2).at);
        count = t;
    }
    const char *where = bytes == 16 && lift_has(l, "BYPASS") ? "cg" : "ca";
    if (partial || !always)
        lift_do(l, "cp.async.%s.shared.global %s, %s, %u, %s", where, to.at, from.at, bytes,
                count.at);
    else
        lift_do(l, "cp.async.%s.shared.global %s, %s, %u", where, to.at, from.at, bytes);
}

/* ---- fences ---- */

void lift_membar(lifter *l)
{
    static const char *const names[] = {"CTA", "GPU", "SYS", NULL};
    static const char *const scopes[] = {"membar.cta", "membar.gl", "membar.sys"};
    int which = lift_which(l, names);
    lift_do(l, "%s", which < 0 ? "membar.gl" : scopes[which]);
}

void lift_fence(lifter *l)
{
    lift_do(l, "fence.proxy.async");
}

/* ---- where an address leads ---- */

/* P, d, address. */
void lift_qspc(lifter *l)
{
    const char *space = lift_has(l, "S")   ? "shared"
                        : lift_has(l, "G") ? "global"
                        : lift_has(l, "L") ? "local"
                                           : NULL;
    l->known &= space && lift_is_none(lift_operand(l, 1));
    if (!l->known)
        return;
    lift_text d = value_of_address(l, lift_wide_address(l, 2)), q = lift_new(l, LIFT_PRED);
    lift_put(l, "isspacep.%s %s, %s", space, q.at, d.at);
    lift_set_pred(l, 0, q.at);
}

/* ---- barriers in shared memory, and copies of whole tiles ---- */

/* A uniform instruction runs once for a warp: for one of the lanes that come here. */
void lift_one_lane(lifter *l)
{
    lift_text lanes = lift_new(l, LIFT_B32), q = lift_new(l, LIFT_PRED),
              any = lift_new(l, LIFT_B32);
    lift_do(l, "vote.ballot.b32 %s, %%pt", lanes.at);
    lift_put(l, "not.pred %s, %%pt", q.at);
    lift_do(l, "elect.sync %s|%s, %s", any.at, q.at, lanes.at);
    l->guarded = true;
    l->in.guard_negated = false;
    l->guard_pred = q;
}

/* d, address, pair: the count of arrivals that is set begins at 2^20 and counts up; its lower word has it twice. */
static void begin_barrier(lifter *l)
{
    lift_text address = lift_narrow_address(l, 1), count = lift_new(l, LIFT_B32);
    l->known &= lift_is_none(lift_operand(l, 0));
    if (!l->known)
        return;
    lift_put(l, "shr.u32 %s, %s, 1", count.at, lift_word(l, 2, 0).at);
    lift_put(l, "sub.u32 %s, 0x100000, %s", count.at, count.at);
    lift_one_lane(l);
    lift_do(l, "mbarrier.init.shared.b64 %s, %s", address.at, count.at);
}

/* P, address, parity in the uppermost bit. */
static void wait_for_barrier(lifter *l)
{
    lift_text address = lift_narrow_address(l, 1), parity = lift_new(l, LIFT_B32);
    lift_put(l, "shr.u32 %s, %s, 31", parity.at, lift_word(l, 2, 0).at);
    lift_do(l, "mbarrier.%s.parity.shared.b64 %s, %s, %s",
            lift_has(l, "TRYWAIT") ? "try_wait" : "test_wait", lift_to_pred(l, 0).at, address.at,
            parity.at);
}

/* d, address, bytes: one arrives, and so many bytes are expected; with .A1T0 none are. The uppermost bit of d is the
 * phase's, which a wait takes for its parity. */
static void arrive(lifter *l)
{
    bool plain = lift_has(l, "A1T0") && lift_is_none(lift_operand(l, 2));
    bool expects = l->in.modifiers == 2;
    l->known &= (plain || expects) && !lift_has(l, "RED");
    if (!l->known)
        return;
    lift_text address = lift_narrow_address(l, 1), d = lift_new(l, LIFT_B64);
    if (plain)
        lift_do(l, "mbarrier.arrive.shared.b64 %s, %s", d.at, address.at);
    else
        lift_do(l, "mbarrier.arrive.expect_tx.shared.b64 %s, %s, %s", d.at, address.at,
                lift_word(l, 2, 0).at);
    lift_set_pair(l, 0, d.at);
}

void lift_syncs(lifter *l)
{
    if (lift_has(l, "EXCH"))
        begin_barrier(l);
    else if (lift_has(l, "PHASECHK"))
        wait_for_barrier(l);
    else
        arrive(l);
}

/* Whether there are registers to be had is a matter of time. */
void lift_usetmaxreg(lifter *l)
{
    if (!lift_has(l, "TRY_ALLOC"))
        return;
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "setp.eq.u32 %s, %s, 0", q.at, lift_unknown(l).at);
    lift_set_pred(l, 0, q.at);
    l->known = false;
    l->elsewhere = true;
}

void lift_ucgabar_arv(lifter *l)
{
    lift_do(l, "barrier.cluster.arrive");
}

void lift_ucgabar_wait(lifter *l)
{
    lift_do(l, "barrier.cluster.wait");
}
