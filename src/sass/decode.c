/* Finds instructions in opcodes.def, and reads the fields of those that operands make another. */
#include "sass/decode.h"

#include <string.h>

enum {
    FAMILY = 0x1ff, /* of an opcode: the bits that opcodes.def has */
    IMMEDIATE = 0x400,
    NO_REGISTER = 0xff,
    ALWAYS = 7, /* the predicate that holds */
    OP_PLOP3 = 0x01c,
    OP_IMAD = 0x024,
    OP_HADD2 = 0x030,
    OP_HFMA2 = 0x031,
    OP_HFMA2_MMA = 0x035,
    OP_CALL_ABS = 0x143,
    OP_CALL = 0x144,
    OP_BRA = 0x147,
    OP_BRX = 0x149,
    OP_JMX = 0x14c,
    OP_EXIT = 0x14d,
    OP_RET = 0x150,
    OP_BRXU = 0x158,
    OP_LDC = 0x182,
    OP_LDCU = 0x1ac
};

typedef struct opcode_row {
    uint16_t bits, since;
    uint8_t cost;
} opcode_row;

#define IR_COST_PADDING SASS_PADDING
static const opcode_row opcode_rows[] = {
#define X(bits, since, name, cost) {bits, since, IR_COST_##cost},
#include "sass/opcodes.def"
#undef X
};

typedef struct code_word { /* the two halves of an instruction */
    uint64_t low, high;
    uint16_t family;
} code_word;

static const opcode_row *opcode_row_of(uint16_t opcode, uint32_t sm)
{
    const opcode_row *found = NULL;
    for (size_t i = 0; i < sizeof opcode_rows / sizeof *opcode_rows; i++)
        if (opcode_rows[i].bits == (opcode & FAMILY) && opcode_rows[i].since <= sm)
            found = &opcode_rows[i];
    return found;
}

static uint32_t bits_of(uint64_t word, unsigned first, unsigned count)
{
    return (uint32_t)(word >> first & ((UINT64_C(1) << count) - 1));
}

/* ---- what operands make of it ---- */

/* IMAD of nothing and nothing is a move, unless it adds a carry or turns a sign. */
static bool is_moving_product(const code_word *w)
{
    bool carries = bits_of(w->high, 74 - 64, 2) != 0;
    unsigned form = bits_of(w->low, 9, 3); /* of 3 and 7 the sum's second part is no register */
    bool turned = (form == 3 || form == 7) && w->low >> 63;
    bool no_second = form == 1 ? bits_of(w->low, 32, 8) == NO_REGISTER
                               : bits_of(w->high, 0, 8) == NO_REGISTER;
    return bits_of(w->low, 24, 8) == NO_REGISTER && no_second && !carries && !turned;
}

/* All three predicates that it reads are the one that holds: it sets a constant. */
static bool reads_no_predicate(const code_word *w)
{
    return bits_of(w->high, 4, 3) == ALWAYS && bits_of(w->high, 13, 3) == ALWAYS &&
           bits_of(w->high, 23, 3) == ALWAYS;
}

static uint8_t refined_cost(const code_word *w, uint8_t cost)
{
    bool no_first = bits_of(w->low, 24, 8) == NO_REGISTER;
    switch (w->family) {
    case OP_LDC:
    case OP_LDCU: return no_first ? IR_COST_MOVE : cost; /* a parameter, at a place that it names */
    case OP_IMAD: return is_moving_product(w) ? IR_COST_MOVE : cost;
    case OP_PLOP3: return reads_no_predicate(w) ? IR_COST_MOVE : cost;
    case OP_HFMA2:
    case OP_HFMA2_MMA:
        return cost == IR_COST_HALF && no_first && w->low & IMMEDIATE ? IR_COST_MOVE : cost;
    case OP_HADD2: return bits_of(w->high, 78 - 64, 1) ? IR_COST_CONVERT : cost;
    default: return cost;
    }
}

/* ---- control flow ---- */

/* A branch for warps whose lanes have parted counts as none: what it leads to is seldom run. */
static bool is_for_parted_lanes(const code_word *w)
{
    return bits_of(w->low, 32, 2) == 2;
}

static uint8_t flow_of(const code_word *w)
{
    switch (w->family) {
    case OP_BRA: return is_for_parted_lanes(w) ? SASS_NEXT : SASS_BRANCH;
    case OP_CALL:
    case OP_CALL_ABS: return SASS_CALL;
    case OP_RET: return SASS_RETURN;
    case OP_EXIT: return SASS_EXIT;
    case OP_BRX:
    case OP_BRXU:
    case OP_JMX: return SASS_TABLE;
    default: return SASS_NEXT;
    }
}

/* The distance lies in bits 34 to 81, of later devices with eight more in bits 16 to 23, in words
 * of four bytes after the instruction. */
static uint32_t target_of(const code_word *w, uint32_t index, uint32_t sm)
{
    uint64_t words = w->low >> 34 | (uint64_t)bits_of(w->high, 0, 18) << 30;
    int64_t distance = (int64_t)(words << 16) >> 16; /* of 48 bits, with their sign */
    if (sm >= 90)
        distance = distance * 256 + bits_of(w->low, 16, 8);
    int64_t target = (int64_t)index + 1 + distance * 4 / SASS_BYTES;
    return target >= 0 && target < SASS_NOWHERE ? (uint32_t)target : SASS_NOWHERE;
}

static bool has_condition(const code_word *w)
{
    bool own = bits_of(w->high, 23, 3) != ALWAYS || bits_of(w->low, 32, 2) == 1; /* uniform */
    return bits_of(w->low, 12, 4) != ALWAYS || (w->family == OP_BRA && own);
}

sass_insn sass_decode(const unsigned char bytes[SASS_BYTES], uint32_t index, uint32_t sm)
{
    code_word w;
    memcpy(&w.low, bytes, sizeof w.low);
    memcpy(&w.high, bytes + sizeof w.low, sizeof w.high);
    uint16_t opcode = (uint16_t)bits_of(w.low, 0, 12);
    w.family = opcode & FAMILY;
    const opcode_row *row = opcode_row_of(opcode, sm);
    sass_insn insn = {.opcode = opcode,
                      .cost = row ? refined_cost(&w, row->cost) : SASS_UNKNOWN,
                      .flow = flow_of(&w),
                      .conditional = has_condition(&w),
                      .target = SASS_NOWHERE};
    if (insn.flow == SASS_BRANCH || w.family == OP_CALL)
        insn.target = target_of(&w, index, sm);
    if (w.family == OP_BRA && insn.target == index)
        insn.cost = SASS_PADDING; /* stands after the end, for what fetches ahead */
    return insn;
}
