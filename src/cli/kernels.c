/* Kernels of a profile by the names that users give. */
#include "base/log.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "program/kernel_name.h"

#include <string.h>

const uint32_t *cli_find_kernels(const cli_profile *profile, const char *pattern, uint32_t *count)
{
    const prof_kernel_rows *all = &profile->data.kernels;
    uint32_t *ids = wl_new_array(profile->arena, uint32_t, (size_t)all->count + 1);
    wl_nearest meant = {.typed = pattern};
    *count = 0;
    for (uint32_t i = 0; ids && i < all->count; i++) {
        char *own = wl_arena_alloc(profile->arena, strlen(all->rows[i].mangled) + 1);
        if (prog_pattern_matches(pattern, all->rows[i].mangled))
            ids[(*count)++] = all->rows[i].id;
        if (own) {
            prog_base_name(all->rows[i].mangled, own, strlen(all->rows[i].mangled) + 1);
            wl_nearest_try(&meant, own);
        }
    }
    if (*count)
        return ids;
    wl_log(WL_LOG_ERROR,
           "no kernel of the profile is called '%s'%s%s%s; -k 'regex:%s' looks for "
           "it in longer names",
           pattern, meant.word ? "; did you mean '" : "", meant.word ? meant.word : "",
           meant.word ? "'?" : "", pattern);
    return NULL;
}
