/* Reads a premise, and works it out for each thread, with the least and the most that a number may be. */
#include "analysis/shared/crowd.h"

#include "analysis/forms.h"
#include "flow/premises.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 600, MOST_ROUNDS = 128, MOST_STEPS = 1000000 /* over all threads */ };

typedef enum kind { UNKNOWN, NUMBER, TID, NTID, LANE, SELF, OPERATION } kind;

typedef struct node {
    kind kind;
    flow_premise_op op;
    uint32_t bits; /* of the operation's type */
    bool is_signed;
    uint64_t number;      /* of NUMBER; of TID and NTID the dimension */
    uint32_t operands[3]; /* nodes that stand behind it */
} node;

typedef struct expression {
    uint32_t count;
    node *nodes; /* the first is the whole */
} expression;

/* ---- reading ---- */

typedef struct reader {
    const char *at;
    expression *to;
    bool damaged;
} reader;

static bool take_of_premise(reader *r, const char *text)
{
    size_t n = strlen(text);
    bool found = strncmp(r->at, text, n) == 0;
    r->at += found ? n : 0;
    return found;
}

static bool read_type(reader *r, node *n)
{
    size_t length = strcspn(r->at, "(");
    for (uint32_t type = 1; type < IR_TYPE_COUNT; type++) {
        const ir_type_info *t = ir_type_get((ir_type)type);
        bool integer = t->kind == IR_KIND_U || t->kind == IR_KIND_S || t->kind == IR_KIND_B ||
                       t->kind == IR_KIND_P;
        if (!integer || t->lanes != 1 || t->bits > 64 || strlen(t->text) != length ||
            strncmp(t->text, r->at, length) != 0)
            continue;
        n->bits = t->bits;
        n->is_signed = t->kind == IR_KIND_S;
        r->at += length;
        return true;
    }
    return false;
}

static bool read_op(reader *r, node *n)
{
    size_t length = strcspn(r->at, ".(, ");
    for (uint32_t op = 0; op < FLOW_PREMISE_OPS; op++) {
        const char *text = flow_premise_text((flow_premise_op)op);
        if (strlen(text) != length || strncmp(text, r->at, length) != 0)
            continue;
        n->op = (flow_premise_op)op;
        r->at += length;
        return take_of_premise(r, ".") && read_type(r, n) && take_of_premise(r, "(");
    }
    return false;
}

static void read_premise_number(reader *r, node *n)
{
    char *end;
    n->kind = NUMBER;
    n->number = (uint64_t)strtoll(r->at, &end, 10);
    r->damaged |= end == r->at;
    r->at = end;
}

static bool read_premise_name(reader *r, node *n)
{
    uint32_t d;
    size_t length = strcspn(r->at, ",)");
    n->kind = UNKNOWN;
    if (take_of_premise(r, "?"))
        return true;
    n->kind = SELF;
    if (take_of_premise(r, "self"))
        return true;
    n->kind = LANE;
    if (take_of_premise(r, "laneid"))
        return true;
    n->kind = TID;
    if ((d = ana_factor_dimension(r->at, (uint32_t)length, "tid")) == 3) {
        n->kind = NTID;
        d = ana_factor_dimension(r->at, (uint32_t)length, "ntid");
    }
    n->number = d;
    r->at += d < 3 ? length : 0;
    return d < 3;
}

static uint32_t read_premise_node(reader *r, uint32_t depth)
{
    uint32_t at = r->to->count;
    node n = {.kind = OPERATION};
    if (r->damaged || at == MOST_NODES || depth > FLOW_PREMISE_DEPTH) {
        r->damaged = true;
        return 0;
    }
    r->to->count++;
    if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')) {
        read_premise_number(r, &n);
    } else if (read_op(r, &n)) {
        for (uint32_t i = 0; i < flow_premise_operands(n.op) && !r->damaged; i++) {
            r->damaged |= i > 0 && !take_of_premise(r, ", ");
            n.operands[i] = read_premise_node(r, depth + 1);
        }
        r->damaged |= !take_of_premise(r, ")");
    } else {
        r->damaged |= !read_premise_name(r, &n);
    }
    r->to->nodes[at] = n;
    return at;
}

