/* The table of thresholds, and how a user sets one. */
#include "analysis/thresholds.h"

#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ana_threshold table[ANA_THRESHOLD_COUNT] = {
#define X(id, value, reason) {#id, reason, value, offsetof(ana_thresholds, id)},
#include "analysis/thresholds.def"
#undef X
};

ana_thresholds ana_thresholds_default(void)
{
    return (ana_thresholds){
#define X(id, value, reason) .id = value,
#include "analysis/thresholds.def"
#undef X
    };
}

const ana_threshold *ana_threshold_get(uint32_t i)
{
    return &table[i];
}

static double *threshold_field(ana_thresholds *thresholds, uint32_t i)
{
    return (double *)(void *)((char *)thresholds + table[i].offset);
}

double ana_threshold_value(const ana_thresholds *thresholds, uint32_t i)
{
    double value = table[i].initial;
    if (thresholds)
        memcpy(&value, (const char *)thresholds + table[i].offset, sizeof value);
    return value;
}

bool ana_threshold_differs(const ana_thresholds *thresholds, uint32_t i)
{
    double value = ana_threshold_value(thresholds, i);
    return value < table[i].initial || value > table[i].initial;
}

static wl_status refuse_threshold(const char *name, wl_error *err)
{
    wl_nearest meant = {.typed = name};
    for (uint32_t i = 0; i < ANA_THRESHOLD_COUNT; i++)
        wl_nearest_try(&meant, table[i].name);
    return wl_fail(err, WL_ARG, "there is no threshold '%s'%s%s%s", name,
                   meant.word ? "; did you mean '" : "", meant.word ? meant.word : "",
                   meant.word ? "'?" : "");
}

static bool read_threshold(const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= 0 && *out <= ANA_THRESHOLD_MOST;
}

wl_status ana_threshold_set(ana_thresholds *thresholds, const char *setting, wl_error *err)
{
    char name[64];
    const char *equals = strchr(setting, '=');
    size_t length = equals ? (size_t)(equals - setting) : strlen(setting);
    snprintf(name, sizeof name, "%.*s", (int)length, setting);
    uint32_t i = 0;
    while (i < ANA_THRESHOLD_COUNT && strcmp(table[i].name, name) != 0)
        i++;
    if (i == ANA_THRESHOLD_COUNT)
        return refuse_threshold(name, err);
    double value;
    if (!equals || !read_threshold(equals + 1, &value))
        return wl_fail(err, WL_ARG, "%s is a number from 0 to %g, as in %s=%g, not '%s'", name,
                       ANA_THRESHOLD_MOST, name, table[i].initial, equals ? equals + 1 : "");
    *threshold_field(thresholds, i) = value;
    return WL_OK;
}
