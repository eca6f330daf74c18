/* The vocabularies of findings as text, from their tables. */
#include "analysis/finding.h"

const ana_pattern_info *ana_pattern_get(ana_pattern pattern)
{
    static const ana_pattern_info patterns[] = {
#define X(id, name, title, unit, told, remedy) \
    [ANA_##id] = {name, title, remedy, ANA_##unit, ANA_##told},
#include "analysis/patterns.def"
#undef X
    };
    return &patterns[pattern];
}

const char *ana_unit_text(ana_unit unit)
{
    static const char *const texts[ANA_UNIT_COUNT] = {
#define X(id, name, resource) [ANA_##id] = name,
#include "analysis/units.def"
#undef X
    };
    return unit < ANA_UNIT_COUNT ? texts[unit] : "";
}

ana_resource ana_unit_resource(ana_unit unit)
{
    static const ana_resource resources[ANA_UNIT_COUNT] = {
#define X(id, name, resource) [ANA_##id] = ANA_##resource,
#include "analysis/units.def"
#undef X
    };
    return resources[unit];
}

const char *ana_scope_name(ana_scope scope)
{
    static const char *const names[ANA_SCOPE_COUNT] = {
#define X(id, name) [ANA_SCOPE_##id] = name,
#include "analysis/scopes.def"
#undef X
    };
    return scope < ANA_SCOPE_COUNT ? names[scope] : "";
}

const char *ana_certainty_name(ana_certainty certainty)
{
    static const char *const names[ANA_CERTAINTY_COUNT] = {
#define X(id, name, meaning) [ANA_CERTAINTY_##id] = name,
#include "analysis/certainties.def"
#undef X
    };
    return certainty < ANA_CERTAINTY_COUNT ? names[certainty] : "";
}

const char *ana_gain_name(ana_gain gain)
{
    static const char *const names[ANA_GAIN_COUNT] = {
#define X(id, name, reason) [ANA_GAIN_##id] = name,
#include "analysis/gains.def"
#undef X
    };
    return gain < ANA_GAIN_COUNT ? names[gain] : "";
}

const char *ana_gain_reason(ana_gain gain)
{
    static const char *const reasons[ANA_GAIN_COUNT] = {
#define X(id, name, reason) [ANA_GAIN_##id] = reason,
#include "analysis/gains.def"
#undef X
    };
    return gain < ANA_GAIN_COUNT ? reasons[gain] : "";
}
