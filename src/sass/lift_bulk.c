/* Bulk copies: of boxes of tensors (UTMA...) and of plain bytes (UBLK...).
 *
 * All are uniform instructions. What belongs together stands in a group of uniform registers, which the first operand
 * names: where the copy is in shared memory; then, of one that is waited for at a barrier, the barrier; then the coordinates of a box, that
 * along dimension 0 first. */
#include "sass/lift_memory.h"

#include <string.h>

enum { RANKS = 5, OPERATIONS = 8 };

static const char *const operations[OPERATIONS + 1] = {"ADD", "MIN", "MAX", "INC", "DEC",
                                                       "AND", "OR",  "XOR", NULL};
static const char *const lower_operations[] = {"add", "min", "max", "inc",
                                               "dec", "and", "or",  "xor"};

static lift_text group_word(const lifter *l, unsigned i, unsigned word)
{
    lift_text text;
    snprintf(text.at, sizeof text.at, "%%u%u", lift_operand(l, i)->uniform + word);
    return text;
}

static lift_text group_pair(lifter *l, unsigned i)
{
    lift_text d = lift_new(l, LIFT_B64);
    lift_put(l, "mov.b64 %s, {%s, %s}", d.at, group_word(l, i, 0).at, group_word(l, i, 1).at);
    return d;
}

/* Of the tensor; 0: there is none that is known. */
static unsigned rank_of_box(const lifter *l)
{
    static const char *const ranks[] = {"1D", "2D", "3D", "4D", "5D", NULL};
    return lift_has(l, "IM2COL") ? 0 : (unsigned)(lift_which(l, ranks) + 1);
}

typedef struct box_text {
    char at[80];
} box_text;

/* "[%d0, {%u10, %u11}]": the map, and the coordinates, which stand from that word of the group on. */
static box_text box_of(lifter *l, unsigned rank, unsigned first)
{
    lift_text map = group_pair(l, 1);
    box_text text;
    size_t used = (size_t)snprintf(text.at, sizeof text.at, "[%.20s, {", map.at);
    for (unsigned i = 0; i < rank; i++)
        used += (size_t)snprintf(text.at + used, sizeof text.at - used, "%s%.8s", i ? ", " : "",
                                 group_word(l, 0, first + i).at);
    snprintf(text.at + used, sizeof text.at - used, "}]");
    return text;
}

/* The blocks of the cluster that get a copy: the lower half of the third operand, or the upper one. */
static lift_text receivers_of(lifter *l, bool upper)
{
    lift_text h = lift_new(l, LIFT_B16), t = lift_new(l, LIFT_B32);
    lift_put(l, "shr.u32 %s, %s, %u", t.at, lift_word(l, 2, 0).at, upper ? 16u : 0u);
    lift_put(l, "cvt.u16.u32 %s, %s", h.at, t.at);
    return h;
}

/* ---- boxes of tensors ---- */

/* Group: to, barrier, coordinates. The map, and the blocks with .MULTICAST. */
void lift_utmaldg(lifter *l)
{
    unsigned rank = rank_of_box(l);
    bool many = lift_has(l, "MULTICAST");
    l->known &= rank != 0;
    if (!l->known)
        return;
    box_text box = box_of(l, rank, 2);
    lift_text blocks = many ? receivers_of(l, false) : (lift_text){""};
    lift_one_lane(l);
    lift_do(l,
            "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes%s "
            "[%s], %s, [%s]%s%s",
            rank, many ? ".multicast::cluster" : "", group_word(l, 0, 0).at, box.at,
            group_word(l, 0, 1).at, many ? ", " : "", blocks.at);
}

/* Group: from, coordinates. The map. */
void lift_utmastg(lifter *l)
{
    unsigned rank = rank_of_box(l);
    l->known &= rank != 0;
    if (!l->known)
        return;
    box_text box = box_of(l, rank, 1);
    lift_one_lane(l);
    lift_do(l, "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group %s, [%s]", rank, box.at,
            group_word(l, 0, 0).at);
}

void lift_utmaredg(lifter *l)
{
    unsigned rank = rank_of_box(l);
    int operation = lift_which(l, operations);
    l->known &= rank != 0 && operation >= 0;
    if (!l->known)
        return;
    box_text box = box_of(l, rank, 1);
    lift_one_lane(l);
    lift_do(l, "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.%s.tile.bulk_group %s, [%s]",
            rank, lower_operations[operation], box.at, group_word(l, 0, 0).at);
}

/* ---- plain bytes ---- */

/* The lower half of the third operand is how many times 16. */
static lift_text bytes_of(lifter *l)
{
    lift_text t = lift_new(l, LIFT_B32);
    lift_put(l, "and.b32 %s, %s, 0xffff", t.at, lift_word(l, 2, 0).at);
    lift_put(l, "shl.b32 %s, %s, 4", t.at, t.at);
    return t;
}

static bool goes(const lifter *l, const char *to, const char *from)
{
    return l->in.modifiers >= 2 && sass_text_is(l->in.modifier[0], to) &&
           sass_text_is(l->in.modifier[1], from);
}

/* To shared memory: its group has the barrier, too. */
static void fill_shared(lifter *l)
{
    bool many = lift_has(l, "MULTICAST");
    lift_text from = group_pair(l, 1), bytes = bytes_of(l);
    lift_text blocks = many ? receivers_of(l, true) : (lift_text){""};
    lift_one_lane(l);
    lift_do(l,
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes%s [%s], [%s], %s, "
            "[%s]%s%s",
            many ? ".multicast::cluster" : "", group_word(l, 0, 0).at, from.at, bytes.at,
            group_word(l, 0, 1).at, many ? ", " : "", blocks.at);
}

/* To, from, size. */
void lift_ublkcp(lifter *l)
{
    if (goes(l, "S", "G")) {
        fill_shared(l);
    } else if (goes(l, "G", "S") && !lift_has(l, "MULTICAST")) {
        lift_text to = group_pair(l, 0), bytes = bytes_of(l);
        lift_one_lane(l);
        lift_do(l, "cp.async.bulk.global.shared::cta.bulk_group [%s], [%s], %s", to.at,
                group_word(l, 1, 0).at, bytes.at);
    } else {
        l->known = false; /* to another block */
    }
}

void lift_ublkred(lifter *l)
{
    static const struct {
        const char *machine, *ptx;
    } types[] = {{"S32", "s32"}, {"U64", "u64"}, {"S64", "s64"}, {"F32", "f32"},
                 {"F64", "f64"}, {"F16", NULL},  {"BF16", NULL}};
    const char *type = "u32";
    int operation = lift_which(l, operations);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (lift_has(l, types[i].machine))
            type = types[i].ptx;
    if (operation >= 5) /* of bits */
        type = type && strcmp(type, "u32") == 0 ? "b32" : "b64";
    l->known &= type && operation >= 0 && goes(l, "G", "S") && !lift_has(l, "FTZ");
    if (!l->known)
        return;
    lift_text to = group_pair(l, 0), bytes = bytes_of(l);
    lift_one_lane(l);
    lift_do(l, "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%s], [%s], %s",
            lower_operations[operation], type, to.at, group_word(l, 1, 0).at, bytes.at);
}
