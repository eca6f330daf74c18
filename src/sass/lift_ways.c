#include "sass/lift_ways.h"

#include "sass/lifter.h"

#include <string.h>

enum {
    MOST_COPIES = 4096,
    MOST_GROWTH = 4, /* of the code by copies */
    LEAST_ROOM = 4096,
    BANK_OF_FUNCTIONS = 4,
    FIRST_RESULT = 4, /* of functions: registers that have arguments and results */
    LAST_RESULT = 15
};

static bool read_details(const sass_code *code, uint32_t i, sass_details *out)
{
    return sass_read(code->bytes + (size_t)i * SASS_BYTES, i, code->sm, out);
}

static bool is_name(const sass_details *in, const char *name)
{
    return strcmp(in->form->name, name) == 0;
}

/* ---- what a register holds ---- */

/* Whether it may write to any of `count` registers from `reg` on. */
static bool may_write(const sass_details *in, unsigned reg, unsigned count)
{
    for (unsigned i = 0; i < in->operands; i++) {
        const sass_operand *op = &in->operand[i];
        if (op->flags & SASS_WRITTEN && op->kind == SASS_REGISTER && op->reg != SASS_NO_REGISTER &&
            op->reg < reg + count && reg < op->reg + lift_result_width(in))
            return true;
    }
    return false;
}

static bool reads_nothing(const sass_operand *op)
{
    return op->kind == SASS_REGISTER && op->reg == SASS_NO_REGISTER;
}

/* Moves of numbers, as ptxas writes them. */
static bool moves_number(const sass_details *in, int64_t *value)
{
    const sass_operand *op = in->operand;
    if (is_name(in, "MOV") && in->operands > 1 && op[1].kind == SASS_NUMBER) {
        *value = (int32_t)op[1].value;
        return true;
    }
    if (is_name(in, "IMAD") && in->operands > 3 && !sass_has_modifier(in, "X") &&
        reads_nothing(&op[1]) && reads_nothing(&op[2]) &&
        (op[3].kind == SASS_NUMBER || op[3].kind == SASS_SIGNED)) {
        *value = (int32_t)op[3].value;
        return true;
    }
    if (is_name(in, "HFMA2") && in->operands > 4 && reads_nothing(&op[1]) &&
        reads_nothing(&op[2]) && (op[3].kind == SASS_HALF || op[3].kind == SASS_BFLOAT)) {
        *value = op[3].value << 16 | op[4].value;
        return true;
    }
    return false;
}

/* The last instruction before `at`, in a row where no branch leads to, that writes the register; SASS_NOWHERE:
 * not certain. Code that reads a register behind a call, which is not where the function's result is, knows that
 * the function keeps it. */
static uint32_t find_writer(const lift_ways *w, uint32_t at, unsigned reg, sass_details *in)
{
    while (at > 0 && !w->labels[at] && w->ways[at - 1].goes != LIFT_ANYWHERE) {
        at--;
        const lift_way *way = &w->ways[at];
        bool kept = way->goes == LIFT_ASKS && (reg < FIRST_RESULT || reg > LAST_RESULT);
        bool goes_on = way->goes == LIFT_ON || way->on || kept;
        if (!goes_on || way->goes == LIFT_CALLS || !read_details(w->code, at, in))
            return SASS_NOWHERE;
        if (may_write(in, reg, 1))
            return in->operand[0].reg == reg && in->guard == SASS_ALWAYS ? at : SASS_NOWHERE;
    }
    return SASS_NOWHERE;
}

static bool find_number(const lift_ways *w, uint32_t at, unsigned reg, int64_t *value)
{
    sass_details in;
    return find_writer(w, at, reg, &in) != SASS_NOWHERE && moves_number(&in, value);
}

/* The function whose address the register has, loaded from where the linker puts it. */
static const char *find_symbol(const lift_ways *w, uint32_t at, unsigned reg)
{
    const sass_places *p = &w->code->places;
    sass_details in;
    uint32_t load = find_writer(w, at, reg, &in);
    int64_t index = 0;
    if (load == SASS_NOWHERE || !is_name(&in, "LDC") || in.operands < 2 ||
        !sass_has_modifier(&in, "64") || in.operand[1].kind != SASS_CONSTANT ||
        in.operand[1].bank != BANK_OF_FUNCTIONS)
        return NULL;
    if (in.operand[1].flags & SASS_WITH_REGISTER && in.operand[1].reg != SASS_NO_REGISTER &&
        !find_number(w, load, in.operand[1].reg, &index))
        return NULL;
    for (uint32_t i = 0; i < p->nlinks; i++)
        if (p->links[i].bank == BANK_OF_FUNCTIONS && !p->links[i].addend &&
            (int64_t)p->links[i].offset == in.operand[1].value + index)
            return p->links[i].symbol;
    return NULL;
}

/* ---- ways ---- */

static uint32_t table_of_branch(const sass_code *code, uint32_t i)
{
    for (uint32_t j = 0; j < code->places.njumps; j++)
        if (code->places.jumps[j].from == i)
            return j;
    return SASS_NOWHERE;
}

