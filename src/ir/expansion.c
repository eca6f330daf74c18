/* Finds what an instruction becomes in expansions.def. */
#include "ir/expansion.h"

#include <string.h>

typedef enum last_kind {
    LAST_ANY,
    LAST_INT,
    LAST_SREG,
    LAST_SYM, /* or an address without a register */
    LAST_VEC
} last_kind;

typedef struct expansion_row {
    ir_op op;
    const char *suffixes;
    last_kind last;
    float machine[IR_COST_COUNT];
} expansion_row;

#define NOTHING 0
#define INT(n) [IR_COST_INT] = n
#define FP32(n) [IR_COST_FP32] = n
#define FP64(n) [IR_COST_FP64] = n
#define HALF(n) [IR_COST_HALF] = n
#define SFU(n) [IR_COST_SFU] = n
#define CONVERT(n) [IR_COST_CONVERT] = n
#define MOVE(n) [IR_COST_MOVE] = n
#define COMPARE(n) [IR_COST_COMPARE] = n
#define CONTROL(n) [IR_COST_CONTROL] = n
#define MEMORY(n) [IR_COST_MEMORY] = n
#define ATOMIC(n) [IR_COST_ATOMIC] = n
#define SYNC(n) [IR_COST_SYNC] = n
#define TENSOR(n) [IR_COST_TENSOR] = n
#define WARP(n) [IR_COST_WARP] = n

static const expansion_row expansion_rows[] = {
#define X(op, suffixes, last, ...) {IR_##op, suffixes, LAST_##last, {__VA_ARGS__}},
#include "ir/expansions.def"
#undef X
};

enum { EXPANSION_ROWS = sizeof expansion_rows / sizeof *expansion_rows };

/* The alternatives "a|b" up to `end` have the text. */
static bool word_admits(const char *word, const char *end, const char *text)
{
    size_t length = strlen(text);
    while (word < end) {
        const char *bar = memchr(word, '|', (size_t)(end - word));
        const char *stop = bar ? bar : end;
        if ((size_t)(stop - word) == length && memcmp(word, text, length) == 0)
            return true;
        word = stop + 1;
    }
    return false;
}

/* Each word of the row stands among the instruction's suffixes, in the row's order. */
static bool has_suffixes_of(const char *words, const ir_insn *insn)
{
    unsigned at = 0;
    while (*words) {
        const char *end = words + strcspn(words, " ");
        while (at < insn->nsuffixes && !word_admits(words, end, ir_suffix_text(insn->suffixes[at])))
            at++;
        if (at++ == insn->nsuffixes)
            return false;
        words = *end ? end + 1 : end;
    }
    return true;
}

static last_kind last_kind_of(const ir_insn *insn)
{
    if (insn->noperands == 0)
        return LAST_ANY;
    const ir_operand *last = &insn->operands[insn->noperands - 1];
    switch (last->kind) {
    case IR_OPD_INT:
    case IR_OPD_F32:
    case IR_OPD_F64: return LAST_INT;
    case IR_OPD_SREG: return LAST_SREG;
    case IR_OPD_SYM: return LAST_SYM;
    case IR_OPD_ADDR: return last->reg == IR_NONE ? LAST_SYM : LAST_ANY;
    case IR_OPD_VEC: return LAST_VEC;
    default: return LAST_ANY;
    }
}

static const expansion_row *expansion_row_of(const ir_insn *insn)
{
    last_kind last = last_kind_of(insn);
    for (size_t i = 0; i < EXPANSION_ROWS; i++) {
        const expansion_row *row = &expansion_rows[i];
        if (row->op == insn->op && (row->last == LAST_ANY || row->last == last) &&
            has_suffixes_of(row->suffixes, insn))
            return row;
    }
    return NULL;
}

void ir_add_expansion(const ir_insn *insn, double machine[IR_COST_COUNT])
{
    const expansion_row *row = expansion_row_of(insn);
    if (!row) {
        machine[ir_insn_cost(insn)]++;
        return;
    }
    for (unsigned cost = 0; cost < IR_COST_COUNT; cost++)
        machine[cost] += row->machine[cost];
}
