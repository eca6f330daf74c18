/* Atomic operations and reductions. */
#include "sass/lift_memory.h"

#include <inttypes.h>
#include <string.h>

/* ---- types ---- */

typedef struct atomic_type {
    const char *name; /* modifier of the machine */
    const char *type; /* of an element, in PTX */
    uint8_t words, elements;
} atomic_type;

/* The first that the instruction has counts; 128 bits are not known. */
static const atomic_type types[] = {{"S32", "s32", 1, 1},
                                    {"64", "u64", 2, 1},
                                    {"S64", "s64", 2, 1},
                                    {"F16x2", "noftz.f16x2", 1, 1},
                                    {"F16x4", "noftz.f16x2", 2, 2},
                                    {"F16x8", "noftz.f16x2", 4, 4},
                                    {"BF16x2", "noftz.bf16x2", 1, 1},
                                    {"BF16x4", "noftz.bf16x2", 2, 2},
                                    {"BF16x8", "noftz.bf16x2", 4, 4},
                                    {"F32", "f32", 1, 1},
                                    {"F32x2", "f32", 2, 2},
                                    {"F32x4", "f32", 4, 4},
                                    {"F64", "f64", 2, 1},
                                    {"", "u32", 1, 1}};
enum { TYPES = sizeof types / sizeof *types };

static const atomic_type *type_of(const lifter *l)
{
    for (size_t i = 0; i + 1 < TYPES; i++) {
        char rounded[16];
        snprintf(rounded, sizeof rounded, "%s.RN", types[i].name);
        char flushed[20];
        snprintf(flushed, sizeof flushed, "%s.FTZ.RN", types[i].name);
        if (lift_has(l, types[i].name) || lift_has(l, rounded) || lift_has(l, flushed))
            return &types[i];
    }
    return &types[TYPES - 1];
}

/* "add.u32", "v2.f32.add"; false: not known. */
static bool operation(const lifter *l, const atomic_type *type, lift_text *out)
{
    static const char *const names[] = {"ADD", "MIN", "MAX", "INC",  "DEC",
                                        "AND", "OR",  "XOR", "EXCH", NULL};
    static const char *const words[] = {"add", "min", "max", "inc", "dec",
                                        "and", "or",  "xor", "exch"};
    enum { FIRST_OF_BITS = 5 };
    int which = lift_which(l, names);
    if (which < 0 || lift_has(l, "128"))
        return false;
    const char *name = type->type;
    bool add_signed = which == 0 && strcmp(name, "s64") == 0;
    if (which >= FIRST_OF_BITS || add_signed)
        name = type->words == 2 ? which >= FIRST_OF_BITS ? "b64" : "u64" : "b32";
    if (type->elements > 1)
        snprintf(out->at, sizeof out->at, "%s.v%u.%s", words[which], type->elements, name);
    else
        snprintf(out->at, sizeof out->at, "%s.%s", words[which], name);
    return true;
}

/* ---- values: a register, a pair as one, or several in braces ---- */

static bool is_one_wide_value(const atomic_type *type)
{
    return type->elements != type->words;
}

static register_list single(lift_text text)
{
    register_list list;
    snprintf(list.at, sizeof list.at, "%s", text.at);
    return list;
}

static register_list value_of(lifter *l, unsigned i, const atomic_type *type)
{
    return is_one_wide_value(type) ? single(lift_pair(l, i)) : lift_list(l, i, type->words, false);
}

/* Where the old value goes; a pair is unpacked by finish(). */
static register_list result_of(lifter *l, unsigned i, const atomic_type *type)
{
    return is_one_wide_value(type) ? single(lift_new(l, LIFT_B64))
                                   : lift_list(l, i, type->words, true);
}

static void finish(lifter *l, unsigned i, const atomic_type *type, const register_list *result)
{
    if (is_one_wide_value(type))
        lift_set_pair(l, i, result->at);
}

/* ---- instructions ---- */

