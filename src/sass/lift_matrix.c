/* Products of matrices, whose parts lie in registers as PTX's mma has them. */
#include "sass/lifter.h"

#include <string.h>

typedef struct matrix_form {
    const char *shape, *types; /* PTX's */
    unsigned d, a, b;          /* registers; c has as many as d */
} matrix_form;

typedef struct matrix_list {
    char at[80];
} matrix_list;

typedef struct matrix_doubles {
    char at[64];
} matrix_doubles;

/* "{%r4, %r5}", where a part that is none is 0. */
static matrix_list matrix_parts(lifter *l, unsigned i, unsigned count, bool written)
{
    matrix_list list = {"{"};
    for (unsigned word = 0; word < count; word++) {
        lift_text part = written ? lift_to(l, i, word) : lift_word(l, i, word);
        if (!written && lift_is_none(lift_operand(l, i))) {
            part = lift_new(l, LIFT_B32);
            lift_put(l, "mov.b32 %s, 0", part.at);
        }
        size_t length = strlen(list.at);
        snprintf(list.at + length, sizeof list.at - length, "%s%.16s", word ? ", " : "", part.at);
    }
    strcat(list.at, "}");
    return list;
}

static void multiply_matrices(lifter *l, const matrix_form *f)
{
    for (unsigned i = 1; i <= 3; i++)
        l->known &= !(lift_operand(l, i)->flags & (SASS_NEGATED | SASS_ABSOLUTE));
    if (!l->known)
        return;
    matrix_list a = matrix_parts(l, 1, f->a, false), b = matrix_parts(l, 2, f->b, false),
                c = matrix_parts(l, 3, f->d, false);
    lift_do(l, "mma.sync.aligned.%s.row.col.%s %s, %s, %s, %s", f->shape, f->types,
            matrix_parts(l, 0, f->d, true).at, a.at, b.at, c.at);
}

void lift_hmma(lifter *l)
{
    bool deep = lift_has(l, "16816"), single = lift_has(l, "F32");
    matrix_form f = {.shape = deep ? "m16n8k16" : "m16n8k8",
                     .types = !single               ? "f16.f16.f16.f16"
                              : lift_has(l, "BF16") ? "f32.bf16.bf16.f32"
                                                    : "f32.f16.f16.f32",
                     .d = single ? 4 : 2,
                     .a = deep ? 4 : 2,
                     .b = deep ? 2 : 1};
    if (lift_has(l, "TF32"))
        f = (matrix_form){"m16n8k8", "f32.tf32.tf32.f32", 4, 4, 2};
    multiply_matrices(l, &f);
}

/* Of integers of 8 bits. */
void lift_imma(lifter *l)
{
    bool deep = lift_has(l, "16832");
    char types[32];
    /* The types of a and b come first and second among the modifiers behind the shape. */
    const sass_text a = l->in.modifier[1], b = l->in.modifier[2];
    l->known &= l->in.modifiers >= 3 && a.length == 2 && b.length == 2 && !lift_has(l, "SAT");
    if (!l->known)
        return;
    snprintf(types, sizeof types, "s32.%c8.%c8.s32", a.at[0] == 'U' ? 'u' : 's',
             b.at[0] == 'U' ? 'u' : 's');
    multiply_matrices(l, &(matrix_form){deep ? "m16n8k32" : "m16n8k16", types, 4, deep ? 4 : 2,
                                        deep ? 2 : 1});
}

/* Of doubles, each in two registers. */
static matrix_doubles doubles_of(lifter *l, unsigned i, unsigned count)
{
    matrix_doubles list = {"{"};
    for (unsigned n = 0; n < count; n++) {
        lift_text d = lift_new(l, LIFT_B64);
        if (lift_is_none(lift_operand(l, i)))
            lift_put(l, "mov.b64 %s, 0", d.at);
        else
            lift_put(l, "mov.b64 %s, {%s, %s}", d.at, lift_word(l, i, 2 * n).at,
                     lift_word(l, i, 2 * n + 1).at);
        size_t length = strlen(list.at);
        snprintf(list.at + length, sizeof list.at - length, "%s%.8s", n ? ", " : "", d.at);
    }
    strcat(list.at, "}");
    return list;
}

void lift_dmma(lifter *l)
{
    static const char *const names[] = {"16x8x4", "16x8x8", "16x8x16", NULL};
    static const matrix_form forms[] = {{"m8n8k4", NULL, 2, 1, 1},
                                        {"m16n8k4", NULL, 4, 2, 1},
                                        {"m16n8k8", NULL, 4, 4, 2},
                                        {"m16n8k16", NULL, 4, 8, 4}};
    const matrix_form *f = &forms[lift_which(l, names) + 1];
    matrix_doubles a = doubles_of(l, 1, f->a), b = doubles_of(l, 2, f->b),
                   c = doubles_of(l, 3, f->d), to = {"{"};
    unsigned first = l->used[LIFT_B64];
    for (unsigned n = 0; n < f->d; n++) {
        size_t length = strlen(to.at);
        snprintf(to.at + length, sizeof to.at - length, "%s%.8s", n ? ", " : "",
                 lift_new(l, LIFT_B64).at);
    }
    strcat(to.at, "}");
    lift_do(l, "mma.sync.aligned.%s.row.col.f64.f64.f64.f64 %s, %s, %s, %s", f->shape, to.at, a.at,
            b.at, c.at);
    for (unsigned n = 0; n < f->d; n++)
        lift_do(l, "mov.b64 {%s, %s}, %%d%u", lift_to(l, 0, 2 * n).at, lift_to(l, 0, 2 * n + 1).at,
                first + n);
}
