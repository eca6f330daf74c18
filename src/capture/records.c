#include "capture/records.h"

#include "base/log.h"
#include "base/steps.h"

#include <string.h>
#include <xxhash.h>

const char cap_magic[8] = {'W', 'L', 'C', 'A', 'P', 'T', 'U', 'R'};

uint64_t cap_hash(uint32_t type, uint32_t flags, const void *payload, size_t size)
{
    return XXH64(payload, size, (uint64_t)flags << 32 | type);
}

/* Readers look sectors up by halving, and sets by number. */
static bool rows_in_order(const obs_heat *heat)
{
    for (uint32_t i = 0; i < heat->nrows; i++) {
        const obs_heat_row *row = &heat->rows[i];
        if (row->pcset >= heat->npcsets || (i && row[-1].sector >= row->sector))
            return false;
    }
    return true;
}

/* ---- the fewest bytes that a structure takes ---- */

#define BEGIN(type) enum { LEAST_##type = 0
#define END(type) \
    }             \
    ;
#define U8(f) +1
#define U16(f) +2
#define U32(f) +4
#define U64(f) +8
#define I32(f) +4
#define I64(f) +8
#define F64(f) +8
#define STR(f) +4
#define TEXT(f, n) +8
#define WORDS(f, n) +4 * (n)
#define QWORDS(f, n) +8 * (n)
#define STRINGS(n, f) +4
#define U32S(n, f) +4
#define U64S(n, f) +4
#define ARRAY(type, n, f) +4
#define PART(type, f) +(int)LEAST_##type
#define OPTIONAL()
#define CHECK(condition)
#include "capture/fields.def"
#include "capture/fields_undef.h"

/* ---- how many bytes a structure takes ---- */

#define BEGIN(type)                          \
    static size_t size_##type(const type *v) \
    {                                        \
        size_t size = LEAST_##type;          \
        (void)v;
#define END(type) \
    return size;  \
    }
#define U8(f)
#define U16(f)
#define U32(f)
#define U64(f)
#define I32(f)
#define I64(f)
#define F64(f)
#define STR(f) size += str_length(v->f);
#define TEXT(f, n) size += v->n;
#define WORDS(f, n)
#define QWORDS(f, n)
#define STRINGS(n, f)                   \
    for (uint32_t i = 0; i < v->n; i++) \
        size += 4 + str_length(v->f[i]);
#define U32S(n, f) size += 4 * (size_t)v->n;
#define U64S(n, f) size += 8 * (size_t)v->n;
#define ARRAY(type, n, f)               \
    for (uint32_t i = 0; i < v->n; i++) \
        size += size_##type(&v->f[i]);
#define PART(type, f) size += size_##type(&v->f) - LEAST_##type;
#define OPTIONAL()
#define CHECK(condition)

/* NULL counts as "". */
static size_t str_length(const char *text)
{
    return text ? strlen(text) : 0;
}

#include "capture/fields.def"
#include "capture/fields_undef.h"

/* ---- writing ----
 *
 * Launches are noted by dozens of numbers, in the application's time. So room for the whole record
 * is made first, and each number is one store. */

#define BEGIN(type)                                        \
    static uint8_t *put_##type(uint8_t *at, const type *v) \
    {
#define END(type) \
    return at;    \
    }
#define U8(f) at = cap_put_at(at, v->f, 1);
#define U16(f) at = cap_put_at(at, v->f, 2);
#define U32(f) at = cap_put_at(at, v->f, 4);
#define U64(f) at = cap_put_at(at, v->f, 8);
#define I32(f) at = cap_put_at(at, (uint32_t)v->f, 4);
#define I64(f) at = cap_put_at(at, (uint64_t)v->f, 8);
#define F64(f) at = put_double(at, v->f);
#define STR(f) at = put_str(at, v->f);
#define TEXT(f, n)                \
    at = cap_put_at(at, v->n, 8); \
    at = put_raw(at, v->f, v->n);
#define WORDS(f, n) at = put_words(at, v->f, n);
#define QWORDS(f, n) at = put_quads(at, v->f, n);
#define STRINGS(n, f)                   \
    at = cap_put_at(at, v->n, 4);       \
    for (uint32_t i = 0; i < v->n; i++) \
        at = put_str(at, v->f[i]);
#define U32S(n, f)                \
    at = cap_put_at(at, v->n, 4); \
    at = put_words(at, v->f, v->n);
#define U64S(n, f)                \
    at = cap_put_at(at, v->n, 4); \
    at = put_quads(at, v->f, v->n);
#define ARRAY(type, n, f)               \
    at = cap_put_at(at, v->n, 4);       \
    for (uint32_t i = 0; i < v->n; i++) \
        at = put_##type(at, &v->f[i]);
#define PART(type, f) at = put_##type(at, &v->f);
#define OPTIONAL()
#define CHECK(condition)

static uint8_t *put_raw(uint8_t *at, const void *data, size_t size)
{
    if (size)
        memcpy(at, data, size);
    return at + size;
}

