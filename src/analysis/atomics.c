#include "analysis/atomics.h"

#include "analysis/forms.h"

#include <string.h>

static bool has_one_of(const char *op, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(op, words[i]))
            return true;
    return false;
}

static bool may_be_combined(const char *op)
{
    static const char *const does[] = {".add", ".and", ".or", ".xor", ".min", ".max"},
                             *const types[] = {".u32", ".s32", ".b32"};
    return has_one_of(op, does, sizeof does / sizeof *does) &&
           has_one_of(op, types, sizeof types / sizeof *types);
}

bool ana_is_combined(const prof_code *code, const prof_form *form, const prof_launch *launch)
{
    ana_place place;
    return code && form && launch && may_be_combined(code->op) &&
           ana_place_of(form, launch, &place) && ana_place_is_same_in_warps(&place);
}
