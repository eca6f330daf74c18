/* What lanes of a warp exchange, barriers of a block, special registers.
 *
 * Shuffles and votes of the machine are among the lanes that come together, as PTX had it before the
 * forms with .sync, and so they are lifted. Matches and reductions have but forms that name the lanes: those
 * that a vote finds. A uniform register is a register of each thread. */
#include "sass/lifter.h"

#include <inttypes.h>
#include <string.h>

/* ---- special registers ---- */

static const struct {
    const char *name, *ptx;
} specials[] = {{"SR_CTAID.X", "%ctaid.x"},
                {"SR_CTAID.Y", "%ctaid.y"},
                {"SR_CTAID.Z", "%ctaid.z"},
                {"SR_CLOCKHI", "%clock_hi"},
                {"SR_CLOCKLO", "%clock"},
                {"SR_EQMASK", "%lanemask_eq"},
                {"SR_GEMASK", "%lanemask_ge"},
                {"SR_GLOBALTIMERHI", "%globaltimer_hi"},
                {"SR_GLOBALTIMERLO", "%globaltimer_lo"},
                {"SR_GTMASK", "%lanemask_gt"},
                {"SR_LANEID", "%laneid"},
                {"SR_LEMASK", "%lanemask_le"},
                {"SR_LTMASK", "%lanemask_lt"},
                {"SR_TID.X", "%tid.x"},
                {"SR_TID.Y", "%tid.y"},
                {"SR_TID.Z", "%tid.z"},
                {"SR_VIRTUALSMID", "%smid"},
                {"SRZ", "0"}};

static const char *special_of(const lifter *l)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (sass_text_is(lift_operand(l, 1)->name, specials[i].name))
            return specials[i].ptx;
    return NULL;
}

void lift_s2r(lifter *l)
{
    if (sass_text_is(lift_operand(l, 1)->name, "SR_SWINHI")) {
        lift_set(l, 0, 0, lift_window(l, false, true).at);
        return;
    }
    if (lift_asks_rank(&l->in)) {
        lift_rank(l);
        return;
    }
    const char *special = special_of(l);
    if (special)
        lift_set(l, 0, 0, special);
    l->known = special != NULL;
}

/* Of 64 bits: two words of a clock, or of nothing. */
void lift_cs2r(lifter *l)
{
    static const char *const wide[][2] = {{"%clock", "%clock64"},
                                          {"%globaltimer_lo", "%globaltimer"}};
    const char *special = special_of(l);
    l->known = special != NULL;
    if (!special || lift_has(l, "32")) {
        if (special)
            lift_set(l, 0, 0, special);
        return;
    }
    lift_text d = lift_new(l, LIFT_B64);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strcmp(special, wide[i][0]) == 0)
            special = wide[i][1];
    l->known = strcmp(special, "0") == 0 || strstr(special, "64") || strstr(special, "timer");
    lift_put(l, "mov.u64 %s, %s", d.at, l->known ? special : "0");
    if (l->known)
        lift_set_pair(l, 0, d.at);
}

/* ---- shuffles and votes ---- */

/* P, d, a, b, c: P says whether the lane that a is taken from is in range. */
void lift_shfl(lifter *l)
{
    static const char *const names[] = {"IDX", "UP", "DOWN", "BFLY", NULL};
    static const char *const modes[] = {"idx", "up", "down", "bfly"};
    int mode = lift_which(l, names);
    lift_text a = lift_word(l, 2, 0), b = lift_word(l, 3, 0), c = lift_word(l, 4, 0),
              to = lift_to(l, 1, 0), in_range = lift_to_pred(l, 0);
    l->known &= mode >= 0;
    if (mode >= 0)
        lift_do(l, "shfl.%s.b32 %s|%s, %s, %s, %s", modes[mode], to.at, in_range.at, a.at, b.at,
                c.at);
}

/* A register with the lanes where the predicate holds, and a predicate that says whether all, any or all
 * alike do. */
static void vote(lifter *l, unsigned of)
{
    static const char *const names[] = {"ALL", "ANY", "EQ", NULL};
    static const char *const modes[] = {"all", "any", "uni"};
    const sass_operand *lanes = lift_operand(l, 0);
    int mode = lift_which(l, names);
    bool ballot = of == 2 && !lift_is_none(lanes), asked = !lift_is_none(lift_operand(l, of - 1));
    if (mode < 0 || (ballot && mode != 1)) {
        l->known = false;
        return;
    }
    lift_text p = lift_pred(l, of), result = lift_new(l, LIFT_PRED), t = lift_new(l, LIFT_B32);
    if (asked)
        lift_do(l, "vote.%s.pred %s, %s", modes[mode], result.at, p.at);
    if (ballot)
        lift_do(l, "vote.ballot.b32 %s, %s", t.at, p.at);
    if (asked)
        lift_set_pred(l, of - 1, result.at);
    if (ballot)
        lift_set(l, 0, 0, t.at);
}

void lift_vote(lifter *l)
{
    vote(l, 2);
}

void lift_voteu(lifter *l)
{
    vote(l, l->in.operands - 1u);
}

/* ---- matches, reductions, election ---- */

/* The lanes that come here together. */
static lift_text lanes_here(lifter *l)
{
    lift_text t = lift_new(l, LIFT_B32);
    lift_do(l, "vote.ballot.b32 %s, %%pt", t.at);
    return t;
}