static uint8_t *put_double(uint8_t *at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return cap_put_at(at, bits, 8);
}

/* A length that does not fit in 32 bits exceeds what a record may hold, so that there is no room to
 * write to. */
static uint8_t *put_str(uint8_t *at, const char *text)
{
    size_t length = str_length(text);
    return put_raw(cap_put_at(at, length, 4), text, length);
}

static uint8_t *put_words(uint8_t *at, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at = cap_put_at(at, words[i], 4);
    return at;
}

static uint8_t *put_quads(uint8_t *at, const uint64_t *quads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at = cap_put_at(at, quads[i], 8);
    return at;
}

#include "capture/fields.def"
#include "capture/fields_undef.h"

#define X(id, number, type)                                     \
    size_t cap_size_##type(const cap_##type *v)                 \
    {                                                           \
        return size_cap_##type(v);                              \
    }                                                           \
    void cap_encode_##type(uint8_t *at, const cap_##type *v)    \
    {                                                           \
        put_cap_##type(at, v);                                  \
    }                                                           \
    void cap_put_cap_##type(cap_buffer *b, const cap_##type *v) \
    {                                                           \
        uint8_t *at = cap_reserve(b, size_cap_##type(v));       \
        if (at)                                                 \
            put_cap_##type(at, v);                              \
    }
#include "capture/events.def"
#undef X

/* ---- reading ---- */

#define BEGIN(type)                                \
    static void get_##type(cap_cursor *c, type *v) \
    {
#define END(type) }
#define U8(f) v->f = (uint8_t)cap_get_number(c, 1);
#define U16(f) v->f = (uint16_t)cap_get_number(c, 2);
#define U32(f) v->f = (uint32_t)cap_get_number(c, 4);
#define U64(f) v->f = cap_get_number(c, 8);
#define I32(f) v->f = (int32_t)cap_get_number(c, 4);
#define I64(f) v->f = (int64_t)cap_get_number(c, 8);
#define F64(f) v->f = get_double(c);
#define STR(f) v->f = cap_get_string(c);
#define TEXT(f, n) v->f = cap_get_text(c, &v->n);
#define WORDS(f, n) get_words(c, v->f, n);
#define QWORDS(f, n) get_quads(c, v->f, n);
#define STRINGS(n, f)                                         \
    v->n = cap_get_count(c, 4, sizeof *v->f, (void **)&v->f); \
    for (uint32_t i = 0; i < v->n; i++)                       \
        v->f[i] = cap_get_string(c);
#define U32S(n, f)                                 \
    v->n = cap_get_count(c, 4, 4, (void **)&v->f); \
    get_words(c, v->f, v->n);
#define U64S(n, f)                                 \
    v->n = cap_get_count(c, 8, 8, (void **)&v->f); \
    get_quads(c, v->f, v->n);
#define ARRAY(type, n, f)                                                \
    v->n = cap_get_count(c, LEAST_##type, sizeof *v->f, (void **)&v->f); \
    for (uint32_t i = 0; i < v->n && !c->status; i++)                    \
        get_##type(c, &v->f[i]);
#define PART(type, f) get_##type(c, &v->f);
#define OPTIONAL() c->ended |= c->at == c->end;
#define CHECK(condition)            \
    if (!c->status && !(condition)) \
        cap_fail(c, WL_CORRUPT);

static double get_double(cap_cursor *c)
{
    uint64_t bits = cap_get_number(c, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void get_words(cap_cursor *c, uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)cap_get_number(c, 4);
}

static void get_quads(cap_cursor *c, uint64_t *quads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        quads[i] = cap_get_number(c, 8);
}

#include "capture/fields.def"
#include "capture/fields_undef.h"

wl_status cap_decode(const uint8_t *payload, size_t size, wl_arena *arena, cap_record *record)
{
    const uint8_t *from = size ? payload : (const uint8_t *)"";
    cap_cursor c = {.at = from, .end = from + size, .arena = arena};
    switch (record->type) {
#define X(id, number, type) \
    case CAP_##id: get_cap_##type(&c, &record->type); break;
#include "capture/events.def"
#undef X
    default: return WL_CORRUPT;
    }
    return c.status || c.at == c.end ? c.status : WL_CORRUPT;
}

/* ---- notes ---- */

cap_launch cap_launch_of_note(const cap_note *note)
{
    cap_launch launch = {.id = note->id,
                         .call = note->call,
                         .module = note->module,
                         .kernel = note->kernel,
                         .dynamic_shared = note->dynamic_shared,
                         .static_shared = note->static_shared,
                         .local_bytes = note->local_bytes,
                         .registers = note->registers,
                         .device = note->device,
                         .context = note->context,
                         .stream = note->stream,
                         .ordinal = note->ordinal,
                         .host_seconds = -1,
                         .device_seconds = -1,
                         .params = "",
                         .fault = ""};
    memcpy(launch.grid, note->grid, sizeof launch.grid);
    memcpy(launch.block, note->block, sizeof launch.block);
    memcpy(launch.cluster, note->cluster, sizeof launch.cluster);
    return launch;
}