/* Without a result where nobody asks for it. `space` ends with a dot, where there is one. */
static void update(lifter *l, const char *space, unsigned to, lift_text address, unsigned from)
{
    const atomic_type *type = type_of(l);
    lift_text what;
    if (!operation(l, type, &what)) {
        l->known = false;
        return;
    }
    register_list value = value_of(l, from, type);
    if (lift_is_none(lift_operand(l, to)) && !lift_has(l, "EXCH")) {
        lift_do(l, "red.%s%s %s, %s", space, what.at, address.at, value.at);
        return;
    }
    register_list result = result_of(l, to, type);
    lift_do(l, "atom.%s%s %s, %s, %s", space, what.at, result.at, address.at, value.at);
    finish(l, to, type, &result);
}

static void compare_and_swap(lifter *l, const char *space, unsigned to, lift_text address)
{
    const atomic_type *type = type_of(l);
    const char *bits = type->words == 2 ? "b64" : "b32";
    if (lift_has(l, "128")) {
        l->known = false;
        return;
    }
    register_list is = value_of(l, to + 2, type), next = value_of(l, to + 3, type),
                  result = result_of(l, to, type);
    lift_do(l, "atom.%scas.%s %s, %s, %s, %s", space, bits, result.at, address.at, is.at, next.at);
    finish(l, to, type, &result);
}

/* P, d, address, value; for CAS what is compared, and then the value. P is not known. */
static void global_or_any(lifter *l, const char *space)
{
    if (!lift_is_none(lift_operand(l, 0))) {
        l->known = false;
        return;
    }
    lift_text address = lift_wide_address(l, 2);
    if (lift_has(l, "CAS"))
        compare_and_swap(l, space, 1, address);
    else
        update(l, space, 1, address, 3);
}

void lift_atomg(lifter *l)
{
    global_or_any(l, "global.");
}

void lift_atom(lifter *l)
{
    global_or_any(l, "");
}

void lift_red(lifter *l)
{
    const atomic_type *type = type_of(l);
    lift_text what, address = lift_wide_address(l, 0);
    register_list value = value_of(l, 1, type);
    l->known &= operation(l, type, &what);
    if (l->known)
        lift_do(l, "red.global.%s %s, %s", what.at, address.at, value.at);
}

/* d or P, address, compared, value: whether it was swapped, as 1 or as a predicate. */
static void swap_and_tell(lifter *l)
{
    const atomic_type *type = type_of(l);
    const char *bits = type->words == 2 ? "b64" : "b32";
    lift_text address = lift_narrow_address(l, 1),
              was = lift_new(l, type->words == 2 ? LIFT_B64 : LIFT_B32),
              same = lift_new(l, LIFT_PRED), one = lift_new(l, LIFT_B32);
    register_list is = value_of(l, 2, type), next = value_of(l, 3, type);
    lift_do(l, "atom.shared.%scas.%s %s, %s, %s, %s", lift_has(l, "CAST.SPIN") ? "spin." : "", bits,
            was.at, address.at, is.at, next.at);
    lift_put(l, "setp.eq.%s %s, %s, %s", bits, same.at, was.at, is.at);
    if (lift_operand(l, 0)->kind == SASS_PREDICATE) {
        lift_set_pred(l, 0, same.at);
        return;
    }
    lift_put(l, "selp.b32 %s, 1, 0, %s", one.at, same.at);
    lift_set(l, 0, 0, one.at);
    if (type->words == 2)
        lift_set(l, 0, 1, "0");
}

/* d, address, value. */
void lift_atoms(lifter *l)
{
    if (lift_has(l, "CAST") || lift_has(l, "CAST.SPIN")) {
        swap_and_tell(l);
    } else if (lift_has(l, "CAS")) {
        compare_and_swap(l, "shared.", 0, lift_narrow_address(l, 1));
    } else if (lift_has(l, "POPC")) {
        l->known = lift_is_none(lift_operand(l, 0)); /* counts the lanes */
        if (l->known)
            lift_do(l, "red.shared.popc.add.u32 %s, 1", lift_narrow_address(l, 1).at);
    } else {
        update(l, "shared.", 0, lift_narrow_address(l, 1), 2);
    }
}