static void find_return(const sass_details *in, lift_way *way)
{
    const sass_operand *op = &in->operand[1];
    way->goes = LIFT_RETURNS;
    way->known = in->operands > 1 && op->kind == SASS_TARGET && op->flags & SASS_WITH_REGISTER;
    way->reg = op->reg;
    way->base = op->value;
}

static lift_way way_of(const sass_code *code, uint32_t i)
{
    const sass_insn *insn = &code->insns[i];
    lift_way way = {.goes = LIFT_ON, .target = insn->target, .table = SASS_NOWHERE};
    sass_details in;
    bool read = read_details(code, i, &in);
    if (in.guard == SASS_ALWAYS && in.guard_negated)
        return way;
    way.on = insn->conditional || in.guard != SASS_ALWAYS;
    switch (insn->flow) {
    case SASS_NEXT: break;
    case SASS_BRANCH: way.goes = insn->target < code->count ? LIFT_TO : LIFT_ANYWHERE; break;
    case SASS_CALL: way.goes = insn->target < code->count ? LIFT_CALLS : LIFT_ANYWHERE; break;
    case SASS_RETURN: find_return(&in, &way); break;
    case SASS_EXIT: way.goes = LIFT_ENDS; break;
    default:
        way.table = table_of_branch(code, i);
        way.goes = way.table == SASS_NOWHERE ? LIFT_ANYWHERE : LIFT_TABLE;
    }
    if (!read && insn->flow != SASS_NEXT)
        way.goes = LIFT_ANYWHERE;
    if (read && insn->flow != SASS_NEXT && in.operands) /* a condition of its own */
        way.on |= in.operand[0].kind == SASS_PREDICATE &&
                  (in.operand[0].reg != SASS_ALWAYS || in.operand[0].flags & SASS_NEGATED);
    if (way.goes == LIFT_TO && insn->target == i)
        way.goes = LIFT_ENDS; /* fills up the code */
    if (read && is_name(&in, "BPT"))
        way.goes = LIFT_ENDS;
    return way;
}

/* The functions that registers name. */
static void name_functions(lift_ways *w)
{
    for (uint32_t i = 0; i < w->code->count; i++) {
        sass_details in;
        if (w->code->insns[i].flow != SASS_CALL || w->ways[i].goes != LIFT_ANYWHERE ||
            !read_details(w->code, i, &in) || !sass_has_modifier(&in, "ABS") || in.operands < 2)
            continue;
        w->ways[i].symbol = find_symbol(w, i, in.operand[1].reg);
        if (w->ways[i].symbol)
            w->ways[i].goes = LIFT_ASKS;
    }
}

/* Where branches, tables and returns may go. */
static void mark_labels(lift_ways *w)
{
    const sass_code *code = w->code;
    for (uint32_t i = 0; i < code->count; i++) {
        if (w->ways[i].goes == LIFT_TO || w->ways[i].goes == LIFT_CALLS)
            w->labels[w->ways[i].target] = 1;
        if (w->ways[i].goes == LIFT_CALLS && i + 1 < code->count)
            w->labels[i + 1] = 1;
    }
    for (uint32_t j = 0; j < code->places.njumps; j++)
        for (uint32_t k = 0; k < code->places.jumps[j].count; k++)
            if (code->places.jumps[j].targets[k] < code->count)
                w->labels[code->places.jumps[j].targets[k]] = 1;
}

/* ---- searches ---- */

typedef struct search {
    lift_ways *w;
    uint32_t number, depth;
} search;

static void come_to(search *s, uint32_t i)
{
    if (i < s->w->code->count && s->w->seen[i] != s->number) {
        s->w->seen[i] = s->number;
        s->w->stack[s->depth++] = i;
    }
}

static void follow_way(search *s, uint32_t i)
{
    const lift_way *way = &s->w->ways[i];
    const sass_places *p = &s->w->code->places;
    if (way->goes == LIFT_ON || way->goes == LIFT_ASKS || way->goes == LIFT_CALLS || way->on)
        come_to(s, i + 1);
    if (way->goes == LIFT_TO || (way->goes == LIFT_CALLS && !way->copied))
        come_to(s, way->target);
    for (uint32_t k = 0; way->goes == LIFT_TABLE && k < p->jumps[way->table].count; k++)
        come_to(s, p->jumps[way->table].targets[k]);
}

static uint32_t reach(lift_ways *w, uint32_t root)
{
    search s = {w, ++w->searches, 0};
    come_to(&s, root);
    while (s.depth)
        follow_way(&s, w->stack[--s.depth]);
    return s.number;
}

uint32_t lift_ways_reach(lift_ways *w, uint32_t copy)
{
    return reach(w, w->copies.data[copy].root);
}

/* ---- subroutines ---- */

enum { NOT_ASKED, OWN, NOT_OWN };

/* Does the call leave in the register where the subroutine returns to, just after it? */
static bool is_plain_call(const lift_ways *w, uint32_t call, const lift_way *returns)
{
    int64_t value;
    return !w->ways[call].on && find_number(w, call, returns->reg, &value) &&
           (int32_t)(value + returns->base) == (int32_t)((call + 1) * SASS_BYTES);
}

