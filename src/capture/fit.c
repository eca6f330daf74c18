/* Records that would be larger than they may be, thinned until they fit. */
#include "capture/records.h"

#include <stdlib.h>
#include <string.h>

/* ---- heat maps ---- */

/* The launch with at most `rows` rows of each map; `heats` has room for them. */
static void cut_heats(const obs_summary *from, uint32_t rows, obs_heat *heats)
{
    for (uint32_t i = 0; i < from->nheats; i++) {
        heats[i] = from->heats[i];
        if (heats[i].nrows > rows) {
            heats[i].dropped += heats[i].nrows - rows;
            heats[i].nrows = rows;
        }
    }
}

static uint32_t longest_heat(const obs_summary *s)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < s->nheats; i++)
        rows = s->heats[i].nrows > rows ? s->heats[i].nrows : rows;
    return rows;
}

/* The most rows of each map with which the launch fits. */
static uint32_t rows_that_fit(const cap_launch *launch, size_t most, cap_launch *out)
{
    uint32_t low = 0, high = longest_heat(&launch->summary);
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        cut_heats(&launch->summary, middle, out->summary.heats);
        if (cap_size_launch(out) <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

wl_status cap_fit_launch(const cap_launch *launch, size_t most, cap_launch *out, obs_heat **own)
{
    *out = *launch;
    *own = NULL;
    if (cap_size_launch(launch) <= most)
        return WL_OK;
    *own = calloc((size_t)launch->summary.nheats + 1, sizeof **own);
    if (!*own)
        return WL_NOMEM;
    out->summary.heats = *own;
    cut_heats(&launch->summary, rows_that_fit(launch, most, out), *own);
    return cap_size_launch(out) <= most ? WL_OK : WL_LIMIT;
}

/* ---- elements ---- */

static obs_use *longest_use(const cap_uses *uses)
{
    obs_use *longest = NULL;
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->uses[i].length && (!longest || uses->uses[i].length > longest->length))
            longest = &uses->uses[i];
    return longest;
}

wl_status cap_fit_uses(const cap_uses *uses, size_t most, cap_uses *out, obs_use **own,
                       uint32_t *left_out)
{
    *out = *uses;
    *own = NULL;
    *left_out = 0;
    if (cap_size_uses(uses) <= most)
        return WL_OK;
    *own = calloc((size_t)uses->count + 1, sizeof **own);
    if (!*own)
        return WL_NOMEM;
    out->uses = memcpy(*own, uses->uses, uses->count * sizeof **own);
    for (obs_use *use; cap_size_uses(out) > most && (use = longest_use(out)); ++*left_out) {
        use->known = OBS_KNOWN_NOTHING;
        use->spans = "";
        use->length = 0;
    }
    return cap_size_uses(out) <= most ? WL_OK : WL_LIMIT;
}
