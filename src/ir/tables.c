/* The vocabulary tables as data, and lookup in them by text. */
#include "ir/lookup.h"

#include <pthread.h>
#include <string.h>

const ir_type_info *ir_type_get(ir_type type)
{
    static const ir_type_info info[IR_TYPE_COUNT] = {
        [IR_T_none] = {"", IR_KIND_NONE, 0, 0, 0},
#define X(id, kind, bits, lanes) \
    [IR_T_##id] = {#id, IR_KIND_##kind, bits, lanes, (bits * lanes + 7) / 8},
#include "ir/types.def"
#undef X
    };
    return &info[(unsigned)type < IR_TYPE_COUNT ? type : IR_T_none];
}

const char *ir_space_text(ir_space space)
{
    static const char *const texts[IR_SPACE_COUNT] = {
#define X(id, text, request) [IR_SPACE_##id] = text,
#include "ir/spaces.def"
#undef X
    };
    return (unsigned)space < IR_SPACE_COUNT ? texts[space] : "";
}

acc_space ir_request_space(ir_space space)
{
    static const uint8_t requests[IR_SPACE_COUNT] = {
#define X(id, text, request) [IR_SPACE_##id] = ACC_##request,
#include "ir/spaces.def"
#undef X
    };
    return (unsigned)space < IR_SPACE_COUNT ? (acc_space)requests[space] : ACC_SPACE_COUNT;
}

ir_space ir_space_of_suffix(ir_suffix suffix)
{
    switch (suffix) {
    case IR_S_global: return IR_SPACE_GLOBAL;
    case IR_S_shared: return IR_SPACE_SHARED;
    case IR_S_shared__cta: return IR_SPACE_SHARED;
    case IR_S_shared__cluster: return IR_SPACE_SHARED_CLUSTER;
    case IR_S_local: return IR_SPACE_LOCAL;
    case IR_S_const: return IR_SPACE_CONST;
    case IR_S_param: return IR_SPACE_PARAM;
    case IR_S_param__entry: return IR_SPACE_PARAM;
    case IR_S_param__func: return IR_SPACE_PARAM;
    default: return IR_SPACE_GENERIC;
    }
}

const ir_op_info *ir_op_get(ir_op op)
{
    static const ir_op_info info[IR_OP_COUNT] = {
        [IR_OP_NONE] = {"", "", "", IR_EFFECT_NONE, IR_COST_INT},
#define X(id, text, suffixes, operands, effect, cost) \
    [IR_##id] = {text, suffixes, operands, IR_EFFECT_##effect, IR_COST_##cost},
#include "ir/ops.def"
#undef X
    };
    return &info[(unsigned)op < IR_OP_COUNT ? op : IR_OP_NONE];
}

static const char *const suffix_texts[IR_SUFFIX_COUNT] = {
    [IR_S_none] = "",
#define X(id, kind, bits, lanes) [IR_S_##id] = #id,
#include "ir/types.def"
#undef X
#define X(id, text, class) [IR_S_##id] = text,
#include "ir/suffixes.def"
#undef X
};

const char *ir_suffix_text(ir_suffix suffix)
{
    return suffix_texts[(unsigned)suffix < IR_SUFFIX_COUNT ? suffix : IR_S_none];
}

ir_suffix_class ir_suffix_class_of(ir_suffix suffix)
{
    static const uint8_t classes[IR_SUFFIX_COUNT] = {
#define X(id, text, class) [IR_S_##id] = IR_SC_##class,
#include "ir/suffixes.def"
#undef X
    };
    return classes[(unsigned)suffix < IR_SUFFIX_COUNT ? suffix : IR_S_none];
}

const ir_sreg_info *ir_sreg_get(ir_sreg sreg)
{
    enum { SCALAR = -1, VECTOR = -2 }; /* a positive form is the count of an indexed family */
    static const ir_sreg_info info[IR_SREG_COUNT] = {
        [IR_SR_none] = {"", IR_T_none, false, 0, IR_LEVEL_GRID, IR_SOURCE_LAUNCH},
#define X(id, text, type, form, level, source) \
    [IR_SR_##id] = {text,                      \
                    IR_T_##type,               \
                    form == VECTOR,            \
                    form > 0 ? form : 0,       \
                    IR_LEVEL_##level,          \
                    IR_SOURCE_##source},
#include "ir/sregs.def"
#undef X
    };
    return &info[(unsigned)sreg < IR_SREG_COUNT ? sreg : IR_SR_none];
}

/* --- Lookup --- */

enum { SLOTS = 2048 }; /* a power of two, well above the largest vocabulary */
_Static_assert(IR_SUFFIX_COUNT < SLOTS / 2, "the lookup tables are too small");

typedef struct keyword {
    uint32_t hash;
    uint16_t value, length;
    const char *text;
} keyword;

static keyword tables[3][SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_keyword(ir_vocabulary vocabulary, const char *text, unsigned value)
{
    size_t length = strlen(text);
    uint32_t hash = ir_hash(text, length);
    uint32_t slot = hash & (SLOTS - 1);
    while (tables[vocabulary][slot].text)
        slot = (slot + 1) & (SLOTS - 1);
    tables[vocabulary][slot] = (keyword){hash, (uint16_t)value, (uint16_t)length, text};
}

static void build_tables(void)
{
    for (unsigned op = 1; op < IR_OP_COUNT; op++)
        add_keyword(IR_VOC_OPS, ir_op_get(op)->text, op);
    for (unsigned s = 1; s < IR_SUFFIX_COUNT; s++)
        add_keyword(IR_VOC_SUFFIXES, suffix_texts[s], s);
    for (unsigned r = 1; r < IR_SREG_COUNT; r++)
        add_keyword(IR_VOC_SREGS, ir_sreg_get(r)->text, r);
}

static unsigned find_keyword(ir_vocabulary vocabulary, const char *text, size_t length,
                             uint32_t hash)
{
    pthread_once(&once, build_tables);
    for (uint32_t slot = hash & (SLOTS - 1); tables[vocabulary][slot].text;
         slot = (slot + 1) & (SLOTS - 1)) {
        const keyword *k = &tables[vocabulary][slot];
        if (k->hash == hash && k->length == length && memcmp(k->text, text, length) == 0)
            return k->value;
    }
    return 0;
}

ir_op ir_find_op(const char *text, size_t length, uint32_t hash)
{
    return find_keyword(IR_VOC_OPS, text, length, hash);
}

ir_suffix ir_find_suffix(const char *text, size_t length, uint32_t hash)
{
    return find_keyword(IR_VOC_SUFFIXES, text, length, hash);
}

ir_sreg ir_find_sreg(const char *text, size_t length, uint32_t hash, uint32_t *index)
{
    *index = 0;
    ir_sreg sreg = find_keyword(IR_VOC_SREGS, text, length, hash);
    if (sreg)
        return ir_sreg_get(sreg)->indexed ? IR_SR_none : sreg;
    size_t stem = length;
    uint32_t scale = 1;
    while (stem > 0 && length - stem < 2 && text[stem - 1] >= '0' && text[stem - 1] <= '9') {
        *index += (uint32_t)(text[--stem] - '0') * scale;
        scale *= 10;
    }
    if (stem == length)
        return IR_SR_none;
    sreg = find_keyword(IR_VOC_SREGS, text, stem, ir_hash(text, stem));
    return sreg && *index < ir_sreg_get(sreg)->indexed ? sreg : IR_SR_none;
}

/* --- Hints --- */

enum { MAX_WORD = 32 };

/* Levenshtein distance of two words of at most MAX_WORD letters. */
static unsigned word_distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned row[MAX_WORD + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *ir_nearest(ir_vocabulary vocabulary, const char *text, size_t length)
{
    if (length == 0 || length > MAX_WORD)
        return NULL;
    pthread_once(&once, build_tables);
    const char *best = NULL;
    unsigned least = length <= 3 ? 2 : 3;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        const keyword *k = &tables[vocabulary][slot];
        if (!k->text || k->length > MAX_WORD)
            continue;
        unsigned d = word_distance(text, length, k->text, k->length);
        if (d < least || (d == least && best && strcmp(k->text, best) < 0))
            least = d, best = k->text;
    }
    return best;
}
