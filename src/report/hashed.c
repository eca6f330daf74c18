/* Paths of warps that the probe `path` told, in a terminal. */
#include "report/terminal.h"

enum { MOST_OUTLIERS = 6 };

static const char *place_of_warp(const rep_terminal *t, const ana_hashed *h, uint64_t warp)
{
    return wl_arena_printf(t->arena, "warp %u of block %s", (unsigned)(warp % h->warps_of_block),
                           rep_count(t->arena, warp / h->warps_of_block));
}

static void say_words(const rep_terminal *t, const char *words)
{
    fputs("  ", t->out);
    rep_wrap(t, 2, words ? words : "");
}

static void say_outlier(const rep_terminal *t, const ana_hashed *h, const ana_hashed_outlier *o)
{
    bool one = o->path.warps == 1;
    say_words(t, wl_arena_printf(
                     t->arena, "%s%s ran %s times as many instructions: %s%s",
                     one ? "" : rep_plural(t->arena, o->path.warps, "warp", "warps"),
                     one ? place_of_warp(t, h, o->path.first) : "",
                     rep_ratio(t->arena, o->times, 1), rep_count(t->arena, o->path.instructions),
                     one ? ""
                         : wl_arena_printf(t->arena, ", in %s, first %s",
                                           rep_plural(t->arena, o->blocks, "block", "blocks"),
                                           place_of_warp(t, h, o->path.first))));
}

static void draw_hashed(const rep_terminal *t, const ana_hashed *h)
{
    const ana_explore *steps = rep_explored_launch(t->d, h->launch);
    if (!rep_shows_kernel(t, h->kernel) || (steps && steps->blocks_known >= h->blocks_known))
        return;
    uint32_t shown = t->o->all || h->noutliers < MOST_OUTLIERS ? h->noutliers : MOST_OUTLIERS;
    rep_title(t, wl_arena_printf(t->arena, "Paths of launch %u", h->launch),
              rep_kernel_cell(t, h->kernel));
    say_words(t, wl_arena_printf(t->arena,
                                 "%s took %s. In the middle is %s, whose longest lane ran %s.%s",
                                 rep_plural(t->arena, h->known, "warp", "warps"),
                                 rep_plural(t->arena, h->npaths, "path", "different paths"),
                                 place_of_warp(t, h, h->representative.first),
                                 rep_plural(t->arena, h->representative.instructions, "instruction",
                                            "instructions"),
                                 h->known < h->warps
                                     ? wl_arena_printf(t->arena, " Of %s the path is not known.",
                                                       rep_plural(t->arena, h->warps - h->known,
                                                                  "other warp", "other warps"))
                                     : ""));
    for (uint32_t i = 0; i < shown; i++)
        say_outlier(t, h, &h->outliers[i]);
    if (shown < h->noutliers)
        fprintf(t->out, "  %sand %u more paths: --all shows them%s\n", t->s.dim,
                h->noutliers - shown, t->s.off);
}

void rep_hashed(const rep_terminal *t)
{
    for (uint32_t i = 0; i < t->d->hashed.count; i++)
        draw_hashed(t, &t->d->hashed.rows[i]);
}
