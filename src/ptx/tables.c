/* The vocabulary tables as data, and lookup in them by text. */
#include "ptx/internal.h"

#include <pthread.h>

const ptx_type_info *ptx_type_get(ptx_type type)
{
    static const ptx_type_info info[PTX_TYPE_COUNT] = {
        [PTX_T_none] = {"", PTX_KIND_NONE, 0, 0, 0},
#define X(id, kind, bits, lanes) \
    [PTX_T_##id] = {#id, PTX_KIND_##kind, bits, lanes, (bits * lanes + 7) / 8},
#include "ptx/types.def"
#undef X
    };
    return &info[(unsigned)type < PTX_TYPE_COUNT ? type : PTX_T_none];
}

const char *ptx_space_text(ptx_space space)
{
    static const char *const texts[PTX_SPACE_COUNT] = {
        [PTX_SPACE_GENERIC] = "",
        [PTX_SPACE_REG] = "reg",
        [PTX_SPACE_GLOBAL] = "global",
        [PTX_SPACE_SHARED] = "shared",
        [PTX_SPACE_SHARED_CLUSTER] = "shared::cluster",
        [PTX_SPACE_LOCAL] = "local",
        [PTX_SPACE_CONST] = "const",
        [PTX_SPACE_PARAM] = "param",
        [PTX_SPACE_TEX] = "tex",
    };
    return (unsigned)space < PTX_SPACE_COUNT ? texts[space] : "";
}

const ptx_op_info *ptx_op_get(ptx_op op)
{
    static const ptx_op_info info[PTX_OP_COUNT] = {
        [PTX_OP_NONE] = {"", "", "", PTX_EFFECT_NONE, PTX_COST_INT},
#define X(id, text, suffixes, operands, effect, cost) \
    [PTX_##id] = {text, suffixes, operands, PTX_EFFECT_##effect, PTX_COST_##cost},
#include "ptx/ops.def"
#undef X
    };
    return &info[(unsigned)op < PTX_OP_COUNT ? op : PTX_OP_NONE];
}

static const char *const suffix_texts[PTX_SUFFIX_COUNT] = {
    [PTX_S_none] = "",
#define X(id, kind, bits, lanes) [PTX_S_##id] = #id,
#include "ptx/types.def"
#undef X
#define X(id, text, class) [PTX_S_##id] = text,
#include "ptx/suffixes.def"
#undef X
};

const char *ptx_suffix_text(ptx_suffix suffix)
{
    return suffix_texts[(unsigned)suffix < PTX_SUFFIX_COUNT ? suffix : PTX_S_none];
}

ptx_suffix_class ptx_suffix_class_of(ptx_suffix suffix)
{
    static const uint8_t classes[PTX_SUFFIX_COUNT] = {
#define X(id, text, class) [PTX_S_##id] = PTX_SC_##class,
#include "ptx/suffixes.def"
#undef X
    };
    return classes[(unsigned)suffix < PTX_SUFFIX_COUNT ? suffix : PTX_S_none];
}

const ptx_sreg_info *ptx_sreg_get(ptx_sreg sreg)
{
    enum { SCALAR = -1, VECTOR = -2 }; /* a positive form is the count of an indexed family */
    static const ptx_sreg_info info[PTX_SREG_COUNT] = {
        [PTX_SR_none] = {"", PTX_T_none, false, 0},
#define X(id, text, type, form) \
    [PTX_SR_##id] = {text, PTX_T_##type, form == VECTOR, form > 0 ? form : 0},
#include "ptx/sregs.def"
#undef X
    };
    return &info[(unsigned)sreg < PTX_SREG_COUNT ? sreg : PTX_SR_none];
}

/* --- Lookup --- */

enum { SLOTS = 2048 }; /* a power of two, well above the largest vocabulary */
_Static_assert(PTX_SUFFIX_COUNT < SLOTS / 2, "the lookup tables are too small");

typedef struct keyword {
    uint32_t hash;
    uint16_t value, length;
    const char *text;
} keyword;

static keyword tables[3][SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_keyword(ptx_vocabulary vocabulary, const char *text, unsigned value)
{
    size_t length = strlen(text);
    uint32_t hash = ptx_hash(text, length);
    uint32_t slot = hash & (SLOTS - 1);
    while (tables[vocabulary][slot].text)
        slot = (slot + 1) & (SLOTS - 1);
    tables[vocabulary][slot] = (keyword){hash, (uint16_t)value, (uint16_t)length, text};
}

static void build_tables(void)
{
    for (unsigned op = 1; op < PTX_OP_COUNT; op++)
        add_keyword(PTX_VOC_OPS, ptx_op_get(op)->text, op);
    for (unsigned s = 1; s < PTX_SUFFIX_COUNT; s++)
        add_keyword(PTX_VOC_SUFFIXES, suffix_texts[s], s);
    for (unsigned r = 1; r < PTX_SREG_COUNT; r++)
        add_keyword(PTX_VOC_SREGS, ptx_sreg_get(r)->text, r);
}

static unsigned find(ptx_vocabulary vocabulary, const char *text, size_t length, uint32_t hash)
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

ptx_op ptx_find_op(const char *text, size_t length, uint32_t hash)
{
    return find(PTX_VOC_OPS, text, length, hash);
}

ptx_suffix ptx_find_suffix(const char *text, size_t length, uint32_t hash)
{
    return find(PTX_VOC_SUFFIXES, text, length, hash);
}

ptx_sreg ptx_find_sreg(const char *text, size_t length, uint32_t hash, uint32_t *index)
{
    *index = 0;
    ptx_sreg sreg = find(PTX_VOC_SREGS, text, length, hash);
    if (sreg)
        return ptx_sreg_get(sreg)->indexed ? PTX_SR_none : sreg;
    size_t stem = length;
    uint32_t scale = 1;
    while (stem > 0 && length - stem < 2 && text[stem - 1] >= '0' && text[stem - 1] <= '9') {
        *index += (uint32_t)(text[--stem] - '0') * scale;
        scale *= 10;
    }
    if (stem == length)
        return PTX_SR_none;
    sreg = find(PTX_VOC_SREGS, text, stem, ptx_hash(text, stem));
    return sreg && *index < ptx_sreg_get(sreg)->indexed ? sreg : PTX_SR_none;
}

/* --- Hints --- */

enum { MAX_WORD = 32 };

/* Levenshtein distance of two words of at most MAX_WORD letters. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
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

const char *ptx_nearest(ptx_vocabulary vocabulary, const char *text, size_t length)
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
        unsigned d = distance(text, length, k->text, k->length);
        if (d < least || (d == least && best && strcmp(k->text, best) < 0))
            least = d, best = k->text;
    }
    return best;
}