static bool read_premise(const char *text, expression *out)
{
    reader r = {.at = text, .to = out};
    read_premise_node(&r, 1);
    return !r.damaged && !*r.at;
}

/* ---- numbers of which the least and the most are known ---- */

typedef struct range {
    uint64_t low, high; /* without a sign */
} range;

typedef struct place { /* where an expression is worked out */
    const expression *e;
    const uint32_t *block;
    uint32_t thread;
    range self;
    uint32_t *steps; /* that are left */
} place;

static uint64_t most_of_bits(uint32_t bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static uint64_t sign_of_bits(uint32_t bits)
{
    return most_of_bits(bits) / 2 + 1;
}

static range any_of(uint32_t bits)
{
    return (range){0, most_of_bits(bits)};
}

static range exactly(uint64_t number)
{
    return (range){number, number};
}

static bool is_exact(range r)
{
    return r.low == r.high;
}

/* Modulo two to the power of `bits`. */
static range fitted(range r, uint32_t bits)
{
    if (is_exact(r))
        return exactly(r.low & most_of_bits(bits));
    return r.high <= most_of_bits(bits) ? r : any_of(bits);
}

static range hull_of(range a, range b)
{
    return (range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

static int64_t signed_number(uint64_t number, uint32_t bits)
{
    uint64_t sign = sign_of_bits(bits);
    return (int64_t)((number ^ sign) - sign);
}

/* Moved so that the order of numbers with a sign is that of numbers without; false where the range holds
 * both the greatest and the least of them. */
static bool put_in_order(range *r, const node *n)
{
    uint64_t sign = sign_of_bits(n->bits);
    if (!n->is_signed)
        return true;
    if ((r->low & sign) != (r->high & sign))
        return false;
    *r = (range){r->low ^ sign, r->high ^ sign};
    return true;
}

/* ---- operations ---- */

static range truth_of(bool always, bool never)
{
    return always ? exactly(1) : never ? exactly(0) : any_of(1);
}

static range equality(range a, range b)
{
    return truth_of(is_exact(a) && is_exact(b) && a.low == b.low, a.high < b.low || b.high < a.low);
}

static range inverse_truth(range truth)
{
    return (range){1 - truth.high, 1 - truth.low};
}

static range compared_range(const node *n, range a, range b)
{
    if (n->op == FLOW_PREMISE_EQ || n->op == FLOW_PREMISE_NE)
        return n->op == FLOW_PREMISE_EQ ? equality(a, b) : inverse_truth(equality(a, b));
    if (!put_in_order(&a, n) || !put_in_order(&b, n))
        return any_of(1);
    switch (n->op) {
    case FLOW_PREMISE_LT: return truth_of(a.high < b.low, a.low >= b.high);
    case FLOW_PREMISE_GE: return truth_of(a.low >= b.high, a.high < b.low);
    case FLOW_PREMISE_LE: return truth_of(a.high <= b.low, a.low > b.high);
    default: return truth_of(a.low > b.high, a.high <= b.low);
    }
}

static range sum(range a, range b, uint32_t bits)
{
    uint64_t most = most_of_bits(bits);
    if (is_exact(a) && is_exact(b))
        return exactly((a.low + b.low) & most);
    return a.high <= most - b.high ? (range){a.low + b.low, a.high + b.high} : any_of(bits);
}

static range difference(range a, range b, uint32_t bits)
{
    if (is_exact(a) && is_exact(b))
        return exactly((a.low - b.low) & most_of_bits(bits));
    return a.low >= b.high ? (range){a.low - b.high, a.high - b.low} : any_of(bits);
}

static range product(range a, range b, uint32_t bits)
{
    uint64_t most;
    if (is_exact(a) && is_exact(b))
        return exactly((a.low * b.low) & most_of_bits(bits));
    bool far = __builtin_mul_overflow(a.high, b.high, &most) || most > most_of_bits(bits);
    return far ? any_of(bits) : (range){a.low * b.low, most};
}

static range quotient(const node *n, range a, range b)
{
    bool rest = n->op == FLOW_PREMISE_REM;
    if (!is_exact(a) || !is_exact(b) || !b.low)
        return any_of(n->bits);
    if (!n->is_signed)
        return exactly(rest ? a.low % b.low : a.low / b.low);
    int64_t x = signed_number(a.low, n->bits), y = signed_number(b.low, n->bits);
    if (y == -1) /* the least number has no opposite */
        return any_of(n->bits);
    return exactly((uint64_t)(rest ? x % y : x / y) & most_of_bits(n->bits));
}

static range extreme_range(const node *n, range a, range b)
{
    range x = a, y = b;
    bool least = n->op == FLOW_PREMISE_MIN;
    if (!put_in_order(&x, n) || !put_in_order(&y, n))
        return hull_of(a, b);
    range r = {(x.low < y.low) == least ? x.low : y.low,
               (x.high < y.high) == least ? x.high : y.high};
    (void)put_in_order(&r, n);
    return r.low <= r.high ? r : hull_of(a, b);
}

static range logic_range(const node *n, range a, range b)
{
    bool exact = is_exact(a) && is_exact(b);
    switch (n->op) {
    case FLOW_PREMISE_AND:
        if (n->bits == 1)
            return (range){a.low & b.low, a.high & b.high};
        return exact ? exactly(a.low & b.low) : (range){0, a.high < b.high ? a.high : b.high};
    case FLOW_PREMISE_OR:
        if (n->bits == 1)
            return (range){a.low | b.low, a.high | b.high};
        return exact ? exactly(a.low | b.low) : any_of(n->bits);
    default: return exact ? exactly(a.low ^ b.low) : any_of(n->bits);
    }
}

static range shifted_range(const node *n, range a, range by)
{
    uint64_t most = most_of_bits(n->bits);
    if (!is_exact(by))
        return any_of(n->bits);
    uint32_t far = by.low < n->bits ? (uint32_t)by.low : n->bits;
    if (n->op == FLOW_PREMISE_SHL) {
        if (far == n->bits)
            return exactly(0);
        return is_exact(a)             ? exactly(a.low << far & most)
               : a.high <= most >> far ? (range){a.low << far, a.high << far}
                                       : any_of(n->bits);
    }
    bool negative = n->is_signed && a.high & sign_of_bits(n->bits);
    if (!negative)
        return far == n->bits ? exactly(0) : (range){a.low >> far, a.high >> far};
    if (!is_exact(a))
        return any_of(n->bits);
    return exactly(far < n->bits ? (uint64_t)(signed_number(a.low, n->bits) >> far) & most : most);
}

static range inverted(const node *n, range a)
{
    uint64_t most = most_of_bits(n->bits);
    return (range){most - a.high, most - a.low};
}

static range widened_range(const node *n, range a)
{
    if (is_exact(a))
        return exactly((uint64_t)signed_number(a.low, n->bits));
    return a.high & sign_of_bits(n->bits) ? any_of(64) : a;
}

/* ---- expressions ---- */

static range range_of_node(const place *p, uint32_t at);

static range operand_of(const place *p, const node *n, uint32_t i)
{
    bool of_shift = i == 1 && (n->op == FLOW_PREMISE_SHL || n->op == FLOW_PREMISE_SHR);
    bool of_choice = i == 2;
    return fitted(range_of_node(p, n->operands[i]), of_choice ? 1 : of_shift ? 32 : n->bits);
}

static range choice(const place *p, const node *n)
{
    range which = operand_of(p, n, 2), a = operand_of(p, n, 0), b = operand_of(p, n, 1);
    return !is_exact(which) ? hull_of(a, b) : which.low ? a : b;
}

static range with_self(const place *p, const node *n, uint32_t i, range self)
{
    place within = *p;
    within.self = self;
    return operand_of(&within, n, i);
}

/* Follows the loop from a number on; false where it does not end. */
static bool loop_from(const place *p, const node *n, range start, range *out)
{
    range at = start;
    *out = start;
    for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
        range again = with_self(p, n, 2, at), next = with_self(p, n, 1, at);
        if (!again.high || (is_exact(next) && next.low == at.low))
            return true;
        if (!is_exact(next))
            return false;
        at = next;
        *out = hull_of(*out, at);
    }
    return false;
}

/* If no iteration makes more than there was, the number stays below its first. */
static range loop_range(const place *p, const node *n)
{
    range start = operand_of(p, n, 0), all;
    if (is_exact(start) && loop_from(p, n, start, &all))
        return all;
    range below = {0, start.high}, next = with_self(p, n, 1, below);
    return next.high <= below.high ? below : any_of(n->bits);
}

static range operation_range(const place *p, const node *n)
{
    if (n->op == FLOW_PREMISE_SELECT)
        return choice(p, n);
    if (n->op == FLOW_PREMISE_LOOP)
        return loop_range(p, n);
    range a = operand_of(p, n, 0);
    range b = flow_premise_operands(n->op) > 1 ? operand_of(p, n, 1) : exactly(0);
    switch (n->op) {
    case FLOW_PREMISE_ADD: return sum(a, b, n->bits);
    case FLOW_PREMISE_SUB: return difference(a, b, n->bits);
    case FLOW_PREMISE_MUL: return product(a, b, n->bits);
    case FLOW_PREMISE_DIV:
    case FLOW_PREMISE_REM: return quotient(n, a, b);
    case FLOW_PREMISE_MIN:
    case FLOW_PREMISE_MAX: return extreme_range(n, a, b);
    case FLOW_PREMISE_AND:
    case FLOW_PREMISE_OR:
    case FLOW_PREMISE_XOR: return logic_range(n, a, b);
    case FLOW_PREMISE_NOT: return inverted(n, a);
    case FLOW_PREMISE_SHL:
    case FLOW_PREMISE_SHR: return shifted_range(n, a, b);
    case FLOW_PREMISE_LOW: return a;
    case FLOW_PREMISE_WIDEN: return widened_range(n, a);
    case FLOW_PREMISE_EITHER: return hull_of(a, b);
    default: return compared_range(n, a, b);
    }
}

static uint64_t thread_index(const place *p, uint64_t dimension)
{
    uint32_t t = p->thread;
    return dimension == 0   ? t % p->block[0]
           : dimension == 1 ? t / p->block[0] % p->block[1]
                            : t / p->block[0] / p->block[1];
}

static range range_of_node(const place *p, uint32_t at)
{
    const node *n = &p->e->nodes[at];
    if (!*p->steps)
        return any_of(64);
    --*p->steps;
    switch (n->kind) {
    case NUMBER: return exactly(n->number);
    case TID: return exactly(thread_index(p, n->number));
    case NTID: return exactly(p->block[n->number]);
    case LANE: return exactly(p->thread % CROWD_LANES);
    case SELF: return p->self;
    case OPERATION: return operation_range(p, n);
    default: return any_of(64);
    }
}

bool crowd_of(const char *premise, const uint32_t block[3], wl_arena *arena, crowd *out)
{
    uint32_t count = block[0] * block[1] * block[2], steps = MOST_STEPS;
    expression e = {.nodes = premise ? wl_new_array(arena, node, MOST_NODES) : NULL};
    bool read = e.nodes && read_premise(premise, &e);
    *out = (crowd){{0}};
    for (uint32_t t = 0; t < count && t < CROWD_WARPS * CROWD_LANES; t++) {
        const place p = {&e, block, t, any_of(64), &steps};
        if (!read || fitted(range_of_node(&p, 0), 1).high)
            out->lanes[t / CROWD_LANES] |= UINT32_C(1) << t % CROWD_LANES;
    }
    return !premise || e.nodes;
}
