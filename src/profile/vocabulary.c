/* The words of vocabulary.def. */
#include "profile/vocabulary.h"

#include "ir/module.h"
#include "profile/profile.h"

#include <string.h>

#define SPACE "space"
#define ACCESS "access"
#define OBJECT "object"
#define CALL "call"
#define CLASS "class"
#define OWNER "owner"
#define WHY "why"
#define WAY "way"
#define KNOWN "known"
#define ORIGIN "origin"
#define MODULE "module"
#define REGISTERS "registers"
#define NODE "node"
#define FREED "freed"
#define POOL "pool"
#define RANGE "range"
#define TRIAL "trial"
static const word words[] = {
#define X(id, text) {SPACE, ACC_##id, text},
#include "access/spaces.def"
#undef X
#define X(id, text) {ACCESS, ACC_##id, text},
#include "access/ops.def"
#undef X
#define X(kind, value, text) {kind, value, text},
#include "profile/vocabulary.def"
#undef X
};

const word *vocabulary(size_t *count)
{
    *count = sizeof words / sizeof *words;
    return words;
}

static const char *text_of(const char *kind, uint32_t value)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].value == value && strcmp(words[i].kind, kind) == 0)
            return words[i].text;
    return "unknown";
}

const char *prof_object_kind_text(uint32_t kind)
{
    return text_of(OBJECT, kind);
}

const char *prof_pool_kind_text(uint32_t kind)
{
    return text_of(POOL, kind);
}

const char *prof_freed_text(uint32_t how)
{
    return text_of(FREED, how);
}

const char *prof_space_text(uint32_t space)
{
    return text_of(SPACE, space);
}

const char *prof_access_text(uint32_t op)
{
    return text_of(ACCESS, op);
}

const char *prof_why_text(uint32_t why)
{
    return text_of(WHY, why);
}

const char *prof_origin_text(uint32_t origin)
{
    return text_of(ORIGIN, origin);
}

const char *prof_way_text(uint32_t way)
{
    return text_of(WAY, way);
}

const char *prof_class_text(uint32_t class)
{
    return text_of(CLASS, class);
}
