/* live: which accesses begin live ranges of words of shared arrays, and which come to a word before
 * any range of it has begun.
 *
 * Needs: the passes shared and live. Keeps: everything. Buffers: flags in shared memory, a byte for
 * each word of an array, and counters by thread, which the probe shared has. Nothing here is a
 * branch, nor a guarded access to memory: lanes that are not to be noted go to a word of nobody. */
#include "rewrite/code/body.h"

static const rw_live_plan *live_of(const rw_body *b)
{
    return b->plan->live;
}

/* ---- registers ---- */

static rw_reg place_register(uint32_t place)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "live", .number = place};
}

static rw_reg last_read_register(uint32_t load)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "last", .number = load};
}

/* Calls `each` for the places whose counters are kept in registers. */
static void each_live_place(rw_body *b, void (*each)(rw_body *b, uint32_t place))
{
    for (uint32_t i = 0; b->index == 0 && i < live_of(b)->narrays; i++) {
        const rw_live_array *a = &live_of(b)->arrays[i];
        if (a->flags)
            each(b, a->unfilled);
        for (int origin = 0; origin < FLOW_ORIGINS; origin++)
            if (a->begins[origin] != IR_NONE)
                each(b, a->begins[origin]);
    }
}

static void declare_live_place(rw_body *b, uint32_t place)
{
    rw_declare(b, RW_B32, "live", place);
}

static void clear_live_place(rw_body *b, uint32_t place)
{
    rw_do(b, mov_u32, place_register(place), rw_number(0));
}

static void declare_live(rw_body *b)
{
    each_live_place(b, declare_live_place);
    for (uint32_t i = 0; b->index == 0 && i < live_of(b)->nloads; i++)
        rw_declare(b, RW_B32, "last", i);
}

enum { NO_WORD = 1u << 30 /* far from any word of shared memory */ };

static void enter_live(rw_body *b)
{
    each_live_place(b, clear_live_place);
    for (uint32_t i = 0; b->index == 0 && i < live_of(b)->nloads; i++)
        rw_do(b, mov_u32, last_read_register(i), rw_number(NO_WORD));
}

/* ---- an access ---- */

typedef struct spot {
    rw_reg word;   /* number in shared memory of the first that the lane accesses */
    rw_reg inside; /* it accesses the array */
    rw_reg flag, nowhere;
} spot;

/* Without flags `flag` and `nowhere` stay empty. */
static spot find_spot(rw_body *b, const rw_live_access *a, const rw_live_array *array)
{
    spot s = {.word = rw_get(b, cvt_u32_u64, rw_find_address(b, a->site)),
              .inside = rw_temp(b, RW_PRED)};
    rw_reg begin = rw_get(b, mov_u32, rw_address_of_name(array->var->name, 0));
    rw_reg at = rw_get(b, sub_u32, s.word, begin);
    rw_compare(b, RW_I_setp_lt_u32, RW_I_setp_lt_and_u32, s.inside, at, rw_number(array->bytes),
               rw_guard_of(b, a->site));
    rw_do(b, shr_u32, s.word, s.word, rw_number(2));
    if (!array->flags)
        return s;
    rw_do(b, shr_u32, at, at, rw_number(2));
    rw_reg tables = rw_find_shared_tables(b);
    s.nowhere = rw_get(b, add_u32, tables, rw_number(rw_missed_at(b->plan) + RW_NOWHERE_BYTES));
    rw_do(b, add_u32, tables, tables, rw_number(array->from));
    s.flag = rw_get(b, add_u32, at, tables);
    rw_do(b, selp_b32, s.flag, s.flag, s.nowhere, s.inside);
    return s;
}

/* Lanes of `in` access the word at the flag without beginning a range. */
static void look_at_word(rw_body *b, const rw_live_array *array, rw_opd flag, rw_reg in)
{
    rw_reg count = place_register(array->unfilled);
    rw_reg filled = rw_get(b, ld_shared_u8, flag);
    rw_reg lacks = rw_get(b, setp_eq_and_u32, filled, rw_number(0), in);
    rw_when(b, lacks, add_u32, count, count, rw_number(1));
}

static void count_begin(rw_body *b, const rw_live_access *a, const rw_live_array *array, rw_reg in,
                        unsigned words)
{
    if (array->begins[a->origin] == IR_NONE)
        return;
    rw_reg count = place_register(array->begins[a->origin]);
    rw_when(b, in, add_u32, count, count, rw_number(words));
}

