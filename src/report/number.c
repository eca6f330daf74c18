/* Numbers as people read them. */
#include "report/impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

char *rep_count(wl_arena *arena, uint64_t value)
{
    char digits[24], text[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    return wl_arena_strndup(arena, text, (size_t)at);
}

/* Digits after the point that leave about three that count. */
static int digits_of(double value)
{
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

static char *scaled_text(wl_arena *arena, double value, double step, const char *const *units,
                         size_t n)
{
    size_t unit = 0;
    for (; value >= step * 0.9995 && unit + 1 < n; unit++)
        value /= step;
    return wl_arena_printf(arena, "%.*f%s", value == floor(value) ? 0 : digits_of(value), value,
                           units[unit]);
}

char *rep_short_count(wl_arena *arena, uint64_t value)
{
    static const char *const units[] = {"", " K", " M", " G", " T", " P"};
    if (value < 10000)
        return rep_count(arena, value);
    return scaled_text(arena, (double)value, 1000, units, sizeof units / sizeof *units);
}

char *rep_bytes(wl_arena *arena, uint64_t value)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    return scaled_text(arena, (double)value, 1024, units, sizeof units / sizeof *units);
}

char *rep_ratio(wl_arena *arena, double num, double den)
{
    if (den == 0)
        return wl_arena_strdup(arena, "");
    return wl_arena_printf(arena, "%.*f", digits_of(num / den), num / den);
}

char *rep_percent(wl_arena *arena, double share)
{
    double value = share * 100;
    if (value > 0 && value < 0.1)
        return wl_arena_strdup(arena, "< 0.1 %");
    return wl_arena_printf(arena, "%.*f %%", value < 9.95 && value > 0 ? 1 : 0, value);
}

char *rep_seconds(wl_arena *arena, double value)
{
    if (value < 1e-3)
        return wl_arena_printf(arena, value < 1e-5 ? "%.1f us" : "%.0f us", value * 1e6);
    if (value < 1)
        return wl_arena_printf(arena, "%.1f ms", value * 1e3);
    return wl_arena_printf(arena, "%.2f s", value);
}

char *rep_plural(wl_arena *arena, uint64_t n, const char *one, const char *many)
{
    const char *number = rep_count(arena, n);
    return wl_arena_printf(arena, "%s %s", number ? number : "", n == 1 ? one : many);
}

char *rep_quantity(wl_arena *arena, double value, const char *unit)
{
    if (value == 1 && unit[0] && unit[strlen(unit) - 1] == 's') /* 1 warp */
        return wl_arena_printf(arena, "1 %.*s", (int)strlen(unit) - 1, unit);
    const char *space = unit[0] ? " " : "", *sign = value < 0 ? "-" : "";
    double size = fabs(value);
    if (size >= 1e15 || (size < 999.5 && size != floor(size)))
        return wl_arena_printf(arena, "%.3g%s%s", value, space, unit);
    const char *number = rep_count(arena, (uint64_t)llround(size));
    return wl_arena_printf(arena, "%s%s%s%s", sign, number ? number : "", space, unit);
}
