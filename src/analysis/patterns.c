#include "analysis/finding.h"

static const ana_pattern_info patterns[] = {
#define X(id, name, title, unit, remedy) [ANA_##id] = {name, title, remedy, ANA_##unit},
#include "analysis/patterns.def"
#undef X
};

const ana_pattern_info *ana_pattern_get(ana_pattern pattern)
{
    return &patterns[pattern];
}

const char *ana_unit_text(ana_unit unit)
{
    static const char *const texts[ANA_UNIT_COUNT] = {
#define X(id, name) [ANA_##id] = name,
#include "analysis/units.def"
#undef X
    };
    return unit < ANA_UNIT_COUNT ? texts[unit] : "";
}

ana_thresholds ana_thresholds_default(void)
{
    return (ana_thresholds){
#define X(id, value, option, reason) .id = value,
#include "analysis/thresholds.def"
#undef X
    };
}