/* d, a, or with .ALL P, d, a. */
void lift_match(lifter *l)
{
    bool all = lift_has(l, "ALL"), wide = lift_has(l, "U64");
    unsigned d = all ? 1 : 0;
    lift_text a = wide ? lift_pair(l, d + 1) : lift_word(l, d + 1, 0), lanes = lanes_here(l),
              to = lift_to(l, d, 0);
    const char *type = wide ? "b64" : "b32";
    if (all)
        lift_do(l, "match.all.sync.%s %s|%s, %s, %s", type, to.at, lift_to_pred(l, 0).at, a.at,
                lanes.at);
    else
        lift_do(l, "match.any.sync.%s %s, %s, %s", type, to.at, a.at, lanes.at);
}

void lift_redux(lifter *l)
{
    static const char *const names[] = {"OR", "XOR", "SUM", "MIN", "MAX", NULL};
    static const char *const words[] = {"and", "or", "xor", "add", "min", "max"};
    int which = lift_which(l, names) + 1;
    lift_text a = lift_word(l, 1, 0), lanes = lanes_here(l);
    lift_do(l, "redux.sync.%s.%s %s, %s, %s", words[which],
            which < 3            ? "b32"
            : lift_has(l, "S32") ? "s32"
                                 : "u32",
            lift_to(l, 0, 0).at, a.at, lanes.at);
}

/* P, d, Q: one lane of those where Q holds gets P, and all its number. */
void lift_elect(lifter *l)
{
    const sass_operand *may = lift_operand(l, 2);
    if (!lift_is_none(may) || may->flags & SASS_NEGATED) {
        l->known = false;
        return;
    }
    lift_text lanes = lanes_here(l);
    lift_do(l, "elect.sync %s|%s, %s", lift_to(l, 1, 0).at, lift_to_pred(l, 0).at, lanes.at);
}

/* The guard of the instruction as a predicate of the lifter's own. */
static lift_text lifted_guard(lifter *l)
{
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "%s.pred %s, %s", l->guarded && l->in.guard_negated ? "not" : "mov", q.at,
             l->guarded ? l->guard_pred.at : "%pt");
    return q;
}

/* All lanes get what the lowest of those has for which the instruction runs. P tells these whether they have another value;
 * with .OR, or had another one before. So lanes with different values take turns. */
static void choose_lane(lifter *l)
{
    lift_text lanes = lift_new(l, LIFT_B32), lane = lift_new(l, LIFT_B32),
              value = lift_new(l, LIFT_B32), a = lift_word(l, 2, 0);
    lift_text there = lift_new(l, LIFT_PRED), any = lift_new(l, LIFT_PRED),
              other = lift_new(l, LIFT_PRED);
    lift_put(l, "vote.ballot.b32 %s, %s", lanes.at, lifted_guard(l).at);
    lift_put(l, "setp.ne.u32 %s, %s, 0", any.at, lanes.at);
    lift_put(l, "brev.b32 %s, %s", lane.at, lanes.at);
    lift_put(l, "clz.b32 %s, %s", lane.at, lane.at);
    lift_put(l, "shfl.idx.b32 %s|%s, %s, %s, 31", value.at, there.at, a.at, lane.at);
    lift_put(l, "setp.ne.u32 %s, %s, %s", other.at, a.at, value.at);
    if (lift_has(l, "OR"))
        lift_put(l, "or.pred %s, %s, %s", other.at, other.at, lift_to_pred(l, 0).at);
    lift_set_pred(l, 0, other.at);
    if (!lift_is_none(lift_operand(l, 1)))
        lift_put(l, "@%s mov.b32 %s, %s", any.at, lift_to(l, 1, 0).at, value.at);
}

/* P, d, a: without P all lanes have the same value, or each its own. */
void lift_r2ur(lifter *l)
{
    if (lift_is_none(lift_operand(l, 0)) && !lift_has(l, "BROADCAST"))
        lift_set(l, 1, 0, lift_word(l, 2, 0).at);
    else
        choose_lane(l);
}

void lift_warpsync(lifter *l)
{
    lift_arrival(l);
    if (lift_has(l, "ALL"))
        lift_do(l, "bar.warp.sync -1");
    else
        lift_do(l, "bar.warp.sync %s", lift_word(l, 1, 0).at);
    const sass_operand *may = lift_operand(l, 0);
    l->known &= lift_is_none(may) && !(may->flags & SASS_NEGATED) && !lift_has(l, "COLLECTIVE");
}

/* ---- barriers of a block ---- */

/* The barrier, and how many threads: all, where that is left out. What a barrier finds out is in %result or
 * %resultp until B2R asks for it. */
void lift_bar(lifter *l)
{
    lift_text number = lift_word(l, 0, 0), count = {""};
    bool every = lift_operand(l, 1)->flags & SASS_HIDDEN;
    if (!every)
        snprintf(count.at, sizeof count.at, ", %" PRId64, lift_operand(l, 1)->value);
    if (lift_has(l, "SYNC"))
        lift_do(l, "barrier.sync %s%s", number.at, count.at);
    else if (lift_has(l, "ARV") && !every)
        lift_do(l, "barrier.arrive %s%s", number.at, count.at);
    else if (lift_has(l, "RED") && lift_has(l, "POPC"))
        lift_do(l, "barrier.red.popc.u32 %%result, %s%s, %s", number.at, count.at,
                lift_pred(l, 2).at);
    else if (lift_has(l, "RED"))
        lift_do(l, "barrier.red.%s.pred %%resultp, %s%s, %s", lift_has(l, "AND") ? "and" : "or",
                number.at, count.at, lift_pred(l, 2).at);
    else
        l->known = false;
}

void lift_b2r(lifter *l)
{
    lift_set(l, 0, 0, "%result");
    lift_set_pred(l, 1, "%resultp");
}
