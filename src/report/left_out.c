/* What is known, but no finding: patterns that cost too little, and sectors that fit no pattern. All
 * reports say it in a line. */
#include "report/impl.h"
#include "report/keys.h"

/* "3 patterns cost too little to be findings; the largest: misaligned on y in add, 0.4 % of ..." */
static const char *text_of_patterns(const rep_data *d, wl_arena *arena, const ana_left_out *left)
{
    const char *object = rep_object_name(d, left->object);
    const char *kernel = rep_kernel_name(d, left->kernel);
    if (left->count == 0)
        return "";
    return wl_arena_printf(
        arena, "%s; the largest: %s%s%s%s%s, %s of %s.",
        left->count == 1
            ? "1 pattern costs too little to be a finding"
            : wl_arena_printf(arena, "%u patterns cost too little to be findings", left->count),
        ana_pattern_get(left->pattern)->name, object ? " on " : "", object ? object : "",
        kernel ? " in " : "", kernel ? kernel : "", rep_percent(arena, left->share),
        kernel ? "the kernel's cost" : "the program's cost");
}

/* "53,816 sectors beyond those needed (16 % of all) belong to no pattern, most of them in add." */
static const char *text_of_sectors(const rep_data *d, wl_arena *arena, const ana_left_out *left)
{
    const char *kernel = left->nkernels ? rep_kernel_name(d, left->kernels[0].kernel) : NULL;
    const char *percent = rep_percent(arena, left->unnamed_share);
    if (left->unnamed_sectors == 0)
        return "";
    return wl_arena_printf(arena, "%s beyond those needed (%s of all) belong to no pattern%s%s.",
                           rep_plural(arena, left->unnamed_sectors, "sector", "sectors"), percent,
                           kernel ? ", most of them in " : "", kernel ? kernel : "");
}

const char *rep_left_out(const rep_data *d, wl_arena *arena)
{
    const ana_left_out *left = &d->findings->left_out;
    const char *patterns = text_of_patterns(d, arena, left);
    const char *sectors = text_of_sectors(d, arena, left);
    if (!patterns || !sectors)
        return NULL;
    return wl_arena_printf(arena, "%s%s%s", patterns, *patterns && *sectors ? " " : "", sectors);
}

json_t *rep_left_out_json(const rep_data *d)
{
    const ana_left_out *left = &d->findings->left_out;
    wl_arena *arena = wl_arena_new();
    const char *text = arena ? rep_left_out(d, arena) : NULL;
    json_t *row = text && *text ? json_object() : NULL;
    if (row) {
        rep_put_text(row, K(left_out, text), text);
        rep_put_count(row, K(left_out, patterns), left->count);
        rep_put_count(row, K(left_out, sectors), left->unnamed_sectors);
    }
    if (row && left->unnamed_sectors)
        rep_put_number(row, K(left_out, share_of_sectors), left->unnamed_share);
    if (row && left->nkernels)
        rep_put_text(row, K(left_out, sectors_kernel), rep_kernel_name(d, left->kernels[0].kernel));
    if (row && left->much)
        rep_put(row, K(left_out, much), json_true());
    if (row && left->count) {
        rep_put_text(row, K(left_out, pattern), ana_pattern_get(left->pattern)->name);
        rep_put_text(row, K(left_out, kernel), rep_kernel_name(d, left->kernel));
        rep_put_text(row, K(left_out, object), rep_object_name(d, left->object));
        rep_put_number(row, K(left_out, share), left->share);
    }
    wl_arena_free(arena);
    return row;
}