/* The register that has the lower half of where a return goes, when the subroutine begins. The upper half is of no
 * account: code is short. */
static uint8_t register_of_return(const lift_ways *w, uint32_t at)
{
    sass_details in;
    uint8_t reg = w->ways[at].reg;
    if (find_writer(w, at, reg, &in) == SASS_NOWHERE)
        return reg;
    unsigned from = is_name(&in, "MOV") ? 1 : is_name(&in, "IMAD") ? 3 : 0;
    bool moves = from && in.operands > from && in.operand[from].kind == SASS_REGISTER &&
                 !(in.operand[from].flags & (SASS_NEGATED | SASS_INVERTED | SASS_ABSOLUTE)) &&
                 !sass_has_modifier(&in, "X") && !sass_has_modifier(&in, "WIDE") &&
                 !sass_has_modifier(&in, "HI") &&
                 (from == 1 || reads_nothing(&in.operand[1]) || reads_nothing(&in.operand[2]));
    return moves ? in.operand[from].reg : reg;
}

/* The returns of what the search saw: all by one register, which nothing there writes. False: not so, or
 * there is none. */
static bool find_only_return(const lift_ways *w, uint32_t number, lift_way *found)
{
    *found = (lift_way){0};
    for (uint32_t i = 0; i < w->code->count; i++) {
        const lift_way *way = &w->ways[i];
        if (w->seen[i] != number || way->goes != LIFT_RETURNS)
            continue;
        lift_way one = *way;
        one.reg = way->known ? register_of_return(w, i) : 0;
        if (!way->known || (found->known && (found->reg != one.reg || found->base != one.base)))
            return false;
        *found = one;
    }
    for (uint32_t i = 0; found->known && i < w->code->count; i++) {
        sass_details in;
        if (w->seen[i] == number &&
            (!read_details(w->code, i, &in) || may_write(&in, found->reg, 1)))
            return false;
    }
    return found->known;
}

/* Only subroutines that call no others: those that do are few. */
static bool can_be_copied(lift_ways *w, uint32_t root)
{
    uint32_t number = reach(w, root);
    for (uint32_t i = 0; i < w->code->count; i++)
        if (w->seen[i] == number &&
            (w->ways[i].goes == LIFT_CALLS || w->ways[i].goes == LIFT_ANYWHERE))
            return false;
    lift_way returns;
    if (!find_only_return(w, number, &returns))
        return false;
    for (uint32_t i = 0; i < w->code->count; i++)
        if (w->ways[i].goes == LIFT_CALLS && w->ways[i].target == root &&
            !is_plain_call(w, i, &returns))
            return false;
    return true;
}

static void find_subroutines(lift_ways *w)
{
    for (uint32_t i = 0; i < w->code->count; i++) {
        lift_way *way = &w->ways[i];
        if (way->goes != LIFT_CALLS)
            continue;
        if (!w->own[way->target])
            w->own[way->target] = can_be_copied(w, way->target) ? OWN : NOT_OWN;
        way->copied = w->own[way->target] == OWN;
    }
}

static uint32_t size_of_copy(const lift_ways *w, uint32_t number)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < w->code->count; i++)
        size += w->seen[i] == number;
    return size;
}

/* A copy for each call that the kernel comes to, as long as there is room. */
static bool find_copies(lift_ways *w)
{
    uint64_t room = (uint64_t)MOST_GROWTH * w->code->count + LEAST_ROOM, size = 0;
    if (!wl_push(&w->copies, (lift_copy){0}))
        return false;
    uint32_t number = lift_ways_reach(w, 0);
    for (uint32_t i = 0; i < w->code->count; i++)
        if (w->seen[i] == number && w->ways[i].copied &&
            !wl_push(&w->copies, ((lift_copy){w->ways[i].target, i})))
            return false;
    for (uint32_t c = 1; c < w->copies.count; c++)
        size += size_of_copy(w, lift_ways_reach(w, c));
    if (size <= room && w->copies.count <= MOST_COPIES)
        return true;
    for (uint32_t i = 0; i < w->code->count; i++)
        w->ways[i].copied = false;
    w->copies.count = 1;
    return true;
}

bool lift_ways_find(lift_ways *w, const sass_code *code, wl_arena *arena)
{
    *w = (lift_ways){.code = code};
    w->ways = wl_new_array(arena, lift_way, code->count + 1);
    w->labels = wl_new_array(arena, uint8_t, code->count + 1);
    w->own = wl_new_array(arena, uint8_t, code->count + 1);
    w->stack = wl_new_array(arena, uint32_t, code->count + 1);
    w->seen = wl_new_array(arena, uint32_t, code->count + 1);
    if (!w->ways || !w->labels || !w->own || !w->stack || !w->seen)
        return false;
    for (uint32_t i = 0; i < code->count; i++)
        w->ways[i] = way_of(code, i);
    mark_labels(w);
    name_functions(w);
    find_subroutines(w);
    return find_copies(w);
}

uint32_t lift_ways_callee(const lift_ways *w, uint32_t call)
{
    for (uint32_t c = 1; c < w->copies.count; c++)
        if (w->copies.data[c].call == call)
            return c;
    return 0;
}