/* Lanes whose load, of those that the store may depend on, read the word last. */
static rw_reg find_updates(rw_body *b, const rw_live_access *a, rw_reg word)
{
    rw_reg updates = rw_nowhere(b);
    for (uint32_t i = 0; i < live_of(b)->nloads; i++) {
        if (!(a->reads >> i & 1))
            continue;
        rw_reg apart = rw_get(b, sub_u32, word, last_read_register(i));
        rw_reg same = rw_get(b, setp_lt_u32, apart, rw_number(live_of(b)->loads[i].words));
        rw_do(b, or_pred, updates, updates, same);
    }
    return updates;
}

/* Of the e-th word that lanes store to. */
static void note_either(rw_body *b, const rw_live_access *a, const rw_live_array *array,
                        const spot *s, unsigned e)
{
    rw_reg word = rw_get(b, add_u32, s->word, rw_number(e));
    rw_reg updates = find_updates(b, a, word);
    rw_do(b, and_pred, updates, updates, s->inside);
    rw_reg begins = rw_get(b, not_pred, updates);
    rw_do(b, and_pred, begins, begins, s->inside);
    count_begin(b, a, array, begins, 1);
    if (!array->flags)
        return;
    look_at_word(b, array, rw_at(s->flag, e), updates);
    rw_reg flag = rw_get(b, selp_b32, s->flag, s->nowhere, begins);
    rw_do(b, st_shared_u8, rw_at(flag, e), rw_number(1));
}

static void note_live_access(rw_body *b, const rw_live_access *a)
{
    const rw_live_array *array = &live_of(b)->arrays[a->array];
    unsigned n = rw_elements(&b->plan->sites[a->site]);
    spot s = find_spot(b, a, array);
    for (unsigned e = 0; e < n; e++)
        if (a->write == FLOW_EITHER)
            note_either(b, a, array, &s, e);
        else if (a->write == FLOW_FILLS && array->flags)
            rw_do(b, st_shared_u8, rw_at(s.flag, e), rw_number(1));
        else if (!a->filled && array->flags)
            look_at_word(b, array, rw_at(s.flag, e), s.inside);
    if (a->write == FLOW_FILLS)
        count_begin(b, a, array, s.inside, n);
    if (a->keeps != IR_NONE)
        rw_when(b, s.inside, mov_u32, last_read_register(a->keeps), s.word);
}

/* Is there anything to be noted of the access? */
static bool is_noted(const rw_body *b, const rw_live_access *a)
{
    const rw_live_array *array = &live_of(b)->arrays[a->array];
    bool begins = a->write == FLOW_EITHER ||
                  (a->write == FLOW_FILLS && array->begins[a->origin] != IR_NONE);
    return a->keeps != IR_NONE || begins || (array->flags && !a->filled);
}

static void note_insn(rw_body *b, uint32_t insn)
{
    uint32_t at = b->index == 0 ? live_of(b)->access_at[b->f->first_pc + insn] : IR_NONE;
    if (at != IR_NONE && is_noted(b, &live_of(b)->accesses[at]))
        note_live_access(b, &live_of(b)->accesses[at]);
}

/* ---- publishing ---- */

static void leave_live(rw_body *b)
{
    if (b->index != 0 || !live_of(b)->narrays)
        return;
    rw_reg threads, places = rw_find_thread_places(b, &threads);
    for (uint32_t i = 0; i < live_of(b)->narrays; i++) {
        const rw_live_array *a = &live_of(b)->arrays[i];
        for (int n = -1; n < FLOW_ORIGINS; n++) {
            uint32_t place = n < 0 ? a->unfilled : a->begins[n];
            if (place == IR_NONE)
                continue;
            rw_reg counter = rw_find_place(b, place, places, threads);
            rw_reg any = rw_get(b, setp_ne_u32, place_register(place), rw_number(0));
            rw_when(b, any, red_global_add_u32, rw_at(counter, 0), place_register(place));
            clear_live_place(b, place);
        }
    }
}

const rw_emitter rw_emitter_live = {.probes = 1u << REWRITE_SHARED,
                                    .declare = declare_live,
                                    .enter = enter_live,
                                    .before = note_insn,
                                    .leave = leave_live};
